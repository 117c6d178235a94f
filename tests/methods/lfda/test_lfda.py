"""LFDA: against scipy, the bound of any s, radius, embeddings, ties, singular scatter, misreadings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import cvxml
from cvxml.core import spectrum
from cvxml.core.balls import precision
from cvxml.core.exact import flint
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods.lfda import definitions
from cvxml.methods.lfda.instance import instance
from cvxml.methods.lfda.misreadings import MISREADINGS
from tests.instances import assert_named, checked, exact_of, random_data, real_data

X, Y = random_data(3, n=24, d=4, classes=3)
GIVEN: dict[str, Any] = {"n_components": 2, "n_neighbors": 3}
EMBEDDINGS = ("plain", "weighted", "orthonormal")
# along the axes, each point with one neighbour: S_w = diag(8, 2)/e, S_b = diag(4 - 4/e, 5 - 1/e)
AXES, OF_AXES = np.array([[0.0, -1.0], [0.0, 1.0], [-2.0, 2.0], [2.0, 2.0]]), np.array([0, 0, 1, 1])


def affinities(D: FloatArray, k: int) -> FloatArray:
    """Of a class, by its squared distances; row k of the sorted ones has each point's k-th nearest."""
    s = np.sqrt(np.sort(D, axis=0)[k])
    by = np.outer(s, s)
    return np.where(by > 0, np.exp(-D / np.where(by > 0, by, 1.0)), 0.0)


def scatters(X: FloatArray, y: Any, k: int, of: Any = affinities) -> tuple[FloatArray, FloatArray]:
    """S_w and S_b by weight matrices and their Laplacians, written anew."""
    n = len(X)
    W_w, W_b = np.zeros((n, n)), np.full((n, n), 1 / n)
    for c in set(y.tolist()):
        own = np.flatnonzero(y == c)
        A = of(np.sum((X[own][:, None] - X[own]) ** 2, axis=2), k)
        W_w[np.ix_(own, own)] = A / len(own)
        W_b[np.ix_(own, own)] = A * (1 / n - 1 / len(own))
    S_w, S_b = (X.T @ (np.diag(W.sum(axis=0)) - W) @ X for W in (W_w, W_b))
    return (S_w + S_w.T) / 2, (S_b + S_b.T) / 2


def solution(S_w: FloatArray, S_b: FloatArray, r: int, embedding: str) -> tuple[float, FloatArray]:
    """The optimum and the metric, by scipy."""
    values, V = eigh(S_b, S_w)
    values, T = values[::-1][:r], V[:, ::-1][:, :r]
    if embedding == "weighted":
        T = T * np.sqrt(values)
    if embedding == "orthonormal":
        T = np.linalg.qr(T)[0]
    return -float(values.sum()), T @ T.T


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("r", [1, 3, 4])
def test_against_scipy(r: int, embedding: str) -> None:
    found = cvxml.solve("lfda", X, Y, n_components=r, n_neighbors=3, embedding=embedding)
    optimum, metric = solution(*scatters(X, Y, 3), r, embedding)
    assert found.objective == pytest.approx(optimum, rel=1e-9)
    np.testing.assert_allclose(found.metric, metric, atol=1e-8 * np.linalg.norm(metric))
    assert found.rel_gap <= 1e-9


# ---------------------------------------------------------------- the bound


@pytest.mark.parametrize("s", [-1.0, 1e-300, 0.3, 3.0, 30.0, 1e300, np.inf, -np.inf])
def test_the_bound_of_any_s_is_that_of_the_formula(s: float) -> None:
    """It is never below that of all components, the sum of all eigenvalues."""
    l = eigh(*scatters(X, Y, 3)[::-1])[0]
    proof = cvxml.certify("lfda", X, Y, np.eye(4), {"s": np.array([s])}, **GIVEN)
    printed = -(2 * s + np.maximum(l - s, 0).sum()) if np.isfinite(s) else -np.inf
    assert proof.lower_bound == pytest.approx(max(printed, -l.sum()), rel=1e-9)


def test_exactly_the_range_of_a_given_root_is_that_of_its_longest_columns() -> None:
    found = cvxml.solve("lfda", X, Y, **GIVEN)
    interval = exact_of("lfda", X, Y, found.metric, found.dual, **GIVEN)
    assert 0 <= interval.gap <= interval.scale / 10**20
    root = np.column_stack([1e-9 * np.eye(4), found.components.T])
    by_root = exact_of("lfda", X, Y, found.metric, found.dual, root=root, **GIVEN)
    assert float(by_root.objective) == pytest.approx(float(interval.objective), rel=1e-12)
    with pytest.raises(ValueError, match="1 columns"):
        exact_of("lfda", X, Y, found.metric, found.dual, root=root[:, :1], **GIVEN)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_the_optimum_lies_within_the_radius(embedding: str) -> None:
    """Of metrics at random, and of those that cost least: from eigenvector r to r + 1 by an angle.

    The gap is then the difference of their eigenvalues times the squared sine.
    """
    asked = {**GIVEN, "embedding": embedding}
    of, given = checked("lfda", X, Y, **asked)
    best, (values, V) = cvxml.solve("lfda", X, Y, **asked), eigh(*scatters(X, Y, 3)[::-1])
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-3, 1e-1, 0.3, 10.0):
        turn = np.eye(4) + size * rng.standard_normal((4, 4))
        near = given.embedded(turn @ best.metric @ turn.T)
        proof = of.certify(given, near, best.dual)
        far = np.linalg.norm(near - best.metric)
        assert far <= proof.radius + best.certificate.radius
        assert proof.radius <= 200 * far + 1e-9
    for angle in (1e-3, 0.1, 1.0, np.pi / 2):
        T = np.column_stack([V[:, 3], np.cos(angle) * V[:, 2] + np.sin(angle) * V[:, 1]])
        turned = given.embedded(T @ T.T)
        proof = of.certify(given, turned, best.dual)
        assert proof.gap == pytest.approx((values[2] - values[1]) * np.sin(angle) ** 2, rel=1e-6)
        assert np.linalg.norm(turned - best.metric) <= proof.radius


def test_the_optimum_lies_within_the_radius_where_nothing_is_right() -> None:
    """Of the two axes the wrong one: e/8 along it, where the optimum has e/2 along the other."""
    asked: dict[str, Any] = {"n_components": 1, "n_neighbors": 1, "embedding": "plain"}
    best = cvxml.solve("lfda", AXES, OF_AXES, **asked)
    proof = cvxml.certify("lfda", AXES, OF_AXES, np.diag([math.e / 8, 0.0]), best.dual, **asked)
    assert proof.gap == pytest.approx(2 * math.e, rel=1e-12)
    assert proof.radius >= math.hypot(math.e / 8, math.e / 2)


@pytest.mark.parametrize("angle", [1e-6, 1e-3, 0.1])
def test_the_radius_of_projections_is_attained_where_s_w_is_long(angle: float) -> None:
    """S_w = diag(8e-6, 2)/e, and the optimal range is the second axis, the long one of S_w.

    A range at an angle t to it has the projection at the distance sqrt(2) sin t, and a gap of (l_1 - l_2) sin^2 u,
    tan u = 0.002 tan t. The radius is thus 500 sqrt(2) sin u: the proof leaves no room for a smaller one.
    """
    asked: dict[str, Any] = {"n_components": 1, "n_neighbors": 1, "embedding": "orthonormal"}
    points, v = AXES * [1e-3, 1.0], np.array([np.sin(angle), np.cos(angle)])
    best = cvxml.solve("lfda", points, OF_AXES, **asked)
    proof = cvxml.certify("lfda", points, OF_AXES, np.outer(v, v), best.dual, **asked)
    far = np.linalg.norm(np.outer(v, v) - np.diag([0.0, 1.0]))
    assert far <= proof.radius <= 1.01 * far


def test_of_all_components_the_metric_alone_is_judged() -> None:
    """Whatever T is, the objective is tr S_w^-1 S_b; the plain metric is S_w^-1."""
    S_w, _ = scatters(X, Y, 3)
    found = cvxml.solve("lfda", X, Y, n_neighbors=3, embedding="plain")
    np.testing.assert_allclose(found.metric, np.linalg.inv(S_w), rtol=1e-8, atol=1e-10)
    assert found.certificate.radius <= 1e-9 * np.linalg.norm(found.metric)
    assert cvxml.check("lfda", X, Y, np.eye(4), n_neighbors=3, embedding="plain").verdict is Verdict.REFUTED


# ---------------------------------------------------------------- what a metric is judged as


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_the_right_range_is_not_enough(embedding: str) -> None:
    """Another metric of the same range has the same objective, and is not of the embedding."""
    asked = {**GIVEN, "embedding": embedding}
    best = cvxml.solve("lfda", X, Y, **asked)
    T = best.components.T @ np.diag([1.0, 1.7])
    proof = cvxml.certify("lfda", X, Y, T @ T.T, best.dual, **asked)
    assert proof.objective == pytest.approx(best.objective, rel=1e-9)
    report = cvxml.check("lfda", X, Y, T @ T.T, **asked)
    assert report.verdict is Verdict.REFUTED
    assert embedding in report.reasons[0]
    doubled = cvxml.check("lfda", X, Y, 2 * best.metric, **asked)
    assert doubled.verdict is Verdict.REFUTED
    assert "0.5 times" in doubled.diagnosis[0]


@pytest.mark.parametrize("size", [1e-9, 1e-3])
def test_what_is_off_its_embedding_by_little_is_allowed_and_counted(size: float) -> None:
    best = cvxml.solve("lfda", X, Y, **GIVEN)
    metric = best.metric * (1 + size)
    proof = cvxml.certify("lfda", X, Y, metric, best.dual, **GIVEN)
    assert proof.feasibility.feasible == (size < 1e-6)
    assert proof.radius >= 0.99 * size * np.linalg.norm(best.metric)
    assert exact_of("lfda", X, Y, metric, best.dual, **GIVEN).distance >= 0.99 * size * np.linalg.norm(
        best.metric
    )


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_the_components_are_eigenvectors_in_order(embedding: str) -> None:
    asked = {**GIVEN, "embedding": embedding}
    found, (S_w, S_b) = cvxml.solve("lfda", X, Y, **asked), scatters(X, Y, 3)
    T = found.components.T
    at = cvxml.evaluate("lfda", X, Y, found.metric, **asked)
    np.testing.assert_allclose(np.abs(at.T), np.abs(T), rtol=1e-6)
    within = T.T @ S_w @ T
    if embedding != "orthonormal":
        expected = np.diag(at.l[:2]) if embedding == "weighted" else np.eye(2)
        np.testing.assert_allclose(within, expected, atol=1e-8 * at.l[0])
        np.testing.assert_allclose(S_b @ T, S_w @ T * at.l[:2], atol=1e-7 * np.linalg.norm(S_b @ T))
    else:
        np.testing.assert_allclose(T.T @ T, np.eye(2), atol=1e-9)


# ---------------------------------------------------------------- what changes nothing, and what changes everything


@pytest.mark.parametrize("unit", [1e-100, 1024.0, 1e100])
@pytest.mark.parametrize(("embedding", "power"), [("plain", 2), ("orthonormal", 0)])
def test_units_do_not_matter_for_other_embeddings(embedding: str, power: int, unit: float) -> None:
    asked = {**GIVEN, "embedding": embedding}
    plain = cvxml.solve("lfda", X, Y, alpha=0.5, **asked)
    other = cvxml.solve("lfda", unit * X, Y, alpha=0.5 * unit**2, **asked)
    np.testing.assert_allclose(other.metric * unit**power, plain.metric, rtol=1e-7, atol=1e-10)
    assert other.objective == pytest.approx(plain.objective, rel=1e-9)


def test_what_is_no_float_is_refused() -> None:
    for unit in (1e-170, 1e170):
        with pytest.raises(ValueError, match="rescale"):
            cvxml.solve("lfda", unit * X, Y, embedding="plain")


def test_the_default_of_neighbors_is_7_or_all_of_the_smallest_class() -> None:
    points, y = real_data("iris", 90)
    assert cvxml.solve("lfda", points, y).params["n_neighbors"] == 7
    few = np.concatenate([np.flatnonzero(y == c)[:k] for c, k in enumerate((5, 9, 20))])
    assert cvxml.solve("lfda", points[few], y[few]).params["n_neighbors"] == 4


def test_equal_points_have_no_affinity_to_others() -> None:
    """Where the K-th nearest is equal to the point its scale is 0: it counts between classes alone."""
    twice, of = np.concatenate([X, X[:1], X[:1]]), np.concatenate([Y, Y[:1], Y[:1]])
    S_w, S_b = scatters(twice, of, 2)
    found = cvxml.solve("lfda", twice, of, n_components=2, n_neighbors=2)
    assert found.objective == pytest.approx(solution(S_w, S_b, 2, "plain")[0], rel=1e-9)
    A = cvxml.evaluate("lfda", twice, of, found.metric, n_components=2, n_neighbors=2).A
    assert not A[[0, -1, -2]].any()


# ---------------------------------------------------------------- where nothing is determined


def test_a_tie_at_r_is_said_and_has_no_radius() -> None:
    """A square's corners in each of two classes: a turn by 90 degrees changes nothing, so l_1 = l_2."""
    square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    points, y = np.concatenate([square, 3 * square]), np.repeat([0, 1], 4)
    one: dict[str, Any] = {"n_components": 1, "n_neighbors": 1}
    found = cvxml.solve("lfda", points, y, **one)
    assert found.status is Status.CONVERGED
    assert found.certificate.radius == np.inf
    assert "4096 bits" in found.notes[0]
    _, given = checked("lfda", points, y, **one)
    for angle in (0.3, 1.0):
        u = np.array([np.cos(angle), np.sin(angle)])
        report = cvxml.check("lfda", points, y, given.embedded(np.outer(u, u)), **one)
        assert report.verdict is Verdict.CERTIFIED


def test_a_tie_within_the_range_changes_nothing() -> None:
    square = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    up = np.array([[0.0, 0.0, 0.3], [0.0, 0.0, -0.3]])
    points = np.concatenate([2 * square, up, 6 * square, up])
    y = np.repeat([0, 1], 6)
    found = cvxml.solve("lfda", points, y, n_components=2, n_neighbors=2, embedding="orthonormal")
    l = cvxml.evaluate("lfda", points, y, found.metric, n_components=2, n_neighbors=2).l
    tied = int(np.argmin(np.abs(np.diff(l))))
    assert abs(np.diff(l)[tied]) < 1e-9 * l[0]
    r = {0: 2, 1: 1}[tied]
    found = cvxml.solve("lfda", points, y, n_components=r, n_neighbors=2)
    assert np.isfinite(found.certificate.radius)
    assert not found.notes


def test_a_singular_scatter_is_refused_and_alpha_mends_it() -> None:
    """The third feature is the same for all of a class: along it S_w is 0, and the ratio has no bound."""
    points = np.column_stack([X[:, :2], Y])
    with pytest.raises(ValueError, match=r"2 of 3 .* infinite"):
        cvxml.solve("lfda", points, Y, **GIVEN)
    assert cvxml.solve("lfda", points, Y, alpha=1e-3, **GIVEN).status is Status.CONVERGED


@pytest.mark.parametrize("r", [None, 1, 2])
def test_features_that_depend_on_each_other_but_for_rounding_are_refused(r: int | None) -> None:
    """Sums of decimals, of full rank as rational numbers are: S_w is 1e30 times as large one way as another."""
    X, y = random_data(0, n=12, d=3, classes=2)
    X = np.round(X + 1.5 * y[:, None] * [1.0, 0.0, 0.0], 3)
    sums = np.c_[X, X[:, 0] + X[:, 1]]
    with pytest.raises(ValueError, match="dependent"):
        cvxml.solve("lfda", sums, y, n_components=r)
    assert cvxml.solve("lfda", sums, y, n_components=r, alpha=1e-3).status is Status.CONVERGED


@pytest.mark.parametrize("r", [5, 6, 7, 8])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_more_components_than_classes_differ_in(embedding: str, r: int) -> None:
    """Six points in eight features: from l_6 on all eigenvalues are 0, and any further components are as good."""
    points, y = np.random.default_rng(1).normal(size=(6, 8)), [0, 0, 0, 1, 1, 1]
    asked: dict[str, Any] = {"alpha": 0.1, "n_neighbors": 1, "embedding": embedding, "n_components": r}
    found = cvxml.solve("lfda", points, y, **asked)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(
        -np.sum(cvxml.evaluate("lfda", points, y, found.metric, **asked).l)
    )
    assert np.linalg.matrix_rank(found.metric, tol=1e-9) == (5 if embedding == "weighted" else r)
    assert cvxml.check("lfda", points, y, found.metric, **asked).verdict is Verdict.CERTIFIED
    few = cvxml.solve("lfda", points, y, **{**asked, "n_components": 4}).metric
    assert cvxml.check("lfda", points, y, few, **asked).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("d", [4, 9])
def test_the_name_for_fewer_neighbours_tells_their_number(d: int) -> None:
    points, y = random_data(3, n=60, d=d, classes=3)
    wrong = cvxml.solve("lfda", points, y, n_components=2, n_neighbors=d - 1).metric
    report = cvxml.check("lfda", points, y, wrong, n_components=2, n_neighbors=10)
    assert "K = d - 1 " in report.diagnosis[0]


def test_dependent_features_are_refused() -> None:
    points = np.column_stack([X[:, :2], 2.0 * X[:, 1]])
    with pytest.raises(ValueError, match=r"2 of 3 .*not determined"):
        cvxml.solve("lfda", points, Y, **GIVEN)


def test_an_affinity_that_underflows_is_not_0() -> None:
    """Along the second feature only far points differ: exp(-40000) is 0 in floating point, and S_w is not singular."""
    points = np.array(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 200.0], [1.0, 200.0], [7.0, 3.0], [8.0, 3.0], [7.0, 4.0], [8.0, 4.0]]
    )
    y = np.repeat([0, 1], 4)
    assert definitions.affinity(points, y, 1)[0, 2] == 0
    found = cvxml.solve("lfda", points, y, n_components=1, n_neighbors=1)
    assert found.status is Status.CONVERGED


def test_points_that_are_all_equal_are_refused() -> None:
    with pytest.raises(ValueError, match="equal"):
        cvxml.solve("lfda", np.ones((12, 2)), np.arange(12) % 2, alpha=1.0)


# ---------------------------------------------------------------- misreadings, made here without the package


def by_columns(D: FloatArray, k: int) -> FloatArray:
    """metric-learn: column k of distances of which the rows are sorted."""
    s = np.sqrt(np.partition(D, k, axis=0)[:, k])
    by = np.outer(s, s)  # of the first point, in whose row the least distances are, that to itself
    return np.where(by > 0, np.exp(-D / np.where(by > 0, by, 1.0)), 0.0)


def by_metric_learn(X: FloatArray, y: Any, r: int) -> FloatArray:
    """Its steps, written anew: K = min(7, d - 1), S_b by sums, S_w added at the end; weighted."""
    (n, d), k = X.shape, min(7, X.shape[1] - 1)
    S_w, S_b = np.zeros((d, d)), np.zeros((d, d))
    for c in range(y.max() + 1):
        own = X[y == c]
        A = by_columns(np.sum((own[:, None] - own) ** 2, axis=2), k)
        G = own.T @ np.diag(A.sum(axis=0)) @ own - own.T @ A @ own
        total = own.sum(axis=0)
        S_b += G / n + (1 - len(own) / n) * own.T @ own + np.outer(total, total) / n
        S_w += G / len(own)
    total = X.sum(axis=0)
    return solution(S_w, S_b - np.outer(total, total) / n + S_w, r, "weighted")[1]


def mistake(name: str) -> FloatArray:
    """The metric of a program that makes the mistake; with the paper's own formula where a parameter differs."""

    def of(affinity: Any = affinities, k: int = 3, more: float = 0.0, embedding: str = "weighted") -> Any:
        within, between = scatters(X, Y, k, affinity)
        return solution(within, between + more * within, 2, embedding)[1]

    def unsquared(D: FloatArray, k: int) -> FloatArray:
        s = np.sqrt(np.sort(D, axis=0)[k])
        return np.exp(-np.sqrt(D) / np.sqrt(np.outer(s, s)))

    def squared(D: FloatArray, k: int) -> FloatArray:
        s = np.sort(D, axis=0)[k]
        return np.exp(-D / np.outer(s, s))

    made: dict[str, Any] = {
        "plain": lambda: of(embedding="plain"),
        "orthonormal": lambda: of(embedding="orthonormal"),
        "added": lambda: of(more=2.0),
        "mixture": lambda: of(more=1.0),
        "column": lambda: of(by_columns),
        "global": lambda: of(lambda D, k: np.ones_like(D)),
        "unsquared": lambda: of(unsquared),
        "squared_scales": lambda: of(squared),
        "itself": lambda: of(k=2),
    }
    return made.get(name, of)()


# what is asked for, where it is not `GIVEN`
ASKED: dict[str, dict[str, Any]] = {
    "weighted": {"embedding": "plain"},
    "no_alpha": {"alpha": 0.3},
    "fewer": {"n_neighbors": 5},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MISREADINGS if name != "program"])
def test_a_mistake_is_named(name: str) -> None:
    assert_named("lfda", name, X, Y, mistake(name), **{**GIVEN, **ASKED.get(name, {})})


@pytest.mark.slow
def test_what_metric_learn_computes_is_named() -> None:
    points, y = real_data("iris")
    assert_named("lfda", "program", points, y, by_metric_learn(points, y, 2), n_components=2)


# ---------------------------------------------------------------- balls


def test_eigenvalues_that_are_one_float_are_told_apart_and_in_their_order():
    # four classes around the axes; turned by a right angle it is itself, but for the last bit of a coordinate
    spread = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 0]])
    points = np.vstack([spread + centre for centre in ([4.0, 0], [-4, 0], [0, 4], [0, -4])])
    for i, k in ((2, 1), (10, 0)):
        moved = points.copy()
        moved[i, k] *= 1 + 2.0**-52
        known = instance(moved, np.repeat(range(4), 5), n_components=1, n_neighbors=2).known
        assert float(known.l[0]) == float(known.l[1])
        assert known.unique
        assert known.l[0] > known.l[1]


@pytest.mark.parametrize(
    "R", [[[0.99, -0.05], [0.07, 1.0]], [[1.0, 10.0], [0.01, 1.0]], [[1.0, 0.01], [10.0, 1.0]]]
)
def test_eigenvalues_are_enclosed_whatever_their_vectors_are(
    R: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 and 3, by vectors that are turned from theirs."""
    monkeypatch.setattr(spectrum, "eigenvectors", lambda of: ([1.0, 3.0], flint().acb_mat(R)))
    with precision():
        found = spectrum.enclosed(flint().arb_mat([[1, 0], [0, 3]]))
    assert all(each.contains(true) for each, true in zip(found, (1, 3), strict=True))
