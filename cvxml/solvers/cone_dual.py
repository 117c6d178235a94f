"""The solver for duals of problems with the squared Frobenius norm: gradient steps, then Newton steps on a face.

Three problems have this form: MLSVM (methods/mlsvm/solver.py), a step of gerrymandering (methods/ssvm/step.py), and
hinges with the squared Frobenius norm (box_dual.py). Let v_t be the dual variable of constraint t. The dual is

    min_{v in V}  ||P_+(G(v))||^2 / (2 lam) + width/2 ||v||^2 - <reward, v>.

G(v) is a symmetric matrix that is affine in v. P_+ replaces its negative eigenvalues by 0, and A = P_+(G) / lam is the
metric. V is one of the sets of feasible_sets.py, for example a box. The problem gives `width` >= 0 and the vector
`reward`.

Accelerated gradient steps (first_order.py) find the active constraints. Then Newton rounds reach any accuracy in a few
rounds. The face of v consists of the feasible points at which the same constraints are active. On the face, the Hessian
of the first term is B B^T (newton.py). A Newton step solves (B B^T + width + 1 / reach) z = -gradient on the face,
where `reach` limits the length of the step for each entry of v. A step that leaves V is projected on V. Then the same
quadratic model is minimised again on the smaller face, without a product with the data. A few gradient steps between
two rounds let constraints enter and leave.

A batch of gradient steps takes about as long as a Newton round, up to a limit. The size of a batch depends on counts of
operations and never on a clock, so results are reproducible. Every iterate is feasible, so each gap is that of a
feasible A and a feasible v.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.solvers.feasible_sets import FeasibleSet
from cvxml.solvers.first_order import State, accelerated
from cvxml.solvers.newton import MAX_ENTRIES, Derivative, derivative, solve_regularised

CHECK_EVERY = 10  # gradient steps between two computations of the gap
STALLED = 5  # batches and rounds without a lower objective or gap, after which the solver gives up
IDLE = 15  # Newton rounds end after this many in a row without a lower objective or gap; the reach grows meanwhile
LONG = 1500  # iterations without a smaller gap, after which the solver gives up
BATCH = (10, 150)  # gradient steps before a Newton round: at least and at most
BETWEEN = 7  # gradient steps between two Newton rounds, at most
SHARE = 0.1  # the gradient steps before the next round cost this fraction of the round
NO_GAP = 1e-20  # a relative gap below this is rounding only
SHORT = 0.1  # a Newton step shortened below this fraction ends the rounds
REACH = 1e4  # first length of a Newton step, in gradient steps
SHORTEST = 1e-300  # shortest reach of an entry; its inverse does not overflow
MODEL_STEPS = 4  # Newton steps in one model
PATIENCE = 100  # gradient steps and Newton rounds before an interior-point method, at least
INTERIOR_STEPS = 40  # iterations that an interior-point method needs
OF_A_STEP = 5e6  # the overhead of such an iteration, as a number of multiplications
ROUNDING = 1e-13  # relative to the longest range: a step moved less than this by the projection was feasible


class ConeDual(ABC):
    """Base of dual problems of the form in the module docstring. Arrays v have any fixed shape.

    lam, width: as in the module docstring. feasible: the set V. steps: the relative length of a gradient step for each
    entry of v. sign: the gradient of the first term of the dual is sign * `margins`. steps, sign and width are
    broadcast against v.

    cone: False if the metric may be indefinite; then G replaces P_+(G) everywhere. cost: the number of multiplications
    of a gradient step. workspace: the number of rows of the largest array that `products` needs besides its result.
    """

    lam: float
    feasible: FeasibleSet
    steps: FloatArray  # broadcast against v: the relative step of each block (a preconditioner)
    sign: FloatArray | float = 1.0  # the gradient of the quadratic term is sign * margins
    width: FloatArray | float = 0.0
    cone = True  # False: without P_+, for a metric that may be indefinite
    cost: float  # number of multiplications of a gradient step
    workspace = 0  # rows of the largest array that `products` needs besides its result

    @abstractmethod
    def image(self, v: FloatArray) -> FloatArray:
        """The image of v: an array that contains G(v), and that is affine in v."""

    @abstractmethod
    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """The values <A, V_t> in the shape of v, where sign * V_t is the derivative of G in the entry v_t.

        values, vectors: the eigenvalues and eigenvectors of G, which give A.
        """

    @abstractmethod
    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        """The rows of B (p, q) for p entries of v.

        B B^T is the Hessian of the first term of the dual for these entries. entries: their indices, one array (p,) for
        each axis of v. vectors: the eigenvectors of G.

        along: the derivative of P_+ for each matrix G (newton.py). It has a weight for each pair of eigenvectors of
        this G, and q is the number of these pairs over all G. B includes the factor `sign`.
        """

    @abstractmethod
    def unpaid(self, v: FloatArray) -> FloatArray:
        """An array with the sum c - <reward, v>, for a constant c. It replaces -<reward, v> in the dual objective.

        Unlike -<reward, v>, the sum loses no digits by cancellation.
        """

    @abstractmethod
    def reward(self, v: FloatArray) -> FloatArray:
        """The reward of each entry of v, in a shape that is broadcast against v.

        A part of the reward may be left out if its product with v is the same at all points on the face of v.
        """

    @abstractmethod
    def gap(self, at: At) -> float:
        """The duality gap of the metric A and of v at a point, as a sum of terms >= 0."""

    def matrices(self, image: FloatArray) -> FloatArray:
        """The matrices G (..., d, d) that an image contains."""
        return image

    def at(self, v: FloatArray, image: FloatArray | None = None) -> At:
        return At(self, v, self.image(v) if image is None else image)

    def descent(self, v: FloatArray, image: FloatArray) -> At:
        return At(self, v, image)

    def descend(self, at: At, step: float) -> FloatArray:
        return self.feasible.project(at.v - step * self.steps * at.slope)

    def positive(self, values: FloatArray) -> FloatArray:
        """The eigenvalues of lam A, for G with the eigenvalues `values`."""
        kept: FloatArray = np.maximum(values, 0) if self.cone else values
        return kept

    def quadratic(self, values: FloatArray) -> float:
        """||P_+(G)||^2 / (2 lam) = lam/2 ||A||^2, for G with these eigenvalues."""
        return float(np.sum(self.positive(values) ** 2)) / (2 * self.lam)

    def metric(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """A (..., d, d) from the eigenvalues and eigenvectors of G."""
        A = (vectors * self.positive(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2) / self.lam
        symmetric: FloatArray = (A + np.swapaxes(A, -1, -2)) / 2
        return symmetric


class At:
    """A feasible v, its image, the eigenvalues and eigenvectors of G, and the `margins` (ConeDual) of its metric A."""

    def __init__(self, dual: ConeDual, v: FloatArray, image: FloatArray):
        self.dual, self.v, self.image = dual, v, image
        self.values, self.vectors = np.linalg.eigh(dual.matrices(image))
        self.margins = dual.margins(self.values, self.vectors)

    @cached_property
    def pull(self) -> FloatArray:
        """The gradient at v of all terms of the dual objective except -<reward, v>."""
        pull: FloatArray = self.dual.sign * self.margins + self.dual.width * self.v
        return pull

    @cached_property
    def slope(self) -> FloatArray:
        """The gradient of the dual objective at v."""
        slope: FloatArray = self.pull - self.dual.reward(self.v)
        return slope

    @cached_property
    def scale(self) -> float:
        """The regularizer of the metric, lam/2 ||A||^2. Here it equals `paid`; in `OwnMetric` it does not."""
        return self.paid

    @cached_property
    def paid(self) -> float:
        """The first term of the dual objective at v, ||P_+(G)||^2 / (2 lam)."""
        return self.dual.quadratic(self.values)

    @cached_property
    def value(self) -> float:
        """The dual objective at v, plus a constant. With this constant, no digits are lost by cancellation."""
        spread = float(np.sum(self.dual.width * self.v**2)) / 2
        return self.paid + spread + float(self.dual.unpaid(self.v).sum())

    @cached_property
    def gap(self) -> float:
        return self.dual.gap(self)

    def step(self, step: float) -> FloatArray:
        return self.dual.descend(self, step)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """An upper bound of 2 (q(new) - q(old) - slope), where q is the part of the dual objective without the reward.

        q is a function of the image. old: the image of this point. new: `new_image`. slope: the derivative of q at the
        old image, in the direction new - old. A first bound is ||new - old||^2 / lam, because P_+ is nonexpansive. If
        this bound is at most `enough`, it is returned. Otherwise q(new) is computed too, which usually gives a smaller
        bound, and the smaller one is returned.
        """
        dual, change = self.dual, new_image - self.image
        bound = float(np.sum(change**2)) / dual.lam
        if bound <= enough or not dual.cone:
            return bound
        of_G = dual.matrices(change)
        after = dual.quadratic(np.asarray(np.linalg.eigvalsh(dual.matrices(new_image)), dtype=np.float64))
        along = np.sum((of_G @ self.vectors) * self.vectors * dual.positive(self.values)[..., None, :])
        beside = bound - float(np.sum(of_G**2)) / dual.lam if of_G.size < change.size else 0.0
        exact = 2 * (after - self.scale - float(along) / dual.lam)
        # the difference of nearly equal numbers has an error of the size of their rounding
        return min(bound, max(exact, 0.0) + beside + 1e-13 * (self.scale + after))

    def metric(self) -> FloatArray:
        return self.dual.metric(self.values, self.vectors)


class OwnMetric(At):
    """A feasible v with any psd metric M, instead of P_+(G) / lam.

    Near the optimum, an interior-point method has M and v with a small gap. The gap of P_+(G) / lam and v is often far
    larger. If the dual objective of v has the error e, P_+(G) may have an error of about the square root of e.
    """

    def __init__(self, dual: ConeDual, v: FloatArray, M: FloatArray):
        super().__init__(dual, v, dual.image(v))
        self.M = M
        values, vectors = np.linalg.eigh(M)
        with np.errstate(over="ignore", invalid="ignore"):
            self.margins = dual.margins(dual.lam * np.maximum(values, 0), vectors)

    @cached_property
    def scale(self) -> float:
        with np.errstate(over="ignore"):  # the first metrics may be huge
            return self.dual.lam / 2 * float(np.sum(self.M**2))

    @cached_property
    def gap(self) -> float:
        """The duality gap of M and v: `dual.gap` plus the gap of the regularizer.

        The latter is lam/2 ||M||^2 - <M, G> + ||P_+(G)||^2 / (2 lam), computed as a sum of terms >= 0.
        """
        dual, Q = self.dual, self.vectors
        with np.errstate(over="ignore", invalid="ignore"):
            seen = np.swapaxes(Q, -1, -2) @ self.M @ Q
            positive = dual.positive(self.values) / dual.lam
            unlike = seen - positive[..., None, :] * np.eye(seen.shape[-1])
            negative = np.maximum(-self.values, 0) * np.maximum(np.diagonal(seen, axis1=-2, axis2=-1), 0)
            gap = dual.gap(self) + dual.lam / 2 * float(np.sum(unlike**2)) + float(np.sum(negative))
        return math.inf if math.isnan(gap) else gap

    def metric(self) -> FloatArray:
        return self.M


class Model:
    """The regularised quadratic model of the dual objective at a point, over the p entries of v that may move.

    Its Hessian is B B^T + width + 1 / reach (module docstring). start: the point. moves: a mask of the p entries.
    reach: the limit of the step length, for each entry of v.

    products (p, q): the rows of B of these entries. The constructor multiplies them in place by `size` (p,), the square
    root of 1 / (width + 1 / reach). The attribute `pull` (p,) is the gradient at the point without the part -reward.
    """

    def __init__(self, start: At, moves: np.ndarray, products: FloatArray, reach: FloatArray):
        dual = start.dual
        self.dual, self.v, self.moves = dual, start.v, moves
        self.place = np.cumsum(moves).reshape(moves.shape) - 1
        width = np.broadcast_to(dual.width, moves.shape)[moves]
        self.size = np.sqrt(1 / (1 / np.maximum(reach[moves], SHORTEST) + width))
        self.pull = start.pull[moves]
        self.products = products
        self.products *= self.size[:, None]
        self.unpaid = dual.unpaid(start.v)

    @classmethod
    def at(cls, start: At, reach: FloatArray) -> Model | None:
        """The model at the point `start`. None if it would be too large, if all entries are fixed, or if A = 0.

        reach: the length of the step of each entry of v, as in the module docstring.
        """
        dual, moves = start.dual, start.dual.feasible.moves(start.v, start.slope)
        values = start.values.reshape(-1, start.values.shape[-1])
        along = [derivative(each if dual.cone else np.abs(each), dual.lam) for each in values]
        columns = sum(len(each.a) for each in along)
        rows = max(int(np.count_nonzero(moves)), dual.workspace)
        if not moves.any() or columns == 0 or rows * columns > MAX_ENTRIES:
            return None
        return cls(start, moves, dual.products(np.nonzero(moves), start.vectors, along), reach)

    def to(self, new: FloatArray) -> tuple[float, FloatArray]:
        """The value of the model at the point `new` minus that at v, and the gradient (p,) of the model at `new`.

        The gradient does not include the part -reward.
        """
        x = (new - self.v)[self.moves] / self.size
        bent = self.products @ (self.products.T @ x) + x
        value = x @ (self.size * self.pull + bent / 2) + np.sum(self.dual.unpaid(new) - self.unpaid)
        return float(value), self.pull + bent / self.size

    def step(self, at: FloatArray, pull: FloatArray) -> FloatArray | None:
        """The minimiser of the model on the face of `at`, possibly infeasible; None if the face is a single point.

        at: a feasible point. pull (p,): the gradient of the model at this point, without the part -reward.
        """
        reward = np.broadcast_to(self.dual.reward(at), at.shape)
        slope = np.zeros(at.shape)
        slope[self.moves] = pull - reward[self.moves]
        face = self.dual.feasible.face(at, slope, self.moves)
        if face.size == 0:
            return None
        entry = self.place[face.entries]
        size = self.size[entry]
        z = solve_regularised(face.along(self.products[entry]), face.along(slope[face.entries] * size))
        new = at.copy()
        new[face.entries] -= face.back(z) * size
        return new


def newton_point(model: Model | None) -> FloatArray | None:
    """The feasible point with the smallest value of `model`, among the results of a few projected Newton steps.

    None if there is no model, or if no step is possible because the face is a single point.
    """
    if model is None:
        return None
    feasible = model.dual.feasible
    at, pull, lowest, best = model.v, model.pull, np.inf, None
    for _ in watched(range(MODEL_STEPS)):
        new = model.step(at, pull)
        if new is None:
            break
        at = feasible.project(new, at)
        value, pull = model.to(at)
        if value < lowest:
            lowest, best = value, at
        if np.abs(at - new).max() <= ROUNDING * feasible.longest:
            break
    return best


class Search:
    """The state of one run: the lengths of gradient and Newton steps, and the number of iterations."""

    def __init__(self, dual: ConeDual, step: float, max_iter: float, batch: tuple[int, int] = BATCH):
        """Prepare a run for the problem `dual`, with at most `max_iter` iterations.

        step: a first guess of the gradient step. batch: the least and the largest number of gradient steps before a
        Newton round.
        """
        self.dual, self.step, self.max_iter, self.batch = dual, step, max_iter, batch
        self.reach = REACH
        self.iteration = 0
        self._least = np.inf
        self._improved = 0  # the last iteration that reduced the smallest gap by at least 1 %

    @property
    def spent(self) -> bool:
        return self.iteration >= self.max_iter

    def points(self, start: At) -> Iterator[tuple[At, str]]:
        """Yield points from `start` on, each with the kind of its step: "start", "gradient" or "newton".

        Ends if all iterations are used, or if objective and gap have stopped decreasing.
        """
        yield start, "start"
        states, best, stalled = accelerated(self.dual, start.v, self.step), start, 0
        while not self.spent:
            look()
            before, since = best.value, self.iteration
            best = yield from self._gradient_batch(states)
            after, full = yield from self._newton_rounds(best)
            if full:  # otherwise the gradient steps keep their momentum
                states, best = accelerated(self.dual, after.v, self.step), after
            stalled = 0 if self._falls(before, best.value, since) else stalled + 1
            if stalled >= STALLED or self.iteration > self._improved + LONG:
                return

    def _seen(self, at: At, kind: str) -> tuple[At, str]:
        if at.gap < 0.99 * self._least and at.gap > NO_GAP * abs(at.value):
            self._least, self._improved = at.gap, self.iteration
        return at, kind

    def _falls(self, before: float, value: float, since: int) -> bool:
        """True if the objective fell from `before` to `value`, or if the smallest gap fell after iteration `since`."""
        return before - value > 1e-15 * abs(before) or self._improved > since

    def _gradient_batch(self, states: Iterator[State]) -> Generator[tuple[At, str], None, At]:
        """Take the next gradient steps of `states`, until they cost as much as a Newton round. Returns the last point.

        Their number stays within `batch`. Every `CHECK_EVERY`-th point is yielded, with the kind "gradient".
        """
        for count, state in enumerate(states, start=1):
            self.iteration += 1
            self.step = state.step
            if count % CHECK_EVERY == 0 or self.spent:
                here = self.dual.at(state.v, state.image)
                yield self._seen(here, "gradient")
                if self.spent or count >= np.clip(self._relative_cost(here), *self.batch):
                    return here
        raise RuntimeError("the iterator of gradient steps ended: it must be infinite")

    def _newton_rounds(self, best: At) -> Generator[tuple[At, str], None, tuple[At, bool]]:
        """Take Newton rounds from the point `best`, as long as they help. The points are yielded, with their kind.

        Returns the last accepted point, and whether any round took its full step.
        """
        dual, full, idle = self.dual, False, 0
        between = int(np.clip(SHARE * self._relative_cost(best), 1, BETWEEN))
        while not self.spent:
            look()
            before, since = best.value, self.iteration
            goal = newton_point(self.model(best))
            if goal is None:
                break
            self.iteration += 1
            taken, trial = 1.0, dual.at(goal)
            towards = trial.image - best.image
            while trial.value > best.value and taken > SHORT:
                look()
                taken /= 2
                trial = dual.at(best.v + taken * (goal - best.v), best.image + taken * towards)
            lower = trial.value <= best.value
            if lower:
                best = trial
                yield self._seen(best, "newton")
            full = full or taken == 1.0
            if taken == 1.0:
                self.reach = min(self.reach * 5, 1e12)
            elif taken < 0.25:
                self.reach = max(self.reach / 25, 1.0)
            if taken < SHORT or not lower or self.spent:
                break
            steps = int(min(between, np.ceil(self.max_iter - self.iteration)))
            state = next(islice(accelerated(dual, best.v, self.step), steps - 1, None))
            self.iteration += steps
            self.step, best = state.step, dual.at(state.v, state.image)
            yield self._seen(best, "gradient")
            idle = 0 if self._falls(before, best.value, since) else idle + 1
            if idle >= IDLE:
                break
        return best, full

    def model(self, at: At) -> Model | None:
        dual = self.dual
        reach = dual.feasible.reach(at.v, at.slope, self.reach * self.step * dual.steps)
        return Model.at(at, reach)

    def _relative_cost(self, at: At) -> float:
        """An estimate of the cost of a Newton round from `at`, divided by the cost of a gradient step."""
        positive = (
            np.count_nonzero(at.values > 0, axis=-1) if self.dual.cone else np.full(1, at.values.shape[-1])
        )
        pairs = float(np.sum(positive * at.values.shape[-1] - positive * (positive - 1) / 2))
        face = float(np.count_nonzero(self.dual.feasible.moves(at.v, at.slope)))
        return face * pairs * min(face, pairs) / self.dual.cost


def patience_for(dual: ConeDual, rows: int, d: int, metrics: int = 1) -> float:
    """The number of gradient steps and Newton rounds after which a solver goes on with an interior-point method.

    It is the number of gradient steps that take as long as 40 iterations of that method, but at least `PATIENCE`. It is
    inf if the equations of that method are too large, so that it is never used.

    rows: the number of dual variables, which is about the number of rows of the matrix B in these equations. d: the
    number of features. metrics: the number of metrics.
    """
    pairs = metrics * d * (d + 1) / 2
    if float(rows) * pairs > MAX_ENTRIES:
        return math.inf
    return max(PATIENCE, float(INTERIOR_STEPS * (rows * pairs**2 + OF_A_STEP) / dual.cost))
