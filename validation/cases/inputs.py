"""What the golden cases are about: inputs that are the same on every machine, and the mistakes tried on them.

Random numbers come from Python's random.Random, whose stream is fixed, and are rounded to three decimals.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris, load_wine

from cvxml.methods import get

Inputs = dict[str, Any]
Points = list[list[float]]


class Mistake(NamedTuple):
    """`times` the solution of `formula` (None: the same) with `params`, if any, in place of the case's own."""

    why: str
    formula: str | None = None
    params: Mapping[str, Any] = MappingProxyType({})
    times: float = 1.0


@dataclass(frozen=True)
class Definition:
    """One case before it is solved. mistakes: name -> the other parameters with which a wrong metric is optimal."""

    id: str
    formula: str
    title: str
    inputs: Callable[[], Inputs]
    flags: tuple[str, ...] = ()
    mistakes: dict[str, dict[str, Any]] = field(default_factory=dict)
    init: Any = None  # start of a method that is not convex


def normal(seed: int, n: int, d: int) -> list[list[float]]:
    """n points of d normal features, three decimals."""
    stream = random.Random(seed)
    return [[round(stream.gauss(0, 1), 3) for _ in range(d)] for _ in range(n)]


def classes(seed: int, n: int, d: int, R: int, apart: float) -> tuple[list[list[float]], list[int]]:
    """R classes in turn, the first feature of class c shifted by c * apart."""
    y = [i % R for i in range(n)]
    X = normal(seed, n, d)
    return [[round(row[0] + apart * c, 3), *row[1:]] for row, c in zip(X, y, strict=True)], y


def sample(data: Any, step: int, decimals: int | None = 3) -> tuple[list[list[float]], list[int]]:
    """Every `step`-th row of a scikit-learn set, z-scored and rounded unless decimals is None."""
    X, y = data.data[::step], data.target[::step]
    if decimals is not None:
        X = np.round((X - X.mean(axis=0)) / X.std(axis=0), decimals)
    return X.tolist(), y.tolist()


def mlsvm(X: Any, y: Any, lam: float, lists: list[list[int]] | None = None, **named: Any) -> Inputs:
    """MLSVM with explicit lists, chosen by name where they are not given."""
    if lists is None:
        found = get("mlsvm").instance(np.asarray(X, float), y, **named).N
        lists = [sorted(int(j) for j in row) for row in found.lists]
    return {
        "X": X,
        "y": y,
        "lam": lam,
        "neighbors": lists,
        "targets": [[j for j in row if y[j] == y[i]] for i, row in enumerate(lists)],
        "impostors": [[j for j in row if y[j] != y[i]] for i, row in enumerate(lists)],
    }


def from_kkt() -> Inputs:
    """Two binding constraints and one at its cap, along the axes: A* = diag(1/2, 1/4, 1/3, 0), for a lam of 1/8.

    Point i has a target along the last axis, where A* is 0, and an impostor at distance b along axis k:
    margin 1 with 0 < s < 1/n for the first two (b^2 = 1/A_kk), s = 1/n and a margin below 1 for the third.
    """
    n, lam = 9, 0.125
    X, lists = np.zeros((n, 4)), [[] for _ in range(n)]
    for k, (alpha, b2) in enumerate(((0.5, 2.0), (0.25, 4.0), (1 / 3, lam * n / 3))):
        X[3 * k : 3 * k + 3] = 10.0 * k
        X[3 * k + 1, 3] += 1.0
        X[3 * k + 2, k] += np.sqrt(b2)
        lists[3 * k] = [3 * k + 1, 3 * k + 2]
        assert alpha > 0
    return mlsvm(X.tolist(), [0, 0, 1] * 3, lam, lists)


def grid() -> Inputs:
    """A grid, most neighbourhoods of which end in a tie, with labels that overlap; the first six points twice."""
    X = [[float(a), 3.0 * b] for a in range(6) for b in range(5)]
    stream = random.Random(2)
    y = [int(row[0] + stream.gauss(0, 0.7) >= 2.5) for row in X]
    return mlsvm(X + X[:6], y + y[:6], 0.05, n_neighbors=4)


def islands() -> Inputs:
    """Three pure clusters and a mixed one: most constraints are vacuous, xi_i = 0, and the 1/n stays."""
    X, y = classes(3, 12, 2, 2, 2.0)
    far = normal(4, 12, 2)
    centres = [(50.0, 0.0), (0.0, 50.0), (50.0, 50.0)]
    X += [[round(v + c, 3) for v, c in zip(row, centres[i // 4], strict=True)] for i, row in enumerate(far)]
    return mlsvm(X, [*y, *[i // 4 % 2 for i in range(12)]], 0.02, n_neighbors=3)


def shifted() -> Inputs:
    """An offset of a million: distances must be taken of differences."""
    X, y = classes(5, 20, 3, 2, 2.5)
    return mlsvm([[v + 1e6 for v in row] for row in X], y, 0.05, n_neighbors=4)


def scales() -> Inputs:
    """Features in units of 10 and of 1/10, the small one telling the classes; lists from before the change."""
    X, y = classes(6, 24, 3, 2, 2.0)
    lists = mlsvm(X, y, 1.0, n_neighbors=6)["neighbors"]
    X = [[round(row[0] / 10, 4), row[1], round(row[2] * 10, 2)] for row in X]
    return mlsvm(X, y, 1e-4, lists)


def more_features() -> Inputs:
    """Twelve features, ten points: X does not span."""
    X, y = classes(7, 10, 12, 2, 3.0)
    return mlsvm(X, y, 0.01, n_neighbors=4)


def line() -> Inputs:
    """By hand: one constraint, A = a, margin a (9 - 1): lam a^2 / 2 + (1 - 8 a)_+ / 3 with lam = 1: a = 1/8."""
    return mlsvm([[0.0], [1.0], [3.0]], [0, 0, 1], 1.0, [[1, 2], [], []])


def capped() -> Inputs:
    """The same with lam = 64: the price is at its cap, a = 8/(3 lam) = 1/24 and xi = 2/3."""
    return mlsvm([[0.0], [1.0], [3.0]], [0, 0, 1], 64.0, [[1, 2], [], []])


def hopeless() -> Inputs:
    """The impostor is nearer than the target along every axis that matters: A* = 0."""
    return mlsvm([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]], [0, 0, 1], 0.5, [[1, 2], [], []])


def ssvm(X: Any, y: Any, C: float, k: int, loss: Any = None) -> Inputs:
    R = max(y) + 1
    loss = loss or [[float(a != b) for b in range(R)] for a in range(R)]
    return {"X": X, "y": y, "C": C, "n_neighbors": k, "loss_matrix": loss}


def glml(X: Any, y: Any, query: list[float], alpha: float = 0.0) -> Inputs:
    return {"X": X, "y": y, "query": query, "alpha": alpha, "priors": [1.0 / (max(y) + 1)] * (max(y) + 1)}


def twins(seed: int) -> Inputs:
    """Classes of two points each: -g is convex, so that its minimum is a minimum."""
    centres, steps = normal(seed, 6, 2), normal(seed + 1, 12, 2)
    X = [[round(c + 0.4 * v, 3) for c, v in zip(centres[i // 2], steps[i], strict=True)] for i in range(12)]
    return {"X": X, "y": [i // 2 for i in range(12)], "criterion": "g", "n_components": 2}


def nca(X: Any, y: Any, criterion: str, **more: Any) -> Inputs:
    return {"X": X, "y": y, "criterion": criterion, "n_components": len(X[0]), **more}


def targets(step: int) -> Inputs:
    """MLKR: the width of petals from the other three features of flowers."""
    X, _ = sample(IRIS, step)
    return {"X": [row[:3] for row in X], "y": [row[3] for row in X], "n_components": 3}


def steps() -> Inputs:
    """MLKR: points on a line, two by two, with the target of their partner: the nearer these are, the better."""
    return {
        "X": [[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]],
        "y": [0.0, 0.0, 1.5, 1.5, 4.0, 4.0],
        "n_components": 1,
    }


def regression() -> Inputs:
    """Soft labels: who is near in a target, not who has the same class."""
    X, target = normal(31, 12, 2), [row[0] for row in normal(32, 12, 1)]
    s = [[round(float(np.exp(-2 * (a - b) ** 2)), 6) for b in target] for a in target]
    for i in range(12):
        s[i][i] = 0.0
    return {"X": X, "similarity": s, "criterion": "g", "n_components": 2}


IRIS, WINE = load_iris(), load_wine()
LAM = {"lam": {"lam": 2.0}, "sum": {"lam": -1.0}}  # the factor of lam; -1 stands for 1/n

PROBLEMS = (
    Definition("mlsvm-line", "mlsvm", "one feature, one constraint, solvable by hand", line, mistakes=LAM),
    Definition(
        "mlsvm-line-capped", "mlsvm", "the same where the price is at its cap 1/n", capped, mistakes=LAM
    ),
    Definition("mlsvm-zero", "mlsvm", "no metric beats 0", hopeless, ("zero",)),
    Definition(
        "mlsvm-kkt", "mlsvm", "built from the optimality conditions along the axes", from_kkt, mistakes=LAM
    ),
    Definition(
        "mlsvm-iris",
        "mlsvm",
        "every fifth flower, z-scored, K = 4",
        lambda: mlsvm(*sample(IRIS, 5), 0.01, n_neighbors=4),
        mistakes=LAM,
    ),
    Definition(
        "mlsvm-iris-raw",
        "mlsvm",
        "all 150 flowers as measured: many ties, decided by the lists",
        lambda: mlsvm(*sample(IRIS, 1, None), 0.01, n_neighbors=4),
        ("ties", "duplicates"),
        mistakes=LAM,
    ),
    Definition(
        "mlsvm-wine",
        "mlsvm",
        "every fourth wine, z-scored, three nearest of the class and of the rest",
        lambda: mlsvm(*sample(WINE, 4), 0.1, n_neighbors=3, neighborhood="per-class"),
        mistakes=LAM,
    ),
    Definition("mlsvm-grid", "mlsvm", "a grid, every point twice", grid, ("ties", "duplicates"), LAM),
    Definition(
        "mlsvm-islands",
        "mlsvm",
        "pure clusters: most constraints are vacuous",
        islands,
        ("single-class",),
        LAM,
    ),
    Definition("mlsvm-offset", "mlsvm", "features around one million", shifted, ("offset",), LAM),
    Definition("mlsvm-scales", "mlsvm", "features in units of 10 and 1/10", scales, ("scales",), LAM),
    Definition(
        "mlsvm-more-features", "mlsvm", "more features than points", more_features, ("rank deficient",), LAM
    ),
    Definition(
        "mlsvm-small-lam",
        "mlsvm",
        "separable wines, lam = 1e-6: a hard margin",
        lambda: mlsvm(*sample(WINE, 9), 1e-6, n_neighbors=2, neighborhood="per-class"),
        mistakes=LAM,
    ),
    Definition(
        "kernel-poly",
        "kernel_mlsvm",
        "kernel <x, x'>^2",
        lambda: {
            **mlsvm(*classes(9, 14, 2, 2, 2.0), 0.02, n_neighbors=4),
            "kernel": "poly",
            "degree": 2,
        },
        mistakes=LAM,
    ),
    Definition(
        "ssvm-two-classes", "ssvm", "k = 1, two classes", lambda: ssvm(*classes(11, 10, 2, 2, 1.5), 0.5, 1)
    ),
    Definition(
        "ssvm-iris",
        "ssvm",
        "every tenth flower, k = 3, three classes",
        lambda: ssvm(*sample(IRIS, 10), 0.2, 3),
        mistakes={"half": {"C": 2.0}},
    ),
    Definition(
        "ssvm-costs",
        "ssvm",
        "mistakes of different cost, ties for most votes",
        lambda: ssvm(
            *classes(12, 15, 3, 3, 1.5), 0.3, 3, [[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [0.5, 3.0, 0.0]]
        ),
        ("ties",),
        {"half": {"C": 2.0}},
    ),
    Definition(
        "glml-definite",
        "glml",
        "a wide class and a narrow one: B is definite",
        lambda: glml(
            [[round(v * (1 + 2 * (i % 2)), 3) for v in row] for i, row in enumerate(normal(21, 24, 3))],
            [i % 2 for i in range(24)],
            [0.2, -0.1, 0.3],
        ),
        mistakes={"alpha": {"alpha": 0.5}},
    ),
    Definition(
        "glml-indefinite",
        "glml",
        "three classes: B has both signs, the optimum is 0 and not unique",
        lambda: glml(*classes(22, 30, 3, 3, 1.0), [0.5, 0.2, -0.4]),
        ("not unique",),
    ),
    Definition(
        "glml-flat",
        "glml",
        "covariances that agree in one direction: B is semidefinite, and no metric is optimal",
        lambda: glml(
            [[r * a, b] for r in (1.0, 2.0) for a, b in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))],
            [0] * 4 + [1] * 4,
            [0.0, 0.0],
        ),
        ("not attained",),
    ),
    Definition(
        "glml-underflow",
        "glml",
        "forty features: every density underflows",
        lambda: glml(*classes(23, 90, 40, 2, 0.5), [3.0] * 40, 0.01),
        ("underflow",),
    ),
    Definition(
        "nca-twins",
        "nca",
        "two points a class: convex, an exact oracle",
        lambda: twins(24),
        init="identity",
    ),
    Definition(
        "nca-g",
        "nca",
        "g, two overlapping classes",
        lambda: nca(*classes(25, 14, 2, 2, 0.8), "g"),
        init="identity",
    ),
    Definition(
        "nca-f",
        "nca",
        "f, two overlapping classes",
        lambda: nca(*classes(39, 14, 2, 2, 0.8), "f"),
        init="identity",
    ),
    Definition("nca-soft", "nca", "soft labels", regression, ("soft labels",), init="identity"),
    Definition(
        "nca-apart",
        "nca",
        "classes far apart: the supremum is approached at infinity",
        lambda: nca(*classes(27, 12, 2, 2, 9.0), "g"),
        ("not attained", "unbounded"),
    ),
    Definition(
        "mlkr-iris",
        "mlkr",
        "the width of petals from three features, every fifth flower, z-scored",
        lambda: targets(5),
    ),
    Definition(
        "mlkr-steps",
        "mlkr",
        "every nearest neighbour has the target of its point: the infimum is approached at infinity",
        steps,
        ("not attained", "unbounded"),
    ),
)
