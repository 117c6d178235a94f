"""What all displays promise: arguments, axes, readable text, no heavy import, inputs untouched."""

from __future__ import annotations

import builtins
import inspect
import itertools
import subprocess
import sys
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import cvxml
from cvxml import displays
from tests.displays.pictures import M2, PLANE, Frame, X, a_metric, fitted, solved, y
from tests.instances import random_data

DRAWN: dict[str, Any] = {
    "ellipse": lambda ax=None: displays.MetricEllipseDisplay.from_metric(M2, PLANE, y, ax=ax),
    "certificate": lambda ax=None: displays.CertificateDisplay.from_solution(solved("mlsvm"), ax=ax),
    "neighborhood": lambda ax=None: displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE, y, M2, ax=ax),
    "spectrum": lambda ax=None: displays.SpectrumDisplay.from_metric(M2, ax=ax),
    "local": lambda ax=None: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(), PLANE), PLANE, y, ax=ax
    ),
}


every_display = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


def test_from_estimator_spells_out_what_may_be_given() -> None:
    """And the defaults are those of the other constructor, and of `plot`, but for the tol that an estimator has."""
    others = {
        displays.MetricEllipseDisplay: displays.MetricEllipseDisplay.from_metric,
        displays.CertificateDisplay: displays.CertificateDisplay.from_solution,
        displays.NeighborhoodDisplay: displays.NeighborhoodDisplay.from_metric,
        displays.SpectrumDisplay: displays.SpectrumDisplay.from_metric,
        displays.LocalMetricDisplay: displays.LocalMetricDisplay.from_solution,
    }
    assert {display.__name__ for display in others} == set(displays.__all__)
    for display, other in others.items():
        given = inspect.signature(display.from_estimator).parameters
        assert "ax" in given
        assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in given.values())
        for function in (other, display.plot):
            for name, one in inspect.signature(function).parameters.items():
                if one.kind is inspect.Parameter.KEYWORD_ONLY and (name, display.__name__) != (
                    "tol",
                    "CertificateDisplay",
                ):
                    assert given[name].default == one.default, (display, name)


def test_what_is_given_to_from_estimator_arrives() -> None:
    _, ax = plt.subplots()
    mlsvm, options = fitted(cvxml.MLSVM(lam=0.1)), {"features": (3, 1), "ax": ax}
    ball = displays.MetricEllipseDisplay.from_estimator(
        mlsvm, X, y, centers=[[0, 1]], ball="projection", radius=2.0, circle=False, **options
    )
    assert ball.centers.tolist() == [[0, 1]]
    assert (ball.radius, ball.circles_, ball.ax_) == (2.0, [], ax)
    assert "shadow" in ball.title
    proof = displays.CertificateDisplay.from_estimator(mlsvm, tol=0.5, show="bounds", x="seconds", ax=ax)
    assert (proof.tol, proof.ax_) == (0.5, ax)
    assert "seconds" in ax.get_xlabel()
    assert len(proof.bound_lines_) == 1
    near = displays.NeighborhoodDisplay.from_estimator(mlsvm, X, y, 3, zoom=False, **options)
    assert (near.ax_, near.index, near.xlabel) == (ax, 3, "feature 3")
    assert ax.get_xlim()[0] < X[:, 3].min()
    assert ax.get_xlim()[1] > X[:, 3].max()
    spectrum = displays.SpectrumDisplay.from_estimator(mlsvm, name="mine", tol=0.25, scale="log", ax=ax)
    assert (spectrum.ax_, spectrum.tol, ax.get_yscale()) == (ax, 0.25, "log")
    assert list(spectrum.ranks_) == ["mine"]


@pytest.mark.quick(2)
@every_display
def test_a_display_draws_on_the_axes_given_and_again_on_others(draw: Any) -> None:
    figure, axes = plt.subplots(1, 2)
    display = draw(ax=axes[0])
    assert display.ax_ is axes[0]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert display.plot(axes[1]) is display
    assert display.ax_ is axes[1]
    assert len(axes[0].lines) == len(axes[1].lines) > 0
    assert display.plot().figure_ is not figure


TEN, TEN_Y = random_data(3, n=60, d=4, classes=10)
LONG = TEN.view(Frame)
LONG.columns = (
    "mean absolute deviation of the petal length (cm)",
    "OD280/OD315 of diluted wines, standardised",
    "c",
    "d",
)
CROSSES = {f"experiment {c}": np.diag([2.0, 1e-9, -0.5]) for c in "ab"}
HARD: dict[str, Any] = {
    "ellipse": lambda ax: displays.MetricEllipseDisplay.from_metric(
        a_metric(0, 4), LONG, TEN_Y, ball="projection", ax=ax
    ),
    "certificate": lambda ax: displays.CertificateDisplay.from_solution(once("mlsvm"), ax=ax),
    "neighborhood": lambda ax: displays.NeighborhoodDisplay.from_metric(
        "mlsvm", LONG, TEN_Y, np.eye(4), ax=ax
    ),
    "spectrum": lambda ax: displays.SpectrumDisplay.from_metric(CROSSES, scale="log", ax=ax),
    "local": lambda ax: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(alpha=0.1, gamma=0.125), TEN, TEN_Y), LONG, TEN_Y, TEN[:3], ax=ax
    ),
    "message": lambda ax: displays.CertificateDisplay.from_solution(once("nca"), ax=ax),
}


@cache
def once(method: str) -> cvxml.Solution:
    return solved(method, **({"n_components": 2} if method == "nca" else {}))


def boxes_of(display: Any) -> dict[str, Any]:
    """The places of the texts of a picture."""
    ax = display.ax_
    shown = {"title": ax.title, "x": ax.xaxis.label, "y": ax.yaxis.label}
    shown |= {"message": ax.texts[0]} if ax.texts else {"legend": display.legend_}
    written = {name: one for name, one in shown.items() if name == "legend" or one.get_text()}
    return {name: one.get_window_extent() for name, one in written.items()}


def faults(display: Any, others: list[Any]) -> list[str]:
    """The texts that the figure cuts, and those that touch another text or a neighbour."""
    boxes, whole = boxes_of(display), display.figure_.figure.bbox
    found = [
        f"{name} is cut"
        for name, box in boxes.items()
        if box.x0 < whole.x0 or box.x1 > whole.x1 or box.y0 < whole.y0 or box.y1 > whole.y1
    ]
    pairs = itertools.combinations(boxes.items(), 2)
    found += [f"{one} touches {other}" for (one, a), (other, b) in pairs if a.overlaps(b)]
    around = [other.ax_.get_tightbbox() for other in others]
    found += [f"{name} touches a neighbour" for name, box in boxes.items() if any(map(box.overlaps, around))]
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        labels = itertools.pairwise(tick.label1.get_window_extent() for tick in ticks)
        found += [f"{axis.axis_name} has crowded ticks" for one, other in labels if one.overlaps(other)]
    return found


@pytest.mark.quick(3)
@pytest.mark.parametrize("first", range(len(HARD)), ids=HARD)
@pytest.mark.parametrize(
    ("rows", "columns", "size"), [(1, 1, (6.4, 4.8)), (1, 2, (7, 3)), (1, 4, (10, 3.5)), (2, 2, (10, 3.5))]
)
def test_no_picture_is_cut_or_over_its_neighbour(
    rows: int, columns: int, size: tuple[float, float], first: int
) -> None:
    """With ten classes and long names of features, beside other displays that are drawn later."""
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    draws = [*HARD.values()][first:] + [*HARD.values()][:first]
    drawn = [draw(ax) for draw, ax in zip(draws, axes.flat, strict=False)]
    figure.canvas.draw()
    for display in drawn:
        assert faults(display, [other for other in drawn if other is not display]) == []
        inside = display.ax_.get_window_extent()
        assert all(
            inside.x0 < box.x0 and box.x1 < inside.x1
            for box in map(Text.get_window_extent, display.ax_.texts)
        )
        assert min(inside.width, inside.height) > 0.5 * figure.dpi


def test_a_legend_takes_the_width_of_its_part_of_the_figure() -> None:
    """A narrower legend has more lines, and leaves less room for the picture."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 3))
    display = displays.MetricEllipseDisplay.from_estimator(fitted(cvxml.MLSVM(lam=0.1)), X, y, ax=axes[1])
    figure.canvas.draw()
    assert display.ax_.get_window_extent().height > 0.5 * figure.bbox.height


def test_a_layout_of_the_user_stays() -> None:
    figure, ax = plt.subplots(layout="tight")
    engine = figure.get_layout_engine()
    DRAWN["spectrum"](ax=ax)
    assert figure.get_layout_engine() is engine


SPECIAL: dict[str, Any] = {
    "strip": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1.0, 0.0]), PLANE, y),
    "tall": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1.0, 1e-8]), PLANE * [1, 1e4], y),
    "wide": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1e-8, 1.0]), PLANE * [1e4, 1], y),
    "large": lambda: displays.SpectrumDisplay.from_metric(np.eye(3) * 1e200),
    "gamma": lambda: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(gamma=0.125), PLANE), PLANE, y
    ),
    "plane": lambda: displays.MetricEllipseDisplay.from_metric(np.zeros((2, 2)), PLANE, y),
    "shadow": lambda: displays.MetricEllipseDisplay.from_metric(a_metric(0, 4), X, y, ball="projection"),
    "bounds": lambda: displays.CertificateDisplay.from_solution(solved("nca", n_components=2), show="bounds"),
    "stationary": lambda: displays.CertificateDisplay.from_solution(solved("ssvm")),
    "one step": lambda: displays.CertificateDisplay.from_solution(solved("glml", alpha=0.1)),
    "no step": lambda: displays.CertificateDisplay.from_solution(solved("mlsvm", solver="scs")),
    "negative": lambda: displays.SpectrumDisplay.from_metric(np.diag([2.0, 1e-9, -0.5]), scale="log"),
    "three": lambda: displays.SpectrumDisplay.from_metric({c: a_metric(0, 4, 2) for c in "abc"}, scale="log"),
    "all points": lambda: displays.NeighborhoodDisplay.from_metric("ssvm", PLANE, y, M2, zoom=False),
    "low": lambda: displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE * [1, 0.01], y, M2, zoom=False),
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("draw", [*DRAWN.values(), *SPECIAL.values()], ids=[*DRAWN, *SPECIAL])
def test_text_is_readable_within_the_picture_and_apart(draw: Any) -> None:
    display = draw()
    display.figure_.canvas.draw()
    ax = display.ax_
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    shown = [ax.xaxis.label, ax.yaxis.label, ax.title, *display.legend_.get_texts(), *ticks]
    assert min(text.get_fontsize() for text in shown if text.get_text()) >= 11
    whole = display.figure_.bbox
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title, display.legend_):
        box = text.get_window_extent()
        assert box.x0 >= whole.x0
        assert box.x1 <= whole.x1
        assert box.y0 >= whole.y0
        assert box.y1 <= whole.y1
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = sorted(
            (t.get_window_extent() for t in labels if t.get_text()), key=lambda box: (box.x0, box.y0)
        )
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    below = display.legend_.get_window_extent().y1
    assert below <= ax.xaxis.label.get_window_extent().y0 + 1


@pytest.mark.parametrize("size", [None, (4.5, 4.0)])
def test_a_message_is_within_the_axes(size: tuple[float, float] | None) -> None:
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    display = displays.CertificateDisplay.from_solution(solved("nca", n_components=2), ax=ax)
    display.figure_.canvas.draw()
    (text,) = display.ax_.texts
    box, axes = text.get_window_extent(), display.ax_.get_window_extent()
    assert axes.x0 <= box.x0 < box.x1 <= axes.x1
    assert axes.y0 <= box.y0 < box.y1 <= axes.y1
    assert text.get_fontsize() >= 11


@every_display
def test_without_matplotlib_it_is_said_how_to_get_it(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError("No module named 'matplotlib'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw()


@pytest.mark.slow
def test_importing_displays_loads_neither_matplotlib_nor_scikit_learn() -> None:
    code = "import sys, cvxml.displays; print([m for m in ('matplotlib', 'sklearn', 'cvxpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("display", "estimator"),
    [
        (displays.MetricEllipseDisplay, cvxml.MLSVM()),
        (displays.CertificateDisplay, cvxml.MLSVM()),
        (displays.NeighborhoodDisplay, cvxml.Gerrymandering()),
        (displays.SpectrumDisplay, cvxml.MLSVM()),
        (displays.LocalMetricDisplay, cvxml.GLML()),
    ],
)
def test_an_estimator_that_is_not_fitted_is_refused(display: Any, estimator: Any) -> None:
    with pytest.raises(NotFittedError):
        display.from_estimator(estimator, X, y)


def test_metrics_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="LocalMetricDisplay"):
        displays.MetricEllipseDisplay.from_estimator(fitted(cvxml.GLML()), X, y)
    with pytest.raises(ValueError, match="kernel"):
        displays.MetricEllipseDisplay.from_estimator(fitted(cvxml.KernelMLSVM(degree=1)), X, y)
    with pytest.raises(ValueError, match="LocalMetricDisplay"):
        displays.SpectrumDisplay.from_estimator(fitted(cvxml.GLML()))


TABLE = X.view(Frame)
NAMED: dict[str, Any] = {
    "ellipse": lambda features: displays.MetricEllipseDisplay.from_metric(
        np.eye(4), TABLE, y, features=features
    ),
    "neighborhood": lambda features: displays.NeighborhoodDisplay.from_metric(
        "mlsvm", TABLE, y, np.eye(4), features=features
    ),
    "local": lambda features: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(alpha=0.1)), TABLE, y, X[:3], features=features
    ),
}


@pytest.mark.parametrize("draw", NAMED.values(), ids=NAMED)
def test_features_are_columns_by_name_or_index(draw: Any) -> None:
    by_name, by_index = draw(("depth", "height")), draw((2, 0))
    for display in (by_name, by_index):
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("depth", "height")
        np.testing.assert_array_equal(display.X, X[:, [2, 0]])


def test_names_that_no_column_has_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'weight'.*height, width, depth, age"):
        NAMED["ellipse"](("weight", "age"))
    with pytest.raises(ValueError, match=r"two different.*'age'"):
        NAMED["ellipse"]((3, "age"))
    with pytest.raises(ValueError, match=r"'age'.*0\.\.3"):
        displays.MetricEllipseDisplay.from_metric(np.eye(4), X, y, features=("age", "height"))


class Scale(BaseEstimator):
    """A step that keeps the names of the features."""

    def fit(self, X: Any, y: Any = None) -> Scale:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(X) / [1, 2, 4, 8]

    def get_feature_names_out(self, names: Any = None) -> np.ndarray:
        return np.array(["height", "width", "depth", "age"])


@pytest.mark.slow
def test_a_pipeline_is_drawn_with_the_metric_of_its_learner_on_the_points_that_it_got() -> None:
    """Beside the learner itself, fitted to the same points. The features keep their names."""
    scaled = X / [1, 2, 4, 8]
    mlsvm, glml = cvxml.MLSVM(lam=0.1), cvxml.GLML(alpha=0.1)
    alone, local = fitted(clone(mlsvm), scaled), fitted(clone(glml), scaled)
    steps = fitted(make_pipeline(Scale(), mlsvm, KNeighborsClassifier(1)))
    places = fitted(make_pipeline(Scale(), glml))
    pairs = [
        (displays.MetricEllipseDisplay, {"features": ("depth", "age")}, alone, steps),
        (displays.NeighborhoodDisplay, {"features": ("depth", "age")}, alone, steps),
        (displays.LocalMetricDisplay, {"features": ("depth", "age")}, local, places),
    ]
    for display, options, learner, pipeline in pairs:
        drawn = display.from_estimator(pipeline, X, y, **options)
        expected = display.from_estimator(learner, scaled, y, features=(2, 3))
        assert drawn.xlabel == "depth"
        assert len(drawn.ax_.lines) == len(expected.ax_.lines)
        for one, other in zip(drawn.ax_.lines, expected.ax_.lines, strict=True):
            np.testing.assert_allclose(one.get_xydata(), other.get_xydata(), rtol=1e-9)
    proof = displays.CertificateDisplay.from_estimator(steps)
    assert proof.certificate.gap == pytest.approx(alone.solution_.certificate.gap)
    assert list(displays.SpectrumDisplay.from_estimator(steps).ranks_) == ["MLSVM"]
    query = np.array([[1.0, 2, 4, 8]])
    at = displays.LocalMetricDisplay.from_estimator(places, X, y, query)
    np.testing.assert_array_equal(at.queries, [[1, 1]])
    ball = displays.MetricEllipseDisplay.from_estimator(steps, X[:9], y[:9])  # not the points of the fit
    np.testing.assert_array_equal(ball.X, scaled[:9, :2])


def test_ten_classes_have_ten_markers() -> None:
    labels = np.arange(len(PLANE)) % 10
    drawn = displays.MetricEllipseDisplay.from_metric(M2, PLANE, labels).points_
    assert len({path.get_paths()[0].vertices.tobytes() for path in drawn}) == 10
    looks = {(path.get_facecolor().tobytes(), path.get_paths()[0].vertices.tobytes()) for path in drawn}
    assert len(looks) == 10


def test_inputs_are_untouched() -> None:
    points, labels, M = X.copy(), y.copy(), a_metric(4, 4)
    before = M.copy()
    displays.MetricEllipseDisplay.from_metric(M, points, labels, ball="projection")
    displays.NeighborhoodDisplay.from_metric("mlsvm", points, labels, M)
    displays.SpectrumDisplay.from_metric(M, scale="log")
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(M, before)
