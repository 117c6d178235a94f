"""What a certificate proves and decides, from its figures: each limit, and just beyond it."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.metric import Feasibility
from cvxml.core.result import Certificate, Stationarity, Status, Step, gap_in_words, warn_unless_converged
from cvxml.family.geometry.budget import BudgetFeasibility

METRIC = Feasibility(asymmetry=0.0, min_eigenvalue=0.0, distance=0.0, norm=1.0)
NO_METRIC = Feasibility(asymmetry=0.0, min_eigenvalue=-1e-3, distance=1e-3, norm=1.0)
# the scale is 8, so that a share of it is another number
PROOF = Certificate(
    kind="global",
    objective=3.0,
    lower_bound=3.0,
    gap=0.0,
    scale=8.0,
    rounding=0.0,
    radius=1.0,
    feasibility=METRIC,
    dual={},
)
STILL = Stationarity(gradient=0.0, scale_derivative=0.0, dc_residual=0.0, of=8.0)


def step_with(proof: Certificate) -> Certificate:
    """A stationary one whose convex step has this proof; it decides nothing of its own."""
    return replace(PROOF, kind="stationary", rounding=math.inf, gap=math.inf, step=proof)


def parts_with(proof: Certificate) -> Certificate:
    """One of two local metrics has this proof; as a whole nothing is decided."""
    return replace(PROOF, rounding=math.inf, gap=math.inf, parts=(PROOF, proof))


def alone(proof: Certificate) -> Certificate:
    """As it is."""
    return proof


OF = pytest.mark.parametrize("of", [alone, step_with, parts_with])


# the limit is 100 times tol, and at most 1e-3 unless tol itself is larger; as a share of the scale
@OF
@pytest.mark.parametrize(
    ("tol", "share"), [(1e-8, 1e-6), (1e-6, 1e-4), (1e-5, 1e-3), (1e-4, 1e-3), (1e-3, 1e-3), (1e-2, 1e-2)]
)
def test_rounding_beyond_its_limit_decides_nothing(of, tol: float, share: float) -> None:
    below, beyond = (of(replace(PROOF, rounding=8 * share * factor)) for factor in (0.99, 1.01))
    assert below.decides(tol)
    assert below.proves(tol)
    assert not beyond.decides(tol)
    assert not beyond.proves(tol)


@OF
@pytest.mark.parametrize(
    "figures",
    [
        {"undecided": "overflow"},
        {"gap": math.nan},
        {"gap": math.inf},
        {"scale": math.inf},
        {"scale": math.nan},
    ],
)
def test_what_is_no_number_or_undecided_decides_nothing(of, figures) -> None:
    proof = of(replace(PROOF, **figures))
    assert not proof.decides(1e-3)
    assert not proof.proves(1e-3)


@OF
def test_it_says_so_where_rounding_exceeds_the_scale(of) -> None:
    below, beyond = (of(replace(PROOF, rounding=8 * factor)) for factor in (0.99, 1.01))
    assert below.not_decided == ""
    assert "8.08" in beyond.not_decided
    assert of(replace(PROOF, rounding=9.0, undecided="overflow")).not_decided == "overflow"


@OF
def test_a_metric_that_is_not_feasible_is_the_reason_given(of) -> None:
    """The gap of such a metric may be far below the tolerance, so that it explains nothing."""
    assert of(PROOF).not_feasible == ""
    assert "-0.001" in of(replace(PROOF, feasibility=NO_METRIC)).not_feasible


def test_a_warning_and_the_summary_say_that_a_metric_exceeds_its_budget_and_by_how_much() -> None:
    solution = cvxml.solve("mmc", np.random.default_rng(0).normal(size=(12, 2)), [0, 1] * 6)
    spent = BudgetFeasibility(asymmetry=0.0, min_eigenvalue=0.0, distance=0.0, norm=1.0, spent=1.000003)
    certificate = replace(solution.certificate, feasibility=spent)
    above = replace(solution, certificate=certificate, status=Status.BACKEND)
    assert "1.000003" in certificate.not_feasible
    assert certificate.not_feasible in str(above)
    with pytest.warns(ConvergenceWarning) as said:
        warn_unless_converged(above, 1e-6)
    assert certificate.not_feasible in str(said[0].message)


def test_of_a_scale_of_zero_only_an_exact_gap_of_zero_decides() -> None:
    assert replace(PROOF, scale=0.0).proves(1e-6)
    assert not replace(PROOF, scale=0.0, rounding=1e-300).decides(1e-3)
    assert not replace(PROOF, scale=0.0, gap=1e-300).proves(1e-3)


@OF
def test_a_gap_is_a_share_of_the_scale_plus_rounding(of) -> None:
    """Of either sign: a bound far above the objective is a mistake."""
    for gap, rounding, proved in (
        (7.9e-3, 0.0, True),
        (8.1e-3, 0.0, False),
        (8.1e-3, 2e-4, True),
        (-7.9e-3, 0.0, True),
        (-8.1e-3, 0.0, False),
        (-8.1e-3, 2e-4, True),
    ):
        assert of(replace(PROOF, gap=gap, rounding=rounding)).proves(1e-3) == proved


@OF
def test_what_is_no_metric_is_proved_to_be_nothing(of) -> None:
    assert not of(replace(PROOF, feasibility=NO_METRIC)).proves(1e-2)


@pytest.mark.parametrize("figure", ["gradient", "dc_residual"])
def test_a_stationary_metric_is_judged_by_its_gradient_and_its_free_rows(figure: str) -> None:
    """And not by its gap, which is to a bound that may be far."""

    def stationary(share: float, rounding: float = 0.0, **others) -> Certificate:
        found = replace(STILL, **{figure: 8 * share})
        return replace(PROOF, kind="stationary", gap=5.0, stationarity=found, rounding=rounding, **others)

    assert stationary(0.9e-3).proves(1e-3)
    assert not stationary(1.1e-3).proves(1e-3)
    assert stationary(1.1e-3, rounding=2e-3).proves(1e-3)
    assert not stationary(0.0, rounding=9e-3).proves(1e-3)
    assert not stationary(0.0, feasibility=NO_METRIC).proves(1e-3)
    assert not stationary(math.nan).proves(1e-3)


def test_a_relative_gap_is_that_of_the_worst_part() -> None:
    assert replace(PROOF, gap=2.0).rel_gap == 0.25
    assert replace(PROOF, gap=0.0, scale=0.0).rel_gap == 0
    assert replace(PROOF, gap=1e-300, scale=0.0).rel_gap == math.inf
    assert replace(PROOF, gap=1e3, parts=(replace(PROOF, gap=2.0), replace(PROOF, gap=4.0))).rel_gap == 0.5


def test_a_useless_gap_is_no_figure() -> None:
    """A gap of 9 on a scale of 1e-10 says nothing about the metric."""
    assert "e+" not in gap_in_words(9.0, 1.19e10)
    assert "relative" not in Step(1, 0.0, 1.0, -8.0, 9.0, scale=1e-10).gap_in_words()
    assert "0.5" in gap_in_words(9.0, 0.5)
    assert "e+" not in str(Stationarity(1e-7, -1e-8, 0.0, 1e-13))


@pytest.mark.parametrize("method", ["nca", "mlkr"])
def test_a_problem_that_is_not_convex_has_no_gap_to_show(method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    y = np.repeat([0, 1], 6) if method == "nca" else rng.standard_normal(12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve(method, X, y)
    assert gap_in_words(solution.gap, solution.rel_gap) not in str(solution).splitlines()
    assert str(solution.certificate.stationarity) in str(solution)
