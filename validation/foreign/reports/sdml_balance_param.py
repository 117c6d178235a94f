# needs: metric-learn==0.7.0 scikit-learn<1.5
"""SDML: the default balance_param, 0.5, makes the problem unbounded for a hundred pairs of both kinds."""

import warnings

import numpy as np
from metric_learn import SDML
from sklearn.datasets import load_iris

warnings.simplefilter("ignore")
X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
rows = np.array([rng.choice(len(X), 2, replace=False) for _ in range(400)])
same = y[rows[:, 0]] == y[rows[:, 1]]
rows = np.concatenate([rows[same][:60], rows[~same][:60]])
kind = np.repeat([1, -1], 60)
difference = X[rows[:, 0]] - X[rows[:, 1]]
S = np.eye(4) + 0.5 * (difference.T * kind) @ difference
print("diagonal of S:", np.round(np.diag(S), 1))
# with S_kk < 0, tr(S M) - log det M falls without end as M_kk grows; the penalty leaves the diagonal out
assert np.diag(S).min() < 0
try:
    SDML().fit(X[rows], kind)
    found = "no error"
except RuntimeError as error:
    found = str(error)
print("fit:", found)
assert found != "no error", "mended"
