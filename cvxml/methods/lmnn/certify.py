"""The certificate of LMNN: a lower bound from any prices of any triplets.

For prices lambda >= 0 (at most mu where the hinge is linear) such that
    Z = C + sum lambda_ijl (X_ij - X_il)  >>  0,      C = (1 - mu) sum_ij X_ij,
no metric has an objective below sum lambda (squared hinge: sum lambda - sum lambda^2 / (4 mu)): for any M >> 0,
xi_ijl >= 1 + D_M(i, j) - D_M(i, l), so that objective - sum lambda >= <Z, M> >= 0.

Repair. Prices of what is no triplet are dropped, the rest clipped. C is 0 across the span of the targets' differences:
the price of a triplet whose impostor leaves it is dropped too, which is decided in rationals (span.py; ground.py). Then
all prices are multiplied by the largest t <= 1 with C + t W psd, W the rest of Z: for T (d, r) such that T^T C T is
about 1, 1/t is the largest eigenvalue of -T^T W T. T^T C T being definite, and r the rank of the span, T is one to one
onto the span but for what is across it, so that Z is psd where T^T Z T is. What rounding may have moved is counted with
proved bounds (proved.py). Where double precision does not see all of the span all prices are 0, and unless that is
enough the certificate says that nothing is decided.

The objective is of the features as they are. gap = objective - bound; scale = |objective|, at least `NOTHING` of mu
times the number of triplets, which is that of M = 0: where all margins can be kept at no cost the optimum is 0, of
which nothing is a share. The optimum need not be unique: there is no radius.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.inputs import real_array
from cvxml.methods.lmnn.ground import Ground, ground
from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import FloatArray, IntArray, examine
from cvxml.proved import EPS, least_eigenvalue, seen, squares_of
from cvxml.result import Certificate, Dual

BLOCK = 2**21  # triplets at a time
NOTHING = 1e-9  # of what M = 0 costs: an objective below that counts as 0


class _Value(NamedTuple):
    """A number, and by how much rounding may have moved it."""

    value: float
    rounding: float


def certify(p: Instance, A: FloatArray, dual: Dual, on: Ground | None = None) -> Certificate:
    """Certificate of the matrix `A` (d, d), judged as P_+(A); what only rounding takes from the cone is in `rounding`.

    dual: "price" (t,) with "triplets" (t, 3) of i, j, l; any real numbers. Raises ValueError for another dual.
    on: the ground of p, where it is known.
    """
    price, triplets = _checked(dual, len(p.X))
    on = ground(p) if on is None else on
    psd, feasibility = examine(A, p.X)
    objective = _objective(p, A / 2 + A.T / 2 if feasibility.exact else psd)
    price, triplets = _on_triplets(p, price, triplets)
    price = _shrunk(p, on, price, triplets)
    if p.squared and price.any():  # the best of their multiples up to 1
        price = price * min(1.0, 2 * p.mu * float(price.sum() / (price @ price)))
    bound = _bound(p, price)
    gap, rounding = objective.value - bound.value, objective.rounding + bound.rounding
    return Certificate(
        kind="global",
        objective=objective.value,
        lower_bound=bound.value,
        gap=gap,
        scale=max(abs(objective.value), NOTHING * p.mu * float(np.count_nonzero(p.impostors))),
        rounding=rounding if math.isfinite(objective.value) else 0.0,
        radius=math.inf,
        feasibility=feasibility,
        dual={"price": price, "triplets": triplets},
        undecided=on.undecided if gap > rounding else "",
    )


def _objective(p: Instance, A: FloatArray) -> _Value:
    """At a symmetric A (d, d), psd but for rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        sight = seen(p.X, A)
        if not (np.isfinite(sight.images.at).all() and math.isfinite(sight.miss)):
            return _Value(math.inf, 0.0)
        z, reach = sight.images.at, sight.reach()
        lengths = np.sum(z**2, axis=1)
        i, j = p.targets.T
        D_ij, off_ij = sight.of(p.X[i] - p.X[j])
        push, noise_of_push = 0.0, 0.0
        for rows in np.array_split(np.arange(len(i)), 1 + len(i) * len(p.X) // BLOCK):
            D_il = lengths[i[rows], None] + lengths - 2 * z[i[rows]] @ z.T
            missed = 1 + D_ij[rows, None] - D_il
            xi = np.where(p.impostors[rows], np.maximum(0.0, missed), 0.0)
            push += float(np.sum(xi**2 if p.squared else xi, axis=1).sum())
            own = off_ij[rows] + reach[i[rows]] + 4 * EPS * (1 + D_ij[rows])
            noise = own[:, None] + reach
            counts = p.impostors[rows] & (missed > -noise)  # what is missed, or may be
            moved = (2 * xi + noise) * noise if p.squared else noise
            noise_of_push += float(np.sum(np.where(counts, moved, 0.0)))
        value = (1 - p.mu) * float(D_ij.sum()) + p.mu * push
        summed = (len(i) + len(p.X) + 8) * EPS * value
        rounding = ((1 - p.mu) * float(off_ij.sum()) + p.mu * noise_of_push + summed) * (1 + 1e-6)
    return _Value(value, rounding) if math.isfinite(value + rounding) else _Value(math.inf, 0.0)


def _checked(dual: Dual, n: int) -> tuple[FloatArray, IntArray]:
    try:
        price, triplets = real_array(dual["price"], "dual 'price'"), np.asarray(dual["triplets"])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(
            f'the dual must be a mapping with "price" and "triplets"; there is no {error}'
        ) from None
    if triplets.size == 0:
        triplets = triplets.reshape(0, 3).astype(np.intp)
    if price.ndim != 1 or triplets.shape != (len(price), 3) or triplets.dtype.kind not in "iu":
        raise ValueError(
            "dual 'price' must be one number a triplet, with triplets of shape (t, 3) and integers; "
            f"got shapes {price.shape} and {triplets.shape}, dtype {triplets.dtype}"
        )
    if len(triplets) and (triplets.min() < 0 or triplets.max() >= n):
        raise ValueError(f"dual 'triplets' names a point outside 0..{n - 1}")
    return price, triplets.astype(np.intp)


def _on_triplets(p: Instance, price: FloatArray, triplets: IntArray) -> tuple[FloatArray, IntArray]:
    """Positive prices of triplets of the problem, each listed once."""
    n = len(p.X)
    known = p.targets @ (n, 1)
    order = np.argsort(known)
    wanted = triplets[:, :2] @ (n, 1)
    row = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    limit = math.inf if p.squared else p.mu
    keep = (known[row] == wanted) & (price > 0) & p.impostors[row, triplets[:, 2]]
    key, place = np.unique(row[keep] * n + triplets[keep, 2], return_inverse=True)
    total = np.bincount(place, np.minimum(price[keep], 1e100), minlength=len(key)).astype(np.float64)
    found = p.triplets(key // n, key % n)
    return np.minimum(total, limit), found


def _shrunk(p: Instance, on: Ground, price: FloatArray, triplets: IntArray) -> FloatArray:
    """Prices that make Z psd: some dropped, the others times one factor."""
    if on.undecided:
        return 0 * price
    i, j, l = triplets.T  # noqa: E741 (the paper's l)
    w = np.where(on.labels[i] == on.labels[l], price, 0.0)
    used = np.flatnonzero(w)
    if on.rank == 0 or len(used) == 0:  # all targets are at their points
        return w
    i, j, l, weight = i[used], j[used], l[used], w[used]  # noqa: E741
    pulled, moved = squares_of(on.images.apart(i, j), weight)
    pushed, also = squares_of(on.images.apart(i, l), weight)
    largest = moved + also - least_eigenvalue(pulled - pushed)
    return w * (min(1.0, on.least / largest) * (1 - 8 * EPS)) if largest > 0 else w


def _bound(p: Instance, price: FloatArray) -> _Value:
    """What feasible prices prove."""
    total = math.fsum(price)
    lost = math.fsum(price**2) / (4 * p.mu) if p.squared else 0.0
    return _Value(max(0.0, total - lost), 4 * EPS * (total + lost))
