"""What the experiment of Table 1 reports: each cell beside the paper's, and what becomes of the paper's claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from validation.experiments.page import Results, bullets, counted, table
from validation.experiments.statistics import Mean, differs, mean
from validation.experiments.table1_others import MOST_AXES
from validation.experiments.table1_paper import KS, METHODS, SETS, not_best, printed
from validation.experiments.table1_remarks import REMARKS
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Pair, Verdict, holm, pair, share_interval, verdicts

OURS = ("CCCP", "SGD", "SGD printed")
OTHERS = ("Euclidean", "LMNN", "ITML", "NCA", "MLR")
COLUMNS = (*OTHERS, *OURS)
STARTS = ("CCCP from ReliefF", "CCCP from zero", "CCCP from Euclid")
COLLAPSED = 1e-15  # a relative gap that is rounding, where the optimum is 0
FEW_FEATURES = {"letter", "wine", "iris"}  # sets with no more features than `MOST_AXES`
REGULARIZERS = ("SGD, tr W", "SGD, ||W - I||^2", "SGD, ||W||^2")
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#999933", "#d55e00", "#009e73", "#0072b2")
MARKERS = ("x", "v", "^", "s", "<", "o", "D", "P")
ROWS_OF = {"NCA": "1-NCA", **dict.fromkeys(OURS, "ours")}  # of the paper's table, where the name is another
ONLY_PAPER = ("GB-LMNN", "k-NCA")
TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 40, 60, 80)

Cell = tuple[str, str, int]  # data, method, k
Cells = dict[Cell, list[Result]]  # -> the folds


def tables(results: Results, preset: Preset) -> list[str]:
    """How much there is; for every k errors beside the paper's; claims; then what was selected, reached and proved."""
    cells, ks = arranged(results), preset.settings["k"]
    lines = ["", *amount(cells, preset)]
    for k in ks:
        head = f"## k = {k}: errors in per cent, the paper's in brackets"
        lines += ["", head, "", *errors_table(cells, k, preset)]
    lines += [
        "",
        *marked(cells),
        *unfinished(cells),
        "",
        "## What becomes of the paper's claims",
        "",
        *claims_table(cells, ks),
    ]
    lines += ["", "## The rule for ties of votes", "", *ties(cells)]
    lines += ["", "## What was selected", "", *selected(cells)]
    lines += ["", "## What was reached", "", *reached(cells)]
    return [*lines, "", "## What is proved", "", *proofs(cells)]


def arranged(results: Results) -> Cells:
    """The results of each data set, method and k, in the order of the folds. A task of ours has several methods."""
    found: Cells = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        shared = {name: value for name, value in result.items() if name != "of"}
        shared |= {"fold": task.split, "starts": task.settings.get("starts", False)}
        shared["rows"] = task.settings.get("rows", {}).get(task.method)
        for method, made in result.get("of", {task.method: {}}).items():
            each = {**shared, **made}
            names = (
                [method, f"CCCP from {each['start']}"] if method == "CCCP" and each["starts"] else [method]
            )
            for k in each["errors"]:
                for name in names:
                    found.setdefault((task.data, name, int(k)), []).append(each)
    order = (*COLUMNS, *STARTS, *REGULARIZERS)
    return dict(sorted(found.items(), key=lambda cell: (cell[0][0], order.index(cell[0][1]), cell[0][2])))


def amount(cells: Cells, preset: Preset) -> list[str]:
    """How many cells of the paper's table there are, and how many folds."""
    own = {
        (data.split(" ")[0], ROWS_OF.get(method, method), k)
        for data, method, k in cells
        if paper_of(data, method, k)
    }
    total = len(METHODS) * len(KS) * len(SETS)
    partial = sorted(
        {data for data, method, k in cells if len(cells[data, method, k]) < folds_of(data, preset)}
    )
    sentence = (
        f"{len(own)} of the {total} cells of Table 1 are here; those of GB-LMNN and k-NCA "
        f"({2 * len(KS) * len(SETS)}) are the paper's alone, for neither is a method of this package."
    )
    absent = [data for data in preset.data if data not in {each[0] for each in cells}]
    more = [f"Not run yet: {', '.join(absent)}."] if absent else []
    more += [f"Not all folds are run yet of {', '.join(partial)}."] if partial else []
    return [" ".join([sentence, *more])]


def folds_of(data: str, preset: Preset) -> int:
    """How many folds a set has."""
    of = preset.settings.get("of", {}).get(data, {})
    return 1 if data.split(" ")[0] in ("isolet", "usps") else int(of.get("folds", preset.splits))


# --- errors


def mean_of(folds: list[Result], k: int) -> Mean:
    """Over the folds; of a single one the standard error is that of a share of its test points."""
    values = [result["errors"][str(k)] for result in folds]
    if len(values) > 1:
        return mean(values)
    return Mean(values[0], float(np.sqrt(values[0] * (1 - values[0]) / folds[0]["test"])))


def paper_of(data: str, method: str, k: int) -> tuple[float, float | None] | None:
    """The cell of Table 1 that a method of ours is held against."""
    return printed(data.split(" ")[0], ROWS_OF.get(method, method), k)


def is_marked(cells: Cells, data: str, method: str, k: int) -> bool:
    """True where ours is further from the paper's than two standard errors, the paper's included where it has one.

    Euclid on a standard partition, with nothing learnt or drawn: by more than half a test point.
    """
    paper = paper_of(data, method, k)
    if paper is None or (data, method, k) not in cells:
        return False
    folds = cells[data, method, k]
    if method == "Euclidean" and data.split(" ")[0] in ("isolet", "usps"):
        return abs(folds[0]["errors"][str(k)] - paper[0] / 100) * folds[0]["test"] > 0.5
    return differs(mean_of(folds, k), paper[0] / 100, (paper[1] or 0.0) / 100)


def errors_table(cells: Cells, k: int, preset: Preset) -> list[str]:
    """A row for a method, a column for a set; * where ours is beyond two standard errors from the paper's."""
    sets = sets_of(cells)

    def share(data: str, method: str) -> str:
        done, folds = len(cells.get((data, method, k), [])), folds_of(data, preset)
        return f", {done} of {folds} folds" if 0 < done < folds else ""

    def cell(data: str, method: str) -> str:
        ours = str(mean_of(cells[data, method, k], k)) if (data, method, k) in cells else "not run"
        paper = paper_of(data, method, k)
        star = " *" if is_marked(cells, data, method, k) else ""
        learnt = less_of(cells, data, method, k)
        early = " †" if ended_early(cells.get((data, method, k), [])) else ""
        said = ours + star + early + learnt + share(data, method)
        return f"{said} ({shown(paper)})" if paper else said

    rows = [[method, *(cell(data, method) for data in sets)] for method in COLUMNS]
    for method in ONLY_PAPER:
        papers = [printed(data.split(" ")[0], method, k) for data in sets]
        rows.append([f"{method}, the paper's", *(f"({shown(paper)})" if paper else "" for paper in papers)])
    return table([f"k = {k}", *sets], rows)


def rows_of(cells: Cells, data: str, method: str, k: int) -> int | None:
    """How many training points its metric was learnt from, where that is not all."""
    folds = cells.get((data, method, k), [])
    return next((each["rows"] for each in folds if each["rows"]), None)


def ended_early(folds: list[Result]) -> bool:
    """True where a solve left a gap that is more than asked, and more than rounding of an optimum of 0."""
    return any(not each["proved"] and each["rel_gap"] > COLLAPSED for each in folds if "rel_gap" in each)


def less_of(cells: Cells, data: str, method: str, k: int) -> str:
    """What its problem has less than the paper's: points, axes."""
    rows = rows_of(cells, data, method, k)
    fewer = data not in FEW_FEATURES and (data, method, k) in cells
    axes = MOST_AXES.get(method) if fewer else None
    return (f" from {rows} points" if rows else "") + (f" on {axes} axes" if axes else "")


def shown(paper: tuple[float, float | None]) -> str:
    """A cell as the paper prints it, with two decimals."""
    return f"{paper[0]:.2f}" + (f" ± {paper[1]:.1f}" if paper[1] is not None else "")


def sets_of(cells: Cells) -> list[str]:
    """Those of the results, in the paper's order, a variant after its set, others last."""
    names = dict.fromkeys(data for data, _, _ in cells)
    order = {data: i for i, data in enumerate(SETS)}
    return sorted(names, key=lambda data: (order.get(data.split(" ")[0], len(SETS)), data))


def marked(cells: Cells) -> list[str]:
    """A sentence on every data set and method that is marked at some k."""
    found: dict[tuple[str, str], list[int]] = {}
    for data, method, k in cells:
        if is_marked(cells, data, method, k):
            found.setdefault((data, method), []).append(k)
    if not found:
        return ["No error differs from the paper's by more than two standard errors."]
    sentences = [
        f"{data}, {method}, k = {', '.join(map(str, sorted(ks)))}: {REMARKS.get((data, method), 'open.')}"
        for (data, method), ks in found.items()
    ]
    return [
        "\\* Beyond two standard errors, the paper's included where it prints one (Euclid on a standard partition: "
        "beyond half a test point). *Open* is what no run explains yet:",
        "",
        *bullets(sorted(sentences, key=lambda sentence: not sentence.endswith("open."))),
    ]


def unfinished(cells: Cells) -> list[str]:
    """What the dagger means, where there is one."""
    found = {(data, method): folds for (data, method, _), folds in cells.items() if ended_early(folds)}
    if not found:
        return []
    worst = [
        f"{data}, {method}: {max(each['rel_gap'] for each in of):.1e}" for (data, method), of in found.items()
    ]
    return [
        "",
        "† A solve ended with a larger gap than asked, so that the optimum may have another error. Of a method with a "
        f"weight for each k it may be that of another k. The largest relative gaps: {'; '.join(worst)}.",
    ]


# --- claims


def claims(cells: Cells, ks: Iterable[int]) -> Iterator[tuple[str, str, str, int, Pair]]:
    """The claim, the method that is said to be better, the other, k, and the pair on the points of one set."""
    for data in sets_of(cells):
        for k in ks:
            for other in OTHERS:
                if less_of(cells, data, other, k):  # it might be better of all points and axes
                    continue
                for own in OURS[:2]:
                    claim = f"ours has less error than the others, by {own}"
                    yield from _compared(cells, claim, data, k, own, other)
            for other in STARTS:
                yield from _compared(cells, "a Euclidean start is worse", data, k, other, "CCCP from Euclid")
            for other in REGULARIZERS[:2]:
                yield from _compared(
                    cells, "other regularizers are inferior", data, k, REGULARIZERS[2], other
                )


def _compared(
    cells: Cells, claim: str, data: str, k: int, better: str, worse: str
) -> Iterator[tuple[str, str, str, int, Pair]]:
    every = [cells.get((data, method, k), []) for method in (better, worse)]
    common = {each["fold"] for each in every[0]} & {each["fold"] for each in every[1]}
    one, other = ([each for each in of if each["fold"] in common] for of in every)
    if common and one != other:  # the start Euclid may be the start zero, and one run
        wrong, theirs = (
            {(each["fold"], row) for each in of for row in each["wrong"][str(k)]} for of in (one, other)
        )
        points = sum(each["test"] for each in one)
        yield claim, f"{data}: {better} before {worse}", data, k, pair(wrong, theirs, points)


def claims_table(cells: Cells, ks: Iterable[int]) -> list[str]:
    """A row for each comparison that decides something; how many are undecided."""
    found = list(claims(cells, ks))
    lines = [
        "Each point is tested once, by a metric that was learnt without it. Two metrics are compared by McNemar's "
        "exact test on the points that only one of them gets wrong, of the folds that both have; the intervals (95 %) "
        "are for new points and these training sets. Significance is at 5 % for all comparisons of a claim together "
        "(Holm). What is not significant is undecided at this power, and no claim of equality. Rows that are undecided "
        "are counted, not shown. A metric of fewer points or axes than there are is in no comparison. The paper's own "
        "algorithm is SGD; CCCP minimises the same F, and further.",
    ]
    for claim in dict.fromkeys(each[0] for each in found):
        pairs = {(what, k): two for c, what, _, k, two in found if c == claim}
        verdict, adjusted = verdicts(pairs), holm({name: two.p_value for name, two in pairs.items()})
        rows = [
            [
                f"{what}, k = {k}",
                f"{100 * pairs[what, k].difference:+.2f}",
                "{:+.2f} to {:+.2f}".format(*(100 * end for end in pairs[what, k].interval)),
                f"{adjusted[what, k]:.3g}",
                verdict[what, k],
            ]
            for what, k in pairs
            if verdict[what, k] is not Verdict.UNDECIDED
        ]
        count = counted(verdict[name] for name in pairs)
        more = f" {same_starts(cells)}" if "start" in claim else ""
        lines += ["", f"**The paper: {claim}.** {len(pairs)} comparisons: {count}.{more}"]
        if rows:
            head = ["", "difference of errors, points", "95 %", "p (Holm)", "verdict"]
            lines += ["", *table(head, rows)]
    places = "; ".join(f"k = {k}: {', '.join(not_best(k))}" for k in ks if k in KS)
    if places:
        lines += ["", f"In the paper's own table another method is better than its own ({places})."]
    return lines


def same_starts(cells: Cells) -> str:
    """In how many fits the start Euclid is the start zero, so that one run stands under both names."""
    found = [
        each == other
        for (data, method, k), folds in cells.items()
        if method == "CCCP from Euclid"
        for each in folds
        for other in cells.get((data, "CCCP from zero", k), [])
        if each["fold"] == other["fold"]
    ]
    return (
        f"In {sum(found)} of {len(found)} fits next to nothing is left of Euclid at its best multiple, and *Euclid* "
        "and *zero* are one start: these are not compared with each other, and what is compared there is ReliefF with "
        "Euclid's direction."
    )


# --- what was done


def ties(cells: Cells) -> list[str]:
    """Euclid's errors by both rules, in points of the test part, beside the paper's."""
    rows = []
    for data, k in dict.fromkeys((data, k) for data, method, k in cells if method == "Euclidean"):
        folds = cells[data, "Euclidean", k]
        test = sum(each["test"] for each in folds)
        counts = [
            sum(round(each[name][str(k)] * each["test"]) for each in folds)
            for name in ("errors", "other_ties")
        ]
        paper = printed(data.split(" ")[0], "Euclidean", k)
        said = f"{paper[0] * test / 100:.1f}" if paper else ""
        low, high = share_interval(counts[0], test)
        rows.append([f"{data}, k = {k}", *counts, said, test, f"{100 * low:.2f} to {100 * high:.2f}"])
    head = ["Euclid", "wrong, least sum", "wrong, 1-NN vote", "the paper's", "of", "95 % for new points"]
    return [
        "Points that Euclid gets wrong, all folds together; the paper's mean error times the number of points.",
        "",
        *table(head, rows),
    ]


def selected(cells: Cells) -> list[str]:
    """The weight of each fold, with an asterisk where it is the last that was tried, and the start."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method == "Euclidean" or method in OURS[1:] or method in STARTS:
            continue

        def weight(each: Result, k: int = k) -> str:
            value, edge = each["weight"], each["edge"]
            if isinstance(value, dict):
                value, edge = value[str(k)], edge[str(k)]
            return f"{value:g}" + (" *" if edge else "")

        start = counted(each["start"] for each in folds) if method == "CCCP" else ""
        rows.append([f"{data}, {method}, k = {k}", counted(map(weight, folds)), start])
    return table(["", "weight (folds)", "start (folds)"], rows)


def reached(cells: Cells) -> list[str]:
    """F, steps, times, and the share of points where the printed inference misses the best set."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method not in (*OURS, *STARTS):
            continue
        missed = [each["missed"] for each in folds if "missed" in each]
        shares = [
            f"{100 * np.mean([one[name] for one in missed]):.1f}" if missed else ""
            for name in ("h_star", "h_hat")
        ]
        F = np.mean([each["F"] for each in folds])
        arrived = [each["arrived"] for each in folds if "arrived" in each]
        said = f"{sum(arrived)} of {len(arrived)}" if arrived else ""
        seconds = np.mean([each["fit_seconds"] for each in folds])
        rows.append(
            [
                f"{data}, {method}, k = {k}",
                f"{F:.4f}",
                said,
                span(each["steps"] for each in folds),
                f"{seconds:.1f}",
                *shares,
            ]
        )
    head = [
        *("", "F / (C n)", "arrived", "steps or epochs", "seconds"),
        *("Algorithm 2 misses, %", "Algorithm 3 misses, %"),
    ]
    return [
        "F / (C n) is 1 for W = 0; the mean over the folds, each with its own c. *arrived*: folds in which SGD came "
        "within .001 of the F of CCCP; in the others it had not when its epochs were over. Seconds of processor time "
        "for the last fit. The last columns: the share of training points for which, at the metric tested, the "
        "printed algorithm does not find the best set.",
        "",
        *table(head, rows),
        "",
        *times(cells),
    ]


def times(cells: Cells) -> list[str]:
    """Seconds of each method on each set: of ours for one k, of the others for the weights of all k."""
    methods = [method for method in COLUMNS if method != "Euclidean"]

    def cell(data: str, method: str) -> str:
        of = {(each["fold"], each["fit_seconds"]) for key, each in every if key[:2] == (data, method)}
        return f"{np.mean([seconds for _, seconds in of]):.1f}" if of else ""

    every = [(key, each) for key, folds in cells.items() for each in folds if "fit_seconds" in each]
    sets = [data for data in sets_of(cells) if any(key[0] == data for key, _ in every)]
    return [
        "**The paper: it converges in reasonable time as compared to the competing methods.** What is reasonable has "
        "no number, so there is no verdict. Seconds of processor time for the metrics that are tested, without the "
        "choice of weights, the mean over folds: of ours for one k, the mean over k; of the others for all weights "
        "that are chosen for some k. SGD ends where it has arrived or its epochs are over (above). The runs were on "
        "machines of different speed: a loop of 20 million additions in Python takes 1.5 seconds on some of them and "
        "4 on others.",
        "",
        *table(["seconds", *methods], [[data, *(cell(data, method) for method in methods)] for data in sets]),
    ]


def proofs(cells: Cells) -> list[str]:
    """How many metrics have the gap asked for."""
    sentences = []
    for data, method in dict.fromkeys((data, method) for data, method, _ in cells):
        every = [each for key, folds in cells.items() if key[:2] == (data, method) for each in folds]
        found = list({id(each): each for each in every if "proved" in each}.values())
        if not found:
            continue
        gaps = [each["rel_gap"] for each in found if "rel_gap" in each]
        largest = f", largest relative gap {max(gaps):.1e}" if gaps else ""
        states = counted(each["status"] for each in found)
        proved = sum(each["proved"] for each in found)
        sentences.append(f"{data}, {method}: {proved} of {len(found)} proved{largest}; {states}")
    head = (
        "Proved: of CCCP that the metric's own convex step gains no more than asked, of LMNN, ITML and MLR the "
        "optimum (of MLR on its points and axes), of NCA stationarity. NOT_ATTAINED: the largest criterion of NCA is "
        "approached by multiples of the metric, and nothing is better; AT_INFINITY: it still grows along a direction. "
        "STALLED with next to no gap: the optimum is so near to 0 that what rounding may "
        "have done to the gap is more than was asked."
    )
    return [head, "", *bullets(sentences), *collapsed(cells)]


def collapsed(cells: Cells) -> list[str]:
    """Where LMNN's objective is rounding: every class of the training points is next to one point."""
    folds = {
        (data, each["fold"]): each
        for (data, method, _), of in cells.items()
        if method == "LMNN"
        for each in of
    }
    at_zero = {key for key, each in folds.items() if each["rel_gap"] < COLLAPSED}
    sets = sorted({data for data, _ in at_zero})
    if not sets:
        return []
    return [
        "",
        f"On {', '.join(sets)} the optimum of LMNN is 0 but for rounding in {len(at_zero)} folds: with more features "
        "than points some metric takes every class of the training points to one point, and these 1 apart. Many do, "
        "and the one tested is where the solver ended. For every k the neighbours are of the same class: the errors "
        "are the same at k = 3, 7 and 11, which the paper's are not.",
    ]


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
        fill(panel, cells, data, ks)
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    styles = zip(COLUMNS, COLOURS, MARKERS, strict=True)
    handles = [panels[0].plot([], [], marker, color=colour, label=name)[0] for name, colour, marker in styles]
    label = "pale, hollow: the paper's (its own method beside CCCP)"
    handles += panels[0].plot([], [], "o", color="#777777", mfc="white", label=label)
    figure.legend(handles=handles, ncols=5, loc="outside lower center", frameon=False)
    figure.suptitle("Errors of kNN and standard errors, on a logarithmic scale")


def fill(panel: Any, cells: Cells, data: str, ks: list[int]) -> None:
    """The panel of one set."""
    heights = []
    for at, method in enumerate(COLUMNS):
        style = {"fmt": MARKERS[at], "color": COLOURS[at], "capsize": 2, "ms": 6}
        for i, k in enumerate(ks):
            place = i + (at - (len(COLUMNS) - 1) / 2) * 0.8 / len(COLUMNS)
            if (data, method, k) in cells:
                ours = mean_of(cells[data, method, k], k)
                heights.append(100 * ours.value)
                panel.errorbar(place - 0.015, 100 * ours.value, 100 * ours.error, **style)
            paper = paper_of(data, method, k)
            if paper is not None and method not in OURS[1:]:
                heights.append(paper[0])
                panel.errorbar(place + 0.03, paper[0], paper[1], mfc="white", alpha=0.5, **style)
    low, high = 0.7 * max(min(heights), 0.5), 1.3 * max(heights)
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
