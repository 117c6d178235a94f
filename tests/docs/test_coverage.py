"""The page of what of the papers is here: no row without a status, and none without its evidence."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "coverage.md"
MADE = runpy.run_path(str(ROOT / "docs" / "_ext" / "coverage.py"))
# what the papers number: a row speaks of each
NUMBERED = {
    "Nguyen": {"Fig.": 2, "Table": 2, "Algorithm": 1, "eq": 11},
    "Trivedi": {"Fig.": 1, "Table": 1, "Algorithm": 3, "eq": 12},
    "Noh": {"Fig.": 8, "Algorithm": 1},
}


def papers() -> dict[str, list[list[str]]]:
    """The first author -> the rows of his table."""
    found = MADE["papers"](PAGE.read_text(encoding="utf-8"))
    return {heading.partition(",")[0]: rows for heading, rows in found.items()}


ROWS = [row for rows in papers().values() for row in rows]


def test_every_row_has_a_status_and_a_reason_or_evidence() -> None:
    assert list(papers()) == ["Nguyen", "Trivedi", "Noh", "Goldberger"]
    for where, what, status, *evidence in ROWS:
        assert status in MADE["STATUSES"], where
        assert what, where
        assert evidence != [""], (where, what)
        if status in ("run", "reduced", "tested"):
            assert re.search(r"\]\(|`", evidence[0]), (where, what)


@pytest.mark.parametrize("paper", NUMBERED)
def test_what_the_papers_number_is_all_there(paper: str) -> None:
    places = " ; ".join(row[0] for row in papers()[paper])
    for kind, count in NUMBERED[paper].items():
        for number in range(1, count + 1):
            if kind == "eq":
                spans = re.findall(r"\((\d+)\)(?: to \((\d+)\))?", places)
                assert any(int(low) <= number <= int(high or low) for low, high in spans), number
            else:
                assert re.search(
                    rf"{re.escape(kind)} {number}\b", places.replace(f"{number}a", f"{number} a")
                ), (kind, number)


def test_tests_and_files_that_are_named_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|validation)/[^`]+)`", text)
    assert len(named) > 40
    for name in named:
        path, _, test = name.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        defined = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        assert not test or test in defined, name


def test_the_counts_at_the_top_are_those_of_the_rows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert MADE["filled"](page) == page, "run `python docs/_ext/coverage.py`"
    (total,) = re.findall(r"^\| all \| (.*) \|$", page, flags=re.MULTILINE)
    below = page.partition("\n## ")[2]  # counted without the reader of the tables
    counts = [len(re.findall(rf" \| {status} \| ", below)) for status in MADE["STATUSES"]]
    assert list(map(int, total.split(" | "))) == [sum(counts), *counts]
    assert sum(counts) == len(ROWS)
