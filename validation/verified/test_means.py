"""GMML: intervals of random instances agree with exact mode and the twin; the optimum is found by hand.

Side files with errors are rejected.
"""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.saved import load
from cvxml.oracle.cases import load_cases
from cvxml.oracle.saved import recertify
from cvxml.oracle.side import MEAN, side
from tests.instances import random_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.test_roots import refuse, written

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so

# S = I and D = diag(4, 9), so the metric is diag(2, 3), and the optimum is 10
CROSS = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]
PAIRS = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [4, 0]]}
BALL = Fraction(1, 1 << 60)  # exact mode encloses the objective in a ball; relative
CASES = {c.id: c for c in load_cases() if c.formula == MEAN and c.params["weight"] == 0.5}


def within_exact(solution: cvxml.Solution, folder: Path) -> tuple[Fraction, Fraction]:
    """Return the interval of the checker for a solution.

    Asserts that it equals the interval of the twin, and lies within the slightly wider interval of exact mode.
    """
    file, beside = saved(solution, folder)
    found, exact = run(file, beside).interval, recertify(load(file), 1e-3, exact=True).exact
    assert found is not None, run(file, beside).reason
    assert found == twin.interval(file.read_bytes(), beside.read_bytes())
    assert exact is not None
    lower, upper = found[0] - exact.lower_bound, exact.objective - found[1]
    assert min(lower, upper) >= 0
    assert lower + upper <= BALL * exact.objective
    return found


@pytest.mark.parametrize("name", CASES)
def test_golden_cases_have_the_interval_of_exact_mode(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    within_exact(cvxml.solve(case.formula, case.X, case.y, **case.params), tmp_path)


def params_of(seed: int, d: int) -> dict[str, Any]:
    """Return parameters of a random instance: with and without a prior, and with given pairs."""
    rng = np.random.default_rng(seed)
    params: dict[str, Any] = {"mu": (0.0, 0.25, 3.0)[seed % 3]}
    if seed % 3 and seed % 2:
        L = rng.normal(size=(d, d))
        params["prior"] = L @ L.T + np.eye(d)
    elif seed % 3 and seed % 4 == 0:
        params["prior"] = "covariance"
    if seed % 5 == 0:
        pairs = rng.permutation([(i, j) for j in range(14) for i in range(j)])
        params["pairs"] = {"similar": pairs[:20].tolist(), "dissimilar": pairs[20:50].tolist()}
    return params


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_instances_have_the_interval_of_exact_mode_and_of_the_twin(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 20):
        d = 1 + seed % 4
        X, y = random_data(seed, n=14, d=d, classes=2 + seed % 2)
        solution = cvxml.solve(MEAN, X * 10.0 ** (seed % 5 - 2), y, **params_of(seed, d))
        found = within_exact(solution, tmp_path)
        assert float(found[1] - found[0]) <= 1e-6 * float(found[1])


def by_hand(folder: Path) -> tuple[Path, Path, Any, Any]:
    """Write the files of an instance with a known optimal metric A. Return both paths and both contents.

    The matrix of the side file is F = S A.
    """
    file, beside = folder / "solution.json", folder / "side.json"
    content = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "gmml",
        "params": {"weight": 0.5, "mu": 0.0, "pairs": deepcopy(PAIRS)},
        "X": deepcopy(CROSS),  # tests change the content
        "y": [0] * 5,
        "metric": [[2.0, 0.0], [0.0, 3.0]],
    }
    aside = {
        "format": "cvxml-side",
        "version": 1,
        "method": "gmml",
        "over": "0x1",
        "root": None,
        "F": [["0x2", "0x0"], ["0x0", "0x3"]],
    }
    written(file, content)
    written(beside, aside)
    return file, beside, content, aside


def posed(**params: Any) -> dict[str, Any]:
    """Return a change of the file by hand: the parameters with `params` in place of the old values."""
    return {"params": {"weight": 0.5, "mu": 0.0, "pairs": PAIRS} | params}


def F(*entries: int) -> dict[str, Any]:
    """Return a change of the side file: the matrix F (2, 2) with these entries, over 2^80."""
    rows = [[hex(entry) for entry in entries[k : k + 2]] for k in (0, 2)]
    return {"over": hex(1 << 80), "F": rows}


def test_the_optimum_by_hand(tmp_path: Path) -> None:
    file, beside, content, _ = by_hand(tmp_path)
    assert run(file, beside).interval == (10, 10)
    # mu = 2 and A_0 = diag(1/2, 3) give S = diag(5, 5/3) and D = diag(5, 15)
    written(
        file, content | posed(mu=2.0, prior=[[0.5, 0.0], [0.0, 3.0]]) | {"metric": [[1.0, 0.0], [0.0, 3.0]]}
    )
    written(beside, json.loads(beside.read_text()) | {"F": [["0x5", "0x0"], ["0x0", "0x5"]]})
    assert run(file, beside).interval == (20, 20)
    # F need not be symmetric, nor the best one
    written(file, content)
    written(beside, json.loads(beside.read_text()) | F(1 << 80, 1 << 78, -(1 << 79), 2 << 80))
    assert run(file, beside).interval == (6, 10)


ONE = 1 << 80
WRONG: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "F that is slightly too large": ({}, F(2 * ONE + 1, 0, 0, 3 * ONE)),
    "F that is too large beside its diagonal": ({}, F(2 * ONE, 1, 0, 3 * ONE)),
    "F with more rows": ({}, {"F": [["0x2", "0x0"], ["0x0", "0x3"], ["0x1", "0x0"]]}),
    "F with more columns": ({}, {"F": [["0x2", "0x0", "0x0"], ["0x0", "0x3", "0x0"]]}),
    "F that is ragged": ({}, {"F": [["0x2"], ["0x0", "0x3"]]}),
    "F without rows": ({}, {"F": []}),
    "F of floats": ({}, {"F": [[2.0, 0.0], [0.0, 3.0]]}),
    "F over 0": ({}, {"over": "0x0"}),
    "F over a negative number": ({}, {"over": "-0x1"}),
    "prices": ({}, {"prices": []}),
    "a factor": ({}, {"factor": {"vectors": [], "rest": "psd"}}),
    "a metric that is not symmetric": ({"metric": [[2.0, 0.5], [0.25, 3.0]]}, {}),
    "a metric that is indefinite": ({"metric": [[2.0, 3.0], [3.0, 3.0]]}, {}),
    "a metric that is singular": ({"metric": [[1.0, 1.0], [1.0, 1.0]]}, {}),
    "a metric of 0": ({"metric": [[0.0, 0.0], [0.0, 0.0]]}, {}),
    "a metric of one feature": ({"metric": [[2.0]]}, {}),
    "a root without vectors": ({}, {"root": []}),
    "a root of rank 1": ({}, {"root": [[1.0, 1.0]]}),
    "another weight": (posed(weight=0.25), {}),
    "no weight": ({"params": {"mu": 0.0, "pairs": PAIRS}}, {}),
    "a negative mu": (posed(mu=-0.25), F(0, 0, 0, 0)),
    "no mu": ({"params": {"weight": 0.5, "pairs": PAIRS}}, {}),
    "a prior in words": (posed(mu=1.0, prior="identity"), {}),
    "a prior that is not symmetric": (posed(mu=1.0, prior=[[1.0, 0.5], [0.25, 1.0]]), {}),
    "a prior that is indefinite": (posed(mu=1.0, prior=[[1.0, 2.0], [2.0, 1.0]]), {}),
    "a prior that is negative": (posed(mu=1.0, prior=[[-1.0, 0.0], [0.0, -1.0]]), {}),
    "a prior that is singular": (posed(mu=1.0, prior=[[1.0, 1.0], [1.0, 1.0]]), {}),
    "a prior of one feature": (posed(mu=1.0, prior=[[1.0]]), {}),
    "a pair that is not there": (posed(pairs=PAIRS | {"similar": [[0, 1], [0, 5]]}), {}),
    "a pair twice": (posed(pairs=PAIRS | {"similar": [[0, 1], [0, 2], [2, 0]]}), {}),
    "a pair of both kinds": (posed(pairs=PAIRS | {"similar": [[0, 1], [0, 2], [0, 3]]}), {}),
    "a pair of a point with itself": (posed(pairs=PAIRS | {"similar": [[0, 1], [2, 2]]}), {}),
    "fewer similar pairs": (posed(pairs=PAIRS | {"similar": [[0, 1]]}), {}),
    "classes without a dissimilar pair": (posed(pairs=None), {}),
    "a parameter that is not known": (posed(t=0.5), {}),
    "another method": ({}, {"method": "mmc"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_prove_nothing_are_rejected(name: str, tmp_path: Path) -> None:
    refuse(by_hand(tmp_path), WRONG[name])


def test_another_weight_is_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    cvxml.solve(MEAN, X, y, weight=0.25).save(tmp_path / "other.json")
    with pytest.raises(ValueError, match=r"weight=0\.25"):
        side(load(tmp_path / "other.json"))


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 5e-324])
@pytest.mark.parametrize("field", ["X", "metric", "mu", "prior", "F"])
def test_no_number_takes_all_memory(field: str, value: float, tmp_path: Path) -> None:
    """`run` limits the time and the memory of the checker."""
    file, beside, content, aside = by_hand(tmp_path)
    if field == "F":
        aside["F"][0][0] = hex(int(value)) if abs(value) > 1 else "0x" + "f" * 4000
    elif field == "mu":
        content["params"]["mu"] = value
    elif field == "prior":
        content["params"] |= {"mu": 1.0, "prior": [[value, 0.0], [0.0, 1.0]]}
    else:
        content[field][0][0] = value
    written(file, content)
    written(beside, aside)
    run(file, beside)
