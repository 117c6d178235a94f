"""Algorithm 1 of the ITML paper, cyclic Bregman projections, line by line: for teaching and comparison.

For each pair in turn, A and xi move to the nearest values in D_ld that satisfy its constraint with equality. The dual
variable lambda of a pair starts at 0, and each move subtracts its alpha. Later moves can make it 0, but not negative.

    p <- (x_i - x_j)^T A (x_i - x_j);   delta <- 1 (similar) or -1 (dissimilar)
    alpha <- min(lambda_ij, delta gamma / (gamma + 1) (1/p - 1/xi))
    beta <- delta alpha / (1 - delta alpha p)
    xi <- gamma xi / (gamma + delta alpha xi);   lambda_ij <- lambda_ij - alpha
    A <- A + beta A (x_i - x_j)(x_i - x_j)^T A

Correction. Other papers quote Algorithm 1 with alpha <- min(lambda_ij, delta/2 (1/p - gamma/xi)). The projection has
1/p - delta alpha = 1/xi + delta alpha / gamma, which gives the line above. The two lines agree for gamma = 1.
The quoted lines are correct for eta = xi / gamma with gamma = 1. So they converge to the optimum of another problem,
with gamma = 1 and the bounds u / gamma and l / gamma. `printed=True` runs the quoted lines.

Certificate. The lambda of the algorithm are dual variables of `dual`, and A = Z^-1 after every move, where Z is the
matrix A_0^-1 + sum_S lambda_ij X_ij - sum_D lambda_ij X_ij. So the metric of each sweep is certified with its lambda. A
sweep is one pass over all pairs.
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
from cvxml.methods.itml import METHOD
from cvxml.methods.itml.instance import Instance


class Projected(NamedTuple):
    """The result of Algorithm 1, with its certificate.

    metric (d, d). xi (pairs,): the slack variables, similar pairs first. history: one step for each sweep.
    """

    metric: FloatArray  # (d, d)
    xi: FloatArray  # (pairs,), similar pairs first
    certificate: Certificate
    history: tuple[Step, ...]  # one step for each sweep

    @property
    def converged(self) -> bool:
        """True if the certificate of the last sweep proves the tolerance."""
        return self.history[-1].phase == "converged"


class _Point:
    """The iterate A, xi and lambda of Algorithm 1. It starts at the prior.

    p: the checked inputs. printed: run the lines as other papers quote them.
    """

    def __init__(self, p: Instance, printed: bool):
        self.p, self.printed = p, printed
        self.pairs = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
        self.delta = np.where(np.arange(len(self.pairs)) < len(p.pairs.similar), 1.0, -1.0)
        self.A, self.xi, self.lam = p.prior.copy(), p.xi_0, np.zeros(len(self.pairs))

    def project(self, c: int) -> None:
        """Move A, xi and lambda in place, by the lines of Algorithm 1 for pair c.

        c: the index of the pair, similar pairs first. A pair of equal points changes nothing.
        """
        gamma, delta = self.p.gamma, self.delta[c]
        x = self.p.X[self.pairs[c, 0]] - self.p.X[self.pairs[c, 1]]
        p = float(x @ self.A @ x)
        if p == 0:  # A similar pair of equal points. Its constraint always holds.
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
    """Run Algorithm 1 until the certified gap is at most tol times the scale, for at most `sweeps` sweeps.

    X (n, d), y (n,) and params: the inputs of ITML. printed: run Algorithm 1 as other papers quote it (see the module).
    callback: called with a `cvxml.core.result.Step` after every sweep. Raises ValueError for bad input.
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
