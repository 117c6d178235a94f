"""Compute the ball of a metric in a plane: its matrix, shape, outline and size. This module does not draw.

The ball of a metric M with radius r around c contains the points x with (x - c)^T M (x - c) <= r^2. The displays draw
it as an ellipse, or as a strip if M is singular.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import EPS, FloatArray, components_of

SLICE, PROJECTION = BALLS = ("slice", "projection")
LONG = 1e3  # a longer ball, relative to its width, looks like a strip in any picture


def in_plane(M: FloatArray, features: tuple[int, int], ball: str = SLICE) -> FloatArray:
    """Return the metric (2, 2) whose ball is the slice or the projection of the ball of a psd M (d, d) in two features.

    "slice" is the cut through the centre of the ball along the two features: the block of M. "projection" is the shadow
    of the ball on the two features. A point is in the shadow if it is in the ball for some values of the other
    features. So its squared distance from the centre is the minimum over these values. The Schur complement of M gives
    this minimum. For M of full rank, it is the inverse of the block of M^-1.
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
    """Return M (2, 2), or the zero matrix if M may consist of rounding errors only.

    size: the largest absolute entry of the matrix that M was computed from. Entries of M up to 64 EPS * size may be
    rounding errors.
    """
    return M if np.abs(M).max() > 64 * EPS * size else np.zeros_like(M)


def shape_of(M: FloatArray) -> str:
    """Return the shape of the ball of M (2, 2) in a picture.

    "plane": M = 0. "strip": the ball is more than `LONG` times as long as wide. "ellipse": other balls.
    """
    small, large = np.linalg.eigvalsh(M)
    if large <= 0:
        return "plane"
    return "ellipse" if small > 0 and large <= LONG**2 * small else "strip"


def is_singular(M: FloatArray) -> bool:
    """Return True if M (2, 2), psd, is singular up to rounding. The units of the two features do not matter."""
    units = np.sqrt(np.maximum(M.diagonal(), 0.0))
    if not units.all():
        return True
    return bool(1 - np.abs(M[0, 1] / units[0] / units[1]) <= 64 * EPS)


def outline(M: FloatArray, centre: FloatArray, radius: float, count: int = 181) -> FloatArray:
    """Return points x (count, 2) of the ellipse (x - centre)^T M (x - centre) = radius^2.

    M: (2, 2), positive definite.
    """
    values, vectors = np.linalg.eigh(M)
    angle = np.linspace(0, 2 * np.pi, count)
    along: FloatArray = (
        centre + radius * np.column_stack([np.cos(angle), np.sin(angle)]) / np.sqrt(values) @ vectors.T
    )
    return along


def edges(M: FloatArray, centre: FloatArray, radius: float) -> list[tuple[FloatArray, FloatArray]]:
    """Return a point and a direction (2,) of each of the two parallel lines that bound the ball.

    M: (2, 2), of rank 1 or nearly so.
    """
    values, vectors = np.linalg.eigh(M)
    across = radius / np.sqrt(values[1]) * vectors[:, 1]
    return [(centre + across, vectors[:, 0]), (centre - across, vectors[:, 0])]


def root_of_area(M: FloatArray) -> float:
    """Return det(M)^(1/4) of M (2, 2).

    A ball of M with radius r has the area pi r^2 / sqrt(det M). So the circle of equal area has the radius
    r / det(M)^(1/4).
    """
    # root of each eigenvalue, because det M may overflow or vanish
    return float(np.prod(np.linalg.eigvalsh(M) ** 0.25))


def radius_for(M: FloatArray, length: float) -> float:
    """Return the radius at which the ellipse of M (2, 2), positive definite, has a longest semi-axis of this length."""
    return float(length * np.sqrt(np.linalg.eigvalsh(M)[0]))


def spread(points: FloatArray, labels: np.ndarray) -> float:
    """Return the root mean square deviation of points (n, 2) from their class means, over both features.

    If it is 0 up to rounding, return that from the mean of all points. If this is 0 too, return 1.
    """
    within = [points[labels == c] - points[labels == c].mean(axis=0) for c in np.unique(labels)]
    for centred in (np.concatenate(within), points - points.mean(axis=0)):
        largest = float(np.abs(centred).max())
        if largest > 64 * EPS * float(np.abs(points).max()):
            return float(np.sqrt(np.mean((centred / largest) ** 2))) * largest
    return 1.0
