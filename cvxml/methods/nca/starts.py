"""Where NCA starts: scikit-learn's options, by their names, and a start of our own for f."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, real_array
from cvxml.methods.nca.instance import Instance

STARTS = ("auto", "pca", "lda", "identity", "random", "likelihood")


def start(p: Instance, name: str, random_state: int) -> FloatArray:
    """A (m, d) by name; "auto" is "lda" where that has m directions, else "pca" for m < min(n, d), else "identity"."""
    n, d = p.X.shape
    if name in ("auto", "likelihood"):
        found = _lda(p)
        if len(found) >= p.m:
            return np.ascontiguousarray(found[: p.m])
        name = "pca" if p.m < min(n, d) else "identity"
    if name == "identity":
        return np.eye(p.m, d)
    if name == "random":
        return np.random.default_rng(random_state).standard_normal((p.m, d))
    if name == "pca":
        if p.m > min(n, d):
            raise ValueError(
                f"init='pca' has {min(n, d)} components at most, n_components={p.m} are asked for"
            )
        _, _, Vt = np.linalg.svd(p.X - p.X.mean(axis=0), full_matrices=False)
        components: FloatArray = Vt[: p.m]
        return components
    if name == "lda":
        if p.similarity is not None:
            raise ValueError("init='lda' needs class labels, and a similarity was given: take 'pca'")
        found = _lda(p)
        if len(found) < p.m:
            raise ValueError(
                f"init='lda' finds {len(found)} directions, fewer than the classes, and n_components={p.m} are asked "
                "for: take 'pca' or 'identity'"
            )
        return np.ascontiguousarray(found[: p.m])
    raise ValueError(
        f"init={name!r}: a start is one of {', '.join(map(repr, STARTS))}, components (m, d), or a list of these"
    )


def _lda(p: Instance) -> FloatArray:
    """The discriminant directions, at most one fewer than the classes; none where scikit-learn finds no number."""
    if p.similarity is not None or p.m >= int(p.y.max()) + 1 or p.y.max() + 1 >= len(p.y):
        return np.zeros((0, p.X.shape[1]))
    # imported here: scikit-learn takes a second to load, and `check` should not
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # collinear features, classes without spread
        try:
            scalings: FloatArray = LinearDiscriminantAnalysis().fit(p.X, p.y).scalings_.T
        except (IndexError, np.linalg.LinAlgError):  # no class has any spread
            return np.zeros((0, p.X.shape[1]))
    return scalings if np.isfinite(scalings).all() else scalings[:0]


def given(p: Instance, init: Any) -> FloatArray:
    """Components (m, d) as the user gives them. Raises ValueError for another shape, NaN, or zeros."""
    A = real_array(init, "init")
    if A.shape != (p.m, p.X.shape[1]):
        raise ValueError(
            f"init must have shape ({p.m}, {p.X.shape[1]}), (n_components, features), got {A.shape}"
        )
    if not np.isfinite(A).all():
        raise ValueError("init holds NaN or infinity; every entry must be finite")
    if np.abs(A).max() > 1e150:
        raise ValueError(f"init has entries of {np.abs(A).max():.3g}: no distance can be computed; divide it")
    if not A.any():
        raise ValueError("init is zero: A = 0 is stationary, no descent leaves it; start anywhere else")
    return A
