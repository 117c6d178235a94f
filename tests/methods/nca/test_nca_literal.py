"""NCA through cvxpy: the step as written against the solver and its certificate, the pair-class case to its optimum."""

from __future__ import annotations

import numpy as np
import pytest

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.core.result import Status
from cvxml.methods.nca import definitions
from cvxml.methods.nca.instance import instance
from cvxml.methods.nca.problem import at, pairs, step
from tests.instances import random_data, soft_labels

X, Y = random_data(3, n=12, d=3)


def two_of_each(seed: int, n: int = 20, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Every class has two points, wherever they are."""
    return np.random.default_rng(seed).standard_normal((n, d)), np.arange(n) // 2


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_the_step_touches_the_objective_where_it_is_taken(criterion: str) -> None:
    for soft in (None, soft_labels(0, 12)):
        s = instance(X, Y, criterion=criterion, similarity=soft).weights()
        Q0 = np.diag([0.5, 0.2, 1.0])
        problem = step(X, s, Q0, criterion)
        problem.var_dict["Q"].value = Q0
        value = definitions.f if criterion == "f" else definitions.g
        assert problem.objective.value == pytest.approx(-value(X, s, Q0), rel=1e-12)
        for seed in range(5):  # and lies above everywhere else
            root = np.random.default_rng(seed).standard_normal((3, 3))
            problem.var_dict["Q"].value = root @ root.T
            assert problem.objective.value >= -value(X, s, root @ root.T) - 1e-10


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_the_weights_of_a_step_by_hand(criterion: str) -> None:
    points, y, Q0 = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1], np.eye(1)
    s = instance(points, y).weights()
    c, w, constant = at(points, s, Q0, criterion)
    p = [np.exp(-1) / (np.exp(-1) + np.exp(-9)), np.exp(-1) / (np.exp(-1) + np.exp(-4))]
    assert c == pytest.approx([*p, 0] if criterion == "f" else [1, 1, 0])
    assert w == pytest.approx(
        np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    )  # the only other point of the class
    expected = sum(q * np.log(q) - q for q in p) if criterion == "f" else 0.0
    assert constant == pytest.approx(expected)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("criterion", "solver"), [("f", "clarabel"), ("g", "scs")])
def test_cccp_never_ascends(criterion: str, solver: str) -> None:
    seen: list[float] = []
    solution = cvxml.solve(
        "nca",
        *random_data(9, n=12, d=2),
        criterion=criterion,
        solver=solver,
        init="identity",
        tol=1e-3,
        callback=lambda s: seen.append(s.objective),
    )
    assert solution.status is Status.STATIONARY
    assert len(seen) >= 3
    assert seen == sorted(seen, reverse=True)
    assert solution.objective <= seen[-1] + 1e-12


@pytest.mark.slow
def test_what_is_certified_stationary_is_not_refuted_for_what_a_descent_finds() -> None:
    """CCCP creeps: its own step gains a thousandth, and a descent from there many times that."""
    solution = cvxml.solve("nca", X, Y, criterion="g", solver="clarabel", init="identity", tol=1e-3)
    for claim, verdict in (("stationary", "certified"), ("optimal", "refuted")):
        report = cvxml.check(
            "nca", X, Y, solution.metric, criterion="g", tol="loose", claim=claim, diagnosed=False
        )
        assert report.verdict.value == verdict


def test_a_step_that_ascends_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.core.backend.solve_problem", lambda *args, **kwargs: {"Q": 9 * np.eye(3)})
    with pytest.warns(match="try another solver"):
        solution = cvxml.solve("nca", X, Y, criterion="g", solver="clarabel", init=0.5 * np.eye(3))
    assert solution.status is Status.BACKEND
    np.testing.assert_allclose(solution.metric, 0.25 * np.eye(3), atol=1e-12)


# ---------------------------------------------------------------- every class has two points


@pytest.mark.quick(1)
@pytest.mark.parametrize("seed", range(2))
def test_descent_reaches_the_global_optimum_of_pairs(seed: int) -> None:
    """The literal concave problem, its dual bound, and L-BFGS on A from two starts: one value, to 1e-8."""
    points, y = two_of_each(seed)
    partner = [i ^ 1 for i in range(len(y))]
    literal = pairs(points, partner)
    solve_problem(literal, "clarabel")
    for init in ("auto", 3 * np.eye(3)):
        solution = cvxml.solve("nca", points, y, criterion="g", init=init, tol=1e-9)
        assert solution.status is Status.CONVERGED
        assert solution.certificate.kind == "global"
        assert solution.gap <= 1e-9 * solution.objective
        assert solution.objective == pytest.approx(literal.value, rel=1e-8)


def test_the_step_of_pairs_is_the_problem_itself() -> None:
    points, y = two_of_each(1, n=10, d=2)
    whole = pairs(points, [i ^ 1 for i in range(10)])
    for Q0 in (np.eye(2), np.diag([0.1, 4.0])):
        one = step(points, instance(points, y).weights(), Q0, "g")
        for Q in (np.eye(2), np.array([[2.0, 0.5], [0.5, 0.3]])):
            one.var_dict["Q"].value = whole.var_dict["Q"].value = Q
            assert one.objective.value == pytest.approx(whole.objective.value, rel=1e-12)


@pytest.mark.slow
def test_a_literal_run_of_pairs_is_optimal_after_a_step_and_check_says_so() -> None:
    points, y = two_of_each(2, n=10, d=2)
    solution = cvxml.solve("nca", points, y, criterion="g", solver="clarabel")
    assert solution.status is Status.CONVERGED
    assert solution.n_iter <= 3
    for claim in ("optimal", "stationary"):
        report = cvxml.check("nca", points, y, solution.metric, criterion="g", claim=claim)
        assert report.verdict.value == "certified"
        assert report.gap is not None
        assert report.gap <= 1e-6 * report.scale
    longer = {"components": np.sqrt(1.02) * np.linalg.cholesky(solution.metric).T, "diagnosed": False}
    wrong = cvxml.check("nca", points, y, criterion="g", claim="optimal", **longer)
    assert wrong.verdict.value == "refuted"
    assert wrong.witness is not None


def test_pairs_that_are_mutual_neighbors_have_no_optimum() -> None:
    points = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 2, axis=0)
    points[1::2] += 1e-3
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("nca", points, np.arange(12) // 2, criterion="g")
    assert solution.status is Status.NOT_ATTAINED
    assert not solution.certificate.proves(1e-6)


def test_f_of_pairs_and_a_limited_rank_are_not_called_optimal() -> None:
    points, y = two_of_each(2, n=12)
    limited = cvxml.solve("nca", points, y, criterion="g", n_components=1)
    assert limited.certificate.kind == "stationary"
    assert limited.certificate.step is None
    whole = cvxml.solve("nca", points, y, criterion="g")
    assert whole.objective < limited.objective
    with pytest.warns(match="infinity"):
        accuracy = cvxml.solve("nca", points, y, criterion="f", init=9 * np.eye(3))
    assert accuracy.certificate.kind == "stationary"
