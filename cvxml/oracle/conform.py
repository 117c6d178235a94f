"""Run a foreign program over the golden cases and judge its answers.

The program gets one question, as JSON, on its standard input. It answers with one JSON object on its standard output:
    {"metric": [[...]]}  or  {"components": [[...]]}    a solution; "objective" beside it is judged too
    {"status": "not attained"}                          no metric is optimal
    {"answer": {...}}                                   the numbers of a part
    {"unsupported": "why"}                              the case is skipped
A key with null counts as absent. "unsupported" beside an answer is an error.
The program is started anew for each case, in an empty folder, with few environment variables and with limits
(`programs.py`). It gets only the question. This is not a sandbox: it has the rights of the user who starts it. It can
read all files of that user, including the answers in this package. Problems drawn anew (`fresh.py`) have no stored
answers.

The candidate is the metric in the program's answer. If a method is not convex, its convex step at a metric is the
convex problem that the method solves next.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any
from xml.etree import ElementTree

from cvxml.core.metric import real_array
from cvxml.core.report import Report, Verdict
from cvxml.core.result import plain
from cvxml.core.short_repr import brief, cut, few, one_line, printable
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.methods import get
from cvxml.oracle.cases import Case
from cvxml.oracle.check import check
from cvxml.oracle.first_order import expected
from cvxml.oracle.parts import compare, refuse_booleans
from cvxml.oracle.programs import MEMORY_LIMIT, SAID, TIME_LIMIT, Surroundings, run

NO_METRIC = (
    'the answer has neither "metric" nor "components": '
    "give one of them, as a list of rows such as [[1, 0], [0, 1]]"
)
UNSUPPORTED = (
    'the answer has "unsupported", which must be a text with the reason, without {beside}; got {given}. Give either an '
    "answer or the reason; a null counts as absent"
)
ANSWERS = ("metric", "components", "answer", "status")
# a command, or a function from a question to an answer
Program = Sequence[str] | Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Row:
    """The result of one case. verdict: certified, close, refuted, inconclusive, skipped, or error.

    case: its id. formula: the id of its method. gap, rel_gap: the gap of the answer, absolute and relative to the scale
    of the problem; None if the answer has none.

    diagnosis: sentences on the mistakes that explain the answer, or else on those that come nearest. named: True if
    they explain the answer.

    message: the reason of the verdict. seconds: the time of the program. expected: for an answer that may be
    unconverged, a sentence with the gap of a plain first-order program.
    """

    case: str
    formula: str
    verdict: str
    gap: float | None = None
    rel_gap: float | None = None
    diagnosis: tuple[str, ...] = ()
    message: str = ""
    seconds: float = 0.0
    expected: str = ""
    named: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; an infinite number becomes null."""
        checked: dict[str, Any] = plain(asdict(self))
        return checked


class Rows(list[Row]):
    """The results of several cases; printed as a table."""

    def __str__(self) -> str:
        return as_table(self)

    def __repr__(self) -> str:
        wrong = [f"{row.case}: {row.verdict}: {row.message}" for row in self if row.verdict != "certified"]
        return few(
            [_counted(self), *(brief(one_line(line)) for line in wrong)], "print the rows to see all of them"
        )


def conform(
    program: Program,
    cases: Sequence[Case],
    *,
    time_limit: float = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
    env: Sequence[str] = (),
    workdir: str | None = None,
    tol: Tolerance = "normal",
    say: Callable[[str], None] = lambda text: None,
) -> Rows:
    """Run a program on each case and return one Row per case.

    program: a command (a list of the program and its arguments), or a function from a question to an answer.
    time_limit, memory_limit: seconds for each case, and GB for each process.
    env: names of environment variables that the program gets besides a few such as PATH.
    workdir: the folder in which the program runs; None: an empty folder.
    tol: tolerance relative to the scale of the problem: a number, "strict", "normal" or "loose".
    say: called with a line of text before each case.

    The limits, env and workdir apply to a command only. Raises ValueError if the command cannot be started.
    """
    check_tol(tol)
    within = Surroundings(time_limit, memory_limit, tuple(env), workdir)
    rows = Rows()
    for case in cases:
        say(f"{case.id} ...")
        rows.append(conform_case(program, case, within, tol=tol))
    return rows


def conform_case(
    program: Program, case: Case, within: Surroundings | None = None, *, tol: Tolerance = "normal"
) -> Row:
    """Run one case and return its Row.

    program: a command (a list of words), or a Python function from a question to an answer. within: the limits, the
    folder and the environment variables of a command; None: the default limits, an empty folder, and no further
    variables. They do not apply to a function, which is called in this process.
    """
    started = time.perf_counter()
    if callable(program):
        answer = called(program, case.question)
    else:
        answer = run(program, case.question, within or Surroundings())
    seconds = time.perf_counter() - started
    if isinstance(answer, str):
        row = Row(case.id, case.formula, "error", message=answer)
    else:
        try:
            row = judge(case, answer, tol)
        except Exception as error:  # one bad answer must not end the run
            row = Row(case.id, case.formula, "error", message=_said(error))
    return replace(row, seconds=seconds)


def called(program: Callable[[dict[str, Any]], Any], question: dict[str, Any]) -> dict[str, Any] | str:
    """Call the function `program` with a copy of the question. Return its answer, or a sentence on the error."""
    try:
        answer = program(deepcopy(question))
    except Exception as error:
        return _said(error)
    if isinstance(answer, dict):
        return answer
    return f'the answer is not a dict: {cut(repr(answer), SAID)}; return one such as {{"metric": [[1, 0], [0, 1]]}}'


def _said(error: Exception) -> str:
    return cut(f"{type(error).__name__}: {error}", SAID)


def judge(case: Case, answer: dict[str, Any], tol: Tolerance = "normal") -> Row:
    """Return the Row of an answer, whose forms are listed in the module docstring.

    A metric or components are judged by `check`. "not attained" is right for a problem with this flag. The numbers of a
    part are compared with the stored ones. An answer with "unsupported" is skipped. An answer in no valid form is an
    error.
    """
    answer = {name: value for name, value in answer.items() if value is not None}
    if "unsupported" in answer:
        return _skipped(case, answer)
    if case.kind == "part":
        wrong = compare(case.content, answer.get("answer"))
        return Row(case.id, case.formula, "refuted" if wrong else "certified", message=wrong)
    if answer.get("status") == "not attained":
        agreed = "not attained" in case.flags
        message = (
            "correct: no metric is optimal"
            if agreed
            else "the answer says that no metric is optimal, but one is"
        )
        return Row(case.id, case.formula, "certified" if agreed else "refuted", message=message)
    given = {name: answer[name] for name in ("metric", "components") if name in answer}
    if not given:
        return Row(case.id, case.formula, "error", message=NO_METRIC)
    try:
        for name, value in given.items():
            refuse_booleans(value, name)
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
        named=bool(report.diagnosis),
        message="" if report.verdict is Verdict.CERTIFIED else "; ".join(report.reasons),
        expected=expected(case, report),
    )


def _skipped(case: Case, answer: dict[str, Any]) -> Row:
    """Return the Row of an answer with "unsupported": skipped, or an error if an answer is beside the reason."""
    reason = answer["unsupported"]
    beside = [name for name in ANSWERS if name in answer]
    if isinstance(reason, str) and reason.strip() and not beside:
        return Row(case.id, case.formula, "skipped", message=cut(reason, SAID))
    names = ", ".join(f'"{name}"' for name in ANSWERS)
    given = f"{cut(repr(reason), 40)}{''.join(f' and {name}' for name in beside)}"
    return Row(case.id, case.formula, "error", message=UNSUPPORTED.format(beside=names, given=given))


def _gaps(report: Report) -> tuple[float | None, float | None]:
    """Return the gap that the verdict is about, absolute and relative to the scale of the problem.

    If the problem is not convex, this is the gap of the convex step at the candidate. Both are None if the matrix is
    not a metric: then the gap in the report belongs to its projection on the metrics.
    """
    if report.feasibility is not None and not report.feasibility.feasible:
        return None, None
    if report.step_gap is None:
        return report.gap, report.rel_gap
    return report.step_gap, report.step_gap / report.scale if report.scale > 0 else math.inf


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows as a table: case, verdict, relative gap, seconds. The reason follows a row that is not certified.

    The last line says what the author of the program should do next.
    """
    width = max((len(printable(row.case)) for row in rows), default=len("case")) + 2
    lines = [f"{'case':<{width}}{'verdict':<14}{'relative gap':>14}{'seconds':>9}"]
    for row in rows:
        gap = "" if row.rel_gap is None or not math.isfinite(row.rel_gap) else f"{row.rel_gap:.1e}"
        lines.append(f"{printable(row.case):<{width}}{row.verdict:<14}{gap:>14}{row.seconds:>9.2f}")
        said = (*filter(None, (row.message, row.expected)), *_diagnosed(row))
        lines += [f"    {one_line(line)}" for line in said]
    return "\n".join([*lines, "", _counted(rows), *_next_step(rows)])


def _next_step(rows: Sequence[Row]) -> list[str]:
    """Return a list with one sentence: what the author of the program should do next; an empty list without rows.

    The sentence is about the first row of the most urgent kind. The kinds, in this order: an error, a refuted answer
    with a diagnosis, another refuted or close answer, an inconclusive one. Without such rows it is about all cases.
    """
    first = {row.verdict: row for row in reversed(rows)}
    named = next((row for row in rows if row.verdict == "refuted" and row.named), None)
    if "error" in first:
        case = printable(first["error"].case)
        return [
            f"next: run the program on the question of {case}: cvxml cases {case} --json prints it, with the --seed "
            "and --folder of this command"
        ]
    if named is not None:
        return [
            f"next: mend the mistake that is named for {printable(named.case)}, and run the same command again"
        ]
    wrong = [row for verdict in ("refuted", "close") for row in rows if row.verdict == verdict]
    far = next(
        (row for row in wrong if row.rel_gap is not None), None
    )  # an answer that is no metric has no gap
    if far is not None and get(far.formula).MAX_ITER == 1:
        return [
            f"next: compare the parts of the program with those of `cvxml evaluate {far.formula} DATA --metric FILE` "
            f"on the data of {printable(far.case)}; the method has a closed form, so the program has another formula"
        ]
    if far is not None:
        return [
            f"next: give the program ten times the iterations; if the gap of {printable(far.case)} stays, the program "
            f"solves another problem, and if it shrinks, judge it with --tol loose"
        ]
    for verdict in ("refuted", "close", "inconclusive"):
        if verdict in first:
            return [f"next: read the reason below {printable(first[verdict].case)}"]
    if "certified" in first:
        return ["next: add this command to your tests; --seed N draws new points"]
    return ["next: choose cases that the program can solve, with --only PATTERN"] if rows else []


_VERDICTS = ("certified", "close", "refuted", "inconclusive", "skipped", "error")


def _counted(rows: Sequence[Row]) -> str:
    counts = [f"{sum(row.verdict == v for row in rows)} {v}" for v in _VERDICTS]
    return f"{len(rows)} {'case' if len(rows) == 1 else 'cases'}: {', '.join(counts)}"


def _diagnosed(row: Row) -> list[str]:
    return [f"diagnosis: {line}" for line in row.diagnosis]


def as_junit(rows: Sequence[Row]) -> str:
    """Return the rows as JUnit XML.

    The verdicts refuted and close become failures, error becomes an error, inconclusive and skipped become skipped.
    """
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
            said = one_line("; ".join([*filter(None, (row.message, row.expected)), *_diagnosed(row)]))
            ElementTree.SubElement(case, kinds[row.verdict], message=f"{row.verdict}: {said}")
    text: str = ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
    return text + "\n"
