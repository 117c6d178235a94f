"""What a report is about, so that it stands alone: the data, the parameters and where they came from, versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from cvxml._version import __version__
from cvxml.core.inputs import class_names
from cvxml.core.report import About
from cvxml.oracle.asked import Asked

PACKAGES = ("numpy", "scipy", "python-flint")
SHORT = 60  # characters of a value


def about(asked: Asked) -> About:
    """Of a question."""
    X = np.asarray(asked.given.X)
    params = {
        name: (_short(asked.params[name]), "given")
        if asked.params.get(name) is not None
        else (parameter.otherwise or _short(parameter.default), "default")
        for name, parameter in asked.module.PARAMETERS.items()
        if asked.params.get(name) is not None or parameter.default is not None or parameter.otherwise
    }
    versions = {"cvxml": __version__} | {name: found for name in PACKAGES if (found := _version(name))}
    n, d = X.shape
    return About(n, d, _classes(asked), params, asked.module.ties(asked.given), versions)


def _classes(asked: Asked) -> dict[str, int]:
    """How many points there are of each; none where y are real targets, or pairs stand in the place of labels."""
    codes = np.asarray(asked.given.y)
    if asked.y is None or codes.dtype.kind != "i":
        return {}
    names, sizes = class_names(asked.y), np.bincount(codes).tolist()
    return dict(zip(names, sizes, strict=True)) if len(names) == len(sizes) else {}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # as where the package is not installed but found on a path
        return ""


def _short(value: Any) -> str:
    """A number or a word as it is; of what is long, what it is."""
    if isinstance(value, (int, float, str, bool, np.number)):
        return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)
    if isinstance(value, dict):
        return ", ".join(f"{len(listed)} {name}" for name, listed in value.items())[:SHORT]
    try:
        shape = np.shape(value)
    except ValueError:  # lists of different lengths
        return f"{len(value)} lists"
    return " x ".join(map(str, shape)) if shape else str(value)[:SHORT]
