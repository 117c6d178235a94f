"""How a page looks: text beside pictures, a drawing as an image, a table of numbers. Needs marimo and matplotlib."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from typing import Any

import marimo as mo
import matplotlib
from matplotlib.figure import Figure

from cvxml.displays._palette import COLOURS as COLOURS

BENEATH = {  # a legend below the axes
    "loc": "upper center",
    "bbox_to_anchor": (0.5, 0.0),
    "borderaxespad": 3.4,
    "ncols": 2,
    "frameon": False,
    "handletextpad": 0.5,
    "columnspacing": 1.0,
}
STYLE = {"font.size": 12.0, "axes.titlesize": 12.0, "legend.fontsize": 11.0, "figure.dpi": 120.0}


def beside(left: Any, right: Any) -> mo.Html:
    """Text left, and what moves right of it; below it where the window is narrow."""
    columns = "".join(
        f'<div style="flex: {grow} 1 {basis}; min-width: 0">{mo.as_html(part).text}</div>'
        for grow, basis, part in ((2, "24rem", left), (3, "34rem", right))
    )
    return mo.Html(f'<div style="display: flex; flex-wrap: wrap; gap: 2.5rem">{columns}</div>')


def drawn(
    draw: Callable[..., object], alt: str, panels: int = 1, size: tuple[float, float] = (4.8, 4.4)
) -> mo.Html:
    """What `draw` puts on so many axes of that size side by side, as an image; `alt` says what is to be seen.

    Without pyplot: nothing is kept once the image is made.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(size[0] * panels, size[1]), layout="constrained")
        draw(*figure.subplots(1, panels, squeeze=False)[0])
        figure.draw_without_rendering()  # equal scales move what the first layout has placed
        content = io.BytesIO()
        figure.savefig(content, format="png")
    return mo.image(
        content.getvalue(), alt=alt, style={"max-width": f"min(100%, {6 * size[0] * panels:g}rem)"}
    )


def as_printed(text: str) -> mo.Html:
    """Text of the terminal, its columns kept and its long lines folded."""
    return mo.Html(f'<pre style="white-space: pre-wrap; font-size: 0.85rem">{html.escape(text)}</pre>')


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> mo.Html:
    """A table; its cells are text, with mathematics between dollars."""
    lines = [header, ["---"] * len(header), *rows]
    return mo.md("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))
