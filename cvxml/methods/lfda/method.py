"""LFDA, local Fisher discriminant analysis (Sugiyama 2006, 2007).

LFDA finds directions in which different classes are far apart and nearby points of the same class are close:
    max_{T (d, r)}  tr (T^T S_w T)^-1 T^T S_b T,     S = 1/2 sum_ij W_ij (x_i - x_j)(x_i - x_j)^T,
    W_w = A_ij / n_c in a class, else 0;             W_b = A_ij (1/n - 1/n_c) in a class, else 1/n.
S_w and S_b are S with the weights W_w and W_b: the local scatter matrices within and between classes. n_c is the number
of points in the class of i. The affinity is A_ij = exp(-D_ij / (s_i s_j)), where D_ij is the squared distance, and s_i
is the distance of i to the K-th nearest point of its class. If s_i s_j = 0, A_ij is 0. We minimize the negative of the
objective. alpha I is added to S_w; this is our parameter (default 0), as in the author's kernel program.

The problem determines only the range of T. The `embedding` determines the metric T T^T:
    "plain" T^T S_w T = I;    "weighted" the same, each eigenvector times the root of its eigenvalue;
    "orthonormal" T^T T = I.
A metric is judged by its range. It is refused if its relative distance from the embedding's metric of the same range is
above `FEASIBILITY_TOL` (1e-6).

Bound. In plain metrics the problem is linear, and their convex hull is 0 <= M <= S_w^-1, tr S_w M = r (`problem`). Let
l_1 >= l_2 >= .. be the eigenvalues of (S_b, S_w), which solve S_b v = l S_w v. For any s, the trace is at most
r s + sum_k (l_k - s)_+ (`dual`), by Ky Fan's theorem. S_w, S_b, l and the objective and distances of a metric are
balls, which are numbers with a proved error bound (core/balls.py), rounded to floats at the end. The range is unique if
and only if l_r > l_{r+1}; balls decide this. Scale, the number that gaps are relative to: the optimum. Radius, a bound
of the distance to the optimum: bound.py. If S_w is singular, no T attains the supremum, or T is not determined.
`instance` refuses this case, by exact ranks.

Reference: M. Sugiyama, Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis, JMLR
8, 2007. The printed equations were not available to us; docs/lfda.md lists our sources.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import PRECISIONS, floats, precision
from cvxml.core.dependent import least_spread
from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray
from cvxml.core.parameter import COUNT, NUMBER, WORD, Parameter
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, in_one_step
from cvxml.core.statement import Statement
from cvxml.core.wide import named
from cvxml.methods.lfda.bound import price
from cvxml.methods.lfda.certify import certify, exact_interval, judged
from cvxml.methods.lfda.embedding import axes, transformation
from cvxml.methods.lfda.evaluate import evaluate, objective
from cvxml.methods.lfda.instance import Instance, instance
from cvxml.methods.lfda.misreadings import MISREADINGS


class LFDA(ConvexMethod[Instance]):
    """Local Fisher discriminant analysis: classes far apart, nearby points of a class close."""

    id = "lfda"
    TITLE = "LFDA: local Fisher discriminant analysis (Sugiyama 2007)"
    MAX_ITER = 1  # a closed form
    PARAMETERS: ClassVar = {
        "n_components": Parameter("r, the number of components", COUNT, otherwise="all d features"),
        "n_neighbors": Parameter(
            "K: the scale of a point is its distance to the K-th nearest point of its class",
            COUNT,
            otherwise="7, or the size of the smallest class minus 1",
        ),
        "embedding": Parameter(
            '"plain": the eigenvectors v of S_b v = l S_w v, with T^T S_w T = I; "weighted": each times sqrt(l); '
            '"orthonormal": a basis of the same space with T^T T = I',
            WORD,
            "weighted",
        ),
        "alpha": Parameter("added to the diagonal of the scatter within classes, >= 0", NUMBER, 0.0),
    }
    STATEMENT = Statement(
        "cvxml.methods.lfda.problem",
        ("problem",),
        further=Statement(
            "cvxml.methods.lfda.definitions", further=Statement("cvxml.methods.lfda.problem", ("dual",))
        ),
    )
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"s": "1"}
    SMALL: ClassVar = {"n_components": 2, "n_neighbors": 2, "alpha": 0.1}
    UNITS: ClassVar = {"alpha": 2}
    BAD: ClassVar = {
        "n_components": (0, 5),
        "n_neighbors": (0, 10),
        "embedding": ("whitened",),
        "alpha": (-1.0,),
    }
    # Along the axes, with one neighbour for each point, S_w = diag(8, 2)/e and S_b = diag(4 - 4/e, 5 - 1/e).
    # The larger ratio is (5e - 1)/2, along the second axis; the metric there is 1/S_w, ratio/S_w or 1.
    HAND: ClassVar = tuple(
        Hand(
            [[0.0, -1.0], [0.0, 1.0], [-2.0, 2.0], [2.0, 2.0]],
            [0, 0, 1, 1],
            {"n_components": 1, "n_neighbors": 1, "embedding": embedding},
            [[0.0, 0.0], [0.0, length]],
            (1 - 5 * math.e) / 2,
        )
        for embedding, length in (
            ("plain", math.e / 2),
            ("weighted", math.e / 2 * (5 * math.e - 1) / 2),
            ("orthonormal", 1.0),
        )
    )
    RADIUS = True
    EXAMPLES: ClassVar = (
        drawn(5, 24, 3, n_components=1, n_neighbors=2, embedding="plain"),
        drawn(7, 18, 5, degenerate=True, n_components=2, n_neighbors=2, alpha=0.1),
        drawn(8, 18, 3, 2, n_components=2, n_neighbors=3, embedding="orthonormal"),
        sample("iris", 30, n_components=2, n_neighbors=3),
        verified("iris", n_components=2),
        verified("wine", 90, n_components=3, embedding="plain"),
        timed("iris", n_components=2),
        timed("wine", n_components=3),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        return given.embedded(M)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        with precision(given.known.bits):
            return str(judged(given, M)[1])

    def problem(self, given: Instance) -> Any:
        """The problem over the convex hull of the plain metrics, for every embedding. Variable "M" (d, d)."""
        from cvxml.methods.lfda.problem import problem

        return problem(given.X, given.y, given.r, given.k, given.alpha)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["M psd", "S_w - S_w M S_w psd", "tr S_w M = r"]

    def dual(self, given: Instance) -> Any:
        from cvxml.methods.lfda.problem import dual

        return dual(given.X, given.y, given.r, given.k, given.alpha)

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """The dual variable "s" (1,) of the trace constraint. values: the solution of `dual` by cvxpy.

        The other dual variable, N, is not needed, because the best N follows from s.
        """
        return {"s": np.reshape(values["s"], 1)}

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        found = super().through_cvxpy(given, solver)
        return found._replace(metric=given.embedded(found.metric))

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def fast_objective(self, given: Instance, M: FloatArray) -> float:
        S_w, S_b = given.scatters
        T = axes(S_w, M, given.r)
        return -float(np.trace(np.linalg.solve(T.T @ S_w @ T, T.T @ S_b @ T)))

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        return certify(given, M, dual)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        return exact_interval(given, M, dual, root)

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Return the optimal metric, from its closed form, and the dual variable "s".

        tol, max_iter and start are not used.

        Raises ValueError if rounding to doubles makes this metric infeasible: its relative distance from the
        embedding's metric of the same range is then above `FEASIBILITY_TOL` (1e-6).
        """
        metric, dual = given.closed_form, {"s": np.array([price(given.known)])}
        with precision(given.known.bits):
            if not judged(given, metric)[1].feasible:
                columns = named(least_spread(given.X))
                raise ValueError(
                    "features are nearly dependent, so that the closed form in double precision is not accurate: "
                    f"leave out one of the columns {columns} of X (counted from 0), or give alpha > 0"
                )
        return in_one_step(metric, dual, partial(certify, given), callback)

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> list[str]:
        if given.known.unique:
            return [*found.notes]
        r = given.r
        said = (
            f"eigenvalues {r} and {r + 1} are equal to {PRECISIONS[-1]} bits: other metrics are as good, or "
            "nearly as good"
        )
        return [*found.notes, said]

    def components(self, given: Instance, M: FloatArray) -> FloatArray:
        """The components T^T (r, d), where T is the matrix of the embedding with M = T T^T."""
        S_w, S_b = floats(given.known.S_w), floats(given.known.S_b)
        return transformation(S_w, S_b, axes(S_w, M, given.r), given.embedding).T

    def stored(self, given: Instance) -> dict[str, Any]:
        return {
            "n_components": given.r,
            "n_neighbors": given.k,
            "embedding": given.embedding,
            "alpha": given.alpha,
        }


METHOD = LFDA()
