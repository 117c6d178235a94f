"""The certificate of a metric of LFDA.

The objective of LFDA depends only on the range of a metric. Among the metrics with the same range, the embedding
("plain", "weighted" or "orthonormal", see method.py) chooses one. So a metric has the objective of its range, and it is
feasible if it agrees with the embedding's metric of this range, up to `FEASIBILITY_TOL` (1e-6). A ball is a number with
a proved error bound (core/balls.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import ends, floats, precision
from cvxml.core.exact import Exact, root_upward
from cvxml.core.inputs import dual_array
from cvxml.core.integer_matrices import given_rows, whole
from cvxml.core.metric import FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.core.result import Certificate, Dual
from cvxml.family.theorem.ball_certificate import certificate
from cvxml.methods.lfda.bound import bound, optimum, radius
from cvxml.methods.lfda.embedding import axes
from cvxml.methods.lfda.figures import Figures, figures
from cvxml.methods.lfda.instance import Instance


def certify(given: Instance, M: FloatArray, dual: Dual) -> Certificate:
    """The certificate of M (d, d) from the dual variable "s" (1,), any number except NaN."""
    (s,), known = dual_array(dual, "s", (1,)), given.known
    with precision(known.bits):
        of, feasibility = judged(given, M)
        return certificate(
            of.objective,
            bound(known, s),
            scale=float(optimum(known)),
            radius=partial(radius, known, given.embedding),
            feasibility=feasibility,
            dual={"s": np.array([s if math.isfinite(s) and s > 0 else 0.0])},
        )


def exact_interval(given: Instance, M: FloatArray, dual: Dual, root: ArrayLike | None) -> Exact:
    """The certificate of M (d, d) in exact numbers: lower bound, objective and scale as fractions, rounded outward.

    The judged metric is the embedding's metric of a range: the range of M up to rounding, or that of the r longest
    columns of root (d, q) if it is given. `distance` bounds its distance from M. dual: the variable "s" (1,).
    """
    (s,), known = dual_array(dual, "s", (1,)), given.known
    with precision(known.bits):
        of, _ = judged(given, M, root)
        low, high, scale = map(ends, (bound(known, s), of.objective, optimum(known)))
        return Exact(low[0], high[1], _root_above(of.distance), scale[0])


@dataclass(frozen=True)
class Embedded(Feasibility):
    """The feasibility of a metric M: it must be psd, and be the embedding's metric of its range.

    `distance` is an upper bound of the distance of M to the embedding's metric. `error` is the distance of P_+(M) to
    the embedding's metric, relative to the norm of the latter, in coordinates in which S_w is the identity. S_w is the
    local scatter matrix within classes. P_+ replaces negative eigenvalues by 0. embedding: the name of the embedding.
    """

    embedding: str = ""
    error: float = 0.0

    @property
    def feasible(self) -> bool:
        """True if M is symmetric and psd to 1e-6 (`FEASIBILITY_TOL`) of its norm, and `error` is at most 1e-6."""
        return self.error <= FEASIBILITY_TOL and super().feasible

    @property
    def nearest(self) -> str:
        """The metric or the set to which `distance` is measured, in words for a message.

        It is the psd cone if `error` is at most `FEASIBILITY_TOL` (1e-6), else the embedding's metric.
        """
        if self.error <= FEASIBILITY_TOL:
            return super().nearest
        return f"the {self.embedding} metric of its range at most"

    def __str__(self) -> str:
        if self.error <= FEASIBILITY_TOL:
            return super().__str__()
        return (
            f"{super().__str__()}; in coordinates in which S_w is the identity, it is {self.error:.3g} of that "
            "metric's norm"
        )


def judged(given: Instance, M: FloatArray, root: ArrayLike | None = None) -> tuple[Figures, Embedded]:
    """The objective of M (d, d), its distances from the embedding's metric of its range, and its feasibility.

    Objective and distances are balls. root (d, q): a matrix R with R R^T close to M, if known.
    """
    psd, found = examine(M, given.X)
    T = axes(floats(given.known.S_w), psd, given.r) if root is None else longest(given, root)
    of = figures(given.known, given.embedding, psd, T)
    error, distance = _root_above(of.error), _root_above(of.distance)
    seen = (found.asymmetry, found.min_eigenvalue, found.distance + distance, found.norm)
    return of, Embedded(*seen, embedding=given.embedding, error=error)


def _root_above(square: Any) -> float:
    return root_upward(max(ends(square)[1], Fraction(0)))


def longest(given: Instance, root: ArrayLike) -> FloatArray:
    """The r longest columns of root (d, q), compared exactly. Raises ValueError if it has fewer than r columns."""
    R = given_rows(root, given.X.shape[1], "root")
    if R.shape[1] < given.r:
        raise ValueError(f"root has {R.shape[1]} columns; give at least n_components={given.r}")
    lengths = [sum(int(entry) ** 2 for entry in column) for column in whole(R)[0].transpose().tolist()]
    return R[:, sorted(range(len(lengths)), key=lambda k: -lengths[k])[: given.r]]
