"""A learner's run as a question to cvxml: `cvxml.oracle.foreign` maps it, as it does a fitted estimator.

sources.py says in words what each learner minimises, with the lines of the versions in requirements*.txt. Pairs,
quadruplets, chunklets and targets are the learner's own, so that no tie and no choice differs.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.oracle import foreign
from cvxml.oracle.foreign import Fitted, Question, pairs_of_kind, squared

Floats = NDArray[np.float64]
Run = dict[str, Any]


class Inputs(NamedTuple):
    """What learners/inputs.py drew for a data set: X (n, d), y (n,), index pairs by kind or "all", and the rest."""

    X: Floats
    y: NDArray[np.int64]
    pairs: Any
    more: dict[str, Any]  # quadruplets (q, 4), chunklets (n,)


def inputs(content: dict[str, Any]) -> Inputs:
    """Of one data set in recorded/inputs.json."""
    rest = {key: value for key, value in content.items() if key not in ("X", "y", "pairs")}
    return Inputs(np.array(content["X"], dtype=float), np.array(content["y"]), content["pairs"], rest)


SHORT = {
    "LargeMarginNearestNeighbor": "LMNN",
    "NeighborhoodComponentsAnalysis": "NCA",
    "vector_normalizer_frobmetric": "FrobMetric",
}


def called(run: Run) -> str:
    """The learner in short, after its package where that is not metric-learn, of which most are."""
    package = "" if run["package"] == "metric-learn" else f"{run['package']} "
    return package + SHORT.get(run["learner"], run["learner"])


STATIONARY = ("nca", "mlkr")  # of which no metric is called optimal


def points(run: Run, given: Inputs) -> tuple[Floats, NDArray[Any]]:
    """(n, d) and (n,): what the learner was given; MLKR has the last feature as target."""
    if run["learner"] == "MLKR":
        return given.X[:, :-1], given.X[:, -1]
    return given.X, given.y


def question(run: Run, given: Inputs) -> Question:
    """The question for one run on its data set.

    Raises ValueError for a learner that is not known, or one called in a way that has no counterpart.
    """
    X, y = points(run, given)
    M = np.array(run["mahalanobis"], dtype=float)
    return foreign.question(Fitted(run["package"], run["learner"], run["params"], M, X, y, lists(run, given)))


def lists(run: Run, given: Inputs) -> dict[str, Any]:
    """What the learner was given besides points and labels, or found by itself."""
    found = {name: run[name] for name in ("targets", "basis") if name in run}
    found |= {"bounds": run["bounds_"]} if "bounds_" in run else {}
    learner = run["learner"]
    if learner in ("ITML", "MMC", "SDML") and given.pairs != "all":
        left_out = {"dissimilar": []} if run["given"].get("similar_only") else {}
        found["pairs"] = {**given.pairs, **left_out}
    if learner == "LSML":
        weights = {name: value for name, value in run["given"].items() if name == "weights"}
        found |= {"quadruplets": given.more["quadruplets"], **weights}
    if learner == "RCA":
        found["chunklets"] = given.more["chunklets"]
    if learner == "SCML":
        found["triplets"] = near_and_far(given.more)
    if learner == "vector_normalizer_frobmetric":
        found["triplets"] = near_and_far(run)
    return found


def near_and_far(of: dict[str, Any]) -> list[list[int]]:
    """Triplets: every near point of each with every far one."""
    each = enumerate(zip(of["near"], of["far"], strict=True))
    return [[i, *one] for i, (near, far) in each for one in product(near, far)]


def own_value(run: Run) -> float | None:
    """What the learner's own code computes at its matrix, if it computes the function that is judged."""
    own = run["own_objective"]
    for name in ("minimised", "maximised"):
        if name in own:
            return float(own[name][1])
    return None


def as_own_value(asked: Question, objective: float) -> float:
    """The figure of `own_value` from cvxml's objective."""
    if asked.method == "mmc":
        return math.log(-objective * math.sqrt(asked.spent) + 1e-6)
    if asked.method == "lsml":  # but for a constant, as its prior is the identity
        return objective + len(asked.metric)
    if asked.method == "lmnn:squared_hinge":  # it divides by the weight of the push
        return objective / float(asked.params["mu"])
    return -objective if asked.method == "nca" else objective


def g(X: Floats, M: Floats, y: NDArray[np.int64], pairs: Any, c: float, under_root: float = 0.0) -> float:
    """The function of the diagonal learner's Newton step; under_root: 1e-6 as in its code."""
    d = np.sqrt(squared(X, M, pairs_of_kind("dissimilar", y, pairs)) + under_root)
    spent = float(np.sum(squared(X, M, pairs_of_kind("similar", y, pairs))))
    return spent - c * math.log(float(np.sum(d)))


def least_g(largest: float, c: float) -> float:
    """Its minimum, if `largest` is the most that Σ_dissimilar d can be where Σ_similar d² = 1.

    Of s times a metric that spends 1, g is s - c/2 log s - c log Σ_dissimilar d: least at s = c/2.
    """
    return c / 2 - c * math.log(largest * math.sqrt(c / 2))


def says_converged(run: Run) -> bool | None:
    """Whether the package says so: `converged_`, or else a printed line; None if it says nothing."""
    if "converged_" in run:
        return bool(run["converged_"])
    if not run["printed"]:
        return None
    return not any(word in run["printed"][-1] for word in ("didn't", "did not"))
