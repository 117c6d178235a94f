"""BoostMetric (Shen, Kim, Wang, van den Hengel 2009, 2012): an exponential loss of triplets, and the trace.

With triplets t = (i, j, l), X_ij = (x_i - x_j)(x_i - x_j)^T and H_t = X_il - X_ij, the problem is

    min_{X psd}  log sum_t exp(-<X, H_t>) + v tr X.

The paper states it over nonnegative weights of all matrices of rank one and trace 1. Their sums are the psd matrices.
Triplets are an input, as in the paper. By default, each of the K nearest points of the same class (the targets) is
combined with each of the K nearest points of other classes.

There is a threshold v* (methods/boostmetric/threshold.py). For v > v* an optimum exists. For v < v* the objective is
unbounded below; this is proved, and the solver refuses the problem. v* > 0 if some metric gives every triplet a
positive margin <X, H_t>. Then a tiny v such as 1e-7 is below v*, and the result of boosting depends only on the number
of rounds.

Dual and bound: any feasible dual variables u_t give a lower bound, by the theorem of family/theorem. The regularizer is
v tr X (family/regularizers/trace.py), and the loss is the log sum exp of all triplets. The share of triplet t is u_t.
The vector u lies in the simplex, and is feasible if v I - sum_t u_t H_t is psd. It is strictly feasible if this matrix
is positive definite. Scale, the number that gaps are relative to: the objective in nats, and at least 1. The objective
is not strongly convex, so there is no radius.

Reference: C. Shen, J. Kim, L. Wang, A. van den Hengel, Positive semidefinite metric learning with boosting, NIPS 2009;
Positive semidefinite metric learning using boosting-like algorithms, JMLR 13, 2012. The printed equations were not
available to us; docs/boostmetric.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.estimator import Estimator
from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_positive, check_X
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS, Compared, check_units, compared
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.boostmetric import trace_path
from cvxml.methods.boostmetric.one_group import Together
from cvxml.methods.boostmetric.threshold import AT, BELOW, AboveThreshold, Decided, Sides, sides
from cvxml.solvers.triplet_method import TripletMethod

NATS = 1.0  # smallest scale
NONE_IS_OPTIMAL = (
    "v={v:g} is at most v*, so no metric attains the infimum: adding more of some metric always improves the "
    "objective (proved in rational arithmetic)"
)


def problem(X: FloatArray, triplets: IntArray, v: float) -> Any:
    """The problem, triplet by triplet. Variable: "X" (d, d), the metric. The argument X (n, d) has the points."""
    import cvxpy as cp

    X_ = cp.Variable((X.shape[1],) * 2, symmetric=True, name="X")
    margins = []
    for i, j, l in triplets.tolist():
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        margins += [cp.trace(X_ @ H)]
    cost = cp.log_sum_exp(-cp.hstack(margins)) + v * cp.trace(X_)
    #: min over X:  log sum_t exp(-<X, H_t>) + v tr X
    #:   | \min_{\mathbf{X}}\ \log \sum_t \exp(-\langle \mathbf{X}, H_t \rangle)
    #:     + v \operatorname{tr} \mathbf{X}
    #: X psd | \mathbf{X} \succeq 0
    return cp.Problem(cp.Minimize(cost), [X_ >> 0])


def dual(X: FloatArray, triplets: IntArray, v: float) -> Any:
    """The dual of the problem. Variable: "u" (m,), the share of each triplet."""
    import cvxpy as cp

    m, d = len(triplets), X.shape[1]
    #: u_t >= 0,  sum_t u_t = 1 | u_t \ge 0, \quad \textstyle\sum_t u_t = 1
    u = cp.Variable(m, nonneg=True, name="u")
    i, j, l = triplets.T
    H = np.einsum("ta,tb->tab", X[i] - X[l], X[i] - X[l]) - np.einsum("ta,tb->tab", X[i] - X[j], X[i] - X[j])
    pulled = cp.reshape(H.reshape(m, -1).T @ u, (d, d), order="C")
    #: max over u:  - sum_t u_t log u_t | \max_{u}\ - \textstyle\sum_t u_t \log u_t
    #: v I - sum_t u_t H_t psd | v I - \textstyle\sum_t u_t H_t \succeq 0
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(u))), [cp.sum(u) == 1, v * np.eye(d) - pulled >> 0])
    #: [What is proved]
    #: u_t = exp(-<X, H_t>) / sum_s exp(-<X, H_s>) at the optimum
    #:   | u_t = \exp(-\langle \mathbf{X}, H_t \rangle) / \textstyle\sum_s \exp(-\langle \mathbf{X}, H_s \rangle)
    #:     \text{ at the optimum}
    #: any feasible u gives a lower bound | \text{any feasible } u \text{ gives a lower bound}
    #: attained for v > v*, unbounded for v < v*
    #:   | \text{attained for } v > v^*, \text{ unbounded for } v < v^*
    #: v* = min over u of lambda_max(sum_t u_t H_t) = max over X psd, tr X = 1, of min_t <X, H_t>
    #:   | v^* = \min_u \lambda_{\max}(\textstyle\sum_t u_t H_t)
    #:     = \max_{\mathbf{X} \succeq 0,\ \operatorname{tr} \mathbf{X} = 1} \min_t \langle \mathbf{X}, H_t \rangle


@dataclass(frozen=True, eq=False)
class Instance(Compared):
    """Checked data: triplets and v."""

    v: float


def instance(
    X: ArrayLike, y: ArrayLike | None, *, v: float = 0.5, n_neighbors: int | None = 3, triplets: Any = None
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, v > 0, triplets (t, 3). n_neighbors: the K of the default triplets.
    """
    points, v = check_X(X), check_positive(v, "v")
    check_units(points, v, "v", "v / s^2")
    return Instance(**vars(compared(points, y, n_neighbors, triplets)), v=v)


def threshold(
    X: ArrayLike, y: ArrayLike | None = None, *, n_neighbors: int | None = 3, triplets: Any = None
) -> Sides:
    """A lower and an upper bound of v*, with the metric (d, d) and the shares (m,) of triplets that give these bounds.

    v* is the threshold: no optimum exists for v < v*. In double precision, the bounds differ by up to about 1e-6 times
    the largest squared distance of two points of a triplet. X (n, d), y (n,) labels, triplets (t, 3). n_neighbors: the
    K of the default triplets. Raises ValueError for bad input.
    """
    given = instance(X, y, n_neighbors=n_neighbors, triplets=triplets)
    *_, last = sides(given.X, Together(given.triplets()))
    return last


def objective(given: Instance, M: FloatArray) -> float:
    """log sum_t exp(-<M, H_t>) + v tr M at M (d, d), with H_t = X_il - X_ij for triplets t."""
    margins = given.margins(M)
    least = float(margins.min())
    total = math.fsum(math.exp(least - margin) for margin in margins.tolist())
    return math.log(total) - least + given.v * float(np.trace(M))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective. triplets (m, 3). margins (m,): <M, H_t>. u (m,): the shares softmax(-margins). trace. gradient (d, d).
    unbounded_below: min_t <M, H_t> / tr M, NaN for M = 0. The objective is unbounded below for every v smaller than
    this.
    """
    margins = given.margins(M)
    u = np.exp(margins.min() - margins)
    u /= u.sum()
    trace = float(np.trace(M))
    return {
        "objective": objective(given, M),
        "triplets": given.triplets(),
        "margins": margins,
        "u": u,
        "trace": trace,
        "gradient": given.v * np.eye(len(M)) - given.weighted_sum(u),
        "unbounded_below": float(margins.min()) / trace if trace > 0 else math.nan,
    }


def _v_times(factor: Callable[[Instance, FloatArray], float]) -> Any:
    def value(question: Question) -> float | None:
        given = question.checked(instance)
        by = factor(given, np.asarray(question.metric))
        return given.v * by if 0 < by < math.inf and abs(by - 1) > 1e-9 else None

    return changed("v", value)


def _without_logarithm(given: Instance, M: FloatArray) -> float:
    """The factor s of v that explains a metric M of an implementation that leaves out the logarithm.

    s = 1 / sum_t exp(-<M, H_t>). If M minimises sum_t exp(-<M, H_t>) + v tr M, then M minimises the method's objective
    with s v in place of v. The reason: the gradient of the sum is the sum times the gradient of its logarithm.
    """
    return float(1 / math.fsum(math.exp(-margin) for margin in given.margins(M)))


def _another(given: Instance, M: FloatArray) -> float:
    """The factor of v for which the metric M is optimal among its multiples: the slope along them is 0."""
    found = evaluate(given, M)
    return float(found["u"] @ found["margins"] / (given.v * found["trace"]))


MISREADINGS = {
    "no_log": Misreading(
        "the sum of exponentials where the method has its logarithm", _v_times(_without_logarithm)
    ),
    "mean": Misreading(
        "the mean of exponentials where the method has the logarithm of their sum",
        _v_times(lambda given, M: given.count * _without_logarithm(given, M)),
    ),
    "exchanged": triplets_exchanged(instance),
    **TRIPLETS,
    "another_v": Misreading("another v than the given one", _v_times(_another), fits="v"),
}


_LINE = [[0.0], [1.0], [3.0], [-1.0]]
_OF_LINE = [[0, 1, 2], [0, 1, 3]]  # margins of 8 and 0 times the metric


class BoostMetric(TripletMethod[Instance]):
    """BoostMetric: an exponential loss of triplets, and the trace."""

    id = "boostmetric"
    TITLE = "BoostMetric: triplets, exponential loss, trace (Shen et al. 2009, 2012)"
    EXPONENTIAL = True
    PATH = staticmethod(trace_path.search)
    PARAMETERS: ClassVar = {
        "v": Parameter(
            "weight of the trace, > 0; a v that is proved to be too small, so that no optimum exists, is refused",
            NUMBER,
            0.5,
        ),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement("cvxml.methods.boostmetric", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"v": math.inf}
    SMALL: ClassVar = {"n_neighbors": 2, "v": 0.5}
    UNITS: ClassVar = {"v": 2}
    MOVES = True
    BAD: ClassVar = {**BAD_TRIPLETS, "v": (0, -1.0, 1e-200)}
    # log(1 + exp(-8 X)) + v X has the derivative 0 where exp(8 X) = 8 / v - 1.
    HAND: ClassVar = tuple(
        Hand(_LINE, None, {"v": v, "triplets": _OF_LINE}, [[metric]], objective)
        for v, metric, objective in (
            (0.5, math.log(15) / 8, math.log(16 / 15) + math.log(15) / 16),
            (2.0, math.log(3) / 8, math.log(4 / 3) + math.log(3) / 4),
            (5.0, 0.0, math.log(2)),
        )
    )
    ESTIMATOR: ClassVar = Estimator(
        "BoostMetric",
        "The metric of BoostMetric (Shen et al. 2009, 2012), solved to a certified gap.",
        scale="the objective, or to 1 if that is larger",
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3, v=0.1),
        drawn(6, 12, 14, 2, v=4.5, n_neighbors=1),  # more features than points
        drawn(7, 18, 5, v=0.1, degenerate=True),
        sample("iris", 24, v=0.5, n_neighbors=2),
        verified("iris", 15, v=0.5, n_neighbors=2),
        verified("wine", 24, v=4.0, n_neighbors=2),
        timed("iris", v=0.1),
        timed("wine", v=0.5),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.triplets(), given.v)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["X psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.triplets(), given.v)

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        return {"price": values["u"], "triplets": given.triplets()}

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        regularizer, rows = Trace(given.X, number(given.v)), Together(given.triplets())
        loss = LogSumExp(np.array([number(1)]), np.ones((1, given.count), dtype=bool))
        return Family(regularizer, (Term(loss, rows),), NATS, anchors=AboveThreshold(regularizer, loss, rows))

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """The dual variables (m,) of all triplets, from "price" (t,) of "triplets" (t, 3); 0 if not listed."""
        rows = self.rows(given)
        some = rows.read(dual)
        a = np.zeros(given.count)
        a[np.searchsorted(rows.keys(), some.key)] = some.a
        return (Duals(a, np.arange(given.count)),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        """The positive dual variables by name: "price" (t,), and their "triplets" (t, 3)."""
        has = np.flatnonzero(duals.a > 0)
        return {"price": duals.a[has], "triplets": given.triplets()[duals.key[has]]}

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of the metric M (d, d), from any dual variables.

        A finite bound may need strictly feasible dual variables, which exist only if v > v*. If no bound is found, the
        certificate is undecided, and its reason is the relation of v to v*.
        """
        certificate = super().certify(given, M, dual)
        if math.isinf(certificate.lower_bound) and not certificate.undecided:
            decided = self.decided(given)
            why = _below if decided.what == BELOW else _next_to
            return replace(certificate, undecided=why(decided, given.v))
        return certificate

    def find(self, given: Instance, *asked: Any, **own: Any) -> Found:
        """Run a solver, and return its result. Raises ValueError if v is proved to be below v*.

        asked, own: the arguments that `Method.find` takes after `given`. If it is proved that no metric attains the
        infimum, the status of the result is NOT_ATTAINED.
        """
        decided = self.decided(given)
        if decided.what == BELOW:
            raise ValueError(
                f"{_below(decided, given.v)}. The objective decreases without bound along a metric of trace 1 that "
                "gives every triplet a margin above v; give v above v* (cvxml.methods.boostmetric.threshold bounds it "
                "from both sides), or other triplets"
            )
        found = super().find(given, *asked, **own)
        return found._replace(status=Status.NOT_ATTAINED) if decided.what == AT else found

    def unattained(self, given: Instance) -> str:
        """A sentence if v is proved to be at most v*, because then no metric attains the infimum; else ""."""
        return NONE_IS_OPTIMAL.format(v=given.v) if self.decided(given).what else ""

    def exact_as_stored(
        self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike, hint: Any = None
    ) -> Exact:
        """The interval from the lower bound to the objective at M (d, d), in exact arithmetic.

        The dual variables are used as they are stored. If they prove no bound, the result is that of `exact`, which
        mixes them with strictly feasible ones.

        root: R (d, r) with R R^T near M; the objective is that of R R^T. hint: not used by this method.
        """
        try:
            return super().exact_as_stored(given, M, dual, root=root, hint=hint)
        except ArithmeticError:
            return self.exact(given, M, dual, root=root)

    def decided(self, given: Instance) -> Decided:
        anchors = self.family(given).anchors
        assert isinstance(anchors, AboveThreshold)
        return anchors.decided

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"v": given.v, **given.stored}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        decided, anchors = self.decided(given), self.family(given).anchors
        if decided.what == AT:
            return [NONE_IS_OPTIMAL.format(v=given.v)]
        if anchors is not None and anchors.strict is None:
            return [_next_to(decided, given.v)]
        return []


def _below(decided: Decided, v: float) -> str:
    """Return the sentence for a v that is proved to be below v*. decided: the bounds of v*."""
    at_least = f"v={v:g} is below v*, which is at least {decided.sides.lower:.3g}"
    return f"{at_least}: there is no optimum (proved in rational arithmetic)"


def _next_to(decided: Decided, v: float) -> str:
    """Return the reason why no lower bound is proved for a v near v*. decided: the bounds of v*."""
    lower, upper = decided.sides.lower, decided.sides.upper
    return f"v={v:g} is v* or very close to it (v* is about {lower:.9g} to {upper:.9g}), so no lower bound is proved"


METHOD = BoostMetric()
