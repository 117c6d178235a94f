"""The committed reports are whole, are what their records say, and some of their numbers are computed again."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from cvxml import datasets
from validation.experiments import __main__ as command
from validation.experiments import looks, packaged, page, run, table1_claims, table1_looks, tasks, words
from validation.experiments.words import QUOTED, Words

pytestmark = pytest.mark.slow  # the largest report takes 10 s
FOLDER = Path(command.__file__).with_name("reports")
RECORDS = sorted(FOLDER.glob("*.json"))
AGAIN = {  # a few tasks of little work, by the names of their files
    "mlsvm-full": (
        *("iris/MLSVM/000", "wine/MLSVM per class/003", "heart/kNN/009", "iris/MLSVM in hindsight/002"),
        *("iris/SVM/000", "iris/LMNN/000", "wine/ITML/000"),
        *("iris/Crammer-Singer/000", "wine/MCML/003", "iris/MLSVM printed/001"),
    ),
    "table1-full": (
        *("office_dslr/Euclidean/002", "office_dslr/ITML/003", "office_webcam/Euclidean/001"),
        *("letter/Euclidean/001", "usps/Euclidean/000"),
    ),
    "glml-reduced": (
        *("wine/generative/007", "wine/ITML/011", "wine/LMNN/002", "ionosphere/DML-eig/000"),
        *("spoken/generative/003", "wine/densities/005", "german_ida/densities/001"),
    ),
    "glml-full": (
        "wine/generative/001",
        "wine z-scored/ITML/002",
        "wine/DML-eig/000",
        "wine/GLML, mixtures/003",
    ),
    "synthetic-full": (
        *("mixtures/generative/001", "gaussians 20/generative/000", "gaussians 5/ITML/000"),
        *("mixtures/DML-eig/000", "mixtures/GLML, mixtures/000", "mixtures/densities/002"),
    ),
    "nca-full": (
        "wine/g/003",
        "iris/stopped 2/001",
        "ionosphere/half/005",
        "wine/MMC/002",
        "iris/chunklets/004",
    ),
    "nca-reduced": ("wine/NCA/000", "iris/NCA 2/001", "ionosphere/RCA/005", "rings/LDA 2/003"),
}
# where the last digits of a matrix product choose where a run ends, these facts of it are the same all the same
CHAOTIC = {
    "table1-full": {
        "office_dslr/ours k=3/000": ("test", "start", "weight", "edge"),
        "office_dslr/LMNN/001": ("test", "weight", "edge"),
    },
}
# minutes each: `python -m validation.experiments.looks` computes them, these tests do not
LONG = (
    *table1_looks.LONG,
    *(f"spoken, open grids, {size} a class" for size in (100, 270)),
    "spoken, 270 a class",
)
assert RECORDS
every_record = pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)


def record(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def to_six_digits(value: Any) -> Any:
    """Without the seconds, the gaps and what was left to win, which are rounding in part."""
    if isinstance(value, dict):
        without = ("seconds", "fit_seconds", "rel_gap", "gap", "left")
        return {k: to_six_digits(v) for k, v in value.items() if k not in without}
    if isinstance(value, (list, tuple)):
        return [to_six_digits(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def at_hand(data: str) -> bool:
    """Whether the package is installed, of a set that comes with one."""
    return data not in packaged.PACKAGES or data in packaged.names()


@every_record
def test_a_report_is_of_the_whole_preset(path: Path) -> None:
    """Of *full* it may be a part, as far as the machines went."""
    recorded = record(path)
    experiment = command.of(recorded["experiment"])
    wanted = {
        task.key: tasks.as_stored(task.settings)
        for task in experiment.tasks(experiment.PRESETS[recorded["preset"]])
    }
    found = {task.key: task.settings for task, _ in page.results_of(recorded)}
    assert path.stem == f"{recorded['experiment']}-{recorded['preset']}"
    if recorded["preset"] == "full":
        wanted = {key: settings for key, settings in wanted.items() if key in found}
    assert found == wanted
    assert "--only" not in recorded["environment"]["command"]


@pytest.mark.quick(1)
@every_record
def test_a_report_is_what_its_record_says(path: Path, tmp_path: Path) -> None:
    recorded = record(path)
    made = page.write_report(recorded, command.of(recorded["experiment"]), tmp_path, path.stem)
    assert made.read_text(encoding="utf-8") == path.with_suffix(".md").read_text(encoding="utf-8")
    assert path.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"


ANSWERS: dict[str, str] = Words("page").found["answers"]  # from the best for a claim to the worst


def parts_of(stem: str) -> tuple[str, str, str]:
    """A report in three: the first screen, the details that it leaves out, and the tables."""
    first, rest = (FOLDER / f"{stem}.md").read_text(encoding="utf-8").split("\n\n![", 1)
    details, tables = rest.split(f"\n{page.IN_DETAIL}\n")[1].split("\n## ", 1)
    return first, details, f"\n## {tables}"


def screen_of(stem: str) -> dict[str, str]:
    """The sentences of the first screen of a report, by their names."""
    return named_in(parts_of(stem)[0])


def sentences_of(stem: str) -> tuple[dict[str, str], str]:
    """The details that the first screen leaves out, by the names of its sentences, each with its list; the tables."""
    _, details, tables = parts_of(stem)
    return named_in(details), tables


def named_in(text: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("- **"):
            name, said = line.split("**", 2)[1:]
            named[name.rstrip(".")] = said
        elif line.startswith("  - "):
            named[next(reversed(named))] += f"\n{line[4:]}"
    return named


def holds(supported: int, contradicted: int, of: int) -> str:
    """How far a claim holds, in the words of the conclusions."""
    if supported == of:
        return ANSWERS["yes"]
    if supported > of - supported:
        return ANSWERS["mostly"]
    return ANSWERS["no" if contradicted > supported else "in part" if supported else "undecided"]


def worst_of(found: list[str]) -> str:
    return max(found, key=list(ANSWERS.values()).index)


def answers_in(text: str) -> list[str]:
    """Every answer in a text, in its order."""
    longest = sorted(ANSWERS.values(), key=len, reverse=True)
    return re.findall("|".join(map(re.escape, longest)), text)


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"(?<![\w.])\d+(?![\w.]*\w)", text)]


@every_record
def test_a_first_screen_is_read_in_a_minute(path: Path) -> None:
    first, _, _ = parts_of(path.stem)
    said = screen_of(path.stem)
    assert list(said) == ["In short", "Question", "Run", "Result", "Contradictions", "Open"]
    assert len(first.split()) <= 260
    assert len(said["In short"].split()) <= 60
    assert first.count("*new points*") == ("new points" in first.replace("*new points*", ""))
    assert first.find("new points") == first.find("*new points*") + (
        "*new points*" in first
    )  # said before it is used


@every_record
def test_the_numbers_of_tasks_are_those_of_the_record_and_of_the_presets(path: Path) -> None:
    said, (details, rest) = screen_of(path.stem), sentences_of(path.stem)
    recorded = record(path)
    experiment, results = command.of(recorded["experiment"]), page.results_of(recorded)
    wanted, full = (
        {task.key: tasks.as_stored(task.settings) for task in experiment.tasks(experiment.PRESETS[preset])}
        for preset in (recorded["preset"], "full")
    )
    keys = {task.key: task.settings for task, _ in results}
    share = [len(wanted)] if len(keys) < len(wanted) else []
    part = round(100 * len(keys) / len(wanted))
    names = {task.data for task, _ in results}
    variants = [name for name in names if any(name.startswith(f"{other} ") for other in names)]
    counts = [len(keys), *share, len(names) - len(variants)]
    counts += [len(variants)] if len(variants) > 1 else []
    of_full, _, besides = re.sub(r"\*[^*]*\*", "", details["Run"]).partition(" Departures: ")
    used = getattr(experiment, "used", lambda _, settings: settings)
    equal = sum(
        used(task.method, task.settings) == used(task.method, full[task.key])
        for task, _ in results
        if task.key in full
    )
    same = [len(full), equal] if equal else [len(full)]
    assert ("No task of this run has" in of_full) == (equal == 0)
    assert numbers(of_full) == (same if recorded["preset"] != "full" else [])
    restrictions = rest.split("is less than the paper:\n\n")[1].split("\n\n")[0].splitlines()
    apart = [len(restrictions), *([len(besides.split("; "))] if besides else [])]
    counts += [5, 20, 50, 100] if path.stem == "synthetic-full" else []  # the dimensions
    assert numbers(re.sub(r"\*[^*]*\*", "", said["Run"]).split("](")[0]) == [*counts, *apart]
    assert bool(besides) == bool(experiment.DEPARTURES)
    assert re.findall(r"; ([^;]*) tasks\b[^;]* run\.$", said["In short"]) == [
        f"{part} % of the" if share else "all"
    ]
    assert ("smaller preset" in said["In short"]) == (recorded["preset"] != "full")


@every_record
def test_open_observations_stand_once_and_are_named_or_counted_at_the_start(path: Path) -> None:
    said, (_, rest) = screen_of(path.stem), sentences_of(path.stem)
    listed = rest.split(f"{page.OPEN}\n\n")[1].split("\n\n")[0].splitlines()
    kinds = [re.search(": (contradicted|undecided) on", line) for line in listed]
    sides = [re.search(": (above|below) the paper's", line) for line in listed]
    of_kinds = Counter(
        found[1] if found else side[1] if side else "figure" for found, side in zip(kinds, sides, strict=True)
    )
    every_kind = ("contradicted", "undecided", "above", "below", "figure")
    counts = [of_kinds[kind] for kind in every_kind if of_kinds[kind]] or [0]
    assert (
        numbers(re.sub(r"\([^)]*\)", "", said["Open"])) == ([len(listed)] if len(counts) > 1 else []) + counts
    )
    assert [line for line in rest.splitlines() if re.match(r"- .*[:;] open\b", line)] == listed
    assert len(set(listed)) == len(listed)
    for mark, kind in (
        (": contradicted on", "contradiction"),
        (": undecided on", "undecided only because"),
    ):
        count = sum(mark in line for line in listed)
        assert re.findall(rf" (\d+) {kind}", said["Open"]) == ([str(count)] if count else [])
    others = [
        re.split("(?:, k = .*?)?:", line[2:])[0]
        for line in listed
        if not re.search(": (contradicted|undecided) on", line)
    ]
    few = {side for side in ("above", "below") if of_kinds[side] <= page.FEW}
    named = [name for name in others if name in said["Open"]]
    assert named == [
        re.split("(?:, k = .*?)?:", line[2:])[0]
        for line, side in zip(listed, sides, strict=True)
        if side and side[1] in few
    ]


@every_record
def test_links_within_a_report_lead_to_headings(path: Path) -> None:
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    headings = {page.anchor(line) for line in text.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\((#[^)]*)\)", text)) <= headings


# --- the sentence on the result, counted again from the tables


def columns_below(text: str, heading: str, *columns: str) -> list[list[str]]:
    """Some columns of the first table after a heading, cell by cell."""
    lines = text.split(f"\n{heading}\n", 1)[1].splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("|"))
    table = takewhile(lambda line: line[:1] == "|", lines[start:])
    head, _, *rows = (re.split(r" ?(?<!\\)\| ?", line)[1:-1] for line in table)
    return [[row[head.index(column)] for row in rows] for column in columns]


def value(cell: str) -> float:
    return float(cell.split()[0])


def kinds_of(text: str) -> Counter[str]:
    """ "supported (3)" as a count."""
    return Counter({name: int(count) for name, count in re.findall(r"(\w[\w ]*) \((\d+)\)", text)})


def sets_by_kind(cell: str) -> dict[str, list[str]]:
    """ "supported: wine, iris; undecided: usps" as lists."""
    parts = (part.split(": ") for part in cell.split("; ") if part)
    return {kind: names.split(", ") for kind, names in parts}


def points_of(said: str) -> list[str]:
    """The list below a sentence."""
    return said.split("\n")[1:]


def test_the_result_of_mlsvm_is_that_of_its_tables() -> None:
    said, rest = sentences_of("mlsvm-full")
    names = ("kNN", "LMNN", "ITML", "Crammer-Singer", "MLSVM")
    best, better, lower, near = points_of(said["Result"])
    # the best models, here and in the paper
    here, paper = (
        Counter(name for cell in column for name in cell.split(", "))
        for column in columns_below(rest, "## The best models", "the paper's models", "the paper")
    )
    paper["Crammer-Singer"] = paper.pop("SVM")
    assert paper["kNN"] == 0  # Table 2 does not have it
    in_paper = {name: "not in it" if name == "kNN" else paper[name] for name in names}
    assert all(f"{name} {here[name]} ({in_paper[name]})" in best for name in names)
    # the letters of each comparison: the paper's own test, with Holm, for new points
    parts = rest.split("## What becomes of the paper's claims")[1].split("\n### ")[0].split("\n**")[1:]
    (column,) = columns_below(rest, "**" + parts[0].split("\n")[0], "MLSVM")
    letters = [cell.split()[-1] for cell in column]
    by_test = [[each[at] for each in letters] for at in range(3)]
    assert numbers(better) == [test.count(kind) for test in by_test for kind in "SC"]
    # the mean errors
    data, *columns, printed = columns_below(
        rest, "## Errors, in per cent", "data", *names, "best in the paper"
    )
    errors = [dict(zip(names, map(value, row), strict=True)) for row in zip(*columns, strict=True)]
    below = [[row["Crammer-Singer"] < row[name] for name in ("MLSVM", "ITML", "LMNN")] for row in errors]
    assert numbers(lower) == [sum(each[0] for each in below), 9, sum(map(all, below))]
    apart: dict[str, list[str]] = {"near": [], "lower": [], "higher": []}
    for name, cell, figure in zip(data, columns[-1], printed, strict=True):
        apart["near" if "*" not in cell else "lower" if value(cell) < value(figure) else "higher"].append(
            name
        )
    assert numbers(near) == [len(apart["near"])]
    assert f"({', '.join(apart['near'])})" in near
    assert near.endswith(f"lower on {', '.join(apart['lower'])}, and higher on {', '.join(apart['higher'])}.")
    # contradictions
    codes = [re.findall(r"\) ([SCU]{3})\b", part) for part in parts]
    own = [(sum(c[0] == "C" for c in each), len(each), sum(c[0] == "S" for c in each)) for each in codes]
    every = points_of(said["Contradictions"])
    assert [tuple(numbers(line)) for line in every[:4]] == own
    assert all(count for count, _, _ in own)
    assert "contradict all 4 sentences" in said["Contradictions"]
    totals = [sum(code[at] == "C" for each in codes for code in each) for at in (1, 0, 2)]
    pairs = pairs_of(parts)
    against = [{pair for pair, codes in pairs if codes[at] == "C"} for at in range(3)]
    assert numbers(every[4]) == [
        *totals,
        totals[1],
        len(against[0]),
        len({pair for pair, _ in pairs}),
        len(against[1]),
    ]
    always = [name for name in names if here[name] == 9]
    assert f"(here {', '.join(always)})" in every[5]
    assert f"MLSVM {here['MLSVM']}, ITML {here['ITML']}, LMNN {here['LMNN']} sets" in every[5]
    # the first screen
    screen = screen_of("mlsvm-full")
    (rival,) = (name for name in names[:-1] if here[name] == max(here[each] for each in names[:-1]))
    assert rival in screen["In short"]
    own_test = by_test[0]
    shown = [
        here["MLSVM"],
        9,
        paper["MLSVM"],
        here[rival],
        paper[rival],
        own_test.count("S"),
        own_test.count("C"),
    ]
    assert numbers(screen["In short"]) == shown
    worse = [name for name, code in zip(data, own_test, strict=True) if code == "C"]
    assert f"({', '.join(worse)})" in screen["In short"]
    assert answers_in(screen["In short"]) == [holds(here["MLSVM"], 9 - here["MLSVM"], 9)]
    assert all(
        f"{name} {here[name]} ({in_paper[name]})" in screen["Result"] for name in ("ITML", "LMNN", "kNN")
    )
    assert numbers(screen["Result"])[-3:] == [len(apart[name]) for name in ("near", "lower", "higher")]
    counts = [number for contrary, count, support in own for number in (contrary, support, count)]
    different = [len(against[0]), len({pair for pair, _ in pairs}), len(against[1]), len(against[2])]
    assert numbers(screen["Contradictions"].replace("/", " ")) == [len(own), *counts, totals[1], *different]
    assert screen["Contradictions"].split(". ")[1].count('"') == every[5].count('"')
    # every contradiction is open, in one entry for each sentence
    listed = rest.split(f"{page.OPEN}\n\n")[1].split("\n\n")[0].splitlines()
    entries = [line for line in listed if ": contradicted on" in line]
    assert [len(re.findall(r"\w+ \([\w-]+\)", line)) for line in entries] == [count for count, _, _ in own]


def pairs_of(parts: list[str]) -> list[tuple[tuple[str, ...], str]]:
    """Of the tables of MLSVM's sentences: a set with both methods, and the letters of their comparison."""
    found = []
    for part in parts:
        data, *columns = columns_below("\n**" + part, "**" + part.split("\n")[0], "data", *heads_of(part))
        for name, column in zip(heads_of(part), columns, strict=True):
            both = ("kNN", name) if "improved the KNN" in part else ("MLSVM", name)
            found += [
                ((of, *sorted(both)), cell.split()[-1]) for of, cell in zip(data, column, strict=True) if cell
            ]
    return found


def heads_of(part: str) -> list[str]:
    """The columns of the first table."""
    head = next(line for line in part.splitlines() if line.startswith("| data |"))
    return head.strip("| ").split(" | ")[1:]


def test_the_result_of_table_1_is_that_of_its_tables() -> None:
    said, rest = sentences_of("table1-full")
    errors, verdicts = rest.split("## What becomes of the paper's claims")
    claimed_ks = table1_claims.KS
    less, absent, cells, differ, others = points_of(said["Result"])
    # ours before the others; in brackets the comparisons with a cell that is not the paper's
    every = re.findall(r"\*\*The paper: (.*?)\.\*\* (\d+) comparisons: ([^.]*)\.", verdicts)
    rows = re.findall(r"^\| before (\w+) \| (\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", verdicts, flags=re.M)
    half = len(rows) // 2
    counts: dict[str, list[str]] = {"euclid": [], "learnt": [], "agree": [], "more": []}
    for by, own in (("CCCP", rows[:half]), ("SGD", rows[half:])):
        found = {name: [[*numbers(cell), 0][:2] for cell in kinds] for name, _, *kinds in own}
        euclid = found.pop("Euclidean")
        learnt = [sum(kinds[at][0] for kinds in found.values()) for at in range(3)]
        agree = [sum(a - b for a, b in (kinds[at] for kinds in found.values())) for at in range(3)]
        counts["euclid"].append(f"{euclid[0][0]} of {sum(each for each, _ in euclid)} ({by})")
        counts["learnt"].append(f"{learnt[0]} of {sum(learnt)} ({by})")
        counts["agree"].append(f"{agree[0]} of {sum(agree)} ({by})")
        counts["more"].append(f"{euclid[1][0] + learnt[1]} ({by})")
    for name in ("euclid", "learnt", "agree"):
        assert " and ".join(counts[name]) in less
    # every comparison with a learnt metric that decides something, with the folds that both methods have
    folds = {}
    for k in claimed_ks:
        heading = f"## k = {k}: errors in per cent, the paper's in brackets"
        names, *columns = columns_below(rest, heading, f"k = {k}", *table1_claims.SETS)
        for of_set, column in zip(table1_claims.SETS, columns, strict=True):
            for name, cell in zip(names, column, strict=True):
                found_folds = re.findall(r"(\d) of (\d) folds", cell)
                if not cell.startswith("not run"):
                    folds[of_set, name, k] = (int(found_folds[0][0]) if found_folds else 5, cell)
    few: dict[str, list[tuple[str, int]]] = {"CCCP": [], "SGD": []}
    for of_set, solver, other, at, verdict in re.findall(
        r"^\| (\w+): (CCCP|SGD) before (\w+), k = (\d+) \|.*\| (\w+) \|$", verdicts, flags=re.M
    ):
        least = min(folds[of_set, name, int(at)][0] for name in (solver, other))
        if verdict == "supported" and other != "Euclidean" and least < 5:
            few[solver].append((of_set, least))
    assert f"{len(few['CCCP'])} (CCCP) and {len(few['SGD'])} (SGD) are on" in less
    few_sets = {of_set for each in few.values() for of_set, _ in each}
    lacking = sorted({least for each in few.values() for _, least in each})
    (told,) = re.findall(r"ours has ([^;.]*) of 5 folds", less)
    assert numbers(told) == lacking
    assert all(of_set in less for of_set in few_sets)
    # the metrics with an error that is the paper's or below it
    not_above: dict[str, list[int]] = {}
    for by in ("CCCP", "SGD"):
        below = [
            (of_set, other, k)
            for (of_set, other, k), (_, cell) in folds.items()
            if other in ("LMNN", "ITML", "NCA")
            and (of_set, by, k) in folds
            and "points" not in cell
            and (" *" not in cell or value(cell) < float(re.findall(r"\((\d+\.\d+)", cell)[0]))
        ]
        wins = [
            row
            for row in below
            if re.search(
                rf"^\| {row[0]}: {by} before {row[1]}, k = {row[2]} \|.*\| supported \|$",
                verdicts,
                flags=re.M,
            )
        ]
        not_above[by] = [len(wins), len(below)]
    counts["not_above"] = [f"{a} of {b} ({by})" for by, (a, b) in not_above.items()]
    assert " and ".join(counts["not_above"]) in less
    assert f"Significantly more: {', '.join(counts['more'])}." in less
    assert "MLR on all sets" in absent
    assert not any(name == "MLR" for name, *_ in rows)
    assert (
        numbers(cells)[:3]
        == numbers(re.findall(r"^\d+ of the \d+ cells of Table 1 are here.*$", rest, flags=re.M)[0])[:3]
    )
    # every cell with a figure of ours and one of the paper: marked or not, and ours above or not
    lines = [line for line in errors.splitlines() if line.startswith("|")]
    table: dict[str, list[str]] = {}
    for line in lines:
        name, *found = (cell.strip() for cell in line.strip("|").split(" | "))
        table.setdefault(name, []).extend(cell for cell in found if re.match(r"\d.*\(\d", cell))
    ours = ("CCCP", "SGD", "SGD printed")
    for name in ("Euclidean", "LMNN", "ITML", "NCA", "MLR"):
        assert f"{name} {sum(' *' in cell for cell in table[name])} of {len(table[name])}" in differ
    own_cells = [cell for name in ours for cell in table[name]]
    starred = [cell for cell in own_cells if " *" in cell]

    def apart(cell: str) -> float:
        return value(cell) - float(re.findall(r"\((\d+\.\d+)", cell)[0])

    assert (
        f"three solvers {len(starred)} of {len(own_cells)} ({sum(apart(c) < 0 for c in starred)} of these"
        in differ
    )
    assert f" {sum('of 5 folds' in cell for cell in own_cells)} errors of ours lack folds" in differ
    for by in ours[:2]:
        leads = [apart(cell) for cell in table[by]]
        (mean,) = re.findall(
            rf"in {sum(each > 0 for each in leads)} of {len(leads)} errors by {by} \(mean of all {len(leads)}: ([^ ]*)",
            differ,
        )
        assert float(mean) == pytest.approx(sum(leads) / len(leads), abs=0.06)
    # other claims, and contradictions
    claims = {name: (int(total), text) for name, total, text in every}
    for name, (_, text) in claims.items():
        claim, by = name.split(", by ")
        if "others" not in claim:
            assert re.search(rf"{re.escape(claim)}: [^;]*{re.escape(text)} by {by}", others)
    against = {name.split(", by ")[0] for name, (_, text) in claims.items() if kinds_of(text)["contradicted"]}
    worse = [name for k in table1_claims.KS for name in table1_claims.not_best(k)]
    found = numbers(said["Contradictions"])
    assert found[:2] == [len(against), len({name.split(", by ")[0] for name in claims})]
    places = [len(worse), 3 * len(table1_claims.SETS)]
    assert f"than its own in {places[0]} of {places[1]} columns" in said["Contradictions"]
    (only,) = re.findall(
        r"^\| (\w+: SGD before [^|]*) \|[^|]*\|[^|]*\|[^|]*\| contradicted \|$", verdicts, flags=re.M
    )
    by_sgd = kinds_of(claims["ours has less error than the others, by SGD"][1])
    by_cccp = kinds_of(claims["ours has less error than the others, by CCCP"][1])
    in_favour = f"supported in {by_cccp['supported']} (CCCP), {by_sgd['supported']} (SGD)."
    of_set, other, at = re.findall(r"^(\w+): SGD before (\w+), k = (\d+)", only)[0]
    ours_there, theirs = (value(folds[of_set, name, int(at)][1]) for name in ("SGD", other))
    points = f"{of_set}, k = {at}: SGD has {ours_there - theirs:.0f} points more error than {other}"
    compared = sum(by_sgd.values())
    assert f"by SGD in 1 of {compared} ({points}); {in_favour}" in said["Contradictions"]
    assert f"by SGD: contradicted on {points}; open." in rest
    # the first screen; counts: "20 of 20 (CCCP)"
    screen = screen_of("table1-full")
    short = {name: [numbers(each) for each in counts[name]] for name in counts}
    expected = []
    for name in ("euclid", "learnt", "not_above"):
        (of,) = {of for _, of in short[name]}
        expected += [*dict.fromkeys(count for count, _ in short[name]), of]
    assert numbers(screen["In short"])[:-1] == expected
    assert f"(CCCP {short['learnt'][0][0]}, SGD {short['learnt'][1][0]} of" in screen["In short"]
    more = [count for (count,) in short["more"]]
    assert [row[3] for row in rows if row[0] == "Euclidean"] == [
        "0",
        "0",
    ]  # so all of `more` are learnt metrics
    assert answers_in(screen["In short"]) == [
        worst_of([holds(count, 0, of) for count, of in short["euclid"]]),
        worst_of([holds(count, other, of) for (count, of), other in zip(short["learnt"], more, strict=True)]),
    ]
    rivals = [cell for name in ("Euclidean", "LMNN", "ITML", "NCA", "MLR") for cell in table[name]]
    whole = [cell for cell in rivals if "points" not in cell and "axes" not in cell]
    marks = [sum(" *" in cell for cell in of) for of in (rivals, whole, own_cells)]
    lack = sum("of 5 folds" in cell for cell in own_cells)
    assert f"have {marks[0]} such errors of {len(rivals)};" in differ
    assert f"fewer points or axes, {marks[1]} of {len(whole)}." in differ
    assert lack == sum(folds[of_set, name, k][0] < 5 for of_set, name, k in folds if name in ours)
    on_few = [*dict.fromkeys((len(few["CCCP"]), len(few["SGD"])))]  # "15 each" if they are equal
    result = [short["learnt"][0][0], short["learnt"][1][0], *on_few, *lacking, 5]
    assert {(of_set, "SGD", k) for of_set in table1_claims.SETS for k in table1_claims.KS} <= folds.keys()
    result.append(len({of_set for of_set, name, _ in folds if name == "NCA"} & {"isolet", "usps", "letter"}))
    leads_of = {by: [apart(cell) for cell in table[by]] for by in ours[:2]}
    result += [sum(lead > 0 for lead in leads) for leads in leads_of.values()]
    result.append(len(leads_of["SGD"]))
    means_said = " and ".join(f"{sum(leads) / len(leads):+.1f}" for leads in leads_of.values())
    assert f"(mean of all: {means_said} points)" in screen["Result"]
    assert numbers(re.sub(r"\(mean.*\)", "", screen["Result"])) == result
    assert all(of_set in screen["Result"] for of_set in few_sets)
    assert [*few_sets - {*screen["Result"].split(" (ours")[0].replace(",", "").split()}] == []
    found_short = numbers(screen["Contradictions"].split(" Euclidean start")[0].replace(points, ""))
    assert found_short == [1, compared, by_cccp["supported"], by_sgd["supported"], 1, *places]
    assert points in screen["Contradictions"]
    regularizer = rest.split("**The paper: the regularizer tr W is inferior, by SGD.**")[1].split("\n**")[0]
    assert "8 comparisons: no verdict (runs did not end) (8)" in regularizer
    assert "tr W inferior: no verdict (less error in 7 of 8; runs did not end)" in screen["Contradictions"]
    norms = rest.split("**The paper: the regularizer ||W - I||^2 is inferior, by CCCP.**")[1].split("\n**")[0]
    assert {*re.findall(r"^\| (\w+): CCCP", norms, flags=re.M)} == {"office_dslr", "office_webcam"}
    assert "supported (office_dslr and office_webcam only)" in screen["Contradictions"]
    assert "Euclidean start worse: undecided (CCCP), no verdict (SGD)" in screen["Contradictions"]


@pytest.mark.parametrize("stem", ["glml-full", "glml-reduced"])
def test_the_result_of_glml_is_that_of_its_tables(stem: str) -> None:
    said, rest = sentences_of(stem)
    heading = "## Accuracy of 1-NN, in per cent, by training points a class"
    data, *cells = columns_below(rest, heading, "data", "GLML", "Euclid")
    means = [(name.split(") ")[1], value(a) - value(b)) for name, a, b in zip(data, *cells, strict=True)]
    scaled = {name.removesuffix(" z-scored") for name, _ in means if name.endswith(" z-scored")}
    verdicts = rest.split("## What becomes of the papers' claims")[1].split("\n### How")[0]
    parts = [f"\n### {part}" for part in verdicts.split("\n### ")[1:]] or ["\n### all\n" + verdicts]
    every, sentences = points_of(said["Result"]), Words("glml").found["claims"]
    against: dict[str, set[str]] = {"these points": set(), "new points": set()}
    contrary: dict[str, set[str]] = {}  # the sets, by claim
    tested = set()
    screen = screen_of(stem)
    short: dict[str, list[int]] = {"In short": [], "Result": []}
    gain, most_of, on_most, verdict_counts = [], [], [], []
    first_rest: list[str] = []
    brief: list[
        dict[str, tuple[list[str], bool, int]]
    ] = []  # by reading and claim: sets, new points, sets for it
    heads = ("the papers", "comparisons", "sets, these points", "these points", "new points")
    for line, part in zip(every[: len(parts)], parts, strict=True):
        title = part.splitlines()[1]
        z_scored = "Z-scored" in title
        lead = [lead for name, lead in means if (name not in scaled if z_scored else "z-scored" not in name)]
        rows = list(zip(*columns_below(part, title, *heads), strict=True))
        kinds = kinds_of(rows[0][1])
        same = sum("z-scored" not in name and name not in scaled for name, _ in means) if z_scored else 0
        expected = [sum(each > 0 for each in lead), len(lead)]
        expected += [equal] if (equal := sum(each == 0 for each in lead)) else []
        expected += [kinds.total(), kinds["supported"]]
        shown = numbers(re.sub(r"\((?!new)[^)]*\)", "", line))
        assert shown[:-2] == expected
        assert shown[-1] == kinds["contradicted"]
        # the letters of every comparison, of all sets of the reading
        reading = "z-scored features" if z_scored else "features as they come"
        table = rest.split(f"**{sentences['gain']['said']}** ({reading})")[1].split("\n**")[0]
        letters = {
            row.split(" | ")[0].strip("| "): re.findall(r"\) ([SCU]{2})\b", row)
            for row in table.splitlines()
            if " | GLML - Euclid | " in row
        }
        assert shown[-2] == sum(code[1] == "S" for codes in letters.values() for code in codes)
        own = [
            code for name, codes in letters.items() if "z-scored" in name or not z_scored for code in codes
        ]
        better, worse, new_better = (
            sum(code[at] == kind for code in own) for at, kind in ((0, "S"), (0, "C"), (1, "S"))
        )
        if z_scored:
            numbers_same = [same, better, len(own), worse]
            assert numbers(re.findall(r"\((\d+ cells are the same [^)]*)\)", line)[0]) == numbers_same
        else:
            assert "same as above" not in line
            assert (len(own), better, worse) == (kinds.total(), kinds["supported"], kinds["contradicted"])
            first_rest = [name for name, codes in letters.items() if "S" not in [code[0] for code in codes]]
            assert (
                sum(len(letters[name]) for name in first_rest) == len(own) - better
            )  # all those of these sets
        short["In short"] += [better, len(own), worse]
        short["Result"] += [] if z_scored else [new_better, len(own)]
        gain.append(holds(better, worse, len(own)))
        verdict_counts.append(Counter[str]())
        brief.append({})
        for key, (name, comparisons, sets, here, new) in zip(sentences, rows, strict=False):
            assert name == sentences[key]["said"]
            if here.startswith("no verdict"):
                continue
            # all the comparisons are printed, with their letters
            table = rest.split(f"**{name}** ({reading})")[1].split("\n**")[0].split("\n## ")[0]
            codes = Counter(code[0] for code in re.findall(r"\) ([SCU]{2})\b", table))
            assert codes == {kind[0].upper(): count for kind, count in kinds_of(comparisons).items()}
            by = sets_by_kind(sets)
            if not sentences[key].get("own"):
                tested.add(key)
                verdict_counts[-1][here] += 1
                against["these points"] |= {key} if here == "contradicted" else set()
                against["new points"] |= {key} if new == "contradicted" else set()
            if here == "contradicted":
                contrary.setdefault(key, set()).update(by["contradicted"])
                brief[-1][key] = (by["contradicted"], new == "contradicted", len(by.get("supported", [])))
            if key == "most":
                (most,) = (each for each in every if each.startswith(sentences["most"]["brief"]))
                supported, of = by.get("supported", []), sum(map(len, by.values()))
                kept = {
                    kind: [s for s in sets if "z-scored" in s or not z_scored] for kind, sets in by.items()
                }
                supported, lost, of = (
                    kept.get("supported", []),
                    kept.get("contradicted", []),
                    sum(map(len, kept.values())),
                )
                also = sum(map(len, by.values())) - of  # the sets that are the same as in the other reading
                own_said = f" z-scored (the other {also} as above)" if z_scored else ""
                assert f"supported on {len(supported)} of {page.number(of, 'set')}{own_said}" in most
                assert f"contradicted on {len(lost)}" in most
                assert all(name in most for name in (*supported, *lost))
                on_most += [] if z_scored else [len(supported), of, len(lost)]
                assert z_scored or all(name in screen["Result"] for name in (*supported, *lost))
                needed = "(it needs more than half of the sets)" in screen["In short"]
                assert z_scored or needed == (bool(supported) and bool(lost))
                most_of.append(holds(here == "supported", here == "contradicted", 1))
    both = [*map(len, against.values())]
    assert numbers(said["Contradictions"].split("\n")[0]) == [len(tested), *(both if both != [1, 1] else [1])]
    for key, sets in contrary.items():
        (line,) = (each for each in points_of(said["Contradictions"]) if sentences[key]["brief"] in each)
        assert all(name in line for name in sets)
        assert line.startswith("Not counted") == bool(sentences[key].get("own"))
        assert ("for new points too" in line) == (key in against["new points"])
    assert len(points_of(said["Contradictions"])) == len(contrary)
    # the realisations of the metrics that are compared with GLML, on the sets with a verdict on most metrics
    counts = []
    for part in parts:
        (sets,) = columns_below(part, part.splitlines()[1], "sets, these points")
        judged = [name for names in sets_by_kind(sets[1]).values() for name in names]
        for name in ("LMNN", "ITML", "DML-eig", "BoostMetric", "PLML"):
            if f"| {name} |" in rest.split(heading)[1].split("\n\n")[1].splitlines()[0]:
                sets_of, most_there, column = columns_below(rest, heading, "data", "realisations", name)
                counts += [
                    int(re.findall(r"\((\d+)\)", cell)[0] if "(" in cell else of)
                    for of_set, of, cell in zip(sets_of, most_there, column, strict=True)
                    if cell[:1].isdigit() and of_set.split(") ")[1] in judged
                ]
    counts = [count for count in counts if count > 1]
    fewest_to_most = sorted({min(counts), max(counts)})
    assert f"learnt metrics have {' to '.join(map(str, fewest_to_most))} realisations" in said["Result"]
    assert ("more in *glml-reduced*" in screen["Result"]) == (stem == "glml-full")
    # the first screen
    share = "%" in screen["In short"]
    assert numbers(screen["In short"])[: -1 if share else None] == short["In short"]
    assert answers_in(screen["In short"]) == [worst_of(gain), worst_of(most_of)]
    left = short["In short"][1] - short["In short"][0]
    found = [left, *on_most, *fewest_to_most, *short["Result"]]
    assert numbers(screen["Result"].replace("8x8", "")) == found
    assert all(name in screen["Result"].split(". ")[0] for name in first_rest)
    by_reading = re.split(r"\. Z-scored, ", screen["Contradictions"])
    assert numbers(by_reading[0])[0] == len(tested)
    for text, counted_kinds, own_sets in zip(by_reading, verdict_counts, brief, strict=True):
        items, _, rest_kinds = text.split("contradicted: ")[1].partition("); ")
        named = re.split(r", (?=GLML|Bayes|Fisher|BoostMetric)", items)
        assert len(named) == counted_kinds["contradicted"]
        assert f"{counted_kinds['undecided']} undecided; " in rest_kinds
        good = rest_kinds.partition("undecided; supported: ")[2]
        shorts = [sentences[key]["short"] for key in sentences]
        assert sum(name in good for name in shorts) == counted_kinds["supported"]
        assert ("0 supported" in rest_kinds) == (counted_kinds["supported"] == 0)
        own_sentences = [key for key in own_sets if not sentences[key].get("own")]
        for key, item in zip(own_sentences, named, strict=True):
            sets, new, _ = own_sets[key]
            z_scored_sets = [name for name in sets if "z-scored" in name]
            assert sentences[key]["short"] in item
            if len(sets) <= 2:
                assert all(name in item for name in sets)
            else:
                figures = [len(sets)]
                figures += (
                    [len(z_scored_sets)] if text != by_reading[0] and len(z_scored_sets) < len(sets) else []
                )
                assert numbers(item.replace("z-scored", "")) == figures
            assert ("new points" in item) == new


def test_the_result_on_drawn_data_is_that_of_its_tables() -> None:
    said, rest = sentences_of("synthetic-full")
    names, cells = columns_below(rest, "## What becomes of the papers' sentences", "the papers", "verdict")
    ours = [cell for name, cell in zip(names, cells, strict=True) if "a reading of ours" in name]
    papers = [cell for name, cell in zip(names, cells, strict=True) if "a reading of ours" not in name]
    of_papers, of_ours = (
        said["Result"].split("The papers' ")[1].split(f" {len(ours)} further readings are ours")
    )
    assert all(f"{verdict} ({count})" in of_papers for verdict, count in Counter(papers).items())
    (alike,) = {*ours}
    assert f": each {alike}." in of_ours
    assert numbers(of_papers)[0] == len(papers)
    assert numbers(said["Contradictions"])[0] == sum(cell.startswith("contradicted") for cell in papers)
    shown = re.findall(r"(([+-][\d.]+) \([^)]*\)) on ([^;.]*)[;.]", said["Result"])
    assert all(f"| GLML - Euclid, {data} | {interval} |" in rest for interval, _, data in shown)
    means = columns_below(rest, "## Accuracy of 1-NN, in per cent", "GLML", "Euclid")
    leads = [value(a) - value(b) for a, b in zip(*means, strict=True)]
    assert [float(lead) for _, lead, _ in shown] == pytest.approx(leads, abs=0.06)
    # the first screen; the last lead is that on the mixtures
    screen = screen_of("synthetic-full")
    in_short = re.findall(r"[+-]\d+\.\d", screen["In short"])
    assert [float(lead) for lead in in_short] == pytest.approx([leads[0], *leads[-2:]], abs=0.06)
    kinds = ("always", "ends", "never")
    grows = "never" if leads[-2] <= leads[0] else "always" if sorted(leads[:-1]) == leads[:-1] else "ends"
    openings = {kind: Words("synthetic").text(f"grows.{kind}").split("{")[0] for kind in kinds}
    assert [kind for kind in kinds if openings[kind] in screen["In short"]] == [grows]
    counts = [papers.count("supported"), papers.count("undecided")]
    counts.append(sum(cell.startswith("contradicted") for cell in papers))
    drawn = [int(data.removeprefix("gaussians ")) for *_, data in shown if data != "mixtures"]
    assert numbers(screen["In short"]) == [drawn[0], drawn[-1], len(papers), *counts]
    assert "1 fails on our mixtures" in screen["In short"]
    _, *others = screen["Result"].split(". ")
    # a lead over each metric by dimension: the verdicts of sentence 3
    by: dict[int, list[str]] = {}
    for data, verdict in re.findall(
        r"^\| 3 \| GLML - .*, gaussians (\d+) \| .* \| (\w+) \|$", rest, flags=re.M
    ):
        by.setdefault(int(data), []).append(verdict)
    whole = {D: len(verdicts) for D, verdicts in by.items() if set(verdicts) == {"supported"}}
    part = [[verdicts.count("supported"), len(verdicts), D] for D, verdicts in by.items() if D not in whole]
    assert len(by) == len(drawn)
    runs = {count: [D for D, of in whole.items() if of == count] for count in whole.values()}
    expected = [number for count, places in runs.items() for number in (count, *places)]
    assert numbers(others[0]) == [*expected, *(number for each in part for number in each)]
    level = re.findall(r"Fisher by (\+[\d.]+) \([^)]*\) on gaussians (\d+), p = ([\d.]+)\b", rest)
    assert [f"level at D = {D} ({lead}, p = {p})" in others[1] for lead, D, p in level] == [True]
    head = re.findall(r"^\| data \|.*$", rest, flags=re.M)[0].strip("| ").split(" | ")[2:-1]
    columns = columns_below(rest, "## Accuracy of 1-NN, in per cent", *head)
    few = [
        name
        for name, column in zip(head, columns, strict=True)
        if "" in column[:-1] and name != "GLML, mixtures"
    ]
    assert f"(not {', '.join(few)})" in others[0]
    *_, glml = (value(column[-1]) for name, column in zip(head, columns, strict=True) if name == "GLML")
    above = [name for name, column in zip(head, columns, strict=True) if value(column[-1]) > glml]
    assert all(name in others[2] for name in above)
    assert not any(
        f"{name}," in others[2] or f"{name} and" in others[2] for name in {*head} - {*above} - {"GLML"}
    )
    assert screen["Contradictions"] == said["Contradictions"]


@pytest.mark.parametrize("stem", ["nca-full", "nca-reduced"])
def test_the_result_of_nca_is_that_of_its_tables(stem: str) -> None:
    said, rest = sentences_of(stem)
    *figures, others = points_of(said["Result"])
    panels = {}
    for place, text in re.findall(r"\*([^*]*)\*: (.*?)\.(?= \*|\n|$)", "\n".join(figures)):
        heading = next(line for line in rest.splitlines() if line.startswith(f"## {place}: "))
        data, *columns = columns_below(rest, heading, "data", "these points", "new points")
        for column, part in zip(columns, re.split(r" \(new points: ", text), strict=False):
            shown = part.replace(" (our classes)", "").split("; not tested")[0].rstrip(")")
            by: dict[str, list[str]] = {}
            for name, verdict in zip(data, column, strict=True):
                by.setdefault(verdict, []).append(name)
            by.pop("", None)
            tested = sum(map(len, by.values()))
            if column is columns[1]:
                by.pop("undecided", None)
            for verdict, names in by.items():
                where = f"all {tested} sets" if len(names) == tested else ", ".join(names)
                assert f"{verdict} on {where}" in shown, (place, verdict)
            assert shown.count(" on ") == len(by)
        panels[place] = text
    assert list(panels) == ["Full rank, train", "d = 2, train", "Full rank, test", "d = 2, test"]
    # the first screen: a set counts once for each rank
    screen, totals = screen_of(stem), {}
    for part in ("train", "test"):
        for test in ("these points", "new points"):
            found: list[tuple[str, str]] = []
            for line in rest.splitlines():
                if re.match(rf"## (Full rank|d = 2), {part}: ", line):
                    data, column = columns_below(rest, line, "data", test)
                    found += [each for each in zip(data, column, strict=True) if each[1]]
            kinds = Counter(verdict for _, verdict in found)
            totals[part, test] = [kinds["supported"], len(found), kinds["contradicted"]]
    near, of, behind = totals["test", "these points"]
    counts = [*totals["train", "these points"][:2], near, of, behind, of - near - behind]
    assert f"Always near the top on test data: {'contradicted' if behind else ''}" in screen["In short"]
    assert ", without rings)" in screen["In short"]
    assert numbers(re.sub(r"\d+ %", "", screen["In short"])) == counts
    (train, of, _), (test_part, of_test, contradicted) = (
        totals[part, "new points"] for part in ("train", "test")
    )
    assert of == of_test
    assert numbers(screen["Result"]) == [train, of, test_part]
    assert contradicted == 0  # else it would have to be said
    supported, of, contradicted = totals["train", "these points"]
    assert answers_in(screen["In short"]) == [holds(supported, contradicted, of)]
    absent = {name for text in panels.values() for name in re.findall("; not tested: (.*)", text)}
    assert set(re.findall(r"Not tested: (.*) \(full rank\); see \*nca-reduced\*", screen["Result"])) == absent
    heads = ("the note", "where", *(f"{test} points: all together (sets)" for test in ("these", "new")))
    rows = list(zip(*columns_below(rest, "## What becomes of the note's sentences", *heads), strict=True))
    verdicts = [
        [re.findall(r"\*\*(.*)\*\*", cell)[0].removesuffix(" on our classes") for cell in row[2:]]
        for row in rows
    ]
    beyond = [each for row, each in zip(rows, verdicts, strict=True) if row[1].split(";")[0] not in panels]
    here, new = others.split(" *Where run*")[0].split(". For new points: ")
    for at, text in ((0, here), (1, new)):
        kinds = Counter(each[at] for each in beyond)
        assert all(f"{kind} ({count})" in text for kind, count in kinds.items())
        assert sum(numbers(text)[1 - at :]) == len(beyond)
    assert numbers(here)[0] == len(beyond)
    against, too = (
        {row[0] for row, each in zip(rows, verdicts, strict=True) if each[at].startswith("contradicted")}
        for at in (0, 1)
    )
    every = points_of(said["Contradictions"])
    tested_here = {row[0] for row in rows}
    said_first = said["Contradictions"].split("\n")[0]
    assert numbers(re.sub(r"\(not tested.*\)", "", said_first)) == [len(against), len(tested_here), len(too)]
    in_words = Words("nca").found
    every_one = {f'"{name}"' for key, name in in_words["said"].items() if key != "scale"}
    assert {name for name in every_one if name in said_first} == every_one - tested_here
    assert {line.split('": ')[0] + '"' for line in every} == against
    head, *listed = screen["Contradictions"].split("\n")
    in_all = [len(every_one)] if tested_here != every_one else []
    assert numbers(head) == [len(against), len(tested_here), *in_all, len(too)]
    assert "the note's" in head
    assert "encyclopedia" in head
    assert "encyclopedia statwiki" in said["Result"]
    assert len(listed) == len(against)
    short = {f'"{in_words["said"][key]}"': name for key, name in in_words["short"].items()}
    for sentence in against:
        ((text),) = [
            line.removeprefix(short[sentence]) for line in listed if line.startswith(short[sentence])
        ]
        own = {
            name
            for other, sets in re.findall(r"- (\".*?\"), .*?: contradicted on (.*?);", rest)
            for name in sets.replace(" (on our classes)", "").split(", ")
            if other == sentence
        }
        assert f": {len(own)} sets" in text if len(own) > 2 else all(name in text for name in own)
        assert ("new points" in text) == (sentence in too)
        places = [row[1].split(";")[0] for row in rows if row[0] == sentence]
        ranks = [place.split(",")[0].replace("Full", "full") for place in places if place in panels]
        assert all(f" at {rank}" in text for rank in ranks)
        lacking = [
            row[1]
            for row, kinds_there in zip(rows, verdicts, strict=True)
            if row[0] == sentence and kinds_there[0].startswith("contradicted") and "not run" in row[1]
        ]
        apart = [where for where in lacking if where.split(";")[0] not in panels]
        at_full = "not tested: usps at full rank" in text
        assert ("not tested: usps" in text and not at_full) == any("usps" in where for where in apart)
        if sentence == f'"{in_words["said"]["overfitting"]}"':  # NCA has one split at full rank there
            assert at_full == ("usps" in absent)
            assert len(own) == (4 if at_full else 5)
        if sentence == f'"{in_words["said"]["both"]}"':
            heading = "## d = 2, test, the sets whose projections are drawn: " + sentence
            data, leads = columns_below(rest, heading, "data", "NCA less the best other")
            shown = {name: lead.split()[0] for name, lead in zip(data, leads, strict=True)}
            assert all(f"{name} at d = 2 ({shown[name]} points, test)" in text for name in own)
    contrary = re.findall(r"- (\".*?\"), (.*?): contradicted on (.*?);", rest)
    for sentence, place, names in contrary:
        (line,) = (each for each in every if each.startswith(sentence))
        assert f"{place}: {names.replace('(on our', '(our')} (" in line
        counts = re.findall(rf"{re.escape(place)}: [^;]*? \((\d+) of (\d+) comparisons", line)
        heading = f"### {sentence}: {place}"
        if f"\n{heading}\n" in rest:  # else it is a sentence on a figure, which has no table of comparisons
            table = rest.split(f"\n{heading}\n")[1].split("\n| data |  |")[1]
            (column,) = columns_below(f"\n{heading}\n| data |  |{table}", heading, "these points")
            assert counts == [(str(column.count("contradicted")), str(len(column)))]


def test_every_page_with_figures_of_plml_says_that_they_rest_on_our_reading() -> None:
    pages = [path.with_suffix(".md") for path in RECORDS] + [FOLDER.parents[1] / "studies" / "glml_office.md"]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    with_plml = [text for text in texts if re.search(r"^\|.*\bPLML\b", text, flags=re.MULTILINE)]
    assert len(with_plml) >= 3
    assert all("docs/plml.md" in text for text in with_plml)


@pytest.mark.full
@pytest.mark.skipif(
    not os.environ.get("CVXML_DATA"), reason="CVXML_DATA names no folder with the papers' data sets"
)
@every_record
def test_some_numbers_come_out_again(path: Path) -> None:
    recorded = record(path)
    experiment = command.of(recorded["experiment"])
    results = {task.key: (task, result) for task, result in page.results_of(recorded)}
    absent = [key for key in AGAIN[path.stem] if not at_hand(results[key][0].data)]
    for key in AGAIN[path.stem]:
        task, result = results[key]
        if key in absent:
            continue  # and said at the end
        assert to_six_digits(run.timed(experiment.measure, 0, task)[1]) == to_six_digits(result), key
    for key, facts in CHAOTIC.get(path.stem, {}).items():
        task, result = results[key]
        again = run.timed(experiment.measure, 0, task)[1]
        assert {fact: again[fact] for fact in facts} == {fact: result[fact] for fact in facts}, key
    if absent:
        pytest.skip(f"all but {', '.join(absent)}: {packaged.missing(results[absent[0]][0].data)}")


def test_every_figure_that_remarks_quote_has_a_look() -> None:
    assert all(QUOTED.values())
    assert QUOTED.keys() == looks.LOOKS.keys() > set(LONG)


@pytest.mark.parametrize("data", looks.TIED)
def test_the_first_class_is_the_rule_for_ties_of_the_report(data: str) -> None:
    recorded = record(FOLDER / "mlsvm-full.json")
    errors = [
        result["error"]
        for task, result in page.results_of(recorded)
        if (task.data, task.method) == (data, "kNN")
    ]
    found = QUOTED[f"{data}, tied votes"]
    assert found["the first class"] == pytest.approx(100 * sum(errors) / len(errors), abs=0.006)
    assert found["the first class"] != pytest.approx(found["the last class"], abs=0.5)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in looks.LOOKS if name not in LONG])
def test_figures_that_remarks_quote_come_out_again(name: str) -> None:
    data = name.split(",")[0]
    if not at_hand(data):
        pytest.skip(packaged.missing(data))
    if data not in ("waveform", *packaged.PACKAGES, *datasets.names()):  # waveform is drawn
        pytest.skip("CVXML_DATA names no folder with the papers' data sets")
    found = looks.LOOKS[name]()
    for what, value in QUOTED[name].items():
        assert found.pop(what) == pytest.approx(value, abs=0.006), what
    assert not found


def test_the_page_on_experiments_has_the_hours_of_the_records() -> None:
    text = (FOLDER.parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    quoted = re.findall(r"(\d+\.\d) hours for (?:Table 1|GLML)", text)
    longest = re.findall(r"need (\d+)\s+and (\d+) minutes", text)[0]
    for stem, hours, minutes in zip(("table1-full", "glml-full"), quoted, longest, strict=True):
        seconds = [each["result"]["seconds"] for each in record(FOLDER / f"{stem}.json")["results"]]
        assert f"{sum(seconds) / 3600:.1f}" == hours
        assert f"{page.at_best(seconds, page.MANY) / 60:.0f}" == minutes


@pytest.mark.parametrize("name", command.EXPERIMENTS)
def test_every_remark_stands_in_a_report(name: str) -> None:
    """None is left over from a difference that the records no longer have."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob(f"{name}-*.md"))
    assert [key for key, said in Words(name).remarks().items() if said not in texts] == []


def test_a_text_has_the_figures_of_the_looks_and_of_the_code() -> None:
    name, figures = next(iter(QUOTED.items()))
    what, figure = next(iter(figures.items()))
    assert words.filled(f"\n{{QUOTED[{name}][{what}]:.1f}} % of {{n}}\n", n=3) == f"{figure:.1f} % of 3"
    for text in ("{QUOTED[no such look][x]:.1f}", "{not_given}"):
        with pytest.raises(KeyError):
            words.filled(text)


def test_lines_take_the_place_of_their_name_and_no_lines_none() -> None:
    made = Words("mlsvm")
    made.found = {"page": "\n{first}\n\n# {title}\n\n{table}\n\n{note}\n\n{end}\n"}
    assert made.page("page", first=["a"], title="T", table=["| 1 |", "| {2} |"], note=[], end="z") == [
        *("", "a", "", "# T", "", "| 1 |", "| {2} |", "", "z"),
    ]
    assert made.page("page", first=[], title="T", table=[], note=["n"], end="z") == [
        "",
        "# T",
        "",
        "n",
        "",
        "z",
    ]
