"""Convert LaTeX to MathML, with docutils. Browsers draw MathML without a script, a font or the network."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import accents, tex2mathml

SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg|textstyle)(?![a-zA-Z])")  # unknown to docutils, not needed
OPERATOR = re.compile(r"(\\operatorname\{\w+\}) (?=[\w\\])")  # needs a space before its argument
BRACKET = re.compile(r"<mo(?: class=\"math\w+\")?>([^\w\s<])</mo>")
ENTITY = re.compile(r"&(?!lt;|gt;|amp;)\w+;")  # of HTML, unknown to XML
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)


def separate(formula: str) -> str:
    r"""Put the index of an accented letter (\hat h_i) beside the letter; docutils puts it below."""
    if "<munderover>" not in formula:
        return formula
    root = ElementTree.fromstring(ENTITY.sub(lambda found: html.unescape(found[0]), formula))
    for node in list(root.iter(f"{{{NAMESPACE}}}munderover")):
        letter, index, above = node
        if above.text in accents.values():
            accented = ElementTree.Element(f"{{{NAMESPACE}}}mover", accent="true")
            accented.extend([letter, above])
            node.tag, node[:] = f"{{{NAMESPACE}}}msub", [accented, index]
    return ElementTree.tostring(root, encoding="unicode")


def mathml(latex: str, block: bool) -> str:
    """Return a formula as MathML. Raises docutils' MathError for a command that the converter does not know."""
    known = OPERATOR.sub(r"\1\,", SIZES.sub("", latex)).replace(r"\operatorname*", r"\operatorname")
    # By default browsers stretch brackets to the height of their neighbours.
    return BRACKET.sub(r'<mo stretchy="false">\1</mo>', separate(tex2mathml(known, as_block=block)))


def inline(writer: Any, node: nodes.Element) -> None:
    """Write a formula inside a line of text."""
    writer.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """Write a displayed formula, in a box that can scroll: browsers do not scroll a bare formula."""
    writer.body.append(f'<div class="scrolls">{mathml(node.astext(), True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
