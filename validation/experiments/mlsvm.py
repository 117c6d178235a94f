"""MLSVM (Nguyen, Guo 2008), section 4: Table 2 and Fig. 2, nine data sets, learnt metrics against kNN and SVM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray, components_of
from cvxml.core.neighbors import k_nearest
from cvxml.methods.mlsvm.algorithm1 import algorithm1
from cvxml.methods.mlsvm.neighborhood import instance
from validation.experiments.mlsvm_report import HINDSIGHT, METHODS, WORDS, draw, parts, short
from validation.experiments.splits import Split, shuffled, some_pairs, z_scored
from validation.experiments.tasks import Preset, Result, Task

K = 4
SELECT, FINAL = 1e-3, 1e-6  # certified relative gaps: while selecting, and of the metric that is tested
MAX_ITER = 2000
PRINTED = 200  # steps of Algorithm 1 as printed; the paper does not say how many
LOW_DEGREES = 3  # of the Crammer-Singer SVM, at most
# For degrees above 1 a metric is learnt from the first so many training points, where all would take hours; kNN looks
# among all of them.
ROWS: dict[str, dict[str, int]] = {"spambase": {"kernel": 200}}
MACHINES = ("SVM", "Crammer-Singer")  # that classify by themselves
# Only these learn a metric above degree 1, with one of "kernel_weights".
WITH_KERNEL_WEIGHTS = ("MLSVM", "MLSVM per class", HINDSIGHT)
OF_A_KERNEL = ("MLSVM", "MLSVM per class", *MACHINES)
TITLE, QUESTION, PRESETS = WORDS("title"), WORDS("question"), WORDS.presets()
EACH, FIGURES, DEPARTURES = WORDS("each"), WORDS.found["figures"], WORDS.found["departures"]
WHAT = WORDS("setting", **globals())  # with the constants above

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
    "used",
]


class Choice(NamedTuple):
    """What is selected: the degree of the kernel, and lam (MLSVM, SVM) or gamma (ITML)."""

    degree: int = 1
    weight: float = 1.0


def tasks(preset: Preset) -> list[Task]:
    """A task for every data set, method and trial; those that take longest first."""
    return [
        Task(data, method, trial, {**preset.settings, "rows": ROWS.get(data, {})})
        for data in preset.data
        for method in (HINDSIGHT, *reversed(METHODS))
        for trial in range(preset.splits)
    ]


def used(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return those of the settings of a task that change its result."""
    drop = () if method in WITH_KERNEL_WEIGHTS else ("kernel_weights",)
    return {name: value for name, value in settings.items() if name not in drop}


def measure(task: Task) -> Result:
    """The test error of a method on a trial, what was selected for it, and how well the last metric is proved."""
    X, y = datasets.load(task.data)
    part = shuffled(X, y, task.split)
    if task.method == HINDSIGHT:
        return in_hindsight(part, task.settings)
    choice, selecting = select(task.method, part, task.settings)
    error, proof = tested(task.method, choice, part, task.settings, FINAL)
    return {"error": error, **choice._asdict(), **proof, "selecting": selecting}


def in_hindsight(part: Split, settings: dict[str, Any]) -> Result:
    """The least test error of MLSVM over all that is tried: no fair method, but no way to select has less.

    usable: the share of the training points whose nearest are of both kinds; the others do not enter the problem.
    """
    every = choices("MLSVM", settings)
    found = [tested("MLSVM", choice, part, settings, SELECT) for choice in every]
    best = int(np.argmin([round(error, 12) for error, _ in found]))
    points = np.arange(len(part.X))
    near = k_nearest(scaled(part, 1).X, points, points, K)[0]
    alike = np.sum(part.y[near] == part.y[:, None], axis=1)
    unproved = sum(not proof["proved"] for _, proof in found)
    return {
        "error": found[best][0],
        **every[best]._asdict(),
        "usable": float(np.mean((alike > 0) & (alike < K))),
        "selecting": {"fits": len(every), "unproved": unproved},
    }


def choices(method: str, settings: dict[str, Any]) -> list[Choice]:
    """All that is tried for a method, the first preferred."""
    degrees = settings["degrees"] if method in (*OF_A_KERNEL, HINDSIGHT) else [1]
    if method == "Crammer-Singer":
        degrees = [degree for degree in degrees if degree <= LOW_DEGREES]
    weights = [1.0] if method in ("kNN", "LMNN", "MCML") else None
    return [
        Choice(degree, weight)
        for degree in degrees
        for weight in weights
        or settings["weights" if degree == 1 or method in MACHINES else "kernel_weights"]
    ]


def select(method: str, part: Split, settings: dict[str, Any]) -> tuple[Choice, dict[str, Any]]:
    """The choice of least error over two folds of the training part, and how many of these metrics were proved."""
    every = choices(method, settings)
    if len(every) == 1:
        return every[0], {"fits": 0, "unproved": 0}
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    errors, unproved, fits = np.zeros(len(every)), 0, 0
    for train, test in folds.split(part.X, part.y):
        inner = Split(part.X[train], part.y[train], part.X[test], part.y[test])
        for i, choice in enumerate(every):
            error, proof = tested(method, choice, inner, settings, SELECT)
            errors[i] += error * len(test) / len(part.y)
            fits += 1
            unproved += not proof.get("proved", True)
    return every[int(np.argmin(errors.round(12)))], {"fits": fits, "unproved": unproved}


def tested(
    method: str, choice: Choice, part: Split, settings: dict[str, Any], tol: float
) -> tuple[float, dict[str, Any]]:
    """The share of the test part that is classified wrongly, and the proof of the metric: relative gap and status."""
    part = scaled(part, choice.degree)
    if method == "SVM":
        machine = SVC(C=1 / choice.weight, kernel="poly", degree=choice.degree, gamma=1.0, coef0=0.0)
        return 1 - float(machine.fit(part.X, part.y).score(part.X_test, part.y_test)), {}
    if method == "Crammer-Singer":
        rows = settings["rows"].get("kernel") if choice.degree > 1 else None
        part = in_feature_space(part._replace(X=part.X[:rows], y=part.y[:rows]), choice.degree)
        exact = cvxml.CrammerSingerSVM(1 / choice.weight, tol=tol).fit(part.X, part.y)
        proof = {"rel_gap": float(exact.certificate_.rel_gap), "proved": bool(exact.certificate_.proves(tol))}
        return 1 - float(exact.score(part.X_test, part.y_test)), proof
    if method == "MLSVM printed":
        return voted(part, printed(part, choice.weight)), {}
    metric = learner(method, choice, tol, part.y)
    rows = settings["rows"].get("kernel") if choice.degree > 1 else None
    if method == "ITML":
        metric.fit(part.X, pairs=some_pairs(part.y))
    else:
        metric.fit(part.X[:rows], part.y[:rows])
    mapped = part._replace(X=metric.transform(part.X), X_test=metric.transform(part.X_test))
    return voted(mapped, np.eye(mapped.X.shape[1])), proof_of(metric, tol)


def voted(part: Split, L: FloatArray) -> float:
    """The share of the test part that K-NN gets wrong after x -> L x."""
    rule = KNeighborsClassifier(K).fit(part.X @ L.T, part.y)
    return 1 - float(rule.score(part.X_test @ L.T, part.y_test))


def printed(part: Split, lam: float) -> FloatArray:
    """Components of the metric of Algorithm 1 as printed."""
    N = instance(part.X, part.y, n_neighbors=K).N
    return components_of(algorithm1(part.X, N, lam, 0.0, PRINTED, paper=True, every=PRINTED).metric)


def in_feature_space(part: Split, degree: int) -> Split:
    """Coordinates of the points in the space of <x, x'>^degree: an SVM there is linear."""
    if degree == 1:
        return part
    values, vectors = np.linalg.eigh((part.X @ part.X.T) ** degree)
    kept = values > 1e-10 * values[-1]
    back = vectors[:, kept] / np.sqrt(values[kept])
    return part._replace(
        X=vectors[:, kept] * np.sqrt(values[kept]), X_test=(part.X_test @ part.X.T) ** degree @ back
    )


def learner(method: str, choice: Choice, tol: float, y: IntArray) -> Any:
    """The estimator of a metric, for a training part with labels y."""
    if method == "kNN":
        return cvxml.Euclidean()
    if method == "LMNN":
        return cvxml.LMNN(n_neighbors=K, tol=tol)
    if method == "ITML":
        return cvxml.ITML(gamma=choice.weight, tol=tol)
    if method == "MCML":
        return cvxml.MCML(tol=tol)
    given: dict[str, Any] = {"lam": choice.weight, "n_neighbors": K, "tol": tol, "max_iter": MAX_ITER}
    if method == "MLSVM per class":
        smallest = int(np.unique(y, return_counts=True)[1].min())
        given |= {"neighborhood": "per-class", "n_neighbors": min(K, smallest - 1)}
    return cvxml.MLSVM(**given) if choice.degree == 1 else cvxml.KernelMLSVM(degree=choice.degree, **given)


def proof_of(metric: Any, tol: float) -> dict[str, Any]:
    """What the certificate of a fitted estimator says; nothing for the Euclidean metric."""
    if not hasattr(metric, "solution_"):
        return {}
    solution = metric.solution_
    return {
        "rel_gap": float(solution.rel_gap),
        "proved": bool(solution.certificate.proves(tol)),
        "status": solution.status.name,
    }


def scaled(part: Split, degree: int) -> Split:
    """Features as the report says, for a degree of the kernel."""
    if degree == 1:
        return z_scored(part)
    used = z_scored(part, centred=False)
    wanted = np.ptp(used.X, axis=0).astype(bool).sum()  # the mean of <x, x> of z-scored features
    factor = (wanted / np.mean(np.sum(used.X**2, axis=1) ** degree)) ** (1 / (2 * degree))
    return used._replace(X=used.X * factor, X_test=used.X_test * factor)
