"""A second fit leaves no attribute of the first that it does not set itself."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import cvxml
from cvxml.estimators.base import Learner
from tests.instances import random_data

X, Y = random_data(9, n=30, d=3)
I, J = np.triu_indices(len(X), 1)
SAME = Y[I] == Y[J]
INDEX = np.stack([I, J], axis=1)
PAIRS = {"similar": INDEX[SAME].tolist(), "dissimilar": INDEX[~SAME].tolist()}
TRIPLETS = [
    [i, j, k] for i in range(30) for j in range(30) for k in range(30) if i != j and Y[i] == Y[j] != Y[k]
][::40]
QUADRUPLETS = np.concatenate([INDEX[SAME][:40], INDEX[~SAME][:40]], axis=1).tolist()
# Every learner that can be fitted without labels, and what is given in their place.
WITHOUT_LABELS: list[tuple[Learner, dict[str, Any]]] = [
    *((learner, {"pairs": PAIRS}) for learner in (
        cvxml.ITML(), cvxml.MMC(), cvxml.MMC(diagonal=True), cvxml.DMLEig(), cvxml.LDML(1.0), cvxml.GMML(mu=0.1),
        cvxml.SDML(lam=0.2),
    )),
    *((learner, {"triplets": TRIPLETS}) for learner in (
        cvxml.LMNN(), cvxml.FrobMetric(), cvxml.RTML(), cvxml.SchultzJoachims(), cvxml.SCML(1e-3),
        cvxml.BoostMetric(0.3),
    )),
    (cvxml.LSML(), {"quadruplets": QUADRUPLETS}),
    (cvxml.RCA(alpha=0.1), {"chunklets": Y.tolist()}),
    (cvxml.MLR(C=5.0), {"relevant": [[j for j in range(30) if j != i and Y[j] == Y[i]] for i in range(30)]}),
    (cvxml.NCA(2, criterion="g"), {"similarity": (Y[:, None] == Y) & ~np.eye(30, dtype=bool)}),
]  # fmt: skip


def public(model: Learner) -> set[str]:
    return {name for name in vars(model) if name.endswith("_")}


ignored = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.quick(6)
@ignored
@pytest.mark.parametrize(("learner", "given"), WITHOUT_LABELS, ids=lambda value: str(value)[:30])
def test_attributes_of_a_fit_to_labels_do_not_outlive_a_fit_without(
    learner: Learner, given: dict[str, Any]
) -> None:
    fresh = clone(learner).fit(X, **given)
    model = clone(learner).fit(X, Y)
    assert "classes_" in public(model)
    model.fit(X, **given)
    assert public(model) == public(fresh)
    assert "classes_" not in public(model)


def test_a_warm_start_goes_on_from_the_last_fit_and_forgets_its_classes() -> None:
    model = cvxml.ITML(warm_start=True).fit(X, Y)
    steps = model.solution_.n_iter
    assert model.fit(X, pairs=PAIRS).solution_.n_iter <= 1 < steps
    assert not hasattr(model, "classes_")


@ignored
@pytest.mark.parametrize(
    ("learner", "given"), [WITHOUT_LABELS[i] for i in (1, 11, 13, 14)], ids=lambda v: str(v)[:20]
)
def test_a_warm_start_that_does_not_fit_is_left_out(learner: Learner, given: dict[str, Any]) -> None:
    """The dual variables of the first fit have another length, or its metric is not one of the second problem."""
    cold = clone(learner).fit(X, **given)
    warm = clone(learner).set_params(warm_start=True).fit(X, Y).fit(X, **given)
    assert warm.certificate_.proves(1e-5)
    assert warm.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-4)
    with pytest.raises(ValueError, match=next(iter(given))):
        warm.fit(X, **{name: [[0, 99]] for name in given})


def test_labels_again_bring_the_classes_back() -> None:
    model = cvxml.ITML().fit(X, pairs=PAIRS)
    assert not hasattr(model, "classes_")
    assert model.fit(X, np.array(["u", "v", "w"])[Y]).classes_.tolist() == ["u", "v", "w"]


def test_a_fit_that_fails_leaves_the_metric_of_the_last_one() -> None:
    model = cvxml.ITML().fit(X, Y)
    before = model.components_
    with pytest.raises(ValueError, match="pairs"):
        model.fit(X, pairs={"similar": [[0, 99]], "dissimilar": [[0, 1]]})
    assert model.components_ is before
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_kernel_s_map_is_that_of_the_last_fit() -> None:
    model = cvxml.KernelMLSVM(n_neighbors=2).fit(X, Y)
    again = model.fit(X[:20], Y[:20])
    fresh = cvxml.KernelMLSVM(n_neighbors=2).fit(X[:20], Y[:20])
    assert public(again) == public(fresh)
    np.testing.assert_array_equal(again.transform(X), fresh.transform(X))


SEEDED = [
    getattr(cvxml, name)
    for name in cvxml.__all__
    if hasattr(getattr(cvxml, name), "get_params")
    and "random_state" in inspect.signature(getattr(cvxml, name)).parameters
]
DRAWING: dict[str, dict[str, Any]] = {
    "Gerrymandering": {"init": "random", "max_iter": 3},
    "NCA": {"init": "random", "max_iter": 20},
    "MLKR": {"init": "random", "max_iter": 20},
    "LSML": {"n_quadruplets": 40},
    "PLML": {"n_anchors": 3},
    "GLML": {"model": "mixture"},
}


@pytest.mark.quick(3)
@ignored
@pytest.mark.parametrize("of", SEEDED, ids=lambda each: each.__name__)
def test_a_random_state_of_numpy_draws_the_seed(of: Any) -> None:
    """Equal states give equal fits, as the drawn number does."""
    state = np.random.RandomState(3)
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    models = [of(**DRAWING[of.__name__], random_state=given).fit(X, Y) for given in (state, seed)]
    solutions = [getattr(model, "solution_", None) for model in models]
    if solutions[0] is not None:
        assert np.array_equal(*(solution.metric for solution in solutions))
    else:
        assert np.array_equal(*(model.predict(X) for model in models))
    assert models[0].random_state is state
