"""What metric-learn takes and this package does not is refused with what to give here."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.estimators.baselines import Euclidean, WithinClass
from cvxml.methods import get, names
from tests.instances import random_data

X, Y = random_data(9, n=12, d=3)
PAIRS, TRIPLETS = X.reshape(6, 2, 3), X.reshape(4, 3, 3)
SIDES = np.array([1, 1, 1, -1, -1, -1])
EVERY = [
    *(
        getattr(cvxml, name)
        for name in cvxml.__all__
        if hasattr(getattr(cvxml, name), "get_params") and name != "PairClassifier"  # which takes tuples
    ),
    cvxml.CrammerSingerSVM,
    Euclidean,
    WithinClass,
]
every_estimator = pytest.mark.parametrize("estimator", dict.fromkeys(EVERY))
LISTS = ("pairs", "triplets", "quadruplets", "chunklets", "relevant")
CONVERTED = {"pairs", "triplets", "quadruplets"}  # the results of `cvxml.from_tuples`


def lists_of(estimator: Any) -> list[str]:
    """The lists of indices that `fit` takes."""
    return [name for name in LISTS if name in inspect.signature(estimator.fit).parameters]


def test_every_estimator_is_here() -> None:
    assert {cvxml.ITML, cvxml.SCML, cvxml.GLML, cvxml.PLML, cvxml.MLKR, cvxml.Gerrymandering} <= set(EVERY)
    assert len(set(EVERY)) >= len(names())


@every_estimator
@pytest.mark.parametrize(("tuples", "y"), [(PAIRS, SIDES), (TRIPLETS.tolist(), np.ones(4))], ids=["2", "3"])
def test_tuples_of_points_are_refused_with_the_lists_that_fit_takes(
    estimator: Any, tuples: Any, y: Any
) -> None:
    with pytest.raises(ValueError, match=r"\(\d, \d, 3\)") as refused:
        estimator().fit(tuples, y)
    said = str(refused.value)
    assert "(n, d)" in said
    assert [name for name in LISTS if f"{name}=" in said] == lists_of(estimator)
    assert ("cvxml.from_tuples" in said) == bool(CONVERTED & set(lists_of(estimator)))


def test_tuples_without_labels_are_refused_too() -> None:
    for learner, tuples in ((cvxml.ITML(), PAIRS), (cvxml.SCML(), TRIPLETS)):
        with pytest.raises(ValueError, match="indices"):
            learner.fit(tuples)
    with pytest.raises(ValueError, match=r"\(6, 2, 3\).*\(n, d\)"):
        cvxml.NCA().fit(PAIRS, similarity=np.ones((6, 6)))
    with pytest.raises(ValueError, match=r"pairs="):
        cvxml.ITML().fit(PAIRS, pairs={"similar": [[0, 1]], "dissimilar": [[0, 2]]})


@pytest.mark.parametrize("method", names())
def test_the_functions_refuse_tuples_too(method: str) -> None:
    takes = [name for name in LISTS if name in get(method).PARAMETERS]
    metric = np.eye(3)
    for asked in (
        lambda: cvxml.solve(method, PAIRS, SIDES),
        lambda: cvxml.evaluate(method, PAIRS, SIDES, metric),
        lambda: cvxml.problem(method, PAIRS, SIDES),
        lambda: cvxml.certify(method, PAIRS, SIDES, metric, {}),
        lambda: cvxml.check(method, PAIRS, SIDES, metric),
    ):
        with pytest.raises(ValueError, match=r"\(6, 2, 3\)") as refused:
            asked()
        assert [name for name in LISTS if f"{name}=" in str(refused.value)] == takes
        assert ("cvxml.from_tuples" in str(refused.value)) == bool(CONVERTED & set(takes))


@every_estimator
def test_a_preprocessor_is_refused_with_where_points_are_given(estimator: Any) -> None:
    with pytest.raises(TypeError, match=r"preprocessor.*X \(n, d\).*fit"):
        estimator(preprocessor=X)
    assert "preprocessor" not in estimator().get_params()
    with pytest.raises(TypeError, match="lamda"):
        estimator(lamda=1.0)
