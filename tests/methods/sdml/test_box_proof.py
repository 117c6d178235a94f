"""Boxes of matrices around a rational one: what is definite, what is not, and what is clipped into them."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.balls import TooFewBits, precision, rounded
from cvxml.core.exact import flint
from cvxml.core.integer_matrices import whole
from cvxml.methods.sdml.box_proof import descent, log_determinant, serves, to_domain


def test_a_direction_is_proved_in_rationals() -> None:
    """For S = [[1, 2], [2, 1]]: psd D alone, and none whose sum is above 0 by next to nothing."""
    S = flint().fmpq_mat([[1, 2], [2, 1]])
    minus = whole(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert descent(S, 1.0, *minus) == 0
    assert descent(S, 0.5, *minus) == -1
    assert descent(S, 1 + 2.0**-50, *minus) is None
    assert descent(S, 0.5, *whole(np.array([[1.0, -2.0], [-2.0, 1.0]]))) is None  # is indefinite
    assert descent(S, 0.5, *whole(-np.ones((2, 2)))) is None  # negative, of rank 1
    assert descent(S, 0.5, *whole(np.zeros((2, 2)))) is None


def test_a_logarithm_is_that_of_floats_and_none_is_proved_of_a_singular_matrix() -> None:
    S, U = flint().fmpq_mat([[1, 2], [2, 1]]), np.array([[0.0, -1.5], [-1.5, 0.0]])
    with precision():
        assert float(log_determinant(S, U)) == pytest.approx(np.log(0.75), rel=1e-14)
        with pytest.raises(TooFewBits):
            log_determinant(S, U + np.array([[0.0, 0.5], [0.5, 0.0]]))
    assert serves(S, rounded(S), 2.0, U)
    assert not serves(S, rounded(S), 2.0, 0 * U)


def test_what_is_repaired_is_in_the_box_and_definite() -> None:
    S, start = flint().fmpq_mat([[1, 2], [2, 1]]), np.array([[0.0, -1.5], [-1.5, 0.0]])
    for U in (start, -start, np.full((2, 2), 1e300), np.full((2, 2), -np.inf), np.eye(2), np.triu(start)):
        mended = to_domain(S, rounded(S), 1.75, start, U)
        assert (mended == mended.T).all()
        assert not mended.diagonal().any()
        assert np.abs(mended).max() <= 1.75
        assert np.linalg.eigvalsh(rounded(S) + mended)[0] > 0
