"""How max log det W is found over a box of symmetric matrices whose diagonal is fixed: SDML's dual.

    max log det W,    W = S + U,    U_ii = 0,    |U_ij| <= w_ij.

Projected Newton steps: with M = W^-1, which is the gradient, an entry at a bound that M_ij presses against stays; on
the others the Newton system (M D M)_ij = M_ij is solved by conjugate gradients, and W + D is clipped into the box.

Where S is not positive definite a start is sought along S + t I, for t that falls (`decided`). Nothing is proved here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray

BELOW_ROUNDING = 1e-7  # what a step wins is not seen in log det if it promises no more
HALVINGS = 40
DECREASE = 1e-4  # of what a step promises
ITERATIONS = 20  # of conjugate gradients, times d
GAP_TO_LOWER_T = 0.1  # t is lowered once the gap is below this
WIDE = 1e9  # a width that no U of a positive definite S + U has
MIN_T = 1e-13  # beside a diagonal of 1, a smaller t has no effect


class Box(NamedTuple):
    """S (d, d), and w (d, d), which is 0 on the diagonal."""

    S: FloatArray
    w: FloatArray


class Point:
    """U (d, d) of a box with S + U positive definite. Raises LinAlgError where that is not."""

    def __init__(self, box: Box, U: FloatArray):
        self.box, self.U, self.W = box, U, box.S + U
        self.L = np.linalg.cholesky(self.W)
        inverse = np.linalg.inv(self.L)
        self.M: FloatArray = inverse.T @ inverse
        self.log_det = 2 * float(np.sum(np.log(self.L.diagonal())))
        # tr S M + sum w |M_ij| - d, as a sum of terms that are not negative
        self.gap = float(np.sum(np.abs(self.M) * (box.w - np.sign(self.M) * U)))

    def at_bound(self) -> Any:
        """Where M_ij presses against a bound, as at the optimum it does unless it is 0."""
        return (np.abs(self.U) >= self.box.w) & (self.M * self.U >= 0)

    def newton(self) -> Point:
        """Where a step leads that wins something; here where none does."""
        w, M = self.box.w, self.M
        free = ~self.at_bound()
        D = _newton_direction(M, free)
        for k in watched(range(HALVINGS)):
            U = np.clip(self.U + 0.5**k * D, -w, w)
            try:
                there = Point(self.box, U)
            except np.linalg.LinAlgError:
                continue
            promised = float(np.sum(M * (U - self.U)))
            won = there.log_det - self.log_det
            if won > DECREASE * promised > 0 or (promised < BELOW_ROUNDING and there.gap < self.gap / 2):
                return there
        return self

    def sparse(self) -> FloatArray:
        """M (d, d), 0 where it presses against no bound, unless M as it is has a smaller gap."""
        M = np.where(self.at_bound(), self.M, 0.0)
        x = np.linalg.eigvalsh(self.L.T @ M @ self.L)  # of W M
        if not x[0] > 0:
            return self.M
        left = float(np.sum(x - 1 - np.log(x))) + float(
            np.sum(np.abs(M) * (self.box.w - np.sign(M) * self.U))
        )
        return M if left <= self.gap else self.M


def _newton_direction(M: FloatArray, free: Any) -> FloatArray:
    """D (d, d), 0 but where it is free, and M D M next to M there: conjugate gradients."""
    scale = np.outer(M.diagonal(), M.diagonal()) + M**2
    D, left = np.zeros_like(M), np.where(free, M, 0.0)
    z = left / scale
    p, rest = z, float(np.sum(left * z))
    enough = min(1e-2, rest) * rest  # so that steps converge quadratically
    for _ in watched(range(ITERATIONS * len(M))):
        if rest <= enough:
            break
        image = np.where(free, M @ p @ M, 0.0)
        share = rest / float(np.sum(p * image))
        D, left = D + share * p, left - share * image
        z = left / scale
        before, rest = rest, float(np.sum(left * z))
        p = z + rest / before * p
    return D


class Solver:
    """Under way, for S (d, d) with a positive diagonal and |U_ij| <= lam, from a U with S + U positive definite.

    In units of the diagonal of S it is the same problem.
    """

    def __init__(self, S: FloatArray, lam: float, U: FloatArray):
        self.lam, self.unit = lam, units(S)
        self.at = Point(in_units(S, lam), U / self.unit)

    def metric(self) -> FloatArray:
        """M (d, d)"""
        return self.at.sparse() / self.unit

    def dual(self) -> dict[str, FloatArray]:
        """U (d, d)"""
        U, w = self.at.U, self.at.box.w
        return {"U": np.where(np.abs(U) >= w, np.sign(U) * self.lam, U * self.unit)}

    def step(self) -> bool:
        """A Newton step; False where none wins anything."""
        before, self.at = self.at, self.at.newton()
        return self.at is not before


def units(S: FloatArray) -> FloatArray:
    """(d, d), of which S is a multiple on the diagonal."""
    root = np.sqrt(S.diagonal())
    return np.outer(root, root)


def in_units(S: FloatArray, lam: float) -> Box:
    """S / units: the diagonal is 1."""
    own = units(S)
    with np.errstate(over="ignore"):
        w = np.minimum(lam / own, WIDE * (1 + np.abs(S / own)))
    return Box(S / own, np.where(np.eye(len(S)) > 0, 0.0, w))


class Decided(NamedTuple):
    """A U (d, d) with S + U positive definite; else a psd D with tr S D + lam sum |D_ij| < 0, or what is near one."""

    U: FloatArray | None
    D: FloatArray


def decided(S: FloatArray, lam: float) -> Decided:
    """What there is, as floats propose, for S (d, d) with a positive diagonal.

    At the maximum of log det (S + t I + U), M the inverse, tr S M + lam sum |M_ij| = d - t tr M. As t falls to where no
    matrix is definite, tr M grows without end; where that is below 0, t reaches 0 first.
    """
    unit, (own, w) = units(S), in_units(S, lam)
    one = np.eye(len(S))
    t = max(0.0, -float(np.linalg.eigvalsh(own)[0])) + 1.0
    at = Point(Box(own + t * one, w), np.zeros_like(S))
    while t > MIN_T:
        look()
        while at.gap > GAP_TO_LOWER_T:
            look()
            before, at = at, at.newton()
            if at is before:
                break
        least = float(np.linalg.eigvalsh(at.W)[0])
        if least > t + MIN_T:
            return Decided(np.clip(at.U * unit, -lam, lam), at.M / unit)
        if float(np.sum(own * at.M) + np.sum(w * np.abs(at.M))) < 0:
            break
        t -= least / 2
        at = Point(Box(own + t * one, w), at.U)
    return Decided(None, at.M / unit)
