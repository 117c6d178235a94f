"""What holds of methods that take triplets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.methods import get
from tests.instances import assert_named, methods_with, random_data, real_data, small

X, Y = random_data(1, n=16, d=3)
BASIS = np.random.default_rng(5).integers(-3, 4, (12, 4)) + np.tile(np.eye(4), (3, 1))


def triplets(method: str, k: int) -> list[list[int]]:
    """The k nearest of each class with the k nearest of the rest, or with all of the rest (LMNN)."""
    found = []
    for i in range(len(X)):
        near = sorted(range(len(X)), key=lambda j: (np.sum((X[i] - X[j]) ** 2), j))
        own = [j for j in near if Y[j] == Y[i] and j != i][:k]
        rest = [l for l in near if Y[l] != Y[i]]
        found += [[i, j, l] for j in own for l in (rest if "lmnn" in method else rest[:k])]
    return found


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", methods_with("triplets"))
def test_triplets_of_labels_given_one_by_one_are_the_same_problem(method: str, tmp_path: Path) -> None:
    """They need no labels, and a file has them."""
    params = small(method)
    listed = triplets(method, params.pop("n_neighbors"))
    default = cvxml.solve(method, X, Y, tol=1e-8, n_neighbors=2, **params)
    params |= {
        name: default.params[name] for name in ("basis", "anchors", "weights") if default.params.get(name)
    }
    given = cvxml.solve(method, X, None, tol=1e-8, triplets=listed, **params)
    assert given.lower_bound <= default.objective
    assert default.lower_bound <= given.objective
    given.save(tmp_path / "saved.json")
    saved = cvxml.load(tmp_path / "saved.json")
    assert sorted(saved.params["triplets"]) == sorted(listed)
    assert cvxml.check(method, X, None, saved.metric, **saved.params).verdict is Verdict.CERTIFIED


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("method", "seed", "count", "given"),
    [
        ("lmnn", 1, 60, {"mu": 0.9}),
        ("frobmetric", 1, 40, {}),
        ("rtml", 1, 40, {}),
        ("boostmetric", 2, 40, {"v": 0.1}),
        ("schultz_joachims", 2, 12, {}),
        ("scml", 2, 12, {"beta": 0.01, "basis": BASIS}),
    ],
)
def test_triplets_the_other_way_around_are_named(
    method: str, seed: int, count: int, given: dict[str, Any]
) -> None:
    """Triplets at random, so that both ways have an optimum that is not 0."""
    points, _ = real_data("iris", 30)
    rng = np.random.default_rng(seed)
    found = [rng.permutation(30)[:3].tolist() for _ in range(count)]
    other = [[i, l, j] for i, j, l in found]
    theirs = cvxml.solve(method, points, None, triplets=other, tol=1e-9, **given)
    assert theirs.metric.any()
    assert_named(method, "exchanged", points, None, theirs.metric, triplets=found, **given)


def test_margins_and_sums_are_those_of_the_matrices_of_triplets() -> None:
    given = get("rtml").instance(X, Y, n_neighbors=2)
    e = X[given.triplets()]
    far, near = e[:, 0] - e[:, 2], e[:, 0] - e[:, 1]
    H = np.einsum("ta,tb->tab", far, far) - np.einsum("ta,tb->tab", near, near)
    M, weights = np.diag([1.0, 2.0, 3.0]) + 0.5, np.linspace(-1, 1, len(H))
    np.testing.assert_allclose(given.margins(M), np.einsum("tab,ab->t", H, M), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        given.weighted_sum(weights), np.einsum("t,tab->ab", weights, H), rtol=1e-12, atol=1e-12
    )
