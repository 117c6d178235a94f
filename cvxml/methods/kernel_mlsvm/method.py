"""Kernel MLSVM (Nguyen, Guo 2008, "Kernelizing the Algorithm"), exact and iterative.

It is problem (2) of MLSVM in the feature space of a kernel kappa with kernel matrix K:

    min_{A psd}  lam/2 ||A||^2 + 1/n sum_i xi_i,     xi_i = [1 + max_l d_A(x_i, x_l) - min_j d_A(x_i, x_j)]_+

for targets l and impostors j of point i. A metric in the feature space, A = sum_ij phi_ij Phi(x_i) Phi(x_j)^T, is given
by phi (n, n):

    d_A(x, x') = (k_x - k_x')^T phi (k_x - k_x'),   k_x = (kappa(x_1, x), ..., kappa(x_n, x)),

    ||A||^2    = ||K^(1/2) phi K^(1/2)||^2.

Exact. By the representer theorem, the kernel problem is problem (2) on the rows of E, where K = E E^T and E (n, r) has
full column rank. Point i is the row e_i, and the metric is E^T phi E. Neighbours are those of the feature space. The
linear solution A gives phi = E^+T A E^+. The certificate is about this phi, with a radius in the feature space. If K is
ill-conditioned, phi loses digits, and the status then reports a larger gap.

Iterative. `algorithm1` is Algorithm 1 on phi. The nearest psd metric comes from the symmetric eigenproblem of
K^(1/2) phi K^(1/2). The printed step (`paper=True` in `psd_step`) divides the eigenvectors a of phi K (9) by a^T K a
(10), without the square root. For repeated eigenvalues these vectors are not orthogonal, so (11) is not the projection.

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008, (4)-(11).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.inputs import check_count
from cvxml.core.metric import EPS, FloatArray, IntArray, as_metric, examine, project_psd
from cvxml.core.parameter import COUNT, LISTS, NUMBER, WORD, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import Scaled
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.theorem.theorem import NEARLY, Family
from cvxml.methods.kernel_mlsvm.instance import Instance, in_feature_space, instance
from cvxml.methods.kernel_mlsvm.misreadings import MISREADINGS
from cvxml.methods.kernel_mlsvm.rounding import entries_error, objective_error, with_kernel_rounding
from cvxml.methods.mlsvm.algorithm1 import evaluate as evaluate_metric
from cvxml.methods.mlsvm.method import MLSVM, member_of, notes_on, through_cvxpy
from cvxml.methods.mlsvm.solver import duals_of_zero, may_be_zero, metric_of, no_duals, search
from cvxml.solvers.family_method import FamilyMethod

LINEAR = MLSVM()  # used on the points E


class OfKernel(Frobenius):
    """The regularizer lam/2 ||M||^2 of the metric M = E^T phi E on the rows of E."""

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """Return 1: the dual variables are not scaled to improve the lower bound.

        G: their matrix, as weights on pairs of points. ray: the part of the bound from the losses. Both are unused. The
        best multiple for E may be infeasible for the true kernel, which differs from E E^T by rounding (rounding.py).
        """
        return 1.0

    def second_derivative(self, at: Scaled) -> None:
        """Return None, because no second derivative is implemented."""


class KernelMLSVM(FamilyMethod[Instance]):
    """MLSVM in the feature space of a kernel. A metric is phi (n, n)."""

    id = "kernel_mlsvm"
    TITLE = "Kernel MLSVM: the same problem in the feature space of a kernel (Nguyen, Guo 2008)"
    TELLS_OF_ZERO = True
    MAX_ITER = 20000
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "lam": Parameter("weight of lam/2 ||A||^2, > 0", NUMBER, 0.1),
        "n_neighbors": Parameter("K, the size of a neighbourhood in the feature space", COUNT, 4),
        "neighborhood": Parameter('"knn" or "per-class"', WORD, "knn"),
        "neighbors": Parameter("explicit lists N(i), one for each point", LISTS),
        "kernel": Parameter('"poly": <x, x\'>^degree; "rbf": exp(-gamma ||x - x\'||^2)', WORD, "poly"),
        "degree": Parameter("degree of the polynomial, 1 to 5", COUNT, 2),
        "gamma": Parameter("gamma of the rbf kernel, > 0", NUMBER, otherwise="1/d"),
    }
    STATEMENT = Statement("cvxml.methods.kernel_mlsvm.instance", ("factor",), further=MLSVM.STATEMENT)
    MISREADINGS = MISREADINGS
    WEIGHTS: ClassVar = {"lam": math.inf}
    DUAL: ClassVar = {"u": "p", "u_index": "p 2", "w": "q", "w_index": "q 2"}
    SMALL: ClassVar = {"lam": 0.1, "kernel": "rbf", "gamma": 0.25}
    UNITS: ClassVar = {"gamma": -2}
    BAD: ClassVar = {
        "lam": (0, -1.0),
        "gamma": (0, -1.0),
        "kernel": ("linear", "", None),
        "degree": (0, 6),
        "n_neighbors": (0, 16),
    }
    # The features x^2 of 0, 1, 2, 3 are 0, 1, 4, 9. The margins are 15, 8, -16 and 39 times A, all below 1 for this
    # lam, so lam A = 46 / 4. Many phi give this A.
    HAND: ClassVar = (
        Hand(
            [[0.0], [1.0], [2.0], [3.0]],
            [0, 0, 1, 1],
            {"lam": 1000.0, "neighborhood": "per-class", "n_neighbors": 1},
            None,
            1 - 11.5**2 / 2000,
        ),
    )
    RADIUS = True
    ROWS = "points"
    EXAMPLES: ClassVar = (
        drawn(2, 20, 5),
        drawn(7, 15, 5, degenerate=True),
        sample("iris", 12, kernel="rbf", gamma=0.5),
        verified("iris", 60),
        verified("rings", 10, raw=True, kernel="rbf", gamma=1.0),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def metric_size(self, given: Instance) -> int:
        return len(given.X)

    def metric(self, given: Instance, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """Return the symmetric part of phi (n, n), the user's `metric`; `name` is its name in messages.

        Raises ValueError if E^T phi E is not a metric within the tolerance. A deviation within the tolerance is kept,
        not projected away.
        """
        phi = self.matrix(given, metric, name)
        as_metric(in_feature_space(given, phi), given.E.shape[1], name)
        return phi / 2 + phi.T / 2

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        return str(examine(in_feature_space(given, M))[1])

    def problem(self, given: Instance) -> Any:
        """Problem (2) of MLSVM on the rows of E, K = E E^T. Variables "A" (r, r), r = rank K, and "xi" (n,)."""
        from cvxml.methods.mlsvm.problem import problem

        return problem(given.E, given.N, given.lam)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["(2) A psd", "(2) xi >= 0", *(f"(2) margin of point {i}" for i in given.N.usable)]

    def dual(self, given: Instance) -> Any:
        """The dual of MLSVM (mlsvm/problem.py) on the rows of E. Variables "u" (p,), "w" (q,) and "S" (r, r).

        "u" has one entry for each pair of a point with an impostor, "w" for each pair with a target. Only points with
        both are counted. "S" is the multiplier of "A psd". If no point has both, "S" is the only variable.
        """
        from cvxml.methods.mlsvm.problem import dual

        return dual(given.E, given.N, given.lam)

    def objective(self, given: Instance, M: FloatArray) -> float:
        """The objective at the metric phi = M (n, n), computed from K only, without E."""
        K, N = given.K, given.N

        def d(i: int, j: int) -> float:
            return float((K[i] - K[j]) @ M @ (K[i] - K[j]))

        slack = 0.0
        for i in N.usable:
            nearest = min(d(i, j) for j in N.impostors[i])
            slack += max(0.0, 1 + max(d(i, t) for t in N.targets[i]) - nearest)
        product = K @ M
        return given.lam / 2 * float(np.sum(product * product.T)) + slack / len(given.X)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """Return the intermediates of MLSVM at E^T phi E for phi = M (n, n), with the rows of E as points, by name.

        For example slacks, subgradient and the step of Algorithm 1 at iteration t (`MLSVM.evaluate` lists them). Two
        more are "kernel_matrix" K (n, n) and "embedding" E (n, r).
        """
        A = examine(in_feature_space(given, M))[0]
        values = evaluate_metric(given.E, given.N, A, given.lam, t)
        return {**values, "kernel_matrix": given.K, "embedding": given.E}

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """MLSVM on the rows of E as points, stated as a regularizer and a loss (family/theorem).

        number: the type that the constants get, float or Fraction. E is not rational, so the exact mode does not use
        the result.
        """
        return member_of(OfKernel(given.E, number(given.lam), features=False), given.N, number)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        return LINEAR.read(given.linear, dual)

    def named(self, given: Instance, duals: Duals) -> Dual:
        return LINEAR.named(given.linear, duals)

    def fast_objective(self, given: Instance, M: FloatArray) -> float:
        return super().fast_objective(given, in_feature_space(given, M))

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of phi = M (n, n) with the dual variables `dual`.

        Its feasibility and radius are those of E^T phi E. Its rounding includes the errors of the computed K and of
        E E^T (rounding.py). If phi = 0, exact arithmetic may prove that it is optimal for the true kernel (exact.py).
        """
        proof = super().certify(given, in_feature_space(given, M), dual)
        proof = with_kernel_rounding(given, M, proof)
        if M.any() or proof.gap > NEARLY * proof.objective:
            return proof
        from cvxml.methods.kernel_mlsvm.exact import zero_is_optimal

        if not zero_is_optimal(given, _as_tuple(proof.dual)):
            return proof
        n = len(given.X)
        value = len(given.N.usable) / n
        return dataclasses.replace(
            proof,
            objective=value,
            lower_bound=value,
            gap=0.0,
            rounding=0.0,
            radius=0.0,
            value_rounding=n * EPS * value,
        )

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The interval from the lower bound to the objective at phi = M (n, n), in rational arithmetic (exact.py).

        root: R (n, r) with R R^T near phi, by default computed. Raises ValueError for the rbf kernel.
        """
        return self.exact_as_stored(given, M, dual, root=root)

    def exact_as_stored(
        self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None, hint: Any = None
    ) -> Exact:
        """The interval from the lower bound to the objective at phi = M (n, n), in rational arithmetic.

        The dual variables are used as they are stored, without a scaling. root: R (n, r) with R R^T near phi. hint: the
        matrix C (n, r) of exact.py. The lower bound uses it. Both are computed by default.
        """
        from cvxml.methods.kernel_mlsvm.exact import exact_interval

        duals = self.named(given, self.read(given, dual)[0])
        return exact_interval(given, M, _as_tuple(duals), root=root, psd=hint)

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve MLSVM with the rows of E as points, and compute phi (n, n) from its metric.

        start: phi and the dual variables of another solution, if there is one.
        """
        prove, E = partial(super().certify, given), given.linear.X
        if start is not None:
            start = start._replace(metric=E.T @ start.metric @ E)
        return self._back(given, search(given.linear, prove, tol, max_iter, start, callback))

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        return self._back(given, through_cvxpy(given.linear, partial(super().certify, given), solver))

    def _back(self, given: Instance, linear: Found) -> Found:
        """Return the result `linear` of MLSVM on the rows of E, with its metric replaced by phi (n, n).

        The entries of phi are rounded, so phi may have a larger gap than the metric 0. Then another phi is tried, that
        of the metric which the dual variables determine. Its rank is often lower. If its gap is larger than that of 0
        too, the result is phi = 0. Gaps are compared without the bounds of their rounding errors, which are often far
        larger than the errors.

        If the metric of `linear` is 0 and its gap is close to rounding, other dual variables are sought that prove
        exactly that 0 is optimal. They are returned if found.
        """
        found = linear._replace(metric=self._phi(given, linear.metric), proof=None)
        try:
            proof = self.certify(given, found.metric, found.dual)
            if found.metric.any():
                zero = self.certify(given, 0 * found.metric, no_duals())
                if proof.gap > zero.gap:
                    found = found._replace(metric=self._phi(given, metric_of(given.linear, found.dual)))
                    proof = self.certify(given, found.metric, found.dual)
                if proof.gap <= zero.gap:
                    return found._replace(proof=proof)
                return found._replace(metric=0 * found.metric, dual=no_duals(), proof=zero)
            if found.status is Status.INTERRUPTED or not may_be_zero(proof):
                return found._replace(proof=proof)
            exactly = (
                dual
                for dual in duals_of_zero(given.linear)
                if self.certify(given, found.metric, dual).rounding == 0
            )
            return found._replace(dual=next(exactly, found.dual))
        except KeyboardInterrupt:
            return found._replace(status=Status.INTERRUPTED)

    def _phi(self, given: Instance, M: FloatArray) -> FloatArray:
        """phi (n, n) of a metric M on the rows of E."""
        phi: FloatArray = given.back.T @ M @ given.back
        return (phi + phi.T) / 2

    def stored(self, given: Instance) -> dict[str, Any]:
        return {**given.linear.stored(), **given.kernel}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        return notes_on(given.N, certificate, found.status is Status.CONVERGED)

    def ties(self, given: Instance) -> int:
        """The number of points with a tie at the boundary of their neighbourhood in the feature space."""
        return given.N.ties

    def neighbor_lists(self, given: Instance) -> list[IntArray]:
        return given.N.lists

    def machine_slack(self, given: Instance, M: FloatArray) -> float:
        """A bound of the difference between the objective here and on another machine, which computes K and E again."""
        with np.errstate(all="ignore"):  # a metric that overflows is refused elsewhere
            error = objective_error(given, entries_error(given), M)
        return 2 * error if math.isfinite(error) else 0.0


def _as_tuple(dual: Dual) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    return dual["u"], dual["u_index"], dual["w"], dual["w_index"]


METHOD = KernelMLSVM()


def psd_step(K: FloatArray, phi: FloatArray, paper: bool = False) -> FloatArray:
    """phi (n, n) of the psd metric nearest to the metric of `phi`; with `paper`, the result of (9)-(11) as printed.

    K (n, n): the kernel matrix.
    """
    if paper:
        values, alphas = np.linalg.eig(phi @ K)
        values, alphas = values.real, alphas.real
        keep = values > len(K) * EPS * np.abs(values).max(initial=0.0)
        alphas = alphas[:, keep] / np.einsum("ik,ij,jk->k", alphas[:, keep], K, alphas[:, keep])
        printed: FloatArray = (alphas * values[keep]) @ alphas.T
        return printed
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    keep = values > len(K) * EPS * values[-1]
    root, U = np.sqrt(values[keep]), vectors[:, keep]
    projected = project_psd(root[:, None] * (U.T @ phi @ U) * root)
    result: FloatArray = U @ (projected / np.outer(root, root)) @ U.T
    return result


def algorithm1(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_steps: int = 1000,
    paper: bool = False,
    **params: Any,
) -> FloatArray:
    """Algorithm 1 on phi, started at 0. Returns phi (n, n) after `n_steps` steps.

    paper: True uses the printed psd step (9)-(11), False the corrected one. params: the parameters of kernel MLSVM, for
    example lam and kernel. Only kernel values are used, so this is an independent check of the exact solution. Raises
    ValueError for bad input.
    """
    given = instance(X, y, **params)
    K, N, lam, n = given.K, given.N, given.lam, len(given.X)
    phi = np.zeros((n, n))
    for t in range(1, check_count(n_steps, "n_steps") + 1):
        push = np.zeros((n, n))
        for i in N.usable:
            to_impostors, to_targets = K[i] - K[N.impostors[i]], K[i] - K[N.targets[i]]
            D_j = np.sum((to_impostors @ phi) * to_impostors, axis=1)
            D_l = np.sum((to_targets @ phi) * to_targets, axis=1)
            if D_j.min() - D_l.max() < 1:
                _add_edge(push, i, int(N.impostors[i][np.argmin(D_j)]), 1.0)
                _add_edge(push, i, int(N.targets[i][np.argmax(D_l)]), -1.0)
        eta = 1 / (lam * (t + 1))
        phi = psd_step(K, (1 - eta * lam) * phi + eta / n * push, paper)
        product = K @ phi
        norm = float(np.sqrt(max(np.sum(product * product.T), 0.0)))
        if norm > 0:
            phi *= min(1.0, 1 / np.sqrt(lam) / norm)
    return phi


def _add_edge(push: FloatArray, i: int, j: int, weight: float) -> None:
    """Add weight (e_i - e_j)(e_i - e_j)^T to `push` (n, n), with unit vectors e_i."""
    push[i, i] += weight
    push[j, j] += weight
    push[i, j] -= weight
    push[j, i] -= weight
