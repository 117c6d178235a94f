"""`cvxml.testing`, as a test suite of somebody else uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml.testing import NotCertified, assert_certified, parametrize_with_cases

X, y = [[0.0], [4.0], [12.0]], [0, 0, 1]
ANSWERS = """
import pytest
from cvxml.testing import parametrize_with_cases

def program(question):
    known = {"mlsvm-line": {"metric": [[0.125]]}, "mlsvm-line-capped": {"metric": [[1.0]]}}
    if question["id"] == "mlsvm-kkt":
        raise OSError("no disk")
    question["inputs"].clear()  # its own
    return known.get(question["id"], {"unsupported": "one feature only"})

"""


def test_a_certified_metric_passes_and_any_other_raises_with_the_report() -> None:
    solution = cvxml.solve("mlsvm", X, y, lam=0.5, n_neighbors=2)
    assert_certified("mlsvm", X, y, solution.metric, lam=0.5, n_neighbors=2)
    assert_certified("mlsvm", X, y, claimed_objective=solution.objective, lam=0.5, n_neighbors=2)
    with pytest.raises(NotCertified) as raised:
        assert_certified("mlsvm", X, y, 2 * solution.metric, lam=0.5, n_neighbors=2)
    assert isinstance(raised.value, AssertionError)
    assert "REFUTED: mlsvm" in str(raised.value)
    assert "lower bound" in str(raised.value)
    slightly = (1 + 1e-4) * solution.metric
    assert_certified("mlsvm", X, y, slightly, tol="loose", lam=0.5, n_neighbors=2)
    with pytest.raises(NotCertified):
        assert_certified("mlsvm", X, y, slightly, tol="strict", lam=0.5, n_neighbors=2)
    with pytest.raises(ValueError, match="shape"):
        assert_certified("mlsvm", X, y, np.eye(2), n_neighbors=2)


def outcomes(folder: Path, body: str) -> tuple[dict[str, str], str]:
    """What pytest says of each test of a file, and all that it says."""
    (folder / "test_mine.py").write_text(ANSWERS + body)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        ".",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    said = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "XFAIL", "SKIPPED", "ERROR"):
            said[rest.partition("[")[2].partition("]")[0]] = word
    return said, done.stdout + done.stderr


@pytest.mark.slow
def test_every_case_is_a_test_and_expected_failures_stay_true(tmp_path: Path) -> None:
    """An expected failure fails as it says; one that passes, or is skipped, is an error."""
    said, all_of_it = outcomes(
        tmp_path,
        """
@parametrize_with_cases(program, pattern="mlsvm-[kl]*", expected_failures={"mlsvm-line-capped": "lam is halved"})
def test_mine(row):
    assert row.seconds < 60

@parametrize_with_cases(program, pattern="mlsvm-line*", expected_failures={"mlsvm-line": "mended"})
def test_fixed(row):
    pass
""",
    )
    assert said == {"mlsvm-kkt": "FAILED", "mlsvm-line": "FAILED", "mlsvm-line-capped": "FAILED"}, all_of_it
    assert "test_mine[mlsvm-line]" in all_of_it
    assert "XPASS(strict)] mended" in all_of_it
    assert re.search(r"mlsvm-kkt: error.*OSError: no disk", all_of_it)
    assert "1 passed" in all_of_it
    assert "1 xfailed" in all_of_it
    assert "3 failed" in all_of_it
    assert "mlsvm-line-capped: refuted: " in all_of_it


@pytest.mark.slow
def test_what_is_not_supported_is_skipped_and_no_expected_failure(tmp_path: Path) -> None:
    _, all_of_it = outcomes(
        tmp_path,
        """
@parametrize_with_cases(program, pattern="mlsvm-grid")
def test_mine(row):
    pass

@parametrize_with_cases(program, pattern="mlsvm-grid", expected_failures={"mlsvm-grid": "ties"})
def test_expected(row):
    pass

@parametrize_with_cases(program, pattern="mlsvm-line")
def test_further(row):
    assert row.verdict == "certified"
    assert row.case == "another"
""",
    )
    assert "1 skipped" in all_of_it
    assert "2 failed" in all_of_it
    assert re.search(r"RuntimeError.*\(ties\).*mlsvm-grid: skipped.*one feature", all_of_it)
    assert "'mlsvm-line' == 'another'" in all_of_it


@pytest.mark.slow
def test_a_command_is_run_as_conform_runs_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('{\"metric\": [[0.125]]}')")
    said, all_of_it = outcomes(
        tmp_path,
        """
import sys

@parametrize_with_cases([sys.executable, "program.py"], pattern="mlsvm-line*")
def test_mine(row):
    pass
""",
    )
    assert said == {"mlsvm-line": "PASSED", "mlsvm-line-capped": "FAILED"}, all_of_it


def test_what_is_asked_for_wrongly_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected_failures.*mlsvm-lin;"):
        parametrize_with_cases(["true"], expected_failures={"mlsvm-lin": "why"})
    with pytest.raises(ValueError, match=r"expected_failures.*mlsvm-line$"):
        parametrize_with_cases(["true"], expected_failures={"mlsvm-line": " "})
    with pytest.raises(ValueError, match="a list"):
        parametrize_with_cases("true")
    with pytest.raises(ValueError, match="'nothing-of-the-kind'"):
        parametrize_with_cases(["true"], pattern="nothing-of-the-kind")


@pytest.mark.slow
def test_pytest_is_not_needed_to_import_it() -> None:
    code = "import sys; sys.modules['pytest'] = None; import cvxml.testing"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
