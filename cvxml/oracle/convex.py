"""Judge a metric, or a claimed optimum, of a problem that is convex.

The fast solver provides a dual and a metric of our own; neither is believed: the dual becomes a lower bound by the
method's certificate, the metric a witness.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

from cvxml.core.exact import Exact, Unproved
from cvxml.core.metric import EPS
from cvxml.core.report import Report, Verdict, Witness
from cvxml.core.result import Certificate, Solution, Status
from cvxml.core.tolerance import TOLERANCES
from cvxml.oracle.asked import LATE, Asked
from cvxml.oracle.diagnose import Diagnosis, diagnose, unnamed
from cvxml.oracle.exactly import judge_exactly
from cvxml.oracle.judged import judged_of
from cvxml.oracle.reference import reference as beside

ABOVE = "but the objective of the candidate may be less by {:.3g} than what is computed"
CLOSE = 1e-2  # of the scale: what a program that has not arrived leaves


def check_convex(asked: Asked) -> Report:
    """The report on the metric, the claimed value, or both."""
    module, given, candidate = asked.module, asked.given, asked.candidate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a reference that is not tight shows in the verdict
        # a value is judged by the bound itself, which then is tight
        judged = candidate if asked.value is None else None
        known = beside(module, given, judged, asked.tol, time_limit=asked.left, callback=asked.callback)
    reference = known.solution
    proof = None
    if candidate is not None:
        proof = module.certify(given, candidate, reference.dual)
    ties = module.ties(given)
    scale = _scale(asked, proof, reference)
    verdict, reasons = _judge(proof, reference, scale, asked.tol, ties, asked.lists)
    exact = None
    if asked.exact and candidate is not None and _may_be_judged_exactly(proof, verdict, ties):
        try:
            verdict, reason, exact = judge_exactly(asked, candidate, reference)
            reasons = [reason]
        except Unproved as error:
            if verdict is not Verdict.REFUTED:
                verdict, reasons = Verdict.INCONCLUSIVE, [str(error)]
    if (
        verdict is Verdict.REFUTED
        and candidate is not None
        and proof is not None
        and proof.feasibility.feasible
    ):
        above = module.above(given, candidate)
        better_by = proof.gap - reference.gap
        if (
            above > 0
            and better_by - above <= asked.tol * scale + proof.rounding + reference.certificate.rounding
        ):
            verdict, reasons = (
                Verdict.INCONCLUSIVE,
                [f"our metric is better by {better_by:.3g}, {ABOVE.format(above)}"],
            )
    if verdict is Verdict.CERTIFIED and (never := module.unattained(given)):
        verdict, reasons = Verdict.INCONCLUSIVE, [f"{never}; {reasons[0]} of the infimum"]
    cut = reference.status is Status.TIME_LIMIT
    unsolved = cut or (reference.status is not Status.CONVERGED and exact is None)
    if unsolved and verdict is Verdict.CERTIFIED and proof is not None and not proof.proves(asked.tol):
        verdict, reasons = (
            Verdict.INCONCLUSIVE,
            ["the scale is that of a metric of ours which is not optimal"],
        )
    # a wrong value says nothing of how the metric came about
    open_tie = bool(proof is not None and ties and verdict is Verdict.INCONCLUSIVE and not proof.undecided)
    wrong = verdict is Verdict.REFUTED or open_tie
    diagnosis = diagnose(asked, known) if wrong and asked.diagnosed and not asked.late else Diagnosis()
    if verdict is Verdict.REFUTED and proof is not None and _is_close(proof, scale) and not any(diagnosis):
        verdict = Verdict.CLOSE
        reasons = [*reasons, _close(asked, _relative(proof, scale))]
    verdict, reasons = _judge_value(asked, proof, reference, scale, ties, verdict, reasons)
    if cut and verdict is Verdict.INCONCLUSIVE:
        reasons = [*reasons, LATE]
    report = _report(asked, verdict, reasons, reference, proof, scale, diagnosis, exact)
    notes = (
        []
        if verdict in (Verdict.CERTIFIED, Verdict.INCONCLUSIVE)
        else [*_looser(asked, proof, reference, scale, ties)]
    )
    if wrong and verdict is not Verdict.CLOSE and asked.diagnosed and not any(diagnosis):
        notes += [unnamed(asked)]
    judged_by = None if proof is None else judged_of(asked, proof, reference.metric)
    return replace(report, notes=(*report.notes, *notes), judged=judged_by)


def _close(asked: Asked, share: float) -> str:
    """The sentence of the verdict `close`. A closed form has no run that could stop early."""
    early = "the run stopped early" if asked.module.MAX_ITER > 1 else "the closed form lost digits"
    unsought = "" if asked.diagnosed else "; misreadings were not looked for"
    return (
        f"{100 * share:.2g} % of the scale above the optimum: either {early}, or it solves a slightly different "
        f"problem{unsought}"
    )


def _is_close(proof: Certificate, scale: float) -> bool:
    """True of a metric that is worse by at most `CLOSE`."""
    return proof.feasibility.feasible and scale > 0 and proof.gap + proof.rounding <= CLOSE * scale


def _looser(
    asked: Asked, proof: Certificate | None, reference: Solution, scale: float, ties: int
) -> Iterator[str]:
    """That a metric refuted at its tol would be certified at a looser one, if so."""
    for name, tol in TOLERANCES.items():
        if tol > asked.tol and _judge(proof, reference, scale, tol, ties)[0] is Verdict.CERTIFIED:
            yield f"at the tolerance {name} ({tol:g}) the metric is certified: it is near the optimum, and not at it"
            return


def _may_be_judged_exactly(proof: Certificate | None, verdict: Verdict | None, ties: int) -> bool:
    """Not what is no metric, nor what a tie may turn."""
    feasible = proof is not None and proof.feasibility.feasible
    return feasible and not (ties and verdict is not Verdict.CERTIFIED)


def _scale(asked: Asked, proof: Certificate | None, reference: Solution) -> float:
    """What a tolerance is a share of."""
    if proof is not None and asked.module.SCALE == "candidate":
        return proof.scale
    return reference.certificate.scale


def _judge(
    proof: Certificate | None,
    reference: Solution,
    scale: float,
    tol: float,
    ties: int,
    lists: str = "neighbors",
) -> tuple[Verdict | None, list[str]]:
    if proof is None:
        return None, []
    if not proof.feasibility.feasible:
        return Verdict.REFUTED, [f"not a metric: {proof.feasibility}"]
    if undecided := proof.undecided or reference.certificate.undecided:
        return Verdict.INCONCLUSIVE, [undecided]
    if math.isfinite(reference.objective) and reference.lower_bound == -math.inf:
        return Verdict.INCONCLUSIVE, ["our search found no lower bound, so no metric can be judged"]
    if not math.isfinite(reference.gap) or any(map(math.isnan, (proof.gap, proof.rounding, scale))):
        return Verdict.INCONCLUSIVE, [
            "the objective or the bound overflows in double precision: rescale the data"
        ]
    allowed = tol * scale + proof.rounding
    if scale == 0 and not reference.metric.any() and reference.certificate.proves(tol):
        verdict, reasons = _judge_beside_zero(proof)
        if verdict is not Verdict.REFUTED or not ties:
            return verdict, reasons
    if proof.gap <= allowed and not (reference.certificate.decides(tol) and proof.decides(tol)):
        return Verdict.INCONCLUSIVE, [
            f"double precision cannot decide at this tol: rounding may be {proof.rounding:.3g}, "
            f"the scale is {scale:.3g}"
        ]
    if proof.gap < -allowed:
        return Verdict.INCONCLUSIVE, [
            f"the objective is {-proof.gap:.3g} below our bound: one of the two is wrong, and not by rounding only"
        ]
    if proof.gap <= allowed:
        return Verdict.CERTIFIED, [f"feasible, and the gap is at most {allowed:.3g}"]
    if proof.gap - reference.gap <= allowed + reference.certificate.rounding:
        return Verdict.INCONCLUSIVE, [
            f"the bound is not tight enough: it leaves a gap of {proof.gap:.3g}, and {_beside_ours(proof, reference)}; "
            f"allowed is {allowed:.3g}"
        ]
    if ties:
        return Verdict.INCONCLUSIVE, [
            f"our metric is better by {proof.gap - reference.gap:.3g}, but {ties} neighbourhoods have a boundary "
            f"tie: give the candidate's own lists as {lists}"
        ]
    return Verdict.REFUTED, [
        f"a feasible metric is better by {proof.gap - reference.gap:.6g}; allowed is {allowed:.3g}"
    ]


def _beside_ours(proof: Certificate, reference: Solution) -> str:
    """How the metric compares with our best one, which is no proof of anything."""
    better_by = proof.gap - reference.gap
    if better_by > 0:
        return f"our best metric is better by {better_by:.3g} only"
    return (
        f"the objective of our best metric is larger by {-better_by:.3g}"
        if better_by < 0
        else "ours is as good"
    )


def _certain_scale(proof: Certificate, reference: Solution, scale: float, tol: float) -> float:
    """`scale`, or the candidate's own where that is less and our reference is not certified."""
    return scale if reference.certificate.proves(tol) else min(scale, proof.scale)


def _judge_beside_zero(proof: Certificate) -> tuple[Verdict, list[str]]:
    """The verdict where the optimum is proved to be 0: there is no scale, so that nothing but 0 is optimal."""
    norm = proof.feasibility.norm
    if norm == 0:
        return Verdict.CERTIFIED, ["the optimum is the zero matrix, exactly, and so is the metric"]
    said = (
        "the optimum is the zero matrix, exactly, so that there is no scale of which an error could be a share: "
        f"the metric has norm {norm:.3g}"
    )
    if proof.gap <= proof.rounding:
        return Verdict.INCONCLUSIVE, [f"{said}, too small to be told from 0 by its objective; give 0 itself"]
    return Verdict.REFUTED, [f"{said}, and an objective above the optimum by {proof.gap:.3g}"]


def _judge_value(
    asked: Asked,
    proof: Certificate | None,
    reference: Solution,
    scale: float,
    ties: int,
    verdict: Verdict | None,
    reasons: list[str],
) -> tuple[Verdict, list[str]]:
    value, tol = asked.value, asked.tol
    if value is None:
        assert verdict is not None
        return verdict, reasons
    bound, best = reference.lower_bound, reference.objective
    proofs = [reference.certificate, *([proof] if proof is not None else [])]
    rounding = max(64 * EPS * abs(best), *(max(p.rounding, p.value_rounding) for p in proofs))
    interval = f"[{bound - rounding:.12g}, {best + rounding:.12g}]"
    allowed = tol * scale + rounding
    # as near as that to the optimum, wherever it lies
    near = best - allowed <= value <= bound + allowed
    if value < bound - allowed:
        wrong = f"the claimed objective {value:.12g} is below the certified lower bound {bound:.12g}"
    elif (
        proof is not None
        and abs(value - proof.objective) > tol * _certain_scale(proof, reference, scale, tol) + rounding
    ):
        wrong = f"the claimed objective {value:.12g} is not the metric's, {proof.objective:.12g}"
    elif proof is None and value > best + allowed:
        wrong = f"the claimed optimum {value:.12g} is above the objective {best:.12g} of a feasible metric"
    elif proof is None and not (near and reference.certificate.proves(tol)):
        return Verdict.INCONCLUSIVE, [f"no more is proved than that the optimum lies in {interval}"]
    elif proof is None:
        return Verdict.CERTIFIED, [f"the optimum lies in {interval}"]
    else:
        assert verdict is not None
        return verdict, reasons
    if ties:
        return Verdict.INCONCLUSIVE, [
            *reasons,
            f"{wrong}, but {ties} neighbourhoods have a boundary tie: give {asked.lists}",
        ]
    return Verdict.REFUTED, [
        *([] if verdict in (None, Verdict.CERTIFIED, Verdict.INCONCLUSIVE) else reasons),
        wrong,
    ]


def _report(
    asked: Asked,
    verdict: Verdict,
    reasons: list[str],
    reference: Solution,
    proof: Certificate | None,
    scale: float,
    diagnosis: Diagnosis,
    exact: Exact | None,
) -> Report:
    witness = None
    if verdict in (Verdict.REFUTED, Verdict.CLOSE):
        better_by = float("nan") if proof is None else proof.gap - reference.gap
        if proof is None and asked.value is not None:
            better_by = asked.value - reference.objective
        witness = Witness(reference.objective, better_by, reference.metric)
        if better_by <= 0:  # not feasible, or a value that nothing attains: there is no better point
            witness = None
    return Report(
        method=asked.method,
        verdict=verdict,
        claim=asked.claim,
        tol=asked.tol,
        reasons=tuple(reasons),
        lower_bound=reference.lower_bound,
        scale=scale,
        reference_objective=reference.objective,
        objective=None if proof is None else proof.objective,
        gap=None if proof is None else proof.gap,
        rel_gap=None if proof is None else _relative(proof, scale),
        rounding=0.0 if proof is None else proof.rounding,
        radius=None if proof is None else proof.radius,
        feasibility=None if proof is None else proof.feasibility,
        claimed_objective=asked.value,
        witness=witness,
        diagnosis=diagnosis.named,
        nearest=diagnosis.nearest,
        exact=exact,
        notes=reference.notes,
    )


def _relative(proof: Certificate, scale: float) -> float:
    """gap / scale; 0 for 0 of 0, inf if only the scale is 0, or both overflow."""
    if scale > 0:
        return proof.gap / scale if math.isfinite(proof.gap) else math.inf
    return 0.0 if proof.gap <= 0 else math.inf
