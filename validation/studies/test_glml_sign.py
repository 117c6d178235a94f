"""The signs of B: three matrices whose sign is plain, and a row of the page that comes out again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from validation.studies import glml_sign


@pytest.mark.parametrize(
    ("diagonal", "name"),
    [
        ([1.0, 2.0], "positive"),
        ([-1.0, -2.0], "negative"),
        ([-1.0, 2.0], "indefinite"),
        ([1e-9, 1.0], "unknown"),
        ([-1.0, -1e-9], "unknown"),
    ],
)
def test_the_sign_of_a_matrix(diagonal: list[float], name: str) -> None:
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    assert glml_sign.sign(turn @ np.diag(diagonal) @ turn.T, noise=1e-6) == name


def test_a_row_of_the_page_comes_out_again() -> None:
    """Wine ships with scikit-learn, so that no folder of data is needed."""
    page = Path(glml_sign.__file__).with_suffix(".md").read_text(encoding="utf-8")
    assert glml_sign.line("wine z-scored", 10) in page
