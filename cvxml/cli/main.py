"""The command line: list, show, solve, check, evaluate, certify, verify; cases, conform, schema (cases.py); lesson.

Exit codes: 0 certified, 1 refuted, 2 bad usage or input, 3 inconclusive, 4 internal error, 130 interrupted. Results
go to stdout (JSON with --json), what was read (data.py), logs and progress to stderr, progress only on a terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

CERTIFIED, REFUTED, BAD_INPUT, INCONCLUSIVE, INTERNAL, CLOSE = 0, 1, 2, 3, 4, 5
INTERRUPTED = 130  # as a shell says it: 128 and the number of the signal


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code and prints everything else."""
    try:
        parsed = _parser(arguments).parse_args(arguments)
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    except ValueError as error:
        print(f"cvxml: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except MemoryError:
        print("cvxml: out of memory; give fewer points or features, or more memory", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # whoever reads has seen enough, as in `cvxml ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INCONCLUSIVE
    except KeyboardInterrupt:
        print("cvxml: interrupted; nothing is kept", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if type(error).__name__ == "SolverFailure":  # named, not imported: the back end loads cvxpy
            print(f"cvxml: not certified: {error}", file=sys.stderr)
            return INCONCLUSIVE
        print(f"cvxml: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        return INTERNAL


def _parser(arguments: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """With every option, or what parses these arguments and answers their --help."""
    from cvxml._version import __version__
    from cvxml.cli.cases import add_commands
    from cvxml.cli.data import add_candidate, add_problem
    from cvxml.cli.lesson import add_lesson

    parser = _Parser(
        prog="cvxml",
        description="Metric learning, stated literally, solved exactly, proved.",
        epilog="Exit codes: 0 certified or done, 1 refuted, 2 bad usage or input, 3 inconclusive, 4 internal error, "
        "130 interrupted. What was read of DATA is said in one line on the standard error.",
    )
    parser.add_argument("--version", action="version", version=f"cvxml {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    command = commands.add_parser("list", help="the methods and the embedded data sets")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="a method's mathematics, row by row beside its literal source")
    command.add_argument("method", help="an id that `cvxml list` shows")
    command.add_argument("--latex", action="store_true", help="the mathematics alone, in LaTeX")
    command.set_defaults(run=_show)

    command = commands.add_parser("solve", help="the optimal metric of a data set, with its proof")
    add_problem(command, arguments, solving=True)
    command.add_argument("--solver", default="fast", help="fast (default), clarabel, scs, or global (ssvm)")
    command.add_argument("--tol", type=float, default=1e-6, help="gap relative to the scale (default 1e-6)")
    command.add_argument("--max-iter", type=int)
    _add_time_limit(command, "solve for at most so long: the best metric so far with its bound (exit code 3)")
    command.add_argument("--warm-start", metavar="FILE", help="a file that --out wrote")
    command.add_argument(
        "--out",
        metavar="FILE",
        help="save data, metric and dual: .json or .npz; after Ctrl-C, the best that there was (exit code 130)",
    )
    command.set_defaults(run=_solve)

    command = commands.add_parser("check", help="judge somebody else's metric")
    add_problem(command, arguments)
    add_candidate(command)
    command.add_argument("--claimed-objective", type=float, metavar="VALUE")
    command.add_argument(
        "--claim", help="optimal, or stationary where the problem is not convex (its default)"
    )
    command.add_argument("--tol", default="normal", help="strict, normal (default) or loose")
    command.add_argument("--exact", action="store_true", help="judge in rational arithmetic")
    command.add_argument(
        "--no-diagnosis", action="store_true", help="do not look for the misreading behind a refuted metric"
    )
    _add_time_limit(command, "search for a proof, either way, for at most so long")
    command.set_defaults(run=_check)

    command = commands.add_parser("evaluate", help="the intermediates at a metric, by the paper's names")
    add_problem(command, arguments)
    add_candidate(command)
    command.add_argument("-t", type=int, default=1, help="iteration of the Algorithm-1 step (default 1)")
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("certify", help="recompute the proof in a saved solution")
    command.add_argument("file")
    command.add_argument("--tol", default="normal", help="strict, normal (default) or loose")
    command.add_argument("--exact", action="store_true", help="in rational arithmetic")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_certify)

    add_commands(commands)
    add_lesson(commands)
    command = commands.add_parser("verify", help="every method, literal against fast, on data that ships")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_verify)
    return parser


def _add_time_limit(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help=f"{what}; looked at between steps"
    )


def _list(parsed: argparse.Namespace) -> int:
    from cvxml import datasets
    from cvxml.methods import get, names

    print("methods")
    for name in names():
        print(f"  {name:<20}{get(name).TITLE}")
    print("data sets\n  " + ", ".join(datasets.names()))
    return CERTIFIED


def _show(parsed: argparse.Namespace) -> int:
    from cvxml.cli.show import show

    print(show(parsed.method, shutil.get_terminal_size().columns, parsed.latex))
    return CERTIFIED


def _solve(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import check_out, problem
    from cvxml.core.result import Status, load
    from cvxml.methods import get

    if parsed.out:
        check_out("--out", parsed.out, (".json", ".npz"))
    X, y, params = problem(parsed, solving=True)
    if parsed.warm_start:
        params["warm_start"] = load(parsed.warm_start)
    if params.get("init") == "all":
        params["init"] = list(get(parsed.method).STARTS)
    if parsed.max_iter is not None:
        params["max_iter"] = parsed.max_iter
    with _progress() as callback, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is printed, always
        solution = cvxml.solve(
            parsed.method,
            X,
            y,
            solver=parsed.solver,
            tol=parsed.tol,
            callback=callback,
            time_limit=parsed.time_limit,
            **params,
        )
    try:
        if parsed.out:
            solution.save(parsed.out)
    finally:  # a disk that is full loses the file, not the work
        print(json.dumps(solution.to_dict(), sort_keys=True) if parsed.json else solution)
    if solution.status is Status.INTERRUPTED:
        return INTERRUPTED
    return CERTIFIED if solution.status in (Status.CONVERGED, Status.STATIONARY) else INCONCLUSIVE


@contextmanager
def _progress() -> Iterator[Callable[[Any], None] | None]:
    """What tells of a step on a terminal, in a line that the next one overwrites; None where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    told = []

    def tell(step: Any) -> None:
        told.append(len(line := str(step)))
        print(f"\r{line:<{max(told[-2:])}}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if told:
            print(file=sys.stderr)


def _check(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import candidate, problem
    from cvxml.core.report import Verdict

    metric = candidate(parsed)
    X, y, params = problem(parsed)
    with _progress() as callback:
        report = cvxml.check(
            parsed.method,
            X,
            y,
            **metric,
            claimed_objective=parsed.claimed_objective,
            claim=parsed.claim,
            tol=parsed.tol,
            exact=parsed.exact,
            diagnosed=not parsed.no_diagnosis,
            time_limit=parsed.time_limit,
            callback=callback,
            **params,
        )
    print(report.to_json() if parsed.json else report)
    codes = {
        Verdict.CERTIFIED: CERTIFIED,
        Verdict.CLOSE: CLOSE,
        Verdict.REFUTED: REFUTED,
        Verdict.INCONCLUSIVE: INCONCLUSIVE,
    }
    return codes[report.verdict]


def _evaluate(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import candidate, problem
    from cvxml.core.metric import from_components
    from cvxml.methods import get

    given = candidate(parsed)
    if len(given) != 1:
        raise ValueError("give --metric FILE or --components FILE, one of the two")
    X, y, params = problem(parsed)
    metric = given.get("metric")
    if metric is None:
        of = get(parsed.method)
        metric = from_components(given["components"], of.metric_size(of.instance(X, y, **params)))
    evaluation = cvxml.evaluate(parsed.method, X, y, metric, t=parsed.t, **params)
    if parsed.json:
        print(json.dumps(evaluation.to_dict(), allow_nan=False))
    else:
        with np.printoptions(precision=8, suppress=True, linewidth=110, threshold=200):
            print(evaluation)
    return CERTIFIED


def _certify(parsed: argparse.Namespace) -> int:
    from cvxml.core.inputs import check_choice
    from cvxml.core.result import TOLERANCES, load, plain
    from cvxml.oracle.saved import recertify

    tol = TOLERANCES[check_choice(parsed.tol, "tol", tuple(TOLERANCES))]
    result = recertify(load(parsed.file), tol, parsed.exact)
    if parsed.json:
        print(json.dumps(plain(result.to_dict()), indent=1, sort_keys=True))
    else:
        print(result)
    return {"certified": CERTIFIED, "refuted": REFUTED, "inconclusive": INCONCLUSIVE}[result.verdict.value]


def _verify(parsed: argparse.Namespace) -> int:
    from cvxml.oracle.verify import HEAD, Row, as_line, as_sum, verify

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)

    rows: list[Row] = []
    if not parsed.json:
        print(HEAD, flush=True)
    for row in verify(say):
        say("")
        rows.append(row)
        if not parsed.json:
            print(("\r" if sys.stderr.isatty() else "") + as_line(row), flush=True)
    print(json.dumps([row.to_dict() for row in rows], indent=1) if parsed.json else as_sum(rows))
    return CERTIFIED if all(row.agrees for row in rows) else REFUTED
