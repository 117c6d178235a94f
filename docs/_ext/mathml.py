"""LaTeX to MathML, which browsers draw by themselves: no script, no font, no network. docutils converts it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg|textstyle)(?![a-zA-Z])")  # not known to it, and not needed
OPERATOR = re.compile(r"(\\operatorname\{\w+\}) (?=[\w\\])")  # which would stand close to its argument
BRACKET = re.compile(r"<mo(?: class=\"math\w+\")?>([^\w\s<])</mo>")


def mathml(latex: str, block: bool) -> str:
    """One formula. Raises docutils' MathError for a command that the converter does not know."""
    known = OPERATOR.sub(r"\1\,", SIZES.sub("", latex)).replace(r"\operatorname*", r"\operatorname")
    # browsers stretch brackets to the height of their neighbours unless told not to
    return BRACKET.sub(r'<mo stretchy="false">\1</mo>', tex2mathml(known, as_block=block))


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula in a line."""
    writer.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """A formula of its own, in what can scroll: browsers do not scroll a formula by itself."""
    writer.body.append(f'<div class="scrolls">{mathml(node.astext(), True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
