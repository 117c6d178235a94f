"""MLR: against cvxpy from scratch, AUC in closed form, where 0 is optimal, exactly, lists, misreadings."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.misreading import Question
from cvxml.core.ranking import length
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.methods.mlr import MISREADINGS, MLR, delta, every_ranking, instance, objective, problem, rankings
from tests.instances import NOT_OPTIMAL, assert_named, random_data, real_data
from tests.methods.mlr.test_interleaving import MEASURES, cost, loss

METHOD = get("mlr")
EVERY = pytest.mark.parametrize("measure", MEASURES)


def same_class(y: Any) -> list[list[int]]:
    """The other points of the class of each point."""
    return [[j for j in range(len(y)) if j != i and y[j] == y[i]] for i in range(len(y))]


def value(X: Any, lists: list[list[int]], measure: str, k: int, C: float, M: Any) -> float:
    """The objective, by all permutations."""
    slacks = []
    for q, plus in enumerate(lists):
        rest = [j for j in range(len(X)) if j != q and j not in plus]
        if plus and rest:
            D = np.einsum("ia,ab,ib->i", X - X[q], np.asarray(M), X - X[q])
            orders = permutations([*plus, *rest])
            slacks.append(max(loss(measure, k, plus, one) - cost(D, plus, one) for one in orders))
    return float(np.trace(M)) + C * float(np.mean(slacks))


@pytest.mark.quick(2)
@EVERY
def test_against_cvxpy_from_scratch_and_by_all_permutations(measure: str) -> None:
    """The worst ranking as a maximum over all permutations."""
    X, y = random_data(3, n=5, d=2, classes=2)
    k, C, n, d = 2, 5.0, 5, 2
    lists = same_class(y)
    M, slacks = cp.Variable((d, d), PSD=True), []
    for q, plus in enumerate(lists):
        D = [cp.trace(M @ np.outer(X[q] - X[i], X[q] - X[i])) for i in range(n)]
        orders = permutations([j for j in range(n) if j != q])
        slacks.append(cp.maximum(*(loss(measure, k, plus, one) - cost(D, plus, one) for one in orders)))
    optimum = cp.Problem(cp.Minimize(cp.trace(M) + C * sum(slacks) / n)).solve(cp.CLARABEL)
    solution = cvxml.solve("mlr", X, y, measure=measure, k=k, C=C, tol=1e-8)
    assert solution.objective == pytest.approx(optimum, rel=1e-5)
    assert value(X, lists, measure, k, C, solution.metric) == pytest.approx(solution.objective, rel=1e-10)
    rng, given = np.random.default_rng(0), instance(X, y, measure=measure, k=k, C=C)
    for _ in range(5):
        root = rng.standard_normal((d, d))
        expected = value(X, lists, measure, k, C, root @ root.T)
        assert objective(given, root @ root.T) == pytest.approx(expected, rel=1e-12)
        assert METHOD.fast_objective(given, root @ root.T) == pytest.approx(expected, rel=1e-12)
    assert METHOD.fast_objective(given, np.full((d, d), 1e308)) == np.inf


def test_auc_is_a_mean_of_hinges() -> None:
    X, y = real_data("wine", 40)
    rng = np.random.default_rng(0)
    root = 0.2 * rng.standard_normal((13, 13))
    M = root @ root.T
    D = np.einsum("ija,ab,ijb->ij", X[:, None] - X, M, X[:, None] - X)
    slacks = [
        np.mean([[max(0.0, 1 - 2 * (D[q, j] - D[q, i])) for j in np.flatnonzero(y != y[q])]
                 for i in np.flatnonzero(y == y[q]) if i != q])
        for q in range(len(X))
    ]  # fmt: skip
    expected = np.trace(M) + 3 * np.mean(slacks)
    assert objective(instance(X, y, C=3.0), M) == pytest.approx(expected, rel=1e-12)
    proof = cvxml.certify("mlr", X, y, M, {"price": [], "rankings": []}, C=3.0)
    assert proof.objective == pytest.approx(expected)


@EVERY
def test_the_loss_of_every_ranking(measure: str) -> None:
    for y in permutations(range(5)):
        for k in (1, 2, 9):
            assert delta(measure, k, [0, 3], y) == pytest.approx(loss(measure, k, [0, 3], y), abs=1e-14)


@EVERY
def test_the_loss_of_every_ranking_where_most_points_are_relevant(measure: str) -> None:
    """One irrelevant point among five, or two: the first k of a precision are no more than these."""
    for plus in ([0, 1, 3, 4], [0, 3, 4]):
        for y in permutations(range(5)):
            for k in (1, 2, 9):
                assert delta(measure, k, plus, y) == pytest.approx(loss(measure, k, plus, y), abs=1e-14)


@pytest.mark.parametrize(
    ("y", "k", "counted", "expected"),
    [
        # three relevant points and one irrelevant
        ([0, 1, 2, 3], 3, 1, 0.0),
        ([0, 1, 3, 2], 3, 1, 0.0),
        ([3, 0, 1, 2], 3, 1, 1.0),
        ([3, 0, 1, 2], 1, 1, 1.0),
        # three and two
        ([0, 3, 1, 2, 4], 3, 2, 0.5),
        ([0, 1, 3, 4, 2], 9, 2, 0.0),
        ([3, 4, 0, 1, 2], 9, 2, 1.0),
        # one and three
        ([3, 0, 4, 5], 3, 1, 1.0),
        ([0, 3, 4, 5], 3, 1, 0.0),
    ],
)
def test_a_precision_counts_no_more_points_than_there_are_of_either_kind(
    y: list[int], k: int, counted: int, expected: float
) -> None:
    """The points 0, 1 and 2 are relevant. Some ranking has the loss 0, and some ranking has the loss 1."""
    plus = [i for i in y if i < 3]
    assert delta("precision", k, plus, y) == expected
    assert length("precision", k, len(plus), len(y) - len(plus)) == counted


@pytest.mark.parametrize(("P", "N", "count"), [(1, 1, 2), (1, 4, 16), (2, 2, 14), (2, 3, 46), (3, 3, 230)])
def test_rankings_that_differ(P: int, N: int, count: int) -> None:
    """As many as the poly-Bernoulli number says."""
    assert len(rankings(range(P), range(P, P + N))) == count


@pytest.mark.quick(1)
@EVERY
def test_up_to_some_weight_0_is_optimal_and_a_note_tells_it(measure: str) -> None:
    """And a little above it is not: then the fast solver finds another metric, and 0 is refuted."""
    X, y = random_data(4, n=12, d=3, classes=2)
    small = cvxml.solve("mlr", X, y, measure=measure, C=1e-3)
    assert not small.metric.any()
    assert small.gap == 0 == small.certificate.rounding
    (said,) = small.notes
    if measure in ("precision", "ndcg"):
        return  # many rankings are the worst one, and the C of the note is not the largest
    # all irrelevant points first, in any order: the threshold is 1 over the largest eigenvalue of what C = 1 pulls
    G = np.zeros((3, 3))
    for q in range(12):
        for sign, own in ((-1, y == y[q]), (1, y != y[q])):
            E = X[own & (np.arange(12) != q)] - X[q]
            G += sign * 2 * (E.T @ E) / len(E) / 12
    limit = 1 / float(np.linalg.eigvalsh(G)[-1])
    assert f"{limit:.6g}" in said
    for share in (0.999, 1.01):
        solution = cvxml.solve("mlr", X, y, measure=measure, C=share * limit, tol=1e-8)
        assert solution.metric.any() == (share > 1)
    given: dict[str, Any] = {"measure": measure, "C": 1.1 * limit, "diagnosed": False}
    assert cvxml.check("mlr", X, y, np.zeros((3, 3)), **given).verdict in NOT_OPTIMAL


@EVERY
@pytest.mark.parametrize("degenerate", [False, True])
def test_rounding_covers_what_is_exact(measure: str, degenerate: bool) -> None:
    """At the optimum, at any metric, and from any prices."""
    rng = np.random.default_rng(6)
    X, y = random_data(6, n=8, d=2, classes=2)
    if degenerate:
        X = np.round(X)
        X[3] = X[0]
    given = instance(X, y, measure=measure, k=3, C=2.0)
    best = cvxml.solve("mlr", X, y, measure=measure, k=3, C=2.0, tol=1e-8)
    found = METHOD.exact(given, best.metric, best.dual)
    assert Fraction(0) <= found.gap <= Fraction(2, 10**8) * found.scale
    for _ in range(4):
        root = rng.standard_normal((2, 2))
        dual = {**best.dual, "price": best.dual["price"] * rng.uniform(0, 3, len(best.dual["price"]))}
        proof = METHOD.certify(given, root @ root.T, dual)
        found = METHOD.exact(given, root @ root.T, dual)
        assert abs(Fraction(proof.objective) - found.objective) <= Fraction(proof.value_rounding)
        assert abs(Fraction(proof.gap) - found.gap) <= Fraction(proof.rounding) + Fraction(1, 10**12)


def test_a_back_end_takes_rows_as_they_are_needed() -> None:
    X, y = real_data("iris", 10)
    fast = cvxml.solve("mlr", X, y, measure="map", C=5.0, tol=1e-8)
    literal = cvxml.solve("mlr", X, y, measure="map", C=5.0, tol=1e-4, solver="clarabel")
    assert literal.rel_gap <= 1e-4
    assert literal.lower_bound <= fast.objective * (1 + 1e-9)
    assert fast.lower_bound <= literal.objective * (1 + 1e-9)
    with pytest.raises(ValueError, match="8 points"):
        cvxml.problem("mlr", X, y)


def test_fewer_rows_give_less() -> None:
    X, y = random_data(7, n=5, d=2, classes=2)
    given = instance(X, y, C=20.0)
    every = every_ranking(given)
    stated = (given.X, given, given.measure, given.k, given.C)
    whole = problem(*stated, every).solve(cp.CLARABEL)
    assert problem(*stated, [own[:1] for own in every]).solve(cp.CLARABEL) <= whole + 1e-6


def test_where_every_ranking_can_be_right_no_weight_is_too_large() -> None:
    """Then a metric without a slack is best from some weight on, and the solver is to find it for any."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((18, 12)), np.arange(18) % 3
    X[:, 0] += 4 * y
    some, large = (cvxml.solve("mlr", X, y, C=C, tol=1e-3) for C in (1e4, 1e6))
    assert some.status is large.status is Status.CONVERGED
    assert large.lower_bound >= some.lower_bound * (1 - 1e-3)
    assert large.objective <= some.objective * (1 + 3e-3)


def test_lists_of_relevant_points() -> None:
    """Those of the classes are the default; a point without any is no query, and a note says so."""
    X, y = random_data(8, n=10, d=2, classes=2)
    lists = same_class(y)
    named = cvxml.solve("mlr", X, y, C=3.0)
    listed = cvxml.solve("mlr", X, None, C=3.0, relevant=lists)
    assert listed.objective == named.objective
    assert named.params["relevant"] == lists
    lists[4] = []
    fewer = cvxml.solve("mlr", X, None, C=3.0, relevant=lists)
    assert fewer.objective != named.objective
    assert len(fewer.notes) == len(named.notes) + 1
    assert 4 not in cvxml.evaluate("mlr", X, None, fewer.metric, C=3.0, relevant=lists).queries
    assert MLR().instance(X, y, relevant=lists).lists == lists


def test_where_there_is_nothing_to_rank_relevant_is_asked_for() -> None:
    for y, relevant in (([0, 0, 1, 1], [[1, 2, 3], [], [], []]), (None, None)):
        with pytest.raises(ValueError, match="relevant"):
            cvxml.solve("mlr", [[0.0], [1.0], [3.0], [4.0]], y, relevant=relevant)


def misread(name: str, M: Any, X: Any, lists: Any, measure: str, k: int, C: float) -> float:
    """The misread objective at M, by all permutations."""
    n, d = X.shape
    if name == "sum":
        return value(X, lists, measure, k, C * n, M)
    if name == "mean_trace":
        return value(X, lists, measure, k, C, M) - (1 - 1 / d) * float(np.trace(M))
    if name == "zero_one":  # half of what every swap counts
        return value(X, lists, measure, k, C, np.asarray(M) / 2) + float(np.trace(M)) / 2
    return value(X, lists, "auc" if name == "auc" else measure, n if name == "whole_list" else k, C, M)


SOLVED: dict[str, dict[str, Any]] = {  # instead, of 6 points with 2 features
    "sum": {"C": 72.0},
    "mean_trace": {"C": 24.0},
    "zero_one": {"C": 6.0},
    "auc": {"measure": "auc"},
    "whole_list": {"k": 6},
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", MISREADINGS)
def test_a_misreading_is_the_problem_that_it_says(name: str) -> None:
    """Its optimum is that of the misread objective, by all permutations, is refuted, and looked for."""
    X, y = random_data(9, n=6, d=2, classes=2)
    params: dict[str, Any] = {"measure": "ndcg", "k": 1, "C": 12.0}
    metric = cvxml.solve("mlr", X, y, tol=1e-9, **{**params, **SOLVED[name]}).metric
    metric = 2 * metric if name == "zero_one" else metric
    asked = (X, same_class(y), params["measure"], params["k"], params["C"])
    rng, best = np.random.default_rng(0), misread(name, metric, *asked)
    for size in (1e-3, 1e-1, 0.5):
        turn = np.eye(2) + size * rng.standard_normal((2, 2))
        assert misread(name, turn @ metric @ turn.T, *asked) >= best - 1e-8 * best
    assert cvxml.check("mlr", X, y, metric, diagnosed=False, **params).verdict is (
        Verdict.REFUTED if name in ("zero_one", "auc") else Verdict.CLOSE
    )
    stated = MISREADINGS[name].problem
    assert stated is not None
    other = stated(Question(X, y, metric, 1e-6, params))
    assert other is not None
    theirs = metric if other.metric is None else other.metric
    assert cvxml.check("mlr", X, y, theirs, diagnosed=False, **other.params).verdict is Verdict.CERTIFIED


@pytest.mark.slow
def test_a_misreading_is_named() -> None:
    X, y = random_data(9, n=6, d=2, classes=2)
    assert_named("mlr", "sum", X, y, cvxml.solve("mlr", X, y, C=6 * 2.0, tol=1e-9).metric, C=2.0)


@pytest.mark.parametrize(
    ("misreading", "params"), [("auc", {}), ("whole_list", {}), ("whole_list", {"measure": "map"})]
)
def test_a_misreading_that_is_none_here(misreading: str, params: dict[str, Any]) -> None:
    stated = MISREADINGS[misreading].problem
    assert stated is not None
    assert stated(Question([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], np.eye(1), 1e-6, params)) is None


def test_given_lists_without_a_query_are_the_fault_of_the_lists() -> None:
    X, y = random_data(0, n=6, d=2)
    with pytest.raises(ValueError, match=r"\brelevant\b") as caught:
        cvxml.solve("mlr", X, None, relevant=[[] for _ in X])
    assert "classes" not in str(caught.value)
    with pytest.raises(ValueError, match="classes"):
        cvxml.solve("mlr", X, 0 * y)


@EVERY
@pytest.mark.parametrize("C", [1e3, 1e6])
def test_a_larger_C_changes_nothing_if_no_slack_is_needed(measure: str, C: float) -> None:
    """The start of the solver satisfies every margin then, so that no ranking is listed at first."""
    X = np.array([[0.0, 0], [0.1, 1], [5, 0], [5.1, 1], [9, 0.5], [9.1, 0]])
    y = [0, 0, 1, 1, 2, 2]
    small, large = (cvxml.solve("mlr", X, y, measure=measure, C=weight) for weight in (10.0, C))
    assert evaluate_slacks(X, y, measure, small.metric) == pytest.approx(0, abs=1e-5)
    assert (small.status, large.status) == (Status.CONVERGED, Status.CONVERGED)
    assert large.objective >= small.lower_bound
    assert small.objective >= large.lower_bound


def evaluate_slacks(X: Any, y: Any, measure: str, W: Any) -> float:
    """The largest slack of a query."""
    slack: float = np.nanmax(cvxml.evaluate("mlr", X, y, W, measure=measure, C=1.0).xi)
    return slack
