"""Test the objective and the solvers of benchmark_metric_learning, with a stand-in for benchopt.

If benchopt is installed, the benchmark also runs with it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.instances import random_data
from tests.loaded import module_of

FOLDER = Path(__file__).parent / "benchmark_metric_learning"


def loaded(monkeypatch: pytest.MonkeyPatch, path: str, kind: str, **params: Any) -> Any:
    """Return an object of the class `kind` in the file `path`, with `params` as its attributes.

    benchopt makes its objects in this way; here a stand-in takes the place of benchopt.
    """
    stand_in: Any = types.ModuleType("benchopt")
    stand_in.safe_import_context = contextlib.nullcontext
    stand_in.BaseObjective = stand_in.BaseSolver = stand_in.BaseDataset = object
    monkeypatch.setitem(sys.modules, "benchopt", stand_in)
    made = getattr(module_of(FOLDER / path, "loaded"), kind)()
    for name, value in params.items():
        setattr(made, name, value)
    return made


def value_of(objective: Any, solver: Any, stop: Any) -> float:
    solver.set_objective(**objective.get_objective())
    solver.run(stop)
    return float(objective.evaluate_result(**solver.get_result())["value"])


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", ["lmnn", "itml"])
def test_solvers_that_are_right_come_to_the_bound_and_euclid_does_not(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(3, 14, 2)
    objective = loaded(monkeypatch, "objective.py", "Objective", method=method)
    objective.set_data(X, y)
    euclid = objective.evaluate_result(**objective.get_one_result())
    assert euclid["value"] > 1e-2
    assert euclid["objective"] > euclid["lower_bound"]
    own = loaded(monkeypatch, "solvers/cvxml_fast.py", "Solver")
    assert 0 <= value_of(objective, own, 1e-6) < 1e-5
    literal = loaded(monkeypatch, "solvers/cvxpy_literal.py", "Solver", backend="CLARABEL")
    assert 0 <= value_of(objective, literal, None) < 1e-4
    assert literal.skip(**objective.get_objective()) == (False, None)


def test_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = loaded(monkeypatch, "datasets/simulated.py", "Dataset", n=30, d=4, random_state=0)
    assert simulated.get_data()["X"].shape == (30, 4)
    uci = loaded(monkeypatch, "datasets/uci.py", "Dataset", table="wine", every=2).get_data()
    assert uci["X"].shape == (89, 13)
    assert np.allclose(uci["X"].mean(axis=0), 0, atol=1e-3)


@pytest.mark.skipif(importlib.util.find_spec("benchopt") is None, reason="benchopt is not installed")
def test_benchopt_runs_it(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "benchopt",
        "run",
        str(FOLDER),
        "-d",
        "simulated[n=24,d=3]",
        "-s",
        "cvxml",
    ]
    limits = ["-n", "1", "--no-plot", "--no-html", "--output", str(tmp_path / "out")]
    done = subprocess.run(command + limits, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("out*.parquet"))
