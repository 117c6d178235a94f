"""The report of Table 1: cells, marks, claims and the picture, of results made by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from matplotlib.figure import Figure

from cvxml import datasets
from validation.experiments import table1 as experiment
from validation.experiments import table1_claims as claiming
from validation.experiments import table1_others as fitting
from validation.experiments import table1_report as report
from validation.experiments.tasks import Preset, Result, Task
from validation.experiments.verdicts import Pair, Verdict


def counted(wrong: list[list[int]], **facts: Any) -> Result:
    """Facts of one method on one fold of 100 points: the rows that are wrong at k = 3."""
    (rows,) = wrong
    return {
        "errors": {"3": len(rows) / 100},
        "other_ties": {"3": 0.5},
        "wrong": {"3": rows},
        "test": 100,
        **facts,
    }


def folds(data: str, method: str, counts: list[int], **facts: Any) -> list[tuple[Task, Result]]:
    """Results by hand: so many of the first rows of each fold are wrong."""
    return [
        (Task(data, method, split, {"k": [3]}), counted([[*range(count)]], **facts))
        for split, count in enumerate(counts)
    ]


def ours_by_hand(data: str, counts: dict[str, list[int]], start: str = "zero") -> list[tuple[Task, Result]]:
    """A task of ours a fold, with several methods."""
    gap = {"proved": True, "status": "STATIONARY", "rel_gap": 1e-5, "F": 0.5, "steps": 3, "fit_seconds": 1.0}
    miss = {
        "missed": {"h_star": 0.25, "h_hat": 0.5},
        "arrived": True,
        "F": 0.5,
        "steps": 3,
        "fit_seconds": 1.0,
    }
    results = []
    for split in range(len(counts["CCCP"])):
        of = {
            method: counted([[*range(found[split])]], **(miss if method == "SGD" else gap))
            for method, found in counts.items()
        }
        shared = {"weight": 10.0, "edge": split == 0, "start": start, "test": 100}
        results.append((Task(data, "ours k=3", split, {"k": [3], "starts": True}), {**shared, "of": of}))
    return results


def by_hand() -> list[tuple[Task, Result]]:
    results = folds("office_dslr", "Euclidean", [75, 76, 74])
    counts = {"CCCP": [40, 41, 39], "SGD": [17, 20, 23], "CCCP from Euclid": [42, 44, 60]}
    results += ours_by_hand("office_dslr", counts)
    results += folds("usps", "Euclidean", [7])
    results += ours_by_hand("usps", {"CCCP": [30]}, "ReliefF")
    results += ours_by_hand("wine", {"CCCP": [90, 90]})
    return results


S, C = Verdict.SUPPORTED, Verdict.CONTRADICTED


def compared(results: list[tuple[Task, Result]]) -> dict[str, Pair]:
    """Every comparison at k = 3, by what it says."""
    found = claiming.claims(claiming.arranged(results), [3])
    return {
        str(which).removesuffix(", k = 3"): two
        for claim in found.values()
        for which, two in claim.pairs.items()
    }


def line_on(claim: str, text: str) -> str:
    """The line that a claim begins with."""
    (line,) = [line for line in text.splitlines() if line.startswith("**") and f" {claim}.**" in line]
    return line


PRESET = Preset(("office_dslr", "usps", "wine", "iris"), 3, {"k": [3]})


def test_the_report_marks_what_is_beyond_two_standard_errors() -> None:
    lines = report.parts(by_hand(), PRESET).lines
    rows = {line.split(" | ")[0].strip("| "): line for line in reversed(lines) if line.startswith("|")}
    assert "75.00 ± 0.58 (75.20 ± 3.0)" in rows["Euclidean"]
    assert "75.00 ± 0.58 *" not in rows["Euclidean"]
    assert "40.00 ± 0.58 * (17.18 ± 4.7)" in rows["CCCP"]
    assert "30.00 ± 4.58 * (5.18)" in rows["CCCP"]
    assert rows["CCCP"].count("*") == 2
    assert "90.00 ± 0.00, 2 of 3 folds |" in rows["CCCP"]
    assert "*" not in rows["SGD"]
    assert "not run" in rows["LMNN"]
    (papers,) = [row for name, row in rows.items() if name.startswith("GB-LMNN")]
    assert "(21.65 ± 4.8)" in papers
    text = "\n".join(lines)
    cells = claiming.arranged(by_hand())
    marks = [line for line in report.marked(cells) if line.startswith("- ") and " open" in line]
    assert [line.split(":")[0] for line in marks] == ["- office_dslr, CCCP, k = 3", "- usps, CCCP, k = 3"]
    assert [line for line in marks if line not in lines] == []
    assert "(k = 3: isolet)" in text  # in the paper's own table another method is the best
    assert "| office_dslr, CCCP, k = 3 | 10 (2), 10 * (1) | zero (3) |" in text
    assert "| office_dslr, SGD, k = 3 | 0.5000 | 3 of 3 | 3 | 1.0 | 25.0 | 50.0 |" in text
    (proof,) = [line for line in lines if line.startswith("- office_dslr, CCCP: ")]
    for token in ("3 of 3", "1.0e-05", "STATIONARY (3)"):
        assert token in proof
    amount = report.amount(cells, PRESET)
    assert amount in lines
    # Euclid and our own of two sets, of 8 methods, 3 k, 7 sets
    for token in ("4 of the 168", "4 of them", "iris", "wine"):
        assert token in amount
    assert "5 comparisons" in text


def test_claims_are_decided_by_the_points_that_one_gets_wrong() -> None:
    """CCCP's wrong rows are among Euclid's: 105 fewer in three folds. A Euclidean start has 26 more."""
    cells = claiming.arranged(by_hand())
    text = "\n".join(report.parts(by_hand(), PRESET).lines)
    found = compared(by_hand())
    assert found["office_dslr: CCCP before Euclidean"] == (0, 105, 300)
    assert found["office_dslr: CCCP from zero before CCCP from Euclid"] == (0, 26, 300)
    assert found["usps: CCCP before Euclidean"] == (23, 0, 100)
    assert found["office_dslr: SGD before Euclidean"] == (0, 165, 300)
    assert len(found) == 4
    by_cccp, by_sgd, start = (line_on(claim, text) for claim in claiming.claims(cells, [3]))
    assert f"{C} (1), {S} (1)." in by_cccp
    assert f" {S} (1)." in by_sgd
    assert f" {S} (1)." in start
    assert claiming.same_starts(cells) in start
    assert "0 of 3" in start
    assert "| office_dslr: CCCP before Euclidean, k = 3 | -35.00 |" in text
    # of the two comparisons with Euclid one is on usps, where its 7 of 100 are not the paper's 6.18 %
    assert "| before Euclidean | 2 | 1 | 1 (1) | 0 |" in text


def test_what_the_paper_found_inferior_is_compared_with_its_own() -> None:
    """A claim each: SGD from I with SGD, tr W with ||W||^2 by SGD, ||W - I||^2 by CCCP with the start zero."""
    counts = {"CCCP": [40, 41], "SGD": [40, 42], "SGD from I": [70, 72], "SGD, tr W": [10, 11]}
    made = ours_by_hand("office_dslr", {**counts, "SGD, ||W||^2": [42, 44], "CCCP, ||W - I||^2": [60, 61]})
    for _, result in made:
        result["of"]["SGD, tr W"]["falls"] = result["of"]["SGD, ||W||^2"]["falls"] = 0.125
    made[1][1]["of"]["CCCP, ||W - I||^2"]["proved"] = False
    made[1][1]["of"]["SGD"]["F"] = 0.6
    for split, arrived in enumerate((True, False)):
        made[split][1]["of"]["SGD from I"]["arrived"] = arrived
    cells = claiming.arranged(made)
    of_start, of_trace, of_identity = claiming.ALTERNATIVES[-3:]  # the better, the worse, and the claim
    assert compared(made) == {
        f"office_dslr: {better} before {worse}": counts
        for (better, worse, _), counts in (
            (of_start, (0, 60, 200)),
            (of_trace, (65, 0, 200)),
            (of_identity, (0, 40, 200)),
        )
    }
    assert (of_start[1], of_trace[1], of_identity[1]) == ("SGD from I", "SGD, tr W", "CCCP, ||W - I||^2")
    text = "\n".join(report.parts(made, PRESET).lines)
    assert claiming.further(cells) == "1 of 2"
    for (_, _, claim), figure in ((of_start, "1 of 2"), (of_trace, "12.5 to 12.5"), (of_identity, "1 of 2")):
        assert figure in claiming.MORE[claim](cells)
        assert claiming.MORE[claim](cells) in line_on(claim, text)
    assert "| office_dslr, k = 3, folds: 2 | 41.00 | 71.00 |  | 40.50 |  | 10.50 | 43.00 | 60.50 |" in text
    assert claiming.alternatives(claiming.arranged(by_hand())) == []


@pytest.mark.parametrize("late", [None, "SGD", "SGD from I", "SGD, tr W", "SGD, ||W||^2"])
def test_runs_by_sgd_that_did_not_arrive_decide_nothing(late: str | None) -> None:
    """Whichever of the two did not arrive, in one fold: the errors are far apart, and nothing follows."""
    errors = {"CCCP": [40, 41], "SGD": [40, 42], "SGD from I": [70, 72], "SGD, tr W": [10, 11]}
    made = ours_by_hand("office_dslr", {**errors, "SGD, ||W||^2": [42, 44]})
    for split, (_, result) in enumerate(made):
        for method, run in result["of"].items():
            over = method == late and split == 1
            run |= (
                {"falls": 0.002 if over else 0.0005} if "W" in method else {"arrived": not over, "F": 6580.4}
            )
    text = "\n".join(report.parts(made, PRESET).lines)
    for (better, worse, claim), verdict in zip(claiming.ALTERNATIVES[-3:-1], (S, C), strict=True):
        expected = claiming.NOT_DECIDABLE if late in (better, worse) else verdict
        (row,) = [
            line for line in text.splitlines() if line.startswith(f"| office_dslr: {escaped(better)} before")
        ]
        assert row.endswith(f"| {expected} |")
        assert f"1 comparisons: {expected} (1)." in line_on(claim, text)
    assert ("6,580" in line_on(claiming.ALTERNATIVES[-3][2], text)) == (late == "SGD from I")


def escaped(cell: str) -> str:
    """As a table of Markdown has it."""
    return cell.replace("|", "\\|")


def test_two_methods_are_compared_on_the_folds_that_both_have() -> None:
    """Without Euclid's second fold two are left, and without all of it no comparison."""
    rest = [each for each in by_hand() if (each[0].method, each[0].split) != ("Euclidean", 1)]
    assert compared(rest)["office_dslr: CCCP before Euclidean"] == (0, 70, 200)
    none = [each for each in by_hand() if each[0].data != "office_dslr" or each[0].method != "Euclidean"]
    assert not any("office_dslr" in which and "Euclidean" in which for which in compared(none))


def test_a_run_is_not_compared_with_itself() -> None:
    """Where the start called Euclid is the start called zero, one run stands under both names."""
    made = []
    for task, result in by_hand():
        if "CCCP from Euclid" in result.get("of", {}):
            result = {**result, "of": {**result["of"], "CCCP from Euclid": result["of"]["CCCP"]}}
        made.append((task, result))
    assert made != by_hand()
    cells = claiming.arranged(made)
    assert not any("from Euclid" in which for which in compared(made))
    assert "3 of 3" in claiming.same_starts(cells)
    for _, result in made:
        if "CCCP from Euclid" in result.get("of", {}):  # another run, with the same errors
            result["of"]["CCCP from Euclid"] = {**result["of"]["CCCP"], "F": 0.4}
    assert "0 of 3" in claiming.same_starts(claiming.arranged(made))


def test_a_variant_of_a_set_is_no_further_cell_of_the_paper_s_table() -> None:
    made = by_hand() + folds("isolet", "Euclidean", [8]) + folds("isolet 617", "Euclidean", [9])
    assert "5 of the 168" in "\n".join(report.parts(made, PRESET).lines)


def test_a_method_on_some_axes_is_said_to_be_and_speaks_for_no_claim() -> None:
    gap = {
        "proved": True,
        "status": "CONVERGED",
        "rel_gap": 1e-5,
        "fit_seconds": 2.5,
        "weight": 1.0,
        "edge": False,
    }
    made = (
        by_hand() + folds("office_dslr", "MLR", [60, 60, 60], **gap) + folds("letter", "MLR", [60] * 3, **gap)
    )
    made += ours_by_hand("letter", {"CCCP": [40] * 3})
    text = "\n".join(report.parts(made, PRESET).lines)
    assert "60.00 ± 0.00 * on 40 axes (36.93 ± 2.6)" in text
    assert "letter: CCCP before MLR" in compared(made)
    assert "office_dslr: CCCP before MLR" not in compared(made)


@pytest.mark.slow
def test_the_sets_with_few_features_are_known() -> None:
    there = {claiming.source(data) for preset in experiment.PRESETS.values() for data in preset.data}
    for data in there & set(datasets.names()):
        features = datasets.load(data)[0].shape[1]
        assert (data in claiming.FEW_FEATURES) == (features <= fitting.MOST_AXES["MLR"]), data


def test_a_solve_that_ended_early_is_marked_in_its_cell() -> None:
    facts = {"proved": False, "status": "STALLED", "weight": 1e6, "edge": False, "fit_seconds": 1.0}
    found = {}
    for name, gap in (("early", 0.5), ("rounding", 1e-20)):
        made = by_hand() + folds("usps", "MLR", [96], **facts, rel_gap=gap)
        found[name] = "\n".join(report.parts(made, PRESET).lines)
    assert "96.00 ± 1.96 * † on 40 axes (8.27)" in found["early"]
    assert "\n† " in found["early"]  # what the mark means
    assert "usps, MLR: 5.0e-01." in found["early"]
    assert "†" not in found["rounding"]


def test_sgd_that_did_not_arrive_and_nca_that_did_not_end_are_marked() -> None:
    late = by_hand()
    for task, result in late:
        if task.data == "office_dslr" and task.split == 0 and "of" in result:
            result["of"]["SGD"]["arrived"] = False
    nca = {"weight": 0.25, "edge": False, "fit_seconds": 1.0}
    for status, mark in (("NOT_ATTAINED", ""), ("MAX_ITER", " †")):
        made = [*late, *folds("usps", "NCA", [30], **nca, proved=not mark, status=status)]
        text = "\n".join(report.parts(made, PRESET).lines)
        assert "20.00 ± 1.73 † (17.18 ± 4.7)" in text
        assert f"30.00 ± 4.58 *{mark} (5.23)" in text
        assert not re.search(r"\de-\d", "".join(report.unfinished(claiming.arranged(made))))  # no gap is left
        assert "| usps, NCA, k = 3 | 0.25 * (1) |" in text  # the least share of a grid that does not go on


def test_without_pca_the_paper_has_no_cell_but_that_of_euclid() -> None:
    assert claiming.paper_of("isolet 617", "Euclidean", 3) == claiming.printed("isolet", "Euclidean", 3)
    assert claiming.paper_of("isolet 617", "LMNN", 3) is None
    assert claiming.paper_of("isolet", "LMNN", 3) == claiming.printed("isolet", "LMNN", 3)
    made = by_hand() + folds("isolet 617", "Euclidean", [8])
    rows = [line for line in report.parts(made, PRESET).lines if line.startswith(("| LMNN |", "| k-NCA"))]
    assert [row.split(" | ")[1] for row in rows] == ["", ""]


def test_seconds_are_means_over_folds_and_classes_that_are_points_are_said_to_be() -> None:
    facts = {"proved": False, "status": "STALLED", "weight": 0.1, "edge": False}
    made = by_hand()
    for split, (seconds, gap) in enumerate([(2.0, 1e-20), (3.0, 1e-20), (7.0, 1e-3)]):
        one = counted([[*range(20)]], **facts, fit_seconds=seconds, rel_gap=gap)
        made.append((Task("office_dslr", "LMNN", split, {"k": [3]}), one))
    text = "\n".join(report.parts(made, PRESET).lines)
    assert "| office_dslr | 4.0 |  |  |  | 1.0 | 1.0 |  |" in text
    (collapsed,) = report.collapsed(claiming.arranged(made))
    for token in ("office_dslr", "LMNN", "2 folds"):
        assert token in collapsed
    assert collapsed in text
    assert report.collapsed(claiming.arranged(by_hand())) == []


def test_a_metric_of_fewer_points_is_said_to_be_and_speaks_for_no_claim() -> None:
    made = [
        (Task(task.data, task.method, task.split, {**task.settings, "rows": {"Euclidean": 200}}), result)
        for task, result in by_hand()
    ]
    text = "\n".join(report.parts(made, PRESET).lines)
    assert "75.00 ± 0.58 from 200 points (75.20 ± 3.0)" in text
    cells = claiming.arranged(made)
    assert not any("before Euclidean" in which for which in compared(made))
    for token in ("Euclidean", "office_dslr, usps"):
        assert token in claiming.left_out(cells)
    assert claiming.left_out(cells) in text
    few = [task for task in experiment.tasks(experiment.PRESETS["full"]) if task.settings["rows"]]
    assert {(task.data, *task.settings["rows"]) for task in few} == {
        *((data, "MLR") for data in ("isolet", "isolet 617", "usps", "letter")),
        *((f"office_{data}", "MLR") for data in ("amazon", "caltech")),
        *((data, "NCA") for data in ("isolet", "isolet 617", "usps", "letter")),
    }


def test_without_differences_the_report_says_so() -> None:
    lines = report.parts(by_hand()[:3], PRESET).lines
    (only,) = report.marked(claiming.arranged(by_hand()[:3]))
    assert only in lines
    assert "*" not in only


@pytest.mark.parametrize(("wrong", "star"), [(123, True), (124, False), (125, True)])
def test_euclid_on_a_standard_partition_is_marked_where_a_point_differs(wrong: int, star: bool) -> None:
    assert claiming.printed("usps", "Euclidean", 3) == (6.18, None)  # 124 of 2007
    errors = claiming.arranged(
        [(Task("usps", "Euclidean", 0, {}), {"errors": {"3": wrong / 2007}, "test": 2007})]
    )
    assert claiming.is_marked(errors, "usps", "Euclidean", 3) is star


def test_the_picture_has_a_panel_a_set() -> None:
    figure = Figure(layout="constrained")
    report.draw(by_hand(), PRESET, figure)
    assert [panel.get_title() for panel in figure.axes] == ["usps", "office_dslr", "wine", ""]
    # two of three folds of wine; of the others all
    filled = [
        {
            line.get_fillstyle()
            for line in panel.lines
            if line.get_marker() == "o" and len(line.get_xdata()) == 1
        }
        for panel in figure.axes[1:3]
    ]
    assert filled == [{"full"}, {"bottom"}]
    rings = [sum(line.get_markersize() == 12 for line in panel.lines) for panel in figure.axes]
    assert rings == [2 + 1, 1, 0, 0]  # the cells with an asterisk, and the legend's
    few = folds("wine", "MLR", [50, 50, 50], weight=1.0, edge=False, fit_seconds=1.0, proved=True, status="x")
    for task, _ in few:
        task.settings["rows"] = {"MLR": 200}
    figure = Figure(layout="constrained")
    report.draw(by_hand() + few, PRESET, figure)
    marks = {line.get_fillstyle() for line in figure.axes[2].lines if line.get_marker() == "<"}
    assert marks == {"left"}
    for panel in figure.axes[:3]:  # no bar is cut
        low, high = panel.get_ylim()
        for each in panel.collections:
            for segment in each.get_segments():
                assert low < segment[:, 1].min() <= segment[:, 1].max() < high
