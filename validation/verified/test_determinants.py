"""ITML, SDML and LSML: intervals of random instances agree with exact mode and the twin; optima are found by hand.

Side files with errors are rejected.
"""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.saved import load
from cvxml.oracle.cases import load_cases
from cvxml.oracle.saved import recertify
from cvxml.oracle.side import DETERMINANTS, MEAN
from tests.instances import objective_of, random_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.test_roots import refuse, written

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so

ROOM = Fraction(1, 1 << 60)  # for logarithms and roots, of the two ends together
CASES = {case.id: case for case in load_cases() if case.formula in DETERMINANTS}
ONE = 1 << 78  # of the logarithms by hand
FINE = 1 << 80


def near_exact(solution: cvxml.Solution, folder: Path, with_twin: bool = True) -> tuple[Fraction, Fraction]:
    """Return the interval of the checker for a solution.

    Asserts that it equals the interval of the twin, and contains that of exact mode, with room of at most `ROOM`.
    """
    file, beside = saved(solution, folder)
    found, exact = run(file, beside).interval, recertify(load(file), 1e-3, exact=True).exact
    assert found is not None, run(file, beside).reason
    assert exact is not None
    lower, upper = exact.lower_bound - found[0], found[1] - exact.objective
    assert min(lower, upper) >= 0
    assert lower + upper <= ROOM
    if with_twin:
        assert found == twin.interval(file.read_bytes(), beside.read_bytes())
    return found


@pytest.mark.parametrize("name", CASES)
def test_golden_cases_have_the_interval_of_exact_mode(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    near_exact(cvxml.solve(case.formula, case.X, case.y, **case.params), tmp_path, with_twin=len(case.X) < 50)


def params_of(method: str, seed: int, d: int) -> dict[str, Any]:
    """Return parameters of a random instance: priors, given pairs or quadruplets, and weights."""
    rng = np.random.default_rng(seed)
    params: dict[str, Any] = {}
    if seed % 3 == 1:
        L = rng.normal(size=(d, d))
        params["prior"] = L @ L.T + np.eye(d)
    elif seed % 3 == 2:
        params["prior"] = "covariance"
    if method == "lsml":
        params |= {"losses": ("mean", "sum")[seed % 2], "n_quadruplets": 5 + seed % 20}
        if seed % 5 == 0:
            rows = [rng.permutation(14)[:4].tolist() for _ in range(8)]
            params |= {"quadruplets": rows, "weights": [0.0, *rng.uniform(0.1, 3, size=7)]}
            del params["n_quadruplets"]
        return params
    if method == "itml":
        params["gamma"] = (0.01, 1.0, 30.0)[seed % 3]
        if seed % 4 == 0:
            params["bounds"] = (0.5, 2.0)
    else:
        params["lam"] = (0.0, 0.01, 0.5)[seed % 3]
    if seed % 5 == 0:
        pairs = rng.permutation([(i, j) for j in range(14) for i in range(j)])
        params["pairs"] = {"similar": pairs[:20].tolist(), "dissimilar": pairs[20:45].tolist()}
    return params


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("start", range(0, 200, 20))
@pytest.mark.parametrize("method", DETERMINANTS)
def test_random_instances_have_the_interval_of_exact_mode_and_of_the_twin(
    method: str, start: int, tmp_path: Path
) -> None:
    for seed in range(start, start + 20):
        d = 1 + seed % 4
        X, y = random_data(seed, n=14, d=d, classes=2 + seed % 2)
        X = X * 10.0 ** (seed % 5 - 2)
        found = near_exact(cvxml.solve(method, X, y, **params_of(method, seed, d)), tmp_path)
        assert float(found[1] - found[0]) <= 1e-5 * max(1.0, float(abs(found[1])))


@pytest.mark.parametrize("method", [*DETERMINANTS, MEAN])
def test_the_lower_end_holds_for_other_metrics(method: str, tmp_path: Path) -> None:
    X, y = random_data(1, n=14, d=3, classes=2)
    params: dict[str, Any] = {"prior": [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 0.5]]}
    params |= {"mu": 0.5} if method == MEAN else {}
    solution = cvxml.solve(method, X, y, **params)
    found = run(*saved(solution, tmp_path)).interval
    assert found is not None
    rng = np.random.default_rng(0)
    for _ in range(30):
        L = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-3, 0)
        M = L @ L.T + solution.metric * rng.uniform(0.1, 2)
        there = objective_of(method, X, y, M, **solution.params)
        assert float(found[0]) <= there + 1e-12 * abs(there)


@pytest.mark.parametrize("size", [1e-60, 1e60])
@pytest.mark.parametrize("method", DETERMINANTS)
def test_logarithms_of_very_small_and_large_determinants(method: str, size: float, tmp_path: Path) -> None:
    """The determinants are near 1e-360 and 1e360."""
    X, y = random_data(1, n=14, d=3, classes=2)
    params = {"prior": (np.eye(3) / size**2).tolist()}
    solution = cvxml.solve(method, X * size, y, **params)
    found = near_exact(solution, tmp_path)
    assert float(found[1] - found[0]) <= 1e-5 * max(1.0, float(abs(found[1])))


def log_2(times: Fraction = Fraction(1)) -> str:
    """Return a hint for `times` log 2."""
    with localcontext() as context:
        context.prec = 80
        return hex(int(Fraction(Decimal(2).ln()) * times * ONE) + 4)


BY_HAND: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # Z = 1 + 1/4 4 = 2 and xi / u = 2, so the optimum is log 2 + 1/2 log 1/2
    "itml": (
        {
            "params": {
                "gamma": 0.5,
                "prior": [[1.0]],
                "bounds": [1.0, 9.0],
                "pairs": {"similar": [[0, 1]], "dissimilar": []},
            },
            "X": [[0.0], [2.0], [2.0]],
            "metric": [[0.5]],
        },
        {"over": "0x4", "prices": [[log_2(), log_2(Fraction(-1)), "0x1"]], "log_bound": log_2(Fraction(-1))}
        | {"log_metric": log_2()},
    ),
    # S = [[2, 1], [1, 2]] and U = [[0, -1], [-1, 0]], so the optimum is 2 + log 4
    "sdml": (
        {
            "params": {
                "eta": 1.0,
                "lam": 1.0,
                "prior": [[1.0, 0.0], [0.0, 1.0]],
                "pairs": {"similar": [[0, 1]], "dissimilar": []},
            },
            "X": [[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]],
            "metric": [[0.5, 0.0], [0.0, 0.5]],
        },
        {"over": "0x1", "U": [["0x0", "-0x1"], ["-0x1", "0x0"]], "log_bound": log_2(Fraction(-2))}
        | {"log_metric": log_2(Fraction(2))},
    ),
    # u = 4 m and v = m, so the residual is m, and the optimum is log 2. s = 1/2 and Z = 1 + 1/2 4 - 1 = 2
    "lsml": (
        {
            "params": {
                "prior": [[1.0]],
                "quadruplets": [[0, 1, 0, 2]],
                "weights": [1.0],
                "n_quadruplets": None,
                "random_state": 0,
            },
            "X": [[0.0], [2.0], [1.0]],
            "metric": [[0.5]],
        },
        {"over": "0x2", "prices": [["0x1", "0x2"]], "log_bound": log_2(Fraction(-1)), "log_metric": log_2()},
    ),
}
OPTIMA = {
    "itml": (Fraction(0), Fraction(1, 2)),
    "sdml": (Fraction(2), Fraction(2)),
    "lsml": (Fraction(0), Fraction(1)),
}


def by_hand(method: str, folder: Path) -> tuple[Path, Path, Any, Any]:
    """Write the files of an instance with a known optimal metric. Return both paths and both contents."""
    file, beside = folder / "solution.json", folder / "side.json"
    of_file, of_side = BY_HAND[method]
    content = {"format": "cvxml-solution", "version": 1, "method": method, "y": [0] * 3} | of_file
    aside = {
        "format": "cvxml-side",
        "version": 1,
        "method": method,
        "root": None,
        "logs_over": hex(ONE),
    } | of_side
    written(file, content)
    written(beside, aside)
    return file, beside, content, aside


@pytest.mark.parametrize("method", DETERMINANTS)
def test_the_optimum_by_hand(method: str, tmp_path: Path) -> None:
    found = run(*by_hand(method, tmp_path)[:2])
    assert found.interval is not None, found.reason
    constant, logs = OPTIMA[method]
    with localcontext() as context:
        context.prec = 80
        optimum = constant + logs * Fraction(Decimal(2).ln())
    assert (
        optimum - Fraction(32, ONE)
        <= found.interval[0]
        < optimum
        < found.interval[1]
        <= optimum + Fraction(32, ONE)
    )
    assert "at least" in found.whose


def test_a_far_pair_of_equal_points_needs_no_price(tmp_path: Path) -> None:
    file, beside, content, aside = by_hand("lsml", tmp_path)
    written(file, content | {"X": [[0.0], [1.0], [0.0]]})  # u = m, v = 0: the optimum is log 2
    written(beside, aside | {"prices": [["0x2", "0x0"]]})
    found = run(file, beside)
    assert found.interval is not None, found.reason
    assert float(found.interval[1] - found.interval[0]) < 1e-20


def posed(method: str, **params: Any) -> dict[str, Any]:
    """Return a change of the file by hand: the parameters with `params` in place of the old values."""
    return {"params": BY_HAND[method][0]["params"] | params}


def without(method: str, name: str) -> dict[str, Any]:
    """Return a change of the file by hand: the parameters without `name`."""
    return {"params": {key: value for key, value in BY_HAND[method][0]["params"].items() if key != name}}


def pairs(method: str, similar: list[int], *dissimilar: list[int]) -> dict[str, Any]:
    """Return a change of the file by hand: one similar pair, and other dissimilar pairs."""
    return posed(method, pairs={"similar": [similar], "dissimilar": list(dissimilar)})


def both(method: str, **params: Any) -> dict[str, Any]:
    """Return a change of the file by hand: a pair that is similar and dissimilar."""
    return posed(method, pairs={"similar": [[0, 1]], "dissimilar": [[1, 0]]}, **params)


def less(log: str) -> str:
    """Return a hint that is slightly smaller than `log`."""
    return hex(int(log, 16) - 16)


def compared(near: int, far: int) -> dict[str, Any]:
    """Return a change of the side file: the two dual variables of LSML, over 2 FINE."""
    return {"over": hex(2 * FINE), "prices": [[hex(near), hex(far)]]}


NONE = ["0x0", "0x0", "0x0"]
NO_BOX = {"U": [["0x0", "0x0"], ["0x0", "0x0"]], "log_bound": "0x10"}  # proves a bound for S = I
BEYOND, LARGER = hex(-FINE - 1), hex((1 << 70) + 1)
ITML = BY_HAND["itml"][1]["prices"][0]
WRONG: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    f"{method}: {name}": (method, of_file, of_side)
    for method in DETERMINANTS
    for name, (of_file, of_side) in {
        "a logarithm of the bound that is too small": ({}, {"log_bound": less(BY_HAND[method][1]["log_bound"])}),
        "a logarithm of the metric that is too small": ({}, {"log_metric": less(BY_HAND[method][1]["log_metric"])}),
        "a logarithm of the bound that is far too small": ({}, {"log_bound": hex(-(20000 * ONE))}),
        "a logarithm that is far too large": ({}, {"log_metric": hex(20000 * ONE)}),
        "logarithms over 0": ({}, {"logs_over": "0x0"}),
        "no denominator": ({}, {"over": "0x0"}),
        "a factor": ({}, {"factor": {"vectors": [], "rest": "psd"}}),
        "a singular metric": ({"metric": np.zeros_like(BY_HAND[method][0]["metric"]).tolist()}, {}),
        "a negative metric": ({"metric": (-np.array(BY_HAND[method][0]["metric"])).tolist()}, {}),
        "a root without vectors": ({}, {"root": []}),
        "a prior that is singular": (posed(method, prior=np.zeros_like(BY_HAND[method][0]["metric"]).tolist()), {}),
        "a prior that is negative": (posed(method, prior=(-np.eye(len(BY_HAND[method][0]["metric"]))).tolist()), {}),
        "a prior in words": (posed(method, prior="identity"), {}),
        "a parameter that is not known": (posed(method, t=0.5), {}),
    }.items()
} | {
    "itml: a price slightly too large": ("itml", {}, {"over": hex(4 << 70), "prices": [[*ITML[:2], LARGER]]}),
    "itml: a price of gamma over u": ("itml", {}, {"prices": [[*ITML[:2], "0x2"]]}),
    "itml: a negative price": ("itml", {}, {"prices": [[*ITML[:2], "-0x1"]]}),
    "itml: a logarithm of a price that is too small": ("itml", {}, {"prices": [[less(ITML[0]), *ITML[1:]]]}),
    "itml: a logarithm of a slack that is too small": ("itml", {}, {"prices": [[ITML[0], less(ITML[1]), ITML[2]]]}),
    "itml: no price": ("itml", {}, {"prices": []}),
    "itml: a price too many": ("itml", {}, {"prices": [ITML, ITML]}),
    "itml: a price of two numbers": ("itml", {}, {"prices": [ITML[1:]]}),
    "itml: a pair of both kinds": ("itml", both("itml", bounds=[1.0, 1.0]), {"prices": [ITML, NONE]}),
    "itml: a dissimilar pair of equal points": ("itml", pairs("itml", [0, 1], [1, 2]), {"prices": [ITML, NONE]}),
    "itml: a pair that is not there": ("itml", pairs("itml", [0, 3]), {}),
    "itml: a pair of a point with itself": (
        "itml", pairs("itml", [1, 1]), {"prices": [[ITML[0], "0x0", "0x1"]], "log_bound": "0x10"}
    ),
    "itml: one bound": ("itml", posed("itml", bounds=[1.0]), {}),
    "itml: a bound of 0": ("itml", posed("itml", bounds=[1.0, 0.0]), {}),
    "itml: no bounds": ("itml", without("itml", "bounds"), {}),
    "itml: a gamma of 0": ("itml", posed("itml", gamma=0.0), {}),
    "itml: a smaller gamma": ("itml", posed("itml", gamma=0.25), {}),
    "itml: a larger u": ("itml", posed("itml", bounds=[1.5, 9.0]), {}),
    "sdml: U slightly beyond lam": ("sdml", {}, {"over": hex(FINE), "U": [["0x0", BEYOND], [BEYOND, "0x0"]]}),
    "sdml: U on its diagonal": ("sdml", {}, {"U": [["0x1", "-0x1"], ["-0x1", "0x0"]]}),
    "sdml: U that is not symmetric": ("sdml", {}, {"U": [["0x0", "-0x1"], ["0x0", "0x0"]]}),
    "sdml: U of another sign": ("sdml", {}, {"U": [["0x0", "0x1"], ["0x1", "0x0"]]}),
    "sdml: U of one feature": ("sdml", {}, {"U": [["0x0"]]}),
    "sdml: U that is ragged": ("sdml", {}, {"U": [["0x0", "-0x1"], ["-0x1"]]}),
    "sdml: prices": ("sdml", {}, {"prices": []}),
    "sdml: a negative lam": ("sdml", posed("sdml", lam=-0.5), {}),
    "sdml: a lam of 0": ("sdml", posed("sdml", lam=0.0), {}),
    "sdml: an eta of 0": ("sdml", posed("sdml", eta=0.0), NO_BOX),
    "sdml: a smaller eta": ("sdml", posed("sdml", eta=0.5), {}),
    "sdml: no eta": ("sdml", without("sdml", "eta"), {}),
    "sdml: a pair of both kinds": ("sdml", both("sdml"), NO_BOX),
    "sdml: a metric that is not symmetric": ("sdml", {"metric": [[0.5, 0.25], [0.0, 0.5]]}, {}),
    "sdml: a metric that is indefinite": ("sdml", {"metric": [[0.5, 1.0], [1.0, 0.5]]}, {}),
    "lsml: a near price slightly too large": ("lsml", {}, compared(FINE + 1, 2 * FINE)),
    "lsml: a far price slightly too small": ("lsml", {}, compared(FINE, 2 * FINE - 1)),
    "lsml: a near price of the weight": ("lsml", {}, {"prices": [["0x2", "0x2"]]}),
    "lsml: a negative far price": ("lsml", {}, {"prices": [["0x0", "-0x1"]]}),
    "lsml: no price": ("lsml", {}, {"prices": []}),
    "lsml: weights without the sum 1": ("lsml", posed("lsml", weights=[2.0]), {}),
    "lsml: a weight that cvxml divides by itself": ("lsml", posed("lsml", weights=[1 + 2**-51]), {}),
    "lsml: a negative weight": ("lsml", posed("lsml", weights=[-1.0], losses="sum"), {}),
    "lsml: weights of 0": (
        "lsml", posed("lsml", weights=[0.0], losses="sum"), {"prices": [["0x0", "0x0"]], "log_bound": "0x10"}
    ),
    "lsml: more weights": ("lsml", posed("lsml", weights=[0.5, 0.5]), {}),
    "lsml: losses that are not known": ("lsml", posed("lsml", losses="means"), {}),
    "lsml: another number of quadruplets": ("lsml", posed("lsml", n_quadruplets=2), {}),
    "lsml: a point that is not there": ("lsml", posed("lsml", quadruplets=[[0, 1, 0, 3]]), {}),
    "lsml: a point and itself": ("lsml", posed("lsml", quadruplets=[[0, 1, 2, 2]]), {}),
    "lsml: three points": ("lsml", posed("lsml", quadruplets=[[0, 1, 2]]), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_files_that_prove_nothing_are_rejected(name: str, tmp_path: Path) -> None:
    method, *change = WRONG[name]
    refuse(by_hand(method, tmp_path), (change[0], change[1]))


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 5e-324])
@pytest.mark.parametrize(
    "field", ["X", "metric", "prior", "params", "log_bound", "log_metric", "over", "logs_over"]
)
@pytest.mark.parametrize("method", DETERMINANTS)
def test_no_number_takes_all_memory(method: str, field: str, value: float, tmp_path: Path) -> None:
    """`run` limits the time and the memory of the checker."""
    file, beside, content, aside = by_hand(method, tmp_path)
    content, aside = json.loads(json.dumps(content)), json.loads(json.dumps(aside))
    if field in aside:
        aside[field] = hex(int(value)) if abs(value) > 1 else "0x" + "f" * 4000
    elif field == "params":
        name = {"itml": "gamma", "sdml": "eta", "lsml": "weights"}[method]
        content["params"][name] = [value] if method == "lsml" else value
    elif field == "prior":
        content["params"]["prior"][0][0] = value
    else:
        content[field][0][0] = value
    written(file, content)
    written(beside, aside)
    run(file, beside)


NO_PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "itml without pairs": ("itml", {"pairs": {"similar": [], "dissimilar": []}, "bounds": (1.0, 2.0)}),
    "itml with one pair": ("itml", {"pairs": {"similar": [[3, 1]], "dissimilar": []}, "bounds": (1.0, 2.0)}),
    "itml without a violated bound": ("itml", {"bounds": (1e3, 1e-6)}),
    "sdml with one pair": ("sdml", {"pairs": {"similar": [[3, 1]], "dissimilar": []}}),
    "lsml without a violated comparison": ("lsml", {"quadruplets": [[0, 8, 8, 9]]}),
    "lsml with a far pair of equal points": ("lsml", {"quadruplets": [[0, 1, 8, 0], [0, 1, 8, 0]]}),
}


@pytest.mark.parametrize("name", NO_PAIRS)
def test_few_pairs_have_the_interval_of_exact_mode(name: str, tmp_path: Path) -> None:
    """Points 0 and 8 are equal."""
    method, params = NO_PAIRS[name]
    X, y = random_data(5, n=10, d=2, classes=2)
    X[8] = X[0]
    y[8] = y[0]
    near_exact(cvxml.solve(method, X, y, **params), tmp_path)
