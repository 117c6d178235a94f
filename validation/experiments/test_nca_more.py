"""What the note on NCA says beyond its figures: what is measured. The verdicts are in test_nca_report.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import cvxml
from validation.experiments import nca, nca_more
from validation.experiments.run import timed
from validation.experiments.splits import Split
from validation.experiments.tasks import Task


def blobs(n: int = 60, d: int = 3) -> Split:
    random = np.random.RandomState(0)
    y = np.arange(2 * n) % 3
    X = random.standard_normal((2 * n, d)) + 2 * random.standard_normal((3, d))[y]
    return Split(X[:n], y[:n], X[n:], y[n:])


def test_fewer_points_are_a_share_of_each_class_and_those_of_less_are_among_those_of_more() -> None:
    part = blobs(n=61)
    quarter, half = (nca_more.fewer(part, share, 3) for share in (1 / 4, 1 / 2))
    assert Counter(quarter.y.tolist()) == {0: 5, 1: 5, 2: 5}
    assert {*map(tuple, quarter.X)} < {*map(tuple, half.X)} < {*map(tuple, part.X)}
    assert all(
        np.array_equal(part.y[np.all(x == part.X, axis=1)], [c]) for x, c in zip(half.X, half.y, strict=True)
    )
    assert Counter(nca_more.fewer(part, 0.01, 3).y.tolist()) == {0: 2, 1: 2, 2: 2}
    assert quarter.X_test is part.X_test


def test_chunklets_are_of_one_class_and_of_their_size() -> None:
    y = np.array([0] * 12 + [1] * 6 + [2] * 3)
    chunklets = nca_more.dealt(y, 1)
    sizes = Counter(chunklets[chunklets >= 0].tolist())
    assert sorted(sizes.values()) == [2, 3, 5, 5, 5]
    assert np.sum(chunklets == -1) == 1  # the sixth of class 1
    assert all(len(set(y[chunklets == c].tolist())) == 1 for c in sizes)


def test_the_end_is_where_it_is_best_on_the_last_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    right = {1: 0.5, 3: 0.75, 10: 0.75, 30: 0.25, 100: 0.5, None: 0.5}
    asked: list[Any] = []

    class Fake:
        def __init__(self, rank: int | None, init: str, max_iter: int | None = None):
            assert (rank, init) == (2, "auto")
            self.steps = max_iter

        def fit(self, X: Any, y: Any) -> Fake:
            assert len(X) == 45
            return self

        def transform(self, X: Any) -> Any:
            return X

    class Rule:
        def __init__(self, k: int, algorithm: str):
            assert k == 1

        def fit(self, X: Any, y: Any) -> Rule:
            return self

        def score(self, X: Any, y: Any) -> float:
            assert len(X) == 15
            asked.append(len(asked))
            return list(right.values())[asked[-1]]

    monkeypatch.setattr(cvxml, "NCA", Fake)
    monkeypatch.setattr(nca_more, "KNeighborsClassifier", Rule)
    assert nca_more.best_steps(blobs(), 2, 0) == 3
    assert len(asked) == len(right)


@pytest.mark.quick(2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", nca_more.MORE)
def test_each_is_measured(method: str) -> None:
    result = timed(nca.measure, 0, Task("iris", method, 0, {}))[1]
    assert 0.5 < result["test"] <= 1
    assert 0.5 < result["train"] <= 1
    assert result.get("proved", True)
    if method in ("a quarter", "Euclid a quarter"):
        assert result["points"] == 26  # of 105: 8.75, 9 and 8.5 of the classes, rounded


def test_the_span_keeps_distances_of_what_is_in_it() -> None:
    random = np.random.RandomState(2)
    flat = random.standard_normal((20, 2)) @ random.standard_normal((2, 5))
    part = Split(flat[:10], np.arange(10) % 2, flat[10:], np.arange(10) % 2)
    inside = nca_more.within(part, flat - flat.mean(axis=0))
    assert inside.X.shape == (10, 2)
    for i in range(10):
        assert np.linalg.norm(inside.X[i] - inside.X_test[i]) == pytest.approx(
            np.linalg.norm(flat[i] - flat[10 + i])
        )


def test_the_scale_suggests_the_number_of_neighbours_that_p_spreads_over() -> None:
    part = blobs(40)

    class Scaled:
        def __init__(self, scale: float):
            self.scale = scale

        def transform(self, X: Any) -> Any:
            return self.scale * X

    for scale in (0.1, 1.0, 3.0):
        found = nca_more.by_neighbours(Scaled(scale), part)
        spread = []
        for i, x in enumerate(part.X):
            weight = np.array(
                [np.exp(-(scale**2) * np.sum((x - z) ** 2)) for z in np.delete(part.X, i, axis=0)]
            )
            p = weight / weight.sum()
            spread.append(np.exp(-np.sum(p * np.log(p))))
        assert found["suggested"] == round(np.median(spread))
    assert nca_more.by_neighbours(Scaled(100.0), part)["suggested"] == 1
    votes = [
        np.bincount(part.y[np.argsort(np.sum((part.X - x) ** 2, axis=1))[:3]]).argmax() for x in part.X_test
    ]
    assert found["at"]["3"] == np.mean(votes == part.y_test)
