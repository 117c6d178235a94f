"""Decide in rationals whether M = 0 is optimal.

The problem is to minimise R(M) + phi(v) over psd M. R is a regularizer, and phi a loss of the values v_t = <M, V_t>.
Let a be dual variables with the matrix G = sum_t a_t V_t. Then k(a) + r(G) is a lower bound, because phi(v) >= k(a) -
<a, v> and R(M) - <M, G> >= r(G) (theorem.py). At M = 0 all v are 0. So M = 0 is optimal if k(a) + r(G) = R(0) + phi(0)
for some a.

The equation must hold exactly, because the optimum can be 0, and an error relative to 0 is undefined. The a that are
tried are in the domain of k, near the given dual variables.
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
    """Return True if dual variables near the given ones prove that M = 0 is optimal; else False.

    regularizer: R, with R(0) = 0. terms: pairs of a loss phi and its rows, the values v that it depends on. duals: the
    dual variables of each of these losses.
    """
    n, weights = len(regularizer.X), []
    for (loss, rows), given in zip(terms, duals, strict=True):
        a = loss.exact_duals([Fraction(dual) for dual in given.a.tolist()])
        if loss.conjugate(exact(a)) != loss.exact_value(rows.exactly([[0] * n] * n), Fraction(1)):
            return False
        weights.append(rows.weights(Duals(np.array(a, dtype=object), given.key)))
    return bool(regularizer.exact_bound(plane(regularizer.X), joined(weights)) == 0)
