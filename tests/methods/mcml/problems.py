"""What the tests of MCML share."""

from __future__ import annotations

from functools import cache

import numpy as np

import cvxml
from cvxml.core.result import Solution
from tests.instances import random_data, real_data

Data = tuple[np.ndarray, np.ndarray]


def sets() -> dict[str, Data]:
    rng = np.random.default_rng(5)
    X, y = random_data(0, n=18, d=3)
    line = np.outer(X[:, 0], [1.0, 2.0, -1.0])
    return {
        "random": (X, y),
        "iris": real_data("iris", 30),
        "wine": real_data("wine", 30, standardized=False),
        "uneven": (X, np.array([0] * 9 + [1] * 6 + [2] * 3)),
        "alone": (X, np.array([0] * 9 + [1] * 8 + [2])),
        "collinear": (line, y),
        "constant": (np.column_stack([X, np.full(18, 0.1)]), y),
        "twins": (np.repeat(X[:9], 2, axis=0), np.repeat(y[:9], 2)),
        "twins-apart": (np.repeat(X[:9], 2, axis=0), np.arange(18) % 2),
        "offset": (X + 1e6, y),
        "units": (X * [1e-6, 1.0, 1e6], y),
        "few": real_data("wine", 20, standardized=False),
        "many-points": random_data(3, n=60, d=2, classes=2),
        "wide": (rng.standard_normal((16, 12)), np.arange(16) % 2),
    }


SETS = sets()


@cache
def solved(name: str, tol: float = 1e-9) -> Solution:
    return cvxml.solve("mcml", *SETS[name], tol=tol)


UNEVEN = (5, 9, 7)


def data(seed: int = 11, d: int = 2) -> Data:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), UNEVEN)
    return rng.standard_normal((21, d)) + 0.9 * rng.standard_normal((3, d))[y], y
