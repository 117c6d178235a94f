"""The solver for lam/2 ||M||^2 with hinges, through its dual, in which each dual variable has an interval (a box).

Row t of the losses has the value v_t = <V_t, M> and the dual variable a_t. In the dual, the losses contribute
k(a) = sum a - g/2 ||a||^2 for low <= a <= high (`Box` of losses/base.py). g is the width of a smoothed hinge, else 0. A
linear loss <C, M> is allowed too. The dual, written as a minimization, is

    min_{low <= a <= high}  ||P_+(G)||^2 / (2 lam) + g/2 ||a||^2 - sum a,    G = sum_t a_t V_t - C,

where P_+ replaces negative eigenvalues by 0. The metric of any a is M = P_+(G) / lam, and the gradient of the dual is
v - 1 + g a at this metric. The solver of cone_dual.py minimises the dual by projected gradients and Newton's method. If
rows differ much in scale, it needs very many steps. Then the interior-point method of box_interior.py takes over. The
points are divided by a number s, so that their size is about 1, and lam is divided by s^4.

PLML has m metrics, with one matrix G for each (methods/plml/blocks.py). So G has the shape (m, d, d). For other methods
m = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray, in_blocks
from cvxml.core.run import Estimate
from cvxml.family.geometry.symmetric import quadratic, weighted
from cvxml.family.losses.base import Box
from cvxml.family.losses.straight import Straight
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals, places
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family
from cvxml.solvers.box_interior import BoxRows
from cvxml.solvers.cone_dual import At, ConeDual, OwnMetric, Search, patience_for
from cvxml.solvers.feasible_sets import Boxes
from cvxml.solvers.interior_point import interior
from cvxml.solvers.newton import Derivative

SHARE_OF_GAP = 0.5  # the next proof is due when the gap fell to this share of the last proved gap
LOOKS = 20  # points between two proofs, at most
OVERHEAD = 2e6  # the overhead of a gradient step, as a number of multiplications


class BoxedTerm(NamedTuple):
    """A loss with the `box` of its dual variables, and its rows. place: the index of the loss in the family."""

    place: int  # its position among the terms of the family
    box: Box
    rows: Triplets | PairRows


def boxed_terms(family: Family) -> list[BoxedTerm]:
    """The losses of the family that have a box, with their rows. Linear losses are left out.

    Raises TypeError for a loss or rows that the solver does not take.
    """
    found = []
    for place, (loss, rows) in enumerate(family.terms):
        if isinstance(loss, Straight) and isinstance(rows, PairRows):
            continue
        box = getattr(loss, "box", None)
        if not isinstance(box, Box) or not isinstance(rows, (Triplets, PairRows)):
            raise TypeError(
                f"no solver takes {type(loss).__name__} on {type(rows).__name__} with the Frobenius norm: give the "
                "loss a `box` (family/losses/base.py) and use Triplets or PairRows, or set the class attribute PATH of "
                "the method to a solver of your own"
            )
        found.append(BoxedTerm(place, box, rows))
    return found


class BoxDual(ConeDual):
    """The dual problem of the module docstring. Arrays a (t,) hold the dual variables of all terms, term by term.

    A term is a loss of `family` that has a box, with its rows.
    """

    def __init__(self, family: Family):
        regularizer, terms = family.regularizer, boxed_terms(family)
        assert isinstance(regularizer, Frobenius)
        self.lam, self.scale = regularizer.weight, regularizer.scale
        self.points, self.shares_of = regularizer.unit, regularizer.shares
        self.places = [term.place for term in terms]
        self.keys = [term.rows.keys() for term in terms]
        sizes = [len(key) for key in self.keys]
        boxes = zip(*(term.box for term in terms), strict=True)
        self.low, self.high, width = (np.repeat(bounds, sizes) for bounds in boxes)
        self.width: FloatArray = width
        self.feasible = Boxes(self.low, self.high)
        entries = [term.rows.entries(key) for term, key in zip(terms, self.keys, strict=True)]
        first = np.cumsum([0, *sizes])
        row = np.concatenate([each.row + start for each, start in zip(entries, first[:-1], strict=True)])
        sign = np.concatenate([each.sign for each in entries])
        pairs = np.concatenate([each.pairs for each in entries])
        pairs, place = np.unique(pairs, axis=0, return_inverse=True)
        self.B = csr_array((sign, (row, place.reshape(-1))), shape=(first[-1], len(pairs)))
        self.E, self.shares = self._seen(pairs)
        size = abs(self.B) @ (np.sum(self.E**2, axis=1) * np.linalg.norm(self.shares, axis=1))
        self.steps: FloatArray = 1 / np.maximum(size, 1e-9 * float(size.max(initial=1e-100))) ** 2
        self.C: FloatArray = np.zeros((self.shares.shape[1], *[self.E.shape[1]] * 2))
        for loss, rows in family.terms:
            if isinstance(loss, Straight) and isinstance(rows, PairRows):
                self.C += float(loss.c) * _squares(*self._seen(rows.listed))
        self.workspace = len(self.E)
        d, m = self.E.shape[1], self.shares.shape[1]
        self.cost = 4 * self.shares.size * d**2 + 12 * m * d**3 + 4 * self.B.nnz + OVERHEAD

    def _seen(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """The differences x_i - x_j (p, d) of the pairs (p, 2), and the weight (p, m) of each metric in each distance.

        The squared distance of a pair is the sum over the metrics of weight times squared distance in that metric.
        """
        E: FloatArray = self.points[pairs[:, 0]] - self.points[pairs[:, 1]]
        return E, self.shares_of(pairs)

    def of(self, duals: Sequence[Duals]) -> FloatArray:
        """The array a (t,) of the dual variables in `duals`, which holds those of each term of the family.

        Rows without a given dual variable get 0. The result is clipped to the box.
        """
        each = []
        for place, keys in zip(self.places, self.keys, strict=True):
            a, given = np.zeros(len(keys)), duals[place]
            at, known = places(keys, given.key)
            a[at[known]] = given.a[known]
            each.append(a)
        return np.clip(np.concatenate(each), self.low, self.high)

    def image(self, a: FloatArray) -> FloatArray:
        """G, followed by sqrt(lam g) a if a hinge is smoothed, as one array (m d d,) or (m d d + t,).

        With the second part, g/2 ||a||^2 is a squared norm of the image too.
        """
        G = self.linear(a) - self.C
        return np.concatenate([G.ravel(), np.sqrt(self.lam * self.width) * a if self.width.any() else a[:0]])

    def linear(self, a: FloatArray) -> FloatArray:
        """sum_t a_t V_t (m, d, d)."""
        return _squares(self.E, self.shares * (self.B.T @ a)[:, None])

    def values(self, M: FloatArray) -> FloatArray:
        """v (t,), the values <V_t, M> of the rows for M (m, d, d)."""
        D = np.stack([quadratic(self.E, own) for own in M], axis=1)
        v: FloatArray = self.B @ np.sum(self.shares * D, axis=1)
        return v

    def matrices(self, image: FloatArray) -> FloatArray:
        """The part G (m, d, d) of an image."""
        return image[: self.C.size].reshape(self.C.shape)

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        return self.values(self.metric(values, vectors))

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        B = self.B[entries[0]]
        each = zip(self.E @ vectors, self.shares.T, along, strict=True)
        blocks = [
            B @ (share[:, None] * turned[:, a] * turned[:, b] * weights)
            for turned, share, (weights, a, b) in each
        ]
        return np.hstack(blocks)

    def unpaid(self, a: FloatArray) -> FloatArray:
        """high - a (t,). Its sum is -sum a plus the constant sum(high), without cancellation."""
        return self.high - a

    def reward(self, a: FloatArray) -> FloatArray:
        return np.ones(1)

    def gap(self, at: At) -> float:
        """The gap of the losses at a point with the dual variables a and a metric M: a sum of terms >= 0, one a row.

        The term of a row is (p - a) z - g/2 (p^2 - a^2) with z = 1 - v. Here p is the number in the box that maximises
        p z - g/2 p^2. If M = P_+(G) / lam, the gap of the regularizer is 0, and the result is the whole duality gap.
        """
        a, g, low, high = at.v, self.width, self.low, self.high
        z = 1 - at.margins
        p = np.clip(np.divide(z, g, out=a.copy(), where=g > 0), low, high)
        left = (high - a) @ np.maximum(z - g * high, 0) + (a - low) @ np.maximum(g * low - z, 0)
        return float(left + g @ (p - a) ** 2 / 2)


def _squares(E: FloatArray, w: FloatArray) -> FloatArray:
    """The matrices sum_p w_pb e_p e_p^T (m, d, d) for each column b of w (pairs, m). e_p: the rows of E (pairs, d)."""
    S: FloatArray = np.stack([weighted(E, own) for own in w.T])
    return S


class Boxed:
    """A run of the solver of cone_dual.py on the dual problem `dual`.

    It begins at the point with the smallest dual objective among three: a = 0, a = high (or low where high is 0), and
    `start`. If dual variables are known, `start` holds them for each loss of the family.
    """

    def __init__(self, dual: BoxDual, start: Sequence[Duals] | None = None):
        self.dual = dual
        starts = [np.zeros(len(dual.low)), np.where(dual.high > 0, dual.high, dual.low)]
        if start is not None:
            starts.append(dual.of(start))
        self.at = min((dual.at(a) for a in starts), key=lambda at: at.value)
        self.points = self._points()

    def _points(self) -> Iterator[At]:
        """Points of gradient and Newton steps, of the interior-point method, and of gradient and Newton steps again.

        The interior-point method starts late, because it is only needed if rows differ much in scale. After it, a
        second run of gradient and Newton steps starts from the best point. When this run ends, the first run is
        continued.
        """
        dual = self.dual
        d, m = dual.E.shape[1], dual.shares.shape[1]
        patience = patience_for(dual, len(dual.low), d, m)
        first = Search(dual, dual.lam, np.inf)
        points = self._of(first)
        while first.iteration < patience:
            at = next(points, None)
            if at is None:
                break
            yield at
        if patience < np.inf:
            yield from (OwnMetric(dual, dual.feasible.project(a), M) for a, M in interior(BoxRows(dual)))
            yield from self._of(Search(dual, dual.lam, np.inf))
            yield from points

    def _of(self, search: Search) -> Iterator[At]:
        """The points of `search` after its start, which is the present point."""
        start = self.dual.at(self.at.v)
        return (at for at, _ in islice(search.points(start), 1, None))

    def step(self) -> bool:
        """Run until the gap has halved, for at most `LOOKS` iterates; False if the solver has ended."""
        before, seen = self.at, 0
        for at in islice(self.points, LOOKS):
            seen += 1
            self.at = min(self.at, at, key=lambda point: point.gap)
            if self.at.gap <= SHARE_OF_GAP * before.gap:
                return True
        return seen == LOOKS

    def estimate(self, family: Family) -> Estimate:
        """The objective, gap and scale of the metric. family: gives the scale.

        The solver of cone_dual.py keeps the minimised dual objective plus sum(high). So the lower bound is sum(high)
        minus that value.
        """
        at = self.at
        objective = float(self.dual.high.sum()) - at.value + at.gap
        return Estimate(objective, at.gap, family.scale(at.scale, objective))

    def metric(self) -> FloatArray:
        """The metric (m d, m d), with the m metrics as diagonal blocks."""
        M: FloatArray = in_blocks(self.at.metric()) / self.dual.scale**2
        return (M + M.T) / 2

    def duals(self) -> list[Duals]:
        """The nonzero dual variables of each term."""
        sizes = [len(key) for key in self.dual.keys]
        each = zip(np.split(self.at.v, np.cumsum(sizes)[:-1]), self.dual.keys, strict=True)
        return [Duals(a[a != 0], key[a != 0]) for a, key in each]
