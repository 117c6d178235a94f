"""Decide in rationals whether M = 0 is optimal.

If it is, the optimum can be 0, and an error relative to the optimum is undefined. So the proof must be exact. The
objective is R(M) + phi(v), and k(a) + r(G) is the lower bound of dual variables a (theorem.py). All distances v are 0
at M = 0. So M = 0 is optimal if k(a) + r(G) = R(0) + phi(0), exactly, for dual variables a near those given.
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
    """True if M = 0 is proved optimal, by dual variables near the given ones. R(0) must be 0.

    terms: pairs of a loss and its rows. duals: the dual variables of each of these losses.
    """
    n, weights = len(regularizer.X), []
    for (loss, rows), given in zip(terms, duals, strict=True):
        a = loss.exact_duals([Fraction(dual) for dual in given.a.tolist()])
        if loss.conjugate(exact(a)) != loss.exact_value(rows.exactly([[0] * n] * n), Fraction(1)):
            return False
        weights.append(rows.weights(Duals(np.array(a, dtype=object), given.key)))
    return bool(regularizer.exact_bound(plane(regularizer.X), joined(weights)) == 0)
