"""The fast solver of LMNN: an interior-point method on the triplets that matter, all others watched (interior.py).

It works in coordinates of unit covariance. Triplets enter when their margin, at any iterate, is less than 1 + `AHEAD`:
at the end every one that is left out is kept by more than its margin, so the optimum of those that are in is that of
all. Where the targets leave a direction free (no target differs in it), distances in it cost nothing: the triplets
whose impostor differs in it, exactly (ground.py), are made to keep their margin there, if double precision shows by how
much, and only the others are solved for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from cvxml.convex import Callback, Found, run
from cvxml.coordinates import coordinates
from cvxml.interior import Interior, Margin
from cvxml.methods.lmnn.certify import certify
from cvxml.methods.lmnn.ground import Ground, ground
from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import FloatArray, IntArray
from cvxml.result import Certificate, Dual, Status
from cvxml.symmetric import weighted

AHEAD = 0.5
NOISE = 64 * float(np.finfo(float).eps)  # of a coordinate that has lost no digits
ROUNDS = 12  # of centring at the start


def fast(p: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
    """Solve to a gap of `tol` of the objective, certified after every step."""
    on = ground(p)
    solver = _Solver(p, on, tol)
    if not solver.costs:  # all targets are at their points: any large metric is optimal
        return Found(solver.metric(), solver.dual(), Status.CONVERGED, 0)
    solver.begin(start)
    prove = partial(certify, p, on=on)
    return _representable(solver, run(solver, prove, tol, max_iter, callback, "interior"), prove, tol)


def _representable(
    solver: _Solver, found: Found, prove: Callable[[FloatArray, Dual], Certificate], tol: float
) -> Found:
    """What was found; or M = 0 where that is optimal, or what is best in double precision.

    Where features are nearly collinear entries of the metric are so large that its distances are lost in rounding.
    Tried in its place are its parts in the widest coordinates, the least of which is no metric at all.
    """

    def at_most(M: FloatArray) -> float:
        proof = prove(M, found.dual)
        return proof.objective + proof.rounding

    zero = 0 * found.metric
    if prove(zero, found.dual).proves(tol):
        return found._replace(metric=zero)
    if found.status is Status.CONVERGED:
        return found
    whole = solver.whole()
    masks = [np.arange(len(whole)) < k for k in range(1, len(whole))]
    parts = [solver.at.outside(np.where(np.outer(mask, mask), whole, 0.0)) for mask in masks]
    return found._replace(metric=min([found.metric, zero, *parts], key=at_most))


class _Solver:
    """The interior-point method with the triplets that are in."""

    def __init__(self, p: Instance, on: Ground, tol: float):
        self.p, self.at = p, coordinates(p.X)
        self.enough = tol if on.undecided else 0.0  # of the objective: no certificate will say when to stop
        pairs = self.at.Y[p.targets[:, 0]] - self.at.Y[p.targets[:, 1]]
        C = (1 - p.mu) * weighted(pairs, np.ones(len(pairs)))
        values, vectors = np.linalg.eigh(C)
        noise = NOISE * float(self.at.lost.max())
        # as many as the targets span, but those that double precision does not see
        costs = (np.arange(len(C))[::-1] < on.rank) & (values > noise**2 * max(values[-1], 0.0))
        self.costs = bool(costs.any())
        self.basis, self.free = vectors[:, costs], vectors[:, ~costs]
        self.C = np.diag(values[costs])
        self.Y = self.at.Y @ self.basis
        self.apart = _squared_distances(self.at.Y @ self.free)
        least = noise**2 * float(np.sum(self.at.Y**2, axis=1).max())
        loose = (on.labels[:, None] != on.labels) & (self.apart > least)
        self.loose = p.impostors & loose[p.targets[:, 0]]  # their margin costs nothing
        self.watched = p.impostors & ~self.loose
        self.column = np.full((len(p.X), len(p.X)), -1, dtype=np.intp)  # of a pair that is in use
        self.triplets: IntArray = np.zeros((0, 3), dtype=np.intp)
        self.inner = Interior.start(self.C, Margin(p.mu, p.squared), np.eye(len(self.C)))

    def begin(self, start: FloatArray | None) -> None:
        """From a multiple of C^-1, or of `start` (d, d): the best, and then near the central path."""
        M: FloatArray = np.diag(1 / np.diag(self.C))
        if start is not None and start.any():
            given = self.basis.T @ self.at.back.T @ start @ self.at.back @ self.basis
            M += 1e3 * float(np.trace(M)) / float(np.trace(given)) * given
        M = min((2.0**e * M for e in range(-30, 31)), key=self.objective)
        value, inner = self.objective(M), self.inner
        inner.M = M
        self.extend()
        inner.begin(value / (len(M) + 2 * len(inner.price)), ROUNDS)
        self.extend()

    def step(self) -> bool:
        """One step, and the triplets that it brings in; False where rounding allows none, or nothing is to be won."""
        left = self.inner.mu * (len(self.inner.M) + 2 * len(self.inner.price))
        if left <= self.enough * self.objective(self.inner.M):
            return False
        moved = self.inner.step()
        self.extend()
        return moved

    def objective(self, M: FloatArray) -> float:
        """Of the watched triplets at M."""
        D = self._distances(M)
        missed = np.maximum(
            0.0, (1 + D[tuple(self.p.targets.T)][:, None] - D[self.p.targets[:, 0]])[self.watched]
        )
        push = float(np.sum(missed**2 if self.p.squared else missed))
        return float(np.sum(self.C * M)) + self.p.mu * push

    def _distances(self, M: FloatArray) -> FloatArray:
        """(n, n)"""
        return _squared_distances(self.Y, M)

    def extend(self) -> None:
        """Let the triplets in whose margin is less than 1 + `AHEAD`."""
        p = self.p
        D = self._distances(self.inner.M)
        short = D[p.targets[:, 0]] - D[tuple(p.targets.T)][:, None] < 1 + AHEAD
        rows, columns = np.nonzero(short & self.watched)
        if len(rows) == 0:
            return
        self.watched[rows, columns] = False
        new = p.triplets(rows, columns)
        self.triplets = np.concatenate([self.triplets, new])
        pairs = np.unique(np.concatenate([new[:, [0, 2]], new[:, [0, 1]]]), axis=0)
        pairs = pairs[self.column[pairs[:, 0], pairs[:, 1]] < 0]
        old = len(self.inner.E)
        self.column[pairs[:, 0], pairs[:, 1]] = old + np.arange(len(pairs))
        t = np.arange(len(new))
        places = np.concatenate([self.column[new[:, 0], new[:, 2]], self.column[new[:, 0], new[:, 1]]])
        signs = np.repeat([1.0, -1.0], len(new))
        B = csr_array((signs, (np.concatenate([t, t]), places)), shape=(len(new), old + len(pairs)))
        self.inner.add(self.Y[pairs[:, 0]] - self.Y[pairs[:, 1]], B)

    def metric(self) -> FloatArray:
        """(d, d)"""
        return self.at.outside(self.whole())

    def whole(self) -> FloatArray:
        """(r, r) in the coordinates, with what the free directions need."""
        M = self.inner.M
        whole: FloatArray = self.basis @ M @ self.basis.T
        if self.free.shape[1]:
            whole = whole + self._enough(M) * self.free @ self.free.T
        return whole

    def _enough(self, M: FloatArray) -> float:
        """A multiple of distances in the free directions that keeps the margins of the loose; it costs nothing."""
        p = self.p
        D = self._distances(M) if len(M) else 0 * self.apart
        needs = np.maximum(0.0, 1 + D[tuple(p.targets.T)][:, None] - D[p.targets[:, 0]])
        ratio = needs[self.loose] / self.apart[p.targets[:, 0]][self.loose]
        return float(np.max(ratio, initial=0.0)) * 2

    def dual(self) -> Dual:
        """The prices of the triplets that are in; where nothing costs anything, of twins, whose margin is 0."""
        if not self.costs:
            twins = self.p.triplets(*np.nonzero(self.watched))
            return {"price": np.full(len(twins), self.p.mu * (2 if self.p.squared else 1)), "triplets": twins}
        return {"price": self.inner.price, "triplets": self.triplets}


def _squared_distances(Y: FloatArray, M: FloatArray | None = None) -> FloatArray:
    """Of every two rows of Y (n, r), in the metric M (r, r), Euclid's by default."""
    G = Y if M is None else Y @ M
    lengths = np.sum(G * Y, axis=1)
    D: FloatArray = np.maximum(0.0, lengths[:, None] + lengths - 2 * G @ Y.T)
    return D
