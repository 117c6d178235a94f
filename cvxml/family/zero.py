"""Is M = 0 optimal? Decided in rationals: where the optimum is 0 there is no scale that an error could be a share of.

Every distance is 0 there. It is optimal if prices near those given have k(a) + r(G) = R(0) + phi(0), exactly: then no
metric is better.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cvxml.family.losses import Loss
from cvxml.family.rational import plane
from cvxml.family.regularizers import Regularizer
from cvxml.family.rows import Prices, Rows


def zero_is_optimal(regularizer: Regularizer, loss: Loss, rows: Rows, prices: Prices) -> bool:
    """True if prices near the given ones prove it, for a regularizer with R(0) = 0."""
    a = loss.exact_prices([Fraction(price) for price in prices.a.tolist()])
    n = len(regularizer.X)
    if loss.exact_conjugate(a) != loss.exactly(map(Fraction, rows.exactly([[0] * n] * n))):
        return False
    G = rows.weights(Prices(np.array(a, dtype=object), prices.key))
    return bool(regularizer.exact_bound(plane(regularizer.X), G) == 0)
