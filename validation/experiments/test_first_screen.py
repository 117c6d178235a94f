"""The counts on the first screens of the reports are those of the tables below, counted again from the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from validation.experiments import page

REPORTS = Path(page.__file__).with_name("reports")


def lines_of(stem: str) -> list[str]:
    return (REPORTS / f"{stem}.md").read_text(encoding="utf-8").splitlines()


def cells(line: str) -> list[str]:
    return [each.strip() for each in line.strip("|").split("|")]


def said(lines: list[str], name: str) -> str:
    (line,) = (line for line in lines if line.startswith(f"- **{name}.**"))
    return line


def test_mlsvm_before_knn_is_counted_from_the_letters() -> None:
    lines = lines_of("mlsvm-reduced")
    start = next(i for i, line in enumerate(lines) if line.startswith('**"all three metric learning methods'))
    head = next(i for i in range(start, len(lines)) if lines[i].startswith("| data"))
    column = cells(lines[head]).index("MLSVM")
    with_holm = [cells(line)[column][-2] for line in lines[head + 2 : head + 11]]
    better, worse = with_holm.count("S"), with_holm.count("C")
    assert len(with_holm) == better + worse + with_holm.count("U") == 9
    assert f"less error than kNN on {better} of 9 sets and more on {worse} (" in said(lines, "Result")


def test_marks_of_table_1_are_counted_from_the_tables() -> None:
    lines = lines_of("table1-full")
    heads = [i for i, line in enumerate(lines) if line.startswith("| k = ")]
    rows = [cells(line) for i in heads for line in lines[i + 2 : i + 10]]
    marks = {row[0]: 0 for row in rows}
    for row in rows:
        marks[row[0]] += sum(" *" in cell for cell in row[1:])
    own = marks["CCCP"] + marks["SGD"] + marks["SGD printed"]
    assert f"{sum(marks.values())} of 168 errors" in said(lines, "Result")
    assert f"; {own} of these {sum(marks.values())} are errors of the paper's own" in said(lines, "Result")


@pytest.mark.parametrize("stem", ["glml-full", "glml-reduced"])
def test_gains_of_glml_are_those_of_the_row_of_the_claim(stem: str) -> None:
    lines = lines_of(stem)
    rows = [line for line in lines if "GLML above Euclid in every cell |" in line]
    shown = re.findall(
        r"significantly in (\d+) of the (\d+) that were tested, and significantly below in (\d+)\.",
        said(lines, "Result"),
    )
    found = []
    for row in rows:
        counts = dict(re.findall(r"(supported|undecided|contradicted) \((\d+)\)", cells(row)[2]))
        every = [int(counts.get(name, 0)) for name in ("supported", "undecided", "contradicted")]
        found.append((str(every[0]), str(sum(every)), str(every[2])))
    assert shown == found
    assert found


@pytest.mark.parametrize("stem", sorted(path.stem for path in REPORTS.glob("*.md")))
def test_every_open_observation_is_named_or_counted(stem: str) -> None:
    lines = lines_of(stem)
    start = lines.index(page.OPEN)
    end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith("#"))
    entries = [line for line in lines[start:end] if line.startswith("- ")]
    first = said(lines, "Open")
    contradictions = sum(": contradicted on" in entry for entry in entries)
    undecided = sum(": undecided on" in entry for entry in entries)
    assert first.startswith(f"- **Open.** {len(entries)} observation")
    assert (f" {contradictions} contradiction" in first) == (contradictions > 0)
    assert (f" {undecided} undecided verdict" in first) == (undecided > 0)
    for entry in entries:
        if not re.search(": (contradicted|undecided) on", entry):
            assert entry[2:].split(":")[0] in first


@pytest.mark.parametrize("stem", sorted(path.stem for path in REPORTS.glob("*.md")))
def test_the_first_screen_explains_new_points_where_it_names_them(stem: str) -> None:
    lines = lines_of(stem)
    first = "\n".join(lines[: next(i for i, line in enumerate(lines) if line.startswith("!["))])
    assert ("*New points*" in first) == ("new points" in first)
