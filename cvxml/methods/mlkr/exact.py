"""F and how far a metric is from stationary for MLKR, with rational ends: an interval that is a theorem.

At M M^T of rank m at most, psd whatever M is, by family/stationary/stationary.py. All of it comes from distances that
are integers, in balls; the square roots are rounded upward. M comes from floating point, or is given.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from cvxml.core.balls import precision
from cvxml.core.exact import Exact
from cvxml.core.metric import FloatArray
from cvxml.family.stationary.stationary import interval, root_of_rank, squared, won_at_most
from cvxml.methods.mlkr.certify import figures, scale
from cvxml.methods.mlkr.instance import Instance


def exact_interval(given: Instance, Q: FloatArray, *, root: ArrayLike | None = None) -> Exact:
    """The interval of the first-order step of the metric `Q` (d, d).

    root: M (d, r) where it is not to be found here. Raises ValueError if its rank is above n_components.
    """
    M = root_of_rank(Q, given.m, given.at, root)
    with precision():
        of = figures(given, squared(M.T))
        return interval(Q, M, of.objective, won_at_most(of.first), scale(of, not M.any()))
