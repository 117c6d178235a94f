"""Judge an estimator after its fit: one of cvxml, metric-learn, scikit-learn, pylmnn or pyDML.

It is known by its module and its class, and read by its attributes: none of these packages is imported.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray
from cvxml.core.report import Report
from cvxml.core.run import Callback
from cvxml.core.tolerance import Tolerance
from cvxml.oracle.check import check
from cvxml.oracle.foreign import METHODS, Fitted, question

PACKAGES = {
    "metric_learn": "metric-learn",
    "sklearn": "scikit-learn",
    "pylmnn": "pylmnn",
    "dml": "pyDML",
}  # imported as, published as
TUPLES = {
    "ITML": 2,
    "MMC": 2,
    "SDML": 2,
    "SCML": 3,
    "LSML": 4,
}  # of metric-learn: how many points are given together
LISTS = {2: "pairs", 3: "triplets", 4: "quadruplets"}


def certify_estimator(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    tol: Tolerance | None = None,
    exact: bool = False,
    diagnosed: bool = True,
    time_limit: float | None = None,
    callback: Callback = None,
    **given: Any,
) -> Report:
    """Is the metric of a fitted estimator what its own parameters ask for?

    estimator: of cvxml, or a learner of metric-learn, scikit-learn, pylmnn or pyDML that minimises what a method here
    does. X, y: what its `fit` was given: points (n, d) and labels, chunks or targets (n,), or as metric-learn's weakly
    supervised learners have it, tuples of points (t, 2 to 4, d), y of pairs +1 and -1; indices where it has a
    preprocessor. given: what it does not keep, by the names of `check`: pairs, triplets, quadruplets, chunklets (of
    indices into X) that it drew by itself, its basis, its weights. tol: by default the tolerance that an estimator of
    cvxml was fitted to, and "normal" for any other estimator. The rest as in `check`.

    Raises ValueError for an estimator that is not known, is not fitted, was fitted with what has no counterpart, or was
    changed since; and where something was drawn that it does not keep.
    """
    options: dict[str, Any] = {
        "tol": getattr(estimator, "_fitted_to", "normal") if tol is None else tol,
        "exact": exact,
        "diagnosed": diagnosed,
        "time_limit": time_limit,
        "callback": callback,
    }
    if type(estimator).__module__.split(".")[0] == "cvxml":
        solution = getattr(estimator, "solution_", None)
        if solution is None:
            raise ValueError(
                f"{type(estimator).__name__} has no solution_: fit it first, if it learns a metric"
            )
        _refuse_changed(estimator, set(given))
        params = {name: value for name, value in solution.params.items() if value is not None}
        return check(solution.method, X, y, solution, **options, **params | given)
    fitted = read(estimator, X, y, given)
    asked = question(fitted)
    return check(asked.method, fitted.X, fitted.y, asked.metric, **options, **asked.params)


def _refuse_changed(estimator: Any, given: set[str]) -> None:
    """Raises ValueError where a parameter, or the map, is no longer that of the fit; not for a parameter in `given`."""
    plain, kind = (bool, int, float, str), type(estimator).__name__
    for name, now in estimator.get_params(deep=False).items():
        then = estimator.solution_.params.get(name)
        if name not in given and isinstance(now, plain) and isinstance(then, plain) and now != then:
            raise ValueError(f"{name} is {now!r}, and was {then!r} when this {kind} was fitted: fit it again")
    if hasattr(estimator, "components_"):
        again = copy(estimator)
        again._keep(estimator.solution_.X)
        L, now = again.components_, estimator.components_
        if np.shape(L) != np.shape(now) or np.linalg.norm(L - now) > 1e-9 * np.linalg.norm(L):
            raise ValueError(
                f"components_ of this {kind} were changed after its fit: cvxml.check judges them by themselves"
            )


def read(estimator: Any, X: ArrayLike, y: ArrayLike | None, given: dict[str, Any]) -> Fitted:
    """What foreign.py maps. Raises ValueError for an estimator that is not known or not fitted, or for its inputs."""
    package, learner = _known(estimator)
    params, metric = _params(estimator), _metric(estimator)
    kind = learner.removesuffix("_Supervised")
    points, labels = np.asarray(X), y
    if getattr(estimator, "preprocessor_", None) is not None and points.ndim == (
        2 if kind in TUPLES and kind == learner else 1
    ):
        points = _of_indices(estimator.preprocessor_, points)
    if package == "metric-learn":
        points, labels, given = _as_metric_learn(estimator, learner, points, labels, given)
    if points.ndim != 2 or points.shape[1] != len(metric):
        raise ValueError(
            f"{learner} has a metric of {len(metric)} features; X has shape {np.shape(X)}: give what its fit was given"
        )
    return Fitted(package, learner, params, metric, np.asarray(points, dtype=float), labels, given)


def _known(estimator: Any) -> tuple[str, str]:
    """Its package and class, or those of a class that it is derived from."""
    for kind in type(estimator).__mro__:
        package = PACKAGES.get(kind.__module__.split(".")[0])
        if package and (package, kind.__name__.removesuffix("_Supervised")) in METHODS:
            return package, kind.__name__
    known = ", ".join(f"{package} {learner}" for package, learner in METHODS if package in PACKAGES.values())
    raise ValueError(
        f"{type(estimator).__module__}.{type(estimator).__name__} is not a known estimator: give its matrix to "
        f"cvxml.check; known are those of cvxml, and {known}"
    )


def _params(estimator: Any) -> dict[str, Any]:
    """By the names of its signature. pyDML keeps them with a line below, where `get_params` does not find them."""
    if PACKAGES[_module(estimator)] == "pyDML":
        return {name.rstrip("_"): value for name, value in vars(estimator).items()}
    params: dict[str, Any] = estimator.get_params()
    return params


def _module(estimator: Any) -> str:
    modules = (kind.__module__.split(".")[0] for kind in type(estimator).__mro__)
    return next(module for module in modules if module in PACKAGES)


def _metric(estimator: Any) -> FloatArray:
    """(d, d). Raises ValueError before a fit."""
    components = next(
        (value for name in ("components_", "L_") if (value := getattr(estimator, name, None)) is not None),
        None,
    )
    if components is not None:
        L = np.atleast_2d(np.asarray(components, dtype=float))
        return np.asarray(L.T @ L)
    metric = getattr(estimator, "M_", None)
    if metric is None:
        raise ValueError(f"{type(estimator).__name__} is not fitted")
    return np.asarray(metric, dtype=float)


def _of_indices(preprocessor: Any, indices: Any) -> FloatArray:
    """The points that a preprocessor of metric-learn gives: indices (n,) or (t, 2 to 4)."""
    points = np.asarray(preprocessor(indices.ravel()), dtype=float)
    return points.reshape(*indices.shape, -1)


def _as_metric_learn(
    estimator: Any, learner: str, X: Any, y: Any, given: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Points, labels and lists from what metric-learn's learner is given. Raises ValueError for what was drawn."""
    kind, supervised = learner.removesuffix("_Supervised"), learner.endswith("_Supervised")
    if kind == "ITML" and hasattr(estimator, "bounds_"):
        given = {"bounds": [float(bound) for bound in estimator.bounds_], **given}
    if kind == "RCA" and not supervised:
        return X, None, {"chunklets": np.asarray(y), **given}
    name = LISTS[TUPLES[kind]] if kind in TUPLES else "chunklets" if kind == "RCA" else ""
    if not name or name in given:
        return X, y, given
    if supervised:
        raise ValueError(f"metric-learn {learner} drew {name} and does not keep them: give {name}=...")
    if X.ndim != 3 or X.shape[1] != TUPLES[kind]:
        raise ValueError(
            f"metric-learn {learner} is fitted to {name}, X of shape (n, {TUPLES[kind]}, d); got {X.shape}"
        )
    points, index = np.unique(X.reshape(-1, X.shape[2]), axis=0, return_inverse=True)
    tuples = index.reshape(X.shape[:2])
    if name != "pairs":
        return points, None, {name: tuples.tolist(), **given}
    if y is None or np.shape(y) != (len(X),) or not np.isin(y, (-1, 1)).all():
        raise ValueError(f"metric-learn {learner} is fitted to y of +1 and -1, one for each pair")
    sides = {"similar": tuples[np.asarray(y) == 1], "dissimilar": tuples[np.asarray(y) == -1]}
    return points, None, {"pairs": {side: each.tolist() for side, each in sides.items()}, **given}
