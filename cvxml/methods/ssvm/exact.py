"""The certificate of a convex step of gerrymandering in exact arithmetic (family/theorem/exact.py).

The step is defined in certify.py. It fixes the set h*_i of each point i: the cheapest set of k neighbours at the metric
that lets the class of i win. The objective also needs the worst set of i, with the largest Delta minus cost. Delta is
the loss of the vote of a set, and the cost is the sum of its squared distances.

Both sets are found exactly, by enumeration of all ways to split k votes among the classes. For a given split, the
nearest points of each class form the cheapest set. Distances are integers times a power of two, so equal costs are
recognized. Of sets with equal cost and equal Delta, the lexicographically first one is taken. If the metric is 0, all
costs are 0. Then h* is the h* of the identity, as in inference.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.exact import feasible_duals, interval
from cvxml.family.theorem.theorem import Family, in_domain, prove
from cvxml.methods.ssvm.certify import duals_at_zero, members, of_points, priced, read, step
from cvxml.methods.ssvm.enumeration import Neighbors, nearest_sets, task_loss, votes, wins
from cvxml.methods.ssvm.instance import Instance
from cvxml.numbers.rational import Distances, judged, plane

SPLITS = 2000  # vote counts to enumerate for a point, at most


class Inferred(NamedTuple):
    """The sets that a metric chooses, in exact arithmetic.

    latent (n, k): h*. worst (n, k): the worst sets. largest (n,): the largest Delta of any set of each point. zero:
    whether the metric is 0.
    """

    latent: IntArray
    worst: IntArray
    largest: FloatArray
    zero: bool  # V is 0


def exact_interval(
    p: Instance, W: FloatArray, dual: Dual, *, root: ArrayLike | None = None, psd: ArrayLike | None = None
) -> Exact:
    """Return a proved interval that contains the optimum of the convex step of `W` (d, d), from any weights `dual`.

    The lower end is the bound of the weights. The upper end is the objective of the step at the psd matrix that is
    judged in place of W: that of `inferred`.

    root (d, r): M with M M^T near W. dual: "q" (m,), weights of sets, and "q_index" (m, 1 + k), a point and its set for
    each. Let X_ij = (x_i - x_j)(x_i - x_j)^T. Let G be the sum over these sets of C q_ih (sum_{j in h} X_ij - sum_{j in
    h*_i} X_ij). psd (d, r): L with L L^T near P_+(-G). P_+ replaces negative eigenvalues by 0. By default root and psd
    are computed here.

    Raises ValueError for a dual with a "tree", and for more than `SPLITS` ways to split the votes among the classes.
    """
    check_dual(dual)
    check_splits(p)
    found, (q, with_q) = inferred(p, W, root), read(p, dual)
    sets = np.concatenate([with_q, of_points(found.worst)])
    family, duals = step(p, found.latent, sets), [priced(p, q, len(sets))]
    own = prove(family, duals).duals if psd is None else in_domain(family, duals)
    exact = replace(
        interval(step(p, found.latent, sets, Fraction), W, own, root, hint=psd),
        of_step=True,
    )
    if found.zero and duals_at_zero(p, members(found.latent), found.largest, q, with_q) is not None:
        return replace(exact, lower_bound=exact.objective)
    return exact


def exact_step(p: Instance, W: FloatArray, dual: Dual) -> tuple[Family, Duals, IntArray]:
    """Return the convex step of `W` (d, d), the feasible dual variables of its exact bound, and h* (n, k).

    The step is a `Family` with a row for each set that is used; its constants are fractions. The dual variables are
    fractions too: C times the weights of these sets.

    dual: "q" (m,), weights of sets, and "q_index" (m, 1 + k), a point and its set for each. Raises ValueError for a
    dual with a "tree", and for more than `SPLITS` ways to split the votes among the classes.
    """
    check_dual(dual)
    check_splits(p)
    found, (q, with_q) = inferred(p, W), read(p, dual)
    if found.zero:
        optimal = duals_at_zero(p, members(found.latent), found.largest, q, with_q)
        if optimal is not None:
            return step(p, found.latent, optimal[0], Fraction), optimal[1], found.latent
    sets = np.concatenate([with_q, of_points(found.worst)])
    own = prove(step(p, found.latent, sets), [priced(p, q, len(sets))]).duals
    family = step(p, found.latent, sets, Fraction)
    return family, feasible_duals(family, own)[0], found.latent


def inferred(p: Instance, W: FloatArray, root: ArrayLike | None = None) -> Inferred:
    """Return h* and the worst set of each point, exactly, at the psd matrix that is judged in place of `W` (d, d).

    This matrix is M M^T if a `root` M (d, r) is given. Otherwise it is W if W is exactly psd, or else a psd matrix near
    W.
    """
    X, V = plane(p.X), judged(W, root)
    zero = not any(V.V.entries())
    D = X.distances(judged(np.eye(len(W))) if zero else V)
    chosen = [_of_point(p, i, D, zero) for i in range(len(p.X))]
    latent, worst, largest = zip(*chosen, strict=True)
    return Inferred(np.array(latent, dtype=np.intp), np.array(worst, dtype=np.intp), np.array(largest), zero)


def _of_point(p: Instance, i: int, at: Distances, zero: bool) -> tuple[Neighbors, Neighbors, float]:
    """Return h*_i, the worst set of i, and the largest Delta of any set of i.

    at: the exact distances. zero: whether the metric is 0. Then all costs are 0, and `at` has the distances in the
    identity, which only decide which of several tied sets is taken.
    """
    own, D, unit = int(p.y[i]), at.D[i], Fraction(0) if zero else at.unit
    winning: list[tuple[int, Neighbors]] = []
    cheapest: dict[float, tuple[int, Neighbors]] = {}  # of every value of Delta
    for h in nearest_sets(np.array(D, dtype=object), p.y, i, p.k):
        counts, costs = votes(p.y, h, p.R), (sum(D[j] for j in h), h)
        loss = task_loss(counts, own, p.Lam)
        cheapest[loss] = min(costs, cheapest.get(loss, costs))
        if wins(counts, own):
            winning.append(costs)
    worst = max(cheapest, key=lambda loss: Fraction(loss) - cheapest[loss][0] * unit)
    return min(winning)[1], cheapest[worst][1], max(cheapest)


def check_dual(dual: Dual) -> None:
    """Raise ValueError for a dual with a "tree", the proof of a global optimum."""
    if isinstance(dual, Mapping) and "tree" in dual:
        raise ValueError(
            'a dual with a "tree" has no exact mode; leave the tree out for the bound of the step'
        )


def check_splits(p: Instance) -> None:
    """Raise ValueError if there are more than `SPLITS` ways to split k votes among the classes."""
    ways = [1] + [0] * p.k
    for size in np.bincount(p.y, minlength=p.R).tolist():
        ways = [sum(ways[max(0, votes - size) : votes + 1]) for votes in range(p.k + 1)]
    if ways[p.k] > SPLITS:
        raise ValueError(
            f"{p.k} votes can be split among {p.R} classes in {ways[p.k]} ways, and the exact mode of ssvm enumerates "
            f"at most {SPLITS}; take a smaller n_neighbors"
        )
