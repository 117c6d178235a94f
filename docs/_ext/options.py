"""The directive ```{options}``` lists the commands of cvxml and their options, read from the parser."""

from __future__ import annotations

import argparse
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cvxml.cli.main import _parser
from cvxml.cli.parameters import lines, offered


def commands(parser: argparse.ArgumentParser) -> list[tuple[str, str, argparse.ArgumentParser]]:
    """Return name, help line and parser of each command."""
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
    return [(name, helps.get(name, ""), sub) for name, sub in action.choices.items()]


def spelt(action: argparse.Action) -> str:
    """Return an option or argument as the user types it."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    return f"{', '.join(action.option_strings)} {action.metavar or action.dest.upper()}"


def words(line: str) -> list[nodes.Node]:
    """Return a line as nodes; text between backticks becomes code."""
    parts = enumerate(line.split("`"))
    return [nodes.literal(text=part) if k % 2 else nodes.Text(part) for k, part in parts]


def table(parser: argparse.ArgumentParser) -> nodes.definition_list:
    """Return a list of the arguments and options with their meanings."""
    found, of_methods = nodes.definition_list(), offered(solving=True)
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        term = nodes.term("", "", nodes.literal(text=spelt(action)))
        said = [action.help.replace("%%", "%")] if action.help else []
        told = lines(of_methods[action.dest]) if action.dest in of_methods else said
        meaning = nodes.definition("", *(nodes.paragraph("", "", *words(line)) for line in told))
        found += nodes.definition_list_item("", term, meaning)
    return found


class Options(SphinxDirective):
    """Show a section for each command."""

    def run(self) -> list[nodes.Node]:
        out: list[nodes.Node] = []
        for name, line, parser in commands(_parser()):
            section = nodes.section(ids=[f"cvxml-{name}"], names=[name])
            section += nodes.title(text=f"cvxml {name}")
            section += nodes.paragraph(text=line[:1].upper() + line[1:] + ".")
            section += table(parser)
            out.append(section)
        return out


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("options", Options)
    return {"parallel_read_safe": True}
