"""RCA: the closed form, multiples of a metric, the bound of a price, singular covariances, misreadings."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray, components_of
from cvxml.core.misreading import Question
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import rca
from cvxml.numbers.span import rank_along
from tests.instances import assert_named, checked, fractions, objective_of, random_data

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


@pytest.mark.parametrize("of", [Y, CHUNKLETS], ids=["labels", "chunklets"])
def test_the_solution_is_the_inverse_covariance(of: Any) -> None:
    solution = cvxml.solve("rca", X, None, chunklets=of)
    C = within(X, of)
    np.testing.assert_allclose(solution.metric, normed(np.linalg.inv(C)), rtol=1e-10, atol=1e-12)
    assert solution.objective == pytest.approx(4 * np.linalg.det(C) ** 0.25, rel=1e-12)
    assert np.linalg.det(solution.metric) == pytest.approx(1.0, rel=1e-12)


# ---------------------------------------------------------------- what a metric is judged as


def test_any_multiple_is_as_good() -> None:
    """A metric is judged as its multiple of determinant 1."""
    best, optimum = np.linalg.inv(within(X, Y)), cvxml.solve("rca", X, Y).objective
    for factor in (1e-200, 1e-3, 7.0, 1e200):
        assert cvxml.check("rca", X, Y, factor * best, tol="strict").verdict is Verdict.CERTIFIED
        assert objective_of("rca", X, Y, factor * best) == pytest.approx(optimum, rel=1e-9)
    M = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3
    proof = cvxml.certify("rca", X, Y, M, {"l": np.array([1.0])})
    assert proof.objective == pytest.approx(np.sum(within(X, Y) * normed(M)), rel=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_singular_metric_costs_infinity(rank: int) -> None:
    singular = np.diag([1.0] * rank + [0.0] * (4 - rank))
    assert objective_of("rca", X, Y, singular) == np.inf
    assert cvxml.check("rca", X, Y, singular).verdict is Verdict.REFUTED
    of, given = checked("rca", X, Y)
    with pytest.raises(ValueError, match="singular"):
        of.exact(given, singular, {"l": np.array([1.0])})


def test_the_optimal_multiple_lies_within_the_radius() -> None:
    best, rng = cvxml.solve("rca", X, Y), np.random.default_rng(1)
    for size in (1e-6, 1e-3, 1e-1, 0.3):
        turn = np.eye(4) + size * rng.standard_normal((4, 4))
        near = 3.0 * turn @ best.metric @ turn.T
        proof = cvxml.certify("rca", X, Y, near, best.dual)
        far = np.linalg.norm(near - best.metric * np.linalg.det(near) ** 0.25)
        assert far <= proof.radius <= 60 * far + 1e-12


# ---------------------------------------------------------------- the bound


@pytest.mark.parametrize("price", [1e-300, 0.1, 1.0, 10.0, 1e300, 0.0, -1.0, np.inf])
def test_the_bound_of_any_price_is_0_or_that_of_the_formula(price: float) -> None:
    optimum = 4 * np.linalg.det(within(X, Y)) ** 0.25
    proof = cvxml.certify("rca", X, Y, np.eye(4), {"l": np.array([price])})
    assert 0 <= proof.lower_bound <= optimum * (1 + 1e-12)
    if price in (0.1, 1.0):
        printed = 4 * price - 4 * price * np.log(price) + price * np.linalg.slogdet(within(X, Y))[1]
        assert proof.lower_bound == pytest.approx(max(0.0, printed), rel=1e-9)


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


# ---------------------------------------------------------------- what changes nothing, and what changes everything


@pytest.mark.parametrize("unit", [1e-100, 1024.0, 1e100])
def test_units_do_not_matter_where_alpha_follows(unit: float) -> None:
    plain, other = cvxml.solve("rca", X, Y, alpha=0.5), cvxml.solve("rca", unit * X, Y, alpha=0.5 * unit**2)
    np.testing.assert_allclose(other.metric, plain.metric, rtol=1e-9, atol=1e-12)
    assert other.objective / unit**2 == pytest.approx(plain.objective, rel=1e-9)


def test_names_and_places_of_chunklets_and_points_in_none_do_not_matter() -> None:
    renamed = np.where(CHUNKLETS >= 0, 10 - CHUNKLETS, -1)
    moved = np.where((CHUNKLETS < 0)[:, None], 1e6, X + 1024.0 * CHUNKLETS[:, None])
    plain = cvxml.solve("rca", X, None, chunklets=CHUNKLETS).metric
    np.testing.assert_allclose(cvxml.solve("rca", X, None, chunklets=renamed).metric, plain, rtol=1e-12)
    np.testing.assert_allclose(cvxml.solve("rca", moved, None, chunklets=CHUNKLETS).metric, plain, rtol=1e-9)


def test_a_linear_map_of_the_features_maps_the_metric() -> None:
    T = np.random.default_rng(0).standard_normal((4, 4))
    plain, mapped = cvxml.solve("rca", X, Y), cvxml.solve("rca", X @ T + 7.0, Y)
    back = normed(T @ mapped.metric @ T.T)
    np.testing.assert_allclose(back, plain.metric, atol=1e-9 * np.linalg.norm(plain.metric))
    assert mapped.objective == pytest.approx(plain.objective * abs(np.linalg.det(T)) ** 0.5, rel=1e-9)


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
    ("of", "rank"), [([0, 0, 0, 1, 1, 1, -1, -1], 4), ([0, 0, 1, 1, 2, 2, 3, 4], 3), (list(range(8)), 0)]
)
def test_a_singular_covariance_is_refused(of: list[int], rank: int) -> None:
    points = np.random.default_rng(0).standard_normal((8, 5))
    says = f"{rank} of 5 .* no metric attains" if rank else "every metric is optimal"
    with pytest.raises(ValueError, match=says):
        cvxml.solve("rca", points, None, chunklets=of)
    assert cvxml.solve("rca", points, None, chunklets=of, alpha=1e-3).status is Status.CONVERGED


def test_the_infimum_of_a_singular_covariance_is_not_attained() -> None:
    """The proof of what is refused: along v, which no chunklet sees, B grows; elsewhere it shrinks, and costs less."""
    points, of = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 3.0], [7.0, 3.0]]), np.array([0, 0, 1, 1])
    C = within(points, of)
    values = [np.sum(C * np.diag([1 / s, s])) for s in (1.0, 10.0, 1e3, 1e6)]
    assert (np.diff(values) < 0).all()
    assert values[-1] < 1e-5
    with pytest.raises(ValueError, match="infimum"):
        cvxml.problem("rca", points, of)


# ---------------------------------------------------------------- misreadings, made here without the package


def recycled(points: FloatArray) -> FloatArray:
    """R: t(x) - colMeans(x) is right, x - colMeans(x) goes down the columns."""
    n, d = points.shape
    mean = points.mean(axis=0)
    return np.array([[points[i, k] - mean[(k * n + i) % d] for k in range(d)] for i in range(n)])


def squares(groups: list[FloatArray]) -> FloatArray:
    """The sum of e e^T."""
    rows = np.concatenate(groups)
    found: FloatArray = rows.T @ rows
    return found


def fishers(C: FloatArray) -> FloatArray:
    """metric-learn with two components: the metric within Fisher's two directions."""
    total = np.cov(X[CHUNKLETS >= 0].T)
    values, vectors = np.linalg.eig(np.linalg.solve(total, C))
    A = vectors[:, np.argsort(values)[:2]]
    M: FloatArray = A @ np.linalg.inv(A.T @ C @ A) @ A.T
    return (M + M.T) / 2


def mistake(name: str) -> FloatArray:
    """The metric of a program that makes the mistake."""
    groups = [X[j == CHUNKLETS] for j in range(6)]
    if name == "rank":
        return fishers(within(X, CHUNKLETS))
    covariance: dict[str, FloatArray] = {
        "total": scatter(X),
        "inside": scatter(X[CHUNKLETS >= 0]),
        "stray": scatter(X[CHUNKLETS < 0]) + sum(map(scatter, groups)),
        "mean": sum(scatter(g) / len(g) for g in groups),
        "unbiased": sum(np.cov(g.T) for g in groups),
        "pairs": sum(len(g) * scatter(g) for g in groups),
        "uncentred": squares(groups),
        "recycled": squares([recycled(g) for g in groups]),
        "no_alpha": within(X, CHUNKLETS),
        "another_alpha": within(X, CHUNKLETS) + 0.02 * np.eye(4),
    }
    return np.linalg.inv(covariance[name])


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", rca.MISREADINGS)
def test_a_mistake_is_named(name: str) -> None:
    alpha = 0.3 if name == "no_alpha" else 0.0
    report = assert_named("rca", name, X, None, mistake(name), chunklets=CHUNKLETS, alpha=alpha)
    assert name == "rank" or len(report.diagnosis) == 1


@pytest.mark.parametrize("asked", [0.0, 0.1])
@pytest.mark.parametrize("used", [0.02, 0.5])
def test_the_alpha_of_a_ridge_is_found(asked: float, used: float) -> None:
    """A factor of the metric does not matter."""
    wrong = 3 * np.linalg.inv(within(X, CHUNKLETS) + used * np.eye(4))
    report = assert_named("rca", "another_alpha", X, None, wrong, chunklets=CHUNKLETS, alpha=asked)
    (said,) = report.diagnosis
    assert f"alpha = {used:g} (asked: {asked:g})" in said


def test_alpha_is_not_sought_beyond_ten_times_the_covariance_nor_at_the_given_one() -> None:
    """A metric near the identity is near the solution for a very large alpha, whatever the points."""
    C, E = within(X, CHUNKLETS), np.random.default_rng(0).standard_normal((4, 4))
    params = {"chunklets": CHUNKLETS.tolist(), "alpha": 0.1}
    largest = float(np.linalg.eigvalsh(C)[-1])
    for wrong, found in ((0.1, None), (1.0, 1.0), (9 * largest, 9 * largest), (11 * largest, None)):
        M = np.linalg.inv(C + wrong * np.eye(4))
        assert rca._another_alpha(Question(X, None, M, 1e-6, params)) == (found and pytest.approx(found))
    assert rca._another_alpha(Question(X, None, np.eye(4) + 1e-4 * (E + E.T), 1e-6, params)) is None


def test_a_metric_that_no_ridge_explains_gets_no_alpha() -> None:
    """The identity is the limit for large alpha; another diagonal matrix is no multiple of the identity."""
    C = within(X, CHUNKLETS)
    groups = [X[j == CHUNKLETS] for j in range(6)]
    medians = squares([g - np.median(g, axis=0) for g in groups])
    for wrong in (np.eye(4), C + 0.1 * np.diag([1.0, 2.0, 3.0, 4.0]), C + 0.1 * np.diag(np.diag(C)), medians):
        for tol in (1e-6, 1e-3):
            report = cvxml.check("rca", X, None, np.linalg.inv(wrong), chunklets=CHUNKLETS, tol=tol)
            assert not any("alpha =" in line for line in report.diagnosis), str(report)
            assert not any("alpha" in str(line) for line in report.nearest), str(report)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (lambda C: C, "M^-1"),
        (lambda C: components_of(np.linalg.inv(C)), "transform"),
        (lambda C: np.linalg.inv(C) @ np.linalg.inv(C), "M^T M"),
    ],
)
def test_another_form_of_the_solution_is_named(
    written: Callable[[FloatArray], FloatArray], says: str
) -> None:
    report = cvxml.check("rca", X, None, written(within(X, CHUNKLETS)), chunklets=CHUNKLETS)
    assert report.verdict is Verdict.REFUTED
    assert any(says in sentence for sentence in report.diagnosis)


def test_the_transform_of_metric_learn_is_optimal() -> None:
    w, V = np.linalg.eigh(within(X, CHUNKLETS))
    L = (V / np.sqrt(w)) @ V.T
    report = cvxml.check("rca", X, None, components=L, chunklets=CHUNKLETS, tol="strict")
    assert report.verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("chunklets", [CHUNKLETS, Y, np.arange(30) % 15, np.where(np.arange(30) < 4, 0, -1)])
def test_the_rank_of_differences_is_that_of_their_covariance(chunklets: Any) -> None:
    for points in (
        X,
        np.column_stack([X, X[:, 0] + X[:, 1]]),
        np.column_stack([X, 0 * X[:, 0]]),
        X[:, :1] * [[1, 2]],
    ):
        given = rca.Instance(points, Y, np.asarray(chunklets), 0.0, None)
        assert rank_along(points, given.linked) == given.C.rank()


@pytest.mark.parametrize(("rank", "listed"), [(1, False), (2, True), (3, True), (4, False)])
def test_within_the_range_is_a_problem_of_its_own_for_ranks_from_2_to_d_less_1(
    rank: int, listed: bool
) -> None:
    """In one dimension every metric is optimal, and of full rank it is the problem itself."""
    params = {"chunklets": CHUNKLETS.tolist()}
    other = rca._of_rank(Question(X, None, np.diag([1.0] * rank + [0.0] * (4 - rank)), 1e-6, params))
    assert (other is not None) == listed
    assert other is None or other.X.shape == (len(X), rank)
