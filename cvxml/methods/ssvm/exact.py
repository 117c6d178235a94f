"""The bound of the convex step and the objective of gerrymandering in exact arithmetic: a theorem.

With h*_i the cheapest set in which the class of i wins, at V = M M^T, any weights q_i >= 0 of sum 1 and any S = L L^T,
    the step at V  >=  C sum q Delta - ||G + S||^2 / 4
at every metric, G = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij ), and F(V) is its value at V. All
numbers are floats, so integers times powers of two: q becomes multiples of 2^-`BITS` whose sums agree exactly. The two
inferences are by enumeration of all vote counts (the nearest points of each class are the cheapest), with distances in
integers: what ties, ties exactly, and then the first set is taken. At V = 0 all sets tie, and h* is that of the
identity, as in point.py. L and M come from floating point (core/squares.py), or are given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact, integers, scaled, sum_of_squares
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.core.squares import (
    all_distances,
    distance_to_square,
    is_psd,
    of_sum,
    root_of,
    squared_distance_to_psd,
    weighted_outer,
    whole,
)
from cvxml.methods.ssvm.enumeration import count_vectors, task_loss, wins
from cvxml.methods.ssvm.inference import task_loss as loss_of
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.tree.membership import IN
from cvxml.methods.ssvm.weights import repair

BITS = 80  # of a weight
SPLITS = 2000  # vote counts that are enumerated for a point


class Inferred(NamedTuple):
    """What the inferences say at V: h* (n, k), and sum_i L_i."""

    latent: IntArray
    losses: Fraction
    worst: FloatArray  # (n,) the largest Delta of a set


def exact_interval(
    p: Instance, W: FloatArray, dual: Dual, *, root: ArrayLike | None = None, psd: ArrayLike | None = None
) -> Exact:
    """The interval of the step of the metric `W` (d, d), from any weights `dual` (certify.py).

    root, psd: M and L, (d, r) each, where they are not to be found here. Raises ValueError for a dual with a "tree",
    and where there are more than `SPLITS` ways to split the votes.
    """
    if isinstance(dual, Mapping) and "tree" in dual:
        raise ValueError(
            'a dual with a "tree" has no exact mode; leave the tree out for the bound of the step'
        )
    check_splits(p)
    weight = Fraction(p.C)
    M = root_of(W, root)
    found = inferred(p, M)
    G, G_at, gained = pushed(p, found.latent, dual)
    rows, root_at = whole(M)
    size = scaled(sum_of_squares(rows.transpose() * rows), 4 * root_at)
    bound, objective = (
        weight * gained - squared_distance_to_psd(G, G_at, psd) / 4,
        size + weight * found.losses,
    )
    if not M.any() and zero_is_optimal(p, found.latent, found.worst, dual):
        bound = objective
    return Exact(bound, objective, distance_to_square(W, M), size, of_step=True)


def zero_is_optimal(p: Instance, latent: IntArray, worst: FloatArray, dual: Dual) -> bool:
    """True if weights near the given ones prove, in integers, that W = 0 is optimal for its own step.

    worst (n,): the largest Delta of a set, which is what the step costs there. They do if they are on such sets only
    and G has no positive eigenvalue.
    """
    repaired = repair(dual, p, latent)
    on = loss_of(p.y[repaired.sets], p.y[repaired.point], p.Lam) == worst[repaired.point]
    kept = {"q": repaired.q[on], "q_index": np.column_stack([repaired.point, repaired.sets])[on]}
    G, _, gained = pushed(p, latent, kept)
    return gained == sum(map(Fraction, worst.tolist())) and is_psd(-G)


def zero_is_best_of_leaf(
    p: Instance,
    known: IntArray,
    worst: FloatArray,
    q: tuple[FloatArray, IntArray],
    nu: tuple[FloatArray, IntArray],
) -> bool:
    """True if multipliers near the given ones prove, in integers, that no metric of a leaf (tree/certify.py) beats 0.

    q (m,) on sets (m, 1 + k), nu (e,) on exchanges (e, 3). As in `zero_is_optimal`: q on the worst sets alone, sums of
    exactly 1, and M without a positive eigenvalue.
    """
    rows: list[dict[tuple[int, ...], int]] = [{} for _ in p.X]
    on = loss_of(p.y[q[1][:, 1:]], p.y[q[1][:, 0]], p.Lam) == worst[q[1][:, 0]]
    for (i, *h), value in zip(q[1][on].tolist(), q[0][on].tolist(), strict=True):
        rows[i][tuple(h)] = rows[i].get(tuple(h), 0) + int(Fraction(value) * (1 << BITS))
    if not all(rows):
        return False
    C = Fraction(p.C)
    weights: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for i, row in enumerate(rows):
        for h, value in of_sum(row, 1 << BITS).items():
            for j in h:
                weights[i, j] += C * value / (1 << BITS)
        for j in np.flatnonzero(known[i] == IN).tolist():
            weights[i, j] -= C
    for (i, j, other), value in zip(nu[1].tolist(), nu[0].tolist(), strict=True):
        weights[i, j] -= Fraction(value)
        weights[i, other] += Fraction(value)
    unit = max((weight.denominator for weight in weights.values()), default=1)  # all are powers of two
    M = weighted_outer(integers(p.X)[0], {pair: int(weight * unit) for pair, weight in weights.items()})
    return is_psd(-M)


def pushed(p: Instance, latent: IntArray, dual: Dual) -> tuple[Any, int, Fraction]:
    """G in integers and their exponent, and sum q Delta."""
    repaired = repair(dual, p, latent)
    rows: list[dict[tuple[int, ...], int]] = [{} for _ in p.X]
    for i, h, q in zip(repaired.point.tolist(), repaired.sets.tolist(), repaired.q.tolist(), strict=True):
        rows[i][tuple(h)] = rows[i].get(tuple(h), 0) + int(Fraction(q) * (1 << BITS))
    weights: dict[tuple[int, int], int] = {}
    gained = Fraction(0)
    for i, row in enumerate(rows):
        for h, q in of_sum(row, 1 << BITS).items():
            counts = np.bincount(p.y[list(h)], minlength=p.R).tolist()
            gained += q * Fraction(task_loss(counts, int(p.y[i]), p.Lam))
            for j in h:
                weights[i, j] = weights.get((i, j), 0) + q
        for j in latent[i].tolist():
            weights[i, j] = weights.get((i, j), 0) - (1 << BITS)
    points, at = integers(p.X)
    C = Fraction(p.C)
    G = weighted_outer(points, weights) * C.numerator
    return G, 2 * at - BITS - (C.denominator.bit_length() - 1), gained / (1 << BITS)


def inferred(p: Instance, M: FloatArray) -> Inferred:
    """Both inferences at M M^T."""
    points, at = whole(p.X)
    rows, root_at = whole(M)
    nothing = not M.any()
    D = all_distances(points if nothing else points * rows)
    latent, worst, losses = [], [], Fraction(0)
    for i, row in enumerate(D):
        h, own, dearest = _of_point(p, i, row)
        latent.append(h)
        worst.append(max(dearest))
        unit = 2 * (at + root_at)
        costs = [Fraction(loss) - (0 if nothing else scaled(cost, unit)) for loss, cost in dearest.items()]
        losses += max(costs) + (0 if nothing else scaled(own, unit))
    return Inferred(np.array(latent, dtype=np.intp), losses, np.array(worst))


def _of_point(p: Instance, i: int, D: list[int]) -> tuple[tuple[int, ...], int, dict[float, int]]:
    """h*_i and what it costs, and for every value of Delta the least cost of a set that has it."""
    own = int(p.y[i])
    near = [
        sorted((j for j in np.flatnonzero(p.y == c).tolist() if j != i), key=lambda j: (D[j], j))[: p.k]
        for c in range(p.R)
    ]
    costs = [[0, *accumulate(D[j] for j in listed)] for listed in near]
    cheapest: dict[float, int] = {}
    best: tuple[int, tuple[int, ...]] | None = None
    for counts in count_vectors([len(listed) for listed in near], p.k):
        cost = sum(of_class[m] for of_class, m in zip(costs, counts, strict=True))
        loss = float(task_loss(counts, own, p.Lam))
        cheapest[loss] = min(cost, cheapest.get(loss, cost))
        if wins(counts, own) and (best is None or cost <= best[0]):
            h = tuple(sorted(j for listed, m in zip(near, counts, strict=True) for j in listed[:m]))
            best = (cost, h) if best is None else min(best, (cost, h))
    assert best is not None  # instance.py refuses data where a class cannot win
    return best[1], best[0], cheapest


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
