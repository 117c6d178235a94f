"""Log det: what is said of all matrices within an allowance holds at the worst of them, in balls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat

from cvxml.core.balls import precision
from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.definite import definite
from cvxml.family.regularizers.logdet import Known, LogDet, Positive, radius
from cvxml.family.rows.base import Weights
from cvxml.numbers.rational import plane
from cvxml.numbers.sums import Approximate
from tests.family.test_frobenius import exact_weights

SEEDS = pytest.mark.parametrize("seed", range(12))
ONE_PAIR = np.array([[0, 1]])


def ball(M: FloatArray) -> Any:
    """Exactly."""
    return arb_mat([[arb(float(x)) for x in row] for row in M])


def one(d: int) -> Any:
    return ball(np.eye(d))


def floats(M: Any) -> FloatArray:
    return np.array([[float(x.mid()) for x in row] for row in M.tolist()])


def trace(M: Any) -> Any:
    return sum((M[k, k] for k in range(M.nrows())), arb(0))


def divergence(T: Any) -> Any:
    """D_ld(T, I), also of a product that is similar to a definite matrix."""
    return trace(T) - T.det().log() - T.nrows()


def covers(found: Approximate, truth: Any) -> bool:
    return bool(abs(arb(found.value) - truth) <= arb(found.error))


def symmetric(rng: np.random.Generator, d: int) -> FloatArray:
    M = rng.standard_normal((d, d))
    return (M + M.T) / 2


def spread(rng: np.random.Generator, d: int) -> FloatArray:
    """Definite, with eigenvalues of other sizes."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] * 10.0 ** rng.uniform(-2, 2, d)
    S = turn @ turn.T
    return (S + S.T) / 2


def worst(error: FloatArray, slope: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """All of the error: along the slope, against it, and at random."""
    signs = np.sign(symmetric(rng, len(error)))
    yield from (error * np.sign(slope), -error * np.sign(slope), error * signs)


@SEEDS
@pytest.mark.parametrize("share", [0.0, 1e-12, 1e-3, 0.3])
def test_all_matrices_within_the_allowance_are_definite_and_as_said(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    d = 1 + seed % 5
    S = spread(rng, d) if seed % 3 else np.eye(d) + 1e-8 * symmetric(rng, d)
    root = np.linalg.cholesky(np.linalg.inv(S))
    error = np.abs(symmetric(rng, d)) * np.sqrt(np.outer(np.diag(S), np.diag(S)))
    error = error * share / np.linalg.norm(np.abs(root).T @ error @ np.abs(root))
    found = definite(S, error)
    assert found is not None
    inverse = np.linalg.inv(S)
    log_det, own = found.log_det(error), found.divergence(error)
    with precision(300):
        for slope in (inverse, np.eye(d) - inverse):
            for D in worst(error, slope, rng):
                T = ball(S) + ball(D)
                assert covers(log_det, T.det().log())
                assert covers(own, divergence(T))
                exact = floats(T.inv())
                assert (np.abs(exact) <= found.inverse).all()
                assert (np.abs(np.eye(d) - exact) <= found.from_one).all()
    condition = float(np.trace(S) * np.trace(inverse))
    assert log_det.error <= 20 * d**2 * (share + 1e-13 * condition)


def test_a_matrix_next_to_which_one_is_singular_is_not_proved_definite() -> None:
    assert definite(np.eye(2), np.full((2, 2), 0.5)) is None
    assert definite(np.eye(2), np.full((2, 2), 0.2)) is not None
    assert definite(np.diag([1.0, 1e-16]), np.full((2, 2), 1e-16)) is None
    assert definite(np.array([[1.0, 1.0], [1.0, 1.0]]), np.zeros((2, 2))) is None
    assert definite(np.diag([1.0, np.inf]), np.zeros((2, 2))) is None


def test_logarithms_of_numbers_of_any_size_are_off_by_their_digits() -> None:
    rng = np.random.default_rng(0)
    with precision(300):
        for x in 10.0 ** rng.uniform(-305, -150, 400):
            S = np.array([[x]])
            found = definite(S, 0 * S)
            assert found is not None
            assert covers(found.log_det(0 * S), arb(float(x)).log())


class Case:
    """A prior C (I + E0) C^T of which C and |E0| are known; M = C (K + D) C^T; C^T G C = W + B."""

    def __init__(self, seed: int, size: float):
        rng = np.random.default_rng(seed)
        d = 1 + seed % 4
        self.C = np.tril(rng.integers(-4, 5, (d, d))).astype(float)
        np.fill_diagonal(self.C, rng.integers(1, 5, d))
        self.regularizer = LogDet(np.zeros((2, d)), self.C @ self.C.T)
        assert (self.regularizer.C == self.C).all()
        self.K = spread(rng, d) if seed % 2 else np.eye(d) + symmetric(rng, d) / 10
        half = symmetric(rng, d)
        self.W = half * rng.choice([0.3, 0.9]) / np.abs(np.linalg.eigvalsh(half)).max()
        self.E = np.abs(symmetric(rng, d))
        self.E *= size / np.linalg.norm(self.E)
        self.rng, self.d = rng, d

    def at(self, E: FloatArray, K_error: float = 0.0, W_error: float = 0.0) -> None:
        """Make it believe so."""
        of, d = self.regularizer, self.d
        of.E, of.beyond = np.abs(E), float(np.linalg.norm(E))
        K_all = K_error * np.sqrt(np.outer(np.diag(self.K), np.diag(self.K)))
        self.D = K_all * np.sign(symmetric(self.rng, d))
        self.B = W_error * np.sign(symmetric(self.rng, d))
        of._image = lambda G: Known(self.W, np.abs(self.B))  # type: ignore[method-assign]
        self.view = Positive(of.X, np.eye(d), Known(self.K, K_all), definite(self.K, K_all))
        self.G = Weights(ONE_PAIR, np.ones(1))

    def truth(self, E: FloatArray) -> tuple[Any, Any, Any, bool]:
        """R, r, R - <M, G> - r, and whether P - G is definite."""
        K, W = ball(self.K) + ball(self.D), ball(self.W) + ball(self.B)
        P = (one(self.d) + ball(E)).inv()
        left = P - W
        R, r = divergence(P * K), (left * (one(self.d) + ball(E))).det().log()
        return R, r, divergence(left * K), bool(np.linalg.eigvalsh(floats(left))[0] > 0)


@SEEDS
@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.1, 0.3, 0.45])
def test_a_prior_may_be_any_within_its_rounding(seed: int, size: float) -> None:
    case = Case(seed, size)
    slopes = [
        np.eye(case.d) - case.K,
        np.eye(case.d) - np.linalg.inv(np.eye(case.d) - case.W),
        np.eye(case.d),
    ]
    for slope in slopes:
        for E in worst(case.E, slope, case.rng):
            case.at(E)
            holds(case, E)


@SEEDS
@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e-2, 0.1])
def test_metric_and_prices_may_be_any_within_their_rounding(seed: int, size: float) -> None:
    case = Case(seed, 1e-12)
    for K_error, W_error in ((size, 0.0), (0.0, size), (size, size)):
        for _ in range(4):
            case.at(case.E, K_error, W_error)
            if case.view.known is not None:
                holds(case, case.E)


def holds(case: Case, E: FloatArray) -> None:
    of = case.regularizer
    bound = of.bound(case.G)
    with precision(300):
        R, r, excess, feasible = case.truth(E)
        assert covers(of.value(case.view), R)
        if np.isfinite(bound.value):
            assert feasible
            assert covers(bound, r)
        own = of.excess(case.view, case.G)
        assert own.error == np.inf or covers(own, excess)


def test_a_multiple_is_definite_for_every_prior_within_rounding() -> None:
    case = Case(0, 0.1)
    case.W = np.ones((1, 1))
    case.at(np.array([[0.1]]))
    t = case.regularizer.best_multiple(case.G, ConjugateOnRay(lambda t: 100 * t, np.inf))
    assert 0.3 < t < 1 / 1.1
    for w, known in ((t, True), (0.92, False), (1.0, False)):
        case.W = np.array([[w]])
        case.at(np.array([[0.1]]))
        assert np.isfinite(case.regularizer.bound(case.G).value) == known


def test_the_image_of_prices_is_off_by_all_its_roundings() -> None:
    """A few of them at once, each half a digit: more than one digit."""
    rng = np.random.default_rng(0)
    with precision(300):
        for _ in range(300):
            x, c, w = rng.random(3) + 0.5
            of = LogDet(np.array([[0.0], [x]]), np.array([[c]]))
            W, error = of._image(Weights(ONE_PAIR, np.array([w])))
            C = arb(float(of.C[0, 0]))
            assert abs(arb(float(W[0, 0])) - arb(x) ** 2 * C**2 * arb(w)) <= arb(float(error[0, 0]))


def test_the_radius_counts_what_was_projected_away() -> None:
    A = np.array([[1.0, 2e-7], [0.0, 1.0]])
    judged = LogDet(np.zeros((2, 2)), np.eye(2)).judge(A)
    assert radius(judged, 0.0) == pytest.approx(np.sqrt(2) * 1e-7)


def test_exactly_no_bound_where_prices_are_singular_or_negative_twice() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    of, at = LogDet(X, np.eye(2)), plane(X)
    pairs = np.array([[0, 1], [0, 2]])
    for w, known in (([1.0, 0.5], False), ([2.0, 2.0], False), ([0.5, 0.5], True)):
        with precision():
            found = of.exact_bound(at, exact_weights(Weights(pairs, np.array(w))))
        assert (found is not None) == known
