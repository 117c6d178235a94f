"""Ctrl-C: what was found so far comes back with its proof, from every method that has an algorithm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.methods import names
from cvxml.result import Status, Step
from tests.commands import Cli, X, Y
from tests.instances import real_data

PARAMS: dict[str, dict[str, Any]] = {"ssvm": {"C": 1.0}, "mmc": {}, "kernel_mlsvm": {"kernel": "rbf"}}
WITH_STEPS = [name for name in names() if name != "glml"]  # which has a closed form
LATER = [  # whose callback comes at every iterate, and whose objective falls from one to the next
    name for name in WITH_STEPS if name not in ("ssvm", "mcml", "nca")
]


def stop_at(call: int) -> Any:
    """A callback that is the user's Ctrl-C at this call."""
    calls = []

    def callback(step: Step) -> None:
        calls.append(step)
        if len(calls) == call:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("method", WITH_STEPS)
def test_an_interrupt_at_once_is_a_solution_with_a_bound(method: str) -> None:
    X, y = real_data("wine", 60)
    with pytest.warns(match="interrupted"):
        stopped = cvxml.solve(method, X, y, callback=stop_at(1), tol=1e-9, **PARAMS.get(method, {}))
    assert stopped.status is Status.INTERRUPTED
    assert len(stopped.history) == 1
    assert np.isfinite(stopped.objective)
    assert stopped.lower_bound <= stopped.objective


@pytest.mark.parametrize("method", LATER)
def test_a_later_interrupt_keeps_more_and_can_be_resumed(method: str) -> None:
    X, y = real_data("wine", 60)
    given = PARAMS.get(method, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, later = (
            cvxml.solve(method, X, y, callback=stop_at(call), tol=1e-9, **given) for call in (1, 4)
        )
        resumed = cvxml.solve(method, X, y, warm_start=later, tol=1e-6, **given)
    assert later.status is Status.INTERRUPTED
    assert later.objective <= first.objective
    assert later.objective - later.lower_bound < first.objective - first.lower_bound
    assert resumed.status in (Status.CONVERGED, Status.STATIONARY)
    assert resumed.lower_bound <= later.objective
