"""RCA: known optima, any factor and any price, singular covariances, what a metric is judged as, its mistakes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.balls import ends, precision
from cvxml.core.metric import FloatArray, components_of
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.core.squares import whole
from cvxml.methods import get, rca
from tests.instances import checked, exact_of, fractions, objective_of, random_data, real_data

X, Y = random_data(3, n=30, d=4, classes=3)
CHUNKLETS = np.array([i % 7 - 1 if i < 25 else 2 for i in range(30)])  # of four to nine points; some in none


def scatter(points: FloatArray) -> FloatArray:
    """sum (x - mean)(x - mean)^T"""
    E = points - points.mean(axis=0)
    found: FloatArray = E.T @ E
    return found


def within(X: FloatArray, of: Any) -> FloatArray:
    """C of chunklets, -1 for none, by numpy's covariances."""
    groups = [X[of == j] for j in set(np.asarray(of).tolist()) - {-1}]
    found: FloatArray = sum(scatter(points) for points in groups) / sum(map(len, groups))
    return found


def normed(M: FloatArray) -> FloatArray:
    """The multiple of determinant 1."""
    found: FloatArray = M / np.linalg.det(M) ** (1 / len(M))
    return found


# ---------------------------------------------------------------- the optimum


def test_by_hand() -> None:
    """C = diag(1/2, 2): a chunklet along each axis, one point in none."""
    points = [[1.0, 7.0], [-1.0, 7.0], [3.0, 2.0], [3.0, -2.0], [9.0, 9.0]]
    solution = cvxml.solve("rca", points, None, chunklets=[0, 0, 4, 4, -1])
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.metric, np.diag([2.0, 0.5]), atol=1e-12)
    assert solution.objective == pytest.approx(2.0, rel=1e-12)
    assert solution.dual["l"] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("of", [Y, CHUNKLETS], ids=["labels", "chunklets"])
def test_the_solution_is_the_inverse_covariance(of: Any) -> None:
    solution = cvxml.solve("rca", X, None, chunklets=of)
    C = within(X, of)
    np.testing.assert_allclose(solution.metric, normed(np.linalg.inv(C)), rtol=1e-10, atol=1e-12)
    assert solution.objective == pytest.approx(4 * np.linalg.det(C) ** 0.25, rel=1e-12)
    assert np.linalg.det(solution.metric) == pytest.approx(1.0, rel=1e-12)


def test_against_cvxpy_from_scratch() -> None:
    """The statement in another form: the sum of logarithms of a Cholesky factor's diagonal, by pairs of points."""
    B = cp.Variable((4, 4), PSD=True)
    terms = []
    for j in range(3):
        own = X[j == Y]
        terms += [(a - b) @ B @ (a - b) / (2 * len(own)) for a in own for b in own]
    optimum = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)) / len(X)), [cp.log_det(B) >= 0]).solve(
        cp.CLARABEL
    )
    solution = cvxml.solve("rca", X, Y)
    assert solution.objective == pytest.approx(optimum, rel=1e-6)


def test_built_from_its_optimum() -> None:
    """Two points a chunklet, along the columns of a root of the covariance wanted."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))
    centres = rng.standard_normal((5, 5)) * 50
    points = np.concatenate([centres + root, centres - root])
    solution = cvxml.solve("rca", points, None, chunklets=[*range(5), *range(5)])
    wanted = normed(np.linalg.inv(root.T @ root))
    np.testing.assert_allclose(solution.metric, wanted, atol=1e-9 * np.linalg.norm(wanted))


# ---------------------------------------------------------------- what a metric is judged as


def test_any_multiple_is_as_good() -> None:
    best = np.linalg.inv(within(X, Y))
    for factor in (1e-200, 1e-3, 1.0, 7.0, 1e200):
        assert cvxml.check("rca", X, Y, factor * best, tol="strict").verdict is Verdict.CERTIFIED
        assert objective_of("rca", X, Y, factor * best) == pytest.approx(
            cvxml.solve("rca", X, Y).objective, rel=1e-9
        )


def test_the_objective_is_that_of_the_multiple_of_determinant_1() -> None:
    M = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3
    proof = cvxml.certify("rca", X, Y, M, {"l": np.array([1.0])})
    assert proof.objective == pytest.approx(np.sum(within(X, Y) * normed(M)), rel=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_singular_metric_costs_infinity(rank: int) -> None:
    values, vectors = np.linalg.eigh(cvxml.solve("rca", X, Y).metric)
    singular = vectors[:, :rank] @ np.diag(values[:rank]) @ vectors[:, :rank].T
    singular = np.diag([1.0] * rank + [0.0] * (4 - rank)) if rank else singular
    assert objective_of("rca", X, Y, singular) == np.inf
    report = cvxml.check("rca", X, Y, singular)
    assert report.verdict is Verdict.REFUTED
    given = get("rca").instance(X, Y)
    with pytest.raises(ValueError, match="singular"):
        get("rca").exact(given, singular, {"l": np.array([1.0])})


def test_no_matrix_that_is_not_psd_is_certified() -> None:
    best = cvxml.solve("rca", X, Y).metric
    for wrong in (
        -best,
        best - 2 * np.outer(best[0], best[0]) / best[0, 0],
        best + np.triu(np.ones((4, 4)), 1),
    ):
        assert cvxml.check("rca", X, Y, wrong, diagnosed=False).verdict is Verdict.REFUTED


def test_the_optimal_multiple_lies_within_the_radius() -> None:
    best, rng = cvxml.solve("rca", X, Y), np.random.default_rng(1)
    for size in (1e-6, 1e-3, 1e-1, 0.3):
        turn = np.eye(4) + size * rng.standard_normal((4, 4))
        near = 3.0 * turn @ best.metric @ turn.T
        proof = cvxml.certify("rca", X, Y, near, best.dual)
        far = np.linalg.norm(near - best.metric * np.linalg.det(near) ** 0.25)
        assert far <= proof.radius <= 60 * far + 1e-12


# ---------------------------------------------------------------- the bound


@pytest.mark.parametrize("price", [1e-300, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e300, 0.0, -1.0, np.inf])
def test_any_price_bounds_any_metric(price: float) -> None:
    optimum = 4 * np.linalg.det(within(X, Y)) ** 0.25
    proof = cvxml.certify("rca", X, Y, np.eye(4), {"l": np.array([price])})
    assert 0 <= proof.lower_bound <= optimum * (1 + 1e-12)
    if 0.1 <= price <= 1:
        C = within(X, Y)
        printed = 4 * price - 4 * price * np.log(price) + price * np.linalg.slogdet(C)[1]
        assert proof.lower_bound == pytest.approx(max(0.0, printed), rel=1e-9)


def test_the_exact_interval_is_tight_and_holds_the_optimum() -> None:
    """In two dimensions the optimum is a root of a rational number: 2 sqrt(det C)."""
    points, of = real_data("iris", 20)
    points = points[:, :2]
    solution = cvxml.solve("rca", points, of)
    interval = exact_of("rca", points, of, solution.metric, solution.dual)
    F = fractions(points)
    C = np.zeros((2, 2), dtype=object)
    for j in set(of.tolist()):
        own = F[of == j]
        E = own - own.sum(axis=0) / len(own)
        C = C + E.T.dot(E) / len(F)
    squared = 4 * (C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0])
    assert interval.lower_bound**2 <= squared <= interval.objective**2
    assert 0 <= interval.gap <= Fraction(1, 10**20) * interval.scale


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_covariance_is_exact(alpha: float) -> None:
    _, given = checked("rca", X, Y, chunklets=CHUNKLETS, alpha=alpha)
    F, total = fractions(X), np.zeros((4, 4), dtype=object)
    inside = CHUNKLETS >= 0
    for j in range(6):
        own = F[j == CHUNKLETS]
        E = own - own.sum(axis=0) / len(own)
        total = total + E.T.dot(E)
    C = total / int(inside.sum()) + np.diag([Fraction(alpha)] * 4)
    for a in range(4):
        for b in range(4):
            assert Fraction(int(given.C[a, b].p), int(given.C[a, b].q)) == C[a, b]


def test_balls_hold_what_floats_show() -> None:
    _, given = checked("rca", X, Y)
    M = np.diag([1.0, 2.0, 3.0, 4.0])
    with precision():
        low, high = ends(rca.value(given, whole(M)[0]))
        assert low <= high
        assert float(low) == pytest.approx(rca.objective(given, M), rel=1e-12)


# ---------------------------------------------------------------- what changes nothing, and what changes everything


def test_a_linear_map_of_the_features_maps_the_metric() -> None:
    T = np.random.default_rng(0).standard_normal((4, 4))
    plain, mapped = cvxml.solve("rca", X, Y), cvxml.solve("rca", X @ T + 7.0, Y)
    back = normed(T @ mapped.metric @ T.T)
    np.testing.assert_allclose(back, plain.metric, atol=1e-9 * np.linalg.norm(plain.metric))
    assert mapped.objective == pytest.approx(plain.objective * abs(np.linalg.det(T)) ** 0.5, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1024.0, 1e100])
def test_units_do_not_matter_where_alpha_follows(unit: float) -> None:
    plain, other = cvxml.solve("rca", X, Y, alpha=0.5), cvxml.solve("rca", unit * X, Y, alpha=0.5 * unit**2)
    np.testing.assert_allclose(other.metric, plain.metric, rtol=1e-9, atol=1e-12)
    assert other.objective / unit**2 == pytest.approx(plain.objective, rel=1e-9)


def test_where_a_chunklet_lies_does_not_matter() -> None:
    moved = X + 1024.0 * Y[:, None]
    assert cvxml.solve("rca", moved, Y).objective == pytest.approx(
        cvxml.solve("rca", X, Y).objective, rel=1e-9
    )


def test_the_names_of_chunklets_and_points_in_none_do_not_matter() -> None:
    renamed = np.where(CHUNKLETS >= 0, 10 - CHUNKLETS, -1)
    moved = np.where((CHUNKLETS < 0)[:, None], 1e6, X)
    plain = cvxml.solve("rca", X, None, chunklets=CHUNKLETS)
    np.testing.assert_allclose(
        cvxml.solve("rca", X, None, chunklets=renamed).metric, plain.metric, rtol=1e-12
    )
    np.testing.assert_allclose(
        cvxml.solve("rca", moved, None, chunklets=CHUNKLETS).metric, plain.metric, rtol=1e-9
    )


def test_a_point_alone_in_its_chunklet_counts_in_the_value_alone() -> None:
    alone = np.where(CHUNKLETS < 0, 6, CHUNKLETS)
    one = np.flatnonzero(alone == 6)
    alone[one[1:]] = -1
    more = cvxml.solve("rca", X, None, chunklets=alone)
    plain = cvxml.solve("rca", X, None, chunklets=CHUNKLETS)
    np.testing.assert_allclose(more.metric, plain.metric, rtol=1e-9, atol=1e-12)
    n = int((CHUNKLETS >= 0).sum())
    assert more.objective * (n + 1) == pytest.approx(plain.objective * n, rel=1e-9)


# ---------------------------------------------------------------- singular covariances


@pytest.mark.parametrize(
    "of",
    [[0, 0, 0, 1, 1, 1, -1, -1], [0, 0, 1, 1, 2, 2, 3, 4]],
    ids=["four differences", "three differences"],
)
def test_a_singular_covariance_is_refused(of: list[int]) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((8, 5))
    rank = 8 - of.count(-1) - len(set(of) - {-1})
    with pytest.raises(ValueError, match=f"in {rank} of 5 directions.*no metric attains"):
        cvxml.solve("rca", points, None, chunklets=of)
    assert cvxml.solve("rca", points, None, chunklets=of, alpha=1e-3).status is Status.CONVERGED


def test_the_infimum_of_a_singular_covariance_is_not_attained() -> None:
    """The proof of what is refused: along v, which no chunklet sees, B grows; elsewhere it shrinks, and costs less."""
    points, of = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 3.0], [7.0, 3.0]]), np.array([0, 0, 1, 1])
    C = within(points, of)
    values = [np.sum(C * np.diag([1 / s, s])) for s in (1.0, 10.0, 1e3, 1e6)]
    assert (np.diff(values) < 0).all()
    assert values[-1] < 1e-5
    with pytest.raises(ValueError, match="infimum is 0"):
        cvxml.problem("rca", points, of)


def test_where_nothing_differs_every_metric_is_optimal() -> None:
    with pytest.raises(ValueError, match="every metric is optimal"):
        cvxml.solve("rca", X, None, chunklets=np.arange(30))


def test_what_is_singular_is_decided_in_rationals() -> None:
    """The third feature is the sum of the others but for 2^-40 of one point: numpy sees no difference."""
    rng = np.random.default_rng(0)
    points = rng.integers(-8, 8, (12, 3)).astype(float)
    points[:, 2] = points[:, 0] + points[:, 1]
    with pytest.raises(ValueError, match="in 2 of 3 directions"):
        cvxml.solve("rca", points, None, chunklets=[0] * 6 + [1] * 6)
    points[3, 2] += 2.0**-40
    assert np.linalg.matrix_rank(within(points, np.arange(12) // 6)) == 2
    given = get("rca").instance(points, None, chunklets=[0] * 6 + [1] * 6)
    assert given.C.rank() == 3


def test_what_is_no_float_is_refused() -> None:
    for unit in (1e-145, 1e145):
        with pytest.raises(ValueError, match="rescale X"):
            cvxml.solve("rca", unit * X, Y)


@pytest.mark.parametrize(
    ("chunklets", "says"),
    [
        ([0] * 29, "30 integers"),
        ([0.0] * 30, "30 integers"),
        ([[0]] * 30, "30 integers"),
        ([-2] + [0] * 29, r"chunklets\[0\] is -2"),
        ([-1] * 30, "-1 for every point"),
        ("classes", "30 integers"),
    ],
)
def test_what_are_no_chunklets(chunklets: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cvxml.solve("rca", X, None, chunklets=chunklets)


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "1", True])
def test_what_is_no_alpha(alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha"):
        cvxml.solve("rca", X, Y, alpha=alpha)


# ---------------------------------------------------------------- misreadings, made here without the package


def recycled(points: FloatArray) -> FloatArray:
    """R: t(x) - colMeans(x) is right, x - colMeans(x) goes down the columns."""
    n, d = points.shape
    mean = points.mean(axis=0)
    return np.array([[points[i, k] - mean[(k * n + i) % d] for k in range(d)] for i in range(n)])


def moments(E: list[FloatArray]) -> FloatArray:
    """The mean of e e^T."""
    rows = np.concatenate(E)
    found: FloatArray = rows.T @ rows / len(rows)
    return found


GROUPS = [X[j == CHUNKLETS] for j in range(6)]
INSIDE = CHUNKLETS >= 0
MISTAKES: dict[str, FloatArray] = {
    "total": scatter(X),
    "inside": scatter(X[INSIDE]),
    "stray": scatter(X[~INSIDE]) + sum(map(scatter, GROUPS)),
    "mean": sum(scatter(g) / len(g) for g in GROUPS),
    "unbiased": sum(np.cov(g.T) for g in GROUPS),
    "pairs": sum(np.einsum("ija,ijb->ab", g[:, None] - g, g[:, None] - g) for g in GROUPS),
    "uncentred": moments(GROUPS),
    "recycled": moments([recycled(g) for g in GROUPS]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    wrong = np.linalg.inv(MISTAKES[name])
    report = cvxml.check("rca", X, None, wrong, chunklets=CHUNKLETS)
    assert report.verdict is Verdict.REFUTED
    assert rca.MISREADINGS[name].sentence in report.diagnosis[0]
    assert len(report.diagnosis) == 1


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (lambda C: C, "M^-1 was given for M"),
        (lambda C: components_of(np.linalg.inv(C)), "a transform given as the metric"),
        (lambda C: np.linalg.inv(C) @ np.linalg.inv(C), "M^T M was given for M"),
    ],
    ids=["covariance", "root", "square"],
)
def test_another_form_of_the_solution_is_named(
    written: Callable[[FloatArray], FloatArray], says: str
) -> None:
    C = within(X, CHUNKLETS)
    report = cvxml.check("rca", X, None, written(C), chunklets=CHUNKLETS)
    assert report.verdict is Verdict.REFUTED
    assert any(says in sentence for sentence in report.diagnosis)


def by_metric_learn(points: FloatArray, chunklets: Any, n_components: int) -> FloatArray:
    """L of metric-learn's steps, written anew: centred chunklets, Fisher's projection where fewer are asked for."""
    E = np.concatenate(
        [g - g.mean(axis=0) for g in (points[chunklets == j] for j in range(chunklets.max() + 1))]
    )
    inner = E.T @ E / len(E)
    A = np.eye(points.shape[1])
    if n_components < points.shape[1]:
        total = np.cov(points[chunklets != -1].T)
        values, vectors = np.linalg.eig(np.linalg.solve(total, inner))
        A = vectors[:, np.argsort(values)[:n_components]]
    w, V = np.linalg.eigh(A.T @ inner @ A)
    L: FloatArray = (V / np.sqrt(w)) @ V.T @ A.T
    return L


def test_what_metric_learn_computes_is_optimal() -> None:
    L = by_metric_learn(X, CHUNKLETS, 4)
    assert (
        cvxml.check("rca", X, None, components=L, chunklets=CHUNKLETS, tol="strict").verdict
        is Verdict.CERTIFIED
    )


def test_what_metric_learn_computes_in_fewer_components_is_named() -> None:
    L = by_metric_learn(X, CHUNKLETS, 2)
    report = cvxml.check("rca", X, None, components=L, chunklets=CHUNKLETS)
    assert report.verdict is Verdict.REFUTED
    assert any(rca.MISREADINGS["rank"].sentence in sentence for sentence in report.diagnosis)


def test_every_misreading_has_a_mistake_here() -> None:
    assert {*MISTAKES, "rank"} == set(rca.MISREADINGS)
