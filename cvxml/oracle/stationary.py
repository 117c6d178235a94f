"""Judge a metric of a method that is not convex.

The convex step of the method at the candidate is a convex problem with an objective that is at least that of the
method, and equal to it at the candidate. Our solver solves this step, and descends from there. The repaired dual
variables bound the gain of the step from above. If this bound is small, the candidate is stationary. If the descent
leads to a clearly better metric, that metric is the witness that refutes the candidate. A refuted metric is close if
both the step and the descent gain at most `CLOSE` of the scale.

The claim "optimal" is refuted by a better metric from our own starts. Its proof needs a lower bound of F over all
metrics, where F is the objective of the method. For tiny problems, branch and bound (`StationaryMethod.enumerated`)
gives such a bound.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import NamedTuple

from cvxml.core.clock import finishing, limited
from cvxml.core.exact import Exact, upward
from cvxml.core.metric import FloatArray, examine
from cvxml.core.report import Report, Verdict, Witness
from cvxml.core.result import Certificate
from cvxml.methods import get, get_stationary
from cvxml.oracle.asked import LATE, Asked, uninterrupted
from cvxml.oracle.convex_rules import CLOSE
from cvxml.oracle.diagnose import Diagnosis, diagnose, not_tried, unnamed
from cvxml.oracle.exactly import OF_ROOT, not_for, too_rough

LOOSE = 1e-3  # relative to the scale: larger rounding is too much at any tolerance


class StationaryJudgement(NamedTuple):
    """A verdict with its reasons, the certificates it rests on, and the better metric if one was found.

    proof: the certificate of the candidate. ours: that of our own metric, from the step and the descent or from our own
    starts. witness: our metric, if it is clearly better.

    bound: a lower bound of the objective over all metrics, if one was computed. stationary: True if the candidate is
    stationary and only the claim "optimal" is refuted.

    exact: the interval of the step in exact arithmetic, if `check` was asked for it. share: an upper bound of the gain
    of the step, relative to the scale; inf if it is not known.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    proof: Certificate
    ours: Certificate  # of our metric: the result of the step and the descent, or of our own starts
    witness: Witness | None
    bound: float | None = None  # lower bound of the objective over all metrics, if one was computed
    stationary: bool = False
    exact: Exact | None = None  # the exact interval of the step
    share: float = math.inf  # upper bound of the gain of the step, relative to the scale


def check_stationary(asked: Asked) -> Report:
    """Return the report on the candidate, the metric that the user gave. asked: the checked arguments of `check`.

    Raises ValueError without a metric, because a claimed objective alone cannot be judged if the problem is not convex.
    """
    method, candidate, tol = asked.method, asked.candidate, asked.tol
    if candidate is None:
        raise ValueError(
            f"{method} is not convex: a claimed objective alone cannot be judged, give the metric too"
        )
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # if our solution is not tight, the verdict reports it
        judged = _judge(asked, candidate)
    seconds = time.process_time() - began
    verdict, reasons, proof, ours, witness, bound = judged[:6]
    diagnosis = Diagnosis()
    undiagnosed: tuple[str, ...] = ()
    # A stationary metric solves the right problem: no misreading is looked for.
    if verdict is Verdict.REFUTED and not judged.stationary:
        looked_for = asked.diagnosed and not asked.late
        diagnosis = diagnose(asked, seconds=seconds) if looked_for else diagnosis
        if not diagnosis.found and _is_close(asked, judged):
            verdict, reasons = Verdict.CLOSE, (*reasons, _close(judged, looked_for))
        if not diagnosis.named and asked.diagnosed:
            undiagnosed = (unnamed(asked, diagnosis),)
        if diagnosis.left_out and not diagnosis.named and not asked.late:
            undiagnosed = (*undiagnosed, not_tried(diagnosis.left_out))
    if asked.value is not None:
        allowed = tol * _scale(method, proof, judged.ours) + proof.rounding
        if abs(asked.value - proof.objective) > allowed:
            verdict = Verdict.REFUTED
            wrong = f"the claimed objective {asked.value:.12g} is not the metric's, {proof.objective:.12g}"
            reasons = (*(reasons if judged.verdict is Verdict.REFUTED else ()), wrong)
    lower_bound, psd = proof.lower_bound if bound is None else bound, examine(candidate)[0]
    gap, scale = proof.objective - lower_bound, _scale(method, proof, ours)
    return Report(
        method=method,
        verdict=verdict,
        claim=asked.claim,
        tol=tol,
        reasons=reasons,
        lower_bound=lower_bound,
        scale=scale,
        reference_objective=ours.objective,
        objective=proof.objective,
        gap=gap,
        rel_gap=gap / scale if scale > 0 else 0.0 if gap <= 0 else math.inf,
        rounding=proof.rounding,
        feasibility=proof.feasibility,
        claimed_objective=asked.value,
        step_lower_bound=None if proof.step is None else proof.step.lower_bound,
        step_gap=None if proof.step is None else proof.step.gap,
        stationarity=proof.stationarity,
        witness=witness,
        diagnosis=diagnosis.named,
        nearest=diagnosis.nearest,
        exact=judged.exact,
        notes=(
            f"the gap is the distance to the bound F >= {lower_bound:.6g}; the verdict is about stationarity"
            if bound is None
            else "the lower bound holds for the whole problem",
            *(line for line in get_stationary(method).remarks(asked.given, psd) if line not in reasons),
            *undiagnosed,
        ),
    )


def _judge(asked: Asked, candidate: FloatArray) -> StationaryJudgement:
    method, given, tol = asked.method, asked.given, asked.tol
    module = get_stationary(method)
    psd, _ = examine(candidate)
    with limited(asked.left or math.inf, LATE) as deadline:
        better, dual = module.improve(given, psd, tol=tol / 10)
    with finishing(deadline, LATE):
        proof = module.certify(given, candidate, dual)
        ours = module.certify(given, better, dual)
    if not ours.objective < proof.objective:  # because of rounding, our metric may be worse
        better, ours = psd, proof
    if not proof.feasibility.feasible:
        return StationaryJudgement(
            Verdict.REFUTED, (f"not a metric of this method: {proof.feasibility}",), proof, ours, None
        )
    # `own` limits the gain of the candidate's step, and contains its rounding only. `allowed` limits the difference of
    # the two objectives, and contains the rounding of both.
    judged = proof.step or proof
    own = tol * _scale(method, proof, ours) + judged.rounding
    allowed = tol * _scale(method, proof, ours) + proof.rounding + ours.rounding
    won = proof.objective - ours.objective
    if not math.isfinite(proof.objective) and math.isfinite(ours.objective):
        why = f"its objective overflows; there is a metric with {ours.objective:.6g}"
        return StationaryJudgement(Verdict.REFUTED, (why,), proof, ours, Witness(ours.objective, won, better))
    left, name = _remaining_gain(proof)
    proved = left <= own and proof.decides(tol)
    interval, unproved = None, ""
    if asked.exact:
        interval = module.exact(given, candidate, dual)
        scale = _scale(method, proof, ours)
        if module.SCALE == "candidate":  # the scale in double precision may consist of rounding errors only
            scale = min(scale, -upward(-interval.scale))
        own = tol * scale
        left, name = upward(interval.gap), f"in exact arithmetic, its {interval.step}"
        unproved = _not_exact(interval, proof, own, scale)
        proved = left <= own and not unproved
    found = _verdict(asked, psd, proof, ours, better, (left, name, own, allowed), proved, unproved)
    scale = _scale(method, proof, ours)
    beyond = 0.0 if asked.exact else judged.rounding
    return found._replace(exact=interval, share=(left + beyond) / scale if scale > 0 else math.inf)


def _not_exact(interval: Exact, proof: Certificate, own: float, scale: float) -> str:
    """Return why the exact `interval` of M M^T decides nothing on the candidate, as a sentence; empty if it decides.

    M M^T is the psd matrix next to the candidate that exact arithmetic judges (exactly.py). proof: the certificate of
    the candidate. own: the largest gain of its step that is allowed.

    scale: the scale of the problem. If it is 0, the gap of the interval must be exactly 0, and M M^T must be exactly
    the candidate.
    """
    if scale > 0:
        # if rounding is large, double precision cannot show that M M^T and the given matrix agree
        rough = "" if proof.rounding <= LOOSE * scale else too_rough(proof.rounding, LOOSE * scale)
        return not_for(interval, proof, own) or rough
    if interval.gap == 0 and interval.distance == 0:
        return ""
    return (
        f"{OF_ROOT}; the scale is {scale:.3g}, so the proof needs a gap of 0 and a distance of 0: "
        f"the gap is {upward(interval.gap):.3g}, the distance may be {interval.distance:.3g}"
    )


def _is_close(asked: Asked, judged: StationaryJudgement) -> bool:
    """Return True if the claim is "stationary", and the step and the descent both gain at most `CLOSE` of the scale.

    A small gain of the step alone is not enough. If the rank of the metric is limited, this gain is measured by first
    derivatives. Near the zero metric these may be small, while the descent gains much.
    """
    if asked.claim != "stationary" or not judged.share <= CLOSE:
        return False
    won = 0.0 if judged.witness is None else judged.witness.better_by
    return won <= CLOSE * _scale(asked.method, judged.proof, judged.ours)


def _close(judged: StationaryJudgement, looked_for: bool) -> str:
    share = f"at most {100 * judged.share:.2g} % of the scale"
    what = f"close to stationary: {_remaining_gain(judged.proof)[1]} gains {share}"
    if judged.proof.claim == "optimal":
        what = f"close to optimal: the gap is {share}"
    unsought = "" if looked_for else "; misreadings were not tried"
    return f"{what}. Either the run stopped early, or its problem differs slightly from this one{unsought}"


def _verdict(
    asked: Asked,
    psd: FloatArray,
    proof: Certificate,
    ours: Certificate,
    better: FloatArray,
    figures: tuple[float, str, float, float],
    proved: bool,
    unproved: str,
) -> StationaryJudgement:
    """Return the verdict on the candidate from `proof`, its certificate, and `ours`, that of our metric `better`.

    psd: the candidate, or the nearest psd matrix.

    figures: the gain that is still possible; the name of the step or gradient for it; the limit for this gain; the
    limit for a difference of two objectives.

    proved: True if it is proved that the gain is within its limit. unproved: in exact mode, why the exact interval does
    not decide, as a sentence.
    """
    left, name, own, allowed = figures
    rounding = 0.0 if asked.exact else (proof.step or proof).rounding
    but = "" if asked.exact else f" (rounding error at most {rounding:.3g})"
    won = proof.objective - ours.objective
    witness = Witness(ours.objective, won, better) if won > allowed else None
    improvable = f"descent from it reaches a metric that is better by {won:.6g}; allowed is {allowed:.3g}"
    if not proved and witness is not None:
        return StationaryJudgement(Verdict.REFUTED, (f"improvable: {improvable}",), proof, ours, witness)
    if not proved and left <= own and asked.exact:
        return StationaryJudgement(Verdict.INCONCLUSIVE, (unproved,), proof, ours, None)
    if not proved and proof.undecided and not asked.exact:
        said = get_stationary(asked.method).remarks(asked.given, psd)
        return StationaryJudgement(Verdict.INCONCLUSIVE, (proof.undecided, *said), proof, ours, None)
    if not proved and left <= own:
        larger = "; try a larger tol" if own > rounding else ""  # a tolerance is relative to the scale
        why = (
            f"double precision cannot decide at this tol: the rounding error may be {rounding:.3g}, "
            f"allowed is {own:.3g}{larger}"
        )
        return StationaryJudgement(Verdict.INCONCLUSIVE, (why,), proof, ours, None)
    if not proved:
        why = f"{name} could still gain {left:.3g}, allowed is {own:.3g}; we found no better metric"
        late = (LATE,) if asked.late else ()
        return StationaryJudgement(
            Verdict.INCONCLUSIVE,
            (why, *late, *get_stationary(asked.method).remarks(asked.given, psd)),
            proof,
            ours,
            None,
        )
    if proof.claim == "optimal":
        why = f"optimal: the problem is convex here, and the gap is at most {left:.3g}{but}"
        reason = f"{why}; allowed is {own:.3g}"
        return StationaryJudgement(Verdict.CERTIFIED, (reason,), proof, ours, None, proof.lower_bound)
    stationary = f"stationary: {name} is certified to gain at most {left:.3g}{but}, allowed is {own:.3g}"
    if asked.claim == "stationary":
        reasons = (stationary, f"yet {improvable}") if witness is not None else (stationary,)
        return StationaryJudgement(Verdict.CERTIFIED, reasons, proof, ours, None)
    if witness is not None:
        return StationaryJudgement(
            Verdict.REFUTED, (stationary, improvable), proof, ours, witness, stationary=True
        )
    return _judge_optimal(asked, proof, ours, stationary)


def _scale(method: str, proof: Certificate, ours: Certificate) -> float:
    """Return the scale for relative tolerances: that of the candidate or that of our metric, as the method defines.

    proof, ours: the certificates of the two metrics.
    """
    return (proof if get(method).SCALE == "candidate" else ours).scale


def _remaining_gain(proof: Certificate) -> tuple[float, str]:
    """Return an upper bound of the gain that is still possible, and the name of the step or gradient with this gain.

    proof: the certificate of the candidate.
    """
    if proof.step is None and proof.stationarity is not None and proof.claim == "stationary":
        found = proof.stationarity
        return max(found.gradient, found.dc_residual), "to first order, its gradient"
    judged = proof.step or proof
    if proof.step is not None and judged.gap >= proof.gap > 0:
        return judged.gap, "its convex step (not certified)"
    return judged.gap, "its convex step"


def _judge_optimal(
    asked: Asked, proof: Certificate, ours: Certificate, stationary: str
) -> StationaryJudgement:
    """Return the judgement of a stationary metric with the claim "optimal".

    The metric is compared with the best metric from our own starts and, for a tiny problem, with a lower bound over all
    metrics. It is refuted if one of our metrics is clearly better, and certified if a lower bound proves it optimal.

    proof: the certificate of the judged metric. ours: the certificate of our own metric after the descent. stationary:
    the sentence that says why the metric is stationary.
    """
    module, tol = get_stationary(asked.method), asked.tol
    found = module.solve(
        asked.given, tol=tol / 10, init=list(module.STARTS), time_limit=asked.left, callback=asked.callback
    )
    best = uninterrupted(found)
    known = None if asked.late else module.enumerated(asked.given, tol=tol / 10, time_limit=asked.left)
    if known is not None and uninterrupted(known).objective < best.objective:
        best = known
    bound = None if known is None else known.lower_bound
    scale = _scale(asked.method, proof, best.certificate)
    beyond = tol * scale + proof.rounding
    allowed = beyond + best.certificate.rounding
    won = proof.objective - best.objective
    if won > allowed:
        by = "another start leads to" if best is not known else "branch and bound finds"
        why = f"{by} a metric that is better by {won:.6g}; allowed is {allowed:.3g}"
        witness = Witness(best.objective, won, best.metric)
        return StationaryJudgement(
            Verdict.REFUTED, (stationary, why), proof, best.certificate, witness, bound, True
        )
    # if the optimum is 0, the scale is 0, and only the zero metric is optimal
    has_scale = scale > 0 or not (asked.candidate is not None and asked.candidate.any())
    if bound is not None and has_scale and proof.objective - bound <= beyond:
        why = (
            f"optimal: branch and bound proves a gap of at most {proof.objective - bound:.3g}; "
            f"allowed is {beyond:.3g}"
        )
        return StationaryJudgement(Verdict.CERTIFIED, (stationary, why), proof, best.certificate, None, bound)
    if proof.objective - proof.lower_bound <= beyond and not proof.undecided:
        why = f"optimal: F >= {proof.lower_bound:.6g} for every metric, and F = {proof.objective:.6g} here"
        return StationaryJudgement(Verdict.CERTIFIED, (why,), proof, ours, None)
    late = (LATE,) if asked.late else ()
    tried = "that was tried" if late else f"({', '.join(module.STARTS)})"
    why = f"our starts {tried} lead to no clearly better metric; this is not a proof"
    if bound is not None:
        why = f"branch and bound proves only F >= {bound:.12g}, and finds no clearly better metric"
    return StationaryJudgement(Verdict.INCONCLUSIVE, (stationary, why, *late), proof, ours, None, bound)
