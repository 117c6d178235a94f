"""The convex step of NCA (Goldberger et al. 2004) at a Q0, its dual, and the convex case of NCA; in cvxpy.

Our source, called the note (method.py), prints f, g and their gradients, which are in definitions.py as printed, and
leaves the optimizer open. We add that g is a difference of convex functions of Q = A^T A, and derive the step from
this. No formula of the note is corrected.

Let X_ij = (x_i - x_j)(x_i - x_j)^T, and let p_ij be the softmax of -<Q, X_ij> over j != i. With the similarity s_ij,
p_i = sum_j s_ij p_ij, f = sum_i p_i, and g = sum_i log p_i. Then log p_i is the difference of
log sum_j s_ij e^-<Q, X_ij> and log sum_{k != i} e^-<Q, X_ik>, which are convex in Q. The first is at least its tangent
at Q0, with w_ij = s_ij p_ij / p_i at Q0:

    log sum_j s_ij e^-<Q, X_ij>  >=  - sum_j w_ij <Q, X_ij> - sum_j w_ij log(w_ij / s_ij).

Inserting the tangent in -g gives the step of CCCP (the concave-convex procedure), an exponential-cone program. For f we
first take the tangent of e^t at t = log p_i(Q0): p_i >= p0_i + p0_i (log p_i - log p0_i), with p0_i = p_i(Q0). This is
g with weights c_i = p0_i, up to a constant. The step is written from X and s alone, by loops, without descent.py and
certify.py.

In the functions, X (n, d) are the points, s (n, n) the similarities, Q0 (d, d) the metric of the step, and criterion is
"f" or "g".

Reference: J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, Neighbourhood components analysis, NIPS 2004.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.nca.definitions import log_p_i, log_p_ij


def step(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> cp.Problem:
    """The convex step of CCCP at Q0. Variable: "Q" (d, d).

    It is at least -f or -g everywhere, and equal to it at Q0.
    """
    #: [The problem, which is not convex in A]
    #: min over A (m, d):  -f(A) = - sum_i p_i   or   -g(A) = - sum_i log p_i
    #:   | \min_{A \in \mathbb{R}^{m \times d}}\ {-f}(A) = - \sum_i p_i
    #:     \quad \text{or} \quad {-g}(A) = - \sum_i \log p_i
    #: p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),   p_ii = 0
    #:   | p_{ij} = \frac{\exp(-\lVert A x_i - A x_j \rVert^2)}{\sum_{k \ne i} \exp(-\lVert A x_i - A x_k \rVert^2)},
    #:     \quad p_{ii} = 0
    #: p_i = sum_j s_ij p_ij,   s_ij = 1 for another j of the class of i, else 0; or a similarity
    #:   | p_i = \sum_j s_{ij} p_{ij},
    #:     \quad s_{ij} = 1 \text{ for another } j \text{ of the class of } i, \text{ else } 0 \text{; or a similarity}
    #: in Q = A^T A a difference of convex functions, X_ij = (x_i - x_j)(x_i - x_j)^T:
    #:   | \text{in } Q = A^T A \text{ a difference of convex functions,
    #:     with } X_{ij} = (x_i - x_j)(x_i - x_j)^T \text{:}
    #: -g = sum_i [ log sum_{k != i} e^-<Q, X_ik> - log sum_j s_ij e^-<Q, X_ij> ]
    #:   | -g = \sum_i \Bigl[ \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle}
    #:     - \log \sum_j s_{ij} e^{-\langle Q, X_{ij} \rangle} \Bigr]

    d = X.shape[1]
    Q = cp.Variable((d, d), symmetric=True, name="Q")
    c, w, constant = at(X, s, Q0, criterion)
    terms = []
    for i in range(len(X)):
        #: i without a positive s_ij: left out | i \text{ without a positive } s_{ij} \text{: left out}
        if not (s[i] > 0).any():
            continue
        x_i = X[i] - X  # row k: x_i - x_k
        #: <Q, X_ik> = (x_i - x_k)^T Q (x_i - x_k) | \langle Q, X_{ik} \rangle = (x_i - x_k)^T Q (x_i - x_k)
        distances = cp.sum(cp.multiply(x_i @ Q, x_i), axis=1)
        others = [k for k in range(len(X)) if k != i]
        #: min over Q:  sum_i c_i [ log sum_{k != i} e^-<Q, X_ik> + sum_j w_ij <Q, X_ij> ] + const
        #:   | \min_{Q}\ \sum_i c_i \Bigl[ \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle}
        #:     + \sum_j w_{ij} \langle Q, X_{ij} \rangle \Bigr] + \mathrm{const}
        terms.append(c[i] * (cp.log_sum_exp(-distances[others]) + w[i] @ distances))
    #: Q psd | Q \succeq 0
    return cp.Problem(cp.Minimize(sum(terms) + constant), [Q >> 0])


def dual(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> cp.Problem:
    """The dual of the step. Variable: "q" (u, n - 1), with a row over k != i for each of u points i.

    These are the points with some s_ij > 0.
    """
    n, d = X.shape
    c, w, constant = at(X, s, Q0, criterion)
    rows = [i for i in range(n) if (s[i] > 0).any()]
    #: q_ik >= 0 for k != i | q_{ik} \ge 0 \quad (k \ne i)
    q = cp.Variable((len(rows), n - 1), nonneg=True, name="q")
    surplus: Any = np.zeros((d, d))
    for row, i in enumerate(rows):
        x_i = X[i] - X
        others = [k for k in range(n) if k != i]
        #: sum_ij c_i (w_ij - q_ij) X_ij psd | \sum_{i,j} c_i (w_{ij} - q_{ij}) X_{ij} \succeq 0
        surplus = surplus + c[i] * (
            x_i.T @ np.diag(w[i]) @ x_i - x_i[others].T @ cp.diag(q[row]) @ x_i[others]
        )
    entropy = c[rows] @ cp.sum(cp.entr(q), axis=1)
    #: max over q:  sum_i c_i H(q_i) + const,  H(q_i) = - sum_{k != i} q_ik log q_ik
    #:   | \max_{q}\ \sum_i c_i H(q_i) + \mathrm{const}, \quad H(q_i) = - \sum_{k \ne i} q_{ik} \log q_{ik}
    #: for every i:  sum_{k != i} q_ik = 1 | \sum_{k \ne i} q_{ik} = 1 \quad \text{for every } i
    return cp.Problem(cp.Maximize(entropy + constant), [cp.sum(q, axis=1) == 1, surplus >> 0])
    #: [What is proved]
    #: any feasible q gives a lower bound on the step | \text{any feasible } q \text{ gives a lower bound on the step}
    #: the step equals -f or -g at Q0, and is at least that everywhere
    #:   | \text{the step equals } {-f} \text{ or } {-g} \text{ at } Q_0 \text{, and is at least that everywhere}


def at(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> tuple[FloatArray, FloatArray, float]:
    """The weights c (n,) and w (n, n) and the constant of the step at Q0. There the step equals -f or -g.

    c_i is p_i for f and 1 for g, and w_ij = s_ij p_ij / p_i. Both are 0 for points without an s_ij > 0.
    """
    n = len(X)
    c, w, constant = np.zeros(n), np.zeros((n, n)), 0.0
    for i in range(n):
        if not (s[i] > 0).any():
            continue
        log_p = log_p_i(X, s, Q0, i)
        p = np.exp(log_p)
        #: c_i = p_i for f,  c_i = 1 for g | c_i = p_i \text{ for } f, \quad c_i = 1 \text{ for } g
        c[i] = p if criterion == "f" else 1.0
        row = log_p_ij(X, Q0, i)
        for j in np.flatnonzero(s[i]):
            #: w_ij = s_ij p_ij / p_i | w_{ij} = s_{ij} p_{ij} / p_i
            log_w = np.log(s[i, j]) + row[j] - log_p
            w[i, j] = np.exp(log_w)
            #: const = sum_i c_i sum_j w_ij log(w_ij / s_ij)
            #:   | \mathrm{const} = \sum_i c_i \sum_j w_{ij} \log(w_{ij} / s_{ij})
            constant += c[i] * w[i, j] * (log_w - np.log(s[i, j]))
        if criterion == "f":
            #: for f also + sum_i ( p_i log p_i - p_i ) | \text{for } f \text{ also } + \sum_i ( p_i \log p_i - p_i )
            constant += p * log_p - p
    return c, w, float(constant)


def pairs(X: FloatArray, partner: list[int]) -> cp.Problem:
    """The convex problem if every class has two points. It minimizes -g itself, without steps. Variable: "Q" (d, d).

    Points i and partner[i] form a class, where s_ij is 1.
    """
    n, d = X.shape
    Q = cp.Variable((d, d), symmetric=True, name="Q")
    terms = []
    #: j(i): the other of the class of i | j(i) \text{: the other point of the class of } i
    for i in range(n):
        #: <Q, X_ik> = (x_i - x_k)^T Q (x_i - x_k) | \langle Q, X_{ik} \rangle = (x_i - x_k)^T Q (x_i - x_k)
        distances = [cp.quad_form(X[i] - X[k], Q, assume_PSD=True) for k in range(n)]
        others = cp.hstack([-distances[k] for k in range(n) if k != i])
        #: min over Q:  -g = sum_i [ <Q, X_ij(i)> + log sum_{k != i} e^-<Q, X_ik> ]
        #:   | \min_{Q}\ {-g} = \sum_i \Bigl[ \langle Q, X_{i j(i)} \rangle
        #:     + \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle} \Bigr]
        terms.append(distances[partner[i]] + cp.log_sum_exp(others))
    #: Q psd | Q \succeq 0
    return cp.Problem(cp.Minimize(sum(terms)), [Q >> 0])
