"""A CCCP step of neighbourhood gerrymandering (Trivedi et al. 2014), stated in three ways, its dual, and the best F.

The problem is to minimise F(W) = ||W||^2 + C sum_i L_i over psd W (10). By (5) and (6), L_i is the maximum over all
sets h of S_W(i, h) + Delta(y_i, h), minus the maximum of S_W(i, h) over the sets that y_i wins. Here h is a set of k
neighbours of i, S_W is minus the sum of their squared distances to i, and Delta is the loss of their vote
(enumeration.py). The first maximum is convex, and minus the second is concave. The concave-convex procedure fixes the
set h*_i of the second maximum at the current W. The step is then convex. Its objective is at least F, and equals F at
the W that gave h*. So a step never increases F.

In the cvxpy problems, t_i is an upper bound of the first maximum. A row is a constraint on t_i. The row of a set h is

    t_i >= S_W(i, h) + Delta(y_i, h).

The formulas of the problem are the paper's, with two corrections. A tie in Delta has the largest loss of the tied
classes (enumeration.py). The first maximum is over every h, with ties for most votes. (Algorithm 3 prints tau = 1,
which leaves ties out, so its loss is no upper bound.) The paper names CCCP and runs stochastic gradient descent.

`enumerated`  A row for every set h: the definition, for very small n.
`generated`   Only the violated rows, found by exact loss-augmented inference.
`polynomial`  Delta is the largest Lam(y_i, r) over the classes r tied for most votes. So point i has one row for every
    class r and every number m of its votes:   t_i >= Lam(y_i, r) + max { -sum_j D_j z_j },   the maximum over z with
        sum_{j in r} z_j = m,   sum_{j not in r} z_j = k - m,   sum_{j in c} z_j <= m  for c != r,   0 <= z_j <= 1.
    D_j is the squared distance of i and j. z_j = 1 means that j is in the set. The sums run over nested or disjoint
    sets of points. So the matrix of this linear program is totally unimodular, and the program has an integral optimum.
    With m as another variable it would not have one, because m could be fractional. In the cvxpy problem, the maximum
    is replaced by its dual, with variables u, v free and w, s >= 0. If no z satisfies the constraints, the row is left
    out. For m = k, a set has points of r only. Then the row has no v and no w, and s only for the points of r.
`best_assignment`  The minimum of F, for n = 6: the least optimum of the steps of all assignments h*.
`dual`        Over q_i in the simplex over the sets of i, with G = C (sum q_ih Psi(x_i, h) - P). P_+ replaces negative
    eigenvalues by 0. ||P_+(-G)||^2 is stated as the least ||S - G||^2 over psd S.

Psi(x_i, h) is the matrix with S_W(i, h) = <W, Psi(x_i, h)>, and P the sum of Psi(x_i, h*_i).

Shapes: X (n, d), y (n,) codes 0..R-1, Lam (R, R) with a zero diagonal and positive elsewhere, h_star one set for each
point, sets one list of sets for each point. Functions with the argument h_star raise ValueError if h*_i is not a set of
k other points that y_i wins.

Reference: S. Trivedi, D. McAllester, G. Shakhnarovich, Discriminative Metric Learning by Neighborhood Gerrymandering,
NIPS 2014; CCCP: Yuille and Rangarajan, NIPS 2002.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from cvxml.core.backend import solve_problem
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.enumeration import (
    Neighbors,
    all_sets,
    h_hat,
    members_by_class,
    task_loss,
    votes,
    wins,
)

Sets = Sequence[Sequence[Neighbors]]
VIOLATED = 1e-9  # rows violated by less are not added


class Generated(NamedTuple):
    """The result of constraint generation.

    W (d, d), t (n,): the optimal variables. rounds: the number of problems solved. sets: for each point, the list of
    the sets that have a row in the last problem.
    """

    W: FloatArray  # (d, d), as the back end returned it
    t: FloatArray  # (n,)
    rounds: int  # restricted problems solved
    sets: list[list[Neighbors]]  # the rows generated, a list a point


class Assigned(NamedTuple):
    """The best of all assignments of winning sets to points.

    h_star: the set of each point. value, W (d, d): the optimum of its step, and the optimal metric.
    """

    value: float  # of its step
    W: FloatArray  # (d, d)
    h_star: tuple[Neighbors, ...]


def Psi(X: FloatArray, i: int, h: Neighbors) -> FloatArray:
    """The feature map: Psi of point i and set h, (d, d): minus the sum of (x_i - x_j)(x_i - x_j)^T over the j in h."""
    #: [The problem, which is not convex]
    #: min over W psd:  F(W) = ||W||^2 + C sum_i L_i
    #:   | \min_{\mathbf{W} \succeq 0}\ F(\mathbf{W}) = \lVert \mathbf{W} \rVert_F^2 + C \sum_i L_i | (10)
    #: L_i = max_h [ S_W(x_i, h) + Delta(y_i, h) ] - max_{h : Delta(y_i, h) = 0} S_W(x_i, h)
    #:   | L_i = \max_h \left[ S_{\mathbf{W}}(\mathbf{x}_i, h) + \Delta(y_i, h) \right]
    #:     - \max_{h : \Delta(y_i, h) = 0} S_{\mathbf{W}}(\mathbf{x}_i, h) | (5, 6)
    #: S_W(x_i, h) = - sum_{x_j in h} D_W(x_i, x_j),   |h| = k, x_i not in h
    #:   | S_{\mathbf{W}}(\mathbf{x}_i, h) = - \sum_{\mathbf{x}_j \in h} D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j),
    #:     \quad |h| = k, \ \mathbf{x}_i \notin h | (2)
    #: D_W(x_i, x_j) = (x_i - x_j)^T W (x_i - x_j)
    #:   | D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j)
    #:     = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{W} (\mathbf{x}_i - \mathbf{x}_j) | (1)

    #: Psi(x_i, h) = - sum_{x_j in h} (x_i - x_j)(x_i - x_j)^T
    #:   | \Psi(\mathbf{x}_i, h)
    #:     = - \sum_{\mathbf{x}_j \in h} (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T | (8)
    return np.asarray(-np.sum([np.outer(X[i] - X[j], X[i] - X[j]) for j in h], axis=0), dtype=np.float64)


def Delta(y: IntArray, i: int, h: Neighbors, Lam: FloatArray) -> float:
    """The task loss: Delta(y_i, h), where a tie has the largest loss of the tied classes."""
    #: Delta(y, h) = max of Lam(y, r) over the classes r tied for most votes in h
    #:   | \Delta(y, h) = \max \{ \Lambda(y, r) : r \text{ tied for most votes in } h \} | (4)
    #: (the paper prints Lam(y, r) for the one tied class r that a heuristic picks)
    #:   | \text{(the paper prints } \Lambda(y, r) \text{ for the one tied class } r \text{ that a heuristic picks)}
    return task_loss(votes(y, h, len(Lam)), int(y[i]), Lam)


def inner(W: Any, M: FloatArray) -> Any:
    """The score: <W, M> for a cvxpy expression W. It is S_W(x_i, h) for M = Psi(x_i, h)."""
    #: S_W(x_i, h) = <W, Psi(x_i, h)>
    #:   | S_{\mathbf{W}}(\mathbf{x}_i, h) = \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle | (7)
    return cp.sum(cp.multiply(M, W))


def sum_of_latent(X: FloatArray, y: IntArray, k: int, h_star: Sequence[Neighbors]) -> FloatArray:
    """The winning sets at the current W, fixed in the step: return P = sum_i Psi(x_i, h*_i) (d, d) for these sets h*_i.

    Raises ValueError unless h_star has, for each point, a set of k other points in which the class of the point wins.
    """
    R = int(max(y)) + 1
    if len(h_star) != len(y):
        raise ValueError(f"h_star must hold one set for each point: {len(y)}, got {len(h_star)}")
    for i, h in enumerate(h_star):
        #: h*_i = argmax_{h : Delta(y_i, h) = 0} S_W(x_i, h) at the current W; Delta = 0: y_i wins
        #:   | h_i^* = \operatorname*{argmax}_{h : \Delta(y_i, h) = 0} S_{\mathbf{W}}(\mathbf{x}_i, h)
        #:     \text{ at the current } \mathbf{W} \text{; } \Delta = 0 \text{: } y_i \text{ wins}
        if len(h) != k or len(set(h)) != k or i in h or not wins(votes(y, h, R), int(y[i])):
            raise ValueError(
                f"h_star[{i}] = {h} must be {k} different points without {i} itself, and class {y[i]} must win "
                "their vote"
            )
    #: P = sum_i Psi(x_i, h*_i) | P = \sum_i \Psi(\mathbf{x}_i, h_i^*)
    return np.asarray(np.sum([Psi(X, i, h) for i, h in enumerate(h_star)], axis=0), dtype=np.float64)


def restricted(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors], sets: Sets
) -> cp.Problem:
    """The step with the rows of `sets[i]` only: a lower bound on the step. Variables: "W" (d, d) and "t" (n,)."""
    return with_rows(X, y, C, Lam, sum_of_latent(X, y, k, h_star), sets)


def with_rows(X: FloatArray, y: IntArray, C: float, Lam: FloatArray, P: Any, sets: Sets) -> cp.Problem:
    """The convex step of CCCP: for P = sum_i Psi(x_i, h*_i) (d, d), with the rows of `sets[i]` only.

    P may be a `cvxpy.Parameter`; then one problem serves all assignments h*. Variables: "W" (d, d) and "t" (n,).
    """
    n, d = X.shape
    W = cp.Variable((d, d), symmetric=True, name="W")
    t = cp.Variable(n, name="t")
    #: W psd | \mathbf{W} \succeq 0
    constraints = [W >> 0]
    for i in range(n):
        #: t_i >= <W, Psi(x_i, h)> + Delta(y_i, h) for every i and h
        #:   | t_i \ge \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle + \Delta(y_i, h)
        #:     \quad \text{for every } i \text{ and } h
        constraints += [t[i] >= inner(W, Psi(X, i, h)) + Delta(y, i, h, Lam) for h in sets[i]]
    #: min over W, t:  ||W||^2 + C sum_i t_i - C <W, P>
    #:   | \min_{\mathbf{W},\, t}\ \lVert \mathbf{W} \rVert_F^2 + C \sum_i t_i - C \langle \mathbf{W}, P \rangle
    return cp.Problem(cp.Minimize(cp.sum_squares(W) + C * cp.sum(t) - C * inner(W, P)), constraints)


def enumerated(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors]
) -> cp.Problem:
    """The step as it is defined: a row for every set. Variables: "W" (d, d) and "t" (n,)."""
    return restricted(X, y, k, C, Lam, h_star, every_set(y, k))


def best_assignment(X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray) -> Assigned:
    """The optimum of F: the step is solved for every assignment of a winning set to every point, so n is about 6.

    F(W) is the least of the objectives of these steps at W. So the least of their optima is the optimum of F.
    """
    n, d = X.shape
    sets, R = every_set(y, k), len(Lam)
    winning = [[h for h in sets[i] if wins(votes(y, h, R), int(y[i]))] for i in range(n)]
    P = cp.Parameter((d, d), symmetric=True)
    problem = with_rows(X, y, C, Lam, P, sets)
    best = Assigned(np.inf, np.zeros((d, d)), ())
    #: min F = the least optimum of the steps, over all choices of sets h*_i that y_i wins
    #:   | \min F = \text{ the least optimum of the steps, over all choices of sets } h_i^*
    #:     \text{ that } y_i \text{ wins}
    for h_star in itertools.product(*winning):
        P.value = sum_of_latent(X, y, k, h_star)
        W = solve_problem(problem, "clarabel")["W"]
        if problem.value < best.value:
            best = Assigned(float(problem.value), W, h_star)
    return best


def every_set(y: IntArray, k: int) -> list[list[Neighbors]]:
    """Every set h of every point: all sets of k other points, in one list for each point."""
    #: every h with |h| = k, x_i not in h | \text{every } h \text{ with } |h| = k, \ \mathbf{x}_i \notin h
    return [list(all_sets(np.zeros(len(y)), y, i, k)) for i in range(len(y))]


def generated(
    X: FloatArray,
    y: IntArray,
    k: int,
    C: float,
    Lam: FloatArray,
    h_star: Sequence[Neighbors],
    solver: str = "clarabel",
) -> Generated:
    """The same step with few sets: solve, find the worst set of every point, and add the violated ones.

    This is the step as `enumerated` states it, without the rows that are not violated. It starts with the sets h*_i. It
    ends when no new set is violated by more than `VIOLATED`; there are finitely many sets. solver: a back end of cvxpy.
    Raises SolverFailure if it gives no answer.
    """
    sets: list[list[Neighbors]] = [[h] for h in h_star]
    rounds = 0
    while True:
        values = solve_problem(restricted(X, y, k, C, Lam, h_star, sets), solver)
        W, t = values["W"], values["t"]
        rounds += 1
        worst = h_hat(X, y, W, k, Lam)
        violated = [
            i
            for i, h in enumerate(worst)
            #: start with the rows of h*_i; add each h with <W, Psi(x_i, h)> + Delta(y_i, h) > t_i; repeat
            #:   | \text{start with the rows of } h_i^* \text{; add each } h \text{ with }
            #:     \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle + \Delta(y_i, h) > t_i \text{; repeat}
            if h not in sets[i] and np.sum(W * Psi(X, i, h)) + Delta(y, i, h, Lam) > t[i] + VIOLATED
        ]
        if not violated:
            return Generated(W, t, rounds, sets)
        for i in violated:
            sets[i] += [worst[i]]


def polynomial(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors]
) -> cp.Problem:
    """The same step, of polynomial size: O(n R k) blocks of O(n) rows, with "u", "v", "w", "s" beside "W" and "t".

    This is the step as `enumerated` states it, in another form. The optimal u, v, w, s are not unique and may be
    unbounded. So SCS may stop at its limit of iterations with an error of 1e-4; Clarabel reaches its accuracy.
    """
    n, d = X.shape
    W = cp.Variable((d, d), symmetric=True, name="W")
    t = cp.Variable(n, name="t")
    P = sum_of_latent(X, y, k, h_star)
    #: W psd | \mathbf{W} \succeq 0
    constraints = [W >> 0]
    for i in range(n):
        members = members_by_class(y, i)

        #: D_j = D_W(x_i, x_j) | D_j = D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j)
        D = [cp.hstack([-inner(W, Psi(X, i, (j,))) for j in listed]) for listed in members]
        for r in range(len(members)):
            for m in votes_of(r, members, k):
                value, rows = largest_score(D, r, m, k, f"{i},{r},{m}")
                #: for every i, class r and number m of its votes: t_i >= Lam(y_i, r)
                #:   + m (u + sum_{c != r} w_c) + (k - m) v + sum_j s_j
                #:   | t_i \ge \Lambda(y_i, r) + m \Bigl( u + \sum_{c \ne r} w_c \Bigr) + (k - m) v + \sum_j s_j
                #:     \quad \text{for every } i, r, m
                constraints += [t[i] >= Lam[y[i], r] + value, *rows]
    #: min over W, t and u, v, w, s of every block:  ||W||^2 + C sum_i t_i - C <W, P>
    #:   | \min_{\mathbf{W},\, t,\, u,\, v,\, w,\, s}\ \lVert \mathbf{W} \rVert_F^2 + C \sum_i t_i
    #:     - C \langle \mathbf{W}, P \rangle
    return cp.Problem(cp.Minimize(cp.sum_squares(W) + C * cp.sum(t) - C * inner(W, P)), constraints)


def largest_score(D: Sequence[Any], r: int, m: int, k: int, name: str) -> tuple[Any, list[Any]]:
    """One block for fixed i, r and m, the dual of the linear program for the best h: its objective and its constraints.

    Both are cvxpy expressions in the variables u, v, w and s of the block. The linear program is max -sum_j D_j z_j
    over 0 <= z_j <= 1. A feasible z has m votes for r, k - m votes for other classes, and at most m votes for each of
    these. D: for each class, the distances of its points as cvxpy expressions. name: the end of the names of the
    variables.
    """
    #: the multipliers: u of m votes for r;  v of k - m others;  w_c of at most m votes for c;  s_j of point j at
    #:   most once
    #:   | \text{the multipliers: } u \text{ of } m \text{ votes for } r \text{; } v \text{ of } k - m \text{ others; }
    #:     w_c \text{ of at most } m \text{ votes for } c \text{; } s_j \text{ of point } j \text{ at most once}
    u = cp.Variable(name=f"u[{name}]")
    #: s_j >= 0 | s_j \ge 0
    s = cp.Variable(D[r].size, nonneg=True, name=f"s[{name},{r}]")
    #: u + s_j >= -D_j for j in r | u + s_j \ge -D_j \quad (j \in r)
    value, rows = m * u + cp.sum(s), [u + s >= -D[r]]
    #: if m = k, the block has no v and no w, and s_j only for points j of class r
    #:   | \text{if } m = k \text{, the block has no } v \text{ and no } w \text{, and } s_j \text{ only for } j \in r
    if m == k:
        return value, rows
    v = cp.Variable(name=f"v[{name}]")
    value += (k - m) * v
    for c in range(len(D)):
        if c != r:
            #: w_c >= 0 | w_c \ge 0
            w = cp.Variable(nonneg=True, name=f"w[{name},{c}]")
            s = cp.Variable(D[c].size, nonneg=True, name=f"s[{name},{c}]")
            value += m * w + cp.sum(s)
            #: v + w_c + s_j >= -D_j for j in c != r | v + w_c + s_j \ge -D_j \quad (j \in c \ne r)
            rows += [v + w + s >= -D[c]]
    return value, rows


def votes_of(r: int, members: Sequence[Sequence[int]], k: int) -> list[int]:
    """The votes that a class can have: all m with which r can be tied for most among k neighbours.

    members: for each class, the points that may be neighbours.
    """
    #: k - m <= sum_{c != r} min(m, n_c) | k - m \le \sum_{c \ne r} \min(m, n_c)
    room = [sum(min(m, len(listed)) for c, listed in enumerate(members) if c != r) for m in range(k + 1)]
    #: 1 <= m <= min(k, n_r),  n_c points of class c without i
    #:   | 1 \le m \le \min(k, n_r), \quad n_c \text{ points of class } c \text{ without } i
    return [m for m in range(1, min(k, len(members[r])) + 1) if k - m <= room[m]]


def dual(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors], sets: Sets
) -> cp.Problem:
    """The dual of the step. Variables: "q" (m,), one weight for each set, in the order of `sets`, and "S" (d, d).

    S is psd, and at the optimum it is P_+(G) (module docstring).
    """
    d = X.shape[1]
    #: q_ih >= 0 | q_{ih} \ge 0
    q = cp.Variable(sum(len(listed) for listed in sets), nonneg=True, name="q")
    S = cp.Variable((d, d), symmetric=True, name="S")
    P = sum_of_latent(X, y, k, h_star)
    all_Psi = np.array([Psi(X, i, h).ravel() for i, listed in enumerate(sets) for h in listed])
    all_Delta = np.array([Delta(y, i, h, Lam) for i, listed in enumerate(sets) for h in listed])
    #: G = C ( sum_ih q_ih Psi(x_i, h) - P ) | G = C \Bigl( \sum_{i,h} q_{ih} \Psi(\mathbf{x}_i, h) - P \Bigr)
    G = C * (cp.reshape(all_Psi.T @ q, (d, d), order="C") - P)
    #: P_+ drops negative eigenvalues: ||P_+(-G)||^2 = min over S psd of ||S - G||^2
    #:   | \lVert P_+(-G) \rVert_F^2 = \min_{S \succeq 0} \lVert S - G \rVert_F^2,
    #:     \quad P_+ \text{ drops negative eigenvalues}
    constraints = [S >> 0]
    at = 0
    for listed in sets:
        #: for every i:  sum_h q_ih = 1 | \sum_h q_{ih} = 1 \quad \text{for every } i
        constraints += [cp.sum(q[at : at + len(listed)]) == 1]
        at += len(listed)
    #: max over q:  C sum_ih q_ih Delta(y_i, h) - 1/4 ||P_+(-G)||^2
    #:   | \max_{q}\ C \sum_{i,h} q_{ih} \Delta(y_i, h) - \tfrac{1}{4} \lVert P_+(-G) \rVert_F^2
    return cp.Problem(cp.Maximize(C * (all_Delta @ q) - cp.sum_squares(S - G) / 4), constraints)
    #: [What is proved]
    #: W = P_+(-G) / 2 at the optimum of the step | \mathbf{W} = P_+(-G) / 2 \quad \text{at the optimum of the step}
    #: any feasible q gives a lower bound on the step | \text{any feasible } q \text{ gives a lower bound on the step}
    #: the step equals F at the current W, and is at least F everywhere
    #:   | \text{the step equals } F \text{ at the current } \mathbf{W} \text{, and is at least } F \text{ everywhere}
