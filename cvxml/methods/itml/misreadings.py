"""Misreadings of ITML: problems that implementations solve by mistake, with other weights, bounds, priors or pairs.

Each is ITML with other inputs. If the user's metric is not optimal, `check` tests if it solves one of them. A
`Question` is this metric with the data and parameters that it was judged with. `MISREADINGS` lists the problems by
name. A problem is stated by a function that returns a dict of the parameters that differ from the user's. The function
returns None if the misreading does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.misreading import FAR, MULTIPLES, Misreading, OtherProblem, Question, exchanged
from cvxml.core.other_lists import PAIRS
from cvxml.core.prior import inverse_covariance, inverse_of
from cvxml.family.geometry.symmetric import quadratic
from cvxml.methods.itml.instance import PERCENTILES, Instance, instance, squared_distances
from cvxml.methods.itml.percentiles import Numbers, percentiles

HARD = 1e8  # factor of gamma that stands for hard constraints
HELD = 1e-6  # tolerance of the hard constraints, relative to a bound
Change = Callable[[Instance, Question], dict[str, Any] | None]


def _with_params(change: Change) -> Callable[[Question], OtherProblem | None]:
    """Return the misreading with other parameters: change(instance, question) returns their values.

    It does not apply if `change` returns None, or if a multiple of the user's metric is clearly better than this metric
    in the changed problem (`_stays_at_scale`).
    """

    def problem(question: Question) -> OtherProblem | None:
        changed = change(question.checked(instance), question)
        if changed is None:
            return None
        params = {**question.params, **changed}
        there = instance(question.X, question.y, **params)
        return (
            OtherProblem(question.X, question.y, params) if _stays_at_scale(there, question.metric) else None
        )

    return problem


def _stays_at_scale(p: Instance, A: FloatArray) -> bool:
    """True if no multiple of A (d, d) is clearly better than A in the problem p; False if one is, or if A is singular.

    Clearly better means that the objective is lower by more than a tenth. The factors are `MULTIPLES`, from 0.5 to 2.
    """
    sign, log_det = np.linalg.slogdet(A)
    if sign <= 0:
        return False
    ratio = quadratic(np.concatenate([p.similar, p.dissimilar]), A) / p.xi_0
    similar = np.arange(len(ratio)) < len(p.similar)
    trace = float(np.trace(np.linalg.solve(p.prior, A)))
    log_det -= np.linalg.slogdet(p.prior)[1]

    def objective(c: float) -> float:
        r = np.where(similar, np.maximum(c * ratio, 1), np.minimum(c * ratio, 1))
        with np.errstate(all="ignore"):
            slack = float(np.sum(r - np.log(r) - 1))
        return float(c * trace - log_det - len(A) * (1 + np.log(c)) + p.gamma * slack)

    here = objective(1.0)
    return all(objective(c) >= here * (1 - FAR) for c in MULTIPLES)


def _gamma_times(factor: Callable[[Instance], float]) -> Callable[[Question], OtherProblem | None]:
    """Return the misreading with gamma multiplied by factor(instance). It does not apply if the factor is 0 or 1."""

    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        by = factor(p)
        return {"gamma": p.gamma * by} if by not in (0.0, 1.0) else None

    return _with_params(change)


def _bounds_by(
    other: Callable[[float, float], tuple[float, float]],
) -> Callable[[Question], OtherProblem | None]:
    return _with_params(lambda p, _: {"bounds": other(*p.bounds)})


def _percentiles_of(values: Callable[[Instance], Numbers], at: tuple[float, float] = PERCENTILES) -> Any:
    """Return the misreading in which u and l are the percentiles `at` of the numbers values(instance).

    It does not apply if the user gave bounds.
    """

    def change(p: Instance, question: Question) -> dict[str, Any] | None:
        if question.params.get("bounds") is not None:
            return None
        u, l = percentiles(values(p), at)
        return {"bounds": (u, l)} if (u, l) != p.bounds else None

    return _with_params(change)


def _squared(p: Instance) -> Numbers:
    return squared_distances(p.X, p.prior)


def _euclidean(p: Instance) -> Numbers:
    return squared_distances(p.X, np.eye(p.X.shape[1]))


def _roots(numbers: Numbers) -> Numbers:
    return Numbers(lambda: map(np.sqrt, numbers.rows()), numbers.total)


def _whole(numbers: Numbers, n: int) -> Numbers:
    """The n^2 entries of the distance matrix of n points: the distance of each pair twice, and n zeros.

    numbers: the distances of the pairs i < j.
    """
    return Numbers(lambda: chain(numbers.rows(), numbers.rows(), [np.zeros(n)]), 2 * numbers.total + n)


def _plain(p: Instance) -> Numbers:
    return _roots(_squared(p))


def _whole_matrix(p: Instance) -> Numbers:
    """The entries (n, n) of the matrix of squared distances under the prior, zeros on the diagonal included."""
    return _whole(_squared(p), len(p.X))


def _plain_whole_matrix(p: Instance) -> Numbers:
    """The entries of the matrix of Euclidean distances, not squared, of the distinct points; zeros included."""
    X = np.unique(p.X, axis=0)
    return _whole(_roots(squared_distances(X, np.eye(X.shape[1]))), len(X))


def _hard(p: Instance, question: Question) -> dict[str, Any] | None:
    """The dict {"gamma": 1e8 times gamma}, for nearly hard constraints; None if the user's metric violates a bound.

    A violation of at most 1e-6 (`HELD`) of the bound is allowed.
    """
    A, (u, l) = question.metric, p.bounds
    if quadratic(p.similar, A).max(initial=u) > u * (1 + HELD):
        return None
    if quadratic(p.dissimilar, A).min(initial=l) < l * (1 - HELD):
        return None
    return {"gamma": p.gamma * HARD}


def _printed(p: Instance, _: Question) -> dict[str, Any] | None:
    u, l = p.bounds
    return {"gamma": 1.0, "bounds": (u / p.gamma, l / p.gamma)} if p.gamma != 1 else None


def _identity(p: Instance, _: Question) -> dict[str, Any] | None:
    d = p.X.shape[1]
    return None if np.array_equal(p.prior, np.eye(d)) else {"prior": np.eye(d)}


def _covariance(p: Instance, _: Question) -> dict[str, Any] | None:
    other = inverse_covariance(p.X)
    return None if np.array_equal(p.prior, other) else {"prior": other}


def _inverse(p: Instance, _: Question) -> dict[str, Any] | None:
    other = inverse_of(p.prior)
    return None if np.array_equal(p.prior, other) else {"prior": other}


def _divisor(p: Instance, question: Question) -> dict[str, Any] | None:
    n = len(p.X)
    return {"prior": p.prior * (n / (n - 1))} if question.params.get("prior") == "covariance" else None


def _exchanged(p: Instance, _: Question) -> dict[str, Any]:
    return {"pairs": exchanged(p.pairs).to_dict()}


def _only(kind: str) -> Change:
    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        kept = {k: v if k == kind else [] for k, v in p.pairs.to_dict().items()}
        return {"pairs": kept} if all(len(listed) for listed in p.pairs) else None

    return change


def _pairs(p: Instance) -> int:
    return len(p.pairs.similar) + len(p.pairs.dissimilar)


# Problems that implementations of ITML solve by mistake. Each is the same problem with other inputs, so the certificate
# of the method also proves that a metric is the solution of the other problem.
# Not recognised: D_ld(A_0, A) in place of D_ld(A, A_0), and distances in place of squared distances inside the
# constraints, because these problems are not convex in A; and a random choice of pairs.
MISREADINGS: dict[str, Misreading] = {
    "mean": Misreading(
        "the mean of the slack over the pairs where the paper has the sum",
        _gamma_times(lambda p: 1 / max(_pairs(p), 1)),
    ),
    "inverse_gamma": Misreading(
        "1/gamma times the slack where the paper has gamma", _gamma_times(lambda p: p.gamma**-2)
    ),
    "no_gamma": Misreading("the slack without gamma", _gamma_times(lambda p: 1 / p.gamma)),
    "twice": Misreading(
        "2 gamma times the slack: every pair counted in both orders", _gamma_times(lambda p: 2.0)
    ),
    "half": Misreading(
        "2 D_ld(A, A_0), or half the slack, where the paper has the sum", _gamma_times(lambda p: 0.5)
    ),
    "hard": Misreading("hard constraints, without slack", _with_params(_hard)),
    "printed": Misreading(
        "gamma = 1 with the bounds u/gamma and l/gamma: Algorithm 1 as quoted in other papers",
        _with_params(_printed),
    ),
    "roots": Misreading(
        "bounds sqrt(u) and sqrt(l): distances where the paper has squared ones",
        _bounds_by(lambda u, l: (u**0.5, l**0.5)),
    ),
    "squares": Misreading(
        "bounds u^2 and l^2, although u and l already bound squared distances",
        _bounds_by(lambda u, l: (u * u, l * l)),
    ),
    "exchanged_bounds": Misreading("u and l exchanged", _bounds_by(lambda u, l: (l, u))),
    "exchanged_pairs": Misreading("similar and dissimilar pairs exchanged", _with_params(_exchanged)),
    "similar_only": Misreading("only the similar pairs", _with_params(_only("similar"))),
    "dissimilar_only": Misreading("only the dissimilar pairs", _with_params(_only("dissimilar"))),
    "plain_percentiles": Misreading(
        "percentiles of distances as bounds of squared distances", _percentiles_of(_plain)
    ),
    "whole_matrix": Misreading(
        "percentiles over all n^2 squared distances, the zeros of the diagonal among them",
        _percentiles_of(_whole_matrix),
    ),
    "plain_whole_matrix": Misreading(
        "percentiles over all n^2 Euclidean distances, the zeros of the diagonal among them, as bounds of squared "
        "distances (metric-learn)",
        _percentiles_of(_plain_whole_matrix),
    ),
    "euclidean_bounds": Misreading(
        "percentiles of Euclidean distances where the method takes distances under the prior",
        _percentiles_of(_euclidean),
    ),
    "extremes": Misreading(
        "the least and the largest squared distance as bounds in place of the 5th and 95th percentile",
        _percentiles_of(_squared, (0.0, 100.0)),
    ),
    "tenths": Misreading(
        "the 10th and 90th percentile as bounds in place of the 5th and 95th",
        _percentiles_of(_squared, (10.0, 90.0)),
    ),
    "identity_prior": Misreading(
        "the identity as prior in place of the given prior", _with_params(_identity)
    ),
    "covariance_prior": Misreading(
        "the inverse covariance as prior in place of the given prior", _with_params(_covariance)
    ),
    "inverse_prior": Misreading(
        "A_0^-1 as prior: the covariance in place of its inverse", _with_params(_inverse)
    ),
    "divisor": Misreading("the covariance with divisor n where the method has n - 1", _with_params(_divisor)),
    **PAIRS,
}
