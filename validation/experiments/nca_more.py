"""What the note on NCA says beyond its figures: f and g alike, no overfitting, no harm in more points; MMC and RCA.

Each is a method of its own on the splits of the experiment. With g the number of neighbours that its scale suggests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import entr, softmax
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.splits import Split, shuffled
from validation.experiments.tasks import Result

STEPS = (1, 3, 10, 30, 100)  # at which an early end is tried
SHARES = {"an eighth": 1 / 8, "a quarter": 1 / 4, "half": 1 / 2}  # of the training part
SIZE = 5  # of a chunklet
KS = (1, 3, 5, 7, 9, 11, 15, 21, 31)  # numbers of neighbours beside the one that the scale of A suggests
START = "auto"  # of every NCA here: what differs is not the start
Accuracy = Callable[[Any, Split], Result]
MORE = (
    "g",
    "g 2",
    "stopped",
    "stopped 2",
    "MMC",
    "chunklets",
    *SHARES,
    *(f"Euclid {share}" for share in SHARES),
)


def measured(method: str, part: Split, split: int, accuracy: Accuracy) -> Result:
    """The accuracy of one of MORE, by the `accuracy` of the experiment, and what was found on the way."""
    rank = 2 if method.endswith(" 2") else None
    share = SHARES.get(method.removeprefix("Euclid "))
    if share is not None:
        part = fewer(part, share, split)
        learner = cvxml.Euclidean() if method.startswith("Euclid") else cvxml.NCA(rank, init=START)
        return {**accuracy(learner.fit(part.X, part.y), part), "points": len(part.X)}
    if method.startswith("stopped"):
        steps = best_steps(part, rank, split)
        learner = cvxml.NCA(rank, init=START, **({"max_iter": steps} if steps else {}))
        return {**accuracy(learner.fit(part.X, part.y), part), "steps": steps}
    if method == "chunklets":
        inside = within(part, part.X - part.X.mean(axis=0))
        learner = cvxml.RCA().fit(inside.X, chunklets=dealt(part.y, split))
        return {**accuracy(learner, inside), "proved": bool(learner.certificate_.proves(learner.tol))}
    if method == "MMC":
        return of_mmc(part, accuracy)
    learner = cvxml.NCA(rank, criterion="g", init=START).fit(part.X, part.y)
    return {
        **accuracy(learner, part),
        "status": learner.solution_.status.name,
        **by_neighbours(learner, part),
    }


def by_neighbours(learner: cvxml.NCA, part: Split) -> Result:
    """The accuracy on the test part of kNN for several k, and for the k that the scale of A suggests.

    That is how many neighbours p_i spreads over, e to its entropy, the median over the training points.
    """
    points, queries = learner.transform(part.X), learner.transform(part.X_test)
    away = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(away, np.inf)
    suggested = round(float(np.median(np.exp(entr(softmax(-away, axis=1)).sum(axis=1)))))
    rule = KNeighborsClassifier(algorithm="kd_tree").fit(points, part.y)
    at = {k: float(rule.set_params(n_neighbors=k).score(queries, part.y_test)) for k in {*KS, suggested}}
    return {"suggested": suggested, "at_suggested": at[suggested], "at": {str(k): at[k] for k in KS}}


def fewer(part: Split, share: float, seed: int) -> Split:
    """A share of the training points, the first of a random order of each class, at least two of each."""
    order = np.random.RandomState(seed).permutation(len(part.y))
    rows = [order[part.y[order] == c] for c in np.unique(part.y)]
    chosen = np.concatenate([each[: max(2, round(share * len(each)))] for each in rows])
    return part._replace(X=part.X[chosen], y=part.y[chosen])


def best_steps(part: Split, rank: int | None, seed: int) -> int | None:
    """The number of steps after which NCA, learnt from three quarters of the training part, is best on the last.

    Of equal ones the least; None where it is best when it has ended by itself.
    """
    inner = shuffled(part.X, part.y, seed, 0.75)

    def right(steps: int | None) -> float:
        learner = cvxml.NCA(rank, init=START, **({"max_iter": steps} if steps else {})).fit(inner.X, inner.y)
        rule = KNeighborsClassifier(1, algorithm="kd_tree").fit(learner.transform(inner.X), inner.y)
        return float(rule.score(learner.transform(inner.X_test), inner.y_test))

    found = {steps: right(steps) for steps in (*STEPS, None)}
    return max(found, key=lambda steps: round(found[steps], 12))  # the first of equal ones


def dealt(y: IntArray, seed: int) -> IntArray:
    """The chunklet of each point (n,): the points of a class in random order, SIZE by SIZE; -1 for one left alone."""
    order, chunklets, count = np.random.RandomState(seed).permutation(len(y)), np.full(len(y), -1), 0
    for c in np.unique(y):
        rows = order[y[order] == c]
        for start in range(0, len(rows), SIZE):
            if len(rows) - start > 1:
                chunklets[rows[start : start + SIZE]] = count
                count += 1
    return chunklets


def of_mmc(part: Split, accuracy: Accuracy) -> Result:
    """Xing et al.'s metric of all pairs, where it is bounded: in the span of the differences within classes."""
    means = {c: part.X[part.y == c].mean(axis=0) for c in np.unique(part.y).tolist()}
    inside = within(part, part.X - np.array([means[c] for c in part.y.tolist()]))
    learner = cvxml.MMC(tol=1e-4).fit(inside.X, inside.y)
    return {**accuracy(learner, inside), "proved": bool(learner.certificate_.proves(learner.tol))}


def within(part: Split, differences: FloatArray) -> Split:
    """The points in coordinates of the span of some differences (m, d)."""
    _, sizes, axes = np.linalg.svd(differences, full_matrices=False)
    span = axes[sizes > 1e-8 * sizes[0]].T
    return part._replace(X=part.X @ span, X_test=part.X_test @ span)
