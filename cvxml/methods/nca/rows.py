"""p, w and the gradient of a metric for NCA, point by point, and how far rounding may have moved each; not by fast.py.

The metric judged is M M^T, psd of rank m at most whatever rounding did, with M (d, m) from the eigenvectors of Q, each
feature divided by a power of two near its spread. Distances are those of images of the points; `off` of a row is a
proved bound of how far each is from e^T Q e of the matrix given, e the exact difference of the points:
    rest |e|^2 + 2 sqrt(D) h + h^2 + (m + 12) eps D + 128 eps,
where rest is the norm of Q - M M^T, h what rounding leaves of an image, and the last two terms cover the squares and
the softmax's exponents and logarithms too. Points and M are split into numbers of so few bits that their products are
summed exactly in any order, and what is left of them: so h and the rounding of rest are far below eps of all.
From it: log sum_k e^-D_k moves by no more than log sum_k p_k e^off_k, and everything else by what that says of it.
Where all that are right for i are equally so, w - p is w times what p has on the others, and loses no digits.
Sums of n terms are allowed n eps of the sum of absolute values, in whatever order they were added.
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

TINY = 2.0**-1020  # no underflow is a fact: what is summed of n numbers may be off by n times this
FEW = 1000  # points of which all rows are kept: some 50 megabytes


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
    """What is true of point i at the metric, and by how much (`of_`) it may be something else."""

    D: FloatArray  # (n,) squared distances
    off: FloatArray
    log_p: FloatArray  # (n,)
    of_log_p: FloatArray
    log_w: FloatArray  # (n,)
    of_log_w: FloatArray
    log_p_i: float
    of_log_p_i: float
    c: float
    of_c: float
    log_wrong: float | None  # log of what p has where s_ik = 0, if all others have the same s_ik; else None
    of_log_wrong: float

    def own_weights(self) -> tuple[FloatArray, FloatArray]:
        """c_i (w_ik - p_ik), (n,), and how far these may be off: where one s_ik > 0 is as good as another, no more
        than a share of themselves, since w - p = w times what p has elsewhere.
        """
        w, p = np.exp(self.log_w), np.exp(self.log_p)
        if self.log_wrong is None:
            difference, off = w - p, growth(self.log_w, self.of_log_w) + growth(self.log_p, self.of_log_p)
        else:
            right = np.isfinite(self.log_w)
            logs = np.where(right, self.log_w + self.log_wrong, self.log_p)
            difference = np.where(right, 1.0, -1.0) * np.exp(logs)
            off = growth(logs, np.where(right, self.of_log_w + self.of_log_wrong, self.of_log_p))
        return self._times_c(difference, off)

    def weights(self, log_q: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """c_i (w_ik - q_ik) for rows that are any (None: p); they are what they are but for their sum, which is 1."""
        if log_q is None:
            return self.own_weights()
        q = np.exp(log_q)
        of_q = q * EPS * (2 * len(q) + 64 - 4 * np.where(q > 0, log_q, 0.0))
        return self._times_c(np.exp(self.log_w) - q, growth(self.log_w, self.of_log_w) + of_q)

    def _times_c(self, difference: FloatArray, off: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = np.abs(difference)
        return self.c * difference, (self.c + self.of_c) * (off + 4 * EPS * size) + self.of_c * size


def _split(A: FloatArray, bits: int) -> tuple[FloatArray, FloatArray]:
    """The first bits of each entry of A, counted from the largest of all, and the rest: their sum is A exactly."""
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
    """A matrix of the dual cone, or not (r, r), and how far rounding may have moved it, as a norm."""

    Z: FloatArray
    rounding: float


class FirstOrder(NamedTuple):
    """First order, with what rounding may have done already added to `gradient` and taken from `least`."""

    length: float  # |A|
    gradient: float  # |dF/dA|
    least: float  # eigenvalue of G = dF/dQ where a row of A is free, else 0
    slope: float  # dF(tA)/dt at t = 1
    turns: float  # the sum of the sizes of what the slope is the sum of, at |A| = 1 where |A| is less


class Metric:
    """A metric Q (d, d) of an instance: objective, and its gradient in coordinates of unit covariance."""

    def __init__(self, p: Instance, Q: FloatArray, at: Coordinates):
        self.p, self.Y = p, at.Y
        d = p.X.shape[1]
        E, lost = two_sum(p.X, -p.X[0])
        spread = np.abs(E).max(axis=0)
        # how far a difference of two rows of Y may be from that of the points, in exactly these coordinates
        self.noise = 4 * (d + 4) * EPS * float(np.linalg.norm(spread @ np.abs(at.to)))
        unit = np.where(spread > 0, 2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
        self.E = E / unit
        unit = np.where(spread > 0, unit, 0.0)  # what Q has in a constant feature is no distance
        S = unit[:, None] * Q * unit
        halved = 0.0 if np.array_equal(S, S.T) else EPS * float(np.linalg.norm(S))
        S = (S + S.T) / 2
        values, vectors = np.linalg.eigh(S)
        values[: max(0, d - p.m)] = 0
        # A smaller eigenvalue is rounding, and is counted as such: a row of A would have the root of it.
        used = values > d * EPS * values[-1]
        M = vectors[:, used] * np.sqrt(values[used])
        bits = (53 - d.bit_length()) // 2
        (E1, E2), (M1, M2) = _split(self.E, bits), _split(M, bits)
        E2 = E2 + lost / np.where(unit > 0, unit, 1.0)
        norm = np.linalg.norm
        self.images, self.fine = E1 @ M1, E1 @ M2 + E2 @ (M1 + M2)
        small = 2 * float(norm(M1) * norm(M2))
        S = S - M1 @ M1.T  # all but exact, and the rest far smaller
        self.rest = float(norm(S - (M1 @ M2.T + M2 @ (M1 + M2).T))) + (d + 4) * EPS * (small + float(norm(S)))
        self.rest += halved
        self.lengths = norm(self.E, axis=1)
        self.h = (d + 4) * EPS * (self.lengths * float(norm(M2)) + norm(E2, axis=1) * float(norm(M)))
        self.points = np.flatnonzero(p.usable)
        self._kept: dict[int, Point] = {}

    def distances(self, i: int) -> tuple[FloatArray, FloatArray]:
        """D_ik for all k, (n,), and how far each may be off."""
        D = np.sum(self.apart(i) ** 2, axis=1)
        apart = np.linalg.norm(self.E[i] - self.E, axis=1) + 4 * EPS * (self.lengths[i] + self.lengths)
        h = self.h[i] + self.h
        off = self.rest * apart**2 + (2 * np.sqrt(D) + h) * h
        return D, off + (self.images.shape[1] + 12) * EPS * D

    def apart(self, i: int) -> FloatArray:
        """The images of x_i - x_k, (n, m)."""
        found: FloatArray = (self.images[i] - self.images) + (self.fine[i] - self.fine)
        return found

    def point(self, i: int) -> Point:
        """Everything about point i; kept where there are few."""
        if i in self._kept:
            return self._kept[i]
        found = self._point(i)
        if len(self.Y) <= FEW:
            self._kept[i] = found
        return found

    def _point(self, i: int) -> Point:
        D, off = self.distances(i)
        off += 128 * EPS
        s = self.p.row(i)
        right = s > 0
        others = np.arange(len(D)) != i
        log_all, of_all = _log_sum(-D[others], off[others])
        log_p = np.where(others, -D - log_all, -np.inf)
        with np.errstate(divide="ignore"):
            mine = log_p + np.log(s)
        log_own, of_own = _log_sum(mine[right], off[right])
        log_w = mine - log_own
        log_p_i, of_log_p_i = log_own, of_all + of_own + 8 * EPS * abs(log_own)
        log_wrong, of_log_wrong = None, 0.0
        if s[right].min() == s[right].max():
            wrong = others & ~right
            log_wrong, of_wrong = _log_sum(log_p[wrong], off[wrong])
            of_log_wrong = of_wrong + of_all
            # p_i = s / (1 + x), x = wrong / right ones
            log_s = math.log(s[right][0])
            log_x, of_x = log_wrong - (log_own - log_s), of_wrong + of_own
            log_p_i = log_s - float(np.logaddexp(0.0, log_x))
            share = min(1.0, math.exp(min(log_x + of_x, 0.0)))
            of_log_p_i = share * of_x + 8 * EPS * (abs(log_s) + abs(log_p_i))
        c, of_c = 1.0, 0.0
        if self.p.criterion == "f":
            c, of_c = math.exp(log_p_i), float(growth(np.array(log_p_i), np.array(of_log_p_i))) + TINY
            of_c += 2 * EPS * c
        of_log_p, of_log_w = off + of_all, off + of_own
        return Point(
            D, off, log_p, of_log_p, log_w, of_log_w, log_p_i, of_log_p_i, c, of_c, log_wrong, of_log_wrong
        )

    @cached_property
    def value(self) -> tuple[float, float]:
        """-f or -g, and how far that may be off, and its bound."""
        terms, rounding = [], []
        for i in watched(self.points.tolist()):
            at = self.point(i)
            terms.append(at.c if self.p.criterion == "f" else at.log_p_i)
            rounding.append(at.of_c if self.p.criterion == "f" else at.of_log_p_i)
        total = -math.fsum(terms)
        bound = 0.0 if self.p.similarity is None else len(self.points) * EPS * abs(self.p.bound)
        return total, finite(sum(rounding) + EPS * abs(total) + bound + len(terms) * TINY)

    @property
    def objective(self) -> float:
        """-f or -g."""
        return self.value[0]

    @cached_property
    def G(self) -> Surplus:
        """dF/dQ, (r, r)."""
        return self._sum(None)

    def surplus(self, q: Softmax | None) -> Surplus:
        """Z = sum_i c_i (w_ij - q_ij) X_ij (r, r), q the metric's own p where None: then it is dF/dQ."""
        return self.G if q is None else self._sum(q)

    def _sum(self, q: Softmax | None) -> Surplus:
        Y = self.Y
        Z, off, size = np.zeros((Y.shape[1], Y.shape[1])), 0.0, 0.0
        for i in watched(self.points.tolist()):
            weights, of_weights = self.point(i).weights(None if q is None else q.row(i))
            D = Y[i] - Y
            long = np.linalg.norm(D, axis=1)
            Z += D.T @ (weights[:, None] * D)
            off += float(of_weights @ (long + self.noise) ** 2)
            off += float(np.abs(weights) @ (2 * long + self.noise)) * self.noise
            size += float(np.abs(weights) @ long**2)
        terms = len(Y) + len(self.points) + 16
        # what eigenvalues of Z are off by is counted too
        rounding = off + terms * EPS * size + 2 * len(Z) * EPS * float(np.linalg.norm(Z))
        return Surplus((Z + Z.T) / 2, finite(rounding))

    def first_order(self) -> FirstOrder:
        """dF/dA and dF/dQ; the second is not computed where it is not needed."""
        images, Y = self.images, self.Y
        total, off, size, slope, turns = np.zeros((images.shape[1], Y.shape[1])), 0.0, 0.0, [], 0.0
        for i in watched(self.points.tolist()):
            at = self.point(i)
            weights, of_weights = at.own_weights()
            left, D = self.apart(i), Y[i] - Y
            root = np.sqrt(at.D)
            long, h = np.linalg.norm(D, axis=1), self.h[i] + self.h + 2 * EPS * root
            total += left.T @ (weights[:, None] * D)
            off += float(of_weights @ ((root + h) * (long + self.noise)))
            off += float(np.abs(weights) @ (h * long + (root + h) * self.noise))
            size += float(np.abs(weights) @ (root * long))
            beyond = at.D - np.delete(at.D, i).min()
            beyond[i] = 0.0
            slope.append(2 * float(weights @ beyond))
            turns += 2 * float(np.abs(weights) @ beyond)
        rounding = 2 * (off + (len(Y) + len(self.points) + 16) * EPS * size)
        # in coordinates of unit covariance that of the images is A A^T
        around = images - images.mean(axis=0)
        rows = np.linalg.eigvalsh(around.T @ around / len(Y))
        length = math.sqrt(max(float(rows.sum()), 0.0))
        least = 0.0
        if np.count_nonzero(rows > INVISIBLE) < min(self.p.m, Y.shape[1]):
            least = float(np.linalg.eigvalsh(self.G.Z)[0]) - self.G.rounding
        turns /= min(length, 1.0) ** 2 if length > 0 else 1.0
        gradient = 2 * float(np.linalg.norm(total)) + finite(rounding)
        return FirstOrder(length, gradient, least, math.fsum(slope), turns)


def _log_sum(logs: FloatArray, off: FloatArray) -> tuple[float, float]:
    """log sum e^logs, and how far it is off where each of the logarithms may be off by so much; -inf of none."""
    if not logs.size:
        return -math.inf, 0.0
    top = float(logs.max())
    total = math.fsum(np.exp(logs - top).tolist())
    moved = float(growth(logs - top, off).sum()) / total
    return top + math.log(total), math.log1p(moved) + 16 * EPS


def finite(rounding: float) -> float:
    """A bound of rounding as a number that can be written: 1e300, which proves nothing, where it is none."""
    return rounding if rounding < 1e300 else 1e300
