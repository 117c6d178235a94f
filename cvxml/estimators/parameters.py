"""The parameters of an estimator are the fields of its class; their descriptions come from its method.

The decorator `estimator` makes the `__init__` from the fields, and the docstring from fields and descriptions.
"""

from __future__ import annotations

import dataclasses
import functools
import textwrap
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from cvxml.core.parameter import Parameter
from cvxml.core.tuples import refuse_preprocessor
from cvxml.methods import get

WIDTH = 110
EVERYWHERE = {
    "solver": "{}",
    "tol": "Largest allowed gap of the certificate, relative to the objective",
    "max_iter": "Iterations of the fast solver",
    "warm_start": "Start from the solution of the last fit, if X has as many points as then",
}  # a class may replace these descriptions in its `_says`

Estimator = TypeVar("Estimator")


def with_seed(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters. If random_state is a numpy RandomState, an integer drawn from it takes its place."""
    state = params.get("random_state")
    if not isinstance(state, np.random.RandomState):
        return params
    return {**params, "random_state": int(state.randint(2**31 - 1))}


@dataclass_transform()
def estimator(cls: type[Estimator]) -> type[Estimator]:
    """Give a class an `__init__` for its fields, and a docstring with the sections Parameters, Attributes, Examples.

    The class attribute `_method` is the id of a method of the package. Descriptions of parameters come from the dict
    `_says` of the class, else from this method, else from `EVERYWHERE`. The sections Attributes and Examples are the
    texts `_attributes` and `_example` of the class.

    The fields are public parameters, as in scikit-learn.
    """
    made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
    refuse_a_preprocessor(made)
    sections = {
        "Parameters": _parameters(made),
        "Attributes": textwrap.dedent(made._attributes).strip(),
        "Examples": textwrap.dedent(made._example).strip().replace("NAME", made.__name__),
    }
    text = [f"{title}\n{'-' * len(title)}\n{lines}" for title, lines in sections.items()]
    cls.__doc__ = "\n\n".join([textwrap.dedent(f"    {cls.__doc__}").strip(), *text])
    return cls


def refuse_a_preprocessor(cls: type[Estimator]) -> type[Estimator]:
    """Let the `__init__` of a class refuse metric-learn's `preprocessor`, with a message that shows what to give."""
    init: Any = cls.__dict__["__init__"]

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse_preprocessor(kwargs)
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[method-assign]
    return cls


def _parameters(cls: Any) -> str:
    """Return the text of the section Parameters of the docstring.

    The parameters in `EVERYWHERE` (solver, tol, max_iter, warm_start) come last.
    """
    method = get(cls()._method)
    closed = {} if method.MAX_ITER > 1 else {"max_iter": "No effect: the solution is a closed form"}
    says = {**EVERYWHERE, **closed, **method.PARAMETERS, **method.SOLVE_PARAMETERS, **cls._says}
    first, *others = (f'"{name}"' for name in method.SOLVERS)
    known = (
        f"{first} (default), {', '.join(others[:-1])} or {others[-1]}" if others else f"{first}, the only one"
    )
    if others and says["solver"] == EVERYWHERE["solver"]:
        known += f". {first} is our own solver; the others solve the problem of the paper through cvxpy"
    says["solver"] = says["solver"].format(known)
    fields = sorted(dataclasses.fields(cls), key=lambda field: field.name in EVERYWHERE)
    none = {name: each.otherwise for name, each in {**method.PARAMETERS, **method.SOLVE_PARAMETERS}.items()}
    return "\n".join(_line(field, says[field.name], none.get(field.name, "")) for field in fields)


def _line(field: dataclasses.Field[Any], entry: Any, none: str) -> str:
    """Return the line of one parameter, such as "lam : float, default 0.1. Weight of ...".

    field: the field of the class. entry: its description, as a text or as the Parameter of the method. none: the
    meaning of the default None, in words; "" leaves it out.
    """
    text = (entry.text if isinstance(entry, Parameter) else entry).rstrip(".")
    named = str(field.type)
    kind = {"Any": [], "Tolerance": ['float, or "strict" (1e-9), "normal" (1e-6), "loose" (1e-3)']}.get(
        named, [named]
    )
    shown = f'"{field.default}"' if isinstance(field.default, str) else field.default
    default = [] if "default" in text else [f"default {shown}"]
    # a single letter is a symbol, and keeps its case
    sentence = text if text[1] == "," else text[0].upper() + text[1:]
    if field.default is None and none:
        sentence += f". None: {none}"
    line = f"{field.name} : {'. '.join([*filter(None, [', '.join(kind + default)]), sentence])}."
    return textwrap.fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
