"""The fast solver of DML-eig: an interior-point method on the pairs that matter (interior.py).

With M / least in place of M the problem is  min tr M  such that  <X~_t, M> >= 1  for all dissimilar pairs t: margins
none of which may be missed. A pair enters when its margin, at any iterate, is less than 1 + `AHEAD`.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.sparse import csr_array, eye_array

from cvxml.budget import budget, unproved
from cvxml.convex import Callback, Found, run
from cvxml.interior import Interior, Margin
from cvxml.methods.dml_eig.certify import certify
from cvxml.methods.dml_eig.instance import Instance
from cvxml.metric import FloatArray
from cvxml.result import Dual
from cvxml.symmetric import quadratic

AHEAD = 2.0
UNSEEN = 1e-180  # a squared distance
ROUNDS = 12  # of centring at the start


def fast(p: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
    """Solve to a gap of `tol` of the objective, certified after every step."""
    if not budget(p.similar, p.rank).undecided:
        return run(_Solver(p, start), partial(certify, p), tol, max_iter, callback, "interior")
    # the solver needs a gap to stop by; nobody else is told of it
    told = None if callback is None else lambda step: callback(unproved(step))
    seen = p._replace(rank=None)
    found = run(_Solver(p, start), partial(certify, seen), tol, max_iter, told, "interior")
    return found._replace(history=tuple(map(unproved, found.history)))


class _Solver:
    """The interior-point method with the pairs that are in."""

    def __init__(self, p: Instance, start: FloatArray | None):
        self.at = budget(p.similar, None)
        Z = p.dissimilar @ self.at.to
        size = np.sum(Z**2, axis=1)
        # a pair that differs in nothing that double precision sees is left out, unless all do
        self.seen = np.flatnonzero(size > UNSEEN)
        if len(self.seen) == 0:
            self.seen, size, Z = np.arange(len(Z)), np.ones(len(Z)), Z + 1.0
        Z, self.count = Z[self.seen], len(Z)
        self.unit = float(np.sqrt(size[self.seen].min()))
        self.Z = Z / self.unit
        r = Z.shape[1]
        M: FloatArray = np.eye(r)
        if start is not None and start.any():
            given = self.at.inside(start)
            M = given / float(np.trace(given)) + 1e-2 / r * M
        M *= 2 / float(quadratic(self.Z, M).min())
        self.entered: list[np.ndarray] = []
        self.waiting = np.ones(len(Z), dtype=bool)
        self.inner = Interior.start(np.eye(r), Margin(math.inf), M)
        self.extend()
        self.inner.begin(float(np.trace(M)) / (r + len(self.inner.price)), ROUNDS)
        self.extend()

    def step(self) -> bool:
        """One step, and the pairs that it brings in; False where rounding allows none."""
        moved = self.inner.step()
        self.extend()
        return moved

    def extend(self) -> None:
        """Let the pairs in whose margin is less than 1 + `AHEAD`."""
        new = np.flatnonzero(self.waiting & (quadratic(self.Z, self.inner.M) < 1 + AHEAD))
        if len(new) == 0:
            return
        self.waiting[new] = False
        self.entered.append(new)
        old = len(self.inner.E)
        B = csr_array(eye_array(len(new), old + len(new), k=old))
        self.inner.add(self.Z[new], B)

    def metric(self) -> FloatArray:
        """(d, d), within the budget."""
        return self.at.outside(self.inner.M / float(np.trace(self.inner.M)))

    def dual(self) -> Dual:
        """The prices, of any sum."""
        q = np.zeros(self.count)
        q[self.seen[np.concatenate(self.entered)]] = self.inner.price
        return {"q": q}
