"""Metrics of programs whose mistake is known here: no report names another mistake."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.misreading import Misreading, OtherProblem, Question
from cvxml.core.report import Report
from cvxml.methods import get
from cvxml.oracle import explanations
from cvxml.oracle.diagnose import told as diagnosis_of
from cvxml.oracle.explanations import Explanation, _has_no_scale
from cvxml.oracle.judge import Left
from cvxml.oracle.representation_errors import _is_rounded, slips
from cvxml.oracle.weights import WIDEST, Tried, least, ratio

ROUNDED = "P_+"  # what the sentence on a missing projection has


def wine(n: int, d: int) -> tuple[FloatArray, IntArray]:
    X, y = datasets.load("wine")
    some = np.sort(np.random.default_rng(0).permutation(len(X))[:n])
    return datasets.standardize(X[some][:, :d]), y[some]


def step_from_zero(X: FloatArray, y: IntArray) -> FloatArray:
    """A small gradient step from 0 on the triplets: the metric of another, very large weight."""
    i, j, k = get("rtml").instance(X, y).triplets().T
    apart, beside = X[i] - X[k], X[i] - X[j]
    return 1e-3 * (apart.T @ apart - beside.T @ beside) / len(i)


@pytest.mark.parametrize("method", ["rtml", "schultz_joachims"])
def test_a_misreading_of_a_weight_is_not_undone_by_another_value_of_it(method: str) -> None:
    """The metric is optimal for the sum with another weight. In the mean over triplets the weight is another one."""
    X, y = wine(40, 4)
    step = step_from_zero(X, y)
    M = project_psd(step) if method == "rtml" else np.diag(np.maximum(np.diag(step), 0.0))
    mean = get(method).MISREADINGS["mean"].sentence
    assert not any(mean in name for name in cvxml.check(method, X, y, M).diagnosis)


def test_the_prior_is_not_named_as_a_mean_with_another_weight() -> None:
    assert cvxml.check("itml", *wine(40, 4), np.eye(4)).diagnosis == ()


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", [1e-14, 1e-8, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_metric_of_low_rank_is_not_stationary_for_another_kernel(size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4))
    y, v = X[:, 0] + 0.3 * rng.standard_normal(30), rng.standard_normal(4)
    report = cvxml.check("mlkr", X, y, size * np.outer(v, v), n_components=1)
    assert report.diagnosis == report.nearest == ()


def told(report: Report) -> list[str]:
    return [*report.diagnosis, *(each.sentence for each in report.nearest)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("factor", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("method", ["lmnn", "lmnn:squared_hinge"])
def test_the_optimum_in_other_units_is_named_as_such_only(method: str, factor: float) -> None:
    X, y = wine(30, 3)
    best = cvxml.solve(method, X, y, n_neighbors=2, tol=1e-9).metric
    names = told(cvxml.check(method, X, y, factor * best, n_neighbors=2))
    misread = [each.sentence for each in get(method).MISREADINGS.values()]
    assert not [name for name in names if any(sentence in name for sentence in misread)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("factor", [1e-7, 1e-5])
def test_a_tiny_metric_of_any_kind_has_no_name(factor: float) -> None:
    X, y = wine(30, 3)
    root = np.random.default_rng(0).standard_normal((3, 3))
    assert cvxml.check("lmnn", X, y, factor * root @ root.T, n_neighbors=2).diagnosis == ()


@pytest.mark.quick(1)
@pytest.mark.parametrize("digits", [3, 4, 5])
@pytest.mark.parametrize("lam", [0.1, 0.102])
def test_rounded_decimals_are_no_missing_projection(digits: int, lam: float) -> None:
    """The program has lam = 0.1, or a wrong lam, and it does project; its output has few digits."""
    negative = 0
    for n, d in ((30, 5), (25, 6), (28, 5)):
        X, y = wine(n, d)
        M = np.round(cvxml.solve("mlsvm", X, y, lam=lam, tol=1e-9).metric, digits)
        negative += np.linalg.eigvalsh(M)[0] < 0
        assert not any(ROUNDED in name for name in told(cvxml.check("mlsvm", X, y, M, lam=0.1)))
    assert negative > 0


@pytest.mark.quick(1)
@pytest.mark.parametrize("shift", [1e-3, 1e-2])
def test_a_missing_projection_is_named_only_if_the_projection_is_optimal(shift: float) -> None:
    X, y = wine(30, 5)
    for lam in (0.1, 0.102):
        best = cvxml.solve("mlsvm", X, y, lam=lam, tol=1e-9).metric
        values, vectors = np.linalg.eigh(best)
        assert values[0] < 1e-9
        M = best - shift * np.outer(vectors[:, 0], vectors[:, 0])
        named = any(ROUNDED in name for name in told(cvxml.check("mlsvm", X, y, M, lam=0.1)))
        assert named == (lam == 0.1)


def test_decimals_are_rounded_if_half_a_unit_explains_a_negative_eigenvalue() -> None:
    assert _is_rounded(np.array([[0.25, 0.5], [0.5, 0.9999]]))
    assert not _is_rounded(np.array([[0.151, 0.401], [0.401, 0.891]]))
    assert not _is_rounded(np.array([[0.25, 0.5], [0.5, 1 - 1e-13]]) / 3)
    assert _is_rounded(np.array([[1.0, 2.0], [2.0, 4.0]]) - 1e-5)
    assert _is_rounded(np.diag([1.111, -0.001]))
    assert not _is_rounded(np.diag([1.111, -0.002]))


class Given:
    """What `ratio` reads of checked inputs."""

    def __init__(self, n: int, d: int):
        self.X = np.zeros((n, d))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.04999, 0.05001), "1/2"),
        ((0.0502594, 0.05035), ""),  # 1/2 is not in the interval
        ((0.05, 0.05), "1/2"),
        ((0.0501, 0.0501), ""),
        ((0.1 * 300**2 * 0.99, 0.1 * 300**2 * 1.01), ""),  # n^2 and n (n - 1) are in it
        ((0.1 * 300**2, 0.1 * 300**2), "n^2"),
        ((0.1 * 300 * 299, 0.1 * 300 * 299), "n (n - 1)"),
    ],
)
def test_a_ratio_is_told_if_it_is_the_only_one_in_the_interval(ends: tuple[float, float], said: str) -> None:
    found = ratio(ends, 0.1, np.inf, Given(300, 7))
    assert [each.removeprefix("the ratio is ") for each in found] == [said] * bool(said)


def test_a_wide_interval_contains_a_ratio_and_does_not_tell_it() -> None:
    (said,) = ratio((0.0005, 0.004), 0.01, np.inf, Given(300, 3))
    assert "1/d" in said
    assert not said.startswith("the ratio is")


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_search_for_a_weight_reaches_its_limit(side: float) -> None:
    """The slope has the same sign everywhere, so no weight is best."""
    tried = least(1.0, np.inf, 1e-9, lambda weight: Tried(weight, 1e-9, 1.0, -side * 1e-12))
    ratios = [max(each.weight, 1 / each.weight) for each in tried]
    assert max(ratios) == pytest.approx(WIDEST)
    assert (tried[-1].weight > 1) == (side > 0)


@pytest.mark.parametrize("share", [0.0, 1e-14, 1e-4])
def test_a_problem_without_a_scale_is_told_from_a_tiny_metric(share: float) -> None:
    """Rounding errors differ from multiple to multiple; the gap of a tiny metric grows with it."""
    question = Question(np.diag([1.0, 2.0, 3.0]), np.arange(3), 1e-15 * np.eye(3), 1e-6, {})
    rng = np.random.default_rng(0)
    assert _has_no_scale(lambda factor: share + 1e-12 * rng.random(), share, question)
    assert not _has_no_scale(lambda factor: min(1.0, 1e-14 * factor), share, question)
    optimum = question._replace(X=np.array([[-1.0, 0, 0], [1.0, 0, 0]]), metric=np.eye(3))
    assert not _has_no_scale(lambda factor: share + abs(np.log(factor)), share, optimum)


def seeded(seed: int) -> tuple[FloatArray, IntArray]:
    """Three classes in two features; the classes differ in the first one."""
    X, y = np.random.default_rng(seed).normal(size=(12, 2)), np.arange(12) % 3
    X[:, 0] += y
    return X, y


def one_entry(M: FloatArray, share: float) -> FloatArray:
    E = np.zeros_like(M)
    E[0, 1] = share * np.linalg.norm(M)
    return M + E


def two_entries(M: FloatArray, share: float) -> FloatArray:
    E = one_entry(M, share) - M
    return M + E + E.T


def few_digits(M: FloatArray, share: float) -> FloatArray:
    return np.array([[float(f"{(1 + share) * entry:.3g}") for entry in row] for row in M])


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("method", "seed", "share", "spoilt"),
    [
        ("mmc:diagonal", 16, 1.5e-6, one_entry),
        ("mmc:diagonal", 18, 1.5e-6, two_entries),
        ("mmc:diagonal", 18, 1e-5, two_entries),
        ("mmc:diagonal", 18, 0.0, few_digits),
        ("mmc", 42, 1.5e-6, one_entry),
        ("mmc", 42, 2e-4, few_digits),
        ("rca", 0, 1.5e-6, one_entry),
    ],
)
def test_an_optimum_that_is_barely_no_metric_solves_no_other_problem(
    method: str, seed: int, share: float, spoilt: Callable[..., FloatArray]
) -> None:
    """Only a slip that makes the matrix a metric may be named: another problem does not explain that it is none."""
    X, y = datasets.load("iris") if method == "rca" else seeded(seed)
    best = cvxml.solve(method, X, y, tol=1e-9).metric
    metric = spoilt(best, share)
    report = cvxml.check(method, X, y, metric)
    written = slips(metric, None, best, get(method).CLAIM, lambda each: each)
    assert {*told(report)} <= {each.sentence for each in written if each.exactly}, str(report)


@pytest.mark.parametrize(("beside", "named"), [(5e-6, False), (1e-2, True)])
def test_the_gap_of_the_nearest_metric_decides_on_a_name(beside: float, named: bool) -> None:
    """A name needs a gap 1000 times smaller than that of the nearest metric, if the matrix is no metric."""
    found = [Explanation(Left(1e-7, 1e-7), "it")]
    assert bool(diagnosis_of(found, Left(math.inf), 1e-6, 8, Left(beside, beside)).named) is named


@pytest.mark.parametrize("C", [0.3, 0.25, 0.13])
def test_another_C_is_not_named_as_the_C_of_a_misreading(C: float) -> None:
    """With C/k, C is 1/3 here; with C/n and half the regularizer it is 0.133."""
    X, y = datasets.load("wine")
    X, y = datasets.standardize(X[::12, :2]), y[::12]
    M = cvxml.solve("ssvm", X, y, n_neighbors=3, C=C, tol=1e-8).metric
    assert cvxml.check("ssvm", X, y, M, n_neighbors=3, C=1.0).diagnosis == ()


def test_the_C_of_a_misreading_is_named() -> None:
    X, y = datasets.load("wine")
    X, y = datasets.standardize(X[::12, :2]), y[::12]
    M = cvxml.solve("ssvm", X, y, n_neighbors=3, C=1 / 3, tol=1e-8).metric
    (name,) = cvxml.check("ssvm", X, y, M, n_neighbors=3, C=1.0).diagnosis
    assert get("ssvm").MISREADINGS["per_neighbor"].sentence in name


@pytest.mark.parametrize("method", ["itml", "sdml", "lsml"])
@pytest.mark.parametrize("prior", ["identity", "covariance"])
@pytest.mark.parametrize("step", [0.0, 1e-4])
def test_the_prior_is_the_answer_of_many_programs(method: str, prior: str, step: float) -> None:
    """A program that never uses the data returns it; one tiny step does not tell more."""
    X, y = wine(30, 3)
    start = get(method).without_data(get(method).instance(X, y, prior=prior))
    assert start is not None
    report = cvxml.check(method, X, y, start + step * np.ones((3, 3)), prior=prior)
    assert report.diagnosis == report.nearest == ()
    assert any("prior" in note for note in report.notes) == (step == 0)


def test_a_closed_form_is_named_only_if_it_is_exact() -> None:
    """The covariances of the chunklets, divided by other numbers than those of a misreading."""
    X, y = wine(60, 4)
    sums = [(Z.T @ Z, len(Z)) for Z in (X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y))]
    for divisor in (1.5, 0.5, 1.0):
        M = np.linalg.inv(np.sum([S / (n - divisor) for S, n in sums], axis=0))
        assert bool(cvxml.check("rca", X, y, M).diagnosis) == (divisor == 1.0)


@pytest.mark.parametrize(
    ("used", "asked"), [({"alpha": 5e-3}, {"alpha": 0.2}), ({"shift": 1e-3}, {"shift": 0.3})]
)
def test_a_closed_form_with_another_number_is_not_named_as_one_without_it(
    used: dict[str, float], asked: dict[str, float]
) -> None:
    """A small alpha is not alpha left out, and a query next to the mean is not the mean."""
    X, y = wine(60, 3)

    def params(given: dict[str, float]) -> dict[str, object]:
        return {"alpha": given.get("alpha", 0.2), "query": X.mean(axis=0) + given.get("shift", 0.3)}

    M = cvxml.solve("glml", X, y, **params(used)).metric
    assert cvxml.check("glml", X, y, M, **params(asked)).diagnosis == ()


def test_a_small_width_is_not_named_as_the_hinge() -> None:
    X, y = wine(30, 3)
    M = cvxml.solve("rtml", X, y, lam=10.0, width=1e-3, tol=1e-10).metric
    assert cvxml.check("rtml", X, y, M, lam=10.0, width=1.0).diagnosis == ()
    M = cvxml.solve("rtml", X, y, lam=10.0, width=0.0, tol=1e-10).metric
    (name,) = cvxml.check("rtml", X, y, M, lam=10.0, width=1.0).diagnosis
    assert get("rtml").MISREADINGS["hinge"].sentence in name


@pytest.mark.parametrize(("number", "exactly"), [(True, False), (False, True), (False, False)])
def test_the_second_misreading_keeps_the_limits_of_the_first(
    number: bool, exactly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Misreading("the first", problem=lambda question: None, exactly=exactly)
    base = OtherProblem(None, None, {})  # type: ignore[arg-type]
    monkeypatch.setattr(explanations, "_partly", lambda *_: iter([(first, base, 0, number)]))
    monkeypatch.setattr(explanations, "_read", lambda *_: Explanation(Left(1e-9), "both"))
    judge = SimpleNamespace(method="rtml", late=False)
    found = list(explanations.two_misreadings(judge, np.eye(2), {}, 0.1))  # type: ignore[arg-type]
    assert found
    assert {(each.number, each.exactly) for each in found} == {(number, exactly)}
