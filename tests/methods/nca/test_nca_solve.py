"""NCA solved: starts, stops, statuses, soft labels, errors, and the estimator."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

import cvxml
from cvxml.core.report import Report, Verdict
from cvxml.core.result import Status
from cvxml.methods.nca import definitions
from cvxml.methods.nca.descent import Descent, Pairs
from cvxml.methods.nca.instance import by_known_class, by_target, instance
from cvxml.methods.nca.solver import Solver
from tests.instances import random_data, real_data, soft_labels

X, Y = random_data(0, n=60, d=3)
POOR = random_data(7, n=14, d=3, classes=2)  # f has a finite optimum here


@pytest.mark.quick(1)
@pytest.mark.parametrize(("criterion", "m"), [("f", 1), ("f", 3), ("g", 1), ("g", 2), ("g", 3)])
def test_a_stationary_metric_of_each_rank(criterion: str, m: int) -> None:
    points, y = POOR if criterion == "f" else (X, Y)
    init = np.eye(3)[3 - m :] if criterion == "f" else "pca"
    solution = cvxml.solve("nca", points, y, criterion=criterion, n_components=m, init=init, tol=1e-9)
    assert solution.status is Status.STATIONARY
    found, A = solution.certificate.stationarity, solution.components
    assert found is not None
    assert found.relative <= 1e-6
    assert abs(found.scale_derivative) <= 1e-6 * found.of
    assert (solution.certificate.step is not None) == (m == 3)
    assert A is not None
    assert A.shape == (m, 3)
    np.testing.assert_allclose(A.T @ A, solution.metric, atol=1e-12 * 1e3)
    value = definitions.f if criterion == "f" else definitions.g
    s = (y[:, None] == y) * (1.0 - np.eye(len(y)))
    for seed in range(10):  # no step from there is downhill, to first order
        step = 1e-4 * np.random.default_rng(seed).standard_normal(A.shape)
        assert -value(points, s, (A + step).T @ (A + step)) - solution.objective >= -1e-9


@pytest.mark.slow
def test_a_larger_rank_is_better_where_the_residual_says_so() -> None:
    data = random_data(3, n=60, d=3)
    low = cvxml.solve("nca", *data, criterion="g", n_components=1)
    assert cvxml.solve("nca", *data, criterion="g", warm_start=low).objective < low.objective - 1
    report = cvxml.check("nca", *data, low.metric, criterion="g", diagnosed=False)  # of any rank
    assert report.verdict is Verdict.REFUTED
    assert report.stationarity is not None
    assert report.stationarity.dc_residual > 1
    assert report.stationarity.gradient < 1e-3
    two = cvxml.certify("nca", *data, low.metric, {}, criterion="g", n_components=2)
    assert two.step is None
    assert not two.proves(1e-2)  # stationary in A, with a row of A to spare
    # here no other direction is better, and the metric of rank 1 is stationary among all
    low = cvxml.solve("nca", X, Y, criterion="g", n_components=1)
    assert cvxml.check("nca", X, Y, low.metric, criterion="g").verdict is Verdict.CERTIFIED


def test_zero_is_left_by_check_and_refused_as_a_start() -> None:
    report = cvxml.check("nca", X, Y, np.zeros((3, 3)), criterion="g", diagnosed=False)
    assert report.verdict is Verdict.REFUTED
    assert report.stationarity is not None
    assert report.stationarity.gradient == 0
    start = cvxml.solve("nca", X, Y, criterion="g")
    start.metric[:] = 0
    for options in ({"init": np.zeros((3, 3))}, {"warm_start": start}):
        with pytest.raises(ValueError, match="A = 0"):
            cvxml.solve("nca", X, Y, **options)


def test_on_rings_zero_is_a_local_optimum_and_a_start_finds_a_better() -> None:
    points, y = real_data("rings", 18, standardized=False)
    zero = cvxml.check("nca", points, y, np.zeros((2, 2)), criterion="g")
    assert zero.verdict is Verdict.CERTIFIED
    better = cvxml.check("nca", points, y, np.zeros((2, 2)), criterion="g", claim="optimal", diagnosed=False)
    assert better.verdict is Verdict.REFUTED
    assert better.witness is not None
    assert better.witness.metric.any()


@pytest.mark.parametrize(
    "init", ["auto", "pca", "identity", "random", "likelihood", 0.3 * np.eye(3), -np.eye(3)], ids=str
)
def test_every_start_ends_somewhere_certified(init: Any) -> None:
    solution = cvxml.solve("nca", X, Y, criterion="g", init=init)
    assert solution.status is Status.STATIONARY


def test_a_start_of_no_scale_is_given_one() -> None:
    """At 1024 times the units every p_ij is 0 or 1, and f flat; a power of 2 changes nothing else."""
    for params in ({"init": "identity"}, {"init": "random", "n_components": 2}):
        with pytest.warns(ConvergenceWarning):
            plain, large = (cvxml.solve("nca", t * X, Y, **params) for t in (1.0, 1024.0))
        assert large.objective == pytest.approx(plain.objective, abs=1e-9)
        A = np.eye(3) if params["init"] == "identity" else np.random.default_rng(0).standard_normal((2, 3))
        unscaled = cvxml.evaluate("nca", 1024 * X, Y, A.T @ A)
        assert np.abs(unscaled.gradient_f).max() < 1e-9
        assert plain.objective < -unscaled.f - 1


def test_the_scale_of_a_start_is_the_best_of_its_powers_of_two() -> None:
    p = instance(X, Y, criterion="g")
    solver = Solver(p)
    A = solver.scaled(solver.to_coordinates(50 * np.eye(3)))
    values = [solver.pairs.value_and_gradient(t * A)[0] for t in (0.5, 1.0, 2.0)]
    assert values[1] == min(values)


def test_the_best_of_several_starts_is_kept_and_told() -> None:
    starts = ["random", "pca", "identity"]
    each = [cvxml.solve("nca", X, Y, criterion="g", init=one, n_components=1).objective for one in starts[:2]]
    both = cvxml.solve("nca", X, Y, criterion="g", init=starts[:2], n_components=1)
    assert both.objective == pytest.approx(min(each), rel=1e-12)
    assert "-g by start: random " in both.notes[1]


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("m", [1, 2])
def test_a_note_tells_where_a_better_metric_may_exist(criterion: str, m: int) -> None:
    """With two points in each class, g has a proved global optimum, unless the rank is limited."""
    points = np.random.default_rng(0).standard_normal((12, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some optima are at infinity
        solution = cvxml.solve("nca", points, np.arange(12) // 2, criterion=criterion, n_components=m)
    assert bool(solution.notes) == (solution.certificate.kind != "global")
    assert (solution.certificate.kind == "global") == (criterion == "g" and m == 2)


def test_lda_is_a_start_where_there_are_classes_enough() -> None:
    assert cvxml.solve("nca", X, Y, criterion="g", n_components=2, init="lda").status is Status.STATIONARY
    with pytest.raises(ValueError, match="'lda'"):  # three classes have two directions
        cvxml.solve("nca", X, Y, n_components=3, init="lda")
    with pytest.raises(ValueError, match="similarity"):
        cvxml.solve("nca", X, None, similarity=soft_labels(0, 60), init="lda")
    with pytest.raises(ValueError, match="'pca' has 3"):
        cvxml.solve("nca", np.eye(3, 4), None, similarity=[[0, 1, 0], [1, 0, 0], [0, 1, 0]], init="pca")


@pytest.mark.quick(1)
@pytest.mark.parametrize(("criterion", "bound"), [("f", -60.0), ("g", 0.0)])
def test_separable_data_have_no_best_metric(criterion: str, bound: float) -> None:
    points, given = X + 30 * np.outer(Y, [1, 0, 0]), {"criterion": criterion, "diagnosed": False}
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("nca", points, Y, criterion=criterion)
    assert solution.status is Status.NOT_ATTAINED
    assert solution.lower_bound == bound
    assert bound <= solution.objective <= bound + 60e-6
    assert not solution.certificate.proves(1e-3)

    def above(log_t: float) -> float:
        metric = np.exp(log_t) * solution.metric
        return cvxml.evaluate("nca", points, Y, metric, criterion=criterion).objective - bound

    # all but at the bound: a multiple of itself is the witness
    near = np.exp(brentq(lambda log_t: above(log_t) - 5e-7, np.log(1e-5), np.log(10), xtol=1e-4))
    assert 1e-7 < above(np.log(near)) < 1e-6
    report = cvxml.check("nca", points, Y, near * solution.metric, **given)
    assert report.verdict is Verdict.REFUTED
    assert report.witness is not None
    assert report.witness.better_by > 0.5 * above(np.log(near))
    # at the bound but for rounding: not decided
    report = cvxml.check("nca", points, Y, 100 * solution.metric, **given)
    assert report.verdict is Verdict.INCONCLUSIVE


def test_what_is_flat_far_out_is_not_stationary() -> None:
    """Its gradient is next to nothing beside f, and not beside what larger multiples still win."""
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("nca", X, Y, n_components=2, init=3 * np.eye(2, 3), tol=1e-4)
    assert solution.status is Status.AT_INFINITY
    values = [cvxml.evaluate("nca", X, Y, t * solution.metric).f for t in (0.5, 1.0, 4.0)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(round(values[-1]), abs=1e-9)  # every p_i is 0 or 1 there
    found = solution.certificate.stationarity
    assert found is not None
    assert found.gradient <= 1e-4 * (solution.objective - solution.lower_bound)
    assert found.relative > 1
    assert not solution.certificate.proves(1e-3)
    report = cvxml.check("nca", X, Y, solution.metric, n_components=2, tol="loose", diagnosed=False)
    assert report.verdict is not Verdict.CERTIFIED


def test_collapsible_classes_have_no_best_metric() -> None:
    points, y = random_data(0, n=10, d=25)
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("nca", points, y, criterion="g")
    assert solution.status is Status.NOT_ATTAINED


def test_a_run_out_of_iterations_is_not_said_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Solver, "tends_to_infinity", lambda self, A: True)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        cvxml.solve("nca", X, Y, max_iter=2)


@pytest.mark.slow
def test_single_precision_comes_first_and_never_last() -> None:
    points, y = random_data(0, n=620, d=3)
    p = instance(points, y, criterion="g")
    pairs, A = Pairs(p), np.eye(2, 3)
    descent = Descent(pairs, A, lambda point: True)
    assert descent.at.value != pairs.value_and_gradient(A)[0]
    assert descent.run(5)
    assert descent.at.value == pairs.value_and_gradient(descent.at.A)[0]
    solution = cvxml.solve("nca", points, y, criterion="g", n_components=2, tol=1e-9)
    assert solution.status is Status.STATIONARY
    phases = [step.phase for step in solution.history]
    assert phases[0] == "auto: rough"
    assert phases[-1] in ("auto: L-BFGS", "auto: newton")


# ---------------------------------------------------------------- what would be a false proof


@pytest.mark.slow
def test_a_direction_of_little_spread_is_not_forgotten() -> None:
    """The difference of two features tells the pairs apart: nothing may be called optimal that does not look at it."""
    rng = np.random.default_rng(0)
    y, x = np.arange(20) // 2, rng.standard_normal(20)
    for size in (1e-3, 1e-9, 3e-11):
        points = np.column_stack([x, x + size * (y + 0.01 * rng.standard_normal(20))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = cvxml.solve("nca", points, y, criterion="g")
        assert solution.status is not Status.CONVERGED
        assert solution.lower_bound <= 1e-9  # the supremum of g is 0, at infinity
        report = cvxml.check("nca", points, y, np.eye(2), criterion="g", claim="optimal", diagnosed=False)
        assert report.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-8])
def test_digits_lost_in_a_small_spread_are_allowed_for(size: float) -> None:
    """The difference of two nearly equal features, looked at closely: against extended precision."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(30), rng.integers(0, 2, 30)
    points = np.column_stack([x, x + size * rng.standard_normal(30)])
    difference = (points[:, 1] - points[:, 0]).astype(np.longdouble)
    D = ((difference[:, None] - difference) / np.longdouble(size)) ** 2
    np.fill_diagonal(D, np.inf)
    P = np.exp(-(D - D.min(axis=1, keepdims=True)))
    p = (P * (y[:, None] == y)).sum(axis=1) / P.sum(axis=1)
    metric = np.array([[1.0, -1.0], [-1.0, 1.0]]) / size**2
    proof = cvxml.certify("nca", points, y, metric, {"R": metric, "interior": metric}, criterion="g")
    assert abs(proof.objective + float(np.log(p).sum())) <= proof.rounding
    assert proof.rounding >= 1e-16 / size


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", [0.0, 1e-16, 1e-6])
def test_a_tiny_metric_of_limited_rank_is_no_end(size: float) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3))
    y = (points[:, 0] + rng.standard_normal(40) > 0).astype(int)
    report = cvxml.check(
        "nca", points, y, np.diag([0, size, 0]), n_components=1, criterion="g", diagnosed=False
    )
    assert report.verdict is Verdict.REFUTED
    if size > 0:
        start = [[0, np.sqrt(size), 0]]
        solution = cvxml.solve("nca", points, y, criterion="g", n_components=1, init=start)
        assert solution.objective < 0.5 * 27.505  # that of the start


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_check_certifies_no_more_than_the_certificate(seed: int) -> None:
    """On the way to a plateau another metric is far better, and far less certain: it lends the candidate nothing."""
    rng = np.random.default_rng(seed)
    points, y = rng.integers(0, 5, (40, 3)).astype(float), rng.integers(0, 2, 40)
    for size in (3.5, 4.0, 4.25, 4.5):
        metric = np.diag([0.0, size**2, 0.0])
        report = cvxml.check("nca", points, y, metric, n_components=1, diagnosed=False)
        if report.verdict is Verdict.CERTIFIED:
            assert cvxml.certify("nca", points, y, metric, {}, n_components=1).proves(1e-6)
        assert report.objective is not None
        if report.objective > report.reference_objective + 1e-2:
            assert report.verdict is Verdict.REFUTED


@pytest.mark.quick(1)
@pytest.mark.parametrize("scale", [0.5, 0.7, 1.0, 2.0])
def test_a_plateau_is_not_stationary_whichever_way_it_leans(scale: float) -> None:
    """On a grid f along a ray falls towards its limit, from above it: flat, and nowhere an optimum."""
    rng = np.random.default_rng(0)
    points, y = rng.integers(0, 5, (40, 3)).astype(float), rng.integers(0, 2, 40)
    metric = np.diag([0.0, (6.3 * scale) ** 2, 0.0])
    report = cvxml.check("nca", points, y, metric, n_components=1, diagnosed=False)
    assert report.verdict is not Verdict.CERTIFIED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve("nca", points, y, n_components=1, init=[[0, 6.3 * scale, 0]])
    assert (
        solution.status is not Status.STATIONARY or solution.objective < -20.802
    )  # left for somewhere better


def test_one_heavy_row_does_not_stand_for_all() -> None:
    rng = np.random.default_rng(0)
    points, y = rng.standard_normal((30, 2)), rng.integers(0, 2, 30)
    s = (y[:, None] == y) * (1.0 - np.eye(30))
    s[0] = 1e14
    s[0, 0] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cvxml.solve("nca", points, None, similarity=s).status is not Status.NOT_ATTAINED


def test_a_rank_is_judged_in_units_of_the_points() -> None:
    points, y = random_data(0, n=40, d=2)
    points = points * np.array([1e-5, 1.0])
    best = cvxml.solve("nca", points, y, criterion="g", n_components=1, init=[[1e5, 0.0]])
    second = np.diag(
        [0.0, 1e-7 * np.linalg.norm(best.metric)]
    )  # little beside 1e10, and much for these points
    report = cvxml.check(
        "nca", points, y, best.metric + second, criterion="g", n_components=1, diagnosed=False
    )
    assert report.verdict is Verdict.REFUTED
    assert "rank" in report.reasons[0]
    with pytest.raises(ValueError, match="rank"):
        cvxml.evaluate("nca", points, y, best.metric + second, criterion="g", n_components=1)


@pytest.mark.parametrize("size", [1e-290, 1e-170, 1e170, 1e290])
def test_units_that_no_metric_can_be_written_in(size: float) -> None:
    for place in ("solve", "check"):
        given = (np.eye(3),) if place == "check" else ()
        with pytest.raises(ValueError, match="rescale X"):
            getattr(cvxml, place)("nca", size * X, Y, *given, criterion="g")


# ---------------------------------------------------------------- who is right for whom


def test_class_indicators_are_the_classes() -> None:
    s = (Y[:, None] == Y) * (1.0 - np.eye(60))
    classes = cvxml.solve("nca", X, Y, criterion="g", init="pca", n_components=2)
    soft = cvxml.solve("nca", X, None, criterion="g", similarity=s, init="pca", n_components=2)
    assert soft.objective == pytest.approx(classes.objective, rel=1e-9)
    np.testing.assert_allclose(soft.metric, classes.metric, rtol=1e-4)


def test_a_factor_of_a_row_changes_g_by_a_constant_and_f_by_a_weight() -> None:
    s, Q = soft_labels(1, 60), np.diag([1.0, 0.5, 0.1])
    one = cvxml.evaluate("nca", X, None, Q, similarity=s)
    ten = cvxml.evaluate("nca", X, None, Q, similarity=10 * s)
    assert ten.g == pytest.approx(one.g + 60 * np.log(10))
    assert ten.f == pytest.approx(10 * one.f)


def test_regression_brings_near_targets_together() -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((80, 4))
    target = points[:, 0] + 0.5 * rng.standard_normal(80)
    s = by_target(target, 0.2)
    assert s[0, 1] == pytest.approx(np.exp(-(((target[0] - target[1]) / 0.2) ** 2) / 2))
    solution = cvxml.solve("nca", points, None, similarity=s, criterion="g", n_components=1)
    assert solution.status is Status.STATIONARY
    direction = solution.components[0] / np.linalg.norm(solution.components[0])  # type: ignore[index]
    assert direction[0] > 0.95


def test_points_without_a_label_choose_nobody_and_can_be_chosen() -> None:
    labels = np.where(np.arange(60) % 4 == 0, -1, Y)
    s = by_known_class(labels)
    assert not s[labels == -1].any()
    assert not s[:, labels == -1].any()
    with pytest.warns(UserWarning, match="15 rows of similarity"):
        solution = cvxml.solve("nca", X, None, similarity=s, criterion="g")
    assert solution.status is Status.STATIONARY
    at = cvxml.evaluate("nca", X, None, solution.metric, similarity=s)
    assert (at.p_ij[labels != -1][:, labels == -1] > 0).any()


def test_singletons_are_named_and_left_out() -> None:
    y = np.r_[Y[:-2], [8, 9]]
    with pytest.warns(UserWarning, match=r"\('8', '9'\)"):
        solution = cvxml.solve("nca", X, y, criterion="g")
    assert solution.status is Status.STATIONARY
    at = cvxml.evaluate("nca", X, y, solution.metric, criterion="g")
    assert at.p_i[-1] == 0
    assert at.g == pytest.approx(float(np.log(at.p_i[:-2]).sum()))
    report = cvxml.check("nca", X, y, solution.metric, criterion="g")
    assert any("('8', '9')" in line for line in report.notes)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"init": 1e200 * np.eye(3)}, "init"), ({"solver": "scs", "n_components": 1}, "n_components")],
)
def test_what_solve_does_not_take(options: dict[str, Any], named: str) -> None:
    """A start that overflows, and the convex step with a limit of the rank."""
    with pytest.raises(ValueError, match=named):
        cvxml.solve("nca", X, Y, **options)


def test_classes_of_single_points_no_labels_and_widths_of_0_are_errors() -> None:
    with pytest.raises(ValueError, match="single point"):
        cvxml.solve("nca", X, np.arange(60))
    with pytest.raises(ValueError, match="y is None"):
        cvxml.evaluate("nca", X, None, np.eye(3))
    for targets, width, named in (([0.0, 1.0], 0.0, "width"), ([[0.0], [1.0]], 1.0, "one finite number")):
        with pytest.raises(ValueError, match=named):
            by_target(targets, width)
    with pytest.raises(ValueError, match="one-dimensional"):
        by_known_class([[0], [1]])


# ---------------------------------------------------------------- scikit-learn


@pytest.mark.slow
def test_check_judges_what_scikit_learn_returns() -> None:
    """On iris its f stops short of a supremum at infinity; elsewhere, what it calls converged need not be."""

    def judged(data: Any, theirs: Any, **params: Any) -> Report:
        return cvxml.check("nca", *data, components=theirs.components_, diagnosed=False, **params)

    iris = load_iris(return_X_y=True)
    theirs = NeighborhoodComponentsAnalysis(n_components=2, random_state=0).fit(*iris)
    assert judged(iris, theirs, n_components=2).verdict is Verdict.REFUTED
    theirs = NeighborhoodComponentsAnalysis(init=0.5 * np.eye(3), tol=1e-12, max_iter=500).fit(*POOR)
    report = judged(POOR, theirs, tol="loose")
    assert report.verdict is Verdict.REFUTED  # by no more than what its multiples still win
    assert report.witness is not None
    assert report.rounding < report.witness.better_by < 1e-9
    theirs = NeighborhoodComponentsAnalysis(1, init=0.5 * np.eye(1, 3), tol=1e-6, max_iter=500).fit(*POOR)
    report = judged(POOR, theirs, n_components=1, tol="loose")
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.stationarity is not None
    assert report.stationarity.relative > 1e-2  # a hundredth of the objective for a relative change of A


def test_points_that_are_the_same_in_both_classes_warn_of_nothing() -> None:
    """Newton's equations have a direction without curvature there."""
    half = np.random.default_rng(0).normal(size=(6, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = cvxml.solve("nca", np.concatenate([half, half]), np.repeat([0, 1], 6))
    assert solution.status is Status.STATIONARY


def test_the_estimator_has_rows_along_principal_axes() -> None:
    model = cvxml.NCA(2, criterion="g").fit(X, Y)
    lengths = np.linalg.norm(model.components_, axis=1)
    assert lengths[0] > lengths[1]
    assert abs(model.components_[0] @ model.components_[1]) <= 1e-10
    plain = KNeighborsClassifier(3).fit(X, Y).score(X, Y)
    assert KNeighborsClassifier(3).fit(model.transform(X), Y).score(model.transform(X), Y) >= plain - 0.2


def test_the_estimator_takes_a_similarity() -> None:
    s = by_target(X[:, 0] + 0.5 * np.random.default_rng(0).standard_normal(60), 0.3)
    model = cvxml.NCA(1, criterion="g").fit(X, similarity=s)
    assert abs(model.components_[0, 0]) > 0.9 * np.linalg.norm(model.components_)
    assert not hasattr(model, "classes_")
    with pytest.raises(ValueError, match=r"shape \(60, 60\)"):
        model.fit(X, similarity=s[:5])


def test_the_picture() -> None:
    mpl.use("Agg")
    model = cvxml.NCA(2, criterion="g").fit(X, Y)
    axes = model.plot(X, Y)
    drawn = np.vstack([np.asarray(c.get_offsets()) for c in axes.collections])
    assert {tuple(row) for row in drawn.round(9)} == {tuple(row) for row in model.transform(X).round(9)}
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["0", "1", "2"]
    assert model.plot(X).get_legend() is None
    with pytest.raises(ValueError, match="two components"):
        cvxml.NCA(1, criterion="g").fit(X, Y).plot(X, Y)
    with pytest.raises(ValueError, match="60 points but y has 5 labels"):
        model.plot(X, Y[:5])
