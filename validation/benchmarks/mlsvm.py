"""MLSVM beside cvxpy; USPS, growth, and what a user waits for."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.methods.mlsvm.neighborhood import instance
from validation.benchmarks import vectorised
from validation.benchmarks.measure import REPEATS, Result, best_of, certified, compared, growth, quietly
from validation.experiments.tasks import Task

TITLE = "MLSVM"
WHAT = """\
Neighbourhood knn, K = 8 (iris, wine: 4). Ours is `cvxml.solve` whole, with the search for neighbours and the final
certificate. *gaussian*: two overlapping classes, 1 apart in 5 of d features. On iris and wine few points are usable
(have targets and impostors), and the problem is small.
"""
LAMS = (1.0, 0.01)
SETS = (("gaussian", 700, 57), ("gaussian", 350, 34), ("spambase", 700, 57), ("ionosphere", 350, 34))
SMALL = (("wine", 178, 13), ("iris", 150, 4))
USPS = 7291  # training points


def tasks(quick: bool) -> list[Task]:
    """Each set at each lam; growth; USPS; start-up."""
    repeats, limit, sizes = (
        (1, 10.0, (200, 400)) if quick else (REPEATS, 150.0, (1000, 2000, 4000, 8000, 16000))
    )
    sets = SMALL if quick else (*SETS, *SMALL)
    made = [
        Task(
            name,
            f"mlsvm {n} x {d}, lam {lam:g}",
            0,
            {"part": "cvxpy", "n": n, "d": d, "lam": lam, "limit": limit, "repeats": repeats},
        )
        for name, n, d in sets
        for lam in (LAMS[:1] if quick else LAMS)
    ]
    made.append(Task("digits" if quick else "letter", "growth", 0, {"part": "growth", "sizes": sizes}))
    if not quick:
        made.append(Task("usps", "whole", 0, {"part": "usps"}))
        made.append(Task("gaussian", "waiting", 0, {"part": "waiting"}))
    return made


def measure(task: Task) -> Result:
    """By its part."""
    return {"cvxpy": beside, "growth": grown, "usps": usps, "waiting": waiting}[task.settings["part"]](task)


def beside(task: Task) -> Result:
    """One set at one lam."""
    n, d, lam = (task.settings[name] for name in ("n", "d", "lam"))
    X, y = points(task.data, n, d)
    params = {"lam": lam, "n_neighbors": 4 if (task.data, n, d) in SMALL else 8}
    rivals = vectorised.rivals("mlsvm", X, y, task.settings["limit"], **params)
    usable = len(instance(X, y, **params).N.usable)
    named = {"method": "mlsvm", "data": f"{task.data}, lam {lam:g}", "n": n, "d": d}
    timed = {"timed": f"solve, certified; {usable} usable points"}
    claim = compared({**named, **timed}, certified("mlsvm", X, y, **params), rivals, task.settings["repeats"])
    return {"claims": [claim]}


def points(name: str, n: int, d: int) -> tuple[Any, Any]:
    """The set, z-scored but for the generated one."""
    if name == "gaussian":
        return gaussian(n, d)
    X, y = datasets.load(name)
    if n < len(X):
        X, y = datasets.subsample(X, y, n)
    return datasets.standardize(X), y


def gaussian(n: int, d: int) -> tuple[Any, Any]:
    """Two overlapping Gaussian classes, 1 apart in 5 of d features."""
    rng = np.random.RandomState(0)
    y = np.arange(n) % 2
    X = rng.randn(n, d)
    X[:, :5] += y[:, None]
    return X, y


def grown(task: Task) -> Result:
    """To the default tolerance, as n grows at a fixed number of features; the optimum is not 0 at any size."""

    def of(n: int) -> Any:
        X, y = datasets.subsample(*datasets.load(task.data), n)
        X = datasets.standardize(X)
        return lambda: quietly(lambda: cvxml.solve("mlsvm", X, y, lam=0.01, n_neighbors=8))

    what = f"{task.data}, z-scored, K = 8, lam 0.01", "solve to 1e-6 of the scale"
    return {"growth": [growth("mlsvm", *what, of, task.settings["sizes"])]}


def usps(task: Task) -> Result:
    """7291 x 256, raw, one run: the seconds at which each gap was proved."""
    X, y = (part[:USPS] for part in datasets.load("usps"))
    at: dict[float, float] = {}
    started = time.perf_counter()

    def watch(step: cvxml.core.result.Step) -> None:
        for gap in (1e-4, 1e-6):
            if gap not in at and step.gap <= gap * step.objective:
                at[gap] = time.perf_counter() - started

    solution = quietly(lambda: cvxml.solve("mlsvm", X, y, lam=1e-3, n_neighbors=8, tol=1e-6, callback=watch))
    whole = time.perf_counter() - started
    own = [{"to": f"{gap:.0e}", "seconds": seconds, "reached": ""} for gap, seconds in at.items()]
    own.append({"to": "the end", "seconds": whole, "reached": f"{solution.rel_gap:.0e} of the scale"})
    claim = {"method": "mlsvm", "data": "usps train, raw, lam 0.001", "n": len(X), "d": X.shape[1]}
    return {"claims": [{**claim, "timed": f"solve, {solution.n_iter} iterations", "ours": own, "rivals": []}]}


def waiting(task: Task) -> Result:
    """`check` on 1000 x 50, and how long the command line takes to start."""
    X, y = gaussian(1000, 50)
    A = cvxml.solve("mlsvm", X, y, lam=0.1).metric
    took, report = best_of(lambda: cvxml.check("mlsvm", X, y, A, lam=0.1), 1)
    command = [sys.executable, "-m", "cvxml", "--help"]
    start, _ = best_of(lambda: subprocess.run(command, check=True, capture_output=True))
    return {
        "facts": [
            f"`check` on 1000 x 50: {took:.1f} s ({report.verdict.value}).",
            f"`cvxml --help`: {start:.2f} s.",
        ]
    }
