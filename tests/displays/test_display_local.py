"""The picture of local metrics: its ellipses are those of the package, by the case of B."""

from __future__ import annotations

import numpy as np
import pytest

import cvxml
from cvxml import displays
from cvxml.displays._grid import length_for
from cvxml.methods.glml.solver import Case
from tests.displays.pictures import PLANE, X, data_of, fitted, legend_of, naive, solved, texts, y


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


def test_a_case_that_is_not_proved_is_drawn_as_double_precision_sees_it() -> None:
    """The second feature is next to constant: whether B is singular is within rounding."""
    points = np.column_stack([X[:, 0], 1 + 1e-8 * X[:, 1]])
    queries = points[:3]
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("glml", points, y, query=queries, alpha=1.0)
    found = cvxml.evaluate("glml", points, y, solution.metric, query=queries, alpha=1.0)
    assert any(case.startswith("not decided") for case in found.case)
    display = displays.LocalMetricDisplay.from_solution(solution)
    assert display.cases == cvxml.GLML(alpha=1.0).fit(points, y).cases_at(queries)


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
    title = display.ax_.get_title().replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")
    assert ("by A + γI, γ = 0.5." in title) is (gamma > 0)
    assert ("by A." in title) is (gamma == 0)
    A = display.metrics - gamma * np.eye(2)
    np.testing.assert_allclose(np.linalg.det(A), 1)
    local = displays.LocalMetricDisplay.from_solution(solved("glml", PLANE, query=PLANE[:5]))
    assert "by A." in local.ax_.get_title().replace("\n", " ")
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
    with pytest.raises(ValueError, match="model of your own"):
        displays.LocalMetricDisplay.from_estimator(estimator, PLANE, two, densities=True)


def test_what_has_no_local_metrics_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\bGLML\b.*\bMLSVM\b"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.MLSVM()), X, y)
    with pytest.raises(ValueError, match='"glml"'):
        displays.LocalMetricDisplay.from_solution(solved("mlsvm"))
    with pytest.raises(ValueError, match=r"^queries.*\(1, 3\)"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.GLML(), PLANE), PLANE, y, [[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match=r"^n_queries.*\b1\b.*\b0\b"):
        displays.LocalMetricDisplay.from_estimator(fitted(cvxml.GLML(), PLANE), PLANE, y, n_queries=0)
