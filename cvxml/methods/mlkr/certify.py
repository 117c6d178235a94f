"""How stationary a metric is for MLKR, in balls (core/balls.py): what is proved of it.

In coordinates in which the points have unit covariance C, with G = dF/dQ: |A|^2 = tr QC, |dF/dA|^2 = 4 tr QG C^-1 G.
Where features depend on each other C is that of a basis of them, which exact ranks find.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball, balls, ends, floats, pivots, precision, total
from cvxml.core.exact import flint, root_upward
from cvxml.core.metric import FloatArray, examine
from cvxml.core.result import Certificate, Stationarity
from cvxml.core.spectrum import inverted
from cvxml.core.squares import whole
from cvxml.family.proved import EPS
from cvxml.family.rank import INVISIBLE, examine_rank
from cvxml.family.rational import Plane, Squares
from cvxml.methods.mlkr.instance import Instance

NOTHING = 1e-290  # a scale that nothing can be a share of
PLENTY = 4  # times what the scale derivative is summed from: more than any distance, except where all is flat
# Two distances are taken for equal where they differ by less than 1/CLOSE of the least or 1/ROUNDING of the largest.
CLOSE, ROUNDING = 10**9, 1 << 46


def tends_to_0(given: Instance, Q: FloatArray) -> bool:
    """True if all that are nearest to a point in Q (d, d) have its target, exactly: F of its multiples tends to 0.

    Also in the A^T A next to it, since floats that are no metric could have a nearest point at less than 0.
    """
    return bool(Q.any()) and all(
        _nearest_have_its_target(given, each)
        for each in (squared(components(given, Q)), Squares(*whole(Q), 0.0))
    )


def _nearest_have_its_target(given: Instance, Q: Squares) -> bool:
    (points, at), y = given.points, given.y
    for i, row in enumerate(Plane(points, at).distances(Q).D):
        least = min(D for k, D in enumerate(row) if k != i)
        if any(y[k] != y[i] for k, D in enumerate(row) if k != i and least == D):
            return False
    return True


class Figures(NamedTuple):
    """Of a metric, in balls or above and below of them."""

    objective: Any
    length: Any  # |A|^2, in the coordinates, as the next
    gradient: Any  # |dF/dA|^2
    slope: Any  # d F(tA)/dt at t = 1
    turns: Any  # the sum of the sizes of what the slope is a sum of, at |A| = 1 where |A| is less
    to_limit: Any  # how far F is from where multiples of the metric tend
    free: float  # above what a free direction wins for a unit of it; 0 where none is free


def squared(A: FloatArray) -> Squares:
    """A^T A (d, d) of A (m, d), exactly."""
    rows, at = whole(A)
    return Squares(rows.transpose() * rows, 2 * at, 0.0)


def objective(given: Instance, Q: Squares) -> Any:
    """F, at the precision of now."""
    (points, at), y = given.points, [ball(value) for value in given.y.tolist()]
    found, unit = [], 2 * at + Q.at
    for i, row in enumerate(Plane(points, at).distances(Q).D):
        others = [k for k in range(len(row)) if k != i]
        least = min(row[k] for k in others)
        e = [ball(flint().fmpz(least - row[k]), unit).exp() for k in others]
        off = total([a * (y[k] - y[i]) for a, k in zip(e, others, strict=True)]) / total(e)
        found.append(off * off)
    return total(found)


def figures(given: Instance, Q: Squares) -> Figures:
    """Of Q = A^T A (d, d), at the precision of now."""
    arb, arb_mat, n = flint().arb, flint().arb_mat, len(given.X)
    (points, at), V, v_at = given.points, Q.V, Q.at
    D, unit = Plane(points, at).distances(Q).D, 2 * at + v_at
    y = [ball(value) for value in given.y.tolist()]
    S, squares, sizes, to = arb_mat(n, n), [], [], arb(0)
    largest = max(map(max, D))
    for i, row in enumerate(D):
        least = min(row[k] for k in range(n) if k != i)
        e = [ball(flint().fmpz(least - D_ik), unit).exp() if k != i else arb(0) for k, D_ik in enumerate(row)]
        Z = total(e)
        yhat = total([a * b for a, b in zip(e, y, strict=True)]) / Z
        off = yhat - y[i]
        squares.append(off * off)
        near = least + max(least // CLOSE, largest // ROUNDING)
        tied = [y[k] for k in range(n) if k != i and row[k] <= near]
        to += (y[i] - total(tied) / len(tied)) ** 2
        for k in range(n):
            if k != i:
                c = 2 * off * e[k] / Z * (yhat - y[k])
                sizes.append(abs(c) * ball(flint().fmpz(row[k] - least), unit + 1))
                S[i, k] -= c
                S[k, i] -= c
                S[i, i] += c
                S[k, k] += c
    F, X = total(squares), balls(points, at)
    mean = arb_mat(1, n, [arb(1) / n] * n) * X
    around = arb_mat([[X[i, j] - mean[0, j] for j in range(X.ncols())] for i in range(n)])
    bases = arb_mat([[around[i, j] for j in given.basis] for i in range(n)])
    metric, C = balls(V, v_at), bases.transpose() * bases / n
    H = bases.transpose() * S * X
    long = (around * metric * around.transpose()).trace() / n
    gradient = 4 * (metric * H.transpose() * inverted(C) * H).trace()
    turns = total(sizes)
    if long < 1:
        turns = turns / long if long > 0 else turns
    K, G = bases.transpose() * around / n, bases.transpose() * S * bases
    free = 0.0 if _rank_is_used(given, K * metric * K.transpose(), C) else _won(G, C)
    slope = 2 * (S * X * metric * X.transpose()).trace()
    return Figures(F, long, gradient, slope, turns, abs(F - to), free)


def _of_pencil(A: FloatArray, C: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of (A, C), rising, and their vectors: of C near singular, whatever comes."""
    size = np.sqrt(np.diag(C))
    w, V = np.linalg.eigh(C / np.outer(size, size))
    W = V / np.sqrt(np.maximum(w, EPS * w[-1])) / size[:, None]
    values, vectors = np.linalg.eigh(W.T @ A @ W)
    return values, W @ vectors


def _rank_is_used(given: Instance, A: Any, C: Any) -> bool:
    """True if it is less than the points could use, and m eigenvalues of a metric are proved to be above INVISIBLE.

    A: C M C, of the metric M. Then no row of A is free. By vectors in whose span the metric is that large.
    """
    if given.m >= C.nrows():
        return False
    columns = balls(*whole(_of_pencil(floats(A), floats(C))[1][:, -given.m :]))
    rows = columns.transpose()
    return pivots(rows * A * columns - rows * C * columns * ball(INVISIBLE)) is not None


def _won(G: Any, C: Any) -> float:
    """A number t with G + t C proved psd, next to the least: what is won by a unit of the best direction."""
    guess = max(0.0, -float(_of_pencil(floats(G), floats(C))[0][0]))
    least = float(np.abs(floats(G)).max() / np.abs(floats(C)).max())
    tried = [guess * (1 + more) + least * more for more in (2.0**-60, 2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)]
    # far out G is 0 but for the radius of its balls, of which the middle says nothing
    widest = max(float(entry.abs_upper()) for entry in G.entries()) / float(np.diag(floats(C)).min())
    for t in (*tried, 2.0**20 * widest):
        if pivots(G + C * ball(t)) is not None:
            return t
    return math.inf


def stationarity(of: Figures, is_zero: bool) -> Stationarity:
    """How far it is from stationary, rounded upward."""
    gradient, free, scale = left(of, is_zero)
    return Stationarity(
        gradient=gradient,
        scale_derivative=float(of.slope),
        dc_residual=free,
        of=float(scale) if scale > 0 else NOTHING,
    )


def left(of: Figures, is_zero: bool) -> tuple[float, float, Fraction]:
    """Above the gradient and the DC residual; below the scale, which is 0 where it is no more than rounding."""
    size = root_upward(max(ends(of.length)[1], Fraction(1)))
    gradient = size * root_upward(max(ends(of.gradient)[1], Fraction(0)))
    scales = [of.objective] if is_zero else [of.objective, of.to_limit, PLENTY * of.turns]
    scale = min(ends(each)[0] for each in scales)
    resolved = scale > ends(of.objective)[1] / ROUNDING
    free = size * size * of.free * (1 + 4 * EPS)
    return gradient * (1 + EPS), free, scale if resolved else Fraction(0)


def components(given: Instance, Q: FloatArray) -> FloatArray:
    """The A (rows, d), m rows at most, next to a root of Q (d, d), of which all is proved."""
    inside = examine_rank(Q, given.m, given.at)[0]
    return root(inside) @ given.at.to.T if inside.any() else np.zeros((1, len(Q)))


def root(inside: FloatArray) -> FloatArray:
    """A (rank, r) of a metric (r, r) in the coordinates: of an eigenvalue that is rounding it would have the root."""
    values, vectors = np.linalg.eigh(inside)
    used = values > len(values) * EPS * max(values[-1], 0.0)
    A: FloatArray = (np.sqrt(values[used]) * vectors[:, used]).T
    return A


def rows_of(given: Instance, Q: FloatArray) -> FloatArray:
    """A (m, r) in the coordinates, of Q (d, d), as many rows as its rank may have."""
    A = root(examine_rank(Q, given.m, given.at)[0])
    return np.vstack([A, np.zeros((min(given.m, given.at.Y.shape[1]) - len(A), A.shape[1]))])


def certify(given: Instance, Q: FloatArray) -> Certificate:
    """That Q (d, d) is stationary, as far as it is.

    Judged is A^T A of the A (m, d) that is next to its root, psd of rank m at most; by how much F differs at Q itself
    is counted as rounding.
    """
    feasibility, A = examine_rank(Q, given.m, given.at)[1], components(given, Q)
    with precision():
        of = figures(given, squared(A))
        found = stationarity(of, not A.any())
        here = examine(Q)[0]
        off = (
            abs(objective(given, Squares(*whole(here), 0.0)) - of.objective)
            if feasibility.feasible
            else of.objective
        )
        rounding = float(off) + float(off.rad()) + EPS * float(of.objective)
    F = float(of.objective)
    return Certificate(
        kind="stationary",
        objective=F,
        lower_bound=0.0,
        gap=F,
        scale=found.of,
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={},
        stationarity=found,
        undecided=given.at.undecided,
    )
