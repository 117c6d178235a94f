"""The regularizer lam/2 sum_b ||M_b||^2 of m basis metrics M_b, where each point has a mixture of them as its metric.

    D_ij = sum_b W_ib (x_i - x_j)^T M_b (x_i - x_j),     W (n, m) >= 0.

W_ib is the weight, or share, of M_b at point i. A pair is ordered, because its distance uses the weights of the first
point. M (m d, m d) is block diagonal with the blocks M_b, and psd if all M_b are. In the certificate (family/theorem)
D_ij = <M, X_ij>, so block b of X_ij is W_ib (x_i - x_j)(x_i - x_j)^T. A matrix G = sum_p w_p X_p is given by its
weights w_p on pairs p = (i, j). Its block b is G_b = sum_p w_p W_ib (x_i - x_j)(x_i - x_j)^T, and the regularizer minus
<M, G> is at least

    r(G) = -sum_b ||P_+(G_b)||^2 / (2 lam),   attained at M_b = P_+(G_b) / lam.

P_+ replaces negative eigenvalues by 0. frobenius.py computes values and error bounds for one metric; here they are
summed over the blocks. A view is the points under a metric: it gives distances with error bounds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import flint, root_upward, scaled, sum_of_squares
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import (
    EPS,
    FEASIBILITY_TOL,
    Feasibility,
    FloatArray,
    IntArray,
    blocks_of,
    examine,
    in_blocks,
)
from cvxml.family.regularizers.base import JudgedMatrix, Scaled
from cvxml.family.regularizers.frobenius import UNDERFLOW, Flat, Frobenius
from cvxml.family.rows.base import Block, Duals, View, Weights
from cvxml.family.rows.triplets import Triplets
from cvxml.numbers import rational
from cvxml.numbers.rounding import Distances
from cvxml.numbers.sums import Approximate


@dataclass(frozen=True)
class BlocksFeasibility(Feasibility):
    """How far a matrix is from the matrices made of psd blocks. beyond: the largest |entry| outside the blocks."""

    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True if `beyond`, asymmetry and negative eigenvalues are at most `FEASIBILITY_TOL` times the norm."""
        return self._in_blocks and super().feasible

    @property
    def _in_blocks(self) -> bool:
        return self.beyond <= FEASIBILITY_TOL * self.norm

    @property
    def nearest(self) -> str:
        """The allowed matrices, in words. The blocks are named only if an entry outside them is too large."""
        return super().nearest if self._in_blocks else "the matrices made of psd blocks"

    def __str__(self) -> str:
        if self._in_blocks:
            return super().__str__()
        return f"{super().__str__()}; an entry outside the blocks is {self.beyond:.3g} (norm {self.norm:.3g})"


def examine_blocks(A: FloatArray, X: FloatArray, m: int) -> tuple[FloatArray, BlocksFeasibility]:
    """P_+ of the m blocks of A (m d, m d), as (m, d, d), and how far A is from the matrices made of psd blocks.

    X (n, d): the points. The blocks are judged twice: in the given units of the features, and with each feature divided
    by its spread over the points. They must be feasible in both, because a small error matters for a feature of large
    values. Entries outside the blocks are judged in the given units only.
    """
    own = blocks_of(A, m)
    inside = in_blocks(own)
    psd = np.stack([examine(block)[0] for block in own])
    found = examine(inside, np.tile(X, m))[1]
    with np.errstate(over="ignore", invalid="ignore"):
        distance = float(np.linalg.norm(A - in_blocks(psd)))
    fields = {**dataclasses.asdict(found), "distance": max(distance, found.distance)}
    return psd, BlocksFeasibility(**fields, beyond=float(np.abs(A - inside).max()))


class BlocksView(NamedTuple):
    """The points under the m metrics M_b: `each` has the distances in M_b for each b.

    shares: maps pairs (p, 2) to their weights (p, m). The distance of a pair is the sum over b of its share W_ib times
    the distance in M_b.
    """

    shares: Callable[[IntArray], FloatArray]  # of pairs (p, 2): (p, m)
    each: tuple[Flat, ...]

    def pairs(self, index: IntArray) -> Distances:
        D, error = np.zeros(len(index)), np.zeros(len(index))
        for share, view in zip(self.shares(index).T, self.each, strict=True):
            own = view.pairs(index)
            D += share * own.D
            error += share * (own.error + (len(self.each) + 2) * EPS * np.abs(own.D))
        return Distances(D, error * (1 + 1e-6) + UNDERFLOW)


class Listed(Triplets):
    """Triplets (i, j, l) that are all evaluated at once, from the distances of the ordered pairs (i, j) and (i, l).

    The base class finds near points with one metric for all points. Here each point has a metric of its own, so D_ij
    and D_ji differ.
    """

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        key = self.keys()
        a = np.zeros(len(key))
        a[np.searchsorted(key, duals.key)] = duals.a
        i, j, l = self.named(Duals(a, key)).T
        near, near_error = view.pairs(np.stack([i, j], axis=1))
        far, far_error = view.pairs(np.stack([i, l], axis=1))
        yield Block(far - near, near_error + far_error + 2 * EPS * (np.abs(near) + np.abs(far)), a)


class Blocks(Frobenius):
    """lam/2 sum_b ||M_b||^2 for the blocks M_b of M (m d, m d).

    W (n, m): shares, not negative. lam: a float, or a fraction for exact arithmetic.
    """

    def __init__(self, X: FloatArray, W: FloatArray, lam: Any):
        super().__init__(X, lam)
        self.W = W
        self.one = Frobenius(X, lam)

    def shares(self, pairs: IntArray) -> FloatArray:
        """The weights (p, m) of the first point of each pair."""
        own: FloatArray = self.W[pairs[:, 0]]
        return own

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The metric that is certified in place of A (m d, m d): P_+ of each block. Also the distance of A from it."""
        psd, feasibility = examine_blocks(A, self.X, self.W.shape[1])
        each = [self.one.judge(block) for block in psd]
        view: Any = BlocksView(self.shares, tuple(own.view for own in each))  # type: ignore[misc]
        return JudgedMatrix(view, feasibility, all(own.finite for own in each), not psd.any())

    def value(self, view: Any) -> Approximate:
        """lam/2 sum_b ||M_b||^2 with a bound of the rounding error, for a `view` of the metric from `judge`."""
        return _sum([self.one.value(own) for own in view.each])

    def bound(self, G: Weights) -> Approximate:
        """r(G) = -sum_b ||P_+(G_b)||^2 / (2 lam), with a bound of the rounding error."""
        return _sum([self.one.bound(own) for own in self.parts(G)])

    def reached(self, G: Weights) -> tuple[FloatArray, float]:
        """The minimizer M (m d, m d) of lam/2 sum_b ||M_b||^2 - <M, G>, and a bound of its error in norm."""
        Q, error = zip(*(self.one.reached(own) for own in self.parts(G)), strict=True)
        return in_blocks(np.array(Q)), float(np.linalg.norm(error)) * (1 + 4 * EPS)

    def excess(self, view: Any, G: Weights) -> Approximate:
        return _sum([self.one.excess(own, g) for own, g in zip(view.each, self.parts(G), strict=True)])

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """The psd blocks that exact arithmetic judges in place of A (m d, m d), as one matrix of rationals.

        root (m d, r): if given, its rows R_b (d, r) for block b give the block R_b R_b^T.
        """
        m = self.W.shape[1]
        roots = [None] * m if root is None else np.split(np.asarray(root, dtype=float), m)
        own = [rational.judged(block, each) for block, each in zip(blocks_of(A, m), roots, strict=True)]
        low = min(block.at for block in own)
        each = [(block.V * (1 << (block.at - low))).tolist() for block in own]
        entries = [[int(entry) for entry in row] for row in in_blocks(np.array(each, dtype=object)).tolist()]
        beside, at = whole(A - in_blocks(blocks_of(A, m)))
        away = [sum_of_squares(beside) * scaled(1, 2 * at), *(Fraction(block.distance) ** 2 for block in own)]
        return rational.Squares(flint().fmpz_mat(entries), low, root_upward(sum(away, Fraction(0))))

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """The squared distances (n, n) of all pairs i, j: the sum over b of W_ib times that in M_b. Not symmetric."""
        shares, at = whole(self.W)
        rows, d = metric.V.tolist(), metric.V.nrows() // self.W.shape[1]
        total: Any = 0
        for b, share in enumerate(np.array(shares.tolist(), dtype=object).T):
            block = [row[b * d : (b + 1) * d] for row in rows[b * d : (b + 1) * d]]
            own = X.distances(metric._replace(V=flint().fmpz_mat(block)))
            total = total + np.array(own.D, dtype=object) * share[:, None]
        D = [[int(entry) for entry in row] for row in total.tolist()]
        return rational.Distances(D, own.unit * scaled(1, at))

    def exact_bound(self, X: rational.Plane, G: Weights, hint: ArrayLike | None = None) -> Fraction:
        """r(G) as a fraction, the sum of the bounds of the blocks.

        hint (m d, r): its d rows for block b are a matrix L with G_b + L L^T near P_+(G_b), so L L^T is near P_+(-G_b).
        By default L is computed.
        """
        hints = [None] * self.W.shape[1] if hint is None else np.split(np.asarray(hint), self.W.shape[1])
        exactly = [self.one.exact_bound(X, own, each) for own, each in zip(self.parts(G), hints, strict=True)]
        return sum(exactly, Fraction(0))

    def parts(self, G: Weights) -> list[Weights]:
        """For each block G_b, its weights on pairs (i, j): the weights of G times the shares W_ib.

        Fractions stay exact. The rounding of floats is included in the error bounds of `bound`.
        """
        shares: Any = self.shares(G.pairs)
        if G.w.dtype == object and len(G.w):
            shares = np.vectorize(Fraction, otypes=[object])(shares)
        return [Weights(G.pairs, G.w * share) for share in shares.T]

    def second_derivative(self, at: Scaled) -> None:
        """None: no second derivative is implemented."""


def _sum(parts: list[Approximate]) -> Approximate:
    values, error = np.array(parts).T
    moved = float(error.sum()) + (len(parts) + 2) * EPS * float(np.abs(values).sum())
    return Approximate(float(values.sum()), moved * (1 + 1e-6))
