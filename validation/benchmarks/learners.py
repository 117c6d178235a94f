"""metric-learn as an alternative: fitted and timed by learner.py in another Python, named by --learners."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.itml import default_bounds
from validation.benchmarks import measure
from validation.benchmarks.measure import Ran, Rival

PYTHON = (
    "CVXML_LEARNERS"  # the environment variable that names the other Python, for processes of the command
)
FIT = Path(__file__).with_name("learner.py")
START = 30.0  # seconds for its imports, which are not counted
MMC = {"init": "identity", "random_state": 0}
LEARNERS: dict[
    str, tuple[str, dict[str, dict[str, Any]]]
] = {  # method -> learner, settings in words -> parameters
    "lmnn": (
        "LMNN",
        {
            "defaults": {"n_neighbors": 3, "random_state": 0},
            "convergence_tol=1e-12": {
                "n_neighbors": 3,
                "random_state": 0,
                "convergence_tol": 1e-12,
                "max_iter": 10_000,
            },
        },
    ),
    "itml": (
        "ITML",
        {
            "defaults": {"random_state": 0},
            "tol=1e-9": {"random_state": 0, "tol": 1e-9, "max_iter": 10_000},
        },
    ),
    "mmc": ("MMC", {"init identity": MMC}),
    "mmc:diagonal": ("MMC", {"init identity": {**MMC, "diagonal": True}}),
}


def rivals(method: str, X: Any, y: Any, limit: float = measure.LIMIT) -> list[Rival]:
    """The learner of a method, in each of its settings."""
    learner, settings = LEARNERS[method]
    more = {"bounds": default_bounds(X, np.eye(X.shape[1]))} if learner == "ITML" else {}

    def of(words: str, params: dict[str, Any]) -> Rival:
        asked = {
            "learner": learner,
            "params": params,
            "X": X.tolist(),
            "y": y.tolist(),
            "repeats": 1,
            "short": measure.SHORT,
            **more,
        }
        return Rival(f"metric-learn, {learner}", words, lambda: run(asked, limit, X, y))

    return [of(words, params) for words, params in settings.items()]


def run(asked: dict[str, Any], limit: float, X: Any, y: Any) -> Ran:
    """What learner.py found within the limit."""
    try:
        found = fit(asked, limit + START)
    except subprocess.TimeoutExpired:
        return Ran(limit, None, f"nothing within {limit:.0f} s")
    metric = np.array(found["metric"], dtype=float)
    if asked["learner"] == "MMC":
        metric = within_budget(metric, X, y)
    count = found["n_iter"]
    return Ran(found["seconds"], metric, "" if count is None else f"{count} iterations")


def fit(asked: dict[str, Any], limit: float) -> dict[str, Any]:
    """learner.py in the other Python. Raises CalledProcessError where it fails, TimeoutExpired beyond the limit."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "in.json", Path(folder) / "out.json"
        given.write_text(json.dumps(asked), encoding="utf-8")
        subprocess.run([os.environ[PYTHON], FIT, given, out], check=True, timeout=limit)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def within_budget(M: FloatArray, X: FloatArray, y: Any) -> FloatArray:
    """The multiple that spends 1, the sum of squared distances of similar pairs: the direction is what is learned."""
    i, j = np.triu_indices(len(y), 1)
    difference = (X[i] - X[j])[y[i] == y[j]]
    return M / float(np.sum((difference @ M) * difference))
