"""MLKR, metric learning for kernel regression (Weinberger, Tesauro 2007): each point is predicted from the others.

MLKR minimizes the leave-one-out error of kernel regression. For real targets y_i and Q = A^T A,
    min_{A (m, d)}  F = sum_i (y_i - yhat_i)^2,     yhat_i = sum_j p_ij y_j,
    p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),  p_ii = 0.
F is not convex, neither in A nor in Q. So we certify a stationary metric, not a global optimum. A = 0 is stationary to
first order, and the infimum may be at infinity; both are recognized and not returned as answers.

Convex step. At any Q0, there is a convex function of Q that is at least F, and equals F at Q0 (`problem`, `dual`; see
problem.py).

Stationarity. In coordinates of unit covariance, let G = dF/dQ. Then dF/dA = 2 A G and |dF/dA|^2 = 4 tr G Q G. Two
measures bound the decrease of F to first order; both depend only on Q. The first, `gradient`, is max(|A|, 1) |dF/dA|.
The second, `dc_residual`, is the possible decrease if a row of A is free. They are compared with the scale, which is
the smallest of three numbers. They are F, its distance to the limit along multiples of the metric, and 4 times the size
of the terms of dF(tA)/dt at t = 1 (certify.py). The last two keep a run to infinity, where F is flat, from passing as
stationary. All values are balls, which are numbers with a proved error bound (core/balls.py).

F > 0 at every metric, because the prediction is too small at a point with the largest target. If the nearest neighbours
of all points have the targets of their points, F tends to 0 along multiples of the metric. Then no metric attains the
infimum 0.

Reference: K. Q. Weinberger, G. Tesauro, Metric learning for kernel regression, AISTATS 2007. The printed equations were
not available to us; docs/mlkr.md lists our sources.
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

FLAT = 1e-9  # relative to F; a smaller scale means that F is almost constant around the metric


class MLKR(StationaryMethod[Instance]):
    """Metric learning for kernel regression. A metric is Q = A^T A (d, d) of rank at most m."""

    id = "mlkr"
    TITLE = "MLKR: metric learning for kernel regression (Weinberger, Tesauro 2007)"
    SCALE = "candidate"
    SOLVERS = ("fast",)  # the convex step would need about a hundred repetitions
    STARTS = STARTS
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "n_components": Parameter("m, the largest rank of the metric", COUNT, otherwise="all d features"),
    }
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "init": Parameter(
            'start of the descent: "auto", "pca", "identity" or "random", multiplied by the power of 2 with the '
            "smallest objective; components (m, d); or a list of these, of which the best result is kept",
            START,
            "auto",
        ),
        "random_state": Parameter("seed of the random start", COUNT, 0),
    }
    STATEMENT = Statement("cvxml.methods.mlkr.problem", ("problem", "dual"))
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {}
    BAD: ClassVar = {"n_components": (0, 4)}
    # Points 0, 1, 2 with targets 0, 1, 0.8. For points 0 and 2, w is the weight of the farther of the other points.
    # The error (1 - w/5)^2 + (w - 1/5)^2 + (3/5)^2 is smallest at w = 5/13, and 3 q = log((1 - w) / w).
    HAND: ClassVar = (Hand([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.8], {}, [[math.log(8 / 5) / 3]], 81 / 65),)
    EXAMPLES: ClassVar = (
        drawn(3, 20, 3),
        drawn(4, 20, 3),
        drawn(8, 16, 4, degenerate=True),
        verified("rings", 24),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        return of_rank(M, given.m)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        return str(examine_rank(M, given.m, given.at)[1])

    def problem(self, given: Instance, at: FloatArray | None = None) -> Any:
        """The convex step at the metric `at` (d, d), by default I, as a `cvxpy.Problem`. Variable "Q" (d, d).

        Its objective equals F at `at`.
        """
        from cvxml.methods.mlkr.problem import problem

        return problem(given.X, given.y, np.eye(given.X.shape[1]) if at is None else at)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["Q psd"]

    def dual(self, given: Instance, at: FloatArray | None = None) -> Any:
        from cvxml.methods.mlkr.problem import dual

        return dual(given.X, given.y, np.eye(given.X.shape[1]) if at is None else at)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of stationarity of M. `dual` is ignored."""
        return certify(given, M)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The certificate of M (d, d) as an interval with rational ends (exact.py). `dual` is ignored.

        root: R with R R^T near M, if it is known.
        """
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
        """Search for a stationary metric by descents from one or more starts, and return the best result.

        init: a name, components (m, d), or a list of both. The name "pca" stands for the principal components,
        "identity" for the unit matrix (m, d), and "random" for normal entries, drawn with the seed random_state. The
        name "auto" is "identity" if m is at least the rank of the points, else "pca". A named start is normalised to
        |A|^2 = m and multiplied by the power of 2 with the smallest F. If `start` is given, its metric replaces `init`.
        solver: not used.
        """
        return search(given, init, random_state, tol, max_iter, start, callback)

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        if found.status is Status.STALLED and certificate.scale <= FLAT * certificate.objective:
            return [
                *found.notes,
                "F is almost constant around this metric: the metric seems to grow without limit, not along a ray",
            ]
        return found.notes

    def improve(
        self, given: Instance, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        A, most = rows_of(given, M), 100 if early else 2000
        begun = A if A.any() else starts(given, "auto", 0)[0][1]
        run = descend(given, "candidate", begun, most, None)
        return given.at.outside(run.A.T @ run.A), {}

    def remarks(self, given: Instance, M: FloatArray) -> tuple[str, ...]:
        """A sentence about the limit of F along multiples of M, as a tuple of one; () in most cases.

        There is a sentence if F tends to 0 there (exact), or seems to tend to a value that is as good or better
        (floats).
        """
        if tends_to_0(given, M):
            return (EXACTLY,)
        return (SEEN,) if leaves(given, rows_of(given, M)) else ()

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"n_components": given.m}

    def components(self, given: Instance, M: FloatArray) -> FloatArray:
        return low_rank_components(M, given.m)


SEEN = "in double precision, larger multiples of this metric tend to an objective that is as good or better"
METHOD = MLKR()
