"""Prices of which no multiple is in the domain (log sum exp), made feasible by mixing them with strict ones.

Prices a0 with C - G(a0) definite are strict. a0 + t (a - a0) are in the domain for 0 <= t <= 1, and their C - G is
(1 - t) (C - G(a0)) + t (C - G(a)), which is definite for all t up to some largest.

Strict without a solver: the slopes of the loss at a multiple of the metric for which C is about 1, where one is. Of
some multiples the one with a large least eigenvalue is taken; that it is positive is proved.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import Loss
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.regularizers.base import Surplus
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, Plain, Rows
from cvxml.numbers.rounding import least_eigenvalue

# Multiples of the metric for which C is about 1 and the mean distance is 1. 16 is seldom much worse than the best.
MULTIPLES = (16.0, 64.0, 4.0, 256.0, 1.0, 1024.0, 0.25)
LARGE_EIGENVALUE = 0.1  # if C - G, with C near 1, has no smaller eigenvalue, no other multiple is tried


class Anchor(NamedTuple):
    """Strict prices."""

    duals: Duals
    surplus: Surplus


class TableRows(Rows, Protocol):
    """Rows of groups of one size."""

    def duals(self, table: FloatArray) -> Duals:
        """Of all rows, from a table (g, n) of g groups."""


class Anchors:
    """What other prices of a log sum exp may be mixed with, or replaced by.

    level: prices whose G is C, exactly, if there are any: C - G is 0, and no number is looked at.
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
        """Of any prices, repaired."""
        inside = self.rows.within_span(self.regularizer.labels, duals)
        repaired = inside._replace(a=self.loss.to_domain(inside.a))
        return Anchor(repaired, self.regularizer.surplus(self.rows.weights(repaired)))

    @cached_property
    def strict(self) -> Anchor | None:
        """That of the slopes; None where none was found."""
        assert isinstance(self.loss, LogSumExp)
        found, most, g = None, 0.0, self.regularizer.ground
        if g.undecided or g.rank == 0:
            return None
        # Where C is about 1 its trace is `rank`. It is the sum over pairs of the weights that the loss has too, so
        # their mean distance there is rank / sum c, and 1 in this multiple of the metric.
        near = float(np.sum(self.loss.c)) / g.rank
        for s in MULTIPLES:
            own = self.anchor(self.rows.duals(self._slopes(s * near)))
            least = least_eigenvalue(own.surplus.Z) - own.surplus.error
            if least > most:
                found, most = own, least
            if most > LARGE_EIGENVALUE:
                break
        return found

    def _slopes(self, s: float) -> FloatArray:
        """At s times the metric for which C is about 1."""
        assert isinstance(self.loss, LogSumExp)
        nothing = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))
        view = Plain(self.regularizer.ground.images.high * np.sqrt(s))
        return np.concatenate([self.loss.slopes(block) for block in self.rows.blocks(view, nothing)])

    def feasible(self, own: Duals, others: list[Duals]) -> list[Duals]:
        """Of prices of the domain: themselves, where they are feasible, else as near as the anchors allow."""
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
    """a0 + t (a - a0) for about the largest t that keeps it feasible; None where no t is found to do so."""
    t = share_of(anchor.surplus, own.surplus)
    return None if t is None else own.duals._replace(a=(1 - t) * anchor.duals.a + t * own.duals.a)


def share_of(anchor: Surplus, own: Surplus) -> float | None:
    """About the largest t for which a mixture of t of the second and 1 - t of the first is psd; None where none is."""
    (Z0, off0), (Z, error) = anchor, own
    if not anchor.psd:
        return None
    t = 1 - least_share(Z0 - 2 * off0 * np.eye(len(Z0)), Z - 2 * error * np.eye(len(Z)))
    for less in (1e-15, 1e-9, 1e-3):
        kept = t * (1 - less)
        both = (1 - kept) * Z0 + kept * Z
        size = float(np.linalg.norm(Z0) + np.linalg.norm(Z))
        moved = (1 - kept) * off0 + kept * error + 4 * EPS * size
        if least_eigenvalue(both) > moved * (1 + 1e-6):
            return kept
    return 0.0


def least_share(Z0: FloatArray, Z: FloatArray) -> float:
    """About the least s >= 0 for which s Z0 + (1 - s) Z is psd, Z0 being definite; 1 where that is not seen."""
    try:
        L = np.linalg.cholesky(Z0)
    except np.linalg.LinAlgError:
        return 1.0
    half = np.linalg.solve(L, Z)
    least = float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[0])
    return 0.0 if least >= 0 else -least / (1 - least)
