"""The verdict on a metric in exact arithmetic: no allowance for rounding is needed.

`check` calls it for exact=True. The candidate is the given matrix. If it is psd only up to rounding, exact arithmetic
judges the psd matrix M M^T next to it, with a factor M computed from the given matrix. If it is exactly psd, most
methods judge it itself; here it is called M M^T too. The exact interval has the objective of M M^T and a lower bound of
the optimum, as fractions.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import NamedTuple

from cvxml.core.exact import Exact, decimal, upward
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution
from cvxml.methods import get_exact
from cvxml.oracle.asked import Asked

MAX_NEGATIVE = 1e-5  # relative to the norm: ten times the negative eigenvalue that still counts as psd
OF_ROOT = "the exact proof is for a psd matrix M M^T next to the given matrix"


class ExactJudgement(NamedTuple):
    """A verdict in exact arithmetic, its reason, and the exact interval for the candidate.

    better_by: for a refuted candidate, its objective minus that of our own solution; otherwise 0.
    """

    verdict: Verdict
    reason: str
    interval: Exact
    better_by: Fraction = Fraction(0)  # the objective of the candidate minus the objective of our reference


def judge_exactly(asked: Asked, candidate: FloatArray, reference: Solution) -> ExactJudgement:
    """Judge in exact arithmetic whether the gap of `candidate` (d, d) is at most the tolerance times the scale.

    The candidate must be psd to the tolerance of feasibility. The scale is that of our own solution `reference`; for a
    method with SCALE = "candidate" it is the candidate's own.

    If exact arithmetic does not certify `reference`, it may be far from the optimum, and its scale may be wrong. Then
    the gap must also be at most the tolerance times the candidate's own scale. And the candidate is refuted only if
    `reference` is better by more than the larger of these two limits.

    Raises Unproved if exact arithmetic finds no interval for the candidate or for `reference`.
    """
    module, tol = get_exact(asked.method), Fraction(asked.tol)
    theirs = module.exact(asked.given, candidate, reference.dual)
    ours = module.exact(asked.given, reference.metric, reference.dual)
    scales = [theirs.scale if module.SCALE == "candidate" else ours.scale]
    if ours.gap > tol * ours.scale:
        scales.append(theirs.scale)
    # if the optimum is 0, the scale is 0: then `allowed` is 0, and only 0 is optimal
    allowed, most = tol * min(scales), tol * max(scales)
    if other := not_for(theirs, module.certify(asked.given, candidate, reference.dual), allowed):
        return ExactJudgement(Verdict.INCONCLUSIVE, other, theirs)
    said = f"in exact arithmetic the gap is {decimal(theirs.gap, up=True)}, allowed is {decimal(allowed, up=False)}"
    if theirs.gap <= allowed:
        return ExactJudgement(Verdict.CERTIFIED, said, theirs)
    better_by = theirs.objective - ours.objective
    if better_by > most:
        least = decimal(better_by, up=False)
        why = f"in exact arithmetic a psd matrix is better by {least}; allowed is {decimal(most, up=True)}"
        return ExactJudgement(Verdict.REFUTED, why, theirs, better_by)
    return ExactJudgement(Verdict.INCONCLUSIVE, f"the bound is not tight enough: {said}", theirs)


def not_for(interval: Exact, proof: Certificate, allowed: Fraction | float) -> str:
    """Return why a verdict on the psd matrix M M^T does not hold for the given matrix; empty if it holds.

    The two matrices may differ by little relative to their norm, and by much in the directions that matter for the
    data. Therefore their objectives must agree too. That of M M^T is in `interval`, the exact result. That of the given
    matrix is in `proof`, which is computed in double precision. The difference may be at most `allowed` plus rounding.
    If rounding exceeds `allowed`, double precision cannot show this agreement, and the verdict does not hold.
    """
    if interval.distance == 0:  # the given matrix is M M^T itself
        return ""
    judged = proof.step or proof
    limit = float(min(allowed, sys.float_info.max))  # a fraction may be larger than every float
    most, seen = MAX_NEGATIVE * proof.feasibility.norm, max(proof.rounding, proof.value_rounding)
    if not interval.distance <= most:
        return f"{OF_ROOT}; their distance may be {interval.distance:.3g}, allowed is {most:.3g}"
    if not judged.rounding <= limit:
        return too_rough(judged.rounding, limit)
    apart = abs(upward(interval.objective) - proof.objective)
    if not apart <= limit + seen:
        return f"{OF_ROOT}; their objectives differ by {apart:.3g}, allowed is {limit + seen:.3g}"
    return ""


def too_rough(rounding: float, allowed: float) -> str:
    """Return the sentence that the rounding error is too large to compare M M^T with the given matrix."""
    return (
        f"{OF_ROOT}; double precision cannot show that their objectives agree: the rounding error may be "
        f"{rounding:.3g}, allowed is {allowed:.3g}"
    )
