"""Solver of MMC with a diagonal metric: a primal-dual interior method for d weights.

    min_{a >= 0}  1/2 sum_k a_k - sum_t sqrt(D_t),    D = F a,    F_tk = (x_i - x_j)_k^2 / S_kk for the pair of row t.

Rows t are the dissimilar pairs i, j. Let S_kk be the sum of (x_i - x_j)_k^2 over the similar pairs. The weight of
feature k is a_k / S_kk, before the metric is divided by its use of the budget (budget_path.py). The dual variables of a
>= 0 are z (d,). On the path, z is the gradient of the objective, and a_k z_k = rho for all k, with a number rho > 0
that tends to 0.

If each a_k changes to a_k (1 + u_k), D_t changes relatively by at most max |u_k|. So the third derivative of the
objective along u is at most 3/2 max |u_k| times the second. For the barrier -sum log a_k the factor is 2 in place of
3/2. So Newton steps converge as they do for the barrier alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cvxml.core.clock import look, watched
from cvxml.core.metric import EPS, FloatArray

SHARE_TO_BOUNDARY = 0.99  # a step goes at most this share of the way to the boundary
HALVINGS = 40  # at most, in a line search


def path(F: FloatArray, a: FloatArray) -> Iterator[FloatArray]:
    """Follow the path from a (d,) > 0: yield the start, then a after every step. End when rounding prevents progress.

    F (q, d): the matrix of the module docstring.
    """
    z = np.full(len(a), 0.5)
    while True:
        look()
        yield a
        D = F @ a
        gradient = 0.5 - F.T @ (0.5 / np.sqrt(D))
        # The unknown is u = da / a, so the Hessian is multiplied by a on both sides, and the gradient once.
        H = (a[:, None] * (F.T @ (F * (0.25 / (D * np.sqrt(D)))[:, None]))) * a
        complement, g = a * z, a * gradient
        H[np.diag_indices_from(H)] += complement
        factor = cho_factor(H, lower=True)
        ahead = cho_solve(factor, -g)
        left = _share_left(complement, ahead)
        rho = float(complement.mean()) * left
        rho = max(rho, 0.3 * float(np.linalg.norm(g - complement)) / math.sqrt(len(a)))
        if rho <= EPS * EPS * max(1.0, float(np.sqrt(D).sum())):
            return
        u = cho_solve(factor, rho - g)
        step = _search(F, a, u, rho, float((g - rho) @ u))
        if step == 0:
            return
        dz = (rho - complement - complement * u) / a
        a = a * (1 + step * u)
        falling = dz < 0
        z = z + min(1.0, SHARE_TO_BOUNDARY * float(np.min(-z[falling] / dz[falling], initial=math.inf))) * dz
        z = np.clip(z, 1e-4 * rho / a, 1e4 * rho / a)


def _share_left(complement: FloatArray, u: FloatArray) -> float:
    """Return the cube of the share of a^T z that would be left after a step toward rho = 0; at least 1e-4.

    This is Mehrotra's rule: the next rho is at least the mean of a_k z_k times the result. complement (d,): a_k z_k. u
    (d,): the relative step of a toward rho = 0. The step of z follows from u, and both stop before the boundary.
    """
    change = -complement * (1 + u)  # a dz: the change of a z that is due to z
    longest = [float(np.min(-1 / v[v < 0], initial=math.inf)) for v in (u, change / complement)]
    primal, dual = (min(1.0, SHARE_TO_BOUNDARY * length) for length in longest)
    after = (1 + primal * u) * (complement + dual * change)
    return max(1e-4, min(1.0, float(after.sum()) / float(complement.sum())) ** 3)


def _search(F: FloatArray, a: FloatArray, u: FloatArray, rho: float, slope: float) -> float:
    """Return a step length t > 0 with which a_k (1 + t u_k) lowers 1/2 sum a - sum sqrt(F a) - rho sum log a; else 0.

    A decrease hidden by rounding is accepted. slope: the derivative of this function by t at t = 0.
    """
    least = float(u.min())
    step = min(1.0, -SHARE_TO_BOUNDARY / least) if least < 0 else 1.0
    here = _value(F, a)
    noise = 64 * EPS * max(1.0, abs(here))
    for _ in watched(range(HALVINGS)):
        change = _value(F, a * (1 + step * u)) - here - rho * float(np.log1p(step * u).sum())
        if change <= 1e-4 * step * slope + noise:
            return step
        step /= 2
    return 0.0


def _value(F: FloatArray, a: FloatArray) -> float:
    return float(a.sum()) / 2 - float(np.sqrt(F @ a).sum())
