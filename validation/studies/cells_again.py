"""Cells of the reports, computed again from the raw data and the papers, by code that shares nothing with them.

    CVXML_DATA=FOLDER python validation/studies/cells_again.py [CELL ...]

Needs numpy, scipy, scikit-learn and cvxpy; nothing of cvxml, nothing of the experiments. The splits follow the rules
that the reports describe, and each problem is solved here by a few lines of our own:

    mlsvm-full      iris, MLSVM             the dual by projected gradient steps with momentum (FISTA)
    table1-full     office_dslr, ITML, k=3  the problem in L, A = L^T L, by L-BFGS
    glml-full       wine z-scored, 10, GLML the closed form of the paper; contradicts "always a gain"
    glml-reduced    wine, 10, LMNN          the semidefinite program in cvxpy, by Clarabel
    nca-full        housing, NCA            f and g by L-BFGS; contradicts "at or near the top"
    synthetic-full  mixtures, GLML          the closed form; contradicts "greatly improves on LMNN"

Ten more need only kNN, a line of linear algebra or Algorithm 1 as printed: the Euclidean errors on isolet with all
617 features, kNN on four sets of MLSVM, MLSVM printed on iris, and two maps of NCA's experiment. `plain` names all ten.

A cell is *exact* if every split has the recorded value. It *agrees* if the mean over the splits differs from the
recorded mean by at most two standard errors of the paired difference. Exit code 1 if a cell does neither.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, product, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier

REPORTS = Path(__file__).parents[1] / "experiments" / "reports"
Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Part = tuple[Array, Labels, Array, Labels]  # training points and classes, test points and classes


class Cell(NamedTuple):
    """A cell of a table: the first cells of its row, its column, the table's heading, and how the record names it."""

    report: str
    row: tuple[str, ...]
    column: str
    heading: str
    data: str
    method: str
    value: Callable[[dict[str, Any]], float]  # of a recorded result
    splits: Callable[[], Iterator[float]]  # the values, computed again


# --- data and splits, as the reports describe them


@cache
def read(name: str) -> tuple[Array, Labels]:
    """Points (n, d) and classes (n,) as codes; the last column of a file is the class."""
    if name in ("iris", "wine"):
        loaded = (load_iris if name == "iris" else load_wine)()
        return loaded.data, loaded.target
    plain = Path(os.environ["CVXML_DATA"]) / f"{name}.csv"
    with open(plain) if plain.exists() else gzip.open(f"{plain}.gz", "rt") as file:
        _, *rows = csv.reader(file)
    label = np.array([float(row[-1]) for row in rows])
    if name == "housing":  # MEDV <= 18.8333, <= 23.7 and above
        label = np.digitize(label, [18.8333, 23.7], right=True)
    return np.array([row[:-1] for row in rows], dtype=float), np.unique(label, return_inverse=True)[1]


def z_scored(part: Part, centred: bool = True) -> Part:
    """Features over the deviations of the training part, less its means if `centred`."""
    X, y, Q, q = part
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    mean = X.mean(axis=0) if centred else np.zeros(X.shape[1])
    return (X - mean) / spread, y, (Q - mean) / spread, q


def shuffled(name: str, seed: int, share: float) -> Part:
    """The first rows of RandomState(seed).permutation to train on, the others to test."""
    X, y = read(name)
    train, test = np.split(np.random.RandomState(seed).permutation(len(X)), [int(share * len(X))])
    return X[train], y[train], X[test], y[test]


def squared(X: Array, Q: Array) -> Array:
    """Squared Euclidean distances (q, n), as sums of squared differences."""
    return np.stack([((X - point) ** 2).sum(axis=1) for point in Q])


def wrong(part: Part, k: int) -> float:
    """The share of the test part that k-NN gets wrong; a tied vote goes to the first class."""
    X, y, Q, q = part
    return 1 - float(KNeighborsClassifier(k).fit(X, y).score(Q, q))


def best_of(error_of: Callable[[float], float], grid: list[float], factor: float, further: int) -> float:
    """The least weight of least error; the grid goes on while only its first, or only its last, weight is best."""
    found = {weight: error_of(weight) for weight in grid}

    def best() -> list[float]:
        least = min(found.values())
        return sorted(weight for weight, error in found.items() if error < least + 1e-12)

    for end, step in ((min, 1 / factor), (max, factor)):
        for _ in range(further):
            if best() == [end(found)]:
                weight = end(found) * step
                found[weight] = error_of(weight)
    return best()[0]


# --- MLSVM on iris: min lam/2 ||A||^2 + mean xi, neighbours in the feature space of the kernel


def mlsvm_of_iris() -> Iterator[float]:
    """The test error of ten trials; degree and lam by two stratified folds, the first of equal ones."""
    every = [(p, 10.0**i) for p in (1, 2, 3, 4, 5) for i in (range(-3, 4) if p == 1 else range(-3, 1))]
    for trial in range(10):
        X, y, Q, q = shuffled("iris", trial, 0.5)
        score = np.zeros(len(every))
        for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
            inner = (X[train], y[train], X[test], y[test])
            score += [len(test) * mlsvm_error(inner, p, lam) for p, lam in every]
        p, lam = every[int(np.argmin(score.round(9)))]
        yield mlsvm_error((X, y, Q, q), p, lam)


def mlsvm_error(part: Part, degree: int, lam: float) -> float:
    """Of 4-NN by the metric of MLSVM."""
    X, y, Q, q = in_feature_space(part, degree)
    near = [[j for j in np.argsort(row, kind="stable") if j != i][:4] for i, row in enumerate(squared(X, X))]
    C, group = [], []
    for i, neighbours in enumerate(near):
        for j, l in product(neighbours, neighbours):
            if y[j] != y[i] and y[l] == y[i]:
                C.append(np.outer(X[i] - X[j], X[i] - X[j]) - np.outer(X[i] - X[l], X[i] - X[l]))
                group.append(i)
    A = qsdp(np.array(C), np.array(group), lam, len(X)) if C else np.zeros((X.shape[1],) * 2)
    values, vectors = np.linalg.eigh(A)
    L = (vectors * np.sqrt(np.maximum(values, 0))).T
    return wrong((X @ L.T, y, Q @ L.T, q), 4)


def in_feature_space(part: Part, degree: int) -> Part:
    """Degree 1: z-scores. Above: coordinates in the space of <x, x'>^degree, features scaled but not centred."""
    if degree == 1:
        return z_scored(part)
    X, y, Q, q = z_scored(part, centred=False)
    scale = (X.shape[1] / np.mean(np.sum(X**2, axis=1) ** degree)) ** (1 / (2 * degree))
    K, K_test = (scale**2 * X @ X.T) ** degree, (scale**2 * Q @ X.T) ** degree
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-11 * values[-1]
    return (
        vectors[:, kept] * np.sqrt(values[kept]),
        y,
        K_test @ vectors[:, kept] / np.sqrt(values[kept]),
        q,
    )


def qsdp(C: Array, group: Labels, lam: float, n: int, tol: float = 1e-6, steps: int = 20000) -> Array:
    """The metric of max sum a - ||[sum a_t C_t]_+||^2 / (2 lam), a >= 0, the a of a point at most 1/n together."""
    T, d, _ = C.shape
    flat = C.reshape(T, d * d)
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    counts = np.diff(np.r_[starts, T])
    slots = np.arange(T) - np.repeat(starts, counts), np.repeat(np.arange(len(starts)), counts)

    def projected(a: Array) -> Array:
        table = np.full((len(starts), counts.max()), -np.inf)
        table[slots[1], slots[0]] = a
        inside = np.maximum(table, 0)
        order = -np.sort(-table, axis=1)
        excess = np.cumsum(np.where(np.isfinite(order), order, 0), axis=1) - 1 / n
        places = np.arange(1, table.shape[1] + 1)
        last = np.sum(np.isfinite(order) & (order * places > excess), axis=1)
        shift = excess[np.arange(len(last)), last - 1] / last
        over = inside.sum(axis=1) > 1 / n
        table = np.where(over[:, None], np.maximum(table - shift[:, None], 0), inside)
        return table[slots[1], slots[0]]

    def metric(a: Array) -> Array:
        values, vectors = np.linalg.eigh((a @ flat).reshape(d, d))
        return (vectors * np.maximum(values, 0)) @ vectors.T / lam

    step = lam / np.linalg.eigvalsh(flat @ flat.T)[-1]
    a, momentum, t = np.zeros(T), np.zeros(T), 1.0
    best = np.zeros((d, d)), np.inf
    bound = 0.0
    for turn in range(steps):
        slope = 1 - flat @ metric(momentum).ravel()
        new = projected(momentum + step * slope)
        if (new - a) @ (momentum - new) > 0:
            t = 1.0  # a restart: the momentum points the wrong way
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        momentum, a, t = new + (t - 1) / following * (new - a), new, following
        if turn % 25 == 24:
            A = metric(a)
            norm = lam / 2 * np.sum(A**2)
            slack = np.maximum.reduceat(np.maximum(1 - flat @ A.ravel(), 0), starts).sum() / n
            bound = max(bound, float(a.sum() - norm))
            if norm + slack < best[1]:
                best = A, float(norm + slack)
            if best[1] - bound <= tol * best[1]:
                break
    return best[0]


# --- ITML on office_dslr: tr A - log det A + gamma sum of divergences of the violated bounds


def itml_of_dslr() -> Iterator[float]:
    """The test error of 3-NN of five stratified folds; gamma by 75/25 of the training part."""
    X, y = read("office_dslr")
    for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        part = z_scored((X[train], y[train], X[test], y[test]))
        T, Q, t, q = train_test_split(*part[:2], test_size=0.25, random_state=fold, stratify=part[1])
        gamma = best_of(partial(itml_error, (T, t, Q, q)), [0.1, 1.0, 10.0], 10.0, 3)
        yield itml_error(part, gamma)


def itml_error(part: Part, gamma: float) -> float:
    """Of 3-NN by ITML's metric."""
    X, y, Q, q = part
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    axes = axes[sizes > 1e-10 * sizes[0]]
    X, Q = X @ axes.T, Q @ axes.T
    L = itml(X, y, gamma)
    return sum_wrong(squared(X @ L.T, Q @ L.T), y, q, 3)


def sum_wrong(D: Array, y: Labels, q: Labels, k: int) -> float:
    """The share that k-NN gets wrong by distances (q, n); a tied vote goes to the least sum of squared distances."""
    failed = 0
    for distances, label in zip(D, q, strict=True):
        near = np.argsort(distances, kind="stable")[:k]
        ranks = [(-int(np.sum(y[near] == c)), distances[near][y[near] == c].sum(), c) for c in y[near]]
        failed += int(min(ranks)[2] != label)
    return failed / len(q)


def itml(X: Array, y: Labels, gamma: float) -> Array:
    """L (d, d), A = L^T L: 20 c^2 pairs of each kind by RandomState(0), bounds at percentiles 5 and 95."""
    i, j = np.triu_indices(len(X), 1)
    V = X[i] - X[j]
    u, l = np.percentile((V**2).sum(axis=1), [5, 95])
    random, most = np.random.RandomState(0), 20 * len(np.unique(y)) ** 2
    similar, dissimilar = (
        np.sort(random.permutation(np.flatnonzero(kind))[:most]) for kind in (y[i] == y[j], y[i] != y[j])
    )
    V = V[np.concatenate([similar, dissimilar])]
    is_similar = np.arange(len(V)) < len(similar)
    bound = np.where(is_similar, u, l)
    d = X.shape[1]

    def objective(flat: Array) -> tuple[float, Array]:
        L = flat.reshape(d, d)
        logdet = np.linalg.slogdet(L)[1]
        W = V @ L.T
        ratio = (W**2).sum(axis=1) / bound
        ratio = np.where(is_similar, np.maximum(ratio, 1), np.minimum(ratio, 1))
        value = np.sum(L**2) - 2 * logdet + gamma * np.sum(ratio - np.log(ratio) - 1)
        slope = gamma * (1 - 1 / ratio) / bound
        gradient = 2 * L - 2 * np.linalg.inv(L).T + 2 * (W * slope[:, None]).T @ V
        return float(value), gradient.ravel()

    found = minimize(
        objective,
        np.eye(d).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 6000, "ftol": 1e-13, "gtol": 1e-5, "maxcor": 30},
    )
    return found.x.reshape(d, d)


# --- GLML: the closed form at every query


def glml_metrics(X: Array, y: Labels, Q: Array, alpha: float) -> Array:
    """A (q, d, d) of determinant 1, from a Gaussian of each class with covariance Sigma + alpha I, equal priors."""
    d, G, log_p = X.shape[1], [], []
    for c in np.unique(y):
        mean = X[y == c].mean(axis=0)
        S = np.linalg.inv(np.cov(X[y == c].T, bias=True) + alpha * np.eye(d))
        Z = (Q - mean) @ S
        G.append(Z[:, :, None] * Z[:, None, :] - S)
        log_p.append((np.linalg.slogdet(S)[1] - np.sum(Z * (Q - mean), axis=1)) / 2)
    pairs = list(combinations(range(len(G)), 2))
    sign, size = [], []
    with np.errstate(divide="ignore"):
        for i, j in pairs:  # p_i p_j (p_j - p_i), by logarithms: it may underflow
            more, less = np.maximum(log_p[i], log_p[j]), np.minimum(log_p[i], log_p[j])
            sign.append(np.sign(log_p[j] - log_p[i]))
            size.append(log_p[i] + log_p[j] + more + np.log1p(-np.exp(less - more)))
    weights = np.array(sign) * np.exp(np.array(size) - np.max(size, axis=0))
    B = sum(w[:, None, None] * (G[i] - G[j]) for w, (i, j) in zip(weights, pairs, strict=True))
    values, vectors = np.linalg.eigh(B)
    zero = np.abs(values) <= 1e-13 * np.abs(values).max(axis=1, keepdims=True)
    plus, minus = (np.sum(side & ~zero, axis=1)[:, None] for side in (values > 0, values < 0))
    count = np.where(values > 0, plus, minus)
    logs = np.where(zero, np.nan, np.log(np.where(zero, 1, count * np.abs(values))))
    logs = np.nan_to_num(logs - np.nanmean(logs, axis=1, keepdims=True))
    return (vectors * np.exp(logs)[:, None, :]) @ vectors.transpose(0, 2, 1)


def local_distances(X: Array, Q: Array, A: Array) -> Array:
    """(x - q)^T A_q (x - q), (q, n)."""
    return np.stack([np.sum((X - point) @ M * (X - point), axis=1) for point, M in zip(Q, A, strict=True)])


def glml(part: Part, further: int) -> Labels:
    """Predictions of 1-NN by A + gamma I; alpha and gamma by three folds of the training part."""
    X, y, Q, _ = part
    folds = list(StratifiedKFold(3).split(X, y))

    @cache
    def distances(alpha: float) -> list[tuple[Array, Array]]:
        parts = [(X[train], y[train], X[test]) for train, test in folds]
        return [(local_distances(T, R, glml_metrics(T, t, R, alpha)), squared(T, R)) for T, t, R in parts]

    @cache
    def error(alpha: float, gamma: float) -> float:
        failed = [
            y[train][np.argmin(local + gamma * plain, axis=1)] != y[test]
            for (train, test), (local, plain) in zip(folds, distances(alpha), strict=True)
        ]
        return float(np.concatenate(failed).mean())

    @cache
    def gamma_of(alpha: float) -> float:
        grid = [0.0, *(10.0**i for i in range(-3, 4))]
        return best_of(lambda gamma: error(alpha, gamma), grid, 10.0, further)

    alpha = best_of(lambda a: error(a, gamma_of(a)), [10.0**i for i in range(-4, 3)], 10.0, further)
    D = local_distances(X, Q, glml_metrics(X, y, Q, alpha)) + gamma_of(alpha) * squared(X, Q)
    return y[D.argmin(axis=1)]


def drawn_wine(split: int, size: int, largest: int = 40) -> Part:
    """`size` of the `largest` training points of each class, the classes taking turns; all others to test."""
    X, y = read("wine")
    random = np.random.RandomState(split)
    order = random.permutation(len(X))
    of_class = [order[y[order] == c][:largest] for c in range(3)]
    rest = random.permutation(order[~np.isin(order, np.concatenate(of_class))])
    train = np.array([rows[:size] for rows in of_class]).T.ravel()
    return X[train], y[train], X[rest], y[rest]


def weighted(predicted: Labels, q: Labels, of: Labels) -> float:
    """The accuracies of the classes, weighted by their shares in the whole set."""
    return float(sum(np.mean(predicted[q == c] == c) * np.mean(of == c) for c in np.unique(of)))


def glml_of_wine() -> Iterator[float]:
    """The accuracy of 200 realisations with 10 points of each class, z-scored by these."""
    for split in range(200):
        part = z_scored(drawn_wine(split, 10))
        yield weighted(glml(part, 4), part[3], read("wine")[1])


def glml_of_mixtures() -> Iterator[float]:
    """The accuracy of 20 realisations of two mixtures of three Gaussians in five dimensions."""
    centres = np.array([[[-3, 0], [0, 0.8], [3, 0]], [[-3, 1.6], [0, -0.8], [3, 1.6]]])
    for split in range(20):
        rng = np.random.default_rng([split, 63])
        y = np.arange(1000) % 2
        of = rng.integers(3, size=1000)
        X = rng.standard_normal((1000, 5))
        X[:, :2] = centres[y, of] + X[:, :2] * [0.8, 0.3]
        yield weighted(glml((X[:500], y[:500], X[500:], y[500:]), 2), y[500:], y)


# --- LMNN on wine: the semidefinite program


def lmnn_of_wine() -> Iterator[float]:
    """The accuracy of 1-NN of 100 realisations with 10 points of each class, features as they come."""
    for split in range(100):
        X, y, Q, q = drawn_wine(split, 10)
        L = lmnn(X, y)
        predicted = y[squared(X @ L.T, Q @ L.T).argmin(axis=1)]
        yield weighted(predicted, q, read("wine")[1])


def lmnn(X: Array, y: Labels) -> Array:
    """L, M = L^T L: half the distances of 3 targets plus half the hinges.

    The problem does not depend on the coordinates, so it is solved in whitened ones, for small rounding errors.
    """
    n, D = len(X), squared(X, X)
    own = [[j for j in np.argsort(D[i], kind="stable") if j != i and y[j] == y[i]][:3] for i in range(n)]
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    white = (axes * (np.sqrt(n) / sizes)[:, None]).T  # x -> x white has the identity as covariance
    Z = X @ white
    d = Z.shape[1]
    targets = [(i, j) for i in range(n) for j in own[i]]
    near = np.array([np.outer(Z[i] - Z[j], Z[i] - Z[j]) for i, j in targets])
    every = [(t, i, l) for t, (i, _) in enumerate(targets) for l in range(n) if y[l] != y[i]]
    rows = np.array([(np.outer(Z[i] - Z[l], Z[i] - Z[l]) - near[t]).ravel() for t, i, l in every])
    value, used = np.eye(d), np.zeros(len(rows), dtype=bool)
    while np.any(missed := (rows @ value.ravel() < 1 - 1e-7) & ~used):  # hinges that are 0 may be left out
        used |= missed
        M = cp.Variable((d, d), PSD=True)
        hinges = cp.sum(cp.pos(1 - rows[used] @ cp.vec(M, order="C")))
        problem = cp.Problem(cp.Minimize(cp.trace(near.sum(axis=0) @ M) / 2 + hinges / 2))
        problem.solve(solver=cp.CLARABEL)
        value = M.value
    values, vectors = np.linalg.eigh(value)
    return (vectors * np.sqrt(np.maximum(values, 0))).T @ white.T


# --- NCA on housing


def nca_of_housing() -> Iterator[float]:
    """The test accuracy of 1-NN of 40 splits, 70 to 30: of two starts that with the better f on the training part."""
    for split in range(40):
        X, y, Q, q = z_scored(shuffled("housing", split, 0.7))
        eye = np.eye(X.shape[1])
        starts = eye, ascended(X, y, eye, logarithmic=True, steps=50)[0]
        found = [ascended(X, y, A) for A in starts]
        best = found[int(np.argmax([round(f, 4) for _, f in found]))][0]
        yield 1 - wrong((X @ best.T, y, Q @ best.T, q), 1)


def ascended(
    X: Array, y: Labels, A: Array, logarithmic: bool = False, steps: int = 2000
) -> tuple[Array, float]:
    """A map (d, d) and f / n: f is the expected number of correct points, g the sum of the logarithms of p_i."""
    same = (y[:, None] == y[None, :]) & ~np.eye(len(y), dtype=bool)

    def objective(flat: Array) -> tuple[float, Array]:
        L = flat.reshape(A.shape)
        Z = X @ L.T
        norms = np.sum(Z**2, axis=1)
        D = np.minimum(2 * Z @ Z.T - norms[:, None] - norms, 0)
        np.fill_diagonal(D, -np.inf)
        P = np.exp(D - logsumexp(D, axis=1, keepdims=True))
        p = np.maximum(np.sum(P * same, axis=1), 1e-300)
        # the derivative of p_i by |z_i - z_k|^2 is P_ik (p_i - same_ik)
        W = P * (p[:, None] - same) / (p[:, None] if logarithmic else 1.0)
        W = W + W.T
        gradient = 2 * L @ (X.T @ (W.sum(axis=1)[:, None] * X - W @ X))
        value = np.log(p).sum() if logarithmic else p.sum()
        return -value / len(y), -gradient.ravel() / len(y)

    options = {"maxiter": steps, "maxfun": 3 * steps, "ftol": 1e-9, "gtol": 1e-6}
    found = minimize(objective, A.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(A.shape), -float(found.fun)


# --- cells that need no solver


def knn_of(name: str) -> Iterator[float]:
    """The test error of 4-NN on z-scores, of ten trials."""
    for trial in range(10):
        yield wrong(z_scored(shuffled(name, trial, 0.5)), 4)


@cache
def isolet() -> tuple[Array, Labels, Labels]:
    """Squared distances (q, n) of the z-scored test points, classes (n,) and (q,)."""
    X, y = read("isolet")
    X, y, Q, q = z_scored((X[:6238], y[:6238], X[6238:], y[6238:]))
    return cdist(Q, X, "sqeuclidean"), y, q


def knn_of_isolet(k: int) -> Iterator[float]:
    """The test error of k-NN; a tied vote goes to the least sum of squared distances."""
    yield sum_wrong(*isolet(), k)


def printed_of_iris() -> Iterator[float]:
    """The test error of Algorithm 1 as printed, lam by two stratified folds, of ten trials."""

    def error(part: Part, lam: float) -> float:
        X, y, Q, q = z_scored(part)
        L = algorithm_1(X, y, lam)
        return wrong((X @ L.T, y, Q @ L.T, q), 4)

    grid = [10.0**i for i in range(-3, 4)]
    for trial in range(10):
        X, y, Q, q = shuffled("iris", trial, 0.5)
        score = np.zeros(len(grid))
        for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
            score += [len(test) * error((X[train], y[train], X[test], y[test]), lam) for lam in grid]
        yield error((X, y, Q, q), grid[int(np.argmin(score.round(9)))])


def algorithm_1(X: Array, y: Labels, lam: float) -> Array:
    """Algorithm 1 of Nguyen, Guo 2008 as printed, 200 steps; L with A = L^T L."""
    d = X.shape[1]
    A = np.zeros((d, d))
    near = [[j for j in np.argsort(row, kind="stable") if j != i][:4] for i, row in enumerate(squared(X, X))]
    for t in range(1, 201):
        change = np.zeros((d, d))
        for i, x in enumerate(X):
            far = [(float((x - X[j]) @ A @ (x - X[j])), x - X[j]) for j in near[i] if y[j] != y[i]]
            own = [(float((x - X[j]) @ A @ (x - X[j])), x - X[j]) for j in near[i] if y[j] == y[i]]
            if far and own and min(D for D, _ in far) - max(D for D, _ in own) < 1:
                minus, plus = (min(each, key=lambda pair: pair[0])[1] for each in (far, own))
                change += np.outer(minus, minus) - np.outer(plus, plus)
        values, vectors = np.linalg.eigh((1 - 1 / t) * A + change / (lam * t * len(X)))
        A = (vectors * np.maximum(values, 0)) @ vectors.T
        if A.any():
            A *= min(1, 1 / np.sqrt(lam) / np.linalg.norm(A))
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))).T


def rca(X: Array, y: Labels) -> Array:
    """The map that whitens within the classes."""
    within = np.cov((X - np.array([X[y == c].mean(axis=0) for c in y])).T, bias=True)
    return np.linalg.inv(np.linalg.cholesky(within))


def pca(X: Array, y: Labels) -> Array:
    """The map to two principal components."""
    return np.linalg.svd(X - X.mean(axis=0))[2][:2]


def mapped(name: str, L_of: Callable[[Array, Labels], Array]) -> Iterator[float]:
    """The test accuracy of 1-NN after a map, of 40 splits, 70 to 30."""
    for split in range(40):
        X, y, Q, q = z_scored(shuffled(name, split, 0.7))
        L = L_of(X, y)
        yield 1 - wrong((X @ L.T, y, Q @ L.T, q), 1)


# --- the cells, and how they compare


def of_size(method: str, size: int) -> Callable[[dict[str, Any]], float]:
    """The recorded accuracy of a method with so many training points a class."""
    return lambda result: result["methods"][method]["accuracy"][result["sizes"].index(size)]


def error_of(result: dict[str, Any], k: int = 3) -> float:
    """The recorded error, of Table 1 at one k."""
    return float(result["errors"][str(k)] if "errors" in result else result["error"])


ERRORS = "## Errors, in per cent"
ACCURACIES = "## Accuracy of 1-NN, in per cent"
BY_SIZE = f"{ACCURACIES}, by training points a class"
TOP = 'test: "test data performance was always at or near the top"'
SHARED = "generative"  # the task that has GLML


def tested(result: dict[str, Any]) -> float:
    """The recorded test accuracy."""
    return float(result["test"])


def of_mlsvm(data: str, method: str, splits: Callable[[], Iterator[float]]) -> Cell:
    """A cell of the report on MLSVM."""
    return Cell("mlsvm-full", (data,), method, ERRORS, data, method, error_of, splits)


def of_table_1(data: str, method: str, splits: Callable[[], Iterator[float]], k: int = 3) -> Cell:
    """A cell of Table 1."""
    heading = f"## k = {k}: errors in per cent, the paper's in brackets"
    return Cell("table1-full", (method,), data, heading, data, method, partial(error_of, k=k), splits)


def of_glml(
    report: str, row: tuple[str, ...], data: str, method: str, task: str, size: int, splits: Any
) -> Cell:
    """A cell of a report on GLML."""
    heading = ACCURACIES if report == "synthetic-full" else BY_SIZE
    return Cell(report, row, method, heading, data, task, of_size(method, size), splits)


CELLS = {
    "iris": of_mlsvm("iris", "MLSVM", mlsvm_of_iris),
    "dslr": of_table_1("office_dslr", "ITML", itml_of_dslr),
    "wine-glml": of_glml(
        "glml-full", ("(g) wine z-scored", "10"), "wine z-scored", "GLML", SHARED, 10, glml_of_wine
    ),
    "wine-lmnn": of_glml("glml-reduced", ("(g) wine", "10"), "wine", "LMNN", "LMNN", 10, lmnn_of_wine),
    "housing": Cell(
        "nca-full", ("housing",), "NCA", f"## Full rank, {TOP}", "housing", "NCA", tested, nca_of_housing
    ),
    "mixtures": of_glml("synthetic-full", ("mixtures",), "mixtures", "GLML", SHARED, 250, glml_of_mixtures),
}
PLAIN = {
    **{
        f"isolet-{k}": of_table_1("isolet 617", "Euclidean", partial(knn_of_isolet, k), k) for k in (3, 7, 11)
    },
    **{
        f"{data}-knn": of_mlsvm(data, "kNN", partial(knn_of, data))
        for data in ("wine", "iris", "ionosphere", "heart")
    },
    "iris-printed": of_mlsvm("iris", "MLSVM printed", printed_of_iris),
    "iris-rca": Cell(
        "nca-reduced",
        ("iris",),
        "RCA",
        f"## Full rank, {TOP}",
        "iris",
        "RCA",
        tested,
        partial(mapped, "iris", rca),
    ),
    "wine-pca": Cell(
        "nca-reduced",
        ("wine",),
        "PCA",
        f"## d = 2, {TOP}",
        "wine",
        "PCA 2",
        tested,
        partial(mapped, "wine", pca),
    ),
}


def printed(cell: Cell) -> str:
    """The figure of the table in the report, without its marks and the paper's figure."""
    lines = (REPORTS / f"{cell.report}.md").read_text(encoding="utf-8").splitlines()
    below = takewhile(lambda line: not line.startswith("## "), lines[lines.index(cell.heading) + 1 :])
    rows = [[each.strip() for each in line.strip("|").split("|")] for line in below if line.startswith("|")]
    (row,) = (row for row in rows if tuple(row[: len(cell.row)]) == cell.row)
    found = re.match(r"[\d.]+ ± [\d.]+", row[rows[0].index(cell.column)])
    assert found is not None
    return found[0]


def recorded(cell: Cell) -> list[float]:
    """The values of the record, in the order of the splits."""
    record = json.loads((REPORTS / f"{cell.report}.json").read_text(encoding="utf-8"))
    own = [each for each in record["results"] if (each["data"], each["method"]) == (cell.data, cell.method)]
    return [cell.value(each["result"]) for each in sorted(own, key=lambda each: each["split"])]


def with_error(values: list[float]) -> str:
    """In per cent, with the standard error of the mean if there is more than one."""
    if len(values) == 1:
        return f"{100 * values[0]:.2f}"
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


def compared(cell: Cell) -> tuple[str, bool]:
    """A row of the table, and whether the cell is exact or agrees."""
    since = time.perf_counter()
    again, ours = list(cell.splits()), recorded(cell)
    seconds = time.perf_counter() - since
    difference = np.array(again) - np.array(ours)
    equal = int(np.sum(np.abs(difference) < 1e-9))
    spread = float(np.std(difference, ddof=1)) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
    exact = equal == len(again) and printed(cell).startswith(with_error(again))
    fine = exact or (len(again) > 1 and bool(abs(difference.mean()) <= 2 * spread))
    said = "exact" if exact else "agrees" if fine else "DIFFERS"
    name = ", ".join((cell.data, *cell.row[1:], cell.column if cell.column != cell.data else cell.row[0]))
    gap = f"{100 * difference.mean():+.2f} ± {100 * spread:.2f}"
    cells = [cell.report, name, printed(cell), with_error(again), f"{equal} of {len(again)}", gap, said]
    return f"| {' | '.join(cells)} | {seconds:.0f} s |", fine


def main() -> int:
    """Of all cells, or of those that are named."""
    parser = argparse.ArgumentParser(description="Cells of the reports, computed again.")
    every = {**CELLS, **PLAIN}
    help_text = f"of {', '.join(every)}; plain: those without a solver; all, if none is named"
    parser.add_argument("cells", nargs="*", metavar="CELL", help=help_text)
    named = parser.parse_args().cells or list(every)
    asked = [name for each in named for name in (PLAIN if each == "plain" else [each])]
    if unknown := set(asked) - set(every):
        parser.error(f"no cell is called {', '.join(sorted(unknown))}: there are {', '.join(every)}")
    print(
        "| report | cell | ours | again | equal splits | again less ours | | |\n|---|---|---|---|---|---|---|---|"
    )
    fine = True
    for name in asked:
        line, good = compared(every[name])
        fine &= good
        print(line, flush=True)
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
