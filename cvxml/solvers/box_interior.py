"""The rows of the interior-point method (interior_point.py) for dual variables in a box, the problem of box_dual.py.

Row t has the value v_t = <V_t, M> and the dual variable a_t with low <= a_t <= high. The distances of a to the ends of
the box, p = a - low and q = high - a, have the multipliers y and z. The number g is the width of a smoothed hinge, else
0. At the optimum

    v + g a - 1 = y - z,      p y = 0,      q z = 0.

Let c and e be the wanted changes of the products p y and q z. A step dM of the metrics leads, to first order, to

    da = theta (h - <V, dM>),      theta = 1 / (g + y / p + z / q),      h = c / p - e / q - (v + g a - 1 - y + z).

So V_t times the square root of theta_t is row t of the matrix B in the equations of scaling.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray
from cvxml.solvers.interior_point import Pair, Rows, State
from cvxml.solvers.scaling import Scaling


class BoxProblem(Protocol):
    """The problem of box_dual.py, with m metrics (d, d) and t rows.

    The rows of E are differences of points, one for each pair p. D_p is the sum over the metrics b of shares_pb times
    the squared length of row p in metric b. The values of the rows are v = B D. This attribute B, with the coefficients
    of the pairs, is another matrix than `BoxRows.B`. The matrices G are linear(a) - C.
    """

    lam: float
    low: FloatArray  # (t,)
    high: FloatArray
    width: FloatArray  # g of each row
    B: csr_array  # (t, p)
    E: FloatArray  # (p, d)
    shares: FloatArray  # (p, m)
    C: FloatArray  # (m, d, d)

    def linear(self, a: FloatArray) -> FloatArray:
        """sum_t a_t V_t (m, d, d)."""

    def values(self, M: FloatArray) -> FloatArray:
        """The values v (t,) of the rows in the metrics M (m, d, d)."""


class BoxRows(Rows):
    """The rows of a problem with boxes. The pairs of a state are (p, y) and (q, z)."""

    def __init__(self, problem: BoxProblem):
        self.of, self.lam = problem, problem.lam

    def start(self) -> State:
        """The middle of the box, and so large a multiple of I for every metric that S is positive definite."""
        of = self.of
        half = (of.high - of.low) / 2
        a = of.low + half
        G = of.linear(a) - of.C
        top = max(float(np.abs(np.linalg.eigvalsh(G)).max()), 1e-100)
        M = 2 * top / of.lam * np.eye(G.shape[-1])[None].repeat(len(G), axis=0)
        excess = of.values(M) + of.width * a - 1
        both = 1 + float((of.width * half).max(initial=0.0)) + np.abs(excess)
        pairs = Pair(half, both + np.maximum(excess, 0)), Pair(half, both + np.maximum(-excess, 0))
        return State(M, pairs, np.zeros(0))

    def duals(self, at: State) -> FloatArray:
        (p, _), (q, _) = at.pairs
        a: FloatArray = np.where(p < q, self.of.low + p, self.of.high - q)
        return a

    def G(self, at: State) -> FloatArray:
        return self.of.linear(self.duals(at)) - self.of.C

    def enter(self, at: State) -> State:
        (p, y), (q, z) = at.pairs
        self.at, g = at.pairs, self.of.width
        self.theta = 1 / (g + y / p + z / q)
        self.rest = self.of.values(at.M) + g * self.duals(at) - 1 - y + z
        return at

    def B(self, scalings: Sequence[Scaling]) -> FloatArray:
        of = self.of
        each = zip(of.shares.T, scalings, strict=True)
        B = np.hstack([of.B @ (share[:, None] * scaling.rows(of.E)) for share, scaling in each])
        return B * np.sqrt(self.theta)[:, None]

    def unpriced(self, rests: Sequence[FloatArray]) -> FloatArray:
        return self.of.linear(self.theta * self._h(rests))

    def _h(self, rests: Sequence[FloatArray]) -> FloatArray:
        """h (t,) of the module docstring. rests: c (t,) and e (t,), the wanted changes of the products p y and q z."""
        (p, _), (q, _) = self.at
        h: FloatArray = rests[0] / p - rests[1] / q - self.rest
        return h

    def steps(self, rests: Sequence[FloatArray], dM: FloatArray) -> tuple[tuple[Pair, ...], FloatArray]:
        (p, y), (q, z) = self.at
        da = self.theta * (self._h(rests) - self.of.values(dM))
        pairs = Pair(da, (rests[0] - y * da) / p), Pair(-da, (rests[1] + z * da) / q)
        return pairs, np.zeros(0)
