"""Change relative links between files of the repository so that they work on the site.

In the repository a link is relative to the folder of its file. On the site README, CHANGELOG, CONTRIBUTING and the
reports of validation/ are pages of docs/. This module writes the pages of the reports to docs/reports/, which is not in
the repository. MyST copies all other linked files into the site.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.rst": "gallery/index.rst",
}
INDEX = """# Reports

Programs in `validation/` wrote these reports, or they describe such a program.

```{toctree}
:glob:

*
```
"""
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


@cache
def pages() -> dict[Path, Path]:
    """Map each file outside of docs/ that has a page on the site to this page."""
    found = {ROOT / name: DOCS / page for name, page in PAGES.items()}
    for report in sorted((ROOT / "validation").rglob("*.md")):
        name = "-".join(report.relative_to(ROOT / "validation").parts)
        found[report] = DOCS / "reports" / name
    return found


def write_reports() -> None:
    """Write a page for each report, which includes the report, and their index; remove the pages of deleted reports."""
    (DOCS / "reports").mkdir(exist_ok=True)
    written = {page: report for report, page in pages().items() if page.parent.name == "reports"}
    texts = {
        page: f"```{{include}} {os.path.relpath(report, page.parent)}\n```\n"
        for page, report in written.items()
    }
    texts[DOCS / "reports" / "index.md"] = INDEX
    for page in set((DOCS / "reports").glob("*.md")) - set(texts):
        page.unlink()
    for page, text in texts.items():
        # Sphinx reads a page again after each write, so unchanged pages are not written.
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def relocated(text: str, folder: Path) -> str:
    """Return the text of a file in `folder` with links "/path", relative to docs/, which is the form of MyST."""

    def replace(found: re.Match[str]) -> str:
        path = (folder / found[1]).resolve()
        return f"](/{os.path.relpath(pages().get(path, path), DOCS)}{found[2] or ''})"

    return LINK.sub(replace, text)


def read(app: Any, docname: str, source: list[str]) -> None:
    source[0] = relocated(source[0], (DOCS / docname).parent)


def included(app: Any, path: Path, parent: str, source: list[str]) -> None:
    source[0] = relocated(source[0], (DOCS / path).resolve().parent)


def setup(app: Any) -> dict[str, bool]:
    write_reports()
    app.connect("source-read", read)
    app.connect("include-read", included)
    return {"parallel_read_safe": True}
