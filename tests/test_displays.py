"""The displays draw what they say: every artist is held against the definition or against what the package lists."""

from __future__ import annotations

import builtins
import inspect
import itertools
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import cvxml
from cvxml import datasets, displays
from cvxml.displays import _geometry as geometry
from cvxml.displays._grid import length_for
from cvxml.displays.spectrum import kinds_of
from cvxml.methods.glml.closed import Case
from cvxml.result import Status, Step
from tests.instances import random_data

mpl.use("Agg")
import matplotlib.pyplot as plt

X, y = random_data(3, n=30, d=4, classes=3)
X = X + 2 * np.eye(4)[y]  # something to learn
PLANE = X[:, :2]
M2 = np.array([[3.0, 1.0], [1.0, 0.5]])


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No picture outlives its test."""
    yield
    plt.close("all")


def a_metric(seed: int, d: int, rank: int | None = None) -> np.ndarray:
    L = np.random.default_rng(seed).standard_normal((rank or d, d))
    return L.T @ L


def naive(M: np.ndarray, x: np.ndarray, c: np.ndarray) -> float:
    return sum(M[a, b] * (x[a] - c[a]) * (x[b] - c[b]) for a in range(len(M)) for b in range(len(M)))


def data_of(line: Any) -> np.ndarray:
    return np.column_stack(line.get_data())


def area(polygon: np.ndarray) -> float:
    a, b = polygon.T
    return abs(float(a[:-1] @ b[1:] - a[1:] @ b[:-1])) / 2


def texts(legend: Any) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def fitted(estimator: Any, points: np.ndarray = X, labels: np.ndarray = y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a tolerance is not met is no matter here
        return estimator.fit(points, labels)


def solved(method: str, points: np.ndarray = X, labels: np.ndarray = y, **params: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(method, points, labels, **params)


# ---- the ball of a metric


@pytest.mark.parametrize("M", [M2, M2[::-1, ::-1], M2 * [[1, -1], [-1, 1]], np.diag([1.0, 4.0]), np.eye(2)])
def test_each_point_of_the_ball_is_at_distance_r_and_the_circle_is_as_large(M: np.ndarray) -> None:
    display = displays.MetricEllipseDisplay.from_metric(M, PLANE, y, radius=1.3)
    assert len(display.balls_) == len(display.circles_) == 3
    for c, ball, circle in zip(np.unique(y), display.balls_, display.circles_, strict=True):
        centre = PLANE[y == c].mean(axis=0)
        for x in data_of(ball):
            assert naive(M, x, centre) == pytest.approx(1.3**2)
        from_centre = np.linalg.norm(data_of(circle) - centre, axis=1)
        assert np.ptp(from_centre) < 1e-12
        assert area(data_of(ball)) == pytest.approx(area(data_of(circle)))
        assert area(data_of(ball)) == pytest.approx(np.pi * 1.3**2 / np.sqrt(np.linalg.det(M)), rel=1e-3)


def test_the_ball_is_that_of_the_estimator() -> None:
    estimator = fitted(cvxml.ITML())
    display = displays.MetricEllipseDisplay.from_estimator(estimator, X, y, features=(3, 1))
    M = estimator.get_mahalanobis_matrix()
    wanted = np.array([[M[3, 3], M[3, 1]], [M[1, 3], M[1, 1]]])
    np.testing.assert_allclose(display.metric, wanted, atol=1e-12)
    np.testing.assert_array_equal(display.X, X[:, [3, 1]])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 3", "feature 1")
    assert "cut" in display.ax_.get_title(loc="left")


def test_another_package_s_estimator_will_do_with_components() -> None:
    other = NeighborhoodComponentsAnalysis(n_components=2, max_iter=5, random_state=0).fit(PLANE, y)
    display = displays.MetricEllipseDisplay.from_estimator(other, PLANE, y)
    np.testing.assert_allclose(display.metric, other.components_.T @ other.components_)


def test_by_default_the_circle_is_one_standard_deviation_within_classes() -> None:
    display = displays.MetricEllipseDisplay.from_metric(M2, PLANE, y)
    squares = [np.sum((x - PLANE[y == c].mean(axis=0)) ** 2) for x, c in zip(PLANE, y, strict=True)]
    deviation = np.sqrt(np.sum(squares) / (2 * len(PLANE)))
    assert np.ptp(data_of(display.circles_[0])[:, 0]) == pytest.approx(2 * deviation, rel=1e-3)


def test_a_slice_is_the_ball_where_the_other_features_are_the_centre_s() -> None:
    M = a_metric(0, 5)
    plane = geometry.in_plane(M, (4, 1))
    for z in geometry.outline(plane, np.zeros(2), 2.0, count=9):
        x = np.zeros(5)
        x[[4, 1]] = z
        assert x @ M @ x == pytest.approx(4.0)


@pytest.mark.parametrize("rank", [5, 4, 3])
def test_a_projection_is_the_shadow_of_the_ball(rank: int) -> None:
    """No choice of the other features is nearer than it says, and one is as near; of full rank: by the inverse."""
    M = a_metric(rank, 5, rank)
    plane = geometry.in_plane(M, (0, 2), "projection")
    rng = np.random.default_rng(1)
    for z in rng.standard_normal((20, 2)):
        least = z @ plane @ z
        x = rng.standard_normal((200, 5)) * 3
        x[:, [0, 2]] = z
        assert (np.einsum("ia,ab,ib->i", x, M, x) >= least - 1e-9).all()
        best = np.zeros(5)
        best[[0, 2]] = z
        best[[1, 3, 4]] = -np.linalg.pinv(M[np.ix_([1, 3, 4], [1, 3, 4])]) @ M[np.ix_([1, 3, 4], [0, 2])] @ z
        assert best @ M @ best == pytest.approx(least, abs=1e-9)
    if rank == 5:
        block = np.linalg.inv(M)[np.ix_([0, 2], [0, 2])]
        np.testing.assert_allclose(plane, np.linalg.inv(block), rtol=1e-9)


def test_a_projection_does_not_depend_on_the_units_of_the_features_left_out() -> None:
    M, units = a_metric(2, 4), np.array([1.0, 1.0, 1e7, 1e-6])
    np.testing.assert_allclose(
        geometry.in_plane(M, (0, 1), "projection"),
        geometry.in_plane(M * np.outer(units, units), (0, 1), "projection"),
        rtol=1e-5,
    )


def test_a_singular_metric_has_a_strip_for_a_ball() -> None:
    u = np.array([1.0, 2.0])
    display = displays.MetricEllipseDisplay.from_metric(
        np.outer(u, u), PLANE, y, centers=[[0.5, -1]], radius=0.7
    )
    assert display.shape == "strip"
    assert display.circles_ == []
    assert "singular" in display.ax_.get_title(loc="left")
    sides = []
    for line in display.balls_:
        for point in (line.get_xy1(), line.get_xy2()):
            assert naive(display.metric, np.array(point), np.array([0.5, -1])) == pytest.approx(0.49)
        sides.append(np.sign(u @ (np.array(line.get_xy1()) - [0.5, -1])))
    assert sorted(sides) == [-1, 1]


def test_where_the_metric_is_zero_there_is_no_ball() -> None:
    M = np.diag([0.0, 0.0, 1.0, 2.0])
    display = displays.MetricEllipseDisplay.from_metric(M, X, y)
    assert display.balls_ == display.circles_ == []
    assert "M is 0" in display.ax_.get_title(loc="left")
    rounding = M + 1e-17 * np.eye(4)
    assert displays.MetricEllipseDisplay.from_metric(rounding, X, y).shape == "plane"
    assert displays.MetricEllipseDisplay.from_metric(M, X, y, features=(1, 2)).shape == "strip"
    assert displays.MetricEllipseDisplay.from_metric(M, X, y, features=(2, 3)).shape == "ellipse"


def test_the_three_shapes() -> None:
    assert geometry.shape_of(np.diag([1.0, 1e-5])) == "ellipse"
    assert geometry.shape_of(np.diag([1e-7, 1.0])) == "strip"
    assert geometry.shape_of(np.diag([1.0, -1e-17])) == "strip"
    assert geometry.shape_of(np.zeros((2, 2))) == "plane"
    assert geometry.shape_of(np.diag([1e-17, 1e-18])) == "ellipse"
    assert geometry.shape_of(geometry.without_rounding(np.diag([1e-17, 1e-18]), 1.0)) == "plane"
    assert (
        geometry.shape_of(np.diag([1e280, 1e275]))
        == geometry.shape_of(np.diag([1e-280, 1e-275]))
        == "ellipse"
    )


@pytest.mark.parametrize(
    ("M", "singular"),
    [
        (np.diag([1.0, 1e-8]), False),
        (np.diag([1e-20, 1.0]), False),
        (np.array([[1, 1 - 1e-7], [1 - 1e-7, 1]]), False),
        (np.outer([1, 1e-6], [1, 1e-6]) * [[1, 0.9], [0.9, 1]], False),
        (np.diag([1.0, 0.0]), True),
        (np.outer([1, 1e-6], [1, 1e-6]), True),
        (np.outer([0.1, 0.7], [0.1, 0.7]), True),
    ],
)
def test_a_strip_is_called_singular_where_it_is_and_long_elsewhere(M: np.ndarray, singular: bool) -> None:
    display = displays.MetricEllipseDisplay.from_metric(M, PLANE, y)
    assert display.shape == "strip"
    title = display.ax_.get_title(loc="left").replace("\n", " ")
    assert ("singular" in title) is singular
    assert ("more than 1000 times as long as wide" in title) is not singular


def test_the_shape_is_that_of_the_metric() -> None:
    for M, shape in ((M2, "ellipse"), (np.diag([1.0, 0.0]), "strip"), (np.zeros((2, 2)), "plane")):
        display = displays.MetricEllipseDisplay(X=PLANE, y=y, metric=M, centers=PLANE[:1], radius=1.0)
        assert display.shape == shape
        assert len(display.plot().balls_) == {"ellipse": 1, "strip": 2, "plane": 0}[shape]


@pytest.mark.parametrize("size", [1e-279, 1e-150, 1e150, 1e279])
def test_the_size_of_a_metric_does_not_move_its_ball(size: float) -> None:
    as_it_is = displays.MetricEllipseDisplay.from_metric(M2, PLANE, y)
    display = displays.MetricEllipseDisplay.from_metric(M2 * size, PLANE, y)
    for one, other in zip(
        [*as_it_is.balls_, *as_it_is.circles_], [*display.balls_, *display.circles_], strict=True
    ):
        np.testing.assert_allclose(data_of(other), data_of(one), rtol=1e-9)


@pytest.mark.parametrize("points", [PLANE[:1], np.tile(PLANE[:1], (4, 1)), np.zeros((2, 2))])
@pytest.mark.parametrize("radius", [None, 50.0])
@pytest.mark.parametrize("M", [M2, np.ones((2, 2)), np.eye(2)])
def test_the_frame_of_points_that_coincide_holds_the_ball(
    points: np.ndarray, radius: float | None, M: np.ndarray
) -> None:
    display = displays.MetricEllipseDisplay.from_metric(M, points, radius=radius)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    if display.shape == "strip":  # the feet of the centre on both edges
        off = display.radius / 2 * np.ones(2)
        held = np.array([points[0] + off, points[0] - off])
    else:
        held = np.concatenate([data_of(line) for line in [*display.balls_, *display.circles_]])
    assert (held > [left, bottom]).all()
    assert (held < [right, top]).all()


def test_of_one_point_a_class_the_circle_is_as_large_as_the_points_are_apart() -> None:
    for scale in (1e-3, 1e3):
        points = scale * np.array([[0.0, 0.0], [2.0, 2.0]])
        display = displays.MetricEllipseDisplay.from_metric(np.eye(2), points, [0, 1])
        assert np.ptp(data_of(display.circles_[0])[:, 0]) == pytest.approx(2 * scale, rel=1e-3)


def test_scales_are_equal() -> None:
    glml = fitted(cvxml.GLML(), PLANE)
    low = PLANE * [1, 0.1]
    for display in (
        displays.MetricEllipseDisplay.from_metric(M2, low, y),
        displays.NeighborhoodDisplay.from_metric("mlsvm", low, y, M2),
        displays.NeighborhoodDisplay.from_metric("mlsvm", low, y, M2, zoom=False),
        displays.LocalMetricDisplay.from_estimator(glml, low, y),
    ):
        display.figure_.canvas.draw()
        box = display.ax_.get_window_extent()
        (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
        assert box.width / (right - left) == pytest.approx(box.height / (top - bottom))


def test_classes_have_a_colour_and_a_marker_each_and_no_y_is_one_class() -> None:
    names = np.array(["a", "b", "c"])[np.unique(y, return_inverse=True)[1]]
    display = displays.MetricEllipseDisplay.from_metric(M2, PLANE, names, circle=False)
    assert len({tuple(drawn.get_facecolor()[0]) for drawn in display.points_}) == 3
    assert len({drawn.get_paths()[0].vertices.tobytes() for drawn in display.points_}) == 3
    assert {"a", "b", "c"} < set(texts(display.legend_))
    assert display.circles_ == []
    assert len(displays.MetricEllipseDisplay.from_metric(M2, PLANE).balls_) == 1


def test_a_long_ball_does_not_hide_the_points() -> None:
    display = displays.MetricEllipseDisplay.from_metric(np.diag([1.0, 1e-5]), PLANE, y, radius=3.0)
    span = np.ptp(PLANE, axis=0).max()
    assert np.ptp(data_of(display.balls_[0])[:, 1]) > 100 * span
    assert np.ptp(display.ax_.get_ylim()) < 3 * span


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": np.eye(3)}, "metric must have shape"),
        ({"metric": np.diag([1.0, 1, 1, -1])}, "not a metric"),
        ({"X": np.ones((4, 1)), "y": None, "metric": [[1.0]]}, "needs two features"),
        ({"y": [0, 1]}, "y must have shape"),
        ({"y": [np.nan, *y[1:]]}, "a label for every point, got NaN"),
        ({"y": np.where(y == 0, np.inf, y)}, "a label for every point"),
        ({"y": [None, *y[1:]]}, "strings only or numbers only.*NoneType"),
        ({"y": ["a", *y[1:]]}, "strings only or numbers only.*str"),
        ({"y": np.array(["a", *y[1:]], dtype=object)}, "strings only or numbers only"),
        ({"y": [[0], *y[1:]]}, "y is no array of labels"),
        ({"metric": np.eye(4) * 1e-300}, "entries of about 1e-300"),
        ({"metric": np.eye(4) * 1e300}, "entries of about 1e\\+300"),
        ({"features": (0, 4)}, "features"),
        ({"features": (1, 1)}, "two different"),
        ({"features": 3}, "two indices"),
        ({"ball": "shadow"}, "ball must be one of"),
        ({"radius": 0}, "radius must be greater"),
        ({"centers": [[0, 1, 2, 3]]}, "centers"),
        ({"centers": [[0, np.nan]]}, "centers"),
    ],
)
def test_bad_input_for_a_ball_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        displays.MetricEllipseDisplay.from_metric(**{"metric": np.eye(4), "X": X, "y": y, **change})


# ---- the certificate


@pytest.mark.parametrize(
    ("method", "params"), [("mlsvm", {"lam": 0.1}), ("itml", {}), ("lmnn", {"n_neighbors": 2})]
)
def test_the_gap_drawn_is_objective_minus_bound_over_the_scale(method: str, params: dict[str, Any]) -> None:
    solution = solved(method, **params)
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.bounds_of == "problem"
    (line,) = display.gap_lines_
    wanted = [
        (step.iteration, (step.objective - step.lower_bound) / solution.certificate.scale)
        for step in solution.history
    ]
    floor = solution.certificate.rounding / solution.certificate.scale
    wanted = [(k, max(gap, floor)) for k, gap in wanted]
    np.testing.assert_allclose(data_of(line), wanted, rtol=1e-6, atol=10 * floor)
    assert display.ax_.get_yscale() == "log"
    assert display.tolerance_line_.get_ydata()[0] == 1e-6
    assert display.final_.get_ydata()[0] == pytest.approx(solution.rel_gap)
    assert Status.CONVERGED.value in display.ax_.get_title(loc="left").replace("\n", " ")


def test_bounds_and_seconds_are_those_of_the_history() -> None:
    solution = solved("mlsvm", lam=0.1)
    display = displays.CertificateDisplay.from_solution(solution, show="bounds", x="seconds")
    np.testing.assert_array_equal(
        data_of(display.objective_lines_[0]), [(s.seconds, s.objective) for s in solution.history]
    )
    np.testing.assert_array_equal(
        data_of(display.bound_lines_[0]), [(s.seconds, s.lower_bound) for s in solution.history]
    )
    assert display.final_.get_ydata()[0] == solution.objective
    assert display.ax_.get_xlabel() == "seconds"


def test_an_estimator_s_tolerance_is_drawn() -> None:
    estimator = fitted(cvxml.MLSVM(lam=0.1, tol=1e-4))
    display = displays.CertificateDisplay.from_estimator(estimator, X, y)
    assert display.tolerance_line_.get_ydata()[0] == 1e-4


def test_starts_are_lines_of_their_own_and_the_bounds_those_of_steps() -> None:
    solution = solved("ssvm", init=["zero", "identity", "random"], max_iter=30)
    display = displays.CertificateDisplay.from_solution(solution)
    firsts = sum(step.iteration == 1 for step in solution.history)
    assert len(display.gap_lines_) == firsts == 3
    assert display.bounds_of == "step"
    assert "convex step" in texts(display.legend_)[0]
    drawn = np.concatenate([line.get_ydata() for line in display.gap_lines_])
    np.testing.assert_array_equal(
        drawn, [step.gap / solution.certificate.step.scale for step in solution.history]
    )
    assert display.final_.get_ydata()[0] == pytest.approx(solution.step_gap / solution.certificate.step.scale)


def test_the_star_is_at_the_end_of_the_run_that_was_kept() -> None:
    solution = solved("mlsvm", lam=0.1)
    kept, worse = Step(7, 0.1, solution.objective, 0.0, solution.objective), Step(3, 0.2, 9.0, 0.0, 9.0)
    steps = (replace(kept, iteration=1, objective=5.0), kept, replace(worse, iteration=1), worse)
    display = displays.CertificateDisplay.from_solution(replace(solution, history=steps))
    assert [len(data_of(line)) for line in display.gap_lines_] == [2, 2]
    assert display.final_.get_xdata()[0] == 7


def legend_of(display: Any) -> dict[str, Any]:
    """What the legend says -> the handle beside it."""
    handles = display.legend_.legend_handles
    return dict(zip(texts(display.legend_), handles, strict=True))


def test_the_words_for_a_bound_say_whose_it_is() -> None:
    """Of all metrics only where the problem is convex; that is never said of a step or of a trivial bound."""
    words = {
        "problem": "lower bound of all metrics",
        "step": "lower bound of the convex step",
        "nothing": "no more is known of all metrics",
    }
    solutions = {
        "problem": solved("mlsvm"),
        "step": solved("ssvm"),
        "nothing": solved("nca", n_components=2),
    }
    for whose, solution in solutions.items():
        display = displays.CertificateDisplay.from_solution(solution, show="bounds")
        assert display.bounds_of == whose
        bound = next(text for text in texts(display.legend_) if "bound" in text)
        assert display.bound_lines_[0].get_label() == bound
        assert [other for other, said in words.items() if said in bound] == [whose]
        assert display.objective_lines_[0].get_label() == "objective"


def test_bounds_are_trivial_only_where_no_step_has_another() -> None:
    solution = solved("ssvm")
    trivial = solution.certificate.lower_bound
    first, *others = solution.history
    assert all(step.lower_bound != trivial for step in others)
    some = replace(solution, history=(replace(first, lower_bound=trivial), *others))
    assert displays.CertificateDisplay.from_solution(some).bounds_of == "step"
    none = tuple(replace(step, lower_bound=trivial) for step in solution.history)
    assert displays.CertificateDisplay.from_solution(replace(solution, history=none)).bounds_of == "nothing"
    without = replace(solution, certificate=replace(solution.certificate, step=None))
    assert displays.CertificateDisplay.from_solution(without).bounds_of == "nothing"


@pytest.mark.parametrize("components", [2, None])
def test_where_only_a_trivial_bound_is_known_it_is_said_and_no_gap_drawn(components: int | None) -> None:
    solution = solved("nca", datasets.standardize(X), n_components=components)
    assert solution.certificate.kind == "stationary"
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.gap_lines_ == []
    assert display.ax_.lines[:] == []
    assert display.tolerance_line_ is None
    assert f"objective ≥ {solution.lower_bound:.6g}" in display.message_
    assert "not convex" in display.ax_.texts[0].get_text()
    bounds = displays.CertificateDisplay.from_solution(solution, show="bounds")
    assert bounds.bound_lines_[0].get_ydata()[0] == solution.lower_bound
    assert any("trivial" in text for text in texts(bounds.legend_))
    np.testing.assert_array_equal(
        bounds.objective_lines_[0].get_ydata(), [s.objective for s in solution.history]
    )


def test_without_any_bound_it_is_said_too() -> None:
    solution = solved("nca", datasets.standardize(X), n_components=2)
    history = tuple(replace(step, lower_bound=-np.inf, gap=np.inf) for step in solution.history)
    certificate = replace(solution.certificate, lower_bound=-np.inf, gap=np.inf)
    display = displays.CertificateDisplay.from_solution(
        replace(solution, history=history, certificate=certificate)
    )
    assert "nothing is known" in display.message_
    assert (
        displays.CertificateDisplay.from_solution(
            replace(solution, history=history, certificate=certificate), show="bounds"
        ).bound_lines_
        == []
    )


def test_steps_without_a_bound_and_gaps_within_rounding() -> None:
    solution = solved("mlsvm", lam=0.1)
    proof = solution.certificate
    gaps = [np.inf, 1.0, -proof.rounding / 2]
    steps = tuple(Step(k, 0.1 * k, 1.0, 1.0 - gap, gap) for k, gap in enumerate(gaps))
    certificate = replace(proof, gap=-proof.rounding / 2)
    display = displays.CertificateDisplay.from_solution(
        replace(solution, history=steps, certificate=certificate)
    )
    drawn = display.gap_lines_[0].get_ydata()
    assert np.isnan(drawn[0])
    assert drawn[1] == 1 / proof.scale
    assert drawn[2] == display.final_.get_ydata()[0] == proof.rounding / proof.scale
    assert {"the certificate: no gap beyond rounding", "below: rounding"} < set(texts(display.legend_))


def test_a_metric_of_scale_0_has_an_absolute_gap_and_no_tolerance() -> None:
    noise, labels = random_data(3, n=30, d=4, classes=3)
    solution = solved("mlsvm", noise, labels, lam=0.1)
    assert solution.certificate.scale == 0
    display = displays.CertificateDisplay.from_solution(solution)
    assert display.tolerance_line_ is None
    assert display.ax_.get_ylabel() == "gap"
    gaps = [max(step.gap, solution.certificate.rounding) for step in solution.history]
    np.testing.assert_array_equal(display.gap_lines_[0].get_ydata(), gaps)


def test_a_back_end_keeps_no_history_and_a_closed_form_one_step() -> None:
    display = displays.CertificateDisplay.from_solution(solved("mlsvm", lam=0.1, solver="scs"))
    assert display.gap_lines_ == []
    assert display.final_ is not None
    assert "no history" in display.ax_.get_xlabel()
    local = solved("glml", alpha=0.1, query=X[:3])
    one = displays.CertificateDisplay.from_solution(local)
    assert one.final_.get_ydata()[0] == max(
        local.rel_gap, local.certificate.rounding / local.certificate.scale
    )


def test_what_has_no_certificate_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r'GLML keeps no solution_: .* cvxml.solve\("glml", X, y, query=...\)'
    ):
        displays.CertificateDisplay.from_estimator(fitted(cvxml.GLML()))
    for baseline in (cvxml.Euclidean(), cvxml.WithinClass(shrinkage=0.1)):
        with pytest.raises(ValueError, match="nothing to prove") as refused:
            displays.CertificateDisplay.from_estimator(fitted(baseline), X, y)
        assert "cvxml.solve" not in str(refused.value)
    with pytest.raises(ValueError, match="got ndarray"):
        displays.CertificateDisplay.from_solution(np.eye(2))
    with pytest.raises(ValueError, match="show must be one of"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), show="both")
    with pytest.raises(ValueError, match="x must be one of"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), x="time")
    with pytest.raises(ValueError, match="tol must be greater"):
        displays.CertificateDisplay.from_solution(solved("mlsvm"), tol=0)


# ---- neighbours


def ends(lines: list[Any], start: np.ndarray) -> list[list[float]]:
    """Where lines from `start` lead to, sorted."""
    for line in lines:
        np.testing.assert_array_equal(data_of(line)[0], start)
    return sorted(data_of(line)[1].tolist() for line in lines)


@pytest.mark.parametrize("index", [0, 11, 29])
def test_lines_lead_to_targets_and_impostors(index: int) -> None:
    params = {"lam": 0.1, "n_neighbors": 3, "neighborhood": "per-class"}
    M = a_metric(1, 4)
    display = displays.NeighborhoodDisplay.from_metric("mlsvm", X, y, M, index, features=(2, 0), **params)
    at = cvxml.evaluate("mlsvm", X, y, M, **params)
    plane = X[:, [2, 0]]
    for name in ("targets", "impostors"):
        members = getattr(at, name)[index]
        assert len(members) == 3
        assert ends(display.lines_[name], plane[index]) == sorted(plane[members].tolist())
        np.testing.assert_array_equal(data_of(display.rings_[name]), plane[members])
    furthest = max(at.targets[index], key=lambda j: naive(M, X[index], X[j]))
    nearest = min(at.impostors[index], key=lambda j: naive(M, X[index], X[j]))
    np.testing.assert_array_equal(data_of(display.marks_["active_target"])[0], plane[furthest])
    np.testing.assert_array_equal(data_of(display.marks_["active_impostor"])[0], plane[nearest])
    assert f"{at.xi[index]:.3g}" in display.ax_.get_title(loc="left")


def test_lines_lead_to_h_star_and_h_hat_of_an_estimator() -> None:
    estimator = fitted(cvxml.Gerrymandering(n_neighbors=3, C=0.5))
    at = cvxml.evaluate("ssvm", X, y, estimator.solution_.metric, n_neighbors=3, C=0.5)
    for index in (0, 5):
        display = displays.NeighborhoodDisplay.from_estimator(estimator, X, y, index=index)
        for name, sets in (("h_star", at.h_star), ("h_hat", at.h_hat)):
            assert ends(display.lines_[name], PLANE[index]) == sorted(PLANE[sets[index]].tolist())
        assert display.marks_ == {}


def test_marks_have_the_colour_of_their_set_and_the_legend_names_each() -> None:
    params = {"n_neighbors": 3, "neighborhood": "per-class"}
    display = displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE, y, M2, 4, **params)
    for name, mark, word in (
        ("targets", "active_target", "furthest target"),
        ("impostors", "active_impostor", "nearest impostor"),
    ):
        colours = {line.get_color() for line in display.lines_[name]}
        assert colours == {display.marks_[mark].get_color()} == {display.rings_[name].get_markeredgecolor()}
        assert display.marks_[mark].get_label() == word
    assert display.lines_["targets"][0].get_color() != display.lines_["impostors"][0].get_color()


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("mlsvm", {"targets": "same class", "impostors": "other classes"}),
        ("ssvm", {"h_star": "label wins", "h_hat": "loss augmented"}),
    ],
)
def test_the_legend_names_each_set_by_the_look_of_its_lines(method: str, words: dict[str, str]) -> None:
    params = {"neighborhood": "per-class"} if method == "mlsvm" else {}
    display = displays.NeighborhoodDisplay.from_metric(method, PLANE, y, M2, 4, **params)
    for name, word in words.items():
        (handle,) = (one for text, one in legend_of(display).items() if word in text)
        assert display.lines_[name]
        for line in display.lines_[name]:
            assert line.get_color() == handle.get_color()
            assert line.get_linestyle() == handle.get_linestyle()
    assert len({str(lines[0].get_linestyle()) for lines in display.lines_.values()}) == 2
    assert len({lines[0].get_color() for lines in display.lines_.values()}) == 2


def test_a_margin_is_not_met_where_there_is_slack_and_only_there() -> None:
    params = {"n_neighbors": 2, "neighborhood": "per-class"}
    at = cvxml.evaluate("mlsvm", PLANE, y, 10 * M2, **params)
    slack, met = int(np.argmax(at.xi)), int(np.argmin(at.xi))
    assert at.xi[slack] > 0 == at.xi[met]
    for index, said in ((slack, True), (met, False)):
        display = displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE, y, 10 * M2, index, **params)
        assert ("not met" in display.title) is said
        assert "slack xi" in display.title


def test_a_kernel_method_s_neighbours_are_those_of_its_kernel() -> None:
    estimator = fitted(cvxml.KernelMLSVM(lam=0.1, n_neighbors=5, kernel="rbf", gamma=2.0))
    display = displays.NeighborhoodDisplay.from_estimator(estimator, X, y, index=4)
    wanted = {*estimator.solution_.neighbors[4].tolist()}
    assert {*display.sets["targets"].tolist(), *display.sets["impostors"].tolist()} == wanted


def test_a_point_without_impostors_has_no_lines_to_them() -> None:
    points = np.concatenate([PLANE, PLANE + 1000])
    far = np.repeat([0, 1], len(PLANE))
    display = displays.NeighborhoodDisplay.from_metric("mlsvm", points, far, np.eye(2), 2, lam=0.1)
    assert display.lines_["impostors"] == []
    assert len(display.lines_["targets"]) == 4
    assert display.marked == {}
    assert "no constraint" in display.ax_.get_title(loc="left").replace("\n", " ")
    assert any("impostors" in text and "(none)" in text for text in texts(display.legend_))


def test_neighbours_are_within_the_picture_and_not_pale() -> None:
    display = displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE, y, np.eye(2), 7, n_neighbors=3)
    near = np.concatenate([[7], *display.sets.values()]).astype(int)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for x in PLANE[near]:
        assert left < x[0] < right
        assert bottom < x[1] < top
    for drawn, c in zip(display.points_, np.unique(y), strict=True):
        strong = drawn.get_facecolor()[:, 3] > 0.5
        np.testing.assert_array_equal(np.flatnonzero(y == c)[strong], sorted(near[y[near] == c]))
    assert right - left < np.ptp(PLANE[:, 0])
    display.plot(zoom=False)
    assert display.ax_.get_xlim()[0] < PLANE[:, 0].min()
    assert display.ax_.get_xlim()[1] > PLANE[:, 0].max()


def test_what_has_no_neighbours_is_refused() -> None:
    with pytest.raises(ValueError, match="'nca' has no neighbours to draw; mlsvm"):
        displays.NeighborhoodDisplay.from_metric("nca", X, y, np.eye(4))
    with pytest.raises(ValueError, match="'itml' has no neighbours"):
        displays.NeighborhoodDisplay.from_estimator(fitted(cvxml.ITML()), X, y)
    with pytest.raises(ValueError, match="Euclidean has no neighbours"):
        displays.NeighborhoodDisplay.from_estimator(fitted(cvxml.Euclidean()), X, y)
    with pytest.raises(ValueError, match="index=30 is too large"):
        displays.NeighborhoodDisplay.from_metric("mlsvm", X, y, np.eye(4), 30)
    with pytest.raises(ValueError, match="no parameter 'k'"):
        displays.NeighborhoodDisplay.from_metric("mlsvm", X, y, np.eye(4), 3, k=2)


# ---- spectra


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_stems_are_the_eigenvalues(scale: str) -> None:
    metrics = {"one": a_metric(0, 4), "two": a_metric(1, 4, 2)}
    display = displays.SpectrumDisplay.from_metric(metrics, scale=scale)
    assert display.ranks_ == {"one": 4, "two": 2}
    for name, M in metrics.items():
        values = np.linalg.eigvalsh(M)[::-1]
        tops = np.array([stem.get_ydata()[1] for stem in display.stems_[name]])
        counted = values > 1e-6 * values[0]
        np.testing.assert_allclose(tops[counted], values[counted], rtol=1e-9)
        positive, zero, negative = display.marks_[name]
        assert len(positive.get_ydata()) == counted.sum()
        assert len(zero.get_ydata()) == 4 - counted.sum()
        assert len(negative.get_ydata()) == 0
        assert f"{name}: rank {counted.sum()} of 4" in texts(display.legend_)
    assert display.ax_.get_yscale() == scale


def test_zeros_are_seen_as_such_on_a_logarithmic_scale() -> None:
    display = displays.SpectrumDisplay.from_metric(np.diag([1.0, 1e-4, 1e-9, 0.0]), scale="log")
    _, zero, _ = display.marks_["metric"]
    floor = zero.get_ydata()[0]
    assert (zero.get_ydata() == floor).all()
    assert len(zero.get_ydata()) == 2
    assert 0 < floor < 1e-4
    assert display.ax_.get_ylim()[0] < floor
    named = dict(
        zip(display.ax_.get_yticks(), [t.get_text() for t in display.ax_.get_yticklabels()], strict=True)
    )
    assert named[floor] == "0"


def test_the_tolerance_decides_the_rank_and_is_told() -> None:
    M = np.diag([1.0, 1e-4, 1e-9])
    assert displays.SpectrumDisplay.from_metric(M).ranks_ == {"metric": 2}
    assert displays.SpectrumDisplay.from_metric(M, tol=1e-12).ranks_ == {"metric": 3}
    strict = displays.SpectrumDisplay.from_metric(M, tol=0.5)
    assert strict.ranks_ == {"metric": 1}
    assert "0.5" in strict.ax_.get_title(loc="left")
    np.testing.assert_array_equal(kinds_of(np.array([2.0, 1.0, 0.0, -1.0, -1.5]), 0.5), [1, 0, 0, 0, -1])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_negative_eigenvalue_is_shown_and_named(scale: str) -> None:
    display = displays.SpectrumDisplay.from_metric({"theirs": np.diag([2.0, 1e-9, -0.5])}, scale=scale)
    _, zero, negative = display.marks_["theirs"]
    assert len(zero.get_ydata()) == 1
    assert negative.get_ydata().tolist() == [0.5 if scale == "log" else -0.5]
    assert "theirs: negative, no metric" in texts(display.legend_)


def test_zero_is_a_share_of_the_largest_in_size_whatever_its_sign() -> None:
    np.testing.assert_array_equal(kinds_of(np.array([1.0, -100.0]), 0.1), [0, -1])
    np.testing.assert_array_equal(kinds_of(np.array([100.0, -1.0]), 0.1), [1, 0])
    display = displays.SpectrumDisplay.from_metric(np.diag([1.0, 20.0, -100.0]), tol=0.1)
    assert display.ranks_ == {"metric": 1}


@pytest.mark.parametrize("size", [1e-279, 1e279])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_spectra_of_any_size_fill_the_picture(size: float, scale: str) -> None:
    values = np.array([1.0, 0.5, 0.1, 0.0])
    display = displays.SpectrumDisplay.from_metric(np.diag(values) * size, scale=scale)
    assert display.ranks_ == {"metric": 3}
    display.figure_.canvas.draw()
    positive, zero, _ = display.marks_["metric"]
    heights = display.ax_.transAxes.inverted().transform(
        positive.get_transform().transform(data_of(positive))
    )
    assert heights[0, 1] - heights[-1, 1] > 0.3
    assert (np.diff(heights[:, 1]) < -0.05).all()
    assert display.ax_.get_yscale() == scale
    assert len(zero.get_ydata()) == 1


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_zero_metric_has_rank_0(scale: str) -> None:
    assert displays.SpectrumDisplay.from_metric(np.zeros((3, 3)), scale=scale).ranks_ == {"metric": 0}


def test_spectra_of_estimators() -> None:
    estimator = fitted(cvxml.MLSVM(lam=0.1))
    display = displays.SpectrumDisplay.from_estimator(estimator)
    wanted = np.linalg.eigvalsh(estimator.solution_.metric)[::-1]
    np.testing.assert_allclose(display.eigenvalues["MLSVM"], wanted, atol=1e-9 * wanted[0])
    kernel = fitted(cvxml.KernelMLSVM(lam=0.1))
    named = displays.SpectrumDisplay.from_estimator(kernel, X, y, name="kernel")
    K = (X @ X.T) ** 2
    phi = kernel.phi_  # A = sum phi_ij Phi(x_i) Phi(x_j)^T has the eigenvalues of phi K that are not 0
    largest = np.sort(np.linalg.eigvals(phi @ K).real)[::-1][:3]
    np.testing.assert_allclose(named.eigenvalues["kernel"][:3], largest, rtol=1e-6)


@pytest.mark.parametrize(
    ("metric", "options", "words"),
    [
        (np.ones((2, 3)), {}, "square"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), {}, "not symmetric"),
        (np.full((2, 2), np.nan), {}, "NaN"),
        (np.eye(2) * 1e-300, {}, "entries of about 1e-300"),
        (np.eye(2) * 1e300, {}, "entries of about"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]) * 1e200, {}, "not symmetric"),
        ({}, {}, "at least one"),
        (np.eye(2), {"tol": 0}, "greater than 0"),
        (np.eye(2), {"tol": 1.5}, "below 1"),
        (np.eye(2), {"scale": "symlog"}, "scale must be one of"),
    ],
)
def test_bad_input_for_a_spectrum_is_refused(metric: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        displays.SpectrumDisplay.from_metric(metric, **options)


# ---- local metrics


def test_ellipses_are_those_of_the_local_metrics_and_equally_long() -> None:
    estimator = fitted(cvxml.GLML(gamma=0.1), PLANE)
    queries = PLANE[:6]
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE, y, queries)
    assert display.cases == estimator.cases_at(queries)
    assert len(set(display.cases)) > 1
    for query, A, line in zip(queries, estimator.metric_at(queries), display.ellipses_, strict=True):
        distances = [naive(A, x, query) for x in data_of(line)]
        assert np.ptp(distances) < 1e-9 * max(distances)
        longest = np.linalg.norm(data_of(line) - query, axis=1).max()
        assert longest == pytest.approx(display.length, rel=1e-3)
    for case in set(display.cases):
        count = display.cases.count(case)
        assert f"B {case.value.split(':')[0]} ({count})" in texts(display.legend_)
        drawn = {
            line.get_color()
            for line, own in zip(display.ellipses_, display.cases, strict=True)
            if own is case
        }
        assert len(drawn) == 1


def test_all_cases_have_a_look_of_their_own() -> None:
    display = displays.LocalMetricDisplay(
        X=PLANE, y=y, queries=PLANE[:4], metrics=np.array([np.eye(2)] * 4), cases=list(Case), length=0.1
    ).plot()
    assert len({line.get_color() for line in display.ellipses_}) == len(Case)
    assert len({str(line._dash_pattern) for line in display.ellipses_}) == len(Case)


def test_each_case_has_the_look_that_the_legend_names() -> None:
    """By the case that the estimator names, so that no two looks can be swapped."""
    estimator = fitted(cvxml.GLML(), PLANE)
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE, y)
    cases = estimator.cases_at(display.queries)
    assert {Case.DEFINITE, Case.INDEFINITE} <= set(cases)
    for word, case, style in (("definite", Case.DEFINITE, "-"), ("indefinite", Case.INDEFINITE, "--")):
        handle = legend_of(display)[f"B {word} ({cases.count(case)})"]
        assert (
            handle.get_linestyle() == style
        )  # whole where the optimum is one, broken where it is one of many
        for line, own in zip(display.ellipses_, cases, strict=True):
            same = (line.get_color(), line.get_linestyle()) == (handle.get_color(), handle.get_linestyle())
            assert same is (own is case)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_the_title_says_by_which_metric(gamma: float) -> None:
    estimator = fitted(cvxml.GLML(gamma=gamma), PLANE)
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE, y, PLANE[:5])
    title = display.ax_.get_title(loc="left").replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")
    assert ("by A + γI, γ = 0.5." in title) is (gamma > 0)
    assert ("by A." in title) is (gamma == 0)
    A = display.metrics - gamma * np.eye(2)
    np.testing.assert_allclose(np.linalg.det(A), 1)
    local = displays.LocalMetricDisplay.from_solution(solved("glml", PLANE, query=PLANE[:5]))
    assert "by A." in local.ax_.get_title(loc="left").replace("\n", " ")
    np.testing.assert_allclose(local.metrics, A)


def test_what_is_no_case_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Case\.DEFINITE, Case\.INDEFINITE.*got 'definite'"):
        displays.LocalMetricDisplay(
            X=PLANE, y=y, queries=PLANE[:1], metrics=np.eye(2)[None], cases=["definite"], length=1.0
        )


def test_one_point_has_a_local_metric_too() -> None:
    estimator = fitted(cvxml.GLML(), PLANE)
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE[:1], y[:1], densities=True)
    (line,) = display.ellipses_
    assert (np.diff([display.densities.x, display.densities.y]) > 0).all()
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert (data_of(line) > [left, bottom]).all()
    assert (data_of(line) < [right, top]).all()


def test_the_grid_covers_the_points_and_leaves_the_other_features_at_their_mean() -> None:
    estimator = fitted(cvxml.GLML(alpha=0.1))
    asked: list[np.ndarray] = []
    metric_at = estimator.metric_at
    estimator.metric_at = lambda Q: asked.append(Q) or metric_at(Q)
    display = displays.LocalMetricDisplay.from_estimator(estimator, X, y, features=(3, 1), n_queries=5)
    np.testing.assert_array_equal(display.queries, asked[0][:, [3, 1]])
    np.testing.assert_allclose(asked[0][:, [0, 2]], np.tile(X[:, [0, 2]].mean(axis=0), (len(asked[0]), 1)))
    low, high = X[:, [3, 1]].min(axis=0), X[:, [3, 1]].max(axis=0)
    assert max(len(set(column.round(9))) for column in display.queries.T) == 5
    step = (high - low).max() / 5
    assert (display.queries.min(axis=0) < low + step).all()
    assert (display.queries.max(axis=0) > high - step).all()
    A = metric_at(asked[0])
    np.testing.assert_allclose(display.metrics, A[:, [3, 1]][:, :, [3, 1]])


def test_ellipses_on_a_grid_do_not_touch() -> None:
    grid = np.array([[a, b] for a in range(4) for b in range(3)], dtype=float)
    assert length_for(grid, grid) == pytest.approx(0.45)
    assert length_for(np.zeros((1, 2)), grid) == pytest.approx(0.2 * 3)
    near = np.concatenate([grid, [[1.0, 1.001]]])  # one more query, close to another, changes little
    assert length_for(near, grid) == pytest.approx(0.45)


def test_contours_are_of_the_densities_of_the_classes() -> None:
    estimator = fitted(cvxml.GLML(), PLANE)
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE, y, densities=True)
    assert len(display.contours_) == 3
    assert all(list(contours.levels) == [0.05, 0.3, 0.7] for contours in display.contours_)  # 5, 30 and 70 %
    p = display.densities
    corner = np.array([[p.x[3], p.y[17]]])
    np.testing.assert_allclose(p.log_p[:, 17, 3], estimator.model_.log_densities(corner)[0])
    for c, contours in enumerate(display.contours_):
        vertices = np.concatenate([path.vertices for path in contours.get_paths()])
        highest = p.log_p[c].max()
        ratio = np.exp(estimator.model_.log_densities(vertices)[:, c] - highest)
        assert (np.abs(ratio[:, None] - contours.levels).min(axis=1) < 0.02).all()
    assert displays.LocalMetricDisplay.from_estimator(estimator, PLANE, y).contours_ == []


@pytest.mark.parametrize("query", [PLANE[:3], PLANE[0]])
def test_a_solution_is_drawn_at_its_queries(query: np.ndarray) -> None:
    solution = solved("glml", PLANE, y, query=query)
    display = displays.LocalMetricDisplay.from_solution(solution)
    np.testing.assert_array_equal(display.queries, np.atleast_2d(query))
    np.testing.assert_allclose(display.metrics, solution.metric.reshape(-1, 2, 2))
    assert display.cases == fitted(cvxml.GLML(), PLANE).cases_at(np.atleast_2d(query))


class Flat:
    """A model of one's own: one density is higher everywhere, and both are flat."""

    def log_densities(self, Q: np.ndarray) -> np.ndarray:
        return np.tile([0.0, -1.0], (len(Q), 1))

    def curvatures(self, Q: np.ndarray) -> np.ndarray:
        return np.zeros((len(Q), 2, 2, 2))


def test_a_flat_model_has_circles_and_no_contours() -> None:
    two = np.arange(len(PLANE)) % 2
    estimator = fitted(cvxml.GLML(model=Flat()), PLANE, two)
    display = displays.LocalMetricDisplay.from_estimator(estimator, PLANE, two)
    assert set(display.cases) == {Case.ZERO}
    for query, line in zip(display.queries, display.ellipses_, strict=True):
        assert np.ptp(np.linalg.norm(data_of(line) - query, axis=1)) < 1e-12
    with pytest.raises(ValueError, match="foreign model"):
        displays.LocalMetricDisplay.from_estimator(estimator, PLANE, two, densities=True)


def test_what_has_no_local_metrics_is_refused() -> None:
    with pytest.raises(ValueError, match="MLSVM has no local metrics"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.MLSVM()), X, y)
    with pytest.raises(ValueError, match='solution of "glml"'):
        displays.LocalMetricDisplay.from_solution(solved("mlsvm"))
    with pytest.raises(ValueError, match="queries must be finite"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.GLML(), PLANE), PLANE, y, [[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="n_queries must be at least 1"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.GLML(), PLANE), PLANE, y, n_queries=0)


# ---- all of them

DRAWN: dict[str, Any] = {
    "ellipse": lambda ax=None: displays.MetricEllipseDisplay.from_metric(M2, PLANE, y, ax=ax),
    "certificate": lambda ax=None: displays.CertificateDisplay.from_solution(solved("mlsvm"), ax=ax),
    "neighborhood": lambda ax=None: displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE, y, M2, ax=ax),
    "spectrum": lambda ax=None: displays.SpectrumDisplay.from_metric(M2, ax=ax),
    "local": lambda ax=None: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(), PLANE), PLANE, y, ax=ax
    ),
}
every_display = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


def test_from_estimator_spells_out_what_may_be_given() -> None:
    """And the defaults are those of the other constructor, and of `plot`, but for the tol that an estimator has."""
    others = {
        displays.MetricEllipseDisplay: displays.MetricEllipseDisplay.from_metric,
        displays.CertificateDisplay: displays.CertificateDisplay.from_solution,
        displays.NeighborhoodDisplay: displays.NeighborhoodDisplay.from_metric,
        displays.SpectrumDisplay: displays.SpectrumDisplay.from_metric,
        displays.LocalMetricDisplay: displays.LocalMetricDisplay.from_solution,
    }
    assert {display.__name__ for display in others} == set(displays.__all__)
    for display, other in others.items():
        given = inspect.signature(display.from_estimator).parameters
        assert "ax" in given
        assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in given.values())
        for function in (other, display.plot):
            for name, one in inspect.signature(function).parameters.items():
                if one.kind is inspect.Parameter.KEYWORD_ONLY and (name, display.__name__) != (
                    "tol",
                    "CertificateDisplay",
                ):
                    assert given[name].default == one.default, (display, name)


def test_what_is_given_to_from_estimator_arrives() -> None:
    _, ax = plt.subplots()
    mlsvm, options = fitted(cvxml.MLSVM(lam=0.1)), {"features": (3, 1), "ax": ax}
    ball = displays.MetricEllipseDisplay.from_estimator(
        mlsvm, X, y, centers=[[0, 1]], ball="projection", radius=2.0, circle=False, **options
    )
    assert ball.centers.tolist() == [[0, 1]]
    assert (ball.radius, ball.circles_, ball.ax_) == (2.0, [], ax)
    assert "shadow" in ball.title
    proof = displays.CertificateDisplay.from_estimator(mlsvm, tol=0.5, show="bounds", x="seconds", ax=ax)
    assert (proof.tol, proof.ax_, proof.ax_.get_xlabel()) == (0.5, ax, "seconds")
    assert len(proof.bound_lines_) == 1
    near = displays.NeighborhoodDisplay.from_estimator(mlsvm, X, y, 3, zoom=False, **options)
    assert (near.ax_, near.index, near.xlabel) == (ax, 3, "feature 3")
    assert ax.get_xlim()[0] < X[:, 3].min()
    assert ax.get_xlim()[1] > X[:, 3].max()
    spectrum = displays.SpectrumDisplay.from_estimator(mlsvm, name="mine", tol=0.25, scale="log", ax=ax)
    assert (spectrum.ax_, spectrum.tol, ax.get_yscale()) == (ax, 0.25, "log")
    assert list(spectrum.ranks_) == ["mine"]


@every_display
def test_a_display_draws_on_the_axes_given_and_again_on_others(draw: Any) -> None:
    figure, axes = plt.subplots(1, 2)
    display = draw(ax=axes[0])
    assert display.ax_ is axes[0]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert display.plot(axes[1]) is display
    assert display.ax_ is axes[1]
    assert len(axes[0].lines) == len(axes[1].lines) > 0
    assert display.plot().figure_ is not figure


SPECIAL: dict[str, Any] = {
    "strip": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1.0, 0.0]), PLANE, y),
    "tall": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1.0, 1e-8]), PLANE * [1, 1e4], y),
    "wide": lambda: displays.MetricEllipseDisplay.from_metric(np.diag([1e-8, 1.0]), PLANE * [1e4, 1], y),
    "large": lambda: displays.SpectrumDisplay.from_metric(np.eye(3) * 1e200),
    "gamma": lambda: displays.LocalMetricDisplay.from_estimator(
        fitted(cvxml.GLML(gamma=0.125), PLANE), PLANE, y
    ),
    "plane": lambda: displays.MetricEllipseDisplay.from_metric(np.zeros((2, 2)), PLANE, y),
    "shadow": lambda: displays.MetricEllipseDisplay.from_metric(a_metric(0, 4), X, y, ball="projection"),
    "bounds": lambda: displays.CertificateDisplay.from_solution(solved("nca", n_components=2), show="bounds"),
    "stationary": lambda: displays.CertificateDisplay.from_solution(solved("ssvm")),
    "one step": lambda: displays.CertificateDisplay.from_solution(solved("glml", alpha=0.1)),
    "no step": lambda: displays.CertificateDisplay.from_solution(solved("mlsvm", solver="scs")),
    "negative": lambda: displays.SpectrumDisplay.from_metric(np.diag([2.0, 1e-9, -0.5]), scale="log"),
    "three": lambda: displays.SpectrumDisplay.from_metric({c: a_metric(0, 4, 2) for c in "abc"}, scale="log"),
    "all points": lambda: displays.NeighborhoodDisplay.from_metric("ssvm", PLANE, y, M2, zoom=False),
    "low": lambda: displays.NeighborhoodDisplay.from_metric("mlsvm", PLANE * [1, 0.01], y, M2, zoom=False),
}


@pytest.mark.parametrize("draw", [*DRAWN.values(), *SPECIAL.values()], ids=[*DRAWN, *SPECIAL])
def test_text_is_readable_within_the_picture_and_apart(draw: Any) -> None:
    display = draw()
    display.figure_.canvas.draw()
    ax = display.ax_
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    shown = [ax.xaxis.label, ax.yaxis.label, ax._left_title, *display.legend_.get_texts(), *ticks]
    assert min(text.get_fontsize() for text in shown if text.get_text()) >= 11
    whole = display.figure_.bbox
    for text in (ax.xaxis.label, ax.yaxis.label, ax._left_title, display.legend_):
        box = text.get_window_extent()
        assert box.x0 >= whole.x0
        assert box.x1 <= whole.x1
        assert box.y0 >= whole.y0
        assert box.y1 <= whole.y1
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = sorted(
            (t.get_window_extent() for t in labels if t.get_text()), key=lambda box: (box.x0, box.y0)
        )
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    below = display.legend_.get_window_extent().y1
    assert below <= ax.xaxis.label.get_window_extent().y0 + 1


@pytest.mark.parametrize("size", [None, (4.5, 4.0)])
def test_a_message_is_within_the_axes(size: tuple[float, float] | None) -> None:
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    display = displays.CertificateDisplay.from_solution(solved("nca", n_components=2), ax=ax)
    display.figure_.canvas.draw()
    (text,) = display.ax_.texts
    box, axes = text.get_window_extent(), display.ax_.get_window_extent()
    assert axes.x0 <= box.x0 < box.x1 <= axes.x1
    assert axes.y0 <= box.y0 < box.y1 <= axes.y1
    assert text.get_fontsize() >= 11


@every_display
def test_without_matplotlib_it_is_said_how_to_get_it(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError("No module named 'matplotlib'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'cvxml\[plot\]'"):
        draw()


def test_importing_displays_loads_neither_matplotlib_nor_scikit_learn() -> None:
    code = "import sys, cvxml.displays; print([m for m in ('matplotlib', 'sklearn', 'cvxpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("display", "estimator"),
    [
        (displays.MetricEllipseDisplay, cvxml.MLSVM()),
        (displays.CertificateDisplay, cvxml.MLSVM()),
        (displays.NeighborhoodDisplay, cvxml.Gerrymandering()),
        (displays.SpectrumDisplay, cvxml.MLSVM()),
        (displays.LocalMetricDisplay, cvxml.GLML()),
    ],
)
def test_an_estimator_that_is_not_fitted_is_refused(display: Any, estimator: Any) -> None:
    with pytest.raises(NotFittedError):
        display.from_estimator(estimator, X, y)


def test_metrics_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="LocalMetricDisplay"):
        displays.MetricEllipseDisplay.from_estimator(fitted(cvxml.GLML()), X, y)
    with pytest.raises(ValueError, match="features of its kernel"):
        displays.MetricEllipseDisplay.from_estimator(fitted(cvxml.KernelMLSVM(degree=1)), X, y)
    with pytest.raises(ValueError, match="LocalMetricDisplay"):
        displays.SpectrumDisplay.from_estimator(fitted(cvxml.GLML()))


def test_columns_of_a_data_frame_name_the_axes() -> None:
    class Frame(np.ndarray):
        columns = ("height", "width", "depth", "age")

    display = displays.MetricEllipseDisplay.from_metric(np.eye(4), X.view(Frame), y, features=(2, 0))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("depth", "height")


def test_inputs_are_untouched() -> None:
    points, labels, M = X.copy(), y.copy(), a_metric(4, 4)
    before = M.copy()
    displays.MetricEllipseDisplay.from_metric(M, points, labels, ball="projection")
    displays.NeighborhoodDisplay.from_metric("mlsvm", points, labels, M)
    displays.SpectrumDisplay.from_metric(M, scale="log")
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(M, before)
