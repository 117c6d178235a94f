"""F and how far a metric is from stationary for MLKR, with rational ends: an interval that is a theorem.

At M M^T of rank m at most, psd whatever M is, to first order a step of A no longer than max(|A|, 1), or a row of that
length where one is free, leads nowhere below
    F - max(gradient, dc_residual),
both in coordinates of unit covariance (certify.py). All of it comes from distances that are integers, in balls; the
square roots are rounded upward. M comes from floating point, or is given.
"""

from __future__ import annotations

import math
from fractions import Fraction

from numpy.typing import ArrayLike

from cvxml.core.balls import ends, precision
from cvxml.core.exact import Exact, flint
from cvxml.core.metric import FloatArray
from cvxml.core.squares import distance_to_square, given_rows, whole
from cvxml.methods.mlkr.certify import components, figures, left, squared
from cvxml.methods.mlkr.instance import Instance


def exact_interval(given: Instance, Q: FloatArray, *, root: ArrayLike | None = None) -> Exact:
    """The interval of the first-order step of the metric `Q` (d, d).

    root: M (d, r) where it is not to be found here. Raises ValueError if its rank is above n_components.
    """
    flint()
    M = components(given, Q).T if root is None else given_rows(root, len(Q), "root")
    if (rank := int(whole(M)[0].rank())) > given.m:
        raise ValueError(f"root is of rank {rank}, and n_components={given.m} is asked for")
    with precision():
        of = figures(given, squared(M.T))
        gradient, free, scale = left(of, not M.any())
        if math.isinf(free):
            raise ValueError("no number is proved of what a free row would win: scale the features")
        low, high = ends(of.objective)
    bound = low - Fraction(max(gradient, free))
    return Exact(bound, high, distance_to_square(Q, M), scale, of_step=True, step="first-order step")
