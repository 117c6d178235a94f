"""Show excerpts in the search results when the site is opened from a folder.

The search of Sphinx fetches the text of each page that it found. Browsers refuse this if the address begins with
"file:". In this case, and only then, a script provides the texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "excerpts.js"
LOAD = f"""if (location.protocol === "file:") document.write('<script src="_static/{NAME}"><\\/script>');"""
SCRIPT = """const TEXTS = {texts};
const textOf = (address) => {{
  const main = document.createElement("div");
  main.setAttribute("role", "main");
  main.textContent = TEXTS[String(address).split("/").pop().replace(/\\.html.*/, "")] ?? "";
  return main.outerHTML;
}};
window.fetch = (address) => Promise.resolve({{ text: () => Promise.resolve(textOf(address)) }});
"""


def load(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the script to the page of search results, the only page that needs it."""
    if pagename == "search":
        app.add_js_file(None, body=LOAD)


def write(app: Any, exception: Exception | None) -> None:
    """Write the script: a map from the last part of the name of each page to its text."""
    if exception is None and app.builder.format == "html":
        texts = {Path(name).name: app.env.get_doctree(name).astext() for name in sorted(app.env.found_docs)}
        script = SCRIPT.format(texts=json.dumps(texts, sort_keys=True))
        (Path(app.outdir) / "_static" / NAME).write_text(script, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
