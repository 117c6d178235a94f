"""The lesson theorem, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lessons.run import lesson, run


def own_composed(X: np.ndarray, y: np.ndarray, M: np.ndarray, regularizer: str, loss: str, w: float) -> float:
    """R + w times the loss, from the table of all distances."""
    D = np.einsum("ijd,de,ije->ij", X[:, None] - X, M, X[:, None] - X)
    n, names = len(X), lesson("theorem")
    same = {i: [j for j in range(n) if y[j] == y[i] and j != i] for i in range(n)}
    other = {i: [j for j in range(n) if y[j] != y[i]] for i in range(n)}
    missed = [max(0.0, 1 + D[i, j] - D[i, k]) for i in range(n) for j in same[i] for k in other[i]]
    R = np.sum(M**2) / 2 if regularizer == names.NORM else sum(D[i, j] for i in range(n) for j in same[i])
    losses = {
        names.TRIPLET: sum(missed),
        names.SQUARED: sum(each**2 for each in missed),
        names.POINT: sum(max(0.0, 1 + max(D[i, same[i]]) - min(D[i, other[i]])) for i in range(n)),
        names.SOFT: sum(np.log(np.exp(-np.delete(D[i], i)).sum()) for i in range(n)),
    }
    return float(R + w * losses[loss])


@pytest.mark.slow
@pytest.mark.parametrize("regularizer", ["PULL", "NORM"])
@pytest.mark.parametrize("loss", ["TRIPLET", "SQUARED", "POINT", "SOFT"])
@pytest.mark.parametrize("w", [0.2, 5.0])
def test_every_choice_is_proved_by_the_one_theorem(regularizer: str, loss: str, w: float) -> None:
    names = lesson("theorem")
    chosen = {"regularizer": getattr(names, regularizer), "loss": getattr(names, loss), "w": w}
    shown = run("theorem", along=0.3, paid=0.8, **chosen)
    X, y = shown["X"], shown["y"]
    objectives, bounds = shown["objectives"], shown["bounds"]
    scale = max(1.0, abs(objectives[-1]))
    for share, objective in zip(shown["shares"][::5], objectives[::5], strict=True):
        M = (1 - share) * shown["start"] + share * shown["best"]
        assert objective == pytest.approx(own_composed(X, y, M, **chosen), abs=1e-9 * scale)
    assert objectives.min() >= bounds.max() - 1e-9 * scale
    assert objectives[-1] - bounds[-1] <= 1e-4 * scale
    assert shown["of_regularizer"] >= 0
    assert shown["of_loss"] >= 0
    gap = shown["of_regularizer"] + shown["of_loss"]
    assert gap == pytest.approx(shown["primal"] - shown["dual"], abs=1e-9 * scale)
    if shown["method"]:
        theirs, times = shown["theirs"], shown["times"]
        assert times * theirs.lower_bound <= objectives[-1] + 1e-9 * scale
        assert bounds[-1] <= times * theirs.objective + 1e-9 * scale


def test_the_settings_that_have_a_name_are_these() -> None:
    names = lesson("theorem")
    found = {
        (regularizer, loss, w): names.known_as(regularizer, loss, w, 12)[0]
        for regularizer in (names.PULL, names.NORM)
        for loss in (names.TRIPLET, names.SQUARED, names.POINT, names.SOFT)
        for w in (1.0, 5.0)
    }
    assert {key: name for key, name in found.items() if name} == {
        (names.PULL, names.TRIPLET, 1.0): "lmnn",
        (names.PULL, names.TRIPLET, 5.0): "lmnn",
        (names.PULL, names.SQUARED, 1.0): "lmnn:squared_hinge",
        (names.PULL, names.SQUARED, 5.0): "lmnn:squared_hinge",
        (names.NORM, names.POINT, 1.0): "mlsvm",
        (names.NORM, names.POINT, 5.0): "mlsvm",
        (names.PULL, names.SOFT, 5.0): "mcml",
    }
