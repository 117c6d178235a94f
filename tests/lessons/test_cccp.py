"""The lesson cccp, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.methods.ssvm import enumeration
from tests.lessons.run import lesson, run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "angle", "elongation", "low", "high"),
    [
        ("8 points, k = 1", 0, 0.0, 40.0, 45.0),  # the identity: stuck
        ("8 points, k = 1", 0, 0.3, 0.0, 1e-3),  # close by: the optimum
        ("6 points, k = 1", 90, 1.0, 30.0, 40.0),
        ("6 points, k = 3", 175, 0.0, 90.0, 100.0),  # W = 0
    ],
)
def test_cccp_descends_and_may_end_above_the_optimum(
    data: str, angle: int, elongation: float, low: float, high: float
) -> None:
    shown = run("cccp", data=data, angle=angle, elongation=elongation)
    X, y, k, solution, optimum = (shown[name] for name in ("X", "y", "k", "solution", "optimum"))
    assert optimum.certificate.proves(1e-6)
    assert low <= shown["stuck"] <= high
    u = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    assert u @ lesson("cccp").metric_of(shown["start_place"]) @ u == pytest.approx((1 + elongation) / 2)
    objectives = shown["objectives"]
    assert np.all(np.diff(objectives) <= 1e-12)
    assert optimum.lower_bound <= objectives.min() * (1 + 1e-9)
    Lam = 1.0 - np.eye(2)
    naive = [enumeration.objective(X, y, W, k, 1.0, Lam) for W in (*shown["path"], optimum.metric)]
    assert naive[-2] == pytest.approx(solution.objective)
    assert naive[-1] == pytest.approx(optimum.objective)
    assert len(shown["path"]) == len(objectives)
    assert naive[:-2] == pytest.approx(objectives[1:])


@pytest.mark.slow
def test_no_colour_of_the_disc_is_below_the_bound() -> None:
    shown = run("cccp", data="8 points, k = 1, others", angle=45, elongation=1.0)
    a, b, F = shown["disc"]
    assert F.min() >= shown["optimum"].lower_bound * (1 - 1e-9)
    assert F.min() <= 1.1 * shown["optimum"].objective
    assert F.max() <= 8 * (1 + 1e-12)  # F(0) = C N, and the best multiple is no worse
    module = lesson("cccp")
    assert module.place_of(module.metric_of((0.3, -0.4))) == pytest.approx([0.3, -0.4])
    assert np.linalg.eigvalsh(module.metric_of((a[-1, 7], b[-1, 7])))[0] == pytest.approx(0, abs=1e-12)
