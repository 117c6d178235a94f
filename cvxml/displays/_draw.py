"""Drawing functions that all displays share: axes, points by class, limits, texts, and the legend.

Texts are wrapped to the part of the figure that belongs to the axes: their cell in the grid of subplots, or without a
grid their position. So the line breaks depend neither on the layout nor on neighbouring axes, which may be drawn later.
"""

from __future__ import annotations

import itertools
import sys
import textwrap
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.displays._palette import by_class, pyplot
from cvxml.displays._texts import (
    LINE,
    entries,
    height_of,
    is_math,
    list_entries,
    literal,
    plain,
    warn_of_missing_glyphs,
    width_of,
    without_glyph_warnings,
)

INK, GREY = "#000000", "#767676"
SIZE = (6.4, 5.6)  # inches
LOW = 0.2  # height of a legend that leaves enough room for the axes, relative to their part of the figure
LEAST = 5  # height of the smallest axes that leave room for a legend, in font sizes
MARK = 2.5  # width of a mark in the legend and its space, in font sizes
Fold = Callable[[str, int], str]  # makes a label fit a number of letters


def font(ax: Any) -> float:
    """Return the font size for `ax` in points: that of matplotlib's settings, raised to at least 11.

    It is smaller, down to 7, if the part of the figure that belongs to `ax` is less than 4.5 inches wide or 4 inches
    high.
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
    """Return the figure (or subfigure) and the axes to draw on: `ax`, or new ones of this `size` in inches.

    A figure without a layout engine gets matplotlib's layout engine "constrained", so that title and legend are within
    the picture. A layout engine of the user stays. The labels of the ticks get the size `font`.
    """
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout="constrained")
    whole = ax.figure.figure  # that of a subfigure too
    if whole.get_layout_engine() is None:
        whole.set_layout_engine("constrained")
    ax.tick_params(labelsize=font(ax))
    ax.yaxis.get_offset_text().set_fontsize(font(ax))
    return ax.figure, ax


def scaled(ax: Any, size: float) -> float:
    """Return `size`, the width of a mark, times font / 11 if the `font` of the axes is below 11 points; else `size`."""
    return size * min(1.0, font(ax) / 11)


def points(ax: Any, X: FloatArray, labels: np.ndarray, pale: bool = False, size: float = 26) -> list[Any]:
    """Draw the points X (n, 2) by class, and return one artist for each class.

    A single class gets no entry in the legend. pale: True for nearly transparent points. size: the area of a mark, in
    square points.
    """
    drawn = by_class(ax, X, labels, s=scaled(ax, size**0.5) ** 2, alpha=0.3 if pale else 0.75, zorder=1)
    if len(drawn) == 1:
        drawn[0].set_label("_points")
    return drawn


def classes(drawn: list[Any]) -> list[Any]:
    """Return the artists of `points` that the legend lists: one for each class, or none for a single class."""
    return drawn if len(drawn) > 1 else []


def frame(ax: Any, X: FloatArray, outlines: Sequence[FloatArray] = ()) -> None:
    """Set equal scales, and limits that contain X (n, 2) and the outlines, which are arrays of points (k, 2).

    The outlines extend the limits by at most half the width of X on each side, or fully if the points X coincide. The
    shorter side of the picture is at least about two thirds of the longer side, so that there is room for words.
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
    """Set equal scales, and square limits around the points `near` (k, 2), at least 4 % as wide as X (n, 2)."""
    low, high = near.min(axis=0), near.max(axis=0)
    half = max(0.75 * float((high - low).max()), 0.02 * width(X))
    _square(ax, low / 2 + high / 2, np.array([half, half]))


def _square(ax: Any, middle: FloatArray, half: FloatArray) -> None:
    """Set the limits middle - half and middle + half, both (2,), equal scales, and as many ticks as fit."""
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box")
    wide, high = _room(ax)
    across = min(wide - 7, (high - 10) * half[0] / half[1])  # of the box, without the texts around it
    ax.locator_params(axis="x", nbins=int(np.clip(across / 5, 2, 5)))
    ax.locator_params(axis="y", nbins=int(np.clip(across * half[1] / half[0] / 2.5, 2, 5)))


def width(X: FloatArray) -> float:
    """Return the width of the points X (n, 2) in the feature with the largest spread; 1 if they coincide."""
    return float(np.ptp(X, axis=0).max()) or 1.0


def _room(ax: Any) -> tuple[float, float]:
    """Return the width and the height, in font sizes, of the part of the figure that belongs to `ax`."""
    wide, high = _part(ax)
    return 72 * wide / font(ax), 72 * high / font(ax)


def _wrapped(text: str, room: float) -> str:
    """Return a text with each line wrapped to the width `room`, in font sizes. Words of up to 12 letters stay whole."""
    least = min(12, max(map(len, text.split()), default=1))
    letters = max(least, int(room / 0.4))  # a letter is rarely narrower
    while True:
        wrapped = "\n".join(textwrap.fill(line, letters) for line in text.splitlines())
        if letters == least or width_of(wrapped) <= room:
            return wrapped
        letters -= 1


def words(ax: Any, title: str, xlabel: str, ylabel: str, named: Sequence[Any] = ()) -> Any:
    """Set the title and the names of the axes, draw the legend below the axes, and return the legend.

    Title and names are drawn literally: "$" does not begin math. named: artists with labels that the user chose, for
    example classes. The legend lists them even if a label is empty or begins with "_".

    If the legend is too high for the part of the figure that belongs to `ax`, the labels of `named` are cut to one
    line. If it is still too high, the artists `named` are left out, and at last all entries. Warns (UserWarning) if the
    font lacks a character of a text.
    """
    with without_glyph_warnings():
        made = _placed(ax, title, xlabel, ylabel, named)
    warn_of_missing_glyphs([title, xlabel, ylabel, *map(plain, entries(ax, named)[1])])
    return made


def _placed(ax: Any, title: str, xlabel: str, ylabel: str, named: Sequence[Any]) -> Any:
    """Do the work of `words`, without the warning about characters that the font lacks."""
    wide, high = _room(ax)
    alone = len(ax.figure.figure.axes) == 1
    left = ylabel
    across = wide - 5 - 2 * LINE
    others = height_of(_wrapped(title, across)) + height_of(_wrapped(xlabel, across)) + 4
    made = _legend(ax, 0.95 * wide, LOW * high, high - others - LEAST - (0 if alone else LINE), named)
    high -= 72 * made.get_window_extent().height / ax.figure.dpi / font(ax)
    for _ in range(2):  # the name at the left takes from the width, and the other texts take from the height
        # axes beside others lose width to the names of others
        across = wide - 5 - max(height_of(left), 2 * LINE)
        above, below = _wrapped(title, across), _wrapped(xlabel, across)
        left = _wrapped(ylabel, 0.8 * (high - 4 - height_of(above) - height_of(below)))
    ax.set_title(literal(above), fontsize=font(ax))
    ax.set_xlabel(literal(below), fontsize=font(ax))
    ax.set_ylabel(literal(left), fontsize=font(ax))
    # in font sizes: below the labels of ticks, the axis name, and 12 points between them
    made.borderaxespad = 1 + height_of(below) + 12 / font(ax)
    if alone:
        _lay_out(ax.figure.figure)
    return made


def _lay_out(figure: Any) -> None:
    """Compute the layout of the figure twice.

    matplotlib computes it once when it draws. With equal scales of both axes, the first layout is not yet final.
    """
    for _ in range(2):
        with warnings.catch_warnings():
            # a warning about a figure that is too small comes when it is drawn
            warnings.simplefilter("ignore")
            figure.get_layout_engine().execute(figure)


def _legend(ax: Any, wide: float, low: float, limit: float, named: Sequence[Any]) -> Any:
    """Draw a legend below the axes that fits into the width `wide`, and return it.

    A legend higher than `limit` is made again with fewer words, until it fits. First the labels of the artists `named`
    are cut to one line. Then these artists are left out. Then the legend is empty.

    wide, low, limit: in font sizes. All legends of a height up to `low` count as equally low (`_texts_of`).
    """
    handles, labels = entries(ax, named)
    whole = [(handle, label, _filled) for handle, label in zip(handles, labels, strict=True)]
    cut = [(handle, label, _cut if handle in named else _filled) for handle, label, _ in whole]
    own = [entry for entry in whole if entry[0] not in named]
    for kept in (whole, cut, own, []):
        texts, columns, height = _texts_of([(label, fold) for _, label, fold in kept], wide, low)
        if height <= limit:
            break
    made = list_entries(
        ax,
        [handle for handle, _, _ in kept],
        texts,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=columns,
        fontsize=font(ax),
        frameon=False,
        handletextpad=0.5,
        columnspacing=1.2,
        labelspacing=0.35,
        borderpad=0.0,
    )
    made.set_in_layout(bool(texts))
    for handle in made.legend_handles:
        handle.set_alpha(1.0)
    return made


def _texts_of(labels: list[tuple[str, Fold]], wide: float, low: float) -> tuple[list[str], int, float]:
    """Return the texts of a legend, its number of columns, and its height.

    The height is inf if two different labels are cut to the same text. Such a legend counts as too high.

    Several numbers of columns and line lengths are tried. Among the legends that fit into the width `wide`, the lowest
    one is chosen. All legends of a height up to `low` count as equally low; of these, the one with the fewest lines is
    chosen. wide, low: in font sizes.

    labels: pairs of a label and the function that folds or cuts it to lines of a number of letters.
    """
    different = len({_filled(label, sys.maxsize) for label, _ in labels})
    width_once = cache(width_of)

    def texts_of(letters: int) -> list[str]:
        return [fold(label, letters) for label, fold in labels]

    def size(columns: int, letters: int) -> tuple[float, float]:
        """Return the width and the height, in font sizes, of a legend with lines of at most `letters` letters."""
        texts = [plain(text) for text in texts_of(letters)]
        parts = [part for part in np.array_split(np.array(texts, dtype=object), columns) if len(part)]
        widths = [MARK + max(width_once(text) for text in part) for part in parts]
        heights = [sum(height_of(text) + 0.35 for text in part) for part in parts]
        ambiguous = len(set(texts)) < different
        return sum(widths) + 1.2 * (len(parts) - 1), np.inf if ambiguous else max(heights, default=0.0)

    def worth(choice: tuple[int, int]) -> tuple[float, ...]:
        across, height = size(*choice)
        lines = sum(len(text.splitlines()) for text in texts_of(choice[1]))
        return max(across, wide), max(height, low), lines, choice[0]

    columns, letters = min(itertools.product(range(1, 9), (60, 40, 30, 24, 20, 16, 12)), key=worth)
    return texts_of(letters), columns, size(columns, letters)[1]


def _filled(label: str, letters: int) -> str:
    """Return the label of an artist in lines of at most `letters` letters. A label with math stays unchanged."""
    return label if is_math(label) else literal(textwrap.fill(plain(label), letters))


def _cut(label: str, letters: int) -> str:
    """Return the label of an artist cut to one line of at most `letters` letters. A label with math stays unchanged."""
    line = " ".join(plain(label).split())
    cut = line if len(line) <= letters else line[: letters - 1].rstrip() + "…"
    return label if is_math(label) else literal(cut)


def message(ax: Any, text: str) -> None:
    """Write `text` in the middle of empty axes, one paragraph for each of its lines.

    If they do not fit, paragraphs between the first and the last are left out. Axes that stand beside others get less
    room, because the legends of the others take height. Warns (UserWarning) if the font lacks a character.
    """
    warn_of_missing_glyphs([text])
    with without_glyph_warnings():
        _write(ax, text)


def _write(ax: Any, text: str) -> None:
    """Do the work of `message`, without the warning about characters that the font lacks."""
    wide, high = _room(ax)
    alone = len(ax.figure.figure.axes) == 1
    room = high - 6 if alone else 0.25 * high
    paragraphs = [_wrapped(line, wide - 10) for line in text.splitlines()]
    while len(paragraphs) > 2 and height_of("\n".join(paragraphs)) > room:
        del paragraphs[-2]
    apart = "\n\n" if height_of("\n\n".join(paragraphs)) < room else "\n"
    style = {"transform": ax.transAxes, "ha": "center", "va": "center", "fontsize": font(ax)}
    ax.text(0.5, 0.5, literal(apart.join(paragraphs)), **style)
    ax.set_xticks([])
    ax.set_yticks([])
