"""What `check` says of somebody else's claim: Verdict, Witness, Report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.html import fragment
from cvxml.core.metric import Feasibility, FloatArray, IntArray
from cvxml.core.predictions import Predictions, Region, predictions
from cvxml.core.result import VERSION, Stationarity, plain
from cvxml.core.short_repr import few, printable, shown
from cvxml.core.tolerance import tol_name

SHOWN = 60  # characters of the sizes of classes
SURE = 1000  # "most likely" requires a relative gap that is this many times smaller


class Verdict(StrEnum):
    """What `check` says of a claim."""

    CERTIFIED = "certified"
    CLOSE = "close"  # neither optimal nor stationary, with at most a hundredth of the scale to gain
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, eq=False, repr=False)
class Witness:
    """A better feasible point: why a claim is refuted."""

    objective: float
    better_by: float  # candidate's objective - this one's, computed without cancellation where possible
    metric: FloatArray

    __repr__ = shown


class Nearest(NamedTuple):
    """A misreading that a metric is nearer to than to the problem asked, and is not the answer of."""

    sentence: str
    share: float  # of its scale: what the metric leaves to gain in it
    asked: float  # the same in the problem asked

    def __str__(self) -> str:
        """With how sure that is, in words."""
        sure = "most likely" if self.asked >= SURE * self.share else "perhaps"
        return f"{sure} {self.sentence}: {self.share:.2g} of the scale is left, of the problem asked {self.asked:.2g}"


class About(NamedTuple):
    """What was asked: the data, every parameter with its value and whether it was given, ties, versions."""

    points: int
    features: int
    classes: dict[str, int]  # how many points there are of each
    params: dict[str, tuple[str, str]]  # name: value, "given" or "default"
    ties: int  # choices of the inputs that a tie decided
    versions: dict[str, str]
    lists: dict[str, str]  # of neighbours, where they were not given: where they are from

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
        """How many classes there are, and their sizes as far as there is room."""
        count, sizes = len(self.classes), _some(list(map(str, self.classes.values())))
        return f"{count} class{'es' * (count != 1)} of {sizes}"

    @property
    def software(self) -> str:
        """Names with their versions."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def rows(self) -> list[tuple[str, str]]:
        """Each item with its name."""
        rows = [("points x features", f"{self.points} x {self.features}")]
        if self.classes:
            rows.append(
                ("classes", _some([f"{printable(name)}: {count}" for name, count in self.classes.items()]))
            )
        rows += [(name, f"{value} ({whence})") for name, (value, whence) in self.params.items()]
        rows += list(self.lists.items())
        return [*rows, ("ties", str(self.ties)), ("versions", self.software)]


def _some(words: list[str]) -> str:
    """As many of them as there is room for, and one."""
    shown = [word for k, word in enumerate(words) if k == 0 or len(", ".join(words[: k + 1])) <= SHOWN]
    return ", ".join([*shown, "..."] if len(shown) < len(words) else shown)


class ReportSubject(NamedTuple):
    """What a report is about."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes of classes
    metric: FloatArray  # (d, d)
    names: tuple[str, ...] = ()  # of the classes
    region: Callable[[], Region | None] | None = None  # of all metrics that are no worse


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What `check` found. `verdict` speaks of `claim` at `tol`; everything else is the evidence."""

    method: str
    verdict: Verdict
    claim: str
    tol: float
    reasons: tuple[str, ...]
    lower_bound: float
    scale: float
    reference_objective: float
    objective: float | None = None  # of the candidate, recomputed; None if only a value was claimed
    gap: float | None = None
    rel_gap: float | None = None
    rounding: float = 0.0
    radius: float | None = None
    feasibility: Feasibility | None = None
    claimed_objective: float | None = None
    # of the candidate's own convex step, where the method is not convex
    step_lower_bound: float | None = None
    step_gap: float | None = None
    stationarity: Stationarity | None = None
    witness: Witness | None = None
    diagnosis: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()  # where the diagnosis is empty, at most three
    exact: Exact | None = None  # the same interval in rational arithmetic, where that was asked for
    notes: tuple[str, ...] = ()
    about: About | None = None
    judged: ReportSubject | None = field(default=None, repr=False, compare=False)

    @property
    def tol_name(self) -> str | None:
        """The word for `tol`, where there is one."""
        return tol_name(self.tol)

    @property
    def asked(self) -> str:
        """Method, claim and tolerance, in words."""
        tol = f"{self.tol_name} ({self.tol:g})" if self.tol_name else f"{self.tol:g}"
        return f"{self.method}, claim: {self.claim}, tol: {tol}"

    def predictions(self, n_neighbors: int, queries: ArrayLike | None = None) -> Predictions:
        """Which neighbours and votes are those of the exact optimum (core/predictions.py).

        queries: (q, d); by default the points themselves, each among the others. Raises ValueError where no metric was
        judged that is one, and where it is one of another space than the points or belongs to one query.
        """
        if (
            self.judged is None
            or self.radius is None
            or self.feasibility is None
            or not self.feasibility.feasible
        ):
            raise ValueError(
                "no metric was judged whose distance from the optimum is known: nothing can be predicted"
            )
        X, y, M, names, region = self.judged
        if M.shape != (X.shape[1],) * 2:
            raise ValueError(f"the metric acts on {len(M)} features, and the points have {X.shape[1]}")
        share = "" if self.rel_gap is None or self.verdict is Verdict.CERTIFIED else f" by {self.rel_gap:.2g}"
        around = None if region is None else region()
        return predictions(
            X, y, M, self.radius, n_neighbors, queries, around, names, f"{self.verdict.value}{share}"
        )

    def __bool__(self) -> bool:
        """No: a report has four verdicts. Raises TypeError with what to write."""
        raise TypeError(
            "a report is neither true nor false: its verdict is certified, close, refuted or inconclusive; "
            'write report.verdict == "certified"'
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
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
                "distance_to_psd": feasibility.distance,  # to fewer metrics, if the method allows fewer
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
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False)

    def rows(self) -> list[tuple[str, str]]:
        """Each figure with its name, as it is shown."""
        figures = [("objective", self.objective), ("claimed objective", self.claimed_objective)]
        figures += [("lower bound", self.lower_bound), ("our best objective", self.reference_objective)]
        figures += [("gap", self.gap), ("gap / scale", self.rel_gap), ("scale", self.scale)]
        figures += [("step lower bound", self.step_lower_bound), ("step gap", self.step_gap)]
        figures += [("optimum within (Frobenius)", self.radius)]
        rows = [(name, f"{value:.12g}") for name, value in figures if value is not None]
        said = [("stationarity", self.stationarity), ("exact", self.exact), ("feasibility", self.feasibility)]
        rows += [(name, str(found)) for name, found in said if found is not None]
        if self.witness is not None:
            by, value = self.witness.better_by, self.witness.objective
            rows.append(("witness", f"a feasible metric better by {by:.6g} (objective {value:.12g})"))
        return rows

    def __str__(self) -> str:
        rows = self.rows()
        if self.about is not None:
            rows += [("asked", str(self.about)), ("with", self.about.software)]
        return "\n".join(
            [
                f"{self.verdict.value.upper()}: {self.asked}",
                *(f"  {reason}" for reason in self.reasons),
                *(f"  {name:<28}{value}" for name, value in rows),
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
        return few(lines, "print it for all of it")

    def _repr_html_(self) -> str:
        """For notebooks (core/html.py)."""
        return fragment(self)
