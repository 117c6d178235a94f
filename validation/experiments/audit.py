"""Six kinds of figures of the reports, computed again from the raw data by code that shares nothing with them.

    CVXML_DATA=FOLDER python validation/experiments/audit.py

Needs numpy and scikit-learn (for iris, wine and stratified folds); nothing of cvxml, nothing of the experiments. Each
figure is written as its report has it, and compared with the text of the report. Exit code 1 if one differs.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold

REPORTS = Path(__file__).with_name("reports")
Figure = tuple[str, str, str]  # the report, what it is, the cell of its table


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and classes of a file of the folder, or of scikit-learn."""
    if name in ("iris", "wine"):
        loaded = (load_iris if name == "iris" else load_wine)()
        return loaded.data, loaded.target
    plain = Path(os.environ["CVXML_DATA"]) / f"{name}.csv"
    with open(plain) if plain.exists() else gzip.open(f"{plain}.gz", "rt") as file:
        _, *rows = csv.reader(file)
    return np.array([row[:-1] for row in rows], dtype=float), np.array([row[-1] for row in rows], dtype=int)


def scaled(X: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z-scores by the training points X."""
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    return (X - X.mean(axis=0)) / spread, (Q - X.mean(axis=0)) / spread


def errors(X: np.ndarray, y: np.ndarray, Q: np.ndarray, q: np.ndarray, tie: str, *ks: int) -> list[int]:
    """How many of Q kNN gets wrong for each k, point by point. tie: "sum" of squared distances, or "first" class."""
    wrong = [0 for k in ks]
    for x, label in zip(Q, q, strict=True):
        squares = ((X - x) ** 2).sum(axis=1)
        order = np.argsort(squares, kind="stable")
        for place, k in enumerate(ks):
            near = order[:k]
            votes = {c: int((y[near] == c).sum()) for c in np.unique(y[near])}
            tied = [c for c in sorted(votes) if votes[c] == max(votes.values())]
            winner = min(tied, key=lambda c: squares[near][y[near] == c].sum()) if tie == "sum" else tied[0]
            wrong[place] += int(winner != label)
    return wrong


def with_error(values: list[float]) -> str:
    """In per cent, with the standard error of the mean."""
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


def halves(name: str) -> Iterator[tuple[np.ndarray, ...]]:
    """The ten trials of MLSVM: half to train, half to test."""
    X, y = read(name)
    for trial in range(10):
        order = np.random.RandomState(trial).permutation(len(X))
        train, test = order[: len(X) // 2], order[len(X) // 2 :]
        yield X[train], y[train], X[test], y[test]


def printed(X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """Algorithm 1 of Nguyen, Guo 2008 as printed, 200 steps; L with A = L^T L."""
    d = X.shape[1]
    A = np.zeros((d, d))
    near = [
        [j for j in np.argsort(((X - x) ** 2).sum(axis=1), kind="stable") if j != i][:4]
        for i, x in enumerate(X)
    ]
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


def chosen(X: np.ndarray, y: np.ndarray) -> float:
    """lam of Algorithm 1 by two stratified folds; of equal ones the least."""
    grid, score = [10.0**i for i in range(-3, 4)], []
    for lam in grid:
        wrong = 0
        for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
            T, Q = scaled(X[train], X[test])
            L = printed(T, y[train], lam)
            wrong += errors(T @ L.T, y[train], Q @ L.T, y[test], "first", 4)[0]
        score.append(wrong)
    return grid[int(np.argmin(score))]


def of_isolet() -> Iterator[Figure]:
    X, y = read("isolet")
    T, Q = scaled(X[:6238], X[6238:])
    ks = (3, 7, 11)
    for k, wrong in zip(ks, errors(T, y[:6238], Q, y[6238:], "sum", *ks), strict=True):
        yield "table1-full", f"isolet 617, k = {k}", str(wrong)


def of_knn() -> Iterator[Figure]:
    for name in ("wine", "iris", "ionosphere", "heart"):
        values = []
        for X, y, Q, q in halves(name):
            T, S = scaled(X, Q)
            values.append(errors(T, y, S, q, "first", 4)[0] / len(q))
        yield "mlsvm-reduced", f"{name}: kNN", with_error(values)


def of_printed() -> Iterator[Figure]:
    values = []
    for X, y, Q, q in halves("iris"):
        T, S = scaled(X, Q)
        L = printed(T, y, chosen(X, y))
        values.append(errors(T @ L.T, y, S @ L.T, q, "first", 4)[0] / len(q))
    yield "mlsvm-reduced", "iris: MLSVM printed", with_error(values)


def of_maps() -> Iterator[Figure]:
    """1-NN on 40 splits of 70 to 30 after RCA (iris) and in two principal components (wine)."""
    for name in ("iris", "wine"):
        X, y = read(name)
        values = []
        for split in range(40):
            order = np.random.RandomState(split).permutation(len(X))
            train, test = order[: int(0.7 * len(X))], order[int(0.7 * len(X)) :]
            T, Q = scaled(X[train], X[test])
            if name == "iris":
                means = {c: T[y[train] == c].mean(axis=0) for c in set(y[train].tolist())}
                within = np.cov((T - np.array([means[c] for c in y[train].tolist()])).T, bias=True)
                L = np.linalg.inv(np.linalg.cholesky(within))
            else:
                L = np.linalg.svd(T - T.mean(axis=0))[2][:2]
            values.append(1 - errors(T @ L.T, y[train], Q @ L.T, y[test], "first", 1)[0] / len(test))
        yield "nca-reduced", {"iris": "iris: RCA", "wine": "wine: PCA"}[name], with_error(values)


PARTS = {"isolet": of_isolet, "kNN": of_knn, "printed": of_printed, "maps": of_maps}


def main() -> int:
    """Of all parts, or of those that are named."""
    differing = 0
    asked = argparse.ArgumentParser(description="Figures of the reports, computed again.")
    asked.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all, if none is named"
    )
    named = asked.parse_args().parts
    if unknown := set(named) - set(PARTS):
        asked.error(f"no part is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for part in named or PARTS:
        for report, what, figure in PARTS[part]():
            rows = [
                line
                for line in (REPORTS / f"{report}.md").read_text(encoding="utf-8").splitlines()
                if line.startswith(f"| {what.split(':')[0]} |")
            ]
            found = any(f" {figure} " in row for row in rows)
            differing += not found
            print(f"{report:15} {what:22} {figure:15} {'as reported' if found else 'DIFFERS'}", flush=True)
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
