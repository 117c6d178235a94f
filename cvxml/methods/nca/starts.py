"""Where NCA starts: scikit-learn's options, by their names, and a start of our own for f."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.methods.nca.instance import Instance
from cvxml.metric import FloatArray, real_array

STARTS = ("auto", "pca", "lda", "identity", "random", "likelihood")


def start(p: Instance, name: str, random_state: int) -> FloatArray:
    """A (m, d) by name; "auto" is "lda" for m < number of classes, else "pca" for m < min(n, d), else "identity"."""
    n, d = p.X.shape
    classes = 0 if p.similarity is not None else int(p.y.max()) + 1
    if name in ("auto", "likelihood"):
        name = "lda" if p.m <= min(d, classes - 1) else "pca" if p.m < min(n, d) else "identity"
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
        return _lda(p, classes)
    raise ValueError(
        f"init={name!r}: a start is one of {', '.join(map(repr, STARTS))}, components (m, d), or a list of these"
    )


def _lda(p: Instance, classes: int) -> FloatArray:
    if p.similarity is not None:
        raise ValueError("init='lda' needs class labels, and a similarity was given: take 'pca'")
    if p.m > min(p.X.shape[1], classes - 1):
        raise ValueError(
            f"init='lda' has {min(p.X.shape[1], classes - 1)} components at most for {classes} classes, "
            f"n_components={p.m} are asked for: take 'pca' or 'identity'"
        )
    # imported here: scikit-learn takes a second to load, and `check` should not
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    scalings = LinearDiscriminantAnalysis().fit(p.X, p.y).scalings_.T
    if len(scalings) < p.m:
        raise ValueError(f"init='lda' finds {len(scalings)} directions, n_components={p.m} are asked for")
    components: FloatArray = np.ascontiguousarray(scalings[: p.m])
    return components


def given(p: Instance, init: Any) -> FloatArray:
    """Components (m, d) as the user gives them. Raises ValueError for another shape, NaN, or zeros."""
    A = real_array(init, "init")
    if A.shape != (p.m, p.X.shape[1]):
        raise ValueError(
            f"init must have shape ({p.m}, {p.X.shape[1]}), (n_components, features), got {A.shape}"
        )
    if not np.isfinite(A).all():
        raise ValueError("init holds NaN or infinity; every entry must be finite")
    if not A.any():
        raise ValueError("init is zero: A = 0 is stationary, no descent leaves it; start anywhere else")
    return A
