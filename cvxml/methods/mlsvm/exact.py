"""The bound and the objective of MLSVM in exact arithmetic: an interval that is a theorem.

For any u_i, w_i >= 0 with sum u_i = sum w_i = s_i <= 1/n and any S = L L^T, which is psd whatever L is,
    optimum  >=  sum_i s_i - ||G + S||^2 / (2 lam),        G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ),
and for any M the objective at M M^T is not below the optimum. All numbers here are floats, so integers times powers
of two: u and w become multiples of 2^-`BITS` whose sums agree exactly. L and M come from eigenvectors in floating
point; how good they are decides how wide the interval is, not whether it is true.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from cvxml.exact import Exact, integers, scaled, sum_of_squares
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.methods.mlsvm.zero import AT_THE_CAP, Prices, signed, zero_is_optimal
from cvxml.metric import FloatArray
from cvxml.squares import distance_to_square, of_sum, root_of, squared_distance_to_psd, weighted_outer, whole

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

    M = root_of(A, root)
    points, at = whole(X)
    rows, root_at = whole(M)
    size = scaled(sum_of_squares(rows.transpose() * rows), 4 * root_at)
    images = (points * rows).tolist()
    slack = Fraction(0)
    for i in N.usable.tolist():
        near, far = (_distances(images, i, listed[i].tolist()) for listed in (N.impostors, N.targets))
        slack += max(Fraction(0), 1 + scaled(max(far) - min(near), 2 * (at + root_at)))
    objective = weight / 2 * size + slack / len(X)
    return Exact(bound, objective, distance_to_square(A, M), weight / 2 * size)


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


def _distances(images: list[list[Any]], i: int, others: list[int]) -> list[int]:
    """The squared distances of the images of i and others."""
    return [sum((int(a) - int(b)) ** 2 for a, b in zip(images[i], images[j], strict=True)) for j in others]
