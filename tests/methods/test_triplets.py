"""What holds of methods that take triplets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.methods import get
from tests.instances import random_data, real_data

BASIS = np.random.default_rng(5).integers(-3, 4, (12, 4)) + np.tile(np.eye(4), (3, 1))


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("method", "seed", "count", "given"),
    [
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
    X, _ = real_data("iris", 30)
    rng = np.random.default_rng(seed)
    found = [rng.permutation(30)[:3].tolist() for _ in range(count)]
    other = [[i, l, j] for i, j, l in found]
    theirs = cvxml.solve(method, X, None, triplets=other, tol=1e-9, **given)
    assert theirs.metric.any()
    report = cvxml.check(method, X, None, theirs.metric, triplets=found, **given)
    assert report.verdict is Verdict.REFUTED
    assert any("j and l exchanged" in line for line in report.diagnosis)


def test_margins_and_sums_are_those_of_the_matrices_of_triplets() -> None:
    X, y = random_data(3, n=12, d=3, classes=2)
    given = get("rtml").instance(X, y, n_neighbors=2)
    e = X[given.triplets()]
    far, near = e[:, 0] - e[:, 2], e[:, 0] - e[:, 1]
    H = np.einsum("ta,tb->tab", far, far) - np.einsum("ta,tb->tab", near, near)
    M, weights = np.diag([1.0, 2.0, 3.0]) + 0.5, np.linspace(-1, 1, len(H))
    np.testing.assert_allclose(given.margins(M), np.einsum("tab,ab->t", H, M), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        given.weighted_sum(weights), np.einsum("t,tab->ab", weights, H), rtol=1e-12, atol=1e-12
    )
