"""Certified neighbours and votes: by brute force over metrics within the radius, and at real optima."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.predictions import certainly_nearer, predictions
from tests.instances import random_data, real_data


def within(M: Any, radius: float, rng: np.random.Generator) -> Any:
    """A symmetric matrix at that distance at most: psd or not, which is more than is asked for."""
    E = rng.standard_normal(M.shape)
    E = E + E.T
    return M + radius * rng.uniform(0.5, 1) * E / np.linalg.norm(E)


def nearest(X: Any, i: int, A: Any, k: int) -> list[int]:
    D = [(float((X[i] - X[j]) @ A @ (X[i] - X[j])), j) for j in range(len(X)) if j != i]
    return [j for _, j in sorted(D)[:k]]


@pytest.mark.parametrize("radius", [0.0, 1e-3, 0.02, 0.2])
def test_what_is_certain_holds_at_every_matrix_within_the_radius(radius: float) -> None:
    X, y = random_data(3, n=24, d=3, classes=3)
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    M, codes = root @ root.T, np.unique(y, return_inverse=True)[1]
    found = predictions(X, codes, M, radius, 3)
    for i in range(24):
        assert found.neighbors[i].tolist() == nearest(X, i, M, 3)
        for _ in range(40):
            listed = nearest(X, i, within(M, radius, rng), 3)
            if found.same_neighbors[i]:
                assert set(listed) == set(found.neighbors[i].tolist())
            if found.same_vote[i]:
                votes = Counter(codes[listed].tolist())
                assert all(votes[found.votes[i]] > n for c, n in votes.items() if c != found.votes[i])
    assert found.same_neighbors.sum() >= (24 if radius == 0 else 1 if radius < 0.1 else 0)
    assert "of the exact optimum" in str(found)


def test_without_a_radius_nothing_is_certain_and_with_none_left_all_but_ties_is() -> None:
    X, y = random_data(4, n=20, d=3, classes=2)
    codes = np.unique(y, return_inverse=True)[1]
    assert not predictions(X, codes, np.eye(3), math.inf, 3).same_vote.any()
    assert predictions(X, codes, np.eye(3), 0.0, 3).same_neighbors.all()
    twins = np.concatenate([X, X[:1]])
    D = np.eye(3)
    assert not certainly_nearer(twins[5] - twins[[0, 20]], D, 0.0).any()  # equally far


def test_two_metrics_that_disagree_are_never_called_the_same() -> None:
    """A query between two points that a small change of the metric puts in another order."""
    X, codes = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]), np.array([0, 1, 1])
    M, query = np.diag([1.0, 1.001]), [[0.0, 0.0]]
    apart = math.sqrt(2)  # of the two outer products
    assert predictions(X, codes, M, 0.0009 / apart, 1, query).same_vote.tolist() == [True]
    assert predictions(X, codes, M, 0.0011 / apart, 1, query).same_vote.tolist() == [False]


def test_a_refuted_metric_may_have_the_votes_of_the_optimum() -> None:
    X, y = real_data("wine")
    rough = cvxml.solve("mlsvm", X, y, tol=1e-9)
    report = cvxml.check("mlsvm", X, y, (1 + 1e-4) * rough.metric)
    assert report.verdict is not cvxml.Verdict.CERTIFIED
    found = report.predictions(3)
    fine = cvxml.check("mlsvm", X, y, rough.metric).predictions(3)
    assert 150 < found.same_vote.sum() <= fine.same_vote.sum()
    np.testing.assert_array_equal(found.votes[found.same_vote], fine.votes[found.same_vote])


def test_a_vote_is_certain_where_no_point_of_another_class_can_be_near() -> None:
    """Which of its own class are nearest is open, and does not matter."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (12, 2)), rng.normal(30, 1, (12, 2))])
    found = predictions(X, np.repeat([0, 1], 12), np.eye(2), 0.2, 3)
    assert found.same_vote.all()
    assert not found.same_neighbors.all()
    assert found.state == ("certain",) * 24


@pytest.mark.parametrize("unit", [1e-160, 1e-82, 1e-40, 1e40, 1e80, 1e150])
def test_votes_follow_the_units(unit: float) -> None:
    """Squares of squares of differences would overflow, or vanish: a radius is never lost in that."""
    X, y = random_data(3, n=20, d=3, classes=2)
    codes = np.unique(y, return_inverse=True)[1]
    for radius in (0.0, 0.05, 0.5):
        here = predictions(X, codes, np.eye(3), radius, 3).same_neighbors
        there = predictions(X * unit, codes, np.eye(3), radius, 3).same_neighbors
        np.testing.assert_array_equal(here, there)
        small = predictions(X, codes, 1e-300 * np.eye(3), 1e-300 * radius, 3).same_neighbors
        np.testing.assert_array_equal(here, small)


@pytest.mark.parametrize("radius", [math.inf, math.nan])
def test_a_radius_that_is_none_proves_nothing(radius: float) -> None:
    X, y = random_data(4, n=9, d=2, classes=2)
    found = predictions(X, np.unique(y, return_inverse=True)[1], np.eye(2), radius, 8)
    assert not found.same_vote[
        np.array([np.bincount(y[np.arange(9) != i]).max() * 2 <= 8 for i in range(9)])
    ].any()
    assert found.same_neighbors.all()  # all others are the nearest, by any metric
    assert not predictions(X, y, np.eye(2), radius, 1).same_vote.any()


def test_predictions_as_json_and_as_text() -> None:
    X, y = random_data(4, n=20, d=3, classes=2)
    codes = np.unique(y, return_inverse=True)[1]
    found = predictions(X, codes, np.eye(3), 0.0, 1, X[0], names=("a", "b"), judged="refuted by 2e-05")
    assert str(found).startswith("refuted by 2e-05, and the vote of 1 neighbour is that of the exact optimum")
    content = json.loads(found.to_json())
    assert content["state"] == ["certain"]
    assert content["labels"] == [("a", "b")[codes[0]]]
    assert content["sentence"] == str(found)


def test_metrics_of_queries_are_not_those_of_the_points() -> None:
    X, y = random_data(3, n=12, d=2, classes=2)
    for query in (X[0], X[:2]):
        metric = np.eye(2) if query.ndim == 1 else np.stack([np.eye(2)] * 2)
        report = cvxml.check("glml", X, y, metric, query=query, diagnosed=False)
        with pytest.raises(ValueError, match="nothing can be predicted"):
            report.predictions(1)


def test_what_cannot_be_predicted_is_said() -> None:
    X, y = random_data(3, n=12, d=3, classes=2)
    with pytest.raises(ValueError, match="no metric was judged"):
        cvxml.check("mlsvm", X, y, claimed_objective=1.0).predictions(1)
    with pytest.raises(ValueError, match="no metric was judged"):
        cvxml.check("mlsvm", X, y, -np.eye(3)).predictions(1)
    report = cvxml.check("mlsvm", X, y, np.eye(3), diagnosed=False)
    with pytest.raises(ValueError, match="the maximum here is 11"):
        report.predictions(12)
    with pytest.raises(ValueError, match="queries must be finite"):
        report.predictions(3, [[1.0, 2.0]])
