"""What the tests of the lessons share: a lesson run with values injected for its controls."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest


def lesson(name: str) -> Any:
    return import_module(f"cvxml.lessons.{name}")


def run(name: str, **controls: Any) -> Mapping[str, Any]:
    """What the cells of a lesson define, for these values of its controls."""
    definitions: Mapping[str, Any] = lesson(name).app.run(defs=controls)[1]
    return definitions


def figures_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that lessons draw from now on, in order."""
    from matplotlib.figure import Figure

    seen: list[Any] = []

    class Looked(Figure):
        def savefig(self, *given: Any, **options: Any) -> None:
            super().savefig(*given, **options)
            seen.append(self)

    monkeypatch.setattr(import_module("cvxml.lessons._page"), "Figure", Looked)
    return seen
