"""The only caller of cvxpy's Problem.solve: settings for each back end, answers checked for sanity.

A status is not evidence and a dual value is not used; what comes back is judged by our own certificates. The
solver is always named: cvxpy's default changes with what is installed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray


def _clarabel(tol: float) -> dict[str, Any]:
    return {"solver": "CLARABEL", "tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol}


def _scs(tol: float, max_iters: int) -> dict[str, Any]:
    return {"solver": "SCS", "eps_abs": tol, "eps_rel": tol, "max_iters": max_iters}


# The settings that are tried in turn, the most accurate first. Whether a back end reaches its last digits depends on
# the machine, and where it does not it returns nothing at all.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "clarabel": [_clarabel(1e-12), _clarabel(1e-10), _clarabel(1e-8)],
    "scs": [_scs(1e-11, 200_000)],
}


class SolverFailure(RuntimeError):
    """A back end gave no answer at all."""


# SCS is slow on exponential cones: a run for 1e-11 takes 200,000 iterations, one for this a second or a few.
EXPONENTIAL = {**SETTINGS, "scs": [_scs(1e-7, 60_000)]}


def solve_problem(problem: Any, solver: str, exponential: bool = False) -> dict[str, FloatArray]:
    """Solve a cvxpy problem through "clarabel" or "scs"; the values of its variables by name.

    exponential: the problem has exponential cones, for which SCS is asked for less.

    Raises SolverFailure, saying what the back end said, if it returns no finite values.
    """
    said = ""
    for settings in (EXPONENTIAL if exponential else SETTINGS)[solver]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "may be inaccurate" is what the certificate decides
                problem.solve(**settings)
        except Exception as error:  # cvxpy raises SolverError, and solvers raise what they like
            said = f"{solver} failed on the literal problem: {error}"
            continue
        values = {v.name(): v.value for v in problem.variables()}
        if all(value is not None and np.isfinite(value).all() for value in values.values()):
            return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        said = f"{solver} returned no solution; it says: {problem.status}"
    raise SolverFailure(said)
