"""What the experiment of GLML reports: the curves of Fig. 3 (2010) and Fig. 5 (2018), and the papers' claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from validation.experiments.glml_claims import CLAIMS, SHARED, Accuracies, accuracies, seconds
from validation.experiments.glml_data import PANELS
from validation.experiments.glml_methods import GENERATIVE, LEARNT
from validation.experiments.page import Groups, Results, bullets, grouped, table
from validation.experiments.quoted import QUOTED
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset

VERDICTS = {True: "holds", False: "does not hold *", None: "not tested"}
METHODS = ("Euclid", "GLML", *LEARNT, *GENERATIVE[2:])
# Okabe and Ito's colours
STYLES = {
    "Euclid": ("#000000", "s"),
    "GLML": ("#D55E00", "o"),
    "LMNN": ("#E69F00", "v"),
    "ITML": ("#56B4E9", "^"),
    "DML-eig": ("#009E73", "D"),
    "Fisher": ("#CC79A7", "P"),
    "Fisher, one Gaussian": ("#0072B2", "X"),
    "Bayes": ("#999999", "x"),
}


def poor(data: str, count: int, size: int, better: str) -> str:
    """What another alpha does to Bayes, over some realisations with some points a class."""
    found = QUOTED[data]
    return (
        f"alpha decides, and the papers do not print theirs: over {count} realisations Bayes has "
        f"{found['alpha = 0.0001']:.1f} % with alpha = 1e-4 and {found[f'alpha = {better}']:.1f} % with {better} at "
        f"{size} points a class, Euclid {found['Euclid']:.1f} %."
    )


# (claim, data) -> why it does not hold there in the report of the preset "reduced".
REMARKS: dict[tuple[str, str], str] = {
    ("Bayes", "ionosphere"): poor("ionosphere", 12, 50, "0.01"),
    ("Bayes", "german_ida"): poor("german_ida", 8, 100, "1"),
}


def tables(results: Results, preset: Preset) -> list[str]:
    """The accuracies, the claims, how well the metrics are proved, and the time."""
    groups = grouped(results)
    cells = accuracies(groups)
    return [
        *["", "## Accuracy of 1-NN, in per cent, by training points a class", "", *accuracy_table(cells)],
        *["", "## What the papers say", "", *claims(cells, groups, preset)],
        *["", "## What was proved, and what was chosen", "", *proofs(groups)],
        *["", "## Seconds", "", *times(groups)],
    ]


def accuracy_table(cells: Accuracies) -> list[str]:
    """Mean and standard error; beside them the marks of the axis that the papers draw this in."""
    rows = []
    for (data, size), methods in cells.items():
        panel, count = PANELS[data], len(methods["Euclid"])
        axis = f"{100 * panel.axis[0]:g} to {100 * panel.axis[1]:g}"
        cell = [of(methods.get(name, [])) for name in METHODS]
        rows.append([f"({panel.letter}) {data}", size, count, *cell, axis])
    return table(["data", "points", "realisations", *METHODS, "the papers' axis"], rows)


def of(values: list[float | None]) -> str:
    """A cell: "" where a method was not run, "none" where it has no metric, its number where it has one for some."""
    there = [value for value in values if value is not None]
    if not there:
        return "none" if values else ""
    return f"{mean(there)}" + (f" ({len(there)})" if len(there) < len(values) else "")


def claims(cells: Accuracies, groups: Groups, preset: Preset) -> list[str]:
    """Each claim with what was found; * where it does not hold, and a sentence for each set that speaks against it."""
    verdicts = {key: test(cells, groups) for key, (_, test) in CLAIMS.items()}
    rows = [[CLAIMS[key][0], found.found, VERDICTS[found.holds]] for key, found in verdicts.items()]
    known = REMARKS if preset.remarks else {}
    marked = [
        f"{CLAIMS[key][0]}: against it {data}; {known.get((key, data), 'not explained.')}"
        for key, found in verdicts.items()
        if found.holds is False
        for data in found.against
    ]
    reasons = ["", "\\* By data set:", "", *bullets(marked)] if marked else []
    return [*table(["the papers", "found", "verdict"], rows), *reasons]


def proofs(groups: Groups) -> list[str]:
    """The largest certified gap, how often the gap asked for was not met or no metric exists, and what was chosen."""
    rows = []
    for data, method, found in by_method(groups):
        gaps = [gap for gap, _, _ in found if gap is not None]
        missed = sum(status not in (None, "CONVERGED") for _, status, _ in found)
        absent = sum(status is None for _, status, _ in found)
        chosen = Counter(", ".join(f"{value:g}" for value in chosen) for _, _, chosen in found if chosen)
        frequent = "; ".join(f"{value} ({count})" for value, count in chosen.most_common(3))
        rows.append(
            [data, method, f"{max(gaps):.1e}" if gaps else "", f"{missed} of {len(found)}", absent, frequent]
        )
    head = ["data", "method", "largest gap", "not met", "no metric", "most often chosen"]
    return [
        "Relative gaps of the metrics that were tested; of GLML those at the first test points. Chosen: alpha, gamma "
        "of GLML; gamma of ITML; k of DML-eig.",
        "",
        *table(head, rows),
    ]


def by_method(groups: Groups) -> Iterator[tuple[str, str, list[tuple[Any, Any, Any]]]]:
    """Data, method, and (gap, status, chosen) of every metric."""
    for data, tasks in groups.items():
        for method in ("GLML", *LEARNT):
            results = tasks.get(SHARED if method == "GLML" else method, [])
            each = [result["methods"][method] for result in results]
            found = [
                row for one in each for row in zip(one["gap"], one["status"], one["chosen"], strict=True)
            ]
            if found:
                yield data, method, found


def times(groups: Groups) -> list[str]:
    """The median of a realisation, with the sizes where they are not all."""
    rows = []
    for data, tasks in groups.items():
        sizes = tasks[SHARED][0]["sizes"]
        cells = []
        for method in (SHARED, *LEARNT):
            own = tasks[method][0]["sizes"] if method in tasks else []
            note = "" if own == sizes else f" (to {own[-1]})" if own else ""
            cells.append(f"{seconds(groups, data, method):.1f}{note}" if own else "")
        rows.append([data, *cells])
    return [
        "The median of a realisation, all sizes, parameters chosen and test points classified. The first column is of "
        "Euclid, GLML, Fisher in both readings and Bayes together.",
        "",
        *table(["data", "GLML and others", *LEARNT], rows),
    ]


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Fig. 5: a panel for each set, accuracy against training points a class, with standard errors."""
    cells = accuracies(grouped(results))
    names = list(dict.fromkeys(data for data, _ in cells))
    columns = min(4, len(names) + 1)
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
        "bars: a standard error of the mean; grey: between the marks of the papers' axis", fontsize=9
    )


def panel_of(axes: Any, data: str, cells: Accuracies) -> None:
    """The curves of a set, over the range that the papers' axis marks."""
    low, high = PANELS[data].axis
    axes.axhspan(100 * low, 100 * high, color="#eeeeee", zorder=0)
    ticks = [size for name, size in cells if name == data]
    for method in METHODS:
        found = {size: [v for v in cells[data, size].get(method, []) if v is not None] for size in ticks}
        sizes = [size for size in ticks if found[size]]
        if not sizes:
            continue
        means = [mean(found[size]) for size in sizes]
        colour, marker = STYLES[method]
        values, errors = [100 * m.value for m in means], [100 * m.error for m in means]
        bold = method in ("Euclid", "GLML")
        axes.errorbar(
            sizes,
            values,
            errors,
            color=colour,
            marker=marker,
            ms=5,
            capsize=2,
            label=method,
            lw=2 if bold else 1,
        )
    axes.set_xticks(ticks)
    axes.set_title(f"({PANELS[data].letter}) {data}")
    axes.set_xlabel("training points a class")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)
