"""The lesson gerrymandering, without a browser, against computations of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cvxml.lessons import path_of
from tests.lessons.run import lesson, run


def by_hand(X: np.ndarray, y: np.ndarray, W: np.ndarray, k: int) -> tuple[float, float]:
    """The least cost of a set with which the class of point 0 wins, and the largest S + Delta: over all sets."""
    D = np.einsum("nd,de,ne->n", X - X[0], W, X - X[0])
    cheapest, worst = np.inf, -np.inf
    for h in itertools.combinations(range(1, len(X)), k):
        votes = np.bincount(y[list(h)], minlength=y.max() + 1)
        cost = D[list(h)].sum()
        wins = votes[y[0]] > np.delete(votes, y[0]).max()
        cheapest = min(cheapest, cost) if wins else cheapest
        worst = max(worst, (0.0 if wins else 1.0) - cost)
    return float(cheapest), float(worst)


@pytest.mark.slow
def test_greedy_pays_421_for_330() -> None:
    shown = run("gerrymandering", scene="four classes, k = 5", query=(0.0, 0.0), stretch=1.0)
    assert shown["cost"]["printed"] == pytest.approx(4.21)
    assert shown["cost"]["exact"] == pytest.approx(3.30)
    assert shown["cost"]["enumerated"] == pytest.approx(3.30)
    assert by_hand(shown["X"], shown["y"], shown["W"], 5)[0] == pytest.approx(3.30)
    assert "**4.21** where **3.30**" in path_of("gerrymandering").read_text(encoding="utf-8")
    assert shown["wrong"]
    assert shown["L"]["exact"] == pytest.approx(shown["at_query"]["L"][0])


@pytest.mark.slow
def test_fig_1_has_the_sets_that_the_paper_names_and_the_greedy_is_right_there() -> None:
    shown = run("gerrymandering", scene="Fig. 1, k = 3", query=(0.0, 0.0), stretch=1.0)
    X, names = shown["X"], shown["names"]
    for way in ("exact", "printed"):
        star, hat = (sorted(names[j] for j in chosen.sets[0]) for chosen in shown["found"][way])
        assert star == ["a", "c", "e"]
        assert hat == ["c", "e", "f"]
    assert [sorted(names[j] for j in sets) for sets, _ in shown["found"]["enumerated"]] == [
        list("ace"),
        list("cef"),
    ]
    D = (X**2).sum(axis=1)
    inside = {name for name, squared in zip(names, D, strict=True) if squared < D[names.index("b")]}
    assert inside == set("xacefhij")  # LMNN's circle: b is the furthest target, e, f, h, i, j are inside
    assert not shown["wrong"]
    assert np.abs(shown["excess"]).max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "query", "stretch"),
    [
        ("four classes, k = 5", (1.5, 1.5), 0.25),
        ("four classes, k = 5", (-1.5, 0.3), 4.0),
        ("Fig. 1, k = 3", (1.5, -1.5), 4.0),
    ],
)
def test_wherever_the_query_goes_exact_inference_is_exact(
    scene: str, query: tuple[float, float], stretch: float
) -> None:
    shown = run("gerrymandering", scene=scene, query=query, stretch=stretch)
    cheapest, worst = by_hand(shown["X"], shown["y"], shown["W"], shown["k"])
    assert np.array_equal(shown["X"][0], query)
    assert shown["cost"]["exact"] == pytest.approx(cheapest)
    assert shown["worst"]["exact"] == pytest.approx(worst)
    assert shown["cost"]["printed"] >= cheapest * (1 - 1e-12)


@pytest.mark.slow
def test_the_map_of_the_greedys_mistakes_is_right() -> None:
    shown = run("gerrymandering", scene="four classes, k = 5", query=(0.0, 0.0), stretch=1.0)
    ticks, excess, X = shown["ticks"], shown["excess"], shown["X"].copy()
    assert 0.02 < np.mean(excess > 1e-9) < 0.5
    for row, column in ((20, 20), (30, 18), (5, 35)):
        X[0] = ticks[column], ticks[row]
        found = lesson("gerrymandering").inferences(X, shown["y"], np.eye(2), 5)
        dearer = found["printed"][0].value[0] - found["enumerated"][0][1]
        assert excess[row, column] == pytest.approx(dearer, abs=1e-12)
    assert excess[20, 20] == pytest.approx(0.91)
