"""Results made by hand, in the form that each experiment has them: for tests of what the reports say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from validation.experiments.glml_methods import DENSITIES, FITTED, GENERATIVE, SHARED
from validation.experiments.nca_more import KS
from validation.experiments.page import Results
from validation.experiments.tasks import Result, Task

Level = Callable[[str, str, int, str], float]  # data, method, split, and part, size or k -> accuracy
SETTINGS: dict[str, dict[str, Any]] = {
    "glml": {"sizes": [10, 20], "largest": 40, "test": None},
    "synthetic": {"sizes": [250]},
    "table1": {"k": [3], "starts": True},
}
OF_TASK = {SHARED: GENERATIVE, FITTED: DENSITIES}
OURS = ("CCCP", "SGD", "SGD printed")
POINTS = 100  # to test, of a fold


def around(means: Mapping[Any, float], base: float = 0.8, noise: float = 0.01, seed: int = 0) -> Level:
    """Levels by method, or by data and method; else `base`; each with some noise."""
    rng = np.random.default_rng(seed)

    def level(data: str, method: str, split: int, place: str) -> float:
        mean = means.get((data, method), means.get(method, base))
        return float(mean + noise * rng.standard_normal())

    return level


def results(
    name: str, methods: Iterable[str], sets: Iterable[str], splits: int, level: Level, **settings: Any
) -> Results:
    """Results of some tasks of an experiment."""
    given, methods = {**SETTINGS.get(name, {}), **settings}, list(methods)
    tasks = [Task(data, of, split, given) for data in sets for of in methods for split in range(splits)]
    return filled(name, tasks, level)


def filled(name: str, tasks: Iterable[Task], level: Level) -> Results:
    """Results of these tasks of an experiment."""
    return [(task, {**FORMS[name](task, level), "seconds": 1.0 + task.split}) for task in tasks]


def of_mlsvm(task: Task, level: Level) -> Result:
    """The error, and a proof of what is learnt."""
    proof = {"rel_gap": 1e-7, "proved": True, "status": "CONVERGED"}
    return {
        "error": 1 - level(task.data, task.method, task.split, "test"),
        "usable": 0.25,
        "degree": 1,
        "weight": 0.1,
        "selecting": {"fits": 2, "unproved": 1},
        **({} if task.method in ("kNN", "SVM") else proof),
    }


def of_nca(task: Task, level: Level) -> Result:
    """The accuracy on both parts; NCA has one start."""
    found = {part: level(task.data, task.method, task.split, part) for part in ("train", "test")}
    if task.method in ("NCA", "NCA 2"):
        run = {**found, "f": found["train"], "status": "STATIONARY", "left": 0.25, "iterations": 3}
        return {**found, "start": "auto", "starts": {"auto": run}}
    at = {"suggested": 2, "at_suggested": found["test"], "at": {str(k): found["test"] for k in KS}}
    return {**found, "steps": 3, "points": 9, "proved": True, "status": "STALLED", **at}


def of_glml(task: Task, level: Level) -> Result:
    """Accuracies of all methods of a task by size."""
    sizes, methods = task.settings["sizes"], {}
    for name in OF_TASK.get(task.method, (task.method,)):
        learnt = name not in ("Euclid", *DENSITIES)
        methods[name] = {
            "accuracy": [level(task.data, name, task.split, str(size)) for size in sizes],
            "gap": [1e-5 if learnt else None] * len(sizes),
            "status": ["CONVERGED" if learnt else None] * len(sizes),
            "chosen": [[0.1, 1.0] if name == "GLML" else [] for _ in sizes],
        }
    return {"sizes": list(sizes), "methods": methods}


def of_table1(task: Task, level: Level) -> Result:
    """The rows that are wrong, the first ones of a fold; a task of ours has several methods."""

    def facts(method: str) -> Result:
        counts = {
            k: round(POINTS * (1 - level(task.data, method, task.split, str(k)))) for k in task.settings["k"]
        }
        return {
            "errors": {str(k): count / POINTS for k, count in counts.items()},
            "other_ties": {str(k): 0.5 for k in counts},
            "wrong": {str(k): [*range(count)] for k, count in counts.items()},
        }

    fit = {"fit_seconds": 1.0, "steps": 3}
    proof = {**fit, "proved": True, "status": "CONVERGED", "rel_gap": 1e-5}
    by_sgd = {**fit, "F": 0.5, "missed": {"h_star": 0.25, "h_hat": 0.5}}
    if not task.method.startswith("ours"):
        weights: Result = {
            name: {str(k): of for k in task.settings["k"]} for name, of in (("weight", 10.0), ("edge", False))
        }
        return {
            **facts(task.method),
            "test": POINTS,
            **({} if task.method == "Euclidean" else {**proof, **weights}),
        }
    of = {}
    for method in task.settings.get("of", OURS):
        end = {"falls": 0.0005} if method.startswith("SGD, ") else {"arrived": True}
        of[method] = {**facts(method), **({**by_sgd, **end} if "SGD" in method else {**proof, "F": 0.5})}
    shared = {"weight": 10.0, "edge": task.split == 0, "start": "zero", "test": POINTS}
    return {**shared, "of": of}


FORMS: dict[str, Callable[[Task, Level], Result]] = {
    "mlsvm": of_mlsvm,
    "nca": of_nca,
    "glml": of_glml,
    "synthetic": of_glml,
    "table1": of_table1,
}
