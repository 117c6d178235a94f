"""Mutation testing: change one place of the package at a time, and see whether a test fails.

    python -m validation.mutation --make-map quick.map
    python -m validation.mutation --n 80 --seed 0 --map quick.map --out results.jsonl

The first command runs the quick tests once and records which test executes which line. It takes two to three times as
long as the tests alone. What follows `--` goes to pytest: `--make-map slow.map -- -m slow tests/family` records these
slow tests.

The second command draws a sample of mutations (`validation/mutation/mutations.py`). It applies each mutation to a copy
of the repository and runs the tests that execute the mutated line, until one fails. There are three results:

- killed: a test fails, and it passes without the mutation
- survived: all tests that were run pass; `left_out` counts the tests for which the budget was too small
- timeout: the tests took far longer than expected, for example because a loop no longer ends

The results file has one JSON object per mutation. The same command continues an interrupted run. After a finished run
it prints the counts and the survivors. Coverage does not follow subprocesses. A test that only starts another process
is therefore not known to execute any line. The second command needs Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from validation.mutation.mutations import Mutation, drawn

ROOT = Path(__file__).resolve().parents[2]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n0", "--dist=no", "-p", "no:cacheprovider"]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "results", "__pycache__", ".*_cache")
MEMORY = 12 * 2**30  # bytes of address space of each process of a test run
UNKNOWN_QUICK, UNKNOWN_SLOW = 0.05, 5.0  # seconds assumed of a test that was not timed


def in_turn(tests: Iterable[str], seconds: dict[str, float], budget: float) -> list[str]:
    """Choose tests that take at most `budget` seconds together, from as many files as possible.

    The shortest test of each file is chosen first, then the second of each file, and so on. The first tests of all
    files run first. The others run file by file, because each change of file sets up the fixtures of a module again.
    """
    files = defaultdict(list)
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        files[test.split("::")[0]].append(test)
    turns = [(turn, seconds[test], test) for each in files.values() for turn, test in enumerate(each)]
    first, others = [], []
    for turn, taken, test in sorted(turns):
        if taken <= budget:
            budget -= taken
            (others if turn else first).append(test)
    return first + sorted(others, key=lambda test: test.split("::")[0])


def make_map(root: Path, package: str, target: Path, arguments: list[str]) -> None:
    """Run tests under coverage. `target` becomes its data file; `target`.jsonl has the seconds of each test."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "settings")
        settings.write_text("[run]\nrelative_files = True\n")
        command = [
            *PYTEST,
            f"--cov={package}",
            f"--cov-config={settings}",
            "--cov-context=test",
            "--cov-report=",
        ]
        command += ["--durations=0", "--durations-min=0", *arguments]
        env = {**os.environ, "PYTHONPATH": str(root), "COVERAGE_FILE": str(target.resolve())}
        said = subprocess.run(command, cwd=root, env=env, text=True, stdout=subprocess.PIPE).stdout
    lines = said.splitlines()
    print(*(line for line in lines if line.startswith(("FAILED", "ERROR"))), *lines[-1:], sep="\n")
    timed = re.findall(r"^([\d.]+)s (?:setup|call|teardown) +(\S.*)$", said, re.MULTILINE)
    rows = [json.dumps([test, float(seconds)]) for seconds, test in timed]
    Path(f"{target}.jsonl").write_text("\n".join(rows))


class Tests:
    """Which tests execute which lines, and how long each test takes."""

    def __init__(
        self, maps: list[Path], durations: list[Path], quick: set[str], slow: set[str], part: set[str]
    ):
        """`slow`: the ids of the slow tests that may run. `part`: those that run after a change of any file."""
        from coverage import CoverageData

        self.quick, self.slow, self.part = quick, slow, part
        self.data = [CoverageData(str(path)) for path in maps]
        self.measured: set[str] = set()
        for data in self.data:
            data.read()
            self.measured |= self._of(data.measured_contexts())
        self.seconds = dict.fromkeys(self.quick, UNKNOWN_QUICK) | dict.fromkeys(self.slow, UNKNOWN_SLOW)
        for path in [
            *(Path(f"{each}.jsonl") for each in maps),
            *durations,
        ]:  # later files replace earlier ones
            taken: dict[str, float] = defaultdict(float)
            for test, seconds in map(json.loads, path.read_text().splitlines()):
                taken[test] += seconds
            self.seconds |= taken

    @staticmethod
    def _of(contexts: Iterable[str]) -> set[str]:
        """Return the tests of contexts such as `id|call`. Lines that ran outside a test have the empty context."""
        return {context.rpartition("|")[0] for context in contexts if context}

    def executing(self, mutation: Mutation) -> set[str]:
        """Return the tests that execute the mutated lines, else its statement, else any line of the file.

        Lines outside functions run only once, at the import. For these, return the tests of the whole file.
        """
        lines: dict[int, set[str]] = defaultdict(set)
        for data in self.data:
            for line, contexts in data.contexts_by_lineno(mutation.file).items():
                lines[line] |= self._of(contexts)
        if mutation.local:
            for first in (mutation.lines[0], mutation.statement[0]):
                found = set().union(*(lines[line] for line in range(first, mutation.lines[1] + 1)))
                if found:
                    return found
        return set().union(*lines.values())

    def chosen(self, mutation: Mutation, place: str, budget: float) -> tuple[list[str], int]:
        """Return the tests to run, quick ones first, and the number of tests for which the budget is too small.

        Slow tests are those of `part`, and those with an id that begins with `place`. A slow test in no map may execute
        the line, so it counts too. The slow tests have the rest of the budget, and at least half of the whole.
        """
        executing = self.executing(mutation)
        slow = self.slow & executing | self.slow - self.measured
        slow = {test for test in slow if test in self.part or test.startswith(place)}
        chosen = in_turn(executing & self.quick, self.seconds, budget)
        used = sum(self.seconds[test] for test in chosen)
        chosen += in_turn(slow, self.seconds, max(budget - used, budget / 2))
        return chosen, len(executing & self.quick) + len(slow) - len(chosen)


class Copy:
    """A copy of the repository in which tests run."""

    def __init__(self, root: Path, package: str, folder: Path):
        self.tree, self.folder = folder / "tree", folder
        self.green: dict[str, bool] = {}  # does the test pass without a mutation?
        self.running: subprocess.Popen[bytes] | None = None
        self.stopped = False
        shutil.copytree(root, self.tree, ignore=NOT_COPIED)
        (folder / "temporary").mkdir()
        self.env = {**os.environ, "PYTHONPATH": str(self.tree), "TMPDIR": str(folder / "temporary")}
        imported = self._said([sys.executable, "-c", f"import {package}; print({package}.__file__)"])
        if not imported.startswith(str(self.tree)):
            raise RuntimeError(f"Python imports {imported.strip()} instead of the copy in {self.tree}.")

    def _said(self, command: list[str]) -> str:
        done = subprocess.run(command, cwd=self.tree, env=self.env, text=True, stdout=subprocess.PIPE)
        if done.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise RuntimeError(f"{' '.join(command)} failed: {done.stdout[-2000:]}")
        return done.stdout

    def listed(self, marks: str, *options: str) -> set[str]:
        """Return the ids of the tests with these marks."""
        lines = self._said([*PYTEST, "--collect-only", "-m", marks, *options]).splitlines()
        return {line for line in lines if "::" in line and not line.startswith(("ERROR", "FAILED"))}

    def pytest(self, tests: list[str], limit: int) -> tuple[str, str]:
        """Run tests until one fails: "passed", "failed" or "timeout", and the first failing test.

        The limit is in seconds of the processor, so that a busy machine causes no timeout; ten times that ends any run.
        """
        import resource  # not on Windows; prlimit is on Linux alone

        listed, said = self.folder / "tests", self.folder / "said"
        listed.write_text("\n".join(tests))
        command = [*PYTEST, "-x", "-m", "", f"@{listed}"]
        with open(said, "wb") as out:
            self.running = subprocess.Popen(
                command,
                cwd=self.tree,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        resource.prlimit(self.running.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.prlimit(self.running.pid, resource.RLIMIT_CPU, (limit, limit + 10))
        try:
            code = self.running.wait(10 * limit)
        except subprocess.TimeoutExpired:
            return "timeout", ""
        finally:
            self.end()
        if self.stopped:
            raise KeyboardInterrupt
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout", ""
        failed = re.search(
            r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", said.read_text(errors="replace"), re.MULTILINE
        )
        return ("failed", failed.group(1) if failed else tests[0]) if code else ("passed", "")

    def end(self) -> None:
        """End the running tests with all processes that they started."""
        running, self.running = self.running, None
        if running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()

    def judged(self, mutation: Mutation, tests: list[str], seconds: dict[str, float]) -> dict[str, Any]:
        """Run the tests on the mutated copy. A test that fails without the mutation too is left out."""
        path = self.tree / mutation.file
        source = path.read_bytes()
        outcome, failing, taken = "passed", "", 0.0
        while tests:
            start = time.monotonic()
            try:
                _write(path, mutation.applied(source))
                outcome, failing = self.pytest(tests, 120 + int(3 * sum(seconds[test] for test in tests)))
            finally:
                _write(path, source)
            taken += time.monotonic() - start
            if outcome != "failed" or self._is_green(failing):
                break
            others = [test for test in tests if not test.startswith(failing)]
            tests = others if len(others) < len(tests) else tests[1:]
            outcome, failing = "passed", ""
        status = {"passed": "survived", "failed": "killed", "timeout": "timeout"}[outcome]
        return {"status": status, "seconds": round(taken, 1), "failing": failing, "tests_run": len(tests)}

    def _is_green(self, test: str) -> bool:
        if test not in self.green:
            self.green[test] = self.pytest([test], 600)[0] == "passed"
        return self.green[test]


def _write(path: Path, source: bytes) -> None:
    """Write a module, with a time of change that it did not have before.

    With the same size and second, an older compiled file would pass for current. It may lie in another folder
    (PYTHONPYCACHEPREFIX).
    """
    later = path.stat().st_mtime_ns + 2 * 10**9
    path.write_bytes(source)
    os.utime(path, ns=(later, later))


def place(row: dict[str, Any]) -> str:
    return f"{row['file']}:{row['line']}: {row['before']} -> {row['after']}"


def run(sample: list[tuple[Mutation, dict[str, Any]]], given: argparse.Namespace, root: Path) -> None:
    """Judge each mutation, and append its row to the results."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(given.jobs) as pool,
    ):
        copies = [Copy(root, given.package, Path(tempfile.mkdtemp(dir=folder))) for _ in range(given.jobs)]
        slow = given.slow or ("slow" if given.tests == "whole" else "slow and not full")
        part = copies[0].listed(slow, f"--part={given.part}") if given.part else set()
        tests = Tests(given.map, given.durations, copies[0].listed("not slow"), copies[0].listed(slow), part)
        place_of = runpy.run_path(str(ROOT / ".ci" / "landing.py"))["place_of"]
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def judged(mutation: Mutation) -> dict[str, Any]:
            place = "" if given.tests == "whole" else place_of(mutation.file)
            chosen, left_out = tests.chosen(mutation, place, given.budget)
            copy = free.get()
            try:
                return copy.judged(mutation, chosen, tests.seconds) | {"left_out": left_out}
            finally:
                free.put(copy)

        try:
            found = pool.map(judged, [mutation for mutation, _ in sample])
            for (_, key), row in zip(sample, found, strict=True):
                with open(given.out, "a") as out:
                    out.write(json.dumps(key | row) + "\n")
                print(row["status"], place(key), flush=True)
        finally:
            for copy in copies:
                copy.stopped = True
                copy.end()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--root", type=Path, default=ROOT, help="the repository; nothing is written there")
    add("--package", default="cvxml", help="the package that is mutated")
    add("--make-map", type=Path, metavar="FILE", help="record which test executes which line")
    add("--map", type=Path, nargs="+", default=[], help="files of --make-map")
    add(
        "--durations",
        type=Path,
        nargs="+",
        default=[],
        help="seconds of tests, as --durations-file of pytest writes them",
    )
    add("--n", type=int, default=80)
    add("--seed", type=int, default=0)
    add("--out", type=Path, help="file of results (JSON Lines); without it the sample is only listed")
    add(
        "--tests",
        choices=("landing", "whole"),
        default="landing",
        help="slow tests: of the changed place, or all",
    )
    add("--slow", metavar="MARKS", help="slow tests; default: slow and not full, or slow with --tests whole")
    add("--part", metavar="K/N", help="with landing: also the slow tests of this part, for example 0/8")
    add("--budget", type=float, default=240.0, help="seconds of tests for each mutation")
    add("--jobs", type=int, default=1)
    add("pytest", nargs="*", help="after --: arguments of pytest for --make-map")
    given = parser.parse_args(arguments)
    root = given.root.resolve()
    if given.make_map:
        return make_map(root, given.package, given.make_map, given.pytest)
    sample = []
    for mutation in drawn(root, given.package, given.n, given.seed):
        before, after = mutation.shown((root / mutation.file).read_bytes())
        key = {"n": given.n, "seed": given.seed, "tests": given.tests, "file": mutation.file}
        key |= {"line": mutation.lines[0], "first": mutation.first, "before": before, "after": after}
        sample.append((mutation, key))
    if not given.out:
        print(*(place(key) for _, key in sample), sep="\n")
        return None
    rows = _rows(given.out)
    left = [one for one in sample if not any(one[1].items() <= row.items() for row in rows)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if left:
        run(left, given, root)
    rows = [row for row in _rows(given.out) if any(key.items() <= row.items() for _, key in sample)]
    print(dict(sorted(Counter(row["status"] for row in rows).items())))
    for row in rows:
        if row["status"] != "killed":
            print(f"{row['status']} ({row['tests_run']} tests, left out {row['left_out']})", place(row))
    return None


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
