"""`cvxml show`: every row of mathematics stands at its line of code, no line of the source is lost, the LaTeX is sound.

The expected places are worked out here from the syntax tree of the source, not by show.py.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from latex2mathml.converter import convert

import cvxml
from cvxml.methods import get, names
from cvxml.show import NARROWEST, show, side_by_side
from cvxml.statement import Row, Section, Statement, as_latex, as_text
from tests.commands import Cli

every_method = pytest.mark.parametrize("method", names())
OTHERS = {  # what the source has for another method of the same problem.py
    "lmnn": "cp.sum_squares(lam) / (4 * mu)",
    "lmnn:squared_hinge": "lam <= mu",
    "mmc": "constraints = [mu * np.sum(S**2",
    "mmc:diagonal": "constraints = [mu * (S.T @ S)",
}
GREEK = {
    **{
        name: rf"\{name}"
        for name in ("lambda", "xi", "mu", "gamma", "alpha", "tau", "Sigma", "Phi", "Psi", "Delta")
    },
    "lam": r"\lambda",
    "Lam": r"\Lambda",
    "phi": r"\varphi",
    "kappa": r"\kappa",
}


@cache
def code_of(method: str) -> list[str]:
    """The source from its first function on."""
    source = get(method).literal_source()
    first = next(node.lineno for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return source.splitlines()[first - 1 :]


@cache
def function_lines(method: str, function: str) -> range:
    """Where a function stands in `code_of`."""
    code = code_of(method)
    (node,) = (
        n for n in ast.parse("\n".join(code)).body if isinstance(n, ast.FunctionDef) and n.name == function
    )
    assert node.end_lineno is not None
    return range(node.lineno - 1, node.end_lineno)


def line_of(method: str, section: Section, row: Row) -> int:
    code = code_of(method)
    found = [i for i in function_lines(method, section.function) if code[i].lstrip().startswith(row.code)]
    assert len(found) == 1, (section.function, row.code, found)
    return found[0]


def expected(method: str) -> dict[int, list[Row]]:
    """Line of the code -> what belongs there, headings too."""
    places: dict[int, list[Row]] = {}
    for section in get(method).STATEMENT.sections:
        if not section.function:
            assert not any(row.code for row in section.rows), section.heading
            continue
        at = function_lines(method, section.function).start
        places.setdefault(at, []).append(Row(section.heading, ""))
        for row in section.rows:
            at = line_of(method, section, row) if row.code else at
            places.setdefault(at, []).append(row)
    return places


def packed(rows: list[Row]) -> str:
    """Their text without blanks."""
    return "".join("".join(row.text.split()) for row in rows)


def middle(method: str, width: int) -> tuple[list[str], int]:
    """The lines of the two columns, and where the bar between them is."""
    lines = side_by_side(get(method).STATEMENT, get(method).literal_source(), width)
    first = next(i for i, line in enumerate(lines) if f"| {code_of(method)[0]}" in line)
    bar = lines[first].index(f"| {code_of(method)[0]}")
    last = max(
        i for i, line in enumerate(lines) if line[bar : bar + 1] in ("|", ":") and line[bar - 1] == " "
    )
    return lines[first : last + 1], bar


@every_method
@pytest.mark.parametrize("width", [160, 175, 300])
def test_on_a_wide_terminal_each_row_stands_at_its_line_of_code(method: str, width: int) -> None:
    lines, bar = middle(method, width)
    assert max(map(len, lines)) <= width
    assert all(line[bar] in "|:" for line in lines)
    of_source = [i for i, line in enumerate(lines) if line[bar] == "|"]
    assert [lines[i][bar + 2 :] for i in of_source] == code_of(method)
    assert all(line[bar:] == ":" for line in lines if line[bar] != "|")
    places = expected(method)
    starts = sorted(of_source[at] for at in places)
    for at, rows in places.items():
        begin = of_source[at]
        end = next((start for start in starts if start > begin), len(lines))
        cell = " ".join(line[:bar] for line in lines[begin:end])
        for row in rows:
            assert row.tag in cell
            cell = cell.replace(f" {row.tag} ", " ", 1) if row.tag else cell
        assert "".join(cell.split()) == packed(rows)


@every_method
@pytest.mark.parametrize("width", [50, 80, 130])
def test_on_a_narrow_terminal_each_row_stands_above_its_line_of_code(method: str, width: int) -> None:
    lines = side_by_side(get(method).STATEMENT, get(method).literal_source(), width)
    code, places = code_of(method), expected(method)
    first = lines.index(code[0]) - sum(line.startswith("#: ") for line in lines[: lines.index(code[0])])
    above: list[str] = []
    seen = 0
    for line in lines[first:]:
        if line.lstrip().startswith("#: "):
            assert len(line) <= width
            above.append(line.lstrip()[3:])
        elif seen < len(code):
            assert line == code[seen]
            rows = [row._replace(text=f"{row.text} {row.tag}") for row in places.get(seen, [])]
            assert "".join("".join(above).split()) == packed(rows)
            above, seen = [], seen + 1
    assert seen == len(code)
    assert not above


@every_method
def test_every_objective_and_every_constraint_of_the_source_has_its_mathematics(method: str) -> None:
    lines, bar = middle(method, 160)
    stated = [
        line
        for line in lines
        if "cp.Problem(cp." in line[bar:]
        or re.match(r"(constraints \+?=|rows \+=|value, rows = m)", line[bar + 1 :].strip())
    ]
    assert len(stated) >= 2
    bare = [line[bar + 1 :].strip() for line in stated if not line[:bar].strip()]
    assert len(bare) == (method in OTHERS)
    assert all(OTHERS[method] in line for line in bare)


# What stands elsewhere, and why: the constraint is two functions on, the line gives a part of it.
ELSEWHERE = {
    ("mlsvm", "X_ij"), ("kernel_mlsvm", "X_ij"), ("lmnn", "Z"), ("lmnn:squared_hinge", "Z"),
    ("nca", "sum_ij c_i (w_ij - q_ij) X_ij psd"), ("mcml", "sum_ij (p0(j|i) - q_ij) X_ij psd"),
    ("lmnn:squared_hinge", "Z psd,  lambda_ijl >= 0"),
}  # fmt: skip


@every_method
def test_what_a_row_defines_or_constrains_is_in_its_line_of_code(method: str) -> None:
    code, seen = code_of(method), 0
    for section in get(method).STATEMENT.sections:
        for row in section.rows:
            symbol = row.text.split(" = ")[0]
            if not row.code or {(method, symbol), (method, row.text)} & ELSEWHERE:
                continue
            line = code[line_of(method, section, row)].strip()
            defines = re.compile(rf"{re.escape(symbol)}(: \w+)? = ")
            if any(defines.match(code[i].strip()) for i in function_lines(method, section.function)):
                assert defines.match(line), row
                seen += 1
            if re.search(r" psd\b", row.text):
                assert ">> 0" in line, row
                seen += 1
    assert seen


@every_method
def test_what_is_no_code_stands_above_and_below_and_parameters_last(method: str) -> None:
    module = get(method)
    for width in (80, 160):
        lines = show(method, width).splitlines()
        assert " ".join(lines[: lines.index("")]) == module.TITLE
        assert max(len(line) for line in lines if line not in code_of(method)) <= width
        at = next(i for i, line in enumerate(lines) if code_of(method)[0] in line)
        for section in module.STATEMENT.sections:
            if not section.function:
                found = lines.index(section.heading)
                text = "".join("".join(lines[found + 1 :]).split())
                assert text.startswith("".join(section.rows[0].text.split()))
                assert (found > at) == (section.heading == "what is proved")
        said = lines[lines.index("parameters" if module.PARAMETERS else "no parameters") + 1 :]
        assert [line.split(":")[0].strip() for line in said if not line.startswith("    ")] == list(
            module.PARAMETERS
        )


@every_method
def test_the_latex_is_sound(method: str) -> None:
    statement = get(method).STATEMENT
    for section in statement.sections:
        assert not set(section.heading) & set("_^$\\{}#%&~<>"), section.heading
        for row in section.rows:
            assert "\\" not in convert(row.latex), row.latex  # a command that is not known stays as it is
            assert r"\\" not in row.latex
            assert not set(re.sub(r"\\.", "", row.latex)) & set("&#%$~"), row.latex
            assert balanced(row.latex), row.latex
    fragment = as_latex(statement)
    assert fragment.isascii()
    assert balanced(fragment)
    assert re.findall(r"\\begin\{(.*?)\}", fragment) == ["align*"] * len(statement.sections)
    assert re.findall(r"\\end\{(.*?)\}", fragment) == ["align*"] * len(statement.sections)
    numbers = [row.equation for section in statement.sections for row in section.rows if row.equation]
    assert re.findall(r"\\tag\{(.*?)\}", fragment) == numbers


def balanced(latex: str) -> bool:
    """Braces nest, and \\left and \\right, \\Bigl and \\Bigr come in pairs."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    pairs = ((r"\left", r"\right"), (r"\Bigl", r"\Bigr"), (r"\bigl", r"\bigr"), (r"\lVert", r"\rVert"))
    count = [tuple(len(re.findall(re.escape(c) + r"(?![A-Za-z])", latex)) for c in pair) for pair in pairs]
    return depth == 0 and all(a == b for a, b in count)


def test_the_test_of_latex_can_fail() -> None:
    assert "\\" in convert(r"a \nosuchcommand b")
    assert balanced(r"\{ \left( a_{b} \right)")
    for wrong in (r"a_{b", r"}{", r"\left( a", r"\lVert a"):
        assert not balanced(wrong)


@every_method
def test_text_and_latex_name_the_same_greek_letters(method: str) -> None:
    for section in get(method).STATEMENT.sections:
        for row in section.rows:
            words = set(re.findall(r"(?<![A-Za-z])([A-Za-z]+)", row.text)) & set(GREEK)
            in_text = {GREEK[word] for word in words}
            in_latex = {
                letter
                for letter in GREEK.values()
                if re.search(re.escape(letter) + r"(?![A-Za-z])", row.latex)
            }
            assert in_text == in_latex, row


@every_method
def test_the_text_alone_has_every_row_in_the_order_of_the_statement(method: str) -> None:
    text = as_text(get(method).STATEMENT, 90)
    assert as_text(get(method).STATEMENT) == str(get(method).STATEMENT)
    assert max(map(len, text.splitlines())) <= 90
    at = 0
    for section in get(method).STATEMENT.sections:
        for row in (Row(section.heading, ""), *section.rows):
            pattern = r"(?:\s|\([\d, ]+\) *\n)*".join(re.escape(word) for word in row.text.split())
            found = re.compile(pattern).search(text, at)
            assert found, row.text
            at = found.end()


def test_the_kernel_form_is_the_problem_on_other_points() -> None:
    linear, kernel = ({s.function: s for s in get(m).STATEMENT.sections} for m in ("mlsvm", "kernel_mlsvm"))
    for function in ("literal", "dual"):
        for row, other in zip(linear[function].rows, kernel[function].rows, strict=True):
            assert other.text == row.text.replace("x_i", "e_i").replace("x_j", "e_j").replace("x_l", "e_l")
            assert other.latex == row.latex.replace(r"\mathbf{x}", r"\mathbf{e}")
            assert (other.code, other.equation) == (row.code, row.equation)
    assert any("e_i" in row.text for row in kernel["literal"].rows)


def test_a_row_without_a_line_of_its_own_is_refused() -> None:
    source = "import x\n\ndef f():\n    a = 1\n    a = 2\n    b = 3\n\n\ndef g():\n    b = 4\n"

    def with_code(code: str, function: str = "f") -> Statement:
        return Statement((Section("the problem", (Row("b", "b", code),), function),))

    assert side_by_side(with_code("b = "), source, 200)[3].endswith("|     b = 3")
    for wrong, function in (("a = ", "f"), ("c = ", "f"), ("b = 4", "f"), ("b = ", "h")):
        with pytest.raises(ValueError, match="exactly one"):
            side_by_side(with_code(wrong, function), source, 200)


def test_two_columns_as_soon_as_they_have_room() -> None:
    for method in ("mlsvm", "itml"):
        least = max(map(len, code_of(method))) + 3 + NARROWEST
        assert "#: " not in show(method, least)
        assert "#: " in show(method, least - 1)
        assert least <= 160


def test_the_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (80, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        assert cli("show", "nca") == (0, show("nca", width) + "\n", "")
    answer = cli("show", "mmc:diagonal", "--latex")
    assert answer.code == 0
    assert answer.out == f"% {get('mmc:diagonal').TITLE}\n{as_latex(get('mmc:diagonal').STATEMENT)}\n"
    for latex in ([], ["--latex"]):
        refused = cli("show", "nosuch", *latex)
        assert refused[:2] == (2, "")
        assert "there is: mlsvm" in refused.err


def test_cvxpy_is_not_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "cvxml", "show", "ssvm"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(cvxml.__file__).parents[1])},
    )  # fmt: skip
    assert "cp.Problem(" in done.stdout
    assert not {"cvxpy", "sklearn", "matplotlib"} & {
        line.split("|")[-1].strip() for line in done.stderr.splitlines()
    }


MARKS = {r"\succeq 0": " psd ", r"\succ 0": " positive definite ", r"\pm": "+-", "_{i=1}": "_i"}
WORDS = {r"\ge": ">=", r"\le": "<=", r"\ne": "!="}


def marks(formula: str) -> Counter[str]:
    """Its numbers, relations, signs and operators, and how often each stands there."""
    for latex, text in MARKS.items():
        formula = formula.replace(latex, text)
    for latex, text in WORDS.items():
        formula = re.sub(re.escape(latex) + "(?![a-z])", f" {text} ", formula)
    operators = r"(?<![a-zA-Z])(?:sum|log|min|max|mean|exp|psd|positive definite)(?![a-z])"
    return Counter(re.findall(rf"\d+|[<>!]?=|[-+]|{operators}", formula))


@every_method
def test_text_and_latex_are_the_same_formula_mark_by_mark(method: str) -> None:
    for section in get(method).STATEMENT.sections:
        for row in section.rows:
            assert marks(row.text) == marks(row.latex), row.text


def test_a_slip_in_one_of_the_two_is_seen() -> None:
    latex = r"\min_{A}\ \frac{\lambda}{2} \lVert A \rVert^2 + \frac{1}{n} \sum_{i=1}^{n} \xi_i \ge 0"
    assert marks(latex) == marks("min over A: lam/2 ||A||^2 + 1/n sum_i xi_i >= 0")
    for wrong in (
        "min over A: lam ||A||^2 + 1/n sum_i xi_i >= 0",
        "min over A: lam/2 ||A|| + 1/n sum_i xi_i >= 0",
        "min over A: lam/2 ||A||^2 - 1/n sum_i xi_i >= 0",
        "max over A: lam/2 ||A||^2 + 1/n sum_i xi_i >= 0",
        "min over A: lam/2 ||A||^2 + 1/n max_i xi_i >= 0",
        "min over A: lam/2 ||A||^2 + 1/n sum_i xi_i <= 0",
    ):
        assert marks(latex) != marks(wrong)
