"""Weights of the literal problem that are a `cvxpy.Parameter`.

What each method takes is in tests/methods/test_contract.py.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.backend import solve_problem

X = [[0.0], [1.0], [3.0], [4.0]]
Y = [0, 0, 1, 1]
MLSVM: dict[str, Any] = {"n_neighbors": 2}


def test_one_problem_serves_all_values_of_its_weight() -> None:
    lam = cp.Parameter(nonneg=True)
    lam.value = 1.0
    problem = cvxml.problem("mlsvm", X, Y, lam=lam, **MLSVM)
    for value in (0.02, 0.1, 2.0):
        lam.value = value
        solve_problem(problem, "clarabel")
        solution = cvxml.solve("mlsvm", X, Y, lam=value, **MLSVM)
        assert solution.lower_bound - 1e-6 <= problem.value <= solution.objective + 1e-6


def test_the_dual_variables_are_read_by_the_labels() -> None:
    problem = cvxml.problem("mlsvm", X, Y, lam=2.0, **MLSVM)
    solve_problem(problem, "clarabel")
    duals = {constraint.label: constraint.dual_value for constraint in problem.constraints}
    shares = np.array(
        [duals[f"(2) margin of point {i}"] for i in range(4) if f"(2) margin of point {i}" in duals]
    )
    # the slack of each margin costs 1/n, which its dual variable and that of its sign share
    assert np.allclose(shares.ravel() + duals["(2) xi >= 0"][: len(shares)], 1 / 4, atol=1e-6)


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("mlsvm", {"lam": cp.Parameter(nonneg=True)}, ("lam", "value")),
        ("mlsvm", {"lam": cp.Parameter(value=1.0)}, ("lam", "nonneg")),
        ("mlsvm", {"lam": cp.Parameter(2, nonneg=True, value=[1.0, 1.0])}, ("lam", "shape")),
        ("mlsvm", {"lam": cp.Parameter(nonneg=True, value=0.0)}, ("lam", "0")),
        ("mlsvm", {"n_neighbors": cp.Parameter(nonneg=True, value=2.0)}, ("n_neighbors", "lam")),
        ("mcml", {"lam": cp.Parameter(nonneg=True, value=2.0)}, ("lam",)),
        ("gmml", {"weight": cp.Parameter(nonneg=True, value=0.5)}, ("weight",)),
        ("mlsvm", {"lam": cp.Parameter(nonneg=True, value=1.0), "dual": True}, ("lam", "dual")),
    ],
)
def test_other_parameters_of_cvxpy_are_refused(method: str, params: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=words[0]) as refused:
        cvxml.problem(method, X, Y, **params)
    assert all(word in str(refused.value) for word in words)


def test_solve_refuses_a_parameter_of_cvxpy() -> None:
    with pytest.raises(ValueError, match="lam"):
        cvxml.solve("mlsvm", X, Y, lam=cp.Parameter(nonneg=True, value=1.0))
