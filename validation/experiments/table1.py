"""Neighbourhood gerrymandering (Trivedi et al. 2014), section 6: Table 1, kNN on seven data sets, k = 3, 7, 11."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold

from cvxml import datasets
from validation.experiments import table1_others, table1_ours
from validation.experiments.splits import Split, z_scored
from validation.experiments.table1_claims import OTHERS, STANDARD, WORDS, source
from validation.experiments.table1_others import WEIGHTS, fit_other
from validation.experiments.table1_ours import fit_ours
from validation.experiments.table1_report import draw, parts, short
from validation.experiments.tasks import Preset, Result, Task
from validation.experiments.vote import facts_of

FOLDS = 5
AXES = {"isolet": 172}  # principal axes; "isolet 617" is the same set without
PLAIN = {"starts": False, "regularizers": False}


def grid(method: str) -> str:
    """The weights that are tried first, and how they go on."""
    values, factor = WEIGHTS[method]
    more = f" and on by factors of {factor:g}" if factor > 1 else " and no other"
    return "among " + ", ".join(f"{value:g}" for value in values) + more


TITLE, QUESTION, PRESETS = WORDS("title"), WORDS("question"), WORDS.presets()
EACH, FIGURES, DEPARTURES = WORDS("each"), WORDS.found["figures"], WORDS.found["departures"]
WHAT = WORDS(
    "setting",
    **(vars(table1_others) | vars(table1_ours) | globals()),  # the constants of these modules
    grids={method: grid(method) for method in WEIGHTS},
)

__all__ = [
    "DEPARTURES",
    "EACH",
    "FIGURES",
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
    """A task for every data set, method and fold, our own with a task for each k; those that take longest first."""
    found = []
    for data in preset.data:
        given = {**preset.settings, **preset.settings.get("of", {}).get(data, {})}
        given.pop("of", None)
        variants = given.pop("variants", None)
        ours = [(f"ours k={k}", (k,)) for k in sorted(given["k"], reverse=True)]
        others = [(method, given["k"]) for method in OTHERS]
        rows = given.pop("rows")
        for method, ks in [*ours, *others]:
            settings = {**given, "k": ks, "rows": {m: n for m, n in rows.items() if m == method}}
            for i in range(1 if source(data) in STANDARD else preset.splits):
                plain = method not in OTHERS and variants is not None and i >= variants.get(str(ks[0]), 0)
                found.append(Task(data, method, i, {**settings, **(PLAIN if plain else {})}))
    return found


def measure(task: Task) -> Result:
    """The test error for each k of the task, what was selected, and how well the metrics are proved."""
    part, settings = prepared(task.data, task.split), task.settings
    test = {"test": len(part.y_test)}
    if task.method == "Euclidean":
        return {**facts_of(part, tuple(settings["k"]), settings["ties"]), **test}
    if task.method in WEIGHTS:
        return {**fit_other(task.method, part, task.split, settings), **test}
    (k,) = settings["k"]
    return {**fit_ours(k, part, task.split, settings), **test}


def prepared(data: str, split: int) -> Split:
    """The training and test part, z-scored by the former."""
    X, y = datasets.load(source(data))
    if source(data) in STANDARD:
        train, test = np.split(np.arange(len(X)), [STANDARD[source(data)]])
    else:
        train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[split]
    part = z_scored(Split(X[train], y[train], X[test], y[test]))
    if data in AXES:
        axes = PCA(AXES[data], svd_solver="full").fit(part.X)
        part = part._replace(X=axes.transform(part.X), X_test=axes.transform(part.X_test))
    return part
