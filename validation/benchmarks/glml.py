"""GLML: the metric of a query beside cvxpy, its classifier beside nearest neighbours under one metric, growth."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml import datasets
from cvxml.estimators.local import batches
from cvxml.methods.glml.solver import curvature, pair_weights
from validation.benchmarks.measure import REPEATS, Result, best_of, growth, quietly
from validation.experiments.glml_data import resized
from validation.experiments.tasks import Task

TITLE = "GLML"
WHAT = """\
USPS at 8 x 8 (block means of 2 x 2 pixels): 7291 training points, 2007 queries, ten classes, alpha = 0.1, gamma = 1.
Nearest neighbours under one metric (scikit-learn, brute force) are no alternative but a baseline: another rule, with
no metric to be found for each query. The problem of one query, a single matrix, is given to cvxpy as printed.
"""
TRAIN = 7291


def tasks(quick: bool) -> list[Task]:
    """The classifier, growth, a query through cvxpy."""
    name, sizes, repeats = (
        ("digits", (200, 400), 1) if quick else ("usps", (1000, 2000, 4000, TRAIN), REPEATS)
    )
    return [
        Task(name, "classify", 0, {"part": "classify", "repeats": repeats}),
        Task(name, "growth", 0, {"part": "growth", "sizes": sizes}),
        Task("wine", "a query", 0, {"part": "query", "repeats": repeats}),
    ]


def measure(task: Task) -> Result:
    """By its part."""
    return {"classify": classified, "growth": grown, "query": query}[task.settings["part"]](task)


def points(name: str) -> tuple[Any, Any, Any, Any]:
    """X, y to train on, and the queries."""
    X, y = datasets.load(name)
    if name == "usps":
        X = resized(X)
    cut = TRAIN if name == "usps" else 2 * len(X) // 3
    return X[:cut], y[:cut], X[cut:], y[cut:]


def classified(task: Task) -> Result:
    """Fit and classify; what part of it LAPACK and BLAS have; accuracy."""
    X, y, Q, answers = points(task.data)
    model, repeats = cvxml.GLML(gamma=1.0, alpha=0.1), task.settings["repeats"]
    fit = best_of(lambda: model.fit(X, y), repeats)[0]
    whole, accuracy = best_of(lambda: model.score(Q, answers), repeats)
    plain = KNeighborsClassifier(1, algorithm="brute")
    theirs, euclid = best_of(lambda: plain.fit(X, y).score(Q, answers), repeats)
    wide = cvxml.GLML(gamma=100.0, alpha=0.1).fit(X, y).score(Q, answers)
    first = next(batches(len(Q), len(X), X.shape[1]))
    batch, alone = share(model, X, Q[first], repeats)
    rival = {
        "name": "scikit-learn, KNeighborsClassifier",
        "settings": "1 neighbour, brute",
        "seconds": theirs,
        "reached": f"{100 * euclid:.1f} % right",
        "gap": None,
        "answered": True,
        "same": fit + whole,
        "baseline": True,
    }
    own = [
        {"to": "fit", "seconds": fit, "reached": ""},
        {"to": "classify", "seconds": whole, "reached": f"{100 * accuracy:.1f} % right"},
    ]
    named = {"method": "glml", "data": f"{task.data}, {len(Q)} queries", "n": len(X), "d": X.shape[1]}
    return {
        "claims": [{**named, "timed": "fit and classify", "ours": own, "rivals": [rival]}],
        "facts": [
            f"A batch of {first.stop} queries: {batch:.3f} s, of which LAPACK and BLAS alone, their calls on the same "
            f"arrays, take {alone:.3f} s ({100 * alone / batch:.0f} %).",
            f"Right at gamma = 1 {100 * accuracy:.1f} %, at gamma = 100 {100 * wide:.1f} %, Euclid "
            f"{100 * euclid:.1f} %.",
        ],
    }


def share(model: Any, X: Any, Q: Any, repeats: int) -> tuple[float, float]:
    """Seconds of a batch, and of its eigendecompositions and products alone."""
    parts = model.model_
    B = curvature(parts, Q).B
    A = model.metric_at(Q)
    q, d = Q.shape
    S, weights = parts.precisions, pair_weights(parts.log_densities(Q))[0]
    flat = A.transpose(1, 0, 2).reshape(d, q * d)
    pulls = (parts.from_means(Q) @ S).transpose(1, 0, 2)

    def alone() -> None:
        np.linalg.eigh(B)
        A @ A  # U diag U^T
        X @ flat
        (A @ Q[:, :, None])[:, :, 0] @ X.T
        for away, S_k, T in zip(parts.from_means(Q), S, parts.whitening, strict=True):
            away @ S_k
            away @ T.T
        pulls.transpose(0, 2, 1) @ (weights[:, :, None] * pulls)
        weights @ S.reshape(len(S), -1)

    return best_of(lambda: model.kneighbors(Q), repeats)[0], best_of(alone, repeats)[0]


def grown(task: Task) -> Result:
    """500 queries, by the number of training points."""
    X, y, Q, _ = points(task.data)

    def of(n: int) -> Any:
        model = cvxml.GLML(gamma=1.0, alpha=0.1).fit(X[:n], y[:n])
        return lambda: model.kneighbors(Q[:500])

    named = f"{task.data}, {X.shape[1]} features"
    return {"growth": [growth("glml", named, "neighbours of 500 queries", of, task.settings["sizes"])]}


def query(task: Task) -> Result:
    """The metric at one query: closed form, and the literal problem through cvxpy."""
    X, y = datasets.load(task.data)
    X = datasets.standardize(X)

    def solved(solver: str, repeats: int) -> tuple[float, float]:
        options = {"alpha": 0.01, "query": X[0], "solver": solver, "tol": 1e-9}
        took, found = best_of(lambda: quietly(lambda: cvxml.solve("glml", X, y, **options)), repeats)
        return took, found.rel_gap

    took, gap = solved("fast", task.settings["repeats"])
    rivals = []
    for solver in ("clarabel", "scs"):
        solved(solver, 1)  # with the import of cvxpy, which is not what is timed
        theirs, reached = solved(solver, task.settings["repeats"])
        rivals.append(
            {
                "name": f"cvxpy, {solver.upper()}",
                "settings": "tolerances of cvxml.core.backend",
                "seconds": theirs,
                "reached": f"gap {reached:.0e}",
                "gap": reached,
                "answered": True,
                "same": took,
            }
        )
    named = {"method": "glml", "data": f"{task.data}, one query", "n": len(X), "d": X.shape[1]}
    own = [{"to": "the end", "seconds": took, "reached": f"gap {gap:.0e}"}]
    return {"claims": [{**named, "timed": "model and metric, certified", "ours": own, "rivals": rivals}]}
