# needs: metric-learn==0.7.0 scikit-learn<1.8
"""MMC(diagonal=True): the Newton step and the line search belong to two different functions."""

import numpy as np
from metric_learn import MMC
from scipy.optimize import minimize
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
rows = np.array([rng.choice(len(X), 2, replace=False) for _ in range(200)])
kind = np.where(y[rows[:, 0]] == y[rows[:, 1]], 1, -1)
squares = (X[rows[:, 0]] - X[rows[:, 1]]) ** 2
similar, dissimilar = squares[kind == 1].sum(axis=0), squares[kind == -1]


def g(w):  # the function of the Newton step: similar distances minus the log of the dissimilar ones
    return similar @ w - np.log(np.sqrt(dissimilar @ w).sum())


model = MMC(diagonal=True, init="identity", random_state=0).fit(X[rows], kind)
w = np.diag(model.get_mahalanobis_matrix())
best = minimize(g, np.full(4, 1e-3), bounds=[(1e-12, None)] * 4, method="L-BFGS-B")
print(f"g at the matrix of fit  {g(w):.6g}   diagonal {np.round(w, 4)}")
print(f"g, minimized by scipy   {best.fun:.6g}   diagonal {np.round(best.x, 4)}")
assert g(w) > best.fun + 0.1, "mended"
