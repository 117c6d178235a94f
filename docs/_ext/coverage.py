"""`python docs/_ext/coverage.py` writes the table of counts at the top of docs/coverage.md from the rows below it.

tests/docs/test_coverage.py compares the table with the rows.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

STATUSES = ("run", "reduced", "tested", "impossible", "left out", "not yet")
PAGE = Path(__file__).parents[1] / "coverage.md"
HEAD = "| where | what | status | evidence |"
MARKS = re.compile(r"(?<=<!-- counts -->\n\n).*?(?=\n\n<!-- end of counts -->)", flags=re.DOTALL)


class Row(NamedTuple):
    """A row of the table of a paper: one item, such as an equation or a figure."""

    where: str
    what: str
    status: str  # one of `STATUSES`
    evidence: str


def papers(page: str) -> dict[str, list[Row]]:
    """Return the rows of each section with a table of items, by the heading of the section."""
    found = {}
    for part in page.split("\n## ")[1:]:
        if HEAD in part:
            lines = part.split(HEAD)[1].strip().splitlines()[1:]
            found[part.splitlines()[0]] = [
                Row(*line.removeprefix("| ").removesuffix(" |").split(" | "))
                for line in lines
                if line.startswith("| ")
            ]
    return found


def counts(page: str) -> str:
    """Return the table: a line for each paper, and their sum."""
    lines = [f"| paper | rows | {' | '.join(STATUSES)} |", f"|---|{'---:|' * (len(STATUSES) + 1)}"]
    total: Counter[str] = Counter()
    for heading, rows in papers(page).items():
        each = Counter(row.status for row in rows)
        total += each
        lines.append(_line(heading.partition(":")[0], each))
    return "\n".join([*lines, _line("all", total)])


def _line(name: str, count: Counter[str]) -> str:
    cells = [count.total(), *(count[status] for status in STATUSES)]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def filled(page: str) -> str:
    """Return the text of the page with the table of counts."""
    return MARKS.sub(counts(page), page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
