"""A value alone: certified where it is as near to the optimum as is allowed, wherever in its interval that lies."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.oracle.convex import _judge_value
from tests.instances import real_data

TOL, GAP = 1e-3, 5e-4  # shares of the objective


@pytest.mark.parametrize(
    ("off", "verdict"),
    [
        (-1.4 * TOL, Verdict.INCONCLUSIVE),
        (-1.6 * TOL, Verdict.REFUTED),
        (-0.9 * TOL, Verdict.CERTIFIED),
        (0.4 * TOL, Verdict.CERTIFIED),
        (0.6 * TOL, Verdict.INCONCLUSIVE),
        (1.1 * TOL, Verdict.REFUTED),
    ],
)
def test_a_value_is_certified_only_if_it_is_near_to_both_ends(off: float, verdict: Verdict) -> None:
    """The optimum is between 1 - GAP and 1 times the objective."""
    X, y = real_data("iris", 20)
    best = cvxml.solve("lmnn", X, y, tol=1e-9)
    value = best.objective
    known = replace(
        best, certificate=replace(best.certificate, lower_bound=(1 - GAP) * value, gap=GAP * value)
    )
    asked: Any = SimpleNamespace(value=(1 + off) * value, tol=TOL)
    assert _judge_value(asked, None, known, value, 0, None, [])[0] is verdict
