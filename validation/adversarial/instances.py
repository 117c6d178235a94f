"""Points on which double precision decides wrongly, for every method, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cvxml.methods import get
from validation.adversarial.exact import precision
from validation.adversarial.problems import CONVEX
from validation.adversarial.truth import float_distances, nearest

METHODS = (
    "mlsvm:knn",
    "mlsvm:per-class",
    "kernel_mlsvm",
    "ssvm",
    "glml",
    "nca:f",
    "nca:g",
    "nca:f:rank",
    "nca:g:rank",
    "lmnn",
    "lmnn:squared_hinge",
    "itml",
    "mcml",
    "mmc",
    "mmc:diagonal",
    "dml_eig",
    "frobmetric",
    "rtml",
    "boostmetric",
    "ldml",
    "lsml",
    "schultz_joachims",
    "rca",
    "gmml",
    "lfda",
    "sdml",
    "scml",
    "plml",
    "mlr",
)


class Instance(NamedTuple):
    """A problem for the package (`id` and params), and directions, of integers, in which little can be seen."""

    method: str  # of METHODS
    family: str
    X: Any
    y: Any
    params: dict[str, Any]
    directions: list[Any]
    optimum: Any = None  # a metric that is optimal by construction

    @property
    def id(self) -> str:
        """The method, for the package."""
        return id_of(self.method)


def id_of(method: str) -> str:
    """The method of the package: `mlsvm:knn` and `nca:g:rank` are variants of one."""
    name, _, rest = method.partition(":")
    return name if name in ("mlsvm", "nca") else f"{name}:{rest}" if rest else name


Points = tuple[Any, Any, list[Any]]


def coarse(rng: Any, *shape: int) -> Any:
    """Numbers of few bits."""
    return np.round(rng.standard_normal(shape) * 16) / 16


def labels(n: int, classes: int = 2) -> Any:
    return np.arange(n) % classes


def shape(rng: Any, small: bool, least: int = 1) -> tuple[int, int]:
    return int(rng.integers(6, 8 if small else 13)), int(rng.integers(least, 5))


def plain(rng: Any, small: bool, least: int = 1) -> Points:
    """Overlapping classes."""
    n, d = shape(rng, small, least)
    y = labels(n, int(rng.integers(2, 4)) if n >= 9 else 2)
    X = coarse(rng, n, d) if rng.random() < 0.5 else rng.standard_normal((n, d))
    X[:, 0] += y * rng.choice([0, 1, 3])
    return X, y, []


def collinear(rng: Any, small: bool) -> Points:
    """The last feature is a sum of the first two, exactly."""
    X, y, _ = plain(rng, small, 2)
    X = np.round(X * 16) / 16
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    return X, y, [_direction(X, 0, 1, -1)]


def summed(rng: Any, small: bool) -> Points:
    """The same in floats, so that it is not quite."""
    X, y, _ = plain(rng, small, 2)
    X = X + rng.standard_normal(X.shape) * rng.choice([1e-3, 1.0])
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    return X, y, [_direction(X, 0, 1, -1)]


def nearly(rng: Any, small: bool) -> Points:
    """Two features that differ by 2^-10 to 2^-60, in noise."""
    X, y, _ = plain(rng, small)
    X = np.round(X * 16) / 16
    size = 2.0 ** -int(rng.integers(10, 61))
    if size < 2.0**-48:
        X[rng.random(len(X)) < 0.6, 0] = 0
    X = np.column_stack([X, X[:, 0] + size * np.round(rng.standard_normal(len(X)) * 4)])
    return X, y, [_direction(X, 0, -1)]


def apart(rng: Any, small: bool) -> Points:
    """Classes 2^-10 to 2^-60 apart along (1, -1), in which nothing else differs."""
    X, y, _ = plain(rng, small)
    X = np.round(X * 16) / 16
    size = 2.0 ** -int(rng.integers(10, 61))
    if size < 2.0**-48:
        X[:, 0] = np.where(rng.random(len(X)) < 0.4, X[:, 0], 0)
    X = np.column_stack([X, X[:, 0] + size * y])
    return X, y, [_direction(X, 0, -1)]


def duplicates(rng: Any, small: bool) -> Points:
    """Points that are there twice, some of them in two classes."""
    X, y, _ = plain(rng, small)
    for _ in range(int(rng.integers(1, 4))):
        i, j = rng.choice(len(X), 2, replace=False)
        X[i] = X[j]
    return X, y, []


def next_to(rng: Any, small: bool) -> Points:
    """Two points of two classes 1e-4 to 1e-14 apart."""
    X, y, _ = plain(rng, small)
    X[1] = X[0] + rng.standard_normal(X.shape[1]) * 10.0 ** -rng.integers(4, 15)
    return X, y, []


def tiny(rng: Any, small: bool) -> Points:
    """Features of 1e-3 to 1e-160."""
    X, y, _ = plain(rng, small)
    return X * 10.0 ** -rng.choice([3, 6, 12, 30, 75, 100, 150, 155, 160]), y, []


def huge(rng: Any, small: bool) -> Points:
    """Features of 1e3 to 1e160."""
    X, y, _ = plain(rng, small)
    return X * 10.0 ** rng.choice([3, 6, 12, 30, 75, 100, 150, 155, 160]), y, []


def wide(rng: Any, small: bool) -> Points:
    """Features of different sizes."""
    X, y, _ = plain(rng, small, 2)
    X = X * 10.0 ** (rng.permutation(X.shape[1]) * rng.choice([-12, -8, -6, -3, 6, 40]))
    return X, y, []


def offset(rng: Any, small: bool) -> Points:
    """Features around 1e4 to 1e10."""
    X, y, _ = plain(rng, small)
    return X + 10.0 ** rng.integers(4, 11), y, []


def separate(rng: Any, small: bool) -> Points:
    """Classes far apart: every margin can be had at next to no cost, or for lists of one class at none."""
    X, y, _ = plain(rng, small)
    X[:, 0] = 10.0 ** rng.integers(1, 7) * y + X[:, 0] * rng.choice([1, 1e-3, 0])
    return X, y, []


def unbounded(rng: Any, small: bool) -> Points:
    """A direction, by itself or 2^-k of another, in which classes differ and no class has any spread."""
    X, y, _ = plain(rng, small)
    extra = y * 2.0 ** -int(rng.integers(0, 61))
    if rng.random() < 0.3 and len(X) > 8:
        extra[0] += 2.0 ** -int(rng.integers(0, 80))  # but for one point: then it is bounded
    return np.column_stack([X, extra]), y, []


def far(rng: Any, small: bool) -> Points:
    """Alternating labels on a line, or classes of two: no metric is good, or the best is at infinity."""
    n = int(rng.integers(6, 8 if small else 11))
    X = np.arange(n)[:, None] * 1.0 + coarse(rng, n, 1) * rng.choice([0, 0.1])
    y = np.arange(n) % 2 if rng.random() < 0.5 or small or n % 2 else np.arange(n) // 2
    return np.column_stack([X, coarse(rng, n, int(rng.integers(0, 3)))]), y, []


FAMILIES: dict[str, Callable[[Any, bool], Points]] = {
    "plain": plain,
    "collinear": collinear,
    "summed": summed,
    "nearly": nearly,
    "apart": apart,
    "duplicates": duplicates,
    "next to": next_to,
    "tiny": tiny,
    "huge": huge,
    "wide": wide,
    "offset": offset,
    "separate": separate,
    "unbounded": unbounded,
    "far": far,
}


def _direction(X: Any, *first: int) -> Any:
    """(first two, 0, ..., last)."""
    v = np.zeros(X.shape[1], dtype=int)
    v[: len(first) - 1], v[-1] = first[:-1], first[-1]
    return v


def instance(method: str, seed: int) -> Instance:
    """The seed-th of a method."""
    rng = np.random.default_rng([seed, METHODS.index(method)])
    family = list(FAMILIES)[seed % len(FAMILIES)]
    name = method.split(":")[0]
    if family == "plain" and rng.random() < 0.5:
        if solved := by_hand(id_of(method)):
            return in_other_units(method, solved[int(rng.integers(len(solved)))], rng)
        if name == "mlsvm":
            return known(method, rng)
    X, y, directions = FAMILIES[family](rng, name in ("ssvm", "kernel_mlsvm", "mlr"))
    if name in ("ssvm", "glml"):
        y = y % 2
    order = rng.permutation(len(X))
    X, y = np.ascontiguousarray(X[order]), y[order]
    if name == "plml":
        directions = []  # they would be of one block
    return Instance(method, family, X, y, PARAMETERS[name](method, X, y, family, rng), directions)


def known(method: str, rng: Any) -> Instance:
    """MLSVM from KKT: every constraint has a centre, a target and an impostor of its own, on an axis of its own.

    A* = diag(alpha). Axis k: the impostor is beta away along it, the target 1 away along the last axis, where A* is 0.
    Interior: alpha beta^2 = 1 and a price lam alpha / beta^2 of less than 1/n. Capped: the price is 1/n, beta^2 = lam
    alpha n, margin at most 1. All are powers of two, n = 16.
    """
    n, axes = 16, 3
    lam = 2.0 ** -int(rng.integers(0, 4)) * 4
    X, y, lists = np.zeros((n, axes + 1)), np.zeros(n, dtype=int), [[] for _ in range(n)]
    A = np.zeros(axes + 1)
    for k in range(axes):
        # lam alpha^2 < 1/16 is interior
        power = int(rng.integers(-4, 1))
        A[k], beta = (4.0**power, 2.0**-power) if lam * 4.0 ** (2 * power) < 1 / n else (0, 0)
        if beta == 0:
            A[k] = 4.0 ** -int(rng.integers(2, 4)) / lam
            beta = np.sqrt(lam * A[k] * n)
        centre = 3 * k
        X[centre] = coarse(rng, axes + 1)
        X[centre + 1], X[centre + 2] = X[centre], X[centre]
        X[centre + 1, -1] += 1
        X[centre + 2, k] += beta
        y[centre + 2] = 1
        lists[centre] = [centre + 1, centre + 2]
    X[9:] = coarse(rng, n - 9, axes + 1)
    return Instance(method, "known", X, y, {"lam": lam, "neighbors": lists}, [], np.diag(A))


class Solved(NamedTuple):
    """A problem with its optimum, both given explicitly."""

    X: Any  # (n, d)
    y: Any  # (n,) numbers
    params: dict[str, Any]
    optimum: Any  # (d, d)


@cache
def by_hand(name: str) -> tuple[Solved, ...]:
    """The problems of `HAND` of the method that the truth of this folder can judge: it finds the same optimum there."""
    found = []
    for hand in get(name).HAND if name in CONVEX else ():
        if hand.metric is None or "pairs" in hand.params:
            continue
        X, optimum = np.array(hand.X, float), np.array(hand.metric, float)
        y = labels(len(X)) if hand.y is None else np.unique(hand.y, return_inverse=True)[1]
        given = get(name).instance(X, hand.y, **hand.params)
        params = {key: value for key, value in get(name).stored(given).items() if key != "pairs"}
        if "neighbors" in get(name).PARAMETERS:
            params = {
                key: value for key, value in params.items() if key not in ("n_neighbors", "neighborhood")
            }
            params["neighbors"] = [listed.tolist() for listed in get(name).neighbor_lists(given)]
        with precision():
            problem = CONVEX[name](X, y, **params)
            value = float(problem.value(problem.image(optimum)).mid())
        if abs(value - hand.objective) <= 1e-9 * (1 + abs(hand.objective)):
            found.append(Solved(X, y, params, optimum))
    return tuple(found)


def in_other_units(method: str, solved: Solved, rng: Any) -> Instance:
    """The same problem with features in a unit that is a power of two, and the parameters that follow it."""
    units, exponent = get(id_of(method)).UNITS, int(rng.integers(-6, 7))
    if units is None or "basis" in solved.params:
        exponent = 0
    unit, params = 2.0**exponent, dict(solved.params)
    for key, power in {**(units or {}), "prior": -2}.items():  # a prior is a metric
        if key in params and not isinstance(params[key], str):
            params[key] = (np.asarray(params[key]) * unit**power).tolist()
    return Instance(method, "by hand", unit * solved.X, solved.y, params, [], solved.optimum / unit**2)


def _mlsvm(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    D, n = float_distances(X), len(X)
    if method.endswith("per-class"):
        lists = [
            nearest(D, i, [j for j in range(n) if y[j] == y[i] and j != i], 2)
            + nearest(D, i, [j for j in range(n) if y[j] != y[i]], 2)
            for i in range(n)
        ]
    else:
        lists = [nearest(D, i, [j for j in range(n) if j != i], 4) for i in range(n)]
    lam = float(10 ** rng.uniform(-4, 2))
    if family == "separate" and rng.random() < 0.5:  # lists of one class only: the optimum is 0
        lists = [[j for j in listed if y[j] == y[i]] for i, listed in enumerate(lists)]
        lam = float(10.0 ** rng.choice([-18, -15, -12, -6, -1]))
    elif rng.random() < 0.5:  # of the same size as the slacks
        with np.errstate(all="ignore"):
            natural = float(lam * np.square(np.median(D[D > 0]))) if (D > 0).any() else lam
        lam = natural if 1e-290 < natural < 1e290 else lam
    return {"lam": lam, "neighbors": [[int(j) for j in listed] for listed in lists]}


def _kernel(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    return {**_mlsvm(method, X, y, family, rng), "kernel": "poly", "degree": int(rng.integers(1, 4))}


def _lmnn(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    D, k = float_distances(X), int(rng.integers(1, 3))
    targets = [nearest(D, i, [j for j in range(len(X)) if y[j] == y[i] and j != i], k) for i in range(len(X))]
    return {"mu": float(rng.choice([0.5, 0.1, 0.9])), "targets": targets}


def _frobmetric(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    D, n, k = float_distances(X), len(X), int(rng.integers(1, 3))
    triplets = [
        [i, j, other]
        for i in range(n)
        for j in nearest(D, i, [j for j in range(n) if y[j] == y[i] and j != i], k)
        for other in nearest(D, i, [j for j in range(n) if y[j] != y[i]], k)
    ]
    C = float(10 ** rng.uniform(-4, 4))
    if rng.random() < 0.5:  # of the size at which margins are kept
        with np.errstate(all="ignore"):
            natural = float(C / np.square(np.median(D[D > 0]))) if (D > 0).any() else C
        C = natural if 1e-290 < natural < 1e290 else C
    return {"C": C, "triplets": triplets}


def _rtml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    given = _frobmetric(method, X, y, family, rng)
    return {
        "lam": 1 / given["C"],
        "width": float(rng.choice([0, 1e-6, 0.05, 1])),
        "triplets": given["triplets"],
    }


def _boostmetric(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    triplets = _frobmetric(method, X, y, family, rng)["triplets"]
    D = float_distances(X)
    far = max((D[i, k] for i, _, k in triplets), default=1.0)
    v = float(far * 10 ** rng.uniform(-3, 0.5)) if 1e-60 < far < 1e60 else 1.0
    return {"v": v, "triplets": triplets}


def _ldml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    b = "free" if rng.random() < 0.5 else float(rng.choice([-1.0, 0.0, 1e-3, 1.0, 30.0]))
    # of a stream of its own, so that the points of a seed stay the same
    own, given = rng.spawn(1)[0], {"b": b}
    if own.random() < 0.5:
        pairs = len(X) * (len(X) - 1) // 2
        given["losses"] = str(own.choice(["sum", "means"]))
        given["self_pairs"] = float(own.choice([0.0, 0.5, 1e-6, 1e6]))
        given["weights"] = np.ones(pairs) if own.random() < 0.5 else 10.0 ** own.integers(-6, 7, pairs)
    return given


def _itml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    D = float_distances(X)
    positive = D[(D > 0) & np.isfinite(D)]
    low, high = np.percentile(positive, [5, 95]) if len(positive) else (1.0, 2.0)
    prior = np.diag(2.0 ** rng.integers(-3, 4, X.shape[1])) if rng.random() < 0.5 else np.eye(X.shape[1])
    return {
        "gamma": float(10 ** rng.uniform(-4, 3)),
        "bounds": (float(low), min(float(high) * float(rng.choice([1, 1e-3, 10])), 1e300)),
        "prior": prior,
    }


def _lsml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    given = _itml(method, X, y, family, rng)
    n, count = len(X), int(rng.integers(1, 12))
    rows = [[*rng.permutation(n)[:2].tolist(), *rng.permutation(n)[:2].tolist()] for _ in range(count)]
    weights = rng.integers(0, 4, count) + (np.arange(count) == 0)
    known = {"prior": given["prior"], "quadruplets": rows}
    if rng.spawn(1)[0].random() < 0.5:
        return {**known, "weights": weights, "losses": "sum"}
    return {**known, "weights": weights / weights.sum()}


def _rca(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    chunklets = np.array(y)
    if rng.random() < 0.5:
        chunklets = rng.integers(-1, max(2, len(X) // 3), len(X))
    if (chunklets < 0).all():
        chunklets[:2] = 0
    return {"chunklets": chunklets.tolist(), "alpha": _small(X, rng)}


def _gmml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    pairs = None
    if rng.random() < 0.5:
        every = [(i, j) for j in range(len(X)) for i in range(j)]
        pairs = {}
        for kind, same in (("similar", True), ("dissimilar", False)):
            of_kind = [pair for pair in every if (y[pair[0]] == y[pair[1]]) == same]
            some = rng.permutation(len(of_kind))[: int(rng.integers(1, 2 * len(X)))]
            pairs[kind] = [list(of_kind[k]) for k in some]
    given = {"weight": float(rng.choice([0.5, 0.5, 0.5, 0.25, 0.9])), "mu": _small(X, rng), "pairs": pairs}
    own = rng.spawn(1)[0]
    if own.random() < 0.5:
        root = own.integers(-3, 4, (X.shape[1],) * 2) / 4 + np.eye(X.shape[1])
        given["prior"] = root @ root.T + 2.0**-10 * np.eye(X.shape[1])
    return given


def _lfda(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    return {
        "n_components": int(rng.integers(1, X.shape[1] + 1)),
        "n_neighbors": int(rng.integers(1, 3)) if np.bincount(y).min() > 2 else 1,
        "embedding": str(rng.choice(["plain", "weighted", "orthonormal"])),
        "alpha": _small(X, rng),
    }


def _sdml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        natural = float(1 / (len(X) ** 2 * X.var()))  # with which the pairs weigh as much as the prior
    eta = (natural if 1e-290 < natural < 1e290 else 1.0) * float(10.0 ** rng.uniform(-3, 0.5))
    prior = _itml(method, X, y, family, rng)["prior"]
    return {"eta": eta, "lam": float(rng.choice([0, 1e-12, 1e-3, 0.1, 1, 100])), "prior": prior}


def _scml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    d, basis = X.shape[1], []
    for i, j in zip(*np.triu_indices(d), strict=True):
        b = np.zeros(d)
        b[i], b[j] = 1, rng.choice([-1, 1])
        basis.append(b * 2.0 ** int(rng.integers(-3, 4)))
    triplets = _frobmetric(method, X, y, family, rng)["triplets"]
    D = float_distances(X)
    far = max((D[i, k] for i, _, k in triplets), default=1.0)
    beta = float(far * 10 ** rng.uniform(-5, 0)) if 1e-60 < far < 1e60 else 1.0
    return {"beta": beta, "basis": np.array(basis)[rng.permutation(len(basis))], "triplets": triplets}


def _plml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    given, m = _frobmetric(method, X, y, family, rng), int(rng.integers(1, 4))
    shares = np.maximum(rng.integers(-2, 5, (len(X), m)), 0) + np.eye(m)[rng.integers(m, size=len(X))]
    weights = shares / shares.sum(axis=1, keepdims=True)
    alpha2 = float(rng.choice([0, 1e-6, 1]))
    return {"alpha1": 1 / given["C"], "alpha2": alpha2, "weights": weights, "triplets": given["triplets"]}


def _mlr(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    n, relevant = len(X), None
    if rng.random() < 0.5:
        table = rng.random((n, n)) < 0.4
        table[0, 1], table[0, 2] = True, False  # there is a query
        relevant = [[j for j in range(n) if j != i and table[i, j]] for i in range(n)]
    measure = str(rng.choice(["auc", "precision", "map", "mrr", "ndcg"]))
    C = _frobmetric(method, X, y, family, rng)["C"]
    return {"measure": measure, "k": int(rng.integers(1, 5)), "C": C, "relevant": relevant}


def _small(X: Any, rng: Any) -> float:
    """Added to a diagonal: nothing, or what may be lost beside the points."""
    with np.errstate(all="ignore"):
        variance = min(float(X.var()), 1e300)  # of the largest features it overflows
    return float(rng.choice([0, 0, 1e-12, 1e-8, 1e-3, 1]) * rng.choice([1, variance]))


def _ssvm(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    return {"n_neighbors": int(rng.choice([1, 3])), "C": float(2.0 ** rng.integers(-6, 4))}


def _nca(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"criterion": method.split(":")[1]}
    if method.endswith("rank"):
        params["n_components"] = max(1, X.shape[1] - int(rng.integers(1, 3)))
    return params


def _glml(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    query = X[int(rng.integers(len(X)))] if rng.random() < 0.5 else X.mean(axis=0)
    with np.errstate(all="ignore"):
        variance = min(float(X.var()), 1e300)  # of the largest features it overflows
    return {"query": query, "alpha": float(rng.choice([0, 1e-12, 1e-8, 1e-3, 1]) * rng.choice([1, variance]))}


def _nothing(method: str, X: Any, y: Any, family: str, rng: Any) -> dict[str, Any]:
    return {}


PARAMETERS: dict[str, Callable[..., dict[str, Any]]] = {
    "mlsvm": _mlsvm,
    "kernel_mlsvm": _kernel,
    "lmnn": _lmnn,
    "frobmetric": _frobmetric,
    "rtml": _rtml,
    "schultz_joachims": _frobmetric,
    "boostmetric": _boostmetric,
    "ldml": _ldml,
    "lsml": _lsml,
    "rca": _rca,
    "gmml": _gmml,
    "lfda": _lfda,
    "sdml": _sdml,
    "scml": _scml,
    "plml": _plml,
    "mlr": _mlr,
    "itml": _itml,
    "ssvm": _ssvm,
    "nca": _nca,
    "glml": _glml,
    "mcml": _nothing,
    "mmc": _nothing,
    "dml_eig": _nothing,
}
