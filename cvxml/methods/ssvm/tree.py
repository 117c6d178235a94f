"""The certificate of a metric as global optimum: a tree that covers all cases, and a lower bound of F for each leaf.

A set of k neighbours of point i is a winning set if the class of i has more votes than any other. At a metric W, h*_i
is the winning set with the least sum of squared distances D_W(i, j). L_i is the loss of point i, and F(W) = ||W||^2 + C
sum_i L_i (enumeration.py).

Tree. A row (i, j, a, b) with i >= 0 is a branch: it splits the metrics by whether j is in h*_i. If several sets are
cheapest, h*_i is any of them. Row a has the metrics with j in h*_i, row b the others. A row with i < 0 is a leaf. Row 0
is the root. Every other row is a child of exactly one row, which is above it.

Memberships. known[i, j] is IN or OUT if it is settled whether j is in h*_i, and OPEN otherwise. The branches above a
leaf settle memberships, and others follow from them. h*_i has k points, and the class of i has more votes than any
other, so only counts matter. If no possible set has one more point of a class, the open points of this class are OUT.
If every possible set needs all open points of a class, they are IN. If no set is possible, no metric belongs to the
leaf.

Exchanges. Let j be in h*_i and l not. If both are of one class, or l is of the class of i, then l may take the place of
j. As h*_i is cheapest, D_W(i, j) <= D_W(i, l).

Bound of a leaf. Let X_ij = (x_i - x_j)(x_i - x_j)^T, and Delta_ih the loss of the vote of a set h of point i. Let Y_i
be the sum of X_ij over the j that are IN. Every metric of the leaf has

    L_i(W) >= max(0, Delta_ih + <W, Y_i - A_ih>),   A_ih = sum_{j in h} X_ij,

and <W, X_ij - X_il> <= 0 for exchanges. So by weak duality, any multipliers q >= 0 with sum_h q_ih <= 1 and nu >= 0
give

    F >= C sum q Delta - 1/4 ||P_+(M)||^2,      M = C sum q (A - Y) - sum nu (X_ij - X_il),

where P_+ replaces negative eigenvalues by 0. The least bound of the leaves bounds F. Infeasible multipliers are
repaired: clipped, scaled down to sum 1, and left out if their set or exchange is not valid.

Radius. The Lagrangian of a leaf grows from its minimiser V = P_+(M)/2 like ||W - V||^2. So an optimum in the leaf is
within sqrt(F - bound) of V, and a leaf with a bound above F holds no optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.result import Certificate, Dual
from cvxml.family.losses.groups import Slack
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals
from cvxml.family.theorem import theorem as family_bound
from cvxml.methods.ssvm.certify import (
    Sets,
    delta,
    duals_at_zero,
    exchanged,
    finite_dual,
    in_order,
    inferred,
    of_points,
    step,
)
from cvxml.methods.ssvm.instance import Instance

IN, OPEN, OUT = 1, 0, -1
NEARLY = 1e-6  # share of F
NOT_IN_INTEGERS = (
    "W = 0 may be optimal, so a relative gap is undefined; the tree's multipliers do not prove it exactly"
)


def unknown(n: int) -> IntArray:
    """Return `known` (n, n) with all memberships OPEN, except that known[i, i] is OUT."""
    return np.asarray(OUT * np.eye(n), dtype=np.intp)


def known_at_root(p: Instance) -> IntArray:
    """Return `known` (n, n) at the root, which holds all metrics: known[i, i] is OUT, with all consequences."""
    known = unknown(len(p.y))
    for i in range(len(known)):
        settled = follow(known[i], p.y, int(p.y[i]), p.k, p.R)
        assert settled is not None, "instance.py has checked that every class can win"
        known[i] = settled
    return known


def possible(least: IntArray, most: IntArray, own: int, k: int) -> bool:
    """Return True if class `own` wins in some set of k points with least[c] to most[c] points of each class c."""
    low, high = np.delete(least, own), np.delete(most, own)
    for m in range(max(int(least[own]), 1), min(int(most[own]), k) + 1):
        others = np.minimum(high, m - 1)
        if (low <= others).all() and low.sum() <= k - m <= others.sum():
            return True
    return False


def counts(known: IntArray, y: IntArray, R: int) -> tuple[IntArray, IntArray]:
    """Return the least and the largest number of points of each class (R,) in sets that agree with `known`.

    known (n,): the memberships of one point. y (n,): the classes 0..R-1.
    """
    return np.bincount(y[known == IN], minlength=R), np.bincount(y[known != OUT], minlength=R)


def follow(known: IntArray, y: IntArray, own: int, k: int, R: int) -> IntArray | None:
    """Return `known` (n,) of one point of class `own`, with all memberships that follow; None if no set agrees."""
    known = known.copy()
    least, most = counts(known, y, R)
    if not possible(least, most, own, k):
        return None
    changed = True
    while changed:
        changed = False
        for c in range(R):
            if least[c] == most[c]:
                continue
            one = np.arange(R) == c
            members = (y == c) & (known == OPEN)
            if not possible(least + one, most, own, k):
                known[members], changed = OUT, True
            elif not possible(least, most - one, own, k):
                known[members], changed = IN, True
            least, most = counts(known, y, R)
    return known


def is_exchange(known: IntArray, y: IntArray, i: int, j: int, other: int) -> bool:
    """Return True if i, j, `other` is an exchange for `known` (n,), the memberships of point i.

    This means that j is settled to be in h*_i and `other` not to be, and `other` could take the place of j.
    """
    return bool(known[j] == IN and known[other] == OUT and other != i and (y[other] in (y[j], y[i])))


class Leaf(NamedTuple):
    """Multipliers of a leaf: q (m,) on sets (m, 1 + k), a point and its members, and nu (e,) on exchanges (e, 3).

    An exchange is given by i, j and l (module docstring).
    """

    q: FloatArray  # (m,)
    sets: IntArray  # (m, 1 + k)
    nu: FloatArray  # (e,)
    exchanges: IntArray  # (e, 3)


def certify_tree(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Return the certificate of `W` (d, d) as global optimum, with its gap; its kind is "enumerated".

    dual: "tree" (rows, 4); "q" (m,) with "q_index" (m, 2 + k): row of the leaf, point, set; "nu" (e,) with "nu_index"
    (e, 4): row of the leaf, i, j, l. A slightly infeasible `W` is judged as P_+(W). Raises ValueError if the arrays do
    not match or are no tree.
    """
    found = inferred(p, W)
    family = step(p, found.latent, of_points(found.worst))
    looked = family.regularizer.judge(W)
    F, F_error = family_bound.value(family, W)
    F_error += found.error
    rounding = F_error
    tree, leaves = leaves_of(p, dual)
    lowest, radius, kept, zero = math.inf, 0.0, [], found.zero
    for row, known, here in leaves:
        kept.append((row, here))
        V, bound, error = _bound(p, known, here)
        lowest = min(lowest, bound)
        zero = zero and bound >= (1 - NEARLY) * F
        zero = zero and duals_at_zero(p, np.argwhere(known == IN), found.largest, *here) is not None
        if bound <= F + rounding:
            away = float(np.linalg.norm(V - found.W)) + error + math.sqrt(max(F - bound, 0.0) + rounding)
            radius = max(radius, away)
    if zero:
        lowest, rounding, radius = F, 0.0, 0.0
    lowest = max(min(lowest, F), 0.0)
    nearly = found.zero and not zero and lowest >= (1 - NEARLY) * F
    return Certificate(
        kind="enumerated",
        objective=F,
        lower_bound=lowest,
        gap=F - lowest if math.isfinite(F) else math.inf,
        scale=family.regularizer.value(looked.view).value,
        rounding=rounding,
        radius=radius + looked.feasibility.distance,
        feasibility=looked.feasibility,
        dual=stored(tree, kept, p.k),
        undecided=NOT_IN_INTEGERS if nearly else "",
        value_rounding=F_error,
    )


def leaves_of(p: Instance, dual: Dual) -> tuple[IntArray, Iterator[tuple[int, IntArray, Leaf]]]:
    """Return the tree (rows, 4), and the leaves that metrics may belong to: row, `known` (n, n), repaired multipliers.

    dual: "tree", "q", "q_index", "nu" and "nu_index". Raises ValueError if they do not match or are no tree.
    """
    n = len(p.X)
    tree = _tree(dual, n)
    q, q_index = finite_dual(dual, "q", (len(tree), *(n,) * (1 + p.k)))
    nu, nu_index = finite_dual(dual, "nu", (len(tree), n, n, n))
    q_ends, nu_ends = _by_leaf(q_index, len(tree)), _by_leaf(nu_index, len(tree))

    def of_row(row: int) -> Leaf:
        mine, pairs = q_ends[row], nu_ends[row]
        return Leaf(q[mine], q_index[mine, 1:], nu[pairs], nu_index[pairs, 1:])

    return tree, ((row, known, repair(p, known, of_row(row))) for row, known in _leaves(tree, p))


def _tree(dual: Dual, n: int) -> IntArray:
    """Return the tree (rows, 4) of a dual for n points. Raises ValueError if it is no tree."""
    if "tree" not in dual:
        raise ValueError("the dual of an enumerated certificate must hold 'tree', with a row for each node")
    tree = np.asarray(dual["tree"])
    if tree.ndim != 2 or tree.shape[1] != 4 or len(tree) == 0 or tree.dtype.kind not in "iu":
        raise ValueError(
            f"dual 'tree' must hold integers and have shape (m, 4), m > 0; got {tree.shape}, {tree.dtype}"
        )
    tree = tree.astype(np.intp)
    branches = tree[tree[:, 0] >= 0]
    if (branches[:, :2] >= n).any() or (branches[:, 1] < 0).any():
        raise ValueError(
            f"dual 'tree' must branch on points 0 to {n - 1} (its first two columns); a row does not"
        )
    children = np.sort(branches[:, 2:].ravel())
    if (
        not np.array_equal(children, np.arange(1, len(tree)))
        or (branches[:, 2:].min(axis=1, initial=len(tree)) <= np.flatnonzero(tree[:, 0] >= 0)).any()
    ):
        raise ValueError(
            "dual 'tree': every row but the first must be the child of exactly one row, which is above it"
        )
    return tree


def _by_leaf(index: IntArray, rows: int) -> list[IntArray]:
    """Return one array for each of the `rows` of the tree: the places k with index[k, 0] equal to this row."""
    order = np.argsort(index[:, 0], kind="stable")
    return np.split(order, np.searchsorted(index[order, 0], np.arange(1, rows)))


def _leaves(tree: IntArray, p: Instance) -> Iterator[tuple[int, IntArray]]:
    """Yield the row of every leaf that metrics may belong to, with its `known` (n, n)."""
    stack = [(0, known_at_root(p))]
    while stack:
        row, known = stack.pop()
        i, j, *children = tree[row].tolist()
        if i < 0:
            yield row, known
            continue
        for child, value in zip(children, (IN, OUT), strict=True):
            if known[i, j] not in (OPEN, value):
                continue
            below = known.copy()
            below[i, j] = value
            settled = follow(below[i], p.y, int(p.y[i]), p.k, p.R)
            if settled is not None:
                below[i] = settled
                stack.append((child, below))


def repair(p: Instance, known: IntArray, leaf: Leaf) -> Leaf:
    """Return the multipliers of a leaf, made feasible. known (n, n): the memberships that are settled in the leaf."""
    q, nu = np.clip(leaf.q, 0.0, 1.0), np.maximum(leaf.nu, 0.0)
    sets, proper = in_order(leaf.sets)
    q, sets = q[proper & (q > 0)], sets[proper & (q > 0)]
    q = q / np.maximum(np.bincount(sets[:, 0], q, minlength=len(p.y)), 1.0)[sets[:, 0]]
    holds = [
        value > 0 and is_exchange(known[i], p.y, i, j, other)
        for value, (i, j, other) in zip(nu.tolist(), leaf.exchanges.tolist(), strict=True)
    ]
    held = np.flatnonzero(holds)
    return Leaf(q, sets, nu[held], leaf.exchanges[held])


def _bound(p: Instance, known: IntArray, leaf: Leaf) -> tuple[FloatArray, float, float]:
    """Return V (d, d) near P_+(M)/2, a proved lower bound of F in the leaf, and a bound of ||V - P_+(M)/2||.

    leaf: feasible multipliers. known (n, n): the memberships that are settled in the leaf.
    """
    norm, loss = Frobenius(p.X, 2.0), Slack(p.C, leaf.sets[:, 0], delta(p, leaf.sets))
    a = loss.to_domain(p.C * leaf.q)
    M = Sets(leaf.sets, np.argwhere(known == IN), len(p.X)).weights(Duals(a, np.arange(len(a))))
    M = exchanged(M, leaf.nu, leaf.exchanges)
    gained, paid, (V, error) = loss.bound(a), norm.bound(M), norm.reached(M)
    bound = gained.value + paid.value
    return V, bound - (gained.error + paid.error + 2 * EPS * abs(bound)) * (1 + 1e-6), error


def stored(tree: IntArray, leaves: Sequence[tuple[int, Leaf]], k: int) -> Dual:
    """Return the dual of a tree by name: "tree" (rows, 4), and the multipliers of its leaves.

    The multipliers are "q" (m,) on sets and "nu" (e,) on exchanges. The array "q_index" (m, 2 + k) has the row of the
    leaf, a point and its set. The array "nu_index" (e, 4) has the row of the leaf and an exchange. leaves: the row and
    the multipliers of each leaf. k: the number of members of a set.
    """
    sets = [np.column_stack([np.full(len(leaf.sets), row), leaf.sets]) for row, leaf in leaves]
    exchanges = [np.column_stack([np.full(len(leaf.exchanges), row), leaf.exchanges]) for row, leaf in leaves]
    return {
        "tree": tree,
        "q": np.concatenate([np.empty(0), *(leaf.q for _, leaf in leaves)]),
        "q_index": np.concatenate([np.empty((0, 2 + k), dtype=np.intp), *sets]),
        "nu": np.concatenate([np.empty(0), *(leaf.nu for _, leaf in leaves)]),
        "nu_index": np.concatenate([np.empty((0, 4), dtype=np.intp), *exchanges]),
    }
