"""Parameters in the file of a saved solution that follow from its other fields.

Examples are triplets made from labels, and points drawn with a seed. `Solution.derived` lists those that the user did
not give. When `certify` checks the file, it computes them again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.parameter import LISTS, Kind

SAME = 1e-9  # relative to the largest entry: a smaller difference counts as rounding


class Derived(NamedTuple):
    """How a parameter of a saved file follows from other fields.

    by: the names of the fields that decide the parameter, for example "y" and "n_neighbors".
    repeats: False if another version of a library may draw other values. Then a difference does not prove that the
        file was changed.
    """

    by: tuple[str, ...]  # the fields that decide the parameter
    # False: another version of a library may draw other values, so a difference is no proof of a change
    repeats: bool = True

    def differs(self, name: str, params: Mapping[str, Any]) -> str:
        """Return the message that the stored parameter `name` differs from the one computed from the fields `by`.

        params: the fields of the file. The message names the fields `by`, with their values if these are numbers or
        texts.
        """
        by = [
            f"{field}={params[field]!r}" if isinstance(params.get(field), (int, float, str)) else field
            for field in self.by
        ]
        another = "" if self.repeats else " here; another version of a library may draw others"
        named = f"{', '.join(by[:-1])} and {by[-1]} name" if len(by) > 1 else f"{by[0]} names"
        return f"the parameter {name} is not the one that {named}{another}"


def alike(kind: Kind, own: Any, other: Any) -> bool:
    """Return True if two values of a parameter are equal: `own`, computed again, and `other`, stored.

    None equals only None. kind: the kind of the parameter. A value of the kind `LISTS` is a list of point indices for
    each point; the order within each list does not matter. Values of other kinds are compared as arrays. Their entries
    may differ by 1e-9 times the largest absolute entry of `other`, because of rounding.
    """
    if own is None or other is None:
        return own is other
    if kind is LISTS:
        return [sorted(row) for row in own] == [sorted(row) for row in other]
    a, b = np.asarray(own, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= SAME * np.abs(b).max(initial=0.0))
