"""The report of the experiment on NCA: what the note says of it, and whether it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from validation.experiments import nca_claims as note
from validation.experiments.nca_claims import WORDS, Judged, Key, Panel, accuracies, compared, sets
from validation.experiments.nca_more import KS, SHARES, START
from validation.experiments.page import (
    Groups,
    Parts,
    Results,
    Short,
    answered,
    bullets,
    counted,
    grouped,
    joint,
    named,
    nested,
    table,
    with_bars,
)
from validation.experiments.statistics import in_points, mean
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import (
    Compared,
    Verdict,
    alike,
    answer,
    every,
    joined,
    judged,
    legend,
    these,
)

# Okabe and Ito's colours
STYLES = {
    "Euclid": ("#56B4E9", "s"),
    "whitened": ("#009E73", "v"),
    "RCA": ("#D55E00", "^"),
    "PCA 2": ("#0072B2", "s"),
    "LDA 2": ("#E69F00", "D"),
    "NCA": ("#000000", "o"),
    "NCA 2": ("#000000", "o"),
}
PICTURE = [panel._replace(data=()) for panel in note.PANELS[:4]]  # all sets, whatever the note says of them
RANKS = (("", "full rank"), (" 2", "d = 2"))
POINT = f"{100 * note.NEAR:g} point"  # what counts as little
SHOWN = ("difference", "95 %, new points", "effect")
VERDICTS = ("these points", "new points")
C = Verdict.CONTRADICTED
MAIN = [panel.name for panel in note.PANELS[:4]]  # the figures of the first sentence
PARTS = ("train", "test")
OUR_MARK = "our classes"
FEW = 2  # sets that the first screen names
SHORT = {note.SAID[name]: said for name, said in WORDS.found["short"].items()}  # on the first screen


def short(results: Results, preset: Preset) -> Short:
    """Return the first screen, and the result and the contradictions in full, each with a list."""
    panels, more = note.by_choice(grouped(results))
    every = [claim for claim in map(note.agreed, (*panels, *more.values())) if claim.pairs]
    main = [claim for claim in every if claim.where in MAIN]
    beyond = [claim for claim in every if claim.where not in MAIN]
    result = [
        WORDS(
            "figures",
            said=sentence,
            places=" ".join(of_panel(claim) for claim in main if claim.sentence == sentence),
        )
        for sentence in dict.fromkeys(claim.sentence for claim in main)
    ]
    result += [of_others(beyond)] if beyond else []
    said, brief, counts = [], [], Counter[str]()
    for sentence in dict.fromkeys(claim.sentence for claim in every):
        own = [claim for claim in every if claim.sentence == sentence]
        counts["new"] += any(contradicting(claim, claim.new) for claim in own)
        if places := [place(claim) for claim in own if contradicting(claim)]:
            said.append(WORDS("against_one", said=sentence, places="; ".join(places)))
            brief.append(against_on(own, main))
    tested = {claim.sentence for claim in every}
    absent = [f'"{name}"' for key, name in note.SAID.items() if key != "scale" and name not in tested]
    given = {
        "count": len(said),
        "of": len(tested),
        "new": counts["new"],
        "colon": ":" if said else ".",
        "tested": WORDS("tested", every=len(tested) + len(absent)) if absent else "",
        "untested": WORDS("untested", names="; ".join(absent)) if absent else "",
    }
    return Short(
        conclusion(main, grouped(results)),
        WORDS("result", missing=untested(main, preset), **on_figures(main, "new")),
        nested(WORDS("against_short", **given), brief),
        nested(WORDS("all_results"), result),
        nested(WORDS("against", **given), said),
    )


def set_verdicts(claim: Judged, which: str) -> list[Verdict]:
    """Return the verdict on each set of a sentence; which: "here" for these points, or "new"."""
    found: dict[Key, Verdict] = getattr(claim, which)
    return [verdict for data in sets(claim) if (verdict := note.of_set(found, data)) is not None]


def of_part(main: Sequence[Judged], part: str, which: str) -> list[Verdict]:
    """Return the verdicts of a sentence on the figures, on every set at full rank and in the plane."""
    claims = [claim for claim in main if claim.where.endswith(part)]
    return [verdict for claim in claims for verdict in set_verdicts(claim, which)]


def conclusion(main: Sequence[Judged], run: Collection[str]) -> str:
    """Return whether NCA leads on training data and is near the top on test data, for these points."""
    test = of_part(main, "test", "here")
    apart = [data for data in run if data not in note.SIX]  # only other sentences are about these
    return WORDS(
        "conclusion",
        train=answered(answer(of_part(main, "train", "here"))),
        always=joined(test, every) or WORDS("untested_here"),
        test_open=test.count(Verdict.UNDECIDED),
        without=WORDS("without", names=", ".join(apart)) if apart else "",
        **on_figures(main, "here"),
    )


def on_figures(main: Sequence[Judged], which: str) -> dict[str, object]:
    """Return for how many pairs of set and rank each sentence on the figures holds, and the second is contradicted."""
    found = {part: of_part(main, part, which) for part in PARTS}
    counts = {part: (each.count(Verdict.SUPPORTED), len(each)) for part, each in found.items()}
    return {
        **{f"{part}_count": joint([count]) for part, count in counts.items()},
        "test_near": counts["test"][0],
        "test_against": found["test"].count(C),
    }


def untested(main: Sequence[Judged], preset: Preset) -> str:
    """Return the sets and ranks of the figures that are not tested, and whether the preset *reduced* has these sets."""
    missing = dict.fromkeys(
        f"{data} ({rank_name(claim)})" for claim in main for data in claim.about if data not in sets(claim)
    )
    reduced = WORDS.presets()["reduced"]
    elsewhere = preset != reduced and all(name.split(" (")[0] in reduced.data for name in missing)
    given = {"sets": ", ".join(missing), "elsewhere": WORDS("elsewhere") if elsewhere else ""}
    return WORDS("untested_sets", **given) if missing else ""


def rank_name(claim: Judged) -> str:
    """Return "full rank" of "Full rank, test"."""
    return claim.where.split(", ")[0].replace("Full", "full")


def against_on(claims: Sequence[Judged], main: Sequence[Judged]) -> str:
    """Return the sets that contradict a sentence, over all its tables, and those that contradicting tables lack."""
    here, new = (
        dict.fromkeys(set_at(claim, data) for claim in claims for data in contradicting(claim, found(claim)))
        for found in (lambda claim: claim.here, lambda claim: claim.new)
    )
    missing = dict.fromkeys(
        data
        for claim in claims
        if contradicting(claim) and claim.where not in MAIN  # those of the figures are named before
        for data in claim.about
        if data not in sets(claim)
    )
    missing |= {
        WORDS("at_rank", data=data, rank=rank): None
        for claim in claims
        if contradicting(claim) and claim.where not in MAIN
        for data, rank in untested_ranks(claim, main)
    }
    ours = [data for data in here if data in note.OUR_CLASSES and len(here) <= FEW]
    apart = [OUR_MARK if len(here) == 1 else f"{data}: {OUR_MARK}" for data in ours]
    apart += [WORDS("new_short", sets=named(list(new)))] if new else []
    apart += [WORDS("missing_short", sets=", ".join(missing))] if missing else []
    return WORDS(
        "against_sets",
        name=SHORT[claims[0].sentence],
        part=of_parts(claims),
        sets=named(list(here), FEW),
        apart=f" ({'; '.join(apart)})" if apart else "",
    )


def of_parts(claims: Sequence[Judged]) -> str:
    """Return on which parts NCA is contradicted to be as good as other learnt maps, which are compared on both."""
    if claims[0].sentence != note.SAID["others"]:
        return ""
    parts = [claim.where.rpartition(", ")[2] for claim in claims if contradicting(claim)]
    return WORDS("on_part", parts=" and ".join(parts))


def untested_ranks(claim: Judged, main: Sequence[Judged]) -> list[tuple[str, str]]:
    """Return the sets and ranks that the figures do not test, if a sentence compares NCA at both ranks."""
    ranks = {"NCA": "full rank", "NCA 2": "d = 2"}
    there = {name for _, first, _ in claim.pairs if (name := first.split(" (")[0]) in ranks}
    if len(there) < len(ranks):
        return []
    tested = {(data, rank_name(panel)) for panel in main for data in sets(panel)}
    found = [(data, rank) for data in sets(claim) if data in claim.about for rank in ranks.values()]
    return [each for each in found if each not in tested]


def set_at(claim: Judged, data: str) -> str:
    """Return the name of a set, with its rank if the sentence is about both: "housing at full rank (our classes)".

    For a sentence on both parts, with the part that contradicts it and the largest difference there.
    """
    if claim.sentence == note.SAID["both"]:
        contrary = [key for key, verdict in claim.here.items() if key[0] == data and verdict is C]
        least = min(claim.pairs[key].beyond().mean for key in contrary)
        place, part = WORDS("at_rank", data=data, rank=rank_name(claim)), claim.where.split(", ")[1]
        return WORDS("with_points", place=place, points=in_points(least), part=part)
    if claim.where not in MAIN:
        return data
    name = WORDS("at_rank", data=data, rank=rank_name(claim))
    return f"{name} ({OUR_MARK})" if data in note.OUR_CLASSES else name


def of_panel(claim: Judged) -> str:
    """Return on which sets a sentence on a figure is supported, undecided and contradicted."""
    missing = [data for data in claim.about if data not in sets(claim)]
    new = by_kind(claim, claim.new, (Verdict.SUPPORTED, C))
    return WORDS(
        "figure",
        name=claim.where,
        said=claim.sentence,
        sets=by_kind(claim, claim.here),
        new=WORDS("new_sets", sets=new) if new else "",
        missing=WORDS("missing_sets", sets=", ".join(missing)) if missing else "",
    )


def by_kind(claim: Judged, found: dict[Key, Verdict], kinds: Collection[Verdict] = tuple(Verdict)) -> str:
    """Return the sets of a sentence by their verdicts."""
    every, said = sets(claim), []
    for kind in kinds:
        of = [data for data in every if note.of_set(found, data) is kind]
        names = [shown_set(data) if kind is C else data for data in of]
        said += [f"{kind} on " + (f"all {len(of)} sets" if of == every else ", ".join(names))] if of else []
    return "; ".join(said)


def shown_set(data: str) -> str:
    """Return the name of a set, with a mark if its classes are ours."""
    return f"{data} ({OUR_MARK})" if data in note.OUR_CLASSES else data


def of_others(claims: Sequence[Judged]) -> str:
    """Return the verdicts on the sentences beyond the figures, over all their sets."""
    verdicts = counted(f"{together(claim, claim.here)}{so_far(claim, claim.here)}" for claim in claims)
    return WORDS(
        "other_sentences",
        tables=len(claims),
        verdicts=verdicts,
        new=counted(f"{together(claim, claim.new)}{so_far(claim, claim.new)}" for claim in claims),
    )


def place(claim: Judged) -> str:
    """Return where a sentence is contradicted: on which sets, and in how many comparisons."""
    new = contradicting(claim, claim.new)
    return WORDS(
        "against_place",
        where=claim.where,
        sets=", ".join(map(shown_set, contradicting(claim))),
        count=list(claim.here.values()).count(C),
        of=len(claim.here),
        new=WORDS("new_too", sets=", ".join(map(shown_set, new))) if new else "",
    )


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, what becomes of each sentence, the descents and what the note says beside."""
    groups = grouped(results)
    panels, beyond = note.by_choice(groups)
    *drawn, separated = map(note.agreed, panels)
    said = {name: note.agreed(claims) for name, claims in beyond.items()}
    depending = [line for claims in (*panels, *beyond.values()) for line in on_the_choice(claims)]
    claims = [claim for claim in (*drawn, separated, *said.values()) if claim.pairs]
    verdicts = WORDS.page(
        "verdicts",
        legend=legend(),
        against=WORDS.bullets("contradicted", [line for claim in claims for line in contradicted(claim)]),
        summary=summary(claims),
        less=by_less(separated, note.SEPARATED.margin),
        depending=WORDS.bullets("depending", depending),
        scale=[WORDS("no_verdict", scale=note.SAID["scale"])] if scale(groups) else [],
    )
    reasons = [
        line for panel, claim in zip(note.PANELS, drawn, strict=True) for line in behind(groups, panel, claim)
    ]
    details = WORDS.page(
        "details",
        behind=WORDS.bullets("behind", reasons),
        descents=descents(groups),
        beyond=further(groups, said),
    )
    return Parts(figures(groups, drawn), verdicts, details)


def rank_of(method: str) -> str:
    """Of the maps of a method."""
    return "2" if method.endswith(" 2") else "full"


def name(method: str) -> str:
    """As the tables have it."""
    return method.removesuffix(" 2")


def means(methods: dict[str, list[Result]], names: Iterable[str], part: str = "test") -> list[str]:
    """The mean accuracies of some methods on a part."""
    found = [accuracies(methods, each, part) for each in names]
    return [str(mean(each)) if each else "not run" for each in found]


# --- the tables of the figures


def figures(groups: Groups, claims: list[Judged]) -> list[str]:
    """The tables with their verdicts."""
    lines = []
    columns = ("NCA less the best other", "95 %, new points", "effect", *VERDICTS)
    for panel, claim in zip(note.PANELS, claims, strict=True):
        rows = []
        for data, methods in note.those_of(groups, panel).items():
            *others, ours = (len(methods[method]) for method in panel.methods)
            splits = f"{max(others)}" + (f" (NCA {ours})" if ours < max(others) else "")
            rows.append([data, splits, *means(methods, panel.methods, panel.part), *against(claim, data)])
        if rows:
            made = table(("data", "splits", *map(name, panel.methods), *columns), rows)
            lines += WORDS.page("panel", name=panel.name, said=panel.claim, legend=legend(), table=made)
    return lines


def against(claim: Judged, data: str) -> list[str]:
    """NCA beside the best of the others, and the verdicts against all of them."""
    of_data = {key: each for key, each in claim.pairs.items() if key[0] == data}
    if not of_data:
        return ["one split"] + [""] * 4
    best = min(of_data, key=lambda key: of_data[key].beyond().mean)
    difference, interval, effect = shown(of_data[best])
    verdicts = [str(note.of_set(found, data)) for found in (claim.here, claim.new)]
    return [f"{difference} ({name(best[2])})", interval, effect, *verdicts]


def shown(each: Compared) -> list[str]:
    """The difference in points, the interval for new points, and the effect."""
    found = each.beyond()
    return [in_points(found.mean), " to ".join(map(in_points, found.interval)), f"{each.effect:+.1f}"]


# --- the verdicts


def together(claim: Judged, found: dict[Key, Verdict]) -> Verdict | None:
    """The verdict on all sets of a sentence."""
    return joined(list(found.values()), every)


def so_far(claim: Judged, found: dict[Key, Verdict]) -> str:
    """What is said of a verdict where sets or splits are missing, which a contradiction does not need."""
    return " where run" if note.lacking(claim) and together(claim, found) is not C else ""


def contradicting(claim: Judged, found: dict[Key, Verdict] | None = None) -> list[str]:
    """The sets that contradict a sentence, for these points if nothing else is given."""
    return [data for data in sets(claim) if note.of_set(claim.here if found is None else found, data) is C]


def contradicted(claim: Judged) -> list[str]:
    """A sentence, if some set contradicts it for these points."""
    contrary = [
        f"{data} (on {OUR_MARK})" if data in note.OUR_CLASSES else data for data in contradicting(claim)
    ]
    where = f"{claim.where}: contradicted on {', '.join(contrary)}; open."
    return [f'"{claim.sentence}", {where}'] if contrary else []


def summary(claims: Iterable[Judged]) -> list[str]:
    """A row for each sentence: the verdict on all its sets together, and on how many it is which.

    Supported it is where it is so on every set that the note says it of: where sets or splits of theirs are missing,
    it says so.
    """
    rows = []
    for claim in claims:
        row = [f'"{claim.sentence}"', "; ".join([claim.where, *note.lacking(claim)])]
        for found in (claim.here, claim.new):
            contrary = contradicting(claim, found)
            ours = " on our classes" if contrary and set(contrary) <= set(note.OUR_CLASSES) else ""
            counts = counted(note.of_set(found, data) for data in sets(claim))
            row.append(f"**{together(claim, found)}{so_far(claim, found)}{ours}** ({counts})")
        rows.append(row)
    return table(("the note", "where", *(f"{each}: all together (sets)" for each in VERDICTS)), rows)


def by_less(claim: Judged, margin: float) -> list[str]:
    """Of these points: what is undecided though NCA is for sure ahead by less than the margin."""
    found = [
        f"{key[0]} (before {name(key[2])}, {in_points(claim.pairs[key].beyond().mean)})"
        for key, verdict in judged(these(claim.pairs), margin).items()
        if verdict is C and claim.here[key] is Verdict.UNDECIDED
    ]
    said = {"said": claim.sentence, "point": 100 * margin, "where": ", ".join(found)}
    return [WORDS("less", **said)] if found else []


def on_the_choice(claims: Sequence[Judged]) -> list[str]:
    """A line for each data set on which the verdict of a sentence depends on the choice of the start."""
    found = []
    for data in sets(claims[0]):
        each = [note.of_set(claim.here, data) for claim in claims]
        if len(set(each)) > 1:
            named = ", ".join(
                f"{choice}: {verdict}" for choice, verdict in zip(note.CHOICES, each, strict=True)
            )
            found.append(f'"{claims[0].sentence}", {claims[0].where}, {data}: {named}.')
    return found


# --- the descents, and what is behind contradictions


def behind(groups: Groups, panel: Panel, claim: Judged) -> list[str]:
    """Why sets contradict a sentence: NCA is behind on the training part too, or only on the test part."""
    lines = []
    for data, methods in note.those_of(groups, panel).items():
        train = {of: float(np.mean([each["train"] for each in methods[of]])) for of in panel.methods}
        contrary = [key for key, verdict in claim.here.items() if key[0] == data and verdict is C]
        margins = {name(other): 100 * (train[ours] - train[other]) for _, ours, other in contrary}
        ahead = [f"{other} by {margin:.2f}" for other, margin in margins.items() if margin >= 0]
        local = [f"{other} by {-margin:.2f}" for other, margin in margins.items() if margin < 0]
        said = [WORDS("ahead", others=", ".join(ahead))] if ahead else []
        said += [WORDS("local", others=", ".join(local))] if local else []
        lines += [f"{data}, {panel.name}: {' '.join(said)}"] if said else []
    return lines


def descents(groups: Groups) -> list[str]:
    """Every start of NCA: how often it was the best, where it ended, how much was left, and its accuracy."""
    rows = []
    for data, methods in groups.items():
        for method in ("NCA", "NCA 2"):
            found = methods.get(method, [])
            for start in found[0]["starts"] if found else ():
                best = sum(result["start"] == start for result in found)
                runs = [result["starts"][start] for result in found]
                rows.append([data, rank_of(method), start, best, *ended(runs)])
        for method in ("g", "g 2"):
            if found := methods.get(method, []):
                rows.append([data, rank_of(method), "g", "", *ended(found)])
    return table(("data", "rank", "start", "best", "how it ended", "left", "f / n", "train", "test"), rows)


def ended(runs: list[Result]) -> list[object]:
    """The columns of a start."""
    counts = Counter(run["status"] for run in runs).most_common()
    left = [run["left"] for run in runs if run["status"] != "NOT_ATTAINED" and "left" in run]
    shares = [
        str(mean([run[share] for run in runs])) if share in runs[0] else "-"
        for share in ("f", "train", "test")
    ]
    ends = ", ".join(f"{count} {status}" for status, count in counts)
    return [ends, f"{max(left):.1e}" if left else "-", *shares]


# --- beyond the figures


def further(groups: Groups, found: dict[str, Judged]) -> list[str]:
    """A section for each sentence that anything was run for."""
    train = compared(groups, note.rivals(groups), "train")
    by_itself = alone(found["criteria"])
    more: dict[str, tuple[str, Callable[[Key], object]]] = {  # a further column
        "fitting": ("fit", lambda key: in_points(train[key].beyond().mean)),  # the lead on the training part
        "stopping": (
            "steps (splits)",
            lambda key: counted(run["steps"] or "to the end" for run in groups[key[0]][key[2]]),
        ),
        "criteria": ("alone", lambda key: by_itself[key]),
    }
    before = {"sizes": shares, "criteria": by_start, "others, train": relatives, "others": relatives}
    lines = []
    for section, claim in found.items():
        if claim.pairs:
            text = WORDS(f"beyond.{section}", point=POINT)
            lines += ["", f'### "{claim.sentence}": {claim.where}', "", text, ""]
            if section in before:
                lines += [*before[section](groups, claim), ""]
            lines += comparisons(claim, *more.get(section, ()))
    lines += scale(groups)
    return [f"## {WORDS('beyond.title')}", *lines] if lines else []


def comparisons(claim: Judged, more: str = "", cell: Callable[[Key], object] | None = None) -> list[str]:
    """A row for each comparison, with a further column if it has a cell."""
    rows = []
    for key, each in claim.pairs.items():
        row = [key[0], f"{key[1]} - {key[2]}", *shown(each), claim.here[key], claim.new[key]]
        rows.append([*row, cell(key)] if cell else row)
    return table(["data", "", *SHOWN, *VERDICTS, *([more] if cell else [])], rows)


def alone(claim: Judged) -> dict[Key, str]:
    """Of g and f, what each comparison says by itself of these points."""
    return dict(alike(these(claim.pairs), note.NEAR))


def relatives(groups: Groups, claim: Judged) -> list[str]:
    """The accuracies of NCA, MMC and chunklets on the part that the claim is about."""
    names, part = ("NCA", "MMC", "chunklets"), claim.where.rpartition(", ")[2]
    return table(["data", *names], [[data, *means(groups[data], names, part)] for data in sets(claim)])


def shares(groups: Groups, claim: Judged) -> list[str]:
    """The accuracies on the test part by the share of the training points, NCA's and Euclid's."""
    ours, euclid = (*SHARES, note.of_start("NCA")), (*(f"Euclid {share}" for share in SHARES), "Euclid")
    rows = [
        [f"{data}, {names[-1]}", *means(groups[data], names)]
        for data in sets(claim)
        for names in (ours, euclid)
    ]
    return table(["data", *SHARES, "all"], rows)


def by_start(groups: Groups, claim: Judged) -> list[str]:
    """The test accuracies of g, and of f from two starts and from its best; what the starts explain."""
    rows = []
    for data in sets(claim):
        for suffix, rank in RANKS:
            names = [f"NCA{suffix}{start}" for start in (f" ({START})", " (likelihood)", "")]
            if accuracies(groups[data], f"g{suffix}"):
                rows.append([data, rank, *means(groups[data], (f"g{suffix}", *names))])
    head = ("data", "rank", "g", f"NCA ({START})", "NCA (likelihood)", "NCA")
    said = set_apart(claim)
    return [*table(head, rows), *(["", *bullets(said)] if said else [])]


def set_apart(claim: Judged) -> list[str]:
    """Where one of the two comparisons of g is contradicted by itself and the other is not, and what explains that."""
    said, by_itself = [], alone(claim)
    for best in claim.pairs:
        data, first, second = best
        same = (data, first, note.of_start(second))
        if same not in claim.pairs:
            continue
        if by_itself[same] is C and by_itself[best] is Verdict.SUPPORTED:
            why = WORDS("beyond.worse_start")
        elif by_itself[best] is C and by_itself[same] is not C:
            why = WORDS("beyond.one_start")
        else:
            continue
        figures = [in_points(claim.pairs[key].beyond().mean) for key in (same, best)]
        said.append(
            f"{data}, {first} - {second}: {figures[0]} points with f from the same start, {figures[1]} with f's "
            f"best: {why}."
        )
    return said


def scale(groups: Groups) -> list[str]:
    """kNN after g with as many neighbours as its scale suggests, beside other numbers: figures, and no verdict."""
    rows = []
    for data, methods in groups.items():
        for suffix, rank in RANKS:
            if results := methods.get(f"g{suffix}", []):
                at = {k: mean([each["at"][str(k)] for each in results]) for k in KS}
                best, worst = (pick(at, key=lambda k: round(at[k].value, 12)) for pick in (max, min))
                ours = mean([each["at_suggested"] for each in results])
                suggested = counted(each["suggested"] for each in results)
                ends = (f"{at[k]} ({k})" for k in (best, worst))
                rows.append([data, rank, len(results), ours, at[1], *ends, suggested])
    if not rows:
        return []
    head = ("data", "rank", "splits", "suggested k", "k = 1", "best k", "worst k", "suggested k (splits)")
    text = WORDS("beyond.scale", ks=", ".join(map(str, KS)))
    return ["", f'### "{note.SAID["scale"]}": no verdict', "", text, "", *table(head, rows)]


# --- the picture


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Accuracy by data set and method: on top full rank, below the plane; the training part on the left."""
    groups = grouped(results)
    figure.set_size_inches(11, 7.5)
    axes = figure.subplots(2, 2, sharey="row")
    for ax, panel in zip(axes.flat, PICTURE, strict=True):
        found = note.those_of(groups, panel)
        for k, method in enumerate(panel.methods):
            places = np.arange(len(found)) + 0.16 * (k - (len(panel.methods) - 1) / 2)
            points(ax, method, places, [accuracies(of, method, panel.part) for of in found.values()])
        ax.set_xticks(range(len(found)), list(found), rotation=20)
        ax.set_title(panel.name)
        ax.grid(axis="y", alpha=0.3)
        if panel.part == "train":
            ax.set_ylabel("accuracy of 1-NN, %")
        else:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.supxlabel("bars: two standard errors of the mean over the splits; hollow: one split", fontsize=9)


def points(ax: Any, method: str, places: Collection[float], found: Sequence[Sequence[float]]) -> None:
    """The means of a method at some places, with two standard errors; hollow, where there is one value."""
    means = [mean(values) for values in found]
    colour, marker = STYLES[method]
    with_bars(ax, places, means, 2, label=name(method), fmt=marker, color=colour, markersize=7, capsize=3)
    for place, values, each in zip(places, found, means, strict=True):
        if len(values) == 1:
            ax.plot(place, 100 * each.value, marker, color=colour, mfc="white", markersize=7, zorder=3)
