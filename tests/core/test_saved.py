"""A saved solution is believed in nothing: an honest file is never refuted, a figure better than the data's always."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.files import read_npz, write_npz
from cvxml.core.metric import EPS
from cvxml.core.report import Verdict
from cvxml.core.result import Solution, Stationarity, Status
from cvxml.methods import get
from cvxml.methods.kernel_mlsvm import instance as kernel_instance
from cvxml.oracle.saved import _false_claim, _judge, recertify, upper
from tests.instances import random_data, real_data

IRIS = real_data("iris", standardized=False)
SOME = real_data("iris", 40, standardized=False)
FEW = real_data("iris", 20, standardized=False)  # where solvers take long
HONEST: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "knn": ("mlsvm", IRIS, {}),
    "per-class": ("mlsvm", FEW, {"neighborhood": "per-class", "n_neighbors": 3}),
    "tiny-features": ("mlsvm", (SOME[0] * 1e-3, SOME[1]), {}),
    "large-features": ("mlsvm", (FEW[0] * 1e3, FEW[1]), {}),
    "far-features": ("mlsvm", (SOME[0] + 1e4, SOME[1]), {}),
    "no-usable-point": ("mlsvm", ([[0.0], [0.1], [9.0], [9.1]], [0, 0, 1, 1]), {"n_neighbors": 1}),
    "poly": ("kernel_mlsvm", SOME, {"degree": 2}),
    "poly-per-class": ("kernel_mlsvm", SOME, {"degree": 1, "neighborhood": "per-class", "n_neighbors": 2}),
    "rbf": ("kernel_mlsvm", SOME, {"kernel": "rbf"}),
}
STOPS: dict[str, dict[str, Any]] = {
    "normal": {},
    "strict": {"tol": 1e-9},
    "early": {"max_iter": 2},
}
FIGURES = ("gap", "rel_gap", "radius")


def solved(method: str, data: Any, **params: Any) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cvxml.solve(method, *data, **params)


@pytest.mark.quick(1)
@pytest.mark.parametrize("lam", [1e-8, 1e-5, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("case", HONEST)
def test_an_honest_file_is_never_refuted(case: str, lam: float, tmp_path: Path) -> None:
    method, data, params = HONEST[case]
    verdicts = []
    for stop in STOPS.values():
        solution = solved(method, data, **{"lam": lam, "max_iter": 500, **params, **stop})
        for name in ("s.json", "s.npz"):
            solution.save(tmp_path / name)
            verdicts.append(recertify(cvxml.load(tmp_path / name), 1e-6))
    assert [str(v) for v in verdicts if v.verdict is Verdict.REFUTED] == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("lam", [1e-5, 1.0, 1e3])
def test_an_honest_file_of_a_general_solver_is_never_refuted(solver: str, lam: float, tmp_path: Path) -> None:
    for method, params in (("mlsvm", {}), ("kernel_mlsvm", {"degree": 2})):
        solved(method, FEW, lam=lam, solver=solver, **params).save(tmp_path / "s.npz")
        assert recertify(cvxml.load(tmp_path / "s.npz"), 1e-6).verdict is not Verdict.REFUTED


@pytest.mark.quick(5)
@pytest.mark.parametrize("lam", [1e-8, 1e-4, 1.0, 1e3])
@pytest.mark.parametrize("case", ["poly", "poly-per-class", "rbf"])
def test_another_machine_does_not_refute_a_kernel(
    case: str, lam: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # eigenvectors are found to rounding of the largest eigenvalue: those of K + noise are as right as those of K
    method, data, params = HONEST[case]
    solved(method, data, lam=lam, max_iter=500, **params).save(tmp_path / "s.json")
    rng, factor = np.random.default_rng(0), kernel_instance.factor

    def elsewhere(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        noise = rng.standard_normal(K.shape)
        noise = noise + noise.T
        return factor(K + 2 * EPS * np.linalg.norm(K, 2) / np.linalg.norm(noise, 2) * noise)

    monkeypatch.setattr(kernel_instance, "factor", elsewhere)
    for _ in range(3):
        found = recertify(cvxml.load(tmp_path / "s.json"), 1e-6)
        assert found.verdict is not Verdict.REFUTED, found.reason


def content_of(solution: Solution) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(solution.to_dict()))
    return content


def verdict_on(content: dict[str, Any], path: Path) -> tuple[Verdict, str]:
    path.write_text(json.dumps(content), encoding="utf-8")
    found = recertify(cvxml.load(path), 1e-3)
    return found.verdict, found.reason


@cache
def longer(lam: float) -> dict[str, Any]:
    """A file whose metric is slightly longer than the optimum, with the figures of that metric."""
    # a gap of up to 1e-3 of the scale, which at lam = 1 is 1e-6 of the objective: rounding is far below
    found = solved("mlsvm", SOME, lam=lam, tol=1e-3)
    metric = (1 + 1e-5) * found.metric
    proof = cvxml.certify("mlsvm", *SOME, metric, found.dual, lam=lam, neighbors=found.neighbors)
    assert proof.gap > 1e5 * proof.rounding
    return content_of(replace(found, metric=metric, certificate=proof))


@cache
def loose() -> dict[str, Any]:
    return content_of(solved("mlsvm", SOME, lam=0.1, tol=1e-3))


@cache
def loose_step(C: float) -> dict[str, Any]:
    content = content_of(solved("ssvm", SOME, C=C, tol=1e-3))
    assert content["step_gap"] > 1e-10
    return content


@pytest.mark.quick(13)
@pytest.mark.parametrize(
    ("content", "weight", "figure"),
    [
        *((longer, lam, figure) for lam in (1e-6, 0.1, 1.0) for figure in FIGURES),
        *((loose_step, C, figure) for C in (1e-2, 1.0) for figure in ("gap", "rel_gap", "step_gap")),
    ],
)
@pytest.mark.parametrize("factor", [0.999, 0.5, 0.0, -1.0])
def test_a_figure_too_small_is_refuted(
    content: Callable[[float], dict[str, Any]], weight: float, figure: str, factor: float, tmp_path: Path
) -> None:
    own, path = content(weight), tmp_path / "s.json"
    assert verdict_on(own, path)[0] is Verdict.CERTIFIED
    verdict, reason = verdict_on({**own, figure: factor * own[figure]}, path)
    assert verdict is Verdict.REFUTED
    assert f" {figure} " in reason


@pytest.mark.parametrize("figure", ["stationarity", "step_gap", "step_lower_bound"])
def test_a_figure_that_a_problem_has_not_is_refuted(figure: str, tmp_path: Path) -> None:
    """A convex problem has no step, and no share that is won to first order."""
    verdict, reason = verdict_on({**loose(), figure: 0.0}, tmp_path / "s.json")
    assert verdict is Verdict.REFUTED
    assert figure in reason


@pytest.mark.parametrize("figure", [*FIGURES, "step_gap"])
def test_a_figure_too_large_or_infinite_claims_nothing_false(figure: str, tmp_path: Path) -> None:
    content = loose_step(1.0) if figure == "step_gap" else loose()
    for value in (2 * content[figure], None):
        assert verdict_on({**content, figure: value}, tmp_path / "s.json")[0] is Verdict.CERTIFIED


@pytest.mark.parametrize("method", ["mlsvm", "kernel_mlsvm"])
def test_the_figures_of_another_metric_are_refuted(method: str, tmp_path: Path) -> None:
    X, y = random_data(0, n=20)
    good = content_of(solved(method, (X, y), lam=0.1, tol=1e-9))
    metric = 1.001 * np.array(good["metric"])
    proof = cvxml.certify(method, X, y, metric, good["dual"], lam=0.1)
    claims = {"objective": proof.objective, "lower_bound": proof.lower_bound, "metric": metric.tolist()}
    claims |= dict.fromkeys(FIGURES)
    assert verdict_on({**good, **claims}, tmp_path / "s.json")[0] is not Verdict.REFUTED
    for figure in FIGURES:
        verdict, reason = verdict_on({**good, **claims, figure: good[figure]}, tmp_path / "s.json")
        assert verdict is Verdict.REFUTED
        assert f" {figure} " in reason


def test_a_gap_of_zero_is_refuted_where_the_scale_is_zero(tmp_path: Path) -> None:
    content = content_of(solved("mlsvm", random_data(1), lam=0.1))
    zero = {**content, "metric": (0 * np.array(content["metric"])).tolist(), "objective": None}
    for claims, expected in (({}, Verdict.INCONCLUSIVE), ({"rel_gap": 0.0}, Verdict.REFUTED)):
        unclaimed = {"gap": None, "rel_gap": None, "radius": None}
        assert verdict_on({**zero, **unclaimed, **claims}, tmp_path / "s.json")[0] is expected


GERRYMANDERED: dict[str, tuple[Any, dict[str, Any]]] = {
    "default": (SOME, {}),
    "one-neighbour": (SOME, {"n_neighbors": 1}),
    "losses": (SOME, {"loss_matrix": [[0, 1, 5], [1, 0, 2], [0.1, 3, 0]]}),
    "far-features": ((SOME[0] + 1e4, SOME[1]), {}),
    "all-points-equal": ((np.ones((14, 2)), np.arange(14) % 2), {}),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize(("C", "units"), [(1e-5, 1.0), (1e-2, 1.0), (1.0, 1.0), (1e-2, 1e-3), (1e-2, 1e3)])
@pytest.mark.parametrize("case", GERRYMANDERED)
def test_an_honest_file_of_a_stationary_metric_is_never_refuted(
    case: str, C: float, units: float, tmp_path: Path
) -> None:
    (X, y), params = GERRYMANDERED[case]
    for stop in STOPS.values():
        solution = solved("ssvm", (X * units, y), **{"C": C / units**4, "max_iter": 30, **params, **stop})
        for name in ("s.json", "s.npz"):
            solution.save(tmp_path / name)
            found = recertify(cvxml.load(tmp_path / name), 1e-6)
            assert found.verdict is not Verdict.REFUTED, str(found)
            if solution.status is Status.STATIONARY:
                assert found.verdict is Verdict.CERTIFIED


def test_a_stationary_metric_has_no_other_bound_and_no_radius(tmp_path: Path) -> None:
    content = content_of(solved("ssvm", SOME, C=0.1))
    for figure, value in (
        ("lower_bound", content["step_lower_bound"]),
        ("lower_bound", 1e-6),
        ("step_lower_bound", content["step_lower_bound"] + 1e-6),
        ("objective", content["objective"] - 1e-6),
        ("radius", 1.0),
        ("radius", 1e300),
    ):
        verdict, reason = verdict_on({**content, figure: value}, tmp_path / "s.json")
        assert verdict is Verdict.REFUTED, figure
        assert f" {figure} " in reason


@pytest.mark.parametrize("figure", ["lower_bound", "step_lower_bound"])
@pytest.mark.parametrize("lower", [1e-6, 1.0, 1e300])
def test_a_lower_bound_refutes_a_file_only_if_it_is_too_high(
    figure: str, lower: float, tmp_path: Path
) -> None:
    content, path = loose_step(1.0) if figure.startswith("step") else loose(), tmp_path / "s.json"
    for value in (content[figure] - lower, None):
        assert verdict_on({**content, figure: value}, path)[0] is Verdict.CERTIFIED
    verdict, reason = verdict_on({**content, figure: content[figure] + lower}, path)
    assert verdict is Verdict.REFUTED
    assert f" {figure} " in reason


@pytest.mark.parametrize("method", ["schultz_joachims", "mlsvm"])
@pytest.mark.parametrize("seed", range(2))
def test_an_honest_file_of_features_in_very_different_units_is_never_refuted(
    method: str, seed: int, tmp_path: Path
) -> None:
    """The solver works in other coordinates. There its dual variables may prove another bound than in the file."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 3)) * [5e11, 5e7, 4e-8], np.arange(20) % 2
    for stop in ({}, {"max_iter": 50}):
        try:
            solution = solved(method, (X, y), **stop)
        except ValueError:  # a method may refuse such units
            continue
        solution.save(tmp_path / "s.npz")
        found = recertify(cvxml.load(tmp_path / "s.npz"), 1e-6)
        assert found.verdict is not Verdict.REFUTED, str(found)


@pytest.mark.quick(8)
@pytest.mark.parametrize("name", ["objective", "lower_bound", *FIGURES, "step_gap", "step_lower_bound"])
@pytest.mark.parametrize("value", ["0", True, [0.0], 10**400], ids=lambda v: repr(v)[:9])
def test_a_figure_that_is_no_number_is_an_error(name: str, value: Any, tmp_path: Path) -> None:
    content = loose_step(1.0) if name.startswith("step") else loose()
    with pytest.raises(ValueError, match=f"{name}.*finite"):
        verdict_on({**content, name: value}, tmp_path / "s.json")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_figure_in_a_header_of_npz_that_is_not_finite_is_an_error(value: str, tmp_path: Path) -> None:
    solved("mlsvm", random_data(2), lam=0.1).save(tmp_path / "s.npz")
    arrays = dict(np.load(tmp_path / "s.npz"))
    header = {**json.loads(str(arrays["header"])), "objective": float(value)}
    np.savez(tmp_path / "s.npz", **{**arrays, "header": np.array(json.dumps(header))})
    with pytest.raises(ValueError, match=r"objective.*finite"):
        recertify(cvxml.load(tmp_path / "s.npz"), 1e-6)


@pytest.mark.parametrize("name", ["s.json", "s.npz"])
def test_what_is_printed_is_what_the_file_says(name: str, tmp_path: Path) -> None:
    solution = solved("mlsvm", SOME, lam=0.1)
    solution.save(tmp_path / name)
    printed = str(recertify(cvxml.load(tmp_path / name), 1e-6)).splitlines()[-1]
    claims = printed.strip().split(": ")[1]
    found = dict(claim.rsplit(" ", 1) for claim in claims.split(", "))
    assert found.pop("status") == solution.status.name
    certificate = solution.certificate
    for figure in ("objective", "lower_bound", *FIGURES):
        assert float(found.pop(figure)) == pytest.approx(getattr(certificate, figure), rel=1e-11)
    assert not found


def test_a_figure_that_the_file_leaves_out_is_not_printed(tmp_path: Path) -> None:
    content = {**content_of(solved("mlsvm", SOME, lam=0.1)), "radius": None}
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    printed = str(recertify(cvxml.load(tmp_path / "s.json"), 1e-6)).splitlines()[-1]
    assert "rel_gap" in printed
    assert "radius" not in printed


def test_a_file_of_no_known_kind_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"solution\.txt.*\.json"):
        solved("mlsvm", SOME, lam=0.1).save(tmp_path / "solution.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_bound_is_contradicted_by_more_than_twice_the_rounding() -> None:
    proof = replace(cvxml.solve("kernel_mlsvm", *SOME).certificate, rounding=1e-3)
    for error, contradicted in (
        (0.0, False),
        (1.9e-3, False),
        (-1.9e-3, False),
        (2.1e-3, True),
        (-2.1e-3, False),  # this claims less than the proved bound
    ):
        said = _false_claim(proof, {"lower_bound": proof.lower_bound + error}, 0.0)
        assert bool(said) is contradicted, (error, said)
    assert _false_claim(proof, {"objective": proof.objective + 1e-3}, 0.0)


def test_targets_that_are_not_the_nearest_are_not_called_so(tmp_path: Path) -> None:
    y, path = SOME[1], tmp_path / "s.json"
    nearest = content_of(solved("lmnn", SOME, n_neighbors=2))
    assert verdict_on(nearest, path)[0] is Verdict.CERTIFIED
    farther = [[int(np.flatnonzero(y == c)[k]) for k in (0, 1)] for c in range(3)]
    targets = [[j for j in farther[c] if j != i] or [farther[c][1]] for i, c in enumerate(y)]
    given = content_of(solved("lmnn", SOME, targets=targets))
    assert given["params"]["n_neighbors"] is None
    assert verdict_on(given, path)[0] is Verdict.CERTIFIED
    for k in (2, 30):  # a class has no 30 points
        verdict, reason = verdict_on({**given, "params": {**given["params"], "n_neighbors": k}}, path)
        assert verdict is Verdict.REFUTED
        assert "targets" in reason
        assert f"n_neighbors={k}" in reason


@pytest.mark.parametrize(
    ("method", "params"),
    [("schultz_joachims", {}), ("scml", {"beta": 0.05}), ("plml", {"n_anchors": 2}), ("rtml", {})],
)
def test_triplets_that_are_not_drawn_so_are_not_said_to_be(
    method: str, params: dict[str, Any], tmp_path: Path
) -> None:
    """The number of neighbours, another by hand or beside a triplet less: what it names is not what was solved."""
    data, path = (SOME[0][:12], SOME[1][:12]), tmp_path / "s.json"
    drawn = content_of(solved(method, data, n_neighbors=1, **params))
    assert verdict_on(drawn, path)[0] is Verdict.CERTIFIED
    listed = drawn["params"]["triplets"]
    some = content_of(solved(method, data, triplets=listed[1:], **params))
    assert some["params"]["n_neighbors"] is None
    for content, k in ((drawn, 2), (drawn, 30), (some, 1)):
        verdict, reason = verdict_on({**content, "params": {**content["params"], "n_neighbors": k}}, path)
        assert verdict is Verdict.REFUTED
        assert "triplets" in reason
        assert f"n_neighbors={k}" in reason
    turned = {**drawn["params"], "triplets": listed[::-1]}
    assert verdict_on({**drawn, "params": turned}, path)[0] is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("method", "name"), [("scml", "n_basis"), ("plml", "n_anchors"), ("lsml", "n_quadruplets")]
)
def test_a_number_that_is_not_that_of_the_lists_is_refuted(method: str, name: str, tmp_path: Path) -> None:
    data, path = (SOME[0][:12], SOME[1][:12]), tmp_path / "s.json"
    params = {"scml": {"n_neighbors": 1}, "plml": {"n_neighbors": 1, "n_anchors": 2}}.get(method, {})
    content = content_of(solved(method, data, **params))
    assert verdict_on(content, path)[0] is Verdict.CERTIFIED
    content["params"][name] = 3
    verdict, reason = verdict_on(content, path)
    assert verdict is Verdict.REFUTED
    assert f"{name} = 3" in reason


def test_explicit_lists_are_not_said_to_be_the_nearest(tmp_path: Path) -> None:
    lists = [[(i + 1) % 40, (i + 7) % 40] for i in range(40)]
    content = content_of(solved("mlsvm", SOME, neighbors=lists, lam=0.1))
    assert verdict_on(content, tmp_path / "s.json")[0] is Verdict.CERTIFIED
    content["params"]["n_neighbors"] = 2
    verdict, reason = verdict_on(content, tmp_path / "s.json")
    assert verdict is Verdict.REFUTED
    assert "neighbour lists" in reason


def test_what_is_not_decided_is_said_and_what_is_unbounded_has_no_bound() -> None:
    proof = cvxml.solve("mlsvm", *SOME, lam=0.1).certificate
    sentence = "the points span more than double precision sees"
    for undecided in (
        replace(proof, undecided=sentence),
        replace(proof, step=replace(proof, undecided=sentence)),
        replace(proof, parts=(proof, replace(proof, undecided=sentence))),
    ):
        assert _judge(undecided, {}, 1e-6, 0.0) == (Verdict.INCONCLUSIVE, sentence)
    unbounded = replace(proof, lower_bound=-math.inf, gap=math.inf, undecided=sentence)
    assert _judge(unbounded, dict.fromkeys(("lower_bound", *FIGURES)), 1e-6, 0.0) == (
        Verdict.INCONCLUSIVE,
        sentence,
    )
    for name in ("lower_bound", *FIGURES):
        verdict, reason = _judge(unbounded, {name: getattr(proof, name)}, 1e-6, 0.0)
        assert verdict is Verdict.REFUTED
        assert f" {name} " in reason
    assert _judge(replace(proof, objective=math.inf, gap=math.inf), {}, 1e-6, 0.0)[0] is Verdict.REFUTED


# parameters that files of 0.2 do not have, and their defaults
LATER: dict[str, dict[str, Any]] = {
    "ldml": {"losses": "sum", "weights": None, "self_pairs": 0.0},
    "lsml": {"losses": "mean"},
    "gmml": {"prior": "identity"},
}


@pytest.mark.parametrize("method", LATER)
def test_a_file_without_a_parameter_that_came_later_is_that_of_its_default(
    method: str, tmp_path: Path
) -> None:
    solution = cvxml.solve(method, *random_data(8, 14, 3, 2), **get(method).SMALL)
    assert not LATER[method].keys() & solution.params.keys()
    for name in ("s.json", "s.npz"):
        solution.save(tmp_path / name)
        saved = cvxml.load(tmp_path / name)
        for params in (saved.params, {**saved.params, **LATER[method]}):
            assert recertify(replace(saved, params=params), 1e-6).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("of", ["itself", "a step", "one of two parts", "a gradient", "not its gradient"])
def test_the_gap_that_is_stated_includes_the_rounding_error(of: str) -> None:
    """The rule of a certificate allows for rounding: then the exact gap may be above the tolerance."""
    best = solved("mlsvm", FEW).certificate
    near = replace(best, gap=3e-9, scale=1.0, rounding=4e-9)
    proof = {
        "itself": near,
        "a step": replace(best, kind="stationary", step=near),
        "one of two parts": replace(best, parts=(best, near)),
        "a gradient": replace(
            near, kind="stationary", gap=1.0, stationarity=Stationarity(3e-9, 0.0, 0.0, 1.0)
        ),
        "not its gradient": replace(
            near, stationarity=Stationarity(0.0, 0.0, 0.0, 1.0)
        ),  # a proof of optimality
    }[of]
    verdict, reason = _judge(proof, {}, 5e-9, 0.0)
    assert verdict is Verdict.CERTIFIED
    assert 7e-9 <= float(reason.split()[-1]) <= 7.1e-9


def test_a_certified_file_with_a_gradient_at_a_scale_of_zero_is_judged() -> None:
    """The gradient is 0 and its scale is 0, so there is no relative figure."""
    best = solved("mlsvm", FEW).certificate
    still = Stationarity(0.0, 0.0, 0.0, of=0.0)
    proof = replace(best, kind="stationary", stationarity=still, rounding=1e-12, scale=1.0)
    assert upper(proof) == np.inf
    assert _judge(proof, {}, 1e-6, 0.0)[0] is Verdict.CERTIFIED


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_solution_is_certified_in_one_step(tmp_path: Path, ending: str) -> None:
    """A path as text or as Path, the content of the file, and the solution itself have the same proof."""
    solution = cvxml.solve("mlsvm", *SOME)
    path = tmp_path / f"s.{ending}"
    solution.save(path)
    expected = recertify(cvxml.load(path), "normal").to_dict()
    assert expected["verdict"] == "certified"
    for given in (path, str(path), cvxml.load(path), solution):
        assert cvxml.certify_solution(given).to_dict() == expected
    false = replace(cvxml.load(path), claimed={**cvxml.load(path).claimed, "gap": -1.0})
    assert cvxml.certify_solution(false).verdict is Verdict.REFUTED
    with pytest.raises(ValueError, match="solution"):
        cvxml.certify_solution(solution.metric)


def test_an_estimator_and_a_solution_are_no_metric_and_the_message_names_what_takes_them() -> None:
    X, y = SOME
    for given, said in ((cvxml.LMNN(), "certify_estimator"), (cvxml.LMNN().fit(X, y), "certify_estimator")):
        with pytest.raises(ValueError, match=said):
            cvxml.check("lmnn", X, y, given)
    with pytest.raises(ValueError, match=r"solution\.metric"):
        cvxml.evaluate("lmnn", X, y, cvxml.solve("lmnn", X, y))


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_a_file_that_cannot_be_read_is_named_once(ending: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / f"solution{ending}"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read") as refused:
        cvxml.load(path)
    assert str(refused.value).count(path.name) == 1


def test_a_file_in_a_folder_that_does_not_exist_is_about_the_folder(tmp_path: Path) -> None:
    solution = cvxml.solve("rca", *random_data(0, n=12, d=2))
    with pytest.raises(ValueError, match=r"missing.*\bfolder\b") as caught:
        solution.save(tmp_path / "missing" / "a.json")
    assert "finite" not in str(caught.value)


NEEDED = (
    "format",
    "version",
    "method",
    "params",
    "X",
    "y",
    "neighbors",
    "metric",
    "dual",
)  # docs/duality_files.md
WRONG: tuple[Any, ...] = (None, "abc", 1, True, [1, 2], {}, [None], ["abc"], [[1], [2, 3]])


def refusal_of(path: Path, content: dict[str, Any]) -> str:
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"solution") as refused:
        cvxml.certify_solution(path)
    cause = refused.value.__cause__
    # Python's own text on a value that it did not expect says nothing of the file
    assert cause is None or type(cause) is ValueError or isinstance(cause, KeyError)
    return str(refused.value)


@pytest.mark.parametrize("method", ["gmml", "mlsvm", "lmnn"])
@pytest.mark.parametrize("field", NEEDED)
def test_a_field_that_is_missing_or_of_another_kind_is_named(field: str, method: str, tmp_path: Path) -> None:
    content = solved(method, SOME).to_dict()
    assert field in refusal_of(tmp_path / "s.json", {k: v for k, v in content.items() if k != field})
    for value in WRONG:
        if (field, value) != ("version", 1):
            assert field in refusal_of(tmp_path / "s.json", {**content, field: value}), value


@pytest.mark.parametrize("method", ["gmml", "mlsvm", "rca"])
def test_a_parameter_that_is_missing_is_named_and_claims_may_be_missing(method: str, tmp_path: Path) -> None:
    content = solved(method, SOME).to_dict()
    for name in content["params"]:
        others = {k: v for k, v in content["params"].items() if k != name}
        assert name in refusal_of(tmp_path / "s.json", {**content, "params": others})
    bare = {name: content[name] for name in NEEDED}
    (tmp_path / "s.json").write_text(json.dumps(bare))
    assert cvxml.certify_solution(tmp_path / "s.json").verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(("method", "name"), [("rca", "l"), ("lfda", "s"), ("gmml", "Y"), ("mlsvm", "u")])
def test_a_dual_of_another_kind_is_named(method: str, name: str, tmp_path: Path) -> None:
    content = solved(method, SOME).to_dict()
    for value in WRONG:
        dual = {**content["dual"], name: value}
        assert re.search(rf"\bdual '?{name}\b", refusal_of(tmp_path / "s.json", {**content, "dual": dual})), (
            value
        )


@pytest.mark.parametrize("header", ["[1, 2]", "null", '"x"', "{", "NaN"])
def test_a_header_of_npz_that_is_no_object_is_named(header: str, tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    solved("gmml", SOME).save(path)
    write_npz(path, **{**read_npz(path), "header": np.array(header)})
    with pytest.raises(ValueError, match=r"\bheader\b") as refused:
        cvxml.load(path)
    assert type(refused.value.__cause__) is ValueError


@pytest.mark.parametrize("name", ["X", "metric", "y"])
@pytest.mark.parametrize("value", [np.array("abc"), np.array(1.5), np.array(["a", "b"])])
def test_an_array_of_npz_of_another_kind_is_named(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    solved("gmml", SOME).save(path)
    write_npz(path, **{**read_npz(path), name: value})
    with pytest.raises(ValueError, match=rf"solution: {name}\b"):
        cvxml.load(path)


@pytest.mark.parametrize("path", [None, 3, b"s.json", ["s.json"]])
def test_a_path_of_another_type_is_refused(path: Any) -> None:
    for read in (cvxml.load, cvxml.datasets.read):
        with pytest.raises(ValueError, match=r"\bpath\b"):
            read(path)
