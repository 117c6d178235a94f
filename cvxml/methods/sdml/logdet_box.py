"""The solver of SDML's dual: maximize log det over a box of symmetric matrices with a fixed diagonal.

    max log det W,    W = S + U,    U_ii = 0,    |U_ij| <= w_ij.

The U with these two properties are the box. The solver takes projected Newton steps from U to U + D. The gradient is
M = W^-1, which is also the metric. An entry of U at a bound stays there if the gradient points out of the box. On the
other entries, conjugate gradients solve the Newton system (M D M)_ij = M_ij, and U + D is clipped into the box.

If S is not positive definite, a start is sought on the path S + t I with decreasing t (`decided`). Results here are
proposals; box_proof.py proves them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray

BELOW_ROUNDING = 1e-7  # an increase predicted to be smaller than this may be lost in the rounding of log det
HALVINGS = 40
DECREASE = 1e-4  # smallest increase of log det, relative to the predicted increase
ITERATIONS = 20  # largest number of iterations of conjugate gradients, per feature
GAP_TO_LOWER_T = 0.1  # t is lowered once the gap is below this
WIDE = 1e9  # caps a width w_ij, in units of 1 + |S_ij|; no positive definite S + U reaches it
MIN_T = 1e-13  # smallest t; with a diagonal of 1, a smaller t has no effect in floats


class Box(NamedTuple):
    """The matrix S (d, d) and the widths w (d, d), which are 0 on the diagonal: U is in the box if |U_ij| <= w_ij."""

    S: FloatArray
    w: FloatArray


class Point:
    """A point U (d, d) of a box, with W = S + U and M = W^-1. Raises LinAlgError if W is not positive definite."""

    def __init__(self, box: Box, U: FloatArray):
        self.box, self.U, self.W = box, U, box.S + U
        self.L = np.linalg.cholesky(self.W)
        inverse = np.linalg.inv(self.L)
        self.M: FloatArray = inverse.T @ inverse
        self.log_det = 2 * float(np.sum(np.log(self.L.diagonal())))
        # The gap tr S M + sum w |M_ij| - d, as a sum of nonnegative terms.
        self.gap = float(np.sum(np.abs(self.M) * (box.w - np.sign(self.M) * U)))

    def at_bound(self) -> Any:
        """A table (d, d), True where U_ij is at a bound and the gradient M_ij does not point into the box.

        The diagonal is True. At the optimum, M_ij = 0 where the table is False.
        """
        return (np.abs(self.U) >= self.box.w) & (self.M * self.U >= 0)

    def newton(self) -> Point:
        """The point after one Newton step with a line search; self if no step length is accepted.

        A step is accepted if log det W grows by a share of its predicted growth. If the predicted growth is so small
        that rounding hides it, a step that halves the gap is accepted too.
        """
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
        """M (d, d) with 0 in the entries that are not `at_bound`, or M itself if that has the smaller gap."""
        M = np.where(self.at_bound(), self.M, 0.0)
        x = np.linalg.eigvalsh(self.L.T @ M @ self.L)  # the eigenvalues of W M
        if not x[0] > 0:
            return self.M
        left = float(np.sum(x - 1 - np.log(x))) + float(
            np.sum(np.abs(M) * (self.box.w - np.sign(M) * self.U))
        )
        return M if left <= self.gap else self.M


def _newton_direction(M: FloatArray, free: Any) -> FloatArray:
    """The Newton direction D (d, d): approximately (M D M)_ij = M_ij where `free`, and D_ij = 0 elsewhere.

    free (d, d): True for the entries that may change. The method is conjugate gradients.
    """
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
    """The running solver for S (d, d) with a positive diagonal, and U in the box |U_ij| <= lam, U_ii = 0.

    It starts from U (d, d), and raises LinAlgError if S + U is not positive definite. It works in units in which the
    diagonal of S is 1.
    """

    def __init__(self, S: FloatArray, lam: float, U: FloatArray):
        self.lam, self.unit = lam, units(S)
        self.at = Point(in_units(S, lam), U / self.unit)

    def metric(self) -> FloatArray:
        return self.at.sparse() / self.unit

    def dual(self) -> dict[str, FloatArray]:
        """The present dual variables "U" (d, d), exactly lam or -lam at a bound."""
        U, w = self.at.U, self.at.box.w
        return {"U": np.where(np.abs(U) >= w, np.sign(U) * self.lam, U * self.unit)}

    def step(self) -> bool:
        before, self.at = self.at, self.at.newton()
        return self.at is not before


def units(S: FloatArray) -> FloatArray:
    """The units sqrt(S_ii S_jj) of the entries (i, j) of S, as a matrix (d, d)."""
    root = np.sqrt(S.diagonal())
    return np.outer(root, root)


def in_units(S: FloatArray, lam: float) -> Box:
    """The box for S and lam divided by `units(S)`, so that the diagonal of S becomes 1.

    Widths are at most `WIDE` times 1 + |S_ij|, which no positive definite S + U reaches.
    """
    own = units(S)
    with np.errstate(over="ignore"):
        w = np.minimum(lam / own, WIDE * (1 + np.abs(S / own)))
    return Box(S / own, np.where(np.eye(len(S)) > 0, 0.0, w))


class Decided(NamedTuple):
    """Whether some S + U is positive definite, as far as floats decide it.

    If U (d, d) is not None, S + U is positive definite. If U is None, D (d, d) is close to a psd matrix with
    tr S D + lam ||D||_off <= 0. Such a matrix proves that no U exists. ||D||_off is the sum of |D_ij| over i != j.
    """

    U: FloatArray | None
    D: FloatArray


def decided(S: FloatArray, lam: float) -> Decided:
    """Decide in floats if some S + U is positive definite, for S (d, d) with a positive diagonal and U in the box.

    Let U maximize log det(S + t I + U), and let M be the inverse of this matrix. ||M||_off is the sum of |M_ij| over i
    != j. Then tr S M + lam ||M||_off = d - t tr M. As t decreases, there are two cases. S + U may become positive
    definite. Or t has a limit t* > 0 at which tr M grows without bound. Then the right side becomes negative, and D = M
    proves that no S + U is positive definite. In the boundary case t* = 0, M is only close to such a D.
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
