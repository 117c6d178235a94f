"""The picture of the experiment of GLML: Fig. 5 of Noh et al. 2018, a panel for each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from validation.experiments.glml_compare import Cells, cells_of
from validation.experiments.glml_data import panel
from validation.experiments.glml_methods import MIXTURES
from validation.experiments.glml_report import METHODS
from validation.experiments.page import Results
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset

COLUMNS = 3
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


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Accuracy against training points a class, with standard errors."""
    cells = cells_of(results)
    names = cells.sets()
    columns = min(COLUMNS, len(names) + 1)
    rows = -(-(len(names) + 1) // columns)
    figure.set_size_inches(3.6 * columns, 3.4 * rows)
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, data in zip(places, names, strict=False):
        panel_of(axes, data, cells)
    for axes in places[len(names) :]:
        axes.axis("off")
    shown = {
        label: line for axes in places for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    ordered = [name for name in METHODS if name in shown]
    places[len(names)].legend(
        [shown[name] for name in ordered], ordered, loc="center", title="metric of 1-NN"
    )
    figure.supxlabel(
        "bars: a standard error of the mean; hollow: one realisation; grey: between the marks of the papers' axis",
        fontsize=9,
    )


def panel_of(axes: Any, data: str, cells: Cells) -> None:
    """The curves of a set, over the range that the papers' axis marks."""
    low, high = panel(data).axis
    axes.axhspan(100 * low, 100 * high, color="#eeeeee", zorder=0)
    ticks = [size for name, size in cells.accuracies if name == data]
    for method in METHODS:
        found = {size: values for size in ticks if (values := values_of(cells, data, size, method))}
        if not found:
            continue
        curve(
            axes,
            method,
            found,
            lw=2 if method in ("Euclid", "GLML") else 1,
            ls="--" if method == MIXTURES else "-",
        )
    axes.set_xticks(ticks)
    axes.set_title(f"({panel(data).letter}) {data}")
    axes.set_xlabel("training points a class")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)


def curve(axes: Any, method: str, found: Mapping[int, Sequence[float]], **style: Any) -> None:
    """The mean accuracies of a method with their standard errors, in per cent, over what `found` has them for."""
    means = [mean(values) for values in found.values()]
    colour, marker = STYLES[method]
    axes.errorbar(
        list(found),
        [100 * each.value for each in means],
        [100 * each.error for each in means],
        color=colour,
        marker=marker,
        mfc="white" if max(map(len, found.values())) == 1 else colour,
        ms=5,
        capsize=2,
        label=method,
        **style,
    )


def values_of(cells: Cells, data: str, size: int, method: str) -> list[float]:
    """Of the realisations with a metric."""
    return [value for value in cells.accuracies[data, size].get(method, {}).values() if value is not None]
