"""Double precision with proved errors: images of points, distances in a metric, sums of squares, least eigenvalues.

Every bound is that of the standard analysis of rounding, with some room: it holds in whatever order a sum is taken, and
with fused multiply-adds or without (N. Higham, Accuracy and stability of numerical algorithms, 2002, chapter 3).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray, middle

SLICES = 5  # of a number, in a product to twice the digits
LOW = 2**15  # less than minus this is no exponent of a float or of a product of three
BLOCK = 2**21  # numbers at a time
CACHED = 2**15  # numbers of a block that stay in the cache; blocks are as many as their pairs at most
UNDERFLOW = 1e-290  # more than underflow changes any sum here
WIDE = 100  # features: from here on a product of matrices for every pair costs much
SEVERAL = 8  # pairs a point: from here on products with points cost less
FAINT = 1e-2  # of the longest image: a feature whose own are shorter gets no finer unit


class Images(NamedTuple):
    """Rows (n, r), and how far from each the exact one may be: (n,)."""

    at: FloatArray
    error: FloatArray


class Points(NamedTuple):
    """Images of points, but for a shift, to twice the digits: high + low, and how far from it the exact one may be."""

    high: FloatArray  # (n, r)
    low: FloatArray  # (n, r)
    error: FloatArray  # (n,)

    def apart(self, i: Any, k: Any) -> Images:
        """Differences of the images of points i and k, indices of any shape."""
        z = (self.high[i] - self.high[k]) + (self.low[i] - self.low[k])
        own = self.error + 4 * EPS**2 * np.linalg.norm(self.high, axis=1)
        return Images(z, 2 * EPS * np.linalg.norm(z, axis=1) + own[i] + own[k])


class Distances(NamedTuple):
    """Squared distances, and what each may be off by."""

    D: FloatArray
    error: FloatArray


class Products(NamedTuple):
    """D_ik = length_i + length_k - 2 left_i right_k of every two points i, k, but for reach_i + reach_k."""

    left: FloatArray  # (n, r)
    right: FloatArray  # (n, r)
    length: FloatArray  # (n,)
    reach: FloatArray  # (n,)

    def below(self, i: Any, limit: FloatArray) -> tuple[Any, Any, FloatArray, FloatArray]:
        """Where D of the points i (m,) from any k may be less than limit (m,).

        Which of them, k, D, and what that may be off by: (t,) each.
        """
        half = self.left[i] @ self.right.T
        half *= -2.0
        half += self.length
        with np.errstate(invalid="ignore"):
            # more than the reach: the limit and these sums are rounded too
            far = half >= (limit - self.length[i] + 4 * self.reach[i])[:, None] + 4 * self.reach
        own, k = np.nonzero(~far)
        return own, k, half[own, k] + self.length[i][own], self.reach[i][own] + self.reach[k]


class Seen(NamedTuple):
    """Points as a metric A (d, d) sees them: the images under a root, root root^T being psd and as good as A."""

    root: FloatArray  # (d, m)
    unit: FloatArray  # (d,) powers of two
    miss: float  # |e^T (A - root root^T) e| <= miss |unit e|^2
    images: Images
    P: FloatArray  # (n, d) the points in these units, but for a shift

    def of(self, E: FloatArray) -> Distances:
        """e^T A e of exact differences of which E (t, d) are the floats."""
        z, error = images(E, self.root)
        D = np.sum(z**2, axis=1)
        beside = self.miss * np.sum((E * self.unit) ** 2, axis=1)
        return Distances(D, _squared(np.sqrt(D), error, self.root.shape[1]) + beside)

    def between(self, images: Points, i: Any, k: Any) -> Distances:
        """Of the points i and k (t,), by the images of all under the root to twice the digits."""
        z, error = images.apart(i, k)
        D = np.einsum("tm,tm->t", z, z)
        length = np.linalg.norm(self.P, axis=1) * (1 + (self.P.shape[1] + 4) * EPS)
        beside = self.miss * (length[i] + length[k]) ** 2 * (1 + 4 * EPS)
        return Distances(D, _squared(np.sqrt(D), error, z.shape[1]) + beside)

    def from_points(self, i: IntArray) -> Distances:
        """From the points i (m,) to all (m, n)."""
        z, error = self.images
        D = cdist(z[i], z, "sqeuclidean")  # from differences
        length = np.linalg.norm(self.P, axis=1)
        e = cdist(self.P[i], self.P) + EPS * (length[i, None] + length)
        return Distances(
            D, _squared(np.sqrt(D), error[i, None] + error, self.root.shape[1]) + self.miss * e**2
        )

    def reach(self) -> FloatArray:
        """(n,): |z_i|^2 + |z_k|^2 - 2 z_i z_k of images z is the distance of i and k but for reach_i + reach_k."""
        z, error = self.images
        a = np.linalg.norm(z, axis=1)
        k = float(error.max()) / max(float(a.max()), UNDERFLOW)  # 2 a_i off_k <= k a_i^2 + off_k^2 / k
        own = 2 * a * error + k * a**2 + error**2 / k + 2 * error**2
        beside = 2 * self.miss * np.sum(self.P**2, axis=1)
        reach: FloatArray = own + (z.shape[1] + 4) * EPS * a**2 + beside + UNDERFLOW
        return reach


def _squared(length: FloatArray, error: FloatArray, m: int) -> FloatArray:
    """What the squared length of a row of m numbers that is off by `error` may be off by."""
    moved: FloatArray = (2 * length + error) * error + (m + 4) * EPS * length**2 + UNDERFLOW
    return moved


def images(P: FloatArray, T: FloatArray) -> Images:
    """P T for exact rows of which P (n, d) are the floats, each entry within half an ulp; T (d, r) is exact."""
    error = (P.shape[1] + 2) * EPS * np.linalg.norm(np.abs(P) @ np.abs(T), axis=1) + UNDERFLOW
    return Images(P @ T, error)


def points(X: FloatArray, T: FloatArray) -> Points:
    """X T, for X (n, d) and T (d, r) exact as they are: where T is large and its columns cancel, no digit is lost.

    Both are cut into slices of so few bits that no sum of products of them is rounded, whatever its order is
    (K. Ozaki, T. Ogita, S. Oishi, S. Rump, Numerical Algorithms 59, 2012). Products of late slices are left out.
    """
    d = len(T)
    bits = (53 - math.ceil(math.log2(SLICES * max(d, 1)))) // 2
    P, p = two_sum(X, -middle(X))
    with np.errstate(over="ignore", invalid="ignore"):
        width = _exponent(P.T)  # of a feature; T is cut in the units that this makes
        row, left = _slices(P, -width[None, :], bits)
        column, right = _slices(T.T, width[None, :], bits)
        unit = row[:, None] + column
        high, low = np.zeros(unit.shape), p @ T
        for order in watched(range(SLICES)):
            factors = (np.hstack(left[: order + 1]), np.hstack(right[order::-1]))
            high, rest = two_sum(high, np.ldexp(factors[0] @ factors[1].T, unit - (order + 2) * bits))
            low += rest
        high, low = two_sum(high, low)
        largest = np.ldexp(float(d), unit)  # sums of products of entries are no larger
        error = (SLICES * 2.0 ** (-SLICES * bits) + (4 * SLICES**2 + d + 4) * EPS**2) * largest
        return Points(high, low, np.linalg.norm(error, axis=1) * (1 + 1e-6) + UNDERFLOW)


def _exponent(A: FloatArray) -> IntArray:
    """(m,): powers of two that are above the entries of the rows of A (m, d)."""
    exponents: IntArray = np.frexp(np.abs(A).max(axis=1, initial=0.0))[1].astype(np.intp)
    return exponents


def _slices(A: FloatArray, shift: IntArray, bits: int) -> tuple[IntArray, list[FloatArray]]:
    """The exponents of the rows of A 2^shift, and integers A_k: A 2^shift = 2^exponent sum_k A_k 2^(-k bits), nearly.

    What is left is less than half of the last unit. Rows are scaled such that no number is too large or small.
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
    """a + b, and what rounding took from it, exactly (D. Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def doubled(terms: FloatArray) -> FloatArray:
    """Sums along the last axis as if in twice the digits, but for their own rounding.

    One half is added to the other, and what rounding took from that is summed too. Of n terms there are log2 n rounds,
    in each of which it is at most eps / 2 of the sum of their sizes: its own sum is off by less than n eps / 2 of that.
    """
    high, low = terms, np.zeros(terms.shape[:-1])
    while (n := high.shape[-1]) > 1:
        both, lost = two_sum(high[..., : n // 2], high[..., n // 2 : n - n % 2])
        low = low + lost.sum(axis=-1)
        high = both if n % 2 == 0 else np.concatenate([both, high[..., -1:]], axis=-1)
    sums: FloatArray = high.sum(axis=-1) + low
    return sums


def seen(X: FloatArray, A: FloatArray) -> Seen:
    """X (n, d) as A (d, d) sees them, symmetric and psd but for rounding, which `miss` counts."""
    P, d = X - middle(X), X.shape[1]
    width = np.abs(P).max(axis=0)
    largest = math.sqrt(float(np.max(np.abs(A) * np.outer(width, width), initial=0.0)))
    length = np.maximum(np.sqrt(np.maximum(np.diag(A), 0)) * width, FAINT * largest)
    shows = (width > 0) & (length > 0)
    scale = 2.0 ** np.round(np.log2(np.where(shows, length, 1.0) / np.where(shows, width, 1.0)))
    unit = np.where(shows, scale, 0.0)
    scaled = np.where(np.outer(shows, shows), A / scale[:, None] / scale, 0.0)
    values, vectors = np.linalg.eigh(scaled)
    # What is no longer than rounding leaves goes; what is no number stays, for `JudgedMatrix.finite` to see.
    some = ~(values < d * EPS * max(values[-1], 0))
    root = vectors[:, some] * np.sqrt(values[some])
    miss = np.linalg.norm(scaled - root @ root.T)
    # An entry of that product is a sum of so many numbers as there are columns.
    miss += EPS * ((root.shape[1] + 4) * np.sum(root**2) + 4 * np.linalg.norm(scaled))
    whole = unit[:, None] * root
    return Seen(whole, unit, float(miss) * (1 + 1e-6), images(P, whole), P * unit)


def squares_of(rows: Images, w: FloatArray) -> tuple[FloatArray, float]:
    """sum_t w_t l_t l_t^T (r, r) over exact rows l_t, and what it may be off by, in norm.

    Also where every w_t is rounded a few times more. In blocks, so that errors grow as the root of the number of rows.
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
    """The same of differences of images over pairs (p, 2), some at a time."""
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
    """The same as sum_i z_i q_i^T, q_i = sum_j w_ij (z_i - z_j): products with points, of which there are fewer."""
    z, n = images.high, len(images.high)
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    both, length = np.concatenate([w, w]), np.linalg.norm(z, axis=1)
    own = images.error + 2 * EPS * length  # z is what twice the digits are rounded to
    W, absolute = (csr_array((values, (i, j)), shape=(n, n)) for values in (both, np.abs(both)))
    degree, size = np.bincount(i, both, n), np.bincount(i, np.abs(both), n)
    q = degree[:, None] * z - W @ z
    rounded = (np.bincount(i, minlength=n) + 16) * EPS * (size * length + absolute @ length)
    error = rounded + size * own + absolute @ own
    S, beside = z.T @ q, np.linalg.norm(q, axis=1)
    moved = length @ error + own @ (beside + error) + (n + 4) * EPS * (length @ beside) + UNDERFLOW
    return (S + S.T) / 2, float(moved) * (1 + 1e-6)


def least_eigenvalue(Z: FloatArray) -> float:
    """A number near the least eigenvalue of the symmetric Z (r, r), and proved to be no larger; -inf if there is none.

    A Cholesky decomposition of Z - s I that comes to its end proves that no eigenvalue of Z is below s, but for a
    multiple of r eps times the trace (S. Rump, Verification of positive definiteness, BIT 46, 2006).
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
