"""What the report of the experiment on GLML says of hand-made results: comparisons, verdicts, tables, picture."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from matplotlib.figure import Figure

from validation.experiments import glml, glml_claims, glml_data, glml_methods, glml_report
from validation.experiments.glml_claims import CLAIMS, cells_of, found_of
from validation.experiments.glml_report import REMARKS
from validation.experiments.page import Results, grouped
from validation.experiments.tasks import Preset, Result, Task
from validation.experiments.verdicts import NEEDS, Verdict, joined

S, C, U = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED
GLOBAL = ("LMNN", "ITML", "DML-eig")
STATUS = {"ITML": ["CONVERGED", "MAX_ITER"]}  # the others converge, or have none to have
WINE = {"largest": 40, "test": None}


def made(
    differences: dict[str, float], data: str = "twonorm", count: int = 12, learnt: tuple[str, ...] = GLOBAL
) -> Results:
    """Euclid at 80 %, and the others so much above it, but for noise; all of two sizes."""
    rng = np.random.default_rng(0)
    found: Results = []
    of = {"generative": glml_methods.GENERATIVE, "densities": glml_methods.DENSITIES}
    for method in ("generative", "densities", *learnt):
        names = of.get(method, (method,))
        for split in range(count):
            methods: Result = {
                name: {
                    "accuracy": [
                        0.8 + differences.get(name, 0.0) + 0.01 * rng.standard_normal() for _ in range(2)
                    ],
                    "gap": [1e-5, 1e-6] if name in ("GLML", method) else [None, None],
                    "status": STATUS.get(name, [None if method == "densities" else "CONVERGED"] * 2),
                    "chosen": [[0.1, 1.0], [0.1, 1.0]] if name == "GLML" else [[], []],
                }
                for name in names
            }
            seconds = (1.0 if method == "generative" else 8.0) * (1 + 0.1 * rng.random())
            found.append(
                (Task(data, method, split, WINE), {"sizes": [10, 20], "methods": methods, "seconds": seconds})
            )
    return found


AS_PRINTED = {"GLML": 0.1, "Fisher": -0.1, "Fisher, one Gaussian": -0.1, "Bayes": -0.2}


def verdicts(results: Results) -> dict[str, Verdict | None]:
    """For these points, if the sets that were compared were all that the papers have."""
    cells = cells_of(results)
    sets = {key: list(found_of(claim, cells).sets.values()) for key, claim in CLAIMS.items()}
    return {key: joined(sets[key], NEEDS[claim.needs[2]]) for key, claim in CLAIMS.items()}


def own(results: Results) -> dict[str, glml_claims.Found]:
    """What is found of every claim."""
    cells = cells_of(results)
    return {key: found_of(claim, cells) for key, claim in CLAIMS.items()}


def against(results: Results, preset: str = "small") -> list[str]:
    """The lines on the sets that contradict a claim."""
    return glml_report.against(own(results), glml.PRESETS[preset])


def lines_of(results: Results) -> list[str]:
    """The report."""
    return glml.parts(results, glml.PRESETS["small"]).lines


def line_of(results: Results, start: str) -> str:
    """The first line of the report that begins so."""
    return next(line for line in lines_of(results) if line.startswith(start))


ALL_SUPPORTED = {
    **dict.fromkeys(CLAIMS, S),
    "BoostMetric": None,  # nothing of (h)
}


def test_claims_that_hold_are_supported() -> None:
    assert verdicts(made(AS_PRINTED)) == ALL_SUPPORTED
    assert against(made(AS_PRINTED)) == []


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"GLML": 0.0}, {"gain": U, "most": U}),
        ({"GLML": -0.1}, {"gain": C, "most": C}),
        ({"LMNN": 0.2, "ITML": 0.2, "DML-eig": 0.2}, {"most": C, "others": C}),
        ({"LMNN": 0.05, "ITML": 0.05, "DML-eig": 0.05}, {"others": C}),
        ({"LMNN": 0.01, "ITML": 0.01, "DML-eig": 0.01}, {"others": U}),  # a point is what it takes
        ({"Bayes": 0.1}, {"Bayes": C}),
        ({"Bayes": 0.0}, {"Bayes": U}),  # a tie: the point is ours, and contradicts nothing
        ({"Bayes": -0.01}, {"Bayes": U}),
        ({"Fisher": -0.01}, {"Fisher": U}),
        ({"Fisher, one Gaussian": 0.1}, {"Fisher, one Gaussian": C}),
    ],
)
def test_what_contradicts_a_claim_and_what_leaves_it_undecided(
    change: dict[str, float], verdict: dict[str, Verdict]
) -> None:
    assert verdicts(made({**AS_PRINTED, **change})) == ALL_SUPPORTED | verdict


def test_a_sentence_on_many_sets_has_no_verdict_by_one() -> None:
    """But one that speaks of every cell is contradicted by one set."""
    claim, every_cell = CLAIMS["others"], CLAIMS["gain"]
    three, four = (dict.fromkeys("abcd"[:count], S) for count in (3, 4))
    for of, verdict in ((claim, S), (claim, C), (every_cell, S)):
        assert "3 of 8" in glml_report.of_enough(of, three, verdict)
    assert glml_report.of_enough(claim, four, S) is S
    assert glml_report.of_enough(every_cell, three, C) is C
    assert glml_report.of_enough(CLAIMS["BoostMetric"], {"usps 8x8": S}, S) is S  # one of two


def test_what_each_letter_asks_for_is_said() -> None:
    text = lines_of(made(AS_PRINTED))
    for key, limits in {"gain": [], "most": ["+1", "0"], "others": ["-1", "-1"]}.items():
        reach = glml_report.reach_of(CLAIMS[key].ahead)
        assert re.findall(r"[+-]?\d+", reach) == limits  # of S, and of C
        (line,) = [line for line in text if line.startswith(f"**{CLAIMS[key].said}**")]
        assert reach in line


def level(results: Results, seconds: Sequence[str], by: float) -> Results:
    """The seconds alike, and GLML above them by so much in every realisation, but for next to nothing."""
    first = {task.split: result for task, result in results if task.method == seconds[0]}
    for task, result in results:
        theirs = first[task.split]["methods"][seconds[0]]["accuracy"]
        if task.method in seconds[1:]:
            result["methods"][task.method]["accuracy"] = theirs
        if task.method == "generative":
            of = [value + by + 1e-6 * (-1) ** task.split for value in theirs]
            result["methods"]["GLML"]["accuracy"] = of
    return results


@pytest.mark.parametrize(("by", "verdict"), [(0.02, S), (0.005, U), (0.0, U), (-0.005, C)])
def test_a_tie_contradicts_no_metric_that_outperforms(by: float, verdict: Verdict) -> None:
    results = level(made({}, "usps 8x8", learnt=GLOBAL), GLOBAL, by)
    found = found_of(CLAIMS["most"], cells_of(results))
    assert found.sets == {"usps 8x8": verdict}
    ties = [line for line in glml_report.ties(own(results)) if CLAIMS["most"].said in line]
    assert bool(ties) == (verdict is U)
    for line in ties:
        assert "usps 8x8" in line
        assert line in lines_of(results)


def test_the_report_says_where_metrics_were_run() -> None:
    results = made(AS_PRINTED) + made(AS_PRINTED, "usps 8x8", learnt=("ITML",))
    (where,) = glml_report.run_there(own(results)["most"])
    first, second = where.split("usps 8x8")
    names = (*GLOBAL, '"Fisher, one Gaussian"')
    assert [name for name in names if name not in first] == []
    assert [name for name in names if name in second] == ["ITML", '"Fisher, one Gaussian"']
    assert where in lines_of(results)


def test_claims_with_a_point_are_said_without_it_too() -> None:
    """Half a point above Euclid: with the point no metric outperforms it, without it all do; and GLML the same."""
    change = {**dict.fromkeys(GLOBAL, 0.005), "GLML": 0.005, "Fisher, one Gaussian": 0.005}
    noisy = made(change, count=20)
    for _, result in noisy:
        for name, values in result["methods"].items():
            values["accuracy"] = [
                0.8 + change.get(name, 0.0) + (value - 0.8 - change.get(name, 0.0)) / 100
                for value in values["accuracy"]
            ]
    text = lines_of(noisy)
    rows = [line for line in text if line.startswith(f"| {CLAIMS['others'].said} |")]
    with_point, without = rows
    assert with_point.count(f"| {S}: twonorm") == without.count(f"| {C}: twonorm") == 1
    assert ["1 of 8" in line.split(" | ")[-2] for line in rows] == [True, True]
    (better,) = glml_report.little_more(cells_of(noisy))
    (too,) = glml_report.glml_too(cells_of(noisy))
    for token in (*GLOBAL, "Fisher, one Gaussian", "twonorm", "10 and 20"):
        assert token in better
    assert "twonorm" in too
    assert better in text
    assert too in text
    plain = cells_of(made(AS_PRINTED))
    assert glml_report.little_more(plain) == glml_report.glml_too(plain) == []
    far = cells_of(made({**AS_PRINTED, "LMNN": 0.1}))
    assert glml_report.little_more(far) == []  # by more than a point, which the verdict has already


def test_a_set_that_was_not_compared_may_be_either_way() -> None:
    """The sets that the papers have count, and not those that were run; of Fisher those of four panels."""
    names = list(glml_data.PANELS)

    def found(key: str, *of_sets: Verdict) -> Verdict | None:
        claim = CLAIMS[key]
        return glml_claims.overall(dict(zip(names, of_sets, strict=False)), claim)

    assert (found("Bayes", *[C] * 4, U, S, S), found("Bayes", *[C] * 5)) == (U, C)
    assert (found("Bayes", *[S] * 3), found("Bayes", *[S] * 4)) == (U, S)
    assert (found("gain", *[S] * 7), found("gain", *[S] * 8), found("gain", C)) == (U, S, C)
    assert (found("Fisher", *[S] * 3), found("Fisher", *[S] * 4)) == (U, S)
    assert found("Bayes") is None
    drawn = cells_of(made(AS_PRINTED))
    assert found_of(CLAIMS["gain"], drawn).verdict is U
    assert found_of(CLAIMS["gain"], cells_of(made({"GLML": -0.1}))).verdict is C


def test_fisher_is_judged_in_its_panels_alone() -> None:
    found = verdicts(made(AS_PRINTED, "ionosphere"))
    assert found["Fisher"] is found["Fisher, one Gaussian"] is found["BoostMetric"] is None
    usps = made({**AS_PRINTED, "BoostMetric": -0.1}, "usps 8x8", learnt=(*GLOBAL, "BoostMetric"))
    assert verdicts(usps)["BoostMetric"] is S
    spoken = verdicts(made(AS_PRINTED, "spoken"))
    assert spoken["Fisher"] is spoken["Fisher, one Gaussian"] is S


@pytest.mark.slow
def test_a_metric_that_was_not_run_speaks_for_nothing() -> None:
    better = {**AS_PRINTED, "LMNN": 0.05, "ITML": 0.05, "Fisher, one Gaussian": 0.05, "Fisher": -0.1}
    some = made(better, learnt=("LMNN", "ITML"))
    assert verdicts(some)["others"] is C  # the three of six that were run are better than Euclid
    rows = claim_lines(some)
    none = glml_report.NOT_RUN
    assert rows["BoostMetric"].endswith(f"| {none} |  | {none} | {none} |")
    assert claim_lines(made(better, learnt=()))["time"].endswith(f"| {none} |  | {none} |  |")


@pytest.mark.slow
def test_a_set_with_few_of_the_metrics_speaks_for_none_of_many() -> None:
    """Two of six: the claims on many metrics have no verdict there, and those on one have."""
    few = made(AS_PRINTED, learnt=("ITML",))
    found = verdicts(few)
    assert found["most"] is found["others"] is None
    assert found["gain"] is found["Bayes"] is S
    rows = claim_lines(few)
    for key in ("most", "others"):
        of_sets, these, new = rows[key].split(" | ")[-3:]
        assert of_sets == ""
        assert "0 of 8" in these
        assert "0 of 8" in new
    assert S in rows["most"]  # the comparisons themselves


def claim_lines(results: Results) -> dict[str, str]:
    """The line of each claim."""
    said = {key: claim.said for key, claim in CLAIMS.items()} | {"time": glml_claims.TIME.said}
    return {key: line_of(results, f"| {words} |") for key, words in said.items()}


def test_new_points_ask_for_more_than_these() -> None:
    """The same results of a set of few points, and of one that is drawn anew."""
    change = {**AS_PRINTED, "GLML": 0.012}
    wine, drawn = (found_of(CLAIMS["gain"], cells_of(made(change, data))) for data in ("wine", "twonorm"))
    assert (wine.sets, wine.sets_new) == ({"wine": S}, {"wine": U})
    assert drawn.sets == drawn.sets_new
    for each in wine.pairs.values():
        wide, narrow = each.beyond().interval, each._replace(overlap=0.0).beyond().interval
        assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.slow
def test_both_readings_of_the_features() -> None:
    change = {**AS_PRINTED, "GLML": -0.1}
    both = made(AS_PRINTED, "wine") + made(change, "wine z-scored") + made(AS_PRINTED)
    cells = cells_of(both)
    assert cells.as_they_come() == ["twonorm", "wine"]
    assert cells.standardised() == ["twonorm", "wine z-scored"]
    text = "\n".join(lines_of(both))
    _, plain, scaled, _ = text.split("\n### ")
    said = [[line for line in part.splitlines() if line.startswith("- ")] for part in (plain, scaled)]
    assert [line for line in said[0] if C in line] == []
    assert [line for line in said[1] if C in line and "wine z-scored" in line and "open" in line]
    assert text.count("| twonorm | GLML - Euclid") == 1  # what is the same is said once
    assert text.count("| wine z-scored | GLML - Euclid") == 1


def test_remarks_belong_to_the_run_that_they_were_written_for() -> None:
    results = made({**AS_PRINTED, "Bayes": 0.1}, "ionosphere")
    remark = REMARKS["ionosphere", "Bayes"]
    for name in glml.PRESETS:
        lines = [line for line in against(results, name) if "ionosphere" in line]
        assert len(lines) == 1
        assert (remark in lines[0]) == (name != "small")
        assert ("; open" in lines[0]) == (name == "small")


def test_what_is_not_run_of_a_preset_is_said() -> None:
    preset = Preset(("twonorm", "wine", "ionosphere"), 12, {"realisations": {"wine": 200}})
    every = (*GLOBAL, "GLML, mixtures", "BoostMetric", "PLML")
    head, _, *parts = glml_report.so_far(
        grouped([*made({}, learnt=every), *made({}, "wine", 7, GLOBAL[:2])]), preset
    )[1:]
    assert "ionosphere" in head
    assert "wine" not in head
    some = made({})
    assert glml.parts(some, preset).lines.count(glml_report.so_far(grouped(some), preset)[1]) == 1
    (part,) = parts
    assert part.startswith("- wine (200): 7 of ")
    seven, none = part.split(" none of ")
    names = ("Euclid", "Fisher", '"Fisher, one Gaussian"', "Bayes", "LMNN", "ITML")
    assert [name for name in names if name not in seven or name in none] == []
    names = ('"GLML, mixtures"', "DML-eig", "BoostMetric", "PLML")
    assert [name for name in names if name not in none or name in seven] == []
    drawn = grouped(made({}))
    largest = {method: {"all": 0} for method in ("GLML, mixtures", "BoostMetric", "PLML")}
    assert glml_report.so_far(drawn, Preset(("twonorm",), 12, {"largest": largest})) == []
    (missing,) = glml_report.so_far(drawn, Preset(("twonorm", "wine"), 12, {"largest": largest}))[1:2]
    assert "wine" in missing


def test_the_ends_of_a_grid_that_does_not_go_on() -> None:
    def found(method: str, *chosen: float) -> bool | None:
        return glml_report.at_edge(method, {"chosen": list(chosen)})

    assert [found("GLML", *chosen) for chosen in ((1e-4, 1), (100, 1), (1, 1000), (1, 0), (1, 100))] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert [found("Bayes", alpha) for alpha in (1e-4, 1, 100)] == [True, False, True]
    assert [found("ITML", gamma) for gamma in (0.01, 1, 100)] == [True, False, True]
    assert [found("DML-eig", k) for k in (1, 3, 10)] == [False, False, True]  # no k is below 1
    assert found("LMNN") is found("PLML", 10.0) is found("GLML, mixtures", 2, 100.0, 0.0) is None
    assert glml_report.at_edge("Bayes", {"chosen": [100.0], "edge": False}) is False  # it went on


def test_a_metric_that_does_not_meet_its_gap_is_marked() -> None:
    """ITML of `STATUS` at the second size; what stopped short is in the mean all the same."""
    text = lines_of(made({}, count=3))
    head = next(line for line in text if line.startswith("| data | points |"))
    names = head.split(" | ")
    for size, mark in ((10, []), (20, ["ITML"])):
        row = next(line for line in text if line.startswith(f"| (f) twonorm | {size} ")).split(" | ")
        assert [name for name, cell in zip(names, row, strict=True) if cell.endswith(" †3")] == mark


@pytest.mark.slow
def test_time_is_compared_where_the_sizes_are_the_same() -> None:
    results = made(AS_PRINTED)

    def found(changed: Results) -> tuple[int, Verdict | None]:
        each, verdict = glml_claims.time_found(grouped(changed), ["twonorm"])
        return sum(one is S for one in each.values()), verdict

    assert found(results) == (3, S)
    quick = [
        (task, {**each, "seconds": each["seconds"] / 4 if task.method == "LMNN" else each["seconds"]})
        for task, each in results
    ]
    assert found(quick) == (2, S)
    of_two = glml_claims.time_found(grouped(quick), ["twonorm"])[0]
    assert of_two["twonorm", "LMNN"] is U  # twice as long is what another machine may take
    slow = [(task, {**each, "seconds": 1 / each["seconds"]}) for task, each in quick]
    assert found(slow) == (0, C)
    other = [(task, {**each, "sizes": [10, 30]} if task.method == "LMNN" else each) for task, each in quick]
    assert len(glml_claims.time_found(grouped(other), ["twonorm"])[0]) == 2
    assert "1 of 8" in claim_lines(results)["time"]
    half = [pair for data in ("twonorm", "waveform", "wine", "ionosphere") for pair in made(AS_PRINTED, data)]
    assert claim_lines(half)["time"].endswith(f"| {S} |  |")


def test_times_are_those_of_one_realisation() -> None:
    """The first of LMNN is missing; by place, the second of GLML would be paired with the third of LMNN."""
    results = [
        (task, {**each, "seconds": float(1 + task.split + 100 * (task.method == "LMNN"))})
        for task, each in made(AS_PRINTED, count=4)
        if (task.method, task.split) != ("LMNN", 0)
    ]
    pairs = {method: both for _, method, both in glml_claims.seconds_of_both(grouped(results), ["twonorm"])}
    assert pairs["LMNN"] == [(2.0, 102.0), (3.0, 103.0), (4.0, 104.0)]


def test_the_tables() -> None:
    results = made(AS_PRINTED, "wine")
    for task, result in results:
        if task.method == "DML-eig":
            result["methods"]["DML-eig"]["accuracy"][0] = None
            result["methods"]["DML-eig"]["status"][0] = None
        if task.method == "ITML":
            result["methods"]["ITML"]["edge"] = [task.split == 0, False]
    text = lines_of([each for each in results if each[0].key != "wine/LMNN/003"])
    row = next(line for line in text if line.startswith("| (g) wine | 10 "))
    values = [each["methods"]["GLML"]["accuracy"][0] for task, each in results if task.method == "generative"]
    error = np.std(values, ddof=1) / np.sqrt(12)
    assert f"| {100 * np.mean(values):.2f} ± {100 * error:.2f} |" in row
    assert "| none |" in row
    assert row.endswith("| 70 to 100 |")
    assert row.count(" (11) |") == 1  # LMNN
    assert any(line.startswith("| wine | ITML | 1.0e-05 | 12 of 24 | 0 |") for line in text)
    assert any(line.startswith("| wine | ITML |") and line.endswith("| 1 of 24 |") for line in text)
    assert any(line.startswith("| wine | Bayes |  |  | 0 |") for line in text)
    assert any(line.startswith("| wine | DML-eig | 1.0e-05 | 0 of 24 | 12 |") for line in text)
    assert any("0.1, 1 (24)" in line for line in text)
    head = next(line for line in text if line.startswith("| data | points |"))
    assert "PLML" not in head


@pytest.mark.parametrize(("lead", "codes"), [(0.012, "SU"), (0.1, "SS")])
def test_each_comparison_is_shown_with_its_interval_and_letters_and_without_the_point(
    lead: float, codes: str
) -> None:
    results = made({**AS_PRINTED, "GLML": lead}, "wine")
    for key, other in (("gain", "Euclid"), ("most", "LMNN")):
        found = found_of(CLAIMS[key], cells_of(results))
        row = line_of(results, f"| wine | GLML - {other} |")
        for which, pair in found.pairs.items():
            each = pair.beyond()
            low, high = (100 * end for end in each.interval)
            shown = f"{which.cell[1]}: {100 * each.mean:+.1f} ({low:+.1f} to {high:+.1f})"
            assert (shown in row) == (which.second == other)
            assert key == "most" or f"{shown} {codes}" in row


def test_the_picture_has_every_method() -> None:
    figure = Figure(layout="constrained")
    both = made(AS_PRINTED, "wine") + made({}, learnt=glml.LEARNT)
    for task, result in both:  # mixtures have a task of their own
        if task.method == "LMNN":
            result["methods"][glml_methods.MIXTURES] = result["methods"]["LMNN"]
    glml.draw(both, glml.PRESETS["small"], figure)
    titles = [axes.get_title() for axes in figure.axes if axes.axison]
    assert titles == ["(f) twonorm", "(g) wine"]
    legend = figure.axes[2].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(glml_report.METHODS)
    assert len(set(glml_report.STYLES.values())) == len(glml_report.METHODS)


def test_a_curve_of_one_realisation_is_hollow() -> None:
    figure = Figure(layout="constrained")
    glml.draw(made({}, learnt=()) + made({}, count=1, learnt=("LMNN",))[-1:], glml.PRESETS["small"], figure)
    of = {each.get_label(): each.lines[0] for each in figure.axes[0].containers}
    hollow = [name for name, line in of.items() if line.get_markerfacecolor() == "white"]
    assert hollow == ["LMNN"]
    assert len(of) == 6
