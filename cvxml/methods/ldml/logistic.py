"""The logistic loss of labelled pairs, sum w log(1 + exp(t (D - b))), t = 1 for similar pairs and -1 for dissimilar.

    k(a) = sum w H(alpha / w) - b sum t alpha,  a = -t alpha, 0 <= alpha <= w,   H(x) = -x log x - (1 - x) log(1 - x)

With b free the loss is the minimum over b, and the domain of k requires sum t alpha = 0. Let x = alpha / w and
s = 1 / (1 + exp(-t (D - b))). The gap of a pair is w times the divergence of x from s, which is
x log(x / s) + (1 - x) log((1 - x) / (1 - s)). The code adds s - x to the first part and subtracts it from the second,
so that both parts are nonnegative. With b free this holds at any b; the best b is found by bisection.

With b free, alpha are whole multiples of one power of two, so that sums are exact and agree to the last digit.

A pair (i, i) is a point with itself. It has D = 0, so its loss depends only on b.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.losses.base import NONE, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block, Entries, Prices, View, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.numbers.rounding import TINY
from cvxml.numbers.sums import Sum, accurate_total

BITS = 50  # of a sum of alpha, with b free
LEAST = -1000  # smallest exponent of the power of two
HALVINGS = 200
NEAR = 1e-9  # of the size of b: how near the best it is looked for


class Labelled(NamedTuple):
    """v = D of the t-th pair; a pair that may have no price has the price 0. Prices are of all rows."""

    listed: IntArray  # (p, 2)

    @property
    def pairs(self) -> PairRows:
        """The same as rows of any loss."""
        return PairRows(self.listed)

    def table(self, prices: Prices) -> Any:
        """All of them (p,)."""
        a = np.zeros(len(self.listed), dtype=prices.a.dtype)
        a[prices.key] = prices.a
        return a

    def prices(self, a: Any) -> Prices:
        """Of all rows."""
        return Prices(a, np.arange(len(a)))

    def blocks(self, view: View, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """All at once."""
        return self.pairs.blocks(view, prices, kept)

    def weights(self, prices: Prices) -> Weights:
        """a_t X_t"""
        return self.pairs.weights(prices)

    def within_span(self, labels: IntArray, prices: Prices) -> Prices:
        """All rows, 0 where a pair has two labels."""
        i, j = labels[self.listed].T
        return self.prices(np.where(i == j, self.table(prices), 0.0))

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[Any]:
        """See `Rows`."""
        return self.pairs.exactly(D)

    def entries(self, key: IntArray) -> Entries:
        """See `WithEntries`."""
        return self.pairs.entries(key)


class Logistic(NamedTuple):
    """The logistic loss of pairs with labels t and weights w."""

    t: IntArray  # (p,) 1 similar, -1 dissimilar
    b: Any  # a float, or a fraction for exact arithmetic; None: the best
    w: Any = 1  # (p,) > 0, floats, or fractions for exact arithmetic; 1: all of them are 1

    @property
    def weights(self) -> FloatArray:
        """The weights as floats (p,)."""
        return np.broadcast_to(np.asarray(self.w, dtype=np.float64), self.t.shape)

    @property
    def is_rounded(self) -> bool:
        """True if the weights may be floats next to fractions; such a float may be 1 where its fraction is not."""
        return np.ndim(self.w) > 0

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped; with b free the heavier kind is shrunk."""
        alpha = np.clip(np.where(np.isnan(a), 0.0, -self.t * a), 0.0, self.weights)
        return -self.t * (alpha if self.b is not None else self._level(alpha))

    def _level(self, alpha: FloatArray) -> FloatArray:
        """Multiples of a power of two with the same sum for both kinds."""
        near, far = self.t > 0, self.t < 0
        sums = [math.fsum(alpha[kind]) for kind in (near, far)]
        whole = np.zeros(len(alpha))
        if min(sums) <= 0:
            return whole
        unit = 2.0 ** max(math.ceil(math.log2(min(sums))) - BITS, LEAST)
        for kind, own in zip((near, far), sums, strict=True):
            whole[kind] = np.floor(alpha[kind] * (min(sums) / own) / unit)
        for kind, other in ((near, far), (far, near)):
            left = float(whole[kind].sum() - whole[other].sum())
            for k in np.flatnonzero(kind)[np.argsort(-whole[kind], kind="stable")]:
                if left <= 0:
                    break
                taken = min(left, whole[k])
                whole[k] -= taken
                left -= taken
        level: FloatArray = whole * unit
        return level

    def conjugate(self, a: FloatArray) -> Sum:
        """sum w H(alpha / w) - b sum t alpha"""
        alpha, w = np.abs(a), self.weights
        x = alpha / w
        H = w * (-xlogy(x, x) - xlog1py(1 - x, -x))
        shift = 0.0 * a if self.b is None else float(self.b) * a
        # the derivative of w H(alpha / w) in w is -log(1 - x); it bounds the effect of a rounded w
        steep = 1 - np.log(np.maximum(1 - x, EPS))
        rounded = 4 * EPS * alpha * steep if self.is_rounded else 0.0
        value, off = accurate_total(H + shift, 8 * EPS * (H + np.abs(shift)) + 2 * EPS * alpha + rounded)
        return Sum(value, off + TINY)

    def ray(self, a: FloatArray) -> Ray:
        """The ray ends where a dual variable reaches the weight of its pair."""
        top = float((np.abs(a) / self.weights).max(initial=0.0))
        return Ray(lambda t: self.conjugate(t * a).value, 1 / top if top > 0 else 1.0)

    def part(self, block: Block) -> ValueAndExcess:
        """At the best b that is found, of which what it misses is counted."""
        w = self.weights
        D, off, x = block.v, block.off, np.abs(block.a) / w
        b, missed = (float(self.b), 0.0) if self.b is not None else best(self.t, D, w)
        z = self.t * (D - b)
        e = off + 2 * EPS * (np.abs(D) + abs(b))
        loss, s = np.logaddexp(0, z), expit(z)
        with np.errstate(over="ignore", invalid="ignore"):
            steep = np.minimum(1.0, s * np.exp(np.minimum(e, 700.0)))
            value = accurate_total(w * loss, w * (steep * e + 8 * EPS * loss))
            beside, wide = np.zeros(len(D)), np.zeros(len(D))
            for share, of, log_of in ((x, s, -np.logaddexp(0, -z)), (1 - x, expit(-z), -loss)):
                d = np.where(share > 0, log_of - np.log(np.where(share > 0, share, 1.0)), 0.0)
                near = share * (np.expm1(np.minimum(d, 1.0)) - d)
                own = np.where(share > 0, np.where(d < 1, near, of - share * (1 + d)), of)
                beside += np.maximum(0.0, own)
                wide += 8 * EPS * (share * np.abs(d) + np.abs(own)) + 2 * EPS * (1 + np.abs(d))
                if self.is_rounded:  # and x with the weight
                    wide += 2 * EPS * (1 + np.abs(d))
            moved = np.abs(s - x) * e + np.minimum(steep * e, e**2)
        excess = accurate_total(w * beside, w * (moved + wide))
        missed += TINY  # what is next to nothing underflows
        return ValueAndExcess(Sum(value.value, value.off + missed), Sum(excess.value, excess.off + missed))

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """In balls; with b free at the float that is found, which is no less than the best."""
        D = list(v)
        floats = np.array(D, dtype=float)
        b = Fraction(self.b) if self.b is not None else Fraction(best(self.t, floats, self.weights)[0])
        z = [t * (d - b) for t, d in zip(self.t.tolist(), D, strict=True)]
        losses = [ball(max(each, NONE)) + (1 + ball(-abs(each)).exp()).log() for each in z]
        return total_of([ball(w) * loss for w, loss in zip(self._fractions(), losses, strict=True)])

    def _fractions(self) -> list[Fraction]:
        """Return the weights as fractions."""
        return [Fraction(w) for w in np.broadcast_to(np.asarray(self.w), self.t.shape).tolist()]

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped; with b free the heavier kind is shrunk, where the two differ."""
        signs = self.t.tolist()
        alpha = [
            min(max(-t * price, NONE), w) for t, price, w in zip(signs, a, self._fractions(), strict=True)
        ]
        if self.b is None:
            sums = {
                kind: sum((x for x, t in zip(alpha, signs, strict=True) if t == kind), NONE)
                for kind in (1, -1)
            }
            least = min(sums.values())
            alpha = [x * least / sums[t] if x else x for x, t in zip(alpha, signs, strict=True)]
        return [-t * x for t, x in zip(signs, alpha, strict=True)]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """In balls."""
        shares = [(w, abs(price) / w) for w, price in zip(self._fractions(), a, strict=True)]
        terms = [-ball(w * x) * ball(x).log() for w, share in shares for x in (share, 1 - share) if x > 0]
        shift = NONE if self.b is None else Fraction(self.b) * sum(a, NONE)
        return total_of(terms) + ball(shift)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        alpha = np.abs(a)
        threshold = np.zeros(len(a), dtype=np.intp) if self.b is None else None
        return Sensitivity(alpha * (1 - alpha / self.weights), threshold)


def best(t: IntArray | FloatArray, D: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Return a b that nearly minimizes sum w log(1 + exp(t (D - b))), and a bound of the excess over the minimum.

    The derivative in b, -sum t w s, grows with b. If it is p at a b within a width of the minimum, the excess is at
    most |p| times the width.
    """
    if not np.isfinite(D).all():
        return 0.0, math.inf
    room = math.log(2 * float(w.sum() / w.min()) + 2)
    low, high = float(D.min()) - room, float(D.max()) + room
    for _ in watched(range(HALVINGS)):
        b = (low + high) / 2
        if not low < b < high:
            break
        low, high = (b, high) if (t * w) @ expit(t * (D - b)) > 0 else (low, b)
    b = (low + high) / 2
    within = NEAR * (abs(b) + room)
    sure = _slope(t, D, w, b - within)[1] < 0 < _slope(t, D, w, b + within)[0]
    wide = within if sure else float(D.max() - D.min()) + 2 * room
    return b, max(map(abs, _slope(t, D, w, b))) * wide


def _slope(t: IntArray | FloatArray, D: FloatArray, w: FloatArray, b: float) -> tuple[float, float]:
    """Return a lower and an upper bound of -sum t w s at b; rounding of the terms is included."""
    z, e = D - b, 4 * EPS * (np.abs(D) + abs(b))
    ends = [float(np.sum(-t * w * expit(t * (z + side * e)))) for side in (1, -1)]
    off = 4 * EPS * float(w.sum()) * (len(t) + 1)
    return ends[0] - off, ends[1] + off
