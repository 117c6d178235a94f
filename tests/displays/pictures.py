"""What the tests of the displays share: data, and what is read off artists."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import cvxml
from tests.instances import random_data

X, y = random_data(3, n=30, d=4, classes=3)


X = X + 2 * np.eye(4)[y]  # something to learn


PLANE = X[:, :2]


M2 = np.array([[3.0, 1.0], [1.0, 0.5]])


class Frame(np.ndarray):
    """Points with names of columns, as of a data frame."""

    columns = ("height", "width", "depth", "age")


def a_metric(seed: int, d: int, rank: int | None = None) -> np.ndarray:
    L = np.random.default_rng(seed).standard_normal((rank or d, d))
    return L.T @ L


def naive(M: np.ndarray, x: np.ndarray, c: np.ndarray) -> float:
    return sum(M[a, b] * (x[a] - c[a]) * (x[b] - c[b]) for a in range(len(M)) for b in range(len(M)))


def data_of(line: Any) -> np.ndarray:
    return np.column_stack(line.get_data())


def texts(legend: Any) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def fitted(estimator: Any, points: np.ndarray = X, labels: np.ndarray = y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a tolerance is not met is no matter here
        return estimator.fit(points, labels)


def solved(method: str, points: np.ndarray = X, labels: np.ndarray = y, **params: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(method, points, labels, **params)


def legend_of(display: Any) -> dict[str, Any]:
    """What the legend says, without its line breaks -> the handle beside it."""
    said = (" ".join(text.split()) for text in texts(display.legend_))
    return dict(zip(said, display.legend_.legend_handles, strict=True))
