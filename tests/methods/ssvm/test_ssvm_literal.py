"""The literal side of neighbourhood gerrymandering: three inferences, four statements of a CCCP step, the errata."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.core.memory import TooLarge
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.methods.ssvm import enumeration, problem
from cvxml.methods.ssvm.enumeration import all_sets, nearest_sets
from tests.instances import random_data
from tests.methods.ssvm import integer
from tests.test_architecture import imports_of, modules, uses

SIZES = [(R, k) for R in (2, 3, 4, 5) for k in (1, 2, 3, 4, 5)]
SOLVERS = ("clarabel", "scs")


class Row(NamedTuple):
    """One point i and the rest of the world."""

    D: FloatArray
    y: IntArray
    i: int
    Lam: FloatArray


def losses(rng: np.random.Generator, R: int) -> FloatArray:
    Lam = rng.uniform(0.5, 2, (R, R))
    np.fill_diagonal(Lam, 0)
    return Lam


def row(seed: int, R: int, k: int, integers: bool) -> Row:
    """Few points, so that classes run out; small integers, so that costs tie."""
    rng = np.random.default_rng([seed, R, k])
    n = max(R, k + 1) + int(rng.integers(0, 4))
    y = rng.permutation(np.r_[np.arange(R), rng.integers(0, R, n - R)])
    D = rng.integers(0, 6, n).astype(float) if integers else rng.uniform(0, 3, n)
    return Row(D, y, int(rng.integers(n)), losses(rng, R))


def data(seed: int, n: int, R: int, d: int = 2) -> tuple[FloatArray, IntArray, FloatArray]:
    """Overlapping classes of about n/R points, and a loss matrix."""
    rng = np.random.default_rng([seed, n, R])
    y = np.arange(n) % R
    X = rng.standard_normal((n, d))
    X[:, 0] += y
    return X, y, losses(rng, R)


def some_W(seed: int, d: int = 2) -> FloatArray:
    L = np.random.default_rng(seed).standard_normal((d, d))
    return L.T @ L


# --- the inferences -------------------------------------------------------------------------------------------


def test_votes_and_losses_by_hand() -> None:
    Lam = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
    y = np.array([0, 0, 1, 1, 2])
    assert enumeration.votes(y, (1, 2, 3), 3) == [1, 2, 0]
    assert enumeration.task_loss([2, 1, 0], 0, Lam) == 0
    assert enumeration.task_loss([1, 2, 0], 0, Lam) == 1
    assert enumeration.task_loss([2, 2, 0], 0, Lam) == 1  # a tie costs what it could
    assert enumeration.task_loss([1, 1, 1], 1, Lam) == 4
    assert enumeration.wins([2, 1, 1], 0)
    assert not enumeration.wins([2, 2, 0], 0)
    assert enumeration.in_H([2, 2, 0], 0, 0)
    assert not enumeration.in_H([2, 2, 0], 0, 1)
    assert not enumeration.in_H([0, 0, 0], 0, 0)
    assert list(enumeration.count_vectors([1, 5, 0], 2)) == [(0, 2, 0), (1, 1, 0)]
    assert len(list(all_sets(np.zeros(7), np.zeros(7, dtype=int), 3, 2))) == math.comb(6, 2)


@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize(("R", "k"), SIZES)
def test_all_sets_and_vote_counts_agree(R: int, k: int, integers: bool) -> None:
    for seed in range(6):
        D, y, i, Lam = row(seed, R, k, integers)
        for r in range(R):
            for tau in (0, 1):
                by_sets = enumeration.targeted(D, y, i, k, r, tau, all_sets)
                by_counts = enumeration.targeted(D, y, i, k, r, tau, nearest_sets)
                assert (by_sets is None) == (by_counts is None)
                if by_sets is not None and by_counts is not None:
                    assert by_counts[1] == by_sets[1]
                    for h, cost in (by_sets, by_counts):
                        assert enumeration.in_H(enumeration.votes(y, h, R), r, tau)
                        assert len(h) == k
                        assert i not in h
                        assert cost == math.fsum(D[list(h)])
        best = enumeration.loss_augmented(D, y, i, k, Lam, all_sets)[1]
        assert enumeration.loss_augmented(D, y, i, k, Lam, nearest_sets)[1] == best


@pytest.mark.quick(6)
@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize(("R", "k"), SIZES)
def test_the_integer_programs_agree(R: int, k: int, integers: bool) -> None:
    for seed in range(100, 102):
        D, y, i, Lam = row(seed, R, k, integers)
        for r in range(R):
            for tau in (0, 1):
                by_sets = enumeration.targeted(D, y, i, k, r, tau)
                by_program = integer.targeted(D, y, i, k, r, tau)
                assert (by_sets is None) == (by_program is None)
                if by_sets is not None and by_program is not None:
                    assert enumeration.in_H(enumeration.votes(y, by_program[0], R), r, tau)
                    assert by_program[1] == pytest.approx(by_sets[1], abs=1e-6)
        h, value = integer.loss_augmented(D, y, i, k, Lam)
        assert value == pytest.approx(enumeration.loss_augmented(D, y, i, k, Lam)[1], abs=1e-6)
        delta = enumeration.task_loss(enumeration.votes(y, h, R), int(y[i]), Lam)
        assert value == pytest.approx(delta - math.fsum(D[list(h)]), abs=1e-12)


def test_the_random_rows_hold_infeasible_and_feasible_classes() -> None:
    rows = [(row(seed, R, k, True), k, R) for R, k in SIZES for seed in range(12)]
    found = [
        enumeration.targeted(D, y, i, k, r, 1, nearest_sets) is None
        for (D, y, i, _), k, R in rows
        for r in range(R)
    ]
    assert 0.2 < np.mean(found) < 0.8


def test_ties_go_to_the_lexicographically_first_set() -> None:
    y = np.array([0, 1, 1, 0, 0])
    D = np.array([9.0, 1.0, 1.0, 1.0, 1.0])
    for candidates in (all_sets, nearest_sets):
        assert enumeration.targeted(D, y, 0, 2, 1, 0, candidates) == ((1, 2), 2.0)
        assert enumeration.targeted(D, y, 0, 1, 0, 1, candidates) == ((3,), 1.0)


def test_a_class_that_cannot_win_is_named() -> None:
    X, y, Lam = data(0, 7, 3)  # classes of 3, 2 and 2 points
    with pytest.raises(ValueError, match="class 1 cannot win among k=3"):
        enumeration.objective(X, y, np.eye(2), 3, 1.0, Lam)
    with pytest.raises(ValueError, match="class 0 cannot win"):
        enumeration.h_star(X, y, np.eye(2), 7)
    for module in (enumeration, integer):
        with pytest.raises(ValueError, match="there are 6"):
            module.loss_augmented(np.zeros(7), y, 0, 7, Lam)


# --- the paper's inference ------------------------------------------------------------------------------------


def test_with_ties_forbidden_the_loss_is_no_upper_bound() -> None:
    # k = 2; squared distances of point 0: its own class at .1, .2, the other at .09, 9
    X = np.sqrt([[0.0], [0.1], [0.2], [0.09], [9.0]])
    y = np.array([0, 0, 0, 1, 1])
    Lam = np.array([[0.0, 1.0], [1.0, 0.0]])
    D = enumeration.distances(X, np.eye(1), 0)
    nearest = nearest_neighbors(D, 0, 2)
    assert nearest == (1, 3)
    assert enumeration.task_loss(enumeration.votes(y, nearest, 2), 0, Lam) == 1
    best = {(r, tau): enumeration.targeted(D, y, 0, 2, r, tau, all_sets) for r in (0, 1) for tau in (0, 1)}
    costs = {key: found[1] for key, found in best.items() if found is not None}
    assert max(-costs[0, 1], 1 - costs[1, 1]) + costs[0, 1] == pytest.approx(
        0
    )  # Algorithm 3: L = 0 < Delta = 1
    assert max(-costs[0, 0], 1 - costs[1, 0]) + costs[0, 1] == pytest.approx(1.11)  # the text: tau = 0
    assert enumeration.surrogate_loss(D, y, 0, 2, Lam) == pytest.approx(1.11)


def nearest_neighbors(D: FloatArray, i: int, k: int) -> tuple[int, ...]:
    """h_W: the k nearest, then the index."""
    return tuple(sorted(sorted((j for j in range(len(D)) if j != i), key=lambda j: (D[j], j))[:k]))


@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize(("R", "k"), SIZES)
def test_the_loss_is_an_upper_bound(R: int, k: int, integers: bool) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, R, k])
        y = np.r_[0, np.repeat(np.arange(R), k)]
        D = rng.integers(0, 6, len(y)) / 4 if integers else rng.uniform(0, 1, len(y))
        Lam = losses(rng, R)
        delta = enumeration.task_loss(enumeration.votes(y, nearest_neighbors(D, 0, k), R), 0, Lam)
        assert enumeration.surrogate_loss(D, y, 0, k, Lam) >= delta - 1e-12
        assert delta >= 0


# --- the objective and its majorant ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k", "R"), [(8, 1, 3), (9, 3, 2), (10, 3, 3)])
def test_the_objective_over_all_sets_and_over_vote_counts(n: int, k: int, R: int) -> None:
    X, y, Lam = data(1, n, R)
    for seed in range(3):
        W = some_W(seed)
        values = [enumeration.objective(X, y, W, k, 0.3, Lam, by) for by in (all_sets, nearest_sets)]
        assert values[0] == pytest.approx(values[1], rel=1e-14)
        assert values[0] >= np.sum(W**2)


@pytest.mark.parametrize(("n", "k", "R"), [(8, 1, 3), (9, 3, 2), (10, 3, 3), (30, 3, 3)])
def test_a_step_majorises_and_touches(n: int, k: int, R: int) -> None:
    X, y, Lam = data(2, n, R)
    C = 2 / n
    for seed in range(3):
        W0 = some_W(seed)
        latent = enumeration.h_star(X, y, W0, k)
        at_W0 = enumeration.objective(X, y, W0, k, C, Lam)
        assert enumeration.majorant(X, y, W0, k, C, Lam, latent) == pytest.approx(at_W0, rel=1e-12)
        for other in range(10, 15):
            W = some_W(other)
            F = enumeration.objective(X, y, W, k, C, Lam)
            assert enumeration.majorant(X, y, W, k, C, Lam, latent) >= F - 1e-12 * (1 + F)


# --- the step, four times -------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("seed", "n", "k", "R", "C", "rounded"),
    [
        (8, 8, 1, 3, 1.0, True),
        (7, 7, 3, 2, 0.1, False),
        (9, 8, 3, 2, 1.0, True),
    ],
)
def test_the_statements_agree(seed: int, n: int, k: int, R: int, C: float, rounded: bool) -> None:
    X, y, Lam = data(seed, n, R)
    X = np.round(X) if rounded else X  # points that coincide, distances that tie
    latent = enumeration.h_star(X, y, np.eye(2), k)
    everything = problem.every_set(y, k)
    step = problem.enumerated(X, y, k, C, Lam, latent)
    W = solve_problem(step, "clarabel")["W"]
    value = pytest.approx(step.value, rel=1e-6)
    assert step.value < 0.99 * enumeration.majorant(X, y, np.zeros((2, 2)), k, C, Lam, latent)
    assert enumeration.majorant(X, y, project_psd(W), k, C, Lam, latent, all_sets) == value
    compact = problem.polynomial(X, y, k, C, Lam, latent)
    solve_problem(compact, "clarabel")
    assert compact.value == value
    for solver in SOLVERS:
        solve_problem(step, solver)
        assert step.value == value
        rows = problem.generated(X, y, k, C, Lam, latent, solver=solver)
        assert enumeration.majorant(X, y, project_psd(rows.W), k, C, Lam, latent) == value
        if solver == "clarabel":  # the t of SCS is below the largest row by its own tolerance
            assert np.sum(rows.W**2) + C * (rows.t.sum() - latent_score(X, rows.W, latent)) == value
        assert rows.rounds <= sum(len(listed) for listed in rows.sets) <= sum(map(len, everything))
        for sets in (everything, rows.sets):
            bound = problem.dual(X, y, k, C, Lam, latent, sets)
            found = solve_problem(bound, solver)
            assert bound.value == value
            from_dual = project_psd(-G_of(X, C, latent, sets, found["q"])) / 2
            assert enumeration.majorant(X, y, from_dual, k, C, Lam, latent) == value


def latent_score(X: FloatArray, W: FloatArray, latent: list[tuple[int, ...]]) -> float:
    """<W, P>."""
    return -sum(float(enumeration.distances(X, W, i)[list(h)].sum()) for i, h in enumerate(latent))


def G_of(
    X: FloatArray, C: float, latent: list[tuple[int, ...]], sets: list[list[tuple[int, ...]]], q: FloatArray
) -> FloatArray:
    """C (sum q_ih Psi_ih - P)."""
    G = np.zeros((X.shape[1], X.shape[1]))
    for weight, (i, h) in zip(q, [(i, h) for i, listed in enumerate(sets) for h in listed], strict=True):
        G += C * weight * problem.Psi(X, i, h)
    for i, h in enumerate(latent):
        G -= C * problem.Psi(X, i, h)
    return G


def test_a_latent_set_must_be_one() -> None:
    X, y, Lam = data(5, 6, 2)
    good = enumeration.h_star(X, y, np.eye(2), 1)
    for wrong in [(0,), (1,), (2, 4), ()]:  # the point itself, the other class, two points, none
        with pytest.raises(ValueError, match=r"h_star\[0\] = .* 1 different"):
            problem.enumerated(X, y, 1, 1.0, Lam, [wrong, *good[1:]])
    with pytest.raises(ValueError, match="one set for each point: 6, got 5"):
        problem.enumerated(X, y, 1, 1.0, Lam, good[1:])


# --- why the polynomial statement goes through every m --------------------------------------------------------


@pytest.mark.quick(20)
@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize(("R", "k"), SIZES)
def test_for_a_fixed_number_of_votes_the_linear_program_is_integral(R: int, k: int, integers: bool) -> None:
    for seed in range(1):
        D, y, i, _ = row(seed, R, k, integers)
        others = [j for j in range(len(y)) if j != i]
        of_class = np.array([y[others] == c for c in range(R)], dtype=float)
        for r in range(R):
            rest = [c for c in range(R) if c != r]
            feasible = problem.votes_of(r, enumeration.members_by_class(y, i), k)
            for m in range(1, k + 1):
                counted = [(h, enumeration.votes(y, h, R)) for h in all_sets(D, y, i, k)]
                costs = [math.fsum(D[list(h)]) for h, count in counted if count[r] == m == max(count)]
                assert (m in feasible) == (len(costs) > 0)
                relaxed = linprog(
                    D[others],
                    A_ub=of_class[rest],
                    b_ub=[m] * len(rest),
                    A_eq=[of_class[r], 1 - of_class[r]],
                    b_eq=[m, k - m],
                    bounds=(0, 1),
                )
                assert (relaxed.status == 2) == (len(costs) == 0)
                if costs:
                    assert relaxed.fun == pytest.approx(min(costs), abs=1e-9)


def test_over_all_numbers_of_votes_at_once_it_is_not() -> None:
    # k = 5, R = 3: target at 1, class A at 0, B at 10. Two votes need a B, three cost 3; two and a half cost 2.5
    y = np.r_[0, np.repeat([0, 1, 2], 3)]
    D = np.r_[0, np.repeat([1.0, 0.0, 10.0], 3)]
    exact = enumeration.targeted(D, y, 0, 5, 0, 0)
    of_class = np.array([y[1:] == c for c in range(3)], dtype=float)
    relaxed = linprog(
        D[1:],
        A_ub=[of_class[1] - of_class[0], of_class[2] - of_class[0], -of_class[0]],
        b_ub=[0, 0, -2],  # even with #r >= n* = 2
        A_eq=[np.ones(9)],
        b_eq=[5],
        bounds=(0, 1),
    )
    assert exact is not None
    assert exact[1] == 3
    assert relaxed.fun == pytest.approx(2.5)


@pytest.mark.slow
def test_the_literal_side_stands_alone() -> None:
    allowed = {"enumeration"}
    own = {name: modules()[f"methods.ssvm.{name}"] for name in ("enumeration", "problem")}
    own["integer"] = imports_of(Path(integer.__file__))
    for name, imports in own.items():
        ours = {i.split(".")[3] for i in imports if i.startswith("cvxml.methods.") and i.count(".") > 2}
        assert ours <= allowed, (name, ours)
        assert not uses(imports, "cvxml.core.neighbors")


def test_more_sets_than_cvxpy_can_take_are_refused_at_once() -> None:
    """40 points with 3 neighbours: 40 * 9139 rows."""
    X, y = random_data(0, n=40, d=2, classes=2)
    for dual in (False, True):
        with pytest.raises(TooLarge, match="365560 rows"):
            cvxml.problem("ssvm", X, y, dual=dual)
    assert cvxml.problem("ssvm", X[:12], y[:12], n_neighbors=1).is_dcp()
