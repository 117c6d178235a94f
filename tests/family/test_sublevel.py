"""Bounds over all metrics that are no worse than one: by metrics that are drawn, and where all of them are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import project_psd
from cvxml.core.predictions import predictions
from cvxml.family.bound import value
from cvxml.family.method import FamilyMethod
from cvxml.family.rows import Weights
from cvxml.family.sublevel import Sublevel
from cvxml.family.symmetric import svec
from cvxml.methods import get
from tests.instances import real_data

METHODS = (
    "lmnn",
    "lmnn:squared_hinge",
    "mcml",
    "ldml",
    "dml_eig",
    "boostmetric",
    "frobmetric",
    "itml",
    "mmc",
)


def data() -> tuple[Any, Any]:
    X, y = real_data("iris")
    return (X / X.std(axis=0))[::8, :3], y[::8]


def sublevel(method: str, X: Any, y: Any, metric: Any = None, **params: Any) -> Sublevel:
    module, found = get(method), cvxml.solve(method, X, y, tol=1e-7, **params)
    assert isinstance(module, FamilyMethod)
    given = module.instance(X, y, **params)
    M = kept(method, given, worse(found.metric)) if metric is None else metric
    proof = module.certify(given, M, found.dual)
    return Sublevel(module.family(given), M, list(module.read(given, proof.dual)), found.metric)


def worse(M: Any) -> Any:
    """A little more, and not in proportion."""
    return project_psd(M + 3e-4 * np.linalg.norm(M) * np.diag(np.linspace(0.5, 1.0, len(M))))


def kept(method: str, given: Any, M: Any) -> Any:
    """Within the budget of the methods that have one."""
    if method not in ("dml_eig", "mmc"):
        return M
    e = given.X[given.pairs.similar[:, 0]] - given.X[given.pairs.similar[:, 1]]
    return M / float(np.einsum("pk,kl,pl->", e, M, e)) * (1 - 1e-9)


def members(method: str, given: Any, region: Sublevel) -> list[Any]:
    """Metrics of the region next to its boundary, in directions that are drawn; no bound has a part in it."""
    rng, found, d = np.random.default_rng(0), [], len(region.M)
    for draw in range(9):
        S = rng.standard_normal((d, 1 + draw % d))
        S = (1, -1, 1)[draw % 3] * S @ S.T + (draw % 3 == 2) * np.diag(rng.standard_normal(d))

        def at(t: float, S: Any = S) -> Any:
            return kept(method, given, project_psd(region.beside + t * S))

        low, high = 0.0, 10 * float(np.linalg.norm(region.M) / np.linalg.norm(S))
        for _ in range(25):
            t = (low + high) / 2
            low, high = (t, high) if value(region.family, at(t)).value <= region.F.value else (low, t)
        found.append(at(low))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_no_metric_that_is_drawn_contradicts_what_is_proved(method: str) -> None:
    X, y = data()
    region = sublevel(method, X, y)
    module = get(method)
    given = module.instance(X, y)
    box, drawn = region.box, members(method, given, region)
    assert box is not None
    pairs = np.array([[0, 1], [0, 12]])
    D = Weights(pairs, np.array([1.0, -1.0]))
    above, below = region.above(D), -region.above(Weights(pairs, -D.w))
    E, widest = np.linalg.inv(box.Y), 0.0
    for A in drawn:
        e, f = X[0] - X[1], X[0] - X[12]
        assert below <= float(e @ A @ e - f @ A @ f) <= above
        moved = np.abs(E @ svec((A - region.M) * box.units * box.units[:, None]))
        assert (moved <= box.r).all()
        widest = max(widest, float((moved / box.r).max()))
    assert widest > 1e-2  # the bounds are bounds of these, and not of anything

    found = predictions(X, given.y, region.M, math.inf, 3, region=region)
    assert found.same_vote.any()
    for A in drawn:
        for i in np.flatnonzero(found.same_vote):
            listed = nearest(X, i, A)
            assert np.bincount(given.y[listed], minlength=3).argmax() == found.votes[i]
            assert not found.same_neighbors[i] or set(listed) == set(found.neighbors[i])
    for turned in found.disagree:
        assert module.objective(given, turned.metric) <= module.objective(given, region.M) + 1e-9
        votes = np.bincount(given.y[nearest(X, turned.query, turned.metric)], minlength=3)
        assert votes.argmax() == turned.vote != found.votes[turned.query]


def nearest(X: Any, i: int, A: Any) -> Any:
    D = np.einsum("nk,kl,nl->n", X[i] - X, A, X[i] - X)
    D[i] = math.inf
    return np.argsort(D)[:3]


def test_two_metrics_within_the_gap_that_disagree_are_shown() -> None:
    X, y = data()
    M = worse(cvxml.solve("lmnn", X, y, tol=1e-7).metric)
    report = cvxml.check("lmnn", X, y, M + 0.1 * np.linalg.norm(M) * np.eye(3), diagnosed=False)
    found = report.predictions(3)
    assert found.disagree
    assert set(found.state) >= {"disputed"}
    assert "two metrics within the gap disagree" in str(found)
    for turned in found.disagree:
        assert report.objective is not None
        given = get("lmnn").instance(X, y)
        assert get("lmnn").objective(given, turned.metric) <= report.objective
        votes = np.bincount(given.y[nearest(X, turned.query, turned.metric)], minlength=3)
        assert votes.argmax() == turned.vote != found.votes[turned.query]


def test_of_many_optima_on_a_line_the_largest_is_the_bound() -> None:
    """LMNN with C = 1.2 and hinges at 3 m and 8 m: every m within 1/8 and 1/3 is optimal, at .4."""
    X, y = np.array([[0.0], [1.0], [3.0], [3.0]]), np.array([0, 0, 1, 1])
    lists = [(0, 1, 2), (1, 0, 2)]
    region = sublevel("lmnn", X, y, np.array([[0.2]]), mu=0.4, triplets=lists)
    assert region.F.value == pytest.approx(0.4)
    D = np.array([[0, 1]])
    assert 1 / 3 <= region.above(Weights(D, np.array([1.0]))) <= 0.34
    assert region.above(Weights(D, np.array([-1.0]))) >= -1 / 8


def test_points_that_no_price_can_reach_have_no_bound() -> None:
    """LMNN's targets do not differ in the second feature, of which any large metric is as good."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 1.0], [5.0, 1.0]])
    y = np.array([0, 0, 1, 1])
    region = sublevel("lmnn", X, y, np.eye(2), n_neighbors=1)
    assert region.above(Weights(np.array([[0, 2], [0, 1]]), np.array([1.0, -1.0]))) == math.inf
    assert region.box is None
    assert "no bound" in region.unknown


def test_where_the_problem_is_its_own_mirror_no_point_is_nearer_than_its_mirror() -> None:
    """With every metric its mirror is as good, and has the other of the two nearer."""
    rng = np.random.default_rng(1)
    half = rng.normal([2.0, 0.0], 1.0, (12, 2))
    y = np.arange(12) % 2
    X, y = np.concatenate([half, half[:, ::-1]]), np.concatenate([y, y])
    for method in ("mcml", "lmnn", "frobmetric"):
        region = sublevel(method, X, y, worse(np.eye(2)) if method == "frobmetric" else None)
        box = region.box
        assert box is not None
        E = np.array([0.3, 0.3]) - X
        nearer = box.nearer(E, np.arange(24))
        assert not nearer[np.arange(12), np.arange(12, 24)].any()
        assert not nearer[np.arange(12, 24), np.arange(12)].any()
