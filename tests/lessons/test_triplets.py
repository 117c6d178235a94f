"""The lesson triplets, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lessons.run import lesson, run


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "k"), [(0.01, 1), (0.5, 2), (0.9, 4)])
def test_all_prices_are_on_the_step_and_prove_the_bound(mu: float, k: int) -> None:
    shown = run("triplets", mu=mu, k=k, point=4)
    X, solution = shown["X"], shown["solution"]
    triplets, margin, price = shown["triplets"], shown["margin"], shown["price"]
    assert len(triplets) == 21 * k * 14
    assert price.min() >= 0
    assert price.max() <= mu
    assert price.sum() == pytest.approx(solution.lower_bound, rel=1e-9)
    M, C = solution.metric, np.zeros((2, 2))
    for t, (i, j, l) in enumerate(triplets):
        e, f = X[i] - X[l], X[i] - X[j]
        assert margin[t] == pytest.approx(e @ M @ e - f @ M @ f, abs=1e-9)
        C -= price[t] * (np.outer(e, e) - np.outer(f, f))
    for i, j in {(i, j) for i, j, _ in triplets.tolist()}:
        C += (1 - mu) * np.outer(X[i] - X[j], X[i] - X[j])
    assert np.linalg.eigvalsh(C)[0] >= -1e-9 * np.trace(abs(C))
    names = lesson("triplets")
    for name, mine in shown["groups"].items():
        low, high = {names.NEVER: (1, np.inf), names.BETWEEN: (1, 1), names.FULL: (-np.inf, 1)}[name]
        assert np.all((margin[mine] >= low - 1e-3) & (margin[mine] <= high + 1e-3))
    assert sum(mine.sum() for mine in shown["groups"].values()) == len(triplets)
