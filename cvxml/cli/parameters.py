"""The parameters of the methods as command-line options, made from the PARAMETERS of each method."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cvxml.core.parameter import Parameter
from cvxml.core.tolerance import TOLERANCES, typed_tol
from cvxml.methods import check_params, get, known, names


def offered(solving: bool = False) -> dict[str, dict[str, Parameter]]:
    """Return {name of a parameter: {id of a method: its Parameter}} for all methods.

    solving: include the SOLVE_PARAMETERS, which only `solve` takes.
    """
    found: dict[str, dict[str, Parameter]] = {}
    for method in names():
        for name, parameter in _parameters_of(method, solving).items():
            found.setdefault(name, {})[method] = parameter
    return found


def lines(by_method: dict[str, Parameter]) -> list[str]:
    """Return a line for each different description of a parameter, such as "mlsvm: K, the size of a neighbourhood".

    The line has the methods that share the description, and the description. by_method: {id of a method: its
    Parameter}, for all methods that have a parameter of one name.
    """
    methods: dict[str, list[str]] = {}
    for method, parameter in by_method.items():
        methods.setdefault(str(parameter), []).append(method)
    return [f"{', '.join(those)}: {line}" for line, those in methods.items()]


def add_tol(command: argparse.ArgumentParser) -> None:
    words = ", ".join(f"{word} {value:g}" for word, value in TOLERANCES.items())
    command.add_argument(
        "--tol",
        type=typed_tol,
        default="normal",
        metavar="TOL",
        help=f"tolerance for the relative gap: a number, or {words} (default: normal)",
    )


def add_parameters(
    command: argparse.ArgumentParser, arguments: Sequence[str] | None, solving: bool = False
) -> None:
    """Add an option for each parameter of any method to a command.

    arguments: the words of the command line. If they begin with another command, no option is added and no method is
        imported. The help shows the parameters of the method among the words; without a method, it shows no parameters.
        If `arguments` is None, the help shows all parameters.
    solving: include the SOLVE_PARAMETERS, which only `solve` takes.
    """
    if arguments is not None and not command.prog.endswith(" ".join(arguments[:1])):
        return
    method = next((id for each in arguments or () if (id := known(each))), None)
    group = command.add_argument_group(*_titles(command.prog, method))
    for name, by_method in offered(solving).items():
        said = lines(by_method) if method is None else [str(by_method.get(method, ""))]
        kind = next(iter(by_method.values())).kind
        text = "; ".join(said) + (f" [{kind.how}]" if kind.how else "")
        hidden = arguments is not None and method not in by_method
        group.add_argument(
            option(name),
            metavar=kind.metavar,
            # argparse uses % for substitutions
            help=argparse.SUPPRESS if hidden else text.replace("%", "%%"),
        )


def _titles(prog: str, method: str | None) -> tuple[str, str]:
    if method is None:
        return "parameters of the method", f"{prog} METHOD --help shows them, such as {prog} mlsvm --help"
    return f"parameters of {method}", get(method).TITLE


def given(parsed: argparse.Namespace, solving: bool) -> dict[str, Any]:
    """Return {name: value} of the parameters that were given as options.

    solving: include the SOLVE_PARAMETERS, which only `solve` takes. Raises ValueError for a parameter that the method
    does not have, and for a bad value.
    """
    own = _parameters_of(parsed.method, solving)
    typed = {name: getattr(parsed, name) for name in offered(solving) if getattr(parsed, name) is not None}
    check_params(parsed.method, typed, tuple(get(parsed.method).SOLVE_PARAMETERS) if solving else ())
    return {name: own[name].kind.read(option(name), text) for name, text in typed.items()}


def _parameters_of(method: str, solving: bool) -> dict[str, Parameter]:
    of = get(method)
    return {**of.PARAMETERS, **of.SOLVE_PARAMETERS} if solving else of.PARAMETERS


def option(name: str) -> str:
    """Return the option for a parameter, for example "--n-neighbors"."""
    return "--" + name.replace("_", "-")
