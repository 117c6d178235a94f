"""A report as a fragment of HTML: no script, no picture, no address; every word of it escaped.

The verdict is a word, and a colour beside it. Colours are those of the page but for the badge, whose text and ground
have a contrast of 4.5 at least: it is read in a light and in a dark notebook.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvxml.core.report import Report

COLOURS = {"certified": "#1b6e3c", "close": "#7a5200", "refuted": "#a3261d", "inconclusive": "#4a5568"}
BADGE = "display:inline-block;padding:2px 10px;border-radius:4px;font-weight:bold;color:#ffffff;background:"
CELL = "padding:2px 14px 2px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere;background:none"
HEAD = "text-align:left;font-weight:bold;padding-top:8px"


def fragment(report: Report) -> str:
    """Of a report."""
    verdict = report.verdict.value
    asked = f"{report.method}, claim: {report.claim}, tol: {report.tol_name} ({report.tol:g})"
    parts = [
        f'<p style="margin:0 0 6px 0"><span style="{BADGE}{COLOURS[verdict]}">{escape(verdict)}</span> '
        f"{escape(asked)}</p>",
        _list(report.reasons),
        _table("What was found", report.rows()),
        _titled("Diagnosis", report.diagnosis),
        _titled("Nearest", map(str, report.nearest)),
        _titled("Notes", report.notes),
    ]
    if report.about is not None:
        parts.append(_table("What was asked", report.about.rows()))
    return f'<div style="max-width:60em;line-height:1.4">{"".join(parts)}</div>'


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


def _titled(title: str, lines: Iterable[str]) -> str:
    listed = _list(lines)
    return f'<p style="{HEAD};margin:0">{escape(title)}</p>{listed}' if listed else ""


def _list(lines: Iterable[str]) -> str:
    items = "".join(f'<li style="overflow-wrap:anywhere">{escape(line)}</li>' for line in lines)
    return f'<ul style="margin:2px 0 6px 0;padding-left:1.4em">{items}</ul>' if items else ""
