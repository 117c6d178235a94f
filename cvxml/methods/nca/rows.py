"""The probabilities of NCA and the gradient at a metric, for blocks of points, with bounds of their errors.

certify.py uses them. p_ij is the softmax of -D_ij over j != i, for squared distances D_ij. With the similarity s_ij,
p_i = sum_j s_ij p_ij and w_ij = s_ij p_ij / p_i. c_i is p_i for the criterion f and 1 for g. The partners of i are the
j with s_ij > 0; a point is usable if it has a partner.

Distances. The judged metric is M M^T, which is psd of rank at most m in spite of rounding. M (d, m) comes from the
eigenvectors of Q, after each feature was divided by a power of two near its spread. Distances are computed from images
M^T x. `Points.error` bounds how far each squared distance D is from e^T Q e, with e the exact difference of two points:

    rest |e|^2 + 2 sqrt(D) h + h^2 + (m + 12) eps D + 128 eps.

rest is the norm of Q - M M^T, and h the rounding error of a difference of two images. The last two terms cover the
rounding of the squares in D, and of the exponentials and logarithms of the softmax. We split points and M into parts
with so few bits that the products of the leading parts are summed exactly in any order. So h and the rounding error of
rest are far below eps times the sizes.

Everything else. The error of log sum_k e^-D_k is at most log sum_k p_k e^error_k. If all partners of i have the same
s_ij, then w_ij - p_ij for a partner j is w_ij times the sum of p_ik over the k that are not partners. This product
loses no digits. A sum of n terms is allowed an error of n eps times the sum of the absolute values, in any order. This
file uses no function of descent.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.family.stationary.rank import INVISIBLE
from cvxml.methods.nca.instance import Instance
from cvxml.numbers.rounding import two_sum

UNDERFLOW = 2.0**-1020  # bounds the error of a number that underflows
MAX_POINTS_CACHED = 1000  # up to this many points, all rows are cached (about 100 MB)
BLOCK = 1 << 17  # numbers in an array of a block: a megabyte


class Softmax:
    """The rows q_i = softmax(-<M, X_ik>) over k != i, X_ik = (y_i - y_k)(y_i - y_k)^T, for a symmetric M (r, r).

    y_i: the rows of Y (n, r), the points. M need not be psd.
    """

    def __init__(self, Y: FloatArray, M: FloatArray):
        values, vectors = np.linalg.eigh(M)
        self.images = Y @ (vectors * np.sqrt(np.abs(values)))
        self.signs = np.sign(values)

    def rows(self, points: IntArray) -> FloatArray:
        """log q_ik (b, n) for b points i; -inf at k = i."""
        return np.array([self.row(i) for i in points.tolist()])

    def row(self, i: int) -> FloatArray:
        """log q_ik (n,) for one point i; -inf at k = i."""
        exponents = -((self.images[i] - self.images) ** 2 @ self.signs)  # -<M, X_ik>
        exponents[i] = -np.inf
        exponents -= exponents.max()
        logs: FloatArray = exponents - np.log(np.exp(exponents).sum())
        return logs


class Points:
    """The probabilities of b points i at the metric, each with bounds of its error.

    Here p_k, w_k, s_k and D_k stand for p_ik, w_ik, s_ik and D_ik. rows (b,): the points. D, of_D (b, n): squared
    distances to all points, and bounds of their errors. s (b, n): the similarities. error (b, n): bounds that also
    cover the exponentials and logarithms. A name with `of_` is a bound of the error: `of_log_w` is that of `log_w`.
    """

    def __init__(self, rows: IntArray, D: FloatArray, of_D: FloatArray, s: FloatArray, criterion: str):
        self.rows, self.D, self.of_D, self.error, self.s = rows, D, of_D, of_D + 128 * EPS, s
        self.criterion = criterion
        self.right = s > 0
        self.others = np.ones(D.shape, dtype=bool)
        self.others[np.arange(len(rows)), rows] = False
        self.largest: FloatArray = s.max(axis=1)
        # True for a point with all positive s_ik equal
        self.equal = np.where(self.right, s, np.inf).min(axis=1) == self.largest

    @cached_property
    def all(self) -> tuple[FloatArray, FloatArray]:
        """log sum_k e^-D_k (b,) over the other points k, and bounds of the errors."""
        return _log_sum(np.where(self.others, -self.D, -np.inf), self.error)

    @cached_property
    def log_p(self) -> FloatArray:
        """log p_k (b, n); -inf for the point itself."""
        logs: FloatArray = np.where(self.others, -self.D - self.all[0][:, None], -np.inf)
        return logs

    @cached_property
    def of_log_p(self) -> FloatArray:
        of: FloatArray = self.error + self.all[1][:, None]
        return of

    @cached_property
    def own(self) -> tuple[FloatArray, FloatArray]:
        """log sum_k s_k p_k = log p_i (b,), and bounds of its errors.

        The bounds leave out the errors of `all` (log sum_k e^-D_k).
        """
        return _log_sum(self._mine, self.error)

    @cached_property
    def _mine(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            mine: FloatArray = self.log_p + np.log(self.s)
        return mine

    @cached_property
    def log_w(self) -> FloatArray:
        """log w_k (b, n); -inf where s is 0."""
        logs: FloatArray = self._mine - self.own[0][:, None]
        return logs

    @cached_property
    def of_log_w(self) -> FloatArray:
        of: FloatArray = self.error + self.own[1][:, None]
        return of

    @cached_property
    def wrong(self) -> tuple[FloatArray, FloatArray]:
        """The log of the sum of p_k over the k with s_k = 0 (b,), and bounds of its errors.

        The bounds leave out the errors of `all` (log sum_k e^-D_k).
        """
        return _log_sum(np.where(self.right, -np.inf, self.log_p), self.error)

    @cached_property
    def log_p_i(self) -> tuple[FloatArray, FloatArray]:
        """log p_i (b,), and bounds of the errors.

        If all positive s_k are equal to s, p_i = s / (1 + x). Here x is the sum of p_k over the k with s_k = 0, divided
        by the sum over the partners.
        """
        log_own, of_own = self.own
        of = self.all[1] + of_own + 8 * EPS * np.abs(log_own)
        if not self.equal.any():
            return log_own, of
        log_wrong, of_wrong = self.wrong
        log_s = np.log(self.largest)
        log_x, of_x = log_wrong - (log_own - log_s), of_wrong + of_own
        found = log_s - np.logaddexp(0.0, log_x)
        share = np.exp(np.minimum(log_x + of_x, 0.0))
        of_found = share * of_x + 8 * EPS * (np.abs(log_s) + np.abs(found))
        return np.where(self.equal, found, log_own), np.where(self.equal, of_found, of)

    @cached_property
    def c(self) -> tuple[FloatArray, FloatArray]:
        """c_i: p_i for the criterion f and 1 for g (b,), and bounds of the errors."""
        logs, of = self.log_p_i
        if self.criterion == "g":
            return np.ones(len(logs)), np.zeros(len(logs))
        c = np.exp(logs)
        return c, growth(logs, of) + UNDERFLOW + 2 * EPS * c

    @property
    def terms(self) -> tuple[FloatArray, FloatArray]:
        """The terms of the criterion: p_i for f and log p_i for g (b,), and bounds of the errors."""
        return self.c if self.criterion == "f" else self.log_p_i

    @cached_property
    def own_weights(self) -> tuple[FloatArray, FloatArray]:
        """c_i (w_k - p_k) (b, n), and bounds of their errors.

        If all positive s_k are equal, w_k - p_k for a partner k is w_k times the sum of p over the points that are not
        partners. Its relative error is small.
        """
        if self.equal.all():
            return self._times_c(*self._products())
        difference = np.exp(self.log_w) - np.exp(self.log_p)
        error = growth(self.log_w, self.of_log_w) + growth(self.log_p, self.of_log_p)
        if self.equal.any():
            products, of = self._products()
            difference = np.where(self.equal[:, None], products, difference)
            error = np.where(self.equal[:, None], of, error)
        return self._times_c(difference, error)

    def _products(self) -> tuple[FloatArray, FloatArray]:
        """w_k - p_k (b, n) and bounds of the errors, for points with all positive s_k equal."""
        log_wrong, of_wrong = self.wrong
        of_wrong = of_wrong + self.all[1]
        logs = np.where(self.right, self.log_w + log_wrong[:, None], self.log_p)
        of = np.where(self.right, self.of_log_w + of_wrong[:, None], self.of_log_p)
        return np.where(self.right, 1.0, -1.0) * np.exp(logs), growth(logs, of)

    def weights(self, log_q: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return c_i (w_k - q_k) (b, n) and bounds of their errors, for any rows q; None stands for q = p.

        log_q (b, n): the logarithms of the rows. The sum of a row of q may differ from 1 by rounding.
        """
        if log_q is None:
            return self.own_weights
        q = np.exp(log_q)
        of_q = q * EPS * (2 * q.shape[-1] + 64 - 4 * np.where(q > 0, log_q, 0.0))
        return self._times_c(np.exp(self.log_w) - q, growth(self.log_w, self.of_log_w) + of_q)

    def _times_c(self, difference: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
        (c, of_c), size = (each[:, None] for each in self.c), np.abs(difference)
        return c * difference, (c + of_c) * (error + 4 * EPS * size) + of_c * size


def _split(A: FloatArray, bits: int) -> tuple[FloatArray, FloatArray]:
    """Return A as a sum of two: the leading `bits` of each entry, counted from the largest entry of A, and the rest."""
    largest = float(np.abs(A).max(initial=0.0))
    if largest == 0:
        return A, A
    unit = 2.0 ** (math.frexp(largest)[1] - bits)
    first: FloatArray = np.round(A / unit) * unit
    return first, A - first


def growth(logs: FloatArray, by: FloatArray) -> FloatArray:
    """Bound the error of e^logs for errors up to by >= 0 of logs: e^(logs + by) - e^logs; for by > 1, e^(logs + by)."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: FloatArray = np.exp(logs) * np.expm1(np.minimum(by, 1.0))
        if not (by <= 1.0).all():
            found = np.where(by <= 1.0, found, np.exp(logs + by))
    return found


class Surplus(NamedTuple):
    """The matrix Z = sum_ij c_i (w_ij - q_ij) X_ij (r, r), for rows q_i of the simplex.

    It must be psd for the bound of the convex step that certify.py computes from q. X_ij = (x_i - x_j)(x_i - x_j)^T.
    rounding: a bound of the error of Z, in norm. For q = p, Z is dF/dQ.
    """

    Z: FloatArray  # (r, r)
    rounding: float  # a bound of the error of Z, as a norm


class FirstOrder(NamedTuple):
    """First derivatives of F = -f or -g at a metric Q = A^T A, in coordinates where the points have unit covariance.

    value: F and a bound of its error. length: |A|. gradient: |dF/dA|, with its rounding error added.

    least: the smallest eigenvalue of dF/dQ minus its rounding error, if a row of A is unused, so that the rank of A can
    grow; else 0. slope: dF(tA)/dt at t = 1.

    turns: the sum of the absolute values of the terms of the slope. If 0 < |A| < 1, this sum is divided by |A|^2, which
    makes the distances as large as for |A| = 1.
    """

    value: tuple[float, float]  # `Metric.value`
    length: float  # |A|
    gradient: float  # |dF/dA|
    least: float  # the smallest eigenvalue of G = dF/dQ if a row of A is unused, else 0
    slope: float  # dF(tA)/dt at t = 1
    turns: float  # the sum of the absolute values of the terms of the slope, at |A| = 1 if |A| is less


class Metric:
    """A metric Q (d, d) of an instance: F = -f or -g, and its gradient, with bounds of their errors.

    `at`: the coordinates of the points with unit covariance (family/geometry/coordinates.py). The gradient is in these.
    """

    def __init__(self, p: Instance, Q: FloatArray, at: Coordinates):
        self.p, self.Y = p, at.Y
        d = p.X.shape[1]
        # E: the points minus the first one; each feature is divided by a power of two near its spread
        E, lost = two_sum(p.X, -p.X[0])
        spread = np.abs(E).max(axis=0)
        # a bound of the error of a difference of two rows of Y
        self.noise = 4 * (d + 4) * EPS * float(np.linalg.norm(spread @ np.abs(at.to)))
        unit = np.where(spread > 0, 2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
        self.E = E / unit
        unit = np.where(spread > 0, unit, 0.0)  # entries of Q in a constant feature do not change distances
        # S: Q in these units; M: its root, without eigenvalues beyond rank m or below rounding
        S = unit[:, None] * Q * unit
        halved = 0.0 if np.array_equal(S, S.T) else EPS * float(np.linalg.norm(S))
        S = (S + S.T) / 2
        values, vectors = np.linalg.eigh(S)
        values[: max(0, d - p.m)] = 0
        # a smaller eigenvalue counts as rounding; keeping it would add a row of the size of its root to A
        used = values > d * EPS * values[-1]
        M = vectors[:, used] * np.sqrt(values[used])
        # the images E M: `images` is exact, `fine` is the small remainder, rounded
        bits = (53 - d.bit_length()) // 2
        (E1, E2), (M1, M2) = _split(self.E, bits), _split(M, bits)
        E2 = E2 + lost / np.where(unit > 0, unit, 1.0)
        norm = np.linalg.norm
        self.images, self.fine = E1 @ M1, E1 @ M2 + E2 @ (M1 + M2)
        small = 2 * float(norm(M1) * norm(M2))
        S = S - M1 @ M1.T  # nearly exact; the remaining terms are far smaller
        self.rest = float(norm(S - (M1 @ M2.T + M2 @ (M1 + M2).T))) + (d + 4) * EPS * (small + float(norm(S)))
        self.rest += halved
        self.lengths = norm(self.E, axis=1)
        self.h = (d + 4) * EPS * (self.lengths * float(norm(M2)) + norm(E2, axis=1) * float(norm(M)))
        self.points = np.flatnonzero(p.usable)

    def distances(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return D_ik for the points i of `rows` and all k, (b, n), and bounds of their errors."""
        D = np.zeros((len(rows), len(self.E)))
        for image, fine in zip(self.images.T, self.fine.T, strict=True):
            D += ((image[rows, None] - image) + (fine[rows, None] - fine)) ** 2
        # |e|^2 by products; its rounding error is far below eps times the sizes
        both = self.lengths[rows, None] + self.lengths
        apart = self.lengths[rows, None] ** 2 + self.lengths**2 - 2 * (self.E[rows] @ self.E.T)
        apart = np.maximum(apart, 0.0) + 4 * (self.E.shape[1] + 8) * EPS * both**2
        h = self.h[rows, None] + self.h
        error = self.rest * apart + (2 * np.sqrt(D) + h) * h
        return D, error + (self.images.shape[1] + 12) * EPS * D

    def blocks(self) -> Iterable[Points]:
        """The probabilities of all usable points, some points at a time; cached if there are few points."""
        return watched(self._cached) if len(self.Y) <= MAX_POINTS_CACHED else self._each_block()

    @cached_property
    def _cached(self) -> list[Points]:
        return list(self._each_block())

    def _each_block(self) -> Iterator[Points]:
        size = max(1, BLOCK // len(self.Y))
        for first in watched(range(0, len(self.points), size)):
            rows = self.points[first : first + size]
            s = np.array([self.p.row(i) for i in rows.tolist()])
            yield Points(rows, *self.distances(rows), s, self.p.criterion)

    @cached_property
    def value(self) -> tuple[float, float]:
        """F = -f or -g, and a bound of its error, which also covers the rounding of F minus `Instance.bound`."""
        return self._total([at.terms for at in self.blocks()])

    def _total(self, parts: list[tuple[FloatArray, FloatArray]]) -> tuple[float, float]:
        terms, rounding = (np.concatenate(each).tolist() for each in zip(*parts, strict=True))
        total = -math.fsum(terms)
        bound = 0.0 if self.p.similarity is None else len(self.points) * EPS * abs(self.p.bound)
        return total, finite(sum(rounding) + EPS * abs(total) + bound + len(terms) * UNDERFLOW)

    @cached_property
    def G(self) -> Surplus:
        """dF/dQ (r, r) in coordinates of unit covariance, with a bound of its error."""
        return self._sum(None)

    def surplus(self, q: Softmax | None) -> Surplus:
        """Return Z = sum_i c_i (w_ij - q_ij) X_ij (r, r) for the rows q, with a bound of its error.

        q None stands for q = p: then Z is dF/dQ.
        """
        return self.G if q is None else self._sum(q)

    def _sum(self, q: Softmax | None) -> Surplus:
        Y = self.Y
        Z, error, size = np.zeros((Y.shape[1], Y.shape[1])), 0.0, 0.0
        for block in self.blocks():
            logs = None if q is None else q.rows(block.rows)
            for i, weights, of_weights in zip(block.rows.tolist(), *block.weights(logs), strict=True):
                D = Y[i] - Y
                long = np.sqrt(np.einsum("nr,nr->n", D, D))
                Z += D.T @ (weights[:, None] * D)
                error += float(of_weights @ (long + self.noise) ** 2)
                error += float(np.abs(weights) @ (2 * long + self.noise)) * self.noise
                size += float(np.abs(weights) @ long**2)
        terms = len(Y) + len(self.points) + 16
        # includes the error of the eigenvalues of Z
        rounding = error + terms * EPS * size + 2 * len(Z) * EPS * float(np.linalg.norm(Z))
        return Surplus((Z + Z.T) / 2, finite(rounding))

    @cached_property
    def first_order(self) -> FirstOrder:
        """F and its first derivatives. dF/dQ is computed only if a row of A is unused, so that its rank can grow."""
        images, Y = self.images, self.Y
        total, error, size = np.zeros((images.shape[1], Y.shape[1])), 0.0, 0.0
        slope, turns, parts = list[float](), 0.0, list[tuple[FloatArray, FloatArray]]()
        for block in self.blocks():
            parts.append(block.terms)
            weights, of_weights = block.own_weights
            root, sizes = np.sqrt(block.D), np.abs(weights)
            long = np.empty(root.shape)
            for k, i in enumerate(block.rows.tolist()):
                D, left = Y[i] - Y, (images[i] - images) + (self.fine[i] - self.fine)
                long[k] = np.sqrt(np.einsum("nr,nr->n", D, D))
                total += (weights[k][:, None] * left).T @ D
            h = self.h[block.rows, None] + self.h + 2 * EPS * root
            error += float(np.sum(of_weights * ((root + h) * (long + self.noise))))
            error += float(np.sum(sizes * (h * long + (root + h) * self.noise)))
            size += float(np.sum(sizes * root * long))
            beyond = block.D - np.where(block.others, block.D, np.inf).min(axis=1)[:, None]
            beyond[~block.others] = 0.0
            slope += (2 * np.sum(weights * beyond, axis=1)).tolist()
            turns += 2 * float(np.sum(sizes * beyond))
        rounding = 2 * (error + (len(Y) + len(self.points) + 16) * EPS * size)
        # in coordinates of unit covariance the covariance of the images is A A^T
        around = images - images.mean(axis=0)
        rows = np.linalg.eigvalsh(around.T @ around / len(Y))
        length = math.sqrt(max(float(rows.sum()), 0.0))
        least = 0.0
        if np.count_nonzero(rows > INVISIBLE) < min(self.p.m, Y.shape[1]):
            least = float(np.linalg.eigvalsh(self.G.Z)[0]) - self.G.rounding
        turns /= min(length, 1.0) ** 2 if length > 0 else 1.0
        gradient = 2 * float(np.linalg.norm(total)) + finite(rounding)
        return FirstOrder(self._total(parts), length, gradient, least, math.fsum(slope), turns)


def _log_sum(logs: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log sum_k e^logs (b,), and bounds of the errors. error (b, n): bounds of the errors of logs (b, n).

    An entry -inf adds 0 to the sum. `_by_halves` rounds each term only about log2 n times; 16 eps cover this.
    """
    top = logs.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)[:, None]
    logs = logs - top
    counts = np.exp(logs)
    by = np.where(np.isfinite(logs), error, 0.0)
    # e^x - 1 <= x + x^2 up to 1
    moved = counts * (by + by * by) if by.max() <= 1 else growth(logs, by)
    total = _by_halves(counts)
    some = total > 0
    share = np.divide(moved.sum(axis=1), total, out=np.zeros(len(total)), where=some)
    with np.errstate(divide="ignore"):
        return top[:, 0] + np.log(total), np.where(some, np.log1p(share) + 16 * EPS, 0.0)


def _by_halves(terms: FloatArray) -> FloatArray:
    """The sums (b,) of the rows of terms (b, n): in each round one half is added to the other half."""
    while (n := terms.shape[1]) > 1:
        half = n // 2
        rest = terms[:, 2 * half :]
        terms = terms[:, :half] + terms[:, half : 2 * half]
        if n % 2:
            terms[:, :1] += rest
    return terms[:, 0] if terms.shape[1] else np.zeros(len(terms))


def finite(rounding: float) -> float:
    """Return `rounding` as a finite number, so that it can be saved: 1e300 in place of a larger number, inf or NaN."""
    return rounding if rounding < 1e300 else 1e300
