"""The same promises for every method. A new method gets these tests by its line in the registry and its EXAMPLES.

The first tests look at what the class of a method says of itself. A failure names the method, the attribute to add or
to change, and an example.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml import datasets
from cvxml.core.backend import solve_problem
from cvxml.core.example import Drawn, Hand
from cvxml.core.method import MAPS, METRIC_IS, OF_ZERO, ConvexMethod
from cvxml.core.report import Verdict
from cvxml.core.result import Status, Step
from cvxml.estimators import generated
from cvxml.methods import get, names
from cvxml.oracle.saved import recertify
from cvxml.solvers.family_method import FamilyMethod
from tests.instances import (
    CLOSED_FORM,
    NOT_OPTIMAL,
    START,
    checked,
    objective_of,
    own_misreadings,
    random_data,
    small,
    wild_dual,
    with_lists,
    wrong_dimensions,
)

every_method = pytest.mark.parametrize("method", names())

# ---------------------------------------------------------------- what the class of a method says of itself

SIXTEEN_POINTS = random_data(0, n=16, d=3)  # of three classes, for the parameters of SMALL
FOURTEEN_POINTS = random_data(7, n=14, d=3, classes=2)  # for the default parameters


@cache
def solved_small(method: str) -> cvxml.Solution:
    """A solution for sixteen points with the parameters of `SMALL`."""
    try:
        return cvxml.solve(method, *SIXTEEN_POINTS, **small(method))
    except ValueError as error:
        pytest.fail(
            f"{method}: add or change SMALL, parameters that suit sixteen points of three classes, for example "
            f'SMALL = {{"n_neighbors": 2}}. It is {dict(get(method).SMALL)}, and solve says: {error}'
        )


def unknown(method: str, given: Iterable[str], *also: str) -> list[str]:
    """Which names are no parameters of the method."""
    return [name for name in given if name not in (*get(method).PARAMETERS, *also)]


@every_method
def test_dual_names_the_parts_of_a_dual_and_their_dimensions(method: str) -> None:
    of, given = checked(method, *FOURTEEN_POINTS)
    dual = cvxml.solve(method, *FOURTEEN_POINTS, **START.get(method, {})).dual
    shapes = {name: np.shape(part) for name, part in dual.items()}
    assert of.DUAL or (of.DUAL == {} and not shapes), (
        f'{method}: add DUAL, for example DUAL = {{"price": "t", "triplets": "t 3"}}: the parts that every dual has, '
        f"with their dimensions. Of fourteen points and three features, the dual has {shapes}"
    )
    wrong = wrong_dimensions(of.DUAL, shapes, {"n": 14, "d": of.metric_size(given)})
    assert wrong == [], (
        f"{method}: change DUAL = {dict(of.DUAL)}. Of fourteen points and three features, {'; '.join(wrong)}"
    )


@every_method
def test_small_has_parameters_for_sixteen_points(method: str) -> None:
    assert solved_small(method).X.shape == (16, 3)


@every_method
def test_a_solution_has_a_radius_and_components(method: str) -> None:
    """L^T L is the metric, of each query if there are several."""
    solution = solved_small(method)
    assert solution.radius == solution.certificate.radius >= 0
    L = solution.components
    scale = np.linalg.norm(solution.metric) or 1.0
    np.testing.assert_allclose(np.swapaxes(L, -1, -2) @ L, solution.metric, rtol=0, atol=1e-7 * scale)


@pytest.mark.quick(6)
@pytest.mark.parametrize("factor", [5e-324, 1e-170, 1e170])
@every_method
def test_a_metric_of_any_size_gets_a_verdict(method: str, factor: float) -> None:
    """Squares of the entries underflow or overflow. The search for a misreading must not fail either.

    A metric that is too large for a softmax is refused.
    """
    of, given = checked(method, *SIXTEEN_POINTS, **small(method))
    metric = factor * np.eye(of.metric_size(given))
    try:
        report = cvxml.check(method, *SIXTEEN_POINTS, metric, **small(method))
    except ValueError as error:
        refused = str(error)
    else:
        refused = ""
        assert report.verdict is not Verdict.CERTIFIED
        assert not report.diagnosis
    assert not refused or (factor > 1 and "too large" in refused)


ENTRIES = {"negative": (-1.0, -1.0), "zero": (0.0, 0.0), "singular": (1.0, 0.0), "huge": (1e10, 1e10)}


@pytest.mark.quick(8)
@pytest.mark.parametrize(("most", "last"), ENTRIES.values(), ids=ENTRIES)
@every_method
def test_the_figures_of_a_report_say_something(method: str, most: float, last: float) -> None:
    """Diagonal matrices: no figure is infinite, and a matrix that is no metric has no objective of its own."""
    of, given = checked(method, *SIXTEEN_POINTS, **small(method))
    size = of.metric_size(given)
    metric = np.diag([most] * (size - 1) + [last])
    report = cvxml.check(method, *SIXTEEN_POINTS, metric, diagnosed=False, **small(method))
    assert not {"inf", "nan"} & set(re.findall(r"\w+", str(report)))
    shown = dict(report.rows())
    for name, text in shown.items():
        assert not {"inf", "nan", "-inf"} & set(text.split()), (name, text)
    feasible = report.feasibility.feasible
    assert report.figures_of == report.to_dict()["figures_of"] == ("metric" if feasible else "projection")
    assert ("objective" in shown) <= feasible
    assert (
        all(" (projected)" in name for name in shown if name.split(" (")[0] in ("gap", "step gap"))
        or feasible
    )


@pytest.mark.quick(3)
@every_method
def test_the_figures_of_a_solution_that_stopped_early_say_something(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve(method, *SIXTEEN_POINTS, max_iter=1, **small(method))
    words = [text for _, text in solution.rows()] + str(solution).split()
    assert not {"inf", "nan", "-inf"} & set(words)


@every_method
def test_small_bad_weights_and_units_name_parameters(method: str) -> None:
    of = get(method)
    for attribute, example in (
        ("SMALL", '{"lam": 10.0}'),
        ("BAD", '{"lam": (0, -1.0)}'),
        ("WEIGHTS", '{"lam": inf}'),
    ):
        strange = unknown(method, getattr(of, attribute))
        assert strange == [], (
            f"{method}: {attribute} has {strange}, which are no parameters; for example {attribute} = {example}. "
            f"The parameters are {list(of.PARAMETERS)}"
        )
    strange = unknown(method, of.UNITS or {}, "objective")
    assert strange == [], (
        f'{method}: UNITS has {strange}, which are neither parameters nor "objective"; for example '
        f'UNITS = {{"C": -4, "objective": -4}}. The parameters are {list(of.PARAMETERS)}'
    )


@every_method
def test_bad_has_a_tuple_of_values_for_each_parameter(method: str) -> None:
    for name, values in get(method).BAD.items():
        assert isinstance(values, tuple), (
            f'{method}: BAD["{name}"] must be a tuple of values that are refused, for example BAD = '
            f'{{"{name}": (0, -1.0)}}; it is {values!r}'
        )


@every_method
def test_follows_is_a_map_of_the_features(method: str) -> None:
    follows = get(method).FOLLOWS
    assert follows in MAPS, (
        f'{method}: FOLLOWS must be one of {MAPS}, for example FOLLOWS = "rotation"; it is {follows!r}'
    )


@every_method
def test_estimator_names_the_method_and_its_parameters(method: str) -> None:
    of, base = get(method), method.partition(":")[0]
    name = base.replace("_", " ").title().replace(" ", "")
    example = f'for example ESTIMATOR = Estimator("{name}")'
    said = of.ESTIMATOR
    if said is None:
        own = [getattr(cvxml, each) for each in cvxml.__all__ if hasattr(getattr(cvxml, each), "fit")]
        assert base in [getattr(each, "_method", None) for each in own], (
            f"{method}: add ESTIMATOR, {example}, or write a file for it in cvxml/estimators/"
        )
        return
    assert said.name.lower() == base.replace("_", ""), (
        f"{method}: ESTIMATOR = Estimator({said.name!r}) must have the id as its name, without _; {example}"
    )
    options = [each.partition(":")[2] for each in names() if each.startswith(f"{base}:")]
    strange = unknown(method, (*(said.positional or ()), *said.says), *options, "tol", "max_iter", "solver")
    assert strange == [], f"{method}: ESTIMATOR = {said} has {strange}, which are no parameters; {example}"
    estimator = getattr(generated, said.name)
    assert set(inspect.signature(estimator).parameters) >= {*(said.positional or ()), *options}


@cache
def texts_of_tests() -> tuple[str, ...]:
    """The tests of methods and of the diagnosis."""
    here = Path(__file__).parent
    found = [path for folder in (here, here.parent / "oracle") for path in folder.rglob("test_*.py")]
    return tuple(path.read_text(encoding="utf-8") for path in found)


@every_method
def test_every_misreading_has_a_test(method: str) -> None:
    """A file that names the method also names the misreading."""
    base = method.partition(":")[0]
    own = [text for text in texts_of_tests() if base in text]
    untested = [name for name in own_misreadings(method) if not any(f'"{name}"' in text for text in own)]
    assert untested == [], (
        f"{method}: no file in tests/methods/ names {untested} of MISREADINGS. Make the mistake with code of your own, "
        f'for example assert_named("{method}", "{untested[0]}", X, y, metric)'
    )


@every_method
def test_hand_has_optima_with_parameters_of_the_method(method: str) -> None:
    of = get(method)
    example = 'HAND = (Hand([[0.0], [1.0], [3.0]], [0, 0, 1], {"C": 1.0}, [[0.25]], 9 / 32),)'
    for k, hand in enumerate(of.HAND):
        strange = unknown(method, hand.params)
        assert strange == [], (
            f"{method}: HAND[{k}] has {strange}, which are no parameters; for example {example}"
        )
        labels = len(hand.X) if hand.y is None else len(hand.y)
        assert labels == len(hand.X), (
            f"{method}: HAND[{k}] has {labels} labels for {len(hand.X)} points; for example {example}"
        )


@every_method
def test_examples_are_there_to_be_tested_and_to_be_verified(method: str) -> None:
    examples = get(method).EXAMPLES
    told = (
        f"{method}: add to EXAMPLES, for example EXAMPLES = "
        '(drawn(5, 18, 3), drawn(7, 18, 5, degenerate=True), verified("iris", 60), timed("iris"))'
    )
    assert {each.use for each in examples} >= {"tested", "verified"}, told
    assert any(isinstance(each.points, Drawn) and each.points.degenerate for each in examples), told
    for each in examples:
        strange = unknown(method, each.params)
        assert strange == [], f"{method}: {each.points} of EXAMPLES has {strange}, which are no parameters"


# ---------------------------------------------------------------- what is solved and proved


def instances(method: str) -> list[tuple[Any, dict[str, Any]]]:
    """What a method has as examples to be tested: points with labels, and parameters."""
    return [(datasets.of_example(each), each.params) for each in get(method).EXAMPLES if each.use == "tested"]


def cases(*claims: str, without: tuple[str, ...] = ()) -> Any:
    """Every instance of the methods whose solutions can be proved to be one of `claims`; all but the first are slow."""
    found = [
        pytest.param(method, X, y, params, id=f"{method}-{k}", marks=pytest.mark.slow if k else ())
        for method in names()
        for k, ((X, y), params) in enumerate(instances(method))
        if get(method).CLAIM in claims and method not in without
    ]
    return pytest.mark.parametrize(("method", "X", "y", "params"), found)


every_case = cases("optimal", "stationary")
convex_case = cases("optimal")
started_case = cases("optimal", "stationary", without=CLOSED_FORM)
other_case = cases("stationary")
# whose convex step goes through cvxpy too
stepped_case = cases(
    "stationary", without=tuple(name for name in names() if "clarabel" not in get(name).SOLVERS)
)


def worse_points(method: str, X: Any, y: Any, metric: Any, **params: Any) -> list[Any]:
    """Metrics that the problem allows and that are worse than `metric` by the naive objective."""
    (of, given), d = checked(method, X, y, **params), len(metric)
    best = of.objective(given, metric)
    longer = metric + np.linalg.norm(metric) * np.diag(np.arange(d) == 0)
    candidates = [1.1 * metric, 2 * metric, np.eye(d), longer]
    if of.CLAIM == "optimal":  # where the problem is not convex, 0 may be stationary
        candidates.insert(0, 0 * metric)
    values = []
    for M in candidates:
        with suppress(ValueError):  # 0 has no multiple of determinant 1
            feasible = of.metric(given, of.allowed(given, M))
            values.append((of.objective(given, feasible), feasible))
    usual = max(abs(value) for value, _ in values if np.isfinite(value))
    worse = [feasible for value, feasible in values if value > best + 1e-4 * usual]
    assert worse, (
        f"{method}: no candidate is worse than the optimum. Define `allowed`, which makes a metric that the problem "
        "allows of any psd M, or choose other points in EXAMPLES, for example drawn(5, 18, 3)"
    )
    return worse


@convex_case
@pytest.mark.parametrize("solver", ["clarabel", pytest.param("scs", marks=pytest.mark.slow)])
def test_literal_equals_fast_within_the_certified_gaps(
    method: str, X: Any, y: Any, params: dict[str, Any], solver: str
) -> None:
    fast = cvxml.solve(method, X, y, tol=1e-8, **params)
    literal = cvxml.solve(method, X, y, solver=solver, tol=1e-3, **params)
    assert fast.rel_gap <= 1e-8
    assert literal.rel_gap <= 1e-3
    slip = 1e-13 * (1 + abs(fast.objective))
    assert literal.lower_bound <= fast.objective + slip
    assert fast.lower_bound <= literal.objective + slip


@pytest.mark.slow
@convex_case
def test_the_literal_problem_has_the_certified_value(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    fast = cvxml.solve(method, X, y, tol=1e-8, **params)
    primal, dual = cvxml.problem(method, X, y, **params), cvxml.problem(method, X, y, dual=True, **params)
    for problem in (primal, dual):
        solve_problem(problem, "clarabel")
        assert problem.value == pytest.approx(fast.objective, rel=1e-5, abs=1e-7)


@every_case
def test_the_fast_objective_is_that_of_the_definition(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    of, given = checked(method, X, y, **params)
    d, rng = len(cvxml.solve(method, X, y, **params).metric), np.random.default_rng(0)
    factors = [rng.standard_normal((d, r)) for r in (d, d + 2, 2 * d)]
    metrics = []
    for M in [np.eye(d), 1e3 * np.diag(rng.uniform(1, 2, d)), *(F @ F.T for F in factors)]:
        with suppress(ValueError):  # a singular matrix has no multiple of determinant 1
            metrics.append(of.metric(given, of.allowed(given, M)))
    assert metrics
    for M in metrics:
        assert of.fast_objective(given, M) == pytest.approx(of.objective(given, M), rel=1e-9)


@every_case
def test_the_objective_is_what_the_certificate_says(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    from_definition = objective_of(method, X, y, solution.metric, **params)
    assert from_definition == pytest.approx(solution.objective, rel=1e-10)
    proof = solution.certificate  # whose gap may be summed from its parts
    error = 1e-14 + proof.rounding + 2 * proof.value_rounding
    assert solution.gap == pytest.approx(solution.objective - solution.lower_bound, abs=error)
    assert solution.lower_bound <= solution.objective


@every_case
def test_check_certifies_the_optimum_and_refutes_worse_points(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, tol=1e-9, **params)
    explicit = with_lists(method, params, solution.neighbors)
    for tol in ("strict", "normal", "loose"):
        report = cvxml.check(method, X, y, solution.metric, tol=tol, **explicit)
        assert report.verdict is Verdict.CERTIFIED, (tol, str(report))
    for wrong in worse_points(method, X, y, solution.metric, **params):
        report = cvxml.check(method, X, y, wrong, diagnosed=False, **explicit)
        assert report.verdict in NOT_OPTIMAL
        assert report.witness is not None
        theirs = objective_of(method, X, y, wrong, **explicit)
        ours = objective_of(method, X, y, report.witness.metric, **explicit)
        assert theirs - ours == pytest.approx(report.witness.better_by, rel=1e-6, abs=1e-12)
        assert report.witness.better_by > 0


@pytest.mark.quick(17)
@every_case
def test_the_metric_is_psd_and_saved_proofs_hold(
    method: str, X: Any, y: Any, params: dict[str, Any], tmp_path: Any
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    assert solution.certificate.feasibility.feasible
    assert np.array_equal(solution.metric, solution.metric.T), (
        f"{method}: return (M + M.T) / 2 from the solver: a metric must be symmetric to the last bit"
    )
    for name in ("s.json", "s.npz"):
        solution.save(tmp_path / name)
        saved = cvxml.load(tmp_path / name)
        again = cvxml.certify(
            method,
            saved.X,
            saved.y,
            saved.metric,
            saved.dual,
            **with_lists(method, params, saved.neighbors),
        )
        assert again.proves(1e-6)
        assert again.lower_bound == pytest.approx(solution.lower_bound, rel=1e-12)
        if solution.step_lower_bound is not None:
            assert again.step is not None
            assert again.step.lower_bound == pytest.approx(solution.step_lower_bound, rel=1e-12)
        assert recertify(saved, 1e-6).verdict is Verdict.CERTIFIED


@pytest.mark.quick(12)
@convex_case
def test_permuting_the_points_permutes_nothing_else(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    solution = cvxml.solve(method, X, y, tol=1e-9, **params)
    moved = [[int(place[j]) for j in solution.neighbors[i]] for i in order if solution.neighbors]
    if "pairs" in params:
        pairs = {
            kind: [[int(place[i]) for i in pair] for pair in listed]
            for kind, listed in params["pairs"].items()
        }
        params = {**params, "pairs": pairs}
    if "quadruplets" in solution.params:  # by default drawn from the order of the labels
        params = {**params, "quadruplets": place[np.array(solution.params["quadruplets"])]}
    if "basis" in solution.params:  # by default drawn from the order of the points
        params = {**params, "basis": solution.params["basis"]}
    if solution.params.get("anchors") is not None:  # by default drawn from the order of the points
        weights = np.array(solution.params["weights"])[order]
        params = {**params, "anchors": solution.params["anchors"], "weights": weights}
    if "chunklets" in params:
        params = {**params, "chunklets": [params["chunklets"][i] for i in order]}
    other = cvxml.solve(method, X[order], y[order], tol=1e-9, **with_lists(method, params, moved))
    assert other.objective == pytest.approx(solution.objective, rel=1e-9, abs=1e-20)


@pytest.mark.quick(13)
@every_case
def test_evaluate_agrees_with_the_certificate(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    solution = cvxml.solve(method, X, y, **params)
    evaluation = cvxml.evaluate(method, X, y, solution.metric, **params)
    assert evaluation.objective == pytest.approx(solution.objective, rel=1e-9)
    assert set(evaluation.to_dict()) >= {"method", "objective"}


@started_case
def test_not_converging_always_warns(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    with pytest.warns(ConvergenceWarning, match="not certified"):
        solution = cvxml.solve(method, X, y, max_iter=1, tol=1e-9, **params)
    assert solution.status is Status.MAX_ITER
    assert not solution.certificate.proves(1e-9)
    assert solution.lower_bound <= solution.objective


@pytest.mark.quick(12)
@convex_case
def test_a_claimed_value_below_the_bound_is_refuted(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    explicit = with_lists(method, params, solution.neighbors)
    honest = cvxml.check(method, X, y, claimed_objective=solution.objective, **explicit)
    assert honest.verdict is Verdict.CERTIFIED
    # the scale of a local metric may be 0
    low = solution.lower_bound - 0.01 * solution.certificate.scale - 1e-6
    report = cvxml.check(method, X, y, solution.metric, claimed_objective=low, **explicit)
    assert report.verdict is Verdict.REFUTED


@stepped_case
@pytest.mark.parametrize("solver", ["clarabel", pytest.param("scs", marks=pytest.mark.slow)])
def test_the_literal_step_has_the_certified_value(
    method: str, X: Any, y: Any, params: dict[str, Any], solver: str
) -> None:
    """Primal and dual of the step at I and at a stationary metric, between the certified bounds."""
    of, given = checked(method, X, y, **params)
    if solver == "scs" and of.EXPONENTIAL:  # its duals of exponential cones are not good to 1e-5
        solver = "clarabel"
    for at in (np.eye(X.shape[1]), cvxml.solve(method, X, y, tol=1e-8, **params).metric):
        better, dual = of.improve(given, at, tol=1e-8)
        proof = of.certify(given, at, dual)
        assert proof.step is not None
        assert of.objective(given, better) <= proof.objective + 1e-12
        for problem in (of.problem(given, at), of.dual(given, at)):
            solve_problem(problem, solver)
            value = problem.value
            assert proof.step.lower_bound <= value + 1e-5 * abs(value)
            assert value <= proof.objective + 1e-5 * abs(value)
            assert value - proof.step.lower_bound <= 1e-5 * abs(value)


@pytest.mark.slow
@stepped_case
def test_a_literal_run_ends_stationary_too(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    solution = cvxml.solve(method, X, y, solver="clarabel", init="identity", tol=1e-5, **params)
    assert solution.status is Status.STATIONARY
    assert cvxml.check(method, X, y, solution.metric, tol="loose", **params).verdict is Verdict.CERTIFIED


@pytest.mark.slow
@stepped_case
def test_a_step_bound_holds_for_any_weights_and_any_metric(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    """Weak duality: whatever the weights, the bound of the step at W lies below its objective at W."""
    (of, given), rng, d = checked(method, X, y, **params), np.random.default_rng(0), X.shape[1]
    name = next(iter(of.DUAL))
    for _ in range(8):
        root = rng.standard_normal((d, d)) * 10 ** rng.uniform(-2, 0)
        W = root @ root.T
        _, dual = of.improve(given, W, tol=1e-3)
        noise = {**dual, name: np.asarray(dual[name]) + 0.3 * rng.standard_normal(np.shape(dual[name]))}
        for weights in (dual, noise):
            step = of.certify(given, W, weights).step
            assert step.lower_bound <= of.objective(given, W) + 1e-10
            assert step.gap == pytest.approx(
                step.objective - step.lower_bound, abs=1e-12 * (1 + abs(step.objective))
            )


@pytest.mark.slow
@other_case
def test_a_stationary_metric_is_never_called_optimal(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.claim == "stationary"
    assert "optimal" not in str(solution).replace("not proved optimal", "")
    report = cvxml.check(method, X, y, solution.metric, claim="optimal", **params)
    if report.verdict is Verdict.CERTIFIED:  # by a bound of the problem itself
        assert report.objective - report.lower_bound <= 1e-6 * report.scale


@other_case
def test_the_objective_is_invariant(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    """Permutation, rotation, translation, and X -> s X with W -> W / s^2 and C -> C / s^4 (F -> F / s^4)."""
    rng, d = np.random.default_rng(1), X.shape[1]
    root = rng.standard_normal((d, d))
    W, order, turn = root @ root.T, rng.permutation(len(X)), np.linalg.qr(rng.standard_normal((d, d)))[0]
    F = objective_of(method, X, y, W, **params)
    moved = dict(params)
    if "similarity" in params:
        moved["similarity"] = np.array(params["similarity"])[np.ix_(order, order)]
    assert objective_of(method, X[order], y[order], W, **moved) == pytest.approx(F, rel=1e-11)
    assert objective_of(method, X @ turn, y, turn.T @ W @ turn, **params) == pytest.approx(F, rel=1e-11)
    assert objective_of(method, X + 3.0, y, W, **params) == pytest.approx(F, rel=1e-11)
    weighted = "C" in params
    scaled = {**params, "C": params["C"] / 8.0**4} if weighted else params
    per = 8.0**4 if weighted else 1.0
    assert objective_of(method, 8 * X, y, W / 64, **scaled) == pytest.approx(F / per, rel=1e-11)


HAND = [
    pytest.param(method, hand, id=f"{method}-{k}")
    for method in names()
    for k, hand in enumerate(get(method).HAND)
]


@pytest.mark.quick(39)
@pytest.mark.parametrize(("method", "hand"), HAND)
def test_an_optimum_known_by_hand_is_found_and_certified(method: str, hand: Hand, tmp_path: Path) -> None:
    X, y, exact = hand.X, hand.y, get(method).has_exact
    solution = cvxml.solve(method, X, y, tol=1e-9, **hand.params)
    assert solution.objective == pytest.approx(hand.objective, rel=1e-8, abs=1e-12), (
        f"{method}: the optimum of {hand} is {solution.objective}, between it and {solution.lower_bound}"
    )
    assert solution.lower_bound <= hand.objective + 1e-12 * abs(hand.objective) + 1e-15, f"{method}: {hand}"
    metric = solution.metric
    if hand.metric is not None:
        told = (
            f"{method}: the metric of {hand} is another one; it is None in HAND if the optimum is not unique"
        )
        np.testing.assert_allclose(
            metric, hand.metric, rtol=1e-4, atol=1e-4 * np.linalg.norm(metric), err_msg=told
        )
        metric = np.array(hand.metric)
        naive = objective_of(method, X, y, metric, **hand.params)
        assert naive == pytest.approx(hand.objective, rel=1e-9, abs=1e-12), f"{method}: `objective` of {hand}"
    report = cvxml.check(method, X, y, metric, exact=exact, **hand.params)
    assert report.verdict is Verdict.CERTIFIED, str(report)
    if report.exact is not None:
        size, bound = abs(hand.objective), float(report.exact.lower_bound)
        assert hand.objective - 1e-6 * size <= bound <= hand.objective + 1e-12 * size + 1e-15, (
            f"{method}: the exact bound of {hand} is {bound}"
        )
    solution.save(tmp_path / "s.json")
    saved = cvxml.load(tmp_path / "s.json")
    assert recertify(saved, 1e-6, exact).verdict is Verdict.CERTIFIED
    if hand.metric is not None:  # otherwise other metrics are optimal too
        wrong = worse_points(method, X, y, solution.metric, **hand.params)[-1]
        report = cvxml.check(method, X, y, wrong, exact=exact, diagnosed=False, **hand.params)
        assert report.verdict in NOT_OPTIMAL
        beside = replace(saved, metric=wrong, claimed={})
        assert recertify(beside, 1e-6, exact).verdict is not Verdict.CERTIFIED


@pytest.mark.quick(10)
@pytest.mark.parametrize("method", names())
def test_any_dual_bounds_any_metric(method: str) -> None:
    """Weak duality, in floats: whatever the dual, no metric is below the bound, and the gap is none below 0."""
    X, y = SIXTEEN_POINTS
    rng, params = np.random.default_rng(0), small(method)
    (of, given), best = checked(method, X, y, **params), solved_small(method)
    for size in 10.0 ** rng.uniform(-4, 2, 8):
        root = rng.standard_normal((of.metric_size(given),) * 2) * 10.0 ** rng.uniform(-3, 1)
        M = of.allowed(given, root @ root.T)
        proof = of.certify(given, M, wild_dual(rng, best.dual, size, len(X)))
        assert np.isfinite(proof.lower_bound)
        value = of.objective(given, M)
        assert proof.lower_bound <= value + 1e-12 * abs(value) + proof.value_rounding
        assert proof.gap >= -proof.rounding
    # duals near the optimum: a bound that is too high by a factor is seen here, and not far below
    value = of.objective(given, best.metric)
    for factor in (0.5, 1.0, 1.5, 4.0):
        near = {
            name: factor * part if np.asarray(part).dtype.kind == "f" else part
            for name, part in best.dual.items()
        }
        proof = of.certify(given, best.metric, near)
        assert proof.lower_bound <= value + 1e-12 * abs(value) + proof.value_rounding


@pytest.mark.parametrize("method", [name for name in names() if isinstance(get(name), FamilyMethod)])
def test_the_exact_member_has_no_constant_that_is_rounded(method: str) -> None:
    """1/3 as a float is another number than 1/3: with such a constant the exact interval is that of another problem."""
    of, given = checked(method, *SIXTEEN_POINTS, **small(method))
    family = of.member(given, Fraction)
    constants = {
        f"{type(loss).__name__}.{name}": value
        for loss, rows in family.terms
        for name, value in (*vars(loss).items(), ("unit", getattr(rows, "unit", 1)))
    }
    constants |= {
        name: value for name, value in vars(family.regularizer).items() if name in ("lam", "beta", "v")
    }
    rounded = {
        name: value
        for name, value in constants.items()
        if np.asarray(value).dtype.kind == "f" and not np.array_equal(value, np.round(value))
    }
    assert rounded == {}, (
        f"{method}: make each constant in `member` with `number`, for example Hinge(number(1) / given.count). Floats "
        f"where Fractions were asked for: {rounded}"
    )


@pytest.mark.quick(5)
@convex_case
def test_the_literal_problem_at_a_metric_has_the_naive_objective(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    """Two statements of the same objective: cvxpy's with the metric held fixed, and the loops."""
    of, given = checked(method, X, y, **params)
    if type(of).through_cvxpy is not ConvexMethod.through_cvxpy:
        return  # the variable is not the metric itself
    rng, d = np.random.default_rng(0), of.metric_size(given)
    root = rng.standard_normal((d, d)) / d
    M = of.allowed(given, root @ root.T + np.eye(d))
    problem = of.problem(given)
    variables = {v.name(): v for v in problem.variables()}
    metrics = [v for name, v in variables.items() if name in METRIC_IS]
    assert len(metrics) == 1, (
        f"{method}: the metric must be the one variable of `problem` whose name is among {METRIC_IS}, for example "
        f'cp.Variable((d, d), symmetric=True, name="M"); its variables are {list(variables)}'
    )
    fixed = cp.Problem(problem.objective, [*problem.constraints, metrics[0] == M])
    solve_problem(fixed, "clarabel")
    assert fixed.value == pytest.approx(of.objective(given, M), rel=1e-5)


SIX_POINTS = random_data(0, n=6, d=3, classes=2)
ENUMERATED = ("mlr", "ssvm")  # their literal problems have a row for each ranking or set


def literal(method: str, **weights: Any) -> tuple[Any, Any]:
    """The checked data of a small instance, and its literal problem. weights: `cvxpy.Parameter` objects."""
    data = SIX_POINTS if method in ENUMERATED else SIXTEEN_POINTS
    params = {**small(method), **({"k": 1} if method == "mlr" else {})}
    given = get(method).instance(
        *data, **{name: value for name, value in params.items() if name not in weights}
    )
    return given, cvxml.problem(method, *data, **{**params, **weights})


@every_method
def test_each_constraint_of_the_literal_problem_has_its_own_label(method: str) -> None:
    of = get(method)
    given, problem = literal(method)
    labels = [constraint.label for constraint in problem.constraints]
    assert len(of.constraint_names(given)) == len(labels), (
        f"{method}: add constraint_names, which names each constraint of problem, for example "
        f'["M psd", "xi >= 0", *triplet_names(given.triplets())]. The constraints are, in order: '
        f"{[str(constraint) for constraint in problem.constraints[:4]]} ..."
    )
    assert len(set(labels)) == len(labels)
    numbers = {row.tag for section in of.STATEMENT.sections for row in section.rows}
    assert {text.split(" ")[0] for text in labels if text.startswith("(")} <= numbers


@every_method
def test_a_label_says_which_constraint_it_is(method: str) -> None:
    """Cones and signs by their type and variable. Triplets, pairs and points by their value at a metric."""
    given, problem = literal(method)
    rng, X = np.random.default_rng(0), given.E if method == "kernel_mlsvm" else given.X
    metric: dict[str, Any] = {}
    for variable in problem.variables():
        variable.value = np.zeros(variable.shape)
    constants = {c.label: c.expr.value for c in problem.constraints if hasattr(c, "expr")}
    for variable in problem.variables():
        variable.value = np.zeros(variable.shape)
        if variable.name().split("_")[0] in METRIC_IS or variable.name() == "w":
            root = rng.standard_normal(variable.shape)
            variable.value = root @ root.T if root.ndim == 2 else np.abs(root)
            metric[variable.name()] = variable.value

    def D(i: int, j: int) -> float:
        matrix = next(iter(metric.values()))
        if method == "schultz_joachims":
            matrix = given.A @ np.diag(metric["w"]) @ given.A.T
        if method == "plml":  # i is the first point of the triplet
            matrix = sum(given.W[i, b] * metric[f"M_{b}"] for b in range(len(metric)))
        return float((X[i] - X[j]) @ matrix @ (X[i] - X[j]))

    for constraint in problem.constraints:
        words = constraint.label.split(" ", maxsplit=1)[1] if constraint.label[0] == "(" else constraint.label
        kind, *rest = words.replace(",", "").split()
        if rest == ["psd"] and len(kind.split("_")[0]) == 1:
            assert isinstance(constraint, cp.constraints.PSD)
            if kind != "S_w":
                assert [v.name() for v in constraint.variables()] == [kind]
        elif rest == [">=", "0"]:
            assert isinstance(constraint, cp.constraints.Inequality)
            assert [v.name() for v in constraint.variables()] == [kind]
        elif kind == "triplet":
            i, j, l = map(int, rest)
            assert constraint.expr.value == pytest.approx(1 - D(i, l) + D(i, j))
        elif (
            kind in ("similar", "dissimilar") and method != "dml_eig"
        ):  # which states them in other coordinates
            sign = 1 if kind == "similar" else -1
            here = constraint.expr.value - constants[constraint.label]
            assert here == pytest.approx(sign * D(*map(int, rest)))
        elif kind == "margin":
            i = int(rest[-1])
            near, far = (max(D(i, j) for j in given.N.targets[i]), min(D(i, j) for j in given.N.impostors[i]))
            assert constraint.expr.value == pytest.approx(near + 1 - far)


@pytest.mark.quick(9)
@every_method
def test_each_weight_of_the_literal_problem_may_be_a_parameter_of_cvxpy(method: str) -> None:
    of = get(method)
    assert {*of.WEIGHTS} <= {*of.literal_weights} <= {*of.PARAMETERS}
    for name in of.literal_weights:
        usual = getattr(literal(method)[0], name)
        parameter = cp.Parameter(nonneg=True, value=usual, name=name)
        _, problem = literal(method, **{name: parameter})
        assert problem.is_dcp(dpp=True)
        assert parameter in problem.parameters()
        rng = np.random.default_rng(0)
        values = [rng.uniform(0.5, 1, variable.shape) for variable in problem.variables()]
        for weight in (usual, usual / 2):
            parameter.value = weight
            _, again = literal(method, **{name: weight})
            for stated in (problem, again):
                for variable, value in zip(stated.variables(), values, strict=True):
                    variable.value = value + value.T if value.ndim == 2 else value
            assert problem.objective.value == pytest.approx(again.objective.value, rel=1e-12), (name, weight)
            kept = [c.expr.value for c in problem.constraints if hasattr(c, "expr")]
            assert all(
                np.allclose(a, c.expr.value)
                for a, c in zip(kept, [c for c in again.constraints if hasattr(c, "expr")], strict=True)
            )


@pytest.mark.parametrize("method", names())
def test_a_method_tells_its_statement_and_source(method: str) -> None:
    statement = getattr(get(method), "STATEMENT", None)
    assert statement is not None, (
        f'{method}: add STATEMENT, for example STATEMENT = Statement("cvxml.methods.frobmetric", ("problem", "dual"))'
    )
    assert any("cp.Problem(" in line for section in statement.sections for line in section.code)
    assert "min" in str(statement)


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", [name for name in names() if get(name).CLAIM == "optimal"])
def test_a_back_end_that_proves_too_little_is_not_converged(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (X, y), params = instances(method)[0]
    module: Any = get(method)
    honest = module.through_cvxpy

    def worse(given: Any, solver: str) -> Any:
        found = honest(given, solver)
        return found._replace(metric=worse_points(method, X, y, found.metric, **params)[-1], proof=None)

    monkeypatch.setattr(module, "through_cvxpy", worse)
    with pytest.warns(ConvergenceWarning, match="try another solver"):
        solution = cvxml.solve(method, X, y, solver="clarabel", **params)
    assert solution.status is Status.BACKEND


@every_method
def test_what_no_metric_changes_is_not_called_stationary(method: str) -> None:
    """All points are equal: an objective that is the same for every metric says nothing of this one."""
    of, (_, y) = get(method), SIXTEEN_POINTS
    if of.CLAIM == "optimal":
        return
    points, params = np.ones((16, 3)), small(method)
    y = np.arange(16.0) if method == "mlkr" else y
    if method in ("nca", "mlkr"):
        with pytest.raises(ValueError, match="equal"):
            of.instance(points, y, **params)
        return
    given = of.instance(points, y, **params)
    values = [of.objective(given, M) for M in (np.zeros((3, 3)), np.eye(3), np.diag([1.0, 2.0, 3.0]))]
    assert len(set(values)) > 1


@pytest.mark.parametrize("method", ["scml", "rtml", "boostmetric", "plml", "ssvm"])
def test_a_proved_zero_metric_is_told(method: str) -> None:
    """The classes overlap so much that the metric 0 is optimal. Another metric has no such note."""
    solution = cvxml.solve(method, *datasets.overlapping(0, 30, 3, 3))
    assert not solution.metric.any()
    assert OF_ZERO in solution.notes
    other = cvxml.solve(method, *SIXTEEN_POINTS, **small(method))
    assert (OF_ZERO in other.notes) == (not other.metric.any())


def test_a_zero_metric_that_is_not_proved_is_not_told() -> None:
    """Gerrymandering starts at 0, and is stopped there."""

    def stopped(step: Step) -> None:
        raise KeyboardInterrupt

    with pytest.warns(match="interrupted"):
        solution = cvxml.solve("ssvm", *datasets.overlapping(0, 30, 3, 3), callback=stopped)
    assert not solution.metric.any()
    assert OF_ZERO not in solution.notes


ZERO_AT: dict[str, dict[str, Any]] = {
    "mlr": {"C": 1e-6},
    "kernel_mlsvm": {"degree": 1},
}


@pytest.mark.parametrize("method", [method for method in names() if get(method).TELLS_OF_ZERO])
def test_a_method_that_tells_of_zero_itself_does(method: str) -> None:
    solution = cvxml.solve(method, *datasets.overlapping(0, 30, 3, 3), **ZERO_AT.get(method, {}))
    assert not solution.metric.any()
    assert OF_ZERO not in solution.notes
    assert any(re.search(r"\b0\b", note) for note in solution.notes)


@pytest.mark.quick(6)
@every_method
def test_the_values_of_features_of_any_unit_have_the_objective_of_the_solution(method: str) -> None:
    """`evaluate` computes the objective by the definition, from the metric alone, also where units differ by 1e12."""
    X, y = SIXTEEN_POINTS
    points = X * [2.0**20, 1.0, 2.0**-20]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve(method, points, y, tol=1e-3, max_iter=20, **small(method))
    given = {name: value for name, value in solution.params.items() if name in get(method).PARAMETERS}
    shown = cvxml.evaluate(method, points, y, solution.metric, **given)
    assert shown.objective == pytest.approx(solution.objective, rel=1e-7, abs=1e-12)
