"""What implementations of gerrymandering compute instead of (10): the misreadings that `check` can name."""

from __future__ import annotations

from collections.abc import Callable

from cvxml.methods.ssvm.instance import instance
from cvxml.variant import Question, Variant, changed


def _C_times(factor: Callable[[int], float]) -> Callable[[Question], float]:
    def value(question: Question) -> float:
        given = instance(question.X, question.y, **question.params)
        return given.C * factor(len(given.X))

    return value


VARIANTS: dict[str, Variant] = {
    "half": Variant("1/2 ||W||^2 where the paper has ||W||^2", changed("C", _C_times(lambda n: 2.0))),
    "mean": Variant("C/n sum_i L_i where the paper has C sum_i L_i", changed("C", _C_times(lambda n: 1 / n))),
}
