"""The difference between a metric of LFDA and the embedding's metric of the same range, in balls.

The embedding ("plain", "weighted" or "orthonormal") chooses one metric T T^T among those with the same range. Balls are
numbers with a proved error bound (core/balls.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cvxml.core.balls import balls
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import FloatArray
from cvxml.core.spectrum import inverted
from cvxml.methods.lfda.known import Known


class Figures(NamedTuple):
    """The objective of a metric M, and its squared distances from the embedding's metric of its range, as balls.

    metric (d, d): the embedding's metric. error: ||M - metric||^2 / ||metric||^2, in coordinates in which S_w is I.
    distance: ||M - metric||^2 in the Frobenius norm.
    """

    objective: Any  # of the range of M
    metric: Any  # the embedding's metric (d, d) of the range of M
    error: Any  # ||M - metric||^2 / ||metric||^2, in coordinates in which S_w is I
    distance: Any  # ||M - metric||^2 in Frobenius norm


def figures(known: Known, embedding: str, M: FloatArray, T: FloatArray) -> Figures:
    """The objective of M (d, d), and its squared distances from the embedding's metric of the range of T (d, r).

    They are balls at the current precision. The range of T is close to that of M. known: the scatter matrices as balls.
    """
    S_w, S_b, columns = known.S_w, known.S_b, balls(*whole(T))
    rows = columns.transpose()
    plain = columns * inverted(rows * S_w * columns) * rows
    metric = {
        "plain": lambda: plain,
        "weighted": lambda: plain * S_b * plain,
        "orthonormal": lambda: columns * inverted(rows * columns) * rows,
    }[embedding]()
    error, there = balls(*whole(M)) - metric, S_w * metric
    seen = S_w * error
    share = (seen * seen).trace() / (there * there).trace()
    return Figures(-(S_b * plain).trace(), metric, share, (error * error.transpose()).trace())
