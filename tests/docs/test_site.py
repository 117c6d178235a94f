"""The site that Sphinx makes of docs/: no dead link, nothing from a network, nothing left out, no LaTeX left as it is.

Slow: the site is built once a session. Skipped where the extra `docs` is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

import cvxml
from cvxml import displays
from cvxml.cli.main import _parser
from cvxml.methods import get

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
FAR = re.compile(r"(?:[a-z]+:)?//|data:text", flags=re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads, where it leads, which places it has, and its text outside of code."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.ids: set[str] = set()
        self.formulas = 0
        self.codes: list[str] = []
        self.words: list[str] = []
        self._within: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("pre", "code", "script", "style"):
            self._within.append(tag)
            self.codes.append("")
        self.formulas += tag == "math"
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev", "index", "search"):
            self.loads.append(given["href"])
        if given.get(LOADED.get(tag, "")):
            self.loads.append(given[LOADED[tag]])
        self.loads += re.findall(r"url\((.*?)\)", given.get("style", ""))
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])

    def handle_endtag(self, tag: str) -> None:
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if self._within:
            self.codes[-1] += data
        else:
            self.words.append(data)


class Site(NamedTuple):
    """The folder, its pages by path in it, and where Sphinx left what it read."""

    folder: Path
    pages: dict[str, Page]
    doctrees: Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    for module in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    html = folder / "html"
    pages = {str(path.relative_to(html)): Page(path) for path in html.rglob("*.html")}
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))
    return Site(html, pages, folder / "doctrees")


def test_no_page_loads_anything_from_a_network(site: Site) -> None:
    for name, page in site.pages.items():
        assert page.loads, name
        assert not [target for target in page.loads if FAR.match(target)], name
    for style in site.folder.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        loads = re.findall(r"url\(['\"]?(.*?)['\"]?\)", text) + re.findall(r"@import\s+['\"](.*?)['\"]", text)
        assert not [target for target in loads if FAR.match(target)], style
    for script in site.folder.rglob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert not re.findall(r"https?://[^\s\"'`]+\.(?:js|mjs|css|woff2?|json)\b", text), script


def test_no_link_is_dead(site: Site) -> None:
    for name, page in site.pages.items():
        for target in [*page.leads, *page.loads]:
            if FAR.match(target) or target.startswith(("data:", "mailto:")):
                continue
            path, _, place = target.partition("#")
            there = (
                (site.folder / name).parent / unquote(path.partition("?")[0]) if path else site.folder / name
            )
            assert there.resolve().is_file(), f"{name}: {target}"
            if place and there.suffix == ".html":
                found = site.pages[str(there.resolve().relative_to(site.folder.resolve()))]
                assert unquote(place) in found.ids, f"{name}: {target}"


def test_every_public_name_is_in_the_reference(site: Site) -> None:
    there = site.pages["api.html"].ids
    wanted = {f"cvxml.{name}" for name in cvxml.__all__ if not name.startswith("__")}
    wanted |= {f"cvxml.displays.{name}" for name in displays.__all__}
    wanted |= {f"cvxml.datasets.{name}" for name in ("load", "names", "standardize", "subsample")}
    assert wanted <= there, wanted - there


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_every_option_of_the_command_line_is_there(site: Site) -> None:
    page = site.pages["command_line.html"]
    named = {word for code in page.codes for word in code.replace(",", " ").split()}
    assert len(list(commands())) > 9
    for name, parser in commands():
        assert f"cvxml-{name}" in page.ids
        assert {option for action in parser._actions for option in action.option_strings} - {
            "-h",
            "--help",
        } <= named


@pytest.mark.parametrize("method", ["mlsvm", "ssvm", "glml", "nca", "lmnn", "itml", "mcml", "mmc", "dml_eig"])
def test_formulas_are_drawn_and_stand_with_their_code(site: Site, method: str) -> None:
    page = site.pages["gerrymandering.html" if method == "ssvm" else f"{method}.html"]
    rows = [(row, section.line(row)) for section in get(method).STATEMENT.sections for row in section.rows]
    assert page.formulas >= len(rows)
    for _, line in rows:
        assert line in page.codes or not line, line
    assert not any("#: " in code for code in page.codes)
    words = "".join(page.words)
    assert not re.findall(r"\\[a-zA-Z]+", words)
    assert all(row.tag in words for row, _ in rows)


def test_every_block_of_code_is_run_or_known_not_to_be(site: Site) -> None:
    nodes = importlib.import_module("docutils.nodes")
    seen = set()
    for path in site.doctrees.rglob("*.doctree"):
        name = path.relative_to(site.doctrees).with_suffix("")
        document: Any = pickle.loads(path.read_bytes())
        for block in document.findall(nodes.literal_block):
            language = block.get("language")
            if "source" in block and str(block["source"]).endswith(".py") and language == "python":
                assert (ROOT / "cvxml") in Path(block["source"]).resolve().parents, name
            elif language == "sh":
                # commands of a folder that needs packages of its own
                assert str(name) == "contributing" or name.name.endswith("README"), name
            else:
                assert language in ("python", "console", "text"), (name, block.astext()[:80])
                assert (ROOT / "docs" / f"{name}.md").is_file()
                assert name.parent == Path("."), (
                    f"{name}: tests/docs/test_docs.py runs the pages of docs/ alone"
                )
            seen.add(language)
    assert seen == {"python", "console", "text", "sh"}


def test_every_report_is_a_page(site: Site) -> None:
    reports = [path.relative_to(ROOT / "validation") for path in (ROOT / "validation").rglob("*.md")]
    assert reports
    for report in reports:
        title = (ROOT / "validation" / report).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        assert title in "".join(site.pages[f"reports/{'-'.join(report.with_suffix('.html').parts)}"].words)
