"""The problem of LFDA for the embedding "plain" and its dual, in cvxpy, written only from the definition.

Plain metrics are M = T T^T, for T (d, r) with T^T S_w T = I. The problem is over their convex hull.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.lfda.definitions import scatters


def problem(X: FloatArray, y: IntArray, r: int, k: int, alpha: float) -> Any:
    """The problem over the hull of the plain metrics. Variable: "M" (d, d).

    y (n,): class codes. r: the number of components. k: the K of the affinities. alpha: added to the diagonal of S_w.
    """
    #: [The problem, in T]
    #: max over T (d, r):  tr (T^T S_w T)^-1 T^T S_b T
    #:   | \max_{T \in \mathbb{R}^{d \times r}}\ \operatorname{tr} (T^T S_w T)^{-1} T^T S_b T
    #: plain: T^T S_w T = I, so that M = T T^T has M S_w M = M and tr(S_w M) = r
    #:   | \text{plain: } T^T S_w T = I \text{, so that } M = T T^T \text{ has } M S_w M = M
    #:     \text{ and } \operatorname{tr}(S_w M) = r

    S_w, S_b = scatters(X, y, k, alpha)
    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    #: M psd,  S_w - S_w M S_w psd | M \succeq 0, \quad S_w - S_w M S_w \succeq 0
    constraints = [M >> 0, S_w - S_w @ M @ S_w >> 0]
    #: tr(S_w M) = r | \operatorname{tr}(S_w M) = r
    constraints += [cp.trace(S_w @ M) == r]
    #: min over M:  -tr(S_b M) | \min_{M}\ -\operatorname{tr}(S_b M)
    return cp.Problem(cp.Minimize(-cp.trace(S_b @ M)), constraints)


def dual(X: FloatArray, y: IntArray, r: int, k: int, alpha: float) -> Any:
    """The dual of the problem. Variables: "s" of the constraint tr(S_w M) = r, and "N" (d, d) of M <= S_w^-1.

    y (n,): class codes. r: the number of components. k: the K of the affinities. alpha: added to the diagonal of S_w.
    """
    S_w, S_b = scatters(X, y, k, alpha)
    s = cp.Variable(name="s")
    N = cp.Variable((X.shape[1],) * 2, symmetric=True, name="N")
    #: N psd,  s S_w + S_w N S_w - S_b psd | N \succeq 0, \quad s\, S_w + S_w N S_w - S_b \succeq 0
    constraints = [N >> 0, s * S_w + S_w @ N @ S_w - S_b >> 0]
    #: max over s, N:  -(r s + tr(S_w N)) | \max_{s, N}\ -(r s + \operatorname{tr}(S_w N))
    return cp.Problem(cp.Maximize(-(r * s + cp.trace(S_w @ N))), constraints)
    #: [What is proved]
    #: l_1 >= l_2 >= ..: the eigenvalues of (S_b, S_w)
    #:   | l_1 \ge l_2 \ge \ldots \text{: the eigenvalues of } (S_b, S_w)
    #: any s gives the lower bound  -(r s + sum_k max(l_k - s, 0))
    #:   | \text{any } s \text{ gives the lower bound } -(r s + \textstyle\sum_k \max(l_k - s, 0))
    #: the optimum is  -(l_1 + .. + l_r),  and the range of T is unique if and only if l_r > l_{r+1}
    #:   | \text{the optimum is } -(l_1 + \ldots + l_r)
    #:     \text{, and the range of } T \text{ is unique if and only if } l_r > l_{r+1}
    #: the metric is T T^T,  plain, or weighted: T^T S_w T = diag(l), or orthonormal: T^T T = I
    #:   | \text{the metric is } T T^T \text{, plain, or weighted: } T^T S_w T = \operatorname{diag}(l)
    #:     \text{, or orthonormal: } T^T T = I
