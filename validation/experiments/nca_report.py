"""The report of the experiment on NCA: what the note says of it, and whether it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validation.experiments.nca_claims import (
    FULL,
    PANELS,
    PLANE,
    Judged,
    Panel,
    accuracies,
    of_set,
    shown,
    those_of,
)
from validation.experiments.page import Groups, Results, bullets, grouped, table
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Verdict, legend

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
PICTURE = (  # whatever the note says of them
    Panel("Full rank, train", FULL, "train", "", 0.0),
    Panel("Full rank, test", FULL, "test", "", 0.0),
    Panel("d = 2, train", PLANE, "train", "", 0.0),
    Panel("d = 2, test", PLANE, "test", "", 0.0),
)

OPEN = (
    "NCA is ahead on the training part and not on the test part, as with overfitting. Two questions are open: why this "
    "happens on these sets and not on others, and if another k than 1 would remove it."
)


def figures(groups: Groups, claims: list[Judged]) -> list[str]:
    """The tables with their verdicts."""
    lines = []
    for panel, claim in zip(PANELS, claims, strict=True):
        rows = []
        for data, methods in those_of(groups, panel).items():
            values = accuracies(methods, panel)
            cells = [str(mean(values[method])) for method in panel.methods]
            rows.append([data, splits_of(values), *cells, *against(claim, data)])
        if rows:
            columns = ("NCA less the best other", "95 %, new points", "effect", "these points", "new points")
            head = ("data", "splits", *map(name, panel.methods), *columns)
            lines += ["", f'## {panel.name}: "{panel.claim}"', "", *legend(), *table(head, rows)]
    return lines


def behind(groups: Groups, claims: list[Judged]) -> list[str]:
    """Why a set contradicts a sentence: NCA is behind on the training part too, or only on the test part."""
    reasons = [
        f"{data}, {panel.name}: {reason(methods, panel, claim, data)}"
        for panel, claim in zip(PANELS, claims, strict=True)
        for data, methods in those_of(groups, panel).items()
        if Verdict.CONTRADICTED in [claim.here[key] for key in claim.pairs if key[0] == data]
    ]
    head = "## What is behind what these points contradict"
    return ["", head, "", OPEN, "", *bullets(reasons)] if reasons else []


def splits_of(values: Mapping[str, Sequence[float]]) -> str:
    """How many, and of NCA, the last of the methods, if it has fewer."""
    *others, ours = map(len, values.values())
    return f"{max(others)}" + (f" (NCA {ours})" if ours < max(others) else "")


def against(claim: Judged, data: str) -> list[str]:
    """NCA beside the best of the others, and the verdicts against all of them."""
    of_data = {other: each for (found, other), each in claim.pairs.items() if found == data}
    if not of_data:
        return ["one split"] + [""] * 4
    best = min(of_data, key=lambda other: of_data[other].beyond().mean)
    difference, interval, effect = shown(of_data[best])
    verdicts = [of_set(found, data) for found in (claim.here, claim.new)]
    return [f"{difference} ({name(best)})", interval, effect, *verdicts]


def reason(found: dict[str, list[Result]], panel: Panel, claim: Judged, data: str) -> str:
    """Whether NCA is ahead of the better methods on the training part, or behind there too."""
    ahead = [
        other for (of, other), verdict in claim.here.items() if of == data and verdict is Verdict.CONTRADICTED
    ]
    train = {
        method: float(np.mean([result["train"] for result in found[method]])) for method in panel.methods
    }
    margins = {method: 100 * (train[panel.methods[-1]] - train[method]) for method in ahead}
    there = [f"{name(method)} by {margin:.2f}" for method, margin in margins.items() if margin >= 0]
    local = [f"{name(method)} by {-margin:.2f}" for method, margin in margins.items() if margin < 0]
    said = []
    if there:
        said.append(f"Only on the test part: on the training part NCA is ahead of {', '.join(there)} points.")
    if local:
        said.append(
            f"On the training part it is behind {', '.join(local)} points: large multiples of such a metric have a "
            "better f, and from none of its starts has NCA found the global maximum."
        )
    return " ".join(said)


def name(method: str) -> str:
    """As the tables have it."""
    return method.removesuffix(" 2")


def descents(groups: Groups) -> list[str]:
    """Every start of NCA: how often it was the best, where it ended, how much was left, and its accuracy."""
    rows = []
    for data, methods in groups.items():
        for method in ("NCA", "NCA 2"):
            found = methods.get(method, [])
            for start in found[0]["starts"] if found else ():
                best = sum(result["start"] == start for result in found)
                rank = "2" if method in PLANE else "full"
                rows.append([data, rank, start, best, *ended([result["starts"][start] for result in found])])
        for method, rank in (("g", "full"), ("g 2", "2")):
            if found := methods.get(method, []):
                rows.append([data, rank, "g", "", *ended(found)])
    head = ("data", "rank", "start", "best", "how it ended", "left", "f / n", "train", "test")
    text = (
        "f is not concave, and its global maximum is certified only if it is n. NOT_ATTAINED: multiples of the metric "
        "approach f = n, the largest possible value. AT_INFINITY: larger multiples are as good or better, f is below "
        "n, and it is not known to be the maximum. STATIONARY: stationary to tol. STALLED: stopped by rounding.",
        "",
        "*left*: the gain of f / n from a relative change of the metric, to first order, the largest of all splits. It "
        "can exceed the possible gain; above 1e-3 a run is not stationary. It is not given if f = n is approached. "
        "*best*: the number of splits in which this start was taken. In the rows *g* the other criterion is maximized, "
        "from the start auto; only its status is kept.",
    )
    return ["", "## The descents of NCA", "", *text, "", *table(head, rows)]


def ended(runs: list[Result]) -> list[object]:
    """The columns of a start."""
    counts = Counter(run["status"] for run in runs)
    left = [run["left"] for run in runs if run["status"] != "NOT_ATTAINED" and "left" in run]
    return [
        ", ".join(f"{count} {status}" for status, count in counts.most_common()),
        f"{max(left):.1e}" if left else "-",
        *(
            str(mean([run[share] for run in runs])) if share in runs[0] else "-"
            for share in ("f", "train", "test")
        ),
    ]


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Accuracy by data set and method: on top full rank, below the plane; the training part on the left."""
    groups = grouped(results)
    figure.set_size_inches(11, 7.5)
    axes = figure.subplots(2, 2, sharey="row")
    for ax, panel in zip(axes.flat, PICTURE, strict=True):
        found = those_of(groups, panel)
        for k, method in enumerate(panel.methods):
            means = [mean([result[panel.part] for result in methods[method]]) for methods in found.values()]
            colour, marker = STYLES[method]
            places = np.arange(len(means)) + 0.16 * (k - (len(panel.methods) - 1) / 2)
            ax.errorbar(
                places,
                [100 * each.value for each in means],
                [200 * each.error for each in means],
                fmt=marker,
                color=colour,
                label=name(method),
                markersize=7,
                capsize=3,
            )
            for place, methods, each in zip(places, found.values(), means, strict=True):
                if len(methods[method]) == 1:
                    ax.plot(
                        place, 100 * each.value, marker, color=colour, mfc="white", markersize=7, zorder=3
                    )
        ax.set_xticks(range(len(found)), list(found), rotation=20)
        ax.set_title(panel.name)
        ax.grid(axis="y", alpha=0.3)
        if panel.part == "train":
            ax.set_ylabel("accuracy of 1-NN, %")
        else:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.supxlabel("bars: two standard errors of the mean over the splits; hollow: one split", fontsize=9)
