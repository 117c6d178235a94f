"""Algorithm 1 of the paper, cyclic Bregman projections, literally: to teach, and to compare with.

One pair after another, A and xi are moved to the nearest (in D_ld) that keep its constraint with equality; lambda keeps
the sum of all moves of a pair, so that later moves can be taken back but no further.

    p <- (x_i - x_j)^T A (x_i - x_j);   delta <- 1 (similar) or -1 (dissimilar)
    alpha <- min(lambda_ij, delta gamma / (gamma + 1) (1/p - 1/xi))
    beta <- delta alpha / (1 - delta alpha p)
    xi <- gamma xi / (gamma + delta alpha xi);   lambda_ij <- lambda_ij - alpha
    A <- A + beta A (x_i - x_j)(x_i - x_j)^T A

Corrected: Algorithm 1 is quoted with alpha <- min(lambda_ij, delta/2 (1/p - gamma/xi)). The projection has
1/p - delta alpha = 1/xi + delta alpha / gamma, which gives the line above; the two are the same for gamma = 1. With
eta = xi / gamma the printed lines are the right ones for eta with gamma = 1: they converge to the optimum of another
problem, that of gamma = 1 and the bounds u / gamma, l / gamma. `printed=True` runs them.

The lambda of the algorithm are dual variables, and A = Z^-1 at any time, so every sweep is certified as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import watched
from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Step, step_of
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.methods.itml import METHOD, Instance


class Projected(NamedTuple):
    """What the projections ended with, and what is proved of it."""

    metric: FloatArray  # (d, d)
    xi: FloatArray  # (pairs,), similar ones first
    certificate: Certificate
    history: tuple[Step, ...]  # one a sweep

    @property
    def converged(self) -> bool:
        """True if the last gap met the tolerance asked for."""
        return self.history[-1].phase == "converged"


class _Point:
    """A, xi and lambda, and the move of Algorithm 1."""

    def __init__(self, p: Instance, printed: bool):
        self.p, self.printed = p, printed
        self.pairs = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
        self.delta = np.where(np.arange(len(self.pairs)) < len(p.pairs.similar), 1.0, -1.0)
        self.A, self.xi, self.lam = p.prior.copy(), p.xi_0, np.zeros(len(self.pairs))

    def project(self, c: int) -> None:
        """The lines of Algorithm 1 for pair c."""
        gamma, delta = self.p.gamma, self.delta[c]
        x = self.p.X[self.pairs[c, 0]] - self.p.X[self.pairs[c, 1]]
        p = float(x @ self.A @ x)
        if p == 0:  # equal points: similar, and the constraint always holds
            return
        if self.printed:
            alpha = min(self.lam[c], delta / 2 * (1 / p - gamma / self.xi[c]))
        else:
            alpha = min(self.lam[c], delta * gamma / (gamma + 1) * (1 / p - 1 / self.xi[c]))
        beta = delta * alpha / (1 - delta * alpha * p)
        self.xi[c] = gamma * self.xi[c] / (gamma + delta * alpha * self.xi[c])
        self.lam[c] -= alpha
        self.A += beta * np.outer(self.A @ x, x @ self.A)

    def proof(self) -> Certificate:
        """The certificate of A from lambda as they are."""
        n_S = len(self.p.pairs.similar)
        return METHOD.certify(
            self.p, (self.A + self.A.T) / 2, {"lam_S": self.lam[:n_S], "lam_D": self.lam[n_S:]}
        )


def projections(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    sweeps: int = 100,
    tol: Tolerance = 1e-6,
    printed: bool = False,
    callback: Callable[[Step], None] | None = None,
    **params: Any,
) -> Projected:
    """Sweeps over all pairs until the certified gap is at most tol of the scale, `sweeps` at most.

    params: those of the method. printed: Algorithm 1 as it is printed (see above). callback: called with a
    `cvxml.core.result.Step` after every sweep. Raises ValueError for bad input.
    """
    p = METHOD.instance(X, y, **params)
    sweeps, tol = check_count(sweeps, "sweeps"), check_tol(tol)
    began, history = time.perf_counter(), []
    at = _Point(p, printed)
    for sweep in range(1, sweeps + 1):
        for c in watched(range(len(at.pairs))):
            at.project(c)
        proof = at.proof()
        converged = proof.proves(tol)
        seconds = time.perf_counter() - began
        step = step_of(proof, sweep, seconds, "converged" if converged else "sweep")
        history.append(step)
        if callback is not None:
            callback(step)
        if converged:
            break
    return Projected((at.A + at.A.T) / 2, at.xi, proof, tuple(history))
