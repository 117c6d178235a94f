"""The verdict in rational arithmetic: the same rules as in check.py, with nothing allowed for rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.exact import Exact, decimal
from cvxml.methods import get_exact
from cvxml.metric import FloatArray
from cvxml.report import Verdict
from cvxml.result import Dual


class Judged(NamedTuple):
    """A verdict, why, and the intervals of the candidate and of our own metric."""

    verdict: Verdict
    reason: str
    candidate: Exact
    ours: Exact


def judge_exactly(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    candidate: FloatArray,
    ours: FloatArray,
    dual: Dual,
    tol: float,
    params: dict[str, Any],
) -> Judged:
    """Is `candidate` (d, d), psd to tolerance, optimal to `tol` of the scale of `ours` (d, d)?

    Raises ValueError where the method has no exact mode.
    """
    module = get_exact(method)
    theirs = module.exact(X, y, candidate, dual, **params)
    best = module.exact(X, y, ours, dual, **params)
    # where the optimum is 0 there is no scale: a millionth of the objective stands in for it, as in check.py
    allowed = Fraction(tol) * (best.scale or Fraction(1, 10**6) * abs(best.objective))
    said = f"in exact arithmetic the gap is {decimal(theirs.gap, up=True)}, allowed is {decimal(allowed, up=False)}"
    if theirs.gap <= allowed:
        return Judged(Verdict.CERTIFIED, said, theirs, best)
    better_by = theirs.objective - best.objective
    if better_by > allowed:
        least = decimal(better_by, up=False)
        why = f"a psd matrix is better by {least}, exactly; allowed is {decimal(allowed, up=True)}"
        return Judged(Verdict.REFUTED, why, theirs, best)
    return Judged(Verdict.INCONCLUSIVE, f"the bound is not tight enough: {said}", theirs, best)
