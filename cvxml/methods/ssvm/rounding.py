"""What rounding may take from F, from the inferences and from the bound: proved, in worst case.

Distances are those of images of the points under a root T of W (nearest.py), and who is near is settled by products of
images. If neither distances nor products are off by more than rho_i at point i, one chosen by mistake is within 2 rho_i
of the right one, and the t-th nearest is off by at most 3 rho_i. A set sums k of them.

For the bound, M = sum of w e e^T is as far from the exact one as proved.squares_of says, and the projection is not
believed: for any S = L L^T is ||P_+(M)|| <= ||M + S||.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.proved import Images, Seen, images, squares_of
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.nearest import root_of
from cvxml.methods.ssvm.point import EPS, Point, point_at

ROOM = 1.01  # for products of errors


class Judged(NamedTuple):
    """The point at W, and what its figures may be off by."""

    at: Point
    seen: Seen
    norm2: float
    F: float
    off: float  # of F; also what the cheapest sets found cost more than the cheapest there are
    worst_off: FloatArray  # (n,): of the largest S + Delta


class Pushed(NamedTuple):
    """M + S for the exact M and S = L L^T near P_+(-M), and in norm what rounding took from either."""

    Q: FloatArray
    off: float
    S: FloatArray
    off_S: FloatArray  # (d, d), entry by entry


def judge(p: Instance, W: FloatArray) -> Judged:
    """F at W (d, d), symmetric, and psd but for rounding."""
    at, seen = point_at(p, W), _seen(p.X, W)
    a = np.linalg.norm(seen.images.at, axis=1)
    own = seen.reach() + (seen.root.shape[1] + 2) * EPS * a**2
    chosen = 3 * p.k * (own + own.max())
    largest = p.Lam[p.y].max(axis=1)
    worst_off = chosen + (p.k + 2) * EPS * np.maximum(largest - at.worst, 0) + EPS * np.abs(at.worst)
    own_off = chosen + (p.k + 2) * EPS * at.own
    norm2 = total((W**2).ravel().tolist())
    losses = total([*at.worst.tolist(), *at.own.tolist()])
    F = norm2 + p.C * losses
    # twice: the sets found may cost so much more than they seem to, and the cheapest so much less
    off = 2 * p.C * float(np.sum(worst_off + own_off)) + 4 * EPS * (norm2 + p.C * abs(losses))
    return Judged(at, seen, norm2, F, ROOM * off, ROOM * worst_off)


def _seen(X: FloatArray, W: FloatArray) -> Seen:
    """The points as nearest.py sees them; a feature's unit is its width."""
    T, P = root_of(W), X - X.mean(axis=0)
    width = np.abs(P).max(axis=0)
    off = np.abs(W - T @ T.T) + (len(W) + 2) * EPS * (np.abs(T) @ np.abs(T).T)
    miss = float(np.linalg.norm(off * np.outer(width, width))) * ROOM
    unit = 1 / np.maximum(width, 1e-290)
    return Seen(T, unit, miss, images(P, T), P * unit)


def pushed(e: FloatArray, w: FloatArray, off_w: float) -> Pushed:
    """Of M = sum_t w_t e_t e_t^T over differences e (t, d) as floats; each weight is off by a share `off_w`."""
    M, off = squares_of(Images(e, EPS * np.linalg.norm(e, axis=1)), w)
    off += off_w * float(np.abs(w) @ np.sum(e**2, axis=1))
    values, vectors = np.linalg.eigh(M)
    L = vectors * np.sqrt(np.maximum(-values, 0))
    S, off_S = L @ L.T, (len(M) + 2) * EPS * (np.abs(L) @ np.abs(L).T)
    Q = M + S
    off += float(np.linalg.norm(off_S)) + EPS * float(np.linalg.norm(Q))
    return Pushed(Q, ROOM * off, S, ROOM * off_S)


def bound_of(gained: float, found: Pushed, off_q: float) -> tuple[float, float]:
    """gained - ||M + S||^2 / 4, and what it may be off by; gained: C sum q Delta, q off by a share `off_q`."""
    size = math.sqrt(total((found.Q**2).ravel().tolist()))
    off = (off_q + 4 * EPS) * gained + (size / 2 + found.off / 4) * found.off + 4 * EPS * size**2
    return gained - size**2 / 4, ROOM * off


def share_off(counts: IntArray) -> float:
    """How far weights scaled to the sum 1 may be from such that sum to it exactly, as a share; counts: of each sum."""
    return float(counts.max(initial=0) + 4) * EPS


def total(values: list[float]) -> float:
    """The sum, rounded once; inf for what overflows."""
    return math.fsum(values) if all(map(math.isfinite, values)) else math.inf
