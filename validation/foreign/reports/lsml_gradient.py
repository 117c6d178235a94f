# needs: metric-learn==0.7.0 scikit-learn<1.8
"""The gradient of LSML is not the derivative of its loss: it leaves out the weights."""

import numpy as np
from metric_learn import LSML
from sklearn.datasets import load_iris

X = load_iris().data[::5]
rng = np.random.default_rng(0)
a, b, c, d = X[np.array([rng.choice(len(X), 4, replace=False) for _ in range(60)]).T]
model = LSML()
model.w_ = np.ones(60) / 60  # as `fit` sets it
M, I = 2 * np.eye(4), np.eye(4)
E = rng.standard_normal((4, 4))
E = (E + E.T) / 2

h = 1e-5
losses = [model._total_loss(M + sign * h * E, a - b, c - d, I) for sign in (1, -1)]
difference = (losses[0] - losses[1]) / (2 * h)
gradient = np.sum(model._gradient(M, a - b, c - d, I) * E)
divergence = I - np.linalg.inv(M)
mended = np.sum((divergence + (model._gradient(M, a - b, c - d, I) - divergence) / 60) * E)
print(f"difference quotient of _total_loss  {difference:.6g}")
print(f"_gradient                           {gradient:.6g}")
print(f"_gradient, comparisons weighted     {mended:.6g}")
assert abs(gradient - difference) > 0.01 * abs(difference), "mended"
assert abs(mended - difference) < 1e-5 * max(1, abs(difference))
