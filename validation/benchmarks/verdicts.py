"""Solve and check drawn problems with this copy of the repository and with another one, and compare the answers.

    python -m validation.benchmarks.verdicts OTHER [METHOD ...] [--n 2000] [--seed 0]

OTHER is the folder of a copy of another version, for example of a `git worktree`. The methods take turns. A problem has
12 to 24 points in two or three classes and up to 4 features: random ones, with repeated points, on a grid (equal
distances), in units of very different size, or fewer points than features. Both copies solve it, and both judge the
same four metrics: the optimum that OTHER found, 1.3 times this, zero, and the identity.

Proved intervals of one optimum must have a common point, and no metric may be certified by one copy and refuted by the
other. All other differences are counted: another status, or a verdict that is undecided in one copy.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cvxml.methods import names
from validation.benchmarks.versions import ROOT, asked, worker

# The weights of its basis metrics are part of the problem, and are solved for: those of two copies differ in the last
# digits, and so do the optima.
SOLVED_FOR_WEIGHTS = ("plml",)
LIMIT = 5.0  # seconds, `time_limit` of a solve and of a check

# It must run with both versions.
WORKER = """
import json, sys, warnings
import numpy as np
import cvxml
warnings.simplefilter("ignore")

def drawn(method, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 25)), int(rng.integers(1, 5))
    y = np.arange(n) % int(rng.integers(2, 4))
    kind = seed % 8
    if kind == 4:
        d = n + 2
    X = rng.standard_normal((n, d)) + y[:, None] * rng.random()
    if kind == 1:
        X[-1] = X[0]
    if kind == 2:
        X = np.round(X)
    if kind == 3:
        X = X * 10.0 ** rng.integers(-3, 4, d)
    return X, (X[:, 0] + X[:, -1] ** 2 if method == "mlkr" else y)

for line in sys.stdin:
    what, method, seed, limit, metric = json.loads(line)
    try:
        X, y = drawn(method, seed)
        if what == "solve":
            found = cvxml.solve(method, X, y, time_limit=limit)
            proof = found.certificate
            interval = [found.lower_bound, found.objective, proof.value_rounding]
            answer = [found.status.name, proof.kind, interval, found.metric.tolist()]
        else:
            report = cvxml.check(method, X, y, np.array(metric), diagnosed=False, time_limit=limit)
            answer = report.verdict.value
    except Exception as error:
        answer = [type(error).__name__, "", None, None] if what == "solve" else type(error).__name__
    print(json.dumps(answer), flush=True)
"""


class Difference(NamedTuple):
    """Where the two copies differ. wrong: one of the two must be wrong."""

    method: str
    seed: int
    what: str
    other: str
    this: str
    wrong: bool


def apart(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two intervals [lower bound, objective, rounding error of both] have no common point."""
    room = first[2] + second[2]
    return not (first[0] <= second[1] + room and second[0] <= first[1] + room)


def differences(
    processes: Sequence[subprocess.Popen[str]], method: str, seed: int, solved: Counter[str]
) -> Iterator[Difference]:
    """The differences of the two copies on one problem. It is counted in `solved`."""
    before, now = (asked(process, "solve", method, seed, LIMIT, None) for process in processes)
    solved["refused by both" if before[3] is None and now[3] is None else "solved"] += 1
    if before[0] != now[0]:
        yield Difference(method, seed, "status", before[0], now[0], wrong=False)
    if before[1] == now[1] == "global" and apart(before[2], now[2]):
        yield Difference(
            method, seed, "interval", str(before[2]), str(now[2]), wrong=method not in SOLVED_FOR_WEIGHTS
        )
    if before[3] is None:
        return
    size = range(len(before[3]))
    for name, metric in (
        ("optimum", before[3]),
        ("1.3 times it", [[1.3 * entry for entry in row] for row in before[3]]),
        ("zero", [[0.0 for _ in size] for _ in size]),
        ("identity", [[float(i == j) for j in size] for i in size]),
    ):
        old, new = (asked(process, "check", method, seed, LIMIT, metric) for process in processes)
        if old != new:
            yield Difference(method, seed, name, old, new, wrong={old, new} == {"certified", "refuted"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 if one of the copies must be wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--n", type=int, default=2000, help="problems")
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    given = parser.parse_args(arguments)
    methods = given.methods or names()
    processes = [worker(root, WORKER) for root in (given.other.resolve(), ROOT)]
    counts: Counter[tuple[str, str, str]] = Counter()
    solved: Counter[str] = Counter()
    wrong = 0
    for k in range(given.n):
        method, seed = methods[k % len(methods)], given.seed + k // len(methods)
        for found in differences(processes, method, seed, solved):
            counts[found.what, found.other, found.this] += 1
            wrong += found.wrong
            print(
                f"{found.method}, seed {found.seed}, {found.what}: {found.other} | {found.this}", flush=True
            )
    for process in processes:
        process.communicate()
    print(
        f"\n{given.n} problems, {wrong} with answers of which one must be wrong\n\n| what | other | this | times |"
    )
    print("|---|---|---|---:|")
    for (what, old, new), times in counts.most_common():
        print(f"| {what} | {old} | {new} | {times} |")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
