"""The command line as a fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cvxml.cli.main import run
from tests.cli.commands import GRID, Answer, Cli, X, Y, unsaid


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
