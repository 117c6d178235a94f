"""The gaps of the plain first-order program, and the answers for which `conform` tells them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Report
from cvxml.oracle.cases import FOLDER, Case, load_case
from cvxml.oracle.conform import judge
from cvxml.oracle.convex_rules import CLOSE
from cvxml.oracle.first_order import STEPS, digest, expected, table
from validation.cases.first_order import FLOOR, descend, measurable

OURS = 1e-7  # of the scale: the gap of our own solution at the default tolerance is at most this


def case_of(name: str) -> Case:
    return load_case(FOLDER / f"{name}.json")


def reference(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = case.content.get("reference", {})
    return found


def test_every_case_that_the_program_can_solve_has_a_row() -> None:
    found = measurable()
    assert len(found) > 30
    assert {case.id: digest(case.inputs) for case in found} == {
        name: row.inputs for name, row in table().items()
    }
    for name, row in table().items():
        assert len(row.gaps) == len(STEPS), name
        assert list(row.gaps) == sorted(row.gaps, reverse=True), name
        assert min(row.gaps) >= FLOOR, name


def assert_recomputed(name: str) -> None:
    """The figure after the fewest steps is met, and it is the gap that `check` proves of that metric."""
    case, figure = case_of(name), table()[name].gaps[0]
    (gap,), metric = descend(case, STEPS[:1])
    assert gap == pytest.approx(figure, rel=0.01, abs=OURS)
    report = cvxml.check(case.formula, case.X, case.y, metric, diagnosed=False, **case.params)
    assert report.rel_gap == pytest.approx(figure, rel=0.01, abs=OURS)


@pytest.mark.parametrize("name", ["frobmetric-iris", "mlsvm-kkt", "lmnn-triplets"])
def test_a_row_is_recomputed(name: str) -> None:
    assert_recomputed(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(table()))
def test_every_row_is_recomputed(name: str) -> None:
    assert_recomputed(name)


# --- the answers for which the gap is told ---

NAME = "frobmetric-iris"


@cache
def unconverged() -> np.ndarray:
    case = case_of(NAME)
    return descend(case, STEPS[:1])[1]


@cache
def report_on() -> Report:
    case = case_of(NAME)
    return cvxml.check(case.formula, case.X, case.y, unconverged(), **case.params)


def test_an_unconverged_answer_is_told_the_gap() -> None:
    row = judge(case_of(NAME), {"metric": unconverged().tolist()})
    assert row.verdict == "close"
    for gap in (table()[NAME].gaps[0], table()[NAME].gaps[-1]):
        assert f"{gap:.1e}" in row.expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"diagnosis": ("a mistake",)},
        {"witness": None},
        {"verdict": cvxml.Verdict.CERTIFIED},
        {"verdict": cvxml.Verdict.INCONCLUSIVE},
        {"claimed_objective": 4.0},  # the objective is 3.23
        {"rel_gap": 2e-3},  # 1.95e-3 after 100 steps
        {"rel_gap": None},
    ],
    ids=str,
)
def test_no_other_answer_is_told_the_gap(wrong: dict[str, Any]) -> None:
    case, report = case_of(NAME), report_on()
    assert expected(case, report)
    assert expected(case, replace(report, claimed_objective=report.objective))
    assert not expected(case, replace(report, **wrong))


def test_a_case_with_other_points_is_told_no_gap() -> None:
    case = case_of(NAME)
    moved = {**case.inputs, "X": (np.array(case.X) + 0.125).tolist()}
    assert not expected(replace(case, inputs=moved), report_on())


def test_a_program_is_as_good_only_within_the_least_gap_of_an_easy_case() -> None:
    """The three ends of the sentence differ; that of a case that is too hard does not depend on the answer."""
    case, report, (first, last) = case_of(NAME), report_on(), table()[NAME].gaps
    within, beyond = (expected(case, replace(report, rel_gap=share)) for share in (last, 1.1 * last))
    assert within != beyond
    assert beyond == expected(case, replace(report, rel_gap=first))
    hard, gaps = case_of("mlsvm-scales"), table()["mlsvm-scales"].gaps
    told = {expected(hard, replace(report, rel_gap=share)) for share in (0.01 * gaps[-1], gaps[0])}
    assert len(told) == 1
    assert "" not in told


def test_no_stored_wrong_metric_is_as_good_as_the_program() -> None:
    """Unless the case is too hard for the program, so that nothing is as good."""
    for name, row in table().items():
        case = case_of(name)
        for wrong in case.content["wrong"]:
            share = float(wrong.get("worse_by", np.inf)) / float(reference(case)["scale"])
            assert share > row.gaps[-1] or row.gaps[-1] > CLOSE, (name, wrong["name"])
