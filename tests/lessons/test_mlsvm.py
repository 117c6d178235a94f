"""The lesson mlsvm, without a browser, against computations of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cvxml
from tests.lessons.run import figures_of, run


def own_optimum(X: np.ndarray, y: np.ndarray, lam: float, margins: np.ndarray, K: int = 4) -> float:
    """Problem (2) with these margins (n,), one slack a pair of constraints, written without the package."""
    import cvxpy as cp

    n = len(X)
    A, xi = cp.Variable((2, 2), PSD=True), cp.Variable(n, nonneg=True)
    rows = []
    for i in range(n):
        near = sorted((j for j in range(n) if j != i), key=lambda j: ((X[i] - X[j]) @ (X[i] - X[j]), j))[:K]
        for j, k in itertools.product(near, near):
            if y[j] != y[i] == y[k]:
                away, own = X[i] - X[j], X[i] - X[k]
                rows.append(
                    cp.sum(cp.multiply(A, np.outer(away, away) - np.outer(own, own))) >= margins[i] - xi[i]
                )
    problem = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(A) + cp.sum(xi) / n), rows)
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.slow
@pytest.mark.parametrize(("lam", "point"), [(0.001, 9), (0.02, 9), (0.02, 2), (10.0, 16)])
def test_a_price_bounds_what_relaxing_its_constraint_wins(lam: float, point: int) -> None:
    shown = run("mlsvm", lam=lam, point=point)
    X, y, s, solution = shown["X"], shown["y"], shown["s"], shown["solution"]
    assert solution.certificate.proves(1e-6)
    assert np.all((s >= 0) & (s <= (1 + 1e-12) / len(X)))
    for eps, solved, line in zip(
        shown["eps"][[0, -1]], shown["solved"][[0, -1]], shown["line"][[0, -1]], strict=True
    ):
        margins = np.ones(len(X))
        margins[point] -= eps
        assert solved == pytest.approx(own_optimum(X, y, lam, margins), abs=2e-7)
        assert line == pytest.approx(solution.lower_bound - eps * s[point])
        assert solved >= line - 2e-7


@pytest.mark.slow
def test_a_price_is_the_derivative_of_the_optimum() -> None:
    shown = run("mlsvm", lam=0.02, point=9)
    X, y, h = shown["X"], shown["y"], 1e-2
    duals = shown["s"] * len(X)
    assert duals[9] == pytest.approx(0.56, abs=0.01)  # just met: neither free nor at the full price
    for i in (0, 2, 9):
        more, less = np.ones(len(X)), np.ones(len(X))
        more[i], less[i] = 1 + h, 1 - h
        slope = (own_optimum(X, y, 0.02, more) - own_optimum(X, y, 0.02, less)) / (2 * h)
        assert slope * len(X) == pytest.approx(duals[i], abs=2e-3)


@pytest.mark.slow
def test_the_reading_of_a_price_is_that_of_its_slack() -> None:
    for lam in (0.001, 0.05, 10.0):
        shown = run("mlsvm", lam=lam, point=9)
        n, s, xi = shown["n"], shown["s"], shown["values"]["xi"]
        for row in shown["rows"]:
            i, reading = row[0], row[-1]
            share = n * s[i]
            assert ("inactive" in reading) == (share < 1e-8)
            assert ("violated" in reading) == (share > 1 - 1e-8)
            assert "violated" in reading or xi[i] <= 1e-4
    assert np.allclose(s[shown["usable"]], 1 / n)  # at lam = 10 nothing else is worth its price


@pytest.mark.slow
def test_the_bars_are_prices_and_slacks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("mlsvm", lam=0.02)
    X, y, usable = shown["X"], shown["y"], shown["usable"]
    ax = seen[1].axes[0]
    bars = ax.containers
    slack = cvxml.evaluate("mlsvm", X, y, shown["solution"].metric, lam=0.02).values["xi"][usable]
    dual = shown["solution"].certificate.dual
    paid = [18 * dual["w"][dual["w_index"][:, 0] == i].sum() for i in usable]
    assert [bar.get_height() for bar in bars[0]] == pytest.approx(paid, abs=1e-9)
    assert [bar.get_height() for bar in bars[1]] == pytest.approx(slack)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [name for name in legend if "price," in name or "slack" in name] == [
        "price, $n s_i$",
        r"slack $\xi_i$",
    ]
