"""The convex step of gerrymandering through cvxpy without loops over rows, in two forms.

p: an `Instance`; latent (n, k): h* of every point. solve as in vectorised.py. Both return W (d, d). The same row by row
is in cvxml/methods/ssvm/problem.py, which says why the form of polynomial size loses nothing.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.methods.ssvm.enumeration import members_by_class
from cvxml.methods.ssvm.inference import loss_augmented, nearest, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.problem import votes_of
from validation.benchmarks.vectorised import MISSED, Metric, Solve


def generated(p: Instance, latent: IntArray, solve: Solve) -> FloatArray:
    """Rounds with the worst set of every point, by our exact inference, where its row is missed."""
    W, t = Metric(p.X.shape[1]), cp.Variable(len(p.X))
    objective = W.norm2 + p.C * cp.sum(t) + p.C * costs(W, p, latent).sum(axis=0) @ W.entries
    rows, of, loss = (
        -costs(W, p, latent),
        np.arange(len(p.X)),
        np.zeros(len(p.X)),
    )  # h* wins: it costs nothing
    while True:
        solve(cp.Problem(cp.Minimize(objective), [W.matrix >> 0, t[of] >= rows @ W.entries + loss]))
        found = project_psd(W.value())
        worst = loss_augmented(nearest(p.X, p.y, p.R, found, p.k), p.y, p.Lam)
        missed = np.flatnonzero(worst.value > t.value + MISSED)
        sets = worst.sets[missed]
        # a row that is there already is missed by what the solver leaves: it is not taken in twice
        new = -costs(W, p, sets, missed)
        known = {(i, row.tobytes()) for i, row in zip(of.tolist(), rows, strict=True)}
        fresh = [m for m, i in enumerate(missed.tolist()) if (i, new[m].tobytes()) not in known]
        if not fresh:
            return W.value()
        rows, of = np.concatenate([rows, new[fresh]]), np.concatenate([of, missed[fresh]])
        loss = np.concatenate([loss, task_loss(p.y[sets], p.y[missed], p.Lam)[fresh]])


def costs(W: Metric, p: Instance, sets: IntArray, of: IntArray | None = None) -> FloatArray:
    """Rows (m, d (d + 1) / 2): times the entries, the sums of distances over sets (m, k) of the points `of`."""
    of = np.arange(len(p.X)) if of is None else of
    total = np.zeros((len(of), W.entries.size))
    for j in sets.T:
        total += W.rows(p.X[of] - p.X[j])
    return total


def polynomial(p: Instance, latent: IntArray, solve: Solve) -> FloatArray:
    """All blocks (i, r, m) of the form of polynomial size at once."""
    W, t = Metric(p.X.shape[1]), cp.Variable(len(p.X))
    blocks, own, rest = indices(p)
    i, j = np.triu_indices(len(p.X), 1)
    D = cp.Variable(len(i))  # one distance a pair
    pair = np.zeros((len(p.X),) * 2, dtype=np.intp)
    pair[i, j] = pair[j, i] = np.arange(len(i))
    point, r, m = blocks.T
    u, v = cp.Variable(len(blocks)), cp.Variable(len(blocks))
    w = cp.Variable(len(blocks) * p.R, nonneg=True)
    s = cp.Variable(len(own) + len(rest), nonneg=True)
    b, near = own.T
    constraints = [W.rows(p.X[i] - p.X[j]) @ W.entries == D]
    constraints += [u[b] + s[: len(own)] + D[pair[point[b], near]] >= 0]
    if len(rest):
        c, far = rest.T
        constraints += [v[c] + w[c * p.R + p.y[far]] + s[len(own) :] + D[pair[point[c], far]] >= 0]
    of_s = incidence(np.concatenate([own[:, 0], rest[:, 0]]), len(blocks))
    of_w = incidence(np.repeat(np.arange(len(blocks)), p.R), len(blocks))
    least = cp.multiply(m, u) + cp.multiply(p.k - m, v) + cp.multiply(m, of_w @ w) + of_s @ s
    constraints += [W.matrix >> 0, t[point] >= p.Lam[p.y[point], r] + least]
    objective = W.norm2 + p.C * cp.sum(t) + p.C * costs(W, p, latent).sum(axis=0) @ W.entries
    solve(cp.Problem(cp.Minimize(objective), constraints))
    return W.value()


def indices(p: Instance) -> tuple[IntArray, IntArray, IntArray]:
    """Blocks (B, 3) of i, r, m; rows (., 2) of block and point j of class r; the same for j of the other classes."""
    blocks: list[tuple[int, int, int]] = []
    own: list[tuple[int, int]] = []
    rest: list[tuple[int, int]] = []
    for i in range(len(p.X)):
        members = members_by_class(p.y, i)
        for r in range(p.R):
            for m in votes_of(r, members, p.k):
                own += [(len(blocks), j) for j in members[r]]
                if m < p.k:
                    rest += [(len(blocks), j) for c, listed in enumerate(members) if c != r for j in listed]
                blocks.append((i, r, m))
    return array(blocks, 3), array(own, 2), array(rest, 2)


def array(listed: list[Any], width: int) -> IntArray:
    """(m, width), also where nothing is listed."""
    return np.array(listed, dtype=np.intp).reshape(len(listed), width)


def incidence(of: IntArray, size: int) -> Any:
    """(size, len(of)) with a one where a column belongs to a row: sums by group."""
    return sparse.csr_array((np.ones(len(of)), (of, np.arange(len(of)))), shape=(size, len(of)))
