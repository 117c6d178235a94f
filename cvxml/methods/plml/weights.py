"""The first problem of PLML, the weights W (n, m) of the basis metrics at each point: objective, solver, exact bound.

The rows x_i of X (n, d) are the points, and the rows u_b of U (m, d) the anchors of the basis metrics. The objective,
convex and quadratic, for W with rows W_i in the simplex is

    g(W) = ||X - W U||^2 + lam1 sum_ib W_ib ||x_i - u_b||^2 + lam2 tr W^T L W,

where L is the graph Laplacian of the similarity s: tr W^T L W = sum_{i<j} s_ij ||W_i - W_j||^2. The tangent of g at any
V (n, m) is below g,

    g(W) >= g(V) + <grad g(V), W - V>,

and the minimum of the tangent over the simplices is the lower bound

    g(V) - <grad g(V), V> + sum_i min_b grad g(V)_ib,

where g(V) - <grad g(V), V> = ||X||^2 - ||V U||^2 - lam2 tr V^T L V, since the linear terms cancel. The bound is tight
if V = W is optimal. All inputs are floats, hence rational numbers. So objective and bound are computed exactly, and
rounded outward.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.linalg import MatrixRankWarning, spsolve

from cvxml.core.clock import look, watched
from cvxml.core.exact import integers, nearest, scaled, upward
from cvxml.core.inputs import real_array
from cvxml.core.metric import EPS, FEASIBILITY_TOL, Feasibility, FloatArray, middle, unit_scale
from cvxml.core.result import Certificate
from cvxml.solvers.feasible_sets import project_simplices
from cvxml.solvers.first_order import accelerated

TOL = 1e-10  # the solver stops at this gap, relative to g
MAX_ITER = 20000
OFTEN = 10  # steps between two computations of the gap
BATCH = 500  # gradient steps between two attempts of Newton's method
NEWTON_STEPS = 50
SHORTEST = 1e-6  # shortest step length tried along a Newton direction
DAMPED = 1e-14  # added to the diagonal, relative to its largest entry, since a face may have flat directions
MAX_WEIGHTS_NEWTON = 20_000  # up to this many weights, Newton's method is tried


@dataclass(frozen=True, eq=False)
class Smooth:
    """The constants of g: points X (n, d), anchors U (m, d), a symmetric similarity (n, n) >= 0, and lam1, lam2."""

    X: FloatArray
    U: FloatArray
    similarity: FloatArray
    lam1: float
    lam2: float


@dataclass(frozen=True)
class SimplexFeasibility(Feasibility):
    """The distance of weights (n, m) from weights with rows in the simplex.

    In the fields of the base class, `norm` is the norm of all weights, and `min_eigenvalue` the least weight.
    """

    @property
    def feasible(self) -> bool:
        return math.isfinite(self.norm) and self.distance <= FEASIBILITY_TOL * self.norm

    def __str__(self) -> str:
        return (
            f"least weight {self.min_eigenvalue:.3g}, distance to the simplices at most {self.distance:.3g}"
        )


def objective(given: Smooth, W: FloatArray) -> float:
    """g(W) = ||X - W U||^2 + lam1 sum_ib W_ib ||x_i - u_b||^2 + lam2 sum_{i<j} s_ij ||W_i - W_j||^2, for W (n, m)."""
    fits, near, smooth = [], [], []
    for x, w in zip(given.X, W, strict=True):
        fits.append(float(np.sum((x - w @ given.U) ** 2)))
        near += [float(share * np.sum((x - u) ** 2)) for share, u in zip(w, given.U, strict=True)]
    for i, j in np.argwhere(np.triu(given.similarity, 1)).tolist():
        smooth.append(float(given.similarity[i, j] * np.sum((W[i] - W[j]) ** 2)))
    return math.fsum(fits) + given.lam1 * math.fsum(near) + given.lam2 * math.fsum(smooth)


def check_weights(weights: ArrayLike, n: int, m: int | None) -> FloatArray:
    """Return `weights` as W (n, m). m = None allows any number of columns.

    Raises ValueError for another shape, for a weight that is negative, above 2 or not finite, and for a row with a sum
    that differs from 1 by more than `FEASIBILITY_TOL`.
    """
    W = real_array(weights, "weights")
    if W.ndim != 2 or len(W) != n or W.shape[1] != (m or W.shape[1]) or W.shape[1] == 0:
        columns = "a column for each metric" if m is None else f"a column for each of the {m} anchors"
        raise ValueError(
            f"weights must have a row for each of the {n} points and {columns}, got shape {W.shape}"
        )
    if not np.isfinite(W).all() or (W < 0).any() or (W > 2).any():
        raise ValueError(
            f"weights must be finite and between 0 and 1, got entries from {W.min():.3g} to {W.max():.3g}"
        )
    apart = np.abs(W.sum(axis=1) - 1)
    if apart.max() > FEASIBILITY_TOL:
        i = int(apart.argmax())
        raise ValueError(
            f"the weights of each point must add up to 1; those of point {i} add up to {W[i].sum():.9g}"
        )
    return W


def certify(given: Smooth, W: FloatArray, V: FloatArray | None = None) -> Certificate:
    """The certificate of weights W (n, m), with a lower bound from V (n, m), by default W. The scale is g(W).

    The rows of W must be in the simplex up to a small tolerance. They are first moved into the simplex.
    """
    V = W if V is None else V
    simplex, distance = _on_simplex(W)
    value, bound = exact_objective(given, simplex), exact_bound(given, V)
    gap = value - bound
    with np.errstate(over="ignore"):
        feasibility = SimplexFeasibility(0.0, float(W.min()), float(distance), float(np.linalg.norm(W)))
    return Certificate(
        kind="global",
        objective=nearest(value),
        lower_bound=nearest(bound),
        gap=upward(gap),
        scale=nearest(value),
        rounding=0.0,
        radius=math.inf,
        feasibility=feasibility,
        dual={"V": V},
        value_rounding=4 * EPS * nearest(max(abs(value), abs(bound))),
    )


def _on_simplex(W: FloatArray) -> tuple[tuple[Any, int], float]:
    """W (n, m) with every row moved into the simplex, exactly, and a bound on the largest change of an entry.

    The moved weights are returned as integers and the exponent of a power of two. Negative weights become 0. The
    largest weight of each row is changed so that the sum of the row is 1. This is correct for sums near 1.
    """
    rows, at = _whole(np.maximum(W, 0.0))
    one = 1 << -at
    largest = W.argmax(axis=1), np.arange(len(W))
    left = one - rows.sum(axis=1) + rows[largest[1], largest[0]]
    change = max(abs(new - old) for new, old in zip(left, rows[largest[1], largest[0]], strict=True))
    rows[largest[1], largest[0]] = left
    return (rows, at), upward(scaled(change, at)) + float(np.maximum(-W, 0.0).max())


def _whole(A: FloatArray) -> tuple[Any, int]:
    """Integers V (p, q) and an exponent e <= 0 with A = V 2^e, for a matrix A (p, q) of floats."""
    rows, at = integers(A)
    shift = max(at, 0)
    return np.array(rows, dtype=object) * (1 << shift), at - shift


def exact_objective(given: Smooth, weights: tuple[Any, int]) -> Fraction:
    """g(W), exactly. weights: W as integers and an exponent of two."""
    W, w_at = weights
    X, U, D, at = _exactly(given)
    fit = np.sum((X * (1 << -w_at) - W @ U) ** 2)
    near = Fraction(given.lam1) * scaled(np.sum(W * D), w_at + 2 * at)
    return scaled(fit, 2 * (w_at + at)) + near + _smoothness(given, W, w_at)


def exact_bound(given: Smooth, V: FloatArray) -> Fraction:
    """The lower bound of the module docstring from V (n, m), exactly."""
    rows, v_at = _whole(V)
    X, U, D, at = _exactly(given)
    similarity, s_at = _whole(given.similarity)
    pulled = rows @ U
    of_fit = 2 * (pulled - X * (1 << -v_at)) @ U.T
    of_smooth = 2 * (similarity.sum(axis=1)[:, None] * rows - similarity @ rows)
    lam1, lam2 = Fraction(given.lam1), Fraction(given.lam2)
    units = scaled(1, v_at + 2 * at), lam1 * scaled(1, 2 * at), lam2 * scaled(1, v_at + s_at)
    common = math.lcm(*(unit.denominator for unit in units))
    fit, near, smooth = (unit.numerator * (common // unit.denominator) for unit in units)
    gradient = fit * of_fit + near * D + smooth * of_smooth  # integers, in units of 1 / common
    least = Fraction(int(np.sum(gradient.min(axis=1))), common)
    squares = scaled(np.sum(X**2), 2 * at) - scaled(np.sum(pulled**2), 2 * (v_at + at))
    return squares - _smoothness(given, rows, v_at) + least


def _exactly(given: Smooth) -> tuple[Any, Any, Any, int]:
    """Integers X, U, their squared distances (n, m), and e: the points and anchors are X 2^e and U 2^e."""
    both, at = _whole(np.vstack([given.X, given.U]))
    X, U = both[: len(given.X)], both[len(given.X) :]
    D = np.stack([np.sum((X - u) ** 2, axis=1) for u in U], axis=1)
    return X, U, D, at


def _smoothness(given: Smooth, W: Any, w_at: int) -> Fraction:
    """lam2 tr W^T L W, exactly, for the weights W 2^w_at with integers W."""
    similarity, s_at = _whole(given.similarity)
    i, j = np.nonzero(np.triu(given.similarity, 1))
    total = np.sum(similarity[i, j] * np.sum((W[i] - W[j]) ** 2, axis=1))
    return Fraction(given.lam2) * scaled(total, 2 * w_at + s_at)


def solve(given: Smooth, tol: float = TOL) -> FloatArray:
    """Return weights W (n, m), by accelerated projected gradients, with a gap of about `tol` times g (not proved).

    The start is equal weights. If lam2 is large compared with the squared distances of the points, gradient steps
    converge very slowly. So Newton's method (`_newton`) is tried after every batch of gradient steps, for at most
    `MAX_WEIGHTS_NEWTON` weights. If the gap stays above `tol`, because of rounding or after `MAX_ITER` steps, the
    weights with the least gap are returned.
    """
    at = _Gradients(given)
    W = np.full((len(given.X), len(given.U)), 1 / len(given.U))
    best, least = W, math.inf  # with a large lam2 the gap has a floor, which depends on rounding
    steps: Iterator[Any] = accelerated(at, W, 1 / at.steepest)
    for k in watched(range(MAX_ITER)):
        if k % OFTEN == 0:
            gap = at.gap(W)
            if gap < least:
                best, least = W, gap
            if gap <= tol * at.value(W):
                break
        if k % BATCH == BATCH - 1 and W.size <= MAX_WEIGHTS_NEWTON:
            moved = _newton(at, W, tol)
            if moved is not W:
                W, steps = moved, accelerated(at, moved, 1 / at.steepest)
                continue
        W = next(steps).v
    return best


def _newton(at: _Gradients, W: FloatArray, tol: float) -> FloatArray:
    """Return weights after Newton steps from W (`_Gradients.newton`) that decrease g; W itself if no step does.

    The steps end when the gap is at most `tol` times g.
    """
    for _ in watched(range(NEWTON_STEPS)):
        if at.gap(W) <= tol * at.value(W):
            break
        direction, t = at.newton(W), 1.0
        new = project_simplices(W + direction)
        while not at.change(W, new) < 0 and t > SHORTEST:
            look()
            t /= 4
            new = project_simplices(W + t * direction)
        if not at.change(W, new) < 0:  # True also for nan, from a singular system
            break
        W = new
    return W


class _Gradients:
    """g in the form that solvers/first_order.py expects, in units in which the points have a size of about 1.

    Its values are those of g divided by the square of the unit of length.
    """

    def __init__(self, given: Smooth):
        s, centre = unit_scale(given.X), middle(given.X)
        self.X, self.U = (given.X - centre) / s, (given.U - centre) / s
        lam2 = given.lam2 / s / s
        self.L = lam2 * (np.diag(given.similarity.sum(axis=1)) - given.similarity)
        self.near = given.lam1 * np.sum((self.X[:, None] - self.U) ** 2, axis=2)
        self.steps: FloatArray = np.ones(1)
        self.steepest = 2 * float(np.linalg.norm(self.U, 2) ** 2 + 2 * np.diag(self.L).max()) + 1e-100

    def image(self, v: FloatArray) -> FloatArray:
        return v

    def gradient(self, W: FloatArray) -> FloatArray:
        slope: FloatArray = 2 * (W @ self.U - self.X) @ self.U.T + self.near + 2 * self.L @ W
        return slope

    def value(self, W: FloatArray) -> float:
        return float(np.sum((self.X - W @ self.U) ** 2) + np.sum(self.near * W) + np.sum(W * (self.L @ W)))

    def change(self, W: FloatArray, new: FloatArray) -> float:
        """g(new) - g(W), from the gradient and curvature of the quadratic g: accurate even if far smaller than g."""
        move = new - W
        return float(np.sum(self.gradient(W) * move)) + self.curvature(move)

    def curvature(self, move: FloatArray) -> float:
        """||move U||^2 + lam2 tr move^T L move: half of the second derivative of g along `move` (n, m)."""
        return float(np.sum((move @ self.U) ** 2) + np.sum(move * (self.L @ move)))

    def gap(self, W: FloatArray) -> float:
        """The Frank-Wolfe gap, <W, grad g(W)> minus its minimum over the simplices; g(W) - min g is at most this."""
        slope = self.gradient(W)
        return float(np.sum(W * (slope - slope.min(axis=1, keepdims=True))))

    def newton(self, W: FloatArray) -> FloatArray:
        """The step (n, m) to the minimum of g if only the free weights change and rows keep their sums.

        Positive weights are free. A weight of 0 is also free if g decreases when this weight grows and the largest
        weight of its row falls by the same amount. The largest weight of a row takes up the changes of the other free
        weights. The step may leave the simplices.
        """
        (n, m), slope = W.shape, self.gradient(W)
        leader = W.argmax(axis=1)
        free = (W > 0) | (slope < slope[np.arange(n), leader][:, None])
        free[np.arange(n), leader] = False
        row, column = np.nonzero(free)
        step = np.zeros((n, m))
        if len(row) == 0:
            return step
        # A free weight grows at the cost of the largest weight of its row.
        p = np.arange(len(row))
        entries = np.concatenate([np.ones(len(p)), -np.ones(len(p))])
        places = np.concatenate([row * m + column, row * m + leader[row]])
        Z = csr_array((entries, (places, np.concatenate([p, p]))), shape=(n * m, len(p)))
        H = kron(eye_array(n), 2 * self.U @ self.U.T) + kron(csr_array(2 * self.L), eye_array(m))
        reduced = (Z.T @ H @ Z).tocsc()
        damped = reduced + DAMPED * float(reduced.diagonal().max()) * eye_array(len(p), format="csc")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MatrixRankWarning)  # then the step is nan, and _newton rejects it
            moved = Z @ spsolve(damped, -(Z.T @ slope.ravel()))
        return np.asarray(moved, dtype=np.float64).reshape(n, m)

    def descent(self, v: FloatArray, image: FloatArray) -> _Descent:
        return _Descent(self, v)


class _Descent:
    """Weights v (n, m) with the gradient of g, from which solvers/first_order.py takes a step."""

    def __init__(self, of: _Gradients, v: FloatArray):
        self.of, self.v, self.gradient = of, v, of.gradient(v)

    def step(self, step: float) -> FloatArray:
        return project_simplices(self.v - step * self.gradient)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        return 2 * self.of.curvature(new_image - self.v)
