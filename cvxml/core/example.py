"""Test problems of the metric learning methods. The class of each method lists them in `EXAMPLES` and `HAND`.

An example names its data and the parameters of the method; `cvxml.datasets.of_example` makes the points and labels.
Examples with use "tested" run in the tests of every method, "verified" in `cvxml verify`, and "timed" in the
benchmarks. A problem of `HAND` has an optimum that is known by hand.

raw: True if the features are not z-scored. degenerate: True if one feature appears twice, and another one is constant.
params: parameters of the method.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Named(NamedTuple):
    """The data set `name` of `cvxml.datasets`, or a fixed subsample of n of its points; n = None for all points."""

    name: str
    n: int | None  # size of a fixed subsample; None: all points
    raw: bool  # True: the features are not z-scored

    def __str__(self) -> str:
        return self.name + ("" if self.n is None else f"[{self.n}]") + ("" if self.raw else " z")


class Drawn(NamedTuple):
    """A data set of n points with d features, drawn with this seed from overlapping Gaussian classes."""

    seed: int
    n: int
    d: int
    classes: int
    degenerate: bool  # True: one feature appears twice, and another one is constant

    def __str__(self) -> str:
        return f"drawn({self.seed})" + (" degenerate" if self.degenerate else "")


class Example(NamedTuple):
    """A problem in the `EXAMPLES` of a method: the data, the use in tests, and the parameters of the method."""

    points: Named | Drawn
    use: Literal["tested", "verified", "timed"]
    params: dict[str, Any]


class Hand(NamedTuple):
    """A problem that can be solved by hand, for points X (n, d).

    y: the labels (n,), or None for a method without labels.
    metric: the optimal metric (d, d), or None if several metrics are optimal.
    objective: the optimal value.
    """

    X: list[list[float]]  # (n, d)
    y: list[Any] | None  # labels (n,); None if the method needs no labels
    params: dict[str, Any]
    metric: list[list[float]] | None  # (d, d); None if the optimum is not unique
    objective: float


# Points and classes for `HAND`. With one target and one impostor for each point, the margins are 8, 3, 1.75 and 10
# times the metric.
LINE: tuple[list[list[float]], list[Any]] = ([[0.0], [1.0], [3.0], [4.5]], [0, 0, 1, 1])


def sample(name: str, n: int, *, raw: bool = False, **params: Any) -> Example:
    """Return an example for the tests: n points of a data set. Keep n small, because a test solves it many times."""
    return Example(Named(name, n, raw), "tested", params)


def drawn(seed: int, n: int, d: int, classes: int = 3, *, degenerate: bool = False, **params: Any) -> Example:
    """Return an example for the tests with n points of d features, drawn with this seed (`Drawn`)."""
    return Example(Drawn(seed, n, d, classes, degenerate), "tested", params)


def verified(name: str, n: int | None = None, *, raw: bool = False, **params: Any) -> Example:
    """Return an example for `cvxml verify`, on n points of a data set; n = None for all points.

    Choose n so that two solvers called through cvxpy solve the problem, as written in the paper, in seconds.
    """
    return Example(Named(name, n, raw), "verified", params)


def timed(name: str, **params: Any) -> Example:
    """Return an example for the benchmarks: a whole data set, z-scored, on which the fast solver is timed."""
    return Example(Named(name, None, False), "timed", params)
