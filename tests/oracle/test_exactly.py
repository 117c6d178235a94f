"""Verdicts in exact arithmetic where they are close: what is allowed, and what proves nothing."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.exact import Exact
from cvxml.core.metric import Feasibility, FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate
from cvxml.core.tolerance import check_tol
from cvxml.methods import get_exact
from cvxml.oracle.asked import Asked
from cvxml.oracle.exactly import MAX_NEGATIVE, judge_exactly, not_for
from cvxml.oracle.saved import recertify
from tests.instances import checked, exact_of, random_data

LINE = ([[0.0], [1.0], [3.0]], [0, 0, 1], {"lam": 1.0, "neighbors": [[1, 2], [], []]})


def asked(method: str, X: Any, y: Any, params: dict[str, Any], tol: str = "normal") -> Asked:
    """Whether a metric is optimal, exactly."""
    return Asked(
        method,
        X,
        y,
        params,
        checked(method, X, y, **params)[1],
        tol=check_tol(tol),
        exact=True,
        diagnosed=False,
    )


def test_what_is_allowed_is_a_share_of_our_scale_and_not_of_the_candidate_s() -> None:
    """At a kink t times the optimum has a gap of t^2 - 1 of the scale: more than 0.2, and less than 0.2 t^2."""
    X, y, params = LINE
    t = 1.225**0.5
    report = cvxml.check("mlsvm", X, y, [[t / 8]], tol=0.2, exact=True, **params)
    assert report.exact is not None
    assert 0.2 < float(report.exact.gap) * 128 < 0.2 * t**2
    assert report.verdict in (Verdict.CLOSE, Verdict.REFUTED)


def test_a_bound_that_is_not_tight_refutes_nobody_exactly() -> None:
    X, y, params = LINE
    best = cvxml.solve("mlsvm", X, y, tol=1e-10, **params)
    weak = {name: 0 * value if name in ("u", "w") else value for name, value in best.dual.items()}
    reference = dataclasses.replace(best, certificate=dataclasses.replace(best.certificate, dual=weak))
    candidate = np.array([[1.000_000_1 / 8]])
    question = asked("mlsvm", X, y, params)
    found = judge_exactly(question, candidate, reference)
    ours = exact_of("mlsvm", X, y, best.metric, best.dual, **params)
    assert 0 < found.interval.objective - ours.objective < Fraction(1, 10**6) * ours.scale
    assert found.verdict is Verdict.INCONCLUSIVE
    assert judge_exactly(question, candidate, best).verdict is Verdict.CERTIFIED


def test_a_root_of_another_matrix_proves_nothing_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, params = LINE
    best = cvxml.solve("mlsvm", X, y, tol=1e-10, **params)
    module = get_exact("mlsvm")
    of_the_optimum = partial(module.exact, root=[[0.125**0.5]])
    monkeypatch.setattr(module, "exact", of_the_optimum)
    wrong = np.array([[0.2]])
    question = asked("mlsvm", X, y, params)
    assert judge_exactly(question, wrong, best).verdict is Verdict.INCONCLUSIVE
    assert judge_exactly(question, best.metric, best).verdict is Verdict.CERTIFIED


def test_where_the_optimum_is_zero_nothing_but_zero_is_certified() -> None:
    X, y = random_data(0, n=24, d=3, classes=2)
    best = cvxml.solve("mlsvm", X, y, lam=0.1)
    assert best.certificate.scale == 0
    question = asked("mlsvm", X, y, {"lam": 0.1}, "loose")
    assert judge_exactly(question, 1e-12 * np.eye(3), best).verdict is Verdict.REFUTED
    assert judge_exactly(question, np.zeros((3, 3)), best).verdict is Verdict.CERTIFIED
    assert cvxml.check("mlsvm", X, y, np.zeros((3, 3)), lam=0.1).rel_gap == 0


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_the_tolerance_of_a_local_metric_is_a_share_of_its_own_scale(share: float) -> None:
    X, y = random_data(0, n=24, d=3, classes=2)
    X[y == 1] *= [2.0, 0.5, 1.0]
    best, t = cvxml.solve("glml", X, y, query=X[0]), 1e-4
    assert best.lower_bound == 0

    def near(t: float) -> FloatArray:
        A = best.metric + t * np.linalg.norm(best.metric) * np.eye(3)
        return A / np.linalg.det(A) ** (1 / 3)

    for _ in range(20):  # the gap, a cosine, is all but linear in t
        t *= share * 1e-3 / cvxml.certify("glml", X, y, near(t), best.dual, query=X[0]).rel_gap
    found = judge_exactly(asked("glml", X, y, {"query": X[0]}, "loose"), near(t), best)
    assert found.verdict is (Verdict.CERTIFIED if share < 1 else Verdict.REFUTED)


def test_a_root_of_a_matrix_next_to_it_that_is_worse_proves_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A root of the optimum is near enough to a multiple by 1 + 5e-6, whose gap is 1e-5 of the scale: 10 times tol."""
    X, y, params = LINE
    best = cvxml.solve("mlsvm", X, y, tol=1e-10, **params)
    module = get_exact("mlsvm")
    worse = np.array([[0.125 * (1 + 5e-6)]])
    question = asked("mlsvm", X, y, params)
    assert judge_exactly(question, worse, best).verdict is not Verdict.CERTIFIED
    monkeypatch.setattr(module, "exact", partial(module.exact, root=[[0.125**0.5]]))
    found = judge_exactly(question, worse, best)
    assert 0 < found.interval.distance <= MAX_NEGATIVE * 0.125
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_file_is_not_certified_by_a_root_of_a_matrix_next_to_its_metric(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As above: the file's metric is a multiple by 1 + 5e-6, and the root is that of the optimum."""
    X, y, params = LINE
    best = cvxml.solve("mlsvm", X, y, tol=1e-10, **params)
    best.save(tmp_path / "best.json")
    content = json.loads((tmp_path / "best.json").read_text())
    worse = [[0.125 * (1 + 5e-6)]]
    proof = cvxml.certify("mlsvm", X, y, worse, best.dual, **params)
    content |= {
        name: getattr(proof, name) for name in ("objective", "lower_bound", "gap", "rel_gap", "radius")
    }
    (tmp_path / "worse.json").write_text(json.dumps({**content, "metric": worse}))
    module = get_exact("mlsvm")
    monkeypatch.setattr(module, "exact", partial(module.exact, root=[[0.125**0.5]]))
    assert recertify(cvxml.load(tmp_path / "best.json"), 1e-6, exact=True).verdict is Verdict.CERTIFIED
    assert recertify(cvxml.load(tmp_path / "worse.json"), 1e-6, exact=True).verdict is Verdict.INCONCLUSIVE


def test_a_stationary_metric_is_not_certified_by_an_interval_of_another_objective(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An interval without a gap, of a matrix near the metric, 1e-3 of the objective above it."""
    X, y = random_data(7, n=14, d=3, classes=2)
    metric = cvxml.solve("nca", X, y, tol=1e-8, init=np.eye(3)).metric
    module = get_exact("nca")
    own = module.exact

    def verdict_of(share: Fraction) -> Verdict:
        def moved(*asked: Any, **named: Any) -> Exact:
            interval = own(*asked, **named)
            value = interval.objective * (1 + share)
            return dataclasses.replace(interval, objective=value, lower_bound=value, distance=1e-9)

        monkeypatch.setattr(module, "exact", moved)
        return cvxml.check("nca", X, y, metric, claim="stationary", exact=True, diagnosed=False).verdict

    assert verdict_of(Fraction(0)) is Verdict.CERTIFIED
    assert verdict_of(Fraction(1, 1000)) is Verdict.INCONCLUSIVE


# the matrix has norm 2 and the objective 1 to a rounding of 2^-20; 2^-10 is allowed
FIGURES = {"objective": 1.0, "rounding": 2.0**-20, "value_rounding": 2.0**-20}
ALLOWED = Fraction(1, 2**10)


def proof_with(**changed: float) -> Certificate:
    return Certificate(
        kind="global",
        lower_bound=0.0,
        gap=1.0,
        scale=1.0,
        radius=1.0,
        feasibility=Feasibility(asymmetry=0.0, min_eigenvalue=0.0, distance=0.0, norm=2.0),
        dual={},
        **{**FIGURES, **changed},
    )


@pytest.mark.parametrize(
    ("objective", "distance", "changed", "stands"),
    [
        (1, 1e-6, {}, True),
        (1 + 2.0**-10, 1e-6, {}, True),
        (1 - 2.0**-10, 1e-6, {}, True),
        (1 + 2.0**-9, 1e-6, {}, False),
        (1 - 2.0**-9, 1e-6, {}, False),
        (2.0, 0.0, {}, True),  # it is the matrix itself
        (1, 2 * 1.01e-5, {}, False),  # too far: 1e-5 of the norm is allowed
        (1, 2 * 0.99e-5, {}, True),
        (1, 1e-6, {"rounding": 2.0**-9}, False),  # rounding hides more than is allowed
        (
            1 + 2.0**-9,
            1e-6,
            {"value_rounding": 2.0**-9},
            True,
        ),  # the difference may be rounding of the objective
    ],
)
def test_a_root_stands_for_a_matrix_near_it_of_the_same_objective(
    objective: float, distance: float, changed: dict[str, float], stands: bool
) -> None:
    interval = Exact(Fraction(0), Fraction(objective), distance, Fraction(1))
    assert (not_for(interval, proof_with(**changed), ALLOWED) == "") is stands


@pytest.mark.parametrize(("rounding", "stands"), [(1e300, True), (np.inf, False), (np.nan, False)])
def test_what_is_allowed_may_be_beyond_the_largest_float(rounding: float, stands: bool) -> None:
    """So it is for a reference that is wrong, beside huge data."""
    interval = Exact(Fraction(0), Fraction(1), 1e-6, Fraction(1))
    assert (not_for(interval, proof_with(rounding=rounding), Fraction(10) ** 400) == "") is stands


class Told(NamedTuple):
    """A method whose exact intervals are given: of the candidate 1, and of our reference 0."""

    theirs: Exact
    ours: Exact
    SCALE: str = "reference"

    def exact(self, given: Any, metric: FloatArray, dual: Any) -> Exact:
        return self.theirs if metric[0, 0] == 1 else self.ours

    def certify(self, *_: Any) -> None:
        return None


def interval(low: float, high: float, scale: float) -> Exact:
    return Exact(Fraction(low), Fraction(high), 0.0, Fraction(scale))


@pytest.mark.parametrize(
    ("theirs", "ours", "verdict"),
    [
        # our reference is certified (gap 0): its scale alone counts
        (interval(0, 0.5, 1e9), interval(0, 0, 1e3), Verdict.CERTIFIED),
        (interval(0, 2, 1e9), interval(0, 0, 1e3), Verdict.REFUTED),
        # it is not: certified within the smaller scale, refuted beyond the larger one
        (interval(-0.4, 0.5, 1e3), interval(-2e6, 0, 1e9), Verdict.CERTIFIED),
        (interval(-0.6, 0.5, 1e3), interval(-2e6, 0, 1e9), Verdict.INCONCLUSIVE),
        (interval(-0.4, 0.5, 1e9), interval(-0.4, 0, 10), Verdict.INCONCLUSIVE),
        (interval(-0.4, 0.5, 1e3), interval(-0.4, 0, 10), Verdict.INCONCLUSIVE),
        (interval(-0.4, 2, 1e3), interval(-0.4, 0, 10), Verdict.REFUTED),
    ],
)
def test_the_two_limits_beside_a_reference_that_is_not_certified(
    theirs: Exact, ours: Exact, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tolerance is 1e-3."""
    X, y, params = LINE
    solution = cvxml.solve("mlsvm", X, y, **params)
    monkeypatch.setattr("cvxml.oracle.exactly.get_exact", lambda method: Told(theirs, ours))
    reference = dataclasses.replace(solution, metric=np.zeros((1, 1)))
    found = judge_exactly(asked("mlsvm", X, y, params, tol="loose"), np.ones((1, 1)), reference)
    assert found.verdict is verdict


def test_every_reason_why_a_root_does_not_stand_for_a_matrix_has_its_own_sentence() -> None:
    """The sentence has the two figures that are compared."""
    far = Exact(Fraction(0), Fraction(1), 0.0317, Fraction(1))
    other = Exact(Fraction(0), Fraction(3, 2), 1e-6, Fraction(1))
    near = Exact(Fraction(0), Fraction(1), 3.36e-13, Fraction(1))
    assert "0.0317" in not_for(far, proof_with(), ALLOWED)
    assert "0.5" in not_for(other, proof_with(), ALLOWED)
    rough = not_for(near, proof_with(rounding=0.123), ALLOWED)
    assert "0.123" in rough
    assert f"{float(ALLOWED):.3g}" in rough


def test_check_and_certify_agree_on_an_optimum_of_0_in_exact_arithmetic(tmp_path: Path) -> None:
    """The solution of this problem is the zero metric: its scale is 0, and the exact gap is 0."""
    X = np.random.default_rng(0).standard_normal((24, 3))
    y = np.arange(24) % 3
    zero = np.zeros((3, 3))
    found = cvxml.solve("ssvm", X, y, init=zero)
    assert not found.metric.any()
    found.save(tmp_path / "zero.json")
    exactly = cvxml.check("ssvm", X, y, zero, exact=True, claim="stationary", diagnosed=False)
    assert exactly.scale == 0
    assert exactly.verdict is Verdict.CERTIFIED
    assert cvxml.check("ssvm", X, y, zero, claim="stationary", diagnosed=False).verdict is exactly.verdict
    assert recertify(cvxml.load(tmp_path / "zero.json"), 1e-6, exact=True).verdict is exactly.verdict


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, Verdict.CERTIFIED),
        ({"distance": 1e-300}, Verdict.INCONCLUSIVE),
        ({"lower_bound": Fraction(1) - Fraction(1, 10**400)}, Verdict.INCONCLUSIVE),
        ({"lower_bound": Fraction(2)}, Verdict.INCONCLUSIVE),
    ],
)
def test_without_a_scale_an_exact_proof_needs_a_gap_of_0_at_the_metric_itself(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], verdict: Verdict
) -> None:
    X = np.random.default_rng(0).standard_normal((24, 3))
    y = np.arange(24) % 3
    module = get_exact("ssvm")
    own = module.exact

    def moved(*asked: Any, **named: Any) -> Exact:
        even = dataclasses.replace(own(*asked, **named), objective=Fraction(1), lower_bound=Fraction(1))
        return dataclasses.replace(even, **changed)

    monkeypatch.setattr(module, "exact", moved)
    report = cvxml.check("ssvm", X, y, np.zeros((3, 3)), exact=True, claim="stationary", diagnosed=False)
    assert report.verdict is verdict
