"""The log det divergence from a prior: R(M) = D_ld(M, A_0) = tr P M - log det M + log det A_0 - d, P = A_0^-1.

G is the matrix that belongs to the dual variables, and r(G) <= R(M) - <M, G> for every psd M (base.py):

    r(G) = log det(A_0 (P - G))  if P - G is positive definite, attained at M = (P - G)^-1,
    R(M) - <M, G> - r(G) = sum f(eigenvalues of (P - G) M),    f(x) = x - 1 - log x.

The computation is free of units. With A_0 = C C^T, M = C K C^T and Z = I - C^T G C:

    R = D_ld(K, I),    r = log det Z,    R - <M, G> - r = D_ld(L^T Z L, I) for K = L L^T.

The last is a sum of squares and of values of f.

Rounding. C is the result of Cholesky's method and is taken as exact. Then C C^T differs from A_0 by up to (d + 2) eps
|C| |C|^T. So A_0 = C (I + E) C^T with |E| <= (d + 2) eps Q Q^T, Q = |C^-1| |C|; E grows with the condition number of
the prior. Then

    R = D_ld(K, I + E),        r = log det(I + E) + log det((I + E)^-1 - C^T G C).

These differ from the computed values by tr E (I - K) and tr E (I - Z^-1), up to squares of E. The inequality ||E|| <
1/2 proves that the prior is positive definite. For M and P - G, a matrix that bounds all rounding in K or in Z takes
the place of E (definite.py). A ball is a number with a proved error bound.
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

BLOCK = 1024  # pairs summed at a time; rounding grows with the number of terms of a sum
LONGEST = 1e200  # largest multiple of dual variables
UNKNOWN = Approximate(0.0, math.inf)
PRIOR = (
    "the prior is so close to singular that double precision proves no bound; rescale the features, or give a prior "
    "with a smaller condition number"
)
SMALL_GAP = 1e-11  # up to this gap, the starting value of `distance` is accurate enough
HUGE = 1e150  # a metric larger than this, relative to the prior, counts as having an infinite R
METRIC = "relative to the prior, the metric is so close to singular that double precision cannot compute its objective"


class Known(NamedTuple):
    """A matrix (r, r), and a bound of the error of each entry."""

    at: FloatArray
    error: FloatArray


class Positive(NamedTuple):
    """The points X under a metric A (d, d), with K = C^-1 A C^-T.

    known: bounds of the inverse and of log det of K (definite.py); None if K is not proved positive definite.
    """

    X: FloatArray
    A: FloatArray
    K: Known
    known: Definite | None  # the bounds for K; None if K is not proved positive definite

    def pairs(self, index: IntArray) -> Distances:
        E = self.X[index[:, 0]] - self.X[index[:, 1]]
        return self._of(E)

    def _of(self, E: FloatArray) -> Distances:
        error = 2 * few(len(self.A)) * quadratic(np.abs(E), np.abs(self.A))
        return Distances(np.maximum(quadratic(E, self.A), 0.0), error)


def times(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B. If B is diagonal, only the columns of A are scaled, which is faster. With the prior I, B is diagonal."""
    own = B.diagonal()
    product: FloatArray = A * own if np.count_nonzero(B) == np.count_nonzero(own) else A @ B
    return product


class LogDet(Everywhere):
    """R(M) = D_ld(M, A_0) for a symmetric positive definite prior A_0 (d, d), which is taken as exact."""

    def __init__(self, X: FloatArray, prior: FloatArray):
        self.X, self.prior = X, prior
        self.C: FloatArray = np.asarray(np.linalg.cholesky(prior), dtype=np.float64)
        d = len(prior)
        self.inverse: FloatArray = solve_triangular(self.C, np.eye(d), lower=True)
        # The entrywise error of a computed triangular inverse is at most (d + 1) eps |C^-1| |C| |C^-1|.
        Q = times(np.abs(self.inverse), np.abs(self.C))
        self.Q = times(Q, np.eye(d) + 4 * few(d) * Q)
        self.E = few(d) * times(self.Q, self.Q.T)
        self.beyond = float(np.linalg.norm(self.E))

    @property
    def undecided(self) -> str:
        return "" if self.beyond < 0.5 else PRIOR

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The projection P_+(A), with negative eigenvalues replaced by 0.

        If floats do not prove K = C^-1 P_+(A) C^-T positive definite, the field `finite` is False. If an entry of K is
        at least `HUGE`, or rationals prove that P_+(A) is singular, R counts as infinite. Otherwise R is unknown, and
        the field `undecided` says so.
        """
        psd, feasibility = examine(A, self.X)
        with np.errstate(all="ignore"):  # a huge metric may overflow
            K = times(times(psd, self.inverse.T).T, self.inverse.T)
            unsigned = np.abs(self.inverse).T
            size = times(times(np.abs(psd), unsigned).T, unsigned)
            spread = times(size, self.Q.T)
            error = few(len(A)) * (spread + spread.T + 2 * size)
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
        """R(M) = D_ld(K, I); the error bound includes the rounding of the prior."""
        (K, error), known = _of(view)
        own = known.divergence(error)
        if self.undecided:
            return Approximate(own.value, math.inf)
        beside = np.sum(self.E * (np.abs(np.eye(len(K)) - K) + error)) + 4 * self.beyond**2 * (
            1 + np.trace(K)
        )
        return Approximate(own.value, own.error + float(beside))

    def surplus(self, G: Weights) -> None:
        """None. Other regularizers return a matrix that must be proved psd for a finite bound r(G).

        Here that is P - G, and `best_multiple` makes it positive definite.
        """

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t of the dual variables with the best bound for which P - t G is proved positive definite.

        The result is 0 if no t > 0 with a bound k(t a) + r(t G) above 0 is found. ray: the function t -> k(t a) of the
        losses.
        """
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
                left = self._left_of(G) if t == 1 else self._left(Known(t * of_G.at, t * of_G.error))
                if left[1] is not None:
                    return t if value(t) > 0 else 0.0
                t *= 0.9
        return 0.0

    def bound(self, G: Weights) -> Approximate:
        """r(G) = log det Z, with an error bound; -inf if Z is not proved positive definite."""
        if not G.w.any():
            return Approximate(0.0, 0.0)
        (_, error), known = self._left_of(G)
        if known is None:
            return Approximate(-math.inf, 0.0)
        own = known.log_det(error)
        beside = np.sum(known.from_one * self.E) + 2 * self.beyond**2 * (1 + np.trace(known.inverse))
        return Approximate(own.value, own.error + float(beside))

    def excess(self, view: Positive, G: Weights) -> Approximate:
        """The excess D_ld(L^T Z L, I), with an error bound.

        L is a computed factor, so K = L (I + F) L^T with a rounding error F. The error bound covers the effect of F. It
        is inf if Z or L^T Z L is not proved positive definite, or if F is too large.
        """
        (K, K_error), known = _of(view)
        (Z, error), left = self._left_of(G)
        if left is None:
            return UNKNOWN
        L, W, d = known.L, np.abs(known.W), len(K)
        N = L.T @ Z @ L
        N = (N + N.T) / 2
        wide = np.abs(L).T @ (error + self._beside() + 4 * few(d) * np.abs(Z)) @ np.abs(L)
        found = definite(N, wide)
        F = W @ (K_error + 2 * known.own) @ W.T
        # W differs from L^-1 by the relative error `wrong`. It multiplies F by at most (1 - wrong)^-2 <= 1 + 4 wrong.
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
        """C^T G C, with entrywise error bounds."""
        d = len(self.C)
        W, unsigned = np.zeros((d, d)), np.zeros((d, d))
        priced = G.w != 0
        weights, pairs = G.w[priced], G.pairs[priced]
        for start in watched(range(0, len(weights), BLOCK)):
            w, (i, j) = weights[start : start + BLOCK, None], pairs[start : start + BLOCK].T
            x = self.X[i] - self.X[j]
            e, sizes = times(x, self.C), times(np.abs(x), np.abs(self.C))
            W += e.T @ (w * e)
            unsigned += sizes.T @ (np.abs(w) * sizes)
        terms = min(len(G.w), BLOCK) + len(G.w) / BLOCK + 2 * d + 16
        return Known((W + W.T) / 2, terms * EPS * unsigned)

    @of_last
    def _left_of(self, G: Weights) -> tuple[Known, Definite | None]:
        return self._left(self._image(G))

    def _left(self, image: Known) -> tuple[Known, Definite | None]:
        """Z = I - C^T G C, and the bounds of its inverse and log det (definite.py).

        The bounds are None if rounding, also that of the prior, may make Z indefinite. image: C^T G C.
        """
        Z, error = np.eye(len(self.C)) - image.at, image.error
        error = error + 2 * EPS * np.abs(Z)
        return Known(Z, error), None if self.undecided else definite(Z, error + self._beside())

    def _beside(self) -> FloatArray:
        """An entrywise upper bound of |(I + E)^-1 - I|, for the rounding E of the prior."""
        beside: FloatArray = self.E + self.beyond**2 / (1 - self.beyond)
        return beside

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """The psd matrix of rationals that is judged in place of A (d, d). Raises SingularMetric if it is singular.

        root: M with M M^T near A, if it is known.
        """
        metric = rational.judged(A, root)
        if int(metric.V.det()) == 0:
            raise SingularMetric("the metric is singular, so its log det divergence is infinite")
        return metric

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        return X.distances(metric)

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Any:
        """R(M) = tr(A_0^-1 M) - log det(A_0^-1 M) - d, as a ball, for M = `metric`. D: not used."""
        prior, at = whole(self.prior)
        d, power = len(self.prior), metric.at - at
        product = prior.inv() * metric.V
        trace = sum((product[k, k] for k in range(d)), start=0 * product[0, 0])
        log_det = ball(metric.V.det()).log() - ball(prior.det()).log()
        return ball(trace, power) - d - log_det - d * power * ball(2).log()

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Any:
        """r(G) = log det(A_0 - A_0 G A_0) - log det A_0, as a ball; None if P - G is not positive definite.

        If all weights of G are 0, the result is the fraction 0.

        A_0 - A_0 G A_0 is A_0 (P - G) A_0, which is positive definite if and only if P - G is. X: the points in
        rationals. G: the matrix G, as weights on pairs of points. hint: not used.
        """
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
        """The second derivative of R at M: the map S -> M^-1 S M^-1 on vectors svec; None if M is singular."""
        try:
            return congruence(np.asarray(np.linalg.inv(at.A), dtype=np.float64))
        except np.linalg.LinAlgError:
            return None


def _of(view: Positive) -> tuple[Known, Definite]:
    assert view.known is not None  # otherwise R is infinite or unknown, and `finite` is False
    return view.K, view.known


def distance(A: FloatArray, gap: float) -> float:
    """A bound of the Frobenius distance from A (d, d) to the minimizer A* of a convex function plus D_ld.

    gap: a bound of the gap of A, so D_ld(A, A*) <= gap. Returns inf for a gap of 700 or more. Let w_i be the logarithms
    of the eigenvalues of A* relative to A. Then sum_i (w_i + e^-w_i - 1) <= gap and ||A - A*|| <= ||A||_2 ||e^w - 1||.
    The ratio of (e^w - 1)^2 to w + e^-w - 1 grows with w, so the worst case is a single w that uses the whole gap:
    ||A||_2 (e^w - 1).

    w is the positive root of w + e^-w - 1 = gap. Newton's method starts above the root and stays above it, up to
    rounding. The start gap + sqrt(2 gap) exceeds the root by about w^2 / 3. It is used itself if the gap is so small
    that Newton's steps have no correct digits.
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
    """A bound of the distance between the optimum and a given matrix, for a problem with R(M) = D_ld(M, A_0).

    looked: the matrix that was judged in place of the given one. gap: a bound of the gap of the judged matrix.
    """
    view = looked.view
    assert isinstance(view, Positive)
    return distance(view.A, gap) + looked.feasibility.distance
