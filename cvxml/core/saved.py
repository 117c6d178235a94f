"""A solution that was read from a file: `load` and SavedSolution.

Nothing in a file is trusted: `load` checks types and shapes, and `cvxml certify` computes the proof again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cvxml.core.files import MAX_BYTES, read_json, read_npz
from cvxml.core.files.arrays import real, whole_or_real
from cvxml.core.files.common import check_path, named
from cvxml.core.files.strict_json import parse_json
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import FORMAT, VERSION
from cvxml.core.short_repr import cut, printable, shown

MAX_NAME = 100  # most letters of the name of a method or a parameter in a file, because messages repeat it
# values that a saved file claims, and `certify` compares with the proof
CLAIMS = (
    "objective",
    "lower_bound",
    "gap",
    "rel_gap",
    "radius",
    "step_lower_bound",
    "step_gap",
    "stationarity",
    "status",
)


# the fields of a saved file that a certificate needs: their types, and what they hold, in words
FIELDS: dict[str, tuple[tuple[type, ...], str]] = {
    "method": ((str,), "the id of a method, a text"),
    "params": ((dict,), "an object with the parameters by name"),
    "X": ((list, np.ndarray), "a list of points, each a list of numbers"),
    "y": ((list, np.ndarray), "a list with a number for each point"),
    "neighbors": ((list,), "a list with a list of point numbers for each point, or an empty list"),
    "metric": ((list, np.ndarray), "a list of the rows of the matrix"),
    "dual": ((dict,), "an object with the arrays of dual variables by name"),
}


@dataclass(frozen=True, eq=False, repr=False)
class SavedSolution:
    """The content of a file that `Solution.save` wrote, from which the certificate can be computed again.

    Fields with a name of `Solution` have the same meaning as there.

    dual: the dual variables, arrays by name.
    claimed: the objective, gap, status and other results that the file states; they are not trusted.
    derived: names of parameters that the user did not give, but that were made from other inputs; None if the file has
        no such entry.
    """

    method: str
    params: dict[str, Any]
    X: FloatArray
    y: IntArray | FloatArray
    neighbors: list[list[int]]
    metric: FloatArray
    dual: dict[str, np.ndarray]
    claimed: dict[str, Any] = field(default_factory=dict)
    # as in `Solution`; None if the file has no such entry, for example a file of cvxml 0.2
    derived: tuple[str, ...] | None = None

    __repr__ = shown


def load(path: str | Path) -> SavedSolution:
    """Read a .json or .npz file that `Solution.save` wrote.

    Raises ValueError for any other file, also for .npy and .csv, which hold the metric alone.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    cvxml.solve("lmnn", X, y).save("iris.json")
    saved = cvxml.load("iris.json")
    print(saved.method, saved.metric.shape)  # -> lmnn (4, 4)
    """
    arrays: dict[str, np.ndarray] | None = None
    content: object = None
    check_path(path)
    if Path(path).suffix == ".json":
        content = read_json(path)
    elif Path(path).suffix == ".npz":
        arrays = read_npz(path)
    else:
        raise ValueError(
            f"{named(path)} is not a saved solution: give a .json or .npz file that 'solve --out' or 'Solution.save' "
            "wrote"
        )
    try:
        if arrays is not None:
            content = _from_arrays(arrays)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f'no "format": "{FORMAT}" in it')
        if content.get("version") != VERSION:
            raise ValueError(
                f"its format has version {content.get('version')!r:.40}, but this cvxml reads version {VERSION}; read "
                "it with the cvxml that wrote it"
            )
        for name, (kinds, what) in FIELDS.items():
            if not isinstance(content[name], kinds):
                raise ValueError(f"{name} must be {what}, got {_given(content[name])}")
        method, params = content["method"].lower(), dict(content["params"])  # ids have small letters
        if any(len(str(name)) > MAX_NAME for name in (method, *params)):
            raise ValueError(f"its method or a parameter has a name of more than {MAX_NAME} letters")
        X, y = _reals(content["X"], "X"), _targets(_array(content["y"], "y"))
        if len(y) != len(X):
            raise ValueError(f"y must hold a number for each of the {len(X)} points of X, got {len(y)}")
        return SavedSolution(
            method=method,
            params=params,
            X=X,
            y=y,
            neighbors=_lists(content["neighbors"]),
            metric=_reals(content["metric"], "metric"),
            dual={
                name: _array(values, f"dual {printable(name)}") for name, values in content["dual"].items()
            },
            claimed={k: content.get(k) for k in CLAIMS},
            derived=_derived(content["derived"]) if "derived" in content else None,
        )
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
        MemoryError,
    ) as error:
        reason = (
            f"the field {error} is missing"
            if isinstance(error, KeyError)
            else str(error) or type(error).__name__
        )
        raise ValueError(f"{named(path)} is not a saved solution: {cut(reason, 800)}") from error


def _derived(listed: Any) -> tuple[str, ...]:
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ValueError("derived must be a list of names of parameters")
    if len(set(listed)) < len(listed):
        raise ValueError("derived has a name twice")
    return tuple(listed)


def _given(value: Any) -> str:
    """Return words for a value of a file in a message: "an array", "a list", "an object", else its JSON, shortened."""
    kinds = {np.ndarray: "an array", list: "a list", dict: "an object"}
    return kinds.get(type(value)) or printable(
        json.dumps(value[:40] if isinstance(value, str) else value), 40
    )


def _array(values: Any, name: str) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values
    if not isinstance(values, list):
        raise ValueError(f"{name} must be a list of numbers, or of such lists, got {_given(values)}")
    return whole_or_real(values, name)


def _reals(values: Any, name: str) -> FloatArray:
    numbers = _array(values, name)
    if numbers.dtype.kind not in "biuf" or numbers.ndim == 0:
        raise ValueError(
            f"{name} must be rows of numbers, got shape {numbers.shape} and dtype {numbers.dtype}"
        )
    return real(numbers)


def _lists(neighbors: list[Any]) -> list[list[int]]:
    for place, row in enumerate(neighbors):
        if not isinstance(row, list) or not all(type(point) is int for point in row):
            raise ValueError(f"neighbors[{place}] must be a list of point numbers, got {_given(row)}")
    return neighbors


def _targets(targets: np.ndarray) -> IntArray | FloatArray:
    if targets.ndim != 1 or targets.dtype.kind not in "iuf":
        raise ValueError("y must be a list of numbers")
    return targets.astype(np.float64) if targets.dtype.kind == "f" else targets.astype(np.intp)


def _from_arrays(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the content of a .npz file in the form that a parsed .json file has; long lists stay arrays.

    Raises ValueError or KeyError if the arrays do not fit together, or if one is missing.
    """
    try:
        content = parse_json(str(arrays.pop("header")), finite=False)
    except ValueError as error:
        raise ValueError(f"header must be the JSON text of an object: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"header must be the JSON text of an object, got {_given(content)}")
    counts = arrays.pop("neighbor_counts")
    flat = arrays.pop("neighbors")
    # Each entry becomes an element of a Python list, which takes about 64 bytes, so entries of one byte could fill the
    # memory.
    if any(given.ndim != 1 or given.dtype != np.int64 for given in (counts, flat)):
        raise ValueError("neighbors and neighbor_counts are not lists of integers of 8 bytes (int64)")
    if len(counts) not in (0, *arrays["y"].shape[:1]) or (len(counts) + len(flat)) * 64 > MAX_BYTES:
        raise ValueError(
            f"it holds {len(counts)} neighbor_counts and {len(flat)} neighbors for {len(arrays['y'])} points; a file "
            "of cvxml has one count for each point, or none"
        )
    if counts.min(initial=0) < 0 or counts.max(initial=0) > len(counts):
        raise ValueError(f"neighbor_counts are not all within 0..{len(counts)}")
    if counts.sum() != len(flat):
        raise ValueError(f"neighbor_counts add up to {counts.sum()}, but there are {len(flat)} neighbors")
    found, ends = flat.tolist(), np.cumsum(counts).tolist()
    content["neighbors"] = [found[start:end] for start, end in pairwise([0, *ends])]
    content["dual"] = {k[5:]: arrays.pop(k) for k in list(arrays) if k.startswith("dual_")}
    return {**content, **arrays}
