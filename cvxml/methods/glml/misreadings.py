"""The mistakes of GLML implementations that `check` can name, called misreadings. Each is problem (11) with another B.

Problem (11) is to minimise (tr A^-1 B)^2 over the metrics A of determinant 1.
B = sum_{i<j} p_i p_j (p_j - p_i) (G_i - G_j) at a query, with the densities p_i and curvatures G_i of the classes (14).
The other B comes from other densities, other curvatures, or another sum over pairs. A function of type `Misread`
returns this B, of norm 1, with its rounding error. A `Question` holds the metric A that `check` refuted, with its data
and parameters. A mistake may explain A if the relative gap of A in the other problem is small. `left` returns this gap.
It depends on the case of the other B. Let M = A^-1, of determinant 1, and ||B|| = 1.

definite B    The unique optimum is proportional to B or -B. `left` returns the relative gap of (11) with this B.
indefinite B  The paper chooses one of many optima, its closed form E. `left` returns the relative gap of (11) with E in
              place of B. It is 0 only for A proportional to E. A may also be another optimum. So if the cosine
              |tr M B| / ||M|| is at most `VANISHES`, the smaller of gap and cosine is returned. A metric unrelated to B
              passes a looser test by chance, so `VANISHES` does not depend on the tolerance.
singular B    `left` returns the relative gap of (11) with the closed form E in place of B.
zero B        Every metric is optimal, so no mistake is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, middle, unit_scale
from cvxml.core.misreading import Misreading, Question
from cvxml.methods.glml.certify import best_dual, certify_at
from cvxml.methods.glml.instance import LEAST_RATIO, Generative, Instance, check_priors, instance
from cvxml.methods.glml.solver import Case, closed_form, curvature, normalised, weighted

VANISHES = 1e-6
MOST_CLASSES = 8  # with more classes, pairs of classes are not tried

Pair = tuple[FloatArray, FloatArray]  # B (1, d, d) of norm 1, and its rounding error (1,)
Misread = Callable[[Question, Instance], Pair | None]  # None if the mistake cannot occur


def left(question: Question, misread: Misread) -> float:
    """Return the relative gap of the metric that `check` refuted, in the problem with the B of `misread`.

    The rounding error of the gap is subtracted. The result is inf if the mistake cannot occur, or if the B of `misread`
    is 0, so that every metric is optimal. It is also inf if the metric is infeasible, or if double precision cannot
    decide.
    """
    found = misread(question, question.checked(instance))
    if found is None:
        return math.inf
    B, noise = found[0][0], float(found[1][0])
    local = closed_form(found[0], found[1])
    case = local.cases[0]
    if case is Case.ZERO:
        return math.inf
    E = B if case is Case.DEFINITE else local.A[0] / np.linalg.norm(local.A[0])
    gap = _relative_gap(E, question, noise)
    if case is Case.INDEFINITE and (cosine := _relative_gap(B, question, noise)) <= VANISHES:
        return min(gap, cosine)
    return gap


def _relative_gap(B: FloatArray, question: Question, noise: float) -> float:
    """Return the relative gap of the metric that `check` refuted, for this B (d, d). The rounding error is subtracted.

    inf if the metric is not feasible, or if double precision cannot decide. noise: a bound of the error of B, entry by
    entry.
    """
    y, u = best_dual(B, noise)
    proof = certify_at(B, question.metric, y, u, noise)
    if not (proof.feasibility.feasible and proof.decides(question.tol) and proof.scale > 0):
        return math.inf
    return max(proof.gap - proof.rounding, 0.0) / proof.scale


# other densities and curvatures


@dataclass(frozen=True, eq=False)
class Gaussians:
    """A Gaussian for each class, with terms left out by mistake. Its fields are in the coordinates (x - origin) / unit.

    means (C, d), precisions S (C, d, d), log_priors (C,), origin (C, d): for each class. pull: True if the curvature
    has the term S (x - mu)(x - mu)^T S. push: True if it has the term -S. factor: True if the density has the factor
    |S|^(1/2).
    """

    means: FloatArray  # (C, d)
    precisions: FloatArray  # (C, d, d)
    log_priors: FloatArray  # (C,)
    unit: float
    origin: FloatArray  # (C, d)
    pull: bool = True  # the term S (x - mu)(x - mu)^T S is included
    push: bool = True  # the term -S is included
    factor: bool = True  # the factor |S|^(1/2) of the density is included

    def log_densities(self, Q: FloatArray) -> FloatArray:
        z = (Q[:, None] - self.origin) / self.unit - self.means
        squares = np.einsum("qcd,cde,qce->qc", z, self.precisions, z)
        log_det: FloatArray = np.linalg.slogdet(self.precisions)[1]
        logs: FloatArray = self.log_priors - squares / 2 + self.factor * log_det / 2
        return logs

    def curvatures(self, Q: FloatArray) -> FloatArray:
        """The curvatures G_c(x) without the terms left out, times unit^2, (q, C, d, d). Q (q, d): the queries."""
        z = (Q[:, None] - self.origin) / self.unit - self.means
        pulls = np.einsum("cde,qce->qcd", self.precisions, z)
        outer = pulls[:, :, :, None] * pulls[:, :, None, :]
        G: FloatArray = self.pull * outer - self.push * self.precisions
        return G


Covariance = Callable[[FloatArray, int, float], FloatArray]  # (Sigma by 1/n, n, alpha) -> Sigma


def _printed(Sigma: FloatArray, _: int, alpha: float) -> FloatArray:
    return Sigma + alpha * np.eye(len(Sigma))


def _unbiased(Sigma: FloatArray, n: int, alpha: float) -> FloatArray:
    return _printed(Sigma * n / (n - 1), n, alpha)


def _relative(Sigma: FloatArray, n: int, alpha: float) -> FloatArray:
    return _printed(Sigma, n, alpha * float(np.mean(np.diag(Sigma))))


def _shrunk(Sigma: FloatArray, n: int, alpha: float) -> FloatArray:
    return _relative(Sigma, n, alpha) - alpha * Sigma


def _gaussians(
    p: Instance, covariance: Covariance = _printed, shrinks: bool = False, **left_out: bool
) -> Gaussians | None:
    """Return the Gaussians with other covariances or without a term; None if the model is not "gaussian".

    covariance: (Sigma, n, alpha) -> the other covariance of a class of n points. shrinks: True if `covariance` takes
    alpha as a share of the variances.

    left_out: pull, push or factor as False, if the curvature or the density lacks this term. Raises ValueError for a
    singular covariance.
    """
    if p.params["model"] != "gaussian":
        return None
    unit, alpha, d = unit_scale(p.X), p.params["alpha"], p.X.shape[1]
    alpha = alpha if shrinks else alpha / unit**2
    C = int(p.y.max()) + 1
    means, precisions, origin = [], [], []
    for c in range(C):
        origin.append(middle(p.X[p.y == c]))
        points = (p.X[p.y == c] - origin[-1]) / unit
        Sigma = covariance(np.cov(points.T, bias=True).reshape(d, d), len(points), alpha)
        values = np.linalg.eigvalsh(Sigma)
        if values[0] <= LEAST_RATIO * d * values[-1]:
            raise ValueError("the covariance of a class is singular in the misread problem")
        means.append(points.mean(axis=0))
        precisions.append(np.linalg.inv(Sigma))
    shares = check_priors(p.params["priors"], p.y, C)
    log_priors = np.zeros(C) if shares is None else np.log(shares)
    return Gaussians(np.array(means), np.array(precisions), log_priors, unit, np.array(origin), **left_out)


def _of_model(model: Generative | None, Q: FloatArray) -> Pair | None:
    if model is None:
        return None
    found = curvature(model, Q)
    return found.B, found.noise


def _gaussian(**how: Any) -> Misread:
    return lambda _, p: _of_model(_gaussians(p, **how), p.Q)


def _with_alpha(covariance: Covariance) -> Misread:
    """Return the misreading in which `covariance` adds alpha to Sigma in another way. It does not apply if alpha is 0.

    covariance: (Sigma, n, alpha) -> the other covariance of a class of n points. `_shrunk` also needs alpha <= 1.
    """

    def misread(_: Question, p: Instance) -> Pair | None:
        if p.params["alpha"] == 0 or (covariance is _shrunk and p.params["alpha"] > 1):
            return None
        return _of_model(_gaussians(p, covariance, shrinks=True), p.Q)

    return misread


def _with(**changes: Any) -> Misread:
    def misread(question: Question, p: Instance) -> Pair | None:
        if not isinstance(p.params["model"], str) or all(p.params[name] == v for name, v in changes.items()):
            return None
        other = instance(question.X, question.y, **{**question.params, **changes})
        return _of_model(other.model, other.Q)

    return misread


def _without_priors(question: Question, p: Instance) -> Pair | None:
    return None if p.params["priors"] is None else _with(priors=None)(question, p)


def _empirical(question: Question, p: Instance) -> Pair | None:
    return None if p.params["priors"] is not None else _with(priors="empirical")(question, p)


def _at_the_mean(_: Question, p: Instance) -> Pair | None:
    mean = p.X.mean(axis=0)[None]
    return None if np.array_equal(mean, p.Q) else _of_model(p.model, mean)


# other sums


def _log_densities(p: Instance) -> FloatArray:
    """log(prior_c p_c) (C,) at the first query, shifted by a constant so that the largest is 0."""
    logs = p.model.log_densities(p.Q)[0]
    shifted: FloatArray = logs - logs.max()
    return shifted


def _summed(weight: Callable[[float, float], float], without: tuple[int, int] | None = None) -> Misread:
    """Return the misreading B = sum_{i<j} weight(p_i, p_j) (G_i - G_j), for three or more classes.

    p_i: the densities with priors at the first query, divided by the largest of them. The misreading does not apply if
    all sums of weights underflow. without: a pair of classes to leave out.
    """

    def misread(_: Question, p: Instance) -> Pair | None:
        densities = np.exp(_log_densities(p)).tolist()
        C = len(densities)
        if C < 3:
            return None
        a = np.zeros((1, C))
        for i in range(C):
            for j in range(i + 1, C):
                if (i, j) == without:
                    continue
                a[0, i] += weight(densities[i], densities[j])
                a[0, j] -= weight(densities[i], densities[j])
        if not np.abs(a).max() > 1e-200:  # underflow
            return None
        return normalised(*weighted(p.model, p.Q, a / np.abs(a).max()))[:2]

    return misread


def _left_without_two(question: Question) -> float:
    """Return the smallest relative gap of the metric over the problems that leave one pair of classes out of (14).

    inf if there are fewer than three or more than `MOST_CLASSES` (8) classes.
    """
    C = int(question.checked(instance).y.max()) + 1
    if not 2 < C <= MOST_CLASSES:
        return math.inf
    by_paper = [_summed(lambda a, b: a * b * (b - a), without) for without in combinations(range(C), 2)]
    return min(left(question, misread) for misread in by_paper)


def _no_counts(_: Question, p: Instance) -> Pair | None:
    """|B| of norm 1 and its rounding error, for the mistake A = |B| at an indefinite B; None if B is not indefinite.

    The eigenvalues of |B| are the absolute values of those of B. The closed form of the paper multiplies them by d+ or
    d-, the numbers of positive and of negative eigenvalues. If d+ = d-, it is A = |B|, too.
    """
    found = curvature(p.model, p.Q)
    if closed_form(found.B, found.noise).cases[0] is not Case.INDEFINITE:
        return None
    values, vectors = np.linalg.eigh(found.B[0])
    B: FloatArray = (vectors * np.abs(values)) @ vectors.T
    return B[None] / np.linalg.norm(B), found.noise


def _misreading(sentence: str, misread: Misread) -> Misreading:
    return Misreading(sentence, left=partial(left, misread=misread))


MISREADINGS: dict[str, Misreading] = {
    "unbiased": _misreading(
        "covariances by 1/(n_c - 1) where the paper has 1/n_c", _gaussian(covariance=_unbiased)
    ),
    "empirical": _misreading(
        "priors by the sizes of the classes where equal priors are requested", _empirical
    ),
    "equal": _misreading("equal priors where others are requested", _without_priors),
    "no_alpha": _misreading("alpha left out", _with(alpha=0.0)),
    "relative_alpha": _misreading(
        "alpha times the mean variance of the class added to its covariance, where alpha is added",
        _with_alpha(_relative),
    ),
    "shrinkage": _misreading(
        "(1 - alpha) Sigma + alpha times the mean variance where the method has Sigma + alpha I",
        _with_alpha(_shrunk),
    ),
    "no_weights": _misreading(
        "sum_{i<j} (G_i - G_j) where (14) weighs the pairs by p_i p_j (p_j - p_i)", _summed(lambda a, b: 1.0)
    ),
    "no_difference": _misreading(
        "pairs weighted by p_i p_j where (14) has p_i p_j (p_j - p_i)", _summed(lambda a, b: a * b)
    ),
    "difference_only": _misreading(
        "pairs weighted by p_j - p_i where (14) has p_i p_j (p_j - p_i)", _summed(lambda a, b: b - a)
    ),
    "no_sign": _misreading(
        "pairs weighted by p_i p_j |p_j - p_i| where (14) has p_i p_j (p_j - p_i)",
        _summed(lambda a, b: a * b * abs(b - a)),
    ),
    "class_pair": Misreading("one pair of classes left out of the sum (14)", left=_left_without_two),
    "no_pull": _misreading("the term with the mean left out of (15): G = -S", _gaussian(pull=False)),
    "no_push": _misreading("the term -S left out of (15): G = S (x - mu)(x - mu)^T S", _gaussian(push=False)),
    "no_factor": _misreading("densities without their factor |Sigma|^(-1/2)", _gaussian(factor=False)),
    "no_counts": _misreading(
        "A = |B|: d+ and d- left out of the closed form for an indefinite B", _no_counts
    ),
    "mean": _misreading("a query at the mean of X, the same metric everywhere", _at_the_mean),
}
