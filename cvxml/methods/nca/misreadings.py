"""The mistakes of NCA implementations that `check` can name, called misreadings.

A `Question` holds the metric that `check` refuted, with its data and parameters. Some mistakes are NCA with another
input. The others minimise another function F(Q), Q = A^T A. Let X_ij = (x_i - x_j)(x_i - x_j)^T, d_ij = <Q, X_ij>, and
p_ij the softmax of -d_ij over j != i. With the similarity s_ij, p_i = sum_j s_ij p_ij and w_ij = s_ij p_ij / p_i; c_i
is 1 for the criterion g and p_i for f. Each F has the derivative dF/dQ = sum_ij M_ij X_ij, where p_ij and w_ij are
those of the mistake:
    self    the denominator is 1 + sum_{k != i} e^-d_ik            M_ij = c_i (w_ij - p_ij)
    plain   e^-sqrt(d_ij) in place of e^-d_ij                      M_ij = c_i (w_ij - p_ij) / (2 sqrt(d_ij))
    each    -sum_i c_i sum_j u_ij log p_ij, u_ij = s_ij / sum_j s_ij, c_i = 1 (MCML) or sum_j s_ij
                                                                   M_ij = c_i (u_ij - p_ij)
    others  -sum_i log p_i, with only points of s_ik = 0 in the denominator (in M_ij, p_ij is 0 if s_ij > 0)
                                                                   M_ij = w_ij - p_ij
    pairs   -sum_ij s_ij log q_ij, q one softmax over all pairs    M_ij = s_ij - q_ij sum s
The kinds of `each` are "mean_log" (c_i = 1) and "sum_log". "pairs_self" is `pairs` with the n terms i = j in the sum.

A mistake is named if the metric is stationary for F. As for NCA itself (certify.py), we bound max(|A|, 1) |dF/dA| and,
if a row of A is unused, the decrease that the smallest eigenvalue of dF/dQ allows. Both bounds include rounding. They
are divided by the scale. The scale is the distance of F to a lower bound or, if that is less, to its limit along the
multiples t Q of the metric, as t grows. If F is at its limit, the scale is 0, and no mistake is named.
    bounds  self: p_i is at most max_j s_ij K / (1 + K), if i has K partners (points j with s_ij > 0). plain: p_i is at
            most max_j s_ij. each: sum c_i H(u_i), and pairs: sum s H(s / sum s), with H the entropy, because F minus
            that is a relative entropy. others: no bound is used, and the scale is the number of points with a partner.
    limits  self: only points at distance 0 count. plain: as for NCA (certify.py). For all other mistakes the limit is
            not used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, xlogy

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.stationary.rank import INVISIBLE, examine_rank
from cvxml.family.stationary.stationary import NOTHING
from cvxml.methods.nca.certify import limit
from cvxml.methods.nca.instance import Instance, by_target, instance
from cvxml.methods.nca.rows import Metric

SMALL_METRIC = 1e-2  # in units of the covariance; all directions of such a small metric count as unused
BLOCK = 1 << 20  # distances in a block
SINGLE = -150 * math.log(2)  # in single precision e to a smaller power rounds to 0
MOST_POINTS = 10_000  # with more points only NCA with another parameter is tried


class Rows(NamedTuple):
    """b usable points i (points with some s_ij > 0), with their distances and similarities to all n points.

    at (b,): the points i. d (b, n): d_ij, inf at j = i. s (b, n): s_ij.
    """

    at: IntArray  # (b,) the points i
    d: FloatArray  # (b, n) d_ij; inf at j = i
    s: FloatArray  # (b, n) s_ij


class Part(NamedTuple):
    """The parts of F, of the bound of F and of the limit of F that belong to a block of b points; and M_ij (b, n)."""

    value: float
    bound: float
    limit: float
    M: FloatArray


class Misread(NamedTuple):
    """The objective F of a mistake at the metric.

    value: F. bound: a lower bound of F. limit: that of F along the multiples of the metric. G (r, r): dF/dQ. size: the
    sum of the absolute terms of G.
    """

    value: float
    bound: float  # a lower bound of F
    limit: float  # of F along the multiples of the metric
    G: FloatArray  # (r, r) dF/dQ
    size: float  # the sum of the absolute terms of G


def left(question: Question, kind: str) -> float:
    """Return a proved bound, relative to the scale, of how far the metric is from stationary for a mistake.

    kind: the mistake, for example "self". The module docstring defines F, the bound and the scale. Returns inf if no
    bound is proved: for a zero or infeasible metric, for more than `MOST_POINTS` points, or if rounding hides
    directions of the points.
    """
    p = question.checked(instance)
    if len(p.X) > MOST_POINTS or not np.isfinite(question.metric).all():
        return math.inf
    at = coordinates(p.X)
    if at.hidden:  # rounding hides directions
        return math.inf
    Q, feasibility = examine_rank(question.metric, p.m, at)
    if not (feasibility.feasible and Q.any()):
        return math.inf
    values, vectors = np.linalg.eigh(Q)
    values[: max(0, len(values) - p.m)] = 0
    values[values <= EPS * len(values) * values[-1]] = 0
    if values[-1] <= INVISIBLE:  # A = 0 is stationary for every F
        return math.inf
    A = np.sqrt(values)[:, None] * vectors.T
    with np.errstate(all="ignore"):  # NaN and infinity are refused below
        found = _misread(p, at, A, kind, question.metric)
        gradient = float(np.linalg.norm(2 * A @ found.G))
        unused = values[-1] <= SMALL_METRIC or min(p.m, len(Q)) > np.count_nonzero(values > INVISIBLE)
        least = float(np.linalg.eigvalsh(found.G)[0]) if unused and np.isfinite(found.G).all() else 0.0
        length = max(float(np.linalg.norm(A)), 1.0)
        above, to_limit = found.value - found.bound, abs(found.value - found.limit)
        # the size of the terms that cancel when the metric is written in the coordinates
        beyond = np.linalg.norm(np.abs(at.back.T) @ np.abs(question.metric) @ np.abs(at.back), 2)
        reach = float(np.linalg.norm(A, 2) * np.linalg.norm(A * at.lost, 2) + beyond)
        sizes = max(reach, 1.0) * found.size + abs(found.value) + abs(found.bound)
        rounding = EPS * (8 + math.sqrt(len(p.X))) * sizes
        decrease = max(length * gradient, length**2 * max(0.0, -least)) + rounding
        relative = decrease / max(min(above, to_limit), NOTHING)
    return relative if math.isfinite(relative) else math.inf


def _misread(p: Instance, at: Coordinates, A: FloatArray, kind: str, metric: FloatArray) -> Misread:
    Y, E = at.Y, at.Y @ A.T
    n, r = Y.shape
    of_pairs = kind.startswith("pairs")
    log_sum = _over_pairs(E, n if kind == "pairs_self" else 0) if of_pairs else 0.0
    total = sum(float(rows.s.sum()) for rows in _rows(p, E)) if of_pairs else 0.0
    row_sums, column_sums, cross, size = np.zeros(n), np.zeros(n), np.zeros((r, r)), 0.0
    lengths = np.sum(Y**2, axis=1)
    parts = []
    for rows in _rows(p, E):
        part = _pairs(rows, log_sum, total) if of_pairs else _points(p, rows, kind)
        parts.append(part)
        row_sums[rows.at] += part.M.sum(axis=1)
        column_sums += part.M.sum(axis=0)
        cross += Y[rows.at].T @ (part.M @ Y)
        size += 2 * float(np.sum(np.abs(part.M) * (lengths[rows.at][:, None] + lengths)))
    G = Y.T @ ((row_sums + column_sums)[:, None] * Y) - cross - cross.T
    value, bound, to = (math.fsum(found) for found in zip(*(part[:3] for part in parts), strict=True))
    if kind == "plain":
        bound, to = p.bound, limit(p, Metric(p, metric, at)).value
    return Misread(value, bound, to, (G + G.T) / 2, size)


def _rows(p: Instance, E: FloatArray) -> Iterator[Rows]:
    """Yield all usable points in blocks. E (n, r): the images A x_i of all points."""
    usable = np.flatnonzero(p.usable)
    step = max(1, BLOCK // len(E))
    for start in range(0, len(usable), step):
        at = usable[start : start + step]
        d = cdist(E[at], E, "sqeuclidean")
        d[np.arange(len(at)), at] = np.inf
        if p.similarity is None:
            s = (p.y[at][:, None] == p.y) * 1.0
            s[np.arange(len(at)), at] = 0.0
        else:
            s = p.similarity[at]
        yield Rows(at, d, s)


def _over_pairs(E: FloatArray, own: int) -> float:
    """Return log( own + sum_{i != j} e^-d_ij ), d_ij = |e_i - e_j|^2 for the rows e_i of E (n, r).

    own: the number of terms i = j that count, 0 or n.
    """
    step = max(1, BLOCK // len(E))
    logs = [np.log(own) if own else -np.inf]
    for start in range(0, len(E), step):
        d = cdist(E[start : start + step], E, "sqeuclidean")
        d[np.arange(len(d)), start + np.arange(len(d))] = np.inf
        logs.append(float(logsumexp(-d)))
    return float(logsumexp(logs))


def _pairs(rows: Rows, log_sum: float, total: float) -> Part:
    d = np.where(rows.s > 0, rows.d, 0.0)
    value = float(np.sum(rows.s * (d + log_sum)))
    M = rows.s - total * np.exp(-rows.d - log_sum)
    return Part(value, -float(np.sum(xlogy(rows.s, rows.s / total))), math.inf, M)


def _points(p: Instance, rows: Rows, kind: str) -> Part:
    exponents = -np.sqrt(rows.d) if kind == "plain" else -rows.d
    if kind == "others":
        return _against_others(rows)
    log_sum = logsumexp(exponents, axis=1)
    if kind == "self":
        log_sum = np.logaddexp(log_sum, 0.0)
    P = np.exp(exponents - log_sum[:, None])
    if kind in ("mean_log", "sum_log"):
        weight = rows.s.sum(axis=1)
        u = rows.s / weight[:, None]
        c = weight if kind == "sum_log" else np.ones(len(weight))
        d = np.where(u > 0, rows.d, 0.0)
        value = float(c @ (np.sum(u * d, axis=1) + log_sum))
        return Part(value, -float(c @ np.sum(xlogy(u, u), axis=1)), math.inf, c[:, None] * (u - P))
    mine = exponents + np.log(rows.s)
    log_own = logsumexp(mine, axis=1)
    log_p = log_own - log_sum
    c = np.exp(log_p) if p.criterion == "f" else np.ones(len(log_p))
    M = c[:, None] * (np.exp(mine - log_own[:, None]) - P)
    if kind == "plain":  # if the images coincide but the points do not, there is no derivative
        root = np.sqrt(rows.d)
        same = (p.X[rows.at][:, None] == p.X).all(axis=2) if not root.all() else root == np.inf
        M = np.where(same, 0.0, M / (2 * root))
    most, right = rows.s.max(axis=1), np.count_nonzero(rows.s, axis=1)
    here = rows.d == 0
    terms = [c if p.criterion == "f" else log_p, most * right / (1 + right)]
    terms.append(np.where(here, rows.s, 0.0).sum(axis=1) / (1 + here.sum(axis=1)))
    if p.criterion == "g":
        terms[1:] = [np.log(term) for term in terms[1:]]
    value, bound, to = (-float(term.sum()) for term in terms)
    return Part(value, bound, to, M)


def _against_others(rows: Rows) -> Part:
    mine, others = -rows.d + np.log(rows.s), np.where(rows.s > 0, -np.inf, -rows.d)
    log_mine, log_others = (logsumexp(each, axis=1) for each in (mine, others))
    value = float(np.sum(log_others - log_mine))
    M = np.exp(mine - log_mine[:, None]) - np.exp(others - log_others[:, None])
    return Part(value, value - len(rows.at), math.inf, M)


# NCA with other inputs


def _other_criterion(to: str) -> Misreading:
    other = {"f": "g", "g": "f"}[to]
    name = {"f": "f = sum_i p_i", "g": "g = sum_i log p_i"}

    def value(question: Question) -> str | None:
        return to if question.params.get("criterion", "f") == other else None

    return Misreading(f"{name[to]} where {name[other]} is requested", changed("criterion", value))


def _mean_in_class(question: Question) -> OtherProblem | None:
    """Return NCA with f, where p_i is the mean of p_ij over the class: s_ij = 1 / (n_c - 1) for a class of n_c points.

    None for g, because the weights add a constant there, and for classes of equal size, where they multiply f by a
    factor. None also for a given similarity, or more than `MOST_POINTS` points.
    """
    p = question.checked(instance)
    if p.criterion == "g" or p.similarity is not None or len(p.X) > MOST_POINTS:
        return None
    s = p.weights()
    right = s.sum(axis=1)
    if right[right > 0].min() == right.max():
        return None
    s = s / np.where(right > 0, right, 1.0)[:, None]
    return OtherProblem(question.X, None, {**question.params, "similarity": s})


def _dropped(question: Question) -> OtherProblem | None:
    """Return NCA with g, without the terms log p_i for which p_i rounds to 0 in single precision at the metric.

    None for f, if there are no such points i, or only such points. None also for more than `MOST_POINTS` points, or if
    the metric is not finite.
    """
    p = question.checked(instance)
    if p.criterion == "f" or len(p.X) > MOST_POINTS or not np.isfinite(question.metric).all():
        return None
    s, d = np.asarray(p.weights(), dtype=float), _squared_distances(p.X, question.metric)
    with np.errstate(divide="ignore"):
        log_p = logsumexp(np.log(s) - d, axis=1) - logsumexp(-d, axis=1)
    gone = p.usable & (log_p < SINGLE)
    if not gone.any() or not (p.usable & ~gone).any():
        return None
    return OtherProblem(question.X, None, {**question.params, "similarity": np.where(gone[:, None], 0.0, s)})


def _as_reals(question: Question) -> OtherProblem | None:
    """Return NCA with the labels y read as numbers: the similarity of regression, exp(-(y_i - y_j)^2 / 2).

    Labels that are no numbers are replaced by the codes of the classes. None for a given similarity, or more than
    `MOST_POINTS` points.
    """
    p = question.checked(instance)
    if p.similarity is not None or len(p.X) > MOST_POINTS:
        return None
    labels = np.asarray(question.y)
    y = labels if labels.dtype.kind in "iuf" else p.y  # programs replace text by codes
    return OtherProblem(question.X, None, {**question.params, "similarity": by_target(y, 1.0)})


def _class_weights(question: Question) -> OtherProblem | None:
    """Return NCA with f and equal weights of the R classes: in a class of n_c points, s_ij = n / (R n_c).

    None for g, where the weights only add a constant, and for classes of equal size. None also for a given similarity,
    or more than `MOST_POINTS` points.
    """
    p = question.checked(instance)
    if p.criterion == "g" or p.similarity is not None or len(p.X) > MOST_POINTS:
        return None
    sizes = np.bincount(p.y)
    if sizes.min() == sizes.max():
        return None
    by_point = len(p.y) / (len(sizes) * sizes[p.y])
    return OtherProblem(question.X, None, {**question.params, "similarity": by_point[:, None] * p.weights()})


def _squared_distances(X: FloatArray, M: FloatArray) -> FloatArray:
    """Squared distances in the metric M, (n, n); inf on the diagonal."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    E = (X - X.mean(axis=0)) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    d: FloatArray = cdist(E, E, "sqeuclidean")
    np.fill_diagonal(d, np.inf)
    return d


def _objective(sentence: str, kind: str) -> Misreading:
    return Misreading(sentence, left=partial(left, kind=kind))


MISREADINGS: dict[str, Misreading] = {
    "g": _other_criterion("g"),
    "f": _other_criterion("f"),
    "mean": Misreading("p_i the mean of p_ij over the class where the note has the sum", _mean_in_class),
    "reals": Misreading(
        "labels read as real numbers, with the similarity exp(-(y_i - y_j)^2 / 2)", _as_reals
    ),
    "class_weights": Misreading(
        "equal weights of the classes, where the method has equal weights of the points", _class_weights
    ),
    "self": _objective("the point itself in the denominator of p_ij, where the note has k != i", "self"),
    "dropped": Misreading(
        "points left out of g because p_i rounds to 0 in single precision, where the note has all points",
        _dropped,
    ),
    "others": _objective(
        "the points of the class left out of the denominator of p_i (as its proxy is in Proxy-NCA), where the note has "
        "every k != i",
        "others",
    ),
    "plain": _objective("exp(-|A x_i - A x_j|) where the note has the squared distance", "plain"),
    "mean_log": _objective(
        "sum_i of the mean of log p_ij over the class (MCML) where NCA has p_i = sum_j p_ij", "mean_log"
    ),
    "sum_log": _objective(
        "sum_ij log p_ij over the pairs of a class where NCA has p_i = sum_j p_ij", "sum_log"
    ),
    "pairs": _objective(
        "one distribution over all pairs (the cost printed for continuous labels) where p has one for each point",
        "pairs",
    ),
    "pairs_self": _objective(
        "one distribution over all pairs including c = d (the printed cost for continuous labels), where p has "
        "one for each point",
        "pairs_self",
    ),
}
