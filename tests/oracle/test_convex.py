"""When a claim about a convex problem is certified, refuted or neither: what is not shown is not said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution, Status
from cvxml.oracle import convex
from cvxml.oracle.asked import Asked
from cvxml.oracle.convex_rules import VALUE, OnMetric, OnValue, Ruled, judge_metric
from cvxml.oracle.rules import decide
from tests.instances import checked, mlsvm_from_kkt

TOL = 1e-3  # "loose"
KNOWN = mlsvm_from_kkt(3)
GIVEN: dict[str, Any] = {"lam": KNOWN.lam, "neighbors": KNOWN.neighbors}
CERTIFIED, REFUTED, INCONCLUSIVE = Verdict.CERTIFIED, Verdict.REFUTED, Verdict.INCONCLUSIVE


@pytest.fixture(scope="module")
def best() -> Solution:
    return cvxml.solve("mlsvm", KNOWN.X, KNOWN.y, tol=1e-9, **GIVEN)


@pytest.fixture(scope="module")
def loose(best: Solution) -> Solution:
    """The optimal metric with a bound of 0: what a solver that stopped early leaves."""
    dual = {name: 0 * values for name, values in best.dual.items()}
    return replace(
        best, certificate=replace(best.certificate, gap=best.objective, lower_bound=0.0, dual=dual)
    )


def multiple(t: float, reference: Solution) -> Certificate:
    """What the dual of the reference proves of t times the optimum."""
    return cvxml.certify("mlsvm", KNOWN.X, KNOWN.y, t * KNOWN.A, reference.dual, **GIVEN)


def claim(value: float) -> Asked:
    """That the optimum, or the objective of a metric, is `value`."""
    given = checked("mlsvm", KNOWN.X, KNOWN.y, **GIVEN)[1]
    return Asked("mlsvm", KNOWN.X, KNOWN.y, GIVEN, given, value=value, tol=1e-3, exact=True, diagnosed=False)


@pytest.mark.quick(2)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("share", [0.98, 1.02])
def test_a_tolerance_is_a_share_of_the_scale_of_the_reference(
    best: Solution, share: float, exact: bool
) -> None:
    """That of the candidate is 1.06 times as large here."""
    t = 0.1
    for _ in range(60):  # the gap is all but quadratic in t
        t *= (share * TOL * best.certificate.scale / multiple(1 + t, best).gap) ** 0.5
    # without a diagnosis, which would name the factor 1 + t
    asked = {"tol": "loose", "exact": exact, "diagnosed": False, **GIVEN}
    report = cvxml.check("mlsvm", KNOWN.X, KNOWN.y, (1 + t) * KNOWN.A, **asked)
    assert report.verdict is (CERTIFIED if share < 1 else Verdict.CLOSE)


@pytest.mark.parametrize("status", [Status.CONVERGED, Status.STALLED, Status.MAX_ITER])
def test_a_scale_is_not_that_of_a_solve_that_did_not_end(
    best: Solution, monkeypatch: pytest.MonkeyPatch, status: Status
) -> None:
    """Of a reference far from its optimum the scale may be so large that any gap is a small share of it."""
    own = convex.beside

    def far(*asked: Any, **named: Any) -> Any:
        known = own(*asked, **named)
        proof = replace(known.solution.certificate, scale=1e9 * known.solution.certificate.scale)
        return known._replace(solution=replace(known.solution, status=status, certificate=proof))

    monkeypatch.setattr(convex, "beside", far)
    report = cvxml.check("mlsvm", KNOWN.X, KNOWN.y, 1.1 * KNOWN.A, diagnosed=False, **GIVEN)
    assert report.verdict is (CERTIFIED if status is Status.CONVERGED else INCONCLUSIVE)


def test_a_metric_is_judged_only_by_bounds_that_are_tight_and_figures_that_are_numbers(
    best: Solution, loose: Solution
) -> None:
    ours, near, far = best.certificate, multiple(1, best), multiple(3, loose)
    scale = near.scale

    def verdict(proof: Certificate, reference: Certificate) -> Verdict:
        return judge_metric(OnMetric(proof, replace(best, certificate=reference), scale, TOL)).verdict

    assert verdict(near, near) is CERTIFIED
    assert verdict(multiple(1.001, loose), loose.certificate) is INCONCLUSIVE
    # rounding as large as the scale: of the reference it hides all but what is far beyond it
    assert verdict(multiple(1.1, best), replace(ours, rounding=scale)) is INCONCLUSIVE
    assert verdict(multiple(4, best), replace(ours, rounding=scale)) is REFUTED
    assert verdict(near, replace(near, rounding=scale)) is INCONCLUSIVE
    assert verdict(replace(near, rounding=scale), near) is INCONCLUSIVE
    assert verdict(far, replace(near, gap=np.inf)) is INCONCLUSIVE
    assert verdict(replace(near, gap=np.nan), near) is INCONCLUSIVE
    assert verdict(replace(far, gap=np.inf), near) is REFUTED


def test_a_metric_that_is_better_than_ours_is_not_told_a_negative_number(loose: Solution) -> None:
    """Neither is proved: our metric is three times the optimum, with a bound of 0, and the candidate is the optimum."""
    ours = replace(loose, metric=3 * KNOWN.A, certificate=multiple(3, loose))
    near = multiple(1, loose)
    verdict, (reason,), _ = judge_metric(OnMetric(near, ours, near.scale, TOL))
    assert near.objective < ours.objective
    assert verdict is INCONCLUSIVE
    assert f"{ours.gap - near.gap:.3g}" in reason
    assert f"{near.gap - ours.gap:.3g}" not in reason


def test_what_a_tie_may_turn_is_not_judged_exactly(best: Solution) -> None:
    facts = OnMetric(best.certificate, best, 1.0, TOL, ties=1)
    for verdict in Verdict:
        assert convex._may_be_judged_exactly(facts, verdict) == (verdict is CERTIFIED)


def test_a_claimed_value_is_certified_only_between_tight_bounds(best: Solution, loose: Solution) -> None:
    near, value = multiple(1, best), best.objective

    def verdict(value: float, proof: Certificate | None, reference: Solution) -> Verdict | None:
        ruling = decide(VALUE, OnValue(value, TOL, proof, reference, near.scale))
        return None if ruling is None else ruling.verdict

    assert verdict(value, None, best) is CERTIFIED
    assert verdict(value, near, best) is None  # the ruling on the metric stands
    assert verdict(value, None, loose) is INCONCLUSIVE
    assert verdict(value + 2 * TOL * near.scale, None, best) is REFUTED
    assert verdict(-value, near, loose) is REFUTED


def test_a_witness_says_by_how_much_it_is_better(best: Solution, loose: Solution) -> None:
    """Than the metric that was judged; than the value, where that alone was claimed."""
    far, value = multiple(3, loose), best.objective
    for proof, gain in ((None, value), (far, far.objective - value)):
        asked = claim(2 * value)
        facts = None if proof is None else OnMetric(proof, loose, 1.0, TOL)
        ruled = None if facts is None else Ruled(asked, facts, judge_metric(facts))
        witness = convex._witness(asked, REFUTED, loose, ruled)
        assert witness is not None
        assert witness.better_by == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize(("share", "shown"), [(0.5, False), (1.9, False), (2.1, True), (np.nan, False)])
def test_a_witness_is_better_by_more_than_both_rounding_errors(
    best: Solution, share: float, shown: bool
) -> None:
    """The report may be refuted for another reason, for example a wrong claimed objective."""
    asked = claim(2 * best.objective)._replace(candidate=best.metric)
    proof = replace(best.certificate, gap=best.gap + share * best.certificate.rounding)
    facts = OnMetric(proof, best, proof.scale, TOL)
    witness = convex._witness(asked, REFUTED, best, Ruled(asked, facts, judge_metric(facts)))
    assert (witness is not None) == shown


def test_the_improvement_of_a_witness_is_exact_in_exact_arithmetic() -> None:
    """It is 2^-58, far below the rounding error of the objective in double precision."""
    X, y, metric = [[0.0], [1.0], [3.0]], [0, 0, 1], [[(1 + 2**-52) / 8]]
    given = {"lam": 1.0, "neighbors": [[1, 2], [], []], "diagnosed": False}
    report = cvxml.check("mlsvm", X, y, metric, tol=1e-30, exact=True, **given)
    assert report.witness is not None
    assert report.witness.better_by == pytest.approx(2**-58, rel=1e-6)
    assert report.witness.better_by < report.rounding


def test_one_metric_is_to_be_given_in_one_way() -> None:
    for metric, says in ((None, "metric"), (KNOWN.A, r"metric.*components")):
        with pytest.raises(ValueError, match=says):
            cvxml.check("mlsvm", KNOWN.X, KNOWN.y, metric, components=metric, **GIVEN)


def test_no_bound_is_no_overflow(best: Solution) -> None:
    """The objective is a number, and our search found no lower bound."""
    nothing = replace(best.certificate, lower_bound=-np.inf, gap=np.inf)
    without = replace(best, certificate=nothing)
    for reference, proof, overflows in (
        (without, nothing, False),
        (replace(best, certificate=replace(nothing, objective=np.inf)), nothing, True),
    ):
        verdict, reasons, _ = judge_metric(OnMetric(proof, reference, 1.0, TOL))
        assert verdict is INCONCLUSIVE
        assert ("overflows" in reasons[0]) == overflows
