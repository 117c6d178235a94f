"""The bound and the objective of MLSVM in exact arithmetic: an interval that is a theorem.

For any u_i, w_i >= 0 with sum u_i = sum w_i = s_i <= 1/n and any S = L L^T, which is psd whatever L is,
    optimum  >=  sum_i s_i - ||G + S||^2 / (2 lam),        G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ),
and no objective of a psd matrix is below the optimum: of the metric itself where it is psd as rational numbers are,
else of some M M^T. All numbers here are floats, so integers times powers
of two: u and w become multiples of 2^-`BITS` whose sums agree exactly. L and M come from eigenvectors in floating
point; how good they are decides how wide the interval is, not whether it is true.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.exact import Exact, integers, scaled, sum_of_squares
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.methods.mlsvm.zero import AT_THE_CAP, Prices, signed, zero_is_optimal
from cvxml.metric import FloatArray
from cvxml.squares import (
    distance_to_square,
    is_psd,
    of_sum,
    root_of,
    squared_distance_to_psd,
    weighted_outer,
    whole,
)

BITS = 80  # of a price


def exact_interval(
    X: FloatArray,
    N: Neighborhood,
    A: FloatArray,
    prices: Prices,
    lam: float,
    *,
    root: ArrayLike | None = None,
    psd: ArrayLike | None = None,
) -> Exact:
    """The interval for the metric `A` (d, d). prices: feasible u, u_index, w, w_index, one number a pair.

    root, psd: M and L, (d, r) each, where they are not to be found here.
    """
    weight = Fraction(lam)
    if psd is None and zero_is_optimal(X, N.usable, signed(prices)):
        bound = Fraction(len(N.usable), len(X))
    else:
        G, G_at, total = pushed(X, prices)
        bound = total - squared_distance_to_psd(G, G_at, psd) / (2 * weight)

    points, at = whole(X)
    judged = _judged(A, root)
    products, unit = points * judged.V * points.transpose(), 2 * at + judged.at
    size = scaled(sum_of_squares(judged.V), 2 * judged.at)
    slack = Fraction(0)
    for i in N.usable.tolist():
        near, far = (_distances(products, i, listed[i].tolist()) for listed in (N.impostors, N.targets))
        slack += max(Fraction(0), 1 + scaled(max(far) - min(near), unit))
    objective = weight / 2 * size + slack / len(X)
    return Exact(bound, objective, judged.distance, weight / 2 * size)


class _Judged(NamedTuple):
    """A matrix of integers, psd, times 2^at, and how far it is from the metric."""

    V: Any
    at: int
    distance: float


def _judged(A: FloatArray, root: ArrayLike | None) -> _Judged:
    """The metric itself where it is psd as rational numbers are; else M M^T, M being its root or the one given."""
    V, at = whole(A)
    if root is None and V.transpose() == V and is_psd(V):
        return _Judged(V, at, 0.0)
    M = root_of(A, root)
    rows, root_at = whole(M)
    return _Judged(rows * rows.transpose(), 2 * root_at, distance_to_square(A, M))


def pushed(X: FloatArray, prices: Prices) -> tuple[Any, int, Fraction]:
    """G in integers and their exponent, and sum_i s_i."""
    points, at = integers(X)
    weights, total = whole_prices(prices, len(X))
    return weighted_outer(points, weights), 2 * at - BITS, scaled(total, -BITS)


def whole_prices(prices: Prices, n: int) -> tuple[dict[tuple[int, int], int], int]:
    """u as integers and -w as integers on their pairs, in units of 2^-BITS, feasible exactly; and the sum of all s."""
    u, u_index, w, w_index = prices
    cap = (1 << BITS) // n
    rows: tuple[dict[int, dict[int, int]], ...] = ({}, {})
    for kind, values, index in ((0, u, u_index), (1, w, w_index)):
        for (i, j), value in zip(index.tolist(), values.tolist(), strict=True):
            if value > 0:
                rows[kind].setdefault(i, {})[j] = int(Fraction(value) * (1 << BITS))
    weights: dict[tuple[int, int], int] = {}
    total = 0
    for i in rows[0].keys() & rows[1].keys():
        s = min(sum(rows[0][i].values()), sum(rows[1][i].values()), cap)
        s = cap if s >= AT_THE_CAP * cap else s  # sums at the bound but for rounding
        total += s
        for sign, row in ((1, rows[0][i]), (-1, rows[1][i])):
            for j, value in of_sum(row, s).items():
                weights[i, j] = sign * value
    return weights, total


def _distances(products: Any, i: int, others: list[int]) -> list[int]:
    """The squared distances of i and others, from the products of every two points."""
    return [int(products[i, i] + products[j, j] - 2 * products[i, j]) for j in others]
