# needs: metric-learn==0.7.0 scikit-learn<1.8
"""LFDA: the local scales of a class are the distances to one of its points, not to each point's k-th neighbour."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

X, y = load_iris(return_X_y=True)
points, k = X[y == 0], 3
distances = pairwise_distances(points, squared=True)
theirs = np.sqrt(np.partition(distances, k, axis=0)[:, k])  # lfda.py, line 125
documented = np.sqrt(np.sort(distances, axis=1)[:, k])  # to the k-th nearest neighbour of each point
mended = np.sqrt(np.partition(distances, k, axis=0)[k])
print("lfda.py:       ", np.round(theirs[:6], 2))
print("documentation: ", np.round(documented[:6], 2))
print("row k:         ", np.round(mended[:6], 2))
assert np.allclose(mended, documented)
assert not np.allclose(theirs, documented)

import inspect  # noqa: E402

from metric_learn import LFDA  # noqa: E402

assert "np.partition(dist, k, axis=0)[:, k]" in inspect.getsource(LFDA.fit), "mended"
assert "tSb -= _sum_outer(X) / n - tSw" in inspect.getsource(LFDA.fit), "mended"
