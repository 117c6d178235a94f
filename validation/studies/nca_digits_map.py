"""The costs of continuous labels in NCA, on points of the plane, and the network that minimises them.

A cost takes the squared distances D (n, n) and gives its value and its derivatives by each D_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from cvxml.core.metric import FloatArray

HIDDEN, STEPS, PATIENCE = 100, 200, 10
NOISE = np.array([1.22, 1.5])  # degrees and pixels, of the second of a pair


class Pairs(NamedTuple):
    """Images X (2 m, pixels): those of pair a are a and m + a. labels (2 m, 2): angle, height. w (m,)."""

    X: FloatArray
    labels: FloatArray
    w: FloatArray


class Weights(NamedTuple):
    """The network: y = out^T logistic(inside^T x + offset)."""

    inside: FloatArray  # (pixels, HIDDEN)
    offset: FloatArray  # (HIDDEN,)
    out: FloatArray  # (HIDDEN, 2)


class Trained(NamedTuple):
    """The weights that are kept, those at the start, after how many steps, and the cost of the late pairs there."""

    weights: Weights
    first: Weights
    step: int
    late: float


Cost = Callable[[FloatArray], tuple[float, FloatArray]]


# --- costs


def pair_matrix(w: FloatArray) -> FloatArray:
    """(2 m, 2 m): w_a for the two of pair a, in both orders."""
    m = len(w)
    matrix = np.zeros((2 * m, 2 * m))
    a = np.arange(m)
    matrix[a, a + m] = matrix[a + m, a] = w
    return matrix


def one_for_all(pairs: Pairs, D: FloatArray, itself: bool = False) -> tuple[float, FloatArray]:
    """- sum_ab w_ab log( e^-D_ab / sum_cd e^-D_cd ), each pair once; c != d, or with `itself` any c, d as printed."""
    T = pair_matrix(pairs.w) / 2
    exponents = -D.copy()
    if not itself:
        np.fill_diagonal(exponents, -np.inf)
    total = logsumexp(exponents)
    return float(np.sum(T * D) + T.sum() * total), T - T.sum() * np.exp(exponents - total)


def one_a_row(pairs: Pairs, D: FloatArray) -> tuple[float, FloatArray]:
    """- sum_ab w_ab log p_ab / 2, both orders: a distribution over the others for each image."""
    T = pair_matrix(pairs.w) / 2
    log_p = _rows(D)
    weight = T.sum(axis=1, keepdims=True)
    value = -np.sum(T[T > 0] * log_p[T > 0])
    return float(value), T - weight * np.exp(log_p)


def minus_g(pairs: Pairs, D: FloatArray) -> tuple[float, FloatArray]:
    """- sum_i log sum_j s_ij p_ij, s_ij by the labels of all images."""
    apart = (pairs.labels[:, None] - pairs.labels) / NOISE
    log_s = -np.sum(apart**2, axis=2) / 2
    log_p = _rows(D)
    of_i = logsumexp(log_s + log_p, axis=1, keepdims=True)
    return float(-of_i.sum()), np.exp(log_s + log_p - of_i) - np.exp(log_p)


def _rows(D: FloatArray) -> FloatArray:
    exponents = -D.copy()
    np.fill_diagonal(exponents, -np.inf)
    logs: FloatArray = exponents - logsumexp(exponents, axis=1, keepdims=True)
    return logs


COSTS: dict[str, Callable[[Pairs, FloatArray], tuple[float, FloatArray]]] = {
    "one for all": one_for_all,
    "as printed": partial(one_for_all, itself=True),
    "one a row": one_a_row,
    "-g": minus_g,
}


# --- the network


def squared_distances(Y: FloatArray) -> FloatArray:
    """(n, n)."""
    norms = np.sum(Y**2, axis=1)
    distances: FloatArray = np.maximum(norms[:, None] + norms - 2 * Y @ Y.T, 0)
    np.fill_diagonal(distances, 0)
    return distances


def hidden(weights: Weights, X: FloatArray) -> FloatArray:
    """The logistic units of each image (n, HIDDEN)."""
    units: FloatArray = (1 + np.tanh((X @ weights.inside + weights.offset) / 2)) / 2
    return units


def outputs(weights: Weights, X: FloatArray) -> FloatArray:
    """The points in the plane (n, 2)."""
    points: FloatArray = hidden(weights, X) @ weights.out
    return points


def slope(cost: Cost, weights: Weights, X: FloatArray) -> tuple[float, Weights]:
    """The cost of the network's outputs, and its derivatives, by backpropagation."""
    units = hidden(weights, X)
    Y = units @ weights.out
    value, G = cost(squared_distances(Y))
    both = G + G.T
    by_Y = 2 * (both.sum(axis=1, keepdims=True) * Y - both @ Y)
    by_units = by_Y @ weights.out.T * units * (1 - units)
    return value, Weights(X.T @ by_units, by_units.sum(axis=0), units.T @ by_Y)


def begun(pixels: int, start: int) -> Weights:
    """Small random weights."""
    random = np.random.RandomState(start)
    return Weights(
        0.1 * random.standard_normal((pixels, HIDDEN)),
        np.zeros(HIDDEN),
        0.1 * random.standard_normal((HIDDEN, 2)),
    )


def flat(weights: Weights) -> FloatArray:
    """All in one vector."""
    return np.concatenate([part.ravel() for part in weights])


def shaped(vector: FloatArray, like: Weights) -> Weights:
    """The inverse of `flat`."""
    ends = np.cumsum([part.size for part in like])[:-1]
    parts = np.split(vector, ends)
    return Weights(*(part.reshape(of.shape) for part, of in zip(parts, like, strict=True)))


def trained(name: str, train: Pairs, late: Pairs, start: int) -> Trained:
    """The step of L-BFGS on the training pairs at which the cost of the late pairs is least.

    It ends after STEPS, or where the cost of the late pairs has not been less for PATIENCE.
    """
    first = begun(train.X.shape[1], start)
    cost, of_late = partial(COSTS[name], train), partial(COSTS[name], late)
    found: list[tuple[float, FloatArray]] = []

    def value(vector: FloatArray) -> tuple[float, FloatArray]:
        at, by = slope(cost, shaped(vector, first), train.X)
        return at, flat(by)

    def keep(vector: FloatArray) -> None:
        late_value = of_late(squared_distances(outputs(shaped(vector, first), late.X)))[0]
        found.append((late_value, vector.copy()))
        if np.argmin([value for value, _ in found]) < len(found) - PATIENCE:
            raise StopIteration

    minimize(value, flat(first), jac=True, method="L-BFGS-B", callback=keep, options={"maxiter": STEPS})
    step = int(np.argmin([late_value for late_value, _ in found]))
    return Trained(shaped(found[step][1], first), first, step + 1, found[step][0])
