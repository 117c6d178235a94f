# needs: metric-learn==0.7.0 scikit-learn<1.8
"""ITML(verbose=True) prints "converged" when it stops at max_iter."""

import contextlib
import io

import numpy as np
from metric_learn import ITML
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
rows = np.array([rng.choice(len(X), 2, replace=False) for _ in range(120)])
kind = np.where(y[rows[:, 0]] == y[rows[:, 1]], 1, -1)
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    ITML(max_iter=2, tol=1e-3, verbose=True).fit(X[rows], kind)
last = printed.getvalue().splitlines()[-1]
print(last)
change = float(last.rsplit("=", 1)[1])
assert "converged" in last, "mended"
assert change > 1e-3  # above tol
