"""The formulas of the papers on GLML, by loops: B with plain densities as printed, and B over pairs in logarithms.

p_i is the density of class i at a query x, times its prior. Equation numbers are those of 2018.

    B = sum_i H_i ( sum_{j != i} p_j^2  -  p_i sum_{j != i} p_j ),   H_i the Hessian of p_i at x          (14)

For two classes that is p_1^2 H_2 + p_2^2 H_1 - p_1 p_2 (H_1 + H_2).                                     (12)
A Gaussian has

    H_c = p_c [ S_c (x - mu_c)(x - mu_c)^T S_c  -  S_c ],      S_c = Sigma_c^-1.                          (15)

`B_printed`, `B_two_classes` and `gaussian_hessian` are literal. Their plain densities underflow in high dimension. (11)
of 2010 prints the Laplacian where (14) of 2018 has the Hessian; a metric needs the Hessian. `B_pairwise` is (14) with
H_c = p_c G_c, written over pairs, in logarithms:

    B = sum_{i < j} p_i p_j (p_j - p_i) (G_i - G_j),

divided by the largest |p_i p_j (p_j - p_i)|. This positive factor does not change the optimal metric A.

The mean of a density p over the sphere of a small radius d around x is

    p~ = p + d^2 / (2 D) Laplacian p                                                                       (6)

(Fig. 1 of 2010 prints 4 D in place of 2 D). validation/studies/glml_theory.py computes the error of the nearest
neighbour rule and its bias.

Shapes: x, mu (D,), Sigma, B (D, D), p and log_p (C,), H and G (C, D, D) for C classes. The solver and the certificate
are independent of this file.

Reference: Y.-K. Noh, B.-T. Zhang, D. D. Lee, Generative Local Metric Learning for Nearest Neighbor Classification, NIPS
2010; and IEEE TPAMI 40(1), 2018.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from cvxml.core.metric import FloatArray, IntArray


def fitted(X: FloatArray, y: IntArray, c: int, alpha: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the mean mu_c of class c and Sigma_c = 1/n_c sum (x - mu_c)(x - mu_c)^T + alpha I over its n_c points."""
    points = [X[i] for i in range(len(X)) if y[i] == c]
    mu: FloatArray = np.asarray(sum(points) / len(points))
    Sigma: FloatArray = np.asarray(sum(np.outer(x - mu, x - mu) for x in points) / len(points))
    return mu, Sigma + alpha * np.eye(len(mu))


def gaussian_density(x: FloatArray, mu: FloatArray, Sigma: FloatArray) -> float:
    z = x - mu
    with np.errstate(over="ignore"):
        normaliser = math.sqrt(np.linalg.det(2 * math.pi * Sigma))
    return math.exp(-0.5 * float(z @ np.linalg.inv(Sigma) @ z)) / normaliser


def gaussian_hessian(x: FloatArray, mu: FloatArray, Sigma: FloatArray) -> FloatArray:
    """Return the Hessian of the normal density at x, equation (15)."""
    S = np.linalg.inv(Sigma)
    H: FloatArray = gaussian_density(x, mu, Sigma) * (S @ np.outer(x - mu, x - mu) @ S - S)
    return H


def B_two_classes(p: FloatArray, H: FloatArray) -> FloatArray:
    """Return B of two classes by equation (12), from their densities p (2,) and the Hessians H (2, D, D) of these."""
    B: FloatArray = p[0] ** 2 * H[1] + p[1] ** 2 * H[0] - p[0] * p[1] * (H[0] + H[1])
    return B


def B_printed(p: FloatArray, H: FloatArray) -> FloatArray:
    """Return B by equation (14), from the densities p (C,) of the classes and the Hessians H (C, D, D) of these."""
    B = np.zeros(H.shape[1:])
    for i in range(len(p)):
        others = [j for j in range(len(p)) if j != i]
        B += H[i] * (sum(p[j] ** 2 for j in others) - p[i] * sum(p[j] for j in others))
    return B


def B_pairwise(log_p: FloatArray, G: FloatArray) -> FloatArray:
    """Return B of equation (14) up to a positive factor, as a sum over pairs; 0 if all densities are equal.

    log_p (C,): the logarithms of the densities. G (C, D, D): the Hessian of each density divided by the density.
    """
    terms = []
    for i, j in itertools.combinations(range(len(log_p)), 2):
        low, high = sorted((log_p[i], log_p[j]))
        if high > low:
            size = low + 2 * high + math.log(-math.expm1(low - high))
            terms.append((size, 1.0 if log_p[j] > log_p[i] else -1.0, G[i] - G[j]))
    largest = max((size for size, _, _ in terms), default=0.0)
    B = np.zeros(G.shape[1:])
    for size, sign, difference in terms:
        B += math.exp(size - largest) * sign * difference
    return B


def log_gaussian(x: FloatArray, mu: FloatArray, Sigma: FloatArray) -> float:
    z = x - mu
    log_det = float(np.linalg.slogdet(Sigma)[1])
    return -0.5 * (float(z @ np.linalg.solve(Sigma, z)) + log_det + len(x) * math.log(2 * math.pi))


def gaussian_G(x: FloatArray, mu: FloatArray, Sigma: FloatArray) -> FloatArray:
    """Return G (D, D), the Hessian of the normal density at x divided by the density."""
    S = np.linalg.inv(Sigma)
    G: FloatArray = S @ np.outer(x - mu, x - mu) @ S - S
    return G


def local_B(
    x: FloatArray, gaussians: Sequence[tuple[FloatArray, FloatArray]], log_priors: Sequence[float]
) -> FloatArray:
    """Return B / ||B|| at x (D,), or 0 if B is 0. gaussians: (mu, Sigma) of each class.

    log_priors: the logarithms of the priors of the classes. If there are two classes, and their densities are equal,
    the limit G_1 - G_2 is taken.
    """
    log_p = np.array([log_gaussian(x, *g) + w for g, w in zip(gaussians, log_priors, strict=True)])
    G = np.array([gaussian_G(x, *g) for g in gaussians])
    B = G[0] - G[1] if len(G) == 2 and log_p[0] == log_p[1] else B_pairwise(log_p, G)
    norm = float(np.linalg.norm(B))
    return B / norm if norm > 0 else B


def objective(B: FloatArray, A: FloatArray) -> float:
    """Return the objective (tr[A^-1 B])^2 of equation (11) at the metric A (D, D)."""
    return float(np.trace(np.linalg.inv(A) @ B)) ** 2


def density_at_distance(p: FloatArray, laplacian: FloatArray, squared: float, D: int) -> FloatArray:
    """Return the mean of a density over a sphere around x, to second order, by equation (6).

    p, laplacian: the density and its Laplacian at x. squared: the squared radius. D: the dimension.
    """
    mean: FloatArray = p + squared / (2 * D) * laplacian
    return mean
