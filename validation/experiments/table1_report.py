"""What the experiment of Table 1 reports: each cell beside the paper's, and what becomes of the paper's claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from validation.experiments.page import Parts, Results, bullets, counted, number, table
from validation.experiments.quoted import remarks
from validation.experiments.table1_cells import (
    COLLAPSED,
    COLUMNS,
    FROM_I,
    OURS,
    ROWS_OF,
    STARTS,
    Cells,
    arranged,
    ended_early,
    folds_of,
    is_marked,
    left_a_gap,
    less_of,
    mean_of,
    paper_of,
    sets_of,
)
from validation.experiments.table1_claims import claims, claims_table, counts_of
from validation.experiments.table1_others import SHARES
from validation.experiments.table1_paper import KS, METHODS, SETS, not_best, printed, source
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Verdict, share_interval, verdicts

REMARKS = remarks("table1")  # data and method -> the explanation of a difference
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#999933", "#d55e00", "#009e73", "#0072b2")
MARKERS = ("x", "v", "^", "s", "<", "o", "D", "P")
ONLY_PAPER = ("GB-LMNN", "k-NCA")
RING: dict[str, Any] = {"color": "#777777", "mfc": "none", "ms": 12, "mew": 0.8}
TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 40, 60, 80)


def short(results: Results, preset: Preset) -> list[str]:
    """Return the result and the contradictions, a sentence each."""
    cells, ks = arranged(results), preset.settings["k"]
    marks, compared = (
        sum(is_marked(cells, *cell) for cell in cells),
        sum(paper_of(*cell) is not None for cell in cells),
    )
    every = counts_of(cells, ks)
    ours = [
        f"by {claim.split()[-1]} in {found.count(Verdict.SUPPORTED)} of {len(found)} comparisons "
        f"({euclidean(cells, ks, claim)} of these with the Euclidean metric; undecided: "
        f"{found.count(Verdict.UNDECIDED)})"
        for claim, found in every.items()
        if "others" in claim
    ]
    against = [
        f"{claim} ({found.count(Verdict.CONTRADICTED)} of {len(found)} comparisons)"
        for claim, found in every.items()
        if Verdict.CONTRADICTED in found
    ]
    lost = sum(len(not_best(k)) for k in ks if k in KS)
    return [
        f"{marks} of {compared} errors differ from the paper's by more than two standard errors. The paper's method "
        f"has significantly less error than another: {', '.join(ours) or 'not compared'}.",
        f"Comparisons contradict {len(against)} of the paper's {number(len(every), 'claim')}"
        f"{': ' if against else ''}{'; '.join(against)}. In the paper's own table another method is better than its "
        f"own in {lost} of {len(SETS) * len(ks)} places.",
    ]


def euclidean(cells: Cells, ks: Iterable[int], claim: str) -> int:
    """Return how many of the supported comparisons of a claim are with the Euclidean metric."""
    pairs = {(what, k): two for each, what, _, k, two in claims(cells, ks) if each == claim}
    found = verdicts(pairs)
    return sum(
        each is Verdict.SUPPORTED and what.endswith("before Euclidean") for (what, _), each in found.items()
    )


def parts(results: Results, preset: Preset) -> Parts:
    """For every k errors beside the paper's; claims; then what was selected, reached and proved."""
    cells, ks = arranged(results), preset.settings["k"]
    lines = []
    for k in ks:
        head = f"## k = {k}: errors in per cent, the paper's in brackets"
        errors = errors_table(cells, k, preset)
        lines += ["", head, "", *errors, *legend(errors)]
    lines += ["", *marked(cells), *unfinished(cells)]
    claimed = ["", "## What becomes of the paper's claims", "", *claims_table(cells, ks)]
    details = [
        *["", "## The rule for ties of votes", "", *ties(cells)],
        *["", "## What was selected", "", *selected(cells)],
        *["", "## What was reached", "", *reached(cells)],
        *["", "## What is proved", "", *proofs(cells)],
    ]
    return Parts(lines, claimed, details, ["", amount(cells, preset)])


def amount(cells: Cells, preset: Preset) -> str:
    """How many cells of the paper's table there are, and how many folds."""
    own = {
        (source(data), ROWS_OF.get(method, method), k)
        for data, method, k in cells
        if paper_of(data, method, k)
    }
    total = len(METHODS) * len(KS) * len(SETS)
    short = {cell for cell in cells if len(cells[cell]) < folds_of(cell[0], preset)}
    partial = sorted({data for data, _, _ in short})
    whole = {
        (source(data), ROWS_OF.get(method, method), k)
        for data, method, k in cells
        if paper_of(data, method, k)
        and (data, method, k) not in short
        and not less_of(cells, data, method, k)
    }
    sentence = (
        f"{len(own)} of the {total} cells of Table 1 are here, {len(whole)} of them with all folds, points and axes; "
        f"those of GB-LMNN and k-NCA "
        f"({2 * len(KS) * len(SETS)}) are only the paper's, because this package does not have these methods."
    )
    absent = [data for data in preset.data if data not in {each[0] for each in cells}]
    more = [f"Not run yet: {', '.join(absent)}."] if absent else []
    more += [f"Not all folds are run yet of {', '.join(partial)}."] if partial else []
    return " ".join([sentence, *more])


# --- errors


def errors_table(cells: Cells, k: int, preset: Preset) -> list[str]:
    """A row for a method, a column for a set; * where ours is beyond two standard errors from the paper's."""
    sets = sets_of(cells)

    def share(data: str, method: str) -> str:
        done, folds = len(cells.get((data, method, k), [])), folds_of(data, preset)
        return f", {done} of {folds} folds" if 0 < done < folds else ""

    def cell(data: str, method: str) -> str:
        paper = paper_of(data, method, k)
        if (data, method, k) not in cells:
            return f"not run ({shown(paper)})" if paper else ""
        ours = str(mean_of(cells[data, method, k], k))
        star = " *" if is_marked(cells, data, method, k) else ""
        learnt = less_of(cells, data, method, k)
        early = " †" if ended_early(cells.get((data, method, k), [])) else ""
        said = ours + star + early + learnt + share(data, method)
        return f"{said} ({shown(paper)})" if paper else said

    rows = [[method, *(cell(data, method) for data in sets)] for method in COLUMNS]
    for method in ONLY_PAPER:
        papers = [paper_of(data, method, k) for data in sets]
        rows.append([f"{method}, the paper's", *(f"({shown(paper)})" if paper else "" for paper in papers)])
    return table([f"k = {k}", *sets], rows)


def legend(rows: list[str]) -> list[str]:
    """Return a line on the marks of a table, if it has any."""
    marks = {
        " *": "\\* more than two standard errors from the paper's figure",
        "†": "† the fit ended early on some fold",
    }
    found = [said for mark, said in marks.items() if any(mark in row for row in rows)]
    return ["", f"Marks, explained below: {'; '.join(found)}."] if found else []


def shown(paper: tuple[float, float | None]) -> str:
    """A cell as the paper prints it, with two decimals."""
    return f"{paper[0]:.2f}" + (f" ± {paper[1]:.1f}" if paper[1] is not None else "")


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
    compared = sum(paper_of(*cell) is not None for cell in cells)
    return [
        "\\* The difference is more than two standard errors, the paper's included if it prints one (Euclid on a "
        f"standard partition: more than half a test point). There are {compared} comparisons, ours by three solvers. "
        "Chance alone marks about one in twenty if standard errors are from many folds, and more if they are from five "
        "or two. *Open* marks differences that no run explains yet:",
        "",
        *bullets(sorted(sentences, key=lambda sentence: ": open." not in sentence)),
    ]


def unfinished(cells: Cells) -> list[str]:
    """What the dagger means, where there is one."""
    if not any(ended_early(folds) for (_, method, _), folds in cells.items() if method in COLUMNS):
        return []
    worst: dict[str, float] = {}
    for (data, method, _), folds in cells.items():
        for each in filter(left_a_gap, folds):
            name = f"{data}, {method}"
            worst[name] = max(worst.get(name, 0.0), each["rel_gap"])
    gaps = "; ".join(f"{name}: {gap:.1e}" for name, gap in worst.items())
    left = f" The largest relative gaps that were left: {gaps}." if gaps else ""
    return [
        "",
        "† On some fold the fit ended early, so the error may differ there. There are three reasons: SGD had not "
        "arrived at the F of CCCP when its epochs were over (counted in *What was reached*), NCA had iterations left, "
        "or a solve left a larger gap than asked (*What is proved*). For a method with a weight for each k, the mark "
        f"may belong to another k.{left}",
    ]


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
        paper = printed(source(data), "Euclidean", k)
        said = f"{paper[0] * test / 100:.1f}" if paper else ""
        low, high = share_interval(counts[0], test)
        rows.append([f"{data}, k = {k}", *counts, said, test, f"{100 * low:.2f} to {100 * high:.2f}"])
    head = [
        "Euclid",
        "wrong, least sum",
        "wrong, 1-NN vote",
        "the paper's",
        "of",
        "95 % for new points, per cent",
    ]
    return [
        "The table has the number of points that Euclid classifies wrongly, all folds together. The paper's number is "
        "its mean error times the number of points.",
        "",
        *table(head, rows),
    ]


def selected(cells: Cells) -> list[str]:
    """The weight of each fold, with an asterisk where it is the last that was tried, and the start."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method == "Euclidean" or method in OURS[1:] or method in STARTS:
            continue

        ended = SHARES[0] if method == "NCA" else None  # its grid does not go on

        def weight(each: Result, k: int = k, ended: float | None = ended) -> str:
            value, edge = each["weight"], each["edge"]
            if isinstance(value, dict):
                value, edge = value[str(k)], edge[str(k)]
            return f"{value:g}" + (" *" if edge or value == ended else "")

        start = counted(each["start"] for each in folds) if method == "CCCP" else ""
        rows.append([f"{data}, {method}, k = {k}", counted(map(weight, folds)), start])
    return table(["", "weight (folds)", "start (folds)"], rows)


def reached(cells: Cells) -> list[str]:
    """F, steps, times, and the share of points where the printed inference misses the best set."""
    rows = []
    for (data, method, k), folds in cells.items():
        if method not in (*OURS, *STARTS, FROM_I):
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
        "F / (C n) is 1 for W = 0. The table has its mean over the folds, each with its own c. *arrived*: the folds in "
        "which SGD misses at most a thousandth of the F of CCCP, and of the gain of CCCP over W = 0. In the other "
        "folds it missed more when its epochs were over. Seconds are processor time for the last fit. The last columns "
        "have the share of training points for which the printed algorithm does not find the best set, at the metric "
        "tested.",
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
        "**The paper: it converges in reasonable time as compared to the competing methods.** *Reasonable* has no "
        "number, so there is no verdict. The table has seconds of processor time for the metrics that are tested, "
        "without the choice of weights, as means over folds. For our methods it is the time for one k, the mean over "
        "k. For the others it is the time for all weights that are chosen for some k. SGD ends when it has arrived or "
        "its epochs are over (above). MLR learns from 200 points, and NCA on large sets from 3000 or 4000 (above). "
        "Some machines of the runs were about three times as fast as others.",
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
        "*Proved* means for CCCP that the metric's own convex step gains at most the amount asked (with ||W - I||^2 "
        "gaps are relative to ||I||^2). For LMNN, ITML and MLR it means the optimum (of MLR on its points and axes), "
        "and for NCA stationarity. NOT_ATTAINED: multiples of the metric approach the largest possible criterion of "
        "NCA. AT_INFINITY: the criterion still grows along a direction. MAX_ITER: the iterations were over before the "
        "end. STALLED with nearly no gap: the optimum is so near to 0 that the rounding error of the gap exceeds the "
        "gap asked."
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
        f"On {', '.join(sets)} the optimum of LMNN is 0, up to rounding, in {len(at_zero)} folds. With more features "
        "than points many metrics map every class of the training points to one point, and these points 1 apart. The "
        "metric tested is the one at which the solver ended. Most neighbours are then of one class for every k, so the "
        "errors at k = 3, 7 and 11 are nearly the same. The paper's errors are not.",
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
        fill(panel, cells, data, ks, folds_of(data, preset))
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
            if (data, method, k) in cells:
                value, error = (100 * each for each in mean_of(cells[data, method, k], k))
                heights += [value - error, value + error]
                part = len(cells[data, method, k]) < whole
                filled = "left" if less_of(cells, data, method, k) else "bottom" if part else "full"
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
