"""The global optimum of neighbourhood gerrymandering at small scale: branch and bound over the assignments of h*.

min F is the least value of a CCCP step over all assignments of a winning set to every point. A node settles of some
points whether they belong to some h*_i; its bound is a convex program (relaxation.py). The node of least bound goes
first. Where its bound is too low, a point i is chosen whose h*_i costs, at the relaxation's W, much more than its
settled members, weighted by how much L_i counts there; and of its cheapest set the farthest member not
settled: in one child it is in h*_i, in the other it is not. Where all is settled the relaxation is the step.
Every W met on the way is a candidate; one better than all before goes through CCCP.

What comes back is the tree: leaves with their multipliers, which certify.py turns into a bound of its own.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, project_psd, unit_scale
from cvxml.core.result import Dual, Status, Step
from cvxml.methods.ssvm.cccp import cccp
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import Point, point_at, rescaled
from cvxml.methods.ssvm.tree.membership import IN, OPEN, OUT, follow, unknown
from cvxml.methods.ssvm.tree.relaxation import Proof, Relaxation, nothing

POLISH = 1000  # CCCP steps at most
NEARLY = 0.05  # a W whose F is that close to the best is worth the exact scale search
LEAF = -1


class Reduced(NamedTuple):
    """The instance in coordinates of its own: x = axes (X - mean), W of X is axes^T W axes."""

    p: Instance
    axes: FloatArray  # (r, d)
    scale: float  # F of p = scale^4 F


def reduced(p: Instance) -> Reduced:
    """As many coordinates as the points span: W outside them costs norm and moves no distance. F(0) at least 1."""
    s = unit_scale(p.X)
    F_at_zero = p.scaled(s).C * float(p.Lam[p.y].max(axis=1).sum())
    scale = s * min(1.0, F_at_zero) ** -0.25
    unit = p.scaled(scale)
    X = unit.X - unit.X.mean(axis=0)
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    used = values > values[0] * len(X) * EPS
    used[0] = True  # should all points be one
    return Reduced(unit._replace(X=X @ axes[used].T), axes[used] / scale, scale)


@dataclass(eq=False)
class Node:
    """What is settled, and the best proof so far."""

    known: IntArray  # (n, n)
    proof: Proof
    at: int  # its row in the tree


@dataclass
class Tree:
    """Branches: row -> i, j, the row where j is in h*_i, the row where it is not; LEAF all over for a leaf."""

    rows: list[list[int]] = field(default_factory=list)
    proofs: dict[int, Proof] = field(default_factory=dict)  # of leaves


class Search:
    """The open nodes, and the best point."""

    def __init__(self, p: Instance, starts: list[FloatArray], tol: float):
        """On a reduced instance (`reduced`)."""
        self.p, self.tol = p, tol
        self.started = time.perf_counter()
        self.relaxation = Relaxation(p)
        self.tree = Tree()
        self.open: list[tuple[float, int, Node]] = []
        self.closed_at = np.inf  # the least bound of what is closed
        self.nodes = 0
        self.interrupted = False  # by the user, or the end of the time
        polished = []
        for W in starts:
            polished.append(self._polished(W))
            if self.interrupted:
                break
        self.best = min(polished, key=lambda point: point.F)
        known = unknown(len(p.y))
        for i in range(len(p.y)):
            known[i] = self._follow(known[i], i)
        self._push(known, nothing(p.k))

    @property
    def threshold(self) -> float:
        """From here on a bound closes a node."""
        return self.best.F - 0.9 * self.tol * self.best.norm2 - 0.5 * self.best.rounding(self.p.C)

    @property
    def lower_bound(self) -> float:
        """No metric has a lower F."""
        return min(self.closed_at, self.open[0][0] if self.open else np.inf, self.best.F)

    def run(self, callback: Callable[[Step], None] | None = None) -> Status:
        """Grow until closed, or the user interrupts. Open nodes become leaves of the tree."""
        try:
            while not self.interrupted and self.open and self.open[0][0] < self.threshold:
                self._grow()
                if callback is not None:
                    callback(self.step())
        except KeyboardInterrupt:
            self.interrupted = True
        for _, _, node in self.open:
            self.tree.proofs[node.at] = node.proof
        return Status.INTERRUPTED if self.interrupted else Status.CONVERGED

    def step(self) -> Step:
        """Where it stands."""
        F, bound = self.best.F, self.lower_bound
        seconds, scale = time.perf_counter() - self.started, self.best.norm2
        return Step(self.nodes, seconds, F, bound, F - bound, "branch and bound", scale)

    def _grow(self) -> None:
        """Solve the first node; close it or branch."""
        node = self.open[0][2]
        relaxed = self.relaxation.solve(node.known, node.proof, self.threshold)
        if relaxed.F < (1 + NEARLY) * self.best.F:
            self._try(relaxed.w)
        heapq.heappop(self.open)
        self.nodes += 1
        node.proof = relaxed.proof
        if relaxed.proof.bound >= self.threshold or not (node.known == OPEN).any():
            self._close(node)
            return
        D = np.where(np.isfinite(relaxed.D), relaxed.D, 0.0)
        sets = self.relaxation.cheapest(node.known, relaxed.D)
        chosen = np.zeros_like(node.known, dtype=bool)
        np.put_along_axis(chosen, sets, True, axis=1)
        undecided = chosen & (node.known == OPEN)
        deficit = np.where(undecided, D, 0.0).sum(axis=1) * (relaxed.share + 1e-6)
        i = int(np.where((node.known == OPEN).any(axis=1), deficit, -1.0).argmax())
        j = int(np.where(undecided[i], D[i], -1.0).argmax())
        children = []
        for value in (IN, OUT):
            known = node.known.copy()
            known[i, j] = value
            known[i] = self._follow(known[i], i)
            children.append(self._push(known, node.proof))
        self.tree.rows[node.at] = [i, j, *children]

    def _follow(self, known: IntArray, i: int) -> IntArray:
        settled = follow(known, self.p.y, int(self.p.y[i]), self.p.k, self.p.R)
        assert settled is not None, "what follows was settled before, so both children have sets"
        return settled

    def _push(self, known: IntArray, proof: Proof) -> int:
        at = len(self.tree.rows)
        self.tree.rows.append([LEAF] * 4)
        heapq.heappush(self.open, (proof.bound, at, Node(known, proof, at)))
        return at

    def _close(self, node: Node) -> None:
        self.tree.proofs[node.at] = node.proof
        self.closed_at = min(self.closed_at, node.proof.bound)

    def _try(self, w: FloatArray) -> None:
        at = rescaled(self.p, point_at(self.p, project_psd(self.relaxation.matrix(w))))
        if at.F < self.best.F:
            self.best = min(at, self._polished(at.W), key=lambda point: point.F)

    def _polished(self, W: FloatArray) -> Point:
        run = cccp(self.p, W, self.tol / 10, POLISH)
        self.interrupted |= run.status is Status.INTERRUPTED
        return run.at

    def dual(self, scale: float) -> Dual:
        """The tree and its multipliers, as certify.py takes them, for X = scale times that of p."""
        leaves = sorted(self.tree.proofs.items())
        return {
            "tree": np.array(self.tree.rows, dtype=np.intp),
            "q": np.concatenate([proof.q for _, proof in leaves]),
            "q_index": np.concatenate([_numbered(at, proof.sets) for at, proof in leaves]),
            "nu": np.concatenate([proof.nu for _, proof in leaves]) / scale**4,
            "nu_index": np.concatenate([_numbered(at, proof.exchanges) for at, proof in leaves]),
        }


def _numbered(at: int, rows: IntArray) -> IntArray:
    return np.column_stack([np.full(len(rows), at), rows])
