"""`certify` does not certify a saved file after the edit of one field, unless the edit is harmless.

Every field at every depth is edited (tests/edits.py). `certify` must then refute the file, refuse it, or be
inconclusive. If it still certifies the file, `REASONS` must hold a reason for the field, or the edited file must be
true. It is true if `check` certifies its metric for its problem, and its objective equals the naive objective.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.report import Verdict
from cvxml.core.saved import CLAIMS
from cvxml.methods import get, names
from cvxml.methods.plml.weights import objective as weights_objective
from cvxml.oracle.saved import Recertified, _least, recertify
from tests.edits import Edit, edits, swapped

# lists and numbers in a file that do not follow from its other fields
STATED = {
    "itml": ("prior", "bounds"),
    "sdml": ("prior",),
    "lsml": ("prior", "weights"),
    "ssvm": ("loss_matrix",),
    "glml": ("query",),
}
# parameters for larger lists than those of the class's example
MORE: dict[str, dict[str, Any]] = {"lsml": {"n_quadruplets": 25, "random_state": 3}}


def written(content: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(content))
    return path


class File(NamedTuple):
    """A saved file before any edit."""

    content: dict[str, Any]
    made: frozenset[str]  # the parameters that were not given, and that follow from other fields
    scale: float
    objective: float

    def named(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of an edited file, without those that follow from other fields."""
        params = {name: value for name, value in content["params"].items() if name not in self.made}
        if params.get("neighborhood") == "explicit":
            params = {
                name: value for name, value in params.items() if name not in ("n_neighbors", "neighborhood")
            }
            params["neighbors"] = content["neighbors"]
        return params


@cache
def saved(method: str, given: bool = False) -> File:
    """Return the file of a solution of the method's first example. given: pass every list explicitly."""
    of = get(method)
    example = next(each for each in of.EXAMPLES if each.use == "tested")
    X, y = datasets.of_example(example)
    params = {**example.params, **MORE.get(method, {})}
    solution = cvxml.solve(method, X, y, **params)
    if given:
        params |= {name: solution.params[name] for name in of.DERIVED if name in solution.params}
        if "neighbors" in of.PARAMETERS:
            params["neighbors"] = solution.neighbors
        solution = cvxml.solve(method, X, y, **params)
    content = json.loads(json.dumps(solution.to_dict()))
    made = frozenset(of.DERIVED) - frozenset(params)
    return File(content, made, solution.certificate.scale, solution.objective)


with_lists = pytest.mark.parametrize(
    "method", [m for m in names() if get(m).DERIVED or "neighbors" in get(m).PARAMETERS]
)
every_method = pytest.mark.parametrize("method", names())


# ---------------------------------------------------------------- reasons


def claims_less(edit: Edit) -> bool:
    """The edit weakens a claim: a larger gap or radius, a weaker status, or a parameter removed from `derived`."""
    if edit.field == "status":
        return edit.new != "CONVERGED"
    if edit.field == "derived":
        return set(edit.new or ()) <= set(edit.old)
    return edit.new is not None and edit.new > edit.old


def claims_nothing(edit: Edit) -> bool:
    """The edit removes a claim."""
    return edit.new is None


def is_beside(edit: Edit) -> bool:
    """The edit adds an unknown field, which programs ignore (RELEASING.md)."""
    return edit.kind == "unknown"


def is_of_the_run(edit: Edit) -> bool:
    """The field describes the run of the solver. It is no evidence, and `certify` ignores it (docs/duality.md)."""
    return True


RUN = ("solver", "n_iter", "notes", "undecided")
SIZES = ("gap", "rel_gap", "radius", "step_gap", "stationarity")
REASONS: dict[str, tuple[Callable[[Edit], bool], ...]] = {
    "": (is_beside,),
    "dual": (is_beside,),
    "derived": (claims_less, claims_nothing),
    **dict.fromkeys(RUN, (is_of_the_run,)),
    **dict.fromkeys(CLAIMS, (claims_nothing,)),
    **dict.fromkeys((*SIZES, "status"), (claims_less, claims_nothing)),
}


def has_a_reason(edit: Edit) -> bool:
    """Return True if the edit is harmless, judged by the name of its field."""
    return any(reason(edit) for reason in REASONS.get(edit.field.split(".")[0], ()))


# ---------------------------------------------------------------- or the edited file is true


def why_false(file: File, content: dict[str, Any]) -> str:
    """Return the reason why an edited file is false; empty if it is true. The function does not use `certify`."""
    method, of = content["method"], get(content["method"])
    X, y = np.array(content["X"]), np.array(content["y"])
    params = file.named(content)
    try:
        asked = of.instance(X, y, **params)
    except ValueError as error:
        return str(error)
    if wrong := another_list(file, content, asked):
        return wrong
    if content.get("status") == "CONVERGED" and of.CLAIM != "optimal":
        return "it claims an optimum"
    value = of.objective(asked, of.metric(asked, content["metric"]))
    claimed = content["objective"]
    if claimed is not None and abs(value - claimed) > 1e-6 * max(abs(value), file.scale):
        return f"its objective is {value}, it claims {claimed}"
    report = cvxml.check(method, X, y, content["metric"], diagnosed=False, **params)
    return "" if report.verdict is Verdict.CERTIFIED else str(report)


def another_list(file: File, content: dict[str, Any], asked: Any) -> str:
    """Return a message if a list of the file differs from the list made from its other fields; else empty."""
    of, params = get(content["method"]), content["params"]
    if content["neighbors"]:
        lists = [sorted(one.tolist()) for one in of.neighbor_lists(asked)]
        if lists != [sorted(one) for one in content["neighbors"]]:
            return "other neighbours"
    for name in file.made & set(params):
        own, made = params[name], of.stored(asked)[name]
        if name == "weights":  # they come from a solver, so their objective is compared with a tolerance
            left = weights_objective(asked.smooth, np.array(own)) / weights_objective(asked.smooth, asked.W)
            same = left <= 1 + 1e-6
        elif name in ("basis", "anchors"):
            same = np.shape(own) == np.shape(made) and np.allclose(own, made, rtol=1e-8)
        elif name == "triplets":  # in any order
            same = sorted(own) == sorted(made)
        elif name == "quadruplets":  # in the order of their weights
            same = own == made
        else:
            same = [sorted(row) for row in own] == [sorted(row) for row in made]
        if not same:
            return f"other {name}"
    return ""


# ---------------------------------------------------------------- the property


def judged(content: dict[str, Any], path: Path, exact: bool = False) -> Recertified | None:
    """Return the result of `certify` for a file; None if `certify` refuses the file with a message."""
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        return recertify(cvxml.load(path), 1e-6, exact)
    except ValueError:
        return None


def certified(content: dict[str, Any], path: Path, exact: bool = False) -> bool:
    """Return True if `certify` certifies a file."""
    found = judged(content, path, exact)
    return found is not None and found.verdict is Verdict.CERTIFIED


def holes(file: File, tried: Iterable[Edit], path: Path) -> list[str]:
    """Return a line for each edit that makes the file false and is still certified."""
    found = []
    for edit in tried:
        again = judged(edit.content, path)
        if again is None or again.verdict is not Verdict.CERTIFIED or has_a_reason(edit):
            continue
        # an edit of the dual variables leaves the metric and the problem unchanged
        duals = edit.field.startswith("dual")
        wrong = false_bound(file, again) if duals else why_false(file, edit.content)
        if wrong:
            found.append(f"{edit.field} {edit.kind}: {brief(edit.old)} -> {brief(edit.new)}: {wrong}")
    return found


def false_bound(file: File, again: Recertified) -> str:
    """Return a message if the dual variables give a lower bound above the objective of the metric; else empty."""
    bound = again.certificate.lower_bound
    above = bound > file.objective + 1e-9 * file.scale
    return f"the bound {bound} is above the objective {file.objective}" if above else ""


def brief(value: Any) -> str:
    """Return the start of a value as text."""
    return repr(value)[:60]


FEW = ("params", "y", "objective", "status")


@pytest.mark.quick(5)
@every_method
def test_a_parameter_a_label_and_a_claim_that_were_edited_are_noticed(method: str, tmp_path: Path) -> None:
    """Try a few edits for each method; the next test tries all of them."""
    file = saved(method)
    assert certified(file.content, tmp_path / "s.json")
    assert why_false(file, file.content) == ""
    tried = [
        edit
        for edit in edits(file.content, file.scale, few=1)
        if edit.field.split(".")[0] in FEW
        and (edit.kind == "up" or (edit.field, edit.kind) in (("y", "swapped"), ("status", "another word")))
    ]
    assert len(tried) > 4
    found = holes(file, tried, tmp_path / "s.json")
    assert found == [], "\n".join(found)


@pytest.mark.quick(13)
@every_method
def test_a_refusal_is_one_short_line(method: str, tmp_path: Path) -> None:
    """Each parameter in turn is a long text, and a text that a terminal would obey."""
    path, content = tmp_path / "s.json", saved(method).content
    for name in content["params"]:
        for text in ("l" * 10**5, "no\nCERTIFIED \x1b[2J\udc80\u202e"):
            path.write_text(json.dumps({**content, "params": {**content["params"], name: text}}))
            try:
                found = recertify(cvxml.load(path), 1e-6)
                assert found.verdict is not Verdict.CERTIFIED
                reason = found.reason
            except ValueError as error:
                reason = str(error)
            assert reason.isprintable()
            assert len(reason) < 1000


@pytest.mark.slow
@every_method
def test_no_file_is_certified_of_which_a_field_that_matters_was_edited(method: str, tmp_path: Path) -> None:
    file = saved(method)
    found = holes(file, edits(file.content, file.scale, few=3), tmp_path / "s.json")
    assert found == [], "\n".join(found)


@pytest.mark.slow
@with_lists
def test_no_file_with_given_lists_is_certified_of_which_a_field_was_edited(
    method: str, tmp_path: Path
) -> None:
    file = saved(method, given=True)
    assert file.content["derived"] == []
    assert certified(file.content, tmp_path / "s.json")
    found = holes(file, edits(file.content, file.scale, few=3), tmp_path / "s.json")
    assert found == [], "\n".join(found)


@every_method
def test_a_list_that_was_not_given_is_derived_or_stands_for_itself(method: str) -> None:
    """For a new method: add the parameter to `DERIVED`, or to `STATED` if it does not follow from other fields."""
    file = saved(method)
    example = next(each for each in get(method).EXAMPLES if each.use == "tested")
    lists = {
        name
        for name, value in file.content["params"].items()
        if isinstance(value, list) and name not in example.params
    }
    known = {*file.content["derived"], *STATED.get(method, ())}
    assert lists == known, (
        f"{method}: check {sorted(lists ^ known)} in saved files. If a parameter follows from other fields, add it to "
        "DERIVED and `derived` of the method; otherwise add it to STATED of this test"
    )


# ---------------------------------------------------------------- what is derived


EDITED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "plml-lam1": ("plml", lambda c: c["params"].update(lam1=1.1)),
    "plml-lam2": ("plml", lambda c: c["params"].update(lam2=90.0)),
    # the metric stays near its optimum after these small changes, but the bound of the weights reveals them
    "plml-lam1-little": ("plml", lambda c: c["params"].update(lam1=1 + 1e-5)),
    "plml-lam2-little": ("plml", lambda c: c["params"].update(lam2=100 * (1 + 1e-4))),
    "plml-graph": ("plml", lambda c: c["params"].update(graph_neighbors=5)),
    "plml-seed": ("plml", lambda c: c["params"].update(random_state=1)),
    "plml-anchors": ("plml", lambda c: c["params"]["anchors"][0].__setitem__(0, 0.0)),
    "plml-labels": ("plml", lambda c: c.update(y=swapped(c["y"]))),
    "mlr-labels": ("mlr", lambda c: c.update(y=swapped(c["y"]))),
    "lsml-labels": ("lsml", lambda c: c.update(y=swapped(c["y"]))),
    "lsml-seed": ("lsml", lambda c: c["params"].update(random_state=4)),
    "lsml-count": ("lsml", lambda c: c["params"].update(n_quadruplets=None)),
    "scml-count": ("scml", lambda c: c["params"].update(n_basis=None)),
    "scml-basis": ("scml", lambda c: c["params"]["basis"].reverse()),
    "lmnn-labels": ("lmnn", lambda c: c.update(y=swapped(c["y"]))),
}


@pytest.mark.quick(15)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("case", EDITED)
def test_what_was_derived_is_derived_again(case: str, exact: bool, tmp_path: Path) -> None:
    method, change = EDITED[case]
    content = json.loads(json.dumps(saved(method).content))
    change(content)
    assert why_false(saved(method), content) != ""
    assert not certified(content, tmp_path / "s.json", exact)


@pytest.mark.parametrize("method", [m for m in names() if get(m).DERIVED])
def test_a_file_that_does_not_say_what_was_derived_is_certified_for_its_lists_as_they_are(
    method: str, tmp_path: Path
) -> None:
    """The format of cvxml 0.2 lacks `derived`; the reason of the verdict then names the lists."""
    path = tmp_path / "s.json"
    content = {name: value for name, value in saved(method).content.items() if name != "derived"}
    for name in ("n_quadruplets", "n_basis"):  # the format of 0.2 did not hold these numbers
        if name in content["params"]:
            content["params"] = {**content["params"], name: None}
    if method == "lsml":
        content["params"] = {**content["params"], "random_state": 0}
    found = judged(content, path)
    assert found is not None
    assert found.verdict is Verdict.CERTIFIED
    for name in set(saved(method).content["derived"]) - {"targets", "triplets"}:
        assert name in found.reason
    # in such a file, too, n_neighbors decides the triplets
    if "triplets" in saved(method).content["derived"]:
        content["params"] = {**content["params"], "n_neighbors": content["params"]["n_neighbors"] + 1}
        assert not certified(content, path)


def test_an_optimum_is_not_claimed_where_a_stationary_metric_is_proved(tmp_path: Path) -> None:
    for method in (name for name in names() if get(name).CLAIM == "stationary"):
        found = judged({**saved(method).content, "status": "CONVERGED"}, tmp_path / "s.json")
        assert found is not None
        assert found.verdict is Verdict.REFUTED
        assert "CONVERGED" in found.reason


@pytest.mark.parametrize("gap", [0.0, 0.5, -0.5, -1.0, -1.5])
def test_a_gap_below_0_within_rounding_is_no_false_claim(gap: float, tmp_path: Path) -> None:
    """`solve` may write it, because a gap is rounded. gap: as a share of the rounding error."""
    whole = recertify(cvxml.load(written(saved("mlsvm").content, tmp_path / "s.json")), "normal").certificate
    proof = replace(whole, gap=gap * whole.rounding)
    least = _least(proof, 0.0)
    for stated, honest in ((proof.gap - proof.rounding, True), (-1e-6 * proof.objective, False)):
        assert (stated >= least["gap"]) == honest
        assert (stated / proof.scale >= least["rel_gap"]) == honest


@pytest.mark.parametrize("tol", [1e-6, 1e-300])
def test_the_reason_names_dual_variables_only_if_the_file_has_them(tol: float, tmp_path: Path) -> None:
    for method in ("lmnn", *(name for name in names() if get(name).CLAIM == "stationary")):
        content, path = saved(method).content, tmp_path / "s.json"
        path.write_text(json.dumps(content))
        found = cvxml.certify_solution(path, tol)
        assert (found.verdict is Verdict.CERTIFIED) is (tol == 1e-6), method
        assert ("dual variables" in found.reason) is bool(content["dual"]), method


@pytest.mark.parametrize(
    "derived", [None, "weights", [1], ["lam1"], ["relevant"], ["weights", "weights"], {"weights": True}]
)
def test_derived_is_a_list_of_parameters_that_can_be(derived: Any, tmp_path: Path) -> None:
    assert judged({**saved("plml").content, "derived": derived}, tmp_path / "s.json") is None
