"""The tree of a global optimum in whole numbers, for the verified checker (validation/verified/Cases.v).

The weights C q and the multipliers nu of each leaf are rounded down to multiples of 1/over. So they stay feasible, and
the bound of the leaf is lower by about 2^-60 of its size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.family.rows.base import Duals, Weights
from cvxml.methods.ssvm.certify import Sets, exchanged
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.tree import IN, Leaf, leaves_of

BITS = 60  # of C times over


class Bounded(NamedTuple):
    """The multipliers of a leaf, times over."""

    sets: dict[int, list[tuple[list[int], int]]]  # of each point: ascending sets with weights > 0
    exchanges: list[tuple[int, int, int, int]]  # i, j, l and a multiplier > 0
    G: Weights  # Fractions: the matrix M of tree.py


def exact_cases(p: Instance, dual: Dual) -> tuple[int, list[tuple[int, int] | Bounded]]:
    """Return over, and the nodes of the tree of `dual` (tree.py).

    A branch (i, j) comes first, then the nodes with j in h*_i, and then the nodes without. Raises ValueError as
    `certify_tree` does.
    """
    over = 1 << max(0, BITS + 1 - math.frexp(p.C)[1])
    tree, leaves = leaves_of(p, dual)
    bounded = {row: _bounded(p, over, known, leaf) for row, known, leaf in leaves}
    nodes: list[tuple[int, int] | Bounded] = []
    stack = [0]
    while stack:
        row = stack.pop()
        i, j, inside, outside = tree[row].tolist()
        if i < 0:
            nodes.append(bounded.get(row, Bounded({}, [], Weights(np.empty((0, 2), dtype=np.intp), np.empty(0)))))
        else:
            nodes.append((i, j))
            stack += [outside, inside]
    return over, nodes


def _bounded(p: Instance, over: int, known: IntArray, leaf: Leaf) -> Bounded:
    most = int(Fraction(p.C) * over)
    a = np.array(_down(leaf.q, Fraction(p.C) * over), dtype=object)
    for i in np.unique(leaf.sets[:, 0]).tolist():
        mine = leaf.sets[:, 0] == i
        spent = int(a[mine].sum())
        if spent > most:  # the weights of a point may sum to 1 and a rounding error
            a[mine] = a[mine] * most // spent
    nu = np.array(_down(leaf.nu, Fraction(over)), dtype=object)
    paid, held = a > 0, nu > 0
    a, sets, nu, exchanges = a[paid], leaf.sets[paid], nu[held], leaf.exchanges[held]
    of: dict[int, list[tuple[list[int], int]]] = {}
    for (i, *h), weight in zip(sets.tolist(), a.tolist(), strict=True):
        of.setdefault(i, []).append((sorted(h), weight))
    prices = Duals(np.array([Fraction(each, over) for each in a], dtype=object), np.arange(len(a)))
    G = Sets(sets, np.argwhere(known == IN), len(p.X)).weights(prices)
    G = exchanged(G, np.array([Fraction(each, over) for each in nu], dtype=object), exchanges)
    return Bounded(
        dict(sorted(of.items())),
        [(i, j, other, each) for (i, j, other), each in zip(exchanges.tolist(), nu.tolist(), strict=True)],
        G,
    )


def _down(values: FloatArray, unit: Fraction) -> list[int]:
    """Return `values` times `unit`, rounded down."""
    return [int(Fraction(value) * unit) for value in values.tolist()]
