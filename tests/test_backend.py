"""The back end: an answer that is none is an error, whatever the solver calls it."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import pytest

from cvxml.backend import SolverFailure, solve_problem


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_problem_without_a_solution_is_a_failure(solver: str) -> None:
    x = cp.Variable()
    with pytest.raises(SolverFailure, match="returned no solution"):
        solve_problem(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]), solver)


def test_what_a_solver_raises_is_a_failure() -> None:
    class Broken:
        def solve(self, **_: Any) -> None:
            raise RuntimeError("out of luck")

    with pytest.raises(SolverFailure, match="out of luck"):
        solve_problem(Broken(), "clarabel")  # type: ignore[arg-type]
