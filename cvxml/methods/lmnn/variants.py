"""Misreadings of LMNN."""

from __future__ import annotations

from cvxml.variant import Variant


def variants(squared: bool) -> dict[str, Variant]:
    """By name."""
    return {}
