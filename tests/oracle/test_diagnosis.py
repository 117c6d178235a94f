"""The mistakes that people make with MLSVM, made here in cvxpy without the package, and what `check` says of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Question
from cvxml.core.report import Verdict
from cvxml.methods import get
from cvxml.methods.mlsvm import misreadings
from tests.instances import assert_named, real_data

LAM, K = 0.05, 5
GIVEN: dict[str, Any] = {"lam": LAM, "n_neighbors": K}


def nearest(X: FloatArray, i: int, k: int, last: bool = False, itself: bool = False) -> list[int]:
    """The k nearest of point i; of equal distances the first index, or the last."""
    others = [j for j in range(len(X)) if j != i or itself]
    return sorted(others, key=lambda j: (round(float(np.sum((X[i] - X[j]) ** 2)), 9), -j if last else j))[:k]


def mistaken(
    X: FloatArray,
    y: Any,
    lists: list[list[int]],
    lam: float = LAM,
    *,
    weight: float = 0.5,
    share: float | None = None,
    cone: bool = True,
    power: int = 1,
    norm: Callable[[Any], Any] = cp.sum_squares,
    far: Callable[[Any], Any] = cp.max,
    rows: Callable[[int, list[int], list[int]], list[tuple[list[int], list[int]]]] = lambda i, T, J: [(T, J)],
) -> FloatArray:
    """weight lam ||A||^2 + share sum xi^power, a slack for each of the `rows` of a point: targets and impostors.

    far: what is taken of the distances of targets.
    """
    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True)

    def D(i: int, j: int) -> Any:
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    slacks = []
    for i in range(n):
        T = [j for j in lists[i] if y[j] == y[i]]
        J = [j for j in lists[i] if y[j] != y[i]]
        for targets, impostors in rows(i, T, J):
            if len(targets) == 0 or len(impostors) == 0:
                continue
            near = cp.min(cp.hstack([D(i, j) for j in impostors]))
            slacks.append(cp.pos(1 + far(cp.hstack([D(i, j) for j in targets])) - near))
    loss = cp.sum(cp.hstack(slacks) ** power)
    value = weight * lam * norm(A) + (1 / n if share is None else share) * loss
    problem = cp.Problem(cp.Minimize(value), [A >> 0] if cone else [])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found: FloatArray = A.value
    return found


def euclid(X: FloatArray, i: int, listed: list[int]) -> list[int]:
    return sorted(listed, key=lambda j: float(np.sum((X[i] - X[j]) ** 2)))


def data() -> tuple[FloatArray, Any, list[list[int]]]:
    """Two long classes side by side, close enough that 24 of 36 points have both among their neighbours."""
    rng = np.random.default_rng(4)
    y = np.arange(36) % 2
    X = rng.standard_normal((36, 3)) * [1.0, 2.0, 0.6]
    X[:, 0] += 2 * y
    return X, y, [nearest(X, i, K) for i in range(len(X))]


def judged(X: FloatArray, y: Any, metric: FloatArray, **params: Any) -> cvxml.core.report.Report:
    report = cvxml.check("mlsvm", X, y, metric, **{**GIVEN, **params})
    assert report.verdict is Verdict.REFUTED
    return report


def says(report: cvxml.core.report.Report, token: str) -> bool:
    return any(token in line for line in report.diagnosis)


MISTAKES: dict[str, dict[str, Any]] = {
    "lam": {"weight": 1.0},
    "sum": {"share": 1.0},
    "lam_sum": {"weight": 1.0, "share": 1.0},
    "lam_on_losses": {"lam": 1.0, "share": LAM / 36},
    "squared_hinge": {"power": 2},
    "no_cone": {"cone": False},
    "mean_target": {"far": cp.mean},
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_objective_is_named(name: str) -> None:
    X, y, lists = data()
    assert_named("mlsvm", name, X, y, mistaken(X, y, lists, **MISTAKES[name]), **GIVEN)


@pytest.mark.slow
def test_a_mean_over_the_usable_points_is_named() -> None:
    X, y, lists = data()
    usable = sum(len({y[j] == y[i] for j in listed}) == 2 for i, listed in enumerate(lists))
    assert 0 < usable < len(X)
    assert_named("mlsvm", "usable", X, y, mistaken(X, y, lists, share=1 / usable), **GIVEN)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "name",
    ["last_target", "first_impostor", "fixed_pairs", "each_pair", "all_impostors", "empty"],
)
def test_a_mistake_in_the_rows_is_named(name: str) -> None:
    X, y, lists = data()
    others = [[j for j in range(len(X)) if y[j] != y[i]] for i in range(len(X))]
    rows: dict[str, Callable[..., Any]] = {
        "last_target": lambda i, T, J: [(euclid(X, i, T)[-1:], J)],
        "first_impostor": lambda i, T, J: [(T, euclid(X, i, J)[:1])],
        "fixed_pairs": lambda i, T, J: [(euclid(X, i, T)[-1:], euclid(X, i, J)[:1])],
        "each_pair": lambda i, T, J: [([t], [j]) for t in T for j in J],
        "all_impostors": lambda i, T, J: [(T, others[i])],
        "empty": lambda i, T, J: [(T or [i], J)],
    }
    assert_named("mlsvm", name, X, y, mistaken(X, y, lists, rows=rows[name]), **GIVEN)


@pytest.mark.slow
def test_the_printed_argmin_is_named() -> None:
    """Where Algorithm 1 as printed stands still: the nearest target by A itself, chosen again until nothing changes."""
    X, y, lists = data()
    A, before = np.eye(3), np.zeros((3, 3))
    for _ in range(50):
        if np.linalg.norm(A - before) < 1e-9:
            break

        def nearest_by_A(i: int, T: list[int], J: list[int], A: FloatArray = A) -> Any:
            return [(sorted(T, key=lambda j: float((X[i] - X[j]) @ A @ (X[i] - X[j])))[:1], J)]

        before, A = A, mistaken(X, y, lists, rows=nearest_by_A)
    assert np.linalg.norm(A - before) < 1e-9
    assert_named("mlsvm", "argmin", X, y, A, **GIVEN)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("name", "lists"),
    [
        ("self", lambda X, i: nearest(X, i, K, itself=True)),
        ("fewer", lambda X, i: nearest(X, i, K - 1)),
        ("more", lambda X, i: nearest(X, i, K + 1)),
        ("second_neighbors", lambda X, i: nearest(X, i, K + 1)[1:]),
        ("furthest_neighbors", lambda X, i: nearest(X, i, len(X) - 1)[-K:]),
    ],
)
def test_a_mistake_in_the_lists_is_named(name: str, lists: Callable[[FloatArray, int], list[int]]) -> None:
    X, y, _ = data()
    assert_named("mlsvm", name, X, y, mistaken(X, y, [lists(X, i) for i in range(len(X))]), **GIVEN)


@pytest.mark.slow
def test_neighbours_counted_from_one_are_named() -> None:
    """Explicit lists, of which numpy reads the index before, that of the last point for 0."""
    X, y, lists = data()
    read = [[(j - 1) % len(X) for j in listed] for listed in lists]
    assert_named("mlsvm", "from_one", X, y, mistaken(X, y, read), **GIVEN, neighbors=lists)


@pytest.mark.slow
def test_two_classes_left_out_of_the_impostors_are_named() -> None:
    X, y, lists = data()
    y = np.where(X[:, 0] > 2.5, 2, y)
    kept = [[j for j in listed if {y[i], y[j]} != {1, 2}] for i, listed in enumerate(lists)]
    report = assert_named("mlsvm", "class_pair", X, y, mistaken(X, y, kept), **GIVEN)
    assert says(report, "1 and 2")


def test_what_is_left_where_off_diagonals_count_once_is_no_less_than_it_is() -> None:
    """At the optimum of cvxpy next to nothing; at other metrics at least what they cost more than it."""
    X, y = data()[0][:16, :2] @ [[1.0, 0.7], [0.0, 1.0]], np.arange(16) % 2
    lists = [nearest(X, i, K) for i in range(16)]

    def cost(A: FloatArray) -> tuple[float, float]:
        """The norm, and all of the cost."""
        D = np.einsum("ija,ab,ijb->ij", X[:, None] - X, A, X[:, None] - X)
        missed = 0.0
        for i, listed in enumerate(lists):
            near, far = ([D[i, j] for j in listed if (y[j] == y[i]) == own] for own in (True, False))
            missed += max(0.0, 1 + max(near) - min(far)) if near and far else 0.0
        norm = LAM / 2 * float(np.sum(np.triu(A) ** 2))
        return norm, norm + missed / 16

    best = mistaken(X, y, lists, norm=lambda A: cp.sum_squares(cp.upper_tri(A)) + cp.sum_squares(cp.diag(A)))

    def left(A: FloatArray) -> float:
        question = Question(X, y, A, 1e-6, {"lam": LAM, "n_neighbors": K})
        return misreadings.other_problem(question, "once")

    assert -1e-9 <= left(best) <= 1e-5
    for turn in ([[1.2, 0.0], [0.0, 1.2]], [[1.0, 0.1], [0.0, 1.0]], [[0.5, 0.0], [0.3, 0.7]]):
        A = np.array(turn) @ best @ np.array(turn).T
        norm, value = cost(A)
        assert left(A) * norm >= value - cost(best)[1] > 1e-4


@pytest.mark.slow
def test_off_diagonals_counted_once_are_named() -> None:
    X, y, lists = data()

    def upper(A: Any) -> Any:
        return cp.sum_squares(cp.upper_tri(A)) + cp.sum_squares(cp.diag(A))

    assert_named("mlsvm", "off_diagonals", X, y, mistaken(X, y, lists, norm=upper), **GIVEN)


@pytest.mark.slow
def test_the_other_kind_of_neighbourhood_is_named() -> None:
    X, y = real_data("wine", 45)
    X, y = X[:, [0, 6, 9]], np.unique(y, return_inverse=True)[1]
    printed = [nearest(X, i, K) for i in range(45)]
    per_class = []
    for i in range(45):
        ordered = nearest(X, i, 44)
        per_class.append([j for j in ordered if y[j] == y[i]][:K] + [j for j in ordered if y[j] != y[i]][:K])
    assert_named("mlsvm", "neighborhood", X, y, mistaken(X, y, per_class), **GIVEN)
    assert_named("mlsvm", "neighborhood", X, y, mistaken(X, y, printed), **GIVEN, neighborhood="per-class")


@pytest.mark.slow
def test_another_rule_for_ties_is_named() -> None:
    """On a grid most neighbourhoods end in a tie, and `check` refutes nobody for one; it says what was done."""
    X = np.array([[a, 3.0 * b] for a in range(6) for b in range(5)])
    y = (X[:, 0] + np.random.default_rng(1).normal(0, 0.7, 30) >= 2.5).astype(int)
    theirs = mistaken(X, y, [nearest(X, i, 4, last=True) for i in range(30)])
    report = cvxml.check("mlsvm", X, y, theirs, lam=LAM, n_neighbors=4)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "tie" in report.reasons[0]
    assert says(report, get("mlsvm").MISREADINGS["last_index"].sentence), report.diagnosis


@pytest.mark.slow
def test_features_scaled_first_are_named() -> None:
    X, y = real_data("wine", 40, standardized=False)
    X = X[:, [0, 2, 9]]
    Z = datasets.standardize(X)
    y = np.unique(y, return_inverse=True)[1]
    theirs = mistaken(Z, y, [nearest(Z, i, K) for i in range(40)])
    back = np.diag(1 / X.std(axis=0))
    for metric, mapped in ((theirs, False), (back @ theirs @ back, True)):
        scaled = [line for line in judged(X, y, metric).diagnosis if "z-scored" in line]
        assert ["mapped back" in line for line in scaled] == [mapped]


@pytest.mark.slow
def test_slips_with_transforms_are_named() -> None:
    X, y, _ = data()
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-10).metric
    values, vectors = np.linalg.eigh(best)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]  # else L L^T holds one number
    L = turn @ (vectors * np.sqrt(np.maximum(values, 0))).T  # L^T L = best
    given = {"lam": LAM, "n_neighbors": K}
    assert cvxml.check("mlsvm", X, y, components=L, **given).verdict is Verdict.CERTIFIED
    turned = cvxml.check("mlsvm", X, y, components=L.T, **given)
    assert says(turned, "components L^T")
    assert says(judged(X, y, L), "L^T L")
    assert says(judged(X, y, L.T), "L L^T")
    assert says(judged(X, y, best @ best), "M^T M")
    given_M = cvxml.check("mlsvm", X, y, components=best, **given)
    assert says(given_M, "as components")
    assert not says(given_M, "L^T")


@pytest.mark.slow
def test_a_transposed_factor_and_an_inverse_are_named() -> None:
    """The optimum has full rank here: two features, both of which matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = (np.hypot(*X.T) > 1).astype(int)
    best = cvxml.solve("mlsvm", X, y, lam=0.01, n_neighbors=K, tol=1e-10).metric
    assert np.linalg.eigvalsh(best)[0] > 1e-3 * np.trace(best)
    L = np.linalg.cholesky(best)
    report = judged(X, y, L.T @ L, lam=0.01)
    assert says(report, "Cholesky"), report.diagnosis
    report = judged(X, y, np.linalg.inv(best), lam=0.01)
    assert says(report, "M^-1")


@pytest.mark.slow
def test_a_misreading_met_less_accurately_than_asked_is_named_with_the_figure() -> None:
    X, y, lists = data()
    theirs = mistaken(X, y, lists, weight=1.0)
    rough = theirs + 2e-6 * np.linalg.norm(theirs) * np.eye(3)
    report = judged(X, y, rough)
    sentence = get("mlsvm").MISREADINGS["lam"].sentence
    (said,) = [line for line in report.diagnosis if sentence in line]
    share = float(re.findall(r"\d[\d.e-]*", said)[-1])  # the relative gap
    assert 1e-6 < share < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [{"kernel": "poly", "degree": 2}, {"kernel": "rbf", "gamma": 0.3}])
def test_the_mistakes_are_named_through_a_kernel(kernel: dict[str, Any]) -> None:
    X, y, _ = data()
    X, y = X[:18], y[:18]
    given = {"lam": LAM, "n_neighbors": K, **kernel}
    others = cvxml.solve("kernel_mlsvm", X, y, **{**given, "lam": 2 * LAM}, tol=1e-9).metric
    assert_named("kernel_mlsvm", "lam", X, y, others, **given)
    if kernel["kernel"] == "rbf":
        wide = cvxml.solve("kernel_mlsvm", X, y, **{**given, "gamma": 1 / (2 * 0.3**2)}, tol=1e-9).metric
        assert_named("kernel_mlsvm", "bandwidth", X, y, wide, **given)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_wrong_metrics_of_any_kind_get_no_diagnosis(seed: int) -> None:
    """Fifty a seed, two hundred in all: of any size, rank and distance from the optimum."""
    X, y, _ = data()
    rng = np.random.default_rng(seed)
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K).metric
    norm = np.linalg.norm(best)
    for k in range(50):
        noise = rng.standard_normal((3, 3))
        wrong = noise @ np.diag(np.arange(3) <= k % 3) @ noise.T
        wrong *= norm * 10 ** rng.uniform(-1.5, 1) / np.linalg.norm(wrong)
        if k % 2:
            wrong += best
        report = judged(X, y, wrong)
        assert report.diagnosis == (), wrong


@pytest.mark.slow
def test_neighbours_of_the_input_space_are_named_for_a_kernel() -> None:
    X, y, _ = data()
    X, y = X[:18], y[:18]
    given = {"lam": LAM, "n_neighbors": K, "kernel": "poly", "degree": 2}
    lists = [nearest(X, i, K) for i in range(18)]
    theirs = cvxml.solve("kernel_mlsvm", X, y, **given, neighbors=lists, tol=1e-9).metric
    assert_named("kernel_mlsvm", "input_space", X, y, theirs, **given)


@pytest.mark.slow
@pytest.mark.parametrize(("by", "name"), [(-1, "fewer"), (1, "more")])
def test_another_number_of_neighbours_is_named_for_a_kernel(by: int, name: str) -> None:
    X, y, _ = data()
    X, y = X[:18], y[:18]
    given = {"lam": LAM, "kernel": "poly", "degree": 2}
    theirs = cvxml.solve("kernel_mlsvm", X, y, **given, n_neighbors=K + by, tol=1e-7).metric
    assert_named("kernel_mlsvm", name, X, y, theirs, **given, n_neighbors=K)


@pytest.mark.slow
def test_a_misreading_with_too_many_pairs_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, lists = data()
    others = [[j for j in range(len(X)) if y[j] != y[i]] for i in range(len(X))]
    theirs = mistaken(X, y, lists, rows=lambda i, T, J: [(T, others[i])])
    assert_named("mlsvm", "all_impostors", X, y, theirs, **GIVEN)
    monkeypatch.setattr(misreadings, "MOST_PAIRS", 500)
    assert judged(X, y, theirs).diagnosis == ()


@pytest.mark.slow
def test_a_metric_near_the_optimum_is_refuted_and_its_looser_tolerance_told() -> None:
    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    A = (1 + 3e-4) * cvxml.solve("mlsvm", X, y).metric
    told = [note for note in cvxml.check("mlsvm", X, y, A).notes if "tolerance" in note]
    assert len(told) == 1
    assert "loose (0.001)" in told[0]
    assert cvxml.check("mlsvm", X, y, A, tol="loose").verdict is Verdict.CERTIFIED
    for wrong in (1.01 * A, -np.eye(13)):
        report = cvxml.check("mlsvm", X, y, wrong)
        assert cvxml.check("mlsvm", X, y, wrong, tol="loose").verdict is not Verdict.CERTIFIED
        assert not any("tolerance" in note for note in report.notes)


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", ["mlsvm", "ssvm"])
def test_that_no_misreading_was_found_is_said_where_it_was_looked_for(method: str) -> None:
    X, y = real_data("iris", 40)
    L = np.random.default_rng(0).standard_normal((4, 4))
    report = cvxml.check(method, X, y, L @ L.T)
    count = len(get(method).MISREADINGS)
    assert report.verdict is Verdict.REFUTED
    assert not report.diagnosis
    assert any("misreading" in note and f" {count} " in note for note in report.notes)
    silent = cvxml.check(method, X, y, L @ L.T, diagnosed=False)
    assert not any("misreading" in note for note in silent.notes)
    named = cvxml.check("mlsvm", X, y, cvxml.solve("mlsvm", X, y, lam=0.2).metric, lam=0.1)
    assert named.diagnosis
    assert not any("misreading" in note for note in named.notes)
