"""Five measures of a ranking. The loss is 1 - sum_p earned(p, g_p): relevant points earn more if they come early.

There are P relevant and N irrelevant points. The p-th relevant point has the rank r = p + g, if g = g_p irrelevant
points are before it. It earns the following share, where [r <= k] is 1 if r <= k, else 0:

| auc       | (N - g) / (P N)                                                    |
| precision | [r <= k] / k                                                       |
| map       | p / (P r)                                                          |
| mrr       | 1 / r for p = 1, else 0                                            |
| ndcg      | [r <= k] c(r) / (c(1) + .. + c(k)), c(r) = 1/log2 r, and c(1) = 1  |

k is the number of ranks that count for precision and ndcg, a parameter of the user. If it is larger than the following
limit, the limit replaces it: min(P, N) for precision, P for ndcg.

Each value decreases or stays equal when g grows. So the worst ranking is easy to find (methods/mlr/interleaving.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.balls import ball, ends, precision
from cvxml.core.metric import FloatArray

MEASURES = ("auc", "precision", "map", "mrr", "ndcg")


def length(measure: str, k: int, P: int, N: int) -> int:
    """Return the number of ranks that count: min(k, P, N) for "precision", min(k, P) for "ndcg".

    This is the k in the table of the module. The other measures use no k.
    """
    return min(k, P, N) if measure == "precision" else min(k, P)


def earned(measure: str, k: int, P: int, N: int) -> FloatArray:
    """Return a table (P, N + 1). Row p - 1, column g: the share of the p-th relevant point after g irrelevant ones."""
    p, g = np.arange(1.0, P + 1)[:, None], np.arange(N + 1.0)
    r, k = p + g, length(measure, k, P, N)
    if measure == "auc":
        table: FloatArray = np.ones_like(p) * (N - g) / (P * N)
        return table
    if measure == "precision":
        return np.where(r <= k, 1 / k, 0.0)
    if measure == "map":
        share: FloatArray = p / (P * r)
        return share
    if measure == "mrr":
        return np.where(p == 1, 1 / r, 0.0)
    c = 1 / np.log2(np.maximum(np.arange(1.0, P + N + 1), 2))
    return np.where(r <= k, c[(r - 1).astype(np.intp)] / np.sum(c[:k]), 0.0)


def earned_exactly(measure: str, k: int, P: int, N: int, up: bool) -> list[list[Fraction]]:
    """Return the table of `earned` in exact fractions: a list of P rows of N + 1 entries.

    ndcg is not rational: its entries are upper bounds if `up`, else lower bounds.
    """
    k = length(measure, k, P, N)
    discounted = _discounted(k, P + N, up) if measure == "ndcg" else []

    def at(p: int, r: int) -> Fraction:
        if measure == "auc":
            return Fraction(N - (r - p), P * N)
        if measure == "precision":
            return Fraction(int(r <= k), k)
        if measure == "map":
            return Fraction(p, P * r)
        return Fraction(int(p == 1), r) if measure == "mrr" else discounted[r - 1]

    return [[at(p, p + g) for g in range(N + 1)] for p in range(1, P + 1)]


def _discounted(k: int, ranks: int, up: bool) -> list[Fraction]:
    with precision():
        c: list[Any] = [ball(1)] + [ball(2).log() / ball(r).log() for r in range(2, k + 1)]
        total = sum(c[1:], c[0])
        return [ends(own / total)[int(up)] for own in c] + [Fraction(0)] * (ranks - k)
