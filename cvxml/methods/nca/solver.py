"""The solver of NCA: from an instance to a metric and its dual variables.

The objective F is -f or -g (definitions.py). It is not convex. A convex step at a metric is a convex function that is
at least F and equals F there; CCCP, the concave-convex procedure, minimises one step after another. `search` runs a
descent (descent.py) from each start, takes the run with the best metric, and looks for dual variables of its step.
`literal_cccp` replaces the descent for solver="clarabel" or "scs": each convex step is solved through cvxpy as stated.
Its dual variables come from descents too, as for solver="fast".

All runs work in coordinates where the points have unit covariance, called "the coordinates" here. There a metric is
A^T A with A (m, r), r the rank of the points. The words "at infinity" mean that F improves toward a limit along the
multiples t A as t grows, or that adding more of some direction always improves F. Then no metric attains the supremum
of f or g.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import TimeUp, look
from cvxml.core.metric import EPS, FloatArray, project_psd
from cvxml.core.result import Dual, Status, Step
from cvxml.core.run import Callback, Found, Start, silent, untried
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.stationary.rank import INVISIBLE, examine_rank
from cvxml.methods.nca import definitions
from cvxml.methods.nca.certify import Limit, certify, collapsible, limit
from cvxml.methods.nca.descent import LARGEST, Descent, Held, Iterate, Pairs
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import Metric
from cvxml.solvers.starts import each_start, given_components, named_components

SHARE = 0.1  # the descent stops at this share of tol
UNUSED = 1e-7  # a new direction must decrease the objective by this share of its distance to the bound
ARRIVED = 1e-14  # an objective is equal to its limit along the multiples if it is within this, relatively
SAMPLED = 2  # blocks of rows in the sample that scales a start
LEARNT = 0.95  # a scale must reduce -g to this share of -g at A = 0
SLIGHT = 1e-3  # the next multiple of a start must decrease -g by this
WRITTEN = 1e-6  # largest relative error of a distance when its metric is rounded to floats
STEP_ITERATIONS = 500  # of the descent that solves a convex step
SHIFTS = (1e-2, 1e-4, 1e-6)  # T is reduced by these shares to find interior rows
STARTS = ("auto", "pca", "lda", "identity", "random", "likelihood")
SLIP = 1e-9  # a start counts as better than the result only by more than this, relatively
LOST = (
    "some features nearly determine others, so rounding to a matrix of floats makes the last metric of the "
    "descent worse. A metric that rounding does not change is returned"
)


class NamedStart(NamedTuple):
    """A start and its name. A (m, r): in the coordinates. Q (d, d): its metric of the features."""

    name: str
    A: FloatArray  # (m, r), in the coordinates
    Q: FloatArray  # (d, d), its metric


@dataclass(eq=False)
class Run:
    """The result of one descent from one start.

    name: the name of the start. A: in the coordinates. value: the objective. dual: dual variables of the step at A, if
    `literal_cccp` computed them.

    metric (d, d): the metric of the features, if rounding A^T A to floats would spoil it (`_best`). None:
    `Solver.metric` computes the metric from A.
    """

    name: str  # of the start
    A: FloatArray  # in the coordinates
    value: float
    status: Status
    iterations: int
    history: list[Step] = field(default_factory=list)
    dual: Dual | None = None  # of the step at A, if a literal run computed it
    metric: FloatArray | None = None  # (d, d), if it is not A^T A in the units of the points


def search(
    p: Instance,
    solver: str,
    init: Any,
    tol: float,
    max_iter: int,
    random_state: int,
    start: Start | None,
    callback: Callback,
) -> Found:
    """Return the best metric of the descents, or of the literal runs of CCCP, from all starts.

    solver: "fast" for descents, "clarabel" or "scs" for CCCP. init: the starts, by name or as matrices; the metric of
    `start` replaces them if it is given. tol: relative to the scale (certify.py). max_iter: iterations of each run.
    random_state: seed of the random start. callback: called after each step.
    """
    at = Solver(p)
    if start is None:
        starts = starts_of(at, init, random_state)
    else:
        starts = [NamedStart("warm", at.root_of(start.metric), start.metric)]
    runs: list[Run] = []
    left_out: tuple[str, ...] = ()
    for name, A, _ in starts:
        if solver == "fast":
            runs.append(at.run(name, A, tol, max_iter, callback))
        else:
            runs.append(literal_cccp(at, name, A, solver, tol, max_iter, callback))
        if runs[-1].status is Status.INTERRUPTED:
            left_out = untried([each.name for each in starts], len(runs))
            break
    best = _best(at, runs, starts, tol, max_iter, silent(callback))
    metric = at.metric(best.A) if best.metric is None else best.metric
    why = at.at_infinity(metric)
    return Found(
        metric,
        at.dual_of(best, metric, tol),
        _status(at, best, runs, why),
        sum(run.iterations for run in runs),
        tuple(step for run in runs for step in run.history),
        (*_notes(at, runs, why if best.metric is None else why or LOST), *left_out),
    )


def _best(
    at: Solver, runs: list[Run], starts: list[NamedStart], tol: float, max_iter: int, callback: Callback
) -> Run:
    """Return the run with the best proved objective after its metric has been rounded to floats.

    In the coordinates a run always ends lower than it starts. But if features are nearly collinear, A^T A has large
    entries that cancel, and rounding to floats may make it far worse. So we compare the rounded metrics of the runs.
    If a run was better than the best of these before rounding, its start is compared, too. If such a start is better
    than all rounded metrics, we run a descent from it without the coordinates of tiny spread.
    """

    def bound_of_objective(Q: FloatArray) -> float:
        objective, rounding = Metric(at.p, Q, at.at).value
        return objective + rounding

    found, k = min((bound_of_objective(at.metric(run.A)), k) for k, run in enumerate(runs))
    best, slip = runs[k], SLIP * (1 + abs(found))
    perhaps = [k for k, run in enumerate(runs) if run.value < found - slip]
    from_starts = {k: bound_of_objective(starts[k].Q) for k in perhaps}
    k = min(perhaps, key=lambda k: from_starts[k], default=k)
    if not perhaps or found - from_starts[k] <= slip:
        return best
    coarse, Q = at.without_thin_coordinates(), starts[k].Q
    run = coarse.run(starts[k].name, coarse.root_of(Q), tol, max_iter, callback)
    runs.append(run)
    if bound_of_objective(coarse.metric(run.A)) < from_starts[k]:
        Q = coarse.metric(run.A)
    return replace(run, A=at.root_of(Q), metric=Q)


def _status(at: Solver, best: Run, runs: list[Run], why: str) -> Status:
    """The status before certification: INTERRUPTED, NOT_ATTAINED, AT_INFINITY, or that of the best run.

    why: the reason why no metric attains the supremum, or empty.
    """
    if any(run.status is Status.INTERRUPTED for run in runs):
        return Status.INTERRUPTED
    if why:
        return Status.NOT_ATTAINED
    return (
        Status.AT_INFINITY
        if best.status is not Status.MAX_ITER and at.tends_to_infinity(best.A)
        else best.status
    )


def _notes(at: Solver, runs: list[Run], why: str) -> list[str]:
    p, notes = at.p, [why] if why else []
    if not p.convex:
        notes.append(f"-{p.criterion} is not convex: a better metric may exist elsewhere")
    elif at.limited:
        notes.append("the metrics of limited rank are not a convex set: a better metric may exist elsewhere")
    if len(runs) > 1:
        notes.append(f"-{p.criterion} by start: " + ", ".join(f"{run.name} {run.value:.6g}" for run in runs))
    return [*notes, p.dropped()] if p.dropped() else notes


def starts_of(at: Solver, init: Any, random_state: int) -> list[NamedStart]:
    """Return the start or starts that `init` names or contains. Raises ValueError for any other `init`."""
    return [_start(at, one, random_state) for one in each_start(init, random_state)]


def _start(at: Solver, init: Any, random_state: int) -> NamedStart:
    p = at.p
    if not isinstance(init, str):
        A = given_components(init, p.m, p.X.shape[1])
        return NamedStart("given", at.to_coordinates(A), A.T @ A)
    given_A = named_start(p, init, random_state)
    unscaled = at.to_coordinates(given_A)
    A = at.scaled(unscaled)
    Q = given_A.T @ given_A * float(np.sum(A**2) / np.sum(unscaled**2))
    if init == "likelihood":
        A = Solver(p._replace(criterion="g")).run("likelihood", A, 1e-2, 50).A
    return NamedStart(init, A, Q)


def named_start(p: Instance, name: str, random_state: int) -> FloatArray:
    """Return the start A (m, d) with this name, one of `STARTS`.

    The name "auto" is "lda" if that has m directions, else "pca" if m < min(n, d), else "identity". The name
    "likelihood" gives the A of "auto"; its steps for g follow in `_start`. random_state: the seed of "random". Raises
    ValueError if the name is unknown, or if the start has fewer than m directions.
    """
    most = min(p.X.shape)
    if name not in STARTS:
        raise ValueError(
            f"init={name!r}: a start is one of {', '.join(map(repr, STARTS))}, components (m, d), or a list of these"
        )
    if name in ("auto", "likelihood"):
        found = _lda(p)
        if len(found) >= p.m:
            return np.ascontiguousarray(found[: p.m])
        name = "pca" if p.m < most else "identity"
    if name == "pca" and p.m > most:
        raise ValueError(
            f"init='pca' has {most} components at most, fewer than n_components={p.m}: lower n_components, or take "
            "'identity'"
        )
    if name == "lda":
        if p.similarity is not None:
            raise ValueError("init='lda' needs class labels, and a similarity was given: take 'pca'")
        found = _lda(p)
        if len(found) < p.m:
            raise ValueError(
                f"init='lda' has at most one direction less than classes, here fewer than n_components={p.m}: lower "
                "n_components, or take 'pca' or 'identity'"
            )
        return np.ascontiguousarray(found[: p.m])
    return named_components(name, p.X, p.m, random_state)


def _lda(p: Instance) -> FloatArray:
    """Return the directions of linear discriminant analysis (rows, d), fewer than there are classes.

    There are no rows if a similarity is given, if there are at most m classes, or if every point is alone in its class.
    There are also no rows if scikit-learn finds no finite directions.
    """
    if p.similarity is not None or p.m >= int(p.y.max()) + 1 or p.y.max() + 1 >= len(p.y):
        return np.zeros((0, p.X.shape[1]))
    # imported here: scikit-learn takes a second to load, and `check` should not
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # collinear features, classes without spread
        try:
            scalings: FloatArray = LinearDiscriminantAnalysis().fit(p.X, p.y).scalings_.T
        except (IndexError, np.linalg.LinAlgError):  # no class has any spread
            return np.zeros((0, p.X.shape[1]))
    return scalings if np.isfinite(scalings).all() else scalings[:0]


class Solver:
    """Runs descents from starts, and finds dual variables and limits, in coordinates of unit covariance.

    at: the coordinates; they are computed by default.
    """

    def __init__(self, p: Instance, at: Coordinates | None = None):
        self.p = p
        self.at: Coordinates = coordinates(p.X) if at is None else at
        self.pairs = Pairs(p._replace(X=self.at.Y))
        self._limit: tuple[FloatArray, Limit] | None = None
        self._collapsible: bool | None = None
        self.rank = min(p.m, self.at.Y.shape[1])

    def without_thin_coordinates(self) -> Solver:
        """Return a solver without the coordinates of tiny spread.

        If a metric uses them, its rounding to floats may change distances by more than the share `WRITTEN`.
        """
        seen = EPS * self.at.lost**2 <= WRITTEN
        kept = self.at._replace(
            Y=np.ascontiguousarray(self.at.Y[:, seen]),
            to=self.at.to[:, seen],
            back=self.at.back[:, seen],
            lost=self.at.lost[seen],
        )
        return Solver(self.p, kept)

    def to_coordinates(self, A: FloatArray) -> FloatArray:
        """Return A (m, d), given for the features, as a matrix (rank, r) in the coordinates, rank = min(m, r)."""
        return _rows(A @ self.at.back, self.rank)

    def scaled(self, A: FloatArray) -> FloatArray:
        """Return the multiple of A (rank, r) with norm sqrt(rank) 2^k, where k makes -g small on a sample of points.

        k is found by doubling and halving. If no multiple is much better than A = 0, k is 0.
        """
        unit: FloatArray = A * (np.sqrt(len(A)) / float(np.linalg.norm(A)))
        sample = Pairs(self.p._replace(X=self.at.Y, criterion="g"))
        sample.blocks = sample.blocks[:: max(1, len(sample.blocks) // SAMPLED)]

        def value(t: float) -> float:
            return sample.value_and_gradient(t * unit, rough=True)[0]

        best, least = 1.0, value(1.0)
        for factor in (2.0, 0.5):
            while LARGEST > best > 1 / LARGEST and (other := value(factor * best)) < least - SLIGHT:
                look()
                best, least = factor * best, other
        # if no multiple is much better than A = 0, the best multiple is near 0, a bad start
        return best * unit if least < LEARNT * value(0.0) else unit

    def root_of(self, Q: FloatArray) -> FloatArray:
        """Return A (rank, r) in the coordinates, so that A^T A is the metric Q (d, d), or its nearest allowed metric.

        Allowed metrics are psd, and of rank at most m.
        """
        values, vectors = np.linalg.eigh(examine_rank(Q, self.p.m, self.at)[0])
        root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))).T[::-1][: self.rank]
        return root

    def metric(self, A: FloatArray) -> FloatArray:
        """Return the metric A^T A (d, d) of the features, for A in the coordinates."""
        return self.at.outside(A.T @ A)

    def run(
        self,
        name: str,
        A: FloatArray,
        tol: float,
        max_iter: int,
        callback: Callable[[Step], None] | None = None,
    ) -> Run:
        """Descend from A until the metric is nearly stationary, F is near its lower bound, or no step helps.

        Nearly stationary: `Iterate.change` is at most `SHARE` * tol times the distance of F to its lower bound. If the
        limit of F along the multiples of A is known and nearer, the distance to this limit replaces it. Rows of A are
        added while this clearly lowers F. The run also ends at infinity (module docstring), or after max_iter
        iterations. name: that of the start. callback: called after each iteration.
        """
        p, started = self.p, time.perf_counter()
        history: list[Step] = []
        to_win = np.inf  # the distance of the objective to its limit along the multiples of A, if known
        nearly = tol * (len(p.X) if p.criterion == "g" else abs(p.bound))

        def enough(point: Iterate) -> bool:
            above = point.value - p.bound
            return point.change <= SHARE * tol * min(above, to_win) or above <= nearly

        def report(point: Iterate, phase: str) -> None:
            above, seconds = point.value - p.bound, time.perf_counter() - started
            step = Step(len(history) + 1, seconds, point.value, p.bound, above, f"{name}: {phase}")
            history.append(step)
            if callback is not None:
                callback(step)

        descent = Descent(self.pairs, A, enough, report=report)
        status = Status.STALLED  # unless the certificate proves more
        try:
            done = descent.run(max_iter)
            for _ in range(self.rank + 1):
                Q = self.metric(descent.at.A)
                to_limit = abs(descent.at.value - self.limit(Q).value)
                if 0 < to_limit < to_win and not self.tends_to_infinity(descent.at.A):
                    to_win = to_limit
                elif self.tends_to_infinity(descent.at.A) or self.at_infinity(Q) or not self._raised(descent):
                    break
                if descent.iterations < max_iter:
                    done = descent.run(max_iter)
            if not done and descent.iterations >= max_iter:
                status = Status.MAX_ITER
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return Run(name, descent.at.A, descent.at.value, status, descent.iterations, history)

    def _raised(self, descent: Descent) -> bool:
        """Move the descent to a better A with one more direction, and return whether it moved.

        It does not move if its A has the largest allowed rank, or if no direction clearly lowers the objective.
        """
        A = descent.at.A
        if len(A) == self.rank and np.linalg.svd(A, compute_uv=False)[-1] ** 2 > INVISIBLE:
            return False
        values, vectors = np.linalg.eigh(Metric(self.p, self.metric(A), self.at).G.Z)
        length = max(float(np.linalg.norm(A)), 1.0)
        if values[0] * length**2 >= -UNUSED * (descent.at.value - self.p.bound):
            return False
        while length > 1e-8:
            look()
            new = _rows(np.vstack([A, length * vectors[:, 0]]), self.rank)
            if descent.move_to(new):
                return True
            length /= 4
        return False

    @property
    def limited(self) -> bool:
        """True if the allowed rank is less than the rank of the points. Then only the gradient is certified."""
        return bool(self.rank < self.at.Y.shape[1])

    def dual_of(self, run: Run, Q: FloatArray, tol: float) -> Dual:
        """Return dual variables of the convex step at Q (d, d), the metric of a run.

        They are the matrices "R" and "interior" of `dual`. If the run has stored them, these are returned. If the rank
        is limited or the supremum is at infinity, no step is solved, and both are Q. tol: as in `dual`.
        """
        if run.dual is not None:
            return run.dual
        if self.limited or self.at_infinity(Q) or self.tends_to_infinity(run.A):
            return {"R": Q, "interior": Q}
        return self.dual(Q, run.A, run.A, tol)

    def limit(self, Q: FloatArray) -> Limit:
        """Return the limit of the objective along the multiples t Q, as t grows. The last result is cached."""
        if self._limit is None or not np.array_equal(Q, self._limit[0]):
            self._limit = Q, limit(self.p, Metric(self.p, Q, self.at))
        return self._limit[1]

    def tends_to_infinity(self, A: FloatArray) -> bool:
        """Return True if A seems to lead to infinity: F nearly equals its limit along t A, or falls quickly to it.

        F falls quickly if its tangent in t at t = 1 reaches the limit, a smaller value, at t <= 2.
        """
        value, gradient = self.pairs.value_and_gradient(A)
        further = value - self.limit(self.metric(A)).value
        if abs(further) <= ARRIVED * abs(value):
            return bool(A.any() and self.at.Y.any())
        return bool(0 < further <= -float(np.sum(A * gradient)))

    def at_infinity(self, Q: FloatArray) -> str:
        """Return the reason why no metric attains the supremum, a sentence; empty if Q (d, d) does not show it."""
        if Q.any() and self.limit(Q).best:
            return (
                "every point has its nearest neighbour in its own class, or among its most similar points: multiples "
                f"of this metric tend to the bound {self.p.bound:.6g}, which no metric attains; "
                "use this metric as it is"
            )
        if self._collapsible is None:
            self._collapsible = not self.limited and collapsible(self.p)
        if self._collapsible:
            return (
                "there is a direction in which the points of every class coincide (with a similarity: all similar "
                "points), but not all points do: adding more of this direction improves every metric"
            )
        return ""

    def dual(self, Q: FloatArray, A: FloatArray, R: FloatArray, tol: float) -> Dual:
        """Return the dual variables "R" and "interior" of the convex step at Q = A^T A.

        The argument R is a root: R^T R nearly minimizes the step, and the dual variable "R" is this metric. The matrix
        "interior" is the metric that minimizes the step with a slightly smaller matrix T (descent.py). Then its matrix
        Z (certify.py) is positive definite. Several sizes of T are tried, until one pair of dual variables proves a gap
        of `SHARE` * tol times the scale. The pair with the least gap is returned.
        """
        step = self.pairs.hold(A)
        best, least = {"R": self.metric(R), "interior": self.metric(R)}, np.inf
        for shift in SHIFTS:
            interior = self.minimise_step(R, Held(step.c, (1 - shift) * step.T), 0.01 * shift)
            found = {"R": self.metric(R), "interior": self.metric(interior)}
            proof = certify(self.p, Q, found)
            judged = proof.step or proof
            if judged.gap < least:
                best, least = found, judged.gap
            if judged.proves(SHARE * tol):
                break
        return best

    def improve(self, Q: FloatArray, tol: float, early: bool) -> tuple[FloatArray, Dual]:
        """Return a metric that is not worse than Q, and dual variables of the convex step at Q.

        The dual variables belong to the given Q, not to the returned metric. Both "R" and "interior" are Q if the rank
        is limited, or if the supremum is at infinity. They are also Q if the descent or the step is interrupted or runs
        out of time. early: stop after a hundred iterations.
        """
        A = self.root_of(Q)
        found = self.run("candidate", A, tol, 100 if early else 2000)
        better = self.metric(found.A)
        if found.status is not Status.INTERRUPTED:
            with suppress(TimeUp):
                better = self.metric(self._better_multiple(found.A))
                if not (self.limited or self.at_infinity(Q) or self.tends_to_infinity(A)):
                    step = self.pairs.hold(A)
                    R = self.minimise_step(A if A.any() else found.A, step, SHARE * tol * 1e-2)
                    return better, self.dual(Q, A, R, tol)
        return better, {"R": Q, "interior": Q}

    def _better_multiple(self, A: FloatArray) -> FloatArray:
        """Return the best of A, 2 A, 4 A and 8 A if the run tends to infinity (module docstring); else A."""
        if not (self.at_infinity(self.metric(A)) or self.tends_to_infinity(A)):
            return A
        values = {t: self.pairs.value_and_gradient(t * A)[0] for t in (1.0, 2.0, 4.0, 8.0)}
        return min(values, key=lambda t: values[t]) * A

    def minimise_step(self, A: FloatArray, step: Held, tol: float) -> FloatArray:
        """Return an A that nearly minimizes a convex step, by a descent of at most `STEP_ITERATIONS` iterations.

        step: the step sum_i c_i log sum_{k != i} e^-D_ik + <T, A^T A>, given by its constants c_i and T (r, r)
        (descent.py). The descent starts at A. It stops when a change of A of the length max(|A|, 1) changes the step by
        at most tol <T, A^T A> to first order.
        """

        def enough(point: Iterate) -> bool:
            return point.change <= tol * float(np.sum((point.A @ step.T) * point.A))

        descent = Descent(self.pairs, A, enough, step)
        descent.run(STEP_ITERATIONS)
        return descent.at.A


def literal_cccp(
    at: Solver,
    name: str,
    A: FloatArray,
    solver: str,
    tol: float,
    max_iter: int,
    callback: Callable[[Step], None] | None = None,
) -> Run:
    """Run CCCP from A through the back end `solver`, "clarabel" or "scs".

    at: the data and their coordinates. name: that of the start. A step is accepted only if it lowers the objective of
    definitions.py. The run stops if the certificate proves tol for the step at the metric, or if the back end does not
    lower the objective. It also stops if the metric shows that no metric attains the supremum, after max_iter steps, or
    if `callback` is interrupted.
    """
    from cvxml.core.backend import solve_problem
    from cvxml.methods.nca.problem import step as literal_step

    p, started = at.p, time.perf_counter()
    s, Q = p.weights(), at.metric(A)
    run = Run(name, A, definitions.objective(p.X, s, Q, p.criterion), Status.MAX_ITER, 0)
    while run.iterations < max_iter:
        new = project_psd(solve_problem(literal_step(p.X, s, Q, p.criterion), solver, exponential=True)["Q"])
        run.dual = at.dual(Q, run.A, at.root_of(new), tol)
        proof = certify(p, Q, run.dual)
        judged = proof.step or proof
        run.iterations += 1
        seconds = time.perf_counter() - started
        step = Step(run.iterations, seconds, run.value, judged.lower_bound, judged.gap, solver, judged.scale)
        run.history.append(step)
        if callback is not None:
            try:
                callback(step)
            except KeyboardInterrupt:
                run.status = Status.INTERRUPTED
                break
        if judged.proves(tol):
            run.status = Status.STALLED  # unless the final certificate proves more
            break
        lower = definitions.objective(p.X, s, new, p.criterion)
        if not lower < run.value:
            run.status = Status.BACKEND
            break
        Q, run.A, run.value, run.dual = new, at.root_of(new), lower, None
        if at.at_infinity(Q):
            break
    return run


def _rows(A: FloatArray, rank: int) -> FloatArray:
    """Return A' (rank, r) so that A'^T A' is the matrix of rank at most `rank` nearest to A^T A."""
    _, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    rows = np.zeros((rank, A.shape[1]))
    count = min(rank, len(sizes))
    rows[:count] = sizes[:count, None] * Vt[:count]
    return rows
