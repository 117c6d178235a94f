"""A learner's run as a question to cvxml: the problem that its source minimises, and the matrix that it returned.

SOURCES says what each learner minimises, with the lines of the versions in requirements.txt. Pairs and targets are the
learner's own, so that no tie and no choice differs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Run = dict[str, Any]


class Source(NamedTuple):
    """What a learner minimises, as its code has it: d² = (x_i - x_j)ᵀ M (x_i - x_j)."""

    learner: str
    formula: str
    lines: str
    judged_as: str


SOURCES = (
    Source(
        "metric-learn LMNN",
        "reg Σ_targets d²_ij + (1 - reg) Σ_targets Σ_l [1 + d²_ij - d²_il]_+, l of another class; reg = regularization "
        "weighs the pull; targets the nearest in input space",
        "lmnn.py 252, 280, 283-284, 287-295",
        "`lmnn`, mu = 1 - reg, its own targets",
    ),
    Source(
        "metric-learn ITML",
        "tr M - log det M - d + γ Σ_pairs (ξ/b - log(ξ/b) - 1), d² <= ξ (similar, b = bounds_[0]), d² >= ξ "
        "(dissimilar, b = bounds_[1]); prior the identity",
        "itml.py 65-91",
        "`itml`, gamma = γ, bounds = bounds_, of squared distances, prior identity, its pairs",
    ),
    Source(
        "metric-learn MMC",
        "maximise log Σ_dissimilar d subject to Σ_similar d² <= t, t = a hundredth of Σ_similar d² at its start",
        "mmc.py 80, 246-248",
        "`mmc`, its pairs, M divided by what it spends, Σ_similar d²: the direction of the maximum is the same for "
        "every t",
    ),
    Source(
        "metric-learn MMC, diagonal",
        "two functions: its Newton step is that of g = Σ_similar d² - c log Σ_dissimilar d, c = diagonal_c; its line "
        "search and its stop go by Σ_similar d² + c log Σ_dissimilar d (1e-6 under each root)",
        "mmc.py 204-206; 200, 213-214, 224-225, 292-295",
        "`mmc:diagonal`, its pairs, M divided by what it spends; a minimum of g spends c/2, and has the direction of "
        "the maximum of MMC",
    ),
    Source(
        "metric-learn NCA",
        "maximise f = Σ_i p_i",
        "nca.py 200-208",
        "`nca`, criterion f",
    ),
    Source(
        "scikit-learn NCA",
        "maximise f = Σ_i p_i",
        "neighbors/_nca.py 497-504",
        "`nca`, criterion f",
    ),
)


class Question(NamedTuple):
    """What `cvxml.check` is asked."""

    method: str
    metric: Floats  # (d, d)
    params: dict[str, Any]
    spent: float = 1.0  # MMC: Σ_similar d² of the matrix returned, which `metric` is divided by


def question(run: Run, X: Floats, y: NDArray[np.int64], pairs: Any) -> Question:
    """The question for one run of learners.py on X (n, d), y (n,); pairs: index pairs by kind, or "all".

    Raises ValueError for a learner that is not known, or one called in a way that has no counterpart.
    """
    learner, params = run["learner"], run["params"]
    M = np.array(run["mahalanobis"], dtype=float)
    if learner == "LMNN":
        return Question("lmnn", M, {"mu": 1 - params["regularization"], "targets": run["targets"]})
    if learner in ("NCA", "NeighborhoodComponentsAnalysis"):
        return Question("nca", M, {"criterion": "f"})
    given = {} if pairs == "all" else {"pairs": pairs}
    if learner == "ITML":
        if params["prior"] != "identity":
            raise ValueError(f"ITML with prior={params['prior']!r}: only 'identity' is mapped")
        return Question("itml", M, {"gamma": params["gamma"], "bounds": run["bounds_"], **given})
    if learner == "MMC":
        method = "mmc:diagonal" if params["diagonal"] else "mmc"
        spent = float(np.sum(squared(X, M, pairs_of_kind("similar", y, pairs))))
        return Question(method, M / spent, given, spent)
    raise ValueError(f"no mapping for {learner!r}")


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
