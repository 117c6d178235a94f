"""Comparisons of two methods over the cells of the figures of Noh et al., and verdicts on what is said of many of them.

A cell is a data set with a number of training points a class. Verdicts on comparisons are joined by how many of them a
sentence needs: it is supported where so many are, contradicted where not so many are left that are not contradicted,
and else undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from validation.experiments.glml_data import PANELS, Z_SCORED, overlap, panel, unscaled
from validation.experiments.page import Results
from validation.experiments.verdicts import Difference, Need, Verdict, apart, joined, paired

Cell = tuple[str, int]  # data, training points a class
Accuracies = dict[Cell, dict[str, dict[int, float | None]]]
# method -> realisation -> accuracy, None where there is no metric


class Cells(NamedTuple):
    """What was found, and for each cell how many test points the realisations share, over training points."""

    accuracies: Accuracies
    overlaps: dict[Cell, float]

    def sets(self) -> list[str]:
        """The data sets, in the order of the panels, a set with other features after its own."""
        return list(dict.fromkeys(data for data, _ in self.accuracies))

    def only(self, sets: Iterable[str]) -> Cells:
        """The cells of some of the sets."""
        kept = set(sets)
        return Cells(
            {cell: found for cell, found in self.accuracies.items() if cell[0] in kept}, self.overlaps
        )


class Comparison(NamedTuple):
    """The claim that the accuracy of the first, and a margin, is above that of the second."""

    cell: Cell
    first: str
    second: str
    margin: float = 0.0


def cells_of(results: Results) -> Cells:
    """By cell, method and realisation."""
    found: Accuracies = {}
    overlaps: dict[Cell, float] = {}
    for task, result in results:
        largest = task.settings.get("largest", panel(task.data).sizes[-1])
        for i, size in enumerate(result["sizes"]):
            cell = (task.data, size)
            overlaps[cell] = overlap(task.data, size, largest, task.settings.get("test"))
            for name, values in result["methods"].items():
                found.setdefault(cell, {}).setdefault(name, {})[task.split] = values["accuracy"][i]
    order = sorted(found, key=lambda cell: (panel(cell[0]).letter, cell[0].endswith(Z_SCORED), cell[1]))
    return Cells({cell: found[cell] for cell in order}, overlaps)


def as_they_come(cells: Cells) -> list[str]:
    """The sets with their own features."""
    return [data for data in cells.sets() if data in PANELS]


def standardised(cells: Cells) -> list[str]:
    """The sets with z-scored features where they are there, else as they come."""
    scaled = {unscaled(data) for data in cells.sets() if data not in PANELS}
    return [data for data in cells.sets() if data not in scaled]


def compared(cells: Cells, which: Comparison, new: bool) -> Difference | None:
    """The difference and its interval; None where there are no two realisations with both.

    new: for new points of the same source; else for the mean over all ways of drawing training parts from these points.
    """
    found = cells.accuracies[which.cell]
    overlap_of = cells.overlaps[which.cell] if new else 0.0
    return paired(found.get(which.first, {}), found.get(which.second, {}), which.margin, overlap_of)


def pairs(
    cells: Cells, firsts: Sequence[str], seconds: Sequence[str], margin: float, letters: str
) -> Iterator[Comparison]:
    """Every first against every second, in the cells of some panels; all panels where none are named."""
    for cell in cells.accuracies:
        if not letters or panel(cell[0]).letter in letters:
            for first in firsts:
                for second in seconds:
                    yield Comparison(cell, first, second, margin)


class Judged(NamedTuple):
    """Verdicts on comparisons, at 5 % for all of them together (Holm), with differences and intervals."""

    differences: dict[Comparison, Difference]
    verdicts: dict[Comparison, Verdict]

    def of(self, data: str) -> list[Verdict]:
        """Those of a set."""
        return [verdict for which, verdict in self.verdicts.items() if which.cell[0] == data]


def judged(cells: Cells, comparisons: Iterable[Comparison], new: bool) -> Judged:
    """All that there is something to compare in. A margin against the first is ours: no tie contradicts by it."""
    found = {which: compared(cells, which, new) for which in comparisons}
    there = {which: each for which, each in found.items() if each is not None}
    against = {which: compared(cells, which._replace(margin=max(which.margin, 0.0)), new) for which in there}
    return Judged(there, apart(there, {which: each for which, each in against.items() if each is not None}))


def by_set(found: Judged, needs: tuple[Need, Need], enough: int) -> dict[str, Verdict]:
    """The verdict on each set where enough pairs of methods are compared: of the cells of a pair, and of the pairs."""
    own: dict[str, dict[tuple[str, str], list[Verdict]]] = {}
    for which, verdict in found.verdicts.items():
        own.setdefault(which.cell[0], {}).setdefault((which.first, which.second), []).append(verdict)
    joint = {
        data: joined([present(joined(cells, needs[0])) for cells in of_pairs.values()], needs[1])
        for data, of_pairs in own.items()
        if len(of_pairs) >= enough
    }
    return {data: present(verdict) for data, verdict in joint.items()}


def present(verdict: Verdict | None) -> Verdict:
    """Of something that has comparisons."""
    assert verdict is not None
    return verdict


def overall(of_sets: Mapping[str, Verdict], need: Need, letters: str) -> Verdict | None:
    """The verdict on the sets of these panels of the papers, compared or not; of all panels where none is named."""
    return joined(list(of_sets.values()), need, len(panels_of(letters)))


def panels_of(letters: str) -> list[str]:
    """The sets of these panels of the papers; all if none is named."""
    return [data for data, each in PANELS.items() if not letters or each.letter in letters]
