# needs: pyDML==0.1.0
"""DML_eig returns the matrix of whitened points, so its distances depend on the units of the features."""

import numpy as np
from dml import DML_eig

rng = np.random.default_rng(0)
X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
units = np.array([1.0, 1000.0])  # the second feature in metres, then in millimetres
one, two = (DML_eig(max_it=100).fit(each, y) for each in (X, X * units))


def ratios(M, X):
    """Squared distances, relative to their mean, so that a factor of M does not matter."""
    E = X[:, None] - X[None]
    D = np.einsum("ija,ab,ijb->ij", E, M, E)
    return D / D.mean()


def whitening(X):
    """S^(-1/2), S the sum over the pairs that fit keeps (it loses the first pair of each point)."""
    S = np.zeros((2, 2))
    similar, dissimilar = DML_eig._label_to_similarity_set(y)
    for i, js in DML_eig._similarity_set_to_iterable(similar, dissimilar)[0].items():
        for j in js:
            S += np.outer(X[i] - X[j], X[i] - X[j])
    values, vectors = np.linalg.eigh(S)
    return (vectors / np.sqrt(values)) @ vectors.T


def back(model, X):
    return whitening(X) @ model.metric() @ whitening(X)


returned = np.abs(ratios(one.metric(), X) - ratios(two.metric(), X * units)).max()
mended = np.abs(ratios(back(one, X), X) - ratios(back(two, X * units), X * units)).max()
print(f"distances change with the units by {returned:.3g}; with S^(-1/2) M S^(-1/2) by {mended:.3g}")
assert mended < 0.01
assert returned > 0.1, "mended"
