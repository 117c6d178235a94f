"""Every method on data with more features than points, and on data with one feature of a large scale."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
import cvxml.core.method
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray
from cvxml.core.moved import moved, with_points
from cvxml.core.result import Status, Step
from cvxml.core.run import Found, Start
from cvxml.methods import get, names
from tests.instances import checked, random_data, small

N = 16
Y = np.arange(N) % 3
RNG = np.random.default_rng(3)
MANY = RNG.standard_normal((N, 40))
MANY[Y == 1, 0] += 3.0
MORE_FEATURES = {
    "many": MANY,
    "one more": MANY[:, :N],
    "twins": MANY[[*range(N - 2), 2, 3]],
    "constant": MANY * (np.arange(40) % 2) + 5.0,
    "flat": RNG.integers(-9, 9, (N, 3)) @ RNG.integers(-3, 4, (3, 20)).astype(float),
}
MOVES = [name for name in names() if isinstance(get(name), ConvexMethod) and get(name).MOVES]  # type: ignore[attr-defined]
REFUSED = {  # no optimum: differences of dissimilar pairs lie outside the span of the similar differences
    "mmc": ("many", "one more", "twins", "constant"),
    "dml_eig": ("many", "one more", "twins", "constant"),
    "boostmetric": ("many", "one more", "twins", "constant"),
}
CASES = [(m, data) for m in MOVES for data in MORE_FEATURES if data not in REFUSED.get(m, ())]
OWN: dict[str, dict[str, Any]] = {
    "boostmetric": {"v": 200.0},
    "plml": {
        "n_anchors": 2,
        "alpha1": 100.0,
    },  # with 1 the gap that is asked for lies below the rounding of "flat"
}


def parameters(method: str) -> dict[str, Any]:
    return small(method, **OWN.get(method, {}))


def quietly(method: str, X: FloatArray, y: Any = Y, **params: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cvxml.solve(method, X, y, **params)


@pytest.mark.quick(4)
@pytest.mark.parametrize(("method", "data"), CASES)
def test_the_optimum_is_that_of_the_features_as_given(
    method: str, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver works in the span of the differences; the certificate holds for all features."""
    X, params = MORE_FEATURES[data], parameters(method)
    ours = quietly(method, X, **params)
    assert (ours.metric == ours.metric.T).all()
    of, given = checked(method, X, Y, **params)
    assert ours.objective == pytest.approx(of.objective(given, ours.metric), rel=1e-6, abs=1e-9)
    monkeypatch.setattr(cvxml.core.method, "moved", lambda X: ())
    plain = quietly(method, X, **params)
    assert (ours.status, plain.status) == (plain.status, ours.status)
    between = 2e-6 * max(ours.certificate.scale, plain.certificate.scale)
    slack = between + ours.certificate.value_rounding + plain.certificate.value_rounding
    if ours.status is Status.CONVERGED:
        assert abs(ours.objective - plain.objective) <= slack


@pytest.mark.quick(8)
@pytest.mark.parametrize("method", MOVES)
def test_a_solver_sees_no_more_features_than_points(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of = get(method)
    data = "flat" if method in REFUSED else "many"
    seen: list[int] = []
    search = type(of).search

    def watched(self: Any, given: Any, *asked: Any) -> Any:
        seen.append(given.X.shape[1])
        return search(self, given, *asked)

    monkeypatch.setattr(type(of), "search", watched)
    quietly(method, MORE_FEATURES[data], **parameters(method))
    assert seen[0] < N


@pytest.mark.parametrize("fault", ["refused", "another metric"])
def test_the_features_as_given_are_searched_where_other_coordinates_fail(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = get("frobmetric")
    search = type(of).search

    def faulty(self: Any, given: Any, *asked: Any) -> Any:
        narrow = given.X.shape[1] < MANY.shape[1]
        if narrow and fault == "refused":
            raise ValueError("no digits")
        found = search(self, given, *asked)
        return found._replace(metric=np.eye(len(found.metric))) if narrow else found

    monkeypatch.setattr(type(of), "search", faulty)
    steps: list[int] = []
    solution = quietly("frobmetric", MANY, callback=lambda step: steps.append(step.iteration))
    assert solution.status is Status.CONVERGED
    assert steps == sorted(set(steps))
    assert [step.iteration for step in solution.history] == steps
    assert solution.n_iter == steps[-1]


def test_an_interrupted_proof_in_the_features_as_given_loses_no_metric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, asked = get("frobmetric"), list[int]()
    certify = type(of).certify

    def interrupted(self: Any, given: Any, *of_metric: Any) -> Any:
        asked.append(given.X.shape[1])
        if asked.count(MANY.shape[1]) == 1 and asked[-1] == MANY.shape[1]:
            raise KeyboardInterrupt
        return certify(self, given, *of_metric)

    monkeypatch.setattr(type(of), "certify", interrupted)
    solution = quietly("frobmetric", MANY)
    assert solution.certificate.proves(1e-6)
    assert solution.metric.any()


def test_of_two_searches_the_better_metric_and_the_better_dual_are_kept_with_their_own_proof() -> None:
    of, given = checked("frobmetric", *random_data(2, n=N, d=3))
    best = of.solve(given)
    metrics = [best.metric, 2 * best.metric]
    duals = [best.dual, {**best.dual, "price": np.zeros_like(best.dual["price"])}]
    found = {
        (m, d): Found(metrics[m], duals[d], Status.STALLED, d, proof=of.certify(given, metrics[m], duals[d]))
        for m, d in product((0, 1), repeat=2)
    }
    for first, last in product(found, repeat=2):
        both = of._best_of(given, found[last], found[first])
        m, d = map(min, first, last)
        proved = found[m, d].proof
        assert (both.metric == metrics[m]).all()
        assert (both.dual["price"] == duals[d]["price"]).all()
        assert (both.proof.objective, both.proof.lower_bound) == (proved.objective, proved.lower_bound)
        assert both.n_iter == found[last].n_iter


def test_a_search_without_a_proof_leaves_the_metric_of_the_one_before_it() -> None:
    of, given = checked("frobmetric", *random_data(2, n=N, d=3))
    best = of.solve(given)
    proved = Found(best.metric, best.dual, Status.STALLED, 3, proof=best.certificate)
    stopped = Found(np.eye(3), best.dual, Status.INTERRUPTED, 4)
    both = of._best_of(given, stopped, proved)
    assert both.proof is best.certificate
    assert both.metric is best.metric
    assert both.status is Status.INTERRUPTED


@pytest.mark.parametrize("most", [3, 4, 1000])
def test_a_search_has_the_steps_that_the_one_before_it_left(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search takes three steps where it may and proves nothing; all begin where the one before it ended."""
    of, given = checked("frobmetric", MANY, Y)
    asked, starts = list[int](), list[Any]()

    def stalls(self: Any, given: Any, tol: float, max_iter: int, start: Any, callback: Any) -> Found:
        asked.append(max_iter)
        starts.append(start)
        count, size = min(3, max_iter), given.X.shape[1]
        history = tuple(Step(k, 1.0, 0.0, 1.0, 0.0) for k in range(count + 1))
        dual = {"price": np.zeros(given.count), "triplets": given.triplets()}
        return Found(2.0 ** -len(asked) * np.eye(size), dual, Status.STALLED, count, history)

    monkeypatch.setattr(type(of), "search", stalls)
    begin = Start(
        np.diag(np.arange(1.0, 41.0)), {"price": np.zeros(given.count), "triplets": given.triplets()}
    )
    found = of.find(given, "fast", 1e-6, most, begin, None)
    assert [step.iteration for step in found.history] == list(range(found.n_iter + 1))
    at = moved(MANY)[0]
    np.testing.assert_allclose(starts[0].metric, at.inside(begin.metric), atol=1e-12)
    if most == 3:  # nothing is left
        assert asked == [3]
        assert found.status is Status.MAX_ITER
        return
    assert asked == [most, most - 3]
    np.testing.assert_allclose(starts[1].metric, at.outside(np.eye(N - 1) / 2), atol=1e-12)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupted_search_loses_nothing_of_the_one_before_it(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wide feature is divided twice, and last the features as given are searched."""
    of, asked = get("frobmetric"), list[int]()
    X = MANY[:, :3] * [1.0, 1e7, 1.0]
    given = of.instance(X, Y)

    def stalls(self: Any, given: Any, *_: Any) -> Found:
        asked.append(1)
        if len(asked) == number:
            raise KeyboardInterrupt
        dual = {"price": np.zeros(given.count), "triplets": given.triplets()}
        return Found(np.eye(3) / 2 ** len(asked), dual, Status.STALLED, 1)

    monkeypatch.setattr(type(of), "search", stalls)
    if number == 1:
        with pytest.raises(KeyboardInterrupt):
            of.find(given, "fast", 1e-6, 100, None, None)
        return
    found = of.find(given, "fast", 1e-6, 100, None, None)
    assert len(asked) == number
    assert found.status is Status.INTERRUPTED
    assert found.metric.any()


# ---------------------------------------------------------------- one feature of a large scale


def zeros_and_ones(of: Any, given: Any) -> list[FloatArray]:
    """Return the zero matrix and the identity, made feasible by `allowed` of the method."""
    size, made = of.metric_size(given), []
    for M in (np.zeros((size, size)), np.eye(size)):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                made.append(of.allowed(given, M))
            except ValueError:  # for example, the metric must have determinant 1, which no multiple of 0 has
                continue
    return made


def value(of: Any, given: Any, M: FloatArray) -> float:
    """Return the naive objective, or infinity if it is undefined."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = float(of.objective(given, M))
        except (ValueError, ArithmeticError):
            return np.inf
    return found if np.isfinite(found) else np.inf


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", names())
def test_beside_a_wide_feature_it_is_certified_or_the_warning_names_the_feature(method: str) -> None:
    """No simple metric may be better: zero, the identity, or a metric that ignores the wide feature."""
    X, y = random_data(2, n=N, d=3)
    X = X * [1.0, 1e6, 1.0]
    params = parameters(method)
    of, given = checked(method, X, y, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cvxml.solve(method, X, y, max_iter=300, **params)
    if found.status not in (Status.CONVERGED, Status.STATIONARY):
        said = " ".join(str(warning.message) for warning in caught)
        assert "column 1 " in said
        assert "standardize" in said
    ours = value(of, given, found.metric)
    simple = zeros_and_ones(of, given)
    if isinstance(of, ConvexMethod) and of.MOVES:
        without = with_points(given, X * [1.0, 0.0, 1.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            simple.append(of.solve(without).metric)
    for M in simple:
        if of.certify(given, M, found.dual).feasibility.feasible:
            assert ours <= value(of, given, M) + 1e-6 * max(abs(ours), found.certificate.scale)
