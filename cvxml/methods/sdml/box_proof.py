"""Proofs about the domain of SDML's dual: the U (d, d) in the box for which S + U is positive definite.

The box is the set of U with U_ii = 0 and |U_ij| <= lam. S (d, d) is a rational matrix of flint, and `floats` is S
rounded to floats. If the domain is empty, this is proved by a psd D with tr S D + lam ||D||_off <= 0, where ||D||_off
is the sum of |D_ij| over i != j. A matrix D of integers and an exponent `at` stand for D 2^at. Balls are numbers with a
proved error bound (core/balls.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cvxml.core.balls import TooFewBits, ball, balls, pivots, precision, total
from cvxml.core.exact import flint
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import FloatArray
from cvxml.family.regularizers.base import best
from cvxml.methods.sdml.logdet_box import Solver

ROUNDED = (0, 8, 26)  # bits to which a direction is rounded, in case the true direction is that simple


def log_determinant(S: Any, U: FloatArray) -> Any:
    """log det(S + U) as a ball. Raises TooFewBits if S + U is not proved positive definite; more bits may prove it."""
    found = _pivots(S, U)
    if found is None:
        raise TooFewBits("S + U is nearly singular")
    return total([pivot.log() for pivot in found])


def _pivots(S: Any, U: FloatArray) -> list[Any] | None:
    """The pivots (d,) of S + U as balls at the current precision; None if one of them is not proved positive."""
    return pivots(balls(S) + balls(*whole(U)))


def serves(S: Any, floats: FloatArray, lam: float, U: FloatArray) -> bool:
    """True if U (d, d) can be a start: S + U is proved positive definite, and the solver of logdet_box.py accepts U."""
    try:
        Solver(floats, lam, U)
    except np.linalg.LinAlgError:
        return False
    with precision():
        return _pivots(S, U) is not None


def to_domain(S: Any, floats: FloatArray, lam: float, start: FloatArray, U: FloatArray) -> FloatArray:
    """U (d, d) moved into the domain.

    U is clipped into the box, and replaced by its symmetric part. If S + U is then not proved positive definite, U is
    mixed with `start`, a U of the domain. If no mixture is proved to be in the domain, the result is `start`.
    """
    U = np.clip(U, -lam, lam)
    # The halves of subnormal numbers are rounded, so their sum may exceed lam. It is clipped again.
    U = np.where(np.eye(len(U)) > 0, 0.0, np.clip(U / 2 + U.T / 2, -lam, lam))
    with precision():
        if _pivots(S, U) is not None:
            return U
        W = np.linalg.inv(np.linalg.cholesky(floats + start))
        w = np.linalg.eigvalsh(W @ (U - start) @ W.T)
        longest = min(1.0, -1 / w[0]) if w[0] < 0 else 1.0
        t = best(lambda t: float(np.sum(np.log(np.maximum(1 + t * w, 1e-300)))), longest)
        for _ in range(3):
            mixed = np.clip(start + t * (U - start), -lam, lam)
            if _pivots(S, mixed) is not None:
                return mixed
            t /= 2
    return start


def directions(D: FloatArray) -> Iterator[tuple[Any, int]]:
    """Yield D (d, d), then matrices v v^T of rank 1, each as integers and an exponent.

    v is the eigenvector of the largest eigenvalue of D, rounded to 0, 8 and 26 bits. Each of these matrices may prove
    that the domain is empty (`descent`).
    """
    yield whole(D / 2 + D.T / 2)
    v = np.linalg.eigh(D)[1][:, -1:]
    for bits in ROUNDED:
        near, at = whole(np.round(np.ldexp(v / v[np.abs(v).argmax()], bits)))
        yield near * near.transpose(), 2 * at


def descent(S: Any, lam: float, D: Any, at: int) -> float | None:
    """tr S D + lam ||D||_off for D 2^at, if it is at most 0, and D is proved to be psd and not 0; else None.

    A value that is not None proves that the domain is empty: S + U is not positive definite for any U in the box.
    """
    with precision():
        of_rank_1 = D.rank() == 1 and balls(D).trace() > 0
        if not of_rank_1 and pivots(balls(D)) is None:
            return None
    # S and D are symmetric, so tr S D is the sum of the products of their entries.
    spent = sum((s * v for s, v in zip(S.entries(), D.entries(), strict=True)), start=flint().fmpq(0))
    falls = spent + flint().fmpq(*lam.as_integer_ratio()) * off_diagonal(D)
    return float(ball(falls, at)) if falls <= 0 else None


def off_diagonal(D: Any) -> Any:
    """||D||_off, the sum of |D_ij| over i != j, for a matrix of integers."""
    d = D.nrows()
    return sum((abs(D[i, j]) for i in range(d) for j in range(d) if i != j), start=flint().fmpz(0))
