"""Cases drawn anew from a seed: the golden cases' problems with other points, so that no stored answer is right.

A case keeps its labels, its parameters and its lists of neighbours, pairs or triplets. Each feature of each point gets
a normal random number added, a fraction of the feature's standard deviation. Every problem so drawn is solved here, and
is kept if its solution is certified. Answers are then judged by `check`, as those to the golden cases are.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cvxml.api import solve
from cvxml.core.inputs import check_count
from cvxml.core.result import Status
from cvxml.oracle.cases import Case

SPREAD = 0.3  # of the standard deviation of a feature
DIGITS = 3  # of that deviation to which the points are rounded
DRAWS = 5  # for each case, until the solution of one is certified
# what is still true of a case with other points; cases with other flags, such as ties, are not drawn anew
STILL_TRUE = {"offset", "scales", "soft labels", "single-class", "underflow"}


def fresh_cases(
    seed: int, cases: Sequence[Case], say: Callable[[str], None] = lambda text: None
) -> list[Case]:
    """For each problem among `cases` whose flags stay true (`STILL_TRUE`), one with other points; parts are left out.

    The same seed draws the same cases on every machine. Raises ValueError for a seed that is no integer of at least 0,
    where no case can be drawn anew, and where no certified solution is found.
    """
    seed = check_count(seed, "seed", 0)
    kept = [case for case in cases if case.kind == "problem" and STILL_TRUE.issuperset(case.flags)]
    if not kept:
        raise ValueError(
            "seed: none of these cases can be drawn anew; choose problems whose flags are none, or among "
            f"{', '.join(sorted(STILL_TRUE))}"
        )
    found = []
    for case in kept:
        say(f"drawing {case.id} ...")
        found.append(_fresh(seed, case))
    return found


def _fresh(seed: int, case: Case) -> Case:
    for draw in range(DRAWS):
        X = _points(random.Random(f"{seed} {case.id} {draw}"), case.X)
        drawn = _with_points(case, X, seed)
        if _is_certified(drawn):
            return drawn
    raise ValueError(f"seed {seed}: no problem like {case.id} with a certified solution in {DRAWS} draws")


def _points(stream: random.Random, X: Any) -> list[list[float]]:
    """Points next to those of X (n, d), with decimals enough for the size of each feature."""
    sizes = [float(size) or 1.0 for size in np.std(np.array(X, dtype=float), axis=0)]
    decimals = [DIGITS - math.floor(math.log10(size)) for size in sizes]
    return [
        [
            round(value + SPREAD * size * stream.gauss(0, 1), places)
            for value, size, places in zip(row, sizes, decimals, strict=True)
        ]
        for row in X
    ]


def _with_points(case: Case, X: list[list[float]], seed: int) -> Case:
    new: dict[str, Any] = {
        "id": f"{case.id}-{seed}",
        "title": f"{case.id} with other points, drawn from seed {seed}",
        "inputs": {**case.inputs, "X": X},
    }
    same = {name: case.content[name] for name in ("kind", "formula", "asks")}
    return replace(case, **new, content={**new, **same})  # without the stored proof


def _is_certified(case: Case) -> bool:
    """Whether our own solver finds a solution, and the lower bound proves it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status says it
        try:
            solution = solve(case.formula, case.X, case.y, **case.params)
        except ValueError:  # these points have no optimum, for example
            return False
    return solution.status in (Status.CONVERGED, Status.STATIONARY)
