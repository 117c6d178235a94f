"""What takes longer than a few seconds: `pytest -m slow`. Real sets come from the folder that CVXML_DATA names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from tests.instances import needs_data, objective_of, random_data

pytestmark = pytest.mark.slow


@needs_data
@pytest.mark.parametrize(("name", "n"), [("ionosphere", 350), ("dermatology", 350), ("heart", 270)])
@pytest.mark.parametrize("lam", [1.0, 0.01])
def test_real_data_are_solved_to_strict_tolerance(name: str, n: int, lam: float) -> None:
    X, y = datasets.subsample(*datasets.load(name), n)
    X = datasets.standardize(X)
    solution = cvxml.solve("mlsvm", X, y, lam=lam, n_neighbors=8, tol=1e-9)
    assert solution.rel_gap <= 1e-9
    from_definition = objective_of("mlsvm", X, y, solution.metric, lam=lam, n_neighbors=8)
    assert from_definition == pytest.approx(solution.objective, rel=1e-10)


@needs_data
def test_literal_and_fast_agree_on_ionosphere() -> None:
    X, y = datasets.load("ionosphere")
    X = datasets.standardize(X)
    fast = cvxml.solve("mlsvm", X, y, lam=0.1)
    literal = cvxml.solve("mlsvm", X, y, lam=0.1, solver="scs", tol=1e-3)
    assert literal.lower_bound <= fast.objective * (1 + 1e-12)
    assert fast.lower_bound <= literal.objective * (1 + 1e-12)
    distance = np.linalg.norm(fast.metric - literal.metric)
    assert distance <= fast.certificate.radius + literal.certificate.radius


def test_no_mutated_candidate_gets_a_wrong_verdict() -> None:
    """Candidates at known distances from a certified optimum: the verdict must follow from the objective alone."""
    rng = np.random.default_rng(0)
    verdicts = set()
    for seed in range(20):
        X, y = random_data(seed, n=24, d=4)
        best = cvxml.solve("mlsvm", X, y, lam=0.1, tol=1e-12 if seed % 2 else 1e-10)
        allowed = 1e-6 * best.certificate.scale
        for size in (1e-9, 1e-6, 1e-4, 1e-3, 1e-2):
            noise = rng.standard_normal((4, 4)) * size * np.linalg.norm(best.metric)
            candidate = best.metric + noise @ noise.T if size > 1e-5 else best.metric * (1 + size)
            excess = objective_of("mlsvm", X, y, candidate, lam=0.1) - best.objective
            if 0.5 * allowed < excess < 2 * allowed:
                continue  # within what the reference leaves open
            if abs(excess) <= best.certificate.value_rounding:
                excess = 0.0  # of an optimum at 0 nothing is allowed, and two sums differ in their last digit
            report = cvxml.check("mlsvm", X, y, candidate, lam=0.1, neighbors=best.neighbors)
            wrong = {"refuted", "close"} if excess <= 1.01e4 * allowed else {"refuted"}
            assert report.verdict.value in ({"certified"} if excess <= allowed else wrong), (seed, size)
            verdicts.add(report.verdict.value)
    assert verdicts == {"certified", "close", "refuted"}


def test_mutated_candidates_get_no_wrong_verdict() -> None:
    """A few hundred of the ten thousand of validation/trust.md."""
    script = Path(__file__).parent.parent / "validation" / "trust.py"
    done = subprocess.run(
        [sys.executable, script, "--n", "300"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 candidates" in done.stdout
    assert "0 wrong" in done.stdout
