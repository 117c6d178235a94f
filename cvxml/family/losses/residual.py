"""LSML's loss on comparisons: phi(u, v) = sum w (sqrt u - sqrt v)_+^2.

A comparison asks that a near pair of points is closer than a far pair; w is its weight. The rows are the squared
distances u of the q near pairs, followed by the squared distances v of the q far pairs.

The loss of one comparison is the maximum over 0 <= s < 1 of w (s u - s/(1-s) v), attained at s = (1 - sqrt(v/u))_+. So
the dual variables -w s of u and w s/(1-s) of v have the conjugate k = 0. The excess of the comparison is >= 0:
    w / (1-s) ((1-s) sqrt u - sqrt v)^2  where u > v,  else  w s (v - u + s/(1-s) v).

If the two points of a far pair are equal, v = 0 in every metric. Then the loss is w u, s = 1 is allowed, and the dual
variable of v is 0.

Only the dual variables of u are free. Those of v follow from them: w s/(1-s), the smallest value in the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.exact import next_above
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import NONE, SHARES, ConjugateOnRay, Loss
from cvxml.numbers.vocabulary import choose, like, pos, sqrt, square, total, where

BELOW_ONE = 1 - 1e-12  # largest s where s < 1 is required


@dataclass(frozen=True, eq=False)
class Residual(Loss):
    """phi(u, v) = sum w (sqrt u - sqrt v)_+^2 over q comparisons; the rows are u (q,), then v (q,).

    w (q,): the weights. alone (q,): True where the two points of the far pair are equal.
    """

    w: Any  # (q,) > 0, floats, or fractions for exact arithmetic
    alone: Any  # (q,) True where the two points of the far pair are equal

    @property
    def weights(self) -> FloatArray:
        return np.asarray(self.w, dtype=np.float64)

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clip s to [0, BELOW_ONE], or to [0, 1] for far pairs of two equal points; NaN becomes 0.

        s is taken from the dual variables -w s of u. Those of v are computed from s, and rounded up.
        """
        near = np.clip(np.where(np.isnan(a), 0.0, -a)[: len(self.w)], 0.0, self.w)
        near = np.where(self.alone, near, np.minimum(near, BELOW_ONE * self.w))
        return np.concatenate([-near, self._far(near)])

    def _far(self, near: FloatArray) -> FloatArray:
        """The dual variables w s / (1 - s) of v, rounded up; 0 for far pairs of two equal points. near (q,): w s."""
        left = np.where(self.alone, 1.0, self.w - near)
        far: FloatArray = np.where(self.alone, 0.0, near * (self.w / left) * (1 + 4 * EPS))
        return far

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a) = 0, for t up to 1.

        t a is in the domain. But its dual variables of v are larger than the smallest allowed value w s / (1 - s),
        which weakens the bound; `to_domain` lowers them to this value.
        """
        return ConjugateOnRay(lambda t: 0.0, 1.0)

    def _sides(self, rows: Any) -> tuple[Any, Any]:
        """Split `rows` (2 q,), values or dual variables, into those of the near pairs and those of the far pairs.

        The entry of a far pair of two equal points becomes 0.
        """
        q = len(self.alone)
        return rows[:q], where(self.alone, like(rows, 0), rows[q:])

    def value(self, v: Any) -> Any:
        u, v = self._sides(v)
        return total(like(u, self.w) * square(pos(sqrt(u) - sqrt(v))))

    def conjugate(self, a: Any) -> Any:
        return like(a, 0)

    def excess(self, v: Any, a: Any) -> Any:
        """phi(u, v) - k(a) + a (u, v), by the formula in the docstring of this module, plus one term.

        The dual variables of v are rounded up, so they exceed w s / (1 - s) slightly. The additional term is this
        difference times v.
        """
        (u, v), (near, far), w = self._sides(v), self._sides(a), like(v, self.w)
        s, left = -near / w, where(self.alone, like(v, 1), (w + near) / w)
        share = where(self.alone, like(v, 0), s / left)
        over = square(left * sqrt(u) - sqrt(v)) / left
        own = where(self.alone, (1 - s) * u, choose(u - v, over, s * (pos(v - u) + share * v)))
        return total(w * own + pos(far - w * share) * v)

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clip s to [0, BELOW_ONE], or to [0, 1] for far pairs of two equal points.

        s is taken from the dual variables -w s of u. Those of v are computed from s, and rounded up to a denominator
        that is a power of two.
        """
        near, far = [], []
        for dual, w, alone in zip(a[: len(self.w)], _fractions(self.w), self.alone, strict=True):
            most = w if alone else w * Fraction(BELOW_ONE)
            near.append(min(max(-dual, NONE), most))
            far.append(NONE if alone else next_above(near[-1] * w / (w - near[-1]), SHARES))
        return [*(-dual for dual in near), *far]


def _fractions(w: Any) -> list[Fraction]:
    return [Fraction(weight) for weight in np.asarray(w).tolist()]
