"""The picture of spectra: its stems are the eigenvalues, its words the rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import displays
from cvxml.displays.spectrum import kinds_of
from tests.displays.pictures import X, a_metric, data_of, fitted, texts, y


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_stems_are_the_eigenvalues(scale: str) -> None:
    metrics = {"one": a_metric(0, 4), "two": a_metric(1, 4, 2)}
    display = displays.SpectrumDisplay.from_metric(metrics, scale=scale)
    assert display.ranks_ == {"one": 4, "two": 2}
    for name, M in metrics.items():
        values = np.linalg.eigvalsh(M)[::-1]
        tops = np.array([stem.get_ydata()[1] for stem in display.stems_[name]])
        counted = values > 1e-6 * values[0]
        np.testing.assert_allclose(tops[counted], values[counted], rtol=1e-9)
        positive, zero, negative = display.marks_[name]
        assert len(positive.get_ydata()) == counted.sum()
        assert len(zero.get_ydata()) == 4 - counted.sum()
        assert len(negative.get_ydata()) == 0
        assert f"{name}: rank {counted.sum()} of 4" in texts(display.legend_)
    assert display.ax_.get_yscale() == scale


def test_zeros_are_seen_as_such_on_a_logarithmic_scale() -> None:
    display = displays.SpectrumDisplay.from_metric(np.diag([1.0, 1e-4, 1e-9, 0.0]), scale="log")
    _, zero, _ = display.marks_["metric"]
    floor = zero.get_ydata()[0]
    assert (zero.get_ydata() == floor).all()
    assert len(zero.get_ydata()) == 2
    assert 0 < floor < 1e-4
    assert display.ax_.get_ylim()[0] < floor
    named = dict(
        zip(display.ax_.get_yticks(), [t.get_text() for t in display.ax_.get_yticklabels()], strict=True)
    )
    assert named[floor] == "0"


def test_the_tolerance_decides_the_rank_and_is_told() -> None:
    M = np.diag([1.0, 1e-4, 1e-9])
    assert displays.SpectrumDisplay.from_metric(M).ranks_ == {"metric": 2}
    assert displays.SpectrumDisplay.from_metric(M, tol=1e-12).ranks_ == {"metric": 3}
    strict = displays.SpectrumDisplay.from_metric(M, tol=0.5)
    assert strict.ranks_ == {"metric": 1}
    assert "0.5" in strict.ax_.get_title()
    np.testing.assert_array_equal(kinds_of(np.array([2.0, 1.0, 0.0, -1.0, -1.5]), 0.5), [1, 0, 0, 0, -1])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_negative_eigenvalue_is_shown_and_named(scale: str) -> None:
    display = displays.SpectrumDisplay.from_metric({"theirs": np.diag([2.0, 1e-9, -0.5])}, scale=scale)
    _, zero, negative = display.marks_["theirs"]
    assert len(zero.get_ydata()) == 1
    assert negative.get_ydata().tolist() == [0.5 if scale == "log" else -0.5]
    assert any("theirs" in text and "negative" in text for text in texts(display.legend_))


def test_zero_is_a_share_of_the_largest_in_size_whatever_its_sign() -> None:
    np.testing.assert_array_equal(kinds_of(np.array([1.0, -100.0]), 0.1), [0, -1])
    np.testing.assert_array_equal(kinds_of(np.array([100.0, -1.0]), 0.1), [1, 0])
    display = displays.SpectrumDisplay.from_metric(np.diag([1.0, 20.0, -100.0]), tol=0.1)
    assert display.ranks_ == {"metric": 1}


@pytest.mark.parametrize("size", [1e-279, 1e279])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_spectra_of_any_size_fill_the_picture(size: float, scale: str) -> None:
    values = np.array([1.0, 0.5, 0.1, 0.0])
    display = displays.SpectrumDisplay.from_metric(np.diag(values) * size, scale=scale)
    assert display.ranks_ == {"metric": 3}
    display.figure_.canvas.draw()
    positive, zero, _ = display.marks_["metric"]
    heights = display.ax_.transAxes.inverted().transform(
        positive.get_transform().transform(data_of(positive))
    )
    assert heights[0, 1] - heights[-1, 1] > 0.3
    assert (np.diff(heights[:, 1]) < -0.05).all()
    assert display.ax_.get_yscale() == scale
    assert len(zero.get_ydata()) == 1


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_zero_metric_has_rank_0(scale: str) -> None:
    assert displays.SpectrumDisplay.from_metric(np.zeros((3, 3)), scale=scale).ranks_ == {"metric": 0}


def test_spectra_of_estimators() -> None:
    estimator = fitted(cvxml.MLSVM(lam=0.1))
    display = displays.SpectrumDisplay.from_estimator(estimator)
    wanted = np.linalg.eigvalsh(estimator.solution_.metric)[::-1]
    np.testing.assert_allclose(display.eigenvalues["MLSVM"], wanted, atol=1e-9 * wanted[0])
    kernel = fitted(cvxml.KernelMLSVM(lam=0.1))
    named = displays.SpectrumDisplay.from_estimator(kernel, X, y, name="kernel")
    K = (X @ X.T) ** 2
    phi = kernel.phi_  # A = sum phi_ij Phi(x_i) Phi(x_j)^T has the eigenvalues of phi K that are not 0
    largest = np.sort(np.linalg.eigvals(phi @ K).real)[::-1][:3]
    np.testing.assert_allclose(named.eigenvalues["kernel"][:3], largest, rtol=1e-6)


@pytest.mark.parametrize(
    ("metric", "options", "words"),
    [
        (np.ones((2, 3)), {}, "square"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), {}, "not symmetric"),
        (np.full((2, 2), np.nan), {}, "NaN"),
        (np.eye(2) * 1e-300, {}, "1e-300"),
        (np.eye(2) * 1e300, {}, r"1e\+300"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]) * 1e200, {}, "not symmetric"),
        ({}, {}, "metric.*one"),
        (np.eye(2), {"tol": 0}, "greater than 0"),
        (np.eye(2), {"tol": 1.5}, "below 1"),
        (np.eye(2), {"scale": "symlog"}, "^scale.*'log'.*'symlog'"),
    ],
)
def test_bad_input_for_a_spectrum_is_refused(metric: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        displays.SpectrumDisplay.from_metric(metric, **options)
