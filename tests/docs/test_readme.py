"""The README tells the truth: its commands run, its outputs are what comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml.methods import get
from tests.instances import random_data

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


NUMBER = r"\d+\.\d+"


def floats(line: str) -> list[float]:
    return [float(number) for number in re.findall(NUMBER, line)]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = command.split()
    assert arguments[0] == "cvxml"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.slow
def test_the_python_blocks_run_and_print_what_they_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    expected = []
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
        expected += re.findall(r"# -> (.*)", block)
    assert len(expected) == 3
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.slow
def test_the_console_blocks_print_what_they_say(tmp_path: Path) -> None:
    shown = blocks("console")
    assert shown
    for block in shown:
        command, *output = block.strip().splitlines()
        done = run(command.removeprefix("$ "), tmp_path)
        assert done.returncode == 0, done.stderr
        for line, told in zip(done.stdout.splitlines(), output, strict=False):
            assert re.sub(NUMBER, "#", line) == re.sub(NUMBER, "#", told)
            # a solver stops a little elsewhere on another machine; the figures agree to its tolerance
            assert floats(line) == pytest.approx(floats(told), rel=1e-6)
        out = command.split()[-1]
        assert run(f"cvxml certify {out}", tmp_path).returncode == 0
        recompute = [sys.executable, str(ROOT / "validation" / "recompute.py"), out]
        assert subprocess.run(recompute, cwd=tmp_path, check=False, capture_output=True).returncode == 0


@pytest.mark.slow
def test_the_demo_prints_the_lines_that_are_shown(tmp_path: Path) -> None:
    def words(text: str) -> set[str]:
        lines = (re.sub(NUMBER, "#", line) for line in text.splitlines())
        return {" ".join(line.split()) for line in lines}

    (shown,) = blocks("text")
    done = run("cvxml demo", tmp_path)
    assert done.returncode == 0, done.stderr
    assert words(shown) <= words(done.stdout)


@pytest.mark.slow
def test_the_check_command_line_works_as_shown(tmp_path: Path) -> None:
    command = next(b for b in blocks("sh") if "DATA.csv" in b).strip()
    X, y = random_data(0)
    rows = [",".join(map(repr, map(float, x))) + f",{label}" for x, label in zip(X, y, strict=True)]
    (tmp_path / "DATA.csv").write_text("a,b,c,d,e,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    solution = cvxml.solve("mlsvm", X, y, lam=0.1, n_neighbors=4)
    (tmp_path / "N.json").write_text(json.dumps([n.tolist() for n in solution.neighbors]), encoding="utf-8")
    np.save(tmp_path / "A.npy", solution.metric)
    assert run(command, tmp_path).returncode == 0
    np.save(tmp_path / "A.npy", 2 * solution.metric)
    refuted = run(command, tmp_path)
    assert refuted.returncode == 1
    assert refuted.stdout.startswith("REFUTED")


def test_ci_runs_the_two_commands() -> None:
    common = (ROOT / ".ci" / "common.sh").read_text(encoding="utf-8")
    for name in ("main", "test"):
        assert f"<!-- {name} command -->" in README
        assert f"$(readme {name})" in common
    for script in ("run", "full"):
        assert "readme_commands" in (ROOT / ".ci" / script).read_text(encoding="utf-8")
    assert "cvxml demo" in README
    assert "pytest" in README


def test_every_file_that_the_readme_names_is_there() -> None:
    for name, _, section in re.findall(r"\]\(([^)#:]+)(#([^)]*))?\)", README):
        assert (ROOT / name).exists(), name
        if section:
            headings = re.findall(r"^#+ (.*)$", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in headings}


def test_it_names_every_method() -> None:
    named = re.findall(r"`([\w:]+)`", README.partition("\n## The methods\n")[2].partition("\n## ")[0])
    assert set(cvxml.list_methods()) <= set(named)
    assert f"{len(cvxml.list_methods())} methods" in README


def test_it_is_short() -> None:
    read = re.sub(r"<!--.*?-->", "", README, flags=re.DOTALL)  # comments are not shown
    assert len(read.split()) <= 600


def test_there_are_as_many_misreadings_as_it_says() -> None:
    assert "over 200 [misreadings]" in README
    alike = {"kernel_mlsvm", "lmnn:squared_hinge", "mmc:diagonal"}  # those of another method, nearly all
    assert sum(len(get(method).MISREADINGS) for method in {*cvxml.list_methods()} - alike) > 200
