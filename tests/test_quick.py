"""The quick suite and the slow tests are together all there are: the mark quick(n), of conftest.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.quick(3)
@pytest.mark.parametrize("k", range(10))
def test_thinned(k): pass

@pytest.mark.quick(3)
@pytest.mark.parametrize("k", range(2))
def test_of_few(k): pass

@pytest.mark.parametrize("k", range(2))
def test_whole(k): pass
"""


def collected(folder: Path, marks: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-n", "0", "-m", marks, "test_some.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split("::")[1] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_some_parameters_are_quick_and_all_others_slow(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((Path(__file__).parents[1] / "conftest.py").read_text())
    (tmp_path / "test_some.py").write_text(TESTS)
    few = {f"test_{name}[{k}]" for name in ("of_few", "whole") for k in range(2)}
    thinned = {f"test_thinned[{k}]" for k in (0, 3, 6)}
    assert collected(tmp_path, "not slow") == few | thinned
    assert collected(tmp_path, "slow") == {f"test_thinned[{k}]" for k in range(10)} - thinned
