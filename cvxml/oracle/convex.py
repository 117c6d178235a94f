"""Judge a metric, or a claimed optimal objective, of a convex problem. The rules are in convex_rules.py.

The fast solver gives dual variables and a metric of our own. The method's certificate turns the dual variables into a
lower bound. If our metric is better than the candidate, it is the witness that refutes the candidate. A ruling is a
verdict with its reasons. A misreading is another problem that a program may solve by mistake; diagnose.py searches for
one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

from cvxml.core.exact import Unproved, nearest
from cvxml.core.report import Report, Verdict, Witness
from cvxml.core.result import Certificate, Solution, Status
from cvxml.core.tolerance import TOLERANCES
from cvxml.oracle.asked import LATE, Asked
from cvxml.oracle.convex_rules import (
    CLOSE_METRIC,
    REVISIONS,
    VALUE,
    OnMetric,
    OnValue,
    Ruled,
    judge_metric,
)
from cvxml.oracle.diagnose import Diagnosis, diagnose, not_tried, unnamed
from cvxml.oracle.exactly import judge_exactly
from cvxml.oracle.judged import judged_of
from cvxml.oracle.reference import Reference
from cvxml.oracle.reference import reference as beside
from cvxml.oracle.rules import Ruling, decide


def check_convex(asked: Asked) -> Report:
    began = time.process_time()
    known = _reference(asked)
    seconds = time.process_time() - began
    reference, proof = known.solution, None
    ties, scale = asked.module.ties(asked.given), known.solution.certificate.scale
    ruled, diagnosis = None, Diagnosis()
    if asked.candidate is not None:
        proof = asked.module.certify(asked.given, asked.candidate, reference.dual)
        scale = proof.scale if asked.module.SCALE == "candidate" else scale
        ruled = _rule(asked, OnMetric(proof, reference, scale, asked.tol, ties, asked.lists))
        if _may_be_misread(ruled) and asked.diagnosed and not asked.late:
            diagnosis = diagnose(asked, known, seconds)
    ruling = None if ruled is None else ruled.ruling
    if ruled is not None and not diagnosis.found:
        ruling = decide((CLOSE_METRIC,), ruled) or ruling
    if asked.value is not None:
        value = OnValue(asked.value, asked.tol, proof, reference, scale, ties, asked.lists)
        ruling = _with_value(ruling, decide(VALUE, value))
    assert ruling is not None
    if reference.status is Status.TIME_LIMIT and ruling.verdict is Verdict.INCONCLUSIVE:
        ruling = ruling._replace(reasons=(*ruling.reasons, LATE))
    report = _report(asked, ruling, reference, scale, ruled, diagnosis)
    if ruled is None:
        return report
    notes = (*report.notes, *_notes(ruled, ruling.verdict, diagnosis))
    return replace(report, notes=notes, judged=judged_of(asked, ruled.facts.proof, reference.metric))


def _reference(asked: Asked) -> Reference:
    """Return our own solution of the problem.

    If an objective is claimed, the problem is solved tightly, because the objective is compared with our bounds.
    """
    judged = asked.candidate if asked.value is None else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # if our solution is not tight, the verdict reports it
        return beside(
            asked.module, asked.given, judged, asked.tol, time_limit=asked.left, callback=asked.callback
        )


def _rule(asked: Asked, facts: OnMetric) -> Ruled:
    """Judge the metric in double precision, and also in exact arithmetic if the user asked for it.

    The last step replaces a ruling that claims more than is proved (`REVISIONS`). facts: the certificate of the metric
    and our own solution.
    """
    ruled = Ruled(asked, facts, judge_metric(facts))
    if asked.exact and _may_be_judged_exactly(facts, ruled.ruling.verdict):
        ruled = _exactly(ruled)
    return ruled._replace(ruling=decide(REVISIONS, ruled) or ruled.ruling)


def _may_be_judged_exactly(facts: OnMetric, verdict: Verdict) -> bool:
    """Return True if the verdict may be decided in exact arithmetic.

    It is False for a matrix that is not a metric, and for a verdict that may change with the order of tied neighbours.
    """
    return facts.proof.feasibility.feasible and not (facts.ties and verdict is not Verdict.CERTIFIED)


def _exactly(in_floats: Ruled) -> Ruled:
    """Return the ruling in exact arithmetic, with the exact interval of the candidate.

    in_floats: the ruling in double precision. If exact arithmetic finds no proof, a refutation in double precision
    stands; any other ruling becomes inconclusive.
    """
    asked = in_floats.asked
    assert asked.candidate is not None
    try:
        found = judge_exactly(asked, asked.candidate, in_floats.facts.reference)
    except Unproved as error:
        if in_floats.ruling.verdict is Verdict.REFUTED:
            return in_floats
        return in_floats._replace(ruling=Ruling(Verdict.INCONCLUSIVE, (str(error),)))
    ruling = Ruling(found.verdict, (found.reason,))
    return in_floats._replace(ruling=ruling, exact=found.interval, better_by=found.better_by)


def _may_be_misread(ruled: Ruled) -> bool:
    """Return True if a misreading may explain the metric, so that a search for one is useful.

    This holds for a refuted metric, and for an inconclusive one if a tie may be the cause. A wrong claimed objective
    does not count, because it gives no information about the metric.
    """
    open_tie = ruled.facts.ties and not ruled.facts.proof.undecided
    verdict = ruled.ruling.verdict
    return verdict is Verdict.REFUTED or bool(open_tie and verdict is Verdict.INCONCLUSIVE)


def _with_value(metric: Ruling | None, value: Ruling | None) -> Ruling | None:
    """Return the ruling on the claimed objective, or the ruling on the metric if there is none on the objective.

    metric, value: the two rulings; None if both are None. If the metric is refuted or close, or if the ruling on the
    objective is inconclusive, the reasons about the metric are put in front.
    """
    if metric is None or value is None:
        return value or metric
    refuted = metric.verdict in (Verdict.REFUTED, Verdict.CLOSE)
    kept = metric.reasons if refuted or value.verdict is Verdict.INCONCLUSIVE else ()
    return value._replace(reasons=(*kept, *value.reasons))


def _notes(ruled: Ruled, verdict: Verdict, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield notes for the report of a metric.

    A note may name a looser tolerance at which the metric is certified, say that no misreading was named, or list the
    parts of the search for misreadings that were left out.
    """
    if verdict in (Verdict.REFUTED, Verdict.CLOSE):
        yield from _looser(ruled.facts)
    if _may_be_misread(ruled) and ruled.asked.diagnosed and not diagnosis.named:
        yield unnamed(ruled.asked, diagnosis)
    if diagnosis.left_out and not diagnosis.named and not ruled.asked.late:
        yield not_tried(diagnosis.left_out)


def _looser(facts: OnMetric) -> Iterator[str]:
    """Yield a note if the metric is certified only at a named tolerance that is looser than the user's.

    The note gives the strictest such tolerance. The names are "strict", "normal" and "loose" (`TOLERANCES`).
    """
    if judge_metric(facts).verdict is Verdict.CERTIFIED:  # only a claimed objective is refuted
        return
    for name, tol in TOLERANCES.items():
        if tol > facts.tol and judge_metric(facts._replace(tol=tol)).verdict is Verdict.CERTIFIED:
            yield f"at the tolerance {name} ({tol:g}) the metric is certified: it is near the optimum, not optimal"
            return


def _witness(asked: Asked, verdict: Verdict, reference: Solution, ruled: Ruled | None) -> Witness | None:
    """Return our metric as a witness of a refutation, or None if it is not proved to be better.

    Our metric need not be better if the refuted matrix is not a metric, or if the claimed objective is below the
    optimum. An improvement that the errors of the two objectives can explain does not count. ruled: the ruling on the
    metric; None if only an objective was claimed.
    """
    if verdict not in (Verdict.REFUTED, Verdict.CLOSE):
        return None
    if ruled is None:
        assert asked.value is not None
        better_by, error = asked.value - reference.objective, reference.certificate.rounding
    elif ruled.better_by > 0:
        better_by, error = nearest(ruled.better_by), 0.0
    else:
        better_by = ruled.facts.better_by
        error = ruled.facts.proof.rounding + reference.certificate.rounding + ruled.above
    return Witness(reference.objective, better_by, reference.metric) if better_by > error else None


def _report(
    asked: Asked,
    ruling: Ruling,
    reference: Solution,
    scale: float,
    ruled: Ruled | None,
    diagnosis: Diagnosis,
) -> Report:
    report = Report(
        method=asked.method,
        verdict=ruling.verdict,
        claim=asked.claim,
        tol=asked.tol,
        reasons=ruling.reasons,
        lower_bound=reference.lower_bound,
        scale=scale,
        reference_objective=reference.objective,
        claimed_objective=asked.value,
        witness=_witness(asked, ruling.verdict, reference, ruled),
        diagnosis=diagnosis.named,
        nearest=diagnosis.nearest,
        notes=reference.notes,
    )
    if ruled is None:
        return report
    proof: Certificate = ruled.facts.proof
    return replace(
        report,
        objective=proof.objective,
        gap=proof.gap,
        rel_gap=ruled.facts.rel_gap,
        rounding=proof.rounding,
        radius=proof.radius,
        feasibility=proof.feasibility,
        exact=ruled.exact,
    )
