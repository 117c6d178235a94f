"""validation/recompute.py, which imports nothing of ours, agrees with the package and refuses what is false."""

from __future__ import annotations

import ast
import importlib.util
import json
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


def test_it_refuses_a_worse_metric_and_an_infeasible_dual(tmp_path: Path) -> None:
    X, y = real_data("iris", 40)
    path = tmp_path / "s.json"
    cvxml.solve("mlsvm", X, y, lam=0.1).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    module = recompute()
    worse = {**content, "metric": (1.01 * np.array(content["metric"])).tolist()}
    path.write_text(json.dumps(worse), encoding="utf-8")
    assert not module.main(str(path))
    dual = content["dual"]
    greedy = {
        **content,
        "dual": {**dual, "u": [1.1 * v for v in dual["u"]], "w": [1.1 * v for v in dual["w"]]},
    }
    with pytest.raises(AssertionError, match="above 1/n"):
        module.recompute(greedy)
    unbalanced = {**content, "dual": {**dual, "u": [0.9 * v for v in dual["u"]]}}
    with pytest.raises(AssertionError, match="differ"):
        module.recompute(unbalanced)
