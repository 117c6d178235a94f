# needs: numpy
"""dlib's FrobMetric with the identity as prior: its transform is not that of its solution. Needs g++ and dlib.

It compiles learners/frobmetric.cpp, which trains a vector_normalizer_frobmetric on given triplets.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

source = Path(__file__).parents[1] / "learners" / "frobmetric.cpp"
rng = np.random.default_rng(0)
y, C = np.repeat([0, 1, 2], 20), 1.0
X = rng.standard_normal((60, 3)) + y[:, None]
D = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
near, far = [], []
for i in range(60):
    order = np.argsort(D[i])[1:]
    near.append(order[y[order] == y[i]][:2])
    far.append(order[y[order] != y[i]][:2])
lines = ["3 60", *(" ".join(map(repr, row)) for row in X.tolist()), "60"]
for i in range(60):
    lines.append(f"{i} 2 {near[i][0]} {near[i][1]} 2 {far[i][0]} {far[i][1]}")
lines.append(f"{C!r} 1e-7 1")  # C, epsilon, the identity as prior

with tempfile.TemporaryDirectory() as folder:
    program = str(Path(folder) / "frobmetric")
    flags = ["-O1", str(source), "-o", program, "-ldlib", "-llapack", "-lblas"]
    built = subprocess.run(["g++", *flags], capture_output=True, text=True)
    if built.returncode:
        print(built.stderr[-300:])
        sys.exit(77)  # no compiler, or no dlib
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
rows = done.stdout.split("transform\n")[1].splitlines()
T = np.array([[float(number) for number in row.split()] for row in rows])


def objective(M):
    """1/2 |M - I|^2 + C/m sum of [1 + d_near - d_far]_+, with squared distances."""
    losses = []
    for i in range(60):
        for j in near[i]:
            for l in far[i]:
                e, f = X[i] - X[j], X[i] - X[l]
                losses.append(max(0.0, 1 + e @ M @ e - f @ M @ f))
    return np.sum((M - np.eye(3)) ** 2) / 2 + C * np.mean(losses)


solution = np.eye(3) + (T - np.eye(3)).T @ (T - np.eye(3))
print(f"objective at T^T T {objective(T.T @ T):.6g}, at its solution {objective(solution):.6g}")
assert objective(T.T @ T) > objective(solution) * (1 + 1e-3), "mended"
