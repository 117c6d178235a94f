"""What the experiment of Table 1 reports: each cell beside the paper's, and what becomes of the paper's claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from validation.experiments import table1_claims as claiming
from validation.experiments.page import (
    Parts,
    Results,
    Short,
    answered,
    bullets,
    counted,
    crossed,
    either,
    enumerated,
    joint,
    listed,
    nested,
    number,
    table,
)
from validation.experiments.table1_claims import (
    COLUMNS,
    KS,
    OTHERS,
    OURS,
    WORDS,
    Cells,
    arranged,
    is_marked,
    paper_of,
    sets_of,
)
from validation.experiments.table1_others import SHARES
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import NO_VERDICT, Verdict, answer, share_interval, worst

REMARKS = WORDS.remarks()  # data and method -> the explanation of a difference
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#999933", "#d55e00", "#009e73", "#0072b2")
MARKERS = ("x", "v", "^", "s", "<", "o", "D", "P")
ONLY_PAPER, PAPERS = ("GB-LMNN", "k-NCA"), ", the paper's"
LESS_ERROR = "ours has less error than the others"
FEW = 2  # sets that a verdict names
MARKS = {
    " *": "\\* more than two standard errors from the paper's figure",
    "†": "† the fit ended early on some fold",
}
ROWS = {**{name: (name,) for name in OTHERS}, "ours by three solvers": OURS}
RING: dict[str, Any] = {"color": "#777777", "mfc": "none", "ms": 12, "mew": 0.8}
TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 40, 60, 80)


def short(results: Results, preset: Preset) -> Short:
    """Return the first screen, and the result in full with a list."""
    cells, ks = arranged(results), preset.settings["k"]
    every = claiming.claims(cells, ks)
    rest: dict[str, list[str]] = {}
    against: dict[str, list[str]] = {}
    support: dict[str, list[str]] = {}
    verdicts: dict[str, dict[str, claiming.Claim]] = {}  # by solver
    ours = {name.split()[-1]: claim for name, claim in every.items() if "others" in name}
    result = [less_error(cells, ours, preset)] if ours else []
    for name, claim in every.items():
        claimed, by = name.split(", by ")[0], name.split()[-1]
        of = against.setdefault(claimed, [])
        contrary = claiming.contradicting(claim)
        verdicts.setdefault(claimed, {})[by] = claim
        good = count_of(claim, Verdict.SUPPORTED)
        support.setdefault(claimed, []).append(WORDS("support_short", by=by, count=good))
        if contrary:
            names = f" ({contrary[0]})" if len(contrary) == 1 else ""
            of.append(WORDS("places_short", by=by, count=len(contrary), of=len(claim.pairs), names=names))
        if "others" not in name:
            said = f"{counted(claim.said.values())} by {by}{leads(claim)}"
            rest.setdefault(claimed, []).append(said)
    result += [WORDS("left_out", said=left)] if (left := claiming.left_out(cells)) else []
    result += [WORDS("cells", **cell_counts(cells, preset)), differences(cells, preset)]
    others = [f"{name}: {', '.join(said)}" for name, said in rest.items()]
    result += [WORDS("rest", said="; ".join(others))] if others else []
    contradicted = {name: said for name, said in against.items() if said}
    sentences = [
        WORDS("against_one", name=name, **sides(name, contradicted, support)) for name in contradicted
    ]
    lost, places = sum(len(claiming.not_best(k)) for k in ks if k in KS), len(claiming.SETS) * len(ks)
    kept = [f"{name}: {in_brief(verdicts[name])}" for name, said in against.items() if not said]
    names = WORDS.found["short"]
    brief = [f"{names[name]}: {in_brief(verdicts[name])}" for name, said in against.items() if not said]
    it = "it" if [*contradicted] == [LESS_ERROR] else WORDS("it", name=names[LESS_ERROR])
    given: dict[str, object] = {
        "count": len(sentences),
        "claims": number(len(against), "claim"),
        "listed": listed(sentences),
        "rest": WORDS("others", said="; ".join(kept)) if kept and sentences else "",
        "brief": WORDS("others_short", said="; ".join(brief)) if brief and sentences else "",
        "contradicted": " ".join(
            WORDS("against_claim", name=names[name], **sides(name, contradicted, support))
            for name in contradicted
        )
        or WORDS("not_contradicted"),
        "lost": lost,
        "places": places,
        "it": it,
    }
    return Short(
        conclusion(cells, ours) if ours else WORDS("not_run").rstrip("."),
        WORDS(
            "result",
            few=few_short(cells, ours, preset),
            missing=", ".join([*ONLY_PAPER, *ours_missing(cells, ks)]),
            left_out=WORDS("left_out_short", said=claiming.left_out(cells, short=True)) if left else "",
            apart=above_short(cells),
        ),
        WORDS("against_short", **given),
        nested(WORDS("all_results"), result),
        WORDS("against", **given),
    )


def sides(name: str, contradicted: dict[str, list[str]], support: dict[str, list[str]]) -> dict[str, str]:
    """Return by which solvers a claim is contradicted and supported, and how often."""
    return {"contrary": "; ".join(contradicted[name]), "support": ", ".join(support[name])}


def in_brief(found: dict[str, claiming.Claim]) -> str:
    """Return a verdict on a claim that nothing contradicts, by each solver, and on which sets if these are few."""
    said = {by: of_solver(claim) for by, claim in found.items()}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    plain = {by: each.split(" (")[0] for by, each in said.items()}
    return ", ".join(WORDS("by_solver", said=each, by=by) for by, each in plain.items())


def of_solver(claim: claiming.Claim) -> str:
    """Return the verdict on a claim by one solver, which is supported only if all its comparisons support it."""
    found = set(claim.said.values())
    if found == {claiming.NOT_DECIDABLE}:
        return WORDS("no_verdict", none=NO_VERDICT, less=led(claim), of=len(claim.pairs))
    said = str(Verdict.SUPPORTED if found == {str(Verdict.SUPPORTED)} else Verdict.UNDECIDED)
    sets = list(dict.fromkeys(which.data for which in claim.pairs))
    few = said == Verdict.SUPPORTED and len(sets) <= FEW
    return WORDS("on_few", said=said, sets=enumerated(sets)) if few else said


def ours_missing(cells: Cells, ks: Iterable[int]) -> list[str]:
    """Return the sets and k of the paper's table for which none of our solvers is run, if others are run there."""
    absent = [
        f"{data} at k = {k}"
        for data in sets_of(cells)
        for k in ks
        if paper_of(data, OURS[0], k) and not any((data, own, k) in cells for own in OURS)
    ]
    return [WORDS("ours_missing", sets=enumerated(absent))] if absent else []


def count_of(claim: claiming.Claim, kind: Verdict) -> int:
    """Return how many comparisons of a claim have a verdict."""
    return list(claim.verdicts.values()).count(kind)


def conclusion(cells: Cells, ours: dict[str, claiming.Claim]) -> str:
    """Return whether ours has less error than Euclid and than the learnt metrics; of two solvers the worse answer."""

    def found(kept: Callable[[claiming.Comparison], bool]) -> list[list[Verdict]]:
        return [[each for which, each in claim.verdicts.items() if kept(which)] for claim in ours.values()]

    def counts(of: list[list[Verdict]]) -> str:
        return joint([(each.count(Verdict.SUPPORTED), len(each)) for each in of])

    euclid, learnt = found(is_euclid), found(lambda which: not is_euclid(which))
    compared = {which.worse for claim in ours.values() for which in claim.pairs}
    return WORDS(
        "conclusion",
        euclid_holds=answered(worst([answer(each) for each in euclid])),
        euclid=counts(euclid),
        solvers=" and ".join(ours),
        others=", ".join(other for other in OTHERS[1:] if other in compared) or "others",
        holds=answered(worst([answer(each) for each in learnt])),
        learnt=by_solver(ours, learnt),
        agree=counts(found(lambda which: not is_euclid(which) and not is_worse(cells, which))),
    )


def by_solver(ours: Collection[str], found: Sequence[Sequence[Verdict]]) -> str:
    """Return in how many comparisons ours has less error: "CCCP 21, SGD 24 of 52"."""
    counts = {len(each) for each in found}
    if len(counts) > 1:
        return ", ".join(
            f"{by} {each.count(Verdict.SUPPORTED)} of {len(each)}"
            for by, each in zip(ours, found, strict=True)
        )
    said = [f"{by} {each.count(Verdict.SUPPORTED)}" for by, each in zip(ours, found, strict=True)]
    return f"{', '.join(said)} of {len(found[0])}"


def few_there(
    cells: Cells, ours: dict[str, claiming.Claim], preset: Preset
) -> dict[str, list[claiming.Comparison]]:
    """Return the comparisons on fewer folds in which ours has less error than a learnt metric, by solver."""
    return {
        by: [
            which
            for which, verdict in claim.verdicts.items()
            if not is_euclid(which)
            and verdict is Verdict.SUPPORTED
            and claiming.lacks_folds(cells, which, preset)
        ]
        for by, claim in ours.items()
    }


def few_short(cells: Cells, ours: dict[str, claiming.Claim], preset: Preset) -> str:
    """Return how many of these comparisons are on fewer folds, and on which sets."""
    found = few_there(cells, ours, preset)
    every = [which for each in found.values() for which in each]
    if not every:
        return ""
    counts = list(dict.fromkeys(str(len(each)) for each in found.values()))
    wins = [
        [verdict for which, verdict in claim.verdicts.items() if not is_euclid(which)].count(
            Verdict.SUPPORTED
        )
        for claim in ours.values()
    ]
    return WORDS(
        "few_short",
        wins=" and ".join(map(str, wins)),
        count=" and ".join(counts) if len(counts) > 1 else f"{counts[0]} each",
        sets=enumerated(list(dict.fromkeys(which.data for which in every))),
        folds=folds_there(cells, every, preset),
    )


def folds_there(cells: Cells, every: Sequence[claiming.Comparison], preset: Preset) -> str:
    """Return how many folds ours has in some comparisons; those that both have if ours has all."""
    own = {len(cells[which.data, which.better, which.k]) for which in every}
    common = {len(claiming.both(cells, which)[0]) for which in every}
    name, folds = ("ours_has", own) if max(own) < preset.splits else ("both_have", common)
    return WORDS(name, folds=either(folds), whole=preset.splits)


def is_worse(cells: Cells, which: claiming.Comparison) -> bool:
    """Whether the error of the other method is above the paper's."""
    paper = paper_of(which.data, which.worse, which.k)
    mean = claiming.mean_of(cells[which.data, which.worse, which.k], which.k).value
    return has_another(cells, which) and paper is not None and mean > paper[0] / 100


def is_euclid(which: claiming.Comparison) -> bool:
    """Whether ours is compared with the Euclidean metric."""
    return which.worse == "Euclidean"


def has_another(cells: Cells, which: claiming.Comparison) -> bool:
    """Whether the error of the other method is not the paper's: then it may be another metric."""
    return is_marked(cells, which.data, which.worse, which.k)


def above_short(cells: Cells) -> str:
    """Return how many errors of ours are above the paper's, and the mean difference of all of them, by solver."""
    found = above(cells)
    if not found:
        return ""
    return WORDS(
        "above_short",
        counts=", ".join(WORDS("above_count", **each) for each in found) + f" of {found[0]['of']}",
        of=found[0]["of"],
        means=" and ".join(str(each["mean"]) for each in found),
    )


def marks_of_others(cells: Cells, whole: bool = False) -> tuple[int, int]:
    """Return how many errors of the other methods differ from the paper's, and how many there are.

    whole: only of metrics that were learnt from all points and axes.
    """
    found = [
        is_marked(cells, *cell)
        for cell in cells
        if cell[1] not in OURS
        and paper_of(*cell) is not None
        and not (whole and claiming.less_of(cells, *cell))
    ]
    return sum(found), len(found)


def few_of_ours(cells: Cells, preset: Preset) -> int:
    """Return how many errors of our solvers, beside one of the paper, lack folds."""
    return sum(cell[1] in OURS and paper_of(*cell) is not None for cell in few_folds(cells, preset))


def above(cells: Cells) -> list[dict[str, object]]:
    """Return in how many cells ours is above the paper's error by CCCP and by SGD, and by how much in the mean."""
    sides: list[dict[str, object]] = []
    for by in OURS[:2]:
        found = [
            100 * claiming.mean_of(cells[cell], cell[2]).value - paper[0]
            for cell in cells
            if cell[1] == by and (paper := paper_of(*cell)) is not None
        ]
        if found:
            more = sum(each > 0 for each in found)
            sides.append({"above": more, "of": len(found), "by": by, "mean": f"{np.mean(found):+.1f}"})
    return sides


def differences(cells: Cells, preset: Preset) -> str:
    """Return how many errors of each method differ from the paper's, and on which side ours are."""
    compared = [cell for cell in cells if paper_of(*cell) is not None]
    if not compared:
        return WORDS("not_in_table")
    of = {name: [cell for cell in compared if cell[1] in methods] for name, methods in ROWS.items()}
    counts = []
    for name, found in of.items():
        variants = sorted({data for data, _, _ in found if data != claiming.source(data)})
        also = f" ({', '.join(variants)} too)" if variants else ""
        marks = sum(is_marked(cells, *cell) for cell in found)
        counts += [f"{name} {marks} of {len(found)}{also}"] if found else []
    below = sum(
        claiming.mean_of(cells[cell], cell[2]).value < paper[0] / 100
        for cell in of[list(ROWS)[-1]]
        if (paper := paper_of(*cell)) is not None and is_marked(cells, *cell)
    )
    few = few_of_ours(cells, preset)
    all_other, of_all = marks_of_others(cells)
    other, of_other = marks_of_others(cells, whole=True)
    return WORDS(
        "differ",
        counts=", ".join(counts),
        below=WORDS("below", below=below) if below else "",
        few=WORDS("few", few=few) if few else "",
        above=" and ".join(WORDS("above", **each) for each in above(cells)) or "nowhere",
        all_other=all_other,
        of_all=of_all,
        other=other,
        of_other=of_other,
    )


def less_error(cells: Cells, ours: dict[str, claiming.Claim], preset: Preset) -> str:
    """Return in how many comparisons ours has less error than Euclid, and than the learnt metrics, by each solver.

    A learnt metric with an error that is not the paper's may be another one than the paper's.
    """

    def count(kept: Callable[[claiming.Comparison], bool]) -> str:
        said = []
        for by, claim in ours.items():
            found = [each for which, each in claim.verdicts.items() if kept(which)]
            said.append(f"{found.count(Verdict.SUPPORTED)} of {len(found)} ({by})")
        return " and ".join(said)

    compared = {which.worse for claim in ours.values() for which in claim.pairs}
    more = [list(claim.verdicts.values()).count(Verdict.CONTRADICTED) for claim in ours.values()]
    return WORDS(
        "ours",
        euclid=count(is_euclid),
        others=", ".join(other for other in OTHERS[1:] if other in compared) or "others",
        learnt=count(lambda which: not is_euclid(which)),
        few=with_few_folds(cells, ours, preset),
        agree=count(lambda which: not is_euclid(which) and not has_another(cells, which)),
        not_above=count(lambda which: not is_euclid(which) and not is_worse(cells, which)),
        more=", ".join(f"{count} ({by})" for by, count in zip(ours, more, strict=True)),
    )


def with_few_folds(cells: Cells, ours: dict[str, claiming.Claim], preset: Preset) -> str:
    """Return how many of the comparisons in which ours has less error are on fewer folds, with their sets."""
    found = few_there(cells, ours, preset)
    every = [which for each in found.values() for which in each]
    return (
        WORDS(
            "few_folds",
            counts=" and ".join(f"{len(each)} ({by})" for by, each in found.items()),
            sets=enumerated(list(dict.fromkeys(which.data for which in every))),
            folds=folds_there(cells, every, preset),
        )
        if every
        else ""
    )


def leads(claim: claiming.Claim) -> str:
    """Return in how many comparisons the inferior one has less error, if there is no verdict."""
    if set(claim.said.values()) != {claiming.NOT_DECIDABLE}:
        return ""
    return WORDS("leads", count=led(claim))


def led(claim: claiming.Claim) -> int:
    """Return in how many comparisons of a claim the inferior one has less error."""
    return sum(pair.difference > 0 for pair in claim.pairs.values())


def parts(results: Results, preset: Preset) -> Parts:
    """For every k errors beside the paper's; claims; then what was selected, reached and proved."""
    cells, ks = arranged(results), preset.settings["k"]
    errors = []
    for k in ks:
        made = errors_table(cells, k, preset)
        marks = "; ".join(said for mark, said in MARKS.items() if any(mark in row for row in made))
        errors += WORDS.page(
            "errors", k=k, table=made, legend=[WORDS("legend", marks=marks)] if marks else []
        )
    details = WORDS.page(
        "details.page",
        ties=ties(cells),
        selected=selected(cells),
        reached=reached(cells),
        times=times(cells),
        proofs=bullets(proofs(cells)),
        collapsed=collapsed(cells),
    )
    tables = WORDS.page("tables", errors=errors[1:], marked=marked(cells), unfinished=unfinished(cells))
    return Parts(tables, claiming.verdicts(cells, ks), details, ["", amount(cells, preset)])


def cell_counts(cells: Cells, preset: Preset) -> dict[str, object]:
    """How many cells of the paper's table are run, how many with all folds, points and axes, and how many there are."""
    short = few_folds(cells, preset)
    own = cells_run(cells)
    whole = cells_run(
        {cell: of for cell, of in cells.items() if cell not in short and not claiming.less_of(cells, *cell)}
    )
    columns = len(KS) * len(claiming.SETS)
    total = len(claiming.METHODS) * columns
    return {
        "own": len(own),
        "whole": len(whole),
        "total": total,
        "only": len(ONLY_PAPER) * columns,
        "ours_absent": "".join(f", and {said}," for said in ours_missing(cells, preset.settings["k"])),
    }


def few_folds(cells: Cells, preset: Preset) -> set[claiming.Cell]:
    """The cells with fewer folds than the paper's."""
    return {cell for cell in cells if len(cells[cell]) < claiming.folds_of(cell[0], preset)}


def amount(cells: Cells, preset: Preset) -> str:
    """How many cells of the paper's table there are, and how many folds."""
    absent = [data for data in preset.data if data not in sets_of(cells)]
    partial = sorted({data for data, _, _ in few_folds(cells, preset)})
    said = [WORDS("details.amount", **cell_counts(cells, preset))]
    said += [f"Not run yet: {', '.join(absent)}."] if absent else []
    said += [f"Not all folds are run yet of {', '.join(partial)}."] if partial else []
    return " ".join(said)


# --- errors


def errors_table(cells: Cells, k: int, preset: Preset) -> list[str]:
    """A row for a method, a column for a set; * where ours is beyond two standard errors from the paper's."""

    def cell(method: str, data: str) -> str:
        if method.endswith(PAPERS):
            return f"({shown(paper)})" if (paper := paper_of(data, method.removesuffix(PAPERS), k)) else ""
        paper, folds = paper_of(data, method, k), cells.get((data, method, k), [])
        beside = f" ({shown(paper)})" if paper else ""
        if not folds:
            return f"not run{beside}" if paper else ""
        star = " *" if is_marked(cells, data, method, k) else ""
        early = " †" if claiming.ended_early(folds) else ""
        whole = claiming.folds_of(data, preset)
        share = f", {len(folds)} of {whole} folds" if len(folds) < whole else ""
        return f"{claiming.mean_of(folds, k)}{star}{early}{claiming.less_of(cells, data, method, k)}{share}{beside}"

    return crossed(
        f"k = {k}", (*COLUMNS, *(f"{method}{PAPERS}" for method in ONLY_PAPER)), sets_of(cells), cell
    )


def shown(paper: claiming.Printed) -> str:
    """A cell as the paper prints it, with two decimals."""
    return f"{paper[0]:.2f}" + (f" ± {paper[1]:.1f}" if paper[1] is not None else "")


def marked(cells: Cells) -> list[str]:
    """A sentence on every data set and method that is marked at some k."""
    found: dict[tuple[str, str], list[int]] = {}
    for data, method, k in cells:
        if is_marked(cells, data, method, k):
            found.setdefault((data, method), []).append(k)
    if not found:
        return [WORDS("none_marked")]
    said = [
        f"{data}, {method}, k = {', '.join(map(str, sorted(ks)))}: {side(cells, data, method, sorted(ks))}; "
        f"{REMARKS.get((data, method), 'open.')}"
        for (data, method), ks in found.items()
    ]
    said.sort(key=lambda sentence: "; open." not in sentence)
    compared = [cell for cell in cells if paper_of(*cell) is not None]
    extra = [data for data, *_ in compared if data != claiming.source(data)]
    names = enumerated([f"*{data}*" for data in dict.fromkeys(extra)])
    return WORDS.block(
        "marked",
        own=len(cells_run(cells)),
        solvers=enumerated(OURS),
        variants=WORDS("variants", names=names, count=len(extra)) if extra else "",
        compared=len(compared),
        said=bullets(said),
    )


def cells_run(cells: Cells) -> set[claiming.Cell]:
    """Return the cells of the paper's table for which there is an error of ours."""
    return {
        (claiming.source(data), claiming.ROWS_OF.get(method, method), k)
        for data, method, k in cells
        if paper_of(data, method, k)
    }


def side(cells: Cells, data: str, method: str, ks: Sequence[int]) -> str:
    """Return on which side of the paper's errors ours are, for each k if they are not all on one side."""
    at: dict[str, list[int]] = {}
    for k in ks:
        paper = paper_of(data, method, k)
        above = paper is not None and claiming.mean_of(cells[data, method, k], k).value > paper[0] / 100
        at.setdefault("above" if above else "below", []).append(k)
    sides = [WORDS("side_at", where=where, ks=", ".join(map(str, of))) for where, of in at.items()]
    return WORDS("side", where=next(iter(at)) if len(at) == 1 else " and ".join(sides))


def unfinished(cells: Cells) -> list[str]:
    """What the dagger means, where there is one."""
    if not any(claiming.ended_early(folds) for (_, method, _), folds in cells.items() if method in COLUMNS):
        return []
    worst: dict[str, float] = {}
    for (data, method, _), folds in cells.items():
        for each in filter(claiming.left_a_gap, folds):
            name = f"{data}, {method}"
            worst[name] = max(worst.get(name, 0.0), each["rel_gap"])
    gaps = "; ".join(f"{name}: {gap:.1e}" for name, gap in worst.items())
    return [WORDS("unfinished", left=WORDS("gaps", gaps=gaps) if gaps else "")]


# --- what was done


def ties(cells: Cells) -> list[str]:
    """Euclid's errors by both rules, in points of the test part, beside the paper's."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method == "Euclidean":
            test = sum(each["test"] for each in folds)
            counts = [
                sum(round(each[name][str(k)] * each["test"]) for each in folds)
                for name in ("errors", "other_ties")
            ]
            paper = claiming.printed(claiming.source(data), "Euclidean", k)
            said = f"{paper[0] * test / 100:.1f}" if paper else ""
            low, high = (100 * end for end in share_interval(counts[0], test))
            rows.append([f"{data}, k = {k}", *counts, said, test, f"{low:.2f} to {high:.2f}"])
    head = ("wrong, least sum", "wrong, 1-NN vote", "the paper's", "of", "95 % for new points, per cent")
    return table(["Euclid", *head], rows)


def selected(cells: Cells) -> list[str]:
    """The weight of each fold, with an asterisk where it is the last that was tried, and the start."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method == "Euclidean" or method in OURS[1:] or method in claiming.STARTS:
            continue
        weights = [weight_of(each, method, k) for each in folds]
        start = counted(each["start"] for each in folds) if method == "CCCP" else ""
        rows.append([f"{data}, {method}, k = {k}", counted(weights), start])
    return table(["", "weight (folds)", "start (folds)"], rows)


def weight_of(each: Result, method: str, k: int) -> str:
    """The weight of a fold, which may be one for each k. The grid of NCA does not go on below its least share."""
    value, edge = each["weight"], each["edge"]
    if isinstance(value, dict):
        value, edge = value[str(k)], edge[str(k)]
    return f"{value:g}" + (" *" if edge or (method == "NCA" and value == SHARES[0]) else "")


def reached(cells: Cells) -> list[str]:
    """F, steps, times, and the share of points where the printed inference misses the best set."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method not in (*OURS, *claiming.STARTS, claiming.FROM_I):
            continue
        missed = [each["missed"] for each in folds if "missed" in each]
        arrived = [each["arrived"] for each in folds if "arrived" in each]
        row = [
            f"{np.mean([each['F'] for each in folds]):.4f}",
            f"{sum(arrived)} of {len(arrived)}" if arrived else "",
            span(each["steps"] for each in folds),
            f"{np.mean([each['fit_seconds'] for each in folds]):.1f}",
        ]
        for name in ("h_star", "h_hat"):
            row.append(f"{100 * np.mean([one[name] for one in missed]):.1f}" if missed else "")
        rows.append([f"{data}, {method}, k = {k}", *row])
    misses = ("Algorithm 2 misses, %", "Algorithm 3 misses, %")
    return table(["", "F / (C n)", "arrived", "steps or epochs", "seconds", *misses], rows)


def times(cells: Cells) -> list[str]:
    """Seconds of each method on each set: of ours for one k, of the others for the weights of all k."""
    methods = [method for method in COLUMNS if method != "Euclidean"]
    found: dict[str, dict[str, set[tuple[int, float]]]] = {}
    for (data, method, _), folds in cells.items():
        for each in folds:
            if "fit_seconds" in each:
                found.setdefault(data, {}).setdefault(method, set()).add((each["fold"], each["fit_seconds"]))

    def cell(data: str, method: str) -> str:
        of = found[data].get(method)
        return f"{np.mean([seconds for _, seconds in of]):.1f}" if of else ""

    return crossed("seconds", [data for data in sets_of(cells) if data in found], methods, cell)


def proofs(cells: Cells) -> list[str]:
    """How many metrics have the gap asked for."""
    sentences = []
    for data, method in dict.fromkeys((data, method) for data, method, _ in cells):
        every = [each for key, folds in cells.items() if key[:2] == (data, method) for each in folds]
        found = list({id(each): each for each in every if "proved" in each}.values())
        if found:
            gaps = [each["rel_gap"] for each in found if "rel_gap" in each]
            largest = f", largest relative gap {max(gaps):.1e}" if gaps else ""
            proved = f"{sum(each['proved'] for each in found)} of {len(found)} proved"
            states = counted(each["status"] for each in found)
            sentences.append(f"{data}, {method}: {proved}{largest}; {states}")
    return sentences


def collapsed(cells: Cells) -> list[str]:
    """Where LMNN's objective is rounding: every class of the training points is next to one point."""
    folds = {
        (data, each["fold"]): each
        for (data, method, _), of in cells.items()
        if method == "LMNN"
        for each in of
    }
    at_zero = [key for key, each in folds.items() if each["rel_gap"] < claiming.COLLAPSED]
    sets = sorted({data for data, _ in at_zero})
    return [WORDS("details.collapsed", sets=", ".join(sets), count=len(at_zero))] if sets else []


def span(values: Iterable[int]) -> str:
    """The least and the largest."""
    found = sorted(values)
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


# --- the picture


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """A panel a set: the error of each method at each k with its standard error; pale and hollow, the paper's."""
    cells, ks = arranged(results), list(preset.settings["k"])
    sets = sets_of(cells)
    columns = min(len(sets), 2)
    lines = -(-len(sets) // columns)
    figure.set_size_inches(13, 1.2 + 3.8 * lines)
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for panel, data in zip(panels, sets, strict=False):
        fill(panel, cells, data, ks, claiming.folds_of(data, preset))
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    styles = zip(COLUMNS, COLOURS, MARKERS, strict=True)
    handles = [panels[0].plot([], [], marker, color=colour, label=name)[0] for name, colour, marker in styles]
    for label, style in (
        ("pale, hollow: the paper's (its own method beside CCCP)", {"mfc": "white"}),
        ("lower half filled: not all folds yet", {"fillstyle": "bottom"}),
        ("left half filled: from fewer points or axes", {"fillstyle": "left"}),
        ("ring: beyond two standard errors (* in the table)", RING),
    ):
        handles += panels[0].plot([], [], "o", **{"color": "#777777", "label": label, **style})
    figure.legend(handles=handles, ncols=5, loc="outside lower center", frameon=False)
    figure.suptitle("Errors of kNN and standard errors, on a logarithmic scale")


def fill(panel: Any, cells: Cells, data: str, ks: list[int], whole: int) -> None:
    """The panel of one set, which has so many folds when it is whole."""
    heights = []
    for at, method in enumerate(COLUMNS):
        style = {"fmt": MARKERS[at], "color": COLOURS[at], "capsize": 2, "ms": 6}
        for i, k in enumerate(ks):
            place = i + (at - (len(COLUMNS) - 1) / 2) * 0.8 / len(COLUMNS)
            if folds := cells.get((data, method, k)):
                value, error = (100 * each for each in claiming.mean_of(folds, k))
                heights += [value - error, value + error]
                filled = "bottom" if len(folds) < whole else "full"
                filled = "left" if claiming.less_of(cells, data, method, k) else filled
                panel.errorbar(place - 0.015, value, error, fillstyle=filled, **style)
                if is_marked(cells, data, method, k):
                    panel.plot(place - 0.015, value, "o", **RING)
            paper = paper_of(data, method, k)
            if paper is not None and method not in OURS[1:]:
                heights += [paper[0] - (paper[1] or 0.0), paper[0] + (paper[1] or 0.0)]
                panel.errorbar(place + 0.03, paper[0], paper[1], mfc="white", alpha=0.5, **style)
    low, high = 0.8 * max(min(heights), 0.5), 1.2 * max(heights)
    panel.set_title(data)
    panel.set_yscale("log")
    panel.set_yticks([tick for tick in TICKS if low < tick < high])
    panel.set_yticks([], minor=True)
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_ylim(low, high)
    panel.set_ylabel("test error, per cent")
    panel.set_xticks(range(len(ks)), [f"k = {k}" for k in ks])
    for i in range(len(ks) - 1):
        panel.axvline(i + 0.5, color="#dddddd", lw=1)
