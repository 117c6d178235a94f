"""What the note says of NCA's relatives and of low rank, on data that show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy, multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KDTree, KNeighborsClassifier

import cvxml
from cvxml import datasets

# suprema at infinity, as classes are apart
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def left_out(points: Any, y: Any) -> float:
    """The share of points whose nearest other point is of their class."""
    nearest = KNeighborsClassifier(1).fit(points, y).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(y[nearest] == y))


def two_pieces(n: int = 20) -> tuple[Any, Any]:
    """A class in two pieces, left and right of the other; the second feature is noise."""
    random = np.random.RandomState(0)
    y = np.repeat([0, 0, 1], n)
    return random.standard_normal((3 * n, 2)) * [0.3, 1] + np.repeat([[-3, 0], [3, 0], [0, 0]], n, axis=0), y


def test_lda_loses_nothing_where_classes_are_gaussians_of_one_covariance() -> None:
    """All ratios of the densities are those at the point's projection along what LDA drops."""
    random = np.random.RandomState(0)
    root, means = random.standard_normal((5, 5)), random.standard_normal((3, 5))
    covariance = root @ root.T
    kept = np.linalg.solve(covariance, (means[1:] - means[0]).T)  # LDA's directions
    back = covariance @ kept @ np.linalg.inv(kept.T @ covariance @ kept)
    for x in random.standard_normal((10, 5)):
        near = means[0] + back @ kept.T @ (x - means[0])
        of = np.array(
            [[multivariate_normal.logpdf(at, mean, covariance) for mean in means] for at in (x, near)]
        )
        ratios = of - of[:, :1]
        assert ratios[0] == pytest.approx(ratios[1], abs=1e-9)
        assert abs(of[0, 0] - of[1, 0]) > 1e-6


def test_where_they_are_not_lda_may_lose_everything_and_nca_nothing() -> None:
    X, y = two_pieces()
    assert left_out(LinearDiscriminantAnalysis().fit(X, y).transform(X), y) < 0.8
    assert left_out(cvxml.NCA(1, criterion="g", init=np.array([[1.0, 1.0]])).fit(X, y).transform(X), y) == 1


def test_mmc_wants_a_class_in_one_piece_and_nca_does_not() -> None:
    X, y = two_pieces()
    theirs, ours = cvxml.MMC(tol=1e-4).fit(X, y), cvxml.NCA(criterion="g").fit(X, y)
    weights = np.diag(theirs.get_mahalanobis_matrix())
    assert weights[0] < 0.1 * weights[1]  # of the feature that tells the classes apart
    assert left_out(theirs.transform(X), y) < left_out(ours.transform(X), y) == 1


def test_rca_takes_two_pieces_for_one_wide_gaussian() -> None:
    """The feature that tells the classes apart is the one in which the class of two pieces is wide."""
    X, y = two_pieces()
    theirs = cvxml.RCA().fit(X, y)
    weights = np.diag(theirs.get_mahalanobis_matrix())
    assert weights[0] < 0.5 * weights[1]
    assert left_out(theirs.transform(X), y) < left_out(X, y)


def test_the_error_of_the_nearest_neighbour_jumps_where_f_does_not() -> None:
    X, y = two_pieces()

    def at(t: float) -> np.ndarray:
        return X * [np.cos(t), np.sin(t)]

    def f(t: float) -> float:
        D = np.sum((at(t)[:, None] - at(t)) ** 2, axis=2)
        p = np.exp(-D) * (1 - np.eye(len(X)))
        return float(np.sum(p * (y[:, None] == y) / p.sum(axis=1, keepdims=True)))

    low, high = 0.0, np.pi / 2
    before, after = left_out(at(low), y), left_out(at(high), y)
    assert before != after
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if left_out(at(middle), y) == before else (low, middle)
    assert abs(left_out(at(low), y) - left_out(at(high), y)) >= 1 / len(X) - 1e-12
    assert abs(f(low) - f(high)) < 1e-6


def test_few_points_of_many_features_have_no_inverse_within_covariance_and_nca_needs_none() -> None:
    random = np.random.RandomState(1)
    y = np.arange(12) % 2
    X = random.standard_normal((12, 30)) + 3 * y[:, None] * (np.arange(30) == 0)
    inside = X - np.array([X[y == c].mean(axis=0) for c in (0, 1)])[y]
    assert np.linalg.matrix_rank(inside) == 10 < 30
    assert left_out(cvxml.NCA(2, criterion="g").fit(X, y).transform(X), y) == 1


def test_a_plane_takes_less_storage_and_less_search() -> None:
    """N D numbers against N d + d D; distances looked at by a tree, each a sum of as many terms."""
    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    metric = cvxml.NCA(2, criterion="g").fit(X, y)
    points = metric.transform(X)
    assert points.size + metric.components_.size < X.size / 5
    terms = []
    for each in (X, points):
        tree = KDTree(each, leaf_size=5)
        tree.reset_n_calls()
        tree.query(each, k=2)
        terms.append(tree.get_n_calls() * each.shape[1])
    assert terms[1] < terms[0] / 5


def test_g_is_minus_a_sum_of_divergences() -> None:
    """Of the classes drawn, given a point, from the class that it has: the note's reason for g."""
    random = np.random.RandomState(0)
    X, y = random.standard_normal((12, 3)), np.arange(12) % 3
    root = random.standard_normal((3, 3))
    total = 0.0
    for i in range(12):
        weights = [0.0 if j == i else np.exp(-np.sum((root @ (X[i] - X[j])) ** 2)) for j in range(12)]
        drawn = np.bincount(y, weights) / sum(weights)
        total += entropy(np.eye(3)[y[i]], drawn)
    found = cvxml.evaluate("nca", X, y, root.T @ root, criterion="g")
    assert float(found.objective) == pytest.approx(total)  # what is minimised is -g
