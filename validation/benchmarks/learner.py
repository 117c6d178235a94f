"""One fit of metric-learn, timed, in a Python that has what validation/foreign/requirements.txt lists.

    python learner.py IN.json OUT.json

IN.json has "learner", "params", X (n, d), y (n,), "repeats", and "short", the seconds beyond which a fit is not
repeated; "bounds" for ITML. ITML and MMC are given every pair of points, by their labels. Before what is timed a fit of
a few iterations loads what is loaded at the first call. OUT.json: "seconds" of the fastest fit, "metric" (d, d),
"n_iter" or null, "version".
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import metric_learn
import numpy as np
from metric_learn.constraints import wrap_pairs

FIRST = 5  # iterations of the fit that is not timed


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text())
    X, y = np.array(asked["X"], dtype=float), np.array(asked["y"])
    fit(asked, X, y, max_iter=FIRST)
    seconds: list[float] = []
    while not seconds or (len(seconds) < asked["repeats"] and seconds[0] < asked["short"]):
        took, model = fit(asked, X, y)
        seconds.append(took)
    found = {
        "seconds": min(seconds),
        "metric": model.get_mahalanobis_matrix().tolist(),
        "n_iter": int(model.n_iter_) if hasattr(model, "n_iter_") else None,
        "version": version("metric-learn"),
    }
    Path(sys.argv[2]).write_text(json.dumps(found))


def fit(asked: dict[str, Any], X: np.ndarray, y: np.ndarray, **changed: int) -> tuple[float, Any]:
    """Seconds, and the learner."""
    given = every_pair(X, y) if asked["learner"] in ("ITML", "MMC") else (X.copy(), y.copy())
    more = {"bounds": np.array(asked["bounds"])} if "bounds" in asked else {}
    model = getattr(metric_learn, asked["learner"])(**{**asked["params"], **changed})
    started = time.perf_counter()
    model.fit(*given, **more)
    return time.perf_counter() - started, model


def every_pair(X: np.ndarray, y: np.ndarray) -> Any:
    """As `fit` takes them."""
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    return wrap_pairs(X.copy(), (i[same], j[same], i[~same], j[~same]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
