"""Columns of data frames: those of the fit are drawn without a warning, and others are refused by all displays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cvxml
from cvxml import displays
from tests.displays.pictures import Frame, X, fitted, y

pandas = pytest.importorskip("pandas")

COLUMNS = list(Frame.columns)
LABELS = np.array(["u", "v", "w"])[y]
FRAME = pandas.DataFrame(X, columns=COLUMNS)
OTHERS = {
    "reordered": FRAME[COLUMNS[::-1]],
    "renamed": FRAME.rename(columns={"depth": "weight"}),
}
DISPLAYS = {name: getattr(displays, name) for name in displays.__all__}

every_display = pytest.mark.parametrize("display", DISPLAYS.values(), ids=DISPLAYS)


def learner_for(display: Any) -> Any:
    return cvxml.GLML(alpha=0.1) if display is displays.LocalMetricDisplay else cvxml.MLSVM(lam=0.1)


class Through(BaseEstimator):
    """A step that gives on the data frame that it gets, and does not look at its columns."""

    def fit(self, X: Any, y: Any = None) -> Through:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X


def alone(learner: Any) -> Any:
    return learner


def in_a_pipeline(learner: Any) -> Any:
    return make_pipeline(Through(), learner)


def in_a_search(learner: Any) -> Any:
    return GridSearchCV(in_a_pipeline(learner), {}, cv=2, scoring=lambda *_: 1.0)


@every_display
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("within", [alone, in_a_pipeline, in_a_search])
def test_columns_that_are_not_those_of_the_fit_are_refused(display: Any, other: Any, within: Any) -> None:
    learner = learner_for(display)
    model = fitted(within(learner), FRAME, LABELS)
    with pytest.raises(ValueError, match=r"\bX\b.*'height', 'width', 'depth', 'age'") as caught:
        display.from_estimator(model, other, LABELS)
    assert type(learner).__name__ in str(caught.value)
    assert (f"'{type(learner).__name__.lower()}'" in str(caught.value)) is (within is not alone)  # the step


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("within", [alone, in_a_pipeline])
@pytest.mark.parametrize("points", [FRAME, X], ids=["frame", "array"])
def test_so_are_columns_of_queries(points: Any, other: Any, within: Any) -> None:
    model = fitted(within(cvxml.GLML(alpha=0.1)), FRAME, LABELS)
    with pytest.raises(ValueError, match=r"\bqueries\b.*'height', 'width', 'depth', 'age'"):
        displays.LocalMetricDisplay.from_estimator(model, points, LABELS, other[:3])


def test_after_a_fit_to_an_array_queries_must_have_the_columns_of_the_points() -> None:
    model = fitted(cvxml.GLML(alpha=0.1), X, LABELS)
    draw = displays.LocalMetricDisplay.from_estimator
    np.testing.assert_array_equal(draw(model, FRAME, LABELS, FRAME[:3]).queries, X[:3, :2])
    with pytest.raises(ValueError, match=r"\bqueries\b.*\bX\b.*'height', 'width', 'depth', 'age'"):
        draw(model, FRAME, LABELS, OTHERS["reordered"][:3])


@every_display
@pytest.mark.parametrize("points", [FRAME, X], ids=["frame", "array"])
def test_the_columns_of_the_fit_and_an_array_are_drawn_without_a_warning(display: Any, points: Any) -> None:
    model = fitted(learner_for(display), FRAME, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = display.from_estimator(model, points, LABELS)
    assert getattr(drawn, "xlabel", "height") == "height"


@pytest.mark.parametrize("queries", [None, FRAME[:5], X[:5]], ids=["grid", "frame", "array"])
def test_queries_are_drawn_without_a_warning(queries: Any) -> None:
    model = fitted(cvxml.GLML(alpha=0.1), FRAME, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = displays.LocalMetricDisplay.from_estimator(model, FRAME, LABELS, queries)
    if queries is not None:
        np.testing.assert_array_equal(drawn.queries, X[:5, :2])


@every_display
def test_a_pipeline_of_data_frames_is_drawn_without_a_warning(display: Any) -> None:
    steps = make_pipeline(StandardScaler(), learner_for(display)).set_output(transform="pandas")
    model = fitted(steps, FRAME, LABELS)
    queries = {"queries": FRAME[:5]} if display is displays.LocalMetricDisplay else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = display.from_estimator(model, FRAME, LABELS, **queries)
    assert getattr(drawn, "xlabel", "height") == "height"
