"""What metric-learn and scikit-learn do when they are tried: no matrix to judge, a thing to see. ../findings.py "
"tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from claims import basis, lsml_loss, triplets
from metric_learn import LSML, MLKR, RCA, SCML, SDML
from metric_learn.constraints import wrap_pairs
from record import Data, watched
from sklearn.covariance import graphical_lasso
from sklearn.covariance._graph_lasso import _dual_gap, _objective

STEP = 1e-5  # of differences
FEW = 10  # points in chunklets, fewer than wine has features


def facts(data: dict[str, Data]) -> dict[str, Any]:
    """By name; of wine."""
    wine = data["wine"]
    return {
        "lsml_gradient": lsml_gradient(wine),
        "lsml_weights": lsml_weights(wine),
        "lsml_equal_far_pair": raised(lambda: LSML().fit(wine.X[[[0, 1, 2, 2]]])),
        "rca_singular": rca_singular(wine),
        "graphical_lasso": glasso(wine),
        "sdml": raised(lambda: SDML(balance_param=0.001).fit(*wrap_pairs(wine.X, wine.pairs))),
        "scml_basis_given": raised(lambda: SCML(basis=np.eye(len(wine.X[0]))).fit(wine.X[triplets(wine)])),
        "scml_basis": scml_basis(data["iris"]),
        "mlkr_n_iter": mlkr_n_iter(wine),
    }


def scml_basis(data: Data) -> dict[str, float]:
    """A first batch of vectors: how far each is from an eigenvector of the matrix that it was drawn for."""
    model, d = SCML(n_basis=data.X.shape[1], random_state=0), data.X.shape[1]
    rows = triplets(data)
    chosen = rows[np.random.RandomState(0).choice(len(rows), size=d, replace=False)]
    near, far = (data.X[chosen[:, 0]] - data.X[chosen[:, k]] for k in (1, 2))
    A = near.T @ near - far.T @ far
    vectors = basis(model, data)

    def off(V: np.ndarray) -> float:  # of unit rows, the residual A v - (v A v) v, against A
        residual = V @ A - np.sum((V @ A) * V, axis=1)[:, None] * V
        return float(np.abs(residual).max() / np.abs(A).max())

    return {"off": off(vectors), "transposed": off(vectors.T)}


def mlkr_n_iter(data: Data) -> dict[str, int]:
    """What `n_iter_` is where iterations are limited."""
    model = MLKR(init="identity", max_iter=50)
    watched(lambda: model.fit(data.X[:, :-1], data.X[:, -1]))
    return {"max_iter": 50, "n_iter_": int(model.n_iter_)}


def raised(call: Callable[[], Any]) -> str:
    """The error that it ends with, in one line."""
    try:
        watched(call)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "no error"


def lsml_gradient(data: Data) -> dict[str, Any]:
    """`_gradient` along a direction, and differences of `_total_loss`, at twice the identity."""
    X, rng = data.X, np.random.default_rng(0)
    E = rng.standard_normal((X.shape[1],) * 2)
    E, M = (E + E.T) / 2, 2 * np.eye(X.shape[1])
    model = LSML()
    ends = [lsml_loss(model, data, M + sign * STEP * E) for sign in (1, -1)]
    a, b, c, d = X[data.more["quadruplets"].T]
    found = model._gradient(M, a - b, c - d, np.eye(len(M)))
    of_divergence = np.eye(len(M)) - np.linalg.inv(M)
    mean = of_divergence + (found - of_divergence) / len(a)
    return {
        "q": len(a),
        "differences": (ends[0] - ends[1]) / (2 * STEP),
        "gradient": float(np.sum(found * E)),
        "comparisons_divided_by_q": float(np.sum(mean * E)),
    }


def lsml_weights(data: Data) -> dict[str, Any]:
    """What is left of an array of weights, and what one of integers does."""
    quadruplets = data.X[data.more["quadruplets"]]
    weights = np.full(len(quadruplets), 2.0)
    LSML().fit(quadruplets, weights=weights)
    integers = np.ones(len(quadruplets), dtype=int)
    return {"after": float(weights[0]), "integers": raised(lambda: LSML().fit(quadruplets, weights=integers))}


def rca_singular(data: Data) -> dict[str, Any]:
    """RCA on two chunklets of few points."""
    model = RCA()
    chunklets = np.full(len(data.y), -1)
    chunklets[:FEW] = np.arange(FEW) // (FEW // 2)
    told = watched(lambda: model.fit(data.X, chunklets))
    return {
        "points": FEW,
        "warned": [each["text"] for each in told.warned],
        "finite": bool(np.isfinite(model.components_).all()),
    }


def glasso(data: Data) -> dict[str, Any]:
    """Its "dual gap" at its answers and at what is no answer, beside its own objective."""
    S, alpha = np.cov(data.X.T, bias=True), 0.1
    best = graphical_lasso(S, alpha, tol=1e-12, enet_tol=1e-12, max_iter=10_000)[1]
    rows = {f"tol={tol:g}": graphical_lasso(S, alpha, tol=tol)[1] for tol in (1e-4, 1e-2)}
    other = np.diag(np.arange(1.0, len(S) + 1))
    off = np.abs(other).sum() - np.abs(np.diag(other)).sum()
    rows["diag(1, .., d)"] = other
    rows["diag(1, .., d), the multiple with tr SM + alpha |M| = d"] = (
        other * len(S) / (np.sum(S * other) + alpha * off)
    )
    least = _objective(S, best, alpha)
    return {
        name: {
            "dual_gap": float(_dual_gap(S, M, alpha)),
            "above_least": float(_objective(S, M, alpha) - least),
        }
        for name, M in rows.items()
    }
