"""LMNN, ITML, MCML, MMC and DML-eig beside cvxpy and metric-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from validation.benchmarks import learners, vectorised
from validation.benchmarks.measure import REPEATS, Result, certified, compared, growth, quietly
from validation.experiments.tasks import Task

TITLE = "The convex relatives: LMNN, ITML, MCML, MMC, DML-eig"
WHAT = """\
z-scored sets, default parameters, every pair of points by their labels; a jitter of 1e-6 keeps points of different
classes apart. metric-learn at its defaults, and with a tight tolerance where that changes its result; its own start-up
is not counted. It is timed in the same part, and so beside ours, in a Python of its own with what
`validation/foreign/requirements.txt` lists. It has no MCML, no DML-eig and no squared hinge.
"""
METHODS = ("lmnn", "lmnn:squared_hinge", "itml", "mcml", "mmc", "mmc:diagonal", "dml_eig")
SIZES = (75, 150, 300)  # points of breast_cancer
JITTER = 1e-6


def tasks(quick: bool) -> list[Task]:
    """Each method on each set beside cvxpy, and beside metric-learn; growth."""
    sets, sizes, repeats = (("iris", "wine"), SIZES, REPEATS) if not quick else (("iris",), (40, 80), 1)
    points = 45 if quick else None
    limit = 3.0 if quick else 60.0
    common = {"points": points, "repeats": repeats, "limit": limit}
    made = [Task(name, f"{m}, cvxpy", 0, {"part": "cvxpy", **common}) for m in METHODS for name in sets]
    made += [
        Task(name, f"{m}, metric-learn", 0, {"part": "metric-learn", **common})
        for m in METHODS
        if m in learners.LEARNERS
        for name in sets
    ]
    return made + [
        Task("breast_cancer", f"{m}, growth", 0, {"part": "growth", "sizes": sizes})
        for m in (METHODS[:1] if quick else METHODS)
    ]


def measure(task: Task) -> Result:
    """One method on one set."""
    method, part = task.method.split(", ")[0], task.settings["part"]
    if part == "growth":
        return {"growth": [grown(method, task)]}
    X, y = points(task.data, task.settings["points"])
    found = vectorised if part == "cvxpy" else learners
    rivals = found.rivals(method, X, y, task.settings["limit"])
    named = {
        "method": method,
        "data": task.data,
        "n": X.shape[0],
        "d": X.shape[1],
        "timed": "solve, certified",
    }
    return {"claims": [compared(named, certified(method, X, y), rivals, task.settings["repeats"])]}


def grown(method: str, task: Task) -> Result:
    """`cvxml.solve` to its default tolerance."""

    def of(n: int) -> Any:
        X, y = points(task.data, n)
        return lambda: quietly(lambda: cvxml.solve(method, X, y))

    return growth(method, f"{task.data}, 30 features", "solve to 1e-6", of, task.settings["sizes"])


def points(name: str, n: int | None) -> tuple[Any, Any]:
    """z-scored, a fixed subsample if n is given."""
    X, y = datasets.load(name)
    if n is not None:
        X, y = datasets.subsample(X, y, n)
    return datasets.standardize(X) + JITTER * np.random.default_rng(0).standard_normal(X.shape), y
