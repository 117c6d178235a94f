"""The report of the experiment on NCA: what the note says of it, and whether it holds."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from validation.experiments.page import Results, bullets, grouped, table
from validation.experiments.statistics import LEVEL, mean, p_value
from validation.experiments.tasks import Preset, Result

NEAR = 0.01  # of accuracy: what "near the top" is taken to mean
SHARE = 0.7  # of the points to train on; of the digits so many images each to train and to test
DIGITS, TRAIN, TEST = "usps", 200, 500
FULL, PLANE = ("Euclid", "whitened", "RCA", "NCA"), ("PCA 2", "LDA 2", "NCA 2")
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


class Panel(NamedTuple):
    """A table: methods, NCA the last, by accuracy on one part, and what the note says of these sets."""

    name: str
    methods: tuple[str, ...]
    part: str
    claim: str
    near: bool  # the claim is "at or near the top", and not "better"
    data: tuple[str, ...] = ()  # all, if none is named


class Verdict(NamedTuple):
    """What accuracies say of a claim. kind: of those that a table counts; ahead: the methods that are better."""

    text: str
    kind: str
    holds: bool
    ahead: tuple[str, ...] = ()


TRAINING = "NCA method consistently performed better on training data"
TOP = "test data performance was always at or near the top"
BOTH = "performed better consistently for both training and test data"
SIX = ("balance", "ionosphere", "iris", "wine", "housing", DIGITS)  # of the first sentence, in d = 2 as well
DRAWN = ("rings", "wine", DIGITS)  # and the faces, of the second
PANELS = (
    Panel("Full rank, train", FULL, "train", TRAINING, False, SIX),
    Panel("Full rank, test", FULL, "test", TOP, True, SIX),
    Panel("d = 2, train", PLANE, "train", TRAINING, False, SIX),
    Panel("d = 2, test", PLANE, "test", TOP, True, SIX),
    Panel("d = 2, train, the sets whose projections are drawn", PLANE, "train", BOTH, False, DRAWN),
    Panel("d = 2, test, the sets whose projections are drawn", PLANE, "test", BOTH, False, DRAWN),
)
PICTURE = (  # whatever the note says of them
    Panel("Full rank, train", FULL, "train", "", False),
    Panel("Full rank, test", FULL, "test", "", False),
    Panel("d = 2, train", PLANE, "train", "", False),
    Panel("d = 2, test", PLANE, "test", "", False),
)
Values = dict[str, list[float]]


def tables(results: Results, preset: Preset) -> list[str]:
    """The tables with their verdicts, what stands behind every *, and how NCA's descents ended."""
    groups = grouped(results)
    lines, reasons = [], []
    for panel in PANELS:
        rows, kinds = [], []
        for data, methods in those_of(groups, panel).items():
            values = accuracies(methods, panel)
            found = verdict(values, panel.near)
            kinds.append(found.kind)
            if not found.holds:
                said = [reason(methods, panel, found), *corrected(values, data, panel, found)]
                reasons.append(f"{data}, {panel.name}: {found.text}. {' '.join(said)}")
            cells = [str(mean(values[method])) for method in panel.methods]
            rows.append([data, len(values[panel.methods[-1]]), *cells, found.text + " *" * (not found.holds)])
        if rows:
            head = ("data", "splits", *(method.removesuffix(" 2") for method in panel.methods), "NCA is")
            counts = ", ".join(f"{count} {kind}" for kind, count in Counter(kinds).items())
            lines += ["", f'## {panel.name}: "{panel.claim}"', "", *table(head, rows)]
            lines += ["", f"Sets: {len(rows)}, of these {counts}."]
    behind = ["", "## What is behind each *", "", *bullets(reasons)] if reasons else []
    return [*lines, *behind, *descents(groups)]


def those_of(groups: dict[str, dict[str, list[Result]]], panel: Panel) -> dict[str, dict[str, list[Result]]]:
    """Those of its data sets that all its methods were run on."""
    asked = panel.data or tuple(groups)
    return {
        data: found for data, found in groups.items() if data in asked and set(panel.methods) <= set(found)
    }


def accuracies(found: dict[str, list[Result]], panel: Panel) -> Values:
    """method -> accuracy on every split, in the order of the panel."""
    return {method: [result[panel.part] for result in found[method]] for method in panel.methods}


def verdict(values: Values, near: bool) -> Verdict:
    """What the accuracies of the methods on the same splits, NCA's the last, say of the claim."""
    *others, ours = values
    means = {method: float(np.mean(values[method])) for method in values}
    apart = [method for method in others if p_value(values[method], values[ours]) < LEVEL]
    ahead = tuple(method for method in apart if means[method] > means[ours])
    level = [name(method) for method in others if method not in apart]
    if not near:
        if ahead:
            return Verdict(f"worse than {', '.join(map(name, ahead))}", "with a better one (*)", False, ahead)
        if level:
            return Verdict(f"level with {', '.join(level)}", "level with another", True)
        return Verdict("better than all", "better than all", True)
    if not ahead:
        return Verdict("at the top", "at the top", True)
    top = max(ahead, key=lambda method: means[method])
    behind = means[top] - means[ours]
    text = f"{100 * behind:.2f} behind {name(top)}"
    if behind <= NEAR + 1e-12:
        return Verdict(f"near the top, {text}", "near the top", True, ahead)
    return Verdict(text, "further down (*)", False, ahead)


def reason(found: dict[str, list[Result]], panel: Panel, verdict: Verdict) -> str:
    """A sentence for a *: whether NCA is ahead of the better methods on the training part, or behind there too."""
    train = {
        method: float(np.mean([result["train"] for result in found[method]])) for method in panel.methods
    }
    margins = {method: 100 * (train[panel.methods[-1]] - train[method]) for method in verdict.ahead}
    overfits = [f"{name(method)} by {margin:.2f}" for method, margin in margins.items() if margin >= 0]
    local = [f"{name(method)} by {-margin:.2f}" for method, margin in margins.items() if margin < 0]
    said = []
    if overfits:
        said.append(f"On the training part NCA is ahead of {', '.join(overfits)} points: it overfits.")
    if local:
        said.append(
            f"On the training part it is behind {', '.join(local)} points: large multiples of such a metric have a "
            "better f, and from none of its starts has NCA found the global maximum."
        )
    return " ".join(said)


def corrected(values: Values, data: str, panel: Panel, verdict: Verdict) -> list[str]:
    """A sentence for a * of a test part: whether the means of new points would differ."""
    if panel.part == "train":
        return []
    overlap = TEST / TRAIN if data == DIGITS else (1 - SHARE) / SHARE
    of_method = {
        method: p_value(values[method], values[panel.methods[-1]], overlap) for method in verdict.ahead
    }
    said = ", ".join(f"p = {p:.2f} against {name(method)}" for method, p in of_method.items())
    return [f"For new points: {said}."]


def name(method: str) -> str:
    """As the tables have it."""
    return method.removesuffix(" 2")


def descents(groups: dict[str, dict[str, list[Result]]]) -> list[str]:
    """Every start of NCA: how often it was the best, where it ended, how much was left, and its accuracy."""
    rows = []
    for data, methods in groups.items():
        for method in ("NCA", "NCA 2"):
            found = methods.get(method, [])
            for start in found[0]["starts"] if found else ():
                best = sum(result["start"] == start for result in found)
                rank = "2" if method in PLANE else "full"
                rows.append([data, rank, start, best, *ended([result["starts"][start] for result in found])])
    head = ("data", "rank", "start", "best", "how it ended", "left", "f / n", "train", "test")
    text = (
        "NOT_ATTAINED: f = n is approached by multiples of the metric, and nothing is better. AT_INFINITY: larger "
        "multiples are as good or better, f is below n, and that it is the maximum is not known. STATIONARY: to tol. "
        "STALLED: by rounding. f is not concave, and its global maximum is certified nowhere but where it is n. left: "
        "what a relative change of the metric would still win of f / n, to first order, the largest of all splits (it "
        "can exceed what there is to win; above 1e-3 a run is not stationary); not given where f = n is approached. "
        "best: the splits in which this start was taken."
    )
    return ["", "## The descents of NCA", "", text, "", *table(head, rows)]


def ended(runs: list[Result]) -> list[object]:
    """The columns of a start."""
    counts = Counter(run["status"] for run in runs)
    left = [run["left"] for run in runs if run["status"] != "NOT_ATTAINED"]
    return [
        ", ".join(f"{count} {status}" for status, count in counts.most_common()),
        f"{max(left):.1e}" if left else "-",
        *(str(mean([run[share] for run in runs])) for share in ("f", "train", "test")),
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
            ax.errorbar(
                np.arange(len(means)) + 0.16 * (k - (len(panel.methods) - 1) / 2),
                [100 * each.value for each in means],
                [200 * each.error for each in means],
                fmt=marker,
                color=colour,
                label=name(method),
                markersize=7,
                capsize=3,
            )
        ax.set_xticks(range(len(found)), list(found), rotation=20)
        ax.set_title(panel.name)
        ax.grid(axis="y", alpha=0.3)
        if panel.part == "train":
            ax.set_ylabel("accuracy of 1-NN, %")
        else:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.supxlabel("bars: two standard errors of the mean over the splits", fontsize=9)
