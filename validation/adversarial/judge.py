"""An instance and its candidates, attacked."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cvxml.methods import get
from validation.adversarial.attack import Attack
from validation.adversarial.attack_local import LocalAttack
from validation.adversarial.attack_step import StepAttack
from validation.adversarial.exact import precision
from validation.adversarial.instances import METHODS, instance

CANDIDATES = 13
STEPS = {
    "mlsvm": 2000,
    "kernel_mlsvm": 2000,
    "itml": 100,
}  # most iterations of our own solver: seconds, not minutes


class Outcome(NamedTuple):
    """One candidate: what it was, what was said, and what is wrong with that."""

    method: str
    family: str
    seed: int
    what: str
    tol: str
    verdict: str
    wrong: list[str]


def attacked(method: str, seed: int, count: int = CANDIDATES) -> list[Outcome]:
    """All candidates of the seed-th instance of a method."""
    given, rng = instance(method, seed), np.random.default_rng([seed, METHODS.index(method), 1])
    attack = {"glml": LocalAttack, "ssvm": StepAttack, "nca": StepAttack}.get(given.id, Attack)
    with warnings.catch_warnings(), np.errstate(all="ignore"), precision(), remembered(given.id):
        warnings.simplefilter("ignore")
        found = list(attack(given, rng).outcomes(count))
    return [Outcome(method, given.family, seed, *rest) for rest in found]


@contextlib.contextmanager
def remembered(name: str) -> Iterator[None]:
    """`check` solves anew for every candidate: the same answer is taken again."""
    module: Any = get(name)
    own, before, kept = vars(module).get("solve"), module.solve, {}
    steps = {"max_iter": STEPS[name]} if name in STEPS else {}

    def solve(given: Any, *, tol: Any = 1e-6, **rest: Any) -> Any:
        if "init" in rest or rest.get("max_iter") is not None:
            return before(given, tol=tol, **rest)
        if tol not in kept:
            kept[tol] = before(given, tol=tol, **{**rest, **steps})
        return kept[tol]

    module.solve = solve
    try:
        yield
    finally:
        if own is None:
            del module.solve
        else:
            module.solve = own
