"""The programs to copy, in five languages: each is run where its language is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cvxml.oracle.cases import load_cases
from cvxml.oracle.conform import as_table, conform

PROGRAMS = Path(__file__).parents[2] / "validation" / "programs"
ANSWERED = {
    "stub.cpp": {"rca", "mlsvm_slacks", "psd_projection"},
    "stub.R": {"rca", "gmml", "mlsvm_slacks", "psd_projection"},
    "stub.m": {"rca", "gmml", "mlsvm_slacks", "psd_projection"},
    "stub.jl": {"rca", "gmml", "mlsvm_slacks", "psd_projection"},
    "stub.rs": {"rca"},
}
ASKED = ("rca-iris", "rca-singular", "gmml-singular", "part-mlsvm-slacks", "part-psd-mixed", "lfda-axes")
EIGEN = "/usr/include/eigen3"


def built(folder: Path, *command: str) -> list[str]:
    """The program that a compiler makes of its last argument; skipped where it, or a library, is not here."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, "-o", str(folder / "stub")], capture_output=True, text=True, timeout=300)
    if "Eigen/Dense" in done.stderr or "nlohmann/json.hpp" in done.stderr:
        pytest.skip("Eigen or nlohmann/json is not installed")
    assert (done.returncode, done.stderr) == (0, "")
    return [str(folder / "stub")]


def run_by(*command: str, needs: str) -> list[str]:
    """An interpreter and its file; skipped where it, or what `needs` loads, is not here."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    option = "--eval" if command[0] == "octave-cli" else "-e"
    if subprocess.run([command[0], option, needs], capture_output=True, timeout=300).returncode != 0:
        pytest.skip(f"{command[0]} has no {needs}")
    return list(command)


def program(name: str, folder: Path) -> list[str]:
    path = str(PROGRAMS / name)
    if name == "stub.cpp":
        return built(folder, "g++", "-O0", "-std=c++17", "-Wall", f"-I{EIGEN}", path)
    if name == "stub.rs":
        return built(folder, "rustc", "-O", "--edition", "2021", path)
    if name == "stub.R":
        return run_by("Rscript", path, needs="library(jsonlite)")
    if name == "stub.jl":
        return run_by("julia", path, needs="using JSON")
    return run_by("octave-cli", "--quiet", path, needs="jsondecode('{}');")


# Eigen takes a compiler 20 seconds
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "stub.cpp" else name for name in ANSWERED]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", SLOW)
def test_a_program_to_copy_answers_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    cases = [case for case in load_cases() if case.id in ASKED]
    rows = conform(program(name, tmp_path), cases, time_limit=120.0)
    for case, row in zip(cases, rows, strict=True):
        assert row.verdict == ("certified" if case.formula in ANSWERED[name] else "skipped"), as_table(rows)
    assert {case.formula for case in cases} > ANSWERED[name]


@pytest.mark.parametrize("name", ANSWERED)
def test_a_program_to_copy_is_short_and_says_how_to_run_it(name: str) -> None:
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) < 80
    assert "cvxml conform" in "".join(lines[:3])
    assert "--allow-skipped -- " in "".join(lines[:3])
    assert all(len(line) <= 130 for line in lines)
