"""HTML fragments that notebooks show for a `Report` and a `Solution`, without scripts and links; all text is escaped.

The verdict is a word on a coloured badge. The badge sets its own text and background colours, with a contrast of at
least 4.5. Other text has the colours of the page. The bars and entries of a picture are visible on white and on
black, so a fragment is readable in a light and in a dark notebook.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cvxml.core.metric import FloatArray
    from cvxml.core.report import Report
    from cvxml.core.result import Solution

COLOURS = {"certified": "#1b6e3c", "close": "#7a5200", "refuted": "#a3261d", "inconclusive": "#4a5568"}
BADGE = "display:inline-block;padding:2px 10px;border-radius:4px;font-weight:bold;color:#ffffff;background:"
CELL = "padding:2px 14px 2px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere;background:none"
HEAD = "text-align:left;font-weight:bold;padding-top:8px"
SIDE, MOST, APART = (
    150,
    50,
    40,
)  # pixels of a picture's side, most features with entries drawn, pixels between pictures
POSITIVE, NEGATIVE = "#2b7bba", "#d9622b"


def fragment(report: Report) -> str:
    parts = [
        _header(report.verdict.value, COLOURS[report.verdict.value], report.asked),
        _list(report.reasons),
        _table("What was found", report.rows()),
        _titled_list("Diagnosis", report.diagnosis),
        _titled_list("Nearest", map(str, report.nearest)),
        _titled_list("Notes", report.notes),
    ]
    if report.about is not None:
        parts.append(_table("What was asked", report.about.rows()))
    return _page(parts)


def of_solution(solution: Solution) -> str:
    proved, status = solution.status.value in ("converged", "stationary"), solution.status
    word = "certified" if status.value == "converged" else status.value.replace("_", " ")
    return _page(
        [
            _header(
                word,
                COLOURS["certified" if proved else "inconclusive"],
                f"{solution.method} ({solution.solver})",
            ),
            _list([status.sentence]),
            picture(solution.metric),
            _table("What was found", solution.rows()),
            _titled_list("Notes", solution.notes),
        ]
    )


def picture(metric: FloatArray) -> str:
    """Return an SVG of the eigenvalues of a metric (d, d), and of its entries if d <= 50."""
    values = np.linalg.eigvalsh((metric + metric.T) / 2)[::-1]
    drawn = [("eigenvalues", _bars(values / max(values[0], np.finfo(float).tiny)))]
    if len(metric) <= MOST:
        drawn.insert(0, ("entries, orange below 0", _cells(metric)))
    width, height = len(drawn) * (SIDE + APART), SIDE + 20
    panels = "".join(
        f'<g transform="translate({at * (SIDE + APART)} 0)"><text y="12" font-size="12" fill="currentColor">{title}'
        f'</text><g transform="translate(0 19)">{shapes}</g></g>'
        for at, (title, shapes) in enumerate(drawn)
    )
    said = " and ".join(title for title, _ in drawn)
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto;display:block;margin:6px 0;background:none">{panels}</svg>'
    )


def _cells(metric: FloatArray) -> str:
    """Return SVG squares for the entries of a metric (d, d): blue if positive, orange if negative.

    An entry farther from 0 is more opaque. Entries below 0.5 % of the largest are left out.
    """
    side, largest = SIDE / len(metric), max(float(np.abs(metric).max()), np.finfo(float).tiny)
    shares = metric / largest
    frame = f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
    return frame + "".join(
        f'<rect x="{j * side:.2f}" y="{i * side:.2f}" width="{side:.2f}" height="{side:.2f}" '
        f'fill="{POSITIVE if share > 0 else NEGATIVE}" fill-opacity="{abs(share) ** 0.5:.2f}"/>'
        for (i, j), share in np.ndenumerate(shares)
        if abs(share) >= 0.005
    )


def _bars(shares: FloatArray) -> str:
    """Return SVG bars for the eigenvalues, and a base line. shares: the eigenvalues divided by the largest one."""
    step = SIDE / len(shares)
    bars = "".join(
        f'<rect x="{k * step:.2f}" y="{SIDE * (1 - share):.2f}" width="{0.8 * step:.2f}" height="{SIDE * share:.2f}" '
        f'fill="{POSITIVE}"/>'
        for k, share in enumerate(np.clip(shares, 0, 1))
        if share >= 0.001
    )
    return f'{bars}<path d="M0 {SIDE}H{SIDE}" stroke="currentColor" stroke-opacity="0.4"/>'


def _page(parts: Iterable[str]) -> str:
    return f'<div style="max-width:60em;line-height:1.4">{"".join(parts)}</div>'


def _header(word: str, colour: str, asked: str) -> str:
    return (
        f'<p style="margin:0 0 6px 0"><span style="{BADGE}{colour}">{escape(word)}</span> {escape(asked)}</p>'
    )


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL};font-weight:normal;white-space:nowrap">'
        f'{escape(name)}</th><td style="{CELL};font-variant-numeric:tabular-nums">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        '<table style="border-collapse:collapse;margin:6px 0">'
        f'<caption style="{HEAD}">{escape(title)}</caption><tbody>{cells}</tbody></table>'
    )


def _titled_list(title: str, lines: Iterable[str]) -> str:
    listed = _list(lines)
    return f'<p style="{HEAD};margin:0">{escape(title)}</p>{listed}' if listed else ""


def _list(lines: Iterable[str]) -> str:
    items = "".join(f'<li style="overflow-wrap:anywhere">{escape(line)}</li>' for line in lines)
    return f'<ul style="margin:2px 0 6px 0;padding-left:1.4em">{items}</ul>' if items else ""
