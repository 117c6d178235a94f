"""The interior-point method for boxes: feasible duals, the optimum of a slow twin, and data with heavy tails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Status
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods import get
from cvxml.solvers import box_dual
from cvxml.solvers.box_dual import BoxDual, Boxed
from cvxml.solvers.box_interior import BoxRows
from cvxml.solvers.cone_dual import At, OwnMetric, Search
from cvxml.solvers.interior_point import interior
from tests.instances import heavy_tails, needs_data

METHODS = ("frobmetric", "rtml", "plml")


def drawn(seed: int, kind: str) -> BoxDual:
    """A small problem: "hinge" or "smoothed", for points of equal scale; "wide", for features of different scale."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    if kind == "wide":
        X *= 10.0 ** rng.uniform(-3, 3, 3)
    y = np.arange(12) % 2
    targets = np.array([(i, (i + 2) % 12) for i in range(12)])
    loss = SmoothedHinge(0.5) if kind == "smoothed" else Hinge(0.5)
    term = Term(loss, Triplets(targets, y[targets[:, 0]][:, None] != y))
    return BoxDual(Family(Frobenius(X, 10.0 ** rng.uniform(-2, 2)), (term,), of_regularizer=True))


def of_method(method: str, X: FloatArray, y: IntArray, **params: Any) -> BoxDual:
    found = get(method)
    return BoxDual(found.family(found.instance(X, y, **params)))  # type: ignore[attr-defined]


def iterates(dual: BoxDual) -> list[OwnMetric]:
    return [OwnMetric(dual, dual.feasible.project(a), M) for a, M in interior(BoxRows(dual))]


@pytest.mark.parametrize("kind", ["hinge", "smoothed", "wide"])
@pytest.mark.parametrize("seed", range(8))
def test_every_iterate_is_feasible_and_the_last_is_optimal(seed: int, kind: str) -> None:
    dual = drawn(seed, kind)
    for a, M in interior(BoxRows(dual)):
        assert ((dual.low <= a) & (a <= dual.high)).all()
        values = np.linalg.eigvalsh(M)
        assert values.min() >= -1e-14 * values.max()
    best = min(iterates(dual), key=lambda at: at.gap)
    assert best.gap <= 1e-7 * best.value


@pytest.mark.parametrize("kind", ["hinge", "smoothed"])
@pytest.mark.parametrize("seed", range(3))
def test_its_optimum_is_that_of_gradient_and_newton_steps(seed: int, kind: str) -> None:
    dual = drawn(seed, kind)
    own = min(iterates(dual), key=lambda at: at.gap)
    start = dual.at(np.zeros(len(dual.low)))
    other = min((at for at, _ in Search(dual, dual.lam, 2000).points(start)), key=lambda at: at.gap)
    assert own.value == pytest.approx(other.value, rel=1e-8)
    # a metric with this gap is within sqrt(2 gap / lam) of the optimum
    away = float(np.linalg.norm(own.metric() - other.metric()))
    assert away <= np.sqrt(2 * own.gap / dual.lam) + np.sqrt(2 * other.gap / dual.lam) + 1e-12


@pytest.mark.parametrize("kind", ["hinge", "smoothed", "wide"])
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_of_a_metric_is_its_objective_less_the_dual_objective(seed: int, kind: str) -> None:
    """The objective comes from the definition of the loss, and the dual objective from its formula."""
    dual, rng = drawn(seed, kind), np.random.default_rng(seed)
    a = rng.uniform(dual.low, dual.high)
    root = rng.standard_normal((3, 3)) / np.abs(dual.E).max(axis=0)[:, None]
    M = (root @ root.T)[None]
    D = np.einsum("pa,ab,pb->p", dual.E, M[0], dual.E)
    v, g, high = dual.B @ D, dual.width, dual.high
    slack = np.maximum(1 - v, 0)
    loss = np.where(slack <= g * high, slack**2 / np.maximum(2 * g, 1e-300), high * (slack - g * high / 2))
    objective = dual.lam / 2 * float(np.sum(M**2)) + float(loss.sum())
    G = np.einsum("p,pa,pb->ab", dual.B.T @ a, dual.E, dual.E)
    kept = np.maximum(np.linalg.eigvalsh(G), 0)
    bound = float(np.sum(a) - g @ a**2 / 2) - float(np.sum(kept**2)) / (2 * dual.lam)
    at = OwnMetric(dual, a, M)
    assert at.gap == pytest.approx(objective - bound, rel=1e-9, abs=1e-9 * abs(bound))
    assert at.scale == pytest.approx(dual.lam / 2 * float(np.sum(M**2)))


@pytest.mark.parametrize("method", METHODS)
def test_several_metrics_and_the_losses_of_the_methods(method: str) -> None:
    X, y = heavy_tails(0, 1.0, 30, 3)
    best = min(iterates(of_method(method, X, y)), key=lambda at: at.gap)
    assert best.gap <= 1e-8 * best.scale


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_heavy_tails_are_certified(method: str, seed: int) -> None:
    """RTML stalled on all three, with gaps of 2e5 to 5e6 times its scale."""
    X, y = heavy_tails(seed, 2.0, 50, 5)
    assert cvxml.solve(method, X, y).status is Status.CONVERGED


@needs_data
@pytest.mark.parametrize("method", [*METHODS[:2], pytest.param("plml", marks=pytest.mark.slow)])
def test_real_features_with_their_units_are_certified(method: str) -> None:
    X, y = datasets.subsample(*datasets.load("australian"), 150)
    assert cvxml.solve(method, X, y).status is Status.CONVERGED


def test_the_first_steps_go_on_if_all_others_are_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a problem that only the first steps solve would be lost."""
    made: list[Search] = []

    class OnlyFirst(Search):
        def points(self, start: At) -> Iterator[tuple[At, str]]:
            made.append(self)
            return super().points(start) if len(made) == 1 else iter([(start, "start")])

    def useless(rows: BoxRows) -> Iterator[tuple[FloatArray, FloatArray]]:
        yield np.zeros(len(rows.of.low)), np.eye(3)[None]

    monkeypatch.setattr(box_dual, "Search", OnlyFirst)
    monkeypatch.setattr(box_dual, "interior", useless)
    monkeypatch.setattr(box_dual, "patience_for", lambda *_: 3)
    solver = Boxed(drawn(0, "hinge"))
    while solver.step():
        pass
    assert len(made) == 2
    assert solver.at.gap <= 1e-8 * solver.at.scale


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_tiny_reaches_give_no_warning() -> None:
    """In this problem, the reach of some entries falls below 1e-308."""
    solver = Boxed(drawn(9, "wide"))
    for _ in range(25):
        if not solver.step():
            break
    assert solver.at.gap <= 1e-6 * solver.at.scale


def test_a_start_beyond_double_precision_ends_the_method() -> None:
    """The first metric is a multiple of I, here 1e-10 / 1e-320."""
    dual = drawn(0, "hinge")
    dual.lam = 1e-320
    assert list(interior(BoxRows(dual))) == []
