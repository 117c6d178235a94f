"""The ball of a metric: every line is held against the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import cvxml
from cvxml import displays
from cvxml.displays import _geometry as geometry
from tests.displays.pictures import M2, PLANE, X, a_metric, data_of, fitted, naive, texts, y


def area(polygon: np.ndarray) -> float:
    a, b = polygon.T
    return abs(float(a[:-1] @ b[1:] - a[1:] @ b[:-1])) / 2


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
    assert "cut" in display.ax_.get_title()


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
    assert "singular" in display.ax_.get_title()
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
    assert "M is 0" in display.ax_.get_title()
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
    title = display.ax_.get_title().replace("\n", " ")
    assert ("singular" in title) is singular
    assert ("1000 times" in title) is not singular


def test_the_shape_is_that_of_the_metric() -> None:
    for M, shape in ((M2, "ellipse"), (np.diag([1.0, 0.0]), "strip"), (np.zeros((2, 2)), "plane")):
        display = displays.MetricEllipseDisplay(X=PLANE, y=y, metric=M, centers=PLANE[:1], radius=1.0)
        assert display.shape == shape
        assert len(display.plot().balls_) == {"ellipse": 1, "strip": 2, "plane": 0}[shape]


@pytest.mark.quick(2)
@pytest.mark.parametrize("size", [1e-279, 1e-150, 1e150, 1e279])
def test_the_size_of_a_metric_does_not_move_its_ball(size: float) -> None:
    as_it_is = displays.MetricEllipseDisplay.from_metric(M2, PLANE, y)
    display = displays.MetricEllipseDisplay.from_metric(M2 * size, PLANE, y)
    for one, other in zip(
        [*as_it_is.balls_, *as_it_is.circles_], [*display.balls_, *display.circles_], strict=True
    ):
        np.testing.assert_allclose(data_of(other), data_of(one), rtol=1e-9)


@pytest.mark.quick(9)
@pytest.mark.parametrize("points", [PLANE[:1], np.tile(PLANE[:1], (4, 1)), np.zeros((2, 2))])
@pytest.mark.parametrize("radius", [None, 50.0])
@pytest.mark.parametrize("M", [M2, np.ones((2, 2)), np.eye(2)])
def test_the_frame_of_points_that_coincide_holds_the_ball(
    points: np.ndarray, radius: float | None, M: np.ndarray
) -> None:
    display = displays.MetricEllipseDisplay.from_metric(M, points, radius=radius)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    if display.shape == "strip":  # the feet of the centre on both edges
        error = display.radius / 2 * np.ones(2)
        held = np.array([points[0] + error, points[0] - error])
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
        ({"metric": np.eye(3)}, r"^metric.*\(4, 4\).*\(3, 3\)"),
        ({"metric": np.diag([1.0, 1, 1, -1])}, "^metric.*eigenvalue -1"),
        ({"X": np.ones((4, 1)), "y": None, "metric": [[1.0]]}, "two features"),
        ({"y": [0, 1]}, r"^y .*\(2,\)"),
        ({"y": [np.nan, *y[1:]]}, "^y .*NaN"),
        ({"y": np.where(y == 0, np.inf, y)}, "^y .*infinity"),
        ({"y": [None, *y[1:]]}, "^y .*strings.*NoneType"),
        ({"y": ["a", *y[1:]]}, "^y .*strings.*str"),
        ({"y": np.array(["a", *y[1:]], dtype=object)}, "^y .*strings"),
        ({"y": [[0], *y[1:]]}, "^y .*label"),
        ({"metric": np.eye(4) * 1e-300}, "^metric.*1e-300"),
        ({"metric": np.eye(4) * 1e300}, r"^metric.*1e\+300"),
        ({"features": (0, 4)}, "features"),
        ({"features": (1, 1)}, "two different"),
        ({"features": 3}, "two indices"),
        ({"ball": "shadow"}, "^ball.*'slice'.*'shadow'"),
        ({"radius": 0}, r"^radius.*\b0\b"),
        ({"centers": [[0, 1, 2, 3]]}, "centers"),
        ({"centers": [[0, np.nan]]}, "centers"),
    ],
)
def test_bad_input_for_a_ball_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        displays.MetricEllipseDisplay.from_metric(**{"metric": np.eye(4), "X": X, "y": y, **change})
