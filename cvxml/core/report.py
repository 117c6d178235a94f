"""The result of `check` on a claim: the Report, with its Verdict and, if a better metric is known, a Witness.

A misreading is another problem that a program may have solved by mistake. If it explains a refuted metric, the
diagnosis names it. The scale is the number that a relative gap is divided by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.html import fragment
from cvxml.core.metric import Feasibility, FloatArray, IntArray
from cvxml.core.predictions import Predictions, Region, predictions
from cvxml.core.result import VERSION, Stationarity, number, plain
from cvxml.core.short_repr import few, printable, shown
from cvxml.core.tolerance import tol_name

SHOWN = 60  # most characters for the sizes of the classes
SURE = 1000  # "most likely" requires a relative gap that is this many times smaller


class Verdict(StrEnum):
    """The verdict of `check` on a claim.

    certified: the claim is proved.
    refuted: the matrix is not a metric, or a clearly better metric is known, or a claimed objective is wrong.
    close: a better metric is known, but the gap is at most a hundredth of the scale, and no known misreading explains
    the metric.
    inconclusive: the claim is neither proved nor refuted.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    report = cvxml.check("mcml", X, y, cvxml.solve("mcml", X, y).metric)
    print(report.verdict is cvxml.Verdict.CERTIFIED)  # -> True
    print(report.verdict == "certified")  # -> True
    """

    CERTIFIED = "certified"
    CLOSE = "close"  # neither optimal nor stationary, but the gap is at most a hundredth of the scale
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, eq=False, repr=False)
class Witness:
    """A feasible metric (d, d), found by our solver, that is better than the judged metric or the claimed objective.

    better_by: the objective of the judged metric minus that of the witness. If no metric was judged, the claimed
    objective minus that of the witness.
    """

    objective: float
    better_by: float  # objective of the candidate - this one, without cancellation if possible
    metric: FloatArray

    __repr__ = shown


class Nearest(NamedTuple):
    """A misreading that explains a metric better than the user's problem, but not well enough for a diagnosis.

    share: the relative gap of the metric in the problem of the misreading. asked: its relative gap in the user's
    problem.
    """

    sentence: str
    share: float  # relative gap of the metric in the misreading
    asked: float  # relative gap of the metric in the user's problem

    def __str__(self) -> str:
        sure = "most likely" if self.asked >= SURE * self.share else "possibly"
        return f"{sure} {self.sentence} (relative gap {self.share:.2g} for that problem, {self.asked:.2g} for yours)"


class About(NamedTuple):
    """The question that `check` answered: data, every parameter with its value and source, ties, and versions.

    classes: the number of points of each class. params: name: (value, "given" or "default").
    ties: the number of choices in the inputs that a tie decided.
    lists: the lists of neighbours that were not given, and how they were made.
    """

    points: int
    features: int
    classes: dict[str, int]  # number of points of each class
    params: dict[str, tuple[str, str]]  # name: (value, "given" or "default")
    ties: int  # number of choices in the inputs that a tie decided
    versions: dict[str, str]
    lists: dict[str, str]  # lists of neighbours that were not given, and how they were made

    def __str__(self) -> str:
        parts = [f"{self.points} x {self.features}"]
        if self.classes:
            parts.append(self.of_classes)
        parts += [f"{name} = {value} ({whence})" for name, (value, whence) in self.params.items()]
        parts += [f"{name}: {whence}" for name, whence in self.lists.items()]
        if self.ties:
            parts.append(f"{self.ties} tie{'s' * (self.ties > 1)}")
        return "; ".join(parts)

    @property
    def of_classes(self) -> str:
        """The number of classes and their sizes, shortened to about `SHOWN` characters."""
        count, sizes = len(self.classes), _some(list(map(str, self.classes.values())))
        return f"{count} class{'es' * (count != 1)} of {sizes}"

    @property
    def software(self) -> str:
        """The software packages with their versions."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def rows(self) -> list[tuple[str, str]]:
        """Return each item as (name, value)."""
        rows = [("points x features", f"{self.points} x {self.features}")]
        if self.classes:
            rows.append(
                ("classes", _some([f"{printable(name)}: {count}" for name, count in self.classes.items()]))
            )
        rows += [(name, f"{value} ({whence})") for name, (value, whence) in self.params.items()]
        rows += list(self.lists.items())
        return [*rows, ("ties", str(self.ties)), ("versions", self.software)]


def _some(words: list[str]) -> str:
    """Return the first words with commas between them: as many as fit into `SHOWN` characters, but at least one."""
    shown = [word for k, word in enumerate(words) if k == 0 or len(", ".join(words[: k + 1])) <= SHOWN]
    return ", ".join([*shown, "..."] if len(shown) < len(words) else shown)


class ReportSubject(NamedTuple):
    """The data and the metric that a report is about.

    names: the class names. region: a function that makes the region of all metrics that are no worse than `metric`.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) class codes
    metric: FloatArray  # (d, d)
    names: tuple[str, ...] = ()  # class names
    region: Callable[[], Region | None] | None = None  # makes the region of all metrics that are no worse


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The result of `check`. `verdict` is about `claim` at the tolerance `tol`; the other fields are the evidence.

    `objective` is that of the judged metric, and `claimed_objective` the value that the user claimed. `gap` is
    `objective` minus `lower_bound`, and `rel_gap` is the gap divided by `scale`. `rounding` bounds the rounding error
    of the gap. `reference_objective` is the best objective that we know. The Frobenius distance of the metric to the
    optimum is at most `radius`. `feasibility` tells how far the user's matrix is from an allowed metric.

    If the problem is not convex, `step_lower_bound` and `step_gap` belong to the convex step at the metric: the convex
    problem that the method would solve next. `stationarity` is for MLKR and NCA.

    `reasons` are sentences for the verdict, and `notes` further remarks. `witness` is a better metric that we found, or
    None. `diagnosis` are sentences that name a misreading: another problem that the program may have solved by mistake.
    If `diagnosis` is empty, `nearest` lists at most three misreadings that explain the metric better than the stated
    problem. `exact` is an interval for the optimum (or that of the convex step) in exact arithmetic. `about` describes
    data and parameters; `judged` holds data and metric. A field that does not apply is None.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    metric = 2 * cvxml.solve("mcml", X, y).metric
    report = cvxml.check("mcml", X, y, metric, diagnosed=False)
    print(report.verdict.value, report.rel_gap > report.tol)  # -> refuted True
    print(report.witness.objective < report.objective)  # -> True
    """

    method: str
    verdict: Verdict
    claim: str
    tol: float
    reasons: tuple[str, ...]
    lower_bound: float
    scale: float
    reference_objective: float
    objective: float | None = None  # objective of the candidate, recomputed; None if only a value was claimed
    gap: float | None = None
    rel_gap: float | None = None
    rounding: float = 0.0
    radius: float | None = None
    feasibility: Feasibility | None = None
    claimed_objective: float | None = None
    # for the candidate's own convex step, if the problem is not convex
    step_lower_bound: float | None = None
    step_gap: float | None = None
    stationarity: Stationarity | None = None
    witness: Witness | None = None
    diagnosis: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()  # at most three, if the diagnosis is empty
    exact: Exact | None = None  # the interval in exact arithmetic, if the user asked for it
    notes: tuple[str, ...] = ()
    about: About | None = None
    judged: ReportSubject | None = field(default=None, repr=False, compare=False)

    @property
    def tol_name(self) -> str | None:
        """The word "strict", "normal" or "loose" for `tol`; None if no word has this value."""
        return tol_name(self.tol)

    @property
    def asked(self) -> str:
        """Method, claim and tolerance, in words."""
        tol = f"{self.tol_name} ({self.tol:g})" if self.tol_name else f"{self.tol:g}"
        return f"{self.method}, claim: {self.claim}, tol: {tol}"

    def predictions(self, n_neighbors: int, queries: ArrayLike | None = None) -> Predictions:
        """Return which nearest neighbours and votes of the judged metric are proved to be those of the exact optimum.

        queries: (q, d); default: the points themselves, each among the others.
        n_neighbors: number of neighbours that vote.

        Raises ValueError unless the report judged a feasible metric of a convex problem, for points with class labels.
        Local metrics of queries, and a metric of another size than the points, are refused too.
        """
        if self.feasibility is None:
            raise ValueError(
                "no metric was judged, because only a value was given, or the time limit ended before; so there are no "
                "votes to compare"
            )
        if not self.feasibility.feasible:
            raise ValueError(
                "the metric is not feasible for this method, so its nearest neighbours are not compared with those of "
                "the optimum"
            )
        if self.claim == "stationary":
            raise ValueError(
                f"the problem of {self.method} is not convex, so no distance to an optimum is proved, and no votes can "
                "be predicted"
            )
        if self.judged is None or self.radius is None:
            raise ValueError(
                "this report cannot predict votes: they need a convex problem, one metric for all queries, and points "
                "with class labels y"
            )
        X, y, M, names, region = self.judged
        if M.shape != (X.shape[1],) * 2:
            raise ValueError(
                f"the metric has {len(M)} features, but the points have {X.shape[1]}; the votes of the nearest "
                "neighbours can be predicted only if both have the same features"
            )
        share = "" if self.rel_gap is None or self.verdict is Verdict.CERTIFIED else f" by {self.rel_gap:.2g}"
        around = None if region is None else region()
        return predictions(
            X, y, M, self.radius, n_neighbors, queries, around, names, f"{self.verdict.value}{share}"
        )

    def __bool__(self) -> bool:
        """Raise TypeError, because a report has four verdicts; the message shows how to compare the verdict."""
        raise TypeError(
            "a report is neither true nor false: its verdict is certified, close, refuted or inconclusive; "
            'write report.verdict == "certified"'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of lists, numbers and texts for JSON; numbers that are not finite become None."""
        feasibility = self.feasibility
        content = {
            "format": "cvxml-report",
            "version": VERSION,
            "method": self.method,
            "verdict": self.verdict.value,
            "claim": self.claim,
            "tol": {"name": self.tol_name, "value": self.tol},
            "reasons": list(self.reasons),
            "objective": self.objective,
            "figures_of": self.figures_of,
            "claimed_objective": self.claimed_objective,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "rel_gap": self.rel_gap,
            "step_lower_bound": self.step_lower_bound,
            "step_gap": self.step_gap,
            "stationarity": None if self.stationarity is None else asdict(self.stationarity),
            "scale": self.scale,
            "rounding": self.rounding,
            "radius": self.radius,
            "reference_objective": self.reference_objective,
            "feasibility": None
            if feasibility is None
            else {
                "feasible": feasibility.feasible,
                "asymmetry": feasibility.asymmetry,
                "min_eigenvalue": feasibility.min_eigenvalue,
                # to the smaller set of metrics, if the method allows fewer than the psd cone
                "distance_to_psd": feasibility.distance,
                "distance_to": feasibility.nearest,
            },
            "witness": None
            if self.witness is None
            else {
                "objective": self.witness.objective,
                "better_by": self.witness.better_by,
                "metric": self.witness.metric.tolist(),
            },
            "diagnosis": list(self.diagnosis),
            "nearest": [each._asdict() for each in self.nearest],
            "exact": None if self.exact is None else self.exact.to_dict(),
            "notes": list(self.notes),
            "about": None if self.about is None else self.about._asdict(),
        }
        checked: dict[str, Any] = plain(content)
        return checked

    def to_json(self) -> str:
        """Return the data of `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False)

    @property
    def figures_of(self) -> str | None:
        """The matrix that objective and gaps belong to: "metric", or "projection" for a matrix that is no metric.

        The projection is the nearest metric. None if no metric was judged, because only a value was claimed or the time
        limit ended before.
        """
        if self.feasibility is None:
            return None
        return "metric" if self.feasibility.feasible else "projection"

    def rows(self) -> list[tuple[str, str]]:
        """Return each result as (name, value), for display. A number that is not finite is left out, or named in words.

        For a claim of stationarity, the relative gap is that of the convex step.
        """
        of = " (projected)" if self.figures_of == "projection" else ""
        objective = None if of and self.objective == math.inf else self.objective
        figures = [(f"objective{of}", objective), ("claimed objective", self.claimed_objective)]
        figures += [("lower bound", self.lower_bound), ("our best objective", self.reference_objective)]
        rows = [(name, number(value)) for name, value in figures if value is not None]
        share = self.rel_gap if self.claim == "optimal" else None
        figures = [(f"gap{of}", self.gap), (f"relative gap{of}", share), ("scale", self.scale)]
        figures += [("step lower bound", self.step_lower_bound), (f"step gap{of}", self.step_gap)]
        figures += [(f"relative step gap{of}", self._relative_step_gap), ("radius (Frobenius)", self.radius)]
        rows += [
            (name, number(value)) for name, value in figures if value is not None and math.isfinite(value)
        ]
        said = [("stationarity", self.stationarity), ("exact", self.exact), ("feasibility", self.feasibility)]
        rows += [(name, str(found)) for name, found in said if found is not None]
        if self.witness is not None:
            by, value = self.witness.better_by, self.witness.objective
            better = f" better by {by:.6g}" if math.isfinite(by) else ""
            rows.append(("witness", f"a feasible metric{better} (objective {value:.12g})"))
        return rows

    @property
    def _relative_step_gap(self) -> float | None:
        return self.step_gap / self.scale if self.step_gap is not None and self.scale > 0 else None

    def __str__(self) -> str:
        rows = self.rows()
        width = max(28, *(len(name) + 2 for name, _ in rows))
        if self.about is not None:
            rows += [("problem", str(self.about)), ("versions", self.about.software)]
        return "\n".join(
            [
                f"{self.verdict.value.upper()}: {self.asked}",
                *(f"  {reason}" for reason in self.reasons),
                *(f"  {name:<{width}}{value}" for name, value in rows),
                *(f"  diagnosis: {line}" for line in self.diagnosis),
                *(f"  nearest: {each}" for each in self.nearest),
                *(f"  note: {line}" for line in self.notes),
            ]
        )

    def __repr__(self) -> str:
        lines = [
            f"Report: {self.verdict.value.upper()}: {self.asked}",
            *(f"  {each}" for each in self.reasons[:2]),
        ]
        lines += [f"  diagnosis: {each}" for each in self.diagnosis]
        lines += [f"  nearest: {each}" for each in self.nearest[: not self.diagnosis]]
        lines += [f"  {name:<28}{value}" for name, value in self.rows()]
        return few(lines, "print the report to see all of it")

    def _repr_html_(self) -> str:
        return fragment(self)
