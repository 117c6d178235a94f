"""The script on cells shares nothing with the experiments, finds its cells, and the short ones are as reported."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cvxml import datasets
from validation.studies import cells_again

SCRIPT = Path(cells_again.__file__)


def test_the_script_shares_nothing() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            imported |= {each.name.split(".")[0] for each in node.names}
    assert imported & {"cvxml", "validation", "tests"} == set()


EVERY = {**cells_again.CELLS, **cells_again.PLAIN}


@pytest.mark.parametrize("name", EVERY)
def test_a_report_has_the_mean_of_the_recorded_values(name: str) -> None:
    assert cells_again.printed(EVERY[name]).startswith(
        cells_again.with_error(cells_again.recorded(EVERY[name]))
    )


def test_the_dual_step_solves_a_problem_with_a_known_optimum() -> None:
    """One constraint C = diag(1, -1): A = diag(a / lam, 0), with a = min(lam, 1 / n) by hand."""
    C = np.array([np.diag([1.0, -1.0])])
    for lam, n, a in ((0.1, 2, 0.1), (2.0, 4, 0.25)):
        A = cells_again.qsdp(C, np.array([0]), lam, n)
        np.testing.assert_allclose(A, np.diag([a / lam, 0]), atol=1e-6)


@pytest.mark.slow
def test_a_drawn_cell_is_exact() -> None:
    """It needs no files."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "mixtures"],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert " 20 of 20 " in done.stdout


@pytest.mark.full
@pytest.mark.skipif(
    "office_dslr" not in datasets.names(), reason="CVXML_DATA names no folder with office_dslr"
)
def test_a_cell_of_table_1_is_exact() -> None:
    line, fine = cells_again.compared(cells_again.CELLS["dslr"])
    assert fine
    assert " 5 of 5 " in line


def test_a_wrong_figure_is_seen() -> None:
    """Values that are all a point above the recorded ones differ; the recorded ones themselves are exact."""
    cell = cells_again.CELLS["dslr"]
    ours = cells_again.recorded(cell)
    line, fine = cells_again.compared(cell._replace(splits=lambda: iter(ours)))
    assert fine
    assert "exact" in line
    above = [value + 0.01 + 0.001 * (place % 2) for place, value in enumerate(ours)]
    line, fine = cells_again.compared(cell._replace(splits=lambda: iter(above)))
    assert not fine
    assert "DIFFERS" in line


@pytest.mark.full
@pytest.mark.skipif("isolet" not in datasets.names(), reason="CVXML_DATA names no folder with isolet")
@pytest.mark.parametrize("name", cells_again.PLAIN)
def test_a_cell_without_a_solver_is_exact(name: str) -> None:
    line, _ = cells_again.compared(cells_again.PLAIN[name])
    assert " exact " in line
