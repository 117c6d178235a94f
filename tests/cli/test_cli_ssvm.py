"""The command line on a method that is not convex: solve, certify, check, evaluate, tampered files."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.result import Solution
from tests.cli.commands import Cli, X, Y, as_json, refused


@cache
def solved() -> Solution:
    return cvxml.solve("ssvm", X, Y, C=0.2)


@pytest.fixture
def saved() -> dict[str, Any]:
    """The content of a file that `solve --out` writes from data.json."""
    content: dict[str, Any] = as_json(solved().to_dict())
    return content


def written(cli: Cli, *options: str) -> dict[str, Any]:
    """The content of s.json, which `solve --out` wrote, once what it printed is looked at."""
    answer = cli("solve", "ssvm", "data.json", "--C", "0.2", "--out", "s.json", *options)
    assert answer.code == 0, answer.err
    assert "stationary" in answer.out
    assert "optimal" not in answer.out
    content: dict[str, Any] = json.loads(Path("s.json").read_text(encoding="utf-8"))
    return content


def test_solve_is_the_python_function(cli: Cli, saved: dict[str, Any]) -> None:
    assert written(cli) == saved
    assert cli("certify", "s.json").code == 0


@pytest.mark.slow
def test_all_starts_are_those_of_the_python_function(cli: Cli) -> None:
    starts = ["zero", "identity", "relieff", "random"]
    solution = cvxml.solve("ssvm", X, Y, C=0.2, init=starts)
    assert written(cli, "--init", "all") == as_json(solution.to_dict())
    assert cli("certify", "s.json").code == 0


@pytest.mark.slow
def test_check_and_its_exit_codes(cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", saved["metric"])
    np.save(tmp_path / "2W.npy", 2 * np.array(saved["metric"]))
    given = ("check", "ssvm", "data.json", "--C", "0.2", "--metric")
    assert cli(*given, "W.npy").code == 0
    assert cli(*given, "2W.npy").code == 1
    assert cli(*given, "W.npy", "--claim", "optimal").code == 3
    assert refused(cli(*given, "W.npy", "--claim", "best"))
    assert refused(cli(*given, "W.npy", "--n-neighbors", "14"))
    report = json.loads(cli(*given, "2W.npy", "--json").out)
    assert report["witness"]["better_by"] > 0
    assert report["step_gap"] > report["witness"]["better_by"] / 2


def test_a_loss_matrix_comes_from_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loss.json").write_text("[[0, 2], [1, 0]]", encoding="utf-8")
    answer = cli("solve", "ssvm", "data.json", "--loss-matrix", "loss.json", "--json")
    assert json.loads(answer.out)["params"]["loss_matrix"] == [[0, 2], [1, 0]]
    (tmp_path / "loss.json").write_text("[[0, 2], [0, 0]]", encoding="utf-8")
    assert refused(cli("solve", "ssvm", "data.json", "--loss-matrix", "loss.json"))


def test_evaluate_is_the_python_function(cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", saved["metric"])
    answer = cli("evaluate", "ssvm", "data.json", "--metric", "W.npy", "--C", "0.2", "--json")
    assert json.loads(answer.out) == as_json(cvxml.evaluate("ssvm", X, Y, saved["metric"], C=0.2).to_dict())


Change = Callable[[dict[str, Any]], object]
TAMPERED: dict[str, tuple[set[int], Change]] = {
    "objective-lower": ({1}, lambda c: c.update(objective=c["objective"] - 1e-6)),
    "bound-higher": ({1}, lambda c: c.update(lower_bound=1e-6)),
    "step-bound-higher": ({1}, lambda c: c.update(step_lower_bound=c["objective"] + 1e-6)),
    "metric-scaled": ({1}, lambda c: c.update(metric=(1.01 * np.array(c["metric"])).tolist())),
    "metric-scaled-unclaimed": (
        {3},
        lambda c: c.update(
            metric=(1.01 * np.array(c["metric"])).tolist(),
            objective=None,
            step_lower_bound=None,
            step_gap=None,
            gap=None,
            rel_gap=None,
        ),
    ),
    "metric-indefinite": ({1}, lambda c: c.update(metric=(-np.array(c["metric"])).tolist())),
    "C-other": ({1}, lambda c: c["params"].update(C=0.3)),
    "without-C": ({2}, lambda c: c["params"].pop("C")),
    "dual-short": ({2}, lambda c: c["dual"].update(q=c["dual"]["q"][1:])),
    "dual-index-above": ({2}, lambda c: c["dual"]["q_index"][0].__setitem__(1, 14)),
    "dual-not-a-number": ({2}, lambda c: c["dual"]["q"].__setitem__(0, None)),
    "label-changed": ({1, 3}, lambda c: c["y"].__setitem__(0, 1 - c["y"][0])),
    "loss-negative": ({2}, lambda c: c["params"].update(loss_matrix=[[0, -1], [1, 0]])),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", TAMPERED)
def test_a_tampered_file_does_not_pass(cli: Cli, saved: dict[str, Any], tmp_path: Path, kind: str) -> None:
    codes, change = TAMPERED[kind]
    change(saved)
    (tmp_path / "t.json").write_text(json.dumps(saved), encoding="utf-8")
    assert cli("certify", "t.json").code in codes
