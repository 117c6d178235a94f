"""NCA (Goldberger et al. 2004), experimental results: accuracy over 40 splits, at full rank and in the plane."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from validation.experiments import nca_claims, nca_more, nca_report
from validation.experiments.nca_claims import (
    DIGITS,
    EQUAL,
    FULL,
    NEAR,
    PLANE,
    SHARE,
    TEST,
    TRAIN,
    WORDS,
    start_of,
)
from validation.experiments.nca_more import MORE, measured
from validation.experiments.nca_report import draw, short
from validation.experiments.page import Parts, Results, bullets, counted
from validation.experiments.splits import Split, shuffled, z_scored
from validation.experiments.tasks import Preset, Result, Task

BINS = (18.8333, 23.7)  # of the target of housing: three classes of nearly the same size
UNSCALED = (DIGITS, "rings")
STARTS = {"NCA": ("auto", "likelihood"), "NCA 2": ("auto", "likelihood", "pca")}
TITLE, QUESTION, PRESETS = WORDS("title"), WORDS("question"), WORDS.presets()
EACH, DEPARTURES = WORDS("each"), WORDS.found["departures"]
WHAT = WORDS(
    "setting",
    **(vars(nca_claims) | vars(nca_more) | globals()),  # the constants of these modules
    point=100 * NEAR,
    equal=10.0**-EQUAL,
)

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


def parts(results: Results, preset: Preset) -> Parts:
    """The report, and which tasks of the preset are missing."""
    return nca_report.parts(results, preset)._replace(run=missing(results, preset))


def missing(results: Results, preset: Preset) -> list[str]:
    """The tasks of the preset that have no result yet, and how far their sets are run."""
    wanted, found = tasks(preset), {task.key for task, _ in results}
    absent = [task for task in wanted if task.key not in found]
    if not absent:
        return []
    sets = dict.fromkeys(task.data for task in absent)
    said = [run_of(data, wanted, found) for data in sets]
    return WORDS.page("missing", tasks=counted(task.data for task in absent), parts=bullets(said))


def run_of(data: str, wanted: list[Task], found: set[str]) -> str:
    """On how many splits all methods of a part of the report are run."""
    said = []
    for part, methods in (("d = 2", PLANE), ("full rank", FULL), ("beyond the figures", MORE)):
        asked = [task for task in wanted if task.data == data and task.method in methods]
        if asked:
            splits = {task.split for task in asked}
            whole = splits - {task.split for task in asked if task.key not in found}
            said.append(f"{part} on {len(whole) or 'none'} of {len(splits)} splits")
    return f"{data}: {', '.join(said)}."


def tasks(preset: Preset) -> list[Task]:
    """A task for every data set, method and split; USPS and NCA take longest. The rings are only drawn in the plane."""
    splits, fewer = (preset.settings.get(name, {}) for name in ("splits", "starts"))
    made = []
    for data in preset.data:
        starts = STARTS | fewer.get(data, {})
        for method in reversed(PLANE if data == "rings" else PLANE + FULL):
            settings = {"starts": list(starts[method])} if method in starts else {}
            made += [Task(data, method, split, settings) for split in range(splits.get(data, preset.splits))]
        for method in MORE if preset.settings.get("more") else ():
            if data != "rings" or method.endswith(" 2"):
                count = preset.settings.get("fewer", {}).get(data, preset.splits)
                made += [Task(data, method, split, {}) for split in range(count)]
    return made


def measure(task: Task) -> Result:
    """The accuracy of a method on the training and the test part of a split; of NCA what every start came to, too."""
    part = split_of(task.data, task.split)
    if task.method in MORE:
        return measured(task.method, part, task.split, accuracy)
    if task.method not in STARTS:
        return accuracy(learner(task.method, part).fit(part.X, part.y), part)
    rank = 2 if task.method in PLANE else None
    found = {start: descended(cvxml.NCA(rank, init=start), part) for start in task.settings["starts"]}
    best = start_of(found, "first")
    return {"train": found[best]["train"], "test": found[best]["test"], "start": best, "starts": found}


def descended(metric: cvxml.NCA, part: Split) -> Result:
    """One descent of NCA: its accuracy, f / n, and what the certificate finds left to win."""
    solution = metric.fit(part.X, part.y).solution_
    first = solution.certificate.stationarity
    assert first is not None
    return {
        **accuracy(metric, part),
        "f": -float(solution.objective) / len(part.y),
        "status": solution.status.name,
        "left": max(float(first.gradient), float(first.dc_residual)) / len(part.y),
        "iterations": int(solution.n_iter),
    }


def learner(method: str, part: Split) -> Any:
    """The transformers that NCA is compared with."""
    if method == "Euclid":
        return cvxml.Euclidean()
    if method == "PCA 2":
        return PCA(2, svd_solver="full")
    if method == "LDA 2":
        return LinearDiscriminantAnalysis(n_components=min(2, len(np.unique(part.y)) - 1))
    rank = int(np.linalg.matrix_rank(part.X - part.X.mean(axis=0)))
    span = PCA(rank, whiten=True, svd_solver="full")
    return span if method == "whitened" else make_pipeline(span, cvxml.WithinClass())


def accuracy(fitted: Any, part: Split) -> Result:
    """Of 1-NN after a fitted map: on the training part leaving one out, and on the test part."""
    points = fitted.transform(part.X)
    rule = KNeighborsClassifier(1, algorithm="kd_tree").fit(
        points, part.y
    )  # sums of squared differences, no BLAS
    nearest = rule.kneighbors(return_distance=False)[:, 0]  # of every training point among the others
    right = float(np.mean(part.y[nearest] == part.y))
    return {"train": right, "test": float(rule.score(fitted.transform(part.X_test), part.y_test))}


def split_of(data: str, seed: int) -> Split:
    """Training and test part of a data set, scaled."""
    X, y = labelled(data)
    part = digits(X, y, seed) if data == "usps" else shuffled(X, y, seed, SHARE)
    return part if data in UNSCALED else z_scored(part)


@cache
def labelled(data: str) -> tuple[FloatArray, IntArray]:
    """Points (n, d) and classes (n,), as the report says."""
    X, y = datasets.load(data)
    if data == "housing":
        y = np.digitize(y.astype(np.float64), BINS, right=True)
    if data == "rings":
        X = np.column_stack([X, 4 * np.random.RandomState(1).standard_normal(len(X))])
    return X, y


def digits(X: FloatArray, y: IntArray, seed: int) -> Split:
    """The first TRAIN of every class in a random order to train on, the next TEST to test."""
    order = np.random.RandomState(seed).permutation(len(y))
    of_class = [order[y[order] == c] for c in np.unique(y)]
    train = np.concatenate([rows[:TRAIN] for rows in of_class])
    test = np.concatenate([rows[TRAIN : TRAIN + TEST] for rows in of_class])
    return Split(X[train], y[train], X[test], y[test])
