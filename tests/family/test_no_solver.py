"""Terms that no solver of `search` takes: the message names them, and says what a method can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cvxml.family.bound import Family, Term
from cvxml.family.free import Free
from cvxml.family.losses import Hinge, Least, Root, SquaredHinge
from cvxml.family.regularizers import Budget
from cvxml.family.rows import PairRows
from cvxml.family.search import search
from cvxml.family.task import Task

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
