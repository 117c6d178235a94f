"""The report of a run: Markdown, a picture, and the results it was made from. Its words are in words/page.toml."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from validation.experiments.statistics import Mean
from validation.experiments.tasks import Preset, Result, Task, as_stored, write
from validation.experiments.verdicts import Answer
from validation.experiments.words import Words

WORDS = Words("page")
PACKAGES = ("cvxml", "numpy", "scipy", "scikit-learn", "joblib")
OPEN, IN_DETAIL = WORDS("open"), WORDS("in_detail")
IS_OPEN = re.compile(r"- .*[:;] open\b")
SIDE = re.compile(r": (above|below) the paper's")
KINDS = {  # of open observations
    ": contradicted on": "contradiction",
    ": undecided on": "undecided only because a difference must exceed one point",
}
FEW = 2  # open figures that the first screen names
MANY = 100  # cores, of more than one machine
Results = list[tuple[Task, Result]]
Used = Callable[[str, dict[str, Any]], dict[str, Any]]  # (method, settings) -> those that change the result
Groups = dict[str, dict[str, list[Result]]]  # data -> method -> the results in the order of the splits


class Short(NamedTuple):
    """The first screen of an experiment, and its counts in detail, which are below the picture."""

    conclusion: (
        str  # whether the paper's claim holds; the end of the sentence is the share of the tasks that was run
    )
    result: str
    against: str
    all_results: str
    all_against: str


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
    used: Used | None = None,
) -> dict[str, Any]:
    """Everything the report is made from, for JSON: with the command, the versions and the size of the machine.

    begun: the record of another run that some of the results are taken from. used: the settings of a task that change
    its result; None: all.
    """
    chosen = ["--only", ",".join(only)] if only else []
    made = {
        "command": shlex.join(["python", "-m", "validation.experiments", name, "--preset", preset, *chosen]),
        "versions": {"python": platform.python_version()} | {each: version(each) for each in PACKAGES},
        "cores": os.cpu_count(),
    }
    if begun is not None:
        of = used or every_setting
        theirs = {task.key: (of(task.method, task.settings), result) for task, result in results_of(begun)}
        taken = sum(
            theirs.get(task.key) == (as_stored(of(task.method, task.settings)), result)
            for task, result in results
        )
        made["begun"] = {**begun["environment"], "taken": taken}
    kept = [{**task._asdict(), "result": result} for task, result in results]
    return {"experiment": name, "preset": preset, "environment": made, "results": kept}


def results_of(recorded: dict[str, Any]) -> Results:
    """The inverse of `record`."""
    fields = ("data", "method", "split", "settings")
    return [(Task(*(each[name] for name in fields)), each["result"]) for each in recorded["results"]]


def write_report(recorded: dict[str, Any], experiment: ModuleType, folder: Path, stem: str) -> Path:
    """STEM.md, STEM.png and STEM.json in a folder; returns the first."""
    from matplotlib.figure import Figure

    preset, results = experiment.PRESETS[recorded["preset"]], results_of(recorded)
    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(layout="constrained")
    experiment.draw(results, preset, figure)
    figure.savefig(folder / f"{stem}.png", dpi=110)
    write(folder / f"{stem}.md", "\n".join([*report(recorded, experiment, preset, stem), ""]))
    write(folder / f"{stem}.json", json.dumps(recorded, indent=1) + "\n")
    return folder / f"{stem}.md"


def report(recorded: dict[str, Any], experiment: ModuleType, preset: Preset, stem: str) -> list[str]:
    """Return the lines of the page: the conclusion, question, run, result, contradictions, open questions first."""
    results, made = results_of(recorded), recorded["environment"]
    short: Short = experiment.short(results, preset)
    parts: Parts = experiment.parts(results, preset)
    unexplained = open_lines(parts.lines)
    what = experiment.WHAT.strip()
    seconds = [result["seconds"] for _, result in results]
    lines = WORDS.block(
        "report",
        title=experiment.TITLE,
        stem=stem,
        conclusion=short.conclusion,
        sure=sure(recorded["preset"], results, experiment),
        question=experiment.QUESTION,
        run=shares(recorded["preset"], results, experiment),
        anchor=anchor(IN_DETAIL),
        less=less_than_the_paper(results, experiment, preset),
        brief=listed([each["brief"] for each in departures(results, experiment) if "brief" in each]),
        result=short.result,
        against=short.against,
        in_detail=IN_DETAIL,
        every_task=of_full(recorded["preset"], results, experiment),
        departures=all_departures(results, experiment),
        all_results=short.all_results,
        all_against=short.all_against,
        unexplained=said_of_open(unexplained, experiment),
        list=WORDS("list", anchor=anchor(OPEN)) if unexplained else "",
        new_points=WORDS("new_points") if "new points" in " ".join(short[:3]).lower() else "",
        tests=[WORDS("tests")] if "new points" in " ".join(short).lower() else [],
        tables=referred(parts.tables),
        verdicts=referred(parts.verdicts),
        unexplained_list=[OPEN, "", *unexplained] if unexplained else [],
        details=referred(parts.details),
        command=made["command"],
        what=what,
        thinner=[WORDS("thinner", preset=recorded["preset"]), "", *bullets(preset.thinner)]
        if preset.thinner
        else [],
        count=len(results),
        hours=sum(seconds) / 3600,
        machines=machines(made),
        many=MANY,
        at_best=at_best(seconds, MANY) / 60,
        longest=max(seconds) / 60,
        versions=versions(made),
        begun=begun(made, len(results)),
        looks=[WORDS("looks")] if any("`looks.py`" in line for line in (what, *parts.lines)) else [],
        missing=list(parts.run),
    )
    return [part for line in lines for part in line.split("\n")]


def said_of_open(unexplained: Sequence[str], experiment: ModuleType) -> str:
    """Return what is open: contradictions and undecided verdicts, which are counted, and figures, which are named."""
    marked = {kind: sum(mark in line for line in unexplained) for mark, kind in KINDS.items()}
    kinds = [
        number(count, name) if name == KINDS[": contradicted on"] else f"{count} {name}"
        for name, count in marked.items()
        if count
    ]
    one, several = getattr(experiment, "FIGURES", ("observation", "observations"))
    by_side: dict[str, list[str]] = {}
    for line in unexplained:
        if not any(mark in line for mark in KINDS):
            side = found[1] if (found := SIDE.search(line)) else "unlike"
            by_side.setdefault(side, []).append(line[2:].split(":")[0].split(", k = ")[0])
    figures: dict[str, str] = {}  # the second side without the words of the first
    for side, names in sorted(by_side.items()):
        kind = side if figures else (one if len(names) == 1 else several).format(side=side)
        figures[f"{len(names)} {kind}"] = listed(names) if len(names) <= FEW else ""
    each = getattr(experiment, "EACH", "") if kinds and len(unexplained) > 1 else ""
    if len(kinds) + len(figures) > 1:
        what = number(len(unexplained), "observation")
        subjects = listed([*kinds, *(f"{what}{names}" for what, names in figures.items())])
    else:
        what = kinds[0] if kinds else next(iter(figures), f"0 {several.format(side='unlike')}")
        subjects = "".join(figures.values())
    return WORDS("without", what=what, each=WORDS("each", each=each) if each else "", subjects=subjects)


def shares(name: str, results: Results, experiment: ModuleType) -> str:
    """Return how many tasks of a preset were run, and on how many sets."""
    wanted, count = len(experiment.tasks(experiment.PRESETS[name])), len(results)
    return WORDS(
        "run",
        part=f"All {wanted}" if count == wanted else f"{count} of the {wanted}",
        preset=name,
        sets=sets_run(names := {task.data for task, _ in results})
        + getattr(experiment, "sets_said", no_more)(names),
    )


def sure(name: str, results: Results, experiment: ModuleType) -> str:
    """Return the end of the conclusion: the share of the tasks of a preset that it is about."""
    preset: Preset = experiment.PRESETS[name]
    wanted, count, smaller = len(experiment.tasks(preset)), len(results), preset.smaller
    return WORDS(
        "sure",
        part="all" if count == wanted else f"{100 * count / wanted:.0f} % of the",
        preset="" if name == "full" else WORDS("smaller", smaller=f" ({smaller})" if smaller else ""),
    )


def of_full(name: str, results: Results, experiment: ModuleType) -> str:
    """Return how many of the tasks that were run are also tasks of *full*, nearest to the paper."""
    if name == "full":
        return ""
    used: Used = getattr(experiment, "used", every_setting)
    whole = {
        task.key: as_stored(used(task.method, task.settings))
        for task in experiment.tasks(experiment.PRESETS["full"])
    }
    same = sum(whole.get(task.key) == as_stored(used(task.method, task.settings)) for task, _ in results)
    return WORDS(
        "full",
        whole=len(whole),
        same=number(same, "task") if same else "No task",
        have="have" if same > 1 else "has",
        concern=WORDS("concern") if hasattr(experiment, "used") else "",
    )


def every_setting(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a task, all of which may change its result."""
    return settings


def no_more(names: Collection[str]) -> str:
    """Return what an experiment adds to the number of its data sets, if it has no `sets_said`: nothing."""
    return ""


def sets_run(names: Collection[str]) -> str:
    """For example "8 data sets, 5 of them also z-scored"; a single variant is left out.

    The name of a variant begins with that of its set.
    """
    variants = {
        name: name.removeprefix(f"{other} ")
        for name in names
        for other in names
        if name.startswith(f"{other} ")
    }
    said = number(len(names) - len(variants), "data set")
    return (
        f"{said}, {len(variants)} of them also {', '.join(sorted(set(variants.values())))}"
        if len(variants) > 1
        else said
    )


def departures(results: Results, experiment: ModuleType) -> list[dict[str, Any]]:
    """Return how the data and methods differ from the paper's in every preset, for the sets that were run."""
    run = {task.data for task, _ in results}
    every: Sequence[dict[str, Any]] = getattr(experiment, "DEPARTURES", ())
    return [each for each in every if not each.get("sets") or run & set(each["sets"])]


def all_departures(results: Results, experiment: ModuleType) -> str:
    """Return the sentence on them; nothing if there are none."""
    said = [each["said"] for each in departures(results, experiment)]
    return WORDS("departures", said="; ".join(said)) if said else ""


def less_than_the_paper(results: Results, experiment: ModuleType, preset: Preset) -> str:
    """Return how many restrictions the preset has, and how many departures there are besides."""
    apart = len(departures(results, experiment))
    besides = f", {number(apart, 'departure')}" if apart else ""
    return f"{number(len(preset.thinner), 'restriction')}{besides}"


def answered(found: Answer) -> str:
    """Return the verb of a conclusion, for example "mostly holds"."""
    return WORDS(f"answers.{found}")


def joint(counts: Sequence[tuple[int, int]]) -> str:
    """Return counts of several solvers: "5 of 9" if all are equal, else "5 and 6 of 9", or "5 of 9 and 6 of 8"."""
    if len({of for _, of in counts}) > 1:
        return " and ".join(f"{count} of {of}" for count, of in counts)
    return " and ".join(dict.fromkeys(str(count) for count, _ in counts)) + f" of {counts[0][1]}"


def named(names: Sequence[str], most: int = 2) -> str:
    """Return the names of a few data sets, or the number of many."""
    return " and ".join(names) if len(names) <= most else number(len(names), "set")


def nested(first: str, points: Sequence[str]) -> str:
    """Return a sentence of the first screen with a list below it."""
    return "\n  - ".join([first, *points])


def begun(made: dict[str, Any], count: int) -> list[str]:
    """Return which of `count` tasks are from earlier runs: a run that went on from another may be gone on from."""
    if "begun" not in made:
        return []
    before = made["begun"]
    rest = WORDS("rest", rest=count - before["taken"]) if before["taken"] < count else ""
    given = {"taken": before["taken"], "rest": rest}
    if not same_run(made, before):
        return [WORDS("other_run", command=before["command"], versions=versions(before), **given)]
    apart, last = [], before
    while "begun" in last:
        after, last = last, last["begun"]
        if not same_run(after, last):
            own = {name: last["versions"][name] for name in last["versions"] if name in changed(made, last)}
            said = ", ".join(f"{name} {number}" for name, number in own.items())
            apart.append(
                WORDS(
                    "deeper",
                    taken=last["taken"],
                    command=last["command"],
                    versions=said or "the versions above",
                )
            )
    return [WORDS("same_run", but=WORDS("but") if apart else "", **given), *apart]


def same_run(made: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether two runs have the same command and versions."""
    return all(before[what] == made[what] for what in ("command", "versions"))


def changed(made: dict[str, Any], before: dict[str, Any]) -> set[str]:
    """Return the packages of which an earlier run had another version."""
    return {name for name, version in before["versions"].items() if made["versions"].get(name) != version}


def machines(made: dict[str, Any]) -> str:
    """Return the cores of the machine of a run, or of those of all runs that it went on from."""
    cores = {made["cores"]}
    several = "begun" in made
    while "begun" in made:
        made = made["begun"]
        cores.add(made.get("cores", 0))
    return WORDS("machines" if several else "machine", cores=either(cores))


def versions(made: dict[str, Any]) -> str:
    """Return the versions of a run."""
    return ", ".join(f"{name} {number}" for name, number in made["versions"].items())


def at_best(seconds: Sequence[float], cores: int) -> float:
    """Return the least time of some tasks: an equal share for each core, or the longest task if that is more."""
    return max(sum(seconds) / cores, *seconds)


def anchor(heading: str) -> str:
    """Return the link to a heading of the same page."""
    words = re.sub(r"[^a-z0-9 -]", "", heading.lstrip("# ").lower())
    return f"#{words.replace(' ', '-')}"


def open_lines(lines: Sequence[str]) -> list[str]:
    """Return the list entries on observations without an explanation, each once."""
    return list(dict.fromkeys(line for line in lines if IS_OPEN.match(line)))


def referred(lines: Sequence[str]) -> list[str]:
    """Return the lines with a link in place of the entries of `open_lines`, which the report lists in one place."""
    kept: list[str] = []
    for is_open, group in groupby(lines, lambda line: bool(IS_OPEN.match(line))):
        found = list(group)
        link = WORDS("link", count=number(len(found), "observation"), anchor=anchor(OPEN))
        kept += [link] if is_open else found
    return kept


# --- tables, lists and curves of all reports


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


def crossed(
    corner: str, rows: Iterable[str], columns: Sequence[str], cell: Callable[[str, str], object]
) -> list[str]:
    """A table with the names of the rows on the left and those of the columns above; cell(row, column)."""
    return table([corner, *columns], [[row, *(cell(row, column) for column in columns)] for row in rows])


def counted(values: Iterable[object]) -> str:
    """The distinct values, the most frequent first, with how often each occurs."""
    return ", ".join(f"{value} ({count})" for value, count in Counter(map(str, values)).most_common())


def number(count: int, of: str) -> str:
    """For example "1 data set", or "2 data sets"."""
    return f"{count} {of}" + ("s" if count != 1 else "")


def listed(said: Sequence[str], between: str = "; ") -> str:
    """For the end of a sentence: a colon and the parts; nothing without a part."""
    return f": {between.join(said)}" if said else ""


def enumerated(names: Sequence[str]) -> str:
    """With *and*, quoted where they have a comma of their own."""
    each = [f'"{name}"' if "," in name else name for name in names]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def either(values: Iterable[object]) -> str:
    """The sorted values in words, the last with *or*."""
    each = [str(value) for value in sorted(set(values))]  # type: ignore[type-var]
    return " or ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def bullets(sentences: Iterable[str]) -> list[str]:
    """A list in Markdown."""
    return [f"- {sentence}" for sentence in sentences]


def grouped(results: Results) -> Groups:
    """The results by data set and method, in the order of their splits; split: which it is of."""
    groups: Groups = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        groups.setdefault(task.data, {}).setdefault(task.method, []).append({**result, "split": task.split})
    return groups


def with_bars(axes: Any, places: Iterable[float], means: Iterable[Mean], errors: float, **style: Any) -> None:
    """Draw means in per cent, with bars of so many standard errors."""
    found = list(means)
    heights, bars = [100 * each.value for each in found], [100 * errors * each.error for each in found]
    axes.errorbar(list(places), heights, bars, **style)
