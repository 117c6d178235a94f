"""The local scatter matrices and affinities of LFDA, computed pair by pair from the definition.

A local scatter matrix is sum_{i<j} W_ij (x_i - x_j)(x_i - x_j)^T. In a class of n_c points, S_w has W_ij = A_ij / n_c,
and S_b has W_ij = A_ij (1/n - 1/n_c). For points of two classes, S_w has W_ij = 0, and S_b has W_ij = 1/n.

In the affinity A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i is the distance of x_i to the K-th nearest point of its
class.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, IntArray


def scatters(X: FloatArray, y: IntArray, k: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The local scatter matrices: S_w (d, d) within classes, with alpha I added, and S_b (d, d) between classes.

    X (n, d), y (n,) class codes. k: the K of the affinities.
    """
    n, d = X.shape
    A = affinity(X, y, k)
    #: S_w = sum_{i<j} W_w (x_i - x_j)(x_i - x_j)^T + alpha I,  where alpha is ours
    #:   | S_w = \textstyle\sum_{i<j} W_w (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    #:     + \alpha I, \quad \text{where } \alpha \text{ is ours}
    S_w = alpha * np.eye(d)
    #: S_b = sum_{i<j} W_b (x_i - x_j)(x_i - x_j)^T
    #:   | S_b = \textstyle\sum_{i<j} W_b (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    S_b = np.zeros((d, d))
    for i in range(n):
        for j in range(i + 1, n):
            X_ij = np.outer(X[i] - X[j], X[i] - X[j])
            if y[i] == y[j]:
                n_c = np.count_nonzero(y == y[i])
                #: in a class of n_c points  W_w = A_ij/n_c,  W_b = A_ij (1/n - 1/n_c)
                #:   | \text{in a class of } n_c \text{ points } W_w = A_{ij}/n_c,
                #:     \quad W_b = A_{ij} (1/n - 1/n_c)
                S_w += A[i, j] / n_c * X_ij
                S_b += A[i, j] * (1 / n - 1 / n_c) * X_ij
            else:
                #: of two classes  W_w = 0,  W_b = 1/n | \text{of two classes } W_w = 0, \quad W_b = 1/n
                S_b += X_ij / n
    return S_w, S_b


def affinity(X: FloatArray, y: IntArray, k: int) -> FloatArray:
    """The affinities: A_ij (n, n) of all points, 0 between classes and where s_i s_j = 0.

    X (n, d), y (n,) class codes. k: the K of s_i, the distance of x_i to the K-th nearest point of its class.
    """
    n = len(X)
    s, A = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        #: s_i = the distance of x_i to the K-th nearest of its class
        #:   | s_i = \text{the distance of } \mathbf{x}_i \text{ to the } K \text{-th nearest of its class}
        s[i] = sorted(np.linalg.norm(X[i] - X[j]) for j in range(n) if y[j] == y[i] and j != i)[k - 1]
    for i in range(n):
        for j in range(n):
            if y[i] == y[j] and s[i] * s[j] > 0:
                #: A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)),  0 where s_i s_j = 0
                #:   | A_{ij} = \exp(-\lVert \mathbf{x}_i - \mathbf{x}_j \rVert^2 / (s_i s_j)),
                #:     \quad 0 \text{ where } s_i s_j = 0
                A[i, j] = np.exp(-np.sum((X[i] - X[j]) ** 2) / (s[i] * s[j]))
    return A
