"""L-BFGS on A, first in single precision where there are many points, then Newton steps by conjugate gradients.

Nothing here is believed: what comes out is certified by certify.py or said to be uncertified.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray
from cvxml.methods.nca.fast import Held, Pairs

MANY = 500  # points from which single precision comes first
MEMORY = 20  # of L-BFGS
NEWTON_STEPS = 12
CG_STEPS = 200
LARGEST = 1e8  # of |A| in coordinates of unit covariance: beyond it no distance means anything


@dataclass(eq=False)
class Point:
    """A metric A (m, r), its objective and gradient."""

    A: FloatArray
    value: float
    gradient: FloatArray

    @property
    def change(self) -> float:
        """max(|A|, 1) |dF/dA|: to first order, the change of the objective for a relative change of A."""
        return max(float(np.linalg.norm(self.A)), 1.0) * float(np.linalg.norm(self.gradient))


class Descent:
    """Descent of -f, -g or a step, from A; `at` is the best point so far, whatever happens."""

    def __init__(
        self,
        pairs: Pairs,
        A: FloatArray,
        enough: Callable[[Point], bool],
        held: Held | None = None,
        report: Callable[[Point, str], None] | None = None,
    ):
        self.pairs, self.held, self.enough, self.report = pairs, held, enough, report
        # Only the objective may be computed roughly at first; a step is solved for its dual, which must be exact.
        self.rough = held is None and len(pairs.X) >= MANY
        self.at = self._evaluate(A, self.rough)
        self.iterations = 0

    def _evaluate(self, A: FloatArray, rough: bool = False) -> Point:
        if not np.linalg.norm(A) <= LARGEST:
            return Point(A, math.inf, np.zeros_like(A))
        return Point(A, *self.pairs.value_and_gradient(A, self.held, rough))

    def run(self, max_iter: int) -> bool:
        """True once `enough` says so; False where it never does, or `max_iter` iterations are over."""
        if self.rough:
            self.rough = False
            self._lbfgs(max_iter, True)
        for _ in range(3):  # a restart forgets curvature that has become wrong
            before = self.at.value
            if self._stopped(max_iter) or self._lbfgs(max_iter, False) or self._newton(max_iter):
                break
            if self.at.value >= before - 1e-12 * abs(before):
                break
        return self.enough(self.at)

    def move_to(self, A: FloatArray) -> bool:
        """Go on from A, if it is better."""
        new = self._evaluate(A)
        if not new.value < self.at.value:
            return False
        self.at = new
        return True

    def _stopped(self, max_iter: int) -> bool:
        return self.iterations >= max_iter or self.enough(self.at)

    def _lbfgs(self, max_iter: int, rough: bool) -> bool:
        """L-BFGS from here until enough, or no progress; in single precision, until it is no more than that."""
        shape = self.at.A.shape
        last = [self.at]

        def evaluate(a: FloatArray) -> tuple[float, FloatArray]:
            last[0] = self._evaluate(a.reshape(shape).copy(), rough)
            if not math.isfinite(last[0].value):
                raise _TooFar
            return last[0].value, last[0].gradient.ravel()

        def moved(intermediate_result: OptimizeResult) -> None:
            self.iterations += 1
            A = intermediate_result.x.reshape(shape)
            point = last[0] if np.array_equal(A, last[0].A) else self._evaluate(A.copy(), rough)
            self.at = point
            if self.report is not None:
                self.report(point, "rough" if rough else "L-BFGS")
            if self._stopped(max_iter):
                raise StopIteration

        options: dict[str, float] = {"maxiter": max_iter, "maxfun": 10**9, "maxcor": MEMORY, "maxls": 30}
        options |= {"gtol": 0.0, "ftol": 1e-7 if rough else 0.0}
        try:
            minimize(
                evaluate, self.at.A.ravel(), jac=True, method="L-BFGS-B", callback=moved, options=options
            )
        except _TooFar:
            return True
        finally:
            if rough:
                self.at = self._evaluate(self.at.A)
        return self._stopped(max_iter)

    def _newton(self, max_iter: int) -> bool:
        """Newton steps while each makes the gradient smaller; no line search, whose values would be rounding."""
        for _ in watched(range(NEWTON_STEPS)):
            at = self.at
            size = at.A.size

            def product(b: FloatArray, at: Point = at) -> FloatArray:
                return self.pairs.hessian_product(at.A, b.reshape(at.A.shape), self.held).ravel()

            H = LinearOperator((size, size), matvec=product, dtype=np.float64)
            # along a direction without curvature the step is no number, and is not taken below
            with np.errstate(divide="ignore", invalid="ignore"):
                move, _ = cg(H, -at.gradient.ravel(), rtol=1e-3, maxiter=CG_STEPS)
            new = self._evaluate(at.A + move.reshape(at.A.shape))
            slip = 1e-12 * (1 + abs(at.value))
            if not (new.value <= at.value + slip and new.change < 0.5 * at.change):
                return False
            self.at = new
            self.iterations += 1
            if self.report is not None:
                self.report(new, "newton")
            if self._stopped(max_iter):
                return True
        return False


class _TooFar(Exception):
    """The iterate left for infinity."""
