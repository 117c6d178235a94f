"""The estimators without code: each is made when it is first used (made.py).

generated.pyi shows them to editors and type checkers; `python docs/_ext/stubs.py` writes it.
"""

from __future__ import annotations

from typing import Any

from cvxml.estimators.made import made
from cvxml.methods import get, names


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = made(name, __name__)
    return found


def __dir__() -> list[str]:
    stated = [get(method).ESTIMATOR for method in names() if ":" not in method]
    return sorted(each.name for each in stated if each is not None)
