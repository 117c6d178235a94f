"""What metric-learn and scikit-learn return, as they return it: run in an environment of their own, judged elsewhere.

    python learners.py --data DIR --out FILE.json

DIR holds one file per data set (inputs.py): NAME.json with X, shape (n, d), and y, shape (n,). FILE.json has
`environment`, `data` (the numbers that were used), `pairs` (lists of index pairs, or "all" by the labels), and `runs`:
parameters, matrices, warnings, the learner's own objective at its start and at its end, and the lines on convergence
that it prints when asked to. Nothing here says whether a matrix is good; judge.py does. requirements.txt has the
versions; committed.py and claims.py belong to this file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import platform
import warnings
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import committed
import numpy as np
from claims import own_objective, targets
from metric_learn import ITML, LMNN, MMC, NCA
from metric_learn.base_metric import MahalanobisMixin
from metric_learn.constraints import wrap_pairs
from sklearn.base import clone
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from threadpoolctl import threadpool_limits

SEED = 0
PAIRS = 60  # of each kind
NAMES = {"metric_learn": "metric-learn", "sklearn": "scikit-learn"}  # imported as, published as
FITTED = ("n_iter_", "converged_", "bounds_")


class Data(NamedTuple):
    """Points, labels, and pairs as four index arrays: similar (a, b), dissimilar (c, d)."""

    name: str
    X: np.ndarray
    y: np.ndarray
    pairs: tuple[np.ndarray, ...]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    given = [load(path) for path in sorted(options.data.glob("*.json"))]
    test = Data("iris_raw", *committed.points_and_pairs())
    with threadpool_limits(1):  # the sums of a threaded BLAS may differ from run to run
        runs = [each for data in given for each in all_runs(data)]
        for settings, model in committed.learners().items():
            runs.append({**run(settings, model, test), "pinned": committed.PINNED[settings]})
    record = {
        "environment": {"python": platform.python_version()}
        | {name: version(name) for name in (*NAMES.values(), "numpy", "scipy", "joblib", "threadpoolctl")},
        "data": {data.name: {"X": data.X, "y": data.y} for data in [*given, test]},
        "pairs": {
            **{
                data.name: {"similar": np.array(data.pairs[:2]).T, "dissimilar": np.array(data.pairs[2:]).T}
                for data in given
            },
            test.name: "all",
        },
        "runs": runs,
    }
    text = json.dumps(record, default=lambda array: array.tolist(), separators=(",", ":"))
    options.out.write_text(text + "\n")


def load(path: Path) -> Data:
    """One data set, with its pairs drawn."""
    content = json.loads(path.read_text())
    X, y = np.array(content["X"], dtype=float), np.array(content["y"])
    return Data(path.stem, X, y, drawn_pairs(y))


def drawn_pairs(y: np.ndarray) -> tuple[np.ndarray, ...]:
    """PAIRS similar and PAIRS dissimilar pairs i < j, without repetition, by seed."""
    rng = np.random.default_rng(SEED)
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    similar, dissimilar = (
        np.sort(rng.choice(np.flatnonzero(kind), PAIRS, replace=False)) for kind in (same, ~same)
    )
    return i[similar], j[similar], i[dissimilar], j[dissimilar]


def all_runs(data: Data) -> list[dict[str, Any]]:
    """Each learner at its defaults, and again with the tolerance and the limit that a careful user would set."""
    i, j = np.triu_indices(len(data.y), 1)
    squared = ((data.X[i] - data.X[j]) ** 2).sum(axis=1)
    bounds = np.percentile(squared, (5, 95))  # squared, as ITML holds squared distances to them
    fixed = {"random_state": SEED}
    many = {"max_iter": 10_000, **fixed}
    return [
        run("default", LMNN(n_neighbors=3, **fixed), data),
        # learn_rate stays at its 1e-7: a larger one ended higher on iris and on wine
        run("tight", LMNN(n_neighbors=3, convergence_tol=1e-12, **many), data),
        run("squared bounds", ITML(**fixed), data, bounds=bounds),
        run("squared bounds, tight", ITML(tol=1e-9, **many), data, bounds=bounds),
        run("squared bounds, 5 passes", ITML(max_iter=5, **fixed), data, bounds=bounds),
        run("own bounds", ITML(**fixed), data),
        run("own bounds, tight", ITML(tol=1e-9, **many), data),
        run("full", MMC(init="identity", **fixed), data),
        run("full, tight", MMC(init="identity", tol=1e-9, **many), data),
        run("full, 100 projections", MMC(init="identity", max_proj=100, **fixed), data),
        run("diagonal", MMC(init="identity", diagonal=True, **fixed), data),
        # not `many`: after its second step it no longer moves, and goes on to the limit
        run("diagonal, tight", MMC(init="identity", diagonal=True, tol=1e-10, max_iter=1000, **fixed), data),
        run("default", NCA(init="identity", **fixed), data),
        run("tight", NCA(init="identity", tol=1e-10, **many), data),
        run("default", NeighborhoodComponentsAnalysis(init="identity", **fixed), data),
        run("tight", NeighborhoodComponentsAnalysis(init="identity", tol=1e-10, **many), data),
    ]


def run(settings: str, model: Any, data: Data, **given: Any) -> dict[str, Any]:
    """Fit twice, the second time verbose; everything that came out."""
    talking = clone(model).set_params(verbose=1)
    warned, _ = fit(model, data, given)
    warned_talking, printed = fit(talking, data, given)
    L, package = model.components_, NAMES[type(model).__module__.split(".")[0]]
    M = model.get_mahalanobis_matrix() if isinstance(model, MahalanobisMixin) else L.T @ L
    return {
        "package": package,
        "version": version(package),
        "learner": type(model).__name__,
        "settings": settings,
        "data": data.name,
        "params": model.get_params(),
        "given": given,  # to `fit`, besides points and labels or pairs
        "mahalanobis": M,
        **{key: getattr(model, key) for key in FITTED if hasattr(model, key)},
        **({"targets": targets(clone(model), data.X, data.y)} if isinstance(model, LMNN) else {}),
        "own_objective": own_objective(clone(model), data.X, data.y, data.pairs, L),
        "warnings": warned,
        "warnings_verbose": warned_talking,
        "printed": [line for line in printed if "converge" in line],
        "same_again": bool(np.array_equal(L, talking.components_)),
    }


def fit(model: Any, data: Data, given: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Fit in place. Warnings, each once with its count, and printed lines."""
    on_pairs = isinstance(model, (ITML, MMC))
    what = wrap_pairs(data.X.copy(), data.pairs) if on_pairs else (data.X.copy(), data.y.copy())
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        model.fit(*what, **{key: value.copy() for key, value in given.items()})
    counts = Counter((one.category.__name__, str(one.message)) for one in caught)
    warned = [{"category": kind, "text": text, "count": count} for (kind, text), count in counts.items()]
    return warned, out.getvalue().splitlines()


if __name__ == "__main__":
    main()
