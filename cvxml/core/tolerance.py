"""The tolerance tol, relative to the scale of the problem: a number, or "strict", "normal" or "loose"."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from cvxml.core.inputs import check_positive, did_you_mean
from cvxml.core.short_repr import cut

TOLERANCES = {"strict": 1e-9, "normal": 1e-6, "loose": 1e-3}
Tolerance: TypeAlias = float | Literal["strict", "normal", "loose"]


def check_tol(tol: Any) -> float:
    """Return the tolerance > 0 for a number, or for a word of `TOLERANCES`. Raises ValueError for other input."""
    if isinstance(tol, str) and tol in TOLERANCES:
        return TOLERANCES[tol]
    try:
        return check_positive(tol, "tol")
    except ValueError:
        words = " or ".join(f'"{word}" ({value:g})' for word, value in TOLERANCES.items())
        near = did_you_mean(tol, TOLERANCES) if isinstance(tol, str) else ""
        raise ValueError(
            f"tol must be a number greater than 0, or {words}; got {cut(repr(tol), 40)}{near}"
        ) from None


def typed_tol(typed: str) -> Tolerance:
    """Return the text of a command-line option as a number if possible, else unchanged, for `check_tol`."""
    try:
        return float(typed)
    except ValueError:
        return typed  # type: ignore[return-value]


def tol_name(tol: float) -> str | None:
    """Return the word for a tolerance; None if no word has this value."""
    return next((word for word, value in TOLERANCES.items() if value == tol), None)
