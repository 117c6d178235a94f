"""What implementations of MMC compute instead: the misreadings that `check` can name, for a full and a diagonal metric.

A multiple of the solution is judged as the solution once it is scaled back; the sentence says where it comes from.
Other budgets and other pairs are the same problem with other differences E and S, solved and proved by its own means.
Two are other problems over the same budget, with bounds of their own, C(c) = sum c X relative to S:
    squared   max sum_t D_t:       the largest eigenvalue of C(1) (Fisher's discriminant): the optimum has rank one
    log       max sum_t log D_t:   for any c > 0 at most  q log(mu / q) - sum log c,  mu the largest eigenvalue of C(c)
Not named: plain distances in the budget. Then the set of metrics allowed is not convex, and no bound is at hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from cvxml.budget import budget
from cvxml.methods.mmc.certify import Bound, Task, bound_diagonal, bound_full, certify
from cvxml.methods.mmc.fast import fast
from cvxml.methods.mmc.instance import Instance, instance
from cvxml.metric import FloatArray, examine
from cvxml.pairs import pairs_of
from cvxml.symmetric import quadratic
from cvxml.variant import LOOSE, Other, Question, Variant

UNIQUE = 1e-3  # what the second eigenvalue must be below the first, relatively
NOT_BY_LUCK = 1e-6  # what a metric may leave where it need not be the only one


def _given(question: Question, diagonal: bool) -> Instance:
    return instance(question.X, question.y, diagonal=diagonal, **question.params)


def _multiple(
    sentence: str, factor: Callable[[Instance, FloatArray], float | None]
) -> Callable[[bool], Variant]:
    """The solution but for a factor: `factor` of the metric would be it, None where it would not."""

    def problem(question: Question, diagonal: bool) -> Other | None:
        by = factor(_given(question, diagonal), question.metric)
        if by is None or not 0 < by < math.inf:
            return None
        return Other(question.X, question.y, question.params, metric=by * question.metric)

    return lambda diagonal: Variant(sentence, problem=partial(problem, diagonal=diagonal))


def _of_the_mean(given: Instance, _: FloatArray) -> float:
    return 1 / len(given.similar)


def _of_the_identity(given: Instance, _: FloatArray, share: float) -> float:
    """One over a share of what the identity spends."""
    return 1 / (share * float(np.sum(given.similar**2)))


def _of_the_reverse(given: Instance, A: FloatArray) -> float | None:
    distances = float(np.sum(np.sqrt(np.maximum(quadratic(given.dissimilar, A), 0.0))))
    return 1 / float(np.sum(quadratic(given.similar, A))) if abs(distances - 1) <= LOOSE else None


def _exchanged(question: Question) -> Other:
    pairs = pairs_of(question.params.get("pairs"), question.y, len(np.asarray(question.X)))[0]
    roles = {"similar": pairs.dissimilar.tolist(), "dissimilar": pairs.similar.tolist()}
    return Other(question.X, question.y, {**question.params, "pairs": roles})


def _left(sentence: str, task: Callable[[Instance], Task]) -> Callable[[bool], Variant]:
    """MMC with other differences: what the metric leaves to gain there, relative to its objective."""

    def left(question: Question, diagonal: bool) -> float:
        p = task(_given(question, diagonal))
        prove = partial(certify, p, radius=False)
        found = fast(p.E, p.similar, p.diagonal, prove, question.tol / 10, 200)
        proof = prove(question.metric, found.dual)
        if not (proof.feasibility.feasible and proof.scale > 0 and proof.decides(question.tol)):
            return math.inf
        return max(0.0, proof.gap - proof.rounding) / proof.scale

    return lambda diagonal: Variant(sentence, left=partial(left, diagonal=diagonal))


def _with_similar(given: Instance) -> Task:
    return Task(np.vstack([given.dissimilar, given.similar]), given.similar, given.diagonal, given.rank)


def _with_trace(given: Instance) -> Task:
    d = given.X.shape[1]
    return Task(given.dissimilar, np.eye(d), given.diagonal, d)


def _bound(given: Instance, c: FloatArray) -> Bound:
    differ, S = given.dissimilar.any(axis=1), given.similar
    E, c = given.dissimilar[differ], c[differ]
    return bound_diagonal(E, S, c) if given.diagonal else bound_full(E, budget(S, given.rank), c)


def _mu(given: Instance, c: FloatArray) -> float:
    """The largest eigenvalue of C(c) relative to S, from the bound sqrt(mu sum 1/c); inf where nothing is proved."""
    differ = given.dissimilar.any(axis=1)
    return _bound(given, c).value ** 2 / float(np.sum(1 / c[differ]))


def _within(given: Instance, A: FloatArray) -> float | None:
    """The share of the budget that A spends; None for what is no metric within it."""
    spent = float(np.sum(quadratic(given.similar, A)))
    off = float(np.abs(A - np.diag(np.diag(A))).max()) if given.diagonal else 0.0
    feasible = examine(A)[1].feasible and off <= NOT_BY_LUCK * np.abs(A).max()
    return spent if feasible and 0 < spent <= 1 + NOT_BY_LUCK else None


def _squared(question: Question, diagonal: bool) -> float:
    """What sum D may still gain, relative to its largest."""
    given = _given(question, diagonal)
    spent = _within(given, question.metric)
    if spent is None:
        return math.inf
    E = given.dissimilar
    mu = _mu(given, np.ones(len(E)))
    share = 1 - float(np.sum(quadratic(E, question.metric))) / max(1.0, spent) / mu
    # a metric that takes as much from another direction, orthogonal for S, is another optimum
    return share if share <= NOT_BY_LUCK or _simple(given, mu) else math.inf


def _simple(given: Instance, mu: float) -> bool:
    """True if one direction alone has the largest eigenvalue mu of C(1)."""
    C, S = given.dissimilar.T @ given.dissimilar, given.similar.T @ given.similar
    relative = np.diag(C)[np.diag(S) > 0] / np.diag(S)[np.diag(S) > 0]
    if not given.diagonal:
        relative = np.sort(np.linalg.eigvals(np.linalg.pinv(S, hermitian=True) @ C).real)
    return int(np.count_nonzero(relative > (1 - UNIQUE) * mu)) == 1


def _log(question: Question, diagonal: bool) -> float:
    """What sum log D may still gain, relative to the number of pairs: so much a factor of the metric changes it."""
    given = _given(question, diagonal)
    spent = _within(given, question.metric)
    D = quadratic(given.dissimilar, question.metric)
    if spent is None or not D.min() > 0:
        return math.inf
    return math.log(_mu(given, 1 / D) / len(D))


def _other(question: Question, method: str) -> Other:
    return Other(question.X, question.y, dict(question.params), method=method)


def variants(diagonal: bool) -> dict[str, Variant]:
    """Those of one of the two methods."""
    other = (
        Variant("a full A where A must be diagonal", partial(_other, method="mmc"))
        if diagonal
        else Variant("a diagonal A where A may be any psd matrix", partial(_other, method="mmc:diagonal"))
    )
    return {
        "squared": Variant(
            "sum D over dissimilar pairs, squared distances, where the paper has sum sqrt(D)",
            left=partial(_squared, diagonal=diagonal),
        ),
        "log": Variant(
            "sum log D over dissimilar pairs, the product of the distances, where the paper has sum sqrt(D)",
            left=partial(_log, diagonal=diagonal),
        ),
        "exchanged": Variant("the roles of similar and dissimilar pairs exchanged", _exchanged),
        "all_pairs": _left(
            "a sum of distances over all pairs where the paper has the dissimilar ones", _with_similar
        )(diagonal),
        "trace": _left("the budget trace A <= 1 where the paper has the sum over similar pairs", _with_trace)(
            diagonal
        ),
        "half": _multiple(
            "a budget of 1/2: the minimiser of sum_similar D - log sum_dissimilar sqrt(D), the paper's own objective "
            "for a diagonal A, is half the solution; so it is where each similar pair is counted twice",
            lambda given, A: 2.0,
        )(diagonal),
        "mean": _multiple("a mean over the similar pairs where the paper has their sum", _of_the_mean)(
            diagonal
        ),
        "hundredth": _multiple(
            "the budget sum_similar |x_i - x_j|^2 / 100, a hundredth of what a program spends that starts from the "
            "identity, where the paper has 1",
            partial(_of_the_identity, share=1e-2),
        )(diagonal),
        "thousandth": _multiple(
            "the budget sum_similar |x_i - x_j|^2 / 1000, as the authors' program has it, which starts from 0.1 times "
            "the identity, where the paper has 1",
            partial(_of_the_identity, share=1e-3),
        )(diagonal),
        "reverse": _multiple(
            "equations (3) to (5), the least sum over similar pairs with a sum of distances of at least 1, which is "
            "the same but for a factor",
            _of_the_reverse,
        )(diagonal),
        "other": other,
    }
