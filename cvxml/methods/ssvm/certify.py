"""The certificate of a metric for gerrymandering: F, and a bound of its own convex step.

The step is a member of the family (member.py): bound, gap and what rounding may take from them are those of
cvxml/family/theorem, at the sets h* that the exact inference finds, with the worst sets that it finds. That it may
have found others than the best is counted beside (rounding.py). The tests hold it against enumeration and an integer
program.

W = 0 has no scale that an error could be a share of: whether it is optimal for its step is decided in rationals.

The step is strongly convex: its optimum lies within sqrt(gap) of W. Of F itself no more is proved than F >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual
from cvxml.family.theorem import theorem
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.member import members, named, of_points, priced, read, step, zero_is_optimal
from cvxml.methods.ssvm.rounding import inferred
from cvxml.methods.ssvm.tree.certify import certify_tree


def certify(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `W` (d, d) from weights `dual`: kind "stationary", its `step` of kind "subproblem".

    dual: "q" (m,) any real numbers, "q_index" (m, 1 + k): a point and its set; one with a "tree" goes to
    tree/certify.py, which bounds F itself. A slightly infeasible `W` is
    judged as P_+(W). Raises ValueError if the arrays do not match or an index is out of range.
    """
    if isinstance(dual, Mapping) and "tree" in dual:
        return certify_tree(p, W, dual)
    found, (q, with_q) = inferred(p, W), read(p, dual)
    sets = np.concatenate([with_q, of_points(found.worst)])
    proof, repaired = theorem.certify(step(p, found.latent, sets), W, [priced(p, q, len(sets))])
    if found.zero and zero_is_optimal(p, members(found.latent), found.largest, q, with_q):
        proof = replace(proof, lower_bound=proof.objective, gap=0.0, rounding=0.0)
    error, rounding = proof.value_rounding + found.error, proof.rounding + found.error
    stored = named(p, found.latent, sets, repaired.duals[0])
    own = replace(
        proof,
        kind="subproblem",
        rounding=rounding,
        value_rounding=error,
        radius=math.sqrt(max(proof.gap, 0.0) + rounding) + proof.feasibility.distance,
        dual=stored,
    )
    return replace(
        own, kind="stationary", lower_bound=0.0, gap=own.objective, rounding=error, radius=math.inf, step=own
    )
