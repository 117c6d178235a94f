"""Queries with relevant points: an input of a ranking problem (MLR), given or made from labels.

A query is a point that has relevant and irrelevant other points. By labels, the others of its class are relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cvxml.core.inputs import check_labels, check_neighbors
from cvxml.core.memory import check_room
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.parameter import LISTS, Parameter

BY_QUERIES = {
    "relevant": Parameter(
        "the points relevant to each point, n lists; all others are irrelevant to it",
        LISTS,
        otherwise="the others of its class",
    ),
}


@dataclass(frozen=True, eq=False)
class Queried:
    """Checked data of a method that ranks all other points for each query.

    y: (n,) class codes; zeros without labels. relevant: (n, n), True at (i, j) if point j is relevant to point i.
    queries: the indices of the queries. by_labels: False if lists of relevant points were given.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) class codes; zeros if lists were given without labels
    relevant: NDArray[np.bool_]  # (n, n) True if j is relevant to i
    queries: IntArray  # the points with relevant and irrelevant other points
    by_labels: bool  # False if lists were given

    @property
    def lists(self) -> list[list[int]]:
        """`relevant` as a list of relevant points for each point."""
        return [np.flatnonzero(row).tolist() for row in self.relevant]

    def sides(self, q: int) -> tuple[list[int], list[int]]:
        """Return the relevant and the irrelevant points of query q."""
        rest = ~self.relevant[q]
        rest[q] = False
        return np.flatnonzero(self.relevant[q]).tolist(), np.flatnonzero(rest).tolist()


def queried(X: FloatArray, y: ArrayLike | None, relevant: Any) -> Queried:
    """Return the checked data. Raises ValueError for bad input, and if no point is a query.

    X: (n, d), checked.
    relevant: a list of relevant points for each point; None for the other points of its class.
    """
    n = len(X)
    if y is None and relevant is None:
        raise ValueError("y is None: it must be one-dimensional, one label for each point, or give relevant")
    codes = np.zeros(n, dtype=np.intp) if y is None else check_labels(y, n)
    check_room(16 * n * n, f"tables of all pairs of {n} points")
    table = codes[:, None] == codes if relevant is None else np.zeros((n, n), dtype=bool)
    np.fill_diagonal(table, False)
    if relevant is not None:
        for i, listed in enumerate(check_neighbors(relevant, n, "relevant")):
            table[i, listed] = True
    count = table.sum(axis=1)
    queries = np.flatnonzero((count > 0) & (count < n - 1))
    if len(queries) == 0:
        if relevant is None:
            raise ValueError(
                f"none of the {n} points is a query: a query has relevant points (of its class) and irrelevant ones. "
                "Give two classes, one of them with two points or more, or give relevant"
            )
        raise ValueError(
            f"none of the {n} points is a query: in relevant, at least one point must list some, but not all, of the "
            "other points"
        )
    return Queried(X, codes, table, queries, relevant is None)
