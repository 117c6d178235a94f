"""Gerrymandering: the convex step beside cvxpy, whole runs of CCCP, inference, growth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, project_psd
from cvxml.methods.ssvm import algorithms
from cvxml.methods.ssvm.algorithms import sgd
from cvxml.methods.ssvm.inference import Point, loss_augmented, nearest, point_at, rescaled, table
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.step import StepSolver
from validation.benchmarks import vectorised
from validation.benchmarks.gerrymandering_cvxpy import generated, polynomial
from validation.benchmarks.measure import (
    LEAST,
    REPEATS,
    Ours,
    Result,
    Rival,
    best_of,
    compared,
    growth,
    quietly,
)
from validation.experiments.tasks import Task

TITLE = "Gerrymandering"
WHAT = """\
k = 3, 0/1 loss, z-scored features. A step is the convex step of CCCP at W = I, scaled to its best. The alternatives
solve the same step through cvxpy: *polynomial*, the SDP of polynomial size; *generated*, rounds of constraint
generation by our own exact inference, without which there is no such round. A share of the scale is one of ||W||^2.
"""
FORMS = {"polynomial": polynomial, "generated": generated}


def tasks(quick: bool) -> list[Task]:
    """Whole runs, growth, steps beside cvxpy, inference."""
    if quick:
        step = {"part": "cvxpy", "n": 30, "forms": ["polynomial", "generated"], "limit": 20.0, "repeats": 1}
        return [
            Task("wine", "step 30", 0, step),
            Task("wine", "growth", 0, {"part": "growth", "sizes": (60, 120)}),
            Task("iris", "runs", 0, {"part": "runs", "weight": 1}),
        ]
    step = {"part": "cvxpy", "limit": 150.0, "repeats": REPEATS}
    return [
        Task("letter", "runs, C 1 over n", 0, {"part": "runs", "weight": 1}),
        Task("letter", "growth", 0, {"part": "growth", "sizes": (1000, 2000, 4000, 8000, 16000)}),
        Task("ionosphere", "step 80", 0, {**step, "n": 80, "forms": ["polynomial", "generated"]}),
        Task("ionosphere", "step 351", 0, {**step, "n": 351, "forms": ["generated"]}),
        Task("letter", "step 1000", 0, {**step, "n": 1000, "forms": ["generated"]}),
        Task("ionosphere", "runs, C 1 over n", 0, {"part": "runs", "weight": 1}),
        Task("ionosphere", "runs, C 10 over n", 0, {"part": "runs", "weight": 10}),
        Task("letter", "inference", 0, {"part": "inference"}),
    ]


def measure(task: Task) -> Result:
    """By its part."""
    return {"cvxpy": beside, "growth": grown, "runs": runs, "inference": inference}[task.settings["part"]](
        task
    )


def problem(name: str, n: int | None = None, weight: float = 1.0) -> Instance:
    """A fixed subsample of n points of a set of this size or less (letter: its first n), C = weight / n."""
    X, y = datasets.load(name)
    X, y = (X[:16000], y[:16000]) if name == "letter" else (X, y)
    if n is not None and n < len(X):
        X, y = (X[:n], y[:n]) if name == "letter" else datasets.subsample(X, y, n)
    return instance(datasets.standardize(X), y, n_neighbors=3, C=weight / len(X))


def start_of(p: Instance) -> Point:
    """W = I, scaled to its best."""
    return rescaled(p, point_at(p, np.eye(p.X.shape[1])))


def beside(task: Task) -> Result:
    """One step, ours and through cvxpy."""
    p = problem(task.data, task.settings["n"])
    latent, limit = start_of(p).latent, task.settings["limit"]
    rivals = [
        Rival(
            f"cvxpy, CLARABEL, {name}",
            "default tolerances (1e-8)",
            partial(vectorised.through, "CLARABEL", limit, partial(FORMS[name], p, latent)),
        )
        for name in task.settings["forms"]
    ]
    named = {"method": "ssvm", "data": f"{task.data}, a step", "n": len(p.X), "d": p.X.shape[1]}
    claim = compared(
        {**named, "timed": "a step at W = I, certified"}, ours(p), rivals, task.settings["repeats"]
    )
    return {"claims": [claim]}


def ours(p: Instance) -> Ours:
    """The step by `StepSolver`, its inference and bound included."""
    at = start_of(p)
    best = StepSolver(p, at.latent).solve(at, LEAST, early=False)
    scale = best.best.norm2

    def solve(gap: float) -> float:
        start = start_of(p)
        found = StepSolver(p, start.latent).solve(start, gap * best.objective / scale, early=False)
        return (found.objective - found.bound) / best.objective

    def judge(W: FloatArray) -> float:
        return (objective(p, at, project_psd(W)) - best.bound) / best.objective

    return Ours(solve, judge)


def objective(p: Instance, at: Point, W: FloatArray) -> float:
    """Of the step at `at`: the worst sets at W by exact inference, and the sets h* of `at`."""
    here = point_at(p, W)
    difference = p.X[:, None] - p.X[at.latent]
    kept = np.einsum("nkd,de,nke->", difference, W, difference)
    return here.norm2 + p.C * float(here.worst.sum() + kept)


def grown(task: Task) -> Result:
    """One step, to 1e-4 of the scale."""

    def of(n: int) -> Callable[[], Any]:
        p = problem(task.data, n)
        return lambda: StepSolver(p, start_of(p).latent).solve(start_of(p), 1e-4, early=False)

    return {"growth": [growth("ssvm", task.data, "a step to 1e-4 of the scale", of, task.settings["sizes"])]}


def runs(task: Task) -> Result:
    """Full certified CCCP from two starts, each once."""
    p, facts = problem(task.data, None, task.settings["weight"]), []
    for start in ("zero", "identity"):
        solve = partial(cvxml.solve, "ssvm", p.X, p.y, C=p.C, init=start, tol=1e-4)
        took, found = best_of(partial(quietly, solve), 1)
        facts.append(
            f"CCCP on {task.data} {len(p.X)} x {p.X.shape[1]}, C = {task.settings['weight']}/n, from {start}: "
            f"{took:.1f} s, {found.n_iter} steps, F = {found.objective:.4f}, gap of its last step "
            f"{found.certificate.step.rel_gap:.0e} of the scale."
        )
    return {"facts": facts}


def inference(task: Task) -> Result:
    """Tables, candidates, a whole pass, an epoch of SGD."""
    p = problem(task.data)
    W = np.eye(p.X.shape[1])
    near = nearest(p.X, p.y, p.R, W, p.k)
    facts = []
    for tau in (0, 1):
        exact = best_of(partial(table, near.D, tau))[0]
        printed = best_of(partial(algorithms.table, near.D, tau))[0]
        facts.append(
            f"Table of all classes, tau = {tau}: exact {exact:.3f} s, greedy as printed {printed:.3f} s "
            f"({exact / printed:.2f})."
        )
    candidates = best_of(lambda: nearest(p.X, p.y, p.R, W, p.k))[0]

    def passed() -> None:
        found = nearest(p.X, p.y, p.R, W, p.k)
        loss_augmented(found, p.y, p.Lam)
        point_at(p, W, found)

    epoch = best_of(lambda: sgd(p, W, 1, 64), 1)[0] - 2 * best_of(lambda: point_at(p, W), 1)[0]
    where = f"{task.data} {len(p.X)} x {p.X.shape[1]}, {p.R} classes"
    return {
        "facts": [
            f"{where}: candidates (k nearest of each class, all points) {candidates:.2f} s; a whole pass, candidates "
            f"and both inferences with their sets, {best_of(passed)[0]:.2f} s; an epoch of SGD, mini-batches of 64, "
            f"without the two exact values of F, {epoch:.2f} s.",
            *facts,
        ]
    }
