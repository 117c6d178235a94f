"""`cvxml verify`: agrees on what is right, and says so when one of the three ways is broken on purpose."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from cvxml import api, datasets
from cvxml.cli import main as cli
from cvxml.core.example import Named, verified
from cvxml.methods import get, names
from cvxml.oracle import verify
from cvxml.oracle.verify import Case, as_line, as_sum, cases

SMALL = (
    Case("mlsvm", verified("iris", 40)),
    Case("kernel_mlsvm", verified("rings", 20, raw=True)),
)


def test_every_method_and_the_whole_of_iris_and_wine_are_verified() -> None:
    assert {case.method for case in cases()} == set(names())
    assert {Named("iris", None, True), Named("wine", None, False)} <= {c.example.points for c in cases()}


def test_it_agrees_and_tells_its_progress() -> None:
    said: list[str] = []
    rows = list(verify.verify(said.append, SMALL))
    assert all(row.agrees for row in rows)
    assert len(said) == len(SMALL) * 3
    assert "2 of 2" in as_sum(rows)
    assert all(f"{gap:.0e}" in as_line(row) for row in rows for gap in row.rel_gaps.values())
    assert max(len(line) for row in rows for line in (*verify.HEAD.splitlines(), as_line(row))) <= 100
    assert all(set(row.rel_gaps) == {"clarabel", "scs", "fast"} for row in rows)
    (row,) = verify.verify(chosen=SMALL[:1], solvers=("clarabel", "fast"))
    assert row.agrees
    assert set(row.rel_gaps) == set(row.verdicts) == {"clarabel", "fast"}


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["clarabel", "fast"])
def test_a_wrong_metric_is_noticed(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    solve = api.solve

    def sabotage(method: str, X: Any, y: Any, **params: Any) -> Any:
        solution = solve(method, X, y, **params)
        if params.get("solver") == broken:
            solution = dataclasses.replace(solution, metric=1.1 * solution.metric)
        return solution

    monkeypatch.setattr(verify.api, "solve", sabotage)
    rows = list(verify.verify(chosen=SMALL[:1]))
    assert not rows[0].agrees
    assert broken in rows[0].why
    assert "DISAGREE" in as_line(rows[0])
    assert "0 of 1" in as_sum(rows)


def test_a_wrong_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    certify = get("mlsvm").certify

    def too_high(*arguments: Any) -> Any:
        proof = certify(*arguments)
        return dataclasses.replace(proof, lower_bound=proof.objective + 1e-9)

    monkeypatch.setattr(get("mlsvm"), "certify", too_high)
    rows = list(verify.verify(chosen=SMALL[:1]))
    assert not rows[0].agrees
    assert "above" in rows[0].why


def test_the_exit_code_says_whether_they_agree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = list(verify.verify(chosen=SMALL[:1]))
    bad = [dataclasses.replace(good[0], agrees=False, why="made up")]
    for rows, code in ((good, cli.CERTIFIED), (bad, cli.REFUTED)):
        monkeypatch.setattr(verify, "verify", lambda say, chosen, rows=rows: iter(rows))
        assert cli.run(["verify", "--json"]) == code
        assert json.loads(capsys.readouterr().out)[0]["agrees"] is (code == cli.CERTIFIED)


def test_each_row_is_printed_as_it_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(verify.verify(chosen=SMALL[:1]))
    seen = []

    def slowly(say: object, chosen: object) -> Iterator[verify.Row]:
        yield rows[0]
        seen.append(capsys.readouterr().out)
        yield rows[0]

    monkeypatch.setattr(verify, "verify", slowly)
    assert cli.run(["verify"]) == cli.CERTIFIED
    assert seen[0].splitlines() == [*verify.HEAD.splitlines(), as_line(rows[0])]
    assert "2 of 2" in capsys.readouterr().out.splitlines()[-1]


def test_a_metric_that_is_not_proved_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap of 1e-4 is enough for a general solver, and too large for ours."""
    solve = api.solve

    def sabotage(method: str, X: Any, y: Any, **params: Any) -> Any:
        solution = solve(method, X, y, **params)
        if params.get("solver") == "fast":
            worse = dataclasses.replace(solution.certificate, gap=1e-4 * solution.certificate.scale)
            solution = dataclasses.replace(solution, certificate=worse)
        return solution

    monkeypatch.setattr(verify.api, "solve", sabotage)
    (row,) = verify.verify(lambda _: None, SMALL[:1])
    assert not row.agrees
    assert "fast" in row.why
    assert "not certified" in row.why


@pytest.mark.slow
def test_no_solver_but_those_of_the_table_is_run() -> None:
    """Nor the search for the global optimum of gerrymandering, which may take minutes."""
    (case,) = (case for case in cases() if case.method == "ssvm" and "rings" in str(case.example[0]))
    (row,) = verify.verify(chosen=[case])
    assert set(row.seconds) == {"fast", "clarabel", "scs"}
    (alone,) = (case for case in cases() if case.method == "mlkr")
    (row,) = verify.verify(chosen=[alone])
    assert set(row.seconds) == {"fast"}


def test_a_method_without_another_solver_is_not_said_to_agree() -> None:
    (row,) = verify.verify(chosen=[case for case in verify.cases() if case.method == "mlkr"][:1])
    assert row.agrees
    assert set(row.rel_gaps) == {"fast"}
    (example,) = [each for each in get("mlkr").EXAMPLES if each.use == "verified"][:1]
    solution = api.solve("mlkr", *datasets.of_example(example), **example.params)
    # of stationarity, not the gap to the bound 0
    assert row.rel_gaps["fast"] == pytest.approx(solution.certificate.stationarity.relative)
    assert 0 < row.rel_gaps["fast"] <= 1e-6
    assert "agree" not in verify.as_line(row).split()
    assert "0 of 0 cases agree" in verify.as_sum([row])
    assert "1 certified" in verify.as_sum([row])
