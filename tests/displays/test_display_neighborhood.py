"""The picture of neighbours: its lines lead to the sets that the package lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import displays
from tests.displays.pictures import M2, PLANE, X, a_metric, data_of, fitted, legend_of, naive, texts, y


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
    assert f"{at.xi[index]:.3g}" in display.ax_.get_title()


@pytest.mark.slow
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
    assert "no constraint" in display.ax_.get_title().replace("\n", " ")
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
    with pytest.raises(ValueError, match=r"\bmlsvm\b.*'nca'"):
        displays.NeighborhoodDisplay.from_metric("nca", X, y, np.eye(4))
    with pytest.raises(ValueError, match=r"\bMLSVM\b.*\bITML\b"):
        displays.NeighborhoodDisplay.from_estimator(fitted(cvxml.ITML()), X, y)
    with pytest.raises(ValueError, match=r"\bMLSVM\b.*\bEuclidean\b"):
        displays.NeighborhoodDisplay.from_estimator(fitted(cvxml.Euclidean()), X, y)
    with pytest.raises(ValueError, match=r"index.*\b30\b.*\b29\b"):
        displays.NeighborhoodDisplay.from_metric("mlsvm", X, y, np.eye(4), 30)
    with pytest.raises(ValueError, match=r"mlsvm.*'k'"):
        displays.NeighborhoodDisplay.from_metric("mlsvm", X, y, np.eye(4), 3, k=2)
