# needs: PyLMNN==1.6.4 scipy<1.11
"""PyLMNN looks for impostors within the distance of the last target, which need not be the furthest one."""

import sys
import types

for name in ("GPyOpt", "GPyOpt.methods"):  # needed only for find_hyperparams
    sys.modules[name] = types.ModuleType(name)
sys.modules["GPyOpt.methods"].BayesianOptimization = None

import numpy as np  # noqa: E402
from pylmnn import LargeMarginNearestNeighbor  # noqa: E402
from pylmnn.lmnn import _select_target_neighbors  # noqa: E402
from sklearn.datasets import load_wine  # noqa: E402

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
model = LargeMarginNearestNeighbor(random_state=0, store_opt_result=True, init="identity").fit(X, y)
targets = _select_target_neighbors(X, y, model.n_neighbors)
Z = X @ model.components_.T
D = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
pull = push = 0.0
for i in range(len(X)):
    near = D[i, targets[i]]
    margins = np.maximum(0, 1 + near[:, None] - D[i, y != y[i]])
    pull, push = pull + near.sum(), push + (margins**2).sum()
own = float(model.opt_result_.fun)
mu = model.weight_push_loss
full = pull + mu / (1 - mu) * push  # in the units of its loss
print(f"its loss {own:.6g}; with all impostors {full:.6g}")
last, furthest = D[np.arange(len(X)), targets[:, -1]], D[np.arange(len(X))[:, None], targets].max(axis=1)
print("points whose last target is not the furthest:", int((last < furthest).sum()))
assert (last < furthest).any()
assert own < full * (1 - 1e-3), "mended"
