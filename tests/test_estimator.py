"""The estimators under scikit-learn's own checks, and in the places where people use estimators."""

from __future__ import annotations

import pickle
from typing import Any

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
from cvxml.estimator import MetricEstimator
from tests.instances import random_data, real_data

ESTIMATORS = [
    cvxml.MLSVM(),
    cvxml.KernelMLSVM(),
    cvxml.Gerrymandering(),
    cvxml.LMNN(n_neighbors=1),
    cvxml.ITML(),
    cvxml.MCML(),
    cvxml.MMC(),
    cvxml.DMLEig(),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
GRIDS: dict[str, dict[str, list[Any]]] = {
    "MLSVM": {"lam": [0.01, 1.0]},
    "KernelMLSVM": {"lam": [0.01, 1.0]},
    "Gerrymandering": {"C": [0.01, 1.0]},
    "LMNN": {"mu": [0.1, 0.5]},
    "ITML": {"gamma": [0.1, 1.0]},
    "MCML": {"tol": [1e-6, 1e-4]},
    "MMC": {"diagonal": [False, True]},
    "DMLEig": {"tol": [1e-6, 1e-4]},
}


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


@every_estimator
def test_distances_are_those_of_the_transformed_points(estimator: MetricEstimator) -> None:
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


@every_estimator
def test_pipeline_grid_search_and_set_output(estimator: MetricEstimator) -> None:
    X, y = real_data("iris", 60)
    pipeline = make_pipeline(StandardScaler(), clone(estimator), KNeighborsClassifier(4))
    name = type(estimator).__name__.lower()
    grid = {f"{name}__{parameter}": values for parameter, values in GRIDS[type(estimator).__name__].items()}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    columns = clone(estimator).fit(X, y).get_feature_names_out()
    assert columns[0] == f"{name}0"


@every_estimator
def test_clone_and_pickle(estimator: MetricEstimator) -> None:
    X, y = real_data("iris", 40)
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert clone(model).get_params() == model.get_params()


@every_estimator
def test_it_always_warns_when_not_certified(estimator: MetricEstimator) -> None:
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


def test_gerrymandering_predicts_by_the_vote_of_the_paper() -> None:
    """k nearest in the learnt metric, by loops; a tied vote goes to the nearest tied class."""
    X, y = random_data(4, n=80)
    names = np.array(list("abcdef"))[y]
    model = cvxml.Gerrymandering(n_neighbors=2, C=0.05).fit(X[::2], names[::2])
    W, ties = model.get_mahalanobis_matrix(), 0
    for x, predicted in zip(X[1::2], model.predict(X[1::2]), strict=True):
        D = [(x - other) @ W @ (x - other) for other in X[::2]]
        nearest = names[::2][np.argsort(D, kind="stable")[:2]].tolist()
        most = max(nearest.count(c) for c in nearest)
        ties += sum(nearest.count(c) == most for c in set(nearest)) > 1
        assert predicted == next(c for c in nearest if nearest.count(c) == most)
    assert ties > 0
    X, y = real_data("iris", 90)
    assert cvxml.Gerrymandering(C=0.05).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    assert model.certificate_.kind == "stationary"
    assert model.step_gap_ <= 1e-4 * model.certificate_.scale


LAM = [[0, 1, 2], [1, 0, 3], [0.5, 1, 0]]
ASKED: list[tuple[MetricEstimator, str, dict[str, Any]]] = [
    (cvxml.MLSVM(0.7, 3, neighborhood="per-class"), "mlsvm",
     {"lam": 0.7, "n_neighbors": 3, "neighborhood": "per-class"}),
    (cvxml.KernelMLSVM(0.7, 3, kernel="rbf", gamma=0.4), "kernel_mlsvm",
     {"lam": 0.7, "n_neighbors": 3, "kernel": "rbf", "gamma": 0.4}),
    (cvxml.KernelMLSVM(0.7, degree=3), "kernel_mlsvm", {"lam": 0.7, "degree": 3}),
    (cvxml.Gerrymandering(1, 0.3, loss_matrix=LAM, init="random", random_state=3), "ssvm",
     {"n_neighbors": 1, "C": 0.3, "loss_matrix": LAM, "init": "random", "random_state": 3}),
    (cvxml.NCA(2, criterion="g", init="random", random_state=3), "nca",
     {"n_components": 2, "criterion": "g", "init": "random", "random_state": 3}),
    (cvxml.LMNN(0.2, 2), "lmnn", {"mu": 0.2, "n_neighbors": 2}),
    (cvxml.LMNN(0.2, 2, squared_hinge=True), "lmnn:squared_hinge", {"mu": 0.2, "n_neighbors": 2}),
    (cvxml.ITML(0.3, prior="covariance", bounds=(0.5, 4.0)), "itml",
     {"gamma": 0.3, "prior": "covariance", "bounds": (0.5, 4.0)}),
    (cvxml.MMC(True), "mmc:diagonal", {}),
    (cvxml.MMC(), "mmc", {}),
    (cvxml.MCML(), "mcml", {}),
    (cvxml.DMLEig(), "dml_eig", {}),
    (cvxml.ITML(solver="clarabel", tol=1e-3), "itml", {"solver": "clarabel"}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "method", "params"), ASKED, ids=lambda value: str(value)[:40])
def test_an_estimator_solves_what_its_parameters_say(
    estimator: MetricEstimator, method: str, params: dict[str, Any]
) -> None:
    X, y = real_data("iris", 40)
    found = clone(estimator).fit(X, y).solution_
    asked = cvxml.solve(method, X, y, tol=estimator.tol, max_iter=estimator.max_iter, **params)
    assert (found.method, found.solver) == (method, asked.solver)
    np.testing.assert_array_equal(found.metric, asked.metric)
