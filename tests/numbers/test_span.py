"""Ranks and cosets in rationals, against elimination by fractions: it shares nothing with span.py."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

import cvxml
from cvxml.core import memory
from cvxml.methods import gmml, rca
from cvxml.numbers import span
from cvxml.numbers.span import cosets, rank, rank_along


def rank_of(rows: list[list[Fraction]]) -> int:
    """By Gauss, in fractions."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((k for k in range(found, len(rows)) if rows[k][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for k in range(found + 1, len(rows)):
            factor = rows[k][column] / rows[found][column]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[found], strict=True)]
        found += 1
    return found


def difference(X: np.ndarray, i: int, j: int) -> list[Fraction]:
    return [Fraction(a) - Fraction(b) for a, b in zip(X[i].tolist(), X[j].tolist(), strict=True)]


def points(kind: str, rng: np.random.Generator) -> np.ndarray:
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    if kind == "whole":
        X = rng.integers(-2, 3, size=(n, d)) * 1.0
    elif kind == "sums":
        X = np.c_[X, X[:, 0] + X[:, -1]]  # rounded sums, so seldom sums
    elif kind == "copies":
        X = np.c_[X, 2 * X[:, :1], np.full(n, 3.0)]
    elif kind == "tiny":
        X = np.c_[X, X[:, 0] + 2.0 ** -int(rng.integers(20, 60)) * rng.integers(0, 2, size=n)]
    elif kind == "scales":
        X = X * 10.0 ** rng.integers(-200, 200, size=d)
    return np.repeat(X, rng.integers(1, 3, size=len(X)), axis=0) if rng.integers(2) else X


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["normal", "whole", "sums", "copies", "tiny", "scales"])
def test_ranks_and_cosets_are_those_of_fractions(kind: str) -> None:
    rng = np.random.default_rng(7)
    deficient = apart = 0
    for _ in range(60):
        X = points(kind, rng)
        n = len(X)
        assert rank(X) == rank_of([difference(X, i, 0) for i in range(1, n)])
        pairs = rng.integers(0, n, size=(int(rng.integers(1, n + 1)), 2))
        edges = [difference(X, i, j) for i, j in pairs.tolist()]
        found, dimension = cosets(X, pairs), rank_of(edges)
        assert found.rank == rank_along(X, pairs) == dimension
        for i in range(n):
            for j in range(n):
                inside = rank_of([*edges, difference(X, i, j)]) == dimension
                assert (found.labels[i] == found.labels[j]) == inside
                apart += not inside
        deficient += dimension < min(len(edges), X.shape[1])
    assert deficient
    assert apart


def test_a_direction_of_2_to_the_minus_60_is_one_and_no_pair_at_all_spans_nothing() -> None:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0 + 2.0**-51]])
    assert rank(X) == 2
    assert rank(X[:2]) == 1
    assert rank(X[:1]) == 0
    nothing = cosets(np.repeat(X, 2, axis=0), np.zeros((0, 2), dtype=np.intp))
    assert nothing.rank == 0
    assert nothing.labels.tolist()[::2] == nothing.labels.tolist()[1::2]
    assert len(set(nothing.labels.tolist())) == 3


def test_more_features_than_points_with_groups_apart() -> None:
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(30, 50)), np.arange(30) % 3
    pairs = np.array([(i, j) for i in range(30) for j in range(i) if group[i] == group[j]])
    found = cosets(X, pairs)
    assert found.rank == 27
    assert all(
        (found.labels[i] == found.labels[j]) == (group[i] == group[j]) for i in range(30) for j in range(30)
    )


@pytest.mark.parametrize("rows", [5, 60])
def test_of_many_rows_some_may_be_enough(rows: int) -> None:
    """In three features; the last of the rows alone has the third direction."""
    X = np.zeros((rows, 3))
    X[:, :2] = np.random.default_rng(0).integers(-3, 4, (rows, 2))
    assert rank(X) == 2
    X[-1, 2] = 1.0
    assert rank(X) == 3
    X[:, 2] = np.arange(rows)
    assert rank(X) == 3


def test_what_vanishes_modulo_the_prime_is_looked_at_over_the_integers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span, "PRIME", 3)
    assert span.rank(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])) == 2
    assert span.rank(np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]])) == 1
    # modulo 3 the third point is the first but for what the pair spans
    with pytest.raises(ArithmeticError, match="rationals"):
        span.cosets(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, 1.0]]), np.array([[0, 1]]))


@pytest.mark.parametrize(("module", "exact"), [(gmml, "rationals"), (rca, "within_groups")])
def test_too_few_points_are_refused_before_exact_sums_are_computed(
    module: ModuleType, exact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 features, of which 150 points in ten classes see 140: exact sums take long."""
    monkeypatch.delattr(module, exact)
    points = np.random.default_rng(0).standard_normal((150, 200))
    with pytest.raises(ValueError, match="140 of 200"):
        cvxml.solve(module.__name__.split(".")[-1], points, np.arange(150) % 10)


@pytest.mark.parametrize("prime", [7, 101, span.PRIME])
def test_no_prime_changes_a_rank(prime: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small prime has wrong ranks and coefficients, which the equations in integers must not confirm."""
    monkeypatch.setattr(span, "PRIME", prime)
    monkeypatch.setattr(span, "LARGEST", int(((prime + 1) // 2) ** 0.5))
    rng = np.random.default_rng(3)
    for _ in range(60):
        n, r, d = (int(size) for size in rng.integers(1, 7, size=3))
        rows = rng.integers(-9, 10, size=(n, r)) @ rng.integers(-3, 4, size=(r, d))
        assert span.rank_of(rows.astype(object)) == rank_of(
            [[Fraction(v) for v in row] for row in rows.tolist()]
        )


@pytest.mark.parametrize("dependent", ["copy", "zero", "sum", "fraction", "points"])
def test_small_coefficients_prove_a_rank_without_flint(
    dependent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(5).integers(-(2**52), 2**52, size=(12, 6)).astype(object)
    if dependent == "points":
        rows[3:] = rows[[0, 1, 2] * 3]
        rows = rows[:5]
    else:
        last = {"copy": rows[:, 1], "zero": 0 * rows[:, 0], "sum": rows[:, :5].sum(axis=1)}
        rows[:, 0] *= 7
        rows[:, 5] = last.get(dependent, rows[:, 0] // 7 * 3 + rows[:, 2])
    expected = rank_of([[Fraction(v) for v in row] for row in rows.tolist()])
    monkeypatch.setattr(span, "_check_room_for_rank", None)  # it is called before FLINT finds a rank
    assert span.rank_of(rows) == expected == (3 if dependent == "points" else 5)


def test_a_rank_that_needs_more_memory_than_there_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(-99, 99, size=(40, 12)).astype(object) @ rng.integers(-99, 99, size=(12, 24)).astype(
        object
    )
    assert span.rank_of(rows) == 12
    monkeypatch.setattr(memory, "available", lambda: 100)
    with pytest.raises(memory.TooLarge, match="24 features"):
        span.rank_of(rows)
