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

import numpy as np

from cvxml.exact import Exact, flint, integers, root_upward, scaled, sum_of_squares
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.metric import FloatArray, IntArray, examine

BITS = 80  # of a price


def exact_interval(
    X: FloatArray,
    N: Neighborhood,
    A: FloatArray,
    prices: tuple[FloatArray, IntArray, FloatArray, IntArray],
    lam: float,
) -> Exact:
    """The interval for the metric `A` (d, d). prices: feasible u, u_index, w, w_index, one number a pair."""
    fmpz_mat = flint().fmpz_mat
    points = [[int(v) for v in row] for row in integers(X)[0]]
    at = integers(X)[1]
    weight = Fraction(lam)

    def differences(pairs: list[tuple[int, int]]) -> Any:
        if not pairs:
            return fmpz_mat(0, X.shape[1])
        return fmpz_mat([[a - b for a, b in zip(points[i], points[j], strict=True)] for i, j in pairs])

    signed, total = _whole_prices(prices, len(X))
    used = [(pair, value) for pair, value in signed.items() if value]
    E = differences([pair for pair, _ in used])
    weighted = fmpz_mat(
        [[value * int(E[k, c]) for c in range(X.shape[1])] for k, (_, value) in enumerate(used)]
    )
    G = E.transpose() * weighted if used else fmpz_mat(X.shape[1], X.shape[1])
    G_at = 2 * at - BITS
    bound = scaled(total, -BITS) - _squared_distance_to_psd(G, G_at) / (2 * weight)

    root, distance = _as_square(A)
    rows, root_at = integers(root)
    M = fmpz_mat(rows)
    size = scaled(sum_of_squares(M * M.transpose()), 4 * root_at)
    slack = Fraction(0)
    for i in N.usable.tolist():
        lists = [[int(j) for j in listed] for listed in (N.impostors[i], N.targets[i])]
        near, far = (_lengths(differences([(i, j) for j in listed]) * M) for listed in lists)
        slack += max(Fraction(0), 1 + scaled(max(far) - min(near), 2 * (at + root_at)))
    objective = weight / 2 * size + slack / len(X)
    return Exact(bound, objective, distance, weight / 2 * size)


def _whole_prices(
    prices: tuple[FloatArray, IntArray, FloatArray, IntArray], n: int
) -> tuple[dict[tuple[int, int], int], int]:
    """u as integers and -w as integers on their pairs, in units of 2^-BITS, feasible exactly; and the sum of all s."""
    u, u_index, w, w_index = prices
    cap = (1 << BITS) // n
    rows: tuple[dict[int, dict[int, int]], ...] = ({}, {})
    for kind, values, index in ((0, u, u_index), (1, w, w_index)):
        for (i, j), value in zip(index.tolist(), values.tolist(), strict=True):
            if value > 0:
                rows[kind].setdefault(i, {})[j] = int(Fraction(value) * (1 << BITS))
    signed: dict[tuple[int, int], int] = {}
    total = 0
    for i in rows[0].keys() & rows[1].keys():
        s = min(sum(rows[0][i].values()), sum(rows[1][i].values()), cap)
        total += s
        for sign, row in ((1, rows[0][i]), (-1, rows[1][i])):
            for j, value in _of_sum(row, s).items():
                signed[i, j] = sign * value
    return signed, total


def _of_sum(row: dict[int, int], s: int) -> dict[int, int]:
    """The row scaled down to the sum s, to the last unit: rounding is made up for in the largest entry."""
    before = sum(row.values())
    scaled_row = {j: value * s // before for j, value in row.items()} if before else row
    largest = max(scaled_row, key=lambda j: scaled_row[j])
    scaled_row[largest] += s - sum(scaled_row.values())
    return scaled_row


def _squared_distance_to_psd(G: Any, at: int) -> Fraction:
    """||G + L L^T||^2 for an L that floating point finds, exactly."""
    d = G.nrows()
    largest = max((abs(int(entry)) for entry in G.entries()), default=0)
    if largest == 0:
        return Fraction(0)
    shift = max(largest.bit_length() - 60, 0)
    rough = np.array([[float(int(G[i, j]) >> shift) for j in range(d)] for i in range(d)])
    values, vectors = np.linalg.eigh((rough + rough.T) / 2)
    L = vectors * np.sqrt(np.maximum(-values, 0.0))
    rows, L_at = integers(L)
    S = flint().fmpz_mat(rows) * flint().fmpz_mat(rows).transpose()  # in units of 2^(2 L_at + shift) of G's
    S_at = 2 * L_at + shift
    low = min(S_at, 0)
    both = G * (1 << -low) + S * (1 << (S_at - low))
    return scaled(sum_of_squares(both), 2 * (at + low))


def _as_square(A: FloatArray) -> tuple[FloatArray, float]:
    """M with M M^T near `A`, and an upper bound of ||A - M M^T||."""
    values, vectors = np.linalg.eigh(examine(A)[0])
    M: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    fmpz_mat = flint().fmpz_mat
    rows, M_at = integers(M)
    square = fmpz_mat(rows) * fmpz_mat(rows).transpose()
    given, A_at = integers(A)
    low = min(2 * M_at, A_at)
    difference = square * (1 << (2 * M_at - low)) - fmpz_mat(given) * (1 << (A_at - low))
    return M, root_upward(scaled(sum_of_squares(difference), 2 * low))


def _lengths(rows: Any) -> list[int]:
    """The squared length of every row of an integer matrix."""
    return [sum(int(rows[i, j]) ** 2 for j in range(rows.ncols())) for i in range(rows.nrows())]
