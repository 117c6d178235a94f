"""What the tests of the lessons share: a lesson run with values injected for its controls, and one that is served."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


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


@contextmanager
def opened(name: str) -> Iterator[str]:
    """The address of a lesson that the command serves."""
    command = [sys.executable, "-m", "cvxml", "lesson", name, "--headless"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            found = re.fullmatch(
                rf"lesson {name}: (http://127\.0\.0\.1:\d+\S*) .*\n", served.stdout.readline()
            )
            assert found is not None
            yield found[1]
        finally:
            served.terminate()
            served.wait(20)
