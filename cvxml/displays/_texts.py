"""Texts with names of the user: drawn literally, listed in the legend, and measured without repeated warnings.

Needs matplotlib.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

LINE = 1.25  # height of a line in font sizes


def literal(text: str) -> str:
    r"""Return a text that matplotlib draws as the given `text`: "$" becomes "\$", which does not begin math."""
    return text.replace("$", r"\$")


def plain(label: str) -> str:
    r"""Return the text that matplotlib draws for a `label` without math: "\$" becomes "$"."""
    return label.replace(r"\$", "$")


def is_math(label: str) -> bool:
    """Return True if matplotlib draws math for this label. The user may have added an artist with such a label."""
    from matplotlib.cbook import is_math_text

    return bool(is_math_text(label))


def entries(ax: Any, named: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return the artists of the legend and their labels, in the order in which they were drawn.

    Like matplotlib, it leaves out artists with a label that is empty or begins with "_". named: artists that are listed
    with any label.
    """
    found = dict(zip(*ax.get_legend_handles_labels(), strict=True))
    found |= {artist: artist.get_label() for artist in named}
    places = {artist: k for k, artist in enumerate(ax.get_children())}
    handles = sorted(found, key=lambda artist: places.get(artist, len(places)))
    return handles, [found[artist] for artist in handles]


def list_entries(ax: Any, handles: Sequence[Any], labels: Sequence[str], **style: Any) -> Any:
    """Draw the legend with all labels, also those that are empty or begin with "_", and return it."""
    made = ax.legend(handles, ["."] * len(labels), **style)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set_text(label)
    return made


def width_of(text: str) -> float:
    """Return the width of the longest line of a text, in font sizes. A "$" counts as a letter."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    one = FontProperties(size=1)
    measured = (text_to_path.get_text_width_height_descent(line, one, False) for line in text.splitlines())
    return max((each[0] for each in measured), default=0.0)


def height_of(text: str) -> float:
    """Return the height of a text in font sizes."""
    return LINE * len(text.splitlines())


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """In this context, matplotlib does not warn of characters that its font cannot draw."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s)Glyph \d+ .*missing from", UserWarning)
        yield


def warn_of_missing_glyphs(texts: Sequence[str]) -> None:
    """Warn once (UserWarning) if the font cannot draw some characters of the texts."""
    from matplotlib.font_manager import FontProperties

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        width_of("\n".join(texts))
    codes = [int(code) for each in caught for code in re.findall(r"Glyph (\d+) ", str(each.message))]
    if codes:
        missing = "".join(map(chr, dict.fromkeys(codes)))
        warnings.warn(
            f"the font {FontProperties().get_name()} cannot draw {missing!r}: set "
            'matplotlib.rcParams["font.family"] to a font with these characters',
            UserWarning,
            stacklevel=_level_of_user(),
        )


def _level_of_user() -> int:
    """Return the `stacklevel` with which a warning of the calling function points to the first call outside cvxml."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "cvxml":
        level, frame = level + 1, frame.f_back
    return level
