"""What is measured: ours to a proved gap beside each alternative, and growth with size.

A claim is {"method", "data", "n", "d", "timed", "ours", "rivals"}. ours: [{"to", "seconds", "reached"}]. rivals:
[{"name", "settings", "seconds", "reached", "gap", "answered", "same"}], where "answered" is false where it found
nothing, and "same" is the seconds that ours takes to what it reached, None where ours never gets there; a ratio is
"seconds" over "same". A gap is a share of the objective, and what the certificate of this package proves, whoever found
the metric; None where what was reached is no gap. A rival with "baseline": true solves another problem.
A growth is {"method", "data", "timed", "sizes", "seconds"}.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml.core.metric import FloatArray, project_psd

clock = time.perf_counter
REPEATS = 3
GAPS = (1e-6, 1e-9)  # that ours is timed to
LIMIT = 120.0  # seconds for an alternative
SHORT = 5.0  # seconds: what takes longer, ours or not, is run once
LEAST, MOST = 1e-9, 0.1  # gaps that ours is asked for beside an alternative
ROUNDING = 1e-6  # by which a gap may miss what was asked for, a share of it

Result = dict[str, Any]


class Ran(NamedTuple):
    """What an alternative did: its seconds, and the metric (d, d), None where it has none, with the reason."""

    seconds: float
    metric: FloatArray | None
    said: str = ""


class Rival(NamedTuple):
    """An alternative, with the settings in words."""

    name: str
    settings: str
    run: Callable[[], Ran]


class Ours(NamedTuple):
    """Our solver of one problem."""

    solve: Callable[[float], float]  # to a gap; returns the gap that is proved
    judge: Callable[[FloatArray], float]  # the gap of any metric


def certified(method: str, X: Any, y: Any, **params: Any) -> Ours:
    """Ours by `cvxml.solve`, with gaps as shares of the objective; `judge` has the dual of the tightest solve."""
    best = quietly(lambda: cvxml.solve(method, X, y, tol=LEAST, **params))
    size, scale = float(abs(best.objective)), best.certificate.scale
    share = size / scale if scale > 0 else 1.0

    def solve(gap: float) -> float:
        found = quietly(lambda: cvxml.solve(method, X, y, tol=gap * share, **params))
        return float(found.gap / size)

    def judge(metric: FloatArray) -> float:
        return cvxml.certify(method, X, y, project_psd(metric), best.dual, **params).gap / size

    return Ours(solve, judge)


def compared(named: Result, ours: Ours, rivals: Sequence[Rival], repeats: int = REPEATS) -> Result:
    """The claim: ours to `GAPS` and to the gap of each rival, side by side. named: method, data, n, d, timed."""
    own = []
    for gap in GAPS:
        took, reached = best_of(partial(ours.solve, gap), repeats)
        own.append({"to": f"{gap:.0e}", "seconds": took, "reached": f"gap {reached:.0e}"})
    return {**named, "ours": own, "rivals": [beside(ours, rival, repeats) for rival in rivals]}


def beside(ours: Ours, rival: Rival, repeats: int) -> Result:
    """One rival, and ours to the gap that it reached."""
    runs = [quietly(rival.run)]
    while len(runs) < repeats and runs[0].metric is not None and runs[0].seconds < SHORT:
        runs.append(quietly(rival.run))
    ran = min(runs, key=lambda each: each.seconds)
    found = {"name": rival.name, "settings": rival.settings}
    if ran.metric is None:
        return {
            **found,
            "seconds": ran.seconds,
            "reached": ran.said,
            "gap": None,
            "answered": False,
            "same": None,
        }
    gap = ours.judge(ran.metric)
    goal = float(np.clip(gap, LEAST, MOST))
    took, proved = best_of(lambda: ours.solve(goal), repeats)
    same = took if proved <= goal * (1 + ROUNDING) else None
    reached = f"gap {max(gap, 0.0):.0e}" + (f", {ran.said}" if ran.said else "")
    return {**found, "seconds": ran.seconds, "reached": reached, "gap": gap, "answered": True, "same": same}


def growth(
    method: str, data: str, timed: str, of: Callable[[int], Callable[[], Any]], sizes: Sequence[int]
) -> Result:
    """Seconds by size, one run each. of(size): what is timed, its data made already. The first call of all is not."""
    of(sizes[0])()
    seconds = [best_of(of(n), 1)[0] for n in sizes]
    return {"method": method, "data": data, "timed": timed, "sizes": list(sizes), "seconds": seconds}


def exponent(grown: Result) -> float:
    """The slope of log seconds over log size, by least squares."""
    return float(np.polyfit(np.log(grown["sizes"]), np.log(grown["seconds"]), 1)[0])


def best_of(run: Callable[[], Any], times: int = REPEATS) -> tuple[float, Any]:
    """The least seconds of some runs, of one where it takes longer than `SHORT`, and what the last returned."""
    took: list[float] = []
    while not took or (len(took) < times and took[0] < SHORT):
        started = clock()
        value = run()
        took.append(clock() - started)
    return min(took), value


def quietly(run: Callable[[], Any]) -> Any:
    """Without warnings: what is not certified shows in the gap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()
