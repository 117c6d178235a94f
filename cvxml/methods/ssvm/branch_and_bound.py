"""The global optimum of gerrymandering at small scale, by branch and bound. `search_globally` of solver.py calls it.

A set of k neighbours of point i is a winning set if the class of i has more votes than any other. Its cost is the sum
of its squared distances to i, and h*_i is the cheapest winning set at the metric W. With the loss L_i of point i
(enumeration.py), F(W) = ||W||^2 + C sum_i L_i. If the set h*_i is fixed for each point, F is replaced by the objective
of a convex step of CCCP. The minimum of F is the least optimum of these steps over all choices of the sets.

Nodes. A node of the tree settles for some pairs (i, j) whether j is in h*_i. `known` (n, n) records this: known[i, j]
is IN, OUT or OPEN. `Relaxation` computes a lower bound of F over all W that agree with a node. Each metric of a
relaxation is also a candidate for the optimum. CCCP improves a candidate that is better than all before.

Branching. `Search` takes the node of least bound first. A node is closed if its bound is high enough, or if it has no
OPEN pair. Otherwise the node gets two children: one has j in h*_i, the other does not. To choose i and j, `Search`
takes for each point the cheapest winning set that agrees with the node, at the metric of the relaxation. Point i has
the largest cost of the open members of this set, times sum_h q_ih (the dual variables of L_i). Point j is the farthest
open member.

The result is the tree, with dual variables for each leaf. tree.py computes the bounds again from them, so no proof
depends on this file.
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
    """Dual variables of the relaxation of a node, and the lower bound of F that they prove.

    q (m,): on the sets. nu (e,): on the exchanges. sets (m, 1 + k): a point and the members of one of its sets.
    exchanges (e, 3): i, j, l, where j is in h*_i, and l is not but could take its place.
    """

    bound: float
    q: FloatArray  # (m,)
    sets: IntArray  # (m, 1 + k): a point and its set
    nu: FloatArray  # (e,)
    exchanges: IntArray  # (e, 3): i, j, l


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solution of a relaxation: a metric, and dual variables with their lower bound of F.

    w: the metric as a vector (see `Relaxation`), psd up to rounding. F: the objective at w. D (n, n): the squared
    distances at w, inf on the diagonal. share (n,): sum_h q_ih for each point i. proof: the best dual variables of all
    rounds.
    """

    w: FloatArray  # (D,)
    F: float  # at w, as far as w is psd
    D: FloatArray  # (n, n): squared distances at w; inf on the diagonal
    share: FloatArray  # (n,): sum_h q_ih, the weight of L_i
    proof: Proof  # the best of all rounds


class Relaxation:
    """Lower bounds of F for one instance, over all W that agree with the memberships in `known` (n, n).

    X_ij = (x_i - x_j)(x_i - x_j)^T. For a set h of point i, Delta_ih is the loss of its vote, and A_ih the sum of X_ij
    over its members. Y_i is the sum of X_ij over the settled members, those with known[i, j] IN. The loss of point i is
    L_i(W) = max_h (Delta_ih - <W, A_ih>) + (cost of h*_i). It is at least 0, because h may be h*_i, and then Delta_ih
    is 0. The cost of h*_i is at least <W, Y_i>. In an exchange (i, j, l), j is in h*_i and l is not, although l could
    take the place of j. So j is not farther from i than l. Hence the relaxation
        min_{W psd, t >= 0}    ||W||^2 + C sum_i t_i
        such that              t_i >= Delta_ih - <W, A_ih - Y_i>    for every set h,
                               <W, X_ij - X_il> <= 0                for every exchange (i, j, l)
    is at most F(W), for any W with h* that agree with the settled memberships. If all memberships are settled, it is
    the CCCP step. The dual, for q >= 0 with sum_h q_ih <= 1, and nu >= 0:
        C sum q Delta - 1/4 ||P_+(M)||^2,    M = C sum_ih q_ih (A_ih - Y_i) - sum nu (X_ij - X_il),    W = P_+(M) / 2.
    P_+ replaces negative eigenvalues by 0. Sets and exchanges are added when they are violated. Clarabel solves the
    small program of each round. `bound` computes the lower bound from its multipliers, so Clarabel's status does not
    matter.

    Here W is a vector w (D,), D = d (d + 1) / 2, with entries off the diagonal times sqrt 2, so <W, V> = w . v.
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
        """Solve the relaxation of `known` (n, n) in rounds, until its bound reaches `threshold`, or cannot reach it.

        start: the dual variables of the parent node. The first round has their sets and exchanges, later rounds also
        the violated ones. The rounds also end if none is violated, or after `ROUNDS` rounds. threshold: the lower bound
        of F that suffices to close the node.
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
        """Return exchanges i, j, l (e, 3) that are violated by the squared distances D (n, n): D_ij > D_il.

        In an exchange, known[i, j] is IN and known[i, l] is OUT. For each point i and each class, the result has the
        most violated exchange with j and l in this class. It also has the most violated one with l in the class of i
        and j in another class. Violations up to `VIOLATED` do not count.
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

        Y (n, D): the sum of X_ij over the settled members of each point. Returns w (D,), t (n,), and the dual variables
        that are not negligible (`WEIGHT`), with their bound. If Clarabel returns NaN or infinity, w and t are 0, and
        there are no dual variables.
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
        """Return the dual variables of `proof`, made feasible, with the lower bound that they prove.

        Y (n, D): the sum of X_ij over the settled members of each point.
        """
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
    """Return empty dual variables, which prove the bound F >= 0. k: the number of members of a set."""
    empty = np.empty(0)
    return Proof(0.0, empty, np.empty((0, 1 + k), dtype=np.intp), empty, np.empty((0, 3), dtype=np.intp))


class Reduced(NamedTuple):
    """An instance p in fewer coordinates x = axes (X - mean), for the original points X.

    axes (r, d): orthonormal directions, divided by `scale`. A metric W of p is the metric axes^T W axes of X. The
    objective of p is scale^4 times that of the original instance.
    """

    p: Instance
    axes: FloatArray  # (r, d)
    scale: float  # F of p = scale^4 F


def reduced(p: Instance) -> Reduced:
    """Return p in coordinates of the span of the differences of its points, scaled so that F(0) is at least 1.

    The part of a metric outside the span adds to its norm and changes no distance, so an optimal metric does not need
    it.
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
    """A node of the tree.

    known: the memberships settled there. proof: the dual variables with the best bound so far. at: its row in the tree.
    """

    known: IntArray  # (n, n)
    proof: Proof
    at: int  # its row in the tree


@dataclass
class Tree:
    """The tree of branch and bound.

    rows: a row (i, j, a, b) for each node. a is the row of its child with j in h*_i, and b that of its other child. A
    leaf has LEAF in all four columns. proofs: the dual variables of each leaf, by its row.
    """

    rows: list[list[int]] = field(default_factory=list)
    proofs: dict[int, Proof] = field(default_factory=dict)  # of leaves


class Search:
    """The state of branch and bound: the tree, its open nodes by their bound, and the best W so far."""

    def __init__(self, p: Instance, starts: list[FloatArray], tol: float):
        """Run CCCP from the metrics `starts`, and open the root of the tree.

        p: the instance in the coordinates of `reduced`, in which F(0) is at least 1. starts: in these coordinates.
        tol: tolerance of the gap of F, relative to ||W||^2.
        """
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
        """The lower bound of F that suffices to close a node.

        No W of such a node is better than the best W by more than the tolerance.
        """
        return self.best.F - 0.9 * self.tol * self.best.norm2 - 0.5 * self.best.rounding(self.p.C)

    @property
    def lower_bound(self) -> float:
        return min(self.closed_at, self.open[0][0] if self.open else np.inf, self.best.F)

    def run(self, callback: Callable[[Step], None] | None = None) -> Status:
        """Solve nodes until all are closed (CONVERGED), or until the user or the time limit interrupts (INTERRUPTED).

        Nodes that are still open become leaves of the tree. callback: called after each node.
        """
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
        """Solve the relaxation of the node of least bound. Then close this node, or give it two children.

        If the metric of the relaxation has a small F, try to improve the best W from it.
        """
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
        """Return the tree and the dual variables of its leaves by name: "tree", "q", "q_index", "nu" and "nu_index".

        The index arrays name the leaf of each dual variable, and its point and set, or its exchange (tree.py). scale:
        the original points are `scale` times those of p.
        """
        leaves = [
            (at, Leaf(proof.q, proof.sets, proof.nu / scale**4, proof.exchanges))
            for at, proof in sorted(self.tree.proofs.items())
        ]
        return stored(np.array(self.tree.rows, dtype=np.intp), leaves, self.p.k)
