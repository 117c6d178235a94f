"""Exact inference in gerrymandering: the sets of k neighbours that a metric chooses, F there, and all intermediates.

The symbols are those of enumeration.py. R is the number of classes. In a set of k neighbours, #c is the number of votes
for class c. The class of i wins if it has more votes than any other class. The cost of a set is the sum of the squared
distances of its members; S is minus the cost. Delta is the loss of the vote, the largest Lam(y_i, r) over the classes r
tied for most votes. The cheapest set that the class of i wins is h*_i, and h^_i is the set with the largest S + Delta.
F(W) = ||W||^2 + C sum_i L_i, where L_i is the largest S + Delta plus the cost of h*_i.

Sets (section 5.1). H_r(tau) = {h : #r >= 1, #c <= #r - tau for c != r}. With tau = 1, r wins strictly; with tau = 0,
ties are allowed. With m votes for r, the cheapest set takes the m nearest points of r. It then takes the k - m nearest
of the other classes, with at most m - tau of a class. Taking points by distance and skipping full classes is exact,
because these sets are the bases of a truncated partition matroid. Algorithm 2 of the paper chooses m during the search,
which is not exact (algorithms.py). Here every m from n* = ceil((k + tau (R - 1)) / R) to k is tried. The proof is in
docs/gerrymandering_inference.md.

Nearest points. So a cheapest set of H_r(tau) needs only the k nearest points of each class. `nearest` gives D (n, R,
k), their squared distances in ascending order; inf if there are fewer.

A `Point` is a metric W with h*, the largest S + Delta of each point, and F. `evaluate` returns all intermediates with
the names of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.core.clock import look, watched
from cvxml.core.metric import EPS, FloatArray, IntArray, project_psd, psd_root
from cvxml.methods.ssvm.instance import Instance

BLOCK = 400_000  # distances at a time: 3 MB, which fit in a cache


class Nearest(NamedTuple):
    """Squared distances D and indices J of the k nearest points of each class, nearest first, for n points.

    If a class has fewer than k other points, the last entries are inf and -1.
    """

    D: FloatArray  # (n, R, k)
    J: IntArray  # (n, R, k)


def nearest(
    X: FloatArray,
    y: IntArray,
    R: int,
    W: FloatArray,
    k: int,
    rows: IntArray | None = None,
    root: FloatArray | None = None,
) -> Nearest:
    """Return the k nearest points of each class in the metric W (d, d), for the points `rows` (default: all of X).

    A point is never its own neighbour. root: T with W = T T^T, if it is known. The k candidates of each class come from
    matrix products, whose rounding may exchange points at nearly equal distances. The distances of the candidates are
    then computed again as sums of squared differences, so that small distances keep their digits. Of candidates at
    equal distance, the one of lower index comes first.
    """
    # the Euclidean distances of Z are those of X in the metric W
    Z = (X - X.mean(axis=0)) @ (psd_root(W) if root is None else root)
    rows = np.arange(len(Z)) if rows is None else rows
    J = _candidates(Z, y, R, k, rows)
    D = np.empty(J.shape)
    step = max(1, BLOCK // max(1, R * k * Z.shape[1]))
    for start in watched(range(0, len(rows), step)):
        block = slice(start, start + step)
        difference = Z[rows[block], None, None] - Z[J[block]]
        D[block] = np.einsum("nrkd,nrkd->nrk", difference, difference)
    D[J < 0] = np.inf
    order = np.lexsort((J, D), axis=2)
    return Nearest(np.take_along_axis(D, order, axis=2), np.take_along_axis(J, order, axis=2))


def _candidates(Z: FloatArray, y: IntArray, R: int, k: int, rows: IntArray) -> IntArray:
    """Return the indices (rows, R, k) of the k nearest points of each class by a matrix product; -1 if there are fewer.

    Z (n, m): the points, mapped so that the metric is Euclidean. rows: the points whose nearest points are sought.
    """
    J = np.full((len(rows), R, k), -1, dtype=np.intp)
    by_class = np.argsort(y, kind="stable")
    place = np.empty(len(Z), dtype=np.intp)
    place[by_class] = np.arange(len(Z))
    # One product gives ||z_j||^2 - 2 <z_i, z_j>: the squared distance minus ||z_i||^2, which changes no order.
    left = np.column_stack([Z[rows], np.ones(len(rows))])
    right = np.column_stack([-2 * Z, np.einsum("nd,nd->n", Z, Z)])[by_class]
    ends = np.cumsum(np.bincount(y, minlength=R)).tolist()
    for c, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        step = max(1, BLOCK // max(1, last - first))
        for start in watched(range(0, len(rows) if last > first else 0, step)):
            block = slice(start, start + step)
            away = left[block] @ right[first:last].T
            itself = np.flatnonzero(y[rows[block]] == c)
            away[itself, place[rows[block][itself]] - first] = np.inf
            _take_smallest(away, by_class[first:last], J[block, c])
    return J


def _take_smallest(away: FloatArray, members: IntArray, J: IntArray) -> None:
    """Write into J (rows, k) the k members with the smallest entries of each row of `away`.

    away (rows, len(members)): a column for each member; overwritten. An entry of J is -1 if no finite entry is left.
    """
    each = np.arange(len(away))
    for t in watched(range(min(J.shape[1], len(members)))):
        column = away.argmin(axis=1)
        J[:, t] = np.where(away[each, column] < np.inf, members[column], -1)
        away[each, column] = np.inf


def nearest_by_distance(D: FloatArray, y: IntArray, R: int, k: int) -> Nearest:
    """Return for each of n queries the k nearest points of each class, from the distances D (n, m) to m points.

    y (m,): the classes of the points. R: the number of classes. A point at the distance inf is not a neighbour.
    """
    near = Nearest(np.full((len(D), R, k), np.inf), np.full((len(D), R, k), -1, dtype=np.intp))
    for c in range(R):
        members = np.flatnonzero(y == c)
        order = np.argsort(D[:, members], axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(D[:, members], order, axis=1)
        near.D[:, c, : order.shape[1]] = found
        near.J[:, c, : order.shape[1]] = np.where(np.isfinite(found), members[order], -1)
    return near


class Table(NamedTuple):
    """The cheapest set of H_r(tau) for each of n points and some classes r: its cost and its number of votes for r.

    cost, votes (n, c): a column for each class; c = R if the classes are 0..R-1. If there is no such set, the cost is
    inf.
    """

    cost: FloatArray  # (n, c); (n, R) of all classes
    votes: IntArray  # of the same shape


class Chosen(NamedTuple):
    """One set for each point, with its value.

    sets (n, k): indices increasing. value (n,): the cost for the sets h*, S + Delta for the sets h^.
    """

    sets: IntArray  # (n, k), increasing
    value: FloatArray  # (n,): the cost of a targeted set; S + Delta of a loss-augmented one


def fewest_votes(k: int, R: int, tau: int) -> int:
    """Return n*, the fewest of k votes with which one of R classes can win (tau = 1) or be tied for most (tau = 0)."""
    return -(-(k + tau * (R - 1)) // R)


def table(D: FloatArray, tau: int, classes: IntArray | None = None) -> Table:
    """Return the cheapest set of H_r(tau) for each point and each r; of equal costs, the one with fewest votes for r.

    D (n, R, k): the distances from each point to the k nearest points of each class, ascending. classes (n, c): c
    classes r for each point; default: the classes 0..R-1. The results are (n, c).
    """
    n, R, k = D.shape
    if classes is None:
        classes = np.broadcast_to(np.arange(R), (n, R))
    own = np.cumsum(np.take_along_axis(D, classes[:, :, None], axis=1), axis=2)
    cost, votes = np.full(classes.shape, np.inf), np.zeros(classes.shape, dtype=np.intp)
    for m in range(fewest_votes(k, R, tau), k + 1):
        total = own[:, :, m - 1] + _rest(D, classes, k - m, m - tau)
        better = total < cost
        cost[better], votes[better] = total[better], m
    return Table(cost, votes)


def _rest(D: FloatArray, classes: IntArray, count: int, most: int) -> FloatArray:
    """Return the sum of the `count` least distances to points outside class r, at most `most` of each class.

    D (n, R, k): the distances from each point to the k nearest points of each class, ascending. classes (n, c): the
    classes r for each point. The sums are (n, c); inf if there are too few points.
    """
    n = len(D)
    if count == 0:
        return np.zeros(classes.shape)
    if most <= 0:
        return np.full(classes.shape, np.inf)
    pool = D[:, :, :most].reshape(n, -1)
    enough = min(count + most, pool.shape[1])  # r itself takes up at most `most` places
    if enough < pool.shape[1]:
        near = np.argpartition(pool, enough - 1, axis=1)[:, :enough]
    else:
        near = np.tile(np.arange(enough), (n, 1))
    distance = np.take_along_axis(pool, near, axis=1)
    order = np.argsort(distance, axis=1)
    distance = np.take_along_axis(distance, order, axis=1)
    label = np.take_along_axis(near, order, axis=1) // most
    left = np.full(classes.shape, count)
    total = np.zeros(classes.shape)
    for t in range(enough):
        take = (left > 0) & (label[:, t, None] != classes)
        total += np.where(take, distance[:, t, None], 0.0)
        left -= take
    total[left > 0] = np.inf
    return total


def sets_of(near: Nearest, r: IntArray, votes: IntArray, tau: int) -> IntArray:
    """Return the cheapest sets (n, k) of H_r(tau) with a given number of votes for r; indices increasing.

    near: the nearest points. r (n,): a class for each point. votes (n,): the number of votes for this class.
    """
    n, _, k = near.D.shape
    sets = np.empty((n, k), dtype=np.intp)
    for m in np.unique(votes).tolist():
        rows = np.flatnonzero(votes == m)
        own = near.J[rows, r[rows], :m]
        most = max(m - tau, 0)
        D, J = near.D[rows, :, :most].copy(), near.J[rows, :, :most]
        D[np.arange(len(rows)), r[rows]] = np.inf
        order = np.argsort(D.reshape(len(rows), -1), axis=1, kind="stable")[:, : k - m]
        sets[rows, :m] = own
        sets[rows, m:] = np.take_along_axis(J.reshape(len(rows), -1), order, axis=1)
    return np.sort(sets, axis=1)


def targeted(near: Nearest, r: IntArray, tau: int = 1) -> Chosen:
    """Return the cheapest set of H_r(tau) for each point, and its cost.

    near: the nearest points. r (n,): a class for each point. Raises ValueError if a point has no such set.
    """
    found = table(near.D, tau, r[:, None])
    cost, votes = found.cost[:, 0], found.votes[:, 0]
    if not np.isfinite(cost).all():
        i = int(np.flatnonzero(~np.isfinite(cost))[0])
        raise ValueError(
            f"no set of {near.D.shape[2]} neighbours of point {i} lets class {r[i]} win; take fewer neighbours"
        )
    return Chosen(sets_of(near, r, votes, tau), cost)


def loss_augmented(near: Nearest, y: IntArray, Lam: FloatArray) -> Chosen:
    """Return the set with the largest S + Delta for each point of class y (n,), and that value.

    near: the nearest points. The set is the best of R sets, equation (11): for each class r, the cheapest set with r
    tied for most votes.
    """
    cost, votes = table(near.D, 0)
    values = Lam[y] - cost
    r = values.argmax(axis=1)
    rows = np.arange(len(y))
    return Chosen(sets_of(near, r, votes[rows, r], 0), values[rows, r])


def task_loss(labels: IntArray, own: IntArray, Lam: FloatArray) -> FloatArray:
    """Return Delta (...), the loss of the vote, for sets given by the classes of their members, `labels` (..., k).

    own (...): the class of the point of each set. A tie has the largest loss of the tied classes.
    """
    loss: FloatArray = np.where(tied_for_most(labels, len(Lam)), Lam[own], -np.inf).max(axis=-1)
    return loss


def tied_for_most(labels: IntArray, R: int) -> NDArray[np.bool_]:
    """Return a mask (..., R) of the classes with the most votes in sets given by the classes of their members.

    labels (..., k): these classes.
    """
    votes = np.stack([(labels == c).sum(axis=-1) for c in range(R)], axis=-1)
    tied: NDArray[np.bool_] = votes == votes.max(axis=-1, keepdims=True)
    return tied


@dataclass(frozen=True, eq=False)
class Point:
    """A psd metric W (d, d), the sets that it chooses for each point, and F.

    norm2: ||W||^2. near: the nearest points. offending: for each class r, the cheapest set of H_r(0), in which r is
    tied for most votes or wins. worst (n,): the largest S + Delta. latent (n, k): h*. own (n,): the cost of h*.
    """

    W: FloatArray
    norm2: float  # ||W||^2
    near: Nearest
    offending: Table  # cheapest set of each class, ties for most votes allowed
    worst: FloatArray  # (n,): max over h of S + Delta
    latent: IntArray  # (n, k): h*
    own: FloatArray  # (n,): sum of distances over h*
    F: float

    def rounding(self, C: float) -> float:
        """An estimate of the rounding error of F, for the solver. C: the weight of the losses in F."""
        return 64 * EPS * (self.norm2 + C * float(np.abs(self.worst).sum() + np.abs(self.own).sum()))


def point_at(p: Instance, W: FloatArray, near: Nearest | None = None) -> Point:
    """Return the `Point` of W (d, d), psd. near: the nearest points at W, if they are known.

    If W = 0, the costs of all sets are 0, so any winning sets are h*. Then `latent` has the h* of the identity metric.
    The same holds if ||W||^2 underflows to 0.
    """
    near = nearest(p.X, p.y, p.R, W, p.k) if near is None else near
    offending = table(near.D, 0)
    worst = (p.Lam[p.y] - offending.cost).max(axis=1)
    best = targeted(near, p.y)
    norm2 = float(np.sum(W**2))
    F = norm2 + p.C * float(np.sum(worst + best.value))
    latent = best.sets if norm2 > 0 else targeted(nearest(p.X, p.y, p.R, np.eye(len(W)), p.k), p.y).sets
    return Point(W, norm2, near, offending, worst, latent, best.value, F)


def best_scale(p: Instance, at: Point) -> float:
    """Return the s >= 0 that minimises F(s W), for the W of `at`; 1 if ||W||^2 is below 1e-290.

    F(s W) = s^2 ||W||^2 + C sum_i ( max_r (Lam(y_i, r) - s cost_ir) + s own_i ) is convex and piecewise quadratic in s.
    Here cost_ir is the cost at W of the cheapest set with r tied for most votes, and own_i is the cost at W of h*_i.
    Bisection finds the piece, and the minimum on it has a closed form.
    """
    if at.norm2 < 1e-290:
        return 1.0
    loss = p.Lam[p.y]
    cost = np.where(np.isfinite(at.offending.cost), at.offending.cost, 1e300)
    rows, total = np.arange(len(cost)), float(at.own.sum())

    def linear(s: float) -> float:
        """Return the derivative of F(s W) by s, without the term 2 s ||W||^2."""
        active = (loss - s * cost).argmax(axis=1)
        return p.C * (total - float(cost[rows, active].sum()))

    low, high = 0.0, 1.0
    while linear(high) + 2 * high * at.norm2 < 0:
        look()
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if linear(middle) + 2 * middle * at.norm2 < 0:
            low = middle
        else:
            high = middle
    return float(np.clip(-linear(low) / (2 * at.norm2), low, high))


def rescaled(p: Instance, at: Point) -> Point:
    """Return the point at the multiple of W with the least F, for the W of `at`.

    The result is `at` itself if ||W||^2 = 0 or no multiple is better. All positive multiples of W have the same h*. If
    the square of the best multiple is below rounding in F, the multiple 0 is taken in its place. It keeps this h* too,
    which is valid because all sets have the cost 0 there. So CCCP continues from W = 0 with this h*.
    """
    if at.norm2 == 0:
        return at
    s = best_scale(p, at)
    if s * s * at.norm2 <= EPS * at.F:  # only noise is left of W
        other = replace(point_at(p, 0 * at.W), latent=at.latent)
    else:
        other = point_at(p, s * at.W, Nearest(s * at.near.D, at.near.J))
    return other if other.F < at.F else at


def as_certified(p: Instance, at: Point) -> Point:
    """Return the `Point` of the W of `at` with the h* that the certificate of W uses; `at` itself if its h* are these.

    They differ only if ||W||^2 is 0, or underflows. Then the certificate takes the h* of the identity, but CCCP keeps
    the h* of the metric that it scaled to 0. A W that is stationary for one choice of h* may not be stationary for
    another.
    """
    if at.norm2 > 0:
        return at
    other = point_at(p, at.W)
    return at if np.array_equal(other.latent, at.latent) else other


def evaluate(p: Instance, W: FloatArray, t: int) -> dict[str, Any]:
    """Return all intermediates at `W` (d, d) and a step of Algorithm 1 at iteration `t`, by the names of the paper.

    objective. h_star, h_hat (n, k): the sets h* and h^. S_star, S_hat (n,): their S. Delta (n,): of h_hat. L (n,): the
    losses. Psi_star, Psi_hat (d, d): the sums of Psi over i (`sum_of_Psi`). subgradient (d, d): of F. eta = 1/(2
    (t+1)). W_half, W_next (d, d): W after the subgradient step, and then projected to the psd cone.
    """
    at = point_at(p, W)
    h_hat = loss_augmented(at.near, p.y, p.Lam).sets
    Psi_star, Psi_hat = sum_of_Psi(p.X, at.latent), sum_of_Psi(p.X, h_hat)
    subgradient = 2 * W + p.C * (Psi_hat - Psi_star)
    eta = 1 / (2 * (t + 1))
    W_half = W - eta * subgradient
    return {
        "objective": at.F,
        "h_star": at.latent,
        "h_hat": h_hat,
        "S_star": scores(p.X, W, at.latent),
        "S_hat": scores(p.X, W, h_hat),
        "Delta": task_loss(p.y[h_hat], p.y, p.Lam),
        "L": at.worst + at.own,
        "Psi_star": Psi_star,
        "Psi_hat": Psi_hat,
        "subgradient": subgradient,
        "eta": eta,
        "W_half": W_half,
        "W_next": project_psd(W_half),
    }


def scores(X: FloatArray, W: FloatArray, sets: IntArray) -> FloatArray:
    """The score S_W(x_i, h_i) = - sum_{j in h_i} D_W(x_i, x_j) of each point (n,): equation (2).

    sets (n, k): the h_i.
    """
    S = np.zeros(len(X))
    for j in sets.T:
        difference = X - X[j]
        S -= np.einsum("nd,nd->n", difference @ W, difference)
    return S


def sum_of_Psi(X: FloatArray, sets: IntArray) -> FloatArray:
    """The sum of -(x_i - x_j)(x_i - x_j)^T over all i and j in h_i, (d, d): equation (8). sets (n, k): the h_i."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for j in sets.T:
        difference = X - X[j]
        total -= difference.T @ difference
    return total
