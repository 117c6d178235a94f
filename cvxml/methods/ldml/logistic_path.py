"""How a metric is found for the logistic loss of pairs, and whether there is an optimum: LDML.

    f(M) = sum w log(1 + exp(t (D - b))), at a given b or at the best,   s = 1 / (1 + exp(-t (D - b))),  c = w s (1 - s)
At M = G G^T for M = G (I + dX) G^T, h the svec of G^T X G of a pair:
    gradient  sum t w s h,    Hessian  sum c h h^T, with b free less (sum c h) (sum c h)^T / sum c,
which is b eliminated from the Hessian of both. The path is that of barrier.py.

R is 0, and r(G) is 0 where -G = sum t alpha X is psd. A dissimilar pair that differs where no similar one does, which
is decided in rationals, has no price: some direction moves it apart at no cost: no metric attains the infimum.
With b free the same is so of pairs that can be separated: where a metric has no similar pair further than a dissimilar
one, more of it (and of b between them) is never worse, and better unless all are equally far. Otherwise minimisers are
bounded, and some alpha are strict: sum t alpha X is definite. Those of the middle of the path are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cvxml.core.clock import watched
from cvxml.core.integer_matrices import all_distances, whole
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.run import Found
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.geometry.symmetric import quadratic, smat, squares
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.strict_prices import Anchor, Anchors, share_of
from cvxml.family.theorem.theorem import Family
from cvxml.methods.ldml.logistic import Labelled, Logistic, best
from cvxml.methods.ldml.no_regularizer import Free
from cvxml.numbers import rational
from cvxml.solvers.barrier import path
from cvxml.solvers.task import Along, Task, inside_the_cone

ROWS = 2**20  # numbers in a block of rows of the Hessian's factor
LOOK = 60  # steps of the path for a definite gradient
AWAY = 1e-3  # of a start, so that it is no boundary point
PATIENCE = 5  # steps without a better gap
LESS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)  # of a share of other prices: rounding may need that


class OfPairs(NamedTuple):
    """f as a function of M (r, r): a `cvxml.solvers.barrier.Smooth`."""

    Z: FloatArray  # (p, r) differences
    t: FloatArray  # (p,)
    b: float | None
    w: FloatArray  # (p,)

    def exponents(self, D: FloatArray) -> FloatArray:
        """t (D - b)"""
        z: FloatArray = self.t * (D - (best(self.t, D, self.w)[0] if self.b is None else self.b))
        return z

    def value(self, M: FloatArray) -> float:
        """f(M)"""
        D = quadratic(self.Z, M)
        return float((self.w * np.logaddexp(0, self.exponents(D))).sum()) if np.isfinite(D).all() else np.inf

    def duals(self, M: FloatArray) -> FloatArray:
        """-t w s"""
        a: FloatArray = -self.t * self.w * expit(self.exponents(quadratic(self.Z, M)))
        return a

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient (r, r) and the Hessian by svec, of dX at M = G (I + dX) G^T."""
        Y, r = self.Z @ G, G.shape[1]
        z = self.exponents(np.sum(Y**2, axis=1))
        slope, curvature = self.t * self.w * expit(z), self.w * expit(z) * expit(-z)
        size = r * (r + 1) // 2
        g, H, mean = np.zeros(size), np.zeros((size, size)), np.zeros(size)
        step = max(1, ROWS // size)
        for first in watched(range(0, len(z), step)):
            some = slice(first, first + step)
            h = squares(Y[some])
            g += slope[some] @ h
            mean += curvature[some] @ h
            H += (h * curvature[some, None]).T @ h
        if self.b is None:
            H -= np.outer(mean, mean) / max(float(curvature.sum()), np.finfo(float).tiny)
        return smat(g, r), (H + H.T) / 2


class Shown(NamedTuple):
    """What the middle of the path shows: strict prices, or a metric along which the loss never grows."""

    strict: Duals | None
    separates: str  # why no metric attains the infimum, as a sentence, which is proved; else empty
    metric: FloatArray  # (d, d), the last


ACROSS = (
    "no metric attains the infimum: {count} dissimilar pairs differ in directions in which no similar pair does, and "
    "moving them apart there costs nothing"
)
SEPARATED = (
    "no metric attains the infimum: some metric has no similar pair further than a dissimilar one, as rational numbers "
    "prove, so that more of it is always better"
)


class MiddleOfThePath(Anchors):
    """Strict prices, where minimisers are bounded."""

    @cached_property
    def shown(self) -> Shown:
        """JudgedMatrix for once."""
        assert isinstance(self.regularizer, Free)
        assert isinstance(self.rows, Labelled)
        assert isinstance(self.loss, Logistic)
        X, at = self.regularizer.X, coordinates(self.regularizer.X)
        f = of_pairs(self.loss, self.rows, at.Y)
        M, rho = np.eye(at.Y.shape[1]), _size(f, np.eye(at.Y.shape[1]))
        for k, state in enumerate(islice(path(f, M, rho, shrink=1.0), LOOK)):
            M = state.M
            own = self.anchor(self.rows.duals(f.duals(M)))
            if k and own.surplus.psd and np.any(own.duals.a):
                return Shown(own.duals, "", at.outside(M))
            if self.loss.b is None and (root := _separates(X, self.rows, self.loss.t, at.to, M)) is not None:
                return Shown(None, SEPARATED, root @ root.T)
        return Shown(None, "", at.outside(M))

    @cached_property
    def strict(self) -> Anchor | None:
        """Those of the middle of the path."""
        return None if self.shown.strict is None else self.anchor(self.shown.strict)

    def feasible(self, own: Duals, others: list[Duals]) -> list[Duals]:
        """Themselves where they are, else as near to them as strict ones allow; and 0, which is feasible always."""
        nothing = own._replace(a=0 * own.a)
        given = self.anchor(own)
        if given.surplus.psd:
            return [given.duals, nothing]
        anchor = self.strict
        share = None if anchor is None else share_of(anchor.surplus, given.surplus)
        if anchor is None or share is None:
            return [given.duals, nothing] if self._exactly(given.duals) else [nothing]
        for less in LESS:
            t = share * (1 - less)
            mixed = self.anchor(own._replace(a=(1 - t) * anchor.duals.a + t * given.duals.a))
            if mixed.surplus.psd:
                return [mixed.duals, nothing]
        return [anchor.duals, nothing]

    def _exactly(self, duals: Duals) -> bool:
        """True if sum t alpha X is psd as rational numbers are: it may be 0 where nothing is strict."""
        G = self.rows.weights(duals)
        return self.regularizer.exact_bound(rational.plane(self.regularizer.X), G) is not None


def of_pairs(loss: Logistic, rows: Labelled, Y: FloatArray) -> OfPairs:
    """Of points Y (n, r)."""
    i, j = rows.listed.T
    return OfPairs(Y[i] - Y[j], loss.t.astype(float), None if loss.b is None else float(loss.b), loss.weights)


def _size(f: OfPairs, M: FloatArray) -> float:
    values, vectors = np.linalg.eigh(M)
    root: FloatArray = vectors * np.sqrt(values)
    sizes = np.abs(np.linalg.eigvalsh(f.derivatives(root)[0]))
    return max(float(sizes.mean()), np.finfo(float).tiny)


def _separates(
    X: FloatArray, rows: Labelled, t: IntArray, to: FloatArray, M: FloatArray
) -> FloatArray | None:
    """A root (d, r) of M or of its largest parts in whose metric the pairs are separated, in integers."""
    values, vectors = np.linalg.eigh(M)
    root: FloatArray = to @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    i, j = rows.listed.T
    for m in watched(range(root.shape[1])):
        z = X @ root[:, m:]
        D = np.sum((z[i] - z[j]) ** 2, axis=1)
        if D[t > 0].max() <= D[t < 0].min() and separated(X, rows, t, root[:, m:]):
            return root[:, m:]
    return None


def separated(X: FloatArray, rows: Labelled, t: IntArray, root: FloatArray) -> bool:
    """True if no similar pair is further in root root^T (d, r) than a dissimilar one, and not all are equally far."""
    D = all_distances(whole(X)[0] * whole(root)[0])
    of_kind: dict[int, list[int]] = {1: [], -1: []}
    for (i, j), kind in zip(rows.listed.tolist(), t.tolist(), strict=True):
        of_kind[kind].append(D[i][j])
    near, far = of_kind[1], of_kind[-1]
    return max(near) <= min(far) and min(near) < max(far)


def states(family: Family, start: FloatArray | None) -> Iterator[tuple[FloatArray, Duals]]:
    """Metrics (d, d) along the path of the logistic loss, and the slopes there. start: a psd matrix (d, d)."""
    ((loss, rows),) = family.terms
    assert isinstance(rows, Labelled)
    assert isinstance(loss, Logistic)
    at = coordinates(family.regularizer.X)
    f = of_pairs(loss, rows, at.Y)
    M = np.eye(at.Y.shape[1]) if start is None else inside_the_cone(at.inside(start), AWAY)
    for state in path(f, M, _size(f, M)):
        yield at.outside(state.M), rows.duals(f.duals(state.M))


def search(task: Task) -> Found:
    """Solve to a gap of `tol`, certified after every step."""
    return task.run(Along(states(task.family, task.near), task.named), "path", PATIENCE)
