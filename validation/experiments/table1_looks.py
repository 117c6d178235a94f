"""What explains an error that differs from that of Table 1 of Trivedi et al.: figures that looks.py writes down."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray
from validation.experiments.splits import Split, z_scored
from validation.experiments.table1 import FOLDS, PRESETS, prepared
from validation.experiments.table1_others import SHARES, TOL, fewer, of_nca, range_of, relative
from validation.experiments.table1_paper import KS, STANDARD
from validation.experiments.vote import error_of, facts_of, wrong_of

NCA_ROWS = PRESETS["full"].settings["of"]["usps"]["rows"]["NCA"]


def dslr() -> dict[str, float]:
    """Euclidean errors at k = 3, per cent, of counts of visual words, and of counts over their sums."""
    X, y = datasets.load("office_dslr")
    shares = X / X.sum(axis=1, keepdims=True)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))

    def of(points: FloatArray) -> float:
        parts = (z_scored(Split(points[train], y[train], points[test], y[test])) for train, test in folds)
        return 100 * float(np.mean([error_of(part, 3) for part in parts]))

    return {"counts": of(X), "shares": of(shares)}


def caltech() -> dict[str, float]:
    """Standard deviations over 20 folds, in points, of the Euclidean error on office_caltech at k = 3, 7, 11."""
    X, y = datasets.load("office_caltech")
    parts = [
        z_scored(Split(X[train], y[train], X[test], y[test]))
        for seed in range(4)
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    ]
    return {f"k = {k}": 100 * float(np.std([error_of(part, k) for part in parts], ddof=1)) for k in KS}


def axes_first(data: str) -> dict[str, float]:
    """Errors at k = 3, per cent, on the first principal axes: of Euclid, and of NCA with a quarter as many rows."""
    errors: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        part = prepared(data, fold)
        for axes in (40, 100, 200):
            made = PCA(axes, svd_solver="full").fit(part.X)
            few = part._replace(X=made.transform(part.X), X_test=made.transform(part.X_test))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # a number of iterations is what ends it
                learnt_map = of_nca(SHARES[0], few.X, few.y, 0.0).components_
            for name, L in (("Euclid", None), ("NCA", learnt_map)):
                wrong = facts_of(few, (3,), "sum", L)["errors"]["3"]
                errors.setdefault(f"{name}, {axes} axes", []).append(100 * wrong)
    return {name: float(np.mean(found)) for name, found in errors.items()}


def smooth(width: float) -> Split:
    """usps, smoothed by a Gaussian of so many pixels, then z-scored."""
    X, y = datasets.load("usps")
    first = STANDARD["usps"]
    images = gaussian_filter(X.reshape(-1, 16, 16), (0, width, width)).reshape(X.shape)
    return z_scored(Split(images[:first], y[:first], images[first:], y[first:]))


def smoothed() -> dict[str, float]:
    """Digits that Euclid gets wrong, z-scored, where a tie goes to the least sum, after smoothing by a Gaussian."""
    found = {}
    for width in (0.0, 0.75, 1.0):
        wrong = wrong_of(smooth(width), KS)["sum"]
        found |= {f"{width:g} pixels, k = {k}": float(len(rows)) for k, rows in wrong.items()}
    return found


def learnt_from_smooth(method: str, weight: float) -> dict[str, float]:
    """Errors, per cent, of a method with a weight, of the digits smoothed by a Gaussian of 0.75 pixels."""
    return errors(method, weight, [smooth(0.75)])


def by_weight(data: str, method: str, weights: Iterable[float], folds: int) -> dict[str, float]:
    """Errors, per cent, of a method with these weights."""
    parts = [prepared(data, fold) for fold in range(folds)]
    return {
        f"{weight:g}, {of_k}": error
        for weight in weights
        for of_k, error in errors(method, weight, parts).items()
    }


def by_rows(data: str, method: str, weight: float, rows: Iterable[int]) -> dict[str, float]:
    """Errors, per cent, of a method that learns from so many points of the first fold."""
    return {
        f"{count} points, {of_k}": error
        for count in rows
        for of_k, error in errors(method, weight, [prepared(data, 0)], count).items()
    }


def by_axes(
    data: str, method: str, weight: float, axes: Iterable[int], folds: int, rows: int | None = None
) -> dict[str, float]:
    """Errors, per cent, of a method on the first principal axes."""
    found = {}
    for count in axes:
        parts = []
        for part in (prepared(data, fold) for fold in range(folds)):
            basis = range_of(part.X, count)
            parts.append(part._replace(X=part.X @ basis, X_test=part.X_test @ basis))
        found |= {
            f"{count} axes, {of_k}": error for of_k, error in errors(method, weight, parts, rows).items()
        }
    return found


def stopped(data: str, iterations: int) -> dict[str, float]:
    """Errors, per cent, of NCA with a quarter as many rows as features, after so many iterations."""
    part = prepared(data, 0)
    few = fewer(part, NCA_ROWS, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made = cvxml.NCA(round(SHARES[0] * few.X.shape[1]), max_iter=iterations).fit(few.X, few.y)
    found = facts_of(part, KS, "sum", made.components_)["errors"]
    return {f"k = {k}": 100 * error for k, error in found.items()}


def with_k_targets(data: str, weight: float) -> dict[str, float]:
    """Errors, per cent, of LMNN at k with k targets, mu / (1 - mu) = weight, of the first fold."""
    part, found = prepared(data, 0), {}
    basis = range_of(part.X)
    for k in KS[1:]:  # 3 targets are what it has in the table
        fitted = cvxml.LMNN(weight / (1 + weight), n_neighbors=k, tol=TOL).fit(part.X @ basis, part.y)
        wrong = facts_of(part, (k,), "sum", fitted.components_ @ basis.T)["errors"]
        found[f"k = {k}"] = 100 * wrong[str(k)]
    return found


def errors(method: str, weight: float, parts: list[Split], rows: int | None = None) -> dict[str, float]:
    """The mean errors, per cent, of a method with a weight, from so many rows of the training parts, at each k."""
    found = []
    for seed, part in enumerate(parts):
        with warnings.catch_warnings():
            if method == "NCA":  # a number of iterations is what ends it
                warnings.simplefilter("ignore", ConvergenceWarning)
            L = relative(method, weight, fewer(part, rows, seed), TOL).components
        found.append(facts_of(part, KS, "sum", L)["errors"])
    return {f"k = {k}": 100 * float(np.mean([of[str(k)] for of in found])) for k in KS}


LOOKS: dict[str, Callable[[], dict[str, float]]] = {
    "office_dslr": dslr,
    "office_caltech": caltech,
    "usps, smoothed": smoothed,
    "usps, smoothed, ITML": partial(learnt_from_smooth, "ITML", 0.1),
}
LONG: dict[str, Callable[[], dict[str, float]]] = {  # minutes each
    "office_amazon, axes": partial(axes_first, "office_amazon"),
    "office_caltech, axes": partial(axes_first, "office_caltech"),
    "office_webcam, MLR by axes": partial(by_axes, "office_webcam", "MLR", 1.0, (10, 20, 40), FOLDS),
    "usps, NCA after 5 iterations": partial(stopped, "usps", 5),
    "usps, NCA by axes": partial(by_axes, "usps", "NCA", SHARES[0], (40, 100), 1, NCA_ROWS),
    "usps, MLR by points": partial(by_rows, "usps", "MLR", 100.0, (200, 400)),
    "isolet, MLR by points": partial(by_rows, "isolet", "MLR", 100.0, (200, 400)),
    "office_amazon, MLR by points": partial(by_rows, "office_amazon", "MLR", 100.0, (200, 400)),
    "office_amazon, MLR by axes": partial(by_axes, "office_amazon", "MLR", 100.0, (10, 20, 80), 1, 200),
    "office_caltech, MLR by points": partial(by_rows, "office_caltech", "MLR", 100.0, (200, 400)),
    "office_caltech, MLR by axes": partial(by_axes, "office_caltech", "MLR", 100.0, (10, 20, 80), 1, 200),
    "office_amazon, LMNN by axes": partial(by_axes, "office_amazon", "LMNN", 1.0, (40, 100, 200), 1),
    "office_caltech, LMNN by axes": partial(by_axes, "office_caltech", "LMNN", 1.0, (40, 100, 200), 1),
    "letter, LMNN, k targets": partial(with_k_targets, "letter", 0.1),
    "usps, LMNN, k targets": partial(with_k_targets, "usps", 0.1),
    "isolet, ITML by gamma": partial(by_weight, "isolet", "ITML", (0.01, 0.1, 1.0), 1),
    "letter, ITML by gamma": partial(by_weight, "letter", "ITML", (0.01, 0.1, 1.0), FOLDS),
}
