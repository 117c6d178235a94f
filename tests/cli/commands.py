"""For the tests of the command line: small data, solutions of them, and what an answer looks like."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.result import Solution
from cvxml.methods import get, names
from tests.instances import random_data

X, Y = random_data(0, n=14, d=3, classes=2)
GRID = np.random.default_rng(0).integers(0, 3, (14, 2)).astype(float)
# gerrymandering, whose parameters and files differ, has tests/cli/test_cli_ssvm.py
method_with_lists = pytest.mark.parametrize(
    "method", [m for m in names() if "neighbors" in get(m).PARAMETERS]
)


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Answer]


@cache
def solved(method: str) -> Solution:
    return cvxml.solve(method, X, Y, n_neighbors=2, neighborhood="per-class")


def unsaid(err: str) -> str:
    """The standard error without the lines that say what was read (tests/core/test_reading.py), and what was saved."""
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("data: ", "saved: ")))


def refused(answer: Answer) -> bool:
    line = answer.err.rstrip("\n")
    return (
        answer.code == 2
        and not answer.out
        and line.startswith("cvxml: ")
        and "\n" not in line
        and len(line) < 500
    )


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
