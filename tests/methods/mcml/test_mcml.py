"""MCML: every part against another way to the same number, theorems, closed forms, and what must be refuted."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit, logsumexp
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.theorem.strict_prices import Anchors
from cvxml.family.theorem.theorem import value as bound_value
from cvxml.methods.mcml import METHOD, softmax, weights
from cvxml.methods.mcml.no_attainment import NOT_ATTAINED, SEEMS
from cvxml.methods.mcml.softmax import Objective, OfDiagonal, Softmaxes
from cvxml.oracle.saved import recertify
from cvxml.solvers.barrier import path
from tests.family.derivatives import assert_derivatives
from tests.instances import objective_of, random_data
from tests.methods.mcml.problems import SETS, Data, solved

every_set = pytest.mark.parametrize("name", SETS)


def size_of_classes(y: np.ndarray) -> np.ndarray:
    return np.bincount(y)[y]


# closed forms


@pytest.mark.parametrize("at", [2.2, 2.5, 3.0, 4.0])
def test_three_points_on_a_line(at: float) -> None:
    """0 and 2 of a class, a third point at `at`: i = 0 adds log(1 + e^{(4 - at^2) m}), i = 2 log(1 + e^{(4 - c) m})."""
    c, b = (at - 2) ** 2, at**2

    def slope(m: float) -> float:
        return sum((4 - e) * expit((4 - e) * m) for e in (b, c))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve("mcml", [[0.0], [2.0], [at]], [0, 0, 1], tol=1e-10)
    if slope(0.0) >= 0:  # more metric never helps
        assert solution.objective == pytest.approx(2 * np.log(2), rel=1e-9)
        return
    if c >= 4:  # both fall for ever
        assert solution.status is Status.NOT_ATTAINED
        return
    m = brentq(slope, 0, 1e3, xtol=1e-14)
    best = sum(np.log1p(np.exp((4 - e) * m)) for e in (b, c))
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(best, rel=1e-9)
    assert solution.metric[0, 0] == pytest.approx(m, rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_classes_of_two_are_the_convex_case_of_nca(seed: int) -> None:
    X, _ = random_data(seed, n=14, d=2)
    y = np.arange(14) // 2
    solution = cvxml.solve("mcml", X, y, tol=1e-9)
    assert solution.status is Status.CONVERGED
    assert objective_of("nca", X, y, solution.metric, criterion="g") == pytest.approx(
        solution.objective, rel=1e-10
    )
    best = cvxml.solve("nca", X, y, criterion="g", tol=1e-8)
    assert best.step_lower_bound is None or best.step_lower_bound <= solution.objective
    assert best.objective == pytest.approx(solution.objective, rel=1e-6)


def test_the_objective_is_the_divergence_and_a_constant() -> None:
    X, y = SETS["uneven"]
    at = cvxml.evaluate("mcml", X, y, np.diag([1.0, 0.2, 0.5]))
    constant = float(np.sum(np.log(size_of_classes(y) - 1)))
    assert at.objective == pytest.approx(at.KL.sum() + constant, rel=1e-12)
    assert at.KL.min() >= 0
    np.testing.assert_allclose(at.p_A.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(at.p0.sum(axis=1), 1, rtol=1e-12)


# optimality, and two ways


@pytest.mark.quick(7)
@every_set
def test_the_optimality_conditions_hold(name: str) -> None:
    """dF/dA is psd and orthogonal to A: in units in which the points have unit covariance."""
    X, y = SETS[name]
    solution = solved(name)
    assert solution.status is Status.CONVERGED
    assert solution.rel_gap <= 1e-9
    assert not {NOT_ATTAINED, SEEMS} & set(solution.notes)
    assert naive(X, y, solution.metric) == pytest.approx(solution.objective, rel=1e-9)
    back, to = coordinates(X).back, coordinates(X).to
    at = cvxml.evaluate("mcml", X, y, solution.metric)
    gradient, M = to.T @ at.gradient @ to, back.T @ solution.metric @ back
    size = float(len(X))
    assert np.linalg.eigvalsh(gradient)[0] >= -2e-3 * size
    assert abs(np.sum(gradient * M)) <= 1e-6 * solution.objective
    assert at.scale_derivative == pytest.approx(np.sum(gradient * M), abs=1e-6 * size)


@pytest.mark.parametrize("dual", [False, True])
def test_the_literal_problem_has_the_certified_value_where_a_point_is_alone(dual: bool) -> None:
    problem = cvxml.problem("mcml", *SETS["alone"], dual=dual)
    assert problem.solve(solver="CLARABEL") == pytest.approx(solved("alone").objective, rel=1e-7)


def naive(X: np.ndarray, y: np.ndarray, A: np.ndarray) -> float:
    """The definition once more, in four lines."""
    D = np.einsum("ijk,kl,ijl->ij", X[:, None] - X, A, X[:, None] - X)
    same = (y[:, None] == y) & ~np.eye(len(y), dtype=bool)
    log_p = -D - logsumexp(np.where(np.eye(len(y)), -np.inf, -D), axis=1)[:, None]
    return -sum(float(log_p[i, same[i]].mean()) for i in range(len(y)) if same[i].any())


@pytest.mark.parametrize("name", ["uneven", "alone", "constant", "wide"])
@pytest.mark.parametrize("block", [1, softmax.BLOCK])
def test_value_and_derivatives(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "BLOCK", block)
    X, y = SETS[name]
    rng, at, of = np.random.default_rng(0), coordinates(X), weights(y)
    r, n = at.Y.shape[1], len(y)
    f = Objective(at, of)
    G = rng.standard_normal((r, r)) / r
    A = at.outside(G @ G.T)
    value = naive(X, y, A)
    assert f.value(G @ G.T) == pytest.approx(value, rel=1e-11)
    assert objective_of("mcml", X, y, A) == pytest.approx(value, rel=1e-11)
    found = bound_value(METHOD.member(METHOD.instance(X, y)), A)
    assert found.value == pytest.approx(value, rel=1e-11)
    assert abs(found.value - value) <= found.error
    other = Softmaxes(of.w * 0.7, rng.uniform(0.5, 2, n), np.ones((n, n), dtype=bool))
    for smooth in (f, Objective(at, other), OfDiagonal(at, of)):
        assert_derivatives(smooth, G, rng, first=1e-6, second=1e-5)
    assert np.linalg.eigvalsh(f.derivatives(G)[1])[0] >= -1e-10 * np.abs(f.derivatives(G)[1]).max()


# the proof, whatever it is given


def test_rows_that_are_nearly_feasible_are_repaired_by_the_interior(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = SETS["random"]
    best, given = solved("random"), METHOD.instance(X, y)
    q, anchors = best.dual["q"], METHOD.member(given).anchors
    assert anchors is not None
    strict = anchors.strict
    assert strict is not None
    monkeypatch.setattr(Anchors, "strict", None)  # none but those given
    noise = 1e-7 * np.random.default_rng(0).standard_normal(q.shape) * q
    dual = {"q": q + noise}
    bare = cvxml.certify("mcml", X, y, best.metric, dual)
    dual["interior"] = METHOD.named(given, strict.duals)["q"]
    mended = cvxml.certify("mcml", X, y, best.metric, dual)
    trivial = float(np.sum(np.log(size_of_classes(y) - 1)))
    assert bare.lower_bound == pytest.approx(trivial, rel=1e-12)
    assert mended.proves(1e-6)
    assert set(mended.dual) == {"q"}


def test_the_rows_of_p0_prove_the_entropy_and_nothing_more() -> None:
    X, y = SETS["uneven"]
    w = weights(y).w
    certificate = cvxml.certify("mcml", X, y, np.eye(3), {"q": w})
    entropy = np.sum(np.log(size_of_classes(y) - 1))
    # exactly those leave C - G = 0; a little of strict rows wins next to nothing
    assert entropy * (1 - 1e-14) <= certificate.lower_bound <= entropy * (1 + 1e-9)
    assert not certificate.proves(1e-3)


def test_what_is_not_psd_is_judged_as_its_projection_and_said() -> None:
    X, y = SETS["random"]
    best = solved("random")
    values, vectors = np.linalg.eigh(best.metric)
    slightly = (vectors * np.where(np.arange(3) == 0, -1e-9 * values[-1], values)) @ vectors.T
    assert cvxml.certify("mcml", X, y, slightly, best.dual).proves(1e-6)
    badly = best.metric - 0.1 * np.eye(3)
    certificate = cvxml.certify("mcml", X, y, badly, best.dual)
    assert not certificate.feasibility.feasible
    assert not certificate.proves(1e-3)


# invariances


def test_repeated_features_change_nothing() -> None:
    X, y = SETS["random"]
    other = cvxml.solve("mcml", np.column_stack([X, X]), y, tol=1e-9)
    assert other.objective == pytest.approx(solved("random").objective, rel=2e-9)


def test_a_point_alone_in_its_class_is_no_i_but_a_k() -> None:
    X, y = SETS["alone"]
    assert "alone" in solved("alone").notes[0]
    without = objective_of("mcml", X[:-1], y[:-1], np.eye(3))
    assert objective_of("mcml", X, y, np.eye(3)) > without
    at = cvxml.evaluate("mcml", X, y, np.eye(3))
    assert at.alone == 1
    assert at.p_A[-1].sum() == at.terms[-1] == at.KL[-1] == 0
    assert at.p_A[:-1, -1].min() > 0


# where no metric is optimal


def separated(seed: int = 0) -> Data:
    """Pairs that are near each other and far from all else."""
    rng = np.random.default_rng(seed)
    centres = 10 * rng.standard_normal((5, 3))
    return np.repeat(centres, 2, axis=0) + 0.1 * rng.standard_normal((10, 3)), np.arange(10) // 2


def flat(seed: int = 0, turned: bool = True) -> Data:
    """Classes of five that overlap, but for a direction in which each is one point; in floats only where not turned."""
    rng = np.random.default_rng(seed)
    y = np.arange(15) % 3
    X = np.column_stack([rng.standard_normal((15, 2)), y * 1.0])
    return X @ np.linalg.qr(rng.standard_normal((3, 3)))[0] if turned else X, y


def test_pairs_that_are_apart_have_no_optimum() -> None:
    X, y = separated()
    with pytest.warns(ConvergenceWarning, match="not attained"):
        solution = cvxml.solve("mcml", X, y)
    assert solution.status is Status.NOT_ATTAINED
    assert NOT_ATTAINED in solution.notes
    assert solution.lower_bound == 0  # the entropy of classes of two: all that is proved, and the infimum
    values = [objective_of("mcml", X, y, t * solution.metric) for t in (1, 2, 4)]
    assert values[0] > values[1] > values[2] >= 0
    assert not solution.certificate.proves(1e-3)


def test_without_strict_rows_only_the_entropy_is_proved() -> None:
    """Corners of two regular simplices, one above the other: two classes of two below, one class of four above.

    They collapse along the last direction. Without the pairs it separates, all terms are still 0 under the identity.
    Let x be the distance between the classes below minus that within them. The objective without these pairs is
    8 log(1 + 2 exp(-x)) + 8 x / 3, the least at exp(x) = 4.
    """
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    X = np.vstack([np.column_stack([corners, np.full(4, height)]) for height in (0.0, 1.0)])
    with pytest.warns(ConvergenceWarning, match="not attained"):
        solution = cvxml.solve("mcml", X, [0, 0, 1, 1, 2, 2, 2, 2])
    assert solution.status is Status.NOT_ATTAINED
    assert solution.lower_bound == pytest.approx(4 * np.log(3), rel=1e-9)
    assert solution.objective == pytest.approx(8 * np.log(1.5) + 8 / 3 * np.log(4), rel=1e-8)


@pytest.mark.quick(2)
@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_classes_that_collapse_along_a_direction(seed: int, turned: bool, tmp_path: Path) -> None:
    """The infimum is the entropy of p0 there, which is proved; that no metric attains it, if it is one in rationals.

    Then no metric is called optimal, however near to the infimum it is.
    """
    X, y = flat(seed, turned)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve("mcml", X, y, tol=1e-6)
    trivial = 15 * np.log(4)
    assert solution.lower_bound == pytest.approx(trivial, rel=1e-12)
    assert solution.status is (Status.CONVERGED if turned else Status.NOT_ATTAINED)
    assert (SEEMS if turned else NOT_ATTAINED) in solution.notes
    assert trivial < solution.objective <= trivial * (1 + 1e-6)
    report = cvxml.check("mcml", X, y, solution.metric, diagnosed=False)
    assert report.verdict is (Verdict.CERTIFIED if turned else Verdict.INCONCLUSIVE)
    path = tmp_path / "s.json"
    solution.save(path)
    assert recertify(cvxml.load(path), 1e-6).verdict is report.verdict


def two_in_one(turned: bool) -> Data:
    """Two of the classes are one point along that direction: they still have to be told apart within."""
    X, y = flat(turned=turned)
    return X, np.where(y == 2, np.arange(15) % 2 + 2, y)


def test_an_infimum_that_is_not_attained_nor_proved_is_said_to_be_so() -> None:
    X, y = two_in_one(turned=True)
    with pytest.warns(ConvergenceWarning, match="not certified"):
        solution = cvxml.solve("mcml", X, y)
    assert solution.status is Status.STALLED
    assert SEEMS in solution.notes
    assert solution.lower_bound == pytest.approx(np.sum(np.log(size_of_classes(y) - 1)), rel=1e-12)


def test_an_infimum_across_what_shows_no_class_any_spread_is_that_of_the_parts() -> None:
    """Points that differ there have no price for each other, and what is left is three problems with one metric."""
    X, y = two_in_one(turned=False)
    with pytest.warns(ConvergenceWarning, match="not attained"):
        solution = cvxml.solve("mcml", X, y, tol=1e-9)
    assert solution.status is Status.NOT_ATTAINED
    assert NOT_ATTAINED in solution.notes
    far = np.diag([0.0, 0.0, 1e4])

    def of_parts(v: np.ndarray) -> float:
        L = np.zeros((3, 3))
        L[:2, :2] = v.reshape(2, 2)
        return naive(X, y, L.T @ L + far)

    best = minimize(of_parts, np.eye(2).ravel(), options={"gtol": 1e-9}).fun
    assert solution.lower_bound == pytest.approx(best, rel=1e-7)
    assert solution.lower_bound > np.sum(np.log(size_of_classes(y) - 1)) + 1


def test_definite_rows_prove_that_the_optimum_is_attained() -> None:
    def definite(X: np.ndarray, y: np.ndarray, q: np.ndarray) -> bool:
        given = METHOD.instance(X, y)
        anchors = METHOD.member(given).anchors
        assert anchors is not None
        return anchors.anchor(*METHOD.read(given, {"q": q})).surplus.psd

    for name in ("random", "twins-apart"):
        assert definite(*SETS[name], solved(name).dual["q"])
    X, y = separated()
    f = Objective(coordinates(X), weights(y))
    for state, _ in zip(path(f, np.eye(3), 1.0), range(8), strict=False):
        assert not definite(X, y, f.at(state.M).P)


def test_classes_of_one_point_and_metrics_too_large_are_refused() -> None:
    X, y = SETS["random"]
    with pytest.raises(ValueError, match="single point"):
        cvxml.solve("mcml", X, np.arange(18))
    with pytest.raises(ValueError, match="too large"):
        cvxml.certify("mcml", X, y, 1e200 * np.eye(3), solved("random").dual)


def test_the_certificate_is_that_of_the_returned_metric() -> None:
    """The solver proves a metric near 0, and then returns 0, which is as good."""
    X, y = np.array([[-1.0], [1.0], [-0.9], [0.9]]), [0, 0, 1, 1]
    solution = cvxml.solve("mcml", X, y)
    assert not solution.metric.any()
    assert (
        solution.certificate.objective
        == cvxml.certify("mcml", X, y, solution.metric, solution.dual).objective
    )
