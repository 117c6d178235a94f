"""GLML: each misreading is made here, by loops over plain densities, and read off a report of `check`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Report, Verdict
from cvxml.methods import get
from tests.instances import NOT_OPTIMAL, assert_named
from tests.methods.glml.local_metrics import Student, random_unit

MISREADINGS = get("glml").MISREADINGS
ALPHA = 0.3


def data(seed: int, sizes: tuple[int, ...] = (12, 20, 9), d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    roots = np.eye(d) + 0.5 * rng.standard_normal((len(sizes), d, d))
    X = np.einsum("nd,nde->ne", rng.standard_normal((len(y), d)), roots[y])
    return X + rng.standard_normal((len(sizes), d))[y], y


def printed(p_i: float, p_j: float) -> float:
    return p_i * p_j * (p_j - p_i)


def B_of(
    X: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    less: int = 0,
    covariance: Callable[[np.ndarray], np.ndarray] = lambda S: S + ALPHA * np.eye(len(S)),
    priors: tuple[float, ...] = (1, 1, 1),
    pull: float = 1.0,
    push: float = 1.0,
    factor: bool = True,
    weight: Callable[[float, float], float] = printed,
    without: tuple[int, int] | None = None,
) -> np.ndarray:
    p, G = [], []
    for c, prior in enumerate(priors):
        points = X[y == c]
        mu = sum(points) / len(points)
        Sigma = covariance(sum(np.outer(v - mu, v - mu) for v in points) / (len(points) - less))
        S, z = np.linalg.inv(Sigma), x - mu
        p.append(prior * np.exp(-z @ S @ z / 2) / (np.sqrt(np.linalg.det(Sigma)) if factor else 1.0))
        G.append(pull * S @ np.outer(z, z) @ S - push * S)
    pairs = (pair for pair in itertools.combinations(range(len(priors)), 2) if pair != without)
    B: np.ndarray = sum(weight(p[i], p[j]) * (G[i] - G[j]) for i, j in pairs)
    return B


def closed(B: np.ndarray, counted: bool = True) -> np.ndarray:
    """(13), or without its d+ and d-."""
    values, U = np.linalg.eigh(B / np.linalg.norm(B))
    size = np.abs(values)
    if counted:
        size = size * np.where(values > 0, (values > 0).sum(), (values < 0).sum())
    A: np.ndarray = (U * (size / np.exp(np.log(size).mean()))) @ U.T
    return (A + A.T) / 2


MADE: dict[str, dict[str, Any]] = {
    "unbiased": {"less": 1},
    "empirical": {"priors": (12, 20, 9)},
    "equal": {},
    "no_alpha": {"covariance": lambda S: S},
    "relative_alpha": {"covariance": lambda S: S + ALPHA * np.trace(S) / len(S) * np.eye(len(S))},
    "shrinkage": {"covariance": lambda S: (1 - ALPHA) * S + ALPHA * np.trace(S) / len(S) * np.eye(len(S))},
    "no_weights": {"weight": lambda a, b: 1.0},
    "no_difference": {"weight": lambda a, b: a * b},
    "difference_only": {"weight": lambda a, b: b - a},
    "no_sign": {"weight": lambda a, b: a * b * abs(b - a)},
    "class_pair": {"without": (0, 2)},
    "no_pull": {"pull": 0.0},
    "no_push": {"push": 0.0},
    "no_factor": {"factor": False},
}
ASKED: dict[str, dict[str, Any]] = {"equal": {"priors": [0.2, 0.5, 0.3]}}


def judged(X: np.ndarray, y: np.ndarray, A: np.ndarray, x: np.ndarray | None, **params: Any) -> Report:
    return cvxml.check("glml", X, y, A, query=x, **{"alpha": ALPHA, **params})


def assert_mistake(name: str, X: np.ndarray, y: np.ndarray, A: np.ndarray, x: Any, **params: Any) -> Report:
    """`check` at the query x names this misreading."""
    return assert_named("glml", name, X, y, A, query=x, **{"alpha": ALPHA, **params})


def signs(B: np.ndarray) -> int:
    return int((np.linalg.eigvalsh(B) > 0).sum())


def queries(X: np.ndarray, y: np.ndarray, name: str) -> list[np.ndarray]:
    """The points where the misreading has another direction of B, and so another metric."""
    asked = {"priors": (0.2, 0.5, 0.3)} if name == "equal" else {}
    found = []
    for x in X + 0.1:
        B, other = B_of(X, y, x, **asked), B_of(X, y, x, **MADE[name])
        if abs(np.sum(B * other)) < 0.999 * np.linalg.norm(B) * np.linalg.norm(other):
            found.append(x)
    return found


@pytest.mark.parametrize("seed", range(2))
def test_the_loops_themselves_make_no_mistake(seed: int) -> None:
    X, y = data(seed)
    for x in X[:3]:
        report = judged(X, y, closed(B_of(X, y, x)), x)
        assert report.verdict is Verdict.CERTIFIED
        assert report.diagnosis == ()


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", MADE)
def test_a_misreading_is_named(name: str) -> None:
    """Where B is definite, if there is such a point, and where it is not."""
    X, y = data(0)
    points = queries(X, y, name)
    made = [B_of(X, y, x, **MADE[name]) for x in points]
    kinds = {signs(B) in (0, 3): k for k, B in enumerate(made)}
    assert kinds
    for k in kinds.values():
        assert_mistake(name, X, y, closed(made[k]), points[k], **ASKED.get(name, {}))


@pytest.mark.slow
def test_d_plus_and_d_minus_left_out_is_named_where_it_matters() -> None:
    X, y = data(0)
    definite = next(x for x in X if signs(B_of(X, y, x)) in (0, 3))
    assert judged(X, y, closed(B_of(X, y, definite), counted=False), definite).verdict is Verdict.CERTIFIED
    for x in [x for x in X if signs(B_of(X, y, x)) in (1, 2)][:3]:
        assert_mistake("no_counts", X, y, closed(B_of(X, y, x), counted=False), x)
    X, y = data(1, d=2)  # d+ = d- = 1
    x = next(x for x in X if signs(B_of(X, y, x)) == 1)
    assert judged(X, y, closed(B_of(X, y, x), counted=False), x).verdict is Verdict.CERTIFIED


def test_one_metric_for_all_queries_is_named() -> None:
    X, y = data(0)
    A = closed(B_of(X, y, X.mean(axis=0)))
    assert_mistake("mean", X, y, np.array([A, A, A]), X[:3])
    assert judged(X, y, A, None).verdict is Verdict.CERTIFIED


def test_any_optimum_of_a_misreading_is_named_where_there_are_many() -> None:
    """tr M B = 0 for an M that has nothing else to do with B."""
    X, y = data(0)
    x = next(x for x in X if signs(B_of(X, y, x, less=1)) in (1, 2))
    values, U = np.linalg.eigh(B_of(X, y, x, less=1))
    M = np.diag([1.0, 2.0, 3.0])
    error = np.sum(M * ((U * values) @ U.T))
    k = 0 if error > 0 else 2
    M = M - error / values[k] * np.outer(U[:, k], U[:, k])
    A = np.linalg.inv(M)
    A /= np.linalg.det(A) ** (1 / 3)
    report = assert_mistake("unbiased", X, y, A, x)
    # far from the closed form, it is optimal for nothing else
    assert len(report.diagnosis) == 1


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 5])
def test_random_wrong_metrics_get_no_diagnosis(d: int) -> None:
    rng = np.random.default_rng(d)
    for seed in range(6):
        X, y = data(seed, d=d, sizes=(20, 30, 15))
        report = judged(X, y, random_unit(rng, d), X[seed], priors="empirical" if seed % 2 else None)
        assert report.verdict in NOT_OPTIMAL
        assert report.diagnosis == ()


def test_a_model_of_the_users_own_has_misreadings_too() -> None:
    X, y = data(0)
    model = Student(np.array([[0.0, 0, 0], [1, 0, 1], [0, 2, 0]]))
    p, G = np.exp(model.log_densities(X[:1])[0]), model.curvatures(X[:1])[0]
    B = sum(p[i] * p[j] * (G[i] - G[j]) for i, j in itertools.combinations(range(3), 2))
    assert_named("glml", "no_difference", X, y, closed(B), query=X[0], model=model)


def test_where_a_misreading_has_no_curvature_every_metric_would_do_and_it_is_not_named() -> None:
    """Without -S nothing is left at a mean that the classes share."""
    Z = np.random.default_rng(0).integers(-9, 9, (20, 3))
    half = np.concatenate([Z, -Z]).astype(float)
    X, y = np.concatenate([half, half * [2, 3, 4]]), np.repeat([0, 1], 40)
    report = cvxml.check("glml", X, y, np.diag([2.0, 1.0, 0.5]), query=np.zeros(3))
    assert report.verdict is Verdict.REFUTED
    assert report.diagnosis == ()
