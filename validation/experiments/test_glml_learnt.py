"""The metrics that GLML is compared with: their pairs, features and parameters, against loops and by construction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods import boostmetric
from validation.experiments import glml_learnt
from validation.experiments.glml_data import realisation
from validation.experiments.glml_learnt import Choice


def test_v_of_boostmetric_lies_between_its_threshold_and_where_the_metric_is_0() -> None:
    random = np.random.RandomState(0)
    y = np.arange(30) % 2
    X = random.standard_normal((30, 3)) + 8 * y[:, None] * [1, 0, 0]
    flat = glml_learnt.spanned("BoostMetric", X, y)
    low, high = glml_learnt.range_of_v(flat.X, y)
    below, above = boostmetric.threshold(flat.X, y)[:2]
    assert 0 < below <= low <= above + 2 * glml_learnt.NEAR * high
    solve = glml_learnt.solver("BoostMetric", flat.X, y, 0)
    assert np.trace(solve(0.9, 1e-6).get_mahalanobis_matrix()) > 0
    assert not cvxml.solve("boostmetric", flat.X, y, v=1.001 * high).metric.any()
    assert cvxml.solve("boostmetric", flat.X, y, v=0.99 * high).metric.any()
    with pytest.raises(ValueError, match="metric 0"):
        solve(1.0, 1e-2)
    with pytest.raises(ValueError, match="below v"):
        cvxml.solve("boostmetric", flat.X, y, v=0.9 * below)


def test_where_v_may_be_all_but_0() -> None:
    """Classes that no metric tells apart have v* below 0."""
    random = np.random.RandomState(0)
    X, y = random.standard_normal((40, 2)), np.arange(40) % 2
    low, high = glml_learnt.range_of_v(X, y)
    assert low == 0.0
    assert boostmetric.threshold(X, y)[1] < 0
    assert high > 0


@pytest.mark.parametrize(
    ("sign", "further", "choice", "asked"),
    [
        (1, 0, Choice(9.0, True), {1, 3, 9}),
        (1, 2, Choice(81.0, True), {1, 3, 9, 27, 81}),
        (-1, 2, Choice(1.0, False), {1, 3, 9}),
    ],
)
def test_a_grid_of_the_learnt_goes_on(
    monkeypatch: pytest.MonkeyPatch, sign: int, further: int, choice: Choice, asked: set[int]
) -> None:
    """Where more, or fewer, neighbours have more points right; less than one is none."""
    X, y = realisation("wine", 0, 40).training(40)
    seen: set[float] = set()

    def solver(method: str, X: FloatArray, y: IntArray, seed: int) -> glml_learnt.Solve:
        def solve(k: float, tol: float) -> float:
            if k < 1:
                glml_learnt.dml_eig(X, y, k, tol)
            seen.add(round(k))
            return k

        return solve

    def predicted(k: float, flat: Any, Q: FloatArray, votes: int) -> IntArray:
        """The first class for so many, which is right for a third of them; else no class."""
        many = round(k / 3) if sign > 0 else 30 - round(k)
        return np.where(np.arange(len(Q)) < many, 0, -1)

    monkeypatch.setattr(glml_learnt, "solver", solver)
    monkeypatch.setattr(glml_learnt, "predicted", predicted)
    found = glml_learnt.chosen("DML-eig", X, y, 0, further)
    assert found.edge == choice.edge
    assert found.weight == pytest.approx(choice.weight)
    assert seen == asked


def test_one_value_is_no_grid() -> None:
    X, y = realisation("wine", 0, 20).training(20)
    assert glml_learnt.chosen("LMNN", X, y, 0, None) == Choice(1.0, False)


def test_features_of_plml_have_the_unit_1_and_distances_of_the_others_stay() -> None:
    X, y = realisation("wine", 0, 20).training(20)
    flat = glml_learnt.spanned("PLML", X, y)
    assert np.mean(flat.X**2) == pytest.approx(1.0)
    plain = glml_learnt.spanned("LMNN", X, y)
    ratio = np.linalg.norm(flat.X[0] - flat.X[1]) / np.linalg.norm(X[0] - X[1])
    assert np.linalg.norm(flat.X[5] - flat.X[9]) == pytest.approx(ratio * np.linalg.norm(X[5] - X[9]))
    assert np.linalg.norm(plain.X[0] - plain.X[1]) == pytest.approx(np.linalg.norm(X[0] - X[1]))
    assert np.array_equal(flat.of(X), flat.X)


def test_pairs() -> None:
    X, y = realisation("wine", 0, 20).training(20)
    X[3], X[5] = X[0], X[1]
    assert (y[0], y[1]) == (y[3], y[4])
    assert y[5] != y[1]
    everything = {"similar": [[0, 3], [0, 6]], "dissimilar": [[0, 5], [1, 5], [1, 6]]}
    found = glml_learnt.without_twins(X, everything)
    assert found == everything | {"dissimilar": [[0, 5], [1, 6]]}  # twins of one class may be similar
    near = glml_learnt.near_pairs(X, y, 2)
    wanted: dict[str, set[tuple[int, int]]] = {"similar": set(), "dissimilar": set()}
    for i in range(len(X)):
        order = sorted((j for j in range(len(X)) if j != i), key=lambda j: (np.sum((X[i] - X[j]) ** 2), j))
        for kind, count in (("similar", 3), ("dissimilar", 2)):
            right = [j for j in order if (y[i] == y[j]) == (kind == "similar")][:count]
            wanted[kind] |= {(min(i, j), max(i, j)) for j in right}
    wanted["dissimilar"].remove((1, 5))
    assert {kind: {tuple(pair) for pair in near[kind]} for kind in wanted} == wanted
