"""The logistic loss of labelled pairs, sum w log(1 + exp(t (D - b))), t = 1 for similar pairs and -1 for dissimilar.

D is the squared distance of a pair, and w its weight. The conjugate k of this loss (family/losses/base.py), for dual
variables a, is

    k(a) = sum w H(alpha / w) - b sum t alpha,  a = -t alpha, 0 <= alpha <= w,   H(x) = -x log x - (1 - x) log(1 - x)

If b is free, the loss is the minimum over b, and the domain of k also requires sum t alpha = 0.

Excess. This is the part of the duality gap that is due to the loss. Let x = alpha / w and
s = 1 / (1 + exp(-t (D - b))). The excess of a pair is w times the divergence of x from s, x log(x / s) + (1 - x)
log((1 - x) / (1 - s)). The code adds s - x to the first part and subtracts it from the second, so that both parts are
nonnegative. If b is free, this formula is used at a nearly best b, which a bisection finds (`best`). In enclosures,
the result is widened by a bound of the difference to the loss at the best b.

If b is free, `to_domain` rounds the alpha to whole multiples of one power of two. So the sum of alpha over the similar
pairs and that over the dissimilar pairs are exact and equal.

A pair (i, i) is a point with itself. It has D = 0, so its loss depends only on b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.losses.base import NONE, ConjugateOnRay, Loss, Sensitivity
from cvxml.family.rows.base import Block, Duals, Entries, View, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.vocabulary import (
    entropy,
    exp,
    exp_excess,
    floats,
    like,
    log,
    softplus,
    total,
    where,
    x_log_x,
)

BITS = 50  # binary digits of the sum of alpha, if b is free
LOWEST_EXPONENT = -1000  # smallest exponent of the power of two
HALVINGS = 200  # at most, in the search for the best b
SMALL_SHARE = 1e-8  # below this share of a weight, the excess is computed term by term
RELATIVE_WIDTH = 1e-9  # the search for the best b ends at an interval of this width, relative to b


class Labelled(NamedTuple):
    """The rows of the loss: one row for each pair in `listed` (p, 2). The value v of a row is the squared distance D.

    `Duals` are dual variables with the keys of their rows; here a key is a position in `listed`. The methods return
    them for all rows, also for those with the dual variable 0.
    """

    listed: IntArray  # (p, 2)

    @property
    def pairs(self) -> PairRows:
        """The rows in the form that computes their distances and weights (family/rows/pairs.py)."""
        return PairRows(self.listed)

    def table(self, duals: Duals) -> Any:
        """The dual variables of all rows (p,), in the order of `listed`; 0 for a row that `duals` does not list."""
        a = np.zeros(len(self.listed), dtype=duals.a.dtype)
        a[duals.key] = duals.a
        return a

    def duals(self, a: Any) -> Duals:
        return Duals(a, np.arange(len(a)))

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        return self.pairs.blocks(view, duals, kept)

    def weights(self, duals: Duals) -> Weights:
        return self.pairs.weights(duals)

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """The dual variables of all rows, set to 0 for a pair of points with different labels.

        labels (n,): two points have the same label if they differ by a vector of the span of the similar differences.
        """
        i, j = labels[self.listed].T
        return self.duals(np.where(i == j, self.table(duals), 0.0))

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[Any]:
        return self.pairs.exactly(D)

    def entries(self, key: IntArray) -> Entries:
        return self.pairs.entries(key)


@dataclass(frozen=True, eq=False)
class Logistic(Loss):
    """The logistic loss of pairs with labels t (1 similar, -1 dissimilar), weights w, and a constant b.

    b = None: b is free. w = 1 if all weights are 1.

    missed: 0, unless b was found by a search. Then the loss at this b exceeds the least loss over b by at most
    `missed`.
    """

    t: IntArray  # (p,) 1 similar, -1 dissimilar
    b: Any  # a float, or a fraction for exact arithmetic; None: b is free
    w: Any = 1  # (p,) > 0, floats, or fractions for exact arithmetic; 1: all weights are 1
    missed: float = 0.0  # the value at b exceeds the value at the best b by at most this

    @property
    def weights(self) -> FloatArray:
        return np.broadcast_to(np.asarray(self.w, dtype=np.float64), self.t.shape)

    @property
    def is_rounded(self) -> bool:
        """True if weights w are given, because a given weight may be rounded when it becomes a float.

        For example, the float may be 1 although the exact weight, a fraction, is not 1.
        """
        return np.ndim(self.w) > 0

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Return a (p,) with alpha = -t a clipped to [0, w]. NaN becomes 0.

        If b is free, the alpha are also shrunk, so that similar and dissimilar pairs have the same sum.
        """
        alpha = np.clip(np.where(np.isnan(a), 0.0, -self.t * a), 0.0, self.weights)
        return -self.t * (alpha if self.b is not None else self._level(alpha))

    def _level(self, alpha: FloatArray) -> FloatArray:
        """Shrink alpha (p,) to multiples of a power of two with equal sums over similar and over dissimilar pairs."""
        near, far = self.t > 0, self.t < 0
        sums = [math.fsum(alpha[kind]) for kind in (near, far)]
        whole = np.zeros(len(alpha))
        if min(sums) <= 0:
            return whole
        unit = 2.0 ** max(math.ceil(math.log2(min(sums))) - BITS, LOWEST_EXPONENT)
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

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """Return k(c a) as a function of c > 0, up to the c at which a dual variable reaches the weight of its pair.

        If all dual variables are 0, the function is returned up to c = 1.
        """
        top = float((np.abs(a) / self.weights).max(initial=0.0))
        return ConjugateOnRay(lambda t: float(self.conjugate(t * a)), 1 / top if top > 0 else 1.0)

    def _weights_like(self, x: Any) -> Any:
        return like(x, self.w, rounded=self.is_rounded)

    def _signed(self, x: Any) -> Any:
        """x times the labels t (1 or -1), without a rounding error."""
        return where(self.t > 0, x, -x)

    def _shares(self, a: Any) -> Any:
        """The shares x = alpha / w with alpha = -t a. If no weights are given, x = alpha, without a division."""
        alpha = self._signed(-a)
        return alpha / self._weights_like(a) if self.is_rounded else alpha

    def of_block(self, block: Block) -> Logistic:
        """Return the loss with b set to the best b for the squared distances of `block`, to search for b only once.

        If b is given, the loss is returned unchanged.
        """
        return self._at_best(block.v)

    def _at_best(self, D: FloatArray) -> Logistic:
        """Return the loss with the best b that a search finds, if b is free; else the loss unchanged.

        D (p,): the squared distances. In exact arithmetic, too, the loss is evaluated at the b that was found. This
        value is an upper bound of the minimum over b.
        """
        if self.b is not None:
            return self
        b, missed = best(self.t, D, self.weights)
        return replace(self, b=b, missed=missed)

    def _shifted(self, v: Any) -> tuple[Any, Any]:
        """Return z = t (v - b) for squared distances v (p,), and a term to add to the loss at this b.

        If b is free, b is found by a search. For enclosures v the term is the interval from -`missed` to `missed`, so
        that the sum contains the least loss over b. For floats and exact numbers it is 0.
        """
        own = self._at_best(floats(v))
        z = self._signed(v - like(v, own.b, rounded=True))
        return z, Enclosure(0.0, own.missed) if isinstance(v, Enclosure) else like(v, 0)

    def value(self, v: Any) -> Any:
        z, missed = self._shifted(v)
        return total(self._weights_like(v) * softplus(z)) + missed

    def conjugate(self, a: Any) -> Any:
        """k(a) = sum w H(alpha / w) - b sum t alpha, with alpha = -t a and the entropy H; no term in b if b is free."""
        gained = total(self._weights_like(a) * entropy(self._shares(a)))
        return gained if self.b is None else gained + like(a, self.b, rounded=True) * total(a)

    def excess(self, v: Any, a: Any) -> Any:
        """The excess of all pairs: sum w (x log(x / s) + s - x), plus the same sum with 1 - x and 1 - s.

        x = alpha / w with alpha = -t a, and s = 1 / (1 + exp(-t (v - b))). If b is free, b is found by a search, and
        the term of `_shifted` is added.
        """
        (z, missed), x = self._shifted(v), self._shares(a)
        return (
            total(self._weights_like(v) * (_divergence(x, -softplus(-z)) + _divergence(1 - x, -softplus(z))))
            + missed
        )

    def _fractions(self) -> list[Fraction]:
        """The weights w of all rows as fractions."""
        return [Fraction(w) for w in np.broadcast_to(np.asarray(self.w), self.t.shape).tolist()]

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Move the fractions `a` into the domain exactly: alpha = -t a is clipped to [0, w].

        If b is free, the alpha of the kind of pairs with the larger sum are scaled down to the smaller sum.
        """
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

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """Return minus the derivative of each dual variable a in the squared distance D of its pair.

        This is alpha (1 - alpha / w) with alpha = |a|. If b is free, the sum of all dual variables a is 0, so the field
        `group` of the result puts all rows into one group. room: not used.
        """
        alpha = np.abs(a)
        threshold = np.zeros(len(a), dtype=np.intp) if self.b is None else None
        return Sensitivity(alpha * (1 - alpha / self.weights), threshold)


def _divergence(x: Any, log_s: Any) -> Any:
    """x log(x / s) + s - x >= 0 for each x in [0, 1], with s = exp(log_s).

    If x > `SMALL_SHARE` (1e-8) and s < e x, it is computed as x f(log(s / x)) with f(u) = e^u - 1 - u, which avoids
    cancellation. Otherwise the terms are added directly: none is much larger than the sum, or x is tiny.
    """
    d = log_s - log(where(floats(x) > SMALL_SHARE, x, like(x, 1)))
    near = (floats(x) > SMALL_SHARE) & (floats(d) < 1)
    return where(near, x * exp_excess(d), exp(log_s) - x - x * log_s + x_log_x(x))


def best(t: IntArray | FloatArray, D: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Return a b that nearly minimizes F(b) = sum w log(1 + exp(t (D - b))), and a bound of F(b) minus the minimum.

    t, D, w (p,): labels, squared distances and weights. F is convex. So if its minimizer is at most h away from b, the
    difference is at most h |F'(b)|. Returns (0, inf) if a distance is not finite.
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
    within = RELATIVE_WIDTH * (abs(b) + room)
    sure = _slope(t, D, w, b - within)[1] < 0 < _slope(t, D, w, b + within)[0]
    wide = within if sure else float(D.max() - D.min()) + 2 * room
    return b, max(map(abs, _slope(t, D, w, b))) * wide


def _slope(t: IntArray | FloatArray, D: FloatArray, w: FloatArray, b: float) -> tuple[float, float]:
    """Return a lower and an upper bound, rounding included, of the derivative in b of sum w log(1 + exp(t (D - b)))."""
    z, e = D - b, 4 * EPS * (np.abs(D) + abs(b))
    ends = [float(np.sum(-t * w * expit(t * (z + side * e)))) for side in (1, -1)]
    error = 4 * EPS * float(w.sum()) * (len(t) + 1)
    return ends[0] - error, ends[1] + error
