"""The verdict `close` on metrics of the methods that are not convex."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Report, Verdict
from cvxml.methods import get_stationary
from cvxml.oracle.asked import Asked
from cvxml.oracle.cases import load_cases
from cvxml.oracle.stationary import _judge_optimal
from tests.instances import checked, random_data, real_data

PARAMS = {"ssvm": {"C": 0.05}, "nca": {"criterion": "g"}}


@cache
def stationary(method: str) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """Overlapping data, and a metric that is stationary to a far smaller tolerance."""
    X, y = real_data("iris", 60) if method == "ssvm" else random_data(9, n=40, d=3)
    return X, y, cvxml.solve(method, X, y, tol=1e-9, **PARAMS[method]).metric


def judged(method: str, metric: FloatArray, **options: object) -> Report:
    X, y, _ = stationary(method)
    return cvxml.check(method, X, y, metric, **{"diagnosed": False, **PARAMS[method], **options})


@cache
def near(method: str, share: float) -> FloatArray:
    """The stationary metric, moved until the step gains about this share of the scale.

    Next to a stationary metric the gain grows with the square of the move.
    """
    best = stationary(method)[2]
    toward, move = np.trace(best) / len(best) * np.eye(len(best)) - best, 0.1
    for _ in range(4):
        report = judged(method, best + move * toward)
        assert report.step_gap is not None
        move *= float(np.sqrt(share * report.scale / report.step_gap))
    return best + move * toward


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", PARAMS)
@pytest.mark.parametrize(
    ("share", "verdict"), [(1e-7, "certified"), (1e-4, "close"), (4e-3, "close"), (3e-2, "refuted")]
)
def test_the_verdict_follows_what_the_step_could_gain(method: str, share: float, verdict: str) -> None:
    report = judged(method, near(method, share))
    assert report.verdict == verdict, str(report)
    assert report.gap is not None
    assert report.rel_gap == pytest.approx(report.gap / report.scale)
    if verdict == "close":
        assert report.witness is not None
        assert 0 < report.witness.better_by <= 1e-2 * report.scale
        assert report.step_gap is not None
        assert f"{100 * report.step_gap / report.scale:.2g} %" in report.reasons[-1]
        exactly = judged(method, near(method, share), exact=True)
        assert exactly.verdict == "close"


def test_a_close_report_has_the_note_on_misreadings() -> None:
    """As that of a convex problem has."""
    report = judged("nca", near("nca", 1e-4), diagnosed=True)
    assert report.verdict is Verdict.CLOSE, str(report)
    assert any("cvxml evaluate nca" in note for note in report.notes)
    assert not any("cvxml evaluate" in note for note in judged("nca", near("nca", 1e-4)).notes)


def test_a_metric_next_to_zero_is_not_close_though_its_step_gains_little() -> None:
    """The descent from 0 gains a quarter of the scale: at 0 every p_i of NCA is flat, and the step is short."""
    (case,) = [c for c in load_cases() if c.id == "nca-f"]
    report = cvxml.check("nca", case.X, case.y, np.zeros((2, 2)), diagnosed=False, **case.params)
    assert report.step_gap is not None
    assert report.step_gap < 1e-2 * report.scale
    assert report.witness is not None
    assert report.witness.better_by > 0.1 * report.scale
    assert report.verdict is Verdict.REFUTED


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", PARAMS)
def test_close_is_a_verdict_on_stationary_metrics_only(method: str) -> None:
    """A metric that is claimed optimal and can be improved is refuted, and a wrong value is too."""
    metric = near(method, 1e-4)
    assert judged(method, metric, claim="optimal").verdict is Verdict.REFUTED
    value = judged(method, metric).objective
    assert value is not None
    assert judged(method, metric, claimed_objective=value).verdict is Verdict.CLOSE
    assert judged(method, metric, claimed_objective=value + 1.0).verdict is Verdict.REFUTED
    assert (
        judged(method, metric - 0.1 * np.linalg.norm(metric) * np.eye(len(metric))).verdict is Verdict.REFUTED
    )


@pytest.mark.slow
def test_a_misreading_that_explains_the_metric_is_named_instead() -> None:
    """C is 3 % too large. The metric is close, and it is the answer to another weight."""
    X, y, _ = stationary("ssvm")
    wrong = cvxml.solve("ssvm", X, y, C=0.05 * 1.03, tol=1e-9).metric
    assert judged("ssvm", wrong).verdict is Verdict.CLOSE
    report = judged("ssvm", wrong, diagnosed=True)
    assert (report.verdict is Verdict.REFUTED) == bool(report.diagnosis)


def test_mlkr_is_close_only_if_a_descent_gains_little_too() -> None:
    """A gradient bounds no gain. On a line the metric is one number."""
    X, y = random_data(3, 14, 2)[0].T
    best = cvxml.solve("mlkr", X[:, None], y, tol=1e-10).metric
    seen = set()
    for factor in 1 + np.geomspace(1e-8, 1.0, 9):
        report = cvxml.check("mlkr", X[:, None], y, factor * best, diagnosed=False)
        assert report.stationarity is not None
        if report.verdict is Verdict.CLOSE:
            assert report.stationarity.relative <= 1e-2
            assert report.witness is not None
            assert report.witness.better_by <= 1e-2 * report.scale
        seen.add(report.verdict)
    assert {Verdict.CERTIFIED, Verdict.CLOSE, Verdict.REFUTED} <= seen


def test_a_poor_solution_of_ours_does_not_widen_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """NCA's tolerance is relative to the scale of the candidate. A worse metric has a larger scale."""
    X, y, metric = stationary("nca")
    module, (_, given) = get_stationary("nca"), checked("nca", X, y, **PARAMS["nca"])
    worse = cvxml.solve("nca", X, y, tol=1e-3, **PARAMS["nca"])
    proof = worse.certificate
    gap = 1e-7 * proof.scale
    near = replace(proof, objective=proof.lower_bound + gap, gap=gap, scale=gap, rounding=0.0)
    monkeypatch.setattr(module, "solve", lambda *_, **__: worse)
    asked = Asked("nca", X, y, PARAMS["nca"], given, metric, claim="optimal")
    assert _judge_optimal(asked, near, proof, "stationary").verdict is Verdict.INCONCLUSIVE
    exactly = replace(near, objective=proof.lower_bound, gap=0.0)
    assert _judge_optimal(asked, exactly, proof, "stationary").verdict is Verdict.CERTIFIED
