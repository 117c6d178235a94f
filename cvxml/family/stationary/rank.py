"""Metrics Q = A^T A of rank at most m, with A (m, d): their feasibility, and the nearest metric of limited rank.

NCA and MLKR use it, because they learn the linear map A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cvxml.core.metric import FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.family.geometry.coordinates import Coordinates

INVISIBLE = 1e-6  # a row of A with at most this squared length counts as free; it hardly changes distances


@dataclass(frozen=True)
class RankFeasibility(Feasibility):
    """The feasibility of a metric of limited rank: `beyond` is the largest eigenvalue that should be 0.

    rank: the largest rank allowed. The eigenvalues are taken in coordinates of unit covariance, and `beyond` is
    relative to the norm there.
    """

    rank: int = 0
    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True if the metric is psd and of rank at most `rank`, within `FEASIBILITY_TOL` of the norm."""
        return self.beyond <= FEASIBILITY_TOL and super().feasible

    @property
    def nearest(self) -> str:
        """The set of metrics that the field `distance` is measured to, in words, for example "a psd matrix of rank 2".

        The words name the rank only if the rank of the metric is too large.
        """
        if self.beyond <= FEASIBILITY_TOL:
            return super().nearest
        return f"a psd matrix of rank {self.rank}"

    def __str__(self) -> str:
        if self.beyond <= FEASIBILITY_TOL:
            return super().__str__()
        return (
            f"{super().__str__()}; rank {self.rank} is asked for, and eigenvalue {self.rank + 1}, in units of the "
            f"points' covariance, is {self.beyond:.3g} of the norm"
        )


def examine_rank(Q: FloatArray, m: int, at: Coordinates) -> tuple[FloatArray, Feasibility]:
    """The nearest metric of rank at most m, as a matrix (r, r), and the feasibility of Q (d, d).

    at: r coordinates of the points with unit covariance. The nearest metric is found and returned in these coordinates.
    """
    found = examine(Q, at.Y @ at.back.T)[1]
    values, vectors = np.linalg.eigh(at.inside(Q))
    values = np.maximum(values, 0)
    norm = float(np.linalg.norm(values))
    limited = max(0, len(values) - m)
    beyond = float(values[limited - 1]) / norm if limited and norm > 0 else 0.0
    values[:limited] = 0
    metric = (vectors * values) @ vectors.T
    distance = found.distance
    if beyond > FEASIBILITY_TOL:
        distance = float(np.linalg.norm(Q - at.outside(metric)))
    feasibility = RankFeasibility(
        found.asymmetry, found.min_eigenvalue, distance, found.norm, rank=m, beyond=beyond
    )
    return (metric + metric.T) / 2, feasibility


def of_rank(M: FloatArray, rank: int) -> FloatArray:
    """The matrix of at most this rank that is nearest to a psd M (d, d), in Frobenius norm. rank: from 0 to d."""
    values, vectors = np.linalg.eigh(M)
    values[: len(M) - rank] = 0.0
    near: FloatArray = (vectors * values) @ vectors.T
    return (near + near.T) / 2
