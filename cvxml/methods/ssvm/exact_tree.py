"""The tree of a global optimum with fractions, for the verified checker (validation/verified/Cases.v).

The verified checker is a program; Coq has checked the proof that its verdicts are right. The file tree.py describes the
tree, its leaves, and the lower bound of a leaf from dual variables q of sets and nu of exchanges. The numbers C q and
nu of each leaf are rounded down here to multiples of a power of two. So they stay feasible, and the bound of the leaf
is lower by about 2^-60 of its size.

For W = 0, `duals_at_zero` of certify.py may find dual variables that prove, in fractions, that the bound of a leaf is
F. If it finds them for every leaf, they take the place of the rounded ones.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.family.rows.base import Duals, Weights
from cvxml.methods.ssvm.certify import Sets, duals_at_zero, exchanged, inferred
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.tree import IN, Leaf, leaves_of

BITS = 60  # C has this many bits in the unit of the weights


class ExactLeaf(NamedTuple):
    """The dual variables of a leaf as fractions.

    a (m,): C q for the sets (m, 1 + k), each a point and its members. nu (e,): for the exchanges (e, 3), each i, j and
    l. G: the matrix called M in tree.py, at these dual variables, as weights on pairs.
    """

    a: list[Fraction]  # (m,)
    sets: IntArray  # (m, 1 + k): a point and its set, in ascending order
    nu: list[Fraction]  # (e,)
    exchanges: IntArray  # (e, 3)
    G: Weights  # the matrix M of tree.py

    @property
    def of_points(self) -> dict[int, list[tuple[list[int], Fraction]]]:
        """Return, by point, the list of its sets with a positive dual variable, each set with this dual variable."""
        found: dict[int, list[tuple[list[int], Fraction]]] = {}
        for (i, *h), a in sorted(zip(self.sets.tolist(), self.a, strict=True)):
            if a > 0:
                found.setdefault(i, []).append((h, a))
        return found


def exact_cases(p: Instance, W: FloatArray, dual: Dual) -> list[tuple[int, int] | ExactLeaf]:
    """Return the nodes of the tree in `dual` for the metric `W` (d, d): (i, j) for a branch, an `ExactLeaf` for a leaf.

    A branch (i, j) comes first, then the nodes with j in h*_i, and then the nodes without. A leaf that no metric
    belongs to has no dual variables. Raises ValueError if the arrays of `dual` do not match or are no tree.
    """
    tree, leaves = leaves_of(p, dual)
    listed, found = list(leaves), inferred(p, W)
    exact: dict[int, ExactLeaf | None] = {}
    if found.zero:
        exact = {row: _at_zero(p, known, leaf, found.largest) for row, known, leaf in listed}
    if not found.zero or None in exact.values():
        exact = {row: _rounded(p, known, leaf) for row, known, leaf in listed}
    nodes: list[tuple[int, int] | ExactLeaf] = []
    stack = [0]
    while stack:
        row = stack.pop()
        i, j, inside, outside = tree[row].tolist()
        if i < 0:
            nodes.append(exact.get(row) or _no_metric(p))
        else:
            nodes.append((i, j))
            stack += [outside, inside]
    return nodes


def _at_zero(p: Instance, known: IntArray, leaf: Leaf, largest: FloatArray) -> ExactLeaf | None:
    found = duals_at_zero(p, np.argwhere(known == IN), largest, *leaf)
    if found is None:
        return None
    sets, duals = found
    return _leaf(p, known, duals.a.tolist(), sets, [Fraction(nu) for nu in leaf.nu.tolist()], leaf.exchanges)


def _rounded(p: Instance, known: IntArray, leaf: Leaf) -> ExactLeaf:
    unit, C = Fraction(1, 1 << max(0, BITS + 1 - math.frexp(p.C)[1])), Fraction(p.C)
    a, nu = _down(leaf.q, C / unit), _down(leaf.nu, 1 / unit)
    for i in np.unique(leaf.sets[:, 0]).tolist():
        mine = np.flatnonzero(leaf.sets[:, 0] == i).tolist()
        spent, most = sum(a[k] for k in mine), int(C / unit)
        if spent > most:  # the weights of a point may sum to 1 and a rounding error
            for k in mine:
                a[k] = a[k] * most // spent
    prices, multipliers = ([each * unit for each in values] for values in (a, nu))
    return _leaf(p, known, prices, leaf.sets, multipliers, leaf.exchanges)


def _down(values: FloatArray, factor: Fraction) -> list[int]:
    """Return the nonnegative `values` times `factor`, rounded down to integers."""
    return [int(Fraction(value) * factor) for value in values.tolist()]


def _leaf(
    p: Instance, known: IntArray, a: list[Fraction], sets: IntArray, nu: list[Fraction], exchanges: IntArray
) -> ExactLeaf:
    duals = Duals(np.array(a, dtype=object), np.arange(len(a)))
    G = Sets(sets, np.argwhere(known == IN), len(p.X)).weights(duals)
    return ExactLeaf(a, sets, nu, exchanges, exchanged(G, np.array(nu, dtype=object), exchanges))


def _no_metric(p: Instance) -> ExactLeaf:
    """Return an empty leaf, for a row of the tree that no metric belongs to."""
    pairs = np.empty((0, 2), dtype=np.intp)
    none = [np.empty((0, width), dtype=np.intp) for width in (1 + p.k, 3)]
    return ExactLeaf([], none[0], [], none[1], Weights(pairs, np.empty(0)))
