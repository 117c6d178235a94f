"""The checked data and parameters of neighbourhood gerrymandering: an `Instance`, which all other files take.

`instance` also checks that each class can win a vote of k neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count, check_labels, check_positive, check_X, class_names, real_array
from cvxml.core.metric import FloatArray, IntArray, unit_scale


class Instance(NamedTuple):
    """Checked data: X (n, d) float64, y (n,) codes 0..R-1, k neighbours in a vote, and C > 0, the weight of the losses.

    Lam (R, R): Lam[y, r] is the loss of predicting class r for a point of class y.
    """

    X: FloatArray
    y: IntArray
    k: int
    C: float
    Lam: FloatArray

    @property
    def R(self) -> int:
        """The number of classes."""
        return len(self.Lam)

    def scaled(self, s: float) -> Instance:
        """Return the same problem on X / s: a metric W becomes s^2 W, and F becomes s^4 F."""
        return self._replace(X=self.X / s, C=scaled_C(self.C, s))


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    n_neighbors: int = 3,
    C: float | None = None,
    loss_matrix: ArrayLike | None = None,
) -> Instance:
    """Return the checked inputs. Raises ValueError for bad input, and for a class that cannot win a vote.

    n_neighbors: k, the size of a vote. C: the weight of the losses, by default 1/n. loss_matrix (R, R): by default the
    0/1 loss.
    """
    points = check_X(X)
    codes = check_labels(y, len(points))
    n = len(points)
    if n < 3:
        raise ValueError(f"n={n} points are too few: a vote needs at least 3")
    k = check_count(n_neighbors, "n_neighbors", at_most=n - 1)
    weight = 1 / n if C is None else check_positive(C, "C")
    names = class_names(y)
    _check_winners(codes, k, names)
    scaled_C(weight, unit_scale(points))
    return Instance(points, codes, k, weight, check_loss(loss_matrix, len(names)))


def scaled_C(C: float, s: float) -> float:
    """Return C s^4, the weight of the same problem on X / s; ValueError if it over- or underflows."""
    with np.errstate(all="ignore"):
        value = float(np.float64(C) * np.float64(s) ** 2 * np.float64(s) ** 2)
    if not 1e-100 < value < 1e100:  # its square is a number too
        raise ValueError(
            f"C={C:g} does not suit points that spread over about s = {s:.3g}: double precision needs a C s^4 between "
            "1e-100 and 1e100; give another C"
        )
    return value


def check_loss(loss_matrix: Any, R: int) -> FloatArray:
    """Return loss_matrix as Lam (R, R); 0/1 loss for None.

    Raises ValueError unless Lam is finite and of shape (R, R), with a zero diagonal and positive entries elsewhere.
    """
    if loss_matrix is None:
        return 1 - np.eye(R)
    Lam = real_array(loss_matrix, "loss_matrix")
    if Lam.shape != (R, R):
        raise ValueError(f"loss_matrix must have shape ({R}, {R}) for {R} classes, got {Lam.shape}")
    if not np.isfinite(Lam).all():
        raise ValueError("loss_matrix holds NaN or infinity; every entry must be finite")
    if np.diag(Lam).any():
        r = int(np.flatnonzero(np.diag(Lam))[0])
        raise ValueError(
            f"loss_matrix[{r}, {r}] = {Lam[r, r]:g}: the diagonal must be 0, because a right prediction has no loss"
        )
    off_diagonal = Lam[~np.eye(R, dtype=bool)]
    if (off_diagonal <= 0).any():
        a, b = np.argwhere((Lam <= 0) & ~np.eye(R, dtype=bool))[0]
        raise ValueError(
            f"loss_matrix[{a}, {b}] = {Lam[a, b]:g}: off the diagonal every loss must be greater than 0"
        )
    return Lam


def _check_winners(y: IntArray, k: int, names: list[str]) -> None:
    """Raise ValueError if a class cannot win a vote of k points. names: those of the classes 0..R-1 in y (n,).

    A class wins with m of the k votes if each other class has at most m - 1. For a point of the class, m is at most the
    size of the class minus 1, because the point is not its own neighbour.
    """
    sizes = np.bincount(y, minlength=len(names))
    for c, size in enumerate(sizes.tolist()):
        others = np.delete(sizes, c)
        enough = [m for m in range(1, k + 1) if m + np.minimum(others, m - 1).sum() >= k]
        possible = [m for m in enough if m <= size - 1 and m <= k]
        if not possible:
            raise ValueError(
                f"class {names[c]!r} cannot win a vote of n_neighbors={k}: it needs {enough[0]} of them, and a point "
                f"of this class has {size - 1} others of its class. Take a smaller n_neighbors, or more points "
                f"of class {names[c]!r}"
            )
