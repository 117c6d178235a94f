"""Bounds over all metrics that are no worse than one: by metrics that are drawn, and where all of them are known."""

from __future__ import annotations

import itertools
import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import project_psd
from cvxml.core.predictions import predictions
from cvxml.family.geometry.budget import budget, most
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.nearby import sublevel as bounding
from cvxml.family.nearby.sublevel import Box, Sublevel
from cvxml.family.rows.base import Weights
from cvxml.family.theorem.theorem import value
from cvxml.methods import get
from cvxml.solvers.family_method import FamilyMethod
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


@pytest.mark.quick(2)
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


# what a bound may leave: a share of how far the largest is from what our own metric has; kinks are followed roughly
LOOSE = {"frobmetric": 2.0, "mmc": 15.0, "mcml": 0.25, "ldml": 0.25, "boostmetric": 0.25, "itml": 0.25}


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", LOOSE)
def test_a_bound_is_near_the_largest_that_the_literal_problem_has(method: str) -> None:
    """Of all metrics that the statement calls feasible and no worse; and not below that."""
    rng, y = np.random.default_rng(0), np.arange(8) % 2
    X = rng.standard_normal((8, 2))
    X[:, 0] += 2 * y
    given, best = get(method).instance(X, y), cvxml.solve(method, X, y, tol=1e-9).metric
    tilted = best + 0.03 * np.linalg.norm(best) * np.diag([1.0, -0.5 if method == "mmc" else 0.5])
    region = sublevel(method, X, y, kept(method, given, tilted))
    stated = cvxml.problem(method, X, y)
    A = next(each for each in stated.variables() if each.shape == (2, 2))
    pairs = np.array([[0, 1], [0, 7]])
    E = X[pairs[:, 0]] - X[pairs[:, 1]]
    for w in (np.array([1.0, -1.0]), np.array([-1.0, 1.0])):
        D = np.einsum("t,ta,tb->ab", w, E, E)
        no_worse = stated.objective.args[0] <= region.F.value
        most = cp.Problem(cp.Maximize(cp.trace(D @ A)), [*stated.constraints, no_worse]).solve(cp.CLARABEL)
        far, above = most - float(np.sum(D * best)), region.above(Weights(pairs, w))
        assert -1e-4 * far <= above - most <= LOOSE[method] * far


def nearest(X: Any, i: int, A: Any) -> Any:
    D = np.einsum("nk,kl,nl->n", X[i] - X, A, X[i] - X)
    D[i] = math.inf
    return np.argsort(D)[:3]


@pytest.mark.slow
def test_two_metrics_within_the_gap_that_disagree_are_shown() -> None:
    X, y = data()
    M = worse(cvxml.solve("lmnn", X, y, tol=1e-7).metric)
    report = cvxml.check("lmnn", X, y, M + 0.1 * np.linalg.norm(M) * np.eye(3), diagnosed=False)
    found = report.predictions(3)
    assert found.disagree
    assert set(found.state) >= {"disputed"}
    assert "disagree" in str(found)
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


def test_of_an_infimum_that_no_metric_attains_nothing_is_predicted() -> None:
    """The second feature alone moves a dissimilar pair apart, at no cost: no metric is optimal."""
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 1.0]]
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3], [3, 4], [0, 5]]}
    report = cvxml.check("ldml", X, [0, 0, 1, 1, 0, 1], np.eye(2), pairs=pairs, b=1.0, diagnosed=False)
    found = report.predictions(1)
    assert set(found.state) == {"not proved"}
    assert "infimum" in found.left
    assert found.left in str(found)


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", METHODS)
def test_of_two_points_at_one_place_neither_is_nearer(method: str) -> None:
    """Tilted by their difference, which is 0, the problem is what it was."""
    rng = np.random.default_rng(0)
    X, y = (
        rng.standard_normal((11, 2)) + np.array([1.0, 0.0]) * (np.arange(11) % 2)[:, None],
        np.arange(11) % 2,
    )
    X[2::4] = X[0::4]
    for scale in (1.0,) if method == "frobmetric" else (1e-3, 1.0, 1e3):  # its norm has units
        units = {"itml": {"prior": "covariance"}, "boostmetric": {"v": 0.5 * scale**2}}
        region = sublevel(method, scale * X, y, **units.get(method, {}))
        for query in (1, 3, 5, 8):
            for a, b in ((0, 2), (4, 6)):
                assert not region.closer(query, a, b)
                assert not region.closer(query, b, a)


def test_no_sum_of_distances_with_signs_is_less_than_that_of_the_metric_0() -> None:
    """Within a budget 0 is a metric: minus a distance is at most 0, and no less."""
    at = budget(np.eye(2), 2)
    assert most(at, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, -1.0])).value == 0
    cancelled = most(at, np.array([[3.0, 1.0], [3.0, 1.0]]), np.array([1.0, -1.0]))
    assert cancelled.value > 0  # each of the two is rounded


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", ["itml", "mmc", "ldml"])
def test_votes_are_of_the_labels_where_pairs_were_given(method: str) -> None:
    X, y = data()
    pairs = {"similar": [[0, 1], [7, 8], [13, 14]], "dissimilar": [[0, 7], [1, 13], [8, 14]]}
    report = cvxml.check(method, X, y, 1e-3 * np.eye(3), pairs=pairs, diagnosed=False)
    found = report.predictions(1)
    assert found.votes.tolist() == [int(y[row[0]]) for row in found.neighbors]


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


def test_a_box_says_of_two_points_what_all_its_corners_agree_on() -> None:
    """Directions that are the entries of a matrix: a corner is M with each entry moved by its r."""
    units, M = np.array([2.0, 0.5]), np.array([[2.0, 0.3], [0.3, 1.0]])
    r = np.array([0.6, 0.8, 0.3])
    box = Box(units, M, np.eye(3), r, 0.0, 1.0)
    corners = [
        (M + smat(np.array(signs) * r, 2)) / units / units[:, None]
        for signs in itertools.product((-1.0, 1.0), repeat=3)
    ]
    E = np.random.default_rng(0).standard_normal((30, 2))
    D = np.array([np.einsum("tk,kl,tl->t", E, A, E) for A in corners])
    agreed = np.array([(D[:, [a]] < D - 1e-9).all(axis=0) for a in range(30)])
    assert 100 < agreed.sum() < 400
    np.testing.assert_array_equal(box.nearer(E, np.arange(30)), agreed)


@pytest.mark.parametrize("best", [1 / 9, 1 / 3, 1.0, 3.0, 27.0])
def test_the_best_tilt_is_looked_for_on_both_sides(best: float) -> None:
    X, y = data()
    tried: list[float] = []

    def bound(tilt: float) -> float:
        tried.append(tilt)
        return abs(math.log(tilt / best))

    assert sublevel("frobmetric", X, y)._best(bound, 1.0) == pytest.approx(0.0, abs=1e-9)
    assert len(tried) <= 6


def test_what_is_no_metric_or_beyond_the_budget_is_none_of_the_region() -> None:
    X, y = data()
    of_lmnn, within = sublevel("lmnn", X, y), sublevel("dml_eig", X, y)
    values, vectors = np.linalg.eigh(of_lmnn.beside)
    indefinite = of_lmnn.beside - 1e-3 * values[-1] * np.outer(vectors[:, 0], vectors[:, 0])
    assert value(of_lmnn.family, indefinite).value < of_lmnn.F.value
    assert value(within.family, 1.5 * within.beside).value < within.F.value
    for region, wrong in ((of_lmnn, indefinite), (within, 1.5 * within.beside)):
        size = np.linalg.norm(region.beside)
        assert region.holds((1 - 1e-5) * region.beside + 1e-7 * size * np.eye(3))
        assert not region.holds(wrong)
        assert not region.holds(region.M + 10 * (region.M - region.beside))


def test_what_rounding_may_do_to_the_objective_is_counted_against_what_is_said() -> None:
    """LMNN on a line: .4 from 1/8 to 1/3, and beyond with slope 1.2."""
    X, y = np.array([[0.0], [1.0], [3.0], [3.0]]), np.array([0, 0, 1, 1])
    for error, largest in ((0.0, 1 / 3 + 0.1), (0.12, 1 / 3 + 0.2)):
        region = sublevel("lmnn", X, y, np.array([[0.2]]), mu=0.4, triplets=[(0, 1, 2), (1, 0, 2)])
        region.F = region.F._replace(value=0.52, error=error)
        assert region.above(Weights(np.array([[0, 1]]), np.array([1.0]))) >= largest
        assert region.holds(np.array([[1 / 3 + 0.05]])) == (error == 0)


@pytest.mark.parametrize("method", ["mcml", "ldml", "boostmetric"])
def test_a_share_that_is_too_large_proves_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are looked at again once they are mixed: however the share came about."""
    X, y = data()
    region = sublevel(method, X, y)
    assert region.response is not None
    D = Weights(np.array([[0, 1]]), np.array([1.0]))
    along = region.response.along(D)
    assert along is not None
    moves, tilt = along
    still = [0 * move for move in moves]
    here = float((X[0] - X[1]) @ region.M @ (X[0] - X[1]))
    assert here <= region._at(D, still, 100 * tilt) < math.inf
    monkeypatch.setattr(bounding, "share_of", lambda strict, other: 1.0)
    assert region._at(D, still, 100 * tilt) == math.inf
