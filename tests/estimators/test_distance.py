"""The distance of a fitted estimator: its values, its copies in files, and what it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml.estimators.base import MetricEstimator
from cvxml.estimators.baselines import Euclidean, WithinClass
from tests.instances import random_data

X, Y = random_data(9, n=30, d=3)
QUERIES = np.random.default_rng(5).standard_normal((12, 3))
# A full metric, one of limited rank, one of a kernel's features, and two without a solver.
MODELS: list[MetricEstimator] = [
    cvxml.MLSVM(n_neighbors=2),
    cvxml.LFDA(1, alpha=0.1),
    cvxml.KernelMLSVM(n_neighbors=2),
    Euclidean(),
    WithinClass(shrinkage=0.1),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)


@each_model
def test_it_is_the_distance_of_transformed_points(model: MetricEstimator) -> None:
    fitted = clone(model).fit(X, Y)
    distance, Z = fitted.get_metric(), fitted.transform(X)
    pairs = np.stack([X[:15], X[15:]], axis=1)
    expected = np.sqrt(((Z[:15] - Z[15:]) ** 2).sum(axis=1))
    np.testing.assert_allclose([distance(u, v) for u, v in pairs], expected, rtol=1e-9)
    np.testing.assert_allclose([distance(u, v, squared=True) for u, v in pairs], expected**2, rtol=1e-9)
    assert distance(X[0].tolist(), X[1], squared=False) == distance(X[0], X[1])
    np.testing.assert_allclose(fitted.pair_distance(pairs), expected, rtol=1e-9)
    np.testing.assert_array_equal(fitted.pair_score(pairs), -fitted.pair_distance(pairs))


@pytest.mark.parametrize("algorithm", ["brute", "ball_tree"])
@each_model
def test_a_classifier_with_it_is_saved_and_loaded(
    model: MetricEstimator, algorithm: str, tmp_path: Path
) -> None:
    """Neighbours in the learnt metric are the Euclidean neighbours of the transformed points."""
    fitted = clone(model).fit(X, Y)
    classifier = KNeighborsClassifier(3, metric=fitted.get_metric(), algorithm=algorithm).fit(X, Y)
    plain = KNeighborsClassifier(3, algorithm="brute").fit(fitted.transform(X), Y)
    expected = plain.kneighbors(fitted.transform(QUERIES))
    joblib.dump(classifier, tmp_path / "classifier.joblib")
    for again in (pickle.loads(pickle.dumps(classifier)), joblib.load(tmp_path / "classifier.joblib")):
        distances, indices = again.kneighbors(QUERIES)
        np.testing.assert_allclose(distances, expected[0], rtol=1e-6)
        np.testing.assert_array_equal(indices, expected[1])
        np.testing.assert_array_equal(again.predict(QUERIES), plain.predict(fitted.transform(QUERIES)))


@each_model
def test_another_fit_does_not_change_it(model: MetricEstimator) -> None:
    fitted = clone(model).fit(X, Y)
    distance = fitted.get_metric()
    before = distance(X[0], X[1])
    fitted.fit(3.0 * X[::2] + 1.0, Y[::2])
    fitted.components_[...] = 7.0
    assert distance(X[0], X[1]) == before


@pytest.mark.parametrize(
    "bad",
    [np.zeros(2), np.zeros(4), np.zeros((1, 3)), np.zeros((3, 1)), 0.0, [], np.zeros((3, 3))],
    ids=np.shape,
)
def test_what_is_not_one_point_is_refused(bad: Any) -> None:
    distance = cvxml.MLSVM(n_neighbors=2).fit(X, Y).get_metric()
    with pytest.raises(ValueError, match=r"^u .*\(3,\)"):
        distance(bad, X[0])
    with pytest.raises(ValueError, match=r"^v .*\(3,\)"):
        distance(X[0], bad)
