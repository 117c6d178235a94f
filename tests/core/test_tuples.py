"""`from_tuples`: tuples of points become points and indices, and wrong tuples are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml

A, B, C, D = [0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [5.0, 5.0]
PAIRS, SIDES = [[C, A], [A, B], [B, D], [D, C]], [1, 1, -1, -1]
RNG = np.random.default_rng(4)
POINTS = RNG.normal(size=(9, 3))
DRAWN = {k: np.array([RNG.permutation(9)[:k] for _ in range(12)]) for k in (2, 3, 4)}
LISTS = {2: "pairs", 3: "triplets", 4: "quadruplets"}


def distances(X: Any, rows: Any, M: Any, a: int, b: int) -> Any:
    """Squared distances of the points in columns a and b of the indices."""
    return np.array([(X[row[a]] - X[row[b]]) @ M @ (X[row[a]] - X[row[b]]) for row in rows])


def test_pairs_by_hand() -> None:
    X, given = cvxml.from_tuples(PAIRS, SIDES)
    assert X.tolist() == [C, A, B, D]  # in order of first appearance, not sorted
    assert list(given) == ["pairs"]
    assert given["pairs"]["similar"].tolist() == [[0, 1], [1, 2]]
    assert given["pairs"]["dissimilar"].tolist() == [[2, 3], [3, 0]]
    assert given["pairs"]["similar"].dtype == np.intp


@pytest.mark.parametrize("k", [3, 4])
def test_triplets_and_quadruplets_by_hand(k: int) -> None:
    X, given = cvxml.from_tuples([[D, B, A, C][:k], [A, C, D, B][:k]])
    assert X.tolist() == ([D, B, A, C])
    expected = [[0, 1, 2, 3][:k], [2, 3, 0, 1][:k]]
    assert {name: rows.tolist() for name, rows in given.items()} == {LISTS[k]: expected}


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_indices_give_the_same_points_and_distances(k: int) -> None:
    tuples = POINTS[DRAWN[k]]
    X, given = cvxml.from_tuples(tuples, np.ones(12) if k == 2 else None)
    rows = given["pairs"]["similar"] if k == 2 else given[LISTS[k]]
    assert (X[rows] == tuples).all()
    assert sorted(X.tolist()) == sorted(POINTS[np.unique(DRAWN[k])].tolist())
    M = np.diag([1.0, 2.0, 5.0])
    for a, b in ((0, 1), (k - 2, k - 1)):
        np.testing.assert_array_equal(distances(X, rows, M, a, b), distances(POINTS, DRAWN[k], M, a, b))


@pytest.mark.parametrize(
    ("method", "tuples", "y", "given"),
    [
        ("itml", PAIRS, SIDES, {"pairs": {"similar": [[2, 0], [0, 1]], "dissimilar": [[1, 3], [3, 2]]}}),
        ("schultz_joachims", [[A, B, D], [C, A, D]], None, {"triplets": [[0, 1, 3], [2, 0, 3]]}),
        ("lsml", [[A, D, A, B], [B, C, A, C]], None, {"quadruplets": [[0, 3, 0, 1], [1, 2, 0, 2]]}),
    ],
)
def test_the_problem_is_that_of_the_indices(method: str, tuples: Any, y: Any, given: Any) -> None:
    X, converted = cvxml.from_tuples(tuples, y)
    ours = cvxml.solve(method, [A, B, C, D], None, **given)
    theirs = cvxml.solve(method, X, None, **converted)
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-6)
    assert theirs.status == "converged"


def test_estimators_take_the_result() -> None:
    X, given = cvxml.from_tuples(PAIRS, SIDES)
    assert cvxml.ITML().fit(X, **given).pair_score(PAIRS).shape == (4,)


def test_a_triplet_in_the_other_order_is_another_problem() -> None:
    """The first point should be nearer to the second: the metric must then forget the direction of B."""
    near = cvxml.from_tuples([[A, B, C]])
    far = cvxml.from_tuples([[A, C, B]])
    M, N = (cvxml.solve("schultz_joachims", X, None, **given).metric for X, given in (near, far))
    assert M[1, 1] > M[0, 0]
    assert N[0, 0] > N[1, 1]


def test_zeros_of_either_sign_are_one_point() -> None:
    X, given = cvxml.from_tuples([[[-0.0], [1.0], [2.0]], [[2.0], [0.0], [1.0]]])
    assert X.tolist() == [[0.0], [1.0], [2.0]]
    assert given["triplets"].tolist() == [[0, 1, 2], [2, 0, 1]]


def test_points_that_differ_in_the_last_bit_stay_apart() -> None:
    X, _ = cvxml.from_tuples([[[1.0], [np.nextafter(1.0, 2.0)]]], [1])
    assert len(X) == 2


def test_one_tuple_is_enough_and_both_lists_are_there() -> None:
    X, given = cvxml.from_tuples([[A, B]], [-1])
    assert X.tolist() == [A, B]
    assert given["pairs"]["similar"].shape == (0, 2)
    assert given["pairs"]["dissimilar"].tolist() == [[0, 1]]


def test_repeated_tuples_stay_and_methods_refuse_them() -> None:
    X, given = cvxml.from_tuples([[A, B], [B, A], [A, C]], [1, 1, -1])
    assert given["pairs"]["similar"].tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="twice"):
        cvxml.solve("itml", X, None, **given)


def test_the_input_stays_the_same() -> None:
    tuples = np.array(PAIRS)
    X, _ = cvxml.from_tuples(tuples, SIDES)
    X[:] = 9
    assert (tuples == PAIRS).all()


@pytest.mark.parametrize(
    ("tuples", "positions"),
    [
        ([[A, B], [C, C], [D, D]], r"\[1, 2\]"),
        ([[A, A, B], [A, B, A], [A, B, B], [A, B, C]], r"\[0, 1\]"),  # d(A, B) and d(A, B) may be compared
        ([[A, B, A, B], [A, A, B, C], [B, C, A, A]], r"\[1, 2\]"),
        ([[A, A]] * 12, r"2 more"),
    ],
)
def test_a_point_compared_with_itself_is_refused(tuples: Any, positions: str) -> None:
    with pytest.raises(ValueError, match=positions):
        cvxml.from_tuples(tuples, np.ones(len(tuples)) if len(tuples[0]) == 2 else None)


@pytest.mark.parametrize(
    ("tuples", "shape"),
    [
        ([A, B], r"\(2, 2\)"),
        ([[0, 1], [2, 3]], "preprocessor"),
        ([[0, 1, 2]], "preprocessor"),
        (np.ones(3), r"\(3,\)"),
        (np.ones((4, 1, 2)), r"\(4, 1, 2\)"),
        (np.ones((4, 5, 2)), r"\(4, 5, 2\)"),
        (np.ones((0, 2, 2)), r"\(0, 2, 2\)"),
        (np.ones((4, 2, 0)), r"\(4, 2, 0\)"),
        (np.ones((2, 2, 2, 2)), r"\(2, 2, 2, 2\)"),
        ([[A, B], [A]], "tuples"),
        ("pairs", "tuples"),
        (None, "tuples"),
    ],
)
def test_other_shapes_are_refused(tuples: Any, shape: str) -> None:
    with pytest.raises(ValueError, match=shape):
        cvxml.from_tuples(tuples, [1, 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_tuple_that_is_not_finite_is_named(bad: float) -> None:
    with pytest.raises(ValueError, match=r"tuples\[2\]"):
        cvxml.from_tuples([[A, B], [B, C], [A, [0.0, bad]]], [1, 1, -1])


@pytest.mark.parametrize("bad", [1e301, -1e308, 1e-310])
def test_numbers_too_large_or_too_small_for_points_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=f"tuples.*{abs(bad):g}".replace("+", r"\+")):
        cvxml.from_tuples([[[0.0], [bad]]], [1])


@pytest.mark.parametrize(
    "tuples",
    [
        np.array(PAIRS, dtype=np.float32),
        np.array(PAIRS, dtype=np.int8),
        np.asfortranarray(PAIRS),
        np.array(PAIRS).repeat(2, axis=2)[:, :, ::-2][:, :, ::-1],
        np.array(PAIRS, dtype=object),
    ],
    ids=lambda each: f"{each.dtype} {each.strides}",
)
def test_the_kind_of_numbers_and_their_order_in_memory_change_nothing(tuples: Any) -> None:
    X, given = cvxml.from_tuples(tuples, SIDES)
    assert X.tolist() == [C, A, B, D]
    assert (X.dtype, X.flags.c_contiguous) == (np.float64, True)
    assert given["pairs"]["similar"].tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (None, "None"),
        ([1, 1, 0, 0], r"y\[2\] is 0"),
        ([1, 1, -1, np.nan], r"y\[3\] is nan"),
        ([1, -1], r"\(2,\)"),
        (np.ones((4, 2)), r"\(4, 2\)"),
        (["similar"] * 4, "y"),
    ],
)
def test_pairs_need_labels_of_plus_and_minus_one(y: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        cvxml.from_tuples(PAIRS, y)


def test_labels_may_be_floats_or_a_column() -> None:
    for y in (np.array(SIDES, dtype=float), np.array(SIDES)[:, None]):
        _, given = cvxml.from_tuples(PAIRS, y)
        assert given["pairs"]["similar"].tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("k", [3, 4])
def test_triplets_and_quadruplets_have_no_labels(k: int) -> None:
    with pytest.raises(ValueError, match=LISTS[k]):
        cvxml.from_tuples([[A, B, C, D][:k]], [1])
