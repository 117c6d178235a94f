"""p, w and the gradient of a metric for NCA, point by point, and how far rounding may have moved each; not by fast.py.

The metric judged is M M^T, psd of rank m at most whatever rounding did, with M (d, m) from the eigenvectors of Q, each
feature divided by a power of two near its spread. Distances are those of images of the points; `off` of a row is a
proved bound of how far each is from e^T Q e of the matrix given, e the exact difference of the points:
    rest |e|^2 + 2 sqrt(D) h + h^2 + (m + 8) eps D + 64 eps,      h = (d + 4) eps (|x_i| + |x_k|) |M|,
where rest is the norm of Q - M M^T and of its rounding; the last two terms cover the softmax's own exponents and logs.
From it: log sum_k e^-D_k moves by no more than log sum_k p_k e^off_k, and everything else by what that says of it.
Sums of n terms are allowed n eps of the sum of absolute values, in whatever order they were added.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import Coordinates
from cvxml.methods.nca.instance import Instance
from cvxml.metric import FloatArray

EPS = float(np.finfo(float).eps)
TINY = 2.0**-1020  # no underflow is a fact: what is summed of n numbers may be off by n times this
INVISIBLE = 1e-6  # a row of A of that squared length moves no distance by more: it is as good as free


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
        return log_softmax(self.distances(i), i)


def log_softmax(distances: FloatArray, i: int) -> FloatArray:
    """Row i of log softmax(-distances); -inf for i itself."""
    exponents = -distances
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

    def weights(self, log_q: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """c_i (w_ik - q_ik), q = p where None, and how far these may be off. q is what it is but for its sum."""
        w, of_w = np.exp(self.log_w), growth(self.log_w, self.of_log_w)
        if log_q is None:
            q, of_q = np.exp(self.log_p), growth(self.log_p, self.of_log_p)
        else:
            q = np.exp(log_q)
            of_q = q * EPS * (2 * len(q) + 64 - 4 * np.where(q > 0, log_q, 0.0))
        off = (self.c + self.of_c) * (of_w + of_q) + self.of_c * np.abs(w - q)
        return self.c * (w - q), off + EPS * self.c * (w + q)


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
    """A metric Q (d, d) of an instance: objective, and its gradient in the coordinates of `coordinates.py`."""

    def __init__(self, p: Instance, Q: FloatArray, at: Coordinates):
        self.p, self.Y = p, at.Y
        n, d = p.X.shape
        E = p.X - p.X[0]
        spread = np.abs(E).max(axis=0)
        # how far a difference of two rows of Y may be from that of the points, in exactly these coordinates
        self.noise = 4 * (d + 4) * EPS * float(np.linalg.norm(spread @ np.abs(at.to)))
        unit = np.where(spread > 0, 2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
        self.E = E / unit
        unit = np.where(spread > 0, unit, 0.0)  # what Q has in a constant feature is no distance
        S = unit[:, None] * Q * unit
        S = (S + S.T) / 2
        values, vectors = np.linalg.eigh(S)
        values[: max(0, d - p.m)] = 0
        used = values > d * EPS * values[-1]  # less is rounding, and counts as such: a row of A has the root of it
        M = vectors[:, used] * np.sqrt(values[used])
        self.images = self.E @ M
        size = float(np.linalg.norm(M))
        self.rest = float(np.linalg.norm(S - M @ M.T)) + (d + 4) * EPS * (size**2 + float(np.linalg.norm(S)))
        self.lengths = np.linalg.norm(self.E, axis=1)
        self.h = (d + 4) * EPS * size * self.lengths
        self.points = np.flatnonzero(p.usable)

    def distances(self, i: int) -> tuple[FloatArray, FloatArray]:
        """D_ik for all k, (n,), and how far each may be off; what the softmax adds to that is among it."""
        D = np.sum((self.images[i] - self.images) ** 2, axis=1)
        apart = np.linalg.norm(self.E[i] - self.E, axis=1) + 4 * EPS * (self.lengths[i] + self.lengths)
        h = self.h[i] + self.h
        off = self.rest * apart**2 + (2 * np.sqrt(D) + h) * h
        return D, off + (self.images.shape[1] + 8) * EPS * D + 64 * EPS

    def point(self, i: int) -> Point:
        """Everything about point i."""
        D, off = self.distances(i)
        log_p = log_softmax(D, i)
        with np.errstate(divide="ignore"):
            mine = log_p + np.log(self.p.row(i))
        top = mine.max()
        log_p_i = float(top + np.log(np.exp(mine - top).sum()))
        log_w = mine - log_p_i
        counted = (2 * len(D) + 16) * EPS
        with np.errstate(over="ignore"):
            of_all = math.log(max(float(np.exp(log_p + off).sum()), 1.0)) + counted
            of_own = math.log(max(float(np.exp(log_w + off).sum()), 1.0)) + counted
        of_log_p_i = of_all + of_own + 8 * EPS * abs(log_p_i)
        c, of_c = 1.0, 0.0
        if self.p.criterion == "f":
            c, of_c = math.exp(log_p_i), float(growth(np.array(log_p_i), np.array(of_log_p_i))) + TINY
        return Point(D, off, log_p, off + of_all, log_w, off + of_own, log_p_i, of_log_p_i, c, of_c)

    @cached_property
    def value(self) -> tuple[float, float]:
        """-f or -g, and how far that may be off, and its bound."""
        terms, rounding = [], []
        for i in self.points.tolist():
            at = self.point(i)
            terms.append(at.c if self.p.criterion == "f" else at.log_p_i)
            rounding.append(at.of_c if self.p.criterion == "f" else at.of_log_p_i)
        total = -math.fsum(terms)
        bound = 0.0 if self.p.similarity is None else len(self.points) * EPS * abs(self.p.bound)
        return total, finite(math.fsum(rounding) + EPS * abs(total) + bound)

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
        for i in self.points.tolist():
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
        for i in self.points.tolist():
            at = self.point(i)
            weights, of_weights = at.weights(None)
            left, D = images[i] - images, Y[i] - Y
            long, root, h = np.linalg.norm(D, axis=1), np.sqrt(at.D), self.h[i] + self.h
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


def finite(rounding: float) -> float:
    """A bound of rounding as a number that can be written: 1e300, which proves nothing, where it is none."""
    return rounding if rounding < 1e300 else 1e300
