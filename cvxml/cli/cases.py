"""The commands about golden cases, problems with known answers: cases, conform, schema.

The exit codes are those of main.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvxml.oracle.cases import Case
    from cvxml.oracle.conform import Row

from cvxml.core.short_repr import printable

CERTIFIED, REFUTED, INCONCLUSIVE, CLOSE, INTERRUPTED = 0, 1, 3, 5, 130
SCHEMAS = ("report", "case", "question", "answer", "conformance")


def add_commands(commands: Any) -> None:
    from cvxml.cli.output import add_force
    from cvxml.cli.parameters import add_tol

    command = commands.add_parser("cases", help="the golden cases: problems and parts with known answers")
    command.add_argument(
        "pattern", nargs="?", default="*", help="case ids (with * and ?) or a method id (default: all)"
    )
    _add_source(command)
    command.add_argument("--json", action="store_true", help="print the questions that a program gets")
    command.set_defaults(run=_cases)

    command = commands.add_parser(
        "conform",
        help="run a program over the golden cases and judge its answers",
        usage="cvxml conform [OPTION ...] -- COMMAND [ARGUMENT ...]",
    )
    command.add_argument(
        "--only", metavar="PATTERN", default="*", help="case ids (with * and ?) or a method id"
    )
    _add_source(command)
    command.add_argument(
        "--time-limit", type=float, default=60.0, metavar="SECONDS", help="seconds for each case (default 60)"
    )
    command.add_argument(
        "--memory-limit",
        type=float,
        default=8.0,
        metavar="GB",
        help="limit of the data of each process, on Linux only (default 8)",
    )
    command.add_argument(
        "--env",
        metavar="NAME",
        action="append",
        default=[],
        help="pass this environment variable to the program, for example HOME; may be repeated",
    )
    command.add_argument(
        "--workdir",
        metavar="DIR",
        help="run the program in this folder, for example . (default: an empty folder that is removed afterwards)",
    )
    add_tol(command)
    command.add_argument(
        "--allow-skipped",
        action="store_true",
        help="exit code 0 even if the program skipped some cases (but not all)",
    )
    command.add_argument("--junit", metavar="FILE", help="also write the rows as JUnit XML")
    add_force(command)
    command.add_argument("--json", action="store_true", help="JSON on stdout")
    command.add_argument(
        "command", nargs="+", metavar="COMMAND", help="after --: the program and its arguments"
    )
    command.set_defaults(run=_conform)

    command = commands.add_parser(
        "schema", help="print the JSON schema of a report, a case, a question, an answer or a conformance"
    )
    command.add_argument("name", help=f"one of: {', '.join(SCHEMAS)}")
    command.set_defaults(run=_schema)


def _add_source(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--folder", metavar="DIR", help="folder with your own cases (default: the cases of this package)"
    )
    command.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw new points for the problems, so that the answers cannot be looked up",
    )


def _source(parsed: argparse.Namespace, pattern: str, tell: Callable[[str], None]) -> list[Case]:
    """Return the cases that match `pattern`, from the folder of the option --folder, or else from this package.

    pattern: case ids with * and ?, or the id of a method. With --seed, new points are drawn for these cases. tell:
    shows a line of progress.
    """
    from cvxml.oracle.cases import load_cases
    from cvxml.oracle.fresh import fresh_cases

    if parsed.seed is not None:  # the id of a drawn case ends with its seed
        pattern = pattern.removesuffix(f"-{parsed.seed}")
    cases = load_cases(parsed.folder, pattern)
    return cases if parsed.seed is None else fresh_cases(parsed.seed, cases, tell)


def _cases(parsed: argparse.Namespace) -> int:
    from cvxml.core.progress import Progress

    with Progress() as tell:
        cases = _source(parsed, parsed.pattern, tell)
        tell.erase()
    if parsed.json:
        print(json.dumps([case.question for case in cases], indent=1, allow_nan=False))
        return CERTIFIED
    for case in cases:
        flags = f"  [{', '.join(map(printable, case.flags))}]" if case.flags else ""
        print(f"{printable(case.id):<26}{printable(case.formula):<24}{printable(case.title)}{flags}")
    return CERTIFIED


def _conform(parsed: argparse.Namespace) -> int:
    from cvxml.cli.output import check_out
    from cvxml.core.files import write_text
    from cvxml.core.inputs import check_positive
    from cvxml.core.progress import Progress
    from cvxml.core.tolerance import check_tol
    from cvxml.oracle.conform import as_junit, as_table, conform_case
    from cvxml.oracle.programs import CRASHED, Surroundings

    if parsed.junit:
        check_out(parsed, "junit")
    for option in ("time_limit", "memory_limit"):
        check_positive(getattr(parsed, option), f"--{option.replace('_', '-')}")
    within = Surroundings(parsed.time_limit, parsed.memory_limit, tuple(parsed.env), parsed.workdir)
    tol, rows = check_tol(parsed.tol), []
    with Progress() as tell:
        cases = _source(parsed, parsed.only, tell)
        with suppress(KeyboardInterrupt):  # after an interrupt, the finished rows are still printed
            for case in cases:
                tell(f"{case.id} ...")
                rows.append(conform_case(parsed.command, case, within, tol=tol))
        tell.erase()
    try:
        if parsed.junit:
            write_text(parsed.junit, as_junit(rows))
    finally:  # a full disk loses the file, but not the rows
        print(_as_json(rows) if parsed.json else as_table(rows))
    if len(rows) < len(cases):
        print(f"cvxml: interrupted; {len(rows)} of {len(cases)} cases were judged", file=sys.stderr)
        return INTERRUPTED
    verdicts = {row.verdict for row in rows}
    if rows and parsed.workdir is None and all(row.message.startswith(CRASHED) for row in rows):
        print(
            "cvxml: every case is an error; if the program needs files or variables, see --workdir and --env: it runs "
            "in an empty folder, with few environment variables",
            file=sys.stderr,
        )
    if verdicts & {"refuted", "error"}:
        return REFUTED
    if "close" in verdicts:
        return CLOSE
    if parsed.allow_skipped and "certified" in verdicts:
        verdicts -= {"skipped"}
    return CERTIFIED if verdicts == {"certified"} else INCONCLUSIVE


def _as_json(rows: list[Row]) -> str:
    content = {"format": "cvxml-conformance", "version": 1, "rows": [row.to_dict() for row in rows]}
    return json.dumps(content, indent=1, allow_nan=False)


def _schema(parsed: argparse.Namespace) -> int:
    from cvxml.core.inputs import check_choice

    name = check_choice(parsed.name, "schema", SCHEMAS)
    # the schema of a case is beside the cases, because their folder is copied as a whole
    folder = "cases" if name == "case" else "schemas"
    path = Path(__file__).parent.parent / folder / f"{name}.schema.json"
    print(path.read_text(encoding="utf-8"), end="")
    return CERTIFIED
