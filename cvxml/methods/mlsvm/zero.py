"""Is A = 0 optimal? Decided in integers: where the optimum is 0 there is no scale that an error could be a share of.

At A = 0 every usable point has xi = 1. Prices that all sum to 1/n bound the objective by the same number if
G = sum_ij (u_ij - w_ij)(x_i - x_j)(x_i - x_j)^T has no positive eigenvalue; then no metric is better than 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from cvxml.exact import integers
from cvxml.metric import FloatArray, IntArray
from cvxml.squares import is_psd, of_sum, weighted_outer

BITS = 80  # of a price, in units of 1/n
AT_THE_CAP = 1 - 1e-12
Prices = tuple[FloatArray, IntArray, FloatArray, IntArray]  # u, u_index, w, w_index
Signed = Mapping[tuple[int, int], float]


def zero_is_optimal(X: FloatArray, usable: IntArray, prices: Signed) -> bool:
    """True if prices near the given ones prove it for the points X (n, d). prices: u_ij and -w_il on their pairs."""
    full = full_prices(prices, len(X), usable)
    if full is None:
        return False
    points, _ = integers(X)
    return is_psd(-weighted_outer(points, full))


def signed(prices: Prices) -> Signed:
    """u_ij, and -w_il, on their pairs."""
    u, u_index, w, w_index = prices
    pairs = [(i, j) for i, j in (*u_index.tolist(), *w_index.tolist())]
    return dict(zip(pairs, [*u.tolist(), *(-w).tolist()], strict=True))


def full_prices(prices: Signed, n: int, usable: IntArray) -> dict[tuple[int, int], int] | None:
    """Integers near 2^BITS n times the prices, with sums of exactly +-2^BITS a usable point; None for lower sums."""
    rows: dict[tuple[int, int], dict[int, int]] = {(i, sign): {} for i in usable.tolist() for sign in (1, -1)}
    for (i, j), price in prices.items():
        if price:
            whole, below = (n * abs(price)).as_integer_ratio()
            rows[i, 1 if price > 0 else -1][j] = (whole << BITS) // below
    signed: dict[tuple[int, int], int] = {}
    for (i, sign), row in rows.items():
        if sum(row.values()) < AT_THE_CAP * (1 << BITS):
            return None
        for j, value in of_sum(row, 1 << BITS).items():
            signed[i, j] = sign * value
    return signed
