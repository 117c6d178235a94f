"""Stored parameters that other fields of a file name: lists made of labels, points drawn with a seed.

`Solution.derived` says which of them were not given. `certify` derives these again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.parameter import LISTS, Kind

SAME = 1e-9  # of the largest entry: the same numbers but for rounding


class Derived(NamedTuple):
    """A parameter that other fields of a saved file name."""

    by: tuple[str, ...]  # the fields that name it
    # False: another version of a library may draw others, so a difference refutes nothing
    repeats: bool = True

    def differs(self, name: str, params: Mapping[str, Any]) -> str:
        """That the parameter `name` is not the one that these fields name, with their values where they are short."""
        by = [
            f"{field}={params[field]!r}" if isinstance(params.get(field), (int, float, str)) else field
            for field in self.by
        ]
        another = "" if self.repeats else " here; another version of a library may draw others"
        named = f"{', '.join(by[:-1])} and {by[-1]} name" if len(by) > 1 else f"{by[0]} names"
        return f"the parameter {name} is not the one that {named}{another}"


def alike(kind: Kind, own: Any, other: Any) -> bool:
    """True if two values of a parameter are the same: lists of points in any order, numbers but for rounding."""
    if own is None or other is None:
        return own is other
    if kind is LISTS:
        return [sorted(row) for row in own] == [sorted(row) for row in other]
    a, b = np.asarray(own, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= SAME * np.abs(b).max(initial=0.0))
