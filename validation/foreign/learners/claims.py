"""What a learner's own code says of a matrix: target neighbours and objective, at its start and at its end."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from metric_learn import LMNN, LSML, MLKR, MMC, NCA, SCML
from metric_learn.constraints import wrap_pairs
from metric_learn.lmnn import _sum_outer_products
from record import Data
from sklearn.neighbors import NeighborhoodComponentsAnalysis


def targets(model: LMNN, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Target neighbours, shape (n, k), by the learner's own code, which needs `labels_` to be 0, 1, ..."""
    labels, numbers = np.unique(y, return_inverse=True)
    model.labels_ = np.arange(len(labels))
    return model._select_targets(X, numbers)


def own_objective(model: Any, data: Data, L: np.ndarray, given: dict[str, Any]) -> dict[str, list[float]]:
    """[at its start, at L]. `model` is not fitted; it starts from the identity, or from `init` if that is a matrix."""
    X, y = data.X, data.y
    eye = np.eye(X.shape[1])
    if isinstance(model, LMNN):
        chosen, numbers = targets(model, X, y), np.unique(y, return_inverse=True)[1]
        pull = _sum_outer_products(X, chosen.ravel(), np.repeat(np.arange(len(X)), chosen.shape[1]))
        rest = (pull, chosen.shape[1], model.regularization, chosen, numbers)
        return {"minimised": [float(model._loss_grad(X, each, *rest)[1]) for each in (eye, L)]}
    if isinstance(model, MMC):
        start = eye if isinstance(model.init, str) else model.init
        return mmc_objective(model, *wrap_pairs(X, data.pairs), start, L.T @ L)
    if isinstance(model, LSML):
        return {"minimised": [lsml_loss(model, data, each, given.get("weights")) for each in (eye, L.T @ L)]}
    if isinstance(model, (NCA, NeighborhoodComponentsAnalysis)):
        model.n_iter_ = 1  # at 0 the loss would print a header
        same = y[:, None] == y[None, :]
        return {"maximised": [float(model._loss_grad_lbfgs(each.ravel(), X, same)[0]) for each in (eye, L)]}
    if isinstance(model, MLKR):
        model.n_iter_ = 1
        start = np.eye(L.shape[1])
        return {"minimised": [float(model._loss(each.ravel(), *regression(data))[0]) for each in (start, L)]}
    return {}  # the others compute none, or none that can be called


def triplets(data: Data) -> np.ndarray:
    """(m, 3) every near point of each with every far one."""
    near, far = data.more["near"], data.more["far"]
    return np.array([[i, j, k] for i in range(len(data.X)) for j in near[i] for k in far[i]])


def regression(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """The last feature as the target of the others."""
    return data.X[:, :-1].copy(), data.X[:, -1].copy()


def basis(model: SCML, data: Data) -> np.ndarray:
    """(K, d) as `fit` draws it, from the same seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model._initialize_basis(*model._to_index_points(data.X[triplets(data)]))[0]


def lsml_loss(model: LSML, data: Data, M: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The prior being the identity."""
    a, b, c, d = data.X[data.more["quadruplets"].T]
    model.w_ = np.ones(len(a)) if weights is None else weights.copy()
    model.w_ /= model.w_.sum()
    return float(model._total_loss(M, a - b, c - d, np.eye(M.shape[0])))


def mmc_objective(
    model: MMC, pairs: np.ndarray, kind: np.ndarray, start: np.ndarray, end: np.ndarray
) -> dict[str, list[float]]:
    """MMC's functions at two matrices. `t` is the level that `_fit_full` sets: a hundredth of the sum at its start.

    The diagonal learner has two: its line search lowers `line_search`, its Newton step is that of `newton`.
    """
    step, other = pairs[kind == 1][:, 0] - pairs[kind == 1][:, 1], pairs[kind == -1]
    similar = [float(((step @ M) * step).sum()) for M in (start, end)]
    if not model.diagonal:
        log_d = [float(model._fD(other, M)) for M in (start, end)]
        return {"maximised": log_d, "sum_similar_d2": similar, "t": [similar[0] / 100]}
    log_d = [float(model._D_objective(other, np.diag(M))) for M in (start, end)]
    return {
        "line_search": [s + model.diagonal_c * g for s, g in zip(similar, log_d, strict=True)],
        "newton": [s - model.diagonal_c * g for s, g in zip(similar, log_d, strict=True)],
        "sum_similar_d2": similar,
    }
