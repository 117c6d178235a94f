"""Problems with exponentials and logarithms: intervals of random instances agree with exact mode and the twin.

Hints that are too small are rejected.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.methods.boostmetric import threshold
from cvxml.oracle.side import LOGARITHMS, PICKING
from tests.instances import random_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.test_verified import edited, rejected, same_as_exact

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so


METHODS = (*LOGARITHMS, PICKING)
TRIPLETS = [[0, 1, 5], [2, 3, 1], [9, 8, 2], [0, 1, 4], [7, 5, 6]]
PAIRS = {"similar": [[3, 2], [0, 1], [5, 9], [7, 1], [4, 8]], "dissimilar": [[4, 2], [1, 3], [0, 9]]}


def params_of(method: str, seed: int, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return parameters of a random instance; together, the seeds give all combinations for LDML and NCA."""
    if method == "boostmetric":
        two = seed % 2 and np.bincount(y).min() > 2
        of: dict[str, Any] = {"triplets": TRIPLETS} if seed % 4 == 0 else {"n_neighbors": 2 if two else 1}
        return of | {"v": max((1.5, 4.0)[seed // 4 % 2] * threshold(X, y, **of).upper, 0.1)}
    if method == "nca":
        return {"criterion": "fg"[seed // 2 % 2]}
    if method != "ldml":
        return {}
    params: dict[str, Any] = {"losses": ("sum", "means")[seed // 3 % 2], "b": ("free", 1.5)[seed % 2]}
    if seed % 5 == 0:
        params["self_pairs"] = 0.3
    if seed % 4 < 2:
        params["pairs"] = PAIRS
        params["weights"] = np.random.default_rng(seed).uniform(0.1, 2, size=8) if seed % 3 else None
    return params


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", range(0, 200, 10))
def test_random_instances_have_the_interval_of_exact_mode_and_of_the_twin(
    start: int, method: str, tmp_path: Path
) -> None:
    """The runs have few iterations, so some do not converge."""
    for seed in range(start, start + 10):
        X, y = random_data(seed, n=10, d=1 + seed % 4, classes=2 + seed % 3)
        if seed % 3 == 0:  # equal points, and ties of distances
            X = np.round(X)
        X = X * 10.0 ** (seed % 5 - 2)  # distances so large that exponentials are cut off
        solution = cvxml.solve(method, X, y, max_iter=1 + seed % 40, **params_of(method, seed, X, y))
        same_as_exact(solution, tmp_path)
        file, beside = tmp_path / "solution.json", tmp_path / "side.json"
        expected = twin.interval(file.read_bytes(), beside.read_bytes())
        assert run(file, beside).interval == expected


def hints_of(method: str, content: Any) -> list[tuple[Any, Any]]:
    """Return the places of the logarithms in a side file, as pairs (list or dict, index or key)."""
    if method == "ldml":
        # a dual variable that is 0 or the whole weight leaves a logarithm unused
        return [(row, at) for row in content["prices"] for at in range(3) if row[at] != "0x0"]
    if method == "boostmetric":
        return [(content, "log_sum"), *((row, 3) for row in content["prices"])]
    if method == "nca":
        return [(row, at) for row in content["prices"] for at in (1, 2)] + [
            (share, 2) for *_, shares in content["prices"] for share in shares if share[3] != "0x0"
        ]
    return [(row, 2) for row in content["prices"]] + [
        (share, 1) for row in content["prices"] for share in row[1]
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_logarithm_that_is_too_small_by_2_to_the_minus_64_is_rejected(method: str, tmp_path: Path) -> None:
    file, beside, _, content = edited(method, tmp_path)
    hints, rng = hints_of(method, content), np.random.default_rng(0)
    little = int(content["logs_over"], 16) >> 64
    for k in [*range(3), *rng.choice(len(hints), 20, replace=False)]:
        row, at = hints[k]
        kept = row[at]
        row[at] = hex(int(kept, 16) - little)
        beside.write_text(json.dumps(content))
        assert rejected(file, beside)
        row[at] = kept
    beside.write_text(json.dumps(content))
    assert run(file, beside).proved


def numbers_of(content: Any) -> list[tuple[Any, Any]]:
    """Return the places of the numbers in a side file, as pairs (list or dict, index or key)."""
    places = enumerate(content) if isinstance(content, list) else content.items()
    found = []
    for at, value in places:
        if isinstance(value, list | dict):
            found += numbers_of(value)
        elif isinstance(value, str) and value.lstrip("-").startswith("0x"):
            found.append((content, at))
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [40, 64, 400])
def test_no_number_makes_the_checker_compute_without_end(method: str, shift: int, tmp_path: Path) -> None:
    """Numbers are multiplied by up to 2^400, so exponentials may not fit in memory. `run` limits time and memory."""
    file, beside, _, content = edited(method, tmp_path)
    places, rng = numbers_of(content), np.random.default_rng(0)
    first = [k for k, (inside, _) in enumerate(places) if inside is content]
    for k in [*first, *rng.choice(len(places), 30, replace=False)]:
        inside, at = places[k]
        kept = inside[at]
        for sign in (1, -1):
            inside[at] = hex(sign * (abs(int(kept, 16)) + 1) << shift)
            beside.write_text(json.dumps(content))
            run(file, beside)
        inside[at] = kept
    beside.write_text(json.dumps(content))
    for field in ("X", "metric"):
        for value in (1e300, -1e300, 1e-300):
            other = json.loads(file.read_text())
            other[field][0][0] = value
            (tmp_path / "other.json").write_text(json.dumps(other))
            run(tmp_path / "other.json", beside)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the first steps only
@pytest.mark.parametrize("criterion", ["f", "g"])
def test_a_number_that_is_not_below_its_weight_is_rejected(criterion: str, tmp_path: Path) -> None:
    """The number is larger by 2^-70 of itself. Its share is larger by the same amount, so that the sums agree."""
    X, y = random_data(5, n=12, d=2, classes=2)
    file, beside = saved(cvxml.solve("nca", X, y, criterion=criterion, max_iter=3), tmp_path)
    assert run(file, beside).proved
    content = json.loads(beside.read_text())
    tried = 0
    for i, _, _, shares in content["prices"]:
        for share in shares:
            if y[share[0]] != y[i] or int(share[1], 16) < 1 << 90 or share[3] == "0x0":
                continue
            kept = share[1], share[3]
            share[1::2] = [hex(int(each, 16) + (int(kept[0], 16) >> 70)) for each in kept]
            beside.write_text(json.dumps(content))
            assert rejected(file, beside)
            share[1::2], tried = kept, tried + 1
    assert tried >= 10
    # and one of another class counts as no weight for g
    share = next(share for share in content["prices"][0][3] if y[share[0]] != y[0])
    share[1] = hex(int(share[1], 16) + 1 if criterion == "g" else 1 << 128)
    beside.write_text(json.dumps(content))
    assert rejected(file, beside)


def test_points_that_are_alone_in_their_class_have_no_softmax(tmp_path: Path) -> None:
    X, _ = random_data(2, n=9, d=2, classes=2)
    solution = cvxml.solve("mcml", X, np.array([0, 0, 0, 1, 1, 1, 1, 2, 3]))
    same_as_exact(solution, tmp_path)
    file, beside = saved(solution, tmp_path)
    content = json.loads(beside.read_text())
    assert [i for i, *_ in content["prices"]] == list(range(7))
    content["prices"].append(content["prices"][0])
    beside.write_text(json.dumps(content))
    assert rejected(file, beside)


def boosted(folder: Path) -> tuple[Path, Path, Any, Any]:
    """Solve BoostMetric on a line, where log(1 + exp(-8 A)) + A / 2 is smallest at A = log(15) / 8.

    Return the paths and the contents of the two files.
    """
    triplets, X = [[0, 1, 2], [0, 1, 3]], [[0.0], [1.0], [3.0], [-1.0]]
    solution = cvxml.solve("boostmetric", X, None, v=0.5, triplets=triplets, tol=1e-13)
    file, beside = saved(solution, folder)
    return file, beside, json.loads(file.read_text()), json.loads(beside.read_text())


def test_the_optimum_of_boostmetric_by_hand(tmp_path: Path) -> None:
    file, beside, *_ = boosted(tmp_path)
    found = run(file, beside).interval
    assert found is not None
    optimum = np.log(16 / 15) + np.log(15) / 16
    assert float(found[0]) == pytest.approx(optimum, abs=1e-12)
    assert float(found[1]) == pytest.approx(optimum, abs=1e-12)
    assert found[0] < found[1]


def of_boostmetric(content: Any, aside: Any) -> dict[str, tuple[Any, Any]]:
    """Return changed pairs of files without a valid proof, by names of the changes."""
    first, second = aside["prices"]
    params, over = content["params"], int(aside["over"], 16)
    one = [*first[:3], "0x1", aside["over"]]

    def priced(*prices: Any) -> tuple[Any, Any]:
        return content, aside | {"prices": [*prices]}

    def posed(**others: Any) -> tuple[Any, Any]:
        return content | {"params": params | others}, aside

    return {
        "all of the share for the triplet with a margin": priced(one),
        "shares with a smaller sum": priced(second),
        "no share": priced(),
        "a share of 0": priced([*first[:4], "0x0"], [*second[:4], aside["over"]]),
        "a share that is negative": priced([*first[:4], hex(-over)], [*second[:4], hex(2 * over)]),
        "shares in another order": priced(second, first),
        "a share twice": priced(first, first, second),
        "a share of no triplet": priced(first, [0, 2, *second[2:]]),
        "a share of a point that is not there": priced(first, [0, 1, 4, *second[3:]]),
        "no triplet": posed(triplets=[]),
        "a triplet of a point that is not there": posed(triplets=[[0, 1, 2], [0, 1, 4]]),
        "a triplet twice": posed(triplets=[[0, 1, 2], [0, 1, 3], [0, 1, 3]]),
        "a smaller v": posed(v=0.5 - 1e-6),
        "a negative v": posed(v=-0.5),
        "no v": posed(v=0.0),
        "an n_neighbors beside the triplets": posed(n_neighbors=1),
        "a parameter that is not known": posed(weight=1.0),
        "a metric that is negative": (content | {"metric": [[-0.25]]}, aside | {"root": None}),
        "a sum of exponentials of another metric": (content | {"metric": [[0.25]]}, aside | {"root": None}),
        "a logarithm beyond all floats": (content, aside | {"log_sum": hex(1 << 400)}),
        "no denominator of logarithms": (content, aside | {"logs_over": "0x0"}),
        "a norm where there is none": (content, aside | {"factor": {"vectors": [], "rest": "norm"}}),
        "a field that is not known": (content, aside | {"most": ["0x1", "0x1"]}),
    }


CHANGES = list(
    of_boostmetric(
        {"params": {}}, {"over": "0x1", "prices": [[0, 1, 2, "0x0", "0x1"], [0, 1, 3, "0x0", "0x1"]]}
    )
)


@pytest.mark.parametrize("name", CHANGES)
def test_files_of_boostmetric_that_prove_nothing_are_rejected(name: str, tmp_path: Path) -> None:
    file, beside, content, aside = boosted(tmp_path)
    assert run(file, beside).proved
    other, other_side = of_boostmetric(content, aside)[name]
    file.write_text(json.dumps(other))
    beside.write_text(json.dumps(other_side))
    assert rejected(file, beside)
    if "beyond all floats" in name:  # the twin has no such limit
        return
    with pytest.raises(ValueError, match=r"\w"):
        twin.interval(file.read_bytes(), beside.read_bytes())
