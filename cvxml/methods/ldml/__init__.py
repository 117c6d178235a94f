"""LDML, logistic discriminant metric learning (Guillaumin, Verbeek, Schmid 2009): do two points have one class?

Problem, a logistic regression of the labels of pairs on their squared distances

    min_{M psd, b}  - sum over similar pairs of w_ij log p_ij  -  sum over dissimilar pairs of w_ij log(1 - p_ij)

                    - w_0 sum over points of log p_ii.

p_ij = 1 / (1 + exp(D_M(i, j) - b)) is the probability that a pair is similar. b is learnt with M ("free"), or given. By
default w_ij = 1 and w_0 = 0. The authors' program uses class means, losses="means": each w_ij is divided by the sum of
the weights of its kind, and w_0 by the sum for similar pairs. It counts each point with itself as half a pair,
w_0 = 1/2. A pair of a point with itself is called a self-pair.

No attainment. No metric attains the infimum in two cases (methods/ldml/logistic_path.py). Either b is free and a metric
separates the pairs, or a dissimilar pair differs in a direction where no similar pair differs. A metric separates the
pairs if no similar pair is farther than a dissimilar pair, and not all pairs are equally far. If one of the cases is
proved, the status is NOT_ATTAINED, and a note explains it. A third case, with b free and given pairs, is not recognized
(docs/ldml.md). Then the lower bound is usually 0, and the metric is not certified.

Dual and bound: family/theorem, without a regularizer (R = 0) and with the loss of methods/ldml/logistic.py. A dual has
"a" (p,), a number from 0 to w_ij for each pair, similar pairs first. The dual variables are strict if the sum of
a_ij (x_i - x_j)(x_i - x_j)^T over similar pairs minus that over dissimilar pairs is positive definite. Gaps are
relative to the objective. Radius: there is no radius, because the objective is not strongly convex.

A misreading is another problem that an implementation may have solved by mistake. A `Question` is the user's metric,
with the data and parameters that it was judged with.

Reference: M. Guillaumin, J. Verbeek, C. Schmid, Is that you? Metric learning approaches for face identification, ICCV
2009. The printed equations were not available to us; docs/ldml.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from cvxml.core.clock import watched
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_choice, check_number, dual_array, real_array
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed, exchanged, other_pairs
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS_OF_ONE_KIND, BY_PAIRS, KINDS, Paired, Pairs, paired
from cvxml.core.parameter import NUMBER, POINTS, WORD, Parameter, words
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.ldml import logistic_path
from cvxml.methods.ldml.logistic import Labelled, Logistic
from cvxml.methods.ldml.logistic_path import ACROSS, MiddleOfThePath, Shown
from cvxml.methods.ldml.no_regularizer import Free
from cvxml.solvers.family_method import FamilyMethod

FREE = "free"
SUM, MEANS = "sum", "means"
EXTREME = 700.0  # exp overflows for larger numbers
LARGEST = 1e6  # largest |b| that is allowed; beyond it every exponential of a distance is 0 or infinite
HEAVIEST = 1e100  # largest weight, and largest inverse of a weight
ONCE_IN_TWO = 0.5  # weight of a point with itself, relative to a pair that is counted in both orders


class Weighing(NamedTuple):
    """The weights of the losses, as the user gives them.

    losses: "sum" over all pairs, or "means", one for each kind of pairs. weights: of the pairs, similar pairs first;
    None if all are 1.

    self_pairs: the weight w_0 of each point with itself.
    """

    losses: str = SUM
    weights: FloatArray | None = None  # (p,) weights of the pairs, similar pairs first; None: all 1
    self_pairs: float = 0.0  # weight of each point with itself


def problem(X: FloatArray, pairs: Pairs, b: float | str, weighing: Weighing) -> Any:
    """The problem, pair by pair. Variables: "M" (d, d) and, if b is free, "b".

    X (n, d): points. b: a number, or "free". weighing: the weights of the losses.
    """
    import cvxpy as cp

    near, far, w_0 = weighed(pairs, weighing)
    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    # p_ij = 1 / (1 + exp(D_M - b)). cvxpy's logistic(x) is log(1 + exp(x)), so -log p_ij is logistic(D_M - b).
    threshold: Any = cp.Variable(name="b") if b == FREE else b
    losses = []
    for w_ij, (i, j) in zip(near, pairs.similar.tolist(), strict=True):
        #: D_M(i, j) = (x_i - x_j)^T M (x_i - x_j)
        #:   | D_{\mathbf{M}}(i, j) = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j)
        D = (X[i] - X[j]) @ M @ (X[i] - X[j])
        #: -log p_ij = log(1 + exp(D_M(i, j) - b)) for similar pairs
        #:   | -\log p_{ij} = \log(1 + \exp(D_{\mathbf{M}}(i, j) - b)) \quad \text{for similar pairs}
        losses += [w_ij * cp.logistic(D - threshold)]
    for w_ij, (i, j) in zip(far, pairs.dissimilar.tolist(), strict=True):
        D = (X[i] - X[j]) @ M @ (X[i] - X[j])
        #: -log(1 - p_ij) = log(1 + exp(b - D_M(i, j))) for dissimilar pairs
        #:   | -\log(1 - p_{ij}) = \log(1 + \exp(b - D_{\mathbf{M}}(i, j))) \quad \text{for dissimilar pairs}
        losses += [w_ij * cp.logistic(threshold - D)]
    if w_0 > 0:
        for _ in X:
            #: -log p_ii = log(1 + exp(-b)) for each point with itself, where w_0 > 0
            #:   | -\log p_{ii} = \log(1 + \exp(-b)) \quad \text{for each point with itself, where } w_0 > 0
            losses += [w_0 * cp.logistic(-threshold)]
    #: min over M, b:  - sum_similar w_ij log p_ij - sum_dissimilar w_ij log(1 - p_ij) - w_0 sum_i log p_ii,
    #:   with b as given or free
    #:   | \min_{\mathbf{M},\, b}\ - \textstyle\sum_{\text{similar}} w_{ij} \log p_{ij}
    #:     - \sum_{\text{dissimilar}} w_{ij} \log(1 - p_{ij}) - w_0 \sum_i \log p_{ii}
    #:     \text{, with } b \text{ as given or free}
    #: M psd | \mathbf{M} \succeq 0
    return cp.Problem(cp.Minimize(cp.sum(cp.hstack(losses))), [M >> 0])


def weighed(pairs: Pairs, weighing: Weighing) -> tuple[list[float], list[float], float]:
    """The weights of the losses: w_ij of each similar pair, w_ij of each dissimilar pair, and w_0.

    For losses "means", they are divided by sums of weights (module docstring).
    """
    #: w_ij = 1 and w_0 = 0, or as they are given
    #:   | w_{ij} = 1 \text{ and } w_0 = 0 \text{, or as they are given}
    w_0, given = weighing.self_pairs, weighing.weights
    w = np.ones(sum(map(len, pairs))) if given is None else given
    near, far = w[: len(pairs.similar)].tolist(), w[len(pairs.similar) :].tolist()
    if weighing.losses == MEANS:
        #: for class means:  w_ij over the sum of w_ij of its kind, and w_0 over that of similar pairs
        #:   | \text{for class means: } w_{ij} \text{ over the sum of } w_{ij} \text{ of its kind, and } w_0
        #:     \text{ over that of similar pairs}
        of_near, of_far = math.fsum(near), math.fsum(far)
        near, far, w_0 = [w_ij / of_near for w_ij in near], [w_ij / of_far for w_ij in far], w_0 / of_near
    return near, far, w_0


def dual(X: FloatArray, pairs: Pairs, b: float | str, weighing: Weighing) -> Any:
    """The dual of the problem. A cvxpy problem with the variable "a" (p,), similar pairs first.

    If w_0 > 0, "a" (p + 1,) has a last entry for all self-pairs together.
    """
    import cvxpy as cp

    d, listed = X.shape[1], np.concatenate(pairs)
    near, far, w_0 = weighed(pairs, weighing)
    t, w = np.repeat([1.0, -1.0], [len(near), len(far)]), np.array([*near, *far])
    if w_0 > 0:
        #: X_ii = 0, t_ii = 1 and w_ii = w_0 for each point with itself;  the last entry of a is the sum of all a_ii
        #:   | X_{ii} = 0 \text{, } t_{ii} = 1 \text{ and } w_{ii} = w_0 \text{ for each point with itself; the last}
        #:     \text{ entry of } a \text{ is the sum of all } a_{ii}
        listed, t, w = np.concatenate([listed, [[0, 0]]]), np.append(t, 1.0), np.append(w, len(X) * w_0)
    #: 0 <= a_ij <= w_ij | 0 \le a_{ij} \le w_{ij}
    a = cp.Variable(len(listed), nonneg=True, name="a")
    E = X[listed[:, 0]] - X[listed[:, 1]]
    outer = np.einsum("ta,tb->tab", E, E).reshape(len(E), -1)
    #: sum t_ij a_ij X_ij psd,  t_ij = 1 for similar pairs and -1 for dissimilar
    #:   | \textstyle\sum t_{ij} a_{ij} X_{ij} \succeq 0, \quad t_{ij} = 1 \text{ for similar pairs and } -1
    #:     \text{ for dissimilar}
    constraints = [cp.reshape(outer.T @ cp.multiply(t, a), (d, d), order="C") >> 0, a <= w]
    share = cp.multiply(1 / w, a)
    gained = w @ (cp.entr(share) + cp.entr(1 - share))
    if b == FREE:
        #: sum t_ij a_ij = 0 where b is free | \textstyle\sum t_{ij} a_{ij} = 0 \text{ where } b \text{ is free}
        constraints += [t @ a == 0]
    else:
        gained -= b * (t @ a)
    #: max over a:  sum w_ij H(a_ij / w_ij) - b sum t_ij a_ij,  H(x) = -x log x - (1 - x) log(1 - x)
    #:   | \max_{a}\ \textstyle\sum w_{ij} H(a_{ij} / w_{ij}) - b \sum t_{ij} a_{ij}, \quad
    #:     H(x) = -x \log x - (1 - x) \log(1 - x)
    return cp.Problem(cp.Maximize(gained), constraints)
    #: [What is proved]
    #: a_ij / w_ij = 1 - p_ij for similar pairs and p_ij for dissimilar at the optimum
    #:   | a_{ij} / w_{ij} = 1 - p_{ij} \text{ for similar pairs and } p_{ij} \text{ for dissimilar at the optimum}
    #: any feasible a gives a lower bound | \text{any feasible } a \text{ gives a lower bound}


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data, b (a number or "free"), and the weights of the losses."""

    b: float | str
    weighing: Weighing

    @property
    def number(self) -> float | None:
        """The given b; None if b is free."""
        return None if isinstance(self.b, str) else self.b

    @property
    def rows(self) -> int:
        """The number of pairs, plus one for all self-pairs together if w_0 > 0."""
        return sum(map(len, self.pairs)) + (self.weighing.self_pairs > 0)


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    b: float | str = FREE,
    losses: str = SUM,
    weights: Any = None,
    self_pairs: float = 0.0,
    pairs: Any = None,
) -> Instance:
    """Check all inputs. Raises ValueError for bad input.

    X (n, d). y (n,): labels, unless pairs are given. b: a number, or "free". losses: "sum" or "means".

    weights (p,): a positive weight for each pair, similar pairs first; None: all 1. self_pairs >= 0: the weight w_0 of
    each point with itself.

    pairs: {"similar": ..., "dissimilar": ...}, at least one of each kind.
    """
    if isinstance(b, str):
        if b != FREE:
            raise ValueError(f'b must be a number, or "{FREE}", got {b!r}')
    else:
        b = check_number(b, "b")
        if not abs(b) <= LARGEST:
            raise ValueError(f"b must be between -{LARGEST:g} and {LARGEST:g}, got {b:g}")
    p = paired(X, y, pairs)
    for kind in KINDS:
        if not len(getattr(p.pairs, kind)):
            raise ValueError(f"there is no {kind} pair {p.source}: LDML needs at least one of each kind")
    if not all(np.isfinite(E).all() for E in (p.similar, p.dissimilar)):
        raise ValueError("differences of points overflow; rescale X")
    if not p.similar.any():
        raise ValueError(
            f"the points of every similar pair {p.source} are equal, so moving other pairs apart has no cost; "
            "give similar pairs of different points"
        )
    return Instance(
        p.X, p.y, p.listed, b, check_weighing(losses, weights, self_pairs, sum(map(len, p.pairs)))
    )


def check_weighing(losses: str, weights: Any, self_pairs: float, count: int) -> Weighing:
    """Return the checked weights for `count` pairs. Raises ValueError for a bad value, or a wrong number of weights."""
    check_choice(losses, "losses", (SUM, MEANS))
    w_0 = check_number(self_pairs, "self_pairs")
    if not (w_0 == 0 or 1 / HEAVIEST <= w_0 <= HEAVIEST):
        raise ValueError(f"self_pairs must be 0, or between {1 / HEAVIEST:g} and {HEAVIEST:g}, got {w_0:g}")
    if weights is None:
        return Weighing(losses, None, w_0)
    w = real_array(weights, "weights")
    w = w[:, 0] if w.ndim == 2 and w.shape[1] == 1 else w  # a column of a table
    if w.shape != (count,):
        raise ValueError(f"weights must be one number for each of {count} pairs, got shape {w.shape}")
    if not (w.min() >= 1 / HEAVIEST and w.max() <= HEAVIEST):
        raise ValueError(
            f"weights must be between {1 / HEAVIEST:g} and {HEAVIEST:g}, got {w.min():g} to {w.max():g}; "
            "remove pairs of weight 0 from pairs"
        )
    return Weighing(losses, w, w_0)


def objective(given: Instance, M: FloatArray) -> float:
    """The negative log likelihood at M (d, d), with weights; if b is free, at the best b."""
    near, far = distances(given, M)
    b, counted = threshold(given, near, far), counts(given)
    return math.fsum(
        [
            *(w * _log_1_exp(D - b) for w, D in zip(counted.near, near, strict=True)),
            *(w * _log_1_exp(b - D) for w, D in zip(counted.far, far, strict=True)),
            counted.alone * _log_1_exp(-b),
        ]
    )


class Counted(NamedTuple):
    """The weights of the losses in the objective, for similar pairs (near) and dissimilar pairs (far).

    They are the weights of the user, for losses "means" divided by sums (module docstring). alone: one number for all
    self-pairs, the weight of a point with itself times the number of points.
    """

    near: list[float]  # similar pairs
    far: list[float]
    alone: float  # the loss of a point with itself, summed over all points


def counts(given: Instance) -> Counted:
    losses, weights, alone = given.weighing
    listed = [1.0] * sum(map(len, given.pairs)) if weights is None else weights.tolist()
    near, far = listed[: len(given.pairs.similar)], listed[len(given.pairs.similar) :]
    of_near, of_far = (math.fsum(near), math.fsum(far)) if losses == MEANS else (1.0, 1.0)
    return Counted([w / of_near for w in near], [w / of_far for w in far], len(given.X) * alone / of_near)


def distances(given: Instance, M: FloatArray) -> tuple[list[float], list[float]]:
    """Return the squared distances D_M of the similar pairs and of the dissimilar pairs."""
    found: list[list[float]] = []
    for kind in given.pairs:
        E = [given.X[i] - given.X[j] for i, j in kind.tolist()]
        found.append([float(e @ M @ e) for e in E])
    return found[0], found[1]


def threshold(given: Instance, near: list[float], far: list[float]) -> float:
    """Return b; if b is free, the best b for squared distances of similar (near) and dissimilar (far) pairs.

    At the best b, the sum of w (1 - p) over similar pairs and self-pairs equals the sum of w p over dissimilar pairs.
    """
    if given.number is not None:
        return given.number
    counted = counts(given)
    every = [*counted.near, *counted.far, counted.alone]
    away = math.log(2 * sum(every) / min(w for w in every if w > 0))
    ends = [*near, *far, 0.0] if counted.alone else [*near, *far]
    low, high = min(ends) - away, max(ends) + away
    for _ in watched(range(200)):
        b = (low + high) / 2
        if not low < b < high:  # no number in double precision is left between them
            break
        too_far = math.fsum(w * _sigma(D - b) for w, D in zip(counted.near, near, strict=True))
        too_near = math.fsum(w * _sigma(b - D) for w, D in zip(counted.far, far, strict=True))
        too_far += counted.alone * _sigma(-b)
        low, high = (b, high) if too_far > too_near else (low, b)
    return (low + high) / 2


def _log_1_exp(z: float) -> float:
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


def _sigma(z: float) -> float:
    """1 / (1 + exp(-z))"""
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Return the intermediates at M (d, d), by name.

    objective. b: given, or the best if it is free. D_similar, D_dissimilar: squared distances.
    a_similar: w (1 - p), a_dissimilar: w p, the dual variables that M implies. gradient (d, d) of the objective in M.
    """
    near, far = distances(given, M)
    b, counted = threshold(given, near, far), counts(given)
    a_near = [w * _sigma(D - b) for w, D in zip(counted.near, near, strict=True)]
    a_far = [w * _sigma(b - D) for w, D in zip(counted.far, far, strict=True)]
    gradient = np.zeros_like(M)
    for sign, kind, shares in ((1, given.pairs.similar, a_near), (-1, given.pairs.dissimilar, a_far)):
        for (i, j), share in zip(kind.tolist(), shares, strict=True):
            gradient = gradient + sign * share * np.outer(given.X[i] - given.X[j], given.X[i] - given.X[j])
    return {
        "objective": objective(given, M),
        "b": b,
        "D_similar": np.array(near),
        "D_dissimilar": np.array(far),
        "a_similar": np.array(a_near),
        "a_dissimilar": np.array(a_far),
        "gradient": gradient,
    }


def _b(value: float) -> Any:
    return changed("b", lambda q: None if q.checked(instance).b == value else value)


def _another(question: Question) -> float | None:
    """Return the b for which the refuted metric M is a stationary point of the objective along its multiples k M.

    The misreading is the problem with this b. Returns None if there is no such b, or if it is the user's b. The
    derivative of the objective in k, at k = 1, decreases with b. So its root is found by bracketing.
    """
    given = question.checked(instance)
    near, far = distances(given, question.metric)
    counted, most = counts(given), max([*near, *far])
    if not 0 < most < math.inf:
        return None

    def pull(b: float) -> float:
        outwards = (w * _sigma(D - b) * D for w, D in zip(counted.near, near, strict=True))
        inwards = (-w * _sigma(b - D) * D for w, D in zip(counted.far, far, strict=True))
        return math.fsum([*outwards, *inwards])

    reach = min(LARGEST, most + math.log(len(near) + len(far)) + EXTREME)
    if not pull(-reach) > 0 > pull(reach):
        return None
    b = float(brentq(pull, -reach, reach, xtol=1e-14 * reach))
    return None if given.number is not None and math.isclose(b, given.number, rel_tol=1e-9) else b


def _weighing(losses: str, self_pairs: float) -> Callable[[Question], OtherProblem | None]:
    """Return the misreading with other weights of the losses: `losses` is "sum" or "means", `self_pairs` is w_0.

    The misreading is a function of the question, which holds the refuted metric with its data and parameters. The
    function returns the problem with these weights. It returns None if the user's problem already has them.

    With b given, self-pairs only add a constant to the objective. So for a given b, two problems that differ only in
    self_pairs count as equal, and the function returns None if `self_pairs` > 0.
    """

    def problem(question: Question) -> OtherProblem | None:
        given = question.checked(instance)
        asked, free = given.weighing, given.number is None
        if self_pairs and not free:  # the misreading without them has the same optimum
            return None
        if asked.losses == losses and (asked.self_pairs == self_pairs or not free):
            return None
        params = {**question.params, "losses": losses, "self_pairs": self_pairs}
        return OtherProblem(question.X, question.y, params)

    return problem


def _unweighted(question: Question) -> OtherProblem | None:
    if question.params.get("weights") is None:
        return None
    return OtherProblem(question.X, question.y, {**question.params, "weights": None})


# Not recognised: distances in place of squared distances, because that problem is not convex in M.
MISREADINGS = {
    "tiny_b": Misreading("b = 1e-3, a common default, in place of the b of the problem", _b(1e-3)),
    "no_b": Misreading("b = 0, as if there were no b", _b(0.0)),
    "unit_b": Misreading("b = 1 in place of the b of the problem", _b(1.0)),
    "learnt": Misreading(
        "the best b in place of the given b",
        changed("b", lambda q: None if q.checked(instance).b == FREE else FREE),
    ),
    "exchanged": Misreading("similar and dissimilar pairs exchanged", other_pairs(exchanged)),
    "sum": Misreading("the sum of the losses of pairs, each pair once", _weighing(SUM, 0.0)),
    "ordered": Misreading(
        "a sum that counts every pair in both orders, and each point with itself (pyDML)",
        _weighing(SUM, ONCE_IN_TWO),
    ),
    "means": Misreading(
        "class means, the mean loss of similar pairs and that of dissimilar ones", _weighing(MEANS, 0.0)
    ),
    "authors": Misreading(
        "class means and each point with itself (the authors' program)", _weighing(MEANS, ONCE_IN_TWO)
    ),
    "unweighted": Misreading("the same weight for every pair", _unweighted),
    "another_b": Misreading("another b than that of the problem", changed("b", _another), fits="b"),
    **PAIRS,
}


_LINE: tuple[list[list[float]], None] = ([[0.0], [1.0], [2.0], [3.0], [4.0]], None)
_ON_LINE = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3], [3, 4]]}
_SIX_PAIRS = {"similar": [[0, 1], [2, 3], [4, 5]], "dissimilar": [[0, 2], [1, 4], [3, 5]]}


class LDML(FamilyMethod[Instance]):
    """LDML: a logistic regression of the labels of pairs on their squared distances."""

    id = "ldml"
    TITLE = "LDML: logistic discriminant metric learning (Guillaumin, Verbeek, Schmid 2009)"
    EXPONENTIAL = True
    PATH = staticmethod(logistic_path.search)
    PARAMETERS: ClassVar = {
        "b": Parameter(
            'squared distance at which similar and dissimilar are equally likely: a number, or "free"',
            words(FREE, otherwise=NUMBER),
            FREE,
        ),
        "losses": Parameter(
            '"sum" over all pairs, or "means": mean over similar pairs plus mean over dissimilar pairs',
            WORD,
            SUM,
        ),
        "weights": Parameter(
            "one for each pair, > 0: similar pairs first, in their order", POINTS, otherwise="all 1"
        ),
        "self_pairs": Parameter(
            "weight of each point with itself as a similar pair, >= 0; 1/2 corresponds to counting every pair "
            "in both orders",
            NUMBER,
            0.0,
        ),
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.ldml", ("problem", "weighed", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"a": "t"}
    SMALL: ClassVar = {"b": 1.0}
    MOVES = True
    BAD: ClassVar = {
        **BAD_PAIRS_OF_ONE_KIND,
        "b": ("best", math.nan, 1e9),
        "losses": ("mean", "", None),
        "weights": ([1.0], [1.0] * 119 + [0.0], [-1.0] * 120, [math.nan] * 120, [1e200] * 120),
        "self_pairs": (-0.5, math.inf, 1e200, None),
    }
    # One similar and three dissimilar pairs, all at the distance M. The optimum has M - b = log 3. For b = -3 that M
    # would be negative, so M = 0 is optimal. If b is free, every M is optimal with its best b.
    HAND: ClassVar = (
        *(
            Hand(*_LINE, {"pairs": _ON_LINE, "b": b}, metric, objective)
            for b, metric, objective in (
                (2.0, [[2 + math.log(3)]], math.log(4) + 3 * math.log(4 / 3)),
                (-0.5, [[math.log(3) - 0.5]], math.log(4) + 3 * math.log(4 / 3)),
                (-3.0, None, math.log1p(math.exp(3)) + 3 * math.log1p(math.exp(-3))),
                (FREE, None, math.log(4) + 3 * math.log(4 / 3)),
            )
        ),
        # The same pairs. With class means, or with a weight of 3 for the similar pair, both kinds have the same total
        # weight, so M = b. The five self-pairs add 5/2 log(1 + exp(-b)) to the mean over one similar pair.
        Hand(
            *_LINE,
            {"pairs": _ON_LINE, "b": 2.0, "losses": MEANS, "self_pairs": 0.5},
            [[2.0]],
            2 * math.log(2) + 2.5 * math.log1p(math.exp(-2)),
        ),
        Hand(
            *_LINE, {"pairs": _ON_LINE, "b": 2.0, "weights": [3.0, 1.0, 1.0, 1.0]}, [[2.0]], 6 * math.log(2)
        ),
        # A similar pair at 2, a dissimilar pair at 1, and 3 points with themselves of weight 1/2. At M = 0 the best
        # p is 5/7, the share of 1 + 3/2 among 1 + 3/2 + 1. M = 0 is optimal, because 4 (1 - p) > p.
        Hand(
            [[0.0], [2.0], [1.0]],
            None,
            {"pairs": {"similar": [[0, 1]], "dissimilar": [[0, 2]]}, "self_pairs": 0.5},
            None,
            2.5 * math.log(7 / 5) + math.log(7 / 2),
        ),
    )
    EXAMPLES: ClassVar = (
        drawn(5, 12, 3),
        drawn(7, 12, 4, degenerate=True),
        drawn(8, 14, 2, 2, b=1.0),
        drawn(5, 12, 3, losses=MEANS, self_pairs=0.5),
        drawn(6, 10, 2, self_pairs=0.5, weights=[0.5, 1.0, 3.0, 1.0, 0.25, 2.0], pairs=_SIX_PAIRS),
        sample("iris", 12, b=2.0),
        verified("iris", 9, b=2.0),
        verified("balance", 15),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.pairs, given.b, given.weighing)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["M psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.pairs, given.b, given.weighing)

    def literal_rows(self, given: Instance) -> int:
        return given.rows

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """The problem as a loss without a regularizer (family/theorem), with a row for each pair, similar pairs first.

        A row is a number on which the loss depends, here the squared distance of the pair. If w_0 > 0, a last row
        stands for all self-pairs. number: makes the constants, float or Fraction.
        """
        b = None if given.number is None else number(given.number)
        t, listed = np.repeat([1, -1], [len(kind) for kind in given.pairs]), np.concatenate(given.pairs)
        if given.weighing.self_pairs:
            t, listed = np.append(t, 1), np.concatenate([listed, [[0, 0]]])
        loss = Logistic(t, b, _weights(given, number))
        rows, regularizer = Labelled(listed), Free(given.X, given.pairs.similar)
        anchors = MiddleOfThePath(regularizer, loss, rows, rows.duals(np.zeros(len(t))))
        return Family(regularizer, (Term(loss, rows),), anchors=anchors)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables in "a" (p,) of `dual`, a number for each pair, similar pairs first.

        If w_0 > 0, "a" (p + 1,) has a last entry for all self-pairs together. The result is -a for similar pairs and
        self-pairs, and a for dissimilar pairs. NaN raises ValueError.
        """
        a = dual_array(dual, "a", (given.rows,))
        similar = np.arange(len(a)) < len(given.pairs.similar)
        similar[sum(map(len, given.pairs)) :] = True  # the row of the self-pairs
        return (Duals(np.where(similar, -1, 1) * a, np.arange(len(a))),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        """The dual variables by name: "a" >= 0, in the order of `read`."""
        return {"a": np.abs(duals.a)}

    def find(self, given: Instance, *asked: Any, **own: Any) -> Found:
        """Solve LDML. If some metric is proved to separate the pairs, return it with dual variables 0, without solving.

        If no metric attains the infimum, the status is NOT_ATTAINED. asked, own: the arguments of `ConvexMethod.find`
        (solver, tol, max_iter, start, callback).
        """
        shown = self.shown(given)
        if shown.separates:
            nothing = {"a": np.zeros(given.rows)}
            return Found(shown.metric, nothing, Status.NOT_ATTAINED, 0)
        found = super().find(given, *asked, **own)
        return found._replace(status=Status.NOT_ATTAINED) if self.across(given) else found

    def unattained(self, given: Instance) -> str:
        count = self.across(given)
        return ACROSS.format(count=count) if count else self.shown(given).separates

    def shown(self, given: Instance) -> Shown:
        """Return the result of a search for two things: strict dual variables, and a metric that separates the pairs.

        Its field `strict` is None if no strict dual variables are found. Its field `separates` is a sentence if a
        metric is proved to separate the pairs, else "". Strict dual variables prove that a metric attains the infimum,
        if `across` is 0. A metric that separates the pairs proves that no metric attains the infimum.
        """
        anchors = self.family(given).anchors
        assert isinstance(anchors, MiddleOfThePath)
        return anchors.shown

    def across(self, given: Instance) -> int:
        """The exact number of dissimilar pairs that differ outside the span of the differences of similar pairs."""
        i, j = self.family(given).regularizer.labels[given.pairs.dissimilar].T
        return int(np.count_nonzero(i != j))

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """Return the final status of a solution, given the status `found` of the solver.

        NOT_ATTAINED stays, even if the metric is certified within tol of the infimum.
        """
        return found if found is Status.NOT_ATTAINED else super().status(found, certificate, tol, solver)

    def stored(self, given: Instance) -> dict[str, Any]:
        losses, weights, self_pairs = given.weighing
        own = {
            "losses": losses if losses != SUM else None,
            "weights": None if weights is None else weights.tolist(),
            "self_pairs": self_pairs or None,
        }
        kept = {name: value for name, value in own.items() if value is not None}
        return {"b": given.b, "pairs": given.stored, **kept}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        said = [self.shown(given).separates] if self.shown(given).separates else []
        if count := self.across(given):
            said.append(ACROSS.format(count=count))
        if given.number is None and not said:
            said.append(f"b is {threshold(given, *distances(given, found.metric)):.6g}")
        return said


def _weights(given: Instance, number: Callable[[Any], Any]) -> Any:
    """Return the weights of the losses in the objective as an array: similar pairs, dissimilar pairs, self-pairs.

    The last entry is for all self-pairs together, and exists only if w_0 > 0. For losses "means", the weights of the
    user are divided by the sum of their kind, and w_0 by that of similar pairs. For losses "sum", without weights and
    self-pairs, the number 1 is returned.

    number: float or Fraction, the type of a weight.
    """
    losses, weights, self_pairs = given.weighing
    near, far = map(len, given.pairs)
    if losses == SUM and weights is None and not self_pairs:
        return 1
    w = [number(1)] * (near + far) if weights is None else list(map(number, weights.tolist()))
    # Sums of fractions, so that in floats too each sum is rounded only once.
    total = [number(sum(map(Fraction, kind)) if losses == MEANS else 1) for kind in (w[:near], w[near:])]
    of_rows = [w[k] / total[k >= near] for k in range(near + far)]
    if self_pairs:
        of_rows.append(len(given.X) * number(self_pairs) / total[0])
    return np.array(of_rows)


METHOD = LDML()
