"""No regularizer: R = 0, with r(G) = 0 if -G is psd, else -inf."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.regularizers.base import Scaled, Surplus, fractions, product
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.sums import Approximate


class Free(Linear):
    """R = 0 for every psd M. pairs (p, 2): the similar pairs. Only rows in the span of their differences have duals."""

    def __init__(self, X: FloatArray, pairs: IntArray):
        super().__init__(X, Weights(pairs, np.ones(len(pairs))), "similar pairs differ")

    def value(self, view: Any) -> Approximate:
        return Approximate(0.0, 0.0)

    def surplus(self, G: Weights) -> Surplus:
        """T^T (-G) T. The error bound also holds if each dual variable is rounded a few times more."""
        if self.ground.undecided:
            return Surplus(np.zeros((0, 0)), np.inf)
        return self._on_ground(G._replace(w=-G.w))

    def excess(self, view: Any, G: Weights) -> Approximate:
        """<-G, M>"""
        return product(view, G._replace(w=-G.w))

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        return Fraction(0)

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Fraction | None:
        """0 if -G is psd, else None."""
        return Fraction(0) if X.psd(G.pairs, [-w for w in fractions(G.w)]) else None

    def cost(self, at: Scaled, G: Weights) -> FloatArray:
        return np.zeros_like(at.A)
