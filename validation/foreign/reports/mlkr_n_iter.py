# needs: metric-learn==0.7.0 scikit-learn<1.8
"""MLKR: n_iter_ counts evaluations of the loss, so it can be larger than max_iter."""

from metric_learn import MLKR
from sklearn.datasets import load_wine

X = load_wine().data
X = (X - X.mean(axis=0)) / X.std(axis=0)
model = MLKR(init="identity", max_iter=50).fit(X[:, :-1], X[:, -1])
print("max_iter 50, n_iter_", model.n_iter_)
assert model.n_iter_ > 50, "mended"
