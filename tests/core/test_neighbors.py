"""k nearest: the fast function, its slow twin and the definition (features in order, then the index) agree."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cvxml
from cvxml import datasets
from cvxml.core import neighbors
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import TIE_TOL, k_nearest, k_nearest_slow, squared_euclidean
from tests.instances import ties

Draw = Callable[[np.random.Generator, int, int], FloatArray]

KINDS: dict[str, Draw] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "repeated": lambda rng, n, d: rng.standard_normal((3, d))[rng.integers(0, 3, n)],
    "all-equal": lambda rng, n, d: np.tile(rng.standard_normal(d), (n, 1)),
    "grid": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "tenths": lambda rng, n, d: rng.integers(0, 4, (n, d)) / 10,
    "offset": lambda rng, n, d: 1e8 + rng.standard_normal((n, d)),
    "offset-grid": lambda rng, n, d: 1e8 + rng.integers(0, 3, (n, d)),
    "far-clusters": lambda rng, n, d: rng.choice([0.0, 1e8], (n, 1)) + rng.standard_normal((n, d)),
    "uneven": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9, (n, d)),
    "tiny": lambda rng, n, d: rng.standard_normal((n, d)) * 1e-150,
    "huge": lambda rng, n, d: rng.standard_normal((n, d)) * 1e150,
    "subnormal-squares": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-163, -160),
    "nearly-tied": lambda rng, n, d: rng.integers(0, 3, (n, d)) + rng.integers(-1, 2, (n, d)) * 1e-13,
}


def by_definition(X: FloatArray, i: int, columns: list[int], k: int) -> tuple[list[int], bool]:
    """Plain Python: one sum after another, sorted by distance and then index, and whether the boundary is a tie."""

    def distance(j: int) -> float:
        total = 0.0
        for a, b in zip(X[i].tolist(), X[j].tolist(), strict=True):
            total += (a - b) * (a - b)
        return total

    ranked = sorted((distance(j), j) for j in columns if j != i)
    if len(ranked) <= k:
        return [j for _, j in ranked[:k]], False
    kth, following = ranked[k - 1][0], ranked[k][0]
    rounded_by = np.finfo(float).eps * sum(max(abs(v) for v in feature) for feature in X.T.tolist())
    slack = TIE_TOL * kth + 2 * rounded_by * (math.sqrt(kth) + math.sqrt(following))
    return [j for _, j in ranked[:k]], following - kth <= slack


def disagreement(X: FloatArray, rows: IntArray, columns: IntArray, k: int) -> str:
    """Empty where the three agree."""
    fast, slow = k_nearest(X, rows, columns, k), k_nearest_slow(X, rows, columns, k)
    plain = [by_definition(X, int(i), columns.tolist(), k) for i in rows]
    for name, (lists, tied) in (("fast", fast), ("slow", slow)):
        if lists.tolist() != [p[0] for p in plain]:
            return f"{name} lists {lists.tolist()} for {X.tolist()}"
        if tied.tolist() != [p[1] for p in plain]:
            return f"{name} tied {tied.tolist()} for {X.tolist()}"
    return ""


@pytest.mark.parametrize(
    "seeds", [range(50), pytest.param(range(50, 250), marks=pytest.mark.slow)], ids=["some", "others"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_fast_slow_and_definition_agree(kind: str, seeds: range) -> None:
    wrong = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 13)), int(rng.integers(1, 5))
        X = KINDS[kind](rng, n, d)
        everyone = np.arange(n, dtype=np.intp)
        wrong.append(disagreement(X, everyone, everyone, int(rng.integers(1, n))))
        columns = np.flatnonzero(rng.random(n) < 0.6)
        rows = np.flatnonzero(rng.random(n) < 0.6)
        if len(columns) > 1 and len(rows):
            wrong.append(disagreement(X, rows, columns, int(rng.integers(1, len(columns)))))
        strangers = np.setdiff1d(everyone, columns)
        if len(columns) and len(strangers):
            wrong.append(disagreement(X, strangers, columns, len(columns)))
    assert len(wrong) > len(seeds)
    assert [w for w in wrong if w][:1] == []


@pytest.mark.parametrize("group", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_minima_of_groups_lose_no_neighbour(kind: str, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough columns, a row is only searched below the k-th smallest minimum of a group of columns."""
    monkeypatch.setattr(neighbors, "GROUP", group)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 4))
        n = int(rng.integers(4 * group * (k + 1), 60))
        X, everyone = KINDS[kind](rng, n, 3), np.arange(n, dtype=np.intp)
        fast, slow = k_nearest(X, everyone, everyone, k), k_nearest_slow(X, everyone, everyone, k)
        assert np.array_equal(fast[0], slow[0])
        assert np.array_equal(fast[1], slow[1])


@settings(max_examples=150, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7),
        elements=st.floats(-1e100, 1e100, allow_subnormal=False),
    ),
    st.integers(1, 6),
)
def test_any_finite_data(X: FloatArray, k: int) -> None:
    everyone = np.arange(len(X), dtype=np.intp)
    assert disagreement(X, everyone, everyone, min(k, len(X) - 1)) == ""


@pytest.mark.parametrize("block", [1, 7, 40, 100])
def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    X = np.random.default_rng(0).integers(0, 4, (23, 3)).astype(float)
    everyone = np.arange(23, dtype=np.intp)
    whole = k_nearest(X, everyone, everyone, 5)
    monkeypatch.setattr(neighbors, "_BLOCK", block)
    parts = k_nearest(X, everyone, everyone, 5)
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])
    assert whole[1].any()


@pytest.mark.parametrize("layout", ["fortran", "reversed", "strided", "read-only"])
def test_memory_layout_makes_no_difference(layout: str) -> None:
    X = np.random.default_rng(1).integers(0, 5, (20, 4)) / 10
    wide = np.repeat(X, 2, axis=1)
    other = {
        "fortran": np.asfortranarray(X),
        "reversed": X[::-1].copy()[::-1],
        "strided": wide[:, ::2],
        "read-only": X.copy(),
    }[layout]
    other.setflags(write=False)
    everyone = np.arange(20, dtype=np.intp)
    for a, b in zip(
        k_nearest(X, everyone, everyone, 3), k_nearest(other, everyone, everyone, 3), strict=True
    ):
        assert np.array_equal(a, b)


def test_distances_are_sums_over_features_in_order() -> None:
    # 1e16 + 1 + 1 in order is 1e16; any other order, or a matrix product, may give 1e16 + 2
    A, B = np.array([[1e8, 1.0, 1.0]]), np.zeros((1, 3))
    assert squared_euclidean(A, B)[0, 0] == 1e16
    assert squared_euclidean(A[:, ::-1], B)[0, 0] == 1e16 + 2
    X = np.array([[0.0, 0, 0], [1e8, 1, 1], [1e8, 0, 0], [1, 1, 1e8]])
    lists, tied = k_nearest(X, np.array([0]), np.arange(4), 1)
    assert lists.tolist() == [[1]]  # a tie with 2, by the ordered sum
    assert tied.tolist() == [True]


def test_what_a_tie_is() -> None:
    def tied(gap: float, k: int = 1) -> bool:
        X = np.array([[0.0], [1.0], [-np.sqrt(1 + gap)]])
        return bool(k_nearest(X, np.array([0]), np.arange(3), k)[1][0])

    assert tied(0.0)
    assert tied(5e-13)
    assert not tied(2e-12)
    assert not tied(0.0, k=2)  # nothing lies behind the boundary


def test_raw_iris_has_29_boundary_ties_at_4_neighbors() -> None:
    X, y = datasets.load("iris")
    everyone = np.arange(150, dtype=np.intp)
    lists, tied = k_nearest(X, everyone, everyone, 4)
    slow, slow_tied = k_nearest_slow(X, everyone, everyone, 4)
    assert tied.sum() == 29
    assert np.array_equal(lists, slow)
    assert np.array_equal(tied, slow_tied)
    assert ties("mlsvm", X, y, n_neighbors=4) == 29
    solution = cvxml.solve("mlsvm", X, y, lam=0.01)
    assert [set(p.tolist()) for p in solution.neighbors] == [set(p) for p in lists.tolist()]
    assert any("29 neighbourhoods" in note and "tie" in note for note in solution.notes)


def tied_in_tenths(X: FloatArray, k: int) -> list[int]:
    """The points with a boundary tie where all features are multiples of 0.1: in integers, so without rounding."""
    tenths = np.rint(X * 10).astype(int)
    tied = []
    for i, point in enumerate(tenths):
        squared = np.sort(np.delete(np.sum((tenths - point) ** 2, axis=1), i))
        if squared[k] == squared[k - 1]:
            tied.append(i)
    return tied


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, -1e4, 2.0**20, 1e8, 1e12])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_an_offset_hides_no_tie(offset: float, k: int) -> None:
    # tenths are no float64: each offset rounds them anew, and ties in tenths come apart by that rounding
    X = datasets.load("iris")[0]
    everyone = np.arange(150, dtype=np.intp)
    tied = k_nearest(X + offset, everyone, everyone, k)[1]
    assert set(tied_in_tenths(X, k)) <= set(np.flatnonzero(tied).tolist())


def test_an_offset_of_iris_makes_no_false_tie_before_digits_are_lost() -> None:
    X, y = datasets.load("iris")
    assert len(tied_in_tenths(X, 4)) == 29
    for offset in (0.0, 1e4, 1e8):
        assert ties("mlsvm", X + offset, y) == 29


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_an_offset_hides_no_tie_from_the_rbf_kernel(gamma: float, offset: float) -> None:
    X, y = datasets.load("iris")
    found = ties("kernel_mlsvm", X + offset, y, kernel="rbf", gamma=gamma)
    assert found >= len(tied_in_tenths(X, 4))


@pytest.mark.parametrize("offset", [2.0**10, 2.0**40])
def test_an_offset_that_rounds_nothing_keeps_every_list(offset: float) -> None:
    # eighths: X + offset and its differences are exact, so that only the count of ties may grow
    X = np.random.default_rng(0).integers(0, 40, (30, 3)) / 8
    everyone = np.arange(30, dtype=np.intp)
    plain, moved = k_nearest(X, everyone, everyone, 4), k_nearest(X + offset, everyone, everyone, 4)
    assert np.array_equal(plain[0], moved[0])
    assert plain[1].any()
    assert not np.any(plain[1] & ~moved[1])


@pytest.mark.parametrize("power", [3, -3, 25])
def test_units_of_a_power_of_two_change_no_neighbor(power: int) -> None:
    X, y = datasets.load("iris")
    plain = cvxml.evaluate("mlsvm", X[::4], y[::4], np.zeros((4, 4)))
    scaled = cvxml.evaluate("mlsvm", X[::4] * 2.0**power, y[::4], np.zeros((4, 4)))
    assert plain.targets == scaled.targets
    assert plain.impostors == scaled.impostors
    assert plain.ties == scaled.ties > 0


@pytest.mark.parametrize("seed", range(5))
def test_per_class_lists_are_the_nearest_of_the_class_and_of_the_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (18, 2)).astype(float), np.arange(18) % 3
    found = cvxml.evaluate("mlsvm", X, y, np.zeros((2, 2)), neighborhood="per-class", n_neighbors=3)
    ties = 0
    for i in range(18):
        own, own_tied = by_definition(X, i, np.flatnonzero(y == y[i]).tolist(), 3)
        others, others_tied = by_definition(X, i, np.flatnonzero(y != y[i]).tolist(), 3)
        assert found.targets[i] == own
        assert found.impostors[i] == others
        ties += own_tied or others_tied
    assert found.ties == ties
    assert found.usable == 18


def in_exact_arithmetic(X: np.ndarray, degree: int, k: int) -> tuple[list[set[int]], int]:
    """Neighbours of integer points in the feature space of <x, x'>^degree, and the number of boundary ties."""
    kernel = [
        [sum(a * b for a, b in zip(p, q, strict=True)) ** degree for q in X.tolist()] for p in X.tolist()
    ]
    lists, ties = [], 0
    for i in range(len(X)):
        ranked = sorted((kernel[i][i] + kernel[j][j] - 2 * kernel[i][j], j) for j in range(len(X)) if j != i)
        lists.append({j for _, j in ranked[:k]})
        ties += ranked[k][0] == ranked[k - 1][0]
    return lists, ties


@pytest.mark.parametrize("offset", [0, 100])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_neighbors_and_ties_in_the_feature_space(degree: int, offset: int) -> None:
    # all kernel values are integers below 2^53: no rounding excuses another tie-break than the index
    X, y = np.random.default_rng(1).integers(0, 3, (18, 3)) + offset, np.arange(18) % 2
    lists, ties = in_exact_arithmetic(X, degree, 4)
    found = cvxml.evaluate("kernel_mlsvm", X, y, np.zeros((18, 18)), degree=degree)
    assert ties > 0
    assert found.ties == ties
    assert [{*t, *m} for t, m in zip(found.targets, found.impostors, strict=True)] == lists


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_ties_in_the_feature_space_never_refute(degree: int) -> None:
    X, y = np.random.default_rng(1).integers(0, 3, (18, 3)) + 100, np.arange(18) % 2
    lists, _ = in_exact_arithmetic(X, degree, 4)
    params = {"degree": degree, "lam": 1e4**degree}
    theirs = cvxml.solve("kernel_mlsvm", X, y, neighbors=[sorted(p) for p in lists], **params)
    report = cvxml.check("kernel_mlsvm", X, y, theirs.metric, diagnosed=False, **params)
    assert report.verdict is not cvxml.Verdict.REFUTED
