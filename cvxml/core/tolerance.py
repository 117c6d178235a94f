"""tol: a share of the problem's scale, as a number or as the word for one."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from cvxml.core.inputs import check_positive, did_you_mean
from cvxml.core.short_repr import cut

TOLERANCES = {"strict": 1e-9, "normal": 1e-6, "loose": 1e-3}
Tolerance: TypeAlias = float | Literal["strict", "normal", "loose"]


def check_tol(tol: Any, name: str = "tol") -> float:
    """The number, > 0, that a number or one of the words of `TOLERANCES` says. Raises ValueError for anything else."""
    if isinstance(tol, str) and tol in TOLERANCES:
        return TOLERANCES[tol]
    try:
        return check_positive(tol, name)
    except ValueError:
        words = " or ".join(f'"{word}" ({value:g})' for word, value in TOLERANCES.items())
        near = did_you_mean(tol, TOLERANCES) if isinstance(tol, str) else ""
        raise ValueError(
            f"{name} must be a number greater than 0, or {words}; got {cut(repr(tol), 40)}{near}"
        ) from None


def typed_tol(typed: str) -> Tolerance:
    """What somebody typed, as a number where it is one, otherwise as it is, for `check_tol`."""
    try:
        return float(typed)
    except ValueError:
        return typed  # type: ignore[return-value]


def tol_name(tol: float) -> str | None:
    """The word for a number, where there is one."""
    return next((word for word, value in TOLERANCES.items() if value == tol), None)
