"""The command line and a browser as fixtures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, the system's (Debian: chromium), driven by playwright; without either what needs it is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()
