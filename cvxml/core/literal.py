"""Help for users who get the literal problem, the problem as written in the paper, as a `cvxpy.Problem`.

A weight of the objective, such as lam, may be given as a `cvxpy.Parameter`. The user can then change its value in the
same problem. The constraints get labels. This module does not import cvxpy: if cvxpy is not loaded, no parameter of the
user can be a `cvxpy.Parameter`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Given = TypeVar("Given")


def free_weights(method: str, allowed: Iterable[str], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return {name: value} of those parameters in `params` that are a `cvxpy.Parameter`.

    method: its name, for messages.
    allowed: the names of the weights that may be a `cvxpy.Parameter`.

    Raises ValueError for a `cvxpy.Parameter` with another name, without a value, with more than one entry, or not
    declared nonnegative.
    """
    cvxpy = sys.modules.get("cvxpy")
    if cvxpy is None:
        return {}
    found = {name: value for name, value in params.items() if isinstance(value, cvxpy.Parameter)}
    for name, parameter in found.items():
        _check(method, name, parameter, list(allowed))
    return found


def _check(method: str, name: str, parameter: Any, allowed: list[str]) -> None:
    if name not in allowed:
        which = (
            f"the weights that may be one are: {', '.join(allowed)}" if allowed else "it has no such weight"
        )
        raise ValueError(f"{method}: {name} is a cvxpy.Parameter, but must be a value; {which}")
    if parameter.shape != ():
        raise ValueError(
            f"{name} is a cvxpy.Parameter of shape {parameter.shape}; a weight is one number, of shape ()"
        )
    if not parameter.is_nonneg():
        raise ValueError(f"{name} must be declared as nonnegative: cvxpy.Parameter(nonneg=True, value=...)")
    if parameter.value is None:
        raise ValueError(f"{name} is a cvxpy.Parameter without a value; set one first: {name}.value = 1.0")


def values_of(params: Mapping[str, Any], weights: Mapping[str, Any]) -> dict[str, Any]:
    """Return `params` with each `cvxpy.Parameter` in `weights` replaced by its current value."""
    return {**params, **{name: float(parameter.value) for name, parameter in weights.items()}}


def with_weights(given: Given, weights: Mapping[str, Any]) -> Given:
    """Return the checked data `given` of a method, with each field named in `weights` set to its cvxpy parameter."""
    if not weights:
        return given
    if isinstance(given, tuple):
        return given._replace(**weights)  # type: ignore[attr-defined, no-any-return]
    return dataclasses.replace(given, **weights)  # type: ignore[type-var]


def label(problem: Any, names: Iterable[str]) -> Any:
    """Give the constraints of a `cvxpy.Problem` these names as labels, in their order. Return the problem."""
    for constraint, name in zip(problem.constraints, names, strict=True):
        constraint.label = name
    return problem


def triplet_names(triplets: Any) -> list[str]:
    return [f"triplet {i}, {j}, {l}" for i, j, l in triplets.tolist()]


def pair_names(kind: str, pairs: Any) -> list[str]:
    """Return the names of the constraints of pairs (p, 2), such as "similar 3, 5". kind: "similar" or "dissimilar"."""
    return [f"{kind} {i}, {j}" for i, j in pairs.tolist()]
