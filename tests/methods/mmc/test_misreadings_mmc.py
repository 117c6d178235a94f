"""The mistakes that people make with MMC, each minimised here by BFGS on a factor, and read off a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Question
from cvxml.core.report import Verdict
from cvxml.methods import get
from tests.instances import assert_named, own_misreadings, random_data, real_data
from tests.methods.mmc.problems import both, differences, distances


def most(
    E: FloatArray, S: FloatArray, gain: Callable[[FloatArray], FloatArray], diagonal: bool
) -> FloatArray:
    """The metric of <S, A> = 1 with the largest sum of gain(D): BFGS on a factor that is scaled to it."""
    d = len(S)

    def metric(v: FloatArray) -> FloatArray:
        L = np.diag(v) if diagonal else v.reshape(d, d)
        A: FloatArray = L.T @ L
        return A / np.sum(S * A)

    def value(v: FloatArray) -> float:
        return -float(np.sum(gain(np.sum((E @ metric(v)) * E, axis=1))))

    def gradient(v: FloatArray) -> FloatArray:
        steps = 1e-4 * np.eye(len(v))
        near = np.array([value(v + e) - value(v - e) for e in steps]) / 2e-4
        far = np.array([value(v + 2 * e) - value(v - 2 * e) for e in steps]) / 4e-4
        return (4 * near - far) / 3

    start = np.ones(d) if diagonal else np.eye(d).ravel()
    return metric(minimize(value, start, jac=gradient, method="BFGS", options={"gtol": 1e-9}).x)


def plain_budget(E: FloatArray, C: FloatArray, diagonal: bool) -> FloatArray:
    """The least sum sqrt(D) over E where <C, A> = 1: v that climbs v^T C v by linear programs, from many starts."""
    q, d = E.shape
    rows = np.block([[E, -np.eye(q)], [-E, -np.eye(q)], [np.zeros((1, d)), np.ones((1, q))]])
    sides = np.append(np.zeros(2 * q), 1.0)
    found = list(np.eye(d))
    for start in np.random.default_rng(0).standard_normal((0 if diagonal else 20, d)):
        v = start
        for _ in range(8):
            cost = np.append(-C @ v, np.zeros(q))
            v = linprog(cost, rows, sides, bounds=[(None, None)] * d + [(0, None)] * q).x[:d]
        found.append(v)
    v = min(found, key=lambda v: float(np.abs(E @ v).sum() / np.sqrt(v @ C @ v)))
    A: FloatArray = np.outer(v, v) / (v @ C @ v)
    return A


def misread(name: str, X: FloatArray, y: Any, diagonal: bool) -> FloatArray:
    similar, dissimilar = differences(X, y)
    S = similar.T @ similar

    def best() -> FloatArray:
        return most(dissimilar, S, np.sqrt, diagonal)

    made: dict[str, Callable[[], FloatArray]] = {
        "squared": lambda: most(dissimilar, S, lambda D: D, diagonal),
        "log": lambda: most(dissimilar, S, np.log, diagonal),
        "exchanged": lambda: most(similar, dissimilar.T @ dissimilar, np.sqrt, diagonal),
        "plain_budget": lambda: plain_budget(similar, dissimilar.T @ dissimilar, diagonal),
        "all_pairs": lambda: most(np.vstack([similar, dissimilar]), S, np.sqrt, diagonal),
        "trace": lambda: most(dissimilar, np.eye(X.shape[1]), np.sqrt, diagonal),
        "half": lambda: best() / 2,
        "mean": lambda: best() * len(similar),
        "hundredth": lambda: best() * np.sum(similar**2) / 100,
        "thousandth": lambda: best() * np.sum(similar**2) / 1000,
        "reverse": lambda: best() / float(np.sum(distances(dissimilar, best()))) ** 2,
        "other": lambda: most(dissimilar, S, np.sqrt, not diagonal),
    }
    return made[name]()


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["squared", "plain_budget"])
def test_a_full_metric_is_no_answer_of_a_diagonal_misreading(name: str) -> None:
    """The optimum of a misreading over all metrics may beat that over the diagonal ones, whose answer it is not."""
    X, y = random_data(33, n=17, d=2)
    report = cvxml.check("mmc:diagonal", X, y, misread(name, X, y, diagonal=False))
    assert report.verdict is Verdict.REFUTED
    assert not any(get("mmc:diagonal").MISREADINGS[name].sentence in line for line in report.diagnosis)


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_gap_in_the_problem_with_a_plain_budget_is_that_to_its_optimum(diagonal: bool) -> None:
    """For metrics far from it: a bound that is too high would call any of them its optimum."""
    X, y = random_data(5, n=12, d=3)
    method = "mmc:diagonal" if diagonal else "mmc"
    similar, dissimilar = differences(X, y)

    def cost(A: FloatArray) -> float:
        return float(distances(similar, A).sum() / np.linalg.norm(distances(dissimilar, A)))

    least = cost(plain_budget(similar, dissimilar.T @ dissimilar, diagonal))
    left = get(method).MISREADINGS["plain_budget"].left
    assert left is not None
    for A in (np.eye(3), np.diag([1.0, 4.0, 9.0])):
        share = left(Question(X, y, A, 1e-6, {}))
        assert share == pytest.approx(1 - least / cost(A), rel=1e-6)
        assert share > 1e-3


@both
def test_bfgs_itself_makes_no_mistake(method: str) -> None:
    X, y = random_data(11, n=16, d=3)
    similar, dissimilar = differences(X, y)
    best = most(dissimilar, similar.T @ similar, np.sqrt, method == "mmc:diagonal")
    report = cvxml.check(method, X, y, best)
    assert report.verdict is Verdict.CERTIFIED
    assert report.diagnosis == ()


# Over the diagonal metrics, the optimum of these two is one feature alone: a vertex that other problems share.
SHARED = {("mmc:diagonal", "squared"), ("mmc:diagonal", "plain_budget")}


@pytest.mark.quick(1)
@both
@pytest.mark.parametrize("name", own_misreadings("mmc"))
def test_a_misreading_is_named(method: str, name: str) -> None:
    X, y = random_data(11, n=16, d=3)
    metric = misread(name, X, y, method == "mmc:diagonal")
    if (method, name) not in SHARED:
        assert_named(method, name, X, y, metric)
        return
    assert np.linalg.matrix_rank(metric, tol=1e-6) == 1
    report = cvxml.check(method, X, y, metric)
    assert report.verdict in (Verdict.REFUTED, Verdict.CLOSE)
    assert report.diagnosis == ()


def test_the_papers_newton_objective_has_half_the_solution() -> None:
    X, y = real_data("iris", 40)
    similar, dissimilar = differences(X, y)
    s, F = np.sum(similar**2, axis=0), dissimilar**2

    def g(v: FloatArray) -> tuple[float, FloatArray]:
        roots = np.sqrt(F @ v**2)
        return float(s @ v**2 - np.log(roots.sum())), 2 * v * (s - F.T @ (0.5 / roots) / roots.sum())

    found = minimize(g, np.full(4, 0.05), jac=True, method="BFGS", options={"gtol": 1e-10}).x ** 2
    assert s @ found == pytest.approx(0.5, rel=1e-6)
    assert cvxml.check("mmc:diagonal", X, y, np.diag(2 * found)).verdict is Verdict.CERTIFIED
    assert_named("mmc:diagonal", "half", X, y, np.diag(found))


@pytest.mark.slow
def test_a_vector_pinned_elsewhere_is_no_minimiser() -> None:
    """diag(0, 0, 1.2102, 1.2286), for all pairs of iris: whatever its multiple, its direction is not optimal."""
    X, y = real_data("iris", standardized=False)
    pinned = np.array([0.0, 0.0, 1.210220, 1.228596])
    spends = np.sum(differences(X, y)[0] ** 2, axis=0) @ pinned
    report = cvxml.check("mmc:diagonal", X, y, np.diag(pinned) / spends)
    assert report.verdict is Verdict.CLOSE
    assert report.rel_gap == pytest.approx(0.0086, rel=0.01)
