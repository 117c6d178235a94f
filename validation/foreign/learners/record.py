"""What all scripts of learners share: inputs read, a fit watched, and a file written.

Each script with_PACKAGE.py runs in a Python that has its package, and calls `write`:

    python with_PACKAGE.py --inputs FILE.json --out FILE.json

`environment` has versions; `runs` have parameters, matrices, warnings, what was printed on convergence, and, where the
package computes it, its own objective; `facts` what it did when it was tried. Nothing here says whether a matrix is
good: judge.py does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import platform
import warnings
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Data(NamedTuple):
    """Points (n, d), labels (n,), pairs as four index arrays, and the rest as inputs.py has it."""

    name: str
    X: np.ndarray
    y: np.ndarray
    pairs: tuple[np.ndarray, ...]  # similar (a, b), dissimilar (c, d)
    more: dict[str, np.ndarray]  # quadruplets (q, 4), chunklets (n,), near and far (n, k)


class Watched(NamedTuple):
    """Warnings, each once with its count, and printed lines."""

    warned: list[dict[str, Any]]
    printed: list[str]


def load(path: Path) -> dict[str, Data]:
    """The data sets of inputs.py, by name."""
    found = {}
    for name, content in json.loads(path.read_text()).items():
        X, y = np.array(content.pop("X"), dtype=float), np.array(content.pop("y"))
        pairs = content.pop("pairs")
        if pairs == "all":  # i < j
            same = y[None] == y[:, None]
            four = (*np.nonzero(np.triu(same, k=1)), *np.nonzero(np.triu(~same, k=1)))
        else:
            four = (*np.array(pairs["similar"]).T, *np.array(pairs["dissimilar"]).T)
        found[name] = Data(name, X, y, four, {key: np.array(value) for key, value in content.items()})
    return found


def watched(fit: Callable[[], Any]) -> Watched:
    """Call it."""
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        fit()
    counts = Counter((one.category.__name__, str(one.message)) for one in caught)
    warned = [{"category": kind, "text": text, "count": count} for (kind, text), count in counts.items()]
    return Watched(warned, out.getvalue().splitlines())


def run(package: str, learner: str, settings: str, data: Data, M: np.ndarray, **more: Any) -> dict[str, Any]:
    """One run: the matrix returned (d, d), and what else is known of it."""
    rest = {"params": {}, "given": {}, "own_objective": {}, "warnings": [], "printed": []}
    known = {"package": package, "learner": learner, "settings": settings, "data": data.name}
    return {**known, **rest, "mahalanobis": M, **more}


def write(
    packages: tuple[str, ...], run_all: Callable[[dict[str, Data]], tuple[list[Any], dict[str, Any]]]
) -> None:
    """Run a script as its command line says. run_all gives runs and facts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    runs, facts = run_all(load(options.inputs))
    environment = {"python": platform.python_version()} | {name: version(name) for name in packages}
    record = {"environment": environment, "facts": facts, "runs": runs}
    text = json.dumps(record, default=lambda array: array.tolist(), separators=(",", ":"))
    options.out.write_text(text + "\n")
