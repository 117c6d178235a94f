"""The experiment on GLML: what it measures, against plain loops. Its report: `test_glml_report.py`."""

from __future__ import annotations

import itertools
import os
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.glml.instance import fit_gaussians
from validation.experiments import glml, glml_claims, glml_data, glml_learnt, glml_methods, packaged
from validation.experiments.glml_data import PANELS, Realisation, realisation
from validation.experiments.run import timed
from validation.experiments.tasks import Task
from validation.studies.fisher_metric import fisher_metrics

# Noh et al. 2010: the marks on the axes of Fig. 3, run together as its text has them, and sentences of section 6.
FIGURE = {
    "ionosphere": "1030501000.60.70.80.9# tr. data",
    "german_ida": "1001502002500.620.630.640.650.66# tr. data",
    "image_ida": "3005007009000.80.850.90.951# tr. data",
    "waveform": "200500100015000.780.80.820.840.86# tr. data",
    "twonorm": "5001000200030000.90.920.940.96# tr. data",
    "wine": "102030400.70.80.91# tr. data",
    "usps 8x8": "10030050010000.90.951# tr. data",
    "spoken": "1001802703500.550.60.650.70.75# tr. data",
}
SAID = (
    "The experiments were done on 20 data sampling realizations for Twonorm and TI46, 10 for USPS, 200 for Wine, and "
    "100 for the others. From the results shown in Fig. 3, our local metric algorithm generally outperforms most of "
    "the other metrics across most of the datasets. On quite a number of datasets, many of the other methods do not "
    "outperform the original Euclidean nearest neighbor classifier. On the other hand, the local metric derived from "
    "simple Gaussian distributions always shows a performance gain over the naive nearest neighbor classifier. In "
    "contrast, using Bayes rule with these simple Gaussian generative models often results in very poor performance. "
    "The computational time using a local metric is also very competitive. The Fisher kernel and BM are omitted for "
    "(f)~(i) and (h)~(i) respectively, since their performances are much worse than the naive nearest neighbor "
    "classifier."
)
WINE = {"sizes": [10], "largest": 20, "test": None}
CHEAP = ("LMNN", "ITML", "DML-eig")


def measured(method: str, data: str = "wine", split: int = 0, **settings: Any) -> dict[str, Any]:
    """What a task finds, as the runner gets it."""
    result = timed(glml.measure, 0, Task(data, method, split, {**WINE, **settings}))[1]
    assert result["sizes"] == settings.get("sizes", WINE["sizes"])
    methods: dict[str, Any] = result["methods"]
    return methods


def weighted(predicted: Any, drawn: Realisation) -> float:
    """Accuracy of each class, weighted by its share in the set, in a loop."""
    total = 0.0
    for c, share in enumerate(drawn.shares):
        asked = [i for i in range(len(drawn.y_test)) if drawn.y_test[i] == c]
        total += share * sum(int(predicted[i] == c) for i in asked) / len(asked)
    return total


def by_loop(X: FloatArray, y: IntArray, Q: FloatArray, metrics: Any) -> list[int]:
    """1-NN by a metric (d, d) for each query."""
    found = []
    for q, A in zip(Q, metrics, strict=True):
        found.append(int(y[np.argmin([(x - q) @ A @ (x - q) for x in X])]))
    return found


def test_generative_against_loops() -> None:
    found = measured("generative", sizes=[20])
    drawn = realisation("wine", 0, 20)
    (X, y), Q = drawn.training(20), drawn.X_test
    alpha, gamma = found["GLML"]["chosen"][0]
    eye = np.eye(13)
    local = cvxml.solve("glml", X, y, query=Q, alpha=alpha).metric
    plain = {"Euclid": by_loop(X, y, Q, [eye] * len(Q)), "GLML": by_loop(X, y, Q, local + gamma * eye)}
    for name, predicted in plain.items():
        assert found[name]["accuracy"][0] == pytest.approx(weighted(predicted, drawn), abs=1e-12), name
    assert set(found) == set(plain)
    assert found["GLML"]["gap"][0] <= glml_methods.FINAL
    assert found["GLML"]["status"] == ["CONVERGED"]


def test_densities_against_loops() -> None:
    found = measured("densities", sizes=[20])
    drawn = realisation("wine", 0, 20)
    (X, y), Q = drawn.training(20), drawn.X_test
    eye = np.eye(13)
    one, own, mixed = (found[name]["chosen"][0][0] for name in ("Fisher, one Gaussian", "Bayes", "Fisher"))
    S = np.linalg.inv(np.cov(X.T, bias=True) + one * eye)
    plain = {
        "Fisher, one Gaussian": by_loop(X, y, Q, [S] * len(Q)),
        "Bayes": by_bayes(X, y, Q, own),
        "Fisher": by_loop(X, y, Q, fisher_metrics(fit_gaussians(X, y, list("abc"), mixed), Q)),
    }
    for name, predicted in plain.items():
        assert found[name]["accuracy"][0] == pytest.approx(weighted(predicted, drawn), abs=1e-12), name
    assert set(found) == set(plain)


def by_bayes(X: FloatArray, y: IntArray, Q: FloatArray, alpha: float) -> list[int]:
    """The class of the largest density of its fitted Gaussian."""
    fitted = [
        multivariate_normal(
            X[y == c].mean(axis=0), np.cov(X[y == c].T, bias=True) + alpha * np.eye(X.shape[1])
        )
        for c in range(int(y.max()) + 1)
    ]
    return [int(np.argmax([one.logpdf(q) for one in fitted])) for q in Q]


def test_each_density_has_the_alpha_that_it_does_best_with_itself() -> None:
    drawn = realisation("wine", 1, 20)
    X, y = drawn.training(20)
    best = glml_methods.choose_alphas(X, y, 0)
    errors = []
    for alpha in glml_methods.ALPHAS:
        wrong = [
            c != q
            for (T, t), (Q, own) in glml_methods.folds(X, y)
            for c, q in zip(by_bayes(T, t, Q, alpha), own, strict=True)
        ]
        errors.append(sum(wrong) / len(wrong))
    assert len(set(errors)) > 1
    assert best["Bayes"].weight == glml_methods.ALPHAS[int(np.argmin(errors))]
    assert len({choice.weight for choice in best.values()}) > 1


@pytest.mark.slow
def test_learnt_against_the_estimators_on_the_features_themselves() -> None:
    drawn = realisation("wine", 0, 20)
    (X, y), Q = drawn.training(10), drawn.X_test
    for method in CHEAP:
        found = measured(method)[method]
        value = found["chosen"][0][0] if found["chosen"][0] else 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            A = glml_learnt.solver(method, X, y, 0)(value, 1e-6).get_mahalanobis_matrix()
        assert found["gap"][0] <= glml_methods.FINAL
        assert found["status"] == ["CONVERGED"]
        plain = by_loop(X, y, Q, [A] * len(Q))
        assert found["accuracy"][0] == pytest.approx(weighted(plain, drawn), abs=0.02)


def test_realisations() -> None:
    drawn, other = realisation("twonorm", 0, 30), realisation("twonorm", 1, 30)
    X, y = drawn.training(30)
    few, labels = drawn.training(10)
    assert np.bincount(y).tolist() == [30, 30]
    assert np.array_equal(few, X[:20])
    assert np.array_equal(labels, y[:20])
    assert not np.array_equal(X, other.training(30)[0])
    together = np.concatenate([X, drawn.X_test])
    assert len(np.unique(together, axis=0)) == len(together) == 7400
    assert drawn.shares == pytest.approx(np.bincount(cvxml.datasets.twonorm(7400, 1)[1]) / 7400)
    capped = realisation("twonorm", 0, 30, 100)
    assert np.array_equal(capped.X_test, drawn.X_test[:100])
    assert np.bincount(realisation("wine", 0, 40, 30).y_test, minlength=3).all()
    with pytest.raises(ValueError, match="48 points"):
        realisation("wine", 0, 48)


def test_waveform_has_the_two_classes_of_the_benchmark() -> None:
    X, y = glml_data.points_of("waveform", 3)
    points, three = cvxml.datasets.waveform(5000, 4)
    assert np.array_equal(X, points)
    assert y.tolist() == [int(c == 1) for c in three]


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CVXML_DATA"), reason="CVXML_DATA is not set: no USPS")
def test_usps_is_resized_by_means() -> None:
    X = cvxml.datasets.load("usps")[0]
    small = glml_data.points_of("usps 8x8", 0)[0]
    image = X[7].reshape(16, 16)
    plain = [[image[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].mean() for j in range(8)] for i in range(8)]
    assert small.shape == (9298, 64)
    assert small[7] == pytest.approx(np.ravel(plain))


@pytest.mark.parametrize("votes", [1, 3])
def test_alpha_and_gamma_are_those_of_the_estimator(monkeypatch: pytest.MonkeyPatch, votes: int) -> None:
    monkeypatch.setattr(glml_methods, "ALPHAS", (1e-2, 1.0))
    monkeypatch.setattr(glml_methods, "GAMMAS", (0.0, 0.1, 10.0))
    X, y = realisation("waveform", 2, 40).training(40)
    score = {}
    for alpha, gamma in itertools.product((1e-2, 1.0), (0.0, 0.1, 10.0)):
        folds = StratifiedKFold(glml_methods.FOLDS).split(X, y)
        score[alpha, gamma] = sum(
            cvxml.GLML(votes, gamma, alpha).fit(X[a], y[a]).score(X[b], y[b]) * len(b) for a, b in folds
        )
    assert len(set(score.values())) > 1
    found = glml_methods.choose_glml(X, y, 0, {}, votes)
    best = max(score, key=lambda pair: round(score[pair]))
    assert (found.alpha, found.gamma) == best
    assert found.error == pytest.approx(1 - score[best] / len(X))


def test_grids_of_alpha_and_gamma_go_on_until_the_best_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 20 points a class in 21 features much is to be added to a covariance."""
    X, y = realisation("waveform", 0, 20).training(20)
    monkeypatch.setattr(glml_methods, "GAMMAS", (0.0,))
    monkeypatch.setattr(glml_methods, "ALPHAS", (1e-4, 1e-1))
    short = glml_methods.choose_glml(X, y, 0, {})
    far = glml_methods.choose_glml(X, y, 6, {})
    assert short.edge
    assert not far.edge
    assert far.alpha > 1.0
    assert far.error < short.error


def test_a_vote_is_that_of_the_nearest() -> None:
    X, y, Q = np.array([[0.0], [1.0], [2.0], [10.0]]), np.array([0, 1, 1, 0]), np.array([[0.1], [9.0]])
    D = (Q - X.T) ** 2
    for votes, wanted in ((1, [0, 0]), (2, [0, 0]), (3, [1, 1])):
        assert glml_methods.nn(X, y, Q, votes).tolist() == wanted
        assert glml_methods.nn_of(D, y, votes).tolist() == wanted


def test_a_choice_is_made_once_for_one_subset() -> None:
    asked: list[int] = []

    def find(X: FloatArray, number: int) -> int:
        asked.append(number)
        return number

    X = np.arange(4.0)
    assert [glml_methods.once(find, X, 1), glml_methods.once(find, X.copy(), 1)] == [1, 1]
    assert asked == [1]
    assert [glml_methods.once(find, X + 1, 1), glml_methods.once(find, X, 2)] == [1, 2]
    assert asked == [1, 1, 2]
    rows, y = realisation("twonorm", 0, 700).training(600)
    larger = realisation("twonorm", 0, 700).training(700)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(glml_methods.subset(rows, y), glml_methods.subset(*larger), strict=True)
    )


def test_z_scores_are_those_of_the_training_points_of_the_size() -> None:
    """Accuracy of Euclid, and that test points are scaled by what was trained on."""
    found = measured("generative", "wine z-scored")
    drawn = realisation("wine z-scored", 0, 20)
    (X, y), Q = drawn.training(10), drawn.X_test
    assert np.array_equal(Q, realisation("wine", 0, 20).X_test)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    plain = by_loop((X - centre) / spread, y, (Q - centre) / spread, [np.eye(13)] * len(Q))
    assert found["Euclid"]["accuracy"][0] == pytest.approx(weighted(plain, drawn), abs=1e-12)
    assert found["Euclid"]["accuracy"] != measured("generative")["Euclid"]["accuracy"]


def test_how_much_realisations_share() -> None:
    assert glml_data.overlap("wine", 10, 40, None) == pytest.approx(58 / 30)
    assert glml_data.overlap("wine z-scored", 40, 40, 20) == pytest.approx(20 / 120)
    assert glml_data.overlap("twonorm", 500, 3000, 2000) == 0.0
    for data in ("wine", "twonorm", "waveform"):
        drawn, panel = realisation(data, 0, PANELS[data].sizes[-1]), PANELS[data]
        trained = panel.classes * panel.sizes[-1]
        assert len(drawn.classes) == panel.classes
        assert len(drawn.X_test) == panel.points - trained


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CVXML_DATA"), reason="CVXML_DATA is not set")
def test_points_and_classes_of_the_stored_sets() -> None:
    for data in ("ionosphere", "german_ida", "image_ida", "usps 8x8"):
        X, y = glml_data.points_of(data, 0)
        assert (len(X), y.max() + 1) == (PANELS[data].points, PANELS[data].classes)
    for data in ("german_ida", "image_ida"):  # so no z-scored variant
        assert glml_data.points_of(data, 0)[0].std(axis=0) == pytest.approx(1.0, abs=1e-2)


@pytest.mark.skipif("spoken" not in packaged.names(), reason=packaged.missing("spoken"))
def test_points_and_classes_of_the_spoken_digits() -> None:
    X, y = glml_data.points_of("spoken", 0)
    assert X.shape == (PANELS["spoken"].points, 10)  # "10 different filters"
    assert y.max() + 1 == PANELS["spoken"].classes
    assert np.array_equal(glml_data.points_of("spoken z-scored", 0)[0], X)


@pytest.mark.slow
def test_mixtures_boostmetric_and_plml_against_the_estimators() -> None:
    drawn = realisation("wine z-scored", 0, 20)
    (X, y), Q = drawn.training(10), drawn.X_test
    X, Q = glml_data.prepared("wine z-scored", X, y, Q)
    found = {
        method: measured(method, "wine z-scored", further=0)[method]
        for method in (glml_methods.MIXTURES, "BoostMetric", "PLML")
    }
    K, alpha, gamma = found[glml_methods.MIXTURES]["chosen"][0]
    mixed = cvxml.GLML(1, gamma, alpha, model="mixture", n_components=int(K)).fit(X, y).predict(Q)
    low, high = glml_learnt.range_of_v(X, y)
    (share,), (alpha2,) = found["BoostMetric"]["chosen"][0], found["PLML"]["chosen"][0]
    boosted = cvxml.BoostMetric(low + share * (high - low), tol=1e-6).fit(X, y)
    unit = np.sqrt(np.mean((X - X.mean(axis=0)) ** 2))
    local = cvxml.PLML(glml_learnt.ANCHORS, alpha2=alpha2, tol=1e-6).fit(X / unit, y)
    plain = {
        glml_methods.MIXTURES: mixed,
        "BoostMetric": by_loop(X, y, Q, [boosted.get_mahalanobis_matrix()] * len(Q)),
        "PLML": local.predict(Q / unit),
    }
    for method, predictions in plain.items():
        assert found[method]["accuracy"][0] == pytest.approx(weighted(predictions, drawn), abs=0.02), method
        assert found[method]["edge"][0] in (True, False)
    for method in ("BoostMetric", "PLML"):
        assert found[method]["gap"][0] <= glml_methods.FINAL


def test_where_there_is_no_metric() -> None:
    found = measured("DML-eig", sizes=[4, 10])["DML-eig"]  # 12 points in 13 features
    assert found["accuracy"][0] is None
    assert found["status"] == [None, "CONVERGED"]


def test_a_run_of_the_full_preset_has_every_set_early() -> None:
    made = glml.tasks(glml.PRESETS["full"])
    first = [task for task in made if task.split < glml.ROUND]
    assert made[: len(first)] == first
    assert {task.data for task in first} == set(glml.ALL)
    assert made[0].data == "wine"


def test_what_the_papers_print() -> None:
    for data, panel in PANELS.items():
        marks = FIGURE[data].removesuffix("# tr. data")
        sizes = (*panel.sizes, *{"usps 8x8": (1000,), "spoken": (350,)}.get(data, ()))
        assert marks.startswith("".join(map(str, sizes)) + f"{panel.axis[0]:g}")
        assert marks.endswith(f"{panel.axis[1]:g}")
    by_set = {"twonorm": 20, "spoken": 20, "usps 8x8": 10, "wine": 200}
    assert {data: panel.realisations for data, panel in PANELS.items()} == {
        data: by_set.get(data, 100) for data in PANELS
    }
    for text in [*(claim.said for claim in glml_claims.CLAIMS.values()), glml_claims.TIME.said]:
        for quoted in text.split('"')[1::2]:
            assert quoted in SAID
