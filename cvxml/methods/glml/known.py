"""What is known of B at the queries of an instance: floats, how far from them the true B may be, and what it is.

B of one Gaussian a class follows from the data, and inverse covariances that are nearly singular leave nothing of it in
double precision: it is computed in balls and rounded once (gaussians.py). What a mixture once fitted or a model of the
user's own returns is the problem itself; there double precision says how far off it may be (errors.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.glml import errors
from cvxml.methods.glml.certify import Sign, sign_of
from cvxml.methods.glml.closed import Case
from cvxml.methods.glml.curvature import ROUNDING, curvature
from cvxml.methods.glml.gaussians import Gaussians
from cvxml.methods.glml.instance import Instance


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
    off = np.broadcast_to(errors.of_B(p.model, p.Q, found)[:, None, None], B.shape).copy()
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
