"""MMC: optima known by construction, the bound by other means, invariances, refusals, the solver."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.linalg import eigh

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.family.geometry.budget import examine_budget
from cvxml.methods.mmc.budget_path import Free
from tests.family.derivatives import assert_derivatives
from tests.instances import fractions, objective_of, random_data, real_data
from tests.methods.mmc.problems import both, differences, distances, spent


class Known(NamedTuple):
    """An instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    pairs: dict[str, list[list[int]]]
    A: FloatArray
    objective: float


def from_kkt(seed: int, d: int = 3, bases: int = 5, rank: int = 3, diagonal: bool = False) -> Known:
    """Each dissimilar pair has two points of its own, so its difference can be chosen freely.

    With S = I, M of trace 1 and sum_t c_t z_t z_t^T = F I, c_t = 1 / sqrt(z_t^T M z_t), M is optimal: the bound from c
    is tight. For orthonormal bases u and z = w sqrt(u^T M u) u, with a weight w for each basis, c z z^T = w u u^T. A
    map of the features makes S anything. Diagonal: z may have any signs, of which the problem sees squares alone.
    """
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, rank))
    M = np.diag(rng.uniform(0.2, 1, d)) if diagonal else root @ root.T
    M /= np.trace(M)
    Z = []
    for _ in range(bases):
        weight = rng.uniform(0.5, 2)
        for u in np.linalg.qr(rng.standard_normal((d, d)))[0].T:
            Z.append(weight * np.sqrt(u @ M @ u) * u)
    if diagonal:  # squares of an orthogonal matrix: rows and columns add up to 1, which is all that is needed
        Z = [z * rng.choice([-1, 1], d) for z in Z]
    T = np.diag(10 ** rng.uniform(-1, 1, d)) if diagonal else rng.standard_normal((d, d))
    X, pairs = [], {"similar": [], "dissimilar": []}
    for kind, rows in (("similar", np.eye(d)), ("dissimilar", Z)):
        for z in rows:
            x = rng.standard_normal(d)
            pairs[kind].append([len(X), len(X) + 1])
            X += [x, x + T @ z]
    inverse = np.linalg.inv(T)
    value = float(sum(np.sqrt(z @ M @ z) for z in Z))
    return Known(np.array(X), pairs, inverse.T @ M @ inverse, -value)


# optima that are known


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_built_from_kkt_is_found(seed: int) -> None:
    diagonal = seed % 2 == 1
    known = from_kkt(seed, rank=2 if seed % 4 == 0 else 3, diagonal=diagonal)
    method = "mmc:diagonal" if diagonal else "mmc"
    solution = cvxml.solve(method, known.X, None, pairs=known.pairs, tol=1e-10)
    assert solution.objective == pytest.approx(known.objective, rel=1e-10)
    away = np.linalg.norm(solution.metric - known.A)
    assert away <= solution.certificate.radius
    assert away <= 1e-3 * np.linalg.norm(known.A)
    report = cvxml.check(method, known.X, None, known.A, pairs=known.pairs, tol="strict")
    assert report.verdict is Verdict.CERTIFIED


# the proof


@both
def test_the_bound_is_that_of_the_formula(method: str) -> None:
    X, y = random_data(5, n=14, d=4)
    similar, dissimilar = differences(X, y)
    c = np.random.default_rng(0).uniform(0.1, 3, len(dissimilar))
    C, S = (dissimilar * c[:, None]).T @ dissimilar, similar.T @ similar
    mu = float(eigh(C, S, eigvals_only=True)[-1]) if method == "mmc" else np.max(np.diag(C) / np.diag(S))
    multiples = np.exp(np.linspace(-4, 4, 80001))
    least = np.min((np.sum(1 / c) / multiples + multiples * mu) / 2)
    proof = cvxml.certify(method, X, y, np.zeros((4, 4)), {"c": c})
    assert -proof.lower_bound == pytest.approx(least, rel=1e-8)
    stored = proof.dual["c"]  # its best multiple: the two halves of the bound are equal
    assert np.sum(1 / stored) == pytest.approx(-proof.lower_bound, rel=1e-12)
    for other in (7 * c, np.where(c == c.min(), -1.0, c)):
        again = cvxml.certify(method, X, y, np.zeros((4, 4)), {"c": other})
        assert again.lower_bound <= proof.lower_bound * (1 - 1e-14)


@both
@pytest.mark.parametrize("away", [1e-3, 0.1])
def test_the_radius_is_no_more_than_it_must_be(method: str, away: float) -> None:
    """S = I, differences of length 1 along the axes (full: the diagonals too): I / 2 is optimal, D = 1/2.

    The curvature there is 2^3/2 of that at D = 1, which the radius has to count with.
    """
    root = np.sqrt(0.5)
    X = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [root, root], [root, -root]])
    farther = [[0, 5], [0, 6]] if method == "mmc" else []
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4], *farther]}
    A = np.diag([0.5 + away, 0.5 - away])
    best = np.full(len(pairs["dissimilar"]), np.sqrt(2))
    proof = cvxml.certify(method, X, None, A, {"c": best}, pairs=pairs)
    assert proof.lower_bound == pytest.approx(-np.sqrt(0.5) * len(best), rel=1e-12)
    distance = np.sqrt(2) * away
    assert distance <= proof.radius <= 2 * distance


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-6])
@both
def test_rounding_covers_what_cancels_in_nearly_collinear_features(method: str, eps: float) -> None:
    """Bound and objective against exact fractions, for the numbers as they are."""
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    missed = 0.0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = (rng.standard_normal((8, 2)) * [1, eps]) @ turn, np.arange(8) % 2
        similar, dissimilar = differences(X, y)
        A = np.linalg.inv(similar.T @ similar) / 4  # spends half of the budget
        A = np.diag(np.diag(A)) * eps**2 if method == "mmc:diagonal" else (A + A.T) / 2
        proof = cvxml.certify(method, X, y, A, {"c": rng.uniform(0.5, 2, len(dissimilar))})
        near, far = differences(fractions(X), y)
        c, metric = fractions(proof.dual["c"]), fractions(A)
        objective = -sum(math.sqrt(e @ metric @ e) for e in far)
        assert proof.feasibility.feasible
        assert abs(objective - proof.objective) <= max(proof.rounding, proof.value_rounding)
        missed = max(missed, abs(objective - proof.objective) / -objective)
        mu = Fraction(-proof.lower_bound) ** 2 / sum(1 / c)
        (a, b), (_, e) = mu * (near.T @ near) - far.T @ (c[:, None] * far)
        assert a >= 0
        assert e >= 0
        assert method == "mmc:diagonal" or a * e >= b * b
    assert method == "mmc:diagonal" or missed > 1e-18 / eps  # there is something to cover


@both
def test_the_intermediates_are_those_of_the_pairs(method: str) -> None:
    X, y = random_data(2, n=10, d=3)
    L = np.random.default_rng(0).standard_normal((3, 3))
    A = L @ L.T
    at = cvxml.evaluate(method, X, y, A)
    similar, dissimilar = differences(X, y)
    assert at.spent == pytest.approx(spent(similar, A))
    assert at.scaled_objective == pytest.approx(objective_of(method, X, y, A / at.spent))
    np.testing.assert_allclose(at.distances, distances(dissimilar, A))
    np.testing.assert_allclose(at.S, similar.T @ similar, atol=1e-12)


# invariances


@both
def test_twins_count_four_times(method: str) -> None:
    """Every point twice: each pair four times, and a pair of equal points, which spends nothing."""
    X, y = random_data(6, n=12, d=2)
    plain = cvxml.solve(method, X, y, tol=1e-10)
    twins = cvxml.solve(method, np.repeat(X, 2, axis=0), np.repeat(y, 2), tol=1e-10)
    assert twins.objective == pytest.approx(2 * plain.objective, rel=1e-9)
    np.testing.assert_allclose(4 * twins.metric, plain.metric, atol=1e-4 * np.linalg.norm(plain.metric))


# what is degenerate, and what is refused


@pytest.mark.parametrize("kind", ["constant", "zero", "repeated", "collinear"])
@both
def test_features_that_say_nothing_new_change_nothing(method: str, kind: str) -> None:
    X, y = random_data(8, n=14, d=2)
    X = np.round(X * 2**20) / 2**20  # the sum is one exactly
    more = {
        "constant": np.full((14, 1), 1e6),
        "zero": np.zeros((14, 1)),
        "repeated": X[:, :1],
        "collinear": X @ [[1.0], [-0.5]],
    }[kind]
    plain = cvxml.solve(method, X, y, tol=1e-10)
    solution = cvxml.solve(method, np.hstack([X, more]), y, tol=1e-9)
    assert solution.status is Status.CONVERGED
    if (method, kind) != ("mmc:diagonal", "collinear"):
        assert solution.objective == pytest.approx(plain.objective, rel=1e-9)
    assert (
        cvxml.check(method, np.hstack([X, more]), y, solution.metric, tol="strict").verdict
        is Verdict.CERTIFIED
    )


def test_more_features_than_points() -> None:
    """Twelve points in twenty dimensions, but in a plane: exactly, for rounding leads out of it, at no cost."""
    X, y = random_data(9, n=12, d=2)
    X = np.round(X * 2**20) / 2**20
    wide = X @ np.random.default_rng(0).integers(-9, 10, size=(2, 20))
    plain, solution = cvxml.solve("mmc", X, y, tol=1e-10), cvxml.solve("mmc", wide, y, tol=1e-9)
    assert solution.objective == pytest.approx(plain.objective, rel=1e-9)
    assert np.linalg.matrix_rank(solution.metric, tol=1e-9 * np.linalg.norm(solution.metric)) <= 2
    rng = np.random.default_rng(1)
    rounded = X @ rng.standard_normal((2, 20))
    for unlimited, classes in ((rng.standard_normal((8, 20)), np.arange(8) % 2), (rounded, y)):
        with pytest.raises(ValueError, match="infinite"):
            cvxml.solve("mmc", unlimited, classes)


@both
def test_a_difference_that_costs_nothing_is_refused_by_name(method: str) -> None:
    X = np.array([[0, 0], [1, 0], [0, 0], [5, 1]], dtype=float)
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3]]}
    with pytest.raises(ValueError, match=r"pair \[2, 3\]"):
        cvxml.solve(method, X, None, pairs=pairs)
    X[3, 1] = 0
    assert cvxml.solve(method, X, None, pairs=pairs).objective == pytest.approx(-6)


@both
@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([[0.0], [1.0]], [0, 1], "similar pair"),
        ([[0.0], [0.0], [1.0]], [0, 0, 1], "equal"),
        ([[0.0], [1.0], [0.5]], None, "None"),
        ([[0.0], [1.0], [0.5]], [1, 1, 1], "one class"),
        (np.zeros((4, 2)), [0, 0, 1, 1], "equal"),
        ([[1e-200], [3e-200], [2e-200]], [0, 0, 1], "double precision"),
    ],
)
def test_what_has_no_maximum_is_refused(method: str, X: Any, y: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cvxml.solve(method, X, y)


@both
def test_pairs_of_equal_points_are_told_of(method: str) -> None:
    pairs = {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 2], [0, 3]]}
    (note,) = cvxml.solve(method, [[0.0], [1.0], [0.0], [3.0]], None, pairs=pairs).notes
    assert note.startswith("1 dissimilar")


# what is not a metric within the budget


@pytest.mark.slow
@both
def test_beyond_the_budget_is_refuted_with_the_sum(method: str) -> None:
    X, y = random_data(1, n=16, d=3)
    best = cvxml.solve(method, X, y, tol=1e-9)
    report = cvxml.check(method, X, y, 3.2 * best.metric)
    assert report.verdict is Verdict.REFUTED
    assert " 3.2," in str(report.feasibility)
    assert report.objective == pytest.approx(best.objective, rel=1e-9)
    assert cvxml.check(method, X, y, (1 + 5e-7) * best.metric).verdict is Verdict.CERTIFIED
    for share in (0.9, 0.5, 0.0):
        report = cvxml.check(method, X, y, share * best.metric)
        assert report.verdict is Verdict.REFUTED
        assert report.witness is not None
        assert report.witness.better_by == pytest.approx((1 - np.sqrt(share)) * -best.objective, rel=1e-6)


def test_a_diagonal_metric_has_nothing_beside_its_diagonal() -> None:
    X, y = random_data(1, n=16, d=3)
    best = cvxml.solve("mmc:diagonal", X, y, tol=1e-9).metric
    metric = best.copy()
    metric[0, 1] = metric[1, 0] = 1e-3 * best[0, 0]
    report = cvxml.check("mmc:diagonal", X, y, metric)
    assert report.verdict is Verdict.REFUTED
    assert "diagonal" in report.reasons[0]
    metric[0, 1] = metric[1, 0] = 1e-8 * best[0, 0]
    assert cvxml.check("mmc:diagonal", X, y, metric).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("size", [1e200, 1.7e308])
@both
def test_an_absurd_metric_proves_nothing(method: str, size: float) -> None:
    X, y = random_data(1, n=16, d=3)
    proof = cvxml.certify(method, X, y, np.diag([1.0, 1.0, size]), {"c": np.ones(len(differences(X, y)[1]))})
    assert not proof.feasibility.feasible
    assert not proof.proves(1e-3)


def test_the_budget_of_a_matrix() -> None:
    E = np.array([[3.0, 0.0], [0.0, 1e-6]])
    A = np.array([[1.0, 0.5], [0.5, 2.0]])
    scaled, found = examine_budget(A, E)
    assert found.spent == pytest.approx(9)
    assert " 9," in str(found)
    assert "least eigenvalue" not in str(found)  # A is psd
    np.testing.assert_allclose(scaled.matrix, A / found.spent, rtol=1e-12)
    assert found.away == pytest.approx(np.linalg.norm(A - scaled.matrix))
    unchanged, within = examine_budget(A / 10, E)
    assert within.feasible
    assert np.array_equal(unchanged.matrix, A / 10)
    clipped, negative = examine_budget(np.diag([0.01, -1.0]), E)
    assert not negative.feasible
    assert "least eigenvalue" in str(negative)
    both = str(examine_budget(np.diag([1.0, -1.0]), E)[1])
    assert "least eigenvalue" in both
    assert " 9," in both
    np.testing.assert_allclose(clipped.matrix, np.diag([0.01, 0.0]), atol=1e-15)


# solver and estimator


def test_the_derivatives_of_the_solver_are_those_of_its_function() -> None:
    rng = np.random.default_rng(0)
    f, G = Free(rng.standard_normal((9, 3))), rng.standard_normal((3, 3))
    assert_derivatives(f, G, rng, first=1e-6, second=1e-4)


@both
def test_newton_needs_few_steps(method: str) -> None:
    solution = cvxml.solve(method, *real_data("wine"), tol=1e-9)
    assert solution.n_iter <= 18
    assert solution.rel_gap <= 1e-9


def test_a_tolerance_below_rounding_is_not_reached_and_said() -> None:
    X, y = random_data(0, n=12, d=3)
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("mmc", X + 1e9, y, tol=1e-15)
    assert solution.status is Status.STALLED


@pytest.mark.parametrize("method", ["mmc", "mmc:diagonal", "dml_eig"])
@pytest.mark.parametrize("small", [1e-14, 1e-19, 1e-40])
def test_a_feature_that_costs_nothing_is_seen_however_small(method: str, small: float) -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.3, small], [1.7, small]])
    with pytest.raises(ValueError, match="no cost"):
        cvxml.solve(method, X, [0, 0, 1, 1])
