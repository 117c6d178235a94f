"""Rounding errors of the certificate of kernel MLSVM, because the computed K and E E^T differ from the true kernel.

The certificate is about the true kernel. The computation uses the kernel matrix K in floating point, and a factor E
without the eigenvalues of K that are rounding. Let b_ij bound the distance of (E E^T)_ij from the kernel of x_i and
x_j. The metric is given by phi (n, n), and M = E^T phi E is the metric on the rows of E. Let u, w be the dual variables
of impostors and targets, with s_i = sum_j u_ij. Let B = sum_ij (u_ij - w_ij)(1_i - 1_j)(1_i - 1_j)^T with unit vectors
1_i, so that G = E^T B E.

bound       sum_i s_i - f(K) / (2 lam) with f(K) = ||P_+(K^(1/2) B K^(1/2))||^2. Along K + t dK, the derivative of f is
            2 tr(Q dK) for some Q with Q and B K B - Q psd. So f changes by at most 2 sum_ij b_ij q_i q_j, where q_i^2
            is the largest (B K B)_ii over all K within the bounds b.
objective   lam/2 tr(K phi K phi) and distances (K_i - K_j)^T phi (K_i - K_j), with each entry of K changed by up to b.
            In addition, M is a sum of terms that may be larger than the sum, so it has rounding errors of its own.

If the features have a large offset, K is large compared with the differences of points. Then these errors limit the
proof.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.result import Certificate, Dual
from cvxml.methods.kernel_mlsvm.instance import Instance


def with_kernel_rounding(given: Instance, phi: FloatArray, proof: Certificate) -> Certificate:
    """Return the certificate `proof` with larger error bounds, which include the errors of K and E.

    The fields `rounding`, `value_rounding` and `radius` grow; only `value_rounding` if the gap is infinite. proof: the
    certificate of phi (n, n) that was computed on the rows of E.
    """
    with np.errstate(all="ignore"):
        error = entries_error(given)
        more = bound_error(given, error, proof.dual)
        if not math.isfinite(proof.gap):  # the metric is refused anyway, but the lower bound stays valid
            return dataclasses.replace(proof, value_rounding=proof.value_rounding + more)
        more += objective_error(given, error, phi)
        if not math.isfinite(more):
            more = math.inf
        own = proof.radius - proof.feasibility.distance
        radius = math.hypot(own, math.sqrt(2 * more / given.lam)) + proof.feasibility.distance
    return dataclasses.replace(
        proof, rounding=proof.rounding + more, radius=radius, value_rounding=proof.value_rounding + more
    )


def entries_error(given: Instance) -> FloatArray:
    """Bounds b (n, n) of |(E E^T)_ij - kernel of x_i and x_j|: the computed |K - E E^T| plus rounding errors.

    A product <x_i, x_j> of d terms has an error of at most d eps/2 ||x_i|| ||x_j||. The polynomial kernel of degree p
    has p times this relative error.
    """
    K, E = given.K, given.E
    power = given.kernel["degree"] if given.kernel["kernel"] == "poly" else 1
    terms = 2 + power * (given.X.shape[1] + 1) / 2 + E.shape[1] / 2
    size = np.sqrt(np.diag(K))
    error: FloatArray = np.abs(K - E @ E.T) + terms * EPS * np.outer(size, size)
    return error


def bound_error(given: Instance, error: FloatArray, dual: Dual) -> float:
    """A bound of the error of the lower bound, if the entries of the kernel matrix have errors up to `error` (n, n).

    dual: feasible dual variables, with "u", "w" and their pairs "u_index", "w_index".
    """
    n = len(given.X)
    B = np.zeros((n, n))
    for name, sign in (("u", 1.0), ("w", -1.0)):
        (i, j), value = dual[f"{name}_index"].T, sign * dual[name]
        for row, column, weight in ((i, i, value), (j, j, value), (i, j, -value), (j, i, -value)):
            np.add.at(B, (row, column), weight)
    moved = np.sum((np.abs(B) @ error) * np.abs(B), axis=1)
    q = np.sqrt(np.sum((B @ given.E) ** 2, axis=1) + moved)
    return float(q @ error @ q) / given.lam


def objective_error(given: Instance, error: FloatArray, phi: FloatArray) -> float:
    """A bound of the error of the objective of phi (n, n), if the entries of K have errors up to `error` (n, n)."""
    K, N, lam, size = given.K, given.N, given.lam, np.abs(phi)
    images, twice = phi @ K, size @ error
    norm = lam * float(np.sum(np.abs(images @ phi) * error)) + lam / 2 * float(np.sum((error @ twice) * size))
    lengths = np.abs(given.E)
    M_error = 4 * EPS * (lengths.T @ size @ lengths)  # of E^T phi E, whose terms may be larger than their sum
    M = np.abs(given.E.T @ phi @ given.E)
    norm += lam * float(np.sum((M + M_error / 2) * M_error))

    def changes(i: int, listed: IntArray) -> float:
        """A bound of the errors of the squared distances from point i to the points `listed`."""
        b = error[:, [i]] + error[:, listed]
        e = np.abs(given.E[i] - given.E[listed])
        along = 2 * np.abs(images[:, [i]] - images[:, listed]) + twice[:, [i]] + twice[:, listed]
        return float((np.sum(along * b, axis=0) + np.sum((e @ M_error) * e, axis=1)).max())

    return norm + sum(changes(i, N.targets[i]) + changes(i, N.impostors[i]) for i in N.usable) / len(K)
