"""The page of each method has what a reader needs, taken from the package; so has the page that compares them."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import cvxml
from cvxml.methods import get
from tests.docs.test_docs import PAGES, ROOT, blocks, columns, definitions, every_page, read


def pages_of_methods() -> dict[str, Path]:
    """method -> the page with its statement."""
    stated = [(block, page) for page in PAGES for block in blocks(page) if block.language == "{statement}"]
    return {block.argument: page for block, page in stated}


@every_page
def test_statements_are_those_of_the_package(page: Path) -> None:
    for block in blocks(page):
        if block.language == "{statement}":
            stated = str(get(block.argument).STATEMENT)
            assert block.text == f"{stated}\n", f"{block.argument}: run `python docs/_ext/statement.py`"


@every_page
def test_included_source_exists(page: Path) -> None:
    for block in blocks(page):
        if block.language == "{literalinclude}":
            options = dict(re.findall(r"^:(\S+): (.*)$", block.text, flags=re.MULTILINE))
            assert options["language"] == "python"
            assert options["pyobject"] in definitions(page.parent / block.argument)


@pytest.mark.parametrize("method", cvxml.list_methods())
def test_every_method_has_a_page_with_all_that_one_needs(method: str) -> None:
    found = pages_of_methods()
    assert method in found or ":" in method
    page = found[method.partition(":")[0]]
    assert f"`{method}`" in read(page)
    headings = re.findall(r"^#+ (.*)$", read(page), flags=re.MULTILINE)
    for part in ("view", "dual|bound|convex", "solver|algorithm|closed form|procedure", "^Errata$"):
        assert any(re.search(part, heading, re.IGNORECASE) for heading in headings), part
    sources = [block.argument for block in blocks(page) if block.language == "{literalinclude}"]
    assert any(source.startswith("../cvxml/methods/") for source in sources)
    assert page.name in read(ROOT / "docs" / "which_method_tables.md")


TEMPLATE = (
    "What you can do",
    "Example",
    "Parameters and results",
    "In one view",
    "How it was tested",
    "Errata",
)
LARGEST_PICTURE = 60_000  # bytes
QUESTIONS = "<!-- Questions for a reader"
WITH_QUESTIONS = sorted({page for page in pages_of_methods().values() if QUESTIONS in read(page)})


@pytest.mark.parametrize("page", WITH_QUESTIONS, ids=lambda page: page.name)
def test_a_page_with_questions_follows_the_template(page: Path) -> None:
    """Uses come first, then mathematics, then tests. There is a small picture, and there are five questions."""
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    headings = [
        re.sub(r"^[\d. ]+", "", found) for found in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    ]
    assert [heading for heading in headings if heading in TEMPLATE] == list(TEMPLATE)
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert pictures
    assert all((page.parent / picture).stat().st_size <= LARGEST_PICTURE for picture in pictures)
    assert text.split(QUESTIONS)[1].count("?") >= 5


def defaults_of(page: Path) -> list[list[str]]:
    """The rows of the table of defaults: whose, and which."""
    heading = "## Defaults of the authors, of known packages, and ours\n"
    (section,) = read(page).split(heading)[1:]
    lines = section.split("\n## ")[0].splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")
    ]
    return rows[1:]


def valued(row: str) -> dict[str, Any]:
    """The `name=value` of a row of defaults; a value is a literal of Python."""
    return {name: ast.literal_eval(value) for name, value in re.findall(r"`(\w+)=([^`]+)`", row)}


@pytest.mark.parametrize("method", cvxml.list_methods())
def test_the_page_has_the_defaults_of_the_authors_of_packages_and_ours(method: str) -> None:
    """Ours are those of the class; the row names every parameter, with its value or in words."""
    rows = dict(defaults_of(pages_of_methods()[method.partition(":")[0]]))
    assert next(iter(rows)) == "the authors"
    assert next(reversed(rows)) == "ours"
    assert len(rows) >= 3
    assert all(rows.values())
    known, named = get(method).PARAMETERS | get(method).SOLVE_PARAMETERS, valued(rows["ours"])
    for name, parameter in known.items():
        assert re.search(rf"`{name}[=`]", rows["ours"]), name
        if parameter.default is not None:
            assert named[name] == parameter.default, name
            assert type(named[name]) is type(parameter.default), name
        else:
            assert name not in named


def test_the_defaults_that_pages_name_are_parameters() -> None:
    for page in set(pages_of_methods().values()):
        methods = [method for method, found in pages_of_methods().items() if found == page]
        known = {name for method in methods for name in get(method).PARAMETERS | get(method).SOLVE_PARAMETERS}
        assert set(valued(dict(defaults_of(page))["ours"])) <= known, page.name


def sources() -> dict[str, str]:
    """method -> which source its problem is from, by the table of errata.md."""
    ids, source = (columns(ROOT / "docs" / "errata.md", heading) for heading in ("id", "source"))
    pairs = zip(ids, source, strict=True)
    return {method: found for cell, found in pairs for method in re.findall(r"`([\w:]+)`", cell)}


def test_it_is_told_of_every_method_whether_its_problem_is_the_printed_one() -> None:
    assert sorted(sources()) == sorted(cvxml.list_methods())
    assert set(sources().values()) == {"the paper", "not compared", "not at hand"}
    for method, page in pages_of_methods().items():
        text = " ".join(read(page).split())
        missing = re.search(r"\b(printed|paper)\b[^.]{0,40} at hand", text)
        assert bool(missing) == (sources()[method] == "not at hand"), method


def test_the_readme_says_the_same_of_what_is_literal() -> None:
    text = " ".join(read(ROOT / "README.md").split())
    (compared,) = re.findall(r"Only ((?:`\w+`[, ]*(?:and )?)+) were", text)
    of_paper = {method for method, source in sources().items() if source == "the paper"}
    assert set(re.findall(r"`(\w+)`", compared)) == of_paper
    (steps,) = re.findall(r"((?:`\w+`[, ]*(?:and )?)+) are not convex", text)
    stationary = {method for method in cvxml.list_methods() if get(method).CLAIM == "stationary"}
    assert set(re.findall(r"`(\w+)`", steps)) == stationary


def test_every_method_has_its_row_in_which_method() -> None:
    page = ROOT / "docs" / "which_method_tables.md"
    for heading in ("id", "method id", "method"):
        named = [re.findall(r"`([\w:]+)`", cell) for cell in columns(page, heading)]
        assert sorted(name for names in named for name in names) == sorted(cvxml.list_methods())


def test_which_method_calls_convex_what_can_be_proved_optimal() -> None:
    page = ROOT / "docs" / "which_method_tables.md"
    named = [re.findall(r"`([\w:]+)`", cell) for cell in columns(page, "id")]
    for methods, convex in zip(named, columns(page, "convex"), strict=True):
        for method in methods:
            assert (convex == "no") == (get(method).CLAIM == "stationary"), method


def test_which_method_promises_a_radius_where_the_certificate_has_one() -> None:
    page = ROOT / "docs" / "which_method_tables.md"
    for cell, proved in zip(columns(page, "id"), columns(page, "certified"), strict=True):
        for method in re.findall(r"`([\w:]+)`", cell):
            assert ("a distance to the optimum" in proved) == get(method).RADIUS, method


def tables() -> dict[str, Any]:
    """The names of docs/_ext/tables.py."""
    return runpy.run_path(str(ROOT / "docs" / "_ext" / "tables.py"))


def test_the_tables_of_methods_are_made_from_their_pages() -> None:
    for path, text in tables()["pages"]().items():
        assert text == read(path), f"{path.name}: run `make pages`"


@pytest.mark.parametrize(
    ("page", "write"),
    [
        ("README.md", "readme"),
        ("docs/methods.md", "methods_page"),
        ("docs/oracle_misreadings.md", "misreadings_page"),
    ],
)
def test_a_method_that_a_page_lost_comes_back(page: str, write: str) -> None:
    text = read(ROOT / page)
    lost = re.sub(r", (\[?`rtml`(\]\(docs/rtml.md\))?|\[RTML\]\(rtml.md\))", "", text, count=2)
    lost = lost.replace("\nRTML <rtml>", "").replace("26 methods", "25 methods")
    assert lost.count("rtml") < text.count("rtml")
    written = tables()[write](lost)
    assert sorted(written.split()) == sorted(text.split())


def test_the_lists_below_the_table_of_the_readme_are_written() -> None:
    text = read(ROOT / "README.md")
    lost = re.sub(r"`.*(?= are not convex)", "`nca`, `lmnn`", text)
    lost = re.sub(r"(?<=Only )`[^.]*?(?= were )", "`glml`\nand `itml`", lost)
    assert len(lost) < len(text)
    assert tables()["readme"](lost) == text


def test_a_method_without_a_row_of_misreadings_gets_one() -> None:
    text = read(ROOT / "docs" / "oracle_misreadings.md")
    lost = re.sub(r"^\| .*`mlkr` \|\n", "", text, flags=re.MULTILINE)
    assert "mlkr.md" not in lost
    written = tables()["misreadings_page"](lost)
    (row,) = [line for line in written.splitlines() if "mlkr.md" in line]
    assert row.startswith("| [2 of MLKR](mlkr.md): ")
    assert row.endswith(" | `mlkr` |")
    assert written.replace(f"{row}\n", "") == lost


def test_rows_of_a_table_are_replaced_and_nothing_else() -> None:
    program = tables()
    for table in program["TABLES"]:
        text = read(ROOT / "docs" / table.page)
        before, after = text.split(table.head)
        emptied = program["with_rows"](text, table.head, "")
        assert emptied.startswith(before + table.head)
        assert emptied.endswith(after[after.index("\n\n") :])
        assert program["with_rows"](emptied, table.head, program["rows"](table)) == text


def test_a_fact_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    program = tables()
    of = program["facts"]()
    del of["rtml"].cells["attained"]
    monkeypatch.setitem(program["rows"].__globals__, "facts", lambda: of)
    with pytest.raises(ValueError, match=r"docs/rtml.md.*attained"):
        program["rows"](program["TABLES"][1])


def test_figures_are_those_of_the_report() -> None:
    """The figures of one measurement, between semicolons, stand in one line of the report, and one of that method."""
    page = ROOT / "docs" / "which_method_tables.md"
    report = read(ROOT / "validation" / "benchmarks" / "report.md")
    lines = [line for line in report.splitlines() if line.startswith(("| `", "- "))]
    cells = list(zip(columns(page, "method"), columns(page, "measured"), strict=True))
    assert len(cells) > 10
    for method, measured in cells:
        for part in measured.split("; "):
            figures = re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", part)
            assert figures or "not measured" in part
            assert any(
                all(re.search(rf"(?<![\d.]){re.escape(each)}(?![\d.]*\d)", line) for each in figures)
                for line in lines
                if line.startswith(("- ", f"| {method} |"))
            ), (method, part)
