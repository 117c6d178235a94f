"""python -m validation.experiments.looks: writes quoted.json, the figures that remarks quote and no table has.

Each is computed on the trials or realisations of its experiment. They explain; nothing was chosen by them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, components_of
from cvxml.methods.glml.instance import Mixtures, fit_gaussians
from validation.experiments import glml, table1_looks
from validation.experiments.glml_data import Z_SCORED, panel, points_of, prepared, realisation
from validation.experiments.glml_learnt import learnt
from validation.experiments.glml_methods import densities, fisher_predicted, generative, nn
from validation.experiments.mlsvm import K, scaled
from validation.experiments.packaged import SPOKEN
from validation.experiments.splits import Split, shuffled, z_scored
from validation.experiments.statistics import percents
from validation.experiments.vote import error_of
from validation.experiments.words import FILE

TIED = ("ionosphere", "wine", "german_numeric", "iris")
# of the sets that were looked at with z-scores: two sizes, and the number of realisations
Z_SCORES = {"wine": ((10, 40), 20), SPOKEN: ((100, 270), 10)}

Figures = dict[str, float]
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


def trials(data: str) -> Iterator[Split]:
    """The ten trials of the MLSVM experiment."""
    X, y = datasets.load(data)
    return (shuffled(X, y, trial) for trial in range(10))


def spambase() -> Iterator[Figures]:
    """Errors of 4-NN by the scaling of the features."""
    for part in trials("spambase"):
        found = {}
        for name, scaling in SCALINGS.items():
            train, test = scaling(part.X, part.X_test)
            found[name] = 1 - KNeighborsClassifier(K).fit(train, part.y).score(test, part.y_test)
        yield found


def balance() -> Iterator[Figures]:
    """4-NN on balance in the features of degree 2.

    The classes are the signs of f0 f1 - f2 f3, so that a metric of rank one is never wrong. Of what the certified
    optimum gains over the metric 0, the share that the best multiple of this one gains; and the optimum's error.
    """
    for part in trials("balance"):
        made = scaled(part, 2)
        made = made._replace(X=products(made.X), X_test=products(made.X_test))
        w = np.linalg.lstsq(made.X, part.X[:, 0] * part.X[:, 1] - part.X[:, 2] * part.X[:, 3])[0]
        found = {"rank one": error_of(made, K, w[None])}
        for lam in (1e-6, 1e-3, 1e-1):
            solution = cvxml.solve("mlsvm", made.X, made.y, lam=lam, n_neighbors=K)
            zero = objective_at(made, 0 * solution.metric, lam)
            gains = zero - least_of_multiples(made, np.outer(w, w), lam), zero - float(solution.objective)
            found[f"optimum, lam = {lam:g}"] = error_of(made, K, components_of(solution.metric))
            found[f"gains, lam = {lam:g}"] = gains[0] / gains[1]
        yield found


def least_of_multiples(part: Split, A: FloatArray, lam: float) -> float:
    """The least objective of MLSVM that a multiple of A has: it is convex in the factor."""

    def objective(logarithm: float) -> float:
        return objective_at(part, np.exp(logarithm) * A, lam)

    return float(minimize_scalar(objective, bounds=(-20, 20), method="bounded").fun)


def objective_at(part: Split, A: FloatArray, lam: float) -> float:
    """Of MLSVM."""
    return float(cvxml.evaluate("mlsvm", part.X, part.y, A, lam=lam, n_neighbors=K).objective)


def tied(data: str) -> Iterator[Figures]:
    """Errors of K-NN by what votes that tie go to."""
    for part in (scaled(each, 1) for each in trials(data)):
        first, last = (  # scikit-learn's is the first in order, and the last where the order is turned round
            1 - KNeighborsClassifier(K).fit(part.X, sign * part.y).score(part.X_test, sign * part.y_test)
            for sign in (1, -1)
        )
        yield {"the first class": first, "the nearest": error_of(part, K), "the last class": last}


def products(X: FloatArray) -> FloatArray:
    """All x_a x_b, a <= b, with the weights that make their inner products <x, x'>^2."""
    a, b = np.triu_indices(X.shape[1])
    return X[:, a] * X[:, b] * np.where(a == b, 1.0, np.sqrt(2))


def bayes(data: str, size: int, alphas: tuple[float, ...], count: int) -> Iterator[Figures]:
    """Accuracies of the rule of the fitted Gaussians by alpha, and of Euclid."""
    for split in range(count):
        drawn = realisation(data, split, size)
        X, y = drawn.training(size)
        classes = [str(c) for c in range(int(y.max()) + 1)]
        densities = {
            alpha: fit_gaussians(X, y, classes, alpha).log_densities(drawn.X_test) for alpha in alphas
        }
        found = {f"alpha = {alpha:g}": drawn.accuracy(of.argmax(axis=1)) for alpha, of in densities.items()}
        plain = KNeighborsClassifier(1).fit(X, y).predict(drawn.X_test)
        yield {**found, "Euclid": drawn.accuracy(plain)}


def z_scores(data: str, size: int, count: int) -> Iterator[Figures]:
    """Accuracies with z-scored training points; the share of the widest feature in raw squared distances."""
    widest = points_of(data, 0)[0].var(axis=0)
    for split in range(count):
        drawn = realisation(data, split, panel(data).sizes[-1])
        X, y = drawn.training(size)
        X, Q = prepared(f"{data}{Z_SCORED}", X, y, drawn.X_test)
        found = generative(X, y, Q, 0) | densities(X, y, Q, 0)
        for method in ("LMNN", "ITML", "DML-eig"):
            found |= learnt(method, X, y, Q, split, None)
        right = {method: drawn.accuracy(one.predicted) for method, one in found.items()}
        yield {"widest feature": float(widest.max() / widest.sum()), **right}


def open_grids(data: str, size: int, count: int) -> Iterator[Figures]:
    """Accuracies of GLML and Fisher where alpha and gamma go on as in the preset "full"."""
    further = glml.PRESETS["full"].settings["further"]
    for split in range(count):
        drawn = realisation(data, split, panel(data).sizes[-1])
        X, y = drawn.training(size)
        both = generative(X, y, drawn.X_test, further) | densities(X, y, drawn.X_test, further)
        yield {method: drawn.accuracy(one.predicted) for method, one in both.items()}


def twonorm(size: int, count: int) -> Iterator[Figures]:
    """Accuracies by the Gaussians that twonorm is drawn from: no fitted ones, no alpha."""
    mean = 2 / np.sqrt(20) * np.ones(20)
    true = Mixtures(np.array([mean, -mean]), np.array([np.eye(20)] * 2), np.log([0.5, 0.5]), np.arange(2), 2)
    for split in range(count):
        drawn = realisation("twonorm", split, 3000, 2000)
        X, y = drawn.training(size)
        predicted = {
            "Euclid": nn(X, y, drawn.X_test),
            "Fisher": fisher_predicted(true, X, y, drawn.X_test),
            "Bayes": true.log_densities(drawn.X_test).argmax(axis=1),
        }
        yield {method: drawn.accuracy(of) for method, of in predicted.items()}


def waveform() -> Iterator[Figures]:
    """Errors of an SVM with 400 training points where one class is set against the two others."""
    for split in range(10):
        X, y = datasets.waveform(5000, seed=1 + split)
        models = {c: SVC(C=1.0, gamma=0.05).fit(X[:400], y[:400] == c) for c in range(3)}
        yield {f"class {c}": 1 - model.score(X[400:], y[400:] == c) for c, model in models.items()}


# name -> the figures of each trial, as shares; what is quoted is their means, in per cent
TRIALS: dict[str, Callable[[], Iterator[Figures]]] = {
    "spambase": spambase,
    "balance": balance,
    **{f"{data}, tied votes": partial(tied, data) for data in TIED},
    "ionosphere": partial(bayes, "ionosphere", 50, (1e-4, 1e-2), 12),
    "german_ida": partial(bayes, "german_ida", 200, (1e-4, 1.0, 100.0), 20),
    **{
        f"{data}, {size} a class": partial(z_scores, data, size, count)
        for data, (sizes, count) in Z_SCORES.items()
        for size in sizes
    },
    **{f"{SPOKEN}, open grids, {size} a class": partial(open_grids, SPOKEN, size, 10) for size in (100, 270)},
    "twonorm": partial(twonorm, 500, 10),
    "waveform": waveform,
}
LOOKS: dict[str, Callable[[], Figures]] = {
    **{name: lambda look=look: percents(look()) for name, look in TRIALS.items()},
    **table1_looks.LOOKS,
    **table1_looks.LONG,
}


if __name__ == "__main__":
    found = {name: {what: round(value, 2) for what, value in look().items()} for name, look in LOOKS.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
