"""Drawing functions that all displays share: axes, points by class, limits, texts, and a legend below the axes."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.displays._palette import by_class, pyplot

INK, GREY = "#000000", "#767676"
SIZE = (6.4, 5.6)  # inches


def font(ax: Any) -> float:
    """Return the font size in points: that of matplotlib's settings, at least 11.

    It is smaller, down to 7, in a part of the figure that is less than 4.5 inches wide or 4 inches high.
    """
    whole = max(11.0, float(pyplot().rcParams["font.size"]))
    wide, high = _part(ax)
    return max(7.0, whole * min(1.0, wide / 4.5, high / 4))


def _part(ax: Any) -> tuple[float, float]:
    """Return the width and the height, in inches, of the part of the figure that belongs to `ax`."""
    spec = ax.get_subplotspec()
    if spec is None:
        shares = ax.get_position(original=True).size
    else:
        rows, columns = spec.get_gridspec().get_geometry()
        shares = len(spec.colspan) / columns, len(spec.rowspan) / rows
    box = ax.figure.bbox
    return shares[0] * box.width / ax.figure.dpi, shares[1] * box.height / ax.figure.dpi


def start(ax: Any = None, size: tuple[float, float] = SIZE) -> tuple[Any, Any]:
    """Return the figure and the axes to draw on: `ax`, or new ones.

    A figure without a layout engine gets "constrained", so that title and legend are within the picture. A layout
    engine of the user stays.
    """
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout="constrained")
    whole = ax.figure.figure  # that of a subfigure too
    if whole.get_layout_engine() is None:
        whole.set_layout_engine("constrained")
    ax.tick_params(labelsize=font(ax))
    ax.yaxis.get_offset_text().set_fontsize(font(ax))
    return ax.figure, ax


def points(ax: Any, X: FloatArray, labels: np.ndarray, pale: bool = False, size: float = 26) -> list[Any]:
    """Draw points (n, 2) by class. A single class gets no entry in the legend."""
    drawn = by_class(ax, X, labels, s=size, alpha=0.3 if pale else 0.75, zorder=1)
    if len(drawn) == 1:
        drawn[0].set_label("_points")
    return drawn


def frame(ax: Any, X: FloatArray, outlines: Sequence[FloatArray] = ()) -> None:
    """Set equal scales, and limits that contain X (n, 2) and the outlines.

    The outlines extend the limits by at most half the width of X on each side, or fully if the points coincide. The
    shorter side is about two thirds of the longer one at least, so that there is room for words.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    room = width(X) / 2 if (high > low).any() else np.inf
    for line in outlines:
        low = np.minimum(low, np.maximum(line.min(axis=0), X.min(axis=0) - room))
        high = np.maximum(high, np.minimum(line.max(axis=0), X.max(axis=0) + room))
    longer = float((high - low).max()) or 1.0
    half = np.maximum((high - low) / 2 + 0.06 * longer, 0.37 * longer)
    _square(ax, low / 2 + high / 2, half)


def zoom(ax: Any, near: FloatArray, X: FloatArray) -> None:
    """Set equal scales, and a square around `near` (k, 2) with a margin, at least 4 % as wide as X."""
    low, high = near.min(axis=0), near.max(axis=0)
    half = max(0.75 * float((high - low).max()), 0.02 * width(X))
    _square(ax, low / 2 + high / 2, np.array([half, half]))


def _square(ax: Any, middle: FloatArray, half: FloatArray) -> None:
    """Set limits at distance half (2,) from middle (2,), equal scales, and as many ticks as fit."""
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box")
    ax.locator_params(axis="x", nbins=int(np.clip(across(ax) / 0.8, 2, 5)))
    ax.locator_params(axis="y", nbins=5)


def width(X: FloatArray) -> float:
    """Return the width of the points X (n, 2) in the feature with the largest spread; 1 if they coincide."""
    return float(np.ptp(X, axis=0).max()) or 1.0


def across(ax: Any) -> float:
    """Return the width of the axes in inches; with equal scales, the width that remains for the data."""
    wide, high = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    if ax.get_aspect() == "auto":
        return float(wide)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return float(min(wide, high * (right - left) / (top - bottom)))


def letters(ax: Any) -> int:
    """Return about how many letters fit into a line above the axes: a little wider than the axes, within the figure."""
    to_the_edge = (ax.figure.bbox.x1 - ax.bbox.x0) / ax.figure.dpi
    return _letters_in(ax, min(1.15 * across(ax), to_the_edge - 0.1))


def _letters_in(ax: Any, inches: float) -> int:
    return max(20, int(inches * 72 / (0.55 * font(ax))))


def words(ax: Any, title: str, xlabel: str, ylabel: str) -> None:
    """Set the title and the names of the axes."""
    _set_title(ax, title)
    ax.set_xlabel(xlabel, fontsize=font(ax))
    ax.set_ylabel(ylabel, fontsize=font(ax))


def _set_title(ax: Any, title: str) -> None:
    """Set the title, wrapped to the width of the axes."""
    lines = [textwrap.fill(line, letters(ax)) for line in title.splitlines()]
    ax.set_title("\n".join(lines), fontsize=font(ax), loc="left")


def legend(ax: Any, title: str) -> Any:
    """Draw the legend below the axes, where it hides no data, in up to three columns.

    The legend makes the axes smaller, so the title is wrapped again afterwards.
    """
    handles, labels = ax.get_legend_handles_labels()
    room = _letters_in(ax, 0.95 * _part(ax)[0])
    labels = [textwrap.fill(label, room) for label in labels]
    columns = next((c for c in (3, 2) if _letters_of(labels, c) <= room), 1)
    made = ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=3.4,  # in font sizes: clear of the axis name for axes of any height
        ncols=columns,
        fontsize=font(ax),
        frameon=False,
        handletextpad=0.5,
        columnspacing=1.5,
    )
    for handle in made.legend_handles:
        handle.set_alpha(1.0)
    _wrap_again(ax, title)
    return made


def _wrap_again(ax: Any, title: str) -> None:
    """Wrap the title to the width that the axes have after a layout.

    Axes beside others get their positions back, because the others are perhaps not drawn yet. The figure is laid out
    again when it is drawn.
    """
    whole = ax.figure.figure
    before = [(each, each.get_position(original=True)) for each in whole.axes if each.get_in_layout()]
    for _ in range(2):  # with equal scales, the first layout is not final
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a warning about a figure that is too small comes when it is drawn
            whole.get_layout_engine().execute(whole)
        ax.apply_aspect()
        _set_title(ax, title)
    for each, position in before if len(before) > 1 else ():
        each.set_position(position, which="original")
        each.set_in_layout(True)  # which set_position changes


def _letters_of(labels: Sequence[str], columns: int) -> int:
    """Return the width of a legend with these columns, in letters; a mark and its space count as six."""
    parts = [part for part in np.array_split(np.array(labels, dtype=object), columns) if len(part)]
    widths = [max(len(line) for label in part for line in label.splitlines() or [""]) for part in parts]
    return sum(6 + width for width in widths)


def message(ax: Any, text: str) -> None:
    """Write paragraphs, one for each line of `text`, in the middle of empty axes, with blank lines if they fit."""
    paragraphs = [textwrap.fill(line, int(0.9 * letters(ax))) for line in text.splitlines()]
    room = 0.8 * ax.bbox.height / ax.figure.dpi * 72 / (1.3 * font(ax))  # height in lines
    apart = "\n\n" if len("\n\n".join(paragraphs).splitlines()) < room else "\n"
    style = {"transform": ax.transAxes, "ha": "center", "va": "center", "fontsize": font(ax)}
    ax.text(0.5, 0.5, apart.join(paragraphs), **style)
    ax.set_xticks([])
    ax.set_yticks([])
