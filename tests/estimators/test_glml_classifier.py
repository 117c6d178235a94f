"""GLML: distances by local metrics, the classifier, models and parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cvxml
from cvxml.estimators.local import nearest, squared_distances
from cvxml.methods.glml import definitions
from cvxml.methods.glml.instance import Generative
from cvxml.methods.glml.solver import curvature
from tests.instances import real_data
from tests.methods.glml.local_metrics import Student, classes, random_unit

# distances and the classifier


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_by_local_metrics_are_those_of_the_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 4, (40, 3)).astype(float) + 100.0, rng.integers(0, 4, (7, 3)).astype(float) + 100.0
    A = np.array([random_unit(rng, 3) for _ in range(7)])
    slow = np.array([[(x - q) @ M @ (x - q) for x in X] for q, M in zip(Q, A, strict=True)])
    np.testing.assert_allclose(squared_distances(X, Q, A), slow, atol=1e-10)
    D, J = nearest(X, Q, A, 5)
    np.testing.assert_allclose(D, np.sort(slow, axis=1)[:, :5], atol=1e-10)
    np.testing.assert_allclose(np.take_along_axis(slow, J, axis=1), D, atol=1e-10)


def test_equal_points_come_in_the_order_of_their_index() -> None:
    X = np.zeros((30, 2))
    _, J = nearest(X, np.ones((1, 2)), np.eye(2)[None], 4)
    assert J.tolist() == [[0, 1, 2, 3]]


def test_metrics_have_determinant_1_before_gamma() -> None:
    X, y = real_data("iris", 60)
    model = cvxml.GLML(alpha=0.01).fit(X, y)
    np.testing.assert_allclose(np.linalg.det(model.metric_at(X[:5])), 1.0, rtol=1e-6)
    regular = cvxml.GLML(alpha=0.01, gamma=3.0).fit(X, y)
    np.testing.assert_allclose(regular.metric_at(X[:5]), model.metric_at(X[:5]) + 3.0 * np.eye(4), atol=1e-9)


def test_a_large_gamma_is_the_euclidean_metric() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    X, y = real_data("wine", 120)
    euclid = KNeighborsClassifier(1).fit(X[:80], y[:80]).predict(X[80:])
    np.testing.assert_array_equal(
        cvxml.GLML(gamma=1e12, alpha=0.1).fit(X[:80], y[:80]).predict(X[80:]), euclid
    )


@pytest.mark.slow
def test_batches_processes_and_the_whole_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = real_data("iris", 90)
    whole = cvxml.GLML(3, alpha=0.1).fit(X[:60], y[:60])
    distances, indices = whole.kneighbors(X[60:])
    import sys

    monkeypatch.setattr(sys.modules["cvxml.estimators.local"], "BYTES", 8 * 4 * (60 + 64) * 7)
    assert len(whole._each(X[60:], lambda Q: len(Q))) == 5
    some, same = whole.kneighbors(X[60:])
    np.testing.assert_allclose(some, distances, rtol=1e-12)
    np.testing.assert_array_equal(same, indices)
    shared = cvxml.GLML(3, alpha=0.1, n_jobs=2).fit(X[:60], y[:60]).kneighbors(X[60:])[1]
    np.testing.assert_array_equal(shared, indices)


@pytest.mark.parametrize("far", [1.0, 1e6, 1e9, 1e12])
def test_the_nearest_points_are_those_of_all_distances(far: float) -> None:
    """Equal ones by index, and also if one far point makes the rounding error of a product larger than distances."""
    rng = np.random.default_rng(0)
    X, Q, roots = rng.standard_normal((120, 2)), rng.standard_normal((4, 2)), rng.standard_normal((4, 2, 2))
    X[7], X[50:80], Q[3] = far, X[40], X[40]
    A = roots @ roots.transpose(0, 2, 1)
    distances, indices = nearest(X, Q, A, 5)
    every = np.array([[(x - q) @ a @ (x - q) for x in X] for q, a in zip(Q, A, strict=True)])
    np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :5], rtol=1e-9)
    np.testing.assert_array_equal(indices[3], [40, 50, 51, 52, 53])
    np.testing.assert_allclose(np.take_along_axis(every, indices, axis=1), distances, rtol=1e-9)


def test_a_model_of_ones_own() -> None:
    X, y = real_data("iris", 60)
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    own = Student(means)
    assert isinstance(own, Generative)
    model = cvxml.GLML(model=own, gamma=0.1).fit(X[:40], y[:40])
    assert model.score(X, y) > 0.8
    B = curvature(own, X[:1]).B[0]
    slow = definitions.B_pairwise(own.log_densities(X[:1])[0], own.curvatures(X[:1])[0])
    np.testing.assert_allclose(B, slow / np.linalg.norm(slow), atol=1e-12)


def test_errors_say_what_is_wrong() -> None:
    X, y = real_data("iris", 30)
    flat = np.column_stack([X, X[:, :1]])
    with pytest.raises(ValueError, match=r"class.*4 of 5.*alpha"):
        cvxml.GLML().fit(flat, y)
    assert cvxml.GLML(alpha=0.1).fit(flat, y).score(flat, y) > 0.8
    with pytest.raises(ValueError, match=r"class '7'.*one point"):
        cvxml.GLML(alpha=0.1).fit(X, np.r_[7, np.arange(29) % 2])
    with pytest.raises(ValueError, match="expecting 4 features"):
        cvxml.GLML(alpha=0.1).fit(X, y).predict(X[:, :3])
    for wrong, says in (
        ({"gamma": -1.0}, "^gamma"),
        ({"alpha": -0.1}, "^alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 31}, "n_neighbors"),
        ({"priors": [1, 2]}, r"^priors.*\b3\b"),
        ({"priors": [1, 2, -1]}, r"^priors.*\b3 positive"),
        ({"priors": "uniform"}, "^priors.*None"),
        ({"model": "kde"}, "^model"),
        ({"model": object()}, "^model"),
        ({"model": "mixture", "n_components": 0}, "n_components"),
        ({"model": "mixture", "n_components": 20}, "n_components"),
    ):
        with pytest.raises(ValueError, match=says):
            cvxml.GLML(**{"alpha": 0.1, **wrong}).fit(X, y)


@pytest.mark.parametrize(
    ("s", "model"),
    [
        *((s, "gaussian") for s in (2.0**-200, 1e-3, 1e5, 2.0**200)),
        # scikit-learn adds 1e-6 to a covariance, in units that are a power of two
        *((s, "mixture") for s in (2.0**-200, 2.0**10, 2.0**200)),
    ],
)
def test_units_do_not_matter(s: float, model: str) -> None:
    X, y = classes(0)
    one = cvxml.solve("glml", X, y, query=X[:4] + 0.1, alpha=0.1, model=model)
    other = cvxml.solve("glml", s * X, y, query=s * (X[:4] + 0.1), alpha=0.1 * s * s, model=model)
    np.testing.assert_allclose(other.metric, one.metric, rtol=1e-6)
    assert other.objective == pytest.approx(one.objective, rel=1e-6, abs=1e-12)
    log_p = [
        cvxml.evaluate(
            "glml", t * X, y, one.metric[0], query=t * (X[0] + 0.1), alpha=0.1 * t * t, model=model
        ).log_p
        for t in (1.0, s)
    ]
    np.testing.assert_allclose(log_p[1], log_p[0] - 3 * math.log(s), rtol=1e-9)


def test_what_overflows_is_said() -> None:
    X, y = classes(0)
    with pytest.raises(ValueError, match="query 1 "):
        cvxml.solve("glml", X, y, query=[X[0], 1e200 * np.ones(3)])
    with pytest.raises(ValueError, match=r"alpha=1e\+200"):
        cvxml.solve("glml", X, y, alpha=1e200)


def test_priors_enter_B() -> None:
    X, y = classes(0)
    equal = cvxml.GLML().fit(X, y).metric_at(X[:3])
    given = cvxml.GLML(priors=[0.98, 0.01, 0.01]).fit(X, y).metric_at(X[:3])
    assert not np.allclose(equal, given, rtol=1e-3)
    np.testing.assert_allclose(cvxml.GLML(priors="empirical").fit(X, y).metric_at(X[:3]), equal, rtol=1e-9)


def test_distances_and_votes_of_several_neighbours_are_those_of_the_loop() -> None:
    X, y = real_data("iris", 120)
    X = X[:, :2]  # classes overlap
    model = cvxml.GLML(5, gamma=0.5, alpha=0.1).fit(X[:60], y[:60])
    distances, near = model.kneighbors(X[60:])
    said = model.predict(X[60:])
    for i, (q, A) in enumerate(zip(X[60:], model.metric_at(X[60:]), strict=True)):
        slow = np.sqrt([(x - q) @ A @ (x - q) for x in X[:60]])
        np.testing.assert_allclose(distances[i], np.sort(slow)[:5], rtol=1e-9)
        votes = y[:60][near[i]].tolist()
        most = max(map(votes.count, votes))
        assert said[i] == next(c for c in votes if votes.count(c) == most)
    assert (said != y[:60][near[:, 0]]).any()


def test_parameters_that_are_changed_after_the_fit_are_refused_by_their_name() -> None:
    X, y = real_data("iris", 30)
    model = cvxml.GLML(alpha=0.1).fit(X, y)
    for name, values in {"gamma": (-1.0, "x", None, np.nan), "n_neighbors": (31, 0, 2.5)}.items():
        for value in values:
            with pytest.raises(ValueError, match=f"^{name}"):
                cvxml.GLML(alpha=0.1).fit(X, y).set_params(**{name: value}).predict(X)
    assert model.set_params(gamma=1e9).predict(X).shape == (30,)
