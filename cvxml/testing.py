"""Functions for test suites: assert that a metric is certified; golden cases as tests of pytest (docs/conform.md).

Examples
--------
import cvxml
from cvxml.testing import assert_certified

X, y = cvxml.datasets.load("iris")
assert_certified("mcml", X, y, cvxml.MCML().fit(X, y).get_mahalanobis_matrix())
print("certified")  # -> certified
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from cvxml.core.report import Verdict
from cvxml.core.result import Solution
from cvxml.core.saved import SavedSolution
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.check import check
from cvxml.oracle.conform import Program, Row, conform_case
from cvxml.oracle.programs import MEMORY_LIMIT, TIME_LIMIT, Surroundings

__all__ = ["NotCertified", "assert_certified", "parametrize_with_cases"]


class NotCertified(AssertionError):
    """Raised if the metric, or the answer of a program, is missing or not certified."""


def assert_certified(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike | Solution | SavedSolution | None = None,
    *,
    tol: Tolerance = "normal",
    **params: Any,
) -> None:
    """Raise NotCertified, an AssertionError with the whole report, unless `cvxml.check` certifies the metric.

    metric: (d, d), or a solution. In its place, params may hold components= (m, d), the transform L with metric L^T L,
        or claimed_objective=, a reported value of the objective.
    tol: tolerance relative to the scale of the problem: a number, or "strict" 1e-9, "normal" 1e-6 or "loose" 1e-3.
    params: the parameters of the method, neighbour lists, and other arguments of `check`.

    Raises ValueError for bad input.
    """
    report = check(method, X, y, metric, tol=tol, **params)
    if report.verdict is not Verdict.CERTIFIED:
        raise NotCertified(str(report))


def parametrize_with_cases(
    program: Program,
    *,
    expected_failures: Mapping[str, str] | None = None,
    pattern: str = "*",
    folder: str | Path | None = None,
    tol: Tolerance = "normal",
    time_limit: float = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
    env: Sequence[str] = (),
    workdir: str | None = None,
) -> Callable[[Callable[[Row], None]], Callable[..., None]]:
    """Return a decorator that makes one test for every golden case, a problem with a proved answer.

    Each test runs `program` on its case. If the answer is certified, the test calls the decorated function with a
    `Row`, the result of the case (case, gap, rel_gap, seconds, ...). A test fails if its case is refuted, close, or
    ends in an error. It is skipped if the case is inconclusive or the program answers "unsupported". Needs pytest.

    program: the command of a program and its arguments, as a list; or a function. A command reads a question as JSON
        and prints the answer as JSON. A function takes and returns dicts (docs/conform.md).
    expected_failures: {id of a case: why it is not certified yet}. Such a test is an xfail. It fails as soon as its
        case is certified, inconclusive or skipped, and then the case must be deleted from this dict.
    pattern: which cases: a case id with wildcards, or a method id.
    folder: a folder with your own cases; None: the cases of this package.
    tol: tolerance relative to the scale of the problem: a number, or "strict", "normal" or "loose".
    time_limit: seconds for each case.
    memory_limit: GB for each process of a command; Linux only.
    env: names of environment variables that a command gets in addition to PATH and a few others.
    workdir: the folder in which a command runs; None: a new empty folder for each case.

    Raises ValueError for bad input, and for an expected failure without a case or without a reason.
    """
    import pytest

    if isinstance(program, str):
        raise ValueError(f"program must be a list, the command and its arguments: [{program!r}]")
    check_tol(tol)
    within = Surroundings(time_limit, memory_limit, tuple(env), workdir)
    reasons = dict(expected_failures or {})
    cases = load_cases(folder, pattern)
    if strangers := sorted(reasons.keys() - {case.id for case in cases}):
        raise ValueError(
            f"expected_failures names unknown cases: {', '.join(strangers)}; `cvxml cases` lists the ids"
        )
    if silent := sorted(name for name, reason in reasons.items() if not reason.strip()):
        raise ValueError(f"expected_failures gives no reason for {', '.join(silent)}")

    def of(case: Case) -> Any:
        if case.id not in reasons:
            return pytest.param(case, id=case.id)
        expected = pytest.mark.xfail(reason=reasons[case.id], raises=NotCertified, strict=True)
        return pytest.param(case, id=case.id, marks=expected)

    def decorate(test: Callable[[Row], None]) -> Callable[..., None]:
        def run(case: Case) -> None:
            row = conform_case(program, case, within, tol=tol)
            said = f"{row.case}: {row.verdict}: {'; '.join((row.message, *row.diagnosis))}"
            if row.verdict in ("skipped", "inconclusive"):
                if case.id in reasons:
                    raise RuntimeError(f"expected to fail ({reasons[case.id]}), but it did not: {said}")
                pytest.skip(said)
            if row.verdict != "certified":
                raise NotCertified(said)
            test(row)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__qualname__ = test.__qualname__
        return pytest.mark.parametrize("case", [of(case) for case in cases])(run)

    return decorate
