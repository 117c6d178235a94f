"""The classifier of PLML: its metrics at queries, its vote by loops, both certificates."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import cvxml
from tests.instances import random_data, real_data


def test_a_query_has_the_weights_of_its_nearest_training_point() -> None:
    X, y = random_data(4, n=60, d=3)
    names = np.array(list("abc"))[y]
    model = cvxml.PLML(2, 2, n_votes=3, alpha1=10.0).fit(X[::2], names[::2])
    assert model.metrics_.shape == (2, 3, 3)
    assert model.anchors_.shape == (2, 3)
    assert model.weights_.shape == (30, 2)
    np.testing.assert_array_equal(model.weights_at(X[::2]), model.weights_)
    metrics, found = model.metric_at(X[1::2]), model.kneighbors(X[1::2])[1]
    for q, x in enumerate(X[1::2]):
        nearest = np.argmin(np.sum((X[::2] - x) ** 2, axis=1))
        M = sum(share * own for share, own in zip(model.weights_[nearest], model.metrics_, strict=True))
        np.testing.assert_allclose(metrics[q], M, atol=1e-12)
        D = np.array([(other - x) @ M @ (other - x) for other in X[::2]])
        np.testing.assert_array_equal(found[q], np.argsort(D, kind="stable")[:3])
        votes = names[::2][found[q]].tolist()
        most = max(votes.count(c) for c in votes)
        assert model.predict(X[1::2][q : q + 1])[0] == next(c for c in votes if votes.count(c) == most)


def test_it_solves_what_its_parameters_say_and_proves_both() -> None:
    X, y = real_data("iris", 60)
    model = cvxml.PLML(3, 2, alpha1=2.0, alpha2=0.5, lam1=0.1, lam2=1.0, graph_neighbors=4, random_state=1)
    model.fit(X, y)
    params = {"alpha1": 2.0, "alpha2": 0.5, "lam1": 0.1, "lam2": 1.0, "graph_neighbors": 4, "random_state": 1}
    asked = cvxml.solve("plml", X, y, n_anchors=3, n_neighbors=2, **params)
    np.testing.assert_array_equal(model.solution_.metric, asked.metric)
    assert model.solution_.params == asked.params
    assert model.certificate_.proves(1e-6)
    assert model.weights_certificate_.proves(1e-6)
    assert model.gap_ == asked.gap
    assert model.score(X, y) == 1.0  # each point is its own nearest
    half = clone(model).fit(X[::2], y[::2])
    assert half.score(X[1::2], y[1::2]) > 0.85


def test_anchors_may_be_given_and_too_many_votes_are_refused() -> None:
    X, y = real_data("iris", 30)
    given = cvxml.PLML(n_neighbors=1, anchors=X[[0, 12, 25]]).fit(X, y)
    np.testing.assert_array_equal(given.anchors_, X[[0, 12, 25]])
    with pytest.raises(ValueError, match=r"n_votes.*\b31\b.*\b30\b"):
        cvxml.PLML(n_neighbors=1, n_votes=31).fit(X, y)


def test_the_defaults_are_those_of_the_method() -> None:
    X, y = random_data(4, n=30, d=2)
    assert cvxml.PLML().fit(X, y).solution_.params == cvxml.solve("plml", X, y).params


def test_votes_that_are_changed_after_the_fit_are_refused_by_their_name() -> None:
    X, y = real_data("iris", 30)
    model = cvxml.PLML(2, 1).fit(X, y)
    for votes in (31, 0, 2.5):
        with pytest.raises(ValueError, match=r"^n_votes"):
            model.set_params(n_votes=votes).predict(X)
    with pytest.raises(ValueError, match=r"^n_neighbors"):
        model.set_params(n_votes=1).kneighbors(X, n_neighbors=31)
    assert model.set_params(n_neighbors=1000).predict(X).shape == (30,)  # a parameter of the fit alone
