"""GMML, geometric mean metric learning (Zadeh, Hosseini, Sra 2016).

GMML makes distances of similar pairs small in A, and distances of dissimilar pairs small in A^-1. Let S and D be the
sums of X_ij = (x_i - x_j)(x_i - x_j)^T over the similar and the dissimilar pairs. The problem is
    min_{A pd}  tr AS + tr A^-1 D.
The solution is the geometric mean of S^-1 and D: the A with A S A = D. As in the authors' code, mu A_0^-1 is added to S
and mu A_0 to D; the prior A_0 is I by default. For a weight t other than 1/2 the problem is
    min_{A pd}  (1 - t) delta^2(A, S^-1) + t delta^2(A, D),    delta^2(A, B) = sum_k log^2 lambda_k(A^-1 B).
It is convex only along geodesics, so cvxpy cannot state it. Its solution is the point t of the geodesic from S^-1 to D.
For t = 1/2, this is the solution of the first problem.

Bounds. For t = 1/2, any symmetric Y with D - Y S Y psd gives the bound 2 tr SY (`dual`). An infeasible Y is replaced by
a feasible multiple. For other t, the triangle inequality gives the bound t (1 - t) delta^2(S^-1, D), without Y. All
bounds are computed in rationals and in balls, which are numbers with a proved error bound (core/balls.py). Scale, the
number that gaps are relative to: the objective, and at least `UNMOVED` (1e-6) times d if t is not 1/2. Radius, a bound
of the distance to the optimum: docs/gmml.md. If S or D is singular, either no metric attains the infimum, or many
metrics do. `instance` refuses these cases, by exact ranks.

A misreading is another problem that an implementation may have solved by mistake. `check` tries the `MISREADINGS`. A
`Question` is the user's metric, with the data and parameters that it was judged with.

Reference: P. H. Zadeh, R. Hosseini, S. Sra, Geometric mean metric learning, ICML 2016. The printed equations were
not available to us; docs/gmml.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import (
    TooFewBits,
    ball,
    balls,
    cholesky_is_positive,
    ends,
    floats,
    pivots,
    precision,
    rounded,
    total,
    with_enough_bits,
)
from cvxml.core.clock import watched
from cvxml.core.dependent import refuse_inaccurate
from cvxml.core.estimator import Estimator
from cvxml.core.exact import Exact, flint, scaled, upward
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_number, dual_array
from cvxml.core.integer_matrices import is_definite, rationals, symmetric_whole, whole
from cvxml.core.memory import check_exact
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import EPS, FloatArray, examine
from cvxml.core.misreading import (
    Misreading,
    OtherProblem,
    Question,
    changed,
    exchanged,
    multiple,
    other_pairs,
    weight_of_ridge,
)
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS, BY_PAIRS, Paired, Pairs, paired
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.prior import PRIOR, inverse_of, other_prior, prior_of
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, in_one_step
from cvxml.core.spectrum import eigenvectors, enclosed, inverted
from cvxml.core.statement import Statement
from cvxml.family.theorem.ball_certificate import certificate, definite
from cvxml.numbers.span import rank_along, rank_of

LARGEST = 1e280  # largest objective; the smallest is 1 / LARGEST
UNMOVED = 1e-6  # smallest scale per feature if t is not 1/2; the optimum is 0 if D = S^-1
# An infeasible Y is scaled to 1 - 2^-k times its largest feasible multiple, for these k.
SHRINKING = (*range(52, 16, -4), 10)
LITTLE_LESS = (1 - 2**-20, 1 / 2)  # shares of an eigenvalue by floats that are tried as lower bounds
MOST_STEPS = 12  # of the refinement of the closed form; three are usual


def problem(X: FloatArray, pairs: Pairs, mu: float, A_0: FloatArray) -> Any:
    """The problem for t = 1/2. Variable: "A" (d, d)."""
    import cvxpy as cp

    S, D = sums(X, pairs, mu, A_0)
    A = cp.Variable((X.shape[1],) * 2, symmetric=True, name="A")
    # With D = L L^T, tr(A^-1 D) = tr(L^T A^-1 L). This is cvxpy's matrix_frac, which requires a positive definite A.
    L = np.linalg.cholesky(D)
    #: min over A positive definite:  tr(A S) + tr(A^-1 D)
    #:   | \min_{A \succ 0}\ \operatorname{tr}(A S) + \operatorname{tr}(A^{-1} D)
    return cp.Problem(cp.Minimize(cp.trace(A @ S) + cp.matrix_frac(L, A)), [A >> 0])


def sums(X: FloatArray, pairs: Pairs, mu: float, A_0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sums S and D: (d, d) each.

    S is mu A_0^-1 plus the sum of X_ij over similar pairs, D is mu A_0 plus the sum of X_ij over dissimilar pairs.
    """
    #: X_ij = (x_i - x_j)(x_i - x_j)^T | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    #: S = mu A_0^-1 + sum X_ij over the similar pairs, with a prior A_0
    #:   | S = \mu A_0^{-1} + \textstyle\sum X_{ij} \text{ over the similar pairs, with a prior } A_0
    S: Any = mu * np.linalg.inv(A_0)
    for i, j in pairs.similar:
        S += np.outer(X[i] - X[j], X[i] - X[j])
    #: D = mu A_0 + sum X_ij over the dissimilar pairs
    #:   | D = \mu A_0 + \textstyle\sum X_{ij} \text{ over the dissimilar pairs}
    D: FloatArray = mu * A_0
    for i, j in pairs.dissimilar:
        D += np.outer(X[i] - X[j], X[i] - X[j])
    return S, D


def dual(X: FloatArray, pairs: Pairs, mu: float, A_0: FloatArray) -> Any:
    """The dual of the problem for t = 1/2. Variable: "Y" (d, d)."""
    import cvxpy as cp

    S, D = sums(X, pairs, mu, A_0)
    Y = cp.Variable((X.shape[1],) * 2, symmetric=True, name="Y")
    #: D - Y S Y psd; in code: the matrix with the rows (S, S Y) and (Y S, D) is psd
    #:   | D - Y S Y \succeq 0 \text{; in code: the matrix with the rows } (S, S Y) \text{ and } (Y S, D) \text{ is psd}
    constraints = [cp.bmat([[S, S @ Y], [Y @ S, D]]) >> 0]
    #: [What is proved]
    #: A S A = D and Y = A at the optimum | A S A = D \text{ and } Y = A \text{ at the optimum}
    #: any symmetric Y with D - Y S Y psd gives a lower bound
    #:   | \text{any symmetric } Y \text{ with } D - Y S Y \succeq 0 \text{ gives a lower bound}

    #: max over Y:  2 tr(S Y) | \max_{Y}\ 2 \operatorname{tr}(S Y)
    return cp.Problem(cp.Maximize(2 * cp.trace(S @ Y)), constraints)
    #: [The problem for another t, and its bound]
    #: min over A positive definite:  (1 - t) delta^2(A, S^-1) + t delta^2(A, D)
    #:   | \min_{A \succ 0}\ (1 - t)\, \delta^2(A, S^{-1}) + t\, \delta^2(A, D)
    #: delta^2(A, B) = sum_k log^2 lambda_k(A^-1 B)
    #:   | \delta^2(A, B) = \textstyle\sum_k \log^2 \lambda_k(A^{-1} B)
    #: at least t (1 - t) delta^2(S^-1, D), by the triangle inequality
    #:   | \text{at least } t\, (1 - t)\, \delta^2(S^{-1}, D) \text{, by the triangle inequality}


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data; S and D have full rank.

    t: the parameter `weight`. mu: the weight of the prior. prior: A_0 (d, d), positive definite.
    """

    t: float  # the parameter `weight`
    mu: float
    prior: FloatArray  # A_0 (d, d), positive definite

    @cached_property
    def S(self) -> Any:
        """S (d, d), mu A_0^-1 plus the sum of X_ij over similar pairs, as exact rationals of flint."""
        return self._sum("similar", self._A_0.inv)

    @cached_property
    def D(self) -> Any:
        """D (d, d), mu A_0 plus the sum of X_ij over dissimilar pairs, as exact rationals of flint."""
        return self._sum("dissimilar", lambda: self._A_0)

    @property
    def _A_0(self) -> Any:
        """The prior A_0 as exact rationals of flint."""
        A_0, at = symmetric_whole(self.prior)
        return rationals(A_0, scaled(1, at))

    def _sum(self, kind: str, beside: Callable[[], Any]) -> Any:
        check_exact(*self.X.shape)
        found, at = self.sum_of_squares(kind)
        own = rationals(found, scaled(1, at))
        return own + beside() * flint().fmpq(*self.mu.as_integer_ratio()) if self.mu else own

    @cached_property
    def least(self) -> float:
        """A lower bound of the smallest eigenvalue of S D, as a float. `radius` uses it. The eigenvalue is positive.

        All eigenvalues are at least l if D - l S^-1 is psd, because S is positive definite.
        """
        with precision():
            S, D = in_balls(self)
            for low in _below(*self.floats):
                if cholesky_is_positive(D - inverted(S) * ball(low)):
                    return low
        least = with_enough_bits(lambda: min(ends(each)[0] for each in spectrum(product(self))))
        return -upward(-least)

    @cached_property
    def floats(self) -> tuple[FloatArray, FloatArray]:
        return rounded(self.S), rounded(self.D)


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    weight: float = 0.5,
    mu: float = 0.0,
    prior: Any = "identity",
    pairs: Any = None,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if there is not exactly one optimal metric.

    X (n, d), y (n,) labels. weight: t, between 0 and 1. mu >= 0: the weight of the prior. prior: "identity",
    "covariance" (the inverse covariance of X), or a matrix (d, d).

    pairs: similar and dissimilar pairs, by default from the labels.
    """
    t, mu = check_number(weight, "weight"), check_number(mu, "mu")
    if not 0 < t < 1:
        raise ValueError(
            f"weight must be between 0 and 1, got {t!r}: at the ends the solution is S^-1 or D itself"
        )
    if mu < 0:
        raise ValueError(f"mu must be at least 0, got {mu!r}")
    p = paired(X, y, pairs)
    if mu > 0:  # for mu = 0 the rank check comes first, and refuses most large problems
        check_exact(*p.X.shape)
    given = Instance(p.X, p.y, p.listed, t, mu, prior_of(p.X, prior))
    _check_attained(given)
    return given


def _check_attained(given: Instance) -> None:
    """Raise ValueError if S or D is singular (by exact ranks), or if sqrt(tr S tr D) is outside 1e-280 to 1e280."""
    d = given.X.shape[1]
    if given.mu == 0:
        # S and D have the same rank as the lists of differences, which is much faster to compute.
        similar, dissimilar = (rank_along(given.X, pairs) for pairs in (given.linked, given.parted))
    else:
        similar = dissimilar = d
    if min(similar, dissimilar) < d:
        many = similar == dissimilar and _rank(given.S * given.D) == similar
        raise ValueError(
            f"similar pairs differ in {similar} of {d} directions, dissimilar pairs in {dissimilar}: "
            + ("there are many optimal metrics" if many else "the infimum is not attained by any metric")
            + "; give mu > 0, more pairs, or fewer features (the first principal components, say)"
        )
    size = math.sqrt(np.trace(given.floats[0])) * math.sqrt(np.trace(given.floats[1]))
    if not 1 / LARGEST < size < LARGEST:
        raise ValueError(
            f"X: the sums S and D over pairs must have sqrt(tr S tr D) between {1 / LARGEST:g} and {LARGEST:g}, got "
            f"{size:.3g}; rescale X, or give another mu"
        )


def _rank(of: Any) -> int:
    return rank_of(np.array(of.numer_denom()[0].tolist(), dtype=object))


def objective(given: Instance, A: FloatArray) -> float:
    """The objective at A (d, d), inf if A is singular: tr AS + tr A^-1 D for t = 1/2, pair by pair.

    For other t, it is (1 - t) delta^2(A, S^-1) + t delta^2(A, D).
    """
    X, (similar, dissimilar) = given.X, given.pairs
    if np.linalg.slogdet(A)[0] <= 0:
        return math.inf
    inverse = np.linalg.inv(A)
    if given.t != 0.5:
        S, D = sums(X, given.pairs, given.mu, given.prior)
        return _to_ends(A, S, D, given.t)
    near = math.fsum(float((X[i] - X[j]) @ A @ (X[i] - X[j])) for i, j in similar)
    far = math.fsum(float((X[i] - X[j]) @ inverse @ (X[i] - X[j])) for i, j in dissimilar)
    to_prior = np.trace(np.linalg.solve(given.prior, A)) + np.trace(np.linalg.solve(A, given.prior))
    return near + far + given.mu * float(to_prior)


def _to_ends(A: FloatArray, S: FloatArray, D: FloatArray, t: float) -> float:
    """(1 - t) delta^2(A, S^-1) + t delta^2(A, D), the objective for t other than 1/2."""
    return (1 - t) * _delta(A @ S) + t * _delta(np.linalg.solve(A, D))


def _delta(product: Any) -> float:
    """sum_k log^2 lambda_k, where lambda_k > 0 are the eigenvalues of `product`."""
    return float(np.sum(np.log(np.linalg.eigvals(product).real) ** 2))


def evaluate(given: Instance, A: FloatArray) -> dict[str, Any]:
    """Intermediate values at A (d, d), by name.

    objective; S and D (d, d); tr_AS and tr_AinvD; ASA (d, d); gradient (d, d). At the optimum for t = 1/2, ASA is
    equal to D. The gradient S - A^-1 D A^-1 is that of the objective for t = 1/2. Both tr_AinvD and gradient are NaN if
    A is singular.
    """
    S, D = sums(given.X, given.pairs, given.mu, given.prior)
    regular = np.linalg.slogdet(A)[0] > 0
    inverse = np.linalg.inv(A) if regular else np.full_like(A, math.nan)
    return {
        "objective": objective(given, A),
        "S": S,
        "D": D,
        "tr_AS": float(np.trace(A @ S)),
        "tr_AinvD": float(np.trace(inverse @ D)),
        "ASA": A @ S @ A,
        "gradient": S - inverse @ D @ inverse,
    }


class Balls(NamedTuple):
    """The matrices S and D (d, d) with balls as entries."""

    S: Any
    D: Any


def in_balls(given: Instance) -> Balls:
    return Balls(balls(given.S), balls(given.D))


def product(given: Instance) -> Any:
    """The product S D (d, d), with balls at the current precision as entries."""
    S, D = in_balls(given)
    return S * D


def value(given: Instance, V: Any, at: int) -> Any:
    """The objective, as a ball, at the metric V 2^at. V (d, d): a positive definite matrix of integers."""
    (S, D), A = in_balls(given), balls(V, at)
    inverse = inverted(A)
    if given.t == 0.5:
        return (A * S).trace() + (inverse * D).trace()
    t = ball(given.t)
    return (1 - t) * squared_distance(A * S) + t * squared_distance(inverse * D)


def bound(given: Instance, Y: FloatArray) -> Any:
    """The lower bound as a ball: 2 tr SY from a feasible Y (d, d) for t = 1/2, else t (1 - t) delta^2(S^-1, D)."""
    if given.t == 0.5:
        return 2 * (in_balls(given).S * balls(*whole(Y))).trace()
    return ball(given.t) * (1 - ball(given.t)) * squared_distance(product(given))


def squared_distance(of: Any) -> Any:
    """delta^2(A, B) = sum_k log^2 lambda_k(A^-1 B) as a ball, from `of` = A^-1 B, a matrix of balls."""
    # the power 2 of a ball around 0 is NaN in python-flint 0.9.0; the product is not
    return total([found.log() * found.log() for found in spectrum(of)])


def spectrum(of: Any) -> list[Any]:
    """The eigenvalues, as balls, of the matrix `of`, a product of two positive definite matrices.

    Raises TooFewBits if an eigenvalue is not proved positive; more bits may prove it.
    """
    found = enclosed(of)
    if not all(each > 0 for each in found):
        raise TooFewBits("an eigenvalue of S D, A S or A^-1 D is too close to 0 to prove that it is positive")
    return found


def to_domain(given: Instance, Y: FloatArray) -> FloatArray:
    """The symmetric part of Y (d, d), or a multiple of it, that is proved feasible with a bound above 0.

    Zeros (d, d) if no such multiple is found, and if t is not 1/2.
    """
    Y = Y / 2 + Y.T / 2
    if given.t == 0.5 and np.isfinite(Y).all() and Y.any():
        with precision():
            for multiple_of in _multiples(given, Y):
                if _is_feasible(given, multiple_of):
                    return multiple_of
    return np.zeros_like(Y)


def _multiples(given: Instance, Y: FloatArray) -> Iterator[FloatArray]:
    """Yield Y itself, then multiples slightly below its largest feasible multiple, computed in floats."""
    yield Y
    # Powers of two are factored out, so that no product overflows.
    (Y, _), (S, s), (D, d) = map(_near_1, (Y, *given.floats))
    root = np.sqrt(D.diagonal())
    w, Q = np.linalg.eigh(D / root[:, None] / root)
    W = Q.T / np.sqrt(np.maximum(w, EPS * w[-1]))[:, None] / root
    most = np.linalg.eigvalsh(W @ Y @ S @ Y @ W.T)[-1]
    if 0 < most < math.inf:
        yield from ((1 - 0.5**k) * 2.0 ** ((d - s) / 2) / math.sqrt(most) * Y for k in SHRINKING)


def _near_1(M: FloatArray) -> tuple[FloatArray, int]:
    """V and e with M = V 2^e. The largest absolute entry of V is at least 1/2 and below 1."""
    exponent = int(np.frexp(np.abs(M).max())[1])
    return np.ldexp(M, -exponent), exponent


def _is_feasible(given: Instance, Y: FloatArray) -> bool:
    (S, D), V = in_balls(given), balls(*whole(Y))
    return (S * V).trace() > 0 and pivots(D - V * S * V) is not None


def _below(S: FloatArray, D: FloatArray) -> list[float]:
    """Candidates for a lower bound of the smallest eigenvalue of S D, the larger one first.

    They are this eigenvalue as computed in floats, times each of `LITTLE_LESS`: a factor slightly below 1, and 1/2. []
    if floats do not show that the eigenvalue is positive.
    """
    try:
        with np.errstate(all="ignore"):
            least = float(np.square(_pencil(S, D)[1][-1]))
    except np.linalg.LinAlgError:
        return []
    return [share * least for share in LITTLE_LESS if share * least > 0]


def _pencil(S: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
    """B (d, d) and s (d,) with B B^T = D and B^T S B = diag(s^2), by floats.

    s^2 are the eigenvalues of S D, in descending order. Raises LinAlgError if S or D is not positive definite by
    floats, and for numbers that are not finite.
    """
    L = np.linalg.cholesky(D)
    _, s, Vt = np.linalg.svd(np.linalg.cholesky(S).T @ L)
    return L @ Vt.T, s


def closed_form(given: Instance) -> FloatArray:
    """The optimal metric S^-1 (S D)^t (d, d), rounded to floats."""
    refined = _refined(given) if given.t == 0.5 else None
    return with_enough_bits(lambda: _closed_form(given)) if refined is None else refined


def _refined(given: Instance) -> FloatArray | None:
    """The optimal metric A for t = 1/2, with A S A = D, by refinement; None if floats are too coarse for it.

    The start is B diag(1/s) B^T, with B and s of `_pencil`. A step adds B E B^T to A, where R = D - A S A and
    E_ij = (B^-1 R B^-T)_ij / (s_i + s_j). To first order, R is then 0. A and R are computed in balls, steps in floats.
    """
    try:
        with np.errstate(all="ignore"), precision():
            B, s = _pencil(*given.floats)
            (S, D), A = in_balls(given), flint().arb_mat(*B.shape)
            step = (B / s) @ B.T
            for _ in watched(range(MOST_STEPS)):
                A += flint().arb_mat((step / 2 + step.T / 2).tolist())
                found = floats(A)
                scale = np.sqrt(found.diagonal())
                if (np.abs(step) <= EPS / 16 * scale[:, None] * scale).all():
                    return found
                rest = np.linalg.solve(B, np.linalg.solve(B, floats(D - A * S * A)).T)
                step = B @ (rest / (s[:, None] + s)) @ B.T
    except np.linalg.LinAlgError:  # S or D is not positive definite by floats
        pass
    return None


def _closed_form(given: Instance) -> FloatArray:
    acb_mat, (values, R) = flint().acb_mat, eigenvectors(product(given))
    powers = acb_mat(np.diag([0] * len(values)).tolist())
    for k, found in enumerate(values):
        powers[k, k] = abs(found) ** ball(given.t)
    A = acb_mat(inverted(in_balls(given).S)) * R * powers * inverted(R)
    floats: FloatArray = np.array([[float(entry.real) for entry in row] for row in A.tolist()])
    return (floats + floats.T) / 2


def radius(given: Instance, A: FloatArray, gap: float) -> float:
    """An upper bound of ||A - A*|| (Frobenius) for A (d, d) with this gap and the optimal A* (docs/gmml.md).

    gap: an upper bound of the objective of A minus that of A*.
    """
    if given.t != 0.5:
        log = math.sqrt(gap)
    else:
        log = 2 * math.asinh(math.sqrt(gap / math.sqrt(given.least)) / 2) if given.least > 0 else math.inf
    return float(np.linalg.norm(A, 2)) * math.expm1(log * (1 + 1e-9)) * (1 + 1e-9) if log < 700 else math.inf


def _means(question: Question) -> float | None:
    """The factor that turns the solution for means over the pairs into the solution for sums.

    None if mu > 0, because then the two solutions are not multiples of each other.
    """
    given = question.checked(instance)
    similar, dissimilar = len(given.pairs.similar), len(given.pairs.dissimilar)
    return dissimilar**given.t / similar ** (1 - given.t) if given.mu == 0 else None


def _ordered(question: Question) -> OtherProblem | None:
    """The problem in which each pair is counted in both orders, but mu once; None if mu = 0.

    In that problem S and D are twice as large as in the problem with mu / 2. Its solution is 2^(2t - 1) times the
    solution for mu / 2. So the result has mu / 2, and the user's metric divided by 2^(2t - 1).
    """
    given = question.checked(instance)
    if given.mu == 0:
        return None
    params = {**question.params, "mu": given.mu / 2}
    return OtherProblem(question.X, question.y, params, 2 ** (1 - 2 * given.t) * question.metric)


def _another_weight(question: Question) -> float | None:
    """The t for which the solution has the same determinant as the user's metric.

    None if this t is not in (0, 1), or if it is the given t.
    """
    given = question.checked(instance)
    S, D, A = (float(np.linalg.slogdet(M)[1]) for M in (*given.floats, question.metric))
    t = (A + S) / (D + S) if S + D else 0.0
    return t if 0 < t < 1 and abs(t - given.t) > 1e-3 else None


def _another_mu(question: Question) -> float | None:
    """The mu for which the gap of the user's metric A is smallest, for t = 1/2.

    None if t is not 1/2, if A is singular, or if this mu is the given one or is too large or small. The gap is convex
    in mu. Its derivative is h(A) - h(A*), where h(A) = tr A_0^-1 A + tr A^-1 A_0 and A* is the solution for mu.
    """
    given, A = question.checked(instance), question.metric
    if given.t != 0.5 or np.linalg.eigvalsh(A)[0] <= 0:
        return None
    # with A_0 = R R^T, the metric R^-1 A R^-T solves the problem of R^T S R and R^-1 D R^-T, which has the prior I
    R = np.linalg.cholesky(given.prior)
    W = np.linalg.inv(R)
    similar, dissimilar = given.similar @ R, given.dissimilar @ W.T
    S, D = similar.T @ similar, dissimilar.T @ dissimilar
    own = np.linalg.eigvalsh(W @ A @ W.T)
    largest = max(float(np.linalg.eigvalsh(M)[-1]) for M in (S, D))
    if not (own[0] > 0 and 0 < largest < math.inf):
        return None
    I = np.eye(len(A))

    def slope(mu: float) -> float:
        w = np.linalg.eigvalsh(_mean(S + mu * I, D + mu * I))
        return float(np.sum(own + 1 / own) - np.sum(w + 1 / w))

    return weight_of_ridge(slope, largest, given.mu)


def _mean(S: FloatArray, D: FloatArray) -> FloatArray:
    """The A (d, d) with A S A = D, in floats. Raises LinAlgError if S is singular."""
    L = np.linalg.cholesky(S)
    w, V = np.linalg.eigh(L.T @ D @ L)
    U = np.linalg.solve(L.T, V)
    A: FloatArray = (U * np.sqrt(np.maximum(w, 0.0))) @ U.T
    return A


def _other_prior(change: Callable[[Instance], FloatArray]) -> Any:
    """Return the misreading in which the prior is change(given), for the checked inputs `given`.

    It does not apply if mu = 0, because the prior then has no effect, or if change(given) is the user's prior.
    """
    return other_prior(instance, lambda given: change(given) if given.mu else given.prior)


# Mistakes in implementations. `check` recognizes A^-1, A^2 and sqrt(A) for every method, so they are not listed.
MISREADINGS = {
    "mean": Misreading("means over the pairs where the method has sums", multiple(_means)),
    "exchanged": Misreading("similar and dissimilar pairs exchanged", other_pairs(exchanged)),
    "no_mu": Misreading("the sums without mu", changed("mu", lambda q: 0.0 if q.params.get("mu") else None)),
    "another_mu": Misreading("another mu than the given one", changed("mu", _another_mu), fits="mu"),
    "ordered": Misreading("every pair counted in both orders, but mu once", _ordered),
    "identity_prior": Misreading(
        "mu I in both sums, in place of the given prior", _other_prior(lambda given: np.eye(given.X.shape[1]))
    ),
    "inverse_prior": Misreading(
        "mu A_0 added to S and mu A_0^-1 to D where the paper has mu A_0^-1 and mu A_0",
        _other_prior(lambda given: inverse_of(given.prior)),
    ),
    "another_weight": Misreading(
        "another weight t than the given one", changed("weight", _another_weight), fits="weight"
    ),
    **PAIRS,
}


# The similar pairs give S = I, the dissimilar pairs D = diag(4, 9).
_CROSS = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]
_OF_CROSS = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}


class GMML(ConvexMethod[Instance]):
    """Geometric mean metric learning, in closed form."""

    id = "gmml"
    TITLE = "GMML: geometric mean metric learning (Zadeh, Hosseini, Sra 2016)"
    MAX_ITER = 1  # a closed form
    PARAMETERS: ClassVar = {
        "weight": Parameter(
            "the t of the paper: the position of the metric on the geodesic, 0 for S^-1 and 1 for D. S and D are the "
            "sums of (x_i - x_j)(x_i - x_j)^T over similar and dissimilar pairs",
            NUMBER,
            0.5,
        ),
        "mu": Parameter("weight of the prior: mu A_0^-1 is added to S, and mu A_0 to D; >= 0", NUMBER, 0.0),
        "prior": PRIOR,
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.gmml", ("problem", "sums", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"Y": "d d"}
    SMALL: ClassVar = {"mu": 0.1}
    UNITS = None  # with the units of X, S^-1 shrinks as D grows
    BAD: ClassVar = {
        **BAD_PAIRS,
        "weight": (-0.1, 0, 1, 1.5),
        "mu": (-1.0,),
        "prior": (
            np.zeros((3, 3)),
            np.diag([1.0, 1.0, -1.0]),
            np.triu(np.ones((3, 3))),
            np.eye(2),
            "nothing",
        ),
    }
    HAND: ClassVar = (
        # S = I and D = diag(4, 9), so the metric is D^t. For t = 1/2 the optimum is 2 tr D^(1/2).
        Hand(_CROSS, None, {"pairs": _OF_CROSS}, [[2.0, 0.0], [0.0, 3.0]], 10.0),
        # For other t, the optimum is t (1 - t) (log^2 4 + log^2 9).
        Hand(
            _CROSS,
            None,
            {"pairs": _OF_CROSS, "weight": 0.25},
            [[math.sqrt(2), 0.0], [0.0, math.sqrt(3)]],
            0.75 * (math.log(2) ** 2 + math.log(3) ** 2),
        ),
        # mu = 2 and A_0 = diag(1/2, 3) give S = diag(5, 5/3) and D = diag(5, 15).
        Hand(
            _CROSS,
            None,
            {"pairs": _OF_CROSS, "mu": 2.0, "prior": [[0.5, 0.0], [0.0, 3.0]]},
            [[1.0, 0.0], [0.0, 3.0]],
            20.0,
        ),
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "GMML",
        "The metric of geometric mean metric learning (Zadeh et al. 2016), in closed form, with its proof.",
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3),
        drawn(7, 14, 5, degenerate=True, mu=0.1),
        drawn(
            8, 14, 2, 2, pairs={"similar": [[0, 2], [4, 1], [5, 3]], "dissimilar": [[0, 1], [2, 3], [9, 4]]}
        ),
        drawn(6, 14, 3, mu=5.0, prior=[[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 0.5]]),
        drawn(6, 14, 3, mu=5.0, prior="covariance"),
        sample("iris", 24),
        verified("iris", 60),
        verified("wine", 40, mu=1.0),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        """The problem. Variable "A" (d, d). Raises ValueError if the weight t is not 1/2."""
        return problem(*_stated(given))

    def constraint_names(self, given: Instance) -> list[str]:
        return ["A psd"]

    def dual(self, given: Instance) -> Any:
        """The dual. Variable "Y" (d, d). Raises ValueError if the weight t is not 1/2."""
        return dual(*_stated(given))

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def fast_objective(self, given: Instance, M: FloatArray) -> float:
        if np.linalg.slogdet(M)[0] <= 0:
            return math.inf
        S, D = given.floats
        if given.t != 0.5:
            return _to_ends(M, S, D, given.t)
        return float(np.sum(M * S) + np.trace(np.linalg.solve(M, D)))

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of the metric M (d, d) from "Y" (d, d), any numbers except NaN.

        A singular metric has the objective inf.
        """
        psd, feasibility = examine(M, given.X)
        V, at = symmetric_whole(M)
        Y = to_domain(given, dual_array(dual, "Y", M.shape))
        proved = with_enough_bits(lambda: bound(given, Y))
        here = with_enough_bits(lambda: value(given, V, at)) if is_definite(V) else math.inf
        return certificate(
            here,
            proved,
            scale=max(float(here), _least_scale(given)),
            radius=partial(radius, given, psd),
            feasibility=feasibility,
            dual={"Y": Y},
        )

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The interval from the lower bound to the objective at M (d, d), as rational numbers, rounded outward.

        dual: the "Y" of `certify`. root: R with R R^T near M, if it is known; then the objective is that of R R^T.
        Raises ValueError for a singular metric.
        """
        metric, Y = definite(M, root), to_domain(given, dual_array(dual, "Y", M.shape))
        low = with_enough_bits(lambda: ends(bound(given, Y)))[0]
        here = with_enough_bits(lambda: ends(value(given, metric.V, metric.at)))
        return Exact(low, here[1], metric.distance, max(here[0], Fraction(_least_scale(given))))

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Return the closed form. Raises ValueError if nearly dependent features make it inaccurate in floats.

        tol, max_iter and start are not used.
        """
        A = closed_form(given)
        proof = self.certify(given, A, {"Y": A})
        refuse_inaccurate(proof, given.X, "give mu > 0")
        return in_one_step(A, {"Y": A}, lambda *_: proof, callback)

    def least_scale(self, given: Instance) -> float:
        return _least_scale(given)

    def stored(self, given: Instance) -> dict[str, Any]:
        """The parameters, as a file stores them.

        The pairs are included if they were given, and the prior if mu > 0 and it is not I.
        """
        own = {"weight": given.t, "mu": given.mu, "pairs": given.stored}
        plain = given.mu == 0 or np.array_equal(given.prior, np.eye(given.X.shape[1]))
        return own if plain else {**own, "prior": given.prior.tolist()}


def _least_scale(given: Instance) -> float:
    return 0.0 if given.t == 0.5 else UNMOVED * given.X.shape[1]


def _stated(given: Instance) -> tuple[FloatArray, Pairs, float, FloatArray]:
    if given.t != 0.5:
        raise ValueError(
            f"weight={given.t:g}: the problem is convex only along geodesics; cvxpy can state it for weight=0.5"
        )
    return given.X, given.pairs, given.mu, given.prior


METHOD = GMML()
