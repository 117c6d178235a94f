"""MLSVM (Nguyen, Guo 2008) as the package calls it: the class `MLSVM`, and `algorithm1` with checked inputs.

    min_{A psd}  lam/2 ||A||^2 + 1/n sum_i [1 + max_{l in T_i} d_A(x_i, x_l) - min_{j in I_i} d_A(x_i, x_j)]_+

d_A is the squared distance in A. The sum is over the usable points, which have both targets T_i and impostors I_i. The
paper does not mention other points. Their constraint is vacuous, xi_i = 0, and the sum is still divided by n.

Certificate (family/theorem): the regularizer is lam/2 ||A||^2. The loss `Spread` (family/losses/groups.py) has a row
for each pair (i, j) or (i, l), and a group of rows for each usable point i. The dual variables are u_ij for impostors
and w_il for targets. Gaps are relative to lam/2 ||A||^2. By strong convexity, the metric is within sqrt(2 gap / lam) of
the optimum (family/regularizers/frobenius.py).

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.inputs import check_count, indexed_dual
from cvxml.core.metric import FloatArray, IntArray, as_metric, project_psd
from cvxml.core.parameter import COUNT, LISTS, NUMBER, WORD, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.family.losses.groups import Spread
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals, places
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.mlsvm.algorithm1 import Run
from cvxml.methods.mlsvm.algorithm1 import algorithm1 as run_algorithm1
from cvxml.methods.mlsvm.algorithm1 import evaluate as evaluate_metric
from cvxml.methods.mlsvm.algorithm1 import objective as objective_of
from cvxml.methods.mlsvm.misreadings import MISREADINGS
from cvxml.methods.mlsvm.neighborhood import Instance, Neighborhood, instance, scaled_lam
from cvxml.methods.mlsvm.solver import Prove, best_proved, duals_of_zero, search, zero_metric
from cvxml.solvers.family_method import FamilyMethod

UNMOVED = 1e-4  # share of the objective: if the scale and the gain over A = 0 are smaller, A is nearly 0
LINE = ([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])


class MLSVM(FamilyMethod[Instance]):
    """The method "mlsvm": metric learning, a support vector approach. The module docstring states its problem."""

    id = "mlsvm"
    TITLE = "MLSVM: metric learning, a support vector approach (Nguyen, Guo 2008)"
    TELLS_OF_ZERO = True
    MAX_ITER = 20000  # gradient steps and Newton rounds
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "lam": Parameter("weight of lam/2 ||A||^2, > 0", NUMBER, 0.1),
        "n_neighbors": Parameter("K, the size of a neighbourhood", COUNT, 4),
        "neighborhood": Parameter(
            '"knn": the K nearest of any class, as in the paper; "per-class": K nearest of the class and K of the rest',
            WORD,
            "knn",
        ),
        "neighbors": Parameter(
            "explicit lists N(i), one for each point; they take precedence over n_neighbors and neighborhood",
            LISTS,
        ),
    }
    STATEMENT = Statement("cvxml.methods.mlsvm.problem", ("problem", "dual"))
    MISREADINGS = MISREADINGS
    WEIGHTS: ClassVar = {"lam": math.inf}
    DUAL: ClassVar = {"u": "p", "u_index": "p 2", "w": "q", "w_index": "q 2"}
    SMALL: ClassVar = {"lam": 0.1}
    UNITS: ClassVar = {"lam": 4}
    MOVES = True
    BAD: ClassVar = {"lam": (0, -1.0), "n_neighbors": (0, 16)}
    # Points 0, 1, 3, 4 of two classes: two margins of 3 A and two of 8 A, and lam/2 A^2 + 1/4 sum [1 - margin]_+.
    HAND: ClassVar = (
        Hand(*LINE, {"lam": 50.0, "n_neighbors": 2}, [[0.11]], 0.6975),  # lam A = (2 x 3 + 2 x 8) / 4
        Hand(*LINE, {"lam": 0.1, "n_neighbors": 2}, [[1 / 3]], 1 / 180),  # the last kink, 3 A = 1
    )
    RADIUS = True
    EXAMPLES: ClassVar = (
        drawn(0, 40, 5),
        drawn(1, 24, 30, degenerate=True, lam=0.01, n_neighbors=6),  # more features than points
        sample("iris", 50, neighborhood="per-class", n_neighbors=3),
        sample("wine", 60, raw=True, lam=1.0, n_neighbors=5),
        sample("balance", 60, raw=True, lam=1.0),
        verified("iris", raw=True, lam=0.01),
        verified("iris", 45, neighborhood="per-class"),
        verified("wine"),
        verified("wine", 30, lam=0.01, neighborhood="per-class", n_neighbors=3),
        verified("breast_cancer", 22, n_neighbors=4),
        verified("breast_cancer", 20),
        verified("balance", 100, raw=True, lam=1.0),
        verified("twonorm", 100, raw=True),
        verified("waveform", 40),
        verified("rings", 90, raw=True),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        from cvxml.methods.mlsvm.problem import problem

        return problem(given.X, given.N, given.lam)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["(2) A psd", "(2) xi >= 0", *(f"(2) margin of point {i}" for i in given.N.usable)]

    def dual(self, given: Instance) -> Any:
        from cvxml.methods.mlsvm.problem import dual

        return dual(given.X, given.N, given.lam)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective_of(given.X, given.N, M, given.lam)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """Return intermediates at M (d, d) by the paper's names, and one step of Algorithm 1 from M at iteration `t`.

        objective; targets, impostors (one list for each point) and their squared distances in M: target_distances,
        impostor_distances. The value usable is the number of usable points, and ties the number of points with a tie at
        the boundary of the neighbourhood.

        active_impostor and active_target: the indices of x- and x+, the nearest impostor and the furthest target in M.
        They are -1 if the constraint is vacuous. xi (n,); violated: the points with xi > 0; subgradient (d, d); eta =
        1/(lam (t+1)). A_third, A_two_thirds, A_next (d, d): after the subgradient step, then projected to the psd cone,
        then scaled into the ball of radius 1/sqrt(lam).
        """
        return evaluate_metric(given.X, given.N, M, given.lam, t)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        return member_of(Frobenius(given.X, number(given.lam)), given.N, number)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables of all rows, from the arrays of `dual`.

        The arrays are "u" (p,) with "u_index" (p, 2), and "w" (q,) with "w_index" (q, 2). Each row of "u_index" is a
        point and one of its impostors, each row of "w_index" a point and one of its targets, in any order. Pairs that
        are no row of the problem are dropped, and rows that are not given have the dual variable 0.
        """
        n, (index, near) = len(given.X), given.N.pairs
        listed = (indexed_dual(dual, name, f"{name}_index", (n, n)) for name in ("u", "w"))
        u, w = (_on(index @ (n, 1), values, pairs @ (n, 1)) for values, pairs in listed)
        return (Duals(np.where(near, u, -w), np.arange(len(index))),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        """Return the dual variables by name: "u" (p,) with "u_index" (p, 2), and "w" (q,) with "w_index" (q, 2).

        Each row of "u_index" is a point and one of its impostors, each row of "w_index" a point and one of its targets.
        Every pair of a usable point with one of its impostors or targets has an entry.
        """
        index, near = given.N.pairs
        u, w = duals.a[near], np.abs(duals.a[~near])
        return {"u": u, "u_index": index[near], "w": w, "w_index": index[~near]}

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve by gradient steps, Newton steps and an interior-point method (solver.py).

        Return a metric and its dual variables. start: the metric and the dual variables of another solution, or None.
        """
        return search(given, partial(self.certify, given), tol, max_iter, start, callback)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        return through_cvxpy(given, partial(self.certify, given), solver)

    def stored(self, given: Instance) -> dict[str, Any]:
        return given.stored()

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        return notes_on(given.N, certificate, found.status is Status.CONVERGED)

    def ties(self, given: Instance) -> int:
        """The number of points with a tie at the boundary of the neighbourhood (0 for explicit lists)."""
        return given.N.ties

    def neighbor_lists(self, given: Instance) -> list[IntArray]:
        return given.N.lists


def through_cvxpy(p: Instance, prove: Prove, solver: str) -> Found:
    """Solve the problem and its dual as cvxpy problems (problem.py) with the back end `solver`. Return A and its u, w.

    The result needs no trust in the back end, because `prove`, the certificate, checks it. A = 0 is returned if its
    proved gap is smaller. General solvers work best if the metric is about 1. Because ||A*|| <= 1 / sqrt(lam), X is
    divided by an s that makes lam / s^4 about 1.
    """
    from cvxml.core.backend import solve_problem
    from cvxml.methods.mlsvm.problem import dual, problem

    if len(p.N.usable) == 0:
        return zero_metric(p)
    s = float(2.0 ** np.round(np.log2(p.lam) / 4))
    X, lam = p.X / s, scaled_lam(p.lam, s)
    A = project_psd(solve_problem(problem(X, p.N, lam), solver)["A"]) / s**2
    values = solve_problem(dual(X, p.N, lam), solver)
    index, near = p.N.pairs
    found: Dual = {"u": values["u"], "u_index": index[near], "w": values["w"], "w_index": index[~near]}
    return Found(*best_proved(prove, A, found, duals_of_zero(p)), Status.CONVERGED, 0)


def notes_on(N: Neighborhood, certificate: Certificate, proved: bool) -> list[str]:
    usable, scale, objective = len(N.usable), certificate.scale, certificate.objective
    at_zero = usable / len(N.targets)  # the objective of A = 0
    notes = [
        f"{usable} of {len(N.targets)} points are usable (a target and an impostor among their neighbours)"
    ]
    if N.ties:
        notes.append(f"in {N.ties} neighbourhoods, points tie for the last place; the lowest index was taken")
    if usable == 0:
        notes.append(
            'no point has a constraint, so A = 0: take a larger n_neighbors, or neighborhood="per-class"'
        )
    elif proved and scale == 0:
        notes.append(
            "A* = 0: the zero matrix is optimal for every lam, and all distances are 0. Next: a larger n_neighbors, "
            'neighborhood="per-class", or another method (docs/which_method.md)'
        )
    elif proved and max(scale, at_zero - objective) < UNMOVED * objective:
        notes.append(
            f"at this lam the data have little influence on the metric: lam/2 ||A||^2 is {scale / objective:.1g} of "
            "the objective; a smaller lam increases their influence"
        )
    return notes


def member_of(regularizer: Frobenius, N: Neighborhood, number: Callable[[Any], Any] = float) -> Family:
    """Return the problem as a regularizer and a loss (`Spread`), with one group of rows for each usable point.

    regularizer: lam/2 ||A||^2; the points are its field X. N: the targets and impostors. number: float, or Fraction for
    exact arithmetic; the constant 1/n is of this type.
    """
    index, near = N.pairs
    group = np.unique(index[:, 0], return_inverse=True)[1].reshape(-1)
    spread = Spread(number(1) / len(regularizer.X), group, near)
    return Family(
        regularizer, (Term(spread, PairRows(index)),), of_regularizer=True, radius=regularizer.around
    )


def _on(keys: IntArray, values: FloatArray, given: IntArray) -> FloatArray:
    """Return a dual variable for each key of `keys` (t,), from `values` (p,) with the keys `given` (p,); 0 if missing.

    The key of a pair (i, j) is the integer i n + j. Values are clipped to [0, 1], and NaN counts as 0. If a key is
    given several times, its values are added.
    """
    at, known = places(keys, given)
    found = np.zeros(len(keys))
    # no dual variable exceeds 1/n, and sums of anything much larger could overflow
    np.add.at(found, at[known], np.clip(np.nan_to_num(values[known], nan=0.0), 0.0, 1.0))
    return found


METHOD = MLSVM()


def algorithm1(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lower_bound: float | None = None,
    n_steps: int = 1000,
    paper: bool = False,
    start: ArrayLike | None = None,
    every: int = 1,
    **params: Any,
) -> Run:
    """Run Algorithm 1 of the paper, corrected or (`paper=True`) as printed, and record objectives and gaps.

    lower_bound: a lower bound of the optimum; by default the fast solver computes it. start: A_1 (d, d), psd, of norm
    at most 1/sqrt(lam), default 0.

    every: steps between two measurements of the objective. A gap is the objective minus lower_bound. params: the
    parameters of MLSVM, for example lam. Raises ValueError for bad input.
    """
    given = instance(X, y, **params)
    first = _start(start, given)
    steps, each = check_count(n_steps, "n_steps"), check_count(every, "every")
    if lower_bound is None:
        lower_bound = METHOD.solve(given).lower_bound
    return run_algorithm1(given.X, given.N, given.lam, lower_bound, steps, paper, first, each)


def _start(start: ArrayLike | None, given: Instance) -> FloatArray:
    """Return `start` as a metric A_1 (d, d), 0 for None.

    Raises ValueError if it is not psd, or if ||A_1|| exceeds 1/sqrt(lam).
    """
    d = given.X.shape[1]
    if start is None:
        return np.zeros((d, d))
    A = as_metric(start, d, "start")
    norm, allowed = float(np.linalg.norm(A)), 1 / math.sqrt(given.lam)
    if norm > allowed * (1 + 1e-12):  # an iterate, scaled into the ball, may be outside by rounding
        raise ValueError(
            f"start has norm {norm:.12g}, allowed is at most 1/sqrt(lam) = {allowed:.12g}; scale it down"
        )
    return A
