"""A solution of ours beside which a metric is judged: tight, or only as tight as the metric needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.pairs import MAX_POINTS_LISTED
from cvxml.core.result import Solution, Status
from cvxml.oracle.asked import uninterrupted

ROUGH = 1e-2  # of the scale: what refutes most metrics that are not optimal, in much less time than a tight proof takes
CLEARLY = 2.0  # times that must a metric of ours be better


class Reference(NamedTuple):
    """A solution, and whether no better one was to be had."""

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
    """Of the problem `given`, to a gap of tol / 10; where points are many, to ROUGH where `metric` is worse by more.

    metric: (d, d), what is judged; None where it is a value alone. known: of the same problem, for another metric.
    options: of `Method.solve`.
    """
    iterates = method.MAX_ITER > 1  # a closed form is as fine at once, and takes no warm start
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
