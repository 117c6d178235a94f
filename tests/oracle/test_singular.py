"""Candidates at the boundary of the cone, or beyond it, in exact mode: a verdict, and the one that floats give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.saved import SavedSolution
from cvxml.methods import get, names
from cvxml.oracle.saved import recertify
from tests.instances import random_data, small

X, Y = random_data(0, n=16, d=3)
EXACT = [name for name in names() if get(name).has_exact]


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", EXACT)
def test_a_singular_candidate_has_the_same_verdict_in_exact_mode(method: str) -> None:
    params = {k: v for k, v in small(method).items() if k not in ("kernel", "gamma")}  # rbf is not rational
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = cvxml.solve(method, X, Y, **params).metric
    d = len(best)
    values, vectors = np.linalg.eigh(best)
    corner = np.zeros((d, d))
    corner[0, 0] = 1.0
    candidates = {
        "zero": np.zeros((d, d)),
        "of rank one": corner,
        "without its largest direction": (vectors[:, :-1] * values[:-1]) @ vectors[:, :-1].T,
        "negative": -np.eye(d),
        "indefinite": np.diag((-1.0) ** np.arange(d)),
    }
    for name, M in candidates.items():
        M = (M + M.T) / 2
        floats, exact = (
            cvxml.check(method, X, Y, M, exact=exact, diagnosed=False, **params) for exact in (False, True)
        )
        if floats.verdict in (Verdict.REFUTED, Verdict.CLOSE):
            assert exact.verdict in (Verdict.REFUTED, Verdict.CLOSE), (name, str(exact))
        elif floats.verdict is Verdict.INCONCLUSIVE:  # exact arithmetic may refute it
            assert exact.verdict is not Verdict.CERTIFIED, (name, str(exact))


@pytest.mark.quick(12)
@pytest.mark.parametrize("method", [name for name in EXACT if get(name).CLAIM == "optimal"])
def test_a_saved_singular_metric_has_the_same_verdict_in_exact_mode(method: str) -> None:
    params = {k: v for k, v in small(method).items() if k not in ("kernel", "gamma")}
    solution = cvxml.solve(method, X, Y, **params)
    zero = np.zeros_like(solution.metric)
    saved = SavedSolution(method, dict(solution.params), X, Y, solution.neighbors, zero, solution.dual)
    floats, exact = (recertify(saved, 1e-6, exact=exact).verdict for exact in (False, True))
    assert floats is not Verdict.CERTIFIED
    assert exact in (floats, Verdict.INCONCLUSIVE)
