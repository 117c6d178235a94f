"""For the tests of GLML: classes, definite matrices, metrics of determinant 1, a model of the user's own."""

from __future__ import annotations

import numpy as np
import pytest

SOLVERS = pytest.mark.parametrize("solver", ["clarabel", "scs"])


def classes(seed: int, C: int = 3, d: int = 3, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, C, d])
    y = np.arange(n * C) % C
    roots = np.eye(d) + 0.5 * rng.standard_normal((C, d, d)) / np.sqrt(d)
    X = np.einsum("nd,nde->ne", rng.standard_normal((n * C, d)), roots[y]) + rng.standard_normal((C, d))[y]
    return X, y


def names(C: int) -> list[str]:
    return [str(c) for c in range(C)]


def definite(seed: int, d: int, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng([seed, d])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    B = (turn * 10 ** rng.uniform(-spread, 0, d)) @ turn.T
    return (-1) ** seed * (B + B.T) / np.linalg.norm(B + B.T)


def random_unit(rng: np.random.Generator, d: int) -> np.ndarray:
    root = rng.standard_normal((d, d))
    A = root @ root.T
    return A / np.linalg.det(A) ** (1 / d)


class Student:
    """A model of the user's own: classes of Student densities (1 + |x - mu|^2)^-s."""

    def __init__(self, means: np.ndarray, s: float = 2.0):
        self.means, self.s = means, s

    def log_densities(self, Q: np.ndarray) -> np.ndarray:
        return np.stack([-self.s * np.log1p(((Q - m) ** 2).sum(axis=1)) for m in self.means], axis=1)

    def curvatures(self, Q: np.ndarray) -> np.ndarray:
        found = []
        for m in self.means:
            z = Q - m
            u = 1 + (z**2).sum(axis=1)
            outer = z[:, :, None] * z[:, None, :]
            found.append(
                4 * self.s * (self.s + 1) * outer / u[:, None, None] ** 2
                - 2 * self.s * np.eye(Q.shape[1]) / u[:, None, None]
            )
        return np.stack(found, axis=1)
