"""Compare the numbers of a part of an algorithm with the stored numbers of a case.

A golden case of kind "part" asks for intermediate results of a method, for example the neighbours, and not for a
metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, real_array


def compare(content: dict[str, Any], answer: Any) -> str:
    """Return a sentence on the first difference between `answer` and the case; empty if they agree.

    answer: {name of an array: its value}, as the program under test gave it. content: the stored case. Its "answer" has
    the right arrays. An array named in "sets" is a list of lists of indices, for example the neighbours of each point;
    the order within each inner list is free. All other arrays hold numbers. The allowed error is "tolerance" times the
    largest absolute number of the right array, or "tolerance" if this number is below 1.
    """
    if not isinstance(answer, dict):
        return 'the answer has no "answer" with the numbers of the part'
    for name, expected in content["answer"].items():
        if name not in answer:
            return f"the answer has no {name!r}; expected: {', '.join(content['answer'])}"
        wrong = (
            _sets(expected, answer[name])
            if name in content["sets"]
            else _numbers(expected, answer[name], content["tolerance"])
        )
        if wrong:
            return f"{name}: {wrong}"
    return ""


def _sets(expected: list[list[int]], given: Any) -> str:
    if not isinstance(given, list) or len(given) != len(expected):
        return f"a list of {len(expected)} lists is expected"
    for i, (right, row) in enumerate(zip(expected, given, strict=True)):
        if not isinstance(row, list) or any(type(j) is not int for j in row):
            return f"entry {i} is not a list of indices"
        if sorted(row) != sorted(right):
            return f"entry {i} is {sorted(row)}, right is {sorted(right)}"
    return ""


def _numbers(expected: Any, given: Any, tolerance: float) -> str:
    right = np.asarray(expected, dtype=np.float64)
    found = _array(given)
    if found is None or found.shape != right.shape:
        return f"numbers of shape {right.shape} are expected"
    allowed = tolerance * max(float(np.abs(right).max(initial=0.0)), 1.0)
    error = np.abs(found - right)
    if (error <= allowed).all():  # False for NaN
        return ""
    place = tuple(int(p) for p in np.argwhere(~(error <= allowed))[0])
    return f"{found[place]:.12g} at {list(place)}, right is {right[place]:.12g} (allowed {allowed:.2g})"


def refuse_booleans(given: Any, name: str) -> None:
    """Raise ValueError if lists of numbers hold True or False, which numpy would convert to 1 and 0."""
    left = [given]
    while left:
        value = left.pop()
        if isinstance(value, (list, tuple)):
            left.extend(value)
        elif isinstance(value, (bool, np.bool_)) or getattr(getattr(value, "dtype", None), "kind", "") == "b":
            raise ValueError(
                f"{name} must hold numbers, got true or false; give 1 and 0 if you mean these numbers"
            )


def _array(given: Any) -> FloatArray | None:
    try:
        refuse_booleans(given, "the answer")
        return real_array(given, "the answer")
    except ValueError:
        return None
