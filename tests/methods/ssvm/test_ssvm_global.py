"""The global optimum of gerrymandering: enumeration of assignments, branch and bound, its certificate and `check`."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.metric import project_psd
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods.ssvm import enumeration
from cvxml.methods.ssvm.branch_and_bound import Proof, Relaxation, Search, reduced
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.problem import best_assignment
from cvxml.methods.ssvm.step import StepSolver
from cvxml.methods.ssvm.tree import (
    IN,
    OPEN,
    OUT,
    Leaf,
    _bound,
    _leaves,
    certify_tree,
    follow,
    is_exchange,
    repair,
    unknown,
)
from tests.cli.commands import Cli
from validation import recompute

Known = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def data(seed: int, n: int = 6, d: int = 2, R: int = 2, k: int = 3, C: float = 1.0) -> Known:
    rng = np.random.default_rng([seed, n, d])
    y = np.arange(n) % R
    X = rng.standard_normal((n, d))
    X[:, 0] += y
    return X, y, {"n_neighbors": k, "C": C}


def checked(given: Known) -> Instance:
    X, y, params = given
    return instance(X, y, **params)


def winning(y: np.ndarray, i: int, k: int, R: int) -> list[enumeration.Neighbors]:
    others = [j for j in range(len(y)) if j != i]
    return [
        h
        for h in itertools.combinations(others, k)
        if enumeration.wins(enumeration.votes(y, h, R), int(y[i]))
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "given",
    [
        data(1, k=1, R=3, d=3),
        data(0, k=3),
    ],
    ids=["k1 R3", "k3"],
)
def test_branch_and_bound_finds_the_best_of_all_assignments(given: Known) -> None:
    X, y, params = given
    p = checked(given)
    literal = best_assignment(p.X, p.y, p.k, p.C, p.Lam)
    found = cvxml.solve("ssvm", X, y, solver="global", **params)
    assert found.status is Status.CONVERGED
    assert found.certificate.kind == "enumerated"
    assert found.certificate.claim == "optimal"
    assert found.lower_bound <= literal.value + 1e-8
    assert found.objective == pytest.approx(literal.value, rel=1e-6)
    # the literal metric lies where the certificate says the optimum does
    slack = 1e-4 * np.linalg.norm(literal.W)
    assert np.linalg.norm(found.metric - literal.W) <= found.certificate.radius + slack


def test_a_loss_matrix_and_three_classes() -> None:
    X, y, params = data(3, n=6, R=3, k=1, d=2)
    params["loss_matrix"] = [[0, 1, 2], [0.5, 0, 1], [3, 1, 0]]
    p = checked((X, y, params))
    literal = best_assignment(p.X, p.y, p.k, p.C, p.Lam)
    assert cvxml.solve("ssvm", X, y, solver="global", **params).objective == pytest.approx(
        literal.value, rel=1e-6
    )


@pytest.mark.parametrize("seed", range(30))
def test_what_follows_is_what_all_sets_left_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, R, k = int(rng.integers(5, 9)), int(rng.integers(2, 4)), int(rng.integers(1, 5))
    y = np.concatenate([np.arange(R), rng.integers(R, size=n - R)])
    i = int(rng.integers(n))
    known = unknown(n)[i]
    for j in rng.permutation(n)[: rng.integers(n)]:
        if j != i:
            known[j] = rng.choice([IN, OUT])
    left = [
        set(h)
        for h in winning(y, i, min(k, n - 1), R)
        if all((j in h) == (known[j] == IN) for j in range(n) if known[j] != OPEN)
    ]
    settled = follow(known, y, int(y[i]), min(k, n - 1), R)
    if not left:
        assert settled is None
    else:
        assert settled is not None
        assert set(np.flatnonzero(settled == IN)) == set.intersection(*left)
        assert set(np.flatnonzero(settled != OUT)) == set.union(*left)


@pytest.mark.parametrize("seed", range(10))
def test_exchanges_say_what_holds_for_every_cheapest_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, R, k = 8, 3, 3
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    D = rng.integers(1, 6, n).astype(float)  # with ties
    sets = winning(y, 0, k, R)
    cost = [sum(D[list(h)]) for h in sets]
    said = 0
    for h, c in zip(sets, cost, strict=True):
        if c > min(cost):
            continue
        known = np.where(np.isin(np.arange(n), h), IN, OUT)
        for j, other in itertools.product(range(n), repeat=2):
            if is_exchange(known, y, 0, j, other):
                said += 1
                assert D[j] <= D[other]
    assert said > 0


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(6))
def test_any_multipliers_bound_F_at_every_metric_of_their_leaf(seed: int) -> None:
    """Weak duality, and which leaf a metric belongs to is settled by enumeration."""
    rng = np.random.default_rng(seed)
    k = int(rng.choice([1, 3]))
    given = data(seed, n=7, d=2, k=k, C=float(10 ** rng.uniform(-1, 1)))
    p = checked(given)
    tree = random_tree(rng, len(p.y))
    met = set()
    for _ in range(40):
        root = rng.standard_normal((2, 2)) * 10 ** rng.uniform(-1, 0.5)
        W = root @ root.T
        F = enumeration.objective(p.X, p.y, W, p.k, p.C, p.Lam)
        h_star = enumeration.h_star(p.X, p.y, W, p.k)
        for row, known in _leaves(tree, p):
            if not agrees(known, h_star):
                continue
            met.add(row)
            leaf = repair(p, known, random_multipliers(rng, p, F))
            _, bound, rounding = _bound(p, known, leaf)
            assert bound <= F + rounding
    assert met


@pytest.mark.quick(1)
@pytest.mark.parametrize("seed", range(2))
def test_the_bounds_of_a_solved_tree_hold_where_they_are_tight(seed: int) -> None:
    k = 1 + 2 * (seed % 2)
    given = data(seed, n=6, d=2, k=k, C=2.0)
    p, rng = checked(given), np.random.default_rng(seed)
    small = reduced(p)
    search = Search(small.p, [np.eye(2)], 1e-6)
    search.run()
    dual, q = search.dual(1.0), small.p
    leaves = {}
    for row, known in _leaves(np.asarray(dual["tree"]), q):
        mine, pairs = dual["q_index"][:, 0] == row, dual["nu_index"][:, 0] == row
        given_leaf = Leaf(
            dual["q"][mine], dual["q_index"][mine, 1:], dual["nu"][pairs], dual["nu_index"][pairs, 1:]
        )
        leaves[row] = (known, *_bound(q, known, repair(q, known, given_leaf)))
    margins = []
    for _, V, _, _ in leaves.values():
        for size in (0.0, 0.01, 0.1):
            W = project_psd(V + size * np.linalg.norm(V) * rng.standard_normal((2, 2)))
            F = enumeration.objective(q.X, q.y, W, q.k, q.C, q.Lam)
            h_star = enumeration.h_star(q.X, q.y, W, q.k)
            for known, _, bound, rounding in leaves.values():
                if agrees(known, h_star):
                    assert bound <= F + rounding
                    margins.append((F - bound) / F)
    assert min(margins) < 1e-3  # some are tight


def agrees(known: np.ndarray, h_star: list[enumeration.Neighbors]) -> bool:
    return all(
        (known[i, j] == IN) == (j in h) for i, h in enumerate(h_star) for j in np.flatnonzero(known[i])
    )


def random_tree(rng: np.random.Generator, n: int) -> np.ndarray:
    rows = [[-1] * 4]
    for _ in range(6):
        at = int(rng.choice([r for r, row in enumerate(rows) if row[0] < 0]))
        i, j = rng.choice(n, 2, replace=False)
        rows[at] = [int(i), int(j), len(rows), len(rows) + 1]
        rows += [[-1] * 4, [-1] * 4]
    return np.array(rows)


def random_multipliers(rng: np.random.Generator, p: Instance, F: float) -> Leaf:
    n = len(p.y)
    sets = np.array([rng.permutation(n)[: 1 + p.k] for _ in range(30)])
    pairs = np.array([rng.permutation(n)[:3] for _ in range(30)])
    q = rng.exponential(1.0, 30) * rng.choice([0.0, 0.1, 1.0])
    return Leaf(q, sets, rng.exponential(0.1, 30) * rng.choice([0.0, 0.01, 1.0]), pairs)


@pytest.fixture(scope="module")
def solved() -> tuple[Known, Any]:
    given = data(0, n=7, d=2, k=3)
    X, y, params = given
    return given, cvxml.solve("ssvm", X, y, solver="global", **params)


@pytest.mark.slow
def test_the_certificate_needs_its_multipliers_and_its_branches(solved: tuple[Known, Any]) -> None:
    (X, y, params), solution = solved
    whole = cvxml.certify("ssvm", X, y, solution.metric, solution.dual, **params)
    assert whole.proves(1e-6)
    assert whole.lower_bound == pytest.approx(solution.lower_bound, rel=1e-12)
    dual = dict(solution.dual)
    used = np.unique(dual["q_index"][:, 0])
    lowest = []
    for leaf in used[:: max(1, len(used) // 6)]:
        q = np.where(dual["q_index"][:, 0] == leaf, 0.0, dual["q"])
        lowest.append(cvxml.certify("ssvm", X, y, solution.metric, {**dual, "q": q}, **params).lower_bound)
    assert max(lowest) == 0.0
    uncut = {**dual, "tree": np.full((1, 4), -1)}
    for name in ("q", "nu"):
        uncut[f"{name}_index"] = dual[f"{name}_index"].copy()
        uncut[f"{name}_index"][:, 0] = 0
    assert not cvxml.certify("ssvm", X, y, solution.metric, uncut, **params).proves(1e-3)


@pytest.mark.slow
def test_a_tree_with_a_hole_is_refused(solved: tuple[Known, Any]) -> None:
    (X, y, params), solution = solved
    dual = dict(solution.dual)
    tree = dual["tree"]
    branch = int(np.flatnonzero(tree[:, 0] >= 0)[-1])

    def changed(row: int, values: list[int]) -> np.ndarray:
        other = tree.copy()
        other[row] = values
        return other

    i, j, a, b = tree[branch].tolist()
    for wrong in (
        changed(branch, [i, j, a, a]),
        changed(branch, [i, j, a, 0]),
        changed(branch, [i, j, a, len(tree)]),
        changed(branch, [i, len(X), a, b]),
        changed(branch, [i, -1, a, b]),
        changed(branch, [-1] * 4),
        tree[:0],
        tree[:, :3],
        tree.astype(float),
    ):
        with pytest.raises(ValueError, match="tree"):
            cvxml.certify("ssvm", X, y, solution.metric, {**dual, "tree": wrong}, **params)
    for name in ("q", "nu"):
        with pytest.raises(ValueError, match=name):
            cvxml.certify("ssvm", X, y, solution.metric, {**dual, name: dual[name][1:]}, **params)
        with pytest.raises(ValueError, match="NaN"):
            cvxml.certify("ssvm", X, y, solution.metric, {**dual, name: dual[name] * np.nan}, **params)
        lost = {k: v for k, v in dual.items() if k != f"{name}_index"}
        with pytest.raises(ValueError, match=name):
            cvxml.certify("ssvm", X, y, solution.metric, lost, **params)


@pytest.mark.slow
def test_check_says_optimal_or_shows_the_better_metric(solved: tuple[Known, Any]) -> None:
    (X, y, params), solution = solved
    report = cvxml.check("ssvm", X, y, solution.metric, claim="optimal", **params)
    assert report.verdict is Verdict.CERTIFIED
    assert report.gap is not None
    assert report.gap <= 1e-6 * report.scale
    assert report.lower_bound == pytest.approx(solution.objective, rel=1e-6)


@pytest.mark.slow
def test_check_refutes_a_stationary_metric_by_the_optimum() -> None:
    X, y, params = data(0, n=6, k=3)
    best = cvxml.solve("ssvm", X, y, solver="global", **params)
    for init in ("zero", "identity"):
        stuck = cvxml.solve("ssvm", X, y, init=init, **params)
        if stuck.objective > 1.01 * best.objective:
            break
    assert stuck.objective > 1.01 * best.objective, "no longer an example: CCCP reaches the optimum from both"
    assert cvxml.check("ssvm", X, y, stuck.metric, **params).verdict is Verdict.CERTIFIED  # stationary
    report = cvxml.check("ssvm", X, y, stuck.metric, claim="optimal", diagnosed=False, **params)
    assert report.verdict is Verdict.REFUTED
    assert report.witness is not None
    p = checked((X, y, params))
    theirs, ours = (
        enumeration.objective(p.X, p.y, W, p.k, p.C, p.Lam) for W in (stuck.metric, report.witness.metric)
    )
    assert theirs - ours == pytest.approx(report.witness.better_by, rel=1e-6)


@pytest.mark.parametrize(("s", "seed"), [(1e-3, 0), (1e4, 1)])  # with seed 1 no metric is better than 0
def test_units_do_not_matter(s: float, seed: int) -> None:
    X, y, params = data(seed, n=6, k=3)
    one = cvxml.solve("ssvm", X, y, solver="global", **params)
    other = cvxml.solve("ssvm", s * X + 5, y, solver="global", n_neighbors=3, C=1 / s**4)
    assert other.status is Status.CONVERGED
    assert other.objective * s**4 == pytest.approx(one.objective, rel=1e-6)


@pytest.mark.slow
def test_more_features_than_points_and_copies_of_features() -> None:
    X, y, params = data(2, n=6, k=1, d=9)
    solution = cvxml.solve("ssvm", X, y, solver="global", **params)
    assert solution.status is Status.CONVERGED
    X, y, params = data(2, n=6, k=1, d=2)
    one = cvxml.solve("ssvm", X, y, solver="global", **params)
    # x and its copy, each divided by sqrt 2: the same distances at the same norm
    twice = cvxml.solve("ssvm", np.hstack([X, X]) / np.sqrt(2), y, solver="global", **params)
    assert twice.objective == pytest.approx(one.objective, rel=1e-6)


def test_equal_points() -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    solution = cvxml.solve("ssvm", np.ones((6, 2)), y, solver="global", n_neighbors=1, C=1.0)
    assert solution.objective == pytest.approx(6.0)
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 2, axis=0)
    solution = cvxml.solve("ssvm", X, y, solver="global", n_neighbors=1, C=1.0)
    p = instance(X, y, n_neighbors=1, C=1.0)
    assert solution.objective == pytest.approx(best_assignment(p.X, p.y, 1, 1.0, p.Lam).value, rel=1e-6)


def test_the_time_limit_leaves_a_bound_and_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, params = data(0, n=16, d=4, k=3)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def tick(step: Any) -> None:
        now[0] += 1.0

    with pytest.warns(ConvergenceWarning, match="time_limit"):
        solution = cvxml.solve("ssvm", X, y, solver="global", time_limit=1.0, callback=tick, **params)
    assert solution.status is Status.TIME_LIMIT
    assert solution.lower_bound >= 0
    assert not solution.certificate.proves(1e-6)


def test_an_interrupt_keeps_what_is_proved() -> None:
    X, y, params = data(0, n=10, d=3, k=3)
    seen = []

    def stop(step: Any) -> None:
        seen.append(step)
        if len(seen) == 40:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        solution = cvxml.solve("ssvm", X, y, solver="global", callback=stop, **params)
    assert solution.status is Status.INTERRUPTED
    bounds = [step.lower_bound for step in seen]
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0
    assert solution.lower_bound >= bounds[-1] * (1 - 1e-9)
    assert all(step.objective >= step.lower_bound for step in seen)


@pytest.mark.parametrize("call", [1, 2])
def test_an_interrupt_of_the_solver_inside_ends_the_tree(monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """Of a start, or of a point in the tree: CCCP keeps what it has, and nothing more is grown."""
    X, y, params = data(0, n=10, d=3, k=3)
    calls, solve = [], StepSolver.solve

    def stopped(solver: StepSolver, *given: Any) -> Any:
        calls.append(solver)
        if len(set(map(id, calls))) == call:
            raise KeyboardInterrupt
        return solve(solver, *given)

    monkeypatch.setattr(StepSolver, "solve", stopped)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        solution = cvxml.solve("ssvm", X, y, solver="global", **params)
    assert solution.status is Status.INTERRUPTED
    assert len(set(map(id, calls))) == call
    assert 0 <= solution.lower_bound <= solution.objective


@pytest.mark.slow
def test_the_bound_of_a_leaf_is_not_more_than_the_literal_optimum_whatever_is_tampered() -> None:
    given = data(4, n=6, k=1)
    X, y, params = given
    p = checked(given)
    least = best_assignment(p.X, p.y, p.k, p.C, p.Lam).value
    solution = cvxml.solve("ssvm", X, y, solver="global", **params)
    rng = np.random.default_rng(0)
    for _ in range(60):
        dual = {k: v.copy() for k, v in solution.dual.items()}
        dual["q"] *= rng.exponential(2.0, len(dual["q"]))
        dual["nu"] *= rng.exponential(2.0, len(dual["nu"])) * rng.choice([1.0, 100.0])
        if rng.random() < 0.5:
            dual["q_index"][:, 1:] = rng.integers(6, size=dual["q_index"][:, 1:].shape)
        if rng.random() < 0.5 and len(dual["nu"]):
            dual["nu_index"][:, 1:] = rng.integers(6, size=dual["nu_index"][:, 1:].shape)
        swapped = dual["tree"]
        if rng.random() < 0.5:
            swapped[swapped[:, 0] >= 0, 1] = rng.integers(6)
        assert certify_tree(p, solution.metric, dual).lower_bound <= least + 1e-8


def test_reduced_is_the_same_problem() -> None:
    given = data(0, n=8, d=12)
    small = reduced(checked(given))
    assert small.p.X.shape[1] == 7
    root = np.random.default_rng(1).standard_normal((7, 7))
    W = root @ root.T
    p = checked(given)
    full = enumeration.objective(p.X, p.y, small.axes.T @ W @ small.axes, p.k, p.C, p.Lam)
    q = small.p
    assert enumeration.objective(q.X, q.y, W, q.k, q.C, q.Lam) == pytest.approx(
        full * small.scale**4, rel=1e-10
    )


def test_saved_and_judged_again(cli: Cli, tmp_path: Path) -> None:
    X, y, _ = data(0, n=6, k=3)
    np.savez(tmp_path / "tiny.npz", X=X, y=y)
    for name in ("s.json", "s.npz"):
        answer = cli("solve", "ssvm", "tiny.npz", "--C", "1", "--solver", "global", "--out", name)
        assert answer.code == 0, answer.err
        assert "certified" in answer.out
        assert cli("certify", name).code == 0
        assert recompute.main(str(tmp_path / name))


def test_weights_of_a_point_are_repaired_to_sum_at_most_one(solved: tuple[Known, Any]) -> None:
    (X, y, params), _ = solved
    p = checked((X, y, params))
    rng = np.random.default_rng(0)
    known = np.array([unknown(len(y))[i] for i in range(len(y))])
    for size in (1e-3, 1.0, 1e3):
        given = random_multipliers(rng, p, 1.0)
        leaf = repair(p, known, given._replace(q=np.full(30, size)))
        assert np.bincount(leaf.sets[:, 0], leaf.q).max(initial=0.0) <= 1 + 1e-12
        assert (leaf.q > 0).all()
    # with weights three times as large nothing more is proved: here no metric is better than 0, and F(0) = 6
    X, y, params = data(1, n=6, k=3)
    zero = cvxml.solve("ssvm", X, y, solver="global", **params)
    more = {**zero.dual, "q": 3 * zero.dual["q"]}
    assert zero.objective == pytest.approx(6.0)
    assert cvxml.certify("ssvm", X, y, zero.metric, more, **params).lower_bound <= 6.0 + 1e-12


@pytest.mark.slow
def test_the_radius_holds_for_metrics_that_are_not_optimal(solved: tuple[Known, Any]) -> None:
    (X, y, params), solution = solved
    rng = np.random.default_rng(0)
    for size in (0.02, 0.1, 0.5, 1.0):
        for _ in range(2):
            turn = rng.standard_normal(solution.metric.shape)
            W = project_psd(solution.metric + size * np.linalg.norm(solution.metric) * turn)
            proof = cvxml.certify("ssvm", X, y, W, solution.dual, **params)
            assert np.linalg.norm(W - solution.metric) <= proof.radius + solution.certificate.radius
            assert not proof.proves(1e-6)


@pytest.mark.slow
def test_the_radius_is_that_of_the_leaf_which_says_least(solved: tuple[Known, Any]) -> None:
    (X, y, params), solution = solved
    p, dual, W = checked((X, y, params)), solution.dual, 1.5 * solution.metric
    F = enumeration.objective(p.X, p.y, W, p.k, p.C, p.Lam)
    away = []
    for row, known in _leaves(dual["tree"], p):
        mine, pairs = dual["q_index"][:, 0] == row, dual["nu_index"][:, 0] == row
        leaf = Leaf(
            dual["q"][mine], dual["q_index"][mine, 1:], dual["nu"][pairs], dual["nu_index"][pairs, 1:]
        )
        V, bound, _ = _bound(p, known, repair(p, known, leaf))
        if bound <= F:
            away.append(float(np.linalg.norm(V - W)) + np.sqrt(F - bound))
    assert max(away) > 1.01 * min(away[0], away[-1])
    assert cvxml.certify("ssvm", X, y, W, dual, **params).radius == pytest.approx(max(away), rel=1e-4)


def test_a_branch_on_what_is_settled_changes_nothing(solved: tuple[Known, Any]) -> None:
    """Its impossible child has no metric and needs no multipliers."""
    (X, y, params), solution = solved
    dual = {name: values.copy() for name, values in solution.dual.items()}
    i, j, yes, _ = dual["tree"][0].tolist()
    leaf = yes
    while dual["tree"][leaf, 0] >= 0:
        leaf = int(dual["tree"][leaf, 2])
    rows = len(dual["tree"])
    # j is in h*_i at this leaf already
    dual["tree"][leaf] = [i, j, rows, rows + 1]
    dual["tree"] = np.concatenate([dual["tree"], np.full((2, 4), -1)])
    for name in ("q_index", "nu_index"):
        moved = dual[name][:, 0] == leaf
        dual[name][moved, 0] = rows
    proof = cvxml.certify("ssvm", X, y, solution.metric, dual, **params)
    assert proof.lower_bound == pytest.approx(solution.lower_bound, rel=1e-12)
    assert proof.proves(1e-6)


def test_next_to_an_optimum_of_zero_nothing_is_optimal_but_zero() -> None:
    """Of a scale of 0 no error is a share, and what rounding allows is no tolerance."""
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    params = {"n_neighbors": 1, "C": 1e-3}
    zero = cvxml.solve("ssvm", X, y, solver="global", **params)
    assert not zero.metric.any()
    asked = {"claim": "optimal", "diagnosed": False, **params}
    assert cvxml.check("ssvm", X, y, zero.metric, **asked).verdict == "certified"
    assert cvxml.check("ssvm", X, y, np.array([[1e-12]]), **asked).verdict != "certified"


@pytest.mark.parametrize("R", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_value_of_a_relaxation_is_F_at_its_metric(seed: int, R: int) -> None:
    """By every set: the search looks for better metrics where it says that they are."""
    p = checked(data(seed, n=9, R=R, C=5.0))
    nothing = Proof(
        -np.inf, np.empty(0), np.empty((0, 1 + p.k), np.intp), np.empty(0), np.empty((0, 3), np.intp)
    )
    relaxation = Relaxation(p)
    found = relaxation.solve(unknown(len(p.X)), nothing, np.inf)
    W = project_psd(relaxation.matrix(found.w))
    assert W.any()
    value = enumeration.objective(p.X, p.y, W, p.k, p.C, p.Lam)
    assert abs(found.F - value) <= 1e-6 * value
