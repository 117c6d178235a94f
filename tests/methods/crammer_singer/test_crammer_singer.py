"""The SVM of Crammer and Singer: known optima, any mu, fractions, the solver's equations, scikit-learn's LinearSVC."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.core.metric import FloatArray
from cvxml.methods import crammer_singer as svm
from cvxml.methods.crammer_singer.interior import Interior
from tests.instances import fractions, random_data, real_data
from tests.test_architecture import reached

X, Y = random_data(3, n=24, d=3, classes=3)
GIVEN = svm.instance(X, Y, 0.5)
WITHOUT = svm.instance(X, Y, 0.5, fit_intercept=False)  # as the paper has it
both = pytest.mark.parametrize("given", [GIVEN, WITHOUT], ids=["intercept", "no intercept"])


def solved(given: svm.Instance, tol: float = 1e-8) -> svm.Solved:
    return svm.solve(given, tol)


def slow(given: svm.Instance, W: FloatArray, mu: FloatArray) -> tuple[Fraction, Fraction]:
    """Objective and bound in fractions, from the definitions."""
    x, w, duals, C = fractions(given.x), fractions(W), fractions(mu), Fraction(given.C)
    value = sum(v * v for v in w.flat) / 2
    of_mu = np.full(W.shape, Fraction(0))
    for i, own in enumerate(given.y.tolist()):
        scores = [sum(w[m] * x[i]) for m in range(len(W))]
        value += C * max((m != own) + scores[m] - scores[own] for m in range(len(W)))
        for m in range(len(W)):
            assert duals[i, m] >= 0
            of_mu[own] += duals[i, m] * x[i]
            of_mu[m] -= duals[i, m] * x[i]
        assert sum(duals[i]) <= C
        assert duals[i, own] == 0
    return value, sum(duals.flat) - sum(v * v for v in of_mu.flat) / 2


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize(("C", "a"), [(0.1, 0.2), (0.2, 0.4), (1.0, 0.5), (100.0, 0.5)])
def test_by_hand(C: float, a: float) -> None:
    """A class at -1, one at 1: W = [[-a, 0], [a, 0]] costs a^2 + 2 C max(0, 1 - 2 a), least at a = min(2 C, 1/2)."""
    found = solved(svm.instance([[-1.0], [1.0]], [0, 1], C), 1e-9)
    np.testing.assert_allclose(found.W, [[-a, 0], [a, 0]], atol=1e-4)
    assert found.certificate.objective == pytest.approx(a**2 + 2 * C * (1 - 2 * a), rel=1e-8)
    assert found.certificate.proves(1e-9)


@pytest.mark.parametrize(("C", "a"), [(0.01, 0.02), (0.05, 0.1), (1.0, 1 / 6), (100.0, 1 / 6)])
def test_by_hand_without_intercept(C: float, a: float) -> None:
    """A class at 1, one at 3: W = [[-a], [a]] costs a^2 + C (1 + 2 a) + C max(0, 1 - 6 a), least at min(2 C, 1/6).

    All scores of a class have one sign, so the point at 1 is lost for any a.
    """
    found = solved(svm.instance([[1.0], [3.0]], [0, 1], C, fit_intercept=False), 1e-9)
    np.testing.assert_allclose(found.W, [[-a], [a]], atol=1e-4)
    assert found.certificate.objective == pytest.approx(a**2 + C * (2 + 2 * a - 6 * a), rel=1e-7)
    assert found.certificate.proves(1e-9)


def test_an_intercept_is_a_feature_that_is_1() -> None:
    X1 = np.hstack([X, np.ones((24, 1))])
    as_feature = svm.instance(X1, Y, 0.5, fit_intercept=False)
    found = solved(GIVEN)
    mu = found.certificate.dual["mu"]
    assert svm.exact(as_feature, found.W, mu) == svm.exact(GIVEN, found.W, mu)
    assert svm.objective(as_feature, found.W) == svm.objective(GIVEN, found.W)
    assert solved(WITHOUT).certificate.lower_bound > found.certificate.objective


@pytest.mark.quick(6)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 0.5, 20.0])
@pytest.mark.parametrize("degenerate", [False, True])
def test_literal_equals_fast_within_the_certified_gaps(
    C: float, degenerate: bool, fit_intercept: bool
) -> None:
    """Degenerate: a feature twice, another the same for all, and points twice."""
    points, y = X.copy(), Y
    if degenerate:
        points[:, 1], points[:, 2] = points[:, 0], 7.0
        points[:4] = points[4:8]
    given = svm.instance(points, y, C, fit_intercept)
    found = solved(given)
    primal, dual = (
        stated(given.X, given.y, C, fit_intercept=fit_intercept) for stated in (svm.problem, svm.dual)
    )
    W = solve_problem(primal, "clarabel", False)["W"]
    mu = solve_problem(dual, "clarabel", False)["mu"]
    assert primal.value == pytest.approx(found.certificate.objective, rel=1e-6)
    assert dual.value == pytest.approx(found.certificate.objective, rel=1e-6)
    literal = svm.certify(given, W, mu)
    assert literal.rel_gap < 1e-3
    assert literal.lower_bound <= found.certificate.objective
    assert found.certificate.lower_bound <= literal.objective
    assert np.linalg.norm(W - found.W) <= literal.radius + found.certificate.radius


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("name", "C"), [("iris", 0.05), ("wine", 1.0)])
def test_liblinear_finds_the_same(name: str, C: float, fit_intercept: bool) -> None:
    points, y = real_data(name, 60)
    given = svm.instance(points, y, C, fit_intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = LinearSVC(
            multi_class="crammer_singer",
            C=C,
            fit_intercept=fit_intercept,
            tol=1e-6,
            max_iter=20_000,
            random_state=0,
        )
        theirs.fit(points, y)
    W = np.column_stack([theirs.coef_, theirs.intercept_]) if fit_intercept else theirs.coef_
    found = solved(given)
    np.testing.assert_allclose(found.W, W, atol=1e-3 * np.linalg.norm(W))
    proof = svm.certify(given, W, found.certificate.dual["mu"])
    assert proof.proves(1e-3)
    assert np.linalg.norm(W - found.W) <= proof.radius + found.certificate.radius


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("standardized", [True, False])
def test_it_is_certified_for_weights_and_units_of_any_size(C: float, standardized: bool) -> None:
    points, y = real_data("wine", 60, standardized=standardized)
    assert solved(svm.instance(points, y, C), 1e-6).certificate.proves(1e-6)


def test_classes_and_points_may_come_in_any_order_and_rows_add_up_to_0() -> None:
    order = np.random.default_rng(0).permutation(24)
    one, other = solved(GIVEN), solved(svm.instance(X[order], 2 - Y[order], 0.5))
    np.testing.assert_allclose(other.W[::-1], one.W, atol=1e-3)
    assert other.certificate.objective == pytest.approx(one.certificate.objective, rel=1e-7)
    np.testing.assert_allclose(one.W.sum(axis=0), 0, atol=1e-6)


# ---------------------------------------------------------------- the proof


@both
def test_figures_are_those_of_fractions(given: svm.Instance) -> None:
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 1e3):
        W = size * rng.standard_normal((3, given.x.shape[1]))
        mu = svm.to_domain(given, rng.standard_normal((24, 3)))
        value, bound = slow(given, W, mu)
        found = svm.exact(given, W, mu)
        assert (found.objective, found.lower_bound) == (value, bound)
        assert found.scale == sum(v * v for v in fractions(W).flat) / 2
        proof = svm.certify(given, W, mu)
        assert proof.gap == float(value - bound)
        assert abs(Fraction(proof.gap) - (value - bound)) <= Fraction(proof.rounding) <= proof.gap / 10**15
        assert abs(Fraction(proof.objective) - value) <= Fraction(proof.value_rounding) <= value / 10**15
        assert proof.objective == pytest.approx(svm.objective(given, W), rel=1e-12)


@pytest.mark.parametrize(
    ("X_unit", "W_unit", "C"),
    [(2.0**70, 2.0**80, 0.1), (1.0, 2.0**200, 0.1), (1e-90, 1e90, 3.0), (1.0, 0.0, 1e-50)],
)
def test_figures_are_those_of_fractions_in_any_unit(X_unit: float, W_unit: float, C: float) -> None:
    given = svm.instance(X_unit * X, Y, C)
    W = W_unit * np.random.default_rng(0).standard_normal((3, 4))
    mu = svm.to_domain(given, np.random.default_rng(1).random((24, 3)))
    found = svm.exact(given, W, mu)
    assert (found.objective, found.lower_bound) == slow(given, W, mu)


@both
def test_any_mu_bounds_any_w(given: svm.Instance) -> None:
    best, rng = solved(given), np.random.default_rng(0)
    for _ in range(40):
        mu = rng.standard_normal((24, 3)) * 10 ** rng.uniform(-4, 4)
        W = rng.standard_normal((3, given.x.shape[1])) * 10 ** rng.uniform(-2, 2)
        proof = svm.certify(given, W, mu)
        assert proof.lower_bound <= best.certificate.objective
        assert proof.objective >= best.certificate.lower_bound
        assert not proof.proves(1e-6)


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-3, 0.1, 1 / 3, 1.0, 1e300, math.inf, -math.inf])
def test_what_is_repaired_is_feasible_to_the_last_bit(size: float) -> None:
    points, y = make_blobs(n_samples=30, n_features=2, centers=7, random_state=0)
    given = svm.instance(points, y, 0.1)
    drawn = np.random.default_rng(0).random((30, 7))
    mu = svm.to_domain(given, size * np.ones((30, 7)) if math.isinf(size) else size * drawn)
    assert (mu >= 0).all()
    assert not mu[np.arange(30), y].any()
    sums = [sum(row) for row in fractions(mu).tolist()]
    assert max(sums) <= Fraction(0.1)
    if size > 1:
        assert min(sums) >= Fraction(0.1) * (1 - Fraction(1, 10**12))


def test_a_sum_above_c_by_less_than_a_float_shows_is_scaled() -> None:
    given = svm.instance([[0.0], [1.0], [2.0]], [0, 1, 2], 1.0)
    mu = np.array([[0.0, 1.0, 2.0**-70], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    found = svm.to_domain(given, mu)
    assert mu[0].sum() == 1.0
    assert sum(fractions(found[0])) <= 1
    np.testing.assert_array_equal(found[1:], mu[1:])


def test_a_feasible_mu_is_taken_as_it_is() -> None:
    mu = np.full((24, 3), 0.25)  # two of them are C
    mu[np.arange(24), Y] = 0.0
    given = mu.copy()
    np.testing.assert_array_equal(svm.certify(GIVEN, np.zeros((3, 4)), mu).dual["mu"], given)
    np.testing.assert_array_equal(mu, given)


def test_a_wrong_w_is_never_proved() -> None:
    best = solved(GIVEN)
    mu = best.certificate.dual["mu"]
    assert svm.certify(GIVEN, best.W, mu).proves(1e-8)
    shifted = best.W + np.array([0, 0, 0, 0.1])  # every margin stays as it is
    for wrong in (0.9 * best.W, 1.1 * best.W, best.W[::-1], shifted):
        proof = svm.certify(GIVEN, wrong, mu)
        assert not proof.proves(1e-4)
        assert np.linalg.norm(wrong - best.W) <= proof.radius + best.certificate.radius


def test_where_0_is_optimal_nothing_is_a_share_of_it() -> None:
    """Equal points, two of each class: W = 0 costs 4 C, and its scale is 0."""
    given = svm.instance(np.zeros((4, 2)), [0, 0, 1, 1], 1.0)
    half = np.eye(2)[1 - given.y]
    proof = svm.certify(given, np.zeros((2, 3)), half)
    assert (proof.objective, proof.lower_bound, proof.gap) == (4.0, 4.0, 0.0)
    assert proof.proves(1e-9)
    assert not svm.certify(given, np.zeros((2, 3)), 0.999 * half).proves(1e-2)


def test_what_is_stated_reaches_nothing_of_the_proof() -> None:
    stated = {("cvxml.methods.crammer_singer", name) for name in ("problem", "dual", "objective", "evaluate")}
    found = reached(stated)
    assert "cvxml.methods.crammer_singer" in found
    assert not {name for name in found if "family" in name or "interior" in name or "exact" in name}


def test_intermediates() -> None:
    W = np.random.default_rng(0).standard_normal((3, 4))
    at = svm.evaluate(GIVEN, W)
    assert at["objective"] == pytest.approx(0.5 * np.sum(W**2) + 0.5 * at["losses"].sum(), rel=1e-12)
    for i in range(24):
        others = [at["scores"][i, m] for m in range(3) if m != Y[i]]
        assert at["margins"][i] == pytest.approx(at["scores"][i, Y[i]] - max(others))


# ---------------------------------------------------------------- the solver


@pytest.mark.parametrize("steps", [0, 1, 5, 9])
def test_a_direction_meets_its_equations(steps: int) -> None:
    """s dmu + mu ds = wanted, rows of dmu add up to 0, W + dW is that of mu + dmu, s + ds that of W + dW."""
    at = Interior(GIVEN.x, GIVEN.y, GIVEN.C)
    for _ in range(steps):
        at.step()
    at.W = at.W + 1e-3 * np.arange(12).reshape(3, 4)  # what rounding does, and more
    behind = at._behind(at.W)
    at.missed = -(behind + at.s) + (behind + at.s).mean(axis=1, keepdims=True)
    at.lag = at.W - at._rows(at.mu)
    theta, wanted = at.mu / at.s, np.random.default_rng(0).standard_normal(at.s.shape)
    dW, dmu, ds = at._direction(theta, at._factor(theta), wanted)
    np.testing.assert_allclose(at.s * dmu + at.mu * ds, wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(dmu.sum(axis=1), 0, atol=1e-9 * np.abs(dmu).max())
    np.testing.assert_allclose(at.W + dW, at._rows(at.mu + dmu), atol=1e-7 * max(1, np.abs(dmu).max()))
    xi = at.s + ds + at._behind(at.W + dW)
    np.testing.assert_allclose(xi, np.repeat(xi[:, :1], 3, axis=1), atol=1e-7 * max(1, np.abs(xi).max()))


def test_the_gap_of_the_solver_is_that_of_the_proof() -> None:
    at = Interior(GIVEN.x, GIVEN.y, GIVEN.C)
    for _ in range(8):
        at.step()
        proof = svm.certify(GIVEN, at.W, at.mu)
        assert at.gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-9)


def test_it_warns_unless_certified() -> None:
    with pytest.warns(ConvergenceWarning, match="not certified"):
        found = svm.solve(GIVEN, 1e-9, max_iter=2)
    assert found.n_iter == 2
    assert not found.certificate.proves(1e-9)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"C": 0.0}, "C"),
        ({"C": math.nan}, "C"),
        ({"C": 1e200}, "C"),
        ({"C": 1e-200}, "C"),
        ({"X": [[1.0], [math.nan]]}, "X"),
        ({"X": [[1e200], [1.0]]}, "X"),
        ({"y": [0, 0]}, "y"),
        ({"y": [0, 1, 1]}, "3 labels"),
        ({"fit_intercept": 1}, "fit_intercept"),
        ({"fit_intercept": "False"}, "fit_intercept"),
        ({"fit_intercept": None}, "fit_intercept"),
    ],
)
def test_bad_input(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        svm.instance(**{"X": [[0.0], [1.0]], "y": [0, 1], **change})


def test_what_is_no_w_or_no_mu() -> None:
    W, mu = np.zeros((3, 4)), np.zeros((24, 3))
    for bad in (W[:, :3], W[0], W * np.nan, W + np.inf, W + 0j):
        with pytest.raises(ValueError, match="W"):
            svm.certify(GIVEN, bad, mu)
    with pytest.raises(ValueError, match="fit_intercept"):
        svm.certify(WITHOUT, W, mu)
    for bad in (mu[:3], mu[:, :2], mu * np.nan, mu + 0j):
        with pytest.raises(ValueError, match="mu"):
            svm.certify(GIVEN, W, bad)
    with pytest.raises(ValueError, match="tol"):
        svm.solve(GIVEN, 0.0)


def test_what_is_beyond_all_floats_is_not_proved() -> None:
    """Rational numbers have no largest: what is no float is infinite, and proves nothing."""
    given = svm.instance([[1e100], [-1e100], [0.0]], [0, 1, 1], 1e100)
    for W in (np.zeros((2, 2)), np.full((2, 2), 1e160), np.full((2, 2), 1e300)):
        for mu in (np.zeros((3, 2)), np.full((3, 2), 1e100)):
            proof = svm.certify(given, W, mu)
            assert not proof.proves(1.0)
            assert proof.lower_bound <= proof.objective
    assert svm.certify(given, np.full((2, 2), 1e300), np.full((3, 2), 1e100)).gap == math.inf


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e30, 1e99])
@pytest.mark.parametrize("C", [1e-100, 1.0, 1e100])
def test_units_of_any_size_end_in_a_proof_or_in_a_word(size: float, C: float) -> None:
    X, y = random_data(0, n=8, d=2, classes=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = svm.solve(svm.instance(size * X, y, C))
    assert found.certificate.lower_bound <= found.certificate.objective


# ---------------------------------------------------------------- the estimator


def test_the_estimator_is_the_solver_and_predicts_what_linear_svc_does() -> None:
    points, y = real_data("wine")
    names = np.array(["a", "b", "c"])[np.unique(y, return_inverse=True)[1]]
    model = cvxml.CrammerSingerSVM(tol=1e-8).fit(points[::2], names[::2])
    given = svm.instance(points[::2], names[::2], 1.0)
    found = svm.solve(given, 1e-8)
    np.testing.assert_array_equal(np.column_stack([model.coef_, model.intercept_]), found.W)
    assert model.certificate_.proves(1e-8)
    assert model.gap_ == found.certificate.gap
    scores = svm.evaluate(given, found.W)["scores"]
    np.testing.assert_allclose(model.decision_function(points[::2]), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(points[::2]), model.classes_[scores.argmax(axis=1)])
    theirs = LinearSVC(multi_class="crammer_singer", tol=1e-5, max_iter=200_000, random_state=0)
    # The number of iterations by which scikit-learn 1.6 judges convergence is not initialized.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(points[::2], names[::2])
    np.testing.assert_array_equal(model.predict(points), theirs.predict(points))


def test_the_estimator_has_no_intercept_if_asked() -> None:
    points, y = real_data("wine", 60)
    points = points + 1.0  # away from the origin, where an intercept counts
    model = cvxml.CrammerSingerSVM(fit_intercept=False, tol=1e-8).fit(points, y)
    found = svm.solve(svm.instance(points, y, 1.0, fit_intercept=False), 1e-8)
    np.testing.assert_array_equal(model.coef_, found.W)
    np.testing.assert_array_equal(model.intercept_, np.zeros(3))
    assert model.certificate_.proves(1e-8)
    np.testing.assert_allclose(model.decision_function(points), points @ found.W.T, atol=1e-12)
    default = cvxml.CrammerSingerSVM(tol=1e-8).fit(points, y)
    assert default.get_params()["fit_intercept"] is True
    assert default.certificate_.objective < model.certificate_.lower_bound


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_classes_have_one_score(fit_intercept: bool) -> None:
    points, y = real_data("iris", 30)
    two = np.where(np.asarray(y) == 0, "one", "other")
    model = cvxml.CrammerSingerSVM(fit_intercept=fit_intercept).fit(points, two)
    assert model.coef_.shape == (2, 4)
    scores = model.decision_function(points)
    assert scores.shape == (30,)
    np.testing.assert_array_equal(model.predict(points) == "other", scores > 0)
