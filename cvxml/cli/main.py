"""The command line: list, show, solve, check, evaluate, certify, verify.

Other commands: cases, conform, schema (cases.py); demo; lesson.

| exit code | meaning                         |
| 0         | certified, or done              |
| 1         | refuted, or solvers disagree    |
| 2         | bad usage or input              |
| 3         | inconclusive                    |
| 4         | internal error                  |
| 5         | close                           |
| 130       | interrupted                     |
| 141       | the reader closed the output    |

Certified, refuted, close and inconclusive are verdicts; `Verdict` in core/report.py explains them.

Results go to stdout (JSON with --json). The line about the data (data.py) and progress (core/progress.py) go to stderr.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from cvxml.core.clock import OutOfTime, TimeUp
from cvxml.core.inputs import did_you_mean
from cvxml.core.short_repr import one_line, printable

CERTIFIED, REFUTED, BAD_INPUT, INCONCLUSIVE, INTERNAL, CLOSE = 0, 1, 2, 3, 4, 5
# error codes of the output; readers and writers of files raise ValueError instead
UNWRITABLE = {
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EBADF") if hasattr(errno, name)
}
NEGATIVE = re.compile(
    r"-(\.?[0-9][-+0-9.,e]*|inf|infinity|nan)$", re.IGNORECASE
)  # a value, and not an option
INTERRUPTED, UNREAD = 130, 141  # 128 plus the number of the signal, as in a shell


class _Parser(argparse.ArgumentParser):
    def __init__(self, **given: Any):
        super().__init__(**given, allow_abbrev=False)  # an abbreviation could be ambiguous in a later version
        self._negative_number_matcher = NEGATIVE  # the matcher of argparse takes -1e-4 and -1,2 for options

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help or the version. Unlike argparse, raise an error if it cannot be written."""
        print(message, end="", file=file)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but raise ValueError for an unknown option.

        The message names the command of this parser, and a similar known option if there is one.
        """
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("-"):
            name = unknown[0].partition("=")[0]
            shown = [each for each in self._actions if each.help != argparse.SUPPRESS]
            known = [spelt for action in shown for spelt in action.option_strings]
            self.error(f"there is no option {printable(name)}{did_you_mean(name, known)}")
        return parsed, unknown


def run(arguments: Sequence[str]) -> int:
    """Run the command in the words `arguments`, print its output, and return the exit code.

    An error is printed as one line on the standard error, and not raised.
    """
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except ValueError as error:
        _complain(one_line(str(error)))
        return BAD_INPUT
    except MemoryError:
        _complain("out of memory; give fewer points or features, or more memory")
        return BAD_INPUT
    except BrokenPipeError:  # the reader closed the output, as in `cvxml ... | head`
        _drop_output()
        return UNREAD
    except OutOfTime as error:
        _complain(f"not certified: {one_line(str(error))}")
        return INCONCLUSIVE
    except TimeUp:
        _complain("no result within the time limit; raise --time-limit")
        return INCONCLUSIVE
    except KeyboardInterrupt:
        _complain("interrupted; no result is kept")
        return INTERRUPTED
    except Exception as error:
        # checked by name, because importing the class loads cvxpy
        if type(error).__name__ == "SolverFailure":
            _complain(f"not certified: {one_line(str(error))}")
            return INCONCLUSIVE
        if isinstance(error, OSError) and error.errno in UNWRITABLE and error.filename is None:
            _drop_output()
            why = "the standard output is closed" if error.errno == errno.EBADF else error.strerror
            _complain(f"the output cannot be written: {why}; write it to another place, such as > FILE")
            return BAD_INPUT
        _complain(f"internal error: {type(error).__name__}: {one_line(str(error))}")
        return INTERNAL


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments)
    _check_command(arguments[:1], parser.get_default("commands"))
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    _refuse_empty_values(arguments, parsed)
    code: int = parsed.run(parsed)
    return code


def _refuse_empty_values(arguments: Sequence[str], parsed: argparse.Namespace) -> None:
    """Raise ValueError for an option with an empty value, for example of a variable of the shell that is not set."""
    given = {word.partition("=")[0] for word in arguments}
    for name, value in vars(parsed).items():
        option = f"--{name.replace('_', '-')}"
        if option in given and (value == "" or (isinstance(value, list) and "" in value)):
            raise ValueError(f"{option} is empty; give a value, or leave the option out")


def _complain(text: str) -> None:
    """Print `text` as one line on the standard error. The standard output is flushed first.

    If the line cannot be written, it is lost without an error.
    """
    try:
        sys.stdout.flush()
    except OSError:  # otherwise Python would try again at exit, and change the exit code
        _drop_output()
    with suppress(OSError):
        print(f"cvxml: {text}", file=sys.stderr)


def _drop_output() -> None:
    """Discard the output that is not yet written.

    Otherwise Python would try to write it at exit, and report an error.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_command(first: Sequence[str], commands: Iterable[str]) -> None:
    """Raise ValueError if the first word is neither one of `commands` nor an option. The message says what to do.

    first: a list with the first word of the command line; empty without words.
    """
    from cvxml.methods import known

    for word in first:
        if known(word):
            raise ValueError(
                f"{word} is a method, not a command; try: cvxml solve {word} DATA, or cvxml show {word}"
            )
        if not word.startswith("-") and word not in commands:
            raise ValueError(
                f"no command {word!r}; there is: {', '.join(commands)}{did_you_mean(word, commands)}"
            )


def _parser(arguments: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    arguments: the words to parse. The parser then gets only the options that these words need, which saves time. None:
    all options.
    """
    from cvxml._version import __version__
    from cvxml.cli.cases import add_commands
    from cvxml.cli.data import add_candidate, add_problem, add_table
    from cvxml.cli.demo import add_demo
    from cvxml.cli.lesson import add_lesson
    from cvxml.cli.output import add_force
    from cvxml.cli.parameters import add_tol

    parser = _Parser(
        prog="cvxml",
        description="Metric learning: literal problems, exact solutions, certified results.",
        epilog="Exit codes: 0 certified or done, 1 refuted, 2 bad usage or input, 3 inconclusive, 4 internal error, "
        "5 close, 130 interrupted, 141 if the reader of the output closed it. One line on the standard error reports "
        "how DATA was read.",
    )
    parser.add_argument("--version", action="version", version=f"cvxml {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    parser.set_defaults(commands=commands.choices)

    command = commands.add_parser("list", help="the methods and the embedded data sets")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="the problem of a method, row by row, and its literal source")
    command.add_argument("method", metavar="METHOD", help="a method id, see `cvxml list`")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="the mathematics alone, in LaTeX")
    form.add_argument("--bibtex", action="store_true", help="the papers to cite")
    command.set_defaults(run=_show)

    command = commands.add_parser(
        "solve", help="compute the optimal metric of a data set, with its certificate"
    )
    add_problem(command, arguments, solving=True)
    command.add_argument(
        "--solver", default="fast", metavar="NAME", help="fast (default), clarabel, scs, or global (ssvm)"
    )
    add_tol(command)
    command.add_argument(
        "--max-iter",
        type=int,
        metavar="N",
        help="iterations of the fast solver (default: the method's default)",
    )
    _add_time_limit(
        command,
        "time limit in seconds; then the best metric so far and its bound are printed (exit code 3, "
        "or 0 if it is certified)",
    )
    command.add_argument("--warm-start", metavar="FILE", help="start from a solution that --out wrote")
    command.add_argument(
        "--out",
        metavar="FILE",
        help="save data, metric and dual: .json or .npz, which `certify` reads; or the metric alone: .npy or .csv; "
        "after Ctrl-C, the best metric so far (exit code 130)",
    )
    add_force(command)
    command.set_defaults(run=_solve)

    command = commands.add_parser("check", help="judge a metric that another program computed")
    add_problem(command, arguments)
    add_candidate(command)
    command.add_argument(
        "--claimed-objective",
        type=float,
        metavar="VALUE",
        help="the objective that your program reports, to judge alone or beside the metric",
    )
    command.add_argument(
        "--claim", metavar="WORD", help="optimal; or stationary, the default if the problem is not convex"
    )
    add_tol(command)
    command.add_argument("--exact", action="store_true", help="judge in exact arithmetic")
    diagnosis = command.add_mutually_exclusive_group()
    diagnosis.add_argument(
        "--no-diagnosis",
        action="store_true",
        help="do not look for the mistake that explains a refuted metric",
    )
    diagnosis.add_argument(
        "--diagnose-all",
        action="store_true",
        help="look for that mistake however long it takes; by default for at most "
        "eight times the processor time of our own solve, plus 2 s",
    )
    _add_time_limit(command, "time limit in seconds for the search for a proof")
    command.add_argument(
        "--predictions",
        type=int,
        metavar="K",
        help="also print which votes of the K nearest neighbours agree with the exact optimum",
    )
    command.add_argument(
        "--queries",
        metavar="FILE",
        help="with --predictions: the query points, one per row (default: each point of DATA among the others)",
    )
    command.set_defaults(run=_check)

    command = commands.add_parser(
        "evaluate", help="the intermediate results at a metric, with the names of the paper"
    )
    add_problem(command, arguments)
    add_candidate(command)
    command.add_argument(
        "-t", type=int, default=1, metavar="N", help="iteration of the Algorithm-1 step (default 1)"
    )
    command.set_defaults(run=_evaluate)

    command = commands.add_parser(
        "certify", help="verify a saved solution: recompute its proof from the data"
    )
    command.add_argument("file", metavar="FILE", help="a file that `solve --out` wrote: .json or .npz")
    add_tol(command)
    command.add_argument("--exact", action="store_true", help="in rational arithmetic")
    command.add_argument(
        "--side",
        metavar="SIDE.json",
        help="also write the dual variables and factors for the Coq-verified checker (validation/verified)",
    )
    add_force(command)
    command.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="time limit in seconds (exit code 3)"
    )
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_certify)

    add_table(commands)
    add_commands(commands)
    add_lesson(commands)
    add_demo(commands)
    command = commands.add_parser(
        "verify",
        help="compare the literal and the fast solvers on embedded data (all methods: a minute)",
    )
    command.add_argument("methods", nargs="*", metavar="METHOD", help="method ids (default: all methods)")
    command.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="time limit in seconds; then the finished rows are printed (exit code 3)",
    )
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_verify)
    return parser


def _add_time_limit(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help=f"{what}; the clock is checked between steps"
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
    from cvxml.core.references import bibtex
    from cvxml.methods import get

    if parsed.bibtex:
        print(bibtex(get(parsed.method).id))
    else:
        print(show(parsed.method, shutil.get_terminal_size().columns, parsed.latex))
    return CERTIFIED


def _solve(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import problem
    from cvxml.cli.output import check_out, metric_lines
    from cvxml.core.memory import LargeLiteralProblem
    from cvxml.core.progress import Progress
    from cvxml.core.result import SAVED, Status
    from cvxml.core.saved import load
    from cvxml.methods import get

    if parsed.out:
        check_out(parsed, "out", SAVED)
    X, y, params, names = problem(parsed, solving=True)
    if parsed.warm_start:
        params["warm_start"] = load(parsed.warm_start)
    if params.get("init") == "all":
        params["init"] = list(get(parsed.method).STARTS)
    if parsed.max_iter is not None:
        params["max_iter"] = parsed.max_iter

    def on_a_line_of_its_own(
        message: Warning | str, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        callback.erase()
        print(f"note: {message}", file=sys.stderr)
        callback("literal problem")

    with Progress() as callback, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is always printed
        warnings.simplefilter("always", LargeLiteralProblem)
        warnings.showwarning = on_a_line_of_its_own
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
    finally:  # a full disk loses the file, but not the result
        if parsed.json:
            print(json.dumps(solution.to_dict(), sort_keys=True))
        else:
            print(solution, *metric_lines(solution.metric, names), sep="\n")
    if parsed.out:
        print(f"saved: {printable(parsed.out, tail=True)}", file=sys.stderr)
    if solution.status is Status.INTERRUPTED:
        if parsed.out and parsed.out.endswith((".json", ".npz")):
            print(
                f"continue: the same command with --warm-start {printable(parsed.out, tail=True)} and another --out",
                file=sys.stderr,
            )
        return INTERRUPTED
    return CERTIFIED if solution.status in (Status.CONVERGED, Status.STATIONARY) else INCONCLUSIVE


def _check(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import candidate, problem
    from cvxml.core.predictions import checked
    from cvxml.core.progress import Progress
    from cvxml.core.report import Verdict

    metric, queries = candidate(parsed), _queries(parsed)
    X, y, params, _ = problem(parsed)
    if parsed.predictions is not None:
        try:
            checked(X, parsed.predictions, queries)
        except ValueError as error:
            raise ValueError(f"--predictions: {error}") from error
    with Progress() as callback:
        report = cvxml.check(
            parsed.method,
            X,
            y,
            **metric,
            claimed_objective=parsed.claimed_objective,
            claim=parsed.claim,
            tol=parsed.tol,
            exact=parsed.exact,
            diagnosed="all" if parsed.diagnose_all else not parsed.no_diagnosis,
            time_limit=parsed.time_limit,
            callback=callback,
            **params,
        )
    content, text = report.to_dict(), str(report)
    if parsed.predictions is not None:
        try:
            found = report.predictions(parsed.predictions, queries)
            content["predictions"] = found.to_dict()
            text += f"\n  {'predictions':<28}{found}"
        except ValueError as error:  # the verdict is printed all the same
            content["predictions"] = None
            content["notes"].append(f"no predictions: {error}")
            text += f"\n  {'predictions':<28}none: {error}"
    print(json.dumps(content, indent=1, sort_keys=True, allow_nan=False) if parsed.json else text)
    codes = {
        Verdict.CERTIFIED: CERTIFIED,
        Verdict.CLOSE: CLOSE,
        Verdict.REFUTED: REFUTED,
        Verdict.INCONCLUSIVE: INCONCLUSIVE,
    }
    return codes[report.verdict]


def _queries(parsed: argparse.Namespace) -> Any:
    """Return the points in the file of the option --queries, one per row; None without this option.

    Raises ValueError if --queries is given without --predictions, or together with --standardize.
    """
    from cvxml.core.files import POINTS, read_array

    if parsed.queries is None:
        return None
    if parsed.predictions is None:
        raise ValueError("--queries needs --predictions K")
    if parsed.standardize:
        raise ValueError(
            "--queries cannot be combined with --standardize: standardize both files with the same means and "
            "deviations first"
        )
    return read_array(parsed.queries, prefer=POINTS)


def _evaluate(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.cli.data import candidate, problem
    from cvxml.core.metric import from_components
    from cvxml.methods import get

    given = candidate(parsed)
    if len(given) != 1:
        raise ValueError("give either --metric FILE or --components FILE")
    X, y, params, _ = problem(parsed)
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
    from cvxml.cli.limit import limited
    from cvxml.cli.output import check_out
    from cvxml.core.progress import Progress
    from cvxml.core.result import plain
    from cvxml.core.saved import load
    from cvxml.oracle.saved import recertify
    from cvxml.oracle.side import SUPPORTED, write_side

    if parsed.side:
        check_out(parsed, "side")
    saved = load(parsed.file)
    if parsed.side and saved.method not in SUPPORTED:
        raise ValueError(
            f"--side: the verified checker knows {', '.join(SUPPORTED)}, not {saved.method}; leave --side out"
        )
    unwritten = None
    with Progress(), limited(parsed.time_limit):
        result = recertify(saved, parsed.tol, parsed.exact)
        if parsed.side:
            try:
                write_side(saved, parsed.side)
            except (ValueError, OSError) as error:  # the verdict is printed all the same
                unwritten = error
    if parsed.json:
        print(json.dumps(plain(result.to_dict()), indent=1, sort_keys=True))
    else:
        print(result)
    if unwritten is not None:
        raise ValueError(f"--side {printable(parsed.side)}: not written: {unwritten}") from unwritten
    return {"certified": CERTIFIED, "refuted": REFUTED, "inconclusive": INCONCLUSIVE}[result.verdict.value]


def _verify(parsed: argparse.Namespace) -> int:
    from cvxml.cli.limit import limited
    from cvxml.core.progress import Progress
    from cvxml.oracle.verify import HEAD, Row, as_line, as_sum, cases_of, verify

    chosen = cases_of(parsed.methods) if parsed.methods else None
    rows: list[Row] = []
    ended = None
    if not parsed.json:
        print(HEAD, flush=True)
    with Progress() as tell:
        try:
            with limited(parsed.time_limit):
                for row in verify(tell, chosen):
                    tell.erase()
                    rows.append(row)
                    if not parsed.json:
                        print(as_line(row), flush=True)
        except KeyboardInterrupt as error:  # after an interrupt, the finished rows are still printed
            ended = error
        tell.erase()
    print(json.dumps([row.to_dict() for row in rows], indent=1) if parsed.json else as_sum(rows))
    if ended is not None:
        late = isinstance(ended, TimeUp)
        print(
            f"cvxml: {'stopped at the time limit' if late else 'interrupted'}; some cases were not verified",
            file=sys.stderr,
        )
        return INCONCLUSIVE if late else INTERRUPTED
    return CERTIFIED if all(row.agrees for row in rows) else REFUTED
