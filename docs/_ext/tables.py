"""`python docs/_ext/tables.py` writes the rows of methods in tables of several pages, from facts on their own pages.

The page of a method ends with a comment. Its lines are facts: the name of a column, a colon, and the cell.

    <!-- Facts of frobmetric
    convex: yes
    ...
    -->

A line that begins with two spaces goes on with the fact above it. A variant such as `mmc:diagonal` has a comment with
the facts in which it differs from the method. Methods with the same cells share a row. tests/docs/test_docs_methods.py
compares the pages with this program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cvxml.core.other_lists import PAIRS, QUADRUPLETS, TRIPLETS
from cvxml.core.parameter import OF_POINTS, Parameter
from cvxml.methods import get, names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SHORT = 40  # largest number of characters for the description of a default
COMMENT = re.compile(r"^<!-- Facts of ([\w:]+)\n(.*?)^-->$", flags=re.MULTILINE | re.DOTALL)
DEFAULTS = "parameters (default)"  # the column that is written from `PARAMETERS`
GROUP = "from"  # the fact that places a method in the second table of docs/methods.md; the seeds have none
CONVEX = "convex: optimum"  # the row of the README for every method that no other row names
# words of a row of docs/oracle_misreadings.md, and the misreading that its methods have
SHARED = {
    "targets 2 to": TRIPLETS["second_targets"],
    "a lost triplet": TRIPLETS["lost"],
    "a lost pair": PAIRS["lost"],
    "a lost quadruplet": QUADRUPLETS["lost"],
}


class Table(NamedTuple):
    """A table of a page, found by its head: the name of the column of methods, then the names of the facts."""

    page: str
    methods: str
    facts: tuple[str, ...]
    linked: bool = False

    @property
    def head(self) -> str:
        return f"| {' | '.join((self.methods, *self.facts))} |\n"


TABLES = (
    Table("which_method_tables.md", "id", ("a good metric", "convex", "certified", DEFAULTS), linked=True),
    Table(
        "which_method_tables.md", "method id", ("one optimum", "attained", "learns from", "other programs")
    ),
    Table("which_method_tables.md", "method", ("grows with", "measured")),
    Table("which_method_tables.md", "methods", ("in the span of the differences", "outside the span")),
    Table("errata.md", "id", ("the problem in cvxpy, compared with the printed one", "source")),
)


class Facts(NamedTuple):
    """The page of a method, for example "mmc.md", and its facts."""

    page: str
    cells: dict[str, str]


def facts() -> dict[str, Facts]:
    """Return the facts of every method by id, in the order of the registry. ValueError if a method has none."""
    found: dict[str, Facts] = {}
    for page in sorted(DOCS.glob("*.md")):
        for id, lines in COMMENT.findall(page.read_text(encoding="utf-8")):
            whole = lines.replace("\n  ", " ").splitlines()
            found[id] = Facts(
                page.name, {name: cell for name, _, cell in (line.partition(": ") for line in whole)}
            )
    for id in names():
        if id not in found:
            raise ValueError(
                f"no page in docs has a comment `<!-- Facts of {id}`: copy that of docs/frobmetric.md"
            )
        main = found[id.partition(":")[0]]
        found[id] = Facts(found[id].page, main.cells | found[id].cells)
    return {id: found[id] for id in names()}


def defaults(method: str) -> str:
    """Return the parameters of a method with their defaults, without the lists of points."""
    parameters = get(method).PARAMETERS.items()
    return ", ".join(shown(name, each) for name, each in parameters if each.kind not in OF_POINTS) or "none"


def shown(name: str, parameter: Parameter) -> str:
    """Return a parameter with its default, for example "lam (0.1)", or "C (1/n)" if it depends on the data."""
    default, words = parameter.default, parameter.otherwise
    if default is not None:
        return f"{name} ({default})" if isinstance(default, str) else f"{name} ({default:g})"
    if not words:
        return name
    return f"{name} ({words if len(words) <= SHORT else 'from the data'})"


def rows(table: Table) -> str:
    """Return the rows of a table. ValueError if a fact is missing."""
    methods: dict[tuple[str, ...], list[str]] = {}  # by their cells
    for id, of in facts().items():
        missing = [name for name in table.facts if name not in of.cells and name != DEFAULTS]
        if missing:
            raise ValueError(f"docs/{of.page}: the facts of {id} have no line `{missing[0]}: ...`")
        cells = tuple(defaults(id) if name == DEFAULTS else of.cells[name] for name in table.facts)
        link = of.cells.get("link", of.page)
        linked = table.linked and (":" not in id)
        methods.setdefault(cells, []).append(f"[`{id}`]({link})" if linked else f"`{id}`")
    return "".join(f"| {' | '.join((', '.join(ids), *cells))} |\n" for cells, ids in methods.items())


def with_rows(text: str, head: str, rows: str) -> str:
    """Return the text of a page in which the table with this head has these rows."""
    before, after = text.split(head)
    line, _, body = after.partition("\n")  # the line below the head
    rest = re.sub(r"\A(?:\|.*\n)*", "", body)
    return f"{before}{head}{line}\n{rows}{rest}"


def title(page: str) -> str:
    """Return the name of a method: the title of its page up to the colon."""
    first = (DOCS / page).read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").partition(":")[0]


def methods_page(text: str) -> str:
    """Return docs/methods.md with every method in its group and in the contents."""
    groups: dict[str, dict[str, None]] = {}
    for of in facts().values():
        if GROUP in of.cells:
            groups.setdefault(of.cells[GROUP], {})[f"[{title(of.page)}]({of.page})"] = None
    for group, links in groups.items():
        row = re.compile(rf"^\| {re.escape(group)} \|.*$", flags=re.MULTILINE)
        if not row.search(text):
            raise ValueError(
                f"docs/methods.md has no row `{group}`; take the group of a page that is like yours"
            )
        text = row.sub(f"| {group} | {', '.join(links)} |", text)
    for page in dict.fromkeys(of.page for of in facts().values()):
        entry = f"<{page.removesuffix('.md')}>\n"
        if entry not in text:  # before the last entry, which is no method
            head, last = text.rstrip("`\n").rsplit("\n", 1)
            text = f"{head}\n{title(page)} {entry}{last}\n```\n"
    return text


def misreadings_page(text: str) -> str:
    """Return docs/oracle_misreadings.md with the methods of each row on lists, and a row for a method without one."""
    for words, misreading in SHARED.items():
        methods = [f"`{id}`" for id in names() if misreading in get(id).MISREADINGS.values()]
        row = re.compile(rf"^(\|[^|]*{words}[^|]*\|).*\|$", flags=re.MULTILINE)
        text = row.sub(rf"\1 {', '.join(methods)} |", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    for id, of in facts().items():
        own = get(id).MISREADINGS
        if own and not any(f"`{id}`" in row for row in rows):
            sentences = "; ".join(each.sentence for each in own.values()).replace("|", "\\|")
            new = f"| [{len(own)} of {title(of.page)}]({of.page}): {sentences} | `{id}` |"
            text = text.replace(rows[-1], f"{rows[-1]}\n{new}")
    return text


def readme(text: str) -> str:
    """Return the README with the number of methods, the row of the convex ones, and the lists below the table."""
    table = text.partition("\n## The methods\n")[2].partition("\n## ")[0]
    (row,) = [line for line in table.splitlines() if line.endswith(f"| {CONVEX} |")]
    elsewhere = set(re.findall(r"`([\w:]+)`", table.partition("\n\n`")[0].replace(row, "")))
    links: dict[str, list[str]] = {}
    for id, of in facts().items():
        if id not in elsewhere:
            links.setdefault(of.page, []).append(f"`{id}`")
    cell = ", ".join(f"[{', '.join(ids)}](docs/{page})" for page, ids in links.items())
    text = text.replace(row, f"| {cell} | {CONVEX} |")
    text = re.sub(r"\b\d+ methods\b", f"{len(names())} methods", text)
    stationary = [id for id in names() if get(id).CLAIM == "stationary"]
    text = re.sub(r"^`.*(?= are not convex)", quoted(stationary, ", "), text, flags=re.MULTILINE)
    compared = [id for id, of in facts().items() if of.cells["source"] == "the paper"]
    return re.sub(r"(?<=Only )`[^.]*?(?= were )", quoted(compared, "\nand "), text)


def quoted(ids: list[str], last: str) -> str:
    """Return the ids as a list in words. last: what is between the last two."""
    first = ", ".join(f"`{id}`" for id in ids[:-1])
    return f"{first}{last}`{ids[-1]}`"


def pages() -> dict[Path, str]:
    """Return the pages that this program writes, with their texts."""
    texts: dict[Path, str] = {}

    def change(path: Path, by: Callable[[str], str]) -> None:
        texts[path] = by(texts.get(path) or path.read_text(encoding="utf-8"))

    for table in TABLES:
        change(DOCS / table.page, lambda text: with_rows(text, table.head, rows(table)))  # noqa: B023
    change(DOCS / "methods.md", methods_page)
    change(DOCS / "oracle_misreadings.md", misreadings_page)
    change(ROOT / "README.md", readme)
    return texts


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
