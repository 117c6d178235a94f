"""The scripts of the reports show the faults, where their packages can be had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

FOLDER = Path(__file__).parent
REPORTS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("test_"))
WITHOUT_A_SCRIPT = {"mmc_documentation"}
NO_COMPILER = 77  # exit code of a script that cannot be built


def needs(script: Path) -> list[Requirement]:
    """The packages in the first line of a script."""
    first = script.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# needs: ")
    return [Requirement(each) for each in first.removeprefix("# needs: ").split()]


@cache
def versions(python: str) -> dict[str, str]:
    """The installed packages of a Python, by name in small letters."""
    # the first of two versions on the path is imported, so it is written last
    listing = "{each.name.lower(): each.version for each in reversed(list(metadata.distributions()))}"
    program = f"import json; from importlib import metadata; print(json.dumps({listing}))"
    found = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout))


def python_for(script: Path) -> str | None:
    """Return a Python with the packages that the script needs, or None."""
    others = filter(None, os.environ.get("CVXML_FOREIGN_PYTHONS", "").split(":"))
    for python in (sys.executable, *others):
        has = versions(python)
        if all(
            each.name.lower() in has and has[each.name.lower()] in each.specifier for each in needs(script)
        ):
            return python
    return None


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_shows_its_fault(script: Path, tmp_path: Path) -> None:
    python = python_for(script)
    if python is None:
        pytest.skip(
            f"no Python here has {', '.join(map(str, needs(script)))}: see CVXML_FOREIGN_PYTHONS in README.md"
        )
    done = subprocess.run([python, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if done.returncode == NO_COMPILER:
        pytest.skip(f"cannot be built: {done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_every_report_is_complete_and_in_the_index() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {path.stem for path in REPORTS} == {path.stem for path in SCRIPTS} | WITHOUT_A_SCRIPT
    for report in REPORTS:
        text = report.read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
        assert headings == ["What happens", "What we expected", "Suggested change", "Evidence"]
        assert f"({report.name})" in index
        assert (f"({report.stem}.py)" in text) == (report.stem not in WITHOUT_A_SCRIPT)
    for target in re.findall(r"\]\(([^)]*)\)", index):
        assert (FOLDER / target).exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_needs_no_cvxml_and_fails_once_the_fault_is_mended(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert "cvxml" not in text
    assert re.search(r'^assert .*, "mended"$', text, flags=re.MULTILINE)
