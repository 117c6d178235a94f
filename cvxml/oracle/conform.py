"""Run a foreign program over the golden cases and judge its answers.

The program gets one question, as JSON, on its standard input and answers with one JSON object on its standard output:
    {"metric": [[...]]}  or  {"components": [[...]]}    a solution; "objective" beside it is judged too
    {"status": "not attained"}                          no metric is optimal
    {"answer": {...}}                                   the numbers of a part
    {"unsupported": "why"}                              the case is skipped
It is started anew for each case, with a time limit, and is given nothing but the question.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from cvxml.core.files import read_json, write_json
from cvxml.core.metric import real_array
from cvxml.core.report import Report, Verdict
from cvxml.core.result import plain
from cvxml.core.shown import brief, cut, few, one_line, printable
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.oracle.cases import Case
from cvxml.oracle.check import check
from cvxml.oracle.parts import compare

MOST_BYTES = 64 * 1024**2  # of an answer
SAID = 300  # characters of a program's last words that are shown
Program = (
    Sequence[str] | Callable[[dict[str, Any]], Any]
)  # a command, or a function from a question to an answer


@dataclass(frozen=True)
class Row:
    """What became of one case. verdict: certified, close, refuted, inconclusive, skipped, or error."""

    case: str
    formula: str
    verdict: str
    gap: float | None = None
    rel_gap: float | None = None
    diagnosis: tuple[str, ...] = ()
    message: str = ""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: what is infinite is null."""
        checked: dict[str, Any] = plain(asdict(self))
        return checked


class Rows(list[Row]):
    """Of several cases, shown as a table."""

    def __str__(self) -> str:
        return as_table(self)

    def __repr__(self) -> str:
        wrong = [f"{row.case}: {row.verdict}: {row.message}" for row in self if row.verdict != "certified"]
        return few([_counted(self), *(brief(one_line(line)) for line in wrong)], "print it for all of it")


def conform(
    program: Program,
    cases: Sequence[Case],
    *,
    time_limit: float = 60.0,
    tol: Tolerance = "normal",
    say: Callable[[str], None] = lambda text: None,
) -> Rows:
    """One row a case. time_limit: seconds for each; tol as in `check`. Raises ValueError if nothing can be started."""
    check_tol(tol)
    rows = Rows()
    for case in cases:
        say(f"{case.id} ...")
        rows.append(conform_case(program, case, time_limit=time_limit, tol=tol))
    return rows


def conform_case(program: Program, case: Case, *, time_limit: float = 60.0, tol: Tolerance = "normal") -> Row:
    """What becomes of one case. A function of Python is called here, and no time limit holds for it."""
    started = time.perf_counter()
    answer = called(program, case.question) if callable(program) else run(program, case.question, time_limit)
    seconds = time.perf_counter() - started
    if isinstance(answer, str):
        row = Row(case.id, case.formula, "error", message=answer)
    else:
        try:
            row = judge(case, answer, tol)
        except Exception as error:  # whatever an answer brings about, the other rows are worth having
            row = Row(case.id, case.formula, "error", message=_said(error))
    return replace(row, seconds=seconds)


def called(program: Callable[[dict[str, Any]], Any], question: dict[str, Any]) -> dict[str, Any] | str:
    """The answer of a function to a question of its own, or what went wrong as a sentence."""
    try:
        answer = program(deepcopy(question))
    except Exception as error:
        return _said(error)
    return answer if isinstance(answer, dict) else cut(f"the answer is no dict: {answer!r}", SAID)


def _said(error: Exception) -> str:
    return cut(f"{type(error).__name__}: {error}", SAID)


def run(command: Sequence[str], question: dict[str, Any], time_limit: float) -> dict[str, Any] | str:
    """The program's answer, or what went wrong as a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        given, out, err = (Path(folder) / name for name in ("question.json", "answer.json", "errors"))
        write_json(given, question)
        with given.open("rb") as stdin, out.open("wb") as stdout, err.open("wb") as stderr:
            try:
                process = subprocess.Popen(
                    command, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
                )
            except (OSError, ValueError) as error:
                raise ValueError(f"the command {command[0]!r} cannot be started: {error}") from error
            try:
                code = _wait(process, (out, err), time_limit)
            finally:
                _stop(process)
        if code is None:
            return f"no answer within {time_limit:g} s"
        if _size(out) > MOST_BYTES or _size(err) > MOST_BYTES:
            return f"it wrote more than {MOST_BYTES} bytes"
        if code != 0:
            return f"exit code {code}: {_last_words(err)}"
        try:
            answer = read_json(out)
        except ValueError as error:
            why = f"the answer is no JSON: {str(error).replace(str(out), 'it')}"
            return f"{why}; it printed {_last_words(out)!r}"
        return answer if isinstance(answer, dict) else "the answer is no JSON object"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _last_words(path: Path) -> str:
    """The end of what it wrote, on one line."""
    if not path.exists():
        return ""
    with path.open("rb") as stream:
        stream.seek(max(_size(path) - 10 * SAID, 0))
        words = stream.read().decode("utf-8", "replace").split()
    said = " ".join(words)
    return said if len(said) <= SAID else f"...{said[-SAID:]}"


def _wait(process: subprocess.Popen[bytes], written: Sequence[Path], time_limit: float) -> int | None:
    """The exit code; None where the time is over. A program that prints without end is stopped early."""
    deadline = time.perf_counter() + time_limit
    pause = 0.005
    while time.perf_counter() < deadline:
        try:
            return process.wait(min(pause, max(deadline - time.perf_counter(), 0.001)))
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 0.2)
            if any(_size(path) > MOST_BYTES for path in written):
                return -1
    return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program and its process group: what it started, unless that left the group."""
    with suppress(ProcessLookupError, PermissionError):  # all of them have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def judge(case: Case, answer: dict[str, Any], tol: Tolerance = "normal") -> Row:
    """The verdict on an answer: by `check` for a problem, number by number for a part."""
    if "unsupported" in answer:
        return Row(case.id, case.formula, "skipped", message=cut(str(answer["unsupported"]), SAID))
    if case.kind == "part":
        wrong = compare(case.content, answer.get("answer"))
        return Row(case.id, case.formula, "refuted" if wrong else "certified", message=wrong)
    if answer.get("status") == "not attained":
        agreed = "not attained" in case.flags
        message = (
            "no metric is optimal, as it says" if agreed else "it says that no metric is optimal; one is"
        )
        return Row(case.id, case.formula, "certified" if agreed else "refuted", message=message)
    given = {name: answer[name] for name in ("metric", "components") if name in answer}
    if not given:
        return Row(case.id, case.formula, "error", message='the answer has neither "metric" nor "components"')
    try:
        arrays: dict[str, Any] = {name: real_array(value, name) for name, value in given.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = check(
                case.formula,
                case.X,
                case.y,
                claimed_objective=answer.get("objective"),
                tol=tol,
                **arrays,
                **case.params,
            )
    except (ValueError, TypeError) as error:
        return Row(case.id, case.formula, "error", message=cut(" ".join(str(error).split()), SAID))
    gap, share = _gaps(report)
    return Row(
        case.id,
        case.formula,
        report.verdict.value,
        gap=gap,
        rel_gap=share,
        diagnosis=report.diagnosis or tuple(map(str, report.nearest)),
        message="" if report.verdict is Verdict.CERTIFIED else "; ".join(report.reasons),
    )


def _gaps(report: Report) -> tuple[float | None, float | None]:
    """The gap that was judged, and what share of the scale it is."""
    if report.step_gap is None:
        return report.gap, report.rel_gap
    return report.step_gap, report.step_gap / report.scale if report.scale > 0 else math.inf


def as_table(rows: Sequence[Row]) -> str:
    """Case, verdict, gap, seconds; below each row that is not certified, why."""
    width = max((len(printable(row.case)) for row in rows), default=len("case")) + 2
    lines = [f"{'case':<{width}}{'verdict':<14}{'gap / scale':>12}{'seconds':>9}"]
    for row in rows:
        gap = "" if row.rel_gap is None else f"{row.rel_gap:.1e}"
        lines.append(f"{printable(row.case):<{width}}{row.verdict:<14}{gap:>12}{row.seconds:>9.2f}")
        said = (*((row.message,) if row.message else ()), *_diagnosed(row))
        lines += [f"    {one_line(line)}" for line in said]
    return "\n".join([*lines, "", _counted(rows)])


_VERDICTS = ("certified", "close", "refuted", "inconclusive", "skipped", "error")


def _counted(rows: Sequence[Row]) -> str:
    counts = [f"{sum(row.verdict == v for row in rows)} {v}" for v in _VERDICTS]
    return f"{len(rows)} cases: {', '.join(counts)}"


def _diagnosed(row: Row) -> list[str]:
    return [f"diagnosis: {line}" for line in row.diagnosis]


def as_junit(rows: Sequence[Row]) -> str:
    """The rows as JUnit XML: refuted is a failure, an error an error; inconclusive and skipped are skipped."""
    suite = ElementTree.Element(
        "testsuite",
        name="cvxml",
        tests=str(len(rows)),
        failures=str(sum(row.verdict in ("refuted", "close") for row in rows)),
        errors=str(sum(row.verdict == "error" for row in rows)),
        skipped=str(sum(row.verdict in ("skipped", "inconclusive") for row in rows)),
    )
    kinds = {
        "refuted": "failure",
        "close": "failure",
        "error": "error",
        "skipped": "skipped",
        "inconclusive": "skipped",
    }
    for row in rows:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=printable(row.formula),
            name=printable(row.case),
            time=f"{row.seconds:.3f}",
        )
        if row.verdict in kinds:
            said = one_line("; ".join([row.message, *_diagnosed(row)]))
            ElementTree.SubElement(case, kinds[row.verdict], message=f"{row.verdict}: {said}")
    text: str = ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
    return text + "\n"
