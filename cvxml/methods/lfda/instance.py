"""The checked inputs of LFDA, and the check that an optimal metric exists.

S_w is the local scatter matrix within classes. The objective of a metric depends only on its range, and the embedding
chooses the metric for a range. A ball is a number with a proved error bound (core/balls.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.affinity import Members, members
from cvxml.core.balls import floats, precision, with_enough_bits
from cvxml.core.inputs import check_choice, check_count, check_labels, check_number, check_X, class_names
from cvxml.core.integer_matrices import whole
from cvxml.core.memory import check_exact
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.lfda.embedding import EMBEDDINGS, axes
from cvxml.methods.lfda.figures import figures
from cvxml.methods.lfda.known import Known, known, scatter
from cvxml.numbers.span import rank_of

USUAL = 7  # default of K, unless a class is too small


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data; S_w has full rank.

    y (n,): class codes. r: the number of components. k: the affinities use s_i, the distance of point i to the k-th
    nearest point of its class. embedding: "plain", "weighted" or "orthonormal".

    alpha: added to the diagonal of S_w.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes
    r: int  # components
    k: int  # neighbours
    embedding: str
    alpha: float

    @cached_property
    def classes(self) -> list[Members]:
        """The points of each class, their squared distances and the s_i^2, as integers times powers of two."""
        return members(self.X, self.y, self.k)

    @cached_property
    def known(self) -> Known:
        """The scatter matrices and their eigenvalues as balls, with as many bits as they need."""
        check_exact(*self.X.shape)
        return with_enough_bits(lambda: known(*scatter(self.X, self.y, self.classes, self.alpha), self.r))

    @cached_property
    def scatters(self) -> tuple[FloatArray, FloatArray]:
        """S_w and S_b (d, d) in floats."""
        with precision(self.known.bits):
            return floats(self.known.S_w), floats(self.known.S_b)

    @cached_property
    def closed_form(self) -> FloatArray:
        """The optimal metric (d, d) with the given embedding, in floats."""
        return self.embedded(self.known.top)

    def embedded(self, M: FloatArray) -> FloatArray:
        """The metric (d, d) that the embedding chooses for the range of M (d, d), in floats."""
        with precision(self.known.bits):
            T = axes(self.scatters[0], M, self.r)
            return floats(figures(self.known, self.embedding, M, T).metric)


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    n_components: int | None = None,
    n_neighbors: int | None = None,
    embedding: str = "weighted",
    alpha: float = 0.0,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if S_w is singular or all points are equal.

    X (n, d), y (n,) labels. n_components: r, by default d. n_neighbors: K, by default the size of the smallest class
    minus 1, but at least 1 and at most 7.

    embedding: one of "plain", "weighted", "orthonormal". alpha >= 0 is added to the diagonal of S_w.
    """
    points = check_X(X)
    n, d = points.shape
    codes = check_labels(y, n)
    r = d if n_components is None else check_count(n_components, "n_components", at_most=d)
    alpha = check_number(alpha, "alpha")
    check_choice(embedding, "embedding", EMBEDDINGS)
    if alpha < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha!r}")
    sizes = np.bincount(codes)
    # The default is that of the paper, reduced to the number of other points in the smallest class.
    usual = max(1, min(USUAL, int(sizes.min()) - 1))
    k = usual if n_neighbors is None else check_count(n_neighbors, "n_neighbors")
    if sizes.min() <= k:
        c = int(sizes.argmin())
        raise ValueError(
            f"class {class_names(y)[c]} has {sizes[c]} point(s), so at most {sizes[c] - 1} neighbours each, "
            f"not n_neighbors={k}: lower n_neighbors, or leave the class out"
        )
    given = Instance(points, codes, r, k, embedding, alpha)
    _check_attained(given)
    _check_floats(given)
    return given


def _check_attained(given: Instance) -> None:
    """Raise ValueError if S_w is singular or all points are equal. Then no metric, or no single metric, is optimal.

    Ranks are computed in exact arithmetic.
    """
    check_exact(len(given.X), given.X.shape[1], given.alpha > 0)
    d, every = given.X.shape[1], _rank(_from_first(whole(given.X)[0].tolist()))
    if every == 0:
        raise ValueError("all points are equal, so every metric is optimal; give points that differ")
    if given.alpha > 0:
        return
    near = [[row for row, scale in zip(own.points.tolist(), own.nearest, strict=True) if scale > 0]
            for own in given.classes]  # fmt: skip
    inside = _rank([row for rows in near for row in _from_first(rows)])
    if inside < every:
        raise ValueError(
            f"near points of a class differ in {inside} of {every} directions: along the others S_w is 0 and classes "
            "differ, so the supremum is infinite and no T attains it. Give alpha > 0, more points, or fewer features "
            "(the first principal components, say)"
        )
    if every < d:
        raise ValueError(
            f"features are linearly dependent: points differ in {every} of {d} directions, and T along the others is "
            "not determined; give alpha > 0, or leave features out"
        )


def _from_first(rows: list[Any]) -> list[Any]:
    """The differences row - first row, for all rows of integers."""
    return [[a - b for a, b in zip(row, rows[0], strict=True)] for row in rows]


def _rank(rows: list[Any]) -> int:
    return rank_of(np.array(rows, dtype=object)) if rows else 0


def _check_floats(given: Instance) -> None:
    """Raise ValueError if S_w or the optimal metric overflows or underflows in floats."""
    within = floats(given.known.S_w)
    if not (_is_number(within) and within.diagonal().min() > 0 and _is_number(given.closed_form)):
        raise ValueError("X: S_w or the metric is too large or too small for double precision; rescale X")


def _is_number(M: FloatArray) -> bool:
    return bool(np.isfinite(M).all() and M.any())
