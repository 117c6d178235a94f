"""`python docs/_ext/stubs.py` writes the stubs of cvxml.typed, its overloads, and the names of generated estimators.

The stubs list the parameters of each method. The names go to cvxml/__init__.py. tests/test_typed.py compares both with
the methods.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
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
from cvxml.core.result import Certificate, Dual, Evaluation, Solution
from cvxml.core.saved import SavedSolution
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


def package(text: str) -> str:
    """Return the text of cvxml/__init__.py with every generated estimator: in its docstring, imports and `__all__`."""
    own = sorted(dir(generated), key=_by_case)
    imported = "".join(f"        {name},\n" for name in own)
    text = re.sub(r"(?<=generated import \(\n)(?: +\w+,\n)*", imported, text)
    (public,) = re.findall(r"^__all__ = \[\n((?:.*\n)*?)\]", text, flags=re.MULTILINE)
    every = sorted({*ast.literal_eval(f"[{public}]"), *own}, key=_by_case)
    text = text.replace(public, "".join(f'    "{name}",\n' for name in every))
    (told,) = re.findall(r"^scikit-learn estimators: .*\n(?:    .*\n)*", text, flags=re.MULTILINE)
    new = [name for name in own if name not in re.findall(r"\w+", told)]
    whole = " ".join(told.split()).replace(
        " Euclidean,", "".join(f" {name}," for name in (*new, "Euclidean"))
    )
    return text.replace(told, textwrap.fill(whole, 120, subsequent_indent="    ") + "\n")


def _by_case(name: str) -> tuple[int, str]:
    """The order of ruff: names in capitals, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def stubs() -> dict[str, str]:
    """Map the path of each stub, and of the package's `__init__`, relative to the package, to its text."""
    init = Path(cvxml.__file__).read_text(encoding="utf-8")
    return {
        "__init__.py": package(init),
        "typed/__init__.pyi": stub(),
        "typed/functions.pyi": overloads(),
        "estimators/generated.pyi": estimators(),
    }


if __name__ == "__main__":
    for name, text in stubs().items():
        (Path(cvxml.__file__).parent / name).write_text(text, encoding="utf-8")
