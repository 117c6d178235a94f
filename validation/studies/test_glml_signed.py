"""The signed problem of GLML with bounds: its closed form against other metrics, and a row of the page again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ortho_group

from validation.studies import glml_signed
from validation.studies.glml_signed import signed_weights


@pytest.mark.quick(1)
@pytest.mark.parametrize("negative", range(6))
@pytest.mark.parametrize("kappa", [1.0, 1.3, 4.0])
def test_no_metric_within_the_bounds_has_a_smaller_bias(negative: int, kappa: float) -> None:
    """5 features: random metrics, and small moves from the closed form."""
    rng = np.random.default_rng(negative)
    b = np.sort(np.concatenate([-rng.uniform(0.1, 2, negative), rng.uniform(0.1, 2, 5 - negative)]))
    m = signed_weights(b, kappa)
    assert np.prod(m) == pytest.approx(1)
    assert m.min() >= (1 - 1e-12) / kappa
    assert m.max() <= (1 + 1e-12) * kappa
    for k in range(2000):
        u = rng.uniform(-1, 1, 5) if k % 2 else np.log(m) + 0.01 * rng.standard_normal(5)
        for _ in range(20):  # towards the sum 0 within the bounds
            u = np.clip(u - u.mean(), -np.log(kappa), np.log(kappa))
        if abs(u.sum()) > 1e-9:
            continue
        turn = ortho_group.rvs(5, random_state=rng) if k % 4 < 2 else np.eye(5)
        assert np.trace(turn @ np.diag(np.exp(u)) @ turn.T @ np.diag(b)) >= m @ b - 1e-9


@pytest.mark.slow
def test_a_row_of_the_page_comes_out_again() -> None:
    """Wine ships with scikit-learn, so that no folder of data is needed."""
    page = Path(glml_signed.__file__).with_suffix(".md").read_text(encoding="utf-8")
    assert glml_signed.row("wine z-scored", 10)[0] in page
