"""Cutting planes: against cvxpy with every row, strictly feasible iterates, and each step against a slow twin."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import LinAlgError

from cvxml.core.metric import FloatArray
from cvxml.methods.mlr import cutting_planes
from cvxml.methods.mlr.cutting_planes import BOUNDARY, IDLE, Cuts, CuttingPlanes


class Pool:
    """All rows there are: 4 groups of 6, and a group whose rows nothing misses."""

    def __init__(self, seed: int, c: float, d: int = 3):
        rng = np.random.default_rng(seed)
        self.c, self.d, self.groups = c, d, 5
        E = rng.standard_normal((2, 30, d))
        V = E[0][:, :, None] * E[0][:, None] - 0.5 * E[1][:, :, None] * E[1][:, None]
        b = rng.random(30)
        b[24:] = -1.0
        V[24:] = 0.0
        self.cuts = Cuts(np.repeat(np.arange(5), 6), b, V, np.arange(30))

    def worst(self, M: FloatArray) -> tuple[FloatArray, Cuts]:
        """Row by row."""
        short = [b - float(np.sum(M * V)) for b, V in zip(self.cuts.b, self.cuts.V, strict=True)]
        rows = [max(range(6 * g, 6 * g + 6), key=lambda t: short[t]) for g in range(self.groups)]
        return np.array([short[t] for t in rows]), self.cuts.some(rows)

    def objective(self, M: FloatArray) -> float:
        return float(np.trace(M)) + self.c * sum(max(0.0, value) for value in self.worst(M)[0])

    def optimum(self) -> float:
        M, xi = cp.Variable((self.d, self.d), PSD=True), cp.Variable(self.groups, nonneg=True)
        rows = [xi[g] >= b - cp.trace(M @ V) for g, b, V in zip(*self.cuts[:3], strict=True)]
        return float(cp.Problem(cp.Minimize(cp.trace(M) + self.c * cp.sum(xi)), rows).solve(cp.CLARABEL))

    def solver(self) -> CuttingPlanes:
        none = self.cuts.some(np.zeros(0, dtype=np.intp))
        found = CuttingPlanes(self.worst, none, np.zeros(0), self.groups, self.c)
        found.begin(0.1 * np.eye(self.d))
        return found


def check_inside(at: CuttingPlanes, price: FloatArray, cuts: Cuts) -> None:
    """Prices that prove something: none is negative, no group has more than c, and Z is definite."""
    assert (price >= 0).all()
    for g in range(at.groups):
        assert sum(price[cuts.group == g]) <= at.c
    Z = np.eye(at.d) - sum((p * V for p, V in zip(price, cuts.V, strict=True)), np.zeros((at.d, at.d)))
    assert np.linalg.eigvalsh(Z)[0] > 0


@pytest.mark.parametrize("c", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_against_cvxpy_with_every_row(seed: int, c: float) -> None:
    pool = Pool(seed, c)
    at, best = pool.solver(), pool.optimum()
    for _ in range(60):
        assert at.bound <= best + 1e-6 * (1 + best)
        assert at.objective >= best - 1e-6 * (1 + best)
        if at.objective - at.bound <= 1e-8 * at.objective:
            break
        assert at.step()
        check_inside(at, at.price, at.cuts)
        assert np.linalg.eigvalsh(at.M)[0] > 0
        assert (at.xi > 0).all()
        assert (at.xi[at.cuts.group] - at.cuts.short(at.M) > 0).all()
    assert at.objective - at.bound <= 1e-8 * at.objective
    assert at.objective == pytest.approx(pool.objective(at.best), rel=1e-12)
    assert at.bound == pytest.approx(sum(at.best_cuts.b * at.best_price), rel=1e-12)
    check_inside(at, at.best_price, at.best_cuts)
    assert best == pytest.approx(at.objective, rel=1e-6, abs=1e-7)


def test_a_step_along_the_path_closes_most_of_the_gap() -> None:
    """The parameter goes to 0.15 of the gap: ten steps of a direction that is right leave less than 1e-4 of it."""
    pool = Pool(2, 3.0)
    at = pool.solver()
    at._list(at.objective - at.bound)
    gaps = [at._newton(0.0) for _ in range(11)]
    assert gaps[10] <= 1e-4 * gaps[0]
    assert all(later < gap for gap, later in pairwise(gaps))


def test_rows_are_listed_once_and_go_when_they_have_no_price() -> None:
    pool = Pool(3, 1.0)
    at = pool.solver()
    gap = at.objective - at.bound
    at._list(gap)
    first = at.cuts.name.tolist()
    assert 0 < len(first) <= 4  # none of the group that nothing misses
    at._look()
    at._list(gap)
    assert len(set(at.cuts.name.tolist())) == len(at.cuts.name)
    at.price = np.where(np.arange(len(at.price)) == 0, 1e-9, at.price)
    at.idle = np.full(len(at.price), IDLE - 1)
    gone, kept = at.cuts.name[0], at.cuts.name[1:]
    at.value, at.found = np.full(at.groups, -1.0), pool.worst(at.M)[1]  # nothing new
    at._list(gap)
    assert gone not in at.cuts.name
    assert set(kept.tolist()) == set(at.cuts.name.tolist())
    check_inside(at, at.price, at.cuts)


@pytest.mark.parametrize("rounded", [False, True])
def test_the_linear_system(rounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """K explicitly; and from its root, where its factor fails."""
    rng = np.random.default_rng(4)
    diagonal, b = rng.random(6) + 0.1, rng.standard_normal(6)
    centred, mean = rng.standard_normal((5, 6)), rng.standard_normal((3, 6))
    roots = [diagonal, rng.random(5), rng.random(3)]
    K = np.diag(diagonal**2)
    for r, rows in zip(roots[1:], (centred, mean), strict=True):
        for weight, e in zip(r, rows, strict=True):
            K += weight**2 * np.outer(e, e)

    def fails(_: Any) -> None:
        raise LinAlgError

    if rounded:
        monkeypatch.setattr("cvxml.methods.mlr.cutting_planes.cho_factor", fails)
    np.testing.assert_allclose(
        cutting_planes._solved(roots, centred, mean, b), np.linalg.solve(K, b), rtol=1e-9
    )


def test_the_longest_step() -> None:
    """A share of the way to the boundary, which is found by bisection; 1 where that is far."""
    rng = np.random.default_rng(5)
    for size in (0.1, 3.0, 40.0):
        x, dx, E = rng.random(6) + 0.1, size * rng.standard_normal(6), rng.standard_normal((4, 4))
        S = size * (E + E.T)

        def bisected(inside: Any) -> float:
            low, high = 0.0, 100.0
            for _ in range(80):
                low, high = ((low + high) / 2, high) if inside((low + high) / 2) else (low, (low + high) / 2)
            return min(1.0, BOUNDARY * low)

        at = bisected(lambda t, x=x, dx=dx: (x + t * dx > 0).all())
        assert cutting_planes._longest(x, dx) == pytest.approx(at, rel=1e-9)
        at = bisected(lambda t, S=S: np.linalg.eigvalsh(np.eye(4) + t * S)[0] > 0)
        assert cutting_planes._longest_of(S) == pytest.approx(at, rel=1e-9)
    assert cutting_planes._longest(np.ones(2), np.ones(2)) == cutting_planes._longest_of(np.eye(2)) == 1.0
