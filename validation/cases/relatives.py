"""Golden cases of the convex relatives (LMNN, ITML, MMC, DML-eig, MCML): their inputs, and the mistakes tried on them.

Targets and pairs are given, so that nothing is chosen by a distance. Where the answer is known by hand, it is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cvxml.methods import get
from validation.cases.inputs import IRIS, WINE, Definition, Inputs, classes, normal, sample

Points = list[list[float]]


class Mistake(NamedTuple):
    """`times` the solution of `formula` (None: the same) with `params`, if any, in place of the case's own."""

    why: str
    formula: str | None = None
    params: Mapping[str, Any] = MappingProxyType({})
    times: float = 1.0


def lmnn(X: Points, y: list[int], mu: float, k: int = 0, targets: list[list[int]] | None = None) -> Inputs:
    """LMNN with explicit targets, the k nearest of the class where they are not given."""
    if targets is None:
        given = get("lmnn").instance(np.asarray(X), y, n_neighbors=k)
        targets = [sorted(row) for row in given.target_lists()]
    return {"X": X, "y": y, "mu": mu, "targets": targets}


def frobmetric(X: Points, y: list[int], C: float, k: int) -> Inputs:
    """FrobMetric with explicit triplets, those of k neighbours."""
    given = get("frobmetric").instance(np.asarray(X), y, n_neighbors=k)
    return {"X": X, "y": y, "C": C, "triplets": given.triplets().tolist()}


def rtml(X: Points, y: list[int], lam: float, width: float, k: int) -> Inputs:
    """RTML with explicit triplets, those of k neighbours."""
    given = get("rtml").instance(np.asarray(X), y, n_neighbors=k)
    return {"X": X, "y": y, "lam": lam, "width": width, "triplets": given.triplets().tolist()}


def schultz_joachims(X: Points, y: list[int], C: float, A: Points, k: int) -> Inputs:
    """The columns of A, with explicit triplets, those of k neighbours."""
    given = get("schultz_joachims").instance(np.asarray(X), y, n_neighbors=k)
    return {"X": X, "y": y, "C": C, "A": A, "triplets": given.triplets().tolist()}


def scml(X: Points, y: list[int], beta: float, basis: Points, k: int) -> Inputs:
    """The same of a basis."""
    given = get("scml").instance(np.asarray(X), y, n_neighbors=k, basis=basis)
    return {"X": X, "y": y, "beta": beta, "basis": basis, "triplets": given.triplets().tolist()}


VECTORS = [
    [1, 0, 0, 0],
    [0, 2, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [1, 0, 1, 0],
    [1, -1, 0, 1],
    [0, 0, 1, -1],
    [0, 1, 2, 1],
]


def boostmetric(X: Points, y: list[int], v: float, k: int) -> Inputs:
    """BoostMetric with explicit triplets, those of k neighbours."""
    given = get("boostmetric").instance(np.asarray(X), y, n_neighbors=k)
    return {"X": X, "y": y, "v": v, "triplets": given.triplets().tolist()}


def plml(X: Points, y: list[int], m: int, alpha1: float, alpha2: float, k: int) -> Inputs:
    """PLML with explicit triplets, those of k neighbours, and weights in 64ths: the nearer an anchor, the more."""
    given = get("plml").instance(np.asarray(X), y, n_neighbors=k, n_anchors=m)
    near = 1 / (1 + np.sum((given.X[:, None] - given.smooth.U) ** 2, axis=2))
    weights = np.floor(64 * near / near.sum(axis=1, keepdims=True))
    weights[:, 0] += 64 - weights.sum(axis=1)
    return {"X": X, "y": y, "alpha1": alpha1, "alpha2": alpha2, "weights": (weights / 64).tolist(),
            "triplets": given.triplets().tolist()}  # fmt: skip


def mlr(X: Points, y: list[int], measure: str, k: int, C: float) -> Inputs:
    """MLR with explicit lists, those of the classes."""
    relevant = [[j for j in range(len(y)) if j != i and y[j] == y[i]] for i in range(len(y))]
    return {"X": X, "y": y, "measure": measure, "k": k, "C": C, "relevant": relevant}


def two_twos() -> Inputs:
    """By hand: D_j - D_i is 8, 15 (the outer queries) and 3, 8 times W; W + 1/8 sum [1 - 2 W (D_j - D_i)]_+ is 9/64.

    It is least at the kink 1/16. Prices: an outer query has 1/128 on the ranking that swaps 8; an inner one 15/128 on
    the one that swaps 3, and 1/128 on the one that swaps both. They are what the file stores.
    """
    return mlr([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], "auc", 3, 0.5)


def few_wines() -> tuple[Points, list[int]]:
    X, y = sample(WINE, 12)
    return [row[:5] for row in X], y


def twins() -> Inputs:
    """The first four points once more with the other label: their distance is 0, and no metric keeps that margin."""
    X, y = classes(51, 16, 2, 2, 2.0)
    return lmnn(X + X[:4], [*y, *[1 - label for label in y[:4]]], 0.4, 2)


def repeated_feature() -> Inputs:
    """Only the sum of four entries of M counts, those of a feature and its copy."""
    X, y = sample(WINE, 9)
    return lmnn([[*row[:4], row[0]] for row in X], y, 0.4, 2)


def pairs_of(y: list[int], seed: int, count: int) -> dict[str, list[list[int]]]:
    """`count` pairs of each kind, drawn by a fixed rule from all i < j."""
    n = len(y)
    order = sorted(
        ([i, j] for i in range(n) for j in range(i + 1, n)), key=lambda p: (p[0] * 7919 + p[1] * seed) % 1009
    )
    return {
        "similar": [p for p in order if y[p[0]] == y[p[1]]][:count],
        "dissimilar": [p for p in order if y[p[0]] != y[p[1]]][:count],
    }


def itml(
    X: Points, pairs: dict[str, list[list[int]]], gamma: float, bounds: list[float], prior: Any = None
) -> Inputs:
    """ITML with explicit pairs and bounds; the prior is the identity if it is not given."""
    prior = np.eye(len(X[0])).tolist() if prior is None else prior
    return {"X": X, "pairs": pairs, "gamma": gamma, "bounds": bounds, "prior": prior}


def at_the_bound() -> Inputs:
    """By hand: A* = diag(1, (1 + gamma) / (1 + 9 gamma)) = diag(1, 3/11), for a gamma of 1/2.

    The first similar pair, along the first axis, is exactly at u = 1 under the prior, the identity; the second, along
    the other, at 9 u. The dissimilar pair along the first axis is exactly at l = 4: neither pair there moves anything.
    """
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [2.0, 0.0]]
    return itml(X, {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3]]}, 0.5, [1.0, 4.0])


def with_prior() -> Inputs:
    """Features in units of 10 and 1/10, a prior that is not diagonal; a similar pair of equal points says nothing."""
    X, y = classes(53, 14, 3, 2, 1.5)
    X = [[round(a * 10, 2), b, round(c / 10, 4)] for a, b, c in X]
    pairs = pairs_of(y, 31, 12)
    pairs["similar"].append([len(X), 0])
    return itml([*X, X[0]], pairs, 2.0, [1.0, 6.0], [[0.02, 0.01, 0.0], [0.01, 1.0, 1.0], [0.0, 1.0, 90.0]])


def lsml(X: Points, y: list[int], seed: int, count: int, prior: Any = None) -> Inputs:
    """LSML with explicit quadruplets, a similar pair and a dissimilar one each; weights of 1 to 3 over their sum."""
    pairs = pairs_of(y, seed, count)
    rows = [[*near, *far] for near, far in zip(pairs["similar"], pairs["dissimilar"], strict=True)]
    weights = [1.0 + k % 3 for k in range(count)]
    total = sum(weights)
    prior = np.eye(len(X[0])).tolist() if prior is None else prior
    return {"X": X, "quadruplets": rows, "weights": [w / total for w in weights], "prior": prior}


def crossed() -> Inputs:
    """By hand: with M = diag(m, n) a near pair at 3 sqrt m, a far one at sqrt n, as 3 > 1; the other is kept.

    tr M - log det M + (3 sqrt m - sqrt n)^2 is stationary where 10 m - 3 sqrt(m n) = 1 and 2 n - 3 sqrt(m n) = 1. So
    5 m = n, and m = 1 / (10 - 3 sqrt 5): the objective is -log(5 m^2).
    """
    X = [[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 9.0]]
    rows = [[0, 1, 0, 2], [0, 2, 0, 3]]
    return {"X": X, "quadruplets": rows, "weights": [1.0, 0.0], "prior": np.eye(2).tolist()}


def far_twins() -> Inputs:
    """The first wine once more, with a label of its own, and a far pair of the two."""
    X, y = sample(WINE, 14)
    given = lsml([*X, X[0]], [*y, 2], 11, 8)
    near = given["quadruplets"][0][:2]
    return {**given, "quadruplets": [*given["quadruplets"][1:], [*near, 0, len(X)]]}


def by_pairs(X: Points, pairs: dict[str, list[list[int]]]) -> Inputs:
    """MMC and DML-eig."""
    return {"X": X, "pairs": pairs}


def collinear() -> Inputs:
    """All points on the line t (1, 2), so that only (1, 2) A (1, 2)^T = a is determined, and the rest of A is not.

    By hand: the similar pairs are at t = 1 and 2, a = 1/5; the dissimilar at 3, 4 and 0: the maximum is 7 / sqrt 5.
    """
    X = [[t, 2 * t] for t in (0.0, 1.0, 3.0, 4.0, 4.0)]
    return by_pairs(X, {"similar": [[0, 1], [1, 2]], "dissimilar": [[0, 2], [0, 3], [3, 4]]})


def crossing() -> Inputs:
    """By hand: similar pairs along both axes, S = diag(1, 4); dissimilar pairs along them too, at 2 and at 6.

    In units in which S is I they are at 2 and at 3: with A = diag(a, b / 4), a + b = 1, the least of 4 a and 9 b is
    largest where both are 36/13: a = 9/13, b = 4/13.
    """
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 6.0]]
    return by_pairs(X, {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]})


def flowers(step: int, seed: int, count: int) -> Inputs:
    X, y = sample(IRIS, step)
    return by_pairs(X, pairs_of(y, seed, count))


def flower_pairs() -> Inputs:
    given = flowers(7, 109, 30)
    return itml(given["X"], given["pairs"], 0.5, [0.5, 6.0])


def wines(step: int, features: int, seed: int, count: int) -> Inputs:
    X, y = sample(WINE, step)
    return by_pairs([row[:features] for row in X], pairs_of(y, seed, count))


WEIGHTS = Mistake("mu weighs the targets and 1 - mu the impostors", params={"mu": 0.6})
ROOTS = "bounds sqrt(u) and sqrt(l): distances where the paper has squared ones"
LEAST = Mistake(
    "the least squared distance of a dissimilar pair where the paper has the sum of distances", "dml_eig"
)
SUM = Mistake(
    "the sum of distances of dissimilar pairs where the paper has the least squared distance", "mmc"
)
TIGHT = Mistake("exp(-D/2) where the paper has exp(-D)", times=2.0)


def flocks(seed: int, sizes: tuple[int, ...], apart: float) -> Inputs:
    """MCML: one class of so many points after another."""
    y = [c for c, size in enumerate(sizes) for _ in range(size)]
    X = normal(seed, len(y), 3)
    return {"X": [[round(row[0] + apart * c, 3), *row[1:]] for row, c in zip(X, y, strict=True)], "y": y}


def alone() -> Inputs:
    """The last point is the only one of its class, and equal to the first."""
    given = flocks(57, (7, 8), 1.5)
    return {"X": [*given["X"], given["X"][0]], "y": [*given["y"], 2]}


def chunks(X: Points, chunklets: list[int], alpha: float = 0.0) -> Inputs:
    """RCA."""
    return {"X": X, "chunklets": chunklets, "alpha": alpha}


def crosses() -> Inputs:
    """By hand: C = diag(1/2, 2), B* = diag(2, 1/2), the optimum is 2.

    A chunklet along each axis, of 4 points in all, and a point that is in none and says nothing.
    """
    X = [[1.0, 7.0], [-1.0, 7.0], [3.0, 2.0], [3.0, -2.0], [9.0, 9.0]]
    return chunks(X, [0, 0, 4, 4, -1])


def means(X: Points, similar: list[list[int]], dissimilar: list[list[int]], mu: float = 0.0) -> Inputs:
    """GMML with a weight of 1/2."""
    return {"X": X, "pairs": {"similar": similar, "dissimilar": dissimilar}, "weight": 0.5, "mu": mu}


def likelihood(X: Points, similar: list[list[int]], dissimilar: list[list[int]], b: float | str) -> Inputs:
    """LDML."""
    return {"X": X, "pairs": {"similar": similar, "dissimilar": dissimilar}, "b": b}


def flower_lists() -> tuple[Points, list[list[int]], list[list[int]]]:
    given = flowers(7, 109, 30)
    return given["X"], *given["pairs"].values()


def wine_lists() -> list[list[list[int]]]:
    return list(pairs_of(sample(WINE, 9)[1], 103, 20).values())


def axes() -> Inputs:
    """By hand: with a scale of each pair its own length A = 1/e, S_w = diag(8, 2)/e, S_b = diag(4 - 4/e, 5 - 1/e).

    Of one component the optimum is -(5 e - 1)/2, along the second axis: M = diag(0, e/2).
    """
    X = [[0.0, -1.0], [0.0, 1.0], [-2.0, 2.0], [2.0, 2.0]]
    return directions(X, [0, 0, 1, 1], 1, 1, "plain")


def directions(X: Points, y: list[int], r: int, k: int, embedding: str, alpha: float = 0.0) -> Inputs:
    """LFDA."""
    return {"X": X, "y": y, "n_components": r, "n_neighbors": k, "embedding": embedding, "alpha": alpha}


def sparse(X: Points, pairs: dict[str, list[list[int]]], eta: float, lam: float, prior: Any = None) -> Inputs:
    """SDML with explicit pairs; the prior is the identity if it is not given."""
    prior = np.eye(len(X[0])).tolist() if prior is None else prior
    return {"X": X, "pairs": pairs, "eta": eta, "lam": lam, "prior": prior}


def diagonal_pair() -> Inputs:
    """By hand: S = I + (1, 1)(1, 1)^T / 2, and lam takes 1/4 off its entry 1/2: W = [[3/2, 1/4], [1/4, 3/2]], M = W^-1.

    The optimum is 2 + log det W = 2 + log(35/16).
    """
    return sparse([[0.0, 0.0], [1.0, 1.0]], {"similar": [[0, 1]], "dissimilar": []}, 0.5, 0.25)


def flower_sums() -> Inputs:
    given = flowers(7, 109, 30)
    return sparse(given["X"], given["pairs"], 0.001, 0.05, (np.eye(4) + 0.25).tolist())


def indefinite() -> Inputs:
    """A feature twice, and S = I + eta T with an eigenvalue below 0: lam alone makes the problem bounded."""
    X, y = sample(WINE, 9)
    return sparse([[*row[:3], row[0]] for row in X], pairs_of(y, 103, 20), 0.01, 0.75)


SWAPPED = {"similar": [[0, 3], [0, 4]], "dissimilar": [[0, 1], [0, 2]]}


RELATIVES = (
    Definition(
        "lmnn-line",
        "lmnn",
        "one feature, one triplet, solvable by hand: M = 1/8",
        lambda: lmnn([[0.0], [1.0], [3.0]], [0, 0, 1], 0.4, targets=[[1], [], []]),
    ),
    Definition(
        "lmnn-iris",
        "lmnn",
        "every seventh flower, z-scored, two targets each",
        lambda: lmnn(*sample(IRIS, 7), 0.4, 2),
        mistakes={
            "weights": WEIGHTS,
            "squared": Mistake("squared hinge", "lmnn:squared_hinge"),
        },
    ),
    Definition(
        "lmnn-twins",
        "lmnn",
        "equal points of different classes: a margin that no metric keeps",
        twins,
        ("duplicates",),
        {"weights": WEIGHTS, "squared": Mistake("squared hinge", "lmnn:squared_hinge")},
    ),
    Definition(
        "lmnn-triplets",
        "lmnn",
        "the triplets of two neighbours of every ninth flower, given: what is further than those is no impostor",
        lambda: (
            {name: value for name, value in frobmetric(*sample(IRIS, 9), 1.0, 2).items() if name != "C"}
            | {"mu": 0.7}
        ),
        mistakes={
            "weights": WEIGHTS._replace(params={"mu": 0.3}),
            "squared": Mistake("squared hinge", "lmnn:squared_hinge"),
        },
    ),
    Definition(
        "lmnn-squared-line",
        "lmnn:squared_hinge",
        "one feature, one triplet, solvable by hand: M = (1 - 1/24)/8",
        lambda: lmnn([[0.0], [1.0], [3.0]], [0, 0, 1], 0.6, targets=[[1], [], []]),
        mistakes={"linear": Mistake("the hinge not squared", "lmnn")},
    ),
    Definition(
        "lmnn-squared-wine",
        "lmnn:squared_hinge",
        "every ninth wine, four features, z-scored, the first of them twice: the metric is not unique",
        repeated_feature,
        ("rank deficient", "not unique"),
        {"weights": WEIGHTS, "linear": Mistake("the hinge not squared", "lmnn")},
    ),
    Definition(
        "frobmetric-line",
        "frobmetric",
        "one feature, one triplet, solvable by hand: X = 1/8, where its margin is kept",
        lambda: {"X": [[0.0], [1.0], [3.0]], "y": [0, 0, 1], "C": 1.0, "triplets": [[0, 1, 2]]},
        mistakes={"small": Mistake("C = 1/128: the margin is missed", params={"C": 1 / 128})},
    ),
    Definition(
        "frobmetric-iris",
        "frobmetric",
        "every seventh flower, z-scored, two targets and two impostors each",
        lambda: frobmetric(*sample(IRIS, 7), 10.0, 2),
        mistakes={"half": Mistake("the norm without 1/2", params={"C": 5.0})},
    ),
    Definition(
        "rtml-line",
        "rtml",
        "one feature, one triplet, solvable by hand: M = 1/10, where its margin 4/5 is missed by less than the width",
        lambda: {
            "X": [[0.0], [1.0], [3.0]],
            "y": [0, 0, 1],
            "lam": 32.0,
            "width": 0.5,
            "triplets": [[0, 1, 2]],
        },
        mistakes={"hinge": Mistake("the hinge, not smoothed", params={"width": 0.0})},
    ),
    Definition(
        "plml-line",
        "plml",
        "one feature, two metrics, a triplet seen by half of each: both are 1/8, and the margin is kept",
        lambda: {
            "X": [[0.0], [1.0], [3.0]],
            "y": [0, 0, 1],
            "alpha1": 1.0,
            "alpha2": 0.5,
            "weights": [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]],
            "triplets": [[0, 1, 2]],
        },
        mistakes={"hard": Mistake("the first metric alone", params={"weights": [[1.0, 0.0]] * 3})},
    ),
    Definition(
        "plml-iris",
        "plml",
        "every tenth flower, z-scored, two targets and two impostors each, three metrics",
        lambda: plml(*sample(IRIS, 10), 3, 10.0, 1.0, 2),
        mistakes={
            "half": Mistake("alpha1/2 where there is alpha1", params={"alpha1": 5.0}),
            "no pull": Mistake("no pairs pulled together", params={"alpha2": 0.0}),
        },
    ),
    Definition(
        "rtml-iris",
        "rtml",
        "every seventh flower, z-scored, two targets and two impostors each",
        lambda: rtml(*sample(IRIS, 7), 10.0, 0.05, 2),
        mistakes={
            "half": Mistake("the norm without 1/2", params={"lam": 20.0}),
            "mean": Mistake("the mean over triplets for their sum", params={"lam": 880.0}),
            "hinge": Mistake("the hinge, not smoothed", params={"width": 0.0}),
        },
    ),
    Definition(
        "schultz-joachims-line",
        "schultz_joachims",
        "one feature, one triplet, solvable by hand: M = 1/8, where its margin is kept",
        lambda: {"X": [[0.0], [1.0], [3.0]], "y": [0, 0, 1], "C": 1.0, "triplets": [[0, 1, 2]]},
        mistakes={"small": Mistake("C = 1/128: the margin is missed", params={"C": 1 / 128})},
    ),
    Definition(
        "schultz-joachims-iris",
        "schultz_joachims",
        "every seventh flower, z-scored, two targets and two impostors each; eight columns for A",
        lambda: schultz_joachims(*sample(IRIS, 7), 0.05, np.transpose(VECTORS).astype(float).tolist(), 2),
        mistakes={
            "half": Mistake("the norm without 1/2", params={"C": 0.025}),
            "features": Mistake("weights of the features", params={"A": np.eye(4).tolist()}),
        },
    ),
    Definition(
        "scml-triplet",
        "scml",
        "two features, one triplet of margin 3 w_0 + 8 w_1, solvable by hand: w = (0, 1/8), at a cost of 1/4",
        lambda: {
            "X": [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]],
            "y": [0, 0, 1],
            "beta": 2.0,
            "basis": np.eye(2).tolist(),
            "triplets": [[0, 1, 2]],
        },
        mistakes={"dear": Mistake("beta = 10, at which no weight is worth its cost", params={"beta": 10.0})},
    ),
    Definition(
        "scml-iris",
        "scml",
        "every seventh flower, z-scored, two targets and two impostors each, eight vectors of several lengths",
        lambda: scml(*sample(IRIS, 7), 0.05, np.array(VECTORS, dtype=float).tolist(), 2),
        mistakes={
            "sum": Mistake("the sum over triplets for their mean", params={"beta": 0.05 / 88}),
            "features": Mistake("weights of the features", params={"basis": np.eye(4).tolist()}),
        },
    ),
    Definition(
        "boostmetric-line",
        "boostmetric",
        "one feature, two triplets, one of which is always a tie, solvable by hand: X = log(3) / 8",
        lambda: {
            "X": [[0.0], [1.0], [3.0], [-1.0]],
            "y": [0, 0, 1, 1],
            "v": 2.0,
            "triplets": [[0, 1, 2], [0, 1, 3]],
        },
        mistakes={"another": Mistake("v = 1", params={"v": 1.0})},
    ),
    Definition(
        "boostmetric-iris",
        "boostmetric",
        "every seventh flower, z-scored, two targets and two impostors each",
        lambda: boostmetric(*sample(IRIS, 7), 0.5, 2),
        mistakes={"small": Mistake("v = 0.4", params={"v": 0.4})},
    ),
    Definition(
        "lsml-crossed",
        "lsml",
        "one comparison that counts, solvable by hand: M = diag(m, 5 m), m = 1 / (10 - 3 sqrt 5)",
        crossed,
        mistakes={
            "exchanged": Mistake("both weights exchanged", params={"weights": [0.0, 1.0]}),
            "half": Mistake("half the weight each", params={"weights": [0.5, 0.5]}),
        },
    ),
    Definition(
        "lsml-iris",
        "lsml",
        "every seventh flower, z-scored, thirty quadruplets of three weights, a prior that is not diagonal",
        lambda: lsml(*sample(IRIS, 7), 113, 30, (np.eye(4) + 0.25).tolist()),
        mistakes={
            "uniform": Mistake("the same weight for all", params={"weights": [1 / 30] * 30}),
            "identity": Mistake("the identity as prior", params={"prior": np.eye(4).tolist()}),
        },
    ),
    Definition(
        "lsml-twins",
        "lsml",
        "a far pair of equal points, which no metric keeps apart, in more features than the pairs show",
        far_twins,
        ("duplicates", "rank deficient"),
    ),
    Definition(
        "rca-crosses",
        "rca",
        "two chunklets and a point in none, solvable by hand: B = diag(2, 1/2)",
        crosses,
        mistakes={
            "stray": Mistake("the points of no chunklet in one", params={"chunklets": [0, 0, 4, 4, 4]}),
        },
    ),
    Definition(
        "rca-iris",
        "rca",
        "every seventh flower, z-scored, in chunklets of two to five, some flowers in none",
        lambda: chunks(
            sample(IRIS, 7)[0], [0, 0, 0, 1, 1, -1, 2, -1, 3, 3, 3, 3, 3, -1, 4, 4, 4, 5, 5, -1, 5, 5]
        ),
        mistakes={
            "total": Mistake("the covariance of all points in chunklets", params={"chunklets": [0] * 22}),
        },
    ),
    Definition(
        "rca-singular",
        "rca",
        "a feature twice: C is singular but for alpha",
        lambda: chunks([[*row[:3], row[0]] for row in sample(WINE, 9)[0]], sample(WINE, 9)[1], 0.25),
        ("rank deficient",),
        {"alpha": Mistake("half of alpha", params={"alpha": 0.125})},
    ),
    Definition(
        "ldml-line",
        "ldml",
        "one similar and three dissimilar pairs at the same distance, solvable by hand: M = 1 + log 3",
        lambda: likelihood([[0.0], [1.0], [2.0], [3.0], [4.0]], [[0, 1]], [[1, 2], [2, 3], [3, 4]], 1.0),
        mistakes={"tiny": Mistake("b = 1e-3", params={"b": 1e-3})},
    ),
    Definition(
        "ldml-iris",
        "ldml",
        "every seventh flower, z-scored, thirty pairs of each kind, b free",
        lambda: likelihood(*flower_lists(), "free"),
        mistakes={"tiny": Mistake("b = 1e-3", params={"b": 1e-3})},
    ),
    Definition(
        "mlr-line",
        "mlr",
        "two classes of two points on a line, AUC, solvable by hand: W = 1/16",
        two_twos,
        mistakes={
            "sum": Mistake("the sum of the slacks", params={"C": 2.0}),
            "zero_one": Mistake("y_ij = 0 where it is -1", params={"C": 0.25}, times=2.0),
        },
    ),
    Definition(
        "mlr-iris",
        "mlr",
        "every tenth flower, z-scored, mean average precision",
        lambda: mlr(*sample(IRIS, 10), "map", 3, 20.0),
        mistakes={
            "sum": Mistake("the sum of the slacks", params={"C": 300.0}),
            "auc": Mistake("AUC where there is another measure", params={"measure": "auc"}),
        },
    ),
    Definition(
        "mlr-wine",
        "mlr",
        "every twelfth wine, five features, z-scored, NDCG of the first three",
        lambda: mlr(*few_wines(), "ndcg", 3, 20.0),
        mistakes={"whole_list": Mistake("the whole ranking", params={"k": 15})},
    ),
    Definition(
        "gmml-squares",
        "gmml",
        "pairs along two axes, solvable by hand: A = diag(2, 3)",
        lambda: means(
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]], [[0, 1], [0, 2]], [[0, 3], [0, 4]]
        ),
        mistakes={"exchanged": Mistake("the roles exchanged", params={"pairs": SWAPPED})},
    ),
    Definition(
        "gmml-iris",
        "gmml",
        "every seventh flower, z-scored, thirty pairs of each kind",
        lambda: means(*flower_lists()),
        mistakes={"no_mu": Mistake("mu is added", params={"mu": 5.0})},
    ),
    Definition(
        "gmml-singular",
        "gmml",
        "a feature twice: S and D are singular but for mu",
        lambda: means([[*row[:3], row[0]] for row in sample(WINE, 9)[0]], *wine_lists(), 4.0),
        ("rank deficient",),
        {"mu": Mistake("every pair in both orders, beside mu", params={"mu": 2.0})},
    ),
    Definition(
        "lfda-axes",
        "lfda",
        "two classes of two points, along the axes, solvable by hand: M = diag(0, e/2)",
        axes,
    ),
    Definition(
        "lfda-iris",
        "lfda",
        "every seventh flower, z-scored, two components, weighted",
        lambda: directions(*sample(IRIS, 7), 2, 3, "weighted"),
        mistakes={"neighbors": Mistake("one neighbour less", params={"n_neighbors": 2})},
    ),
    Definition(
        "lfda-singular",
        "lfda",
        "a feature twice: S_w is singular but for alpha; an orthonormal basis",
        lambda: directions(
            [[*row[:3], row[0]] for row in sample(WINE, 9)[0]], sample(WINE, 9)[1], 2, 2, "orthonormal", 0.25
        ),
        ("rank deficient",),
        {"alpha": Mistake("half of alpha", params={"alpha": 0.125})},
    ),
    Definition(
        "sdml-diagonal-pair",
        "sdml",
        "one similar pair, solvable by hand: M = [[3/2, 1/4], [1/4, 3/2]]^-1",
        diagonal_pair,
        mistakes={"once": Mistake("each entry off the diagonal once", params={"lam": 0.125})},
    ),
    Definition(
        "sdml-iris",
        "sdml",
        "every seventh flower, z-scored, thirty pairs of each kind, a prior that is not diagonal",
        flower_sums,
        mistakes={
            "mean": Mistake("the mean over pairs", params={"eta": 0.001 / 60}),
            "ordered": Mistake("every pair in both orders", params={"eta": 0.002}),
        },
    ),
    Definition(
        "sdml-indefinite",
        "sdml",
        "a feature twice, and S is indefinite: the problem is bounded all the same",
        indefinite,
        ("rank deficient",),
        {"once": Mistake("each entry off the diagonal once", params={"lam": 0.375})},
    ),
    Definition(
        "itml-iris",
        "itml",
        "every seventh flower, z-scored, thirty pairs of each kind",
        flower_pairs,
        mistakes={
            "gamma": Mistake("2 gamma: every pair in both orders", params={"gamma": 1.0}),
            "printed": Mistake(
                "gamma = 1, u/gamma and l/gamma: Algorithm 1 as printed",
                params={"gamma": 1.0, "bounds": [1.0, 12.0]},
            ),
            "roots": Mistake(ROOTS, params={"bounds": [0.5**0.5, 6.0**0.5]}),
        },
    ),
    Definition(
        "itml-at-the-bound",
        "itml",
        "two pairs exactly at their bounds, solvable by hand: A = diag(1, 3/11)",
        at_the_bound,
        mistakes={"gamma": Mistake("2 gamma: every pair in both orders", params={"gamma": 1.0})},
    ),
    Definition(
        "itml-prior",
        "itml",
        "features in units of 10 and 1/10, a prior to match, a similar pair of equal points",
        with_prior,
        ("scales", "duplicates"),
        {
            "identity": Mistake("the identity as prior", params={"prior": np.eye(3).tolist()}),
            "roots": Mistake(ROOTS, params={"bounds": [1.0, 6.0**0.5]}),
        },
    ),
    Definition(
        "mmc-iris",
        "mmc",
        "every seventh flower, z-scored, forty pairs of each kind",
        lambda: flowers(7, 101, 40),
        mistakes={"least": LEAST, "diagonal": Mistake("A diagonal", "mmc:diagonal")},
    ),
    Definition(
        "mmc-collinear",
        "mmc",
        "points on a line, a dissimilar pair of equal points; the maximum by hand: 7/sqrt 5",
        collinear,
        ("rank deficient", "not unique", "duplicates"),
    ),
    Definition(
        "mmc-diagonal-wine",
        "mmc:diagonal",
        "every eighth wine, five features, z-scored, forty pairs of each kind",
        lambda: wines(8, 5, 103, 40),
    ),
    Definition(
        "dml-eig-crossing",
        "dml_eig",
        "two pairs that hold each other, solvable by hand: A = diag(9/13, 1/13)",
        crossing,
        mistakes={"sum": SUM},
    ),
    Definition(
        "dml-eig-iris",
        "dml_eig",
        "every seventh flower, z-scored, thirty pairs of each kind",
        lambda: flowers(7, 107, 30),
        mistakes={"sum": SUM},
    ),
    Definition(
        "mcml-sizes",
        "mcml",
        "three overlapping classes of four, six and nine points",
        lambda: flocks(55, (4, 6, 9), 1.0),
        mistakes={
            "half": TIGHT,
            "nca": Mistake(
                "log of the sum over the class, as NCA's g",
                "nca",
                {"criterion": "g", "n_components": 3, "init": "identity"},
            ),
        },
    ),
    Definition(
        "mcml-alone",
        "mcml",
        "a point alone in its class, two equal points of different classes",
        alone,
        ("duplicates",),
        {"half": TIGHT},
    ),
    Definition(
        "mcml-apart",
        "mcml",
        "classes of two, every point nearest to its partner: the infimum 0 is approached at infinity",
        lambda: {
            "X": [[0.0, 0.0], [0.125, 0.0], [5.0, 1.0], [5.0, 1.125], [9.0, 4.0], [9.0, 4.125]],
            "y": [0, 0, 1, 1, 2, 2],
        },
        ("not attained",),
    ),
)
