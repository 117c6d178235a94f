"""The global optimum of gerrymandering at small scale: branch and bound over the assignments of h*.

h*_i is the cheapest set at W in which the class of point i wins, and L_i the loss of i (enumeration.py). min F is the
least optimum of a CCCP step over all assignments of a winning set to every point. A node of the tree settles for some
pairs (i, j) whether j is in h*_i, and `Relaxation` bounds F there. The node of least bound goes first. If its bound is
too low, `Search` branches. It takes a point i with an h*_i that costs much more, at the relaxation's W, than its
settled members, weighted by the share of L_i. In the cheapest set of i it takes the farthest member j that is not
settled. In one child j is in h*_i, in the other it is not. Every W of a relaxation is a candidate. CCCP improves a
candidate that is better than all before.

`known` (n, n) records what is settled: known[i, j] is IN, OUT or OPEN (tree.py). The result is the tree: leaves with
their multipliers. tree.py computes a bound from them again.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray, project_psd, unit_scale
from cvxml.core.result import Dual, Status, Step
from cvxml.methods.ssvm.inference import (
    Point,
    nearest_by_distance,
    point_at,
    rescaled,
    sets_of,
    table,
    task_loss,
)
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.step import cccp
from cvxml.methods.ssvm.tree import IN, OPEN, OUT, Leaf, follow, known_at_root, stored

ROUNDS = 20  # of one relaxation
ENOUGH = 0.1  # share of the missing bound: a relaxation that cannot gain more does not reach the threshold
VIOLATED = 1e-9  # rows violated by less are not added
# Smaller multipliers are dropped. If those of a point sum to 1 minus a little, they are scaled to 1.
WEIGHT = 1e-8
POLISH = 1000  # CCCP steps at most
NEARLY = 0.05  # a W with an F that close to the best is worth the exact scale search
LEAF = -1


@dataclass(frozen=True, eq=False)
class Proof:
    """Multipliers q and nu of a node (see `Relaxation`), and the bound of F that they prove."""

    bound: float
    q: FloatArray  # (m,)
    sets: IntArray  # (m, 1 + k): a point and its set
    nu: FloatArray  # (e,)
    exchanges: IntArray  # (e, 3): i, j, l


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solution of a relaxation: W, its multipliers and their bound of F."""

    w: FloatArray  # (D,)
    F: float  # at w, as far as w is psd
    D: FloatArray  # (n, n): squared distances at w; inf on the diagonal
    share: FloatArray  # (n,): sum_h q_ih, the weight of L_i
    proof: Proof  # the best of all rounds


class Relaxation:
    """The relaxations of one instance: lower bounds of F if some memberships of the sets h*_i are settled (tree.py).

    L_i(W) = max_h [S_W(i, h) + Delta(y_i, h)] + (cost of h*_i), and h*_i costs at least as much as its settled members.
    The first max is over winning sets too, so L_i >= 0. With A_ih = sum_{j in h} X_ij and Y_i = sum over the settled
    members,
        min_{W >> 0, t >= 0}   ||W||^2 + C sum_i t_i
        such that              t_i >= Delta_ih - <W, A_ih - Y_i>    for every set h,
                               <W, X_ij - X_il> <= 0                for every exchange (i, j, l)
    is at most F(W), for any W with h* that agree with the settled memberships. If all memberships are settled, it is
    the CCCP step. The dual, for q >= 0 with sum_h q_ih <= 1, and nu >= 0:
        C sum q Delta - 1/4 ||P_+(M)||^2,    M = C sum_ih q_ih (A_ih - Y_i) - sum nu (X_ij - X_il),    W = P_+(M) / 2.
    Sets and exchanges are added when they are violated. The program of each round has few rows and goes to Clarabel;
    `bound` computes the bound from its multipliers, so its status does not matter.

    W is a vector here: w (D,), D = d (d + 1) / 2, with entries off the diagonal times sqrt 2, so <W, V> = w . v.
    """

    def __init__(self, p: Instance):
        self.p = p
        d = p.X.shape[1]
        # the order in which Clarabel takes the upper triangle, column by column
        self.columns, self.rows = np.tril_indices(d)
        self.weight = np.where(self.rows == self.columns, 1.0, np.sqrt(2.0))
        difference = p.X[:, None, :] - p.X
        self.outer = difference[:, :, self.rows] * difference[:, :, self.columns] * self.weight  # (n, n, D)
        self.same = p.y[:, None] == p.y
        self.unit = max(1.0, p.C * float(p.Lam[p.y].max(axis=1).sum()))  # of F, for Clarabel
        self.settings = clarabel.DefaultSettings()
        self.settings.verbose = False
        self.settings.tol_gap_abs = self.settings.tol_gap_rel = self.settings.tol_feas = 1e-10

    def matrix(self, w: FloatArray) -> FloatArray:
        """Return the matrix W (d, d) of the vector w (D,)."""
        d = self.p.X.shape[1]
        W = np.zeros((d, d))
        W[self.rows, self.columns] = W[self.columns, self.rows] = w / self.weight
        return W

    def distances(self, w: FloatArray) -> FloatArray:
        """Return the squared distances (n, n) of all points in the metric w (D,); inf on the diagonal."""
        D: FloatArray = np.maximum(self.outer @ w, 0.0)
        np.fill_diagonal(D, np.inf)
        return D

    def settled(self, known: IntArray) -> FloatArray:
        """Return Y (n, D): for each point i, the sum of X_ij over the points j that `known` (n, n) places in h*_i."""
        Y: FloatArray = np.einsum("ij,ijd->id", (known == IN).astype(float), self.outer)
        return Y

    def cheapest(self, known: IntArray, D: FloatArray) -> IntArray:
        """Return the cheapest winning set of each point that agrees with `known`: sets (n, k), indices increasing.

        D (n, n): squared distances. A set of i wins if the class of i has more votes than any other.
        """
        large = 1e6 * (1 + float(D[np.isfinite(D)].max()))
        fixed = np.where(known == OUT, np.inf, np.where(known == IN, D - large, D))
        near, r = nearest_by_distance(fixed, self.p.y, self.p.R, self.p.k), self.p.y
        return sets_of(near, r, table(near.D, 1, r[:, None]).votes[:, 0], 1)

    def solve(self, known: IntArray, start: Proof, threshold: float) -> Relaxed:
        """Solve the relaxation of `known` until its bound reaches `threshold`, or cannot reach it.

        start: multipliers of the node above.
        """
        p, Y = self.p, self.settled(known)
        sets, exchanges, best = start.sets, start.exchanges, self.bound(Y, start)
        for _ in watched(range(ROUNDS)):
            w, t, proof = self._program(Y, sets, exchanges)
            best = max(best, proof, key=lambda each: each.bound)
            D = self.distances(w)
            near = nearest_by_distance(D, p.y, p.R, p.k)
            offending = table(near.D, 0)
            values = p.Lam[p.y] - offending.cost
            r = values.argmax(axis=1)
            rows = np.arange(len(r))
            loss = values[rows, r] + Y @ w
            objective = float(w @ w) + p.C * float(np.maximum(loss, 0).sum())
            missing = threshold - best.bound
            if missing <= 0:
                break
            wanted = np.flatnonzero(loss > np.maximum(t, 0) + VIOLATED)
            pairs = self._violated(known, D)
            if not len(pairs) and (not len(wanted) or objective - best.bound <= ENOUGH * missing):
                break
            worst = sets_of(near, r, offending.votes[rows, r], 0)[wanted]
            sets = np.concatenate([proof.sets, np.column_stack([wanted, worst])])
            exchanges = np.concatenate([proof.exchanges, pairs])
        own = table(near.D, 1, p.y[:, None]).cost[:, 0]
        F = float(w @ w) + p.C * float((values[rows, r] + own).sum())
        share: FloatArray = np.bincount(best.sets[:, 0], best.q, minlength=len(p.y)).astype(np.float64)
        return Relaxed(w, F, D, share, best)

    def _violated(self, known: IntArray, D: FloatArray) -> IntArray:
        """Return the violated exchanges i, j, l (e, 3): D_W(i, j) > D_W(i, l), j in h*_i, l not.

        For each point, these are the worst one with j and l in each class, and the worst one with only l in the class
        of i.
        """
        n = len(D)
        each = np.arange(n)
        inside = np.where(known == IN, D, -np.inf)
        outside = np.where((known == OUT) & np.isfinite(D), D, np.inf)
        found = []
        pairs = [(self.p.y == c, self.p.y == c) for c in range(self.p.R)]
        of_class = [(np.broadcast_to(a, (n, n)), np.broadcast_to(b, (n, n))) for a, b in pairs]
        for may_go, may_come in [*of_class, (~self.same, self.same)]:
            j = np.where(may_go, inside, -np.inf).argmax(axis=1)
            other = np.where(may_come, outside, np.inf).argmin(axis=1)
            there = may_go[each, j] & may_come[each, other]
            rows = np.flatnonzero(there & (inside[each, j] - outside[each, other] > VIOLATED))
            found.append(np.column_stack([rows, j[rows], other[rows]]))
        return np.concatenate(found)

    def _program(
        self, Y: FloatArray, sets: IntArray, exchanges: IntArray
    ) -> tuple[FloatArray, FloatArray, Proof]:
        """Solve the relaxation with the rows of these sets (m, 1 + k) and exchanges (e, 3) only.

        Y (n, D): see `settled`. Returns w (D,), t (n,) and the multipliers that are not zero.
        """
        p, n = self.p, len(self.p.y)
        D, m, e = self.outer.shape[2], len(sets), len(exchanges)
        point = sets[:, 0]
        delta, A = self._rows(sets)
        rows = np.zeros((m + n + e + D, D + n))
        right = np.zeros(len(rows))
        rows[:m, :D] = Y[point] - A
        rows[np.arange(m), D + point] = -1
        right[:m] = -delta
        rows[m + np.arange(n), D + np.arange(n)] = -1
        rows[m + n : m + n + e, :D] = self._exchange_rows(exchanges)
        rows[m + n + e :, :D] = -np.eye(D)
        quadratic = np.concatenate([np.full(D, 2 / self.unit), np.zeros(n)])
        linear = np.concatenate([np.zeros(D), np.full(n, p.C / self.unit)])
        answer = clarabel.DefaultSolver(
            sparse.diags_array(quadratic, format="csc"),
            linear,
            sparse.csc_array(rows),
            right,
            [clarabel.NonnegativeConeT(m + n + e), clarabel.PSDTriangleConeT(p.X.shape[1])],
            self.settings,
        ).solve()
        x, z = np.array(answer.x), np.array(answer.z) * self.unit
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            return np.zeros(D), np.zeros(n), nothing(p.k)
        q, nu = z[:m] / p.C, z[m + n : m + n + e]
        kept, held = q > WEIGHT, nu > WEIGHT * max(1.0, float(nu.max(initial=0.0)))
        proof = self.bound(Y, Proof(-np.inf, q[kept], sets[kept], nu[held], exchanges[held]))
        return x[:D], x[D:], proof

    def _rows(self, sets: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return Delta (m,) and A_ih (m, D) of sets (m, 1 + k): a point i and its set h."""
        point = sets[:, 0]
        delta = task_loss(self.p.y[sets[:, 1:]], self.p.y[point], self.p.Lam)
        A: FloatArray = self.outer[point[:, None], sets[:, 1:]].sum(axis=1)
        return delta, A

    def _exchange_rows(self, exchanges: IntArray) -> FloatArray:
        i, j, other = exchanges.T
        rows: FloatArray = self.outer[i, j] - self.outer[i, other]
        return rows

    def bound(self, Y: FloatArray, proof: Proof) -> Proof:
        """Make the multipliers feasible, and return them with their bound. Y (n, D): see `settled`."""
        p, n = self.p, len(Y)
        point = proof.sets[:, 0]
        q, nu = np.maximum(proof.q, 0), np.maximum(proof.nu, 0)
        total = np.bincount(point, q, minlength=n)
        q = q / np.where(total > 1 - 100 * WEIGHT, total, 1.0)[point]
        delta, A = self._rows(proof.sets)
        M = p.C * (q @ (A - Y[point])) - nu @ self._exchange_rows(proof.exchanges)
        values = np.linalg.eigvalsh(self.matrix(M))
        bound = p.C * float(q @ delta) - float(np.sum(np.maximum(values, 0) ** 2)) / 4
        return Proof(bound, q, proof.sets, nu, proof.exchanges)


def nothing(k: int) -> Proof:
    """Return no multipliers, with the bound F >= 0 that needs none."""
    empty = np.empty(0)
    return Proof(0.0, empty, np.empty((0, 1 + k), dtype=np.intp), empty, np.empty((0, 3), dtype=np.intp))


class Reduced(NamedTuple):
    """The instance p in fewer coordinates: x = axes (X - mean). A metric W of p is the metric axes^T W axes of X."""

    p: Instance
    axes: FloatArray  # (r, d)
    scale: float  # F of p = scale^4 F


def reduced(p: Instance) -> Reduced:
    """Return the instance in the span of the differences of the points, scaled so that F(0) is at least 1.

    A part of W outside the span adds to the norm and changes no distance.
    """
    s = unit_scale(p.X)
    F_at_zero = p.scaled(s).C * float(p.Lam[p.y].max(axis=1).sum())
    scale = s * min(1.0, F_at_zero) ** -0.25
    unit = p.scaled(scale)
    X = unit.X - unit.X.mean(axis=0)
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    used = values > values[0] * len(X) * EPS
    used[0] = True  # also if all points are equal
    return Reduced(unit._replace(X=X @ axes[used].T), axes[used] / scale, scale)


@dataclass(eq=False)
class Node:
    """A node of the tree. known: the memberships settled there. proof: the best bound so far, with its multipliers."""

    known: IntArray  # (n, n)
    proof: Proof
    at: int  # its row in the tree


@dataclass
class Tree:
    """The tree, a row (i, j, a, b) for each node. a: the row of the child with j in h*_i. b: that of the other child.

    A leaf has LEAF in all four columns.
    """

    rows: list[list[int]] = field(default_factory=list)
    proofs: dict[int, Proof] = field(default_factory=dict)  # of leaves


class Search:
    """The state of branch and bound: the tree, its open nodes by their bound, and the best W so far."""

    def __init__(self, p: Instance, starts: list[FloatArray], tol: float):
        """p: a reduced instance (`reduced`). starts: metrics from which CCCP runs first."""
        self.p, self.tol = p, tol
        self.started = time.perf_counter()
        self.relaxation = Relaxation(p)
        self.tree = Tree()
        self.open: list[tuple[float, int, Node]] = []
        self.closed_at = np.inf  # the least bound of the closed nodes
        self.nodes = 0
        self.interrupted = False  # by the user, or because the time is up
        polished = []
        for W in starts:
            polished.append(self._polished(W))
            if self.interrupted:
                break
        self.best = min(polished, key=lambda point: point.F)
        self._push(known_at_root(p), nothing(p.k))

    @property
    def threshold(self) -> float:
        """The bound of F from which a node is closed: no W there is better than the best by more than the tolerance."""
        return self.best.F - 0.9 * self.tol * self.best.norm2 - 0.5 * self.best.rounding(self.p.C)

    @property
    def lower_bound(self) -> float:
        return min(self.closed_at, self.open[0][0] if self.open else np.inf, self.best.F)

    def run(self, callback: Callable[[Step], None] | None = None) -> Status:
        """Solve nodes until all are closed, or until an interrupt. Open nodes become leaves of the tree."""
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
        F, bound = self.best.F, self.lower_bound
        seconds, scale = time.perf_counter() - self.started, self.best.norm2
        return Step(self.nodes, seconds, F, bound, F - bound, "branch and bound", scale)

    def _grow(self) -> None:
        """Solve the relaxation of the node of least bound, and close the node or branch."""
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
        assert settled is not None, "an open membership leaves sets in both children"
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
        """Return the tree and its multipliers in the form of tree.py, for points that are `scale` times those of p."""
        leaves = [
            (at, Leaf(proof.q, proof.sets, proof.nu / scale**4, proof.exchanges))
            for at, proof in sorted(self.tree.proofs.items())
        ]
        return stored(np.array(self.tree.rows, dtype=np.intp), leaves, self.p.k)
