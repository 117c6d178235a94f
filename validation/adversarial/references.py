"""Verdicts in exact mode if our own reference solution did not converge, or has a far too large scale."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import cvxml
from cvxml.oracle import convex
from cvxml.oracle.reference import Reference
from validation.adversarial.exact import real

SHARE = 1 + 1e-9  # factor for a tolerance, because two computations of the limit may differ by rounding


@contextlib.contextmanager
def reference_of(make: Any) -> Iterator[None]:
    """Make `check` compare with `make(module, given)` instead of its own solution."""
    before = convex.beside
    convex.beside = lambda module, given, *_, **__: Reference(make(module, given), tight=True)  # type: ignore[assignment]
    try:
        yield
    finally:
        convex.beside = before


def started(module: Any, given: Any, best: Any, rng: Any) -> Any:
    """Return a solution after at most three steps, or a solution with a metric up to 1e8 times too large."""
    if module.MAX_ITER > 1 and rng.random() < 0.5:
        return module.solve(given, tol=1e-9, max_iter=int(rng.integers(1, 4)))
    far = 10.0 ** rng.uniform(1, 8)
    M = module.allowed(given, far * (best.metric + np.eye(len(best.metric))))
    return replace(best, metric=M, certificate=module.certify(given, M, best.dual))


def beside_a_bad_reference(attack: Any, A: Any, best: Any, optimal: bool) -> tuple[str, list[str]]:
    """Return the verdict of `check(exact=True)` on A, and a list of its faults. best: a solution that converged.

    A certificate may use the scale of A or of the optimum, without a margin for rounding. A refutation needs a metric
    with a lower objective.
    """
    tol = float(10.0 ** attack.rng.choice([-3, -6, -9]))
    with reference_of(lambda module, given: started(module, given, best, attack.rng)):
        report = cvxml.check(*attack.asked, A, tol=tol, exact=True, diagnosed=False, **attack.given.params)
    wrong: list[str] = []
    at = attack.problem.image(A)
    if report.verdict == "certified":
        if attack.excluded(A):
            wrong.append("certified: an invalid metric, beside a bad reference")
        scales = (attack.problem.scale(each) for each in (at, attack.problem.image(best.metric)))
        wrong += attack.proved(real(tol) * real(SHARE), 0.0, max(scales, key=float), at)
    if report.verdict in ("refuted", "close") and attack.feasible(A):
        if optimal:
            wrong.append("refuted: the optimum, beside a bad reference")
        elif report.witness is not None:
            found = attack.problem.value(attack.problem.image(report.witness.metric))
            if bool(found > attack.problem.value(at)):
                wrong.append("refuted: the witness is worse, beside a bad reference")
    return str(report.verdict), wrong
