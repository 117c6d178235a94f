"""What the report on NCA says of hand-made results: the note's sentences and their verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from validation.experiments import nca, nca_claims, nca_more, nca_report
from validation.experiments.made import around, results
from validation.experiments.nca_claims import FULL, PLANE, SAID, Judged
from validation.experiments.page import Results, grouped
from validation.experiments.statistics import in_points
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Compared, Verdict, judged

S, C, U = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED
FULL_TEST, PLANE_TRAIN = nca_claims.PANELS[1], nca_claims.PANELS[2]

# The note, experimental results
NOTE = (
    "Among the six data sets that were used, 5 were from the UCI repository one was a generated data set. In the test, "
    "NCA method consistently performed better on training data, and test data performance was always at or near the "
    "top as shown in the figures below. [...] The data sets used from UCI repository included balance, ionosphere, "
    "iris, wine and housing and on the USPS handwritten digits. [...] Top panels show distance metric learning "
    "(square A) and the bottom panels show linear dimensionality reduction down to d = 2.",
    'The Figures below show comparison of PCA, LDA, and NCA applied to "concentric ring", "wine", "faces", and '
    '"digits" data sets. [...] Note that NCA produced better 2D projections of the data. Using these 2D projections '
    "for classification, NCA performed better consistently for both training and test data. When a two-dimensional "
    "projection is used, the classes are consistently much better separated by the NCA transformation than by either "
    "PCA, or LDA.",
)


def test_the_claims_are_the_notes_of_the_sets_it_names() -> None:
    called = {"rings": ("concentric ring",), "usps": ("USPS handwritten digits", "digits")}
    for panel in (*nca_claims.PANELS, nca_claims.SEPARATED):
        (sentence,) = (line for line in NOTE if panel.claim in line)
        assert all(any(name in sentence for name in called.get(data, (data,))) for data in panel.data)
        assert len(panel.data) == (6 if "six data sets" in sentence else 3)  # the faces are not at hand
        assert (panel.margin < 0) == ("near the top" in panel.claim)
        assert (panel.margin > 0) == ("much better" in panel.claim)


def made(
    data: str, train: dict[str, float], test: dict[str, float], splits: int = 5, noise: float = 1e-3
) -> Results:
    """Results at these levels on both parts, with a little noise."""
    of = {"train": around(train, noise=noise), "test": around(test, noise=noise, seed=1)}
    return results("nca", train, [data], splits, lambda *given: of[given[3]](*given))


def levels(*values: float) -> dict[str, float]:
    """Of the methods of a row of the picture, NCA the last."""
    return dict(zip(PLANE if len(values) == 3 else FULL, values, strict=True))


def by_hand() -> Results:
    """Wine: NCA behind all on the test part at full rank, behind one on the training part in the plane."""
    return [
        *made("wine", levels(0.8, 0.82, 0.81, 0.9), levels(0.8, 0.82, 0.81, 0.7)),
        *made("wine", levels(0.7, 0.9, 0.8), levels(0.7, 0.8, 0.9)),
        *made("rings", levels(0.7, 0.8, 0.9), levels(0.7, 0.8, 0.9)),
        *made("iris", levels(0.7, 0.8, 0.9), levels(0.7, 0.8, 0.795)),
    ]


def lines_of(found: Results) -> list[str]:
    return nca.parts(found, nca.PRESETS["small"]).lines


def row_of(found: Results, claim: str, where: str) -> list[str]:
    """The row of a sentence."""
    (row,) = (line for line in lines_of(found) if f'| "{claim}" | {where}' in line)
    return row.strip("|").split(" | ")


def test_splits_overlap_in_what_they_average() -> None:
    """Two splits share a point of a part with the share of that part: rho / (1 - rho) of Nadeau and Bengio."""
    assert nca_claims.overlap("wine", "test") == pytest.approx(0.3 / 0.7)
    assert nca_claims.overlap("wine", "train") == pytest.approx(0.7 / 0.3)
    assert nca_claims.overlap("usps", "test") == pytest.approx(5000 / 2000)
    assert nca_claims.overlap("usps", "train") == pytest.approx(2000 / 5000)


def test_a_sentence_is_judged_on_these_points_and_for_new_ones() -> None:
    """By the formula of Nadeau and Bengio, t = mean / (s sqrt(1/J + n_test/n_train)), from a point behind."""
    groups = grouped(by_hand())
    found = nca_claims.of_panel(groups, FULL_TEST)
    assert set(found.pairs) == {("wine", "NCA", other) for other in ("Euclid", "whitened", "RCA")}
    ours, other = ([each["test"] for each in groups["wine"][method]] for method in ("NCA", "RCA"))
    d = np.subtract(ours, other) + 0.01
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 5 + 3 / 7))
    assert found.pairs["wine", "NCA", "RCA"].beyond(-0.01).p_value == pytest.approx(2 * stats.t.sf(abs(t), 4))
    assert set(found.here.values()) == set(found.new.values()) == {C}
    for task, result in (noisy := by_hand()):
        if task.method == "NCA":
            result["test"] += 0.04 * (-1) ** task.split
            result["starts"]["auto"]["test"] = result["test"]
    unsure = nca_claims.of_panel(grouped(noisy), FULL_TEST)
    assert (set(unsure.here.values()), set(unsure.new.values())) == ({C}, {U})


def test_the_tables_have_a_verdict_for_each_set_and_the_report_says_what_is_behind_it() -> None:
    lines = lines_of(by_hand()[::-1])
    train, test, plane = [line for line in lines if line.startswith("| wine | 5 |")][:3]
    assert "| +7.9" in train or "| +8.0" in train
    assert train.endswith("| supported | supported |")
    assert "(whitened) |" in test
    assert test.endswith("| contradicted | contradicted |")
    assert "(LDA) |" in plane
    near = [line for line in lines if line.startswith("| iris | 5 |")][1]
    assert near.endswith("| supported | supported |")  # less than a point behind
    ahead, behind = (
        next(line for line in lines if line.startswith(f"- wine, {panel.name}: "))
        for panel in (FULL_TEST, PLANE_TRAIN)
    )
    assert ("Euclid by " in ahead, "global maximum" in ahead) == (True, False)
    assert ("LDA by " in behind, "global maximum" in behind) == (True, True)
    assert any(line.startswith("| wine | full | auto | 5 | 5 STATIONARY | 2.5e-01 |") for line in lines)


def test_single_splits_have_no_verdict_and_fewer_of_nca_are_said_and_drawn_hollow() -> None:
    first = [each for each in by_hand() if each[0].split == 0]
    rows = [line for line in lines_of(first) if line.startswith("| wine | 1 |")]
    assert ["one split" in row for row in rows] == [True] * len(nca_claims.PANELS)
    few = [
        each
        for each in by_hand()
        if each[0].split == 0 or each[0].data != "wine" or each[0].method[:3] != "NCA"
    ]
    rows = [line for line in lines_of(few) if line.startswith("| wine | 5 (NCA 1) |")]
    assert len(rows) == len(nca_claims.PANELS)
    counts = []
    for found in (by_hand(), few):
        figure = Figure(layout="constrained")
        nca_report.draw(found, nca.PRESETS["small"], figure)
        marks = [line for ax in figure.axes for line in ax.lines]
        counts.append(sum(line.get_markerfacecolor() == "white" for line in marks))
    assert counts == [0, 4]


def test_the_summary_counts_sets_and_says_what_is_missing() -> None:
    found = by_hand()
    top = row_of(found, SAID["top"], FULL_TEST.name)
    assert [cell.count(f"**{C}** ({C} (1))") for cell in top[2:]] == [1, 1]
    assert all(token in top[1] for token in ("balance, ionosphere, iris, housing, usps", "wine: 5 of 40"))
    train = row_of(found, SAID["training"], "Full rank, train")
    assert all(f"** ({S} (1))" in cell and f"**{S}**" not in cell for cell in train[2:])  # not all is run
    lines = lines_of(found)
    assert any(f"{FULL_TEST.name}: {C} on wine" in line and "open" in line for line in lines)
    _, head, _, iris = nca.missing(found, nca.PRESETS["small"])
    assert "iris (12)" in head
    assert iris.startswith("- iris: ")
    assert all(token in iris for token in ("d = 2 on 3 of 3", "none of 3"))
    assert {head, iris} <= set(lines)
    whole = [(task, found[0][1]) for task in nca.tasks(nca.PRESETS["small"])]
    assert nca.missing(whole, nca.PRESETS["small"]) == []


@pytest.mark.parametrize(("lead", "verdict"), [(0.1, S), (0.004, U), (-0.004, C)])
def test_much_better_is_by_more_than_a_point_and_a_little_better_contradicts_nothing(
    lead: float, verdict: Verdict
) -> None:
    found = made("wine", levels(0.5, 0.8, 0.8 + lead), levels(0.5, 0.8, 0.8 + lead), noise=2e-4)
    claim = nca_claims.of_panel(grouped(found), nca_claims.SEPARATED)
    assert claim.here == {("wine", "NCA 2", "PCA 2"): S, ("wine", "NCA 2", "LDA 2"): verdict}
    said = "\n".join(nca_report.by_less(claim, 0.01))
    assert ("LDA, +0." in said) == (verdict is U)
    assert "PCA, +" not in said


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    assert [in_points(share) for share in (-1e-5, 0.0, -0.0126, 0.03047)] == [
        "+0.00",
        "+0.00",
        "-1.26",
        "+3.05",
    ]


def test_a_verdict_on_fewer_splits_than_the_notes_says_so_unless_it_contradicts() -> None:
    key = ("wine", "a", "b")
    for count in (40, 39):
        pairs = {key: Compared([0.9] * count, [0.8] * count, 0.0)}
        claim = nca_claims.claim("it is", "all", pairs, lambda each: judged(each, 0.0), ("wine",))
        row = nca_report.summary([claim])[-1]
        assert row.count(f"** ({S} (1)) |") == 2
        assert (f"**{S}**" in row) == (count == 40)
        assert ("wine: 39 of 40" in row) == (count == 39)
    assert f"| **{C}** ({C} (1)) | **{S} " in nca_report.summary([claim._replace(here={key: C})])[-1]


# --- three choices of a start


def two_starts(first: float, last: float, auto: float) -> Results:
    """NCA ahead of all on the training part; on the test part by so much, as the start is chosen."""
    found = made("wine", levels(0.8, 0.82, 0.81, 0.9), levels(0.8, 0.82, 0.81, 0.82))
    for task, result in found:
        if task.method == "NCA":
            of = {"likelihood": (0.99, first), "pca": (0.99, last), "auto": (0.98, auto)}
            one = result["starts"]["auto"]
            result["starts"] = {
                start: {**one, "f": f, "test": one["test"] + lead} for start, (f, lead) in of.items()
            }
            result |= {"start": "likelihood", "test": one["test"] + first}
    return found


def test_the_three_choices_of_a_start() -> None:
    runs: dict[str, Result] = {"auto": {"f": 0.9}, "likelihood": {"f": 0.95}, "pca": {"f": 0.95000001}}
    assert [nca_claims.start_of(runs, of) for of in nca_claims.CHOICES] == ["likelihood", "pca", "auto"]
    assert {nca_claims.start_of({"likelihood": {"f": 0.9}}, of) for of in nca_claims.CHOICES} == {
        "likelihood"
    }


@pytest.mark.parametrize(
    ("leads", "verdict"), [((-0.1, -0.1, -0.1), C), ((-0.1, -0.1, 0.1), U), ((-0.1, 0.1, -0.1), U)]
)
def test_a_verdict_that_depends_on_the_start_is_undecided_and_the_report_names_the_set(
    leads: tuple[float, float, float], verdict: Verdict
) -> None:
    found = two_starts(*leads)
    assert f"**{verdict}" in row_of(found, SAID["top"], FULL_TEST.name)[2]
    named = [line for line in lines_of(found) if f'"{SAID["top"]}", Full rank, test, wine: ' in line]
    assert len(named) == (verdict is U)
    for choice, lead in zip(nca_claims.CHOICES, leads, strict=True):
        assert all(f"{choice}: {C if lead < 0 else S}" in line for line in named)


def test_a_choice_without_a_comparison_is_not_contradicted_by_it() -> None:
    claim = nca_claims.of_panel(grouped(by_hand()), FULL_TEST)
    keys = {of: ("wine", "NCA", of) for of in ("Euclid", "whitened", "RCA")}
    supported = claim._replace(here=dict.fromkeys(claim.here, S))
    found = nca_claims.agreed([claim, claim._replace(here={keys["Euclid"]: S, keys["RCA"]: C})])
    assert [found.here[keys[of]] for of in keys] == [U, U, C]
    assert nca_claims.agreed([supported, supported._replace(here={})]).here == supported.here
    assert found.new == claim.new


def test_a_lead_of_another_start_of_nca_contradicts_only_if_no_choice_takes_that_start() -> None:
    """The start *auto* is better on the test part than the best start; of *auto* alone nothing is over-fitted."""
    found = two_starts(-0.1, -0.1, 0.2)
    for task, result in found:
        if task.method == "NCA":
            result["starts"]["auto"] |= {"train": 0.85 + 1e-3 * task.split}
            result["starts"]["pca"] |= {"train": result["train"]}
    claims = nca_claims.by_choice(grouped(found))[1]["fitting"]
    key = ("wine", "NCA", "NCA (auto)")
    assert [claim.here.get(key) for claim in claims] == [C, C, None]
    assert nca_claims.agreed(claims).here[key] is U


@pytest.mark.parametrize(
    ("sets", "ours"), [(("housing",), True), (("housing", "wine"), False), (("wine",), False)]
)
def test_what_only_housing_contradicts_is_contradicted_on_our_classes(
    sets: tuple[str, ...], ours: bool
) -> None:
    """The note does not say which classes housing has."""
    low = levels(0.8, 0.8, 0.8, 0.7)
    found = [each for data in sets for each in made(data, levels(0.8, 0.8, 0.8, 0.9), low)]
    assert ("our classes" in "".join(row_of(found, SAID["top"], FULL_TEST.name))) == ours
    (against,) = [line for line in lines_of(found) if f'"{SAID["top"]}", Full rank, test: {C} on' in line]
    assert ("our classes" in against) == ("housing" in sets)


# --- beyond the figures


def beyond() -> Results:
    """f at .90 in ten splits from one start, .91 from its best; the others by their levels. MMC has four splits."""
    train = {"Euclid": 0.9, "RCA": 0.9, "MMC": 0.9}
    test = {"NCA": 0.9, "stopped": 0.93, "g": 0.905, "MMC": 0.7, "half": 0.95, "RCA": 0.95, "whitened": 0.99}
    test |= {**dict.fromkeys(("Euclid", *(f"Euclid {share}" for share in nca_more.SHARES)), 0.6)}
    test |= {"a quarter": 0.8, "an eighth": 0.8}
    found = made("iris", {name: train.get(name, 1.0) for name in test}, test, 10, noise=0.0)
    kept = []
    for task, result in found:
        if task.method == "NCA":
            auto = {"train": 0.95, "test": 0.9 + 1e-4 * (-1) ** task.split}
            other = {"train": 1.0, "test": 0.1}
            result |= {"test": auto["test"] + 0.01, "starts": {"auto": auto, "likelihood": other}}
        if task.method == "g":
            at = {str(k): 0.94 if k in (3, 7) else 0.7 if k == 31 else 0.9 for k in nca_more.KS}
            result |= {"at": at, "at_suggested": 0.92}
        if task.method != "MMC" or task.split < 4:
            kept.append((task, result))
    return kept


ROWS = (
    "| iris | NCA - RCA | -4.00 | ... | contradicted | contradicted | +10.00 |",
    "| iris | NCA (auto) - stopped | -3.00 | ... | 3 (10) |",
    "| iris | full rank | 90.50 ± 0.00 | 90.00 ± 0.00 | 10.00 ± 0.00 | 91.00 ± 0.00 |",
    "| iris | g - NCA (auto) | +0.50 | ... |",
    "| iris | g - NCA | -0.50 | ... |",
    "| iris, NCA (auto) | 80.00 ± 0.00 | 80.00 ± 0.00 | 95.00 ± 0.00 | 90.00 ± 0.00 |",
    "| iris, Euclid | 60.00 ± 0.00 | ... |",
    "| iris | 100.00 ± 0.00 | 90.00 ± 0.00 | not run |",  # train: NCA, MMC, chunklets
    "| iris | NCA - MMC | +10.00 | ... |",
    "| iris | 91.00 ± 0.00 | 70.00 ± 0.00 | not run |",
    "| iris | NCA - MMC | +21.00 | ... |",
    "| iris | full rank | 10 | 92.00 ± 0.00 | 90.00 ± 0.00 | 94.00 ± 0.00 (3) | 70.00 ± 0.00 (31) | 2 (10) |",
)


def test_each_sentence_beyond_the_figures_has_its_verdict_and_its_rows() -> None:
    groups = grouped(beyond())
    found = nca_claims.sentences(groups)
    verdicts = {
        name: {" - ".join(key[1:]): verdict for key, verdict in claim.here.items()}
        for name, claim in found.items()
    }
    assert verdicts == {
        "low rank": {},
        "fitting": {
            "NCA - Euclid": S,
            "NCA - RCA": C,
            "NCA - NCA (auto)": S,
        },  # whitened is as good in training
        "stopping": {"NCA (auto) - stopped": C},
        "criteria": {"g - NCA (auto)": S, "g - NCA": S},
        # no more from an eighth to a quarter, more, less
        "sizes": {"a quarter - an eighth": S, "half - a quarter": S, "NCA (auto) - half": C},
        "others, train": {"NCA - MMC": S},
        "others": {"NCA - MMC": S},
    }
    lines = iter(nca_report.further(groups, found))
    for row in ROWS:  # in this order
        start, _, end = row.partition("...")
        assert any(line.startswith(start) and line.endswith(end) for line in lines), row
    assert nca_report.further({}, nca_claims.sentences({})) == []


@pytest.mark.parametrize(
    ("name", "other", "lead", "verdict"),
    [
        ("stopping", "stopped", 0.0, S),  # an early end gains less than a point
        ("stopping", "stopped", -0.005, C),  # it gains anything
        ("others", "MMC", -0.005, S),  # behind by less than a point is as good
        ("others", "MMC", -0.02, C),
    ],
)
def test_the_margins_of_sentences(name: str, other: str, lead: float, verdict: Verdict) -> None:
    found = made("iris", {"NCA": 1.0, other: 1.0}, {"NCA": 0.9, other: 0.9 - lead}, 10, noise=2e-4)
    assert set(nca_claims.sentences(grouped(found))[name].here.values()) == {verdict}


def criteria(g: float, same: float, best: float) -> Judged:
    """g against f of the same start and of its best, by their accuracies."""
    found = made("iris", {"g": 1.0, "NCA": 1.0}, {"g": g, "NCA": best}, 10, noise=1e-4)
    for task, result in found:
        if task.method == "NCA":
            result["starts"]["auto"]["test"] = same + result["test"] - best
    return nca_claims.sentences(grouped(found))["criteria"]


@pytest.mark.parametrize(
    ("levels", "verdict", "said"),
    [
        ((0.90, 0.90, 0.90), S, []),
        ((0.90, 0.85, 0.86), C, []),
        ((0.90, 0.85, 0.90), U, ["+5.0", "f ends"]),
        ((0.90, 0.90, 0.95), U, ["-5.0", "several starts"]),
        ((0.90, 0.85, 0.95), U, []),  # above one, below the other
    ],
)
def test_f_and_g_differ_only_where_no_start_explains_it(
    levels: tuple[float, float, float], verdict: Verdict, said: list[str]
) -> None:
    claim = criteria(*levels)
    assert set(claim.here.values()) == {verdict}
    bullets = nca_report.set_apart(claim)
    assert len(bullets) == bool(said)
    assert [token for token in said if token not in "".join(bullets)] == []


def test_the_scale_has_figures_and_no_verdict() -> None:
    only_g = [each for each in beyond() if each[0].method == "g"]
    lines = nca.parts(only_g, Preset(("iris",), 10, {"more": True})).lines
    named = [line for line in lines if SAID["scale"] in line]
    assert ["no verdict" in line for line in named] == [True, True]
    assert not any(verdict in line for line in named for verdict in Verdict)
    assert any(line.startswith("| iris | full | g |  | 10 STALLED | - | - |") for line in lines)


def test_low_rank_is_judged_by_what_the_training_part_is_ahead() -> None:
    found = made("iris", {"NCA": 1.0, "NCA 2": 1.0}, {"NCA": 0.9, "NCA 2": 0.95}, 10, noise=0.0)
    (each,) = nca_claims.sentences(grouped(found))["low rank"].pairs.values()
    assert each.beyond().mean == pytest.approx(0.05)  # .1 and .05, both of 1
    assert each.overlap == pytest.approx(7 / 3)


def test_methods_beyond_the_figures_are_tasks_of_full_and_those_of_the_rings_in_the_plane() -> None:
    every: list[Any] = nca.tasks(nca.PRESETS["full"])
    of = {data: {task.method for task in every if task.data == data} for data in ("wine", "rings")}
    assert (of["wine"] > {*nca_more.MORE}, of["rings"] & {*nca_more.MORE}) == (True, {"g 2", "stopped 2"})
    assert sum(task.method == "g" and task.data == "usps" for task in every) == 10
    assert not {task.method for task in nca.tasks(Preset(("wine",), 3))} & {*nca_more.MORE}
