"""docs/paper/paper.md: every number in it is the one that `python docs/paper/write.py` computes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from cvxml.methods import names
from tests.loaded import module_of

PAPER = Path(__file__).parents[2] / "docs" / "paper"


@cache
def writer() -> ModuleType:
    return module_of(PAPER / "write.py", "write_paper")


@cache
def text(name: str) -> str:
    return (PAPER / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_paper_is_what_the_command_writes() -> None:
    """To write it anew: python docs/paper/write.py."""
    assert writer().paper(writer().numbers()) == text("paper.md")


def test_the_figures_of_the_reports_are_those_in_the_paper() -> None:
    """Without the solve, whose figures the slow test compares."""
    values = {**writer().of_package(), **writer().of_reports(), **writer().of_citation()}
    pattern = re.escape(text("paper.in.md"))
    for name, value in values.items():
        pattern = pattern.replace(re.escape("{{" + name + "}}"), re.escape(value))
    pattern = re.sub(r"\\\{\\\{\w+\\\}\\\}", ".*?", pattern)
    assert re.fullmatch(pattern, text("paper.md"))
    assert values["methods"] == str(len(names()))


def test_no_number_is_written_by_hand() -> None:
    """Outside of formulas, citations, code and the names of files."""
    body = text("paper.in.md").split("---", 2)[2]
    for other in (r"```.*?```", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$]*\$", r"\[@[^\]]*\]", r"\{\{\w+\}\}"):
        body = re.sub(other, "", body, flags=re.DOTALL)
    assert re.findall(r"\d[\d.]*", body) == []


def test_the_bibliography_has_what_is_cited() -> None:
    assert text("paper.bib") == writer().bibliography(text("paper.md"))
    assert set(re.findall(r"@(\w+)[\];]", text("paper.md"))) == set(writer().entries(text("paper.bib")))


def test_the_paper_has_the_sections_and_fields_that_the_journal_asks_for() -> None:
    _, head, body = text("paper.md").split("---", 2)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(
        re.findall(r"^(\w+):", head, flags=re.MULTILINE)
    )
    headings = re.findall(r"^# (.*)$", body, flags=re.MULTILINE)
    assert headings[:3] == ["Summary", "Statement of need", "State of the field"]
    assert headings[-1] == "References"
    assert 500 <= len(re.sub(r"```.*?```", "", body, flags=re.DOTALL).split()) <= 1500
    for target in re.findall(r"!\[.*?\]\((.*?)\)", body):
        assert (PAPER / target).is_file()


def test_the_example_of_the_paper_is_the_code_that_was_run() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", text("paper.md"), flags=re.DOTALL)
    source = text("write.py")
    for line in example.splitlines():
        assert not line.startswith(("X", "solution")) or line in source
