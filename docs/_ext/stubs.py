"""`python docs/_ext/stubs.py` writes the stub of cvxml.typed: the parameters of each method, for type checkers.

tests/test_typed.py compares it with what the methods say of themselves.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from cvxml import typed
from cvxml.methods import get

FILE = Path(typed.__file__).with_suffix(".pyi")
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


def stub() -> str:
    """The text of the file."""
    classes = [_class(name, method) for name, method in typed.named().items()]
    return "\n\n".join([HEAD.format(text=inspect.getdoc(typed)), *classes]) + "\n"


def _class(name: str, method: str) -> str:
    own = name.replace("_", " ").title().replace(" ", "")
    lines = [
        f"    def {each.__name__}{_text(typed.signature_of(each, method))}: ..." for each in typed.FUNCTIONS
    ]
    return "\n".join([f"class {own}:", f'    """{get(method).TITLE}"""', "", *lines, "", f"{name}: {own}"])


def _text(of: inspect.Signature) -> str:
    """As it is written, annotations being text already."""
    parts, starred = ["self"], False
    for each in of.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        default = "" if each.default is each.empty else f" = {each.default!r}"
        parts.append(f"{each.name}: {each.annotation}{default}")
    return f"({', '.join(parts)}) -> {of.return_annotation}"


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
