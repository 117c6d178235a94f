"""No regularizer, R = 0, for LDML. The infimum r(G) of R - <M, G> over psd M is 0 if -G is psd, else -inf.

G = sum_t a_t X_t is the matrix of the dual variables a_t of the pairs t (family/theorem). X_t is
(x_i - x_j)(x_i - x_j)^T for the pair t = (i, j).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.regularizers.base import Scaled
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Weights


class Free(Linear):
    """R = 0 for every psd M. X (n, d): points. pairs (p, 2): the similar pairs.

    Only a pair whose difference is in the span of the differences of the similar pairs may have a dual variable other
    than 0. Otherwise -G is not psd.
    """

    def __init__(self, X: FloatArray, pairs: IntArray):
        super().__init__(X, Weights(pairs, np.ones(len(pairs))), "similar pairs differ")

    def value_at(self, at: Any) -> int:
        return 0

    def image(self, G: Weights) -> Weights:
        return G._replace(w=-G.w)

    def cost(self, at: Scaled, G: Weights) -> FloatArray:
        return np.zeros_like(at.A)
