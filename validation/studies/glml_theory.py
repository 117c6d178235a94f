"""The theory of the papers on GLML in numbers: asymptotic error, f-divergence, bias.

Numbering of the paper of 2018. Densities are functions of a query, given by their values on points.

    E_asymp = int p1 p2 / (p1 + p2) dx                                     (2)
            = 1 - int p1 f(p2 / p1) dx,   f(t) = 1 / (1 + t)               5.1
    bias = 1/(4 D) int E[d_N^2 | x] tr[A^-1 B(x)] / (p1 + p2)^2 dx          (8), (10), corrected

(8) prints E[d_N^2] before the integral; the distance to the nearest neighbour depends on x, and its mean belongs
inside. The nearest of N points drawn from p = (p1 + p2)/2 lies at d with N p V_D d^D exponentially distributed, V_D
the volume of the unit ball, so for large N E[d_N^2 | x] is Gamma(1 + 2/D) (N p(x) V_D)^(-2/D).
"""

from __future__ import annotations

import math

import numpy as np

from cvxml.core.metric import FloatArray


def asymptotic_error(p1: FloatArray, p2: FloatArray, volume: FloatArray | float) -> float:
    """(2) by summation: densities (m,) at points that stand for `volume` each."""
    total = p1 + p2
    return float(np.sum(np.where(total > 0, p1 * p2 / np.where(total > 0, total, 1.0), 0.0) * volume))


def asymptotic_accuracy(p1: FloatArray, p2: FloatArray, volume: FloatArray | float) -> float:
    """int p1 f(p2/p1) for the convex f(t) = 1/(1 + t): 1 - (2)."""
    some = p1 > 0
    return float(np.sum(np.where(some, p1 / (1 + p2 / np.where(some, p1, 1.0)), 0.0) * volume))


def expected_squared_distance(p: FloatArray, N: float, D: int) -> FloatArray:
    """E[d_N^2 | x], for large N, of N points of density p (m,)."""
    ball = math.pi ** (D / 2) / math.gamma(D / 2 + 1)
    mean: FloatArray = math.gamma(1 + 2 / D) * (N * p * ball) ** (-2 / D)
    return mean


def bias(
    p1: FloatArray,
    p2: FloatArray,
    trace: FloatArray,
    volume: FloatArray | float,
    N: float,
    D: int,
    inside: bool = True,
) -> float:
    """The second term of (8) with equal priors, N training points in all; trace (m,) is tr[A^-1 B].

    inside False: E[d_N^2], the mean over x, before the integral, as printed.
    """
    p = (p1 + p2) / 2
    squared = expected_squared_distance(p, N, D)
    if not inside:
        squared = np.full_like(squared, float(np.sum(squared * p * volume)))
    return float(np.sum(squared * trace / (p1 + p2) ** 2 * volume)) / (4 * D)
