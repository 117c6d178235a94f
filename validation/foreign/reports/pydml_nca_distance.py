# needs: pyDML==0.1.0
"""The master branch of pyDML: NCA measures its success with distances, and optimizes it with squared distances."""

import sys

import dml
import numpy as np

if not hasattr(dml, "GMML"):
    print("the release 0.1.0 does not have this fault: build the master branch at 0e066d9")
    sys.exit(77)

rng = np.random.default_rng(0)
y = np.arange(20) % 2
X = rng.standard_normal((20, 2)) + y[:, None]
model = dml.NCA(descent_method="BGD", max_iter=20).fit(X, y)


def success(power):
    """The mean probability of the right class, from distances to the given power."""
    E = (X[:, None] - X[None]) @ model.transformer().T
    p = np.exp(-(np.sqrt(np.square(E).sum(axis=-1)) ** power))
    np.fill_diagonal(p, 0)
    return np.mean([p[i, y == y[i]].sum() / p[i].sum() for i in range(20)])


reported = model.metadata()["final_expectance"]
print(f"final_expectance {reported:.6f}; by d2 {success(2):.6f}; by d {success(1):.6f}")
assert abs(reported - success(1)) < 1e-5
assert abs(reported - success(2)) > 1e-3, "mended"
