"""Ordered lists of rules. The first rule that applies decides the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from cvxml.core.report import Verdict

Facts = TypeVar("Facts")


class Ruling(NamedTuple):
    """A verdict, its reasons, and the name of the rule that decided."""

    verdict: Verdict
    reasons: tuple[str, ...]
    rule: str = ""


@dataclass(frozen=True)
class Rule(Generic[Facts]):
    """A condition on facts, with the verdict and the reason if the condition holds.

    applies: the condition. reason: makes one sentence or several from the facts.
    """

    name: str
    applies: Callable[[Facts], object]
    verdict: Verdict
    reason: Callable[[Facts], str | tuple[str, ...]]  # one sentence or several


def decide(rules: Sequence[Rule[Facts]], facts: Facts) -> Ruling | None:
    """Return the ruling of the first rule that applies to `facts`, or None if no rule applies."""
    for rule in rules:
        if rule.applies(facts):
            reason = rule.reason(facts)
            return Ruling(rule.verdict, (reason,) if isinstance(reason, str) else reason, rule.name)
    return None
