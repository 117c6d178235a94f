"""GLML in rationals: B, the optimum, and what a metric loses. (tr M B)^2, M = A^-1 of determinant 1, ||B|| = 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from validation.adversarial.exact import is_psd, symmetric, whole


def rational(A: Any) -> Any:
    """A float array as fmpq."""
    values, power = whole(A)
    flat = np.empty(values.size, dtype=object)
    flat[:] = [fmpq(int(x), 2**power) for x in values.ravel()]
    return flat.reshape(values.shape)


def matrix(A: Any) -> Any:
    """An array of fmpq, (d, d) or a column, as fmpq_mat."""
    A = A.reshape(len(A), -1)
    return fmpq_mat(A.shape[0], A.shape[1], list(A.ravel()))


class Local:
    """Two classes: the direction of B is that of G_1 - G_2, a rational matrix."""

    def __init__(self, X: Any, y: Any, query: Any, alpha: float):
        X, y, x = rational(X), np.asarray(y), rational(query)
        self.d = X.shape[1]
        G = []
        self.singular = False
        for c in (0, 1):
            points = X[y == c]
            mean = points.sum(axis=0) / fmpq(len(points))
            S = (points - mean).T @ (points - mean) / fmpq(len(points))
            for k in range(self.d):
                S[k, k] += fmpq(*float(alpha).as_integer_ratio())
            if matrix(S).det() == 0:
                self.singular = True
                return
            inverse = matrix(S).inv()
            pull = inverse * matrix(x - mean)
            G.append(pull * pull.transpose() - inverse)
        self.B = G[0] - G[1]
        flat = [self.B[i, j] for i in range(self.d) for j in range(self.d)]
        self.norm = arb(sum((v * v for v in flat), fmpq(0))).sqrt()
        common = [int(v.q) for v in flat]
        least = int(np.lcm.reduce(np.array(common, dtype=object)))
        whole_B = np.array([int(v * least) for v in flat], dtype=object).reshape(self.d, self.d)
        det = self.B.det()
        self.definite = det != 0 and (is_psd(whole_B) or is_psd(-whole_B))
        self.best = arb(0)
        if self.definite:
            self.best = (self.d * abs(arb(det)).root(self.d) / self.norm) ** 2

    def value(self, A: Any) -> tuple[Any, Any]:
        """The objective of a metric, and the scale; nan where the matrix is not psd."""
        M = symmetric(A)
        if self.norm.is_zero() or not is_psd(M.values):
            return arb.nan(), arb.nan()
        exact = matrix(np.array([fmpq(int(v), 2**M.power) for v in M.values.ravel()]).reshape(self.d, self.d))
        det = exact.det()
        if det == 0:
            return arb.pos_inf(), arb.nan()
        inverse, unit = exact.inv(), arb(det).root(self.d) / self.norm
        product = inverse * self.B
        t = arb(sum((product[i, i] for i in range(self.d)), fmpq(0))) * unit
        size = arb(sum((inverse[i, j] ** 2 for i in range(self.d) for j in range(self.d)), fmpq(0))).sqrt()
        return t * t, self.best if self.definite else abs(t) * size * unit * self.norm
