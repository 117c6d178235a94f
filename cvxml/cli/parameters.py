"""The parameters of the methods as options, read from what each method says of its own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cvxml.core.parameter import Parameter
from cvxml.core.tolerance import TOLERANCES, typed_tol
from cvxml.methods import check_params, get, names


def offered(solving: bool = False) -> dict[str, dict[str, Parameter]]:
    """Name -> method -> what the method says of it; with what only `solve` takes if `solving`."""
    found: dict[str, dict[str, Parameter]] = {}
    for method in names():
        for name, parameter in _of(method, solving).items():
            found.setdefault(name, {})[method] = parameter
    return found


def lines(by_method: dict[str, Parameter]) -> list[str]:
    """What the methods say of a parameter: a line, after the methods that say it."""
    methods: dict[str, list[str]] = {}
    for method, parameter in by_method.items():
        methods.setdefault(str(parameter), []).append(method)
    return [f"{', '.join(those)}: {line}" for line, those in methods.items()]


def add_tol(command: argparse.ArgumentParser) -> None:
    """The option of the tolerance: a share of the scale."""
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
    """An option for each parameter of any method.

    arguments: those to parse. No option is added, and no method imported, where they are of another command; the help
    has the parameters of the method that they name, or none. Without arguments it has them all.
    """
    if arguments is not None and not command.prog.endswith(" ".join(arguments[:1])):
        return
    method = next((each for each in arguments or () if each in names()), None)
    group = command.add_argument_group(*_titles(command.prog, method))
    for name, by_method in offered(solving).items():
        said = lines(by_method) if method is None else [str(by_method.get(method, ""))]
        kind = next(iter(by_method.values())).kind
        text = "; ".join(said) + (f" [{kind.how}]" if kind.how else "")
        hidden = arguments is not None and method not in by_method
        group.add_argument(
            option(name),
            metavar=kind.metavar,
            help=argparse.SUPPRESS if hidden else text.replace("%", "%%"),  # argparse takes % for its own
        )


def _titles(prog: str, method: str | None) -> tuple[str, str]:
    if method is None:
        return "parameters of the method", f"{prog} METHOD --help shows them, such as {prog} mlsvm --help"
    return f"parameters of {method}", get(method).TITLE


def given(parsed: argparse.Namespace, solving: bool) -> dict[str, Any]:
    """The parameters that were typed. Raises ValueError for one that the method has not, and for what is no value."""
    own = _of(parsed.method, solving)
    typed = {name: getattr(parsed, name) for name in offered(solving) if getattr(parsed, name) is not None}
    check_params(parsed.method, typed, tuple(get(parsed.method).SOLVE_PARAMETERS) if solving else ())
    return {name: own[name].kind.read(option(name), text) for name, text in typed.items()}


def _of(method: str, solving: bool) -> dict[str, Parameter]:
    of = get(method)
    return {**of.PARAMETERS, **of.SOLVE_PARAMETERS} if solving else of.PARAMETERS


def option(name: str) -> str:
    """As it is typed."""
    return "--" + name.replace("_", "-")
