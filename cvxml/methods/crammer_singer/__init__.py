"""The multiclass SVM of Crammer and Singer (2001), a linear classifier that papers compare with learned metrics.

W has one row w_m per class. The problem is
    min_W  1/2 ||W||^2 + C sum_i max_m ( [m != y_i] + w_m x_i - w_{y_i} x_i ).
The paper has no intercept (`fit_intercept=False`). With `fit_intercept=True`, the default, a 1 is appended to every x.
Then the last column of W holds the intercepts, and ||W|| includes them. scikit-learn's
LinearSVC(multi_class="crammer_singer") solves the same problem, with the same argument and default. The SVM learns no
metric, so `cvxml.methods` does not list it. This package has its problem, dual, objective, certificate, and exact mode.

Dual and bound: let mu_im >= 0 for point i and class m, with mu_im = 0 for m = y_i and sum_m mu_im <= C. Then
sum mu - 1/2 ||W(mu)||^2 is a lower bound (`dual`). W(mu) has the rows sum_i ( [y_i = m] sum_k mu_ik - mu_im ) x_i. An
infeasible mu is clipped, and its rows are scaled. Data, W and mu are floats, so all values are rational and are
computed exactly. Results are rounded at the end. Scale, the number that gaps are relative to: 1/2 ||W||^2. The
objective is strongly convex, so the distance of W to the optimum is at most sqrt(2 gap). Solver: interior.py.

Reference: K. Crammer, Y. Singer, On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2,
2001. docs/crammer_singer.md lists our sources.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import look
from cvxml.core.exact import Exact, flint, nearest, root_upward, scaled
from cvxml.core.inputs import check_count, check_labels, check_positive, check_X, real_array
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import EPS, Feasibility, FloatArray, IntArray
from cvxml.core.result import Certificate
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.methods.crammer_singer.interior import Interior

LARGEST = 1e100  # largest entry of X, and largest C; the smallest C is 1 / LARGEST
AGAIN = 4  # the solver stops after this many steps without a better gap, because rounding limits it


def problem(X: FloatArray, y: IntArray, C: float, fit_intercept: bool = True) -> Any:
    """The problem, point by point, as a `cvxpy.Problem`. X (n, d), y (n,) codes 0..R-1 of the R classes.

    Variable: "W" (R, d + 1), intercepts last; (R, d) without intercept.
    """
    import cvxpy as cp

    n, R = len(X), int(y.max()) + 1
    x = np.hstack([X, np.ones((n, 1))]) if fit_intercept else X
    W = cp.Variable((R, x.shape[1]), name="W")
    losses = []
    for i in range(n):
        # The maximum over all m, including y_i, of [m != y_i] + w_m x_i - w_{y_i} x_i.
        losses.append(cp.max(cp.hstack([float(m != y[i]) + W[m] @ x[i] - W[y[i]] @ x[i] for m in range(R)])))
    return cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + C * cp.sum(cp.hstack(losses))))


def dual(X: FloatArray, y: IntArray, C: float, fit_intercept: bool = True) -> Any:
    """The dual as a `cvxpy.Problem`. Variable: "mu" (n, R), for n points and R classes."""
    import cvxpy as cp

    n, R = len(X), int(y.max()) + 1
    x = np.hstack([X, np.ones((n, 1))]) if fit_intercept else X
    mu = cp.Variable((n, R), nonneg=True, name="mu")
    own = np.eye(R)[y]
    # w_m = sum_i ( [y_i = m] sum_l mu_il - mu_im ) x_i
    W = (cp.multiply(own, cp.sum(mu, axis=1, keepdims=True) @ np.ones((1, R))) - mu).T @ x
    constraints = [cp.multiply(own, mu) == 0, cp.sum(mu, axis=1) <= C]
    return cp.Problem(cp.Maximize(cp.sum(mu) - cp.sum_squares(W) / 2), constraints)


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data of the SVM: points, class codes y (n,) 0..R-1, C and fit_intercept."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes 0..R-1
    C: float
    fit_intercept: bool = True

    @cached_property
    def x(self) -> FloatArray:
        """The points of the problem: X with a 1 appended to each row, (n, d + 1); without intercept X (n, d) itself."""
        return np.hstack([self.X, np.ones((len(self.X), 1))]) if self.fit_intercept else self.X

    @property
    def classes(self) -> int:
        """R, the number of classes."""
        return int(self.y.max()) + 1


def instance(X: ArrayLike, y: ArrayLike, C: float = 1.0, fit_intercept: bool = True) -> Instance:
    """Check the inputs. X (n, d), y (n,) labels, C > 0.

    fit_intercept: True appends a 1 to every x; the paper has no intercept. Raises ValueError for bad input.
    """
    points, C = check_X(X), check_positive(C, "C")
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    if not np.abs(points).max() <= LARGEST:
        raise ValueError(
            f"entries of X must be at most {LARGEST:g} in absolute value, got {np.abs(points).max():g}; rescale X"
        )
    if not 1 / LARGEST <= C <= LARGEST:
        raise ValueError(f"C must be between {1 / LARGEST:g} and {LARGEST:g}, got {C:g}")
    return Instance(points, check_labels(y, len(points)), C, bool(fit_intercept))


def objective(given: Instance, W: FloatArray) -> float:
    """1/2 ||W||^2 + C times the sum of the losses, point by point. W: (R, d + 1), or (R, d) without intercept."""
    losses = []
    for x, own in zip(given.x, given.y.tolist(), strict=True):
        losses.append(max(float(m != own) + float(W[m] @ x) - float(W[own] @ x) for m in range(len(W))))
    return 0.5 * float(np.sum(W**2)) + given.C * math.fsum(losses)


def evaluate(given: Instance, W: FloatArray) -> dict[str, Any]:
    """Intermediate values at W (R, d + 1), or (R, d) without intercept, by name.

    objective; scores (n, R); losses (n,); margins (n,), the score of a point's class minus the best other score.
    """
    scores = given.x @ W.T
    own = np.eye(len(W), dtype=bool)[given.y]
    margins = scores[own] - np.where(own, -np.inf, scores).max(axis=1)
    return {
        "objective": objective(given, W),
        "scores": scores,
        "losses": np.maximum(0.0, 1 - margins),
        "margins": margins,
    }


def to_domain(given: Instance, mu: ArrayLike) -> FloatArray:
    """A feasible mu (n, R) close to `mu`: 0 for the point's own class, nonnegative, each row with a sum of at most C.

    The sums of the rows are compared with C without rounding. Raises ValueError for another shape and for NaN.
    """
    values = real_array(mu, "mu")
    shape = (len(given.y), given.classes)
    if values.shape != shape or np.isnan(values).any():
        raise ValueError(
            f"mu must be numbers of shape {shape}, one for each point and class, without NaN; got shape "
            f"{values.shape}" + (", with NaN" if np.isnan(values).any() else "")
        )
    values = np.clip(values, 0.0, given.C)
    values[np.arange(len(values)), given.y] = 0.0
    for row in values:
        # fsum rounds once, so it has the sign of the exact sum.
        k = 1
        while math.fsum([*row.tolist(), -given.C]) > 0:
            row *= given.C / math.fsum(row.tolist()) * (1 - k * EPS)
            k *= 2
    return values


def exact(given: Instance, W: ArrayLike, mu: ArrayLike) -> Exact:
    """The objective at W, the lower bound from mu (n, R), and the scale 1/2 ||W||^2, exactly. W: (R, d + 1), or (R, d).

    Raises ValueError for other shapes, for a W that is not finite, and for NaN in mu.
    """
    rows = _checked(given, W)
    return _exact(given, rows, to_domain(given, mu))


def _checked(given: Instance, W: ArrayLike) -> FloatArray:
    rows, shape = real_array(W, "W"), (given.classes, given.x.shape[1])
    if rows.shape != shape or not np.isfinite(rows).all():
        last = "the intercept last" if given.fit_intercept else "no intercept (fit_intercept=False)"
        raise ValueError(
            f"W must be finite, of shape {shape}: a row for each class, {last}; got shape {rows.shape}"
            + ("" if np.isfinite(rows).all() else ", with entries that are not finite")
        )
    return rows


def _exact(given: Instance, W: FloatArray, mu: FloatArray) -> Exact:
    (x, x_at), (rows, at) = whole(given.x), whole(W)
    norm = scaled(sum(int(w) ** 2 for w in rows.entries()), 2 * at) / 2
    scores = [[int(s) for s in row] for row in (x * rows.transpose()).tolist()]
    # `one` is the margin 1 in the unit 2^min(unit, 0), of which 1 and all scores are multiples.
    unit = x_at + at
    shift, one = max(unit, 0), 1 << max(-unit, 0)
    losses = sum(
        max(0, one + (max(row[:own] + row[own + 1 :]) - row[own] << shift))
        for row, own in zip(scores, given.y.tolist(), strict=True)
    )
    value = norm + scaled(losses, min(unit, 0)) * scaled(*_as_integer(given.C))
    duals, mu_at = whole(mu)
    held = [[-int(v) for v in row] for row in duals.tolist()]
    for row, own in zip(held, given.y.tolist(), strict=True):
        row[own] = -sum(row)
    of_mu = flint().fmpz_mat(held).transpose() * x
    square = scaled(sum(int(w) ** 2 for w in of_mu.entries()), 2 * (mu_at + x_at))
    bound = scaled(sum(int(v) for v in duals.entries()), mu_at) - square / 2
    return Exact(bound, value, 0.0, norm)


def _as_integer(number: float) -> tuple[int, int]:
    """An integer k and an exponent e with number = k 2^e."""
    numerator, denominator = number.as_integer_ratio()
    return numerator, 1 - denominator.bit_length()


def certify(given: Instance, W: ArrayLike, mu: ArrayLike) -> Certificate:
    """The certificate of any W, from any mu (n, R), computed in rationals and rounded at the end.

    W: (R, d + 1), or (R, d) without intercept. Raises ValueError for other shapes, for a W that is not finite, and for
    NaN in mu.
    """
    rows, duals = _checked(given, W), to_domain(given, mu)
    found = _exact(given, rows, duals)
    objective, bound, gap = nearest(found.objective), nearest(found.lower_bound), nearest(found.gap)
    return Certificate(
        kind="global",
        objective=objective,
        lower_bound=bound,
        gap=gap,
        scale=nearest(found.scale),
        rounding=EPS * gap,
        radius=root_upward(2 * found.gap),
        # Every W is feasible.
        feasibility=Feasibility(0.0, 0.0, 0.0, root_upward(2 * found.scale)),
        dual={"mu": duals},
        value_rounding=EPS * max(objective, abs(bound)),
    )


class Solved(NamedTuple):
    """W (R, d + 1), intercepts last, or (R, d) without intercept; its certificate; the number of iterations."""

    W: FloatArray
    certificate: Certificate
    n_iter: int


def solve(given: Instance, tol: Tolerance = 1e-6, max_iter: int = 100) -> Solved:
    """Solve until the certified gap is at most tol times 1/2 ||W||^2.

    Raises ValueError for bad input. Warns with scikit-learn's ConvergenceWarning if the gap is larger at the end.
    """
    tol, max_iter = check_tol(tol), check_count(max_iter, "max_iter")
    with one_blas_thread(), np.errstate(all="ignore"):  # an iterate that overflows is never the best one
        at = Interior(given.x, given.y, given.C)
        least, best, without, n_iter = math.inf, (at.W, at.mu), 0, 0
        while n_iter < max_iter:
            look()
            try:
                at.step()
            except np.linalg.LinAlgError:
                break
            n_iter, without = n_iter + 1, without + 1
            if at.gap < least:
                least, best, without = at.gap, (at.W, at.mu), 0
            if at.gap <= tol / 2 * at.scale or without == AGAIN:
                break
        certificate = certify(given, *best)
    if not certificate.proves(tol):
        _warn(certificate, tol)
    return Solved(best[0], certificate, n_iter)


def _warn(certificate: Certificate, tol: float) -> None:
    # imported here because scikit-learn takes a second to load
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"crammer_singer: not certified to tol={tol:g} (gap {certificate.gap:.3g}, relative "
        f"{certificate.rel_gap:.3g}); raise max_iter or tol, or scale the features",
        ConvergenceWarning,
        stacklevel=3,
    )
