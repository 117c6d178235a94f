"""What the experiment of gerrymandering reports: Table 1 of the paper beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from validation.experiments.gerrymandering_paper import KS, SETS, not_best, printed
from validation.experiments.page import Results, bullets, counted, table
from validation.experiments.quoted import QUOTED
from validation.experiments.statistics import Mean, differs, mean
from validation.experiments.tasks import Preset, Result

OURS = ("CCCP", "SGD", "SGD printed")
COLUMNS = ("Euclidean", "LMNN", "ITML", "NCA", *OURS)
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#d55e00", "#009e73", "#0072b2")
MARKERS = ("x", "v", "^", "s", "o", "D", "P")
ROWS_OF = {"NCA": "1-NCA", **dict.fromkeys(OURS, "ours")}  # of the paper's table, where the name is another
TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 40, 60, 80)
ONLY_PAPER = ("GB-LMNN", "MLR", "k-NCA")

LETTER = f"{QUOTED['letter']['LMNN from 500 points']:.1f}"
USPS = ", ".join(f"{error:.2f}" for error in QUOTED["usps"].values())
# Why a method differs where it does in the report of the preset "reduced": data and method, for all k.
REMARKS: dict[tuple[str, str], str] = {
    ("letter", "LMNN"): f"learnt from 1000 of 16000 points; from 500 it has {LETTER} at k = 3 (`looks.py`).",
    (
        "usps",
        "Euclidean",
    ): "not explained. The paper's row lies between ours (7.08, 7.13, 8.12) and that without "
    f"z-scores ({USPS}); other files of these digits, with smoother grey values, are in circulation.",
}

Errors = dict[tuple[str, str, int], list[Result]]  # data, method and k -> the folds


def tables(results: Results, preset: Preset) -> list[str]:
    """For every k errors beside the paper's; then what was selected, reached and proved."""
    errors, ks = arranged(results), preset.settings["k"]
    lines = []
    for k in ks:
        lines += [
            "",
            f"## k = {k}: errors in per cent, the paper's in brackets",
            "",
            *errors_table(errors, k),
        ]
    lines += ["", *marked(errors, preset), "", *of_the_paper(ks)]
    lines += ["", "## What was selected, and what was reached", "", *reached(errors)]
    return [*lines, "", *proofs(errors)]


def arranged(results: Results) -> Errors:
    """The results of each data set, method and k, in the order of the folds."""
    found: Errors = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        for k in result["errors"]:
            found.setdefault((task.data, task.method.split(" k=")[0], int(k)), []).append(result)
    return found


def mean_of(folds: list[Result], k: int) -> Mean:
    """Over the folds; of a single one the standard error is that of a share of its test points."""
    values = [result["errors"][str(k)] for result in folds]
    if len(values) > 1:
        return mean(values)
    return Mean(values[0], float(np.sqrt(values[0] * (1 - values[0]) / folds[0]["test"])))


def paper_of(data: str, method: str, k: int) -> tuple[float, float | None] | None:
    """The cell of Table 1 that a method of ours is held against."""
    return printed(data, ROWS_OF.get(method, method), k)


def is_marked(errors: Errors, data: str, method: str, k: int) -> bool:
    """True where ours is further from the paper's than two standard errors, the paper's included where it has one.

    Euclid on a standard partition, with nothing learnt or drawn: by more than half a test point.
    """
    paper = paper_of(data, method, k)
    if paper is None or (data, method, k) not in errors:
        return False
    folds = errors[data, method, k]
    if method == "Euclidean" and len(folds) == 1:
        return abs(folds[0]["errors"][str(k)] - paper[0] / 100) * folds[0]["test"] > 0.5
    return differs(mean_of(errors[data, method, k], k), paper[0] / 100, (paper[1] or 0.0) / 100)


def errors_table(errors: Errors, k: int) -> list[str]:
    """A row for a method, a column for a set; * where ours is beyond two standard errors from the paper's."""
    sets = sets_of(errors)

    def cell(data: str, method: str) -> str:
        ours = str(mean_of(errors[data, method, k], k)) if (data, method, k) in errors else "not run"
        paper = paper_of(data, method, k)
        star = " *" if is_marked(errors, data, method, k) else ""
        return f"{ours}{star} ({shown(paper)})" if paper else ours

    rows = [[method, *(cell(data, method) for data in sets)] for method in COLUMNS]
    for method in ONLY_PAPER:
        papers = [printed(data, method, k) for data in sets]
        if any(papers):
            rows.append(
                [f"{method}, the paper's", *(f"({shown(paper)})" if paper else "" for paper in papers)]
            )
    return table([f"k = {k}", *sets], rows)


def shown(paper: tuple[float, float | None]) -> str:
    """A cell as the paper prints it, with two decimals."""
    return f"{paper[0]:.2f}" + (f" ± {paper[1]:.1f}" if paper[1] is not None else "")


def sets_of(errors: Errors) -> list[str]:
    """Those of the results, in the paper's order, others last."""
    names = dict.fromkeys(data for data, _, _ in errors)
    return sorted(names, key=lambda data: SETS.index(data) if data in SETS else len(SETS))


def marked(errors: Errors, preset: Preset) -> list[str]:
    """A sentence on every data set and method that is marked at some k."""
    found: dict[tuple[str, str], list[int]] = {}
    for data, method, k in errors:
        if is_marked(errors, data, method, k):
            found.setdefault((data, method), []).append(k)
    if not any(paper_of(*key) for key in errors):
        return ["The paper has none of these sets."]
    if not found:
        return ["No error differs from the paper's by more than two standard errors."]
    known = REMARKS if preset.remarks else {}
    sentences = [
        f"{data}, {method}, k = {', '.join(map(str, sorted(ks)))}: {known.get((data, method), 'not explained.')}"
        for (data, method), ks in found.items()
    ]
    return [
        "\\* Beyond two standard errors, the paper's included where it prints one (Euclid on a standard partition: "
        "beyond half a test point):",
        "",
        *bullets(sentences),
    ]


def of_the_paper(ks: Iterable[int]) -> list[str]:
    """Where the paper's own table does not bear out that its method dominates the others."""
    places = "; ".join(f"k = {k}: {', '.join(not_best(k))}" for k in ks if k in KS)
    return [f"In the paper's own table another method is better than its own ({places})."] if places else []


def reached(errors: Errors) -> list[str]:
    """c and start chosen, F, steps, and the share of points where the printed inference misses the best set."""
    rows = []
    for data, method, k in [(data, method, k) for data in sets_of(errors) for method in OURS for k in KS]:
        folds = errors.get((data, method, k), [])
        missed = [result["missed"] for result in folds if "missed" in result]
        shares = [
            100 * np.mean([one[name] for one in missed]) if missed else None for name in ("h_star", "h_hat")
        ]
        if folds:
            chosen = [
                counted(f"{result['weight']:g}" for result in folds),
                counted(result["start"] for result in folds),
            ]
            F = np.mean([result["F"] for result in folds])
            cells = ["" if share is None else f"{share:.1f}" for share in shares]
            steps = span(result["steps"] for result in folds)
            rows.append([f"{data}, {method}, k = {k}", *chosen, f"{F:.3f}", steps, *cells])
    missing = ("Algorithm 2 misses, %", "Algorithm 3 misses, %")
    head = ["", "c", "start", "F / (C n)", "steps or epochs", *missing]
    return [
        "F / (C n) is 1 for W = 0; the mean over the folds, each with its own c. The last columns: the share of "
        "training points for which, at the metric tested, the printed algorithm does not find the best set.",
        "",
        *table(head, rows),
    ]


def proofs(errors: Errors) -> list[str]:
    """How many metrics of CCCP, LMNN, ITML and NCA have the gap asked for."""
    sentences = []
    for data in sets_of(errors):
        for method in ("CCCP", "LMNN", "ITML", "NCA"):
            each = {
                id(result): result
                for key, folds in errors.items()
                if key[:2] == (data, method)
                for result in folds
            }
            found = list(each.values())  # a metric for all k is one
            if not found:
                continue
            gaps = [result["rel_gap"] for result in found if "rel_gap" in result]
            largest = f", largest relative gap {max(gaps):.1e}" if gaps else ""
            states = counted(result["status"] for result in found)
            proved = sum(result["proved"] for result in found)
            sentences.append(f"{data}, {method}: {proved} of {len(found)} proved{largest}; {states}")
    head = (
        "Proved: of CCCP that the metric's own convex step gains no more than asked, of LMNN and ITML the optimum, of "
        "NCA stationarity."
    )
    return [head, "", *bullets(sentences)]


def span(values: Iterable[int]) -> str:
    """The least and the largest."""
    found = sorted(values)
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """A panel a set: the error of each method at each k with its standard error; pale and hollow, the paper's."""
    errors, ks = arranged(results), list(preset.settings["k"])
    sets = sets_of(errors)
    columns = min(len(sets), 2)
    lines = -(-len(sets) // columns)
    figure.set_size_inches(13, 1.2 + 3.8 * lines)
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for panel, data in zip(panels, sets, strict=False):
        fill(panel, errors, data, ks)
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    styles = zip(COLUMNS, COLOURS, MARKERS, strict=True)
    handles = [panels[0].plot([], [], marker, color=colour, label=name)[0] for name, colour, marker in styles]
    label = "pale, hollow: the paper's (its own method beside CCCP)"
    handles += panels[0].plot([], [], "o", color="#777777", mfc="white", label=label)
    figure.legend(handles=handles, ncols=8, loc="outside lower center", frameon=False)
    figure.suptitle("Errors of kNN and standard errors, on a logarithmic scale")


def fill(panel: Any, errors: Errors, data: str, ks: list[int]) -> None:
    """The panel of one set."""
    heights = []
    for at, method in enumerate(COLUMNS):
        style = {"fmt": MARKERS[at], "color": COLOURS[at], "capsize": 2, "ms": 6}
        for i, k in enumerate(ks):
            place = i + (at - (len(COLUMNS) - 1) / 2) * 0.8 / len(COLUMNS)
            if (data, method, k) in errors:
                ours = mean_of(errors[data, method, k], k)
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
