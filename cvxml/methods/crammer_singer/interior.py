"""An interior point method (Mehrotra's) for the SVM of Crammer and Singer. `certify` proves its results.

    min 1/2 ||W||^2 + C sum xi_i,    s_im = xi_i - [m != y_i] - (w_m - w_{y_i}) x_i >= 0,    duals mu_im >= 0.

The slack s_im and the dual variable mu_im belong to point i and class m. Every class has them, also the class y_i of
point i. Every iterate has sum_m mu_im = C and w_m = sum_i ( [y_i = m] C - mu_im ) x_i. Then the duality gap is the sum
of the products s_im mu_im. A step has a target t >= 0, and makes every product s_im mu_im equal to t, to first order.
Let theta_im = mu_im / s_im. Let u_im be dw_m x_i minus its mean over m with weights theta_im. The changes dw_m of the
rows of W solve the positive definite system

    dw_m + sum_i theta_im u_im x_i = - sum_i ( r_im - theta_im mean_i ) x_i,    mean_i = sum_m r_im / sum_m theta_im,

where r_im = (t - s_im mu_im) / s_im. Rounding makes s and W deviate from their definitions. Each step also corrects
these deviations.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.work import FACTORISING, doing

SHORT = 0.995  # fraction of the longest step
DAMPED = (
    1e-14,
    1e-11,
    1e-8,
    1.0,
)  # added to the diagonal, relative to its largest entry, if the system is not positive definite in floats


class Interior:
    """The running solver, for x (n, p), y (n,) codes 0..R-1 and C. The iterate is W (R, p), mu (n, R) and s (n, R)."""

    def __init__(self, x: FloatArray, y: IntArray, C: float):
        self.x, self.y, self.C = x, y, C
        R = int(y.max()) + 1
        self.own: FloatArray = np.eye(R)[y]
        self.mu: FloatArray = np.full(self.own.shape, C / R)
        self.W: FloatArray = self._rows(self.mu)
        behind = self._behind(self.W)
        self.s: FloatArray = behind.max(axis=1, keepdims=True) + 1 - behind
        self.missed: FloatArray = np.zeros_like(self.s)
        self.lag: FloatArray = np.zeros_like(self.W)

    def _rows(self, mu: FloatArray) -> FloatArray:
        """The matrix W (R, p) that mu (n, R) determines: its rows are w_m = sum_i ( [y_i = m] C - mu_im ) x_i.

        The entry of mu for the class of the point is not read. It counts as C minus the sum of the other entries of its
        row.
        """
        others = np.where(self.own > 0, 0.0, mu)
        rows: FloatArray = (self.own * others.sum(axis=1, keepdims=True) - others).T @ self.x
        return rows

    def _behind(self, W: FloatArray) -> FloatArray:
        """The terms [m != y_i] + (w_m - w_{y_i}) x_i, (n, R). The loss of point i is the largest in row i."""
        scores = self.x @ W.T
        behind: FloatArray = 1 - self.own + scores - np.sum(self.own * scores, axis=1, keepdims=True)
        return behind

    @property
    def gap(self) -> float:
        """The duality gap of W and mu, with the smallest feasible xi."""
        losses = self._behind(self.W)
        slack = losses.max(axis=1, keepdims=True) - losses
        return float(np.sum(slack * self.mu)) + 0.5 * float(np.sum((self.W - self._rows(self.mu)) ** 2))

    @property
    def scale(self) -> float:
        return 0.5 * float(np.sum(self.W**2))

    def step(self) -> None:
        """One iteration of Mehrotra's predictor and corrector.

        The predictor aims at products s mu of 0. Their mean after this step determines the target of the corrector.
        Raises LinAlgError if numbers are too large for doubles.
        """
        theta = self.mu / self.s
        factor = self._factor(theta)
        missed = -self._behind(self.W) - self.s
        self.missed = missed - missed.mean(axis=1, keepdims=True)  # xi_i is free
        self.lag = self.W - self._rows(self.mu)
        product = self.s * self.mu
        _, dmu, ds = self._direction(theta, factor, -product)
        length = _longest(self.mu, dmu, self.s, ds)
        left = float(np.mean((self.s + length * ds) * (self.mu + length * dmu)))
        mean = float(np.mean(product))
        target = mean * (left / mean) ** 3
        dW, dmu, ds = self._direction(theta, factor, target - product - dmu * ds)
        length = min(1.0, SHORT * _longest(self.mu, dmu, self.s, ds))
        self.mu = self.mu + length * dmu
        self.s = self.s + length * ds
        self.W = self.W + length * dW

    def _factor(self, theta: FloatArray) -> tuple[FloatArray, bool]:
        """The Cholesky factor of the Newton matrix (R p, R p), in the form of scipy's `cho_factor`.

            I + sum_i (diag theta_i - theta_i theta_i^T / sum theta_i) (x) x_i x_i^T

        theta (n, R) is mu / s, and (x) is the Kronecker product. The diagonal is increased if rounding makes the matrix
        indefinite. Raises LinAlgError if the largest increase does not help.
        """
        R, p = theta.shape[1], self.x.shape[1]
        share = theta / theta.sum(axis=1, keepdims=True)
        # 1 - share. For the largest share it is computed as the sum of the others, without cancellation.
        rest = _balanced(-share, theta)
        rest = np.where(rest > 0, rest, 1 - share)
        blocks = np.zeros((R, p, R, p))
        for m in range(R):
            for l in range(m, R):
                others = rest[:, m] if m == l else -share[:, l]
                blocks[m, :, l] = (self.x * (theta[:, m] * others)[:, None]).T @ self.x
                blocks[l, :, m] = blocks[m, :, l].T
        H = blocks.reshape(R * p, R * p)
        diagonal = H.diagonal().copy()
        for damped in (0.0, *DAMPED):
            H[np.diag_indices(R * p)] = 1 + diagonal + damped * float(diagonal.max())
            # Rounding may make an eigenvalue negative. The last damping is larger than any such error.
            with suppress(np.linalg.LinAlgError), doing(FACTORISING):
                return cho_factor(H, lower=True, check_finite=False)  # type: ignore[no-any-return]
        raise np.linalg.LinAlgError("numbers of this size cannot be solved in double precision")

    def _direction(
        self, theta: FloatArray, factor: tuple[FloatArray, bool], wanted: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The changes of W (R, p), mu and s (n, R) that change the products s mu by `wanted` (n, R), to first order.

        theta: mu / s. factor: the Cholesky factor of `_factor`. The changes also correct the rounding errors of s and
        W.
        """
        R, p = theta.shape[1], self.x.shape[1]
        total = theta.sum(axis=1, keepdims=True)
        r = wanted / self.s - theta * self.missed
        mean = r.sum(axis=1, keepdims=True) / total
        right = _balanced(r - theta * mean, theta)
        dW = cho_solve(factor, -(right.T @ self.x + self.lag).ravel(), check_finite=False).reshape(R, p)
        u = self.x @ dW.T
        u = u - np.take_along_axis(u, theta.argmax(axis=1)[:, None], axis=1)
        u = u - np.sum(theta * u, axis=1, keepdims=True) / total
        return dW, _balanced(right + theta * u, theta), mean - u + self.missed


def _balanced(v: FloatArray, theta: FloatArray) -> FloatArray:
    """v (n, R) with one entry of each row replaced, so that the row has the sum 0.

    The replaced entry is the one where theta (n, R) is largest in the row.
    """
    largest = np.arange(v.shape[1]) == theta.argmax(axis=1)[:, None]
    others = np.where(largest, 0.0, v)
    return np.where(largest, -others.sum(axis=1, keepdims=True), others)


def _longest(mu: FloatArray, dmu: FloatArray, s: FloatArray, ds: FloatArray) -> float:
    """The longest step along (dmu, ds), at most 1, that keeps mu and s (n, R) nonnegative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [float(np.max(-d / v)) for v, d in ((mu, dmu), (s, ds))]
    return 1 / max(1.0, *ratios)
