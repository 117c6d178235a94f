"""The lesson votes, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

import cvxml
from tests.lessons.run import lesson, run


def own_votes(X: np.ndarray, y: np.ndarray, M: np.ndarray, queries: np.ndarray, k: int) -> list[int]:
    """The class with most of the k nearest; -1 where two have."""
    found = []
    for q in queries:
        nearest = np.argsort([(q - x) @ M @ (q - x) for x in X])[:k]
        counts = np.bincount(y[nearest], minlength=3)
        found.append(int(counts.argmax()) if (counts == counts.max()).sum() == 1 else -1)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("method", "away"), [("frobmetric", 0.05), ("mlsvm", 0.01)])
def test_votes_that_are_certain_are_those_of_the_optimum(method: str, away: float) -> None:
    shown = run("votes", method=method, away=away, k=3)
    X, y, grid, found = shown["X"], shown["y"], shown["grid"], shown["found"]
    optimum = own_votes(X, y, shown["optimum"], grid, 3)
    certain = shown["state"] == "certain"
    assert 0 < certain.sum() < len(grid)
    assert all(found.votes[i] == optimum[i] for i in np.flatnonzero(certain))
    judged = cvxml.evaluate(method, X, y, shown["metric"], **shown["params"]).objective
    for each in found.disagree:
        query, vote, metric = each.query, each.vote, each.metric
        assert own_votes(X, y, metric, grid[[query]], 3) == [vote] != [found.votes[query]]
        better = cvxml.evaluate(method, X, y, metric, **shown["params"]).objective
        assert better <= judged * (1 + 1e-9)


@pytest.mark.slow
def test_certainty_goes_as_the_gap_grows() -> None:
    certain = [
        int(np.sum(run("votes", method="frobmetric", away=away, k=1)["state"] == "certain"))
        for away in (0.0, 0.1, 1.0)
    ]
    assert certain[0] > 0.95 * lesson("votes").SIDE ** 2
    assert certain[0] > certain[1] > certain[2]
