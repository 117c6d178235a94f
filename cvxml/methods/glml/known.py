"""B of the queries of an instance, as near to the true one as its proof needs.

Double precision is fast and says how far off it may be (errors.py). Where that leaves open what B is, or leaves more
than a proof should allow for, B of Gaussians is computed in balls and rounded (gaussians.py); a model of another kind
stays as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.methods.glml.certify import Sign, sign_of
from cvxml.methods.glml.closed import Case
from cvxml.methods.glml.curvature import ROUNDING, Curvature, curvature
from cvxml.methods.glml.gaussians import Gaussians
from cvxml.methods.glml.instance import Instance
from cvxml.metric import FloatArray

SHARP = 1e-10  # errors that no tolerance sees


class Known(NamedTuple):
    """B of q queries."""

    B: FloatArray  # (q, d, d), Frobenius norm 1, or 0
    off: FloatArray  # (q, d, d): proved: the true B is no further from it, entry by entry
    noise: FloatArray  # (q,): eigenvalues that small count as zero
    cases: list[Case | None]  # what B is, proved; None where it is not


def known(p: Instance) -> Known:
    """B at the queries of p."""
    found = curvature(p.model, p.Q)
    B, noise = found.B.copy(), found.noise.copy()
    off = np.broadcast_to(found.off[:, None, None], B.shape).copy()
    signs = [sign_of(each, wrong) for each, wrong in zip(B, off, strict=True)]
    vague = [k for k, sign in enumerate(signs) if not _sharp(sign, found, k)]
    cases = [_case(sign, each) for sign, each in zip(signs, B, strict=True)]
    if not vague or p.params["model"] != "gaussian":
        return Known(B, off, noise, cases)
    model = Gaussians(p)
    for k in vague:
        near = model.nearest(p.Q[k])
        if near is None:
            B[k], off[k] = 0.0, 0.0 if model.vanishes(p.Q[k]) else np.inf
        else:
            turned = len(model.fits) == 2 and float(np.sum(near.B * B[k])) < 0
            B[k], off[k] = -near.B if turned else near.B, near.off
        noise[k] = ROUNDING if near is not None else 0.0
        cases[k] = _case(sign_of(B[k], off[k]), B[k])
        if near is not None and cases[k] is None and model.singular(p.Q[k]):
            cases[k] = Case.SINGULAR
    return Known(B, off, noise, cases)


def _sharp(sign: Sign | None, found: Curvature, k: int) -> bool:
    return (
        sign is not None and found.off[k] <= SHARP and (sign.factor is None or sign.factor.log_off <= SHARP)
    )


def _case(sign: Sign | None, B: FloatArray) -> Case | None:
    if sign is None:
        return None
    if sign.factor is not None:
        return Case.DEFINITE
    return Case.INDEFINITE if B.any() else Case.ZERO
