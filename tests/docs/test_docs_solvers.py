"""docs/solvers.md: which solvers and options there are, of which methods, with which defaults."""

from __future__ import annotations

import inspect
import re

import pytest

from cvxml.core.backend import EXPONENTIAL, SETTINGS
from cvxml.core.method import Method
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods import get, names
from tests.docs.test_docs import ROOT, columns, read

PAGE = ROOT / "docs" / "solvers.md"


def named(cell: str) -> set[str]:
    """The methods of a cell: "all", "all but `a`", or "`a`, `b`"."""
    listed = set(re.findall(r"`([\w:]+)`", cell))
    return set(names()) - listed if cell.startswith("all") else listed


def test_each_solver_is_there_with_its_methods() -> None:
    table = read(PAGE).split("## Solvers\n")[1].split("\n\n")[0]
    told = {
        re.findall(r"`(\w+)`", line)[0]: line.split("|")[3].strip()
        for line in table.splitlines()
        if line.startswith("| `")
    }
    known = {solver for method in names() for solver in get(method).SOLVERS}
    assert set(told) == known
    for solver, cell in told.items():
        assert named(cell) == {method for method in names() if solver in get(method).SOLVERS}, solver


def test_the_iterations_are_those_of_the_methods() -> None:
    (cell,) = re.findall(r"\| (20000 for [^|]*) \|", read(PAGE))
    most, others = re.findall(r"\d+", cell)
    assert {method for method in names() if int(most) == get(method).MAX_ITER} == named(cell)
    closed = 1  # the steps of a closed form
    assert {get(method).MAX_ITER for method in set(names()) - named(cell)} - {closed} == {int(others)}


@pytest.mark.parametrize(("solver", "settings"), [(name, SETTINGS[name]) for name in SETTINGS])
def test_the_tolerances_are_those_that_back_ends_are_asked_for(
    solver: str, settings: list[dict[str, object]]
) -> None:
    (line,) = re.findall(rf"^\| `{solver}` \| (\d[^|]*) \| ([^|]*) \|$", read(PAGE), flags=re.MULTILINE)
    for cell, asked in zip(line, (settings, EXPONENTIAL[solver]), strict=True):
        if cell == "the same":
            assert asked == settings
            continue
        wanted = [value for each in asked for value in (each.get("eps_abs", each.get("tol_gap_abs")),)]
        wanted += [each["max_iters"] for each in asked if "max_iters" in each]
        assert [float(number) for number in re.findall(r"\d[\de-]*", cell)] == wanted


def test_the_looser_tolerance_is_for_the_methods_that_it_names() -> None:
    (line,) = re.findall(r"^The last column.*$", read(PAGE), flags=re.MULTILINE)
    assert named(line) == {method for method in names() if get(method).EXPONENTIAL}


def test_every_option_is_there_with_its_methods_and_default() -> None:
    told = {
        option.strip("`"): (default, methods)
        for option, default, methods in zip(
            columns(PAGE, "option"), columns(PAGE, "default"), columns(PAGE, "methods")[-8:], strict=True
        )
    }
    given = inspect.signature(Method.solve).parameters
    everywhere = {name for name, one in given.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}
    own = {name for method in names() for name in get(method).SOLVE_PARAMETERS}
    assert set(told) == everywhere | own
    for name in everywhere:
        assert told[name][1] == "all"
    for name in own:
        having = {method for method in names() if name in get(method).SOLVE_PARAMETERS}
        assert named(told[name][1]) == having
    assert told["solver"][0] == f'`"{given["solver"].default}"`'
    assert told["tol"][0] == f'`"{given["tol"].default}"`'
    (words,) = re.findall(r": (\"strict\".*?)\. No unit", read(PAGE))
    assert {word: float(value) for word, value in re.findall(r'"(\w+)" (\S+?)(?:,|$)', words)} == TOLERANCES
    assert {told[name][0] for name in ("warm_start", "callback", "time_limit")} == {"None"}
