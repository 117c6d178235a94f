"""Answers of two copies of the repository side by side: here, this one twice, and stand-ins that answer wrongly."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from validation.benchmarks import verdicts
from validation.benchmarks.versions import ROOT, worker


@pytest.mark.slow
def test_a_copy_beside_itself_has_no_difference() -> None:
    processes = [worker(ROOT, verdicts.WORKER) for _ in range(2)]
    try:
        solved: Counter[str] = Counter()
        for method, seed in (("gmml", 0), ("lmnn", 1), ("mmc:diagonal", 2), ("itml", 3), ("nca", 5)):
            _, kind, interval, metric = verdicts.asked(processes[0], "solve", method, seed, 5.0, None)
            if method != "nca":
                assert kind == "global"
                assert interval[0] <= interval[1] + interval[2]
                assert verdicts.asked(processes[0], "check", method, seed, 5.0, metric) == "certified"
            assert list(verdicts.differences(processes, method, seed, solved)) == []
        assert solved == {"solved": 5}
    finally:
        for process in processes:
            process.communicate()


@pytest.mark.parametrize(
    ("other", "this", "wrong"),
    [("certified", "refuted", True), ("refuted", "certified", True), ("certified", "inconclusive", False)],
)
def test_a_verdict_that_contradicts_the_other_is_wrong(
    other: str, this: str, wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = ["CONVERGED", "global", [1.0, 1.0, 0.0], [[1.0]]]

    def asked(verdict: str, what: str, *question: Any) -> Any:
        return solved if what == "solve" else verdict

    monkeypatch.setattr(verdicts, "asked", asked)
    found = list(verdicts.differences([other, this], "lmnn", 0, Counter()))  # type: ignore[list-item]
    assert [(each.other, each.this, each.wrong) for each in found] == [(other, this, wrong)] * 4


def test_intervals_are_apart_only_beyond_their_rounding() -> None:
    assert verdicts.apart([0.0, 1.0, 0.0], [1.5, 2.0, 0.0])
    assert verdicts.apart([1.5, 2.0, 0.0], [0.0, 1.0, 0.0])
    assert not verdicts.apart([0.0, 1.0, 0.25], [1.5, 2.0, 0.25])
    assert not verdicts.apart([0.0, 1.0, 0.0], [0.5, 0.6, 0.0])


@pytest.mark.parametrize(("method", "wrong"), [("lmnn", True), ("plml", False)])
def test_optima_of_problems_with_weights_that_are_solved_for_may_differ(
    method: str, wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(interval: list[float], what: str, *question: Any) -> Any:
        return ["CONVERGED", "global", interval, [[1.0]]] if what == "solve" else "certified"

    monkeypatch.setattr(verdicts, "asked", asked)
    both = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]
    (found,) = verdicts.differences(both, method, 0, Counter())  # type: ignore[arg-type]
    assert found.what == "interval"
    assert found.wrong is wrong
