"""p, w and the gradient of NCA at a metric, point by point, with bounds of their rounding errors. For the certificate.

The judged metric is M M^T, which is psd of rank at most m in spite of rounding. M (d, m) comes from the eigenvectors
of Q, after each feature was divided by a power of two near its spread. Distances are distances of images of the points.
`error` of a row bounds how far each distance is from e^T Q e, with e the exact difference of two points:

    rest |e|^2 + 2 sqrt(D) h + h^2 + (m + 12) eps D + 128 eps.

rest is the norm of Q - M M^T, and h the rounding error of an image. The last two terms also cover the squares, and the
exponentials and logarithms of the softmax. We split points and M into parts with so few bits that the products of the
leading parts are summed exactly in any order. So h and the rounding error of rest are far below eps times the sizes.

From the distances we bound the rest: the error of log sum_k e^-D_k is at most log sum_k p_k e^error_k. If all partners
of i have the same s_ij, then w - p = w times the probability of the other points, which loses no digits. A sum of n
terms is allowed an error of n eps times the sum of the absolute values, in any order. Nothing of descent.py is used.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.family.stationary.rank import INVISIBLE
from cvxml.methods.nca.instance import Instance
from cvxml.numbers.rounding import two_sum

UNDERFLOW = 2.0**-1020  # bounds the error of a number that underflows
MAX_POINTS_CACHED = 1000  # up to this many points, all rows are cached (about 50 MB)


class Softmax:
    """Rows of softmax(-<M, X_ik>) for a symmetric M, by differences of images of the points."""

    def __init__(self, Y: FloatArray, M: FloatArray):
        values, vectors = np.linalg.eigh(M)
        self.images = Y @ (vectors * np.sqrt(np.abs(values)))
        self.signs = np.sign(values)

    def distances(self, i: int) -> FloatArray:
        """<M, X_ik> for all k, (n,)."""
        found: FloatArray = (self.images[i] - self.images) ** 2 @ self.signs
        return found

    def row(self, i: int) -> FloatArray:
        """log q_ik, (n,); -inf at k = i."""
        exponents = -self.distances(i)
        exponents[i] = -np.inf
        exponents -= exponents.max()
        logs: FloatArray = exponents - np.log(np.exp(exponents).sum())
        return logs


class Point(NamedTuple):
    """The quantities of point i at the metric; a field `of_x` bounds the error of the field x."""

    D: FloatArray  # (n,) squared distances
    error: FloatArray  # a bound of the errors of D
    log_p: FloatArray  # (n,)
    of_log_p: FloatArray
    log_w: FloatArray  # (n,)
    of_log_w: FloatArray
    log_p_i: float
    of_log_p_i: float
    c: float
    of_c: float
    log_wrong: float | None  # log of the sum of p_ik over s_ik = 0, if all positive s_ik are equal; else None
    of_log_wrong: float

    def own_weights(self) -> tuple[FloatArray, FloatArray]:
        """Return c_i (w_ik - p_ik), (n,), and bounds of their errors.

        If all positive s_ik are equal, w - p = w times the sum of p over s_ik = 0, so the relative error is small.
        """
        w, p = np.exp(self.log_w), np.exp(self.log_p)
        if self.log_wrong is None:
            difference, error = w - p, growth(self.log_w, self.of_log_w) + growth(self.log_p, self.of_log_p)
        else:
            right = np.isfinite(self.log_w)
            logs = np.where(right, self.log_w + self.log_wrong, self.log_p)
            difference = np.where(right, 1.0, -1.0) * np.exp(logs)
            error = growth(logs, np.where(right, self.of_log_w + self.of_log_wrong, self.of_log_p))
        return self._times_c(difference, error)

    def weights(self, log_q: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return c_i (w_ik - q_ik) and bounds of their errors, for any q (None: p).

        The sum of q may differ from 1 by rounding.
        """
        if log_q is None:
            return self.own_weights()
        q = np.exp(log_q)
        of_q = q * EPS * (2 * len(q) + 64 - 4 * np.where(q > 0, log_q, 0.0))
        return self._times_c(np.exp(self.log_w) - q, growth(self.log_w, self.of_log_w) + of_q)

    def _times_c(self, difference: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = np.abs(difference)
        return self.c * difference, (self.c + self.of_c) * (error + 4 * EPS * size) + self.of_c * size


def _split(A: FloatArray, bits: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading bits of each entry of A, relative to the largest entry, and the rest; their sum is A."""
    largest = float(np.abs(A).max(initial=0.0))
    if largest == 0:
        return A, A
    unit = 2.0 ** (math.frexp(largest)[1] - bits)
    first: FloatArray = np.round(A / unit) * unit
    return first, A - first


def growth(logs: FloatArray, by: FloatArray) -> FloatArray:
    """e^(logs + by) - e^logs for by >= 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        small = np.exp(logs) * np.expm1(np.minimum(by, 1.0))
        found: FloatArray = np.where(by <= 1.0, small, np.exp(logs + by))
    return found


class Surplus(NamedTuple):
    """The matrix that must be psd for a dual feasible point."""

    Z: FloatArray  # (r, r)
    rounding: float  # a bound of the error of Z, as a norm


class FirstOrder(NamedTuple):
    """First derivatives; bounds of rounding errors are added to `gradient` and subtracted from `least`."""

    length: float  # |A|
    gradient: float  # |dF/dA|
    least: float  # the smallest eigenvalue of G = dF/dQ if a row of A is unused, else 0
    slope: float  # dF(tA)/dt at t = 1
    turns: float  # the sum of the absolute values of the terms of the slope, at |A| = 1 if |A| is less


class Metric:
    """A metric Q (d, d) of an instance: objective, and its gradient in coordinates of unit covariance."""

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
        self._kept: dict[int, Point] = {}

    def distances(self, i: int) -> tuple[FloatArray, FloatArray]:
        """Return D_ik for all k, (n,), and bounds of their errors."""
        D = np.sum(self.apart(i) ** 2, axis=1)
        apart = np.linalg.norm(self.E[i] - self.E, axis=1) + 4 * EPS * (self.lengths[i] + self.lengths)
        h = self.h[i] + self.h
        error = self.rest * apart**2 + (2 * np.sqrt(D) + h) * h
        return D, error + (self.images.shape[1] + 12) * EPS * D

    def apart(self, i: int) -> FloatArray:
        """The images of x_i - x_k, (n, m)."""
        found: FloatArray = (self.images[i] - self.images) + (self.fine[i] - self.fine)
        return found

    def point(self, i: int) -> Point:
        """Return the quantities of point i; cached if there are few points."""
        if i in self._kept:
            return self._kept[i]
        found = self._point(i)
        if len(self.Y) <= MAX_POINTS_CACHED:
            self._kept[i] = found
        return found

    def _point(self, i: int) -> Point:
        D, error = self.distances(i)
        error += 128 * EPS
        s = self.p.row(i)
        right = s > 0
        others = np.arange(len(D)) != i
        log_all, of_all = _log_sum(-D[others], error[others])
        log_p = np.where(others, -D - log_all, -np.inf)
        with np.errstate(divide="ignore"):
            mine = log_p + np.log(s)
        log_own, of_own = _log_sum(mine[right], error[right])
        log_w = mine - log_own
        log_p_i, of_log_p_i = log_own, of_all + of_own + 8 * EPS * abs(log_own)
        log_wrong, of_log_wrong = None, 0.0
        if s[right].min() == s[right].max():
            wrong = others & ~right
            log_wrong, of_wrong = _log_sum(log_p[wrong], error[wrong])
            of_log_wrong = of_wrong + of_all
            # p_i = s / (1 + x), x = sum of p over s_ik = 0 / sum of p over partners
            log_s = math.log(s[right][0])
            log_x, of_x = log_wrong - (log_own - log_s), of_wrong + of_own
            log_p_i = log_s - float(np.logaddexp(0.0, log_x))
            share = min(1.0, math.exp(min(log_x + of_x, 0.0)))
            of_log_p_i = share * of_x + 8 * EPS * (abs(log_s) + abs(log_p_i))
        c, of_c = 1.0, 0.0
        if self.p.criterion == "f":
            c, of_c = math.exp(log_p_i), float(growth(np.array(log_p_i), np.array(of_log_p_i))) + UNDERFLOW
            of_c += 2 * EPS * c
        of_log_p, of_log_w = error + of_all, error + of_own
        return Point(
            D, error, log_p, of_log_p, log_w, of_log_w, log_p_i, of_log_p_i, c, of_c, log_wrong, of_log_wrong
        )

    @cached_property
    def value(self) -> tuple[float, float]:
        """-f or -g, and a bound of its error and of the error of the trivial bound."""
        terms, rounding = [], []
        for i in watched(self.points.tolist()):
            at = self.point(i)
            terms.append(at.c if self.p.criterion == "f" else at.log_p_i)
            rounding.append(at.of_c if self.p.criterion == "f" else at.of_log_p_i)
        total = -math.fsum(terms)
        bound = 0.0 if self.p.similarity is None else len(self.points) * EPS * abs(self.p.bound)
        return total, finite(sum(rounding) + EPS * abs(total) + bound + len(terms) * UNDERFLOW)

    @property
    def objective(self) -> float:
        """-f or -g."""
        return self.value[0]

    @cached_property
    def G(self) -> Surplus:
        """dF/dQ, (r, r)."""
        return self._sum(None)

    def surplus(self, q: Softmax | None) -> Surplus:
        """Return Z = sum_i c_i (w_ij - q_ij) X_ij (r, r). q None: q = p, for which Z is dF/dQ."""
        return self.G if q is None else self._sum(q)

    def _sum(self, q: Softmax | None) -> Surplus:
        Y = self.Y
        Z, error, size = np.zeros((Y.shape[1], Y.shape[1])), 0.0, 0.0
        for i in watched(self.points.tolist()):
            weights, of_weights = self.point(i).weights(None if q is None else q.row(i))
            D = Y[i] - Y
            long = np.linalg.norm(D, axis=1)
            Z += D.T @ (weights[:, None] * D)
            error += float(of_weights @ (long + self.noise) ** 2)
            error += float(np.abs(weights) @ (2 * long + self.noise)) * self.noise
            size += float(np.abs(weights) @ long**2)
        terms = len(Y) + len(self.points) + 16
        # includes the error of the eigenvalues of Z
        rounding = error + terms * EPS * size + 2 * len(Z) * EPS * float(np.linalg.norm(Z))
        return Surplus((Z + Z.T) / 2, finite(rounding))

    def first_order(self) -> FirstOrder:
        """Return the first derivatives; dF/dQ is computed only if a row of A is unused."""
        images, Y = self.images, self.Y
        total, error, size, slope, turns = np.zeros((images.shape[1], Y.shape[1])), 0.0, 0.0, [], 0.0
        for i in watched(self.points.tolist()):
            at = self.point(i)
            weights, of_weights = at.own_weights()
            left, D = self.apart(i), Y[i] - Y
            root = np.sqrt(at.D)
            long, h = np.linalg.norm(D, axis=1), self.h[i] + self.h + 2 * EPS * root
            total += left.T @ (weights[:, None] * D)
            error += float(of_weights @ ((root + h) * (long + self.noise)))
            error += float(np.abs(weights) @ (h * long + (root + h) * self.noise))
            size += float(np.abs(weights) @ (root * long))
            beyond = at.D - np.delete(at.D, i).min()
            beyond[i] = 0.0
            slope.append(2 * float(weights @ beyond))
            turns += 2 * float(np.abs(weights) @ beyond)
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
        return FirstOrder(length, gradient, least, math.fsum(slope), turns)


def _log_sum(logs: FloatArray, error: FloatArray) -> tuple[float, float]:
    """Return log sum e^logs and a bound of its error, if each logarithm has an error up to `error`; -inf if empty."""
    if not logs.size:
        return -math.inf, 0.0
    top = float(logs.max())
    total = math.fsum(np.exp(logs - top).tolist())
    moved = float(growth(logs - top, error).sum()) / total
    return top + math.log(total), math.log1p(moved) + 16 * EPS


def finite(rounding: float) -> float:
    """Return a bound of rounding that can be saved: 1e300, too large for any certificate, in place of inf or NaN."""
    return rounding if rounding < 1e300 else 1e300
