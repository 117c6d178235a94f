"""1-NN with each metric of Noh et al., Fig. 3 of 2010 and Fig. 5 of 2018, its parameters chosen on training data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest, squared_euclidean
from cvxml.core.result import Certificate
from cvxml.methods.glml.classify import batches, nearest, squared_distances
from cvxml.methods.glml.fisher import fisher_metrics
from cvxml.methods.glml.model import Mixtures, fit_gaussians
from validation.experiments.splits import some_pairs

GENERATIVE = ("Euclid", "GLML", "Fisher", "Fisher, one Gaussian", "Bayes")  # of one task: they share alpha
LEARNT = ("LMNN", "ITML", "DML-eig")  # a task each
MAY_HAVE_NONE = ("DML-eig",)  # no metric for some points: a ValueError
ALPHAS, GAMMAS = tuple(10.0**i for i in range(-4, 3)), (0.0, *(10.0**i for i in range(-3, 4)))
GRIDS: dict[str, tuple[float, ...]] = {
    "LMNN": (),
    "ITML": (1e-2, 1e-1, 1.0, 10.0, 100.0),
    "DML-eig": (1, 3, 10),
}
SUBSET, FOLDS = 1000, 3  # training points that parameters are chosen on, at most
SELECT, FINAL = 1e-2, 1e-4  # certified relative gaps: while choosing, and of the metric that is tested
PROVED = 10  # test points whose local metric is certified
SIMILAR = 3  # of DML-eig: similar are a point and this many nearest of its class
SPAN = 1e-12  # of the largest variance: a principal component with less is rounding

Sample = tuple[FloatArray, IntArray]


class Found(NamedTuple):
    """Predictions of a method, the certified relative gap of its metric and its status, the parameters chosen."""

    predicted: IntArray
    gap: float | None = None
    status: str | None = None
    chosen: tuple[float, ...] = ()


def subset(X: FloatArray, y: IntArray) -> Sample:
    """At most `SUBSET` of the training points, as many of each class: the first, since the classes take turns."""
    C = int(y.max()) + 1
    most = SUBSET // C * C
    return X[:most], y[:most]


def folds(X: FloatArray, y: IntArray) -> list[tuple[Sample, Sample]]:
    """(train, test) of each fold of the subset."""
    X, y = subset(X, y)
    cut = StratifiedKFold(FOLDS).split(X, y)
    return [((X[train], y[train]), (X[test], y[test])) for train, test in cut]


def one_nn(X: FloatArray, y: IntArray, Q: FloatArray) -> IntArray:
    """Predictions (q,) of 1-NN trained on X, y."""
    predicted: IntArray = KNeighborsClassifier(1, algorithm="kd_tree").fit(X, y).predict(Q)  # no BLAS
    return predicted


# ---- generative: Euclid, GLML, Fisher, Bayes


def generative(X: FloatArray, y: IntArray, Q: FloatArray) -> dict[str, Found]:
    """Everything that needs no solver; alpha and gamma are GLML's choice."""
    alpha, gamma = choose_glml(X, y)
    model = fit_gaussians(X, y, [str(c) for c in range(int(y.max()) + 1)], alpha)
    one = fit_gaussians(X, np.zeros_like(y), ["all"], alpha)
    proof = cvxml.solve("glml", X, y, query=Q[:PROVED], alpha=alpha, tol=FINAL)
    local = cvxml.GLML(1, gamma, alpha).fit(X, y).predict(Q)
    return {
        "Euclid": Found(one_nn(X, y, Q)),
        "GLML": Found(local, worst_gap(proof.certificate), proof.status.name, (alpha, gamma)),
        "Fisher": Found(fisher_predicted(model, X, y, Q)),
        "Fisher, one Gaussian": Found(fisher_predicted(one, X, y, Q)),
        "Bayes": Found(model.log_densities(Q).argmax(axis=1)),
    }


def choose_glml(X: FloatArray, y: IntArray) -> tuple[float, float]:
    """alpha and gamma with the best accuracy over the folds; the first of equal ones.

    The metric A + gamma I is linear in gamma: distances under A and under I are computed once for all gamma.
    """
    score: dict[tuple[float, float], float] = dict.fromkeys(itertools.product(ALPHAS, GAMMAS), 0.0)
    for ((T, t), (Q, q)), alpha in itertools.product(folds(X, y), ALPHAS):
        A = cvxml.GLML(1, 0.0, alpha).fit(T, t).metric_at(Q)
        learnt, plain = squared_distances(T, Q, A), squared_euclidean(Q, T)
        for gamma in GAMMAS:
            nearest_one = (learnt + gamma * plain).argmin(axis=1)
            score[alpha, gamma] += float(np.sum(t[nearest_one] == q))
    return max(score, key=lambda pair: score[pair])


def fisher_predicted(model: Mixtures, X: FloatArray, y: IntArray, Q: FloatArray) -> IntArray:
    """Of 1-NN with the Fisher kernel's metric at each query."""
    parts = [Q[part] for part in batches(len(Q), *X.shape)]
    found = [y[nearest(X, part, fisher_metrics(model, part), 1)[1][:, 0]] for part in parts]
    return np.concatenate(found)


def worst_gap(certificate: Certificate) -> float:
    """The largest relative gap: of the metrics of several queries, or of the one."""
    return float(max((part.rel_gap for part in certificate.parts), default=certificate.rel_gap))


# ---- learnt: one metric everywhere


def learnt(method: str, X: FloatArray, y: IntArray, Q: FloatArray, seed: int) -> Found:
    """A global metric, learnt on the span of the training points, its parameter chosen over the folds.

    ValueError where the method has no metric for these points: DML-eig where a maximum need not exist.
    """
    chosen = choose(method, X, y, seed)
    flat = span(X)
    fitted = fit(method, chosen, flat(X), y, seed, FINAL)
    predicted = one_nn(fitted.transform(flat(X)), y, fitted.transform(flat(Q)))
    return Found(predicted, float(fitted.certificate_.rel_gap), fitted.solution_.status.name, chosen)


def choose(method: str, X: FloatArray, y: IntArray, seed: int) -> tuple[float, ...]:
    """The parameter with the best accuracy over the folds, the first of equal ones; () where none is to be chosen."""
    if not GRIDS[method]:
        return ()
    score = dict.fromkeys(GRIDS[method], 0.0)
    for ((T, t), (Q, q)), value in itertools.product(folds(X, y), GRIDS[method]):
        flat = span(T)
        try:
            fitted = fit(method, (value,), flat(T), t, seed, SELECT)
        except ValueError:
            if method not in MAY_HAVE_NONE:
                raise
            continue  # no point of this fold is right
        score[value] += float(np.sum(one_nn(fitted.transform(flat(T)), t, fitted.transform(flat(Q))) == q))
    return (max(score, key=lambda value: score[value]),)


def fit(method: str, chosen: Sequence[float], X: FloatArray, y: IntArray, seed: int, tol: float) -> Any:
    """The fitted estimator of a method with its chosen parameter."""
    if method == "LMNN":
        return cvxml.LMNN(tol=tol).fit(X, y)
    if method == "ITML":
        return cvxml.ITML(chosen[0], tol=tol).fit(X, y, pairs=without_twins(X, some_pairs(y, seed)))
    return cvxml.DMLEig(tol=tol).fit(X, y, pairs=near_pairs(X, y, int(chosen[0])))


def span(X: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The map to the principal components of X (n, d) without those that are rounding: distances of X stay.

    Features of image_ida depend linearly on others; on such a direction LMNN can prove nothing.
    """
    made = PCA(svd_solver="full").fit(X)
    kept = made.components_[made.explained_variance_ > SPAN * made.explained_variance_[0]]
    return lambda points: (points - made.mean_) @ kept.T


def near_pairs(X: FloatArray, y: IntArray, k: int) -> dict[str, list[list[int]]]:
    """Each point with its `SIMILAR` nearest of its class, and with its k nearest of the others; no twins apart."""
    similar, dissimilar = [], []
    for c in np.unique(y):
        own, others = np.flatnonzero(y == c), np.flatnonzero(y != c)
        similar.append(_paired(own, k_nearest(X, own, own, min(SIMILAR, len(own) - 1))[0]))
        dissimilar.append(_paired(own, k_nearest(X, own, others, min(k, len(others)))[0]))
    kinds = {"similar": similar, "dissimilar": dissimilar}
    pairs = {kind: np.unique(np.concatenate(parts), axis=0).tolist() for kind, parts in kinds.items()}
    return without_twins(X, pairs)


def without_twins(X: FloatArray, pairs: dict[str, list[list[int]]]) -> dict[str, list[list[int]]]:
    """The pairs without dissimilar ones at the same place: no metric sets them apart."""
    apart = [[i, j] for i, j in pairs["dissimilar"] if (X[i] != X[j]).any()]
    return {"similar": pairs["similar"], "dissimilar": apart}


def _paired(points: IntArray, neighbors: IntArray) -> IntArray:
    """(p k, 2), the lower index first."""
    k = neighbors.shape[1]
    paired: IntArray = np.sort(np.stack([np.repeat(points, k), neighbors.ravel()], axis=1), axis=1)
    return paired
