"""Count turns of phrase that make English hard to read at first sight, per 1,000 words.

    python validation/plain.py README.md docs cvxml          # a row for each file, worst first, and the total
    python validation/plain.py --worst 20 docs/oracle.md     # the sentences to rewrite first
    python validation/plain.py --most 3 README.md docs       # exit code 1 above 3 turns per 1,000 words (lint)

A turn is a match of one of `PATTERNS`. Only prose is read: paragraphs of Markdown (no code, tables, formulas),
docstrings and comments of Python, and strings that hold a sentence. A count shows where to look. A reader who did not
write the text decides whether it is clear.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TURNS = {
    "noun clause with what": r"\b[Ww]hat (?:is|was|are|were|has|have|had|no|it|they|one|a|an|the|leaves|leave|follows"
    r"|counts|that|remains|cannot|can|may|must|stands|comes|each|this|of|both|makes|holds)\b",
    "of which, whose": r"\b(?:of|in|from|at|by|to|on|with|for|beside|beyond|below|above|between) "
    r"(?:which|whom|whose)\b|\bwhose\b",
    "but for": r"\bbut (?:for|of|in|at|not for)\b",
    "says, is said, is told": r"\b(?:is|are|was|were) (?:said|told|called so|asked|meant)\b"
    r"|\b(?:says|said) (?:so|it|by|of|once)\b|\btells?\b",
    "inverted opening": r"(?:^|(?<=[.;:] ))(?:Of|What|Beside|Whose|Nor|Neither|Left|There(?! (?:is|are|was|were))"
    r"|None|Nobody|At|Told|So is|So are|So do|Here too|To) ",
    "nobody, nothing, none": r"\b(?:nobody|nothing|none|no one|whoever|whatever|whichever)\b",
    "ellipsis": r"\b(?:is|are|was|were) (?:one|none|no more|another's|its own|theirs|his)\b"
    r"|\bas (?:it|they) (?:is|are|was|were)\b|\bno (?:more|less|other|nearer|better) than\b",
    "next to nothing, far beyond": r"\b(?:next to|far beyond|far from|no longer|as good as|as right as|as near as"
    r"|as far as)\b",
}
PATTERNS = {name: re.compile(pattern, re.M) for name, pattern in TURNS.items()}
LONG = 32  # words of a sentence
CODE_COMMENTS = ("#:", "#!", "# ->", "# noqa", "# type")  # comments that programs read
LEFT_OUT = (".venv", "build", "gallery", "history.md")  # made by programs, or texts of the past


class Sentence(NamedTuple):
    """A sentence of a file, with its number of words and of turns."""

    path: Path
    text: str
    words: int
    turns: int


def of_markdown(text: str) -> str:
    """Return the prose of a Markdown text: its paragraphs without code, tables, formulas, directives and comments."""
    text = re.sub(r"(?ms)^(`{3,}|:{3,}|~{3,}).*?^\1\s*$", "", text)
    text = re.sub(r"(?s)\$\$.*?\$\$", " F ", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = ["" if re.match(r"\s*(\||#|!\[|<)", line) else line for line in text.splitlines()]
    return "\n".join(re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "\n", line) for line in lines)


def of_python(text: str) -> str:
    """Return the prose of a Python file: docstrings, comments, and strings of more than four words."""
    found, tree = [], ast.parse(text)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            found.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else " V " for part in node.values]
            found.append("".join(parts))
    comments = [
        token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not token.string.startswith(CODE_COMMENTS)
    ]
    return "\n\n".join([each for each in found if len(each.split()) > 4] + comments)


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file that have at least four words."""
    raw = path.read_text(encoding="utf-8")
    text = of_python(raw) if path.suffix == ".py" else of_markdown(raw)
    text = re.sub(r"`[^`]*`", "C", text)
    text = re.sub(r"\$[^$]*\$", "F", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[*_]{1,2}([^*_]+)[*_]{1,2}", r"\1", text)
    for paragraph in re.split(r"\n\s*\n", text):
        for one in re.split(r"(?<=[.?!])\s+(?=[A-Z(])", " ".join(paragraph.split())):
            if len(re.findall(r"[A-Za-z]{2,}", one)) >= 4:
                turns = sum(len(pattern.findall(one)) for pattern in PATTERNS.values())
                yield Sentence(path, one, len(one.split()), turns)


def files_of(places: list[str]) -> Iterator[Path]:
    """Yield the files among `places`, and the .md and .py files below the folders among them."""
    for place in map(Path, places):
        if place.is_dir():
            below = sorted(each for each in place.rglob("*") if each.suffix in (".md", ".py"))
            yield from (each for each in below if not set(each.parts) & set(LEFT_OUT))
        else:
            yield place


def rate(found: list[Sentence]) -> float:
    """Return the turns per 1,000 words."""
    return 1000 * sum(each.turns for each in found) / max(1, sum(each.words for each in found))


def row(found: list[Sentence], name: str) -> str:
    """Return a row of the table for the sentences of a file."""
    words = sum(each.words for each in found)
    many = sum(each.words > LONG for each in found)
    return f"{rate(found):10.1f} {words:7d} {many:6d} of {len(found):<6d} {name}"


def main() -> int:
    """Print the table. Return 1 if the total is above the limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="+", metavar="PLACE")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="list the N worst sentences")
    parser.add_argument("--rows", type=int, default=25, metavar="N", help="show the N worst files")
    parser.add_argument("--most", type=float, metavar="X", help="exit code 1 if the total is above X")
    given = parser.parse_args()
    by_file = [list(sentences(path)) for path in files_of(given.places)]
    together = [each for found in by_file for each in found]
    print("turns/1000   words   long sentences file")
    for found in sorted(by_file, key=rate, reverse=True)[: given.rows]:
        if found:
            print(row(found, str(found[0].path)))
    print(row(together, "all"))
    for each in sorted(together, key=lambda each: (each.turns, -each.words), reverse=True)[: given.worst]:
        print(f"{each.turns}  {each.path}: {each.text}")
    return int(given.most is not None and rate(together) > given.most)


if __name__ == "__main__":
    sys.exit(main())
