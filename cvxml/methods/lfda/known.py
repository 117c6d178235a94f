"""The scatter matrices of LFDA and their eigenvalues, in balls: numbers with a proved error bound (core/balls.py).

S_w and S_b are the local scatter matrices within and between classes. Their eigenvalues are the l of S_b v = l S_w v.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from cvxml.core.affinity import Members, local_scatter
from cvxml.core.balls import PRECISIONS, TooFewBits, ball, balls, floats
from cvxml.core.exact import flint
from cvxml.core.integer_matrices import within_groups
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.spectrum import eigenvectors, enclosed, inverted
from cvxml.methods.lfda.embedding import eigen

SHARP = 2.0**-100  # largest radius of the ball of an eigenvalue, relative to the largest eigenvalue


class Known(NamedTuple):
    """The scatter matrices and eigenvalues of a problem; matrices and eigenvalues are balls.

    bits: their precision. r: the number of components. inverse: of S_w. l: all eigenvalues in descending order. unique:
    True if l_r > l_{r+1} is proved, or r = d.

    top: the optimal metric (d, d) of the embedding "plain", rounded to floats.
    """

    bits: int  # the precision at which they were computed
    r: int
    S_w: Any
    S_b: Any
    inverse: Any  # of S_w
    l: list[Any]  # the eigenvalues of (S_b, S_w) in descending order
    unique: bool  # l_r > l_{r+1} is proved, or r = d
    top: FloatArray  # the optimal plain metric (d, d), rounded to floats


def known(S_w: Any, S_b: Any, r: int) -> Known:
    """The eigenvalues l of S_b v = l S_w v in descending order, the inverse of S_w, and the optimal plain metric.

    S_w, S_b (d, d): balls. The result has balls at the current precision. r: the number of components. Raises
    TooFewBits, so that more bits are tried, if the ball of an eigenvalue is too wide. It is also raised if l_r and
    l_{r+1} overlap, unless this is the largest precision.
    """
    inverse = inverted(S_w)
    product = inverse * S_b
    found = enclosed(product)
    # Midpoints are compared as balls, because close eigenvalues may be equal in floats.
    order = sorted(range(len(found)), key=lambda k: found[k].mid(), reverse=True)
    l = [found[k] for k in order]
    unique = r == len(l) or all(a > b for a in l[:r] for b in l[r:])
    sharp = all(float(each.rad()) <= SHARP * float(l[0]) for each in l)
    if not sharp or (not unique and flint().ctx.prec < PRECISIONS[-1]):
        raise TooFewBits("some eigenvalues are nearly equal, or S_w is nearly singular")
    top = projection(product, inverse, order[:r]) if unique else plain_metric(floats(S_w), floats(S_b), r)
    return Known(flint().ctx.prec, r, S_w, S_b, inverse, l, unique, top)


def projection(product: Any, inverse: Any, chosen: list[int]) -> FloatArray:
    """The metric T T^T (d, d), where T has the eigenvectors with the indices `chosen`, with T^T S_w T = I; as floats.

    product, inverse (d, d): S_w^-1 S_b and S_w^-1, as balls. T T^T S_w is the projection onto the range of T along the
    other eigenvectors.
    """
    R, acb_mat, d = eigenvectors(product)[1], flint().acb_mat, product.nrows()
    E = acb_mat([[int(i == j and i in chosen) for j in range(d)] for i in range(d)])
    return floats(R * E * inverted(R) * acb_mat(inverse))


def plain_metric(S_w: FloatArray, S_b: FloatArray, r: int) -> FloatArray:
    """The metric T T^T (d, d) of the r eigenvectors with the largest eigenvalues and T^T S_w T = I, in floats.

    It is used if l_r > l_{r+1} is not proved. Then balls do not determine the eigenvectors, and any of the nearly
    equally good ranges will do.
    """
    T = eigen(S_w, S_b)[1][:, ::-1][:, :r]
    metric: FloatArray = T @ T.T
    return metric


def scatter(X: FloatArray, y: IntArray, classes: list[Members], alpha: float) -> tuple[Any, Any]:
    """The local scatter matrices S_w and S_b (d, d), with balls at the current precision as entries.

    y (n,): class codes. classes: the points of each class with their exact squared distances. alpha: added to the
    diagonal of S_w.
    """
    n, d = X.shape
    inside, at = within_groups(X, y, [1] * len(classes))
    between = within_groups(X, 0 * y, [1])[0] - inside
    S_w, S_b = flint().arb_mat(d, d), balls(between, at) / n
    for k in range(d):
        S_w[k, k] = ball(alpha)
    for own in classes:
        G, n_c = local_scatter(own), len(own.D)
        S_w, S_b = S_w + G / n_c, S_b - G * ball(Fraction(1, n_c) - Fraction(1, n))
    return S_w, S_b
