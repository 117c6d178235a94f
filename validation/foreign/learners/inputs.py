"""The inputs of all learners: iris and wine, each feature z-scored, no two points equal; and iris as it is.

    python inputs.py --out FILE.json

Pairs, quadruplets, chunklets, near and far points of each point are drawn here, once for all learners.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine

# iris has equal points and equal distances: without this, targets would depend on how a package sorts ties
JITTER = 1e-6
SEED = 0
PAIRS = 60  # of each kind
QUADRUPLETS = 180
CHUNKLET = 5  # points; where a class leaves fewer over, they are in none
NEIGHBORS = 3  # near and far points of each point


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    data = {}
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        raw, y = load(return_X_y=True)
        X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        data[name] = drawn(X + JITTER * np.random.default_rng(0).standard_normal(X.shape), y)
    raw, y = load_iris(return_X_y=True)
    data["iris_raw"] = {"X": raw, "y": y, "pairs": "all"}
    # json writes the repr of a float, which reads back as the same float64
    text = json.dumps(data, default=lambda array: array.tolist(), separators=(",", ":"))
    parser.parse_args().out.write_text(text + "\n")


def drawn(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Of points (n, d) with labels (n,): everything that a learner may ask for."""
    rng = np.random.default_rng(SEED)
    i, j = np.triu_indices(len(y), 1)
    kinds = {"similar": y[i] == y[j], "dissimilar": y[i] != y[j]}
    pairs, of_four = {}, []
    for name, kind in kinds.items():
        chosen = np.sort(rng.choice(np.flatnonzero(kind), PAIRS, replace=False))
        pairs[name] = np.stack([i[chosen], j[chosen]], axis=1)
    for kind in kinds.values():
        chosen = rng.choice(np.flatnonzero(kind), QUADRUPLETS, replace=False)
        of_four.append(np.stack([i[chosen], j[chosen]], axis=1))
    chunklets = np.full(len(y), -1)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        whole = members[: len(members) // CHUNKLET * CHUNKLET]
        chunklets[whole] = chunklets.max() + 1 + np.arange(len(whole)) // CHUNKLET
    return {
        "X": X,
        "y": y,
        "pairs": pairs,
        "quadruplets": np.concatenate(of_four, axis=1),
        "chunklets": chunklets,
        "near": nearest(X, y[:, None] == y),
        "far": nearest(X, y[:, None] != y),
    }


def nearest(X: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """(n, NEIGHBORS) the nearest of those that are allowed (n, n), none of them the point itself."""
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return np.argsort(np.where(allowed, squared, np.inf), axis=1)[:, :NEIGHBORS]


if __name__ == "__main__":
    main()
