"""validation/recompute.py, which imports nothing of ours, agrees with the package and refuses what is false."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cvxml
from tests.instances import real_data

PATH = Path(__file__).parent.parent / "validation" / "recompute.py"


def recompute() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recompute", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_imports_numpy_and_the_standard_library_only() -> None:
    tree = ast.parse(PATH.read_text(encoding="utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert names == {"json", "sys", "numpy"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


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
    module = recompute()
    objective, bound, gap, least, scale = module.recompute(module.read(path))
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert bound == pytest.approx(solution.lower_bound, rel=1e-9)
    assert gap == pytest.approx(solution.gap, abs=1e-9 * objective)
    assert scale == pytest.approx(solution.certificate.scale, rel=1e-6)
    assert least >= -1e-9
    assert module.main(path)


def saved(path: Path) -> dict[str, Any]:
    X, y = real_data("iris", 40)
    cvxml.solve("mlsvm", X, y, lam=0.1).save(path)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_it_does_not_prove_a_worse_metric(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    content = saved(path)
    worse = {**content, "metric": (1.01 * np.array(content["metric"])).tolist()}
    path.write_text(json.dumps(worse), encoding="utf-8")
    assert not recompute().main(str(path))


def scaled(content: dict[str, Any], **factors: float) -> None:
    for name, factor in factors.items():
        content["dual"][name] = [factor * v for v in content["dual"][name]]


REFUSED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "greedy": ("above 1/n", lambda c: scaled(c, u=1.1, w=1.1)),
    "unbalanced": ("differ", lambda c: scaled(c, u=0.9)),
    "negative": ("negative", lambda c: scaled(c, u=-1.0)),
    "no-number": ("no number", lambda c: scaled(c, u=float("nan"))),
    "off-the-lists": ("not a pair of neighbours", lambda c: c["dual"]["u_index"][0].reverse()),
    "half-an-index": ("not a pair of neighbours", lambda c: c["dual"]["u_index"][0].__setitem__(1, 0.5)),
    "wrong-kind": ("wrong kind", lambda c: c["dual"]["u_index"].__setitem__(0, c["dual"]["w_index"][0])),
    "too-few-prices": ("shorter", lambda c: c["dual"]["u"].pop()),
    "too-few-lists": ("39 neighbour lists for 40 points", lambda c: c["neighbors"].pop()),
    "too-many-lists": ("41 neighbour lists", lambda c: c["neighbors"].append([])),
    "itself": ("the point itself", lambda c: c["neighbors"][3].append(3)),
    "twice": ("twice", lambda c: c["neighbors"][3].append(c["neighbors"][3][0])),
    "below": ("leaves 0..39", lambda c: c["neighbors"][3].append(-1)),
    "above": ("leaves 0..39", lambda c: c["neighbors"][3].append(40)),
    "labels": ("39 labels", lambda c: c["y"].pop()),
    "lam": ("above 0", lambda c: c["params"].update(lam=0)),
    "unsymmetric": ("not symmetric", lambda c: c["metric"][0].__setitem__(1, 9.0)),
    "method": ("not known", lambda c: c.update(method="lmnn")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_proof_is_refused_in_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says, change = REFUSED[case]
    path = tmp_path / "s.json"
    content = saved(path)
    change(content)
    module = recompute()
    with pytest.raises(ValueError, match=says):
        module.recompute(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert not module.main(str(path))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("not proved: ")
    assert says in line


@pytest.mark.parametrize("text", ["", "null", "{}", "[]", '{"X": [[0]], "metric": [[0]]}'])
def test_what_is_no_solution_is_refused_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.json"
    path.write_text(text, encoding="utf-8")
    assert not recompute().main(str(path))
    assert len(capsys.readouterr().out.splitlines()) == 1


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
