"""Gerrymandering: each misreading is made here, by enumeration and cvxpy, and read off a report of `check`."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.misreading import LOOSE, Question
from cvxml.core.report import Verdict
from cvxml.methods import get
from tests.instances import assert_named, real_data

K, C, N = 3, 3.0, 12
LAM = np.array([[0.0, 0.5, 1.5], [2.0, 0.0, 0.7], [0.6, 1.2, 0.0]])
PARAMS: dict[str, Any] = {"n_neighbors": K, "C": C, "loss_matrix": LAM}
Loss = Callable[[list[int], int, np.ndarray], float | None]


MISREADINGS = get("ssvm").MISREADINGS


def data(
    seed: int, n: int = N, d: int = 2, R: int = 3, uneven: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.minimum(np.arange(n) % (R + 1), R - 1) if uneven else np.arange(n) % R
    return rng.standard_normal((n, d)) + 1.2 * rng.standard_normal((R, d))[y], y


def points_for(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points on which the misreading and (10) have different answers."""
    return data(SEED[name], uneven=name == "class_weights")


def pessimistic(votes: list[int], own: int, Lam: np.ndarray) -> float | None:
    return max(Lam[own, r] for r in range(len(votes)) if votes[r] == max(votes))


def optimistic(votes: list[int], own: int, Lam: np.ndarray) -> float | None:
    return 0.0 if votes[own] == max(votes) else pessimistic(votes, own, Lam)


def no_ties(votes: list[int], own: int, Lam: np.ndarray) -> float | None:
    return pessimistic(votes, own, Lam) if votes.count(max(votes)) == 1 else None


def strict_win(votes: list[int], own: int) -> bool:
    return votes[own] == max(votes) and votes.count(max(votes)) == 1


def tied_win(votes: list[int], own: int) -> bool:
    return votes[own] == max(votes)


def cccp(
    X: np.ndarray,
    y: np.ndarray,
    k: int = K,
    weight: float = C,
    norm: float = 1.0,
    Lam: np.ndarray = LAM,
    loss: Loss = pessimistic,
    wins: Callable[[list[int], int], bool] = strict_win,
    itself: bool = False,
    mean: bool = False,
    cone: bool = True,
    steps: int = 60,
) -> np.ndarray:
    """norm ||W||^2 + weight sum L_i, every set a row, until h* stays the same."""
    (n, d), R = X.shape, len(Lam)
    W, t = cp.Variable((d, d), symmetric=True), cp.Variable(n)
    P = cp.Parameter((d, d), symmetric=True)
    rows, Psi, good = [], [], []
    for i in range(n):
        sets = list(itertools.combinations([j for j in range(n) if itself or j != i], k))
        votes = [[sum(y[j] == r for j in h) for r in range(R)] for h in sets]
        each = np.array([-sum(np.outer(X[i] - X[j], X[i] - X[j]) for j in h) for h in sets])
        each = each / k if mean else each
        found = [(row, loss(v, int(y[i]), Lam)) for row, v in zip(each, votes, strict=True)]
        A = np.array([row.ravel() for row, value in found if value is not None])
        b = np.array([value for _, value in found if value is not None])
        rows.append(t[i] >= A @ cp.reshape(W, (d * d,), order="C") + b)
        good.append(np.array([wins(v, int(y[i])) for v in votes]))
        Psi.append(each)
    step = cp.Problem(
        cp.Minimize(norm * cp.sum_squares(W) + weight * (cp.sum(t) - cp.sum(cp.multiply(P, W)))),
        rows + ([W >> 0] if cone else []),
    )
    at, before = np.eye(d), None
    for _ in range(steps):
        best = [
            int(np.where(g, (p * at).sum(axis=(1, 2)), -np.inf).argmax())
            for p, g in zip(Psi, good, strict=True)
        ]
        if best == before:
            break
        before = best
        P.value = np.sum([p[h] for p, h in zip(Psi, best, strict=True)], axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": `check` says whether it is
            step.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        at = W.value
    return at


def components(W: np.ndarray) -> np.ndarray:
    """L with L^T L the nearest psd matrix to W."""
    values, U = np.linalg.eigh(W)
    return (U * np.sqrt(np.maximum(values, 0))).T


def test_the_enumeration_itself_makes_no_mistake() -> None:
    X, y = data(0)
    report = cvxml.check("ssvm", X, y, components=components(cccp(X, y)), **PARAMS)
    assert report.verdict is Verdict.CERTIFIED
    assert report.diagnosis == ()


MADE: dict[str, dict[str, Any]] = {
    "half": {"norm": 0.5},
    "mean": {"weight": C / N},
    "half_mean": {"norm": 0.5, "weight": C / N},
    "C_on_norm": {"norm": C, "weight": 1.0},
    "per_neighbor": {"weight": C / K},
    "averaged": {"mean": True},
    "transposed": {"Lam": LAM.T},
    "zero_one": {"Lam": 1 - np.eye(3)},
    "largest_one": {"Lam": LAM / 2},
    "class_weights": {"Lam": LAM * (N / (3 * np.array([[3.0], [3.0], [6.0]])))},
    "fewer": {"k": K - 1},
    "more": {"k": K + 1},
    "self": {"itself": True},
    "strict": {"loss": no_ties},
    "tied": {"wins": tied_win},
    "optimistic": {"loss": optimistic, "wins": tied_win},
    "optimistic_loss": {"loss": optimistic},
    "once": {"steps": 1},
    "no_cone": {"cone": False},
}


SEED = dict.fromkeys(MADE, 4) | {"half": 1, "class_weights": 1, "fewer": 1, "self": 1, "no_cone": 7}


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", MADE)
def test_the_metric_of_a_misreading_is_its_answer_and_not_that_of_the_paper(name: str) -> None:
    X, y = points_for(name)
    W, misreading = cccp(X, y, **MADE[name]), MISREADINGS[name]
    if name != "no_cone":  # without the cone W need not be psd
        L = components(W)
        W = L.T @ L
        asked = cvxml.check("ssvm", X, y, W, diagnosed=False, **PARAMS)
        assert asked.verdict is Verdict.REFUTED
    question = Question(X, y, W, 1e-6, PARAMS)
    if misreading.left is not None:
        assert misreading.left(question) <= LOOSE
        return
    assert misreading.problem is not None
    other = misreading.problem(question)
    assert other is not None
    W = W if other.metric is None else other.metric
    report = cvxml.check("ssvm", other.X, other.y, W, tol=LOOSE, diagnosed=False, **other.params)
    assert report.verdict is Verdict.CERTIFIED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mean", "class_weights", "fewer", "optimistic", "no_cone"])
def test_a_misreading_is_named(name: str) -> None:
    """Of each kind of misreading one: `check` tries all of them, which takes seconds."""
    X, y = points_for(name)
    assert_named("ssvm", name, X, y, cccp(X, y, **MADE[name]), **PARAMS)


def test_what_does_not_apply_is_not_asked() -> None:
    X, y = real_data("iris", 30)
    assert cvxml.check("ssvm", X, y, np.eye(4), n_neighbors=1, C=1.0).diagnosis == ()


@pytest.mark.slow
def test_random_wrong_metrics_get_no_diagnosis() -> None:
    X, y = data(4, n=9)
    rng = np.random.default_rng(0)
    for i in range(6):
        L = rng.standard_normal((1 + i % 2, 2)) * 10 ** rng.uniform(-1, 0.5)
        report = cvxml.check("ssvm", X, y, components=L, **{**PARAMS, "C": 1.0})
        assert report.verdict is Verdict.REFUTED
        assert report.diagnosis == ()


@pytest.mark.slow
def test_random_wrong_metrics_are_stationary_for_no_misreading() -> None:
    X, y = data(4)
    rng = np.random.default_rng(0)
    for i in range(40):
        L = rng.standard_normal((1 + i % 2, 2)) * 10 ** rng.uniform(-3, 3)
        for name, misreading in MISREADINGS.items():
            if misreading.left is not None:
                assert misreading.left(Question(X, y, L.T @ L, 1e-6, PARAMS)) > LOOSE, name
