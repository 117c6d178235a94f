"""Exact intervals: against floating point, against fractions straight from the definitions, and where floats fail."""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import cvxml
from cvxml.core.balls import ball, cholesky_is_positive, ends, pivots, precision
from cvxml.core.exact import Exact, integers
from cvxml.core.integer_matrices import missing_to_psd, root_of
from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.methods import get, get_exact, names
from cvxml.methods.ssvm import enumeration as ssvm
from cvxml.methods.ssvm import exact as ssvm_exact
from cvxml.methods.ssvm.instance import instance as ssvm_instance
from tests.instances import checked, exact_of, mlsvm_from_kkt, random_data, small, soft_labels, wild_dual

CASES: list[tuple[str, dict[str, Any]]] = [
    ("mlsvm", {"lam": 0.1}),
    ("kernel_mlsvm", {"degree": 2}),
    ("kernel_mlsvm", {"degree": 3, "lam": 0.01}),
    ("ssvm", {"n_neighbors": 3}),
    ("ssvm", {"n_neighbors": 4, "C": 0.3}),
    ("glml", {"priors": "empirical"}),
    ("glml", {"alpha": 0.3, "query": [5.0, 9.0, -8.0], "priors": [0.2, 0.3, 0.5]}),
    ("nca", {"criterion": "f"}),
    ("nca", {"criterion": "g"}),
    ("nca", {"criterion": "g", "similarity": soft_labels(3, 24)}),
]


def data(method: str) -> tuple[FloatArray, np.ndarray]:
    X, y = random_data(7, n=24, d=3, classes=2 if method == "nca" else 3)
    X[:, 0] *= 3 if method == "ssvm" else 1
    X[:, 0] += y if method == "mlsvm" else 0
    return X * (1 + y[:, None]) if method == "glml" else X, y


def solved(method: str, X: FloatArray, y: np.ndarray, **params: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one that is not tight has an interval too
        return cvxml.solve(method, X, y, **params)


def psd(rng: np.random.Generator, d: int, size: float = 1.0) -> FloatArray:
    L = rng.standard_normal((d, d)) * size
    square: FloatArray = L @ L.T
    return square


@pytest.mark.quick(7)
@pytest.mark.parametrize(("method", "params"), CASES)
@pytest.mark.parametrize("where", ["optimum", "elsewhere"])
def test_the_interval_is_that_of_the_certificate(method: str, params: dict[str, Any], where: str) -> None:
    X, y = data(method)
    solution = solved(method, X, y, **params)
    metric = solution.metric
    if where == "elsewhere":
        metric = metric + 0.1 * psd(np.random.default_rng(0), len(metric), np.linalg.norm(metric) ** 0.5)
        metric = metric / np.linalg.det(metric) ** (1 / 3) if method == "glml" else metric
    exact = exact_of(method, X, y, metric, solution.dual, **params)
    proof = cvxml.certify(method, X, y, metric, solution.dual, **params)
    proof = proof.step or proof
    allowed = proof.rounding + 1e-12 * (1 + abs(proof.objective))
    assert exact.lower_bound <= exact.objective
    assert float(exact.objective) == pytest.approx(proof.objective, rel=0, abs=allowed)
    assert float(exact.lower_bound) >= proof.lower_bound - allowed
    if method != "nca":  # there certify.py keeps a distance from the edge of the cone, and is a little below
        assert float(exact.lower_bound) == pytest.approx(proof.lower_bound, rel=0, abs=allowed)
    assert float(exact.gap) <= proof.gap + 2 * allowed
    assert float(exact.scale) == pytest.approx(proof.scale, rel=1e-5, abs=1e-10)
    assert exact.distance <= 1e-9 * np.linalg.norm(metric)


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", [m for m in names() if get(m).CLAIM == "optimal"])
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 2))
def test_any_dual_gives_a_bound_below_every_metric(method: str, seed: int, log_size: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=12, d=2, classes=2)
    params = {k: v for k, v in small(method).items() if k not in ("kernel", "gamma")}  # rbf is not rational
    (of, given), best = checked(method, X, y, **params), solved(method, X, y, tol=1e-3, **params)
    d = of.metric_size(given)
    one, other = (of.allowed(given, psd(rng, d, 10**log_size)) for _ in range(2))
    dual = wild_dual(rng, best.dual, 1.0, len(X))
    exact = of.exact(given, one, dual)
    value = of.exact(given, other, dual).objective
    assert exact.lower_bound <= min(exact.objective, value)
    stored = of.exact_as_stored(given, one, dual, root=root_of(one))
    assert stored.lower_bound <= min(stored.objective, value)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 2))
def test_any_dual_gives_a_bound_of_nca_where_it_is_convex(seed: int, log_size: float) -> None:
    """Everyone has one partner."""
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=10, d=2, classes=5)
    one, other = (psd(rng, 2, 10**log_size) for _ in range(2))
    dual = {"R": 9 * rng.standard_normal((2, 2)), "interior": psd(rng, 2, 3.0)}
    exact = exact_of("nca", X, y, one, dual, criterion="g")
    value = exact_of("nca", X, y, other, dual, criterion="g").objective
    assert exact.lower_bound <= min(exact.objective, value)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 2))
def test_any_dual_gives_a_bound_of_the_step_of_gerrymandering(seed: int, log_size: float) -> None:
    """Of the step at one metric, whose objective at another is enumerated."""
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=10, d=2, classes=2)
    one, other = (psd(rng, 2, 10**log_size) for _ in range(2))
    dual = {"q": rng.standard_normal(40), "q_index": rng.integers(0, 10, (40, 4))}
    exact = exact_of("ssvm", X, y, one, dual)
    assert exact.lower_bound <= exact.objective
    p = ssvm_instance(X, y)
    value = ssvm.objective(X, y, other, p.k, p.C, p.Lam)
    for i, h in enumerate(ssvm_exact.inferred(p, one).latent.tolist()):
        D = ssvm.distances(X, other, i)
        value += p.C * (sum(D[j] for j in h) - ssvm.winning(D, y, i, p.k, ssvm.nearest_sets)[1])
    assert float(exact.lower_bound) <= value * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_known_optimum_is_in_the_interval_and_certified(seed: int) -> None:
    known = mlsvm_from_kkt(seed)
    params = {"lam": known.lam, "neighbors": known.neighbors}
    report = cvxml.check("mlsvm", known.X, known.y, known.A, tol="strict", exact=True, **params)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None
    slack = 1e-13 * (1 + known.objective)  # X is rounded
    assert float(report.exact.lower_bound) - slack <= known.objective <= float(report.exact.objective) + slack


def test_exact_arithmetic_decides_where_double_precision_cannot() -> None:
    """The instance of test_rounding_covers_what_cancels, with its optimum."""
    turn, eps = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]]), 1e-4
    X = np.array([[0, 0], [1, 0], [1, eps], [0, 0], [-1, 0], [-1, eps]]) @ turn
    best = np.outer(turn[1], turn[1]) / (2 * eps**2)
    params = {"lam": 4 / 6 * eps**4, "neighbors": [[1, 2], [], [], [4, 5], [], []], "tol": "strict"}
    report = cvxml.check("mlsvm", X, [0, 0, 1, 0, 0, 1], best, exact=True, **params)
    assert report.verdict is Verdict.CERTIFIED
    assert cvxml.check("mlsvm", X, [0, 0, 1, 0, 0, 1], best, **params).verdict is Verdict.INCONCLUSIVE


@pytest.mark.quick(2)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
@pytest.mark.parametrize(("method", "params"), CASES)
def test_rounding_covers_what_an_offset_of_the_features_loses(
    method: str, params: dict[str, Any], offset: float
) -> None:
    X, y = data(method)
    X = X + offset
    if "query" in params:
        params = {**params, "query": np.add(params["query"], offset)}
    solution = solved(method, X, y, **params)
    interval = exact_of(method, X, y, solution.metric, solution.dual, **params)
    proof = solution.certificate
    assert abs(float(interval.objective) - proof.objective) <= proof.rounding
    if method != "nca":  # its dual is repaired in another way there
        proof = proof.step or proof
        if (proof.gap, proof.rounding) == (0, 0):
            # 0 is proved optimal by dual variables near these: their gap is an error squared
            assert 0 <= interval.gap <= 1e-24 * interval.objective
        else:
            assert abs(float(interval.gap) - proof.gap) <= proof.rounding


def narrow(
    case: str, eps: float
) -> tuple[str, FloatArray, np.ndarray, FloatArray, dict[str, Any], dict[str, Any]]:
    """Method, data of which one direction, turned, is of size eps, a metric as large there, a dual, and parameters."""
    method, *given = case.split()
    params: dict[str, Any] = {given[0]: float(given[1])} if given else {}
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    X, y = random_data(7, n=24, d=3, classes=3 if method == "glml" else 2)
    if method == "glml":
        X, params = X * (1 + y[:, None]), {"query": [2.0 if eps == 1 else 0.0, 0.0, 0.0]}
        A = turn.T @ np.diag([20.0, 1.0, 0.05]) @ turn
        return method, X, y, A, dict(cvxml.solve(method, X, y, **params).dual), params
    if case == "ssvm C 1e6":
        X[:8:2] += 1e3  # far from all but each other
    X = X * [eps, 1.0, 1.0] @ turn
    A, rng = np.eye(3) + np.outer(turn[0], turn[0]) / eps, np.random.default_rng(1)
    if method == "nca":
        if eps < 1:
            return method, X, y, A, {"R": A, "interior": A}, params
        params = {"criterion": "g"}
        best = cvxml.solve(method, X, y, **params)
        return method, X, y, 0.3 * best.metric, dict(best.dual), params
    pairs = np.argwhere(np.ones((24, 24)))
    duals = {"u": rng.random(576) / 24, "u_index": pairs, "w": rng.random(576) / 24, "w_index": pairs}
    nearest = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    order = nearest if case == "ssvm C .1" else pairs.sum(axis=1).reshape(24, 24) % 24
    weights = {"q": rng.random(24), "q_index": np.c_[np.arange(24), order[:, 1:4]]}
    return method, X, y, A, duals if method == "mlsvm" else weights, params


@pytest.mark.parametrize("eps", [1.0, 1e-3, 1e-5])
@pytest.mark.parametrize("case", ["mlsvm lam .1", "mlsvm lam 1e-6", "ssvm C .1", "ssvm C 1e6", "glml", "nca"])
def test_a_certificate_is_the_exact_one_but_for_its_rounding_which_is_small(case: str, eps: float) -> None:
    method, X, y, A, dual, params = narrow(case, eps)
    whole = cvxml.certify(method, X, y, A, dual, **params)
    proof, exact = whole.step or whole, exact_of(method, X, y, A, dual, **params)
    assert abs(float(exact.objective) - proof.objective) <= proof.rounding
    assert proof.lower_bound <= float(exact.lower_bound) + proof.rounding
    assert float(exact.gap) <= proof.gap + proof.rounding
    assert proof.rounding <= 1e-9 * (abs(proof.objective) + proof.gap + proof.scale)
    if method != "nca":  # whose certificate keeps a distance from the edge of the cone
        assert proof.gap <= float(exact.gap) + proof.rounding
        assert proof.scale == pytest.approx(float(exact.scale), rel=1e-6)
    if method == "mlsvm":  # lam-strongly convex
        assert proof.radius == pytest.approx((2 * proof.gap / params["lam"]) ** 0.5, rel=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("width", [1.0, 1e-3, 1e-5, 1e-7])
def test_rounding_covers_a_class_that_is_tight_beside_the_others(width: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    tight = width * rng.standard_normal((12, 2))
    X = np.concatenate([tight, rng.standard_normal((12, 2)) + 3]) + shift
    y = np.repeat([0, 1], 12)
    solution = solved("glml", X, y, query=X[0])
    interval = exact_of("glml", X, y, solution.metric, solution.dual, query=X[0])
    assert abs(float(interval.gap) - solution.gap) <= solution.certificate.rounding


def test_balls_prove_what_they_say() -> None:
    with precision():
        third = ball(Fraction(1, 3))
        low, high = ends(third)
        assert low < Fraction(1, 3) < high < low + Fraction(1, 10**70)
        assert ends(ball(0.1, 3)) == (Fraction(0.1) * 8,) * 2
        assert ends(arb(-(10**9)).exp()) == (
            0,
            Fraction(1, 2**20000),
        )  # outward: as a fraction it fills a gigabyte
        with pytest.raises(ValueError, match="256 bits"):
            ends(arb(-1).log())
        near = arb_mat([[third, 1], [1, 3]])  # singular: no precision proves it positive
        assert pivots(near) is None
        assert cholesky_is_positive(near + arb_mat([[0, 0], [0, arb(2) ** -240]]))
        assert not cholesky_is_positive(arb_mat([[1, 2], [2, 1]]))
    G = fmpz_mat([[3, 0], [0, -5]])
    assert missing_to_psd(G, 1)[1] == pytest.approx([10**0.5, 0])


def test_what_has_no_exact_mode_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    many, point = [[0.0] * 3] * 2, {"y": [1.0], "u": [1.0]}
    trees = {"q": [], "q_index": [], "tree": np.zeros((1, 4))}
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("kernel_mlsvm", {"u": [], "u_index": [], "w": [], "w_index": []}, {"kernel": "rbf"}, "rational"),
        ("ssvm", trees, {}, "tree"),
        ("ssvm", {"q": [], "q_index": []}, {"n_neighbors": 13}, "at most 2000"),
        ("glml", point, {"model": "mixture"}, "one Gaussian"),
        ("glml", {"y": [1.0]}, {}, "'u'"),
        ("nca", {"R": np.eye(3)}, {}, "'interior'"),
    ]
    X, y = random_data(7, n=80, d=3, classes=5)
    for method, dual, params, message in cases:
        of, given = checked(method, X, y, **params)
        metric = np.eye(of.metric_size(given))
        with pytest.raises(ValueError, match=message):
            exact_of(method, X, y, metric, dual, **params)
    with pytest.raises(ValueError, match="one query"):
        exact_of("glml", X, y, [np.eye(3)] * 2, point, query=many)
    with pytest.raises(ValueError, match="singular"):
        exact_of("glml", X, y, np.diag([1.0, 1, 0]), point)
    with pytest.raises(ValueError, match="root must be a finite matrix of 3 rows"):
        root_of(np.eye(3), np.ones((2, 2)))
    monkeypatch.setattr(type(get("nca")), "exact", Method.exact)
    with pytest.raises(ValueError, match="nca has no exact mode; the methods with an exact mode are: mlsvm"):
        get_exact("nca")


@pytest.mark.parametrize(("method", "params"), CASES[::2])
def test_without_flint_it_is_named(
    method: str, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data(method)
    solution = solved(method, X, y, **params)
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ValueError, match="pip install python-flint"):
        exact_of(method, X, y, solution.metric, solution.dual, **params)


def test_a_bound_of_a_step_is_not_called_one_of_the_optimum() -> None:
    X, y = random_data(3, n=10)
    step = cvxml.solve("ssvm", X, y, tol=1e-9)
    said = str(cvxml.check("ssvm", X, y, step.metric, exact=True).exact)
    assert "<= optimum of its convex step <=" in said
    best = cvxml.solve("mlsvm", X, y, tol=1e-9)
    assert "<= optimum <=" in str(cvxml.check("mlsvm", X, y, best.metric, exact=True).exact)


def test_a_value_alone_is_not_judged_exactly() -> None:
    X, y = random_data(0, n=20)
    with pytest.raises(ValueError, match="beside the claimed objective"):
        cvxml.check("mlsvm", X, y, claimed_objective=1.0, exact=True)


def test_an_interval_is_printed_outward() -> None:
    t = Fraction(1, 3)
    for low, high in ((t, 2 * t), (-2 * t, -t)):
        printed = Exact(low, high, 0.0, t).to_dict()
        said = {name: Fraction(printed[name]) for name in ("lower_bound", "objective", "gap", "scale")}
        assert said["lower_bound"] < low < high < said["objective"]
        assert said["gap"] > t > said["scale"]


@pytest.mark.slow
@pytest.mark.parametrize(("L", "lam"), [(2.0**20, 8006.32), (2.0**21, 7064.4)])
def test_exact_arithmetic_judges_the_matrix_itself_where_it_is_psd(L: float, lam: float) -> None:
    """A matrix made of its eigenvectors has lost what the points see of this one: 1e-5 of the scale and more."""
    p, v = np.array([3.0, -7.0]), np.array([7.0, 3.0])
    X, y = np.stack([0 * p, L * v, p, p + L * v]), np.array([0, 0, 1, 1])
    lists = [[1, 2], [0, 3], [3, 0], [2, 1]]
    A = np.outer(p, p) / lam
    entries = [[Fraction(a) for a in row] for row in A.tolist()]
    assert entries[0][0] * entries[1][1] > entries[0][1] ** 2
    # targets differ by L v, impostors by p: at p p^T / lam in rationals the former are at distance 0
    far = sum(Fraction(L * v[k]) * Fraction(L * v[m]) * entries[k][m] for k in range(2) for m in range(2))
    near = sum(Fraction(p[k]) * Fraction(p[m]) * entries[k][m] for k in range(2) for m in range(2))
    size = sum(a * a for row in entries for a in row)
    objective = Fraction(lam) / 2 * size + max(Fraction(0), 1 + far - near)
    scale = Fraction(58**2) / Fraction(lam) / 2
    excess = (objective - (1 - scale)) / scale
    assert excess > 1e-5
    report = cvxml.check("mlsvm", X, y, A, neighbors=lists, lam=lam, exact=True)
    assert report.verdict is not Verdict.CERTIFIED
    assert report.exact is not None
    assert report.exact.objective == objective


@pytest.mark.parametrize("size", [2.0**80, 1.0, 5e-324])
def test_floats_are_integers_times_a_power_of_two(size: float) -> None:
    array = size * np.array([[0.0, 1.0, -3.0], [7.0, 0.0, 2.0**30]])
    rows, exponent = integers(array)
    found = [[Fraction(entry) * Fraction(2) ** exponent for entry in row] for row in rows]
    assert found == [[Fraction(value) for value in row] for row in array.tolist()]
