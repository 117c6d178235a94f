"""Misreadings of LFDA: problems that implementations solve by mistake, with other embeddings, affinities or scales.

If the user's metric is not optimal, `check` tests if it solves one of them. `MISREADINGS` lists them by name. S_w and
S_b are the local scatter matrices within and between classes; some misreadings have other ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cvxml.core.metric import FloatArray, examine
from cvxml.core.misreading import Misreading, Question, changed
from cvxml.methods.lfda.embedding import axes, eigen, transformation
from cvxml.methods.lfda.instance import USUAL, Instance, instance

Scatters = tuple[FloatArray, FloatArray]


def _left(change: Callable[[Instance], Scatters], sentence: str) -> Misreading:
    """Return the misreading: the problem of LFDA with the matrices S_w and S_b that change(instance) returns.

    The test of the user's metric returns the larger of two numbers. One is the relative gap of the metric in this
    problem. The other is its relative distance from the metric that the embedding chooses for the same range.
    sentence: the text for the report.
    """

    def left(question: Question) -> float:
        given = question.checked(instance)
        S_w, S_b = change(given)
        M = examine(question.metric)[0]
        T = transformation(S_w, S_b, axes(S_w, M, given.r), "plain")
        best = float(eigen(S_w, S_b)[0][::-1][: given.r].sum())
        theirs = transformation(S_w, S_b, T, given.embedding)
        metric = S_w @ theirs @ theirs.T
        error = S_w @ M - metric
        apart = math.sqrt(max(float(np.sum(error * error.T)), 0.0) / float(np.sum(metric * metric.T)))
        return max(1 - float(np.trace(T.T @ S_b @ T)) / best, apart)

    return Misreading(sentence, left=left)


def _with(given: Instance, A: Callable[[FloatArray, int], FloatArray], k: int | None = None) -> Scatters:
    """S_w and S_b (d, d) with other affinities: A(D, K) returns those of a class of n_c points, (n_c, n_c).

    D (n_c, n_c): the squared distances in the class. k: the K, by default that of the user.
    """
    X, y, n = given.X - given.X.mean(axis=0), given.y, len(given.X)
    k = given.k if k is None else k
    S_w, S_b = given.alpha * np.eye(X.shape[1]), X.T @ X
    for c in range(int(y.max()) + 1):
        own = X[y == c]
        n_c, D = len(own), np.sum((own[:, None] - own) ** 2, axis=2)
        W = A(D, min(k, n_c - 1))
        G = own.T @ (W.sum(axis=0)[:, None] * own) - own.T @ W @ own
        inside = own - own.mean(axis=0)
        S_w += G / n_c
        S_b += G * (1 / n - 1 / n_c) - inside.T @ inside * (n_c / n)
        # The pairs of different classes are all pairs minus the pairs within classes.
    return S_w, S_b


def _scaled(D: FloatArray, s: FloatArray) -> FloatArray:
    by = np.outer(s, s)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by > 0, np.exp(-D / by), 0.0)


def _by_rows(D: FloatArray, k: int) -> FloatArray:
    return _scaled(D, np.sqrt(np.sort(D, axis=0)[k]))


def _by_columns(D: FloatArray, k: int) -> FloatArray:
    return _scaled(D, np.sqrt(np.partition(D, k, axis=0)[:, k]))


def _plus(scatters: Scatters, times: float) -> Scatters:
    S_w, S_b = scatters
    return S_w, S_b + times * S_w


def _program(given: Instance) -> Scatters:
    return _plus(_with(given, _by_columns, max(1, min(USUAL, given.X.shape[1] - 1))), 2)


def _fewer(question: Question) -> int | None:
    k = question.checked(instance).k
    few = min(k, np.shape(question.X)[1] - 1)
    return few if 1 <= few < k else None


def _one_less(question: Question) -> int | None:
    return question.checked(instance).k - 1 or None


def _embedding(name: str, sentence: str) -> Misreading:
    return Misreading(
        sentence,
        changed("embedding", lambda q: None if q.params.get("embedding", "weighted") == name else name),
    )


MISREADINGS = {
    "plain": _embedding("plain", "the plain eigenvectors, where another embedding is given"),
    "weighted": _embedding("weighted", "eigenvectors times roots of eigenvalues, where another embedding is given"),
    "orthonormal": _embedding("orthonormal", "an orthonormal basis, where another embedding is given"),
    "added": _left(
        lambda given: _plus(_with(given, _by_rows), 2), "S_w added where the method subtracts it: weights sqrt(l + 2)"
    ),
    "mixture": _left(
        lambda given: _plus(_with(given, _by_rows), 1), "S_w + S_b in place of S_b: weights sqrt(l + 1)"
    ),
    "column": _left(
        lambda given: _with(given, _by_columns),
        "column K of the sorted distances in place of row K, as the points' scales",
    ),
    "program": _left(
        _program, "column K in place of row K of the sorted distances, K = min(7, d - 1), and S_w added (metric-learn)"
    ),
    "global": _left(lambda given: _with(given, lambda D, k: np.ones_like(D)), "all affinities 1: Fisher's analysis"),
    "unsquared": _left(
        lambda given: _with(given, lambda D, k: _scaled(np.sqrt(D), np.sort(D, axis=0)[k] ** 0.25)),
        "exp(-|x_i - x_j| / sqrt(s_i s_j)), distances that are not squared",
    ),
    "squared_scales": _left(
        lambda given: _with(given, lambda D, k: _scaled(D, np.sort(D, axis=0)[k])),
        "squared distances to the K-th nearest as scales",
    ),
    "fewer": Misreading("K = d - 1 neighbours, fewer than asked", changed("n_neighbors", _fewer)),
    "itself": Misreading("the point itself as the first of its K neighbours", changed("n_neighbors", _one_less)),
    "no_alpha": Misreading("S_w without alpha I", changed("alpha", lambda q: 0.0 if q.params.get("alpha") else None)),
}  # fmt: skip
