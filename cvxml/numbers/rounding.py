"""Double precision with proved error bounds: images of points, squared distances, sums of squares, least eigenvalues.

The image of a point x, a row, is x T for a matrix T. Most often T is a root of the metric: A = T T^T up to rounding.

Every bound follows the standard analysis of rounding, with a safety margin. It holds for any order of summation,
with or without fused multiply-adds (N. Higham, Accuracy and stability of numerical algorithms, 2002, chapter 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray, middle

SLICES = 5  # slices of a number, in a product to twice the working precision
LOW = 2**15  # exponents of floats, and of products of three floats, are above -LOW
BLOCK = 2**21  # numbers handled at a time
# numbers of a block that fits into the cache; a block has at least as many pairs as there are blocks
CACHED = 2**15
UNDERFLOW = 1e-290  # above the error of underflow in any sum here, for weights up to 1
WIDE = 100  # from this many features on, a matrix product for every pair is slow
SEVERAL = 8  # with more pairs than this per point, products with points are faster
FAINT = 1e-2  # smallest length of a feature, relative to the longest image, that is used for its unit
MANY_POINTS = 2000  # from this many points k on, distances by products are first computed in single precision
TABLE = 2**19  # entries of a table in single precision: 2 MiB, which a processor's cache holds
# if single precision finds more than one in this many pairs, all are computed in double precision
SPARSE = 50
SINGLE = 2.0**-23  # twice the largest relative rounding error in single precision
UNDERFLOW_OF_SINGLE = 2.0**-125  # twice the largest error of underflow in single precision, if it gives 0
IN_RANGE = 1e30  # numbers and products below this do not overflow in single precision


SPLITTER = 2.0**27 + 1  # a product with it separates the upper half of the digits of a float


class Twice(NamedTuple):
    """Numbers high + low, to about twice the working precision, and bounds of their errors, arrays of one shape."""

    high: FloatArray
    low: FloatArray
    error: FloatArray

    def times(self, w: FloatArray) -> Twice:
        """The products with the floats w, entry by entry. w is broadcast against the numbers."""
        high, rest = two_product(self.high, w)
        added = self.low * w
        low = rest + added
        error = np.abs(w) * self.error + 2 * EPS * (np.abs(rest) + np.abs(added)) + UNDERFLOW
        return Twice(high, low, error)


class Images(NamedTuple):
    """Computed rows `at` (n, r), and for each row a bound `error` (n,) of its Euclidean distance to the exact row."""

    at: FloatArray
    error: FloatArray


class Points(NamedTuple):
    """Images high + low (n, r) of n points, to twice the working precision, up to a shift common to all points.

    `error` (n,) bounds the Euclidean distance of each image to the exact one.
    """

    high: FloatArray  # (n, r)
    low: FloatArray  # (n, r)
    error: FloatArray  # (n,)

    def apart(self, i: Any, k: Any) -> Images:
        """Differences (t, r) of the images of the points i (t,) and k (t,), with error bounds."""
        z = (self.high[i] - self.high[k]) + (self.low[i] - self.low[k])
        own = self.error + 4 * EPS**2 * lengths(self.high)
        return Images(z, 2 * EPS * np.linalg.norm(z, axis=1) + own[i] + own[k])

    def entries_apart(self, i: Any, k: Any) -> tuple[FloatArray, FloatArray]:
        """Differences (t, r) of the images of the points i (t,) and k (t,), and an error bound for each entry."""
        z = (self.high[i] - self.high[k]) + (self.low[i] - self.low[k])
        own = self.error + 4 * EPS**2 * lengths(self.high)
        return z, 2 * EPS * np.abs(z) + (own[i] + own[k])[:, None]

    def of_columns(self, some: np.ndarray) -> Points:
        """The points with only those entries of every image that are in the mask `some` (r,)."""
        return Points(self.high[:, some], self.low[:, some], self.error)

    def squares_apart(self, i: Any, k: Any) -> Twice:
        """The squared entries (t, r) of the differences of the images of the points i (t,) and k (t,)."""
        high, rest = two_sum(self.high[i], -self.high[k])
        low = rest + (self.low[i] - self.low[k])
        own = self.error + 4 * EPS**2 * lengths(self.high)
        apart = (own[i] + own[k])[:, None] + 2 * EPS**2 * np.abs(high)
        square, rest = two_product(high, high)
        beside = 2 * high * low
        error = 2 * EPS * (np.abs(rest) + np.abs(beside)) + low**2
        error += (2 * (np.abs(high) + np.abs(low)) + apart) * apart
        return Twice(square, rest + beside, error * (1 + 1e-6) + UNDERFLOW)


class Distances(NamedTuple):
    """Squared distances D, and bounds of their errors, arrays of one shape."""

    D: FloatArray
    error: FloatArray


@dataclass(eq=False)
class Products:
    """Squared distances by products: D_ik = length_i + length_k - 2 left_i^T right_k for pairs of points i, k.

    left_i and right_k are rows (r,), and length_i is the squared length of point i under the metric. The error of D_ik
    is at most reach_i + reach_k. among (c,): the points k; None for all points.
    """

    left: FloatArray  # (n, r)
    right: FloatArray  # (n, r)
    length: FloatArray  # (n,)
    reach: FloatArray  # (n,)
    among: IntArray | None = None  # (c,) the points k; None for all points

    def below(self, i: Any, limit: FloatArray) -> tuple[Any, Any, FloatArray, FloatArray]:
        """All pairs of a point of i (m,) and a point k whose squared distance D_ik may be below the limit of i.

        limit: (m,), one for each point of i.

        Returns four arrays (t,), with an entry for each pair: the position in i of its first point, its second point k,
        D_ik, and a bound of the error of D_ik.
        """
        right, length, reach = self._second
        with np.errstate(invalid="ignore", over="ignore"):
            # more than the error of D_ik, because the limit and these sums are rounded too
            more = 4 * (reach + EPS * np.abs(length))
            limit = limit - self.length[i] + 4 * (self.reach[i] + EPS * np.abs(self.length[i]))
            # the first test takes one pass through the table; only the pairs that it finds get the exact one
            place = self._found_in_single_precision(i, limit, more.max(initial=0.0))
            if place is None:
                half = (-2.0 * self.left[i]) @ right.T
                half += length
                far = half >= _finite_or_nan(limit + more.max(initial=0.0))[:, None]
                place = np.flatnonzero(np.logical_not(far, out=far))
                half = half.ravel()[place]
                own, k = np.divmod(place, len(length))
            else:
                own, k = np.divmod(place, len(length))
                half = length[k] - 2.0 * np.einsum("tr,tr->t", self.left[i][own], right[k])
            near = ~(half >= _finite_or_nan(limit[own] + more[k]))
        own, k = own[near], k[near]
        point = k if self.among is None else self.among[k]
        return own, point, half[near] + self.length[i][own], self.reach[i][own] + reach[k]

    @cached_property
    def _second(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """right, length and reach of the points k."""
        if self.among is None:
            return self.right, self.length, self.reach
        return self.right[self.among], self.length[self.among], self.reach[self.among]

    def _found_in_single_precision(self, i: Any, limit: FloatArray, more: float) -> IntArray | None:
        """All pairs of the m points i and the c points k with length_k - 2 left_i^T right_k below limit_i + more.

        A pair is returned as one number, row * c + column in a table of the points i (rows) and k (columns). The limit
        is raised by bounds of the errors, so no such pair is missed, and a few other pairs are returned too.

        limit: (m,), the limits of D_ik - length_i. Returns None if there are few points k, if numbers might overflow,
        or if many pairs are found. Then the caller computes the table in double precision.
        """
        _, length, _ = self._second
        if len(length) < MANY_POINTS:
            return None
        left = np.concatenate([-2.0 * self.left[i], np.ones((len(limit), 1))], axis=1)
        size, columns = np.linalg.norm(left, axis=1), left.shape[1]
        terms = size * self._longest + np.abs(length).max()
        if not max(size.max(initial=0.0), self._longest, terms.max(initial=0.0)) < IN_RANGE:
            return None
        error = (columns + 10) * SINGLE * (terms + np.abs(limit) + more)
        error += columns * UNDERFLOW_OF_SINGLE * (1 + size + self._longest)
        most = (limit + more + error).astype(np.float32)[:, None]
        found, some = [], left.astype(np.float32)
        width = max(1, TABLE // max(1, len(some)))
        for first in range(0, len(length), width):
            table = some @ self._in_single_precision[first : first + width].T
            own, k = np.divmod(np.flatnonzero(~(table >= most)), table.shape[1])
            found.append(own * len(length) + (first + k))
        place = np.concatenate(found)
        return np.sort(place) if len(place) * SPARSE <= len(some) * len(length) else None

    @cached_property
    def _in_single_precision(self) -> np.ndarray:
        """The matrix (c, r + 1) in single precision with right, and length as its last column, for the c points k."""
        right, length, _ = self._second
        return np.concatenate([right, length[:, None]], axis=1).astype(np.float32)

    @cached_property
    def _longest(self) -> float:
        """The largest Euclidean length of a row of right, for the points k."""
        return float(np.linalg.norm(self._second[0], axis=1).max())


def _finite_or_nan(limit: FloatArray) -> FloatArray:
    """`limit`, with NaN for infinity: no number reaches NaN, so a distance that overflows does not reach the limit."""
    return np.where(np.isinf(limit), np.nan, limit)


class Seen(NamedTuple):
    """Points x_i (n, d), and their images z_i = root^T x_i under a root (d, m) of the metric A (d, d).

    D_ik = (x_i - x_k)^T A (x_i - x_k) is the squared distance of two points.

    unit: (d,), a factor for each feature, about sqrt(A_kk) for feature k. The features multiplied by it have a similar
        influence on the distances.
    miss: bounds the error of the root: |e^T (A - root root^T) e| <= miss |unit * e|^2 for differences e of points.
    images: the z_i (n, m), up to a common shift, with error bounds.
    P: (n, d), the points with their features multiplied by unit, up to a common shift.
    """

    root: FloatArray  # (d, m)
    unit: FloatArray  # (d,) powers of two
    miss: float  # |e^T (A - root root^T) e| <= miss |unit e|^2
    images: Images
    P: FloatArray  # (n, d) the points in these units, up to a shift

    def of(self, E: FloatArray) -> Distances:
        """e^T A e for t exact differences e of points, with error bounds. E (t, d): the e, rounded to floats."""
        z, error = images(E, self.root)
        D = np.sum(z**2, axis=1)
        beside = self.miss * np.sum((E * self.unit) ** 2, axis=1)
        return Distances(D, _squared(np.sqrt(D), error, self.root.shape[1]) + beside)

    def between(self, images: Points, i: Any, k: Any) -> Distances:
        """D_ik (t,) for the pairs of points i (t,) and k (t,), with error bounds.

        images: the images of all points under the root, to twice the working precision.
        """
        z, error = images.apart(i, k)
        D = np.einsum("tm,tm->t", z, z)
        length = np.linalg.norm(self.P, axis=1) * (1 + (self.P.shape[1] + 4) * EPS)
        beside = self.miss * (length[i] + length[k]) ** 2 * (1 + 4 * EPS)
        return Distances(D, _squared(np.sqrt(D), error, z.shape[1]) + beside)

    def from_points(self, i: IntArray) -> Distances:
        """D_ik (m, n) from the points i (m,) to all n points k, with error bounds.

        They are computed from differences z_i - z_k, so small distances keep their digits.
        """
        from scipy.spatial.distance import cdist  # takes a tenth of a second to load

        z, error = self.images
        D = cdist(z[i], z, "sqeuclidean")
        length = np.linalg.norm(self.P, axis=1)
        e = cdist(self.P[i], self.P) + EPS * (length[i, None] + length)
        return Distances(
            D, _squared(np.sqrt(D), error[i, None] + error, self.root.shape[1]) + self.miss * e**2
        )

    def reach(self) -> FloatArray:
        """Error bounds `reach` (n,) for squared distances that are computed by products of images.

        D_ik differs from the computed |z_i|^2 + |z_k|^2 - 2 z_i^T z_k by at most reach_i + reach_k.
        """
        z, error = self.images
        a = np.linalg.norm(z, axis=1)
        k = float(error.max()) / max(float(a.max()), UNDERFLOW)  # 2 a_i error_k <= k a_i^2 + error_k^2 / k
        own = 2 * a * error + k * a**2 + error**2 / k + 2 * error**2
        beside = 2 * self.miss * np.sum(self.P**2, axis=1)
        reach: FloatArray = own + (z.shape[1] + 4) * EPS * a**2 + beside + UNDERFLOW
        return reach


def _squared(length: FloatArray, error: FloatArray, m: int) -> FloatArray:
    """A bound of the error of the squared length of a row of m numbers.

    length: the computed length of the row. error: a bound of its distance to the exact row.
    """
    moved: FloatArray = (2 * length + error) * error + (m + 4) * EPS * length**2 + UNDERFLOW
    return moved


def lengths(A: FloatArray) -> FloatArray:
    """The Euclidean lengths (n,) of the rows of A (n, r). Rows are scaled: no square underflows or overflows."""
    largest = np.abs(A).max(axis=1, initial=0.0)
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    found: FloatArray = unit * np.linalg.norm(A / unit[:, None], axis=1)
    return found


def images(P: FloatArray, T: FloatArray) -> Images:
    """The product P T (n, r) with a bound of the error of each row, for P (n, d) and T (d, r).

    P may be rounded: the bound holds for all exact entries of P within half an ulp of the given floats.
    """
    error = (P.shape[1] + 2) * EPS * np.linalg.norm(np.abs(P) @ np.abs(T), axis=1) + UNDERFLOW
    return Images(P @ T, error)


def points(X: FloatArray, T: FloatArray) -> Points:
    """The product X T (n, r) of floats X (n, d) and T (d, r) to twice the working precision, with error bounds.

    All rows are shifted by one common vector, so only differences of rows are meaningful. Their digits are kept even if
    T is large and the terms of the product cancel.

    Both factors are cut into slices of so few bits that no sum of products of slices is rounded, in any order of
    summation (K. Ozaki, T. Ogita, S. Oishi, S. Rump, Numerical Algorithms 59, 2012). Products of late slices are left
    out, and their size is part of the error bound.
    """
    d = len(T)
    bits = (53 - math.ceil(math.log2(SLICES * max(d, 1)))) // 2
    P, p = two_sum(X, -middle(X))
    with np.errstate(over="ignore", invalid="ignore"):
        width = _exponent(P.T)  # of each feature; T is sliced in the units of the features
        row, left = _slices(P, -width[None, :], bits)
        column, right = _slices(T.T, width[None, :], bits)
        unit = row[:, None] + column
        high, low = np.zeros(unit.shape), p @ T
        for order in watched(range(SLICES)):
            factors = (np.hstack(left[: order + 1]), np.hstack(right[order::-1]))
            high, rest = two_sum(high, np.ldexp(factors[0] @ factors[1].T, unit - (order + 2) * bits))
            low += rest
        high, low = two_sum(high, low)
        largest = np.ldexp(float(d), unit)  # bounds the sums of |products of entries|
        error = (SLICES * 2.0 ** (-SLICES * bits) + (4 * SLICES**2 + d + 4) * EPS**2) * largest
        return Points(high, low, lengths(error) * (1 + 1e-6) + UNDERFLOW)


def _exponent(A: FloatArray) -> IntArray:
    """Exponents (m,): for each row of A (m, d), 2^exponent is a power of two above its absolute entries."""
    exponents: IntArray = np.frexp(np.abs(A).max(axis=1, initial=0.0))[1].astype(np.intp)
    return exponents


def _slices(A: FloatArray, shift: IntArray, bits: int) -> tuple[IntArray, list[FloatArray]]:
    """Exponents (m,) of the rows of A (m, d), and 5 matrices A_1, A_2, ... (m, d) of integers of about `bits` bits.

    They represent A with each column multiplied by 2 to the power of its entry of `shift` (1, d):

        A 2^shift = 2^exponent sum_k A_k 2^(-k bits) + remainder,    |remainder| <= 2^exponent 2^(-5 bits) / 2.

    Rows are scaled, so no number overflows or underflows.
    """
    mantissa, exponent = np.frexp(A)
    exponent = exponent.astype(np.intp) + shift
    largest = np.where(A != 0, exponent, -LOW).max(axis=1, initial=-LOW)
    rest, slices = np.ldexp(mantissa, exponent - largest[:, None]), []
    for _ in watched(range(SLICES)):
        rest = np.ldexp(rest, bits)
        slices.append(np.rint(rest))
        rest = rest - slices[-1]
    return largest, slices


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rounded sum a + b, and its rounding error, which is exact (D. Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rounded product a b, and its rounding error, exact if nothing underflows (G. Veltkamp, T. Dekker)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    p = a * b
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two floats with the sum a. Each has at most half of the digits of a float."""
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def doubled(terms: FloatArray) -> FloatArray:
    """Sums along the last axis, computed to about twice the working precision and then rounded.

    In each round one half of the numbers is added to the other half, and the rounding errors are summed too. For n
    terms there are log2 n rounds. The errors of a round are at most eps / 2 of the sum of the sizes of its terms. The
    sum of these errors has a relative error below n eps / 2.
    """
    high, low = terms, np.zeros(terms.shape[:-1])
    while (n := high.shape[-1]) > 1:
        both, lost = two_sum(high[..., : n // 2], high[..., n // 2 : n - n % 2])
        low = low + lost.sum(axis=-1)
        high = both if n % 2 == 0 else np.concatenate([both, high[..., -1:]], axis=-1)
    sums: FloatArray = high.sum(axis=-1) + low
    return sums


def seen(X: FloatArray, A: FloatArray) -> Seen:
    """The images of the points X (n, d) under a root of A (d, d).

    A must be symmetric, and psd up to rounding. The field `miss` bounds the difference of A and root root^T.
    """
    P, d = X - middle(X), X.shape[1]
    width = np.abs(P).max(axis=0)
    largest = math.sqrt(float(np.max(np.abs(A) * np.outer(width, width), initial=0.0)))
    length = np.maximum(np.sqrt(np.maximum(np.diag(A), 0)) * width, FAINT * largest)
    shows = (width > 0) & (length > 0)
    scale = 2.0 ** np.round(np.log2(np.where(shows, length, 1.0) / np.where(shows, width, 1.0)))
    unit = np.where(shows, scale, 0.0)
    scaled = np.where(np.outer(shows, shows), A / scale[:, None] / scale, 0.0)
    values, vectors = np.linalg.eigh(scaled)
    # Eigenvalues within rounding of 0 are dropped. NaN is kept, so that `JudgedMatrix.finite` becomes False.
    some = ~(values < d * EPS * max(values[-1], 0))
    root = vectors[:, some] * np.sqrt(values[some])
    miss = np.linalg.norm(scaled - root @ root.T)
    # An entry of root root^T is a sum of as many products as root has columns.
    miss += EPS * ((root.shape[1] + 4) * np.sum(root**2) + 4 * np.linalg.norm(scaled))
    whole = unit[:, None] * root
    return Seen(whole, unit, float(miss) * (1 + 1e-6), images(P, whole), P * unit)


def squares_of(rows: Images, w: FloatArray) -> tuple[FloatArray, float]:
    """The sum of w_t l_t l_t^T (r, r) over exact rows l_t with weights w_t, and a bound of its error in Frobenius norm.

    rows: the computed l_t, with bounds of their errors.

    The bound leaves room for a few more roundings of every w_t. The sum is taken in blocks, so that errors grow with
    the square root of the number of rows.
    """
    L, error = rows
    t, r = L.shape
    size = max(1, math.isqrt(t))
    count = -(-t // size)
    padded, weight = np.zeros((count * size, r)), np.zeros(count * size)
    padded[:t], weight[:t] = L, w
    blocks = padded.reshape(count, size, r)
    S = np.matmul(np.swapaxes(blocks * weight.reshape(count, size, 1), 1, 2), blocks).sum(axis=0)
    length = np.linalg.norm(L, axis=1)
    each = (size + count + 16) * EPS * length**2 + (2 * length + error) * error + UNDERFLOW
    return (S + S.T) / 2, float(np.abs(w) @ each)


def squares_of_pairs(images: Points, pairs: Any, w: FloatArray) -> tuple[FloatArray, float]:
    """The sum of w_t e_t e_t^T (r, r) over pairs t of points, and a bound of its error in Frobenius norm.

    e_t is the difference of the images of the two points. pairs: (p, 2). w: (p,).
    """
    (n, r), moved, size = images.high.shape, 0.0, 0.0
    if r >= WIDE and len(w) > SEVERAL * n:
        return _by_points(images, pairs, w)
    S, step = np.zeros((r, r)), max(CACHED // max(r, 1), math.isqrt(len(w)), 1)
    blocks = range(0, len(w), step)
    for first in watched(blocks):
        part = slice(first, first + step)
        apart = images.apart(*pairs[part].T)
        own, error = squares_of(apart, w[part])
        S += own
        moved += error
        size += float(np.abs(w[part]) @ np.sum(apart.at**2, axis=1))
    return S, (moved + (len(blocks) + 1) * EPS * size) * (1 + 1e-6)


def _by_points(images: Points, pairs: Any, w: FloatArray) -> tuple[FloatArray, float]:
    """The sum of w_ij (z_i - z_j)(z_i - z_j)^T (r, r) over the pairs i, j, and a bound of its error in Frobenius norm.

    z_i is the image of the point i, and w_ij = w_ji the weight of the pair. The sum equals sum_i z_i q_i^T with
    q_i = sum_j w_ij (z_i - z_j), which is faster to compute if there are far fewer points than pairs.
    """
    z, n = images.high, len(images.high)
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    both, length = np.concatenate([w, w]), np.linalg.norm(z, axis=1)
    own = images.error + 2 * EPS * length  # z drops the low parts of the images
    W, absolute = (csr_array((values, (i, j)), shape=(n, n)) for values in (both, np.abs(both)))
    degree, size = np.bincount(i, both, n), np.bincount(i, np.abs(both), n)
    q = degree[:, None] * z - W @ z
    rounded = (np.bincount(i, minlength=n) + 16) * EPS * (size * length + absolute @ length)
    error = rounded + size * own + absolute @ own
    S, beside = z.T @ q, np.linalg.norm(q, axis=1)
    moved = length @ error + own @ (beside + error) + (n + 4) * EPS * (length @ beside) + UNDERFLOW
    return (S + S.T) / 2, float(moved) * (1 + 1e-6)


def least_eigenvalue(Z: FloatArray) -> float:
    """A proved lower bound of the least eigenvalue of the symmetric Z (r, r), close to it.

    -inf if no bound is found, inf if r = 0.

    s is a number slightly below the computed eigenvalue. Suppose that the Cholesky decomposition of Z - s I succeeds in
    floats. Then every eigenvalue of Z is at least s minus an error of order r eps (trace(Z - s I) + |s|). See S. Rump,
    Verification of positive definiteness, BIT 46, 2006.
    """
    r = len(Z)
    if r == 0:
        return math.inf
    if not np.isfinite(Z).all():
        return -math.inf
    guess = float(np.linalg.eigvalsh(Z)[0])
    step = (r + 4) * EPS * (float(np.abs(np.diag(Z)).sum()) + abs(guess)) + UNDERFLOW
    while math.isfinite(step):
        shifted = Z - (guess - step) * np.eye(r)
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            step *= 4
            continue
        return guess - step - (r + 4) * EPS * (float(np.trace(shifted)) + abs(guess - step)) - UNDERFLOW
    return -math.inf
