"""The solver for lam/2 ||M||^2 with hinges: the dual over a box, by projected gradients and Newton's method.

Each loss has k(a) = sum a - g/2 ||a||^2 over low <= a <= high (`Box` of losses/base.py). The dual is

    min_{low <= a <= high}  ||P_+(G)||^2 / (2 lam) + g/2 ||a||^2 - sum a,    G = sum_t a_t V_t - C,    M = P_+(G) / lam,

where g is the width of a smoothed hinge, else 0, and <C, M> is the straight loss, if there is one. The gradient is
v - 1 + g a, with the margins v of M. Accelerated gradient steps (first_order.py) find which prices are neither low nor
high; on that face regularised semismooth Newton steps (newton.py) reach any accuracy in a few rounds. The problem is
solved in units of the points in which they are about 1, with lam in these units. Several metrics (blocks.py) have a G
each, (m, d, d) in all; one metric is m = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray, in_blocks
from cvxml.family.geometry.symmetric import quadratic, weighted
from cvxml.family.losses.base import Box
from cvxml.family.losses.straight import Straight
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Prices
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family
from cvxml.solvers.first_order import accelerated
from cvxml.solvers.newton import MAX_ENTRIES, derivative_weights, solve_regularised

BATCH = 20  # gradient steps between two proofs
ENOUGH = 0.5  # of the gap that a Newton step leaves: more is little
REACH = 1e6  # sigma of newton.py, in gradient steps
HALVINGS = 20


class BoxedTerm(NamedTuple):
    """A loss that is not straight."""

    place: int  # among the terms of the family
    box: Box
    rows: Triplets | PairRows


def boxed_terms(family: Family) -> list[BoxedTerm]:
    """The losses that are not straight. Raises TypeError for a loss or rows without a solver."""
    found = []
    for place, (loss, rows) in enumerate(family.terms):
        if isinstance(loss, Straight) and isinstance(rows, PairRows):
            continue
        box = getattr(loss, "box", None)
        if not isinstance(box, Box) or not isinstance(rows, (Triplets, PairRows)):
            raise TypeError(
                f"no solver takes {type(loss).__name__} on {type(rows).__name__} with the Frobenius norm: give the "
                "loss a `box` (family/losses/base.py) and use Triplets or PairRows, or set PATH to a solver of your own"
            )
        found.append(BoxedTerm(place, box, rows))
    return found


class BoxDual:
    """The dual, as first_order.py takes it. The prices a (t,) are those of all terms, one term after the other."""

    def __init__(self, family: Family):
        regularizer, terms = family.regularizer, boxed_terms(family)
        assert isinstance(regularizer, Frobenius)
        self.lam, self.scale = regularizer.weight, regularizer.scale
        self.points, self.shares_of = regularizer.unit, regularizer.shares
        self.places = [term.place for term in terms]
        self.keys = [term.rows.keys() for term in terms]
        sizes = [len(key) for key in self.keys]
        boxes = zip(*(term.box for term in terms), strict=True)
        self.low, self.high, self.g = (np.repeat(bounds, sizes) for bounds in boxes)
        entries = [term.rows.entries(key) for term, key in zip(terms, self.keys, strict=True)]
        first = np.cumsum([0, *sizes])
        row = np.concatenate([each.row + start for each, start in zip(entries, first[:-1], strict=True)])
        sign = np.concatenate([each.sign for each in entries])
        pairs = np.concatenate([each.pairs for each in entries])
        pairs, place = np.unique(pairs, axis=0, return_inverse=True)
        self.B = csr_array((sign, (row, place.reshape(-1))), shape=(first[-1], len(pairs)))
        self.E, self.shares = self._seen(pairs)
        size = abs(self.B) @ (np.sum(self.E**2, axis=1) * np.linalg.norm(self.shares, axis=1))
        self.steps: FloatArray = 1 / np.maximum(size, 1e-9 * float(size.max(initial=1e-100))) ** 2
        self.C: FloatArray = np.zeros((self.shares.shape[1], *[self.E.shape[1]] * 2))
        for loss, rows in family.terms:
            if isinstance(loss, Straight) and isinstance(rows, PairRows):
                self.C += float(loss.c) * _squares(*self._seen(rows.listed))

    def _seen(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Differences (p, d) of pairs, and what each metric has of them (p, m)."""
        E: FloatArray = self.points[pairs[:, 0]] - self.points[pairs[:, 1]]
        return E, self.shares_of(pairs)

    def of(self, prices: Sequence[Prices]) -> FloatArray:
        """Return the dual variables of the family's terms as an array (t,), clipped to the box; 0 for missing rows."""
        each = []
        for place, keys in zip(self.places, self.keys, strict=True):
            a, order = np.zeros(len(keys)), np.argsort(keys)
            given = prices[place]
            at = order[np.minimum(np.searchsorted(keys, given.key, sorter=order), len(keys) - 1)]
            known = keys[at] == given.key
            a[at[known]] = given.a[known]
            each.append(a)
        return np.clip(np.concatenate(each), self.low, self.high)

    def image(self, a: FloatArray) -> FloatArray:
        """G and, of a smoothed hinge, a in units in which its part of the dual has the same form: (m * d * d + t,)."""
        G = _squares(self.E, self.shares * (self.B.T @ a)[:, None]) - self.C
        return np.concatenate([G.ravel(), np.sqrt(self.lam * self.g) * a if self.g.any() else a[:0]])

    def descent(self, a: FloatArray, image: FloatArray) -> Descent:
        """The gradient at a."""
        return Descent(self, a, image)


def _squares(E: FloatArray, w: FloatArray) -> FloatArray:
    """sum_p w_pb e_p e_p^T (m, d, d) over the rows of E (p, d), for w (p, m)."""
    S: FloatArray = np.stack([weighted(E, own) for own in w.T])
    return S


class Descent:
    """The gradient of the dual at prices a (t,)."""

    def __init__(self, dual: BoxDual, a: FloatArray, image: FloatArray):
        self.dual, self.a, self.image = dual, a, image
        self.values, self.vectors = np.linalg.eigh(image[: dual.C.size].reshape(dual.C.shape))
        positive = np.maximum(self.values, 0)[:, None, :]
        self.M: FloatArray = (self.vectors * positive) @ self.vectors.transpose(0, 2, 1) / dual.lam
        D = np.stack([quadratic(dual.E, M) for M in self.M], axis=1)
        self.v: FloatArray = dual.B @ np.sum(dual.shares * D, axis=1)
        self.gradient: FloatArray = self.v - 1 + dual.g * a
        square = float(np.sum(np.maximum(self.values, 0) ** 2)) / (2 * dual.lam)
        self.value = square + float(dual.g @ a**2) / 2 - float(a.sum())

    def step(self, step: float) -> FloatArray:
        """A projected gradient step."""
        return np.clip(self.a - step * self.dual.steps * self.gradient, self.dual.low, self.dual.high)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """||dG||^2 / lam + g ||da||^2, since P_+ does not expand."""
        return float(np.sum((new_image - self.image) ** 2)) / self.dual.lam

    def newton(self) -> Descent:
        """Where a Newton step on the face leads, if that is lower; else here."""
        dual, free = self.dual, (self.a > self.dual.low) & (self.a < self.dual.high)
        free |= (self.a == dual.low) & (self.gradient < 0)
        free |= (self.a == dual.high) & (self.gradient > 0)
        each = [derivative_weights(values) for values in self.values]
        columns = sum(len(p) for _, p, _ in each)
        if not free.any() or not columns or max(free.sum(), len(dual.E)) * columns > MAX_ENTRIES:
            return self
        size = 1 / np.sqrt(1 / (REACH * dual.lam * dual.steps[free]) + dual.g[free])
        rows = [
            dual.B[free] @ (share[:, None] * turned[:, p] * turned[:, q] * (weights / np.sqrt(dual.lam)))
            for turned, share, (weights, p, q) in zip(dual.E @ self.vectors, dual.shares.T, each, strict=True)
        ]
        B = np.hstack(rows)
        direction = np.zeros(len(self.a))
        direction[free] = -solve_regularised(B * size[:, None], self.gradient[free] * size) * size
        for k in watched(range(HALVINGS)):
            a = np.clip(self.a + 0.5**k * direction, dual.low, dual.high)
            there = Descent(dual, a, dual.image(a))
            # Next to the optimum two values agree but for rounding, and only the gaps tell which is better.
            if there.value < self.value or there.gap < self.gap / 2:
                return there
        return self

    @property
    def gap(self) -> float:
        """The gap of M and a: with p the price that has no excess at v, (p - a) z - g/2 (p^2 - a^2) for z = 1 - v."""
        a, g, low, high = self.a, self.dual.g, self.dual.low, self.dual.high
        z = 1 - self.v
        p = np.clip(np.divide(z, g, out=a.copy(), where=g > 0), low, high)
        left = (high - a) @ np.maximum(z - g * high, 0) + (a - low) @ np.maximum(g * low - z, 0)
        return float(left + g @ (p - a) ** 2 / 2)


class Boxed:
    """The solver under way."""

    def __init__(self, dual: BoxDual, start: Sequence[Prices] | None = None):
        self.dual = dual
        starts = [np.zeros(len(dual.low)), np.where(dual.high > 0, dual.high, dual.low)]
        if start is not None:
            starts.append(dual.of(start))
        self.at = min((Descent(dual, a, dual.image(a)) for a in starts), key=lambda at: at.value)

    def step(self) -> bool:
        """A Newton step, or a batch of gradient steps where that wins little; False where neither wins anything."""
        before = self.at
        self.at = before.newton()
        if self.at.gap > ENOUGH * before.gap:
            states = accelerated(self.dual, self.at.a, self.dual.lam)
            for _ in range(BATCH):
                state = next(states)
            at = Descent(self.dual, state.v, self.dual.image(state.v))
            self.at = at if at.value < self.at.value or at.gap < self.at.gap else self.at
        return self.at.value < before.value or self.at.gap < before.gap

    def metric(self) -> FloatArray:
        """(m d, m d), the blocks on its diagonal."""
        M: FloatArray = in_blocks(self.at.M) / self.dual.scale**2
        return (M + M.T) / 2

    def prices(self) -> list[Prices]:
        """The prices of each term that are not 0."""
        sizes = [len(key) for key in self.dual.keys]
        each = zip(np.split(self.at.a, np.cumsum(sizes)[:-1]), self.dual.keys, strict=True)
        return [Prices(a[a != 0], key[a != 0]) for a, key in each]
