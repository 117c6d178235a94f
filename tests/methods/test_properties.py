"""What holds of every method, by its public face: what it tells and proves, where it starts, what changes nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.method import MAPS
from cvxml.core.metric import FloatArray
from cvxml.core.result import Step
from cvxml.methods import get, names
from tests.instances import (
    CLOSED_FORM,
    NOT_OPTIMAL,
    allowed,
    checked,
    exact_of,
    objective_of,
    random_data,
    small,
    solved_status,
    with_lists,
)

X, Y = random_data(9, n=40, d=4)
CONVEX = [name for name in names() if get(name).CLAIM == "optimal"]
STARTED = [name for name in names() if get(name).MAX_ITER > 1]
PROVED_BY_STEPS = [name for name in CONVEX if name not in CLOSED_FORM]
DISTANCES = np.where(
    (Y[:, None] == Y) & ~np.eye(40, dtype=bool), np.sum((X[:, None] - X) ** 2, axis=2), np.inf
)
TARGETS = np.argsort(DISTANCES, axis=1)[:, :3]
PRIOR = np.diag([0.2, 1.0, 3.0, 1.0]) + 0.1
TURN = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]


def solved(method: str, data: Any = X, y: Any = Y, **params: Any) -> cvxml.Solution:
    return cvxml.solve(method, data, y, **small(method, **params))


# ---------------------------------------------------------------- what it tells


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", STARTED)
def test_the_history_is_what_the_callback_saw(method: str) -> None:
    seen: list[Step] = []
    solution = solved(method, callback=seen.append)
    assert tuple(seen) == solution.history
    assert seen[-1].objective == pytest.approx(solution.objective, rel=1e-6)
    iterations = [step.iteration for step in seen]
    assert iterations == sorted(set(iterations))
    assert iterations[-1] == solution.n_iter


@pytest.mark.quick(8)
@pytest.mark.parametrize("method", PROVED_BY_STEPS)
def test_every_step_is_between_the_bounds_of_the_optimum(method: str) -> None:
    best = solved(method, tol=1e-9)
    with pytest.warns(match="max_iter"):
        early = solved(method, max_iter=2, tol=1e-9)
    assert early.n_iter == 2
    assert early.lower_bound <= best.objective <= early.objective
    assert best.history[-1].gap <= 1e-9 * best.certificate.scale
    for step in (*early.history, *best.history):
        slip = 1e-12 * abs(step.objective)
        assert step.gap == pytest.approx(step.objective - step.lower_bound, rel=1e-9, abs=slip)
        assert step.lower_bound <= best.objective + slip
        assert step.objective >= best.lower_bound - slip


@pytest.mark.quick(8)
@pytest.mark.parametrize("method", names())
def test_the_gradient_of_evaluate_is_that_of_the_objective(method: str) -> None:
    rng, params = np.random.default_rng(0), small(method)
    d = metric_size(method)
    A = within(method, drawn(rng, d))  # no margin is exactly kept there, and no vote tied
    told = cvxml.evaluate(method, X, Y, A, **params)
    gradient = getattr(told, "gradient", getattr(told, "subgradient", None))
    if np.shape(gradient) != A.shape or d == len(X):  # none, one by weights, or one in the feature space
        return
    for _ in range(4):
        E = within(method, drawn(rng, d)) - within(method, drawn(rng, d))
        up, down = (objective_of(method, X, Y, A + step * E, **params) for step in (1e-6, -1e-6))
        assert np.sum(gradient * E) == pytest.approx((up - down) / 2e-6, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", CONVEX)
def test_a_metric_at_random_gets_no_diagnosis_but_a_factor(method: str) -> None:
    rng = np.random.default_rng(0)
    best = solved(method).metric
    for share in (0.5, 1.0):
        noise = drawn(rng, len(best))
        wrong = (1 - share) * best + share * np.linalg.norm(best) * noise / np.linalg.norm(noise)
        report = cvxml.check(method, X, Y, within(method, wrong), **small(method))
        assert report.verdict in NOT_OPTIMAL
        assert not [said for said in report.diagnosis if "factor" not in said]


# ---------------------------------------------------------------- what it proves


def drawn(rng: np.random.Generator, d: int) -> FloatArray:
    """A metric (d, d) at random."""
    root = rng.standard_normal((d, d))
    return root @ root.T / d


def metric_size(method: str) -> int:
    """Rows of a metric for `X`."""
    of, given = checked(method, X, Y, **small(method))
    return of.metric_size(given)


def within(method: str, A: FloatArray) -> FloatArray:
    """A metric that the problem for `X` allows."""
    return allowed(method, X, Y, A, **small(method))


def distance(method: str, one: FloatArray, other: FloatArray) -> float:
    """Frobenius, of metrics on the points (kernel_mlsvm) in the feature space, whose points `evaluate` has."""
    difference = one - other
    if len(one) == len(X):
        E = cvxml.evaluate(method, X, Y, one, **small(method)).embedding
        difference = E.T @ difference @ E
    return float(np.linalg.norm(difference))


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", CONVEX)
def test_the_optimum_lies_within_the_radius(method: str) -> None:
    best, rng = solved(method, tol=1e-10), np.random.default_rng(1)
    radius = best.certificate.radius
    assert np.isfinite(radius) == get(method).RADIUS, (
        f"{method}: change RADIUS = {get(method).RADIUS}. RADIUS = True says that the certificate bounds the distance "
        f"to the optimum, and its radius is {radius}"
    )
    d = len(best.metric)
    for size in (1e-4, 1e-3, 1e-2, 1e-1, 0.3):
        turn = np.eye(d) + size * rng.standard_normal((d, d)) / np.sqrt(d)
        near = within(method, turn @ best.metric @ turn.T)
        proof = cvxml.certify(method, X, Y, near, best.dual, **small(method))
        assert distance(method, near, best.metric) <= proof.radius + best.certificate.radius
        assert np.isfinite(proof.radius) or not get(method).RADIUS


HOSTILE = (0.0, -1.0, 1e-323, 1e-300, 1e-3, 1e3, 1e290, 1.7e308, np.nan, np.inf, -np.inf)
WHERE = {"all": slice(None), "every other": slice(None, None, 2), "first": slice(1)}


@pytest.mark.quick(12)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("method", [name for name in names() if get(name).DUAL])
def test_no_dual_lifts_the_bound_above_the_optimum(method: str, where: str) -> None:
    """Some or all numbers of one part of the dual are replaced. The dual is refused, or its bound is true."""
    params = {name: value for name, value in small(method).items() if name != "n_components"}
    best = cvxml.solve(method, X, Y, tol=1e-9, **params)
    for name, size in product(get(method).DUAL, HOSTILE):
        values = np.array(best.dual[name])
        if values.dtype.kind != "f":
            continue
        values.flat[WHERE[where]] = size
        for metric in (best.metric, allowed(method, X, Y, 1e-9 * best.metric, **params)):
            try:
                proof = cvxml.certify(method, X, Y, metric, {**best.dual, name: values}, **params)
            except ValueError:
                assert not abs(size) < 1e290, (name, size)
                continue
            assert np.isfinite(proof.lower_bound), (name, size)
            assert proof.lower_bound - proof.rounding <= best.objective + best.certificate.rounding, (
                name,
                size,
            )


@pytest.mark.quick(6)
@pytest.mark.parametrize("method", [name for name in CONVEX if name not in ("glml", "kernel_mlsvm")])
def test_exact_mode_has_an_interval_for_metrics_of_every_size(method: str) -> None:
    """No exponential of a distance overflows."""
    best = solved(method, tol=1e-7)
    for size in (1e-300, 1e300):
        metric = within(method, size * np.eye(len(best.metric)))
        found = exact_of(method, X, Y, metric, best.dual, **small(method))
        assert found.lower_bound <= found.objective
        assert float(found.lower_bound) == pytest.approx(best.lower_bound, rel=1e-5)


# ---------------------------------------------------------------- where it starts from


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", STARTED)
def test_a_run_goes_on_from_a_solution(method: str) -> None:
    first = solved(method, tol=1e-4)
    again = solved(method, tol=1e-4, warm_start=first)
    finer = solved(method, tol=1e-8, warm_start=first)
    assert again.n_iter <= (1 if method == "ssvm" else 0)  # CCCP stops after a step that wins nothing
    assert again.objective == pytest.approx(first.objective, rel=1e-13)
    np.testing.assert_allclose(again.metric, first.metric, atol=1e-14 * np.linalg.norm(first.metric))
    assert finer.status is solved_status(method)
    assert finer.objective <= first.objective


@pytest.mark.parametrize("method", [name for name in CONVEX if name in STARTED])
def test_a_start_from_another_convex_problem_is_refused(method: str) -> None:
    other = "mcml" if method == "mmc" else "mmc"
    said = f"is a solution of {other}, not of {method}"
    with pytest.raises(ValueError, match=f"warm_start {said}"):
        solved(method, warm_start=solved(other))


# ---------------------------------------------------------------- what changes nothing


Pair = tuple[cvxml.Solution, cvxml.Solution]


def moved(method: str, T: np.ndarray, shift: Any = 0.0, unit: float = 1.0) -> Pair:
    """Solutions for X and for X T + shift, with parameters that mean the same; T makes lengths `unit` times as long."""
    of, back = get(method), np.linalg.inv(T)
    here, there = small(method), small(method)
    for name, power in (of.UNITS or {}).items():
        if name in of.PARAMETERS:
            here.setdefault(name, of.PARAMETERS[name].default)
            there[name] = here[name] * unit**power
    # parameters that are points, metrics or lists follow by what they are
    following = {
        "query": (X[0] + 0.1, (X[0] + 0.1) @ T + shift),
        "prior": (PRIOR, back @ PRIOR @ back.T),
        "targets": (TARGETS, TARGETS),
    }
    for name in following.keys() & of.PARAMETERS.keys():
        here[name], there[name] = following[name]
    plain = cvxml.solve(method, X, Y, tol=1e-9, **here)
    lists = with_lists(method, there, plain.neighbors)
    return plain, cvxml.solve(method, X @ T + shift, Y, tol=1e-9, **lists)


def assert_same(
    method: str, plain: cvxml.Solution, other: cvxml.Solution, T: np.ndarray, told: str, per: float = 1.0
) -> None:
    """told: the attribute of the method that says that both are the same."""
    told = f"{method}: change {told}. The objective or the metric is another one in these features"
    assert other.status is plain.status, told
    assert per * other.objective == pytest.approx(plain.objective, rel=1e-9, abs=1e-12), told
    if len(other.metric) == len(X):  # a metric of points, not of features (kernel_mlsvm)
        back = other.metric
    else:  # of each of several metrics (plml)
        turn = np.kron(np.eye(len(other.metric) // len(T)), T)
        back = turn @ other.metric @ turn.T
    share = 1e-7 if get(method).RADIUS else 1e-6  # without a radius a gap of 1e-9 says less of the metric
    size = np.linalg.norm(plain.metric)
    np.testing.assert_allclose(back, plain.metric, atol=share * size, err_msg=told)


def follows(method: str) -> str:
    """What the method says of maps of the features, for a failure."""
    return f'FOLLOWS = "{get(method).FOLLOWS}", which is one of {MAPS}, from all linear maps to another order'


def units(method: str) -> str:
    """What the method says of the units of the features, for a failure."""
    return (
        f"UNITS = {dict(get(method).UNITS or {})}, the powers of the unit that the parameters follow, for example "
        'UNITS = {"C": -4, "objective": -4}; UNITS = None if no choice of the parameters gives the same problem'
    )


def following(*maps: str) -> list[str]:
    """The methods whose metric follows these maps of the features."""
    return [name for name in names() if get(name).FOLLOWS in maps]


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", following("linear", "rotation"))
def test_turning_the_features_turns_the_metric(method: str) -> None:
    assert_same(method, *moved(method, TURN), TURN, follows(method))


@pytest.mark.quick(6)
@pytest.mark.parametrize("method", names())
def test_neither_the_order_of_the_features_nor_the_origin_matters(method: str) -> None:
    backwards = np.eye(4)[::-1]
    solutions = moved(method, backwards, shift=np.array([0.0, 50.0, -2000.0, 1024.0]))
    assert_same(method, *solutions, backwards, follows(method))


@pytest.mark.quick(5)
@pytest.mark.parametrize("method", [name for name in names() if get(name).UNITS is not None])
@pytest.mark.parametrize("unit", [1e-8, 0.3, 1024.0, 1e8])
def test_units_do_not_matter_where_the_parameters_follow(method: str, unit: float) -> None:
    T = unit * np.eye(4)
    power = get(method).UNITS.get("objective", 0)
    assert_same(method, *moved(method, T, unit=unit), T, units(method), unit**-power)


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", following("linear", "scaling"))
def test_units_of_single_features_do_not_matter(method: str) -> None:
    T = np.diag([1e-6, 1e-2, 1.0, 1e6])
    assert_same(method, *moved(method, T), T, follows(method))


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", following("linear"))
def test_any_linear_map_of_the_features_maps_the_metric(method: str) -> None:
    T = np.random.default_rng(0).standard_normal((4, 4))
    assert_same(method, *moved(method, T), T, follows(method))
