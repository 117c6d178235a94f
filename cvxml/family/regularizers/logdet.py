"""The log det divergence from a prior: R(M) = D_ld(M, A_0) = tr P M - log det M + log det A_0 - d, P = A_0^-1.

    r(G) = log det(A_0 (P - G))  where P - G is positive definite, attained at M = (P - G)^-1,
    R(M) - <M, G> - r(G) = sum f(eigenvalues of (P - G) M),    f(x) = x - 1 - log x.

Everything is computed free of units. With A_0 = C C^T, M = C K C^T and Z = I - C^T G C:
    R = D_ld(K, I),    r = log det Z,    R - <M, G> - r = D_ld(L^T Z L, I) for K = L L^T: a sum of squares and of f.

Rounding. C is what Cholesky's method returns, and is exact: C C^T = A_0 is not, it is off by (d + 2) eps |C| |C|^T.
With A_0 = C (I + E) C^T, |E| <= (d + 2) eps Q Q^T for Q = |C^-1| |C|: what the condition of the prior does. Then
    R = D_ld(K, I + E),        r = log det(I + E) + log det((I + E)^-1 - C^T G C),
which differ from what is computed by tr E (I - K) and tr E (I - Z^-1), but for squares of E. That ||E|| < 1/2, and the
same of all that rounding does to K and Z (definite.py), is the proof that prior, M and P - G are positive definite.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from cvxml.core.balls import ball
from cvxml.core.clock import watched
from cvxml.core.exact import SingularMetric
from cvxml.core.integer_matrices import is_psd, is_singular, whole
from cvxml.core.metric import EPS, FloatArray, IntArray, examine
from cvxml.family.geometry.symmetric import congruence, quadratic
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import Everywhere, JudgedMatrix, Scaled, best, fractions, of_last
from cvxml.family.regularizers.definite import Definite, definite, few
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import Distances
from cvxml.numbers.sums import Approximate

BLOCK = 1024  # pairs at a time: the fewer, the less a sum of so many can be off
LONGEST = 1e200  # multiple of prices
UNKNOWN = Approximate(0.0, math.inf)
PRIOR = "the prior is so near to singular that it is not known in double precision what is proved"
SMALL_GAP = 1e-11  # relative
HUGE = 1e150  # a metric beyond, beside the prior, costs more than can be computed: as good as infinite
METRIC = (
    "the metric is so near to singular, beside the prior, that double precision does not know its objective"
)


class Known(NamedTuple):
    """A matrix (r, r), and what each entry may be off by."""

    at: FloatArray
    error: FloatArray


class Positive(NamedTuple):
    """Points in a metric A (d, d); K is C^-1 A C^-T."""

    X: FloatArray
    A: FloatArray
    K: Known
    known: Definite | None  # of K

    def pairs(self, index: IntArray) -> Distances:
        """See `View`."""
        E = self.X[index[:, 0]] - self.X[index[:, 1]]
        return self._of(E)

    def _of(self, E: FloatArray) -> Distances:
        error = 2 * few(len(self.A)) * quadratic(np.abs(E), np.abs(self.A))
        return Distances(np.maximum(quadratic(E, self.A), 0.0), error)


class LogDet(Everywhere):
    """D_ld(M, A_0) for a prior (d, d) that is symmetric and positive definite, exactly as it is."""

    def __init__(self, X: FloatArray, prior: FloatArray):
        self.X, self.prior = X, prior
        self.C: FloatArray = np.asarray(np.linalg.cholesky(prior), dtype=np.float64)
        d = len(prior)
        self.inverse: FloatArray = solve_triangular(self.C, np.eye(d), lower=True)
        # A computed triangular inverse is off by (d + 1) eps |C^-1| |C| |C^-1|, entry by entry.
        Q = np.abs(self.inverse) @ np.abs(self.C)
        self.Q = Q @ (np.eye(d) + 4 * few(d) * Q)
        self.E = few(d) * self.Q @ self.Q.T
        self.beyond = float(np.linalg.norm(self.E))

    @property
    def undecided(self) -> str:
        """See `Regularizer`."""
        return "" if self.beyond < 0.5 else PRIOR

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """P_+(A); R is infinite where that is singular, which is decided in rationals."""
        psd, feasibility = examine(A, self.X)
        with np.errstate(all="ignore"):  # an absurd metric has no numbers
            K = self.inverse @ psd @ self.inverse.T
            size = np.abs(self.inverse) @ np.abs(psd) @ np.abs(self.inverse).T
            error = few(len(A)) * (self.Q @ size + size @ self.Q.T + 2 * size)
            at = Known((K + K.T) / 2, error)
            known = definite(*at)
        unknown = known is None and float(np.abs(K).max()) < HUGE and not is_singular(psd)
        return JudgedMatrix(
            Positive(self.X, psd, at, known),
            feasibility,
            known is not None,
            undecided=METRIC if unknown else "",
        )

    def value(self, view: Positive) -> Approximate:
        """D_ld(K, I), and what the prior does to it."""
        (K, error), known = _of(view)
        own = known.divergence(error)
        if self.undecided:
            return Approximate(own.value, math.inf)
        beside = np.sum(self.E * (np.abs(np.eye(len(K)) - K) + error)) + 4 * self.beyond**2 * (
            1 + np.trace(K)
        )
        return Approximate(own.value, own.error + float(beside))

    def surplus(self, G: Weights) -> None:
        """Any G will do: the multiple sees to it."""

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The best of those that keep P - G definite, proved; 0 where the bound is below that of no price at all."""
        of_G = self._image(G)
        if self.undecided or not (np.isfinite(of_G.at).all() and of_G.at.any()):
            return 0.0
        w = np.linalg.eigvalsh(of_G.at)

        def value(t: float) -> float:
            return ray.value(t) + float(np.log1p(np.maximum(-t * w, -1)).sum())

        longest = min(ray.longest, LONGEST)
        if w[-1] > 0:
            longest = min(longest, 1 / float(w[-1]))
        with np.errstate(all="ignore"):
            t = best(value, longest)
            for _ in range(60):
                if self._left(Known(t * of_G.at, t * of_G.error))[1] is not None:
                    return t if value(t) > 0 else 0.0
                t *= 0.9
        return 0.0

    def bound(self, G: Weights) -> Approximate:
        """log det Z"""
        if not G.w.any():
            return Approximate(0.0, 0.0)
        (_, error), known = self._left(self._image(G))
        if known is None:
            return Approximate(-math.inf, 0.0)
        own = known.log_det(error)
        beside = np.sum(known.from_one * self.E) + 2 * self.beyond**2 * (1 + np.trace(known.inverse))
        return Approximate(own.value, own.error + float(beside))

    def excess(self, view: Positive, G: Weights) -> Approximate:
        """D_ld(L^T Z L, I), and what it is where K is L (I + F) L^T."""
        (K, K_error), known = _of(view)
        (Z, error), left = self._left(self._image(G))
        if left is None:
            return UNKNOWN
        L, W, d = known.L, np.abs(known.W), len(K)
        N = L.T @ Z @ L
        N = (N + N.T) / 2
        wide = np.abs(L).T @ (error + self._beside() + 4 * few(d) * np.abs(Z)) @ np.abs(L)
        found = definite(N, wide)
        F = W @ (K_error + 2 * known.own) @ W.T
        # W is L^-1 but for `wrong`, which multiplies F by (1 - wrong)^-2 at most, that is 1 + 4 wrong.
        wrong = np.linalg.norm(known.W @ L - np.eye(d)) + 2 * few(d) * np.linalg.norm(W @ np.abs(L))
        F = F + 4 * wrong * np.linalg.norm(F)
        size = float(np.linalg.norm(F))
        if found is None or not (size < 0.5 and wrong < 0.25):
            return UNKNOWN
        own = found.divergence(wide)
        beside = float(np.sum((np.abs(N - np.eye(d)) + wide) * F)) + size**2
        return Approximate(own.value, own.error + beside)

    @of_last
    def _image(self, G: Weights) -> Known:
        """C^T G C"""
        d = len(self.C)
        W, unsigned = np.zeros((d, d)), np.zeros((d, d))
        priced = G.w != 0
        weights, pairs = G.w[priced], G.pairs[priced]
        for start in watched(range(0, len(weights), BLOCK)):
            w, (i, j) = weights[start : start + BLOCK, None], pairs[start : start + BLOCK].T
            x = self.X[i] - self.X[j]
            e, sizes = x @ self.C, np.abs(x) @ np.abs(self.C)
            W += e.T @ (w * e)
            unsigned += sizes.T @ (np.abs(w) * sizes)
        terms = min(len(G.w), BLOCK) + len(G.w) / BLOCK + 2 * d + 16
        return Known((W + W.T) / 2, terms * EPS * unsigned)

    def _left(self, image: Known) -> tuple[Known, Definite | None]:
        """Z, and that it is definite whatever rounding has done, to the prior too."""
        Z, error = np.eye(len(self.C)) - image.at, image.error
        error = error + 2 * EPS * np.abs(Z)
        return Known(Z, error), None if self.undecided else definite(Z, error + self._beside())

    def _beside(self) -> FloatArray:
        """|(I + E)^-1 - I|, at least."""
        beside: FloatArray = self.E + self.beyond**2 / (1 - self.beyond)
        return beside

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """See `Regularizer`. Raises SingularMetric where it is singular."""
        metric = rational.judged(A, root)
        if int(metric.V.det()) == 0:
            raise SingularMetric("the metric is singular, so its log det divergence is infinite")
        return metric

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """See `Regularizer`."""
        return X.distances(metric)

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Any:
        """tr - log det of A_0^-1 M, in a ball."""
        prior, at = whole(self.prior)
        d, power = len(self.prior), metric.at - at
        product = prior.inv() * metric.V
        trace = sum((product[k, k] for k in range(d)), start=0 * product[0, 0])
        log_det = ball(metric.V.det()).log() - ball(prior.det()).log()
        return ball(trace, power) - d - log_det - d * power * ball(2).log()

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Any:
        """log det(A_0 - A_0 G A_0) - log det A_0, in a ball: the first is A_0 (P - G) A_0, definite as P - G is."""
        if not (G.w != 0).any():
            return Fraction(0)
        prior, at = whole(self.prior)
        S, common = X.outer(G.pairs, fractions(G.w))
        # A_0 - A_0 G A_0 in units of 2^low / common
        power = 2 * (at + X.at)
        low = min(at, power)
        left = prior * common * (1 << (at - low)) - prior * S * prior * (1 << (power - low))
        determinant = left.det()
        if not (int(determinant) > 0 and is_psd(left)):
            return None
        d = len(self.prior)
        logs = ball(determinant).log() - ball(prior.det()).log() - d * ball(common).log()
        return logs + d * (low - at) * ball(2).log()

    def second_derivative(self, at: Scaled) -> FloatArray | None:
        """S -> M^-1 S M^-1"""
        try:
            return congruence(np.asarray(np.linalg.inv(at.A), dtype=np.float64))
        except np.linalg.LinAlgError:
            return None


def _of(view: Positive) -> tuple[Known, Definite]:
    assert view.known is not None  # else R is infinite, or not known, and nobody asks
    return view.K, view.known


def distance(A: FloatArray, gap: float) -> float:
    """How far in Frobenius norm the minimiser of a convex function and D_ld may be from A (d, d), which has this gap.

    D_ld(A, A*) <= gap: with w_i the logarithms of the eigenvalues of A* relative to A, sum_i (w_i + e^-w_i - 1) <= gap,
    and ||A - A*|| <= ||A||_2 ||e^w - 1||. The ratio of (e^w - 1)^2 to w + e^-w - 1 grows with w, so the worst is one w
    that takes the whole gap: ||A||_2 (e^w - 1). Newton's method from above stays above, but for rounding: the start is
    above by a third of its square, and as good as the root where the gap is so small that its steps have no digits.
    """
    if not gap < 700:
        return math.inf
    w = gap + math.sqrt(2 * gap)
    for _ in range(100 if gap > SMALL_GAP else 0):
        step = (w + math.expm1(-w) - gap) / -math.expm1(-w)
        if step <= 1e-15 * w:
            break
        w -= step
    return float(np.linalg.norm(A, 2)) * math.expm1(w * (1 + 1e-9))


def radius(looked: JudgedMatrix, gap: float) -> float:
    """How far the optimum may be from a matrix looked at: of a family whose regularizer is `LogDet`."""
    view = looked.view
    assert isinstance(view, Positive)
    return distance(view.A, gap) + looked.feasibility.distance
