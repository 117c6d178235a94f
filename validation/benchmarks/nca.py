"""NCA beside scikit-learn and metric-learn: seconds, f, memory, growth."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import cvxml
from cvxml import datasets
from cvxml.core.metric import low_rank_components
from cvxml.methods.nca.descent import Pairs
from cvxml.methods.nca.instance import instance
from validation.benchmarks import learners
from validation.benchmarks import measure as measuring
from validation.benchmarks.measure import REPEATS, Result, best_of, growth, quietly
from validation.experiments.tasks import Task

TITLE = "NCA"
WHAT = """\
Digits, raw, 1797 x 64; f, recomputed for all by `cvxml.evaluate`, is 1797 at most, and better the larger. All from the
start `auto`: discriminant directions for 2 components, the identity for 64; ours scales it. NCA is not convex, so a
ratio is of the seconds until ours has an f as good, and a full run goes on, longer, to a better one. Memory is the peak
of numpy's arrays, by tracemalloc, in a run of its own. Growth is of one value and gradient, 2 components; scikit-learn
holds n x n arrays, and is not asked for more than 4000 points.
"""
LARGEST_DENSE = 4000


def tasks(quick: bool) -> list[Task]:
    """2 and 64 components beside each package; growth."""
    repeats, points = (1, 300) if quick else (REPEATS, None)
    sizes = (500, 1000) if quick else (1000, 2000, 4000, 8000, 16000)
    common = {"repeats": repeats, "points": points}
    made = [
        Task("digits", f"nca {m}, {package}", 0, {"part": package, "components": m, **common})
        for package in ("scikit-learn", "metric-learn")
        for m in ((2,) if quick else (2, 64))
    ]
    return [*made, Task("waveform" if quick else "letter", "growth", 0, {"part": "growth", "sizes": sizes})]


def measure(task: Task) -> Result:
    """By its part."""
    if task.settings["part"] == "growth":
        return grown(task)
    X, y = datasets.load(task.data)
    if task.settings["points"] is not None:
        X, y = datasets.subsample(X, y, task.settings["points"])
    m, repeats, by = task.settings["components"], task.settings["repeats"], task.settings["part"]
    own = [timed(X, y, m)]
    while len(own) < repeats and own[0].seconds < measuring.SHORT:
        own.append(timed(X, y, m))
    fits = {"scikit-learn": from_sklearn, "metric-learn": from_metric_learn}[by](X, y, m, repeats)
    rivals = [
        {**fit, "gap": None, "answered": f is not None, "same": least([run.until(f) for run in own])}
        for fit, f in fits
    ]
    descent, whole = min(run.marks[-1][0] for run in own), min(run.seconds for run in own)
    last = own[-1].solution
    ours = [
        {"to": "the descent", "seconds": descent, "reached": f"f {f_of(X, y, last.components):.2f}"},
        {"to": "its certificate too", "seconds": whole, "reached": last.status.name},
    ]
    named = {"method": "nca", "data": f"{task.data}, {m} components", "n": len(X), "d": X.shape[1]}
    claim = {**named, "timed": "until f is as good", "ours": ours, "rivals": rivals}
    return {"claims": [claim], "facts": memory(X, y, m) if by == "scikit-learn" else []}


class Timed:
    """One run of ours: (seconds, f) at each step, the solution, seconds with its certificate."""

    def __init__(self, marks: list[tuple[float, float]], seconds: float, solution: Any):
        self.marks, self.seconds, self.solution = marks, seconds, solution

    def until(self, f: float | None) -> float | None:
        """Seconds until f is as good; None for none."""
        if f is None:
            return None
        return next((seconds for seconds, value in self.marks if value >= f), None)


def timed(X: Any, y: Any, m: int) -> Timed:
    """A run to 1e-5."""
    marks: list[tuple[float, float]] = []
    started = measuring.clock()

    def mark(step: cvxml.core.result.Step) -> None:
        marks.append((measuring.clock() - started, -step.objective))

    solution = quietly(lambda: cvxml.solve("nca", X, y, n_components=m, tol=1e-5, callback=mark))
    return Timed(marks, measuring.clock() - started, solution)


def least(times: list[float | None]) -> float | None:
    """The least, None where f was never as good."""
    return min((each for each in times if each is not None), default=None)


def f_of(X: Any, y: Any, components: Any) -> float:
    """f of a transform, row by row."""
    return float(cvxml.evaluate("nca", X, y, components.T @ components, n_components=len(components)).f)


def from_sklearn(X: Any, y: Any, m: int, repeats: int) -> list[tuple[Result, float | None]]:
    """At its default of 50 iterations, and with 1000."""
    found: list[tuple[Result, float | None]] = []
    for limit in (50, 1000):
        fit = partial(NeighborhoodComponentsAnalysis(m, max_iter=limit, random_state=0).fit, X, y)
        took, model = best_of(partial(quietly, fit), repeats)
        f = f_of(X, y, model.components_)
        reached = f"f {f:.2f}, {model.n_iter_} iterations"
        named = {"name": "scikit-learn, NCA", "settings": f"max_iter={limit}", "seconds": took}
        found.append(({**named, "reached": reached}, f))
    return found


def from_metric_learn(X: Any, y: Any, m: int, repeats: int) -> list[tuple[Result, float | None]]:
    """At its default of 100 iterations."""
    params = {"n_components": m, "random_state": 0}
    asked = {"learner": "NCA", "params": params, "X": X.tolist(), "y": y.tolist(), "repeats": repeats}
    ran = learners.run({**asked, "short": measuring.SHORT}, repeats * measuring.LIMIT, X, y)
    named = {"name": "metric-learn, NCA", "settings": "defaults", "seconds": ran.seconds}
    if ran.metric is None:
        return [({**named, "reached": ran.said}, None)]
    f = f_of(X, y, low_rank_components(ran.metric, m))
    return [({**named, "reached": f"f {f:.2f}, {ran.said}"}, f)]


def memory(X: Any, y: Any, m: int) -> list[str]:
    """Both peaks."""
    theirs = peak(lambda: NeighborhoodComponentsAnalysis(m, max_iter=3).fit(X, y))
    ours = peak(lambda: cvxml.solve("nca", X, y, n_components=m, tol=1e-5))
    return [f"Memory, {m} components: {ours:.0f} MiB against {theirs:.0f} MiB of scikit-learn."]


def peak(run: Callable[[], Any]) -> float:
    """The most that numpy holds at a time while `run` runs, in MiB."""
    tracemalloc.start()
    quietly(run)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def grown(task: Task) -> Result:
    """One value and gradient, in double and in single precision; scikit-learn's; ours in memory."""
    sets = {n: data(task.data, n) for n in task.settings["sizes"]}
    A = np.eye(2, next(iter(sets.values()))[0].shape[1])
    pairs = {n: Pairs(instance(X, y)) for n, (X, y) in sets.items()}
    dense = [n for n in sets if n <= LARGEST_DENSE]
    theirs = [one_evaluation(*sets[n], A) for n in dense]
    where = f"{task.data}, z-scored"
    held = peak(lambda: pairs[max(sets)].value_and_gradient(A))
    return {
        "growth": [
            growth(
                "nca",
                where,
                "a value and gradient",
                lambda n: lambda: pairs[n].value_and_gradient(A),
                list(sets),
            ),
            growth(
                "nca",
                where,
                "the same, single precision",
                lambda n: lambda: pairs[n].value_and_gradient(A, rough=True),
                list(sets),
            ),
            {"method": "nca", "data": where, "timed": "scikit-learn's", "sizes": dense, "seconds": theirs},
        ],
        "facts": [f"Memory of one value and gradient at n = {max(sets)}: {held:.0f} MiB."],
    }


def data(name: str, n: int) -> tuple[Any, Any]:
    """n points, z-scored."""
    X, y = datasets.waveform(n) if name == "waveform" else datasets.subsample(*datasets.load(name), n)
    return datasets.standardize(X), y


def one_evaluation(X: Any, y: Any, A: Any) -> float:
    """Seconds of one of scikit-learn's evaluations, the least of those of a fit of one iteration."""
    model = NeighborhoodComponentsAnalysis(len(A), init=A, max_iter=1)
    inner, took = model._loss_grad_lbfgs, []

    def timed_call(*arguments: Any) -> Any:
        seconds, value = best_of(lambda: inner(*arguments), 1)
        took.append(seconds)
        return value

    model._loss_grad_lbfgs = timed_call
    quietly(lambda: model.fit(X, y))
    return min(took)
