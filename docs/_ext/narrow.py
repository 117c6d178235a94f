"""On narrow screens, show _static/NAME_narrow.png in place of _static/NAME.png, if both exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", switched)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
