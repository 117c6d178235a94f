"""The interior-point method for the sets of a step of gerrymandering, against gradient steps and its definitions."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.inference import loss_augmented, point_at, rescaled
from cvxml.methods.ssvm.instance import instance
from cvxml.methods.ssvm.step import Columns, SetRows, StepSolver
from cvxml.solvers.cone_dual import OwnMetric, Search
from cvxml.solvers.interior_point import interior
from cvxml.solvers.scaling import Scaling
from tests.instances import heavy_tails, needs_data, random_data

SEEDS = pytest.mark.parametrize("seed", range(3))


def columns(seed: int, wide: float = 0.0, C: float = 1.0) -> Columns:
    """The sets of a few inferences at random metrics, with all weight on h*."""
    X, y = random_data(seed, n=14, d=3)
    X = X * 10.0 ** np.random.default_rng(seed).uniform(-wide, wide, 3)
    p = instance(X, y, n_neighbors=2, C=C)
    eye = np.eye(3) / X.var(axis=0)
    found = Columns(p, point_at(p, eye).latent)
    for weight in (0.01, 0.3, 2.0):
        worst = loss_augmented(point_at(p, weight * eye).near, p.y, p.Lam).sets
        found.take_in(worst[:, None, :], np.ones((len(p.y), 1), dtype=bool))
    return found


def iterates(of: Columns) -> list[OwnMetric]:
    rows = SetRows(of)
    return [OwnMetric(of, of.feasible.project(rows.weights(u)), M[0]) for u, M in interior(rows)]


@SEEDS
@pytest.mark.parametrize("wide", [0.0, 2.0])
def test_every_iterate_is_feasible_and_the_last_is_optimal(seed: int, wide: float) -> None:
    of = columns(seed, wide)
    rows = SetRows(of)
    for u, M in interior(rows):
        q = rows.weights(u)
        assert (q[of.real] >= 0).all()
        np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-9)
        values = np.linalg.eigvalsh(M[0])
        assert values.min() >= -1e-14 * values.max()
    best = min(iterates(of), key=lambda at: at.gap)
    assert best.gap <= 1e-7 * (best.scale + of.C)


@SEEDS
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_its_optimum_is_that_of_gradient_and_newton_steps(seed: int, C: float) -> None:
    of = columns(seed, C=C)
    own = min(iterates(of), key=lambda at: at.gap)
    other = min((at for at, _ in Search(of, 1e-3, 3000).points(of.at(of.q))), key=lambda at: at.gap)
    assert own.value == pytest.approx(other.value, rel=1e-7)
    # a metric with this gap is within sqrt(2 gap / lam) of the optimum
    away = float(np.linalg.norm(own.metric() - other.metric()))
    assert away <= np.sqrt(own.gap) + np.sqrt(other.gap) + 1e-9 * np.linalg.norm(other.metric())


@SEEDS
def test_the_bound_of_a_point_is_that_of_its_weights(seed: int) -> None:
    """The metric of a point is its own, and its bound comes from the weights alone."""
    of, rng = columns(seed), np.random.default_rng(seed)
    q = of.feasible.project(rng.random(of.real.shape))
    root = rng.standard_normal((3, 3))
    at = OwnMetric(of, q, root @ root.T)
    assert of.bound(at) == pytest.approx(of.bound(of.at(q)), rel=1e-12)
    score = np.where(
        of.real, of.delta - of.margins(2 * np.linalg.eigvalsh(at.M), np.linalg.eigh(at.M)[1]), -np.inf
    )
    own = of.margins(2 * np.linalg.eigvalsh(at.M), np.linalg.eigh(at.M)[1])
    latent = (of.sets == of.latent[:, None, :]).all(axis=2) & of.real
    objective = float(np.sum(at.M**2)) + of.C * float(np.sum(score.max(axis=1)) + own[latent].sum())
    assert at.gap == pytest.approx(objective - of.bound(at), rel=1e-9)


@SEEDS
def test_the_rows_are_those_of_the_sets(seed: int) -> None:
    """G, the values and the rows of B, from sums over the members of each set."""
    of, rng = columns(seed), np.random.default_rng(seed)
    rows = SetRows(of)
    q = of.feasible.project(rng.random(of.real.shape))
    u = of.C * q[of.rows, of.columns]
    start = rows.start()
    state = start._replace(pairs=(start.pairs[0]._replace(value=u),))
    G = of.matrices(of.image(q))
    np.testing.assert_allclose(rows.G(state)[0], G, atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(rows.image(u) + rows.constant(), G, atol=1e-12 * np.abs(G).max())
    root = rng.standard_normal((3, 3))
    M = root + root.T  # a step may be indefinite
    scaling = Scaling(root @ root.T + np.eye(3), np.eye(3), 2.0)
    F, v = rows.features(scaling), rows.values(M)
    for t, (i, c) in enumerate(zip(of.rows.tolist(), of.columns.tolist(), strict=True)):
        E = of.X[i] - of.X[of.sets[i, c]]
        assert v[t] == pytest.approx(float(np.sum((E @ M) * E)))
        np.testing.assert_allclose(F[t], scaling.rows(E).sum(axis=0))


@SEEDS
@pytest.mark.parametrize("share", [1.0, 0.8])
def test_after_a_step_the_sum_of_every_group_is_cap(seed: int, share: float) -> None:
    """share: of cap, the sum before the step."""
    of, rng = columns(seed), np.random.default_rng(seed)
    rows = SetRows(of)
    start = rows.start()
    (before,) = start.pairs
    at = rows.enter(start._replace(pairs=(before._replace(value=share * before.value),)))
    rests = [rng.standard_normal(len(rows.group))]
    step = rng.standard_normal((3, 3))
    (pair,), level = rows.steps(rests, (step + step.T)[None])
    moved = np.bincount(rows.group, at.pairs[0].value + pair.value)
    np.testing.assert_allclose(moved, rows.cap, rtol=1e-9)
    u, s = at.pairs[0]
    np.testing.assert_allclose(
        u * pair.multiplier + s * pair.value, rests[0], atol=1e-9 * np.abs(rests[0]).max()
    )
    np.testing.assert_allclose(pair.multiplier, level[rows.group] + rows.values(step + step.T))


def gap_of_a_step(X: FloatArray, y: IntArray, C: float) -> tuple[float, float]:
    """The gap of the convex step from the Euclidean metric, and 1e-5 ||W||^2 plus rounding at its solution W.

    Gradient and Newton steps alone leave gaps of 1e-4 ||W||^2 and more. The step has one optimum. Whole runs end in
    local optima that depend on the last digits.
    """
    p = instance(X, y, C=C)
    at = rescaled(p, point_at(p, np.eye(X.shape[1])))
    step = StepSolver(p, at.latent).solve(at, 1e-6, early=False)
    return step.objective - step.bound, 1e-5 * step.best.norm2 + step.best.rounding(C)


@pytest.mark.parametrize(("seed", "spread", "C"), [(0, 1.5, 100.0), (0, 2.0, 1.0), (4, 1.5, 100.0)])
def test_a_step_is_solved_if_the_data_have_heavy_tails(seed: int, spread: float, C: float) -> None:
    gap, enough = gap_of_a_step(*heavy_tails(seed, spread, 40, 4), C)
    assert -enough <= gap <= enough


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_step_is_solved_on_real_features_with_their_units(C: float) -> None:
    gap, enough = gap_of_a_step(*datasets.subsample(*datasets.load("heart"), 80), C)
    assert -enough <= gap <= enough
