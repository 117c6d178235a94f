"""Processor time of the checker: each problem on iris and wine, and the golden cases.

    python -m validation.verified.times                  print the tables of docs/verified.md
    python -m validation.verified.times --problems lmnn  only these problems, without golden cases

Features are standardized. A time holds everything that the program does: reading both files, the check, and the
fractions. The least of three runs counts.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sklearn.datasets import load_iris, load_wine

import cvxml
from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.side import DETERMINANTS, KNOWN, MEAN
from validation.verified.built import run, saved

RUNS = 3
LOCAL = "glml"
PROBLEMS = (*KNOWN, MEAN, *DETERMINANTS, LOCAL)
DATA = {"iris": load_iris, "wine": load_wine}


class Time(NamedTuple):
    """The processor time of a check, and the width of its interval relative to its upper end."""

    seconds: float
    width: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s" if self.seconds >= 0.005 else "less than 0.01 s"


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS)
    only = parser.parse_args(arguments).problems
    warnings.simplefilter("ignore")  # of solutions that did not converge: the width of the interval tells
    print("| problem | " + " | ".join(DATA) + " |\n|---|" + "---|" * len(DATA))
    for problem in only or PROBLEMS:
        row = [timed(solution(problem, data)) for data in DATA]
        print(f"| `{problem}` | {' | '.join(map(str, row))} |", flush=True)
        if max(time.width for time in row) > 1e-4:
            print(f"wide intervals for {problem}: {[f'{time.width:.0e}' for time in row]}", flush=True)
    if not only:
        print(golden_cases())


def solution(problem: str, data: str) -> cvxml.Solution:
    """Solve a problem on a data set with default parameters; GLML at the mean of the points."""
    loaded = DATA[data]()
    X, y = loaded.data, loaded.target
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    at: dict[str, Any] = {"query": X.mean(axis=0)} if problem == LOCAL else {}
    return cvxml.solve(problem, X, y, **at)


def timed(found: cvxml.Solution) -> Time:
    """Return the time of the checker on a solution. Raises ValueError if the checker proves nothing."""
    with TemporaryDirectory() as folder:
        files = saved(found, Path(folder))
        seconds = []
        for _ in range(RUNS):
            before = processor_time()
            said = run(*files)
            seconds.append(processor_time() - before)
    if said.interval is None:
        raise ValueError(f"{found.method}: {said.reason}")
    low, high = said.interval
    return Time(min(seconds), float((high - low) / abs(high)) if high else 0.0)


def processor_time() -> float:
    """Return the processor time, in seconds, of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def known_cases() -> Iterator[Case]:
    """Yield the golden cases to which a theorem applies."""
    for case in load_cases():
        if (
            case.formula in PROBLEMS
            and "similarity" not in case.params
            and case.params.get("weight", 0.5) == 0.5
        ):
            yield case


def golden_cases() -> str:
    """Measure the times of the golden cases, and return a sentence on them."""
    times = {}
    for case in known_cases():
        try:
            times[case.id] = timed(cvxml.solve(case.formula, case.X, case.y, **case.params)).seconds
        except ValueError as error:
            print(f"{case.id}: {error}")
    longest = max(times, key=lambda name: times[name])
    return (
        f"{len(times)} golden cases: {sum(times.values()):.1f} s together, "
        f"at most {times[longest]:.2f} s ({longest})"
    )


if __name__ == "__main__":
    main()
