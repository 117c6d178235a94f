"""The papers of the methods as BibTeX, from `references.bib`, which lists method ids under `keywords`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

ENTRY = re.compile(r"^@\w+\{.*?^\}$", flags=re.DOTALL | re.MULTILINE)


@cache
def entries() -> tuple[tuple[str, frozenset[str]], ...]:
    """Return (text, ids) for every BibTeX entry: the text without the line of keywords, and the ids of its methods."""
    found = []
    for text in ENTRY.findall((files("cvxml.core") / "references.bib").read_text(encoding="utf-8")):
        named = re.search(r"^ *keywords *= *\{(.*?)\},\n", text, flags=re.MULTILINE)
        ids = frozenset(named[1].split(", ")) if named else frozenset()
        found.append((text.replace(named[0], "") if named else text, ids))
    return tuple(found)


def bibtex(method: str) -> str:
    """Return the BibTeX entries of a method's papers, the earliest first; "" for a method without papers."""
    return "\n\n".join(text for text, methods in entries() if method in methods)
