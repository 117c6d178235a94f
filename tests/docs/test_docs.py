"""The pages in docs/ tell the truth: blocks run and print what they say, statements and names are those of the source.

Conventions of a page. All ```python blocks run in order, in one namespace, in an empty folder; a comment `# -> TEXT`
on a line that prints says what it prints. ```console blocks hold commands (`$ cvxml ...`), the first lines of each
output, and `# exit code N` where N is not 0. In the columns "where" and "proved by" of a table, the names after a file
are defined in it; in the column "measured" of a table, the figures are those of the report it names.

Not run is ```text, which is mathematics, output that differs from run to run (seconds), or shell lines with files,
hosts and folders of the reader's own; and ```sh of CONTRIBUTING.md, which installs (.ci/run does that).
```coq is compared with the sources by validation/verified/test_page.py.
{literalinclude} shows source that other tests run. The blocks of findings.md run in the full suite. README's blocks run
in tests/docs/test_readme.py. What a method's page must have is in tests/docs/test_docs_methods.py, what becomes of the
pages in tests/docs/test_site.py.
"""

from __future__ import annotations
import __future__

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pytest

import cvxml
from tests.instances import random_data

ROOT = Path(__file__).parents[2]
PACKAGE = Path(cvxml.__file__).parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "teaching").glob("*.md")])
LONG_PAGE = (
    "findings.md"  # its blocks take ten seconds, and one needs the data sets of the papers: the full suite
)
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def name_of(page: Path) -> str:
    """Its name, after the folder if that is below docs/."""
    return str(page.relative_to(ROOT / "docs")) if page.parent.parent.name == "docs" else page.name


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)
every_text = pytest.mark.parametrize("page", TEXTS, ids=name_of)


DIRECTIVES = {
    "{toctree}",
    "{include}",
    "{eval-rst}",
    "{options}",
    "{parameters}",
    "{reference}",
    "{statement}",
    "{literalinclude}",
}
FENCE = re.compile(r"^```(\S*) ?([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: its language or directive, what stands beside that, its text."""

    language: str
    argument: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(read(page))]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def located(name: str) -> Path:
    """A file by its path in the repository or in the package, which may be installed elsewhere."""
    (found,) = {path for path in (ROOT / name, PACKAGE.parent / name, PACKAGE / name) if path.is_file()}
    return found


def linked(page: Path, target: str) -> Path:
    """What a link leads to; the package may be installed elsewhere."""
    name = os.path.relpath(page.parent / target, ROOT)
    return (PACKAGE.parent if Path(name).parts[0] == PACKAGE.name else ROOT) / name


def definitions(path: Path) -> dict[str, ast.AST]:
    """Functions, classes, methods ("Class.method") and constants of a file."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(read(path)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{m.name}": m for m in node.body if isinstance(m, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            found |= {t.id: node for t in node.targets if isinstance(t, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def columns(page: Path, *headings: str) -> list[str]:
    """The cells of all table columns with one of these headings."""
    cells = []
    wanted: list[int] | None = None
    for line in read(page).splitlines():
        if not line.startswith("|"):
            wanted = None
            continue
        row = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if wanted is None:
            wanted = [k for k, cell in enumerate(row) if cell in headings]
        elif not set(line) <= set("|-: "):
            cells += [row[k] for k in wanted]
    return cells


def run_python(block: Block, page: Path, names: dict[str, object], capsys: pytest.CaptureFixture[str]) -> int:
    """Run one block; returns how many printed lines were compared."""
    flags = __future__.annotations.compiler_flag
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(block.text, page.name, "exec", flags=flags), names)
    expected = re.findall(r"# -> (.*)", block.text)
    assert capsys.readouterr().out.splitlines() == expected, block.text
    return len(expected)


def masked(line: str) -> str:
    """Without digits, of which seconds and last figures are another time others, and the space around them."""
    return " ".join(re.sub(r"[\d.e+-]*\d", "0", line).split())


def is_next(block: Block, page: Path) -> bool:
    """Whether a block of text follows another block at once."""
    return f"```\n\n```text\n{block.text}" in read(page)


def run_console(block: Block, folder: Path) -> list[str]:
    """The lines that its last command printed."""
    printed: list[str] = []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *shown = part.strip().splitlines()
        code = 0
        if shown and shown[-1].startswith("# exit code "):
            code = int(shown.pop().removeprefix("# exit code "))
        program, *arguments = shlex.split(command)
        assert program == "cvxml"
        done = subprocess.run(
            [sys.executable, "-m", "cvxml", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, (command, done.stdout, done.stderr)
        printed = done.stdout.splitlines()
        assert printed[: len(shown)] == shown, command
    return printed


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_included_code_is_linked_for_readers_of_a_clone(page: Path) -> None:
    """Outside the site, `literalinclude` shows no code. The README links the code of its problem at once."""
    included = re.findall(r"```\{literalinclude\} (\S+)", read(page))
    if page.name == "README.md":
        included = ["cvxml/methods/mlsvm/problem.py"]
    for name in included:
        assert f"]({name})" in read(page), name


@pytest.mark.quick(2)
@pytest.mark.parametrize("page", [page for page in PAGES if page.name != LONG_PAGE], ids=name_of)
def test_the_blocks_of_a_page_run(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(page, tmp_path, capsys)


@pytest.mark.full
@pytest.mark.skipif(
    not os.environ.get("CVXML_DATA"), reason="CVXML_DATA names no folder with the papers' data sets"
)
def test_the_findings_come_out_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the ten has a program that prints something, and all together take less than a minute."""
    page = ROOT / "docs" / LONG_PAGE
    parts = read(page).split("\n## ")[1:]
    assert len(parts) == 10
    assert [part for part in parts if not re.search(r"```python.*# -> ", part, flags=re.DOTALL)] == []
    monkeypatch.chdir(tmp_path)
    start = process_time()
    run_blocks(page, tmp_path, capsys)
    assert process_time() - start < 60


def run_blocks(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run all blocks of a page in order, and compare what they print."""
    names: dict[str, object] = {}
    compared, printed = 0, None
    for block in blocks(page):
        if block.language == "python":
            compared += run_python(block, page, names, capsys)
        elif block.language == "console":
            printed = run_console(block, folder)
            continue
        elif printed is not None and is_next(block, page):  # what it printed, shown apart
            assert list(map(masked, block.text.splitlines())) == list(map(masked, printed)), block.text
        printed = None
    assert compared > 0 or not any(block.language == "python" for block in blocks(page))


@every_page
def test_every_block_is_run_or_known_not_to_be(page: Path) -> None:
    found = blocks(page)
    assert len(found) * 2 == len(re.findall(r"^ *(?:```|~~~)", read(page), flags=re.MULTILINE))
    assert {block.language for block in found} <= {"python", "console", "text", "coq", *DIRECTIVES}
    # four spaces would make a block that nobody runs
    assert not re.findall(r"^(?: {4}|\t).*", FENCE.sub("", read(page)), flags=re.MULTILINE)


def test_the_program_that_checks_a_file_is_as_short_as_it_says() -> None:
    page = read(ROOT / "docs" / "duality_files.md")
    programs = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    (program,) = [each for each in programs if "linalg.eigh" in each]
    assert len(program.splitlines()) < 40


@every_text
def test_every_name_in_a_where_column_is_defined_there(page: Path) -> None:
    for cell in columns(page, "where", "proved by"):
        path = None
        for name in re.findall(r"`([^`]+)`", cell):
            if name.endswith(".py"):
                path = located(name)
            else:
                assert path is not None, cell
                assert name in definitions(path), f"{name} is not defined in {path}"


def test_the_columns_are_found() -> None:
    for name in ("mlsvm", "gerrymandering"):
        pages = [page for page in PAGES if page.stem.startswith(name)]
        assert sum(len(columns(page, "where")) for page in pages) > 30
    errata = columns(ROOT / "docs" / "errata.md", "proved by")
    assert len(errata) >= 5
    assert all("test_" in cell for cell in errata)


def present(page: Path) -> str:
    """Return the text of a page about the present: without the dated sections of the CHANGELOG and the history."""
    if page.name == "history.md":
        return FENCE.sub("", read(page))  # the block of text is the changelog of earlier versions
    return read(page).split("\n## [0.2.0]")[0] if page.name == "CHANGELOG.md" else read(page)


@every_text
def test_files_and_links_exist(page: Path) -> None:
    for name in re.findall(r"`([\w./-]+\.py)`", present(page)):
        located(name)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", FENCE.sub("", read(page))):
        assert linked(page, target).exists(), target


def test_the_pages_have_the_numbers_of_attacks_of_the_report() -> None:
    report = read(ROOT / "validation" / "trust.md")
    first, second = map(int, re.findall(r": (\d+) candidates, 0 wrong", report))
    evidence = read(ROOT / "docs" / "oracle_verdicts.md")
    assert f"| {first:,} candidates" in evidence
    assert f"| {second:,} candidates" in evidence
    assert f"{first + second:,} candidates" in read(ROOT / "docs" / "oracle.md")


@every_text
def test_no_line_of_a_paragraph_reads_as_a_list(page: Path) -> None:
    """Markdown takes "1. ", "- " and "+ " at the start of a line for a list, even within a paragraph."""
    prose = re.sub(r"\$\$.*?\$\$", "", FENCE.sub("", present(page)), flags=re.DOTALL)
    starts = re.findall(r"^(?!\s|[-+*] |\d+\. |[|#<>]).*[^:\n]\n(?:[-+*]|1\.) .*$", prose, flags=re.MULTILINE)
    assert starts == []


FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$]+?)(?<![\s\\])\$(?!\d)", re.DOTALL)


@every_text
def test_the_site_can_show_every_formula(page: Path) -> None:
    """The site's converter stops at a command that it does not know, and the site takes minutes to build."""
    mathml = runpy.run_path(str(ROOT / "docs" / "_ext" / "mathml.py"))["mathml"]
    text = re.sub(r"`[^`\n]+`", "", FENCE.sub("", read(page)))
    for displayed, inline in FORMULA.findall(text):
        assert mathml(displayed or inline, bool(displayed)), displayed or inline


@pytest.mark.parametrize(
    ("version", "details"), [("0.3.0", "docs/changes_03.md"), ("0.2.0", "docs/history.md")]
)
def test_the_section_of_a_version_is_short_and_links_the_details(version: str, details: str) -> None:
    section = read(ROOT / "CHANGELOG.md").split(f"\n## [{version}]")[1].split("\n## ")[0]
    assert len(section.splitlines()) <= 60
    assert details in section


@every_text
def test_links_to_sections_lead_to_one(page: Path) -> None:
    for target, section in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", read(page)):
        text = read(linked(page, target) if target else page)
        headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert section in slugs, f"{target}#{section}"


@pytest.mark.parametrize(
    ("method", "page", "params"),
    [("mlsvm", "mlsvm.md", {"lam": 0.1}), ("ssvm", "gerrymandering.md", {}), ("nca", "nca.md", {})],
)
def test_the_table_of_intermediates_names_all_of_them(
    method: str, page: str, params: dict[str, float]
) -> None:
    X, y = random_data(0)
    shown = cvxml.evaluate(method, X, y, np.eye(5), **params)
    told = [re.findall(r"`(\w+)`", cell) for cell in columns(ROOT / "docs" / page, "intermediate")]
    assert sorted(name for names in told for name in names) == sorted(shown.values)


def test_the_table_of_fields_names_all_of_them() -> None:
    X, y = random_data(0)
    saved = cvxml.solve("mlsvm", X, y, lam=0.1).to_dict()
    told = [re.findall(r"`(\w+)`", cell) for cell in columns(ROOT / "docs" / "duality_files.md", "field")]
    assert sorted(name for names in told for name in names) == sorted(saved)


def test_the_version_is_the_same_everywhere() -> None:
    citation = dict(re.findall(r"^([\w-]+): *(.*)$", read(ROOT / "CITATION.cff"), flags=re.MULTILINE))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"].strip('"') == cvxml.__version__
    versions = re.findall(r"^## \[(.*?)\]", read(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)
    assert next(version for version in versions if version != "Unreleased") == cvxml.__version__


def test_the_licence_is_the_one_declared() -> None:
    assert 'license = "BSD-3-Clause"' in read(ROOT / "pyproject.toml")
    assert read(ROOT / "LICENSE").startswith(
        "BSD 3-Clause License\n\nCopyright (c) 2026, The cvxml developers\n"
    )
    assert "\nlicense: BSD-3-Clause\n" in read(ROOT / "CITATION.cff")
