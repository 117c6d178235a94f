"""```{statement} METHOD```: the mathematics of a method, as the package has it, each formula with its line of code.

What is between the fences is the same as text, for who reads the page without the site. `python docs/_ext/statement.py`
writes it; tests/docs/test_docs_methods.py compares it. Source that a page includes is shown without its formulas.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.directives.code import LiteralInclude
from sphinx.util.docutils import SphinxDirective

from cvxml.core.references import bibtex
from cvxml.core.statement import Row
from cvxml.methods import get

FENCE = re.compile(r"^```\{statement\} (\S+)\n.*?^```$", flags=re.DOTALL | re.MULTILINE)


def filled(page: str) -> str:
    """The text of a page, with the text of each statement between its fences."""
    return FENCE.sub(lambda found: f"```{{statement}} {found[1]}\n{get(found[1]).STATEMENT}\n```", page)


def drawn(row: Row, line: str) -> nodes.container:
    """A formula, its number in the paper, and the line of code that says it, "" for a remark."""
    formula = nodes.container("", nodes.math_block(row.latex, row.latex, nowrap=True), classes=["formula"])
    # a container of its own keeps the number at the end of the line
    tag = nodes.container("", nodes.inline(row.tag, row.tag), classes=["number"])
    out = nodes.container("", nodes.container("", formula, tag, classes=["row"]))
    if line:
        out += nodes.paragraph("", "", nodes.literal(text=line), classes=["code-line"])
    return out


def cited(method: str) -> list[nodes.Node]:
    """The papers as BibTeX, folded."""
    entries = nodes.literal_block(bibtex(method), bibtex(method), language="text")
    opened = '<details class="bibtex"><summary>Cite: BibTeX</summary>'
    return [nodes.raw("", opened, format="html"), entries, nodes.raw("", "</details>", format="html")]


class StatementOf(SphinxDirective):
    """Draws get(METHOD).STATEMENT; the papers go below."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        method = get(self.arguments[0])
        out = nodes.container("", classes=["statement"])
        for section in method.STATEMENT.sections:
            out += nodes.paragraph(text=section.heading, classes=["heading"])
            out += [drawn(row, section.line(row)) for row in section.rows]
        return [out, *cited(self.arguments[0])]


class Source(LiteralInclude):
    """Python without the `#:` lines, which are drawn elsewhere on the page."""

    def run(self) -> list[nodes.Node]:
        found = super().run()
        for block in (each for node in found for each in node.findall(nodes.literal_block)):
            text = re.sub(r"^ *#:.*\n?", "", block.astext(), flags=re.MULTILINE)
            block.rawsource = text
            block[:] = [nodes.Text(text)]
        return found


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("statement", StatementOf)
    app.add_directive("literalinclude", Source, override=True)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    for path in Path(__file__).parent.parent.glob("*.md"):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
