"""A metric of LFDA beside the one of its range that is of the embedding, in balls."""

from __future__ import annotations

from typing import Any, NamedTuple

from cvxml.core.balls import balls
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import FloatArray
from cvxml.core.spectrum import inverted
from cvxml.methods.lfda.known import Known


class Figures(NamedTuple):
    """Of a metric M: balls."""

    objective: Any  # of its range
    metric: Any  # the one of its range that is of the embedding, (d, d)
    error: Any  # how far M is from that, relative to it, in coordinates in which S_w is I; squared
    distance: Any  # and in Frobenius norm; squared


def figures(known: Known, embedding: str, M: FloatArray, T: FloatArray) -> Figures:
    """Of M (d, d), by T (d, r) that is about its range; at the precision of now."""
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
