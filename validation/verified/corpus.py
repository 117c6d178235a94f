"""Thousands of tampered files for each problem: every interval that the checker still proves must be right.

    nice -n 15 python -m validation.verified.corpus build/corpus --files 10000

File number i of a problem is the same in every run: every second one differs from a saved solution, or from its side
file, in one field, and the others differ in one bit. The fields are taken in turn. The checker judges each file. If the
checker proves a file, twin.py computes the interval of the changed problem in fractions. It shares no code with the
checker. If twin.py refuses the file or has another interval, the proof is false.

FOLDER/PROBLEM.txt has one letter a file: r for rejected, p for proved and right, F for a false proof. Files with a
false proof are stored beside it. A run continues where the last one stopped. At its end it prints a table; with
--files 0 it only prints the table.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import cvxml
from cvxml.oracle.side import DETERMINANTS, KNOWN, MEAN
from tests.instances import random_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.test_tampered import files as small_files
from validation.verified.test_tampered import without_unread

GLOBAL, LOCAL = "ssvm:global", "glml"
PROBLEMS = (*KNOWN, GLOBAL, LOCAL, MEAN, *DETERMINANTS)
ROUND = 100  # files of a problem, before the next problem has its turn
Files = tuple[bytes, bytes]


def solution(problem: str) -> cvxml.Solution:
    """Return a small solution of a problem; for gerrymandering also a global optimum (the problem `GLOBAL`)."""
    if problem == GLOBAL:  # 19 leaves with 14 exchanges
        X, y = random_data(7, n=6, d=2, classes=2)
        return cvxml.solve("ssvm", np.round(X, 1), y, n_neighbors=3, C=1.0, solver="global")
    if problem == MEAN:
        X, y = random_data(5, n=9, d=2, classes=2)
        return cvxml.solve("gmml", np.round(X, 1), y, mu=0.25, prior=[[1.0, 0.25], [0.25, 2.0]])
    if problem in DETERMINANTS:
        X, y = random_data(5, n=7, d=2, classes=2)
        few = {"n_quadruplets": 8} if problem == "lsml" else {}
        return cvxml.solve(problem, np.round(X, 1), y, prior=[[1.0, 0.25], [0.25, 2.0]], **few)
    assert problem == LOCAL
    X = np.array([[1.0, 0.25], [-1.0, 0.5], [0.5, 1.0], [-0.25, -1.5]])  # B is definite at the origin
    return cvxml.solve("glml", np.concatenate([X, 3 * X]), [0] * 4 + [1] * 4, alpha=0.1, query=[0.0, 0.0])


def files(problem: str, folder: Path) -> Files:
    """Return the saved solution without the fields that no theorem reads, and its side file."""
    if problem in KNOWN:
        return small_files(problem, folder)
    file, side = saved(solution(problem), folder)
    return without_unread(file), side.read_bytes()


def places(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every field and of every element of a list, as a tuple of keys and indices."""
    if at:
        yield at
    parts = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in parts:
        yield from places(content[key], (*at, key))


def edited(value: Any, rng: np.random.Generator) -> Any:
    """Return another value for a field: a number nearby, another sign, another order, or another type."""
    options: list[Any] = [None, 0, 1, 0.5, "0x1", [], {}]
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        number = int(value, 16)
        near = (number + 1, number - 1, 2 * number, number // 2, -number, number << 64)
        options = [hex(each) for each in near]
    elif isinstance(value, bool) or value is None:
        options.append(not value)
    elif isinstance(value, int):
        options = [value + 1, value - 1, 2 * value, -value, float(value), str(value)]
    elif isinstance(value, float):
        below, above = (float(np.nextafter(value, sign * np.inf)) for sign in (-1, 1))
        options = [below, above, value * (1 + 1e-9), value * (1 - 1e-9), 2 * value, -value, value + 1, 0.0]
    elif isinstance(value, list) and len(value) > 1:
        k = int(rng.integers(len(value) - 1))
        swapped, twice = [*value[:k], value[k + 1], value[k], *value[k + 2 :]], [*value[: k + 1], *value[k:]]
        options = [swapped, value[::-1], value[:k] + value[k + 1 :], twice, value[1:]]
    return options[int(rng.integers(len(options)))]


def in_a_field(both: Files, turn: int, rng: np.random.Generator) -> Files:
    """Return the files with a random change of one field.

    turn: the number of the field, counted through both files again and again.
    """
    contents = [json.loads(text) for text in both]
    listed = [(which, at) for which, content in enumerate(contents) for at in places(content)]
    which, at = listed[turn % len(listed)]
    part = contents[which]
    for key in at[:-1]:
        part = part[key]
    if rng.random() < 0.1:
        del part[at[-1]]
    else:
        part[at[-1]] = copy.deepcopy(edited(part[at[-1]], rng))
    texts = list(both)
    texts[which] = json.dumps(contents[which]).encode()
    return texts[0], texts[1]


def in_a_bit(both: Files, rng: np.random.Generator) -> Files:
    """Return the files with one random bit changed."""
    at = int(rng.integers(sum(map(len, both))))
    which = int(at >= len(both[0]))
    text = bytearray(both[which])
    text[at - which * len(both[0])] ^= 1 << int(rng.integers(8))
    return (bytes(text), both[1]) if which == 0 else (both[0], bytes(text))


def tampered(both: Files, number: int) -> Files:
    """Return the files with change number `number` of the corpus."""
    rng = np.random.default_rng(number)
    return in_a_bit(both, rng) if number % 2 else in_a_field(both, number // 2, rng)


def outcome(both: Files, folder: Path) -> str:
    """Return the letter of the files: r, p or F (module docstring)."""
    paths = folder / "file.json", folder / "side.json"
    for path, text in zip(paths, both, strict=True):
        path.write_bytes(text)
    said = run(*paths)
    if not said.proved:
        return "r"
    try:
        return "p" if said.interval == twin.interval(*both) else "F"
    except ValueError:
        return "F"


class Problem:
    """The corpus of one problem: the letters so far, and the files that are judged next."""

    def __init__(self, name: str, folder: Path):
        self.folder, self.name = folder, name.replace(":", "_")
        self.letters = folder / f"{self.name}.txt"
        base = folder / f"{self.name}.base"
        if not base.exists():  # another machine may solve to other last digits
            with TemporaryDirectory() as scratch:
                base.write_text(json.dumps([part.decode() for part in files(name, Path(scratch))]))
        file, side = json.loads(base.read_text())
        self.both: Files = (file.encode(), side.encode())

    def found(self) -> str:
        """Return the letters of the files that were judged so far."""
        return self.letters.read_text() if self.letters.exists() else ""

    def go_on(self, count: int) -> None:
        """Judge further files, until `count` files are judged in all."""
        with TemporaryDirectory() as scratch, self.letters.open("a") as written:
            for number in range(len(self.found()), count):
                other = tampered(self.both, number)
                letter = outcome(other, Path(scratch))
                if letter == "F":
                    for name, text in zip(("file", "side"), other, strict=True):
                        (self.folder / f"false_{self.name}_{number}.{name}.json").write_bytes(text)
                written.write(letter)
                written.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of the module docstring. Return 1 if a proof was false, else 0."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path, help="where the results are, and where a run goes on")
    parser.add_argument("--files", type=int, default=10000, help="files of each problem (default 10000)")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parsed = parser.parse_args(arguments)
    parsed.folder.mkdir(parents=True, exist_ok=True)
    problems = {name: Problem(name, parsed.folder) for name in parsed.problems}
    for count in range(ROUND, parsed.files + ROUND, ROUND):
        for problem in problems.values():
            problem.go_on(min(count, parsed.files))
    print("| problem | files | rejected | proved, rightly | proved, falsely |\n|---|---|---|---|---|")
    false = 0
    for name, problem in problems.items():
        letters = problem.found()
        print(f"| `{name}` | {len(letters)} | {' | '.join(str(letters.count(letter)) for letter in 'rpF')} |")
        false += letters.count("F")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
