"""Features that others nearly determine: which they are, and the refusal of a closed form that they spoil."""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.run import Found

MIXED = 0.1  # of a direction's length 1: a feature with more of it belongs to the direction
NAMED = 10  # features in a message
INACCURATE = 1e-2  # of the objective: a closed form that misses the optimum by more is no answer


def least_spread(X: FloatArray) -> list[int]:
    """The columns of X (n, d) that the direction of least spread mixes, each in its own unit; none of constant ones."""
    D = X - X.mean(axis=0)
    spread = np.abs(D).max(axis=0)
    used = np.flatnonzero(spread > 0)
    if len(used) == 0:
        return []
    direction = np.linalg.svd(D[:, used] / spread[used], full_matrices=True)[2][-1]
    columns: list[int] = used[np.abs(direction) > MIXED].tolist()
    return columns


def refuse_inaccurate(found: Found, X: FloatArray, remedy: str) -> Found:
    """`found`, the closed form. Raises ValueError where rounding to floats moves it by more than `INACCURATE`."""
    step = found.history[-1]
    if np.isfinite(step.gap) and step.gap <= INACCURATE * abs(step.objective):
        return found
    columns = ", ".join(map(str, least_spread(X)[:NAMED]))
    raise ValueError(
        "features are nearly dependent, so that the closed form in double precision is not the optimum (gap "
        f"{step.gap:.3g}, objective {step.objective:.3g}): leave out one of the columns {columns} of X (counted from "
        f"0), or {remedy}"
    )
