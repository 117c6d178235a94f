"""Feed mutated files to the four programs that judge a stranger's file, and report each answer that is not allowed.

    python -m validation.fuzz [--n 100000] [--seed 0] [--first 0] [--write]        (--write: also validation/fuzz.md)

A mutation is a saved solution, or an answer to a golden case, with one to three changes: an edit of a field, flipped
bytes, a cut, nested brackets, huge numbers, surrogates, values of another type. The programs run in this process:

    load        cvxml.load: a solution, or ValueError
    certify     cvxml.load and cvxml.oracle.saved.recertify, as in `cvxml certify`: a verdict, or ValueError
    recompute   validation/recompute.py: no exception, and if the file is not proved, one line that says so
    judge       the reader and `judge` of cvxml/cases/judge.py: a verdict, or ValueError from the reader

Everything else is a fault: another exception, a warning, a line with characters that a terminal obeys, more than 20 s
of processor time, and memory beyond 20 times the file and 100 MB. "certified" and "proved" are faults if the file
became false. A file is true if `cvxml.check` certifies its metric for its problem, its lists follow from its other
fields, and the objective that it claims is that of its metric (the rule of tests/oracle/test_edited.py). An answer is
true if `cvxml.oracle.conform.judge` certifies it. Mutation k is the same for each n: `--first K --n 1` repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml.cases import judge as referee
from cvxml.core.report import Verdict
from cvxml.methods import get, names
from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.conform import judge as conform_judge
from cvxml.oracle.saved import recertify
from tests.oracle.test_edited import MORE, File, why_false
from validation import recompute

SECONDS = 20  # of processor time, so that a busy machine makes no fault
SLOW = (
    "mlsvm-wine",
    "mlsvm-small-lam",
    "mlsvm-more-features",
    "mlsvm-scales",
    "glml-underflow",
)  # cases of 80 ms and more an answer
PAGE = Path(__file__).with_suffix(".md")


class Fault(NamedTuple):
    """A mutation to which a program gave an answer that is not allowed."""

    index: int
    reader: str
    source: str  # the method, or the id of the case
    change: str  # the kinds of change
    wrong: str


class Hang(BaseException):
    """Raised if a mutation takes too much time. The programs under test do not catch it."""


# ---------------------------------------------------------------- files that are changed


@cache
def solution(method: str) -> tuple[cvxml.core.result.Solution, File]:
    """Return a solution for ten points with two features, and its file in the form of tests/oracle/test_edited.py."""
    rng = np.random.default_rng(1)
    y = np.arange(10) % 2
    X = rng.standard_normal((10, 2)) + 0.5 * y[:, None]
    example = next(each for each in get(method).EXAMPLES if each.use == "tested")
    params = {**example.params, **MORE.get(method, {})}
    found = cvxml.solve(method, X, y, tol=1e-8, **params)
    content = json.loads(json.dumps(found.to_dict()))
    made = frozenset(get(method).DERIVED) - frozenset(params)
    return found, File(content, made, found.certificate.scale, found.objective)


@cache
def archive(method: str) -> bytes:
    """Return the bytes of the .npz file of `solution(method)`."""
    with tempfile.TemporaryDirectory() as folder:
        solution(method)[0].save(Path(folder) / "s.npz")
        return (Path(folder) / "s.npz").read_bytes()


@cache
def cases() -> list[Case]:
    return [case for case in load_cases() if case.id not in SLOW]


def answer_to(case: Case) -> dict[str, Any]:
    """Return the right answer to a golden case."""
    if case.kind == "part":
        return {"answer": case.content["answer"]}
    if "not attained" in case.flags:
        return {"status": "not attained"}
    return {"metric": case.content["proof"]["metric"]}


# ---------------------------------------------------------------- changes

WORDS = ("", "another", "\ud800", "\x1b[2J\n\rproved: optimal", "\u202e", "nan", "1", "lam", "l" * 1000)
NUMBERS = (0, -1, 1, 0.5, 1e-300, 5e-324, 1e308, -1e308, 2**53 + 1, 2**63, 10**18, 10**25, 10**400)
SPECIAL = (float("nan"), float("inf"), -float("inf"))
TOKENS = (
    b"[" * 100,
    b"[" * 10**4,
    b"]",
    b"{",
    b"1e999",
    b"-",
    b"9" * 5000,
    b'"\\ud800"',
    b"\xff",
    b"\x00",
    b"NaN,",
    b'"',
)


def a_value(rng: np.random.Generator) -> Any:
    """Return a random value of any type that JSON has."""
    kind = rng.integers(7)
    if kind == 0:
        return WORDS[rng.integers(len(WORDS))]
    if kind == 1:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 2:
        return SPECIAL[rng.integers(len(SPECIAL))]
    if kind == 3:
        return (None, True, False)[rng.integers(3)]
    if kind == 4:
        return ([], {}, [[]], [[], [1]], {"unknown": 1}, [None], ["a"], [{}])[rng.integers(8)]
    if kind == 5:
        return json.loads("[" * 80 + "]" * 80)
    return [""] * 20 + ["l" * 10**4]


def edited(content: Any, rng: np.random.Generator) -> Any:
    """Return the content with one edit at a random place, which is found by a walk from the root."""
    holder, key = [content], 0
    place: Any = holder
    while (
        isinstance(place[key], (list, dict)) and len(place[key]) and (place is holder or rng.random() < 0.85)
    ):
        place = place[key]
        at = int(rng.integers(len(place)))
        key = list(place)[at] if isinstance(place, dict) else at
    value, way = place[key], rng.integers(8)
    if way == 0 and place is not holder:
        del place[key]
    elif way == 1 and isinstance(place, list) and place is not holder:
        place.insert(int(key), copy.deepcopy(value))
    elif way == 2 and isinstance(place, list) and len(place) > 1:
        other = int(rng.integers(len(place)))
        place[key], place[other] = place[other], place[key]
    elif way == 3 and isinstance(place, dict):
        place[str(WORDS[rng.integers(len(WORDS))])] = place.pop(key)
    elif way < 6 and isinstance(value, (int, float)) and not isinstance(value, bool):
        place[key] = nudged(value, rng)
    else:
        place[key] = a_value(rng)
    return holder[0]


def nudged(value: float, rng: np.random.Generator) -> float:
    """Return a random number near `value`."""
    if isinstance(value, int):
        return value + int(rng.choice([-2, -1, 1, 2]))
    return (
        float(value * (1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-16, 1)))
        if value
        else float(rng.normal())
    )


def bytes_changed(content: bytes, way: str, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    at = int(rng.integers(len(data) + 1))
    if way == "bytes" and data:
        for _ in range(int(rng.integers(1, 9))):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    elif way == "digits" and data:
        digits = [k for k in range(len(data)) if 48 <= data[k] < 58]
        for k in rng.choice(digits, min(3, len(digits)), replace=False) if digits else ():
            data[int(k)] = 48 + int(rng.integers(10))
    elif way == "cut":
        del data[at:]
    elif way == "token":
        data[at:at] = TOKENS[rng.integers(len(TOKENS))]
    elif way == "moved" and data:
        start = int(rng.integers(len(data)))
        data[at:at] = data[start : start + int(rng.integers(1, 200))]
    return bytes(data)


WAYS = ("edit", "edit", "edit", "edit", "bytes", "digits", "cut", "token", "moved")


def mutated(content: Any, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return the names of one to three random changes of the content, and the changed content as JSON."""
    ways = sorted(
        (WAYS[rng.integers(len(WAYS))] for _ in range(int(rng.choice([1, 1, 1, 2, 3])))),
        key=lambda way: way != "edit",  # edits first, because other changes leave no JSON
    )
    changed = copy.deepcopy(content)
    for way in ways:
        if way == "edit":
            changed = edited(changed, rng)
    text = json.dumps(changed).encode()
    for way in ways:
        if way != "edit":
            text = bytes_changed(text, way, rng)
    return "+".join(ways), text


# ---------------------------------------------------------------- programs


def by_load(path: Path, method: str) -> tuple[str, str]:
    """Return the outcome of `cvxml.load` for a file, and the fault in its answer; "" without a fault."""
    try:
        cvxml.load(path)
    except ValueError as error:
        return "refused", unsaid(str(error))
    return "read", ""


def by_certify(path: Path, method: str) -> tuple[str, str]:
    try:
        found = recertify(cvxml.load(path), 1e-6)
    except ValueError as error:
        return "refused", unsaid(str(error))
    text = str(found)
    if found.verdict is not Verdict.CERTIFIED:
        return found.verdict.value, ""
    return "certified", false(path, method, claims=True) or unsaid(text.replace("\n", " "))


def by_recompute(path: Path, method: str) -> tuple[str, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        proved = recompute.main(str(path))
    lines = said.getvalue().splitlines()
    wrong = "" if all(line.isascii() and line.isprintable() for line in lines) else f"it printed {lines}"
    if sum(line.startswith(("proved", "not proved")) for line in lines) != 1:
        wrong = f"no verdict, or two: {lines}"
    if proved:
        return "proved", wrong or false(path, method, claims=False)
    return "refused" if len(lines) == 1 else "not proved", wrong


def by_judge(path: Path, case: Case) -> tuple[str, str]:
    try:
        answer = referee.read(path)
    except ValueError as error:
        return "refused", unsaid(str(error))
    found = referee.judge(case.content, answer)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        referee.row(found.case, found.verdict, *found.reasons)
    line = said.getvalue()[:-1]
    if not (line.isascii() and line.isprintable()):
        return found.verdict, f"it printed {line!r}"
    if found.verdict == "certified" and answer != answer_to(case):
        other = conform_judge(case, answer)
        if other.verdict != "certified":
            return found.verdict, f"conform says {other}"
    return found.verdict, ""


def unsaid(text: str) -> str:
    """Return the fault if a terminal would obey characters of the text, or if the text is too long; else ""."""
    return "" if text.isprintable() and len(text) < 1500 else f"it said {text!r:.300}"


READERS: dict[str, Callable[[Path, Any], tuple[str, str]]] = {
    "load": by_load,
    "certify": by_certify,
    "recompute": by_recompute,
    "judge": by_judge,
}
TURNS = ("load",) * 10 + ("judge",) * 4 + ("certify",) * 3 + ("recompute",) * 3


# ---------------------------------------------------------------- truth


def false(path: Path, method: str, claims: bool) -> str:
    """Return the reason why a file is false; "" if it is true.

    claims: True if the status and the objective in the file count as claims.
    """
    content = recompute.read(str(path))
    content = json.loads(
        json.dumps({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in content.items()})
    )
    first = solution(method)[1]
    relevant = ("method", "params", "X", "y", "neighbors", "metric", "derived")
    relevant += ("status", "objective") if claims else ()
    if all(content.get(name) == first.content[name] for name in relevant):
        return ""
    if not claims:
        content |= {"status": None, "objective": None}
    if content["method"] not in names():
        return "another method"
    made = frozenset(content["derived"] or ()) if "derived" in content else frozenset()
    if "weights" not in made:  # given weights of plml need no anchors
        made -= {"anchors"}
    if not claims:  # recompute takes these from the file, and its docstring says so
        made -= {"anchors"}
        if content["method"] == "kernel_mlsvm":
            content["params"]["neighborhood"] = "explicit"
    if content["params"].get("n_neighbors") is not None:
        made |= {"targets", "triplets"}
    file = first._replace(made=made & frozenset(get(content["method"]).DERIVED))
    content = {"objective": None, "neighbors": [], **content}
    return why_false(file, content)


# ---------------------------------------------------------------- the run


def one(index: int, seed: int, folder: Path) -> tuple[str, str, str, Fault | None]:
    """Make mutation `index` and give it to a program.

    Return the program, the change, the outcome, and the fault or None.
    """
    rng = np.random.default_rng([seed, index])
    reader = TURNS[rng.integers(len(TURNS))]
    path = folder / f"{index}.json"  # a new file each time: a file that is written again waits for the disk
    subject: Any
    if reader == "judge":
        subject = cases()[rng.integers(len(cases()))]
        change, data = mutated(answer_to(subject), rng)
    else:
        subject = list(names())[rng.integers(len(names()))]
        packed = rng.random() < 0.15
        if packed:
            path, way = path.with_suffix(".npz"), ("bytes", "cut", "token", "moved")[rng.integers(4)]
            change, data = f"npz {way}", bytes_changed(archive(subject), way, rng)
        else:
            change, data = mutated(solution(subject)[1].content, rng)
    path.write_bytes(data)
    before = peak_memory(anew=True)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome, wrong = READERS[reader](path, subject)
    except Hang:
        outcome, wrong = "hang", f"more than {SECONDS} s of processor time"
    except Exception as error:
        outcome, wrong = "exception", f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        path.unlink()
    more = (peak_memory() - before) * 1024
    if more > 20 * len(data) + 10**8:
        wrong = wrong or f"{more >> 20} MiB of memory"
    source = subject.id if isinstance(subject, Case) else str(subject)
    return reader, change, outcome, Fault(index, reader, source, change, wrong[:500]) if wrong else None


def peak_memory(anew: bool = False) -> int:
    """Return the largest memory (KiB) that this process has used.

    On Linux, a call with `anew` starts the measurement again.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not (status.exists() and reset.exists()):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if anew:
        reset.write_text("5")  # the peak becomes the present size
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def run(
    n: int, seed: int = 0, first: int = 0, told: bool = False
) -> tuple[Counter[tuple[str, str]], list[Fault]]:
    """Make n mutations. Return how often each program had each outcome, and the faults.

    first: the index of the first mutation. told: print faults and progress.
    """

    def over(*_: Any) -> None:
        raise Hang

    old = signal.signal(signal.SIGPROF, over)
    outcomes: Counter[tuple[str, str]] = Counter()
    faults = []
    prepare()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for index in range(first, first + n):
                reader, _, outcome, fault = one(index, seed, Path(folder))
                outcomes[reader, outcome] += 1
                if fault:
                    faults.append(fault)
                    if told:
                        print(fault, flush=True)
                if told and (index + 1) % 5000 == 0:
                    print(f"{index + 1 - first} mutations, {len(faults)} faults", flush=True)
    finally:
        signal.signal(signal.SIGPROF, old)
    return outcomes, faults


def prepare() -> None:
    """Solve every problem before the run, so that this memory is not attributed to a program under test."""
    for method in names():
        solution(method)
        archive(method)
    cases()


def page(
    n: int, seed: int, outcomes: Counter[tuple[str, str]], faults: list[Fault], seconds: float, mib: int
) -> str:
    """Return the results as Markdown. mib: the largest memory of the run."""
    return "\n".join(lines(n, seed, outcomes, faults, seconds, mib)) + "\n"


def lines(
    n: int, seed: int, outcomes: Counter[tuple[str, str]], faults: list[Fault], seconds: float, mib: int
) -> Iterator[str]:
    yield "# Fuzzing of the programs that judge a stranger's file"
    yield ""
    yield f"`python -m validation.fuzz --n {n} --seed {seed} --write` made {n:,} mutations of saved solutions of"
    yield "every method (ten points, two features; JSON and .npz), and of the right answers to the golden cases."
    yield "Its docstring states the changes, the allowed answers, and the rule for a true file."
    yield ""
    yield "| program | mutations | outcomes | faults |"
    yield "|---|---|---|---|"
    for reader in READERS:
        own = {outcome: count for (of, outcome), count in sorted(outcomes.items()) if of == reader}
        listed = ", ".join(f"{count:,} {outcome}" for outcome, count in own.items())
        yield f"| {reader} | {sum(own.values()):,} | {listed} | {sum(f.reader == reader for f in faults)} |"
    yield ""
    yield f"{len(faults)} faults. {seconds:.0f} s of processor time, and at most {mib} MiB of memory with the imports."
    if faults:
        yield ""
        yield "| mutation | program | of | change | fault |"
        yield "|---|---|---|---|---|"
        for f in faults[:200]:
            cell = f.wrong.replace("|", "\\|").replace("\n", " ")
            yield f"| {f.index} | {f.reader} | {f.source} | {f.change} | {referee.shown(cell, 160)} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    started = time.process_time()
    outcomes, faults = run(options.n, options.seed, options.first, told=True)
    seconds, most = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    text = page(options.n, options.seed, outcomes, faults, seconds, most)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
