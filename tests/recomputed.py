"""validation/recompute.py, which proves a saved file without the package, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

RECOMPUTE = Path(__file__).parents[1] / "validation" / "recompute.py"


class Said(NamedTuple):
    """Its exit code, and all that it prints."""

    code: int
    text: str


def recompute(path: Path, **changed: Any) -> Said:
    """What it says of a file, of which these parts are changed before."""
    if changed:
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    run = subprocess.run([sys.executable, RECOMPUTE, path], capture_output=True, text=True, check=False)
    return Said(run.returncode, run.stdout + run.stderr)


def dual_of(path: Path) -> Any:
    """The dual of a file."""
    return json.loads(path.read_text())["dual"]


def assert_proved(path: Path) -> None:
    """That it proves a file to a millionth."""
    code, text = recompute(path)
    assert code == 0, text
    assert "proved: optimal to 1e-6" in text


def assert_refused(path: Path, why: str = "", **changed: Any) -> None:
    """That it does not prove a file of which these parts are changed, and says why."""
    code, text = recompute(path, **changed)
    assert code != 0
    assert why in text
