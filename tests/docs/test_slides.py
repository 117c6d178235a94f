"""Slides of a course: docs/teaching/slides.py, and the LaTeX of `cvxml show`, compile."""

from __future__ import annotations

import re
import shutil
import subprocess
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
    found = re.findall(r"^  \\formula\{(.*)\}\{(.*)\}$", text, flags=re.MULTILINE)
    assert sorted(found) == sorted((row.latex, row.tag) for part in statement.sections for row in part.rows)
    frames = re.findall(r"\\begin\{frame\}.*?\\end\{frame\}", text, flags=re.DOTALL)
    assert max(frame.count(r"\formula{") for frame in frames) <= slides().MOST
    assert text.count(r"\begin{") == text.count(r"\end{")


def test_an_unknown_method_has_no_slides() -> None:
    with pytest.raises(ValueError, match="lmnn"):
        slides().document(["lmn"])


def compiled(text: str, folder: Path) -> str:
    """Compile with pdflatex, and return its log."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    for needed in ("beamer.cls", "pgf.sty", "amsmath.sty"):
        if subprocess.run(["kpsewhich", needed], capture_output=True, check=False).returncode != 0:
            pytest.skip(f"{needed} of LaTeX is not installed")
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
    assert max(wide, default=0.0) < 10


@pytest.mark.slow
def test_the_latex_that_show_prints_compiles_in_an_article(tmp_path: Path) -> None:
    compiled(ARTICLE % "\n\n".join(as_latex(get(method).STATEMENT) for method in names()), tmp_path)
