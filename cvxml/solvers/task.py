"""What a solver of a member of the family is asked; a solver that is a series of metrics. Nothing is proved here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Iterate, Start, run
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.theorem import Family


class Task(NamedTuple):
    """A gap of `tol`, certified after every step."""

    family: Family
    prove: Callable[[Family, FloatArray, Dual], Certificate]
    named: Callable[..., Dual]  # of the prices of each term
    tol: float
    max_iter: int
    start: Start | None  # may be near the optimum
    callback: Callback
    read: Callable[[Dual], Sequence[Duals]]  # the prices of each term

    @property
    def near(self) -> FloatArray | None:
        """The metric (d, d) to start from."""
        return None if self.start is None else self.start.metric

    def proved(self, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of a metric and a dual."""
        return self.prove(self.family, M, dual)

    def run(self, at: Iterate, phase: str, patience: float = math.inf) -> Found:
        """See core/run.py."""
        return run(at, self.proved, self.tol, self.max_iter, self.callback, phase, patience)


class Along:
    """A series of metrics (d, d), each with its prices, as an `Iterate`."""

    def __init__(self, states: Iterator[tuple[FloatArray, Duals]], named: Callable[..., Dual]):
        self.states, self.named, self.at = states, named, next(states)

    def metric(self) -> FloatArray:
        """(d, d)"""
        return self.at[0]

    def dual(self) -> Dual:
        """The prices, by their names."""
        return self.named(self.at[1])

    def step(self) -> bool:
        """False where rounding leaves nothing to win."""
        after = next(self.states, None)
        self.at = self.at if after is None else after
        return after is not None


def inside_the_cone(M: FloatArray, away: float) -> FloatArray:
    """M (r, r) psd, and a little of the identity, so that it is no boundary point."""
    inner: FloatArray = M + away * max(float(np.trace(M)) / len(M), 1.0) * np.eye(len(M))
    return inner
