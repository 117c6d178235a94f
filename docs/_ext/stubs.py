"""`python docs/_ext/stubs.py` writes the stubs of cvxml.typed and of the generated estimators, for type checkers.

The stubs list the parameters of each method. tests/test_typed.py compares them with the methods.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import cvxml
from cvxml import typed
from cvxml.estimators import generated
from cvxml.methods import get

HEAD = '''"""{text}"""

# Written by docs/_ext/stubs.py.

from typing import Any, Literal

from numpy.typing import ArrayLike

from cvxml.core.parameter import Pairs, Starts
from cvxml.core.result import Certificate, Dual, Evaluation, SavedSolution, Solution
from cvxml.core.report import Report
from cvxml.core.run import Callback
from cvxml.core.tolerance import Tolerance
'''
ESTIMATORS_HEAD = '''"""{text}"""

# Written by docs/_ext/stubs.py.

from typing import Any

from cvxml.core.tolerance import Tolerance
from cvxml.estimators.base import Learner, PairsEstimator, TripletsEstimator
'''


def stub() -> str:
    """Return the text of cvxml/typed/__init__.pyi."""
    classes = [_class(name, method) for name, method in typed.named().items()]
    return "\n\n".join([HEAD.format(text=inspect.getdoc(typed)), *classes]) + "\n"


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


def _text(of: inspect.Signature) -> str:
    """Return a signature as code. Its annotations are strings."""
    parts, starred = ["self"], False
    for each in of.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        default = "" if each.default is each.empty else f" = {each.default!r}"
        parts.append(f"{each.name}: {each.annotation}{default}")
    return f"({', '.join(parts)}) -> {of.return_annotation}"


def stubs() -> dict[str, str]:
    """Map the path of each stub, relative to the package, to its text."""
    return {"typed/__init__.pyi": stub(), "estimators/generated.pyi": estimators()}


if __name__ == "__main__":
    for name, text in stubs().items():
        (Path(cvxml.__file__).parent / name).write_text(text, encoding="utf-8")
