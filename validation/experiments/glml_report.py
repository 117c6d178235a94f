"""What the experiment of GLML reports: accuracies, what becomes of the papers' claims, proofs, choices and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from validation.experiments.glml_claims import (
    CLAIMS,
    GLML_TOO,
    IN_TIME,
    SPEEDS,
    TIME,
    TIME_MEANS,
    Claim,
    Found,
    barely_better,
    found_of,
    not_by_a_point,
    seconds,
    time_found,
    without_point,
)
from validation.experiments.glml_compare import (
    Cell,
    Cells,
    Comparison,
    as_they_come,
    cells_of,
    panels_of,
    standardised,
)
from validation.experiments.glml_data import PANELS, asked, panel, sizes_of
from validation.experiments.glml_learnt import CLOSED, LEARNT
from validation.experiments.glml_methods import (
    ALPHAS,
    DENSITIES,
    FITTED,
    GAMMAS,
    GENERATIVE,
    MIXTURES,
    SHARED,
)
from validation.experiments.page import HOW as HOW_VERDICTS
from validation.experiments.page import Groups, Parts, Results, bullets, counted, grouped, number, table
from validation.experiments.quoted import remarks
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset
from validation.experiments.verdicts import NO_VERDICT, Verdict, every, legend, letters

METHODS = (*GENERATIVE, MIXTURES, *LEARNT, *DENSITIES)
OF_TASK = {SHARED: GENERATIVE, FITTED: DENSITIES}  # of several methods
TASK_OF = {method: task for task, methods in OF_TASK.items() for method in methods}
NOT_RUN = f"{NO_VERDICT} (not run)"
TESTS = ("these points", "new points")
REMARKS = remarks("glml")  # data and claim -> why the set contradicts it


def readings_of(cells: Cells) -> dict[str, list[str]]:
    """Return the sets with features as they come, and with z-scored features if these differ; only what was run."""
    readings = {"features as they come": as_they_come(cells), "z-scored features": standardised(cells)}
    if readings["z-scored features"] == readings["features as they come"]:
        del readings["z-scored features"]
    return {name: sets for name, sets in readings.items() if sets}


def short(results: Results, preset: Preset) -> list[str]:
    """Return the result and the contradictions, a sentence each."""
    cells = cells_of(results)
    said, against = [], []
    for name, sets in readings_of(cells).items():
        verdicts, new = {}, []
        for claim in CLAIMS.values():
            found = found_of(claim, cells.only(sets))
            if found.these.verdicts:
                verdicts[claim.said] = of_enough(claim, found.sets, found.verdict).split(" (")[0]
                new.append(of_enough(claim, found.sets, found.verdict_new).split(" (")[0])
        supported = [claim for claim, each in verdicts.items() if each == Verdict.SUPPORTED]
        above, of_cells = gains(cells.only(sets))
        said.append(
            f"With {name}, the mean of GLML is above that of Euclid in {above} of {of_cells} cells, and the papers' "
            f"claims are, for these points, {counted(verdicts.values())}{'; supported: ' if supported else ''}"
            f"{'; '.join(supported)}. For new points: {counted(new)}."
        )
        against += [f"{claim} ({name})" for claim, each in verdicts.items() if each == Verdict.CONTRADICTED]
    return [
        " ".join(said),
        f"The runs contradict {number(len(against), 'claim')}{': ' if against else ''}{'; '.join(against)}.",
    ]


def gains(cells: Cells) -> tuple[int, int]:
    """Return in how many cells GLML has a higher mean than Euclid, and the number of cells that have both."""
    means = [
        [
            mean([value for value in methods[name].values() if value is not None]).value
            for name in ("GLML", "Euclid")
        ]
        for methods in cells.accuracies.values()
        if {"GLML", "Euclid"} <= set(methods)
    ]
    return sum(round(ours - euclid, 4) > 0 for ours, euclid in means), len(means)  # as the table shows them


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, the claims, how well the metrics are proved, and the time."""
    groups, cells = grouped(results), cells_of(results)
    accuracy = [
        "",
        "## Accuracy of 1-NN, in per cent, by training points a class",
        "",
        *accuracy_table(cells, gaps_missed(results)),
    ]
    lines = ["", "## What becomes of the papers' claims"]
    details = []
    readings = readings_of(cells)
    for name, sets in readings.items():
        own = {key: found_of(claim, cells.only(sets)) for key, claim in CLAIMS.items()}
        title = ["", f"### {name[0].upper()}{name[1:]}", ""] if len(readings) > 1 else [""]
        lines += [*title, *legend(), *claims_table(own, groups, sets), *run_there(own["most"]), *ties(own)]
        lines += [*against(own, preset), *point_left_out(cells.only(sets))]
        shown = [data for data in sets if data not in PANELS] or sets  # what is the same is said once
        for key, found in own.items():
            details += comparisons(CLAIMS[key], found, cells, shown, name)
    details = ["", "## Every comparison", "", *legend(*TESTS)[:1], *details]
    details += ["", "## What was proved, and what was chosen", "", *proofs(groups)]
    details += ["", "## Seconds", "", *times(groups)]
    return Parts(accuracy, [*lines, "", HOW_VERDICTS, "", *HOW], details, so_far(groups, preset))


def so_far(groups: Groups, preset: Preset) -> list[str]:
    """How much of the preset is run, where that is not all: by set, the realisations of its methods."""
    parts, missing = [], [data for data in preset.data if data not in groups]
    for data, tasks in groups.items():
        whole, planned = asked(preset, data), (SHARED, FITTED, MIXTURES, *LEARNT)
        counts = {task: len(tasks.get(task, [])) for task in planned if sizes_of(preset, data, task)}
        if min(counts.values()) < whole:
            of: dict[int, list[str]] = {}
            for task, count in counts.items():
                of.setdefault(count, []).extend(OF_TASK.get(task, (task,)))
            said = [f"{count or 'none'} of {listed(names)}" for count, names in of.items()]
            parts.append(f"{data} ({whole}): {', '.join(said)}")
    if not (parts or missing):
        return []
    nothing = [f"Nothing is run of {listed(missing)}."] if missing else []
    head = (
        "**Not all of the preset is run.** The list has the realisations that were run, for each set; in brackets is "
        "the number in the preset. An empty cell of the table is a method that was not run."
    )
    return [
        "",
        " ".join([head, *nothing, "All statements about the sets are about the sets below."]),
        "",
        *bullets(parts),
    ]


HOW = [
    "A claim is split into comparisons of two methods, one for each set and number of training points. A comparison is "
    "about the difference of their accuracies over the realisations: a two-sided paired t-test, at 5 % for all "
    "comparisons of a claim together (Holm).",
    "",
    "- *supported*: as many comparisons as the words of the claim need are significant in its favour.",
    "- *contradicted*: so many comparisons are significant against it that its words cannot hold.",
    "- *undecided*: all other cases.",
    "",
    "A set counts as compared if at least half of the metrics in the claim were compared on it. The result on other "
    "sets of the papers is unknown. So a claim is contradicted only if it fails for every possible result there. A "
    "claim has no verdict if fewer than half of its sets were compared and these do not contradict it.",
    "",
    "Each claim has two verdicts. *These points* is about the mean over all ways of drawing training points from this "
    "very set, as in the papers' curves; the realisations are a sample of them. *New points* is about new points from "
    "the same source. Realisations share most of their test points, so the number of test points divided by that of "
    "training points is added to the 1 / n of the variance of a mean over n realisations (Nadeau, Bengio, Inference "
    "for the generalization error, Machine Learning 2003). This is cautious if there are few training points. waveform "
    "and twonorm are drawn anew, so their intervals are the same.",
    "",
    "*Outperforms*, *worse* and *poor* are taken to mean a difference of more than a point. This point is ours, not "
    "the papers'. Such a comparison is supported if the one is significantly more than a point above the other, and "
    "contradicted only if it is significantly below by any amount: a tie is undecided. *Do not outperform* is "
    "supported if the other metric is significantly less than a point above Euclid, and contradicted if it is "
    "significantly more; there the point helps the papers. The verdicts without the point are given below. Effects are "
    "differences of accuracies, in points.",
]


# ---- accuracies


def run_methods(cells: Cells) -> list[str]:
    """Those with a result, in the order of the columns."""
    there = {name for found in cells.accuracies.values() for name in found}
    return [name for name in METHODS if name in there]


def accuracy_table(cells: Cells, unmet: Counter[tuple[Cell, str]]) -> list[str]:
    """Mean and standard error; beside them the marks of the axis that the papers draw this in."""
    rows, names = [], run_methods(cells)
    for (data, size), methods in cells.accuracies.items():
        own = panel(data)
        axis = f"{100 * own.axis[0]:g} to {100 * own.axis[1]:g}"
        most = max(len(values) for values in methods.values())
        cell = (data, size)
        values = [of(list(methods.get(name, {}).values()), most, unmet[cell, name]) for name in names]
        rows.append([f"({own.letter}) {data}", size, most, *values, axis])
    lines = table(["data", "points", "realisations", *names, "the papers' axis"], rows)
    said = (
        "In brackets: the number of realisations, if fewer than all were run or had a metric. †: the number of "
        "realisations with a metric that did not meet its gap (*not met* below). Empty: not run."
    )
    return [*lines, "", said]


def of(values: list[float | None], most: int, unmet: int = 0) -> str:
    """A cell: "" where a method was not run, "none" where it has no metric, its number where it has one for some."""
    there = [value for value in values if value is not None]
    if not there:
        return "none" if values else ""
    few = f" ({len(there)})" if len(there) < most else ""
    return f"{mean(there)}{few}" + (f" †{unmet}" if unmet else "")


def gaps_missed(results: Results) -> Counter[tuple[Cell, str]]:
    """By cell and method, how many metrics did not meet their gap."""
    return Counter(
        ((task.data, size), method)
        for task, result in results
        for method, kept in result["methods"].items()
        for size, status in zip(result["sizes"], kept["status"], strict=True)
        if missed(status)
    )


def missed(status: str | None) -> bool:
    """Whether there is a metric with a gap, and not all of it was met."""
    return status not in (None, "CONVERGED")


# ---- claims


def claims_table(own: dict[str, Found], groups: Groups, sets: list[str]) -> list[str]:
    """A line for each claim."""
    rows = []
    for key, found in own.items():
        claim = CLAIMS[key]
        comparisons = counted(found.these.verdicts.values()) or NOT_RUN
        verdicts = [NOT_RUN] * 2
        if found.these.verdicts:
            verdicts = [of_enough(claim, found.sets, each) for each in (found.verdict, found.verdict_new)]
        rows.append([claim.said, claim.means, comparisons, by_verdict(found.sets), *verdicts])
    of_time, verdict = time_found(groups, sets)
    timed = of_enough(IN_TIME, {data: verdict for data, _ in of_time}, verdict) if of_time else NOT_RUN
    rows.append([TIME, TIME_MEANS, counted(of_time.values()) or NOT_RUN, "", timed, ""])
    head = ["the papers", "taken as", "comparisons", "sets, these points", "these points", "new points"]
    return table(head, rows)


def of_enough(claim: Claim, there: Mapping[str, Any], verdict: Verdict | None) -> str:
    """The verdict, where the sets that were compared are half of those it speaks of; of every one, one is enough."""
    asked_of = panels_of(claim.letters)
    if 2 * len(there) < len(asked_of) and not (claim.needs[2] is every and verdict is Verdict.CONTRADICTED):
        return f"{NO_VERDICT} (compared on {len(there)} of {len(asked_of)} sets)"
    return verdict


def run_there(found: Found) -> list[str]:
    """Which metrics GLML is compared with on which sets."""
    metrics: dict[str, dict[str, None]] = {}
    for which in found.these.verdicts:
        metrics.setdefault(which.cell[0], {})[which.second] = None
    sets: dict[tuple[str, ...], list[str]] = {}
    for data, names in metrics.items():
        sets.setdefault(tuple(name for name in METHODS if name in names), []).append(data)
    said = [f"on {listed(of)} {listed(names)}" for names, of in sets.items()]
    return ["", f"*The other metrics* that were run are {'; '.join(said)}."] if said else []


def listed(names: Sequence[str]) -> str:
    """Quoted where they have a comma of their own."""
    each = [f'"{name}"' if "," in name else name for name in names]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def point_left_out(cells: Cells) -> list[str]:
    """What the claims with a point become without it, and of GLML what they say of the other metrics."""
    rows = []
    for claim in CLAIMS.values():
        if claim.margin and (found := without_point(claim, cells)).verdict:
            comparisons = counted(found.these.verdicts.values())
            verdicts = [of_enough(claim, found.sets, each) for each in (found.verdict, found.verdict_new)]
            rows.append([claim.said, comparisons, by_verdict(found.sets), *verdicts])
    if not rows:
        return []
    head = [
        "the papers, of any difference",
        "comparisons",
        "sets, these points",
        "these points",
        "new points",
    ]
    return ["", "**Without the point**:", "", *table(head, rows), *little_more(cells), *glml_too(cells)]


def little_more(cells: Cells) -> list[str]:
    """The metrics that the point alone keeps from outperforming Euclid."""
    there = [
        f"{metric} on {data} at {listed([str(size) for size in sizes])}"
        for (data, metric), sizes in barely_better(cells).items()
    ]
    if not there:
        return []
    return [
        "",
        "Significantly above Euclid for these points, but not significantly by more than a point: "
        f"{'; '.join(there)} points a class.",
    ]


def glml_too(cells: Cells) -> list[str]:
    """Where GLML does not outperform Euclid by what is asked of the others."""
    found = found_of(GLML_TOO, cells)
    names = [data for data, verdict in found.sets.items() if verdict is Verdict.SUPPORTED]
    if not names:
        return []
    return [
        "",
        f"In this sense of *do not outperform*, GLML does not outperform Euclid either on {listed(names)}: it is "
        "significantly less than a point above it in at least half of the cells.",
    ]


def by_verdict(of_sets: dict[str, Verdict]) -> str:
    """The sets by verdict."""
    said = []
    for verdict in Verdict:
        names = [data for data, each in of_sets.items() if each is verdict]
        if names:
            said.append(f"{verdict}: {', '.join(names)}")
    return "; ".join(said)


def against(own: dict[str, Found], preset: Preset) -> list[str]:
    """A sentence on each set that contradicts a claim, those that nothing explains first."""
    known = REMARKS if preset.remarks else {}
    sentences = [
        f"{CLAIMS[key].said}: contradicted on {data}; {known.get((data, key), 'open.')}"
        for key, found in own.items()
        for data, verdict in found.sets.items()
        if verdict is Verdict.CONTRADICTED
    ]
    if not sentences:
        return []
    head = "These sets contradict a claim, for these points. *Open* marks contradictions that no run explains yet:"
    return ["", head, "", *bullets(sorted(sentences, key=lambda sentence: "; open" not in sentence))]


def ties(own: dict[str, Found]) -> list[str]:
    """Where a claim neither holds by the point nor is contradicted."""
    sentences = [
        f"{CLAIMS[key].said}: undecided on {listed(names)}, by the point alone; open."
        for key, found in own.items()
        if (names := not_by_a_point(found, CLAIMS[key]))
    ]
    if not sentences:
        return []
    head = (
        "*By the point alone*: these sets are undecided above only because of the point. For these points, many "
        "comparisons are significantly less than a point above the other method. If they counted against the claim, "
        "the set would contradict it:"
    )
    return ["", head, "", *bullets(sentences)]


def comparisons(claim: Claim, found: Found, cells: Cells, sets: list[str], reading: str) -> list[str]:
    """Every comparison with its interval for new points, a line for each set and pair of methods."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for which in found.these.verdicts:
        if which.cell[0] in sets:
            key = (which.cell[0], which.first, which.second)
            rows.setdefault(key, []).append(f"{which.cell[1]}: {difference_of(found, which)}")
    if not rows:
        return []
    return [
        "",
        f"**{claim.said}** ({reading}): differences of accuracies in points, with their 95 % intervals for new points, "
        f"by training points a class. S supported{reach_of(claim.margin)}.",
        "",
        *table(
            ["data", "", "differences"],
            ([data, f"{first} - {second}", "; ".join(each)] for (data, first, second), each in rows.items()),
        ),
    ]


def reach_of(margin: float) -> str:
    """Of which difference a comparison is supported and contradicted."""
    if not margin:
        return ", C contradicted"
    least = f"{-100 * margin:+g}"
    return f" (more than {least}), C contradicted (less than {least if margin > 0 else 0})"


def difference_of(found: Found, which: Comparison) -> str:
    """The difference and its interval, without the point that the claim asks for, and its letter."""
    each = found.new.differences[which]
    middle, low, high = (100 * (value - which.margin) for value in (each.mean, *each.interval))
    codes = letters(found.these.verdicts[which], found.new.verdicts[which])
    return f"{middle:+.1f} ({low:+.1f} to {high:+.1f}) {codes}"


# ---- proofs and time


def proofs(groups: Groups) -> list[str]:
    """The largest gap, how often the gap asked for was not met or no metric exists, what was chosen, and edges."""
    rows = []
    for data, method, found in by_method(groups):
        gaps = [each["gap"] for each in found if each["gap"] is not None]
        unmet = sum(missed(each["status"]) for each in found)
        absent = 0 if method in DENSITIES else sum(each["status"] is None for each in found)
        chosen = Counter(
            ", ".join(f"{value:g}" for value in each["chosen"]) for each in found if each["chosen"]
        )
        frequent = "; ".join(f"{value} ({count})" for value, count in chosen.most_common(3))
        edges = [edge for each in found if (edge := at_edge(method, each)) is not None]
        edge = f"{sum(edges)} of {len(edges)}" if edges else ""
        largest = f"{max(gaps):.1e}" if gaps else ""
        not_met = "" if method in DENSITIES else f"{unmet} of {len(found)}"
        rows.append([data, method, largest, not_met, absent, frequent, edge])
    head = ["data", "method", "largest gap", "not met", "no metric", "most often chosen", "at an edge"]
    return [
        "Gaps are relative gaps of the metrics that were tested; for GLML, at the first test points.",
        "",
        "- *Chosen*: alpha, gamma of GLML; the same of mixtures, after the number of Gaussians; mu / (1 - mu) of LMNN; "
        "gamma of ITML; k of DML-eig; the share s of v of BoostMetric; alpha2 of PLML; alpha of Fisher and Bayes, "
        "which have no gap.",
        "- *At an edge*: the best parameter was the last one tried after all allowed extensions of the grid. If grids "
        "are not extended, it was the first or last of the grid (except a gamma of 0 of GLML and a k of 1 of DML-eig, "
        "which are the smallest possible). A value beyond the edge might be better.",
        "- *Not met*: it is not proved that the gap is at most the gap asked plus rounding. So a larger gap may be met "
        "if the optimum is nearly 0. A smaller gap may not be met if rounding may exceed a hundred times the gap "
        "asked. Metrics that did not meet their gap are still in the accuracies and comparisons.",
        "",
        *table(head, rows),
    ]


def by_method(groups: Groups) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Data, method, and what is known of every metric: gap, status, chosen, and edge where grids go on."""
    for data, tasks in groups.items():
        for method in ("GLML", MIXTURES, *LEARNT, *DENSITIES):
            results = tasks.get(TASK_OF.get(method, method), [])
            found = []
            for result in results:
                kept = result["methods"][method]
                names = [name for name in ("gap", "status", "chosen", "edge") if name in kept]
                each = zip(*(kept[name] for name in names), strict=True)
                found += [dict(zip(names, values, strict=True)) for values in each]
            if found:
                yield data, method, found


def at_edge(method: str, known: Mapping[str, Any]) -> bool | None:
    """Whether a better parameter may be beyond those that were tried; None where none was chosen.

    known: of a metric, with its edge where grids go on.
    """
    if "edge" in known or not known["chosen"]:
        return known.get("edge")
    first, *second = known["chosen"]
    if method in ("GLML", *DENSITIES):  # alpha, and gamma of GLML
        return first in (ALPHAS[0], ALPHAS[-1]) or GAMMAS[-1] in second
    if method in CLOSED:
        return first == CLOSED[method][-1] or (first == CLOSED[method][0] and method != "DML-eig")
    return None  # of the others only grids that go on are run


def times(groups: Groups) -> list[str]:
    """The median of a realisation, with the sizes where they are not all."""
    rows = []
    for data, tasks in groups.items():
        sizes = tasks[SHARED][0]["sizes"] if SHARED in tasks else []
        values = []
        for method in (SHARED, MIXTURES, *LEARNT, FITTED):
            own = tasks[method][0]["sizes"] if method in tasks else []
            note = "" if own == sizes else f" (to {own[-1]})" if own else ""
            values.append(f"{seconds(groups, data, method):.1f}{note}" if own else "")
        rows.append([data, *values])
    return [
        "The table has the median time of a realisation, with all sizes, the choice of parameters and the "
        "classification of test points. The first column is for Euclid and GLML together (in earlier runs also for "
        f"Fisher and Bayes, with GLML's alpha), the last for Fisher and Bayes. Machines differed in speed by up to "
        f"{SPEEDS:g} times, so smaller differences are not evidence.",
        "",
        *table(["data", "GLML, Euclid", MIXTURES, *LEARNT, "Fisher, Bayes"], rows),
    ]
