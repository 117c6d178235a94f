"""`cvxml demo`, and `cvxml verify` for some methods."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from cvxml.cli import demo
from cvxml.oracle import verify
from tests.cli.commands import Cli

ROW = verify.Row(
    method="mlsvm",
    data="balance[100] z",
    shape=(100, 4),
    params="",
    objective=1.0,
    rel_gaps={"clarabel": 2e-11, "fast": 3e-7},
    seconds={"clarabel": 12.3, "fast": 0.04},
    verdicts={},
    agrees=True,
    why="",
)


def solved(monkeypatch: pytest.MonkeyPatch, *found: verify.Row) -> None:
    """These rows in place of the four problems, and no second act."""
    monkeypatch.setattr(verify, "verify", lambda chosen, solvers: iter(found))
    monkeypatch.setattr(demo, "_checked", lambda: iter(()))


def rows(out: str) -> list[list[str]]:
    """The words of the rows of the first act."""
    methods = tuple(f"   {method} " for method, _ in demo.PROBLEMS)
    return [line.split() for line in out.splitlines() if line.startswith(methods)]


@pytest.mark.slow
def test_the_demo_solves_refutes_names_and_draws(cli: Cli) -> None:
    answer = cli("demo")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert [row[-1] for row in rows(answer.out)] == ["yes"] * 4
    assert "refuted" in answer.out
    assert "lam ||A||^2" in answer.out
    assert Path(demo.OUT).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("agrees", "code", "word"), [(True, 0, "yes"), (False, 1, "NO")])
def test_a_disagreement_is_an_exit_code(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, agrees: bool, code: int, word: str
) -> None:
    solved(monkeypatch, ROW, dataclasses.replace(ROW, agrees=agrees, why="made up"), ROW)
    monkeypatch.setattr(demo, "_drawn", lambda place: "")
    answer = cli("demo")
    assert answer.code == code
    assert [row[-1] for row in rows(answer.out)] == ["yes", word, "yes"]
    assert ("made up" in answer.out) is not agrees
    assert (
        "certified" in answer.out.partition("agree")[2]
    ) is agrees  # claimed below the rows only if it is true
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.slow
def test_the_picture_of_the_demo_is_replaced_and_a_foreign_one_is_not(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved(monkeypatch)
    assert cli("demo").code == 0
    assert Path(demo.OUT).read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(demo, "_drawn", lambda place: "")
    assert cli("demo").code == 0
    Path("mine.png").write_bytes(b"\x89PNG of another program")
    answer = cli("demo", "--out", "mine.png")
    assert (answer.code, answer.out) == (2, "")
    assert "--force" in answer.err
    assert cli("demo", "--out", "mine.png", "--force").code == 0
    assert cli("demo", "--out", "mine.gif").code == 2


def test_without_matplotlib_the_rest_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    solved(monkeypatch, ROW)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    answer = cli("demo")
    assert answer.code == 0
    assert rows(answer.out)
    assert "pip install" in answer.out
    assert not Path(demo.OUT).exists()


def test_verify_takes_methods(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def nothing(say: object, chosen: list[verify.Case]) -> object:
        asked.append([case.method for case in chosen])
        return iter(())

    monkeypatch.setattr(verify, "verify", nothing)
    answer = cli("verify", "lmnn", "nca")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 100
    assert cli("verify", "lmnn:squared_hinge").code == 0
    assert list(map(set, asked)) == [{"lmnn", "lmnn:squared_hinge", "nca"}, {"lmnn:squared_hinge"}]
    assert cli("verify", "nca", "lmnn", "nca").code == 0
    assert asked[2] == asked[0]  # a method that is given twice is verified once
    answer = cli("verify", "lmnn", "lmn")
    assert (answer.code, answer.out) == (2, "")
    assert "'lmnn'" in answer.err
