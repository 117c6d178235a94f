"""Measure the memory to read files of 1 to 50 MB, and compare it with the promise in SECURITY.md.

    python -m validation.memory [--sizes 1 10 50] [--write]               (--write: also validation/memory.md)

The promise: at most 20 times (30 for the checker) the size of the file plus 100 MB. For a compressed file the unpacked
size counts. Each file is read in a process of its own. A reader of the package runs in a process that is forked after
all imports, and the table has the memory beyond these imports. `judge.py`, `recompute.py` and the checker that Coq
verified are run as programs, and the table has the memory of the whole process. Linux only.

The files are of two kinds: files as a program would write them, and files that take much memory for their size.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml.cases import judge as referee
from cvxml.core.files import load_table, read_array, read_indices, read_neighbors
from cvxml.oracle.cases import load_case

HERE = Path(__file__).parent
PAGE = Path(__file__).with_suffix(".md")
JUDGE = HERE.parent / "cvxml" / "cases" / "judge.py"
TIMES, OF_CHECKER, MORE = 20, 30, 10**8  # the promise
SIZES = (1, 10, 50)  # MB
SECONDS = 600  # of processor time; a reader that takes longer is ended
# a small process starts the program, because a process begins with the high-water mark of the one that started it
LAUNCHER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.stdout.write(done.stdout.decode()[:300] + done.stderr.decode()[:300])
"""


class Measured(NamedTuple):
    """The memory that one reader used for one file."""

    name: str  # of the file
    reader: str
    size: int  # bytes of the file, unpacked
    memory: int  # bytes
    seconds: float  # processor time
    said: str  # "read", or the sentence of the refusal

    @property
    def within(self) -> bool:
        """Return True if the memory is at most the promised one."""
        times = OF_CHECKER if self.reader == "checker" else TIMES
        return self.memory <= times * self.size + MORE

    @property
    def ended_well(self) -> bool:
        """Return True if the file was read, or was refused in one sentence."""
        return not self.said.startswith("escaped") and "\n" not in self.said.strip()


# ---------------------------------------------------------------- files


def numbers(size: int, digits: int = 17) -> Iterator[str]:
    """Yield random numbers as texts, until they have `size` characters together, with one separator behind each."""
    rng, letters = np.random.default_rng(0), 0
    while letters < size:
        for value in rng.standard_normal(1000):
            text = f"{value:.{digits}g}"
            letters += len(text) + 1
            yield text


def rows(size: int, width: int) -> list[list[float]]:
    found = [float(text) for text in numbers(size)]
    return [found[k : k + width] for k in range(0, len(found) - width + 1, width)]


def csv(size: int) -> bytes:
    """Return a CSV table of about `size` bytes: ten features and a label."""
    return "".join(f"{','.join(map(repr, row))},{k % 3}\n" for k, row in enumerate(rows(size, 10))).encode()


def solution(size: int, method: str = "mlsvm") -> bytes:
    """Return a saved solution of about `size` bytes with many points, as JSON.

    Half of the file is X; the rest are neighbours and dual variables.
    """
    X = rows(size // 2, 5)
    n = len(X)
    near = [[(i + k) % n for k in range(1, 7)] for i in range(n)]
    content = {
        "format": "cvxml-solution", "version": 1, "method": method, "solver": "fast", "status": "CONVERGED",
        "params": {"lam": 0.1, "n_neighbors": 3, "neighborhood": "overall"}, "derived": [], "n_iter": 1, "notes": [],
        "objective": 1.0, "lower_bound": 1.0, "X": X, "y": [i % 2 for i in range(n)], "metric": np.eye(5).tolist(),
        "neighbors": near, "dual": {"u": [[1 / n] * 3] * n, "w": [[1 / n] * 3] * n},
    }  # fmt: skip
    return json.dumps(content, indent=1).encode()


def packed_solution(path: Path, size: int) -> None:
    n = size // 8 // 18
    X = np.random.default_rng(0).standard_normal((n, 5))
    header = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "mlsvm",
        "params": {"lam": 0.1},
        "derived": [],
    }
    near = (np.arange(n)[:, None] + np.arange(1, 7)).ravel() % n
    arrays = {
        "X": X,
        "y": np.arange(n) % 2,
        "metric": np.eye(5),
        "neighbors": near,
        "neighbor_counts": np.full(n, 6),
    }
    dual = {"dual_u": np.full((n, 3), 1 / n), "dual_w": np.full((n, 2), 1 / n)}
    np.savez(path, **arrays, **dual, header=np.array(json.dumps(header)))


def square(size: int, letters: int = 20) -> np.ndarray:
    d = int(math.sqrt(size / letters))
    return np.random.default_rng(0).standard_normal((d, d))


def case(size: int) -> bytes:
    X = rows(size, 10)
    content = {"format": "cvxml-case", "version": 1, "id": "a", "kind": "problem", "formula": "mlsvm", "title": "",
               "flags": [], "asks": {}, "inputs": {"X": X, "y": [i % 2 for i in range(len(X))]}}  # fmt: skip
    return json.dumps(content).encode()


def repeated(item: str, size: int) -> str:
    return f"[{','.join([item] * (size // (len(item) + 1)))}]"


def with_X(X: str) -> bytes:
    """Return a saved solution in which the JSON text `X` is the value of "X"."""
    return (
        f'{{"format":"cvxml-solution","version":1,"method":"mlsvm","params":{{}},"dual":{{}},'
        f'"y":[],"metric":[],"neighbors":[],"X":{X}}}'
    ).encode()


def npz(path: Path, size: int) -> None:
    n = size // 8 // 11
    np.savez(path, X=np.random.default_rng(0).standard_normal((n, 10)), y=np.arange(n) % 3)


def written(content: Callable[[int], bytes | str]) -> Callable[[Path, int], None]:
    def write(path: Path, size: int) -> None:
        made = content(size)
        path.write_bytes(made.encode() if isinstance(made, str) else made)

    return write


def triplets(size: int) -> str:
    return "".join(f"{k % 1000},{(k * 7) % 1000},{(k * 13) % 1000}\n" for k in range(size // 11))


# name: how it is written, and its readers
FILES: dict[str, tuple[Callable[[Path, int], None], tuple[str, ...]]] = {
    "data.csv": (written(csv), ("table",)),
    "data.csv.gz": (written(lambda size: gzip.compress(csv(size), 1)), ("table",)),
    "data.npz": (npz, ("table",)),
    "data.json": (written(lambda size: json.dumps({"X": (X := rows(size, 10)), "y": [0] * len(X)})), ("table",)),
    "metric.csv": (
        written(lambda size: "".join(f"{','.join(map(repr, row))}\n" for row in square(size).tolist())), ("array",)),
    "metric.json": (written(lambda size: json.dumps(square(size, 22).tolist())), ("array",)),
    "metric.npy": (lambda path, size: np.save(path, square(size, 8)), ("array",)),
    "triplets.csv": (written(triplets), ("indices",)),
    "neighbors.json": (
        written(lambda size: json.dumps([[i, i + 1, i + 2] for i in range(size // 25)])), ("neighbors",)),
    "solution.json": (written(solution), ("load", "recompute", "checker")),
    "solution.npz": (packed_solution, ("load", "recompute")),
    "case.json": (written(case), ("case",)),
    "answer.json": (written(lambda size: json.dumps({"metric": square(size, 22).tolist()})), ("judge",)),
    # those that take the most memory for their size
    "digits.csv": (written(lambda size: "5,7\n" * (size // 4)), ("table", "array", "indices")),
    "digits.json": (written(lambda size: repeated("[0,1]", size)), ("array", "neighbors")),
    "digits-answer.json": (written(lambda size: f'{{"metric":{repeated("[0,1]", size)}}}'), ("judge",)),
    "zeros-answer.json": (written(lambda size: f'{{"metric":{repeated("0.", size).replace(".", ".0")}}}'), ("judge",)),
    "lists-answer.json": (written(lambda size: f'{{"metric":{repeated("[]", size)}}}'), ("judge",)),
    "objects-answer.json": (written(lambda size: f'{{"metric":{repeated("{}", size)}}}'), ("judge",)),
    "texts-answer.json": (written(lambda size: f'{{"metric":{repeated(chr(34) + "é" + chr(34), size)}}}'), ("judge",)),
    "digits-solution.json": (written(lambda size: with_X(repeated("[0,1]", size))), ("load", "recompute", "checker")),
    "zeros-solution.json": (written(lambda size: with_X(f"[{repeated('0', size)}]")), ("load", "recompute", "checker")),
    "lists-solution.json": (written(lambda size: with_X(repeated("[]", size))), ("load", "recompute", "checker")),
    "objects-solution.json": (written(lambda size: with_X(repeated("{}", size))), ("load", "recompute", "checker")),
    "texts-solution.json": (
        written(lambda size: with_X(repeated('""', size))), ("load", "recompute", "checker")),
    "exponents-solution.json": (
        written(lambda size: with_X(f"[[5e-324],{repeated('[1e308]', size)[1:]}")), ("load", "recompute", "checker")),
}  # fmt: skip


# ---------------------------------------------------------------- readers

IN_PACKAGE: dict[str, Callable[[Path], object]] = {
    "table": load_table,
    "array": read_array,
    "indices": read_indices,
    "neighbors": read_neighbors,
    "load": cvxml.load,
    "case": load_case,
    "recompute": lambda path: referee.require_types(referee.read_solution(path)),
}


def of_process(what: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))


def in_child(work: Callable[[], Any]) -> Any:
    """Run `work` in a forked process, and return its result, which is passed on as JSON."""
    end, start = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(start, json.dumps(work()).encode()[:4000])
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else [0, 0.0, "escaped: the process ended"]


def of_reader(reader: Callable[[Path], object], path: Path) -> tuple[int, float, str]:
    """Call a reader of the package on a file. Return the memory, the processor time, and the outcome.

    The memory is the bytes beyond those that the process had before. The outcome is "read", or the message of the
    error.
    """
    before, start = of_process("VmRSS"), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader(path)
        said = "read"
    except ValueError as error:
        said = str(error)
    except BaseException as error:
        said = f"escaped: {type(error).__name__} {error}"
    return of_process("VmHWM") - before, time.process_time() - start, said[:300]


def of_program(words: list[str]) -> tuple[int, float, str]:
    """Run a program. Return its memory in bytes, its processor time, and the first line that it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-ISc", LAUNCHER, *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory, _, said = done.stdout.partition("\n")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = said.splitlines() or ["escaped: silent"]
    return int(memory), seconds, f"escaped: {said}" if "Traceback" in said else lines[0]


def measure(name: str, reader: str, path: Path, size: int, checker: Path | None) -> Measured:
    """Measure one reader on one file. name: of the file. size: the unpacked size of the file.

    checker: the program that Coq verified, or None.
    """
    if reader in IN_PACKAGE:
        return Measured(name, reader, size, *in_child(lambda: of_reader(IN_PACKAGE[reader], path)))
    if reader == "checker":
        side = path.with_name("side.json")
        side.write_text("{}")
        return Measured(name, reader, size, *of_program([str(checker), str(path), str(side)]))
    answers = path.with_name("answers")
    answers.mkdir(exist_ok=True)
    answer = answers / "mlsvm-line.json"
    answer.symlink_to(path)
    found = of_program([sys.executable, str(JUDGE), str(answers), "mlsvm-line"])
    answer.unlink()
    return Measured(name, reader, size, *found)


def unpacked(path: Path) -> int:
    """Return the size of a file in bytes; of a .gz file, the size of its content."""
    if path.suffix != ".gz":
        return path.stat().st_size
    total = 0
    with gzip.open(path) as stream:
        while chunk := stream.read(2**20):
            total += len(chunk)
    return total


def run(
    megabytes: float, checker: Path | None, only: Callable[[str, str], bool] = lambda name, reader: True
) -> Iterator[Measured]:
    """Write each file of `FILES` at a size of about `megabytes`, and yield the measurements of its readers.

    only: chooses the pairs (file, reader) to measure.
    """
    cvxml.solve("mlsvm", [[0.0], [1.0], [3.0]], [0, 0, 1], n_neighbors=1)  # imports what is imported late
    with tempfile.TemporaryDirectory() as folder:
        for name, (write, readers) in FILES.items():
            path = Path(folder) / name
            asked = [each for each in readers if only(name, each) and (each != "checker" or checker)]
            if not asked:
                continue
            in_child(partial(write, path, int(megabytes * 1e6)))  # so that this process stays small
            size = unpacked(path)
            for reader in asked:
                yield measure(name, reader, path, size, checker)
            path.unlink()


def built(folder: Path) -> Path | None:
    """Build the checker that Coq verified in a folder, and return its path; None if it cannot be built here."""
    done = subprocess.run(
        [str(HERE / "verified" / "build.sh"), str(folder)], capture_output=True, check=False
    )
    return None if done.returncode else folder / "checker"


def cell(each: Measured | None) -> str:
    """Return a cell of the table: the size and the memory in MB; a dash if they were not measured."""
    if each is None:
        return "–"
    refused = "" if each.said == "read" or each.reader in ("judge", "checker") else ", refused"
    over = "" if each.within and each.ended_well else " **too much**"
    return f"{each.size / 1e6:.1f}: {each.memory / 1e6:.0f}{refused}{over}"


def page(found: dict[float, list[Measured]]) -> str:
    """Return the measurements, by size in MB, as Markdown."""
    sizes = " ".join(f"{size:g}" for size in found)
    head = " | ".join(f"{size:g} MB" for size in found)
    lines = [
        "# Memory of the readers",
        "",
        f"`python -m validation.memory --sizes {sizes} --write` wrote files of about these sizes, and read each of",
        "them in a process of its own. Its docstring states the way of measuring. A cell has the size of the file",
        "and the memory, both in MB. The promise is at most 20 times the size (30 for the checker) plus 100 MB. For a",
        "compressed file its unpacked size counts. The word refused means that the reader ended with one sentence. A",
        "dash means that the reader was not measured at this size.",
        "",
        "The files below `answer.json` are those that take the most memory for their size. The memory of `judge` is",
        "that of the whole process of `judge.py`. The memory of `checker` is that of the program that Coq verified.",
        "",
        f"| file | reader | {head} |",
        f"|---|---|{'---|' * len(found)}",
    ]
    at = {(size, each.name, each.reader): each for size, rows in found.items() for each in rows}
    for name, reader in [(name, reader) for name, (_, readers) in FILES.items() for reader in readers]:
        cells = [cell(at.get((size, name, reader))) for size in found]
        lines.append(f"| `{name}` | {reader} | {' | '.join(cells)} |")
    every = [each for rows in found.values() for each in rows]
    most = max((each.memory - MORE) / each.size for each in every if each.size > 5e6)
    beyond = sum(not (each.within and each.ended_well) for each in every)
    lines += [
        "",
        f"{beyond} of {len(every)} measurements are beyond the promise. The largest memory of a file of 5 MB or more",
        f"is {most:.1f} times its size plus 100 MB.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found: dict[float, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as folder:
        checker = built(Path(folder))
        for size in options.sizes:
            found[size] = []
            for each in run(size, checker):
                found[size].append(each)
                print(f"{each.name} {each.reader}: {each}", flush=True)
    if options.write:
        PAGE.write_text(page(found), encoding="utf-8")
    return 0 if all(each.within and each.ended_well for rows in found.values() for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
