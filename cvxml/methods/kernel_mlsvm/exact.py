"""The lower bound and the objective of kernel MLSVM in exact arithmetic, for the polynomial kernel.

Let K (n, n) be the kernel matrix with K_ij = <x_i, x_j>^p, and let the rows of Phi be the Phi(x_i) of the feature
space. A matrix phi (n, n) gives the metric A = Phi^T phi Phi. K is rational, so all values in the feature space are
rational. For phi = M M^T, A is psd, and
    ||A||^2 = tr(K phi K phi),   d_A(i, j) = (K_i - K_j)^T phi (K_i - K_j).

Let u_ij be the dual variable of point i with an impostor j, and w_ij that of point i with a target j. For any feasible
u, w (multiples of 2^-`BITS` with sums that agree exactly) and any psd S = Phi^T C C^T Phi,

    optimum  >=  sum_i s_i - ||G + S||^2 / (2 lam),
    G = Phi^T B Phi,   B = sum_ij (u_ij - w_ij)(e_i - e_j)(e_i - e_j)^T,

    ||G + S||^2 = tr(K (B + C C^T) K (B + C C^T)),

where s_i = sum_j u_ij = sum_j w_ij and e_i is a unit vector. A point is usable if it has both impostors and targets.

The distance of the given phi to M M^T is measured in the feature space, ||Phi^T (phi - M M^T) Phi||. M and C are
computed in floating point from E (K = E E^T). M omits the part of phi outside the range of K, which changes no
distance. Neighbour lists are inputs. Matrices of integers come with a power of two that multiplies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact, flint, root_upward, scaled, sum_of_squares
from cvxml.core.integer_matrices import (
    all_distances,
    difference_to_square,
    given_rows,
    is_psd,
    missing_to_psd,
    of_sum,
    root_of,
    whole,
)
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.losses.groups import AT_THE_CAP
from cvxml.methods.kernel_mlsvm.instance import Instance, in_feature_space

MAX_POINTS = 100  # up to this many points, `zero_is_optimal` decides exactly for a polynomial kernel
BITS = 80  # binary digits of a dual variable
Duals = tuple[FloatArray, IntArray, FloatArray, IntArray]  # u, u_index, w, w_index
Signed = Mapping[tuple[int, int], float]


def exact_interval(
    p: Instance,
    phi: FloatArray,
    duals: Duals,
    *,
    root: ArrayLike | None = None,
    psd: ArrayLike | None = None,
) -> Exact:
    """Return an interval that contains the optimum, exactly: from a lower bound to the objective at M M^T.

    M M^T is near phi (n, n). duals: the tuple (u, pairs of u, w, pairs of w), from which the lower bound is computed.
    root, psd: the matrices M and C (n, r) of the module docstring; one that is None is computed. Raises ValueError for
    the rbf kernel, which is not rational.
    """
    if p.kernel["kernel"] != "poly":
        raise ValueError(
            f'the exact mode of kernel_mlsvm is for kernel="poly", which is rational; got {p.kernel["kernel"]!r}'
        )
    weight = Fraction(p.lam)
    K, K_at = exact_kernel(p.X, p.kernel["degree"])
    if psd is None and zero_is_optimal(p, duals):
        bound = Fraction(len(p.N.usable), len(p.X))
    else:
        B, total = edges(duals, len(p.X))
        C = missing(p, B) if psd is None else given_rows(psd, len(p.X), "psd")
        bound = total - _squared_norm_of_sum(K, K_at, B, C) / (2 * weight)

    M = found_root(p, phi) if root is None else given_rows(root, len(p.X), "root")
    rows, root_at = whole(M)
    images = K * rows
    size = scaled(sum_of_squares(rows.transpose() * images), 2 * K_at + 4 * root_at)
    D, unit = all_distances(images), 2 * (K_at + root_at)
    slack = Fraction(0)
    for i in p.N.usable.tolist():
        near, far = ([D[i][j] for j in listed[i].tolist()] for listed in (p.N.impostors, p.N.targets))
        slack += max(Fraction(0), 1 + scaled(max(far) - min(near), unit))
    objective = weight / 2 * size + slack / len(p.X)
    return Exact(bound, objective, _distance(K, K_at, phi, M), weight / 2 * size)


def exact_kernel(X: FloatArray, degree: int) -> tuple[Any, int]:
    """Integers V (n, n) and an exponent e with K = V 2^e, the matrix of the polynomial kernel of this degree."""
    points, at = whole(X)
    products = (points * points.transpose()).tolist()
    return flint().fmpz_mat([[entry**degree for entry in row] for row in products]), 2 * at * degree


def edges(duals: Duals, n: int) -> tuple[Any, Fraction]:
    """B = sum_ij (u_ij - w_ij)(e_i - e_j)(e_i - e_j)^T, integers (n, n) in units of 2^-BITS; and sum_ij u_ij.

    In both, u and w are feasible dual variables near the given `duals`, made by `whole_duals`.
    """
    weights, total = whole_duals(duals, n)
    return _laplacian(weights, n), scaled(total, -BITS)


def _laplacian(weights: Mapping[tuple[int, int], int], n: int) -> Any:
    """The sum of weight (e_i - e_j)(e_i - e_j)^T over the pairs (i, j) of `weights`: integers (n, n)."""
    rows = [[0] * n for _ in range(n)]
    for (i, j), value in weights.items():
        rows[i][i] += value
        rows[j][j] += value
        rows[i][j] -= value
        rows[j][i] -= value
    return flint().fmpz_mat(rows)


def zero_is_optimal(p: Instance, duals: Duals) -> bool:
    """True if it is proved that phi = 0 is optimal, by dual variables near the given ones.

    The proof: the sums of u and of w are 1/n at each usable point, and K B K (module docstring) has no positive
    eigenvalue, so G has none either. This is decided exactly for the polynomial kernel and at most `MAX_POINTS` points,
    because the integers are long. For any kernel, the proof also holds if each pair with a dual variable consists of
    equal points: then B has no effect.
    """
    n = len(p.X)
    weights = full_duals(signed(duals), n, p.N.usable)
    if weights is None:
        return False
    apart = {(i, j): weight for (i, j), weight in weights.items() if (p.X[i] != p.X[j]).any()}
    if not apart or p.kernel["kernel"] != "poly" or n > MAX_POINTS:
        return not apart
    B = _laplacian(apart, n)
    K, _ = exact_kernel(p.X, p.kernel["degree"])
    return is_psd(-(K * B * K))


def whole_duals(duals: Duals, n: int) -> tuple[dict[tuple[int, int], int], int]:
    """Return feasible dual variables near the given ones as integers in units of 2^-BITS, and the sum of u.

    The first result maps each pair of u to u, and each pair of w to -w. In these integers, the sums of u and w of a
    point are exactly equal and at most 1/n. duals: the tuple (u, pairs of u, w, pairs of w).
    """
    u, u_index, w, w_index = duals
    cap = (1 << BITS) // n
    rows: tuple[dict[int, dict[int, int]], ...] = ({}, {})
    for kind, values, index in ((0, u, u_index), (1, w, w_index)):
        for (i, j), value in zip(index.tolist(), values.tolist(), strict=True):
            if value > 0:
                rows[kind].setdefault(i, {})[j] = int(Fraction(value) * (1 << BITS))
    weights: dict[tuple[int, int], int] = {}
    total = 0
    for i in rows[0].keys() & rows[1].keys():
        s = min(sum(rows[0][i].values()), sum(rows[1][i].values()), cap)
        s = cap if s >= AT_THE_CAP * cap else s  # a sum that misses its upper bound only by rounding
        total += s
        for sign, row in ((1, rows[0][i]), (-1, rows[1][i])):
            for j, value in of_sum(row, s).items():
                weights[i, j] = sign * value
    return weights, total


def signed(duals: Duals) -> Signed:
    """Map the pairs (i, j) of u to u_ij, and the pairs (i, l) of w to -w_il."""
    u, u_index, w, w_index = duals
    pairs = [(i, j) for i, j in (*u_index.tolist(), *w_index.tolist())]
    return dict(zip(pairs, [*u.tolist(), *(-w).tolist()], strict=True))


def full_duals(duals: Signed, n: int, usable: IntArray) -> dict[tuple[int, int], int] | None:
    """Return n times the dual variables as integers in units of 2^-BITS, changed a little so that their sums are exact.

    duals: maps pairs to u or -w. At each usable point, n u sums to exactly 1 and -n w to exactly -1. None if at some
    usable point the sum of the given u, or of the given w, is clearly below 1/n.
    """
    rows: dict[tuple[int, int], dict[int, int]] = {(i, sign): {} for i in usable.tolist() for sign in (1, -1)}
    for (i, j), price in duals.items():
        if price:
            whole, below = (n * abs(price)).as_integer_ratio()
            rows[i, 1 if price > 0 else -1][j] = (whole << BITS) // below
    signed: dict[tuple[int, int], int] = {}
    for (i, sign), row in rows.items():
        if sum(row.values()) < AT_THE_CAP * (1 << BITS):
            return None
        for j, value in of_sum(row, 1 << BITS).items():
            signed[i, j] = sign * value
    return signed


def missing(p: Instance, B: Any) -> FloatArray:
    """C (n, r) with Phi^T C C^T Phi close to the psd part of -G, G = Phi^T B Phi. B: integers in units of 2^-BITS."""
    rough = np.array([[float(int(entry)) for entry in row] for row in B.tolist()]) * 2.0**-BITS
    G, G_at = whole(p.E.T @ rough @ p.E)
    found: FloatArray = p.back.T @ missing_to_psd(G + G.transpose(), G_at - 1)
    return found


def found_root(p: Instance, phi: FloatArray) -> FloatArray:
    """M (n, r) with M M^T close to phi on the range of K."""
    found: FloatArray = p.back.T @ root_of(in_feature_space(p, phi))
    return found


def _squared_norm_of_sum(K: Any, K_at: int, B: Any, C: FloatArray) -> Fraction:
    """tr(K (B + C C^T) K (B + C C^T)) for floats C (n, r), integers K in units of 2^K_at, and B in units of 2^-BITS."""
    rows, C_at = whole(C)
    low = min(-BITS, 2 * C_at)
    both = B * (1 << (-BITS - low)) + rows * rows.transpose() * (1 << (2 * C_at - low))
    return _squared_norm(K, K_at, both, low)


def _squared_norm(K: Any, K_at: int, phi: Any, at: int) -> Fraction:
    """||Phi^T phi Phi||^2 = tr(K phi K phi^T), for integers K in units of 2^K_at and phi in units of 2^at."""
    left = K * phi
    right = phi * K  # the transpose of K phi^T
    crossed = zip(left.entries(), right.entries(), strict=True)
    return scaled(sum(int(a) * int(b) for a, b in crossed), 2 * (K_at + at))


def _distance(K: Any, K_at: int, phi: FloatArray, M: FloatArray) -> float:
    """An upper bound of the distance between phi and M M^T in the feature space. K: integers in units of 2^K_at."""
    return root_upward(_squared_norm(K, K_at, *difference_to_square(phi, M)))
