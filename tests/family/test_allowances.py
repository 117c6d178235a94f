"""What a certificate allows for rounding in Z, which must be psd, where coordinates have lost digits: in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.regularizers.linear import Linear
from cvxml.methods.mcml import METHOD as MCML
from cvxml.methods.mcml import weights
from cvxml.methods.nca import certify as nca
from cvxml.methods.nca.instance import instance
from cvxml.methods.nca.rows import Metric, Softmax
from cvxml.numbers.rounding import points, squares_of_pairs
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


@pytest.mark.parametrize("ratio", [1.0, 1e-4, 1e-9])
def test_mcml_allows_for_what_is_in_its_surplus(ratio: float) -> None:
    X, y = stretched(ratio)
    at, n = coordinates(X), len(X)
    given = MCML.instance(X, y)
    family, (duals,) = MCML.member(given), MCML.read(given, {"q": np.random.default_rng(0).random((n, n))})
    (term,), linear = family.terms, family.regularizer
    assert isinstance(linear, Linear)
    duals = duals._replace(a=term.loss.to_domain(duals.a))
    left = linear.image(term.rows.weights(duals))
    Z, allowance = squares_of_pairs(points(X, at.to), left.pairs, left.w)
    q = MCML.named(given, duals)["q"]
    error = np.linalg.norm(Z - surplus_of_images(X, at.to, weights(y).w - q), 2)
    assert error <= allowance <= 1e-12 / ratio * np.linalg.norm(at.Y) ** 2


@pytest.mark.parametrize("seed", range(20))
def test_what_nca_mixes_is_positive_by_the_allowance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    Z_R = turn @ np.diag([1.0, 1e-3, -(10.0 ** rng.integers(-9, 1))]) @ turn.T
    Z_I = np.diag(rng.random(3) + 1e-3)
    allowance = 10.0 ** rng.integers(-12, -3)
    theta = nca._smallest_theta(Z_R - allowance * np.eye(3), Z_I - allowance * np.eye(3))
    if theta is None:
        assert np.linalg.eigvalsh(Z_I)[0] < 3 * allowance
    else:
        mixed = (1 - theta) * Z_R + theta * Z_I
        assert np.linalg.eigvalsh(mixed)[0] >= 0.999 * allowance
        less = (1 - 0.9 * theta) * Z_R + 0.9 * theta * Z_I  # and no more of the interior than that needs
        assert np.linalg.eigvalsh(less)[0] < 3 * allowance


@pytest.mark.parametrize(("criterion", "n"), [("f", 14), ("g", 24)])
def test_what_nca_certifies_is_positive_by_its_rounding(criterion: str, n: int) -> None:
    X, y = random_data(7, n=n, d=3, classes=2)
    best = cvxml.solve("nca", X, y, criterion=criterion, init=np.eye(3))
    step = best.certificate.step or pytest.fail("no step")
    assert step.proves(1e-6)
    at, theta = coordinates(X), float(step.dual["theta"][0])
    metric = Metric(instance(X, y, criterion=criterion), best.metric, at)
    inside = [at.inside(step.dual[name]) for name in ("R", "interior")]
    own = [np.allclose(M, at.inside(best.metric), rtol=1e-11) for M in inside]
    of_R, of_I = (
        metric.surplus(None if same else Softmax(at.Y, M)) for same, M in zip(own, inside, strict=True)
    )
    least = np.linalg.eigvalsh((1 - theta) * of_R.Z + theta * of_I.Z)[0]
    assert least >= (1 - theta) * of_R.rounding + theta * of_I.rounding
    assert np.linalg.eigvalsh(of_R.Z)[0] < of_R.rounding  # rows of R alone would not do
