"""validation/experiments/mlsvm: the test part is not used before the test, and the report says what was found."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import cvxml
from cvxml import datasets
from validation.experiments import mlsvm, mlsvm_report, page
from validation.experiments.made import results
from validation.experiments.mlsvm import Choice
from validation.experiments.mlsvm_report import HINDSIGHT, METHODS
from validation.experiments.page import Results
from validation.experiments.splits import Split, shuffled, some_pairs
from validation.experiments.tasks import Task
from validation.experiments.verdicts import Compared, Verdict

SETTINGS: dict[str, Any] = {
    "degrees": [1, 2],
    "weights": [1e-2, 1.0],
    "kernel_weights": [1e-1],
    "rows": {},
}


def wine(trial: int = 0) -> Split:
    return shuffled(*datasets.load("wine"), trial)


def voted(part: Split, metric: Any = None, degree: int = 1) -> float:
    """The error of 4-NN among all training points under the distances of a fitted estimator, by a loop."""
    part = mlsvm.scaled(part, degree)
    points, queries = (X if metric is None else metric.transform(X) for X in (part.X, part.X_test))
    wrong = 0
    for x, label in zip(queries, part.y_test, strict=True):
        nearest = np.argsort([float(np.sum((x - z) ** 2)) for z in points], kind="stable")[:4]
        votes = [int(np.sum(part.y[nearest] == c)) for c in range(3)]
        wrong += votes.index(max(votes)) != label  # a tie to the smallest label
    return wrong / len(part.y_test)


def test_the_error_of_knn_is_that_of_a_loop() -> None:
    part = wine()
    mean, spread = part.X.mean(axis=0), part.X.std(axis=0)
    np.testing.assert_allclose(mlsvm.scaled(part, 1).X_test, (part.X_test - mean) / spread, atol=1e-12)
    assert mlsvm.measure(Task("wine", "kNN", 0, SETTINGS))["error"] == pytest.approx(voted(part), abs=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_lam_means_the_same_at_every_degree(degree: int) -> None:
    part = wine()
    X = mlsvm.scaled(part, degree).X
    kernel = np.array([x @ x for x in X]) ** degree
    assert kernel.mean() == pytest.approx(X.shape[1], rel=1e-12)
    np.testing.assert_array_equal(mlsvm.scaled(part._replace(X_test=-9 * part.X_test), degree).X, X)


def test_the_choice_is_that_of_least_error_over_two_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    # of the two folds, of 45 and 44 points: the means of the last two are equal
    errors = {(1, 1e-2): (0.9, 0.0), (1, 1.0): (0.4, 0.0), (2, 1e-1): (0.0, 0.4 * 45 / 44)}
    seen: dict[Any, int] = {}

    def tested(method: str, choice: Any, part: Split, settings: Any, tol: float) -> Any:
        assert tol == mlsvm.SELECT
        seen[choice] = seen.get(choice, -1) + 1
        assert len(part.y_test) == 45 - seen[choice]
        return errors[choice][seen[choice]], {"proved": choice.degree == 1}

    monkeypatch.setattr(mlsvm, "tested", tested)
    choice, selecting = mlsvm.select("MLSVM", wine(), SETTINGS)
    assert choice == (1, 1.0)  # the first of two that are equal
    assert selecting == {"fits": 6, "unproved": 2}


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("method", "weight", "metric"),
    [
        ("MLSVM", 0.1, cvxml.MLSVM(0.1, 4, tol=1e-6)),
        ("LMNN", 1.0, cvxml.LMNN(n_neighbors=4, mu=0.5, tol=1e-6)),
        ("ITML", 0.1, cvxml.ITML(gamma=0.1, tol=1e-6)),
        ("MCML", 1.0, cvxml.MCML(tol=1e-6)),
    ],
)
def test_a_method_is_what_the_report_calls_it_and_tested_with_its_proof(
    method: str, weight: float, metric: Any
) -> None:
    part = wine(3)
    X = mlsvm.scaled(part, 1).X
    given = {"pairs": some_pairs(part.y)} if method == "ITML" else {"y": part.y}
    metric.fit(X, **given)
    error, proof = mlsvm.tested(method, Choice(1, weight), part, SETTINGS, 1e-6)
    assert error == pytest.approx(voted(part, metric), abs=1e-12)
    assert proof["proved"]
    assert proof["rel_gap"] == pytest.approx(metric.solution_.rel_gap)


def test_for_a_degree_above_1_fewer_rows_teach_the_metric_and_all_are_looked_among() -> None:
    part, few = wine(), {**SETTINGS, "rows": {"kernel": 30}}
    errors = [mlsvm.tested("MLSVM", Choice(1, 0.1), part, each, 1e-6)[0] for each in (few, SETTINGS)]
    assert errors[0] == errors[1]
    scaled = mlsvm.scaled(part, 2)
    error = mlsvm.tested("MLSVM", Choice(2, 0.1), part, few, 1e-6)[0]
    by_few = cvxml.KernelMLSVM(lam=0.1, n_neighbors=4, degree=2, tol=1e-6).fit(scaled.X[:30], scaled.y[:30])
    assert error == pytest.approx(voted(part, by_few, 2), abs=1e-12)
    among_few = part._replace(X=part.X[:30], y=part.y[:30])
    assert error != mlsvm.tested("MLSVM", Choice(2, 0.1), among_few, SETTINGS, 1e-6)[0]


@pytest.mark.parametrize(("degree", "lam"), [(1, 1e-2), (1, 30.0), (2, 300.0)])
def test_svm_minimises_lam_half_norm_plus_the_sum_of_losses(degree: int, lam: float) -> None:
    """Two classes of balance; the dual of lam/2 |w|^2 + sum of hinges, by scipy."""
    X, y = datasets.load("balance")
    rows = np.flatnonzero(y != y.min())[::12]
    labels = np.unique(y[rows], return_inverse=True)[1]
    part = Split(X[rows[::2]], labels[::2], X[rows[1::2]], labels[1::2])
    scaled = mlsvm.scaled(part, degree)
    sign = 2.0 * part.y - 1
    K = (scaled.X @ scaled.X.T) ** degree
    Q = sign[:, None] * K * sign
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(), np.full(len(sign), 0.5 / lam), jac=lambda a: Q @ a - 1,
        bounds=[(0, 1 / lam)] * len(sign), constraints={"type": "eq", "fun": lambda a: a @ sign},
        options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    free = int(np.argmin(np.abs(found.x - 0.5 / lam)))
    assert 1e-3 / lam < found.x[free] < (1 - 1e-3) / lam
    bias = sign[free] - K[free] @ (found.x * sign)
    value = (scaled.X_test @ scaled.X.T) ** degree @ (found.x * sign) + bias
    assert np.abs(value).min() > 1e-4
    error = np.mean((value > 0) != (part.y_test == 1))
    assert mlsvm.tested("SVM", Choice(degree, lam), part, SETTINGS, 1e-6)[0] == pytest.approx(error)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_inner_products_of_the_feature_space_are_the_kernel(degree: int) -> None:
    part = mlsvm.scaled(wine(), degree)
    made = mlsvm.in_feature_space(part, degree)
    np.testing.assert_allclose(made.X @ made.X.T, (part.X @ part.X.T) ** degree, atol=1e-7)
    np.testing.assert_allclose(made.X_test @ made.X.T, (part.X_test @ part.X.T) ** degree, atol=1e-6)


def test_the_svm_of_the_paper_and_what_is_tried_for_the_extra_methods() -> None:
    part = mlsvm.scaled(wine(), 1)
    machine = cvxml.CrammerSingerSVM(10.0).fit(part.X, part.y)
    error, proof = mlsvm.tested("Crammer-Singer", Choice(1, 0.1), wine(), SETTINGS, 1e-6)
    assert error == pytest.approx(np.mean(machine.predict(part.X_test) != part.y_test))
    assert proof["proved"]
    few = {**SETTINGS, "degrees": [1, 2, 4]}
    assert {choice.degree for choice in mlsvm.choices("Crammer-Singer", few)} == {1, 2}
    assert {choice.degree for choice in mlsvm.choices("MLSVM printed", few)} == {1}
    assert mlsvm.choices("MCML", few) == [Choice(1, 1.0)]


@pytest.mark.slow
def test_printed_is_algorithm_1_by_its_lines() -> None:
    """By a loop: argmin twice, eta = 1/(lam t), the cone, the ball."""
    part, lam, d = mlsvm.scaled(wine(), 1), 0.1, 13
    few = part._replace(X=part.X[:30], y=part.y[:30])
    A = np.zeros((d, d))
    for t in range(1, mlsvm.PRINTED + 1):
        change = np.zeros((d, d))
        for i, x in enumerate(few.X):
            order = np.argsort(
                [np.inf if j == i else np.sum((x - other) ** 2) for j, other in enumerate(few.X)]
            )[:4]
            outer = {j: np.outer(x - few.X[j], x - few.X[j]) for j in order}
            own = [np.sum(A * outer[j]) for j in order if few.y[j] == few.y[i]]
            other = [np.sum(A * outer[j]) for j in order if few.y[j] != few.y[i]]
            if own and other and min(other) - max(own) < 1:
                targets = [j for j in order if few.y[j] == few.y[i]]
                impostors = [j for j in order if few.y[j] != few.y[i]]
                change += outer[impostors[int(np.argmin(other))]] - outer[targets[int(np.argmin(own))]]
        A = (1 - 1 / t) * A + change / (lam * t * len(few.X))
        values, vectors = np.linalg.eigh(A)
        A = (vectors * np.maximum(values, 0)) @ vectors.T
        norm = np.linalg.norm(A)
        A *= min(1, 1 / np.sqrt(lam) / norm) if norm else 1
    L = mlsvm.printed(few, lam)
    np.testing.assert_allclose(L.T @ L, A, rtol=1e-6, atol=1e-9)


def test_what_is_tried_is_the_papers_grid() -> None:
    full, reduced = ({**mlsvm.PRESETS[name].settings, "rows": {}} for name in ("full", "reduced"))
    choices = mlsvm.choices("MLSVM", full)
    assert {c.degree for c in choices} == {1, 2, 3, 4, 5}
    assert sorted({c.weight for c in choices}) == pytest.approx([1e-3, 1e-2, 0.1, 1, 10, 100, 1e3])
    counts = {
        method: len(mlsvm.choices(method, full)) for method in ("MLSVM", "SVM", "ITML", "Crammer-Singer")
    }
    assert counts == {"MLSVM": 35, "SVM": 35, "ITML": 7, "Crammer-Singer": 21}
    assert len(mlsvm.choices("MLSVM", reduced)) == 23


def test_in_hindsight_no_choice_is_better_and_the_usable_points_are_counted() -> None:
    part, settings = wine(), {**SETTINGS, "weights": [1e-3, 1e3]}
    found = mlsvm.measure(Task("wine", HINDSIGHT, 0, settings))
    every = mlsvm.choices("MLSVM", settings)
    errors = [mlsvm.tested("MLSVM", choice, part, settings, mlsvm.SELECT)[0] for choice in every]
    assert found["error"] == min(errors) < max(errors)
    assert (found["degree"], found["weight"]) == every[errors.index(min(errors))]
    X = mlsvm.scaled(part, 1).X
    usable = 0
    for i, x in enumerate(X):
        order = np.argsort([np.inf if j == i else np.sum((x - X[j]) ** 2) for j in range(len(X))])
        usable += 0 < int(np.sum(part.y[order[:4]] == part.y[i])) < 4
    assert found["usable"] == pytest.approx(usable / len(X))


# --- the report


BASE = [0.20, 0.22, 0.18, 0.21, 0.19, 0.20, 0.23, 0.17, 0.20, 0.21]
ALIKE = dict.fromkeys((*METHODS, HINDSIGHT), BASE)


def beside(*steps: float) -> list[float]:
    """The errors of BASE, more by the steps in turn."""
    return [error + steps[i % len(steps)] for i, error in enumerate(BASE)]


def made(errors: dict[str, list[float]], *sets: str) -> Results:
    """Results with these errors by trial; of the other methods those of BASE."""
    every = ALIKE | errors
    count = min(map(len, every.values()))
    return results("mlsvm", every, sets, count, lambda data, method, split, _: 1 - every[method][split])


def text_of(found: Results, preset: str = "small") -> str:
    return "\n".join(mlsvm_report.parts(found, mlsvm.PRESETS[preset]).lines)


def said(errors: dict[str, list[float]], *sets: str) -> list[str]:
    """What is said of each of the paper's sentences, where the methods have the same errors on all sets."""
    return text_of(made(errors, *sets)).split("## What becomes")[1].split("\n### How")[0].split("\n**")[1:]


@pytest.mark.parametrize(
    ("errors", "star"), [([0.03, 0.05, 0.04, 0.04], False), ([0.05, 0.06, 0.05, 0.06], True)]
)
def test_what_differs_by_more_than_two_standard_errors_is_marked(errors: list[float], star: bool) -> None:
    """The paper has 3.83 on wine."""
    text = text_of(made({"MLSVM": errors, HINDSIGHT: [0.1, 0.1, 0.1, 0.11]}, "wine"))
    assert ("| 5.50 ± 0.29 * |" in text) == star == ("\n- wine: " in text)
    assert text.count(" * |") == 1 + star  # the first is that of the next line
    assert "| wine | 10.25 ± 0.25 * | 3.83 | 25 |" in text


@pytest.mark.parametrize(
    ("sentence", "errors", "codes"),
    [
        (0, {"kNN": beside(0.01, 0.03)}, "SSU"),  # sure of these points, not of new ones
        (0, {"kNN": beside(-0.1)}, "CCC"),
        (0, {"LMNN": beside(0.022, -0.002)}, "CUU"),  # p = .034: not as one of three comparisons
        (1, {"Crammer-Singer": beside(-0.1)}, "CCC"),
        (1, {"Crammer-Singer": beside(-0.004, -0.006)}, "CC"),  # half a point, for sure
        (1, {"Crammer-Singer": beside(0.1)}, "SSS"),
        (2, {"LMNN": beside(0.022, -0.002), "ITML": beside(-0.022, 0.002)}, "SUU"),
        (2, {"LMNN": beside(0.1)}, "SSS"),
        (3, {"Crammer-Singer": beside(-0.004, -0.006)}, "S"),  # less than a point worse
        (3, {"Crammer-Singer": beside(-0.004, -0.016)}, "U"),
        (3, {"Crammer-Singer": beside(-0.014, -0.016)}, "C"),
    ],
)
def test_the_letters_of_a_sentence(sentence: int, errors: dict[str, list[float]], codes: str) -> None:
    """By the paper's own test, with Holm, and for new points."""
    text = said(errors, "wine")[sentence]
    assert re.search(rf"\) {codes}", text)
    counts = re.findall(r"(\w+) \(\d", text.split("comparisons.")[1].split("\n")[0])
    assert {"S": "supported", "C": "contradicted", "U": "undecided"}[codes[0]] in counts


def test_lmnn_on_german_is_excepted_and_libsvm_is_not_the_papers_svm() -> None:
    first, second, _, fourth = said({"SVM": beside(-0.1)}, "wine", "german_numeric")
    assert first.rstrip().endswith(" |  |")
    assert "5 comparisons" in first
    assert "-10.00" not in second + fourth


@pytest.mark.parametrize(("itml", "counts"), [(0.0, ["1", "1", "1"]), (-0.02, ["1", "1", "0"])])
def test_less_mean_error_than_mlsvm_and_than_any_metric(itml: float, counts: list[str]) -> None:
    found = made({"Crammer-Singer": beside(-0.01), "ITML": beside(itml)}, "wine")
    lower = mlsvm_report.lower_means(mlsvm_report.whole(found))
    assert re.findall(r"\d+", lower) == counts
    assert lower in text_of(found)
    assert lower in mlsvm_report.short(found, mlsvm.PRESETS["small"]).all_results


def test_what_is_not_proved_is_marked_where_its_error_stands() -> None:
    found = made({}, "wine")
    assert "†" not in text_of(found)
    for task, result in found:
        result["proved"] = task.method != "ITML" or task.split > 1
    row = next(line for line in text_of(found).splitlines() if line.startswith("| wine |"))
    marked = [i for i, each in enumerate(row.split("|")) if "†" in each]
    assert marked == [METHODS.index("ITML") + 2]  # after the border and the data
    assert " †2 " in row
    assert "\n†: " in text_of(found)


def test_the_best_among_the_papers_models_and_how_often() -> None:
    errors = {"MLSVM per class": beside(-0.1), "LMNN": beside(0.1), "ITML": beside(0.01, 0.03)}
    text = text_of(
        made(errors | {"Crammer-Singer": beside(-0.001, 0.001)}, "wine")
        + made(errors | {"Crammer-Singer": beside(0.1), "ITML": BASE}, "iris")
    )
    assert "| wine | kNN, Crammer-Singer, MLSVM | MLSVM per class | MLSVM, ITML |" in text
    assert "| iris | kNN, ITML, MLSVM | MLSVM per class | MLSVM, SVM |" in text
    assert ": kNN, MLSVM." in text  # always among the best
    assert "| ours | 2 | 0 | 1 | 1 | 2 |" in text
    assert "Table 2 | 0 | 0 | 1 | 1 | 2 |" in text

    def denied(text: str) -> bool:
        """Whether the line on the paper's "more reliable" says that MLSVM is not the first of three."""
        return " not " in next(line for line in text.splitlines() if line.startswith('"MLSVM is more'))

    assert [denied(text), denied(text_of(made({}, "wine")))] == [False, True]


@pytest.mark.parametrize(
    ("preset", "lam", "counts"),
    [("reduced", 1.0, ["2", "3", "1"]), ("full", 1e3, []), ("reduced", 0.1, [])],
)
def test_the_last_lam_of_the_higher_degrees_is_counted_where_the_preset_has_fewer(
    preset: str, lam: float, counts: list[str]
) -> None:
    """It is chosen in 2 of 3 trials, and in 1 in hindsight; a degree of 1 does not count."""
    found = made({key: [0.3, 0.31, 0.3] for key in ALIKE}, "wine")
    chosen = {"MLSVM": [(2, lam), (3, lam), (1, 1.0)], HINDSIGHT: [(2, lam), (2, 0.1), (1, 1.0)]}
    for task, result in found:
        if task.method in chosen:
            result["degree"], result["weight"] = chosen[task.method][task.split]
    edge = mlsvm_report.at_the_edge(mlsvm_report.whole(found)["wine"], mlsvm.PRESETS[preset])
    assert re.findall(r"\d+", edge)[-3:] == counts
    assert edge in text_of(found, preset)


def sentence_of(
    name: str, verdicts: dict[tuple[str, str], str], others: dict[str, str]
) -> mlsvm_report.Sentence:
    """A sentence with these verdicts by every test; others: the method that a comparison has beside its name."""
    pairs = {which: Compared([0.2, 0.2], [0.25, 0.25], 0.0) for which in verdicts}
    found = {which: Verdict(verdict) for which, verdict in verdicts.items()}
    methods = {which: frozenset((which[1], others[name])) for which in verdicts}
    return mlsvm_report.Sentence(
        name, name, name, "", pairs, dict.fromkeys(mlsvm_report.TESTS, found), methods
    )


def test_a_pair_of_methods_counts_once_over_the_sentences_and_may_go_both_ways() -> None:
    against, support = "contradicted", "supported"
    others = {"first": "kNN", "second": "MLSVM", "third": "MLSVM"}
    every = [
        sentence_of("first", {("iris", "MLSVM"): against, ("iris", "ITML"): support}, others),
        sentence_of("second", {("iris", "kNN"): against, ("iris", "SVM"): against}, others),
        sentence_of("third", {("iris", "SVM"): support, ("wine", "SVM"): against}, others),
    ]
    assert (
        len(mlsvm_report.different(every)) == 4
    )  # MLSVM and kNN, ITML and kNN, SVM and MLSVM, the same on wine
    assert len(mlsvm_report.different(every, mlsvm_report.TESTS[0])) == 3
    (said,) = mlsvm_report.both_ways(every)
    assert all(token in said for token in ("iris", "MLSVM and SVM", "-5.00", "*second*", "*third*"))
    (line,) = mlsvm_report.opened(every[1])
    assert "second: contradicted on iris (kNN), iris (SVM)" in line
    assert page.open_lines([line]) == [line]
    assert mlsvm_report.opened(sentence_of("first", {("iris", "ITML"): support}, others)) == []
