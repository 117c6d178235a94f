"""Translate a learner of another package into a question to `check`: its method, its parameters and its metric.

validation/foreign/sources.py documents which problem each learner minimises, with the lines of its source. fitted.py
reads the estimators, and returns them as `Fitted`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.core.metric import FloatArray

Params = dict[str, Any]
Known = tuple[str, Params]  # a method and its parameters


class Fitted(NamedTuple):
    """A learner after its fit, with the inputs of the fit.

    package: the name of its package. learner: the name of its class. params: its parameters, by the names of the
    package. metric: (d, d). X: (n, d). y: (n,), or None if lists take the place of labels. given: inputs that the user
    gave by the names of cvxml, for example pairs, targets or a basis.
    """

    package: str  # name of the package
    learner: str  # name of the class
    params: Params  # by the names of the package
    metric: FloatArray  # (d, d)
    X: FloatArray  # (n, d)
    y: Any  # (n,), or None if lists take the place of labels
    # by the names of cvxml: pairs, quadruplets, triplets, chunklets, targets, basis, weights, bounds
    given: Params

    def __str__(self) -> str:
        return f"{self.package} {self.learner}"


class Question(NamedTuple):
    """The arguments of `cvxml.check`.

    spent: for a method with a budget, the sum of the squared distances of similar pairs in the learner's metric. The
    field `metric` is the learner's metric divided by this sum, because the packages scale the metric differently. For
    other methods spent is 1.
    """

    method: str
    metric: FloatArray  # (d, d)
    params: Params
    # for methods with a budget: the sum of the squared distances of similar pairs; `metric` was divided by it
    spent: float = 1.0


def question(fitted: Fitted) -> Question:
    """Return the question to `check` that the learner's metric answers.

    Raises ValueError if the learner is not known, or if its parameters have no counterpart in cvxml.
    """
    key = (fitted.package, fitted.learner.removesuffix("_Supervised"))
    if key not in METHODS:
        raise ValueError(f"there is no mapping for '{fitted}': give its matrix to cvxml.check")
    method, params = METHODS[key](fitted)
    params = {**params, **fitted.given}
    if method not in BUDGETED:
        return Question(method, fitted.metric, params)
    similar = pairs_of_kind("similar", fitted.y, params.get("pairs", "all"))
    spent = float(np.sum(squared(fitted.X, fitted.metric, similar)))
    return Question(method, fitted.metric / spent, params, spent)


# the scale of the metric does not matter in these methods, and packages choose another one
BUDGETED = ("mmc", "mmc:diagonal", "dml_eig")


def pairs_of_kind(kind: str, y: Any, pairs: Any) -> NDArray[np.intp]:
    """Return the pairs (p, 2) of a kind, "similar" or "dissimilar".

    pairs: a dict with both lists, or "all": every pair i < j, divided by the labels.
    """
    if not isinstance(pairs, str):
        return np.array(pairs[kind], dtype=np.intp).reshape(-1, 2)
    labels = np.asarray(y)
    i, j = np.triu_indices(len(labels), 1)
    wanted = (labels[i] == labels[j]) == (kind == "similar")
    return np.stack([i[wanted], j[wanted]], axis=1)


def squared(X: FloatArray, M: FloatArray, pairs: NDArray[np.intp]) -> FloatArray:
    """Return the squared distances (s,) of the pairs (s, 2) of points X (n, d) in the metric M (d, d)."""
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    return np.asarray(np.sum((difference @ M) * difference, axis=1), dtype=float)


def _needed(fitted: Fitted, name: str, what: str) -> Any:
    if name not in fitted.given:
        raise ValueError(f"{fitted} does not keep {what}: give {name}=...")
    return fitted.given[name]


def _of_full_rank(fitted: Fitted, rank: str) -> None:
    limit = fitted.params.get(rank)
    if limit is not None and limit < len(fitted.metric):
        raise ValueError(
            f"{fitted} with {rank}={limit}: its problem is not convex, and no method here has that rank; "
            f"fit it without {rank}"
        )


def _lmnn(
    method: str, mu: Callable[[Params], float], rank: str = "n_components", k: str = "n_neighbors"
) -> Callable[[Fitted], Known]:
    """Return a function that maps a fitted LMNN to `method` and its parameters.

    mu: computes the weight of the push term from the learner's parameters. rank, k: the learner's names for the largest
    rank and the number of targets. Targets are the nearest neighbours, unless they are given. The function raises
    ValueError for a learner with a largest rank below the number of features, because its problem is not convex.
    """

    def known(fitted: Fitted) -> Known:
        _of_full_rank(fitted, rank)
        named = {} if "targets" in fitted.given else {"n_neighbors": fitted.params[k]}
        return method, {"mu": mu(fitted.params), **named}

    return known


def _of_rank(method: str, rank: str = "n_components", **also: Any) -> Callable[[Fitted], Known]:
    """Return a function that maps a learner with a parameter for the largest rank to `method` and its parameters.

    rank: the learner's name of this parameter. also: further parameters of the method.
    """

    def known(fitted: Fitted) -> Known:
        limit = fitted.params.get(rank)
        return method, {**also, **({} if limit is None else {"n_components": limit})}

    return known


def _by_labels(method: str, *names: str) -> Callable[[Fitted], Known]:
    """Return a function that maps a convex learner of pyDML to `method` and its parameters.

    names: the parameters, which have the same names in pyDML and in cvxml. The function raises ValueError for a learner
    whose parameter "num_dims" is below the number of features, because its problem is not convex.
    """

    def known(fitted: Fitted) -> Known:
        _of_full_rank(fitted, "num_dims")
        return method, {name: fitted.params[name] for name in names}

    return known


def _identity(fitted: Fitted) -> None:
    prior = fitted.params["prior"]
    if not isinstance(prior, str) or prior != "identity":
        raise ValueError(f"{fitted} with prior={prior!r}: only prior='identity' can be judged")


def _itml(fitted: Fitted) -> Known:
    _identity(fitted)
    _needed(fitted, "bounds", "its bounds")
    return "itml", {"gamma": fitted.params["gamma"]}


def _lsml(fitted: Fitted) -> Known:
    _identity(fitted)
    return "lsml", {}


def _sdml(fitted: Fitted) -> Known:
    """Return the method and the parameters for SDML.

    If the learner's prior is "covariance", it is the inverse covariance of all points that occur in pairs, each counted
    once.
    """
    params, prior = fitted.params, fitted.params["prior"]
    if isinstance(prior, str) and prior == "covariance":
        pairs = _needed(fitted, "pairs", "its pairs").values()
        used = np.unique(np.concatenate([fitted.X[np.ravel(each)] for each in pairs if len(each)]), axis=0)
        prior = np.linalg.inv(np.cov(used.T))
    elif not isinstance(prior, str) or prior != "identity":
        raise ValueError(
            f"{fitted} with prior={prior!r}: only prior='identity' or 'covariance' can be judged"
        )
    return "sdml", {"eta": params["balance_param"], "lam": params["sparsity_param"], "prior": prior}


def _scml(fitted: Fitted) -> Known:
    basis = fitted.params.get("basis")
    if not isinstance(basis, np.ndarray):
        basis = _needed(fitted, "basis", "the basis that it drew")
    return "scml", {"beta": fitted.params["beta"], "basis": basis}


EMBEDDINGS = {"weighted": "weighted", "plain": "plain", "orthonormalized": "orthonormal"}


def _lfda(fitted: Fitted) -> Known:
    """Return the method and the parameters for LFDA. The learner uses at most d - 1 neighbours for d features."""
    d, params = len(fitted.metric), fitted.params
    m = d if params["n_components"] is None else params["n_components"]
    k = min(7 if params["k"] is None else params["k"], d - 1)
    return "lfda", {"n_components": m, "n_neighbors": k, "embedding": EMBEDDINGS[params["embedding_type"]]}


def _similar_and_not(fitted: Fitted) -> Known:
    """Return the method and the parameters for LSI of pyDML, which solves the problem of MMC.

    With supv=True the learner makes its pairs from labels. Otherwise the user must give the pairs.
    """
    if not fitted.params["supv"]:
        _needed(fitted, "pairs", "its sets of pairs as indices")
    return "mmc", {}


# (package, learner): a function that returns the method and its parameters
METHODS: dict[tuple[str, str], Callable[[Fitted], Known]] = {
    ("metric-learn", "LMNN"): _lmnn("lmnn", lambda params: 1 - float(params["regularization"])),
    ("metric-learn", "ITML"): _itml,
    ("metric-learn", "LSML"): _lsml,
    ("metric-learn", "SDML"): _sdml,
    ("metric-learn", "SCML"): _scml,
    ("metric-learn", "LFDA"): _lfda,
    ("metric-learn", "MLKR"): _of_rank("mlkr"),
    ("metric-learn", "RCA"): lambda fitted: ("rca", {}),
    ("metric-learn", "NCA"): _of_rank("nca", criterion="f"),
    ("metric-learn", "MMC"): lambda fitted: ("mmc:diagonal" if fitted.params["diagonal"] else "mmc", {}),
    ("scikit-learn", "NeighborhoodComponentsAnalysis"): _of_rank("nca", criterion="f"),
    ("pylmnn", "LargeMarginNearestNeighbor"): _lmnn(
        "lmnn:squared_hinge", lambda params: float(params["weight_push_loss"])
    ),
    ("pyDML", "LMNN"): _lmnn("lmnn", lambda params: float(params["mu"]), "num_dims", "k"),
    ("pyDML", "NCA"): _of_rank("nca", "num_dims", criterion="f"),
    ("pyDML", "MCML"): _by_labels("mcml"),
    ("pyDML", "LDML"): _by_labels("ldml", "b"),
    ("pyDML", "DML_eig"): lambda fitted: ("dml_eig", {}),
    ("pyDML", "LSI"): _similar_and_not,
    ("mlpack", "LMNN"): lambda fitted: ("lmnn", {"mu": fitted.params.get("regularization", 0.5)}),
    ("mlpack", "NCA"): lambda fitted: ("nca", {"criterion": "f"}),
    ("dlib", "vector_normalizer_frobmetric"): lambda fitted: ("frobmetric", {"C": fitted.params["C"]}),
}
