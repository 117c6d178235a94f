"""The certificate of LMNN: a lower bound from any prices of any triplets.

For prices lambda >= 0 (at most mu where the hinge is linear) such that
    Z = C + sum lambda_ijl (X_ij - X_il)  >>  0,      C = (1 - mu) sum_ij X_ij,
no metric has an objective below sum lambda (squared hinge: sum lambda - sum lambda^2 / (4 mu)): for any M >> 0,
xi_ijl >= 1 + D_M(i, j) - D_M(i, l), so that objective - sum lambda >= <Z, M> >= 0.

Repair. Prices of what is no triplet are dropped, the rest clipped. Where C is singular, or to working precision, Z is
looked at only in the directions in which C is not: prices of triplets that leave those, by their impostor or by their
target, are dropped too. Then all prices are multiplied by the largest t <= 1 with C + t W psd, W the rest of Z: 1/t is
the largest eigenvalue of -C^(-1/2) W C^(-1/2), and what rounding may have moved both is counted.

All of it in coordinates of unit covariance (coordinates.py). gap = objective - bound; scale = |objective|, at least
`NOTHING` of mu times the number of triplets, which is that of M = 0: where all margins can be kept at no cost the
optimum is 0, of which nothing is a share. The optimum need not be unique: there is no radius.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import Coordinates, coordinates
from cvxml.inputs import real_array
from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import FloatArray, IntArray, examine
from cvxml.result import Certificate, Dual

EPS = float(np.finfo(float).eps)
BLOCK = 2**21  # triplets at a time
NOTHING = 1e-9  # of what M = 0 costs: an objective below that counts as 0
ASTRAY = 1e-10
HIDDEN = 1e-6  # features so nearly collinear that a coordinate is off by more prove nothing
SINGULAR = 1e-12  # an eigenvalue of C below this share of the largest counts as 0


class _Value(NamedTuple):
    """A number, and by how much rounding may have moved it."""

    value: float
    rounding: float


def certify(p: Instance, A: FloatArray, dual: Dual) -> Certificate:
    """Certificate of the matrix `A` (d, d), judged as P_+(A).

    dual: "price" (t,) with "triplets" (t, 3) of i, j, l; any real numbers. Raises ValueError for another dual.
    """
    price, triplets = _checked(dual, len(p.X))
    at = coordinates(p.X)
    psd, feasibility = examine(A)
    objective = _objective(p, at, psd)
    price, triplets = _on_triplets(p, price, triplets)
    price = _shrunk(p, at, price, triplets)
    if p.squared and price.any():  # the best of their multiples up to 1
        price = price * min(1.0, 2 * p.mu * float(price.sum() / (price @ price)))
    bound = _bound(p, price)
    return Certificate(
        kind="global",
        objective=objective.value,
        lower_bound=bound.value,
        gap=objective.value - bound.value,
        scale=max(abs(objective.value), NOTHING * p.mu * float(np.count_nonzero(p.impostors))),
        rounding=objective.rounding + bound.rounding if math.isfinite(objective.value) else 0.0,
        radius=math.inf,
        feasibility=feasibility,
        dual={"price": price, "triplets": triplets},
    )


def _objective(p: Instance, at: Coordinates, A: FloatArray) -> _Value:
    """At a psd A (d, d)."""
    with np.errstate(over="ignore", invalid="ignore"):
        M = at.back.T @ A @ at.back
        if not np.isfinite(M).all():
            return _Value(math.inf, 0.0)
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0))
        images = at.Y @ root
        lengths = np.sum(images**2, axis=1)
        beyond = np.linalg.norm(
            np.abs(at.back.T) @ np.abs(A) @ np.abs(at.back), 2
        )  # what M is the small rest of
        reach = np.sum(at.Y**2, axis=1) * float(
            beyond + np.linalg.norm(root) * np.linalg.norm(root * at.lost[:, None])
        )
        i, j = p.targets.T
        D_ij = np.sum((images[i] - images[j]) ** 2, axis=1)
        pull, push = float(D_ij.sum()), 0.0
        size = (1 - p.mu) * float(np.sum(reach[p.targets]))
        for rows in np.array_split(np.arange(len(i)), 1 + len(i) * len(p.X) // BLOCK):
            D_il = lengths[i[rows], None] + lengths - 2 * images[i[rows]] @ images.T
            missed = 1 + D_ij[rows, None] - D_il
            xi = np.where(p.impostors[rows], np.maximum(0.0, missed), 0.0)
            push += float(np.sum(xi**2 if p.squared else xi))
            sizes = (2 * reach[i[rows]] + reach[j[rows]] + 1)[:, None] + reach
            noise = 16 * EPS * sizes
            weight = 2 * xi + noise if p.squared else 1.0
            counts = p.impostors[rows] & (missed > -noise)  # what is missed, or may be
            size += p.mu * float(np.sum(np.where(counts, weight * sizes, 0.0)))
        value = (1 - p.mu) * pull + p.mu * push
    rounding = 16 * EPS * (size + value)
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


def _shrunk(p: Instance, at: Coordinates, price: FloatArray, triplets: IntArray) -> FloatArray:
    """Prices that make Z psd: some dropped, the others times one factor."""
    pairs = at.Y[p.targets[:, 0]] - at.Y[p.targets[:, 1]]
    C = (1 - p.mu) * pairs.T @ pairs
    values, vectors = np.linalg.eigh(C)
    inside = values > SINGULAR * max(values[-1], 0.0)
    if not len(price):
        return price
    if 64 * EPS * float(at.lost.max()) > HIDDEN:  # which points differ in a direction cannot be told
        return 0 * price
    E_ij = at.Y[triplets[:, 0]] - at.Y[triplets[:, 1]]
    E_il = at.Y[triplets[:, 0]] - at.Y[triplets[:, 2]]
    far = vectors[:, ~inside]

    def strays(E: FloatArray) -> np.ndarray:
        """(t,): which leave the directions inside by more than rounding."""
        strayed: np.ndarray = np.sum((E @ far) ** 2, axis=1) > in_range(at) ** 2 * np.sum(E**2, axis=1)
        return strayed

    w = np.where(strays(E_ij) | strays(E_il), 0.0, price)
    if not inside.any():  # all targets are at their points
        return w
    whiten = vectors[:, inside] / np.sqrt(values[inside])

    def sizes(E: FloatArray) -> FloatArray:
        """(t,): of the numbers that the rows of E whiten, and their outer products, are summed from."""
        size: FloatArray = np.linalg.norm(E @ whiten, axis=1)
        size *= np.linalg.norm(np.abs(E) @ np.abs(whiten), axis=1)
        return size

    L, L_ij, L_il = pairs @ whiten, E_ij @ whiten, E_il @ whiten
    W = L_ij.T @ (w[:, None] * L_ij) - L_il.T @ (w[:, None] * L_il)
    eps = EPS * (16 + math.sqrt(len(w) + len(pairs))) * float(at.lost.max())
    # the least eigenvalue of C, 1 but for rounding, and what -W has at most
    least = (1 - p.mu) * (float(np.linalg.eigvalsh(L.T @ L)[0]) - eps * float(sizes(pairs).sum()))
    largest = -float(np.linalg.eigvalsh(W)[0]) + eps * float(w @ (sizes(E_ij) + sizes(E_il)))
    return w / max(1.0, largest / least) if least > 0 else 0 * w


def in_range(at: Coordinates) -> float:
    """The part of a difference of points that rounding may have put where no target differs, relative to it.

    More than `ASTRAY` is never taken for rounding: a price that might be on the wrong side is given up.
    """
    return min(64 * EPS * float(at.lost.max()), ASTRAY)


def _bound(p: Instance, price: FloatArray) -> _Value:
    """What feasible prices prove."""
    total = math.fsum(price)
    if p.squared:
        total -= math.fsum(price**2) / (4 * p.mu)
    return _Value(max(0.0, total), 16 * EPS * abs(total))
