"""The starts of a non-convex descent, from the parameter `init` of the user: names, matrices, or a list of both.

NCA and MLKR descend on a factor A (m, d) of the metric A^T A. Gerrymandering uses `each_start` only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.inputs import check_count, real_array
from cvxml.core.metric import FloatArray

LARGEST = 1e150  # entries of a start; squares of larger ones overflow


def each_start(init: Any, random_state: int) -> list[Any]:
    """Return the list of starts in `init`: a name or an array gives one start, a list of names and matrices several.

    Names and matrices are not checked here. Raises ValueError if random_state is not an integer of at least 0.
    """
    check_count(random_state, "random_state", at_least=0)
    listed = isinstance(init, (list, tuple)) and len(init) > 0
    if listed and all(isinstance(one, str) or np.ndim(one) == 2 for one in init):
        return list(init)
    return [init]


def named_components(name: str, X: FloatArray, m: int, random_state: int) -> FloatArray:
    """Return the start A (m, d) with this name, for points X (n, d).

    "pca": the first m principal directions, of length 1, as rows. "identity": the first m unit vectors, as rows. Any
    other name, such as "random": independent standard normal entries.
    """
    d = X.shape[1]
    if name == "pca":
        components: FloatArray = np.linalg.svd(X - X.mean(axis=0), full_matrices=m > min(X.shape))[2][:m]
        return components
    return np.eye(m, d) if name == "identity" else np.random.default_rng(random_state).standard_normal((m, d))


def given_components(init: Any, m: int, d: int) -> FloatArray:
    """Return the start A (m, d) that the user gave.

    Raises ValueError for another shape, NaN, infinity, entries above `LARGEST`, or A = 0.
    """
    A = real_array(init, "init")
    if A.shape != (m, d):
        raise ValueError(f"init must have shape ({m}, {d}), (n_components, features), got {A.shape}")
    if not np.isfinite(A).all():
        raise ValueError("init holds NaN or infinity; every entry must be finite")
    if np.abs(A).max() > LARGEST:
        raise ValueError(f"init has entries up to {np.abs(A).max():.3g}, so distances overflow; divide it")
    if A.any() and np.abs(A).max() < 1 / LARGEST:
        raise ValueError(
            f"init has entries of at most {np.abs(A).max():.3g}, so distances underflow; multiply it"
        )
    if not A.any():
        raise ValueError("init is zero, and A = 0 is stationary, so a descent stays there; give another init")
    return A
