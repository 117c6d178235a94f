"""The certificate of a metric W for gerrymandering: its objective F, and a lower bound of its convex step.

D_ij is a squared distance at W, h a set of k neighbours of point i, and Delta_ih the loss of its vote (enumeration.py).
Among the sets that let the class of i win with more votes than any other, h*_i has the least sum of D_ij. The worst
set of i has the largest Delta_ih - sum_{j in h} D_ij. P_+ replaces negative eigenvalues by 0. The convex step of
CCCP at W fixes h*_i:

    min_{W psd}  ||W||^2 + C sum_i max(0, max_h [Delta_ih - v_ih]),   v_ih = sum_{j in h} D_ij - sum_{j in known_i} D_ij

Here known_i is h*_i. For h = h*_i, Delta_ih = v_ih = 0, so the maximum is not negative, and the dual variable of this
set does not change the bound. The step is a `Family` (family/theorem/theorem.py), a regularizer with losses on rows
v_ih. The theorem in that file gives its lower bound from any dual variables a_ih, its gap, and the rounding error. The
a_ih of a point sum to at most C, and the rest of C is on h*_i. Files store the weights q = a / C. The file tree.py uses
the same rows for a leaf of its tree: there known_i holds the settled members of h*_i, and exchanges have dual variables
too.

The sets are too many to list. The rows are those of a few sets, with the worst set of each point at W among them. So
the objective at W with these rows is the objective with all sets. Dual variables of these rows are feasible for all
sets, with 0 for the others.

Rounding of the inferences. `nearest` (inference.py) chooses the k + 1 nearest points of a class, the candidates. It
compares the numbers |z_j|^2 - 2 z_i^T z_j, computed by matrix products, for the images z_i = T^T x_i of the points,
with W = T T^T. Each number is the squared distance minus |z_i|^2, with an error of at most rho_i + rho_j. Let `low` be
lower bounds of the squared distances from i to the candidates. The number of any other point is at least as large as
theirs, so its squared distance is at least u = max low - 2 (rho_i + max rho). The t-th smallest squared distance is
then at least the t-th smallest of min(low, u). These lower bounds of the distances give lower bounds of the costs of
the cheapest sets. `Inferred.error`, a bound of the error of F, follows from them.

W = 0 has no scale for a relative error, so rational arithmetic decides if it is optimal for its step. The step is
strongly convex: its optimum is within sqrt(gap) of W. For F itself, only F >= 0 is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.inputs import indexed_dual
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, psd_root, unit_scale
from cvxml.core.result import Certificate, Dual
from cvxml.family.geometry.symmetric import quadratic
from cvxml.family.losses.groups import Slack
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Block, Duals, View, Weights
from cvxml.family.theorem import theorem
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.ssvm.inference import loss_augmented, nearest, point_at, table, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.negative_weights import negative_weights, span, whole_shares
from cvxml.numbers.rational import plane
from cvxml.numbers.rounding import Seen, images

NO_NU, NO_EXCHANGES = np.empty(0), np.empty((0, 3), dtype=np.intp)
ROOM = 1.01  # for products of errors
TINY = 1e-300  # more than all losses by underflow
BLOCK = 2**18  # pairs at a time
ROUNDS = 8  # of more sets, where W = 0 is to be proved optimal
FEW = 3000  # points up to which other weights are tried
LARGEST = 2**22  # numbers of the differences of all sets, up to which other weights are tried
NEAR = 1e-6  # largest squared distance with which these sets are found


class Sets:
    """The values v_ih of some sets h as rows of a `Family`, each the sum of squared distances with signs 1 and -1.

    listed (m, 1 + k): a point i and the members of h. The key of a row is its place in `listed`. known (e, 2): the
    pairs of i and j with j in known_i. n: the number of points.
    """

    def __init__(self, listed: IntArray, known: IntArray, n: int):
        m, k = len(listed), listed.shape[1] - 1
        point, place = listed[:, 0], np.repeat(np.arange(m), k)
        chosen = csr_array((np.ones(m * k, dtype=np.intp), (place, listed[:, 1:].ravel())), shape=(m, n))
        others = csr_array((np.ones(len(known), dtype=np.intp), tuple(known.T)), shape=(n, n))
        B = (chosen - others[point]).tocoo()
        B.eliminate_zeros()  # members of both h and known_i cancel
        self.row, self.sign = B.row, B.data
        pairs, self.where = np.unique(point[B.row] * n + B.col, return_inverse=True)
        self.listed, self.pairs = listed, np.stack(np.divmod(pairs, n), axis=1)

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        m = len(self.listed)
        D, error = view.pairs(self.pairs)
        v = np.bincount(self.row, self.sign * D[self.where], minlength=m).astype(np.float64)
        size = np.bincount(self.row, np.abs(D)[self.where], minlength=m)
        moved = np.bincount(self.row, error[self.where], minlength=m) + 2 * self.listed.shape[1] * EPS * size
        a = np.zeros(m)
        a[duals.key] = duals.a
        yield Block(v, moved * (1 + 1e-6), a)

    def weights(self, duals: Duals) -> Weights:
        """Return G = sum_ih a_ih V_ih as weights on pairs of points, each pair once.

        V_ih is the matrix with v_ih = <W, V_ih>. duals: the a_ih. The weights are exact if the a_ih are fractions, or
        floats that the loss has rounded (family/losses/groups.py).
        """
        a = np.zeros(len(self.listed), dtype=duals.a.dtype)
        a[duals.key] = duals.a
        w = np.zeros(len(self.pairs), dtype=duals.a.dtype)
        np.add.at(w, self.where, np.where(self.sign > 0, a[self.row], -a[self.row]))
        return Weights(self.pairs, w)

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """Return `duals` without a change: with the squared norm as regularizer, every row may have a dual variable."""
        return duals

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int]:
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
    """Return the convex step with h* = `latent` (n, k) as a `Family`.

    sets (m, 1 + k): a row for each of these sets, given by its point and its members. number: float or Fraction; it
    converts the constants.
    """
    norm = Frobenius(p.X, number(2))
    term = Term(Slack(number(p.C), sets[:, 0], delta(p, sets)), Sets(sets, members(latent), len(p.X)))
    return Family(norm, (term,), of_regularizer=True, radius=norm.around)


def delta(p: Instance, sets: IntArray) -> FloatArray:
    """Return Delta (m,), the loss of the vote of each set. sets (m, 1 + k): a point and its members."""
    return task_loss(p.y[sets[:, 1:]], p.y[sets[:, 0]], p.Lam)


def members(latent: IntArray) -> IntArray:
    """Return the pairs (n k, 2) of each point i with each member of its set, row i of `latent` (n, k)."""
    return np.stack([np.repeat(np.arange(len(latent)), latent.shape[1]), latent.ravel()], axis=1)


def of_points(sets: IntArray) -> IntArray:
    """Return the sets (n, k) of points 0 to n - 1 in the form (n, 1 + k): the point first."""
    return np.column_stack([np.arange(len(sets)), sets])


def read(p: Instance, dual: Dual) -> tuple[FloatArray, IntArray]:
    """Return the weights q (m,) > 0 of a dual, with sum 1 for each point, and their sets (m, 1 + k).

    The dual holds "q" and "q_index". Any finite numbers are allowed. Numbers above 1 count as 1. Weights that are not
    positive are dropped, and so are sets with a repeated member or with the point itself. The others are divided by
    their sum for each point.
    """
    q, sets = finite_dual(dual, "q", (len(p.X),) * (1 + p.k))
    sets, proper = in_order(sets)
    # no weight exceeds 1, and sums of much larger numbers could overflow
    q, kept = np.clip(q, 0.0, 1.0), proper & (q > 0)
    return scaled(q[kept], sets[kept]), sets[kept]


def finite_dual(dual: Dual, name: str, ends: Sequence[int]) -> tuple[FloatArray, IntArray]:
    """Return dual[name] (m,) and its index array (m, len(ends)), stored under name + "_index".

    ends: the entries of column c must be below ends[c]. Raises ValueError for other shapes or indices, and for NaN and
    infinity.
    """
    values, index = indexed_dual(dual, name, f"{name}_index", ends)
    if not np.isfinite(values).all():
        raise ValueError(f"dual {name!r} holds NaN or infinity; every entry must be finite")
    return values, index


def scaled(q: FloatArray, sets: IntArray) -> FloatArray:
    """Return the weights q (m,), scaled so that those of a point sum to 1.

    sets (m, 1 + k): the point of each is first.
    """
    shares: FloatArray = q / np.bincount(sets[:, 0], q)[sets[:, 0]]
    return shares


def in_order(sets: IntArray) -> tuple[IntArray, Any]:
    """Return the sets (m, 1 + k) with increasing members, and a mask (m,) of the valid sets.

    A set is valid if it has k distinct members, all different from its point.
    """
    members = np.sort(sets[:, 1:], axis=1)
    proper = (np.diff(members, axis=1) > 0).all(axis=1) & (members != sets[:, :1]).all(axis=1)
    return np.column_stack([sets[:, 0], members]), proper


def priced(p: Instance, q: FloatArray, m: int) -> Duals:
    """Return dual variables of m sets: C q for the first len(q) of them, and 0 for the others."""
    return Duals(np.pad(p.C * q, (0, m - len(q))), np.arange(m))


def named(p: Instance, latent: IntArray, sets: IntArray, duals: Duals) -> Dual:
    """Return the weights of the step by name: "q", and "q_index" with a point and its set in each row.

    duals: C times the weights of `sets` (m, 1 + k). If the weights of a point sum to less than 1, the missing weight is
    on its set h*, row i of `latent` (n, k).
    """
    rest = p.C - np.bincount(sets[duals.key, 0], duals.a, minlength=len(p.X))
    q, index = np.concatenate([duals.a, rest]) / p.C, np.concatenate([sets[duals.key], of_points(latent)])
    return {"q": q[q > 0], "q_index": index[q > 0]}


def duals_at_zero(
    p: Instance,
    known: IntArray,
    worst: FloatArray,
    q: FloatArray,
    sets: IntArray,
    nu: FloatArray = NO_NU,
    exchanges: IntArray = NO_EXCHANGES,
) -> tuple[IntArray, Duals] | None:
    """Return some of the sets, and rational dual variables that prove W = 0 optimal; None if this fails.

    q (m,), sets (m, 1 + k): approximate weights. worst (n,): the largest Delta of each point; only sets with this Delta
    are kept. Their dual variables are made to sum to C for each point, exactly. They are a proof if their matrix G has
    no positive eigenvalue. known (t, 2): the pairs i, j with j in known_i.

    nu (e,), exchanges (e, 3): dual variables of exchanges i, j, l in a leaf of a tree; they are part of G.
    """
    on, n = delta(p, sets) == worst[sets[:, 0]], len(p.X)
    q, sets = scaled(q[on], sets[on]), sets[on]
    if len(np.unique(sets[:, 0])) < n:
        return None
    C = Fraction(p.C)
    a = Slack(C, sets[:, 0], delta(p, sets)).exact_duals([C * Fraction(share) for share in q.tolist()])
    duals = Duals(np.array(a, dtype=object), np.arange(len(a)))
    prices = np.array([Fraction(price) for price in nu.tolist()], dtype=object)
    G = exchanged(Sets(sets, known, n).weights(duals), prices, exchanges)
    return (sets, duals) if Frobenius(p.X, Fraction(2)).exact_bound(plane(p.X), G) == 0 else None


def clearer_weights(
    p: Instance, known: IntArray, worst: FloatArray, q: FloatArray, sets: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return weights and sets that prove W = 0 optimal in spite of rounding; else the given `q` and `sets`.

    The weights that prove it sum to 1 for each point, exactly. A solver may end with G = 0 up to rounding. If its
    weights, rounded, then prove nothing, we search for weights with a G of clearly negative eigenvalues only. Other
    sets are tried too (negative_weights.py). q (m,), sets, known, worst: as in `duals_at_zero`.
    """
    on, n = delta(p, sets) == worst[sets[:, 0]], len(p.X)
    if len(np.unique(sets[on, 0])) < n:
        return q, sets
    shares, highest = scaled(q[on], sets[on]), sets[on]
    whole = whole_shares(shares, highest[:, 0])
    if duals_at_zero(p, known, worst, whole, highest) is not None:
        return whole, highest
    if n > FEW or sets.size * p.X.shape[1] > LARGEST:
        return q, sets
    in_span = p._replace(X=span(p.X), C=1.0)
    for _ in range(ROUNDS):
        G = Sets(highest, known, n).weights(Duals(p.C * shares, np.arange(len(shares))))
        found = negative_weights(in_span.X, highest, shares, Weights(G.pairs, G.w / p.C))
        if found.q is not None:
            clear = duals_at_zero(p, known, worst, found.q, highest) is not None
            return (found.q, highest) if clear else (q, sets)
        size = float(np.abs(quadratic(in_span.X - in_span.X[0], found.metric)).max())
        others = of_points(inferred(in_span, found.metric * (NEAR / size)).worst) if size > 0 else highest
        more = np.unique(np.concatenate([highest, others[delta(p, others) == worst[others[:, 0]]]]), axis=0)
        if len(more) == len(highest):
            break
        both = np.concatenate([more, highest])
        places = np.unique(both, axis=0, return_inverse=True)[1].ravel()[len(more) :]
        shares = np.bincount(places, shares, minlength=len(more)).astype(np.float64)
        highest = more
    return q, sets


def exchanged(G: Weights, nu: Any, exchanges: IntArray) -> Weights:
    """Return G - sum nu (X_ij - X_il) as weights on pairs. nu (e,): dual variables of the exchanges i, j, l (e, 3)."""
    return Weights(
        np.concatenate([G.pairs, exchanges[:, :2], exchanges[:, ::2]]), np.concatenate([G.w, -nu, nu])
    )


class Inferred(NamedTuple):
    """The sets that the psd metric W (d, d) chooses: h* and the worst set of each point.

    latent (n, k): h*. worst (n, k): the set h with the largest Delta_ih - sum_{j in h} D_ij; largest (n,) is that
    value.

    error: a bound of the error of F, because rounding may hide better sets.
    """

    W: FloatArray
    latent: IntArray  # (n, k)
    worst: IntArray  # (n, k)
    largest: FloatArray  # (n,): the largest S + Delta
    error: float  # a bound of the error of F, if these sets are not the best

    @property
    def zero(self) -> bool:
        """True if W = 0, where every set has the cost 0."""
        return not self.W.any()


def inferred(p: Instance, W: FloatArray) -> Inferred:
    """Return h* and the worst set of each point at P_+(W)."""
    s = unit_scale(p.X)
    unit, psd = p.scaled(s), examine(W, p.X)[0]
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        at = point_at(unit, psd * s**2)
        worst = loss_augmented(at.near, p.y, p.Lam).sets
        error = 0.0 if not psd.any() else math.inf
        if psd.any() and np.isfinite(at.W).all():
            error = p.C * float(np.sum(_missed(unit, at.W, at.latent, worst)))
    return Inferred(psd, at.latent, worst, at.worst, error if math.isfinite(error) else math.inf)


def _missed(p: Instance, W: FloatArray, latent: IntArray, worst: IntArray) -> FloatArray:
    """Return bounds (n,) of the error of each point's loss, which is computed from its sets in `latent` and `worst`.

    Other sets may be slightly better, because the k nearest points at W (d, d) are found by rounded products.
    """
    view = Frobenius(p.X, 2.0).judge(W).view
    error, k = _error_products(p.X, W), p.k
    J = nearest(p.X, p.y, p.R, W, k + 1).J
    low = _distances(view, J, -1.0)
    beyond = low.max(axis=2, keepdims=True) - 2 * ROOM * (error + error.max())[:, None, None]
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
    """Return bounds of the squared distances from point i to the points J[i], for all i, in the shape of J (n, ...).

    view: the points under the metric. side: -1 for lower bounds, 1 for upper bounds. The bound is inf where J is -1.
    """
    n, count = len(J), J[0].size
    found, step = np.empty((n, count)), max(1, BLOCK // count)
    for first in watched(range(0, n, step)):
        i = np.arange(first, min(first + step, n))
        j = J[i].reshape(len(i), count)
        D, error = view.pairs(np.stack([np.repeat(i, count), j.ravel()], axis=1))
        found[i] = np.where(j < 0, np.inf, (D + side * error).reshape(j.shape))
    return found.reshape(J.shape)


def _error_products(X: FloatArray, W: FloatArray) -> FloatArray:
    """Return rho (n,), for which the number that `nearest` computes for i and j has an error of at most rho_i + rho_j.

    The module docstring defines this number. X (n, d): the points. W (d, d): the metric, in the same units. The
    function itself divides each feature by its largest value after centring, so that one feature of large values does
    not spoil the bound.
    """
    T, P = psd_root(W), X - X.mean(axis=0)
    width = np.abs(P).max(axis=0)
    error = np.abs(W - T @ T.T) + (len(W) + 2) * EPS * (np.abs(T) @ np.abs(T).T)
    miss = float(np.linalg.norm(error * np.outer(width, width))) * ROOM
    unit = 1 / np.maximum(width, 1e-290)
    seen = Seen(T, unit, miss, images(P, T), P * unit)
    # the last term is the error of the sums of squares and products
    own: FloatArray = seen.reach() + (T.shape[1] + 2) * EPS * np.sum(seen.images.at**2, axis=1)
    return own


def certify(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Return the certificate of `W` (d, d), of kind "stationary"; its field `step` certifies the convex step.

    dual: the weights "q" (m,), any finite numbers, and "q_index" (m, 1 + k), a point and its set. For F itself the
    bound is 0. A slightly infeasible `W` is judged as P_+(W). Raises ValueError if the arrays do not match, an index is
    out of range, or "q" holds NaN or infinity.
    """
    found, (q, with_q) = inferred(p, W), read(p, dual)
    if found.zero:
        q, with_q = clearer_weights(p, members(found.latent), found.largest, q, with_q)
    sets = np.concatenate([with_q, of_points(found.worst)])
    proof, repaired = theorem.certify(step(p, found.latent, sets), W, [priced(p, q, len(sets))])
    if found.zero and duals_at_zero(p, members(found.latent), found.largest, q, with_q) is not None:
        proof = replace(proof, lower_bound=proof.objective, gap=0.0, rounding=0.0)
    error, rounding = proof.value_rounding + found.error, proof.rounding + found.error
    stored = named(p, found.latent, sets, repaired.duals[0])
    own = replace(
        proof,
        kind="subproblem",
        rounding=rounding,
        value_rounding=error,
        radius=math.sqrt(max(proof.gap, 0.0) + rounding) + proof.feasibility.distance,
        dual=stored,
    )
    return replace(
        own, kind="stationary", lower_bound=0.0, gap=own.objective, rounding=error, radius=math.inf, step=own
    )
