"""One descent of NCA from one start, and the proof of where it ends, in coordinates of unit covariance."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Dual, Status, Step
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.stationary.rank import INVISIBLE, examine_rank
from cvxml.methods.nca.certify import certify
from cvxml.methods.nca.descent import LARGEST, Descent, Point
from cvxml.methods.nca.fast import Held, Pairs
from cvxml.methods.nca.infinity import Limit, collapsible, limit
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import Metric

SHARE = 0.1  # of tol: what the descent leaves to the certificate
UNUSED = 1e-7  # of the objective: what a direction must win to be put in
ARRIVED = 1e-14  # an objective this near to that of all larger multiples cannot be told from it
SAMPLED = 2  # blocks of rows that the scale of a start is tried on
LEARNT = 0.95  # of g at A = 0
SLIGHT = 1e-3  # of g: no reason to go on to the next multiple
WRITTEN = 1e-6  # of a distance: what its matrix may lose of it by rounding
SHIFTS = (1e-2, 1e-4, 1e-6)  # of T: how far inside the dual cone the interior rows are looked for


@dataclass(eq=False)
class Run:
    """One descent from one start, in the coordinates."""

    name: str
    A: FloatArray
    value: float
    status: Status
    iterations: int
    history: list[Step] = field(default_factory=list)
    dual: Dual | None = None  # of the step at A, where a literal run has it
    metric: FloatArray | None = None  # (d, d), where it is not just A^T A in the units given


class Solver:
    """An instance in coordinates of unit covariance, ready to descend."""

    def __init__(self, p: Instance, at: Coordinates | None = None):
        self.p = p
        self.at: Coordinates = coordinates(p.X) if at is None else at
        self.pairs = Pairs(p._replace(X=self.at.Y))
        self._limit: tuple[FloatArray, Limit] | None = None
        self._collapsible: bool | None = None
        self.rank = min(p.m, self.at.Y.shape[1])

    def coarse(self) -> Solver:
        """The same without the coordinates of so little spread that a metric of them cannot be written in floats."""
        seen = EPS * self.at.lost**2 <= WRITTEN
        kept = self.at._replace(
            Y=np.ascontiguousarray(self.at.Y[:, seen]),
            to=self.at.to[:, seen],
            back=self.at.back[:, seen],
            lost=self.at.lost[seen],
        )
        return Solver(self.p, kept)

    def inside(self, A: FloatArray) -> FloatArray:
        """A (m, d) in the coordinates, with as many rows as its rank may have."""
        return _rows(A @ self.at.back, self.rank)

    def scaled(self, A: FloatArray) -> FloatArray:
        """A of ordinary size times the power of 2 with the best g on a sample of the points: not too hard to learn."""
        unit: FloatArray = A * (np.sqrt(len(A)) / float(np.linalg.norm(A)))
        sample = Pairs(self.p._replace(X=self.at.Y, criterion="g"))
        sample.blocks = sample.blocks[:: max(1, len(sample.blocks) // SAMPLED)]

        def value(t: float) -> float:
            return sample.value_and_gradient(t * unit, rough=True)[0]

        best, least = 1.0, value(1.0)
        for factor in (2.0, 0.5):
            while LARGEST > best > 1 / LARGEST and (other := value(factor * best)) < least - SLIGHT:
                look()
                best, least = factor * best, other
        # a ray on which nothing is much better than A = 0 would lead there
        return best * unit if least < LEARNT * value(0.0) else unit

    def of_metric(self, Q: FloatArray) -> FloatArray:
        """A of Q (d, d) in the coordinates."""
        values, vectors = np.linalg.eigh(examine_rank(Q, self.p.m, self.at)[0])
        root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))).T[::-1][: self.rank]
        return root

    def metric(self, A: FloatArray) -> FloatArray:
        """A^T A, (d, d), in the units given."""
        return self.at.outside(A.T @ A)

    def run(
        self,
        name: str,
        A: FloatArray,
        tol: float,
        max_iter: int,
        callback: Callable[[Step], None] | None = None,
    ) -> Run:
        """Descent from A until it is stationary to a share of tol, or all but as good as the bound, or stuck."""
        p, started = self.p, time.perf_counter()
        history: list[Step] = []
        to_win = np.inf  # how far it is to where multiples of A tend, once that is known
        nearly = tol * (len(p.X) if p.criterion == "g" else abs(p.bound))

        def enough(point: Point) -> bool:
            above = point.value - p.bound
            return point.change <= SHARE * tol * min(above, to_win) or above <= nearly

        def report(point: Point, phase: str) -> None:
            above, seconds = point.value - p.bound, time.perf_counter() - started
            step = Step(len(history) + 1, seconds, point.value, p.bound, above, f"{name}: {phase}")
            history.append(step)
            if callback is not None:
                callback(step)

        descent = Descent(self.pairs, A, enough, report=report)
        status = Status.STALLED  # unless its certificate says more
        try:
            done = descent.run(max_iter)
            for _ in range(self.rank + 1):
                Q = self.metric(descent.at.A)
                to_limit = abs(descent.at.value - self.limit(Q).value)
                if 0 < to_limit < to_win and not self.leaves(descent.at.A):
                    to_win = to_limit
                elif self.leaves(descent.at.A) or self.at_infinity(Q) or not self._raised(descent):
                    break
                if descent.iterations < max_iter:
                    done = descent.run(max_iter)
            if not done and descent.iterations >= max_iter:
                status = Status.MAX_ITER
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return Run(name, descent.at.A, descent.at.value, status, descent.iterations, history)

    def _raised(self, descent: Descent) -> bool:
        """Put the best direction into a metric of less rank than allowed; False if none is better, or none is free."""
        A = descent.at.A
        if len(A) == self.rank and np.linalg.svd(A, compute_uv=False)[-1] ** 2 > INVISIBLE:
            return False
        values, vectors = np.linalg.eigh(Metric(self.p, self.metric(A), self.at).G.Z)
        length = max(float(np.linalg.norm(A)), 1.0)
        if values[0] * length**2 >= -UNUSED * (descent.at.value - self.p.bound):
            return False
        while length > 1e-8:
            look()
            new = _rows(np.vstack([A, length * vectors[:, 0]]), self.rank)
            if descent.move_to(new):
                return True
            length /= 4
        return False

    @property
    def limited(self) -> bool:
        """True if the rank is less than the points could use: then a metric is judged by its gradient alone."""
        return bool(self.rank < self.at.Y.shape[1])

    def dual_of(self, run: Run, Q: FloatArray, tol: float) -> Dual:
        """What proves Q (d, d), which a run ended with; none is looked for where the supremum is at infinity."""
        if run.dual is not None:
            return run.dual
        if self.limited or self.at_infinity(Q) or self.leaves(run.A):
            return {"R": Q, "interior": Q}
        return self.dual(Q, run.A, run.A, tol)

    def limit(self, Q: FloatArray) -> Limit:
        """Where multiples of Q (d, d) tend, kept for the next who asks."""
        if self._limit is None or not np.array_equal(Q, self._limit[0]):
            self._limit = Q, limit(self.p, Metric(self.p, Q, self.at))
        return self._limit[1]

    def leaves(self, A: FloatArray) -> bool:
        """True if multiples of A tend to a better objective and A is on its way there, or all but there already."""
        value, gradient = self.pairs.value_and_gradient(A)
        further = value - self.limit(self.metric(A)).value
        if abs(further) <= ARRIVED * abs(value):
            return bool(A.any() and self.at.Y.any())
        return bool(0 < further <= -float(np.sum(A * gradient)))

    def at_infinity(self, Q: FloatArray) -> str:
        """Why no metric attains the supremum, as Q (d, d) shows it, as a sentence; empty if that is not known."""
        if Q.any() and self.limit(Q).best:
            return (
                "every point has its nearest neighbour among those that are right for it: multiples of this metric "
                f"tend to the bound {self.p.bound:.6g}, which no metric attains"
            )
        if self._collapsible is None:
            self._collapsible = not self.limited and collapsible(self.p)
        if self._collapsible:
            return (
                "there is a direction in which the points of every class coincide, and the classes do not: "
                "whatever the metric, more of this direction is better"
            )
        return ""

    def dual(self, Q: FloatArray, A: FloatArray, R: FloatArray, tol: float) -> Dual:
        """Rows for the step at Q = A^T A: those of R, which solves it, and of a step whose T is a little smaller."""
        step = self.pairs.hold(A)
        best, least = {"R": self.metric(R), "interior": self.metric(R)}, np.inf
        for shift in SHIFTS:
            interior = self.minimise_step(R, Held(step.c, (1 - shift) * step.T), 0.01 * shift)
            found = {"R": self.metric(R), "interior": self.metric(interior)}
            proof = certify(self.p, Q, found)
            judged = proof.step or proof
            if judged.gap < least:
                best, least = found, judged.gap
            if judged.proves(SHARE * tol):
                break
        return best

    def improve(self, Q: FloatArray, tol: float, early: bool) -> tuple[FloatArray, Dual]:
        """A metric at least as good as Q, and the dual of the step at Q (none where the rank is limited)."""
        A = self.of_metric(Q)
        found = self.run("candidate", A, tol, 100 if early else 2000)
        better = self.metric(self._further(found.A))
        if self.limited or self.at_infinity(Q) or self.leaves(A):
            return better, {"R": Q, "interior": Q}
        step = self.pairs.hold(A)
        R = self.minimise_step(A if A.any() else found.A, step, SHARE * tol * 1e-2)
        return better, self.dual(Q, A, R, tol)

    def _further(self, A: FloatArray) -> FloatArray:
        """A multiple of A that is better, where multiples are better for ever; else A."""
        if not (self.at_infinity(self.metric(A)) or self.leaves(A)):
            return A
        values = {t: self.pairs.value_and_gradient(t * A)[0] for t in (1.0, 2.0, 4.0, 8.0)}
        return min(values, key=lambda t: values[t]) * A

    def minimise_step(self, A: FloatArray, step: Held, tol: float, max_iter: int = 500) -> FloatArray:
        """A that minimises a convex step to tol of <T, Q>, or wherever the descent ends."""

        def enough(point: Point) -> bool:
            return point.change <= tol * float(np.sum((point.A @ step.T) * point.A))

        descent = Descent(self.pairs, A, enough, step)
        descent.run(max_iter)
        return descent.at.A


def _rows(A: FloatArray, rank: int) -> FloatArray:
    """A' (rank, r) with A'^T A' the nearest to A^T A."""
    _, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    rows = np.zeros((rank, A.shape[1]))
    count = min(rank, len(sizes))
    rows[:count] = sizes[:count, None] * Vt[:count]
    return rows
