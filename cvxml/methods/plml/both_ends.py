"""The regularizer of a misreading of PLML: a pair has the mean weights of its two points.

In PLML a pair (i, j) has the weights of i. A misreading is a problem that implementations solve by mistake.
"""

from __future__ import annotations

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.plml.blocks import Blocks


class MeanShares(Blocks):
    """The regularizer lam/2 sum_b ||M_b||^2 of PLML with D_ij = sum_b (W_ib + W_jb)/2 (x_i - x_j)^T M_b (x_i - x_j)."""

    def shares(self, pairs: IntArray) -> FloatArray:
        """The mean weights (p, m) of the two points of each pair."""
        own: FloatArray = self.W[pairs].mean(axis=1)
        return own
