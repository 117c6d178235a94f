"""Everything at one W: F, both exact inferences, and the best multiple of W."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.methods.ssvm.inference import Table, table, targeted
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.nearest import Nearest, nearest


@dataclass(frozen=True, eq=False)
class Point:
    """What the two inferences say at W."""

    W: FloatArray
    norm2: float  # ||W||^2
    near: Nearest
    offending: Table  # cheapest set of each class, ties for most votes allowed
    worst: FloatArray  # (n,): max over h of S + Delta
    latent: IntArray  # (n, k): h*
    own: FloatArray  # (n,): sum of distances over h*
    F: float

    def rounding(self, C: float) -> float:
        """What F may be off by."""
        return 64 * EPS * (self.norm2 + C * float(np.abs(self.worst).sum() + np.abs(self.own).sum()))


def point_at(p: Instance, W: FloatArray, near: Nearest | None = None) -> Point:
    """The point at W (d, d) psd; `near` where the nearest points are known already.

    At W = 0 every set ties; h* is then that of the identity, which is at least the data's own geometry.
    """
    near = nearest(p.X, p.y, p.R, W, p.k) if near is None else near
    offending = table(near.D, 0)
    worst = (p.Lam[p.y] - offending.cost).max(axis=1)
    best = targeted(near, p.y)
    norm2 = float(np.sum(W**2))
    F = norm2 + p.C * float(np.sum(worst + best.value))
    latent = best.sets if norm2 > 0 else targeted(nearest(p.X, p.y, p.R, np.eye(len(W)), p.k), p.y).sets
    return Point(W, norm2, near, offending, worst, latent, best.value, F)


def best_scale(p: Instance, at: Point) -> float:
    """The s >= 0 that minimises F(s W), exactly: along a ray F is convex and piecewise quadratic.

    1 where ||W||^2 is 0, or underflows.
    F(s W) = s^2 ||W||^2 + C sum_i ( max_r (Lam(y_i, r) - s cost_ir) + s own_i ): bisection finds the piece.
    """
    if at.norm2 < 1e-290:
        return 1.0
    loss = p.Lam[p.y]
    cost = np.where(np.isfinite(at.offending.cost), at.offending.cost, 1e300)
    rows, total = np.arange(len(cost)), float(at.own.sum())

    def linear(s: float) -> float:
        """The slope at s, without its quadratic part."""
        active = (loss - s * cost).argmax(axis=1)
        return p.C * (total - float(cost[rows, active].sum()))

    low, high = 0.0, 1.0
    while linear(high) + 2 * high * at.norm2 < 0:
        look()
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if linear(middle) + 2 * middle * at.norm2 < 0:
            low = middle
        else:
            high = middle
    return float(np.clip(-linear(low) / (2 * at.norm2), low, high))


def rescaled(p: Instance, at: Point) -> Point:
    """The best multiple of `at`; `at` itself where it is 0, or where none is better.

    Where it is the multiple 0 its h* stay, which are those of every other multiple: at 0 all sets tie, so that they are
    right there too, and they are what is left of a start that is not at its best size.
    """
    if at.norm2 == 0:
        return at
    s = best_scale(p, at)
    if s * s * at.norm2 <= EPS * at.F:  # nothing but noise is left of W
        other = replace(point_at(p, 0 * at.W), latent=at.latent)
    else:
        other = point_at(p, s * at.W, Nearest(s * at.near.D, at.near.J))
    return other if other.F < at.F else at


def as_certified(p: Instance, at: Point) -> Point:
    """The same W with the h* that its certificate takes; `at` itself where it has them.

    Only where ||W||^2 is 0, or underflows, can they be others (`rescaled`). Stationary for these, it may not be so for
    those.
    """
    if at.norm2 > 0:
        return at
    other = point_at(p, at.W)
    return at if np.array_equal(other.latent, at.latent) else other
