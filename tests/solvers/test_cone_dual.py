"""The solver of duals with the Frobenius norm against cvxpy, on each feasible set: random, degenerate and real data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.mlsvm.neighborhood import neighborhood_of
from cvxml.methods.mlsvm.solver import CompactDual
from cvxml.methods.ssvm.inference import loss_augmented, point_at
from cvxml.methods.ssvm.instance import instance
from cvxml.methods.ssvm.step import Columns
from cvxml.solvers.box_dual import BoxDual
from cvxml.solvers.cone_dual import At, ConeDual, Model, Search
from cvxml.solvers.feasible_sets import Boxes, FeasibleSet, Simplices, TwoSides
from cvxml.solvers.newton import Derivative
from tests.instances import real_data

SHAPE = (5, 4)
SETS = ("boxes", "simplices", "two sides")
KINDS = ("random", "twice", "wide", "flat", "hopeless")


class Plain(ConeDual):
    """G = sum_t v_t V_t for any symmetric matrices V (rows, columns, d, d), from the definitions."""

    def __init__(
        self, V: FloatArray, feasible: FeasibleSet, lam: float, rewards: FloatArray, width: float = 0.0
    ):
        self.V, self.feasible, self.lam, self.rewards, self.width = V, feasible, lam, rewards, width
        norms = np.sum(V**2, axis=(2, 3)).max(axis=1, keepdims=True)
        self.steps, self.cost = 1 / np.maximum(norms, 1e-9 * norms.max()), 1e6

    def image(self, v: FloatArray) -> FloatArray:
        G = np.tensordot(v, self.V)
        return np.concatenate([G.ravel(), np.sqrt(self.lam * self.width) * v.ravel()])

    def matrices(self, image: FloatArray) -> FloatArray:
        d = self.V.shape[-1]
        return image[: d * d].reshape(d, d)

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        return np.einsum("rkab,ab->rk", self.V, self.metric(values, vectors))

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        weights, a, b = along[0]
        turned = vectors.T @ self.V[entries] @ vectors
        return turned[:, a, b] * weights

    def unpaid(self, v: FloatArray) -> FloatArray:
        return -self.rewards * v

    def reward(self, v: FloatArray) -> FloatArray:
        return self.rewards

    def gap(self, at: At) -> float:
        """<slope, v> less its least over the set, by a linear program."""
        v, slope, sets = at.v, at.slope, self.feasible
        if isinstance(sets, Boxes):
            least = np.sum(np.where(slope > 0, slope * sets.low, slope * sets.high))
        elif isinstance(sets, Simplices):
            least = np.where(sets.real, slope, np.inf).min(axis=1).sum()
        else:
            assert isinstance(sets, TwoSides)
            u, w = (np.where(side, slope, np.inf).min(axis=1) for side in (sets.up, sets.down))
            least = sets.cap * np.minimum(u + w, 0).sum()
        return float(np.sum(slope * v) - least)


def feasible_set(name: str, rng: np.random.Generator) -> FeasibleSet:
    if name == "boxes":
        high = rng.uniform(0.5, 2.0, SHAPE)
        return Boxes(np.where(rng.random(SHAPE) < 0.3, -high, 0.0), high)
    if name == "simplices":
        real = rng.random(SHAPE) < 0.8
        real[:, 0] = True
        return Simplices(real)
    sign = rng.choice([-1.0, 0.0, 1.0], size=SHAPE)
    sign[:, :2] = 1.0, -1.0
    return TwoSides(sign, 0.3)


def plain(name: str, kind: str, lam: float, seed: int = 0, width: float = 0.0) -> Plain:
    """V_t = +- e e^T + f f^T, and rewards of both signs."""
    rng, d = np.random.default_rng(seed), 4
    e, f = rng.standard_normal((2, *SHAPE, d))
    if kind == "wide":
        e[..., 1] *= 30
    if kind == "flat":
        e[..., 2:], f[..., 2:] = 0.0, 0.0
    V = np.einsum("rka,rkb->rkab", e, e) * rng.choice([-1.0, 1.0], SHAPE)[..., None, None]
    V += np.einsum("rka,rkb->rkab", f, f) / 2
    rewards = rng.uniform(-0.5, 1.0, SHAPE)
    if kind == "twice":
        V[:, 1], V[1], rewards[:, 1], rewards[1] = V[:, 0], V[0], rewards[:, 0], rewards[0]
    if kind == "hopeless":  # A = 0 is optimal
        V = -np.einsum("rka,rkb->rkab", e, e)
    return Plain(V, feasible_set(name, rng), lam, rewards, width)


def literal(dual: ConeDual, zero: FloatArray) -> tuple[float, list[FloatArray]]:
    """The optimal value without a constant, and the matrices A, by Clarabel; G from unit vectors."""
    entries = list(np.ndindex(zero.shape))
    base = dual.matrices(dual.image(zero))
    blocks = base.reshape(-1, *base.shape[-2:])
    v = cp.Variable(len(entries))
    each = []
    for entry in entries:
        unit = zero.copy()
        unit[entry] = 1.0
        each.append((dual.matrices(dual.image(unit)) - base).reshape(blocks.shape))
    square, constraints, positive = 0.0, [], []
    for k, block in enumerate(blocks):
        d = len(block)
        P = cp.Variable((d, d), symmetric=True)
        G = block + cp.reshape(np.stack([one[k].ravel() for one in each], axis=1) @ v, (d, d), order="C")
        constraints += [P >> 0, P - G >> 0]
        square += cp.sum_squares(P)
        positive.append(P)
    sets = dual.feasible
    if isinstance(sets, Boxes):
        constraints += [v >= np.ravel(sets.low), v <= np.ravel(sets.high)]
    else:
        constraints += [v >= 0]
        at = np.arange(len(entries)).reshape(zero.shape)
        for r, row in enumerate(at):
            if isinstance(sets, Simplices):
                constraints += [cp.sum(v[row[sets.real[r]]]) == 1]
                outside = row[~sets.real[r]]
            else:
                assert isinstance(sets, TwoSides)
                up, down = row[sets.sign[r] > 0], row[sets.sign[r] < 0]
                constraints += [cp.sum(v[up]) == cp.sum(v[down]), cp.sum(v[up]) <= sets.cap]
                outside = row[sets.sign[r] == 0]
            constraints += [v[outside] == 0] if len(outside) else []
    reward = np.broadcast_to(dual.reward(zero), zero.shape).ravel()
    width = np.broadcast_to(dual.width, zero.shape).ravel()
    objective = square / (2 * dual.lam) + cp.sum(cp.multiply(width / 2, cp.square(v))) - reward @ v
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value), [P.value / dual.lam for P in positive]


def solved(dual: ConeDual, zero: FloatArray, tol: float = 1e-9) -> At:
    """The point of least gap, from the feasible point next to 0."""
    start = dual.at(dual.feasible.project(zero))
    least = start
    for at, _ in Search(dual, dual.lam, 20000).points(start):
        least = min(least, at, key=lambda one: one.gap)
        if least.gap <= tol * least.scale:
            break
    return least


def objective(dual: ConeDual, at: At) -> float:
    """The objective at v, from its definition."""
    G = dual.matrices(at.image)
    square = sum(np.sum(project_psd(block) ** 2) for block in G.reshape(-1, *G.shape[-2:]))
    linear = np.sum(dual.width * at.v**2) / 2 - np.sum(dual.reward(np.zeros_like(at.v)) * at.v)
    return float(square / (2 * dual.lam) + linear)


def agree(dual: ConeDual, zero: FloatArray) -> None:
    """Our point is feasible, has next to no gap, and is no worse than cvxpy's; the metrics agree."""
    at = solved(dual, zero)
    np.testing.assert_allclose(dual.feasible.project(at.v), at.v, atol=1e-12)
    value, metrics = literal(dual, zero)
    ours = objective(dual, at)
    size = abs(value) + at.scale + 1e-12
    assert at.gap <= 1e-8 * size
    assert ours <= value + 1e-6 * size
    assert ours - at.gap <= value + 1e-6 * size
    for A, other in zip(at.metric().reshape(-1, *other_shape(metrics)), metrics, strict=True):
        # strong convexity: lam/2 ||A - A*||^2 is at most what both are off by
        assert dual.lam / 2 * np.sum((A - other) ** 2) <= 4e-6 * size


def other_shape(metrics: list[FloatArray]) -> tuple[int, ...]:
    return metrics[0].shape


@pytest.mark.quick(7)  # 6 would leave out the same kinds of each set
@pytest.mark.parametrize(("kind", "lam"), [*product(KINDS, [1.0]), *product(("random", "wide"), [1e-3, 1e3])])
@pytest.mark.parametrize("name", SETS)
def test_the_solver_and_cvxpy_agree_on_each_set(name: str, kind: str, lam: float) -> None:
    agree(plain(name, kind, lam, seed=KINDS.index(kind)), np.zeros(SHAPE))


@pytest.mark.parametrize("name", SETS)
def test_a_width_is_part_of_the_problem(name: str) -> None:
    agree(plain(name, "random", 0.5, seed=7, width=0.7), np.zeros(SHAPE))


@pytest.mark.quick(3)
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_the_duals_of_three_methods_and_cvxpy_agree_on_real_data(lam: float, twice: bool) -> None:
    X, y = real_data("iris", 8 if twice else 12)
    if twice:
        X, y = np.concatenate([X, X]), np.concatenate([y, y])
    mlsvm = CompactDual(X, neighborhood_of(X, y, 4), lam)
    agree(mlsvm, np.zeros(mlsvm.J.shape))
    p = instance(X, y, n_neighbors=2, C=1 / lam)
    columns = Columns(p, point_at(p, np.eye(X.shape[1])).latent)
    for weight in (0.01, 1.0):
        worst = loss_augmented(point_at(p, weight * np.eye(X.shape[1])).near, p.y, p.Lam).sets
        columns.take_in(worst[:, None, :], np.ones((len(p.y), 1), dtype=bool))
    agree(columns, np.zeros(columns.real.shape))
    targets = np.array([(i, j) for i in range(len(y)) for j in range(len(y)) if i < j and y[i] == y[j]])[:6]
    for loss in (Hinge(0.5), SmoothedHinge(0.5)):
        term = Term(loss, Triplets(targets, y[targets[:, 0]][:, None] != y))
        boxed = BoxDual(Family(Frobenius(X, lam), (term,), of_regularizer=True))
        agree(boxed, np.zeros(len(boxed.low)))


@pytest.mark.parametrize("name", SETS)
def test_the_gap_of_the_twin_is_the_one_of_a_linear_program(name: str) -> None:
    dual = plain(name, "random", 1.0)
    at, sets = dual.at(dual.feasible.project(np.ones(SHAPE))), dual.feasible
    A, b, A_ub, b_ub = [], [], [], []
    bounds: Any = [(0, None)] * at.v.size
    if isinstance(sets, Boxes):
        bounds = list(zip(sets.low.ravel(), sets.high.ravel(), strict=True))
    for r in range(SHAPE[0]):
        row = np.zeros((2, *SHAPE))
        if isinstance(sets, Simplices):
            row[0, r], row[1, r] = sets.real[r], ~sets.real[r]
            A, b = [*A, *row], [*b, 1, 0]
        elif isinstance(sets, TwoSides):
            row[0, r], row[1, r] = sets.sign[r], sets.sign[r] == 0
            A, b = [*A, *row], [*b, 0, 0]
            A_ub, b_ub = [*A_ub, np.zeros(SHAPE)], [*b_ub, sets.cap]
            A_ub[-1][r] = sets.sign[r] > 0
    flat = [None if not rows else np.reshape(rows, (len(rows), -1)) for rows in (A, A_ub)]
    least = linprog(at.slope.ravel(), flat[1], b_ub or None, flat[0], b or None, bounds).fun
    assert at.gap == pytest.approx(float(np.sum(at.slope * at.v)) - least, rel=1e-9)


@pytest.mark.parametrize("cone", [True, False])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(2))
def test_the_model_is_the_objective_to_second_order(name: str, seed: int, cone: bool) -> None:
    dual = plain(name, "random", 0.5, seed, width=0.3)
    dual.cone = cone
    at = dual.at(dual.feasible.project(np.random.default_rng(seed).uniform(-0.2, 1.0, SHAPE)))
    model = Model.at(at, np.full(SHAPE, 1e12))
    assert model is not None
    new = model.step(at.v, model.pull)
    assert new is not None
    direction = (new - at.v) / np.abs(new - at.v).max()
    assert not direction[~model.moves].any()

    def value(t: float) -> float:
        return dual.at(at.v + t * direction).value

    for t in (1e-4, -1e-4):
        assert model.to(at.v + t * direction)[0] == pytest.approx(value(t) - value(0.0), abs=1e-9)
    t = 1e-3
    bent = model.to(at.v + t * direction)[0] + model.to(at.v - t * direction)[0]
    assert bent == pytest.approx(value(t) + value(-t) - 2 * value(0.0), rel=1e-2)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(2))
def test_a_step_in_the_model_is_its_minimum_on_the_face(name: str, seed: int) -> None:
    dual = plain(name, "random", 0.5, seed, width=0.3)
    at = dual.at(dual.feasible.project(np.random.default_rng(seed).uniform(-0.2, 1.0, SHAPE)))
    model = Model.at(at, np.random.default_rng(seed).uniform(0.1, 1.0, (SHAPE[0], 1)) * np.ones(SHAPE))
    assert model is not None
    new = model.step(at.v, model.pull)
    assert new is not None
    face = dual.feasible.face(at.v, at.slope, model.moves)
    slope = np.zeros(SHAPE)
    slope[model.moves] = model.to(new)[1]
    slope -= dual.rewards
    np.testing.assert_allclose(face.along(slope[face.entries]), 0, atol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_the_curvature_bounds_the_second_order_term(name: str) -> None:
    dual, rng = plain(name, "random", 0.5, width=0.3), np.random.default_rng(0)
    for _ in range(30):
        v, w = (dual.feasible.project(rng.standard_normal(SHAPE)) for _ in range(2))
        at, there = dual.at(v), dual.at(v + rng.choice([1e-3, 1.0]) * (w - v))
        term = 2 * (there.value - at.value - np.sum(at.slope * (there.v - v)))
        for enough in (0.0, np.inf):
            assert term <= at.curvature(there.image, enough) + 1e-12 * abs(at.value)
        assert at.curvature(there.image, 0.0) <= at.curvature(there.image, np.inf) * (1 + 1e-12)


@pytest.mark.quick(6)  # 5 would all be of one set
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_ends_by_itself_at_rounding(name: str, kind: str) -> None:
    """Without a limit and without a tolerance; the objective of what it keeps never rises."""
    dual = plain(name, kind, 1.0, seed=3)
    search = Search(dual, dual.lam, np.inf)
    points = [at for at, _ in search.points(dual.at(dual.feasible.project(np.zeros(SHAPE))))]
    assert search.iteration < 5000
    assert points[-1].value <= points[0].value
    # a slope <A, V_t> has the rounding of G times ||V_t|| / lam
    rounding = 1e-12 * float(np.max(np.sum(dual.V**2, axis=(2, 3)))) / dual.lam
    assert min(point.gap for point in points) <= rounding


def test_a_model_that_is_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the entries that move, and of the pairs of points that they are made of; gradient steps go on alone."""
    X, y = real_data("iris", 12)
    targets = np.array([(i, j) for i in range(12) for j in range(12) if i < j and y[i] == y[j]])[:6]
    term = Term(Hinge(0.5), Triplets(targets, y[targets[:, 0]][:, None] != y))
    for dual in (
        plain("boxes", "random", 1.0),
        BoxDual(Family(Frobenius(X, 1.0), (term,), of_regularizer=True)),
    ):
        assert isinstance(dual.feasible, Boxes)
        v = (dual.feasible.low + dual.feasible.high) / 2
        at = dual.at(v)
        model = Model.at(at, np.ones(v.shape))
        assert model is not None
        most = max(len(model.products), dual.workspace) * model.products.shape[1]
        for limit in (most, most - 1):
            monkeypatch.setattr("cvxml.solvers.cone_dual.MAX_ENTRIES", limit)
            assert (Model.at(at, np.ones(v.shape)) is None) == (limit < most)
        monkeypatch.setattr("cvxml.solvers.cone_dual.MAX_ENTRIES", 0)
        kinds = [kind for _, kind in islice(Search(dual, dual.lam, np.inf).points(at), 20)]
        assert set(kinds) == {"start", "gradient"}
        monkeypatch.undo()
    assert dual.workspace == len(dual.E)  # type: ignore[attr-defined]


@pytest.mark.parametrize("max_iter", [1, 7, 10, 25])
def test_the_limit_of_iterations_is_kept(max_iter: int) -> None:
    dual = plain("two sides", "wide", 1e-2)
    search = Search(dual, dual.lam, max_iter)
    kinds = [kind for _, kind in search.points(dual.at(np.zeros(SHAPE)))]
    assert search.iteration <= max_iter
    assert kinds[0] == "start"
    assert len(kinds) > 1


def test_an_indefinite_metric_needs_no_cone() -> None:
    """Without P_+ the problem is a quadratic program: its optimality conditions, by the gap."""
    dual = plain("boxes", "random", 0.5)
    dual.cone = False
    at = solved(dual, np.zeros(SHAPE))
    assert np.linalg.eigvalsh(at.metric())[0] < 0
    np.testing.assert_allclose(at.metric(), np.tensordot(at.v, dual.V) / dual.lam, atol=1e-12)
    assert dual.gap(at) <= 1e-9 * at.scale
