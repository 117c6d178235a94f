"""The Nesterov-Todd scaling of a positive definite metric and its multiplier, for interior-point methods.

A (d, d) is the metric, and S (d, d) the multiplier of "A is psd". A matrix R makes both the same diagonal matrix:

    R^-1 A R^-T = R^T S R = diag(sigma),      W = R R^T.

A step changes A by dA and S by dS. After the step, the product of the scaled A and S should be a given multiple of I.
To first order, this is the following equation, with the matrix K that `target` computes:

    dS + W^-1 dA W^-1 = R^-T K R^-1.

If the regularizer is lam/2 ||A||^2, then the equations for dA have the matrix lam I + W^-1 (x) W^-1 + B^T B. Here (x)
is the Kronecker product, and B comes from the losses. The first two terms are diagonal in the eigenbasis Q of W.
Coordinates are scaled so that this diagonal is I. `rows` and `right` give B and the right side in these coordinates,
and `back` returns dA.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from cvxml.core.metric import FloatArray


class Scaling:
    """The scaling of one iterate A, S (d, d). lam: the weight of the squared norm.

    Raises LinAlgError if A or S is not positive definite.
    """

    def __init__(self, A: FloatArray, S: FloatArray, lam: float):
        d = len(A)
        self.a, self.b = np.triu_indices(d)
        self.twice = np.where(self.a == self.b, 1.0, np.sqrt(2))
        LA, LS = np.linalg.cholesky(A), np.linalg.cholesky((S + S.T) / 2)
        _, self.sigma, Vt = np.linalg.svd(LS.T @ LA)
        root = np.sqrt(self.sigma)
        R = (LA @ Vt.T) / root
        self.R_inverse: FloatArray = (root[:, None] * Vt) @ solve_triangular(LA, np.eye(d), lower=True)
        # the eigenvalues of W = R R^T, computed from W, would lose digits
        self.Q, lengths, _ = np.linalg.svd(R)
        widths = lengths**2
        self.scale: FloatArray = self.twice / np.sqrt(lam + 1 / np.outer(widths, widths)[self.a, self.b])

    def rows(self, E: FloatArray) -> FloatArray:
        """The scaled coordinates (t, p) of the matrices e e^T for the rows e of E (t, d), with p = d (d + 1) / 2."""
        EQ = E @ self.Q
        F: FloatArray = EQ[:, self.a] * EQ[:, self.b] * self.scale
        return F

    def target(self, target: float, second: FloatArray | None) -> FloatArray:
        """The matrix K (d, d) of the module docstring, with which the product of the scaled A and S becomes `target` I.

        second: the product of the scaled steps of A and S in a predictor, which is subtracted from the target; or None.
        """
        rest = np.diag(target - self.sigma**2)
        if second is not None:
            rest = rest - (second + second.T) / 2
        K: FloatArray = 2 * rest / (self.sigma[:, None] + self.sigma)
        return K

    def right(self, K: FloatArray, G: FloatArray) -> FloatArray:
        """R^-T K R^-1 + G in the scaled coordinates (p,). G (d, d): the part that comes from the losses."""
        whole = self.R_inverse.T @ K @ self.R_inverse + G
        q: FloatArray = (self.Q.T @ whole @ self.Q)[self.a, self.b] * self.scale
        return q

    def back(self, y: FloatArray) -> FloatArray:
        """The step dA (d, d) with the scaled coordinates y (p,)."""
        dA = np.zeros_like(self.Q)
        dA[self.a, self.b] = y * self.scale / self.twice**2
        turned: FloatArray = self.Q @ (dA + dA.T - np.diag(np.diag(dA))) @ self.Q.T
        return turned

    def scaled(self, dA: FloatArray) -> FloatArray:
        """The scaled step R^-1 dA R^-T (d, d) of a step dA (d, d) of A."""
        scaled: FloatArray = self.R_inverse @ dA @ self.R_inverse.T
        return scaled

    def product_after(self, dA: FloatArray, dS: FloatArray, length: float) -> float:
        """<A, S> after a step of this length. dA, dS: the scaled steps."""
        both = np.diag(self.sigma)
        return float(np.sum((both + length * dA) * (both + length * dS)))

    def falls(self, scaled: FloatArray) -> float:
        """1 / t, if A or S first becomes singular after t > 0 times its step; a number <= 0 if it never does.

        scaled: the scaled step (d, d) of A or of S.
        """
        root = 1 / np.sqrt(self.sigma)
        return -float(np.linalg.eigvalsh(scaled * np.outer(root, root))[0])
