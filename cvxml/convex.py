"""What every convex method with one metric (d, d) shares: the contract of cvxml.methods.Method, from a few parts.

A method gives its statement in words and in cvxpy, the naive objective, the proof, and the fast solver, each on
checked data (`Given`); here they become `problem`, `objective`, `solve` and the rest.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.backend import solve_problem
from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_choice, check_count, check_positive
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric, examine, project_psd
from cvxml.result import (
    Certificate,
    Dual,
    Evaluation,
    SavedSolution,
    Solution,
    Status,
    Step,
    warn_unless_converged,
)
from cvxml.statement import Statement
from cvxml.variant import Variant

SOLVERS = ("fast", "clarabel", "scs")
Callback = Callable[[Step], None] | None


class HasData(Protocol):
    """Checked data and parameters of a method."""

    @property
    def X(self) -> FloatArray: ...
    @property
    def y(self) -> IntArray: ...


Given = TypeVar("Given", bound=HasData)


class Found(NamedTuple):
    """What an algorithm ended with: nothing is proved yet."""

    metric: FloatArray
    dual: Dual
    status: Status  # CONVERGED unless it was stopped
    n_iter: int
    history: tuple[Step, ...] = ()


class Interrupted(KeyboardInterrupt):
    """The user's interrupt, with what was found before it: only `ConvexMethod.solve` stops it."""

    def __init__(self, found: Found):
        super().__init__()
        self.found = found


Keep = Callable[[FloatArray, Dual], None]


def interruptible(callback: Callback, algorithm: Callable[[Keep, Callback], Found]) -> Found:
    """What `algorithm` finds. It tells `keep` each metric (d, d) and its dual, so that an interrupt loses nothing.

    Raises Interrupted with the last of them; KeyboardInterrupt where there was none yet.
    """
    kept: list[tuple[FloatArray, Dual]] = []
    history: list[Step] = []

    def keep(metric: FloatArray, dual: Dual) -> None:
        kept[:] = [(metric, dual)]

    def told(step: Step) -> None:
        history.append(step)
        if callback is not None:
            callback(step)

    try:
        return algorithm(keep, told)
    except KeyboardInterrupt:
        if not kept:
            raise
        raise Interrupted(Found(*kept[0], Status.INTERRUPTED, len(history), tuple(history))) from None


class Iterate(Protocol):
    """An algorithm under way."""

    def metric(self) -> FloatArray:
        """(d, d)"""

    def dual(self) -> Dual:
        """What proves it."""

    def step(self) -> bool:
        """Go on; False where rounding allows no step."""


def run(
    at: Iterate,
    prove: Callable[[FloatArray, Dual], Certificate],
    tol: float,
    max_iter: int,
    callback: Callback,
    phase: str,
) -> Found:
    """Step until `prove` says that tol is met, max_iter or the end of what rounding allows; the best iterate.

    Raises Interrupted, with the best, where the user interrupts.
    """
    history: list[Step] = []
    began, least = time.perf_counter(), math.inf
    best, status = (at.metric(), at.dual()), Status.MAX_ITER
    try:
        for iteration in range(max_iter + 1):
            metric, dual = at.metric(), at.dual()
            proof = prove(metric, dual)
            seconds = time.perf_counter() - began
            history.append(Step(iteration, seconds, proof.objective, proof.lower_bound, proof.gap, phase))
            if proof.proves(tol):
                best, status = (metric, dual), Status.CONVERGED
            elif proof.gap < least:
                least, best = proof.gap, (metric, dual)
            if callback is not None:
                callback(history[-1])
            if status is Status.CONVERGED:
                break
            if iteration < max_iter and not at.step():
                status = Status.STALLED
                break
    except KeyboardInterrupt:
        raise Interrupted(Found(*best, Status.INTERRUPTED, len(history), tuple(history))) from None
    return Found(*best, status, iteration, tuple(history))


class ConvexMethod(ABC, Generic[Given]):
    """A method by its parts; an object of a subclass meets the contract of `cvxml.methods.Method`."""

    CLAIM = "optimal"
    SCALE = "reference"
    STARTS: tuple[str, ...] = ()
    SOLVE_PARAMETERS: ClassVar[dict[str, str]] = {}
    EXPONENTIAL = False  # the literal problem has exponential cones

    id: str
    package: str  # where its problem.py is
    TITLE: str
    PARAMETERS: ClassVar[dict[str, str]]
    STATEMENT: Statement
    VARIANTS: ClassVar[dict[str, Variant]]

    @abstractmethod
    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Given:
        """Everything checked. Raises ValueError for bad input."""

    @abstractmethod
    def literal(self, given: Given) -> Any:
        """The literal problem as a `cvxpy.Problem`; its metric is the variable "A" or "M"."""

    @abstractmethod
    def literal_dual(self, given: Given) -> Any:
        """Its dual as a `cvxpy.Problem`."""

    @abstractmethod
    def naive(self, given: Given, A: FloatArray) -> float:
        """The objective at a psd A (d, d), from the definition."""

    @abstractmethod
    def intermediates(self, given: Given, A: FloatArray) -> dict[str, Any]:
        """The intermediates at a psd A (d, d), by the paper's names; "objective" is one of them."""

    @abstractmethod
    def prove(self, given: Given, A: FloatArray, dual: Dual) -> Certificate:
        """The certificate of any matrix A (d, d) from any dual. Raises ValueError for a dual that is none."""

    @abstractmethod
    def fast(
        self, given: Given, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """The fast solver. start: a psd matrix (d, d) that may be near the optimum."""

    @abstractmethod
    def prices(self, given: Given, values: dict[str, FloatArray]) -> Dual:
        """The dual that `prove` takes, from the values of the variables of `literal_dual`."""

    @abstractmethod
    def stored(self, given: Given) -> dict[str, Any]:
        """The value of every parameter, as a file can hold it, explicit lists in place of what names them."""

    def notes(self, given: Given, certificate: Certificate) -> Sequence[str]:
        """What should be known of this solution, as sentences."""
        return ()

    def tied(self, given: Given) -> int:
        """How many choices a tie decided."""
        return 0

    def through_cvxpy(self, given: Given, solver: str) -> Found:
        """The literal problem gives the metric, its dual, stated on its own, the prices. Neither is believed."""
        primal = solve_problem(self.literal(given), solver, self.EXPONENTIAL)
        values = solve_problem(self.literal_dual(given), solver, self.EXPONENTIAL)
        metric = next(primal[name] for name in ("A", "M") if name in primal)
        return Found(project_psd(metric), self.prices(given, values), Status.CONVERGED, 0)

    def problem(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Any:
        """The literal problem as a `cvxpy.Problem`. Raises ValueError for bad input."""
        return self.literal(self.instance(X, y, **params))

    def dual_problem(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Any:
        """Its dual as a `cvxpy.Problem`. Raises ValueError for bad input."""
        return self.literal_dual(self.instance(X, y, **params))

    def literal_source(self) -> str:
        """The source of problem.py."""
        return resources.files(self.package).joinpath("problem.py").read_text(encoding="utf-8")

    def objective(self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
        """The objective at `metric` (d, d), from the definition. Raises ValueError for bad input."""
        given = self.instance(X, y, **params)
        return self.naive(given, as_metric(metric, given.X.shape[1]))

    def evaluate(
        self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, *, t: int = 1, **params: Any
    ) -> Evaluation:
        """The intermediates at `metric` (d, d). t is checked and changes nothing. Raises ValueError for bad input."""
        given = self.instance(X, y, **params)
        check_count(t, "t", at_most=10**15)
        d = given.X.shape[1]
        feasibility = examine(as_matrix(metric, d))[1]
        values = self.intermediates(given, as_metric(metric, d))
        return Evaluation(self.id, {**values, "feasibility": str(feasibility)})

    def certify(
        self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any
    ) -> Certificate:
        """The certificate of `metric` (d, d) from any dual variables. Raises ValueError for bad input."""
        given = self.instance(X, y, **params)
        with one_blas_thread():
            return self.prove(given, as_matrix(metric, given.X.shape[1]), dual)

    def solve(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        *,
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: Solution | SavedSolution | None = None,
        callback: Callback = None,
        **params: Any,
    ) -> Solution:
        """The optimal metric with its certificate.

        solver: "fast", or "clarabel" / "scs": the literal problem and its dual through cvxpy. tol: stop at
        gap <= tol * scale. max_iter: iterations of the fast solver (default 1000). warm_start: a Solution of the
        same data: returned if it is certified already, else a start. callback: called with a `cvxml.result.Step` each
        time the gap is measured. Ctrl-C ends the fast solver with the best so far, as Status.INTERRUPTED. Raises
        ValueError for bad input; warns (ConvergenceWarning) whenever tol is not met.
        """
        given = self.instance(X, y, **params)
        check_choice(solver, "solver", SOLVERS)
        tol = check_positive(tol, "tol")
        limit = check_count(max_iter, "max_iter")
        with one_blas_thread():
            found = None if warm_start is None else self._proved_already(given, warm_start, tol)
            if found is None and solver != "fast":
                found = self.through_cvxpy(given, solver)
            elif found is None:
                start = None if warm_start is None else examine(np.asarray(warm_start.metric))[0]
                try:
                    found = self.fast(given, tol, limit, start, callback)
                except Interrupted as stopped:
                    found = stopped.found
            certificate = self.prove(given, found.metric, found.dual)
        status = found.status
        if certificate.proves(tol):
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.BACKEND if solver != "fast" else Status.STALLED
        solution = Solution(
            method=self.id,
            metric=found.metric,
            certificate=certificate,
            status=status,
            n_iter=found.n_iter,
            history=found.history,
            params=self.stored(given),
            X=given.X,
            y=given.y,
            neighbors=[],
            notes=tuple(self.notes(given, certificate)),
            solver=solver,
        )
        warn_unless_converged(solution, tol)
        return solution

    def _proved_already(self, given: Given, warm_start: Solution | SavedSolution, tol: float) -> Found | None:
        if not isinstance(warm_start, (Solution, SavedSolution)):
            raise ValueError(f"warm_start must be a solution, got {type(warm_start).__name__}")
        if len(warm_start.y) != len(given.y):
            raise ValueError(
                f"warm_start has {len(warm_start.y)} points and X has {len(given.y)}; "
                "it must be a solution of the same data"
            )
        if warm_start.method != self.id:
            raise ValueError(f"warm_start is a solution of {warm_start.method}, not of {self.id}")
        metric = as_metric(warm_start.metric, given.X.shape[1], "the metric of warm_start")
        try:
            certificate = self.prove(given, metric, warm_start.dual)
        except ValueError as error:
            raise ValueError(f"warm_start does not fit: {error}") from error
        return Found(metric, warm_start.dual, Status.CONVERGED, 0) if certificate.proves(tol) else None

    def ties(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> int:
        """How many choices of the inputs a tie decided (0 for explicit lists)."""
        return self.tied(self.instance(X, y, **params))

    def neighbor_lists(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> list[IntArray]:
        """None: lists of neighbours are no input of these methods; targets and pairs are parameters."""
        return []

    def machine_slack(self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
        """Nothing: the certificate is computed from the numbers given, and its own rounding covers it."""
        return 0.0

    def metric_size(self, X: FloatArray) -> int:
        """A metric is d x d."""
        return int(X.shape[1])
