"""For narrow screens: NAME_narrow.png in place of NAME.png, if _static has both; names in tables on one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

LONGEST = 24  # letters of a name that stays on one line
STATIC = Path(__file__).resolve().parent.parent / "_static"
IMAGE = re.compile(r"<img [^>]*src=\"[^\"]*?_images/(\w+)\.png\"[^>]*/?>")


def switched(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    def picture(found: re.Match[str]) -> str:
        narrow = f"{found[1]}_narrow.png"
        if not (STATIC / narrow).is_file():
            return found[0]
        path = context["pathto"](f"_static/{narrow}", 1)
        return f'<picture><source media="(max-width: 46em)" srcset="{path}">{found[0]}</picture>'

    if "body" in context:
        context["body"] = IMAGE.sub(picture, context["body"])


def unbroken(app: Any, doctree: nodes.document, docname: str) -> None:
    """Give short code in tables the class "name". The style of this class forbids a line break in a name."""
    for entry in doctree.findall(nodes.entry):
        for code in entry.findall(nodes.literal):
            if len(code.astext()) <= LONGEST:
                code["classes"].append("name")


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", unbroken)
    app.connect("html-page-context", switched)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
