"""`python docs/_ext/tables.py` writes the parameters and defaults of all methods into docs/which_method_tables.md.

tests/docs/test_docs_methods.py compares these cells with the methods.
"""

from __future__ import annotations

import re
from pathlib import Path

from cvxml.core.parameter import OF_POINTS, Parameter
from cvxml.methods import get

SHORT = 40  # largest number of characters for the description of a default
PAGE = Path(__file__).parents[1] / "which_method_tables.md"
ROW = re.compile(r"^(\| \[`(\w+)`\].* \|)[^|]*\|$", flags=re.MULTILINE)  # the last cell has the parameters


def cell(method: str) -> str:
    """Return the parameters of a method with their defaults, without the lists of points."""
    parameters = get(method).PARAMETERS.items()
    return ", ".join(shown(name, each) for name, each in parameters if each.kind not in OF_POINTS) or "none"


def shown(name: str, parameter: Parameter) -> str:
    """Return a parameter with its default, for example "lam (0.1)", or "C (1/n)" if it depends on the data."""
    default, words = parameter.default, parameter.otherwise
    if default is not None:
        return f"{name} ({default})" if isinstance(default, str) else f"{name} ({default:g})"
    if not words:
        return name
    return f"{name} ({words if len(words) <= SHORT else 'from the data'})"


def filled(page: str) -> str:
    """Return the text of the page with the cells filled."""
    return ROW.sub(lambda row: f"{row[1]} {cell(row[2])} |", page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
