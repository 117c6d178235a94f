"""Choose the solver that fits the regularizer and the losses of a problem, and run it.

Two kinds of problems are solved. The first has hinges plus a regularizer, <C, M> or lam/2 ||M||^2. For metrics
M = sum_k w_k b_k b_k^T of given vectors b_k, the regularizer may also be the sum of the weights w_k or the squared norm
of M. The second has a budget. The smallest squared distance over given pairs is maximized, and the sum of the squared
distances over similar pairs is at most 1.

Solvers rescale the points, and give no proof. A certificate proves the gap. It is computed after every step if the
solver does not estimate its gap, else when this estimate is at most the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual, Status
from cvxml.core.run import Estimate, Found, Iterate, follows
from cvxml.family.geometry.budget import budget, unproved
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.least import Least
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.combinations import NormOfCombination, SumOfWeights
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import UNSEEN, Duals, Nearest
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family
from cvxml.solvers.basis_weights import Combining
from cvxml.solvers.box_dual import BoxDual, Boxed
from cvxml.solvers.linear_margins import LinearMargins
from cvxml.solvers.multipliers import Margin, Multipliers, images
from cvxml.solvers.task import Task

AHEAD_OF_LEAST = 2.0  # pairs with D < 1 + AHEAD_OF_LEAST are added, in units that ask for D >= 1
PARTS = 64  # at most this many parts of a metric are tried if rounding has spoilt the metric
PATIENCE = 20  # rounds without a smaller gap, after which the solver stops because of rounding


class LeastMargin:
    """Solver for max_M min_p D_p over metrics within the budget, where D_p are the squared distances of given pairs.

    In the coordinates of the solver the sum of squared distances over similar pairs is tr M, so the budget is
    tr M <= 1. An equivalent problem is solved: min tr M with every D_p at least 1. Its optimal M divided by tr M solves
    the first problem. start: a metric (d, d) to begin from, if there is one.
    """

    def __init__(self, family: Family, start: FloatArray | None):
        assert isinstance(family.regularizer, Budget)
        rows: Nearest = family.terms[0].rows  # type: ignore[assignment]
        X = family.regularizer.X
        self.at = budget(family.regularizer.E, None)
        Y = (X - X[0]) @ self.at.to
        least = rows.least(Y)
        if not math.isfinite(least):
            raise ValueError("in double precision, all pairs consist of equal points; rescale X")
        Y, r = Y / math.sqrt(least), Y.shape[1]
        M: FloatArray = np.eye(r)
        if start is not None and start.any():
            given = self.at.inside(start)
            M = given / float(np.trace(given)) + 1e-2 / r * M
        M *= 2 / rows.least(images(Y, M))
        # Pairs with a difference within rounding of 0 are left out.
        self.solver = Multipliers(
            Y, rows, lambda key: rows.margins(Y, key) > UNSEEN, np.eye(r), Margin(math.inf), AHEAD_OF_LEAST
        )
        self.solver.begin(M, 1.0)

    def step(self) -> bool:
        return self.solver.step()

    def metric(self) -> FloatArray:
        """The metric (d, d), within the budget."""
        M = self.solver.M
        return self.at.outside(M / float(np.trace(M)))

    def duals(self) -> Duals:
        """The dual variables of the pairs, up to a common factor. The certificate divides them by their sum."""
        return self.solver.duals()


class _Iterate(NamedTuple):
    """A running solver in the form that the loop of core/run.py takes.

    named: turns the dual variables of the solver into the dual of the method. family: the problem, for estimates.
    """

    solver: LinearMargins | LeastMargin | Boxed | Combining
    named: Callable[[Any], Dual]
    family: Family

    def metric(self) -> FloatArray:
        return self.solver.metric()

    def dual(self) -> Dual:
        return self.named(self.solver.duals())

    def step(self) -> bool:
        return self.solver.step()

    def estimate(self) -> Estimate | None:
        return None if isinstance(self.solver, LeastMargin) else self.solver.estimate(self.family)


# Regularizers that `search` solves with one term: the losses and the rows of the term. Rows of a budget are `Nearest`.
ONE_TERM = (
    (Linear, (Hinge, SquaredHinge), Triplets),
    (SumOfWeights, Hinge, Triplets),
    (NormOfCombination, Hinge, Triplets),
    (Budget, Least, object),
)


def check_solvable(family: Family) -> None:
    """Raise TypeError if `search` has no solver for the regularizer and the losses.

    It is not used for the Frobenius norm: `boxed_terms` (box_dual.py) checks the losses there.
    """
    for regularizer, losses, rows in ONE_TERM:
        if isinstance(family.regularizer, regularizer) and len(family.terms) == 1:
            (term,) = family.terms
            if isinstance(term.loss, losses) and isinstance(term.rows, rows):
                return
    terms = ", ".join(f"{type(loss).__name__} on {type(rows).__name__}" for loss, rows in family.terms)
    raise TypeError(
        f"`search` has no solver for {type(family.regularizer).__name__} with {terms}: set PATH of the method to a "
        "solver of a Task; CONTRIBUTING.md has a table of all solvers"
    )


def search(task: Task) -> Found:
    """Solve the task with the solver of its regularizer, until a certificate proves the tolerance of the task.

    It ends earlier after the largest number of steps of the task, or if rounding allows no progress. Raises TypeError
    if there is no solver for the regularizer and the losses.
    """
    family, named = task.family, task.named
    if isinstance(family.regularizer, Frobenius):
        start = None if task.start is None else task.read(task.start.dual)
        boxed = _Iterate(Boxed(BoxDual(family), start), lambda duals: named(*duals), family)
        return _or_zero(task, boxed, "dual", math.inf)
    check_solvable(family)
    if isinstance(family.regularizer, Linear):
        return _linear(task)
    if isinstance(family.regularizer, (SumOfWeights, NormOfCombination)):
        return _or_zero(task, _Iterate(Combining(family), named, family), "interior", PATIENCE)
    return within_budget(
        task, _Iterate(LeastMargin(family, task.near), named, family), "multipliers", PATIENCE
    )


def _or_zero(task: Task, at: Iterate, phase: str, patience: float) -> Found:
    """Run the solver `at`, and return its result, or M = 0.

    M = 0 is returned if the result is not certified, and M = 0 is certified or has a smaller objective. M = 0 is judged
    with the dual variables of the result. phase: the name of the solver in the history.

    patience: the number of steps without a smaller gap after which the solver stops.
    """
    found = task.run(at, phase, patience)
    if found.status is Status.CONVERGED:
        return found
    zero = found._replace(metric=0 * found.metric, proof=None)
    of_zero, own = (task.proved(each.metric, each.dual) for each in (zero, found))
    if of_zero.proves(task.tol):
        return zero._replace(status=Status.CONVERGED)
    return zero if of_zero.objective < own.objective else found


def within_budget(task: Task, at: Iterate, phase: str, patience: float) -> Found:
    """Run the solver `at` of a problem with a budget, and return its result.

    phase: the name of the solver in the history. patience: the number of steps without a smaller gap after which it
    stops. If double precision cannot prove a lower bound for these data, the gap is computed but not proved. The solver
    stops when this gap meets the tolerance, and lower bounds and gaps are removed from the history.
    """
    if not task.family.regularizer.undecided:
        return task.run(at, phase, patience)
    # The solver needs a gap to stop. The gap is not proved, so it is removed before it is reported.
    callback = task.callback
    told = None if callback is None else lambda step: callback(unproved(step))
    assert isinstance(task.family.regularizer, Budget)
    seen = task.family._replace(regularizer=task.family.regularizer.seen())
    found = task._replace(family=seen, callback=told).run(at, phase, patience)
    return found._replace(history=tuple(map(unproved, found.history)))


def _sizes(r: int) -> list[int]:
    """The numbers k for which a metric in the first k of r coordinates is tried.

    They are 1, ..., r - 1 if r is at most `PARTS`. For larger r they are at most `PARTS` of these numbers, spaced
    geometrically.
    """
    return list(range(1, r)) if r <= PARTS else sorted({int(k) for k in np.geomspace(1, r - 1, PARTS)})


def _linear(task: Task) -> Found:
    """Solve <C, M> with hinges on triplets.

    The result is the metric of the solver, or M = 0 if that is certified optimal.

    If features are nearly collinear, the metric of the solver may have very large entries, so that its distances are
    lost in rounding and it is not certified. It is then compared with M = 0 and with metrics that use only the first
    coordinates, those of largest spread. The result is the one with the smallest objective.
    """
    solver = LinearMargins(task.family, task.tol)
    if not solver.costs:  # C is 0 up to rounding, so any large metric is optimal
        at = _Iterate(solver, task.named, task.family)
        return Found(at.metric(), at.dual(), Status.CONVERGED, 0)
    found = _multipliers(task, solver)
    if found.status is Status.STALLED and solver.solver.heavy > 1:
        found, solver = _not_heavy(task, found, solver)
    zero = 0 * found.metric
    # All margins are violated at M = 0, so a proof is slow. It is tried only if 0 may be as good.
    if solver.at_zero() <= 2 * found.history[-1].objective and task.proved(zero, found.dual).proves(task.tol):
        return found._replace(metric=zero)
    if found.status is Status.CONVERGED:
        return found

    def at_most(M: FloatArray) -> float:
        proof = task.proved(M, found.dual)
        return proof.objective + proof.rounding

    whole = solver.whole()
    masks = [np.arange(len(whole)) < k for k in _sizes(len(whole))]
    parts = [solver.at.outside(np.where(np.outer(mask, mask), whole, 0.0)) for mask in masks]
    return found._replace(metric=min([found.metric, zero, *parts], key=at_most))


def _multipliers(task: Task, solver: LinearMargins) -> Found:
    if task.start is None:
        solver.begin()
    else:
        solver.go_on(task.start.metric, task.proved(*task.start).rel_gap)
    return task.run(_Iterate(solver, task.named, task.family), "multipliers", PATIENCE)


def _not_heavy(task: Task, before: Found, heavy: LinearMargins) -> tuple[Found, LinearMargins]:
    """Solve again without the special steps for a heavy hinge. The search that took these steps stalled.

    A hinge is heavy if its violated margins cost far more than <C, M> at the start (multipliers.py). Some problems need
    the second search, because many margins are violated at the optimum. before, heavy: the result and the solver of the
    stalled search. Returns the result with the smaller gap and its solver. The history has the steps of both searches.
    """
    last, callback = before.history[-1], task.callback
    told = None if callback is None else lambda step: callback(follows(step, last))
    solver = LinearMargins(task.family, task.tol, may_be_heavy=False)
    try:
        found = _multipliers(task._replace(callback=told, max_iter=task.max_iter - before.n_iter - 1), solver)
    except KeyboardInterrupt:
        return before._replace(status=Status.INTERRUPTED), heavy
    steps = (*before.history, *(follows(step, last) for step in found.history))
    worse = found.status is not Status.CONVERGED and (
        not task.proved(found.metric, found.dual).gap < task.proved(before.metric, before.dual).gap
    )
    best, its = (before, heavy) if worse else (found, solver)
    return best._replace(status=found.status, history=steps, n_iter=steps[-1].iteration), its
