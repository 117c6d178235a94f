"""The distances and counts behind the picture of Isomap, against loops."""

from __future__ import annotations

import numpy as np
import pytest

from validation.experiments.verdicts import Verdict
from validation.studies import glml_isomap
from validation.studies.glml_isomap import local_distances, other_parameters, slope_lines, wrong


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


def test_slopes_are_those_of_the_pictures_that_the_sentences_are_of() -> None:
    random = np.random.RandomState(0)
    slant, other = random.standard_normal((2, 900))
    flat = np.column_stack([random.standard_normal(900), random.standard_normal(900)])
    panels = {
        "Isomap, Euclidean": np.column_stack([other, slant + 0.5 * random.standard_normal(900)]),
        "Isomap, LMNN": flat,
        "Isomap, GLML": flat,
        "t-SNE": flat,
    }
    lines = slope_lines(panels, slant)
    euclid, glml, unfolded = glml_isomap.SENTENCES
    assert f"| {euclid} | {Verdict.SUPPORTED} |" in lines
    assert f"| {glml} | {Verdict.CONTRADICTED} |" in lines
    assert sum(line.startswith(("| Euclidean |", "| LMNN |", "| GLML |", "| t-SNE |")) for line in lines) == 8
    panels["Isomap, GLML"] = np.column_stack([other, random.choice([-1.0, 1.0], 900) * (3 - slant)])
    assert f"| {unfolded} | {Verdict.SUPPORTED} |" in slope_lines(panels, slant)


def test_other_parameters_are_those_of_their_row_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two points at distance 1, of which alpha I + gamma I makes alpha + gamma; counted as so many."""
    monkeypatch.setattr(glml_isomap, "local_metrics", lambda X, y, alpha: alpha * np.ones((2, 1, 1)))
    monkeypatch.setattr(glml_isomap, "in_plane", lambda D: D)
    monkeypatch.setattr(glml_isomap, "wrong", lambda D, y: range(round(float(D[0, 1] ** 2))))
    monkeypatch.setattr(glml_isomap, "ALPHAS", (1.0, 20.0))
    monkeypatch.setattr(glml_isomap, "GAMMAS", (3.0, 500.0))
    lines = other_parameters(np.array([[0.0], [1.0]]), np.array([1, 3]))
    assert lines[0] == "| GLML | gamma = 3 | gamma = 500 |"
    assert lines[2:] == ["| alpha = 1 | 4 | 501 |", "| alpha = 20 | 23 | 520 |"]
