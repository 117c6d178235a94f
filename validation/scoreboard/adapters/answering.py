"""What the adapters in Python share: a question in, an answer out, versions when asked for.

python with_PACKAGE.py LEARNER            a question on stdin, an answer on stdout: docs/oracle.md
python with_PACKAGE.py --versions         {"package": "version"}
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

Given = dict[str, Any]
Learner = Callable[[Given], dict[str, Any]]


class Unsupported(Exception):
    """What the package cannot be asked."""


def main(learners: dict[str, Learner], packages: tuple[str, ...]) -> None:
    """Answer the question on stdin by the learner that is named; what a package prints goes to stderr."""
    if sys.argv[1:] == ["--versions"]:
        print(json.dumps({"python": platform.python_version()} | {name: version(name) for name in packages}))
        return
    question = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries in C print too
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = learners[sys.argv[1]]({"formula": question["formula"], **question["inputs"]})
        except Unsupported as error:
            answer = {"unsupported": str(error)}
    with out:
        json.dump(answer, out, default=lambda array: array.tolist())


def points(given: Given) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y as codes (n,), or as real targets."""
    X, y = np.array(given["X"], dtype=float), np.array(given["y"])
    return X, y if y.dtype.kind == "f" else np.unique(y, return_inverse=True)[1]


def components(L: Any) -> dict[str, Any]:
    """The answer of a transform."""
    return {"components": np.atleast_2d(np.asarray(L, dtype=float))}


def none_of(given: Given, *names: str) -> None:
    """Refuse a question where one of these is given, and not 0."""
    for name in names:
        if given.get(name):
            raise Unsupported(f"it takes no {name}")


def only(given: Given, name: str, value: Any) -> None:
    """Refuse a question where `name` is anything else."""
    if given.get(name, value) != value:
        raise Unsupported(f"its {name} is always {value!r}")


def targets(given: Given) -> np.ndarray:
    """(n, k), as many targets for every point."""
    none_of(given, "triplets")
    lists = given["targets"]
    if len({len(each) for each in lists}) > 1 or not lists[0]:
        raise Unsupported("it takes as many targets for every point")
    return np.array(lists)


def its_own(given: Given, found: Any) -> None:
    """Refuse where the targets are not those that the package finds, as it takes no others."""
    if [set(each) for each in np.asarray(found).tolist()] != [set(each) for each in given["targets"]]:
        raise Unsupported("it takes its own targets, and these are others")


def nearest(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """(n, k) the nearest points of the same class."""
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    squared[(y[:, None] != y) | np.eye(len(y), dtype=bool)] = np.inf
    return np.argsort(squared, axis=1, kind="stable")[:, :k]


def pairs(given: Given) -> tuple[np.ndarray, np.ndarray]:
    """(p, 2, d) points and (p,) +1 for similar, -1 for dissimilar."""
    X = np.array(given["X"], dtype=float)
    sides = [np.array(given["pairs"][side], dtype=int).reshape(-1, 2) for side in ("similar", "dissimilar")]
    return X[np.concatenate(sides)], np.repeat([1, -1], [len(each) for each in sides])


def spending_one(given: Given, M: np.ndarray) -> dict[str, Any]:
    """The multiple of M whose squared distances of similar pairs add up to 1."""
    both, side = pairs(given)
    E = (both[:, 0] - both[:, 1])[side == 1]
    return {"metric": M / np.sum((E @ M) * E)}


def by_labels(given: Given) -> None:
    """Refuse where the pairs are not every two points once, as the package pairs points by their labels."""
    if "pairs" not in given:
        return
    y = np.array(given["y"]) if given.get("y") is not None else None
    if y is None:
        raise Unsupported("it pairs by the labels alone, and there are none")
    i, j = np.triu_indices(len(y), 1)
    for side, kind in (("similar", y[i] == y[j]), ("dissimilar", y[i] != y[j])):
        wanted = {frozenset(each) for each in zip(i[kind].tolist(), j[kind].tolist(), strict=True)}
        if {frozenset(each) for each in given["pairs"][side]} != wanted:
            raise Unsupported("it pairs by the labels alone")
