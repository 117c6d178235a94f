"""Kernel MLSVM: the identity with the linear problem, the iterative path, distances to new points, the misprints."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import project_psd
from cvxml.methods.kernel_mlsvm import instance as kernel_instance
from cvxml.methods.kernel_mlsvm import method as kernel
from tests.instances import objective_of, random_data, real_data

KERNELS = [{"kernel": "poly", "degree": p} for p in range(1, 6)] + [{"kernel": "rbf", "gamma": 0.3}]


def features(X: np.ndarray, kernel: str, degree: int = 1, gamma: float = 1.0) -> np.ndarray:
    """Phi of each row of X, written out. For the rbf, X has one column, and 50 terms of its series are enough."""
    if kernel == "poly":
        products = X
        for _ in range(degree - 1):
            products = np.einsum("ni,nj->nij", products, X).reshape(len(X), -1)
        return products
    # exp(-gamma (x - y)^2) = exp(-gamma x^2) exp(-gamma y^2) sum_m (2 gamma x y)^m / m!
    orders = [math.sqrt((2 * gamma) ** m / math.factorial(m)) * X**m for m in range(50)]
    columns: np.ndarray = np.exp(-gamma * X**2) * np.hstack(orders)
    return columns


EXPLICIT = [{"kernel": "poly", "degree": p} for p in (1, 2, 3)] + [{"kernel": "rbf", "gamma": 0.7}]


def explicit_data(params: dict) -> tuple[np.ndarray, np.ndarray]:
    X, y = random_data(0, n=14, d=1 if params["kernel"] == "rbf" else 3)
    return X / 2, y


@pytest.mark.parametrize("params", EXPLICIT, ids=str)
def test_it_is_the_linear_problem_of_the_features_written_out(params: dict) -> None:
    X, y = explicit_data(params)
    P = features(X, **params)
    np.testing.assert_allclose(P @ P.T, kernel_instance.kernel_matrix(X, X, **params), atol=1e-13)
    linear = cvxml.solve("mlsvm", P, y, tol=1e-9)
    other = cvxml.solve("kernel_mlsvm", X, y, tol=1e-9, neighbors=linear.neighbors, **params)
    assert other.objective == pytest.approx(linear.objective, rel=1e-8)
    A = P.T @ other.metric @ P  # sum phi_ij Phi(x_i) Phi(x_j)^T
    assert np.linalg.norm(A - linear.metric) <= linear.certificate.radius + other.certificate.radius


@pytest.mark.parametrize("params", EXPLICIT, ids=str)
def test_eigenvectors_of_A_are_combinations_of_the_points_and_solve_8(params: dict) -> None:
    """Equations (4) to (8), with Phi written out on one side and kernel values alone on the other."""
    X, _ = explicit_data(params)
    X = X[:6]
    P, K = features(X, **params), kernel_instance.kernel_matrix(X, X, **params)
    phi = np.random.default_rng(0).standard_normal((6, 6))
    phi = phi + phi.T
    values, vectors = np.linalg.eigh(P.T @ phi @ P)
    size = np.abs(values).max()
    found = 0
    for value, v in zip(values, vectors.T, strict=True):
        if abs(value) < 1e-6 * size:
            continue
        # (4) gives the coefficients of (6): v = A v / lambda = sum_i ( phi P v )_i Phi(x_i) / lambda
        alpha = phi @ P @ v / value
        np.testing.assert_allclose(P.T @ alpha, v, atol=1e-7)  # (6)
        np.testing.assert_allclose(value * P @ v, K @ phi @ K @ alpha, atol=1e-7 * size)  # (5), (7)
        np.testing.assert_allclose(value * K @ alpha, K @ phi @ K @ alpha, atol=1e-7 * size)  # (8)
        found += 1
    assert found == np.linalg.matrix_rank(K, tol=1e-6 * size)


@pytest.mark.quick(1)
@pytest.mark.parametrize("params", [KERNELS[0], KERNELS[2], KERNELS[-1]])
def test_exact_and_iterative_agree_within_the_certified_gap(params: dict) -> None:
    X, y = random_data(1, n=18, d=3)
    X = X / 2
    exact = cvxml.solve("kernel_mlsvm", X, y, lam=0.5, tol=1e-9, **params)
    early = kernel.algorithm1(X, y, lam=0.5, n_steps=30, **params)
    phi = kernel.algorithm1(X, y, lam=0.5, n_steps=600, **params)
    early_gap = cvxml.certify("kernel_mlsvm", X, y, early, exact.dual, lam=0.5, **params).gap
    proof = cvxml.certify("kernel_mlsvm", X, y, phi, exact.dual, lam=0.5, **params)
    assert proof.feasibility.feasible
    assert 0 <= proof.gap <= 0.3 * early_gap  # the rate is 1/(lam t), with ups and downs
    K = kernel_instance.kernel_matrix(X, X, **params)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    distance = np.linalg.norm(root @ (phi - exact.metric) @ root)
    assert distance <= proof.radius + exact.certificate.radius


@pytest.mark.parametrize(("lam", "expected"), [(0.25, 2.0), (4.0, 0.5), (400.0, 80 / 2400)])
def test_the_first_step_of_the_iteration_ends_in_the_ball(lam: float, expected: float) -> None:
    """The kernel of degree 1 on a line. From 0 the point 0 pushes by 81 - 1, and eta / n is 1 / (6 lam)."""
    X, y, neighbors = np.array([[0.0], [1.0], [9.0]]), [0, 0, 1], [[1, 2], [], []]
    phi = kernel.algorithm1(X, y, lam=lam, degree=1, neighbors=neighbors, n_steps=1)
    assert (X.T @ phi @ X)[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("params", KERNELS)
def test_the_psd_step_is_the_projection_in_the_feature_space(params: dict) -> None:
    X, _ = random_data(2, n=8, d=3)
    K = kernel_instance.kernel_matrix(X / 2, X / 2, **params)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    rng = np.random.default_rng(0)
    phi = rng.standard_normal((8, 8))
    phi = phi + phi.T
    projected = root @ kernel.psd_step(K, phi) @ root
    expected = project_psd(root @ phi @ root)
    np.testing.assert_allclose(projected, expected, atol=1e-8 * np.linalg.norm(expected))


def test_printed_kernel_normalisation_is_not_the_projection() -> None:
    X, _ = random_data(3, n=6, d=6)
    K = kernel_instance.kernel_matrix(X, X, degree=1)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    phi = np.eye(6)
    right = root @ kernel.psd_step(K, phi) @ root
    printed = root @ kernel.psd_step(K, phi, paper=True) @ root
    # phi = 1 is psd already: the projection must leave A = sum x_i x_i^T as it is
    np.testing.assert_allclose(right, root @ root, atol=1e-10)
    assert np.linalg.norm(printed - root @ root) > 0.1 * np.linalg.norm(root @ root)


def printed_sum(P: np.ndarray, lambdas: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """(11) of the eigenpairs (9), with the right norm in (10) and one index, for the points in the rows of P."""
    V = P.T @ alphas
    V = V / np.linalg.norm(V, axis=0)
    result: np.ndarray = (V * lambdas) @ V.T
    return result


def test_eigenvectors_of_phi_K_need_not_be_orthogonal_where_eigenvalues_repeat() -> None:
    P = np.array([[1.0, 1.0], [1.0, 0.0]])  # the points, in rows
    K, phi = P @ P.T, np.array([[1.0, -1.0], [-1.0, 2.0]])
    np.testing.assert_array_equal(K, [[2, 1], [1, 1]])
    np.testing.assert_array_equal(phi @ K, np.eye(2))  # phi = K^-1: A is the identity, and psd
    np.testing.assert_array_equal(P.T @ phi @ P, np.eye(2))

    # every basis solves (9), with eigenvalues 1 and 1: the sum (11) depends on which one an eigensolver returns
    unit, sheared = np.eye(2), np.array([[1.0, 1.0], [0.0, 1.0]])
    of_unit, of_sheared = (printed_sum(P, np.ones(2), alphas) for alphas in (unit, sheared))
    np.testing.assert_allclose(of_unit, [[1.5, 0.5], [0.5, 0.5]], atol=1e-15)  # (1, 1)/sqrt(2) and (1, 0)
    np.testing.assert_allclose(
        of_sheared, [[1.3, 0.9], [0.9, 0.7]], atol=1e-15
    )  # (1, 1)/sqrt(2), (2, 1)/sqrt(5)
    lambdas, alphas = np.linalg.eig(phi @ K)
    assert abs(alphas[:, 0] @ K @ alphas[:, 1]) > 0.1
    assert np.linalg.norm(printed_sum(P, lambdas, alphas) - np.eye(2)) > 0.1

    # the symmetric form: orthonormal eigenvectors z of E^T phi E, alpha = (E^+)^T z, alpha^T K alpha' = z^T z'
    E, back = kernel_instance.factor(K)
    mus, z = np.linalg.eigh(E.T @ phi @ E)
    alphas = back.T @ z
    np.testing.assert_allclose(alphas.T @ K @ alphas, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(printed_sum(P, mus, alphas), np.eye(2), atol=1e-13)
    np.testing.assert_allclose(P.T @ kernel.psd_step(K, phi) @ P, np.eye(2), atol=1e-13)


def test_new_points_get_the_distance_of_the_definition() -> None:
    X, y = real_data("iris", 30)
    new = real_data("iris")[0][100:104]
    model = cvxml.KernelMLSVM(lam=0.1, degree=3).fit(X, y)
    pairs = np.stack([new[:2], new[2:]], axis=1)
    k = kernel_instance.kernel_matrix(new, X, degree=3)
    for p, (a, b) in enumerate([(0, 2), (1, 3)]):
        squared = (k[a] - k[b]) @ model.phi_ @ (k[a] - k[b])
        assert model.pair_distance(pairs)[p] == pytest.approx(np.sqrt(squared), rel=1e-7)
    moved = model.transform(new)
    assert np.linalg.norm(moved[0] - moved[2]) == pytest.approx(model.pair_distance(pairs)[0], rel=1e-9)


def test_training_points_keep_their_distances() -> None:
    X, y = random_data(4, n=20)
    model = cvxml.KernelMLSVM(lam=0.1, kernel="rbf", gamma=0.2).fit(X, y)
    shown = cvxml.evaluate("kernel_mlsvm", X, y, model.phi_, lam=0.1, kernel="rbf", gamma=0.2)
    Z = model.transform(X)
    for i in range(20):
        for j, d in zip(shown.targets[i], shown.target_distances[i], strict=True):
            assert np.sum((Z[i] - Z[j]) ** 2) == pytest.approx(d, rel=1e-6, abs=1e-10)


def test_an_overflowing_kernel_is_an_error() -> None:
    X, y = random_data(6, n=12)
    with pytest.raises(ValueError, match="overflows"):
        cvxml.solve("kernel_mlsvm", X * 1e80, y, degree=5)


@pytest.mark.parametrize("kernel_params", [{"degree": 2}, {"kernel": "rbf"}], ids=str)
def test_the_objective_of_what_is_no_metric_is_an_error(kernel_params: dict) -> None:
    X, y = random_data(7, n=12)
    best = cvxml.solve("kernel_mlsvm", X, y, **kernel_params).metric
    skew = np.triu(np.ones((12, 12)), 1) * np.abs(best).max()
    for wrong in (-best, best - 0.1 * np.eye(12) * np.abs(best).max(), best + skew):
        with pytest.raises(ValueError, match="not a metric"):
            objective_of("kernel_mlsvm", X, y, wrong, **kernel_params)
    with pytest.raises(ValueError, match="shape"):
        objective_of("kernel_mlsvm", X, y, best[:5, :5], **kernel_params)


def test_only_the_metric_in_the_feature_space_has_to_be_psd() -> None:
    X, y = random_data(8, n=12, d=3)
    best = cvxml.solve("kernel_mlsvm", X, y, degree=1).metric
    null = np.linalg.svd(X.T)[2][3:].T  # X^T z = 0: directions that K, of rank 3, does not see
    unseen = np.abs(best).max() * null @ null.T
    at_best, at_other = (objective_of("kernel_mlsvm", X, y, phi, degree=1) for phi in (best, best - unseen))
    assert np.linalg.eigvalsh(best - unseen)[0] < -0.5 * np.abs(best).max()
    assert at_other == pytest.approx(at_best, rel=1e-9)


@pytest.mark.parametrize("large", [2.0**6, pytest.param(2.0**20, marks=pytest.mark.slow)])
def test_a_small_direction_of_the_kernel_is_not_dropped(large: float) -> None:
    """A large feature beside a binary one that alone separates. Without the binary feature the optimum is 1."""
    n = 16
    X = np.stack([np.repeat(np.arange(-3.5, 4.5), 2) * large, np.where(np.arange(n) % 2, 1.0, -1.0)], axis=1)
    y = np.arange(n) % 2
    params = {"degree": 1, "lam": 0.1, "neighborhood": "per-class", "n_neighbors": 3}
    p = X[:, 1] / n
    attainable = objective_of("kernel_mlsvm", X, y, 0.25 * np.outer(p, p), **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve("kernel_mlsvm", X, y, max_iter=400, **params)
    proof = solution.certificate
    assert solution.lower_bound == pytest.approx(attainable, rel=0.05)
    if large < 2.0**20:
        assert proof.lower_bound - proof.rounding <= attainable
        assert proof.proves("normal")
    else:  # rounding of the kernel is far larger than the bound, and the user is told
        assert not proof.proves("loose")
        assert solution.to_dict()["undecided"] == proof.not_decided != ""
        assert proof.not_decided in str(solution)
        assert ("not decided", proof.not_decided) in solution.rows()


@pytest.mark.parametrize("gamma", [1e-300, 1e-9, None, 1e6])
def test_neighbours_of_the_rbf_are_those_of_the_points_at_every_gamma(gamma: float | None) -> None:
    """exp is monotone, also where the kernel rounds to 1 or to 0. By fractions, nothing rounded."""
    X, y = datasets.load("wine")
    X, y = X[::9], y[::9]
    exact = [[Fraction(v) for v in x] for x in X.tolist()]

    def distance(i: int, j: int) -> Fraction:
        return sum(((a - b) ** 2 for a, b in zip(exact[i], exact[j], strict=True)), Fraction(0))

    lists = [sorted(set(range(len(X))) - {i}, key=lambda j, i=i: distance(i, j))[:4] for i in range(len(X))]
    given: dict[str, Any] = {"kernel": "rbf", "gamma": gamma, "tol": 1e-3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = cvxml.solve("kernel_mlsvm", X, y, **given)
        theirs = cvxml.solve("kernel_mlsvm", X, y, neighbors=lists, **given)
    assert (ours.objective, ours.lower_bound) == (theirs.objective, theirs.lower_bound)
    chosen = kernel_instance.instance(X, y, kernel="rbf", gamma=gamma).N
    for i, listed in enumerate(lists):
        assert {*chosen.targets[i].tolist(), *chosen.impostors[i].tolist()} == set(listed)


def test_a_metric_of_the_wrong_size_is_told_the_number_of_points() -> None:
    X, y = np.random.default_rng(0).standard_normal((26, 4)), np.arange(26) % 2
    with pytest.raises(ValueError, match="26 points"):
        cvxml.check("kernel_mlsvm", X, y, np.eye(5))
