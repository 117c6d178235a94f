"""A learner's run as a question to cvxml: the problem that its source minimises, and the matrix that it returned.

sources.py says in words what each learner minimises, with the lines of the versions in requirements*.txt. Pairs,
quadruplets, chunklets and targets are the learner's own, so that no tie and no choice differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Run = dict[str, Any]
Asked = tuple[str, Floats, dict[str, Any]]


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


class Question(NamedTuple):
    """What `cvxml.check` is asked."""

    method: str
    metric: Floats  # (d, d)
    params: dict[str, Any]
    spent: float = 1.0  # MMC: Σ_similar d² of the matrix returned, which `metric` is divided by


def question(run: Run, given: Inputs) -> Question:
    """The question for one run on its data set.

    Raises ValueError for a learner that is not known, or one called in a way that has no counterpart.
    """
    learner, params = (run["package"], run["learner"]), run["params"]
    M = np.array(run["mahalanobis"], dtype=float)
    if learner in QUESTIONS:
        return Question(*QUESTIONS[learner](run, given, M))
    if learner == ("metric-learn", "MMC"):
        method = "mmc:diagonal" if params["diagonal"] else "mmc"
        spent = float(np.sum(squared(given.X, M, pairs_of_kind("similar", given.y, given.pairs))))
        return Question(method, M / spent, _pairs(given), spent)
    raise ValueError(f"no mapping for {' '.join(learner)!r}")


def _pairs(given: Inputs) -> dict[str, Any]:
    return {} if given.pairs == "all" else {"pairs": given.pairs}


def _itml(run: Run, given: Inputs, M: Floats) -> Asked:
    prior = run["params"]["prior"]
    if prior != "identity":
        raise ValueError(f"ITML with prior={prior!r}: only 'identity' is mapped")
    return "itml", M, {"gamma": run["params"]["gamma"], "bounds": run["bounds_"], **_pairs(given)}


def _lsml(run: Run, given: Inputs, M: Floats) -> Asked:
    prior = run["params"]["prior"]
    if prior != "identity":
        raise ValueError(f"LSML with prior={prior!r}: only 'identity' is mapped")
    return "lsml", M, {"quadruplets": given.more["quadruplets"], **run["given"]}


def _sdml(run: Run, given: Inputs, M: Floats) -> Asked:
    """Its covariance is that of the points in pairs, each once."""
    params, pairs = run["params"], dict(given.pairs)
    if run["given"]["similar_only"]:
        pairs["dissimilar"] = []
    prior = params["prior"]
    if prior == "covariance":
        used = np.unique(np.concatenate([given.X[np.ravel(each)] for each in pairs.values() if each]), axis=0)
        prior = np.linalg.inv(np.cov(used.T))
    elif prior != "identity":
        raise ValueError(f"SDML with prior={prior!r}: only 'identity' and 'covariance' are mapped")
    return (
        *("sdml", M),
        {"eta": params["balance_param"], "lam": params["sparsity_param"], "prior": prior, "pairs": pairs},
    )


def _scml(run: Run, given: Inputs, M: Floats) -> Asked:
    """Its triplets: every near point of each with every far one."""
    lists = enumerate(zip(given.more["near"], given.more["far"], strict=True))
    triplets = [[i, *each] for i, (near, far) in lists for each in product(near, far)]
    return "scml", M, {"beta": run["params"]["beta"], "basis": np.array(run["basis"]), "triplets": triplets}


EMBEDDINGS = {"weighted": "weighted", "plain": "plain", "orthonormalized": "orthonormal"}


def _lfda(run: Run, given: Inputs, M: Floats) -> Asked:
    """As many neighbours as it takes for its `k`: fewer than there are features."""
    d, params = len(M), run["params"]
    k = min(7 if params["k"] is None else params["k"], d - 1)
    embedding = EMBEDDINGS[params["embedding_type"]]
    return "lfda", M, {"n_components": params["n_components"], "n_neighbors": k, "embedding": embedding}


def _frobmetric(run: Run, given: Inputs, M: Floats) -> Asked:
    """Its triplets: every near point of each with every far one."""
    lists = enumerate(zip(run["near"], run["far"], strict=True))
    triplets = [[i, *each] for i, (near, far) in lists for each in product(near, far)]
    return "frobmetric", M, {"C": run["params"]["C"], "triplets": triplets}


# (package, learner): method, matrix and parameters, from the run and its data set
QUESTIONS: dict[tuple[str, str], Callable[[Run, Inputs, Floats], Asked]] = {
    ("metric-learn", "LMNN"): lambda run, given, M: (
        *("lmnn", M),
        {"mu": 1 - run["params"]["regularization"], "targets": run["targets"]},
    ),
    ("mlpack", "LMNN"): lambda run, given, M: ("lmnn", M, {"mu": 0.5, "targets": run["targets"]}),
    ("pylmnn", "LargeMarginNearestNeighbor"): lambda run, given, M: (
        *("lmnn:squared_hinge", M),
        {"mu": run["params"]["weight_push_loss"], "targets": run["targets"]},
    ),
    ("metric-learn", "ITML"): _itml,
    ("metric-learn", "LSML"): _lsml,
    ("metric-learn", "SDML"): _sdml,
    ("metric-learn", "SCML"): _scml,
    ("metric-learn", "LFDA"): _lfda,
    ("metric-learn", "MLKR"): lambda run, given, M: (
        *("mlkr", M),
        {} if run["params"]["n_components"] is None else {"n_components": run["params"]["n_components"]},
    ),
    ("metric-learn", "RCA"): lambda run, given, M: ("rca", M, {"chunklets": given.more["chunklets"]}),
    ("metric-learn", "NCA"): lambda run, given, M: ("nca", M, {"criterion": "f"}),
    ("scikit-learn", "NeighborhoodComponentsAnalysis"): lambda run, given, M: ("nca", M, {"criterion": "f"}),
    ("mlpack", "NCA"): lambda run, given, M: ("nca", M, {"criterion": "f"}),
    ("dlib", "vector_normalizer_frobmetric"): _frobmetric,
}


def pairs_of_kind(kind: str, y: NDArray[np.int64], pairs: Any) -> NDArray[np.intp]:
    """(p, 2) the "similar" or the "dissimilar" pairs; where pairs is "all": every i < j, by the labels."""
    if pairs != "all":
        return np.array(pairs[kind], dtype=np.intp)
    i, j = np.triu_indices(len(y), 1)
    wanted = (y[i] == y[j]) == (kind == "similar")
    return np.stack([i[wanted], j[wanted]], axis=1)


def squared(X: Floats, M: Floats, pairs: NDArray[np.intp]) -> Floats:
    """d² of the pairs (s, 2)."""
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    return np.asarray(np.sum((difference @ M) * difference, axis=1), dtype=float)


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
