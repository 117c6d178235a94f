"""Words of the pages: the glossary, all verdicts and exit codes, counts, papers by authors, rendered formulas."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import cvxml
from cvxml.cli import main
from cvxml.methods import get, names
from tests.docs.test_docs import PAGES, ROOT, blocks, columns, every_page, read

GLOSSARY = ROOT / "docs" / "glossary.md"
WORDS = (
    "gap",
    "scale",
    "dual variable",
    "repaired",
    "usable",
    "misreading",
    "attained",
    "radius",
    "stationary",
    "kink",
)
EVERYWHERE = [
    *PAGES,
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *ROOT.glob("validation/**/*.md"),
]


def entries() -> dict[str, str]:
    """Map each term of the glossary to the text below it, without the table of old names."""
    terms = read(GLOSSARY).partition("\n## Names of 0.2\n")[0]
    parts = re.split(r"^## (.*)$", terms, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_glossary_has_the_words_in_order() -> None:
    assert set(WORDS) | {"certified", "close", "refuted", "inconclusive"} <= set(entries())
    assert list(entries()) == sorted(entries(), key=lambda word: re.sub(r"\W", "", word.lower()))
    assert len(entries()) <= 40


def test_the_new_names_of_modules_exist() -> None:
    (table,) = re.findall(r"^\| module or command.*?\n\n", read(GLOSSARY), flags=re.DOTALL | re.MULTILINE)
    new = [row.split("|")[2] for row in table.splitlines()[2:] if row]
    modules = [name for cell in new for name in re.findall(r"`(cvxml\.[\w.]+)`", cell)]
    assert len(modules) > 6
    for name in modules:
        parent, _, attribute = name.rpartition(".")
        assert find_spec(name) if parent != "cvxml" else hasattr(cvxml, attribute) or find_spec(name), name


@pytest.mark.parametrize("word", entries())
def test_an_entry_is_short_and_leads_on(word: str) -> None:
    said = entries()[word].strip()
    assert re.search(r"\]\([\w.]*#?[\w-]*\)", said), "no link to where it is defined"
    prose = re.sub(r"\[[^\]]*\]\([^)]*\)", "", said)
    assert 1 <= len(re.findall(r"[.:] ?(?=[A-Z\n]|$)", prose)) <= 5
    assert len(prose) < 500


@pytest.mark.parametrize("path", EVERYWHERE, ids=lambda path: str(path.relative_to(ROOT)))
def test_papers_have_authors(path: Path) -> None:
    assert not re.findall(r"\bpapers? '?0\d\d\b", read(path), flags=re.IGNORECASE)


CODES = {
    name: getattr(main, name)
    for name in ("CERTIFIED", "REFUTED", "BAD_INPUT", "INCONCLUSIVE", "INTERNAL", "CLOSE", "INTERRUPTED")
}


@pytest.mark.parametrize(
    "path", [*EVERYWHERE, ROOT / "cvxml" / "cli" / "main.py"], ids=lambda path: path.name
)
def test_a_list_of_exit_codes_has_them_all(path: Path) -> None:
    listed = re.findall(r"(?<!cases: )(?<!case: )\b0 certified.*?\n\n", read(path) + "\n\n", flags=re.DOTALL)
    needed = (ROOT / "README.md", ROOT / "cvxml" / "cli" / "main.py", ROOT / "docs" / "mlsvm.md")
    assert listed or path not in needed
    for text in listed:
        assert {str(code) for code in CODES.values()} <= set(re.findall(r"\b\d+\b", text)), text


TOLD = [
    path
    for path in (ROOT / "docs").glob("oracle*.md")
    if "our own solve, plus" in " ".join(read(path).split())
]


@pytest.mark.parametrize(
    "path",
    [*TOLD, *(ROOT / "cvxml" / name for name in ("cli/main.py", "oracle/check.py"))],
    ids=lambda path: path.name,
)
def test_the_time_of_a_diagnosis_is_that_of_the_code(path: Path) -> None:
    text = " ".join(re.sub(r'["\n]', " ", read(path)).split())
    judge = (ROOT / "cvxml" / "oracle" / "judge.py").read_text(encoding="utf-8")
    limits = re.findall(r"(\w+) times the processor time of our own solve, plus (\d+) s", text)
    assert limits
    for times, seconds in limits:
        assert f"SOLVES, SECONDS = {NUMBERS[times]}.0, {seconds}.0" in judge
    assert not re.findall(r"times our own solve", text)


NUMBERS = {"two": 2, "four": 4, "six": 6, "eight": 8, "ten": 10}


def test_the_verdicts_of_a_table_are_all() -> None:
    for name in ("oracle.md", "duality.md", "cheat_sheet.md"):
        table = re.search(
            r"^\| verdict \|.*?\n\n", read(ROOT / "docs" / name), flags=re.DOTALL | re.MULTILINE
        )
        assert table
        verdicts = re.findall(r"^\| (\w+) \|", table[0], flags=re.MULTILINE)[1:]
        assert sorted(verdicts) == ["certified", "close", "inconclusive", "refuted"], name


def test_counts_of_misreadings_are_right() -> None:
    page = read(ROOT / "docs" / "oracle_misreadings.md")
    counted = re.findall(r"\[(\d+) of ([^\]]+)\]\((\w+)\.md", page)
    assert len(counted) > 8
    for count, _, method in counted:
        assert int(count) == len(get(method).MISREADINGS), method
    named = {
        name
        for cell in columns(ROOT / "docs" / "oracle_misreadings.md", "methods")
        for name in cell.split("`")
    }
    with_some = {method for method in names() if get(method).MISREADINGS}
    assert with_some <= named, f"{with_some - named}: run `make pages`"


@every_page
def test_formulas_are_rendered(page: Path) -> None:
    for block in blocks(page):
        if block.language == "text" and "diagnosis: " not in block.text:  # which is what a command prints
            assert not re.search(r"\|\||>= |\bsum_|\^T\b|\blam/", block.text), block.text
