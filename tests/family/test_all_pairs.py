"""Every two points by blocks, beside the same pairs in a list: sums, proofs and solutions are the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core import pairs
from cvxml.core.metric import FloatArray, IntArray, units_of
from cvxml.core.pairs import KINDS, Paired, pairs_by_labels
from cvxml.core.result import Solution
from cvxml.family.geometry.budget import BudgetFeasibility
from cvxml.family.regularizers.budget import Budget
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import UNPRICED
from cvxml.family.unlisted import all_pairs
from cvxml.family.unlisted.all_budget import Across, AllSimilar, Kept
from cvxml.family.unlisted.all_pairs import Laplacian, Table, classes, error_of
from cvxml.methods import dml_eig, get, mcml, mmc
from cvxml.methods.mcml import all_softmaxes
from cvxml.methods.mcml.all_softmaxes import AllSoftmaxes
from cvxml.methods.mmc.all_roots import AllRoots
from cvxml.numbers.rounding import EPS, Distances, Images, Seen, seen
from tests.instances import random_data

METHODS = {"mmc": mmc, "mcml": mcml, "dml_eig": dml_eig}


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of few rows."""
    monkeypatch.setattr(all_pairs, "BLOCK", 16)
    monkeypatch.setattr(all_softmaxes, "BLOCK", 64)


def many(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(METHODS[method] if method == "mcml" else pairs, "MAX_POINTS_LISTED", 5)


def data(seed: int, n: int = 24, d: int = 3) -> tuple[FloatArray, IntArray]:
    """With a point that is alone in its class, and similar points that are equal."""
    X, y = random_data(seed, n=n, d=d, classes=3)
    X, y = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1].astype(np.intp)
    y[5] = 3
    i, j = np.flatnonzero(y == y[0])[:2]
    X[i] = X[j]
    return X, y


def exactly(rows: FloatArray) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in rows.tolist()]


def norm_of_the_rest(found: FloatArray, exact: list[list[Fraction]]) -> float:
    rest = [
        [float(Fraction(x) - y) for x, y in zip(*rows, strict=True)]
        for rows in zip(found.tolist(), exact, strict=True)
    ]
    return float(np.linalg.norm(np.array(rest), 2))


def exact_sum(z: FloatArray, weights: dict[tuple[int, int], Any]) -> list[list[Fraction]]:
    """sum w (z_i - z_j)(z_i - z_j)^T, pair by pair."""
    points, r = exactly(z), z.shape[1]
    S = [[Fraction(0)] * r for _ in range(r)]
    for (i, j), w in weights.items():
        e = [a - b for a, b in zip(points[i], points[j], strict=True)]
        S = [[S[a][b] + Fraction(w) * e[a] * e[b] for b in range(r)] for a in range(r)]
    return S


@pytest.mark.parametrize("seed", range(6))
def test_every_two_points_of_two_classes_are_met_once(seed: int) -> None:
    _, y = data(seed)
    of = classes(y)
    met = [
        tuple(sorted((int(i), int(j))))
        for rows, columns in of.across()
        for i in of.order[rows]
        for j in of.order[columns]
    ]
    assert sorted(met) == sorted(map(tuple, pairs_by_labels(y).dissimilar.tolist()))


@pytest.mark.parametrize("seed", range(10))
def test_sums_over_pairs_are_off_by_no_more_than_they_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 15)
    z = rng.normal(size=(15, 3)) * 10.0 ** rng.integers(-4, 5, 3) + rng.integers(0, 2) * 1e6
    nothing = np.zeros(len(z))
    of, w = classes(y), rng.random(3)
    S, error = of.scatter(Images(z, nothing), w)
    own = {
        (i, j): Fraction(w[y[i]]) / int(np.sum(y == y[i]))
        for i, j in combinations(range(15), 2)
        if y[i] == y[j]
    }
    assert norm_of_the_rest(S, exact_sum(z, own)) <= error
    G, weights = Laplacian(z), rng.exponential(size=(15, 15)) ** 4
    for rows in np.array_split(np.arange(15), 4):
        G.add(G.part(rows, slice(None), weights[rows]))
    S, error = G.proved(nothing)
    every = {(i, j): weights[i, j] for i in range(15) for j in range(15)}
    assert norm_of_the_rest(S, exact_sum(z, every)) <= error


@pytest.mark.parametrize("seed", range(10))
def test_a_table_is_off_by_no_more_than_its_points(seed: int) -> None:
    X, _ = data(seed)
    X = X + 10.0 ** (seed - 3)
    root = np.random.default_rng(seed).normal(size=(3, 3))
    A = root @ root.T
    sight = seen(X, A)
    error, D = error_of(sight), Table(sight.images.at).of(slice(None), slice(None))
    points, metric = exactly(X), exactly(A)
    for i, j in combinations(range(len(X)), 2):
        e = [a - b for a, b in zip(points[i], points[j], strict=True)]
        d = sum(e[a] * metric[a][b] * e[b] for a in range(3) for b in range(3))
        assert abs(d - Fraction(D[i, j])) <= Fraction(error[i] + error[j])


@pytest.mark.parametrize("seed", range(6))
def test_checks_need_no_list(seed: int) -> None:
    X, y = data(seed)
    X[np.flatnonzero(y == 1)[0]] = X[5]  # equal points of two classes
    by_labels, given = Paired(X, y, None), Paired(X, 0 * y, pairs_by_labels(y))
    for kind in KINDS:
        widest = np.abs(by_labels.widest(kind)).max(axis=0)
        of_all = np.abs(given.widest(kind)).max(axis=0)
        assert (widest >= of_all).all()
        similar = np.abs(given.widest("similar")).max(axis=0)
        np.testing.assert_array_equal(np.maximum(widest, similar), np.maximum(of_all, similar))
    assert by_labels.equal.tolist() == given.equal.tolist() != []
    span = np.linalg.matrix_rank(X[by_labels.linked[:, 0]] - X[by_labels.linked[:, 1]])
    assert span == np.linalg.matrix_rank(given.similar)


def agree(by_blocks: Any, listed: Any, slack: float = 0.0) -> None:
    """Two proofs of one metric by the same prices."""
    room = by_blocks.rounding + listed.rounding + by_blocks.value_rounding + listed.value_rounding
    assert abs(by_blocks.objective - listed.objective) <= room
    assert abs(by_blocks.lower_bound - listed.lower_bound) <= room + slack * abs(listed.objective)
    assert by_blocks.feasibility.feasible == listed.feasibility.feasible


@pytest.mark.parametrize("seed", range(6))
def test_roots_by_blocks_prove_what_the_list_does(seed: int) -> None:
    X, y = data(seed)
    root, other = np.random.default_rng(seed).normal(size=(2, 3, 3))
    given = mmc.instance(X, y)
    method = mmc.MMC(diagonal=False)
    everyone = AllRoots(X, y, given.rank)
    for A, at in ((root @ root.T, other @ other.T), (root @ root.T, root @ root.T), (-np.eye(3), np.eye(3))):
        agree(everyone.certify(A, at), method.certify(given, A, {"metric": at}), 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_softmaxes_by_blocks_prove_what_the_table_does(seed: int) -> None:
    X, y = data(seed)
    root, other = np.random.default_rng(seed).normal(size=(2, 3, 3))
    given, everyone = mcml.instance(X, y), AllSoftmaxes(X, y)
    best = cvxml.solve("mcml", X, y, tol=1e-6).metric
    for A, at in ((root @ root.T, other @ other.T), (best, best), (best, 1.01 * best)):
        by_blocks, table = everyone.certify(A, at), mcml.METHOD.certify(given, A, {"metric": at})
        room = by_blocks.rounding + table.rounding + table.value_rounding
        assert abs(by_blocks.objective - table.objective) <= room
        # The entropy of a mixture is no less than the mixture of entropies, which is what is proved by blocks.
        assert by_blocks.lower_bound <= table.lower_bound + room + 1e-9 * abs(table.objective)
        assert by_blocks.lower_bound >= everyone.level - 1e-9 * abs(everyone.level)
    assert everyone.certify(best, best).rel_gap < 1e-2


@pytest.mark.parametrize("method", ["mmc", "mcml"])  # the family of dml_eig does not list the pairs
def test_too_many_pairs_are_not_listed_for_an_objective(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, method)
    X, y = data(0)
    of = get(method)
    given = of.instance(X, y)

    def listed(*_: Any) -> Any:
        raise AssertionError("all pairs are listed")

    monkeypatch.setattr(type(of), "member", listed)
    metric = of.allowed(given, np.eye(3))
    assert of.fast_objective(given, metric) == of.objective(given, metric)


@pytest.mark.parametrize("seed", range(6))
def test_a_budget_and_rows_that_are_not_listed(seed: int) -> None:
    X, y = data(seed)
    root, every = np.random.default_rng(seed).normal(size=(3, 3)), pairs_by_labels(y)
    listed, by_classes = Budget(X, every.similar, 0 * y, 3), AllSimilar(X, y, 3)
    A = root @ root.T
    views = by_classes.judge(A).view, listed.judge(A).view
    D = [view.pairs(every.dissimilar) for view in views]
    assert (np.abs(D[0].D - D[1].D) <= D[0].error + D[1].error).all()
    rows, n = Across(by_classes.classes), len(X)
    keys = every.dissimilar @ (n, 1)
    assert rows.size == len(keys)
    order = np.argsort(keys)
    z = X @ root
    near, v = rows.near(z, float(np.median(D[1].D)))
    same_keys, same_v = PairRows(every.dissimilar[order]).near(z, float(np.median(D[1].D)))
    assert near.tolist() == keys[order][same_keys].tolist()
    np.testing.assert_array_equal(v, same_v)
    assert rows.least(z) == PairRows(every.dissimilar).least(z)
    least, room = float(D[0].D.min()), 2 * float(D[0].error[np.argmin(D[0].D)])
    (block,) = rows.blocks(views[0], Duals(np.array([2.0]), keys[-1:]))
    assert abs(float(block.v.min()) - least) <= room
    assert block.a.sum() == 2.0
    (bare,) = rows.blocks(views[0], UNPRICED)
    assert abs(float(bare.v.min()) - least) <= room


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_of_many_is_that_of_the_list_wherever_the_points_are(seed: int) -> None:
    """In the same units, too: within these a matrix is a metric, or not."""
    X, y = data(seed, n=60)
    X = X + 10.0 ** (11 + seed)
    similar = pairs_by_labels(y).similar
    listed, by_classes = Budget(X, similar, 0 * y, 3), AllSimilar(X, y, 3)
    A = np.diag([1.0, 1e4, 1e8]) / np.sum(listed.E**2) - 1e-3 * np.eye(3)
    found, same = by_classes.judge(A).feasibility, listed.judge(A).feasibility
    assert isinstance(found, BudgetFeasibility)
    assert isinstance(same, BudgetFeasibility)
    assert abs(found.spent - same.spent) <= 1e-12 * same.spent
    assert (by_classes.unit == units_of(listed.E)).all()
    assert found.min_eigenvalue == pytest.approx(same.min_eigenvalue, rel=1e-9)
    assert found.away >= same.away * (1 - 1e-9)


def test_what_the_budget_is_off_by_is_in_every_distance() -> None:
    """Divided by half as much it is twice as large, and so is what it is off by."""
    X, y = data(0)
    view = AllSimilar(X, y, 3).judge(np.eye(3) * 1e-9).view
    assert isinstance(view, Kept)
    index = pairs_by_labels(y).dissimilar
    D, error = view.sight.of(X[index[:, 0]] - X[index[:, 1]])
    error = error + D / 10
    wide = view._replace(sight=_Off(view.sight, D, error), share=0.5).pairs(index)
    assert (wide.error >= D + 2 * error).all()


class _Off:
    """Distances as given."""

    def __init__(self, sight: Seen, D: FloatArray, error: FloatArray):
        self.images, self.found = sight.images, Distances(D, error)

    def of(self, E: FloatArray) -> Distances:
        return self.found


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_is_a_matter_of_the_dual_alone(seed: int, scale: float) -> None:
    """Who compares two gaps to it compares objectives; also where points of two classes are equal."""
    X, y = data(seed)
    i, j = np.argmax(y == y[0]), np.argmax(y != y[0])
    X[i] = X[j]
    at, other = (root @ root.T * scale for root in np.random.default_rng(seed).normal(size=(2, 3, 3)))
    for everyone in (AllRoots(X, y, 3), AllSoftmaxes(X, y)):
        bounds = {everyone.certify(A, at).lower_bound for A in (at, other, 1.1 * at, np.zeros((3, 3)))}
        assert len(bounds) == 1
        own = everyone.search(1e-3, 100, None, None)
        bounds = {everyone.certify(A, own.dual["metric"]).lower_bound for A in (own.metric, at)}
        assert len(bounds) == 1


def test_distances_that_cancel_are_prices() -> None:
    """Of points on a line next to the one in which the metric sees none: in floats products of them are negative."""
    x = np.array([1.0, 3.1, 4.7, 7.3, 8.9, 12.1])
    X, y = np.column_stack([x, x * (1 + 2.0**-50)]) / 3, np.array([0, 0, 0, 0, 0, 1])
    A = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 1e16
    given = mmc.instance(X, y)
    for turn in range(50):
        c, s = np.cos(turn), np.sin(turn)
        at = A + 1e16 * 2.0**-52 * np.array([[c * c, c * s], [c * s, s * s]])
        (duals,) = mmc.MMC(diagonal=False).read(given, {"metric": at})
        assert np.isfinite(duals.a).all()
        assert (duals.a > 0).all()


def test_a_solver_that_comes_to_nothing_goes_on() -> None:
    """All metrics of one feature are as good; and of an objective of 0 nothing is a share."""
    X = np.array([[1.1875], [0.5625], [-2], [0.375], [-0.0625], [0.375], [0.625], [-0.5], [-0.0625]]) + 1e7
    roots = AllRoots(X, np.array([0, 1, 0, 1, 1, 1, 0, 0, 0]), 1)
    nothing = roots.slopes(np.zeros((1, 1)))
    assert nothing.value == nothing.left == np.inf
    assert np.isfinite(roots.search(1e-10, 20, None, None).metric).all()
    softmaxes = AllSoftmaxes(1000.0 * np.arange(6)[:, None] ** 2, np.arange(6) // 2)
    assert np.isfinite(softmaxes.search(1e-10, 20, None, None).metric).all()


def solved(method: str, X: FloatArray, y: IntArray, tol: float = 1e-6) -> Solution:
    return cvxml.solve(method, X, y, tol=tol)


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_many_points_are_solved_as_few_are(method: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(seed, n=40)
    few = solved(method, X, y)
    many(monkeypatch, method)
    by_blocks = solved(method, X, y)
    assert ("q_index" if method == "dml_eig" else "metric") in by_blocks.dual
    assert by_blocks.status == "converged"
    allowed = 2e-6 * max(abs(few.objective), abs(by_blocks.objective))
    assert abs(few.objective - by_blocks.objective) <= allowed
    if method == "mmc":
        apart = float(np.linalg.norm(few.metric - by_blocks.metric))
        assert apart <= by_blocks.certificate.radius + few.certificate.radius < np.inf
    again = cvxml.certify(method, X, y, by_blocks.metric, by_blocks.dual)
    # A bound is a matter of the dual alone; weights are divided by their sum once more.
    allowed = by_blocks.certificate.rounding if method == "dml_eig" else 0.0
    assert abs(again.gap - by_blocks.gap) <= allowed
    warm = cvxml.solve(method, X, y, tol=1e-6, warm_start=by_blocks)
    assert warm.n_iter == 0
    assert cvxml.check(method, X, y, by_blocks.metric).verdict == "certified"


@pytest.mark.parametrize(("n", "d", "seed"), [(40, 10, 1), (60, 16, 0), (60, 16, 2)])
def test_softmaxes_without_strict_prices_are_feasible_within_the_cone(
    n: int, d: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
    monkeypatch.setattr(AllSoftmaxes, "strict", None)
    found = AllSoftmaxes(X, y).search(1e-3, 8, None, None)
    assert found.status == "converged"  # most of these stall without the barrier


@pytest.mark.parametrize("method", METHODS)
def test_a_proof_of_many_holds_without_rounding(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(1, n=14, d=2)
    many(monkeypatch, method)
    found = solved(method, X, y, tol=1e-3)
    of = (
        mcml.METHOD
        if method == "mcml"
        else dml_eig.METHOD
        if method == "dml_eig"
        else mmc.MMC(diagonal=False)
    )
    exact = of.exact(of.instance(X, y), found.metric, found.dual)
    assert abs(float(exact.objective) - found.objective) <= found.certificate.rounding + 1e-12 * abs(
        found.objective
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_bad_dual_of_many_is_refused(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(2)
    many(monkeypatch, method)
    bad: list[dict[str, Any]] = (
        [{"q": [1.0], "q_index": [[0, 99]]}, {"q": [1.0, 2.0], "q_index": [[0, 1]]}, {"q": [1.0]}]
        if method == "dml_eig"
        else [{"metric": np.eye(2)}, {"metric": -np.eye(3)}, {"metric": np.full((3, 3), np.nan)}]
    )
    for dual in bad:
        with pytest.raises(ValueError, match="dual"):
            cvxml.certify(method, X, y, np.eye(3), dual)


def test_no_metric_beats_the_bound_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in METHODS:
        many(monkeypatch, method)
    for seed in range(4):
        X, y = data(seed)
        rng = np.random.default_rng(seed)
        for method in ("mmc", "mcml"):
            best = solved(method, X, y, tol=1e-4)
            for scale in (1e-3, 1.0, 1e3):
                root = rng.normal(size=(3, 3)) * scale
                proof = cvxml.certify(method, X, y, best.metric, {"metric": root @ root.T})
                assert proof.lower_bound <= best.objective + proof.rounding + EPS
