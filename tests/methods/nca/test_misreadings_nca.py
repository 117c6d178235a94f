"""NCA: each misreading is minimised here, by BFGS on its objective, and read off a report of `check`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import cvxml
from cvxml.core.misreading import LOOSE, Question
from cvxml.core.report import Report, Verdict
from cvxml.methods import get
from cvxml.methods.nca import definitions
from cvxml.methods.nca.misreadings import left
from tests.instances import soft_labels

MISREADINGS = get("nca").MISREADINGS
Objective = Callable[[np.ndarray, np.ndarray], float]  # of squared distances (n, n) and s


def data(seed: int, sizes: tuple[int, ...] = (6, 9, 7), d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.standard_normal((len(y), d)) + 0.9 * rng.standard_normal((len(sizes), d))[y], y


def log_p(exponents: np.ndarray, extra: float | None = None) -> np.ndarray:
    e = exponents.copy()
    np.fill_diagonal(e, -np.inf if extra is None else extra)
    logs: np.ndarray = exponents - logsumexp(e, axis=1)[:, None]
    np.fill_diagonal(logs, 0.0)  # not used: s is 0 there
    return logs


def minus_f(logs: np.ndarray, s: np.ndarray) -> float:
    return -float(np.sum(s * np.exp(logs)))


def minus_g(logs: np.ndarray, s: np.ndarray) -> float:
    return -float(np.sum(np.log(np.sum(s * np.exp(logs), axis=1))))


def shares(s: np.ndarray) -> np.ndarray:
    u: np.ndarray = s / s.sum(axis=1, keepdims=True)
    return u


def over_pairs(d: np.ndarray, s: np.ndarray, own: float) -> float:
    e = -d.copy()
    np.fill_diagonal(e, own)
    return -float(np.sum(s * (-d - logsumexp(e))))


def minus_g_in_single(d: np.ndarray, s: np.ndarray) -> float:
    """Of the points whose probability is not 0 there, as a loss that takes their logarithms has to."""
    e = (-d).astype(np.float32)
    np.fill_diagonal(e, -np.inf)
    p = np.exp(e - e.max(axis=1, keepdims=True))
    kept = np.sum(s * (p / p.sum(axis=1, keepdims=True)), axis=1, dtype=np.float32) != 0
    return -float(np.sum(np.log(np.sum(s * np.exp(log_p(-d)), axis=1)[kept])))


def against_others(d: np.ndarray, s: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        others = np.log((s == 0) * (1.0 - np.eye(len(s))))
        return float(np.sum(logsumexp(others - d, axis=1) - logsumexp(np.log(s) - d, axis=1)))


MADE: dict[str, dict[str, Objective]] = {  # name -> criterion asked for -> what is minimised
    "g": {"f": lambda d, s: minus_g(log_p(-d), s)},
    "f": {"g": lambda d, s: minus_f(log_p(-d), s)},
    "mean": {"f": lambda d, s: minus_f(log_p(-d), shares(s))},
    "self": {
        "f": lambda d, s: minus_f(log_p(-d, 0.0), s),
        "g": lambda d, s: minus_g(log_p(-d, 0.0), s),
    },
    "dropped": {"g": minus_g_in_single},
    "others": dict.fromkeys("fg", against_others),
    "plain": {
        "f": lambda d, s: minus_f(log_p(-np.sqrt(d)), s),
        "g": lambda d, s: minus_g(log_p(-np.sqrt(d)), s),
    },
    "mean_log": {c: lambda d, s: -float(np.sum(shares(s) * log_p(-d))) for c in "fg"},
    "sum_log": {c: lambda d, s: -float(np.sum(s * log_p(-d))) for c in "fg"},
    "pairs": {c: lambda d, s: over_pairs(d, s, -np.inf) for c in "fg"},
    "pairs_self": {c: lambda d, s: over_pairs(d, s, 0.0) for c in "fg"},
}
# of rank 1 the plain distance has its optima at cusps, where two images coincide: nothing is stationary there
KINDS = ["self", "plain", "mean_log", "sum_log", "pairs", "pairs_self"]
ALL = [*KINDS, "others"]
CASES = [
    (name, criterion, m)
    for name, by in MADE.items()
    for criterion in by
    for m in (1, 2)
    if (name, m) != ("plain", 1) and name not in ("dropped", "others")  # they need other points: below
]


def least(X: np.ndarray, s: np.ndarray, F: Objective, m: int = 2) -> np.ndarray:
    """A (m, d) where BFGS stops, from the identity."""
    d = X.shape[1]

    def value(a: np.ndarray) -> float:
        E = X @ a.reshape(m, d).T
        return F(np.sum((E[:, None] - E) ** 2, axis=2), s)

    def gradient(a: np.ndarray) -> np.ndarray:
        h = 1e-4
        steps = h * np.eye(len(a))
        near = np.array([value(a + e) - value(a - e) for e in steps]) / (2 * h)
        far = np.array([value(a + 2 * e) - value(a - 2 * e) for e in steps]) / (4 * h)
        return (4 * near - far) / 3

    A: np.ndarray = minimize(
        value, np.eye(m, d).ravel(), jac=gradient, method="BFGS", options={"gtol": 1e-9}
    ).x
    return A.reshape(m, d)


def same_class(y: np.ndarray) -> np.ndarray:
    s: np.ndarray = (y[:, None] == y) * (1.0 - np.eye(len(y)))
    return s


def judged(X: np.ndarray, y: np.ndarray | None, A: np.ndarray, **params: Any) -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.check("nca", X, y, components=A, **params)


def test_every_misreading_is_made() -> None:
    assert set(MADE) == set(MISREADINGS)


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("m", [1, 2])
def test_bfgs_itself_makes_no_mistake(criterion: str, m: int) -> None:
    X, y = data(11)
    F = MADE["f" if criterion == "f" else "g"]["g" if criterion == "f" else "f"]
    A = least(X, same_class(y), F, m)
    report = judged(X, y, A, criterion=criterion, n_components=m)
    assert report.verdict is Verdict.CERTIFIED
    assert report.diagnosis == ()


@pytest.mark.quick(1)
@pytest.mark.parametrize(("name", "criterion", "m"), CASES)
def test_a_misreading_is_named(name: str, criterion: str, m: int) -> None:
    X, y = data(8 if name == "plain" else 11)  # a finite optimum for each
    A = least(X, same_class(y), MADE[name][criterion], m)
    report = judged(X, y, A, criterion=criterion, n_components=m)
    assert report.verdict is Verdict.REFUTED
    assert any(MISREADINGS[name].sentence in line for line in report.diagnosis), report.diagnosis


@pytest.mark.quick(1)
@pytest.mark.parametrize("m", [1, 2])
def test_points_that_single_precision_drops(m: int) -> None:
    X, y = data(11)
    X = np.concatenate([X, [[60.0, 40.0], [60.1, 40.2]]])  # far from their classes, and each other's nearest
    y = np.concatenate([y, [0, 1]])
    A = least(X, same_class(y), minus_g_in_single, m)
    report = judged(X, y, A, criterion="g", n_components=m)
    assert report.verdict is Verdict.REFUTED
    assert any(MISREADINGS["dropped"].sentence in line for line in report.diagnosis), report.diagnosis
    assert MISREADINGS["dropped"].problem(Question(X, y, 1e-6 * A.T @ A, 1e-6, {"criterion": "g"})) is None


@pytest.mark.quick(1)
@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("m", [1, 2])
def test_a_denominator_of_the_others_alone(criterion: str, m: int) -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(
        [0, 1, 2], (5, 12, 12)
    )  # of classes that overlap: else multiples of a metric are better and better
    X = rng.standard_normal((len(y), 2)) + 0.3 * rng.standard_normal((3, 2))[y]
    A = least(X, same_class(y), against_others, m)
    report = judged(X, y, A, criterion=criterion, n_components=m)
    assert report.verdict is Verdict.REFUTED
    assert any(MISREADINGS["others"].sentence in line for line in report.diagnosis), report.diagnosis


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_soft_labels_have_misreadings_too(name: str) -> None:
    X, _ = data(11)
    s = soft_labels(0, len(X))
    A = least(X, s, MADE[name]["g"])
    report = judged(X, None, A, criterion="g", similarity=s)
    assert report.verdict is Verdict.REFUTED
    assert any(MISREADINGS[name].sentence in line for line in report.diagnosis), report.diagnosis


def test_a_metric_of_the_printed_cost_has_no_gradient_of_it() -> None:
    X, y = data(11)
    s = same_class(y)
    A = least(X, s, MADE["pairs"]["g"])
    assert np.abs(definitions.continuous_gradient(X, s, A)).max() < 1e-6
    assert definitions.continuous_cost(X, s, A) < definitions.continuous_cost(X, s, 1.01 * A)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize(("m", "count"), [(1, 8), (2, 4)])
def test_random_wrong_metrics_get_no_diagnosis(criterion: str, m: int, count: int) -> None:
    X, y = data(11)
    rng = np.random.default_rng(0)
    for _ in range(count):
        L = rng.standard_normal((m, 2)) * 10 ** rng.uniform(-1, 0.5)
        report = judged(X, y, L, criterion=criterion, n_components=m)
        assert report.verdict is not Verdict.CERTIFIED
        assert report.diagnosis == ()


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", ALL)
def test_random_wrong_metrics_are_stationary_for_nothing(kind: str) -> None:
    X, y = data(1, d=3)
    rng = np.random.default_rng(0)
    for i in range(100):
        L = rng.standard_normal((1 + i % 3, 3)) * 10 ** rng.uniform(-3, 3)
        params = {"criterion": "fg"[i % 2], "n_components": 1 + i % 3}
        assert left(Question(X, y, L.T @ L, 1e-6, params), kind) > LOOSE


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e3, 1e6, 1e12, 1e40])
def test_nothing_is_proved_of_what_saturates(kind: str, criterion: str, size: float) -> None:
    X, y = data(11)
    for L in (np.eye(2), np.array([[1.0, 0.5]])):
        question = Question(X, y, size * L.T @ L, 1e-6, {"criterion": criterion})
        assert left(question, kind) > LOOSE


@pytest.mark.parametrize("kind", ["self", "plain"])
def test_points_that_coincide_are_no_proof(kind: str) -> None:
    X, y = data(11)
    X = np.concatenate([X, X])
    question = Question(X, np.concatenate([y, y]), 1e4 * np.eye(2), 1e-6, {})
    assert left(question, kind) > LOOSE
