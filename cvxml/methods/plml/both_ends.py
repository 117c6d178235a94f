"""A misreading of PLML that is another problem: a distance seen with the mean of the weights of both its ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Question
from cvxml.family.blocks import Blocks
from cvxml.family.bound import Family
from cvxml.methods.plml.instance import Instance, instance
from cvxml.methods.plml.method import PLML


class MeanShares(Blocks):
    """D_ij = sum_b (W_ib + W_jb)/2 (x_i - x_j)^T M_b (x_i - x_j)"""

    def shares(self, pairs: IntArray) -> FloatArray:
        """(p, m): the mean of those of both points."""
        own: FloatArray = self.W[pairs].mean(axis=1)
        return own


class BothEnds(PLML):
    """PLML with such distances."""

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """That of PLML, with other shares."""
        norm = MeanShares(given.X, given.W, 2 * number(given.alpha1))
        return super().member(given, number)._replace(regularizer=norm, radius=norm.around)


def left(question: Question) -> float:
    """What a metric may still gain there, a share of its scale."""
    given = question.checked(instance)
    return BothEnds().left(given, question)
