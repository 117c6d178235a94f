"""A CCCP step of neighbourhood gerrymandering, four times: all sets, generated sets, polynomial size, dual.

Problem (paper 001, (10) with (5), (6); notation of enumeration.py)
    min_{W >> 0}  ||W||_F^2 + C sum_i ( max_h [<W, Psi_ih> + Delta(y_i, h)]  -  max_{h: y_i wins} <W, Psi_ih> ),
    Psi_ih = - sum_{j in h} (x_i - x_j)(x_i - x_j)^T,      S_W(i, h) = <W, Psi_ih>.               (7), (8)
The first max is convex, minus the second concave. The concave-convex procedure fixes the set h*_i of the
second at the current W; with P = sum_i Psi_{i, h*_i} the step is convex:
    min_{W >> 0, t}  ||W||_F^2 + C sum_i t_i - C <W, P>
    subject to       t_i >= <W, Psi_ih> + Delta(y_i, h)      for every i and every h.
Its objective is never below F and equals F at the W that gave h*, so a step never increases F.

Literal: every line. Corrected: ties in Delta cost the most they could (enumeration.py), and the first max is over
every h, ties for most votes included (Algorithm 3 prints tau = 1: its loss is no upper bound). The paper names CCCP
and runs SGD.

`enumerated`  one row for every set h: the definition, at tiny n.
`generated`   only the rows found violated, by any exact loss-augmented inference.
`polynomial`  Delta is the largest Lam(y_i, r) over the classes r tied for most votes, so the rows of i say: for every
    class r and every number m of votes,   t_i >= Lam(y_i, r) + max { -sum_j D_j z_j },   the maximum over sets z with
        sum_{j in r} z_j = m,   sum_{j not in r} z_j = k - m,   sum_{j in c} z_j <= m  for c != r,   0 <= z_j <= 1.
    The sets of points in these rows are nested or disjoint, so the matrix is totally unimodular and the linear
    program has an integral optimum: nothing is lost. (Over all m at once it has not: the m would be fractional.) By
    duality, with u, v free and w, s >= 0, the row is
        t_i >= Lam(y_i, r) + m u + (k - m) v + m sum_c w_c + sum_j s_j,
        u + s_j >= -D_j  for j in r,       v + w_c + s_j >= -D_j  for j in c != r.
    An m that no set has (too few points) has no row. For m = k the rest is empty, and v, w and its s fall away.
`best_assignment`  min F itself, at n = 6: the least optimum of the steps of all assignments h*.
`dual`        over q_i in the simplex over the sets of i:
    max  C sum_ih q_ih Delta(y_i, h) - 1/4 ||P_+(-G)||_F^2,     G = C (sum_ih q_ih Psi_ih - P),     W = P_+(-G) / 2.
    ||P_+(-G)||^2 is the least ||S - G||^2 over S >> 0, which is how it is stated here.

Shapes: X (n, d), y (n,) codes 0..R-1, Lam (R, R) with a zero diagonal and positive elsewhere, h_star one set a
point, sets one list of sets a point. ValueError if h*_i is no set of k others where y_i wins.

Reference: S. Trivedi, D. McAllester, G. Shakhnarovich, Discriminative Metric Learning by Neighborhood
Gerrymandering, NIPS 2014; CCCP: Yuille and Rangarajan, NIPS 2002.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from cvxml.backend import solve_problem
from cvxml.methods.ssvm.enumeration import (
    Neighbors,
    all_sets,
    h_hat,
    members_by_class,
    task_loss,
    votes,
    wins,
)
from cvxml.metric import FloatArray, IntArray

Sets = Sequence[Sequence[Neighbors]]


class Generated(NamedTuple):
    """What constraint generation found."""

    W: FloatArray  # (d, d), as the back end returned it
    t: FloatArray  # (n,)
    rounds: int  # restricted problems solved
    sets: list[list[Neighbors]]  # the rows generated, a list a point


class Assigned(NamedTuple):
    """The best of all assignments."""

    value: float  # of its step
    W: FloatArray  # (d, d)
    h_star: tuple[Neighbors, ...]


def Psi(X: FloatArray, i: int, h: Neighbors) -> FloatArray:
    """Equation (8): - sum_{j in h} (x_i - x_j)(x_i - x_j)^T, (d, d)."""
    return np.asarray(-np.sum([np.outer(X[i] - X[j], X[i] - X[j]) for j in h], axis=0), dtype=np.float64)


def Delta(y: IntArray, i: int, h: Neighbors, Lam: FloatArray) -> float:
    """Delta(y_i, h), pessimistic."""
    return task_loss(votes(y, h, len(Lam)), int(y[i]), Lam)


def inner(W: Any, M: FloatArray) -> Any:
    """<W, M>."""
    return cp.sum(cp.multiply(M, W))


def sum_of_latent(X: FloatArray, y: IntArray, k: int, h_star: Sequence[Neighbors]) -> FloatArray:
    """P = sum_i Psi_{i, h*_i}, (d, d)."""
    R = int(max(y)) + 1
    if len(h_star) != len(y):
        raise ValueError(f"h_star must hold one set a point: {len(y)}, got {len(h_star)}")
    for i, h in enumerate(h_star):
        if len(h) != k or len(set(h)) != k or i in h or not wins(votes(y, h, R), int(y[i])):
            raise ValueError(f"h_star[{i}] = {h} is no set of {k} others where class {y[i]} wins")
    return np.asarray(np.sum([Psi(X, i, h) for i, h in enumerate(h_star)], axis=0), dtype=np.float64)


def restricted(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors], sets: Sets
) -> cp.Problem:
    """The step with the rows of `sets[i]` only: a lower bound on the step. Variables: "W" (d, d) and "t" (n,)."""
    return with_rows(X, y, C, Lam, sum_of_latent(X, y, k, h_star), sets)


def with_rows(X: FloatArray, y: IntArray, C: float, Lam: FloatArray, P: Any, sets: Sets) -> cp.Problem:
    """The step for a P (d, d), a matrix or a `cvxpy.Parameter`, with the rows of `sets[i]` only."""
    n, d = X.shape
    W = cp.Variable((d, d), symmetric=True, name="W")
    t = cp.Variable(n, name="t")
    constraints = [W >> 0]
    for i in range(n):
        constraints += [t[i] >= inner(W, Psi(X, i, h)) + Delta(y, i, h, Lam) for h in sets[i]]
    return cp.Problem(cp.Minimize(cp.sum_squares(W) + C * cp.sum(t) - C * inner(W, P)), constraints)


def enumerated(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors]
) -> cp.Problem:
    """The step as it is defined: a row for every set. Variables: "W" (d, d) and "t" (n,)."""
    return restricted(X, y, k, C, Lam, h_star, every_set(y, k))


def best_assignment(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, solver: str = "clarabel"
) -> Assigned:
    """min F, by the step of every assignment of a winning set to every point: their product, so n = 6 or so.

    F(W) is the least of the steps' objectives at W, so the least of their optima is the optimum of F.
    """
    n, d = X.shape
    sets, R = every_set(y, k), len(Lam)
    winning = [[h for h in sets[i] if wins(votes(y, h, R), int(y[i]))] for i in range(n)]
    P = cp.Parameter((d, d), symmetric=True)
    problem = with_rows(X, y, C, Lam, P, sets)
    best = Assigned(np.inf, np.zeros((d, d)), ())
    for h_star in itertools.product(*winning):
        P.value = sum_of_latent(X, y, k, h_star)
        W = solve_problem(problem, solver)["W"]
        if problem.value < best.value:
            best = Assigned(float(problem.value), W, h_star)
    return best


def every_set(y: IntArray, k: int) -> list[list[Neighbors]]:
    """All sets h of every point."""
    return [list(all_sets(np.zeros(len(y)), y, i, k)) for i in range(len(y))]


def generated(
    X: FloatArray,
    y: IntArray,
    k: int,
    C: float,
    Lam: FloatArray,
    h_star: Sequence[Neighbors],
    infer: Callable[[FloatArray], Sequence[Sequence[int]]] | None = None,
    solver: str = "clarabel",
    tol: float = 1e-9,
) -> Generated:
    """The step by constraint generation: solve, ask `infer` for every point's worst set, add those violated.

    infer: W -> one set a point, its indices in any order, that maximises <W, Psi_ih> + Delta(y_i, h); by default
    the enumeration over vote counts. It ends when no row of those sets is new and violated by more than tol;
    there are finitely many sets. SolverFailure if the back end gives no answer.
    """
    sets: list[list[Neighbors]] = [[as_set(h)] for h in h_star]
    rounds = 0
    while True:
        values = solve_problem(restricted(X, y, k, C, Lam, h_star, sets), solver)
        W, t = values["W"], values["t"]
        rounds += 1
        worst = [as_set(h) for h in (h_hat(X, y, W, k, Lam) if infer is None else infer(W))]
        violated = [
            i
            for i, h in enumerate(worst)
            if h not in sets[i] and np.sum(W * Psi(X, i, h)) + Delta(y, i, h, Lam) > t[i] + tol
        ]
        if not violated:
            return Generated(W, t, rounds, sets)
        for i in violated:
            sets[i] += [worst[i]]


def as_set(h: Sequence[int]) -> Neighbors:
    """h as an increasing tuple, so that two equal sets are equal."""
    return tuple(sorted(int(j) for j in h))


def polynomial(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors]
) -> cp.Problem:
    """The step with O(n R k) blocks of O(n) rows. Variables: "W", "t", and "u", "v", "w", "s" of every block.

    The optimal u, v, w, s are not unique and may be unbounded: SCS can stop at its limit 1e-4 off. Clarabel does not.
    """
    n, d = X.shape
    W = cp.Variable((d, d), symmetric=True, name="W")
    t = cp.Variable(n, name="t")
    P = sum_of_latent(X, y, k, h_star)
    constraints = [W >> 0]
    for i in range(n):
        members = members_by_class(y, i)
        # D_W(i, j) = <W, (x_i - x_j)(x_i - x_j)^T> for the j of every class
        D = [cp.hstack([-inner(W, Psi(X, i, (j,))) for j in listed]) for listed in members]
        for r in range(len(members)):
            for m in votes_of(r, members, k):
                value, rows = largest_score(D, r, m, k, f"{i},{r},{m}")
                constraints += [t[i] >= Lam[y[i], r] + value, *rows]
    return cp.Problem(cp.Minimize(cp.sum_squares(W) + C * cp.sum(t) - C * inner(W, P)), constraints)


def largest_score(D: Sequence[Any], r: int, m: int, k: int, name: str) -> tuple[Any, list[Any]]:
    """max -sum_j D_j z_j with m votes for r and at most m for any other class, by its dual: objective and rows."""
    u = cp.Variable(name=f"u[{name}]")
    s = cp.Variable(D[r].size, nonneg=True, name=f"s[{name},{r}]")
    value, rows = m * u + cp.sum(s), [u + s >= -D[r]]
    if m == k:
        return value, rows
    v = cp.Variable(name=f"v[{name}]")
    value += (k - m) * v
    for c in range(len(D)):
        if c != r:
            w = cp.Variable(nonneg=True, name=f"w[{name},{c}]")
            s = cp.Variable(D[c].size, nonneg=True, name=f"s[{name},{c}]")
            value += m * w + cp.sum(s)
            rows += [v + w + s >= -D[c]]
    return value, rows


def votes_of(r: int, members: Sequence[Sequence[int]], k: int) -> list[int]:
    """The numbers m of votes with which class r can be tied for most among k neighbours, from `members`."""
    room = [sum(min(m, len(listed)) for c, listed in enumerate(members) if c != r) for m in range(k + 1)]
    return [m for m in range(1, min(k, len(members[r])) + 1) if k - m <= room[m]]


def dual(
    X: FloatArray, y: IntArray, k: int, C: float, Lam: FloatArray, h_star: Sequence[Neighbors], sets: Sets
) -> cp.Problem:
    """The dual of `restricted`. Variables: "q", one entry a set in the order of the lists, and "S" (d, d)."""
    d = X.shape[1]
    q = cp.Variable(sum(len(listed) for listed in sets), nonneg=True, name="q")
    S = cp.Variable((d, d), symmetric=True, name="S")
    P = sum_of_latent(X, y, k, h_star)
    all_Psi = np.array([Psi(X, i, h).ravel() for i, listed in enumerate(sets) for h in listed])
    all_Delta = np.array([Delta(y, i, h, Lam) for i, listed in enumerate(sets) for h in listed])
    G = C * (cp.reshape(all_Psi.T @ q, (d, d), order="C") - P)
    constraints = [S >> 0]
    at = 0
    for listed in sets:
        constraints += [cp.sum(q[at : at + len(listed)]) == 1]
        at += len(listed)
    return cp.Problem(cp.Maximize(C * (all_Delta @ q) - cp.sum_squares(S - G) / 4), constraints)
