# needs: scikit-learn>=1.2
"""graphical_lasso: its "dual gap" is 0, or negative, at matrices that are not optimal."""

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.covariance._graph_lasso import _dual_gap, _objective
from sklearn.datasets import load_wine

X = load_wine().data
X = (X - X.mean(axis=0)) / X.std(axis=0)
S, alpha = np.cov(X.T, bias=True), 0.1
best = graphical_lasso(S, alpha, tol=1e-10, enet_tol=1e-10, max_iter=10_000)[1]
M = np.diag(np.arange(1.0, len(S) + 1))
M *= len(S) / np.sum(S * M)  # so that tr(S M) = d; the penalty leaves out the diagonal
for name, each in (("a multiple of diag(1, .., d)", M), ("tol=1e-4", graphical_lasso(S, alpha, tol=1e-4)[1])):
    above = _objective(S, each, alpha) - _objective(S, best, alpha)
    print(f"{name}: dual gap {_dual_gap(S, each, alpha):.1e}, objective above the least one by {above:.1e}")
assert abs(_dual_gap(S, M, alpha)) < 1e-10, "mended"
assert _objective(S, M, alpha) - _objective(S, best, alpha) > 1
