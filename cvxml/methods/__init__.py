"""All methods, by id: the table `METHODS`, and functions that look up a method and check the names of its parameters.

To add a method, add a line to `METHODS`: its id, and "module:name" of an object of a subclass of
`cvxml.core.method.Method`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, cast

from cvxml.core.inputs import did_you_mean
from cvxml.core.method import Method, StationaryMethod
from cvxml.core.metric import refuse_texts
from cvxml.core.parameter import WORD

MEANT = {"neighbors": "targets", "targets": "neighbors"}  # lists of points: the name that another method has
METHODS = {
    "mlsvm": "cvxml.methods.mlsvm.method:METHOD",
    "kernel_mlsvm": "cvxml.methods.kernel_mlsvm.method:METHOD",
    "ssvm": "cvxml.methods.ssvm.method:METHOD",
    "glml": "cvxml.methods.glml.method:METHOD",
    "nca": "cvxml.methods.nca.method:METHOD",
    "itml": "cvxml.methods.itml:METHOD",
    "mcml": "cvxml.methods.mcml:METHOD",
    "mmc": "cvxml.methods.mmc:METHOD",
    "mmc:diagonal": "cvxml.methods.mmc:DIAGONAL",
    "dml_eig": "cvxml.methods.dml_eig:METHOD",
    "lmnn": "cvxml.methods.lmnn:METHOD",
    "lmnn:squared_hinge": "cvxml.methods.lmnn:SQUARED_HINGE",
    "frobmetric": "cvxml.methods.frobmetric:METHOD",
    "rtml": "cvxml.methods.rtml:METHOD",
    "schultz_joachims": "cvxml.methods.schultz_joachims:METHOD",
    "scml": "cvxml.methods.scml:METHOD",
    "boostmetric": "cvxml.methods.boostmetric:METHOD",
    "lsml": "cvxml.methods.lsml:METHOD",
    "ldml": "cvxml.methods.ldml:METHOD",
    "rca": "cvxml.methods.rca:METHOD",
    "gmml": "cvxml.methods.gmml:METHOD",
    "lfda": "cvxml.methods.lfda.method:METHOD",
    "sdml": "cvxml.methods.sdml:METHOD",
    "plml": "cvxml.methods.plml.method:METHOD",
    "mlkr": "cvxml.methods.mlkr.method:METHOD",
    "mlr": "cvxml.methods.mlr:METHOD",
}


def names() -> list[str]:
    """The ids of all methods."""
    return list(METHODS)


def known(method: object) -> str | None:
    """Return the id of the method that `method` names in small or capital letters; None if there is no such method."""
    id = method.lower() if isinstance(method, str) else ""
    return id if id in METHODS else None


def get(method: str) -> Method[Any]:
    """Return the method with this id, in small or capital letters. Raises ValueError for an unknown id."""
    asked: object = method
    id = known(asked)
    if id is None:
        if not isinstance(asked, str):
            raise ValueError(
                f'the method comes first, then X and y, as in cvxml.solve("lmnn", X, y): '
                f"got {type(asked).__name__} as the method; the methods are: {', '.join(METHODS)}"
            )
        near = did_you_mean(method, METHODS)
        raise ValueError(f"no method {method!r:.40}; the methods are: {', '.join(METHODS)}{near}")
    module, name = METHODS[id].split(":")
    return cast(Method[Any], getattr(import_module(module), name))


def get_stationary(method: str) -> StationaryMethod[Any]:
    """Return the method with this id. Raises ValueError if its problem is convex, or if the id is unknown."""
    found = get(method)
    if not isinstance(found, StationaryMethod):
        raise ValueError(f"{method} is convex: a convex step is a part of methods that are not convex")
    return found


def get_exact(method: str) -> Method[Any]:
    """Return the method with this id. Raises ValueError if the method has no exact mode, or if the id is unknown.

    In the exact mode, a method computes its bounds in exact arithmetic (`Method.exact`).
    """
    found = get(method)
    if not found.has_exact:
        able = [name for name in METHODS if get(name).has_exact]
        raise ValueError(f"{method} has no exact mode; the methods with an exact mode are: {', '.join(able)}")
    return found


def check_params(
    method: str, params: dict[str, Any], extra: tuple[str, ...] = (), beside: Iterable[str] | None = None
) -> None:
    """Raise ValueError if a name in `params` is neither a parameter of `method` nor one of `extra`.

    Also raises ValueError if a value is a list, or a mapping of lists, that holds a text. Values of names in `extra`,
    and of parameters that are words, are not tested for this.

    extra: names of further parameters that are allowed. beside: names of other arguments of the function that the user
    called. The message may suggest one of them.
    """
    known = (*get(method).PARAMETERS, *extra)
    unknown = [name for name in params if name not in known]
    if unknown:
        meant, suggested = MEANT.get(unknown[0], ""), (*known, *(beside or ()))
        near = f"; did you mean '{meant}'?" if meant in known else did_you_mean(unknown[0], suggested)
        has = ", ".join(known) or "none"
        raise ValueError(f"{method} has no parameter {unknown[0]!r}; it has: {has}{near}")
    for name, value in params.items():
        # a list of starts may hold words; a word is checked by `check_choice`
        if name in extra or get(method).PARAMETERS[name].kind.metavar == WORD.metavar:
            continue
        for part in value.values() if isinstance(value, Mapping) else [value]:
            refuse_texts(part, name)
