"""Loops that two or more methods share: restarted accelerated projected gradient on a dual.

The problem is  min_v  phi(image(v)) - <c, v>  over a set with an easy projection, phi smooth. The image is
linear in v and small (a d x d matrix), so it is extrapolated instead of recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray


class Descent(Protocol):
    """The gradient at one point, ready to be followed."""

    def step(self, step: float) -> FloatArray:
        """The projection of v - step * steps * gradient(v) on the feasible set."""

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """An upper bound of twice the second-order term of phi on the way to a point with this image.

        A cheap bound will do where it is at most `enough`.
        """


class Dual(Protocol):
    """What `accelerated` needs of a problem. Arrays v have any fixed shape."""

    steps: FloatArray  # broadcast against v: the relative step of each block (a preconditioner)

    def image(self, v: FloatArray) -> FloatArray:
        """The linear image of v."""

    def descent(self, v: FloatArray, image: FloatArray) -> Descent:
        """The gradient at v, whose image is given."""


@dataclass(eq=False)
class State:
    """One iteration: the feasible iterate, its image, and the step in use."""

    v: FloatArray
    image: FloatArray
    step: float


def accelerated(problem: Dual, v: FloatArray, step: float) -> Iterator[State]:
    """Accelerated projected gradient with backtracking and gradient restart; yields after every step.

    `step` is a first guess; it shrinks until the majorisation holds along the step taken and creeps up
    again. Restart: momentum is dropped when it points uphill (O'Donoghue and Candes, 2015).
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
