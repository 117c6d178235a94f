"""How a metric is found for lam/2 ||M||^2 with a hinge: its dual over a box, by gradients and then by Newton's method.

    min_{0 <= a <= c}  ||P_+(G)||^2 / (2 lam) + g/2 ||a||^2 - sum a,      G = sum_t a_t V_t - C,      M = P_+(G) / lam,
g the width of a smoothed hinge, else 0, and <C, M> the straight loss beside it, if there is one. The gradient is
v - 1 + g a, v the margins of M. Accelerated gradient steps (firstorder.py) find which prices are neither 0 nor c; on
that face regularised semismooth Newton steps (newton.py) reach any accuracy in a few rounds. In units of the points in
which they are about 1, the problem is the same with another lam. Several metrics (blocks.py) have a G each, (m, d, d)
in all; one is m = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray, in_blocks
from cvxml.family.bound import Family
from cvxml.family.firstorder import accelerated
from cvxml.family.frobenius import Frobenius
from cvxml.family.losses import Hinge, SmoothedHinge, Straight
from cvxml.family.newton import MAX_ENTRIES, derivative_weights, solve_regularised
from cvxml.family.rows import PairRows, Prices, Triplets
from cvxml.family.symmetric import quadratic, weighted

BATCH = 20  # gradient steps between two proofs
ENOUGH = 0.5  # of the gap that a Newton step leaves: more is little
REACH = 1e6  # sigma of newton.py, in gradient steps
HALVINGS = 20


class BoxDual:
    """The dual, as firstorder.py takes it."""

    def __init__(self, family: Family):
        regularizer, ((hinge, rows), *beside) = family.regularizer, family.terms
        assert isinstance(regularizer, Frobenius)
        assert isinstance(hinge, (Hinge, SmoothedHinge))
        assert isinstance(rows, Triplets)
        self.lam, self.scale = regularizer.weight, regularizer.scale
        self.points, self.shares_of = regularizer.unit, regularizer.shares
        self.cap, self.g = (float(hinge.c), 0.0) if isinstance(hinge, Hinge) else (1.0, float(hinge.g))
        self.key = rows.keys()
        entries = rows.entries(self.key)
        pairs, place = np.unique(entries.pairs, axis=0, return_inverse=True)
        shape = (len(self.key), len(pairs))
        self.B = csr_array((entries.sign, (entries.row, place.reshape(-1))), shape=shape)
        self.E, self.shares = self._seen(pairs)
        size = abs(self.B) @ (np.sum(self.E**2, axis=1) * np.linalg.norm(self.shares, axis=1))
        self.steps: FloatArray = 1 / np.maximum(size, 1e-9 * float(size.max(initial=1e-100))) ** 2
        self.C: FloatArray = np.zeros((self.shares.shape[1], *[self.E.shape[1]] * 2))
        for loss, straight in beside:
            assert isinstance(loss, Straight)
            assert isinstance(straight, PairRows)
            self.C += float(loss.c) * _squares(*self._seen(straight.listed))

    def _seen(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Differences (p, d) of pairs, and what each metric has of them (p, m)."""
        E: FloatArray = self.points[pairs[:, 0]] - self.points[pairs[:, 1]]
        return E, self.shares_of(pairs)

    def image(self, a: FloatArray) -> FloatArray:
        """G and, of a smoothed hinge, a in units in which its part of the dual has the same form: (m * d * d + t,)."""
        G = _squares(self.E, self.shares * (self.B.T @ a)[:, None]) - self.C
        return np.concatenate([G.ravel(), np.sqrt(self.lam * self.g) * a if self.g else a[:0]])

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
        self.value = square + dual.g / 2 * float(a @ a) - float(a.sum())

    def step(self, step: float) -> FloatArray:
        """A projected gradient step."""
        return np.clip(self.a - step * self.dual.steps * self.gradient, 0, self.dual.cap)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """||dG||^2 / lam + g ||da||^2, since P_+ does not expand."""
        return float(np.sum((new_image - self.image) ** 2)) / self.dual.lam

    def newton(self) -> Descent:
        """Where a Newton step on the face leads, if that is lower; else here."""
        dual, free = self.dual, (self.a > 0) & (self.a < self.dual.cap)
        free |= ((self.a == 0) & (self.gradient < 0)) | ((self.a == dual.cap) & (self.gradient > 0))
        each = [derivative_weights(values) for values in self.values]
        columns = sum(len(p) for _, p, _ in each)
        if not free.any() or not columns or max(free.sum(), len(dual.E)) * columns > MAX_ENTRIES:
            return self
        size = 1 / np.sqrt(1 / (REACH * dual.lam * dual.steps[free]) + dual.g)
        rows = [
            dual.B[free] @ (share[:, None] * turned[:, p] * turned[:, q] * (weights / np.sqrt(dual.lam)))
            for turned, share, (weights, p, q) in zip(dual.E @ self.vectors, dual.shares.T, each, strict=True)
        ]
        B = np.hstack(rows)
        direction = np.zeros(len(self.a))
        direction[free] = -solve_regularised(B * size[:, None], self.gradient[free] * size) * size
        for k in range(HALVINGS):
            a = np.clip(self.a + 0.5**k * direction, 0, dual.cap)
            there = Descent(dual, a, dual.image(a))
            # Next to the optimum two values agree but for rounding, and only the gaps tell which is better.
            if there.value < self.value or there.gap < self.gap / 2:
                return there
        return self

    @property
    def gap(self) -> float:
        """Of M and a: what the hinges leave (losses.py)."""
        a, g, cap = self.a, self.dual.g, self.dual.cap
        z = 1 - self.v
        p = np.clip(z / g, 0, cap) if g else a
        left = (cap - a) @ np.maximum(z - g, 0) + a @ np.maximum(-z, 0)
        return float(left + g / 2 * np.sum((p - a) ** 2))


class Boxed:
    """The solver under way."""

    def __init__(self, dual: BoxDual):
        self.dual = dual
        starts = (np.zeros(len(dual.key)), np.full(len(dual.key), dual.cap))
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

    def prices(self) -> Prices:
        """Of all rows."""
        used = self.at.a > 0
        return Prices(self.at.a[used], self.dual.key[used])
