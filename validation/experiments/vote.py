"""The error of kNN on a test part, by each of the rules for a tie of votes that the paper leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest, majority
from validation.experiments.splits import Split

# "with ties resolved by a heuristic, e.g., according to 1NN vote" (section 3). The sum of squared distances is the
# rule that gives the paper's Euclidean row on isolet.
RULES = ("nearest", "sum")


def wrong_of(
    part: Split, ks: tuple[int, ...], components: FloatArray | None = None
) -> dict[str, dict[str, list[int]]]:
    """rule -> k -> the rows of the test part that kNN gets wrong after x -> L x, the components L (m, d)."""
    codes, classes, near, D = neighbours(part, max(ks), components)
    found: dict[str, dict[str, list[int]]] = {rule: {} for rule in RULES}
    for k in ks:
        labels = codes[near[:, :k]]
        winners = {
            "nearest": majority(labels, len(classes)),
            "sum": least_sum(labels, D[:, :k], len(classes)),
        }
        for rule, winner in winners.items():
            found[rule][str(k)] = np.flatnonzero(classes[winner] != part.y_test).tolist()
    return found


def error_of(part: Split, k: int, components: FloatArray | None = None, rule: str = "nearest") -> float:
    """The share of the test part that kNN gets wrong after x -> L x."""
    return len(wrong_of(part, (k,), components)[rule][str(k)]) / len(part.y_test)


def facts_of(
    part: Split, ks: tuple[int, ...], rule: str, components: FloatArray | None = None
) -> dict[str, Any]:
    """What is kept of a metric: errors and wrong rows for each k by one rule, errors by the other rule."""
    wrong = wrong_of(part, ks, components)
    errors = {
        each: {k: len(rows) / len(part.y_test) for k, rows in found.items()} for each, found in wrong.items()
    }
    (other,) = set(RULES) - {rule}
    return {"errors": errors[rule], "other_ties": errors[other], "wrong": wrong[rule]}


def neighbours(
    part: Split, k: int, components: FloatArray | None
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Codes and classes of the training part; the k nearest of each test point (q, k), and their squared distances."""
    X, X_test = part.X, part.X_test
    if components is not None:
        X, X_test = X @ components.T, X_test @ components.T
    classes, codes = np.unique(part.y, return_inverse=True)
    rows = np.arange(len(X), len(X) + len(X_test))
    near = k_nearest(np.concatenate([X, X_test]), rows, np.arange(len(X)), k)[0]
    D = np.stack([np.sum((X_test - X[column]) ** 2, axis=1) for column in near.T], axis=1)
    return codes, classes, near, D


def least_sum(labels: IntArray, D: FloatArray, n_classes: int) -> IntArray:
    """Of the classes with most votes among `labels` (q, k) that with the least sum of squared distances D (q, k)."""
    own = labels[:, :, None] == np.arange(n_classes)
    votes = own.sum(axis=1)
    sums = np.where(votes == votes.max(axis=1, keepdims=True), (own * D[:, :, None]).sum(axis=1), np.inf)
    winner: IntArray = sums.argmin(axis=1)
    return winner
