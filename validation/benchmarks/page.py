"""The record of a run, and the report that it makes."""

from __future__ import annotations

import os
from typing import Any

from validation.benchmarks import isolated
from validation.benchmarks.measure import exponent
from validation.benchmarks.summary import COLUMNS, NOT_RUN, Record, collected, line, summary, took
from validation.experiments.page import bullets, table
from validation.experiments.tasks import Result, Task

BENCHMARKS = ("mlsvm", "gerrymandering", "glml", "nca", "convex", "size")

GROWTH = "growth.png"  # the picture, beside the report


def record(
    command: str, results: dict[str, list[tuple[Task, Result]]], with_learners: bool, note: str = ""
) -> Record:
    """All that the report is made from, for JSON. results: by benchmark. note: a sentence on the machine.

    Raises ValueError where parts were measured with different versions.
    """
    measured = [result for found in results.values() for _, result in found]
    dates = sorted({result["date"] for result in measured})
    if any(result["versions"] != measured[0]["versions"] for result in measured):
        raise ValueError(
            "parts were measured with different versions of the packages: measure all of them in another --folder"
        )
    made = {
        "command": command,
        "date": dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}",
        "versions": measured[0]["versions"],
        "cores": os.cpu_count(),
        "metric-learn": with_learners,
        "note": note,
    }
    parts = [
        {"benchmark": name, **task._asdict(), "result": result}
        for name, found in results.items()
        for task, result in found
    ]
    return {"environment": made, "parts": parts}


def report(recorded: Record) -> list[str]:
    """The page."""
    made, parts = recorded["environment"], recorded["parts"]
    wall, cpu = (sum(each["result"][clock] for each in parts) for clock in ("wall", "cpu"))
    lines = [
        "# Speed",
        "",
        f"`{made['command']}`, {made['date']}, {made['cores']} cores, {wall / 60:.0f} minutes. "
        + ", ".join(f"{name} {number}" for name, number in made["versions"].items())
        + ".",
        "",
        "Wall clock; one part after the other, each in a process of its own with one BLAS thread; ours and the",
        "alternatives of a line in the same part, one after the other. The best of three runs; of what takes more",
        "than 5 s, one.",
        "Building the problem is included. *reached*: the gap, as a share of the objective, that our certificate",
        "proves of the metric that was returned. *ours to that*: until ours has proved the same (from 1e-9 to 0.1).",
        "*ratio*: the alternative's seconds to those; below 1 the alternative is faster. cvxpy is given the",
        "problems in vectorised form (`validation/benchmarks/vectorised.py`), many times as fast as the literal one.",
        f"Processor time was {100 * cpu / wall:.0f} % of wall clock: well below 100 % the machine had other work.",
        *([made["note"]] if made["note"] else []),
        "",
        *summary(recorded),
    ]
    if "--quick" in made["command"]:
        lines += ["", "`--quick`: sizes are smaller than the texts below say, and figures prove nothing."]
    for name in dict.fromkeys(each["benchmark"] for each in parts):
        lines += ["", *section(recorded, name)]
    return [*lines, ""]


def section(recorded: Record, name: str) -> list[str]:
    """One benchmark: what it is, every claim, growth, facts, what was not run."""
    module: Any = isolated.of(name)
    claims = collected(recorded, "claims", name)
    rows: list[tuple[str, ...]] = []
    for claim in claims:
        own = "; ".join(
            f"{each['to']}: {took(each['seconds'])} {each['reached']}".strip() for each in claim["ours"]
        )
        for rival in claim["rivals"] or [None]:
            named = (
                f"`{claim['method']}`",
                f"{claim['data']}, {claim['n']} x {claim['d']}",
                "none",
                "",
                "",
                "",
                "",
            )
            rows.append((*(named if rival is None else line(claim, rival)), own, claim["timed"]))
    head = ("method", "data", "alternative", *COLUMNS, "ours", "timed")
    lines = [f"## {module.TITLE}", "", module.WHAT.strip(), "", *(table(head, rows) if rows else [])]
    grown = collected(recorded, "growth", name)
    if grown:
        cells = [
            (f"`{each['method']}`", f"{each['data']}: {each['timed']}", pairs(each), f"{exponent(each):.2f}")
            for each in grown
        ]
        lines += ["", *table(("method", "growth of", "n: seconds", "exponent"), cells)]
        lines += ["", f"![Seconds by the number of points]({GROWTH})"] if name == "size" else []
    peaks = [each for each in recorded["parts"] if each["benchmark"] == name]
    facts = collected(recorded, "facts", name)
    if peaks:
        most = max(peaks, key=lambda each: each["result"]["peak"])
        facts.append(
            f"Peak memory of a part: {most['result']['peak']:.2f} GiB ({most['data']}, {most['method']})."
        )
    if not recorded["environment"]["metric-learn"] and needs_learners(module):
        facts.append(f"metric-learn: {NOT_RUN} (`--learners PYTHON`).")
    return [*lines, "", *bullets(facts)]


def needs_learners(module: Any) -> bool:
    """Whether metric-learn is among its alternatives."""
    return any(task.settings["part"] == "metric-learn" for task in module.tasks(True))


def pairs(grown: Result) -> str:
    """Size: seconds."""
    return ", ".join(f"{n}: {took(s)}" for n, s in zip(grown["sizes"], grown["seconds"], strict=True))
