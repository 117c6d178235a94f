"""Seconds of whole calls where a user waits, with this copy of the repository and with another one, in one run.

    python -m validation.benchmarks.whole_calls OTHER [--only TEXT] [--limit 600]

OTHER is the folder of a copy of another version, for example of a `git worktree`. --only: the rows whose name contains
TEXT. --limit: seconds after which a call is stopped.

Each call has a process of its own. Its data are loaded before the clock starts, and all modules of cvxml too. Rows of
one thread have processor seconds, rows of two threads have seconds of the wall. A row also has the relative gap
that the certificate proves, or the verdict of a check.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from validation.benchmarks.isolated import THREADS
from validation.benchmarks.versions import ROOT


class Row(NamedTuple):
    """One call. data: code that makes X and y. call: an expression; its value is a solution or a report."""

    name: str
    data: str
    call: str
    threads: int = 1


TWO_CLASSES = (
    "y = np.arange({n}) % 2; X = rng.standard_normal(({n}, {d})); "
    "X = datasets.standardize(X + 2.4 / np.sqrt({d}) * np.outer(y, rng.standard_normal({d})))"
)
WIDE = "y = np.repeat([0, 1, 2], 20); X = rng.standard_normal((60, 1000)); X[:, :5] += y[:, None]"
CENTRES = "y = np.arange({n}) % 10; X = rng.standard_normal((10, {d}))[y] + rng.standard_normal(({n}, {d}))"
REPORT = "cvxml.check('mlsvm', X, y, {times} * A, lam=0.01)"
SOLVED = "; A = cvxml.solve('mlsvm', X, y, lam=0.01).metric"


def loaded(name: str, n: int | None = None) -> str:
    text = f"X, y = datasets.load('{name}'); X = np.asarray(X, dtype=float)"
    return text if n is None else f"{text}; X, y = X[:{n}], y[:{n}]"


def standardized(name: str) -> str:
    return f"{loaded(name)}; X = datasets.standardize(X)"


ROWS = (
    *(
        Row(f"check of {times} A*, mlsvm, {n} x 60, lam .01", TWO_CLASSES.format(n=n, d=60) + SOLVED, call)
        for n in (208, 500)
        for times, call in (("1.05", REPORT.format(times="1.05")), ("0", REPORT.format(times="0")))
    ),
    *(
        Row(f"{method}, {name}", standardized(name), f"cvxml.solve('{method}', X, y)")
        for method, name in (
            ("schultz_joachims", "wine"),
            ("schultz_joachims", "iris"),
            *(
                (method, "wine")
                for method in ("scml", "itml", "mmc", "boostmetric", "plml", "frobmetric", "rtml")
            ),
            ("plml", "iris"),
            ("mlsvm", "iris"),
        )
    ),
    Row(
        "nca, digits, start eye(2, 64), 20 iterations: fit",
        loaded("digits"),
        "cvxml.NCA(n_components=2, init=np.eye(2, 64), max_iter=20).fit(X, y).solution_",
    ),
    *(
        Row(f"{method}, 60 x 1000", WIDE, f"cvxml.solve('{method}', X, y)")
        for method in ("mlsvm", "frobmetric", "lmnn", "itml")
    ),
    *(
        Row(
            f"mlsvm, wine, first feature times {factor}",
            f"{standardized('wine')}; X[:, 0] *= {factor}",
            "cvxml.solve('mlsvm', X, y)",
        )
        for factor in ("1e5", "1e6")
    ),
    *(
        Row(
            f"lmnn, mu .99, 500 x 100, set {seed}, to 1e-3",
            f"rng = np.random.default_rng({seed}); " + CENTRES.format(n=500, d=100),
            "cvxml.solve('lmnn', X, y, mu=0.99, tol=1e-3)",
        )
        for seed in range(3)
    ),
    *(
        Row(f"lmnn, {name}, to 1e-3", loaded(name), "cvxml.solve('lmnn', X, y, tol=1e-3)", threads=2)
        for name in ("usps", "isolet", "office_amazon")
    ),
    Row(
        "lmnn, letter 16,000, to 1e-6",
        loaded("letter", 16000),
        "cvxml.solve('lmnn', X, y, tol=1e-6)",
        threads=2,
    ),
    Row("cvxml verify", "", "command('verify')"),
)

# It must run with both versions.
PROGRAM = """
import contextlib, importlib, json, pkgutil, resource, sys, time, warnings
import numpy as np
import cvxml
from cvxml import datasets
from cvxml.__main__ import main

# both versions load modules only when they are needed, one of them more often
for module in pkgutil.walk_packages(cvxml.__path__, "cvxml."):
    with contextlib.suppress(Exception):
        importlib.import_module(module.name)

def command(*words):
    sys.argv = ["cvxml", *words]
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
        main()

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
data, call = json.loads(sys.stdin.readline())
exec(data)
compiled = compile(call, "call", "eval")
processor, wall = time.process_time(), time.perf_counter()
found = eval(compiled)
took = [time.process_time() - processor, time.perf_counter() - wall]
if hasattr(found, "certificate"):
    told = f"gap {found.certificate.rel_gap:.0e}"
elif hasattr(found, "verdict"):
    told = found.verdict.value
else:
    told = ""
print(json.dumps([*took, told, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


def called(root: Path, row: Row, limit: float) -> tuple[float, str, float] | None:
    """The seconds, the gap or the verdict, and the memory in GiB of a call; None if it was stopped at the limit."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(row.threads)), "PYTHONPATH": str(root)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=root,
            env=environment,
            input=json.dumps([row.data, row.call]),
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return float("nan"), done.stderr.strip().splitlines()[-1], float("nan")
    processor, wall, told, memory = json.loads(done.stdout.splitlines()[-1])
    return (processor if row.threads == 1 else wall), told, memory


def lines(other: Path, rows: Sequence[Row], limit: float) -> Iterator[str]:
    """The lines of the table, each as soon as it is measured."""
    yield "| call | other (s) | this (s) | this / other | other | this | GiB, other | GiB, this |"
    yield "|---|---:|---:|---:|---|---|---:|---:|"
    for row in rows:
        before, now = called(other, row, limit), called(ROOT, row, limit)
        ratio = f"{now[0] / before[0]:.2f}" if before and now else ""
        cells = [row.name, _seconds(before, limit), _seconds(now, limit), ratio, _told(before), _told(now)]
        yield "| " + " | ".join([*cells, _memory(before), _memory(now)]) + " |"


def _seconds(answer: tuple[float, str, float] | None, limit: float) -> str:
    return f"above {limit:.0f}" if answer is None else f"{answer[0]:.3g}"


def _told(answer: tuple[float, str, float] | None) -> str:
    return "" if answer is None else answer[1]


def _memory(answer: tuple[float, str, float] | None) -> str:
    return "" if answer is None else f"{answer[2]:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--limit", type=float, default=600.0)
    given: Any = parser.parse_args(arguments)
    for line in lines(given.other.resolve(), [row for row in ROWS if given.only in row.name], given.limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()
