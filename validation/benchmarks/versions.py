"""Processor seconds of `cvxml.solve` in this copy of the repository and in another one, side by side.

    python -m validation.benchmarks.versions OTHER [METHOD ...]

OTHER is the folder of a copy of another version, for example of a `git worktree`. Each method solves iris and wine,
standardized and with a jitter of 1e-6, with its default parameters. There is one process for each copy, with one
thread. The two solve in turn, six times; the table has the smallest time, because other work on the machine only adds
to it. A solve that takes more than five seconds is not repeated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cvxml.methods import names
from validation.benchmarks.isolated import THREADS

ROOT = Path(__file__).resolve().parents[2]
DATA = ("iris", "wine")
REPEATS = 5
LIMIT = 20.0  # seconds, `time_limit` of a solve
LONG = 5.0  # seconds: a solve that takes longer is not repeated

# It must run with both versions.
WORKER = """
import json, sys, time, warnings
import numpy as np
import cvxml
from cvxml import datasets
warnings.simplefilter("ignore")
for line in sys.stdin:
    method, data, limit = json.loads(line)
    X, y = datasets.load(data)
    X = datasets.standardize(X) + 1e-6 * np.random.default_rng(0).standard_normal(X.shape)
    if method == "mlkr":  # its targets are numbers: the first feature
        X, y = X[:, 1:], X[:, 0]
    try:
        began = time.process_time()
        found = cvxml.solve(method, X, y, time_limit=limit)
        answer = [time.process_time() - began, found.status.name, found.gap]
    except Exception as error:
        answer = [None, type(error).__name__, None]
    print(json.dumps(answer), flush=True)
"""


def worker(root: Path, program: str = WORKER) -> subprocess.Popen[str]:
    """Start a process that runs `program` with the copy in `root`. `WORKER` reads [method, data, limit]."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(root)}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=root,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(process: subprocess.Popen[str], *question: Any) -> Any:
    """Return the answer of a worker to one question."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(json.dumps(question), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


def solved(process: subprocess.Popen[str], method: str, data: str) -> list[Any]:
    """Return [seconds or None, status or error, gap] of one solve."""
    answer: list[Any] = asked(process, method, data, LIMIT)
    return answer


def in_turn(processes: list[subprocess.Popen[str]], method: str, data: str) -> list[list[Any]]:
    """Return the fastest result of each process."""
    fastest = [solved(process, method, data) for process in processes]
    if any(each[0] is None or each[0] > LONG for each in fastest):
        return fastest
    for _ in range(REPEATS):
        again = [solved(process, method, data) for process in processes]
        fastest = [min(pair, key=lambda each: each[0]) for pair in zip(fastest, again, strict=True)]
    return fastest


def rows(other: Path, methods: list[str]) -> Iterator[str]:
    """The rows of the table, each as soon as it is measured."""
    yield "| method | data | other (s) | this (s) | this / other | other | this |"
    yield "|---|---|---:|---:|---:|---|---|"
    processes = [worker(other), worker(ROOT)]
    for method in methods or names():
        for data in DATA:
            (before, *said_before), (now, *said_now) = in_turn(processes, method, data)
            ratio = f"{now / before:.2f}" if before and now else ""
            times = ["" if each is None else f"{each:.3f}" for each in (before, now)]
            told = [
                f"{status}, gap {gap:.0e}" if gap is not None else status
                for status, gap in (said_before, said_now)
            ]
            yield f"| `{method}` | {data} | {times[0]} | {times[1]} | {ratio} | {told[0]} | {told[1]} |"
    for process in processes:
        process.communicate()


if __name__ == "__main__":
    for row in rows(Path(sys.argv[1]).resolve(), sys.argv[2:]):
        print(row, flush=True)
