"""The audit shares nothing with what it audits, and finds its figures in the reports."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cvxml import datasets

AUDIT = Path(__file__).with_name("audit.py")


def test_the_audit_shares_nothing() -> None:
    imported = set()
    for node in ast.walk(ast.parse(AUDIT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            imported |= {each.name.split(".")[0] for each in node.names}
    assert imported & {"cvxml", "validation", "tests"} == set()
    assert {"numpy", "sklearn"} <= imported


@pytest.mark.full
@pytest.mark.skipif("isolet" not in datasets.names(), reason="CVXML_DATA names no folder with isolet")
def test_every_figure_is_as_reported() -> None:
    done = subprocess.run(
        [sys.executable, str(AUDIT)], env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("as reported") == 10


@pytest.mark.full
@pytest.mark.skipif("isolet" not in datasets.names(), reason="CVXML_DATA names no folder with isolet")
def test_a_wrong_figure_is_seen(tmp_path: Path) -> None:
    """A copy of the reports with one figure changed."""
    (tmp_path / "reports").mkdir()
    for report in AUDIT.with_name("reports").glob("*.md"):
        text = report.read_text(encoding="utf-8").replace("6.85 ± 0.79", "6.75 ± 0.79")
        (tmp_path / "reports" / report.name).write_text(text, encoding="utf-8")
    (tmp_path / "audit.py").write_text(AUDIT.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run([sys.executable, str(tmp_path / "audit.py"), "kNN"], capture_output=True, text=True)
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stdout.splitlines() if "DIFFERS" in line] == ["wine:"]
