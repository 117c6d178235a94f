"""Solve examples of every method in three ways and compare: two back ends on the literal problem, and our fast solver.

The literal problem of a method is its cvxpy problem, with one line of code for each formula of the paper. The three
ways share only the data and the neighbour lists. They agree if two conditions hold. First, the certificate of each
result and `check` certify it, to the tolerance "normal" for our solver and "loose" for the back ends. Second, the
intervals [lower bound, objective] have a common point up to rounding. If a method is not convex, the results may
differ; then each must be certified stationary, and the second condition is left out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from cvxml import api, datasets
from cvxml.core.example import Example
from cvxml.core.metric import EPS
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution
from cvxml.core.tolerance import TOLERANCES, Tolerance
from cvxml.methods import get, names
from cvxml.oracle.asked import uninterrupted
from cvxml.oracle.check import check

SOLVERS = ("clarabel", "scs", "fast")
LONGEST = 20  # most characters of a parameter in the table


class Case(NamedTuple):
    """A method and one of the small problems that it lists as examples, for one row of the table."""

    method: str
    example: Example


def cases() -> list[Case]:
    return [Case(name, each) for name in names() for each in get(name).EXAMPLES if each.use == "verified"]


def cases_of(methods: Sequence[str]) -> list[Case]:
    """Return the cases of the methods with these ids and of their variants. "mmc" also selects "mmc:diagonal".

    Raises ValueError for an unknown id.
    """
    ids = {get(method).id for method in methods}
    return [case for case in cases() if case.method in ids or case.method.split(":")[0] in ids]


@dataclass(frozen=True)
class Row:
    """The result of one case.

    data, params: the points and the parameters, as text. shape: (n, d) of the points. objective: that of the fast
    solver.

    rel_gaps, seconds, verdicts: by solver; a verdict is that of `check` on the solver's metric. agrees: the results
    agree (module docstring). why: the reason if they do not.
    """

    method: str
    data: str
    shape: tuple[int, int]
    params: str
    objective: float  # of the fast solver
    rel_gaps: dict[str, float]  # by solver; relative to the scale
    seconds: dict[str, float]
    verdicts: dict[str, str]  # by solver: the verdict of `check` on its metric
    agrees: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def verify(
    say: Callable[[str], None] = lambda text: None,
    chosen: Sequence[Case] | None = None,
    solvers: Sequence[str] = SOLVERS,
) -> Iterator[Row]:
    """Run the cases one after the other and yield a Row for each.

    say: called with a line of text before each solve. chosen: the cases to run; None: those of all methods.

    solvers: some of `SOLVERS`; "fast" must be among them. A solver is left out for methods that do not have it.
    """
    run = cases() if chosen is None else chosen
    for k, case in enumerate(run, start=1):
        yield _row(case, say, f"[{k}/{len(run)}]", solvers)


def _row(case: Case, say: Callable[[str], None], place: str, solvers: Sequence[str]) -> Row:
    (points, _, params), (X, y) = case.example, datasets.of_example(case.example)
    solutions: dict[str, Solution] = {}
    seconds: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the certificates show if a solver did not converge
        for solver in [name for name in solvers if name in get(case.method).SOLVERS]:
            say(f"{place} {case.method} on {points}: {solver}")
            started = time.perf_counter()
            solutions[solver] = uninterrupted(api.solve(case.method, X, y, solver=solver, **params))
            seconds[solver] = time.perf_counter() - started
    lists = {"neighbors": solutions["fast"].neighbors} if "neighbors" in get(case.method).PARAMETERS else {}
    verdicts = {
        solver: check(case.method, X, y, s.metric, tol=_tier(solver), **{**params, **lists}).verdict
        for solver, s in solutions.items()
    }
    why = _disagreement(solutions, verdicts)
    return Row(
        method=case.method,
        data=str(points),
        shape=(X.shape[0], X.shape[1]),
        params=" ".join(f"{k}={_short(v)}" for k, v in params.items()),
        objective=solutions["fast"].objective,
        rel_gaps={k: _rel_gap(s.certificate) for k, s in solutions.items()},
        seconds=seconds,
        verdicts={k: v.value for k, v in verdicts.items()},
        agrees=not why,
        why=why,
    )


def _rel_gap(proof: Certificate) -> float:
    """Return the relative gap of a convex problem or of the convex step; without a step, the first-order residual."""
    if proof.step is None and proof.stationarity is not None:
        return proof.stationarity.relative
    return (proof.step or proof).rel_gap


def _short(value: Any) -> str:
    return text if len(text := str(value)) <= LONGEST else "..."


def _tier(solver: str) -> Tolerance:
    # a general solver stops at an absolute accuracy of its own, which is worse relative to a small scale
    return "normal" if solver == "fast" else "loose"


def _disagreement(solutions: dict[str, Solution], verdicts: dict[str, Verdict]) -> str:
    for solver, solution in solutions.items():
        if not solution.certificate.proves(_tier(solver)):
            return f"{solver} is not certified"
        if verdicts[solver] is not Verdict.CERTIFIED:
            return f"check says of {solver}: {verdicts[solver].value}"
    if any(solution.certificate.step is not None for solution in solutions.values()):
        return ""
    highest = max(s.lower_bound for s in solutions.values())
    lowest = min(s.objective for s in solutions.values())
    if highest > lowest + 64 * EPS * (1 + abs(lowest)):
        return f"a lower bound {highest:.15g} lies above an objective {lowest:.15g}"
    return ""


HEAD = (
    "Relative gap and seconds by solver. Our own lower bound certifies every gap. For ssvm and nca it is\n"
    "the gap of the last convex step; for mlkr, the distance from a stationary metric.\n\n"
    f"{'method':<19}{'data':<21}{'n x d':>8}" + "".join(f"{solver:>14}" for solver in SOLVERS) + "  verdict"
)


def as_line(row: Row) -> str:
    """Return a row as text, in the columns of `HEAD`."""
    shape = f"{row.shape[0]} x {row.shape[1]}"
    line = f"{row.method:<19}{row.data:<21}{shape:>8}"
    line += "".join(
        f"{row.rel_gaps[s]:>7.0e} {row.seconds[s]:>4.1f} s" if s in row.seconds else f"{'-':>14}"
        for s in SOLVERS
    )
    return f"{line}  {_verdict(row)}"


def _verdict(row: Row) -> str:
    if not row.agrees:
        return f"DISAGREE: {row.why}"
    return "agree" if len(row.verdicts) > 1 else "alone"


def as_sum(rows: list[Row]) -> str:
    """Return the text below the table: it explains the columns and counts the cases that agree."""
    compared = [row for row in rows if len(row.verdicts) > 1 or not row.agrees]
    agreed, normal, loose = sum(row.agrees for row in compared), TOLERANCES["normal"], TOLERANCES["loose"]
    alone = len(rows) - len(compared)
    beside = f"; {alone} certified, with no other solver" if alone else ""
    return (
        f"\n[60]: 60 of the points; z: standardized. Parameters and objectives: --json.\n"
        f"agree: the fast solver is certified to {normal:g}, the others to {loose:g}, and no lower bound exceeds\n"
        f"an objective. ssvm and nca are not convex: there each metric is certified stationary, and the\n"
        f"bounds are not compared. alone: the fast solver is certified, and there is no other solver.\n\n"
        f"{agreed} of {len(compared)} cases agree: literal problem (two back ends), fast solver, certificate{beside}"
    )
