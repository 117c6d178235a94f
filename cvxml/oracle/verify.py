"""Every method on data that ships: the literal problem through two back ends, the fast solver, the certificate.

Three ways that share only the data and the neighbour lists. They agree if each is certified by a bound and the
intervals [lower bound, objective] have a point in common. A method that is not convex may end in different places:
there each end is to be certified stationary, and by `check` too.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from cvxml import api, datasets
from cvxml.core.report import Verdict
from cvxml.core.result import TOLERANCES, Solution
from cvxml.methods import get
from cvxml.oracle.asked import uninterrupted
from cvxml.oracle.check import check

SOLVERS = ("clarabel", "scs", "fast")


class Case(NamedTuple):
    """One row: a method on a data set, whole (n None) or a fixed subsample."""

    method: str
    data: str
    n: int | None
    standardized: bool
    params: dict[str, Any]


CASES = (
    Case("mlsvm", "iris", None, False, {"lam": 0.01}),
    Case("mlsvm", "iris", None, True, {"lam": 0.1, "neighborhood": "per-class"}),
    Case("mlsvm", "wine", None, True, {"lam": 0.1}),
    Case("mlsvm", "wine", None, True, {"lam": 0.01, "neighborhood": "per-class", "n_neighbors": 3}),
    Case("mlsvm", "breast_cancer", 120, True, {"lam": 0.1, "n_neighbors": 6}),
    Case("mlsvm", "digits", 30, True, {"lam": 0.1}),
    Case("mlsvm", "balance", 100, False, {"lam": 1.0}),
    Case("mlsvm", "twonorm", 100, False, {"lam": 0.1}),
    Case("mlsvm", "waveform", 80, True, {"lam": 0.1}),
    Case("mlsvm", "rings", 90, False, {"lam": 0.1}),
    Case("kernel_mlsvm", "iris", 60, True, {"lam": 0.1, "degree": 2}),
    Case("kernel_mlsvm", "rings", 12, False, {"lam": 0.1, "kernel": "rbf", "gamma": 1.0}),
    Case("glml", "rings", None, False, {"query": [0.5, 0.5]}),
    Case("glml", "iris", None, True, {"alpha": 0.01}),
    Case("glml", "breast_cancer", 200, True, {"alpha": 0.01}),
    Case("nca", "rings", 18, False, {"criterion": "g"}),
    Case("nca", "rings", 24, True, {"criterion": "g"}),
    Case("ssvm", "iris", 24, True, {"C": 0.1}),
    Case("ssvm", "rings", 24, False, {"C": 0.5, "n_neighbors": 1}),
    Case("lmnn", "iris", 60, True, {}),
    Case("lmnn", "wine", 20, True, {"mu": 0.8, "n_neighbors": 1}),
    Case("lmnn:squared_hinge", "iris", 40, True, {}),
    Case("frobmetric", "iris", 60, True, {}),
    Case("frobmetric", "wine", 40, True, {"C": 20.0, "n_neighbors": 2}),
    Case("itml", "iris", 24, True, {"gamma": 0.5}),
    Case("itml", "wine", 20, True, {}),
    Case("mmc", "iris", 40, True, {}),
    Case("mmc", "rings", 30, False, {}),
    Case("mmc:diagonal", "wine", 30, True, {}),
    Case("dml_eig", "iris", 30, True, {}),
    Case("dml_eig", "balance", 24, False, {}),
    Case("mcml", "iris", 24, True, {}),
    Case("mcml", "rings", 20, False, {}),
)


@dataclass(frozen=True)
class Row:
    """What one case gave."""

    method: str
    data: str
    shape: tuple[int, int]
    params: str
    objective: float  # of the fast solver
    rel_gaps: dict[str, float]  # by solver; of the scale
    seconds: dict[str, float]
    verdicts: dict[str, str]  # of `check` on the metric each solver returned
    agrees: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def verify(say: Callable[[str], None] = lambda text: None, cases: tuple[Case, ...] = CASES) -> Iterator[Row]:
    """Run one case after the other; `say` is told what is under way."""
    for k, case in enumerate(cases, start=1):
        yield _row(case, say, f"[{k}/{len(cases)}]")


def _row(case: Case, say: Callable[[str], None], place: str) -> Row:
    X, y = datasets.load(case.data)
    if case.n is not None:
        X, y = datasets.subsample(X, y, case.n)
    if case.standardized:
        X = datasets.standardize(X)
    solutions: dict[str, Solution] = {}
    seconds: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever a solver says, the certificate decides
        for solver in SOLVERS:
            say(f"{place} {case.method} on {case.data}: {solver}")
            started = time.perf_counter()
            solutions[solver] = uninterrupted(api.solve(case.method, X, y, solver=solver, **case.params))
            seconds[solver] = time.perf_counter() - started
    lists = {"neighbors": solutions["fast"].neighbors} if "neighbors" in get(case.method).PARAMETERS else {}
    verdicts = {
        solver: check(case.method, X, y, s.metric, tol=_tier(solver), **{**case.params, **lists}).verdict
        for solver, s in solutions.items()
    }
    why = _disagreement(solutions, verdicts)
    return Row(
        method=case.method,
        data=case.data + ("" if case.n is None else f"[{case.n}]") + (" z" if case.standardized else ""),
        shape=(X.shape[0], X.shape[1]),
        params=" ".join(f"{k}={v}" for k, v in case.params.items()),
        objective=solutions["fast"].objective,
        rel_gaps={k: (s.certificate.step or s.certificate).rel_gap for k, s in solutions.items()},
        seconds=seconds,
        verdicts={k: v.value for k, v in verdicts.items()},
        agrees=not why,
        why=why,
    )


def _tier(solver: str) -> str:
    # a general solver stops at its own accuracy, which a small scale magnifies
    return "normal" if solver == "fast" else "loose"


def _disagreement(solutions: dict[str, Solution], verdicts: dict[str, Verdict]) -> str:
    for solver, solution in solutions.items():
        if not solution.certificate.proves(TOLERANCES[_tier(solver)]):
            return f"{solver} is not certified"
        if verdicts[solver] is not Verdict.CERTIFIED:
            return f"check says of {solver}: {verdicts[solver].value}"
    if any(solution.certificate.step is not None for solution in solutions.values()):
        return ""
    highest = max(s.lower_bound for s in solutions.values())
    lowest = min(s.objective for s in solutions.values())
    if highest > lowest + 64 * float(np.finfo(float).eps) * (1 + abs(lowest)):
        return f"a lower bound {highest:.15g} lies above an objective {lowest:.15g}"
    return ""


HEAD = (
    "gap / scale and seconds by solver; every gap is certified by our own bound (ssvm, nca: of the last step)\n\n"
    f"{'method':<20}{'data':<22}{'n x d':>9}  {'parameters':<48}{'objective':>17}"
    + "".join(f"{solver:>17}" for solver in SOLVERS)
    + "  verdict"
)


def as_line(row: Row) -> str:
    """A row as text, below `HEAD`."""
    shape = f"{row.shape[0]} x {row.shape[1]}"
    line = f"{row.method:<20}{row.data:<22}{shape:>9}  {row.params:<48}{row.objective:>17.9g}"
    line += "".join(f"{row.rel_gaps[s]:>9.0e} {row.seconds[s]:>5.2f} s" for s in SOLVERS)
    return f"{line}  {'agree' if row.agrees else 'DISAGREE: ' + row.why}"


def as_sum(rows: list[Row]) -> str:
    """What stands below the rows."""
    agreed, normal, loose = sum(row.agrees for row in rows), TOLERANCES["normal"], TOLERANCES["loose"]
    return (
        f"\n[60]: 60 of the points; z: standardized. agree: the fast solver is certified to {normal:g}, "
        f"the others,\nwhich stop at an accuracy of their own, to {loose:g}, and no bound is above another's "
        f"objective\n\n"
        f"{agreed} of {len(rows)} cases agree: literal problem (two back ends), fast solver, certificate"
    )
