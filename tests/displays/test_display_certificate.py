"""The picture of a certificate: its lines are those of the history, its words say whose bound it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets, displays
from cvxml.core.result import Status, Step
from tests.displays.pictures import X, data_of, fitted, solved, texts, y
from tests.instances import random_data


@pytest.mark.parametrize(
    ("method", "params"), [("mlsvm", {"lam": 0.1}), ("itml", {}), ("lmnn", {"n_neighbors": 2})]
)
def test_the_gap_drawn_is_objective_minus_bound_over_the_scale(method: str, params: dict[str, Any]) -> None:
    solution = solved(method, **params)
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.bounds_of == "problem"
    (line,) = display.gap_lines_
    wanted = [
        (step.iteration, (step.objective - step.lower_bound) / solution.certificate.scale)
        for step in solution.history
    ]
    floor = solution.certificate.rounding / solution.certificate.scale
    wanted = [(k, max(gap, floor) if np.isfinite(gap) else np.nan) for k, gap in wanted]  # no gap, no mark
    np.testing.assert_allclose(data_of(line), wanted, rtol=1e-6, atol=max(10 * floor, 1e-15))
    assert display.ax_.get_yscale() == "log"
    assert display.tolerance_line_.get_ydata()[0] == 1e-6
    assert display.final_.get_ydata()[0] == pytest.approx(max(solution.rel_gap, floor))
    assert Status.CONVERGED.sentence in display.ax_.get_title().replace("\n", " ")


def test_bounds_and_seconds_are_those_of_the_history() -> None:
    solution = solved("mlsvm", lam=0.1)
    display = displays.CertificateDisplay.from_solution(solution, show="bounds", x="seconds")
    np.testing.assert_array_equal(
        data_of(display.objective_lines_[0]), [(s.seconds, s.objective) for s in solution.history]
    )
    np.testing.assert_array_equal(
        data_of(display.bound_lines_[0]), [(s.seconds, s.lower_bound) for s in solution.history]
    )
    assert display.final_.get_ydata()[0] == solution.objective
    assert "(seconds)" in display.ax_.get_xlabel()


def test_an_estimator_s_tolerance_is_drawn() -> None:
    estimator = fitted(cvxml.MLSVM(lam=0.1, tol=1e-4))
    display = displays.CertificateDisplay.from_estimator(estimator, X, y)
    assert display.tolerance_line_.get_ydata()[0] == 1e-4


@pytest.mark.slow
def test_starts_are_lines_of_their_own_and_the_bounds_those_of_steps() -> None:
    solution = solved("ssvm", init=["zero", "identity", "random"], max_iter=30)
    display = displays.CertificateDisplay.from_solution(solution)
    firsts = sum(step.iteration == 1 for step in solution.history)
    assert len(display.gap_lines_) == firsts == 3
    assert display.bounds_of == "step"
    assert "convex step" in texts(display.legend_)[0]
    drawn = np.concatenate([line.get_ydata() for line in display.gap_lines_])
    np.testing.assert_array_equal(
        drawn, [step.gap / solution.certificate.step.scale for step in solution.history]
    )
    assert display.final_.get_ydata()[0] == pytest.approx(solution.step_gap / solution.certificate.step.scale)


def test_the_star_is_at_the_end_of_the_run_that_was_kept() -> None:
    solution = solved("mlsvm", lam=0.1)
    kept, worse = Step(7, 0.1, solution.objective, 0.0, solution.objective), Step(3, 0.2, 9.0, 0.0, 9.0)
    steps = (replace(kept, iteration=1, objective=5.0), kept, replace(worse, iteration=1), worse)
    display = displays.CertificateDisplay.from_solution(replace(solution, history=steps))
    assert [len(data_of(line)) for line in display.gap_lines_] == [2, 2]
    assert display.final_.get_xdata()[0] == 7


@pytest.mark.slow
def test_the_words_for_a_bound_say_whose_it_is() -> None:
    """Of all metrics only where the problem is convex; that is never said of a step or of a trivial bound."""
    solutions = {
        "problem": solved("mlsvm"),
        "step": solved("ssvm"),
        "nothing": solved("nca", n_components=2),
    }
    labels = []
    for whose, solution in solutions.items():
        display = displays.CertificateDisplay.from_solution(solution, show="bounds")
        assert display.bounds_of == whose
        labels.append(next(text for text in texts(display.legend_) if "bound" in text))
        assert " ".join(display.bound_lines_[0].get_label().split()) == " ".join(labels[-1].split())
        assert display.objective_lines_[0].get_label() == "objective"
    for word, in_label in (("step", [False, True, False]), ("trivial", [False, False, True])):
        assert [word in label for label in labels] == in_label


def test_bounds_are_trivial_only_where_no_step_has_another() -> None:
    solution = solved("ssvm")
    trivial = solution.certificate.lower_bound
    first, *others = solution.history
    assert all(step.lower_bound != trivial for step in others)
    some = replace(solution, history=(replace(first, lower_bound=trivial), *others))
    assert displays.CertificateDisplay.from_solution(some).bounds_of == "step"
    none = tuple(replace(step, lower_bound=trivial) for step in solution.history)
    assert displays.CertificateDisplay.from_solution(replace(solution, history=none)).bounds_of == "nothing"
    without = replace(solution, certificate=replace(solution.certificate, step=None))
    assert displays.CertificateDisplay.from_solution(without).bounds_of == "nothing"


@pytest.mark.parametrize("components", [2, None])
def test_where_only_a_trivial_bound_is_known_it_is_said_and_no_gap_drawn(components: int | None) -> None:
    solution = solved("nca", datasets.standardize(X), n_components=components)
    assert solution.certificate.kind == "stationary"
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.gap_lines_ == []
    assert display.ax_.lines[:] == []
    assert display.tolerance_line_ is None
    assert f"objective ≥ {solution.lower_bound:.6g}" in display.message_
    assert "not convex" in display.ax_.texts[0].get_text()
    bounds = displays.CertificateDisplay.from_solution(solution, show="bounds")
    assert bounds.bound_lines_[0].get_ydata()[0] == solution.lower_bound
    assert any("trivial" in text for text in texts(bounds.legend_))
    np.testing.assert_array_equal(
        bounds.objective_lines_[0].get_ydata(), [s.objective for s in solution.history]
    )


def test_without_any_bound_it_is_said_too() -> None:
    solution = solved("nca", datasets.standardize(X), n_components=2)
    history = tuple(replace(step, lower_bound=-np.inf, gap=np.inf) for step in solution.history)
    certificate = replace(solution.certificate, lower_bound=-np.inf, gap=np.inf)
    display = displays.CertificateDisplay.from_solution(
        replace(solution, history=history, certificate=certificate)
    )
    assert display.message_
    assert (
        displays.CertificateDisplay.from_solution(
            replace(solution, history=history, certificate=certificate), show="bounds"
        ).bound_lines_
        == []
    )


def test_steps_without_a_bound_and_gaps_within_rounding() -> None:
    solution = solved("mlsvm", lam=0.1)
    proof = solution.certificate
    gaps = [np.inf, 1.0, -proof.rounding / 2]
    steps = tuple(Step(k, 0.1 * k, 1.0, 1.0 - gap, gap) for k, gap in enumerate(gaps))
    certificate = replace(proof, gap=-proof.rounding / 2)
    display = displays.CertificateDisplay.from_solution(
        replace(solution, history=steps, certificate=certificate)
    )
    drawn = display.gap_lines_[0].get_ydata()
    assert np.isnan(drawn[0])
    assert drawn[1] == 1 / proof.scale
    assert drawn[2] == display.final_.get_ydata()[0] == proof.rounding / proof.scale
    assert sum("rounding" in text for text in texts(display.legend_)) == 2  # of the certificate, and the band


def test_a_metric_of_scale_0_has_an_absolute_gap_and_no_tolerance() -> None:
    noise, labels = random_data(3, n=30, d=4, classes=3)
    solution = solved("mlsvm", noise, labels, lam=0.1)
    assert solution.certificate.scale == 0
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.tolerance_line_ is None
    assert "relative" not in display.ax_.get_ylabel()
    # A logarithmic axis has no 0: what a kernel makes of the last gap may be one, and is drawn at the least there is.
    gaps = [max(step.gap, solution.certificate.rounding, 1e-300) for step in solution.history]
    np.testing.assert_array_equal(display.gap_lines_[0].get_ydata(), gaps)


def test_a_back_end_keeps_no_history_and_a_closed_form_one_step() -> None:
    display = displays.CertificateDisplay.from_solution(solved("mlsvm", lam=0.1, solver="scs"))
    assert display.gap_lines_ == []
    assert display.final_ is not None
    assert "no history" in display.ax_.get_xlabel()
    local = solved("glml", alpha=0.1, query=X[:3])
    one = displays.CertificateDisplay.from_solution(local)
    assert one.final_.get_ydata()[0] == max(
        local.rel_gap, local.certificate.rounding / local.certificate.scale
    )


def test_what_has_no_certificate_is_refused() -> None:
    with pytest.raises(ValueError, match=r'GLML.*solution_.*cvxml\.solve\("glml", X, y, query='):
        displays.CertificateDisplay.from_estimator(fitted(cvxml.GLML()))
    for baseline in (cvxml.Euclidean(), cvxml.WithinClass(shrinkage=0.1)):
        with pytest.raises(ValueError, match=type(baseline).__name__) as refused:
            displays.CertificateDisplay.from_estimator(fitted(baseline), X, y)
        assert "cvxml.solve" not in str(refused.value)
    with pytest.raises(ValueError, match="got ndarray"):
        displays.CertificateDisplay.from_solution(np.eye(2))
    with pytest.raises(ValueError, match=r"^show.*'gap'.*'both'"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), show="both")
    with pytest.raises(ValueError, match=r"^x .*'seconds'.*'time'"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), x="time")
    with pytest.raises(ValueError, match=r"^tol .*\b0\b"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), tol=0)
