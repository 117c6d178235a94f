"""Accelerated projected gradient with restarts. The solver in cone_dual.py and the weights of PLML use it.

The problem is  min_v  phi(image(v)) - <c, v>  over a convex set with an easy projection. phi is smooth, and c is
constant. The image of v is affine in v, and often a small array such as a d x d matrix. At an extrapolated v, the image
is extrapolated from known images instead of computed from v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray

SHORTEST = 1e-300  # no step is made shorter than this


class Descent(Protocol):
    """The gradient at one point v. It gives the next gradient step, and a bound of the curvature along it."""

    def step(self, step: float) -> FloatArray:
        """The next v: the projection of v - step * steps * gradient(v) on the feasible set.

        steps: the relative step of each entry of v, which the problem gives.
        """

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """An upper bound of 2 (phi(new) - phi(old) - slope) for a step from this point to a point with another image.

        old: the image of this point. new: `new_image`. slope: the derivative of phi at the old image, in the direction
        new - old. A bound of at most `enough` need not be tight.
        """


class Dual(Protocol):
    """The operations that a problem must offer. Arrays v have any fixed shape.

    steps: the relative step of each entry of v, a diagonal preconditioner. It is broadcast against v.
    """

    steps: FloatArray  # broadcast against v: the relative step of each block (a preconditioner)

    def image(self, v: FloatArray) -> FloatArray:
        """The image of v, affine in v."""

    def descent(self, v: FloatArray, image: FloatArray) -> Descent:
        """The gradient at v, as an object that can take a step along it. image: the image of v."""


@dataclass(eq=False)
class State:
    """One iteration: the feasible iterate, its image, and the step size."""

    v: FloatArray
    image: FloatArray
    step: float


def accelerated(problem: Dual, v: FloatArray, step: float) -> Iterator[State]:
    """Yield the iterates of accelerated projected gradient with backtracking and gradient restart, without end.

    v: a feasible start, which is not yielded. step: a first guess of the step size. It is reduced until the quadratic
    upper bound of phi holds along the step, and grows by 5 % at each iteration. Momentum is dropped when it points
    uphill (O'Donoghue and Candes, 2015).
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
            if distance == 0 or step < SHORTEST:  # rounding allows no step
                break
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
