"""validation/recompute.py, which does not import cvxml, agrees with the package and refuses false files."""

from __future__ import annotations

import ast
import copy
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.methods import get
from cvxml.oracle.cases import Case, load_cases
from tests.edits import swapped
from tests.instances import exact_of, fractions, random_data, real_data
from validation import recompute
from validation.recompute import referee

PATH = Path(recompute.__file__)


def content_of(solution: cvxml.Solution, path: Path) -> dict[str, Any]:
    """Save a solution, and return the content of the file."""
    solution.save(path)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def is_proved(content: dict[str, Any], path: Path) -> bool:
    """Write a file with this content, and return True if validation/recompute.py proves it."""
    path.write_text(json.dumps(content), encoding="utf-8")
    return recompute.main(str(path))


def refusal_of(content: dict[str, Any], path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line that is printed for a file with this content, which must not be proved."""
    assert not is_proved(content, path)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("not proved: ")
    return line


def test_it_imports_numpy_and_the_standard_library_only() -> None:
    tree = ast.parse(PATH.read_text(encoding="utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"importlib.util", "sys", "pathlib"}  # and the referee, see tests/cases/test_judge.py


@pytest.mark.quick(3)
@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("mlsvm", {"lam": 0.1}),
        ("mlsvm", {"lam": 0.01, "neighborhood": "per-class", "n_neighbors": 2}),
        ("kernel_mlsvm", {"lam": 0.1, "degree": 2}),
        ("kernel_mlsvm", {"lam": 0.1, "kernel": "rbf"}),
    ],
)
def test_it_finds_the_same_figures(method: str, params: dict[str, Any], suffix: str, tmp_path: Path) -> None:
    X, y = real_data("iris", 40)
    solution = cvxml.solve(method, X, y, **params)
    path = str(tmp_path / f"s.{suffix}")
    solution.save(path)
    objective, bound, gap, least, scale = recompute.recompute(recompute.read(path))
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert bound == pytest.approx(solution.lower_bound, rel=1e-9)
    assert gap == pytest.approx(solution.gap, abs=1e-9 * objective)
    assert scale == pytest.approx(solution.certificate.scale, rel=1e-6)
    assert least >= -1e-9
    assert recompute.main(path)


def saved(path: Path) -> dict[str, Any]:
    X, y = real_data("iris", 40)
    return content_of(cvxml.solve("mlsvm", X, y, lam=0.1), path)


@pytest.mark.quick(1)
@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize(
    ("name", "n", "params"),
    [
        ("iris", 30, {}),
        ("iris", 24, {"C": 1.0, "n_neighbors": 2, "loss_matrix": [[0, 1, 2], [1, 0, 3], [0.5, 1, 0]]}),
        ("wine", 20, {"C": 0.1, "n_neighbors": 4}),
        ("wine", 20, {"C": 0.1, "n_neighbors": 1}),
    ],
)
def test_it_finds_the_same_figures_of_a_step(
    name: str, n: int, params: dict[str, Any], suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = real_data(name, n)
    solution = cvxml.solve("ssvm", X, y, **params)
    path = str(tmp_path / f"s.{suffix}")
    solution.save(path)
    objective, bound, gap, least, scale = recompute.recompute(recompute.read(path))
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert bound == pytest.approx(solution.step_lower_bound, rel=1e-9)
    assert gap == pytest.approx(solution.step_gap, abs=1e-9 * objective)
    assert scale == pytest.approx(solution.certificate.scale, rel=1e-9)
    assert least >= -1e-9
    assert recompute.main(path)
    assert "proved: stationary" in capsys.readouterr().out


@pytest.mark.parametrize("seed", [43, 49, 58])
def test_at_the_metric_0_it_takes_the_sets_nearest_in_the_data(seed: int, tmp_path: Path) -> None:
    """0 is stationary with the sets h* that are nearest in the data, and not with the first sets by index."""
    X, y = np.random.default_rng(seed).integers(0, 4, (8, 2)).astype(float), np.arange(8) % 2
    solution = cvxml.solve("ssvm", X, y, C=0.02, n_neighbors=1)
    assert not solution.metric.any()
    path = tmp_path / "s.json"
    content = content_of(solution, path)
    assert recompute.main(str(path))
    content["X"] = content["X"][::-1]
    assert not is_proved(content, path)


def test_it_does_not_prove_a_metric_that_is_not_stationary(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    content = saved_step(path)
    assert recompute.main(str(path))
    metric = np.array(content["metric"])
    others: list[dict[str, Any]] = [{"metric": (f * metric).tolist()} for f in (1.01, 0.0, -1.0)]
    others += [
        {"params": {**content["params"], k: v}} for k, v in (("C", 0.11), ("loss_matrix", [[0, 2], [1, 0]]))
    ]
    for changed in others:
        assert not is_proved({**content, **changed}, path), changed


def saved_step(path: Path) -> dict[str, Any]:
    X, y = random_data(0, n=20, d=2, classes=2)
    return content_of(cvxml.solve("ssvm", X, y, C=0.1), path)


def test_it_does_not_prove_a_worse_metric(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    content = saved(path)
    worse = {**content, "metric": (1.01 * np.array(content["metric"])).tolist()}
    assert not is_proved(worse, path)


def scaled(content: dict[str, Any], **factors: float) -> None:
    for name, factor in factors.items():
        content["dual"][name] = [factor * v for v in content["dual"][name]]


REFUSED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "greedy": ("above 1/n", lambda c: scaled(c, u=1.1, w=1.1)),
    "unbalanced": ("differ", lambda c: scaled(c, u=0.9)),
    "negative": ("negative", lambda c: scaled(c, u=-1.0)),
    "no-number": ("finite numbers", lambda c: scaled(c, u=float("nan"))),
    "off-the-lists": ("neighbours", lambda c: c["dual"]["u_index"][0].reverse()),
    "half-an-index": ("neighbours", lambda c: c["dual"]["u_index"][0].__setitem__(1, 0.5)),
    "wrong-kind": ("wrong kind", lambda c: c["dual"]["u_index"].__setitem__(0, c["dual"]["w_index"][0])),
    "too-few-prices": ("lengths", lambda c: c["dual"]["u"].pop()),
    "too-few-lists": ("39 neighbour lists", lambda c: c["neighbors"].pop()),
    "too-many-lists": ("41 neighbour lists", lambda c: c["neighbors"].append([])),
    "itself": ("itself", lambda c: c["neighbors"][3].append(3)),
    "twice": ("twice", lambda c: c["neighbors"][3].append(c["neighbors"][3][0])),
    "below": ("outside 0..39", lambda c: c["neighbors"][3].append(-1)),
    "above": ("outside 0..39", lambda c: c["neighbors"][3].append(40)),
    "labels": ("39 labels", lambda c: c["y"].pop()),
    "lam": ("greater than 0", lambda c: c["params"].update(lam=0)),
    "unsymmetric": ("not symmetric", lambda c: c["metric"][0].__setitem__(1, 9.0)),
    "method": ("not known", lambda c: c.update(method="other")),
}


@pytest.mark.quick(10)
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_proof_is_refused_in_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says, change = REFUSED[case]
    path = tmp_path / "s.json"
    content = saved(path)
    change(content)
    with pytest.raises(ValueError, match=says):
        recompute.recompute(content)
    assert says in refusal_of(content, path, capsys)


def test_a_rank_above_n_components_is_refused() -> None:
    """A metric of larger rank is refused, even if the nearest metric of the right rank is stationary."""
    X, y = random_data(0, n=10, d=2, classes=2)
    targets = {"mlkr": X[:, 0] - X[:, 1], "nca": y}
    for method, values in targets.items():
        solution = cvxml.solve(method, X, values, n_components=1)
        content = json.loads(json.dumps(solution.to_dict()))
        recompute.recompute(content)
        across = np.array([[0.0, -1.0], [1.0, 0.0]]) @ content["metric"] @ [[0.0, 1.0], [-1.0, 0.0]]
        for share in (1e-3, 1e-5):
            wider = {**content, "metric": (np.array(content["metric"]) + share * across).tolist()}
            with pytest.raises(ValueError, match="rank"):
                recompute.recompute(wider)


def test_weights_that_do_not_sum_to_1_are_refused() -> None:
    """The weights are chosen for scaled rows, but the metrics of the file are judged with the rows as they are."""
    X, y = random_data(0, n=10, d=2, classes=2)
    solution = cvxml.solve("plml", X, y, n_neighbors=1, n_anchors=2, alpha1=1.0)
    content = json.loads(json.dumps(solution.to_dict()))
    referee.require_named(content)
    for more in (0.03, 1e-6):
        weights = [[w + more * (k == 0) for k, w in enumerate(row)] for row in content["params"]["weights"]]
        wrong = {**content, "params": {**content["params"], "weights": weights}}
        with pytest.raises(ValueError, match="weights"):
            referee.require_named(wrong)


@pytest.mark.parametrize(
    ("method", "params", "name", "value"),
    [
        ("nca", {}, "criterion", None),
        ("nca", {}, "criterion", "another"),
        ("mlsvm", {"lam": 0.1}, "neighborhood", None),
        ("mlsvm", {"lam": 0.1}, "neighborhood", "another"),
        ("kernel_mlsvm", {"lam": 0.1, "kernel": "rbf"}, "gamma", 0),
        ("glml", {"query": [0.0, 0.0]}, "priors", []),
        ("lsml", {}, "n_quadruplets", 0),
        ("scml", {"n_neighbors": 1}, "n_basis", 0),
        ("mlkr", {}, "n_components", 3),
        ("nca", {}, "n_components", True),
        ("lfda", {"n_components": 1}, "n_components", 0),
        ("lfda", {"n_components": 1}, "n_components", 3),
        ("glml", {"query": [0.0, 0.0], "alpha": 1.0}, "alpha", -1e-3),
        ("lmnn", {"triplets": [[0, 2, 1]]}, "targets", [[2], *[[]] * 9]),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_not_taken_for_its_default(
    method: str, params: dict[str, Any], name: str, value: Any
) -> None:
    X, y = random_data(0, n=10, d=2, classes=2)
    content = json.loads(json.dumps(cvxml.solve(method, X, y, **params).to_dict()))
    recompute.recompute(content)
    with pytest.raises((ValueError, ArithmeticError)):
        recompute.recompute({**content, "params": {**content["params"], name: value}})


REFUSED_STEPS: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "greedy": ("to 1", lambda c: scaled(c, q=1.1)),
    "negative": ("0 or more", lambda c: scaled(c, q=-1.0)),
    "no-number": ("finite numbers", lambda c: scaled(c, q=float("nan"))),
    "point-left-out": ("to 1", lambda c: c["dual"].update(q=[], q_index=[])),
    "too-few-weights": ("lengths", lambda c: c["dual"]["q"].pop()),
    "itself": (
        "3 points",
        lambda c: c["dual"]["q_index"][0].__setitem__(1, c["dual"]["q_index"][0][0]),
    ),
    "twice": (
        "3 points",
        lambda c: c["dual"]["q_index"][0].__setitem__(1, c["dual"]["q_index"][0][2]),
    ),
    "below": ("3 points", lambda c: c["dual"]["q_index"][0].__setitem__(1, -1)),
    "above": ("3 points", lambda c: c["dual"]["q_index"][0].__setitem__(1, 20)),
    "half-an-index": ("3 points", lambda c: c["dual"]["q_index"][0].__setitem__(1, 0.5)),
    "larger": ("q_index", lambda c: c["dual"]["q_index"][0].append(19)),
    "labels": ("labels", lambda c: c["y"].pop()),
    "other-labels": ("no row", lambda c: c["y"].__setitem__(0, 2)),
    "one-class": ("cannot win", lambda c: c.update(y=[1, *[0] * 19])),
    "C": ("n_neighbors from 1", lambda c: c["params"].update(C=0)),
    "k": ("n_neighbors from 1", lambda c: c["params"].update(n_neighbors=20)),
    "losses": ("loss_matrix", lambda c: c["params"].update(loss_matrix=[[0, 1], [-1, 0]])),
    "losses-diagonal": ("loss_matrix", lambda c: c["params"].update(loss_matrix=[[1, 1], [1, 1]])),
    "unsymmetric": ("not symmetric", lambda c: c["metric"][0].__setitem__(1, 9.0)),
}


@pytest.mark.quick(7)
@pytest.mark.parametrize("case", REFUSED_STEPS)
def test_what_is_no_proof_of_a_step_is_refused_in_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says, change = REFUSED_STEPS[case]
    path = tmp_path / "s.json"
    content = saved_step(path)
    change(content)
    assert says in refusal_of(content, path, capsys)


# the cases whose formula it recomputes by a bound of the problem itself, without lists of neighbours
CONVEX = {*referee.PROBLEMS} - {"mlsvm", "kernel_mlsvm", "ssvm", "nca", "mlkr", "glml"}
RELATIVES = {
    case.id: case for case in load_cases() if case.formula in CONVEX and "not attained" not in case.flags
}


def saved_case(case: Case, path: Path) -> dict[str, Any]:
    """Solve a golden case, save the solution, and return the content of the file."""
    return content_of(cvxml.solve(case.formula, case.X, case.y, **case.params), path)


@pytest.mark.quick(9)  # 8 would all be json
@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", RELATIVES)
def test_it_finds_the_same_figures_of_a_relative(
    name: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = RELATIVES[name]
    solution = cvxml.solve(case.formula, case.X, case.y, **case.params)
    same_figures(solution, str(tmp_path / f"s.{suffix}"))
    assert "proved: optimal" in capsys.readouterr().out


@pytest.mark.quick(1)
@pytest.mark.parametrize("standardized", [True, False])
@pytest.mark.parametrize(
    "method",
    sorted(CONVEX - {"frobmetric", "rtml", "schultz_joachims", "scml", "boostmetric", "plml"}),
)  # whose norm has units
def test_it_finds_the_same_figures_where_pairs_are_made_from_labels(
    method: str, standardized: bool, tmp_path: Path
) -> None:
    """The data are wine: as measured, with features of sizes 1e3 and 1e-1, or standardized."""
    X, y = real_data("wine", 40, standardized=standardized)
    # no metric of GMML is one of other units: its condition grows with the square of their ratio
    apart = 0.0 if method in ("gmml", "mlr") else 6.0  # the trace of MLR has units
    scales = 1.0 if standardized else 10.0 ** np.linspace(-apart, apart, 13)
    # ITML has the units of its prior
    params = {"itml": {"prior": "covariance"}, "ldml": {"b": 1.0}}.get(method, {})
    same_figures(cvxml.solve(method, X * scales + 1e3 * scales, y, **params), str(tmp_path / "s.json"))


PAIRS = {"similar": [[0, 3], [1, 4], [2, 5]], "dissimilar": [[0, 1], [2, 3], [4, 5]]}
PRIOR = [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 0.5]]
# parameters without which the problem is another one, and the metric of the file not optimal for it
READ: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("ldml", {"losses": "means", "b": 1.0}, ("losses",)),
    ("ldml", {"losses": "means", "self_pairs": 0.5}, ("losses", "self_pairs")),
    ("ldml", {"self_pairs": 0.5}, ("self_pairs",)),
    (
        "ldml",
        {"losses": "means", "pairs": PAIRS, "weights": [3.0, 0.1, 1.0, 1.0, 0.7, 2.0], "b": 1.0},
        ("weights",),
    ),
    ("lsml", {"losses": "sum", "n_quadruplets": 40}, ("losses",)),
    ("gmml", {"mu": 20.0, "prior": PRIOR}, ("prior", "mu")),
]


@pytest.mark.parametrize(("method", "params", "names"), READ)
def test_a_parameter_that_may_be_missing_is_read(
    method: str, params: dict[str, Any], names: tuple[str, ...], tmp_path: Path
) -> None:
    """With the parameter the figures agree. A file without it, or with another value, is not proved."""
    X, y = random_data(8, n=14, d=3, classes=2)
    solution = cvxml.solve(method, X, y, tol=1e-8, **params)
    same_figures(solution, str(path := tmp_path / "s.json"))
    content = json.loads(path.read_text(encoding="utf-8"))
    for name in names:
        others = {k: v for k, v in content["params"].items() if k != name}
        assert not is_proved({**content, "params": others}, path)
        for other in ("another", -1.0):
            assert not is_proved({**content, "params": {**others, name: other}}, path)


@pytest.mark.parametrize("method", referee.PROBLEMS)
def test_the_parameters_of_every_method_are_known_and_no_others(method: str) -> None:
    """If recompute.py ignored a parameter, it would prove another problem than that of the file."""
    kind = referee.PROBLEMS[method]
    assert set(get(method).PARAMETERS) - {"neighbors"} == kind.READS | kind.NAMES
    assert not kind.READS & kind.NAMES
    with pytest.raises(ValueError, match="another_one"):
        recompute.recompute({"method": method, "params": {"another_one": 1.0}, "dual": {}})


@pytest.mark.slow
def test_it_finds_the_same_figures_of_many_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.core.pairs.MAX_POINTS_LISTED", 10)
    X, y = random_data(3, n=30, d=3)
    for method, name in (("mmc", "metric"), ("dml_eig", "q_index")):
        solution = cvxml.solve(method, X, y, tol=1e-7)
        assert name in solution.dual
        content = content_of(solution, path := tmp_path / f"{method}.json")
        same_figures(solution, str(path))
        content["dual"][name] = [[0, 0]]
        assert not is_proved(content, path)


UNATTAINED: dict[str, tuple[str, dict[str, Any]]] = {
    # the second feature moves the dissimilar pair apart at no cost
    "across": (
        "ldml",
        {
            "X": [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 1.0]],
            "pairs": {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3], [3, 4], [0, 5]]},
            "b": 1.0,
        },
    ),
    # margins of 3 and 8 times the metric, v = v* = 3: log(1 + exp(-5 m)) falls for ever
    "threshold": (
        "boostmetric",
        {"X": [[0.0], [1.0], [2.0], [3.0]], "triplets": [[0, 1, 2], [0, 1, 3]], "v": 3.0},
    ),
}


@pytest.mark.parametrize("name", UNATTAINED)
def test_a_metric_next_to_an_infimum_that_none_attains_is_not_called_optimal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method, asked = UNATTAINED[name]
    with pytest.warns(match="not attained"):
        solution = cvxml.solve(method, asked["X"], None, **{k: v for k, v in asked.items() if k != "X"})
    content = content_of(solution, path := tmp_path / "s.json")
    if name == "threshold":  # as far out as it takes
        content |= {"metric": [[8.0]], "dual": {"price": [1.0], "triplets": [[0, 1, 2]]}}
    _, _, gap, _, scale = recompute.recompute(content)
    assert 0 <= gap <= 1e-6 * scale  # of the infimum it is proved
    assert not is_proved(content, path)
    assert "not proved" in capsys.readouterr().out


def test_pairs_that_the_metric_separates_are_seen() -> None:
    """If all similar distances are below all dissimilar ones, LDML with a free b has no optimum."""
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3]]}
    content = {"method": "ldml", "X": [[0.0], [1.0], [2.0], [4.0]], "y": [0] * 4, "metric": [[1.0]]}

    def unattained(**params: Any) -> bool:
        problem = referee.problem_of({**content, "params": params, "dual": {}})
        return bool(problem.unattained(content["metric"]))

    assert unattained(pairs=pairs, b="free")
    assert not unattained(pairs=pairs, b=1.0)
    meeting = {**pairs, "dissimilar": [[1, 2]]}  # all at the same distance
    assert not unattained(pairs=meeting, b="free")
    assert unattained(pairs=meeting, b="free", self_pairs=0.5)


def same_figures(solution: cvxml.Solution, path: str) -> None:
    """Save a solution, and assert that recompute.py finds the figures of the solution and proves it."""
    solution.save(path)
    objective, bound, gap, least, scale = recompute.recompute(recompute.read(path))
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert bound == pytest.approx(solution.lower_bound, rel=1e-9)
    assert gap == pytest.approx(solution.gap, abs=1e-9 * abs(objective))
    assert scale == pytest.approx(solution.certificate.scale, rel=1e-6)
    assert least >= -1e-9 * np.linalg.norm(solution.metric)
    assert recompute.main(path)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", RELATIVES)
def test_it_does_not_prove_what_is_wrong_of_a_relative(name: str, tmp_path: Path) -> None:
    """Wrong files: the wrong metrics of the case, dual variables a tenth smaller, and other points."""
    path, case = tmp_path / "s.json", RELATIVES[name]
    content = saved_case(case, path)
    assert recompute.main(str(path))
    others = [{**content, "metric": wrong["metric"]} for wrong in case.content["wrong"]]
    assert others
    if case.formula in (
        "lmnn",
        "lmnn:squared_hinge",
        "itml",
        "lsml",
    ):  # of the others every multiple is as good
        smaller = {
            name: (0.9 * np.array(v)).tolist() if np.array(v).dtype.kind == "f" else v
            for name, v in content["dual"].items()
        }
        others.append({**content, "dual": smaller})
    elsewhere = np.array(content["X"])
    # a point that counts: of a pair, of a triplet, a quadruplet or a query that has a price
    params, dual = content["params"], content["dual"]
    priced = [dual["triplets"][int(np.argmax(dual["price"]))]] if "triplets" in params else [[0, 1]]
    if "quadruplets" in params:
        priced = [params["quadruplets"][int(np.argmax(dual["s"]))]]
    if "rankings" in dual:
        priced = [dual["rankings"][int(np.argmax(dual["price"]))]]
    elsewhere[params.get("pairs", {}).get("similar", priced)[0][0]] += 0.2
    others.append({**content, "X": elsewhere.tolist()})
    for changed in others:
        assert not is_proved(changed, path), changed


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["mcml-sizes", "lmnn-iris", "mmc-iris", "dml-eig-iris"])
def test_what_rounding_may_make_of_a_metric_is_still_one(name: str, tmp_path: Path) -> None:
    """In small units a metric is large. A negative eigenvalue that is small relative to the norm is accepted."""
    path, case = tmp_path / "s.json", RELATIVES[name]
    content = content_of(cvxml.solve(case.formula, 1e-5 * np.array(case.X), case.y, **case.params), path)
    values, vectors = np.linalg.eigh(content["metric"])
    error = values[0] + 1e-10 * values[-1]
    metric = content["metric"] - error * np.outer(vectors[:, 0], vectors[:, 0])
    assert is_proved({**content, "metric": metric.tolist()}, path)
    assert recompute.recompute(recompute.read(path.as_posix()))[3] < -1e-2 * 1e-10 * values[-1]
    metric -= 1e-4 * values[-1] * np.outer(vectors[:, 0], vectors[:, 0])
    assert not is_proved({**content, "metric": metric.tolist()}, path)


def put(content: dict[str, Any], name: str, at: int, value: Any) -> None:
    content["dual"][name][at] = value


REFUSED_RELATIVES: dict[str, tuple[str, str, Callable[[dict[str, Any]], object]]] = {
    "lmnn-greedy": ("lmnn-line", "dual cone", lambda c: scaled(c, price=1.1)),
    "lmnn-negative": ("lmnn-iris", "0 to mu", lambda c: put(c, "price", 0, -0.1)),
    "lmnn-above-mu": ("lmnn-iris", "0 to mu", lambda c: put(c, "price", 0, 0.41)),
    "lmnn-twice": ("lmnn-iris", "twice", lambda c: put(c, "triplets", 0, c["dual"]["triplets"][1])),
    "lmnn-no-target": ("lmnn-iris", "not a triplet", lambda c: c["dual"]["triplets"][0].__setitem__(1, 21)),
    "lmnn-no-impostor": (
        "lmnn-iris",
        "not a triplet",
        lambda c: c["dual"]["triplets"][0].__setitem__(2, c["dual"]["triplets"][0][1]),
    ),
    "lmnn-beyond": ("lmnn-iris", "of the triplets", lambda c: c["dual"]["triplets"][0].__setitem__(2, 22)),
    "lmnn-no-number": ("lmnn-iris", "finite numbers", lambda c: put(c, "price", 0, float("nan"))),
    "lmnn-other-class": ("lmnn-iris", "not of the class", lambda c: c["y"].__setitem__(0, 2)),
    "lmnn-mu": ("lmnn-iris", "mu", lambda c: c["params"].update(mu=1.0)),
    "lmnn-targets": ("lmnn-iris", "21 neighbour lists", lambda c: c["params"]["targets"].pop()),
    "lmnn-triplet-twice": (
        "lmnn-triplets",
        "listed twice",
        lambda c: c["params"]["triplets"].append(c["params"]["triplets"][0]),
    ),
    "lmnn-triplet-itself": (
        "lmnn-triplets",
        "contains the point",
        lambda c: c["params"]["triplets"][0].__setitem__(1, c["params"]["triplets"][0][0]),
    ),
    "lmnn-unlisted": (
        "lmnn-triplets",
        "not a triplet",
        lambda c: c["params"]["triplets"].remove(c["dual"]["triplets"][0]),
    ),
    "squared-greedy": ("lmnn-squared-wine", "dual cone", lambda c: scaled(c, price=1.1)),
    "itml-negative": ("itml-iris", "at least 0", lambda c: put(c, "lam_D", 0, -0.1)),
    "itml-beyond": ("itml-iris", "gamma/u", lambda c: put(c, "lam_S", 0, 1.0)),
    "itml-indefinite": ("itml-iris", "definite", lambda c: scaled(c, lam_D=30.0)),
    "itml-too-few": ("itml-iris", "numbers", lambda c: c["dual"]["lam_S"].pop()),
    "itml-prior": ("itml-iris", "definite", lambda c: c["params"]["prior"][0].__setitem__(0, -1.0)),
    "itml-gamma": ("itml-iris", "greater than 0", lambda c: c["params"].update(gamma=0.0)),
    "itml-itself": ("itml-iris", "with itself", lambda c: c["params"]["pairs"]["similar"].append([3, 3])),
    "itml-pair-beyond": (
        "itml-iris",
        "of the pairs",
        lambda c: c["params"]["pairs"]["similar"].append([3, 22]),
    ),
    "mmc-negative": ("mmc-iris", "greater than 0", lambda c: put(c, "c", 0, -1.0)),
    "mmc-too-few": ("mmc-iris", "numbers", lambda c: c["dual"]["c"].pop()),
    "mmc-free": ("mmc-collinear", "no bound", lambda c: c["X"][3].__setitem__(0, 7.0)),
    "mmc-not-diagonal": (
        "mmc-diagonal-wine",
        "not diagonal",
        lambda c: [c["metric"][i].__setitem__(1 - i, 1e-3) for i in (0, 1)],
    ),
    "dml-eig-negative": ("dml-eig-iris", "the sum 1", lambda c: put(c, "q", 0, -0.1)),
    "dml-eig-sum": ("dml-eig-iris", "the sum 1", lambda c: scaled(c, q=0.9)),
    "mcml-negative": ("mcml-sizes", "simplex", lambda c: c["dual"]["q"][0].__setitem__(1, -0.1)),
    "mcml-itself": ("mcml-sizes", "must be 0", lambda c: c["dual"]["q"][0].reverse()),
    "mcml-cone": ("mcml-sizes", "dual cone", lambda c: c["dual"]["q"].__setitem__(0, FAR)),
    "mcml-shape": ("mcml-sizes", "row of q", lambda c: c["dual"]["q"].pop()),
    "boostmetric-sum": ("boostmetric-iris", "simplex", lambda c: put(c, "price", 0, 1.5)),
    "frobmetric-above": ("frobmetric-iris", "from 0 to", lambda c: put(c, "price", 0, 20.0)),
    "rtml-above": ("rtml-iris", "from 0 to", lambda c: put(c, "price", 0, 1.5)),
    "ldml-above": ("ldml-iris", "from 0 to", lambda c: put(c, "a", 0, 2.0)),
    "ldml-unbalanced": ("ldml-iris", "same sum", lambda c: put(c, "a", 0, 0.5)),
    "ldml-above-fixed": ("ldml-line", "from 0 to", lambda c: put(c, "a", 0, 2.0)),
    "lsml-above": ("lsml-iris", "an s", lambda c: put(c, "s", 0, 1.0)),
    "lsml-negative": ("lsml-iris", "an s", lambda c: put(c, "s", 0, -0.1)),
    "unsymmetric": ("mcml-sizes", "not symmetric", lambda c: c["metric"][0].__setitem__(1, 9.0)),
    "another-shape": ("mcml-sizes", "must be (3, 3)", lambda c: c.update(metric=[[1.0]])),
}
FAR = [0.0] * 18 + [1.0]  # all on the last point


@pytest.mark.quick(7)
@pytest.mark.parametrize("case", REFUSED_RELATIVES)
def test_what_is_no_proof_of_a_relative_is_refused_in_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, says, change = REFUSED_RELATIVES[case]
    path = tmp_path / "s.json"
    content = saved_case(RELATIVES[name], path)
    change(content)
    assert says in refusal_of(content, path, capsys)


# other fields than the lists they name, and lists that nothing names any more
EDITED: dict[str, tuple[str, str, Callable[[dict[str, Any]], object]]] = {
    "plml-lam1": ("plml", "weights", lambda c: c["params"].update(lam1=1.5)),
    "plml-lam2": ("plml", "weights", lambda c: c["params"].update(lam2=90.0)),
    "plml-graph": ("plml", "weights", lambda c: c["params"].update(graph_neighbors=3)),
    "plml-anchors": ("plml", "weights", lambda c: c["params"]["anchors"][0].__setitem__(0, 9.0)),
    "plml-number": ("plml", "triplets", lambda c: c["params"].update(n_neighbors=1)),
    "mlr-labels": ("mlr", "relevant", lambda c: c.update(y=swapped(c["y"]))),
    "lsml-labels": ("lsml", "quadruplets", lambda c: c.update(y=swapped(c["y"]))),
    "lsml-seed": ("lsml", "quadruplets", lambda c: c["params"].update(random_state=1)),
    "lsml-count": ("lsml", "quadruplets", lambda c: c["params"].update(n_quadruplets=50)),
    "scml-count": ("scml", "basis", lambda c: c["params"].update(n_basis=11)),
    "scml-basis": ("scml", "basis", lambda c: c["params"]["basis"].reverse()),
    "lmnn-number": ("lmnn", "targets", lambda c: c["params"].update(n_neighbors=1)),
    "frobmetric-labels": ("frobmetric", "triplets", lambda c: c.update(y=swapped(c["y"]))),
    "mlsvm-number": ("mlsvm", "neighbors", lambda c: c["params"].update(n_neighbors=3)),
    "mlsvm-kind": ("mlsvm", "neighbors", lambda c: c["params"].update(neighborhood="per-class")),
    "unknown": ("mlr", "derived", lambda c: c["derived"].append("C")),
}


@cache
def of_example(method: str) -> dict[str, Any]:
    """Return the content of the file of a solution, for the first tested example of a method."""
    example = next(each for each in get(method).EXAMPLES if each.use == "tested")
    X, y = datasets.of_example(example)
    content: dict[str, Any] = json.loads(json.dumps(cvxml.solve(method, X, y, **example.params).to_dict()))
    return content


@pytest.mark.quick(8)
@pytest.mark.parametrize("case", EDITED)
def test_a_list_is_the_one_that_the_other_fields_name(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method, names, change = EDITED[case]
    path, content = tmp_path / "s.json", copy.deepcopy(of_example(method))
    assert is_proved(content, path)
    change(content)
    capsys.readouterr()
    assert not is_proved(content, path)
    assert names in capsys.readouterr().out


@pytest.mark.quick(2)
@pytest.mark.parametrize("exponent", [-50, -30, -24, -17])
def test_prices_where_targets_are_next_to_a_line_are_no_proof(
    exponent: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Z is psd but for 6e-14 of its size; a steep metric, which it says nothing of, has objective 8 and not 50
    delta = 2.0**exponent
    X = np.array([[0, 0], [1, delta], [0, 1], [1, 1 - delta], *[[0.5, 0]] * 100])
    y, targets = [0, 0, 2, 2, *[1] * 100], [[1], [], [3], [], *[[]] * 100]
    path = tmp_path / "s.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = content_of(cvxml.solve("lmnn", X, y, targets=targets, max_iter=3), path)
    triplets = [[0, 1, k] for k in range(4, 104)]
    content["dual"] = {"price": [0.5] * 100, "triplets": triplets}
    assert not is_proved(content, path)
    assert "dual cone" in capsys.readouterr().out


@pytest.mark.quick(30)
@pytest.mark.parametrize("seed", range(100))
def test_prices_just_beyond_the_cone_are_refused_where_targets_are_near_a_line(seed: int) -> None:
    # C has eigenvalues in the ratio 1e-12 to 1e-10: the digits of the lesser are lost in C, and not in the pairs
    rng = np.random.default_rng(seed)
    angle, k, width = rng.uniform(0, 2 * np.pi), rng.integers(3, 40), 10 ** rng.uniform(-5.9, -5)
    across = np.array([np.cos(angle), np.sin(angle)])
    along = np.array([-across[1], across[0]])
    ends = np.outer(rng.standard_normal(k), along) + width * np.outer(rng.standard_normal(k), across)
    points = np.concatenate([np.zeros((1, 2)), ends, width * across[None]])
    exact = fractions(points)
    (a, b), (_, c) = exact[1:-1].T @ exact[1:-1] / 2
    near, far = exact[1], exact[-1]
    # in units of C the difference of near near^T and far far^T has two eigenvalues; 1 / the lesser is the most allowed
    inverse = np.array([[c, -b], [-b, a]]) / (a * c - b * b)
    p, q, r = near @ inverse @ near, near @ inverse @ far, far @ inverse @ far
    middle, half = (r - p) / 2, math.sqrt(((p + r) / 2) ** 2 - q**2)
    most = 1 / (float(middle) + half)
    n = len(points)
    content = {
        "method": "lmnn:squared_hinge",
        "X": points.tolist(),
        "y": [0] * (n - 1) + [1],
        "metric": [[0.0, 0.0], [0.0, 0.0]],
        "params": {"mu": 0.5, "targets": [list(range(1, n - 1)), *[[] for _ in range(n - 1)]]},
        "dual": {"triplets": [[0, 1, n - 1]], "price": [1.00001 * most]},
    }
    with pytest.raises(ValueError, match="dual cone"):
        recompute.recompute(content)
    content["dual"]["price"] = [0.99999 * most]
    assert recompute.recompute(content)[1] == pytest.approx(
        0.99999 * most - (0.99999 * most) ** 2 / 2, abs=1e-6 * most
    )


def test_an_optimised_python_refuses_as_well(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    content = saved(path)
    metric, total, bound = 2 * np.array(content["metric"]), sum(content["dual"]["u"]), content["lower_bound"]
    wrong = cvxml.evaluate("mlsvm", content["X"], content["y"], metric, lam=0.1).objective
    # prices t times too high have the bound t total - t^2 (total - bound): chosen to meet the wrong metric's objective
    t = min(np.roots([total - bound, -total, wrong]).real)
    scaled(content, u=t, w=t)
    path.write_text(json.dumps({**content, "metric": metric.tolist()}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-O", str(PATH), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("not proved: ")
    assert "above 1/n" in done.stdout
    assert done.stderr == ""


def test_what_is_beside_a_small_entry_is_not_judged_by_the_largest() -> None:
    X, y = random_data(0, 12, 2)
    solution = cvxml.solve("mmc:diagonal", X * [1.0, 2.0**50], y, tol=1e-9)
    content = solution.to_dict()
    recompute.recompute(content)
    A = solution.metric.copy()
    A[0, 1] = A[1, 0] = 9e-7 * A[0, 0]
    assert A[0, 0] * A[1, 1] < A[0, 1] ** 2
    with pytest.raises(ValueError, match="not diagonal"):
        recompute.recompute({**content, "metric": A.tolist()})


def test_a_prior_that_is_not_symmetric_is_refused() -> None:
    X, y = random_data(0, 10, 2)
    content = cvxml.solve("itml", X, y).to_dict()
    recompute.recompute(content)
    skew = np.array([[0.0, 0.1], [-0.1, 0.0]])
    content["params"]["prior"] = (np.array(content["params"]["prior"]) + skew).tolist()
    with pytest.raises(ValueError, match=r"prior.*symmetric"):
        recompute.recompute(content)


# Files that were proved falsely, because numbers of 60 digits, or multiples of 2^-160, are too coarse for their data.
TOO_COARSE: dict[str, dict[str, Any]] = {
    # sqrt(D_01) = 2^206 + 2 and sqrt(D_02) = 2^206: the loss is 4, and not 0
    "roots that agree to 60 digits": {
        "method": "lsml",
        "X": [[0.0, 0.0], [2.0**206, 2.0**104], [2.0**206, 0.0]],
        "y": [0, 0, 1],
        "metric": [[1.0, 0.0], [0.0, 1.0]],
        "params": {"prior": [[1.0, 0.0], [0.0, 1.0]], "quadruplets": [[0, 1, 0, 2]], "weights": [1.0]},
        "dual": {"s": [0.0]},
    },
    # exp(-10.4^2) and exp(-10.399^2) are 15 multiples of 2^-160, and differ by 2 %: the first axis is worse by that
    "affinities that agree to one digit": {
        "method": "lfda",
        "X": [
            [0, 0, 0],
            [0, 0, 1],
            [10.4, 0, 0],
            [10.4, 0, 1],
            [0, 10.399, 0],
            [0, 10.399, 1],
            [0, 0, 3],
            [0, 0, 4],
        ],
        "y": [0, 0, 0, 0, 0, 0, 1, 1],
        "metric": [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
        "params": {"n_components": 1, "n_neighbors": 1, "embedding": "orthonormal", "alpha": 0.0},
        "dual": {"s": [1.09612623e47]},
    },
}


@pytest.mark.parametrize("name", TOO_COARSE)
def test_a_file_is_not_proved_by_numbers_that_are_too_coarse(name: str) -> None:
    _, _, gap, _, scale = recompute.recompute(TOO_COARSE[name])
    assert gap > 1e-2 * scale


def test_an_affinity_that_is_too_small_is_refused() -> None:
    """The affinity of points apart in the first two features is exp(-1000), which has no digits here."""
    content = copy.deepcopy(TOO_COARSE["affinities that agree to one digit"])
    content["X"] = [[3 * a, 3 * b, c] for a, b, c in content["X"]]
    with pytest.raises(ValueError, match="S_w"):
        recompute.recompute(content)


def test_a_label_of_minus_1_is_a_chunklet_unless_chunklets_are_given() -> None:
    X, y = random_data(0, n=10, d=2, classes=2)
    solution = cvxml.solve("rca", X, y)
    content = {**json.loads(json.dumps(solution.to_dict())), "y": [int(label) - 1 for label in y]}
    assert float(recompute.recompute(content)[0]) == pytest.approx(solution.objective, rel=1e-9)


def of_curve(columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return points (14, columns) with few bits, and real targets.

    The fourth feature is the sum of the first two.
    """
    rng = np.random.default_rng(2)
    X = np.round(rng.standard_normal((14, 3)) * 2**20) / 2**20
    y = X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(14)
    return np.column_stack([X, X[:, 0] + X[:, 1]])[:, :columns], y


FIRST_ORDER: dict[str, tuple[str, tuple[Any, Any], dict[str, Any]]] = {
    "mlkr": ("mlkr", of_curve(), {}),
    "mlkr-2": ("mlkr", of_curve(), {"n_components": 2}),
    "mlkr-dependent-1": ("mlkr", of_curve(4), {"n_components": 1}),
    "nca-f-1": ("nca", random_data(3, n=24, d=3, classes=3), {"n_components": 1}),
    "nca-g-2": ("nca", random_data(7, n=24, d=3, classes=2), {"n_components": 2, "criterion": "g"}),
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", [name for name in FIRST_ORDER if name != "mlkr"])
def test_it_proves_what_is_stationary_to_first_order(
    name: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method, (X, y), params = FIRST_ORDER[name]
    solution = cvxml.solve(method, X, y, **params)
    assert solution.certificate.stationarity is not None
    path = str(tmp_path / f"s.{suffix}")
    solution.save(path)
    objective, _, gap, least, scale = recompute.recompute(recompute.read(path))
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert 0 <= gap <= 1e-6 * scale
    assert scale == pytest.approx(solution.certificate.stationarity.of, rel=1e-6)
    assert least >= -1e-9 * np.linalg.norm(solution.metric)
    assert recompute.main(path)
    assert "first order" in capsys.readouterr().out


def metrics(d: int, n_components: int) -> list[np.ndarray]:
    """Return metrics (d, d) with few bits and a rank of at most n_components."""
    rows = np.array([[0.5, -0.25, 0.75, 0.25], [0.25, 1.0, 0.0, 0.5], [1.0, 0.5, -0.25, 0.0]])[
        :n_components, :d
    ]
    return [A.T @ A for A in (rows, 0.125 * rows, 1.75 * rows, rows[:1], 0 * rows)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", FIRST_ORDER)
def test_what_is_won_to_first_order_is_that_of_the_exact_mode(name: str) -> None:
    """Exact mode is an independent computation, in balls. The metrics have few bits, so both judge the same ones."""
    method, (X, y), params = FIRST_ORDER[name]
    for metric in metrics(X.shape[1], params.get("n_components", 3)):
        stored = {"n_components": X.shape[1], **params}
        if method == "nca":
            stored = {"criterion": "f", "similarity": None, **stored}
        content = {"method": method, "X": X, "y": y, "metric": metric, "params": stored, "dual": {}}
        objective, _, gap, _, scale = recompute.recompute(content)
        exact = exact_of(method, X, y, metric, {}, **params)
        assert float(objective) == pytest.approx(float(exact.objective), rel=1e-9)
        assert float(gap) == pytest.approx(float(exact.gap), rel=1e-7)
        assert float(scale) == pytest.approx(float(exact.scale), rel=1e-7)
        assert gap > 1e-6 * scale


REFUSED_FIRST_ORDER: dict[str, tuple[str, str, Callable[[dict[str, Any]], object]]] = {
    "longer": ("mlkr-2", "not proved", lambda c: c.update(metric=(1.01 * np.array(c["metric"])).tolist())),
    "zero": ("mlkr-2", "not proved", lambda c: c.update(metric=[[0.0] * 3] * 3)),
    "far-out": ("mlkr-2", "not proved", lambda c: c.update(metric=(1e9 * np.array(c["metric"])).tolist())),
    "another-target": ("mlkr-2", "not proved", lambda c: c["y"].__setitem__(0, 0.0)),
    "another-point": ("mlkr-2", "not proved", lambda c: c["X"][3].__setitem__(0, 0.5)),
    "less-rank-is-asked-for": ("mlkr-2", "not proved", lambda c: c["params"].update(n_components=1)),
    "indefinite": ("mlkr-2", "not psd", lambda c: c["metric"][0].__setitem__(0, -9.0)),
    "no-rank": ("mlkr-2", "n_components", lambda c: c["params"].update(n_components=0)),
    "one-target": ("mlkr-2", "the same", lambda c: c.update(y=[1.0] * 14)),
    "too-few-targets": ("mlkr-2", "targets", lambda c: c["y"].pop()),
    "nca-longer": (
        "nca-f-1",
        "not proved",
        lambda c: c.update(metric=(1.1 * np.array(c["metric"])).tolist()),
    ),
    "nca-free": ("nca-g-2", "not proved", lambda c: c["params"].update(n_components=3)),
    "nca-another-label": ("nca-g-2", "not proved", lambda c: c["y"].__setitem__(0, 1)),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("case", REFUSED_FIRST_ORDER)
def test_what_is_not_stationary_is_not_proved(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, says, change = REFUSED_FIRST_ORDER[case]
    method, (X, y), params = FIRST_ORDER[name]
    path = tmp_path / "s.json"
    content = content_of(cvxml.solve(method, X, y, **params), path)
    assert recompute.main(str(path))
    change(content)
    capsys.readouterr()
    assert not is_proved(content, path)
    assert says in capsys.readouterr().out
