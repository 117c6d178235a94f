"""PLML, parametric local metric learning (Wang, Woznica, Kalousis 2012): a metric at each point, mixed from a few.

Point i has the metric M(x_i) = sum_b W_ib M_b, with basis metrics M_b at anchors u_b and weights W_i in the simplex.
Like the paper, we solve two problems one after the other (problem.py states both literally):
    weights:  min_{W_i in the simplex}  ||X - W U||^2 + lam1 tr(W G) + lam2 tr(W^T L W),   G_bi = ||x_i - u_b||^2
    metrics:  min_{M_b psd}  alpha1 sum_b ||M_b||^2 + sum_t [1 - <M(x_i), H_t>]_+ + alpha2 sum_ij <M(x_i), X_ij>
The rows of U are the anchors, and L is the graph Laplacian of a similarity of the points. The sums run over triplets
t = (i, j, l) with H_t = X_il - X_ij, X_ij = (x_i - x_j)(x_i - x_j)^T, and over their pairs (i, j), each once. There
are two separate certificates: the weights are optimal (weights.py), and the metrics are optimal for these weights.
The joint problem is not convex, and we claim no optimum of it.

The method's metric is M (m d, m d) with the blocks M_b on its diagonal. It is judged for the given weights, or for the
computed ones. The estimator gives a query the weights of the nearest training point. A misreading is another problem
that an implementation may solve by mistake.

Dual and bound: family/theorem, with the Frobenius norm of blocks (methods/plml/blocks.py), a hinge, and a linear loss
on the pairs. The optimal metrics are unique, and within sqrt(gap / alpha1). Gaps are relative to
alpha1 sum_b ||M_b||^2.

Reference: J. Wang, A. Woznica, A. Kalousis, Parametric local metric learning for nearest neighbor classification, NIPS
2012. The printed equations were not available to us; docs/plml.md lists the sources. We read G_bi as a squared
distance, and chose the similarity of the graph. Every verdict on PLML depends on this reading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.derived import Derived, alike
from cvxml.core.exact import Exact, Unproved
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.literal import triplet_names
from cvxml.core.metric import FEASIBILITY_TOL, FloatArray, blocks_of, in_blocks, project_psd, real_array
from cvxml.core.misreading import Misreading, Question
from cvxml.core.moved import Moved
from cvxml.core.parameter import COUNT, MATRIX, NUMBER, POINTS, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.straight import Straight
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.plml.blocks import Blocks, Listed, examine_blocks
from cvxml.methods.plml.both_ends import MeanShares
from cvxml.methods.plml.evaluate import evaluate, objective
from cvxml.methods.plml.instance import WELL, Instance, instance, k_means
from cvxml.methods.plml.misreadings import MISREADINGS
from cvxml.solvers.triplet_method import TripletMethod

ONE_CLAIM_EACH = (
    "weights and metrics have two separate problems, one after the other: no joint optimum is claimed"
)


_LINE = [[0.0], [1.0], [3.0]]
_ON_LINE = {"weights": [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], "triplets": [[0, 1, 2]]}


def _even(a: float) -> list[list[float]]:
    """The metric (2, 2) of PLML for one feature and two equal basis metrics a, used in examples."""
    return [[a, 0.0], [0.0, a]]


def _both_ends(question: Question) -> float:
    return BothEnds().left(question.checked(instance), question)


class PLML(TripletMethod[Instance]):
    """Parametric local metric learning: local metrics that are mixtures of a few basis metrics."""

    id = "plml"
    TITLE = "PLML: local metrics mixed from a few (Wang, Woznica, Kalousis 2012)"
    PARAMETERS: ClassVar = {
        "alpha1": Parameter("weight of the squared norms of the basis metrics, > 0", NUMBER, 1.0),
        "alpha2": Parameter("weight of the distances of the pairs (i, j) of the triplets, >= 0", NUMBER, 1.0),
        "lam1": Parameter(
            "in the problem for the weights W: factor of the squared distances of points to anchors, >= 0",
            NUMBER,
            1.0,
        ),
        "lam2": Parameter(
            "in the problem for W: factor of the squared differences between the weights of neighbours in the graph, "
            ">= 0",
            NUMBER,
            100.0,
        ),
        "n_anchors": Parameter(
            "m, the number of basis metrics; the anchors are the m centres of k-means", COUNT, 5
        ),
        "anchors": Parameter("explicit anchors (m, d); they take precedence over n_anchors", POINTS),
        "weights": Parameter(
            "explicit weights (n, m), rows of the simplex", POINTS, otherwise="the optimal ones"
        ),
        "similarity": Parameter(
            "s_ij of a pair of points, >= 0, symmetric (n, n)",
            MATRIX,
            otherwise="1 for neighbours in the graph",
        ),
        "graph_neighbors": Parameter("number of neighbours of a point in the graph", COUNT, 6),
        "random_state": Parameter("seed of k-means", COUNT, 0),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement(
        "cvxml.methods.plml.problem", ("weights_problem", "weights_dual", "problem", "dual")
    )
    MISREADINGS: ClassVar = {
        **MISREADINGS,
        "both_ends": Misreading(
            "the weights of both points of a pair where the method takes those of the first",
            left=_both_ends,
        ),
    }
    WEIGHTS: ClassVar = {"alpha1": math.inf, "alpha2": math.inf}
    DERIVED: ClassVar = {
        **TripletMethod.DERIVED,
        "anchors": Derived(("n_anchors", "random_state"), repeats=False),
        "weights": Derived(("anchors", "lam1", "lam2", "similarity", "graph_neighbors"), repeats=False),
    }
    SMALL: ClassVar = {"n_neighbors": 2, "n_anchors": 1}
    UNITS: ClassVar = {"alpha1": 4}
    MOVES = True
    BAD: ClassVar = {
        **BAD_TRIPLETS,
        "alpha1": (0, -1.0),
        "alpha2": (-1.0, 1e20),
        "lam1": (-1.0,),
        "lam2": (-1.0, 1e200),
        "n_anchors": (0, 17),
        "anchors": ([[1.0, 2.0]], [[1.0, 2.0, math.nan]], [[1e31, 0.0, 0.0]]),
        "weights": (np.ones((15, 1)), np.full((16, 2), 0.45), [[2.0, -1.0]] * 16),
        "similarity": (np.ones((16, 16)), np.eye(3)),
        "graph_neighbors": (0,),
    }
    # Both metrics are a, at most 1/8: 2 alpha1 a^2 + [1 - 8 a]_+ + alpha2 a.
    HAND: ClassVar = (
        Hand(_LINE, None, {"alpha1": 1.0, "alpha2": 0.5, **_ON_LINE}, _even(1 / 8), 2 / 64 + 1 / 16),
        Hand(_LINE, None, {"alpha1": 3.0, "alpha2": 0.0, **_ON_LINE}, _even(1 / 8), 6 / 64),
        Hand(_LINE, None, {"alpha1": 100.0, "alpha2": 1.0, **_ON_LINE}, _even(7 / 400), 1 - 49 / 800),
        Hand(_LINE, None, {"alpha1": 1.0, "alpha2": 100.0, **_ON_LINE}, _even(0.0), 1.0),
    )
    RADIUS = True
    EXAMPLES: ClassVar = (
        drawn(5, 15, 3, n_anchors=2, n_neighbors=2),
        # more features than points
        drawn(7, 10, 12, 2, degenerate=True, n_anchors=2, n_neighbors=1, alpha1=0.1, alpha2=0.0),
        sample("iris", 15, n_anchors=3, n_neighbors=1, alpha1=10.0, lam2=1.0),
        verified("iris", 30, n_anchors=3, n_neighbors=2),
        verified("wine", 20, n_anchors=3, n_neighbors=2, alpha1=10.0),
        timed("iris"),
        timed("wine", n_anchors=10),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        """M (m d, m d) with entries outside the diagonal blocks set to 0."""
        return in_blocks(blocks_of(M, len(M) // given.X.shape[1]))

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def metric_size(self, given: Instance) -> int:
        """m d, the size of a matrix of m blocks (d, d)."""
        return int(given.m * given.X.shape[1])

    def matrix(self, given: Instance, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """M (m d, m d), from such a matrix or from the basis metrics (m, d, d). Raises ValueError for other shapes."""
        M, d = real_array(metric, name), given.X.shape[1]
        return super().matrix(given, in_blocks(M) if M.shape == (given.m, d, d) else metric, name)

    def metric(self, given: Instance, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """The user's `metric` as M (m d, m d), psd and block diagonal; `name` is its name in messages.

        Raises ValueError for entries outside the blocks, and for a matrix that is not psd within the tolerance.
        """
        M = super().metric(given, self.matrix(given, metric, name), name)
        inside = in_blocks(blocks_of(M, given.m))
        beyond, norm = float(np.abs(M - inside).max()), float(np.linalg.norm(M))
        if beyond > FEASIBILITY_TOL * norm:
            raise ValueError(
                f"{name} has an entry of {beyond:.3g} outside its {given.m} blocks of {given.X.shape[1]} "
                "features: entries outside the blocks must be 0"
            )
        return inside

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        return str(examine_blocks(M, given.X, given.m)[1])

    def problem(self, given: Instance) -> Any:
        from cvxml.methods.plml.problem import problem

        return problem(given.X, given.W, given.triplets(), given.targets, given.alpha1, given.alpha2)

    def constraint_names(self, given: Instance) -> list[str]:
        metrics = [f"M_{b} psd" for b in range(given.W.shape[1])]
        return [*metrics, "xi >= 0", *triplet_names(given.triplets())]

    def dual(self, given: Instance) -> Any:
        from cvxml.methods.plml.problem import dual

        return dual(given.X, given.W, given.triplets(), given.targets, given.alpha1, given.alpha2)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def literal_rows(self, given: Instance) -> int:
        """Return the size of the cvxpy problem as ceil(t / m), for t triplets and m basis metrics.

        The size is counted in constraints with coefficients (m d, m d). The constraint of a triplet has m coefficients
        (d, d), so m triplets count as one such constraint.
        """
        return -(-given.count // given.m)

    def inside(self, given: Instance, at: Moved, M: FloatArray) -> FloatArray:
        """The metric M (m d, m d) in the coordinates `at` of the points. Each block is transformed by itself."""
        return in_blocks(np.array([at.inside(own) for own in blocks_of(M, given.m)]))

    def outside(self, given: Instance, at: Moved, M: FloatArray) -> FloatArray:
        """The metric (m d, m d) of the features, for M in the coordinates `at`. Each block is transformed by itself."""
        return in_blocks(np.array([at.outside(own) for own in blocks_of(M, given.m)]))

    def rows(self, given: Instance) -> Triplets:
        return Listed(given.targets, given.impostors)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """The problem of the metrics: the regularizer alpha1 sum_b ||M_b||^2, and a hinge loss on the triplets.

        If alpha2 > 0, there is also a linear loss on the pairs of the triplets. number: makes the constants, float or
        Fraction.
        """
        norm = Blocks(given.X, given.W, 2 * number(given.alpha1))
        terms = [Term(Hinge(number(1)), self.rows(given))]
        if given.alpha2 > 0:
            terms.append(Term(Straight(number(given.alpha2)), PairRows(given.targets)))
        return Family(norm, tuple(terms), of_regularizer=True, radius=norm.around)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """The dual variables of the triplets, from "price" (t,) and "triplets" (t, 3), and of the pairs if alpha2 > 0.

        Only -alpha2 is feasible for a pair, because its loss is linear. So if alpha2 > 0, the dual variables are not
        scaled by a common factor. Those of the triplets are only clipped; then all are feasible and give a bound.
        """
        own = super().read(given, dual)
        if given.alpha2 == 0:
            return own
        pairs = len(given.targets)
        return (*own, Duals(np.full(pairs, -given.alpha2), np.arange(pairs)))

    def named(self, given: Instance, duals: Duals, *pulled: Duals) -> Dual:
        return super().named(given, duals)

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        return {"price": values["c"], "triplets": given.triplets()}

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        primal, values = solve_problem(self.problem(given), solver), solve_problem(self.dual(given), solver)
        metrics = np.array([project_psd(primal[f"M_{b}"]) for b in range(given.m)])
        return Found(in_blocks(metrics), self.duals(given, values), Status.CONVERGED, 0)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of the metrics M (m d, m d) for the weights of `given`, with the dual variables `dual`.

        It is undecided if the weights were computed and are not proved optimal.
        """
        certificate = super().certify(given, M, dual)
        return replace(certificate, undecided=certificate.undecided or given.unsolved)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The exact interval from the lower bound of `dual` to the objective at M (m d, m d).

        Both are for the weights W of `given`. root (m d, r): a factor of the blocks of M, if known. Raises Unproved if
        computed weights are not proved optimal.
        """
        if given.unsolved:
            raise Unproved(given.unsolved)
        return super().exact(given, M, dual, root=root)

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        if given.smooth is None:
            own = "the weights were given without anchors, so only the metrics are judged"
        else:
            proof = given.of_weights
            assert proof is not None
            own = (
                f"the weights are within {proof.gap:.2g} of the optimum of their own problem, {proof.rel_gap:.2g} of "
                f"its value {proof.objective:.6g}"
            )
        return (*found.notes, own, ONE_CLAIM_EACH)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {
            "alpha1": given.alpha1,
            "alpha2": given.alpha2,
            "lam1": given.lam1,
            "lam2": given.lam2,
            "n_anchors": given.m,
            "anchors": None if given.smooth is None else given.smooth.U.tolist(),
            "weights": given.W.tolist(),
            "similarity": given.similarity,
            "graph_neighbors": given.graph_neighbors,
            "random_state": given.random_state,
            **given.stored,
        }

    def derived(self, given: Instance) -> tuple[str, ...]:
        anchors, weights = ("anchors",) if given.drawn else (), ("weights",) if given.solved else ()
        return (*super().derived(given), *anchors, *weights)

    def differs(self, given: Instance, name: str, params: Mapping[str, Any]) -> str:
        """Return a message if the stored parameter `name` is not the result of the other `params`; else empty.

        Anchors are computed again by k-means and compared. Weights are accepted if they are proved optimal within
        `WELL` in their own problem.
        """
        if name == "anchors":
            drawn = k_means(given.X, given.m, given.random_state)
            if given.smooth is not None and alike(POINTS, drawn, given.smooth.U):
                return ""
            return self.DERIVED[name].differs(name, params)
        if name == "weights":
            proof = given.of_weights
            if proof is not None and proof.rel_gap <= WELL:
                return ""
            left = (
                ""
                if proof is None
                else f": their relative gap is up to {proof.rel_gap:.2g}, allowed is {WELL:g}"
            )
            return f"its weights are not proved optimal for its anchors, lam1 and lam2{left}"
        return super().differs(given, name, params)


class BothEnds(PLML):
    """A misreading: PLML with the mean of the weights of both points of a pair."""

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        norm = MeanShares(given.X, given.W, 2 * number(given.alpha1))
        return super().member(given, number)._replace(regularizer=norm, radius=norm.around)


METHOD = PLML()
