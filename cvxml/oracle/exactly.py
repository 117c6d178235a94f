"""The verdict in exact arithmetic: the same rules as in convex.py, with nothing allowed for rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from cvxml.core.exact import Exact, decimal, upward
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution
from cvxml.methods import get_exact
from cvxml.oracle.asked import Asked

MAX_NEGATIVE = 1e-5  # of the norm: ten times the negative eigenvalue that still counts as psd
ANOTHER = "M M^T, of which it is proved, is not near enough to the matrix given"


class ExactJudgement(NamedTuple):
    """A verdict, why, and the interval of the candidate."""

    verdict: Verdict
    reason: str
    interval: Exact


def judge_exactly(asked: Asked, candidate: FloatArray, reference: Solution) -> ExactJudgement:
    """Judge `candidate` (d, d), psd to tolerance: is its gap at most the tolerance times the scale, without rounding?

    The scale is that of the reference if the exact interval certifies the reference. Otherwise the reference may be
    far from the optimum, and so may its scale: then the gap must also be within the tolerance of the candidate's own
    scale, and a refutation must exceed the larger of the two.
    """
    module, tol = get_exact(asked.method), Fraction(asked.tol)
    theirs = module.exact(asked.given, candidate, reference.dual)
    ours = module.exact(asked.given, reference.metric, reference.dual)
    scales = [theirs.scale if module.SCALE == "candidate" else ours.scale]
    if ours.gap > tol * ours.scale:
        scales.append(theirs.scale)
    # where the optimum is 0 there is no scale: nothing is allowed, and 0 alone is optimal
    allowed, most = tol * min(scales), tol * max(scales)
    if not stands_for(theirs, module.certify(asked.given, candidate, reference.dual), allowed):
        return ExactJudgement(Verdict.INCONCLUSIVE, ANOTHER, theirs)
    said = f"in exact arithmetic the gap is {decimal(theirs.gap, up=True)}, allowed is {decimal(allowed, up=False)}"
    if theirs.gap <= allowed:
        return ExactJudgement(Verdict.CERTIFIED, said, theirs)
    better_by = theirs.objective - ours.objective
    if better_by > most:
        least = decimal(better_by, up=False)
        why = f"a psd matrix is better by {least}, exactly; allowed is {decimal(most, up=True)}"
        return ExactJudgement(Verdict.REFUTED, why, theirs)
    return ExactJudgement(Verdict.INCONCLUSIVE, f"the bound is not tight enough: {said}", theirs)


def stands_for(interval: Exact, proof: Certificate, allowed: Fraction | float) -> bool:
    """True if M M^T has the objective that double precision sees at the metric, to what is allowed and its rounding.

    A matrix may differ from M M^T by little of its norm, and by much of what the data see of it. Where rounding is more
    than what is allowed, double precision sees nothing of that, and what is true of M M^T may be false of the matrix.
    """
    if interval.distance == 0:  # it is the matrix itself
        return True
    judged = proof.step or proof
    near = interval.distance <= MAX_NEGATIVE * proof.feasibility.norm and judged.rounding <= float(allowed)
    seen = max(proof.rounding, proof.value_rounding)
    return near and abs(upward(interval.objective) - proof.objective) <= float(allowed) + seen
