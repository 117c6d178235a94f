"""What the report on NCA says of hand-made results: the note's sentences, their verdicts, the picture."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from validation.experiments import nca, nca_claims, nca_report
from validation.experiments.page import Results, grouped
from validation.experiments.statistics import in_points
from validation.experiments.tasks import Result, Task
from validation.experiments.verdicts import Compared, Verdict, judged

TOP, TRAINING = nca_claims.SAID["top"], nca_claims.SAID["training"]
S, C = Verdict.SUPPORTED, Verdict.CONTRADICTED
PANEL = {(panel.methods, panel.part, panel.claim): panel for panel in nca_claims.PANELS}

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
    called = {"rings": "concentric ring", "usps": ("USPS handwritten digits", "digits")}
    for panel in (*nca_claims.PANELS, nca_claims.SEPARATED):
        (sentence,) = (line for line in NOTE if panel.claim in line)
        for data in panel.data:
            names = called.get(data, data)
            assert any(name in sentence for name in ([names] if isinstance(names, str) else names)), data
        assert len(panel.data) == (6 if "six data sets" in sentence else 3)  # the faces are not at hand
        assert (panel.margin < 0) == ("near the top" in panel.claim)
        assert (panel.margin > 0) == ("much better" in panel.claim)


BASE = (0.80, 0.84, 0.79, 0.83, 0.81)


def values(*shifts: float) -> dict[str, list[float]]:
    """method -> accuracies on five splits, NCA's the last; apart by the shifts, and a little noise."""
    random = np.random.RandomState(0)
    names = nca_claims.PLANE if len(shifts) == 3 else nca_claims.FULL
    return {
        name: [share + shift + 0.001 * random.standard_normal() for share in BASE]
        for name, shift in zip(names, shifts, strict=True)
    }


def made(data: str, train: dict[str, list[float]], test: dict[str, list[float]]) -> Results:
    """Results on five splits; NCA has one start."""
    results: Results = []
    for method in train:
        for i in range(5):
            result: Result = {"train": train[method][i], "test": test[method][i], "seconds": 1.0}
            if method.startswith("NCA"):
                status = "NOT_ATTAINED" if i else "AT_INFINITY"
                run = {**result, "f": train[method][i], "status": status, "left": 0.25, "iterations": 3}
                result |= {"start": "auto", "starts": {"auto": run}}
            results.append((Task(data, method, i, {}), result))
    return results


def by_hand() -> Results:
    """Wine: NCA behind all on the test part at full rank, behind one on the training part in the plane."""
    return [
        *made("wine", values(0, 0.02, 0.01, 0.1), values(0, 0.02, 0.01, -0.1)),
        *made("wine", values(0.0, 0.2, 0.1), values(0.0, 0.1, 0.2)),
        *made("rings", values(0, 0.1, 0.2), values(0, 0.1, 0.2)),
        *made("iris", values(0, 0.1, 0.2), values(0, 0.105, 0.1)),
    ]


def test_splits_overlap_in_what_they_average() -> None:
    """Two splits share a point of a part with the share of that part: rho / (1 - rho) of Nadeau and Bengio."""
    assert nca_claims.overlap("wine", "test") == pytest.approx(0.3 / 0.7)
    assert nca_claims.overlap("wine", "train") == pytest.approx(0.7 / 0.3)
    assert nca_claims.overlap("usps", "test") == pytest.approx(5000 / 2000)
    assert nca_claims.overlap("usps", "train") == pytest.approx(2000 / 5000)


def test_a_sentence_is_judged_on_these_points_and_for_new_ones() -> None:
    """By the formula of Nadeau and Bengio, t = mean / (s sqrt(1/J + n_test/n_train)), from a point behind."""
    panel = PANEL[nca_claims.FULL, "test", TOP]
    found = nca_claims.of_panel(grouped(by_hand()), panel)
    assert set(found.pairs) == {("wine", "NCA", other) for other in ("Euclid", "whitened", "RCA")}
    ours, other = by_hand_accuracies("wine", "NCA"), by_hand_accuracies("wine", "RCA")
    d = np.subtract(ours, other) + 0.01
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 5 + 3 / 7))
    assert found.pairs["wine", "NCA", "RCA"].beyond(-0.01).p_value == pytest.approx(2 * stats.t.sf(abs(t), 4))
    assert set(found.here.values()) == set(found.new.values()) == {Verdict.CONTRADICTED}
    noisy = [
        (task, {**result, "test": result["test"] + (task.method == "NCA") * 0.04 * (-1) ** task.split})
        for task, result in by_hand()
    ]
    unsure = nca_claims.of_panel(grouped(noisy), panel)
    assert set(unsure.here.values()) == {Verdict.CONTRADICTED}
    assert set(unsure.new.values()) == {Verdict.UNDECIDED}


def by_hand_accuracies(data: str, method: str) -> list[float]:
    return [result["test"] for task, result in by_hand() if (task.data, task.method) == (data, method)]


def report(results: Results) -> list[str]:
    groups = grouped(results)
    claims = [nca_claims.of_panel(groups, panel) for panel in nca_claims.PANELS]
    return [
        *nca_report.figures(groups, claims),
        *(
            f"- {line}"
            for panel, claim in zip(nca_claims.PANELS, claims, strict=True)
            for line in nca_report.behind(groups, panel, claim)
        ),
        *nca_report.descents(groups),
    ]


def test_the_report_has_a_verdict_for_each_set_and_says_what_is_behind_it() -> None:
    lines = report(by_hand()[::-1])
    wine = [line for line in lines if line.startswith("| wine | 5 |")]
    assert "| +8.0" in wine[0]
    assert wine[0].endswith("| supported | supported |")
    assert "(whitened) |" in wine[1]
    assert wine[1].endswith("| contradicted | contradicted |")
    assert "| -9.94 (LDA) |" in wine[2]
    reasons = [line for line in lines if line.startswith("- ")]
    assert len(reasons) == 3
    ahead, behind = reasons[:2]
    assert ahead.startswith(f"- wine, {PANEL[nca_claims.FULL, 'test', TOP].name}: ")
    assert "Euclid by 9.88" in ahead  # on the training part
    assert behind.startswith(f"- wine, {PANEL[nca_claims.PLANE, 'train', TRAINING].name}: ")
    assert "LDA by 9.94" in behind
    assert ["global maximum" in reason for reason in reasons[:2]] == [False, True]
    iris = [line for line in lines if line.startswith("| iris | 5 |")][1]
    assert "| -0." in iris  # less than a point behind
    assert iris.endswith("| supported | supported |")
    assert "| wine | full | auto | 5 | 4 NOT_ATTAINED, 1 AT_INFINITY | 2.5e-01 |" in "\n".join(lines)


def test_a_single_split_has_no_verdict() -> None:
    first = [(task, result) for task, result in by_hand() if task.split == 0]
    rows = [line for line in report(first) if line.startswith("| wine | 1 |")]
    assert all("one split" in row for row in rows)
    assert rows


def test_fewer_splits_of_nca_are_said_and_drawn_hollow() -> None:
    """One split of NCA beside five of the others, on wine alone."""
    few = [
        (task, result)
        for task, result in by_hand()
        if task.split == 0 or task.data != "wine" or task.method not in ("NCA", "NCA 2")
    ]
    rows = [line for line in report(few) if line.startswith("| wine | 5 (NCA 1) |")]
    assert len(rows) == len(nca_claims.PANELS)
    counts = []
    for results in (by_hand(), few):
        figure = Figure(layout="constrained")
        nca_report.draw(results, nca.PRESETS["small"], figure)
        marks = [line for ax in figure.axes for line in ax.lines]
        counts.append(sum(line.get_markerfacecolor() == "white" for line in marks))
    assert counts == [0, 4]


def test_the_summary_counts_sets_and_says_what_is_missing() -> None:
    lines = nca.parts(by_hand(), nca.PRESETS["small"]).lines

    def row_of(panel: nca_claims.Panel) -> str:
        (row,) = (line for line in lines if f'"{panel.claim}" | {panel.name}; ' in line)
        return row

    full_test = PANEL[nca_claims.FULL, "test", TOP]
    top = row_of(full_test)
    assert top.count(f"**{C}** ({C} (1))") == 2
    assert any(f"{full_test.name}: {C} on wine" in line and "open" in line for line in lines)
    for token in ("balance, ionosphere, iris, housing, usps", "wine: 5 of 40"):
        assert token in top
    assert "usps" in row_of(nca_claims.SEPARATED)
    train = row_of(PANEL[nca_claims.FULL, "train", TRAINING])
    assert train.count(f"** ({S} (1))") == 2
    assert f"**{S}**" not in train  # not all is run
    _, head, _, iris = nca.missing(by_hand(), nca.PRESETS["small"])
    assert "iris (12)" in head
    assert iris.startswith("- iris: ")
    assert "d = 2 on 3 of 3" in iris
    assert "none of 3" in iris
    assert head in lines
    assert iris in lines
    whole = [(task, by_hand()[0][1]) for task in nca.tasks(nca.PRESETS["small"])]
    assert nca.missing(whole, nca.PRESETS["small"]) == []


@pytest.mark.parametrize(
    ("lead", "verdict"),
    [(0.1, Verdict.SUPPORTED), (0.004, Verdict.UNDECIDED), (-0.004, Verdict.CONTRADICTED)],
)
def test_much_better_is_by_more_than_a_point_and_a_little_better_contradicts_nothing(
    lead: float, verdict: Verdict
) -> None:
    little = [0.0, 0.001, 0.0, 0.001, 0.0]
    shares = {"PCA 2": [0.5] * 5, "LDA 2": [0.8] * 5, "NCA 2": [0.8 + lead + each for each in little]}
    claim = nca_claims.of_panel(grouped(made("wine", shares, shares)), nca_claims.SEPARATED)
    assert claim.here == {("wine", "NCA 2", "PCA 2"): Verdict.SUPPORTED, ("wine", "NCA 2", "LDA 2"): verdict}
    said = "\n".join(nca_report.by_less(claim, 0.01))
    assert ("LDA, +0.44)" in said) == (verdict is Verdict.UNDECIDED)
    assert "PCA, +" not in said


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    assert [in_points(share) for share in (-0.00001, 0.0, -0.0126, 0.03047)] == [
        "+0.00",
        "+0.00",
        "-1.26",
        "+3.05",
    ]


def test_a_verdict_on_fewer_splits_than_the_notes_says_so_unless_it_contradicts() -> None:
    pair = Compared([0.9] * 40, [0.8] * 40, 0.0)
    for count in (40, 39):
        cut = pair._replace(first=pair.first[:count], second=pair.second[:count])
        pairs = {("wine", "a", "b"): cut}
        claim = nca_claims.claim("it is", "all", pairs, lambda each: judged(each, 0.0), ("wine",))
        row = nca_report.summary([claim])[-1]
        assert row.count(f"** ({S} (1)) |") == 2
        assert (f"**{S}**" in row) == (count == 40)
        assert ("wine: 39 of 40" in row) == (count == 39)
    against = claim._replace(here={("wine", "a", "b"): C})
    assert f"| **{C}** ({C} (1)) | **{S} " in nca_report.summary([against])[-1]


def starts(**runs: tuple[float, float]) -> dict[str, Result]:
    """start -> its run, with f and the accuracy on both parts."""
    return {start: {"f": f, "train": share, "test": share} for start, (f, share) in runs.items()}


def test_the_three_choices_of_a_start() -> None:
    equal = starts(auto=(0.9, 0.1), likelihood=(0.95, 0.2), pca=(0.95000001, 0.3))
    assert [nca_claims.start_of(equal, choice) for choice in nca_claims.CHOICES] == [
        "likelihood",
        "pca",
        "auto",
    ]
    alone = starts(likelihood=(0.95, 0.2))
    assert {nca_claims.start_of(alone, choice) for choice in nca_claims.CHOICES} == {"likelihood"}


def two_starts(data: str, first: float, last: float, auto: float) -> Results:
    """NCA ahead of all on the training part; on the test part by so much, as the start is chosen."""
    results = made(data, values(0, 0.02, 0.01, 0.1), values(0, 0.02, 0.01, 0))
    for task, result in results:
        if task.method == "NCA":
            level = BASE[task.split] + 0.02 + 0.001 * (-1) ** task.split
            of = {"likelihood": (0.99, first), "pca": (0.99, last), "auto": (0.98, auto)}
            result["starts"] = {
                start: {**result["starts"]["auto"], "f": f, "test": level + lead}
                for start, (f, lead) in of.items()
            }
            result |= {"start": "likelihood", "test": level + first}
    return results


@pytest.mark.parametrize(
    ("leads", "verdict"),
    [((-0.1, -0.1, -0.1), C), ((-0.1, -0.1, 0.1), Verdict.UNDECIDED), ((-0.1, 0.1, -0.1), Verdict.UNDECIDED)],
)
def test_a_verdict_that_depends_on_the_start_is_undecided_and_the_report_names_the_set(
    leads: tuple[float, float, float], verdict: Verdict
) -> None:
    lines = nca.parts(two_starts("wine", *leads), nca.PRESETS["small"]).lines
    (row,) = [line for line in lines if line.startswith(f'| "{TOP}" | Full rank, test')]
    assert f"**{verdict}" in row.split(" | ")[2]
    named = [line for line in lines if f'"{TOP}", Full rank, test, wine: ' in line]
    assert len(named) == (verdict is Verdict.UNDECIDED)
    for choice, lead in zip(nca_claims.CHOICES, leads, strict=True):
        assert all(f"{choice}: {C if lead < 0 else S}" in line for line in named)


def test_a_choice_without_a_comparison_has_no_say() -> None:
    panel = PANEL[nca_claims.FULL, "test", TOP]
    claim = nca_claims.of_panel(grouped(by_hand()), panel)
    other = claim._replace(here={("wine", "NCA", "Euclid"): S})
    found = nca_claims.agreed([claim, other])
    assert found.here["wine", "NCA", "Euclid"] is Verdict.UNDECIDED
    assert found.here["wine", "NCA", "RCA"] is C
    assert found.new == claim.new


@pytest.mark.parametrize(
    ("sets", "ours"), [(("housing",), True), (("housing", "wine"), False), (("wine",), False)]
)
def test_what_only_housing_contradicts_is_contradicted_on_our_classes(
    sets: tuple[str, ...], ours: bool
) -> None:
    """The note does not say which classes housing has."""
    results = [each for data in sets for each in made(data, values(0, 0, 0, 0.1), values(0, 0, 0, -0.1))]
    lines = nca.parts(results, nca.PRESETS["small"]).lines
    (row,) = [line for line in lines if line.startswith(f'| "{TOP}" | Full rank, test')]
    assert ("our classes" in row) == ours
    (against,) = [line for line in lines if f'"{TOP}", Full rank, test: {C} on' in line]
    assert ("our classes" in against) == ("housing" in sets)


def test_the_picture_has_every_method_and_set() -> None:
    results = [
        *made("one", values(0, 0.02, 0.01, 0.1), values(0, 0.02, 0.01, -0.1)),
        *made("one", values(0.0, 0.2, 0.1), values(0.0, 0.1, 0.2)),
        *made("two", values(0, 0.1, 0.2), values(0, 0.1, 0.2)),
    ]
    figure = Figure(layout="constrained")
    nca_report.draw(results, nca.PRESETS["small"], figure)
    assert [ax.get_title() for ax in figure.axes] == [panel.name for panel in nca_report.PICTURE]
    labels = [[text.get_text() for text in ax.get_xticklabels()] for ax in figure.axes]
    assert labels == [["one"], ["one"], ["one", "two"], ["one", "two"]]
    for ax, legend in (
        (figure.axes[1], ["Euclid", "whitened", "RCA", "NCA"]),
        (figure.axes[3], ["PCA", "LDA", "NCA"]),
    ):
        assert [text.get_text() for text in ax.get_legend().get_texts()] == legend
    styles = set(nca_report.STYLES.values())
    assert len(styles) == 6  # NCA has the same in both rows
    assert len({colour for colour, _ in styles}) == 6
