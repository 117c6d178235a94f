"""LMNN: degenerate data, its triplets, its misreadings, rounding."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.misreading import Question
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get, lmnn
from tests.instances import NOT_OPTIMAL, assert_named, random_data, real_data

IDS = ("lmnn", "lmnn:squared_hinge")
every_hinge = pytest.mark.parametrize("method", IDS)


def triplets(y: Any, targets: list[list[int]]) -> Iterator[tuple[int, int, int]]:
    for i, listed in enumerate(targets):
        for j in listed:
            for far in range(len(y)):
                if y[far] != y[i]:
                    yield i, j, far


def value(method: str, X: Any, y: Any, targets: list[list[int]], mu: float, M: Any) -> float:
    """The objective, one triplet after another."""

    def D(i: int, j: int) -> float:
        return float((X[i] - X[j]) @ M @ (X[i] - X[j]))

    power = 2 if "squared" in method else 1
    pull = sum(D(i, j) for i, listed in enumerate(targets) for j in listed)
    push = sum(max(0.0, 1 + D(i, j) - D(i, far)) ** power for i, j, far in triplets(y, targets))
    return (1 - mu) * pull + mu * push


def nearest(X: Any, y: Any, k: int) -> list[list[int]]:
    lists = []
    for i in range(len(X)):
        own = [j for j in range(len(X)) if y[j] == y[i] and j != i]
        lists.append(sorted(own, key=lambda j: (np.sum((X[i] - X[j]) ** 2), j))[:k])
    return lists


def pairs(targets: list[list[int]]) -> list[tuple[int, int]]:
    return [(i, j) for i, listed in enumerate(targets) for j in listed]


def distances(X: Any, M: Any, i: Any, j: Any) -> Any:
    """Of pairs (t,), as a cvxpy expression."""
    E = X[i] - X[j]
    return np.einsum("ta,tb->tab", E, E).reshape(len(E), -1) @ cp.vec(M, order="C")


def by_cvxpy(X: Any, pull: Any, push: Any, a: float, b: float, squared: bool) -> np.ndarray:
    """argmin a sum_pull D(i, j) + b sum_push [1 + D(i, j) - D(i, far)]_+, of any pairs and triplets."""
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    i, j, far = np.array(push).T
    hinge = cp.pos(1 + distances(X, M, i, j) - distances(X, M, i, far))
    total = cp.sum_squares(hinge) if squared else cp.sum(hinge)
    problem = cp.Problem(cp.Minimize(a * cp.sum(distances(X, M, *np.array(pull).T)) + b * total))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    found: np.ndarray = M.value
    return found


@every_hinge
def test_all_triplets_are_covered_though_few_are_used(method: str) -> None:
    X, y = real_data("wine", 60)
    targets = nearest(X, y, 3)
    solution = cvxml.solve(method, X, y)
    count = sum(1 for _ in triplets(y, targets))
    assert str(count) in solution.notes[0]
    assert len(solution.dual["price"]) < count / 5
    assert solution.objective == pytest.approx(value(method, X, y, targets, 0.5, solution.metric), rel=1e-10)


@every_hinge
def test_literal_constraint_generation_takes_more_than_one_round(method: str) -> None:
    """That it ends at the optimum, the contract shows."""
    X, y = real_data("iris", 21)
    assert cvxml.solve(method, X, y, solver="clarabel", tol=1e-4, n_neighbors=2).n_iter > 1


def degenerate() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    rng = np.random.default_rng(5)
    X, y = random_data(12, n=14, d=3, classes=2)
    twins = X.copy()
    twins[1] = twins[0]  # of different classes: a hinge that no metric mends
    flat = np.column_stack([X[:, 0], np.zeros(14), X[:, 1]])
    sheet = X.copy()
    sheet[:, 2] = y  # no target differs in it: it costs nothing, and separates the classes
    return {
        "twins": (twins, y, {}),
        "all at their targets": (np.repeat(rng.standard_normal((2, 2)), 4, axis=0), [0] * 4 + [1] * 4, {}),
        "targets of no length, twins": (np.repeat(np.eye(2)[[0, 1, 0]], 4, axis=0), [0] * 4 + [1] * 8, {}),
        "constant feature": (flat, y, {}),
        "free direction": (sheet, y, {}),
        "more features than points": (rng.standard_normal((10, 25)), np.arange(10) % 2, {"n_neighbors": 1}),
        "collinear": (np.round(X * 2**20) / 2**20 @ np.array([[1.0, 2, 3], [0, 1, 1], [1, 3, 4]]), y, {}),
        "nearly collinear": (X @ np.array([[1.0, 2, 3], [0, 1, 1], [1, 3, 4 + 1e-3]]), y, {}),
        "offset": (X + 1e6, y, {}),
        "scales": (X * [1e-6, 1.0, 1e6], y, {}),
        "tiny": (X * 1e-40, y, {}),
        "lattice": (rng.integers(0, 3, (14, 3)).astype(float), y, {}),
        "one target": (X, y, {"targets": [[2]] + [[]] * 13}),
    }


@pytest.mark.quick(6)
@every_hinge
@pytest.mark.parametrize("case", degenerate())
def test_degenerate_data(method: str, case: str) -> None:
    X, y, params = degenerate()[case]
    params = {"n_neighbors": 2, **params}
    solution = cvxml.solve(method, X, y, **params)
    assert solution.status is Status.CONVERGED
    targets = params.get("targets") or nearest(X, y, params["n_neighbors"])
    expected = value(method, X, y, targets, 0.5, solution.metric)
    assert solution.objective == pytest.approx(expected, rel=1e-6, abs=1e-12)
    again = cvxml.certify(method, X, y, solution.metric, solution.dual, **{**params, "targets": targets})
    assert again.proves(1e-6)


def test_what_rounding_hides_is_said() -> None:
    """Features collinear to 1e-7: entries of the metric are 1e14 of what distances show, and float64 has 16 digits."""
    X, y = random_data(12, n=14, d=3, classes=2)
    X = X @ np.array([[1.0, 2, 3], [0, 1, 1], [1, 3, 4 + 1e-7]])
    with pytest.warns(UserWarning, match="not certified"):
        solution = cvxml.solve("lmnn", X, y, n_neighbors=2)
    said = value("lmnn", X, y, nearest(X, y, 2), 0.5, solution.metric)
    assert abs(said - solution.objective) <= solution.certificate.rounding
    assert not solution.certificate.proves(1e-6)


@pytest.mark.parametrize(
    ("y", "params", "says"),
    [
        (None, {}, "triplets"),
        (None, {"triplets": [[0, 2, 1]], "targets": [[]] * 14}, "targets and triplets"),
        ([0, 1] * 7, {"n_neighbors": 7}, "6 targets"),
    ],
)
def test_bad_parameters(y: Any, params: dict[str, Any], says: str) -> None:
    X, _ = random_data(7, n=14, d=3, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve("lmnn", X, y, **params)


ASKED: dict[str, Any] = {"mu": 0.3, "n_neighbors": 2}


def misreadings(X: Any, y: Any) -> dict[str, tuple[Any, Any, float, float]]:
    """name -> pull pairs, push triplets, their weights."""
    lists = nearest(X, y, 2)
    push = list(triplets(y, lists))
    pull = pairs(lists)

    def D(i: int, j: int) -> float:
        return float(np.sum((X[i] - X[j]) ** 2))

    def only(choose: Any) -> list[Any]:
        return [(i, j, far) for i, j, far in push if j == choose(lists[i], key=lambda a: D(i, a))]

    def k(count: int) -> tuple[Any, Any, float, float]:
        other = nearest(X, y, count)
        return pairs(other), list(triplets(y, other)), 0.7, 0.3

    def ten(i: int) -> list[int]:
        return sorted((far for far in range(len(y)) if y[far] != y[i]), key=lambda far: (D(i, far), far))[:10]

    with_self = [[i, *listed[:1]] for i, listed in enumerate(lists)]
    once = [(i, j) for i, j in pull if not (i in lists[j] and j < i)]
    return {
        "hinge": (pull, push, 0.7, 0.3),  # the other one is taken below
        "mu_exchanged": (pull, push, 0.3, 0.7),
        "targets_1": (pull, push, 1.0, 0.3),
        "impostors_1": (pull, push, 0.7, 1.0),
        "means": (pull, push, 0.7 / len(pull), 0.3 / len(push)),
        "push_mean": (pull, push, 0.7, 0.3 / len(push)),
        "push_per_point": (pull, push, 0.7, 0.3 / len(y)),
        "k_less": k(1),
        "k_more": k(3),
        "self": (pairs(with_self), list(triplets(y, with_self)), 0.7, 0.3),
        "nearest_only": (pull, only(min), 0.7, 0.3),
        "furthest_only": (pull, only(max), 0.7, 0.3),
        "ten": (pull, [(i, j, far) for i, j, far in push if far in ten(i)], 0.7, 0.3),
        "frozen": (pull, [(i, j, far) for i, j, far in push if D(i, far) < 1 + D(i, j)], 0.7, 0.3),
        "one_way": (once, [(i, j, far) for i, j, far in push if (i, j) in once], 0.7, 0.3),
    }


def misread_data(name: str = "") -> tuple[Any, Any]:
    """Where few impostors count, or little, A = 0 would be optimal: the classes are further apart, or points nearer."""
    rng = np.random.default_rng(3)
    n = 30 if name == "ten" else 18
    y = np.arange(n) % 2
    apart = {"push_mean": 60.0, "push_per_point": 6.0}.get(name, 1.5)
    unit = 0.35 if name == "frozen" else 1.0
    # a long feature that says nothing: those who are near by the other are far by Euclid
    noise = [1.0, 4.0] if name == "ten" else 1.0
    return unit * (2 * rng.standard_normal((n, 2)) * noise + apart * y[:, None]), y


every_misreading = pytest.mark.parametrize("misreading", misreadings(*misread_data()))


def made(method: str, misreading: str) -> tuple[Any, Any, np.ndarray]:
    """Points, labels and the answer of a mistake, by cvxpy."""
    X, y = misread_data(misreading)
    squared = ("squared" in method) != (misreading == "hinge")
    return X, y, by_cvxpy(X, *misreadings(X, y)[misreading], squared)


@pytest.mark.slow
@every_misreading
def test_a_misreading_is_named(misreading: str) -> None:
    assert_named("lmnn", misreading, *made("lmnn", misreading), **ASKED)


@pytest.mark.quick(1)
@every_misreading
def test_a_misreading_of_the_squared_hinge_is_the_problem_that_it_says(misreading: str) -> None:
    """Without the diagnosis, which tries every misreading."""
    method = "lmnn:squared_hinge"
    X, y, M = made(method, misreading)
    assert cvxml.check(method, X, y, M, diagnosed=False, **ASKED).verdict in NOT_OPTIMAL
    said, question = get(method).MISREADINGS[misreading], Question(X, y, M, 1e-6, ASKED)
    if said.left is not None:
        assert said.left(question) <= 1e-6
        return
    assert said.problem is not None
    other = said.problem(question)
    assert other is not None
    report = cvxml.check(other.method or method, other.X, other.y, M, diagnosed=False, **other.params)
    assert report.verdict is Verdict.CERTIFIED


@pytest.mark.quick(1)
@pytest.mark.parametrize(("targets", "factor"), [([[1], [], []], 8), ([[], [0], []], 3)])
@every_hinge
def test_every_misreading_is_judged_if_a_class_has_no_targets(
    method: str, targets: list[list[int]], factor: int
) -> None:
    """One triplet on a line. If classes weigh the same, its weights are multiples of those of the problem."""
    X, y, m = [[0.0], [1.0], [3.0]], [0, 0, 1], 0.1146
    question = Question(X, y, np.array([[m]]), 1e-6, {"mu": 0.6, "targets": targets})
    left = {name: each.left(question) for name, each in get(method).MISREADINGS.items() if each.left}
    power = 2 if "squared" in method else 1
    least = (1 - 1 / (3 * factor) if power == 2 else 1.0) / factor  # where the slope 0.4 is that of the hinge

    def value(at: float) -> float:
        return 0.4 * at + 0.6 * max(0.0, 1 - factor * at) ** power

    assert left["class_weights"] == pytest.approx(1 - value(least) / value(m), abs=1e-5)


@pytest.mark.slow
def test_a_class_without_targets_is_diagnosed() -> None:
    report = cvxml.check("lmnn", [[0.0], [1.0], [3.0]], [0, 0, 1], [[0.1146]], mu=0.6, targets=[[1], [], []])
    assert report.verdict is Verdict.REFUTED


@pytest.mark.slow
@every_hinge
def test_a_pull_that_is_not_squared_is_named(method: str) -> None:
    """sqrt D is below its tangents: the weights 1 / (2 sqrt D) of the round before, until nothing changes."""
    X, y = misread_data("push_per_point")
    lists = nearest(X, y, 2)
    pull, push = np.array(pairs(lists)), np.array(list(triplets(y, lists)))
    M, before, e = np.eye(2) / 50, np.zeros((2, 2)), X[pull[:, 0]] - X[pull[:, 1]]
    for _ in range(100):
        if np.linalg.norm(M - before) <= 1e-9 * np.linalg.norm(M):
            break
        weights = 0.7 / (2 * np.sqrt(np.sum((e @ M) * e, axis=1)))
        before, M = M, weighted(X, pull, push, weights, np.full(len(push), 0.3), "squared" in method)
    assert_named(method, "unsquared_pull", X, y, M, **ASKED)


def weighted(X: Any, pull: Any, push: Any, a: Any, b: Any, squared: bool) -> np.ndarray:
    """The optimum, where every pair and every triplet has a weight of its own."""
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    hinge = cp.pos(1 + distances(X, M, push[:, 0], push[:, 1]) - distances(X, M, push[:, 0], push[:, 2]))
    push_cost = b @ (cp.square(hinge) if squared else hinge)
    problem = cp.Problem(cp.Minimize(a @ distances(X, M, *pull.T) + push_cost))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11, tol_feas=1e-11)
    found: np.ndarray = M.value
    return found


@pytest.mark.slow
@every_hinge
def test_classes_that_weigh_the_same_are_named(method: str) -> None:
    X, y = misread_data("push_per_point")
    kept = np.flatnonzero((y == 0) | (np.arange(len(y)) < 9))
    X, y = X[kept], y[kept]
    lists = nearest(X, y, 2)
    pull, push = np.array(pairs(lists)), np.array(list(triplets(y, lists)))
    weight = len(y) / (2 * np.bincount(y))
    a, b = 0.7 * weight[y[pull[:, 0]]], 0.3 * weight[y[push[:, 0]]]
    assert_named(method, "class_weights", X, y, weighted(X, pull, push, a, b, "squared" in method), **ASKED)


@every_hinge
@pytest.mark.parametrize("name", ["class_weights", "unsquared_pull"])
def test_what_is_left_of_other_weights_is_what_the_metric_costs_more_than_the_best(
    method: str, name: str
) -> None:
    """Uneven classes; a pull that is not squared is that of the tangents at the metric."""
    X, y = misread_data("push_per_point")
    kept = np.flatnonzero((y == 0) | (np.arange(len(y)) < 9))
    X, y = X[kept], y[kept]
    lists = nearest(X, y, 2)
    pull, push = np.array(pairs(lists)), np.array(list(triplets(y, lists)))
    squared, weight = "squared" in method, len(y) / (2 * np.bincount(y))

    def cost(M: Any, a: Any, b: Any) -> float:
        missed = np.maximum(
            0.0, 1 + (distances(X, M, *push[:, :2].T) - distances(X, M, *push[:, ::2].T)).value
        )
        return float(a @ distances(X, M, *pull.T).value + b @ missed ** (2 if squared else 1))

    found = get(method).MISREADINGS[name].left
    assert found is not None
    for metric in (np.array([[0.05, 0.02], [0.02, 0.1]]), np.diag([0.03, 0.01])):
        if name == "class_weights":
            a, b = 0.7 * weight[y[pull[:, 0]]], 0.3 * weight[y[push[:, 0]]]
        else:
            a, b = 0.35 / np.sqrt(distances(X, metric, *pull.T).value), np.full(len(push), 0.3)
        best = weighted(X, pull, push, a, b, squared)
        more = 1 - cost(best, a, b) / cost(metric, a, b)
        left = found(Question(X, y, metric, 1e-6, ASKED))
        if name == "class_weights":  # prices are found for the margins that the metric misses: a bound
            assert left >= more - 1e-9
            assert found(Question(X, y, best, 1e-6, ASKED)) <= 1e-6
        else:
            assert left == pytest.approx(more, abs=1e-5)


def test_where_a_target_is_at_distance_0_a_pull_that_is_not_squared_has_no_tangent() -> None:
    X, y = misread_data()
    left = get("lmnn").MISREADINGS["unsquared_pull"].left
    assert left is not None
    assert left(Question([X[0], *X], [y[0], *y], np.eye(2), 1e-6, ASKED)) == math.inf


@pytest.mark.slow
def test_one_impostor_of_each_target_in_place_of_all_is_named() -> None:
    """max for sum; what any other metric leaves is never said to be less than it is."""
    X, y = misread_data("ten")
    pull = pairs(nearest(X, y, 2))
    M = cp.Variable((2, 2), PSD=True)
    slacks = []
    for i, j in pull:
        others = np.flatnonzero(y != y[i])
        own = distances(X, M, np.array([i]), np.array([j]))
        slacks.append(cp.max(cp.pos(1 + own - distances(X, M, np.full(len(others), i), others))))
    asked: dict[str, Any] = {"mu": 0.8, "n_neighbors": 2}  # of mu = 0.3 the metric 0 is optimal
    costs = 0.2 * cp.sum(distances(X, M, *np.array(pull).T)) + 0.8 * cp.sum(cp.hstack(slacks))
    problem = cp.Problem(cp.Minimize(costs))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    assert np.linalg.norm(M.value) > 1e-3
    assert_named("lmnn", "hardest", X, y, M.value, **asked)
    hardest = get("lmnn").MISREADINGS["hardest"]
    best, rng = problem.value, np.random.default_rng(0)
    for noise in (1e-3, 0.1, 1.0):
        factor = np.linalg.cholesky(M.value + 1e-9 * np.eye(2)) + noise * rng.standard_normal((2, 2))
        M.value = factor @ factor.T
        question = Question(X, y, M.value, 1e-6, asked)
        assert hardest.left is not None
        assert hardest.left(question) >= (problem.objective.value - best) / problem.objective.value - 1e-7
    squared = get("lmnn:squared_hinge").MISREADINGS["hardest"]
    assert squared.left is not None
    assert squared.left(question) == math.inf


@pytest.mark.quick(1)
@every_hinge
def test_given_triplets_have_a_literal_and_an_exact_optimum(method: str) -> None:
    """Triplets at random. Every pair i, j counts once in the pull, however many triplets it has."""
    X, _ = random_data(4, n=12, d=3, classes=2)
    rng = np.random.default_rng(4)
    listed = np.unique([rng.permutation(12)[:3] for _ in range(40)], axis=0)
    given: dict[str, Any] = {"mu": 0.7, "triplets": listed}  # of less mu 0 is optimal
    literal = cvxml.solve(method, X, None, tol=1e-5, solver="clarabel", **given)
    assert literal.metric.any()
    assert cvxml.check(method, X, None, literal.metric, tol="loose", **given).verdict is Verdict.CERTIFIED
    solution = cvxml.solve(method, X, None, tol=1e-8, **given)
    exact = cvxml.check(method, X, None, solution.metric, exact=True, **given)
    assert exact.verdict is Verdict.CERTIFIED
    far = cvxml.evaluate(method, X, None, np.eye(3), **given)
    targets = np.unique(listed[:, :2], axis=0)
    assert far.pull == pytest.approx(sum(np.sum((X[i] - X[j]) ** 2) for i, j in targets), rel=1e-12)


@every_hinge
def test_without_triplets_the_dual_is_zero(method: str) -> None:
    X, _ = random_data(3, n=6, d=2, classes=2)
    targets, none = np.array([[0, 1], [2, 3]]), np.zeros((0, 3), dtype=int)
    squared = "squared" in method
    assert lmnn.dual(X, targets, none, 0.5, squared).solve(solver="CLARABEL") == 0
    primal = lmnn.problem(X, targets, none, 0.5, squared)
    assert primal.solve(solver="CLARABEL") == pytest.approx(0, abs=1e-6)


def test_a_tie_never_refutes_unless_targets_are_given() -> None:
    X = np.array([[0.0], [1.0], [-1.0], [3.0], [4.0], [5.0]])
    y = [0, 0, 0, 1, 1, 1]
    best = cvxml.solve("lmnn", X, y, n_neighbors=1)
    assert "tie" in best.notes[1]
    for given, verdict in (
        ({"n_neighbors": 1}, Verdict.INCONCLUSIVE),
        ({"targets": [[1], [0], [0], [4], [3], [4]]}, Verdict.REFUTED),
    ):
        report = cvxml.check("lmnn", X, y, 3 * best.metric, diagnosed=False, **given)
        assert report.verdict is verdict


@every_hinge
def test_intermediates_by_loops(method: str) -> None:
    X, y = random_data(15, n=12, d=3, classes=2)
    targets = nearest(X, y, 2)
    root = np.random.default_rng(0).standard_normal((3, 3))
    M = root @ root.T / 4
    at = cvxml.evaluate(method, X, y, M, mu=0.3, n_neighbors=2)
    missed = {}
    for i, j, far in triplets(y, targets):
        margin = (X[i] - X[far]) @ M @ (X[i] - X[far]) - (X[i] - X[j]) @ M @ (X[i] - X[j])
        if margin < 1:
            missed[i, j, far] = 1 - margin
    found = dict(zip(map(tuple, at.triplets.tolist()), at.xi.tolist(), strict=True))
    assert found == pytest.approx(missed, rel=1e-9)
    counts = [sum(t[:2] == (i, j) for t in missed) for i, j in at.targets.tolist()]
    assert at.impostor_counts.tolist() == counts


def test_a_price_on_a_direction_that_is_free_is_given_up_though_rounding_hides_it() -> None:
    """Features x and x + h z, all of them dyadic, z = 0, zB, 1 in the three classes: A = t (1, -1)(1, -1)^T costs 0."""
    h, zB = 2.0**-40, 1 / 256
    x = np.random.default_rng(1).integers(-8, 9, 12) / 8.0
    y = np.repeat([0, 1, 2], 4)
    X = np.column_stack([x, x + h * np.array([0.0, zB, 1.0])[y]])
    targets = [[4 * (i // 4) + (i + 1) % 4] for i in range(12)]
    separate = 4 / (h * zB) ** 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert value("lmnn", X, y, targets, 0.5, separate) == 0.0
    index = [t for t in triplets(y, targets) if y[t[0]] < 2 and y[t[2]] < 2]
    dual = {"price": np.full(len(index), 0.01), "triplets": np.array(index)}
    assert cvxml.certify("lmnn", X, y, separate, dual, targets=targets).lower_bound <= 1e-12


def test_a_margin_that_rounding_may_miss_counts_in_the_rounding() -> None:
    X, y = random_data(12, n=14, d=3, classes=2)
    best = cvxml.solve("lmnn", X, y, n_neighbors=2, tol=1e-9)
    assert best.certificate.rounding > 0
    at_margin = np.array([[0.0], [1.0], [np.sqrt(2.0)]])  # 1 + 1 - 2: kept or missed by an ulp
    proof = cvxml.certify(
        "lmnn", at_margin, [0, 0, 1], np.eye(1), {"price": [], "triplets": []}, targets=[[1], [], []]
    )
    exact = 0.5
    assert abs(proof.objective - exact) <= proof.rounding


def test_targets_next_to_a_line_prove_nothing_that_is_false() -> None:
    """Targets differ by 2^-24 across a direction in which impostors are; a steep metric has objective 8, exactly."""
    delta = 2.0**-24
    X = np.array([[0, 0], [1, delta], [0, 1], [1, 1 - delta], *[[0.5, 0]] * 100])
    y = [0, 0, 2, 2, *[1] * 100]
    targets = [[1], [], [3], [], *[[]] * 100]
    M = np.array([[4, -4 / delta], [-4 / delta, 4 / delta**2]])

    def D(i: int, j: int) -> Fraction:
        x = [Fraction(a) - Fraction(b) for a, b in zip(X[i], X[j], strict=True)]
        return sum((Fraction(M[a, b]) * x[a] * x[b] for a in range(2) for b in range(2)), start=Fraction(0))

    pairs = [(0, 1), (2, 3)]
    missed = sum(
        max(Fraction(0), 1 + D(i, j) - D(i, k)) for i, j in pairs for k in range(104) if y[k] != y[i]
    )
    objective = (sum(D(*pair) for pair in pairs) + missed) / 2
    assert objective == 8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve("lmnn", X, y, targets=targets)
    assert solution.lower_bound - solution.certificate.rounding <= 8
    for metric in (solution.metric, np.diag([0.0, 2.0]), np.diag([2.0, 0.0])):
        proof = cvxml.certify("lmnn", X, y, metric, solution.dual, targets=targets)
        assert proof.lower_bound - proof.rounding <= 8
