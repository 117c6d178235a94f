"""What the tests of MMC share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cvxml.core.metric import FloatArray

IDS = ("mmc", "mmc:diagonal")


both = pytest.mark.parametrize("method", IDS)


def differences(X: FloatArray, y: Any) -> tuple[FloatArray, FloatArray]:
    """x_i - x_j of the similar and of the dissimilar pairs, by loops."""
    similar, dissimilar = [], []
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            (similar if y[i] == y[j] else dissimilar).append(X[i] - X[j])
    return np.array(similar), np.array(dissimilar)


def spent(E: FloatArray, A: FloatArray) -> float:
    return float(sum(e @ A @ e for e in E))


def distances(E: FloatArray, A: FloatArray) -> FloatArray:
    return np.sqrt(np.array([max(0.0, e @ A @ e) for e in E]))
