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

Z is looked at as T^T Z T, T (d, r) being the map to coordinates of unit covariance (coordinates.py) as it is in double
precision. Where r is the dimension, as of rational numbers, of what the points' differences span, and T^T Z T is
definite, T is one to one onto the span but for what is across it, and Z is psd. Where the points differ in more than r
directions only the bound of q = w is proved. The objective is of the features as they are. What rounding may have moved
is counted with proved bounds (proved.py), one row at a time: nothing of fast.py is used.
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
from cvxml.proved import EPS, TINY, Points, least_eigenvalue, points, seen
from cvxml.result import Certificate, Dual


class Value(NamedTuple):
    """An objective, and what rounding may have made of it."""

    value: float
    rounding: float


class Bound(NamedTuple):
    """A lower bound, the rows that give it, and what rounding may be in it; `attained`: their Z is definite."""

    value: float
    q: FloatArray
    attained: bool
    rounding: float


def certify(given: Instance, A: FloatArray, dual: Dual, at: Coordinates | None = None) -> Certificate:
    """Certificate of `A` (d, d) from "q" and, if there is one, "interior" (n, n).

    A slightly infeasible A is judged as P_+(A); what only rounding takes from the cone is in `rounding`. at:
    coordinates(X), where they are known. Raises ValueError if an array has another shape or is not finite, and for a
    metric next to overflow.
    """
    n = len(given.X)
    rows = [checked(dual, name, n) for name in ("q", "interior") if name == "q" or name in names(dual)]
    at = coordinates(given.X) if at is None else at
    psd, feasibility = examine(A, given.X)
    at.inside(psd)  # refuses what is too large
    judged = A / 2 + A.T / 2 if feasibility.exact else psd
    return prove(given.X, at, weights(given.y), judged, rows, feasibility)


def prove(
    X: FloatArray,
    at: Coordinates,
    of: Weights,
    A: FloatArray,
    rows: list[FloatArray],
    feasibility: Feasibility,
) -> Certificate:
    """The certificate of A (d, d), psd but for rounding, from q and perhaps interior; Z is seen in the coordinates."""
    objective, bound = value(X, of, A), lower_bound(X, at, of, *rows)
    gap, rounding = objective.value - bound.value, objective.rounding + bound.rounding
    return Certificate(
        kind="global",
        objective=objective.value,
        lower_bound=bound.value,
        gap=gap,
        scale=abs(objective.value),
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={"q": bound.q},
        undecided=at.undecided if gap > rounding else "",
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


def value(X: FloatArray, of: Weights, A: FloatArray) -> Value:
    """The objective at A (d, d), psd but for rounding; row by row."""
    sight, n = seen(X, A), len(X)
    terms, sizes = [], []
    for i in of.rows:
        D, off = sight.from_point(i)
        among = of.among[i]
        pull = float(of.w[i] @ D) / of.c[i]
        exponents = (pull - D)[among]
        top = float(exponents.max())
        log_sum = top + math.log(float(np.exp(exponents - top).sum()))
        p = np.exp(exponents - log_sum)
        terms.append(of.c[i] * log_sum)
        # what is computed from distances that are right: the mean, the exponents, their sum
        off = off + (n + 16) * EPS * (D + pull + abs(log_sum) + 1)
        sizes.append(float(of.w[i] @ off) + of.c[i] * _moved(p, off[among]))
    return Value(math.fsum(terms), math.fsum(sizes) * (1 + 1e-6))


def _moved(p: FloatArray, off: FloatArray) -> float:
    """What log sum exp, of the shares p, may move by where its exponents may by `off`."""
    return float(p @ np.expm1(off)) if off.max() <= 1 else float(off.max())


def lower_bound(
    X: FloatArray, at: Coordinates, of: Weights, q: FloatArray, interior: FloatArray | None = None
) -> Bound:
    """The best of the bounds from q, from q moved towards interior, and from w; -inf if there is none."""
    trivial = _trivial(of)
    if at.hidden:
        return trivial
    images, rows = points(X, at.to), repaired(of, q)
    Z, allowance = _surplus(images, of, rows)
    if not (least_eigenvalue(Z) > allowance or interior is None):
        aim = repaired(of, interior)
        theta = _mixing(Z, _surplus(images, of, aim)[0], allowance)
        rows = (1 - theta) * rows + theta * aim
        Z, allowance = _surplus(images, of, rows)
    apart = bool(at.Y.any())  # else all points are equal, and so is Z to 0
    if apart and not least_eigenvalue(Z) > allowance:
        return trivial
    found = _entropy(of, rows, apart)
    return max(trivial, found, key=lambda bound: bound.value)


def _entropy(of: Weights, q: FloatArray, attained: bool) -> Bound:
    """The bound of rows q, whose sums are 1 but for rounding."""
    own = of.c * -np.sum(xlogy(q, q), axis=1)
    each = (len(q) + 16) * EPS * (own + of.c)
    return Bound(0.0 + math.fsum(own), q, attained, math.fsum(each))


def _trivial(of: Weights) -> Bound:
    """That of q = w, if w is made of such rows."""
    outside = np.abs(of.w.sum(axis=1) - of.c).max() > 1e-9 or (of.w[~of.among] > 0).any()
    if outside:
        return Bound(-math.inf, of.w, False, 0.0)
    per = np.where(of.c > 0, of.c, 1.0)[:, None]
    return _entropy(of, of.w / per, False)


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


def _surplus(images: Points, of: Weights, q: FloatArray) -> tuple[FloatArray, float]:
    """Z = sum_ij (w_ij - c_i q_ij) (Y_i - Y_j)(Y_i - Y_j)^T (r, r) of images Y, or its diagonal; what it may be off by.

    Rows of q whose sums are not quite 1 are allowed for.
    """
    (n, r), size = images.high.shape, 0.0
    Z, everyone = np.zeros((r, r)), np.arange(n)
    for i in range(n):
        pulled, pushed = of.w[i], of.c[i] * q[i]
        D, off = images.apart(i, everyone)
        Z += D.T @ ((pulled - pushed)[:, None] * D)
        length = np.linalg.norm(D, axis=1)
        each = (1.5 * n + 16) * EPS * length**2 + (2 * length + off) * off + TINY
        size += float((pulled + pushed) @ each)
    Z = np.diag(np.diag(Z)) if of.diagonal else (Z + Z.T) / 2
    return Z, size * (1 + 1e-6)


def _mixing(Z: FloatArray, inner: FloatArray, allowance: float) -> float:
    """The least theta for which (1 - theta) Z + theta inner is seen to be positive by `allowance`; 1 if none is."""
    traces = float(np.abs(np.diag(Z)).sum() + np.abs(np.diag(inner)).sum())
    shift = (2 * allowance + 4 * (len(Z) + 4) * EPS * traces) * np.eye(len(Z))
    try:
        L = np.linalg.cholesky(inner - shift)
    except np.linalg.LinAlgError:
        return 1.0
    half = np.linalg.solve(L, Z - shift)
    least = float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[0])
    return min(1.0, max(0.0, -least / (1 - least)) * (1 + 1e-9) + 1e-15)
