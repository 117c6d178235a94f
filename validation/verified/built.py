"""Shared by the tests: the checker, built from the committed OCaml; a run of it; and Coq text without comments."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

import cvxml
from cvxml.core.saved import load
from cvxml.oracle.side import write_side

HERE = Path(__file__).parent
MEMORY, SECONDS = 4 * 2**20, 60  # of a run; memory in KiB
# The shell sets the limit and becomes the program. With a limit set by Python, most of the time went into copies of
# Python's own memory.
LIMITED = ["sh", "-c", f'ulimit -v {MEMORY}; exec "$0" "$@"']
FOLDER = TemporaryDirectory(prefix="verified")  # removed at the end


class Said(NamedTuple):
    """The answer of the checker to one pair of files."""

    proved: bool
    reason: str  # the first line
    interval: tuple[Fraction, Fraction] | None
    whose: str = ""  # whose objective the upper end is, in a sentence


@cache
def checker() -> Path:
    """Build the checker, and return its path. Skips the test, with the reason, if it cannot be built."""
    if shutil.which("ocamlfind") is None:
        pytest.skip("no ocamlfind: the verified checker is not built")
    if subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, check=False).returncode:
        pytest.skip("no zarith: the verified checker is not built")
    subprocess.run([str(HERE / "build.sh"), FOLDER.name], check=True)
    return Path(FOLDER.name) / "checker"


def run(file: Path, side: Path) -> Said:
    """Run the checker on a saved solution and its side file, and return its answer.

    Asserts that the answer begins with "PROVED [" or "REJECTED: ", and that the exit code agrees. The run is limited to
    a minute and 4 GiB, because files of strangers must not stop a machine.
    """
    done = subprocess.run(
        [*LIMITED, str(checker()), str(file), str(side), "--fractions"],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    lines = done.stdout.splitlines()
    assert not done.stderr, done.stderr
    if done.returncode == 1:
        assert len(lines) == 1, lines
        assert lines[0].startswith("REJECTED: ")
        return Said(False, lines[0], None)
    assert done.returncode == 0
    assert lines[0].startswith("PROVED [")
    found = dict(line.split(" ", 1) for line in lines[2:])
    return Said(True, lines[0], (Fraction(found["lower"]), Fraction(found["upper"])), lines[1])


def saved(solution: cvxml.Solution, folder: Path) -> tuple[Path, Path]:
    """Save a solution and its side file in a folder, and return both paths."""
    file, side = folder / "solution.json", folder / "side.json"
    solution.save(file)
    write_side(load(file), side)
    return file, side


def without_comments(text: str) -> str:
    """Return a Coq text without its comments, which may be nested."""
    found, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        if depth == 0 and part != "*)":
            found.append(part)
    return "".join(found)
