"""PARAMETERS says what the functions take: names, defaults, kinds. The command line follows from it."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import pytest

import cvxml
from cvxml.cli.parameters import offered, option
from cvxml.core.parameter import COUNT, NUMBER, NUMBERS, WORD, Parameter, words
from cvxml.methods import get, names
from tests.cli.commands import Cli
from tests.instances import real_data

every_method = pytest.mark.parametrize("method", names())
BY_ID = {"mmc": {"diagonal"}, "mmc:diagonal": {"diagonal"}}  # what the id of a method decides


def keywords(function: Any) -> dict[str, Any]:
    """The keyword-only parameters of a function, with their defaults."""
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY}


@every_method
def test_they_are_those_of_the_functions_with_their_defaults(method: str) -> None:
    of = get(method)
    taken = keywords(sys.modules[type(of).__module__].instance)
    own = {name: default for name, default in taken.items() if name not in BY_ID.get(method, ())}
    assert {name: p.default for name, p in of.PARAMETERS.items()} == own
    assert list(of.PARAMETERS) == list(own)
    assert {name: p.default for name, p in of.SOLVE_PARAMETERS.items()} == keywords(of.find)
    for name, parameter in {**of.PARAMETERS, **of.SOLVE_PARAMETERS}.items():
        assert type(parameter) is Parameter, name
        assert "default" not in parameter.text
        assert parameter.default is None or not parameter.otherwise


def test_a_name_is_of_one_kind_whatever_the_method() -> None:
    """One option of the command line reads it, before the method is looked at."""
    for name, by_method in offered(solving=True).items():
        assert len({id(p.kind.read) for p in by_method.values()}) == 1, name


@every_method
def test_the_help_of_a_method_has_its_parameters_and_no_others(cli: Cli, method: str) -> None:
    of = get(method)
    for command, own in (
        ("check", of.PARAMETERS),
        ("evaluate", of.PARAMETERS),
        ("solve", {**of.PARAMETERS, **of.SOLVE_PARAMETERS}),
    ):
        answer = cli(command, method, "--help")
        assert answer.code == 0
        shown = set(re.findall(r"^  (--[\w-]+)", answer.out, flags=re.MULTILINE))
        assert shown & {option(name) for name in offered(solving=True)} == {option(name) for name in own}
        said = "".join(answer.out.split())  # lines end at hyphens too
        assert all("".join(str(p).split()) in said for p in own.values())


def test_a_parameter_of_another_method_is_refused_with_those_there_are(cli: Cli) -> None:
    answer = cli("solve", "ssvm", "iris", "--lam", "1")
    assert answer.code == 2
    assert answer.err == (
        "cvxml: ssvm has no parameter 'lam'; it has: n_neighbors, C, loss_matrix, init, random_state\n"
    )
    assert "has no parameter 'init'" in cli("solve", "mcml", "iris", "--init", "all").err
    for given, meant in (("lmnn", "targets"), ("mlsvm", "neighbors")):
        other = "neighbors" if meant == "targets" else "targets"
        with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
            cvxml.solve(given, *real_data("iris", 20), **{other: [[1]]})
    assert "there is no option --init" in cli("check", "ssvm", "iris", "--init", "zero").err


def test_a_line_has_the_default() -> None:
    assert str(Parameter("weight", NUMBER, 0.1)) == "weight (default 0.1)"
    assert str(Parameter("size", COUNT, 3)) == "size (default 3)"
    assert str(Parameter("which", WORD, "knn")) == 'which (default "knn")'
    assert str(Parameter("weight", NUMBER, otherwise="1/n")) == "weight (default: 1/n)"
    assert str(Parameter("lists", WORD)) == "lists"


def test_what_is_typed_is_read() -> None:
    assert NUMBER.read("--lam", "1e-3") == 1e-3
    assert COUNT.read("--n", "4") == 4
    assert NUMBERS.read("--b", "1,2.5") == [1.0, 2.5]
    either = words("same", otherwise=NUMBERS)
    assert [either.read("--p", typed) for typed in ("same", "1,2")] == ["same", [1.0, 2.0]]
    for kind, typed in ((NUMBER, "x"), (COUNT, "2.5"), (COUNT, ""), (NUMBERS, "1,"), (either, "other")):
        with pytest.raises(ValueError, match=rf"^--o takes .*, got '{re.escape(typed)}'$"):
            kind.read("--o", typed)
