"""The solver of MLKR: descents on F from one or more starts.

The points are Y (n, r), in coordinates in which they have unit covariance (`Instance.at`). certify.py checks the result
independently.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray
from cvxml.core.result import Status, Step
from cvxml.core.run import Callback, Found, Start, untried
from cvxml.family.stationary.stationary import CLOSE, ROUNDING
from cvxml.methods.mlkr.certify import certify, rows_of, tends_to_0
from cvxml.methods.mlkr.instance import Instance
from cvxml.solvers.starts import each_start, given_components, named_components

ARRIVED = 1e-10  # relative distance of F from its limit along multiples at which the limit counts as reached
STARTS = ("auto", "pca", "identity", "random")
MAX_UNKNOWNS_NEWTON = 400  # up to this many unknowns, Newton's steps follow the descent
NEWTON_STEPS = 12
EXACTLY = (
    "the nearest neighbours of all points have their targets: with multiples of this metric F tends to 0, which no "
    "metric attains; use this metric as it is"
)


def search(
    given: Instance,
    init: Any,
    random_state: int,
    tol: float,
    max_iter: int,
    start: Start | None,
    callback: Callback,
) -> Found:
    """The best metric of the descents from all starts, or the metric of `start` if it is certified stationary.

    init: "auto", "pca", "identity" or "random", a matrix (m, d), or a list of these (`MLKR.find`). random_state: the
    seed of "random". start: another solution; if it is given, its metric replaces `init`.

    The status is NOT_ATTAINED if F is proved to tend to 0 along multiples of the metric, and AT_INFINITY if F seems to
    decrease along all larger multiples.
    """
    if start is not None and start.metric.any() and certify(given, start.metric).proves(tol):
        return Found(start.metric, {}, Status.STATIONARY, 0)
    began = starts(given, init, random_state) if start is None else [("warm", _warm(given, start.metric))]
    runs: list[Run] = []
    for name, A in began:
        runs.append(descend(given, name, A, max_iter, callback))
        if runs[-1].status is Status.INTERRUPTED:
            break
    best = min(runs, key=lambda run: run.value)
    metric = given.at.outside(best.A.T @ best.A)
    status, notes = best.status, ["F is not convex: a better metric may exist elsewhere"]
    if runs[-1].status is Status.INTERRUPTED:
        status = Status.INTERRUPTED
        notes += untried([name for name, _ in began], len(runs))
    elif tends_to_0(given, metric):
        status, notes = Status.NOT_ATTAINED, [EXACTLY, *notes]
    elif leaves(given, best.A):
        status = Status.AT_INFINITY
    if len(runs) > 1:
        notes.append("F by start: " + ", ".join(f"{run.name} {run.value:.6g}" for run in runs))
    history = tuple(step for run in runs for step in run.history)
    return Found(metric, {}, status, len(history), history, tuple(notes))


def _warm(given: Instance, M: FloatArray) -> FloatArray:
    """A matrix A (min(m, r), r) with A^T A = M in the coordinates `given.at`, for the metric M (d, d) of a warm start.

    Raises ValueError for M = 0.
    """
    if not M.any():
        raise ValueError(
            "the metric of warm_start is zero, and A = 0 is stationary: no descent leaves it; give another metric"
        )
    return rows_of(given, M)


def distances(E: FloatArray) -> FloatArray:
    """The squared distances (n, n) of points E (n, m), by matrix products."""
    lengths = np.sum(E**2, axis=1)
    D: FloatArray = np.maximum(lengths[:, None] + lengths - 2 * E @ E.T, 0.0)
    return D


def value_and_gradient(Y: FloatArray, y: FloatArray, A: FloatArray) -> tuple[float, FloatArray]:
    """F and dF/dA at A (m, r), for points Y (n, r) with the targets y, by matrix products."""
    look()
    E = Y @ A.T
    D = distances(E)
    np.fill_diagonal(D, np.inf)
    p = np.exp(D.min(axis=1)[:, None] - D)
    p /= p.sum(axis=1)[:, None]
    yhat = p @ y
    c = 2 * (yhat - y)[:, None] * p * (yhat[:, None] - y)
    both = c + c.T
    # 2 sum_ij c_ij (e_i - e_j)(Y_i - Y_j)^T
    gradient: FloatArray = 2 * (both.sum(axis=1)[:, None] * E - both @ E).T @ Y
    return float(np.sum((yhat - y) ** 2)), gradient


def limit(Y: FloatArray, y: FloatArray, A: FloatArray) -> float:
    """The limit of F at t A as t grows, for points Y (n, r) with the targets y. A (m, r) is the linear map.

    Distances that are equal up to rounding count as equal.
    """
    D = distances(Y @ A.T)
    largest = D.max()
    np.fill_diagonal(D, np.inf)
    least = D.min(axis=1)[:, None]
    tied = least + np.maximum(least / CLOSE, largest / ROUNDING) >= D
    return float(np.sum((y - tied @ y / tied.sum(axis=1)) ** 2))


@dataclass(eq=False)
class Run:
    """One descent from one start, and its state: the map A (m, r) of the points Y (n, r) = `Instance.at.Y`, and F at A.

    name: the name of the start. value: F at A.
    """

    name: str
    A: FloatArray
    value: float
    status: Status = Status.STALLED  # the certificate may prove more
    history: list[Step] = field(default_factory=list)


def descend(given: Instance, name: str, A: FloatArray, max_iter: int, callback: Callback) -> Run:
    """Run L-BFGS from A (m, r) without a tolerance, then Newton steps if there are few unknowns.

    The targets are divided by `unit`, a power of two, so that their spread is from 1 to 2. For targets s y the
    objective is s^2 F, and L-BFGS would take other steps.

    name: the start, for the history. max_iter: the largest number of steps of L-BFGS. If they are used up, or if F
    decreases along multiples of the result (`leaves`), there are no Newton steps.
    """
    Y, shape, began = given.at.Y, A.shape, time.perf_counter()
    unit = 2.0 ** math.floor(math.log2(np.ptp(given.y)))
    y = given.y / unit
    run = Run(name, A, unit**2 * value_and_gradient(Y, y, A)[0])

    def told(at: Any, phase: str) -> None:
        run.A = np.reshape(at, shape)
        run.value = unit**2 * value_and_gradient(Y, y, run.A)[0]
        seconds = time.perf_counter() - began
        run.history.append(Step(len(run.history) + 1, seconds, run.value, 0.0, run.value, f"{name}: {phase}"))
        if callback is not None:
            callback(run.history[-1])

    def of(a: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = value_and_gradient(Y, y, a.reshape(shape))
        return value, gradient.ravel()

    try:
        options = {"maxiter": max_iter, "maxcor": 20, "ftol": 0.0, "gtol": 0.0, "maxfun": 20 * max_iter}
        minimize(
            of, A.ravel(), jac=True, method="L-BFGS-B", options=options, callback=lambda a: told(a, "L-BFGS")
        )
        if len(run.history) >= max_iter:
            run.status = Status.MAX_ITER
        elif A.size <= MAX_UNKNOWNS_NEWTON and not leaves(given, run.A):
            for better in newton(of, run.A.ravel()):
                told(better, "Newton")
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    return run


def newton(of: Callable[[FloatArray], tuple[float, FloatArray]], a: FloatArray) -> Iterator[FloatArray]:
    """Yield the points after Newton steps from a, as long as each step reduces the gradient norm clearly.

    of: maps a point to value and gradient. Second derivatives are finite differences.
    """
    g = of(a)[1]
    for _ in watched(range(NEWTON_STEPS)):
        h = 1e-5 * max(float(np.linalg.norm(a)), 1.0) / math.sqrt(len(a))
        H = np.array([(of(a + h * e)[1] - of(a - h * e)[1]) / (2 * h) for e in np.eye(len(a))])
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        # The Hessian is singular, because F(U A) = F(A) for every orthogonal U.
        used = values > 1e-7 * max(values[-1], 0.0)
        if not used.any():
            return
        new = a - vectors[:, used] @ ((vectors[:, used].T @ g) / values[used])
        of_new = of(new)[1]
        if not np.linalg.norm(of_new) < 0.9 * np.linalg.norm(g):
            return
        a, g = new, of_new
        yield a


def leaves(given: Instance, A: FloatArray) -> bool:
    """True if F decreases along multiples of A (m, r) to a limit, or has reached this limit.

    F counts as decreasing if its difference from the limit is positive, and at most -dF(tA)/dt at t = 1. For A = 0 the
    result is False.
    """
    value, gradient = value_and_gradient(given.at.Y, given.y, A)
    further = value - limit(given.at.Y, given.y, A)
    if abs(further) <= ARRIVED * value:
        return bool(A.any())
    return bool(0 < further <= -float(np.sum(A * gradient)))


def starts(given: Instance, init: Any, random_state: int) -> list[tuple[str, FloatArray]]:
    """The starts that `init` gives: a name, and a matrix A (m, r) in the coordinates `given.at`, for each.

    init: "auto", "pca", "identity" or "random", normalised and multiplied by the power of 2 with the least F; a matrix
    (m, d); or a list of these. random_state: the seed of "random". Raises ValueError for bad init.
    """
    return [_start(given, one, random_state) for one in each_start(init, random_state)]


def _start(given: Instance, init: Any, random_state: int) -> tuple[str, FloatArray]:
    if not isinstance(init, str):
        return "given", given_components(init, given.m, given.X.shape[1]) @ given.at.back
    if init not in STARTS:
        raise ValueError(
            f"init must be one of {', '.join(map(repr, STARTS))}, components, or a list; got {init!r}"
        )
    of_all = "identity" if given.m >= given.at.Y.shape[1] else "pca"
    name = of_all if init == "auto" else init
    A = named_components(name, given.X, given.m, random_state) @ given.at.back
    A = A * (math.sqrt(len(A)) / float(np.linalg.norm(A)))
    # F is smallest for this power of two.
    sizes = [2.0**k for k in range(-6, 7)]
    return init, A * min(sizes, key=lambda t: value_and_gradient(given.at.Y, given.y, t * A)[0])
