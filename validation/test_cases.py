"""The golden cases: they regenerate, prove what they say, refute what is wrong, and can be read without Python."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.exact import decimal
from cvxml.core.report import Verdict
from cvxml.methods import names
from cvxml.oracle.cases import Case, load_case, load_cases
from cvxml.oracle.parts import compare
from tests.schemas import schema

ROOT = Path(__file__).parents[1]
CASES = load_cases()
PROBLEMS = [case for case in CASES if case.kind == "problem"]
EXACT = ("mlsvm", "kernel_mlsvm", "ssvm", "glml", "nca")
ATTAINED = [case for case in PROBLEMS if "not attained" not in case.flags]
PARTS = [case for case in CASES if case.kind == "part"]


def each(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


def test_every_method_and_flag_has_a_case() -> None:
    assert {case.formula for case in PROBLEMS} == set(names())
    flags = {flag for case in PROBLEMS for flag in case.flags}
    asked = {"ties", "duplicates", "single-class", "rank deficient", "unbounded", "not attained"}
    assert asked <= flags
    parts = {
        "psd_projection",
        "ssvm_inference",
        "neighbors",
        "nca_gradient",
        "mlsvm_algorithm1_step",
        "glml_B",
    }
    assert parts <= {case.formula for case in PARTS}


def test_all_files_regenerate_byte_for_byte() -> None:
    done = subprocess.run(
        [sys.executable, "validation/cases.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(PROBLEMS)} problems and {len(PARTS)} parts; 0 changed" in done.stdout


@each(CASES)
def test_a_file_meets_its_schema_and_its_two_forms_of_a_number_agree(case: Case) -> None:
    schema("case").validate(case.content)
    schema("question").validate(case.question)
    assert_same(case.content["hex"], case.inputs)
    assert (
        np.array_equal(unhex(case.content["hex"]["X"]), case.X)
        if "X" in case.inputs
        else "matrix" in case.inputs
    )


def test_the_arithmetic_of_an_interval_is_said() -> None:
    """Double precision for the relatives, whose intervals are those of their certificates, and only there."""
    for case in ATTAINED:
        stored = case.content["reference"].get("arithmetic", "exact")
        assert stored == ("exact" if case.formula in EXACT else "double"), case.id


BY_HAND = {
    "lmnn-line": (0.6 / 8, [[1 / 8]]),
    "lmnn-squared-line": (0.4 * 23 / 192 + 0.6 / 24**2, [[23 / 192]]),
    "itml-at-the-bound": (
        # u and l are kept with equality; the other pair is at 27/11 of u
        3 / 11 - np.log(3 / 11) - 1 + 0.5 * (27 / 11 - np.log(27 / 11) - 1),
        [[1, 0], [0, 3 / 11]],
    ),
    "mmc-collinear": (-7 / 5**0.5, None),
    "dml-eig-crossing": (-36 / 13, [[9 / 13, 0], [0, 1 / 13]]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_known_by_hand_lies_in_the_interval(name: str) -> None:
    (case,) = (case for case in PROBLEMS if case.id == name)
    value, metric = BY_HAND[name]
    low, high = (float(v) for v in case.content["reference"]["interval"])
    assert low <= value <= high
    assert high - low <= 1e-11 * abs(value)
    if metric is not None:
        np.testing.assert_allclose(case.content["proof"]["metric"], metric, atol=1e-6)


def widened(content: dict[str, Any], by: float, end: int) -> None:
    """One end of the interval moved outward by a share of it."""
    ends = content["reference"]["interval"]
    ends[end] = str(float(ends[end]) + (2 * end - 1) * by * abs(float(ends[end])))
    content["reference"]["gap"] = decimal(Fraction(ends[1]) - Fraction(ends[0]), up=True)


STORED: dict[str, Callable[[dict[str, Any]], object]] = {
    "lower": lambda c: widened(c, 1e-9, 0),
    "upper": lambda c: widened(c, 1e-9, 1),
    "narrower-below": lambda c: widened(c, -6e-13, 0),
    "narrower-above": lambda c: widened(c, -6e-13, 1),
    "exact": lambda c: c["reference"].pop("arithmetic"),
    "gap": lambda c: c["reference"].update(gap="1E-30"),
    "scale": lambda c: c["reference"].update(scale="1.0"),
    "radius": lambda c: c["reference"].update(radius="1E-12"),
    "larger-radius": lambda c: c["reference"].update(radius="1"),
    "no-radius": lambda c: c["reference"].pop("radius"),
    "wider-gap": lambda c: c["reference"].update(gap="1"),
    "worse-by": lambda c: c["wrong"][0].update(worse_by="1.0"),
    "barely-worse-by": lambda c: c["wrong"][0].update(
        worse_by=str(float(c["wrong"][0]["worse_by"]) * (1 + 5e-10))
    ),
    "less-worse-by": lambda c: c["wrong"][0].update(worse_by="1E-9"),
    "eigenvalue": lambda c: c["wrong"][-1].update(least_eigenvalue=-1.0),
    "asks": lambda c: c["asks"].update(metric="A"),
    "inputs": lambda c: c["inputs"].update(gamma=0.6),
}
WORTHLESS: dict[str, Callable[[dict[str, Any]], object]] = {
    "metric": lambda c: c["proof"].update(metric=(1.01 * np.array(c["proof"]["metric"])).tolist()),
    "dual": lambda c: c["proof"].update(lam_D=[0.0] * 30),
    "no-dual": lambda c: c["proof"].pop("lam_D"),
    "right": lambda c: c["wrong"][0].update(metric=c["proof"]["metric"]),
}


REWRITE = """
import pathlib, sys
import cases
path = pathlib.Path(sys.argv[1])
(definition,) = (d for d in cases.PROBLEMS if d.id == path.stem)
print(cases.written(definition, path.read_text(encoding="utf-8"), solve=False))
"""


def rewritten(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", REWRITE, str(path)],
        cwd=ROOT / "validation",
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "case", [case for case in PROBLEMS if case.id in ("itml-iris", "mmc-iris", "mcml-alone")]
)
def test_what_another_machine_rounds_changes_no_byte(case: Case, tmp_path: Path) -> None:
    """A file whose figures are off by a tenth of the allowance for rounding is left as it is."""
    content = json.loads(json.dumps(case.content))
    reference, wrong = content["reference"], content["wrong"][0]
    low, high = (Fraction(v) for v in reference["interval"])
    off = (high - low) / 40  # of which the allowance is a fourth, at least nearly
    low, high = low - off, high + off
    reference["interval"] = [decimal(low, up=False), decimal(high, up=True)]
    reference["gap"] = decimal(
        Fraction(reference["interval"][1]) - Fraction(reference["interval"][0]), up=True
    )
    reference["scale"] = str(float(reference["scale"]) * (1 + 1e-12))
    wrong["worse_by"] = str(float(wrong["worse_by"]) * (1 - 1e-10))
    if "radius" in reference:
        reference["radius"] = str(float(reference["radius"]) * 1.01)
    path = tmp_path / f"{case.id}.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    done = rewritten(path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == content


@pytest.mark.parametrize("change", [*STORED, *WORTHLESS])
def test_a_figure_that_is_stored_and_not_proved_is_noticed(change: str, tmp_path: Path) -> None:
    """Figures in double precision are kept from the file: another is replaced, and what proves nothing is an error."""
    path = tmp_path / "itml-iris.json"
    (case,) = (case for case in PROBLEMS if case.id == path.stem)
    content = json.loads(json.dumps(case.content))
    {**STORED, **WORTHLESS}[change](content)
    path.write_text(json.dumps(content), encoding="utf-8")
    done = rewritten(path)
    if change in WORTHLESS:
        assert done.returncode != 0
        return
    assert done.returncode == 0, done.stderr
    anew = json.loads(done.stdout)
    assert anew != content
    schema("case").validate(anew)
    assert [float(v) for v in anew["reference"]["interval"]] == pytest.approx(
        [float(v) for v in case.content["reference"]["interval"]], rel=1e-11
    )
    assert anew["inputs"] == case.inputs
    assert anew["asks"] == case.asks


def unhex(value: Any) -> Any:
    return [unhex(v) for v in value] if isinstance(value, list) else float.fromhex(value)


def assert_same(hexadecimal: Any, decimal: Any) -> None:
    """Every number in hex is that of the decimals; and every float of these is in hex."""
    if isinstance(decimal, dict):
        floats = hexadecimal or {}  # none in a mapping of index lists
        assert set(floats) <= set(decimal)
        for name, value in decimal.items():
            assert_same(floats.get(name), value)
    elif isinstance(decimal, list) and hexadecimal is not None:
        assert len(hexadecimal) == len(decimal)
        for a, b in zip(hexadecimal, decimal, strict=True):
            assert_same(a, b)
    elif isinstance(decimal, float):
        assert float.fromhex(hexadecimal) == decimal
    elif isinstance(decimal, list):
        assert not any(isinstance(v, float) for v in flat(decimal))


def flat(value: Any) -> list[Any]:
    return [v for entry in value for v in flat(entry)] if isinstance(value, list) else [value]


@each(ATTAINED)
def test_the_stored_metric_is_certified_and_lies_in_the_interval(case: Case) -> None:
    """In floating point, by a dual that is found anew: nothing of the file but the inputs and the metric is used."""
    report = cvxml.check(
        case.formula, case.X, case.y, case.content["proof"]["metric"], **claim_of(case), **case.params
    )
    assert report.verdict is Verdict.CERTIFIED, report
    low, high = (float(v) for v in case.content["reference"]["interval"])
    assert report.objective is not None
    slack = report.rounding + 1e-12 * abs(high)
    assert low - slack <= report.objective <= high + slack
    bound = report.step_lower_bound if report.step_lower_bound is not None else report.lower_bound
    assert bound <= high + slack


def claim_of(case: Case) -> dict[str, Any]:
    return {"claim": case.content["reference"]["claim"]}


@each(ATTAINED)
def test_every_wrong_metric_is_refuted(case: Case) -> None:
    assert case.content["wrong"] or case.id == "glml-indefinite"
    for wrong in case.content["wrong"]:
        report = cvxml.check(case.formula, case.X, case.y, wrong["metric"], diagnosed=False, **case.params)
        assert report.verdict is Verdict.REFUTED, (wrong["name"], report)
        if "worse_by" in wrong:
            assert report.objective is not None
            excess = report.objective - float(case.content["reference"]["interval"][1])
            assert excess == pytest.approx(float(wrong["worse_by"]), rel=1e-6, abs=1e-12)


@each([case for case in PROBLEMS if "not attained" in case.flags])
def test_where_no_metric_is_optimal_none_is_certified(case: Case) -> None:
    d = len(case.X[0])
    for metric in (np.eye(d), np.diag(np.arange(1.0, d + 1)) / np.prod(np.arange(1.0, d + 1)) ** (1 / d)):
        report = cvxml.check(case.formula, case.X, case.y, metric, **case.params)
        assert report.verdict is not Verdict.CERTIFIED


@each([case for case in CASES if case.formula == "mlsvm"])
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_another_language_recomputes_objective_and_bound_from_the_file_alone(case: Case) -> None:
    path = ROOT / "cvxml" / "cases" / f"{case.id}.json"
    script = ROOT / "validation" / "read_case.js"
    assert len([line for line in script.read_text().splitlines() if not line.startswith("//")]) <= 11
    done = subprocess.run(["node", script, path], capture_output=True, text=True, timeout=60, check=True)
    found = json.loads(done.stdout)
    low, high = (Fraction(v) for v in case.content["reference"]["interval"])
    near = Fraction(1, 10**11) * (1 + abs(high))
    assert abs(Fraction(found["objective"]) - high) <= near
    assert abs(Fraction(found["lower_bound"]) - low) <= near


@each(PARTS)
def test_a_part_takes_the_right_answer_and_no_other(case: Case) -> None:
    answer = case.content["answer"]
    assert compare(case.content, answer) == ""
    for name, value in answer.items():
        off = shifted(value, case.content["tolerance"])
        assert name in compare(case.content, {**answer, name: off})
        assert name in compare(case.content, {k: v for k, v in answer.items() if k != name})
        assert name in compare(case.content, {**answer, name: "text"})
    assert compare(case.content, None)


def shifted(value: Any, tolerance: float) -> Any:
    """The numbers, the first of them off by twice what is allowed; or lists of indices, the first with another."""
    array = np.array(value)
    if array.dtype.kind == "i":
        array.flat[0] = -1
        return array.tolist()
    array.flat[0] += 2 * tolerance * max(float(np.abs(array).max()), 1.0)
    return array.tolist()


def test_parts_refuse_numbers_that_are_none() -> None:
    case = next(case for case in PARTS if case.id == "part-psd-mixed")
    nothing = np.full((4, 4), np.nan).tolist()
    assert "projection" in compare(case.content, {"projection": nothing})
    assert "shape" in compare(case.content, {"projection": [[1.0]]})
    case = next(case for case in PARTS if case.id == "part-neighbors")
    lists = case.content["answer"]["neighbors"]
    assert compare(case.content, {"neighbors": [row[::-1] for row in lists]}) == ""
    assert "entry 0" in compare(case.content, {"neighbors": [[True, *lists[0][1:]], *lists[1:]]})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({}, "no case"),
        ({"format": "cvxml-case", "version": 2}, "version"),
        ({"format": "cvxml-case", "version": 1, "id": "a"}, "kind"),
        ([], "no case"),
        ({**CASES[0].content, "flags": 5}, "flags"),
        ({**CASES[0].content, "flags": [5]}, "flags"),
        ({**CASES[0].content, "id": None}, "id"),
        ({**CASES[0].content, "inputs": [1]}, "inputs"),
        ({**CASES[0].content, "inputs": {}}, "no X"),
        ({**CASES[0].content, "kind": "whole"}, "problem"),
        ({**PARTS[0].content, "answer": 5}, "answer"),
        ({**PARTS[0].content, "tolerance": "small"}, "tolerance"),
    ],
)
def test_what_is_no_case_is_refused(tmp_path: Path, content: Any, complaint: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=complaint):
        load_case(tmp_path / "a.json")
    with pytest.raises(ValueError, match=complaint):
        load_cases(tmp_path)


def test_a_pattern_chooses_and_one_that_matches_nothing_is_refused() -> None:
    assert {case.formula for case in load_cases(pattern="glml")} == {"glml"}
    assert all(case.id.startswith("part-psd") for case in load_cases(pattern="part-psd*"))
    with pytest.raises(ValueError, match="mlsvm-line"):
        load_cases(pattern="nothing")
    with pytest.raises(ValueError, match="no cases"):
        load_cases("no/such/folder")


def test_reports_meet_their_schema() -> None:
    for case in (*PROBLEMS[:6], *(case for case in ATTAINED if case.formula in ("nca", "ssvm"))):
        for metric in (case.content["proof"].get("metric"), *(w["metric"] for w in case.content["wrong"])):
            if metric is not None:
                report = cvxml.check(
                    case.formula, case.X, case.y, metric, exact=case.formula == "mlsvm", **case.params
                )
                schema("report").validate(json.loads(report.to_json()))
    X, y = CASES[-1].X, [i % 2 for i in range(len(CASES[-1].X))]
    schema("report").validate(json.loads(cvxml.check("mlsvm", X, y, claimed_objective=1.0).to_json()))
