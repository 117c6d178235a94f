"""Is M = 0 optimal? Decided in rationals: where the optimum is 0 there is no scale that an error could be a share of.

Every distance is 0 there. It is optimal if prices near those given have k(a) + r(G) = R(0) + phi(0), exactly: then no
metric is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from cvxml.family.losses.base import Loss
from cvxml.family.regularizers.base import Regularizer
from cvxml.family.rows.base import Duals, Rows, joined
from cvxml.numbers.rational import plane
from cvxml.numbers.vocabulary import exact


def zero_is_optimal(
    regularizer: Regularizer, terms: Sequence[tuple[Loss, Rows]], duals: Sequence[Duals]
) -> bool:
    """True if prices near the given ones prove it, for a regularizer with R(0) = 0."""
    n, weights = len(regularizer.X), []
    for (loss, rows), given in zip(terms, duals, strict=True):
        a = loss.exact_duals([Fraction(price) for price in given.a.tolist()])
        if loss.conjugate(exact(a)) != loss.exact_value(rows.exactly([[0] * n] * n), Fraction(1)):
            return False
        weights.append(rows.weights(Duals(np.array(a, dtype=object), given.key)))
    return bool(regularizer.exact_bound(plane(regularizer.X), joined(weights)) == 0)
