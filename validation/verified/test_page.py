"""docs/verified.md quotes definitions and theorems exactly as they are in the Coq sources."""

from __future__ import annotations

import re

from validation.verified.built import HERE, without_comments
from validation.verified.times import PROBLEMS

PAGE = (HERE.parents[1] / "docs" / "verified.md").read_text(encoding="utf-8")
# a comment may say what is not so
SOURCES = "\n".join(without_comments(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*.v")))


def test_what_is_quoted_is_in_the_sources() -> None:
    quoted = [
        part.strip()
        for block in re.findall(r"^```coq\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
        for part in block.split("\n\n")
    ]
    assert len(quoted) >= 15
    for part in quoted:
        assert part in SOURCES, part


def test_what_a_comment_says_is_no_source() -> None:
    text = (HERE / "Methods.v").read_text(encoding="utf-8")
    comments = [each.strip() for each in re.findall(r"\(\*(.*?)\*\)", text, re.DOTALL) if " " in each.strip()]
    assert comments
    assert [comment for comment in comments if comment in SOURCES] == []


def test_every_file_is_in_the_table() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+\.v)`", row.split("|")[1])}
    assert named == {path.name for path in HERE.glob("*.v")}


def test_every_problem_has_a_time() -> None:
    timed = re.findall(r"^\| `([a-z_:]+)` \| [\w .]+ s \| [\w .]+ s \|$", PAGE, re.MULTILINE)
    assert tuple(timed) == PROBLEMS
