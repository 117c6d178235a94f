"""What Noh et al. say of Fig. 3 of 2010 and Fig. 5 of 2018, and whether it holds: verdicts by paired t-tests.

The papers print curves and no numbers. A cell is a data set with a number of training points a class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

import numpy as np

from validation.experiments.glml_data import PANELS
from validation.experiments.glml_methods import LEARNT
from validation.experiments.page import Groups
from validation.experiments.statistics import LEVEL, p_value

SHARED = "generative"  # the task of Euclid, GLML, Fisher and Bayes
FISHER = ("Fisher", "Fisher, one Gaussian")
METRICS = (*LEARNT, *FISHER)  # what GLML is compared with, beside Euclid
BETTER, LEVEL_WITH, WORSE = "better", "level", "worse"

Cell = tuple[str, int]  # data, training points a class
Accuracies = dict[
    Cell, dict[str, list[float | None]]
]  # method -> by realisation; None where there is no metric


class Verdict(NamedTuple):
    """What came of a claim, None where nothing was run that could tell; against: the sets that speak against it."""

    found: str
    holds: bool | None
    against: tuple[str, ...] = ()


def accuracies(groups: Groups) -> Accuracies:
    """By cell and method, in the order of the realisations."""
    cells: Accuracies = {}
    for data in sorted(groups, key=lambda name: PANELS[name].letter):
        for results in groups[data].values():
            for result in results:
                for name, values in result["methods"].items():
                    for size, value in zip(result["sizes"], values["accuracy"], strict=True):
                        cells.setdefault((data, size), {}).setdefault(name, []).append(value)
    return {cell: cells[cell] for cell in sorted(cells, key=lambda cell: (PANELS[cell[0]].letter, cell[1]))}


def compared(cell: dict[str, list[float | None]], name: str, other: str) -> str | None:
    """Whether a method is better than another at the 95 % level; None where one was not run or has no metric."""
    if name not in cell or other not in cell:
        return None
    both = [(a, b) for a, b in zip(cell[name], cell[other], strict=True) if a is not None and b is not None]
    if len(both) < 2:
        return None
    ours, theirs = np.array(both).T
    if p_value(ours, theirs) >= LEVEL:
        return LEVEL_WITH
    return BETTER if ours.mean() > theirs.mean() else WORSE


def counts(cells: Accuracies, name: str, others: tuple[str, ...], data: str | None = None) -> Counter[str]:
    """How often a method is better than, level with and worse than the others, over the cells (of one set)."""
    found = (
        compared(cells[cell], name, other) for cell in cells if data in (None, cell[0]) for other in others
    )
    return Counter(verdict for verdict in found if verdict is not None)


def said(count: Counter[str]) -> str:
    """The counts in words."""
    return f"better {count[BETTER]}, level {count[LEVEL_WITH]}, worse {count[WORSE]}"


def sets(cells: Accuracies) -> list[str]:
    """The data sets, in the order of the panels."""
    return list(dict.fromkeys(data for data, _ in cells))


def more_than_half(count: Counter[str], verdict: str) -> bool:
    """True where more than half of the comparisons end so."""
    return 2 * count[verdict] > count.total()


def always_gains(cells: Accuracies, groups: Groups) -> Verdict:
    """GLML better than Euclid in every cell."""
    count = counts(cells, "GLML", ("Euclid",))
    against = [
        data for data in sets(cells) if counts(cells, "GLML", ("Euclid",), data)[BETTER] < len_of(cells, data)
    ]
    return Verdict(f"of {count.total()} cells: {said(count)}", not against, tuple(against))


def len_of(cells: Accuracies, data: str) -> int:
    """How many cells a data set has."""
    return sum(cell[0] == data for cell in cells)


def outperforms(cells: Accuracies, groups: Groups) -> Verdict:
    """On more than half of the sets GLML is better in more than half of the comparisons with other metrics."""
    of_set = {data: counts(cells, "GLML", METRICS, data) for data in sets(cells)}
    against = [data for data, count in of_set.items() if not more_than_half(count, BETTER)]
    total = counts(cells, "GLML", METRICS)
    found = f"better in most comparisons on {len(of_set) - len(against)} of {len(of_set)} sets; in all {said(total)}"
    return Verdict(found, 2 * len(against) < len(of_set), tuple(against))


def others_do_not(cells: Accuracies, groups: Groups) -> Verdict:
    """On at least half of the sets at least half of the metrics run are not better than Euclid in most cells."""
    found = {data: {name: counts(cells, name, ("Euclid",), data) for name in METRICS} for data in sets(cells)}
    run = {data: [count for count in of.values() if count.total()] for data, of in found.items()}
    fails = {data: [count for count in run[data] if not more_than_half(count, BETTER)] for data in run}
    many = [data for data in fails if 2 * len(fails[data]) >= len(run[data])]
    against = tuple(data for data in fails if data not in many)
    total = Counter[str]()
    for name in METRICS:
        total += counts(cells, name, ("Euclid",))
    return Verdict(
        f"so on {len(many)} of {len(fails)} sets; in all {said(total)}", 2 * len(many) >= len(fails), against
    )


def bayes_is_poor(cells: Accuracies, groups: Groups) -> Verdict:
    """On at least half of the sets Bayes is worse than Euclid in most cells."""
    poor = [data for data in sets(cells) if more_than_half(counts(cells, "Bayes", ("Euclid",), data), WORSE)]
    against = tuple(data for data in sets(cells) if data not in poor)
    total = counts(cells, "Bayes", ("Euclid",))
    found = f"worse in most cells of {len(poor)} of {len(sets(cells))} sets; in all {said(total)}"
    return Verdict(found, 2 * len(poor) >= len(sets(cells)), against)


def fisher_is_worse(name: str) -> Callable[[Accuracies, Groups], Verdict]:
    """Fisher's metric, in one of its readings, is worse than Euclid in every cell of (f) to (h)."""

    def verdict(cells: Accuracies, groups: Groups) -> Verdict:
        of_set = {
            data: counts(cells, name, ("Euclid",), data) for data in sets(cells) if PANELS[data].letter >= "f"
        }
        against = tuple(data for data, count in of_set.items() if count[WORSE] < count.total())
        total = sum(of_set.values(), Counter[str]())
        return Verdict(f"in (f) to (h) {said(total)}", not against if total else None, against)

    return verdict


def is_quick(cells: Accuracies, groups: Groups) -> Verdict:
    """GLML, all that shares its task included, takes less time than most of the learnt metrics of the same sizes."""
    ratios = {(data, method): ratio for data, method, ratio in slower(groups)}
    against = tuple(dict.fromkeys(data for (data, _), ratio in ratios.items() if ratio < 1))
    quick = sum(ratio > 1 for ratio in ratios.values())
    found = f"quicker in {quick} of {len(ratios)} pairs of a set and a method"
    return Verdict(found, 2 * quick > len(ratios) if ratios else None, against)


def slower(groups: Groups) -> Iterator[tuple[str, str, float]]:
    """Data, method, and by what factor it takes longer than GLML's task, by the median; where it has the same sizes."""
    for data, methods in groups.items():
        for method in LEARNT:
            if method in methods and methods[method][0]["sizes"] == methods[SHARED][0]["sizes"]:
                yield data, method, seconds(groups, data, method) / max(seconds(groups, data, SHARED), 1e-3)


def seconds(groups: Groups, data: str, method: str) -> float:
    """The median over realisations, of all sizes, the choice of parameters included."""
    return float(median(result["seconds"] for result in groups[data][method]))


# key -> what is said, how it is tested
CLAIMS: dict[str, tuple[str, Callable[[Accuracies, Groups], Verdict]]] = {
    "gain": (
        'GLML "always shows a performance gain over the naive nearest neighbor classifier"',
        always_gains,
    ),
    "most": (
        'GLML "generally outperforms most of the other metrics across most of the datasets"',
        outperforms,
    ),
    "others": (
        '"On quite a number of datasets, many of the other methods do not outperform the original Euclidean '
        'nearest neighbor classifier"',
        others_do_not,
    ),
    "Bayes": (
        '"using Bayes rule with these simple Gaussian generative models often results in very poor performance"',
        bayes_is_poor,
    ),
    "Fisher": (
        'Fisher is "much worse than the naive nearest neighbor classifier" in (f) to (h)',
        fisher_is_worse("Fisher"),
    ),
    "Fisher, one Gaussian": (
        "the same, of Fisher with one Gaussian",
        fisher_is_worse("Fisher, one Gaussian"),
    ),
    "time": ('"The computational time using a local metric is also very competitive"', is_quick),
}
