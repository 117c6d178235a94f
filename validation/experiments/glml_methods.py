"""1-NN with each metric of Noh et al., Fig. 3 of 2010 and Fig. 5 of 2018: those of generative models of the classes.

Their parameters, like those of the metrics in `glml_learnt`, are chosen on training data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import majority, squared_euclidean
from cvxml.core.result import Certificate
from cvxml.estimators.local import batches, nearest, squared_distances
from cvxml.methods.glml.instance import Mixtures, fit_gaussians
from validation.experiments.table1_others import Choice, choose
from validation.studies.fisher_metric import fisher_metrics

SHARED, GENERATIVE = "generative", ("Euclid", "GLML")  # a task, and its methods
FITTED, DENSITIES = "densities", ("Fisher", "Fisher, one Gaussian", "Bayes")  # each has an alpha of its own
MIXTURES = "GLML, mixtures"
ALPHAS, GAMMAS = tuple(10.0**i for i in range(-4, 3)), (0.0, *(10.0**i for i in range(-3, 4)))
FACTOR = 10.0  # by which these grids go on
COMPONENTS = (2, 3)  # Gaussians a class, of mixtures
SUBSET, FOLDS = 1000, 3  # training points that parameters are chosen on, at most
FINAL = 1e-4  # certified relative gap of the metric that is tested
PROVED = 10  # test points whose local metric is certified

REMEMBERED = 4  # choices
_FOUND: dict[tuple[str, str], Any] = {}

Sample = tuple[FloatArray, IntArray]


class Found(NamedTuple):
    """Predictions of a method, the certified relative gap of its metric and its status, the parameters chosen.

    edge: whether one of these is the last that was tried, and a further one might be better.
    """

    predicted: IntArray
    gap: float | None = None
    status: str | None = None
    chosen: tuple[float, ...] = ()
    edge: bool = False


def subset(X: FloatArray, y: IntArray) -> Sample:
    """At most `SUBSET` of the training points, as many of each class: the first, since the classes take turns."""
    C = int(y.max()) + 1
    most = SUBSET // C * C
    return X[:most], y[:most]


def once(find: Callable[..., Any], *given: Any) -> Any:
    """What `find` makes of these arrays and numbers; the larger training parts of a task have the same to choose by."""
    key = (find.__name__, joblib.hash(given))
    if key not in _FOUND:
        _FOUND[key] = find(*given)
        while len(_FOUND) > REMEMBERED:
            del _FOUND[next(iter(_FOUND))]
    return _FOUND[key]


def folds(X: FloatArray, y: IntArray) -> list[tuple[Sample, Sample]]:
    """(train, test) of each fold."""
    cut = StratifiedKFold(FOLDS).split(X, y)
    return [((X[train], y[train]), (X[test], y[test])) for train, test in cut]


def nn(X: FloatArray, y: IntArray, Q: FloatArray, votes: int = 1) -> IntArray:
    """Classes (q,) by a vote of the nearest of X, y, a tie to the nearest tied class."""
    near = (
        NearestNeighbors(n_neighbors=votes, algorithm="kd_tree").fit(X).kneighbors(Q, return_distance=False)
    )
    voted: IntArray = majority(y[near], int(y.max()) + 1)  # a tree needs no BLAS
    return voted


def nn_of(D: FloatArray, y: IntArray, votes: int) -> IntArray:
    """The same by distances D (q, n)."""
    if votes == 1:
        nearest_one: IntArray = y[D.argmin(axis=1)]
        return nearest_one
    voted: IntArray = majority(y[np.argsort(D, axis=1, kind="stable")[:, :votes]], int(y.max()) + 1)
    return voted


def generative(X: FloatArray, y: IntArray, Q: FloatArray, further: int) -> dict[str, Found]:
    """Euclid and GLML. further: how often grids may go on."""
    best: Local = once(choose_glml, *subset(X, y), further, {})
    return {"Euclid": Found(nn(X, y, Q)), "GLML": glml(X, y, Q, best, {})}


def densities(X: FloatArray, y: IntArray, Q: FloatArray, further: int) -> dict[str, Found]:
    """Fisher and Bayes, each with the alpha that it does best with itself; chosen: alpha."""
    best: dict[str, Choice] = once(choose_alphas, *subset(X, y), further)
    return {
        method: Found(by_density(method, X, y, Q, alpha), chosen=(alpha,), edge=edge)
        for method, (alpha, edge) in best.items()
    }


def choose_alphas(X: FloatArray, y: IntArray, further: int) -> dict[str, Choice]:
    """alpha of the best accuracy over the folds, of equal ones the least."""
    parts = folds(X, y)

    def error(method: str, alpha: float) -> dict[str, float]:
        wrong = [by_density(method, *train, Q, alpha) != q for train, (Q, q) in parts]
        return {"1": float(np.mean(np.concatenate(wrong)))}

    return {method: choose(partial(error, method), ALPHAS, FACTOR, further)["1"] for method in DENSITIES}


def by_density(method: str, X: FloatArray, y: IntArray, Q: FloatArray, alpha: float) -> IntArray:
    """Classes (q,) by a Gaussian of each class, or of all, with covariances plus alpha I."""
    if method == "Fisher, one Gaussian":
        return fisher_predicted(fit_gaussians(X, np.zeros_like(y), ["all"], alpha), X, y, Q)
    model = fit_gaussians(X, y, [str(c) for c in range(int(y.max()) + 1)], alpha)
    if method == "Fisher":
        return fisher_predicted(model, X, y, Q)
    most_likely: IntArray = model.log_densities(Q).argmax(axis=1)
    return most_likely


def mixtures(X: FloatArray, y: IntArray, Q: FloatArray, further: int) -> dict[str, Found]:
    """GLML with a mixture of Gaussians for each class; chosen: their number, alpha, gamma."""
    models = {K: {"model": "mixture", "n_components": K} for K in COMPONENTS}
    best: dict[int, Local] = {
        K: once(choose_glml, *subset(X, y), further, model) for K, model in models.items()
    }
    K = min(best, key=lambda K: best[K].error)
    found = glml(X, y, Q, best[K], models[K])
    return {MIXTURES: found._replace(chosen=(K, *found.chosen))}


def glml(X: FloatArray, y: IntArray, Q: FloatArray, best: Local, model: dict[str, Any]) -> Found:
    """1-NN by the local metrics of GLML with a model of the classes; those of the first queries are certified."""
    proof = cvxml.solve("glml", X, y, query=Q[:PROVED], alpha=best.alpha, tol=FINAL, **model)
    predicted = cvxml.GLML(1, best.gamma, best.alpha, **model).fit(X, y).predict(Q)
    chosen = (best.alpha, best.gamma)
    return Found(predicted, worst_gap(proof.certificate), proof.status.name, chosen, best.edge)


class Local(NamedTuple):
    """alpha and gamma of the best accuracy over the folds, whether at an edge, and the share that is wrong there."""

    alpha: float
    gamma: float
    edge: bool
    error: float


def choose_glml(X: FloatArray, y: IntArray, further: int, model: dict[str, Any], votes: int = 1) -> Local:
    """The first of equal ones: the least alpha, with its least gamma. A gamma of 0 is no edge: there is none below.

    The metric A + gamma I is linear in gamma: distances under A and under I are computed once for all gamma.
    """
    parts = folds(X, y)

    @cache
    def distances(alpha: float) -> list[tuple[FloatArray, FloatArray]]:
        made = []
        for (T, t), (Q, _) in parts:
            A = cvxml.GLML(1, 0.0, alpha, **model).fit(T, t).metric_at(Q)
            made.append((squared_distances(T, Q, A), squared_euclidean(Q, T)))
        return made

    @cache
    def error(alpha: float, gamma: float) -> float:
        wrong, asked = 0, 0
        for ((_, t), (_, q)), (learnt, plain) in zip(parts, distances(alpha), strict=True):
            wrong += int(np.sum(nn_of(learnt + gamma * plain, t, votes) != q))
            asked += len(q)
        return wrong / asked

    @cache
    def gamma_of(alpha: float) -> Choice:
        return choose(lambda gamma: {"1": error(alpha, gamma)}, GAMMAS, FACTOR, further)["1"]

    def error_of(alpha: float) -> dict[str, float]:
        return {"1": error(alpha, gamma_of(alpha).weight)}

    alpha, edge = choose(error_of, ALPHAS, FACTOR, further)["1"]
    gamma, gamma_edge = gamma_of(alpha)
    return Local(alpha, gamma, edge or (gamma_edge and gamma > 0), error(alpha, gamma))


def fisher_predicted(model: Mixtures, X: FloatArray, y: IntArray, Q: FloatArray) -> IntArray:
    """Of 1-NN with the Fisher kernel's metric at each query."""
    parts = [Q[part] for part in batches(len(Q), *X.shape)]
    found = [y[nearest(X, part, fisher_metrics(model, part), 1)[1][:, 0]] for part in parts]
    return np.concatenate(found)


def worst_gap(certificate: Certificate) -> float:
    """The largest relative gap: of the metrics of several queries, or of the one."""
    return float(max((part.rel_gap for part in certificate.parts), default=certificate.rel_gap))
