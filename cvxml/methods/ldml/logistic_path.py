"""Solver of LDML, and the test whether a metric attains the infimum.

    f(M) = sum w log(1 + exp(t (D - b))), for a given b or minimized over b

The sum is over the pairs. D is the squared distance of a pair in M, w its weight, t = 1 for similar pairs and -1 for
dissimilar pairs. X = (x_i - x_j)(x_i - x_j)^T is the matrix of a pair.

Derivatives at M = G G^T with respect to dX, for M = G (I + dX) G^T. Let s = 1 / (1 + exp(-t (D - b))), c = w s (1 - s),
and h = svec(G^T X G).

    gradient  sum t w s h,    Hessian  sum c h h^T

If b is free, (sum c h) (sum c h)^T / sum c is subtracted from the Hessian. This eliminates b from the Hessian in M and
b. The path is followed by barrier.py: it minimizes f(M) - rho log det M for decreasing rho.

Attainment. The dual variables of a metric are alpha = w s, a number for each pair. There is no regularizer, so they are
feasible if sum t alpha X is psd, and strict if it is positive definite. If b is free, sum t alpha = 0 is required, too.
No metric attains the infimum in two cases.
- A dissimilar pair differs outside the span of the similar differences; rational arithmetic decides this. Some
  direction moves the pair apart at no cost. The dual variable of the pair must be 0.
- b is free, and some metric separates the pairs. In this metric, no similar pair is farther than a dissimilar pair, and
  not all pairs are equally far. Then a larger multiple of this metric, with b between the two kinds, is always better.
Suppose that these two cases are excluded. If b is given, or if no metric makes all pairs equally far, the minimizers
are bounded, and strict dual variables exist. Then the dual variables of a metric near the central path are strict. If b
is free and a metric makes all pairs equally far, the infimum need not be attained (docs/ldml.md).
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
from cvxml.solvers.task import Along, Reached, Task, inside_the_cone

ROWS = 2**20  # numbers in a block of rows of the Hessian's factor
LOOK = 60  # at most so many steps of the path to find strict dual variables
AWAY = 1e-3  # share of the identity that is mixed into a start, because a start must be positive definite
PATIENCE = 5  # the solver stops after this many steps without a better gap
LESS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)  # reductions of a mixing weight that are tried because of rounding


class OfPairs(NamedTuple):
    """f of the module docstring as a function of M (r, r), with the derivatives that the path of barrier.py needs.

    Z (p, r): the differences of the pairs, in the r coordinates of the solver, in which M is given. t, w (p,): labels
    and weights. b: None if it is free.
    """

    Z: FloatArray  # (p, r) differences
    t: FloatArray  # (p,)
    b: float | None
    w: FloatArray  # (p,)

    def exponents(self, D: FloatArray) -> FloatArray:
        """The exponents t (D - b) of the losses (p,), for squared distances D (p,), at the given or the best b."""
        z: FloatArray = self.t * (D - (best(self.t, D, self.w)[0] if self.b is None else self.b))
        return z

    def value(self, M: FloatArray) -> float:
        """The objective f at M; inf if a distance is not finite."""
        D = quadratic(self.Z, M)
        return float((self.w * np.logaddexp(0, self.exponents(D))).sum()) if np.isfinite(D).all() else np.inf

    def duals(self, M: FloatArray) -> FloatArray:
        """The dual variables -t w s (p,) at M, with s = 1 / (1 + exp(-t (D - b)))."""
        a: FloatArray = -self.t * self.w * expit(self.exponents(quadratic(self.Z, M)))
        return a

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
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
    """The result of the search near the central path: strict dual variables, or a metric that separates the pairs.

    strict: None if not found. separates: a sentence if a metric is proved to separate the pairs, else empty. metric
    (d, d): the separating metric, or the last metric of the search.
    """

    strict: Duals | None
    separates: str  # a sentence if a metric is proved to separate the pairs, else empty
    metric: FloatArray  # (d, d) the separating metric, or the last metric of the path


ACROSS = (
    "no metric attains the infimum: {count} dissimilar pairs differ in directions in which no similar pair does, and "
    "moving them apart there has no cost"
)
SEPARATED = (
    "no metric attains the infimum: some metric separates the pairs, which means that no similar pair is farther "
    "than a dissimilar one, so larger multiples of it are always better (proved in rational arithmetic)"
)


class MiddleOfThePath(Anchors):
    """Finds strict dual variables near the central path, and mixes infeasible dual variables with them (`feasible`)."""

    @cached_property
    def shown(self) -> Shown:
        """Search for strict dual variables or a separating metric, only once."""
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
        """The strict dual variables with their matrix sum t alpha X, for mixing with others; None if not found."""
        return None if self.shown.strict is None else self.anchor(self.shown.strict)

    def feasible(self, own: Duals, others: list[Duals]) -> list[Duals]:
        """Return one or two feasible choices of dual variables; the last one is 0, which is always feasible.

        The first choice is `own`, if these are feasible. Otherwise, if strict dual variables are known, it is a mixture
        of `own` and strict ones, as close to `own` as possible. others: not used.
        """
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
        """Return True if the matrix sum t alpha X of `duals` is proved psd in rational arithmetic.

        Unlike a test in floats, this can also decide singular matrices, for example 0.
        """
        G = self.rows.weights(duals)
        return self.regularizer.exact_bound(rational.plane(self.regularizer.X), G) is not None


def of_pairs(loss: Logistic, rows: Labelled, Y: FloatArray) -> OfPairs:
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
    """Return a root (d, m) of a metric that separates the pairs, proved in exact arithmetic; None if not found.

    Tried are the metric to M to^T, for M (r, r) and `to` (d, r), and the same with the smallest eigenvalues of M set to
    0. X (n, d): points. rows: the pairs. t (p,): 1 for similar pairs, -1 for dissimilar pairs.
    """
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
    """True if the metric root root^T separates the pairs, in exact arithmetic. root (d, r).

    No similar pair is farther than a dissimilar pair, and not all pairs are equally far. X (n, d): points. rows: the
    pairs. t (p,): 1 for similar pairs, -1 for dissimilar pairs.
    """
    D = all_distances(whole(X)[0] * whole(root)[0])
    of_kind: dict[int, list[int]] = {1: [], -1: []}
    for (i, j), kind in zip(rows.listed.tolist(), t.tolist(), strict=True):
        of_kind[kind].append(D[i][j])
    near, far = of_kind[1], of_kind[-1]
    return max(near) <= min(far) and min(near) < max(far)


def states(family: Family, start: FloatArray | None) -> Iterator[Reached]:
    """Yield a metric (d, d) and its dual variables after every step of the path.

    family: the problem, with points and pairs. start: a psd matrix (d, d), if there is one.
    """
    ((loss, rows),) = family.terms
    assert isinstance(rows, Labelled)
    assert isinstance(loss, Logistic)
    at = coordinates(family.regularizer.X)
    f = of_pairs(loss, rows, at.Y)
    M = np.eye(at.Y.shape[1]) if start is None else inside_the_cone(at.inside(start), AWAY)
    for state in path(f, M, _size(f, M)):
        yield Reached(at.outside(state.M), rows.duals(f.duals(state.M)))


def search(task: Task) -> Found:
    return task.run(Along(states(task.family, task.near), task.named), "path", PATIENCE)
