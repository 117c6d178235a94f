"""`cvxml show`: every row of mathematics stands at its line of code, no line of the source is lost, the LaTeX is sound.

The expected places are worked out here from the functions themselves, not by statement.py.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from latex2mathml.converter import convert

import cvxml
from cvxml.cli.show import NARROWEST, show, side_by_side
from cvxml.core import statement
from cvxml.core.statement import Row, Statement, as_latex, as_text
from cvxml.methods import get, names
from tests.cli.commands import Cli

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


class Source(NamedTuple):
    """A function as its file has it: the lines that are no formula, and the formulas above each line."""

    function: Any
    lines: list[str]
    above: dict[int, list[Row]]


def read(function: Any, flags: Mapping[str, bool]) -> Source:
    """From `inspect`, each formula on one line; remarks, which end at an empty line, are left out."""
    text = re.sub(r"\n *#:  +", " ", inspect.getsource(function))
    found = Source(function, [], {})
    for line in re.sub(r" *#: \[.*\n(?: *#: .*\n)*(?:\n|$)", "", text).splitlines():
        formula = re.fullmatch(r" *#: (?:if (not )?(\w+): )?(.*?) \| (.*?)(?: \| \((.*)\))?", line)
        if formula is None:
            found.lines.append(line)
        elif formula[2] is None or flags[formula[2]] != (formula[1] is not None):
            row = Row(formula[3], formula[4], formula[5] or "")
            found.above.setdefault(len(found.lines), []).append(row)
    return found


@cache
def sources(method: str) -> list[Source]:
    """The functions that the statement of a method names."""
    found = []
    statement: Statement | None = get(method).STATEMENT
    while statement is not None:
        module = importlib.import_module(statement.module)
        own = [
            name
            for name, f in inspect.getmembers(module, inspect.isfunction)
            if f.__module__ == module.__name__
        ]
        own.sort(key=lambda name: getattr(module, name).__code__.co_firstlineno)
        found += [read(getattr(module, name), statement.flags) for name in statement.functions or own]
        statement = statement.further
    return found


def code_of(method: str) -> list[str]:
    """The lines of all functions, two empty ones between them."""
    return [line for function in sources(method) for line in ["", "", *function.lines]][2:]


def expected(method: str) -> dict[int, list[Row]]:
    """Line of the code -> what belongs there."""
    places: dict[int, list[Row]] = {}
    start = 0
    for source in sources(method):
        places |= {start + at: rows for at, rows in source.above.items()}
        start += len(source.lines) + 2
    return places


def packed(rows: list[Row]) -> str:
    """Their text without blanks."""
    return "".join("".join(row.text.split()) for row in rows)


def middle(method: str, width: int) -> tuple[list[str], int]:
    """The lines of the two columns, and where the bar between them is."""
    lines = side_by_side(get(method).STATEMENT, width)
    first = next(i for i, line in enumerate(lines) if f"| {code_of(method)[0]}" in line)
    bar = lines[first].index(f"| {code_of(method)[0]}")
    rows = itertools.takewhile(lambda line: line[bar : bar + 1] in ("|", ":"), lines[first:])
    return list(rows), bar


def columns(method: str, mathematics: int) -> int:
    """The width of a terminal that has so many columns beside the code of a method."""
    return max(map(len, code_of(method))) + 3 + mathematics


@every_method
@pytest.mark.parametrize("mathematics", [NARROWEST, 50, 200])
def test_on_a_wide_terminal_each_row_stands_at_its_line_of_code(method: str, mathematics: int) -> None:
    width = columns(method, mathematics)
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
@pytest.mark.parametrize("mathematics", [-10, NARROWEST - 1])
def test_on_a_narrow_terminal_each_row_stands_above_its_line_of_code(method: str, mathematics: int) -> None:
    width = columns(method, mathematics)
    lines = side_by_side(get(method).STATEMENT, width)
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
    stated = {
        at: line
        for at, line in enumerate(code_of(method))
        if "cp.Problem(cp." in line or re.match(r" *(constraints \+?=|rows \+=|value, rows = m)", line)
    }
    assert len(stated) >= 2
    bare = [line for at, line in stated.items() if at not in expected(method)]
    assert len(bare) == (method in OTHERS)
    assert all(OTHERS[method] in line for line in bare)


# What stands elsewhere, and why: the constraint is two functions on, the line gives a part of it.
ELSEWHERE = {
    ("mlsvm", "X_ij"), ("kernel_mlsvm", "X_ij"), ("nca", "sum_ij c_i (w_ij - q_ij) X_ij psd"),
    ("mcml", "sum_ij (p0(j|i) - q_ij) X_ij psd"),
}  # fmt: skip


@every_method
def test_what_a_row_defines_or_constrains_is_in_its_line_of_code(method: str) -> None:
    seen = 0
    for source in sources(method):
        for at, rows in source.above.items():
            line = source.lines[at].strip()
            for row in rows:
                symbol = row.text.split(" = ")[0]
                if {(method, symbol), (method, row.text)} & ELSEWHERE:
                    continue
                defines = re.compile(rf"{re.escape(symbol)}(: \w+)? = ")
                if any(defines.match(code.strip()) for code in source.lines):
                    assert defines.match(line), row
                    seen += 1
                if re.search(r" psd\b", row.text):
                    assert ">> 0" in line, row
                    seen += 1
    assert seen


@every_method
def test_the_statement_says_what_the_functions_say(method: str) -> None:
    written = Counter(row for source in sources(method) for rows in source.above.values() for row in rows)
    sections = get(method).STATEMENT.sections
    assert written == Counter(row._replace(at=0) for s in sections for row in s.rows if s.code)
    assert all(s.line(row) == "" for s in sections for row in s.rows if not s.code)
    for section, source in zip(
        (s for s in sections if s.code), (s for s in sources(method) if s.above), strict=True
    ):
        assert (inspect.getdoc(source.function) or "").startswith(section.heading)
        assert list(section.code) == source.lines
        assert all(row._replace(at=0) in source.above[row.at] for row in section.rows)


def test_nothing_is_written_that_no_statement_says() -> None:
    """Each line of a formula in the package is in a function that a statement names."""
    named = {source.function for method in names() for source in sources(method)}
    said = Counter(
        Path(inspect.getfile(f)) for f in named for line in inspect.getsource(f).splitlines() if "#: " in line
    )
    written = {
        path: len(re.findall(r"^ *#: ", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
        for path in (Path(cvxml.__file__).parent / "methods").rglob("*.py")
    }
    assert {path: lines for path, lines in written.items() if lines} == dict(said)


@every_method
def test_what_is_no_code_stands_above_and_below_and_parameters_last(method: str) -> None:
    module = get(method)
    for width in (80, 160):
        lines = show(method, width).splitlines()
        assert " ".join(lines[: lines.index("")]) == module.TITLE
        assert max(len(line) for line in lines if line not in code_of(method)) <= width
        at = next(i for i, line in enumerate(lines) if code_of(method)[0] in line)
        sections = module.STATEMENT.sections
        first = next(i for i, section in enumerate(sections) if section.code)
        for i, section in enumerate(sections):
            if not section.code:
                found = lines.index(section.heading)
                text = "".join("".join(lines[found + 1 :]).split())
                assert text.startswith("".join(section.rows[0].text.split()))
                assert (found > at) == (i > first)
        said = lines[lines.index("parameters" if module.PARAMETERS else "no parameters") + 1 :]
        assert [line.split(":")[0].strip() for line in said if not line.startswith("    ")] == list(
            module.PARAMETERS
        )


@every_method
def test_the_place_of_each_function_is_that_of_its_definition(method: str) -> None:
    said = " ".join(show(method, 100).split("\n\n")[1].split()).removeprefix("source: ").split(", ")
    assert len(said) == len(sources(method))
    for place, source in zip(said, sources(method), strict=True):
        where, name = place.split(" ")
        path, line = where.split(":")
        text = (Path(cvxml.__file__).parents[1] / path).read_text(encoding="utf-8").splitlines()
        assert text[int(line) - 1].startswith(f"def {name}(")
        assert source.function.__name__ == name


def test_the_place_in_a_module_from_elsewhere_is_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stated_elsewhere.py").write_text("\n\ndef problem():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert Statement("stated_elsewhere", ("problem",)).places == ["stated_elsewhere.py:3 problem"]


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
    linear, kernel = (get(method).STATEMENT.sections for method in ("mlsvm", "kernel_mlsvm"))
    assert kernel[-len(linear) :] == linear
    said = [row.text for section in kernel[: -len(linear)] for row in section.rows]
    assert any("x_i, x_j" in text and "e_i, e_j" in text for text in said)
    assert any(text.startswith("K = E E^T") for text in said)


def test_the_flags_choose_the_form() -> None:
    for base, form, texts in (
        ("lmnn", "lmnn:squared_hinge", ("mu sum_ijl xi_ijl", "mu sum_ijl xi_ijl^2")),
        ("mmc", "mmc:diagonal", ("A psd", "A psd and diagonal")),
    ):
        for method, of, other in ((base, *texts), (form, *reversed(texts))):
            lines = [line.removesuffix("(8)").strip() for line in str(get(method).STATEMENT).splitlines()]
            assert any(line.endswith(of) for line in lines)
            assert not any(line.endswith(other) for line in lines)


GOOD = r'''
def f(a):
    """What it is. And more."""
    #: [What it means]
    #: a: the data | a \text{: the data}

    #: b = 2 a
    #:   | b = 2
    #:     a | (3, 4)
    #: min over b: c | \min_b c
    b = 2 * a
    if b:
        #: if flag: c = 0 | c = \{ 0 \}
        return 0
    return b
    #: [What is proved]
    #: nothing | \text{nothing}
'''


def test_what_is_written_is_read() -> None:
    above, said, below = statement.read(GOOD, "f", {"flag": True})
    assert above == ("What it means", (Row("a: the data", r"a \text{: the data}"),), ())
    assert below == ("What is proved", (Row("nothing", r"\text{nothing}"),), ())
    assert said.heading == "What it is"
    assert said.rows == (
        Row("min over b: c", r"\min_b c", at=2),  # what is minimised comes first
        Row("b = 2 a", "b = 2 a", "3, 4", 2),
        Row("c = 0", r"c = \{ 0 \}", at=4),
    )
    assert [said.line(row) for row in said.rows] == ["b = 2 * a", "b = 2 * a", "return 0"]
    assert said.code == tuple(line for line in GOOD.splitlines() if line and "#:" not in line)
    assert len(statement.read(GOOD, "f", {"flag": False})[1].rows) == 2


@pytest.mark.parametrize(
    ("good", "broken", "match"),
    [
        ("    b = 2 * a\n", "\n    b = 2 * a\n", "no line"),
        ("    b = 2 * a\n", "    # why\n    b = 2 * a\n", "no line"),
        ("        #: if flag", "    #: if flag", "no line"),  # nor above another branch
        ("    #: [What is proved]\n", "", "no line"),
        ("{: the data}\n\n", "{: the data}\n", "empty line"),
        ("b = 2\n", "b = {2\n", "braces"),
        (r"\{ 0 \}", r"} 0 {", "braces"),
        ("#: b = 2 a\n", "#:\n", "written"),
        ("#:   | b = 2\n    #:     a |", "#:   |  |", "written"),
        ("#:   | b = 2\n", "#:   b = 2\n", "written"),
        ("(3, 4)", "3, 4", "written"),
        ("(3, 4)", "(3, 4) | (5)", "written"),
        ("[What it means]", "[What it means", "brackets"),
        ("if flag:", "if other:", "flag other"),
        ('    """What it is. And more."""\n', "", "docstring"),
        ("def f(", "def g(", "no function"),
    ],
)
def test_a_formula_that_is_not_well_written_is_refused(good: str, broken: str, match: str) -> None:
    assert GOOD.count(good) == 1
    with pytest.raises(ValueError, match=match):
        statement.read(GOOD.replace(good, broken), "f", {"flag": True})


def test_a_module_without_source_is_refused() -> None:
    for module in ("cvxml.methods.nosuch", "sys"):
        with pytest.raises(ValueError, match="no source"):
            str(Statement(module))


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
        assert "'nosuch'" in refused.err
        assert "mlsvm" in refused.err


@pytest.mark.slow
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
