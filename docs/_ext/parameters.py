"""The directive ```{parameters}``` lists the parameters of each method."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from options import words
from sphinx.util.docutils import SphinxDirective

from cvxml.core.parameter import Parameter
from cvxml.methods import get, names


def listed(parameters: dict[str, Parameter]) -> nodes.definition_list:
    """Return a list of the parameters with their descriptions."""
    found = nodes.definition_list()
    for name, parameter in parameters.items():
        meaning = nodes.definition("", nodes.paragraph("", "", *words(str(parameter))))
        found += nodes.definition_list_item("", nodes.term("", "", nodes.literal(text=name)), meaning)
    return found


class Parameters(SphinxDirective):
    """Show a section for each method."""

    def run(self) -> list[nodes.Node]:
        out: list[nodes.Node] = []
        for name in names():
            method = get(name)
            section = nodes.section(ids=[nodes.make_id(f"takes-{name}")], names=[f"takes {name}"])
            section += nodes.title(text=name)
            section += nodes.paragraph(text=f"{method.TITLE}.")
            section += listed({**method.PARAMETERS, **method.SOLVE_PARAMETERS})
            out.append(section)
        return out


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("parameters", Parameters)
    return {"parallel_read_safe": True}
