"""What the paper found inferior to ||W||^2 (section 7): tr W, and ||W - I||^2, in F's place of the regularizer.

    F_R(W) = R(W) + C sum_i ( max_h { S(x_i, h) + Delta(y_i, h) } - max_{h in H*} S(x_i, h) ) over psd W

||W - I||^2 by CCCP: it is ||W||^2 - <2 I, W> and a constant, so that M of a step's dual (columns.py) has 2 I added and
all else is as it was. tr W is linear; by SGD with a step that asks for no curvature, the diameter over the root of the
sum of squared subgradients, and beside it ||W||^2 by Algorithm 1 with the corrected step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, psd_root
from cvxml.core.result import Status
from cvxml.core.threads import one_blas_thread
from cvxml.methods.ssvm.algorithms import mean_change
from cvxml.methods.ssvm.inference import Point, point_at
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.step import Columns, StepSolver


class Regularizer(NamedTuple):
    """R(W) of W (d, d) and its gradient. curved: whether R has the curvature of ||W||^2.

    power: C = c / (n s^power), s the root of the mean squared norm of the centred points, sets C's units right: for
    ||W||^2 those of W^2, for tr W those of W. ||W - I||^2 has no units of its own; next to I it is as linear as tr W.
    """

    value: Callable[[FloatArray], float]
    gradient: Callable[[FloatArray], FloatArray]
    curved: bool
    power: int


REGULARIZERS = {
    "tr W": Regularizer(lambda W: float(np.trace(W)), lambda W: np.eye(len(W)), False, 2),
    "||W - I||^2": Regularizer(
        lambda W: float(np.sum((W - np.eye(len(W))) ** 2)), lambda W: 2 * (W - np.eye(len(W))), True, 2
    ),
    "||W||^2": Regularizer(lambda W: float(np.sum(W**2)), lambda W: 2 * W, True, 4),
}
BY_SGD, BY_CCCP = ("tr W", "||W||^2"), "||W - I||^2"


def objective(p: Instance, W: FloatArray, regularizer: Regularizer) -> float:
    """F_R at W."""
    at = point_at(p, W)
    return regularizer.value(W) + at.F - at.norm2


class AroundI(Columns):
    """The dual of a step with ||W - I||^2: W = P_+(M) / 2 for an M with 2 I in it."""

    def image(self, q: FloatArray) -> FloatArray:
        """M (d, d)."""
        return super().image(q) + 2 * np.eye(self.X.shape[1])


class StepAroundI(StepSolver):
    """A step with ||W - I||^2, without the constant ||I||^2."""

    def __init__(self, p: Instance, latent: IntArray):
        super().__init__(p, latent)
        self.columns = AroundI(p, latent)

    def _objective(self, here: Point, own: FloatArray) -> float:
        return super()._objective(here, own) - 2 * float(np.trace(here.W))


def cccp_around_I(p: Instance, W: FloatArray, tol: float, max_iter: int) -> tuple[FloatArray, dict[str, Any]]:
    """CCCP from W until the metric's own step is proved to gain at most tol ||I||^2. "rel_gap": the gain over it."""
    at, scale = point_at(p, W), float(len(W))
    solver, status = StepAroundI(p, at.latent), Status.MAX_ITER
    with one_blas_thread():
        for steps in range(1, max_iter + 1):
            found = solver.solve(at, tol * scale / max(at.norm2, scale))
            here = at.F - 2 * float(np.trace(at.W))
            gain = here - found.bound
            if gain <= tol * scale + at.rounding(p.C):
                status = Status.STATIONARY
                break
            if found.objective >= here:
                status = Status.STALLED
                break
            if steps < max_iter:
                at = found.best
    return at.W, {
        "F": objective(p, at.W, REGULARIZERS[BY_CCCP]) / (p.C * len(p.X)),
        "rel_gap": gain / scale,
        "proved": status is Status.STATIONARY,
        "status": status.name,
        "steps": steps,
    }


def regularized_sgd(
    p: Instance,
    W: FloatArray,
    regularizer: Regularizer,
    n_epochs: int,
    batch_size: int,
    random_state: int = 0,
) -> tuple[FloatArray, list[float]]:
    """The metric of least F_R after an epoch or at the start, and F_R at the start and after each epoch."""
    rng, n, t, squares = np.random.default_rng(random_state), len(p.X), 0, 0.0
    best, found, root = W, [objective(p, W, regularizer)], psd_root(W)
    for _ in range(n_epochs):
        order = rng.permutation(n)
        for start in range(0, n, batch_size):
            t += 1
            change = p.C * n * mean_change(p, W, order[start : start + batch_size], root=root)
            slope = regularizer.gradient(W) + change
            squares += float(np.sum(slope**2))
            step = 1 / (2 * (t + 1)) if regularizer.curved else diameter(p) / np.sqrt(squares)
            root = psd_root(W - step * slope)
            W = root @ root.T
        found.append(objective(p, W, regularizer))
        if found[-1] <= min(found):
            best = W
    return best, found


def diameter(p: Instance) -> float:
    """The norm of the multiple of the identity under which points are 1 from their centre, in the mean."""
    X = p.X - p.X.mean(axis=0)
    return float(np.sqrt(X.shape[1]) * len(X) / np.sum(X**2))
