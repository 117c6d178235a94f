"""Whole calls of two copies of the repository: here, this one twice, on small rows."""

from __future__ import annotations

import math

import pytest

from validation.benchmarks import whole_calls
from validation.benchmarks.versions import ROOT
from validation.benchmarks.whole_calls import Row

pytestmark = pytest.mark.slow

POINTS = "y = np.arange(12) % 2; X = rng.standard_normal((12, 2))"


def test_a_row_has_seconds_gap_and_memory_of_both_copies() -> None:
    rows = [
        Row("gmml", POINTS, "cvxml.solve('gmml', X, y)"),
        Row("zero", POINTS, "cvxml.check('gmml', X, y, 0 * np.eye(2))"),
    ]
    _, _, first, second = whole_calls.lines(ROOT, rows, 60)
    cells = [cell.strip() for cell in first.strip("|").split("|")]
    assert cells[0] == "gmml"
    assert 0 < float(cells[1]) < 60
    assert float(cells[3]) == pytest.approx(float(cells[2]) / float(cells[1]), rel=0.1, abs=0.01)
    assert float(cells[4].removeprefix("gap ")) < 1e-6
    assert float(cells[6]) > 0.01
    assert "| refuted | refuted |" in second


def test_a_call_that_fails_or_is_stopped_says_so() -> None:
    failed = whole_calls.called(ROOT, Row("", POINTS, "cvxml.solve('gmml', X, 1)"), 60)
    assert failed is not None
    assert math.isnan(failed[0])
    assert "Error" in failed[1]
    assert whole_calls.called(ROOT, Row("", POINTS, "time.sleep(60)"), 3) is None


def test_the_data_of_every_row_can_be_made_from_small_sizes() -> None:
    names = [row.name for row in whole_calls.ROWS]
    assert len(set(names)) == len(names)
    for row in whole_calls.ROWS:
        compile(row.data, row.name, "exec")
        compile(row.call, row.name, "eval")
