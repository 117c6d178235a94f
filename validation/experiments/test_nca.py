"""The experiment on NCA: what it measures, against plain loops; what its report says of hand-made results."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray
from validation.experiments import nca
from validation.experiments.run import timed
from validation.experiments.splits import Split
from validation.experiments.tasks import Result, Task


def measured(data: str, method: str, split: int = 0, **settings: Any) -> Result:
    """The result of a task, as the runner gets it, without the seconds."""
    result = timed(nca.measure, 0, Task(data, method, split, settings))[1]
    del result["seconds"]
    return result


def plain_accuracy(metric: FloatArray, part: Split) -> dict[str, float]:
    """Of 1-NN under a metric (d, d), in a loop."""

    def right(queries: FloatArray, labels: Any, itself: bool) -> float:
        count = 0
        for i, x in enumerate(queries):
            difference = part.X - x
            distance = np.sum((difference @ metric) * difference, axis=1)
            if itself:
                distance[i] = np.inf
            count += int(part.y[np.argmin(distance)] == labels[i])
        return count / len(queries)

    return {"train": right(part.X, part.y, True), "test": right(part.X_test, part.y_test, False)}


def plain_f(A: FloatArray, part: Split) -> float:
    """f / n by its definition."""
    points, total = part.X @ A.T, 0.0
    for i in range(len(points)):
        weight = -np.sum((points - points[i]) ** 2, axis=1)
        weight[i] = -np.inf
        p = np.exp(weight - weight.max())
        total += p[part.y == part.y[i]].sum() / p.sum()
    return float(total / len(points))


def wine(split: int = 0) -> Split:
    """The first 70 % to train on, z-scored by hand."""
    X, y = datasets.load("wine")
    order = np.random.RandomState(split).permutation(len(y))
    train, test = order[:124], order[124:]
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    return Split((X[train] - mean) / spread, y[train], (X[test] - mean) / spread, y[test])


def test_euclid_whitened_and_within_classes_are_what_they_are_called() -> None:
    part = wine()
    assert measured("wine", "Euclid") == plain_accuracy(np.eye(13), part)
    covariance = np.cov(part.X.T)
    assert measured("wine", "whitened") == plain_accuracy(np.linalg.inv(covariance), part)
    within = sum(np.cov(part.X[part.y == c].T, ddof=0) * np.sum(part.y == c) for c in range(3)) / 124
    assert measured("wine", "RCA") == plain_accuracy(np.linalg.inv(within), part)


def test_pca_and_lda_are_what_they_are_called() -> None:
    part = wine()
    values, vectors = np.linalg.eigh(np.cov(part.X.T))
    assert values[-2] > values[-3]
    assert measured("wine", "PCA 2") == plain_accuracy(vectors[:, -2:] @ vectors[:, -2:].T, part)
    # all directions of LDA: the metric within classes on the span of the class means
    within = sum(np.cov(part.X[part.y == c].T, ddof=0) * np.sum(part.y == c) for c in range(3)) / 124
    means = np.array([part.X[part.y == c].mean(axis=0) for c in range(3)]) - part.X.mean(axis=0)
    root = np.linalg.cholesky(np.linalg.inv(within))
    basis = np.linalg.svd(means @ root)[2][:2]
    assert measured("wine", "LDA 2") == plain_accuracy(root @ basis.T @ basis @ root.T, part)


@pytest.mark.quick(1)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "rank"), [("NCA", None), ("NCA 2", 2)])
def test_nca(method: str, rank: int | None) -> None:
    part = wine(1)
    starts = nca.STARTS[method]
    found = measured("wine", method, 1, starts=list(starts))
    assert list(found["starts"]) == list(starts)
    for start in starts:
        model = cvxml.NCA(rank, init=start).fit(part.X, part.y)
        of_start = found["starts"][start]
        assert of_start["f"] == pytest.approx(plain_f(model.components_, part), abs=1e-8)
        assert {name: of_start[name] for name in ("train", "test")} == plain_accuracy(
            model.get_mahalanobis_matrix(), part
        )
        assert of_start["status"] == model.solution_.status.name
    best = max(round(run["f"], 4) for run in found["starts"].values())
    assert found["start"] == next(start for start in starts if round(found["starts"][start]["f"], 4) == best)
    assert found["train"] == found["starts"][found["start"]]["train"]
    assert found["test"] == found["starts"][found["start"]]["test"]


# --- data ---


def test_splits() -> None:
    part = nca.split_of("balance", 2)
    assert part.X.shape == (437, 4)
    assert part.X_test.shape == (188, 4)
    assert part.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert part.X.std(axis=0) == pytest.approx(1)
    rings = nca.split_of("rings", 2)
    assert rings.X.shape == (280, 3)
    radius = np.hypot(rings.X[:, 0], rings.X[:, 1])  # not scaled
    assert np.abs(radius - rings.y - 1).max() < 0.5
    assert rings.X[:, 2].std() == pytest.approx(4, rel=0.15)


def test_digits() -> None:
    y = np.repeat([0, 1], 720)
    X = np.arange(1440.0)[:, None]
    part = nca.digits(X, y, 5)
    assert Counter(part.y.tolist()) == {0: 200, 1: 200}
    assert Counter(part.y_test.tolist()) == {0: 500, 1: 500}
    rows = np.concatenate([part.X[:, 0], part.X_test[:, 0]]).astype(int)
    assert len(set(rows)) == 1400
    assert y[rows].tolist() == [*part.y.tolist(), *part.y_test.tolist()]
    assert not np.array_equal(nca.digits(X, y, 6).X, part.X)


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        ("housing", {0: 169, 1: 171, 2: 166}),
        pytest.param("usps", {8: 708, 5: 716}, marks=pytest.mark.slow),  # seconds to read on a busy machine
    ],
)
def test_classes(data: str, counts: dict[int, int]) -> None:
    if data not in datasets.names():
        pytest.skip("CVXML_DATA names no folder with the papers' data sets")
    found = Counter(nca.labelled(data)[1].tolist())
    assert {c: found[c] for c in counts} == counts
    assert min(found.values()) == min(counts.values())
