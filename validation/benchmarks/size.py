"""Thousands of points, hundreds of features, every pair: what is certified, in what time and memory."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np

import cvxml
from validation.benchmarks import learners
from validation.benchmarks.convex import points
from validation.benchmarks.measure import Ours, Result, beside, best_of, growth, quietly
from validation.experiments.tasks import Task

TITLE = "Size"
WHAT = """\
z-scored sets with a jitter of 1e-6, default parameters; MMC, MCML and DML-eig on every pair of points by their labels,
ITML on pairs drawn at random. *drawn* is 100,000 points of ten normal classes in 30 features. Ours is `cvxml.solve`
whole, one run each, to each gap from the beginning. A run is stopped soon after 20 minutes: then the gap at the stop is
above the one that was asked. metric-learn is at its defaults; cvxpy is not here: the problems have millions of rows.
"""
LETTER = (1000, 2000, 4000, 8000, 16000)
DRAWN = "drawn"  # points that are drawn here
WORK: tuple[tuple[str, str, int, tuple[float, ...]], ...] = (
    ("lmnn", "letter", 4000, (1e-3, 1e-6)),
    ("lmnn", "letter", 16000, (1e-3, 1e-6)),
    ("lmnn", "digits", 1797, (1e-3, 1e-6)),
    ("lmnn", "usps", 7291, (1e-3,)),
    ("lmnn", "isolet", 6238, (1e-3,)),
    ("lmnn", "office_amazon", 958, (1e-3,)),
    ("lmnn:squared_hinge", "letter", 4000, (1e-3,)),
    ("mmc", "letter", 4000, (1e-4,)),
    ("mmc", "letter", 16000, (1e-4,)),
    ("mcml", "letter", 4000, (1e-4,)),
    ("mcml", "letter", 16000, (1e-4,)),
    ("dml_eig", "letter", 4000, (1e-3,)),
    ("itml", "letter", 4000, (1e-6,)),
    ("itml", "letter", 16000, (1e-6,)),
    ("lmnn", DRAWN, 100_000, (1e-3,)),
    ("mlsvm", DRAWN, 100_000, (1e-3,)),
    ("mmc", DRAWN, 100_000, (1e-3,)),
)
GROWTH = {"lmnn": 1e-3, "lmnn:squared_hinge": 1e-3, "mmc": 1e-4, "mcml": 1e-4, "dml_eig": 1e-3}
PAIRS = (13_520, 100_000)  # of ITML: 20 times the square of the number of classes, and more
LIMIT = 300.0  # seconds for metric-learn
LONGEST = 1200.0  # seconds for ours: what it has reached by then is what is told


def tasks(quick: bool) -> list[Task]:
    """Each piece of work, metric-learn's LMNN beside the smallest, and growth."""
    if quick:
        made = [solved("lmnn", "digits", 150, (1e-2,)), solved("itml", "iris", 100, (1e-3,), pairs=500)]
        return [*made, grown("mmc", "iris", (60, 120), 1e-3)]
    made = [
        solved(method, data, n, gaps, **pairs)
        for method, data, n, gaps in WORK
        for pairs in ([{"pairs": p} for p in PAIRS] if method == "itml" else [{}])
    ]
    beside = Task("letter", "lmnn, metric-learn", 0, {"part": "metric-learn", "points": 4000, "gaps": [1e-3]})
    return [*made, beside, *(grown(method, "letter", LETTER, gap) for method, gap in GROWTH.items())]


def solved(method: str, data: str, n: int, gaps: tuple[float, ...], **pairs: int) -> Task:
    """One problem, to each gap."""
    named = ", ".join([method, str(n), *(f"{p} pairs" for p in pairs.values())])
    return Task(data, named, 0, {"part": "solve", "points": n, "gaps": list(gaps), **pairs})


def grown(method: str, data: str, sizes: tuple[int, ...], gap: float) -> Task:
    """One method at several sizes."""
    return Task(data, f"{method}, growth", 0, {"part": "growth", "sizes": sizes, "gap": gap})


def measure(task: Task) -> Result:
    """One piece of work."""
    method, asked = task.method.split(", ")[0], task.settings
    if asked["part"] == "growth":
        return {"growth": [by_size(method, task)]}
    n = asked["points"]
    X, y = drawn_points(n) if task.data == DRAWN else points(task.data, n)
    more = {"pairs": drawn(y, asked["pairs"])} if "pairs" in asked else {}
    labels = None if more else y
    own, found = [], None
    for gap in asked["gaps"]:
        seconds, found = best_of(
            lambda gap=gap: quietly(
                lambda: cvxml.solve(method, X, labels, tol=gap, time_limit=LONGEST, **more)
            ),
            1,
        )
        own.append({"to": f"{gap:.0e}", "seconds": seconds, "reached": f"gap {share(found):.0e}"})
    claim = {"method": method, "data": task.data, "n": X.shape[0], "d": X.shape[1], "ours": own, "rivals": []}
    if asked["part"] == "metric-learn":
        ours = Ours(
            lambda gap: share(quietly(lambda: cvxml.solve(method, X, y, tol=gap))),
            lambda metric: share(cvxml.certify(method, X, y, metric, found.dual)),
        )
        claim["rivals"] = [beside(ours, rival, 1) for rival in learners.rivals(method, X, y, LIMIT)[:1]]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    words = f"{asked['pairs']} pairs, " if more else ""
    return {"claims": [{**claim, "timed": f"solve, certified; {words}{peak:.2f} GiB at most"}]}


def share(found: Any) -> float:
    """The gap of a solution or a certificate, as a share of its objective."""
    return float(found.gap / abs(found.objective))


def by_size(method: str, task: Task) -> Result:
    """`cvxml.solve` to one gap."""
    gap = task.settings["gap"]

    def of(n: int) -> Any:
        X, y = points(task.data, n)
        return lambda: quietly(lambda: cvxml.solve(method, X, y, tol=gap))

    return growth(method, task.data, f"solve to {gap:.0e}", of, task.settings["sizes"])


def drawn_points(n: int) -> tuple[Any, Any]:
    """n points of ten normal classes in 30 features: X (n, 30), y (n,)."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10
    return rng.standard_normal((10, 30))[y] + rng.standard_normal((n, 30)), y


def drawn(y: Any, count: int) -> dict[str, Any]:
    """So many pairs of points, drawn at random without repetition, by the labels."""
    rng, n = np.random.default_rng(0), len(y)
    i, j = np.divmod(rng.choice(n * n, 3 * count, replace=False), n)
    i, j = i[i < j][:count], j[i < j][:count]
    same = y[i] == y[j]
    pairs = np.stack([i, j], axis=1)
    return {"similar": pairs[same], "dissimilar": pairs[~same]}
