"""Describe the inputs of a report: the data, all parameters with their origin, ties, and versions of packages.

With this description a report can be read without the call that made it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from cvxml._version import __version__
from cvxml.core.inputs import class_sizes
from cvxml.core.report import About
from cvxml.core.short_repr import cut
from cvxml.oracle.asked import Asked

PACKAGES = ("numpy", "scipy", "python-flint")
LISTS = ("neighbors", "targets", "triplets", "pairs", "quadruplets")


def about(asked: Asked) -> About:
    """Return the description of the inputs of `asked`, the checked arguments of a call of `check`.

    A parameter is marked "given" or "default". If neighbour lists (or targets, or triplets) were made from X and y, the
    description contains this too.
    """
    X = np.asarray(asked.given.X)
    real = np.asarray(asked.given.y).dtype.kind == "f"  # real targets: there are no classes
    classes = {} if asked.y is None or real else class_sizes(asked.y)
    params = {
        name: (_short(asked.params[name]), "given")
        if asked.params.get(name) is not None
        else (parameter.otherwise or _short(parameter.default), "default")
        for name, parameter in asked.module.PARAMETERS.items()
        if asked.params.get(name) is not None or parameter.default is not None or parameter.otherwise
    }
    versions = {"cvxml": __version__} | {name: found for name in PACKAGES if (found := _version(name))}
    n, d = X.shape
    given = any(whence == "given" for name, (_, whence) in params.items() if name in LISTS)
    chosen = asked.lists in asked.module.PARAMETERS and asked.lists not in params and not given
    lists = {asked.lists: "chosen from X and y"} if chosen else {}
    return About(n, d, classes, params, asked.module.ties(asked.given), versions, lists)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # for example, the package is found on a path and was not installed
        return ""


def _short(value: Any) -> str:
    """Return a number or a word as text, a dict as the length of each list, and any other value as its shape."""
    if isinstance(value, (int, float, str, bool, np.number)):
        return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)
    if isinstance(value, dict):
        return ", ".join(f"{len(listed)} {name}" for name, listed in value.items())
    try:
        shape = np.shape(value)
    except ValueError:  # lists of different lengths
        return f"{len(value)} lists"
    return " x ".join(map(str, shape)) if shape else cut(str(value))
