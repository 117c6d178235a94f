"""The checked data of GLML: points, queries, the fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count, check_labels, check_number, check_X, class_names, real_array
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.glml.model import Generative, fit_gaussians, fit_mixtures


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data: X (n, d), y (n,) codes, queries Q (q, d), the model; `one`: the query was a single point (d,)."""

    X: FloatArray
    y: IntArray
    Q: FloatArray
    one: bool
    model: Generative
    params: dict[str, Any]  # as given, defaults filled in


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    query: ArrayLike | None = None,
    alpha: float = 0.0,
    priors: Any = None,
    model: Any = "gaussian",
    n_components: int = 2,
) -> Instance:
    """Everything checked; query None is the mean of X. Raises ValueError for bad input."""
    points = check_X(X)
    codes = check_labels(y, len(points))
    Q, one = _queries(query, points)
    names = class_names(y)
    fitted = fitted_model(points, codes, names, model, alpha, priors, n_components)
    params = {
        "query": (Q[0] if one else Q).tolist(),
        "alpha": float(alpha),
        "priors": priors if priors is None or isinstance(priors, str) else np.asarray(priors).tolist(),
        "model": model,
        "n_components": n_components,
    }
    return Instance(points, codes, Q, one, fitted, params)


def fitted_model(
    X: FloatArray,
    y: IntArray,
    names: list[str],
    model: Any,
    alpha: float,
    priors: Any,
    n_components: int,
    random_state: int = 0,
) -> Generative:
    """The model by name, fitted, or the user's own. Raises ValueError for bad parameters."""
    if check_number(alpha, "alpha") < 0:
        raise ValueError(f"alpha must be a number that is 0 or more, got {alpha!r}")
    if not isinstance(model, str):
        if not isinstance(model, Generative):
            raise ValueError(
                'model must be "gaussian", "mixture" or have the methods log_densities and curvatures; '
                f"got {type(model).__name__}"
            )
        return model
    shares = check_priors(priors, y, len(names))
    check_count(n_components, "n_components")
    if model == "gaussian":
        return fit_gaussians(X, y, names, float(alpha), shares)
    if model == "mixture":
        return fit_mixtures(X, y, names, n_components, float(alpha), shares, random_state)
    raise ValueError(f'model must be "gaussian", "mixture" or a fitted model, got {model!r}')


def check_priors(priors: Any, y: IntArray, C: int) -> FloatArray | None:
    """Shares (C,) of sum 1, or None for equal ones. Raises ValueError."""
    if priors is None:
        return None
    if isinstance(priors, str):
        if priors != "empirical":
            raise ValueError(f'priors must be None, "empirical" or one number a class, got {priors!r}')
        share: FloatArray = np.bincount(y, minlength=C) / len(y)
        return share
    given = real_array(priors, "priors")
    if given.shape != (C,) or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(f"priors must be {C} positive numbers, one a class, got {priors!r}")
    shares: FloatArray = given / given.sum()
    return shares


def _queries(query: ArrayLike | None, X: FloatArray) -> tuple[FloatArray, bool]:
    if query is None:
        return X.mean(axis=0)[None], True
    Q = real_array(query, "query")
    d = X.shape[1]
    if Q.ndim not in (1, 2) or Q.shape[-1] != d or Q.size == 0:
        raise ValueError(f"query must have shape ({d},) or (q, {d}) for {d} features, got {Q.shape}")
    if not np.isfinite(Q).all():
        raise ValueError("query holds NaN or infinity; every entry must be finite")
    return np.atleast_2d(Q), Q.ndim == 1
