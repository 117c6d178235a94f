"""SGD with the inference as printed, and nothing else: Algorithms 2 and 3 in the corrected Algorithm 1.

`cvxml.methods.ssvm.sgd` with paper=True has the printed step as well: the loss there has no step size, and the two
differences could not be told apart. So the loop is written here, with the inference left open; with the exact one it is
that of the package, number by number (tests/test_experiment_gerrymandering.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cvxml.methods.ssvm import greedy, inference
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.nearest import Nearest, nearest
from cvxml.methods.ssvm.point import point_at
from cvxml.methods.ssvm.sgd import SgdRun
from cvxml.metric import FloatArray, IntArray, project_psd

Inference = Callable[[Instance, Nearest, IntArray], tuple[IntArray, IntArray]]


def exact(p: Instance, near: Nearest, own: IntArray) -> tuple[IntArray, IntArray]:
    """h* and h^ (m, k) of points of the classes `own` (m,)."""
    return inference.targeted(near, own).sets, inference.loss_augmented(near, own, p.Lam).sets


def as_printed(p: Instance, near: Nearest, own: IntArray) -> tuple[IntArray, IntArray]:
    """The same by Algorithms 2 and 3: greedy, and without ties for most votes."""
    return greedy.targeted(near, own).sets, greedy.loss_augmented(near, own, p.Lam).sets


def descent(
    p: Instance,
    W: FloatArray,
    n_epochs: int,
    batch_size: int = 1,
    random_state: int = 0,
    infer: Inference = as_printed,
) -> SgdRun:
    """As `cvxml.methods.ssvm.sgd.sgd`, with the h* and h^ of `infer`. F is the exact one in any case."""
    random, n, t = np.random.default_rng(random_state), len(p.X), 0
    best, F = W, [point_at(p, W).F]
    for _ in range(n_epochs):
        order = random.permutation(n)
        for start in range(0, n, batch_size):
            t += 1
            batch, eta = order[start : start + batch_size], 1 / (2 * (t + 1))
            near = nearest(p.X, p.y, p.R, W, p.k, batch)
            star, hat = infer(p, near, p.y[batch])
            dW = (_spread(p, batch, star) - _spread(p, batch, hat)) / len(batch)
            W = project_psd((1 - 2 * eta) * W - eta * p.C * n * dW)
        F.append(point_at(p, W).F)
        if F[-1] <= min(F):
            best = W
    return SgdRun(W, best, F)


def _spread(p: Instance, batch: IntArray, sets: IntArray) -> FloatArray:
    """The sum of (x_i - x_j)(x_i - x_j)^T over the sets (m, k) of the points of a batch (m,)."""
    difference = (p.X[batch, None] - p.X[sets]).reshape(-1, p.X.shape[1])
    total: FloatArray = difference.T @ difference
    return total


def missed(p: Instance, W: FloatArray) -> dict[str, float]:
    """The share of points for which Algorithm 2 finds a dearer h* than the best, and Algorithm 3 a lesser S + Delta."""
    near = nearest(p.X, p.y, p.R, W, p.k)
    star, best = greedy.targeted(near, p.y).value, inference.targeted(near, p.y).value
    hat, worst = (
        greedy.loss_augmented(near, p.y, p.Lam).value,
        inference.loss_augmented(near, p.y, p.Lam).value,
    )
    return {
        "h_star": float(np.mean(star > best + 1e-9 * np.abs(best))),
        "h_hat": float(np.mean(hat < worst - 1e-9 * (1 + np.abs(worst)))),
    }
