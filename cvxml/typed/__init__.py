"""Each method with its own parameters: `typed.mlsvm.solve(X, y, lam=0.1)` is `cvxml.solve("mlsvm", X, y, lam=0.1)`.

An editor completes the parameters of a method here. A type checker refuses `lamda=` and an unknown method, here and in
the functions of cvxml. Names are the ids, with _ for ":". For an id in a variable, write
`cvxml.solve(MethodId(name), X, y)`.
`python docs/_ext/stubs.py` writes __init__.pyi and functions.pyi from the parameters of the methods.

Examples
--------
from cvxml import datasets, typed

X, y = datasets.load("iris")
solution = typed.lmnn.solve(X, y, n_neighbors=2)
print(solution.status.value)  # -> converged
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, NewType

from cvxml.api import certify, evaluate, problem, solve
from cvxml.core.inputs import did_you_mean
from cvxml.core.parameter import Parameter as Own
from cvxml.methods import get, names
from cvxml.oracle.check import check

MethodId = NewType("MethodId", str)
FUNCTIONS: tuple[Callable[..., Any], ...] = (solve, check, evaluate, certify, problem)


class OneMethod:
    """The functions solve, check, evaluate, certify and problem for one method.

    `typed.mlsvm.solve(X, y)` calls `cvxml.solve("mlsvm", X, y)`.
    """

    def __init__(self, method: str):
        for function in FUNCTIONS:
            setattr(self, function.__name__, _bound(function, method))


def named() -> dict[str, str]:
    """Return {name in this module: id} for each method. In a name, "_" replaces the colon of an id."""
    return {method.replace(":", "_"): method for method in names()}


def signature_of(function: Callable[..., Any], method: str) -> Signature:
    """Return the signature of `function` in this module for a method. function: one of `FUNCTIONS`, for example solve.

    The parameters of the method take the place of `method` and `**params`.
    """
    of, given = get(method), signature(function)
    takes = {
        name: Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=each.kind.takes if each.default is not None else f"{each.kind.takes} | None",
        )
        for name, each in _own(function, method).items()
    }
    if function is problem:  # a weight may be a cvxpy.Parameter, a type that cvxpy does not tell
        takes.update({name: takes[name].replace(annotation="Any") for name in of.literal_weights})
    if function is problem and of.CLAIM == "stationary":
        takes["at"] = Parameter("at", Parameter.KEYWORD_ONLY, default=None, annotation="ArrayLike | None")
    shared = {name: each for name, each in given.parameters.items() if each.kind is not Parameter.VAR_KEYWORD}
    del shared["method"]
    for name in ELSEWHERE - of.PARAMETERS.keys():
        shared.pop(name, None)
    if "solver" in shared:
        known = ", ".join(f'"{solver}"' for solver in of.SOLVERS)
        shared["solver"] = shared["solver"].replace(annotation=f"Literal[{known}]")
    return given.replace(parameters=list({**shared, **takes}.values()))


ELSEWHERE = {"neighbors", "query", "targets", "pairs"}  # parameters of `check` that only some methods have


def _bound(function: Callable[..., Any], method: str) -> Callable[..., Any]:
    def bound(*args: Any, **params: Any) -> Any:
        return function(method, *args, **params)

    bound.__name__ = bound.__qualname__ = function.__name__
    bound.__doc__ = f"{method}: {get(method).TITLE}\n\n    {function.__doc__}\n\n{_told(function, method)}"
    bound.__signature__ = signature_of(function, method)  # type: ignore[attr-defined]
    return bound


def _own(function: Callable[..., Any], method: str) -> dict[str, Own]:
    """Return the parameters of a method that `function` takes, by name."""
    of = get(method)
    return {**of.PARAMETERS, **(of.SOLVE_PARAMETERS if function is solve else {})}


def _told(function: Callable[..., Any], method: str) -> str:
    """Return the parameters of a method that `function` takes, in words, for a docstring."""
    lines = [f"    {name}: {each}" for name, each in _own(function, method).items()]
    return "\n".join(["    Parameters of the method:", *lines])


def __getattr__(name: str) -> OneMethod:
    known = named()
    if name not in known:
        raise AttributeError(f"cvxml.typed has no method {name!r}{did_you_mean(name, known)}")
    return OneMethod(known[name])


def __dir__() -> list[str]:
    return list(named())
