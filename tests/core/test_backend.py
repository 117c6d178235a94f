"""The back end: an answer that is none is an error, whatever the solver calls it."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import pytest

from cvxml.core.backend import SolverFailure, solve_problem


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_problem_without_a_solution_is_a_failure(solver: str) -> None:
    x = cp.Variable()
    with pytest.raises(SolverFailure, match=rf"{solver}.*infeasible"):
        solve_problem(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]), solver)


def test_what_a_solver_raises_is_a_failure() -> None:
    class Broken:
        def solve(self, **_: Any) -> None:
            raise RuntimeError("unlucky")

    with pytest.raises(SolverFailure, match=r"clarabel.*unlucky"):
        solve_problem(Broken(), "clarabel")  # type: ignore[arg-type]


def test_a_solver_that_fails_at_its_last_digits_is_asked_for_fewer() -> None:
    x = cp.Variable(name="x")
    problem, asked = cp.Problem(cp.Minimize((x - 3) ** 2)), []

    class Fails:
        status = "optimal"

        def solve(self, **settings: Any) -> None:
            asked.append(settings["tol_feas"])
            if len(asked) < 3:
                raise RuntimeError("insufficient progress")
            problem.solve(**settings)

        def variables(self) -> list[cp.Variable]:
            return [x]

    assert solve_problem(Fails(), "clarabel")["x"] == pytest.approx(3, abs=1e-6)
    assert asked == sorted(asked)
    assert asked[0] < asked[2] <= 1e-8
