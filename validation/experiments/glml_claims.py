"""What Noh et al. say of Fig. 3 of 2010 and Fig. 5 of 2018, and the verdict on it. The claims are in words/glml.toml.

A cell is a data set with a number of training points a class. Verdicts on the comparisons of two methods in the cells
are joined by how many of them a claim needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import log
from typing import NamedTuple

from validation.experiments.glml_data import PANELS, Z_SCORED, overlap, panel, unscaled
from validation.experiments.glml_learnt import LEARNT
from validation.experiments.glml_methods import SHARED
from validation.experiments.page import Groups, Results
from validation.experiments.verdicts import (
    NEEDS,
    Compared,
    Verdict,
    half,
    joined,
    judged,
    most,
    paired,
    these,
)
from validation.experiments.words import Words

WORDS = Words("glml")
SPEEDS = 4.0  # of machines: a loop took 1.2 s on the fastest of those that the runs were on, and 4.4 s on the slowest

Cell = tuple[str, int]  # data, training points a class
Accuracies = dict[Cell, dict[str, dict[int, float | None]]]
# method -> realisation -> accuracy, None where there is no metric


class Claim(NamedTuple):
    """A claim of the papers: see words/glml.toml."""

    said: str
    means: str
    firsts: list[str]
    seconds: list[str]
    needs: tuple[str, str, str]
    ahead: float = 0.0
    letters: str = ""
    short: str = ""
    brief: str = ""
    unlike: str = ""  # in the brackets of the first screen, before the sets that contradict the claim
    own: bool = False  # a reading of ours, which is not counted with the papers' sentences

    @property
    def panels(self) -> list[str]:
        """The sets of its panels of the papers; all if none is named."""
        return [data for data, each in PANELS.items() if not self.letters or each.letter in self.letters]


CLAIMS = {key: Claim(**claim) for key, claim in WORDS.found["claims"].items()}
# What "others" is taken as, of GLML in place of the others; a set is supported where GLML does not outperform Euclid.
GLML_TOO = CLAIMS["others"]._replace(seconds=["GLML"])
TIME = Claim(
    WORDS("time.said"), WORDS("time.means", SPEEDS=SPEEDS), ["GLML"], list(LEARNT), ("every", "most", "most")
)


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
        return self._replace(accuracies={cell: of for cell, of in self.accuracies.items() if cell[0] in kept})

    def readings(self) -> dict[str, list[str]]:
        """The sets with features as they come, and with z-scored features where these differ; only what was run."""
        every = self.sets()
        scaled = {unscaled(data) for data in every if data not in PANELS}
        readings = {"features as they come": [data for data in every if data in PANELS]}
        if scaled:
            readings["z-scored features"] = [data for data in every if data not in scaled]
        return {name: sets for name, sets in readings.items() if sets}


class Comparison(NamedTuple):
    """Two methods in a cell."""

    cell: Cell
    first: str
    second: str


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


class Judged(NamedTuple):
    """The verdicts on comparisons, on sets, and on all sets of the claim's panels, compared or not."""

    each: dict[Comparison, Verdict]
    sets: dict[str, Verdict]
    verdict: Verdict | None  # None where nothing was run


class Found(NamedTuple):
    """What became of a claim: for the mean over all ways of drawing training parts from these points, and for new ones.

    The intervals of `pairs` are for new points of the same source.
    """

    pairs: dict[Comparison, Compared]
    these: Judged
    new: Judged


def found_of(claim: Claim, cells: Cells) -> Found:
    """Every first against every second, in all cells of the claim's panels that have both."""
    pairs = {}
    for cell, methods in cells.accuracies.items():
        for first, second in (
            product(claim.firsts, claim.seconds) if unscaled(cell[0]) in claim.panels else ()
        ):
            each = paired(methods.get(first, {}), methods.get(second, {}), cells.overlaps[cell])
            if each is not None:
                pairs[Comparison(cell, first, second)] = each
    return Found(pairs, judged_by(claim, these(pairs)), judged_by(claim, pairs))


def judged_by(claim: Claim, pairs: Mapping[Comparison, Compared]) -> Judged:
    """The verdicts on a claim; a point that is ours makes no tie a contradiction."""
    each = judged(pairs, claim.ahead, min(claim.ahead, 0.0))
    sets = by_set(each, claim)
    return Judged(each, sets, overall(sets, claim))


def by_set(found: Mapping[Comparison, Verdict], claim: Claim) -> dict[str, Verdict]:
    """The verdict on each set where half of the pairs that the claim speaks of are compared."""
    own: dict[str, dict[tuple[str, str], list[Verdict]]] = {}
    for (cell, first, second), verdict in found.items():
        own.setdefault(cell[0], {}).setdefault((first, second), []).append(verdict)
    of_cells, of_pairs, _ = (NEEDS[need] for need in claim.needs)
    enough = half(len(claim.firsts) * len(claim.seconds))
    joint = {
        data: joined([verdict for each in pairs.values() if (verdict := joined(each, of_cells))], of_pairs)
        for data, pairs in own.items()
        if len(pairs) >= enough
    }
    return {data: verdict for data, verdict in joint.items() if verdict is not None}


def overall(of_sets: Mapping[str, Verdict], claim: Claim) -> Verdict | None:
    """The verdict on the sets of the claim's panels, compared or not."""
    return joined(list(of_sets.values()), NEEDS[claim.needs[2]], len(claim.panels))


def without_point(claim: Claim, cells: Cells) -> Found:
    """The same claim of any difference, however small."""
    return found_of(claim._replace(ahead=0.0), cells)


def not_by_a_point(found: Found, claim: Claim) -> list[str]:
    """The sets, for these points, that would contradict the claim if a tie did: the first is not a point above."""
    strict, C = by_set(judged(these(found.pairs), claim.ahead), claim), Verdict.CONTRADICTED
    return [data for data, verdict in strict.items() if verdict is C is not found.these.sets[data]]


def barely_better(cells: Cells) -> dict[tuple[str, str], list[int]]:
    """Data and metric -> where it is significantly above Euclid for these points, but not by a point."""
    by_a_point = found_of(CLAIMS["others"], cells).these.each
    found: dict[tuple[str, str], list[int]] = {}
    for which, verdict in without_point(CLAIMS["others"], cells).these.each.items():
        if verdict is Verdict.CONTRADICTED is not by_a_point[which]:
            found.setdefault((which.cell[0], which.second), []).append(which.cell[1])
    return found


# ---- time


def seconds_of_both(groups: Groups, sets: list[str]) -> Iterator[tuple[str, str, list[tuple[float, float]]]]:
    """Data, method, and the seconds of GLML's task and of the method's, by realisation, for equal sizes."""
    for data, method in product(sets, LEARNT):
        own = {result["split"]: result for result in groups[data].get(method, [])}
        both = [(each, own[each["split"]]) for each in groups[data].get(SHARED, []) if each["split"] in own]
        if both and both[0][0]["sizes"] == both[0][1]["sizes"]:
            yield data, method, [(ours["seconds"], theirs["seconds"]) for ours, theirs in both]


def time_found(groups: Groups, sets: list[str]) -> tuple[dict[tuple[str, str], Verdict], Verdict | None]:
    """The verdict on each data set and method, that GLML is quicker, by the logarithms, and on most of them."""
    pairs = {
        (data, method): Compared([log(b) for _, b in both], [log(a) for a, _ in both], 0.0)
        for data, method, both in seconds_of_both(groups, sets)
        if len(both) > 1
    }
    found = judged(pairs, log(SPEEDS), -log(SPEEDS))
    return found, joined(list(found.values()), most)
