"""MLKR, metric learning for kernel regression (Weinberger, Tesauro 2007): each point is predicted by the others.

Problem, for real targets y_i and Q = A^T A,
    min_{A (m, d)}  F = sum_i (y_i - yhat_i)^2,     yhat_i = sum_j p_ij y_j,
    p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),  p_ii = 0,
the leave-one-out error of kernel regression. Literal. F is not convex, nor is it in Q: what is claimed is `stationary`.
A = 0 is stationary to first order, and the infimum may be at infinity; neither is called an answer.

Step. At a Q0, with P_i and N_i the parts of yhat_i - y_i above and below 0, F = sum (P_i - N_i)^2 lies below a convex
function of Q that touches it there: log P_i and log N_i are differences of convex functions (`problem`, `dual`).

Stationarity, in coordinates of unit covariance, G = dF/dQ there: `gradient` max(|A|, 1) |dF/dA|, dF/dA = 2 A G, and
`dc_residual`, what a row of A that is free would win. Both depend on Q alone: |dF/dA|^2 = 4 tr G Q G. Scale: F, or the
distance to where multiples of the metric tend, or what the scale derivative is the sum of, if that is less; so that a
run to infinity, where all is flat, is not taken for stationary. All of it is enclosed in balls (core/balls.py).
F > 0 at every metric: at a point with the largest target the prediction is less. So where the nearest neighbours of a
metric have the targets of their points, its multiples tend to the infimum 0, which no metric attains.

Reference: K. Q. Weinberger, G. Tesauro, Metric learning for kernel regression, AISTATS 2007. The printed equations were
not at hand: docs/mlkr.md says what was read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, verified
from cvxml.core.method import StationaryMethod
from cvxml.core.metric import FloatArray, low_rank_components
from cvxml.core.parameter import COUNT, START, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.family.stationary.rank import examine_rank, of_rank
from cvxml.methods.mlkr.certify import certify, rows_of, tends_to_0
from cvxml.methods.mlkr.evaluate import evaluate, objective
from cvxml.methods.mlkr.instance import Instance, instance
from cvxml.methods.mlkr.misreadings import MISREADINGS
from cvxml.methods.mlkr.solve import EXACTLY, STARTS, descend, leaves, search, starts

FLAT = 1e-9  # of F: a scale that is less is that of no metric


class MLKR(StationaryMethod[Instance]):
    """Metric learning for kernel regression; a metric is Q = A^T A."""

    id = "mlkr"
    TITLE = "MLKR: metric learning for kernel regression (Weinberger, Tesauro 2007)"
    SCALE = "candidate"
    SOLVERS = ("fast",)  # the convex step wins so little at a time that a hundred are needed
    STARTS = STARTS
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "n_components": Parameter("m, the rank that the metric may have", COUNT, otherwise="all d features"),
    }
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "init": Parameter(
            '"auto", "pca", "identity", "random", times the best power of 2; components (m, d); or a list of these',
            START,
            "auto",
        ),
        "random_state": Parameter("seed of the random start", COUNT, 0),
    }
    STATEMENT = Statement("cvxml.methods.mlkr.problem", ("problem", "dual"))
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {}
    BAD: ClassVar = {"n_components": (0, 4)}
    # Points 0, 1, 2 with targets 0, 1, 0.8; w is the weight of the far one of the other two for either end. The error
    # (1 - w/5)^2 + (w - 1/5)^2 + (3/5)^2 is least at w = 5/13, and 3 q = log((1 - w) / w).
    HAND: ClassVar = (Hand([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.8], {}, [[math.log(8 / 5) / 3]], 81 / 65),)
    EXAMPLES: ClassVar = (
        drawn(3, 20, 3),
        drawn(4, 20, 3),
        drawn(8, 16, 4, degenerate=True),
        verified("rings", 24),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        """The metric nearest to M of the rank that is allowed."""
        return of_rank(M, given.m)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        """Of a metric of the rank that is allowed."""
        return str(examine_rank(M, given.m, given.at)[1])

    def problem(self, given: Instance, at: FloatArray | None = None) -> Any:
        """The convex step at `at`; variable "Q" (d, d), of any rank. Its value at `at` is F there."""
        from cvxml.methods.mlkr.problem import problem

        return problem(given.X, given.y, np.eye(given.X.shape[1]) if at is None else at)

    def dual(self, given: Instance, at: FloatArray | None = None) -> Any:
        """Its dual; variables "w", "q"."""
        from cvxml.methods.mlkr.problem import dual

        return dual(given.X, given.y, np.eye(given.X.shape[1]) if at is None else at)

    def objective(self, given: Instance, M: FloatArray) -> float:
        """From the definition."""
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """See `evaluate`."""
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """Of the metric alone: no dual is looked at."""
        return certify(given, M)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """Of the metric's first-order step, in balls (exact.py). No dual is looked at."""
        from cvxml.methods.mlkr.exact import exact_interval

        return exact_interval(given, M, root=root)

    def find(  # type: ignore[override]
        self,
        given: Instance,
        solver: str,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
        *,
        init: Any = "auto",
        random_state: int = 0,
    ) -> Found:
        """A stationary metric, the best of one or more starts. start: its metric is gone on from, in place of init."""
        return search(given, init, random_state, tol, max_iter, start, callback)

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        """What the search knows, and that F is flat where it ended, if so."""
        if found.status is Status.STALLED and certificate.scale <= FLAT * certificate.objective:
            return [
                *found.notes,
                "F is almost constant around this metric: the metric seems to grow without limit, not along a ray",
            ]
        return found.notes

    def improve(
        self, given: Instance, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        """A metric with no higher objective, by descent from M."""
        A, most = rows_of(given, M), 100 if early else 2000
        begun = A if A.any() else starts(given, "auto", 0)[0][1]
        run = descend(given, "candidate", begun, most, None)
        return given.at.outside(run.A.T @ run.A), {}

    def remarks(self, given: Instance, M: FloatArray) -> tuple[str, ...]:
        """Whether the infimum is at infinity, as far as M shows it."""
        if tends_to_0(given, M):
            return (EXACTLY,)
        return (SEEN,) if leaves(given, rows_of(given, M)) else ()

    def stored(self, given: Instance) -> dict[str, Any]:
        """The rank as a number."""
        return {"n_components": given.m}

    def components(self, given: Instance, M: FloatArray) -> FloatArray:
        """A (m, d), what the paper learns."""
        return low_rank_components(M, given.m)


SEEN = "in double precision, larger multiples of this metric tend to an objective that is as good or better"
METHOD = MLKR()
