"""The verified checker proves the interval of exact mode, to the last digit, and rejects all other files.

It is built from the committed OCaml. These tests are skipped if OCaml or zarith is not installed.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import xlogy

import cvxml
from cvxml.cli.main import run as command
from cvxml.core.saved import load
from cvxml.methods.boostmetric import threshold
from cvxml.methods.lmnn import MIN_MU
from cvxml.methods.nca import exact as nca_exact
from cvxml.methods.rtml import LEAST_WIDTH
from cvxml.oracle.cases import load_cases
from cvxml.oracle.saved import recertify
from cvxml.oracle.side import KNOWN, LOGARITHMS, PICKING, ROOTS, side
from tests.instances import objective_of, random_data, real_data
from validation.verified import twin
from validation.verified.built import checker, run, saved

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so

# there is no theorem on a similarity
CASES = {case.id: case for case in load_cases() if case.formula in KNOWN and "similarity" not in case.params}
# whose metric is a combination of vectors, and is judged by its weights
COMBINATIONS = ("schultz_joachims", "scml")
PARAMS: dict[str, dict[str, Any]] = {"mlsvm": {"lam": 0.1}, "nca": {"criterion": "g"}}
WITHOUT_LISTS = ("dml_eig", ROOTS, *LOGARITHMS, PICKING)  # which take no n_neighbors
ROUNDED = (*LOGARITHMS, PICKING, ROOTS)  # outward
ROOM = Fraction(1, 1 << 60)  # for logarithms and roots, of the two ends together


def params_for(method: str, X: np.ndarray, y: np.ndarray, **given: Any) -> dict[str, Any]:
    """Return parameters with which an optimum exists: BoostMetric needs a weight v above its threshold v*."""
    if method == "boostmetric":
        given["v"] = max(1.5 * threshold(X, y, **given).upper, 0.1)
    return given | PARAMS.get(method, {})


def same_as_exact(solution: cvxml.Solution, folder: Path) -> None:
    """Assert that the checker proves the interval of exact mode for a solution.

    With logarithms or roots, the proved interval may be slightly wider.
    """
    file, beside = saved(solution, folder)
    found, exact = run(file, beside), recertify(load(file), 1e-3, exact=True).exact
    assert found.interval is not None, found.reason
    assert exact is not None
    if solution.method in ROUNDED:
        lower, upper = exact.lower_bound - found.interval[0], found.interval[1] - exact.objective
        trivial = solution.method == PICKING and exact.lower_bound == round(exact.lower_bound)
        assert upper >= 0
        assert lower >= 0 or trivial  # for f the checker has a larger bound than the number of points
        assert max(lower, 0) + upper <= ROOM
    else:
        assert found.interval == (exact.lower_bound, exact.objective)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of cases without an optimum
@pytest.mark.parametrize("name", CASES)
def test_golden_cases_have_the_interval_of_exact_mode(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    same_as_exact(cvxml.solve(case.formula, case.X, case.y, **case.params), tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [3, 4, 5, 8])
def test_a_mixture_that_is_no_short_fraction_costs_no_digits(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NCA mixes two bounds by theta. Every theta above the smallest is right too."""
    smallest, mixed = nca_exact._smallest_theta, []

    def longer(Z_R: Any, Z_I: Any) -> Fraction | None:
        theta = smallest(Z_R, Z_I)
        mixed.append(theta)
        return None if theta is None else (theta + Fraction(1, 3)) / 2

    monkeypatch.setattr(nca_exact, "_smallest_theta", longer)
    X = np.random.default_rng(seed).standard_normal((18, 2))
    same_as_exact(cvxml.solve("nca", X, np.arange(18) % 2), tmp_path)
    assert any(theta is not None for theta in mixed)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("method", sorted({*KNOWN} - {"ssvm"}))
def test_random_instances_have_the_interval_of_exact_mode(method: str, seed: int, tmp_path: Path) -> None:
    d = 2 + seed % 4
    X, y = random_data(seed, n=18, d=d, classes=2 + seed % 2)
    if seed % 3 == 0:  # a feature that others name, and one that is the same everywhere
        X = np.column_stack([np.round(X * 8) / 8, np.round(X[:, 0] * 8) / 4, np.ones(len(X))])
    k = {} if method in WITHOUT_LISTS else {"n_neighbors": 4 if method == "mlsvm" else 1 + seed % 2}
    same_as_exact(cvxml.solve(method, X, y, **params_for(method, X, y, **k)), tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("start", range(0, 200, 10))
def test_random_steps_have_the_interval_of_exact_mode_and_of_the_twin(start: int, tmp_path: Path) -> None:
    """The runs have few iterations, so some do not converge."""
    for seed in range(start, start + 10):
        d, R = 1 + seed % 4, 2 + seed % 3
        X, y = random_data(seed, n=12, d=d, classes=R)
        if seed % 3 == 0:  # ties of distances
            X = np.round(X)
        Lam = np.random.default_rng(seed).uniform(0.1, 2, size=(R, R)) * (1 - np.eye(R))
        weight, k = (0.01, 0.1, 1.0)[seed % 3], 1 + seed % 4 // 2
        solution = cvxml.solve(
            "ssvm",
            X,
            y,
            n_neighbors=k,
            C=weight,
            loss_matrix=Lam if seed % 2 else None,
            max_iter=1 + seed % 7,
        )
        same_as_exact(solution, tmp_path)
        file, beside = tmp_path / "solution.json", tmp_path / "side.json"
        expected = twin.interval(file.read_bytes(), beside.read_bytes())
        assert run(file, beside).interval == expected


VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a hinge that is not smoothed": ("rtml", {"width": 0.0}),
    "columns that are given": ("schultz_joachims", {"A": [[1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0.25]]}),
    "triplets in no order": (
        "lmnn",
        {"triplets": [[20, 19, 2], [0, 2, 21], [0, 1, 20], [3, 1, 12], [0, 1, 9]]},
    ),
    "pairs in no order": (
        "dml_eig",
        {"pairs": {"similar": [[3, 2], [0, 1], [5, 9], [7, 1], [4, 8]], "dissimilar": [[14, 2], [1, 13]]}},
    ),
    "neighbours of each class": ("mlsvm", {"neighborhood": "per-class"}),
    "a weight that keeps the metric small": ("mlsvm", {"lam": 1e3}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_have_the_interval_of_exact_mode(name: str, tmp_path: Path) -> None:
    method, params = VARIANTS[name]
    X, y = real_data("iris", 25)
    same_as_exact(cvxml.solve(method, X, y, **params), tmp_path)


def test_pairs_of_many_points_that_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.core.pairs.MAX_POINTS_LISTED", 10)
    X, y = real_data("iris", 25)
    same_as_exact(cvxml.solve("dml_eig", X, y), tmp_path)


# A rough bound is an interval too.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", KNOWN)
def test_many_thousand_times_smaller_and_larger_units(method: str, tmp_path: Path) -> None:
    X, y = random_data(3, n=15, d=3, classes=2)
    of_a_norm = method in ("frobmetric", "rtml", "schultz_joachims", "scml", "ssvm")
    units = np.full(3, 0.01) if of_a_norm else np.array([1e-3, 1.0, 1e3])
    same_as_exact(cvxml.solve(method, X * units, y, **params_for(method, X * units, y)), tmp_path)


def edited(method: str, folder: Path) -> tuple[Path, Path, Any, Any]:
    """Solve a method on part of iris. Return the paths and the contents of the two files, to be changed.

    NCA uses random points, because it has no optimum on iris, where its classes can be separated.
    """
    X, y = random_data(8, n=30, d=4, classes=3) if method == "nca" else real_data("iris", 30)
    file, beside = saved(cvxml.solve(method, X, y, **params_for(method, X, y)), folder)
    return file, beside, json.loads(file.read_text()), json.loads(beside.read_text())


def rejected(file: Path, beside: Path, *tokens: str) -> bool:
    """Return True if the checker rejects the files, and its reason contains all of the tokens."""
    reason = run(file, beside).reason
    return reason.startswith("REJECTED: ") and all(token in reason for token in tokens)


def prices_of(method: str, content: Any) -> list[Any]:
    """Return the lists in a side file that end with a dual variable."""
    if method == "ssvm":
        return [price for _, sets in content["prices"] for price in sets]
    if method == "mlsvm":
        return [share for _, u, w in content["prices"] for share in (*u, *w)]
    if method == "mcml":
        return [share for _, shares, _ in content["prices"] for share in shares]
    if method == "nca":
        return [share for *_, shares in content["prices"] for share in shares]
    return list(content["prices"])


@pytest.mark.parametrize("method", KNOWN)
def test_a_negative_price_is_rejected(method: str, tmp_path: Path) -> None:
    file, beside, _, content = edited(method, tmp_path)
    prices_of(method, content)[0][-1] = "-0x1"
    beside.write_text(json.dumps(content))
    found = run(file, beside)
    assert not found.proved
    assert "negative" in found.reason


@pytest.mark.parametrize(
    "method", sorted({*KNOWN} - {"lmnn:squared_hinge", "scml", "mmc"})
)  # none is at a limit
def test_a_price_that_is_too_large_by_2_to_the_minus_80_is_rejected(method: str, tmp_path: Path) -> None:
    file, beside, _, content = edited(method, tmp_path)
    fine = 1 << 80
    prices = prices_of(method, content)
    for price in prices:
        price[-1] = hex(int(price[-1], 16) * fine)
        if method == "nca":  # the numbers below the weights
            price[1] = hex(int(price[1], 16) * fine)
    content["over"] = hex(int(content["over"], 16) * fine)
    beside.write_text(json.dumps(content))
    assert run(file, beside).proved
    largest = max(prices, key=lambda price: int(price[-1], 16))
    largest[-1] = hex(int(largest[-1], 16) + 1)
    beside.write_text(json.dumps(content))
    assert not run(file, beside).proved


def test_a_point_in_its_own_list_is_rejected(tmp_path: Path) -> None:
    file, beside, content, _ = edited("mlsvm", tmp_path)
    content["neighbors"][4][0] = 4
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "neighbors", "point 4")


def test_a_target_of_another_class_is_rejected(tmp_path: Path) -> None:
    file, beside, content, _ = edited("lmnn", tmp_path)
    content["params"]["targets"][0][0] = len(content["y"]) - 1
    file.write_text(json.dumps(content))
    assert "another class" in run(file, beside).reason


@pytest.mark.parametrize("method", KNOWN)
def test_a_parameter_that_is_not_known_is_rejected(method: str, tmp_path: Path) -> None:
    file, beside, content, _ = edited(method, tmp_path)
    assert run(file, beside).proved
    content["params"]["loss"] = None
    file.write_text(json.dumps(content))
    assert rejected(file, beside, method, '"loss"')


@pytest.mark.parametrize("method", KNOWN)
@pytest.mark.parametrize("which", [0, 1])
def test_a_field_that_is_not_known_is_rejected(which: int, method: str, tmp_path: Path) -> None:
    files = edited(method, tmp_path)
    content = files[2 + which]
    content["weight"] = 2.0
    files[which].write_text(json.dumps(content))
    assert rejected(files[0], files[1], '"weight"')


@pytest.mark.parametrize("method", sorted({*KNOWN} - {*WITHOUT_LISTS}))
@pytest.mark.parametrize("by", [-1, 1])
def test_lists_that_n_neighbors_contradicts_are_rejected(by: int, method: str, tmp_path: Path) -> None:
    file, beside, content, _ = edited(method, tmp_path)
    content["params"]["n_neighbors"] += by
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "n_neighbors")


def test_neighbours_of_each_class_are_as_many_as_n_neighbors_says(tmp_path: Path) -> None:
    X, y = real_data("iris", 30)
    file, beside = saved(cvxml.solve("mlsvm", X, y, neighborhood="per-class", n_neighbors=2), tmp_path)
    assert run(file, beside).proved
    content = json.loads(file.read_text())
    content["params"]["neighborhood"] = "knn"  # of 4 neighbours each
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "n_neighbors")
    content["params"]["n_neighbors"] = 4
    file.write_text(json.dumps(content))
    assert run(file, beside).proved


def test_triplets_beside_n_neighbors_are_those_of_targets_and_impostors(tmp_path: Path) -> None:
    """One triplet is replaced by another. Then the triplets no longer combine every target with every impostor."""
    file, beside, content, aside = edited("rtml", tmp_path)
    aside["prices"] = []
    beside.write_text(json.dumps(aside))
    assert run(file, beside).proved
    triplets = content["params"]["triplets"]
    i, j, _ = triplets[0]
    triplets[0] = next([i, j, l] for l in range(30) if [i, j, l] not in triplets and l not in (i, j))
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "n_neighbors")
    content["params"]["n_neighbors"] = None
    file.write_text(json.dumps(content))
    assert run(file, beside).proved


@pytest.mark.parametrize("method", sorted({*KNOWN} - {"mlsvm"}))
def test_lists_of_a_method_that_takes_none_are_rejected(method: str, tmp_path: Path) -> None:
    file, beside, content, _ = edited(method, tmp_path)
    content["neighbors"] = [[(i + 1) % 30] for i in range(30)]
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "neighbors", method)


LOW, HIGH = -np.inf, np.inf
RANGES = [
    *(
        (method, name, 0.0, LOW)
        for method, name in [("mlsvm", "lam"), ("rtml", "lam"), ("scml", "beta"), ("boostmetric", "v")]
    ),
    *((method, "C", 0.0, LOW) for method in ("frobmetric", "schultz_joachims", "ssvm")),
    *(
        (m, "mu", end, to)
        for m in ("lmnn", "lmnn:squared_hinge")
        for end, to in [(MIN_MU, LOW), (1 - MIN_MU, HIGH)]
    ),
    *(("rtml", "width", end, to) for end, to in [(0.0, LOW), (LEAST_WIDTH, LOW), (1.0, HIGH)]),
]


@pytest.mark.parametrize(("method", "name", "end", "to"), RANGES)
def test_a_parameter_that_cvxml_does_not_take_is_rejected(
    method: str, name: str, end: float, to: float, tmp_path: Path
) -> None:
    """The end of the range is accepted (or is an excluded 0), and the next double beyond it is rejected."""
    file, beside, content, _ = edited(method, tmp_path)
    said = f"REJECTED: {name} is "
    for value, taken in [(end, end > 0 or name == "width"), (float(np.nextafter(end, to)), False)]:
        content["params"][name] = value
        file.write_text(json.dumps(content))
        assert run(file, beside).reason.startswith(said) != taken


def test_a_pair_of_both_kinds_is_rejected(tmp_path: Path) -> None:
    X, y = real_data("iris", 25)
    file, beside = saved(cvxml.solve("dml_eig", X, y, **VARIANTS["pairs in no order"][1]), tmp_path)
    content = json.loads(file.read_text())
    content["params"]["pairs"]["dissimilar"].append([1, 7])
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "both kinds", "twice")
    content["params"]["pairs"]["dissimilar"].pop()
    content["params"]["pairs"]["equal"] = []
    file.write_text(json.dumps(content))
    assert rejected(file, beside, "pairs", '"equal"')


def test_the_upper_end_of_scml_is_that_of_weights(tmp_path: Path) -> None:
    """The basis holds a vector and its double, so one metric has several weights with different sums."""
    X, basis, triplets = (
        [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]],
        [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]],
        [[0, 1, 2]],
    )
    params = {"beta": 0.5, "basis": basis, "triplets": triplets}
    content = {"method": "scml", "X": X, "params": params, "metric": [[1.0, 0.0], [0.0, 0.0]]}
    aside = {"method": "scml", "over": "0x1", "prices": []}
    file, beside = tmp_path / "solution.json", tmp_path / "side.json"
    file.write_text(json.dumps({"format": "cvxml-solution", "version": 1, **content}))
    for weights, upper, apart in (
        ([1, 0, 0], Fraction(1, 2), False),
        ([0, 0.25, 0], Fraction(1, 8), False),
        ([3, 0, 0], Fraction(3, 2), True),  # by 2 from the metric of the file
    ):
        beside.write_text(json.dumps({"format": "cvxml-side", "version": 1, **aside, "weights": weights}))
        found = run(file, beside)
        assert found.interval == (Fraction(0), upper)
        assert found.whose.startswith("scml: ")
        assert "weights" in found.whose
        assert ("within 2" in found.whose) is apart
    assert objective_of("scml", np.array(X), None, np.diag([1.0, 0.0]), **params) == 0.125


def test_an_answer_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    file, beside, *_ = edited("lmnn", tmp_path)
    for other in (beside, tmp_path / "none.json"):
        with Path("/dev/full").open("w") as full:
            words = [str(checker()), str(file), str(other)]
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("checker: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("method", sorted({*KNOWN} - {*COMBINATIONS}))
def test_what_is_slightly_below_zero_is_no_metric(method: str, tmp_path: Path) -> None:
    file, beside, content, aside = edited(method, tmp_path)
    content["metric"] = np.diag([1.0, 1.0, 1.0, -(2.0**-1000)]).tolist()
    aside["root"] = None
    file.write_text(json.dumps(content))
    beside.write_text(json.dumps(aside))
    assert rejected(file, beside, "metric", "semidefinite")


def test_shrinking_is_not_left_out(tmp_path: Path) -> None:
    """If the dual variables are larger by the factor 1 + 2^-10, the matrix of the bound is not psd."""
    file, beside, _, content = edited("lmnn:squared_hinge", tmp_path)
    for price in content["prices"]:
        price[-1] = hex(int(price[-1], 16) * (1 + (1 << 10)))
    content["over"] = hex(int(content["over"], 16) << 10)
    beside.write_text(json.dumps(content))
    found = run(file, beside)
    assert found.reason.startswith("REJECTED: ")
    assert "bound" in found.reason


@pytest.mark.parametrize("method", sorted({*KNOWN} - {"ssvm", "nca"}))
def test_the_ends_hold_for_other_metrics(method: str, tmp_path: Path) -> None:
    """The lower end is at most the objective, from the package's own definition, of any metric."""
    X, y = real_data("iris", 30)
    params = params_for(method, X, y)
    solution = cvxml.solve(method, X, y, **params)
    found = run(*saved(solution, tmp_path))
    assert found.interval is not None
    rng = np.random.default_rng(0)
    for _ in range(30):
        L = rng.normal(size=(4, 4)) * 10.0 ** rng.uniform(-3, 0) * (method not in COMBINATIONS)
        M = L @ L.T + solution.metric * rng.uniform(0, 2)
        there = objective_of(method, X, y, M, **params)
        if method in ("dml_eig", "mmc"):  # a multiple of M within the budget
            same = [(i, j) for i in range(len(y)) for j in range(i) if y[i] == y[j]]
            spent = max(1.0, sum((X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in same))
            there = there / (spent if method == "dml_eig" else spent**0.5)
        assert float(found.interval[0]) <= there * (1 + 1e-12 * np.sign(there))


def test_the_lower_end_of_ssvm_holds_for_the_step_at_other_metrics(tmp_path: Path) -> None:
    """F is at most its convex step, and equal to it at the metric of the file.

    Both are computed by their definitions.
    """
    file, beside, content, aside = edited("ssvm", tmp_path)
    found, X, y = run(file, beside), np.array(content["X"]), np.array(content["y"])
    assert found.interval is not None
    C, latent, M = content["params"]["C"], np.array(aside["latent"]), np.array(content["metric"])
    rng = np.random.default_rng(0)

    def step(A: np.ndarray) -> tuple[float, float]:
        at, E = cvxml.evaluate("ssvm", X, y, A), X[:, None] - X[None]
        D = np.einsum("ijk,kl,ijl->ij", E, A, E)
        own = np.take_along_axis(D, latent, axis=1).sum(axis=1)
        of_step = float(np.sum(A * A) + C * np.sum(at.S_hat + at.Delta + own))
        return of_step, objective_of("ssvm", X, y, A)

    assert step(M) == pytest.approx([float(found.interval[1])] * 2, rel=1e-9)
    for _ in range(30):
        L = rng.normal(size=(4, 4)) * 10.0 ** rng.uniform(-3, 0)
        there, F = step(L @ L.T + M * rng.uniform(0, 2))
        assert float(found.interval[0]) <= there * (1 + 1e-12)
        assert there * (1 + 1e-12) >= F


def mixed_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return points (18, 3) that are independent of their labels, so that NCA with f has a stationary metric too."""
    return np.random.default_rng(0).standard_normal((18, 3)), np.arange(18) % 3


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_the_lower_end_of_nca_holds_for_the_step_at_other_metrics(criterion: str, tmp_path: Path) -> None:
    """The objective is at most its convex step, and equal to it at the metric of the file."""
    X, y = mixed_classes()
    solution = cvxml.solve("nca", X, y, criterion=criterion)
    found, at = run(*saved(solution, tmp_path)).interval, cvxml.evaluate("nca", X, y, solution.metric)
    assert found is not None
    E, others, w = X[:, None] - X[None], ~np.eye(len(X), dtype=bool), at.w_ij
    own = xlogy(w, w).sum(axis=1)
    c = at.p_i if criterion == "f" else np.ones(len(X))

    def step(A: np.ndarray) -> float:
        D = np.einsum("ijk,kl,ijl->ij", E, A, E)
        log_sum = np.logaddexp.reduce(np.where(others, -D, -np.inf), axis=1)
        value = c @ (log_sum + (w * D).sum(axis=1) + own)
        return float(value + (xlogy(c, c).sum() - c.sum() if criterion == "f" else 0.0))

    assert step(solution.metric) == pytest.approx(float(found[1]), rel=1e-9)
    assert solution.objective == pytest.approx(float(found[1]), rel=1e-9)
    assert float(found[1] - found[0]) <= 1e-5
    rng = np.random.default_rng(0)
    below = []
    for _ in range(30):
        L = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-3, 0)
        A = L @ L.T + solution.metric * rng.uniform(0, 2)
        assert float(found[0]) <= step(A) + 1e-12
        assert objective_of("nca", X, y, A, criterion=criterion) <= step(A) + 1e-12
        below.append(step(A) < step(solution.metric) + 1e-9)
    assert not all(below)


@pytest.mark.parametrize("method", ["ssvm", "nca"])
def test_an_interval_of_a_step_is_said_to_be_one(method: str, tmp_path: Path) -> None:
    file, beside, *_ = edited(method, tmp_path)
    assert "convex step" in run(file, beside).whose
    assert "convex step" not in run(*edited("mlsvm", tmp_path)[:2]).whose


def test_sets_of_the_step_that_are_not_the_cheapest_are_rejected(tmp_path: Path) -> None:
    file, beside, content, aside = edited("ssvm", tmp_path)
    y, h = np.array(content["y"]), aside["latent"][0]
    far = [j for j in np.flatnonzero(y == y[0]).tolist() if j not in (0, *h)]
    for other in (
        sorted([*h[:-1], far[-1]]),
        np.flatnonzero(y != y[0])[: len(h)].tolist(),
        h[:-1],
        h[::-1],
        [0, *h[1:]],
    ):
        aside["latent"][0] = other
        beside.write_text(json.dumps(aside))
        assert not run(file, beside).proved


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_nca_of_another_metric_has_a_wide_interval_or_none(criterion: str, tmp_path: Path) -> None:
    """The step belongs to the metric of the file.

    The side file of a stationary metric proves little for another one.
    """
    X, y = mixed_classes()
    solution = cvxml.solve("nca", X, y, criterion=criterion)
    file, beside = saved(solution, tmp_path)
    found = run(file, beside).interval
    assert found is not None
    content, aside = json.loads(file.read_text()), json.loads(beside.read_text())
    aside["root"] = [[1.001 * value for value in vector] for vector in aside["root"]]
    content["metric"] = (1.001**2 * solution.metric).tolist()
    file.write_text(json.dumps(content))
    beside.write_text(json.dumps(aside))
    assert rejected(file, beside)
    solution = replace(solution, metric=1.001**2 * solution.metric)
    other = run(*saved(solution, tmp_path)).interval
    assert other is not None
    assert other[1] - other[0] > 10 * (found[1] - found[0])


@pytest.mark.parametrize("name", ["n_components", "similarity"])
def test_nca_of_a_limited_rank_or_a_similarity_is_refused(name: str, tmp_path: Path) -> None:
    X, y = mixed_classes()
    given = {"n_components": 2, "similarity": (y[:, None] == y) * (1.0 - np.eye(len(y)))}[name]
    path = tmp_path / "nca.json"
    cvxml.solve("nca", X, y, criterion="g", **{name: given}).save(path)
    with pytest.raises(ValueError, match=name):
        side(load(path))
    file, beside = saved(cvxml.solve("nca", X, y), tmp_path)
    content = json.loads(file.read_text())
    content["params"][name] = given if name == "n_components" else given.tolist()
    file.write_text(json.dumps(content))
    assert rejected(file, beside, name)


def test_nca_of_classes_of_two_is_the_problem_itself(tmp_path: Path) -> None:
    """With two points in each class, the lower end holds for every metric, not only for the step."""
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) // 2
    solution = cvxml.solve("nca", X, y, criterion="g", tol=1e-9)
    same_as_exact(solution, tmp_path)
    found = run(*saved(solution, tmp_path)).interval
    assert found is not None
    assert found[1] - found[0] <= 1e-8
    for seed in range(20):
        L = np.random.default_rng(seed).normal(size=(3, 3)) * 10.0 ** (-seed % 3)
        for M in (L @ L.T, solution.metric + L @ L.T / 100):
            assert float(found[0]) <= objective_of("nca", X, y, M, criterion="g") + 1e-12


def test_the_metric_zero_is_proved_optimal_for_its_step(tmp_path: Path) -> None:
    X, y = random_data(1, n=18, d=3, classes=3)
    solution = cvxml.solve("ssvm", X, y, n_neighbors=2, C=1.0)
    assert not solution.metric.any()
    same_as_exact(solution, tmp_path)
    found = run(*saved(solution, tmp_path)).interval
    assert found is not None
    assert found[0] == found[1]


def test_a_million_triplets_and_prices(tmp_path: Path) -> None:
    n = 1000
    X = np.random.default_rng(1).integers(0, 64, size=(n, 3)) / 8
    targets = [[(i + 2) % n, (i + 4) % n] for i in range(n)]
    file, beside = tmp_path / "solution.json", tmp_path / "side.json"
    listed = [(i, j, l) for i in range(n) for j in targets[i] for l in range(1 - i % 2, n, 2)]
    content = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "lmnn",
        "X": X.tolist(),
        "y": [i % 2 for i in range(n)],
        "params": {"mu": 0.5, "targets": targets},
        "metric": (np.eye(3) / 4).tolist(),
    }
    prices = [[i, j, l, hex(1 + (i + j + l) % 5)] for i, j, l in listed]
    aside = {
        "format": "cvxml-side",
        "version": 1,
        "method": "lmnn",
        "root": None,
        "over": hex(1 << 30),
        "prices": prices,
        "factor": {"vectors": [], "rest": "psd"},
    }
    file.write_text(json.dumps(content))
    beside.write_text(json.dumps(aside))
    assert len(listed) == 10**6
    D = np.rint(((X[:, None] - X[None]) ** 2).sum(axis=-1) * 64).astype(np.int64)  # in units of 1/256
    i, j, l = np.array(listed).T
    push = int(np.maximum(0, 256 + D[i, j] - D[i, l]).sum())
    pull = int(sum(D[i, j] for i in range(n) for j in targets[i]))
    found = run(file, beside).interval
    assert found == (
        Fraction(sum(int(price[-1], 16) for price in prices), 1 << 30),
        Fraction(push + pull, 512),
    )


def test_the_command_writes_what_the_checker_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, beside, _, content = edited("lmnn", tmp_path)
    again = tmp_path / "again.json"
    assert command(["certify", str(file), "--tol", "loose", "--side", str(again)]) == 0
    assert json.loads(again.read_text()) == content
    assert run(file, again) == run(file, beside)
    assert "CERTIFIED" in capsys.readouterr().out


def test_a_method_without_a_theorem_is_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = real_data("iris", 30)
    path = tmp_path / "rca.json"
    cvxml.solve("rca", X, y).save(path)
    with pytest.raises(ValueError, match="mlsvm, lmnn"):
        side(load(path))


def test_the_twin_finds_the_same(tmp_path: Path) -> None:
    """The twin judges the tampered files of test_tampered.py."""
    for method in KNOWN:
        file, beside, *_ = edited(method, tmp_path)
        assert twin.interval(file.read_bytes(), beside.read_bytes()) == run(file, beside).interval
