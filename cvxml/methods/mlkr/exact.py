"""F and its possible first-order decrease at a metric of MLKR, as an exact interval with rational ends.

The metric is M M^T for a matrix M of rank at most m = n_components, so it is psd. M is computed in floats, or given.
Squared distances are exact integers. All other values are balls, which are numbers with a proved error bound. Square
roots are rounded upward.
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
    """The exact interval for the metric Q (d, d): from F minus its possible first-order decrease, to F.

    root: M (d, r) with M M^T near Q; by default it is computed. Raises ValueError if its rank is above n_components, or
    if no bound of the decrease is proved.
    """
    M = root_of_rank(Q, given.m, given.at, root)
    with precision():
        of = figures(given, squared(M.T))
        return interval(Q, M, of.objective, won_at_most(of.first), scale(of, not M.any()))
