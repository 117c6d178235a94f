"""The costs of distances in ITML and LSML, with the derivatives that Newton's method in logdet_path.py needs.

The objective is a log det divergence from the prior, plus gamma times the cost. A row e_t (k,) is the difference of the
two points of a pair, scaled so that units and weights cancel. All coordinates are such that the present metric is I. So
the squared distance of the pair is D_t = |e_t|^2. To second order, the cost at the metric I + V, with a symmetric
V (k, k), is

    cost + <K, V> + 1/2 sum_t <F_t, V>^2,      F_t = p_t p_t^T - m_t m_t^T, or p_t p_t^T alone.

K is the gradient of the cost. The matrices F_t, with vectors p_t and m_t, give its Hessian V -> sum_t <F_t, V> F_t.

ITML: a row e with D = |e|^2 costs D - 1 - log D if D violates its bound 1. Over the rows with a violated bound,

    K = sum (1 - 1/D) e e^T,      F = p p^T with p = e / sqrt D.

LSML compares pairs: a is the row of a near pair, b that of a far pair, u = |a|^2, and v = |b|^2. The cost is
(sqrt u - sqrt v)^2 if u > v. With s = 1 - sqrt(v/u),

    K = sum s a a^T - s/(1-s) b b^T,      F = (u v)^(1/4) / sqrt 2 (a a^T / u - b b^T / v).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.geometry.symmetric import quadratic, squares, weighted
from cvxml.family.losses.bounded import Bounded
from cvxml.family.losses.residual import Residual
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family

# largest ratio of the squared lengths of points and a row: with more, cancellation leaves less than nine digits
APART = 1e7
FEWEST = 64  # with fewer features, sums over points are slower than sums over rows


class Ends(NamedTuple):
    """Rows e_t = sqrt(c_t) (x_i - x_j), given by points x (n, k), pairs (i, j) of points (t, 2), and factors c (t,).

    If there are few points, products with the points are faster than products with the rows. They are less
    accurate: Newton's steps may use them, and a proof must not.
    """

    x: FloatArray  # (n, k)
    pairs: IntArray  # (t, 2)
    c: FloatArray  # (t,)

    def quadratic(self, V: FloatArray) -> FloatArray:
        """The values e_t^T V e_t (t,) of all rows, for V (k, k)."""
        (i, j), Q = self.pairs.T, self.x @ V @ self.x.T
        own = Q.diagonal()
        values: FloatArray = self.c * (own[i] + own[j] - Q[i, j] - Q[j, i])
        return values

    def weighted(self, w: FloatArray) -> FloatArray:
        """sum_t w_t e_t e_t^T (k, k), for weights w (t,), through the graph Laplacian of the weights."""
        (i, j), n, w = self.pairs.T, len(self.x), self.c * w
        degree = np.bincount(i, w, n) + np.bincount(j, w, n)
        half = self.x.T @ (degree[:, None] / 2 * self.x - csr_array((w, (i, j)), (n, n)) @ self.x)
        S: FloatArray = half + half.T
        return S


class Ranks(NamedTuple):
    """The symmetric matrices F_t = p_t p_t^T - m_t m_t^T for the rows of p and m (t, k). Without m, F_t = p_t p_t^T.

    ends: the rows of p given by points, pairs of points and factors, if products are faster in this form; else None.
    """

    p: FloatArray  # (t, k)
    m: FloatArray | None = None  # (t, k)
    ends: Ends | None = None

    def __len__(self) -> int:
        return len(self.p)

    def gram(self) -> FloatArray:
        """The inner products <F_t, F_s>, as a matrix (t, t)."""
        G: FloatArray = (self.p @ self.p.T) ** 2
        if self.m is not None:
            mixed = (self.p @ self.m.T) ** 2
            G += (self.m @ self.m.T) ** 2 - mixed - mixed.T
        return G

    def products(self, V: FloatArray) -> FloatArray:
        """The inner products <F_t, V> (t,), for V (k, k)."""
        plus = quadratic(self.p, V) if self.ends is None else self.ends.quadratic(V)
        return plus - (0.0 if self.m is None else quadratic(self.m, V))

    def total(self, y: FloatArray) -> FloatArray:
        """sum_t y_t F_t (k, k), for weights y (t,)."""
        plus = weighted(self.p, y) if self.ends is None else self.ends.weighted(y)
        return plus - (0.0 if self.m is None else weighted(self.m, y))

    def rows(self, some: slice) -> FloatArray:
        """The vectors svec(F_t), one row for each t in the slice `some`.

        svec(F): the upper triangle of F, with entries off the diagonal times sqrt 2.
        """
        return squares(self.p[some]) - (0.0 if self.m is None else squares(self.m[some]))


class Point(Protocol):
    """The cost at a metric, in coordinates that make the metric I."""

    @property
    def value(self) -> float:
        """The cost at the metric."""

    @property
    def K(self) -> FloatArray:
        """The gradient K (k, k) of the cost."""

    @property
    def F(self) -> Ranks:
        """The matrices F_t; the Hessian of the cost is V -> sum_t <F_t, V> F_t."""

    def along(self, V: FloatArray) -> Callable[[float], float]:
        """Return a function of t: the derivative of the cost at the metric I + t V in the direction V."""


class Cost(Protocol):
    """A cost of distances, and its weight gamma in the objective."""

    @property
    def gamma(self) -> float:
        """The weight of the cost in the objective."""

    def at(self, G: FloatArray) -> Point:
        """The cost at the metric G G^T, in coordinates that make this metric I."""

    def duals(self, point: Point) -> list[FloatArray]:
        """The dual variables that are optimal for the metric of `point`: one array for each loss of the family."""


class Sides(NamedTuple):
    """The cost of ITML at a metric: its value, its gradient K (k, k), and the matrices F of its Hessian.

    e (t, k): the rows of all pairs, in coordinates in which the metric is I. D (t,): their squared distances, divided
    by the bounds. similar (t,): True if D should be at most 1, False if at least 1.
    """

    e: FloatArray  # (t, k)
    D: FloatArray  # (t,)
    similar: NDArray[np.bool_]  # (t,) True: D should be at most 1; False: at least 1
    value: float
    K: FloatArray
    F: Ranks

    def along(self, V: FloatArray) -> Callable[[float], float]:
        change = quadratic(self.e, V)

        def slope(t: float) -> float:
            D = self.D + t * change
            active = np.where(self.similar, D > 1, D < 1)
            with np.errstate(divide="ignore"):
                return float(np.sum((1 - 1 / D[active]) * change[active]))

        return slope


class Bounds(NamedTuple):
    """The cost of ITML as a function of the metric.

    rows (t, k): the rows of all pairs, scaled so that each bound is 1. similar (t,): True for an upper bound, False for
    a lower bound.

    counts: the number of rows of each loss, for example [number of similar pairs, number of dissimilar pairs]. gamma:
    the weight of the cost. ends: the rows given by points, pairs of points and factors.
    """

    rows: FloatArray  # (t, k)
    similar: NDArray[np.bool_]  # (t,)
    counts: list[int]  # the number of rows of each term
    gamma: float
    ends: Ends  # the rows by their points

    def at(self, G: FloatArray) -> Sides:
        e = self.rows @ G
        D = np.einsum("tk,tk->t", e, e)
        violated = np.where(self.similar, D > 1, D < 1)
        u, w = e[violated] / np.sqrt(D[violated])[:, None], D[violated] - 1
        F = Ranks(u, ends=ends_if_quicker(self.ends, G, violated, D))
        return Sides(e, D, self.similar, float(np.sum(away(D[violated]))), weighted(u, w), F)

    def duals(self, point: Point) -> list[FloatArray]:
        """The dual variables of each loss, one for each row: gamma (1 / D - 1) if the bound is violated, else 0."""
        assert isinstance(point, Sides)
        a = self.gamma * (1 / point.D - 1)
        a = np.where(self.similar, np.minimum(a, 0), np.maximum(a, 0))
        return np.split(a, np.cumsum(self.counts)[:-1])


def ends_if_quicker(ends: Ends, G: FloatArray, some: NDArray[np.bool_], D: FloatArray) -> Ends | None:
    """The rows in the mask `some`, divided by sqrt D, given by points, pairs and factors; None if this form is slower.

    ends: all rows in this form. D: their squared distances in the metric G G^T. Products with the rows themselves are
    better if there are few features (`FEWEST`), or if the n^2 products of points exceed the entries of the rows. They
    are also better if a row is so short compared with its points that digits are lost.
    """
    rows, (n, k) = int(np.count_nonzero(some)), ends.x.shape
    if k < FEWEST or n * (n + 2 * k) > rows * k:
        return None
    x = ends.x @ G
    with np.errstate(divide="ignore", invalid="ignore"):  # a row may have the length 0
        c = ends.c[some] / D[some]
        apart = float(np.max(np.sum(x**2, axis=1))) * float(np.max(c))
    return Ends(x, ends.pairs[some], c) if apart <= APART else None


class Compared(NamedTuple):
    """The cost of LSML at a metric: its value, its gradient K (k, k), and the matrices F of its Hessian.

    a, b (q, k): the rows of the near and of the far pairs. u, v (q,): their squared distances.
    """

    a: FloatArray  # (q, k)
    b: FloatArray  # (q, k)
    u: FloatArray  # (q,)
    v: FloatArray  # (q,)
    value: float
    K: FloatArray
    F: Ranks

    def along(self, V: FloatArray) -> Callable[[float], float]:
        du, dv = quadratic(self.a, V), quadratic(self.b, V)

        def slope(t: float) -> float:
            s, r = shares(self.u + t * du, self.v + t * dv)
            return float(s @ du - r @ dv)

        return slope


class Residuals(NamedTuple):
    """The cost of LSML as a function of the metric.

    rows (2 q, k): the differences of the near pairs, then of the far pairs, each times the square root of the weight of
    its comparison. weights (q,): those of the comparisons. gamma: the weight of the cost.
    """

    rows: FloatArray  # (2 q, k) the near pairs, then the far pairs
    weights: FloatArray  # (q,)
    gamma: float = 1.0

    def at(self, G: FloatArray) -> Compared:
        a, b = np.split(self.rows @ G, 2)
        u, v = np.sum(a**2, axis=1), np.sum(b**2, axis=1)
        s, r = shares(u, v)
        value = float(np.sum(s**2 * u))  # sqrt u - sqrt v is s sqrt u
        bent = (u > v) & (v > 0)
        root = (u[bent] * v[bent]) ** 0.25 / np.sqrt(2.0)
        F = Ranks(np.sqrt(root / u[bent])[:, None] * a[bent], np.sqrt(root / v[bent])[:, None] * b[bent])
        return Compared(a, b, u, v, value, weighted(a, s) - weighted(b, r), F)

    def duals(self, point: Point) -> list[FloatArray]:
        """The dual variables of the only term, one array (2 q,), for the near pairs and then for the far pairs.

        They are -w s for a near pair, and w s / (1 - s) for a far pair.

        w: the weights of the comparisons. s = 1 - sqrt(v/u) at the metric of `point` if u > v, else 0.
        """
        assert isinstance(point, Compared)
        s, r = shares(point.u, point.v)
        return [np.concatenate([-self.weights * s, self.weights * r])]


def shares(u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s = 1 - sqrt(v/u) and s / (1 - s) where u > v, else 0.

    s / (1 - s) is 0 also where v = 0.
    """
    s, r, more = np.zeros(len(u)), np.zeros(len(u)), u > v
    high, low = np.sqrt(u[more]), np.sqrt(np.maximum(v[more], 0.0))
    apart = (u[more] - v[more]) / (high + low)
    s[more] = apart / high
    r[more] = np.divide(apart, low, out=np.zeros_like(low), where=low > 0)
    return s, r


def cost_of(family: Family, C: FloatArray) -> tuple[FloatArray | None, Cost]:
    """Return an orthonormal basis (d, k) of the span of the rows, and the cost of the losses of `family` in this basis.

    The basis is None if the span may be the whole space, or if there are no rows. C (d, d): the prior is C C^T.
    """
    X, terms = family.regularizer.X, family.terms
    e = np.concatenate([_differences(X, _pairs(term.rows)) for term in terms]) @ C
    first = terms[0].loss
    if isinstance(first, Residual):
        e = e * np.sqrt(np.concatenate([first.weights] * 2))[:, None]
    basis = _basis(e, X, C)
    rows = e if basis is None else e @ basis
    if isinstance(first, Residual):
        return basis, Residuals(rows, first.weights)
    losses = [term.loss for term in terms if isinstance(term.loss, Bounded)]
    counts = [len(_pairs(term.rows).listed) for term in terms]
    assert len(losses) == len(terms)
    similar = np.repeat([loss.above for loss in losses], counts)
    ends = _ends(X @ C if basis is None else X @ C @ basis, [_pairs(term.rows) for term in terms])
    return basis, Bounds(rows, similar, counts, float(losses[0].c), ends)


def _pairs(rows: object) -> PairRows:
    assert isinstance(rows, PairRows)
    return rows


def _differences(X: FloatArray, rows: PairRows) -> FloatArray:
    """The differences x_i - x_j (t, d) of the listed pairs, divided by the square root of `rows.unit`.

    Squared distances of these pairs are measured in this unit.
    """
    i, j = rows.listed.T
    E: FloatArray = (X[i] - X[j]) / np.sqrt(rows.unit)
    return E


def _ends(X: FloatArray, rows: list[PairRows]) -> Ends:
    """The pairs of all losses, given by points, pairs of points and factors.

    The points are those rows of X (n, k) that are in some pair, shifted so that the first of them is 0. rows: the pairs
    of each loss.
    """
    used, pairs = np.unique(np.concatenate([each.listed for each in rows]), return_inverse=True)
    x = X[used] - X[used[:1]].sum(axis=0)
    c = np.concatenate([np.full(len(each.listed), 1 / each.unit) for each in rows])
    return Ends(x, pairs.reshape(-1, 2), c)


def _basis(e: FloatArray, X: FloatArray, C: FloatArray) -> FloatArray | None:
    few = min(len(e), len(X) - 1)
    if few >= len(C) or few == 0:
        return None
    spanned = e if len(e) <= len(X) else (X - X[0])[1:] @ C
    return np.linalg.qr((spanned / np.linalg.norm(spanned, axis=1).max(initial=1e-300)).T)[0]


def away(D: FloatArray) -> FloatArray:
    """D - 1 - log D, without cancellation near 1."""
    w = D - 1
    near = np.abs(w) < 0.1
    values: FloatArray = w - np.log(D)
    values[near] = w[near] - np.log1p(w[near])
    return values
