"""`cvxml.PairClassifier`: a threshold on the learnt distance, with the interface of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.pair_classifier import CRITERIA, best_threshold
from tests.instances import random_data

SCORES = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score, "f1": f1_score}


def is_learner_of_pairs(of: Any) -> bool:
    return isinstance(of, type) and issubclass(of, PairsEstimator)


PUBLIC = [getattr(cvxml, name) for name in cvxml.__all__ if name.isalpha()]
LEARNERS = [*(each() for each in PUBLIC if is_learner_of_pairs(each)), cvxml.MMC(diagonal=True)]


def drawn(count: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (count, 2, 3) and their sides (count,)."""
    X, labels = random_data(seed, n=24, d=3)
    every = np.stack(np.triu_indices(len(X), 1), axis=1)
    chosen = np.random.default_rng(seed).choice(every, count, replace=False)
    return X[chosen], np.where(labels[chosen[:, 0]] == labels[chosen[:, 1]], 1, -1)


PAIRS, Y = drawn()


def test_the_learners_of_pairs_are_found() -> None:
    assert {cvxml.ITML, cvxml.MMC, cvxml.SDML, cvxml.GMML, cvxml.LDML, cvxml.DMLEig} <= {*map(type, LEARNERS)}


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_learner_of_pairs_becomes_a_classifier(learner: Any) -> None:
    model = cvxml.PairClassifier(learner, "balanced_accuracy").fit(PAIRS, Y)
    predicted, distances = model.predict(PAIRS), model.estimator_.pair_distance(PAIRS)
    assert {*predicted} == {1, -1}
    assert np.array_equal(predicted == 1, distances <= model.threshold_)
    assert np.array_equal(predicted == 1, model.decision_function(PAIRS) >= 0)
    assert model.score(PAIRS, Y) == accuracy_score(Y, predicted)
    assert model.estimator_.certificate_.proves(1e-6)
    assert not hasattr(learner, "components_")


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(8))
def test_no_threshold_has_a_better_criterion(criterion: str, seed: int) -> None:
    """The twin tries every threshold with scikit-learn's functions. Small integers give ties."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 6, 15).astype(float) if seed % 2 else rng.random(15)
    similar = np.r_[True, False, rng.random(13) < [0.4, 0.0, 1.0][seed % 3]]
    y = np.where(similar, 1, -1)

    def value(threshold: float) -> float:
        return float(SCORES[criterion](y, np.where(distances <= threshold, 1, -1)))

    found = best_threshold(distances, similar, criterion)
    assert value(found) == pytest.approx(max(map(value, [-1.0, *distances])))


def test_it_is_calibrated_on_other_pairs() -> None:
    model = cvxml.PairClassifier(cvxml.GMML()).fit(PAIRS, Y)
    metric, first = model.estimator_, model.threshold_
    others, sides = drawn(seed=5)
    assert model.calibrate(others, sides) is model
    assert model.estimator_ is metric
    assert model.threshold_ == best_threshold(metric.pair_distance(others), sides == 1, "accuracy")
    assert model.calibrate(PAIRS, Y).threshold_ == first


def test_a_pair_given_twice_counts_once_for_the_metric() -> None:
    twice, sides = np.concatenate([PAIRS, PAIRS[:7, ::-1]]), np.r_[Y, Y[:7]]
    models = [cvxml.PairClassifier(cvxml.GMML()).fit(*given) for given in ((PAIRS, Y), (twice, sides))]
    metrics = [model.estimator_.get_mahalanobis_matrix() for model in models]
    assert np.allclose(*metrics, rtol=1e-8)


def test_scikit_learn_searches_validates_clones_and_pickles_it() -> None:
    model = cvxml.PairClassifier(cvxml.GMML())
    search = GridSearchCV(model, {"estimator__mu": [0.0, 1.0], "criterion": CRITERIA}, cv=3).fit(PAIRS, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(model, PAIRS, Y, scoring="roc_auc", cv=3)
    assert np.isfinite(scores).all()
    fitted = clone(model).fit(PAIRS, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(PAIRS), fitted.predict(PAIRS))
    assert roc_auc_score(Y, fitted.decision_function(PAIRS)) == roc_auc_score(
        Y, fitted.estimator_.pair_score(PAIRS)
    )


@pytest.mark.parametrize(
    ("pairs", "y", "words"),
    [
        (PAIRS, np.ones(len(Y)), "one kind"),
        (PAIRS, Y[:-1], "60"),
        (PAIRS[:, 0], Y, "shape"),
        (PAIRS, np.where(Y == 1, 1, 0), "-1"),
        (np.concatenate([PAIRS, PAIRS[:1]]), np.r_[Y, -Y[0]], "similar"),
    ],
)
def test_bad_pairs_are_refused(pairs: Any, y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cvxml.PairClassifier(cvxml.ITML()).fit(pairs, y)


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ValueError, match="accuracy"):
        cvxml.PairClassifier(cvxml.GMML(), criterion="auc").fit(PAIRS, Y)


@pytest.mark.parametrize("wrong", [cvxml.LMNN(), cvxml.ITML, "itml", KNeighborsClassifier(), None])
def test_an_estimator_that_does_not_learn_from_pairs_is_refused(wrong: Any) -> None:
    pairs = np.random.default_rng(0).standard_normal((6, 2, 3))
    with pytest.raises(ValueError, match=r"^estimator "):
        cvxml.PairClassifier(wrong).fit(pairs, [1, -1, 1, -1, 1, -1])


def test_pairs_of_one_kind_are_refused_before_the_metric_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cvxml.ITML, "_solve", None)
    pairs = np.random.default_rng(0).standard_normal((6, 2, 3))
    with pytest.raises(ValueError, match=r"^y "):
        cvxml.PairClassifier(cvxml.ITML()).fit(pairs, [1] * 6)
