"""`python docs/_ext/replication.py` writes the tables of docs/replication.md from the rows of docs/coverage.md.

A row of the coverage page whose evidence begins with a verdict in bold is a claim of an abstract. The note on NCA has
no abstract; its claims are those of its introduction and its results. tests/docs/test_coverage.py compares the pages.
"""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path
from typing import NamedTuple

VERDICTS = ("supported", "contradicted", "undecided")
PAGE = Path(__file__).parents[1] / "replication.md"
COVERAGE = runpy.run_path(str(Path(__file__).with_name("coverage.py")))
MARKS = re.compile(r"(?<=<!-- claims -->\n\n).*?(?=\n\n<!-- end of claims -->)", flags=re.DOTALL)


class Claim(NamedTuple):
    """A claim of an abstract, with its verdict and the evidence after it."""

    claim: str
    verdict: str  # one of `VERDICTS`
    evidence: str


def claims(page: str) -> dict[str, list[Claim]]:
    """Return the claims of each paper, by the heading of its section on the coverage page."""
    return {
        heading: [
            Claim(row.what, found[1], found[2].removeprefix(":").removeprefix(",").strip())
            for row in rows
            if (found := re.match(r"\*\*(\w+)\*\*(.*)", row.evidence))
        ]
        for heading, rows in COVERAGE["papers"](page).items()
    }


def counts(found: dict[str, list[Claim]]) -> list[str]:
    """Return a table: a line for each paper, with its number of claims by verdict."""
    lines = [f"| paper | {' | '.join(VERDICTS)} |", f"|---|{'---:|' * len(VERDICTS)}"]
    for heading, own in found.items():
        each = Counter(claim.verdict for claim in own)
        cells = [heading.partition(":")[0], *(str(each[verdict]) for verdict in VERDICTS)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def tables(found: dict[str, list[Claim]]) -> str:
    """Return the counts, then a heading and a table of claims for each paper."""
    lines = counts(found)
    for heading, own in found.items():
        lines += ["", f"## {heading}", "", "| claim | verdict | evidence |", "|---|---|---|"]
        lines += [f"| {claim.claim} | **{claim.verdict}** | {claim.evidence} |" for claim in own]
    return "\n".join(lines)


def filled(page: str, coverage: str) -> str:
    """Return the text of the page with the tables from the coverage page."""
    text = tables(claims(coverage))
    return MARKS.sub(lambda _: text, page)


if __name__ == "__main__":
    source = COVERAGE["PAGE"].read_text(encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), source), encoding="utf-8")
