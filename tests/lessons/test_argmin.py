"""The lesson argmin, without a browser, against computations of its own."""

from __future__ import annotations

import pytest

import cvxml
from tests.lessons.run import lesson, run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "lam", "least"),
    [("balance", 0.1, 10.0), ("balance", 0.02, 10.0), ("iris", 1.0, 0.01), ("wine", 1.0, 1.0)],
)
def test_the_misprint_stays_above_a_bound_that_another_solver_confirms(
    data: str, lam: float, least: float
) -> None:
    shown = run("argmin", data=data, lam=lam, n_steps=200)
    X, y, printed, corrected = shown["X"], shown["y"], shown["printed"], shown["corrected"]
    literal = cvxml.solve("mlsvm", X, y, lam=lam, solver="clarabel", tol=1e-3)
    bound = shown["optimum"].lower_bound
    assert bound <= literal.objective * (1 + 1e-9)
    assert bound >= literal.lower_bound - 1e-3 * literal.certificate.scale
    assert printed.objectives[-1] == pytest.approx(
        cvxml.evaluate("mlsvm", X, y, printed.metric, lam=lam).objective
    )
    assert shown["excess"]["as printed"] == pytest.approx(
        100 * (printed.objectives.min() / shown["optimum"].objective - 1), rel=1e-6
    )
    assert printed.objectives.min() > literal.objective * (1 + 0.99 * shown["excess"]["as printed"] / 100)
    assert shown["excess"]["as printed"] >= least
    assert shown["excess"]["corrected"] < shown["excess"]["as printed"] / 3
    assert (printed.gaps > 0).all()
    assert (corrected.gaps > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_steps", [50, 400])
def test_time_helps_the_corrected_version_alone(n_steps: int) -> None:
    shown = run("argmin", data="balance", lam=0.1, n_steps=n_steps)
    printed, corrected = shown["printed"], shown["corrected"]
    assert len(printed.gaps) == len(corrected.gaps) == n_steps
    stall = lesson("argmin").stall
    assert stall(printed) > 0.9 * printed.gaps[:20].min()
    assert stall(corrected) < 0.1 * corrected.gaps[:20].mean()
