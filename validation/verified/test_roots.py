"""MMC: intervals of random instances agree with exact mode and the twin; the optimum is found by hand.

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
from cvxml.oracle.side import side
from tests.instances import random_data
from validation.verified import twin
from validation.verified.built import run
from validation.verified.test_verified import rejected, same_as_exact

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so

# the points of the last pair are equal
POINTS = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 4.0], [3.0, 0.0]]
PAIRS = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [4, 0], [3, 5]]}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_instances_have_the_interval_of_exact_mode_and_of_the_twin(start: int, tmp_path: Path) -> None:
    """The runs have few iterations, so some do not converge."""
    for seed in range(start, start + 20):
        rng = np.random.default_rng(seed)
        d = 1 + seed % 4
        X, y = random_data(seed, n=14, d=d, classes=2 + seed % 2)
        params: dict[str, Any] = {}
        if seed % 3 == 0:  # equal points of two classes
            X[7:10] = X[0:3]
        if seed % 4 == 0:
            pairs = rng.permutation([(i, j) for j in range(14) for i in range(j)])
            params["pairs"] = {"similar": pairs[:20].tolist(), "dissimilar": pairs[20:50].tolist()}
        solution = cvxml.solve("mmc", X * 10.0 ** (seed % 5 - 2), y, max_iter=1 + seed % 30, **params)
        same_as_exact(solution, tmp_path)
        file, beside = tmp_path / "solution.json", tmp_path / "side.json"
        expected = twin.interval(file.read_bytes(), beside.read_bytes())
        assert run(file, beside).interval == expected


def by_hand(folder: Path) -> tuple[Path, Path, Any, Any]:
    """Write the files of an instance with a known optimal metric and known dual variables. Return paths and contents.

    S = I. With the metric diag(a, b), the distances are 9 a and 16 b, so the sum of roots 3 sqrt a + 4 sqrt b is
    largest at (a, b) = (9, 16) / 25. It is 5 there. The dual variables 1 / (2 distance) are (5 / 18, 5 / 32), and mu =
    5 / 2.
    """
    file, beside = folder / "solution.json", folder / "side.json"
    content = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "mmc",
        "params": {"pairs": PAIRS},
        "X": POINTS,
        "y": [0] * 6,
        "metric": [[0.36, 0.0], [0.0, 0.64]],
    }
    aside = {
        "format": "cvxml-side",
        "version": 1,
        "method": "mmc",
        "over": hex(288),
        "prices": [[0, 3, hex(80)], [4, 0, hex(45)]],
        "most": ["0x5", "0x2"],
        "root": None,
        "factor": {"vectors": [], "rest": "psd"},
    }
    written(file, content)
    written(beside, aside)
    return file, beside, content, aside


def written(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def test_the_optimum_by_hand(tmp_path: Path) -> None:
    found = run(*by_hand(tmp_path)[:2])
    assert found.interval is not None, found.reason
    lower, upper = found.interval
    assert -5 - Fraction(1, 1 << 180) <= lower <= -5
    assert -5 <= upper <= -5 + Fraction(1, 1 << 50)  # 0.36 and 0.64 are doubles
    assert "at least" in found.whose


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mu that is slightly too small": ({}, {"most": [hex(5 * 2**80 - 1), hex(2 * 2**80)]}),
    "a negative mu": ({}, {"most": ["-0x5", "0x2"]}),
    "mu without a denominator": ({}, {"most": ["0x5", "0x0"]}),
    "different points without a price": ({}, {"prices": [[0, 3, hex(80)]]}),
    "a price of 0": ({}, {"prices": [[0, 3, hex(80)], [4, 0, "0x0"]]}),
    "a negative price": ({}, {"prices": [[0, 3, hex(80)], [3, 5, "-0x1"], [4, 0, hex(45)]]}),
    "a price twice": ({}, {"prices": [[0, 3, hex(80)], [0, 3, hex(80)], [4, 0, hex(45)]]}),
    "a price of no pair": ({}, {"prices": [[0, 3, hex(80)], [4, 0, hex(45)], [4, 5, "0x1"]]}),
    "a price of a point that is not there": (
        {},
        {"prices": [[0, 3, hex(80)], [4, 0, hex(45)], [9, 7, "0x1"]]},
    ),
    "a price of a similar pair": ({}, {"prices": [[0, 1, "0x1"], [0, 3, hex(80)], [4, 0, hex(45)]]}),
    "a price the other way round": ({}, {"prices": [[0, 3, hex(80)], [0, 4, hex(45)]]}),
    "prices in another order": ({}, {"prices": [[4, 0, hex(45)], [0, 3, hex(80)]]}),
    "no denominator": ({}, {"over": "0x0"}),
    "a norm where there is none": ({}, {"factor": {"vectors": [], "rest": "norm"}}),
    "a metric that is not symmetric": ({"metric": [[0.36, 0.1], [0.2, 0.64]]}, {}),
    "a metric that is indefinite": ({"metric": [[0.36, 0.6], [0.6, 0.64]]}, {}),
    "a pair that is not there": ({"params": {"pairs": PAIRS | {"similar": [[0, 1], [0, 6]]}}}, {}),
    "a pair twice": ({"params": {"pairs": PAIRS | {"similar": [[0, 1], [0, 2], [2, 0]]}}}, {}),
    "a pair of both kinds": ({"params": {"pairs": PAIRS | {"similar": [[0, 1], [0, 2], [3, 5]]}}}, {}),
    "a pair of a point with itself": (
        {"params": {"pairs": PAIRS | {"similar": [[0, 1], [0, 2], [3, 3]]}}},
        {},
    ),
    "no dissimilar pair": ({"params": {"pairs": PAIRS | {"dissimilar": []}}}, {"prices": []}),
    "a diagonal metric": ({"method": "mmc:diagonal"}, {"method": "mmc:diagonal"}),
    "a parameter that is not known": ({"params": {"pairs": PAIRS, "diagonal": True}}, {}),
    "a field that is not known": ({}, {"weights": []}),
    "classes that leave no similar pair for a direction": ({"params": {"pairs": None}}, {}),
}


def refuse(parts: tuple[Path, Path, Any, Any], change: tuple[Any, Any]) -> None:
    """Assert that the checker and the twin refuse the changed files."""
    file, beside, content, aside = parts
    of_file, of_side = change
    written(file, content | of_file)
    written(beside, aside | of_side)
    assert rejected(file, beside)
    with pytest.raises(ValueError, match=r"\w"):
        twin.interval(file.read_bytes(), beside.read_bytes())


@pytest.mark.parametrize("name", WRONG)
def test_files_that_prove_nothing_are_rejected(name: str, tmp_path: Path) -> None:
    refuse(by_hand(tmp_path), WRONG[name])


def test_a_metric_beyond_the_budget_is_divided(tmp_path: Path) -> None:
    file, beside, content, _ = by_hand(tmp_path)
    first = run(file, beside).interval
    written(file, content | {"metric": [[9.0, 0.0], [0.0, 16.0]]})
    second = run(file, beside).interval
    assert first is not None
    assert second is not None
    assert second[0] == first[0]
    assert abs(second[1] - first[1]) <= Fraction(1, 1 << 50)


def test_a_dissimilar_pair_of_equal_points_may_have_a_price(tmp_path: Path) -> None:
    """Such a dual variable makes the lower end smaller, and the proof stays valid."""
    file, beside, _, aside = by_hand(tmp_path)
    first = run(file, beside).interval
    written(beside, aside | {"prices": [[0, 3, hex(80)], [3, 5, hex(288)], [4, 0, hex(45)]]})
    second = run(file, beside).interval
    assert first is not None
    assert second is not None
    assert abs(first[0] - second[0] - Fraction(1, 4)) <= Fraction(1, 1 << 180)


def test_a_diagonal_metric_is_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    cvxml.solve("mmc:diagonal", X, y).save(tmp_path / "diagonal.json")
    with pytest.raises(ValueError, match="mmc:diagonal"):
        side(load(tmp_path / "diagonal.json"))
