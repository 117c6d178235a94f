"""LSML's loss on comparisons: phi(u, v) = sum w (sqrt u - sqrt v)_+^2 of rows u, near pairs, and then rows v, far ones.

It is the largest of w (s u - s/(1-s) v) over 0 <= s < 1: at s = (1 - sqrt(v/u))_+. So prices -w s of u and w s/(1-s) of
v have k = 0, and leave
    w / (1-s) ((1-s) sqrt u - sqrt v)^2  where u > v,  else  w s (v - u + s/(1-s) v):
no term is negative. A far pair of equal points is at v = 0 in every metric: it costs w u, and s = 1 is allowed, the
price of v being 0. Prices are known by s: to those of u belong the least that v may have.
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

BELOW_ONE = 1 - 1e-12  # of w: what -w s at its limit, or beyond, becomes


@dataclass(frozen=True, eq=False)
class Residual(Loss):
    """w (sqrt u - sqrt v)_+^2"""

    w: Any  # (q,) > 0, floats, or fractions for exact arithmetic
    alone: Any  # (q,) True where the far pair is of equal points

    @property
    def weights(self) -> FloatArray:
        """(q,)"""
        return np.asarray(self.w, dtype=np.float64)

    def to_domain(self, a: FloatArray) -> FloatArray:
        """s clipped, and below 1 where it must be; of each u's price that of v which belongs to it, or next above."""
        near = np.clip(np.where(np.isnan(a), 0.0, -a)[: len(self.w)], 0.0, self.w)
        near = np.where(self.alone, near, np.minimum(near, BELOW_ONE * self.w))
        return np.concatenate([-near, self._far(near)])

    def _far(self, near: FloatArray) -> FloatArray:
        """w s / (1 - s), or next above."""
        left = np.where(self.alone, 1.0, self.w - near)
        far: FloatArray = np.where(self.alone, 0.0, near * (self.w / left) * (1 + 4 * EPS))
        return far

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """0 to the prices themselves: of smaller s those of v are smaller by more, so that a multiple is bettered."""
        return ConjugateOnRay(lambda t: 0.0, 1.0)

    def _sides(self, rows: Any) -> tuple[Any, Any]:
        """Numbers of near rows and of far rows. Those of far pairs of equal points are 0."""
        q = len(self.alone)
        return rows[:q], where(self.alone, like(rows, 0), rows[q:])

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        u, v = self._sides(v)
        return total(like(u, self.w) * square(pos(sqrt(u) - sqrt(v))))

    def conjugate(self, a: Any) -> Any:
        """0"""
        return like(a, 0)

    def excess(self, v: Any, a: Any) -> Any:
        """The last term is the part of the far price above w s / (1 - s)."""
        (u, v), (near, far), w = self._sides(v), self._sides(a), like(v, self.w)
        s, left = -near / w, where(self.alone, like(v, 1), (w + near) / w)
        share = where(self.alone, like(v, 0), s / left)
        over = square(left * sqrt(u) - sqrt(v)) / left
        own = where(self.alone, (1 - s) * u, choose(u - v, over, s * (pos(v - u) + share * v)))
        return total(w * own + pos(far - w * share) * v)

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """The same, rounded up to a denominator that is a power of two."""
        near, far = [], []
        for price, w, alone in zip(a[: len(self.w)], _fractions(self.w), self.alone, strict=True):
            most = w if alone else w * Fraction(BELOW_ONE)
            near.append(min(max(-price, NONE), most))
            far.append(NONE if alone else next_above(near[-1] * w / (w - near[-1]), SHARES))
        return [*(-price for price in near), *far]


def _fractions(w: Any) -> list[Fraction]:
    return [Fraction(weight) for weight in np.asarray(w).tolist()]
