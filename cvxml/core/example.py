"""Small problems that a method owns: its data by name, and parameters. `cvxml.datasets.of_example` makes the points.

What is `tested` runs in the contract's tests, what is `verified` in `cvxml verify`, what is `timed` in the benchmarks.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Named(NamedTuple):
    """Points of an embedded set."""

    name: str
    n: int | None  # a fixed subsample of this size, or the whole
    raw: bool  # not z-scored

    def __str__(self) -> str:
        return self.name + ("" if self.n is None else f"[{self.n}]") + ("" if self.raw else " z")


class Drawn(NamedTuple):
    """Overlapping Gaussian classes."""

    seed: int
    n: int
    d: int
    classes: int
    degenerate: bool  # a feature is there twice, another is the same for all points

    def __str__(self) -> str:
        return f"drawn({self.seed})" + (" degenerate" if self.degenerate else "")


class Example(NamedTuple):
    """Of a method whose `EXAMPLES` has it."""

    points: Named | Drawn
    use: Literal["tested", "verified", "timed"]
    params: dict[str, Any]


class Hand(NamedTuple):
    """A problem that can be solved by hand, with its optimum."""

    X: list[list[float]]  # (n, d)
    y: list[Any] | None  # labels (n,); None where the method needs none
    params: dict[str, Any]
    metric: list[list[float]] | None  # (d, d); None where the optimum is not unique
    objective: float


# Points and classes for `HAND`: with one target and one impostor a point, margins of 8, 3, 1.75 and 10 times the metric
LINE: tuple[list[list[float]], list[Any]] = ([[0.0], [1.0], [3.0], [4.5]], [0, 0, 1, 1])


def sample(name: str, n: int, *, raw: bool = False, **params: Any) -> Example:
    """n points of a set, few: a test solves it many times."""
    return Example(Named(name, n, raw), "tested", params)


def drawn(seed: int, n: int, d: int, classes: int = 3, *, degenerate: bool = False, **params: Any) -> Example:
    """The same of points drawn with this seed."""
    return Example(Drawn(seed, n, d, classes, degenerate), "tested", params)


def verified(name: str, n: int | None = None, *, raw: bool = False, **params: Any) -> Example:
    """A row of what `cvxml verify` prints: the literal problem through two back ends takes seconds, not minutes."""
    return Example(Named(name, n, raw), "verified", params)


def timed(name: str, **params: Any) -> Example:
    """A whole set, z-scored, on which the fast solver is timed beside others."""
    return Example(Named(name, None, False), "timed", params)
