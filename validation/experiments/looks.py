"""python -m validation.experiments.looks: writes quoted.json, the figures that remarks quote and no table has.

Each is computed on the trials or realisations of its experiment. They explain; nothing was chosen by them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, components_of
from cvxml.methods.glml.instance import Mixtures, fit_gaussians
from validation.experiments import glml, mlsvm, table1_looks
from validation.experiments.glml_data import Z_SCORED, Realisation, panel, points_of, prepared, realisation
from validation.experiments.glml_learnt import learnt
from validation.experiments.glml_methods import densities, fisher_predicted, generative, nn
from validation.experiments.mlsvm import K, scaled
from validation.experiments.mlsvm_report import HINDSIGHT
from validation.experiments.packaged import SPOKEN
from validation.experiments.quoted import FILE
from validation.experiments.splits import Split, shuffled, z_scored
from validation.experiments.vote import error_of

TIED = ("ionosphere", "wine", "german_numeric", "iris")
EVERY_LAM = ("dermatology", "ionosphere")


class Looked(NamedTuple):
    """The sizes and the number of realisations of a set that was looked at with z-scores."""

    sizes: tuple[int, int]
    realisations: int


Z_SCORES = {"wine": Looked((10, 40), 20), SPOKEN: Looked((100, 270), 10)}
Pair = tuple[FloatArray, FloatArray]  # training and test points


def over_range(X: FloatArray, Q: FloatArray) -> Pair:
    """Each feature from 0 to 1 on the training points."""
    least, width = X.min(axis=0), np.ptp(X, axis=0)
    width[width == 0] = 1.0
    return (X - least) / width, (Q - least) / width


def over_deviation(X: FloatArray, Q: FloatArray) -> Pair:
    """z-scores by the training points."""
    part = z_scored(Split(X, np.zeros(len(X)), Q, np.zeros(len(Q))))
    return part.X, part.X_test


SCALINGS: dict[str, Callable[[FloatArray, FloatArray], Pair]] = {
    "features as they are": lambda X, Q: (X, Q),
    "rows of unit length": lambda X, Q: (Normalizer().transform(X), Normalizer().transform(Q)),
    "features over their range": over_range,
    "z-scores": over_deviation,
    "log(1 + x)": lambda X, Q: (np.log1p(X), np.log1p(Q)),
}


def spambase() -> dict[str, float]:
    """Errors of 4-NN, per cent, over the ten trials of the MLSVM experiment, by the scaling of the features."""
    X, y = datasets.load("spambase")
    errors: dict[str, list[float]] = {name: [] for name in SCALINGS}
    for trial in range(10):
        part = shuffled(X, y, trial)
        for name, scaling in SCALINGS.items():
            train, test = scaling(part.X, part.X_test)
            errors[name].append(1 - KNeighborsClassifier(K).fit(train, part.y).score(test, part.y_test))
    return {name: 100 * float(np.mean(found)) for name, found in errors.items()}


def balance() -> dict[str, float]:
    """4-NN on balance in the features of degree 2, over the ten trials of the MLSVM experiment, in per cent.

    The classes are the signs of f0 f1 - f2 f3, so that a metric of rank one is never wrong. Of what the certified
    optimum gains over the metric 0, the share that the best multiple of this one gains; and the optimum's error.
    """
    X, y = datasets.load("balance")
    found: dict[str, list[float]] = {}
    for trial in range(10):
        part = shuffled(X, y, trial)
        made = scaled(part, 2)
        made = made._replace(X=products(made.X), X_test=products(made.X_test))
        w = np.linalg.lstsq(made.X, part.X[:, 0] * part.X[:, 1] - part.X[:, 2] * part.X[:, 3])[0]
        found.setdefault("rank one", []).append(100 * error_of(made, K, w[None]))
        for lam in (1e-6, 1e-3, 1e-1):
            solution = cvxml.solve("mlsvm", made.X, made.y, lam=lam, n_neighbors=K)
            error = 100 * error_of(made, K, components_of(solution.metric))
            zero = objective_at(made, 0 * solution.metric, lam)
            gains = zero - least_of_multiples(made, np.outer(w, w), lam), zero - float(solution.objective)
            found.setdefault(f"optimum, lam = {lam:g}", []).append(error)
            found.setdefault(f"gains, lam = {lam:g}", []).append(100 * gains[0] / gains[1])
    return {name: float(np.mean(values)) for name, values in found.items()}


def least_of_multiples(part: Split, A: FloatArray, lam: float) -> float:
    """The least objective of MLSVM that a multiple of A has: it is convex in the factor."""

    def objective(logarithm: float) -> float:
        return objective_at(part, np.exp(logarithm) * A, lam)

    return float(minimize_scalar(objective, bounds=(-20, 20), method="bounded").fun)


def objective_at(part: Split, A: FloatArray, lam: float) -> float:
    """Of MLSVM."""
    return float(cvxml.evaluate("mlsvm", part.X, part.y, A, lam=lam, n_neighbors=K).objective)


def tied(data: str) -> dict[str, float]:
    """Errors of K-NN, per cent, over the ten trials of the MLSVM experiment, by what votes that tie go to."""
    X, y = datasets.load(data)
    errors: dict[str, list[float]] = {}
    for trial in range(10):
        part = scaled(shuffled(X, y, trial), 1)
        first, last = (  # scikit-learn's is the first in order, and the last where the order is turned round
            1 - KNeighborsClassifier(K).fit(part.X, sign * part.y).score(part.X_test, sign * part.y_test)
            for sign in (1, -1)
        )
        rules = {"the first class": first, "the nearest": error_of(part, K), "the last class": last}
        for rule, error in rules.items():
            errors.setdefault(rule, []).append(100 * error)
    return {rule: float(np.mean(found)) for rule, found in errors.items()}


def every_lam(data: str) -> dict[str, float]:
    """Errors of MLSVM, per cent, with the whole grid of lam at each degree: selected, and in hindsight."""
    preset = mlsvm.PRESETS["full"]
    found: dict[str, list[float]] = {}
    for task in mlsvm.tasks(preset):
        if task.data == data and task.method in ("MLSVM", HINDSIGHT):
            found.setdefault(task.method, []).append(100 * mlsvm.measure(task)["error"])
    return {method: float(np.mean(errors)) for method, errors in found.items()}


def products(X: FloatArray) -> FloatArray:
    """All x_a x_b, a <= b, with the weights that make their inner products <x, x'>^2."""
    a, b = np.triu_indices(X.shape[1])
    return X[:, a] * X[:, b] * np.where(a == b, 1.0, np.sqrt(2))


def bayes(data: str, size: int, alphas: tuple[float, ...], count: int) -> dict[str, float]:
    """Accuracies, per cent, of the rule of the fitted Gaussians by alpha, and of Euclid."""
    drawn = [realisation(data, split, size) for split in range(count)]

    def accuracy(one: Realisation, alpha: float) -> float:
        X, y = one.training(size)
        model = fit_gaussians(X, y, [str(c) for c in range(int(y.max()) + 1)], alpha)
        return one.accuracy(model.log_densities(one.X_test).argmax(axis=1))

    found = {
        f"alpha = {alpha:g}": 100 * float(np.mean([accuracy(one, alpha) for one in drawn]))
        for alpha in alphas
    }
    plain = [
        one.accuracy(KNeighborsClassifier(1).fit(*one.training(size)).predict(one.X_test)) for one in drawn
    ]
    return {**found, "Euclid": 100 * float(np.mean(plain))}


def z_scores(data: str, size: int, count: int) -> dict[str, float]:
    """Accuracies, per cent, with z-scored training points; the share of the widest feature in raw squared distances."""
    widest = points_of(data, 0)[0].var(axis=0)
    right: dict[str, list[float]] = {}
    for split in range(count):
        drawn = realisation(data, split, panel(data).sizes[-1])
        X, y = drawn.training(size)
        X, Q = prepared(f"{data}{Z_SCORED}", X, y, drawn.X_test)
        found = generative(X, y, Q, 0) | densities(X, y, Q, 0)
        for method in ("LMNN", "ITML", "DML-eig"):
            found |= learnt(method, X, y, Q, split, None)
        for method, one in found.items():
            right.setdefault(method, []).append(100 * drawn.accuracy(one.predicted))
    means = {method: float(np.mean(values)) for method, values in right.items()}
    return {"widest feature": 100 * float(widest.max() / widest.sum()), **means}


def open_grids(data: str, size: int, count: int) -> dict[str, float]:
    """Accuracies, per cent, of GLML and Fisher where alpha and gamma go on as in the preset "full"."""
    further = glml.PRESETS["full"].settings["further"]
    right: dict[str, list[float]] = {}
    for split in range(count):
        drawn = realisation(data, split, panel(data).sizes[-1])
        X, y = drawn.training(size)
        both = generative(X, y, drawn.X_test, further) | densities(X, y, drawn.X_test, further)
        for method, one in both.items():
            right.setdefault(method, []).append(100 * drawn.accuracy(one.predicted))
    return {method: float(np.mean(values)) for method, values in right.items()}


def twonorm(size: int, count: int) -> dict[str, float]:
    """Accuracies, per cent, by the Gaussians that twonorm is drawn from: no fitted ones, no alpha."""
    mean = 2 / np.sqrt(20) * np.ones(20)
    true = Mixtures(np.array([mean, -mean]), np.array([np.eye(20)] * 2), np.log([0.5, 0.5]), np.arange(2), 2)
    right: dict[str, list[float]] = {}
    for split in range(count):
        drawn = realisation("twonorm", split, 3000, 2000)
        X, y = drawn.training(size)
        found = {
            "Euclid": nn(X, y, drawn.X_test),
            "Fisher": fisher_predicted(true, X, y, drawn.X_test),
            "Bayes": true.log_densities(drawn.X_test).argmax(axis=1),
        }
        for method, predicted in found.items():
            right.setdefault(method, []).append(100 * drawn.accuracy(predicted))
    return {method: float(np.mean(values)) for method, values in right.items()}


def waveform() -> dict[str, float]:
    """Errors of an SVM with 400 training points, per cent, where one class is set against the two others."""
    errors: dict[str, list[float]] = {f"class {c}": [] for c in range(3)}
    for split in range(10):
        X, y = datasets.waveform(5000, seed=1 + split)
        for c in range(3):
            model = SVC(C=1.0, gamma=0.05).fit(X[:400], y[:400] == c)
            errors[f"class {c}"].append(1 - model.score(X[400:], y[400:] == c))
    return {name: 100 * float(np.mean(found)) for name, found in errors.items()}


LOOKS: dict[str, Callable[[], dict[str, float]]] = {
    "spambase": spambase,
    "balance": balance,
    **{f"{data}, tied votes": partial(tied, data) for data in TIED},
    **{f"{data}, every lam": partial(every_lam, data) for data in EVERY_LAM},
    **table1_looks.LOOKS,
    **table1_looks.LONG,
    "ionosphere": lambda: bayes("ionosphere", 50, (1e-4, 1e-2), 12),
    "german_ida": lambda: bayes("german_ida", 200, (1e-4, 1.0, 100.0), 20),
    **{
        f"{data}, {size} a class": partial(z_scores, data, size, looked.realisations)
        for data, looked in Z_SCORES.items()
        for size in looked.sizes
    },
    **{
        f"{SPOKEN}, open grids, {size} a class": partial(
            open_grids, SPOKEN, size, Z_SCORES[SPOKEN].realisations
        )
        for size in Z_SCORES[SPOKEN].sizes
    },
    "twonorm": lambda: twonorm(500, 10),
    "waveform": waveform,
}


if __name__ == "__main__":
    found = {name: {what: round(value, 2) for what, value in look().items()} for name, look in LOOKS.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
