"""Regularizers of metrics M = sum_k w_k b_k b_k^T, w >= 0: the sum of the weights, and the squared norm.

| regularizer | r(G), with c_k = b_k^T G b_k                            | excess                                |
| beta sum w  | 0 if c_k <= beta for every k, else -inf                 | sum w_k (beta - c_k)                  |
| 1/2 ||M||^2 | -1/2 ||N||^2, N with s_k = b_k^T N b_k >= c_k for all k | 1/2 ||M - N||^2 + sum w_k (s_k - c_k) |

R(M) - <M, G> >= r(G) (base.py) holds because <M, G> = sum_k w_k c_k and <M, N> = sum_k w_k s_k.

The best N is the projection of G on the cone of these M. Its weights are approximated by non-negative least squares.
Weights with s_k < c_k are then increased, which decreases no other s_k. If the b_k are the unit vectors, N is the
diagonal of G, with negative entries replaced by 0.

A matrix is judged by the weights that core/bases.py finds. The weights are floats, and their combination is exactly in
the cone. If the matrix differs from this combination by rounding only, the proof holds for the matrix too: the
difference is part of the error bounds of every distance and of the norm. A view is the points under a metric: it gives
distances with error bounds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.bases import ROUNDING, ConeFeasibility, combined, is_identity, nearest, squares, weighted
from cvxml.core.clock import watched
from cvxml.core.exact import next_above, root_upward, scaled, sum_of_squares
from cvxml.core.integer_matrices import given_rows, whole
from cvxml.core.metric import EPS, FloatArray, IntArray, middle
from cvxml.family.losses.base import SHARES, ConjugateOnRay
from cvxml.family.regularizers.base import (
    ROUNDINGS,
    ByFormulas,
    JudgedMatrix,
    SeenBy,
    best,
    best_of_square,
    fractions,
    of_last,
)
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rounding import BLOCK, UNDERFLOW, Distances, Products, Seen, doubled, images, points
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import exact, like, square, total

ROUNDS = 4  # at most this many corrections of N; usually the second one repairs the rounding of the first
ROOM = 1 + 1e-6  # factor that covers products of errors
UNCLEAR = 1e-9  # c_k is computed more accurately if its error is above this fraction of the largest c_k
TRIALS = 3  # multiples that are tried
SHORTER = 1 - 64 * EPS  # factor of the longest multiple of dual variables, to allow for later rounding


class Combined(SeenBy):
    """A view of points X (n, d) in the metric M = sum_k w_k b_k b_k^T (d, d), with the weights w (K,).

    sight: the images of the points in M. The matrix that is judged differs from M by up to `error` (d, d) in each
    entry, because of rounding. The attribute M is an enclosure that contains the metric and the judged matrix.

    `error` changes a squared distance by up to |e|^T error |e|, where e is the difference of two points. This is at
    most sum_f per_f e_f^2 over the features f, with per_f = (error u)_f / u_f, for any u > 0. Here u_f is the spread of
    feature f.
    """

    def __init__(self, X: FloatArray, sight: Seen, w: FloatArray, M: Enclosure, error: FloatArray):
        super().__init__(X, sight)
        self.w, self.M, self.P = Enclosure(w), Enclosure(M.mid, M.rad + error), X - middle(X)
        u = np.abs(self.P).max(axis=0)
        self.per = np.divide(error @ u, u, out=np.zeros_like(u), where=u > 0) * ROOM

    def pairs(self, index: IntArray) -> Distances:
        D, error = super().pairs(index)
        return Distances(D, error + (self.X[index[:, 0]] - self.X[index[:, 1]]) ** 2 @ self.per)

    def products(self) -> Products:
        own = super().products()
        # the square of a difference is at most twice the sum of the squares
        return replace(own, reach=own.reach + 2 * self.P**2 @ self.per)

    def from_points(self, i: IntArray) -> Distances:
        D, error = super().from_points(i)
        beside = self.P**2 @ self.per
        return Distances(D, error + 2 * (beside[i, None] + beside))


def _upper(x: Enclosure) -> FloatArray:
    """Floats that are at least the numbers x, entry by entry: mid + rad, rounded up."""
    end: FloatArray = np.nextafter(x.mid + x.rad, np.inf)
    return end


class _Gains(NamedTuple):
    """The numbers c_k = b_k^T G b_k = sum_p w_p z_kp^2, and the sums size_k = sum_p |w_p| z_kp^2, (K,).

    w_p are the weights of G on pairs p = (i, j), and z_kp = b_k^T (x_i - x_j).
    """

    c: Enclosure
    size: FloatArray


class Combinations(ByFormulas):
    """Base of the two regularizers of metrics sum_k w_k b_k b_k^T. B (K, d): the vectors b_k as rows."""

    def __init__(self, X: FloatArray, B: FloatArray):
        self.X, self.B = X, B
        self.images = points(X, np.ascontiguousarray(B.T))

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The combination nearest to A. If A differs from it by rounding only, the error bounds cover A itself."""
        w, M, feasibility = weighted(A, self.B, self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            error, own = np.zeros_like(M), _rounded(self.B, w)
            if feasibility.beyond <= ROUNDING:
                error = np.abs(A / 2 + A.T / 2 - M) + (0 if is_identity(self.B) else own.rad)
            sight = seen(self.X, self.B, w)
            view = Combined(self.X, sight, w, own, error)
        finite = bool(np.isfinite(sight.images.at).all() and np.isfinite(M).all()) and math.isfinite(
            sight.miss
        )
        return JudgedMatrix(view, feasibility, finite, not A.any())

    def gains(self, G: Weights) -> Enclosure:
        """The numbers c_k = b_k^T G b_k, (K,), with error bounds that allow for rounding of the weights of G."""
        return self._gains(G).c

    @of_last
    def _gains(self, G: Weights) -> _Gains:
        """The numbers c_k with error bounds, and the sums of the absolute values of their terms.

        A c_k with a large error is computed again with more digits (`_finely`).
        """
        K, used = len(self.B), np.asarray(G.w != 0)
        w, pairs = G.w[used].astype(float), G.pairs[used]
        sums, size, moved = [np.zeros(K)], np.zeros(K), np.zeros(K)
        step = max(1, BLOCK // K)
        parts = [slice(first, first + step) for first in range(0, len(w), step)]
        for part in watched(parts):
            z, error = self.images.entries_apart(*pairs[part].T)
            sums.append(doubled((w[part, None] * z**2).T))
            size += np.abs(w[part]) @ z**2
            moved += np.abs(w[part]) @ (error * (2 * np.abs(z) + error))
        # a few roundings of each term, and the last rounding of each sum in twice the working precision
        rounded = (8 * EPS + len(w) ** 2 * EPS**2 + len(sums) * EPS) * size
        least = UNDERFLOW * (1 + float(np.abs(w).sum()))
        mid, rad = np.sum(sums, axis=0), (rounded + moved) * ROOM + least
        unclear = rad > UNCLEAR * mid.max(initial=0.0)
        if unclear.any() and len(w) and np.isfinite(size).all():
            with np.errstate(over="ignore", invalid="ignore"):
                fine = self._finely(pairs, w, unclear)
            exactly = G.exact and G.w.dtype == np.float64
            error = (fine.rad + (0.0 if exactly else ROUNDINGS * EPS) * size[unclear]) * ROOM + least
            better = error < rad[unclear]  # False if a product of halves has overflowed
            mid[unclear] = np.where(better, fine.mid, mid[unclear])
            rad[unclear] = np.where(better, error, rad[unclear])
        return _Gains(Enclosure(mid, rad), size)

    def _finely(self, pairs: IntArray, w: FloatArray, some: np.ndarray) -> Enclosure:
        """The numbers c_k = b_k^T G b_k for the vectors k of the mask `some`, to twice the working precision.

        G is the sum of w (x_i - x_j)(x_i - x_j)^T over the pairs (p, 2), with the weights w (p,), taken as exact.
        """
        seen, K = self.images.of_columns(some), int(some.sum())
        sums, error = [], np.zeros(K)
        size = np.zeros(K)
        step = max(1, BLOCK // K)
        parts = [slice(first, first + step) for first in range(0, len(w), step)]
        for part in watched(parts):
            terms = seen.squares_apart(*pairs[part].T).times(w[part, None])
            sums += [doubled(terms.high.T), terms.low.sum(axis=0)]
            size += np.abs(terms.high).sum(axis=0)
            error += terms.error.sum(axis=0) + len(w) * EPS * np.abs(terms.low).sum(axis=0)
            error += EPS * np.abs(sums[-2])
        mid = doubled(np.stack(sums, axis=1))
        error += EPS * np.abs(mid) + (len(w) + len(sums)) ** 2 * EPS**2 * size
        return Enclosure(mid, error)

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """The combination of the b_k b_k^T that is nearest to A (d, d), in rationals.

        root: the weights (K,) of the combination, if they are known. Another root, a matrix (d, r), is ignored.
        """
        w = _known(root, len(self.B))
        w = weighted(A, self.B, self.X).w if w is None else w
        V, at = _combination(self.B, fractions(w))
        rest, low = whole(A)
        least = min(at, low)
        away = rest * (1 << (low - least)) - V * (1 << (at - least))
        distance = root_upward(scaled(sum_of_squares(away), 2 * least))
        return rational.Squares(V, at, distance, fractions(w))

    def exact_gains(self, X: rational.Plane, G: Weights) -> list[Fraction]:
        """The numbers c_k = b_k^T G b_k as fractions. X: the points in rationals."""
        M, common = X.outer(G.pairs, fractions(G.w))
        return [value / common * scaled(1, 2 * X.at) for value in _exact_forms(self.B, M)]


class SumOfWeights(Combinations):
    """R(M) = beta sum w; beta: a float, or a fraction for exact arithmetic."""

    def __init__(self, X: FloatArray, B: FloatArray, beta: Any):
        super().__init__(X, B)
        self.beta = beta

    def value_at(self, at: Any) -> Any:
        return like(at.w, self.beta) * total(at.w)

    def conjugate_at(self, image: Any) -> Any:
        """r(G) = 0; the image must have every c_k <= beta, else r(G) would be -inf."""
        return 0

    def excess_at(self, at: Any, image: Any) -> Any:
        """The excess sum_k w_k (beta - c_k), for a view `at` of the metric with weights w. image: the numbers c_k."""
        return total(at.w * (like(at.w, self.beta, rounded=1) - image))

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """A factor t of the dual variables a with a large k(t a), such that t a is feasible: every c_k <= beta.

        t a is rounded to floats, which changes the c_k. The error bounds prove c_k <= beta for every t up to a limit. A
        larger t is taken only if c_k <= beta was proved for this t (`_tried`).

        ray: the function t -> k(t a) of the losses. Returns 0 if the error bounds are not finite.
        """
        c, size = self._gains(G)
        most = float(np.max(c.mid + 2 * c.rad))
        rounded = float(np.max(c.mid + 2 * c.rad + EPS * size))  # a multiple rounds every weight
        if not math.isfinite(rounded):
            return 0.0
        longest = float(self.beta) / rounded * SHORTER if rounded > 0 else math.inf
        tried = 0.0
        if longest < ray.longest and rounded > most * (1 + UNCLEAR) and most > 0:
            tried = self._tried(G, min(float(self.beta) / most * SHORTER, ray.longest))
        if (_upper(c) <= self.beta).all():  # t = 1 is feasible
            longest = max(longest, 1.0)
        shown = best(ray.value, min(longest, ray.longest))
        return tried if tried > shown and ray.value(tried) > ray.value(shown) else shown

    def _tried(self, G: Weights, t: float) -> float:
        """A factor near t for which every c_k of the multiple, rounded to floats, is proved to be at most beta.

        The rounding errors of many weights mostly cancel, so the factor can be larger than the limit from the error
        bounds. Returns 0 if a few trials find no factor.
        """
        for _ in range(TRIALS):
            c = _upper(self.gains(Weights(G.pairs, G.w * t, G.exact)))
            if (c <= self.beta).all():
                return t
            share = float(np.max(c)) / float(self.beta)
            t *= SHORTER / max(share, 1.0)
        return 0.0

    def image(self, G: Weights) -> Enclosure:
        """The numbers c_k. `best_multiple` has usually scaled the dual variables so that every c_k is at most beta."""
        return self.gains(G)

    def bound(self, G: Weights) -> Approximate:
        """r(G): 0 if every c_k <= beta is proved with the error bound of c_k, else -inf."""
        c = self.gains(G)
        return Approximate(0.0 if (_upper(c) <= self.beta).all() else -math.inf, 0.0)

    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Any:
        """The numbers c_k if each is at most beta, else None. X: the points in rationals. hint: not used."""
        c = self.exact_gains(X, G)
        return exact(c) if max(c) <= self.beta else None


class Norm(NamedTuple):
    """N (d, d), s (K,) with s_k = b_k^T N b_k, and c (K,), all enclosures or all rationals."""

    N: Any
    s: Any
    c: Any


class NormOfCombination(Combinations):
    """R(M) = 1/2 ||M||^2, with r(G) = -1/2 ||N||^2 for the matrix N of the module docstring."""

    def value_at(self, at: Any) -> Any:
        return total(square(at.M)) / 2

    def conjugate_at(self, image: Norm) -> Any:
        return -total(square(image.N)) / 2

    def excess_at(self, at: Any, image: Norm) -> Any:
        """The excess 1/2 ||M - N||^2 + sum w (s - c), for a view `at` of the metric M with weights w."""
        return total(square(at.M - image.N)) / 2 + total(at.w * (image.s - image.c))

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t of the dual variables with the best bound k(t a) + r(t G), less its error bound.

        ray: the function t -> k(t a) of the losses.
        """
        return best_of_square(self.bound(G), ray)

    def radius(self, gap: float) -> float:
        """sqrt(2 gap), which bounds the distance of a feasible metric from the optimum. gap: the gap of the metric."""
        return math.sqrt(2 * gap)

    def around(self, looked: JudgedMatrix, gap: float) -> float:
        """A bound of the distance between the optimum and a matrix that is judged by its nearest combination.

        looked: the judged combination, whose feasibility has the distance `away` from the matrix to the combination.
        gap: a bound of the gap of the combination.
        """
        assert isinstance(looked.feasibility, ConeFeasibility)
        return self.radius(gap) + looked.feasibility.away

    @of_last
    def image(self, G: Weights) -> Norm:
        """N, s and c of the module docstring. If no N with s >= c is found, N is inf, and the bound r(G) is -inf."""
        c, lengths = self.gains(G), np.sum(self.B**2, axis=1)
        above = np.maximum(_upper(c), 0.0)
        z = above if is_identity(self.B) else self.proposed(G)
        for _ in watched(range(ROUNDS)):
            N = _rounded(self.B, z)
            s = _forms(self.B, N)
            missed = above - np.nextafter(s.mid - s.rad, -np.inf)
            if not (missed > 0).any():
                return Norm(N, s, c)
            z = z + np.where(missed > 0, missed + 4 * s.rad, 0.0) / lengths**2
        return Norm(Enclosure(np.full(N.shape, np.inf)), s, c)

    def proposed(self, G: Weights) -> FloatArray:
        """Approximate weights (K,) of the combination sum_k w_k b_k b_k^T, w >= 0, that is nearest to G."""
        E = self.X[G.pairs[:, 0]] - self.X[G.pairs[:, 1]]
        return projected(self.B, (E.T @ (E * G.w.astype(float)[:, None])))

    def exact_image(self, X: rational.Plane, G: Weights, hint: ArrayLike | None) -> Norm:
        """N, s and c of the module docstring in rationals. X: the points in rationals.

        hint: approximate weights (K,) of N, or None.
        """
        c = self.exact_gains(X, G)
        V, at = _combination(self.B, self._exact_weights(c, G, hint))
        s = exact(value * scaled(1, at) for value in _exact_forms(self.B, V))
        return Norm(rational.matrix(V, scaled(1, at)), s, exact(c))

    def exact_norm(self, X: rational.Plane, G: Weights) -> list[Fraction]:
        """Weights z (K,) of N = sum z_k b_k b_k^T with s_k >= c_k for every k. X: the points in rationals."""
        return self._exact_weights(self.exact_gains(X, G), G, None)

    def _exact_weights(self, c: list[Fraction], G: Weights, hint: ArrayLike | None) -> list[Fraction]:
        if max(c) <= 0:
            return [Fraction(0)] * len(c)
        known = _known(hint, len(self.B))
        if known is not None:
            z = fractions(known)
        elif is_identity(self.B):
            z = [Fraction(0)] * len(c)
        else:
            z = fractions(self.proposed(G))
        V, at = _combination(self.B, z)
        lengths = [sum((Fraction(b) ** 2 for b in row), Fraction(0)) for row in self.B.tolist()]
        s = [value * scaled(1, at) for value in _exact_forms(self.B, V)]
        return [
            own + next_above((gain - paid) / length**2, SHARES)
            for own, gain, paid, length in zip(z, c, s, lengths, strict=True)
        ]


def seen(X: FloatArray, B: FloatArray, w: FloatArray) -> Seen:
    """The images of X (n, d) under a root of sum_k w_k b_k b_k^T, with error bounds.

    B (K, d): the vectors b_k as rows. w (K,): the weights. The columns of the root are sqrt(w_k) b_k.
    """
    used = w > 0
    root = np.ascontiguousarray((B[used] * np.sqrt(w[used])[:, None]).T)
    P, length = X - middle(X), np.linalg.norm(root, axis=1)
    some = length > 0
    unit = np.where(some, 2.0 ** np.round(np.log2(np.where(some, length, 1.0))), 0.0)
    # An entry has two roundings at most, so |e^T (M - root root^T) e| <= 4 units of rounding of sum_k (|r_k| |e|)^2.
    own = np.divide(root, unit[:, None], out=np.zeros_like(root), where=some[:, None])
    miss = 4 * EPS * float(np.sum(own**2)) * ROOM
    return Seen(root, unit, miss, images(P, root), P * unit)


def projected(B: FloatArray, G: FloatArray) -> FloatArray:
    """Approximate weights (K,) of the combination of the b_k b_k^T that is nearest to G (d, d).

    B (K, d): the vectors b_k as rows.
    """
    lengths = np.sum(B**2, axis=1)
    size = float(np.abs(G).max()) or 1.0
    V = squares(B / np.sqrt(lengths)[:, None]).T
    weights: FloatArray = nearest(V, (G / size).ravel()) * size / lengths
    return weights


def _rounded(B: FloatArray, w: FloatArray) -> Enclosure:
    """sum_k w_k b_k b_k^T (d, d), with an error bound."""
    size = np.abs(B).T @ (np.abs(B) * w[:, None])
    return Enclosure(combined(B, w), (len(B) + 8) * EPS * (size + size.T) / 2 + UNDERFLOW)


def _forms(B: FloatArray, N: Enclosure) -> Enclosure:
    """The numbers b_k^T N b_k, (K,), with error bounds."""
    size = np.abs(B)
    wide = N.rad + (2 * len(N) + 8) * EPS * np.abs(N.mid)
    return Enclosure(np.sum((B @ N.mid) * B, axis=1), np.sum((size @ wide) * size, axis=1) * ROOM + UNDERFLOW)


def _combination(B: FloatArray, w: list[Fraction]) -> tuple[Any, int]:
    """sum_k w_k b_k b_k^T as integers (d, d), and the exponent of the power of two that multiplies them.

    B (K, d): the vectors b_k as rows. w: weights with powers of two as denominators.
    """
    V, at = whole(B)
    low = max((weight.denominator.bit_length() - 1 for weight in w), default=0)
    heavy = [
        [int(weight * (1 << low)) * int(b) for b in row] for weight, row in zip(w, V.tolist(), strict=True)
    ]
    return V.transpose() * type(V)(heavy), 2 * at - low


def _exact_forms(B: FloatArray, M: Any) -> list[Fraction]:
    """The numbers b_k^T M b_k, (K,), for integers M (d, d). B (K, d): the vectors b_k as rows."""
    V, at = whole(B)
    products = (V * M).tolist()
    values = (
        sum(int(a) * int(b) for a, b in zip(*rows, strict=True))
        for rows in zip(products, V.tolist(), strict=True)
    )
    return [scaled(value, 2 * at) for value in values]


def _known(values: ArrayLike | None, count: int) -> FloatArray | None:
    """`values` as weights (count,), with negative ones replaced by 0; None if it is no vector.

    Raises ValueError for another length.
    """
    if values is None or np.ndim(values) != 1:
        return None
    return np.maximum(given_rows(np.reshape(values, (-1, 1)), count, "weights")[:, 0], 0.0)
