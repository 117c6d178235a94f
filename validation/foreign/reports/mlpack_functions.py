# needs: mlpack==4.8.0
"""mlpack's C++ functions: NCA on a batch, and LMNN after a walk. Needs g++, Armadillo and cereal.

It compiles learners/mlpack_functions.cpp, which calls `Evaluate` in several ways and prints the values.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import mlpack
import numpy as np

source = Path(__file__).parents[1] / "learners" / "mlpack_functions.cpp"
headers = Path(mlpack.__file__).parent / "include"
rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
X = rng.standard_normal((90, 4)) + y[:, None]
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "ensmallen.hpp").write_text("namespace ens {}\n")
    flags = ["-std=c++17", "-O1", "-fopenmp", "-DMLPACK_CORE_HPT_HPT_HPP", f"-I{headers}", f"-I{folder}"]
    program = Path(folder) / "functions"
    built = subprocess.run(
        ["g++", *flags, str(source), "-o", str(program), "-llapack", "-lblas"], capture_output=True, text=True
    )
    if built.returncode:
        print(built.stderr[-300:])
        sys.exit(77)  # no compiler, or no headers
    np.savetxt(Path(folder) / "points.txt", np.column_stack([y, X]), fmt="%.17g")
    out = subprocess.run(
        [program, Path(folder) / "points.txt"],
        capture_output=True,
        text=True,
        check=True,
        env={"OMP_NUM_THREADS": "1"},
    ).stdout
found: dict[str, list[float]] = {}
for line in out.splitlines():
    name, value = line.split()
    found.setdefault(name, []).append(float(value))
whole, batch, single = (found[name][0] for name in ("nca_whole", "nca_one_batch", "nca_one_by_one"))
print(f"NCA: Evaluate(L) {whole:.6f}, sum of Evaluate(L, i, 1) {single:.6f}, Evaluate(L, 0, n) {batch:.6f}")
off = max(abs(a / b - 1) for a, b in zip(found["lmnn_walked"], found["lmnn_fresh"], strict=True))
print(f"LMNN: values after a walk and of a new object differ by up to {off:.1e}, relatively")
assert abs(batch / whole - 1) > 1e-9, "mended"
assert off > 1e-9, "mended"
