"""The mistakes that people make with ITML, made here, and what `check` says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from tests.instances import assert_named, own_misreadings, random_data
from tests.methods.itml.problems import FEW, N0, PAIRS0, PRIOR0, X1, Y1


def bounds_of_metric_learn(X: FloatArray) -> tuple[float, float]:
    distinct = np.unique(X, axis=0)
    u, l = np.percentile(np.linalg.norm(distinct[:, None] - distinct, axis=2), (5, 95))
    return float(u), float(l)


def as_metric_learn(X: FloatArray, pairs: dict[str, Any], gamma: float) -> FloatArray:
    """What that package computes: bounds from the full matrix of plain distances between distinct points."""
    u, l = bounds_of_metric_learn(X)
    A, lam, xi = np.eye(X.shape[1]), {}, {}
    for _ in range(1000):
        for kind, sign, start in (("similar", 1.0, u), ("dissimilar", -1.0, l)):
            for i, j in pairs[kind]:
                v, b = X[i] - X[j], xi.get((i, j), start)
                p = v @ A @ v
                alpha = min(lam.get((i, j), 0.0), sign * gamma / (gamma + 1) * (1 / p - 1 / b))
                lam[i, j] = lam.get((i, j), 0.0) - alpha
                xi[i, j] = 1 / (1 / b + sign * alpha / gamma)
                A = A + sign * alpha / (1 - sign * alpha * p) * np.outer(A @ v, A @ v)
    return A


@pytest.mark.slow
@pytest.mark.parametrize("copies", [0, 12])
def test_the_answer_of_metric_learn_is_named(copies: int) -> None:
    """It counts a point that is given twice once."""
    X, _ = random_data(0, n=25, d=2)
    X = np.concatenate([X, X[:copies]])
    params: dict[str, Any] = {"gamma": 0.3, "pairs": {"similar": [[k, k + 3] for k in range(9)],
                                                      "dissimilar": [[k, k + 13] for k in range(12)]}}  # fmt: skip
    A = as_metric_learn(X, params["pairs"], 0.3)
    report = cvxml.check("itml", X, None, A, **params)
    assert report.verdict is Verdict.REFUTED
    assert any("metric-learn" in line for line in report.diagnosis), report.diagnosis
    bounds = bounds_of_metric_learn(X)
    assert cvxml.check("itml", X, None, A, bounds=bounds, **params).verdict is Verdict.CERTIFIED


D0 = np.array([np.sum((X1[i] - X1[j]) ** 2) for i in range(N0) for j in range(i)])


FULL0 = np.concatenate([D0, D0, np.zeros(N0)])


U0, L0 = np.percentile(D0, (5, 95))


MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # asked for, solved instead
    "mean": ({"gamma": 20.0}, {"gamma": 20.0 / len(D0)}),
    "inverse_gamma": ({"gamma": 0.1}, {"gamma": 10.0}),
    "no_gamma": ({"gamma": 0.1}, {"gamma": 1.0}),
    "twice": ({"gamma": 0.7}, {"gamma": 1.4}),
    "half": ({"gamma": 0.7}, {"gamma": 0.35}),
    "printed": ({"gamma": 0.5}, {"gamma": 1.0, "bounds": (2 * U0, 2 * L0)}),
    "roots": ({"bounds": (2.0, 9.0)}, {"bounds": (np.sqrt(2.0), 3.0)}),
    "squares": ({"bounds": (2.0, 9.0)}, {"bounds": (4.0, 81.0)}),
    "exchanged_bounds": ({}, {"bounds": (L0, U0)}),
    "exchanged_pairs": (
        {},
        {"pairs": {"similar": PAIRS0["dissimilar"], "dissimilar": PAIRS0["similar"]}},
    ),
    "similar_only": ({}, {"pairs": {**PAIRS0, "dissimilar": []}}),
    "dissimilar_only": ({}, {"pairs": {**PAIRS0, "similar": []}}),
    "plain_percentiles": ({}, {"bounds": tuple(np.percentile(np.sqrt(D0), (5, 95)))}),
    "whole_matrix": ({}, {"bounds": tuple(np.percentile(FULL0, (5, 95)))}),
    "plain_whole_matrix": ({}, {"bounds": tuple(np.percentile(np.sqrt(FULL0), (5, 95)))}),
    "euclidean_bounds": ({"prior": PRIOR0}, {"prior": PRIOR0, "bounds": (U0, L0)}),
    "extremes": ({}, {"bounds": (D0.min(), D0.max())}),
    "tenths": ({}, {"bounds": tuple(np.percentile(D0, (10, 90)))}),
    "identity_prior": ({"prior": PRIOR0}, {}),
    "covariance_prior": ({}, {"prior": np.linalg.inv(np.cov(X1.T))}),
    "inverse_prior": ({"prior": "covariance"}, {"prior": np.cov(X1.T)}),
    "divisor": (
        {"prior": "covariance", "bounds": (0.5, 9.0), "gamma": 0.01},
        {"prior": np.linalg.inv(np.cov(X1.T, ddof=0)), "bounds": (0.5, 9.0), "gamma": 0.01},
    ),
    "hard": ({"pairs": FEW, "bounds": (3.0, 5.0)}, {"pairs": FEW, "bounds": (3.0, 5.0), "gamma": 1e9}),
}  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", own_misreadings("itml"))
def test_a_misreading_is_named(name: str) -> None:
    asked, instead = MADE[name]
    A = cvxml.solve("itml", X1, Y1, tol=1e-9, **instead).metric
    assert_named("itml", name, X1, Y1, A, **asked)
