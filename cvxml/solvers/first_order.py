"""Accelerated projected gradient with restarts, for the duals of several methods.

The problem is  min_v  phi(image(v)) - <c, v>  over a set with an easy projection, phi smooth. The image is affine in v
and small (a d x d matrix), so it is extrapolated instead of recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray


class Descent(Protocol):
    """The gradient at one point, ready for a step."""

    def step(self, step: float) -> FloatArray:
        """The projection of v - step * steps * gradient(v) on the feasible set, with the `steps` of `Dual`."""

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """An upper bound of twice the second-order term of phi on the way to a point with this image.

        A bound of at most `enough` need not be tight.
        """


class Dual(Protocol):
    """The operations of a problem that `accelerated` needs. Arrays v have any fixed shape."""

    steps: FloatArray  # broadcast against v: the relative step of each block (a preconditioner)

    def image(self, v: FloatArray) -> FloatArray:
        """The image of v, affine in v."""

    def descent(self, v: FloatArray, image: FloatArray) -> Descent:
        """The gradient at v, ready for a step. image: the image of v."""


@dataclass(eq=False)
class State:
    """One iteration: the feasible iterate, its image, and the step size."""

    v: FloatArray
    image: FloatArray
    step: float


def accelerated(problem: Dual, v: FloatArray, step: float) -> Iterator[State]:
    """Yield the iterates of accelerated projected gradient with backtracking and gradient restart.

    step: a first guess. It is reduced until the majorisation holds along the step taken, and grows by 5 % at each
    iteration. Momentum is dropped when it points uphill (O'Donoghue and Candes, 2015).
    """
    image = problem.image(v)
    ahead, ahead_image, t = v, image, 1.0
    while True:
        step *= 1.05
        descent = problem.descent(ahead, ahead_image)
        while True:
            look()
            new = descent.step(step)
            new_image = problem.image(new)
            move = (new - ahead) / problem.steps
            distance = float(np.sum(move * (new - ahead)))
            if step * descent.curvature(new_image, distance / step) <= distance:
                break
            step /= 1.5
        if float(np.sum(move * (new - v))) < 0:
            t = 1.0
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        momentum = (t - 1) / t_next
        ahead = new + momentum * (new - v)
        ahead_image = new_image + momentum * (new_image - image)
        v, image, t = new, new_image, t_next
        yield State(v, image, step)
