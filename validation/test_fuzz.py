"""validation/fuzz.py finds no fault in a few hundred mutations, and finds faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.oracle.cases import load_cases
from validation import fuzz


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the run to four methods and one case, which are quick."""
    monkeypatch.setattr(fuzz, "names", lambda: ["mlsvm", "rca", "mmc", "mlkr"])
    monkeypatch.setattr(fuzz, "cases", lambda: load_cases(pattern="rca-iris"))


@pytest.mark.slow
def test_mutations_of_every_method_have_no_fault() -> None:
    assert fuzz.run(5000, seed=2)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_a_few_mutations_have_no_fault() -> None:
    outcomes, faults = fuzz.run(150, seed=2)
    assert faults == []
    assert sum(outcomes.values()) == 150
    assert {reader for reader, _ in outcomes} == set(fuzz.READERS)
    assert {outcome for _, outcome in outcomes} >= {"read", "refused", "certified", "proved"}


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_a_mutation_is_the_same_again() -> None:
    assert (
        fuzz.run(8, seed=3, first=40)[0] + fuzz.run(8, seed=3, first=48)[0]
        == fuzz.run(16, seed=3, first=40)[0]
    )


def fails(*_: Any, **__: Any) -> Any:
    raise TypeError("planted")


def eats(*_: Any, **__: Any) -> Any:
    bytearray(3 * 10**8)[::4096] = b"x" * len(range(0, 3 * 10**8, 4096))
    raise ValueError("planted")


def believes(recertify: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `recertify` that certifies every file that it does not refuse."""

    def instead(*given: Any) -> Any:
        found = recertify(*given)
        object.__setattr__(found, "verdict", Verdict.CERTIFIED)
        return found

    return instead


PLANTED: dict[str, tuple[str, Any, str, Any, int]] = {
    "an exception": ("load", cvxml, "load", lambda load: fails, 10),
    "memory": ("load", cvxml, "load", lambda load: eats, 2),
    "a false certificate": ("certify", fuzz, "recertify", believes, 100),
    "a forged line": (
        "recompute",
        fuzz.recompute.referee,
        "reason",
        lambda reason: lambda error: "none\nproved",
        20,
    ),
    "a false verdict": (
        "judge",
        fuzz.referee,
        "verdict_on",
        lambda verdict: lambda *_: ("certified", "planted"),
        20,
    ),
}


@pytest.mark.quick(1)
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, module, function, change, n = PLANTED[name]
    fuzz.prepare()
    monkeypatch.setattr(fuzz, "TURNS", (reader,))
    monkeypatch.setattr(module, function, change(getattr(module, function)))
    faults = fuzz.run(n)[1]
    assert faults
    assert {fault.reader for fault in faults} == {reader}


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_the_page_counts_every_mutation_and_shows_every_fault() -> None:
    outcomes, _ = fuzz.run(30)
    fault = fuzz.Fault(7, "judge", "rca-iris", "edit", "a | b\n\x1b")
    page = fuzz.page(30, 0, outcomes, [fault], 1.0, 100)
    assert page.isascii()
    assert "\x1b" not in page
    assert "rca-iris" in page
    for (_, outcome), count in outcomes.items():
        assert f"{count} {outcome}" in page
