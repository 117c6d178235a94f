"""The problems through cvxpy in the fastest form we know: no loop over rows, one matrix for all distances.

The metric is the vector of its d (d + 1) / 2 entries, so <x x^T, M> is a row times that vector. LMNN has too many
triplets to give whole: they are taken in as an answer violates them. The same row by row is in problem.py of every
method; a test compares the optima.

solve(problem): raises SolverFailure, or leaves values in the problem's variables. Each form returns the metric (d, d).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.core.backend import SolverFailure
from cvxml.core.balls import floats
from cvxml.core.bases import combined
from cvxml.core.method import METRIC_IS
from cvxml.core.metric import FloatArray, in_blocks, project_psd
from cvxml.methods import get
from cvxml.methods.dml_eig import inverse_root
from validation.benchmarks import measure
from validation.benchmarks.measure import Ran, Rival

Solve = Callable[[cp.Problem], None]
SETTINGS: dict[str, str] = {"CLARABEL": "default tolerances (1e-8)", "SCS": "eps 1e-6"}
MISSED = 1e-6  # a margin of LMNN that is missed by less is kept


class Metric:
    """A symmetric (d, d) of cvxpy variables."""

    def __init__(self, d: int):
        a, b = self.at = np.triu_indices(d)
        self.double = np.where(a == b, 1.0, 2.0)
        self.entries = cp.Variable(len(a))
        fill = np.zeros((d * d, len(a)))
        fill[a * d + b, np.arange(len(a))] = 1
        fill[b * d + a, np.arange(len(a))] = 1
        self.matrix = cp.reshape(fill @ self.entries, (d, d), order="C")
        self.norm2 = cp.sum_squares(cp.multiply(np.sqrt(self.double), self.entries))

    def rows(self, E: FloatArray) -> FloatArray:
        """(p, d (d + 1) / 2): row times entries is x^T M x, for every x of E (p, d)."""
        a, b = self.at
        return np.asarray(E[:, a] * E[:, b] * self.double)

    def value(self) -> FloatArray:
        """What the solver left."""
        return np.asarray(self.matrix.value, dtype=float)


def mlsvm(p: Any, solve: Solve) -> FloatArray:
    """The primal with the least target and the greatest impostor distance of a point as variables."""
    M, n, usable = Metric(p.X.shape[1]), len(p.X), p.N.usable

    def distances(lists: Any) -> tuple[Any, Any]:
        row, i, j = np.array([(row, i, j) for row, i in enumerate(usable) for j in lists[i]]).T
        return row, M.rows(p.X[i] - p.X[j]) @ M.entries

    of_u, D_u = distances(p.N.impostors)
    of_w, D_w = distances(p.N.targets)
    xi = cp.Variable(len(usable), nonneg=True)
    hi, lo = cp.Variable(len(usable)), cp.Variable(len(usable))
    constraints = [M.matrix >> 0, D_u >= hi[of_u], D_w <= lo[of_w], hi >= lo + 1 - xi]
    solve(cp.Problem(cp.Minimize(p.lam / 2 * M.norm2 + cp.sum(xi) / n), constraints))
    return M.value()


def lmnn(p: Any, solve: Solve, squared: bool = False) -> FloatArray:
    """Rounds of constraint generation, from Euclid's metric with targets at 1 on average."""
    M = Metric(p.X.shape[1])
    target = M.rows(p.X[p.targets[:, 0]] - p.X[p.targets[:, 1]])
    of, l = np.nonzero(p.impostors)
    difference = M.rows(p.X[p.targets[of, 0]] - p.X[l]) - target[of]
    euclid = np.eye(p.X.shape[1])[M.at]
    found = euclid / np.mean(target @ euclid)
    taken = np.zeros(len(of), dtype=bool)
    while (missed := (difference @ found < 1 - MISSED) & ~taken).any():
        taken |= missed
        xi = cp.Variable(int(taken.sum()), nonneg=True)
        push = cp.sum_squares(xi) if squared else cp.sum(xi)
        pull = target.sum(axis=0) @ M.entries
        margins = difference[taken] @ M.entries >= 1 - xi
        solve(cp.Problem(cp.Minimize((1 - p.mu) * pull + p.mu * push), [M.matrix >> 0, margins]))
        found = project_psd(M.value())[M.at]
    return M.value()


def plml(p: Any, solve: Solve) -> FloatArray:
    """The metrics, for the weights there are: a triplet is a row of each, with the weight of its first point."""
    M = [Metric(p.X.shape[1]) for _ in range(p.m)]
    i, j, l = p.triplets().T
    H = M[0].rows(p.X[i] - p.X[l]) - M[0].rows(p.X[i] - p.X[j])
    first, target = p.targets.T
    near = M[0].rows(p.X[first] - p.X[target])
    margins = sum((p.W[i, b, None] * H) @ own.entries for b, own in enumerate(M))
    pull = sum((p.W[first, b] @ near) @ own.entries for b, own in enumerate(M))
    xi = cp.Variable(len(H), nonneg=True)
    cost = p.alpha1 * sum(own.norm2 for own in M) + cp.sum(xi) + p.alpha2 * pull
    solve(cp.Problem(cp.Minimize(cost), [margins >= 1 - xi, *(own.matrix >> 0 for own in M)]))
    return in_blocks(np.array([own.value() for own in M]))


def itml(p: Any, solve: Solve) -> FloatArray:
    """xi as printed."""
    M = Metric(p.X.shape[1])
    S, D = (M.rows(p.X[listed[:, 0]] - p.X[listed[:, 1]]) @ M.entries for listed in p.pairs)
    ratio = cp.Variable(len(p.xi_0), pos=True)  # xi / xi_0
    similar = len(p.pairs.similar)
    u, l = p.bounds
    bounds = [u * ratio[:similar] >= S, l * ratio[similar:] <= D]
    divergence = cp.trace(M.matrix @ np.linalg.inv(p.prior)) - cp.log_det(M.matrix)
    solve(cp.Problem(cp.Minimize(divergence + p.gamma * cp.sum(ratio - cp.log(ratio))), bounds))
    return M.value()


def boostmetric(p: Any, solve: Solve) -> FloatArray:
    """One log_sum_exp over the rows of a matrix."""
    M, (i, j, l) = Metric(p.X.shape[1]), p.triplets().T
    margins = (M.rows(p.X[i] - p.X[l]) - M.rows(p.X[i] - p.X[j])) @ M.entries
    solve(cp.Problem(cp.Minimize(cp.log_sum_exp(-margins) + p.v * cp.trace(M.matrix)), [M.matrix >> 0]))
    return M.value()


def ldml(p: Any, solve: Solve) -> FloatArray:
    """One logistic of all pairs."""
    M, (near, far) = Metric(p.X.shape[1]), (p.similar, p.dissimilar)
    b = cp.Variable() if p.number is None else p.number
    costs = [cp.logistic(M.rows(near) @ M.entries - b), cp.logistic(b - M.rows(far) @ M.entries)]
    solve(cp.Problem(cp.Minimize(cp.sum(cp.hstack(costs))), [M.matrix >> 0]))
    return M.value()


def mcml(p: Any, solve: Solve) -> FloatArray:
    """One log_sum_exp over the rows of a matrix."""
    M, n = Metric(p.X.shape[1]), len(p.X)
    i, k = np.nonzero(~np.eye(n, dtype=bool))
    rows = M.rows(p.X[i] - p.X[k])
    same = p.y[i] == p.y[k]
    size = np.bincount(i, weights=same, minlength=n)
    pull = (same / np.maximum(size[i], 1)) @ rows @ M.entries
    softmax = cp.log_sum_exp(cp.reshape(-rows @ M.entries, (n, n - 1), order="C"), axis=1)
    solve(cp.Problem(cp.Minimize(pull + cp.sum(softmax[np.flatnonzero(size)])), [M.matrix >> 0]))
    return M.value()


def mmc(p: Any, solve: Solve) -> FloatArray:
    """With a budget of 1 for each similar pair, in which solvers have it easier; diagonal: its weights alone."""
    d, budget = p.X.shape[1], len(p.similar)
    if p.diagonal:
        weights = cp.Variable(d, nonneg=True)
        spent, D = (p.similar**2).sum(axis=0) @ weights, p.dissimilar**2 @ weights
        solve(cp.Problem(cp.Maximize(cp.sum(cp.sqrt(D))), [spent <= budget]))
        return np.diag(np.asarray(weights.value, dtype=float)) / budget
    M = Metric(d)
    spent, D = M.rows(p.similar).sum(axis=0) @ M.entries, M.rows(p.dissimilar) @ M.entries
    solve(cp.Problem(cp.Maximize(cp.sum(cp.sqrt(D))), [spent <= budget, M.matrix >> 0]))
    return M.value() / budget


def dml_eig(p: Any, solve: Solve) -> FloatArray:
    """In the coordinates of the paper, in which the trace is 1."""
    root = inverse_root(p.X, p.pairs)
    M, least = Metric(len(root)), cp.Variable()
    # trace and distances times the number of pairs: entries of about 1
    unit = float(len(p.similar))
    constraints = [M.matrix >> 0, cp.trace(M.matrix) == 1]
    constraints += [unit * M.rows(p.dissimilar @ root.T) @ M.entries >= least]
    solve(cp.Problem(cp.Maximize(least), constraints))
    return root.T @ M.value() @ root


def lfda(p: Any, solve: Solve) -> FloatArray:
    """In coordinates in which S_w is I."""
    S_w, S_b = (floats(matrix) for matrix in (p.known.S_w, p.known.S_b))
    root = np.linalg.inv(np.linalg.cholesky(S_w))
    Z = Metric(len(S_w))
    constraints = [Z.matrix >> 0, np.eye(len(S_w)) - Z.matrix >> 0, cp.trace(Z.matrix) == p.r]
    solve(cp.Problem(cp.Maximize(cp.trace(root @ S_b @ root.T @ Z.matrix)), constraints))
    return p.embedded(root.T @ Z.value() @ root)


def combination(p: Any, solve: Solve, beta: float = 0.0, C: float = 0.0) -> FloatArray:
    """The weights alone: a squared norm as a square of the root of L, or a sum."""
    i, j, l = p.triplets().T
    h = ((p.X[i] - p.X[l]) @ p.basis.T) ** 2 - ((p.X[i] - p.X[j]) @ p.basis.T) ** 2
    w = cp.Variable(len(p.basis), nonneg=True)
    missed = cp.pos(1 - h @ w)
    if beta:
        cost = beta * cp.sum(w) + cp.sum(missed) / p.count
    else:
        rows = np.einsum("ki,kj->ijk", p.basis, p.basis).reshape(-1, len(p.basis))
        cost = cp.sum_squares(rows[rows.any(axis=1)] @ w) / 2 + C * cp.sum(missed)
    solve(cp.Problem(cp.Minimize(cost)))
    return combined(p.basis, np.maximum(np.asarray(w.value, dtype=float), 0.0))


def schultz_joachims(p: Any, solve: Solve) -> FloatArray:
    """1/2 |M|^2 + C sum of slacks."""
    return combination(p, solve, C=p.C)


def scml(p: Any, solve: Solve) -> FloatArray:
    """beta sum w + the mean of slacks."""
    return combination(p, solve, beta=p.beta)


def literal(method: Any, p: Any, solve: Solve) -> FloatArray:
    """As the method states it."""
    problem = method.problem(p)
    solve(problem)
    found = {variable.name(): variable.value for variable in problem.variables()}
    return np.asarray(next(found[name] for name in METRIC_IS if name in found), dtype=float)


FORMS: dict[str, Callable[[Any, Solve], FloatArray]] = {
    "mlsvm": mlsvm,
    "lmnn": lmnn,
    "lmnn:squared_hinge": partial(lmnn, squared=True),
    "plml": plml,
    "itml": itml,
    "mcml": mcml,
    "ldml": ldml,
    "boostmetric": boostmetric,
    "mmc": mmc,
    "mmc:diagonal": mmc,
    "dml_eig": dml_eig,
    "lfda": lfda,
    "schultz_joachims": schultz_joachims,
    "scml": scml,
}


def rivals(method: str, X: Any, y: Any, limit: float = measure.LIMIT, **params: Any) -> list[Rival]:
    """The vectorised form through CLARABEL and SCS, building included; the literal one where there is no other."""
    contract: Any = get(method)
    form = FORMS.get(method, partial(literal, contract))

    def of(solver: str) -> Rival:
        return Rival(
            f"cvxpy, {solver}" + ("" if method in FORMS else ", row by row"),
            SETTINGS[solver],
            lambda: through(solver, limit, lambda solve: form(contract.instance(X, y, **params), solve)),
        )

    return [of(solver) for solver in SETTINGS]


def through(solver: str, limit: float, form: Callable[[Solve], FloatArray]) -> Ran:
    """One form through one solver, with `limit` seconds for the solver in all."""
    load(solver)
    started = measure.clock()

    def solve(problem: cp.Problem) -> None:
        left = max(1.0, limit - (measure.clock() - started))
        try:
            problem.solve(**options(solver, left))
        except Exception as error:  # cvxpy raises SolverError, and solvers raise what they like
            raise SolverFailure(str(error)) from error
        if any(v.value is None or not np.isfinite(v.value).all() for v in problem.variables()):
            raise SolverFailure(problem.status)

    try:
        metric = form(solve)
    except SolverFailure as failure:
        took = measure.clock() - started
        return Ran(
            took, None, f"nothing within {limit:.0f} s" if took >= limit else f"failed: {failure}"[:60]
        )
    return Ran(measure.clock() - started, metric)


@cache
def load(solver: str) -> None:
    """What cvxpy imports at its first problem is not what is timed."""
    x = cp.Variable((2, 2), symmetric=True)
    cp.Problem(cp.Minimize(cp.trace(x)), [x >> np.eye(2)]).solve(solver=solver)


def options(solver: str, seconds: float) -> dict[str, Any]:
    """What cvxpy is given."""
    if solver == "SCS":
        tight = {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 1_000_000}
        return {"solver": "SCS", **tight, "time_limit_secs": seconds}
    return {"solver": "CLARABEL", "time_limit": seconds}
