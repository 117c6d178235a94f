"""The linear regularizer R(M) = <C, M>, C = sum_p w_p X_p over pairs p = (i, j), w > 0.

X_p = (x_i - x_j)(x_i - x_j)^T. G is the matrix that belongs to the dual variables. r(G) is 0 if C - G is psd, else
-inf, and the excess is <C - G, M> (base.py). T is a basis of the range of C. P_+ replaces negative eigenvalues by 0.
A view is the points under a metric: it gives distances with error bounds.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, examine
from cvxml.family.geometry.span_coordinates import Ground, ground
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import (
    MAX_EIGENVALUE,
    ByFormulas,
    JudgedMatrix,
    Scaled,
    SeenBy,
    Surplus,
    best,
    fractions,
    product,
)
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import (
    least_eigenvalue,
    seen,
    squares_of_pairs,
)


class Linear(ByFormulas):
    """R(M) = <C, M> for the matrix C = sum_p w_p X_p, w > 0, given by its pairs p and weights w.

    X (n, d): the points. what: the first words of messages, for example "targets differ from their points".
    """

    def __init__(self, X: FloatArray, C: Weights, what: str):
        self.X, self.C, self.what = X, C, what

    @cached_property
    def ground(self) -> Ground:
        """The range of C, and a basis T of this range with T^T C T close to the identity."""
        return ground(self.X, self.C, self.what)

    @property
    def labels(self) -> IntArray:
        """Labels (n,): two points have equal labels if and only if their difference is in the range of C."""
        return self.ground.labels

    @property
    def undecided(self) -> str:
        return self.ground.undecided

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The projection P_+(A). A matrix that is psd up to rounding is kept, and its rounding error is bounded."""
        psd, feasibility = examine(A, self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            sight = seen(self.X, A / 2 + A.T / 2 if feasibility.exact else psd)
        finite = bool(np.isfinite(sight.images.at).all()) and math.isfinite(sight.miss)
        return JudgedMatrix(SeenBy(self.X, sight), feasibility, finite)

    def value_at(self, at: Any) -> Any:
        """R(M) = <C, M>, the sum of w_p D_p over the pairs of C, for a view `at` of the metric M."""
        return product(at, self.C)

    def conjugate_at(self, image: Weights) -> Any:
        """r(G) = 0; the image C - G must be psd, else r(G) would be -inf."""
        return 0

    def excess_at(self, at: Any, image: Weights) -> Any:
        """The excess <C - G, M>, for a view `at` of the metric M. image: C - G."""
        return product(at, image)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t of the dual variables with the best bound k(t a) among those with C - t G proved psd.

        ray: the function t -> k(t a) of the losses. Returns 0 if no t > 0 is proved.

        C is definite on its range, and T is a basis of the range. So C - t G is psd if T^T (C - t G) T is psd. Every t
        up to the least eigenvalue of T^T C T, divided by the largest of T^T G T, is feasible.
        """
        at = self.ground
        if at.undecided:
            return 0.0
        if at.rank == 0 or len(G.w) == 0:
            return best(ray.value, ray.longest)
        with np.errstate(over="ignore", invalid="ignore"):
            image, moved = self._on_ground(G)
        largest = moved - least_eigenvalue(-image)
        if not largest < MAX_EIGENVALUE:
            return 0.0
        longest = at.least / largest * (1 - 8 * EPS) if largest > 0 else math.inf
        return best(ray.value, min(longest, ray.longest))

    def surplus(self, G: Weights) -> Surplus:
        """The matrix Z = T^T (C - G) T, which must be psd, and a bound of its error.

        The bound allows a few more roundings of each dual variable. If no T was found, Z is empty and the error is inf.
        """
        if self.ground.undecided:
            return Surplus(np.zeros((0, 0)), math.inf)
        return self._on_ground(self.image(G))

    def _on_ground(self, G: Weights) -> Surplus:
        """T^T G T, with an error bound."""
        return Surplus(*squares_of_pairs(self.ground.images, G.pairs, G.w))

    def image(self, G: Weights) -> Weights:
        """C - G as weights on pairs.

        The method does not check that C - G is psd. For `bound` and `excess`, the caller must have made the dual
        variables feasible: multiplied them (`best_multiple`), or mixed them (theorem/strict_prices.py).
        """
        return Weights(np.concatenate([self.C.pairs, G.pairs]), np.concatenate([self.C.w, -G.w]))

    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Weights | None:
        """C - G as weights on pairs if it is psd, else None. X: the points in rationals. hint: not used."""
        left = self.image(G)
        return left if X.psd(left.pairs, fractions(left.w)) else None

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        return at.total(self.C)
