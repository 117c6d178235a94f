"""Kernel MLSVM: K is E E^T to rounding only. What that loses, against the kernel in exact fractions."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Dual, Solution
from cvxml.methods.kernel_mlsvm.instance import Instance, instance
from cvxml.methods.kernel_mlsvm.rounding import entries_error
from tests.instances import fractions, random_data
from tests.methods.mlsvm.test_mlsvm_rounding import is_psd

KERNELS: list[dict[str, Any]] = [
    {"degree": 1},
    {"degree": 2},
    {"degree": 5},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 1e-3},
]
OFFSETS = [(0.0, 0.1), (10.0, 1e-3), (1e5, 0.1)]  # of the points, with lam


@pytest.mark.quick(1)
@pytest.mark.parametrize(("offset", "lam"), OFFSETS)
@pytest.mark.parametrize("params", KERNELS, ids=str)
def test_rounding_covers_what_the_factor_of_the_kernel_loses(
    params: dict[str, Any], offset: float, lam: float
) -> None:
    y = np.arange(8) % 2
    X = random_data(3, n=8, d=2)[0] + 3 * y[:, None] + offset
    given_lists: dict[str, Any] = {
        **params,
        "lam": lam,
        "neighbors": [np.delete(np.arange(8), i) for i in range(8)],
    }
    solution, given = solved(X, y, **given_lists), instance(X, y, **given_lists)
    proof = solution.certificate
    K = kernel_in_fractions(given)
    of_value = max(proof.rounding, proof.value_rounding)
    if proof.rounding == 0:  # decided exactly, or it is a mistake
        assert not solution.metric.any()
        assert is_psd(-(K @ exact_edges(K, proof.dual) @ K))
    else:
        assert abs(exact_bound(given, K, proof.dual) - proof.lower_bound) <= of_value
    assert abs(exact_objective(given, K, solution.metric) - proof.objective) <= of_value


def test_points_far_from_the_origin_prove_nothing() -> None:
    # the kernel's values are 1e16, and the points differ by 1: a bound of 1 was proved where a metric has 0.008
    X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]]) + 1e8
    y = np.array([0, 0, 1, 1])
    lists = [np.delete(np.arange(4), i) for i in range(4)]
    params: dict[str, Any] = {"degree": 1, "lam": 0.1, "neighbors": lists}
    here = cvxml.solve("mlsvm", X, y, lam=0.1, neighbors=lists)
    assert here.certificate.proves(1e-6)
    far = solved(X, y, **params)
    assert far.lower_bound - far.certificate.rounding <= here.objective + here.certificate.rounding
    assert not far.certificate.proves(1e-3)


def test_zero_is_not_certified_where_rounding_hides_the_optimum() -> None:
    rng = np.random.default_rng(0)
    shapes = [(rng.standard_normal((20, 2)), 10.0 ** rng.uniform(4, 8)) for _ in range(17)]
    for X, offset in (shapes[1], shapes[16]):
        y = (X[:, 0] > 0).astype(int)
        params: dict[str, Any] = {"degree": 1, "lam": 0.1}
        lists = instance(X + offset, y, **params).N.lists
        best = cvxml.solve("mlsvm", X + offset, y, lam=0.1, neighbors=lists)
        far = cvxml.check("kernel_mlsvm", X + offset, y, np.zeros((20, 20)), tol="loose", **params)
        assert far.objective is not None
        assert best.objective < 0.9 * far.objective
        assert far.verdict is Verdict.INCONCLUSIVE


def test_exactly_is_not_said_of_another_metric() -> None:
    # the second feature is lost beside the first: phi is dear along it, and E does not show that
    n, y = 8, np.array([0, 0, 0, 1, 1, 1, 0, 1])
    first = 1e4 + np.array([0.0, 0.0, 0.5, 3.0, 3.25, 3.5, 0.25, 2.75])
    X = np.column_stack([first, 1e-5 * np.array([1.0, -1, 0, 0, 0, 0, 0, 0])])
    params: dict[str, Any] = {
        "degree": 1,
        "lam": 0.1,
        "neighbors": [np.delete(np.arange(n), i) for i in range(n)],
    }
    best = solved(X, y, **params)
    E = instance(X, y, **params).E
    M = E.T @ best.metric @ E
    u = np.concatenate([[0.0, 0.0], np.linalg.pinv(E[2:].T)[:, 0]])
    phi = M[0, 0] * np.outer(u, u)
    phi[:2, :2] = 2.0 ** np.round(np.log2(10 * M[0, 0] / 4e-10)) * np.array([[1, -1], [-1, 1]])
    dear, cheap = X.T @ phi @ X, X.T @ best.metric @ X
    assert dear[1, 1] > 5 * cheap[0, 0]
    assert (
        cvxml.check("kernel_mlsvm", X, y, phi, tol="loose", exact=True, **params).verdict
        is not Verdict.CERTIFIED
    )


@pytest.mark.quick(4)
@pytest.mark.parametrize("params", KERNELS, ids=str)
@pytest.mark.parametrize("shape", ["graded", "many equal terms"])
def test_no_entry_of_the_kernel_is_off_by_more_than_is_counted(params: dict[str, Any], shape: str) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(6) % 2
    if shape == "graded":  # what eigenvectors lose of the large points is much beside the small ones
        X = rng.standard_normal((6, 2)) * 10.0 ** -np.arange(6)[:, None]
    else:  # rounding of equal terms does not cancel
        X = 0.1 + 0.2 * (rng.random((6, 1000)) < 0.001)
    given = instance(X, y, neighbors=[np.delete(np.arange(6), i) for i in range(6)], **params)
    E = fractions(given.E)
    assert np.all(np.abs(E @ E.T - kernel_in_fractions(given)) <= fractions(entries_error(given)))


@pytest.mark.parametrize("params", KERNELS, ids=str)
def test_points_near_the_origin_are_proved_all_the_same(params: dict[str, Any]) -> None:
    X, y = random_data(4, n=24, d=3)
    assert cvxml.solve("kernel_mlsvm", X, y, **params).certificate.proves(1e-6)


def solved(X: np.ndarray, y: np.ndarray, **params: Any) -> Solution:
    """The solution, converged or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve("kernel_mlsvm", X, y, max_iter=1000, **params)


def kernel_in_fractions(given: Instance) -> np.ndarray:
    """kappa(x_i, x_j); the rbf to 60 digits, which are more than its least eigenvalue needs."""
    points = fractions(given.X)
    if given.kernel["kernel"] == "poly":
        powers: np.ndarray = (points @ points.T) ** given.kernel["degree"]
        return powers
    squares = np.sum((points[:, None] - points) ** 2, axis=2)
    values: np.ndarray = np.vectorize(exponential, otypes=[object])(
        -Fraction(given.kernel["gamma"]) * squares
    )
    return values


def exponential(x: Fraction) -> Fraction:
    """exp(x) to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def exact_bound(given: Instance, K: np.ndarray, dual: Dual) -> float:
    """sum_i s_i - ||G + S||^2 / (2 lam), S psd and near P_+(-G), by the kernel alone."""
    B = exact_edges(K, dual)
    values, vectors = np.linalg.eigh(given.E.T @ B.astype(float) @ given.E)
    C = fractions(given.back.T @ (vectors * np.sqrt(np.maximum(-values, 0))))
    product = K @ (B + C @ C.T)
    total = np.sum(fractions(dual["u"]))
    return float(total - np.sum(product * product.T) / (2 * Fraction(given.lam)))


def exact_edges(K: np.ndarray, dual: Dual) -> np.ndarray:
    """B, the prices on their edges."""
    B = fractions(np.zeros(K.shape))
    for name, sign in (("u", 1), ("w", -1)):
        for (i, j), value in zip(dual[f"{name}_index"].tolist(), dual[name].tolist(), strict=True):
            for row, column, end in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                B[row, column] += sign * end * Fraction(value)
    return B


def exact_objective(given: Instance, K: np.ndarray, metric: np.ndarray) -> float:
    """lam/2 tr(K phi K phi) and the slacks, by the kernel alone."""
    phi, N = fractions(metric), given.N

    def d(i: int, j: int) -> Fraction:
        distance: Fraction = (K[i] - K[j]) @ phi @ (K[i] - K[j])
        return distance

    slack = sum(
        max(Fraction(0), 1 + max(d(i, j) for j in N.targets[i]) - min(d(i, j) for j in N.impostors[i]))
        for i in N.usable.tolist()
    )
    product = K @ phi
    return float(Fraction(given.lam) / 2 * np.sum(product * product.T) + slack / len(K))


def test_the_bound_is_off_by_as_much_beside_a_metric_without_an_objective() -> None:
    X, y = random_data(3, n=8, d=2)
    dual = cvxml.solve("kernel_mlsvm", X + 10, y, lam=1e-3).dual
    identity, absurd = (
        cvxml.certify("kernel_mlsvm", X + 10, y, size * np.eye(8), dual, lam=1e-3) for size in (1e-9, 1e200)
    )
    assert absurd.objective == np.inf
    assert absurd.lower_bound == identity.lower_bound
    assert absurd.value_rounding >= 0.5 * identity.value_rounding > 0


@pytest.mark.filterwarnings("ignore:kernel_mlsvm")
@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (19, 51))])
def test_no_result_has_a_larger_gap_than_zero(seed: int) -> None:
    """Kernel values reach 1e13 here, so entries of phi that are right to 1e-16 may give any objective."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((16, 4)) * [1e-1, 1e1, 2e3, 1e-1]
    y = np.arange(16) % 2
    solution = cvxml.solve("kernel_mlsvm", X, y)
    zero = cvxml.evaluate("kernel_mlsvm", X, y, np.zeros((16, 16)), neighbors=solution.neighbors).objective
    assert solution.gap <= zero * (1 + 1e-12)
