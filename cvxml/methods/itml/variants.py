"""What implementations of ITML compute instead: the misreadings that `check` can name.

All of them are the problem itself with other inputs, so that a metric is proved to be their answer by the certificate
of the method. Not among them: D_ld(A_0, A) in place of D_ld(A, A_0), which is not convex in A; distances in place of
squared distances inside the constraints, which is not either; and anything done to a random choice of pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.methods.itml.instance import PERCENTILES, Instance, instance, inverse_covariance, squared_distances
from cvxml.metric import FloatArray
from cvxml.symmetric import quadratic
from cvxml.variant import LOOSE, MULTIPLES, Other, Question, Variant

HARD = 1e8  # times gamma: as good as no slack, where no slack is needed
HELD = 1e-6  # relative, by which a metric of hard constraints may miss a bound
Change = Callable[[Instance, Question], dict[str, Any] | None]


def with_params(change: Change) -> Callable[[Question], Other | None]:
    """The same data with some parameters changed, unless the metric is seen at once not to be the answer."""

    def problem(question: Question) -> Other | None:
        changed = change(instance(question.X, question.y, **question.params), question)
        if changed is None:
            return None
        params = {**question.params, **changed}
        there = instance(question.X, question.y, **params)
        return Other(question.X, question.y, params) if stays_at_scale(there, question.metric) else None

    return problem


def stays_at_scale(p: Instance, A: FloatArray) -> bool:
    """False if a multiple of the metric A (d, d) is better by more than `LOOSE`: then it is no optimum."""
    sign, log_det = np.linalg.slogdet(A)
    if sign <= 0:
        return False
    index = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
    x = p.X[index[:, 0]] - p.X[index[:, 1]]
    ratio = quadratic(x, A) / p.xi_0
    similar = np.arange(len(index)) < len(p.pairs.similar)
    trace = float(np.trace(np.linalg.solve(p.prior, A)))
    log_det -= np.linalg.slogdet(p.prior)[1]

    def objective(c: float) -> float:
        r = np.where(similar, np.maximum(c * ratio, 1), np.minimum(c * ratio, 1))
        with np.errstate(all="ignore"):
            slack = float(np.sum(r - np.log(r) - 1))
        return float(c * trace - log_det - len(A) * (1 + np.log(c)) + p.gamma * slack)

    here = objective(1.0)
    return all(objective(c) >= here * (1 - LOOSE) for c in MULTIPLES)


def gamma_times(factor: Callable[[Instance], float]) -> Callable[[Question], Other | None]:
    """Another weight of the slack."""

    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        by = factor(p)
        return {"gamma": p.gamma * by} if by not in (0.0, 1.0) else None

    return with_params(change)


def bounds_by(other: Callable[[float, float], tuple[float, float]]) -> Callable[[Question], Other | None]:
    """Other bounds, made of u and l."""
    return with_params(lambda p, _: {"bounds": other(*p.bounds)})


def percentiles_of(values: Callable[[Instance], FloatArray], at: tuple[float, float] = PERCENTILES) -> Any:
    """Other percentiles, or those of something else, where the bounds were left to be percentiles."""

    def change(p: Instance, question: Question) -> dict[str, Any] | None:
        if question.params.get("bounds") is not None:
            return None
        u, l = np.percentile(values(p), at)  # noqa: E741
        return {"bounds": (float(u), float(l))} if (u, l) != p.bounds else None

    return with_params(change)


def _squared(p: Instance) -> FloatArray:
    return squared_distances(p.X, p.prior)


def _plain(p: Instance) -> FloatArray:
    return np.sqrt(_squared(p))


def _euclidean(p: Instance) -> FloatArray:
    return squared_distances(p.X, np.eye(p.X.shape[1]))


def _whole_matrix(p: Instance) -> FloatArray:
    """All n^2 entries: every distance twice, and n zeros."""
    return np.concatenate([_squared(p), _squared(p), np.zeros(len(p.X))])


def _plain_whole_matrix(p: Instance) -> FloatArray:
    """The same of plain Euclidean distances between distinct points."""
    distances = np.sqrt(squared_distances(np.unique(p.X, axis=0), np.eye(p.X.shape[1])))
    return np.concatenate([distances, distances, np.zeros(len(np.unique(p.X, axis=0)))])


def _hard(p: Instance, question: Question) -> dict[str, Any] | None:
    """Only if the metric keeps all bounds: else it is no answer to that."""
    A, (u, l) = question.metric, p.bounds  # noqa: E741
    similar, dissimilar = (p.X[listed[:, 0]] - p.X[listed[:, 1]] for listed in p.pairs)
    if quadratic(similar, A).max(initial=u) > u * (1 + HELD):
        return None
    if quadratic(dissimilar, A).min(initial=l) < l * (1 - HELD):
        return None
    return {"gamma": p.gamma * HARD}


def _printed(p: Instance, _: Question) -> dict[str, Any] | None:
    u, l = p.bounds  # noqa: E741
    return {"gamma": 1.0, "bounds": (u / p.gamma, l / p.gamma)} if p.gamma != 1 else None


def _identity(p: Instance, _: Question) -> dict[str, Any] | None:
    d = p.X.shape[1]
    return None if np.array_equal(p.prior, np.eye(d)) else {"prior": np.eye(d)}


def _covariance(p: Instance, _: Question) -> dict[str, Any] | None:
    other = inverse_covariance(p.X)
    return None if np.array_equal(p.prior, other) else {"prior": other}


def _inverse(p: Instance, _: Question) -> dict[str, Any] | None:
    other = np.linalg.inv(p.prior)
    return None if np.array_equal(p.prior, other) else {"prior": (other + other.T) / 2}


def _divisor(p: Instance, question: Question) -> dict[str, Any] | None:
    n = len(p.X)
    return {"prior": p.prior * (n / (n - 1))} if question.params.get("prior") == "covariance" else None


def _exchanged(p: Instance, _: Question) -> dict[str, Any]:
    return {"pairs": {"similar": p.pairs.dissimilar.tolist(), "dissimilar": p.pairs.similar.tolist()}}


def _only(kind: str) -> Change:
    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        kept = {k: v if k == kind else [] for k, v in p.pairs.to_dict().items()}
        return {"pairs": kept} if all(len(listed) for listed in p.pairs) else None

    return change


def _pairs(p: Instance) -> int:
    return len(p.pairs.similar) + len(p.pairs.dissimilar)


VARIANTS: dict[str, Variant] = {
    "mean": Variant(
        "the mean of the slack over the pairs where the paper has the sum",
        gamma_times(lambda p: 1 / max(_pairs(p), 1)),
    ),
    "inverse_gamma": Variant(
        "1/gamma times the slack where the paper has gamma", gamma_times(lambda p: p.gamma**-2)
    ),
    "no_gamma": Variant("the slack without gamma", gamma_times(lambda p: 1 / p.gamma)),
    "twice": Variant("2 gamma times the slack: every pair in both orders", gamma_times(lambda p: 2.0)),
    "half": Variant(
        "2 D_ld(A, A_0), or half the slack, where the paper has the sum", gamma_times(lambda p: 0.5)
    ),
    "hard": Variant("hard constraints, without slack", with_params(_hard)),
    "printed": Variant(
        "gamma = 1 with the bounds u/gamma and l/gamma: Algorithm 1 as it is printed", with_params(_printed)
    ),
    "roots": Variant(
        "bounds sqrt(u) and sqrt(l): distances where the paper has squared ones",
        bounds_by(lambda u, l: (u**0.5, l**0.5)),  # noqa: E741
    ),
    "squares": Variant(
        "bounds u^2 and l^2, which are bounds of squared distances already",
        bounds_by(lambda u, l: (u * u, l * l)),  # noqa: E741
    ),
    "exchanged_bounds": Variant("u and l exchanged", bounds_by(lambda u, l: (l, u))),  # noqa: E741
    "exchanged_pairs": Variant("similar and dissimilar pairs exchanged", with_params(_exchanged)),
    "similar_only": Variant("the similar pairs alone", with_params(_only("similar"))),
    "dissimilar_only": Variant("the dissimilar pairs alone", with_params(_only("dissimilar"))),
    "plain_percentiles": Variant(
        "percentiles of distances as bounds of squared distances", percentiles_of(_plain)
    ),
    "whole_matrix": Variant(
        "percentiles over all n^2 squared distances, the zeros of the diagonal among them",
        percentiles_of(_whole_matrix),
    ),
    "plain_whole_matrix": Variant(
        "percentiles over all n^2 Euclidean distances, the zeros of the diagonal among them, as bounds of squared "
        "distances (metric-learn)",
        percentiles_of(_plain_whole_matrix),
    ),
    "euclidean_bounds": Variant(
        "percentiles of Euclidean distances where those under the prior are asked for",
        percentiles_of(_euclidean),
    ),
    "extremes": Variant(
        "the least and the largest squared distance as bounds in place of the 5th and 95th percentile",
        percentiles_of(_squared, (0.0, 100.0)),
    ),
    "tenths": Variant(
        "the 10th and 90th percentile as bounds in place of the 5th and 95th",
        percentiles_of(_squared, (10.0, 90.0)),
    ),
    "identity_prior": Variant("the identity as prior where another was asked for", with_params(_identity)),
    "covariance_prior": Variant(
        "the inverse covariance as prior where another was asked for", with_params(_covariance)
    ),
    "inverse_prior": Variant(
        "A_0^-1 as prior: the covariance in place of its inverse", with_params(_inverse)
    ),
    "divisor": Variant("the covariance with divisor n where it is n - 1", with_params(_divisor)),
}
