"""What every report must do, of results made by hand: state its figures, notice a change, leave out what is not run."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from validation.experiments import __main__ as command
from validation.experiments import page
from validation.experiments.made import Level, around, filled
from validation.experiments.page import Results
from validation.experiments.words import Words

every_experiment = pytest.mark.parametrize("name", command.EXPERIMENTS)


def run(name: str, level: Level, splits: int = 3) -> Results:
    """All of the preset *small*, with so many splits."""
    experiment = command.of(name)
    return filled(name, experiment.tasks(replace(experiment.PRESETS["small"], splits=splits)), level)


def lines_of(name: str, results: Results, preset: str = "small") -> list[str]:
    """The report."""
    experiment = command.of(name)
    recorded = {"preset": preset, **page.record(name, preset, results)}
    return page.report(recorded, experiment, experiment.PRESETS[preset], "stem")


def cells_of(lines: list[str]) -> list[tuple[set[str], str]]:
    """Every cell of every table: the names on its left and above it, and what it has."""
    found = []
    for is_row, rows in groupby(lines, lambda line: line.startswith("|")):
        table = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] if is_row else []
        for row in table[2:]:
            found += [({head, row[0]}, cell) for head, cell in zip(table[0], row, strict=True)]
    return found


def said_of(values: list[float]) -> str:
    """Mean and standard error in per cent."""
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


@every_experiment
def test_every_mean_stands_under_its_names(name: str) -> None:
    """The levels that the results were made from, averaged here."""
    asked: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    draw = around({}, noise=0.1)

    def level(data: str, method: str, split: int, place: str) -> float:
        asked[data, method, place].append(round(draw(data, method, split, place), 2))
        return asked[data, method, place][-1]

    cells = cells_of(lines_of(name, run(name, level)))
    errors = name in ("mlsvm", "table1")
    assert len(asked) > 10
    for (data, method, place), values in asked.items():
        said = said_of([1 - value for value in values] if errors else values)
        found = [names for names, cell in cells if cell.startswith(said)]
        wanted = {method, method.removesuffix(" 2")}
        placed = [names for names in found if wanted & names and any(data in each for each in names)]
        assert placed, (data, method, place, said, found)


@every_experiment
def test_each_changed_result_changes_the_report(name: str) -> None:
    """Of the first, of one in the middle, and of the last method."""
    results = run(name, around({}), 2)
    before = lines_of(name, results)
    for at in (0, len(results) // 2, len(results) - 1):
        task = results[at][0]
        (other,) = filled(name, [task], around({}, base=0.7))
        assert lines_of(name, [*results[:at], other, *results[at + 1 :]]) != before, task.key


@every_experiment
def test_a_set_that_is_not_run_is_left_out_and_the_share_is_said(name: str) -> None:
    results = run(name, around({}), command.of(name).PRESETS["small"].splits)
    absent = results[-1][0].data
    some = [each for each in results if each[0].data != absent]
    lines = lines_of(name, some)
    assert not any(re.match(rf"\| (\(.\) )?{absent} \|", line) for line in lines)
    run_line = next(line for line in lines if line.startswith("- **Run.**"))
    assert f"{len(some)} of the {len(results)} tasks" in run_line
    in_short = next(line for line in lines if line.startswith("- **In short.**"))
    assert f"{100 * len(some) / len(results):.0f} % of the tasks" in in_short
    assert f"All {len(results)} tasks" in "".join(lines_of(name, results))


@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("mlsvm", ["MLSVM"]),
        ("glml", ["GLML"]),
        ("nca", ["NCA", "NCA 2"]),
        ("table1", ["CCCP", "SGD"]),
    ],
)
def test_the_conclusion_follows_the_results(name: str, methods: list[str]) -> None:
    """Of the paper's methods far ahead of all others, and far behind them."""
    yes, no = (Words("page")(f"answers.{kind}") for kind in ("yes", "no"))
    for level, (wanted, other) in {0.95: (yes, no), 0.5: (no, yes)}.items():
        conclusion = lines_of(name, run(name, around(dict.fromkeys(methods, level)), 5))[2]
        assert conclusion.startswith("- **In short.**")
        assert re.findall(f"{yes}|{no}", conclusion).count(wanted) >= 1
        assert other not in conclusion


def test_departures_from_the_paper_are_those_of_the_sets_that_are_run() -> None:
    """Of GLML's small sets none departs; of NCA's the faces are absent, and housing is not run."""
    small = run("glml", around({}))
    assert page.departures(small, command.of("glml")) == []
    with_spoken = [(small[0][0]._replace(data="spoken"), small[0][1]), *small[1:]]
    assert "TI46" in page.all_departures(with_spoken, command.of("glml"))
    of_nca = page.all_departures(run("nca", around({})), command.of("nca"))
    assert "faces" in of_nca
    assert "housing" not in of_nca


@every_experiment
def test_of_one_split_nothing_is_supported_or_contradicted_by_a_t_test(name: str) -> None:
    verdicts = [cell for _, cell in cells_of(lines_of(name, run(name, around({}, noise=0.1), 1)))]
    if name != "table1":  # which tests points, not splits
        assert not any(re.match(r"\**(supported|contradicted)", cell) for cell in verdicts)


@every_experiment
def test_remarks_belong_to_the_run_that_they_were_written_for(name: str) -> None:
    """Of other results, other presets say nothing but that an observation is open."""
    remarks = Words(name).remarks()
    for preset in command.of(name).PRESETS.values():
        assert not (preset.remarks and not remarks)
    if name != "table1":  # whose remarks are on single cells, and true of every run of them
        text = "\n".join(lines_of(name, run(name, around({}, base=0.3, noise=0.2))))
        assert [key for key, said in remarks.items() if said in text] == []


@every_experiment
def test_the_picture_has_every_set_and_method(name: str) -> None:
    experiment, results = command.of(name), run(name, around({}))
    figure = Figure(layout="constrained")
    experiment.draw(results, experiment.PRESETS["small"], figure)
    legends: list[Any] = [axes.get_legend() for axes in figure.axes] + list(figure.legends)
    shown = {text.get_text() for legend in legends if legend for text in legend.get_texts()}
    ticks = {
        text.get_text() for axes in figure.axes for text in (*axes.get_xticklabels(), *axes.get_yticklabels())
    }
    titles = {axes.get_title() for axes in figure.axes}
    methods = {
        of.removesuffix(" 2")
        for task, result in results
        for of in (result.get("methods") or result.get("of") or [task.method])
    } - {"MLSVM in hindsight"}
    assert methods <= shown | ticks
    sets = {task.data.split("_")[0] for task, _ in results}
    assert all(any(data in there for there in ticks | titles) for data in sets if name != "synthetic")
