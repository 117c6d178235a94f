"""The methods with examples to be timed, beside cvxpy and metric-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.core.example import Example
from cvxml.methods import get, names
from validation.benchmarks import learners, vectorised
from validation.benchmarks.measure import REPEATS, Result, certified, compared, growth, quietly
from validation.experiments.tasks import Task

TITLE = "The convex relatives"
WHAT = """\
What methods have among their examples to be timed: z-scored sets, default parameters where none are named, every pair
of points by their labels; a jitter of 1e-6 keeps points of different classes apart. metric-learn at its defaults, and
with a tight tolerance where that changes its result; its own start-up is not counted. It is timed in the same part, and
so beside ours, in a Python of its own with what `validation/foreign/requirements.txt` lists. It has no MCML, no DML-eig
and no squared hinge. Of MLR, and of MLKR, which is not convex, growth alone is here.
"""
SIZES = {"breast_cancer": (75, 150, 300), "wine": (45, 90, 178)}  # points, for growth
ALONE = ("mlr", "mlkr")  # too large for cvxpy at these sizes, or not convex: growth alone
GROWN: dict[str, dict[str, Any]] = {  # of growth, where the defaults are not asked
    "boostmetric": {"v": 4.0},
    "lfda": {"n_components": 3},
    "mlkr": {"n_components": 2},
}
JITTER = 1e-6


def examples() -> list[tuple[str, Example]]:
    """What methods have to be timed."""
    return [(name, each) for name in names() for each in get(name).EXAMPLES if each.use == "timed"]


def tasks(quick: bool) -> list[Task]:
    """Each method on each of its sets beside cvxpy, and beside metric-learn; growth."""
    common = {
        "points": 45 if quick else None,
        "repeats": 1 if quick else REPEATS,
        "limit": 3.0 if quick else 60.0,
    }
    found = examples()
    methods = list(dict.fromkeys(method for method, _ in found))
    if quick:
        found = [next(each for each in found if each[0] == method) for method in methods]
    made = [
        Task(each.points.name, f"{label(method, each)}, {part}", 0, {"part": part, **common, **own(each)})
        for part in ("cvxpy", "metric-learn")
        for method, each in found
        if part == "cvxpy" or (method in learners.LEARNERS and not each.params)
    ]
    if quick:
        return [
            *made,
            Task("breast_cancer", f"{methods[0]}, growth", 0, {"part": "growth", "sizes": (40, 80)}),
        ]
    return made + [
        Task(data, f"{m}, growth", 0, {"part": "growth", "sizes": sizes})
        for data, sizes in SIZES.items()
        for m in (*methods, *ALONE)
    ]


def label(method: str, example: Example) -> str:
    """The method, with the parameters that are not as by default."""
    return " ".join([method, *(f"{name}={value}" for name, value in example.params.items())])


def own(example: Example) -> dict[str, Any]:
    """The settings for its parameters, where there are any."""
    return {"params": example.params} if example.params else {}


def measure(task: Task) -> Result:
    """One method on one set."""
    asked, part = task.method.split(", ")[0], task.settings["part"]
    method = asked.split(" ")[0]
    if part == "growth":
        return {"growth": [grown(method, task)]}
    X, y = points(task.data, task.settings["points"])
    params, limit = task.settings.get("params", {}), task.settings["limit"]
    others = (
        learners.rivals(method, X, y, limit)
        if part == "metric-learn"
        else vectorised.rivals(method, X, y, limit, **params)
    )
    named = {
        "method": method,
        "data": ", ".join([task.data, *asked.split(" ")[1:]]),
        "n": X.shape[0],
        "d": X.shape[1],
        "timed": "solve, certified",
    }
    return {"claims": [compared(named, certified(method, X, y, **params), others, task.settings["repeats"])]}


def grown(method: str, task: Task) -> Result:
    """`cvxml.solve` to its default tolerance; MLKR predicts the last feature from the others."""
    params, sizes = GROWN.get(method, {}), task.settings["sizes"]

    def given(n: int) -> tuple[Any, Any]:
        X, y = points(task.data, n)
        return (X[:, :-1], X[:, -1]) if method == "mlkr" else (X, y)

    def of(n: int) -> Any:
        X, y = given(n)
        return lambda: quietly(lambda: cvxml.solve(method, X, y, **params))

    named = [task.data, f"{given(sizes[0])[0].shape[1]} features", *(f"{k}={v}" for k, v in params.items())]
    return growth(method, ", ".join(named), "solve to 1e-6", of, sizes)


def points(name: str, n: int | None) -> tuple[Any, Any]:
    """z-scored, a fixed subsample if n is given."""
    X, y = datasets.load(name)
    if n is not None:
        X, y = datasets.subsample(X, y, n)
    return datasets.standardize(X) + JITTER * np.random.default_rng(0).standard_normal(X.shape), y
