"""Draw new problems from a seed: the golden cases with other points, so that stored answers do not fit.

A case keeps its labels, its parameters and its lists of neighbours, pairs or triplets. Normal noise is added to each
entry of X. Its standard deviation is `SPREAD` times that of the feature, or `SPREAD` for a constant feature. Our own
solver solves each new problem, and the problem is kept if the solution is certified. `check` then judges the answers,
as for the golden cases.
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

SPREAD = 0.3  # standard deviation of the noise, as a share of the feature's standard deviation
DIGITS = 3  # decimal places of the points after the leading digit of that deviation
DRAWS = 5  # attempts for each case to find a problem with a certified solution
# flags of a case that stay true with other points, and flags that may become false, so that a drawn case loses them;
# cases with another flag, such as ties, are left out
STILL_TRUE = {"offset", "scales", "soft labels", "single-class", "underflow"}
MAY_VANISH = {"rank deficient", "not unique"}


def fresh_cases(
    seed: int, cases: Sequence[Case], say: Callable[[str], None] = lambda text: None
) -> list[Case]:
    """Return a new case for each problem among `cases` that can have other points.

    A case has flags, for example "ties" or "rank deficient", which state what is special about its data. A case can
    have other points if all its flags are in `STILL_TRUE` (true for any points) or in `MAY_VANISH` (dropped from the
    new case). Cases of kind "part" are left out. say: called with a line of progress for each case. The same seed gives
    the same draws on every machine.

    Raises ValueError if the seed is not an integer >= 0, if no case can have other points, or if all `DRAWS` draws of a
    case lack a certified solution.
    """
    seed = check_count(seed, "seed", 0)
    able = STILL_TRUE | MAY_VANISH
    kept = [case for case in cases if case.kind == "problem" and able.issuperset(case.flags)]
    if not kept:
        given = sorted({flag for case in cases for flag in case.flags if flag not in able})
        why = (
            f"their flags {', '.join(given)} hold for the stored points only"
            if given
            else "each is a part of a problem"
        )
        raise ValueError(
            f"seed: none of these cases can be drawn with other points: {why}; choose whole problems without flags, "
            f"or only with these: {', '.join(sorted(able))}"
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
    raise ValueError(
        f"seed {seed}: {DRAWS} problems like {case.id} were drawn, all without a certified solution; "
        "try another seed"
    )


def _points(stream: random.Random, X: Any) -> list[list[float]]:
    """Return the points X (n, d) with noise, as rounded decimals.

    stream: the source of the noise. Let s be the standard deviation of a feature before the noise, or 1 for a constant
    feature. The feature is rounded to `DIGITS` decimal places after the first nonzero digit of s.
    """
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
    flags = tuple(flag for flag in case.flags if flag in STILL_TRUE)
    same = {name: case.content[name] for name in ("kind", "formula", "asks")}
    return replace(case, **new, flags=flags, content={**new, **same})  # the stored proof is left out


def _is_certified(case: Case) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status holds the same information
        try:
            solution = solve(case.formula, case.X, case.y, **case.params)
        except ValueError:  # for example, the new points have no optimum
            return False
    return solution.status in (Status.CONVERGED, Status.STATIONARY)
