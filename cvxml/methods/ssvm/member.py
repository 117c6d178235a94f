"""The convex step of gerrymandering as a member of the family (cvxml/family/theorem).

    min_{W psd}  ||W||^2 + C sum_i max(0, max_h [Delta_ih - v_ih]),   v_ih = sum_{j in h} D_ij - sum_{j in known_i} D_ij

where known_i is h*_i: its own row is 0, so that the maximum is not negative, and a price on it says nothing. Those of a
point sum up to C at most; what is missing is on h*_i. q of files is prices / C. In a leaf of a tree known_i is what is
known to be in h*_i, and exchanges have prices too (tree/certify.py).

There are too many sets to list them. A few of them, the worst at W with them, have the objective of all at W, and
prices of few are prices of all: of those not listed they are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.inputs import real_array
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.family.losses.groups import Slack
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Block, Duals, View, Weights
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.ssvm.inference import task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.numbers.rational import plane

NOTHING, NO_EXCHANGES = np.empty(0), np.empty((0, 3), dtype=np.intp)


class Sets:
    """v of some sets (m, 1 + k), a point and its members; the key is the place. known: (e, 2) pairs i, j in known_i."""

    def __init__(self, listed: IntArray, known: IntArray, n: int):
        m, k = len(listed), listed.shape[1] - 1
        point, place = listed[:, 0], np.repeat(np.arange(m), k)
        chosen = csr_array((np.ones(m * k, dtype=np.intp), (place, listed[:, 1:].ravel())), shape=(m, n))
        others = csr_array((np.ones(len(known), dtype=np.intp), tuple(known.T)), shape=(n, n))
        B = (chosen - others[point]).tocoo()
        B.eliminate_zeros()  # who is in both is in neither
        self.row, self.sign = B.row, B.data
        pairs, self.where = np.unique(point[B.row] * n + B.col, return_inverse=True)
        self.listed, self.pairs = listed, np.stack(np.divmod(pairs, n), axis=1)

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """All at once."""
        m = len(self.listed)
        D, error = view.pairs(self.pairs)
        v = np.bincount(self.row, self.sign * D[self.where], minlength=m).astype(np.float64)
        size = np.bincount(self.row, np.abs(D)[self.where], minlength=m)
        moved = np.bincount(self.row, error[self.where], minlength=m) + 2 * self.listed.shape[1] * EPS * size
        a = np.zeros(m)
        a[duals.key] = duals.a
        yield Block(v, moved * (1 + 1e-6), a)

    def weights(self, duals: Duals) -> Weights:
        """Of each pair once: the sums are exact where prices are whole multiples of a digit (groups.py)."""
        a = np.zeros(len(self.listed), dtype=duals.a.dtype)
        a[duals.key] = duals.a
        w = np.zeros(len(self.pairs), dtype=duals.a.dtype)
        np.add.at(w, self.where, np.where(self.sign > 0, a[self.row], -a[self.row]))
        return Weights(self.pairs, w)

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """All: the regularizer has no range."""
        return duals

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int]:
        """See `Rows`."""
        v, pairs = [0] * len(self.listed), self.pairs.tolist()
        for row, where, sign in zip(self.row.tolist(), self.where.tolist(), self.sign.tolist(), strict=True):
            i, j = pairs[where]
            v[row] += sign * D[i][j]
        return iter(v)


def step(
    p: Instance,
    latent: IntArray,
    sets: IntArray,
    number: Callable[[Any], Any] = float,
) -> Family:
    """That of h* `latent` (n, k) with the rows of `sets` (m, 1 + k)."""
    norm = Frobenius(p.X, number(2))
    term = Term(Slack(number(p.C), sets[:, 0], delta(p, sets)), Sets(sets, members(latent), len(p.X)))
    return Family(norm, (term,), of_regularizer=True, radius=norm.around)


def delta(p: Instance, sets: IntArray) -> FloatArray:
    """Delta of sets (m, 1 + k)."""
    return task_loss(p.y[sets[:, 1:]], p.y[sets[:, 0]], p.Lam)


def members(latent: IntArray) -> IntArray:
    """The pairs (n k, 2) of points and members of their sets (n, k)."""
    return np.stack([np.repeat(np.arange(len(latent)), latent.shape[1]), latent.ravel()], axis=1)


def of_points(sets: IntArray) -> IntArray:
    """One set of each point (n, k), as (n, 1 + k)."""
    return np.column_stack([np.arange(len(sets)), sets])


def read(p: Instance, dual: Dual) -> tuple[FloatArray, IntArray]:
    """Weights q (m,) > 0, which sum to 1 for each point that has any, and their sets (m, 1 + k), of any numbers."""
    q, sets = _checked(dual, len(p.X), p.k)
    sets, proper = in_order(sets)
    # no weight exceeds 1, and sums of anything much larger could overflow
    q, kept = np.clip(q, 0.0, 1.0), proper & (q > 0)
    return scaled(q[kept], sets[kept]), sets[kept]


def scaled(q: FloatArray, sets: IntArray) -> FloatArray:
    """Weights > 0 so that those of a point sum to 1."""
    shares: FloatArray = q / np.bincount(sets[:, 0], q)[sets[:, 0]]
    return shares


def in_order(sets: IntArray) -> tuple[IntArray, Any]:
    """Sets (m, 1 + k) with increasing members, and (m,) where one is a set of k others."""
    members = np.sort(sets[:, 1:], axis=1)
    proper = (np.diff(members, axis=1) > 0).all(axis=1) & (members != sets[:, :1]).all(axis=1)
    return np.column_stack([sets[:, 0], members]), proper


def priced(p: Instance, q: FloatArray, m: int) -> Duals:
    """Of the first of m sets; the others have none."""
    return Duals(np.pad(p.C * q, (0, m - len(q))), np.arange(m))


def named(p: Instance, latent: IntArray, sets: IntArray, duals: Duals) -> Dual:
    """The dual of prices of `sets`, those of each point with what is on h*."""
    rest = p.C - np.bincount(sets[duals.key, 0], duals.a, minlength=len(p.X))
    q, index = np.concatenate([duals.a, rest]) / p.C, np.concatenate([sets[duals.key], of_points(latent)])
    return {"q": q[q > 0], "q_index": index[q > 0]}


def zero_is_optimal(
    p: Instance,
    known: IntArray,
    worst: FloatArray,
    q: FloatArray,
    sets: IntArray,
    nu: FloatArray = NOTHING,
    exchanges: IntArray = NO_EXCHANGES,
) -> bool:
    """True if prices near those given prove, in rationals, that no metric is better than 0, where all sets tie.

    They do if those of each point are on its worst sets alone and sum to C, and G has no positive eigenvalue. known: as
    in `Sets`; worst (n,): the largest Delta of a set; nu (e,) on exchanges (e, 3) of i, j, l.
    """
    on, n = delta(p, sets) == worst[sets[:, 0]], len(p.X)
    q, sets = scaled(q[on], sets[on]), sets[on]
    if len(np.unique(sets[:, 0])) < n:
        return False
    C = Fraction(p.C)
    a = Slack(C, sets[:, 0], delta(p, sets)).exact_duals([C * Fraction(share) for share in q.tolist()])
    G = Sets(sets, known, n).weights(Duals(np.array(a, dtype=object), np.arange(len(a))))
    G = exchanged(G, np.array([Fraction(price) for price in nu.tolist()], dtype=object), exchanges)
    return Frobenius(p.X, Fraction(2)).exact_bound(plane(p.X), G) == 0


def exchanged(G: Weights, nu: Any, exchanges: IntArray) -> Weights:
    """G - sum nu (X_ij - X_il) over exchanges (e, 3) of i, j, l."""
    return Weights(
        np.concatenate([G.pairs, exchanges[:, :2], exchanges[:, ::2]]), np.concatenate([G.w, -nu, nu])
    )


def _checked(dual: Dual, n: int, k: int) -> tuple[FloatArray, IntArray]:
    for name in ("q", "q_index"):
        if not isinstance(dual, Mapping) or name not in dual:
            raise ValueError(f'the dual must be a mapping with "q" and "q_index"; there is no {name!r}')
    q, index = real_array(dual["q"], "dual 'q'"), np.asarray(dual["q_index"])
    if index.size == 0:
        index = index.reshape(0, k + 1).astype(np.intp)
    if q.ndim != 1 or index.shape != (len(q), k + 1) or index.dtype.kind not in "iu":
        raise ValueError(
            f"dual 'q' must be one number a set, with q_index of shape (m, {k + 1}) and integers; "
            f"got shapes {q.shape} and {index.shape}, dtype {index.dtype}"
        )
    if len(index) and (index.min() < 0 or index.max() >= n):
        raise ValueError(f"q_index names a point outside 0..{n - 1}")
    if not np.isfinite(q).all():
        raise ValueError("dual 'q' holds NaN or infinity")
    return q, index.astype(np.intp)
