"""SDML, sparse distance metric learning (Qi et al. 2009): a metric near a prior with few nonzero entries.

With y_ij = 1 for a similar pair, -1 for a dissimilar pair, and a prior M_0, the problem is

    min_{M pd}  tr S M - log det M + lam sum_{i != j} |M_ij|,    S = M_0^-1 + eta sum y_ij (x_i - x_j)(x_i - x_j)^T.

The sum in S is over the pairs (i, j). The penalty sum |M_ij|, also written ||M||_off, counts both M_ij and M_ji, but
not the diagonal. metric-learn's documentation has M_0 in S; its code has M_0^-1. The problem has the form of the
graphical lasso, which estimates a sparse inverse of S. Here S may be indefinite.

Dual and bound: let U be in the box, U_ii = 0 and |U_ij| <= lam. If W = S + U is positive definite, d + log det W is a
lower bound (`dual`). These U are the domain of the dual. S and W are exact rational matrices, and logarithms are balls,
which are numbers with a proved error bound (core/balls.py). Results are rounded to floats at the end. A dual U outside
the domain is clipped into the box and, if S + U is not proved positive definite then, mixed with a U in the domain.
Scale, the number that gaps are relative to: d. The optimum is unique. Radius, a bound of the distance to it:
family/regularizers/logdet.py. Solver: logdet_box.py.

If the domain is empty, the problem is unbounded. `instance` refuses such data. It proves that the problem is unbounded
by a direction in which the objective decreases without bound.

A misreading is another problem that an implementation may have solved by mistake. `check` tries the `MISREADINGS`.

Reference: G.-J. Qi, J. Tang, Z.-J. Zha, T.-S. Chua, H.-J. Zhang, An efficient sparse metric learning in
high-dimensional space via l1-penalized log-determinant regularization, ICML 2009. The printed equations were not
available to us; docs/sdml.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import ball, ends, rounded, total, with_enough_bits
from cvxml.core.estimator import Estimator
from cvxml.core.exact import Exact, flint, scaled
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_number, check_positive, dual_array
from cvxml.core.integer_matrices import is_definite, rationals, whole
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray, examine
from cvxml.core.misreading import Misreading, OtherProblem, Question, exchanged
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS, BY_PAIRS, Paired, Pairs, paired, pairs_by_labels
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.prior import PRIOR, inverse_of, prior_of
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, run
from cvxml.core.statement import Statement
from cvxml.family.regularizers.logdet import distance
from cvxml.family.theorem.ball_certificate import certificate, definite
from cvxml.methods.sdml.box_proof import descent, directions, log_determinant, off_diagonal, serves, to_domain
from cvxml.methods.sdml.logdet_box import Solver, decided

LARGEST = 1e280  # largest S_ii; the smallest is 1 / LARGEST
OF_PAIRS = "S = inv(prior) + eta sum y_ij (x_i - x_j)(x_i - x_j)^T"  # for messages
PATIENCE = 3  # steps without a better gap before the solver stops


def problem(X: FloatArray, pairs: Pairs, eta: float, lam: float, M_0: FloatArray) -> Any:
    """The problem. Variable: "M" (d, d)."""
    import cvxpy as cp

    S, d = weighted(X, pairs, eta, M_0), X.shape[1]
    M = cp.Variable((d, d), symmetric=True, name="M")
    #: ||M||_off = sum over i != j of |M_ij|: both (i, j) and (j, i), not the diagonal
    #:   | \lVert \mathbf{M} \rVert_{\mathrm{off}} = \textstyle\sum_{i \ne j} |M_{ij}|
    #:     \text{: both } (i, j) \text{ and } (j, i) \text{, not the diagonal}
    off = cp.sum(cp.abs(cp.multiply(1 - np.eye(d), M)))
    #: min over M positive definite:  tr(S M) - log det M + lam ||M||_off
    #:   | \min_{\mathbf{M} \succ 0}\ \operatorname{tr}(S \mathbf{M}) - \log \det \mathbf{M}
    #:     + \lambda \lVert \mathbf{M} \rVert_{\mathrm{off}}
    return cp.Problem(cp.Minimize(cp.trace(S @ M) - cp.log_det(M) + lam * off))


def weighted(X: FloatArray, pairs: Pairs, eta: float, M_0: FloatArray) -> FloatArray:
    """The matrix S (d, d) of the prior and the pairs."""
    #: S = M_0^-1 + eta sum over pairs of y_ij (x_i - x_j)(x_i - x_j)^T
    #:   | S = M_0^{-1} + \eta \textstyle\sum_{ij} y_{ij} (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    S: FloatArray = np.asarray(np.linalg.inv(M_0), dtype=np.float64)
    #: y_ij = 1 for a similar pair, -1 for a dissimilar one, and 0 for a pair that is not listed
    #:   | y_{ij} = 1 \text{ for a similar pair, } -1 \text{ for a dissimilar one,}
    #:     \text{ and } 0 \text{ for a pair that is not listed}
    for y_ij, listed in ((1, pairs.similar), (-1, pairs.dissimilar)):
        for i, j in listed:
            S = S + eta * y_ij * np.outer(X[i] - X[j], X[i] - X[j])
    return (S + S.T) / 2


def dual(X: FloatArray, pairs: Pairs, eta: float, lam: float, M_0: FloatArray) -> Any:
    """The dual of the problem. Variable: "U" (d, d), which is added to S off the diagonal."""
    import cvxpy as cp

    S, d = weighted(X, pairs, eta, M_0), X.shape[1]
    U = cp.Variable((d, d), symmetric=True, name="U")
    #: U_ii = 0,  |U_ij| <= lam | U_{ii} = 0, \quad |U_{ij}| \le \lambda
    constraints = [cp.abs(U) <= lam * (1 - np.eye(d))]
    #: max over U:  d + log det(S + U) | \max_{U}\ d + \log \det(S + U)
    return cp.Problem(cp.Maximize(d + cp.log_det(S + U)), constraints)
    #: [What is proved]
    #: M = (S + U)^-1 and U_ij = lam sign(M_ij) where M_ij != 0, at the optimum
    #:   | \mathbf{M} = (S + U)^{-1} \text{ and } U_{ij} = \lambda \operatorname{sign}(M_{ij})
    #:     \text{ where } M_{ij} \ne 0 \text{, at the optimum}
    #: any U of the box with S + U positive definite gives a lower bound
    #:   | \text{any } U \text{ of the box with } S + U \succ 0 \text{ gives a lower bound}
    #: unbounded if no S + U is positive definite
    #:   | \text{unbounded if no } S + U \text{ is positive definite}
    #: the proof is a psd D with tr(S D) + lam ||D||_off <= 0: along D, M grows without bound
    #:   | \text{the proof is a psd } D \text{ with } \operatorname{tr}(S D)
    #:     + \lambda \lVert D \rVert_{\mathrm{off}} \le 0 \text{: along } D \text{, }
    #:     \mathbf{M} \text{ grows without bound}


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data; the problem is proved bounded.

    prior: M_0 (d, d). S (d, d): exact, as flint's rationals. rounded: S in floats. start: a U (d, d) in the domain.
    """

    eta: float
    lam: float
    prior: FloatArray  # M_0 (d, d)
    S: Any  # (d, d), exact, as flint's rationals
    rounded: FloatArray  # S rounded to floats
    start: FloatArray  # U (d, d) in the box with S + U proved positive definite


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    eta: float | None = None,
    lam: float = 0.01,
    prior: Any = "identity",
    pairs: Any = None,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if the problem is unbounded or too close to it.

    X (n, d), y (n,) labels. prior: M_0, "identity", "covariance" (the inverse of the covariance) or a matrix (d, d).

    pairs: similar and dissimilar pairs, by default from the labels. lam >= 0. eta > 0, by default 1 / (2 ||C^T T C||)
    with the spectral norm. T is the signed sum of (x_i - x_j)(x_i - x_j)^T over the pairs (`signed_sum`), and C a root
    of the prior: M_0 = C C^T.
    """
    lam = check_number(lam, "lam")
    if lam < 0:
        raise ValueError(f"lam must be at least 0, got {lam!r}")
    p = paired(X, y, pairs)
    M_0 = prior_of(p.X, prior)
    T = signed_sum(p)
    eta = _half_of_the_prior(T, M_0) if eta is None else check_positive(eta, "eta")
    P, at = whole(M_0)
    fmpq, fmpq_mat = flint().fmpq, flint().fmpq_mat
    S = fmpq_mat(P).inv() * fmpq(*scaled(1, -at).as_integer_ratio()) + T * fmpq(*eta.as_integer_ratio())
    floats = rounded(S)
    _check_diagonal(S, floats)
    return Instance(p.X, p.y, p.listed, eta, lam, M_0, S, floats, start_of(S, floats, lam))


def signed_sum(p: Paired) -> Any:
    """The signed sum T (d, d) of y_ij (x_i - x_j)(x_i - x_j)^T over the pairs, as flint's rationals."""
    (near, at), (far, low) = p.sum_of_squares("similar"), p.sum_of_squares("dissimilar")
    return rationals(near, scaled(1, at)) - rationals(far, scaled(1, low))


def _half_of_the_prior(T: Any, M_0: FloatArray) -> float:
    """The default of eta, 1 / (2 ||C^T T C||) with M_0 = C C^T and the spectral norm; 1 if T is 0.

    With this eta, S - M_0^-1 / 2 is psd.
    T (d, d): the sum of y_ij (x_i - x_j)(x_i - x_j)^T over the pairs, as flint's rationals. Raises ValueError if the
    norm is outside 1e-280 to 1e280.
    """
    if T == 0 * T:
        return 1.0
    C = np.linalg.cholesky(M_0)
    with np.errstate(over="ignore", invalid="ignore"):
        of_pairs = C.T @ rounded(T) @ C
        size = float(np.linalg.norm(of_pairs, 2)) if np.isfinite(of_pairs).all() else math.inf
    if not 1 / LARGEST < size < LARGEST:
        raise ValueError(
            "X: the default of eta is computed from sums over pairs and the prior, which are too large or too small "
            "for double precision; rescale X, or the prior"
        )
    return 1 / (2 * size)


def _check_diagonal(S: Any, floats: FloatArray) -> None:
    """Raise ValueError if some S_kk is not positive, or is outside 1e-280 to 1e280.

    S (d, d): flint's rationals, for which the sign is exact. floats: S rounded.
    """
    for k in range(S.nrows()):
        if not S[k, k] > 0:
            raise ValueError(
                f"the problem is unbounded: S[{k}, {k}] is {floats[k, k]:.3g}, but must be positive, where {OF_PAIRS}; "
                "give a smaller eta"
            )
    diagonal = floats.diagonal()
    if not (diagonal.min() > 1 / LARGEST and diagonal.max() < LARGEST):
        raise ValueError(
            f"X: the diagonal of S must be between {1 / LARGEST:g} and {LARGEST:g}, got {diagonal.min():.3g} to "
            f"{diagonal.max():.3g}; rescale X, or the prior"
        )


def start_of(S: Any, floats: FloatArray, lam: float) -> FloatArray:
    """Return a U (d, d) in the box for which S + U is proved positive definite; U = 0 if possible.

    S (d, d): flint's rationals. floats: S rounded. Raises ValueError if the problem is proved unbounded, and if double
    precision does not decide. For lam = 0 it also raises ValueError if S is positive definite, but so near to singular
    that double precision has no solution.
    """
    none = np.zeros_like(floats)
    if serves(S, floats, lam, none):
        return none
    if lam == 0:
        if is_definite(S.numer_denom()[0]):
            raise ValueError(
                f"the matrix {OF_PAIRS} is so near to singular that double precision has no solution; give a "
                "smaller eta"
            )
        raise ValueError(
            f"the problem is unbounded: lam is 0, and the matrix {OF_PAIRS} is not positive definite; give a smaller "
            "eta, or lam > 0"
        )
    found = decided(floats, lam)
    if found.U is not None and serves(S, floats, lam, found.U):
        return found.U
    for D in directions(found.D):
        if (falls := descent(S, lam, *D)) is not None:
            raise ValueError(
                "the problem is unbounded: no positive definite matrix has the diagonal of S and is within lam of S "
                f"elsewhere, because there is a psd D with tr S D + lam ||D||_off = {falls:.3g}, where {OF_PAIRS}; "
                "give a smaller eta, or a larger lam"
            )
    raise ValueError(
        "double precision does not decide whether the problem is bounded: the matrices within lam of S are nearly "
        f"singular, where {OF_PAIRS}; give a smaller eta, or a larger lam"
    )


def objective(given: Instance, M: FloatArray) -> float:
    """tr M_0^-1 M + eta sum y_ij (x_i - x_j)^T M (x_i - x_j) - log det M + lam ||M||_off, at M (d, d).

    The sum is computed pair by pair. The result is inf if M is singular.
    """
    return float(evaluate(given, M)["objective"])


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; S (d, d); tr_SM; log_det; off, the sum of |M_ij| for i != j; zeros, the number of these M_ij that are 0;
    inverse (d, d) of M. The inverse is NaN if M is singular. At the optimum, the inverse has the diagonal of S and its
    other entries are within lam of S.

    gap_if_feasible: tr S M + lam off - d, the gap if the inverse has these two properties.
    """
    X, d = given.X, len(M)
    spent = [float(np.trace(np.linalg.solve(given.prior, M)))]
    for y_ij, listed in ((1, given.pairs.similar), (-1, given.pairs.dissimilar)):
        for i, j in listed:
            spent.append(given.eta * y_ij * float((X[i] - X[j]) @ M @ (X[i] - X[j])))
    off = [abs(float(M[i, j])) for i in range(d) for j in range(d) if i != j]
    sign, log_det = np.linalg.slogdet(M)
    tr_SM = math.fsum(spent)
    regular = sign > 0
    return {
        "objective": tr_SM - log_det + given.lam * math.fsum(off) if regular else math.inf,
        "S": weighted(X, given.pairs, given.eta, given.prior),
        "tr_SM": tr_SM,
        "log_det": float(log_det) if regular else -math.inf,
        "off": math.fsum(off),
        "zeros": off.count(0.0),
        "inverse": np.linalg.inv(M) if regular else np.full_like(M, math.nan),
        "gap_if_feasible": tr_SM + given.lam * math.fsum(off) - d,
    }


def bound(given: Instance, U: FloatArray) -> Any:
    """The lower bound d + log det(S + U) for U (d, d) in the box, as a ball.

    Raises TooFewBits if S + U is not proved positive definite at the current precision.
    """
    return len(U) + log_determinant(given.S, U)


def _in_the_box(given: Instance, dual: Dual) -> FloatArray:
    """The "U" (d, d) of a dual, moved into the domain: into the box, with S + U proved positive definite."""
    U = dual_array(dual, "U", given.prior.shape)
    return to_domain(given.S, given.rounded, given.lam, given.start, U)


def value(given: Instance, V: Any, at: int) -> Any:
    """The objective at V 2^at, for a positive definite matrix V (d, d) of integers, as a ball."""
    d = V.nrows()
    spent = total([ball(s) * v for s, v in zip(given.S.entries(), V.entries(), strict=True)])
    return (
        (spent + ball(given.lam) * off_diagonal(V)) * ball(1, at)
        - ball(V.det()).log()
        - d * at * ball(2).log()
    )


def _other(change: Callable[[Instance], dict[str, Any] | None], sentence: str) -> Misreading:
    """Return the misreading with the parameters that change(instance) returns.

    The eta is that of the user, or its default for the user's data, unless change(instance) has an eta. The misreading
    does not apply if `change` returns None. sentence: the text for the report.
    """

    def other(question: Question) -> OtherProblem | None:
        given = question.checked(instance)
        others = change(given)
        if others is None:
            return None
        return OtherProblem(question.X, question.y, {**question.params, "eta": given.eta, **others})

    return Misreading(sentence, other)


def _documented_prior(given: Instance) -> dict[str, Any] | None:
    other = inverse_of(given.prior)
    return None if np.array_equal(other, given.prior) else {"prior": other}


def _others_dissimilar(given: Instance) -> dict[str, Any] | None:
    if given.listed is None:
        return None
    similar = {tuple(sorted(pair)) for pair in given.listed.similar.tolist()}
    every = pairs_by_labels(np.zeros(len(given.X), dtype=np.intp)).similar.tolist()
    others = [pair for pair in every if tuple(pair) not in similar]
    return {"pairs": {"similar": given.listed.similar.tolist(), "dissimilar": others}}


# Mistakes in implementations. `check` recognizes the inverse of M for every method, so it is not listed.
MISREADINGS = {
    "prior": _other(_documented_prior, "M_0 where the method has its inverse (metric-learn's documentation)"),
    "not_listed": _other(
        _others_dissimilar, "every pair that is not similar counted as dissimilar (metric-learn's documentation)"
    ),
    "diagonal": _other(
        lambda p: {"prior": inverse_of(inverse_of(p.prior) + p.lam * np.eye(len(p.prior)))} if p.lam else None,
        "the diagonal included in the penalty",
    ),
    "once": _other(lambda p: {"lam": p.lam / 2} if p.lam else None, "each |M_ij| counted once, where the method "
        "counts M_ij and M_ji"),
    "mean": _other(
        lambda p: {"eta": p.eta / max(1, len(p.pairs.similar) + len(p.pairs.dissimilar))},
        "the mean over pairs where the method has a sum",
    ),
    "ordered": _other(lambda p: {"eta": 2 * p.eta}, "every pair counted in both orders"),
    "exchanged": _other(
        lambda p: {"pairs": exchanged(p.pairs).to_dict()}, "similar and dissimilar pairs exchanged"
    ),
    **PAIRS,
}  # fmt: skip


class SDML(ConvexMethod[Instance]):
    """Sparse distance metric learning: a sparse metric near a prior, similar pairs near and dissimilar pairs far."""

    id = "sdml"
    TITLE = "SDML: sparse distance metric learning (Qi et al. 2009)"
    EXPONENTIAL = True
    PARAMETERS: ClassVar = {
        "eta": Parameter(
            "weight of the pairs, > 0",
            NUMBER,
            otherwise="1/(2 ||C^T T C||), so that the pairs count at most half as much as the prior. The prior is C "
            "C^T, and T is the sum of (x_i - x_j)(x_i - x_j)^T over similar pairs minus that over dissimilar pairs",
        ),
        "lam": Parameter("weight of sum |M_ij| for i != j, >= 0", NUMBER, 0.01),
        "prior": PRIOR,
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.sdml", ("problem", "weighted", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"eta": math.inf, "lam": math.inf}
    DUAL: ClassVar = {"U": "d d"}
    SMALL: ClassVar = {"lam": 0.1}
    FOLLOWS = "order"
    UNITS = None  # the default of eta, the prior and the penalty scale with different powers of the units
    BAD: ClassVar = {
        **BAD_PAIRS,
        "eta": (0, -1.0),
        "lam": (-1.0,),
        "prior": (np.diag([1.0, 1.0, 0.0]), np.eye(2), "nothing"),
    }
    # S = [[3/2, 1/2], [1/2, 3/2]]. U reduces the 1/2 by up to lam, to w, and M = [[3/2, w], [w, 3/2]]^-1.
    HAND: ClassVar = tuple(
        Hand(
            [[0.0, 0.0], [1.0, 1.0]],
            None,
            {"pairs": {"similar": [[0, 1]], "dissimilar": []}, "eta": 0.5, "lam": lam},
            [[1.5 / (2.25 - w**2), -w / (2.25 - w**2)], [-w / (2.25 - w**2), 1.5 / (2.25 - w**2)]],
            2 + math.log(2.25 - w**2),
        )
        for lam, w in ((0.0, 0.5), (0.25, 0.25), (0.75, 0.0))
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "SDML", "The metric of sparse distance metric learning (Qi et al. 2009), solved to a certified gap."
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3, lam=0.1),
        drawn(7, 14, 5, degenerate=True, eta=0.002, lam=0.2),  # S is indefinite
        drawn(
            8, 14, 4, 2, pairs={"similar": [[0, 2], [4, 1], [5, 3]], "dissimilar": [[0, 1], [9, 4]]}, lam=0.2
        ),
        sample("iris", 24, prior="covariance"),
        verified("iris", 60),
        verified("wine", 40, lam=0.05),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.pairs, given.eta, given.lam, given.prior)

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.pairs, given.eta, given.lam, given.prior)

    def without_data(self, given: Instance) -> FloatArray:
        return given.prior

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def fast_objective(self, given: Instance, M: FloatArray) -> float:
        sign, log_det = np.linalg.slogdet(M)
        if sign <= 0:
            return math.inf
        off = np.abs(M).sum() - np.abs(M.diagonal()).sum()
        return float(np.sum(given.rounded * M) - log_det + given.lam * off)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of M from a dual "U" (d, d), any numbers except NaN.

        A singular metric has the objective inf.
        """
        psd, feasibility = examine(M, given.X)
        V, at = whole(psd)
        U = _in_the_box(given, dual)
        return certificate(
            with_enough_bits(lambda: value(given, V, at)) if is_definite(V) else math.inf,
            with_enough_bits(lambda: bound(given, U)),
            scale=float(len(M)),
            radius=partial(distance, psd),
            feasibility=feasibility,
            dual={"U": U},
        )

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The certificate of M (d, d) as rational numbers, rounded outward. Raises ValueError for a singular metric.

        dual: the "U" of `certify`. root: R with R R^T near M, if it is known.
        """
        metric, U = definite(M, root), _in_the_box(given, dual)
        low = with_enough_bits(lambda: ends(bound(given, U)))[0]
        high = with_enough_bits(lambda: ends(value(given, metric.V, metric.at)))[1]
        return Exact(low, high, metric.distance, scaled(len(M), 0))

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve the dual by projected Newton steps (logdet_box.py), from the U of `start` if it is given."""
        U = given.start if start is None else _in_the_box(given, start.dual)
        at = Solver(given.rounded, given.lam, U)
        return run(at, partial(self.certify, given), tol, max_iter, callback, "newton", PATIENCE)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"eta": given.eta, "lam": given.lam, "prior": given.prior.tolist(), "pairs": given.stored}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> list[str]:
        M, d = found.metric, len(found.metric)
        said = (
            [f"{d * d - np.count_nonzero(M)} of {d * (d - 1)} entries off the diagonal are 0"]
            if d > 1
            else []
        )
        if given.start.any():
            said.append(
                "S is not positive definite, or nearly singular: with lam = 0 the problem would be unbounded, "
                "or have no solution in double precision"
            )
        return said


METHOD = SDML()
