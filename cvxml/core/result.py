"""The results of the package: Status, Certificate, Solution, Evaluation. Verdicts are in report.py, files in saved.py.

The scale of a problem is the number that its gap is divided by to get the relative gap; for most methods it is the
objective. The convex step at a metric is the convex problem that a method solves next, if its problem is not convex.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from cvxml.core.files import write_json, write_matrix, write_npz
from cvxml.core.files.common import named
from cvxml.core.files.strict_json import SOLUTION
from cvxml.core.html import of_solution
from cvxml.core.metric import Feasibility, FloatArray, IntArray, components_of
from cvxml.core.short_repr import brief, few, listed, shown
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.core.wide import wide

FORMAT = SOLUTION
SAVED = (".json", ".npz", ".npy", ".csv")  # the last two hold the metric alone
VERSION = 1
USELESS = 1000  # a larger relative gap says nothing about the metric


class Status(StrEnum):
    """Why a solver stopped; `sentence` explains it.

    The values are converged, stationary, max_iter, not_attained, time_limit, at_infinity, stalled, interrupted and
    backend. Only with the first two the result is certified.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    status = cvxml.solve("lmnn", X, y).status
    print(status == "converged", status is cvxml.Status.CONVERGED)  # -> True True
    print(status.sentence)  # -> certified optimal: gap <= tol x scale + rounding
    """

    sentence: str

    CONVERGED = (
        "converged",
        "certified optimal: gap <= tol x scale + rounding",
    )
    STATIONARY = (
        "stationary",
        "certified stationary: its convex step (or its gradient, to first order) gains at most tol x scale + rounding; "
        "the problem is not convex",
    )
    MAX_ITER = (
        "max_iter",
        "not certified: stopped at max_iter before the gap reached tol; raise max_iter",
    )
    NOT_ATTAINED = (
        "not_attained",
        "not certified: the infimum is not attained by any metric; this run approaches it",
    )
    TIME_LIMIT = (
        "time_limit",
        "not certified: stopped at time_limit before the gap reached tol; raise time_limit",
    )
    AT_INFINITY = (
        "at_infinity",
        "not certified: the run tends to infinity; in double precision, larger multiples of the metric are as good "
        "or better; use this metric as it is",
    )
    STALLED = (
        "stalled",
        "not certified: rounding in double precision stopped the run before the gap reached tol; try a larger tol",
    )
    INTERRUPTED = ("interrupted", "not certified: interrupted; give this solution as warm_start to continue")
    BACKEND = (
        "backend",
        "not certified: the back end's answer does not meet tol; try another solver",
    )

    def __new__(cls, value: str, sentence: str) -> Status:
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member


NOT_CONVEX = "the problem is not convex, so there is no useful lower bound of the optimum, and no gap"

Dual = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Stationarity:
    """How far a metric Q = A^T A is from first-order stationary, in units of the objective F.

    `gradient` and `dc_residual` are possible decreases of F by a step of length max(|A|, 1). `gradient` is for a change
    of the whole matrix A, to first order in A. `dc_residual` is for an unused (zero) row of A that becomes a row of
    this length, to first order in Q; 0 without unused rows. `scale_derivative` is the derivative of F(t A) by t at
    t = 1. `of` is the scale of the problem, which tol multiplies. These values are not bounds of the gap.
    """

    gradient: float  # max(|A|, 1) |dF/dA|: first-order change of F for a relative change of A
    scale_derivative: float  # d F(t A) / dt at t = 1; negative if a larger multiple is better
    dc_residual: float  # first-order decrease of F from an unused direction, with the trace of A^T A or 1
    of: float  # scale of tol: distance to the bound, or to the limit of multiples of the metric if less

    def __str__(self) -> str:
        of = f"{self.relative:.3g} of the scale" if self.relative <= 1 else "larger than the scale"
        return (
            f"possible gain, to first order: {of} (by a relative change of the transform {self.gradient:.3g}, by an "
            f"unused direction {self.dc_residual:.3g}); derivative along multiples {self.scale_derivative:.3g}"
        )

    def within(self, tol: float, rounding: float) -> bool:
        """Return True if gradient and dc_residual are at most tol * of + rounding."""
        limit = tol * self.of + rounding
        return self.gradient <= limit and self.dc_residual <= limit

    @property
    def relative(self) -> float:
        """The larger of gradient and dc_residual, divided by `of`; 0 if both are 0, inf if only `of` is 0."""
        if not (math.isfinite(self.gradient) and math.isfinite(self.dc_residual)):
            return math.inf
        largest = max(self.gradient, self.dc_residual)
        return largest / self.of if self.of > 0 else 0.0 if largest == 0 else math.inf


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A proof that the objective of a metric is at most `gap` above the optimum, however the metric was found.

    `gap` is objective - lower_bound. Where possible it is computed as a sum of nonnegative terms, because a difference
    of two close numbers loses digits. `rounding` bounds its rounding error. The larger of `rounding` and
    `value_rounding` bounds the error of `objective` and `lower_bound`. `scale` is the number that `rel_gap` divides the
    gap by, for example the objective for LMNN, and lam/2 ||A||^2 for MLSVM. `dual` holds the dual variables, made
    feasible. The Frobenius distance from the metric to the optimum is at most `radius`; inf if no bound is known.
    `feasibility` tells how well the metric meets its constraints. `undecided` is a sentence if double precision proves
    nothing for these data, else empty.

    `kind` says what `lower_bound` is a bound for. With "global" it is the objective of every metric, by duality. With
    "enumerated" it is the objective of every metric, by branch and bound. With "stationary" it is the objective of
    every metric, but the bound is trivial, such as 0. With "subproblem" it is the objective of the convex step, the
    convex problem that the method would solve next. `step` holds the certificate of the convex step at the metric, or
    None. `stationarity` is set for MLKR and NCA, else None. For local metrics, `parts` holds one certificate for each
    query.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    certificate = cvxml.solve("lmnn", X, y).certificate
    print(certificate.claim, certificate.rel_gap <= 1e-6)  # -> optimal True
    print(certificate.proves("normal"))  # -> True
    """

    kind: str  # global | subproblem | enumerated | stationary
    objective: float
    lower_bound: float
    gap: float  # objective - lower_bound, absolute
    scale: float  # the scale of the problem at this metric (docs/duality.md)
    rounding: float  # bound on the rounding error of the gap
    radius: float  # the optimum is within this Frobenius distance (inf: unknown)
    feasibility: Feasibility
    dual: Dual  # repaired dual variables: named arrays with their index lists
    step: Certificate | None = None  # for kind "stationary": the proof for the convex step at the metric
    parts: tuple[Certificate, ...] = ()  # for local metrics: one certificate a query, each must be proved
    stationarity: Stationarity | None = None  # for MLKR and NCA
    undecided: str = ""  # why double precision cannot decide for these data, as a sentence
    value_rounding: float = 0.0  # bound on the error of objective and lower_bound, if above `rounding`

    __repr__ = shown

    @property
    def claim(self) -> str:
        """The claim that this certificate can prove: "optimal" or only "stationary"."""
        return "optimal" if self.kind in ("global", "enumerated") else "stationary"

    @property
    def rel_gap(self) -> float:
        """gap / scale. If the scale is 0: 0 for a gap of at most 0, else inf. With `parts`, their largest `rel_gap`."""
        if self.parts:
            return max(part.rel_gap for part in self.parts)
        if self.gap <= 0 and self.scale == 0:
            return 0.0
        return self.gap / self.scale if self.scale > 0 else math.inf

    @property
    def only_stationary(self) -> bool:
        """True if `claim` is "stationary" and there are no `parts`; then no useful bound of the optimum is known."""
        return self.claim == "stationary" and not self.parts

    @property
    def not_decided(self) -> str:
        """Why objective, bound and gap are not proved, as a sentence; empty if double precision decides.

        The sentence is `undecided`, or it reports that `rounding` is above `scale`. With `parts` or a `step`, their
        `undecided` counts too. Then their rounding errors are compared with their scales, and `rounding` is not used.
        """
        judged = self.parts or (self.step or self,)
        for each in (self, *judged):
            if each.undecided:
                return each.undecided
        for each in judged:
            if each.rounding > each.scale:
                return (
                    f"the rounding error may be {each.rounding:.3g}, more than the scale {each.scale:.3g}, "
                    "so the lower bound and the gap are not proved"
                )
        return ""

    @property
    def not_feasible(self) -> str:
        """How the metric misses the constraints of its problem, as a sentence; empty if it is feasible."""
        for each in self.parts or (self.step or self,):
            if not each.feasibility.feasible:
                return f"the metric is not feasible: {each.feasibility}"
        return ""

    def proves(self, tol: Tolerance) -> bool:
        """Return True if `claim` is proved: the metric is feasible, and the gap is at most tol * scale + rounding.

        The proof also requires `decides(tol)`. With a `step`, only the certificate of the step is tested in this way;
        with `parts`, all of them. MLKR, and NCA with a limited rank, have neither: their `stationarity` is compared
        with the same limit, in place of the gap.

        tol: a number or one of the words "strict", "normal" and "loose".
        """
        tol = check_tol(tol)
        if self.step is not None:
            return self.step.proves(tol)
        if self.parts:
            return all(part.proves(tol) for part in self.parts)
        if self.kind == "stationary" and self.stationarity is not None:
            return (
                self.feasibility.feasible
                and self.decides(tol)
                and self.stationarity.within(tol, self.rounding)
            )
        # A gap that is negative beyond rounding is a mistake, and proves nothing.
        small = abs(self.gap) <= tol * self.scale + self.rounding
        return self.feasibility.feasible and self.decides(tol) and small

    def decides(self, tol: Tolerance) -> bool:
        """Return True if double precision is enough for a decision at `tol`.

        It is enough if `undecided` is empty, `gap` and `scale` are finite, and `rounding` is at most max(tol, min(100
        tol, 1e-3)) times the scale. If there is a `step`, or if there are `parts`, only the step or all parts are
        tested in this way.
        """
        tol = check_tol(tol)
        if self.step is not None:
            return self.step.decides(tol)
        if self.parts:
            return all(part.decides(tol) for part in self.parts)
        if self.undecided or not (math.isfinite(self.gap) and math.isfinite(self.scale)):
            return False
        # If the scale is 0, the gap must be 0 and decided exactly (rounding 0).
        return self.rounding <= max(tol, min(100 * tol, 1e-3)) * self.scale


@dataclass(frozen=True)
class Step:
    """One line of a solver's history: the number of the iteration, the time so far, and the values of its metric.

    phase: the name of the solver's phase. scale: the scale of the problem; NaN if it is not known.

    Most solvers compute a certificate for a few steps only. The values of the other steps are estimates by the solver,
    without bounds of rounding errors. A solver that does not hold all rows, such as that of LMNN, leaves out the other
    rows, so that objective and gap may be too small. As long as the solver has no feasible dual variables, lower_bound
    is -inf and gap is inf. Only the certificate of the Solution is a proof.
    """

    iteration: int
    seconds: float
    objective: float
    lower_bound: float
    gap: float
    phase: str = ""
    scale: float = math.nan  # the scale of the problem, if it is known

    def __str__(self) -> str:
        start = f"iteration {self.iteration:6d}  {self.seconds:7.1f} s"
        return f"{start}  objective {self.objective:.8g}  {self.gap_in_words()}"

    def gap_in_words(self) -> str:
        """Return the gap in words, relative to the scale if that is positive.

        The text says so if no bound is known, or if the relative gap is above `USELESS` (1000).
        """
        if not math.isfinite(self.gap):
            return "no bound yet"
        if self.gap > USELESS * self.scale > 0:
            return f"gap {self.gap:.2e}: no useful bound yet"
        return f"relative gap {self.gap / self.scale:.2e}" if self.scale > 0 else f"gap {self.gap:.2e}"


def number(value: float, digits: int = 12) -> str:
    """Return a number as text with `digits` significant digits. Infinity and NaN become words."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "none is known"
    return f"{value:.{digits}g}"


def gap_in_words(gap: float, rel_gap: float, between: str = "   ") -> str:
    """Return a gap and the gap relative to the scale as text. Without a bound or a scale, the text says so.

    between: the text between the two.
    """
    if not math.isfinite(gap):
        return "gap unknown: there is no finite bound"
    share = f"{rel_gap:.3g}" if math.isfinite(rel_gap) else "undefined: the scale is 0"
    if USELESS < rel_gap < math.inf:
        share = f"above {USELESS:,}: the lower bound is of no use here"
    return f"gap {gap:.3g}{between}relative gap {share}"


def step_of(proof: Certificate, iteration: int, seconds: float, phase: str = "") -> Step:
    return Step(iteration, seconds, proof.objective, proof.lower_bound, proof.gap, phase, proof.scale)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A metric with its certificate.

    `metric` is psd: (d, d); (n, n) for kernel_mlsvm; (m d, m d) with m blocks for plml; (q, d, d) for several queries
    of glml. `y` holds class codes 0 to R-1 in the order of the sorted labels, real targets for mlkr, and zeros if no
    labels were given. `params` holds all parameters, and `derived` the names of those that were not given, but made
    from other inputs. `history` has a Step each time that the gap was computed or estimated. `neighbors` holds the
    lists N(i) of neighbours of mlsvm and kernel_mlsvm, else []. `notes` are sentences for the user. `status` tells why
    the solver stopped, and `solver` is its name. `factor` is the transform (m, d) that the method learns, with
    metric = factor^T factor; None for other methods.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    solution = cvxml.solve("lmnn", X, y)
    print(solution.metric.shape, solution.components.shape)  # -> (4, 4) (4, 4)
    print(solution.gap <= 1e-6 * solution.certificate.scale)  # -> True
    solution.save("iris.json")
    """

    method: str
    metric: FloatArray
    certificate: Certificate
    status: Status
    n_iter: int
    history: tuple[Step, ...]
    params: Mapping[str, Any]
    X: FloatArray
    y: IntArray | FloatArray  # class codes, or real targets
    neighbors: list[IntArray]
    notes: tuple[str, ...] = ()
    solver: str = "fast"
    # (m, d) with metric = factor^T factor, if the method is about such a matrix
    factor: FloatArray | None = None
    # parameters that were not given, but made from the labels and other parameters (core/derived.py)
    derived: tuple[str, ...] = ()

    @property
    def dual(self) -> Dual:
        """The dual variables of the certificate, made feasible."""
        return self.certificate.dual

    @property
    def objective(self) -> float:
        """Objective of the stated problem at `metric`, recomputed from the data."""
        return self.certificate.objective

    @property
    def lower_bound(self) -> float:
        """Lower bound on the objective of every feasible metric."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """objective - lower_bound, absolute."""
        return self.certificate.gap

    @property
    def rel_gap(self) -> float:
        """The gap divided by the scale of the problem."""
        return self.certificate.rel_gap

    @property
    def radius(self) -> float:
        """The optimum is within this Frobenius distance of `metric`; inf if no bound is known."""
        return self.certificate.radius

    @property
    def components(self) -> FloatArray:
        """L (m, d) with L^T L = `metric`, so that X L^T has the distances of the metric.

        L is the transform that the method learns, if it learns one (NCA, MLKR, LFDA). Otherwise it is the symmetric
        square root (d, d) of the metric; for several metrics (q, d, d), the root of each.
        """
        return components_of(self.metric) if self.factor is None else self.factor

    @property
    def step_lower_bound(self) -> float | None:
        """Lower bound on the optimum of the convex step at `metric`.

        None if there is no such step: for convex problems, MLKR, and NCA with a limited rank.
        """
        return None if self.certificate.step is None else self.certificate.step.lower_bound

    @property
    def step_gap(self) -> float | None:
        """objective - step_lower_bound, a bound on the gain of the convex step at `metric`; None without a step."""
        return None if self.certificate.step is None else self.certificate.step.gap

    def __str__(self) -> str:
        lines = [
            f"{self.method} ({self.solver}): {self.status.sentence}",
            f"objective {number(self.objective)}   lower bound {number(self.lower_bound)}",
            *([] if self.certificate.only_stationary else [gap_in_words(self.gap, self.rel_gap)]),
            *self._proof_lines(),
            *([reason] if (reason := self.certificate.not_feasible) else []),
            *([f"not decided: {reason}"] if (reason := self.certificate.not_decided) else []),
            *(f"note: {n}" for n in self.notes),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        n, d = self.X.shape
        what = f"Solution: metric {self.metric.shape} of {n} points in {d} features, {self.n_iter} iterations"
        return few([what, *str(self).splitlines()], "print the solution to see all of it")

    def _repr_html_(self) -> str:
        return of_solution(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return each result and each parameter as (name, value), as a notebook shows them."""
        figures = (
            ("gap", self.gap),
            ("relative gap", self.rel_gap),
            ("step gap", self.step_gap),
            ("radius (Frobenius)", self.radius),
        )
        n, d = self.X.shape
        return [
            ("objective", number(self.objective)),
            ("lower bound", number(self.lower_bound)),
            *(
                (name, f"{value:.3g}")
                for name, value in figures
                if value is not None and math.isfinite(value)
            ),
            *([("not decided", reason)] if (reason := self.certificate.not_decided) else []),
            ("points x features", f"{n} x {d}"),
            ("iterations", str(self.n_iter)),
            *((name, brief(value).strip("'")) for name, value in self.params.items() if value is not None),
        ]

    def _proof_lines(self) -> list[str]:
        certificate, norm = self.certificate, f"(norm {np.linalg.norm(self.metric):.6g})"
        step = certificate.step
        lines = [NOT_CONVEX] if certificate.only_stationary else []
        lines += [] if certificate.stationarity is None else [str(certificate.stationarity)]
        if step is not None:
            lines.append(f"convex step: {gap_in_words(step.gap, step.rel_gap)}")
        judged = step or certificate
        if math.isfinite(judged.radius):
            whose = "of the step " if step is not None else ""
            lines.append(f"the optimum {whose}lies within {judged.radius:.3g} of this metric {norm}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the data, the parameters, the metric, the dual variables, the results."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "solver": self.solver,
            "params": dict(self.params),
            "derived": list(self.derived),
            "status": self.status.name,
            "n_iter": self.n_iter,
            "notes": list(self.notes),
            "objective": self.objective,
            "lower_bound": _json_number(self.lower_bound),
            "gap": _json_number(self.gap),
            "undecided": self.certificate.not_decided,
            "rel_gap": _json_number(self.rel_gap),
            "radius": _json_number(self.certificate.radius),
            "step_lower_bound": self.step_lower_bound,
            "step_gap": self.step_gap,
            "stationarity": None
            if self.certificate.stationarity is None
            else _json_number(self.certificate.stationarity.relative),
            "metric": self.metric.tolist(),
            "X": self.X.tolist(),
            "y": self.y.tolist(),
            "neighbors": [listed.tolist() for listed in self.neighbors],
            "dual": {name: array.tolist() for name, array in self.certificate.dual.items()},
        }

    def save(self, path: str | Path) -> None:
        """Write the solution to `path`.

        Files .json and .npz hold data, parameters, metric and dual variables, so that anyone can check the
        solution. Files .npy and .csv hold the metric alone, with all digits; other programs and `check` read it.

        path: ends in .json, .npz, .npy or .csv.

        Raises ValueError for another ending, and if the objective is not finite. For .json and .npz, raises ValueError
        also for a parameter that is an object of the user, such as a density model.
        """
        suffix = Path(path).suffix
        if not math.isfinite(self.objective):
            raise ValueError(f"the objective is {self.objective}: no metric was found that a file could hold")
        if suffix in (".npy", ".csv"):
            write_matrix(path, self.metric)
            return
        for name, value in self.params.items():
            if not isinstance(value, (str, int, float, list, tuple, dict, type(None))):
                raise ValueError(
                    f"{name} is an object of {type(value).__name__}, which cannot be saved; save the metric alone, as "
                    ".npy or .csv"
                )
        content = self.to_dict()
        if suffix == ".json":
            write_json(path, content)
        elif suffix == ".npz":
            arrays = {
                "metric": self.metric,
                "X": self.X,
                "y": self.y,
                "neighbors": _concatenate(self.neighbors),
                "neighbor_counts": np.array([len(listed) for listed in self.neighbors], dtype=np.int64),
                **{f"dual_{name}": array for name, array in self.certificate.dual.items()},
            }
            kept = {k: v for k, v in content.items() if k not in (*arrays, "dual")}
            write_npz(path, header=np.array(json.dumps(kept, sort_keys=True)), **arrays)
        else:
            raise ValueError(f"cannot save to {named(path)}: the name must end in {', '.join(SAVED)}")


def _concatenate(lists: list[IntArray]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=np.int64), *lists]).astype(np.int64)


def _json_number(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The intermediate values of a method at one metric, by the paper's names, as attributes and in `values`.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    shown = cvxml.evaluate("mlsvm", X, y, cvxml.solve("mlsvm", X, y).metric)
    print(list(shown.values)[:3])  # -> ['objective', 'targets', 'impostors']
    print(shown.objective < 0.1, shown.xi.shape)  # -> True (150,)
    """

    method: str
    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(
                f"no {name!r} in this evaluation; the values are: {', '.join(self.__dict__.get('values', {}))}"
            ) from None

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of lists, numbers and texts for JSON; numbers that are not finite become None."""
        return {"method": self.method, **{k: plain(v) for k, v in self.values.items()}}

    def __str__(self) -> str:
        return "\n".join(f"{k}:\n{v}" for k, v in self.values.items())

    def __repr__(self) -> str:
        return listed(type(self).__name__, {"method": self.method, **self.values})


def plain(value: Any) -> Any:
    """Return arrays, tuples and mappings as lists and dicts for JSON; numbers that are not finite become None."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return _json_number(value)
    return value


def warn_unless_converged(solution: Solution, tol: float) -> None:
    """Warn (ConvergenceWarning) if the tolerance was not met, with the reason that the certificate gives."""
    if solution.status in (Status.CONVERGED, Status.STATIONARY):
        return
    # imported here, because scikit-learn takes a second to load and `check` does not need it
    from sklearn.exceptions import ConvergenceWarning

    judged = solution.certificate.step or solution.certificate
    found = judged.stationarity if judged.only_stationary else None
    left = gap_in_words(judged.gap, judged.rel_gap, ", ") if found is None else str(found)
    certificate = solution.certificate
    reasons = (certificate.not_feasible, certificate.not_decided, wide(solution.X).warning)
    warnings.warn(
        f"{solution.method}: {solution.status.sentence} ({left}, tol {tol:g})"
        + "".join(f"; {reason}" for reason in reasons if reason),
        ConvergenceWarning,
        stacklevel=4,
    )
