"""Names of the user in pictures, of columns, classes and metrics: they are drawn literally, and all are listed."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.text import Text

import cvxml
from cvxml import displays
from tests.displays.pictures import M2, PLANE, Frame, X, a_metric, fitted, y

# Names that matplotlib would change


def named_frame(names: list[str]) -> Any:
    frame = X.view(Frame)
    frame.columns = (*names[:2], "depth", "age")
    return frame


def classes(names: list[str]) -> np.ndarray:
    return np.array(names, dtype=object).astype(str)[y]


def model_of(learner: Any, names: list[str]) -> tuple[Any, Any, np.ndarray]:
    """A learner fitted to a data frame with these names of columns and of classes, the frame and the labels."""
    frame, labels = named_frame(names), classes(names)
    return fitted(learner, frame, labels), frame, labels


def spectrum_of(names: list[str], **options: Any) -> Any:
    metrics = {name: np.diag([2.0, 1.0, -0.5]) if k else np.eye(3) for k, name in enumerate(names)}
    return displays.SpectrumDisplay.from_metric(metrics, **options)


# name of a constructor -> a picture with three names; each is the name of a class, a metric or an axis
CONSTRUCTORS: dict[str, Any] = {
    "ellipse": lambda names, ax=None: displays.MetricEllipseDisplay.from_metric(
        a_metric(0, 4), named_frame(names), classes(names), ax=ax
    ),
    "ellipse, estimator": lambda names, ax=None: displays.MetricEllipseDisplay.from_estimator(
        *model_of(cvxml.MLSVM(lam=0.1), names), ax=ax
    ),
    "neighborhood": lambda names, ax=None: displays.NeighborhoodDisplay.from_metric(
        "mlsvm", named_frame(names), classes(names), np.eye(4), ax=ax
    ),
    "neighborhood, estimator": lambda names, ax=None: displays.NeighborhoodDisplay.from_estimator(
        *model_of(cvxml.MLSVM(lam=0.1), names), ax=ax
    ),
    "local, estimator": lambda names, ax=None: displays.LocalMetricDisplay.from_estimator(
        *model_of(cvxml.GLML(alpha=0.1), names), ax=ax
    ),
    "spectrum": lambda names, ax=None: spectrum_of(names, ax=ax),
    "spectrum, log": lambda names, ax=None: spectrum_of(names, scale="log", ax=ax),
}
of_names = pytest.mark.parametrize("draw", CONSTRUCTORS.values(), ids=CONSTRUCTORS)


def literal(text: str) -> str:
    """What matplotlib draws for a text, which must not be math; without line breaks."""
    assert not is_math_text(text), text
    return " ".join(text.replace(r"\$", "$").split())


def names_in(display: Any) -> list[str]:
    """Texts of the legend as they are drawn; of a spectrum, the names before the ranks."""
    listed = [literal(text.get_text()) for text in display.legend_.get_texts()]
    if isinstance(display, displays.SpectrumDisplay):
        return [text.rpartition(":")[0] for text in listed]
    return listed


MATH = [
    ["5$ to 10$", "over 10$", "$0"],
    ["$\\bad{$", "gain_$/cost_$", "$x_1$"],
    ["price $\\foo$", "\\$", "a\\$b$"],
    ["$$", "\\$x\\$", "one $"],
]


@pytest.mark.parametrize("names", MATH)
@of_names
def test_dollars_are_drawn_and_are_not_math(draw: Any, names: list[str]) -> None:
    display = draw(names)
    display.figure_.canvas.draw()
    assert set(names) <= set(names_in(display))
    ax = display.ax_
    ticks = {text for axis in (ax.xaxis, ax.yaxis) for text in axis.findobj(Text)} - {
        ax.xaxis.label,
        ax.yaxis.label,
    }
    written = [literal(text.get_text()) for text in ax.findobj(Text) if text not in ticks]
    if hasattr(display, "xlabel"):
        assert {display.xlabel, display.ylabel} == set(names[:2])
        assert {literal(ax.get_xlabel()), literal(ax.get_ylabel())} == set(names[:2])
    if hasattr(display, "title") and "point" in display.title:
        assert names[y[0]] in display.title
        assert literal(ax.get_title()) == display.title
        assert literal(display.title.replace("$", r"\$")) in written


def test_dollars_of_a_name_that_is_given_are_drawn() -> None:
    drawn = displays.SpectrumDisplay.from_estimator(fitted(cvxml.MLSVM(lam=0.1)), name="$\\q$")
    drawn.figure_.canvas.draw()
    assert names_in(drawn) == ["$\\q$"]


def test_dollars_are_drawn_where_a_long_name_is_broken() -> None:
    name = "$" * 301
    drawn = CONSTRUCTORS["ellipse"]([name, "b", "c"])
    drawn.figure_.canvas.draw()
    for text in (drawn.ax_.get_xlabel(), drawn.legend_.get_texts()[0].get_text()):
        assert literal(text).replace(" ", "") == name


def test_math_of_ours_and_of_the_user_stays() -> None:
    drawn = spectrum_of(["a"], scale="log")
    assert any(is_math_text(text.get_text()) for text in drawn.ax_.get_yticklabels())
    _, ax = plt.subplots()
    ax.plot([0], [0], label=r"$\alpha$")
    drawn = displays.MetricEllipseDisplay.from_metric(M2, PLANE, classes(["a", "b", "$c$"]), ax=ax)
    listed = [text.get_text() for text in drawn.legend_.get_texts()]
    assert listed[0] == r"$\alpha$"
    assert [text for text in listed if is_math_text(text)] == [r"$\alpha$"]
    ax.set_xlabel("$x$")  # after the picture, a text of the user may be math again
    assert ax.xaxis.label.get_parse_math()


@pytest.mark.parametrize(
    "names", [["_hidden", "b", "_"], ["", "_points", "_child0"], ["_nolegend_", "a", "b"]]
)
@of_names
def test_every_name_is_in_the_legend(draw: Any, names: list[str]) -> None:
    display = draw(names)
    display.figure_.canvas.draw()
    listed = [name for name in dict.fromkeys(names_in(display)) if name in names]
    assert listed == (names if isinstance(display, displays.SpectrumDisplay) else sorted(names))
    assert len(names_in(display)) == len(display.legend_.legend_handles)
    fewer = draw(["a", "b", "c"])
    assert len(names_in(display)) == len(names_in(fewer))  # an artist without a name stays out


@pytest.mark.parametrize("names", [["_hidden", "b", "_"], ["$\\bad{$", "5$ to 10$", "$x$"], ["", "a", "b"]])
def test_so_it_is_in_the_picture_of_nca(names: list[str]) -> None:
    model = fitted(cvxml.NCA(2, max_iter=3))
    figure, ax = plt.subplots()
    assert model.plot(X, classes(names), ax=ax) is ax
    figure.canvas.draw()
    assert [literal(text.get_text()) for text in ax.get_legend().get_texts()] == sorted(names)


def test_a_single_class_stays_out_of_the_legend() -> None:
    drawn = displays.MetricEllipseDisplay.from_metric(M2, PLANE, ["_one"] * len(PLANE))
    assert len(names_in(drawn)) == 2


@of_names
def test_characters_without_a_glyph_are_warned_of_once(draw: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        display = draw(["\u65e5\u672c", "\u4e2d\u56fd", "c"])
    (warning,) = caught
    assert warning.filename == __file__
    assert {"\u65e5", "\u672c", "\u4e2d", "\u56fd"} <= set(str(warning.message))
    assert len(names_in(display)) > 2


# Names that do not fit


def long_names(count: int) -> np.ndarray:
    return np.repeat([f"class number {k} with long name" for k in range(count)], 2)


MANY = np.random.default_rng(0).standard_normal((30, 2))
DRAWN: dict[str, Any] = {
    "ellipse": lambda ax: displays.MetricEllipseDisplay.from_metric(np.eye(2), MANY, long_names(15), ax=ax),
    "neighborhood": lambda ax: displays.NeighborhoodDisplay.from_metric(
        "mlsvm", MANY, long_names(15), np.eye(2), ax=ax
    ),
    "spectrum": lambda ax: displays.SpectrumDisplay.from_metric(
        {str(name): np.eye(2) for name in long_names(15)}, ax=ax
    ),
}
SIZES = [
    (1, 2, (8, 3.2)),
    (2, 2, (7, 6)),
    (1, 4, (10, 3.5)),
    (1, 1, (4.5, 4)),
    (1, 1, (3, 3)),
    (1, 1, (2, 2)),
]


PAIRS = [("ellipse", "neighborhood"), ("neighborhood", "spectrum"), ("spectrum", "ellipse")]


@pytest.mark.quick(4)
@pytest.mark.parametrize(("rows", "columns", "size"), SIZES)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_legend_leaves_room_for_the_axes(
    rows: int, columns: int, size: tuple[float, float], one: str, other: str
) -> None:
    """Warnings are errors, and matplotlib warns of axes without room."""
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    drawn = [DRAWN[(one, other)[k % 2]](ax) for k, ax in enumerate(axes.flat)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    for display in drawn:
        assert min(display.ax_.get_window_extent().size) > 0.4 * figure.dpi
        listed = [name for name in names_in(display) if name.startswith("class")]
        assert len(set(listed)) in (0, 15)  # all classes or none, and cut names differ


def test_names_are_whole_where_they_fit_cut_where_they_do_not_and_then_left_out() -> None:
    """The names of the artists of the display stay longer than those of the classes."""
    expected = {f"class number {k} with long name" for k in range(15)}
    whole, cut, out = (
        names_in(DRAWN["ellipse"](plt.subplots(figsize=size)[1])) for size in ((6.4, 5.6), (3, 3), (2, 2))
    )
    assert expected <= set(whole)
    short = [name.removesuffix("…") for name in cut if name.endswith("…")]
    assert len(short) == 15
    assert all(any(name.startswith(one) for name in expected) for one in short)
    assert set(out) == set(whole) - expected
    assert len(out) == 2
