"""Translate a learner's run to a question to cvxml, with `cvxml.oracle.foreign`, which also maps fitted estimators.

sources.py describes the problem of each learner, with the lines of the versions in requirements*.txt. We use the pairs,
quadruplets, chunklets and targets of the learner, so that ties and choices are the same.
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
    """The inputs that learners/inputs.py drew: X (n, d), y (n,), index pairs by kind or "all", and the rest."""

    X: Floats
    y: NDArray[np.int64]
    pairs: Any
    more: dict[str, Any]  # quadruplets (q, 4), chunklets (n,)


def inputs(content: dict[str, Any]) -> Inputs:
    """Return the inputs of one data set of recorded/inputs.json."""
    rest = {key: value for key, value in content.items() if key not in ("X", "y", "pairs")}
    return Inputs(np.array(content["X"], dtype=float), np.array(content["y"]), content["pairs"], rest)


SHORT = {
    "LargeMarginNearestNeighbor": "LMNN",
    "NeighborhoodComponentsAnalysis": "NCA",
    "vector_normalizer_frobmetric": "FrobMetric",
}


def called(run: Run) -> str:
    """Return the short name of the learner, with its package if that is not metric-learn."""
    package = "" if run["package"] == "metric-learn" else f"{run['package']} "
    return package + SHORT.get(run["learner"], run["learner"])


STATIONARY = ("nca", "mlkr")  # not convex: their metrics are never called optimal


def points(run: Run, given: Inputs) -> tuple[Floats, NDArray[Any]]:
    """Return points (n, d) and labels (n,) of the run. For MLKR, the last feature is the target."""
    if run["learner"] == "MLKR":
        return given.X[:, :-1], given.X[:, -1]
    return given.X, given.y


def question(run: Run, given: Inputs) -> Question:
    """Return the question for one run on its data set.

    Raises ValueError for an unknown learner, and for settings that have no counterpart in cvxml.
    """
    X, y = points(run, given)
    M = np.array(run["mahalanobis"], dtype=float)
    return foreign.question(Fitted(run["package"], run["learner"], run["params"], M, X, y, lists(run, given)))


def lists(run: Run, given: Inputs) -> dict[str, Any]:
    """Return the lists that the learner got besides points and labels, or chose itself."""
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
    """Return triplets: for each point, every near point with every far point."""
    each = enumerate(zip(of["near"], of["far"], strict=True))
    return [[i, *one] for i, (near, far) in each for one in product(near, far)]


def own_value(run: Run) -> float | None:
    """Return the objective by the learner's own code for its matrix, or None if we judge another function."""
    own = run["own_objective"]
    for name in ("minimised", "maximised"):
        if name in own:
            return float(own[name][1])
    return None


def as_own_value(asked: Question, objective: float) -> float:
    """Convert cvxml's objective to the objective of `own_value`."""
    if asked.method == "mmc":
        return math.log(-objective * math.sqrt(asked.spent) + 1e-6)
    if asked.method == "lsml":  # its prior is the identity: the two differ by a constant
        return objective + len(asked.metric)
    if asked.method == "lmnn:squared_hinge":  # it divides by the weight of the push
        return objective / float(asked.params["mu"])
    return -objective if asked.method == "nca" else objective


def g(X: Floats, M: Floats, y: NDArray[np.int64], pairs: Any, c: float, under_root: float = 0.0) -> float:
    """Return g, the function of the diagonal learner's Newton step. Its code has under_root = 1e-6."""
    d = np.sqrt(squared(X, M, pairs_of_kind("dissimilar", y, pairs)) + under_root)
    spent = float(np.sum(squared(X, M, pairs_of_kind("similar", y, pairs))))
    return spent - c * math.log(float(np.sum(d)))


def least_g(largest: float, c: float) -> float:
    """Return the minimum of g. `largest` is the maximum of Σ_dissimilar d subject to Σ_similar d² = 1.

    For s times a metric with Σ_similar d² = 1, g is s - c/2 log s - c log Σ_dissimilar d. It is least at s = c/2.
    """
    return c / 2 - c * math.log(largest * math.sqrt(c / 2))


def says_converged(run: Run) -> bool | None:
    """Return the package's own claim to have converged: `converged_`, or a printed line. None if it makes no claim."""
    if "converged_" in run:
        return bool(run["converged_"])
    if not run["printed"]:
        return None
    return not any(word in run["printed"][-1] for word in ("didn't", "did not"))
