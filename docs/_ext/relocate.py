"""Links that a code host understands, made to work on the site.

On a code host a link is relative to the file's own place. On the site README, CHANGELOG, CONTRIBUTING and the reports
of validation/ are pages of docs/; those of the reports are written here, to docs/reports/, which is not kept. Any other
file that is linked is copied into the site: MyST does that.
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
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


@cache
def pages() -> dict[Path, Path]:
    """The page that stands for a file outside of docs/."""
    found = {ROOT / name: DOCS / page for name, page in PAGES.items()}
    for report in sorted((ROOT / "validation").rglob("*.md")):
        name = "-".join(report.relative_to(ROOT / "validation").parts)
        found[report] = DOCS / "reports" / name
    return found


def write_reports() -> None:
    """A page for each report, which includes it. Pages of reports that are gone are removed."""
    (DOCS / "reports").mkdir(exist_ok=True)
    written = {page: report for report, page in pages().items() if page.parent.name == "reports"}
    for page in set((DOCS / "reports").glob("*.md")) - set(written):
        page.unlink()
    for page, report in written.items():
        text = f"```{{include}} {os.path.relpath(report, page.parent)}\n```\n"
        # A page that has not changed is not written, so that Sphinx need not read it again.
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def relocated(text: str, folder: Path) -> str:
    """The text of a file of `folder`, its links relative to docs/, as MyST takes them after a slash."""

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
