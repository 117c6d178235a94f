"""`python docs/_ext/stubs.py` writes the stubs of cvxml.typed, its overloads and the generated estimators.

The stubs list the parameters of each method. tests/test_typed.py compares them with the methods.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxml
from cvxml import typed
from cvxml.estimators import generated
from cvxml.methods import get
from cvxml.typed import functions

HEAD = '''"""{text}"""

# Written by docs/_ext/stubs.py.

from typing import {typing}

from cvxpy import Problem
from numpy.typing import ArrayLike

from cvxml.core.parameter import Pairs, Starts
from cvxml.core.result import Certificate, Dual, Evaluation, SavedSolution, Solution
from cvxml.core.report import Report
from cvxml.core.run import Callback
from cvxml.core.tolerance import Tolerance
from cvxml.oracle.asked import Diagnosed
'''
ESTIMATORS_HEAD = '''"""{text}"""

# Written by docs/_ext/stubs.py.

from typing import Literal

from numpy.typing import ArrayLike

from cvxml.core.parameter import Starts
from cvxml.core.tolerance import Tolerance
from cvxml.estimators.base import Learner, PairsEstimator, TripletsEstimator
'''


def stub() -> str:
    """Return the text of cvxml/typed/__init__.pyi."""
    classes = [_class(name, method) for name, method in typed.named().items()]
    head = HEAD.format(text=inspect.getdoc(typed), typing="Any, Literal, NewType")
    return "\n\n".join([head, 'MethodId = NewType("MethodId", str)', *classes]) + "\n"


def overloads() -> str:
    """Return the text of cvxml/typed/functions.pyi: each function once for each method, and once for a `MethodId`."""
    head = HEAD.format(text=inspect.getdoc(functions), typing="Any, Literal, overload")
    each = [_overloads(function) for function in typed.FUNCTIONS]
    listing = "def list_methods() -> list[MethodId]: ..."
    return "\n\n".join([head + "from cvxml.typed import MethodId\n", listing, *each]) + "\n"


def _overloads(function: Callable[..., Any]) -> str:
    """Return the overloads of one function. A method's id may be written in small or in capital letters."""
    any_id = inspect.signature(function)
    takes = [
        each.replace(annotation="MethodId") if name == "method" else each
        for name, each in any_id.parameters.items()
    ]
    written = [_text(any_id.replace(parameters=takes), first=())]
    for method in typed.named().values():
        id = f"method: Literal[{method!r}, {method.upper()!r}]"
        written.append(_text(typed.signature_of(function, method), first=(id,)))
    return "\n".join(f"@overload\ndef {function.__name__}{each}: ..." for each in written)


def estimators() -> str:
    """Return the text of cvxml/estimators/generated.pyi."""
    classes = [_estimator(getattr(generated, name)) for name in dir(generated)]
    return "\n\n".join([ESTIMATORS_HEAD.format(text=inspect.getdoc(generated)), *classes]) + "\n"


def _estimator(of: type) -> str:
    takes = inspect.signature(of)
    summary = str(inspect.getdoc(of)).splitlines()[0]
    fields = [f"    {name}: {each.annotation}" for name, each in takes.parameters.items()]
    head = f"class {of.__name__}({of.__bases__[0].__name__}):"
    init = f"    def __init__{_text(takes)}: ..."
    return "\n".join([head, f'    """{summary}"""', "", *fields, "", init])


def _class(name: str, method: str) -> str:
    own = name.replace("_", " ").title().replace(" ", "")
    lines = [
        f"    def {each.__name__}{_text(typed.signature_of(each, method))}: ..." for each in typed.FUNCTIONS
    ]
    return "\n".join([f"class {own}:", f'    """{get(method).TITLE}"""', "", *lines, "", f"{name}: {own}"])


def _text(of: inspect.Signature, first: tuple[str, ...] = ("self",)) -> str:
    """Return a signature as code, after its `first` parameters. Its annotations are strings."""
    parts, starred = list(first), False
    for each in of.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        default = "" if each.default is each.empty else f" = {each.default!r}"
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        parts.append(f"{stars}{each.name}: {each.annotation}{default}")
    return f"({', '.join(parts)}) -> {of.return_annotation}"


def stubs() -> dict[str, str]:
    """Map the path of each stub, relative to the package, to its text."""
    return {
        "typed/__init__.pyi": stub(),
        "typed/functions.pyi": overloads(),
        "estimators/generated.pyi": estimators(),
    }


if __name__ == "__main__":
    for name, text in stubs().items():
        (Path(cvxml.__file__).parent / name).write_text(text, encoding="utf-8")
