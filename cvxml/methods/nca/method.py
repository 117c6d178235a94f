"""The class NCA (Goldberger et al. 2004), for cvxml.solve and cvxml.check.

In its functions, `given` is the checked data (instance.py), and M (d, d) is a metric. s_ij is the similarity of two
points; for classes it is 1 within a class. The objective is -f or -g: f is the sum over the points of the probability
p_i that a random neighbour is similar, and g is the sum of log p_i. A partner of a point i is a point j with s_ij > 0.
The convex step at a metric is a convex function that is at least the objective everywhere, and equal to it at the
metric.

Reference: J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, Neighbourhood Components Analysis, NIPS 2004. The
paper was not at hand; the source is "the note", the article about it in statwiki (30 August 2017).
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.memory import check_literal
from cvxml.core.method import StationaryMethod
from cvxml.core.metric import FloatArray, low_rank_components
from cvxml.core.parameter import COUNT, MATRIX, START, WORD, Parameter
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.stationary.rank import examine_rank, of_rank
from cvxml.methods.nca import definitions
from cvxml.methods.nca.certify import certify as certify_metric
from cvxml.methods.nca.definitions import evaluate as evaluate_metric
from cvxml.methods.nca.instance import Instance, instance
from cvxml.methods.nca.misreadings import MISREADINGS
from cvxml.methods.nca.solver import Solver, search

SOFT = np.arange(1.0, 17) * (1 - np.eye(16))  # a similarity of sixteen points; `BAD` makes bad ones from it


class NCA(StationaryMethod[Instance]):
    """Neighbourhood components analysis; a metric is Q = A^T A, with A (m, d).

    The class attributes are explained in core/method.py: the parameters, the shapes of the dual, and values for tests.
    """

    id = "nca"
    TITLE = "NCA: neighbourhood components analysis (Goldberger et al. 2004)"
    SCALE = "candidate"
    STARTS = ("auto", "pca", "identity", "random")
    EXPONENTIAL = True
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "n_components": Parameter("m, the largest rank of the metric", COUNT, otherwise="all d features"),
        "criterion": Parameter(
            '"f", the expected number of points classified correctly, or "g", their log-likelihood', WORD, "f"
        ),
        "similarity": Parameter(
            "s (n, n) >= 0 with zero diagonal; p_i = sum_j s_ij p_ij",
            MATRIX,
            otherwise="1 within a class, else 0",
        ),
    }
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "init": Parameter(
            'start of the descent: "auto", "pca", "lda", "identity" or "random" as in scikit-learn, multiplied by the '
            'power of 2 with the best g on a sample; "likelihood" (50 steps for g from "auto"); components (m, d); or '
            "a list of these, of which the best result is kept",
            START,
            "auto",
        ),
        "random_state": Parameter("seed of the random start", COUNT, 0),
    }
    STATEMENT = Statement("cvxml.methods.nca.problem", ("step", "at", "dual", "pairs"))
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {"R": "d d", "interior": "d d"}
    SMALL: ClassVar = {"n_components": 2, "criterion": "g"}
    BAD: ClassVar = {
        "n_components": (0, 4),
        "criterion": ("h",),
        "similarity": (
            SOFT[:3, :3],
            SOFT - 2 * (SOFT == 1),  # negative in one column
            SOFT + np.eye(16),
            0 * SOFT,
            np.sign(SOFT),  # constant off the diagonal
            np.nan * SOFT,
            np.full((16, 16), "a"),
            1e-200 * SOFT,
        ),
    }
    # Points 0, 1, 2 and v = exp(-3 q). p_i is 1 / (1 + v) for the first, 1/2 for the middle one for every q, and
    # (1 + 4 v) / (1 + v) for the last. The product is largest at v = 1/2, where it is 2/3.
    HAND: ClassVar = (
        Hand(
            [[0.0], [1.0], [2.0]],
            None,
            {"criterion": "g", "similarity": [[0, 1, 0], [1, 0, 0], [4, 1, 0]]},
            [[math.log(2) / 3]],
            math.log(3 / 2),
        ),
    )
    EXAMPLES: ClassVar = (
        drawn(3, 12, 3, criterion="g"),
        drawn(9, 12, 2),
        drawn(
            *(5, 12, 3),
            criterion="g",
            similarity=[
                [0.5 ** abs(5 * i % 12 - 5 * j % 12) * (i != j) for j in range(12)] for i in range(12)
            ],
        ),
        drawn(7, 12, 5, degenerate=True, criterion="g"),
        sample("rings", 18, raw=True, criterion="g"),
        verified("rings", 12, criterion="g"),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        return of_rank(M, given.m)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        return str(examine_rank(M, given.m, coordinates(given.X))[1])

    def problem(self, given: Instance, at: FloatArray | None = None) -> Any:
        """The convex step at the metric `at`, as a cvxpy problem with variable "Q" (d, d) of any rank.

        at: default is the identity. The step equals -f or -g at `at`, and is at least that everywhere.
        """
        from cvxml.methods.nca.problem import step

        return step(given.X, given.weights(), _or_identity(given, at), given.criterion)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["Q psd"]

    def dual(self, given: Instance, at: FloatArray | None = None) -> Any:
        from cvxml.methods.nca.problem import dual

        return dual(given.X, given.weights(), _or_identity(given, at), given.criterion)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return definitions.objective(given.X, given.weights(), M, given.criterion)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """Return the intermediates by the note's names. Raises ValueError if M is not psd of rank at most n_components.

        A (m, d): a square root of the metric. Any other root is U A with U orthogonal, and its gradients are U times
        those returned here. The probability that i picks j is p_ij (n, n). Further values: w_ij = s_ij p_ij / p_i (n,
        n); p_i (n,); f; g; objective. The gradients in A, as printed, are gradient_f and gradient_g (m, d). The
        gradient of the objective in Q is gradient_Q (d, d).

        scale_derivative: the derivative of the objective at c A with respect to c, at c = 1. nearest (n,): the nearest
        other point. continuous_cost: the cost that the note prints for real labels. t is not used.
        """
        at = coordinates(given.X)
        inside, feasibility = examine_rank(M, given.m, at)
        if not feasibility.feasible:
            raise ValueError(f"metric must be psd and of rank at most n_components={given.m}: {feasibility}")
        Q = M if given.m >= len(M) else at.outside(inside)
        return evaluate_metric(given, low_rank_components(Q, given.m))

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        return certify_metric(given, M, dual)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        from cvxml.methods.nca.exact import exact_interval

        return exact_interval(given, M, dual, root=root)

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
        """Return a stationary metric, the best of one or more starts; the optimum if the problem is convex.

        solver: "fast" is L-BFGS on A followed by Newton steps (descent.py). With "clarabel" and "scs", a sequence of
        convex steps is solved in cvxpy (CCCP). This is for small n, and without a limit of the rank.
        tol: the largest gap of the convex step at the metric, relative to the scale (certify.py). If the rank is
        limited, the problem is not convex, and tol limits the gradient times max(|A|, 1) instead.
        max_iter: iterations from each start. init: the starts; if `start` is given, its metric replaces them.
        random_state: seed of the random start. callback: called after each step.
        Warns (UserWarning) if some points have no partner. The status is NOT_ATTAINED if the result shows that no
        metric attains the supremum. It is AT_INFINITY if the run only seems to tend to infinity.
        Raises ValueError for "clarabel" or "scs" with n_components < d, if the metric of `start` is zero, and for an
        unknown or impossible `init`.
        """
        if solver != "fast" and given.m < given.X.shape[1]:
            raise ValueError(
                f"solver={solver!r} solves the literal steps, which do not limit the rank: leave n_components out"
            )
        if solver != "fast":
            check_literal(len(given.X) ** 2, given.X.shape[1])
        if start is not None and not start.metric.any():
            raise ValueError(
                "the metric of warm_start is zero, and A = 0 is stationary, so a descent stays there; give another "
                "start"
            )
        if given.dropped():
            warnings.warn(f"nca: {given.dropped()}", UserWarning, stacklevel=4)
        return search(given, solver, init, tol, max_iter, random_state, start, callback)

    def improve(
        self, given: Instance, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        """Return a metric that is not worse than M, by descent, and dual variables of the convex step at M.

        The dual variables belong to the given M, not to the returned metric. tol: the tolerance of the descent,
        relative to the scale (certify.py). early: stop after a hundred iterations.
        """
        return Solver(given).improve(M, tol, early)

    def remarks(self, given: Instance, M: FloatArray) -> tuple[str, ...]:
        """Notes for the user: whether M shows that no metric attains the supremum, and points without a partner.

        If M does not show it, a note says whether the objective of t M seems to fall further as t grows.
        """
        solver = Solver(given)
        found = [solver.at_infinity(M), given.dropped()]
        if not found[0] and solver.tends_to_infinity(solver.root_of(M)):
            found.append(
                "in double precision, larger multiples of this metric tend to an objective that is as low or lower"
            )
        return tuple(sentence for sentence in found if sentence)

    def stored(self, given: Instance) -> dict[str, Any]:
        similarity = None if given.similarity is None else given.similarity.tolist()
        return {"n_components": given.m, "criterion": given.criterion, "similarity": similarity}

    def components(self, given: Instance, M: FloatArray) -> FloatArray:
        return low_rank_components(M, given.m)


def _or_identity(given: Instance, at: FloatArray | None) -> FloatArray:
    return np.eye(given.X.shape[1]) if at is None else at


METHOD = NCA()
