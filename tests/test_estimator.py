"""The estimators under scikit-learn's own checks, and in the places where people use estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import cvxml
from tests.instances import real_data

ESTIMATORS = [cvxml.MLSVM(), cvxml.KernelMLSVM()]
both = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


@both
def test_distances_are_those_of_the_transformed_points(estimator: cvxml.MLSVM) -> None:
    X, y = real_data("iris", 40)
    model = clone(estimator).fit(X, y)
    Z = model.transform(X)
    pairs = np.stack([X[:20], X[20:]], axis=1)
    expected = np.linalg.norm(Z[:20] - Z[20:], axis=1)
    np.testing.assert_allclose(model.pair_distance(pairs), expected, rtol=1e-9)
    distance = model.get_metric()
    assert distance(X[0], X[20]) == pytest.approx(expected[0])
    assert model.gap_ == model.certificate_.gap
    M = model.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, M.T, atol=1e-12)


def test_the_mahalanobis_matrix_is_the_certified_metric() -> None:
    X, y = real_data("wine", 60)
    model = cvxml.MLSVM(lam=0.1).fit(X, y)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), model.solution_.metric, atol=1e-12)
    assert cvxml.check("mlsvm", X, y, components=model.components_, lam=0.1).verdict.value == "certified"


@both
def test_pipeline_grid_search_and_set_output(estimator: cvxml.MLSVM) -> None:
    X, y = real_data("iris", 60)
    pipeline = make_pipeline(StandardScaler(), clone(estimator), KNeighborsClassifier(4))
    name = type(estimator).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__lam": [0.01, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    columns = clone(estimator).fit(X, y).get_feature_names_out()
    assert columns[0] == f"{name}0"


@both
def test_clone_and_pickle(estimator: cvxml.MLSVM) -> None:
    X, y = real_data("iris", 40)
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert clone(model).get_params() == model.get_params()


@both
def test_it_always_warns_when_not_certified(estimator: cvxml.MLSVM) -> None:
    X, y = real_data("iris", 60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        clone(estimator).set_params(max_iter=1, tol=1e-9).fit(X, y)


def test_warm_start_continues() -> None:
    X, y = real_data("wine", 80)
    model = cvxml.MLSVM(lam=0.1, warm_start=True, tol=1e-8).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert first > 1
    assert model.solution_.n_iter == 0


def test_pairs_of_the_wrong_shape() -> None:
    X, y = real_data("iris", 40)
    model = cvxml.MLSVM().fit(X, y)
    with pytest.raises(ValueError, match="pairs must have shape"):
        model.pair_distance(X)
