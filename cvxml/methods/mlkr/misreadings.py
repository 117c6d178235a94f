"""Misreadings of MLKR: problems that implementations solve by mistake, here kernel regression with another kernel.

If the user's metric is not stationary, `check` tests if it is stationary for one of these problems. `MISREADINGS` lists
them by name. The mean over points in place of the sum is not listed, because it has the same stationary metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Misreading, Question
from cvxml.family.stationary.rank import examine_rank
from cvxml.methods.mlkr.instance import Instance, instance


def _left(change: Callable[[Instance, FloatArray], tuple[float, FloatArray]], sentence: str) -> Misreading:
    """Return the misreading in which change(instance, Q) returns the objective F and its gradient dF/dQ (r, r).

    Q (r, r): the user's metric in coordinates in which the points have unit covariance. The test of the metric is the
    possible decrease of F to first order, relative to F. sentence: the text for the report.
    """

    def left(question: Question) -> float:
        given = question.checked(instance)
        Q = examine_rank(question.metric, given.m, given.at)[0]
        with np.errstate(all="ignore"):
            F, G = change(given, Q)
            length = max(float(np.trace(Q)), 1.0)
            of_A = 2 * math.sqrt(max(float(np.trace(G @ Q @ G)), 0.0))
            least = float(np.linalg.eigvalsh(G)[0]) if given.m >= len(Q) else 0.0
            share = max(math.sqrt(length) * of_A, length * max(0.0, -least)) / F
        return share if math.isfinite(share) else math.inf

    return Misreading(sentence, left=left)


def _misread(given: Instance, Q: FloatArray, kind: str) -> tuple[float, FloatArray]:
    """F and dF/dQ of kernel regression with another kernel, at the metric Q (r, r) in the coordinates `given.at`.

    kind: "plain" for exp(-distance), "half" for exp(-squared distance / 2).
    """
    Y, y = given.at.Y, given.y
    D = np.einsum("ijk,kl,ijl->ij", Y[:, None] - Y, Q, Y[:, None] - Y)
    slope = 0.5 / np.sqrt(np.where(D > 0, D, np.inf)) if kind == "plain" else np.full_like(D, 0.5)
    u = np.sqrt(D) if kind == "plain" else D / 2
    np.fill_diagonal(u, np.inf)
    p = np.exp(u.min(axis=1)[:, None] - u)
    p /= p.sum(axis=1)[:, None]
    yhat = p @ y
    c = 2 * (yhat - y)[:, None] * p * (yhat[:, None] - y) * slope
    both = c + c.T
    G = Y.T @ (np.diag(both.sum(axis=1)) - both) @ Y
    return float(np.sum((yhat - y) ** 2)), (G + G.T) / 2


MISREADINGS = {
    kind: _left(partial(_misread, kind=kind), sentence)
    for kind, sentence in {
        "plain": "exp(-|A x_i - A x_j|) where the kernel has the squared distance",
        "half": "exp(-|A x_i - A x_j|^2 / 2), a width of 1, where the paper does not halve the distance",
    }.items()
}
