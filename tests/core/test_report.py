"""A report is judged by its verdict, which is a string; it is neither true nor false."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from tests.cli.commands import X, Y

BEST = cvxml.solve("mlsvm", X, Y, tol=1e-9)
CANDIDATES: dict[str, Any] = {
    "certified": BEST.metric,
    "refuted": 2 * BEST.metric,
}


@pytest.mark.parametrize("verdict", CANDIDATES)
def test_a_verdict_is_a_string(verdict: str) -> None:
    report = cvxml.check("mlsvm", X, Y, CANDIDATES[verdict])
    assert report.verdict == verdict
    assert f"{report.verdict}" == verdict
    assert json.loads(json.dumps({"verdict": report.verdict})) == {"verdict": verdict}
    assert report.verdict in {verdict: 1}
    assert report.verdict is Verdict(verdict)


def test_an_inconclusive_verdict_is_a_string_too() -> None:
    grid = np.random.default_rng(0).integers(0, 3, (14, 2)).astype(float)
    report = cvxml.check("mlsvm", grid, Y, np.eye(2))
    assert report.verdict == "inconclusive"
    assert report.verdict != "certified"


@pytest.mark.parametrize("verdict", CANDIDATES)
def test_a_report_is_neither_true_nor_false(verdict: str) -> None:
    report = cvxml.check("mlsvm", X, Y, CANDIDATES[verdict])
    with pytest.raises(TypeError, match=r"report\.verdict"):
        assert report
    with pytest.raises(TypeError, match=r"report\.verdict"):
        bool(report)


def test_a_status_is_a_string_with_a_sentence() -> None:
    assert BEST.status == "converged"
    assert json.loads(json.dumps(BEST.status)) == "converged"
    for status in Status:
        assert status == status.value == str(status)
        assert len(status.sentence) > 20
        assert status.sentence != status.value
