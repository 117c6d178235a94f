"""The distances and counts behind the picture of Isomap, against loops."""

from __future__ import annotations

import numpy as np
import pytest

from validation.glml_isomap import local_distances, wrong


def test_a_distance_is_the_mean_of_those_by_the_metrics_of_the_two() -> None:
    random = np.random.RandomState(0)
    X, roots = random.standard_normal((5, 3)), random.standard_normal((5, 3, 3))
    A = np.einsum("nij,nkj->nik", roots, roots)
    D = local_distances(X, A)
    for i in range(5):
        for j in range(5):
            both = [float(np.sqrt((X[i] - X[j]) @ A[at] @ (X[i] - X[j]))) for at in (i, j)]
            assert D[i, j] == pytest.approx(sum(both) / 2)


def test_a_point_is_wrong_beside_one_of_another_class() -> None:
    Z = np.array([[0.0, 0], [1, 0], [5, 0], [5.5, 0], [9, 0]])
    assert wrong(Z, np.array([1, 1, 1, 3, 3])) == [2, 3]
