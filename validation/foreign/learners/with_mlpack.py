"""mlpack's LMNN and NCA, as they return it: see record.py. ../requirements_mlpack.txt has the versions.

Its Python functions give the transpose of the matrix that its C++ has: a point is a column there and a row here. With
`output` K, a point x becomes x K, and M = K K^T; `transformed` is how far the package's own transformed data are off.
mlpack_functions.cpp calls what the package's headers define: a C++ compiler, and the headers of Armadillo and cereal.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # its sums are atomic, and change with the order of threads

from typing import Any

import mlpack
import numpy as np
from record import Data, run, watched, write

SEED = 1  # 0 would be the time


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    runs = [each for name in ("iris", "wine") for each in all_runs(data[name])]
    return runs, {"functions": functions(data["wine"])}


def functions(data: Data) -> dict[str, list[float]]:
    """The lines of mlpack_functions.cpp, by name."""
    headers = Path(mlpack.__file__).parent / "include"
    source = Path(__file__).parent / "mlpack_functions.cpp"
    with tempfile.TemporaryDirectory() as folder:
        program, points = Path(folder) / "functions", Path(folder) / "points.txt"
        # ensmallen.hpp is for optimizers, of which none is used: an empty file stands in for it, and tuning is left out
        (Path(folder) / "ensmallen.hpp").write_text("namespace ens {}\n")
        flags = ["-std=c++17", "-O1", "-fopenmp", "-DMLPACK_CORE_HPT_HPT_HPP", f"-I{headers}", f"-I{folder}"]
        subprocess.run(["g++", *flags, source, "-o", program, "-llapack", "-lblas"], check=True)
        np.savetxt(points, np.column_stack([data.y, data.X]), fmt="%.17g")
        out = subprocess.run([program, points], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[float]] = {}
    for line in out.splitlines():
        name, value = line.split()
        found.setdefault(name, []).append(float(value))
    return found


def all_runs(data: Data) -> list[dict[str, Any]]:
    """LMNN with k = 3, the others' default, and NCA; both with their default optimizer and with L-BFGS."""
    k = data.more["near"].shape[1]
    targets = {"targets": data.more["near"]}
    return [
        fit("LMNN", mlpack.lmnn, "default", data, k=k, **targets),
        fit("LMNN", mlpack.lmnn, "1000 passes", data, k=k, passes=1000, **targets),
        fit("LMNN", mlpack.lmnn, "lbfgs", data, k=k, optimizer="lbfgs", **targets),
        fit("LMNN", mlpack.lmnn, "lbfgs, tight", data, k=k, optimizer="lbfgs", tolerance=1e-12, **targets),
        fit("NCA", mlpack.nca, "default", data),
        fit("NCA", mlpack.nca, "lbfgs", data, optimizer="lbfgs"),
        fit("NCA", mlpack.nca, "lbfgs, tight", data, optimizer="lbfgs", tolerance=1e-12),
    ]


def fit(learner: str, function: Any, settings: str, data: Data, **given: Any) -> dict[str, Any]:
    """Twice."""
    targets = {"targets": given.pop("targets")} if "targets" in given else {}
    found: list[dict[str, Any]] = []
    for _ in range(2):
        told = watched(
            lambda: found.append(
                function(input_=data.X.copy(), labels=data.y.copy(), seed=SEED, **given, verbose=False)
            )
        )
    K = found[0]["output"]
    more = {}
    if "transformed_data" in found[0]:
        more["transformed"] = float(np.abs(found[0]["transformed_data"] - data.X @ K).max())
    return run(
        *("mlpack", learner, settings, data, K @ K.T),
        params=given,
        warnings=told.warned,
        same_again=bool(np.array_equal(K, found[1]["output"])),
        **targets,
        **more,
    )


if __name__ == "__main__":
    write(("mlpack", "numpy"), run_all)
