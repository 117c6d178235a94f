"""The input of a solver (`Task`), and the form in which an iterator of metrics is run as a solver (`Along`). No proofs.

The problems are members of one family: a regularizer plus losses of distances (family/theorem/theorem.py). A `Duals`
holds the dual variables of one loss, also called a term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Estimate, Found, Iterate, Start, run
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.theorem import Family


class Task(NamedTuple):
    """A problem that is to be solved to a relative gap of `tol`, and the functions that a solver needs for it.

    family: the regularizer and the losses. prove: computes the certificate of a metric (d, d) with a dual. named: makes
    the dual with the method's names from the `Duals` of each term.

    read: the inverse of `named`. start: a metric with its dual, if there is one. callback: is called with every step.
    """

    family: Family
    prove: Callable[[Family, FloatArray, Dual], Certificate]
    named: Callable[..., Dual]  # the `Duals` of each term -> the dual with the method's names
    tol: float
    max_iter: int
    start: Start | None  # a metric with its dual; it may be near the optimum
    callback: Callback
    read: Callable[[Dual], Sequence[Duals]]  # the inverse of `named`

    @property
    def near(self) -> FloatArray | None:
        """The metric (d, d) of the start; None without a start."""
        return None if self.start is None else self.start.metric

    def proved(self, M: FloatArray, dual: Dual) -> Certificate:
        return self.prove(self.family, M, dual)

    def run(self, at: Iterate, phase: str, patience: float = math.inf) -> Found:
        """Run the solver `at` until a certificate proves a relative gap of at most `tol`, or until it stops.

        phase: its name in the history. patience: the number of steps without a smaller gap after which it stops.
        """
        return run(at, self.proved, self.tol, self.max_iter, self.callback, phase, patience)


class Reached(NamedTuple):
    """One metric (d, d) of a series of metrics, with its dual variables.

    estimate: its objective, gap and scale by the solver's own arithmetic; None if they are not known.
    """

    metric: FloatArray
    duals: Duals
    estimate: Estimate | None = None


class Along:
    """A solver for `Task.run`, made from an iterator: each step takes the next metric of the series `states`.

    `states` must have at least one metric, which is the first iterate. named: makes the dual with the method's names
    from the `Duals` of a metric.
    """

    def __init__(self, states: Iterator[Reached], named: Callable[..., Dual]):
        self.states, self.named, self.at = states, named, next(states)

    def metric(self) -> FloatArray:
        return self.at.metric

    def dual(self) -> Dual:
        return self.named(self.at.duals)

    def estimate(self) -> Estimate | None:
        return self.at.estimate

    def step(self) -> bool:
        """Go to the next metric; False if the series has ended."""
        after = next(self.states, None)
        self.at = self.at if after is None else after
        return after is not None


def inside_the_cone(M: FloatArray, away: float) -> FloatArray:
    """A positive definite matrix near the psd M (r, r): M + away * max(1, mean eigenvalue of M) * I."""
    inner: FloatArray = M + away * max(float(np.trace(M)) / len(M), 1.0) * np.eye(len(M))
    return inner
