"""The certificate of a metric for MCML: a lower bound from any rows q, and the gap of the metric to it. Numpy only.

Bound. For rows q_i of the simplex over k != i, w = p0, and H the entropy, Gibbs' inequality in every row gives
    log sum_k exp(-D_ik)  >=  H(q_i) - sum_k q_ik D_ik,       so, with  Z = sum_ij (w_ij - q_ij) X_ij,
    objective(A)  >=  sum_i H(q_i) + <A, Z>  >=  sum_i H(q_i)    for every psd A, where Z is psd,
no matter where q came from. q = w has Z = 0: no metric is below sum_i log(n_c - 1), whatever the data.

Dual. "q" (n, n), any real numbers, row i over k; and, if Z may miss being psd by a little, "interior" (n, n): other
rows, with Z definite. Repair: what is negative, on the diagonal, or in a row that counts nothing becomes 0; rows are
divided by their sums (a row of zeros becomes the same everywhere). If Z is then not positive by what rounding may be, q
moves towards "interior" as little as makes it so. If that is impossible, or worse, the bound is that of q = w.

A Z that is definite proves more: the objective is at least sum_i H(q_i) + <A, Z>, which grows with A, so that the
infimum is attained.

Everything is in coordinates of unit covariance (coordinates.py), in which features that are constant or repeat others
are gone, and their units too; it is computed from differences of points, one row at a time: nothing of fast.py is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from cvxml.coordinates import Coordinates, coordinates
from cvxml.inputs import real_array
from cvxml.methods.mcml.instance import Instance, Weights, weights
from cvxml.metric import Feasibility, FloatArray, examine
from cvxml.result import Certificate, Dual

EPS = float(np.finfo(float).eps)
ROUNDING = 64 * EPS


class Value(NamedTuple):
    """An objective, and what rounding may have made of it."""

    value: float
    rounding: float


class Bound(NamedTuple):
    """A lower bound, and the rows that give it; `attained`: their Z is definite."""

    value: float
    q: FloatArray
    attained: bool


def certify(given: Instance, A: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `A` (d, d) from "q" and, if there is one, "interior" (n, n).

    A slightly infeasible A is judged as P_+(A). Raises ValueError if an array has another shape or is not finite, and
    for a metric next to overflow.
    """
    n = len(given.X)
    rows = [checked(dual, name, n) for name in ("q", "interior") if name == "q" or name in names(dual)]
    at, of = coordinates(given.X), weights(given.y)
    psd, feasibility = examine(A)
    M = at.inside(psd)
    # what M is the small rest of, where features are nearly collinear
    beyond = float(np.linalg.norm(np.abs(at.back.T) @ np.abs(psd) @ np.abs(at.back)))
    return prove(at, of, M, rows, feasibility, beyond)


def prove(
    at: Coordinates,
    of: Weights,
    M: FloatArray,
    rows: list[FloatArray],
    feasibility: Feasibility,
    beyond: float = 0.0,
) -> Certificate:
    """The certificate of M (r, r), psd, in the coordinates, from q and perhaps interior.

    beyond: the size of the numbers that M was computed from, if it was.
    """
    objective, bound = value(at, of, M, beyond), lower_bound(at, of, *rows)
    return Certificate(
        kind="global",
        objective=objective.value,
        lower_bound=bound.value,
        gap=objective.value - bound.value,
        scale=abs(objective.value),
        rounding=objective.rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={"q": bound.q},
    )


def names(dual: Dual) -> tuple[str, ...]:
    """What a dual holds. Raises ValueError for what is no mapping."""
    if not isinstance(dual, Mapping) or "q" not in dual:
        raise ValueError("the dual must be a mapping with \"q\" (n, n); there is no 'q'")
    return tuple(dual)


def checked(dual: Dual, name: str, n: int) -> FloatArray:
    """`dual[name]` as a finite array (n, n)."""
    names(dual)
    q = real_array(dual[name], f"dual {name!r}")
    if q.shape != (n, n) or not np.isfinite(q).all():
        raise ValueError(
            f"dual {name!r} must be finite, of shape ({n}, {n}): a row a point; got shape {q.shape}"
        )
    return q


def value(at: Coordinates, of: Weights, M: FloatArray, beyond: float = 0.0) -> Value:
    """The objective at M (r, r), psd, in the coordinates; row by row. beyond: as in `prove`."""
    lengths = np.sum(at.Y**2, axis=1)
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    images = at.Y @ root
    # an image is off by eps of this: a coordinate of small spread has lost digits
    off = float(np.abs(at.Y).max() * np.linalg.norm(root * at.lost[:, None], 2))
    terms, sizes = [], []
    for i in of.rows:
        D = np.sum((images[i] - images) ** 2, axis=1)
        pull = float(of.w[i] @ D) / of.c[i]
        exponents = (pull - D)[of.among[i]]
        top = float(exponents.max())
        log_sum = top + math.log(float(np.exp(exponents - top).sum()))
        p = np.exp(exponents - log_sum)
        terms.append(of.c[i] * log_sum)
        moved = (
            np.sqrt(D) * off + D + beyond * (lengths[i] + lengths)
        )  # what a distance may be off by, in units of eps
        size = of.w[i] @ moved + of.c[i] * (p @ moved[of.among[i]] + pull + abs(log_sum) + 1)
        sizes.append(float(size))
    return Value(math.fsum(terms), ROUNDING * math.fsum(sizes))


def lower_bound(at: Coordinates, of: Weights, q: FloatArray, interior: FloatArray | None = None) -> Bound:
    """The best of the bounds from q, from q moved towards interior, and from w; -inf if there is none."""
    found = [_trivial(of)]
    rows = repaired(of, q)
    Z, allowance = _surplus(at, of, rows)
    if _least(Z) < allowance and interior is not None:
        aim = repaired(of, interior)
        theta = _mixing(Z, _surplus(at, of, aim)[0], 2 * allowance)
        rows = (1 - theta) * rows + theta * aim
        Z, allowance = _surplus(at, of, rows)
    if _least(Z) >= allowance:
        entropy = -math.fsum(of.c[i] * float(np.sum(xlogy(rows[i], rows[i]))) for i in of.rows)
        found.append(Bound(entropy, rows, allowance > 0))
    return max(found, key=lambda bound: bound.value)


def _trivial(of: Weights) -> Bound:
    """That of q = w, if w is made of such rows."""
    outside = np.abs(of.w.sum(axis=1) - of.c).max() > 1e-9 or (of.w[~of.among] > 0).any()
    if outside:
        return Bound(-math.inf, of.w, False)
    per = np.where(of.c > 0, of.c, 1.0)[:, None]
    return Bound(0.0 - float(np.sum(xlogy(of.w, of.w / per))), of.w / per, False)


def repaired(of: Weights, q: FloatArray) -> FloatArray:
    """The nearest rows of the simplex that q names; zero where there is no row."""
    rows = np.where(of.among & (of.c > 0)[:, None], np.maximum(q, 0.0), 0.0)
    empty = (rows.max(axis=1) == 0) & (of.c > 0)
    rows[empty] = of.among[empty]
    largest = rows.max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)  # sums of anything large could overflow
    total = rows.sum(axis=1, keepdims=True)
    normed: FloatArray = rows / np.where(total > 0, total, 1.0)
    return normed


def _surplus(at: Coordinates, of: Weights, q: FloatArray) -> tuple[FloatArray, float]:
    """Z = sum_ij (w_ij - c_i q_ij) (Y_i - Y_j)(Y_i - Y_j)^T (r, r), or its diagonal; and what rounding may be in it."""
    Z, size = np.zeros((at.Y.shape[1],) * 2), 0.0
    for i in range(len(at.Y)):
        pulled, pushed = of.w[i], of.c[i] * q[i]
        D = at.Y[i] - at.Y
        Z += D.T @ ((pulled - pushed)[:, None] * D)
        size += float((pulled + pushed) @ np.sum(D**2, axis=1))
    Z = np.diag(np.diag(Z)) if of.diagonal else (Z + Z.T) / 2
    return Z, (ROUNDING + 4 * EPS * float(at.lost.max())) * size


def _least(Z: FloatArray) -> float:
    return float(np.linalg.eigvalsh(Z)[0])


def _mixing(Z: FloatArray, inner: FloatArray, allowance: float) -> float:
    """The least theta for which (1 - theta) Z + theta inner is positive by `allowance`; 1 if there is none."""
    shift = allowance * np.eye(len(Z))
    try:
        L = np.linalg.cholesky(inner - shift)
    except np.linalg.LinAlgError:
        return 1.0
    half = np.linalg.solve(L, Z - shift)
    least = _least(np.linalg.solve(L, half.T))
    return min(1.0, max(0.0, -least / (1 - least)) * (1 + 1e-9) + 1e-15)
