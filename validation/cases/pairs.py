"""Golden cases of the methods on pairs, quadruplets, chunklets or classes: their inputs, and the mistakes tried.

Pairs are given, so that nothing is chosen by a distance. Where the answer is known by hand, it is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from validation.cases.inputs import IRIS, WINE, Definition, Inputs, Mistake, Points, classes, normal, sample


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


BY_PAIRS = (
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
                "gamma = 1, u/gamma and l/gamma: Algorithm 1 as quoted",
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
