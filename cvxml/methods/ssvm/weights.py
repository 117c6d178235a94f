"""Weights of sets, repaired: the dual variables of a CCCP step that are feasible, whatever they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cvxml.core.inputs import real_array
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Dual
from cvxml.methods.ssvm.instance import Instance


class Repaired(NamedTuple):
    """Feasible weights: q (m,) > 0 on the set (m, k) of point (m,)."""

    q: FloatArray
    point: IntArray
    sets: IntArray


def repair(dual: Dual, p: Instance, latent: IntArray) -> Repaired:
    """The nearest use of `dual` that is feasible (see the top of certify.py)."""
    q, index = _checked(dual, len(p.X), p.k)
    point, sets = index[:, 0], np.sort(index[:, 1:], axis=1)
    # no weight exceeds 1, and sums of anything much larger could overflow
    q = np.clip(q, 0.0, 1.0)
    proper = (np.diff(sets, axis=1) > 0).all(axis=1) & (sets != point[:, None]).all(axis=1)
    kept = proper & (q > 0)
    q, point, sets = q[kept], point[kept], sets[kept]
    total = np.bincount(point, q, minlength=len(p.X))
    q = q / total[point]
    bare = np.flatnonzero(total == 0)
    return Repaired(
        np.concatenate([q, np.ones(len(bare))]),
        np.concatenate([point, bare]),
        np.concatenate([sets, latent[bare]]),
    )


def _checked(dual: Dual, n: int, k: int) -> tuple[FloatArray, IntArray]:
    for name in ("q", "q_index"):
        if not isinstance(dual, Mapping) or name not in dual:
            raise ValueError(f'the dual must be a mapping with "q" and "q_index"; there is no {name!r}')
    q, index = real_array(dual["q"], "dual 'q'"), np.asarray(dual["q_index"])
    if index.size == 0:
        index = index.reshape(0, k + 1).astype(np.intp)
    if q.ndim != 1 or index.shape != (len(q), k + 1) or index.dtype.kind not in "iu":
        raise ValueError(
            f"dual 'q' must be one number a set, with q_index of shape (m, {k + 1}) and integers; "
            f"got shapes {q.shape} and {index.shape}, dtype {index.dtype}"
        )
    if len(index) and (index.min() < 0 or index.max() >= n):
        raise ValueError(f"q_index names a point outside 0..{n - 1}")
    if not np.isfinite(q).all():
        raise ValueError("dual 'q' holds NaN or infinity")
    return q, index.astype(np.intp)
