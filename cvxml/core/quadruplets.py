"""Quadruplets (a, b, c, d) of points: a and b should be nearer to each other than c and d.

They are the input of LSML: given by the user, or drawn at random from the labels. Each has a weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import (
    check_choice,
    check_count,
    check_labels,
    check_rows,
    check_X,
    class_names,
    real_array,
)
from cvxml.core.memory import check_room
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.parameter import COUNT, INDICES, POINTS, WORD, Parameter

A_PAIR_OF_CLASSES = 20  # default number of quadruplets, times the squared number of classes
MOST = 10**9  # quadruplets that can be drawn
DRAWN = 300  # bytes for each quadruplet while they are drawn
MEAN, SUM = "mean", "sum"
HEAVIEST = 1e100  # largest weight that is used without division
BY_QUADRUPLETS = {
    "quadruplets": Parameter(
        "a list of [a, b, c, d]: a and b should be nearer to each other than c and d",
        INDICES,
        otherwise="drawn from the labels",
    ),
    "weights": Parameter("one for each quadruplet, >= 0", POINTS, otherwise="all the same"),
    "losses": Parameter(
        '"mean": weights are divided by their sum; "sum": weights are used unchanged, or are 1 each if none are given',
        WORD,
        MEAN,
    ),
    "n_quadruplets": Parameter(
        "number of quadruplets to draw if none are given",
        COUNT,
        otherwise="20 times the squared number of classes",
    ),
    "random_state": Parameter("seed for drawing quadruplets", COUNT, 0),
}


@dataclass(frozen=True, eq=False)
class Quadrupled:
    """Checked data of a method that learns from quadruplets.

    y: (n,) class codes; zeros without labels. quadruplets: (q, 4), indices a, b, c, d of points.
    weights: (q,), at least 0; their sum is 1 if `losses` is "mean".
    losses: "mean" if the user's weights are divided by their sum, "sum" if they are used unchanged.

    n_quadruplets: this parameter as the user gave it, or None. random_state: the seed for drawing quadruplets.
    by_labels: True if the quadruplets were drawn from the labels.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) class codes; zeros if quadruplets were given without labels
    quadruplets: IntArray  # (q, 4)
    weights: FloatArray  # (q,) >= 0; their sum is 1 if losses is "mean"
    losses: str
    n_quadruplets: int | None  # the user's value
    random_state: int
    by_labels: bool  # False if quadruplets were given

    @property
    def near(self) -> FloatArray:
        """Differences x_a - x_b (q, d)."""
        return self._differences(0, 1)

    @property
    def far(self) -> FloatArray:
        """Differences x_c - x_d (q, d)."""
        return self._differences(2, 3)

    def _differences(self, i: int, j: int) -> FloatArray:
        with np.errstate(over="ignore"):  # callers that need finite differences check for overflow
            return self.X[self.quadruplets[:, i]] - self.X[self.quadruplets[:, j]]

    @property
    def stored(self) -> dict[str, Any]:
        rows, weights = self.quadruplets.tolist(), self.weights.tolist()
        count = None if self.n_quadruplets is None else len(rows)
        known = {
            "quadruplets": rows,
            "weights": weights,
            "n_quadruplets": count,
            "random_state": self.random_state,
        }
        return known if self.losses == MEAN else {**known, "losses": self.losses}


def quadrupled(
    X: ArrayLike,
    y: ArrayLike | None,
    quadruplets: Any,
    weights: Any,
    losses: str,
    n_quadruplets: int | None,
    random_state: int,
) -> Quadrupled:
    """Return the checked data. Raises ValueError for bad input.

    quadruplets: None to draw them from the labels y, with the seed `random_state`.
    n_quadruplets: how many are drawn; default: 20 times the squared number of classes.
    losses: "mean" to divide the weights by their sum, "sum" to use them unchanged.
    weights: one for each quadruplet; default: all equal, with the sum 1 for "mean", and 1 each for "sum".
    """
    points = check_X(X)
    check_choice(losses, "losses", (MEAN, SUM))
    n, seed = len(points), check_count(random_state, "random_state", at_least=0)
    if y is None and quadruplets is None:
        raise ValueError(
            "y is None: it must be one-dimensional, one label for each point, or give quadruplets"
        )
    codes = np.zeros(n, dtype=np.intp) if y is None else check_labels(y, n)
    if quadruplets is not None:
        rows = check_quadruplets(quadruplets, n)
    else:
        count = A_PAIR_OF_CLASSES * len(class_names(y)) ** 2
        if n_quadruplets is not None:
            count = check_count(n_quadruplets, "n_quadruplets", at_most=MOST)
            check_room(DRAWN * count, f"n_quadruplets={count}", "lower n_quadruplets")
        rows = drawn(codes, count, seed)
    own = check_weights(weights, len(rows), losses)
    return Quadrupled(points, codes, rows, own, losses, n_quadruplets, seed, quadruplets is None)


def check_quadruplets(quadruplets: Any, n: int) -> IntArray:
    """Return the quadruplets (q, 4) of n points.

    Repeated rows are allowed, and each counts. Raises ValueError for bad input.
    """
    rows = check_rows(quadruplets, "quadruplets", "four indices a, b, c, d", n)
    same = np.flatnonzero((rows[:, 0] == rows[:, 1]) | (rows[:, 2] == rows[:, 3]))
    if len(same):
        raise ValueError(
            f"quadruplets[{same[0]}] is {rows[same[0]].tolist()}: a pair needs two different points"
        )
    return rows


def check_weights(weights: Any, count: int, losses: str) -> FloatArray:
    """Return the weights (q,): unchanged if `losses` is "sum", divided by their sum if it is "mean".

    Without weights, each is 1/q for "mean", and 1 for "sum". For "mean", weights with the sum 1 (up to rounding) stay
    unchanged.

    count: the number of quadruplets, q.

    Raises ValueError for another shape, for weights that are negative or not finite, and if the largest weight is not
    between 1e-300 and 1e300, or 1e100 for "sum".
    """
    if weights is None:
        return np.full(count, 1 / count if losses == MEAN else 1.0)
    given = real_array(weights, "weights")
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given  # a column of a table
    if given.shape != (count,):
        raise ValueError(
            f"weights must be one number for each of {count} quadruplets, got shape {given.shape}"
        )
    if not (np.isfinite(given).all() and given.min() >= 0 and given.max() > 0):
        raise ValueError("weights must be finite and not negative, and one of them greater than 0")
    most = HEAVIEST if losses == SUM else 1e300
    if not 1e-300 < given.max() <= most:
        raise ValueError(
            f"the largest of the weights must be between 1e-300 and {most:g} if losses is {losses!r}, got "
            f"{given.max():.3g}; multiply all of them"
        )
    total = float(given.sum())
    settled = losses == SUM or abs(total - 1) <= count * EPS
    return given if settled else given / total


def drawn(codes: IntArray, count: int, seed: int) -> IntArray:
    """Return (count, 4) quadruplets: a random pair of points of one class, then a random pair of points of two classes.

    All pairs of points with equal labels are equally likely, and so are all pairs with different labels; pairs may
    repeat. The classes are taken in the order in which they appear, so their names do not matter. Raises ValueError if
    every class has one point only.
    """
    rng, (_, first) = np.random.default_rng(seed), np.unique(codes, return_index=True)
    members = [np.flatnonzero(codes == code) for code in codes[np.sort(first)]]
    sizes = np.array([len(own) for own in members])
    within, between = sizes * (sizes - 1.0), np.outer(sizes, sizes) * (1.0 - np.eye(len(sizes)))
    if not within.any():
        raise ValueError("every class has a single point, so no pair has equal labels; give quadruplets")
    near = rng.choice(len(sizes), count, p=within / within.sum())
    far = np.divmod(rng.choice(between.size, count, p=between.ravel() / between.sum()), len(sizes))
    return np.array(
        [
            [*rng.choice(members[own], 2, replace=False), rng.choice(members[c]), rng.choice(members[d])]
            for own, c, d in zip(near, *far, strict=True)
        ],
        dtype=np.intp,
    )
