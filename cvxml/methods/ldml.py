"""LDML, logistic discriminant metric learning (Guillaumin, Verbeek, Schmid 2009): is a pair of one class?

Problem, over similar and dissimilar pairs, p_ij = 1 / (1 + exp(D_M(i, j) - b)) the probability that a pair is similar
    min_{M psd, b}  - sum over similar pairs of log p_ij  -  sum over dissimilar pairs of log(1 - p_ij),
the likelihood of a logistic regression of the labels of pairs on their distances; b is learnt with M, or given.

No metric attains the infimum where pairs can be separated, or a dissimilar pair differs where no similar one does
(family/logistic_path.py): that is said with its proof, as a status and a note.

Dual and bound: family/bound.py, with R = 0 and family/logistic.py. Gaps are relative to the objective. It is not
strongly convex: there is no radius.

Reference: M. Guillaumin, J. Verbeek, C. Schmid, Is that you? Metric learning approaches for face identification, ICCV
2009. The printed equations were not at hand: docs/ldml.md says what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from cvxml.core.clock import watched
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_number, dual_array
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Misreading, Question, changed, exchanged, other_pairs
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS_OF_ONE_KIND, BY_PAIRS, KINDS, Paired, Pairs, paired
from cvxml.core.parameter import NUMBER, Parameter, words
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family import logistic_path
from cvxml.family.bound import Family, Term
from cvxml.family.free import Free
from cvxml.family.logistic import Labelled, Logistic
from cvxml.family.logistic_path import ACROSS, MiddleOfThePath, Shown
from cvxml.family.method import FamilyMethod
from cvxml.family.rows import Prices

FREE = "free"
EXTREME = 700.0  # exp of more is no number
LARGEST = 1e6  # of a given b: beyond, every exponential of a distance is 0 or infinite


def problem(X: FloatArray, pairs: Pairs, b: float | str) -> Any:
    """The problem, pair by pair. Variables: "M" (d, d) and, if it is free, "b"."""
    import cvxpy as cp

    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    # p_ij = 1 / (1 + exp(D_M - b)); cvxpy's logistic(x) is log(1 + exp(x)), so that -log p_ij is logistic(D_M - b)
    threshold = cp.Variable(name="b") if b == FREE else b
    losses = []
    for i, j in pairs.similar.tolist():
        #: D_M(i, j) = (x_i - x_j)^T M (x_i - x_j)
        #:   | D_{\mathbf{M}}(i, j) = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j)
        D = (X[i] - X[j]) @ M @ (X[i] - X[j])
        #: -log p_ij = log(1 + exp(D_M(i, j) - b)) for similar pairs
        #:   | -\log p_{ij} = \log(1 + \exp(D_{\mathbf{M}}(i, j) - b)) \quad \text{for similar pairs}
        losses += [cp.logistic(D - threshold)]
    for i, j in pairs.dissimilar.tolist():
        D = (X[i] - X[j]) @ M @ (X[i] - X[j])
        #: -log(1 - p_ij) = log(1 + exp(b - D_M(i, j))) for dissimilar pairs
        #:   | -\log(1 - p_{ij}) = \log(1 + \exp(b - D_{\mathbf{M}}(i, j))) \quad \text{for dissimilar pairs}
        losses += [cp.logistic(threshold - D)]
    #: min over M, b:  - sum_similar log p_ij - sum_dissimilar log(1 - p_ij), with b as given or free
    #:   | \min_{\mathbf{M},\, b}\ - \textstyle\sum_{\text{similar}} \log p_{ij}
    #:     - \sum_{\text{dissimilar}} \log(1 - p_{ij}) \text{, with } b \text{ as given or free}
    #: M psd | \mathbf{M} \succeq 0
    return cp.Problem(cp.Minimize(cp.sum(cp.hstack(losses))), [M >> 0])


def dual(X: FloatArray, pairs: Pairs, b: float | str) -> Any:
    """Its dual. Variable: "a" (p,), similar pairs first."""
    import cvxpy as cp

    d, listed = X.shape[1], np.concatenate(pairs)
    t = np.repeat([1.0, -1.0], [len(kind) for kind in pairs])
    #: 0 <= a_ij <= 1 | 0 \le a_{ij} \le 1
    a = cp.Variable(len(listed), nonneg=True, name="a")
    E = X[listed[:, 0]] - X[listed[:, 1]]
    outer = np.einsum("ta,tb->tab", E, E).reshape(len(E), -1)
    #: sum t_ij a_ij X_ij psd,  t_ij = 1 for similar pairs and -1 for dissimilar
    #:   | \textstyle\sum t_{ij} a_{ij} X_{ij} \succeq 0, \quad t_{ij} = 1 \text{ for similar pairs and } -1
    #:     \text{ for dissimilar}
    constraints = [cp.reshape(outer.T @ cp.multiply(t, a), (d, d), order="C") >> 0, a <= 1]
    gained = cp.sum(cp.entr(a)) + cp.sum(cp.entr(1 - a))
    if b == FREE:
        #: sum t_ij a_ij = 0 where b is free | \textstyle\sum t_{ij} a_{ij} = 0 \text{ where } b \text{ is free}
        constraints += [t @ a == 0]
    else:
        gained -= b * (t @ a)
    #: max over a:  sum H(a_ij) - b sum t_ij a_ij,  H(a) = -a log a - (1 - a) log(1 - a)
    #:   | \max_{a}\ \textstyle\sum H(a_{ij}) - b \sum t_{ij} a_{ij}, \quad
    #:     H(a) = -a \log a - (1 - a) \log(1 - a)
    return cp.Problem(cp.Maximize(gained), constraints)
    #: [What is proved]
    #: a_ij = 1 - p_ij for similar pairs and p_ij for dissimilar at the optimum
    #:   | a_{ij} = 1 - p_{ij} \text{ for similar pairs and } p_{ij} \text{ for dissimilar at the optimum}
    #: any feasible a gives a lower bound | \text{any feasible } a \text{ gives a lower bound}


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data, and b: a number or "free"."""

    b: float | str

    @property
    def number(self) -> float | None:
        """b where it is given."""
        return None if isinstance(self.b, str) else self.b


def instance(
    X: ArrayLike, y: ArrayLike | None = None, *, b: float | str = FREE, pairs: Any = None
) -> Instance:
    """Everything checked. Raises ValueError for bad input."""
    if isinstance(b, str):
        if b != FREE:
            raise ValueError(f'b must be a number, or "{FREE}", got {b!r}')
    else:
        b = check_number(b, "b")
        if not abs(b) <= LARGEST:
            raise ValueError(f"b must be within -{LARGEST:g} and {LARGEST:g}, got {b:g}")
    p = paired(X, y, pairs)
    for kind in KINDS:
        if not len(getattr(p.pairs, kind)):
            raise ValueError(f"there is no {kind} pair {p.source}: LDML needs at least one of each kind")
    if not all(np.isfinite(E).all() for E in (p.similar, p.dissimilar)):
        raise ValueError("differences of points overflow; rescale X")
    if not p.similar.any():
        raise ValueError(
            f"the points of every similar pair {p.source} are equal: moving others apart costs nothing; give similar "
            "pairs that differ"
        )
    return Instance(p.X, p.y, p.listed, b)


def objective(given: Instance, M: FloatArray) -> float:
    """The negative logarithm of the likelihood at M (d, d), at the best b where b is free."""
    near, far = distances(given, M)
    b = threshold(given, near, far)
    return math.fsum([*(_log_1_exp(D - b) for D in near), *(_log_1_exp(b - D) for D in far)])


def distances(given: Instance, M: FloatArray) -> tuple[list[float], list[float]]:
    """D_M of the similar and of the dissimilar pairs."""
    found: list[list[float]] = []
    for kind in given.pairs:
        E = [given.X[i] - given.X[j] for i, j in kind.tolist()]
        found.append([float(e @ M @ e) for e in E])
    return found[0], found[1]


def threshold(given: Instance, near: list[float], far: list[float]) -> float:
    """b; where it is free, that at which as many similar pairs are expected to be too far as dissimilar too near."""
    if given.number is not None:
        return given.number
    away = math.log(2 * (len(near) + len(far)))
    low, high = min(near + far) - away, max(near + far) + away
    for _ in watched(range(200)):
        b = (low + high) / 2
        too_far = math.fsum(_sigma(D - b) for D in near)
        too_near = math.fsum(_sigma(b - D) for D in far)
        low, high = (b, high) if too_far > too_near else (low, b)
    return (low + high) / 2


def _log_1_exp(z: float) -> float:
    """log(1 + exp(z))"""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


def _sigma(z: float) -> float:
    """1 / (1 + exp(-z))"""
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediates at M (d, d).

    objective; b, the best where it is free; D_similar, D_dissimilar: squared distances; a_similar = 1 - p,
    a_dissimilar = p; gradient (d, d) in M.
    """
    near, far = distances(given, M)
    b = threshold(given, near, far)
    a_near, a_far = [_sigma(D - b) for D in near], [_sigma(b - D) for D in far]
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
    """b of which a multiple of the metric would be no better, to first order: where a sum that falls with b is 0."""
    given = question.checked(instance)
    near, far = distances(given, question.metric)
    most = max([*near, *far])
    if not 0 < most < math.inf:
        return None

    def pull(b: float) -> float:
        return math.fsum([*(_sigma(D - b) * D for D in near), *(-_sigma(b - D) * D for D in far)])

    reach = min(LARGEST, most + math.log(len(near) + len(far)) + EXTREME)
    if not pull(-reach) > 0 > pull(reach):
        return None
    b = float(brentq(pull, -reach, reach, xtol=1e-14 * reach))
    return None if given.number is not None and math.isclose(b, given.number, rel_tol=1e-9) else b


# Not named are distances in place of squared ones, which are not convex in M.
MISREADINGS = {
    "tiny_b": Misreading("b = 1e-3, a default that is in use, for the b that was asked for", _b(1e-3)),
    "no_b": Misreading("b = 0, as if there were none", _b(0.0)),
    "unit_b": Misreading("b = 1 for the b that was asked for", _b(1.0)),
    "learnt": Misreading(
        "the best b where one was given",
        changed("b", lambda q: None if q.checked(instance).b == FREE else FREE),
    ),
    "exchanged": Misreading("similar and dissimilar pairs exchanged", other_pairs(exchanged)),
    "another_b": Misreading("another b than was asked for", changed("b", _another), fits="b"),
    **PAIRS,
}


class LDML(FamilyMethod[Instance]):
    """Logistic regression of the labels of pairs on their distances."""

    id = "ldml"
    TITLE = "LDML: logistic discriminant metric learning (Guillaumin, Verbeek, Schmid 2009)"
    EXPONENTIAL = True
    PATH = staticmethod(logistic_path.search)
    PARAMETERS: ClassVar = {
        "b": Parameter(
            'squared distance of even odds: a number, or "free"', words(FREE, otherwise=NUMBER), FREE
        ),
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.ldml", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"a": "t"}
    SMALL: ClassVar = {"b": 1.0}
    BAD: ClassVar = {**BAD_PAIRS_OF_ONE_KIND, "b": ("best", math.nan, 1e9)}
    # One similar and three dissimilar pairs, all at the distance M. The optimum has M - b = log 3; for b = -3, where
    # that M would be negative, M = 0 is optimal. A free b makes up for any M.
    HAND: ClassVar = tuple(
        Hand(
            [[0.0], [1.0], [2.0], [3.0], [4.0]],
            None,
            {"pairs": {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3], [3, 4]]}, "b": b},
            metric,
            objective,
        )
        for b, metric, objective in (
            (2.0, [[2 + math.log(3)]], math.log(4) + 3 * math.log(4 / 3)),
            (-0.5, [[math.log(3) - 0.5]], math.log(4) + 3 * math.log(4 / 3)),
            (-3.0, None, math.log1p(math.exp(3)) + 3 * math.log1p(math.exp(-3))),
            (FREE, None, math.log(4) + 3 * math.log(4 / 3)),
        )
    )
    EXAMPLES: ClassVar = (
        drawn(5, 12, 3),
        drawn(7, 12, 4, degenerate=True),
        drawn(8, 14, 2, 2, b=1.0),
        sample("iris", 12, b=2.0),
        verified("iris", 18, b=2.0),
        verified("balance", 18),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        """Variables "M" (d, d) and, if it is free, "b"."""
        return problem(given.X, given.pairs, given.b)

    def dual(self, given: Instance) -> Any:
        """Variable "a" (p,)."""
        return dual(given.X, given.pairs, given.b)

    def literal_rows(self, given: Instance) -> int:
        """The pairs."""
        return sum(map(len, given.pairs))

    def objective(self, given: Instance, M: FloatArray) -> float:
        """From the definition."""
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """See `evaluate`."""
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """No regularizer, and the logistic loss on all pairs, the similar first."""
        t = np.repeat([1, -1], [len(kind) for kind in given.pairs])
        loss = Logistic(t, None if given.number is None else number(given.number))
        rows, regularizer = Labelled(np.concatenate(given.pairs)), Free(given.X, given.pairs.similar)
        anchors = MiddleOfThePath(regularizer, loss, rows, rows.prices(np.zeros(len(t))))
        return Family(regularizer, (Term(loss, rows),), anchors=anchors)

    def read(self, given: Instance, dual: Dual) -> Sequence[Prices]:
        """ "a" (p,), one number a pair, the similar first; any but NaN."""
        a = dual_array(dual, "a", (sum(map(len, given.pairs)),))
        return (Prices(np.where(np.arange(len(a)) < len(given.pairs.similar), -1, 1) * a, np.arange(len(a))),)

    def named(self, given: Instance, prices: Prices) -> Dual:
        """Without their signs."""
        return {"a": np.abs(prices.a)}

    def find(self, given: Instance, *asked: Any, **own: Any) -> Found:
        """See `ConvexMethod`; where pairs can be separated the metric that does so, and nothing is solved."""
        shown = self.shown(given)
        if shown.separates:
            nothing = {"a": np.zeros(sum(map(len, given.pairs)))}
            return Found(shown.metric, nothing, Status.NOT_ATTAINED, 0)
        found = super().find(given, *asked, **own)
        return found._replace(status=Status.NOT_ATTAINED) if self.across(given) else found

    def unattained(self, given: Instance) -> str:
        """Of pairs that can be separated, and of dissimilar pairs that differ where no similar one does."""
        count = self.across(given)
        return ACROSS.format(count=count) if count else self.shown(given).separates

    def shown(self, given: Instance) -> Shown:
        """Whether minimisers are bounded."""
        anchors = self.family(given).anchors
        assert isinstance(anchors, MiddleOfThePath)
        return anchors.shown

    def across(self, given: Instance) -> int:
        """How many dissimilar pairs differ where no similar pair does, exactly."""
        i, j = self.family(given).regularizer.labels[given.pairs.dissimilar].T
        return int(np.count_nonzero(i != j))

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """What is within tol of an infimum that is not attained is no optimum."""
        return found if found is Status.NOT_ATTAINED else super().status(found, certificate, tol, solver)

    def stored(self, given: Instance) -> dict[str, Any]:
        """The pairs where they were given."""
        return {"b": given.b, "pairs": given.stored}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        """b where it is free, and where no metric attains the infimum."""
        said = [self.shown(given).separates] if self.shown(given).separates else []
        if count := self.across(given):
            said.append(ACROSS.format(count=count))
        if given.number is None and not said:
            said.append(f"b is {threshold(given, *distances(given, found.metric)):.6g}")
        return said


METHOD = LDML()
