"""Terms that no solver of `search` takes: the message names them, and says what a method can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
