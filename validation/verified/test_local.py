"""GLML with the matrix B of the side file: the interval agrees with the twin and with the formula of the optimum.

Side files with errors are rejected.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.saved import load
from cvxml.oracle.side import write_side
from tests.instances import random_data, real_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.corpus import LOCAL, solution

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so


def definite(seed: int, d: int) -> cvxml.Solution:
    """Return a solution of GLML with a definite B: both classes have mean 0, and one has a larger spread."""
    X = np.random.default_rng(seed).normal(size=(4 * d, d))
    X = np.concatenate([X, -X])
    y = np.repeat([0, 1], len(X))
    return cvxml.solve("glml", np.concatenate([X, 3 * X]), y, alpha=0.1, query=np.zeros(d))


def proved(file: Path, beside: Path) -> tuple[Fraction, Fraction]:
    """Return the interval of the checker. Asserts that it equals the interval of the twin."""
    found = run(file, beside).interval
    assert found is not None
    assert found == twin.interval(file.read_bytes(), beside.read_bytes())
    return found


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_solutions_have_the_interval_of_the_twin(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 20):
        d = 1 + seed % 5
        if seed % 2:
            X, y = random_data(seed, n=6 * d + 6, d=d, classes=2 + seed % 3)
            found = cvxml.solve("glml", X, y, alpha=0.1)
        else:
            found = definite(seed, d)
        lower, upper = map(float, proved(*saved(found, tmp_path)))
        assert lower == pytest.approx(found.lower_bound, rel=1e-9, abs=1e-12)
        assert upper == pytest.approx(found.objective, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5, 13])
def test_the_interval_holds_the_optimum_by_the_formula(d: int, tmp_path: Path) -> None:
    """For the definite B of the side file, the optimum is (d |B|^(1/d))^2."""
    file, beside = saved(definite(d, d), tmp_path)
    lower, upper = proved(file, beside)
    B = np.array(json.loads(beside.read_text())["B"])
    assert np.linalg.norm(B) == pytest.approx(1)
    optimum = (d * np.linalg.det(B) ** (1 / d)) ** 2
    assert float(lower) == pytest.approx(optimum, rel=1e-9)
    assert upper - lower <= lower / 10**12


def test_a_metric_that_is_not_optimal_has_a_wider_interval(tmp_path: Path) -> None:
    file, beside = saved(definite(1, 3), tmp_path)
    lower, upper = proved(file, beside)
    content = json.loads(file.read_text())
    content["metric"] = np.diag([2.0, 0.5, 1.0]).tolist()
    file.write_text(json.dumps(content))
    other = json.loads(beside.read_text())
    other["scale"] = other["over"]  # of determinant 1, exactly
    beside.write_text(json.dumps(other))
    wider = proved(file, beside)
    assert wider[0] == lower
    M, B = np.diag([0.5, 2.0, 1.0]), np.array(other["B"])
    assert float(wider[1]) == pytest.approx(np.sum(M * B) ** 2)
    assert wider[1] > upper


def test_flowers_and_an_indefinite_B(tmp_path: Path) -> None:
    X, y = real_data("iris", 60)
    lower, upper = proved(*saved(cvxml.solve("glml", X, y, alpha=0.01), tmp_path))
    assert lower == 0
    assert upper < 1e-20


def test_the_answer_says_whose_B_it_is(tmp_path: Path) -> None:
    said = run(*saved(definite(0, 2), tmp_path)).whose
    assert said.startswith("glml: ")
    assert "B of the side file" in said
    assert "is not proved" in said


def test_several_queries_are_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = random_data(0, n=20, d=2, classes=2)
    cvxml.solve("glml", X, y, alpha=0.1, query=X[:2]).save(tmp_path / "two.json")
    with pytest.raises(ValueError, match="one query"):
        write_side(load(tmp_path / "two.json"), tmp_path / "side.json")


def edits(content: Any, aside: Any) -> dict[str, tuple[Any, Any]]:
    """Return changed pairs of files without a valid proof, by names of the changes."""
    more = {name: hex(int(aside[name], 16) + step) for name, step in (("trace", 4), ("scale", -4))}
    B = np.array(aside["B"])
    turned = B.copy()
    turned[0, 1] = np.nextafter(turned[0, 1], 2.0)
    return {
        "a trace that is too large by 4 of 2^80": (content, aside | {"trace": more["trace"]}),
        "a negative trace": (content, aside | {"trace": "-0x1"}),
        "a scale that is too small": (content, aside | {"scale": more["scale"]}),
        "a negative scale": (content, aside | {"scale": "-" + aside["scale"]}),
        "no scale": (content, aside | {"scale": "0x0"}),
        "B with the other sign": (content, aside | {"B": (-B).tolist()}),
        "B that is slightly smaller": (content, aside | {"B": (B * (1 - 1e-12)).tolist()}),
        "B that is not symmetric": (content, aside | {"B": turned.tolist()}),
        "B that is indefinite": (content, aside | {"B": np.diag([1.0, -1.0]).tolist()}),
        "B of one feature": (content, aside | {"B": [[1.0]]}),
        "prices": (content, aside | {"prices": []}),
        "a metric that is not symmetric": (content | {"metric": [[1.0, 0.5], [0.25, 1.0]]}, aside),
        "a metric that is indefinite": (content | {"metric": [[1.0, 2.0], [2.0, 1.0]]}, aside),
        "a metric that is singular": (content | {"metric": [[1.0, 1.0], [1.0, 1.0]]}, aside),
        "a metric of a determinant of 2": (content | {"metric": [[2.0, 0.0], [0.0, 1.0]]}, aside),
    }


NAMES = list(edits({}, {"trace": "0x5", "scale": "0x5", "B": [[1.0, 0.0], [0.0, 1.0]]}))


@pytest.mark.parametrize("name", NAMES)
def test_files_that_prove_nothing_are_rejected(name: str, tmp_path: Path) -> None:
    file, beside = saved(solution(LOCAL), tmp_path)
    assert proved(file, beside)[0] > 0
    content, aside = edits(json.loads(file.read_text()), json.loads(beside.read_text()))[name]
    file.write_text(json.dumps(content))
    beside.write_text(json.dumps(aside))
    assert not run(file, beside).proved
    with pytest.raises(ValueError, match=r"trace|scale|definite|matrices|ragged|prices"):
        twin.interval(file.read_bytes(), beside.read_bytes())
