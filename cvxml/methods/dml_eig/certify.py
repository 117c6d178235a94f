"""The certificate of DML-eig: an upper bound of the maximum from any weights q of the dissimilar pairs.

For q >= 0 with sum q = 1 and any psd A within the budget sum_similar D_A <= 1, in coordinates z in which S is I,
    min_t D_t  <=  sum_t q_t D_t  =  <sum_t q_t z_t z_t^T, M>  <=  lambda_max(sum_t q_t z_t z_t^T) tr M,   tr M <= 1.
Repair. What is negative or no number becomes 0; then q is divided by its sum; uniform if nothing is left.

Both are of the data as they are: lambda_max is relative to S, with what rounding may have done to it added
(cvxml/budget.py), and divided by the sum of q as it is.

Judged is P_+(A) / max(1, spent) (cvxml/budget.py). gap = bound - minimum, scale = |objective|. The optimum need not be
unique: there is no radius.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cvxml.budget import EPS, Budget, Most, budget, examine_budget, most
from cvxml.inputs import real_array
from cvxml.methods.dml_eig.instance import Instance
from cvxml.metric import FloatArray
from cvxml.result import Certificate, Dual


def certify(p: Instance, A: FloatArray, dual: Dual) -> Certificate:
    """Certificate of the metric `A` (d, d) from {"q": (q,)}, a weight for each dissimilar pair.

    Raises ValueError for a q of another shape.
    """
    q = _repaired(dual, len(p.dissimilar))
    judged, feasibility = examine_budget(A, p.similar)
    D, wide = judged.distances(p.dissimilar)
    least = float(D.min())
    # another pair may be the nearest
    off = max(least - float((D - wide).min()), float((D + wide).min()) - least)
    if least > 0:
        off += 2 * judged.share * least
    at = budget(p.similar, p.rank)
    bound = _bound(p.dissimilar, at, q)
    return Certificate(
        kind="global",
        objective=-least,
        lower_bound=-bound.value,
        gap=bound.value - least,
        scale=least,
        rounding=off + bound.off + 4 * EPS * (least + bound.value),
        radius=math.inf,
        feasibility=feasibility,
        dual={"q": q},
        undecided=at.undecided,
    )


def _repaired(dual: Dual, count: int) -> FloatArray:
    """q (count,) in the simplex."""
    if not isinstance(dual, Mapping) or "q" not in dual:
        raise ValueError("the dual must be a mapping with \"q\"; there is no 'q'")
    q = real_array(dual["q"], "dual 'q'")
    if q.shape != (count,):
        raise ValueError(
            f"dual 'q' must have shape ({count},), a number for each dissimilar pair, got {q.shape}"
        )
    q = np.where(np.isfinite(q) & (q > 0), q, 0.0)
    largest = float(q.max())
    if largest == 0:
        return np.full(count, 1 / count)
    q = q / largest
    simplex: FloatArray = q / q.sum()
    return simplex


def _bound(E: FloatArray, at: Budget, q: FloatArray) -> Most:
    """lambda_max over the sum of q, which is 1 but for rounding."""
    found, least = most(at, E, q), float(q.sum()) * (1 - (len(q) + 4) * EPS)
    value = found.value / least
    return Most(value, found.off + value * (len(q) + 8) * EPS)
