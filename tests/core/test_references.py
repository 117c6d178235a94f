"""references.bib: every method has its papers, every entry is whole and is of a method."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

import cvxml
from cvxml.core.references import bibtex, entries
from cvxml.methods import get
from tests.cli.commands import Cli

NEEDED = {"article": {"journal", "volume", "pages"}, "inproceedings": {"booktitle"}}


@pytest.mark.parametrize("method", cvxml.list_methods())
def test_every_method_has_its_papers(method: str) -> None:
    text = bibtex(method)
    years = re.findall(r"^  year +=  *\{(\d{4})\},$", text, flags=re.MULTILINE)
    assert years, f"{method}: name it among the keywords of an entry of cvxml/core/references.bib"
    assert years == sorted(years)
    title = get(method).TITLE
    named = re.findall(r"\b(?:19|20)\d\d\b", title)
    assert set(named) <= set(years), (title, years)
    if named:  # the first author, too
        first = re.search(r"\(([\w-]+(?: [\w-]+)*?)(?:,| et al| \d)", title)
        assert first, title
        assert first[1].split()[-1] in text, (title, first[1])


def test_every_entry_is_whole() -> None:
    assert len(entries()) == (files("cvxml.core") / "references.bib").read_text(encoding="utf-8").count("\n@")
    keys = [re.match(r"@(\w+)\{(\w+),\n", text) for text, _ in entries()]
    assert len({key[2] for key in keys if key}) == len(keys)
    for key, (text, methods) in zip(keys, entries(), strict=True):
        assert key
        fields = re.findall(r"^  (\w+) +=  *\{.+\},$", text, flags=re.MULTILINE)
        assert text.count("{") == text.count("}")
        assert len(fields) == len(set(fields)) == text.count("\n") - 1
        assert {"author", "title", "year", *NEEDED[key[1]]} <= set(fields), key[2]
        assert "keywords" not in fields
        assert methods <= set(cvxml.list_methods()), key[2]
        assert methods


def test_the_command(cli: Cli) -> None:
    assert cli("show", "rca", "--bibtex") == (0, bibtex("rca") + "\n", "")
    assert bibtex("rca").count("@") == 2
    refused = cli("show", "nosuch", "--bibtex")
    assert refused[:2] == (2, "")
    assert cli("show", "rca", "--bibtex", "--latex").code == 2
