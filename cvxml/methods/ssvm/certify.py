"""The convex step of gerrymandering as a member of the family (cvxml/family/theorem).

    min_{W psd}  ||W||^2 + C sum_i max(0, max_h [Delta_ih - v_ih]),   v_ih = sum_{j in h} D_ij - sum_{j in known_i} D_ij

where known_i is h*_i: its own row is 0, so that the maximum is not negative, and a price on it says nothing. Those of a
point sum up to C at most; what is missing is on h*_i. q of files is prices / C. In a leaf of a tree known_i is what is
known to be in h*_i, and exchanges have prices too (tree/certify.py).

There are too many sets to list them. A few of them, the worst at W with them, have the objective of all at W, and
prices of few are prices of all: of those not listed they are 0.

The two inferences at a metric, and by how much of F the sets found may be wrong: proved, in worst case.

Who is near is settled by products of images of the points under a root T of W (nearest.py), none of which is off by
more than rho_i at point i. Let low be what the k + 1 candidates of a class are away at least, by differences. Whoever
is no candidate has no smaller product than any of them, so is away at least u = max low - 2 rho_i; and the t-th nearest
at least the t-th of min(low, u). The sets that cost least at these distances cost no more than the cheapest there are.

The certificate of a metric for gerrymandering: F, and a bound of its own convex step.

The step is a member of the family (member.py): bound, gap and what rounding may take from them are those of
cvxml/family/theorem, at the sets h* that the exact inference finds, with the worst sets that it finds. That it may
have found others than the best is counted beside (rounding.py). The tests hold it against enumeration and an integer
program.

W = 0 has no scale that an error could be a share of: whether it is optimal for its step is decided in rationals.

The step is strongly convex: its optimum lies within sqrt(gap) of W. Of F itself no more is proved than F >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.inputs import real_array
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, psd_root, unit_scale
from cvxml.core.result import Certificate, Dual
from cvxml.family.losses.groups import Slack
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Block, Prices, View, Weights
from cvxml.family.theorem import theorem
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.ssvm.inference import loss_augmented, nearest, point_at, table, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.numbers.rational import plane
from cvxml.numbers.rounding import Seen, images

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

    def blocks(self, view: View, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """All at once."""
        m = len(self.listed)
        D, off = view.pairs(self.pairs)
        v = np.bincount(self.row, self.sign * D[self.where], minlength=m).astype(np.float64)
        size = np.bincount(self.row, np.abs(D)[self.where], minlength=m)
        moved = np.bincount(self.row, off[self.where], minlength=m) + 2 * self.listed.shape[1] * EPS * size
        a = np.zeros(m)
        a[prices.key] = prices.a
        yield Block(v, moved * (1 + 1e-6), a)

    def weights(self, prices: Prices) -> Weights:
        """Of each pair once: the sums are exact where prices are whole multiples of a digit (groups.py)."""
        a = np.zeros(len(self.listed), dtype=prices.a.dtype)
        a[prices.key] = prices.a
        w = np.zeros(len(self.pairs), dtype=prices.a.dtype)
        np.add.at(w, self.where, np.where(self.sign > 0, a[self.row], -a[self.row]))
        return Weights(self.pairs, w)

    def within_span(self, labels: IntArray, prices: Prices) -> Prices:
        """All: the regularizer has no range."""
        return prices

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


def priced(p: Instance, q: FloatArray, m: int) -> Prices:
    """Of the first of m sets; the others have none."""
    return Prices(np.pad(p.C * q, (0, m - len(q))), np.arange(m))


def named(p: Instance, latent: IntArray, sets: IntArray, prices: Prices) -> Dual:
    """The dual of prices of `sets`, those of each point with what is on h*."""
    rest = p.C - np.bincount(sets[prices.key, 0], prices.a, minlength=len(p.X))
    q, index = np.concatenate([prices.a, rest]) / p.C, np.concatenate([sets[prices.key], of_points(latent)])
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
    a = Slack(C, sets[:, 0], delta(p, sets)).exact_prices([C * Fraction(share) for share in q.tolist()])
    G = Sets(sets, known, n).weights(Prices(np.array(a, dtype=object), np.arange(len(a))))
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


ROOM = 1.01  # for products of errors
TINY = 1e-300  # more than all that underflow loses
BLOCK = 2**18  # pairs at a time


class Inferred(NamedTuple):
    """The sets of the two inferences at W (d, d), psd."""

    W: FloatArray
    latent: IntArray  # (n, k)
    worst: IntArray  # (n, k)
    largest: FloatArray  # (n,): the largest S + Delta
    off: float  # how much of F they may be wrong by

    @property
    def zero(self) -> bool:
        """Whether W is: then all sets tie."""
        return not self.W.any()


def inferred(p: Instance, W: FloatArray) -> Inferred:
    """At P_+ of `W` (d, d)."""
    s = unit_scale(p.X)
    unit, psd = p.scaled(s), examine(W, p.X)[0]
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        at = point_at(unit, psd * s**2)
        worst = loss_augmented(at.near, p.y, p.Lam).sets
        off = 0.0 if not psd.any() else math.inf
        if psd.any() and np.isfinite(at.W).all():
            off = p.C * float(np.sum(_missed(unit, at.W, at.latent, worst)))
    return Inferred(psd, at.latent, worst, at.worst, off if math.isfinite(off) else math.inf)


def _missed(p: Instance, W: FloatArray, latent: IntArray, worst: IntArray) -> FloatArray:
    """(n,): how much the cheapest and the worst set at W (d, d) are better than these (n, k), at most."""
    view = Frobenius(p.X, 2.0).judge(W).view
    off, k = _off_products(p.X, W), p.k
    J = nearest(p.X, p.y, p.R, W, k + 1).J
    low = _distances(view, J, -1.0)
    beyond = low.max(axis=2, keepdims=True) - 2 * ROOM * (off + off.max())[:, None, None]
    low = np.sort(np.maximum(np.minimum(low, beyond), 0.0), axis=2)[:, :, :k]
    largest = (p.Lam[p.y] - table(low, 0).cost).max(axis=1)
    cheapest = table(low, 1, p.y[:, None]).cost[:, 0]
    own, far = (_distances(view, sets, 1.0).sum(axis=1) for sets in (latent, worst))
    delta = task_loss(p.y[worst], p.y, p.Lam)
    missed = (largest - delta + far) + (own - cheapest)
    size = np.abs(largest) + delta + far + own + cheapest
    found: FloatArray = ROOM * (np.maximum(missed, 0.0) + (2 * k + 8) * EPS * size) + TINY
    return found


def _distances(view: View, J: IntArray, side: float) -> FloatArray:
    """Of the points from J (n, ...), at least (side -1) or at most (1); inf where there is none."""
    n, count = len(J), J[0].size
    found, step = np.empty((n, count)), max(1, BLOCK // count)
    for first in watched(range(0, n, step)):
        i = np.arange(first, min(first + step, n))
        j = J[i].reshape(len(i), count)
        D, off = view.pairs(np.stack([np.repeat(i, count), j.ravel()], axis=1))
        found[i] = np.where(j < 0, np.inf, (D + side * off).reshape(j.shape))
    return found.reshape(J.shape)


def _off_products(X: FloatArray, W: FloatArray) -> FloatArray:
    """(n,): what those of nearest.py are off by, for points i and j the sum of both; a feature's unit is its width."""
    T, P = psd_root(W), X - X.mean(axis=0)
    width = np.abs(P).max(axis=0)
    off = np.abs(W - T @ T.T) + (len(W) + 2) * EPS * (np.abs(T) @ np.abs(T).T)
    miss = float(np.linalg.norm(off * np.outer(width, width))) * ROOM
    unit = 1 / np.maximum(width, 1e-290)
    seen = Seen(T, unit, miss, images(P, T), P * unit)
    # besides, squares and products are summed as one
    own: FloatArray = seen.reach() + (T.shape[1] + 2) * EPS * np.sum(seen.images.at**2, axis=1)
    return own


def certify(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `W` (d, d) from weights `dual`: kind "stationary", its `step` of kind "subproblem".

    dual: "q" (m,) any real numbers, "q_index" (m, 1 + k): a point and its set. A slightly infeasible `W` is
    judged as P_+(W). Raises ValueError if the arrays do not match or an index is out of range.
    """
    found, (q, with_q) = inferred(p, W), read(p, dual)
    sets = np.concatenate([with_q, of_points(found.worst)])
    proof, repaired = theorem.certify(step(p, found.latent, sets), W, [priced(p, q, len(sets))])
    if found.zero and zero_is_optimal(p, members(found.latent), found.largest, q, with_q):
        proof = replace(proof, lower_bound=proof.objective, gap=0.0, rounding=0.0)
    off, rounding = proof.value_rounding + found.off, proof.rounding + found.off
    stored = named(p, found.latent, sets, repaired.prices[0])
    own = replace(
        proof,
        kind="subproblem",
        rounding=rounding,
        value_rounding=off,
        radius=math.sqrt(max(proof.gap, 0.0) + rounding) + proof.feasibility.distance,
        dual=stored,
    )
    return replace(
        own, kind="stationary", lower_bound=0.0, gap=own.objective, rounding=off, radius=math.inf, step=own
    )
