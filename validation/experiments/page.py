"""The report of a run: Markdown, a picture, and the results it was made from."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from validation.experiments.tasks import Preset, Result, Task, as_stored, write

PACKAGES = ("cvxml", "numpy", "scipy", "scikit-learn", "joblib")
LOOKS = (
    "Figures of `looks.py` come from further runs, by `validation/experiments/looks.py`, which keeps them in "
    "`quoted.json` beside it."
)
OPEN = "## Open: observations without an explanation"
IS_OPEN = re.compile(r"- .*[:;] open\b")
KINDS = {": contradicted on": "contradiction", ": undecided on": "undecided verdict"}  # of open observations
TESTS = (
    "*These points*: the mean over all splits of exactly the points of these data sets. *New points*: other points "
    "from the same source."
)
MANY = 100  # cores, of more than one machine
Results = list[tuple[Task, Result]]
Groups = dict[str, dict[str, list[Result]]]  # data -> method -> the results in the order of the splits


class Parts(NamedTuple):
    """The parts of a report that an experiment writes, in the order of the page."""

    tables: list[str]  # the paper's values beside ours
    verdicts: list[str]  # on the paper's claims, with their legend
    details: list[str]
    run: Sequence[str] = ()  # which parts of the preset have no result yet

    @property
    def lines(self) -> list[str]:
        """All of them."""
        return [*self.tables, *self.verdicts, *self.details, *self.run]


def record(
    name: str,
    preset: str,
    results: Results,
    only: Sequence[str] | None = None,
    begun: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything the report is made from, for JSON: with the command, the versions and the size of the machine.

    begun: the record of another run that some of the results are taken from.
    """
    chosen = ["--only", ",".join(only)] if only else []
    made = {
        "command": shlex.join(["python", "-m", "validation.experiments", name, "--preset", preset, *chosen]),
        "versions": {"python": platform.python_version()} | {each: version(each) for each in PACKAGES},
        "cores": os.cpu_count(),
    }
    if begun is not None:
        theirs = {task.key: (task.settings, result) for task, result in results_of(begun)}
        taken = sum(theirs.get(task.key) == (as_stored(task.settings), result) for task, result in results)
        made["begun"] = {**begun["environment"], "taken": taken}
    kept = [{**task._asdict(), "result": result} for task, result in results]
    return {"experiment": name, "preset": preset, "environment": made, "results": kept}


def results_of(recorded: dict[str, Any]) -> Results:
    """The inverse of `record`."""
    return [
        (Task(each["data"], each["method"], each["split"], each["settings"]), each["result"])
        for each in recorded["results"]
    ]


def write_report(recorded: dict[str, Any], experiment: ModuleType, folder: Path, stem: str) -> Path:
    """STEM.md, STEM.png and STEM.json in a folder; returns the first."""
    from matplotlib.figure import Figure

    preset, results = experiment.PRESETS[recorded["preset"]], results_of(recorded)
    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(layout="constrained")
    experiment.draw(results, preset, figure)
    figure.savefig(folder / f"{stem}.png", dpi=110)
    parts = experiment.parts(results, preset)
    unexplained = open_lines(parts.lines)
    setting = header(recorded, experiment, preset)
    looked = ["", LOOKS] if any("`looks.py`" in line for line in (*setting, *parts.lines)) else []
    lines = [
        f"# {experiment.TITLE}",
        *["", *in_short(recorded, experiment, preset, unexplained)],
        *["", f"![{experiment.TITLE}]({stem}.png)"],
        *referred(parts.tables),
        *referred(parts.verdicts),
        *(["", OPEN, "", *unexplained] if unexplained else []),
        *referred(parts.details),
        *["", "## Setting", "", *setting, *looked, *parts.run, ""],
    ]
    write(folder / f"{stem}.md", "\n".join(lines))
    write(folder / f"{stem}.json", json.dumps(recorded, indent=1) + "\n")
    return folder / f"{stem}.md"


def in_short(
    recorded: dict[str, Any], experiment: ModuleType, preset: Preset, unexplained: Sequence[str]
) -> list[str]:
    """Return the start: question, run, result, contradictions, open questions; then the names of the tests."""
    results = results_of(recorded)
    result, against = experiment.short(results, preset)
    less = number(len(preset.thinner), "restriction")
    listed = f" ([list]({anchor(OPEN)}))" if unexplained else ""
    named = [TESTS] if "new points" in f"{result} {against}".lower() else []
    said = bullets(
        [
            f"**Question.** {experiment.QUESTION}",
            f"**Run.** {shares(recorded, experiment, preset)}. The preset has {less} compared with the paper "
            f"([list]({anchor('## Setting')})).",
            f"**Result.** {result}",
            f"**Contradictions.** {against}",
            f"**Open.** {number(len(unexplained), 'observation')} without an explanation{subjects(unexplained)}"
            f"{listed}.",
        ]
    )
    return [*said, *(["", *named] if named else [])]


def subjects(unexplained: Sequence[str]) -> str:
    """Return what open observations are about: a claim of the paper, which is only counted, or a figure of ours."""
    said = []
    for mark, name in KINDS.items():
        if count := sum(mark in line for line in unexplained):
            said.append(number(count, name))
    said += [line[2:].split(":")[0] for line in unexplained if not any(mark in line for mark in KINDS)]
    return listed(said)


def shares(recorded: dict[str, Any], experiment: ModuleType, preset: Preset) -> str:
    """Return how many tasks of the preset were run, and how many are also tasks of *full*, nearest to the paper."""
    results = results_of(recorded)
    wanted = len(experiment.tasks(preset))
    part = f"All {wanted}" if len(results) == wanted else f"{len(results)} of the {wanted}"
    share = f" ({100 * len(results) / wanted:.0f} %)" if len(results) < wanted else ""
    sets = number(len({task.data for task, _ in results}), "data set")
    said = f"{part} tasks of the preset *{recorded['preset']}*{share} were run, on {sets}"
    if recorded["preset"] == "full":
        return said
    whole = {task.key: as_stored(task.settings) for task in experiment.tasks(experiment.PRESETS["full"])}
    both = [(whole[task.key], task.settings) for task, _ in results if task.key in whole]
    other = sum(full != as_stored(ours) for full, ours in both)
    return (
        f"{said}. *full*, the preset nearest to the paper, has {len(whole)} tasks; {len(both) - other} of the tasks "
        "above have its settings"
    )


def anchor(heading: str) -> str:
    """Return the link to a heading of the same page."""
    words = re.sub(r"[^a-z0-9 -]", "", heading.lstrip("# ").lower())
    return f"#{words.replace(' ', '-')}"


def number(count: int, of: str) -> str:
    """For example "1 data set", or "2 data sets"."""
    return f"{count} {of}" + ("s" if count != 1 else "")


def open_lines(lines: Sequence[str]) -> list[str]:
    """Return the list entries on observations without an explanation, each once."""
    return list(dict.fromkeys(line for line in lines if IS_OPEN.match(line)))


def referred(lines: Sequence[str]) -> list[str]:
    """Return the lines with a link in place of the entries of `open_lines`, which the report lists in one place."""
    kept: list[str] = []
    for is_open, group in groupby(lines, lambda line: bool(IS_OPEN.match(line))):
        found = list(group)
        link = (
            f"- {number(len(found), 'observation')} without an explanation: see [the list]({anchor(OPEN)})."
        )
        kept += [link] if is_open else found
    return kept


def header(recorded: dict[str, Any], experiment: ModuleType, preset: Preset) -> list[str]:
    """What was run, how much of it, where and how long."""
    made = recorded["environment"]
    seconds = [each["result"]["seconds"] for each in recorded["results"]]
    lines = [f"`{made['command']}`", "", experiment.WHAT.strip(), ""]
    if preset.thinner:
        lines += [
            f"The preset *{recorded['preset']}* is less than the paper:",
            "",
            *bullets(preset.thinner),
            "",
        ]
    count = len(recorded["results"])
    lines.append(
        f"{count} tasks took {sum(seconds) / 3600:.2f} hours in total, on a machine with {made['cores']} cores. On "
        f"{MANY} such cores they would take {at_best(seconds, MANY) / 60:.0f} minutes at least; the longest task took "
        f"{max(seconds) / 60:.0f} minutes. {_versions(made)}."
    )
    of = "these tasks"
    while "begun" in made:  # a run that went on from another may be gone on from
        after, made = made, made["begun"]
        if any(made[what] != after[what] for what in ("command", "versions")):
            lines.append(
                f"Of {of} {made['taken']} are from an earlier run, `{made['command']}`. {_versions(made)}."
            )
        elif of == "these tasks":
            lines.append(
                f"Of {of} {made['taken']} are from earlier runs, by the same command with the same versions. The code "
                "may have changed in between."
            )
        of = "that run's tasks"
    return lines


def at_best(seconds: Sequence[float], cores: int) -> float:
    """Return the least time of some tasks: an equal share for each core, or the longest task if that is more."""
    return max(sum(seconds) / cores, *seconds)


def _versions(made: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in made["versions"].items())


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown; columns of numbers to the right. A bar in a cell, as of a norm, is no border."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    columns = list(zip(*cells, strict=True)) or [()] * len(head)
    numbers = [all(cell[:1] in "0123456789-" for cell in column) for column in columns]
    lines = [
        "| " + " | ".join(name.replace("|", "\\|") for name in head) + " |",
        "|" + "|".join("---:" if right else "---" for right in numbers) + "|",
    ]
    return lines + ["| " + " | ".join(row) + " |" for row in cells]


def counted(values: Iterable[object]) -> str:
    """The distinct values, the most frequent first, with how often each occurs."""
    return ", ".join(f"{value} ({count})" for value, count in Counter(map(str, values)).most_common())


def listed(said: Sequence[str], between: str = "; ") -> str:
    """For the end of a sentence: a colon and the parts; nothing without a part."""
    return f": {between.join(said)}" if said else ""


def bullets(sentences: Iterable[str]) -> list[str]:
    """A list in Markdown."""
    return [f"- {sentence}" for sentence in sentences]


def grouped(results: Results) -> Groups:
    """The results by data set and method, in the order of their splits; split: which it is of."""
    groups: Groups = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        groups.setdefault(task.data, {}).setdefault(task.method, []).append({**result, "split": task.split})
    return groups
