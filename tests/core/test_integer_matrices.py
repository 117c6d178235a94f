"""Sums over pairs, and what is definite, in integers: beside the definitions in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat

from cvxml.core.clock import OutOfTime, limited
from cvxml.core.integer_matrices import MANY, is_definite, is_psd, rationals, within_groups
from tests.instances import fractions, random_data


def test_sums_within_groups_are_those_of_pairs() -> None:
    """From the points, beside pair after pair in fractions; some points are far from the origin."""
    points = random_data(3, n=24, d=4)[0]
    points = np.concatenate([points, 1e6 + points[:3] / 7])
    group, weights = np.arange(27) % 4, [3, 0, 1, 2]
    found, at = within_groups(points, group, weights)
    F, slow = fractions(points), np.zeros((4, 4), dtype=object)
    for i in range(27):
        for j in range(i):
            if group[i] == group[j]:
                slow = slow + weights[group[i]] * np.multiply.outer(F[i] - F[j], F[i] - F[j])
    unit = Fraction(2) ** at
    assert [[int(v) * unit for v in row] for row in found.tolist()] == slow.tolist()


def test_rationals_are_integers_times_a_unit_with_a_diagonal() -> None:
    found = rationals(fmpz_mat([[1, 2], [2, 5]]), Fraction(1, 3), 0.1)
    tenth = Fraction(0.1)
    wanted = [[Fraction(1, 3) + tenth, Fraction(2, 3)], [Fraction(2, 3), Fraction(5, 3) + tenth]]
    assert [[Fraction(int(v.p), int(v.q)) for v in row] for row in found.tolist()] == wanted


@pytest.mark.parametrize(
    ("matrix", "is_so"),
    [
        ([[2, 1], [1, 2]], True),
        ([[1, 1], [1, 1]], False),
        ([[-1, 0], [0, -1]], False),
        ([[1, 2], [2, 1]], False),
        ([[10**40, 10**40], [10**40, 10**40 + 1]], True),
    ],
)
def test_what_is_definite(matrix: list[list[int]], is_so: bool) -> None:
    assert is_definite(fmpz_mat(matrix)) is is_so


@pytest.mark.parametrize("d", [1, 3, MANY, MANY + 4])
@pytest.mark.parametrize("seed", range(4))
def test_definite_and_semidefinite_matrices_are_told_apart_by_signs_alone(d: int, seed: int) -> None:
    """With factors of known rank. The last matrices are beyond what a factorization in balls decides."""
    rng = np.random.default_rng(seed)
    root = np.triu(rng.integers(-3, 4, (d, d)), 1) + np.diag(rng.integers(1, 4, d))
    definite = root.T @ root
    singular = root[:-1].T @ root[:-1]
    beside = np.outer(root[-1], root[-1])
    huge = 2**600
    for matrix, psd, regular in [
        (definite, True, True),
        (singular, True, False),
        (singular.astype(object) * huge + beside, True, True),
        (singular.astype(object) * huge - beside, False, False),
        (-definite, False, False),
        (definite - (1 + int(np.trace(definite))) * np.eye(d, dtype=int), False, False),
    ]:
        M = fmpz_mat(matrix.tolist())
        assert is_psd(M) == psd
        assert is_definite(M) == regular


def test_a_factorization_ends_with_the_time_limit() -> None:
    M = fmpz_mat((2 * np.eye(MANY, dtype=int)).tolist())
    with pytest.raises(OutOfTime), limited(1e-9, "no time is left"):
        is_definite(M)
