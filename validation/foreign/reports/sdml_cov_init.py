# needs: metric-learn==0.7.0 scikit-learn>=1.5,<1.8
"""SDML fails on all data with scikit-learn 1.5 or newer: graphical_lasso has no argument cov_init."""

import inspect

import numpy as np
from metric_learn import SDML
from sklearn.covariance import graphical_lasso
from sklearn.datasets import load_iris

X = load_iris().data
pairs, y = X[[[0, 1], [50, 51], [100, 101], [0, 60]]], np.array([1, 1, 1, -1])
print("graphical_lasso takes:", *inspect.signature(graphical_lasso).parameters)
try:
    SDML(balance_param=1e-3).fit(pairs, y)
    found, cause = "no error", None
except RuntimeError as error:
    found, cause = str(error), error.__cause__
print("message:", found)
print("cause:", repr(cause))
assert "cov_init" in repr(cause) or "cov_init" in found, "mended"
