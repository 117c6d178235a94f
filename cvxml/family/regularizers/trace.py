"""R(M) = v tr M, with r(G) = 0 if v I - G is psd, else -inf. It is a linear regularizer with C = v I.

G is the matrix that belongs to the dual variables, and r(G) <= R(M) - <M, G> for every psd M (base.py). A view is the
points under a metric: it gives distances with error bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from cvxml.core.exact import flint, scaled
from cvxml.core.integer_matrices import is_psd
from cvxml.core.metric import EPS, FloatArray, examine
from cvxml.family.geometry.span_coordinates import Ground
from cvxml.family.regularizers.base import JudgedMatrix, Scaled, SeenBy, Surplus, fractions, product
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rounding import Seen, points
from cvxml.numbers.sums import accurate_sum
from cvxml.numbers.vocabulary import like

NOTHING = Weights(np.zeros((0, 2), dtype=np.intp), np.zeros(0))


class Traced(SeenBy):
    """The points X under a psd metric, with the trace of the metric. Distances do not determine the trace.

    sight: the images of the points in the metric. psd (d, d): the metric.
    """

    def __init__(self, X: FloatArray, sight: Seen, psd: FloatArray):
        super().__init__(X, sight)
        trace = accurate_sum(np.diag(psd)).value
        # a projection rounds every eigenvalue
        self.trace = Enclosure(trace, (4 * X.shape[1] + 8) * EPS * trace)


class Trace(Linear):
    """R(M) = v tr M for points X (n, d), v > 0: a float, or a fraction for exact arithmetic."""

    def __init__(self, X: FloatArray, v: Any):
        super().__init__(X, NOTHING, "the points differ")
        self.v = v

    @cached_property
    def ground(self) -> Ground:
        """The span of all features with the basis T = I / sqrt v, so that T^T (v I) T is the identity up to rounding.

        All points have one label.
        """
        n, d = self.X.shape
        images = points(self.X, np.eye(d) / math.sqrt(self.v))
        return Ground(np.zeros(n, dtype=np.intp), d, images, 1 - 4 * EPS, "")

    def judge(self, A: FloatArray) -> JudgedMatrix:
        judged = super().judge(A)
        assert isinstance(judged.view, SeenBy)
        return judged._replace(view=Traced(self.X, judged.view.sight, examine(A)[0]))

    def value_at(self, at: Any) -> Any:
        """R(M) = v tr M, for a view `at` of the metric M."""
        return like(at.trace, self.v) * at.trace

    def conjugate_at(self, image: Weights) -> Any:
        """r(G) = 0; v I - G must be psd, else r(G) would be -inf."""
        return 0

    def excess_at(self, at: Any, image: Weights) -> Any:
        """The excess <v I - G, M>, for a view `at` of the metric M. image: G."""
        return self.value_at(at) - product(at, image)

    def surplus(self, G: Weights) -> Surplus:
        """The matrix Z = I - G / v, which must be psd, and a bound of its error.

        The bound allows a few more roundings of each dual variable.
        """
        own, error = self._on_ground(G)
        return Surplus(self.ground.least * np.eye(len(own)) - own, error + 4 * EPS * float(np.abs(own).max()))

    def image(self, G: Weights) -> Weights:
        """G itself.

        The method does not check that v I - G is psd. For `bound` and `excess`, the caller must have made the dual
        variables feasible (`best_multiple`).
        """
        return G

    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Weights | None:
        """G itself if v I - G is psd, else None. X: the points in rationals. hint: not used."""
        pulled, common = X.outer(G.pairs, fractions(G.w))
        level = Fraction(self.v) * common / scaled(1, 2 * X.at)
        d = pulled.nrows()
        one = flint().fmpz_mat(np.eye(d, dtype=int).tolist())
        return G if is_psd(one * level.numerator - pulled * level.denominator) else None

    def cost(self, at: Scaled, G: Weights) -> FloatArray:
        """The matrix C = v I, in the units of `at`."""
        return float(self.v) * np.diag(1 / at.spread**2)
