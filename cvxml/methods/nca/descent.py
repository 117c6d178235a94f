"""The objective of NCA, its gradient and Hessian by blocks of rows, and their descent. No n x n array is stored.

The objective is -f = -sum_i p_i, -g = -sum_i log p_i, or a convex step (certify.py), as a function of A with the metric
Q = A^T A. Let e_i = A x_i, x_ij = x_i - x_j and d_ij = |e_i - e_j|^2. Then p_ij is the softmax of -d_ij over j != i,
and p_i = sum_j s_ij p_ij. Each gradient has the form 2 A sum_ij M_ij x_ij x_ij^T:
    -g, -f           M_ij = c_i (w_ij - p_ij), with w_ij = s_ij p_ij / p_i, and c_i = 1 for g or c_i = p_i for f
    a convex step    M_ij = - c_i p_ij with fixed c, plus the gradient of <T, Q>, T = sum c_i w_ij x_ij x_ij^T fixed
Let m be the row sums plus the column sums of M. The sum over pairs is X^T (diag m - M - M^T) X, so we only need
products of M with the matrix E of the e_i. A block of M is made and used while it is in the cache. It is made from
unnormalised exponentials e^(-d_ij + shift); a column of ones beside the e_i gives their sums.

The descent is L-BFGS on A, first in single precision if there are many points, then Newton steps by conjugate
gradients. certify.py judges its result, so no proof depends on this file.
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
THREADED = 500  # from this many points on, two threads are faster
# A sum of exponentials below this has lost digits to underflow, and is computed again with another shift.
SMALLEST = {"float64": 1e-200, "float32": 1e-25}
ALL = slice(None)


class Block(NamedTuple):
    """A block of rows of M, for the points sorted by class.

    rows: the points i. own: columns j that contain all their partners, the points with s_ij > 0. With classes these are
    the columns of the class, with a similarity all columns. soft: s in these columns; None with classes, where s_ij is
    1 for j != i.
    """

    rows: slice
    own: slice  # columns that contain all partners
    soft: FloatArray | None  # s in these columns; None: 1 off the diagonal


class Held(NamedTuple):
    """The constants of a convex step: c_i for each point i with a partner, and T = sum c_i w_ij x_ij x_ij^T (d, d)."""

    c: FloatArray  # (usable,)
    T: FloatArray  # (d, d)


class Sums:
    """Accumulates (diag m - M - M^T) E over blocks of M.

    E (n, r + 1): the rows e_i and a column of ones. m (n,): the row sums plus the column sums of M.
    """

    def __init__(self, E: FloatArray):
        self.E = E  # (n, r + 1), the last column ones
        self.both = np.zeros(E.shape)  # (M + M^T) E, and in the last column m

    def add(self, rows: slice, columns: slice, K: FloatArray, KE: FloatArray, factor: FloatArray) -> None:
        """Add the block M_ij = factor_i K_ij, for i in `rows` and j in `columns`. KE: the product K E[columns]."""
        scaled = factor[:, None].astype(K.dtype)
        self.both[rows] += scaled * KE
        self.both[columns] += K.T @ (scaled * self.E[rows])

    def image(self) -> FloatArray:
        """Return (diag m - M - M^T) E without the column of ones, (n, r)."""
        return _image(self.both, self.E)


class Pairs:
    """The points of an instance, sorted by class and centred, with the objective for metrics A^T A, A (m, d).

    A partner of i is a point j with s_ij > 0. Points without a partner come last; they have no row in M.
    """

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
        """Return -f or -g at A (m, d) and its gradient (m, d); with `held`, a convex step with these constants instead.

        The value of a step is without its constant term. rough: exponentials and sums in single precision, correct to
        about 1e-6, and faster.
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
            W, shift = _partner_exponentials(P, top, left, right, block)
            if block.soft is None:
                P[:, block.own] = 0  # keep other classes only, so that 1 - p_i keeps its digits
            PE, WE = P @ E, W @ E[block.own]
            with np.errstate(divide="ignore"):  # log 0 if the other classes underflow
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
        """Return the Hessian at A times the direction B, (m, d), of -f or -g; with `held`, of a convex step."""
        E, H = _with_ones(self.X @ A.T), _with_ones(self.X @ B.T)
        of_E, of_H = Sums(E), Sums(H)
        left, right = _factors(E)
        eh = np.sum(E[:, :-1] * H[:, :-1], axis=1)
        for block in watched(self.blocks):
            P, top = _exponentials(left, right, block)
            # the derivative of |e_i - e_j|^2, and its means
            change = E[block.rows, :-1] @ H[:, :-1].T + H[block.rows, :-1] @ E[:, :-1].T
            change = 2 * (eh[block.rows, None] + eh - change)
            total = P.sum(axis=1, keepdims=True)
            mean = np.einsum("bn,bn->b", P, change)[:, None] / total
            if held is None:
                W, shift = _partner_exponentials(P, top, left, right, block)
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
        E = _with_ones(self.X @ A.T)
        left, right = _factors(E)
        c = np.ones(self.usable)
        sums = Sums(_with_ones(self.X))
        for block in watched(self.blocks):
            P, top = _exponentials(left, right, block)
            W, shift = _partner_exponentials(P, top, left, right, block)
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
    """Return left (n, r + 2) and right (n, r + 2). The entry i, j of left right^T is -|e_i - e_j|^2.

    E (n, r + 1): the rows e_i and a column of ones.
    """
    size = np.sum(E[:, :-1] ** 2, axis=1)
    left = np.column_stack([2 * E[:, :-1], -size, E[:, -1]])
    right = np.column_stack([E[:, :-1], E[:, -1], -size])
    return left, right


def _image(both: FloatArray, E: FloatArray) -> FloatArray:
    """Return (diag m - M - M^T) E without the column of ones. E (n, r + 1): the rows e_i and a column of ones.

    both (n, r + 1): (M + M^T) E. Its last column is m, because the last column of E is ones.
    """
    return both[:, -1:] * E[:, :-1] - both[:, :-1]


def _exponentials(
    left: FloatArray, right: FloatArray, block: Block, dtype: Any = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Return e^(-d_ik - top_i) (b, n) for rows i of a block, 0 at k = i, and top_i = max_k -d_ik (b,).

    left, right: the factors with left right^T = -d (n, n). The exponents are computed in double precision.
    """
    exponents = left[block.rows] @ right.T
    here = np.arange(len(exponents))
    exponents[here, here + block.rows.start] = -np.inf
    top = exponents.max(axis=1)
    P = exponents if dtype == np.float64 else np.empty(exponents.shape, dtype)
    np.subtract(exponents, top[:, None], out=P, casting="same_kind")
    return np.exp(P, out=P), top


def _partner_exponentials(
    P: FloatArray, top: FloatArray, left: FloatArray, right: FloatArray, block: Block
) -> tuple[FloatArray, FloatArray]:
    """Return s_ij e^(-d_ij - top_i + shift_i) for the rows i and the columns j in `block.own`, and shift (b,).

    P (b, n): e^(-d_ik - top_i), with top_i (b,) the largest exponent of row i. left, right: the factors with
    left right^T = -d (n, n). shift_i is 0 unless the sum over the partners of i nearly underflows in P (`SMALLEST`).
    """
    W = P[:, block.own].copy() if block.soft is None else P * block.soft.astype(P.dtype)
    shift = np.zeros(len(W))
    far = np.flatnonzero(W.sum(axis=1) < SMALLEST[W.dtype.name])
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
    """Return the list [sum_of(blocks)], or the results of two halves in two threads if there are many points n."""
    # always two halves, so that the order of summation is the same on every machine
    return [sum_of(blocks)] if n < THREADED else [*side_by_side(sum_of, [blocks[::2], blocks[1::2]])]


MIN_POINTS_SINGLE = 500  # from this many points on, the descent starts in single precision
MEMORY = 20  # pairs stored by L-BFGS
NEWTON_STEPS = 12
CG_STEPS = 200
LARGEST = 1e8  # largest |A| in coordinates of unit covariance; beyond it distances have no correct digits


@dataclass(eq=False)
class Iterate:
    """A metric A^T A given by A (m, r), with its objective and the gradient in A."""

    A: FloatArray
    value: float
    gradient: FloatArray

    @property
    def change(self) -> float:
        """max(|A|, 1) |dF/dA|: the largest first-order change of the objective F if A moves by max(|A|, 1)."""
        return max(float(np.linalg.norm(self.A)), 1.0) * float(np.linalg.norm(self.gradient))


class Descent:
    """A descent of -f, -g or a convex step from A (m, r). `at` is the current iterate, also after an interrupt.

    enough: the stopping criterion, a function of the iterate that returns True to stop. held: the constants of the
    convex step; None for -f or -g. report: called after each step with the iterate and the name of the phase.
    """

    def __init__(
        self,
        pairs: Pairs,
        A: FloatArray,
        enough: Callable[[Iterate], bool],
        held: Held | None = None,
        report: Callable[[Iterate, str], None] | None = None,
    ):
        self.pairs, self.held, self.enough, self.report = pairs, held, enough, report
        # a step is solved for its dual variables, which need double precision
        self.rough = held is None and len(pairs.X) >= MIN_POINTS_SINGLE
        self.at = self._evaluate(A, self.rough)
        self.iterations = 0

    def _evaluate(self, A: FloatArray, rough: bool = False) -> Iterate:
        if not np.linalg.norm(A) <= LARGEST:
            return Iterate(A, math.inf, np.zeros_like(A))
        return Iterate(A, *self.pairs.value_and_gradient(A, self.held, rough))

    def run(self, max_iter: int) -> bool:
        """Descend until `enough` holds, no step helps, or `max_iter` iterations. Return whether `enough` holds.

        The descent also ends if |A| exceeds `LARGEST`.
        """
        if self.rough:
            self.rough = False
            self._lbfgs(max_iter, True)
        for _ in range(3):  # a restart drops outdated curvature
            before = self.at.value
            if self._stopped(max_iter) or self._lbfgs(max_iter, False) or self._newton(max_iter):
                break
            if self.at.value >= before - 1e-12 * abs(before):
                break
        return self.enough(self.at)

    def move_to(self, A: FloatArray) -> bool:
        """Continue from A if its objective is lower than that of the current iterate; return whether it is."""
        new = self._evaluate(A)
        if not new.value < self.at.value:
            return False
        self.at = new
        return True

    def _stopped(self, max_iter: int) -> bool:
        return self.iterations >= max_iter or self.enough(self.at)

    def _lbfgs(self, max_iter: int, rough: bool) -> bool:
        """Run L-BFGS until `enough` holds or no step helps.

        rough: in single precision, until that precision is reached. Returns True if the descent is to end: `enough`
        holds, the iterations are used up, or the iterate diverges.
        """
        shape = self.at.A.shape
        last = [self.at]

        def evaluate(a: FloatArray) -> tuple[float, FloatArray]:
            last[0] = self._evaluate(a.reshape(shape).copy(), rough)
            if not math.isfinite(last[0].value):
                raise _Diverged
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
        except _Diverged:
            return True
        finally:
            if rough:
                self.at = self._evaluate(self.at.A)
        return self._stopped(max_iter)

    def _newton(self, max_iter: int) -> bool:
        """Take at most `NEWTON_STEPS` Newton steps, as long as each step more than halves `Iterate.change`.

        A step must not raise the objective by more than rounding. There is no line search, because it would only
        compare rounding errors. Returns True if the descent is to end: `enough` holds, or the iterations are used up.
        """
        for _ in watched(range(NEWTON_STEPS)):
            at = self.at
            size = at.A.size

            def product(b: FloatArray, at: Iterate = at) -> FloatArray:
                return self.pairs.hessian_product(at.A, b.reshape(at.A.shape), self.held).ravel()

            H = LinearOperator((size, size), matvec=product, dtype=np.float64)
            # along a direction without curvature the step is NaN, and is refused below
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


class _Diverged(Exception):
    """Raised if |A| exceeds `LARGEST`, where distances have no correct digits, or if the objective overflows."""
