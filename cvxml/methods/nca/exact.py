"""The exact interval of NCA: objective and bound of the convex step in balls (cvxml/core/balls.py), without rounding.

A ball is an interval that is proved to contain a real number. The metric is V = M M^T, which is psd for every M. M is
computed in floating point (core/integer_matrices.py), or given. The objective is -f = -sum_i p_i, or
-g = -sum_i log p_i. Squared distances are integers times a power of two. Balls are p_ij (the softmax of minus the
squared distances over j != i) and p_i = sum_j s_ij p_ij with the similarity s_ij. Further balls are w_ij = s_ij p_ij /
p_i, and c_i (1 for g, p_i for f). Let

    q = (1 - theta) softmax(-<R, X_ik>) + theta softmax(-<I, X_ik>),   X_ik = (x_i - x_k)(x_i - x_k)^T,

with "R" and I = "interior" of the dual. For 0 <= theta <= 1 the rows of q are in the simplex, and the step is at least

    const + sum c_i [ H(q_i) + sum_j w_ij log(w_ij / s_ij) ]   if   Z = sum c_i (w_ij - q_ij) X_ij is psd (certify.py),

with the entropy H. Z is proved positive definite on the span of the differences of the points, in features that are a
basis of it. The smallest theta that allows this proof is taken, to `BISECTIONS` bits. The bound is the larger of this
one and the trivial bound, which uses that p_i is at most the largest s_ij.

If the allowed rank is less than that of the points, the convex step has no bound here. Then the lower end of the
interval is the objective minus a bound of its first-order decrease, over steps of A of length at most max(|A|, 1)
(family/stationary/stationary.py). This is called the first-order step.

In the functions, `points` are integers, and points * 2^at are the points minus the first one. `found` has the `Row` of
each usable point, a point i with some s_ij > 0. `basis` is a list of features. Their columns of `points` are linearly
independent, and span all columns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import ball, cholesky_is_positive, ends, precision, total
from cvxml.core.exact import Exact, flint
from cvxml.core.integer_matrices import (
    all_distances,
    basis_of,
    distance_to_square,
    from_products,
    from_the_first,
    root_of,
    whole,
)
from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.stationary.stationary import (
    PLENTY,
    ROUNDING,
    first_order,
    interval,
    laplacian,
    nearest,
    root_of_rank,
    squared,
    turns,
    won_at_most,
)
from cvxml.methods.nca.certify import dual_matrix
from cvxml.methods.nca.instance import Instance

BISECTIONS = 40  # steps that refine theta after its power of two is known
LOWEST_EXPONENT = 200  # theta is 0 or at least 2^-LOWEST_EXPONENT


class Row(NamedTuple):
    """The probabilities of a point i at the metric V, as balls.

    others: the points k != i. each: p_ik for these. w: w_ij for each partner j. c: c_i. p, log_p: p_i and its
    logarithm. tangent: sum_j w_ij log(w_ij / s_ij).
    """

    others: list[int]
    w: dict[int, Any]
    c: Any
    p: Any
    log_p: Any
    each: list[Any]  # p_ik for k in others
    tangent: Any  # sum_j w_ij log(w_ij / s_ij)


class Shares(NamedTuple):
    """The convex step at the metric V = M M^T, and the rows q of its lower bound (module docstring).

    root (d, r): M. D (n, n): integers; the squared distances are D 2^unit. found: the `Row` of each usable point.

    mixture: the rows q. It is None if no theta makes Z positive definite. It is also None if the sum over the usable i
    of c_i [ H(q_i) + sum_j w_ij log(w_ij / s_ij) ] is not proved positive.
    """

    root: FloatArray  # M (d, r)
    D: list[list[int]]  # distances, times 2^-unit
    unit: int
    found: dict[int, Row]
    mixture: Mixture | None  # None: no theta is found, or the sum of the docstring is not proved positive


class Mixture(NamedTuple):
    """The rows q = (1 - theta) softmax(-<R, X_ik>) + theta softmax(-<I, X_ik>) over k != i, for each usable point i.

    R, interior: for each i, the row of the first and of the second softmax, a list of balls.
    """

    R: dict[int, list[Any]]
    interior: dict[int, list[Any]]
    theta: Fraction

    def row(self, i: int) -> list[Any]:
        share = ball(self.theta)
        pairs = zip(self.R[i], self.interior[i], strict=True)
        return [(1 - share) * a + share * b for a, b in pairs]


def exact_interval(p: Instance, Q: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
    """Return an interval that contains the optimum of the convex step at the metric V = M M^T, proved without rounding.

    The upper end is the objective at V. dual: any matrices "R" and "interior" (d, d); their symmetric parts are used.
    root (d, r): M with M M^T near Q (d, d), computed from Q by default. If the allowed rank is less than that of the
    points, the interval is for the first-order step (module docstring), and the dual is ignored.

    Raises ValueError for a root of a rank above n_components, if a probability p_i underflows even in balls, and if no
    bound of the first-order decrease is proved.
    """
    points, at = from_the_first(p.X)
    basis = basis_of(points)
    limited = p.m < len(basis)
    M = root_of_rank(Q, p.m, coordinates(p.X), root) if limited else root_of(Q, root)
    with precision():
        D, unit, found = _at(p, points, at, M)
        objective = -total([row.p if p.criterion == "f" else row.log_p for row in found.values()])
        trivial = _trivial(p, list(found))
        weights = _weights(found, {i: row.each for i, row in found.items()}, len(D))
        scale = _scale(p, D, list(found), objective, trivial, bool(M.any()))
        if M.any():
            scale = min(scale, PLENTY * max(ends(turns(D, unit, weights))[0], Fraction(0)))
        if limited:
            left = won_at_most(first_order((points, at), squared(M.T), weights, p.m))
            return interval(Q, M, objective, left, scale)
        bound = ends(trivial)[0]
        step = _step(p, points, at, basis, found, dual)
        if step is not None:
            bound = max(bound, ends(step)[0])
        return Exact(bound, ends(objective)[1], distance_to_square(Q, M), scale, of_step=not p.convex)


def exact_shares(p: Instance, Q: FloatArray, dual: Dual) -> Shares:
    """Return the distances, p, w and the rows q from which the exact interval of the step of `Q` (d, d) is computed.

    dual: any symmetric "R" and "interior" (d, d). Call it inside the context `precision()` of cvxml/core/balls.py,
    which sets the number of bits. The rank must not be limited.
    """
    points, at = from_the_first(p.X)
    M = root_of(Q)
    D, unit, found = _at(p, points, at, M)
    mixture = _mixture(p, points, at, basis_of(points), found, dual)
    if mixture is not None:
        gained = total([row.c * (_entropy(mixture.row(i)) + row.tangent) for i, row in found.items()])
        mixture = mixture if gained > 0 else None
    return Shares(M, D, unit, found, mixture)


def _at(p: Instance, points: Any, at: int, M: FloatArray) -> tuple[list[list[int]], int, dict[int, Row]]:
    """Return the distances at the metric M M^T as integers D, a number `unit`, and the `Row` of each usable point.

    The distances are D 2^unit. points * 2^at are the points, minus the first one. M (d, r).
    """
    rows, root_at = whole(M)
    D, unit = all_distances(points * rows), 2 * (at + root_at)
    return D, unit, {i: _row(p, i, D[i], unit) for i in np.flatnonzero(p.usable).tolist()}


def _row(p: Instance, i: int, D: list[int], unit: int) -> Row:
    others = [k for k in range(len(D)) if k != i]
    s = p.row(i)
    log_p = _log_softmax([D[k] for k in others], unit)
    partners = [k for k in others if s[k] > 0]
    of_partners = {k: log_p[k if k < i else k - 1] for k in partners}
    p_i = total([ball(float(s[k])) * of_partners[k].exp() for k in partners])
    log_p_i = _log(p_i)
    # w / s is p_ij / p_i
    ratios = {k: of_partners[k] - log_p_i for k in partners}
    w = {k: ball(float(s[k])) * ratio.exp() for k, ratio in ratios.items()}
    tangent = total([w[k] * ratios[k] for k in partners])
    c = p_i if p.criterion == "f" else ball(1)
    return Row(others, w, c, p_i, log_p_i, [one.exp() for one in log_p], tangent)


def _log(value: Any) -> Any:
    if not value > 0:
        raise ValueError("a probability underflows even in balls; give a smaller metric")
    return value.log()


def _log_softmax(D: list[int], unit: int) -> list[Any]:
    """The logarithms of softmax(-D * 2^unit), as balls, for integers D."""
    least = min(D)
    exponents = [ball(flint().fmpz(least - each), unit) for each in D]
    log_sum = total([each.exp() for each in exponents]).log()
    return [each - log_sum for each in exponents]


def _step(
    p: Instance, points: Any, at: int, basis: list[int], found: dict[int, Row], dual: Dual
) -> Any | None:
    """Return the lower bound of the convex step, a ball, from any "R" and "interior" of the dual.

    None if no theta makes Z positive definite. The arguments are explained in the module docstring.
    """
    mixture = _mixture(p, points, at, basis, found, dual)
    if mixture is None:
        return None
    parts = []
    for i, row in found.items():
        parts.append(row.c * (_entropy(mixture.row(i)) + row.tangent))
        if p.criterion == "f":
            parts.append(row.p * row.log_p - row.p)
    return total(parts)


def _entropy(q: list[Any]) -> Any:
    """The entropy H(q), a ball. An entry of q that is not proved positive is left out: it adds at least 0."""
    return -total([each * each.log() for each in q if each > 0])


def _mixture(
    p: Instance, points: Any, at: int, basis: list[int], found: dict[int, Row], dual: Dual
) -> Mixture | None:
    """Return the rows q for the smallest theta, from "R" and "interior" of the dual.

    None if no theta makes Z positive definite. The arguments are explained in the module docstring.
    """
    matrices = [dual_matrix(dual, name, p.X.shape[1]) for name in ("R", "interior")]
    R, interior = (_softmax(points, at, matrix, found) for matrix in matrices)
    columns = flint().arb_mat([[points[i, j] for j in basis] for i in range(points.nrows())])
    # Z below is missing a factor that is a power of two
    weights = [_weights(found, q, len(p.X)) for q in (R, interior)]
    theta = _smallest_theta(*(columns.transpose() * laplacian(each) * columns for each in weights))
    return None if theta is None else Mixture(R, interior, theta)


def _softmax(points: Any, at: int, matrix: FloatArray, found: dict[int, Row]) -> dict[int, list[Any]]:
    """The rows softmax(-<matrix, X_ik>) over k != i, as balls, for each usable point i."""
    given, matrix_at = whole(matrix)
    D, unit = from_products(points * given * points.transpose()), 2 * at + matrix_at
    logs = {i: _log_softmax([D[i][k] for k in row.others], unit) for i, row in found.items()}
    return {i: [each.exp() for each in row] for i, row in logs.items()}


def _weights(found: dict[int, Row], q: dict[int, list[Any]], n: int) -> Any:
    """The matrix c_i (w_ij - q_ij) (n, n) of balls; 0 in the rows of points without a partner.

    q: the rows q_ij over j != i, by the point i.
    """
    weights = flint().arb_mat(n, n)
    for i, row in found.items():
        for k, each in zip(row.others, q[i], strict=True):
            weights[i, k] = row.c * (row.w[k] - each if k in row.w else -each)
    return weights


def _smallest_theta(Z_R: Any, Z_I: Any) -> Fraction | None:
    """Return nearly the smallest theta with (1 - theta) Z_R + theta Z_I proved positive definite.

    None if this is proved neither for theta = 0 nor for theta = 1. Z_R, Z_I: Z of the module docstring for the rows of
    "R" and of "interior".
    """

    def positive(theta: Fraction) -> bool:
        share = ball(theta)
        return cholesky_is_positive(Z_R * (1 - share) + Z_I * share)

    if positive(Fraction(0)):
        return Fraction(0)
    if not positive(Fraction(1)):
        return None
    # if Z is positive for one theta, then for every larger theta, because Z_I is positive
    low, high = 0, LOWEST_EXPONENT + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if positive(Fraction(1, 1 << middle)) else (low, middle)
    above, below = Fraction(1, 1 << low), Fraction(0) if high > LOWEST_EXPONENT else Fraction(1, 1 << high)
    for _ in range(BISECTIONS):
        between = (above + below) / 2
        above, below = (between, below) if positive(between) else (above, between)
    return above


def _trivial(p: Instance, usable: list[int]) -> Any:
    """The trivial lower bound of the objective, a ball: p_i is a mean of s_ij, so it is at most the largest s_ij.

    usable: the points with a partner, a point j with s_ij > 0.
    """
    largest = [ball(float(p.row(i).max())) for i in usable]
    return -total(largest if p.criterion == "f" else [each.log() for each in largest])


def _scale(
    p: Instance, D: list[list[int]], usable: list[int], objective: Any, trivial: Any, moved: bool
) -> Fraction:
    """The distance of the objective to its bound `trivial`, or to its limit along the multiples t V if that is less.

    The limit is for t to infinity. Only the first distance counts if the metric is 0, or if the limit is infinite. The
    result is 0 if the distance to the limit is as small as rounding.

    D: the squared distances, integers. usable: the points with a partner. moved: whether the metric is not 0.
    """
    above = max(ends(objective - trivial)[0], Fraction(0))
    if not moved:
        return above
    largest = max(max(row) for row in D)
    values = []
    for i in usable:
        s = [Fraction(float(p.row(i)[k])) for k in nearest(D[i], i, largest)]
        values.append(sum(s, Fraction(0)) / len(s))
    if p.criterion == "g" and min(values) == 0:
        return above
    limit = -total([ball(value) if p.criterion == "f" else ball(value).log() for value in values])
    to_limit = ends(abs(objective - limit))[0]
    least_known = max(abs(end) for end in ends(objective)) / ROUNDING
    return min(above, to_limit) if to_limit > least_known else Fraction(0)
