"""What a certificate allows for rounding in Z, which must be psd, where coordinates have lost digits: in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cvxml.coordinates import Coordinates, coordinates
from cvxml.methods.mcml import certify as mcml
from cvxml.methods.mcml.instance import Weights
from cvxml.methods.nca import certify as nca
from cvxml.methods.nca.instance import instance
from cvxml.methods.nca.rows import Metric, Softmax
from cvxml.metric import FloatArray
from cvxml.proved import points
from tests.instances import random_data


def stretched(ratio: float, angle: float = 0.7) -> tuple[FloatArray, np.ndarray]:
    """16 points of the plane whose spread along one direction, turned by the angle, is `ratio` of the other."""
    X, y = random_data(5, n=16, d=2)
    c, s = np.cos(angle), np.sin(angle)
    return X * [1.0, ratio] @ np.array([[c, s], [-s, c]]), y


def surplus_of_images(X: FloatArray, to: FloatArray, weights: FloatArray) -> FloatArray:
    """sum_ij weights_ij z z^T with z = (X_i - X_j) to, rounded at the very end."""
    (a, b), (c, d) = ([Fraction(float(value)) for value in row] for row in to)
    points = [[Fraction(float(value)) for value in row] for row in X]
    Z = [[Fraction(0)] * 2 for _ in range(2)]
    for i, j in zip(*np.nonzero(weights), strict=True):
        x, y = (points[i][k] - points[j][k] for k in range(2))
        z, weight = (x * a + y * c, x * b + y * d), Fraction(float(weights[i, j]))
        for k in range(2):
            for m in range(2):
                Z[k][m] += weight * z[k] * z[m]
    return np.array([[float(value) for value in row] for row in Z])


def exact_surplus(X: FloatArray, at: Coordinates, weights: FloatArray) -> FloatArray:
    """sum_ij weights_ij (Y_i - Y_j)(Y_i - Y_j)^T with back (Y_i - Y_j) = X_i - X_j, rounded at the very end."""
    (a, b), (c, d) = ([Fraction(float(value)) for value in row] for row in at.back)
    det = a * d - b * c
    points = [[Fraction(float(value)) for value in row] for row in X]
    Z = [[Fraction(0)] * 2 for _ in range(2)]
    for i, j in zip(*np.nonzero(weights), strict=True):
        x, z = (points[i][k] - points[j][k] for k in range(2))
        edge, weight = ((d * x - b * z) / det, (a * z - c * x) / det), Fraction(float(weights[i, j]))
        for k in range(2):
            for m in range(2):
                Z[k][m] += weight * edge[k] * edge[m]
    return np.array([[float(value) for value in row] for row in Z])


@pytest.mark.parametrize("ratio", [1.0, 1e-4, 1e-9])
def test_mcml_allows_for_what_is_in_its_surplus(ratio: float) -> None:
    X, y = stretched(ratio)
    at, n = coordinates(X), len(X)
    apart = ~np.eye(n, dtype=bool)
    w = (y[:, None] == y) & apart
    of = Weights(w / w.sum(axis=1, keepdims=True), np.ones(n), apart)
    q = mcml.repaired(of, np.random.default_rng(0).random((n, n)))
    Z, allowance = mcml._surplus(points(X, at.to), of, q)
    off = np.linalg.norm(Z - surplus_of_images(X, at.to, of.w - q), 2)
    assert off <= allowance <= 1e-12 / ratio * np.linalg.norm(at.Y) ** 2


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("ratio", [1.0, 1e-4, 1e-9])
def test_nca_allows_for_what_is_in_its_surplus(ratio: float, criterion: str) -> None:
    X, y = stretched(ratio)
    at = coordinates(X)
    metric = Metric(instance(X, y, criterion=criterion), np.eye(2), at)
    q = Softmax(metric.Y, np.diag([0.3, 2.0]))
    Z, size = metric.surplus(q)
    weights = np.zeros((len(X),) * 2)
    for i in metric.points.tolist():
        point = metric.point(i)
        weights[i] = point.c * (np.exp(point.log_w) - np.exp(q.row(i)))
    off = np.linalg.norm(Z - exact_surplus(X, at, weights), 2)
    allowance = nca._allowance(len(X), float(at.lost.max()), size)
    assert off <= allowance <= 1e-12 / ratio * np.linalg.norm(at.Y) ** 2


@pytest.mark.parametrize("seed", range(20))
def test_what_nca_mixes_is_positive_by_the_allowance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    Z_R = turn @ np.diag([1.0, 1e-3, -(10.0 ** rng.integers(-9, 1))]) @ turn.T
    Z_I = np.diag(rng.random(3) + 1e-3)
    allowance = 10.0 ** rng.integers(-12, -3)
    theta = nca._mixing(Z_R, Z_I, allowance)
    if theta is None:
        assert np.linalg.eigvalsh(Z_I)[0] < 3 * allowance
    else:
        mixed = (1 - theta) * Z_R + theta * Z_I
        assert np.linalg.eigvalsh(mixed)[0] >= allowance
        less = (1 - 0.9 * theta) * Z_R + 0.9 * theta * Z_I  # and no more of the interior than that needs
        assert np.linalg.eigvalsh(less)[0] < 3 * allowance
