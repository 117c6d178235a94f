"""The literal problem of GLML at one query, as the papers state it, and its dual. Equation numbers are those of 2018.

The problem (11) is to minimise (tr A^-1 B)^2 over the metrics A of determinant 1, for a symmetric B, which
definitions.py computes. Corrected: the papers call (11), which is (8) of 2010, a simple SDP in A. It is not convex in
A. So it is stated in M = A^-1 with |M| >= 1, which is convex and has the same optimal value. The reason: if |M| >= 1,
then M / |M|^(1/D) has determinant 1, and its |tr M B| is not larger.

`dual`. Let s be a sign with s B >> 0, and t = s tr[M B]. The Lagrangian t^2 + y (s tr[M B] - t) - u log det M has its
minimum at M = (u / y) (s B)^-1, t = y / 2. If neither B nor -B is positive definite, the infimum of the Lagrangian over
M is -infinity for u > 0, and -y^2/4 or -infinity for u = 0. So the dual value is 0.

Shapes: B, M (D, D).

Reference: Y.-K. Noh, B.-T. Zhang, D. D. Lee, Generative Local Metric Learning for Nearest Neighbor Classification, NIPS
2010; and IEEE TPAMI 40(1), 2018.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.core.metric import FloatArray


def problem(B: FloatArray) -> cp.Problem:
    """The problem at one query, convex in the inverse of A. Variable: "M" (D, D), this inverse."""
    #: [The problem at a query x, which is not convex in A]
    #: min over A:  (tr[A^-1 B])^2   such that   |A| = 1, A psd
    #:   | \min_{A}\ (\operatorname{tr}[A^{-1} B])^2 \quad \text{such that} \quad |A| = 1, \ A \succeq 0 | (11)
    #: B = sum_i Hess(p_i) ( sum_{j != i} p_j^2 - p_i sum_{j != i} p_j )
    #:   | B = \sum_{i=1}^{C} \nabla\nabla p_i \Bigl( \sum_{j \ne i} p_j^2 - p_i \sum_{j \ne i} p_j \Bigr) | (14)
    #: B = sum_{i < j} p_i p_j (p_j - p_i) (G_i - G_j),   G_i = Hess(p_i) / p_i
    #:   | B = \sum_{i < j} p_i p_j (p_j - p_i) (G_i - G_j), \quad G_i = \nabla\nabla p_i / p_i
    #: Gaussian classes:  G_c = S_c (x - mu_c)(x - mu_c)^T S_c - S_c,   S_c = (Sigma_c + alpha I)^-1
    #:   | G_c = S_c (\mathbf{x} - \mu_c)(\mathbf{x} - \mu_c)^T S_c - S_c, \quad S_c = (\Sigma_c + \alpha I)^{-1}
    #:     \quad \text{(Gaussian)} | (15)
    #: p_i holds the prior of class i; only the direction of B matters: it is divided by its norm
    #:   | p_i \text{ holds the prior of class } i \text{; only the direction of } B \text{ matters:}
    #:     \ B \leftarrow B / \lVert B \rVert

    D = len(B)
    #: M = A^-1 (D, D) | M = A^{-1} \in \mathbb{R}^{D \times D}
    M = cp.Variable((D, D), symmetric=True, name="M")
    #: min over M:  (tr[M B])^2 | \min_{M}\ (\operatorname{tr}[M B])^2
    #: log det M >= 0   (|M| = 1 loses nothing: M / |M|^(1/D) is no worse)
    #:   | \log \det M \ge 0 \quad \text{(} |M| = 1 \text{ loses nothing: } M / |M|^{1/D} \text{ is no worse)}
    return cp.Problem(cp.Minimize(cp.square(cp.trace(M @ B))), [cp.log_det(M) >= 0])


def dual(B: FloatArray) -> cp.Problem:
    """The dual problem. Variables: "y" and "u", both scalars."""
    D = len(B)
    #: y >= 0,  u >= 0 | y \ge 0, \quad u \ge 0
    y, u = cp.Variable(nonneg=True, name="y"), cp.Variable(nonneg=True, name="u")
    values = np.linalg.eigvalsh(B)
    #: if neither B nor -B is positive definite, the dual value is 0, at y = u = 0; stated as:
    #:   | \text{if neither } B \text{ nor } {-B} \text{ is positive definite, the dual value is } 0
    #:     \text{, at } y = u = 0 \text{; stated as:}
    if values[0] <= 0 <= values[-1]:
        #: max - y^2/4 - u  with  y = 0 | \max\ {-y^2} / 4 - u \quad \text{with } y = 0
        return cp.Problem(cp.Maximize(-cp.square(y) / 4 - u), [y == 0])
    #: log det(s B) = sum_i log |lambda_i(B)| | \log \det(s B) = \sum_i \log |\lambda_i(B)|
    logdet = float(np.sum(np.log(np.abs(values))))
    #: max over y, u:  D u - D u log(u/y) + u log det(s B) - y^2/4,  s = +-1 with s B positive definite
    #:   | \max_{y,\, u}\ D u - D u \log(u / y) + u \log \det(s B) - y^2 / 4,
    #:     \quad s = \pm 1 \text{ with } s B \succ 0
    return cp.Problem(cp.Maximize(D * u - D * cp.rel_entr(u, y) + u * logdet - cp.square(y) / 4))
    #: [What is proved]
    #: s B positive definite:  the best y, u give (D |det B|^(1/D))^2, attained at A proportional to s B
    #:   | s B \succ 0 \text{: the best } y, u \text{ give } (D\, |\det B|^{1/D})^2,
    #:     \text{ attained at } A \propto s B
    #: B indefinite:  0 is attained, by many A | B \text{ indefinite: } 0 \text{ is attained, by many } A
    #: B != 0, singular and semidefinite:  0 is the infimum, and not attained
    #:   | B \ne 0 \text{ singular and semidefinite: } 0 \text{ is the infimum, and not attained}
    #: B = 0:  every A is optimal | B = 0 \text{: every } A \text{ is optimal}
