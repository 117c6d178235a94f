"""MCML over all pairs of points, by their labels: certificate and solver without a table of n x n dual variables.

    f(M) = sum_i [ mean_{j in class(i), j != i} D_ij + log sum_{k != i} exp(-D_ik) ]
Here D_ij are the squared distances in M. The index i runs over the points that are not alone in their class. Let
X_ij = (x_i - x_j)(x_i - x_j)^T, and C = sum_ij p0(j|i) X_ij. Here p0(.|i) is uniform over the other points j of the
class of i. So f is <C, M> plus the logarithms. Dual variables are distributions p_i over k != i. If C - G is psd for
G = sum_ik p_ik X_ik, the sum of their entropies is a lower bound of f (theorem.py).

Here the dual variables are always the softmax of some metric: p_ik is proportional to exp(-D_ik). A dual stores this
metric in their place. If the dual variables are not feasible, they are mixed with strict ones, which make C - G
positive definite (strict_prices.py). Entropy is concave, so the bound of a mixture is at least the mixture of the two
bounds. An image of a metric is a matrix z (n, m): the distances of its rows are the distances in the metric.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, examine
from cvxml.core.moved import METRIC
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, run
from cvxml.core.threads import side_by_side
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.regularizers.base import Surplus
from cvxml.family.theorem.strict_prices import share_of, strictest
from cvxml.family.unlisted.all_pairs import (
    BLOCK,
    ROOM,
    Descent,
    Laplacian,
    Slopes,
    Table,
    Weighed,
    classes,
    error_of,
    root,
    rounded,
)
from cvxml.numbers.rounding import Images, least_eigenvalue, points, seen
from cvxml.numbers.span import cosets

FAR = 1e300  # distance of a point from itself, because k != i
BARRIER = 0.25  # the barrier leaves a relative gap of this times tol
PATIENCE = 5  # the solver stops after this many steps without a better gap


class Softmax(NamedTuple):
    """Sums over the points i that are not alone in their class, for the softmax p_i of -D_ik over k != i.

    value: the sum of log sum_{k != i} exp(-D_ik). entropy: the sum of the entropies of p_i. error: a bound of the
    rounding error of `value`, and also of `entropy`. G: sum_ik p_ik X_ik, for the points in the solver's coordinates.
    """

    value: float  # sum of log sum exp(-D)
    entropy: float  # sum of the entropies of p_i
    error: float  # error bound of value and of entropy, for the float distances
    G: Laplacian  # sum of p_ik z_ik z_ik^T


class Priced(NamedTuple):
    """Dual variables p: a lower bound of their entropy, and C - G (`surplus`) with G = sum_ik p_ik X_ik.

    If C - G is psd, the entropy is a lower bound of f.
    """

    entropy: float
    surplus: Surplus


class AllSoftmaxes:
    """Certificate and solver of MCML for the points X (n, d) with class codes y (n,), over all pairs of points.

    `whole` is False if the differences within the classes do not span all differences, or if rounding leaves this
    undecided. Then no method of this class may be called.
    """

    rho = 0.0  # weight of the barrier

    def __init__(self, X: FloatArray, y: IntArray):
        order, n = classes(y).order, len(X)
        self.X, self.classes = X[order], classes(y[order])
        sizes = self.classes.sizes.astype(float)
        others = np.maximum(sizes - 1, 1.0)
        self.w = np.where(
            sizes > 1, 2 * sizes / others, 0.0
        )  # <C, M> is the sum over classes of w times the scatter
        self.used = np.repeat(sizes > 1, self.classes.sizes)
        self.level = float(np.sum(sizes * np.log(others)))  # the lower bound that p0 gives
        first = np.repeat(self.classes.first[:-1], self.classes.sizes)
        span = cosets(self.X, np.stack([first, np.arange(n)], axis=1)[first != np.arange(n)])
        at = coordinates(self.X)
        # The differences within the classes must span all differences. Otherwise the infimum is not attained.
        self.whole = not (span.labels.any() or at.hidden or at.undecided) and at.Y.shape[1] == span.rank
        S, _ = self.classes.scatter(Images(at.Y, np.zeros(n)), self.w)
        values, vectors = np.linalg.eigh(S)
        self.whole &= bool(values[0] > 0)
        if self.whole:
            scale = np.sqrt(values)
            self.to, self.back = at.to @ (vectors / scale), at.back @ (vectors * scale)
            self.images = rounded(points(self.X, self.to))
            self.C = self.classes.scatter(self.images, self.w)
            self.whole = least_eigenvalue(self.C[0]) > self.C[1]

    def softmax(self, z: FloatArray) -> Softmax:
        """Return the sums of `Softmax` at a metric, over the points that are not alone in their class.

        z (n, m): the image of the metric, with the points sorted by class.
        """
        table, G, n = Table(z), Laplacian(self.images.at), len(z)
        rows = np.flatnonzero(self.used)

        def look(some: IntArray) -> tuple[float, float, float, Weighed]:
            x = table.of(some, slice(None))
            x[np.arange(len(some)), some] = FAR
            least = x.min(axis=1)
            np.subtract(least[:, None], x, out=x)
            p = np.exp(x)
            total = p @ np.ones(n)
            log_sum = np.log(total)
            p /= total[:, None]
            mean = np.einsum("ik,ik->i", p, x)
            moved = float((1 + np.abs(log_sum) + np.abs(mean) + least).sum())
            value, entropy = float((log_sum - least).sum()), float((log_sum - mean).sum())
            return value, entropy, moved, G.part(some, slice(None), p)

        values, entropies, moved = [], [], 0.0
        for value, entropy, more, weighed in side_by_side(
            look, np.array_split(rows, max(1, len(rows) * n // BLOCK))
        ):
            values.append(value)
            entropies.append(entropy)
            moved += more
            G.add(weighed)
        return Softmax(math.fsum(values), math.fsum(entropies), 2 * (n + 32) * EPS * moved, G)

    def priced(self, found: Softmax) -> Priced:
        """Return the entropy and C - G of the softmax `found`, with bounds of the rounding errors."""
        (C, C_error), (S, error) = self.C, found.G.proved(self.images.error)
        return Priced(found.entropy - found.error, Surplus(C - S, C_error + error))

    @cached_property
    def strict(self) -> Priced | None:
        """Strict dual variables, which make C - G positive definite; None if not found.

        They are the softmax of a metric that is a multiple of the identity, in coordinates in which C is the identity.
        The best of several multiples is taken.
        """
        near = np.count_nonzero(self.used) / len(self.C[0])
        return strictest(lambda s: self.priced(self.softmax(self.images.at * math.sqrt(s * near))))

    def bound(self, own: Priced) -> float:
        """Return a lower bound of f from `own`, or from their mixture with strict ones if `own` are not feasible.

        The bound of p0 is returned if it is larger, or if no strict dual variables are known.
        """
        if own.surplus.psd:
            return max(self.level, own.entropy)
        t = None if self.strict is None else share_of(self.strict.surplus, own.surplus)
        if t is None or self.strict is None:
            return self.level
        return max(self.level, t * own.entropy + (1 - t) * self.strict.entropy)

    def certify(self, A: FloatArray, at: FloatArray) -> Certificate:
        psd, feasibility = examine(A, self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            sight = seen(self.X, A / 2 + A.T / 2 if feasibility.exact else psd)
            found = self.softmax(sight.images.at)
            pull, pull_error = self._pull(sight.images, sight.miss, sight.P)
        # The error of log sum exp is at most the largest error of the distances of its point.
        reach = error_of(sight)
        error = found.error + float(reach[self.used].sum() + np.count_nonzero(self.used) * reach.max())
        objective = pull + found.value
        error = (error + pull_error + 4 * EPS * (pull + abs(found.value))) * ROOM
        finite = math.isfinite(objective) and math.isfinite(error)
        # The bound depends on the dual only, so two metrics with the same dual have the same bound.
        with np.errstate(over="ignore", invalid="ignore"):
            priced_at = seen(self.X, at)
            same = np.array_equal(priced_at.root, sight.root)
            bound = self.bound(self.priced(found if same else self.softmax(priced_at.images.at)))
        bound -= (len(self.w) + 16) * EPS * (abs(bound) + len(self.X) * math.log(len(self.X)))
        return Certificate(
            kind="global",
            objective=objective if finite else math.inf,
            lower_bound=bound,
            gap=objective - bound if finite else math.inf,
            scale=abs(objective),
            rounding=error if finite else math.inf,
            radius=math.inf,
            feasibility=feasibility,
            dual={METRIC: at},
        )

    def _pull(self, at: Images, miss: float, P: FloatArray) -> tuple[float, float]:
        """Return <C, M> = sum_ij p0(j|i) D_ij for a metric M, and a bound of its error.

        at: images z of the points under M, with error bounds. miss, P (n, d): bounds of a second error. Even if the z
        were exact, D_ij and |z_i - z_j|^2 could differ by up to miss |P_i - P_j|^2.
        """
        S, error = self.classes.scatter(at, self.w)
        Q, Q_error = self.classes.scatter(Images(P, EPS * np.linalg.norm(P, axis=1)), self.w)
        wide = len(S) * error + miss * (float(np.trace(Q)) + len(Q) * Q_error)
        return float(np.trace(S)), wide * ROOM

    def slopes(self, M: FloatArray) -> Slopes:
        """Return value and gradient of f - rho log det M at M (r, r), and an estimate of the relative gap.

        M is in coordinates in which C is the identity. rho: the weight of the barrier, 0 if strict dual variables are
        known.
        """
        found = self.softmax(self.images.at @ root(M))
        value, Z = float(np.trace(M)) + found.value, np.eye(len(M)) - found.G.total()
        bound = self.bound(Priced(found.entropy, Surplus(Z, 0.0)))
        left = (value - bound) / abs(value) if value else 0.0
        if self.rho:
            values, vectors = np.linalg.eigh(M)
            values = np.maximum(values, EPS**2 * values[-1])
            value -= self.rho * float(np.log(values).sum())
            Z = Z - self.rho * (vectors / values) @ vectors.T
        return Slopes(value, Z, left)

    def outside(self, M: FloatArray) -> FloatArray:
        A: FloatArray = self.to @ M @ self.to.T
        return (A + A.T) / 2

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        r = len(self.C[0])
        M = np.eye(r) * np.count_nonzero(self.used) / r
        if start is not None and start.any():
            M = self.back.T @ start @ self.back + 1e-3 * M

        # Without strict dual variables to mix with, only the barrier makes the dual variables feasible.
        if self.strict is None:
            self.rho = BARRIER * tol * self.level / r

        def prove(A: FloatArray, dual: Dual) -> Certificate:
            return self.certify(A, dual[METRIC])

        return run(Descent(self, M, tol), prove, tol, max_iter, callback, "all pairs", PATIENCE)
