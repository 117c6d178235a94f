"""What the experiment of GLML reports: accuracies, what becomes of the papers' claims, proofs, choices and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from validation.experiments import glml_claims as claims
from validation.experiments.glml_claims import (
    CLAIMS,
    TIME,
    WORDS,
    Cell,
    Cells,
    Claim,
    Comparison,
    Found,
    Judged,
    cells_of,
    found_of,
)
from validation.experiments.glml_data import asked, panel, sizes_of
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
from validation.experiments.page import (
    Groups,
    Parts,
    Results,
    Short,
    answered,
    bullets,
    counted,
    enumerated,
    grouped,
    named,
    nested,
    number,
    table,
    with_bars,
)
from validation.experiments.statistics import in_points, mean
from validation.experiments.tasks import Preset
from validation.experiments.verdicts import NO_VERDICT, Verdict, answer, difference, legend, letters, worst

METHODS = (*GENERATIVE, MIXTURES, *LEARNT, *DENSITIES)
OF_TASK = {SHARED: GENERATIVE, FITTED: DENSITIES}  # of several methods
TASK_OF = {method: task for task, methods in OF_TASK.items() for method in methods}
NOT_RUN = f"{NO_VERDICT} (not run)"
TESTS = ("these points", "new points")
REMARKS = WORDS.remarks()  # data and claim -> why the set contradicts it
SCALED = ("z-scored",)  # the first words of readings with other features
COLUMNS = 3  # of the picture
FEW = 2  # sets that the first screen names
# Okabe and Ito's colours, and three of Tol's
STYLES = {
    "Euclid": ("#000000", "s"),
    "GLML": ("#D55E00", "o"),
    MIXTURES: ("#D55E00", "*"),
    "LMNN": ("#E69F00", "v"),
    "ITML": ("#56B4E9", "^"),
    "DML-eig": ("#009E73", "D"),
    "BoostMetric": ("#882255", "<"),
    "PLML": ("#999933", ">"),
    "Fisher": ("#CC79A7", "P"),
    "Fisher, one Gaussian": ("#0072B2", "X"),
    "Bayes": ("#999999", "x"),
}


def own_of(cells: Cells) -> dict[str, Found]:
    """What became of every claim."""
    return {key: found_of(claim, cells) for key, claim in CLAIMS.items()}


def short(results: Results, preset: Preset) -> Short:
    """Return the first screen, and the result and the contradictions in full, each with a list."""
    cells = cells_of(results)
    every = cells.readings()
    readings = {name: own_of(cells.only(sets)) for name, sets in every.items()}
    result = [gained(name, cells, every, found) for name, found in readings.items()]
    result += others_gained(every, readings)
    counts, said = Counter[str](), []
    for key, claim in CLAIMS.items():
        where = {test: contradicting(key, readings, test) for test in TESTS}
        if claim.own:
            sets = {data for name in where[TESTS[0]] for data in sets_against(readings[name][key])}
            names = enumerated([data for data in cells.sets() if data in sets])
            said += [WORDS("not_counted", said=claim.brief, sets=names)] if sets else []
            continue
        counts["tested"] += any(verdict_of(key, own) for own in readings.values())
        counts.update(test for test, names in where.items() if names)
        if where[TESTS[0]]:
            each = [against_in(key, name, readings, name in where[TESTS[1]]) for name in where[TESTS[0]]]
            said.append(WORDS("against_one", said=claim.brief, readings="; ".join(each)))
    against = WORDS(
        "against",
        of=number(counts["tested"], "sentence"),
        count=counts[TESTS[0]],
        are="is" if counts[TESTS[0]] == 1 else "are",
        any=WORDS("any_reading") if len(readings) > 1 else "",
        new=WORDS(
            "new_all" if counts[TESTS[1]] == counts[TESTS[0]] == 1 else "new_some", new=counts[TESTS[1]]
        ),
        colon=":" if said else ".",
    )
    return Short(
        conclusion(readings),
        in_cells(every, readings),
        against_short(readings),
        nested(WORDS("cell"), result),
        nested(against, said),
    )


def own_sets(name: str, sets: Iterable[str]) -> list[str]:
    """Return the sets that only this reading has: of z-scored features those that are z-scored."""
    scaling = first_word(name)
    return [data for data in sets if scaling not in SCALED or data.endswith(scaling)]


def gains_of(name: str, found: Judged) -> list[Verdict]:
    """Return the verdicts of a reading on GLML against Euclid, on the sets that only this reading has."""
    own = own_sets(name, {which.cell[0] for which in found.each})
    return [verdict for which, verdict in found.each.items() if which.cell[0] in own]


def conclusion(readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return whether GLML gains on Euclid and on most other metrics; of several scalings the worse answer."""
    gain = {name: gains_of(name, own["gain"].these) for name, own in readings.items()}
    most = [answer([Verdict(said)] if (said := verdict_of("most", own)) else []) for own in readings.values()]
    counts = [
        {
            "name": first_word(name),
            "better": found.count(Verdict.SUPPORTED),
            "tested": len(found),
            "worse": found.count(Verdict.CONTRADICTED),
        }
        for name, found in gain.items()
    ]
    return WORDS(
        "conclusion",
        holds=answered(worst([answer(found) for found in gain.values()])),
        scaled="".join(WORDS("scaled", **each) for each in counts[1:]),
        most=answered(worst(most)),
        needed=WORDS("needed") if worst(most) == "undecided" and split_on_most(readings) else "",
        **counts[0],
    )


def split_on_most(readings: Mapping[str, Mapping[str, Found]]) -> bool:
    """Whether some sets support that GLML outperforms most metrics, and some contradict it."""
    found = {verdict for own in readings.values() for verdict in own["most"].these.sets.values()}
    return CLAIMS["most"].needs[2] == "most" and {Verdict.SUPPORTED, Verdict.CONTRADICTED} <= found


def in_cells(every: Mapping[str, Sequence[str]], readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return the sentence on the result: where GLML does not gain, new points, and most other metrics."""
    new = {name: gains_of(name, own["gain"].new) for name, own in readings.items()}
    counts = [f"{found.count(Verdict.SUPPORTED)} of {len(found)}" for found in new.values()]
    first = next(iter(readings))
    return WORDS(
        "result",
        rest=without_gain(readings[first]["gain"].these.each),
        new=counts[0],
        most=on_most({name: own for name, own in readings.items() if verdict_of("most", own)}),
    )


def without_gain(found: Mapping[Comparison, Verdict]) -> str:
    """Return on which sets GLML is not significantly better than Euclid, and whether that is in all their cells."""
    better = {which.cell[0] for which, verdict in found.items() if verdict is Verdict.SUPPORTED}
    rest = [which.cell[0] for which, verdict in found.items() if verdict is not Verdict.SUPPORTED]
    if not rest or len(rest) == len(found):
        return ""
    return WORDS(
        "rest",
        count=number(len(rest), "comparison"),
        are="is" if len(rest) == 1 else "are",
        all=WORDS("all_those") if better.isdisjoint(rest) else "",
        sets=f"of {enumerated(list(dict.fromkeys(rest)))}",
    )


def on_most(readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return on how many sets GLML outperforms most other metrics, and on how many this is contradicted."""
    if not readings:
        return ""
    sets = next(iter(readings.values()))["most"].these.sets  # the details have the other reading
    supported, contrary = (
        [data for data, each in sets.items() if each is kind]
        for kind in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    )
    counts = realisations(readings, LEARNT)
    return WORDS(
        "most_short",
        count=len(supported),
        of=len(sets),
        names=few_names(supported),
        contradicted=len(contrary),
        where=few_names(contrary),
        learnt=from_to(*counts),
        more=WORDS("more_elsewhere") if has_few(counts[1]) else "",
    )


def has_few(realisations: int) -> bool:
    """Whether the preset *reduced* has more realisations of the learnt metrics."""
    return realisations < WORDS.presets()["reduced"].splits


def few_names(names: Sequence[str]) -> str:
    """Return one name or two in brackets; nothing for more."""
    return f" ({enumerated(names)})" if 0 < len(names) <= FEW else ""


def first_word(name: str) -> str:
    """Return "z-scored" of "z-scored features"."""
    return name.split()[0]


def against_short(readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return how many of the papers' sentences each reading supports and contradicts, and where it contradicts them."""
    said = []
    for name, own in readings.items():
        found = {key: verdict_of(key, own) for key, claim in CLAIMS.items() if not claim.own}
        verdicts = [verdict for verdict in found.values() if verdict]
        brief = [against_on(key, name, own) for key in found if found[key] == Verdict.CONTRADICTED]
        good = [CLAIMS[key].short for key in found if found[key] == Verdict.SUPPORTED]
        kinds = WORDS(
            "kinds",
            contradicted=", ".join(brief) or WORDS("none"),
            undecided=verdicts.count(Verdict.UNDECIDED),
            supported=WORDS("supported_kind", said=", ".join(good)) if good else WORDS("unsupported"),
        )
        said.append((name, len(verdicts), kinds))
    _, of, first = said[0]
    return WORDS(
        "against_short",
        of=number(of, "sentence"),
        said=first,
        scaled="".join(
            WORDS("against_scaled", name=first_word(name).capitalize(), said=each)
            for name, _, each in said[1:]
        ),
    )


def against_on(key: str, name: str, own: Mapping[str, Found]) -> str:
    """Return the sets that contradict a claim in a reading, and whether new points do too."""
    contrary = sets_against(own[key])
    scaled = own_sets(name, contrary) if first_word(name) in SCALED else []
    return WORDS(
        "against_sets",
        name=CLAIMS[key].short,
        unlike=CLAIMS[key].unlike or WORDS("unlike"),
        contrary=named(contrary),
        scaling=WORDS("with_scaled", count=len(scaled), scaling=first_word(name))
        if 0 < len(scaled) < len(contrary)
        else "",
        new=WORDS("against_new_short") if verdict_of(key, own, TESTS[1]) == Verdict.CONTRADICTED else "",
    )


def sets_supporting(key: str, found: Found) -> list[str]:
    """Return the sets that support a claim, for these points, if it is not about every set."""
    if CLAIMS[key].needs[2] == "every":
        return []
    return [data for data, verdict in found.these.sets.items() if verdict is Verdict.SUPPORTED]


def verdict_of(key: str, own: Mapping[str, Found], test: str = TESTS[0]) -> str:
    """Return the verdict on a claim; "" if too few of its sets were compared."""
    found = own[key]
    judged = found.these if test == TESTS[0] else found.new
    said = of_enough(CLAIMS[key], judged.sets, judged.verdict) if found.pairs else NOT_RUN
    return "" if said is None or said.startswith(NO_VERDICT) else said


def contradicting(key: str, readings: Mapping[str, Mapping[str, Found]], test: str) -> list[str]:
    """Return the readings that contradict a claim."""
    return [name for name, own in readings.items() if verdict_of(key, own, test) == Verdict.CONTRADICTED]


def sets_against(found: Found) -> list[str]:
    """Return the sets that contradict a claim, for these points."""
    return [data for data, verdict in found.these.sets.items() if verdict is Verdict.CONTRADICTED]


def in_reading(name: str, readings: Collection[str]) -> str:
    """Return the name of a reading, if there are several."""
    return f" ({name})" if len(readings) > 1 else ""


def gained(name: str, cells: Cells, every: Mapping[str, Sequence[str]], own: Mapping[str, Found]) -> str:
    """Return how GLML does against Euclid in the cells of a reading; every: the sets of all readings."""
    found = own["gain"]
    above, of_cells, equal = gains(cells.only(every[name]))
    these, new = (list(each.each.values()) for each in (found.these, found.new))
    below = [
        f"{which.cell[0]} at {which.cell[1]}, {in_points(found.pairs[which].beyond().mean)} points"
        for which, verdict in found.these.each.items()
        if verdict is Verdict.CONTRADICTED
    ]
    first = next(iter(every))
    again = gains(cells.only(set(every[name]) & set(every[first])))[1] if name != first else 0
    alone = gains_of(name, found.these)
    same = WORDS(
        "same",
        count=again,
        first=first_word(name),
        better=alone.count(Verdict.SUPPORTED),
        tested=len(alone),
        worse=alone.count(Verdict.CONTRADICTED),
    )
    return WORDS(
        "gain",
        name=name,
        same=same if again else "",
        above=above,
        of_cells=of_cells,
        equal=WORDS("equal", count=len(equal), where=", ".join(equal)) if equal else "",
        tested=len(these),
        better=these.count(Verdict.SUPPORTED),
        new_better=new.count(Verdict.SUPPORTED),
        worse=these.count(Verdict.CONTRADICTED),
        where=f" ({'; '.join(below)})" if below else "",
    )


def others_gained(
    every: Mapping[str, Sequence[str]], readings: Mapping[str, Mapping[str, Found]]
) -> list[str]:
    """Return the verdict on most metrics, then those on the other sentences that no reading contradicts."""
    lines = []
    for key, claim in CLAIMS.items():
        found = {name: verdict for name, own in readings.items() if (verdict := verdict_of(key, own))}
        if (
            key == "gain"
            or claim.own
            or (key != "most" and contradicting(key, readings, TESTS[0]))
            or not found
        ):
            continue
        if key == "most":
            said = [most_by_set(name, verdict, readings) for name, verdict in found.items()]
            first = next(iter(found))
            absent = [data for data in every[first] if data not in readings[first][key].these.sets]
            counts = realisations(readings, LEARNT)
            given: dict[str, object] = {"learnt": from_to(*counts)}
            given["densities"] = from_to(*realisations(readings, DENSITIES))
            given["more"] = WORDS("decides_more") if has_few(counts[1]) else ""
            given["absent"] = WORDS("absent", sets=enumerated(absent)) if absent else ""
            metrics = metrics_there(readings)
            lines.append(WORDS("most", said=claim.brief, verdicts="; ".join(said), metrics=metrics, **given))
        else:
            said = [f"{verdict}{in_reading(name, readings)}" for name, verdict in found.items()]
            lines.append(WORDS("other", said=claim.brief, verdicts=", ".join(said)))
    return lines


def metrics_there(readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return which metrics GLML is compared with on the sets of all readings that have a verdict on most metrics."""
    pairs = {
        which: pair
        for own in readings.values()
        for which, pair in own["most"].pairs.items()
        if which.cell[0] in own["most"].these.sets
    }
    return " ".join(WORDS("compared", said=said) for said in on_sets(pairs))


def most_by_set(name: str, verdict: str, readings: Mapping[str, Mapping[str, Found]]) -> str:
    """Return the verdict that GLML outperforms most metrics, and on how many sets it does."""
    found = readings[name]["most"].these.sets
    sets = {data: found[data] for data in own_sets(name, found)}
    supported = [data for data, each in sets.items() if each is Verdict.SUPPORTED]
    contrary = [data for data, each in sets.items() if each is Verdict.CONTRADICTED]
    same = len(found) - len(sets)
    return WORDS(
        "most_verdict",
        verdict=verdict,
        reading=in_reading(name, readings),
        supported=len(supported),
        compared=number(len(sets), "set"),
        own=WORDS("own_sets", scaling=first_word(name), count=same) if same else "",
        names=f" ({enumerated(supported)})" if supported else "",
        contradicted=f"{len(contrary)}" + (f" ({enumerated(contrary)})" if contrary else ""),
    )


def from_to(least: int, most: int) -> str:
    """Return "10 to 20", or "10" if both are 10."""
    return f"{least}" if least == most else f"{least} to {most}"


def realisations(readings: Mapping[str, Mapping[str, Found]], methods: Collection[str]) -> tuple[int, int]:
    """Return how many realisations some metrics have at least and at most, where GLML is compared with most of them."""
    counts = [
        len(pair.first)
        for own in readings.values()
        for which, pair in own["most"].pairs.items()
        if which.second in methods and which.cell[0] in own["most"].these.sets
    ]
    return min(counts, default=0), max(counts, default=0)


def against_in(key: str, name: str, readings: Mapping[str, Mapping[str, Found]], new: bool) -> str:
    """Return where a reading contradicts a claim, and where it supports it; new: it does for new points too."""
    found = readings[name][key]
    each = list(found.these.each.values())
    supported = sets_supporting(key, found)
    return WORDS(
        "against_reading",
        contrary=enumerated(sets_against(found)),
        others=f" (supported on {enumerated(supported)})" if supported else "",
        against=each.count(Verdict.CONTRADICTED),
        of=len(each),
        reading=in_reading(name, readings),
        new=WORDS("against_new") if new else "",
    )


def gains(cells: Cells) -> tuple[int, int, list[str]]:
    """Return in how many cells GLML has a higher mean than Euclid, how many have both, and those with equal means.

    The means are rounded as the table shows them.
    """
    means = {
        cell: [round(mean(present(methods[name])).value, 4) for name in ("GLML", "Euclid")]
        for cell, methods in cells.accuracies.items()
        if {"GLML", "Euclid"} <= set(methods)
    }
    equal = [f"{data} at {size}" for (data, size), (ours, euclid) in means.items() if ours == euclid]
    return sum(ours > euclid for ours, euclid in means.values()), len(means), equal


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, the claims, how well the metrics are proved, and the time."""
    groups, cells = grouped(results), cells_of(results)
    tables = WORDS.page("tables", accuracies=accuracy_table(cells, gaps_missed(results)))
    readings, details = [], []
    every = cells.readings()
    before: set[str] = set()  # said of a reading, and so not again of the next
    for name, sets in every.items():
        there = cells.only(sets)
        own = own_of(there)
        said = [against(own, preset, before), ties(own, before)]
        readings += WORDS.page(
            "reading",
            title=[f"### {name[0].upper()}{name[1:]}"] if len(every) > 1 else [],
            legend=legend(),
            claims=claims_table(own, groups, sets),
            metrics=run_there(own["most"]),
            ties=said[1],
            against=said[0],
            without=point_left_out(there),
        )
        before |= {line for lines in said for line in lines if line.startswith("- ")}
        for key, found in own.items():
            details += comparisons(CLAIMS[key], found, sets, name)
    details = WORDS.page("details", legend=legend(*TESTS), comparisons=details)
    details += [*proofs(groups), *times(groups)]
    return Parts(tables, WORDS.page("verdicts", readings=readings), details, so_far(groups, preset))


def so_far(groups: Groups, preset: Preset) -> list[str]:
    """How much of the preset is run, where that is not all: by set, the realisations of its methods."""
    parts, missing = [], [data for data in preset.data if data not in groups]
    for data, tasks in groups.items():
        whole, of = asked(preset, data), {}
        for task in (SHARED, FITTED, MIXTURES, *LEARNT):
            if sizes_of(preset, data, task):
                of.setdefault(len(tasks.get(task, [])), []).extend(OF_TASK.get(task, (task,)))
        if min(of) < whole:
            said = [f"{count or 'none'} of {enumerated(names)}" for count, names in of.items()]
            parts.append(f"{data} ({whole}): {', '.join(said)}")
    sets = f" Nothing is run of {enumerated(missing)}." if missing else ""
    return WORDS.page("missing", sets=sets, parts=bullets(parts)) if parts or missing else []


# ---- accuracies


def present(by_realisation: Mapping[int, float | None]) -> list[float]:
    """Of the realisations with a metric."""
    return [value for value in by_realisation.values() if value is not None]


def run_methods(found: Iterable[Collection[str]]) -> list[str]:
    """Those with a result, in the order of the columns."""
    there = {name for methods in found for name in methods}
    return [name for name in METHODS if name in there]


def accuracy_table(cells: Cells, unmet: Counter[tuple[Cell, str]]) -> list[str]:
    """Mean and standard error; beside them the marks of the axis that the papers draw this in."""
    rows, names = [], run_methods(cells.accuracies.values())
    for cell, methods in cells.accuracies.items():
        own, most = panel(cell[0]), max(map(len, methods.values()))
        values = [of(methods.get(name, {}), most, unmet[cell, name]) for name in names]
        axis = "{:g} to {:g}".format(*(100 * end for end in own.axis))
        rows.append([f"({own.letter}) {cell[0]}", cell[1], most, *values, axis])
    return table(["data", "points", "realisations", *names, "the papers' axis"], rows)


def of(found: Mapping[int, float | None], most: int, unmet: int = 0) -> str:
    """A cell: "" where a method was not run, "none" where it has no metric, its number where it has one for some."""
    there = present(found)
    if not there:
        return "none" if found else ""
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
    rows = [
        [CLAIMS[key].said, CLAIMS[key].means, *cells_on(CLAIMS[key], found)] for key, found in own.items()
    ]
    of_time, verdict = claims.time_found(groups, sets)
    timed = of_enough(TIME, {data: verdict for data, _ in of_time}, verdict) if of_time else NOT_RUN
    rows.append([TIME.said, TIME.means, counted(of_time.values()) or NOT_RUN, "", timed, ""])
    return table(["the papers", "taken as", "comparisons", "sets, these points", *TESTS], rows)


def cells_on(claim: Claim, found: Found) -> list[str]:
    """The counts of the comparisons, the sets by verdict, and both verdicts."""
    if not found.pairs:
        return [NOT_RUN, "", NOT_RUN, NOT_RUN]
    verdicts = [of_enough(claim, found.these.sets, each.verdict) for each in (found.these, found.new)]
    return [counted(found.these.each.values()), by_verdict(found.these.sets), *verdicts]


def of_enough(claim: Claim, there: Mapping[str, Any], verdict: Verdict | None) -> str:
    """The verdict, where the sets that were compared are half of those it speaks of; of every one, one is enough."""
    of = len(claim.panels)
    if 2 * len(there) < of and not (claim.needs[2] == "every" and verdict is Verdict.CONTRADICTED):
        return f"{NO_VERDICT} (compared on {len(there)} of {of} sets)"
    return verdict


def by_verdict(of_sets: dict[str, Verdict]) -> str:
    """The sets by verdict."""
    names = {verdict: [data for data, each in of_sets.items() if each is verdict] for verdict in Verdict}
    return "; ".join(f"{verdict}: {', '.join(sets)}" for verdict, sets in names.items() if sets)


def run_there(found: Found) -> list[str]:
    """Which metrics GLML is compared with on which sets."""
    return [WORDS("metrics", said=said) for said in on_sets(found.pairs)]


def on_sets(pairs: Iterable[Comparison]) -> list[str]:
    """Which metrics are compared on which sets, in one text; none if nothing is."""
    metrics: dict[str, set[str]] = {}
    for which in pairs:
        metrics.setdefault(which.cell[0], set()).add(which.second)
    sets: dict[tuple[str, ...], list[str]] = {}
    for data, names in metrics.items():
        sets.setdefault(tuple(run_methods([names])), []).append(data)
    said = [f"on {enumerated(of)} {enumerated(names)}" for names, of in sets.items()]
    return ["; ".join(said)] if said else []


def point_left_out(cells: Cells) -> list[str]:
    """What the claims with a point become without it, and of GLML what they say of the other metrics."""
    rows = []
    for claim in CLAIMS.values():
        if claim.ahead and (found := claims.without_point(claim, cells)).these.verdict:
            rows.append([claim.said, *cells_on(claim, found)])
    head = ("the papers, of any difference", "comparisons", "sets, these points", *TESTS)
    more, too = little_more(cells), glml_too(cells)
    return WORDS.block("without", table=table(head, rows), more=more, too=too) if rows else []


def little_more(cells: Cells) -> list[str]:
    """The metrics that the point alone keeps from outperforming Euclid."""
    there = [
        f"{metric} on {data} at {enumerated([str(size) for size in sizes])}"
        for (data, metric), sizes in claims.barely_better(cells).items()
    ]
    return [WORDS("little_more", where="; ".join(there))] if there else []


def glml_too(cells: Cells) -> list[str]:
    """Where GLML does not outperform Euclid by what is asked of the others."""
    sets = found_of(claims.GLML_TOO, cells).these.sets
    names = [data for data, verdict in sets.items() if verdict is Verdict.SUPPORTED]
    return [WORDS("glml_too", sets=enumerated(names))] if names else []


def against(own: dict[str, Found], preset: Preset, before: Collection[str] = ()) -> list[str]:
    """A sentence on each set that contradicts a claim, those that nothing explains first; but for those said before."""
    known = REMARKS if preset.remarks else {}
    said = [
        f"{CLAIMS[key].said}: contradicted on {data}; "
        + known.get((data, key), WORDS("not_ours") if CLAIMS[key].own else "open.")
        for key, found in own.items()
        for data, verdict in found.these.sets.items()
        if verdict is Verdict.CONTRADICTED
    ]
    said.sort(key=lambda sentence: "; open" not in sentence)
    return WORDS.bullets(
        "contradicted", unsaid(said, before), again=WORDS("again") if unsaid(said, before) != said else ""
    )


def ties(own: dict[str, Found], before: Collection[str] = ()) -> list[str]:
    """Where a claim of the papers neither holds by the point nor is contradicted; but for those said before."""
    said = [
        WORDS("tie", claim=CLAIMS[key].said, data=data)
        for key, found in own.items()
        for data in claims.not_by_a_point(found, CLAIMS[key])
        if not CLAIMS[key].own
    ]
    return WORDS.bullets("ties", unsaid(said, before))


def unsaid(said: Sequence[str], before: Collection[str]) -> list[str]:
    """The sentences that are not list entries said before."""
    return [sentence for sentence in said if f"- {sentence}" not in before]


def comparisons(claim: Claim, found: Found, sets: list[str], reading: str) -> list[str]:
    """Every comparison with its interval for new points and its letters, a line for each set and pair of methods."""
    rows: dict[tuple[str, str], list[str]] = {}
    for which, pair in found.pairs.items():
        if which.cell[0] in sets:
            codes = letters(found.these.each[which], found.new.each[which])
            key = (which.cell[0], f"{which.first} - {which.second}")
            rows.setdefault(key, []).append(f"{which.cell[1]}: {difference(*pair).shown(1)} {codes}")
    made = table(["data", "", "differences"], ([*key, "; ".join(each)] for key, each in rows.items()))
    said = {"said": claim.said, "reading": reading, "reach": reach_of(claim.ahead)}
    return WORDS.page("comparisons", table=made, **said) if rows else []


def reach_of(ahead: float) -> str:
    """Of which difference a comparison is supported and contradicted."""
    if not ahead:
        return ", C contradicted"
    least = f"{100 * ahead:+g}"
    return f" (more than {least}), C contradicted (less than {least if ahead < 0 else 0})"


# ---- proofs and time


def proofs(groups: Groups) -> list[str]:
    """The largest gap, how often the gap asked for was not met or no metric exists, what was chosen, and edges."""
    rows = []
    for data, method, found in by_method(groups):
        gaps = [each["gap"] for each in found if each["gap"] is not None]
        absent = 0 if method in DENSITIES else sum(each["status"] is None for each in found)
        chosen = Counter(
            ", ".join(f"{value:g}" for value in each["chosen"]) for each in found if each["chosen"]
        )
        edges = [edge for each in found if (edge := at_edge(method, each)) is not None]
        unmet = sum(missed(each["status"]) for each in found)
        row = [
            f"{max(gaps):.1e}" if gaps else "",
            "" if method in DENSITIES else f"{unmet} of {len(found)}",
            absent,
            "; ".join(f"{value} ({count})" for value, count in chosen.most_common(3)),
            f"{sum(edges)} of {len(edges)}" if edges else "",
        ]
        rows.append([data, method, *row])
    head = ["data", "method", "largest gap", "not met", "no metric", "most often chosen", "at an edge"]
    return WORDS.page("proofs", table=table(head, rows))


def by_method(groups: Groups) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Data, method, and what is known of every metric: gap, status, chosen, and edge where grids go on."""
    for data, tasks in groups.items():
        for method in ("GLML", MIXTURES, *LEARNT, *DENSITIES):
            found = []
            for result in tasks.get(TASK_OF.get(method, method), []):
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
        row, sizes = [data], tasks[SHARED][0]["sizes"] if SHARED in tasks else []
        for method in (SHARED, MIXTURES, *LEARNT, FITTED):
            own = tasks.get(method, [])
            note = f" (to {own[0]['sizes'][-1]})" if own and own[0]["sizes"] != sizes else ""
            row.append(f"{median(each['seconds'] for each in own):.1f}{note}" if own else "")
        rows.append(row)
    head = ["data", "GLML, Euclid", MIXTURES, *LEARNT, "Fisher, Bayes"]
    return WORDS.page("seconds", table=table(head, rows), SPEEDS=claims.SPEEDS)


# ---- the picture


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Fig. 5 of Noh et al. 2018: accuracy against training points a class, a panel for each set."""
    cells = cells_of(results)
    names = cells.sets()
    columns = min(COLUMNS, len(names) + 1)
    rows = -(-(len(names) + 1) // columns)
    figure.set_size_inches(3.6 * columns, 3.4 * rows)
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    shown: dict[str, Any] = {}
    for axes, data in zip(places, names, strict=False):
        panel_of(axes, data, cells)
        lines, labels = axes.get_legend_handles_labels()
        shown |= dict(zip(labels, lines, strict=True))
    for axes in places[len(names) :]:
        axes.axis("off")
    ordered = run_methods([shown])
    handles = [shown[name] for name in ordered]
    places[len(names)].legend(handles, ordered, loc="center", title="metric of 1-NN")
    figure.supxlabel(
        "bars: a standard error of the mean; hollow: one realisation; grey: between the marks of the papers' axis",
        fontsize=9,
    )


def panel_of(axes: Any, data: str, cells: Cells) -> None:
    """The curves of a set, over the range that the papers' axis marks."""
    low, high = panel(data).axis
    axes.axhspan(100 * low, 100 * high, color="#eeeeee", zorder=0)
    own = {size: methods for (name, size), methods in cells.accuracies.items() if name == data}
    for method in METHODS:
        by_size = {size: present(methods.get(method, {})) for size, methods in own.items()}
        curve(axes, method, by_size, ls="--" if method == MIXTURES else "-")
    axes.set_xticks(list(own))
    axes.set_title(f"({panel(data).letter}) {data}")
    axes.set_xlabel("training points a class")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)


def curve(axes: Any, method: str, by_place: Mapping[int, Sequence[float]], **style: Any) -> None:
    """The mean accuracies of a method with their standard errors, in per cent, at the places that have any."""
    found = {place: values for place, values in by_place.items() if values}
    if found:
        colour, marker = STYLES[method]
        style = {"lw": 2 if method in ("Euclid", "GLML") else 1, "ms": 5, "capsize": 2, **style}
        mfc = "white" if max(map(len, found.values())) == 1 else colour
        means = map(mean, found.values())
        with_bars(axes, found, means, 1, color=colour, marker=marker, mfc=mfc, label=method, **style)
