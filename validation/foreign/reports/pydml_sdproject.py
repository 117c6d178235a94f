# needs: pyDML==0.1.0
"""The projection on the psd matrices changes a psd matrix: its eigenvectors are not orthogonal."""

import numpy as np
from dml import LMNN
from dml.dml_utils import SDProject, metric_to_linear

rng = np.random.default_rng(0)
Q, _ = np.linalg.qr(rng.standard_normal((4, 4)))
M = Q @ np.diag([1.0, 1.0, 1.0, 3.0]) @ Q.T
M = (M + M.T) / 2  # psd, with a repeated eigenvalue


def with_eigh(M):
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, 0)) @ vectors.T


L = metric_to_linear(M)
print(f"change by SDProject           {np.abs(SDProject(M) - M).max():.2g}")
print(f"change by eigh                {np.abs(with_eigh(M) - M).max():.2g}")
print(f"L^T L - M of metric_to_linear {np.abs(L.T @ L - M).max():.2g}")

# four points span three of ten dimensions: a step changes the identity only there
X = rng.standard_normal((4, 10))
y = np.array([0, 0, 1, 1])
model = LMNN(k=1, max_iter=1, eta0=1e-3, learning_rate="constant").fit(X, y)
_, _, directions = np.linalg.svd(X - X.mean(axis=0))
outside = directions[3:]  # orthogonal to all differences of points
change = np.abs(outside @ model.metric() @ outside.T - np.eye(7)).max()
print(f"change of M by LMNN where it should be the identity {change:.2g}")

assert np.abs(with_eigh(M) - M).max() < 1e-12
assert np.abs(SDProject(M) - M).max() > 0.01, "mended"
assert change > 0.01, "mended"
