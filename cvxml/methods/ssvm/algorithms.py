"""Algorithms 1 to 3 of Trivedi et al. 2014, as printed and corrected, for comparison with the solver.

Point i has sets h of k neighbours. S(i, h) is minus the sum of the squared distances from i to the members of h at the
metric W. The loss of the majority vote of h is Delta(i, h). In a winning set, the class of i has more votes than any
other. The winning set with the largest S is h*, and the set with the largest S + Delta is h^. Psi_{i, h} is the matrix
with S(i, h) = <W, Psi_{i, h}>. The objective F is ||W||^2 plus C times the sum of (S + Delta)(i, h^) - S(i, h*) over
the n points. R is the number of classes.

Algorithms 2 and 3, `targeted` and `loss_augmented`, take a greedy set for a target class, or the best over all target
classes. The target must lead every other class by at least tau votes: tau = 1 forbids a tie for most votes, tau = 0
allows it. The smallest number of votes that makes this possible is n*. The greedy set takes the n* nearest points of
the target class. Then, one after another, it takes the nearest point that lets no class overtake the target. It does
not try more votes for the target, which may allow cheaper points of other classes. It can miss the optimum if and only
if R >= 3 and k >= 2 n* + 2 - tau. The search of inference.py is exact.

Algorithm 1, `sgd`, is stochastic gradient descent. For a sampled point i let dW = Psi_{i, h^} - Psi_{i, h*}. Then
2 W + C n dW is an unbiased subgradient of F. The corrected step number t = 1, 2, ... is

    W <- P_+( (1 - 2 eta) W - eta C n dW ),     eta = 1 / (2 (t + 1)),

where P_+ replaces negative eigenvalues by 0. With eta = 1 / (2 t), the step t = 1 would erase the start. A mini-batch
takes the mean of its dW. The printed step is

    W <- P_+( (1 - eta) W - C dW ),     eta = 1 / t.

Its loss term has no step size. Because t = 0 would divide by zero, it starts at t = 1, which erases the start. The
printed algorithm takes h* and h^ from the greedy sets with tau = 1. Both versions differ from the paper in one way: the
paper draws each sample from all points, and here a pass takes each point once, in a random order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, psd_root
from cvxml.core.threads import one_blas_thread
from cvxml.methods.ssvm import inference
from cvxml.methods.ssvm.inference import Chosen, Nearest, fewest_votes, nearest, point_at
from cvxml.methods.ssvm.instance import Instance


def table(D: FloatArray, tau: int) -> tuple[FloatArray, IntArray]:
    """Return the cost (n, R) of the greedy set for each point and target class, and its votes (n, R, R).

    D (n, R, k): the squared distances from each point to the k nearest points of each class, ascending. tau: the least
    lead of the target class in votes. The cost is the sum of the distances; it is inf if no set was found. The axes of
    the votes are the point, the target class, and the class that gets the votes.
    """
    n, R, k = D.shape
    first = fewest_votes(k, R, tau)
    target = np.arange(R)
    taken = np.zeros((n, R, R), dtype=np.intp)
    taken[:, target, target] = first
    cost = D[:, :, :first].sum(axis=2)
    beyond = np.concatenate([D, np.full((n, R, 1), np.inf)], axis=2)
    point, classes = np.arange(n)[:, None, None], np.arange(R)[None, None, :]
    for _ in range(first, k):
        next_one = beyond[point, classes, taken]
        own = taken[:, target, target][:, :, None]
        open_to = (taken < own - tau) | (classes == target[None, :, None])
        offered = np.where(open_to, next_one, np.inf)
        chosen = offered.argmin(axis=2)
        cost += np.take_along_axis(offered, chosen[:, :, None], axis=2)[:, :, 0]
        taken[point[:, :, 0], target[None, :], chosen] += 1
    return cost, taken


def targeted(near: Nearest, r: IntArray, tau: int = 1) -> Chosen:
    """Return the greedy set of each point for the target class r (n,), and its cost: Algorithm 2.

    near: the nearest points of each class. tau: the least lead of r in votes. A set is found whenever one exists;
    otherwise the cost is inf.
    """
    cost, taken = table(near.D, tau)
    rows = np.arange(len(r))
    return Chosen(_sets(near, taken[rows, r]), cost[rows, r])


def loss_augmented(near: Nearest, y: IntArray, Lam: FloatArray, tau: int = 1) -> Chosen:
    """Return a set with a large S + Delta for each point of class y (n,), and its value: Algorithm 3.

    near: the nearest points of each class. Lam (R, R): Lam[y, r] is the loss of a vote that r wins. The value is S plus
    Lam[y, r] for the target class r of the greedy set. For tau = 1 it is S + Delta, for tau = 0 at most that.

    tau: 1, as in the listing of the paper, leaves out sets with a tie for most votes; 0 includes them.
    """
    cost, taken = table(near.D, tau)
    values = Lam[y] - cost
    r = values.argmax(axis=1)
    rows = np.arange(len(y))
    return Chosen(_sets(near, taken[rows, r]), values[rows, r])


def _sets(near: Nearest, votes: IntArray) -> IntArray:
    """Return the sets (n, k) of the nearest votes[i, c] points of each class c, with increasing indices."""
    n, _, k = near.J.shape
    chosen = np.arange(k) < votes[:, :, None]
    return np.sort(near.J[chosen].reshape(n, k), axis=1)


class SgdRun(NamedTuple):
    """The last W, the W of lowest F among the start and the epochs, and F at the start and after each epoch."""

    last: FloatArray
    W: FloatArray
    F: list[float]


def sgd(
    p: Instance,
    W: FloatArray,
    n_epochs: int,
    batch_size: int = 1,
    paper: bool = False,
    random_state: int = 0,
    printed_inference: bool | None = None,
    target: float = -np.inf,
) -> SgdRun:
    """Run Algorithm 1 from W (d, d): at most `n_epochs` passes over the points in random order.

    F is computed by exact inference at the start and after each pass. The run stops if F is at most `target`.
    batch_size: points in a mini-batch.

    paper: True for the printed step, False for the corrected step. printed_inference: True for the greedy sets, False
    for exact inference; None stands for the value of `paper`.
    """
    printed = paper if printed_inference is None else printed_inference
    with one_blas_thread():
        return _epochs(
            p, W, n_epochs, batch_size, paper, printed, np.random.default_rng(random_state), target
        )


def _epochs(
    p: Instance,
    W: FloatArray,
    n_epochs: int,
    batch_size: int,
    paper: bool,
    printed_inference: bool,
    rng: np.random.Generator,
    target: float,
) -> SgdRun:
    n, t = len(p.X), 0
    best, F, root = W, [point_at(p, W).F], psd_root(W)
    while len(F) <= n_epochs and min(F) > target:
        order = rng.permutation(n)
        for start in range(0, n, batch_size):
            t += 1
            batch = order[start : start + batch_size]
            dW = mean_change(p, W, batch, printed_inference, root)
            if paper:
                root = psd_root((1 - 1 / t) * W - p.C * dW)
            else:
                eta = 1 / (2 * (t + 1))
                root = psd_root((1 - 2 * eta) * W - eta * p.C * n * dW)
            W = root @ root.T
        F.append(point_at(p, W).F)
        if F[-1] <= min(F):
            best = W
    return SgdRun(W, best, F)


def mean_change(
    p: Instance,
    W: FloatArray,
    batch: IntArray,
    printed_inference: bool = False,
    root: FloatArray | None = None,
) -> FloatArray:
    """Return the mean (d, d) of dW = Psi_{i, h^} - Psi_{i, h*} over the points i of the batch, at W.

    printed_inference: take h^ and h* from the greedy sets instead of exact inference. root: T with W = T T^T, if it is
    known.
    """
    near = nearest(p.X, p.y, p.R, W, p.k, batch, root)
    own = p.y[batch]
    if printed_inference:
        star, hat = targeted(near, own).sets, loss_augmented(near, own, p.Lam).sets
    else:
        star = inference.targeted(near, own).sets
        hat = inference.loss_augmented(near, own, p.Lam).sets
    dW = np.zeros_like(W)
    for j_star, j_hat in zip(star.T, hat.T, strict=True):
        pull, push = p.X[batch] - p.X[j_star], p.X[batch] - p.X[j_hat]
        dW += pull.T @ pull - push.T @ push
    return dW / len(batch)
