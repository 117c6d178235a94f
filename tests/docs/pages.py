"""The pages of the site, read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}


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
