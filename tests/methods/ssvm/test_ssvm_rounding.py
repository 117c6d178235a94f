"""Gerrymandering: what `rounding` and `value_rounding` cover, and its bounds, against enumeration in fractions."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray, examine, unit_scale
from cvxml.core.result import Certificate, Status
from cvxml.family.rows.base import Weights
from cvxml.methods.ssvm import certify as certifying
from cvxml.methods.ssvm import negative_weights as searching
from cvxml.methods.ssvm.certify import _missed, certify, clearer_weights, inferred, members
from cvxml.methods.ssvm.inference import loss_augmented, point_at
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.negative_weights import Search, negative_weights, span, whole_shares
from tests.instances import fractions, random_data

Sets = list[tuple[int, ...]]
SHAPES = ["plain", "collinear", "graded", "offset", "duplicates", "long", "lattice"]


class Truth:
    """F and the step of one instance in fractions, every set looked at."""

    def __init__(self, p: Instance):
        n = len(p.y)
        X = fractions(p.X)
        self.C, self.n = Fraction(p.C), n
        self.edges = {(i, j): X[i] - X[j] for i in range(n) for j in range(n)}
        self.sets: list[list[tuple[tuple[int, ...], Fraction, bool]]] = []
        for i in range(n):
            own, found = int(p.y[i]), []
            for h in itertools.combinations([j for j in range(n) if j != i], p.k):
                votes = [sum(1 for j in h if p.y[j] == r) for r in range(p.R)]
                tied = [r for r in range(p.R) if votes[r] == max(votes)]
                loss = max(Fraction(float(p.Lam[own, r])) for r in tied)
                found.append((h, loss, tied == [own]))
            self.sets.append(found)

    def losses(self, W: np.ndarray) -> tuple[list[Fraction], list[Fraction], dict[tuple[int, int], Fraction]]:
        """At W, of fractions: max of S + Delta and least cost of a winning set, a point each; all distances."""
        D = {pair: e @ W @ e for pair, e in self.edges.items()}
        worst, own = [], []
        for i, sets in enumerate(self.sets):
            costs = [sum(D[i, j] for j in h) for h, _, _ in sets]
            worst.append(max(loss - cost for cost, (_, loss, _) in zip(costs, sets, strict=True)))
            own.append(min(cost for cost, (_, _, wins) in zip(costs, sets, strict=True) if wins))
        return worst, own, D

    def F(self, W: np.ndarray) -> Fraction:
        worst, own, _ = self.losses(W)
        return Fraction(np.sum(W * W)) + self.C * (sum(worst) + sum(own))

    def step(self, W: np.ndarray, latent: Sets) -> Fraction:
        """The objective of the step of these sets, at W."""
        worst, _, D = self.losses(W)
        return Fraction(np.sum(W * W)) + self.C * (
            sum(worst) + sum(D[i, j] for i, h in enumerate(latent) for j in h)
        )

    def bound(self, proof: Certificate, latent: Sets) -> Fraction:
        """That of the stored weights, scaled to sums of exactly 1."""
        loss = [{h: delta for h, delta, _ in sets} for sets in self.sets]
        rows: list[dict[tuple[int, ...], Fraction]] = [{} for _ in latent]
        for (i, *h), q in zip(proof.dual["q_index"].tolist(), proof.dual["q"].tolist(), strict=True):
            rows[i][tuple(h)] = rows[i].get(tuple(h), Fraction(0)) + Fraction(q)
        d = len(self.edges[0, 0])
        M, gained = fractions(np.zeros((d, d))), Fraction(0)
        for i, row in enumerate(rows):
            for h, q in row.items():
                share = q / sum(row.values())
                gained += share * loss[i][h]
                for j in h:
                    M = M + share * np.outer(self.edges[i, j], self.edges[i, j])
            for j in latent[i]:
                M = M - np.outer(self.edges[i, j], self.edges[i, j])
        # near P_+(-M): what eigenvectors are off by enters squared
        size = max((abs(m) for m in M.ravel()), default=Fraction(0)) or Fraction(1)
        values, vectors = np.linalg.eigh((M / size).astype(float))
        L = fractions(vectors * np.sqrt(np.maximum(-values, 0)))
        Q = self.C * (M + size * (L @ L.T))
        return self.C * gained - Fraction(np.sum(Q * Q)) / 4


class Drawn(NamedTuple):
    """A small instance of a kind that costs digits."""

    p: Instance
    rng: np.random.Generator
    size: float = 1.0  # of the distances that count

    @property
    def params(self) -> dict[str, Any]:
        return {"n_neighbors": self.p.k, "C": self.p.C, "loss_matrix": self.p.Lam}


def drawn(shape: str, seed: int, largest: int = 8) -> Drawn:
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    n, d, k = int(rng.integers(6, largest + 1)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] += y * rng.choice([0.0, 1.0, 3.0])
    if shape == "collinear":
        X[:, 0] = X @ rng.standard_normal(d) + 2.0 ** -rng.uniform(10, 50) * rng.standard_normal(n)
    elif shape == "graded":
        X *= 10.0 ** rng.uniform(-6, 6, d)
    elif shape == "offset":
        X += 10.0 ** rng.uniform(1, 6, d)
    elif shape == "duplicates":
        X = X[rng.integers(0, n // 2, n)]
    elif shape == "long":
        X[0] *= 10.0 ** rng.uniform(2, 6)
    elif shape == "lattice":
        X = rng.integers(0, 3, (n, d)).astype(float) / rng.choice([1, 3])
    size = float(np.ptp(X, axis=0).max()) or 1.0
    Lam = rng.uniform(0.5, 2, (2, 2)) * (1 - np.eye(2)) if rng.random() < 0.5 else None
    C = 10.0 ** rng.uniform(-3, 2) / size**4
    return Drawn(instance(X, y, n_neighbors=min(k, 3 if n > 6 else 2), C=C, loss_matrix=Lam), rng, size)


def solved(given: Drawn, **options: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve("ssvm", given.p.X, given.p.y, **given.params, **options)


def certified(given: Drawn, W: FloatArray, dual: Any) -> Certificate:
    return cvxml.certify("ssvm", given.p.X, given.p.y, W, dual, **given.params)


def few_bits(rng: np.random.Generator, d: int, size: float) -> FloatArray:
    """M M^T, exactly."""
    M = rng.integers(-64, 65, (d, int(rng.integers(1, d + 1)))).astype(float)
    W: FloatArray = M @ M.T * 2.0 ** np.round(np.log2(size / 1024))
    return W


def square_near(W: FloatArray, noise: FloatArray) -> np.ndarray:
    """L L^T in fractions, psd exactly: near `W`, its root moved by `noise`."""
    values, vectors = np.linalg.eigh(W)
    L = fractions(vectors * np.sqrt(np.maximum(values, 0)) + noise)
    square: np.ndarray = L @ L.T
    return square


def tried(rng: np.random.Generator, W: FloatArray, length: float) -> list[np.ndarray]:
    """Metrics, psd exactly: 0, near `W`, multiples of it, others."""
    d = len(W)
    size = float(np.sqrt(np.abs(W).max())) or 1 / length
    noise = [size * s * rng.standard_normal((d, d)) for s in (0.0, 1e-8, 1e-4, 0.1)]
    near = [square_near(W, each) for each in noise]
    return [
        fractions(np.zeros((d, d))),
        *near,
        near[0] / 2,
        near[0] * 3,
        fractions(few_bits(rng, d, size**2)),
    ]


def assert_step_covered(given: Drawn, W: FloatArray, proof: Certificate, others: list[np.ndarray]) -> None:
    """Objective, bound and gap to what they are said to be off by; and the bound below the step at every metric."""
    p, step = given.p, proof.step
    assert step is not None
    psd, s = examine(W)[0], unit_scale(p.X)
    latent = [tuple(h) for h in point_at(p.scaled(s), psd * s**2).latent.tolist()]
    truth = Truth(p)
    F, bound = truth.F(fractions(psd)), truth.bound(proof, latent)
    of_value, of_gap = Fraction(max(step.value_rounding, step.rounding)), Fraction(step.rounding)
    assert abs(F - Fraction(proof.objective)) <= Fraction(proof.rounding)
    assert abs(F - Fraction(step.objective)) <= of_value
    if step.rounding > 0:
        assert abs(bound - Fraction(step.lower_bound)) <= of_value
        assert abs(F - bound - Fraction(step.gap)) <= of_gap
    else:
        assert not psd.any()
    for other in others:
        assert Fraction(step.lower_bound) - Fraction(step.value_rounding) <= truth.step(other, latent)


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_figures_of_a_stationary_metric_and_of_what_is_near_it(shape: str, seed: int) -> None:
    given = drawn(shape, seed)
    solution = solved(given, init=str(given.rng.choice(["zero", "identity"])), tol=1e-9)
    W = solution.metric
    others = tried(given.rng, W, given.size)
    assert_step_covered(given, W, solution.certificate, others)
    size = 10.0 ** given.rng.uniform(-12, -3)
    dual = dict(solution.dual)
    dual["q"] = dual["q"] + size * given.rng.standard_normal(len(dual["q"]))
    for near in (W, 3 * W, 0 * W):
        assert_step_covered(given, near, certified(given, near, dual), others)


@pytest.mark.quick(18)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_figures_of_any_metric_and_weights(shape: str, seed: int) -> None:
    given = drawn(shape, 1000 + seed)
    p, rng, _ = given
    n, d = p.X.shape
    W = few_bits(rng, d, 10.0 ** rng.uniform(-4, 8) / given.size**2)
    index = np.array([rng.permutation(n)[: 1 + p.k] for _ in range(5 * n)])
    dual = {
        "q": rng.exponential(1.0, len(index)) * rng.choice([1e-9, 1.0, 1e3], len(index)),
        "q_index": index,
    }
    assert_step_covered(given, W, certified(given, W, dual), tried(rng, W, given.size))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bound_of_a_tree_is_below_F_everywhere(shape: str, seed: int) -> None:
    """Below it as it stands: what rounding may have added is taken off, whatever the multipliers."""
    given = drawn(shape, 2000 + seed, largest=6)
    p, rng, _ = given
    solution = solved(given, solver="global", tol=1e-9, time_limit=2.0)
    truth, W = Truth(p), solution.metric
    values = [truth.F(other) for other in tried(rng, W, given.size)]
    duals = [solution.dual]
    for size in 10.0 ** rng.uniform(-12, -3, 3):
        moved = {
            name: solution.dual[name] * (1 + size * rng.standard_normal(len(solution.dual[name])))
            for name in ("q", "nu")
        }
        duals.append({**solution.dual, **moved})
    for dual in duals:
        for judged in (W, few_bits(rng, p.X.shape[1], 10.0 ** rng.uniform(-2, 12) / given.size**2)):
            proof = certified(given, judged, dual)
            F, lower = truth.F(fractions(examine(judged)[0])), Fraction(proof.lower_bound)
            assert abs(F - Fraction(proof.objective)) <= Fraction(max(proof.rounding, proof.value_rounding))
            if proof.rounding > 0:
                assert lower <= min(F, *values)
                assert abs(F - lower - Fraction(proof.gap)) <= Fraction(proof.rounding)
            else:  # 0 is optimal, and the bound is the value there, rounded
                assert not judged.any()
                assert min(values) >= F


@pytest.mark.parametrize("seed", range(5))
def test_the_rounding_of_a_tree_counts_the_images_of_the_points(seed: int) -> None:
    """Two clusters far apart, both with both classes: F is made of short distances between long images."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 2)), np.arange(8) % 2
    X[:4] += 10.0 ** rng.uniform(2, 7, 2)
    given = Drawn(instance(X, y, n_neighbors=1, C=10.0), rng)
    W = few_bits(rng, 2, 10.0 ** rng.uniform(-1, 1))
    none = np.empty(0)
    no_index = {"q_index": np.empty((0, 3), dtype=int), "nu_index": np.empty((0, 4), dtype=int)}
    proof = certified(given, W, {"tree": np.full((1, 4), -1), "q": none, "nu": none, **no_index})
    assert abs(Truth(given.p).F(fractions(W)) - Fraction(proof.objective)) <= Fraction(proof.rounding)


def test_a_set_that_is_not_the_cheapest_is_counted() -> None:
    """Clusters so far apart that products of images lose all distances within one."""
    missed = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((24, 2)), np.arange(24) % 2
        X[:12] += 10.0 ** rng.uniform(8, 10, 2)
        given = Drawn(instance(X, y, n_neighbors=1, C=10.0), rng)
        W = few_bits(rng, 2, 1.0)
        index = np.array([[i, (i + 1) % 24] for i in range(24)])
        step = certified(given, W, {"q": np.ones(24), "q_index": index}).step
        assert step is not None
        error = float(abs(Truth(given.p).F(fractions(W)) - Fraction(step.objective)))
        assert error <= step.rounding
        missed.append(error / step.objective)
    assert max(missed) > 1e-3  # some were


@pytest.mark.parametrize("seed", [0, 2, 3, 4])  # of 1 every point has one winning set alone
def test_a_dearer_set_is_missed_by_what_it_costs_more(seed: int) -> None:
    """The dearest winning set in place of the cheapest, at every point."""
    given = drawn("plain", 3000 + seed)
    p, truth = given.p, Truth(given.p)
    W = few_bits(given.rng, p.X.shape[1], 1.0)
    D = truth.losses(fractions(W))[2]
    dearest, more = [], []
    for i, sets in enumerate(truth.sets):
        costs = [(sum(D[i, j] for j in h), h) for h, _, wins in sets if wins]
        dearest.append(max(costs)[1])
        more.append(max(costs)[0] - min(costs)[0])
    worst = loss_augmented(point_at(p, W).near, p.y, p.Lam).sets
    missed = _missed(p, W, np.array(dearest), worst)
    assert all(Fraction(each) >= least for each, least in zip(missed.tolist(), more, strict=True))
    assert max(more) > 0


def hopeless(seed: int) -> Drawn:
    """Labels without any relation to the points: often no metric is better than 0."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((6, 2)), np.arange(6) % 2
    return Drawn(instance(X, y, n_neighbors=1 + 2 * (seed % 2), C=10.0 ** rng.uniform(-2, 0)), rng)


@pytest.mark.quick(4)
@pytest.mark.parametrize("seed", range(8))
def test_a_tree_proves_zero_in_integers(seed: int) -> None:
    given = hopeless(seed)
    solution = solved(given, solver="global")
    if solution.metric.any():
        return
    proof = solution.certificate
    assert proof.proves(1e-9)
    assert (proof.gap, proof.rounding, proof.scale, proof.radius) == (0, 0, 0, 0)
    truth, d = Truth(given.p), given.p.X.shape[1]
    F = truth.F(fractions(np.zeros((d, d))))
    assert abs(F - Fraction(proof.objective)) <= Fraction(proof.value_rounding)
    for size in (1e-6, 1e-3, 1.0, 1e3):
        assert truth.F(fractions(few_bits(given.rng, d, size))) >= F
    moved = 1 + 1e-9 * given.rng.standard_normal(len(solution.dual["q"]))
    assert certified(given, solution.metric, {**solution.dual, "q": moved * solution.dual["q"]}).proves(1e-9)
    assert not certified(given, solution.metric, {**solution.dual, "q": 0 * moved}).proves(1e-3)


@pytest.mark.parametrize("C", [1e-20, 1e-14, 1e-9])
def test_zero_is_not_proved_by_a_bound_that_is_lower_by_less_than_rounding(C: float) -> None:
    """Nearest of the own class at 1, of the other at 2: the optimum is not 0, however little it wins."""
    X, y = np.array([[0.0], [1], [3], [4]]), np.array([0, 0, 1, 1])
    given = Drawn(instance(X, y, n_neighbors=1, C=C), np.random.default_rng(0))
    index = np.array([[0, 0, 2], [0, 1, 2], [0, 2, 1], [0, 3, 1]])  # leaf, point, set
    dual = {
        "tree": np.full((1, 4), -1),
        "q": np.ones(4),
        "q_index": index,
        "nu": np.empty(0),
        "nu_index": np.empty((0, 4), dtype=int),
    }
    proof, truth = certified(given, np.zeros((1, 1)), dual), Truth(given.p)
    zero = truth.F(fractions([[0.0]]))
    assert truth.F(fractions([[C]])) < zero
    assert Fraction(proof.lower_bound) < zero
    assert not proof.proves(1e-3)
    assert "exactly" in proof.undecided
    # the other way round nothing is better than 0, and the same tree shows it
    y = np.array([0, 1, 0, 1])
    given = Drawn(instance(X, y, n_neighbors=1, C=C), given.rng)
    dual["q_index"] = np.array([[0, 0, 1], [0, 1, 0], [0, 2, 3], [0, 3, 2]])
    proof = certified(given, np.zeros((1, 1)), dual)
    assert proof.proves(1e-9)
    assert (proof.rounding, proof.undecided) == (0, "")


def step_of(weights: Any, sets: Any, skew: float = 0.0) -> Certificate:
    """The step at the identity, but for `skew`, by weights (m,) on sets (m, 1 + k): a point and its members."""
    X, y = random_data(7, n=24, d=3)
    A = np.eye(3) + skew * np.eye(3, k=1)
    step = cvxml.certify("ssvm", X, y, A, {"q": weights, "q_index": sets}).step
    assert step is not None
    return step


@pytest.mark.parametrize(("last", "weight"), [(-1, 1.0), (24, 1.0), (4, np.nan)])
def test_weights_on_what_is_no_point_or_that_are_no_number_are_refused(last: int, weight: float) -> None:
    with pytest.raises(ValueError, match=r"outside 0..23|NaN"):
        step_of([weight, 1.0], [[0, 1, 2, last], [1, 2, 3, 4]])


@pytest.mark.parametrize("improper", [[0, 0, 1, 2], [0, 1, 1, 2]])
def test_weight_on_what_is_no_set_of_others_is_dropped(improper: list[int]) -> None:
    assert step_of([1.0], [improper]).gap == step_of([], []).gap


def test_the_radius_of_a_step_counts_what_is_not_symmetric() -> None:
    assert step_of([], [], skew=1e-7).radius > step_of([], []).radius


@pytest.mark.parametrize("index", [[[0, 1], [1, 0], [2, 3], [3, 2]], [[0, 1]], [[0, 2], [1, 2], [2, 1]]])
def test_zero_is_not_proved_by_weights_on_other_sets_than_the_worst_of_every_point(
    index: list[list[int]],
) -> None:
    """On a line, with the nearest of the own class at 1 and of the other at 4 or 5.

    At W = 1/15 every loss is 0: 16 W - 1 W is 1. So the step is no more than W^2 there, and at 0 it is 4 C = 1.
    """
    p = instance(np.array([[0.0], [1], [5], [6]]), np.array([0, 0, 1, 1]), n_neighbors=1, C=0.25)
    dual = {"q": np.ones(len(index)), "q_index": np.array(index)}
    proof = certify(p, np.zeros((1, 1)), dual).step
    assert proof is not None
    assert proof.objective == pytest.approx(1)
    assert proof.lower_bound <= 1 / 225
    assert not proof.proves(1e-3)


@pytest.mark.parametrize("seed", [2, 7, 14, 15, 16])
def test_zero_is_proved_stationary_by_weights_that_rounding_does_not_spoil(seed: int) -> None:
    """The labels are noise: W = 0 is stationary, and the solver's own weights have G = 0 up to rounding."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((16, 3)), np.arange(16) % 2
    solution = cvxml.solve("ssvm", X, y)
    assert not solution.metric.any()
    assert solution.status is Status.STATIONARY
    p = instance(X, y)
    lists = members(inferred(p, solution.metric).latent)
    dual = solution.certificate.dual
    G = np.zeros((3, 3))
    for weight, (i, *others) in zip(dual["q"], dual["q_index"].tolist(), strict=True):
        G += weight * sum(np.outer(X[i] - X[j], X[i] - X[j]) for j in others)
    for i, j in lists.tolist():
        G -= np.outer(X[i] - X[j], X[i] - X[j])
    assert np.linalg.eigvalsh(G)[-1] < -1e-8
    for i in range(16):
        assert sum(Fraction(weight) for weight in dual["q"][dual["q_index"][:, 0] == i].tolist()) == 1


def on_farthest(P: FloatArray, sets: Any, q: FloatArray, G: Weights) -> Search:
    """All the weight on the farthest set of each point, which makes G as large as possible."""
    lengths = np.sum((P[sets[:, :1]] - P[sets[:, 1:]]) ** 2, axis=(1, 2))
    farthest = [lengths[sets[:, 0] == point].max() for point in sets[:, 0]]
    return Search((lengths == farthest).astype(float), np.eye(P.shape[1]))


@pytest.mark.parametrize("broken", ["weights", "LARGEST", "FEW"])
def test_weights_that_prove_nothing_do_not_replace_the_given(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sets of the other class for each point, with half of the weight on each: they prove nothing."""
    rng = np.random.default_rng(2)
    p = instance(rng.standard_normal((16, 3)), np.arange(16) % 2, n_neighbors=1)
    sets = np.array([(i, (i + step) % 16) for i in range(16) for step in (1, 3)])
    q, known = np.full(32, 0.5), np.column_stack([np.arange(16), (np.arange(16) + 2) % 16])
    search = on_farthest if broken == "weights" else None  # for many points or sets it is not called
    monkeypatch.setattr(certifying, "negative_weights", search)
    if search is None:
        monkeypatch.setattr(certifying, broken, 0)
    given = clearer_weights(p, known, np.ones(16), q, sets)
    assert given[0] is q
    assert given[1] is sets


def test_the_weights_that_prove_zero_sum_to_one_without_an_error() -> None:
    """Each point has another one of its class at about 100, and two of the other class: at 1, and at about 99."""
    X = np.array([0.0, 100, 200, 1, 101, 201])[:, None]
    p = instance(X, np.repeat([0, 1], 3), n_neighbors=1)
    known = np.array([(0, 1), (1, 0), (2, 1), (3, 4), (4, 3), (5, 4)])
    sets = np.array(
        [(i, j) for i, both in enumerate([(3, 4), (4, 3), (5, 4), (0, 1), (1, 2), (2, 1)]) for j in both]
    )
    q, proving = clearer_weights(p, known, np.ones(6), np.tile([2 / 3, 1 / 3], 6), sets)
    for i in range(6):
        own = [Fraction(weight) for weight in q[proving[:, 0] == i].tolist()]
        assert sum(own) == 1
        assert all((weight * 2**40).denominator == 1 for weight in own)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_no_other_weights_are_searched_if_the_given_ones_prove_zero(
    d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each point has a twin in the other class, and its own class is farther in one feature only: G is singular."""
    monkeypatch.setattr(certifying, "negative_weights", None)
    B = np.random.default_rng(0).integers(-9, 10, (10, d)).astype(float)
    B[1::2] = B[::2]
    B[1::2, 0] += 1
    solution = cvxml.solve("ssvm", np.concatenate([B, B]), np.repeat([0, 1], 10), n_neighbors=1)
    assert not solution.metric.any()
    assert solution.status is Status.STATIONARY


@pytest.mark.parametrize("tiny", [1e-140, 1e-160, 1e-300, 1e-310, 5e-324])
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_zero_is_proved_stationary_with_a_tiny_feature(tiny: float, seed: int) -> None:
    """Warnings are errors in all tests, so nothing overflows either."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (8, 2)).astype(float)
    X[:, 1] = np.round(3 * rng.standard_normal(8)) * tiny
    solution = cvxml.solve("ssvm", X, np.arange(8) % 2, n_neighbors=1, C=1e-3)
    assert not solution.metric.any()
    assert solution.status is Status.STATIONARY


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-160, 1.0, 1e150])
def test_the_coordinates_of_the_span_have_unit_scale(size: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (9, 2)).astype(float)
    wide = np.column_stack([X, X[:, 0], np.ones(9)]) * np.array([1.0, size, 1.0, size])
    P = span(wide)
    assert P.shape == (9, 2)
    assert 0.1 < np.abs(P).max() < 10
    E = X - X[0]
    seen = (P - P[0]) / np.linalg.norm(P[1] - P[0])
    inverse = np.linalg.lstsq(E, seen, rcond=None)[0]
    np.testing.assert_allclose(E @ inverse, seen, atol=1e-9)  # a linear map of the features


def test_no_weights_are_returned_if_the_matrix_cannot_be_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point has one set. For G = 0, or a G with a positive eigenvalue, no other weights exist."""
    X = np.random.default_rng(0).standard_normal((6, 2))
    sets = np.column_stack([np.arange(6), np.roll(np.arange(6), 1), np.roll(np.arange(6), 2)])
    pairs = np.concatenate([sets[:, :2], sets[:, ::2]])
    for weight in (0.0, 1.0):
        assert negative_weights(span(X), sets, np.ones(6), Weights(pairs, np.full(12, weight))).q is None
    same = span(np.ones((6, 2)))
    assert negative_weights(same, sets, np.ones(6), Weights(pairs, np.zeros(12))).q is None
    wide = np.random.default_rng(0).standard_normal(
        (6, 9)
    )  # in four of these directions no two points differ
    negative = Weights(pairs, np.full(12, -1.0))
    for points in (X, wide):
        found = negative_weights(span(points), sets, np.ones(6), negative).q
        assert found is not None
        assert (found == 1).all()
    monkeypatch.setattr(searching, "WORK", 0)
    assert negative_weights(span(X), sets, np.ones(6), negative).q is None


@pytest.mark.parametrize("seed", range(3))
def test_weights_in_whole_shares_sum_to_one_without_an_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    point, q = rng.integers(0, 4, 30), rng.random(30)
    q /= np.bincount(point, q)[point]
    whole = whole_shares(q, point)
    for i in range(4):
        assert sum(Fraction(weight) for weight in whole[point == i].tolist()) == 1
    np.testing.assert_allclose(whole, q, rtol=0, atol=1e-10)
