"""The report says to which set of metrics the distance of a candidate is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.methods import get, names
from tests.instances import checked, random_data, small

X, Y = random_data(2, 16, 3)
CONE = "the psd cone"
LIMITED = {
    "nca": {"n_components": 1, "criterion": "g"},
    "mlkr": {"n_components": 1},
    "lfda": {"n_components": 1, "alpha": 0.1},
}


def to_the_cone(M: FloatArray) -> float:
    """||M - P_+(M)||"""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return float(np.linalg.norm(M - (vectors * np.maximum(values, 0)) @ vectors.T))


def feasibility_of(method: str, M: FloatArray, **params: Any) -> tuple[Any, str]:
    """The feasibility in the report on M, and the sentence about it."""
    report = cvxml.check(method, X, Y, M, diagnosed=False, **params)
    assert report.feasibility is not None
    written = report.to_dict()["feasibility"]
    assert (written["distance_to"], written["distance_to_psd"]) == (
        report.feasibility.nearest,
        report.feasibility.distance,
    )
    return report.feasibility, str(report.feasibility)


@pytest.mark.parametrize("method", LIMITED)
def test_of_the_identity_the_distance_is_not_one_to_the_cone(method: str) -> None:
    """The identity is psd. It is sqrt(2) from the rank-1 metrics, and further from those of an embedding."""
    found, said = feasibility_of(method, np.eye(3), **LIMITED[method])
    assert not found.feasible
    assert found.distance > 1.4
    assert CONE not in (found.nearest, said)
    assert f"{found.nearest} {found.distance:.3g}" in said
    if method != "lfda":
        assert "rank 1" in found.nearest


@pytest.mark.parametrize("method", LIMITED)
def test_a_negative_matrix_within_the_rank_is_measured_to_the_cone(method: str) -> None:
    low = -np.outer([1.0, 2.0, 2.0], [1.0, 2.0, 2.0])
    found, _ = feasibility_of(method, low, **LIMITED[method])
    if method == "lfda":  # an embedding's metric has a range, which the zero matrix has not
        assert found.nearest != CONE
        return
    assert found.nearest == CONE
    assert found.distance == pytest.approx(9.0)


def test_a_psd_matrix_with_entries_beside_its_blocks_is_not_measured_to_the_cone() -> None:
    params = {"n_anchors": 2, "n_neighbors": 2, "graph_neighbors": 3}
    M = np.eye(6) + 0.5 * np.eye(6, k=3) + 0.5 * np.eye(6, k=-3)  # eigenvalues 1/2 and 3/2
    found, said = feasibility_of("plml", M, **params)
    assert found.distance == pytest.approx(np.sqrt(6 * 0.25))
    assert CONE not in (found.nearest, said)
    assert feasibility_of("plml", -np.eye(6), **params)[0].nearest == CONE


@pytest.mark.quick(8)
# The metric of a kernel is measured in its feature space.
@pytest.mark.quick(4)
@pytest.mark.parametrize("method", [name for name in names() if name != "kernel_mlsvm"])
def test_a_distance_to_the_cone_is_that(method: str) -> None:
    """Of matrices that are psd, indefinite and not symmetric: nothing else is called the distance to the cone."""
    rng, params = np.random.default_rng(4), small(method)
    size = get(method).metric_size(checked(method, X, Y, **params)[1])
    A = rng.standard_normal((size, size))
    for M in (np.eye(size), A @ A.T, A + A.T, np.eye(size) + 0.25 * np.eye(size, k=1)):
        found, _ = feasibility_of(method, M, **params)
        if found.nearest == CONE:
            expected = to_the_cone(M)
            assert found.distance == pytest.approx(expected, rel=1e-6, abs=1e-9 * np.linalg.norm(M))
