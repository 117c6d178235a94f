"""Objective, gradient and Hessian of NCA by blocks of rows: no n x n array is ever held.

With e_i = A x_i, everything here has a gradient of the form 2 A sum_ij M_ij x_ij x_ij^T:
    -g, -f           M_ij = c_i (w_ij - p_ij),  w_i the part of p_i that is right for i, normalised; c_i = 1 or p_i
    a convex step    M_ij = - c_i p_ij with c held, beside <T, Q> with T = sum c_i w_ij x_ij x_ij^T held
With the row and column sums m of M the sum over pairs is X^T (diag m - M - M^T) X, so products of M with the matrix of
the e_i are all that is needed. A block of M is made and used while it is in the cache: e^(-d_ij + shift) row by row,
never normalised; the column of ones beside the e_i gives the sums.

L-BFGS on A, first in single precision where there are many points, then Newton steps by conjugate gradients.

Nothing here is believed: what comes out is certified by certify.py or said to be uncertified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.threads import side_by_side
from cvxml.methods.nca.instance import Instance

BLOCK = 1 << 17  # numbers in a block of rows: a megabyte
THREADED = 500  # points from which two threads are worth their start
# A sum of exponentials below this has lost digits to underflow, and is taken again with another shift.
TINY = {"float64": 1e-200, "float32": 1e-25}
ALL = slice(None)


class Block(NamedTuple):
    """Rows of the sorted points, the columns that may be right for them, and s there (None: 1 off the diagonal)."""

    rows: slice
    own: slice
    soft: FloatArray | None


class Held(NamedTuple):
    """What a convex step holds fixed: c (usable,) and T (d, d)."""

    c: FloatArray
    T: FloatArray


class Sums:
    """(diag m - M - M^T) E from blocks of M, where m are its row sums and column sums together."""

    def __init__(self, E: FloatArray):
        self.E = E  # (n, r + 1), the last column ones
        self.both = np.zeros(E.shape)  # (M + M^T) E, and in the last column m

    def add(self, rows: slice, columns: slice, K: FloatArray, KE: FloatArray, factor: FloatArray) -> None:
        """M gains factor_i K_ij in these rows and columns; KE is K times those columns of E."""
        scaled = factor[:, None].astype(K.dtype)
        self.both[rows] += scaled * KE
        self.both[columns] += K.T @ (scaled * self.E[rows])

    def image(self) -> FloatArray:
        """(n, r)."""
        return _image(self.both, self.E)


class Pairs:
    """The points of an instance, sorted by class and centred. Metrics are given as A (m, d)."""

    def __init__(self, p: Instance):
        usable = p.usable
        order = np.argsort(p.y, kind="stable")
        self.order: IntArray = np.concatenate([order[usable[order]], order[~usable[order]]])
        self.usable = int(usable.sum())
        self.X = np.ascontiguousarray((p.X - p.X.mean(axis=0))[self.order])
        self.criterion = p.criterion
        self.blocks = list(self._blocks(p))

    def _blocks(self, p: Instance) -> Iterator[Block]:
        n = len(self.X)
        size = max(1, BLOCK // n)
        if p.similarity is not None:
            for start in watched(range(0, self.usable, size)):
                rows = slice(start, min(start + size, self.usable))
                yield Block(rows, ALL, p.similarity[self.order[rows]][:, self.order])
            return
        codes = p.y[self.order[: self.usable]]
        ends = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), self.usable]
        for first, last in pairwise(ends):
            for start in watched(range(first, last, size)):
                yield Block(slice(start, min(start + size, last)), slice(first, last), None)

    def value_and_gradient(
        self, A: FloatArray, held: Held | None = None, rough: bool = False
    ) -> tuple[float, FloatArray]:
        """-f or -g at A (m, d), or the step that holds `held` (but for a constant), and its gradient (m, d).

        rough: exponentials and what is summed in single precision: good to about 1e-6, and faster.
        """
        E = _with_ones(self.X @ A.T)
        left, right = _factors(E)
        if rough:
            E = E.astype(np.float32)
        parts = _in_threads(len(self.X), self.blocks, lambda blocks: self._sum(blocks, E, left, right, held))
        gradient: FloatArray = 2 * _image(sum(sums.both for _, sums in parts), E).T @ self.X
        value = math.fsum(part for part, _ in parts)
        if held is not None:
            AT = A @ held.T
            value, gradient = value + float(np.sum(AT * A)), gradient + 2 * AT
        return value, gradient

    def _sum(
        self, blocks: list[Block], E: FloatArray, left: FloatArray, right: FloatArray, held: Held | None
    ) -> tuple[float, Sums]:
        sums, value = Sums(E), 0.0
        for block in watched(blocks):
            P, top = _exponentials(left, right, block, E.dtype)
            if held is not None:
                c, PE = held.c[block.rows], P @ E
                value += float(c @ (top + np.log(PE[:, -1])))
                sums.add(block.rows, ALL, P, PE, -c / PE[:, -1])
                continue
            W, shift = _right_ones(P, top, left, right, block)
            if block.soft is None:
                P[:, block.own] = 0  # the others alone: 1 - p_i keeps its digits
            PE, WE = P @ E, W @ E[block.own]
            with np.errstate(divide="ignore"):  # nothing else in reach: log 0
                mass = np.log(PE[:, -1].astype(float))
            own = np.log(WE[:, -1].astype(float)) - shift
            total = np.logaddexp(own, mass) if block.soft is None else mass
            log_p = own - total if block.soft is not None else -np.logaddexp(0, mass - own)
            share = 1.0 if block.soft is not None else np.exp(mass - total)
            c = np.exp(log_p) if self.criterion == "f" else np.ones(len(log_p))
            value -= float((c if self.criterion == "f" else log_p).sum())
            sums.add(block.rows, block.own, W, WE, c * share / WE[:, -1])
            sums.add(block.rows, ALL, P, PE, -c * np.exp(-total))
        return value, sums

    def hessian_product(self, A: FloatArray, B: FloatArray, held: Held | None = None) -> FloatArray:
        """The second derivative at A, (m, d), in the direction B (m, d), of what `value_and_gradient` gives."""
        E, H = _with_ones(self.X @ A.T), _with_ones(self.X @ B.T)
        of_E, of_H = Sums(E), Sums(H)
        left, right = _factors(E)
        eh = np.sum(E[:, :-1] * H[:, :-1], axis=1)
        for block in watched(self.blocks):
            P, top = _exponentials(left, right, block)
            # the change of |e_i - e_j|^2, and its means
            change = E[block.rows, :-1] @ H[:, :-1].T + H[block.rows, :-1] @ E[:, :-1].T
            change = 2 * (eh[block.rows, None] + eh - change)
            total = P.sum(axis=1, keepdims=True)
            mean = np.einsum("bn,bn->b", P, change)[:, None] / total
            if held is None:
                W, shift = _right_ones(P, top, left, right, block)
                total_own = W.sum(axis=1, keepdims=True)
                own_change = change[:, block.own]
                own_mean = np.einsum("bn,bn->b", W, own_change)[:, None] / total_own
                log_p = np.log(total_own[:, 0] / total[:, 0]) - shift
                c = np.exp(log_p) if self.criterion == "f" else np.ones(len(log_p))
                dc = c[:, None] * (mean - own_mean) if self.criterion == "f" else 0.0
                dW = W / total_own * (dc - c[:, None] * (own_change - own_mean))
                of_E.add(block.rows, block.own, dW, dW @ E[block.own], np.ones(len(c)))
                of_H.add(block.rows, block.own, W, W @ H[block.own], c / total_own[:, 0])
            else:
                c, dc = held.c[block.rows], 0.0
            dP = P / total * (dc - c[:, None] * (change - mean))
            of_E.add(block.rows, ALL, dP, dP @ E, -np.ones(len(c)))
            of_H.add(block.rows, ALL, P, P @ H, -c / total[:, 0])
        product: FloatArray = 2 * (of_E.image() + of_H.image()).T @ self.X
        return product if held is None else product + 2 * B @ held.T

    def hold(self, A: FloatArray) -> Held:
        """c and T of the convex step at A."""
        E = _with_ones(self.X @ A.T)
        left, right = _factors(E)
        c = np.ones(self.usable)
        sums = Sums(_with_ones(self.X))
        for block in watched(self.blocks):
            P, top = _exponentials(left, right, block)
            W, shift = _right_ones(P, top, left, right, block)
            total_own = W.sum(axis=1)
            if self.criterion == "f":
                c[block.rows] = total_own / P.sum(axis=1) * np.exp(-shift)
            WX = W @ sums.E[block.own]
            sums.add(block.rows, block.own, W, WX, c[block.rows] / total_own)
        T = sums.image().T @ self.X
        return Held(c, (T + T.T) / 2)


def _with_ones(E: FloatArray) -> FloatArray:
    return np.column_stack([E, np.ones(len(E))])


def _factors(E: FloatArray) -> tuple[FloatArray, FloatArray]:
    """left, right with left right^T = -|e_i - e_j|^2."""
    size = np.sum(E[:, :-1] ** 2, axis=1)
    left = np.column_stack([2 * E[:, :-1], -size, E[:, -1]])
    right = np.column_stack([E[:, :-1], E[:, -1], -size])
    return left, right


def _image(both: FloatArray, E: FloatArray) -> FloatArray:
    """(diag m - M - M^T) E without the ones, from (M + M^T) E and, in its last column, m."""
    return both[:, -1:] * E[:, :-1] - both[:, :-1]


def _exponentials(
    left: FloatArray, right: FloatArray, block: Block, dtype: Any = np.float64
) -> tuple[FloatArray, FloatArray]:
    """e^(-d_ik - top_i) for the rows of a block, (b, n), 0 for i itself, and top (b,); distances always in double."""
    exponents = left[block.rows] @ right.T
    here = np.arange(len(exponents))
    exponents[here, here + block.rows.start] = -np.inf
    top = exponents.max(axis=1)
    P = exponents if dtype == np.float64 else np.empty(exponents.shape, dtype)
    np.subtract(exponents, top[:, None], out=P, casting="same_kind")
    return np.exp(P, out=P), top


def _right_ones(
    P: FloatArray, top: FloatArray, left: FloatArray, right: FloatArray, block: Block
) -> tuple[FloatArray, FloatArray]:
    """s_ij e^(-d_ij - top_i + shift_i) for the columns that may be right, and shift (b,): 0 unless P vanishes there."""
    W = P[:, block.own].copy() if block.soft is None else P * block.soft.astype(P.dtype)
    shift = np.zeros(len(W))
    far = np.flatnonzero(W.sum(axis=1) < TINY[W.dtype.name])
    if len(far):
        exponents = left[block.rows][far] @ right[block.own].T
        exponents[np.arange(len(far)), far + block.rows.start - (block.own.start or 0)] = -np.inf
        if block.soft is not None:
            with np.errstate(divide="ignore"):
                exponents += np.log(block.soft[far])
        largest = exponents.max(axis=1)
        W[far], shift[far] = np.exp(exponents - largest[:, None]), top[far] - largest
    return W, shift


def _in_threads(n: int, blocks: list[Block], sum_of: Callable[[list[Block]], Any]) -> list[Any]:
    """`sum_of` two halves of the blocks, side by side where they are long enough for that to pay."""
    # always two: the order of summation is the same on every machine
    return [sum_of(blocks)] if n < THREADED else [*side_by_side(sum_of, [blocks[::2], blocks[1::2]])]


MANY = 500  # points from which single precision comes first
MEMORY = 20  # of L-BFGS
NEWTON_STEPS = 12
CG_STEPS = 200
LARGEST = 1e8  # of |A| in coordinates of unit covariance: beyond it no distance means anything


@dataclass(eq=False)
class Point:
    """A metric A (m, r), its objective and gradient."""

    A: FloatArray
    value: float
    gradient: FloatArray

    @property
    def change(self) -> float:
        """max(|A|, 1) |dF/dA|: to first order, the change of the objective for a relative change of A."""
        return max(float(np.linalg.norm(self.A)), 1.0) * float(np.linalg.norm(self.gradient))


class Descent:
    """Descent of -f, -g or a step, from A; `at` is the best point so far, whatever happens."""

    def __init__(
        self,
        pairs: Pairs,
        A: FloatArray,
        enough: Callable[[Point], bool],
        held: Held | None = None,
        report: Callable[[Point, str], None] | None = None,
    ):
        self.pairs, self.held, self.enough, self.report = pairs, held, enough, report
        # Only the objective may be computed roughly at first; a step is solved for its dual, which must be exact.
        self.rough = held is None and len(pairs.X) >= MANY
        self.at = self._evaluate(A, self.rough)
        self.iterations = 0

    def _evaluate(self, A: FloatArray, rough: bool = False) -> Point:
        if not np.linalg.norm(A) <= LARGEST:
            return Point(A, math.inf, np.zeros_like(A))
        return Point(A, *self.pairs.value_and_gradient(A, self.held, rough))

    def run(self, max_iter: int) -> bool:
        """True once `enough` says so; False where it never does, or `max_iter` iterations are over."""
        if self.rough:
            self.rough = False
            self._lbfgs(max_iter, True)
        for _ in range(3):  # a restart forgets curvature that has become wrong
            before = self.at.value
            if self._stopped(max_iter) or self._lbfgs(max_iter, False) or self._newton(max_iter):
                break
            if self.at.value >= before - 1e-12 * abs(before):
                break
        return self.enough(self.at)

    def move_to(self, A: FloatArray) -> bool:
        """Go on from A, if it is better."""
        new = self._evaluate(A)
        if not new.value < self.at.value:
            return False
        self.at = new
        return True

    def _stopped(self, max_iter: int) -> bool:
        return self.iterations >= max_iter or self.enough(self.at)

    def _lbfgs(self, max_iter: int, rough: bool) -> bool:
        """L-BFGS from here until enough, or no progress; in single precision, until it is no more than that."""
        shape = self.at.A.shape
        last = [self.at]

        def evaluate(a: FloatArray) -> tuple[float, FloatArray]:
            last[0] = self._evaluate(a.reshape(shape).copy(), rough)
            if not math.isfinite(last[0].value):
                raise _TooFar
            return last[0].value, last[0].gradient.ravel()

        def moved(intermediate_result: OptimizeResult) -> None:
            self.iterations += 1
            A = intermediate_result.x.reshape(shape)
            point = last[0] if np.array_equal(A, last[0].A) else self._evaluate(A.copy(), rough)
            self.at = point
            if self.report is not None:
                self.report(point, "rough" if rough else "L-BFGS")
            if self._stopped(max_iter):
                raise StopIteration

        options: dict[str, float] = {"maxiter": max_iter, "maxfun": 10**9, "maxcor": MEMORY, "maxls": 30}
        options |= {"gtol": 0.0, "ftol": 1e-7 if rough else 0.0}
        try:
            minimize(
                evaluate, self.at.A.ravel(), jac=True, method="L-BFGS-B", callback=moved, options=options
            )
        except _TooFar:
            return True
        finally:
            if rough:
                self.at = self._evaluate(self.at.A)
        return self._stopped(max_iter)

    def _newton(self, max_iter: int) -> bool:
        """Newton steps while each makes the gradient smaller; no line search, whose values would be rounding."""
        for _ in watched(range(NEWTON_STEPS)):
            at = self.at
            size = at.A.size

            def product(b: FloatArray, at: Point = at) -> FloatArray:
                return self.pairs.hessian_product(at.A, b.reshape(at.A.shape), self.held).ravel()

            H = LinearOperator((size, size), matvec=product, dtype=np.float64)
            # along a direction without curvature the step is no number, and is not taken below
            with np.errstate(divide="ignore", invalid="ignore"):
                move, _ = cg(H, -at.gradient.ravel(), rtol=1e-3, maxiter=CG_STEPS)
            new = self._evaluate(at.A + move.reshape(at.A.shape))
            slip = 1e-12 * (1 + abs(at.value))
            if not (new.value <= at.value + slip and new.change < 0.5 * at.change):
                return False
            self.at = new
            self.iterations += 1
            if self.report is not None:
                self.report(new, "newton")
            if self._stopped(max_iter):
                return True
        return False


class _TooFar(Exception):
    """The iterate left for infinity."""
