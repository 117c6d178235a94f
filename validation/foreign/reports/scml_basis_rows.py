# needs: metric-learn==0.7.0 scikit-learn<1.8
"""SCML: the vectors of its basis are rows of the matrix of eigenvectors, which eigh returns in columns."""

import numpy as np
from metric_learn import SCML
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
triplets = []
while len(triplets) < 200:
    i, j, l = rng.choice(len(X), 3, replace=False)
    if y[i] == y[j] != y[l]:
        triplets.append([i, j, l])
triplets = np.array(triplets)

model = SCML(n_basis=4, random_state=0)  # one batch of vectors: as many as there are features
basis, _ = model._initialize_basis(triplets, X)
chosen = triplets[np.random.RandomState(0).choice(len(triplets), size=4, replace=False)]
near, far = X[chosen[:, 0]] - X[chosen[:, 1]], X[chosen[:, 0]] - X[chosen[:, 2]]
A = near.T @ near - far.T @ far


def off(vectors):  # the largest entry of A v - (v A v) v, relative to that of A
    return max(np.abs(A @ v - (v @ A @ v) * v).max() for v in vectors) / np.abs(A).max()


print(f"vectors of the basis: {off(basis):.2g} off; their transpose: {off(basis.T):.2g} off")
assert off(basis) > 1e-3, "mended"
assert off(basis.T) < 1e-8
