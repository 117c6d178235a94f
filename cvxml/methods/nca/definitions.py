"""The formulas of NCA by loops over points; and all intermediates for `cvxml evaluate`, row by row.

Their source is "the note", an article about the paper (method.py), because the paper was not at hand. With class
labels, s_ij is 1 if j != i has the class of i, else 0. For any weights s_ij >= 0, and x_ik = x_i - x_k:
    p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),   p_ii = 0
    p_i  = sum_j s_ij p_ij
    f    = sum_i p_i,     g = sum_i log p_i
If a row of s has no positive entry, p_i is 0 for every A. Then p_i is left out of g, and adds 0 to f.

Shapes: X (n, d), s (n, n), A (m, d), Q = A^T A (d, d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from cvxml.core.metric import FloatArray
from cvxml.methods.nca.instance import Instance


def log_p_ij(X: FloatArray, Q: FloatArray, i: int) -> FloatArray:
    """Return the logarithms of row i of p, (n,); -inf at i. Q (d, d) is A^T A."""
    exponents = np.empty(len(X))
    for k in range(len(X)):
        x_ik = X[i] - X[k]
        exponents[k] = -np.inf if k == i else -(x_ik @ Q @ x_ik)
    logs: FloatArray = exponents - logsumexp(exponents)
    return logs


def log_p_i(X: FloatArray, s: FloatArray, Q: FloatArray, i: int) -> float:
    """Return log sum_j s_ij p_ij; -inf if row i of s is zero."""
    if not (s[i] > 0).any():
        return -np.inf
    return float(logsumexp(log_p_ij(X, Q, i), b=s[i]))


def f(X: FloatArray, s: FloatArray, Q: FloatArray) -> float:
    """Return sum_i p_i. With classes, this is the expected number of points classified correctly."""
    return sum(float(np.exp(log_p_i(X, s, Q, i))) for i in range(len(X)))


def g(X: FloatArray, s: FloatArray, Q: FloatArray) -> float:
    """Return sum_i log p_i, over the rows of s that are not zero."""
    return sum(log_p_i(X, s, Q, i) for i in range(len(X)) if (s[i] > 0).any())


def objective(X: FloatArray, s: FloatArray, Q: FloatArray, criterion: str) -> float:
    """Return the objective to minimise, -f or -g."""
    return -(f if criterion == "f" else g)(X, s, Q)


def gradient_f(X: FloatArray, s: FloatArray, A: FloatArray) -> FloatArray:
    """Return the gradient of f in A, 2 A sum_i ( p_i sum_k p_ik x_ik x_ik^T - sum_j s_ij p_ij x_ij x_ij^T ), (m, d).

    The formula is as printed.
    """
    total = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        p = np.exp(log_p_ij(X, A.T @ A, i))
        p_i = s[i] @ p
        for k in range(len(X)):
            x_ik = X[i] - X[k]
            total += (p_i * p[k] - s[i, k] * p[k]) * np.outer(x_ik, x_ik)
    return 2 * A @ total


def gradient_g(X: FloatArray, s: FloatArray, A: FloatArray) -> FloatArray:
    """Return the gradient of g in A, (m, d), as printed.

    It is 2 A sum_i ( sum_k p_ik x_ik x_ik^T - sum_j s_ij p_ij x_ij x_ij^T / sum_j s_ij p_ij ).
    """
    total = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        if not (s[i] > 0).any():
            continue
        log_p = log_p_ij(X, A.T @ A, i)
        log_p_of_i = log_p_i(X, s, A.T @ A, i)
        for k in range(len(X)):
            x_ik = X[i] - X[k]
            share = np.exp(np.log(s[i, k]) + log_p[k] - log_p_of_i) if s[i, k] > 0 else 0.0
            total += (np.exp(log_p[k]) - share) * np.outer(x_ik, x_ik)
    return 2 * A @ total


def continuous_cost(X: FloatArray, w: FloatArray, A: FloatArray) -> float:
    """Return the cost that the note prints for continuous labels, for weights w (n, n) of the pairs.

    It is - sum_ab w_ab log( e^-|y_a - y_b|^2 / sum_cd e^-|y_c - y_d|^2 ) for the images y = A x. The denominator is the
    sum over all pairs c != d. So there is one distribution over all pairs; g has one for every point. The printed sum
    includes c = d, which would add n terms that are 1 for every A.
    """
    exponents = np.array([[-np.sum((A @ (a - b)) ** 2) for b in X] for a in X])
    np.fill_diagonal(exponents, -np.inf)
    log_q = exponents - logsumexp(exponents)
    return -sum(float(w[a, b] * log_q[a, b]) for a in range(len(X)) for b in range(len(X)) if w[a, b] > 0)


def continuous_gradient(X: FloatArray, w: FloatArray, A: FloatArray) -> FloatArray:
    """Return the gradient in A, (m, d), of the cost - sum_ab w_ab log q_ab: 2 A sum_ab (w_ab - W q_ab) x_ab x_ab^T.

    W: the sum of w. q_ab: e^-|y_a - y_b|^2 divided by its sum over all pairs a != b, for the images y = A x.
    """
    exponents = np.array([[-np.sum((A @ (a - b)) ** 2) for b in X] for a in X])
    np.fill_diagonal(exponents, -np.inf)
    q = np.exp(exponents - logsumexp(exponents))
    total = np.zeros((X.shape[1], X.shape[1]))
    for a in range(len(X)):
        for b in range(len(X)):
            total += (w[a, b] - w.sum() * q[a, b]) * np.outer(X[a] - X[b], X[a] - X[b])
    return 2 * A @ total


def evaluate(p: Instance, A: FloatArray) -> dict[str, Any]:
    """Return all intermediates at A (m, d), by the names of the note.

    objective: -f or -g, to minimise; f; g; A; p_ij (n, n); w_ij = s_ij p_ij / p_i (n, n); p_i (n,). gradient_f,
    gradient_g (m, d): in A. gradient_Q (d, d): that of the objective in Q.

    scale_derivative: the derivative of the objective at t A with respect to t, at t = 1. nearest (n,): the nearest
    other point of each point. continuous_cost: the value of the function of this name, for w = s.
    """
    X, n, d = p.X, *p.X.shape
    p_ij, w_ij, log_p_i = np.zeros((n, n)), np.zeros((n, n)), np.full(n, -np.inf)
    of_f, of_g = np.zeros((d, d)), np.zeros((d, d))
    nearest = np.zeros(n, dtype=np.intp)
    for i in range(n):
        x_i = X[i] - X
        distances = ((x_i @ A.T) ** 2).sum(axis=1)
        distances[i] = np.inf
        nearest[i] = int(distances.argmin())
        log_p = -distances - logsumexp(-distances)
        p_ij[i] = np.exp(log_p)
        if not p.usable[i]:
            continue
        s = p.row(i)
        log_p_i[i] = logsumexp(log_p, b=s)
        with np.errstate(divide="ignore"):
            w_ij[i] = np.exp(np.log(s) + log_p - log_p_i[i])
        of_f += x_i.T @ (((np.exp(log_p_i[i])) * (p_ij[i] - w_ij[i]))[:, None] * x_i)
        of_g += x_i.T @ ((p_ij[i] - w_ij[i])[:, None] * x_i)
    f, g = float(np.exp(log_p_i).sum()), float(log_p_i[p.usable].sum())
    G = -of_f if p.criterion == "f" else -of_g
    return {
        "objective": -f if p.criterion == "f" else -g,
        "f": f,
        "g": g,
        "A": A,
        "p_ij": p_ij,
        "p_i": np.exp(log_p_i),
        "w_ij": w_ij,
        "gradient_f": 2 * A @ of_f,
        "gradient_g": 2 * A @ of_g,
        "gradient_Q": G,
        "scale_derivative": 2 * float(np.sum(G * (A.T @ A))),
        "nearest": nearest,
        "continuous_cost": _continuous_cost(p, A),
    }


def _continuous_cost(p: Instance, A: FloatArray) -> float:
    images = p.X @ A.T
    of_row = np.empty(len(images))  # log of the sum over d of e^-|y_c - y_d|^2
    weighted, total = 0.0, 0.0
    for c in range(len(images)):
        distances = ((images[c] - images) ** 2).sum(axis=1)
        s = p.row(c)
        weighted += float(s @ distances)
        total += float(s.sum())
        distances[c] = np.inf
        of_row[c] = logsumexp(-distances)
    return weighted + total * float(logsumexp(of_row))
