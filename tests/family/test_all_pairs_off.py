"""Each part of what a proof over every two points may be off by, where it is nearly all there is."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.pairs import pairs_by_labels
from cvxml.family.geometry.budget import BudgetFeasibility
from cvxml.family.theorem.theorem import UNPRICED
from cvxml.family.unlisted import all_budget
from cvxml.family.unlisted.all_budget import Across, AllSimilar, Kept
from cvxml.family.unlisted.all_pairs import Laplacian, classes, rounded
from cvxml.methods.mcml import all_softmaxes
from cvxml.methods.mcml.all_softmaxes import AllSoftmaxes
from cvxml.methods.mmc import all_roots
from cvxml.methods.mmc.all_roots import AllRoots
from cvxml.numbers.rounding import Images, Points, Seen, seen

MOVED = 1e-3


def data(seed: int, n: int = 20) -> tuple[FloatArray, IntArray]:
    """Two classes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), np.arange(n) % 2


def distances(X: FloatArray, A: FloatArray) -> dict[tuple[int, int], Fraction]:
    """Exactly."""
    points, metric = ([[Fraction(x) for x in row] for row in of.tolist()] for of in (X, A))
    found = {}
    for i, j in combinations(range(len(X)), 2):
        e = [a - b for a, b in zip(points[i], points[j], strict=True)]
        found[i, j] = sum(
            (e[a] * metric[a][b] * e[b] for a in range(len(e)) for b in range(len(e))), Fraction(0)
        )
    return found


def test_points_that_are_off_move_sums_of_squares() -> None:
    """Two that move apart by as much as they may."""
    y, error, edge = np.array([[1.0], [-1.0]]), np.full(2, MOVED), np.array([[0.0, 1.0], [0.0, 0.0]])
    apart, before = (2 + 2 * MOVED) ** 2, 4.0
    G = Laplacian(y)
    G.add(G.part(slice(None), slice(None), edge))
    S, moved = G.proved(error)
    assert S[0, 0] == before
    assert moved >= apart - before
    S, moved = classes(np.zeros(2, dtype=np.intp)).scatter(Images(y, error), np.ones(1))
    assert 2 * S[0, 0] == before
    assert 2 * moved >= apart - before


def test_a_mean_far_away_is_rounded() -> None:
    y = np.random.default_rng(0).normal(size=(40, 1)) + 1e11
    S, error = classes(np.zeros(40, dtype=np.intp)).scatter(Images(y, np.zeros(40)), np.ones(1))
    exact = [Fraction(v) for v in y.ravel().tolist()]
    mean = sum(exact) / 40
    assert abs(sum((v - mean) ** 2 for v in exact) - Fraction(S[0, 0])) <= Fraction(error)


def test_what_floats_leave_of_images_is_what_they_are_off_by() -> None:
    one = np.ones((1, 1))
    assert rounded(Points(one, 1e-17 * one, np.array([1e-19]))).error[0] >= 1.01e-17


def test_products_of_images_that_are_exact_are_rounded() -> None:
    z = np.random.default_rng(0).normal(size=(40, 3))
    reach = Seen(np.eye(3), np.ones(3), 0.0, Images(z, np.full(40, 1e-290)), np.zeros((40, 3))).reach()
    for (i, j), D in distances(z, np.eye(3)).items():
        product = float(z[i] @ z[i] + z[j] @ z[j] - 2 * z[i] @ z[j])
        assert abs(Fraction(product) - D) <= Fraction(reach[i] + reach[j])


@pytest.mark.parametrize("seed", range(5))
def test_objectives_of_classes_far_apart_and_of_equal_points(seed: int) -> None:
    """Distances within a class are then next to nothing in a table; of equal points they are nothing."""
    X, y = data(seed)
    X[:, 0] += 1e7 * y
    D = distances(X, np.eye(2))
    proof = AllSoftmaxes(X, y).certify(np.eye(2), np.eye(2))
    exact = 0.0
    for i in range(len(X)):
        own = {k: float(D[min(i, k), max(i, k)]) for k in range(len(X)) if k != i}
        least, mates = min(own.values()), [k for k in own if y[k] == y[i]]
        exact += math.fsum(own[k] for k in mates) / len(mates) - least
        exact += math.log(math.fsum(math.exp(least - d) for d in own.values()))
    assert abs(proof.objective - exact) <= proof.rounding + 1e-12 * abs(exact)
    X, y = data(seed)
    X[1] = X[0]
    spent = float(sum(D for (i, j), D in distances(X, np.eye(2)).items() if y[i] == y[j]))
    A = np.eye(2) / (2 * spent)
    exact = -math.fsum(math.sqrt(D) for (i, j), D in distances(X, A).items() if y[i] != y[j])
    proof = AllRoots(X, y, 2).certify(A, A)
    assert 1e-12 < abs(proof.objective - exact) <= proof.rounding


def off_by(monkeypatch: pytest.MonkeyPatch, module: Any, miss: float, moved: float) -> None:
    """Metrics are seen with these."""

    def blurred(X: FloatArray, A: FloatArray) -> Seen:
        sight = seen(X, A)
        images = Images(sight.images.at, sight.images.error + moved)
        return sight._replace(miss=miss, images=images)

    monkeypatch.setattr(module, "seen", blurred)


@pytest.mark.parametrize(("miss", "moved"), [(MOVED, 0.0), (0.0, MOVED)])
def test_a_metric_that_is_off_moves_the_budget(
    miss: float, moved: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `miss` of what the identity spends, or by that of points that move apart."""
    X, y = data(0)
    everyone = AllSimilar(X, y, 2)
    scatter, _ = everyone.classes.scatter(Images(X, np.zeros(len(X))), everyone.sizes)
    A = np.eye(2) * (0.9 / np.trace(scatter))
    off_by(monkeypatch, all_budget, miss, moved)
    view = everyone.judge(A).view
    assert isinstance(view, Kept)
    larger, _ = everyone.classes.scatter(Images(X * math.sqrt(A[0, 0]), np.zeros(len(X))), everyone.sizes)
    by_move = 2 * moved * math.sqrt(float(np.trace(larger)) * float(everyone.sizes @ everyone.sizes))
    by_miss = miss * float(np.diag(scatter) @ view.sight.unit**2)
    assert view.share >= (by_miss + by_move) * (1 - 1e-9) > 0


def test_similar_pairs_that_are_off_bound_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(0)
    assert not AllSimilar(X, y, 2).undecided
    monkeypatch.setattr(all_budget, "rounded", lambda images: Images(images.high, 0 * images.error + 1.0))
    assert AllSimilar(X, y, 2).undecided


def test_what_the_budget_is_off_by_moves_every_root(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(0)
    everyone, A = AllRoots(X, y, 2), np.eye(2)
    before, look = everyone.certify(A, A), everyone.budget.judge

    def wide(A: FloatArray) -> Any:
        looked = look(A)
        return looked._replace(view=looked.view._replace(share=MOVED))

    monkeypatch.setattr(everyone.budget, "judge", wide)
    assert everyone.certify(A, A).rounding >= before.rounding + MOVED * abs(before.objective)


def test_what_distances_are_off_by_moves_every_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """By that of two points."""
    X, y = data(0)
    X[:, 0] += 10 * y
    everyone, A = AllRoots(X, y, 2), np.eye(2) * 1e-4
    D = np.array([float(D) for (i, j), D in distances(X, A).items() if y[i] != y[j]])
    error = MOVED * float(D.min())
    monkeypatch.setattr(all_roots, "error_of", lambda sight: np.full(len(X), error))
    assert everyone.certify(A, A).rounding >= float(np.sum(np.sqrt(D + 2 * error) - np.sqrt(D)))


def test_dissimilar_pairs_that_are_off_are_in_the_bound_of_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """So much more may the largest eigenvalue be."""
    X, y = data(0)
    everyone, A = AllRoots(X, y, 2), np.eye(2)
    before = everyone.certify(A, A).lower_bound
    at, error = everyone.images
    everyone.images = Images(at * (1 + 1e-9), error + 1e-9 * np.linalg.norm(at, axis=1))
    after = everyone.certify(A, A).lower_bound
    assert after <= before
    everyone.images = Images(at * (1 - 1e-9), error + 1e-9 * np.linalg.norm(at, axis=1))
    assert everyone.certify(A, A).lower_bound <= before


def test_a_point_that_is_off_moves_every_log_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(0)
    everyone, A = AllSoftmaxes(X, y), np.eye(2)
    before = everyone.certify(A, A).rounding
    for k in (0, len(X) - 1):
        monkeypatch.setattr(all_softmaxes, "error_of", lambda sight, k=k: np.eye(len(X))[k])
        assert everyone.certify(A, A).rounding >= (1 + len(X)) * (1 - 1e-9) > before


@pytest.mark.parametrize(("miss", "moved"), [(MOVED, 0.0), (0.0, MOVED)])
def test_a_metric_that_is_off_moves_the_pull(
    miss: float, moved: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data(0)
    everyone, A = AllSoftmaxes(X, y), np.eye(2)
    monkeypatch.setattr(all_softmaxes, "error_of", lambda sight: np.zeros(len(X)))
    pull = float(np.trace(everyone.classes.scatter(Images(everyone.X, np.zeros(len(X))), everyone.w)[0]))
    count = float(everyone.w @ everyone.classes.sizes)
    off_by(monkeypatch, all_softmaxes, miss, moved)
    by_move = 2 * moved * math.sqrt(pull * count)
    assert everyone.certify(A, A).rounding >= (miss * pull + by_move) * (1 - 1e-9)


def test_what_prices_and_sums_are_off_by_is_in_what_they_prove() -> None:
    X, y = data(0)
    everyone = AllSoftmaxes(X, y)
    found = everyone.softmax(everyone.images.at)
    before = everyone.priced(found)
    assert everyone.priced(found._replace(error=found.error + 1)).entropy <= before.entropy - 1
    everyone.C = (everyone.C[0], everyone.C[1] + 1)
    assert everyone.priced(found).surplus.error >= 1
    everyone.images = Images(everyone.images.at, everyone.images.error + MOVED)
    assert everyone.priced(found).surplus.error >= 1 + MOVED * float(found.G.degree.sum()) * MOVED


def test_long_distances_are_off_by_a_share_of_them() -> None:
    """Next to one that is as long a log sum is as long."""
    X, y = data(0)
    far = AllSoftmaxes(X, y).softmax(X * 1e6)
    assert far.error >= len(X) * 2.0**-52 * abs(far.value)


def test_pairs_that_may_be_the_nearest_are_looked_at() -> None:
    """In a table they are not told apart."""
    X, y = data(0)
    X[:, 0] *= 1e-9
    X[:, 1] = np.where(np.arange(len(X)) < 4, 0.0, 1e8 * np.arange(len(X)))
    everyone = AllSimilar(X, y, 2)
    A = np.diag([1.0, 1e-30])
    (block,) = Across(everyone.classes).blocks(everyone.judge(A).view, UNPRICED)
    D = distances(X, A)
    least = min(D[min(i, j), max(i, j)] for i, j in pairs_by_labels(y).dissimilar.tolist())
    spent = max(1, sum(D[i, j] for i, j in pairs_by_labels(y).similar.tolist()))
    k = int(block.v.argmin())
    assert abs(Fraction(block.v[k]) - least / spent) <= Fraction(block.error[k])


def test_the_nearest_of_a_table_are_those_that_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.array([[0.0], [0.5], [1.0], [1.0005], [3.0]]), np.array([0, 0, 1, 1, 1])
    rows, A = Across(classes(y)), np.eye(1)
    D = {i * 5 + j: (X[i, 0] - X[j, 0]) ** 2 for i in (0, 1) for j in (2, 3, 4)}
    for error in (0.0, 1e-3, 0.4):
        near = [key for key, d in D.items() if d <= min(D.values()) + 2 * error]
        assert rows.below(X, -math.inf, error).tolist() == near
    view = AllSimilar(X, y, 1).judge(A).view
    assert isinstance(view, Kept)
    (told_apart,) = rows.blocks(view, UNPRICED)
    monkeypatch.setattr(all_budget, "error_of", lambda sight: np.full(5, 0.2))
    (block,) = rows.blocks(view, UNPRICED)
    assert len(block.v) > len(told_apart.v) == 1


def test_a_metric_that_the_budget_moves_is_away() -> None:
    """Also by what is seen of it only after it is divided."""
    X, y = data(0)
    everyone, A = AllSimilar(X, y, 2), np.eye(2)
    everyone.E = 0.9 * everyone.E
    looked = everyone.judge(A)
    assert isinstance(looked.view, Kept)
    assert isinstance(looked.feasibility, BudgetFeasibility)
    root = looked.view.sight.root
    judged = root @ root.T * looked.view.factor
    assert looked.feasibility.away >= float(np.linalg.norm(A - judged)) > 0
