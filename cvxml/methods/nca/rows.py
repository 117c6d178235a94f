"""p, w and the gradient of a metric for NCA, point by point, from differences of points; nothing of fast.py."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import Coordinates
from cvxml.methods.nca.instance import Instance
from cvxml.metric import FloatArray

EPS = float(np.finfo(float).eps)


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


class _Point(NamedTuple):
    """What is true of point i at Q0: log p_ik and log w_ij (n,), log p_i, c_i."""

    log_p: FloatArray
    log_w: FloatArray
    log_p_i: float
    c: float


class Surplus(NamedTuple):
    """A matrix of the dual cone, or not (r, r), and the sum of the sizes of its parts."""

    Z: FloatArray
    size: float


INVISIBLE = 1e-6  # a row of A of that squared length moves no distance by more: it is as good as free


class FirstOrder(NamedTuple):
    """The rows of A that are not 0, dF/d(these), the least eigenvalue of G = dF/dQ where a row is free, and G."""

    A: FloatArray
    of_A: FloatArray
    least: float
    G: Surplus


class Metric:
    """A metric (r, r) of an instance, in the coordinates of `coordinates.py`: objective and gradient, row by row."""

    def __init__(self, p: Instance, Q: FloatArray, at: Coordinates):
        self.p, self.Y = p, at.Y
        self.Q = Q
        self.softmax = Softmax(at.Y, self.Q)
        values, vectors = np.linalg.eigh(self.Q)
        values[: max(0, len(values) - p.m)] = 0  # of rank p.m at most: what is left there is rounding
        values[values <= EPS * len(values) * values[-1]] = 0
        self.A: FloatArray = np.sqrt(values)[:, None] * vectors.T
        self.points = np.flatnonzero(p.usable)
        self.log_p_i = np.array([self.point(int(i)).log_p_i for i in self.points])
        terms = self.log_p_i if p.criterion == "g" else np.exp(self.log_p_i)
        self.objective = -math.fsum(terms)

    def point(self, i: int) -> _Point:
        """Everything about point i."""
        log_p = self.softmax.row(i)
        with np.errstate(divide="ignore"):
            mine = log_p + np.log(self.p.row(i))
        top = mine.max()
        log_p_i = float(top + np.log(np.exp(mine - top).sum()))
        return _Point(log_p, mine - log_p_i, log_p_i, math.exp(log_p_i) if self.p.criterion == "f" else 1.0)

    def surplus(self, q: Softmax | None = None) -> Surplus:
        """Z = sum_i c_i (w_ij - q_ij) X_ij (r, r), q the metric's own p where None: then it is dF/dQ."""
        Z, size = self._sum(self.Y, q)
        return Surplus((Z + Z.T) / 2, size)

    def first_order(self) -> FirstOrder:
        """dF/dA and dF/dQ; the second is not computed where it is not needed."""
        used = self.A[self.A.any(axis=1)]
        visible = np.count_nonzero(np.sum(used**2, axis=1) > INVISIBLE)
        if visible == self.p.m < len(self.Q):
            total, size = self._sum(self.Y @ used.T, None)
            return FirstOrder(used, 2 * total, 0.0, Surplus(np.zeros((0, 0)), size))
        G = self.surplus()
        least = float(np.linalg.eigvalsh(G.Z)[0]) if visible < len(self.Q) else 0.0
        return FirstOrder(used, 2 * used @ G.Z, least, G)

    def _sum(self, images: FloatArray, q: Softmax | None) -> tuple[FloatArray, float]:
        """sum_ij c_i (w_ij - q_ij) (images_i - images_j) (Y_i - Y_j)^T, and what rounding is a share of."""
        Y, total, size = self.Y, np.zeros((images.shape[1], self.Y.shape[1])), 0.0
        lengths = np.sum(Y**2, axis=1)
        for i in self.points.tolist():
            at = self.point(i)
            w, row = np.exp(at.log_w), np.exp(at.log_p if q is None else q.row(i))
            D = Y[i] - Y
            left = D if images is Y else images[i] - images
            total += left.T @ ((at.c * (w - row))[:, None] * D)
            size += 2 * at.c * float((w + row) @ (lengths + lengths[i]))
        return total, size
