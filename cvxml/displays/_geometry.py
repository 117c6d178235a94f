"""The ball of a metric in a plane, computed; nothing here draws."""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import EPS, FloatArray, components_of

SLICE, PROJECTION = BALLS = ("slice", "projection")
LONG = 1e3  # a ball that many times as long as wide is a strip in any picture


def in_plane(M: FloatArray, features: tuple[int, int], ball: str = SLICE) -> FloatArray:
    """The metric (2, 2) whose ball is that of M (d, d), psd, in two features.

    "slice": the cut through the centre along the two, so M restricted to them. "projection": the shadow of the whole
    ball on them. A point is in the shadow if some choice of the other features puts it into the ball, so its
    distance is the least over them: the Schur complement of M, for an M of full rank the inverse of the block of M^-1.
    """
    chosen = list(features)
    block = M[np.ix_(chosen, chosen)]
    if ball == SLICE or len(M) == 2:
        return block
    units = np.sqrt(np.where(M.diagonal() > 0, M.diagonal(), 1.0))
    L = components_of(M / np.outer(units, units))
    others = np.delete(L, chosen, axis=1)
    left = L[:, chosen] - others @ np.linalg.lstsq(others, L[:, chosen], rcond=1e-6)[0]
    least: FloatArray = left.T @ left * np.outer(units[chosen], units[chosen])
    return least


def without_rounding(M: FloatArray, size: float) -> FloatArray:
    """M (2, 2), or 0 where it is no more than the rounding of numbers of that size, from which it was computed."""
    return M if np.abs(M).max() > 64 * EPS * size else np.zeros_like(M)


def shape_of(M: FloatArray) -> str:
    """What the ball of M (2, 2) is in a picture: "ellipse", "strip" (more than LONG times as long as wide) or "plane".

    A plane is the ball of M = 0.
    """
    small, large = np.linalg.eigvalsh(M)
    if large <= 0:
        return "plane"
    return "ellipse" if small > 0 and large <= LONG**2 * small else "strip"


def is_singular(M: FloatArray) -> bool:
    """If M (2, 2), psd, has no inverse beyond rounding, in whatever units its features are."""
    units = np.sqrt(np.maximum(M.diagonal(), 0.0))
    if not units.all():
        return True
    return bool(1 - np.abs(M[0, 1] / units[0] / units[1]) <= 64 * EPS)


def outline(M: FloatArray, centre: FloatArray, radius: float, count: int = 181) -> FloatArray:
    """Points x (count, 2) of the ellipse (x - centre)^T M (x - centre) = radius^2, for M (2, 2) positive definite."""
    values, vectors = np.linalg.eigh(M)
    angle = np.linspace(0, 2 * np.pi, count)
    along: FloatArray = (
        centre + radius * np.column_stack([np.cos(angle), np.sin(angle)]) / np.sqrt(values) @ vectors.T
    )
    return along


def edges(M: FloatArray, centre: FloatArray, radius: float) -> list[tuple[FloatArray, FloatArray]]:
    """A point and a direction (2,) of each of the two parallel lines that bound the ball of an M (2, 2) of rank 1."""
    values, vectors = np.linalg.eigh(M)
    error = radius / np.sqrt(values[1]) * vectors[:, 1]
    return [(centre + error, vectors[:, 0]), (centre - error, vectors[:, 0])]


def root_of_area(M: FloatArray) -> float:
    """det(M)^(1/4) of M (2, 2): the radius of a circle over that of the ball of the same area, pi r^2 / sqrt(det M)."""
    return float(np.prod(np.linalg.eigvalsh(M) ** 0.25))  # each by itself: det M may overflow, or vanish


def radius_for(M: FloatArray, length: float) -> float:
    """The radius for which the ellipse of M (2, 2), positive definite, has a longest semi-axis of that length."""
    return float(length * np.sqrt(np.linalg.eigvalsh(M)[0]))


def spread(points: FloatArray, labels: np.ndarray) -> float:
    """One standard deviation of points (n, 2) within their classes, over both features.

    Where that is 0, of the points without regard to class; 1 if all coincide.
    """
    within = [points[labels == c] - points[labels == c].mean(axis=0) for c in np.unique(labels)]
    for centred in (np.concatenate(within), points - points.mean(axis=0)):
        largest = float(np.abs(centred).max())
        if largest > 64 * EPS * float(np.abs(points).max()):
            return float(np.sqrt(np.mean((centred / largest) ** 2))) * largest
    return 1.0
