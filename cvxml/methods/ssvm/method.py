"""Neighbourhood gerrymandering (Trivedi et al. 2014) as the package calls it: the class `SSVM`.

In all functions, `given` is the checked data (instance.py), M or W (d, d) is a metric, and `dual` holds dual variables
by name. CCCP is the concave-convex procedure: its convex step at a metric fixes h*_i, the cheapest set of k neighbours
that lets the class of point i win.

Reference: S. Trivedi, D. McAllester, G. Shakhnarovich, Discriminative Metric Learning by Neighborhood Gerrymandering,
NIPS 2014.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import OutOfTime, TimeUp
from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.memory import TooLarge
from cvxml.core.method import StationaryMethod
from cvxml.core.metric import FloatArray, unit_scale
from cvxml.core.parameter import COUNT, MATRIX, NUMBER, START, Parameter
from cvxml.core.result import Certificate, Dual, Solution
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.methods.ssvm import enumeration
from cvxml.methods.ssvm.certify import certify as certify_metric
from cvxml.methods.ssvm.inference import evaluate as evaluate_metric
from cvxml.methods.ssvm.inference import point_at, rescaled
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.misreadings import MISREADINGS
from cvxml.methods.ssvm.solver import notes_on, search, search_globally
from cvxml.methods.ssvm.step import StepSolver
from cvxml.methods.ssvm.tree import certify_tree

TREE_SECONDS = 600.0  # time limit of branch and bound, by default
MOST_SETS = 20_000  # rows of the literal step: cvxpy takes about a millisecond for each
TINY, TINY_SECONDS = 8, 30.0  # points up to which `check` tries to prove a global optimum
LINE = ([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])


def _check_sets(given: Instance) -> None:
    """Raise TooLarge if the points have more than `MOST_SETS` sets of k neighbours, each a row of the cvxpy problem."""
    n, k = len(given.X), given.k
    rows = n * math.comb(n - 1, k)
    if rows > MOST_SETS:
        raise TooLarge(
            f"the literal step lists every set of {k} neighbours of each of {n} points, {rows} rows; at most "
            f"{MOST_SETS} are listed: give fewer points, or lower n_neighbors"
        )


class SSVM(StationaryMethod[Instance]):
    """Neighbourhood gerrymandering: a latent structural SVM. The latent variable of a point is its set of k neighbours.

    The class attributes are explained in core/method.py: the parameters, the shapes of the dual, and values for tests.
    """

    id = "ssvm"
    TITLE = "Neighbourhood gerrymandering: a latent structural SVM (Trivedi et al. 2014)"
    SOLVERS = ("fast", "clarabel", "scs", "global")
    STARTS = ("zero", "identity", "relieff", "random")
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "n_neighbors": Parameter("k, the size of a vote", COUNT, 3),
        "C": Parameter("weight of the sum of losses, > 0", NUMBER, otherwise="1/n"),
        "loss_matrix": Parameter(
            "Lam (R, R): Lam[y, r] is the cost of predicting class r for a point of class y; zero diagonal, positive "
            "elsewhere; classes sorted",
            MATRIX,
            otherwise="0/1",
        ),
    }
    SOLVE_PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "init": Parameter(
            '"zero", "identity", "relieff", "random", a metric (d, d), or a list of these: the best is kept',
            START,
            "zero",
        ),
        "random_state": Parameter("seed of the random start", COUNT, 0),
    }

    STATEMENT = Statement("cvxml.methods.ssvm.problem")
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {"q": "w", "q_index": "w 1+k"}
    SMALL: ClassVar = {"C": 0.1}
    UNITS: ClassVar = {"C": -4, "objective": -4}
    BAD: ClassVar = {"C": (0, -1.0), "n_neighbors": (0, 16)}
    # Points 0, 1, 3, 4 of two classes, one neighbour: W^2 + C (2 [1 - 3 W]_+ + 2 [1 - 8 W]_+).
    HAND: ClassVar = (
        Hand(*LINE, {"C": 0.01, "n_neighbors": 1}, [[0.11]], 0.0279),  # 2 W = (2 x 3 + 2 x 8) C
        Hand(*LINE, {"C": 1.0, "n_neighbors": 1}, [[1 / 3]], 1 / 9),  # the last kink, 3 W = 1
    )
    EXAMPLES: ClassVar = (
        drawn(3, 10, 5, C=0.2),
        drawn(3, 10, 5, degenerate=True, C=1.0),
        sample("iris", 15, C=1.0, n_neighbors=1, loss_matrix=[[0, 1, 2], [1, 0, 3], [0.5, 1, 0]]),
        sample("wine", 11, C=0.1, n_neighbors=2),
        verified("iris", 21, C=0.1),
        verified("rings", 20, raw=True, C=0.5, n_neighbors=1),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance, at: FloatArray | None = None) -> Any:
        """The convex step of CCCP at the metric `at`, as a cvxpy problem with a constraint for every set.

        at: default is the identity. Variables: "W" (d, d), and "t" (n,), the largest S + Delta of each point
        (inference.py). Raises TooLarge for more than `MOST_SETS` sets.
        """
        from cvxml.methods.ssvm.problem import enumerated

        _check_sets(given)
        return enumerated(given.X, given.y, given.k, given.C, given.Lam, _latent(given, at))

    def constraint_names(self, given: Instance) -> list[str]:
        from cvxml.methods.ssvm.problem import every_set

        sets = enumerate(every_set(given.y, given.k))
        return ["W psd", *(f"point {i}, set {', '.join(map(str, h))}" for i, listed in sets for h in listed)]

    @property
    def literal_weights(self) -> tuple[str, ...]:
        """The parameters that `problem` also accepts as a `cvxpy.Parameter`: only C.

        C is not in the attribute `WEIGHTS`, because `check` varies those parameters to explain a refuted metric of a
        convex method.
        """
        return ("C",)

    def dual(self, given: Instance, at: FloatArray | None = None) -> Any:
        from cvxml.methods.ssvm.problem import dual, every_set

        _check_sets(given)
        sets = every_set(given.y, given.k)
        return dual(given.X, given.y, given.k, given.C, given.Lam, _latent(given, at), sets)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return enumeration.objective(given.X, given.y, M, given.k, given.C, given.Lam)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """The intermediates at M by the paper's names, and a full-batch step of Algorithm 1 at iteration `t`.

        objective: F. S of a set is minus the sum of its squared distances, and Delta the loss of its vote. The values
        h_star, h_hat (n, k) are the set h*_i, and the set h^_i with the largest S + Delta (inference.py). S_star, S_hat
        (n,): their S. Delta (n,): of h_hat. L (n,): the losses. Psi_star, Psi_hat (d, d): the sums of -(x_i - x_j)(x_i
        - x_j)^T over i and j in the set. subgradient (d, d): of F. eta = 1/(2 (t+1)). W_half, W_next (d, d): after the
        subgradient step, and then projected to the psd cone.
        """
        return evaluate_metric(given, M, t)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of M from weights of sets: its field `step` bounds the convex step at M (certify.py).

        dual: "q" (m,), the weights, and "q_index" (m, 1 + k), a point and its set for each. A dual with a "tree"
        certifies M as global optimum instead; its arrays are explained in tree.py.
        """
        if isinstance(dual, Mapping) and "tree" in dual:
            return certify_tree(given, M, dual)
        return certify_metric(given, M, dual)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The interval that contains the optimum of the convex step at M, in rational arithmetic.

        root (d, r): a matrix R with R R^T near M. Raises ValueError for a dual with a "tree", and for more than 2000
        ways to split the k votes among the classes.
        """
        return self.exact_as_stored(given, M, dual, root=root)

    def exact_as_stored(
        self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None, hint: Any = None
    ) -> Exact:
        """The interval that contains the optimum of the convex step at M, in rational arithmetic, from given matrices.

        A file may store the matrices, so that another machine finds the same interval. root (d, r): R with R R^T near
        M. hint (d, r): L with L L^T near P_+(-G). P_+ replaces negative eigenvalues by 0, and G is defined in
        `exact_interval` of exact.py. Raises ValueError as `exact` does.
        """
        from cvxml.methods.ssvm.exact import exact_interval

        return exact_interval(given, M, dual, root=root, psd=hint)

    def find(  # type: ignore[override]
        self,
        given: Instance,
        solver: str,
        tol: float,
        max_iter: int,
        start: Start | None,
        callback: Callback,
        *,
        init: Any = "zero",
        random_state: int = 0,
    ) -> Found:
        """A stationary metric, the best of one or more starts, or the global optimum.

        solver: "fast" (step.py). With "clarabel" or "scs", each step is solved literally, by constraint generation
        through cvxpy (small n). With "global", branch and bound is used, for n of about 10 to 20. It proves a metric
        optimal to tol * ||W||^2, or gives the gap when the time is up.

        tol: without "global", a run of CCCP ends at a metric W if its convex step can gain at most tol * ||W||^2.
        max_iter: CCCP steps from each start. init: the starts; if `start` is given, its metric replaces them. callback:
        called after each step. random_state: seed of the start "random".
        """
        if solver == "global":
            return search_globally(given, init, tol, random_state, start, callback)
        return search(given, solver, init, tol, max_iter, random_state, start, callback)

    def seconds(self, solver: str) -> float:
        """The default time limit in seconds: 600 for "global", because branch and bound may run for years."""
        return TREE_SECONDS if solver == "global" else super().seconds(solver)

    def improve(
        self, given: Instance, M: FloatArray, *, tol: float = 1e-6, early: bool = False
    ) -> tuple[FloatArray, Dual]:
        """Solve the convex step at M to a gap of `tol`, relative to the squared norm of the metric.

        Returns a metric (d, d) with F at most the F of M, and the weights of the step by name. The metric is the best
        multiple of the solution of the step. If the time limit ends the step, it is the best multiple of M. early: stop
        already when the gap is at most twice the decrease of the objective.
        """
        s = unit_scale(given.X)
        unit = given.scaled(s)
        at = point_at(unit, M * s**2)
        solver = StepSolver(unit, at.latent)
        try:
            best = solver.solve(at, tol, early).best
        except TimeUp:
            best = at
        return rescaled(unit, best).W / s**2, solver.dual()

    def enumerated(self, given: Instance, *, tol: float, time_limit: float | None = None) -> Solution | None:
        """The global optimum with its tree of lower bounds, by branch and bound; with a gap if the time ends first.

        The time is at most `TINY_SECONDS` and `time_limit`. Returns None for more than `TINY` points, and if the time
        does not suffice for a first result.
        """
        seconds = TINY_SECONDS if time_limit is None else min(TINY_SECONDS, time_limit)
        if len(given.X) > TINY:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the caller reads the bound
            try:
                return self.solve(given, solver="global", tol=tol, time_limit=seconds)
            except OutOfTime:
                return None

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"n_neighbors": given.k, "C": given.C, "loss_matrix": given.Lam.tolist()}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        if certificate.kind == "enumerated":
            return found.notes
        return notes_on(found, certificate, lambda: self.objective(given, 0 * found.metric))


def _latent(p: Instance, at: FloatArray | None) -> list[enumeration.Neighbors]:
    return enumeration.h_star(p.X, p.y, np.eye(p.X.shape[1]) if at is None else at, p.k)


METHOD = SSVM()
