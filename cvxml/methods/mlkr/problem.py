"""The convex step of MLKR at a metric Q0, and its dual, in cvxpy, written only from the definition.

The step is the minimization of a convex function of the metric Q that is at least F, and equals F at Q0.

Write yhat_i - y_i = P_i - N_i, where P_i sums p_ij |y_j - y_i| over y_j > y_i, and N_i over y_j < y_i. Then
    F = sum_i P_i^2 + N_i^2 - 2 P_i N_i,     log P_i = log sum_j |y_j - y_i| e^-D_ij - log sum_k e^-D_ik.
Both logarithms of sums are convex in Q. In P_i^2 and N_i^2, the second logarithm is replaced by its tangent b_i at Q0.
The term -2 P_i N_i is a concave function of log P_i N_i, namely -2 exp. It is replaced by its tangent, which is linear
in log P_i N_i = log P_i + log N_i. In this linear function, the first logarithm of log P_i and that of log N_i are
replaced by their tangents at Q0; a_i is the sum of these two tangents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from scipy.special import logsumexp

from cvxml.core.metric import FloatArray


def problem(X: FloatArray, y: FloatArray, Q0: FloatArray) -> Any:
    """The convex step at the metric Q0 (d, d). Variable: "Q" (d, d). y (n,): real targets."""
    #: [The problem, which is not convex]
    #: min over A (m, d):  F = sum_i (y_i - yhat_i)^2,   yhat_i = sum_j p_ij y_j
    #:   | \min_{A \in \mathbb{R}^{m \times d}}\ F = \sum_i (y_i - \hat y_i)^2,
    #:     \quad \hat y_i = \sum_j p_{ij} y_j
    #: p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),   p_ii = 0
    #:   | p_{ij} = \frac{\exp(-\lVert A x_i - A x_j \rVert^2)}{\sum_{k \ne i} \exp(-\lVert A x_i - A x_k \rVert^2)},
    #:     \quad p_{ii} = 0
    #: yhat_i - y_i = P_i - N_i:  P_i sums p_ij |y_j - y_i| over y_j > y_i, and N_i over y_j < y_i
    #:   | \hat y_i - y_i = P_i - N_i \text{: } P_i \text{ sums } p_{ij} |y_j - y_i|
    #:     \text{ over } y_j > y_i \text{, and } N_i \text{ over } y_j < y_i

    Q = cp.Variable((X.shape[1],) * 2, symmetric=True, name="Q")
    terms = []
    for i in range(len(X)):
        at = tangents(X, y, Q0, i)
        x_i = X[i] - X
        #: D_ik = (x_i - x_k)^T Q (x_i - x_k) | D_{ik} = (x_i - x_k)^T Q (x_i - x_k)
        D = cp.sum(cp.multiply(x_i @ Q, x_i), axis=1)
        #: b_i <= log sum_{k != i} e^-D_ik,  its tangent at Q0
        #:   | b_i \le \log \textstyle\sum_{k \ne i} e^{-D_{ik}} \text{, its tangent at } Q_0
        b = at.log_sum - at.p @ (D - at.D)
        for part in at.parts:
            #: R_i = (sum_j |y_j - y_i| e^(-D_ij - b_i))^2,  one over y_j > y_i and one over y_j < y_i
            #:   | R_i = (\textstyle\sum_j |y_j - y_i|\, e^{-D_{ij} - b_i})^2,
            #:     \quad \text{one over } y_j > y_i \text{ and one over } y_j < y_i
            terms += [cp.square(cp.exp(cp.log_sum_exp(part.log_size - D[part.of] - b)))]
        if len(at.parts) == 2:
            #: a_i:  the sum of the tangents at Q0 of the two log sum_j |y_j - y_i| e^-D_ij
            #:   | a_i \text{: the sum of the tangents at } Q_0 \text{ of the two }
            #:     \log \textstyle\sum_j |y_j - y_i|\, e^{-D_{ij}}
            a = sum(part.log_sum - part.w @ (D - at.D)[part.of] for part in at.parts)
            both = np.prod([part.value for part in at.parts])
            others = np.arange(len(X)) != i
            #: C_i = 2 P_i N_i (1 + a_i - 2 log sum_{k != i} e^-D_ik - log P_i N_i),  P_i and N_i at Q0
            #:   | C_i = 2 P_i N_i (1 + a_i - 2 \log \textstyle\sum_{k \ne i} e^{-D_{ik}} - \log P_i N_i),
            #:     \quad P_i \text{ and } N_i \text{ at } Q_0
            terms += [-2 * both * (1 + a - np.log(both)) + 4 * both * cp.log_sum_exp(-D[others])]
    #: Q psd | Q \succeq 0
    constraints = [Q >> 0]
    #: min over Q:  the sum of all R_i minus the sum of all C_i
    #:   | \min_{Q}\ \text{the sum of all } R_i \text{ minus the sum of all } C_i
    return cp.Problem(cp.Minimize(sum(terms)), constraints)


class Part(NamedTuple):
    """The terms of P_i at Q0 for one point i, with y_j > y_i; or the terms of N_i, with y_j < y_i.

    of: the indices j of these terms. log_size: log |y_j - y_i|. log_sum: log sum_j |y_j - y_i| e^-D_ij. w: the share of
    each term in this sum. value: P_i or N_i.
    """

    of: Any  # the indices of these points
    log_size: FloatArray  # log |y_j - y_i|
    log_sum: float  # log sum |y_j - y_i| e^-D_ij
    w: FloatArray  # the share of each term in this sum
    value: float  # P_i or N_i


class Tangents(NamedTuple):
    """The values of point i at Q0 that define the tangents in the convex step.

    D (n,): squared distances D_ik. p (n,): weights p_ik. log_sum: log sum_{k != i} e^-D_ik. parts: one `Part`
    for P_i and one for N_i; a sum without terms has no `Part`.
    """

    D: FloatArray  # D_ik (n,)
    p: FloatArray  # p_ik (n,)
    log_sum: float  # log sum_{k != i} e^-D_ik
    parts: list[Part]


def tangents(X: FloatArray, y: FloatArray, Q0: FloatArray, i: int) -> Tangents:
    D = np.array([(X[i] - x) @ Q0 @ (X[i] - x) for x in X])
    others = np.arange(len(X)) != i
    log_sum = float(logsumexp(-D[others]))
    p = np.where(others, np.exp(-D - log_sum), 0.0)
    parts = []
    for sign in (1, -1):
        of = np.flatnonzero(sign * (y - y[i]) > 0)
        if len(of):
            logs = np.log(np.abs(y[of] - y[i]))
            own = float(logsumexp(logs - D[of]))
            parts += [Part(of, logs, own, np.exp(logs - D[of] - own), float(np.exp(own - log_sum)))]
    return Tangents(D, p, log_sum, parts)


def dual(X: FloatArray, y: FloatArray, Q0: FloatArray) -> Any:
    """The dual of the problem.

    The variable "q" (n, n - 1) has for each point i one entry for each other point k. The variable "w" has for each
    point one entry for each point with a larger target, then one for each point with a smaller target.
    """
    n, d = X.shape
    at = [tangents(X, y, Q0, i) for i in range(n)]
    #: w_ij >= 0,  q_ik >= 0 for k != i | w_{ij} \ge 0, \quad q_{ik} \ge 0 \quad (k \ne i)
    w = cp.Variable(sum(len(part.of) for each in at for part in each.parts), nonneg=True, name="w")
    q = cp.Variable((n, n - 1), nonneg=True, name="q")
    value: Any = 0.0
    surplus: Any = np.zeros((d, d))
    start = 0
    for i, own in enumerate(at):
        x_i = X[i] - X
        for part in own.parts:
            w_i = w[start : start + len(part.of)]
            start += len(part.of)
            #: W_i = sum_j w_ij,  over those above, and over those below
            #:   | W_i = \textstyle\sum_j w_{ij} \text{, over those above, and over those below}
            W = cp.sum(w_i)
            #: R_i = sum_j w_ij (log |y_j - y_i| - b_i - log(w_ij/W_i)) - (W_i log(W_i/2) - W_i)/2,  b_i at Q = 0
            #:   | R_i = \textstyle\sum_j w_{ij} (\log |y_j - y_i| - b_i - \log(w_{ij}/W_i))
            #:     - (W_i \log(W_i/2) - W_i)/2, \quad b_i \text{ at } Q = 0
            value += w_i @ part.log_size - (own.log_sum + own.p @ own.D) * W
            value -= cp.sum(cp.rel_entr(w_i, W * np.ones(len(part.of))))
            value += cp.entr(W) / 2 + (1 + np.log(2)) * W / 2
            rows = x_i[part.of]
            surplus = surplus + W * (x_i.T @ np.diag(own.p) @ x_i) - rows.T @ cp.diag(w_i) @ rows
        both = float(np.prod([part.value for part in own.parts])) if len(own.parts) == 2 else 0.0
        if both:
            #: C_i = 2 P_i N_i (1 + a_i - 2 H(q_i) - log P_i N_i),  H the entropy, a_i at Q = 0
            #:   | C_i = 2 P_i N_i (1 + a_i - 2 H(q_i) - \log P_i N_i),
            #:     \quad H \text{ the entropy, } a_i \text{ at } Q = 0
            a = sum(part.log_sum + part.w @ own.D[part.of] for part in own.parts)
            value += 4 * both * cp.sum(cp.entr(q[i])) - 2 * both * (1 + a - np.log(both))
            for part in own.parts:
                rows = x_i[part.of]
                surplus = surplus + 2 * both * (rows.T @ np.diag(part.w) @ rows)
            rest = x_i[np.arange(n) != i]
            surplus = surplus - 4 * both * (rest.T @ cp.diag(q[i]) @ rest)
    #: for every i:  sum_{k != i} q_ik = 1 | \sum_{k \ne i} q_{ik} = 1 \quad \text{for every } i
    constraints = [cp.sum(q, axis=1) == 1]
    #: psd:  sum_ij (W_i p_ij - w_ij + 2 P_i N_i (w0_ij - 2 q_ij)) X_ij,  W_i p_ij for both, w0 the shares at Q0
    #:   | \text{psd: } \textstyle\sum_{ij} (W_i p_{ij} - w_{ij} + 2 P_i N_i (w0_{ij} - 2 q_{ij})) X_{ij},
    #:     \quad W_i p_{ij} \text{ for both, } w0 \text{ the shares at } Q_0
    constraints += [surplus >> 0]
    #: max over w, q:  the sum of all R_i minus the sum of all C_i
    #:   | \max_{w, q}\ \text{the sum of all } R_i \text{ minus the sum of all } C_i
    return cp.Problem(cp.Maximize(value), constraints)
    #: [What is proved]
    #: the step equals F at Q0, and is at least F everywhere
    #:   | \text{the step equals } F \text{ at } Q_0 \text{, and is at least } F \text{ everywhere}
    #: max(|A|, 1) |dF/dA| at most tol of the scale,  in coordinates of unit covariance
    #:   | \max(\lVert A \rVert, 1)\, \lVert dF/dA \rVert \text{ at most tol of the scale,
    #:     in coordinates of unit covariance}
    #: -max(|A|, 1)^2 lambda_min(dF/dQ) at most tol of the scale, if A may have one more row
    #:   | -\max(\lVert A \rVert, 1)^2\, \lambda_{\min}(dF/dQ) \text{ at most tol of the scale,
    #:     if } A \text{ may have one more row}
    #: F > 0 at every metric: at the largest target the prediction is less
    #:   | F > 0 \text{ at every metric: at the largest target the prediction is less}
