"""The checked data of NCA: points, the similarity s_ij of pairs (by classes or given), the rank, and the criterion.

A partner of a point i is a point j with s_ij > 0. A point is usable if it has a partner. With classes, s_ij is 1 for
two points of the same class. The probability that i picks j as its neighbour is p_ij, a softmax of minus the squared
distances. Let p_i = sum_j s_ij p_ij. The objective to minimise is -f = -sum_i p_i or -g = -sum_i log p_i.

`by_target` and `by_known_class` make a similarity for regression, and for labels that are partly unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import (
    check_choice,
    check_count,
    check_labels,
    check_positive,
    check_X,
    class_names,
    real_array,
)
from cvxml.core.metric import FloatArray, IntArray

CRITERIA = ("f", "g")


class Instance(NamedTuple):
    """Checked data of NCA.

    X (n, d): the points. y (n,): codes of the classes; zeros if a similarity was given. similarity: s (n, n); None for
    classes. m: the largest allowed rank of the metric.

    criterion: "f" or "g". names: those of the classes.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes of the classes; zeros if a similarity was given
    similarity: FloatArray | None  # s (n, n); None for classes
    m: int  # the allowed rank
    criterion: str  # "f" or "g"
    names: tuple[str, ...]  # of the classes

    @property
    def usable(self) -> np.ndarray:
        """A mask (n,), True for each point with a partner."""
        if self.similarity is None:
            return np.asarray(np.bincount(self.y)[self.y] > 1)
        return np.asarray((self.similarity > 0).any(axis=1))

    def row(self, i: int) -> FloatArray:
        """The row s_i (n,) of the similarity: that of point i to all points."""
        if self.similarity is not None:
            own: FloatArray = self.similarity[i]
            return own
        own = (self.y == self.y[i]) * 1.0
        own[i] = 0.0
        return own

    def weights(self) -> FloatArray:
        """The similarity s (n, n) of all pairs."""
        return np.array([self.row(i) for i in range(len(self.X))])

    @property
    def bound(self) -> float:
        """A lower bound of the objective: p_i is a mean of s_ij, so it is at most the largest s_ij."""
        largest = [
            float(self.row(i).max()) if self.similarity is not None else 1.0
            for i in np.flatnonzero(self.usable).tolist()
        ]
        return 0.0 - float(np.sum(largest if self.criterion == "f" else np.log(largest)))

    @property
    def convex(self) -> bool:
        """True for criterion g if every usable point has exactly one partner: then -g is convex in the metric.

        The largest rank m is not considered, although the metrics of rank at most m < d are no convex set.
        """
        return self.criterion == "g" and all(
            np.count_nonzero(self.row(i)) == 1 for i in np.flatnonzero(self.usable).tolist()
        )

    def dropped(self) -> str:
        """A sentence that lists the points without a partner; empty if every point has one."""
        alone = np.flatnonzero(~self.usable)
        if not len(alone):
            return ""
        if self.similarity is not None:
            return (
                f"{len(alone)} rows of similarity are zero: these points have no partner; they add 0 to f, and g "
                "leaves them out"
            )
        named = ", ".join(repr(self.names[c]) for c in self.y[alone][:5]) + (
            ", ..." if len(alone) > 5 else ""
        )
        return f"classes of a single point ({named}): such a point has no partner; it adds 0 to f, and g leaves it out"


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    n_components: int | None = None,
    criterion: str = "f",
    similarity: ArrayLike | None = None,
) -> Instance:
    """Return the checked inputs. Raises ValueError for bad input.

    X (n, d): the points. y (n,): labels. n_components: the largest rank of the metric, by default d. criterion: "f" or
    "g". similarity: s (n, n); if it is given, y is ignored.
    """
    points = check_X(X)
    n, d = points.shape
    check_choice(criterion, "criterion", CRITERIA)
    m = d if n_components is None else check_count(n_components, "n_components", at_most=d)
    if similarity is None:
        if y is None:
            raise ValueError(
                "y is None: give y, one-dimensional, one label for each point, or a similarity (n, n)"
            )
        p = Instance(points, check_labels(y, n), None, m, criterion, tuple(class_names(y)))
    else:
        soft = check_similarity(similarity, n)
        p = Instance(points, np.zeros(n, dtype=np.intp), soft, m, criterion, ())
    if (points == points[0]).all():
        raise ValueError(
            "all points are equal, so every metric has the same objective; give points that differ"
        )
    if not p.usable.any():
        raise ValueError("every class has a single point; at least one class must have two")
    return p


def check_similarity(similarity: Any, n: int) -> FloatArray:
    """Return s (n, n), finite, >= 0, with zero diagonal. Raises ValueError for any other input.

    Every positive entry must be from 1e-15 to 1e15. In at least one row, the entries off the diagonal must not all be
    equal; otherwise every metric has the same objective.
    """
    s = real_array(similarity, "similarity")
    if s.shape != (n, n):
        raise ValueError(f"similarity must have shape ({n}, {n}) for {n} points, got {s.shape}")
    if not np.isfinite(s).all():
        raise ValueError("similarity holds NaN or infinity; every entry must be finite")
    if (s < 0).any():
        i, j = np.argwhere(s < 0)[0]
        raise ValueError(f"similarity[{i}, {j}] = {s[i, j]:g}: every entry must be 0 or more")
    if np.diag(s).any():
        i = int(np.flatnonzero(np.diag(s))[0])
        raise ValueError(f"similarity[{i}, {i}] = {s[i, i]:g}: the diagonal must be 0, because p_ii is 0")
    if not s.any():
        raise ValueError("similarity is zero everywhere; at least one entry must be positive")
    others = s[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    if (others.min(axis=1) == others.max(axis=1)).all():
        raise ValueError(
            "every row of similarity has equal entries off the diagonal, so every metric has the same objective; give "
            "larger entries to the pairs that should be near"
        )
    if s[s > 0].min() < 1e-15 or s.max() > 1e15:
        raise ValueError(
            "similarity has entries outside 1e-15 to 1e15; rescale it, or set the small ones to 0"
        )
    return s


def by_target(y: ArrayLike, width: float) -> FloatArray:
    """Return the similarity (n, n) for real targets y (n,): s_ij = exp(-(y_i - y_j)^2 / (2 width^2)) for j != i.

    Values below 1e-12 become 0. Raises ValueError for targets that are not finite numbers, one for each point, or a
    width that is not positive.
    """
    targets = real_array(y, "y")
    if targets.ndim != 1:
        raise ValueError(
            f"y must be one finite number for each point, in one dimension; got shape {targets.shape}"
        )
    if not np.isfinite(targets).all():
        raise ValueError("y holds NaN or infinity; every target must be finite")
    s: FloatArray = np.exp(-(((targets[:, None] - targets) / check_positive(width, "width")) ** 2) / 2)
    s[s < 1e-12] = 0.0
    np.fill_diagonal(s, 0.0)
    return s


def by_known_class(y: ArrayLike, unknown: Any = -1) -> FloatArray:
    """Return the similarity (n, n) for labels y (n,): s_ij is 1 if i and j != i have the same label, and else 0.

    Points with the label `unknown` have no partners, but they count in the denominator of p_ij. Raises ValueError if y
    is not one-dimensional.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, one label for each point, got shape {labels.shape}")
    s: FloatArray = ((labels[:, None] == labels) & (labels != unknown)) * 1.0
    np.fill_diagonal(s, 0.0)
    return s
