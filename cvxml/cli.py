"""The command line: list, show, solve, check, evaluate, certify, verify; cases, conform, schema (cli_cases.py); lesson.

Exit codes: 0 certified, 1 refuted, 2 bad usage or input, 3 inconclusive, 4 internal error. Results go to stdout
(JSON with --json), logs and progress to stderr, progress only on a terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

CERTIFIED, REFUTED, BAD_INPUT, INCONCLUSIVE, INTERNAL = 0, 1, 2, 3, 4
_PARAMS = (
    "lam",
    "n_neighbors",
    "neighborhood",
    "kernel",
    "degree",
    "gamma",
    "C",
    "alpha",
    "model",
    "n_components",
    "criterion",
    "mu",
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code and prints everything else."""
    try:
        parsed = _parser().parse_args(arguments)
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
        print("cvxml: interrupted", file=sys.stderr)
        return INCONCLUSIVE
    except Exception as error:
        if type(error).__name__ == "SolverFailure":  # named, not imported: the back end loads cvxpy
            print(f"cvxml: not certified: {error}", file=sys.stderr)
            return INCONCLUSIVE
        print(f"cvxml: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        return INTERNAL


def _parser() -> argparse.ArgumentParser:
    from cvxml._version import __version__

    parser = _Parser(prog="cvxml", description="Metric learning, stated literally, solved exactly, proved.")
    parser.add_argument("--version", action="version", version=f"cvxml {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    command = commands.add_parser("list", help="the methods and the embedded data sets")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="a method's mathematics, row by row beside its literal source")
    command.add_argument("method", help="an id that `cvxml list` shows")
    command.add_argument("--latex", action="store_true", help="the mathematics alone, in LaTeX")
    command.set_defaults(run=_show)

    command = commands.add_parser("solve", help="the optimal metric of a data set, with its proof")
    _add_problem(command)
    command.add_argument("--solver", default="fast", help="fast (default), clarabel, scs, or global (ssvm)")
    command.add_argument("--tol", type=float, default=1e-6, help="gap relative to the scale (default 1e-6)")
    command.add_argument("--max-iter", type=int)
    command.add_argument("--time-limit", type=float, help="seconds, for the solver global (default 600)")
    command.add_argument(
        "--init",
        help="start of a method that is not convex: zero, identity, relieff, random, or all (ssvm); auto, pca, lda, "
        "identity, random, likelihood, or all (nca)",
    )
    command.add_argument("--warm-start", metavar="FILE", help="a file that --out wrote")
    command.add_argument("--out", metavar="FILE", help="save data, metric and dual: .json or .npz")
    command.set_defaults(run=_solve)

    command = commands.add_parser("check", help="judge somebody else's metric")
    _add_problem(command)
    _add_candidate(command)
    command.add_argument("--claimed-objective", type=float, metavar="VALUE")
    command.add_argument(
        "--claim", help="optimal, or stationary where the problem is not convex (its default)"
    )
    command.add_argument("--tol", default="normal", help="strict, normal (default) or loose")
    command.add_argument("--exact", action="store_true", help="judge in rational arithmetic")
    command.add_argument(
        "--no-diagnosis", action="store_true", help="do not look for the misreading behind a refuted metric"
    )
    command.set_defaults(run=_check)

    command = commands.add_parser("evaluate", help="the intermediates at a metric, by the paper's names")
    _add_problem(command)
    _add_candidate(command)
    command.add_argument("-t", type=int, default=1, help="iteration of the Algorithm-1 step (default 1)")
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("certify", help="recompute the proof in a saved solution")
    command.add_argument("file")
    command.add_argument("--tol", default="normal", help="strict, normal (default) or loose")
    command.add_argument("--exact", action="store_true", help="in rational arithmetic")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_certify)

    from cvxml.cli_cases import add_commands
    from cvxml.cli_lesson import add_lesson

    add_commands(commands)
    add_lesson(commands)
    command = commands.add_parser("verify", help="every method, literal against fast, on data that ships")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_verify)
    return parser


def _add_problem(command: argparse.ArgumentParser) -> None:
    command.add_argument("method", help="an id that `cvxml list` shows")
    command.add_argument("data", metavar="DATA", help=".csv, .npz, .npy or .json file, or an embedded set")
    command.add_argument("--label", help="name of the label column (default: label, else the last)")
    command.add_argument("--standardize", action="store_true", help="z-score the features first")
    command.add_argument("--lam", type=float)
    command.add_argument("--n-neighbors", type=int)
    command.add_argument("--neighborhood", help="knn or per-class")
    command.add_argument("--neighbors", metavar="FILE", help="explicit lists: JSON, one list a point")
    command.add_argument("--kernel", help="poly or rbf (kernel_mlsvm)")
    command.add_argument("--degree", type=int)
    command.add_argument("--gamma", type=float)
    command.add_argument("--C", type=float, help="weight of the losses (ssvm)")
    command.add_argument(
        "--loss-matrix", metavar="FILE", help="cost of each mistake (ssvm): .npy, .npz, .csv or .json"
    )
    command.add_argument(
        "--query",
        metavar="X",
        help="where a local metric is wanted (glml): numbers with commas, or a file (q, d)",
    )
    command.add_argument("--alpha", type=float, help="added to the diagonal of the covariances (glml)")
    command.add_argument("--priors", help="empirical, or numbers with commas (glml)")
    command.add_argument("--model", help="gaussian or mixture (glml)")
    command.add_argument(
        "--n-components", type=int, help="of the mixture of a class (glml); rank of the metric (nca)"
    )
    command.add_argument("--criterion", help="f or g (nca)")
    command.add_argument(
        "--similarity", metavar="FILE", help="who is right for whom, in place of classes (nca)"
    )
    command.add_argument("--mu", type=float, help="weight of the impostors (lmnn)")
    command.add_argument("--targets", metavar="FILE", help="explicit targets: JSON, one list a point (lmnn)")
    command.add_argument(
        "--pairs",
        metavar="FILE",
        help='JSON {"similar": [[i, j], ...], "dissimilar": ...} in place of labels (itml, mmc, dml_eig)',
    )
    command.add_argument("--prior", help="identity, covariance, or a file with a matrix (itml)")
    command.add_argument(
        "--bounds", metavar="U,L", help="of squared distances, similar and dissimilar (itml)"
    )
    command.add_argument("--json", action="store_true", help="JSON on stdout")


def _add_candidate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--metric", metavar="FILE", help="psd matrix: .npy, .npz, .csv or .json")
    command.add_argument("--components", metavar="FILE", help="L with metric L^T L")


def _data(parsed: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    from cvxml import datasets
    from cvxml.files import read_array, read_json, read_neighbors, read_table

    if Path(parsed.data).suffix or Path(parsed.data).exists():
        X, y = read_table(parsed.data, label=parsed.label)
    else:
        X, y = datasets.load(parsed.data)
    if parsed.standardize:
        X = datasets.standardize(X)
    params = {name: getattr(parsed, name) for name in _PARAMS if getattr(parsed, name) is not None}
    if parsed.neighbors:
        params["neighbors"] = read_neighbors(parsed.neighbors)
    if parsed.targets:
        params["targets"] = read_neighbors(parsed.targets)
    if parsed.pairs:
        params["pairs"] = read_json(parsed.pairs)
    if parsed.prior:
        is_file = parsed.prior not in ("identity", "covariance")
        params["prior"] = read_array(parsed.prior) if is_file else parsed.prior
    if parsed.bounds:
        params["bounds"] = _numbers(parsed.bounds, "--bounds")
    if parsed.loss_matrix:
        params["loss_matrix"] = read_array(parsed.loss_matrix)
    if parsed.similarity:
        params["similarity"] = read_array(parsed.similarity)
    if parsed.query:
        is_file = any(map(str.isalpha, Path(parsed.query).suffix))
        params["query"] = read_array(parsed.query) if is_file else _numbers(parsed.query, "--query")
    if parsed.priors:
        params["priors"] = (
            "empirical" if parsed.priors == "empirical" else _numbers(parsed.priors, "--priors")
        )
    return X, y, params


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers with commas between them, got {text!r}") from None


def _list(parsed: argparse.Namespace) -> int:
    from cvxml import datasets
    from cvxml.methods import get, names

    print("methods")
    for name in names():
        print(f"  {name:<20}{get(name).TITLE}")
    print("data sets\n  " + ", ".join(datasets.names()))
    return CERTIFIED


def _show(parsed: argparse.Namespace) -> int:
    from cvxml.show import show

    print(show(parsed.method, shutil.get_terminal_size().columns, parsed.latex))
    return CERTIFIED


def _solve(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.methods import get
    from cvxml.result import Status, load

    X, y, params = _data(parsed)
    if parsed.out and Path(parsed.out).suffix not in (".json", ".npz"):
        raise ValueError(f"--out {parsed.out}: the name must end in .json or .npz")
    if parsed.warm_start:
        params["warm_start"] = load(parsed.warm_start)
    if parsed.init:
        starts = getattr(get(parsed.method), "STARTS", ())  # a convex method has none, and will say so
        params["init"] = list(starts) if parsed.init == "all" else parsed.init
    if parsed.max_iter is not None:
        params["max_iter"] = parsed.max_iter
    if parsed.time_limit is not None:
        params["time_limit"] = parsed.time_limit
    if sys.stderr.isatty():
        params["callback"] = _progress
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is printed, always
        solution = cvxml.solve(
            parsed.method,
            X,
            y,
            solver=parsed.solver,
            tol=parsed.tol,
            **params,
        )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if parsed.out:
        solution.save(parsed.out)
    print(json.dumps(solution.to_dict(), sort_keys=True) if parsed.json else solution)
    return CERTIFIED if solution.status in (Status.CONVERGED, Status.STATIONARY) else INCONCLUSIVE


def _progress(step: Any) -> None:
    print(
        f"\riteration {step.iteration:6d}  {step.seconds:7.1f} s  objective {step.objective:.8g}  gap {step.gap:.2e} ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def _candidate(parsed: argparse.Namespace) -> dict[str, Any]:
    from cvxml.files import read_array

    given = {name: getattr(parsed, name) for name in ("metric", "components") if getattr(parsed, name)}
    return {name: read_array(path) for name, path in given.items()}


def _check(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.report import Verdict

    X, y, params = _data(parsed)
    report = cvxml.check(
        parsed.method,
        X,
        y,
        **_candidate(parsed),
        claimed_objective=parsed.claimed_objective,
        claim=parsed.claim,
        tol=parsed.tol,
        exact=parsed.exact,
        diagnosed=not parsed.no_diagnosis,
        **params,
    )
    print(report.to_json() if parsed.json else report)
    codes = {Verdict.CERTIFIED: CERTIFIED, Verdict.REFUTED: REFUTED, Verdict.INCONCLUSIVE: INCONCLUSIVE}
    return codes[report.verdict]


def _evaluate(parsed: argparse.Namespace) -> int:
    import cvxml
    from cvxml.methods import get
    from cvxml.metric import from_components

    X, y, params = _data(parsed)
    candidate = _candidate(parsed)
    if len(candidate) != 1:
        raise ValueError("give --metric FILE or --components FILE, one of the two")
    metric = candidate.get("metric")
    if metric is None:
        metric = from_components(candidate["components"], get(parsed.method).metric_size(X))
    evaluation = cvxml.evaluate(parsed.method, X, y, metric, t=parsed.t, **params)
    if parsed.json:
        print(json.dumps(evaluation.to_dict(), allow_nan=False))
    else:
        with np.printoptions(precision=8, suppress=True, linewidth=110, threshold=200):
            print(evaluation)
    return CERTIFIED


def _certify(parsed: argparse.Namespace) -> int:
    from cvxml.inputs import check_choice
    from cvxml.oracle.saved import recertify
    from cvxml.result import TOLERANCES, load, plain

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
