"""A primal-dual interior-point method for metrics with the squared Frobenius norm, for small d and any scale of rows.

Gradient and Newton steps may need very many iterations if rows differ in scale; this method does not. The problem is

    min  lam/2 sum_b ||M_b||^2 + losses of the values <V_t, M>      over m metrics M_b (d, d), psd.

A row t has the value <V_t, M> and a dual variable. G is a symmetric matrix for each metric, affine in the dual
variables, with the derivatives V_t. Then

    S = lam M - G

is the multiplier of "M is psd". The dual variables and other unknowns of the rows come in pairs of a value and its
multiplier, both >= 0. At the optimum the products of all pairs, and M S, are 0. The method drives all products to zero
together (Mehrotra's predictor and corrector).

A subclass of `Rows` states the rows, and eliminates their unknowns from the linear equations. Then only equations for
the step of M are left, those of scaling.py with a matrix B. The subclasses are in box_interior.py and
simplex_interior.py. All values, multipliers, M and S stay positive. S is computed again in every iteration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray
from cvxml.core.work import FACTORISING, doing
from cvxml.solvers.scaling import Scaling

MOST_STEPS = 200
SHARE_TO_BOUNDARY = 0.98  # a step goes at most this fraction of the way to the boundary
SHORTEST = 1e-6  # a shorter step ends the run
REFINEMENTS = 2  # corrections of the solution of the linear equations
PREDICTED = 0.1  # the second-order term is used if the predictor may go this far


class Pair(NamedTuple):
    """Values (k,) and their multipliers (k,), or the steps of both."""

    value: FloatArray
    multiplier: FloatArray


class State(NamedTuple):
    """An iterate or a step: the metrics M (m, d, d), the pairs of the rows, and the free unknowns (l,), of any sign."""

    M: FloatArray
    pairs: tuple[Pair, ...]
    free: FloatArray

    @property
    def finite(self) -> bool:
        numbers = [part for pair in self.pairs for part in pair]
        return all(np.isfinite(part).all() for part in (self.M, *numbers))

    def after(self, step: State, length: float) -> State:
        M = self.M + length * step.M
        pairs = (
            Pair(*(own + length * change for own, change in zip(*both, strict=True)))
            for both in zip(self.pairs, step.pairs, strict=True)
        )
        return State((M + np.swapaxes(M, -1, -2)) / 2, tuple(pairs), self.free + length * step.free)


class Rows(ABC):
    """The rows of a problem of the module docstring. lam: the weight of the squared norm."""

    lam: float

    @abstractmethod
    def start(self) -> State:
        """A strictly positive start, with S positive definite."""

    @abstractmethod
    def duals(self, at: State) -> FloatArray:
        """The dual variables of the rows, as an array in the shape that the subclass defines, for example (t,)."""

    @abstractmethod
    def G(self, at: State) -> FloatArray:
        """The matrices G (m, d, d) of the module docstring."""

    @abstractmethod
    def enter(self, at: State) -> State:
        """Prepare the linear equations at the state `at`, for `B`, `unpriced` and `steps`.

        Returns `at`, or a copy in which multipliers of pairs are computed again from M and `free`, so that no rounding
        errors add up.
        """

    @abstractmethod
    def B(self, scalings: Sequence[Scaling]) -> FloatArray:
        """The matrix B, for which I + B^T B is the matrix of the scaled equations for dM (scaling.py).

        It has a column for each entry of the upper triangle of each metric: those of the first metric, then those of
        the next one. Its rows come from the rows of the problem. scalings: one for each metric.
        """

    @abstractmethod
    def unpriced(self, rests: Sequence[FloatArray]) -> FloatArray:
        """The part (m, d, d) that the rows add to the right side of the equations for dM: `G` in `Scaling.right`.

        rests: for each pair, the wanted changes (k,) of the products of value and multiplier.
        """

    @abstractmethod
    def steps(self, rests: Sequence[FloatArray], dM: FloatArray) -> tuple[tuple[Pair, ...], FloatArray]:
        """The steps of the pairs and of `free`, for the step dM (m, d, d) of the metrics. rests: as in `unpriced`."""


class Direction(NamedTuple):
    """A step, and the steps of M and S in the coordinates of the scaling, one (d, d) for each metric."""

    step: State
    M_scaled: list[FloatArray]
    S_scaled: list[FloatArray]


def interior(rows: Rows) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield pairs that approach the optimum: the dual variables (`Rows.duals`), and the metrics M (m, d, d).

    The dual variables are feasible and the metrics positive definite, up to rounding. Ends if rounding allows no
    further step, or after `MOST_STEPS` steps.
    """
    with np.errstate(all="ignore"):  # a result that is not finite ends the run
        at = rows.start()
    for _ in watched(range(MOST_STEPS)):
        if not at.finite:
            return
        yield rows.duals(at), at.M
        try:
            with np.errstate(all="ignore"):
                new = _next(rows, at)
        except (np.linalg.LinAlgError, ValueError):  # not positive, or not finite any more
            return
        if new is None:
            return
        at = new


def _next(rows: Rows, at: State) -> State | None:
    """The next iterate, or None if rounding has left the interior or allows no step."""
    at = rows.enter(at)
    if not all((part > 0).all() for pair in at.pairs for part in pair):
        return None
    system = _System(rows, at)
    products = system.product(None, 0.0)
    mu = products / (sum(len(pair.value) for pair in at.pairs) + at.M.shape[0] * at.M.shape[1])
    predictor = system.solve(0.0, None)
    length = min(1.0, system.longest(predictor))
    left = max(system.product(predictor, length), 0.0) / products
    direction = system.solve(min(1.0, left) ** 3 * mu, predictor if length > PREDICTED else None)
    length = min(1.0, SHARE_TO_BOUNDARY * system.longest(direction))
    return at.after(direction.step, length) if length > SHORTEST else None


class _System:
    """The linear equations of one iteration: factorised once, and solved for the predictor and the corrector."""

    def __init__(self, rows: Rows, at: State):
        self.rows, self.at = rows, at
        S = rows.lam * at.M - rows.G(at)
        self.scalings = [Scaling(*both, rows.lam) for both in zip(at.M, S, strict=True)]
        self.B = rows.B(self.scalings)
        gram = self.B.T @ self.B
        gram[np.diag_indices_from(gram)] += 1.0
        with doing(FACTORISING):
            self.factor = cho_factor(gram, lower=True, overwrite_a=True)

    def solve(self, target: float, predictor: Direction | None) -> Direction:
        """Return the direction in which all products (module docstring) become equal to `target`, to first order.

        predictor: a direction, to include its second-order term; or None.
        """
        rests = [target - pair.value * pair.multiplier for pair in self.at.pairs]
        if predictor is None:
            K = [scaling.target(target, None) for scaling in self.scalings]
        else:
            ahead = predictor.step.pairs
            rests = [rest - pair.value * pair.multiplier for rest, pair in zip(rests, ahead, strict=True)]
            both = zip(self.scalings, predictor.M_scaled, predictor.S_scaled, strict=True)
            K = [scaling.target(target, M @ S) for scaling, M, S in both]
        G = self.rows.unpriced(rests)
        right = [scaling.right(*each) for scaling, *each in zip(self.scalings, K, G, strict=True)]
        y = np.split(self._refined(np.concatenate(right)), len(self.scalings))
        dM = np.stack([scaling.back(own) for scaling, own in zip(self.scalings, y, strict=True)])
        M_scaled = [scaling.scaled(own) for scaling, own in zip(self.scalings, dM, strict=True)]
        S_scaled = [k - own for k, own in zip(K, M_scaled, strict=True)]
        return Direction(State(dM, *self.rows.steps(rests, dM)), M_scaled, S_scaled)

    def _refined(self, right: FloatArray) -> FloatArray:
        """The solution y of (I + B^T B) y = right. Some rows of B may be long, so rounding errors are corrected."""
        y: FloatArray = cho_solve(self.factor, right)
        for _ in watched(range(REFINEMENTS)):
            y += cho_solve(self.factor, right - y - self.B.T @ (self.B @ y))
        return y

    def product(self, direction: Direction | None, length: float) -> float:
        """The sum of all products (module docstring) after a step of this length. direction: None for no step."""
        if direction is None:
            own = sum(float(pair.value @ pair.multiplier) for pair in self.at.pairs)
            return own + sum(float(each.sigma @ each.sigma) for each in self.scalings)
        total = 0.0
        for pair, step in zip(self.at.pairs, direction.step.pairs, strict=True):
            value, multiplier = pair.value + length * step.value, pair.multiplier + length * step.multiplier
            total += float(value @ multiplier)
        each = zip(self.scalings, direction.M_scaled, direction.S_scaled, strict=True)
        return total + sum(scaling.product_after(M, S, length) for scaling, M, S in each)

    def longest(self, direction: Direction) -> float:
        """Return the length at which a value, a multiplier, or an eigenvalue of M or S first reaches 0, at most 1e12.

        The length is a factor of the step `direction`.
        """
        falls = [
            float(np.max(-step / own, initial=0.0))
            for both in zip(self.at.pairs, direction.step.pairs, strict=True)
            for own, step in zip(*both, strict=True)
        ]
        each = zip(self.scalings, direction.M_scaled, direction.S_scaled, strict=True)
        falls += [scaling.falls(own) for scaling, *both in each for own in both]
        return 1 / max(max(falls), 1e-12)
