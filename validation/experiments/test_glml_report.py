"""What the report of the experiment on GLML says of hand-made results: comparisons, verdicts, proofs, time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from matplotlib.figure import Figure

from validation.experiments import glml, glml_claims, glml_data, glml_report, page
from validation.experiments.glml_claims import CLAIMS, cells_of, found_of
from validation.experiments.glml_learnt import LEARNT
from validation.experiments.glml_methods import DENSITIES, FITTED, SHARED
from validation.experiments.made import around, results
from validation.experiments.page import Results, grouped
from validation.experiments.tasks import Preset
from validation.experiments.verdicts import NEEDS, Verdict, joined

S, C, U = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED
GLOBAL = ("LMNN", "ITML", "DML-eig")
AS_PRINTED = {"GLML": 0.9, "Fisher": 0.7, "Fisher, one Gaussian": 0.7, "Bayes": 0.6}  # others are at .8


def made(
    change: Mapping[str, float],
    data: str = "twonorm",
    count: int = 12,
    learnt: Iterable[str] = GLOBAL,
    noise: float = 0.01,
) -> Results:
    """Accuracies as printed, but for a change; of two sizes."""
    level = around({**AS_PRINTED, **change}, noise=noise)
    return results("glml", (SHARED, FITTED, *learnt), [data], count, level)


def verdicts(found: Results) -> dict[str, Verdict | None]:
    """For these points, if the sets that were compared were all that the papers have."""
    own = glml_report.own_of(cells_of(found))
    return {key: joined(list(own[key].these.sets.values()), NEEDS[CLAIMS[key].needs[2]]) for key in CLAIMS}


def lines_of(found: Results, preset: str = "small") -> list[str]:
    return glml.parts(found, glml.PRESETS[preset]).lines


def claim_line(found: Results, key: str) -> str:
    """The row of a claim."""
    said = glml_claims.TIME.said if key == "time" else CLAIMS[key].said
    return next(line for line in lines_of(found) if line.startswith(f"| {said} |"))


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, {}),
        ({"GLML": 0.8}, {"gain": U, "most": U}),
        ({"GLML": 0.7}, {"gain": C, "most": C}),
        (dict.fromkeys(GLOBAL, 1.0), {"most": C, "others": C}),
        (dict.fromkeys(GLOBAL, 0.85), {"others": C}),
        (dict.fromkeys(GLOBAL, 0.81), {"others": U}),  # a point is what it takes
        ({"Bayes": 0.9}, {"Bayes": C}),
        ({"Bayes": 0.8}, {"Bayes": U}),  # a tie: the point is ours, and contradicts nothing
        ({"Bayes": 0.79}, {"Bayes": U}),
        ({"Fisher": 0.79}, {"Fisher": U}),
        ({"Fisher, one Gaussian": 0.9}, {"Fisher, one Gaussian": C}),
    ],
)
def test_each_claim_by_its_figures(change: dict[str, float], verdict: dict[str, Verdict]) -> None:
    supported = {**dict.fromkeys(CLAIMS, S), "BoostMetric": None}  # nothing of (h)
    assert verdicts(made(change, noise=0.006)) == supported | verdict
    against = glml_report.against(
        glml_report.own_of(cells_of(made(change, noise=0.006))), glml.PRESETS["small"]
    )
    assert len([line for line in against if line.startswith("- ")]) == list(verdict.values()).count(C)


@pytest.mark.parametrize(("by", "verdict"), [(0.02, S), (0.005, U), (0.0, U), (-0.005, C)])
def test_a_tie_contradicts_no_metric_that_outperforms(by: float, verdict: Verdict) -> None:
    found = made({"GLML": 0.8 + by}, "usps 8x8", noise=1e-5)
    own = glml_report.own_of(cells_of(found))
    assert own["most"].these.sets == {"usps 8x8": verdict}
    ties = [line for line in glml_report.ties(own) if CLAIMS["most"].said in line]
    assert len(ties) == (verdict is U)
    assert all("usps 8x8" in line and line in lines_of(found) for line in ties)


def test_claims_with_a_point_are_said_without_it_too() -> None:
    """Half a point above Euclid: with the point no metric outperforms it, without it all do; and GLML the same."""
    half = made(dict.fromkeys((*GLOBAL, "GLML", "Fisher, one Gaussian"), 0.805), noise=1e-4)
    text = lines_of(half)
    with_point, without = [line for line in text if line.startswith(f"| {CLAIMS['others'].said} |")]
    assert with_point.count(f"| {S}: twonorm") == without.count(f"| {C}: twonorm") == 1
    cells = cells_of(half)
    (better,), (too,) = glml_report.little_more(cells), glml_report.glml_too(cells)
    assert all(token in better for token in (*GLOBAL, "Fisher, one Gaussian", "twonorm", "10 and 20"))
    assert "twonorm" in too
    assert {better, too} <= set(text)
    for change in ({}, {"LMNN": 0.9}):  # by more than a point, which the verdict has already
        assert glml_report.little_more(cells_of(made(change))) == []
        assert glml_report.glml_too(cells_of(made(change))) == []


def test_a_set_that_was_not_compared_may_be_either_way() -> None:
    """The sets that the papers have count, and not those that were run; of Fisher those of four panels."""

    def found(key: str, *of_sets: Verdict) -> Verdict | None:
        return glml_claims.overall(dict(zip(glml_data.PANELS, of_sets, strict=False)), CLAIMS[key])

    assert (found("Bayes", *[C] * 4, U, S, S), found("Bayes", *[C] * 5)) == (U, C)
    assert (found("Bayes", *[S] * 3), found("Bayes", *[S] * 4)) == (U, S)
    assert (found("gain", *[S] * 7), found("gain", *[S] * 8), found("gain", C)) == (U, S, C)
    assert (found("Fisher", *[S] * 3), found("Fisher", *[S] * 4)) == (U, S)
    assert found("Bayes") is None
    assert found_of(CLAIMS["gain"], cells_of(made({}))).these.verdict is U
    assert found_of(CLAIMS["gain"], cells_of(made({"GLML": 0.7}))).these.verdict is C


@pytest.mark.parametrize(
    ("key", "sets", "verdict", "none"),
    [
        ("others", "abc", S, True),
        ("others", "abc", C, True),
        ("others", "abcd", S, False),
        ("gain", "abc", S, True),
        ("gain", "abc", C, False),  # one set contradicts a claim about every cell
        ("BoostMetric", "a", S, False),  # one of two
    ],
)
def test_a_sentence_on_many_sets_has_no_verdict_by_few(
    key: str, sets: str, verdict: Verdict, none: bool
) -> None:
    found = glml_report.of_enough(CLAIMS[key], dict.fromkeys(sets, verdict), verdict)
    assert (f"{len(sets)} of 8" in found) == none
    assert (found is verdict) != none


def test_fisher_and_boostmetric_are_judged_in_their_panels_alone() -> None:
    found = verdicts(made({}, "ionosphere"))
    assert found["Fisher"] is found["Fisher, one Gaussian"] is found["BoostMetric"] is None
    assert verdicts(made({"BoostMetric": 0.7}, "usps 8x8", learnt=("BoostMetric",)))["BoostMetric"] is S
    assert verdicts(made({}, "spoken"))["Fisher"] is S


def test_few_metrics_speak_for_none_of_many_and_what_was_not_run_for_nothing() -> None:
    few = made({}, learnt=("ITML",))
    found = verdicts(few)
    assert found["most"] is found["others"] is None
    assert found["gain"] is found["Bayes"] is S
    *_, of_sets, here, new = claim_line(few, "most").split(" | ")
    assert (of_sets, "0 of 8" in here, "0 of 8" in new) == ("", True, True)
    none = glml_report.NOT_RUN
    assert claim_line(few, "BoostMetric").endswith(f"| {none} |  | {none} | {none} |")
    assert claim_line(made({}, learnt=()), "time").endswith(f"| {none} |  | {none} |  |")


def test_new_points_ask_for_more_than_these() -> None:
    """The same results of a set of few points, and of one that is drawn anew."""
    wine, drawn = (
        found_of(CLAIMS["gain"], cells_of(made({"GLML": 0.812}, data))) for data in ("wine", "twonorm")
    )
    assert (wine.these.sets, wine.new.sets) == ({"wine": S}, {"wine": U})
    assert drawn.these.sets == drawn.new.sets


@pytest.mark.parametrize(("lead", "codes"), [(0.012, "SU"), (0.1, "SS")])
def test_each_comparison_is_shown_with_its_interval_and_letters(lead: float, codes: str) -> None:
    """Without the point that "most" asks for."""
    found = made({"GLML": 0.8 + lead}, "wine")
    for key, other in (("gain", "Euclid"), ("most", "LMNN")):
        of = found_of(CLAIMS[key], cells_of(found))
        row = next(line for line in lines_of(found) if line.startswith(f"| wine | GLML - {other} |"))
        for which, pair in of.pairs.items():
            each = pair.beyond()
            low, high = (100 * end for end in each.interval)
            shown = f"{which.cell[1]}: {100 * each.mean:+.1f} ({low:+.1f} to {high:+.1f})"
            assert (shown in row) == (which.second == other)
            assert key == "most" or f"{shown} {codes}" in row
        limits = {"gain": [], "most": ["+1", "0"]}[key]
        assert re.findall(r"[+-]?\d+", glml_report.reach_of(CLAIMS[key].ahead)) == limits  # of S, and of C
    assert re.findall(r"[+-]?\d+", glml_report.reach_of(CLAIMS["others"].ahead)) == ["-1", "-1"]


def test_both_readings_of_the_features() -> None:
    both = made({}, "wine") + made({"GLML": 0.7}, "wine z-scored") + made({})
    assert list(cells_of(both).readings().values()) == [["twonorm", "wine"], ["twonorm", "wine z-scored"]]
    text = "\n".join(lines_of(both))
    _, plain, scaled, _ = text.split("\n### ")
    opened = [re.findall("- .*contradicted on (.*); open", part) for part in (plain, scaled)]
    assert opened == [[], ["wine z-scored"] * 2]
    assert text.count("| twonorm | GLML - Euclid") == 2  # the letters depend on the other sets of the reading
    assert text.count("| wine z-scored | GLML - Euclid") == 1


def test_an_observation_of_both_readings_stands_in_the_first_and_readings_of_ours_are_not_open() -> None:
    """Bayes is contradicted on twonorm, which both readings have; Fisher of the mixture is a reading of ours."""
    both = made({}, "wine") + made({}, "wine z-scored") + made({"Bayes": 0.9, "Fisher": 0.9})
    _, plain, scaled, _ = "\n".join(lines_of(both)).split("\n### ")
    counts = [
        part.count(f"{CLAIMS['Bayes'].said}: contradicted on twonorm; open.") for part in (plain, scaled)
    ]
    assert counts == [1, 0]
    ours = [
        line for line in plain.splitlines() if line.startswith(f"- {CLAIMS['Fisher'].said}: contradicted")
    ]
    assert ["open" in line for line in ours] == [False]
    assert page.open_lines(ours) == []


def test_each_cell_says_how_many_of_the_metrics_compared_there_are() -> None:
    """A metric of one realisation is in no comparison; only sets with half of the metrics count."""
    splits = {"LMNN": 5, "PLML": 1}
    sets = ("twonorm", "waveform", "wine", "ionosphere")
    every = [each for data in sets for each in made({}, data, learnt=(*GLOBAL, "PLML"))]
    found = [each for each in every if each[0].split < splits.get(each[0].method, 12)]
    found += made({}, "usps 8x8", 3, ("ITML",))
    readings = {"features as they come": glml_report.own_of(cells_of(found))}
    assert glml_report.realisations(readings, LEARNT) == (5, 12)
    assert glml_report.realisations(readings, DENSITIES) == (12, 12)
    said = glml.short(found, glml.PRESETS["small"])
    assert "Learnt metrics have 5 to 12 realisations there, more in" in said.result
    assert ", Fisher of one Gaussian 12. On usps 8x8 too few" in said.all_results
    assert "PLML" not in said.all_results


def test_equal_means_are_neither_higher_nor_lower() -> None:
    found = made({"GLML": 0.8}, noise=0.0)
    assert glml_report.gains(cells_of(found)) == (0, 2, ["twonorm at 10", "twonorm at 20"])


def test_the_cells_without_a_gain_are_said_to_be_all_of_their_sets() -> None:
    found = [*made({"GLML": 0.9}), *made({"GLML": 0.8}, "wine")]
    assert (
        "The 2 comparisons without a significant gain are all those of wine."
        in glml.short(found, glml.PRESETS["small"]).result
    )
    for task, result in found:
        if task.data == "wine" and task.method == SHARED:
            result["methods"]["GLML"]["accuracy"][0] += 0.1
    assert (
        "The 1 comparison without a significant gain is of wine."
        in glml.short(found, glml.PRESETS["small"]).result
    )


def test_the_report_says_which_metrics_were_run_where() -> None:
    found = made({}) + made({}, "usps 8x8", learnt=("ITML",))
    (where,) = glml_report.run_there(glml_report.own_of(cells_of(found))["most"])
    first, second = where.split("usps 8x8")
    names = (*GLOBAL, '"Fisher, one Gaussian"')
    assert [name for name in names if name not in first] == []
    assert [name for name in names if name in second] == ["ITML", '"Fisher, one Gaussian"']
    assert where in lines_of(found)


def test_what_is_not_run_of_a_preset_is_said() -> None:
    preset = Preset(("twonorm", "wine", "ionosphere"), 12, {"realisations": {"wine": 200}})
    every = (*GLOBAL, "GLML, mixtures", "BoostMetric", "PLML")
    found = grouped([*made({}, learnt=every), *made({}, "wine", 7, GLOBAL[:2])])
    head, _, part = glml_report.so_far(found, preset)[1:]
    assert ("ionosphere" in head, "wine" in head) == (True, False)
    assert part.startswith("- wine (200): 7 of ")
    names = [each.replace('"', "") for each in part.split(" none of ")]
    of_seven = [name for name in glml_report.METHODS if re.search(rf"\b{name}(,| and |$)", names[0])]
    assert {"Euclid", "GLML", "LMNN", "ITML", "Fisher", "Bayes"} <= set(of_seven)
    assert [name for name in ("DML-eig", "BoostMetric", "PLML") if name not in names[1]] == []
    assert glml_report.so_far(grouped(made({}, learnt=every)), Preset(("twonorm",), 12)) == []


def at_edge(method: str, *chosen: float, **more: Any) -> bool | None:
    return glml_report.at_edge(method, {"chosen": list(chosen), **more})


def test_the_ends_of_a_grid_that_does_not_go_on() -> None:
    pairs = ((1e-4, 1), (100, 1), (1, 1000), (1, 0), (1, 100))
    assert [at_edge("GLML", *chosen) for chosen in pairs] == [True, True, True, False, False]
    assert [at_edge("Bayes", alpha) for alpha in (1e-4, 1, 100)] == [True, False, True]
    assert [at_edge("ITML", gamma) for gamma in (0.01, 1, 100)] == [True, False, True]
    assert [at_edge("DML-eig", k) for k in (1, 3, 10)] == [False, False, True]  # no k is below 1
    assert at_edge("LMNN") is at_edge("PLML", 10.0) is at_edge("GLML, mixtures", 2, 100.0, 0.0) is None
    assert at_edge("Bayes", 100.0, edge=False) is False  # it went on


def test_missing_metrics_gaps_and_edges_stand_in_the_tables() -> None:
    found = made({}, "wine")
    for task, result in found:
        for name, of in result["methods"].items():
            if name == "DML-eig":
                of["accuracy"][0] = of["status"][0] = None
            if name == "ITML":
                of["edge"], of["status"][1] = [task.split == 0, False], "MAX_ITER"
    text = lines_of([each for each in found if each[0].key != "wine/LMNN/003"])
    head = next(line for line in text if line.startswith("| data | points |")).split(" | ")
    first, second = (
        dict(zip(head, line.split(" | "), strict=True)) for line in text if line.startswith("| (g) wine | ")
    )
    assert first["DML-eig"] == "none"
    assert first["the papers' axis |"] == "70 to 100 |"
    assert first["LMNN"].endswith(" (11)")
    assert [name for name, cell in second.items() if "†" in cell] == ["ITML"]
    assert second["ITML"].endswith(" †12")
    assert not any("†" in cell for cell in first.values())
    starts = ("ITML | 1.0e-05 | 12 of 24 | 0 |", "Bayes |  |  | 0 |", "DML-eig | 1.0e-05 | 0 of 24 | 12 |")
    assert all(any(line.startswith(f"| wine | {start}") for line in text) for start in starts)
    assert any(line.startswith("| wine | ITML |") and line.endswith("| 1 of 24 |") for line in text)
    assert any("0.1, 1 (24)" in line for line in text)
    assert "PLML" not in head


@pytest.mark.parametrize(
    ("factors", "verdict", "count"),
    [({}, S, 3), ({"LMNN": 1 / 4}, S, 2), ({SHARED: 64, "LMNN": 1 / 4}, C, 0)],
)
def test_glml_is_quicker_by_more_than_machines_differ(
    factors: dict[str, float], verdict: Verdict, count: int
) -> None:
    """The others take eight times as long, LMNN twice as long after the change."""
    found = [
        (
            task,
            {
                **each,
                "seconds": (1 if task.method == SHARED else 8)
                * factors.get(task.method, 1)
                * each["seconds"],
            },
        )
        for task, each in made({})
    ]
    each, together = glml_claims.time_found(grouped(found), ["twonorm"])
    assert together is verdict
    assert list(each.values()).count(S) == count
    assert "1 of 8" in claim_line(found, "time")


def test_times_are_those_of_one_realisation_and_of_the_same_sizes() -> None:
    """The first of LMNN is missing; by place, the second of GLML would be paired with the third of LMNN."""
    found = [each for each in made({}, count=4) if each[0].key != "twonorm/LMNN/000"]
    for task, result in found:
        result["seconds"] = float(1 + task.split + 100 * (task.method == "LMNN"))
        if task.method == "ITML":
            result["sizes"] = [10, 30]
    pairs = {method: both for _, method, both in glml_claims.seconds_of_both(grouped(found), ["twonorm"])}
    assert pairs["LMNN"] == [(2.0, 102.0), (3.0, 103.0), (4.0, 104.0)]
    assert set(pairs) == {"LMNN", "DML-eig"}


def test_a_curve_of_one_realisation_is_hollow() -> None:
    figure = Figure(layout="constrained")
    glml.draw(made({}, learnt=()) + made({}, count=1, learnt=("LMNN",))[-1:], glml.PRESETS["small"], figure)
    of = {each.get_label(): each.lines[0] for each in figure.axes[0].containers}
    assert [name for name, line in of.items() if line.get_markerfacecolor() == "white"] == ["LMNN"]
    assert len(set(glml_report.STYLES.values())) == len(glml_report.METHODS)
