"""GLML (Noh et al.): Fig. 3 of 2010 and Fig. 5 of 2018, (b) to (i): accuracy against training points a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from validation.experiments import glml_learnt, glml_methods
from validation.experiments.glml_claims import WORDS
from validation.experiments.glml_data import (
    PANELS,
    SCALED,
    Realisation,
    asked,
    panel,
    prepared,
    realisation,
    sizes_of,
)
from validation.experiments.glml_learnt import LEARNT, MAY_HAVE_NONE, OPEN, learnt
from validation.experiments.glml_methods import (
    FITTED,
    MIXTURES,
    SHARED,
    Found,
    densities,
    generative,
    mixtures,
)
from validation.experiments.glml_report import draw, parts, short
from validation.experiments.tasks import Preset, Result, Task

EVERY = (SHARED, FITTED, *LEARNT[:3], MIXTURES, *LEARNT[3:])  # the methods of tasks, the cheap ones first
ROUND = 20  # realisations


def listed(values: Iterable[float]) -> str:
    """Numbers in a row."""
    return ", ".join(f"{value:g}" for value in values)


def grid_of(method: str) -> str:
    """The first values that are tried, and how they go on."""
    values, factor = OPEN[method]
    return f"{listed(values)} and on by factors of {factor:g}"


TITLE, QUESTION, PRESETS = WORDS("title"), WORDS("question"), WORDS.presets()
EACH, DEPARTURES = WORDS("each"), WORDS.found["departures"]
WHAT = WORDS(
    "setting",
    **(vars(glml_methods) | vars(glml_learnt)),  # their constants
    alphas=listed(glml_methods.ALPHAS),
    gammas=listed(glml_methods.GAMMAS),
    components=" or ".join(map(str, glml_methods.COMPONENTS)),
    grids={method: grid_of(method) for method in OPEN},
    parameters=WORDS("parameters"),
)
ALL = PRESETS["full"].data  # by what they decide
assert set(ALL) == {*PANELS, *SCALED}

__all__ = [
    "DEPARTURES",
    "EACH",
    "PRESETS",
    "QUESTION",
    "TITLE",
    "WHAT",
    "draw",
    "measure",
    "parts",
    "short",
    "tasks",
]


def tasks(preset: Preset) -> list[Task]:
    """A task for every data set, realisation and learnt metric, and one for all that need no solver.

    In rounds of `ROUND` realisations, each of all sets, so that a run that ends early has every set.
    """
    made = [task for data in preset.data for method in EVERY for task in of_method(preset, data, method)]
    return sorted(made, key=lambda task: (task.split // ROUND, ALL.index(task.data)))


def of_method(preset: Preset, data: str, method: str) -> list[Task]:
    """The realisations of a method on a set; none where the preset leaves it out."""
    of, sizes = preset.settings, sizes_of(preset, data, method)
    if not sizes:
        return []
    largest = of.get("sizes", {}).get(data, panel(data).sizes)[-1]
    settings = {"sizes": sizes, "largest": largest, "test": of.get("test")}
    if "further" in of:
        settings["further"] = of["further"]
    return [Task(data, method, split, settings) for split in range(asked(preset, data))]


def measure(task: Task) -> Result:
    """What the method of a task does with a realisation of its set."""
    return measured(task, realisation(task.data, task.split, task.settings["largest"], task.settings["test"]))


def measured(task: Task, drawn: Realisation) -> Result:
    """{"sizes": [...], "methods": {name: {"accuracy", "gap", "status", "chosen"}}}, lists by size.

    An entry is null where it does not apply, and an accuracy where the method has no metric. "edge", too, where grids
    go on.
    """
    sizes: list[int] = task.settings["sizes"]
    kept = ("gap", "status", "chosen", "edge") if "further" in task.settings else ("gap", "status", "chosen")
    methods: dict[str, dict[str, list[Any]]] = {}
    for size in sizes:
        for name, found in results_at(task, drawn, size).items():
            of = methods.setdefault(name, {each: [] for each in ("accuracy", *kept)})
            of["accuracy"].append(None if found is None else drawn.accuracy(found.predicted))
            for each in kept:
                value = None if found is None else getattr(found, each)
                of[each].append(list(value) if isinstance(value, tuple) else value)
    return {"sizes": list(sizes), "methods": methods}


def results_at(task: Task, drawn: Realisation, size: int) -> Mapping[str, Found | None]:
    """What each method of the task finds with `size` training points a class; None where it has no metric."""
    X, y = drawn.training(size)
    X, Q = prepared(task.data, X, y, drawn.X_test)
    further: int | None = task.settings.get("further")
    if task.method == SHARED:
        return generative(X, y, Q, further or 0)
    if task.method == FITTED:
        return densities(X, y, Q, further or 0)
    if task.method == MIXTURES:
        return mixtures(X, y, Q, further or 0)
    try:
        return learnt(task.method, X, y, Q, task.split, further)
    except ValueError:
        if task.method not in MAY_HAVE_NONE:
            raise
        return {task.method: None}
