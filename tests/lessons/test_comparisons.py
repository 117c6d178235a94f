"""The lesson comparisons, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lessons.run import run


@pytest.mark.slow
def test_only_itml_looks_at_the_bounds() -> None:
    small, large = (run("comparisons", wide=wide, gamma=1.0, wrong=0) for wide in (0.1, 10.0))
    assert np.array_equal(small["lsml"].metric, large["lsml"].metric)
    assert np.trace(large["itml"].metric) > 10 * np.trace(small["itml"].metric)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0, 7])
def test_what_both_are_told_and_what_they_keep(wrong: int) -> None:
    shown = run("comparisons", wide=1.0, gamma=1.0, wrong=wrong)
    X, y, similar, dissimilar = shown["X"], shown["y"], shown["similar"], shown["dissimilar"]
    assert sum(y[i] != y[j] for i, j in similar) == sum(y[i] == y[j] for i, j in dissimilar) == wrong
    M = shown["lsml"].metric
    near, far = ([(X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in told] for told in (similar, dissimilar))
    residuals = [max(0.0, a**0.5 - b**0.5) ** 2 for a, b in zip(near, far, strict=True)]
    own = np.trace(M) - np.log(np.linalg.det(M)) - 2 + np.mean(residuals)
    assert shown["lsml"].objective == pytest.approx(own)
    assert shown["kept"]["LSML"][1] == f"{sum(a < b for a, b in zip(near, far, strict=True))} of 20"
    u, l = shown["bounds"]
    assert shown["kept"]["LSML"][0] == f"{sum(a <= u for a in near)} + {sum(b >= l for b in far)} of 40"
