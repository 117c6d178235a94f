"""Combine the reports on local metrics into one report.

A method such as "glml" learns one local metric for each query point. `check` judges them one by one.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cvxml.core.report import Report, Verdict

SHOWN = 20  # most queries with their reasons in the report


def of_all(reports: list[Report]) -> Report:
    """Return one report on all queries, with their worst verdict (in order: refuted, close, inconclusive, certified).

    Objectives, bounds and gaps are sums over the queries. rel_gap is the largest one. The radius, which bounds the
    distance to the optimum, is the square root of the sum of squares. Notes and diagnoses are joined; `exact` and
    `judged` are None. The reasons count the verdicts and list the queries that are not certified. All other fields are
    those of the query with the worst verdict. If it has a witness (a better metric), a note names this query.
    """
    order = {Verdict.REFUTED: 3, Verdict.CLOSE: 2, Verdict.INCONCLUSIVE: 1, Verdict.CERTIFIED: 0}
    worst = max(reports, key=lambda report: (order[report.verdict], report.rel_gap or 0.0))
    counts = ", ".join(
        f"{sum(report.verdict is verdict for report in reports)} {verdict.value}" for verdict in Verdict
    )
    said = [
        f"query {i}: {report.verdict.value}: {'; '.join(report.reasons)}"
        for i, report in enumerate(reports)
        if report.verdict is not Verdict.CERTIFIED
    ]
    of_one = () if worst.witness is None else (f"the better metric is for query {reports.index(worst)}",)
    more = [f"and {len(said) - SHOWN} more queries"] if len(said) > SHOWN else []
    return replace(
        worst,
        reasons=(f"{len(reports)} queries: {counts}", *said[:SHOWN], *more),
        lower_bound=math.fsum(report.lower_bound for report in reports),
        scale=math.fsum(report.scale for report in reports),
        reference_objective=math.fsum(report.reference_objective for report in reports),
        objective=math.fsum(report.objective or 0.0 for report in reports),
        gap=math.fsum(report.gap or 0.0 for report in reports),
        rel_gap=max(report.rel_gap or 0.0 for report in reports),
        rounding=math.fsum(report.rounding for report in reports),
        radius=math.hypot(*(math.inf if report.radius is None else report.radius for report in reports)),
        exact=None,  # an interval of one query does not hold for the sum
        judged=None,
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)) + of_one,
        diagnosis=tuple(dict.fromkeys(line for report in reports for line in report.diagnosis)),
    )
