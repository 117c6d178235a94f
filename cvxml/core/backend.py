"""Calls of cvxpy's Problem.solve, with settings for each back end and a check that the answer is finite.

This is the only module that calls a back end, Clarabel or SCS. The solver's status is not evidence, and the dual values
that cvxpy attaches to constraints are not used: our own certificates judge the answer. The solver is always named,
because the default of cvxpy depends on the packages that are installed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.work import doing


def _clarabel(tol: float) -> dict[str, Any]:
    return {"solver": "CLARABEL", "tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol}


def _scs(tol: float, max_iters: int) -> dict[str, Any]:
    return {"solver": "SCS", "eps_abs": tol, "eps_rel": tol, "max_iters": max_iters}


# The settings are tried in this order, the most accurate first. The machine decides whether a back end reaches its last
# digits; if it does not, it returns no solution.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "clarabel": [_clarabel(1e-12), _clarabel(1e-10), _clarabel(1e-8)],
    "scs": [_scs(1e-11, 50_000)],
}


class SolverFailure(RuntimeError):
    """A back end returned no finite solution."""


# SCS is slow on exponential cones: 1e-9 takes more than 50,000 iterations, this tolerance takes a few seconds at most.
EXPONENTIAL = {**SETTINGS, "scs": [_scs(1e-7, 20_000)]}


def solve_problem(problem: Any, solver: str, exponential: bool = False) -> dict[str, FloatArray]:
    """Solve a cvxpy problem, and return the values of its variables by name.

    The tolerances in `SETTINGS` are tried in turn, the smallest first, until the values are finite.

    solver: "clarabel" or "scs".
    exponential: True if the problem has exponential cones; SCS then gets a looser tolerance.

    Raises SolverFailure, with the last error or status of the back end, if no tolerance gives finite values.
    """
    said = ""
    for settings in (EXPONENTIAL if exponential else SETTINGS)[solver]:
        try:
            with warnings.catch_warnings():
                # the warning "may be inaccurate" is not needed, because the certificate decides
                warnings.simplefilter("ignore")
                with doing(f"in the back end {settings['solver']}"):
                    problem.solve(**settings)
        except Exception as error:  # cvxpy raises SolverError, and back ends raise exceptions of any type
            said = f"{solver} failed on the literal problem: {error}"
            continue
        values = {v.name(): v.value for v in problem.variables()}
        if all(value is not None and np.isfinite(value).all() for value in values.values()):
            return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        said = f"{solver} returned no solution; its status is {problem.status}"
    raise SolverFailure(said)
