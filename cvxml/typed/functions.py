"""The functions of cvxml with the parameters of each method, for type checkers.

functions.pyi has an overload for each method, so `cvxml.solve("mlsvm", X, y, lamda=3)` is refused.
`python docs/_ext/stubs.py` writes it. A text that is not written out, for example from a file, needs the type
`MethodId`: `cvxml.solve(MethodId(text), X, y)`. The ids of `list_methods` have this type.
"""

from __future__ import annotations

from cvxml.api import certify, evaluate, list_methods, problem, solve
from cvxml.oracle.check import check

__all__ = ["certify", "check", "evaluate", "list_methods", "problem", "solve"]
