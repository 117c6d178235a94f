"""The contract of a method. What it takes is checked once, by `instance`; all else works on that.

A method says its problem in words and in cvxpy, the objective from the definition, the proof, and how a metric is
found. Here are the defaults, and the one place that makes a Solution.
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
from cvxml.core.memory import check_literal
from cvxml.core.metric import FloatArray, IntArray, as_matrix, as_metric, examine, project_psd
from cvxml.core.misreading import Misreading
from cvxml.core.moved import Moved, in_dual, moved, with_points
from cvxml.core.parameter import Parameter
from cvxml.core.result import Certificate, Dual, SavedSolution, Solution, Status, warn_unless_converged
from cvxml.core.run import Callback, Following, Found, Interrupted, Start, Watch, follows
from cvxml.core.statement import Statement
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol


class HasData(Protocol):
    """Checked data and parameters of a method."""

    @property
    def X(self) -> FloatArray: ...
    @property
    def y(self) -> IntArray | FloatArray: ...


Given = TypeVar("Given", bound=HasData)
# maps of the features: any linear map; a factor for each feature; rotations; another order of the features
MAPS = ("linear", "scaling", "rotation", "order")
# if a search ends with one of these and its proof is not sufficient, the next coordinates are tried
AGAIN = (Status.CONVERGED, Status.STALLED)
METRIC_IS = ("A", "B", "M", "W", "X")  # the variable that is the metric, as a paper names it


class Method(ABC, Generic[Given]):
    """What every method offers, whatever its parameters.

    given: what `instance` returned. M: a finite matrix of the shape that `matrix` asks for; psd where it is said.
    """

    id: str
    TITLE: str
    # what a solution can be proved to be: "optimal", or "stationary" where the problem is not convex
    CLAIM: str
    # the tolerance of `check` is a share of this certificate's scale: our own solution's, or the "candidate"'s
    SCALE = "reference"
    SOLVERS: tuple[str, ...] = ("fast", "clarabel", "scs")
    MAX_ITER = 1000  # of the fast solver, by default
    PARAMETERS: ClassVar[dict[str, Parameter]]  # by name: the options of the command line follow from them
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {}  # the same for what only `solve` takes
    MISREADINGS: ClassVar[dict[str, Misreading]] = {}  # the common misreadings, by name
    # the numbers among the parameters that the objective is linear in, and what each is less than
    WEIGHTS: ClassVar[Mapping[str, float]] = MappingProxyType({})
    # the stored parameters that follow from other fields of a saved file, in the order in which `instance` makes them
    DERIVED: ClassVar[Mapping[str, Derived]] = MappingProxyType({})
    EXAMPLES: ClassVar[tuple[Example, ...]] = ()  # what tests, `cvxml verify` and the benchmarks run
    # where the problem is not convex: the starts whose solutions a claim to be optimal is compared with
    STARTS: tuple[str, ...] = ()
    EXPONENTIAL = False  # the literal problem has exponential cones
    STATEMENT: Statement  # the mathematics, row by row
    # the scikit-learn estimator, for example Estimator("LMNN"); None if cvxml/estimators/ has a file for it
    ESTIMATOR: ClassVar[Estimator | None] = None

    # What the contract's tests ask of a method: tests/methods/test_contract.py checks each of these attributes, and a
    # failure says what to add.
    #
    # The parts of the dual with their dimensions, for example {"price": "t", "triplets": "t 3"}. {} if there is no dual
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
        """Everything checked. Raises ValueError for bad input."""

    def metric_size(self, given: Given) -> int:
        """The number of rows of a metric: d."""
        return int(given.X.shape[1])

    def matrix(self, given: Given, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """A candidate as a matrix M. Raises ValueError for another shape, and for entries that are not finite."""
        return as_matrix(metric, self.metric_size(given), name)

    def metric(self, given: Given, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """A candidate as a psd M. Raises ValueError for what is none."""
        return as_metric(metric, self.metric_size(given), name)

    def feasibility(self, given: Given, M: FloatArray) -> str | list[str]:
        """How far M is from a metric, as a sentence; one for each of several."""
        return str(examine(M)[1])

    def allowed(self, given: Given, M: FloatArray) -> FloatArray:
        """A metric that the problem allows, made of a psd M: within the budget, of determinant 1, diagonal."""
        return M

    @abstractmethod
    def problem(self, given: Given) -> Any:
        """The literal problem as a `cvxpy.Problem`; its metric is one of the variables `METRIC_IS`."""

    @abstractmethod
    def dual(self, given: Given) -> Any:
        """Its dual as a `cvxpy.Problem`."""

    @abstractmethod
    def objective(self, given: Given, M: FloatArray) -> float:
        """The objective at a psd M, from the definition, numpy only."""

    @abstractmethod
    def evaluate(self, given: Given, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """The intermediates at a psd M, by the paper's names; "objective" is one of them. t: the iteration, if any."""

    @abstractmethod
    def certify(self, given: Given, M: FloatArray, dual: Dual) -> Certificate:
        """The proof for any M from any dual. Raises ValueError for a dual that is none."""

    def exact(self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """What `certify` proves, without rounding. root (d, r): R with R R^T near M, if it is known.

        Raises ValueError where there is no exact mode.
        """
        raise ValueError(f"{self.id} has no exact mode")

    def exact_as_stored(
        self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike, hint: Any = None
    ) -> Exact:
        """`exact` of a dual that is repaired already, by linear algebra in rationals and balls alone.

        hint: of what floating point would have to find for the bound, that which is stored with the dual.
        """
        return self.exact(given, M, dual, root=root)

    @property
    def has_exact(self) -> bool:
        """True if there is an exact mode."""
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
        """What one of `SOLVERS` finds. own: as in `SOLVE_PARAMETERS`."""

    @abstractmethod
    def stored(self, given: Given) -> dict[str, Any]:
        """The value of every parameter, as a file can hold it, explicit lists in place of what names them."""

    def derived(self, given: Given) -> tuple[str, ...]:
        """Return the names among `DERIVED` that `instance` made, because the user did not give them."""
        return ()

    def differs(self, given: Given, name: str, params: Mapping[str, Any]) -> str:
        """Return a message if the stored parameter `name` does not follow from `DERIVED[name].by`; else empty.

        given: the instance of all stored `params`. Raises ValueError if the parameter cannot be derived.
        """
        others = {other: value for other, value in params.items() if other != name}
        again = self.instance(given.X, given.y if given.y.any() else None, **others)
        if alike(self.PARAMETERS[name].kind, self.stored(again).get(name), self.stored(given)[name]):
            return ""
        return self.DERIVED[name].differs(name, params)

    def components(self, given: Given, M: FloatArray) -> FloatArray | None:
        """L (m, d) with L^T L = M, where the method is about L."""
        return None

    def notes(self, given: Given, found: Found, certificate: Certificate) -> Sequence[str]:
        """What should be known of this solution, as sentences. found: with the status that it ends with."""
        return found.notes

    def ties(self, given: Given) -> int:
        """How many choices of the inputs a tie decided (0 for explicit lists)."""
        return 0

    def neighbor_lists(self, given: Given) -> list[IntArray]:
        """The neighbour lists of every point, where `neighbors` is a parameter that takes them."""
        return []

    def unattained(self, given: Given) -> str:
        """Why no metric is optimal, however near to the infimum it is, as a sentence; empty unless that is proved."""
        return ""

    def above(self, given: Given, M: FloatArray) -> float:
        """How far above that of M (d, d) the objective of its certificate may be, where more than rounding."""
        return 0.0

    def machine_slack(self, given: Given, M: FloatArray) -> float:
        """How far objective, bound and gap may be off on another machine, beyond the certificate's rounding."""
        return 0.0

    def start(self, given: Given, warm_start: Solution | SavedSolution) -> Start:
        """What to go on from. Raises ValueError for what is no solution, or one of another shape."""
        if not isinstance(warm_start, (Solution, SavedSolution)):
            raise ValueError(f"warm_start must be a solution, got {type(warm_start).__name__}")
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
        """The metric with its certificate: optimal, or stationary where the problem is not convex.

        solver: "fast", or "clarabel" / "scs": the literal problem and its dual through cvxpy. tol: stop at
        gap <= tol * scale. max_iter: iterations of the fast solver (default `MAX_ITER`). warm_start: a Solution to
        start from. callback: called with a `cvxml.core.result.Step` each time the gap is measured. time_limit: seconds;
        the clock is checked between the blocks of long steps (core/clock.py), but not within a back end. When the limit
        ends, the best metric so far is finished and certified, in at most as much time again, or 10 s if that is more.
        own: as in `SOLVE_PARAMETERS`. Ctrl-C ends the fast solver with its best metric, as Status.INTERRUPTED, and the
        time limit does, as Status.TIME_LIMIT. Raises ValueError for bad input, and OutOfTime if the time ends without a
        certified metric; warns (ConvergenceWarning) whenever tol is not met.
        """
        check_choice(solver, "solver", self.SOLVERS)
        tol = check_tol(tol)
        limit = self.MAX_ITER if max_iter is None else check_count(max_iter, "max_iter")
        seconds = self.seconds(solver) if time_limit is None else check_positive(time_limit, "time_limit")
        with one_blas_thread():
            late = f"time_limit of {seconds:g} s passed before a metric was ready"
            with limited(seconds, late) as deadline:
                watch = Watch(deadline, callback)
                start = None if warm_start is None else self.start(given, warm_start)
                found = watch.named(self.find(given, solver, tol, limit, start, watch, **own))
            late = f"time_limit of {seconds:g} s passed, and later there was no certificate of the metric yet"
            with finishing(deadline, late):
                certificate = found.proof or self.certify(given, found.metric, found.dual)
                found = found._replace(status=self.status(found.status, certificate, tol, solver))
                notes = self._noted(given, found, certificate)
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
            components=self.components(given, found.metric),
            derived=self.derived(given),
        )
        warn_unless_converged(solution, tol)
        return solution

    def _noted(self, given: Given, found: Found, certificate: Certificate) -> tuple[str, ...]:
        """Return `notes`. If the time is over, the remaining notes are left out, and one sentence reports this."""
        try:
            return tuple(self.notes(given, found, certificate))
        except TimeUp:
            return (*found.notes, "further notes were left out at time_limit")

    def seconds(self, solver: str) -> float:
        """How long a solver may take where no time limit is given."""
        return math.inf

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """What a solver ended with, and what is proved of that: only a proof makes it converged."""
        if certificate.proves(tol):
            return Status.CONVERGED if certificate.claim == "optimal" else Status.STATIONARY
        if found in (Status.CONVERGED, Status.STATIONARY):
            return Status.BACKEND if solver in ("clarabel", "scs") else Status.STALLED
        return found


class ConvexMethod(Method[Given]):
    """A convex problem: its literal form and the fast solver each give a metric with a dual."""

    CLAIM = "optimal"
    # True if the fast solver may work in other coordinates of the points (moved.py). The problem must be the same in
    # an orthonormal basis of the span of their differences, and `outside` must map its optimum back
    MOVES = False

    def moved(self, given: Given, at: Moved) -> Given:
        """Return the problem in other coordinates, with the same lists and parameters."""
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
        """The fast solver. start: may be near the optimum, or not."""

    def literal_rows(self, given: Given) -> int:
        """Constraints of the literal problem, each with coefficients (d, d): 0 where they are few."""
        return 0

    def duals(self, given: Given, values: dict[str, FloatArray]) -> Dual:
        """The dual that `certify` takes, from the values of the variables of `dual`: the same by default."""
        return values

    def through_cvxpy(self, given: Given, solver: str) -> Found:
        """The literal problem gives the metric, its dual, stated on its own, the prices. Neither is believed."""
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
        """The start where it is certified already; else what the solver finds, an interrupted one its best so far."""
        if own:
            raise TypeError(f"{self.id} is solved with no option {next(iter(own))!r}")
        if start is not None and self._proves(given, start, tol):
            return Found(*start, Status.CONVERGED, 0)
        if solver != "fast":
            check_literal(self.literal_rows(given), self.metric_size(given))
            return self.through_cvxpy(given, solver)
        found: Found | None = None
        for at in moved(given.X) if self.MOVES else ():
            try:
                found = self._go_on(given, at, found, start, tol, max_iter, callback)
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
            return self._go_on(given, None, found, start, tol, max_iter, callback)
        except KeyboardInterrupt:
            return found._replace(status=Status.INTERRUPTED)

    def _go_on(
        self,
        given: Given,
        at: Moved | None,
        before: Found | None,
        start: Start | None,
        tol: float,
        max_iter: int,
        callback: Callback,
    ) -> Found:
        """Search in the coordinates `at` from the result `before`. Return the best of both, with the steps of both."""
        if before is None:
            return self._elsewhere(given, at, tol, max_iter, start, callback)
        steps, start = before.history, Start(before.metric, before.dual)
        if steps and isinstance(callback, Watch):
            callback = Following(callback, steps[-1])
        found = self._elsewhere(given, at, tol, max_iter - before.n_iter, start, callback)
        if steps and found.history:
            steps = (*steps, *(follows(step, steps[-1]) for step in found.history))
            found = found._replace(history=steps, n_iter=steps[-1].iteration)
        return self._best_of(given, found, before)

    def _searched(
        self, given: Given, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Call `search`; if it is interrupted, return its best result so far."""
        try:
            return self.search(given, tol, max_iter, start, callback)
        except Interrupted as stopped:
            return stopped.found

    def _elsewhere(
        self,
        given: Given,
        at: Moved | None,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
    ) -> Found:
        """Search in the coordinates `at`, or in the original features if `at` is None.

        Metric, dual and proof of the result are those of the original features.
        """
        if at is None:
            found = self._searched(given, tol, max_iter, start, callback)
        else:
            inside, outside = partial(self.inside, given, at), partial(self.outside, given, at)
            if start is not None:
                start = Start(inside(start.metric), in_dual(start.dual, inside))
            found = self._searched(self.moved(given, at), tol, max_iter, start, callback)
            found = found._replace(metric=outside(found.metric), dual=in_dual(found.dual, outside))
        try:
            return found._replace(proof=self.certify(given, found.metric, found.dual))
        except KeyboardInterrupt:  # the metric is kept, and certified later
            return found._replace(status=Status.INTERRUPTED)

    def _best_of(self, given: Given, last: Found, first: Found) -> Found:
        """Return the metric with the smaller objective, and the dual with the larger bound; the rest is from `last`."""
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
        """What to go on from. Raises ValueError for a solution of other data or another method: its dual must fit."""
        if isinstance(warm_start, (Solution, SavedSolution)):
            if len(warm_start.y) != len(given.y):
                raise ValueError(
                    f"warm_start has {len(warm_start.y)} points and X has {len(given.y)}; "
                    "it must be a solution of the same data"
                )
            if warm_start.method != self.id:
                raise ValueError(f"warm_start is a solution of {warm_start.method}, not of {self.id}")
        return super().start(given, warm_start)


class StationaryMethod(Method[Given]):
    """A problem that is not convex: what is proved is that a metric's own convex step gains next to nothing."""

    CLAIM = "stationary"

    @abstractmethod
    def problem(self, given: Given, at: FloatArray | None = None) -> Any:
        """The convex step at the psd metric `at` (default the identity) as a `cvxpy.Problem`."""

    @abstractmethod
    def dual(self, given: Given, at: FloatArray | None = None) -> Any:
        """Its dual as a `cvxpy.Problem`."""

    @abstractmethod
    def improve(
        self, given: Given, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        """A metric at least as good as a psd M, and the dual of the convex step there.

        early: stop once most of what the step can win is won.
        """

    def enumerated(self, given: Given, *, tol: float, time_limit: float | None = None) -> Solution | None:
        """The optimum with a bound of the problem itself; None where that is not within reach."""
        return None

    def remarks(self, given: Given, M: FloatArray) -> tuple[str, ...]:
        """What should be known of these data and a psd M, as sentences."""
        return ()

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """Other starts were not tried where it was interrupted, and at infinity no metric is the answer."""
        if found in (Status.INTERRUPTED, Status.NOT_ATTAINED):
            return found
        return super().status(found, certificate, tol, solver)
