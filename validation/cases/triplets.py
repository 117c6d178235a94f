"""Golden cases of the methods that compare distances of points: their inputs, and the mistakes tried on them.

Targets, triplets and rankings are given, so that nothing is chosen by a distance. Where the answer is known by hand, it
is said.
"""

from __future__ import annotations

import numpy as np

from cvxml.methods import get
from validation.cases.inputs import IRIS, WINE, Definition, Inputs, Mistake, Points, classes, sample


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


WEIGHTS = Mistake("mu weighs the targets and 1 - mu the impostors", params={"mu": 0.6})


BY_TRIPLETS = (
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
)
