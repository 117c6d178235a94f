# needs: pyDML==0.1.0
"""DML_eig divides zero by zero if no two points of different classes are close."""

import numpy as np
from dml import DML_eig

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 3.0]])
y = np.array([0, 0, 1, 1])
D = np.square(X[:2, None] - X[None, 2:]).sum(axis=-1)
mu, z = DML_eig().mu_, -D.ravel() / 2 / DML_eig().mu_
print(
    f"sum of exp(-d2/mu): {np.exp(z).sum()}; log-sum-exp: {z.max() + np.log(np.exp(z - z.max()).sum()):.6g}"
)
failed = False
try:
    DML_eig().fit(X, y)
except ValueError as error:
    failed = "infs or NaNs" in str(error)
    print(f"fit: ValueError: {error}")
assert failed, "mended"
