"""The site, built once, whatever number of processes the tests run in."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Page, Site

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    for module in ("sphinx", "myst_parser", "furo", "sphinx_gallery", "sphinx_copybutton"):
        pytest.importorskip(module)
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    folder.mkdir(exist_ok=True)
    html = folder / "html"
    with (folder / "lock").open("w") as lock:  # the gallery is written into docs/
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").is_file():
            build(html, folder / "doctrees")
            (folder / "built").touch()
    pages = {str(path.relative_to(html)): Page(path) for path in html.rglob("*.html")}
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))
    return Site(html, pages, folder / "doctrees")


def build(html: Path, doctrees: Path) -> None:
    """What .ci/run does."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(doctrees), "docs", str(html)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
