"""Measured gaps of a plain first-order program (projected gradient descent) on the golden cases.

`conform` shows them beside an answer that may be unconverged. `first_order.csv` holds the measured gaps.
validation/cases/first_order.py measures them and describes the program.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from cvxml.core.report import Report, Verdict
from cvxml.oracle.cases import Case
from cvxml.oracle.convex_rules import CLOSE

STEPS = (100, 1_000)
TABLE = Path(__file__).parent / "first_order.csv"


class Measured(NamedTuple):
    """A row of the table: the digest of a case's inputs, and the relative gap after each number of steps in `STEPS`."""

    inputs: str
    gaps: tuple[float, ...]


def digest(inputs: dict[str, Any]) -> str:
    """Return a short hash of the inputs, so that a gap is reported only for the inputs that it was measured on."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:12]


def table() -> dict[str, Measured]:
    """Return the rows of `first_order.csv`, by the ids of the cases."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    _, *rows = csv.reader(lines)
    return {case: Measured(of, tuple(map(float, gaps))) for case, of, *gaps in rows}


def expected(case: Case, report: Report) -> str:
    """Return a sentence with the measured gap for an answer that may be unconverged; "" for any other answer.

    An answer may be unconverged if four conditions hold. It is refuted or close, and a better metric is known. No known
    mistake explains it or is listed as nearest. A claimed objective, if given, is the objective of the metric. Its
    relative gap is at most that of the plain program after the fewest steps. For a matrix that is not a metric, this
    gap is that of its projection.

    The result is also "" if `first_order.csv` has no gap for the inputs of the case. report: the result of `check` on
    the answer.
    """
    row = table().get(case.id)
    share = report.rel_gap
    if row is None or row.inputs != digest(case.inputs) or share is None or not _may_be_unconverged(report):
        return ""
    first, last = row.gaps[0], row.gaps[-1]
    if share > first:
        return ""
    said = (
        f"plain projected gradient descent has a relative gap of {first:.1e} on this case after {STEPS[0]:,} steps, "
        f"and of {last:.1e} after {STEPS[-1]:,}"
    )
    if last > CLOSE:
        return f"{said}; the case is too hard for this program"
    if share <= last:
        return f"{said}; an answer within that is as good as this program gets"
    return f"{said}; more steps may help"


def _may_be_unconverged(report: Report) -> bool:
    if report.verdict not in (Verdict.CLOSE, Verdict.REFUTED) or report.witness is None:
        return False
    if report.diagnosis or report.nearest or report.objective is None:
        return False
    # the gap of a matrix that is no metric is that of its projection
    if report.feasibility is not None and not report.feasibility.feasible:
        return False
    claimed = report.claimed_objective
    allowed = report.tol * report.scale + report.rounding
    return claimed is None or abs(claimed - report.objective) <= allowed
