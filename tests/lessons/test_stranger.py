"""The lesson stranger, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import project_psd
from cvxml.methods import get
from tests.lessons.run import figures_of, lesson, run

KNOWN = get("mlsvm").MISREADINGS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stranger", "verdict", "diagnosis"),
    [
        ("nothing wrong", "certified", ""),
        ("λ‖A‖² for λ/2 ‖A‖²", "refuted", KNOWN["lam"].sentence),
        ("λ halved", "refuted", "lam = 0.0025"),
        ("Σ ξ for the mean", "refuted", KNOWN["sum"].sentence),
        ("itself among its neighbours", "refuted", KNOWN["fewer"].sentence),
        ("L transposed", "refuted", "components L^T"),
        ("L given as the metric", "refuted", "L^T L"),
        ("off-diagonal doubled", "refuted", "svec"),
        ("not symmetric", "refuted", "not symmetric"),
        ("not psd", "refuted", ""),
        ("stopped after 30 iterations", "refuted", ""),
    ],
)
def test_each_stranger_gets_the_verdict_and_the_name(stranger: str, verdict: str, diagnosis: str) -> None:
    shown = run("stranger", stranger=stranger, times=1.0, tol="normal")
    report = shown["report"]
    assert report.verdict.value == verdict
    found = " / ".join(report.diagnosis)
    assert diagnosis in found if diagnosis else found == ""
    if report.witness is not None:
        X, y, judged = shown["X"], shown["y"], shown["judged"]
        theirs, ours = (
            cvxml.evaluate("mlsvm", X, y, A, lam=0.005).objective
            for A in (project_psd(judged), report.witness.metric)
        )
        assert ours < theirs
        assert theirs - ours == pytest.approx(report.witness.better_by, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("stranger", ["λ halved", "nothing wrong"])
def test_the_bar_is_as_long_as_the_gap(stranger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("stranger", stranger=stranger, times=1.0, tol="normal")
    bar = seen[1].axes[0].patches[0]
    assert bar.get_width() == pytest.approx(max(shown["report"].rel_gap, 2e-14))


def test_every_stranger_is_in_the_table_above() -> None:
    told = test_each_stranger_gets_the_verdict_and_the_name.pytestmark[0].args[1]
    assert [row[0] for row in told] == list(lesson("stranger").strangers())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "tol", "verdict"),
    [
        (1.0000001, "normal", "certified"),
        (1.0000001, "strict", "close"),
        (1.00001, "normal", "close"),
        (1.00001, "loose", "certified"),
        (1.01, "loose", "refuted"),
        (0.5, "loose", "refuted"),
        (2.0, "loose", "refuted"),
    ],
)
def test_a_multiple_is_judged_by_the_tolerance(times: float, tol: str, verdict: str) -> None:
    shown = run("stranger", stranger="nothing wrong", times=times, tol=tol)
    assert shown["report"].verdict.value == verdict
    assert np.linalg.norm(shown["judged"]) / np.linalg.norm(shown["ours"].metric) == pytest.approx(
        times, rel=1e-3
    )
