"""```{statement} METHOD```: the mathematics of a method, as the package has it, each formula with its line of code.

What is between the fences is the same as text, for who reads the page without the site. `python docs/_ext/statement.py`
writes it; tests/test_docs.py compares it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cvxml.methods import get
from cvxml.show import functions_of, place
from cvxml.statement import Row

FENCE = re.compile(r"^```\{statement\} (\S+)\n.*?^```$", flags=re.DOTALL | re.MULTILINE)


def filled(page: str) -> str:
    """The text of a page, with the text of each statement between its fences."""
    return FENCE.sub(lambda found: f"```{{statement}} {found[1]}\n{get(found[1]).STATEMENT}\n```", page)


def drawn(row: Row, line: str) -> nodes.container:
    """A formula, its number in the paper, and the line of the literal source that says it."""
    formula = nodes.container("", nodes.math_block(row.latex, row.latex, nowrap=True), classes=["formula"])
    # a container of its own keeps the number at the end of the line
    tag = nodes.container("", nodes.inline(row.tag, row.tag), classes=["number"])
    out = nodes.container("", nodes.container("", formula, tag, classes=["row"]))
    if row.code:
        out += nodes.paragraph("", "", nodes.literal(text=line), classes=["code-line"])
    return out


class StatementOf(SphinxDirective):
    """Draws get(METHOD).STATEMENT."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        method = get(self.arguments[0])
        code = functions_of(method.literal_source())
        beside = place(method.STATEMENT, code).beside
        lines = {row: code[at].strip() for at, rows in beside.items() for row in rows}
        out = nodes.container("", classes=["statement"])
        for section in method.STATEMENT.sections:
            out += nodes.paragraph(text=section.heading, classes=["heading"])
            out += [drawn(row, lines.get(row, "")) for row in section.rows]
        return [out]


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("statement", StatementOf)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    for path in Path(__file__).parent.parent.glob("*.md"):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
