"""Rows of known distances: a difference and a quotient are rounded all the same; what is no row has no price."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.rows.base import Duals, Plain, places
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import UNPRICED
from cvxml.numbers.rounding import Distances, Products

IMPOSTORS = np.array([[False, False, True, True], [False, False, True, False]])
TRIPLETS = Triplets(np.array([[0, 1], [1, 0]]), IMPOSTORS)


class Known(NamedTuple):
    """Points whose distances are known."""

    D: FloatArray

    def pairs(self, index: IntArray) -> Distances:
        D = self.D[index[:, 0], index[:, 1]]
        return Distances(D, 0 * D)

    def products(self) -> Products:
        """Of which one is D itself."""
        nothing = np.zeros(len(self.D))
        return Products(-self.D / 2, np.eye(len(self.D)), nothing, nothing)

    def from_points(self, i: IntArray) -> Distances:
        return Distances(self.D[i], 0 * self.D[i])


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_known_distances_are_off_by_their_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    D, unit = rng.random((4, 4)) * 10.0 ** rng.integers(-3, 4, (4, 4)), float(rng.random() + 0.1)
    exact = [[Fraction(x) for x in row] for row in D.tolist()]
    (block,) = TRIPLETS.blocks(Known(D), UNPRICED)
    rows = [(0, 1, 2), (0, 1, 3), (1, 0, 2)]
    for (i, j, l), v, error in zip(rows, block.v.tolist(), block.error.tolist(), strict=True):
        assert abs(exact[i][l] - exact[i][j] - Fraction(v)) <= Fraction(error)
    pairs = PairRows(np.array([[0, 1], [2, 3], [1, 3]]), unit)
    (block,) = pairs.blocks(Known(D), UNPRICED)
    for (i, j), v, error in zip(pairs.listed.tolist(), block.v.tolist(), block.error.tolist(), strict=True):
        assert abs(exact[i][j] / Fraction(unit) - Fraction(v)) <= Fraction(error)


def test_what_is_no_row_has_no_price() -> None:
    named = np.array([[0, 1, 2], [1, 0, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [1, 0, 2]])
    found = TRIPLETS.read({"price": [1.0, 2.0, 4.0, -8.0, 16.0, np.nan], "triplets": named})
    assert found.key.tolist() == [2]  # (1, 0, 3) is no impostor, (0, 2) no target
    assert found.a.tolist() == [17.0]
    without_targets = Triplets(np.zeros((0, 2), dtype=np.intp), np.zeros((0, 4), dtype=bool))
    assert len(without_targets.read({"price": [1.0], "triplets": named[:1]}).key) == 0


def test_pairs_are_picked_out_by_their_keys_and_all_of_them_are_the_list() -> None:
    pairs = PairRows(np.array([[0, 1], [2, 3], [1, 3]]))
    assert pairs.weights(Duals(np.ones(3), np.arange(3))).pairs is pairs.listed
    for key in ([2, 0, 1], [0, 2], [], [1]):
        found = pairs.weights(Duals(np.ones(len(key)), np.array(key, dtype=np.intp))).pairs
        assert found.tolist() == [pairs.listed[k].tolist() for k in key]


def test_solvers_see_the_distances_of_pairs_in_the_unit_that_proofs_see() -> None:
    z = np.array([[0.0], [1.0], [3.0], [7.0]])
    pairs = PairRows(np.array([[0, 1], [2, 3], [1, 3]]), 2.0)
    halves = [0.5, 8.0, 18.0]
    assert pairs.margins(z, np.array([2, 0])).tolist() == [18.0, 0.5]
    key, v = pairs.near(z, 10.0)
    assert (key.tolist(), v.tolist()) == ([0, 1], [0.5, 8.0])
    assert pairs.least(z) == 0.5
    entries = pairs.entries(pairs.keys())
    D = np.sum((z[entries.pairs[:, 0]] - z[entries.pairs[:, 1]]) ** 2, axis=1)
    assert np.bincount(entries.row, entries.sign * D).tolist() == halves
    (block,) = pairs.blocks(Plain(z), UNPRICED)
    assert block.v.tolist() == halves


class Blurred(NamedTuple):
    """Points on a line whose distances may be off, as pairs and as products."""

    x: FloatArray
    of_pairs: float
    of_products: float

    def pairs(self, index: IntArray) -> Distances:
        D = (self.x[index[:, 0]] - self.x[index[:, 1]]) ** 2
        return Distances(D, np.full(len(D), self.of_pairs))

    def products(self) -> Products:
        z = self.x[:, None]
        return Products(z, z, self.x**2, np.full(len(self.x), self.of_products / 2))


@pytest.mark.parametrize(("of_pairs", "of_products"), [(0.25, 0.0), (0.0, 0.25), (0.125, 0.125)])
def test_a_row_that_may_be_below_what_is_kept_is_kept(of_pairs: float, of_products: float) -> None:
    """D_01 = 1 and D_02 = 2.125 give v = 1.125, which may be .875 too: below 1, where a hinge has a loss."""
    rows = Triplets(np.array([[0, 1]]), np.array([[False, False, True]]))
    view = Blurred(np.array([0.0, 1.0, -(2.125**0.5)]), of_pairs, of_products)
    (block,) = rows.blocks(view, UNPRICED, 1.0)
    assert block.v == pytest.approx([1.125])
    assert 0.25 <= block.error[0] <= 0.26
    # without the blur it has no loss
    assert (
        sum(len(block.v) for block in rows.blocks(view._replace(of_pairs=0, of_products=0), UNPRICED, 1.0))
        == 0
    )


@given(st.lists(st.integers(0, 30), unique=True), st.lists(st.integers(0, 30)))
def test_places_of_keys_are_those_of_a_dictionary(keys: list[int], wanted: list[int]) -> None:
    at, known = places(np.array(keys, dtype=np.intp), np.array(wanted, dtype=np.intp))
    where = {key: k for k, key in enumerate(keys)}
    assert known.tolist() == [key in where for key in wanted]
    assert at[known].tolist() == [where[key] for key in wanted if key in where]
