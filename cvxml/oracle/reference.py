"""Solve a problem ourselves, to compare a metric with our solution: tightly, or only roughly if this is enough."""

from __future__ import annotations

from typing import Any, NamedTuple

from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.pairs import MAX_POINTS_LISTED
from cvxml.core.result import Solution, Status
from cvxml.oracle.asked import uninterrupted

ROUGH = 1e-2  # relative gap; it refutes most metrics that are not optimal, much faster than a tight proof
CLEARLY = 2.0  # our metric must be better by this many times `ROUGH` times the scale


class Reference(NamedTuple):
    """Our own solution of a problem.

    tight: True if it was solved to a tenth of the tolerance, or as far as the time limit allowed; False if only
    roughly.
    """

    solution: Solution
    tight: bool


def reference(
    method: Method[Any],
    given: Any,
    metric: FloatArray | None,
    tol: float,
    known: Reference | None = None,
    **options: Any,
) -> Reference:
    """Solve the problem `given` to a relative gap of tol / 10, or only to `ROUGH` if this already refutes `metric`.

    The rough solve is tried first if there are many points. It suffices if `metric` is worse than our solution by a
    clear margin (`CLEARLY`).

    metric: (d, d), the metric to judge, or None if only a value is judged. tol: the tolerance of the judgement.

    known: an earlier reference for the same problem. It is returned if it is tight or clearly refutes `metric`;
    otherwise it is the warm start. options: further arguments of `Method.solve`.
    """
    iterates = method.MAX_ITER > 1  # a closed form is tight at once and takes no warm start
    if (
        iterates
        and known is None
        and metric is not None
        and len(given.X) > MAX_POINTS_LISTED
        and tol / 10 < ROUGH
    ):
        rough = uninterrupted(method.solve(given, tol=ROUGH, **options))
        known = Reference(rough, tight=rough.status is Status.TIME_LIMIT)
    if known is not None:
        if known.tight or (metric is not None and _is_clearly_better(method, given, known.solution, metric)):
            return known
        options["warm_start"] = known.solution
    return Reference(uninterrupted(method.solve(given, tol=tol / 10, **options)), tight=True)


def _is_clearly_better(method: Method[Any], given: Any, rough: Solution, metric: FloatArray) -> bool:
    proof = method.certify(given, metric, rough.dual)
    if proof.undecided or rough.certificate.undecided:
        return False
    room = CLEARLY * ROUGH * max(proof.scale, rough.certificate.scale)
    return bool(proof.gap - rough.gap > room + proof.rounding + rough.certificate.rounding)
