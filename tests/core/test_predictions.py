"""Certified neighbours and votes: by brute force over metrics within the radius, and at real optima."""

from __future__ import annotations

import json
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core import predictions as searching
from cvxml.core.predictions import certainly_nearer, predictions, votes_of
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


def test_without_a_radius_nothing_is_certain_and_with_none_left_all_but_ties_is() -> None:
    X, y = random_data(4, n=20, d=3, classes=2)
    codes = np.unique(y, return_inverse=True)[1]
    assert not predictions(X, codes, np.eye(3), math.inf, 3).same_vote.any()
    assert predictions(X, codes, np.eye(3), 0.0, 3).same_neighbors.all()
    twins = np.concatenate([X, X[:1]])
    D = np.eye(3)
    assert not certainly_nearer(twins[5] - twins[[0, 20]], D, 0.0).any()  # equally far


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [((1.0, 0.0), (0.0, 1.0), math.sqrt(2)), ((1.0, 0.0), (1.0, 1.0), math.sqrt(3))],
)
def test_two_metrics_that_disagree_are_never_called_the_same(a: Any, b: Any, apart: float) -> None:
    """A query between two points that a small change of the metric puts in another order.

    apart: of the two outer products.
    """
    X, codes = np.array([a, b, (5.0, 5.0)]), np.array([0, 1, 1])
    M, query = np.diag([1.0, 1.001 if a[0] > b[0] else 0.001]), [[0.0, 0.0]]
    assert predictions(X, codes, M, 0.0009 / apart, 1, query).same_vote.tolist() == [True]
    assert predictions(X, codes, M, 0.0011 / apart, 1, query).same_vote.tolist() == [False]


@pytest.mark.parametrize(
    ("k", "classes", "pairs", "same"),
    [
        # either of two of one class is the nearest, and a third point is further than one of them
        (1, "aab", [(0, 2)], False),
        # two that must be there leave one place to both of the others
        (3, "aabb", [(0, 2), (0, 3), (1, 2), (1, 3)], False),
        # three of four places are left to a class that has all points but one
        (2, "aaab", [], None),
        (3, "aaab", [], False),
        (2, "abb", [(0, 1), (0, 2)], None),
        (2, "aab", [(0, 2), (1, 2)], True),
    ],
)
def test_a_vote_follows_from_pairs_that_are_certain(
    k: int, classes: str, pairs: list[tuple[int, int]], same: bool | None
) -> None:
    """Certain as soon as the pairs leave no other, and no sooner: None where another set has as many votes."""
    of = np.array([ord(c) for c in classes])
    nearer = np.zeros((len(of), len(of)), dtype=bool)
    for a, b in pairs:
        nearer[a, b] = True
    found = votes_of(nearer, np.arange(len(of)), of, k)
    assert found.sure == (same is not None)
    assert not found.sure or (found.same, found.vote) == (same, ord("a"))


class FewKnown:
    """A region in which each pair that is asked of is as by one metric, and no bound holds for all."""

    def __init__(self, X: Any, M: Any, affordable: int, others: tuple[Any, ...] = ()):
        self.X, self.M, self.affordable, self.asked = X, M, affordable, list[tuple[int, int, int]]()
        self.box: Any = None
        self.unknown, self.turned = "of too many features", others

    def closer(self, query: int, a: int, b: int) -> bool:
        self.asked.append((query, a, b))
        near, far = (
            float((self.X[query] - self.X[j]) @ self.M @ (self.X[query] - self.X[j])) for j in (a, b)
        )
        return near < far

    def others(self, E: Any) -> Any:
        yield from self.turned


def test_pairs_at_the_boundary_have_proofs_of_their_own_as_long_as_there_are_not_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, codes, M = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]]), np.array([0, 0, 1, 1, 1]), np.eye(1)
    region = FewKnown(X, M, 100)
    found = predictions(X, codes, M, math.inf, 1, region=region)
    assert found.same_vote.all()
    # of one query, the nearest against those of the other class
    assert [pair for pair in region.asked if pair[0] == 0] == [(0, 1, 2), (0, 1, 3), (0, 1, 4)]
    few = FewKnown(X, M, 4)
    found = predictions(X, codes, M, math.inf, 1, region=few)
    assert len(few.asked) == 4
    assert found.same_vote.tolist() == [True, False, False, False, False]
    assert "4 pairs" in found.left
    assert found.left in str(found)
    monkeypatch.setattr(searching, "PAIRS", 2)
    none = FewKnown(X, M, 100)
    found = predictions(X, codes, M, math.inf, 1, region=none)
    assert {query for query, _, _ in none.asked} == {2, 3, 4}
    monkeypatch.setattr(searching, "PAIRS", 1)
    found = predictions(X, codes, M, math.inf, 1, region=FewKnown(X, M, 100))
    assert not found.same_vote.any()
    assert "1 pairs" in found.left
    region = FewKnown(X, M, 100)
    found = predictions(X, codes, M, math.inf, 1, X[:1], region=region)
    assert found.left == region.unknown  # of a query no pair is asked


def test_a_metric_that_votes_otherwise_is_shown_only_where_both_votes_are_certain() -> None:
    X, codes, query = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 1]), [[0.0, 0.0]]

    def disputed(M: Any, *others: Any, points: int = 2) -> int:
        here = X[:points]
        region = FewKnown(here, M, 0, others)
        return len(predictions(here, codes[:points], M, math.inf, 1, query, region=region).disagree)

    assert disputed(np.diag([1.0, 2.0]), np.diag([2.0, 1.0])) == 1
    assert disputed(np.diag([1.0, 2.0]), np.diag([1.0, 3.0])) == 0
    assert disputed(np.diag([1.0, 2.0]), np.eye(2), np.diag([2.0, 1.0])) == 1  # not by a tie
    assert disputed(np.diag([2.0, 1.0]), np.diag([1.0, 2.0]), points=3) == 0  # the first and the last are one
    assert disputed(np.diag([1.0, 2.0]), np.diag([2.0, 1.0]), points=3) == 0


def test_what_the_radius_leaves_no_doubt_of_needs_no_box() -> None:
    X, codes, M = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), np.eye(1)
    region = FewKnown(X, M, 0)
    region.box = SimpleNamespace(nearer=lambda E, rows: np.zeros((len(rows), len(E)), dtype=bool))
    assert predictions(X, codes, M, 0.01, 1, region=region).same_vote.all()


def test_a_metric_that_is_not_quite_psd_has_the_votes_of_the_one_that_is_next_to_it() -> None:
    X, M = np.array([[1.0, 0.0], [1.0, 10.0], [2.0, 0.0]]), np.diag([1.0, -1e-7])
    found = predictions(X, np.array([0, 1, 1]), M, 0.0, 1, [[0.0, 0.0]])
    assert not found.same_vote.any()  # equally far
    assert found.neighbors.tolist() == [[0]]


@pytest.mark.slow
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
    assert str(found).startswith("refuted by 2e-05")
    assert "1 neighbour" in str(found)
    content = json.loads(found.to_json())
    assert content["state"] == ["certain"]
    assert content["labels"] == [("a", "b")[codes[0]]]
    assert content["sentence"] == str(found)


def test_metrics_of_queries_are_not_those_of_the_points() -> None:
    X, y = random_data(3, n=12, d=2, classes=2)
    for query in (X[0], X[:2]):
        metric = np.eye(2) if query.ndim == 1 else np.stack([np.eye(2)] * 2)
        report = cvxml.check("glml", X, y, metric, query=query, diagnosed=False)
        with pytest.raises(ValueError, match="metric"):
            report.predictions(1)


def test_what_cannot_be_predicted_is_said() -> None:
    X, y = random_data(3, n=12, d=3, classes=2)
    with pytest.raises(ValueError, match="metric"):
        cvxml.check("mlsvm", X, y, claimed_objective=1.0).predictions(1)
    with pytest.raises(ValueError, match="metric"):
        cvxml.check("mlsvm", X, y, -np.eye(3)).predictions(1)
    report = cvxml.check("mlsvm", X, y, np.eye(3), diagnosed=False)
    with pytest.raises(ValueError, match=r"n_neighbors.*\b11\b"):
        report.predictions(12)
    with pytest.raises(ValueError, match=r"queries.*\(q, 3\).*\(1, 2\)"):
        report.predictions(3, [[1.0, 2.0]])
