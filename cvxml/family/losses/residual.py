"""LSML's loss on comparisons: phi(u, v) = sum w (sqrt u - sqrt v)_+^2 of rows u, near pairs, and then rows v, far ones.

It is the largest of w (s u - s/(1-s) v) over 0 <= s < 1: at s = (1 - sqrt(v/u))_+. So prices -w s of u and w s/(1-s) of
v have k = 0, and leave
    w / (1-s) ((1-s) sqrt u - sqrt v)^2  where u > v,  else  w s (v - u + s/(1-s) v):
no term is negative. A far pair of equal points is at v = 0 in every metric: it costs w u, and s = 1 is allowed, the
price of v being 0. Prices are known by s: to those of u belong the least that v may have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.exact import next_above
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import NONE, SHARES, Ray, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, accurate_total

BELOW_ONE = 1 - 1e-12  # of w: what -w s at its limit, or beyond, becomes


class Residual(NamedTuple):
    """w (sqrt u - sqrt v)_+^2"""

    w: Any  # (q,) > 0, floats, or fractions for exact arithmetic
    alone: Any  # (q,) True where the far pair is of equal points

    @property
    def weights(self) -> FloatArray:
        """(q,)"""
        return np.asarray(self.w, dtype=np.float64)

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

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

    def conjugate(self, a: FloatArray) -> Sum:
        """0"""
        return Sum(0.0, 0.0)

    def ray(self, a: FloatArray) -> Ray:
        """0 to the prices themselves: of smaller s those of v are smaller by more, so that a multiple is bettered."""
        return Ray(lambda t: 0.0, 1.0)

    def part(self, block: Block) -> ValueAndExcess:
        """The slopes are between those at the corners of what u and v may be; or phi is taken at its ends."""
        q, w = len(self.w), self.w
        (u, v), a = np.split(block.v, 2), -block.a[:q]
        du, dv = np.split(block.off + 2 * EPS * block.v, 2)
        dv = np.where(self.alone, 0.0, dv)
        s, left = a / w, np.where(self.alone, 1.0, (w - a) / w)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            phi, _, r = costs(u, v)
            most, p_high, r_high = costs(u + du, np.maximum(v - dv, 0.0))
            least, p_low, r_low = costs(np.maximum(u - du, 0.0), v + dv)
            far = np.where(self.alone, 0.0, s / left)
            beside = np.where(u > v, (left * np.sqrt(u) - np.sqrt(v)) ** 2 / left, s * (v - u + far * v))
            beside = np.where(self.alone, (1 - s) * u, beside)
            # what the two terms of the difference are off by, and the price of v that is rounded up
            size = np.abs(left * np.sqrt(u) - np.sqrt(v)) * (np.sqrt(u) + np.sqrt(v) / left)
            size = np.where(u > v, size + EPS * (u + v / left), s * (np.abs(v - u) + far * v))
            size = np.where(self.alone, u, size) + far * v
            share = 8 * EPS * (1 + r + far)
            by_slope = (np.maximum(np.abs(p_high - s), np.abs(p_low - s)) + share) * du
            by_slope += np.where(
                dv > 0,
                (np.maximum(np.abs(r_high - far), np.abs(r_low - far)) + 8 * EPS * (r_high + far)) * dv,
                0.0,
            )
            width = np.maximum(most - phi, phi - least) + 16 * EPS * most
            moved = np.fmin(by_slope, width + s * du + far * dv)
            return ValueAndExcess(
                accurate_total(w * phi, w * width), accurate_total(w * beside, w * (moved + 16 * EPS * size))
            )

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """In balls."""
        rows = list(v)
        near, far = rows[: len(self.w)], rows[len(self.w) :]
        return total_of(
            [
                ball(w) * (ball(a + b) - 2 * ball(a * b).sqrt())
                for w, a, b in zip(_fractions(self.w), near, far, strict=True)
                if a > b
            ]
        )

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """The same, rounded up to a denominator that is a power of two."""
        near, far = [], []
        for price, w, alone in zip(a[: len(self.w)], _fractions(self.w), self.alone, strict=True):
            most = w if alone else w * Fraction(BELOW_ONE)
            near.append(min(max(-price, NONE), most))
            far.append(NONE if alone else next_above(near[-1] * w / (w - near[-1]), SHARES))
        return [*(-price for price in near), *far]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return NONE


def _fractions(w: Any) -> list[Fraction]:
    return [Fraction(weight) for weight in np.asarray(w).tolist()]


def costs(u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(sqrt u - sqrt v)_+^2, s = (1 - sqrt(v/u))_+ and s / (1 - s), which is infinite at v = 0 < u."""
    high, low = np.sqrt(u), np.sqrt(v)
    apart = np.where(u > v, (u - v) / (high + low), 0.0)
    more = u > v
    return apart**2, np.where(more, apart / high, 0.0), np.where(more, apart / low, 0.0)
