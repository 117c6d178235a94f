"""Terms that no solver of `search` takes: the message names them, and says what a method can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.result import Status
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.least import Least
from cvxml.family.losses.root import Root
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.budget import Budget
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.ldml.no_regularizer import Free
from cvxml.solvers.choose_solver import search
from cvxml.solvers.task import Task

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
SIMILAR, OTHER = np.array([[0, 1], [0, 2]]), PairRows(np.array([[0, 3], [1, 3]]))
BUDGET = Budget(X, SIMILAR, np.zeros(4, dtype=np.intp), 2)


@pytest.mark.parametrize(
    ("regularizer", "losses"),
    [
        (BUDGET, [Root()]),
        (BUDGET, [Least(), Least()]),
        (Free(X, SIMILAR), [Hinge(1.0)]),
        (BUDGET, [SquaredHinge(1.0)]),
    ],
)
def test_terms_without_a_solver_are_named(regularizer: Any, losses: list[Any]) -> None:
    family = Family(regularizer, tuple(Term(loss, OTHER) for loss in losses))
    with pytest.raises(TypeError) as refused:
        search(Task(family, lambda *_: None, dict, 1e-6, 10, None, None, list))  # type: ignore[arg-type,return-value]
    said = str(refused.value)
    named = [type(regularizer), *map(type, losses), PairRows]
    assert all(kind.__name__ in said for kind in named)
    assert "PATH" in said


@pytest.mark.parametrize(
    ("method", "weights"), [("rtml", {}), ("rtml", {"width": 0.0}), ("frobmetric", {"C": 1000.0})]
)
def test_a_solver_that_ends_early_returns_no_metric_worse_than_0(
    method: str, weights: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A feature in other units: gradient and Newton steps lead to a larger objective than that of M = 0."""
    monkeypatch.setattr("cvxml.solvers.box_dual.patience_for", lambda *_: np.inf)
    X, y = np.random.default_rng(0).standard_normal((16, 3)) * [1.0, 1e4, 1.0], np.arange(16) % 2
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve(method, X, y, max_iter=60, **weights)
    assert solution.status is Status.MAX_ITER
    at_zero = cvxml.evaluate(method, X, y, np.zeros((3, 3)), **weights).objective
    assert solution.objective <= at_zero * (1 + 1e-12)
