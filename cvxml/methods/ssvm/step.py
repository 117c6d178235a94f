"""One CCCP step to a certified gap: column generation, with accelerated gradient on the restricted dual (columns.py).

A round solves the dual over the sets known so far to a third of what is asked, then asks the exact inference for the worst set of every
point at the new W. That gives the step's objective at W exactly, so the gap to the dual is a proof; sets that beat those known are taken
in, the best of up to three classes for each point.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cvxml.firstorder import accelerated
from cvxml.methods.ssvm.columns import Columns
from cvxml.methods.ssvm.inference import sets_of, table
from cvxml.methods.ssvm.nearest import nearest
from cvxml.metric import FloatArray, IntArray

CLASSES = 3  # sets taken in for each point and round


@dataclass
class StepResult:
    """The best W found and the dual that bounds it."""

    W: FloatArray
    objective: float  # of the step, at W
    bound: float
    sets: IntArray  # (p, k) with point (p,) and weight q (p,)
    point: IntArray
    q: FloatArray
    rounds: int
    passes: int  # gradient steps


@dataclass
class Problem:
    """The data of the method, checked."""

    X: FloatArray
    y: IntArray
    R: int
    k: int
    C: float
    Lam: FloatArray


def cccp_step(p: Problem, latent: IntArray, W: FloatArray, tol: float, max_rounds: int = 200, say=None) -> StepResult:
    columns = Columns(p.X, p.y, p.C, p.Lam, latent)
    q = columns.start()
    bound, best_objective, best_W = -np.inf, np.inf, W
    step = None
    gap_full = np.inf
    passes = 0
    t0=time.time()
    for r in range(max_rounds):
        near = nearest(p.X, p.y, p.R, W, p.k)
        cost, votes = table(near.D, 0)
        values = p.Lam[p.y] - cost
        worst = values.max(axis=1)
        latent_cost = columns_distance(columns, W)
        norm = float(np.sum(W**2))
        objective = norm + p.C * float(np.sum(worst + latent_cost))
        if objective < best_objective:
            best_objective, best_W = objective, W
        gap = best_objective - bound
        if say: say(r, gap, norm, columns.real.sum(1).mean(), passes, time.time()-t0)
        if gap <= tol * norm:
            break
        # sets that beat the known
        order = np.argsort(-values, axis=1, kind="stable")[:, :CLASSES]
        known = -np.inf if r == 0 else best_known
        new_sets, wanted = [], []
        for t in range(order.shape[1]):
            c = order[:, t]
            value = values[np.arange(len(c)), c]
            want = np.isfinite(value) & (value > known + 1e-12)
            v = np.where(want, votes[np.arange(len(c)), c], votes[np.arange(len(c)), order[:, 0]])
            cc = np.where(want, c, order[:, 0])
            new_sets.append(sets_of(near, cc, v, 0)); wanted.append(want)
        q = columns.add(q, np.stack(new_sets, axis=1), np.stack(wanted, axis=1))
        if step is None:
            step = 1 / (p.C**2 * float(columns.length.max(axis=1).sum()) * 1.0)
        for state in accelerated(columns, q, step):
            passes += 1
            if passes % 5 == 0:
                d = columns.descent(state.v, state.image)
                g, s = d.gap(), columns.scale(d.values)
                if g <= max(0.3 * tol * s, 0.2 * min(gap, 1e300)) or passes > 20000:
                    break
        step = state.step
        q = state.v
        W = (d.vectors * np.maximum(d.values, 0) / 2) @ d.vectors.T
        best_known = np.where(columns.real, d.score, -np.inf).max(axis=1)
        bound = max(bound, p.C * float(np.sum(q * columns.delta)) - s)
    rows, cols = np.nonzero(q)
    return StepResult(best_W, best_objective, bound, columns.sets[rows, cols], rows, q[rows, cols], r, passes)


def columns_distance(columns, W):
    X, J = columns.X, columns.latent
    total = np.zeros(len(X))
    for t in range(J.shape[1]):
        e = X - X[J[:, t]]
        total += np.einsum("nd,nd->n", e @ W, e)
    return total
