"""What a learner's own code says of a matrix: target neighbours and objective, at its start and at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from metric_learn import ITML, LMNN, MMC
from metric_learn.constraints import wrap_pairs
from metric_learn.lmnn import _sum_outer_products


def targets(model: LMNN, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Target neighbours, shape (n, k), by the learner's own code, which needs `labels_` to be 0, 1, ..."""
    labels, numbers = np.unique(y, return_inverse=True)
    model.labels_ = np.arange(len(labels))
    return model._select_targets(X, numbers)


def own_objective(
    model: Any, X: np.ndarray, y: np.ndarray, pairs: tuple[np.ndarray, ...], L: np.ndarray
) -> dict[str, list[float]]:
    """[at its start, at L]. `model` is not fitted; it starts from the identity, or from `init` if that is a matrix."""
    eye = np.eye(X.shape[1])
    if isinstance(model, LMNN):
        chosen, numbers = targets(model, X, y), np.unique(y, return_inverse=True)[1]
        pull = _sum_outer_products(X, chosen.ravel(), np.repeat(np.arange(len(X)), chosen.shape[1]))
        rest = (pull, chosen.shape[1], model.regularization, chosen, numbers)
        return {"minimised": [float(model._loss_grad(X, each, *rest)[1]) for each in (eye, L)]}
    if isinstance(model, MMC):
        start = eye if isinstance(model.init, str) else model.init
        return mmc_objective(model, *wrap_pairs(X, pairs), start, L.T @ L)
    if isinstance(model, ITML):  # it computes no objective
        return {}
    model.n_iter_ = 1  # at 0 the loss would print a header
    same = y[:, None] == y[None, :]
    return {"maximised": [float(model._loss_grad_lbfgs(each.ravel(), X, same)[0]) for each in (eye, L)]}


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
