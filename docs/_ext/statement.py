"""The directive ```{statement} METHOD``` shows the formulas of a method, each with its line of code.

The formulas come from the code of the package. The text between the fences repeats them for readers of the plain file.
`python docs/_ext/statement.py` writes this text, and tests/docs/test_docs_methods.py compares it with the code. Code
that a page includes with `literalinclude` is shown without its `#:` lines, because the statement shows these formulas.
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
    """Return the text of a page with the text of each statement between its fences."""
    return FENCE.sub(lambda found: f"```{{statement}} {found[1]}\n{get(found[1]).STATEMENT}\n```", page)


def drawn(row: Row, line: str) -> nodes.container:
    """Return a formula with its number in the paper, and below it its line of code.

    line: the line of code; "" for a remark, which has no code.
    """
    formula = nodes.container("", nodes.math_block(row.latex, row.latex, nowrap=True), classes=["formula"])
    # A separate container keeps the number at the end of the line.
    tag = nodes.container("", nodes.inline(row.tag, row.tag), classes=["number"])
    out = nodes.container("", nodes.container("", formula, tag, classes=["row"]))
    if line:
        out += nodes.paragraph("", "", nodes.literal(text=line), classes=["code-line"])
    return out


def cited(method: str) -> list[nodes.Node]:
    """Return the papers of a method as BibTeX, in a box that the reader can open."""
    entries = nodes.literal_block(bibtex(method), bibtex(method), language="text")
    opened = '<details class="bibtex"><summary>Cite: BibTeX</summary>'
    return [nodes.raw("", opened, format="html"), entries, nodes.raw("", "</details>", format="html")]


class StatementOf(SphinxDirective):
    """Show the statement of a method, and its papers below."""

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
    """Include Python code without its `#:` lines; the statement on the page shows them as formulas."""

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
