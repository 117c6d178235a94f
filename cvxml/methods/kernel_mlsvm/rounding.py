"""What is lost where K is E E^T only but for rounding: by how much the certificate's numbers may be off.

What is certified is a metric of the kernel as it is defined; what is computed with is the matrix K, in floating point,
and its factor E, cut where the eigenvalues of K are rounding. With b_ij a bound of how far (E E^T)_ij is from the
kernel of x_i and x_j, and B = sum_ij (u_ij - w_ij)(1_i - 1_j)(1_i - 1_j)^T, 1_i unit vectors, so that G = E^T B E:

bound       sum_i s_i - f(K) / (2 lam), f(K) = ||P_+(K^(1/2) B K^(1/2))||^2. Along K + t dK, f changes at the rate
            2 tr(Q dK), where 0 << Q << B K B: by 2 sum_ij b_ij q_i q_j at most, q_i^2 the largest (B K B)_ii.
objective   of phi through kernel values alone, lam/2 tr(K phi K phi) and distances (K_i - K_j)^T phi (K_i - K_j), each
            changed by b entry by entry; and M = E^T phi E is summed from terms larger than itself.

Where features have a large offset, K is large and differences of points are not: then this is what limits a proof.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.result import Certificate, Dual
from cvxml.methods.kernel_mlsvm.instance import Instance


def with_kernel_rounding(given: Instance, phi: FloatArray, proof: Certificate) -> Certificate:
    """The certificate of phi (n, n) on the rows of E, with what E itself may be off by in `rounding` and `radius`."""
    with np.errstate(all="ignore"):
        error = entries_error(given)
        more = bound_error(given, error, proof.dual)
        if not math.isfinite(proof.gap):  # an absurd metric is refused as such; the bound is one all the same
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
    """b (n, n): K - E E^T as it is, and what rounding may be in it: a share of sqrt(K_ii K_jj).

    A sum of d products is off by d eps/2 of ||x_i|| ||x_j|| at most, its p-th power by p times that share.
    """
    K, E = given.K, given.E
    power = given.kernel["degree"] if given.kernel["kernel"] == "poly" else 1
    terms = 2 + power * (given.X.shape[1] + 1) / 2 + E.shape[1] / 2
    size = np.sqrt(np.diag(K))
    error: FloatArray = np.abs(K - E @ E.T) + terms * EPS * np.outer(size, size)
    return error


def bound_error(given: Instance, error: FloatArray, dual: Dual) -> float:
    """By how much the bound of a feasible dual may be off, where K is by `error` (n, n), entry by entry."""
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
    """By how much the objective of phi (n, n) may be off, where K is by `error` (n, n), entry by entry."""
    K, N, lam, size = given.K, given.N, given.lam, np.abs(phi)
    images, twice = phi @ K, size @ error
    norm = lam * float(np.sum(np.abs(images @ phi) * error)) + lam / 2 * float(np.sum((error @ twice) * size))
    lengths = np.abs(given.E)
    M_error = 4 * EPS * (lengths.T @ size @ lengths)  # E^T phi E is summed from terms larger than itself
    M = np.abs(given.E.T @ phi @ given.E)
    norm += lam * float(np.sum((M + M_error / 2) * M_error))

    def changes(i: int, listed: IntArray) -> float:
        """The most that a distance from i to one of `listed` may be off."""
        b = error[:, [i]] + error[:, listed]
        e = np.abs(given.E[i] - given.E[listed])
        along = 2 * np.abs(images[:, [i]] - images[:, listed]) + twice[:, [i]] + twice[:, listed]
        return float((np.sum(along * b, axis=0) + np.sum((e @ M_error) * e, axis=1)).max())

    return norm + sum(changes(i, N.targets[i]) + changes(i, N.impostors[i]) for i in N.usable) / len(K)
