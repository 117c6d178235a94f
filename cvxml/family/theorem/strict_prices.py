"""Make dual variables feasible by mixing them with strict ones, if the domain contains no multiples (log sum exp).

The regularizer is <C, M>. Let G(a) = sum_t a_t V_t (theorem.py). Dual variables a are feasible if C - G(a) is psd, and
strict if it is positive definite. Let a0 be strict. For 0 <= t <= 1, a0 + t (a - a0) is in the domain. Its matrix C - G
is (1 - t) (C - G(a0)) + t (C - G(a)). This matrix is positive definite up to some largest t.

Strict dual variables are found without a solver, if possible. Let the columns of T be coordinates in which C is close
to the identity. At a multiple of the metric T T^T, the loss has the slopes p = -grad phi, which are dual variables in
its domain. Several multiples are tried. The dual variables for which the smallest eigenvalue of C - G is largest are
taken, and this eigenvalue is proved to be positive.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import Loss
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.regularizers.base import Surplus
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, Plain, Rows
from cvxml.numbers.rounding import least_eigenvalue

# Multiples of the metric with a mean distance of 1. 16 is tried first, because it is seldom much worse than the best.
MULTIPLES = (16.0, 64.0, 4.0, 256.0, 1.0, 1024.0, 0.25)
LARGE_EIGENVALUE = 0.1  # no other multiple is tried if all eigenvalues of C - G are above this


class Anchor(NamedTuple):
    """Dual variables a in the domain of the loss, and their matrix C - G(a), called surplus.

    They are strict if this matrix is positive definite.
    """

    duals: Duals
    surplus: Surplus


class WithSurplus(Protocol):
    """Dual variables a with their matrix C - G(a), called surplus."""

    @property
    def surplus(self) -> Surplus: ...


Strict = TypeVar("Strict", bound=WithSurplus)


def strictest(duals_at: Callable[[float], Strict]) -> Strict | None:
    """Call `duals_at` with factors s from `MULTIPLES`, and return the strictest result.

    duals_at: maps s to dual variables with their C - G. They are the slopes of the loss at a multiple of T T^T, chosen
    so that the mean squared distance of the pairs in C is about s. A result is better if the smallest eigenvalue of its
    C - G is larger. If this eigenvalue is above `LARGE_EIGENVALUE`, no further s is tried. Returns None if no result is
    strict.
    """
    best, most = None, 0.0
    for s in MULTIPLES:
        own = duals_at(s)
        least = least_eigenvalue(own.surplus.Z) - own.surplus.error
        if least > most:
            best, most = own, least
        if most > LARGE_EIGENVALUE:
            break
    return best


class TableRows(Rows, Protocol):
    """Rows in g groups of n rows each."""

    def duals(self, table: FloatArray) -> Duals:
        """The dual variables of all rows, from a table (g, n)."""


class Anchors:
    """The dual variables that others are mixed with to become feasible, for <C, M> plus one log sum exp loss.

    regularizer: <C, M>. loss: the log sum exp. rows: the rows t of the loss, with their matrices V_t.

    level: dual variables a with G(a) = C exactly, if known. For them C - G is 0, so they are feasible without a
    numerical test.
    """

    def __init__(
        self,
        regularizer: Linear,
        loss: Loss,
        rows: TableRows,
        level: Duals | None = None,
    ):
        self.regularizer, self.loss, self.rows, self.level = regularizer, loss, rows, level

    def anchor(self, duals: Duals) -> Anchor:
        inside = self.rows.within_span(self.regularizer.labels, duals)
        repaired = inside._replace(a=self.loss.to_domain(inside.a))
        return Anchor(repaired, self.regularizer.surplus(self.rows.weights(repaired)))

    @cached_property
    def strict(self) -> Anchor | None:
        """The strictest slopes of the loss at several multiples of the metric T T^T, with their C - G.

        None if the slopes at no multiple are strict.
        """
        assert isinstance(self.loss, LogSumExp)
        g = self.regularizer.ground
        if g.undecided or g.rank == 0:
            return None
        # If C is close to the identity, its trace is about `rank`. C and the loss have the same weights on the pairs,
        # so the mean distance is rank / sum c. Multiplied by `near`, it is 1.
        near = float(np.sum(self.loss.c)) / g.rank
        return strictest(lambda s: self.anchor(self.rows.duals(self._slopes(s * near))))

    def _slopes(self, s: float) -> FloatArray:
        """The slopes p (g, n) of the loss at s times the metric T T^T of the module docstring."""
        assert isinstance(self.loss, LogSumExp)
        nothing = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))
        view = Plain(self.regularizer.ground.images.high * np.sqrt(s))
        return np.concatenate([self.loss.slopes(block) for block in self.rows.blocks(view, nothing)])

    def feasible(self, own: Duals, others: list[Duals]) -> list[Duals]:
        """A list of feasible dual variables near `own`: `own` itself if it is feasible, else mixtures.

        own: dual variables in the domain. others: further dual variables. There is a mixture of `own` with each of
        `others` that has a positive definite C - G, and one with the attribute `strict`, if that is not None. The list
        ends with `level`, if there is one.
        """
        surplus = self.regularizer.surplus(self.rows.weights(own))
        level = [] if self.level is None else [self.level]
        if surplus.psd:
            return [own, *level]
        anchors = [self.anchor(duals) for duals in others]
        anchors += [] if self.strict is None else [self.strict]
        mixed = [_mixed(anchor, Anchor(own, surplus)) for anchor in anchors]
        return [self._repaired(duals) for duals in mixed if duals is not None] + level

    def _repaired(self, duals: Duals) -> Duals:
        return duals._replace(a=self.loss.to_domain(np.where(duals.a > 0, duals.a, -np.inf)))


def _mixed(anchor: Anchor, own: Anchor) -> Duals | None:
    """The dual variables a0 + t (a - a0) with nearly the largest feasible t.

    anchor: a0. own: a. Returns None if the anchor is not strict.
    """
    t = share_of(anchor.surplus, own.surplus)
    return None if t is None else own.duals._replace(a=(1 - t) * anchor.duals.a + t * own.duals.a)


def share_of(anchor: Surplus, own: Surplus) -> float | None:
    """Nearly the largest t in [0, 1] for which (1 - t) Z0 + t Z is proved psd.

    Z0 is the matrix C - G of `anchor`, and Z that of `own`. Returns 0 if the search finds no t > 0, and None if Z0 is
    not proved positive definite.
    """
    (Z0, error0), (Z, error) = anchor, own
    if not anchor.psd:
        return None
    t = 1 - least_share(Z0 - 2 * error0 * np.eye(len(Z0)), Z - 2 * error * np.eye(len(Z)))
    for less in (1e-15, 1e-9, 1e-3):
        kept = t * (1 - less)
        both = (1 - kept) * Z0 + kept * Z
        size = float(np.linalg.norm(Z0) + np.linalg.norm(Z))
        moved = (1 - kept) * error0 + kept * error + 4 * EPS * size
        if least_eigenvalue(both) > moved * (1 + 1e-6):
            return kept
    return 0.0


def least_share(Z0: FloatArray, Z: FloatArray) -> float:
    """Nearly the smallest s in [0, 1] with s Z0 + (1 - s) Z psd, where Z0 is positive definite.

    Returns 1 if Cholesky's method fails on Z0.
    """
    try:
        L = np.linalg.cholesky(Z0)
    except np.linalg.LinAlgError:
        return 1.0
    half = np.linalg.solve(L, Z)
    least = float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[0])
    return 0.0 if least >= 0 else -least / (1 - least)
