"""Judge a fitted estimator of cvxml, metric-learn, scikit-learn, pylmnn or pyDML.

The module and the class name identify the estimator, and its attributes hold the results. So these packages need not be
imported here.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray, real_array
from cvxml.core.report import Report
from cvxml.core.run import Callback
from cvxml.core.tolerance import Tolerance
from cvxml.core.tuples import LISTS, from_tuples
from cvxml.oracle.asked import Diagnosed
from cvxml.oracle.check import check
from cvxml.oracle.foreign import METHODS, Fitted, question
from cvxml.oracle.pipelines import found, named

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# name of the module: name of the package
PACKAGES = {
    "metric_learn": "metric-learn",
    "sklearn": "scikit-learn",
    "pylmnn": "pylmnn",
    "dml": "pyDML",
}
SAME = 1e-6  # relative to the spread of the points: nearer points are the same
# learners of metric-learn: number of points in each tuple
TUPLES = {
    "ITML": 2,
    "MMC": 2,
    "SDML": 2,
    "SCML": 3,
    "LSML": 4,
}


def certify_estimator(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    tol: Tolerance | None = None,
    exact: bool = False,
    diagnosed: Diagnosed = True,
    time_limit: float | None = None,
    callback: Callback = None,
    **given: Any,
) -> Report:
    """Judge the metric of a fitted estimator as an answer to the problem that its own parameters state.

    estimator: an estimator of cvxml, or a learner of metric-learn, scikit-learn, pylmnn or pyDML that minimises the
        objective of a method in cvxml. It may also be a Pipeline of scikit-learn with such a learner among its steps, a
        search such as GridSearchCV, or a combination of both. In a Pipeline the last learner is judged, on X
        transformed by the steps before it; later steps are ignored. `pipeline[:k]`, the first k steps, chooses an
        earlier learner. In a search best_estimator_ is judged.
    X: the points (n, d) that its `fit` got. For metric-learn's weakly supervised learners: tuples of points (t, 2 to 4,
        d). If the estimator has a preprocessor, indices may take the place of points.
    y: the labels or real targets (n,) that its `fit` got; for RCA of metric-learn the number of the chunk of each
        point. For learners from pairs: +1 or -1 for each pair.
    tol: relative to the scale of the problem: a number, "strict", "normal" or "loose". The default is the tolerance
        that an estimator of cvxml was fitted to, and "normal" for any other estimator.
    exact: judge in exact arithmetic.
    diagnosed: search for the mistake that explains a refuted metric: True (for a limited time), "all" or False.
    time_limit: seconds for our search for a proof.
    callback: called with a `cvxml.core.result.Step` each time that the search measures the gap.
    given: inputs that the estimator does not keep, by the parameter names of `check`. For example: its basis, its
        weights, or pairs, triplets, quadruplets or chunklets (as indices into X) that it drew at random.

    Raises ValueError if the estimator is not known, is not fitted, or was changed after its fit. It is also raised for
    parameters that cvxml does not have, and for lists that the estimator drew at random and did not keep: give these
    as keywords. A Pipeline is refused if no step learns a metric, or if its steps give other points than its learner of
    cvxml was fitted to. A search with refit=False is refused. The message names the step.

    Examples
    --------
    import cvxml
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    X, y = cvxml.datasets.load("iris")
    model = make_pipeline(cvxml.LMNN(), KNeighborsClassifier(3)).fit(X, y)
    print(cvxml.certify_estimator(model, X, y).verdict.value)  # -> certified
    """
    learner, points, path, _ = found(estimator, X, _learns)
    with named(*path):
        asked = _asked(learner, points, y, given)
    options: dict[str, Any] = {
        "tol": getattr(learner, "_fitted_to", "normal") if tol is None else tol,
        "exact": exact,
        "diagnosed": diagnosed,
        "time_limit": time_limit,
        "callback": callback,
    }
    return check(asked.method, asked.X, asked.y, asked.metric, **options, **asked.params)


class Asked(NamedTuple):
    """The arguments of `check` for a fitted learner.

    metric: (d, d), or the Solution that an estimator of cvxml keeps.
    """

    method: str
    X: Any
    y: Any
    metric: Any  # (d, d), or a Solution
    params: dict[str, Any]


def _asked(estimator: Any, X: Any, y: Any, given: dict[str, Any]) -> Asked:
    if not _is_ours(estimator):
        fitted = read(estimator, X, y, given)
        foreign = question(fitted)
        return Asked(foreign.method, fitted.X, fitted.y, foreign.metric, foreign.params)
    solution = getattr(estimator, "solution_", None)
    if solution is None:
        raise ValueError(_without_solution(estimator))
    _refuse_changed(estimator, set(given))
    _refuse_other_data(estimator, X, y)
    params = {name: value for name, value in solution.params.items() if value is not None}
    return Asked(solution.method, X, y, solution, params | given)


def _without_solution(estimator: Any) -> str:
    """Return what the user can do with an estimator of cvxml that has no `solution_`."""
    kind = type(estimator).__name__
    if hasattr(estimator, "certificate") and hasattr(estimator, "metric"):
        return "a solution is no estimator: use cvxml.certify_solution(solution)"
    if not hasattr(estimator, "n_features_in_"):
        return f"{kind} is not fitted: call its fit first"
    if kind == "GLML":
        return "GLML has a metric for each query: use cvxml.check('glml', X, y, metric, query=...) for one of them"
    if hasattr(estimator, "estimator_"):
        return f"{kind} has a threshold beside its metric: give its estimator_, with the X and pairs of from_tuples"
    return f"{kind} has no metric with a proof: give another estimator"


def _refuse_other_data(estimator: Any, X: Any, y: Any) -> None:
    """Raise ValueError if X or y are not those that an estimator of cvxml was fitted to.

    The lists of points that the fit made, such as targets, are valid for these points in this order only.
    """
    solution, kind = estimator.solution_, type(estimator).__name__
    names = list(getattr(estimator, "feature_names_in_", []))
    if names and names != list(getattr(X, "columns", names)):
        raise ValueError(
            f"the columns of X are not those of the fit of this {kind}: give {names[:8]!r}"
            f"{' ...' if len(names) > 8 else ''}, in this order"
        )
    points, own = real_array(X, "X"), solution.X
    if points.shape != own.shape or not _near(points, own, own):
        ordered = points.shape == own.shape and _near(np.sort(points, axis=0), np.sort(own, axis=0), own)
        why = "; its rows may be in another order" if ordered else ""
        raise ValueError(
            f"this {kind} was fitted to other points {own.shape} than X {points.shape}{why}: give the X of the fit, or "
            "this learner itself with its solution_.X; for a metric on other points use cvxml.check"
        )
    if y is None or not solution.y.any():  # without labels, or fitted to lists: y has no influence
        return
    labels = np.asarray(y).ravel()
    real = solution.y.dtype.kind == "f"  # the targets of a regression
    if not np.array_equal(labels if real else np.unique(labels, return_inverse=True)[1], solution.y):
        raise ValueError(
            f"this {kind} was fitted to other labels than y: give the y of the fit, in the order of X"
        )


def _near(points: FloatArray, others: FloatArray, own: FloatArray) -> bool:
    spread = np.linalg.norm(own - own.mean(axis=0))
    return bool(np.linalg.norm(points - others) <= SAME * spread)


def _is_ours(estimator: Any) -> bool:
    return type(estimator).__module__.split(".")[0] == "cvxml"


def _learns(estimator: Any) -> bool:
    """Return True for a metric learner that can be judged, fitted or not."""
    if not _is_ours(estimator):
        return _class(estimator) is not None
    if hasattr(estimator, "solution_"):
        return True
    # GLML has a method, but no solution_ even after its fit
    return hasattr(estimator, "_method") and not hasattr(estimator, "n_features_in_")


def _refuse_changed(estimator: Any, given: set[str]) -> None:
    """Raise ValueError if an estimator of cvxml was changed after its fit.

    Two things are compared with its solution: the arrays that the fit made from the solution, and the parameters.
    given: the names of the user's own inputs; these parameters are not compared.
    """
    plain, kind = (bool, int, float, str, np.generic), type(estimator).__name__
    method = getattr(estimator, "_method", estimator.solution_.method)
    if method != estimator.solution_.method:
        raise ValueError(
            f"this {kind} was fitted to the problem {estimator.solution_.method}, and its parameters are now those of "
            f"{method}: fit it again"
        )
    for name, now in estimator.get_params(deep=False).items():
        then = estimator.solution_.params.get(name)
        if name not in given and isinstance(now, plain) and isinstance(then, plain) and now != then:
            raise ValueError(f"{name} is {now!r}, and was {then!r} when this {kind} was fitted: fit it again")
    if hasattr(estimator, "_keep"):
        again = copy(estimator)
        again._keep(estimator.solution_.X)
        for name, kept in vars(again).items():
            held: Any = getattr(estimator, name, None)
            if not (name.endswith("_") and isinstance(kept, np.ndarray) and kept.dtype.kind == "f"):
                continue
            same = held is not None and np.shape(kept) == np.shape(held)
            if not same or np.linalg.norm(kept - held) > 1e-9 * np.linalg.norm(kept):
                raise ValueError(
                    f"{name} of this {kind} was changed after its fit: fit it again, or judge it with cvxml.check"
                )


def read(estimator: Any, X: ArrayLike, y: ArrayLike | None, given: dict[str, Any]) -> Fitted:
    """Return data, parameters and metric of an estimator of another package, as a `Fitted` of foreign.py.

    The parameters keep their names in that package; `question` of foreign.py translates them. given: inputs that the
    estimator does not keep, by the names of cvxml. Raises ValueError if the estimator is not known or not fitted, or if
    the points X and the metric differ in the number of features.
    """
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
            f"{learner} has a metric of {len(metric)} features; X has shape {np.shape(X)}: give the X of its fit"
        )
    return Fitted(package, learner, params, metric, np.asarray(points, dtype=float), labels, given)


def _known(estimator: Any) -> tuple[str, str]:
    """Return the package and the class name of the estimator, or of the first known class among its base classes.

    Raises ValueError if no class is known.
    """
    known_class = _class(estimator)
    if known_class is not None:
        return known_class
    known = ", ".join(f"{package} {learner}" for package, learner in METHODS if package in PACKAGES.values())
    raise ValueError(
        f"{type(estimator).__module__}.{type(estimator).__name__} is not a known estimator: give its matrix to "
        f"cvxml.check; known are those of cvxml, and {known}"
    )


def _class(estimator: Any) -> tuple[str, str] | None:
    """Return the package and the name of the first known class among the estimator's own and its base classes.

    None if none of these classes is known.
    """
    for kind in type(estimator).__mro__:
        package = PACKAGES.get(kind.__module__.split(".")[0])
        if package and (package, kind.__name__.removesuffix("_Supervised")) in METHODS:
            return package, kind.__name__
    return None


def _params(estimator: Any) -> dict[str, Any]:
    """Return the estimator's parameters, by the names in the signature of its class.

    pyDML stores a parameter as an attribute with an underscore at the end, so `get_params` does not find it.
    """
    if PACKAGES[_module(estimator)] == "pyDML":
        return {name.rstrip("_"): value for name, value in vars(estimator).items()}
    params: dict[str, Any] = estimator.get_params()
    return params


def _module(estimator: Any) -> str:
    modules = (kind.__module__.split(".")[0] for kind in type(estimator).__mro__)
    return next(module for module in modules if module in PACKAGES)


def _metric(estimator: Any) -> FloatArray:
    """Return the metric (d, d) that the estimator has learnt. Raises ValueError before a fit."""
    components = next(
        (value for name in ("components_", "L_") if (value := getattr(estimator, name, None)) is not None),
        None,
    )
    if components is not None:
        L = np.atleast_2d(np.asarray(components, dtype=float))
        return np.asarray(L.T @ L)
    metric = getattr(estimator, "M_", None)
    if metric is None:
        raise ValueError(f"{type(estimator).__name__} is not fitted: call its fit first")
    return np.asarray(metric, dtype=float)


def _of_indices(preprocessor: Any, indices: Any) -> FloatArray:
    """Return the points (n, d) or (t, k, d) that a preprocessor of metric-learn gives for indices (n,) or (t, k)."""
    points = np.asarray(preprocessor(indices.ravel()), dtype=float)
    return points.reshape(*indices.shape, -1)


def _as_metric_learn(
    estimator: Any, learner: str, X: Any, y: Any, given: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Return points, labels and the arguments of `check` from the inputs of a learner of metric-learn.

    learner: the name of its class. X, y: what its `fit` got. given: the arguments of `check` that are known already.
    Raises ValueError if the learner drew its lists at random and they are not in `given`, or if X or y have a wrong
    form.
    """
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
            f"metric-learn {learner} is fitted to {name}, X of shape (n, {TUPLES[kind]}, d): give those of the fit; "
            f"got {X.shape}"
        )
    if name == "pairs" and (y is None or np.shape(y) != (len(X),) or not np.isin(y, (-1, 1)).all()):
        raise ValueError(
            f"metric-learn {learner} needs y of +1 and -1, one for each of the {len(X)} pairs in X"
        )
    points, lists = from_tuples(X, y if name == "pairs" else None)
    return points, None, {**lists, **given}
