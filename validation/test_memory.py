"""Test with validation/memory.py: readers of a stranger's file use at most the memory that SECURITY.md promises."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from validation import memory

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is read")
FOLDER = tempfile.TemporaryDirectory(prefix="checker")


@cache
def checker() -> Path | None:
    return memory.built(Path(FOLDER.name))


@pytest.mark.slow
@linux
def test_memory_that_a_reader_takes_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")

    def eats(_: Path) -> None:
        bytearray(3 * 10**8)[::4096] = b"x" * len(range(0, 3 * 10**8, 4096))
        raise ValueError("planted")

    found = memory.Measured("file", "eats", 1, *memory.in_child(lambda: memory.of_reader(eats, path)))
    assert 2.9e8 <= found.memory <= 4e8  # some of it was there before
    assert not found.within
    program = "bytearray(3 * 10**8)[::4096] = b'x' * len(range(0, 3 * 10**8, 4096))"
    taken = memory.of_program([sys.executable, "-c", program])[0]
    assert 2.9e8 <= taken <= 4e8


def wrong(megabytes: float) -> list[memory.Measured]:
    found = list(memory.run(megabytes, checker()))
    assert len(found) >= len(memory.FILES)
    return [each for each in found if not (each.within and each.ended_well)]


@linux
@pytest.mark.slow
def test_no_file_of_a_megabyte_takes_more_than_the_promise() -> None:
    assert wrong(1) == []


@linux
@pytest.mark.slow
@pytest.mark.full
def test_no_file_of_ten_megabytes_takes_more_than_the_promise() -> None:
    assert wrong(10) == []


@pytest.mark.slow
@linux
def test_the_checker_refuses_pipes_and_objects_of_many_keys(tmp_path: Path) -> None:
    if (program := checker()) is None:
        pytest.skip("no OCaml: the verified checker is not built")
    os.mkfifo(tmp_path / "pipe")
    keys = ",".join(f'"{k}":0' for k in range(2000))
    (tmp_path / "keys").write_text(f"{{{keys}}}")
    (tmp_path / "few").write_text("{}")
    for name in ("pipe", "keys", "few", "none", "."):
        done = subprocess.run(
            [program, tmp_path / name, tmp_path / "few"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert done.stdout.startswith("REJECTED: ")
        assert done.stdout.count("\n") == 1
        assert ("keys" in done.stdout) == (name == "keys")
