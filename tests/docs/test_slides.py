"""Slides of a course: docs/teaching/slides.py, and the LaTeX of `cvxml show`, compile."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from cvxml.core.statement import as_latex
from cvxml.methods import get, names
from tests.loaded import module_of

SLIDES = Path(__file__).parents[2] / "docs" / "teaching" / "slides.py"
ARTICLE = "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n%s\n\\end{document}\n"


@cache
def slides() -> ModuleType:
    return module_of(SLIDES, "slides")


@pytest.mark.parametrize("method", names())
def test_the_slides_have_every_row_of_a_statement_once(method: str) -> None:
    statement = get(method).STATEMENT
    text = slides().document([method])
    rows = [row for part in statement.sections for row in part.rows]
    assert sorted(re.findall(r"^  (\\formula\{.*)$", text, flags=re.MULTILINE)) == sorted(
        rf"\formula{{{row.latex}}}{{{slides().in_lines(row.latex)}}}{{{row.tag}}}" for row in rows
    )
    frames = re.findall(r"\\begin\{frame\}.*?\\end\{frame\}", text, flags=re.DOTALL)
    assert max(frame.count(r"\formula{") for frame in frames) <= slides().MOST
    assert text.count(r"\begin{") == text.count(r"\end{")


@pytest.mark.parametrize("method", names())
def test_a_row_in_lines_has_the_same_words_and_mathematics(method: str) -> None:
    def content(latex: str) -> str:
        return re.sub(r"\s|\\text|\\fitted|[{}]", "", latex)

    for part in get(method).STATEMENT.sections:
        for row in part.rows:
            lines = slides().in_lines(row.latex)
            assert content(lines.replace(r"\\ \hspace*{2em}", r"\quad")) == content(row.latex)
            assert lines.count("{") == lines.count("}")


def test_a_row_is_broken_at_its_words_and_conditions_outside_of_braces() -> None:
    latex = r"a_{\text{in}} \text{ and } b, \quad c \quad \text{for } d"
    assert slides().in_lines(latex) == (
        r"\fitted{a_{\text{in}} } and \fitted{ b, } \\ \hspace*{2em}\fitted{ c } \\ \hspace*{2em}for \fitted{ d}"
    )


def test_an_unknown_method_has_no_slides() -> None:
    with pytest.raises(ValueError, match="lmnn"):
        slides().document(["lmn"])


def needs_latex() -> None:
    """Skip the test where pdflatex, or a package that the slides load, is missing."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    for needed in ("beamer.cls", "tikz.sty", "amsmath.sty"):
        if subprocess.run(["kpsewhich", needed], capture_output=True, check=False).returncode != 0:
            pytest.skip(f"{needed} of LaTeX is not installed")


def compiled(text: str, folder: Path) -> str:
    """Compile with pdflatex, and return its log."""
    needs_latex()
    (folder / "text.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "text.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "text.pdf").stat().st_size > 0
    return (folder / "text.log").read_text(encoding="latin-1")


@pytest.mark.slow
def test_the_slides_of_all_methods_compile_and_fit_their_frames(tmp_path: Path) -> None:
    log = compiled(slides().document(names()), tmp_path)
    wide = [float(points) for points in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too", log)]
    assert max(wide, default=0.0) < 1


@pytest.mark.slow
def test_the_commands_of_the_page_make_the_slides(tmp_path: Path) -> None:
    needs_latex()
    page = (SLIDES.parent / "index.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(python docs/teaching/slides.py .*?)\n```", page, flags=re.DOTALL)
    assert block is not None
    first, *others = block[1].splitlines()
    command, target = first.split(" > ")
    arguments = [str(SLIDES) if word == "docs/teaching/slides.py" else word for word in command.split()[1:]]
    with (tmp_path / target).open("w", encoding="utf-8") as file:
        subprocess.run([sys.executable, *arguments], stdout=file, check=True)
    assert others
    for line in others:
        again = [*line.split(), "-interaction=nonstopmode"]
        subprocess.run(again, cwd=tmp_path, capture_output=True, check=True)
    log = (tmp_path / target).with_suffix(".log").read_text(encoding="latin-1")
    assert "Output written on slides.pdf (11 pages" in log
    assert "makes 11 frames" in page


@pytest.mark.slow
def test_the_latex_that_show_prints_compiles_in_an_article(tmp_path: Path) -> None:
    compiled(ARTICLE % "\n\n".join(as_latex(get(method).STATEMENT) for method in names()), tmp_path)
