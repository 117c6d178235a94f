"""The page and the badges, from the record alone."""

from __future__ import annotations

import html
import json
from typing import Any

from validation.scoreboard.programs import PROGRAMS, Program

VERDICTS = ("certified", "close", "refuted", "inconclusive", "error", "skipped")
ASKED = VERDICTS[:5]  # what is no answer is not counted
COLORS = {
    "certified": "#1a7f37",
    "close": "#7a6a00",
    "refuted": "#c62828",
    "inconclusive": "#57606a",
    "error": "#8a3ffc",
    "skipped": "#8c959f",
}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff; margin: 2rem auto }
body { max-width: 68rem; padding: 0 1rem }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4; vertical-align: top }
th { border-bottom: 2px solid #8c959f; white-space: nowrap }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.v { font-weight: 600; white-space: nowrap } .why { color: #57606a; overflow-wrap: anywhere }
th.case { width: 11rem } th.why { width: 55% }
td:first-child { white-space: nowrap } p.legend, p.why { max-width: none }
.scroll { overflow-x: auto } a { color: #0550ae } p { max-width: 46rem }
.bar { display: flex; width: 8rem; height: .8rem; margin-top: .35rem }
.bar i { display: block; border-right: 1px solid #fff }
.legend span { margin-right: 1.1rem; white-space: nowrap } .legend b { font-size: 1.1rem }
"""
WORDS = """
<p>{learners} learners of {packages} packages, in {languages}, answered golden cases of cvxml: small problems, some
of them degenerate, whose optimum is proved. Nothing is believed but the matrix that comes back. What is judged is the
method as its paper has it: a package that minimises another function on purpose is refuted here too, and is not wrong
for that. The gap is how far the objective at its answer is from a bound that is proved, as a share of the objective's
scale, and none where the answer is not feasible; where the problem is not convex, what is judged is whether its answer
can be improved step by step.</p>
<p><b>certified</b>: within 1e-6 of the optimum. <b>close</b>: the right problem, within 1 % and not at its optimum.
<b>refuted</b>: a better metric is known, or the answer is none. <b>error</b>: no answer in a minute, or none that can
be read. <b>skipped</b>: the package cannot be asked that; not counted. Learners are called with the small tolerances
and high limits that a careful user would set, through adapters of ours, which may err too.</p>
""".strip()
Rows = list[dict[str, Any]]
Results = list[tuple[Program, dict[str, str], Rows]]


def results(record: dict[str, dict[str, Any]]) -> Results:
    """Programs that were run, with versions and rows."""
    found = []
    for program in PROGRAMS:
        group = record.get(program.runs_in, {"programs": {}})
        if program.slug in group["programs"]:
            found.append((program, group["versions"], group["programs"][program.slug]))
    return found


def counted(rows: Rows) -> dict[str, int]:
    """How many rows have each verdict."""
    return {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}


def badge(rows: Rows) -> dict[str, Any]:
    """What shields.io asks of an endpoint: how many of the questions that it answers are certified."""
    counts = counted(rows)
    asked = sum(counts[verdict] for verdict in ASKED)
    message = f"{counts['certified']} of {asked} certified" if asked else "not asked"
    if not asked:
        color = "lightgrey"
    elif counts["certified"] == asked:
        color = "brightgreen"
    else:
        color = "red" if counts["refuted"] or counts["error"] else "yellow"
    return {"schemaVersion": 1, "label": "cvxml", "message": message, "color": color}


def badges(found: Results) -> dict[str, str]:
    """File name -> JSON."""
    return {f"{program.slug}.json": json.dumps(badge(rows), indent=1) + "\n" for program, _, rows in found}


def page(found: Results) -> str:
    """The whole page: one file, with nothing from elsewhere."""
    languages = sorted({part.split(",")[0] for part in (program.language for program, _, _ in found)})
    rows = [row for _, _, each in found for row in each]
    counts = counted(rows)
    legend = " ".join(
        f'<span><b style="color:{COLORS[v]}">&#9632;</b> {v} {counts[v]}</span>' for v in VERDICTS
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>cvxml: programs for metric learning, judged</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Programs for metric learning, judged</h1>
{WORDS.format(learners=len(found), packages=len({p.package for p, _, _ in found}), languages=", ".join(languages))}
<p class="legend">{legend}</p>
<div class="scroll"><table>
<tr><th>package</th><th>learner</th><th>language</th><th>answers</th>
<th class="n">certified</th><th class="n">largest gap</th></tr>
{"".join(summary(*each) for each in found)}</table></div>
{"".join(details(*each) for each in found)}</body>
</html>
"""


def summary(program: Program, versions: dict[str, str], rows: Rows) -> str:
    """A row a learner."""
    counts = counted(rows)
    asked = sum(counts[verdict] for verdict in ASKED)
    bar = "".join(
        f'<i style="width:{100 * counts[v] / max(asked, 1):.4g}%;background:{COLORS[v]}" title="{v}: {counts[v]}"></i>'
        for v in ASKED
        if counts[v]
    )
    gaps = [gap for row in rows if (gap := gap_of(row)) is not None]
    worst = f"{max(gaps):.1e}" if gaps else "-"
    version = versions.get(program.package, versions.get("PyLMNN", "") if program.package == "pylmnn" else "")
    package = html.escape(f"{program.package} {version}".strip())
    link = f'<a href="#{program.slug}">{html.escape(program.name)}</a>'
    figures = f'<td class="n">{counts["certified"]} of {asked}</td><td class="n">{worst}</td>'
    return (
        f"<tr><td>{package}</td><td>{link}</td><td>{html.escape(program.language)}</td>"
        f'<td><div class="bar" role="img" aria-label="{spoken(counts)}">{bar}</div></td>{figures}</tr>\n'
    )


def gap_of(row: dict[str, Any]) -> float | None:
    """As a share of the scale; none of an answer that is not feasible, whose objective says nothing."""
    return None if row["message"].startswith("not a metric") else row["rel_gap"]


def spoken(counts: dict[str, int]) -> str:
    """The counts in words."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)


def details(program: Program, versions: dict[str, str], rows: Rows) -> str:
    """A table a learner."""
    with_versions = ", ".join(f"{name} {value}" for name, value in versions.items())
    lines = "".join(detail(row) for row in rows)
    return f"""<h2 id="{program.slug}">{html.escape(program.package)} {html.escape(program.name)}</h2>
<p class="why">{html.escape(with_versions)}; asked through adapters/{program.adapter}</p>
<div class="scroll"><table>
<tr><th class="case">case</th><th class="case">verdict</th><th class="n">gap / scale</th><th class="why">why</th></tr>
{lines}</table></div>
"""


def detail(row: dict[str, Any]) -> str:
    """A row a case."""
    verdict = row["verdict"]
    gap = "" if gap_of(row) is None else f"{gap_of(row):.1e}"
    said = [row["message"], *(f"diagnosis: {line}" for line in row["diagnosis"])]
    why = "<br>".join(html.escape(line) for line in said if line)
    return (
        f'<tr><td>{html.escape(row["case"])}</td><td class="v" style="color:{COLORS[verdict]}">{verdict}</td>'
        f'<td class="n">{gap}</td><td class="why">{why}</td></tr>\n'
    )
