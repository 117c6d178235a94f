"""Link the first use of each glossary term on each page of the site to the glossary.

The terms are the headings of docs/glossary.md, except the heading of the table of old names. Pages need no marks for
this. Headings, code, signatures, formulas and links are skipped. If a term has other meanings too, only the phrases in
`PHRASES` become links.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "glossary"
OLD_NAMES = "Names of 0.2"  # the heading of the table of old names
PASSED = (
    nodes.title,
    nodes.literal,
    nodes.literal_block,
    nodes.reference,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    addnodes.desc_signature,
    addnodes.literal_emphasis,  # the type of a parameter
    addnodes.literal_strong,  # the name of a parameter
)
LINKED_CODE = "code_links_block"  # sphinx-gallery puts it in place of a literal block
PHRASES = {
    "attained": r"(?:not )?attain(?:ed|s)?",
    "close": r"(?!)",
    "infimum": r"infim(?:um|a)",
    "metric": r"(?!)",
    "P₊": r"P_\+|P₊",
    "radius": r"(?:a|the|no|whose) radius",
    "repaired": r"repair(?:ed|s)?",
    "scale": r"(?:of the|its|the) scale(?! of A)",
    "target": r"targets?(?! neighbours)",
}


@cache
def terms() -> dict[str, re.Pattern[str]]:
    """Map each heading of the glossary to the pattern that finds it in a text."""
    text = (Path(__file__).parent.parent / f"{GLOSSARY}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    return {
        head: re.compile(
            rf"(?<![\w-])({PHRASES.get(head, re.escape(head) + '(?:s|es)?')})(?![\w-])", re.IGNORECASE
        )
        for head in heads
        if head != OLD_NAMES
    }


def is_prose(node: nodes.Node) -> bool:
    """Return whether a word may be linked in this text."""
    parent = node.parent
    while parent is not None and not isinstance(parent, PASSED) and parent.tagname != LINKED_CODE:
        parent = parent.parent
    return isinstance(node, nodes.Text) and parent is None


def link(text: nodes.Text, found: re.Match[str], address: str) -> None:
    """Replace the match in a text by a link."""
    said = nodes.reference(found[0], found[0], refuri=address, internal=True, classes=["term"])
    parts = [nodes.Text(found.string[: found.start()]), said, nodes.Text(found.string[found.end() :])]
    text.parent.replace(text, [part for part in parts if part.astext()])


def link_terms(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link the first use of each term on a page."""
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
