"""The base classes of all methods: `Method`, `ConvexMethod` and `StationaryMethod`.

A method states its problem in cvxpy, its objective from the definition, its lower bound, and its solver. `instance`
checks all data and parameters once; every other function works on its result. The base classes have the defaults, and
`Method.solve` is the only place that makes a Solution.

The literal problem is the problem as the paper states it, in cvxpy. Clarabel and SCS solve it; they are called back
ends. The fast solver is our own algorithm. A certificate holds the objective of a metric and a proved lower bound.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.clock import TimeUp, finishing, limited
from cvxml.core.derived import Derived, alike
from cvxml.core.estimator import Estimator
from cvxml.core.exact import Exact
from cvxml.core.example import Example, Hand
from cvxml.core.inputs import check_choice, check_count, check_positive
from cvxml.core.interrupt import keeps, second_raises
from cvxml.core.memory import check_literal, check_metric
from cvxml.core.metric import FloatArray, IntArray, as_matrix, as_metric, examine, project_psd
from cvxml.core.misreading import Misreading
from cvxml.core.moved import Moved, in_dual, moved, with_points
from cvxml.core.parameter import Parameter
from cvxml.core.result import Certificate, Dual, Solution, Status, warn_unless_converged
from cvxml.core.run import Callback, Following, Found, FromCallback, Interrupted, Start, Watch, follows
from cvxml.core.saved import SavedSolution
from cvxml.core.statement import Statement
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.core.work import PROVING, SEARCHING, doing


class HasData(Protocol):
    """Checked data and parameters of a method, the result of `Method.instance`."""

    @property
    def X(self) -> FloatArray: ...
    @property
    def y(self) -> IntArray | FloatArray: ...


Given = TypeVar("Given", bound=HasData)
# the maps of the features: any linear map, a factor for each feature, rotations, another order of the features
MAPS = ("linear", "scaling", "rotation", "order")
# if a search ends with one of these and its proof is not sufficient, the next coordinates are tried
AGAIN = (Status.CONVERGED, Status.STALLED)
# the names that papers give to the metric; one variable of `problem` has one of these names
METRIC_IS = ("A", "B", "M", "W", "X")
OF_ZERO = (
    "the metric is 0: all distances are 0, and nearest neighbours say nothing. Next: other weights of the terms, or "
    "another method (docs/which_method.md)"
)


class Method(ABC, Generic[Given]):
    """The functions that every method offers. The class attributes describe the method.

    The parameters of the functions are:

    given: the result of `instance`.
    M: a metric, a finite matrix of the shape that `matrix` checks; psd where the docstring requires it.
    dual: the dual variables, arrays by name.
    name: the words for the metric in an error message.

    Some of the class attributes are:

    CLAIM: the claim that a certificate can prove, "optimal" or "stationary".
    ROWS: a word for the rows of a metric in messages, such as "features".
    SOLVE_PARAMETERS: parameters that only `solve` takes.
    WEIGHTS: the numerical parameters in which the objective is linear, with an upper limit of each.
    DERIVED: the parameters that follow from other fields of a saved file, for example lists made from the labels.
    STARTS: the names of the metrics from which the solver of a problem that is not convex can start.
    DUAL, SMALL, BAD, HAND, UNITS: data for the tests; the comments describe them.
    """

    id: str
    TITLE: str
    # the claim that can be proved: "optimal", or "stationary" if the problem is not convex
    CLAIM: str
    ROWS: str = "features"
    # Which certificate's scale multiplies the tolerance in `check`: that of our own solution, or of the "candidate"
    SCALE = "reference"
    SOLVERS: tuple[str, ...] = ("fast", "clarabel", "scs")
    MAX_ITER = 1000  # default limit of the iterations of the fast solver
    TELLS_OF_ZERO = False  # True if the notes of the method itself tell of the metric 0
    PARAMETERS: ClassVar[dict[str, Parameter]]  # by name; the options of the command line are made from them
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {}  # parameters that only `solve` takes
    MISREADINGS: ClassVar[dict[str, Misreading]] = {}  # the common misreadings, by name
    # the numerical parameters in which the objective is linear, and an upper limit of each
    WEIGHTS: ClassVar[Mapping[str, float]] = MappingProxyType({})
    # the stored parameters that follow from other fields of a saved file, in the order in which `instance` makes them
    DERIVED: ClassVar[Mapping[str, Derived]] = MappingProxyType({})
    EXAMPLES: ClassVar[tuple[Example, ...]] = ()  # what tests, `cvxml verify` and the benchmarks run
    # if the problem is not convex: starts whose solutions are compared with a claim of optimality
    STARTS: tuple[str, ...] = ()
    EXPONENTIAL = False  # True if the literal problem has exponential cones
    STATEMENT: Statement  # the mathematics, row by row
    # the scikit-learn estimator, for example Estimator("LMNN"); None if cvxml/estimators/ has a file for it
    ESTIMATOR: ClassVar[Estimator | None] = None

    # Attributes for the contract tests (tests/methods/test_contract.py). The tests check each of them, and a failure
    # names the missing one.
    #
    # The parts of the dual with their dimensions, for example {"price": "t", "triplets": "t 3"}; {} if there is no dual
    DUAL: ClassVar[Mapping[str, str] | None] = None
    # parameters for sixteen points of three classes
    SMALL: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    # values that `instance` must refuse, for example {"C": (0, -1.0)}
    BAD: ClassVar[Mapping[str, tuple[Any, ...]]] = MappingProxyType({})
    HAND: ClassVar[tuple[Hand, ...]] = ()  # problems whose optimum is known by hand
    RADIUS = False  # True if the certificate bounds the distance to the optimum
    FOLLOWS = "rotation"  # one of `MAPS`: the maps of the features that the metric follows
    # If the features are multiplied by s, each parameter is multiplied by s to this power, and so is the "objective".
    # For example {"C": -4, "objective": -4}. None if no choice of the parameters gives the same problem.
    UNITS: ClassVar[Mapping[str, float] | None] = MappingProxyType({})

    @abstractmethod
    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Given:
        """Check data and parameters, and return them in the form that the other functions take.

        Raises ValueError for bad input.
        """

    def metric_size(self, given: Given) -> int:
        """Return the number of rows of a metric; by default d, the number of features."""
        return int(given.X.shape[1])

    def matrix(self, given: Given, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """Return the user's `metric` as an array M of floats, psd or not.

        Raises ValueError for another shape, NaN or infinity.
        """
        return as_matrix(metric, self.metric_size(given), name, self.ROWS)

    def metric(self, given: Given, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """Check that `metric` is psd, and return it as an array M of floats.

        A matrix that misses psd by at most `FEASIBILITY_TOL` (1e-6) of its norm is projected to the psd cone. Raises
        ValueError for a larger error, and if the metric violates another constraint of the method that cannot be
        repaired.
        """
        return as_metric(metric, self.metric_size(given), name)

    def feasibility(self, given: Given, M: FloatArray) -> str | list[str]:
        """Return a sentence on how far M is from the allowed metrics; a list of sentences if M is several metrics."""
        return str(examine(M)[1])

    def allowed(self, given: Given, M: FloatArray) -> FloatArray:
        """Return a metric that satisfies the constraints of the method, made from a psd M.

        For example, M is scaled to determinant 1, or replaced by its diagonal. By default it is M.
        """
        return M

    @abstractmethod
    def problem(self, given: Given) -> Any:
        """Return the literal problem as a `cvxpy.Problem`; the metric's variable is named "A", "B", "M", "W" or "X"."""

    @property
    def literal_weights(self) -> tuple[str, ...]:
        """The names of the parameters that may be a `cvxpy.Parameter` in `problem`.

        With them `problem` follows cvxpy's DPP rules, so it can be solved again for other values.
        """
        return tuple(self.WEIGHTS)

    def constraint_names(self, given: Given) -> list[str]:
        """Return a different name for each constraint of `problem`, in order, with its equation number in the paper.

        For example ["(2) A psd", "(2) xi >= 0", "(2) margin of point 0"]. By default [], and the constraints get no
        labels.
        """
        return []

    @abstractmethod
    def dual(self, given: Given) -> Any:
        """Return the dual of the literal problem as a `cvxpy.Problem`."""

    @abstractmethod
    def objective(self, given: Given, M: FloatArray) -> float:
        """Return the objective at a psd M, computed from the definition with numpy only."""

    def fast_objective(self, given: Given, M: FloatArray) -> float:
        """Return the objective at a psd M up to rounding, without the loops of the definition if they are slow."""
        return self.objective(given, M)

    @abstractmethod
    def evaluate(self, given: Given, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """Return the intermediate values at a psd M, by the paper's names; one of them is "objective".

        t: the iteration of the paper's Algorithm 1 (mlsvm, kernel_mlsvm, ssvm); other methods ignore it.
        """

    @abstractmethod
    def certify(self, given: Given, M: FloatArray, dual: Dual) -> Certificate:
        """Return the certificate of M, with the lower bound that `dual` proves.

        M need not be psd, and the dual variables need not be optimal. Raises ValueError for wrong names or shapes.
        """

    def exact(self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """Return the interval from the lower bound that `dual` proves to the objective of M, in exact arithmetic.

        root: (d, r), a matrix R with R R^T near M; by default it is computed. The objective is that of R R^T.

        Raises ValueError if the method has no exact mode.
        """
        raise ValueError(f"{self.id} has no exact mode")

    def exact_as_stored(
        self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike, hint: Any = None
    ) -> Exact:
        """Return an interval like that of `exact`, but without a search for better dual variables.

        `exact` may first improve the dual variables, for example by a multiple. This is not needed for those in a
        saved file, which are feasible up to rounding. By default, the result is that of `exact`.

        root: (d, r), a matrix R with R R^T near M.
        hint: a matrix from which the method proves the lower bound with less work. If it is None, a method that needs
            it computes it in floats.
        """
        return self.exact(given, M, dual, root=root)

    @property
    def has_exact(self) -> bool:
        return type(self).exact is not Method.exact

    @abstractmethod
    def find(
        self,
        given: Given,
        solver: str,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
        **own: Any,
    ) -> Found:
        """Run the solver `solver`, one of `SOLVERS`, and return its result: a metric and dual variables.

        start: the metric and the dual variables to start from, or None. own: parameters from `SOLVE_PARAMETERS`. The
        other parameters are those of `solve`.
        """

    @abstractmethod
    def stored(self, given: Given) -> dict[str, Any]:
        """Return the parameters as a file stores them, by name.

        Lists that `instance` made are included, for example triplets. The lists that `neighbor_lists` returns are not,
        because the file stores them in another field.
        """

    def derived(self, given: Given) -> tuple[str, ...]:
        """Return the names of the parameters in `DERIVED` that the user did not give, so that `instance` made them."""
        return ()

    def differs(self, given: Given, name: str, params: Mapping[str, Any]) -> str:
        """Return a message if the stored parameter `name` is not the one that the other fields determine; else "".

        given: the instance of all stored `params`.

        Raises ValueError if the parameter cannot be derived.
        """
        others = {other: value for other, value in params.items() if other != name}
        again = self.instance(given.X, given.y if given.y.any() else None, **others)
        if alike(self.PARAMETERS[name].kind, self.stored(again).get(name), self.stored(given)[name]):
            return ""
        return self.DERIVED[name].differs(name, params)

    def components(self, given: Given, M: FloatArray) -> FloatArray | None:
        """Return L (m, d) with L^T L = M if the method learns a transform L; else None."""
        return None

    def notes(self, given: Given, found: Found, certificate: Certificate) -> Sequence[str]:
        """Return notes about this solution for the user, as sentences. found: the result with its final status."""
        return found.notes

    def without_data(self, given: Given) -> FloatArray | None:
        """Return the prior (d, d); None for a method without a prior.

        A wrong program that never uses the data would return the prior as its metric.
        """
        return None

    def least_scale(self, given: Given) -> float:
        """Return the lower limit of the scale, the number that a gap is divided by; 0 if there is no limit."""
        return 0.0

    def ties(self, given: Given) -> int:
        """Return the number of points for which several others were equally far, and only some of them were chosen.

        The choice is that of neighbours, targets or impostors. 0 if the user gave these lists, or if the method has
        none.
        """
        return 0

    def neighbor_lists(self, given: Given) -> list[IntArray]:
        """Return the neighbours of every point if the method has a parameter `neighbors`; else an empty list."""
        return []

    def unattained(self, given: Given) -> str:
        """Return a sentence that explains why no metric attains the infimum; "" unless that is proved."""
        return ""

    def above(self, given: Given, M: FloatArray) -> float:
        """Return an upper bound of the objective in the certificate of M minus the exact objective at M.

        0 if they differ only by rounding.
        """
        return 0.0

    def machine_slack(self, given: Given, M: FloatArray) -> float:
        """Return a bound of the differences of objective, bound and gap between two machines.

        The rounding error in the certificate is not included.
        """
        return 0.0

    def start(self, given: Given, warm_start: Solution | SavedSolution) -> Start:
        """Return the metric and the dual variables of `warm_start`.

        Raises ValueError for a wrong type or shape, and for a solution with other numbers of points or features.
        """
        if not isinstance(warm_start, (Solution, SavedSolution)):
            raise ValueError(
                f"warm_start must be a solution of cvxml.solve or cvxml.load, got {type(warm_start).__name__}"
            )
        theirs, ours = warm_start.X.shape, given.X.shape
        if theirs != ours:
            sizes = (" and ".join((_counted(n, "point"), _counted(d, "feature"))) for n, d in (theirs, ours))
            raise ValueError(
                f"warm_start has {next(sizes)}, and X has {next(sizes)}; give a solution for the points in X, or leave "
                "warm_start out"
            )
        return Start(self.metric(given, warm_start.metric, "the metric of warm_start"), warm_start.dual)

    def solve(
        self,
        given: Given,
        *,
        solver: str = "fast",
        tol: Tolerance = "normal",
        max_iter: int | None = None,
        warm_start: Solution | SavedSolution | None = None,
        callback: Callback = None,
        time_limit: float | None = None,
        **own: Any,
    ) -> Solution:
        """Solve the problem. Return a metric with its certificate: optimal, or stationary if the problem is not convex.

        solver: "fast", or "clarabel" / "scs": the literal problem and its dual through cvxpy.
        tol: stop at gap <= tol * scale. A number, or "strict" (1e-9), "normal" (1e-6) or "loose" (1e-3).
        max_iter: limit of the iterations of the fast solver (default `MAX_ITER`).
        warm_start: a Solution or a saved solution to start from (`start`).
        callback: called with a `cvxml.core.result.Step` each time the gap is measured.
        time_limit: seconds (default: `seconds` of the solver); the clock is checked between the blocks of long steps
            (core/clock.py), but not within a back end.
        own: parameters from `SOLVE_PARAMETERS`.

        When the time limit ends, the best metric so far is finished and certified. This takes at most as much time
        again, or 10 s if that is more. The status is then Status.TIME_LIMIT. Ctrl-C ends the fast solver with its best
        metric, and the status is Status.INTERRUPTED. A second Ctrl-C raises KeyboardInterrupt.

        Raises ValueError for bad input and for a metric that does not fit into the memory, and OutOfTime if the time
        ends without a metric and its certificate. Warns (ConvergenceWarning) whenever tol is not met.
        """
        check_choice(solver, "solver", self.SOLVERS)
        tol = check_tol(tol)
        limit = self.MAX_ITER if max_iter is None else check_count(max_iter, "max_iter")
        seconds = self.seconds(solver) if time_limit is None else check_positive(time_limit, "time_limit")
        check_metric(self.metric_size(given))
        with one_blas_thread(), second_raises():
            late = f"time_limit of {seconds:g} s passed before a metric was ready"
            with limited(seconds, late) as deadline:
                watch = Watch(deadline, callback)
                start = None if warm_start is None else self.start(given, warm_start)
                try:
                    with doing(SEARCHING):
                        found = self.find(given, solver, tol, limit, start, watch, **own)
                except FromCallback as raised:
                    raise raised.error from None
                found = watch.named(found)
            if found.status is Status.INTERRUPTED and not keeps():
                raise KeyboardInterrupt
            late = f"time_limit of {seconds:g} s passed, but the certificate of the metric was not ready"
            with finishing(deadline, late), doing(PROVING):
                certificate = found.proof or self.certify(given, found.metric, found.dual)
                found = found._replace(status=self.status(found.status, certificate, tol, solver))
                notes = self._notes_in_time(given, found, certificate)
        solution = Solution(
            method=self.id,
            metric=found.metric,
            certificate=certificate,
            status=found.status,
            n_iter=found.n_iter,
            history=found.history,
            params=self.stored(given),
            X=given.X,
            y=given.y,
            neighbors=self.neighbor_lists(given),
            notes=notes,
            solver=solver,
            factor=self.components(given, found.metric),
            derived=self.derived(given),
        )
        warn_unless_converged(solution, tol)
        return solution

    def _notes_in_time(self, given: Given, found: Found, certificate: Certificate) -> tuple[str, ...]:
        """Return the result of `notes`. If the time ends, return the notes in `found` and one sentence about the rest.

        If the metric is 0 and certified, a note about the metric 0 is added, unless the method has its own
        (`TELLS_OF_ZERO`).
        """
        try:
            notes = tuple(self.notes(given, found, certificate))
        except TimeUp:
            return (*found.notes, "more notes were left out because of time_limit")
        proved = found.status in (Status.CONVERGED, Status.STATIONARY)
        silent_on_zero = proved and not found.metric.any() and not self.TELLS_OF_ZERO
        return (*notes, OF_ZERO) if silent_on_zero else notes

    def seconds(self, solver: str) -> float:
        """Return the default time limit of a solver, in seconds."""
        return math.inf

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """Return the final status of a result to which the solver gave the status `found`.

        Only a certificate that proves `tol` makes it CONVERGED or STATIONARY. Without one, these two become BACKEND for
        "clarabel" and "scs", and STALLED for other solvers. Any other `found` is returned unchanged.
        """
        if certificate.proves(tol):
            return Status.CONVERGED if certificate.claim == "optimal" else Status.STATIONARY
        if found in (Status.CONVERGED, Status.STATIONARY):
            return Status.BACKEND if solver in ("clarabel", "scs") else Status.STALLED
        return found


class ConvexMethod(Method[Given]):
    """A method with a convex problem. The back ends and the fast solver each give a metric and dual variables.

    The parameter `at` of the functions: other coordinates of the points, in which the fast solver has less work or
    loses fewer digits (moved.py).
    """

    CLAIM = "optimal"
    # True if the fast solver may work in other coordinates of the points (moved.py). The problem must be the same in
    # an orthonormal basis of the span of their differences, and `outside` must map its optimum back
    MOVES = False

    def moved(self, given: Given, at: Moved) -> Given:
        """Return `given` with its points in the coordinates `at`; its parameters and its lists of points stay."""
        return with_points(given, at.X)

    def inside(self, given: Given, at: Moved, M: FloatArray) -> FloatArray:
        """Return the metric in the coordinates `at` for a metric M of the features."""
        return at.inside(M)

    def outside(self, given: Given, at: Moved, M: FloatArray) -> FloatArray:
        """Return the metric of the features for a metric M in the coordinates `at`; symmetric to the last bit."""
        return at.outside(M)

    @abstractmethod
    def search(
        self, given: Given, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Run the fast solver. start: a metric and its dual variables, near the optimum or far from it; or None."""

    def literal_rows(self, given: Given) -> int:
        """Return how many constraints and terms of the literal problem have a coefficient matrix (d, d).

        cvxpy's memory and time are estimated from this number. By default it is 0, for problems with few of them.
        """
        return 0

    def duals(self, given: Given, values: dict[str, FloatArray]) -> Dual:
        """Return the dual variables in the form that `certify` takes. By default these are the `values` unchanged.

        values: the solution of the problem `dual`, the value of each variable by name.
        """
        return values

    def through_cvxpy(self, given: Given, solver: str) -> Found:
        """Solve the literal problem for the metric, and its separately stated dual for the dual variables.

        The solver's accuracy claims are not used: `solve` certifies the result.
        """
        primal = solve_problem(self.problem(given), solver, self.EXPONENTIAL)
        values = solve_problem(self.dual(given), solver, self.EXPONENTIAL)
        named = [name for name in METRIC_IS if name in primal]
        if len(named) != 1:
            raise TypeError(
                f"{self.id}: the metric must be the one variable of `problem` whose name is among {METRIC_IS}; its "
                f"variables are {tuple(primal)}"
            )
        return Found(project_psd(primal[named[0]]), self.duals(given, values), Status.CONVERGED, 0)

    def find(
        self,
        given: Given,
        solver: str,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
        **own: Any,
    ) -> Found:
        """Return `start` if it is certified to `tol`; else the result of the solver.

        The result of an interrupted fast solver is its best metric so far, with the status INTERRUPTED. Raises
        KeyboardInterrupt if there is no metric yet.
        """
        if own:
            raise TypeError(f"{self.id} has no option {next(iter(own))!r}")
        if start is not None and self._proves(given, start, tol):
            return Found(*start, Status.CONVERGED, 0)
        if solver != "fast":
            check_literal(self.literal_rows(given), self.metric_size(given))
            return self.through_cvxpy(given, solver)
        found: Found | None = None
        for at in moved(given.X) if self.MOVES else ():
            try:
                found = self._continue(given, at, found, start, tol, max_iter, callback)
            except KeyboardInterrupt:
                if found is None:
                    raise
                return found._replace(status=Status.INTERRUPTED)
            except (ValueError, ArithmeticError):
                continue  # the search in the original features raises an error if the data are at fault
            if found.status not in AGAIN or found.proof is None or found.proof.proves(tol):
                return found
            if found.n_iter >= max_iter:
                return found._replace(status=Status.MAX_ITER)
        if found is None:
            return self._searched(given, tol, max_iter, start, callback)
        try:
            return self._continue(given, None, found, start, tol, max_iter, callback)
        except KeyboardInterrupt:
            return found._replace(status=Status.INTERRUPTED)

    def _continue(
        self,
        given: Given,
        at: Moved | None,
        before: Found | None,
        start: Start | None,
        tol: float,
        max_iter: int,
        callback: Callback,
    ) -> Found:
        """Search in the coordinates `at` (None: the original features), from the earlier result `before`.

        Return the better metric and the better dual of `before` and of this search (`_best_of`), with the history of
        both. If `before` is None, search from `start`, and return the result of this search.
        """
        if before is None:
            return self._search_in(given, at, tol, max_iter, start, callback)
        steps, start = before.history, Start(before.metric, before.dual)
        if steps and isinstance(callback, Watch):
            callback = Following(callback, steps[-1])
        found = self._search_in(given, at, tol, max_iter - before.n_iter, start, callback)
        if steps and found.history:
            steps = (*steps, *(follows(step, steps[-1]) for step in found.history))
            found = found._replace(history=steps, n_iter=steps[-1].iteration)
        return self._best_of(given, found, before)

    def _searched(
        self, given: Given, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Return the result of `search`; if it is interrupted, its best result so far."""
        try:
            return self.search(given, tol, max_iter, start, callback)
        except Interrupted as stopped:
            return stopped.found

    def _search_in(
        self,
        given: Given,
        at: Moved | None,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
    ) -> Found:
        """Search in the coordinates `at`, or in the original features if `at` is None.

        The metric, the dual variables and the certificate of the result are for the original features.
        """
        if at is None:
            found = self._searched(given, tol, max_iter, start, callback)
        else:
            inside, outside = partial(self.inside, given, at), partial(self.outside, given, at)
            if start is not None:
                start = Start(inside(start.metric), in_dual(start.dual, inside))
            found = self._searched(self.moved(given, at), tol, max_iter, start, callback)
            dual = found.dual if found.proof is None else found.proof.dual
            found = found._replace(metric=outside(found.metric), dual=in_dual(dual, outside), proof=None)
        try:
            return found._replace(proof=found.proof or self.certify(given, found.metric, found.dual))
        except KeyboardInterrupt:  # the metric is kept, and certified later
            return found._replace(status=Status.INTERRUPTED)

    def _best_of(self, given: Given, last: Found, first: Found) -> Found:
        """Return the metric with the smaller objective, and the dual with the larger bound; the rest is from `last`.

        first, last: the results of two searches. If one of them was interrupted before its certificate was computed,
        return `first` with the status of `last`.
        """
        if last.proof is None or first.proof is None:  # interrupted before its proof
            return first._replace(status=last.status)
        metric = last if last.proof.objective <= first.proof.objective else first
        dual = last if last.proof.lower_bound >= first.proof.lower_bound else first
        if metric is dual:
            return last._replace(metric=metric.metric, dual=dual.dual, proof=metric.proof)
        proof = self.certify(given, metric.metric, dual.dual)
        return last._replace(metric=metric.metric, dual=dual.dual, proof=proof)

    def _proves(self, given: Given, start: Start, tol: float) -> bool:
        try:
            return self.certify(given, *start).proves(tol)
        except ValueError as error:
            raise ValueError(f"warm_start does not fit: {error}") from error

    def start(self, given: Given, warm_start: Solution | SavedSolution) -> Start:
        """Return the metric and the dual variables of `warm_start`.

        Raises ValueError for a solution of another method, because the dual variables must fit, for a wrong type or
        shape, and for other numbers of points or features.
        """
        if isinstance(warm_start, (Solution, SavedSolution)) and warm_start.method != self.id:
            raise ValueError(f"warm_start is a solution of {warm_start.method}, not of {self.id}")
        return super().start(given, warm_start)


def _counted(n: int, name: str) -> str:
    return f"{n} {name}" if n == 1 else f"{n} {name}s"


class StationaryMethod(Method[Given]):
    """A method with a problem that is not convex. The certificate bounds the gain of the convex step at the metric.

    The convex step at a metric is the convex problem that the method solves next if it is at this metric. The gain is
    the possible decrease of the objective of the step.
    """

    CLAIM = "stationary"

    @abstractmethod
    def problem(self, given: Given, at: FloatArray | None = None) -> Any:
        """Return the convex step at the psd metric `at` (default: the identity) as a `cvxpy.Problem`."""

    @abstractmethod
    def dual(self, given: Given, at: FloatArray | None = None) -> Any:
        """Return the dual of the convex step at `at` as a `cvxpy.Problem`."""

    @abstractmethod
    def improve(
        self, given: Given, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        """Return a metric that a search from a psd M finds, and dual variables of the convex step at M.

        Up to rounding, the metric is at least as good as M. (For M = 0, mlkr searches from another metric.) The dual
        variables are {} if the certificate of the method needs none. tol: the tolerance of the search, relative to the
        scale. early: True to stop early, for example after a hundred iterations, or once the gap is at most twice the
        decrease of the objective so far.
        """

    def enumerated(self, given: Given, *, tol: float, time_limit: float | None = None) -> Solution | None:
        """Return a solution with a lower bound for all metrics, found by enumeration, and not only for the step.

        None if that takes too long. By default None.
        """
        return None

    def remarks(self, given: Given, M: FloatArray) -> tuple[str, ...]:
        """Return notes for the user about these data and a psd M, as sentences."""
        return ()

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """Return the final status. INTERRUPTED and NOT_ATTAINED stay, even if the metric is certified stationary.

        After an interrupt, other starts were not tried. If the infimum is not attained, no metric is the answer.
        """
        if found in (Status.INTERRUPTED, Status.NOT_ATTAINED):
            return found
        return super().status(found, certificate, tol, solver)
