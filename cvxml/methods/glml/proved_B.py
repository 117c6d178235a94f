"""B at the queries in floats, a bound of its error, and a proof whether B is definite, indefinite, singular or zero.

B is a weighted sum of the curvatures G_c = (Hessian of p_c) / p_c of the classes, over its norm (solver.py). Which
numbers define it depends on the model.

One Gaussian for each class: B is defined by the data. If an inverse covariance is nearly singular, B in double
precision may have no correct digit. So B is computed in intervals with many digits and rounded once (exact.py).

A fitted mixture: the weights, means and covariances are floats, and they define the problem exactly. The errors of
their inverses, densities and curvatures are bounded here. Let T be the computed whitening of a covariance, and
E = T Sigma T^T - I. Then Sigma^-1 = T^T (I + E)^-1 T, so the condition number of Sigma enters only through ||E||, which
is bounded afterwards (`departure` in certify.py). With F = (I + E)^-1 = I + E', w = T (x - mu) and the pull v = T^T w,

    G* - G = T^T ( F w* (F w*)^T - w w^T - E' ) T,        ||E'|| <= e' = ||E|| / (1 - ||E||),

where a star marks the exact value. Products and sums of k terms have an error below (k + 2) eps times the sum of the
absolute values of the terms, in any order.

A model of the user's own: its return values define the problem exactly.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.glml.certify import Sign, sign_of
from cvxml.methods.glml.exact import Gaussians
from cvxml.methods.glml.instance import Generative, Instance, Mixtures
from cvxml.methods.glml.solver import ROUNDING, Case, Curvature, curvature, log_sizes

UNDERFLOW = 1e-290  # more than underflow changes any sum here


class ProvedB(NamedTuple):
    """B at q queries, with bounds of its error, and its case.

    B (q, d, d): of norm 1, or 0. error (q, d, d): bounds of the error, entry by entry. noise (q,): the solver counts
    eigenvalues of B up to this size as 0.

    cases: the proved case of B at each query; None if no case is proved.
    """

    B: FloatArray  # (q, d, d), Frobenius norm 1, or 0
    error: FloatArray  # (q, d, d): bounds of the error, entry by entry
    noise: FloatArray  # (q,): for the solver: smaller eigenvalues count as 0
    cases: list[Case | None]  # the proved case of B, or None


@lru_cache(maxsize=1)
def proved_B(p: Instance) -> ProvedB:
    """Return B at the queries of p. The result is cached and shared, so do not write to it."""
    found = curvature(p.model, p.Q)
    B, noise = found.B.copy(), found.noise.copy()
    error = np.broadcast_to(B_error(p.model, p.Q, found)[:, None, None], B.shape).copy()
    singular = np.zeros(len(B), dtype=bool)
    if p.params["model"] == "gaussian":
        model = Gaussians(p)
        for k, x in enumerate(p.Q):
            exact = model.rounded_B(x)
            if exact is None:
                B[k], error[k], noise[k] = 0.0, 0.0 if model.is_zero(x) else np.inf, 0.0
                continue
            # with two classes the sign of B is free; take the sign of `curvature`
            opposite = len(model.fits) == 2 and float(np.sum(exact.B * B[k])) < 0
            B[k], error[k], noise[k] = -exact.B if opposite else exact.B, exact.error, ROUNDING
            singular[k] = sign_of(*exact) is None and model.is_singular(x)
    cases = [
        Case.SINGULAR if flat else _case(sign_of(*each), each[0])
        for flat, *each in zip(singular, B, error, strict=True)
    ]
    return ProvedB(B, error, noise, cases)


def _case(sign: Sign | None, B: FloatArray) -> Case | None:
    if sign is None:
        return None
    if sign.factor is not None:
        return Case.DEFINITE
    return Case.INDEFINITE if B.any() else Case.ZERO


def B_error(model: Generative, Q: FloatArray, found: Curvature) -> FloatArray:
    """Return bounds (q,) of the error of B in `found`, in the Frobenius norm; inf if there is no bound.

    found: B of norm 1 at the queries Q (q, d), as computed from `model`.
    """
    a, norm = found.a, found.norm
    with np.errstate(all="ignore"):
        log_p = model.log_densities(Q)
        if isinstance(model, Mixtures):
            each = component_errors(model, Q)
            a_error = weight_errors(log_p, density_errors(model, Q, each))
            error = sum_error(model, Q, each, a, a_error)
        else:
            G = np.linalg.norm(model.curvatures(Q), axis=(2, 3))
            a_error = weight_errors(log_p, 0.0) + (a.shape[1] + 8) * EPS * np.abs(a)
            error = np.einsum("qc,qc->q", a_error, G)
        # ||v / |v| - w / |w||| <= 2 ||v - w|| / max(|v|, |w|)
        share = np.where(norm > error, 2 * error / norm + 8 * EPS, np.inf)
    return np.where(np.isnan(share), np.inf, share)


class Errors(NamedTuple):
    """Bounds of the errors for K components N_k of a mixture at q queries; each array is (q, K).

    logs: of log(weight_k N_k). G: of unit^2 times the curvature G_k, in the Frobenius norm; unit is that of `Mixtures`.
    sizes: bounds of unit^2 ||G_k|| itself.
    """

    logs: FloatArray  # (q, K): of the error of log(weight_k N_k)
    G: FloatArray  # (q, K): of the error of G_k unit^2, in the Frobenius norm
    sizes: FloatArray  # (q, K): of ||G_k|| unit^2 itself


def component_errors(model: Mixtures, Q: FloatArray) -> Errors:
    d = Q.shape[1]
    few = (d + 2) * EPS
    T = model.whitening
    away = model.from_means(Q)  # (K, q, d)
    w = away @ T.transpose(0, 2, 1)
    v = np.linalg.norm(w @ T, axis=2)
    origin = np.broadcast_to(model.origin, model.means.shape)[:, None]
    moved = EPS * (np.abs(Q - origin) / model.unit + np.abs(away)) + UNDERFLOW
    near = np.linalg.norm((moved + few * np.abs(away)) @ np.abs(T).transpose(0, 2, 1), axis=2)  # ||w* - w||
    length = np.linalg.norm(w, axis=2)
    e = inverse_error(np.broadcast_to(model.departure, len(T)))[:, None]
    pull = e * (length + near) + near + few * length
    size = np.linalg.norm(T, axis=(1, 2))[:, None]
    G = 2 * v * size * pull + (size * pull) ** 2 + size**2 * (e + few)
    square = 2 * length * near + near**2 + e * (length + near) ** 2 + few * length**2
    scale = np.log(np.abs(np.diagonal(T, axis1=1, axis2=2)))
    printed = np.abs(model.log_weights) + np.abs(scale).sum(axis=1) + d * (1 + np.abs(np.log(model.unit)))
    logs = (square + d**0.5 * e) / 2 + (8 + d) * EPS * (printed[:, None] + length**2)
    return Errors(logs.T, G.T, (v**2 + size**2).T)


def sum_error(
    model: Mixtures, Q: FloatArray, errors: Errors, weights: FloatArray, weights_error: FloatArray
) -> FloatArray:
    """Return bounds (q,) of the error of the computed sum_c weights_c G_c unit^2 at each query, in the Frobenius norm.

    G_c: the curvature of class c, a mixture of components. unit: `model.unit`; the model is stored for the points
    divided by it. errors: bounds for the components. The weights (q, C) have errors up to weights_error (q, C).
    """
    K, d = model.means.shape
    b, error = np.abs(weights)[:, model.of_class], weights_error[:, model.of_class]
    if model.n_classes < K:
        parts, whole = model.components(Q), model.log_densities(Q)[:, model.of_class]
        share = np.exp(parts - whole)
        sure = errors.logs + density_errors(model, Q, errors)[:, model.of_class]
        relative = np.expm1(sure + 4 * EPS * (1 + np.abs(parts) + np.abs(whole)))
        b, error = b * share, share * (error + (b + error) * relative)
    rounded = (K + 2 * d + 8) * EPS * errors.sizes
    total: FloatArray = np.sum(b * (errors.G + rounded) + error * (errors.sizes + errors.G), axis=1)
    return total


def density_errors(model: Mixtures, Q: FloatArray, errors: Errors) -> FloatArray:
    """Return bounds (q, C) of the errors of log(prior_c p_c) at the queries Q (q, d).

    errors: bounds for the components.
    """
    logs = np.abs(model.components(Q))
    each = errors.logs + (4 + len(model.means)) * EPS * (1 + logs)
    return np.stack([each[:, model.of_class == c].max(axis=1) for c in range(model.n_classes)], axis=1)


def weight_errors(log_p: FloatArray, error: FloatArray | float) -> FloatArray:
    """Return bounds (q, C) of the errors of the weights a_c in B = sum_c a_c G_c, as solver.py computes them.

    log_p (q, C): the logarithms of the densities p_i; error (q, C): bounds of their errors. The weights are sums of
    T_ij = p_i p_j (p_j - p_i), divided by the largest |T_ij|. With two classes they are 1 and -1, so the bounds are 0.
    With more classes, the bounds are inf at a query where all densities are equal.
    """
    q, C = log_p.shape
    if C == 2:  # the weights are 1 and -1, exactly
        return np.zeros((q, C))
    with np.errstate(all="ignore"):
        low, high, log_T = log_sizes(log_p)
        largest = log_T.max(axis=(1, 2), keepdims=True)
        each = np.broadcast_to(error, (q, C))
        unsure = 3 * np.maximum(each[:, :, None], each[:, None, :])
        used = np.where(np.isfinite(log_T), np.abs(log_T), 0.0)
        unsure = unsure + 8 * EPS * (4 + np.abs(low) + np.abs(high) + used + np.abs(largest))
        T = 2 * np.exp(low + 2 * high - largest) * np.expm1(unsure)
    T[:, np.arange(C), np.arange(C)] = 0.0
    total: FloatArray = np.where(np.isfinite(largest[:, 0]), T.sum(axis=2), np.inf)
    return np.where(np.isnan(total), np.inf, total)


def inverse_error(departure: FloatArray) -> FloatArray:
    """Return a bound of ||(I + E)^-1 - I|| for ||E|| <= departure; inf if departure is 1 or more."""
    return np.where(departure < 1, departure / np.where(departure < 1, 1 - departure, 1.0), np.inf)
