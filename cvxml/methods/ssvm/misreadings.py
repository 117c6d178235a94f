"""The mistakes in implementations of gerrymandering that `check` can name, called misreadings.

A misreading is another problem, which an implementation solves in place of (10): min ||W||^2 + C sum_i L_i over psd W.
Here L_i = max_h [S_W(i, h) + Delta(i, h)] - S_W(i, h*_i). S_W is minus the sum of the squared distances from i to the k
members of h, and Delta is the loss of the vote of h (enumeration.py). The set h*_i has the largest S_W among those that
let the class of i win. The max over h is called the first maximum, and S_W(i, h*_i) the second. A `Question` holds the
metric that `check` refuted, with its data and parameters. A misreading may explain this metric if the relative gap of
the metric in it is small.

Some misreadings are (10) with other inputs. For example, with S averaged over the k neighbours and W = k V,

    ||W||^2 + C sum_i L_i(W / k)  =  k^2 ( ||V||^2 + C / k^2 sum_i L_i(V) ):

this is the method with C / k^2, and the metric W / k.

The others are described by a `Misread`: other sets, another Delta, or a W that need not be psd. Their convex step at W
has the form of the step of (10), with sets A_i, losses Delta and h*_i of the misreading:

    min ||V||^2 + C sum_i max_{h in A_i} [ S_V(i, h) + Delta(i, h) ] - C sum_i S_V(i, h*_i)

Let X_ij = (x_i - x_j)(x_i - x_j)^T. Any q_i in the simplex over A_i gives the lower bound

    C sum q_ih Delta(i, h) - 1/4 ||P_+(M)||^2,   M = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij ),

where P_+ replaces negative eigenvalues by 0. If W may be indefinite, ||M||^2 takes the place of ||P_+(M)||^2. The gap
of W in its step is at most its objective minus this bound.

Both maxima are found by exact inference, as in inference.py. With m votes for a class, the cheapest set takes the m
nearest points of the class, and goes on by distance, skipping full classes. The only difference is the number of votes
at which another class is full. The solver of step.py finds weights q over these sets. This module makes q feasible and
computes the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, examine, unit_scale
from cvxml.core.misreading import FAR, MULTIPLES, Misreading, OtherProblem, Question, changed
from cvxml.core.threads import one_blas_thread
from cvxml.methods.ssvm.inference import (
    Nearest,
    best_scale,
    nearest_by_distance,
    point_at,
    scores,
    task_loss,
    tied_for_most,
)
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.step import CLASSES, MAX_ROUNDS, Columns, StepSolver
from cvxml.solvers.cone_dual import At as DualPoint

MOST_POINTS_OF_DUAL = 600  # of the solver in a round; rounding may keep the gap from closing
BLOCK = 1 << 20  # differences at a time
MOST_POINTS = 2000  # a misreading that is not the method itself is not tried with more points


class Misread(NamedTuple):
    """A misreading of L_i (equations (5) and (6), module docstring): other sets, another Delta, or W not psd.

    strict: the first maximum leaves out sets with a tie for most votes. tied: the second maximum includes sets where
    the own class is tied for most votes.

    optimistic: Delta = 0 if the own class is tied for most votes. once: h*_i is chosen once, by Euclidean distance.

    itself: a point counts among its k neighbours, at distance 0. cone: W must be psd.
    """

    strict: bool = False  # the first max is over sets with one winner: tau = 1
    tied: bool = (
        False  # the second max is also over sets in which the own class is tied for most votes: tau = 0
    )
    optimistic: bool = False  # Delta = 0 if the own class is tied for most votes
    once: bool = False  # h*_i is chosen once, by Euclid
    itself: bool = False  # the point is one of its own neighbours, at distance 0
    cone: bool = True  # W is psd


class At(NamedTuple):
    """The sets of a misreading at a metric W, for n points. The cost of a set is the sum of its squared distances.

    sets (n, R, k), cost (n, R): for each class r, the cheapest set that the first maximum counts with the loss Lam(y_i,
    r), and its cost. latent (n, k), latent_cost (n,): h* and its cost.

    worst (n,): the first maximum of the loss L_i.
    """

    cost: FloatArray  # (n, R), of the cheapest set for each class
    sets: IntArray  # (n, R, k)
    latent_cost: FloatArray  # (n,), of h*
    latent: IntArray  # (n, k)
    worst: FloatArray  # (n,), the first max


def _near(p: Instance, W: FloatArray, itself: bool) -> Nearest:
    """Return the k nearest points of each class, with distances from differences of points. W (d, d) may be indefinite.

    itself: whether a point counts as one of its neighbours.
    """
    n, found = len(p.X), []
    step = max(1, BLOCK // p.X.size)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        difference = p.X[rows, None] - p.X
        away = np.einsum("bnd,bnd->bn", difference @ W, difference)
        if not itself:
            away[np.arange(len(rows)), rows] = np.inf
        found.append(nearest_by_distance(away, p.y, p.R, p.k))
    return Nearest(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _cheapest(near: Nearest, r: IntArray, most: Callable[[int], IntArray]) -> tuple[FloatArray, IntArray]:
    """Return the cost (n,) and the cheapest set (n, k) of each point with the best number m of votes for its class r.

    near: the nearest points. r (n,): a class for each point. most(m) (n, R): the largest number of votes of each other
    class, if r has m of the k votes. If a point has no such set, its cost is inf.
    """
    n, _, k = near.D.shape
    rows, place = np.arange(n), np.arange(k)
    cost, sets = np.full(n, np.inf), np.full((n, k), -1, dtype=np.intp)
    for m in range(1, k + 1):
        allowed = place < most(m)[:, :, None]
        allowed[rows, r] = False
        pool = np.where(allowed, near.D, np.inf).reshape(n, -1)
        order = np.argsort(pool, axis=1, kind="stable")[:, : k - m]
        total = near.D[rows, r, :m].sum(axis=1) + np.take_along_axis(pool, order, axis=1).sum(axis=1)
        chosen = [near.J[rows, r, :m], np.take_along_axis(near.J.reshape(n, -1), order, axis=1)]
        better = total < cost
        cost[better], sets[better] = total[better], np.concatenate(chosen, axis=1)[better]
    return cost, np.sort(sets, axis=1)


def _at(p: Instance, misread: Misread, W: FloatArray) -> At:
    n = len(p.X)
    near = _near(p, W, misread.itself)
    each: list[tuple[FloatArray, IntArray]] = []
    for r in range(p.R):

        def most(m: int, r: int = r) -> IntArray:
            limit = np.full((n, p.R), m - misread.strict)
            if misread.optimistic:  # with a tie of the own class, Delta is 0
                limit[np.arange(n), p.y] = np.where(p.y == r, m, m - 1)
            return limit

        each.append(_cheapest(near, np.full(n, r), most))
    cost = np.stack([found for found, _ in each], axis=1)
    by = _near(p, np.eye(len(W)), misread.itself) if misread.once else near
    own_cost, latent = _cheapest(by, p.y, lambda m: np.full((n, p.R), m - (not misread.tied)))
    if misread.once:
        own_cost = -scores(p.X, W, latent)
    sets = np.stack([found for _, found in each], axis=1)
    return At(cost, sets, own_cost, latent, (p.Lam[p.y] - cost).max(axis=1))


def _loss(p: Instance, misread: Misread, sets: IntArray, own: IntArray) -> tuple[FloatArray, np.ndarray]:
    """Return Delta of sets (..., k) in the misreading, and a mask of the sets over which the first maximum is taken.

    own (...): the class of the point of each set.
    """
    tied, loss = tied_for_most(p.y[sets], p.R), task_loss(p.y[sets], own, p.Lam)
    if misread.optimistic:
        loss = np.where(np.take_along_axis(tied, own[..., None], axis=-1)[..., 0], 0.0, loss)
    return loss, (tied.sum(axis=-1) == 1) | (not misread.strict)


class _Columns(Columns):
    """The dual of a convex step of a misreading (module docstring), over a few sets for each point."""

    def __init__(self, p: Instance, misread: Misread, latent: IntArray):
        self.p, self.misread, self.cone = p, misread, misread.cone
        super().__init__(p, latent)
        self._losses()

    def take_in(self, sets: IntArray, wanted: np.ndarray) -> None:
        super().take_in(sets, wanted)
        self._losses()

    def _losses(self) -> None:
        own = np.broadcast_to(self.y[:, None], self.real.shape)
        self.delta = np.where(self.real, _loss(self.p, self.misread, self.sets, own)[0], 0.0)

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        of_positive = super().margins(values, vectors)
        return of_positive if self.cone else of_positive - super().margins(-values, vectors)


class _Step(StepSolver):
    """The solver of a convex step of a misreading. It adds sets until the gap is small."""

    def __init__(self, p: Instance, misread: Misread, latent: IntArray):
        super().__init__(p, latent)
        self.misread = misread
        self.columns: _Columns = _Columns(p, misread, latent)
        self.points = 0

    def _enough(self, here: DualPoint, lowest: float, tol: float) -> bool:
        """True if the solver of the dual may stop: by its gap, or after `MOST_POINTS_OF_DUAL` iterates.

        Rounding may keep the gap from closing. here: the iterate. lowest: the objective of the step at the W of
        `approach`.
        """
        self.points += 1
        return self.points > MOST_POINTS_OF_DUAL or super()._enough(here, lowest, tol)

    def approach(self, W: FloatArray, at: At, tol: float) -> bool:
        """Find weights of sets, kept in `columns`, that bound the gap of W in its step up to about tol * ||W||^2.

        Return False as soon as the relative gap of W in the step is found to be above `FAR`; otherwise True.

        The argument `at` holds the sets of the misreading at W.
        """
        size = float(np.sum(W**2))
        here, start, bound = at, _objective(self.p, W, at, at), -math.inf
        for _ in range(MAX_ROUNDS):
            near_to = np.argsort(here.cost - self.p.Lam[self.p.y], axis=1, kind="stable")[:, :CLASSES]
            offered = np.take_along_axis(here.sets, near_to[:, :, None], axis=1)
            usable = np.isfinite(np.take_along_axis(here.cost, near_to, axis=1))
            self.columns.take_in(np.where(usable[:, :, None], offered, at.latent[:, None]), usable)
            self.points = 0
            V, value, solved = self._restricted(start, tol)
            bound = max(bound, value)
            here = _at(self.p, self.misread, V)
            if start - _objective(self.p, V, here, at) > 2 * FAR * size:
                return False
            if start - bound <= 0.5 * tol * size or not solved:
                break
            if _objective(self.p, V, here, at) - bound <= 0.1 * tol * size:
                break
        return True


def _objective(p: Instance, W: FloatArray, at: At, step: At) -> float:
    """Return the objective at W (d, d) of the step that fixes the h* of `step`. at: the sets of the misreading at W."""
    return float(np.sum(W**2)) + p.C * float(np.sum(at.worst - scores(p.X, W, step.latent)))


def step_gap(misread: Misread, question: Question) -> float:
    """Return an upper bound of the gap of the question's metric W in the convex step of the misreading at W.

    The bound is relative to ||W||^2 and includes an estimate of the rounding error. The result is inf if no bound is
    computed: for more than `MOST_POINTS` points, for a matrix that the misreading does not allow, and for a relative
    gap above `FAR`.
    """
    given = question.checked(instance)
    if len(given.X) > MOST_POINTS or not np.isfinite(question.metric).all():
        return math.inf
    s = unit_scale(given.X)
    p, W = given.scaled(s), question.metric * s**2
    psd, feasibility = examine(W)
    size = float(np.sum(W**2))
    if feasibility.asymmetry > 1e-9 * feasibility.norm or not 1e-200 < size < 1e200:
        return math.inf
    W = psd if misread.cone else (W + W.T) / 2
    if misread.cone and not feasibility.feasible:
        return math.inf
    at = _at(p, misread, W)
    if not (np.isfinite(at.latent_cost).all() and np.isfinite(at.worst).all()):
        return math.inf
    if _multiple_is_better(p, at, size):
        return math.inf
    with one_blas_thread():
        step = _Step(p, misread, at.latent)
        if not step.approach(W, at, question.tol / 10):
            return math.inf
        gap = _objective(p, W, at, at) - _bound(p, misread, at.latent, **step.dual())
    rounding = 64 * EPS * (size + p.C * float(np.abs(at.worst).sum() + np.abs(at.latent_cost).sum()))
    return (gap + rounding) / size


def _multiple_is_better(p: Instance, at: At, size: float) -> bool:
    """Return True if a multiple of W is so much better in the step that the relative gap of W exceeds `FAR`.

    at: the sets of the misreading at W. size: ||W||^2. No solver is needed.
    """

    def value(t: float) -> float:
        worst = (p.Lam[p.y] - t * at.cost).max(axis=1)
        return t**2 * size + p.C * float(np.sum(worst + t * at.latent_cost))

    return min(value(t) for t in MULTIPLES) < value(1.0) - 2 * FAR * size


def _bound(p: Instance, misread: Misread, latent: IntArray, q: FloatArray, q_index: IntArray) -> float:
    """Return the lower bound of the module docstring from weights q (m,), made feasible; -inf if a point has no weight.

    q_index (m, 1 + k): for each weight, a point and its set. latent (n, k): h*.
    """
    point, sets = q_index[:, 0], np.sort(q_index[:, 1:], axis=1)
    loss, looked_at = _loss(p, misread, sets, p.y[point])
    proper = (np.diff(sets, axis=1) > 0).all(axis=1) & looked_at
    if not misread.itself:
        proper &= (sets != point[:, None]).all(axis=1)
    kept = proper & (q > 0)
    q, point, sets, loss = q[kept], point[kept], sets[kept], loss[kept]
    total = np.bincount(point, q, minlength=len(p.X))
    if not total.all():
        return -math.inf
    q = q / total[point]
    M = np.zeros((p.X.shape[1], p.X.shape[1]))
    for j in sets.T:
        to = p.X[point] - p.X[j]
        M += to.T @ (to * q[:, None])
    for j in latent.T:
        to = p.X - p.X[j]
        M -= to.T @ to
    values = np.linalg.eigvalsh(p.C * M)
    paid = np.maximum(values, 0) if misread.cone else values
    return p.C * float(q @ loss) - float(np.sum(paid**2)) / 4


Problem = Callable[[Question], OtherProblem | None]


def _unless_a_multiple_is_better(problem: Problem) -> Problem:
    """Return a function like `problem` that returns None if a multiple of the metric has a much lower F.

    F is that of the other problem, which `problem` returns. All multiples of the metric have the same h*, so F is also
    the objective of the convex step at the metric. A much lower F shows, without a solver, that the relative gap in
    this step exceeds `FAR`. A metric that is 0 or not feasible also gives None.
    """

    def checked(question: Question) -> OtherProblem | None:
        other = problem(question)
        if other is None:
            return None
        p = instance(other.X, other.y, **other.params)
        psd, feasibility = examine(question.metric if other.metric is None else other.metric)
        if not (feasibility.feasible and feasibility.norm > 0):
            return None
        s = unit_scale(p.X)
        unit, W = p.scaled(s), psd * s**2
        at = point_at(unit, W)
        best = best_scale(unit, at)
        # F(W) - F(s W) is at least ||W||^2 (1 - s)^2
        return None if abs(1 - best) > math.sqrt(2 * FAR) else other

    return checked


def _with(name: str, value: Callable[[Question, Instance], Any]) -> Problem:
    """Return the misreading that is problem (10) with another value of the parameter `name`.

    value: a function that computes it from the question and the checked data. If it returns None, the misreading does
    not apply.
    """

    def found(question: Question) -> Any:
        return value(question, question.checked(instance))

    return _unless_a_multiple_is_better(changed(name, found))


def _C_times(factor: Callable[[Instance], float]) -> Problem:
    def value(_: Question, p: Instance) -> float | None:
        return p.C * factor(p) if factor(p) != 1 else None

    return _with("C", value)


def _averaged(question: Question) -> OtherProblem | None:
    p = question.checked(instance)
    if p.k == 1:
        return None
    params = {**question.params, "C": p.C / p.k**2}
    return OtherProblem(question.X, question.y, params, question.metric / p.k)


def _transposed(_: Question, p: Instance) -> FloatArray | None:
    return None if np.array_equal(p.Lam, p.Lam.T) else p.Lam.T


def _zero_one(_: Question, p: Instance) -> FloatArray | None:
    one = 1 - np.eye(p.R)
    return None if np.array_equal(p.Lam, one) else one


def _largest_one(_: Question, p: Instance) -> FloatArray | None:
    return None if p.Lam.max() == 1 else p.Lam / p.Lam.max()


def _class_weights(_: Question, p: Instance) -> FloatArray | None:
    """Return the loss matrix with the row of a class of n_c points multiplied by n / (R n_c); None for equal sizes."""
    sizes = np.bincount(p.y)
    return None if sizes.min() == sizes.max() else p.Lam * (len(p.y) / (len(sizes) * sizes))[:, None]


def _more_neighbors(by: int) -> Problem:
    """Return the misreading that is problem (10) with k + by neighbours.

    It does not apply if a class cannot win such a vote (ValueError).
    """

    def value(_: Question, p: Instance) -> int | None:
        return p.k + by if 0 < p.k + by < len(p.X) else None

    return _with("n_neighbors", value)


def _read(sentence: str, **how: bool) -> Misreading:
    return Misreading(sentence, left=partial(step_gap, Misread(**how)))


MISREADINGS: dict[str, Misreading] = {
    "half": Misreading("1/2 ||W||^2 where the paper has ||W||^2", _C_times(lambda p: 2.0)),
    "mean": Misreading("C/n sum_i L_i where the paper has C sum_i L_i", _C_times(lambda p: 1 / len(p.X))),
    "half_mean": Misreading(
        "1/2 ||W||^2 + C/n sum_i L_i where the paper has ||W||^2 + C sum_i L_i",
        _C_times(lambda p: 2 / len(p.X)),
    ),
    "C_on_norm": Misreading(
        "C ||W||^2 + sum_i L_i where the paper has ||W||^2 + C sum_i L_i", _C_times(lambda p: 1 / p.C**2)
    ),
    "per_neighbor": Misreading("C/k sum_i L_i where the paper has C sum_i L_i", _C_times(lambda p: 1 / p.k)),
    "averaged": Misreading(
        "S_W the mean over the k neighbours where the paper has the sum",
        _unless_a_multiple_is_better(_averaged),
    ),
    "transposed": Misreading(
        "loss_matrix transposed: Lam(r, y) where the paper has Lam(y, r)", _with("loss_matrix", _transposed)
    ),
    "zero_one": Misreading("0/1 loss where loss_matrix was given", _with("loss_matrix", _zero_one)),
    "largest_one": Misreading("loss_matrix divided by its largest entry", _with("loss_matrix", _largest_one)),
    "class_weights": Misreading(
        "costs of mistakes weighted so that all classes weigh the same, where loss_matrix has no such weights",
        _with("loss_matrix", _class_weights),
    ),
    "fewer": Misreading(
        "k - 1 neighbours: the point itself took a place, without a vote", _more_neighbors(-1)
    ),
    "more": Misreading("k + 1 neighbours", _more_neighbors(1)),
    "self": _read("the point itself as one of its k neighbours, at distance 0 and with a vote", itself=True),
    "strict": _read(
        "ties left out of the first max, tau = 1 as in Algorithm 3: the paper takes the max over every h",
        strict=True,
    ),
    "tied": _read("the second max over ties too, where the paper has the sets in which y_i wins", tied=True),
    "optimistic": _read(
        "Delta = 0 for a tie that includes the own class, where the method has the largest loss of the tied classes",
        optimistic=True,
        tied=True,
    ),
    "optimistic_loss": _read(
        "Delta = 0 in the first max for a tie that includes the own class, where the method has the largest "
        "loss of the tied classes",
        optimistic=True,
    ),
    "once": _read(
        "h*_i chosen once, by Euclidean distance (one step of CCCP), where the method takes h*_i of the metric "
        "itself",
        once=True,
    ),
    "no_cone": _read("the problem without W psd: P_+ is missing, at the end and in every step", cone=False),
}
