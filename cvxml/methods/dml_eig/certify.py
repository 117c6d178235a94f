"""The certificate of DML-eig: an upper bound of the maximum from any weights q of the dissimilar pairs.

For q >= 0 with sum q = 1 and any psd A within the budget sum_similar D_A <= 1, in coordinates z in which S is I,
    min_t D_t  <=  sum_t q_t D_t  =  <sum_t q_t z_t z_t^T, M>  <=  lambda_max(sum_t q_t z_t z_t^T) tr M,   tr M <= 1.
Repair. What is negative or no number becomes 0; then q is divided by its sum; uniform if nothing is left.

Judged is P_+(A) / max(1, spent) (cvxml/budget.py). gap = bound - minimum, scale = |objective|. The optimum need not be
unique: there is no radius.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cvxml.budget import budget, examine_budget, units_of
from cvxml.inputs import real_array
from cvxml.methods.dml_eig.instance import Instance
from cvxml.metric import FloatArray
from cvxml.result import Certificate, Dual
from cvxml.symmetric import quadratic, weighted

EPS = float(np.finfo(float).eps)


def certify(p: Instance, A: FloatArray, dual: Dual) -> Certificate:
    """Certificate of the metric `A` (d, d) from {"q": (q,)}, a weight for each dissimilar pair.

    Raises ValueError for a q of another shape.
    """
    E, similar = p.dissimilar, p.similar
    q = _repaired(dual, len(E))
    judged, feasibility = examine_budget(A, similar)
    unit = units_of(E)
    own, at = E / unit, judged * unit[:, None] * unit
    D = np.maximum(quadratic(own, at), 0.0)
    least = float(D.min())
    wide = 64 * EPS * quadratic(np.abs(own), np.abs(at))  # another pair may be the nearest
    off = max(least - float((D - wide).min()), float((D + wide).min()) - least)
    if math.isfinite(feasibility.spent):
        off += least * feasibility.rounded / max(1.0, feasibility.spent)
    bound, bound_off = _bound(E, similar, q)
    return Certificate(
        kind="global",
        objective=-least,
        lower_bound=-bound,
        gap=bound - least,
        scale=least,
        rounding=off + bound_off + 64 * EPS * (least + bound),
        radius=math.inf,
        feasibility=feasibility,
        dual={"q": q},
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


def _bound(E: FloatArray, similar: FloatArray, q: FloatArray) -> tuple[float, float]:
    """lambda_max, and what rounding may do to it."""
    at = budget(similar)
    Z, Z_S = E @ at.to, similar @ at.to
    # S is the identity but for rounding, which is looked at: then the coordinates need not be exact
    largest = float(np.linalg.eigvalsh(weighted(Z, q))[-1])
    least = float(np.linalg.eigvalsh(weighted(Z_S, np.ones(len(Z_S))))[0])
    summed = [
        np.linalg.norm(z, axis=1) * np.linalg.norm(np.abs(e) @ np.abs(at.to), axis=1)
        for z, e in ((Z, E), (Z_S, similar))
    ]
    value = largest / least
    return value, 64 * EPS * (float(q @ summed[0]) / least + value * float(summed[1].sum()) / least)
