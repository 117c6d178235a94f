"""Sums over pairs, and what is definite, in integers: beside the definitions in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat

from cvxml.core.integer_matrices import is_definite, rationals, within_groups
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
