"""Verdicts beside a reference of ours that did not converge: its scale must not become the tolerance."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.methods import get, names
from cvxml.oracle import convex
from cvxml.oracle.reference import Reference
from tests.instances import allowed, objective_of, random_data, small

EXACT = [name for name in names() if get(name).CLAIM == "optimal" and get(name).has_exact]
STARTED = [name for name in EXACT if get(name).MAX_ITER > 1]


def test_ldml_far_beyond_the_optimum_is_not_certified() -> None:
    """f(30) = 2.0612e-9; the optimum, at (100 + ln 4) / 5, is 1.5434e-13, and our solver does not arrive there."""
    X = [[0.0], [1.0], [0.0], [2.0]]
    params: dict[str, Any] = {"b": 50.0, "pairs": {"similar": [[0, 1]], "dissimilar": [[2, 3]]}}
    assert objective_of("ldml", X, None, [[30.0]], **params) == pytest.approx(2.0612e-9, rel=1e-4)
    best = (100 + np.log(4)) / 5
    assert objective_of("ldml", X, None, [[best]], **params) == pytest.approx(1.5434e-13, rel=1e-3)
    for tol in ("strict", "normal", "loose"):
        for exact in (False, True):
            report = cvxml.check("ldml", X, None, [[30.0]], tol=tol, exact=exact, diagnosed=False, **params)
            assert report.verdict is not Verdict.CERTIFIED, (tol, exact)


@pytest.mark.quick(3)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("method", STARTED)
def test_an_unconverged_reference_certifies_no_more_than_a_converged_one(
    method: str, far: float, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tolerance of 1e-3 of the true scale is the judge. far: the reference's metric is that much too large."""
    X, y = random_data(9, n=20, d=3)
    params = {k: v for k, v in small(method).items() if k not in ("kernel", "gamma")}  # rbf is not rational
    best = cvxml.solve(method, X, y, tol=1e-9, **params)

    def early(module: Any, given: Any, *_: Any, **__: Any) -> Reference:
        stopped = module.solve(given, tol=1e-9, max_iter=1)
        if far:
            M = module.allowed(given, far * (best.metric + np.eye(len(best.metric))))
            stopped = replace(stopped, metric=M, certificate=module.certify(given, M, stopped.dual))
        return Reference(stopped, tight=True)

    monkeypatch.setattr(convex, "beside", early)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for factor in (1.0, 1.01, 1.1, 1.5, 3.0, 30.0):
            M = allowed(
                method, X, y, factor * best.metric + (factor - 1) * np.eye(len(best.metric)), **params
            )
            report = cvxml.check(method, X, y, M, tol="loose", exact=exact, diagnosed=False, **params)
            excess = objective_of(method, X, y, M, **params) - best.lower_bound
            if report.verdict is Verdict.CERTIFIED:
                assert excess <= 1.001e-3 * best.certificate.scale, factor
            if report.verdict is Verdict.REFUTED:
                assert excess >= 0.999e-3 * best.certificate.scale, factor


def test_a_claimed_objective_beside_an_unconverged_reference_keeps_to_the_candidate_s_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The scale of the reference is 10^8 times too large: a claim that is wrong by half of the objective is refuted."""
    X, y = random_data(9, n=20, d=3)
    params = small("frobmetric")
    best = cvxml.solve("frobmetric", X, y, tol=1e-9, **params)

    def early(module: Any, given: Any, *_: Any, **__: Any) -> Reference:
        M = 1e4 * best.metric
        proof = module.certify(given, M, best.dual)
        return Reference(replace(best, metric=M, certificate=proof), tight=True)

    monkeypatch.setattr(convex, "beside", early)
    report = cvxml.check(
        "frobmetric",
        X,
        y,
        best.metric,
        claimed_objective=1.5 * best.objective,
        tol="loose",
        diagnosed=False,
        **params,
    )
    assert report.verdict is Verdict.REFUTED
