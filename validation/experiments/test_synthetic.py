"""The experiment on drawn data: what is drawn, which tasks there are, and what its report says of hand-made results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.neighbors import KNeighborsClassifier

from validation.experiments import __main__ as command
from validation.experiments import page, synthetic, synthetic_report
from validation.experiments.glml_learnt import LEARNT
from validation.experiments.glml_methods import FITTED, GENERATIVE, SHARED
from validation.experiments.made import around, results
from validation.experiments.page import Results
from validation.experiments.run import timed
from validation.experiments.synthetic_report import MIXTURE, accuracies_of, claims, named
from validation.experiments.tasks import Task
from validation.experiments.verdicts import Verdict
from validation.experiments.words import Words

# Noh et al. 2010: the marks on the axes of Fig. 3a, run together as its text has them, and what it says of the data.
AXIS = "520501000.60.70.80.91# Dim"
SAID = (
    "We used 500 test points and an equal number of training examples. The experiments were performed with 20"
)
FULL = synthetic.PRESETS["full"]
S, C, U = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED
D = (5, 20, 50, 100)


def test_sizes_are_those_of_the_paper() -> None:
    assert AXIS.startswith("".join(map(str, synthetic.DIMENSIONS)))
    assert f"{synthetic.POINTS} test points" in SAID
    assert f"with {FULL.splits}" in SAID
    drawn = synthetic.realisation(named(5), 0)
    assert len(drawn.y_test) == sum(map(len, drawn.classes)) == synthetic.POINTS
    assert [len(X) for X in drawn.classes] == [250, 250]


@pytest.mark.quick(1)
@pytest.mark.parametrize("d", [5, 30])
def test_gaussians_have_means_1_apart_and_the_eigenvalues_said(d: int) -> None:
    X, y = synthetic.gaussians(0, d, 400_000)
    means = np.array([X[y == c].mean(axis=0) for c in range(2)])
    np.testing.assert_allclose(means, [np.zeros(d), np.full(d, d**-0.5)], atol=0.02)
    for c in range(2):
        values, vectors = np.linalg.eigh(np.cov(X[y == c].T))
        assert (values.min() > 0.09, values.max() < 2.03, np.ptp(values) > 0.3) == (True, True, True)
        assert np.abs(vectors[:, -1]).max() < 0.999  # not along an axis


def test_a_class_of_the_mixtures_is_three_gaussians_in_a_plane() -> None:
    X, y = synthetic.mixtures(0, 30_000)
    for c in range(2):
        own = X[y == c]
        nearest = ((own[:, None, :2] - synthetic.CENTRES[c]) ** 2).sum(axis=2).argmin(axis=1)
        for part in range(3):
            some = own[nearest == part]
            assert len(some) == pytest.approx(len(own) / 3, rel=0.05)
            np.testing.assert_allclose(some[:, :2].mean(axis=0), synthetic.CENTRES[c, part], atol=0.1)
        np.testing.assert_allclose(own[:, 2:].std(axis=0), 1, rtol=0.03)
        np.testing.assert_allclose(own[:, 2:].mean(axis=0), 0, atol=0.05)


def test_the_report_prints_how_the_mixtures_are_drawn() -> None:
    text = " ".join(synthetic.WHAT.split())
    for centre in synthetic.CENTRES.reshape(-1, 2):
        assert f"({centre[0]:g}, {centre[1]:g})" in text
    assert "{:g} and {:g}".format(*synthetic.SPREAD) in text


def test_realisations_differ_and_each_is_the_same_again() -> None:
    for data in (MIXTURE, named(5)):
        first, again, other = (synthetic.realisation(data, seed) for seed in (0, 0, 1))
        np.testing.assert_array_equal(first.X_test, again.X_test)
        assert not np.array_equal(first.X_test, other.X_test)
        assert not np.array_equal(first.X_test[:250], first.classes[0])


def test_what_is_drawn_needs_no_data_at_hand() -> None:
    command.check_data(FULL, None, synthetic.DRAWN)
    for only, drawn in ((None, ()), (["iris"], synthetic.DRAWN)):
        with pytest.raises(ValueError, match=r"not found|'iris'"):
            command.check_data(FULL, only, drawn)


def test_tasks_leave_out_what_the_report_says() -> None:
    asked = synthetic.tasks(FULL)
    with_dearest = {(task.data, task.method) for task in asked}
    for method in ("PLML", "BoostMetric", "GLML, mixtures"):
        assert [(named(d), method) in with_dearest for d in D] == [True, True, False, False]
    further = {
        data: {task.settings.get("further") for task in asked if task.data == data} for data in FULL.data
    }
    assert further == {MIXTURE: {2}, named(5): {2}, named(20): {2}, named(50): {None}, named(100): {None}}
    assert [task.split for task in asked] == sorted(task.split for task in asked)


def test_a_task_measures_on_the_points_that_are_not_trained_on() -> None:
    result = timed(synthetic.measure, 0, Task(named(5), SHARED, 3, {"sizes": [250], "further": 0}))[1]
    assert set(result["methods"]) == set(GENERATIVE)
    X, y = synthetic.gaussians(3, 5)
    plain = KNeighborsClassifier(1).fit(X[:500], y[:500]).predict(X[500:])
    expected = np.mean([(plain == y[500:])[y[500:] == c].mean() for c in range(2)])
    assert result["methods"]["Euclid"]["accuracy"] == pytest.approx([expected])


# ---- verdicts on hand-made results

AS_PRINTED: dict[Any, float] = {
    **{(named(d), "GLML"): value for d, value in zip(D, (0.7, 0.8, 0.9, 0.95), strict=True)},
    **{(named(d), "Bayes"): 0.8 + d / 1000 for d in D},
    **{(named(d), name): 0.68 - d / 1000 for d in D for name in ("Euclid", *LEARNT, "Fisher, one Gaussian")},
    **{(named(d), name): value for d in D for name, value in (("LMNN", 0.65), ("Fisher", 0.6))},
    (MIXTURE, "GLML"): 0.95,
    (MIXTURE, "Bayes"): 0.6,
    MIXTURE: 0.9,
}


def made(change: dict[Any, float], noise: float = 1e-3) -> Results:
    """20 realisations as printed, but for a change."""
    means = {**AS_PRINTED, **change}
    methods = (SHARED, FITTED, *LEARNT)
    return results("synthetic", methods, [*map(named, D), MIXTURE], 20, around(means, 0.9, noise))


def found_of(change: dict[Any, float], noise: float = 1e-3) -> list[Verdict | None]:
    """The verdict on each sentence."""
    return [claim.verdict for claim in claims(accuracies_of(made(change, noise)))]


REVERSE = {key: 1.4 - value for key, value in AS_PRINTED.items() if "LMNN" not in key} | {
    **{(named(d), "LMNN"): 0.9 - d / 500 for d in D},
    (MIXTURE, "LMNN"): 0.8,
    (MIXTURE, "Euclid"): 0.6,
    (MIXTURE, "GLML"): 0.5,
    (MIXTURE, "Bayes"): 0.8,
}


@pytest.mark.parametrize(
    ("change", "noise", "other"),
    [
        ({}, 0.01, {}),
        (REVERSE, 0.01, dict.fromkeys(range(13), C)),
        ({}, 3.0, dict.fromkeys(range(13), U)),
        ({(MIXTURE, "GLML"): 0.915}, 1e-4, {}),
        ({(MIXTURE, "GLML"): 0.905}, 1e-4, {12: U}),  # the point is ours, and contradicts nothing
        ({(MIXTURE, "GLML"): 0.895}, 1e-4, {11: C, 12: C}),
        ({(named(5), "ITML"): 0.8}, 1e-3, {2: C}),  # at every dimension
        ({(named(100), "ITML"): 0.97}, 1e-3, {0: C, 2: C, 4: C}),  # it does not degrade: most still do
        ({(named(100), "Fisher"): 0.96}, 1e-3, {3: C, 5: C}),  # of the mixture, judged apart
        ({(named(20), "Fisher, one Gaussian"): 0.9}, 1e-3, {2: C}),
    ],
)
def test_each_sentence_by_its_figures(
    change: dict[Any, float], noise: float, other: dict[int, Verdict]
) -> None:
    assert found_of(change, noise) == [other.get(i, S) for i in range(13)]


@pytest.mark.parametrize(
    ("leads", "kind"),
    [
        ([], "untested"),
        ([2.0], "one"),
        ([2.0, 3.0, 9.0], "always"),
        ([2.0, 9.0, 3.0], "ends"),
        ([2.0, 9.0, 2.0], "never"),
        ([2.0, 1.0], "never"),
    ],
)
def test_how_the_lead_goes_with_the_dimension(leads: list[float], kind: str) -> None:
    said = synthetic_report.growth(dict(zip((5, 20, 50), leads, strict=False)))
    assert said.startswith(Words("synthetic").text(f"grows.{kind}").split("{")[0])
    assert [float(each) for each in re.findall(r"[+-]\d+\.\d", said)] == leads[:: max(len(leads) - 1, 1)]


def test_metrics_above_glml_and_accuracies_that_rise_and_fall_are_said_with_their_tests() -> None:
    for change, of, pair, digits in (
        ({(named(100), "Fisher"): 0.96}, synthetic_report.ahead, ((100, "Fisher"), (100, "GLML")), 2),
        ({(named(20), "Euclid"): 0.75}, synthetic_report.falls, ((20, "Euclid"), (100, "Euclid")), 1),
    ):
        found = accuracies_of(made(change))
        each = ttest_rel(*(list(found[named(d)][name].values()) for d, name in pair))
        (line,) = of(found)
        low, high = (100 * end for end in each.confidence_interval())
        sign = "+" if of is synthetic_report.ahead else ""  # a fall is more than 0
        said = "by {:{form}} ({:{form}} to {:{form}})".format(
            (low + high) / 2, low, high, form=f"{sign}.{digits}f"
        )
        assert said in line
        assert pair[0][1] in line
        assert f"p = {each.pvalue:.2g}." in line
        assert line.count("p = ") == 1
        assert line in synthetic.parts(made(change), FULL).lines
        assert of(accuracies_of(made({}))) == []


def test_comparisons_are_paired_and_take_what_both_have() -> None:
    found = made({})
    for task, result in found:
        if task.key == f"{MIXTURE}/{SHARED}/000":
            result["methods"]["GLML"]["accuracy"] = [None]
    found = [pair for pair in reversed(found) if pair[0].key != f"{MIXTURE}/LMNN/002" and pair[0].split < 7]
    by_method = accuracies_of(found)[MIXTURE]
    (pair,) = claims(accuracies_of(found))[-1].pairs.values()
    kept = (1, 3, 4, 5, 6)  # of the first GLML has no metric, and the third was not run for LMNN
    a, b = (np.array([by_method[name][i] for i in kept], dtype=float) for name in ("GLML", "LMNN"))
    assert pair.beyond(0.01).mean == pytest.approx(np.mean(a - b) - 0.01)
    assert pair.beyond(0.01).p_value == pytest.approx(ttest_rel(a - 0.01, b).pvalue)


def test_the_report_has_every_sentence_and_lists_what_is_contradicted() -> None:
    text = "\n".join(synthetic.parts(made({}), FULL).lines)
    assert all(words["said"] in text for words in synthetic_report.WORDS.found["claims"].values())
    assert synthetic_report.NOT_RUN not in text
    assert page.open_lines(text.splitlines()) == []
    worse = synthetic.parts(made({(MIXTURE, "GLML"): 0.8}), FULL).lines
    against = f"{synthetic_report.NOT_SO} {MIXTURE}"
    assert "\n".join(worse).count(f"| {against} |") == 2
    assert [line.split(",")[0] for line in page.open_lines(worse)] == ["- sentence 12", "- sentence 13"]
    assert all(line.endswith(f": {against}; open.") for line in page.open_lines(worse))
    lone = [each for each in made({}) if (each[0].data, each[0].method) == (MIXTURE, "LMNN")]
    assert synthetic_report.NOT_RUN in "\n".join(synthetic.parts(lone, FULL).lines)


def test_the_first_screen_says_where_the_lead_is_shown_and_which_metrics_are_run() -> None:
    """ITML is as good as GLML at D = 5 and BoostMetric is not run above 20."""
    found = [
        each
        for each in made({(named(5), "ITML"): 0.8, (MIXTURE, "GLML"): 0.895})
        if each[0].method != "BoostMetric" or each[0].data in (named(5), named(20))
    ]
    said = synthetic.short(found, FULL)
    metrics = len(synthetic_report.OTHERS)
    assert (
        f"ahead of all {metrics} metrics that the papers draw at D = 20, of the {metrics - 1} that are run at "
        f"D = 50 and 100 (not BoostMetric), of {metrics - 1} of {metrics} at D = 5." in said.result
    )
    assert "LMNN" in said.result.split("On the mixtures ")[1]
    assert "Bayes" not in said.result
    assert "1 is undecided" in said.conclusion or "are undecided" in said.conclusion
