"""The mistakes that people make with MCML, each minimised here by L-BFGS, and read off a report of `check`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import cvxml
from cvxml.core.misreading import LOOSE, Question
from cvxml.core.report import Verdict
from cvxml.core.result import Solution
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.theorem import theorem
from cvxml.methods.mcml import METHOD, weights
from cvxml.numbers.sums import Approximate
from cvxml.oracle.convex_rules import OnMetric, judge_metric
from tests.instances import assert_named, fractions, random_data
from tests.methods.mcml.problems import SETS, UNEVEN, Data, data, solved

Misread = Callable[[np.ndarray, np.ndarray], float]  # of squared distances (n, n) and p0


def log_sums(D: np.ndarray, own: float = -np.inf) -> np.ndarray:
    e = -D.copy()
    np.fill_diagonal(e, own)
    sums: np.ndarray = logsumexp(e, axis=1)
    return sums


def to_others(D: np.ndarray, w: np.ndarray) -> np.ndarray:
    sums: np.ndarray = logsumexp(np.where(w + np.eye(len(w)) > 0, -np.inf, -D), axis=1)
    return sums


N_C = np.repeat(UNEVEN, UNEVEN)


MADE: dict[str, Misread] = {
    "plain": lambda D, w: float(np.sum(w * np.sqrt(D)) + np.sum(log_sums(np.sqrt(D)))),
    "self": lambda D, w: float(np.sum(w * D) + np.sum(log_sums(D, 0.0))),
    "self_in_both": lambda D, w: float(np.sum((w.T * (1 - 1 / N_C)).T * D) + np.sum(log_sums(D, 0.0))),
    "self_in_p0": lambda D, w: float(np.sum((w.T * (1 - 1 / N_C)).T * D) + np.sum(log_sums(D))),
    "sum": lambda D, w: float(np.sum((w > 0) * D) + np.sum(log_sums(D))),
    "pairs": lambda D, w: float(np.sum((w > 0) * (D + log_sums(D)[:, None]))),
    "per_class": lambda D, w: float(np.sum((np.sum(w * D, axis=1) + log_sums(D)) / N_C)),
    "gaussian": lambda D, w: float(np.sum(w * D / 2) + np.sum(log_sums(D / 2))),
    "half_exponent": lambda D, w: float(np.sum(w * D) + np.sum(log_sums(D / 2))),
    "half_pull": lambda D, w: float(np.sum(w * D / 2) + np.sum(log_sums(D))),
    "impostors": lambda D, w: float(np.sum(w * D) + np.sum(to_others(D, w))),
    "diagonal": lambda D, w: float(np.sum(w * D) + np.sum(log_sums(D))),
    "no_cone": lambda D, w: float(np.sum(w * D) + np.sum(log_sums(D))),
}


def least(X: np.ndarray, y: np.ndarray, name: str) -> np.ndarray:
    """The A (d, d) that minimises a misreading."""
    d, w = X.shape[1], weights(y).w
    E = X[:, None] - X
    p = d if name == "diagonal" else d * (d + 1) // 2 if name == "no_cone" else d * d

    def metric(v: np.ndarray) -> np.ndarray:
        if name == "diagonal":
            return np.diag(v**2)
        return smat(v, d) if name == "no_cone" else v.reshape(d, d).T @ v.reshape(d, d)

    def of(v: np.ndarray) -> float:
        return MADE[name](np.einsum("ijk,kl,ijl->ij", E, metric(v), E), w)

    def gradient(v: np.ndarray) -> np.ndarray:
        h = 1e-4
        steps = h * np.eye(p)
        near = np.array([of(v + e) - of(v - e) for e in steps]) / (2 * h)
        far = np.array([of(v + 2 * e) - of(v - 2 * e) for e in steps]) / (4 * h)
        return (4 * near - far) / 3

    start = {"no_cone": svec(np.eye(d)), "diagonal": np.ones(d)}.get(name, np.eye(d).ravel() + 0.1)
    return metric(minimize(of, start, jac=gradient, method="BFGS", options={"gtol": 1e-9}).x)


def hostile_to_the_cone() -> Data:
    """A third feature that only separates points of a class: without the cone its weight would be negative."""
    X, y = data()
    rng = np.random.default_rng(3)
    return np.column_stack([X, np.concatenate([rng.permutation(np.linspace(-2, 2, n)) for n in UNEVEN])]), y


@pytest.mark.slow
@pytest.mark.parametrize("name", METHOD.MISREADINGS)
def test_the_answer_of_a_misreading_is_named(name: str) -> None:
    X, y = hostile_to_the_cone() if name in ("no_cone", "diagonal") else data()
    if name == "sum":  # with more overlap its answer is the metric 0
        X = X + 3.0 * y[:, None]
    A = least(X, y, name)
    assert np.linalg.norm(A) > 1e-3
    if name == "no_cone":
        assert np.linalg.eigvalsh(A)[0] < -1e-3
    assert_named("mcml", name, X, y, A)


@cache
def solved_data() -> Solution:
    return cvxml.solve("mcml", *data(), tol=1e-9)


LEFT = {name: misreading.left for name, misreading in METHOD.MISREADINGS.items() if misreading.left}


@pytest.mark.slow
def test_random_wrong_metrics_are_the_answer_of_nothing() -> None:
    X, y = data(d=3)
    rng = np.random.default_rng(0)
    for _ in range(6):
        L = rng.standard_normal((3, 3)) * 10 ** rng.uniform(-2, 1)
        for name, left in LEFT.items():
            assert left(Question(X, y, L.T @ L, 1e-6, {})) > LOOSE, name


@pytest.mark.parametrize("name", LEFT)
def test_neither_the_optimum_nor_what_saturates_is_the_answer_of_another_problem(name: str) -> None:
    X, y = data()
    saturated = [size * np.diag([1.0, 0.5]) for size in (1e-12, 1e3, 1e12, 1e40)]
    for metric in (solved_data().metric, *saturated):
        assert LEFT[name](Question(X, y, metric, 1e-6, {})) > LOOSE


def test_classes_of_one_size_make_two_misreadings_the_problem_itself() -> None:
    for name in ("pairs", "per_class"):
        assert LEFT[name](Question(*SETS["random"], solved("random").metric, 1e-6, {})) == np.inf


@pytest.mark.parametrize("k", [18, 22, 26])
def test_what_near_collinear_features_hide_is_in_the_rounding(k: int) -> None:
    """A = t (1, -1)(1, -1)^T + I for features x and x + h z: distances are t h^2 dz^2 + ..., exactly, by fractions."""
    rng = np.random.default_rng(0)
    x, z, y = rng.integers(-64, 65, 8) / 64.0, rng.integers(-64, 65, 8) / 64.0, np.arange(8) % 2
    X = np.column_stack([x, x + 2.0**-k * z])
    A = 2.0 ** (2 * k) * np.array([[1.0, -1.0], [-1.0, 1.0]]) + np.eye(2)
    E = fractions(X)[:, None] - fractions(X)
    D = np.sum((E @ fractions(A)) * E, axis=2).astype(float)
    proof = cvxml.certify("mcml", X, y, A, {"q": np.zeros((8, 8))})
    exact = float(np.sum(weights(y).w * D) + np.sum(log_sums(D)))
    assert abs(proof.objective - exact) <= max(proof.rounding, proof.value_rounding)


def test_an_objective_below_the_bound_is_said_and_not_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = random_data(0, 12, 3)
    solution = cvxml.solve("mcml", X, y)
    honest, parts = theorem._of, theorem._at

    def too_high(*given: Any) -> theorem.Proof:
        proof = honest(*given)
        return proof._replace(bound=proof.bound._replace(value=proof.bound.value + 1.0))

    def none_summed(*given: Any) -> Any:
        return parts(*given)._replace(gap=Approximate(0.0, math.inf))

    monkeypatch.setattr(theorem, "_of", too_high)
    monkeypatch.setattr(theorem, "_at", none_summed)  # the gap is the difference
    certificate = cvxml.certify("mcml", X, y, solution.metric, solution.dual)
    assert certificate.gap == pytest.approx(-1.0, abs=1e-3)
    assert not certificate.proves(1e-3)
    verdict, reasons, _ = judge_metric(OnMetric(certificate, solution, certificate.scale, 1e-6))
    assert verdict is Verdict.INCONCLUSIVE
    assert "below" in reasons[0]
