"""The verdict in rational arithmetic: the same rules as in convex.py, with nothing allowed for rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.exact import Exact, decimal
from cvxml.methods import get_exact
from cvxml.metric import FEASIBILITY_TOL, FloatArray
from cvxml.oracle.asked import Asked
from cvxml.report import Verdict
from cvxml.result import Solution


class Judged(NamedTuple):
    """A verdict, why, and the intervals of the candidate and of our own metric."""

    verdict: Verdict
    reason: str
    candidate: Exact
    ours: Exact


def judge_exactly(asked: Asked, candidate: FloatArray, reference: Solution) -> Judged:
    """Is `candidate` (d, d), psd to tolerance, optimal to the tolerance times the scale of the reference?"""
    module = get_exact(asked.method)
    given = (asked.X, asked.y)
    theirs = module.exact(*given, candidate, reference.dual, **asked.params)
    best = module.exact(*given, reference.metric, reference.dual, **asked.params)
    # where the optimum is 0 there is no scale: a millionth of the objective stands in for it, as in convex.py
    scale = (theirs if module.SCALE == "candidate" else best).scale
    allowed = Fraction(asked.tol) * (scale or Fraction(1, 10**6) * abs(best.objective))
    said = f"in exact arithmetic the gap is {decimal(theirs.gap, up=True)}, allowed is {decimal(allowed, up=False)}"
    if theirs.distance > FEASIBILITY_TOL * float(np.linalg.norm(candidate)):
        why = f"M M^T is {theirs.distance:.3g} away from the matrix given, and nothing is proved of that"
        return Judged(Verdict.INCONCLUSIVE, why, theirs, best)
    if theirs.gap <= allowed:
        return Judged(Verdict.CERTIFIED, said, theirs, best)
    better_by = theirs.objective - best.objective
    if better_by > allowed:
        least = decimal(better_by, up=False)
        why = f"a psd matrix is better by {least}, exactly; allowed is {decimal(allowed, up=True)}"
        return Judged(Verdict.REFUTED, why, theirs, best)
    return Judged(Verdict.INCONCLUSIVE, f"the bound is not tight enough: {said}", theirs, best)
