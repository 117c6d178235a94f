"""The two inferences at a metric, and by how much of F the sets found may be wrong: proved, in worst case.

Who is near is settled by products of images of the points under a root T of W (nearest.py), none of which is off by
more than rho_i at point i. Let low be what the k + 1 candidates of a class are away at least, by differences. Whoever
is no candidate has no smaller product than any of them, so is away at least u = max low - 2 rho_i; and the t-th nearest
at least the t-th of min(low, u). The sets that cost least at these distances cost no more than the cheapest there are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, psd_root, unit_scale
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import View
from cvxml.methods.ssvm.inference import loss_augmented, table, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.nearest import nearest
from cvxml.methods.ssvm.point import point_at
from cvxml.numbers.rounding import Seen, images

ROOM = 1.01  # for products of errors
TINY = 1e-300  # more than all that underflow loses
BLOCK = 2**18  # pairs at a time


class Inferred(NamedTuple):
    """The sets of the two inferences at W (d, d), psd."""

    W: FloatArray
    latent: IntArray  # (n, k)
    worst: IntArray  # (n, k)
    largest: FloatArray  # (n,): the largest S + Delta
    error: float  # how much of F they may be wrong by

    @property
    def zero(self) -> bool:
        """Whether W is: then all sets tie."""
        return not self.W.any()


def inferred(p: Instance, W: FloatArray) -> Inferred:
    """At P_+ of `W` (d, d)."""
    s = unit_scale(p.X)
    unit, psd = p.scaled(s), examine(W, p.X)[0]
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        at = point_at(unit, psd * s**2)
        worst = loss_augmented(at.near, p.y, p.Lam).sets
        error = 0.0 if not psd.any() else math.inf
        if psd.any() and np.isfinite(at.W).all():
            error = p.C * float(np.sum(_missed(unit, at.W, at.latent, worst)))
    return Inferred(psd, at.latent, worst, at.worst, error if math.isfinite(error) else math.inf)


def _missed(p: Instance, W: FloatArray, latent: IntArray, worst: IntArray) -> FloatArray:
    """(n,): how much the cheapest and the worst set at W (d, d) are better than these (n, k), at most."""
    view = Frobenius(p.X, 2.0).judge(W).view
    error, k = _error_products(p.X, W), p.k
    J = nearest(p.X, p.y, p.R, W, k + 1).J
    low = _distances(view, J, -1.0)
    beyond = low.max(axis=2, keepdims=True) - 2 * ROOM * (error + error.max())[:, None, None]
    low = np.sort(np.maximum(np.minimum(low, beyond), 0.0), axis=2)[:, :, :k]
    largest = (p.Lam[p.y] - table(low, 0).cost).max(axis=1)
    cheapest = table(low, 1, p.y[:, None]).cost[:, 0]
    own, far = (_distances(view, sets, 1.0).sum(axis=1) for sets in (latent, worst))
    delta = task_loss(p.y[worst], p.y, p.Lam)
    missed = (largest - delta + far) + (own - cheapest)
    size = np.abs(largest) + delta + far + own + cheapest
    found: FloatArray = ROOM * (np.maximum(missed, 0.0) + (2 * k + 8) * EPS * size) + TINY
    return found


def _distances(view: View, J: IntArray, side: float) -> FloatArray:
    """Of the points from J (n, ...), at least (side -1) or at most (1); inf where there is none."""
    n, count = len(J), J[0].size
    found, step = np.empty((n, count)), max(1, BLOCK // count)
    for first in watched(range(0, n, step)):
        i = np.arange(first, min(first + step, n))
        j = J[i].reshape(len(i), count)
        D, error = view.pairs(np.stack([np.repeat(i, count), j.ravel()], axis=1))
        found[i] = np.where(j < 0, np.inf, (D + side * error).reshape(j.shape))
    return found.reshape(J.shape)


def _error_products(X: FloatArray, W: FloatArray) -> FloatArray:
    """(n,): what those of nearest.py are off by, for points i and j the sum of both; a feature's unit is its width."""
    T, P = psd_root(W), X - X.mean(axis=0)
    width = np.abs(P).max(axis=0)
    error = np.abs(W - T @ T.T) + (len(W) + 2) * EPS * (np.abs(T) @ np.abs(T).T)
    miss = float(np.linalg.norm(error * np.outer(width, width))) * ROOM
    unit = 1 / np.maximum(width, 1e-290)
    seen = Seen(T, unit, miss, images(P, T), P * unit)
    # besides, squares and products are summed as one
    own: FloatArray = seen.reach() + (T.shape[1] + 2) * EPS * np.sum(seen.images.at**2, axis=1)
    return own
