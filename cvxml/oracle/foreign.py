"""Another package's learner as a question to `check`: the problem that its source minimises, and what it returned.

validation/foreign/sources.py says what each learner minimises, with the lines of its source. Here is what becomes of
its parameters; fitted.py reads an estimator.
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
    """A learner after its fit, and what it was fitted to."""

    package: str  # as it is published
    learner: str  # its class
    params: Params  # its own, by its own names
    metric: FloatArray  # (d, d)
    X: FloatArray  # (n, d)
    y: Any  # (n,); None where lists say everything
    given: (
        Params  # by cvxml's names: pairs, quadruplets, triplets, chunklets, targets, basis, weights, bounds
    )

    def __str__(self) -> str:
        return f"{self.package} {self.learner}"


class Question(NamedTuple):
    """What `cvxml.check` is asked."""

    method: str
    metric: FloatArray  # (d, d)
    params: Params
    spent: float = (
        1.0  # where similar points have a budget: the sum of their d², which `metric` is divided by
    )


def question(fitted: Fitted) -> Question:
    """The question that a learner's fit is an answer to.

    Raises ValueError for a learner that is not known, or one used in a way that has no counterpart.
    """
    key = (fitted.package, fitted.learner.removesuffix("_Supervised"))
    if key not in METHODS:
        raise ValueError(f"no mapping for '{fitted}'")
    method, params = METHODS[key](fitted)
    params = {**params, **fitted.given}
    if method not in BUDGETED:
        return Question(method, fitted.metric, params)
    similar = pairs_of_kind("similar", fitted.y, params.get("pairs", "all"))
    spent = float(np.sum(squared(fitted.X, fitted.metric, similar)))
    return Question(method, fitted.metric / spent, params, spent)


BUDGETED = ("mmc", "mmc:diagonal", "dml_eig")  # any multiple is as good, and packages take another one


def pairs_of_kind(kind: str, y: Any, pairs: Any) -> NDArray[np.intp]:
    """(p, 2) the "similar" or the "dissimilar" pairs; where pairs is "all": every i < j, by the labels."""
    if not isinstance(pairs, str):
        return np.array(pairs[kind], dtype=np.intp).reshape(-1, 2)
    labels = np.asarray(y)
    i, j = np.triu_indices(len(labels), 1)
    wanted = (labels[i] == labels[j]) == (kind == "similar")
    return np.stack([i[wanted], j[wanted]], axis=1)


def squared(X: FloatArray, M: FloatArray, pairs: NDArray[np.intp]) -> FloatArray:
    """d² of the pairs (s, 2)."""
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
            f"{fitted} with {rank}={limit}: its problem is not convex, and no method here has that rank"
        )


def _lmnn(
    method: str, mu: Callable[[Params], float], rank: str = "n_components", k: str = "n_neighbors"
) -> Callable[[Fitted], Known]:
    """LMNN by its weight of the push; targets are the nearest, but for those that are given."""

    def known(fitted: Fitted) -> Known:
        _of_full_rank(fitted, rank)
        named = {} if "targets" in fitted.given else {"n_neighbors": fitted.params[k]}
        return method, {"mu": mu(fitted.params), **named}

    return known


def _of_rank(method: str, rank: str = "n_components", **also: Any) -> Callable[[Fitted], Known]:
    """A method that may limit its rank."""

    def known(fitted: Fitted) -> Known:
        limit = fitted.params.get(rank)
        return method, {**also, **({} if limit is None else {"n_components": limit})}

    return known


def _by_labels(method: str, *names: str) -> Callable[[Fitted], Known]:
    """A convex method of pyDML, whose parameters of these names are the method's."""

    def known(fitted: Fitted) -> Known:
        _of_full_rank(fitted, "num_dims")
        return method, {name: fitted.params[name] for name in names}

    return known


def _identity(fitted: Fitted) -> None:
    prior = fitted.params["prior"]
    if not isinstance(prior, str) or prior != "identity":
        raise ValueError(f"{fitted} with prior={prior!r}: only 'identity' is mapped")


def _itml(fitted: Fitted) -> Known:
    _identity(fitted)
    _needed(fitted, "bounds", "its bounds")
    return "itml", {"gamma": fitted.params["gamma"]}


def _lsml(fitted: Fitted) -> Known:
    _identity(fitted)
    return "lsml", {}


def _sdml(fitted: Fitted) -> Known:
    """Its covariance is that of the points in pairs, each once."""
    params, prior = fitted.params, fitted.params["prior"]
    if isinstance(prior, str) and prior == "covariance":
        pairs = _needed(fitted, "pairs", "its pairs").values()
        used = np.unique(np.concatenate([fitted.X[np.ravel(each)] for each in pairs if len(each)]), axis=0)
        prior = np.linalg.inv(np.cov(used.T))
    elif not isinstance(prior, str) or prior != "identity":
        raise ValueError(f"{fitted} with prior={prior!r}: only 'identity' and 'covariance' are mapped")
    return "sdml", {"eta": params["balance_param"], "lam": params["sparsity_param"], "prior": prior}


def _scml(fitted: Fitted) -> Known:
    basis = fitted.params.get("basis")
    if not isinstance(basis, np.ndarray):
        basis = _needed(fitted, "basis", "the basis that it drew")
    return "scml", {"beta": fitted.params["beta"], "basis": basis}


EMBEDDINGS = {"weighted": "weighted", "plain": "plain", "orthonormalized": "orthonormal"}


def _lfda(fitted: Fitted) -> Known:
    """As many neighbours as it takes for its `k`: fewer than there are features."""
    d, params = len(fitted.metric), fitted.params
    m = d if params["n_components"] is None else params["n_components"]
    k = min(7 if params["k"] is None else params["k"], d - 1)
    return "lfda", {"n_components": m, "n_neighbors": k, "embedding": EMBEDDINGS[params["embedding_type"]]}


def _similar_and_not(fitted: Fitted) -> Known:
    """pyDML's LSI: by labels if it is supervised, else by matrices that say who is similar."""
    if not fitted.params["supv"]:
        _needed(fitted, "pairs", "its sets of pairs as indices")
    return "mmc", {}


# (package, learner): the method and its parameters
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
