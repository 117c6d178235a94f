"""A fit that fails leaves an estimator as it was, and takes no input that scikit-learn would change."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import cvxml
from cvxml.core.result import Step
from tests.estimators.test_estimator import CHECKED
from tests.instances import random_data

X, Y = random_data(0, n=30, d=3)
WORDS = np.array(["u", "v", "w"])
TARGETS = X[:, 0] + 1.0
OTHER = X[::-1, :2]  # other points, of fewer features


def targets(model: Any, y: Any) -> Any:
    return TARGETS if isinstance(model, cvxml.MLKR) else y


def fitted(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, targets(model, Y))


@pytest.mark.quick(6)
@pytest.mark.parametrize("model", CHECKED, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_fit_that_fails_changes_nothing(
    model: Any, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes where the last attribute of a fit is set, or where it is solved."""
    own = fitted(model)
    before = {name: value for name, value in vars(own).items() if name.endswith("_") or name.startswith("_")}
    fresh, original = clone(model), type(own).__setattr__
    last = [name for name in vars(own) if name.endswith("_")][-1]

    def stopped(self: Any, name: str, value: Any) -> None:
        if name == last:
            raise error("stopped")
        original(self, name, value)

    monkeypatch.setattr(type(own), "__setattr__", stopped)
    y = targets(model, WORDS[Y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (own, fresh):
            with pytest.raises(error):
                each.fit(OTHER, y)
    monkeypatch.setattr(type(own), "__setattr__", original)
    assert {name: value for name, value in vars(own).items() if name in before} == before
    use = fresh.transform if hasattr(fresh, "transform") else fresh.predict
    with pytest.raises(NotFittedError):
        use(X)


REFUSED: dict[str, tuple[Any, Any]] = {
    "masked": (np.ma.masked_greater(X, 1.0), Y),
    "large integers": (np.stack([2**60 + np.arange(30), np.arange(30)], axis=1), Y),
    "masked labels": (X, np.ma.array(Y, mask=Y == 2)),
    "mixed labels": (X, [1, 2, "a"] * 10),
    "a missing label": (X, ["a", None, "b"] * 10),
    "True beside numbers": (X, [True, 2, 0] * 10),
}


@pytest.mark.quick(8)
@pytest.mark.parametrize("model", CHECKED, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("kind", REFUSED)
def test_input_that_would_be_changed_is_refused(model: Any, kind: str) -> None:
    points, y = REFUSED[kind]
    if "label" in kind or "True" in kind:
        if isinstance(model, (cvxml.MLKR, cvxml.Euclidean)):
            pytest.skip("it has no labels")
    else:
        y = targets(model, y)
    with pytest.raises(ValueError, match=r"masked|integer|types"):
        clone(model).fit(points, y)
    if kind == "masked":
        own = fitted(model)
        with pytest.raises(ValueError, match="masked"):
            (own.transform if hasattr(own, "transform") else own.predict)(points)


@pytest.mark.parametrize("model", [cvxml.LMNN(), cvxml.KernelMLSVM(n_neighbors=2)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_distance_of_no_number_is_refused(model: Any, bad: float) -> None:
    own = fitted(model)
    pairs = np.stack([X[:2], X[2:4]], axis=1)
    pairs[0, 0, 0] = bad
    with pytest.raises(ValueError, match=r"^pairs "):
        own.pair_distance(pairs)
    with pytest.raises(ValueError, match=r"^u "):
        own.get_metric()(pairs[0, 0], X[0])


@pytest.mark.parametrize("value", ["no", 2, None])
def test_a_switch_takes_true_or_false_only(value: Any) -> None:
    switches = {"squared_hinge": cvxml.LMNN, "diagonal": cvxml.MMC, "warm_start": cvxml.ITML}
    for name, kind in switches.items():
        with pytest.raises(ValueError, match=name):
            kind(**{name: value}).fit(X, Y)


def test_a_kernel_s_map_keeps_the_kernel_of_the_fit() -> None:
    own = fitted(cvxml.KernelMLSVM(n_neighbors=2))
    before = own.transform(X)
    own.set_params(degree=3, kernel="rbf")
    np.testing.assert_array_equal(own.transform(X), before)


def test_glml_refuses_points_whose_squares_overflow() -> None:
    with pytest.raises(ValueError, match=r"^X "):
        cvxml.GLML(alpha=0.1).fit(1e160 * X, Y)


CHANGES: dict[str, tuple[Any, Any]] = {
    "phi_": (cvxml.KernelMLSVM(n_neighbors=2), lambda own: setattr(own, "phi_", 2 * own.phi_)),
    "metrics_": (cvxml.PLML(n_anchors=2), lambda own: setattr(own, "metrics_", own.metrics_ + np.eye(3))),
    "components_": (cvxml.LMNN(), lambda own: setattr(own, "components_", 2 * own.components_)),
    "n_neighbors": (cvxml.LMNN(), lambda own: own.set_params(n_neighbors=np.int64(2))),
    "lmnn:squared_hinge": (cvxml.LMNN(), lambda own: own.set_params(squared_hinge=True)),
}


@pytest.mark.parametrize("named", CHANGES)
def test_an_estimator_that_was_changed_is_not_judged(named: str) -> None:
    model, change = CHANGES[named]
    own = fitted(model)
    change(own)
    with pytest.raises(ValueError, match=named):
        cvxml.certify_estimator(own, X, Y)


@pytest.mark.parametrize(
    ("method", "call"),
    [(m, c) for m in ("lmnn", "mlsvm", "itml", "frobmetric") for c in (1, 3)] + [("nca", 1)],
)
@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, RuntimeError])
def test_an_error_of_a_callback_ends_the_solve(method: str, call: int, error: type[Exception]) -> None:
    """With more features than points the solver works in other coordinates first, and falls back if this fails."""
    points, y = random_data(1, n=14, d=20)
    calls: list[Step] = []

    def callback(step: Step) -> None:
        calls.append(step)
        if len(calls) == call:
            raise error("mine")

    with pytest.raises(error, match="mine"):
        cvxml.solve(method, points, y, callback=callback)
    assert len(calls) == call


def test_options_are_checked_before_the_problem_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(cvxml.methods.get("lmnn")), "instance", None)
    for option, value in {"solver": "foo", "max_iter": -1, "callback": 3, "tol": "x"}.items():
        with pytest.raises(ValueError, match=option):
            cvxml.solve("lmnn", X, Y, **{option: value})


@pytest.mark.parametrize(
    "model", [*CHECKED, cvxml.PairClassifier(cvxml.ITML())], ids=lambda each: type(each).__name__
)
def test_a_notebook_shows_an_estimator_without_a_warning(model: Any) -> None:
    """scikit-learn reads the sections of the docstring. Warnings are errors in all tests."""
    assert type(model).__name__ in model._repr_html_()


def test_a_picture_of_data_frames_and_of_a_column_of_labels() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cvxml.NCA(max_iter=20).set_output(transform="pandas").fit(frame, WORDS[Y])
    for labels in (WORDS[Y], WORDS[Y][:, None], None):
        assert len(model.plot(frame, labels).collections) > 0
