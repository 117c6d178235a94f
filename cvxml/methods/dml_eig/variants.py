"""Misreadings of DML-eig."""

from __future__ import annotations

from cvxml.variant import Variant

VARIANTS: dict[str, Variant] = {}
