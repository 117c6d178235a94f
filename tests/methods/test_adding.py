"""A method that is added is found everywhere: FrobMetric again, by another name and with a parameter that no other has.

It is added as CONTRIBUTING.md says, one file and one line of the registry, and nothing else is told of it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.cli.main import _parser
from cvxml.core.example import verified
from cvxml.oracle import verify
from tests.cli.commands import Cli
from validation import recompute
from validation.benchmarks import convex, vectorised

FILE = Path(cvxml.__file__).parent / "methods" / "frobmetric.py"
methods = import_module("cvxml.methods")  # as an attribute of the package it is a function
WINE = ("wine", "--standardize", "--strength", "3")
X, Y = datasets.of_example(verified("wine"))


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    source = FILE.read_text(encoding="utf-8").replace("frobmetric", "toy")
    folder = tmp_path / "methods"
    folder.mkdir()
    (folder / "toy.py").write_text(re.sub(r'(?<!order=")\bC\b', "strength", source), encoding="utf-8")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(folder)])
    monkeypatch.setitem(methods.METHODS, "toy", "cvxml.methods.toy:METHOD")
    yield
    sys.modules.pop("cvxml.methods.toy", None)


def test_the_command_line_has_it_and_its_parameters(cli: Cli) -> None:
    assert "toy" in cvxml.list_methods()
    assert re.search(r"^  toy +FrobMetric", cli("list").out, flags=re.MULTILINE)
    shown = cli("show", "toy").out
    assert "(strength/m) sum_t xi_t" in shown
    assert "strength: weight of the mean loss, > 0 (default 1)" in shown
    said = " ".join(cli("solve", "toy", "--help").out.split())
    assert "--strength X weight of the mean loss, > 0 (default 1)" in said
    assert "--lam" not in said
    assert "toy" in " ".join(cli("check", "toy", "--help").out.split())
    assert any("--strength" in each.format_help() for each in _parser()._subparsers._actions[-1].choices.values())  # type: ignore[union-attr]  # fmt: skip
    assert "frobmetric has no parameter 'strength'" in cli("solve", "frobmetric", *WINE).err


@pytest.mark.slow
def test_it_is_solved_judged_and_certified_from_the_shell(cli: Cli) -> None:
    answer = cli("solve", "toy", *WINE, "--out", "s.json", "--json")
    known = cvxml.solve("frobmetric", X, Y, C=3.0)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-9)
    assert cli("certify", "s.json").code == 0
    np.save("m.npy", known.metric)
    assert cli("check", "toy", *WINE, "--metric", "m.npy").code == 0
    assert cli("evaluate", "toy", *WINE, "--metric", "m.npy").code == 0
    np.save("m.npy", cvxml.solve("frobmetric", X, Y, C=1.5).metric)
    refuted = cli("check", "toy", *WINE, "--metric", "m.npy")
    assert refuted.code == 1
    assert "the method has 1/2" in refuted.out  # the misreading


def test_it_is_verified() -> None:
    own = [case for case in verify.cases() if case.method == "toy"]
    assert len(own) == 2
    (row,) = verify.verify(chosen=[verify.Case("toy", verified("iris", 24))])
    assert row.agrees, row.why


def test_it_is_timed() -> None:
    assert [each.points.name for method, each in convex.examples() if method == "toy"] == ["iris", "wine"]
    parts = [task.method for task in convex.tasks(False) if task.method.startswith("toy")]
    assert parts == ["toy, cvxpy", "toy, cvxpy", "toy, growth", "toy, growth"]
    assert [rival.name for rival in vectorised.rivals("toy", X, Y)] == [
        f"cvxpy, {solver}, row by row" for solver in ("CLARABEL", "SCS")
    ]


def test_what_is_apart_by_intent_does_not_know_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The checker that imports nothing of the package, and so has its own few lines for every method."""
    cvxml.solve("toy", X, Y).save(tmp_path / "s.json")
    assert not recompute.main(str(tmp_path / "s.json"))
    assert "toy" in "".join(capsys.readouterr())
