"""Distances of a misreading of PLML: the weights of both points of a pair are averaged."""

from __future__ import annotations

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.plml.blocks import Blocks


class MeanShares(Blocks):
    """D_ij = sum_b (W_ib + W_jb)/2 (x_i - x_j)^T M_b (x_i - x_j)"""

    def shares(self, pairs: IntArray) -> FloatArray:
        """(p, m): the mean of those of both points."""
        own: FloatArray = self.W[pairs].mean(axis=1)
        return own
