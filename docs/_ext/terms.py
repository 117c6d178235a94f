"""The first use of a word of the glossary, on each page of the site, leads to it.

The words are the headings of docs/glossary.md; nothing is marked on the pages themselves. Headings, code, formulas and
what is a link already are passed over. A word that also means something else counts in the phrases of `PHRASES` only.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes

GLOSSARY = "glossary"
PASSED = (
    nodes.title,
    nodes.literal,
    nodes.literal_block,
    nodes.reference,
    nodes.math,
    nodes.math_block,
    nodes.raw,
)
PHRASES = {
    "attained": r"(?:not )?attain(?:ed|s)?",
    "bound": r"lower bounds?",
    "close": r"(?!)",
    "metric": r"(?!)",
    "not certified": r"(?!)",
    "P₊": r"P_\+|P₊",
    "radius": r"(?:a|the|no|whose) radius",
    "repaired": r"repair(?:ed|s)?",
    "scale": r"(?:of the|its|the) scale(?! of A)",
    "slack": r"slacks?(?! variables?)",
    "target": r"targets?(?! neighbours)",
}


@cache
def terms() -> dict[str, re.Pattern[str]]:
    """A heading of the glossary -> how it stands in a text."""
    text = (Path(__file__).parent.parent / f"{GLOSSARY}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    return {
        head: re.compile(
            rf"(?<![\w-])({PHRASES.get(head, re.escape(head) + '(?:s|es)?')})(?![\w-])", re.IGNORECASE
        )
        for head in heads
    }


def is_prose(node: nodes.Node) -> bool:
    """Text that a word may be linked in."""
    parent = node.parent
    while parent is not None and not isinstance(parent, PASSED):
        parent = parent.parent
    return isinstance(node, nodes.Text) and parent is None


def link(text: nodes.Text, found: re.Match[str], address: str) -> None:
    """Put a link in the place of what was found in a text."""
    said = nodes.reference(found[0], found[0], refuri=address, internal=True, classes=["term"])
    parts = [nodes.Text(found.string[: found.start()]), said, nodes.Text(found.string[found.end() :])]
    text.parent.replace(text, [part for part in parts if part.astext()])


def link_terms(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link each term where the page uses it first."""
    if app.builder.format != "html" or docname in (GLOSSARY, "changelog"):
        return
    home = app.builder.get_relative_uri(docname, GLOSSARY)
    for head, pattern in terms().items():
        for text in doctree.findall(is_prose):
            if found := pattern.search(text):
                link(text, found, f"{home}#{nodes.make_id(head)}")
                break


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
