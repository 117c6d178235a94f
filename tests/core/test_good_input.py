"""What must work: any form of the same data, degenerate data, any units; solved, certified and equal where equal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.inputs import check_labels, check_X
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Solution, Status
from cvxml.methods import get, names
from tests.instances import objective_of, random_data, small, ties

X, Y = random_data(0, n=16, d=3, classes=3)
TWO = Y % 2
GRID = np.random.default_rng(0).integers(0, 5, (16, 3)).astype(float)
ROUNDING = 128 * float(np.finfo(float).eps)  # 64 eps (1 + objective), the objective being at most about 1
PROVED = (Status.CONVERGED, Status.STATIONARY)
every_method = pytest.mark.parametrize("method", names())
method_with_lists = pytest.mark.parametrize(
    "method", [m for m in names() if "neighbors" in get(m).PARAMETERS]
)


class ArrayLike:
    """Something numpy converts, as a data frame is."""

    def __init__(self, values: Any):
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


def certified(method: str, X: Any, y: Any, tol: float = 1e-9, **params: Any) -> Solution:
    """The solution, after asking for its proof and for the verdict of `check` on its metric."""
    solution = cvxml.solve(method, X, y, tol=tol, max_iter=2000, **params)  # ample for 16 points
    assert solution.n_iter < 2000
    assert solution.status in PROVED
    judged = solution.certificate.step or solution.certificate
    if judged.kind != "stationary":  # whose gap is to a trivial bound
        assert judged.rel_gap <= 1e-6
    assert judged.gap >= 0
    assert solution.lower_bound <= solution.objective + ROUNDING
    assert np.isfinite(solution.metric).all()
    proof = cvxml.certify(method, X, y, solution.metric, solution.dual, **params)
    assert proof.proves(1e-6)
    return solution


def same(one: Solution, other: Solution) -> bool:
    return bool(abs(one.objective - other.objective) <= 1e-9 * abs(one.objective))


def few(method: str) -> int:
    """Points for the literal problem: all, or as few as the examples of a method that lists all rankings."""
    least = min(each.points.n or len(X) for each in get(method).EXAMPLES if each.use == "tested")
    return least if least < 8 else len(X)


LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda y: y.tolist(),
    "strings": lambda y: [f"class {c}" for c in y],
    "unicode": lambda y: np.array(["ä", "日本", ""])[y],
    "whole-floats": lambda y: y * 1.0,
    "small-integers": lambda y: y.astype(np.int8),
    "unsigned": lambda y: y.astype(np.uint64) + np.uint64(2**63),
    "negative": lambda y: -7 * y,
    "large-integers": lambda y: (y + 2**62).tolist(),
    "large-objects": lambda y: np.array([2**60 + int(c) for c in y], dtype=object),
    "larger-objects": lambda y: [2**70 + int(c) for c in y],
    "fractions": lambda y: [Fraction(int(c)) for c in y],
}


@cache
def solved(method: str, data: str = "X") -> Solution:
    return certified(method, {"X": X, "grid": GRID}[data], Y, tol=1e-6, **small(method))


@pytest.mark.parametrize("form", LABELS)
def test_labels_of_any_form_are_the_same_codes(form: str) -> None:
    given = LABELS[form](Y)
    codes = check_labels(given, len(Y))
    assert codes.dtype.kind == "i"
    assert [[a == b for b in codes] for a in codes] == [[a == b for b in Y] for a in Y]
    order = sorted(set(given.tolist() if isinstance(given, np.ndarray) else given))
    assert [order[c] for c in codes] == list(given)
    assert check_labels(TWO > 0, len(TWO)).tolist() == TWO.tolist()


# every method takes its labels through check_labels: one form that keeps the order of the classes, one that does not
@pytest.mark.quick(3)
@pytest.mark.parametrize("method", [m for m in names() if m != "mlkr"])  # whose y are numbers
@pytest.mark.parametrize("form", ["strings", "unicode"])
def test_labels_are_names_only(method: str, form: str) -> None:
    plain = solved(method)
    other = cvxml.solve(method, X, LABELS[form](Y), **small(method))
    if method == "glml":  # the order of the classes is the order of a sum
        np.testing.assert_allclose(other.metric, plain.metric, rtol=1e-9)
        return
    if method == "nca":  # here too
        assert other.status is Status.STATIONARY
        assert other.objective == pytest.approx(plain.objective, rel=1e-9)
        return
    if (
        method == "ssvm"
    ):  # another order of the classes is another order of summation, which CCCP may follow elsewhere
        assert objective_of(method, X, Y, other.metric, **small(method)) == pytest.approx(
            other.objective, rel=1e-12
        )
        assert cvxml.check(method, X, Y, other.metric, **small(method)).verdict is Verdict.CERTIFIED
        return
    assert np.array_equal(other.metric, plain.metric)
    assert other.objective == plain.objective


FEATURES: dict[str, Callable[[FloatArray], Any]] = {
    "lists": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "array-like": ArrayLike,
    "float32": lambda X: X.astype(np.float32),
    "long-double": lambda X: X.astype(np.longdouble),
    "int8": lambda X: X.astype(np.int8),
    "uint64": lambda X: X.astype(np.uint64),
    "integers": lambda X: [[int(v) for v in row] for row in X],
    "bools": lambda X: X > 2,
}


@pytest.mark.parametrize("form", FEATURES)
def test_features_of_any_form_are_the_same_numbers(form: str) -> None:
    array = check_X(FEATURES[form](GRID))
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert np.array_equal(array, GRID > 2 if form == "bools" else GRID)


@pytest.mark.quick(7)
@every_method  # each takes its features through check_X
@pytest.mark.parametrize("form", ["fortran", "float32"])
def test_features_in_any_form_are_computed_in_float64(method: str, form: str) -> None:
    given = FEATURES[form](GRID)
    plain = solved(method, "grid")
    other = cvxml.solve(method, given, Y, **small(method))
    assert other.metric.dtype == other.X.dtype == np.float64
    assert np.array_equal(other.metric, plain.metric)
    evaluation = cvxml.evaluate(method, given, Y, plain.metric, **small(method))
    assert evaluation.objective == pytest.approx(plain.objective, rel=1e-9)
    assert ties(method, given, Y, **small(method)) == ties(method, plain.X, Y, **small(method))


@pytest.mark.quick(3)
@every_method
def test_inputs_are_read_only_and_untouched(method: str) -> None:
    first = solved(method)
    points, labels, metric = X.copy(order="F"), Y.copy(), first.metric.copy()
    neighbors, dual = [p.copy() for p in first.neighbors], {k: v.copy() for k, v in first.dual.items()}
    arrays = [points, labels, metric, *neighbors, *dual.values()]
    copies = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    params = {**small(method), **({"neighbors": neighbors} if neighbors else {})}
    data, n = (method, points, labels), few(method)
    for _ in range(2):
        solution = cvxml.solve(*data, **params)
        assert np.array_equal(solution.metric, first.metric)
        solution.metric[:] = 0  # what comes back is the caller's
        for dual_too in (False, True):
            assert cvxml.problem(method, points[:n], labels[:n], dual=dual_too, **params).is_dcp()
        cvxml.evaluate(*data, metric, **params)
        assert cvxml.certify(*data, metric, dual, **params).proves(1e-6)
        assert cvxml.check(*data, metric, **params).verdict is Verdict.CERTIFIED
    assert cvxml.check(*data, np.eye(len(metric)), **params).verdict is Verdict.REFUTED
    assert all(np.array_equal(a, c) for a, c in zip(arrays, copies, strict=True))
    points.setflags(write=True)
    points *= 2
    assert np.array_equal(solution.X, X)


def test_without_a_usable_point_everything_is_zero() -> None:
    data, labels = np.array([[0.0], [0.1], [9.0], [9.1]]), [0, 0, 1, 1]
    solution = certified("mlsvm", data, labels, n_neighbors=1)
    assert solution.objective == 0
    assert cvxml.check("mlsvm", data, labels, [[0.0]], n_neighbors=1).verdict is Verdict.CERTIFIED
    assert cvxml.check("mlsvm", data, labels, [[1.0]], n_neighbors=1).verdict is Verdict.REFUTED
    for dual in (False, True):
        problem = cvxml.problem("mlsvm", data, labels, n_neighbors=1, dual=dual)
        assert problem.solve(solver="CLARABEL") == pytest.approx(0, abs=1e-7)


DEGENERATE: dict[str, tuple[FloatArray, np.ndarray]] = {
    "more-features-than-points": (np.random.default_rng(3).standard_normal((10, 25)), np.arange(10) % 2),
    "one-feature": (np.array([[10.0 * (i // 3) + i % 3] for i in range(15)]), np.arange(15) // 3),
    "constant-feature": (np.column_stack([X, np.full(16, 0.1)]), Y),
    "zero-feature": (np.column_stack([X, np.zeros(16)]), Y),
    "repeated-feature": (np.column_stack([X, X]), Y),
    "twins-of-a-class": (np.repeat(X[:8], 2, axis=0), np.repeat(Y[:8], 2)),
    "twins-of-two-classes": (np.repeat(X[:8], 2, axis=0), TWO),
    "grid": (np.array([[a, b] for a in range(4) for b in range(4)], dtype=float), TWO),
    "all-points-equal": (np.full((16, 3), 1.5), Y),
    "a-far-point": (np.vstack([X[:-1], [[30.0, 0, 0]]]), Y),
    "far-from-the-origin": (X + 8.0, Y),
    "a-single-point-class": (X, np.array([1] + [0] * 15)),
    "as-many-classes-as-points": (X, np.arange(16)),
    "six-points": (X[:6], TWO[:6]),
}
PARAMS = {
    "mlsvm": {"lam": 0.1},
    "kernel_mlsvm-1": {"lam": 0.1, "degree": 1},
    "kernel_mlsvm-2": {"lam": 10.0},
    "kernel_mlsvm-rbf": {"lam": 0.1, "kernel": "rbf"},
    "ssvm": {"C": 0.1, "n_neighbors": 1},
}


@pytest.mark.quick(17)
@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("case", PARAMS)
def test_degenerate_data(kind: str, case: str) -> None:
    data, labels = DEGENERATE[kind]
    method = case.split("-")[0]
    if method == "ssvm" and np.bincount(labels).min() < 2:
        with pytest.raises(ValueError, match="cannot win"):
            cvxml.solve(method, data, labels, **PARAMS[case])
        return
    solution = certified(method, data, labels, tol=1e-6, **PARAMS[case])
    explicit = {**PARAMS[case], **({"neighbors": solution.neighbors} if solution.neighbors else {})}
    assert cvxml.check(method, data, labels, solution.metric, **explicit).verdict is Verdict.CERTIFIED


@pytest.mark.quick(3)
@pytest.mark.parametrize("offset", [0.0, 10.0, 64.0, 300.0])
@pytest.mark.parametrize(
    "params",
    [{"degree": 2}, {"degree": 4}, {"kernel": "rbf", "gamma": 1e-3}, {"kernel": "rbf", "gamma": 1.0}],
    ids=str,
)
def test_the_kernel_metric_returned_is_the_one_certified(params: dict[str, Any], offset: float) -> None:
    # kernel matrices of condition numbers up to 1e12 and beyond: phi is far from the metric in the feature space
    data = X + offset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve("kernel_mlsvm", data, Y, lam=10.0, max_iter=600, **params)
    proof = cvxml.certify("kernel_mlsvm", data, Y, solution.metric, solution.dual, lam=10.0, **params)
    assert proof.proves(1e-6) == (solution.status is Status.CONVERGED)
    assert proof.objective == pytest.approx(solution.objective, rel=1e-9)


def test_zero_data_have_zero_as_metric() -> None:
    solution = certified("mlsvm", np.zeros((16, 3)), Y)
    assert not solution.metric.any()
    usable = cvxml.evaluate("mlsvm", np.zeros((16, 3)), Y, solution.metric).usable
    assert solution.objective == pytest.approx(usable / 16)
    with pytest.raises(ValueError, match="kernel matrix is zero"):
        cvxml.solve("kernel_mlsvm", np.zeros((16, 3)), Y)
    assert same(certified("kernel_mlsvm", np.zeros((16, 3)), Y, kernel="rbf"), solution)


@pytest.mark.parametrize("kind", ["plain", "grid", "twins-of-two-classes", "more-features-than-points"])
def test_the_linear_kernel_is_the_linear_problem(kind: str) -> None:
    data, labels = (X, Y) if kind == "plain" else DEGENERATE[kind]
    plain = certified("mlsvm", data, labels)
    assert same(certified("kernel_mlsvm", data, labels, degree=1, neighbors=plain.neighbors), plain)
    assert same(certified("kernel_mlsvm", data, labels, degree=1), plain)


@pytest.mark.parametrize("factor", [1e8, 1e-8, 2.0**-20])
def test_units_do_not_matter_for_a_kernel_of_degree_2_if_lam_follows(factor: float) -> None:
    plain = certified("kernel_mlsvm", X, Y)
    scaled = certified("kernel_mlsvm", X * factor, Y, lam=0.1 * factor**8)
    assert same(plain, scaled)
    assert np.linalg.norm(scaled.metric * factor**8 - plain.metric) <= 1e-3 * np.linalg.norm(plain.metric)


def test_features_that_say_nothing_change_nothing() -> None:
    plain = certified("mlsvm", X, Y)
    assert same(plain, certified("mlsvm", *DEGENERATE["constant-feature"]))
    assert same(plain, certified("mlsvm", *DEGENERATE["zero-feature"]))
    # on (x, x), A / 4 in each of four blocks gives the same distances at a quarter of ||A||^2
    doubled = certified("mlsvm", *DEGENERATE["repeated-feature"], lam=0.4, neighbors=plain.neighbors)
    assert same(plain, doubled)


@pytest.mark.quick(3)
@pytest.mark.parametrize("factor", [1e150, 1e100, 1e20, 1e8, 1e3, 1e-3, 1e-8, 1e-20, 1e-100, 1e-150, 1e-200])
@pytest.mark.parametrize("case", PARAMS)
def test_units_alone_end_in_a_proof_or_in_a_word(case: str, factor: float) -> None:
    method, said = case.split("-")[0], "nothing"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = cvxml.solve(method, X * factor, Y, max_iter=150, **PARAMS[case])
            assert -ROUNDING <= solution.lower_bound <= solution.objective + ROUNDING
            proven = solution.status in PROVED
            assert solution.certificate.proves(1e-6) == proven
            said = "certified" if proven else solution.status.sentence
        except ValueError as error:
            said = f"ValueError: {error}"
    assert [w.category for w in caught] == [ConvergenceWarning] * said.startswith("not certified")
    words = (
        "certified",
        "not certified: ",
        "ValueError: lam=",
        "ValueError: C=",
        "ValueError: the kernel matrix is zero",
    )
    assert said.startswith((*words, "ValueError: the poly kernel overflows"))
