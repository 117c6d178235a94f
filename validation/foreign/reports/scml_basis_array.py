# needs: metric-learn==0.7.0 scikit-learn<1.8
"""SCML.fit fails for an array as `basis`, which its docstring offers."""

import numpy as np
from metric_learn import SCML
from sklearn.datasets import load_iris

X = load_iris().data
try:
    SCML(basis=np.eye(4)).fit(X[[[0, 1, 60], [61, 60, 130], [131, 132, 2], [3, 4, 140]]])
    found = "no error"
except ValueError as error:
    found = str(error)
print(found)
assert found != "no error", "mended"
