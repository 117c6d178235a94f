"""Fixtures that more than one file of tests uses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cvxml.cli import run
from cvxml.firstorder import one_blas_thread
from tests.commands import GRID, Answer, Cli, X, Y, unsaid

os.environ["MPLBACKEND"] = "Agg"  # pictures in memory, no windows


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in a folder that holds data.json (14, 3) and grid.json (14, 2); what was read is left out."""
    monkeypatch.chdir(tmp_path)
    for name, points in (("data", X), ("grid", GRID)):
        Path(f"{name}.json").write_text(json.dumps({"X": points.tolist(), "y": Y.tolist()}))

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Answer(code, out, unsaid(err))

    return call


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """The tests run side by side: more BLAS threads than cores only wait for each other."""
    with one_blas_thread():
        yield


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No picture outlives its test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
