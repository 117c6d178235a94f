"""The layout of a lesson: text, controls, tables, pictures for a light or dark page. Needs marimo and matplotlib.

Every lesson, a marimo notebook in this folder, builds its page with these functions.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from typing import Any

import marimo as mo
import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

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
STYLE = {"font.size": 12.0, "axes.titlesize": 12.0, "legend.fontsize": 11.0}
LAYOUTS = 4  # with equal scales, the first layouts of a picture are not final
# On a wide screen, text, controls and pictures stand side by side, and the controls stay visible. On a phone they stand
# below each other.
LAYOUT = """
.lesson, .lesson .lab { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start }
.lesson > .text { flex: 2 1 22rem; min-width: 0 }
.lesson > .lab { flex: 4 1 38rem; min-width: 0 }
.lesson .controls { flex: 1 1 11rem; min-width: 0 }
.lesson .pictures { flex: 4 1 24rem; min-width: 0 }
.lesson .below { flex: 1 1 100%; min-width: 0 }
.lesson pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: clamp(0.6rem, 2.5vw, 0.85rem) }
@media (min-width: 64rem) { .lesson .controls { position: sticky; top: 1rem } }
@media (max-width: 40rem) {
  .lesson > *, .lesson .lab > * { flex-basis: 100% !important }
  .lesson td, .lesson th { padding: 0.3rem !important }
}
"""
# The colours for black and white, and the opacity of pale parts, for a light and a dark page.
INK = """<style>
:root { --ink: #000000; --paper: #ffffff; --pale: 0.3 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e0; --paper: #181c1a; --pale: 0.6 } }
svg { fill: var(--ink) }
</style>"""


def page(text: Any, controls: Sequence[Any], pictures: Sequence[Any], below: Sequence[Any] = ()) -> mo.Html:
    """Return a page: `text`, then `controls` beside `pictures`, and the wide parts `below` under them.

    The parts are marimo elements, for example results of `mo.md`, `mo.ui.slider`, `drawn` and `table`.
    """

    def part(name: str, *shown: Any) -> str:
        return f'<div class="{name}">{mo.vstack(shown, gap=1).text}</div>' if shown else ""

    lab = part("controls", *controls) + part("pictures", *pictures) + part("below", *below)
    return mo.Html(
        f'<style>{LAYOUT}</style><div class="lesson"><div class="text">{mo.as_html(text).text}</div>'
        f'<div class="lab">{lab}</div></div>'
    )


def drawn(draw: Callable[[Any], object], alt: str, size: tuple[float, float] = (5.2, 4.4)) -> mo.Html:
    """Return an image of the axes on which `draw` draws. size: width and height in inches.

    draw: a function of the axes. alt: a text that describes the picture, for readers who cannot see it. Pyplot is not
    used, so that no figure stays in memory.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        for _ in range(LAYOUTS):
            figure.draw_without_rendering()
        content = io.StringIO()
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    head, rest = content.getvalue().split("<defs>", 1)
    for fixed, varies in (
        ("#000000", "var(--ink)"),
        ("#ffffff", "var(--paper)"),
        ("opacity: 0.3;", "opacity: var(--pale);"),
    ):
        rest = rest.replace(fixed, varies)
    source = base64.b64encode((head + INK + "<defs>" + rest).encode()).decode()
    style = f"color-scheme: light dark; width: 100%; max-width: {7 * size[0]:g}rem"
    return mo.Html(
        f"<img src='data:image/svg+xml;base64,{source}' alt='{html.escape(alt)}' style='{style}' />"
    )


def name_points(ax: Any, points: ArrayLike, names: Sequence[object], around: ArrayLike | None = None) -> None:
    """Write a name beside each of `points` (k, 2), at a place within `ax` that is far from names and points.

    around: points (n, 2) to keep away from; default the points themselves. Call this after the limits and the legend of
    `ax` are set.
    """
    ax.figure.draw_without_rendering()  # this call fixes the layout
    own = ax.transData.transform(np.asarray(points, dtype=float))
    taken = own if around is None else ax.transData.transform(np.asarray(around, dtype=float))
    frame = ax.bbox.padded(-6 * ax.figure.dpi / 72)
    turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    away = 13 * np.column_stack([np.cos(turn), np.sin(turn)])  # points
    to_pixels = ax.figure.dpi / 72
    for at, name in zip(own, names, strict=True):
        places = at + to_pixels * away
        others = taken[np.any(taken != at, axis=1)]
        room = np.linalg.norm(places[:, None] - others, axis=2).min(axis=1)
        room[[not frame.contains(*place) for place in places]] = -1
        best = int(room.argmax())
        ax.annotate(
            str(name),
            ax.transData.inverted().transform(at),
            away[best],
            textcoords="offset points",
            ha="center",
            va="center",
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
        taken = np.vstack([taken, places[best]])


def as_printed(text: str) -> mo.Html:
    """Return text as in a terminal: columns stay aligned, and long lines are folded."""
    return mo.Html(f"<pre>{html.escape(text)}</pre>")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> mo.Html:
    """Return a table. Cells are text; mathematics stands between dollar signs."""
    lines = [header, ["---"] * len(header), *rows]
    return mo.md("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))
