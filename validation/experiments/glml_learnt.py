"""1-NN with the metrics that GLML is compared with: learnt by solving a problem over the training points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest
from cvxml.methods import boostmetric
from cvxml.methods.boostmetric.one_group import Together
from cvxml.methods.boostmetric.threshold import sides
from validation.experiments.glml_methods import FINAL, Found, folds, nn, once, subset
from validation.experiments.splits import some_pairs
from validation.experiments.table1_others import CHOOSING, WEIGHTS, Choice, choose, of_lmnn

LEARNT = ("LMNN", "ITML", "DML-eig", "BoostMetric", "PLML")  # a task each
MAY_HAVE_NONE = ("DML-eig", "BoostMetric")  # no metric for some points or parameters: a ValueError
# grids that end where they end, with mu = 1/2 for LMNN; and the first values and the factor of grids that go on
CLOSED: dict[str, tuple[float, ...]] = {
    "LMNN": (1.0,),
    "ITML": (1e-2, 1e-1, 1.0, 10.0, 100.0),
    "DML-eig": (1, 3, 10),
}
OPEN: dict[str, tuple[tuple[float, ...], float]] = {
    "LMNN": WEIGHTS["LMNN"],
    "ITML": WEIGHTS["ITML"],
    "DML-eig": ((1, 3, 9), 3.0),
    "BoostMetric": ((1e-6, 1e-4, 1e-2), 100.0),
    "PLML": ((0.1, 1.0, 10.0), 10.0),
}
SIMILAR = 3  # of DML-eig: similar are a point and this many nearest of its class
ANCHORS = 5  # of PLML
SPAN = 1e-12  # of the largest variance: a principal component with less is rounding
NEAR = 1e-3  # how well v* of BoostMetric is known, relative to where its metric becomes 0

Solve = Callable[[float, float], Any]  # parameter, certified relative gap -> the fitted estimator


class Flat(NamedTuple):
    """Training points (n, r) on their span, their classes, and the map there of other points."""

    X: FloatArray
    y: IntArray
    of: Callable[[FloatArray], FloatArray]


def learnt(
    method: str, X: FloatArray, y: IntArray, Q: FloatArray, seed: int, further: int | None
) -> dict[str, Found]:
    """A metric learnt on the span of the training points, its parameter chosen over the folds.

    further: how often the grid may go on; None for the closed one. ValueError where the method has no metric for these
    points: DML-eig where a maximum need not exist.
    """
    choice: Choice = once(chosen, method, *subset(X, y), seed, further)
    flat = spanned(method, X, y)
    fitted = solver(method, flat.X, y, seed)(choice.weight, FINAL)
    own = (choice.weight,) if further is not None or len(CLOSED[method]) > 1 else ()
    gap, status = float(fitted.certificate_.rel_gap), fitted.solution_.status.name
    return {method: Found(predicted(fitted, flat, Q), gap, status, own, choice.edge)}


def chosen(method: str, X: FloatArray, y: IntArray, seed: int, further: int | None, votes: int = 1) -> Choice:
    """The parameter with the best accuracy over the folds, the first of equal ones."""
    grid, factor = OPEN[method] if further is not None else (CLOSED[method], 1.0)
    if len(grid) == 1:
        return Choice(grid[0], False)
    parts = []
    for (T, t), test in folds(X, y):
        flat = spanned(method, T, t)
        parts.append((flat, solver(method, flat.X, t, seed), test))

    def errors_at(value: float) -> dict[str, float]:
        wrong = 0
        for flat, solve, (Q, q) in parts:
            try:
                wrong += int(np.sum(predicted(solve(value, CHOOSING), flat, Q, votes) != q))
            except ValueError:
                if method not in MAY_HAVE_NONE:
                    raise
                wrong += len(q)
        return {"1": wrong / sum(len(q) for *_, (_, q) in parts)}

    return choose(errors_at, grid, factor, further or 0)["1"]


def predicted(fitted: Any, flat: Flat, Q: FloatArray, votes: int = 1) -> IntArray:
    """Classes (q,) by a vote of the nearest training points, by the one metric or by each query's own."""
    if isinstance(fitted, cvxml.PLML):
        own: IntArray = fitted.set_params(n_votes=votes).predict(flat.of(Q))
        return own
    return nn(fitted.transform(flat.X), flat.y, fitted.transform(flat.of(Q)), votes)


def spanned(method: str, X: FloatArray, y: IntArray) -> Flat:
    """The principal components of X (n, d) without those that are rounding: distances of X stay.

    Features of image_ida depend linearly on others; on such a direction LMNN can prove nothing. For PLML, whose
    parameters have units, they are divided by one number, which makes their mean variance 1.
    """
    made = PCA(svd_solver="full").fit(X)
    kept = made.components_[made.explained_variance_ > SPAN * made.explained_variance_[0]]
    if method == "PLML":
        kept = kept / np.sqrt(np.mean(((X - made.mean_) @ kept.T) ** 2))

    def of(points: FloatArray) -> FloatArray:
        there: FloatArray = (points - made.mean_) @ kept.T
        return there

    return Flat(of(X), y, of)


def solver(method: str, X: FloatArray, y: IntArray, seed: int) -> Solve:
    """What fits a method to these points, once its parameter and its gap are given."""
    if method == "LMNN":
        return lambda weight, tol: of_lmnn(weight, X, y, tol)
    if method == "ITML":
        pairs = without_twins(X, some_pairs(y, seed))
        return lambda gamma, tol: cvxml.ITML(gamma, tol=tol).fit(X, y, pairs=pairs)
    if method == "DML-eig":
        return lambda k, tol: dml_eig(X, y, k, tol)
    if method == "PLML":
        return lambda alpha2, tol: cvxml.PLML(ANCHORS, alpha2=alpha2, tol=tol).fit(X, y)
    low, high = range_of_v(X, y)
    return lambda share, tol: boosted(X, y, low, high, share, tol)


def dml_eig(X: FloatArray, y: IntArray, k: float, tol: float) -> Any:
    """ValueError for less than one dissimilar neighbour, and where no maximum need exist."""
    if k < 1:
        raise ValueError(f"k is {k:g}, less than one neighbour")
    return cvxml.DMLEig(tol=tol).fit(X, y, pairs=near_pairs(X, y, round(k)))


def boosted(X: FloatArray, y: IntArray, low: float, high: float, share: float, tol: float) -> Any:
    """BoostMetric at v between v* and where its metric is 0. ValueError for a share of 1 or more: it is 0 there."""
    if share >= 1:
        raise ValueError(f"a v of {high:g} or more has the metric 0")
    return cvxml.BoostMetric(low + share * (high - low), tol=tol).fit(X, y)


def range_of_v(X: FloatArray, y: IntArray) -> tuple[float, float]:
    """What v of BoostMetric leaves an optimum, and not 0: above v*, and 0, and below lambda_max of the mean of H.

    v* is that of these points, known as well as `NEAR`, and taken from above, where there is an optimum for certain.
    """
    given = boostmetric.instance(X, y, v=1.0)
    slopes = boostmetric.evaluate(given, np.zeros((X.shape[1],) * 2))["gradient"]  # v I - the mean of H
    high = 1.0 - float(np.linalg.eigvalsh(slopes)[0])
    low = 0.0
    for each in sides(given.X, Together(given.triplets())):
        low = max(each.upper, 0.0)
        if each.upper - each.lower <= NEAR * (high - low) or each.upper <= 0:
            break
    return low, high


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
