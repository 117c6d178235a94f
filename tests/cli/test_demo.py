"""`cvxml demo`, and `cvxml verify` for some methods."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from cvxml import api
from cvxml.cli import demo
from cvxml.oracle import verify
from tests.cli.commands import Cli

SMALL = (("mlsvm", "rings", 20, {}), ("ssvm", "rings", 20, {"C": 0.5, "n_neighbors": 1}))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small problems in place of the four."""
    monkeypatch.setattr(demo, "PROBLEMS", SMALL)


def rows(out: str) -> list[list[str]]:
    """The words of the rows of the first act."""
    return [line.split() for line in out.splitlines() if line.strip().startswith(("mlsvm ", "ssvm "))]


@pytest.mark.usefixtures("small")
def test_the_demo_solves_refutes_names_and_draws(cli: Cli) -> None:
    answer = cli("demo")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert [row[-1] for row in rows(answer.out)] == ["yes", "yes"]
    assert "refuted" in answer.out
    assert "lam ||A||^2" in answer.out
    assert Path(demo.OUT).read_bytes().startswith(b"\x89PNG")
    assert cli("demo").code == 0  # its own picture is replaced


@pytest.mark.usefixtures("small")
def test_a_foreign_picture_is_not_replaced(cli: Cli) -> None:
    Path("mine.png").write_bytes(b"\x89PNG of another program")
    answer = cli("demo", "--out", "mine.png")
    assert (answer.code, answer.out) == (2, "")
    assert "--force" in answer.err
    assert cli("demo", "--out", "mine.gif").code == 2


@pytest.mark.usefixtures("small")
def test_a_disagreement_is_an_exit_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = api.solve

    def worse(*given: object, solver: str, **params: object) -> object:
        solution = solve(*given, solver=solver, **params)  # type: ignore[arg-type]
        if solver == "fast":
            return solution
        certificate = dataclasses.replace(solution.certificate, lower_bound=solution.objective + 1)
        return dataclasses.replace(solution, certificate=certificate)

    monkeypatch.setattr("cvxml.solve", worse)
    monkeypatch.setattr(demo, "_checked", lambda: iter(()))
    answer = cli("demo")
    assert answer.code == 1
    assert rows(answer.out)[0][-1] == "NO"


@pytest.mark.usefixtures("small")
def test_without_matplotlib_the_rest_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    monkeypatch.setattr(demo, "_checked", lambda: iter(()))
    answer = cli("demo")
    assert answer.code == 0
    assert "pip install" in answer.out
    assert not Path(demo.OUT).exists()


def test_verify_takes_methods(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def nothing(say: object, chosen: list[verify.Case]) -> object:
        asked.append({case.method for case in chosen})
        return iter(())

    monkeypatch.setattr(verify, "verify", nothing)
    assert cli("verify", "lmnn", "nca").code == 0
    assert cli("verify", "lmnn:squared_hinge").code == 0
    assert asked == [{"lmnn", "lmnn:squared_hinge", "nca"}, {"lmnn:squared_hinge"}]
    answer = cli("verify", "lmn")
    assert (answer.code, answer.out) == (2, "")
    assert "'lmnn'" in answer.err
