"""validation/fuzz.py finds no fault in a few hundred mutations, and finds faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import cvxml
from cvxml.core.report import Verdict
from validation import fuzz


def test_a_few_hundred_mutations_have_no_fault() -> None:
    outcomes, faults = fuzz.run(400, seed=2)
    assert faults == []
    assert sum(outcomes.values()) == 400
    assert {reader for reader, _ in outcomes} == set(fuzz.READERS)
    assert {outcome for _, outcome in outcomes} >= {"read", "refused", "certified", "proved"}


def test_a_mutation_is_the_same_again() -> None:
    assert (
        fuzz.run(20, seed=3, first=40)[0] + fuzz.run(20, seed=3, first=60)[0]
        == fuzz.run(40, seed=3, first=40)[0]
    )


def fails(*_: Any, **__: Any) -> Any:
    raise TypeError("planted")


def eats(*_: Any, **__: Any) -> Any:
    bytearray(3 * 10**8)[::4096] = b"x" * len(range(0, 3 * 10**8, 4096))
    raise ValueError("planted")


def believes(recertify: Callable[..., Any]) -> Callable[..., Any]:
    """A `recertify` that certifies every file that it does not refuse."""

    def instead(*given: Any) -> Any:
        found = recertify(*given)
        object.__setattr__(found, "verdict", Verdict.CERTIFIED)
        return found

    return instead


PLANTED: dict[str, tuple[str, Any, str, Any]] = {
    "an exception": ("load", cvxml, "load", lambda load: fails),
    "memory": ("load", cvxml, "load", lambda load: eats),
    "a false certificate": ("certify", fuzz, "recertify", believes),
    "a forged line": ("recompute", fuzz.recompute, "reason", lambda reason: lambda error: "none\nproved"),
    "a false verdict": (
        "judge",
        fuzz.referee,
        "verdict_on",
        lambda verdict: lambda *_: ("certified", "planted"),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, module, function, change = PLANTED[name]
    fuzz.prepare()
    monkeypatch.setattr(fuzz, "TURNS", (reader,))
    monkeypatch.setattr(module, function, change(getattr(module, function)))
    faults = fuzz.run(5 if name == "memory" else 200)[1]
    assert faults
    assert {fault.reader for fault in faults} == {reader}


def test_the_page_counts_every_mutation_and_shows_every_fault() -> None:
    outcomes, _ = fuzz.run(30)
    fault = fuzz.Fault(7, "judge", "rca-iris", "edit", "a | b\n\x1b")
    page = fuzz.page(30, 0, outcomes, [fault], 1.0, 100)
    assert page.isascii()
    assert "\x1b" not in page
    assert "rca-iris" in page
    for (_, outcome), count in outcomes.items():
        assert f"{count} {outcome}" in page
