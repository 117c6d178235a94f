"""Proved bounds of what rounding does to B of a mixture: of the inverse covariances, the densities and the curvatures.

Its weights, means and covariances are floats, and exact. T is the whitening of a covariance, T Sigma T^T = I but for
rounding. It is taken as it is, and looked at afterwards: with E = T Sigma T^T - I the inverse is T^T (I + E)^-1 T, so
all that the condition of Sigma does is in ||E||, the `departure`. With F = (I + E)^-1 = I + E', w = T (x - mu) and the
pull v = T^T w,
    G* - G = T^T ( F w* (F w*)^T - w w^T - E' ) T,        ||E'|| <= e' = ||E|| / (1 - ||E||).
Products and sums of k terms are off by less than (k + 2) eps times the sum of their sizes, in whatever order.

What is known of B at the queries of an instance: floats, how far from them the true B may be, and what it is.

B of one Gaussian a class follows from the data, and inverse covariances that are nearly singular leave nothing of it in
double precision: it is computed in balls and rounded once (gaussians.py). What a mixture once fitted or a model of the
user's own returns is the problem itself; there double precision says how far off it may be (errors.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.glml.certify import Sign, sign_of
from cvxml.methods.glml.exact import Gaussians
from cvxml.methods.glml.instance import Generative, Instance, Mixtures
from cvxml.methods.glml.solver import ROUNDING, Case, Curvature, curvature

TINY = 1e-290  # for what underflows


class Errors(NamedTuple):
    """Of K components at q queries."""

    logs: FloatArray  # (q, K): of log(weight_k N_k)
    G: FloatArray  # (q, K): of G_k unit^2, Frobenius norm
    sizes: FloatArray  # (q, K): at least ||G_k|| unit^2


def of_B(model: Generative, Q: FloatArray, found: Curvature) -> FloatArray:
    """Bounds (q,) of the distance, in norm, of the normalised B from the true one; inf where nothing is known.

    The return values of a model of the user's own are exact by definition, and so are the numbers of a fitted mixture.
    """
    a, norm = found.a, found.norm
    with np.errstate(all="ignore"):
        log_p = model.log_densities(Q)
        if isinstance(model, Mixtures):
            each = of_components(model, Q)
            a_off = of_weights(log_p, of_classes(model, Q, each))
            off = of_sum(model, Q, each, a, a_off)
        else:
            G = np.linalg.norm(model.curvatures(Q), axis=(2, 3))
            a_off = of_weights(log_p, 0.0) + (a.shape[1] + 8) * EPS * np.abs(a)
            off = np.einsum("qc,qc->q", a_off, G)
        # two vectors divided by their norms differ by twice the difference of the vectors over the larger norm
        share = np.where(norm > off, 2 * off / norm + 8 * EPS, np.inf)
    return np.where(np.isnan(share), np.inf, share)


def of_components(model: Mixtures, Q: FloatArray) -> Errors:
    """Bounds at queries Q (q, d)."""
    d = Q.shape[1]
    few = (d + 2) * EPS
    T = model.whitening
    away = model.from_means(Q)  # (K, q, d)
    w = away @ T.transpose(0, 2, 1)
    v = np.linalg.norm(w @ T, axis=2)
    origin = np.broadcast_to(model.origin, model.means.shape)[:, None]
    moved = EPS * (np.abs(Q - origin) / model.unit + np.abs(away)) + TINY
    near = np.linalg.norm((moved + few * np.abs(away)) @ np.abs(T).transpose(0, 2, 1), axis=2)  # ||w* - w||
    length = np.linalg.norm(w, axis=2)
    e = inverse_departure(np.broadcast_to(model.departure, len(T)))[:, None]
    pull = e * (length + near) + near + few * length
    size = np.linalg.norm(T, axis=(1, 2))[:, None]
    G = 2 * v * size * pull + (size * pull) ** 2 + size**2 * (e + few)
    square = 2 * length * near + near**2 + e * (length + near) ** 2 + few * length**2
    scale = np.log(np.abs(np.diagonal(T, axis1=1, axis2=2)))
    printed = np.abs(model.log_weights) + np.abs(scale).sum(axis=1) + d * (1 + np.abs(np.log(model.unit)))
    logs = (square + d**0.5 * e) / 2 + (8 + d) * EPS * (printed[:, None] + length**2)
    return Errors(logs.T, G.T, (v**2 + size**2).T)


def of_sum(
    model: Mixtures, Q: FloatArray, errors: Errors, weights: FloatArray, weights_off: FloatArray
) -> FloatArray:
    """Of sum_c weights_c G_c unit^2, (q,), for weights (q, C) that may be off by weights_off."""
    K, d = model.means.shape
    b, off = np.abs(weights)[:, model.of_class], weights_off[:, model.of_class]
    if model.n_classes < K:
        parts, whole = model.components(Q), model.log_densities(Q)[:, model.of_class]
        share = np.exp(parts - whole)
        sure = errors.logs + of_classes(model, Q, errors)[:, model.of_class]
        relative = np.expm1(sure + 4 * EPS * (1 + np.abs(parts) + np.abs(whole)))
        b, off = b * share, share * (off + (b + off) * relative)
    rounded = (K + 2 * d + 8) * EPS * errors.sizes
    total: FloatArray = np.sum(b * (errors.G + rounded) + off * (errors.sizes + errors.G), axis=1)
    return total


def of_classes(model: Mixtures, Q: FloatArray, errors: Errors) -> FloatArray:
    """Of log(prior_c p_c), (q, C)."""
    logs = np.abs(model.components(Q))
    each = errors.logs + (4 + len(model.means)) * EPS * (1 + logs)
    return np.stack([each[:, model.of_class == c].max(axis=1) for c in range(model.n_classes)], axis=1)


def of_weights(log_p: FloatArray, off: FloatArray | float) -> FloatArray:
    """Of the weights a (q, C) of curvature.pair_weights, for log densities off by `off` (q, C); inf where all agree.

    p_i p_j (p_j - p_i) is the difference of two products of three densities.
    """
    q, C = log_p.shape
    if C == 2:  # 1 and -1: the sign of B is of no matter
        return np.zeros((q, C))
    first, second = log_p[:, :, None], log_p[:, None, :]
    low, high = np.minimum(first, second), np.maximum(first, second)
    with np.errstate(all="ignore"):
        log_T = low + 2 * high + np.log(-np.expm1(low - high))
        largest = log_T.max(axis=(1, 2), keepdims=True)
        each = np.broadcast_to(off, (q, C))
        unsure = 3 * np.maximum(each[:, :, None], each[:, None, :])
        used = np.where(np.isfinite(log_T), np.abs(log_T), 0.0)
        unsure = unsure + 8 * EPS * (4 + np.abs(low) + np.abs(high) + used + np.abs(largest))
        T = 2 * np.exp(low + 2 * high - largest) * np.expm1(unsure)
    T[:, np.arange(C), np.arange(C)] = 0.0
    total: FloatArray = np.where(np.isfinite(largest[:, 0]), T.sum(axis=2), np.inf)
    return np.where(np.isnan(total), np.inf, total)


def inverse_departure(departure: FloatArray) -> FloatArray:
    """||(I + E)^-1 - I|| for ||E|| <= departure; inf from 1 on."""
    return np.where(departure < 1, departure / np.where(departure < 1, 1 - departure, 1.0), np.inf)


class Known(NamedTuple):
    """B of q queries."""

    B: FloatArray  # (q, d, d), Frobenius norm 1, or 0
    off: FloatArray  # (q, d, d): proved: the true B is no further from it, entry by entry
    noise: FloatArray  # (q,): eigenvalues that small count as zero
    cases: list[Case | None]  # what B is, proved; None where it is not


@lru_cache(maxsize=1)
def known(p: Instance) -> Known:
    """B at the queries of p; kept, for the solver and the certificate ask for the same. Not to be written to."""
    found = curvature(p.model, p.Q)
    B, noise = found.B.copy(), found.noise.copy()
    off = np.broadcast_to(of_B(p.model, p.Q, found)[:, None, None], B.shape).copy()
    singular = np.zeros(len(B), dtype=bool)
    if p.params["model"] == "gaussian":
        model = Gaussians(p)
        for k, x in enumerate(p.Q):
            near = model.nearest(x)
            if near is None:
                B[k], off[k], noise[k] = 0.0, 0.0 if model.vanishes(x) else np.inf, 0.0
                continue
            turned = len(model.fits) == 2 and float(np.sum(near.B * B[k])) < 0
            B[k], off[k], noise[k] = -near.B if turned else near.B, near.off, ROUNDING
            singular[k] = sign_of(*near) is None and model.singular(x)
    cases = [
        Case.SINGULAR if flat else _case(sign_of(*each), each[0])
        for flat, *each in zip(singular, B, off, strict=True)
    ]
    return Known(B, off, noise, cases)


def _case(sign: Sign | None, B: FloatArray) -> Case | None:
    if sign is None:
        return None
    if sign.factor is not None:
        return Case.DEFINITE
    return Case.INDEFINITE if B.any() else Case.ZERO
