"""LMNN, large margin nearest neighbours (Weinberger, Saul 2009): targets near, impostors a margin further away.

Problem. j is a target of i. A triplet (i, j, l) is a target j of i and a point l of another class, the impostor.

    min_{M psd}  (1 - mu) sum_ij D_M(i, j)  +  mu sum_ijl [1 + D_M(i, j) - D_M(i, l)]_+ .

D_M is the squared distance. `problem` states this line by line, with slack variables for the hinge, as other papers
quote it. The method "lmnn:squared_hinge" squares the slacks; it is not in the paper.

Inputs. By default the targets of a point are the nearest points of its class, as in the paper. The user can give
targets, or triplets without labels. Then the j of the triplets are the targets, and only the listed l are impostors.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem. The regularizer is <C, M> with
C = (1 - mu) sum_ij X_ij, where X_ij is (x_i - x_j)(x_i - x_j)^T, and the loss is a hinge on the triplets.
Scale, the number that gaps are relative to: the objective, but at least `NOTHING` (1e-9) * mu * (number of triplets).
The optimum may be 0, and then a gap relative to it would be undefined. The product mu * (number of triplets) is the
objective at M = 0.
Radius: there is no radius, because the optimum need not be unique.

A misreading is another problem that an implementation may have solved by mistake. `check` tries those of `misreadings`.
A `Question` is the user's metric, with the data and parameters that it was judged with.

Reference: K. Q. Weinberger, L. K. Saul, Distance metric learning for large margin nearest neighbor classification,
JMLR 10, 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.clock import watched
from cvxml.core.derived import Derived
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_count, check_labels, check_number, check_X, class_names
from cvxml.core.literal import triplet_names
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed, is_improved
from cvxml.core.neighbors import squared_euclidean
from cvxml.core.other_lists import TRIPLETS, by_class
from cvxml.core.parameter import COUNT, LISTS, NUMBER, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.core.targets import OtherClasses, count, given_targets, nearest_of_class
from cvxml.core.triplets import BAD_TRIPLETS, GIVEN_TRIPLETS, given_triplets
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family, Term, certify, scale, value
from cvxml.solvers.family_method import FamilyMethod
from cvxml.solvers.multipliers import images

MIN_MU = 1e-12  # mu and 1 - mu must be at least this
NOTHING = 1e-9  # smallest scale, relative to the objective at M = 0
VIOLATED = 1e-9  # constraint generation adds a triplet if its slack is larger
ROUNDS = 50  # at most, of constraint generation
MAX_ITER = 100  # for the problem of a misreading
# Relative to the largest squared target distance. The square root has no usable slope at smaller distances.
AT_A_CUSP = 1e-9
NEXT_TO_IT = 1e-2  # triplets that keep their margin by at most this get a dual variable too
FEW, MOST = 6, 20_000  # nearest impostors of each target, and most triplets, for the duals of two misreadings


def problem(X: FloatArray, targets: IntArray, triplets: IntArray, mu: float, squared: bool) -> Any:
    """The problem, row by row. Variables: "M" (d, d) and, if there are triplets, the slacks "xi" (t,).

    X (n, d): points. targets (p, 2): pairs i, j. triplets (t, 3): i, j, l. squared: square the slacks.
    """
    import cvxpy as cp

    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    distances: dict[tuple[int, int], Any] = {}

    def D_M(i: int, j: int) -> Any:
        if (i, j) not in distances:
            #: D_M(x_i, x_j) = (x_i - x_j)^T M (x_i - x_j)
            #:   | D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)
            #:     = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j)
            distances[i, j] = (X[i] - X[j]) @ M @ (X[i] - X[j])
        return distances[i, j]

    #: j: the targets of i, the k nearest of its class, or given
    #:   | j \rightsquigarrow i \text{: the targets } j \text{ of } i,
    #:     \text{ the } k \text{ nearest of its class, or given}
    pull = cp.sum(cp.hstack([D_M(i, j) for i, j in targets.tolist()]))
    if len(triplets) == 0:
        #: if the problem has no triplet: min over M:  (1 - mu) sum_ij D_M(x_i, x_j)
        #:   | \text{if the problem has no triplet: } \min_{\mathbf{M}}\ (1 - \mu)
        #:     \sum_{i,\, j \rightsquigarrow i} D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)
        return cp.Problem(cp.Minimize((1 - mu) * pull), [M >> 0])

    xi = cp.Variable(len(triplets), name="xi")
    #: M psd,  xi >= 0 | \mathbf{M} \succeq 0, \quad \xi \ge 0
    constraints = [M >> 0, xi >= 0]
    for t, (i, j, l) in enumerate(triplets.tolist()):
        #: for every target j of i, every l with y_l != y_i: D_M(x_i, x_l) - D_M(x_i, x_j) >= 1 - xi_ijl
        #:   | D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_l) - D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j) \ge 1 - \xi_{ijl}
        #:     \quad \text{for every } j \rightsquigarrow i \text{ and every } l \text{ with } y_l \ne y_i
        constraints += [D_M(i, l) - D_M(i, j) >= 1 - xi[t]]

    push = cp.sum_squares(xi) if squared else cp.sum(xi)
    #: if not squared: min over M, xi:  (1 - mu) sum_ij D_M(x_i, x_j) + mu sum_ijl xi_ijl
    #:   | \min_{\mathbf{M},\, \xi}\ (1 - \mu)
    #:     \sum_{i,\, j \rightsquigarrow i} D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)
    #:     + \mu \sum_{i,\, j \rightsquigarrow i,\, l} \xi_{ijl}
    #: if squared: min over M, xi:  (1 - mu) sum_ij D_M(x_i, x_j) + mu sum_ijl xi_ijl^2
    #:   | \min_{\mathbf{M},\, \xi}\ (1 - \mu)
    #:     \sum_{i,\, j \rightsquigarrow i} D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)
    #:     + \mu \sum_{i,\, j \rightsquigarrow i,\, l} \xi_{ijl}^2
    return cp.Problem(cp.Minimize((1 - mu) * pull + mu * push), constraints)


def dual(X: FloatArray, targets: IntArray, triplets: IntArray, mu: float, squared: bool) -> Any:
    """The dual of the problem. Variable: "lambda" (t,), one dual variable for each triplet.

    Without triplets there is no variable. The parameters are those of `problem`.
    """
    import cvxpy as cp

    d = X.shape[1]
    if len(triplets) == 0:
        #: if the problem has no triplet: the bound is 0 | \text{if the problem has no triplet: the bound is 0}
        return cp.Problem(cp.Maximize(0))

    def X_(i: int, j: int) -> FloatArray:
        #: X_ij = (x_i - x_j)(x_i - x_j)^T | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        return np.outer(X[i] - X[j], X[i] - X[j])

    pull = sum((X_(i, j) for i, j in targets.tolist()), np.zeros((d, d)))
    lam = cp.Variable(len(triplets), name="lambda")
    rows = np.array([(X_(i, j) - X_(i, l)).ravel() for i, j, l in triplets.tolist()])
    #: Z = (1 - mu) sum_ij X_ij + sum_ijl lambda_ijl (X_ij - X_il)
    #:   | Z = (1 - \mu) \sum_{i,\, j \rightsquigarrow i} X_{ij} + \sum_{ijl} \lambda_{ijl} (X_{ij} - X_{il})
    Z = (1 - mu) * pull + cp.reshape(rows.T @ lam, (d, d), order="C")
    if squared:
        #: if squared: max over lambda:  sum_ijl ( lambda_ijl - lambda_ijl^2/(4 mu) )
        #:   | \max_{\lambda}\ \sum_{ijl} \Bigl( \lambda_{ijl} - \frac{\lambda_{ijl}^2}{4 \mu} \Bigr)
        #: if squared: Z psd,  lambda_ijl >= 0 | Z \succeq 0, \quad \lambda_{ijl} \ge 0
        return cp.Problem(cp.Maximize(cp.sum(lam) - cp.sum_squares(lam) / (4 * mu)), [Z >> 0, lam >= 0])
    #: if not squared: max over lambda:  sum_ijl lambda_ijl | \max_{\lambda}\ \sum_{ijl} \lambda_{ijl}
    #: if not squared: Z psd,  0 <= lambda_ijl <= mu | Z \succeq 0, \quad 0 \le \lambda_{ijl} \le \mu
    return cp.Problem(cp.Maximize(cp.sum(lam)), [Z >> 0, lam >= 0, lam <= mu])
    #: [What is proved]
    #: any feasible lambda gives a lower bound | \text{any feasible } \lambda \text{ gives a lower bound}


class Instance(NamedTuple):
    """Checked inputs. A triplet is a row of `targets` together with a point l that is an impostor for this row.

    targets (p, 2): rows i, j. impostors (p, n): True if point l is an impostor for the row. n_neighbors: None if
    targets or triplets were given.

    ties: the number of points whose furthest target is as near as another point of the class that is not a target.
    labelled: False if triplets were given.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes
    targets: IntArray  # (p, 2): i and a target j
    impostors: Any  # (p, n), True if l is an impostor for the row of `targets`
    mu: float
    n_neighbors: int | None = None  # None if targets or triplets were given
    ties: int = 0  # points with a tie for their last target
    labelled: bool = True  # False if triplets were given

    def triplets(self, counts: np.ndarray | None = None) -> IntArray:
        """The triplets i, j, l (t, 3): all, or those at the True entries of `counts` (p, n)."""
        row, l = np.nonzero(np.asarray(self.impostors if counts is None else counts))
        return np.concatenate([self.targets[row], l[:, None]], axis=1)

    def target_lists(self) -> list[list[int]]:
        """The list of targets of every point, in the form of the parameter `targets`."""
        lists: list[list[int]] = [[] for _ in self.X]
        for i, j in self.targets.tolist():
            lists[i].append(j)
        return lists


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    mu: float = 0.5,
    n_neighbors: int | None = 3,
    targets: Any = None,
    triplets: Any = None,
) -> Instance:
    """Check all inputs and choose the targets. Raises ValueError for bad input.

    X (n, d), y (n,) labels, or None if triplets are given. mu: weight of the impostors, 1e-12 to 1 - 1e-12.

    n_neighbors: number of nearest targets, if neither targets nor triplets are given. targets: a list of points of the
    same class for each point.

    triplets (t, 3): i, j, l. `targets` and `triplets` exclude each other.
    """
    points = check_X(X)
    if y is None and triplets is None:
        raise ValueError("y is None: it must be one-dimensional, one label for each point, or give triplets")
    codes = np.zeros(len(points), dtype=np.intp) if y is None else check_labels(y, len(points))
    if not MIN_MU <= check_number(mu, "mu") <= 1 - MIN_MU:
        raise ValueError(
            f"mu must be between {MIN_MU:g} and 1 - {MIN_MU:g}, got {mu!r}: "
            "1 - mu is the weight of the targets, mu that of the impostors"
        )
    if triplets is not None:
        if targets is not None:
            raise ValueError(
                "targets and triplets are both given: give one of them, because the j of triplets (i, j, l) are "
                "the targets"
            )
        pairs, counts = given_triplets(triplets, len(points))
        return Instance(points, codes, pairs, counts, float(mu), labelled=False)
    if targets is None:
        n_neighbors = check_count(n_neighbors, "n_neighbors")
        pairs, ties = nearest_of_class(points, codes, n_neighbors, class_names(y))
    else:
        n_neighbors, pairs, ties = None, given_targets(targets, codes), 0
    return Instance(
        points, codes, pairs, OtherClasses(codes[pairs[:, 0]], codes), float(mu), n_neighbors, ties
    )


def objective(given: Instance, M: FloatArray, squared: bool) -> float:
    """(1 - mu) sum_ij D_M(i, j) + mu sum_ijl [1 + D_M(i, j) - D_M(i, l)]_+ at M (d, d).

    The sums are over targets (i, j) and triplets (i, j, l). squared: each hinge is squared.
    """
    pull = push = 0.0
    for (i, j), counts in zip(given.targets.tolist(), given.impostors, strict=True):
        D = _distances(given.X, i, M)
        pull += float(D[j])
        xi = np.maximum(0.0, 1 + D[j] - D[counts])
        push += float(np.sum(xi**2 if squared else xi))
    return (1 - given.mu) * pull + given.mu * push


def evaluate(given: Instance, M: FloatArray, squared: bool) -> dict[str, Any]:
    """Return the intermediates at M (d, d), by name.

    objective: (1 - mu) pull + mu push. pull: the sum of target_distances. push: the sum of xi, or of xi^2 if `squared`.

    targets (p, 2). target_distances (p,): squared. triplets (t, 3): those with a positive slack. xi (t,): their slacks.

    impostor_counts (p,): number of these triplets for each target. subgradient (d, d) of the objective.
    """
    distances, triplets, slacks = [], [], []
    gradient = np.zeros_like(M)
    for (i, j), counts in zip(given.targets.tolist(), given.impostors, strict=True):
        D = _distances(given.X, i, M)
        distances.append(float(D[j]))
        xi = np.where(counts, 1 + D[j] - D, 0.0)
        X_ij = np.outer(given.X[i] - given.X[j], given.X[i] - given.X[j])
        gradient += (1 - given.mu) * X_ij
        for l in np.flatnonzero(xi > 0).tolist():
            triplets.append((i, j, l))
            slacks.append(float(xi[l]))
            weight = 2 * slacks[-1] if squared else 1.0
            gradient += (
                given.mu * weight * (X_ij - np.outer(given.X[i] - given.X[l], given.X[i] - given.X[l]))
            )
    found = np.array(triplets, dtype=np.intp).reshape(-1, 3)
    xi_of = np.array(slacks)
    counted = dict.fromkeys(map(tuple, given.targets.tolist()), 0)
    for i, j, _ in triplets:
        counted[i, j] += 1
    pull, push = float(np.sum(distances)), float(np.sum(xi_of**2 if squared else xi_of))
    return {
        "objective": (1 - given.mu) * pull + given.mu * push,
        "pull": pull,
        "push": push,
        "targets": given.targets,
        "target_distances": np.array(distances),
        "triplets": found,
        "xi": xi_of,
        "impostor_counts": np.array([counted[i, j] for i, j in given.targets.tolist()], dtype=np.intp),
        "subgradient": gradient,
    }


def _distances(X: FloatArray, i: int, M: FloatArray) -> FloatArray:
    """The squared distance D_M(i, l) for every point l, (n,)."""
    difference = X[i] - X
    D: FloatArray = np.sum((difference @ M) * difference, axis=1)
    return D


def generated(given: Instance, squared: bool, solver: str) -> Found:
    """Solve `problem` and `dual` by constraint generation, with the back end `solver` of cvxpy.

    A triplet is violated by a metric if its slack is above `VIOLATED` (1e-9). The first round has the triplets that are
    violated by the multiple of the Euclidean metric with a mean squared target distance of 1. Each further round adds
    the triplets that the last solution violates. A solution that violates no further triplet solves the problem with
    all triplets. There are at most `ROUNDS` (50) rounds.
    """
    taken = np.zeros_like(given.impostors)
    length = float(
        np.mean(np.sum((given.X[given.targets[:, 0]] - given.X[given.targets[:, 1]]) ** 2, axis=1))
    )
    M = np.eye(given.X.shape[1]) / (length or 1.0)
    for rounds in watched(range(1, ROUNDS + 1)):
        violated = (_missed(given, M) > VIOLATED) & ~taken
        if rounds > 1 and not violated.any():
            break
        taken |= violated
        triplets = given.triplets(taken)
        M = project_psd(
            solve_problem(problem(given.X, given.targets, triplets, given.mu, squared), solver)["M"]
        )
    duals = np.zeros(0)
    if len(triplets):
        duals = solve_problem(dual(given.X, given.targets, triplets, given.mu, squared), solver)["lambda"]
    return Found(M, {"price": duals, "triplets": triplets}, Status.CONVERGED, rounds)


def _missed(given: Instance, M: FloatArray) -> FloatArray:
    """The violation 1 + D_M(i, j) - D_M(i, l) of every target and point l (p, n); 0 if l is not an impostor."""
    found = np.zeros(given.impostors.shape)
    for row, (i, j) in enumerate(given.targets.tolist()):
        difference = given.X[i] - given.X
        D = np.einsum("na,ab,nb->n", difference, M, difference)
        found[row] = np.where(given.impostors[row], 1 + D[j] - D, 0.0)
    return found


def _on_a_line(mu: float, m: float, objective: float) -> Hand:
    """The example of a point at 0, its target at 1 and an impostor at 3, with the weight mu.

    m: the optimal metric, a number. objective: the optimal objective.
    """
    return Hand([[0.0], [1.0], [3.0]], [0, 0, 1], {"mu": mu, "targets": [[1], [], []]}, [[m]], objective)


# The second feature separates the impostor, and the target does not differ in it. The optimum is 0.
_FREE = Hand([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 0, 1], {"targets": [[1], [], []]}, None, 0.0)


class LMNN(FamilyMethod[Instance]):
    """Large margin nearest neighbours. squared: True for the squared hinge, which is not in the paper."""

    PARAMETERS: ClassVar = {
        "mu": Parameter(
            "weight of the impostors, between 0 and 1; that of the targets is 1 - mu", NUMBER, 0.5
        ),
        "n_neighbors": Parameter(
            "k, the number of targets of a point: the nearest points of its class", COUNT, 3
        ),
        "targets": Parameter(
            "explicit targets, a list of points of its class for each point; they take precedence over "
            "n_neighbors",
            LISTS,
        ),
        "triplets": GIVEN_TRIPLETS,
    }
    WEIGHTS: ClassVar = {"mu": 1.0}
    DUAL: ClassVar = {"price": "t", "triplets": "t 3"}
    DERIVED: ClassVar = dict.fromkeys(("targets", "triplets"), Derived(("y", "n_neighbors")))
    SMALL: ClassVar = {"n_neighbors": 2}
    FOLLOWS = "linear"
    MOVES = True
    BAD: ClassVar = {
        **BAD_TRIPLETS,
        "mu": (0, 1, -0.5, 1.5, "half"),
        "targets": ([[]] * 16, [[0]] + [[]] * 15, [[1]] + [[]] * 15, [[2]]),
    }
    ESTIMATOR: ClassVar = Estimator(
        "LMNN",
        positional=("mu", "n_neighbors"),
        says={"squared_hinge": 'True: the slacks are squared, as in the method "lmnn:squared_hinge"'},
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3, mu=0.3),
        drawn(6, 16, 4, 2, mu=0.8, n_neighbors=1),
        drawn(7, 18, 5, degenerate=True),
        sample("iris", 21, n_neighbors=2),
        verified("iris", 18),
        verified("wine", 20, mu=0.8, n_neighbors=1),
        timed("iris"),
        timed("wine"),
    )

    def __init__(self, squared: bool):
        self.squared = squared
        self.id = "lmnn:squared_hinge" if squared else "lmnn"
        hinge = ", squared hinge" if squared else ""
        self.TITLE = f"LMNN: large margin nearest neighbours{hinge} (Weinberger, Saul 2009)"
        self.STATEMENT = Statement("cvxml.methods.lmnn", ("problem", "dual"), {"squared": squared})

    @property
    def HAND(self) -> tuple[Hand, ...]:  # type: ignore[override]
        """Examples with a known optimum: one triplet on a line, and one in the plane with the optimum 0.

        On the line a metric m >= 0 has the objective (1 - mu) m + mu [1 - 8 m]_+, or the same with the squared hinge.
        """
        if self.squared:  # the optimum m solves 0.4 - 9.6 (1 - 8 m) = 0
            return (_on_a_line(0.6, 23 / 192, 0.4 * 23 / 192 + 0.6 / 24**2), _FREE)
        # For mu = 0.6 the slope -8 mu of the hinge is steeper than -(1 - mu), so m = 1/8. For mu = 0.1 it is flatter.
        return (_on_a_line(0.6, 1 / 8, 0.05), _on_a_line(0.1, 0.0, 0.1), _FREE)

    @property
    def MISREADINGS(self) -> dict[str, Misreading]:  # type: ignore[override]
        return misreadings(self)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.targets, given.triplets(), given.mu, self.squared)

    def literal_rows(self, given: Instance) -> int:
        """The number of triplets. Each has a constraint of `problem` with a coefficient matrix (d, d)."""
        return int(np.count_nonzero(given.impostors))

    def constraint_names(self, given: Instance) -> list[str]:
        triplets = triplet_names(given.triplets())
        return ["M psd", "xi >= 0", *triplets] if triplets else ["M psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.targets, given.triplets(), given.mu, self.squared)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        return generated(given, self.squared, solver)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M, self.squared)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M, self.squared)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        mu = number(given.mu)
        C = Weights(given.targets, np.full(len(given.targets), 1 - mu))
        hinge = SquaredHinge(mu) if self.squared else Hinge(mu)
        floor = NOTHING * given.mu * count(given.impostors)
        regularizer = Linear(given.X, C, "targets differ from their points")
        return Family(regularizer, (Term(hinge, Triplets(given.targets, given.impostors)),), floor)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables in `dual`: "price" (t,) has one for each row i, j, l of "triplets" (t, 3).

        Triplets that the problem does not have are dropped, and so are dual variables that are not positive.
        """
        return (Triplets(given.targets, given.impostors).read(dual),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        return {"price": duals.a, "triplets": Triplets(given.targets, given.impostors).named(duals)}

    def stored(self, given: Instance) -> dict[str, Any]:
        if not given.labelled:
            return {"mu": given.mu, "n_neighbors": None, "triplets": given.triplets().tolist()}
        return {"mu": given.mu, "n_neighbors": given.n_neighbors, "targets": given.target_lists()}

    def derived(self, given: Instance) -> tuple[str, ...]:
        return () if given.n_neighbors is None else ("targets",)

    def ties(self, given: Instance) -> int:
        """The number of points whose furthest target is as near as another point of the class that is not a target."""
        return given.ties

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        priced = np.count_nonzero(certificate.dual["price"])
        said = [f"{count(given.impostors)} triplets, {priced} with a positive dual variable"]
        if given.ties:
            said.append(
                f"for {given.ties} points, several points tie for the last target; the lowest index was taken"
            )
        return said


def misreadings(method: LMNN) -> dict[str, Misreading]:
    """Return the problems that implementations of LMNN solve by mistake, by name.

    If a mistake changes the weights, the result is LMNN with another mu, because only the ratio of the weights matters.
    If it changes the triplets, the result is LMNN with these triplets; it is solved and certified like the original.
    With a margin other than 1, the result is a multiple of a solution of LMNN: for the same mu, or with the squared
    hinge for another mu. `check` recognises such multiples for every method, so they are not listed here.

    Three mistakes are not recognised. Gradient steps on L, with M = L^T L, that stop early do not return the optimum of
    any problem. A diagonal metric is not tried. Plain distances in the hinge make the problem non-convex.
    """

    def given(question: Question) -> Instance:
        return question.checked(method.instance)

    def weights(ratio: Callable[[Instance], float | None]) -> Callable[[Question], OtherProblem | None]:
        """Return the misreading in which a triplet weighs r = ratio(instance) times as much as a target.

        It does not apply if r is None, or not between 1e-9 and 1e9.
        """

        def mu(question: Question) -> float | None:
            r = ratio(given(question))
            return None if r is None or not 1e-9 < r < 1e9 else r / (1 + r)

        return changed("mu", mu)

    def rows(change: Callable[[Question, Instance], Instance | None]) -> Callable[[Question], float]:
        return lambda question: _left(method, question, change(question, given(question)))

    other = "lmnn" if method.squared else "lmnn:squared_hinge"
    hinge = (
        "the linear hinge where the method has its square"
        if method.squared
        else ("the squared hinge where the method has the linear hinge")
    )
    return {
        "mu_exchanged": Misreading(
            "mu as the weight of the targets and 1 - mu as that of the impostors", weights(_exchanged)
        ),
        "targets_1": Misreading(
            "weight 1 for the targets where the method has 1 - mu", weights(lambda p: p.mu)
        ),
        "impostors_1": Misreading(
            "weight 1 for the impostors where the method has mu", weights(lambda p: 1 / (1 - p.mu))
        ),
        "means": Misreading(
            "means over targets and over triplets where the method has sums", weights(_means)
        ),
        "push_mean": Misreading("the mean over triplets where the method has the sum", weights(_push_mean)),
        "push_per_point": Misreading(
            "the sum over triplets divided by n", weights(lambda p: _ratio(p) / len(p.X))
        ),
        "hinge": Misreading(hinge, lambda q: OtherProblem(q.X, q.y, q.params, method=other)),
        "k_less": Misreading("n_neighbors - 1 targets of each point", _another_k(-1)),
        "k_more": Misreading("n_neighbors + 1 targets of each point", _another_k(1)),
        "self": Misreading("each point counted as its own first target", left=rows(_self_first)),
        "nearest_only": Misreading("only the impostors of the nearest target", left=rows(_only(min))),
        "furthest_only": Misreading("only the impostors of the furthest target", left=rows(_only(max))),
        "ten": Misreading(
            "only the ten nearest impostors of each point by Euclidean distance", left=rows(_nearest_ten)
        ),
        "hardest": Misreading(
            "only the impostor with the largest slack of each target, where the method counts all",
            left=lambda q: _left_of_hardest(method, q),
        ),
        "frozen": Misreading("only the impostors of the Euclidean metric", left=rows(_frozen)),
        "exchanged": Misreading(
            "j and l exchanged in the triplets: the point that should be far is given first",
            changed("triplets", _exchanged_points),
        ),
        "one_way": Misreading("two points that are targets of each other counted once", left=rows(_one_way)),
        "unsquared_pull": Misreading(
            "the distance of targets in the pull where the paper has its square (not convex, tested to first order)",
            left=lambda q: _left_of_unsquared(method, q),
        ),
        "class_weights": Misreading(
            "equal weights of the classes, where the method has equal weights of the points",
            left=lambda q: _left_of_class_weights(method, q),
        ),
        **TRIPLETS,
    }


def _ratio(p: Instance) -> float:
    return p.mu / (1 - p.mu)


def _exchanged(p: Instance) -> float | None:
    return None if p.mu == 0.5 else 1 / _ratio(p)


def _means(p: Instance) -> float:
    return _ratio(p) * len(p.targets) / count(p.impostors)


def _push_mean(p: Instance) -> float:
    return _ratio(p) / count(p.impostors)


def _another_k(more: int) -> Callable[[Question], OtherProblem | None]:
    def k(question: Question) -> int | None:
        if not by_class(question):
            return None
        return int(question.params.get("n_neighbors", 3)) + more or None

    return changed("n_neighbors", k)


def _exchanged_points(question: Question) -> Any:
    """The given triplets with j and l exchanged; None if no triplets were given."""
    triplets = question.params.get("triplets")
    return None if triplets is None else np.asarray(triplets)[:, [0, 2, 1]].tolist()


def _with(p: Instance, targets: IntArray, impostors: Any) -> Instance:
    return p._replace(targets=targets, impostors=impostors)


def _self_first(question: Question, p: Instance) -> Instance | None:
    """The problem in which each point is its own first target, and its last target is dropped.

    p: the checked inputs of the user. None if targets or triplets were given.
    """
    if not by_class(question):
        return None
    lists = p.target_lists()
    targets = np.array([(i, j) for i, listed in enumerate(lists) for j in (i, *listed[:-1])], dtype=np.intp)
    return _with(p, targets, OtherClasses(p.y[targets[:, 0]], p.y))


def _euclid(p: Instance) -> FloatArray:
    return squared_euclidean(p.X, p.X)


def _only(choose: Callable[..., Any]) -> Callable[[Question, Instance], Instance]:
    """Return a function that keeps the triplets of one target of each point only: the nearest or the furthest.

    choose: min for the nearest target, max for the furthest, by Euclidean distance.
    """

    def change(question: Question, p: Instance) -> Instance:
        D = _euclid(p)
        chosen = {
            (i, choose(listed, key=lambda j: D[i, j])) for i, listed in enumerate(p.target_lists()) if listed
        }
        keep = np.array([pair in chosen for pair in map(tuple, p.targets.tolist())])
        return _with(p, p.targets, np.asarray(p.impostors) & keep[:, None])

    return change


def _frozen(question: Question, p: Instance) -> Instance:
    D = _euclid(p)
    i, j = p.targets.T
    return _with(p, p.targets, np.asarray(p.impostors) & (D[i] < 1 + D[i, j][:, None]))


def _nearest_ten(question: Question, p: Instance) -> Instance | None:
    listed = np.asarray(p.impostors)
    distances = np.where(listed, _euclid(p)[p.targets[:, 0]], np.inf)
    kept = np.zeros_like(listed)
    np.put_along_axis(kept, np.argsort(distances, axis=1, kind="stable")[:, :10], True, axis=1)
    kept &= listed
    return None if (kept == listed).all() else _with(p, p.targets, kept)


def _left_of_hardest(method: LMNN, question: Question) -> float:
    """The relative gap of the user's metric in the problem that counts only the largest slack of each target.

    Dual variables with a sum of at most mu for each target give a lower bound of this problem. They are computed for
    the triplets with the `FEW` (6) nearest impostors of each target. The result is inf if there are more than `MOST`
    (20,000) such triplets. It is also inf if the hinge is squared, a target has no impostor, the objective is 0, or a
    metric nearby is clearly better.
    """
    import cvxpy as cp

    p, M = question.checked(method.instance), question.metric
    listed = np.asarray(p.impostors)
    if method.squared or not listed.any(axis=1).all():
        return math.inf
    i, j = p.targets.T

    def distances(A: FloatArray) -> FloatArray:
        z = images(p.X, A)
        return squared_euclidean(z, z)

    def objective_of(A: FloatArray) -> float:
        D = distances(A)
        slacks = np.maximum(0.0, 1 + D[i, j] - np.where(listed, D[i], np.inf).min(axis=1))
        return float((1 - p.mu) * D[i, j].sum() + p.mu * slacks.sum())

    D, objective = distances(M), objective_of(M)
    if is_improved(objective_of, question, project_psd(M), objective):
        return math.inf
    others = np.where(listed, D[i], np.inf)
    # Dual variables for the nearest impostors of each target are enough. If the metric is optimal, the bound is tight.
    few = np.sort(others, axis=1)[:, min(FEW, len(D)) - 1]
    t, l = np.nonzero((others <= few[:, None]) & listed)
    if len(t) > MOST or objective <= 0:
        return math.inf
    question.check_back_end(len(t), len(M))
    triplets, of_target = np.column_stack([p.targets[t], l]), t == np.arange(len(p.targets))[:, None]
    stated = dual(p.X, p.targets, triplets, p.mu, squared=False)
    capped = of_target.astype(float) @ stated.var_dict["lambda"] <= p.mu
    found = solve_problem(cp.Problem(stated.objective, [*stated.constraints, capped]), "clarabel")
    repaired = method.certify(p, M, {"price": found["lambda"], "triplets": triplets}).dual
    price, (point, target) = repaired["price"], np.asarray(repaired["triplets"])[:, :2].T
    sums = np.bincount(np.unique(point * len(D) + target, return_inverse=True)[1], price)
    bound = float(price.sum()) * p.mu / max(p.mu, float(sums.max(initial=0.0)))
    return max(0.0, objective - bound) / objective


class WeightedTargets(LMNN):
    """The problem of a misreading: LMNN with a separate weight (p,) for each target."""

    def __init__(self, squared: bool, weights: FloatArray):
        super().__init__(squared)
        self.weights = weights

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        """The hinge of LMNN as the loss, and <C, M> with C = (1 - mu) sum of weight * X_ij as the regularizer.

        number: the type that the constant mu of the hinge gets, float or Fraction.
        """
        C = Weights(given.targets, (1 - given.mu) * self.weights)
        regularizer = Linear(given.X, C, "targets differ from their points")
        return super().member(given, number)._replace(regularizer=regularizer)


def _left_of_unsquared(method: LMNN, question: Question) -> float:
    """The relative gap of the user's metric M, to first order, if the distances of targets are not squared.

    The sum over targets then has sqrt D_A in place of D_A, for a metric A. Each sqrt D_A is replaced by its tangent at
    A = M, which is D_A / (2 sqrt D_M) plus a constant. The gap is that of the problem with the tangents. If it is 0, M
    is stationary for the problem with the roots. The result is inf if some D_M is at most `AT_A_CUSP` (1e-9) times the
    largest.
    """
    p = question.checked(method.instance)
    e = p.X[p.targets[:, 0]] - p.X[p.targets[:, 1]]
    D = np.sum((e @ question.metric) * e, axis=1)
    if D.min() <= AT_A_CUSP * D.max():
        return math.inf
    return WeightedTargets(method.squared, 1 / (2 * np.sqrt(D))).left(p, question, MAX_ITER)


def _left_of_class_weights(method: LMNN, question: Question) -> float:
    """The relative gap of the user's metric M, if a point weighs n / (number of classes * size of its class).

    Dual variables are computed for the triplets that M violates or nearly violates. The result is inf if all classes
    have the same size, if triplets were given, or if a metric nearby is clearly better. It is also inf if there are no
    such triplets or more than `MOST` (20,000), or if M is infeasible or rounding prevents a decision.
    """
    import cvxpy as cp

    p, M = question.checked(method.instance), question.metric
    sizes = np.bincount(p.y)
    if not p.labelled or sizes.min() == sizes.max() or len(M) != p.X.shape[1]:
        return math.inf
    weight = len(p.y) / (len(sizes) * sizes)
    kind, impostors = SquaredHinge if method.squared else Hinge, np.asarray(p.impostors)
    of_point = p.y[p.targets[:, 0]]
    pulled = Weights(p.targets, (1 - p.mu) * weight[of_point])
    rows = [Triplets(p.targets[of_point == c], impostors[of_point == c]) for c in range(len(sizes))]
    terms = tuple(Term(kind(p.mu * by), own) for by, own in zip(weight.tolist(), rows, strict=True))
    family = Family(Linear(p.X, pulled, "targets differ from their points"), terms)
    if is_improved(lambda A: value(family, A).value, question, project_psd(M), scale(family, M)):
        return math.inf
    z, (i, j) = images(p.X, M), p.targets.T
    D = squared_euclidean(z, z)
    t, l = np.nonzero((D[i] - D[i, j][:, None] <= 1 + NEXT_TO_IT) & np.asarray(p.impostors))
    if len(t) == 0 or len(t) > MOST:
        return math.inf
    question.check_back_end(len(t), len(M))
    by_target = weight[p.y[i]]
    e, far = p.X[i] - p.X[j], p.X[i[t]] - p.X[l]
    C = (1 - p.mu) * (e * by_target[:, None]).T @ e
    H = np.einsum("ta,tb->tab", far, far) - np.einsum("ta,tb->tab", e[t], e[t])
    duals, most = cp.Variable(len(t), nonneg=True, name="a"), p.mu * by_target[t]
    slack = C - cp.reshape(H.reshape(len(t), -1).T @ duals, C.shape, order="C")
    paid = cp.sum(cp.multiply(1 / (4 * most), duals**2)) if method.squared else 0
    capped = [] if method.squared else [duals <= most]
    stated = cp.Problem(cp.Maximize(cp.sum(duals) - paid), [slack >> 0, *capped])
    found = {"price": solve_problem(stated, "clarabel")["a"], "triplets": np.column_stack([i[t], j[t], l])}
    proof, _ = certify(family, M, [own.read(found) for own in rows])
    if not (proof.feasibility.feasible and proof.scale > 0 and proof.decides(question.tol)):
        return math.inf
    return max(0.0, proof.gap - proof.rounding) / proof.scale


def _one_way(question: Question, p: Instance) -> Instance | None:
    """The problem that counts two points once if each is a target of the other.

    Of the rows (i, j) and (j, i) of `targets` only the first is kept, with its triplets. None if there is no such pair.
    """
    seen: set[tuple[int, ...]] = set()
    keep = []
    for pair in p.targets.tolist():
        keep.append(tuple(sorted(pair)) not in seen)
        seen.add(tuple(sorted(pair)))
    kept = np.array(keep)
    return None if kept.all() else _with(p, p.targets[kept], p.impostors[kept])


def _left(method: LMNN, question: Question, other: Instance | None) -> float:
    """The relative gap of the user's metric in the problem `other` of a misreading; inf if `other` is None."""
    return math.inf if other is None else method.left(other, question, MAX_ITER)


METHOD = LMNN(squared=False)
SQUARED_HINGE = LMNN(squared=True)
