"""Report a failure of LAPACK in one sentence: the range of the entries of X, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def enough_digits(X: Any) -> Iterator[None]:
    """Replace a LinAlgError of the `with` block, for example "Singular matrix", by a ValueError about X.

    LAPACK fails if numbers overflow or underflow, and its text does not name the input.
    """
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"double precision is not enough for this problem (numpy: {error}){_range(X)}; rescale X so that its "
            "features have a spread of about 1, and any metric or weight that you give with it"
        ) from error


def _range(X: Any) -> str:
    try:
        sizes = np.abs(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):  # X may be unchecked
        return ""
    sizes = sizes[sizes > 0]
    return f": X has entries of size {sizes.min():.3g} to {sizes.max():.3g}" if sizes.size else ": X is zero"
