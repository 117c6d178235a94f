"""Each rule of the oracle is reached by a case, and the order of the rules matters where a case meets two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution, Status
from cvxml.oracle.convex import _with_value
from cvxml.oracle.convex_rules import CLOSE_METRIC, METRIC, REVISIONS, VALUE, OnMetric, OnValue, Ruled
from cvxml.oracle.rules import Rule, Ruling, decide
from tests.instances import mlsvm_from_kkt, real_data

CERTIFIED, CLOSE, REFUTED, INCONCLUSIVE = (
    Verdict.CERTIFIED,
    Verdict.CLOSE,
    Verdict.REFUTED,
    Verdict.INCONCLUSIVE,
)
TOL = 1e-3
KNOWN = mlsvm_from_kkt(3)
GIVEN: dict[str, Any] = {"lam": KNOWN.lam, "neighbors": KNOWN.neighbors}
BEST: Solution = cvxml.solve("mlsvm", KNOWN.X, KNOWN.y, tol=1e-9, **GIVEN)
OURS = BEST.certificate


def proved(metric: np.ndarray, **changed: Any) -> Certificate:
    """The proof of a metric by our dual, with some fields changed."""
    return replace(cvxml.certify("mlsvm", KNOWN.X, KNOWN.y, metric, BEST.dual, **GIVEN), **changed)


def ours(metric: np.ndarray = KNOWN.A, status: Status = Status.CONVERGED, **changed: Any) -> Solution:
    return replace(BEST, metric=metric, status=status, certificate=replace(OURS, **changed))


NEAR, FAR, NOTHING = proved(KNOWN.A), proved(3 * KNOWN.A), 0 * KNOWN.A
# the optimum is 0: the objective and the gap of a metric are the same number
ZERO = ours(NOTHING, objective=0.0, lower_bound=0.0, gap=0.0, scale=0.0, rounding=0.0)
ABOVE = replace(NEAR, objective=1.0, lower_bound=0.0, gap=1.0)
LOOSE = ours(lower_bound=-9.0, gap=OURS.objective + 9.0)


def metric(proof: Certificate = NEAR, reference: Solution = BEST, **others: Any) -> OnMetric:
    return OnMetric(proof, reference, **{"scale": reference.certificate.scale, "tol": TOL} | others)


# rule: the facts, the verdict, and a later rule that would say something else of the same facts
ON_METRIC: dict[str, tuple[OnMetric, Verdict, str]] = {
    "not a metric": (metric(replace(NEAR, feasibility=proved(-KNOWN.A).feasibility)), REFUTED, "optimal"),
    "undecided": (metric(replace(NEAR, undecided="the data overlap")), INCONCLUSIVE, "optimal"),
    "no lower bound": (metric(FAR, ours(lower_bound=-math.inf)), INCONCLUSIVE, "better metric"),
    "overflow": (metric(FAR, ours(gap=math.inf)), INCONCLUSIVE, "better metric"),
    "zero": (metric(proved(NOTHING, gap=1.0, rounding=2.0, scale=0.0), ZERO), CERTIFIED, "nearly zero"),
    "nearly zero": (metric(replace(ABOVE, rounding=2.0), ZERO), INCONCLUSIVE, "not zero"),
    "not zero": (metric(replace(ABOVE, rounding=0.5), ZERO), REFUTED, ""),
    "rounding": (metric(replace(NEAR, rounding=OURS.scale)), INCONCLUSIVE, "optimal"),
    "below the bound": (metric(replace(NEAR, gap=-OURS.scale)), INCONCLUSIVE, "optimal"),
    "optimal": (metric(NEAR), CERTIFIED, "better metric"),
    "bound not tight": (metric(replace(FAR, gap=LOOSE.gap), LOOSE), INCONCLUSIVE, "better metric"),
    "tie": (metric(FAR, ties=2), INCONCLUSIVE, "better metric"),
    "better metric": (metric(FAR), REFUTED, ""),
}


@pytest.mark.parametrize("bound", [-9.36e19, -1.0, 0.25])
@pytest.mark.parametrize("by", [-0.5, 0.0, 0.5])
def test_with_two_lower_bounds_the_objectives_say_which_metric_is_better(by: float, bound: float) -> None:
    """The gaps of the two metrics have different lower bounds, so their difference says nothing on the metrics."""
    theirs = replace(NEAR, objective=1.0, lower_bound=0.0, gap=1.0)
    facts = metric(theirs, ours(objective=1.0 - by, lower_bound=bound, gap=1.0 - by - bound))
    found = decide(METRIC, facts)
    assert found is not None
    assert found.verdict is INCONCLUSIVE or by > 0
    if found.verdict is INCONCLUSIVE:
        said = found.reasons[0].rpartition(";")[2]
        assert ("0.5" in said) == (by != 0), said
        assert not set("12346789") & set(said), said


def asked(above: float = 0.0, never: str = "", steps: int = 1000) -> Any:
    """A question about a method with this error of its objective, and this reason for an infimum without a minimum."""
    module = SimpleNamespace(above=lambda *_: above, unattained=lambda _: never, MAX_ITER=steps)
    return SimpleNamespace(module=module, given=None, candidate=KNOWN.A, diagnosed=True)


@pytest.mark.parametrize("scale", [0.0, OURS.scale])
def test_a_larger_tolerance_is_advised_only_if_it_may_help(scale: float) -> None:
    """It is relative to the scale. The rounding error may be that of our own solution."""
    facts = metric(replace(NEAR, gap=0.0), ours(rounding=9.0), scale=scale)
    found = decide(METRIC, facts)
    assert found is not None
    assert found.rule == "rounding"
    assert ("larger tol" in found.reasons[0]) == (scale > 0)
    assert "9," in found.reasons[0]


def ruled(verdict: Verdict, facts: OnMetric, question: Any = None, exact: Any = None) -> Ruled:
    return Ruled(question or asked(), facts, Ruling(verdict, ("the reason",)), exact)


def test_the_distance_to_an_infimum_includes_rounding() -> None:
    facts = metric(replace(NEAR, gap=1.0, rounding=0.25))
    assert ruled(CERTIFIED, facts).most == 1.25
    exact = ruled(CERTIFIED, facts, exact=SimpleNamespace(gap=Fraction(1, 3)))
    assert Fraction(1, 3) <= exact.most < 0.34


UNSOLVED = ours(status=Status.STALLED)
ON_RULING: dict[str, tuple[Ruled, Verdict, str]] = {
    "error of the objective": (ruled(REFUTED, metric(FAR), asked(above=FAR.gap)), INCONCLUSIVE, ""),
    "not attained": (ruled(CERTIFIED, metric(NEAR), asked(never="no metric attains it")), INCONCLUSIVE, ""),
    "scale of ours": (ruled(CERTIFIED, metric(FAR, UNSOLVED)), INCONCLUSIVE, ""),
}


def value(of: float, proof: Certificate | None = None, reference: Solution = BEST, **others: Any) -> OnValue:
    return OnValue(of, TOL, proof, reference, **{"scale": OURS.scale} | others)


LOW, HIGH = OURS.objective - OURS.scale, OURS.objective + OURS.scale
ON_VALUE: dict[str, tuple[OnValue, Verdict, str]] = {
    "value with a tie": (value(LOW, NEAR, ties=2), INCONCLUSIVE, "value below the bound"),
    "value below the bound": (value(LOW), REFUTED, "value not proved"),
    "value of another metric": (value(HIGH, NEAR), REFUTED, ""),
    "value above the optimum": (value(HIGH), REFUTED, "value not proved"),
    "value not proved": (value(OURS.objective, reference=LOOSE), INCONCLUSIVE, "value of the optimum"),
    "value of the optimum": (value(OURS.objective), CERTIFIED, ""),
}

ERROR = asked(above=FAR.gap)
INDEFINITE = proved(-KNOWN.A).feasibility
LATE = ours(status=Status.TIME_LIMIT)
UNPROVED = ours(gap=OURS.scale)
# further facts that a rule applies to: another part of its condition
ALSO: list[tuple[str, Any]] = [
    ("undecided", metric(NEAR, ours(undecided="the data overlap"))),
    ("scale of ours", ruled(CERTIFIED, metric(FAR, LATE), exact="an interval")),
    ("value not proved", value(OURS.objective, reference=ours(rounding=OURS.scale))),
    ("value of another metric", value(1.5 * OURS.objective, NEAR, UNPROVED, scale=1e9 * OURS.scale)),
]
# facts that a rule does not apply to: one part of its condition is missing
SPARED: list[tuple[str, Any]] = [
    ("not zero", metric(replace(NEAR, gap=1.0, rounding=0.5), replace(ZERO, metric=KNOWN.A))),
    ("not zero", metric(replace(NEAR, gap=1.0, rounding=0.5), ours(NOTHING, scale=0.0, gap=1.0))),
    ("not zero", metric(replace(NEAR, gap=1.0, rounding=0.5), ZERO, ties=1)),
    ("rounding", metric(replace(FAR, rounding=OURS.scale))),
    ("error of the objective", ruled(INCONCLUSIVE, metric(FAR), ERROR)),
    ("error of the objective", ruled(REFUTED, metric(replace(FAR, feasibility=INDEFINITE)), ERROR)),
    ("error of the objective", ruled(REFUTED, metric(NEAR))),
    ("error of the objective", ruled(REFUTED, metric(FAR), asked(above=0.5 * FAR.gap))),
    ("not attained", ruled(REFUTED, metric(FAR), asked(never="no metric attains it"))),
    ("scale of ours", ruled(CERTIFIED, metric(NEAR, UNSOLVED))),
    ("scale of ours", ruled(CERTIFIED, metric(FAR))),
    ("scale of ours", ruled(CERTIFIED, metric(FAR, UNSOLVED), exact="an interval")),
    ("scale of ours", ruled(REFUTED, metric(FAR, UNSOLVED))),
    ("close", ruled(REFUTED, metric(replace(NEAR, gap=5 * TOL * OURS.scale, feasibility=INDEFINITE)))),
    ("close", ruled(REFUTED, metric(NEAR, scale=0.0))),
    ("close", ruled(CERTIFIED, metric(NEAR))),
    ("value with a tie", value(OURS.objective, NEAR, ties=2)),
    ("value with a tie", value(LOW, NEAR)),
    ("value above the optimum", value(HIGH, NEAR)),
    ("value not proved", value(LOW, NEAR)),
    ("value of the optimum", value(OURS.objective, NEAR)),
]
LISTS: list[tuple[Sequence[Rule[Any]], dict[str, Any]]] = [
    (METRIC, ON_METRIC),
    (REVISIONS, ON_RULING),
    (VALUE, ON_VALUE),
]
EVERY = [pytest.param(rules, cases, name, id=name) for rules, cases in LISTS for name in cases]


@pytest.mark.parametrize(("rules", "cases"), LISTS, ids=["metric", "ruling", "value"])
def test_every_rule_has_a_case(rules: Sequence[Rule[Any]], cases: dict[str, Any]) -> None:
    assert [rule.name for rule in rules] == list(cases), (
        "add a case for each new rule, in the order of the rules"
    )


@pytest.mark.parametrize(("rules", "cases", "name"), EVERY)
def test_a_rule_decides_its_case(rules: Sequence[Rule[Any]], cases: dict[str, Any], name: str) -> None:
    facts, verdict, _ = cases[name]
    ruling = decide(rules, facts)
    assert ruling is not None
    assert (ruling.rule, ruling.verdict) == (name, verdict)
    assert all(ruling.reasons)


@pytest.mark.parametrize(("name", "facts"), ALSO, ids=[name for name, _ in ALSO])
def test_a_rule_applies_to_each_part_of_its_condition(name: str, facts: Any) -> None:
    found = [decide(rules, facts) for rules, cases in LISTS if name in cases]
    assert [None if ruling is None else ruling.rule for ruling in found] == [name]


@pytest.mark.parametrize(("name", "facts"), SPARED, ids=[name for name, _ in SPARED])
def test_a_rule_spares_facts_without_a_part_of_its_condition(name: str, facts: Any) -> None:
    (rule,) = (rule for rule in (*METRIC, *REVISIONS, CLOSE_METRIC, *VALUE) if rule.name == name)
    assert not rule.applies(facts)


@pytest.mark.parametrize(("rules", "cases", "name"), EVERY)
def test_the_order_of_two_rules_matters(rules: Sequence[Rule[Any]], cases: dict[str, Any], name: str) -> None:
    """The later rule applies to the same facts. If it came first, the verdict or the reason would be wrong."""
    facts, _, later = cases[name]
    right = decide(rules, facts)
    names = [rule.name for rule in rules]
    if not later:
        others = [rule for rule in rules[names.index(name) + 1 :] if rule.applies(facts)]
        assert all(rule.verdict is cases[name][1] for rule in others), "name the later rule in the case"
        return
    assert names.index(later) > names.index(name)
    wrong = decide([rules[names.index(later)], *rules], facts)
    assert right is not None
    assert wrong is not None
    assert wrong.rule == later
    assert wrong.verdict is not right.verdict


def test_a_tie_keeps_a_metric_from_being_refuted_where_the_optimum_is_zero() -> None:
    facts, _, _ = ON_METRIC["not zero"]
    ruling = decide(METRIC, facts._replace(ties=1))
    assert ruling is not None
    assert (ruling.rule, ruling.verdict) == ("tie", INCONCLUSIVE)


@pytest.mark.parametrize("steps", [1, 1000])
def test_a_refuted_metric_near_the_optimum_is_close(steps: int) -> None:
    near = metric(replace(NEAR, gap=5 * TOL * OURS.scale, rounding=0.0))
    ruling = decide((CLOSE_METRIC,), ruled(REFUTED, near, asked(steps=steps)))
    assert ruling is not None
    assert (ruling.verdict, ruling.reasons[0]) == (CLOSE, "the reason")
    assert decide((CLOSE_METRIC,), ruled(REFUTED, metric(FAR))) is None


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (REFUTED, REFUTED, True),
        (CLOSE, REFUTED, True),
        (CERTIFIED, REFUTED, False),
        (INCONCLUSIVE, REFUTED, False),
        (CERTIFIED, INCONCLUSIVE, True),
    ],
)
def test_a_ruling_on_a_value_keeps_the_reasons_against_the_metric(
    first: Verdict, second: Verdict, kept: bool
) -> None:
    found = _with_value(Ruling(first, ("of the metric",)), Ruling(second, ("of the value",)))
    assert found is not None
    assert found.verdict is second
    assert found.reasons == (("of the metric", "of the value") if kept else ("of the value",))


def test_a_metric_whose_entries_are_rounded_is_told_apart_from_another_matrix() -> None:
    X, y = real_data("iris", 24)
    metric = cvxml.solve(
        "lmnn", np.column_stack([X, X[:, 0]]), y
    ).metric  # two equal features: of rank 4 at most
    rounded, far = np.round(metric, 4), metric - 0.1 * np.eye(5)
    assert np.linalg.eigvalsh(rounded)[0] < -1e-7
    hints = []
    for each in (rounded, far):
        report = cvxml.check("lmnn", np.column_stack([X, X[:, 0]]), y, each, diagnosed=False)
        assert report.verdict == "refuted"
        hints.append(" digits" in " ".join(report.reasons))
    assert hints == [True, False]


@pytest.mark.parametrize(
    ("method", "params", "rounded", "far"),
    [
        ("dml_eig", {}, 1 + 1e-5, 2.0),  # times the metric: over the budget
        ("glml", {}, 1 + 1e-5, 2.0),  # of another determinant
        ("scml", {"basis": np.eye(4)}, 1e-5, 0.5),  # a share off the diagonal: not in the cone of the basis
    ],
)
def test_rounded_entries_do_not_explain_a_metric_far_outside_the_other_limits(
    method: str, params: dict[str, Any], rounded: float, far: float
) -> None:
    X, y = real_data("iris", 24)
    metric = cvxml.solve(method, X, y, **params).metric
    hints = []
    for by in (rounded, far):
        other = by * metric
        if method == "scml":
            other = metric + by * metric.max() * (np.ones((4, 4)) + 3 * np.eye(4))
        report = cvxml.check(method, X, y, other, diagnosed=False, **params)
        assert report.verdict == "refuted"
        assert report.reasons[0].startswith("not a metric")
        hints.append(" digits" in " ".join(report.reasons))
    assert hints == [True, False]
