"""Minimise a smooth convex f over the psd cone, along the minimisers of f(M) - rho log det M with rho decreasing to 0.

`path` is the primal-dual interior-point method of several solvers, for example for LDML, MMC and BoostMetric. Each of
them gives its f as a `Smooth`.

Problem
    min f(M) over M (r, r) psd, f convex and twice differentiable. The central path consists of the minimisers of
    f(M) - rho log det M for all rho > 0. There the gradient of f is rho M^-1. So the gradient is positive definite,
    and the gap of M is <M, gradient> = rho r.
Coordinates
    At M = G G^T, a step dX leads to G (I + dX) G^T. The barrier is then -rho log det(I + dX) up to a constant. Its
    Hessian at dX = 0 is rho I, even if the eigenvalues of M become small. Let g and H be the gradient and the Hessian
    of f with respect to dX, Z (r, r) the dual variable of "M is psd", and S = G^T Z G. On the central path, the
    gradient of f is Z, and M Z = rho I. To first order these two equations are
        H dX + (S dX + dX S) / 2 = rho I - g,      dS = g + H dX - S.
    After every step G is rotated so that S is diagonal. Then the matrix of the first system is H plus a diagonal.
Algorithm
    rho follows Mehrotra's rule: a step with rho = 0 is computed first. If <M, Z> would fall to q <M, Z> in this step,
    the next rho is q^3 times the mean eigenvalue of S. If f is not quadratic, g differs from S after a step. Then rho
    is at least `AHEAD` times ||g - S|| / sqrt(r), but still at most the mean eigenvalue.
    A step goes at most `SHARE_TO_BOUNDARY` of the way to the boundary of the cone. It is halved until
    f(M) - rho log det M decreases. A short enough step decreases it, because the matrix of the first system is
    positive definite. The eigenvalues of S are kept within a factor `APART` of rho. So the eigenvalues of the
    matrix are at least rho / `APART`, and the decrease holds uniformly.
Source: S. Mehrotra, SIAM J. Optimization 2 (1992); C. Helmberg, F. Rendl, R. Vanderbei, H. Wolkowicz, SIAM J.
Optimization 6 (1996), for the direction; A. Waechter, L. Biegler, Mathematical Programming 106 (2006), for `APART`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cvxml.core.clock import look, watched
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.work import FACTORISING, doing
from cvxml.family.geometry.symmetric import smat, svec

SHRINK = 1e-4  # smallest factor of rho in one step
AHEAD = 0.1  # rho stays above this times ||S - gradient|| / sqrt(r)
APART = 1e4  # the eigenvalues of S are within this factor of rho
SHARE_TO_BOUNDARY = 0.99  # a step goes at most this fraction of the way to the boundary of the cone
SHARE_OF_SLOPE = 1e-4  # a step must decrease f - rho log det by this fraction of step * slope (Armijo)
HALVINGS = 40  # of a step in the line search


class Smooth(Protocol):
    """A convex function of a positive definite matrix (r, r)."""

    def value(self, M: FloatArray) -> float:
        """f(M); inf outside its domain."""

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient (r, r) and the Hessian (p, p) of the function dX -> f(G (I + dX) G^T) at dX = 0.

        The Hessian acts on svec(dX), the p = r (r + 1) / 2 entries of the upper triangle. Those off the diagonal are
        multiplied by sqrt 2.
        """


class State(NamedTuple):
    """The iterate after a step: M (r, r), the rho of the step, `value` = f(M), and the Newton decrement.

    decrement: minus the slope of f - rho log det along the step, divided by rho; inf for the start.
    """

    M: FloatArray  # (r, r), positive definite
    rho: float  # the rho of the step
    value: float  # f(M)
    decrement: float  # Newton decrement: minus the slope of f - rho log det along the step, divided by rho


class _Point(NamedTuple):
    """A point of the path: G with M = G G^T, f(M), and s (r,), the diagonal of S = G^T Z G."""

    G: FloatArray
    value: float
    s: FloatArray


class _Direction(NamedTuple):
    """A step (dX, dS), the rho that it aims at, and the slope of f - rho log det along it."""

    rho: float
    dX: FloatArray
    dS: FloatArray
    slope: float


def path(f: Smooth, M: FloatArray, rho: float, shrink: float = SHRINK) -> Iterator[State]:
    """Follow the path from a start: `M` (r, r), positive definite, and `rho` > 0. Yield every iterate with its rho.

    The first iterate is the start. Each comes with f(M) and the Newton decrement. shrink: the next rho is at least this
    times the mean eigenvalue of S. Ends if rounding prevents a further decrease, or if derivatives are not finite.
    Raises ValueError if the start is not positive definite or is outside the domain of f.
    """
    G, value = _root(M), f.value(M)
    if not math.isfinite(value):
        raise ValueError("the start is outside the domain of f")
    yield State(M, rho, value, math.inf)
    at = _Point(G, value, np.full(len(M), rho))
    while True:
        look()
        direction = _direction(f, at, shrink)
        step = 0.0 if direction is None else _search(f, at, direction)
        if direction is None or step == 0:
            return
        at = _moved(f, at, direction, step)
        yield State(at.G @ at.G.T, direction.rho, at.value, max(0.0, -direction.slope / direction.rho))


def _root(M: FloatArray) -> FloatArray:
    try:
        return np.linalg.cholesky(M).astype(np.float64)
    except np.linalg.LinAlgError:
        raise ValueError("the start must be positive definite") from None


def _direction(f: Smooth, at: _Point, shrink: float) -> _Direction | None:
    """The next step and its rho, or None if the equations have no solution in double precision.

    shrink: the next rho is at least this times the mean eigenvalue of S.
    """
    r = len(at.s)
    g, H = f.derivatives(at.G)
    if not (np.isfinite(g).all() and np.isfinite(H).all()):
        return None
    rows, columns = np.triu_indices(r)
    left = H.copy()
    left[np.diag_indices_from(left)] += (at.s[rows] + at.s[columns]) / 2
    try:
        with doing(FACTORISING):
            factor = cho_factor(left, lower=True, overwrite_a=True)
    except LinAlgError:
        return None
    one, S = np.eye(r), np.diag(at.s)
    to_zero, to_one = cho_solve(factor, -svec(g)), cho_solve(factor, svec(one))

    def towards(rho: float) -> tuple[FloatArray, FloatArray]:
        dX = to_zero + rho * to_one
        return smat(dX, r), g + smat(H @ dX, r) - S

    dX, dS = towards(0.0)
    X_left = one + min(1.0, _to_boundary(np.ones(r), dX)) * dX
    S_left = S + min(1.0, _to_boundary(at.s, dS)) * dS
    share = float(np.sum(X_left * S_left) / at.s.sum())
    residual = float(np.linalg.norm(g - S)) / math.sqrt(r)
    mu = float(at.s.mean())
    rho = min(mu, max(mu * max(shrink, share**3), AHEAD * residual))
    if not (math.isfinite(rho) and rho > 0):
        return None
    dX, dS = towards(rho)
    return _Direction(rho, dX, dS, float(np.sum((g - rho * one) * dX)))


def _to_boundary(s: FloatArray, dS: FloatArray) -> float:
    """The smallest step >= 0 at which diag(s) + step dS is singular; inf if there is no such step."""
    least = float(np.linalg.eigvalsh(dS / np.sqrt(np.outer(s, s)))[0])
    return -1 / least if least < 0 else math.inf


def _search(f: Smooth, at: _Point, direction: _Direction) -> float:
    """A step length that decreases f - rho log det, up to rounding; 0 if the search finds no such length."""
    eigenvalues = np.linalg.eigvalsh(direction.dX)
    step = min(1.0, SHARE_TO_BOUNDARY * _to_boundary(np.ones(len(eigenvalues)), direction.dX))
    noise = 64 * EPS * max(1.0, abs(at.value))
    for _ in watched(range(HALVINGS)):
        G = _ahead(at, direction, step)
        change = f.value(G @ G.T) - at.value - direction.rho * float(np.log1p(step * eigenvalues).sum())
        if change <= SHARE_OF_SLOPE * step * direction.slope + noise:
            return step
        step /= 2
    return 0.0


def _ahead(at: _Point, direction: _Direction, step: float) -> FloatArray:
    """The new G (r, r), with G G^T equal to M after a step of length `step`."""
    G: FloatArray = at.G @ _root(np.eye(len(at.s)) + step * direction.dX)
    return G


def _moved(f: Smooth, at: _Point, direction: _Direction, step: float) -> _Point:
    """The point after a step of length `step` for M.

    The step of Z is as long as `SHARE_TO_BOUNDARY` allows, and at most 1. G is rotated so that S is diagonal.
    """
    S = np.diag(at.s) + min(1.0, SHARE_TO_BOUNDARY * _to_boundary(at.s, direction.dS)) * direction.dS
    L = _root(np.eye(len(at.s)) + step * direction.dX)
    s, turn = np.linalg.eigh(L.T @ S @ L)
    G = at.G @ L @ turn
    return _Point(G, f.value(G @ G.T), np.clip(s, direction.rho / APART, direction.rho * APART))
