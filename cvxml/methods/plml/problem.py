"""The two problems of PLML and their duals, stated literally in cvxpy (method.py names the sources).

The first problem finds weights W, with a row in the simplex for each point. The second finds basis metrics M_b for
given weights, so that point i has the metric sum_b W_ib M_b. A `Smooth` holds the inputs of the first problem: points,
anchors, similarity and the factors lam1, lam2.

Shapes: points X (n, d), anchors U (m, d), weights W (n, m), similarity s (n, n), symmetric, triplets (i, j, l) as
(t, 3), pairs (i, j) as (p, 2).
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.plml.weights import Smooth


def weights_problem(given: Smooth) -> cp.Problem:
    """The weights: the first problem of PLML. Variable: "W" (n, m)."""
    X, U, s = given.X, given.U, given.similarity
    W = cp.Variable((len(X), len(U)), name="W")
    #: G_bi = ||x_i - u_b||^2 | G_{bi} = \lVert \mathbf{x}_i - \mathbf{u}_b \rVert^2
    G = np.array([[np.sum((x - u) ** 2) for x in X] for u in U])
    near = cp.sum(cp.multiply(W, G.T))
    #: tr(W^T L W) = sum_{i<j} s_ij ||W_i - W_j||^2
    #:   | \operatorname{tr}(W^T L W) = \textstyle\sum_{i<j} s_{ij} \lVert W_i - W_j \rVert^2
    smooth = [s[i, j] * cp.sum_squares(W[i] - W[j]) for i, j in np.argwhere(np.triu(s, 1)).tolist()]
    #: min over W:  ||X - W U||^2 + lam1 tr(W G) + lam2 tr(W^T L W)
    #:   | \min_{W}\ \lVert X - W U \rVert_F^2 + \lambda_1 \operatorname{tr}(W G)
    #:     + \lambda_2 \operatorname{tr}(W^T L W)
    cost = cp.sum_squares(X - W @ U) + given.lam1 * near + given.lam2 * sum(smooth)
    #: W_ib >= 0,  sum_b W_ib = 1 | W_{ib} \ge 0, \quad \textstyle\sum_b W_{ib} = 1
    return cp.Problem(cp.Minimize(cost), [W >= 0, cp.sum(W, axis=1) == 1])


def weights_dual(given: Smooth) -> cp.Problem:
    """The dual of the problem of the weights. Variables: "V" (n, m) and "t" (n,).

    V is the point of a tangent to the objective g (weights.py); t_i is at most every entry of row i of grad g(V).
    """
    X, U, s = given.X, given.U, given.similarity
    V, t = cp.Variable((len(X), len(U)), name="V"), cp.Variable(len(X), name="t")
    #: L = diag(s 1) - s | L = \operatorname{diag}(s \mathbf{1}) - s
    L = np.diag(s.sum(axis=1)) - s
    G = np.array([[np.sum((x - u) ** 2) for x in X] for u in U])
    #: grad g(V) = 2 (V U - X) U^T + lam1 G^T + 2 lam2 L V
    #:   | \nabla g(V) = 2 (V U - X) U^T + \lambda_1 G^T + 2 \lambda_2 L V
    gradient = 2 * (V @ U - X) @ U.T + given.lam1 * G.T + 2 * given.lam2 * L @ V
    smooth = [s[i, j] * cp.sum_squares(V[i] - V[j]) for i, j in np.argwhere(np.triu(s, 1)).tolist()]
    #: max over V, t:  ||X||^2 - ||V U||^2 - lam2 tr(V^T L V) + sum_i t_i
    #:   | \max_{V,\, t}\ \lVert X \rVert_F^2 - \lVert V U \rVert_F^2
    #:     - \lambda_2 \operatorname{tr}(V^T L V) + \textstyle\sum_i t_i
    gained = np.sum(X**2) - cp.sum_squares(V @ U) - given.lam2 * sum(smooth) + cp.sum(t)
    #: t_i <= grad g(V)_ib for every b | t_i \le \nabla g(V)_{ib} \quad \text{for every } b
    return cp.Problem(cp.Maximize(gained), [t[i] <= gradient[i] for i in range(len(X))])


def problem(
    X: FloatArray, W: FloatArray, triplets: IntArray, pairs: IntArray, alpha1: float, alpha2: float
) -> cp.Problem:
    """The metrics, weights given: the second problem of PLML. Variables: "M_0" .. "M_{m-1}" (d, d) and "xi" (t,).

    xi: the slacks of the triplets. alpha1, alpha2: the weights of the squared norms, and of the distances of the pairs.
    """
    d, m = X.shape[1], W.shape[1]
    M = [cp.Variable((d, d), symmetric=True, name=f"M_{b}") for b in range(m)]
    xi = cp.Variable(len(triplets), name="xi")
    #: M(x_i) = sum_b W_ib M_b | \mathbf{M}(\mathbf{x}_i) = \textstyle\sum_b W_{ib} \mathbf{M}_b
    M_at = {i: sum(W[i, b] * M[b] for b in range(m)) for i in sorted({*triplets[:, 0].tolist()})}
    #: M_b psd,  xi >= 0 | \mathbf{M}_b \succeq 0, \quad \xi \ge 0
    constraints = [*(M_b >> 0 for M_b in M), xi >= 0]
    for t, (i, j, l) in enumerate(triplets.tolist()):
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        #: <M(x_i), H_t> >= 1 - xi_t for every triplet
        #:   | \langle \mathbf{M}(\mathbf{x}_i), H_t \rangle \ge 1 - \xi_t \quad \text{for every triplet}
        constraints += [cp.trace(M_at[i] @ H) >= 1 - xi[t]]
    #: pull = sum over pairs (i, j) of the triplets, each once, of (x_i - x_j)^T M(x_i) (x_i - x_j)
    #:   | \mathrm{pull} = \textstyle\sum_{(i,j)} (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M}(\mathbf{x}_i)
    #:     (\mathbf{x}_i - \mathbf{x}_j) \text{ over the pairs of the triplets, each once}
    pull = sum((X[i] - X[j]) @ M_at[i] @ (X[i] - X[j]) for i, j in pairs.tolist())
    cost = alpha1 * sum(cp.sum_squares(M_b) for M_b in M) + cp.sum(xi) + alpha2 * pull
    #: min over M_b, xi:  alpha1 sum_b ||M_b||^2 + sum_t xi_t + alpha2 pull
    #:   | \min_{\mathbf{M}_b,\, \xi}\ \alpha_1 \textstyle\sum_b \lVert \mathbf{M}_b \rVert_F^2
    #:     + \sum_t \xi_t + \alpha_2\, \mathrm{pull}
    return cp.Problem(cp.Minimize(cost), constraints)


def dual(
    X: FloatArray, W: FloatArray, triplets: IntArray, pairs: IntArray, alpha1: float, alpha2: float
) -> cp.Problem:
    """The dual of the problem of the metrics. Variables: "c" (t,), one per triplet, and "S_0" .. "S_{m-1}" (d, d).

    S_b is the multiplier of "M_b psd".
    """
    d, m = X.shape[1], W.shape[1]
    c = cp.Variable(len(triplets), name="c")
    S = [cp.Variable((d, d), symmetric=True, name=f"S_{b}") for b in range(m)]
    i, j, l = triplets.T
    H = np.einsum("ta,tb->tab", X[i] - X[l], X[i] - X[l]) - np.einsum("ta,tb->tab", X[i] - X[j], X[i] - X[j])
    e = X[pairs[:, 0]] - X[pairs[:, 1]]
    paid = []
    for b in range(m):
        pushed = cp.reshape((W[i, b, None] * H.reshape(len(H), -1)).T @ c, (d, d), order="C")
        #: K_b = sum_t c_t W_ib H_t - alpha2 sum over pairs of W_ib (x_i - x_j)(x_i - x_j)^T
        #:   | K_b = \textstyle\sum_t c_t W_{ib} H_t
        #:     - \alpha_2 \sum_{(i,j)} W_{ib} (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        K_b = pushed - alpha2 * (e * W[pairs[:, 0], b, None]).T @ e
        paid += [cp.sum_squares(K_b + S[b])]
    #: max over c, S_b:  sum_t c_t - 1/(4 alpha1) sum_b ||K_b + S_b||^2
    #:   | \max_{c,\, S_b}\ \textstyle\sum_t c_t - \tfrac{1}{4 \alpha_1} \sum_b \lVert K_b + S_b \rVert_F^2
    gained = cp.sum(c) - sum(paid) / (4 * alpha1)
    #: S_b psd,  0 <= c_t <= 1 | S_b \succeq 0, \quad 0 \le c_t \le 1
    return cp.Problem(cp.Maximize(gained), [*(S_b >> 0 for S_b in S), c >= 0, c <= 1])
    #: [What is proved]
    #: of the weights:  any V gives a lower bound of g, which is min g if V is an optimal W
    #:   | \text{of the weights: any } V \text{ gives a lower bound of } g \text{, which is } \min g
    #:     \text{ if } V \text{ is an optimal } W
    #: of the metrics for these weights:  any c within 0 and 1 gives a lower bound;  ||M - M*|| <= sqrt(gap/alpha1)
    #:   | \text{of the metrics for these weights: any } c \text{ within } 0 \text{ and } 1
    #:     \text{ gives a lower bound; } \lVert \mathbf{M} - \mathbf{M}^* \rVert_F \le \sqrt{\mathrm{gap} / \alpha_1}
    #: no joint optimum of weights and metrics:  the joint problem is not convex; the paper does not solve it
    #:   | \text{no joint optimum of weights and metrics: the joint problem is not convex; the paper does not solve it}
