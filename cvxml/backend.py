"""The only caller of cvxpy's Problem.solve: settings for each back end, answers checked for sanity.

A status is not evidence and a dual value is not used; what comes back is judged by our own certificates. The
solver is always named: cvxpy's default changes with what is installed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cvxml.metric import FloatArray

SETTINGS: dict[str, dict[str, Any]] = {
    "clarabel": {
        "solver": "CLARABEL",
        "tol_gap_abs": 1e-12,
        "tol_gap_rel": 1e-12,
        "tol_feas": 1e-12,
    },
    "scs": {"solver": "SCS", "eps_abs": 1e-11, "eps_rel": 1e-11, "max_iters": 200_000},
}


class SolverFailure(RuntimeError):
    """A back end gave no answer at all."""


# SCS crawls on exponential cones: 200,000 iterations for 1e-11, a second for this
EXPONENTIAL: dict[str, dict[str, Any]] = {
    "clarabel": SETTINGS["clarabel"],
    "scs": {"solver": "SCS", "eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 20_000},
}


def solve_problem(problem: Any, solver: str, exponential: bool = False) -> dict[str, FloatArray]:
    """Solve a cvxpy problem through "clarabel" or "scs"; the values of its variables by name.

    exponential: the problem has exponential cones, for which SCS is asked for less.

    Raises SolverFailure, saying what the back end said, if it returns no finite values.
    """
    with warnings.catch_warnings():
        # "may be inaccurate" is what the certificate decides
        warnings.simplefilter("ignore")
        try:
            problem.solve(**(EXPONENTIAL if exponential else SETTINGS)[solver])
        except Exception as error:  # cvxpy raises SolverError, and solvers raise what they like
            raise SolverFailure(f"{solver} failed on the literal problem: {error}") from error
    values = {v.name(): v.value for v in problem.variables()}
    if any(value is None or not np.isfinite(value).all() for value in values.values()):
        raise SolverFailure(f"{solver} returned no solution; it says: {problem.status}")
    return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
