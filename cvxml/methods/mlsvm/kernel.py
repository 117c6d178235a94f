"""Kernel MLSVM (paper 002, "Kernelizing the Algorithm"), exact and iterative.

A = sum_ij phi_ij Phi(x_i) Phi(x_j)^T, a metric in the feature space of the kernel, is given by phi (n, n):
    d_A(x, x') = (k_x - k_x')^T phi (k_x - k_x'),   k_x = (kappa(x_1, x), ..., kappa(x_n, x)),
    ||A||^2    = ||K^(1/2) phi K^(1/2)||^2.
Exact. By the representer theorem the kernel problem IS problem (2) on the rows of K^(1/2): with K = E E^T,
E (n, r) of full rank, point i is the row e_i and the metric is E^T phi E. Neighbours are those of the feature space.
Solving that and going back, phi = E^+T A E^+, gives phi. What is certified is the phi returned, with a radius in
the feature space: going back costs digits where K is ill-conditioned, and the status then says so.
Iterative. Algorithm 1 on phi; the nearest psd metric comes from the symmetric eigenproblem of K^(1/2) phi K^(1/2).
As printed (`paper=True` in `psd_step`): eigenvectors of phi K (9), divided by a^T K a (10), which misses a square
root, and for repeated eigenvalues are not orthogonal: (11) is then not the projection.

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008, (4)-(11).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.exact import Exact
from cvxml.inputs import check_count
from cvxml.methods.mlsvm.certify import certify as certify_metric
from cvxml.methods.mlsvm.certify import repair
from cvxml.methods.mlsvm.evaluate import evaluate as evaluate_metric
from cvxml.methods.mlsvm.kernel_instance import Instance, in_feature_space, instance
from cvxml.methods.mlsvm.kernel_rounding import entries_off, objective_off, with_kernel_rounding
from cvxml.methods.mlsvm.kernel_statement import STATEMENT as STATEMENT
from cvxml.methods.mlsvm.kernel_variants import VARIANTS as VARIANTS
from cvxml.methods.mlsvm.method import check_options, stored_params
from cvxml.methods.mlsvm.method import literal_source as linear_source
from cvxml.methods.mlsvm.solve import duals_of_zero, may_be_zero, solve_instance
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric, examine, project_psd
from cvxml.result import Certificate, Dual, Evaluation, SavedSolution, Solution, Status, warn_unless_converged

TITLE = "Kernel MLSVM: the same problem in the feature space of a kernel (Nguyen, Guo 2008; paper 002)"
CLAIM = "optimal"
SCALE = "reference"
SOLVE_PARAMETERS: dict[str, str] = {}
PARAMETERS = {
    "lam": "weight of lam/2 ||A||^2, > 0 (default 0.1)",
    "n_neighbors": "K, the size of a neighbourhood in the feature space (default 4)",
    "neighborhood": '"knn" (default) or "per-class"',
    "neighbors": "explicit lists N(i), one a point",
    "kernel": '"poly": <x, x\'>^degree (default); "rbf": exp(-gamma ||x - x\'||^2)',
    "degree": "of the polynomial, 1 to 5 (default 2)",
    "gamma": "of the rbf, > 0 (default 1/d)",
}
EPS = float(np.finfo(float).eps)


def problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """Problem (2) on the rows of K^(1/2), as a `cvxpy.Problem`; "A" is (r, r), r = rank K."""
    from cvxml.methods.mlsvm.problem import literal

    given = instance(X, y, **params)
    return literal(given.E, given.N, given.lam)


def dual_problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """Its compact dual, as a `cvxpy.Problem`."""
    from cvxml.methods.mlsvm.problem import dual

    given = instance(X, y, **params)
    return dual(given.E, given.N, given.lam)


def literal_source() -> str:
    """The source of problem.py: the kernel problem is that problem on other points."""
    return linear_source()


def objective(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """The objective at phi = `metric` (n, n), through kernel values alone: no factor of K enters the number.

    Raises ValueError unless E^T phi E is a metric; what is off by less than the tolerance is not projected away.
    """
    given = instance(X, y, **params)
    phi = as_matrix(metric, len(given.X))
    as_metric(in_feature_space(given, phi), given.E.shape[1])
    phi = phi / 2 + phi.T / 2
    K, N = given.K, given.N

    def d(i: int, j: int) -> float:
        return float((K[i] - K[j]) @ phi @ (K[i] - K[j]))

    slack = 0.0
    for i in N.usable:
        nearest = min(d(i, j) for j in N.impostors[i])
        slack += max(0.0, 1 + max(d(i, t) for t in N.targets[i]) - nearest)
    product = K @ phi
    return given.lam / 2 * float(np.sum(product * product.T)) + slack / len(given.X)


def evaluate(X: ArrayLike, y: ArrayLike, metric: ArrayLike, *, t: int = 1, **params: Any) -> Evaluation:
    """As for "mlsvm", in the coordinates of K^(1/2), plus "kernel_matrix" K (n, n) and "embedding" E (n, r)."""
    given = instance(X, y, **params)
    M = in_feature_space(given, as_matrix(metric, len(given.X)))
    A = as_metric(M, given.E.shape[1])
    values = evaluate_metric(given.E, given.N, A, given.lam, check_count(t, "t", at_most=10**15))
    values |= {"feasibility": str(examine(M)[1]), "kernel_matrix": given.K, "embedding": given.E}
    return Evaluation("kernel_mlsvm", values)


def certify(X: ArrayLike, y: ArrayLike, metric: ArrayLike, dual: Dual, **params: Any) -> Certificate:
    """The certificate of phi = `metric` (n, n); feasibility and radius are those of E^T phi E.

    Its rounding counts that K is computed, and is E E^T, to rounding only (kernel_rounding.py).
    """
    given = instance(X, y, **params)
    return _certificate(given, as_matrix(metric, len(given.X)), dual)


def _certificate(given: Instance, phi: FloatArray, dual: Dual) -> Certificate:
    proof = certify_metric(given.E, given.N, in_feature_space(given, phi), dual, given.lam, units=False)
    proof = with_kernel_rounding(given, phi, proof)
    if phi.any() or proof.gap > 1e-6 * proof.objective:
        return proof
    from cvxml.methods.mlsvm.kernel_exact import zero_is_optimal

    if not zero_is_optimal(given, repair(dual, given.N)[:4]):
        return proof
    value = len(given.N.usable) / len(given.X)
    return dataclasses.replace(
        proof, lower_bound=value, gap=0.0, rounding=0.0, value_rounding=len(given.X) * EPS * value, radius=0.0
    )


def exact(
    X: ArrayLike,
    y: ArrayLike,
    metric: ArrayLike,
    dual: Dual,
    *,
    root: ArrayLike | None = None,
    psd: ArrayLike | None = None,
    **params: Any,
) -> Exact:
    """The interval of `certify` in rational arithmetic (kernel_exact.py). Raises ValueError for the rbf."""
    from cvxml.methods.mlsvm.kernel_exact import exact_interval

    given = instance(X, y, **params)
    phi = as_matrix(metric, len(given.X))
    return exact_interval(given, phi, repair(dual, given.N)[:4], root=root, psd=psd)


def machine_slack(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """How far another machine's objective of phi = `metric` may be from ours: it computes and factorises K anew."""
    given = instance(X, y, **params)
    with np.errstate(all="ignore"):  # an absurd metric is refused as such
        off = objective_off(given, entries_off(given), as_matrix(metric, len(given.X)))
    return 2 * off if math.isfinite(off) else 0.0


def ties(X: ArrayLike, y: ArrayLike, **params: Any) -> int:
    """How many points have a neighbourhood whose boundary is a tie in the feature space."""
    return instance(X, y, **params).N.ties


def neighbor_lists(X: ArrayLike, y: ArrayLike, **params: Any) -> list[IntArray]:
    """N(i) of every point."""
    return instance(X, y, **params).N.lists


def metric_size(X: FloatArray) -> int:
    """phi is n x n."""
    return len(X)


def solve(
    X: ArrayLike,
    y: ArrayLike,
    *,
    solver: str = "fast",
    tol: float = 1e-6,
    max_iter: int = 20000,
    warm_start: Solution | SavedSolution | None = None,
    callback: Any = None,
    **params: Any,
) -> Solution:
    """The optimal phi (n, n) with its certificate; options as for "mlsvm"."""
    given = instance(X, y, **params)
    check_options(solver, tol, max_iter)
    stored = {**stored_params(given.lam, params), **given.kernel}
    linear = solve_instance(
        given.E, given.y, given.N, given.lam, solver, float(tol), max_iter, warm_start, callback, stored
    )
    phi = given.back.T @ linear.metric @ given.back
    phi = (phi + phi.T) / 2
    # phi is what is returned, so phi is what is certified: going back through K may cost digits
    proof = _certificate(given, phi, linear.dual)
    if not phi.any() and may_be_zero(proof):
        tried = (_certificate(given, phi, other) for other in duals_of_zero(given.E, given.N, given.lam))
        proof = next((other for other in tried if other.rounding == 0), proof)
    status = linear.status
    if proof.proves(tol) and status is Status.STALLED:
        status = Status.CONVERGED
    if status is Status.CONVERGED and not proof.proves(tol):
        status = Status.STALLED
    solution = dataclasses.replace(
        linear, method="kernel_mlsvm", metric=phi, X=given.X, certificate=proof, status=status
    )
    warn_unless_converged(solution, tol)
    return solution


def psd_step(K: FloatArray, phi: FloatArray, paper: bool = False) -> FloatArray:
    """phi (n, n) of the nearest psd metric; with `paper`, what (9)-(11) give as printed."""
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
    """Algorithm 1 on phi, from 0, corrected; with `paper` the printed psd step (9)-(11). Returns phi (n, n).

    Only kernel values are used: this is the independent path to the exact solution. Raises ValueError for bad
    input.
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
    """weight (e_i - e_j)(e_i - e_j)^T."""
    push[i, i] += weight
    push[j, j] += weight
    push[i, j] -= weight
    push[j, i] -= weight
